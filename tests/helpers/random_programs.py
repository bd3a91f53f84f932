"""A Hypothesis strategy that draws whole Python functions as source text.

A drawn program is straight-line assignments, swaps, branches, loops, early returns and calls over
a handful of names that are reassigned all the time. Values are squashed now and then, so that they
stay of the size of one; loops have bounded trip counts.
"""

from __future__ import annotations

import functools
import hashlib
import importlib.util
from dataclasses import dataclass

from hypothesis import strategies as st

NAMES = ("x", "y", "u", "v", "w")
SMOOTH = ("math.sin", "math.cos", "math.tanh", "math.atan", "squash", "bump", "blend")

HELPERS = """\
import math

import numpy as np

SCALE = 0.75


def squash(t):
    return t / (1 + t * t)


def bump(t, width=2.0, *, height=1.0):
    if t < 0:
        return height * math.exp(t / width)
    return height / (1 + t)


def blend(s, t=0.5):
    def mix(k):
        return k * s + (1 - k) * t

    total = 0.0
    for k in range(3):
        total += mix(SCALE) * k
        if total > 4:
            return total - 4
    return total


def choose(first, *rest):
    return max(first, *rest) if rest else first


def descend(t, n):
    if n <= 0:
        return t
    return descend(t * 0.5 + math.sin(t), n - 1)

"""


