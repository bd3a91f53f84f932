"""Random Python functions on arrays: ufunc methods, arrays without axes, views of views, counters, state outside.

A program is drawn from a number, so that a batch is the same everywhere. Every program is
`program(a, m, s, b)` of a vector of four, a matrix of 2 × 3, a float and an array without axes. It changes
its arguments, a global list, a global dictionary and a class's counter; what of these it has left is told by
`outside()` and put back by `reset()`.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np

HEAD = """
import functools

import numpy as np

WEIGHTS = np.array([0.3, -0.7, 1.1, 0.4])
LOG = []
COUNTS = {"calls": 0}


class Box:
    made = 0
    scale = 0.5

    def __init__(self, t):
        Box.made += 1
        self.t = t

    def __add__(self, other):
        return Box(self.t + (other.t if isinstance(other, Box) else other))

    def __radd__(self, other):
        return Box(other * self.scale + self.t)

    def __mul__(self, other):
        return Box(self.t * (other.t if isinstance(other, Box) else other))

    def __imul__(self, other):
        self.t *= other
        return self

    def __getitem__(self, k):
        return self.t[k]

    def __setitem__(self, k, e):
        self.t[k] = e

    def __len__(self):
        return len(self.t)


class Small(Box):
    scale = 0.25

    def __init__(self, t):
        super().__init__(t * 0.5)
        self.sides = np.ndim(t)


@functools.lru_cache(maxsize=None)
def noted(k):
    LOG.append(k)
    return 0.5 + 0.25 * k


def counted(t):
    COUNTS["calls"] += 1
    return t * noted(COUNTS["calls"] % 3)


def parts(t, n):
    try:
        for k in range(n):
            yield t[k] * 0.5 + k
    finally:
        LOG.append("closed")


def halved(t):
    t *= 0.5
    return t


def first(t):
    return t[0] if np.ndim(t) else t


def outside():
    return [*LOG], dict(COUNTS), Box.made


def reset():
    LOG.clear()
    COUNTS["calls"] = 0
    Box.made = 0
    noted.cache_clear()


