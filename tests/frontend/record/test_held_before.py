"""Arrays that something holds which was there before a recorded run: what the run writes is read, or refused."""

import collections
import contextvars
import enum
import functools
import queue
import types

import numpy as np
import pytest
from error_texts import place, refusal

import wengert as wg


class Rows(list):
    pass


class Table(dict):
    pass


def rows(a):
    return Rows([a])


def table(a):
    return Table(k=a)


def one_of_several_functions(a):
    @functools.singledispatch
    def scaled(t):
        return a[0] * t

    return scaled


READ = {
    "a list of its own class": (rows, lambda held, x: held[0][0] * x),
    "a dictionary of its own class": (table, lambda held, x: held["k"][0] * x),
    "a function by the class of its argument": (one_of_several_functions, lambda held, x: held(x)),
    "a reversed list": (lambda a: reversed([a]), lambda held, x: next(held)[0] * x),
}


def writing(make, read):
    a = np.zeros(3)
    held = make(a)

    def f(x):
        a[0] = x * x
        return read(held, 2.0)

    return f


@pytest.mark.parametrize("name", READ)
def test_what_the_run_has_written_is_read(name):
    f = writing(*READ[name])
    assert wg.value_and_grad(f, tier="recorded")(0.8) == (pytest.approx(1.28), pytest.approx(3.2))
    f = writing(*READ[name])
    assert wg.jacobian(f, mode="forward", tier="recorded")(0.8) == pytest.approx(3.2)


def in_an_enumeration(a):
    return enum.Enum("Kind", {"ONLY": a})


def in_a_context(a):
    held = contextvars.ContextVar("held")
    held.set(a)
    return held


def in_a_queue(a):
    held = queue.SimpleQueue()
    waiting = queue.Queue()
    waiting.put(a)
    return waiting if held.empty() else held


REFUSED = {
    "memoryview": (memoryview, lambda held, x: held[0] * x),
    "flatiter": (lambda a: a.flat, lambda held, x: held[0] * x),
    "method-wrapper": (lambda a: a.__getitem__, lambda held, x: held(0) * x),
    "dict_values": (lambda a: {"k": a}.values(), lambda held, x: next(iter(held))[0] * x),
    "mappingproxy": (lambda a: types.MappingProxyType({"k": a}), lambda held, x: held["k"][0] * x),
    "ndarray": (lambda a: np.array([a, None], dtype=object), lambda held, x: held[0][0] * x),
    "MaskedArray": (np.ma.masked_array, lambda held, x: held[0] * x),
    "UserList": (lambda a: collections.UserList([a]), lambda held, x: held[0][0] * x),
    "Queue": (in_a_queue, lambda held, x: held.queue[0][0] * x),
    "ContextVar": (in_a_context, lambda held, x: held.get()[0] * x),
    "class Kind": (in_an_enumeration, lambda held, x: held.ONLY.value[0] * x),
    "ValueError": (ValueError, lambda held, x: held.args[0][0] * x),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_would_hand_out_floats_is_refused(name):
    f = writing(*REFUSED[name])
    error = refusal("WG101", NotImplementedError, lambda: wg.grad(f, tier="recorded")(0.8))
    what = (
        f"the function writes to an array which a {name} holds that was there before: what that hands out has no "
        "derivative"
    )  # fmt: skip
    hint = f"Make the {name} inside the function, or write to a copy of the array."
    where = place(f, 1, "a[0]", "f")
    assert str(error).startswith(f"[WG101] {what}\n\n{where[: where.index('^') - 1].rstrip()}")
    assert hint in str(error)
    with pytest.raises(wg.WengertError):
        wg.grad(writing(*REFUSED[name]))(0.8)


@pytest.mark.parametrize("name", ["memoryview", "UserList", "class Kind"])
def test_such_things_are_constants_where_nothing_is_written(name):
    make, read = REFUSED[name]
    a = np.array([3.0, 1.0])
    held = make(a)

    def f(x):
        b = a.copy()
        b[0] = x
        a[1] = 5.0
        return read(held, x) + b[0] * a[1]

    assert wg.grad(f, tier="recorded")(0.8) == pytest.approx(8.0)


def test_what_is_found_after_it_was_written_is_refused():
    a = np.zeros(2)
    later = {}

    def read():
        return later["view"][0]

    def f(x):
        a[0] = x
        later["view"] = VIEWS[0]
        return read() * 2

    VIEWS = [memoryview(a)]
    refusal("WG101", NotImplementedError, lambda: wg.grad(f, tier="recorded")(0.8))


# --- entries that earlier calls have made -----------------------------------------------------

REMEMBERED = {}


def remembering(n, x):
    if (n, x) in REMEMBERED:
        return REMEMBERED[n, x]
    found = x if n < 2 else remembering(n - 1, x) * x * 0.2 + remembering(n - 2, x)
    REMEMBERED[n, x] = found
    return found


def test_an_entry_by_a_float_that_an_earlier_call_has_made_has_no_derivative():
    gradient = wg.grad(lambda x: remembering(5, x) * x, tier="recorded")
    REMEMBERED.clear()
    x, y = gradient(0.9), gradient(1.1)  # by other numbers than the first call's
    REMEMBERED.clear()
    assert (gradient(0.9), gradient(1.1)) == (x, y)
    with pytest.raises(wg.WengertError, match="finds an entry that was there before the run"):
        gradient(1.1)
    REMEMBERED.clear()
    remembering(5, 0.9)
    with pytest.raises(wg.WengertError, match="finds an entry that was there before the run"):
        gradient(0.9)


def squared(memo, x):
    if x not in memo:
        memo[x] = x * x
    return memo[x] * x


BY_NAME, IN_A_LIST, OF_NUMPYS = {"squared": {}}, [{}], {}
NESTED = (
    (lambda x: squared(BY_NAME["squared"], x), 2.0),
    (lambda x: squared(IN_A_LIST[0], x), 2.0),
    (lambda x: squared(OF_NUMPYS, x), np.float64(2.0)),
)


@pytest.mark.parametrize(("program", "x"), NESTED)
def test_such_an_entry_is_refused_however_deep_its_dictionary_lies(program, x):
    program(x)
    with pytest.raises(wg.WengertError, match="finds an entry that was there before the run"):
        wg.grad(program, tier="recorded")(x)


RATES = {0.5: 3.0, 1.0: 2.0}


def test_what_compares_numbers_or_looks_up_others_is_no_such_entry():
    def compared(x):
        y = x * x
        if x == 2.0:
            y += RATES[1.0] * x
        seen = {x: y}
        return seen[x] + RATES.get(0.5) * x + (0 if x in RATES else x)

    assert wg.grad(compared, tier="recorded")(2.0) == 10.0
