"""Objects that a name refers to on some paths only: they stay the objects that they are, whoever changes them."""

from dataclasses import dataclass

import numpy as np
import pytest
import standing_alone

import wengert as wg


class Box:
    pass


@dataclass
class Point:
    v: float


def changed_by_an_inner_function(x, on):
    if on:
        log = [x, 0.0]

    def add(y):
        if on:
            log[1] += y * x

    add(x)
    add(x * x)
    return x + (log[1] if on else 0.0)


def entries_of_a_dictionary(x, on):
    if on:
        d = {"k": x}

    def scale(y):
        if on:
            d["k"] *= y
            d["m"] = y

    scale(x)
    scale(x * x)
    return x + (d["k"] + d["m"] if on else 0.0)


def an_object(x, on):
    if on:
        point = Point(x)

    def scale(y):
        if on:
            point.v = point.v * y

    scale(x)
    scale(x * x)
    return x + (point.v if on else 0.0)


def an_attribute(x, on):
    box = Box()
    if on:
        box.log = [x, 0.0]
    if on:
        again = box.log
        again[1] += x * x
        box.log[1] *= x
    return x + (box.log[1] if on else 0.0)


def two_names(x, on):
    if on:
        log = [x, 0.0]
        also = log
    if on:
        log[1] += x * x
        also[1] *= x
    return x + (log[1] + also[0] if on else 0.0)


def lists_in_a_list(x, on):
    if on:
        rows = [[x, 1.0], [x * x, 2.0]]

    def swap():
        rows[0], rows[1] = rows[1], rows[0]

    def add(y):
        rows[0][0] += y
        rows[1][1] *= y

    if not on:
        return x
    swap()
    add(x)
    swap()
    add(x * x)
    return rows[0][0] * 2 + rows[1][1] + rows[0][1] + rows[1][0] * x


def by_a_class(x, on):
    if on:
        rows = [[x, 0.0]]

    class Adding:
        def add(self, y):
            if on:
                rows[0][1] += y

    adding = Adding()
    adding.add(x * x)
    adding.add(x)
    return x + (rows[0][1] if on else 0.0)


def by_a_generator(x, on):
    if on:
        log = [x, 0.0]

    def values():
        for k in range(3):
            if on:
                log[1] += x * k
            yield k * x

    return sum(values()) + (log[1] if on else 0.0)


def bound_in_a_function(x, on):
    log = None

    def start():
        nonlocal log
        log = [x, 0.0]

    if on:
        start()
        log[1] += x * x
    for k in range(2):
        if on:
            log[1] *= x + k
    return x + (log[1] if on else 0.0)


PROGRAMS = [
    changed_by_an_inner_function,
    entries_of_a_dictionary,
    an_object,
    an_attribute,
    two_names,
    lists_in_a_list,
    by_a_class,
    by_a_generator,
    bound_in_a_function,
]


def slope_of(program, on):
    return (program(0.7 + 1e-6, on) - program(0.7 - 1e-6, on)) / 2e-6


@pytest.mark.parametrize("on", [True, False])
@pytest.mark.parametrize("program", PROGRAMS)
def test_an_object_of_one_path_changes_for_all_its_names(program, on):
    expected = pytest.approx(slope_of(program, on), rel=1e-8)
    assert wg.value_and_grad(program)(0.7, on) == (pytest.approx(program(0.7, on)), expected)
    assert wg.derivative(lambda x: program(x, on))(0.7) == expected
    if program is not by_a_class:  # which is recorded: it has no source for any kinds
        alone = standing_alone.alone(wg.grad(program))
        assert standing_alone.unless_refused(lambda: alone(0.7, on)) in (None, expected)


def logged(x, on, log_of):
    if on:
        log = log_of(x)

    def repeated(y, n):
        if on:
            log[1] += y * x
        return y if n == 0 else repeated(y * x, n - 1)

    return repeated(x, 2) + (log[1] if on else 0.0)


@pytest.mark.parametrize("log_of", [lambda x: [x, 0.0], lambda x: np.array([x, 0.0])])
def test_a_function_that_recurses_changes_it(log_of):
    expected = pytest.approx(slope_of(lambda x, on: logged(x, on, log_of), True), rel=1e-8)
    assert wg.grad(logged)(0.7, True, log_of) == expected
    assert wg.derivative(lambda x: logged(x, True, log_of))(0.7) == expected


def a_list_lengthened(x, a, on):
    if on:
        row = [x, x * a[1]]
    if on:
        row[1] *= x
    if on:
        row.append(a[0])
    return x * x + (row[0] * row[-1] + row[1] if on else 0.0)


@pytest.mark.parametrize("on", [True, False])
def test_second_derivatives_where_there_is_no_list(on):
    """What a path leaves out of a list has a cotangent of zero, which is added to as a number is."""

    def slope(x):
        return wg.grad(a_list_lengthened)(x, np.array([0.3, 0.4]), on)

    expected = 2.0 + (2 * 0.4 if on else 0.0)
    assert wg.grad(slope)(0.7) == pytest.approx(expected, rel=1e-12)
    assert wg.derivative(slope)(0.7) == pytest.approx(expected, rel=1e-12)
