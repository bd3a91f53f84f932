"""Programs that are read for one run: the values of a call decide which way every branch goes."""

from __future__ import annotations

import copy
import heapq
import math
from collections import deque

import numpy as np
import pytest
import trees
from test_corpus import each_program, has_one_real_result

import wengert as wg
from wengert import calling, engine
from wengert.verbs import Verb


def for_one_run(function, argnums, args):
    """The gradient of a function as it is derived for one run."""
    call = calling.call_of(function, args, {})
    derived = engine.derive(Verb("grad", argnums), calling.of_one_run(call, function, args, {}))
    return derived.run(*args, **calling.captured_by(function))


NOT_BY_THEIR_RUN = frozenset(("engineering.smoothed_mesh", "mutable_containers.gini_coefficient"))
"""Programs that kinds decide: one asks for `locals()`, one sorts the list that it is given by recursion."""


@each_program(has_one_real_result)
def test_a_run_that_is_written_out_has_the_derivative_of_the_program(program, args):
    if program.name in NOT_BY_THEIR_RUN:
        pytest.skip("refused for one run, not for the kinds of its arguments")
    found = for_one_run(program.function, program.wrt, copy.deepcopy(args))
    expected = wg.grad(program.function, argnums=program.wrt)(*copy.deepcopy(args))
    trees.assert_close(list(found), list(expected), rel=1e-9)


class Simulation:
    """Events in a heap; what they do is a function, which may schedule others."""

    def __init__(self):
        self.now, self.events, self.count = 0.0, [], 0

    def schedule(self, delay, action):
        self.count += 1
        heapq.heappush(self.events, (self.now + delay, self.count, action))

    def run(self, until):
        while self.events and self.events[0][0] < until:
            self.now, _, action = heapq.heappop(self.events)
            action()


def machine_shop(work, repair, wear):
    shop, made, health = Simulation(), [0.0], {"value": 1.0}

    def finish():
        made[0] += health["value"] * math.exp(-0.1 * shop.now)
        health["value"] -= wear
        worn = health["value"] < 0.5
        shop.schedule(repair if worn else work / health["value"], mend if worn else finish)

    def mend():
        health["value"] = 1.0
        shop.schedule(work, finish)

    shop.schedule(work, finish)
    shop.run(until=9.0)
    return made[0]


def in_turns(rates, start):
    """Generators in a queue, each asked for one item at a time until it has none."""

    def process(rate):
        value = start
        for _ in range(int(3 * rate)):
            value += rate * math.sin(value)
            yield value

    running, total, turn = deque(map(process, rates)), 0.0, 0
    while running:
        current = running.popleft()
        try:
            total += next(current) / (1 + turn)
        except StopIteration:
            continue
        running.append(current)
        turn += 1
    return total


def tries_smaller_steps(x):
    """What raises is caught, and tried again with other objects."""
    attempts, step = [], [1.0]
    while True:
        attempts.append(step)
        try:
            value = math.log(x - step[0])
        except ValueError as error:
            step = [step[0] / (2 + len(str(error)) * 0)]
            continue
        break
    attempts[0][0] *= x
    return value * len(attempts) + sum(each[0] for each in attempts)


PROGRAMS = [
    (machine_shop, (1.1, 0.7, 0.21)),
    (in_turns, ([0.5, 1.2, 0.9], 0.4)),
    (tries_smaller_steps, (0.3,)),
]


def moved(args, k, by):
    """Arguments of which one number is another."""
    args = copy.deepcopy(list(args))
    if isinstance(args[0], list) and k < len(args[0]):
        args[0][k] += by
    else:
        args[k - (len(args[0]) - 1 if isinstance(args[0], list) else 0)] += by
    return args


def differenced(function, args, count):
    h = 1e-6
    return [
        (function(*moved(args, k, h)) - function(*moved(args, k, -h))) / (2 * h)
        for k in range(count)
    ]


@pytest.mark.parametrize(("program", "args"), PROGRAMS)
def test_what_kinds_and_counts_leave_open_the_run_decides(program, args):
    flat = [x for arg in args for x in (arg if isinstance(arg, list) else [arg])]
    slopes = differenced(program, args, len(flat))
    found = wg.gradient(program, *copy.deepcopy(args))
    flat_found = [x for each in found for x in (each if isinstance(each, list) else [each])]
    np.testing.assert_allclose(flat_found, slopes, rtol=1e-6, atol=1e-8)
    value, back = wg.pullback(program, *copy.deepcopy(args))
    assert value == program(*copy.deepcopy(args))
    trees.assert_close(
        list(back(2.0)), [trees.map_leaves(lambda x: 2 * x, each) for each in found], rel=1e-12
    )


def test_another_call_may_go_another_way():
    gradient = wg.grad(machine_shop, (0, 1, 2))
    for args in ((1.1, 0.7, 0.21), (0.8, 0.9, 0.13), (1.1, 0.7, 0.37), (20.0, 1.0, 0.1)):
        np.testing.assert_allclose(
            gradient(*args), differenced(machine_shop, args, 3), rtol=1e-6, atol=1e-8
        )


def test_second_derivatives_of_one_run():
    h = 1e-5
    first = wg.grad(machine_shop)
    bend = (first(1.1 + h, 0.7, 0.21) - first(1.1 - h, 0.7, 0.21)) / (2 * h)
    assert wg.hvp(machine_shop)(1.1, 0.7, 0.21, 1.0) == pytest.approx(bend, rel=1e-6)
    assert wg.hessian(machine_shop)(1.1, 0.7, 0.21) == pytest.approx(bend, rel=1e-6)


def test_what_was_specialised_checks_that_a_call_goes_the_same_way():
    wg.grad(machine_shop)(1.1, 0.7, 0.21)
    special = wg.grad(machine_shop).specialize(1.1, 0.7, 0.21)
    assert special(1.1, 0.7, 0.21) == wg.grad(machine_shop)(1.1, 0.7, 0.21)
    assert special(1.1001, 0.7, 0.21) == wg.grad(machine_shop)(1.1001, 0.7, 0.21)
    with pytest.raises(ValueError, match="went another way here"):
        special(1.1, 0.7, 0.37)


def test_whole_numbers_that_are_given_keep_their_derivative():
    def program(count, x):
        events = Simulation()
        made = [0.0]

        def finish():
            made[0] += (count * x) ** 2 + count
            if events.count < count:
                events.schedule(x, finish)

        events.schedule(x, finish)
        events.run(until=9.0)
        return made[0]

    found = wg.gradient(program, 3, 1.5)
    assert found == pytest.approx((3 * (2 * 3 * 1.5**2 + 1), 3 * 2 * 9 * 1.5))