def program(a, m, s, b):
"""

OVERLAPPING = (
    "a[1:] = a[:-1]", "c[:2] = c[::2]", "a[::2] = a[:2]", "c[::-1][:3] = c[1:]", "m[:, 1:] = m[:, :-1]",
    "m.T[...] = m.T[::-1]", "w.reshape(3, 2)[:, 1] = m[0]", "a[::-1] = c", "d[1:3] = a[::-1][:2]",
)  # fmt: skip
Lines = list[str]


class Writer:
    """Draws one program; `features` counts what is in it."""

    def __init__(self, number: int):
        self._random = random.Random(number)
        self.features: Counter[str] = Counter()
        self.loops = 0

    def pick(self, options: Any) -> Any:
        return self._random.choice(options)

    def chance(self, share: float) -> bool:
        return self._random.random() < share

    # --- expressions ------------------------------------------------------------------------

    def vector(self) -> str:
        """A name of, or a view of views of, four numbers."""
        options = ["a", "c", "a", "c", "a[::-1]", "c[::-1][...]", "d"]
        found = self.pick(options)
        if "[" in found:
            self.features["view"] += 1
        return found

    def matrix(self) -> str:
        found = self.pick(["m", "m", "w", "m[::-1]", "w[:, ::-1]"])
        self.features["view"] += "[" in found
        return found

    def three(self) -> str:
        """Three numbers that are part of a matrix."""
        self.features["view of a view"] += 1
        return self.pick(
            [
                "m[0]",
                "m[1]",
                "w[0]",
                "m[::-1][0]",
                "m.T[:, 1]",
                "w.reshape(3, 2)[:, 0]",
                "m.ravel()[::2]",
                "m.reshape(-1)[3:]",
                "w.T[::-1, 0]",
                "m.swapaxes(0, 1)[:, 0]",
            ]
        )

    def zero(self) -> str:
        """An array without axes, or one of NumPy's numbers."""
        self.features["0-d"] += 1
        return self.pick(
            [
                "b",
                "b",
                "e",
                "b[()]",
                "np.asarray(s)",
                "a[0]",
                "b.T",
                "e.reshape(())",
                "np.squeeze(b)",
            ]
        )

    def number(self, depth: int = 1) -> str:
        match self._random.randrange(11 if depth else 6):
            case 0:
                return self.pick(["s", "t"])
            case 1:
                return self.pick(["0.5", "1.25", "-0.75", "2.0"])
            case 2:
                return f"{self.vector()}[{self.pick('0123')}]"
            case 3:
                return f"{self.matrix()}[{self.pick('01')}, {self.pick('012')}]"
            case 4:
                return self.zero()
            case 5:
                return f"{self.three()}[{self.pick('012')}]"
            case 6:
                return f"np.{self.pick(['sin', 'cos', 'tanh', 'arctan'])}({self.number(depth - 1)})"
            case 7:
                return f"np.{self.pick(['sum', 'mean', 'max', 'min'])}({self.any_array()}) * 0.5"
            case 8:
                self.features["memoised"] += 1
                return f"counted({self.number(depth - 1)})"
            case _:
                return f"({self.number(depth - 1)} {self.pick('+-*')} {self.number(depth - 1)})"

    def any_array(self) -> str:
        return self.pick([self.vector, self.matrix, self.three, self.vector, self.zero])()

    def ufunc(self) -> str:
        return self.pick(
            [
                "np.add",
                "np.multiply",
                "np.maximum",
                "np.minimum",
                "np.subtract",
                "np.hypot",
                "np.logaddexp",
            ]
        )

    def along(self, array: str) -> str:
        """A reduction along an axis."""
        axis = self.pick(["0", "-1"])
        self.features["reduce"] += 1
        kind = self._random.randrange(4)
        if kind == 0:
            return f"{self.ufunc()}.reduce({array}, axis={axis})"
        if kind == 1:
            initial = self.pick(["", ", initial=0.7", ", keepdims=True"])
            return f"np.{self.pick(['max', 'min', 'sum', 'prod'])}({array}, axis={axis}{initial})"
        if kind == 2:
            ufunc = self.pick(["maximum", "minimum", "add", "multiply"])
            return f"np.{ufunc}.reduce({array}, axis={axis}, initial=0.7)"
        return f"np.{self.pick(['sort', 'cumsum', 'flip'])}({array}, axis={axis})"

    def whole(self) -> str:
        """Four numbers in memory of their own, or a view."""
        v = self.vector()
        match self._random.randrange(9):
            case 0:
                self.features["accumulate"] += 1
                return f"{self.ufunc()}.accumulate({v})"
            case 1:
                self.features["reduceat"] += 1
                return (
                    f"{self.ufunc()}.reduceat({v}, [{self.pick('012')}, {self.pick('123')}, 0, 3])"
                )
            case 2:
                return f"np.linalg.eigh(np.outer({v}, {v}) + np.diag([1.0, 2.0, 3.5, 5.0]))[0]"
            case 3:
                return f"np.where({v} > 0.3, {v}, {self.number(0)})"
            case 4:
                return f"{v}[[2, 0, 3, 0]]"
            case 5:
                return f"np.sin({v}) * {self.number(0)}"
            case 6:
                return f"np.outer({v}, {self.vector()})[{self.pick('0123')}]"
            case 7:
                return f"np.roll({v}, 1)"
            case _:
                return f"{v} * {self.vector()}"

    # --- statements -------------------------------------------------------------------------

    def statement(self, depth: int = 2) -> Lines:
        ways: list[tuple[int, Callable[[], Lines]]] = [
            (3, self.assign),
            (4, self.write),
            (3, self.write_overlapping),
            (3, self.at),
            (2, self.of_zero),
            (2, self.rebind),
            (2, self.reduce),
            (1, self.of_boxes),
            (1, self.generate),
            (1, self.global_state),
            (1, self.out),
            (1, self.method),
            (1, self.fancy),
        ]
        if depth:
            ways += [(1, lambda: self.loop(depth)), (1, lambda: self.branch(depth))]
        (way,) = self._random.choices([way for _, way in ways], [share for share, _ in ways])
        return way()

    def assign(self) -> Lines:
        return [f"t = {self.number()}"]

    def write(self) -> Lines:
        self.features["write"] += 1
        target = self.pick(
            [
                f"{self.vector()}[{self.pick(['0', '1', '-1', '1:3', '::2', '...'])}]",
                f"{self.three()}[{self.pick(['0', '1:', '...'])}]",
                f"m[{self.pick(['0, 1', '1', ':, 0', '0, ::-1'])}]",
            ]
        )
        return [f"{target} {self.pick(['=', '=', '*=', '+='])} {self.number()}"]

    def write_overlapping(self) -> Lines:
        self.features["views on both sides"] += 1
        if self.chance(0.5):
            return [f"{self.three()}[...] = {self.three()}"]
        return [self.pick(OVERLAPPING)]

    def at(self) -> Lines:
        self.features["ufunc.at"] += 1
        name = self.pick(["np.add", "np.subtract"])
        target = self.pick([self.vector(), "a", "c.ravel()", self.three(), "d[...]"])
        value = self.pick(
            ["0.5", self.number(), "np.array([0.5, s, 0.25])", "np.array([s])", f"{self.three()}"]
        )
        return [
            f"{name}.at({target}, {self.pick(['[0, 0, 1]', '[2, 1, 2]', 'np.array([1, 1, 0])'])}, {value})"
        ]

    def of_zero(self) -> Lines:
        self.features["0-d"] += 1
        return self.pick(
            (
                [f"b[...] {self.pick(['=', '*=', '+='])} {self.number()}"],
                ["b[()] **= 2"],
                [f"e = {self.zero()}"],
                [f"b *= {self.number(0)}"],
                ["t = b[None][0] + s"],
                [f"b.fill({self.number()})"],
                [f"t = {self.along(self.pick(['b', 'e', 'np.asarray(t)']))} * 0.5"],
                ["e = b.copy()", "e *= 2.0"],
                ["for _ in range(2):", "    e = b"],
                ["np.multiply(b, 0.5, out=b)"],
            )
        )

    def rebind(self) -> Lines:
        return self.pick(
            (
                [f"c = {self.whole()}"],
                [f"d = {self.whole()}"],
                ["c, d = d, c"],
                [f"w = {self.matrix()} * {self.number(0)}"],
                ["c = a"],
                ["w = m"],
                [f"c = halved({self.vector()})"],
                ["d = a.reshape(2, 2).T.ravel()"],
                ["c = a.view()"],
            )
        )

    def reduce(self) -> Lines:
        return [f"t = np.sum({self.along(self.any_array())}) * 0.5"]

    def of_boxes(self) -> Lines:
        self.features["operators"] += 1
        kind = self.pick(["Box", "Small"])
        return self.pick(
            (
                [
                    f"o = {kind}({self.vector()})",
                    f"o[0] = {self.number()}",
                    "o *= 0.5",
                    "t = o[0] + len(o)",
                ],
                [
                    f"o = {kind}({self.vector()}) * {self.number(0)} + Box({self.vector()})",
                    "t = o[1] * 0.3",
                ],
                [
                    f"o = {self.pick(['0.5', '2', 's'])} + {kind}({self.vector()})",
                    "t = np.sum(o.t) * 0.2",
                ],
            )
        )

    def generate(self) -> Lines:
        self.features["generator"] += 1
        return self.pick(
            (
                [f"for y in parts({self.vector()}, 3):", "    t = t * 0.5 + y"],
                [
                    f"for y in parts({self.vector()}, 3):",
                    "    t = t + y",
                    f"    if t > {self.number(0)}:",
                    "        break",
                ],
                [f"t = sum(parts({self.vector()}, 2))"],
                ["y = parts(a, 3)", "t = next(y)", "y.close()"],
            )
        )

    def global_state(self) -> Lines:
        self.features["state outside"] += 1
        return self.pick(
            (
                ["LOG.append(len(LOG))"],
                ["COUNTS['calls'] += 1"],
                ["Box.made += 2"],
                ["t = t + len(LOG) * 0.1"],
                ["t = t * noted(2)"],
                ["t = t + Box.made * 0.1"],
                ["if COUNTS['calls'] > 1:", "    t = t * 0.5"],
            )
        )

    def out(self) -> Lines:
        self.features["out"] += 1
        v = self.vector()
        return self.pick(
            (
                [f"np.multiply({v}, {self.number(0)}, out={self.vector()})"],
                [f"np.copyto({v}, {self.vector()})"],
                [f"np.put({v}, [0, -1], {self.number(0)})"],
                [f"np.cumsum({v}, out=c)"],
                [f"{self.three()}.fill({self.number(0)})"],
            )
        )

    def method(self) -> Lines:
        return self.pick(
            (
                [f"{self.vector()}.sort()"],
                [f"{self.three()}.sort()"],
                ["m.sort(axis=0)"],
                ["t = first(a) * 0.5"],
            )
        )

    def fancy(self) -> Lines:
        self.features["fancy index"] += 1
        return self.pick(
            (
                [f"{self.vector()}[[2, 2, 0]] = {self.three()}"],
                [f"m[[0, 1, 1], [True, False, False]] = {self.number()}"],
                [f"a[a > {self.number(0)}] *= 0.5"],
                ["m.T[[0, 0, 2]] = m.T[[1, 2, 0]]"],
                ["c[[True, False, True, False]] = a[:2]"],
                [f"t = np.sum(m[[1, 0], [[True, False, True]][0]]) * {self.number(0)}"]
                if self.chance(0.3)
                else ["t = np.sum(m[[1, 1]])"],
            )
        )

    def inside(self, depth: int) -> Lines:
        lines = [line for _ in range(self.pick((1, 1, 2))) for line in self.statement(depth - 1)]
        return [f"    {line}" for line in lines]

    def loop(self, depth: int) -> Lines:
        self.features["loop"] += 1
        return [f"for k{depth} in range({self.pick('123')}):", *self.inside(depth)]

    def branch(self, depth: int) -> Lines:
        self.features["branch"] += 1
        lines = [f"if {self.number(0)} > {self.number(0)}:", *self.inside(depth)]
        return [*lines, "else:", *self.inside(depth)] if self.chance(0.4) else lines

    def program(self) -> str:
        setup = [
            f"c = {self.pick(['a * 0.5', 'a', 'a[::-1]', 'a.copy()'])}",
            f"d = {self.pick(['np.sin(a)', 'a.reshape(2, 2).ravel()', 'a + 0.1'])}",
            f"w = {self.pick(['m * 0.5', 'm', 'm[::-1]'])}",
            f"e, t = {self.pick(['b', 'b * 2.0', 'np.asarray(s)'])}, s * 0.5",
        ]
        body = [line for _ in range(self.pick((2, 3, 4, 5))) for line in self.statement()]
        last = (
            "return float(np.sum(np.sin(a) * WEIGHTS) + np.sum(c * WEIGHTS) + np.sum(d) * 0.3 + np.sum(m * 0.7)"
            " + np.sum(np.cos(w)) + t * 0.6 + s * 0.1 + b * 0.2 + e * 0.4)"
        ).replace("float(", "(")
        return HEAD + "\n".join(f"    {line}" for line in [*setup, *body, last]) + "\n"


def arguments() -> tuple[Any, ...]:
    """Fresh arguments of a program."""
    a = np.array([0.31, -0.27, 0.92, 0.54])
    m = np.array([[0.21, 0.83, -0.44], [-0.12, 0.39, 0.71]])
    return a, m, 0.63, np.array(0.47)
