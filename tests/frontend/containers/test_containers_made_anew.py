"""Containers made anew of the same objects in every way that Python has: writes reach what they hold, or fail."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest
from standing_alone import alone, loaded, unless_refused

import wengert as wg

HEAD = """
import collections, copy, heapq
import numpy as np

W = np.array([0.3, -0.7, 1.1, 0.4])


def appended(items):
    made = []
    for item in items:
        made.append(item)
    return made


def program(x, a, n):
    {start}
    others = {start_of_others}
    {loop}
        rows = {made}
        others = {others_made}
        {view}
        {changed}
    {write}
    return {read}
"""
MADE = {
    "sorted": "sorted({0}, key=len)",
    "reversed": "list(reversed({0}))",
    "a comprehension": "[item for item in {0}]",
    "some of them": "[item for item in {0} if item[0] < 9]",
    "views": "[item[::-1] for item in {0}]",
    "a slice": "{0}[:]",
    "a star": "[*{0}]",
    "a copy": "copy.copy({0})",
    "filter": "list(filter(lambda item: item[0] < 9, {0}))",
    "map": "list(map(lambda item: item, {0}))",
    "zip": "[item for item, _ in zip({0}, {0})]",
    "enumerate": "[item for _, item in enumerate({0})]",
    "min": "[min({0}, key=len)]",
    "heapq": "heapq.nsmallest(1, {0}, key=len)",
    "a sum": "{0} + []",
    "a multiple": "{0} * 1",
    "a dictionary": "list(dict(enumerate({0})).values())",
    "a dictionary in order": "list(dict(sorted(enumerate({0}), key=lambda pair: pair[0])).values())",
    "a tuple": "list(tuple({0}))",
    "a deque": "list(collections.deque({0}))",
    "a function": "(lambda items: items)({0})",
    "a choice": "{0} if x > 0 else {0}[::-1]",
    "a list of lists": "[[item] for item in {0}][0]",
    "a loop": "appended({0})",
}
VIEWS = ("pass", "a = a[::-1]", "a = a[:]", "a = a.reshape(-1)", "b = a", "a = np.asarray(a)")
STARTS = ("[a]", "[a, 2 * a]", "[a, a]")
WRITES = ("a[1] += x", "rows[0][1] += x", "others[0][1] += x", "pass")
KNOWN = [
    ("sorted", 1, 0, 0, True),
    ("sorted", 0, 0, 2, False),
    ("min", 5, 0, 3, False),
    ("a dictionary in order", 2, 2, 1, False),
]
"""What was wrong once: how it is made, the view, the start, the write, whether in a loop."""


def drawn() -> list[tuple[Any, ...]]:
    choose = random.Random(5)
    return KNOWN + [
        (made, choose.randrange(6), choose.randrange(3), choose.randrange(4), choose.random() < 0.5)
        for made in MADE
        for _ in range(2)
    ]


def load(tmp_path, made, view, start, write, in_loop):
    text = HEAD.format(
        start=f"rows = {STARTS[start]}",
        start_of_others=STARTS[start],
        loop="for k in range(n):" if in_loop else "if n:",
        made=MADE[made].format("rows"),
        others_made=MADE[made].format("others"),
        view=VIEWS[view],
        changed="a[0] += x" if write == 3 else "pass",
        write=WRITES[write],
        read="rows[0] @ W + 0.5 * a @ W" if write != 1 else "a @ W",
    )
    return loaded(tmp_path / "made_anew.py", text)


def given(n):
    return 0.73, np.array([0.31, -0.27, 0.92, 0.54]), n


def outcomes(program, n):
    """What is found in each way: a value and a slope, or None where it is refused."""
    value = program(*given(n))
    ways = [
        lambda: wg.value_and_grad(program)(*given(n)),
        lambda: (value, alone(wg.grad(program))(*given(n))),
        lambda: (value, wg.pushforward(program, *given(n))[1](1.0, None, None)),
    ]
    return map(unless_refused, ways)


@pytest.mark.parametrize("n", [1, 2])
def test_right_or_refused(tmp_path, n):
    tally = {"right": 0, "refused": 0}
    for each in drawn():
        program, step = load(tmp_path, *each), 1e-6
        up, down = (program(0.73 + h, *given(n)[1:]) for h in (step, -step))
        expected = program(*given(n)), (up - down) / (2 * step)
        for found in outcomes(program, n):
            tally["refused" if found is None else "right"] += 1
            assert found is None or found == pytest.approx(expected, abs=1e-6), each
    assert tally["right"] >= 91, tally  # of 156: it may only grow