@dataclass(frozen=True)
class Drawn:
    """A program's text and a point to run it at."""

    source: str
    point: tuple[float, float]

    def load(self, folder):
        """The function, imported from a real file so that its source can be found."""
        digest = hashlib.sha256(self.source.encode()).hexdigest()[:12]
        path = folder / f"drawn_{digest}.py"
        path.write_text(self.source)
        spec = importlib.util.spec_from_file_location(path.stem, path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module.program


numbers = st.sampled_from(["0.5", "1.25", "-0.75", "2", "0.3", "-1", "3"])
counters = st.sampled_from(["i", "j", "k"])


@functools.cache
def expressions(names, depth=2):
    leaves = st.one_of(st.sampled_from(sorted(names)), st.sampled_from(sorted(names)), numbers)
    return st.recursive(leaves, _grown, max_leaves=2**depth)


def _grown(inner):
    return st.one_of(
        st.builds("({} {} {})".format, inner, st.sampled_from("+-*"), inner),
        st.builds("({} / (1.5 + ({}) ** 2))".format, inner, inner),
        st.builds("{}({})".format, st.sampled_from(SMOOTH), inner),
        st.builds("math.exp(-abs({}))".format, inner),
        st.builds("math.sqrt(1 + ({}) ** 2)".format, inner),
        st.builds("bump({}, {}, height={})".format, inner, st.just("1.5"), inner),
        st.builds("({} if {} > {} else {})".format, inner, inner, inner, inner),
        st.builds("choose({}, {}, {})".format, inner, inner, inner),
        st.builds("descend({}, {})".format, inner, st.integers(0, 3)),
        st.builds("(lambda s, t=0.5: s * t + {})({})".format, inner, inner),
        st.builds("sum(q * {} for q in ({}, {}))".format, inner, inner, inner),
        st.builds("[{}, {}, {}][{}]".format, inner, inner, inner, st.integers(-3, 2)),
        st.builds("np.sum(np.array([{}, {}]) * {})".format, inner, inner, inner),
        st.builds("-{}".format, inner),
    )


@functools.cache
def conditions(names):
    value = expressions(names, depth=1)
    comparison = st.builds("{} {} {}".format, value, st.sampled_from("<>"), value)
    return st.one_of(
        comparison,
        st.builds("{} < {} < {}".format, value, value, value),
        st.builds("{} and {}".format, comparison, comparison),
        st.builds("not ({} or {})".format, comparison, comparison),
    )


def indented(lines):
    return ["    " + line for line in lines]


@st.composite
def blocks(draw, names, depth, in_loop=False, size=3):
    """A list of lines; the names are those bound wherever the block may run."""
    lines = []
    for _ in range(draw(st.integers(1, size))):
        kinds = ["assign", "assign", "augment", "swap", "squash"]
        if depth > 0:
            kinds += ["if", "elif", "for", "while", "zip", "return"]
        if in_loop:
            kinds += ["break", "continue"]
        kind = draw(st.sampled_from(kinds))
        lines += draw(STATEMENTS[kind](names, depth, in_loop))
    return lines


def assignment(names, depth, in_loop):
    return st.builds(lambda n, e: [f"{n} = {e}"], st.sampled_from(NAMES), expressions(names))


def augmentation(names, depth, in_loop):
    target, operator = st.sampled_from(sorted(names)), st.sampled_from(["+=", "-=", "*="])
    return st.builds(lambda n, o, e: [f"{n} {o} {e}"], target, operator, expressions(names))


def swap(names, depth, in_loop):
    pair = st.permutations(sorted(names)).map(lambda order: order[: max(2, len(order) // 2)])
    return pair.map(lambda order: [f"{', '.join(order)} = {', '.join([*order[1:], order[0]])}"])


def squashing(names, depth, in_loop):
    return st.sampled_from(sorted(names)).map(lambda n: [f"{n} = squash({n}) * 2"])


@st.composite
def choice(draw, names, depth, in_loop):
    body = draw(blocks(names, depth - 1, in_loop))
    lines = [f"if {draw(conditions(names))}:", *indented(body)]
    if draw(st.booleans()):
        lines += ["else:", *indented(draw(blocks(names, depth - 1, in_loop)))]
    return lines


@st.composite
def three_way_choice(draw, names, depth, in_loop):
    lines = []
    for opening in ("if", "elif"):
        body = draw(blocks(names, depth - 1, in_loop, size=2))
        lines += [f"{opening} {draw(conditions(names))}:", *indented(body)]
    return [*lines, "else:", *indented(draw(blocks(names, depth - 1, in_loop, size=2)))]


@st.composite
def counted_loop(draw, names, depth, in_loop):
    counter = draw(counters)
    steps = draw(st.sampled_from(["range(3)", "range(1, 4)", "range(3, 0, -1)", "range(0)"]))
    body = draw(blocks(names, depth - 1, in_loop=True))
    lines = [
        f"for {counter} in {steps}:",
        f"    {draw(st.sampled_from(sorted(names)))} += 0.1 * {counter}",
    ]
    return [*lines, *indented(body), *draw(loop_else(names, depth, in_loop))]


@st.composite
def loop_over_values(draw, names, depth, in_loop):
    values = draw(st.lists(expressions(names, depth=1), min_size=1, max_size=3))
    others = draw(st.lists(expressions(names, depth=1), min_size=1, max_size=3))
    body = draw(blocks(names | {"p", "q"}, depth - 1, in_loop=True))
    return [f"for p, q in zip([{', '.join(values)}], ({', '.join(others)},)):", *indented(body)]


@st.composite
def bounded_while(draw, names, depth, in_loop):
    fuel = f"fuel{draw(st.integers(0, 10**6))}"
    body = draw(blocks(names, depth - 1, in_loop=True))
    lines = [
        f"{fuel} = {draw(st.integers(0, 4))}",
        f"while {fuel} > 0 and {draw(conditions(names))}:",
        f"    {fuel} -= 1",
    ]
    return [*lines, *indented(body), *draw(loop_else(names, depth, in_loop))]


@st.composite
def loop_else(draw, names, depth, in_loop):
    if not draw(st.booleans()):
        return []
    return ["else:", *indented(draw(blocks(names, 0, in_loop=in_loop, size=1)))]


@st.composite
def early_return(draw, names, depth, in_loop):
    return [f"if {draw(conditions(names))}:", f"    return {draw(expressions(names))}"]


def leaving(keyword):
    def statement(names, depth, in_loop):
        return conditions(names).map(lambda test: [f"if {test}:", f"    {keyword}"])

    return statement


STATEMENTS = {
    "assign": assignment,
    "augment": augmentation,
    "swap": swap,
    "squash": squashing,
    "if": choice,
    "elif": three_way_choice,
    "for": counted_loop,
    "zip": loop_over_values,
    "while": bounded_while,
    "return": early_return,
    "break": leaving("break"),
    "continue": leaving("continue"),
}


@st.composite
def random_programs(draw):
    """A program of two numbers, and a point."""
    names = frozenset(NAMES)
    setup = [f"u, v = {draw(expressions(frozenset('xy')))}, x * 0.5", "w = u + v"]
    body = draw(blocks(names, depth=3, size=4))
    result = draw(expressions(names))
    lines = ["def program(x, y):", *indented([*setup, *body, f"return {result} + x * y + w"]), ""]
    point = draw(st.tuples(st.floats(-1.5, 1.5, width=16), st.floats(-1.5, 1.5, width=16)))
    # an offset keeps the point away from the round numbers where branches meet
    return Drawn(HELPERS + "\n" + "\n".join(lines), (point[0] + 0.0137, point[1] - 0.0071))
