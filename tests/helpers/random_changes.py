"""Random Python functions that change arrays, lists and objects in place and give them other names.

A `Writer` asks `choose` for everything that it decides, so that Hypothesis can draw the choices (and
shrink them: the first option is the simplest). Every program has the same arguments:
`program(x, a, m, xs, o, n)`, a number, a vector, a matrix, a list, an object and a count.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

HEAD = """\
import functools
import math
from collections import deque

import numpy as np

import wengert as wg

WEIGHTS = np.array([0.3, -0.7, 1.1, 0.4])
WHOLE = np.array([1, -2, 1, 2])


class Box:
    def __init__(self, v, w):
        self.v = v
        self.w = w
        self.log = []
        self.parts = []

    def add(self, e):
        self.v += e
        self.log.append(self.v)
        return self

    @property
    def half(self):
        return 0.5 * self.v


def bump(t, e):
    t[0] += e
    return t[1]


def shift(t):
    t[1:] = t[:-1] * 0.5


def fill(t, e):
    for k in range(len(t)):
        t[k] = t[k] * 0.3 + e * k


def same(t):
    t *= 0.5
    return t


def mixed(s, t):
    s[0] = t[1] * 0.5
    t[0] = s[1]
    return s


def blend(s, t, e):
    part = t[1:]
    part *= e
    s[0] += part[-1]
    return s[:2].sum() + t[0]


def walk(t, k):
    if k >= len(t):
        return 0.0
    t[k] = math.sin(t[k]) + 0.1 * k
    return t[k] + walk(t, k + 1)


def first_above(t, e):
    for k in range(len(t)):
        if t[k] > e:
            t[k] -= 0.5
            return t[k]
    return e


def checked(t, e):
    if t[1] > e:
        raise ValueError("too large")
    t[1] = e
    return t[2]


def passed(t, e):
    yield t
    t *= e
    yield t


def reader(t, k):
    return lambda: t[k]


def keyed(*, s, t):
    s *= 0.5
    return t[1]


class Scaled:
    def __init__(self, t, e):
        self.t = t
        self.e = e

    def __enter__(self):
        self.t *= self.e
        return self.t

    def __exit__(self, *error):
        self.t[0] += self.e


"""

OPENING = "def program(x, a, m, xs, o, n):"
SLOPE = """

def slope(x, a, m, xs, o, n):
    return wg.grad(program)(x, a, m, xs, o, n)
"""

Lines = list[str]
Statement = Callable[["Writer"], Lines]


def indented(lines: Lines) -> Lines:
    return ["    " + line for line in lines]


class Writer:
    """Writes one program; `below(n)` draws a number less than `n`."""

    def __init__(self, below: Callable[[int], int]):
        self.below = below
        self.counters: list[str] = []
        self.loops = 0
        self.depth = 0
        self.flags = 0
        self.parts: set[str] = set()

    def choose(self, options: Any) -> Any:
        return options[self.below(len(options))]

    def often(self, of_ten: int) -> bool:
        return self.below(10) >= 10 - of_ten

    # --- expressions ----------------------------------------------------------------------

    def vector(self) -> str:
        return self.choose(("a", "b", "a", "b", "c"))

    def index(self) -> str:
        if self.counters and self.often(6):
            return self.choose([f"{name} % 4" for name in self.counters])
        return self.choose(("0", "1", "2", "3", "-1", "n"))

    def small(self) -> str:
        if self.counters and self.often(4):
            return self.choose([f"{name} % 2" for name in self.counters])
        return self.choose(("0", "1", "-1"))

    def number(self, depth: int = 2) -> str:
        kind = self.below(12 if depth > 0 else 6)
        match kind:
            case 0 | 1:
                return self.choose(("x", "u", "v"))
            case 2:
                return self.choose(("0.5", "1.25", "-0.75", "2", "n"))
            case 3 | 4:
                return f"{self.vector()}[{self.index()}]"
            case 5:
                return self.held()
            case 6:
                return f"math.sin({self.number(depth - 1)})"
            case 7:
                factors = self.choose((f"{self.vector()} * {self.vector()}", self.vector()))
                total = self.choose((f"np.sum({factors})", f"{self.vector()}.max()"))
                return f"{total} * {self.choose(('0.2', 'n'))}"
            case _:
                left, right = self.number(depth - 1), self.number(depth - 1)
                return f"({left} {self.choose('+-*')} {right})"

    def held(self) -> str:
        """A number that a container or an object holds."""
        options = ["x"]
        if "m" in self.parts:
            options += [f"m[{self.small()}, {self.index()}]", f"m[{self.small()}][{self.index()}]"]
        if "xs" in self.parts:
            options += [f"xs[{self.small()}]", f"ys[{self.small()}]", "sum(ys)"]
        if "r" in self.parts:
            options += [f"r[{self.small()}][{self.small()}]", "q[0]"]
        if "d" in self.parts:
            options += ["d['p']", "d['t'][0]", "d.get('s', 0.5)"]
        if "o" in self.parts:
            options += ["o.v", "p.v", f"o.w[{self.index()}]", "o.half", "p.w[0]"]
        return self.choose(options)

    def whole(self) -> str:
        """A vector of four numbers, made anew."""
        return self.choose(
            (
                f"{self.vector()} * 0.5",
                f"{self.vector()} * WHOLE",
                f"{self.vector()} + {self.vector()}",
                f"np.sin({self.vector()})",
                f"{self.vector()} * {self.number(1)}",
                f"{self.vector()}[::-1]",
                f"{self.vector()}.copy()",
                self.computed(),
            )
        )

    def computed(self) -> str:
        """A vector that a function of NumPy makes."""
        first, second = self.vector(), self.vector()
        return self.choose(
            (
                f"np.where({first} > {second}, {first}, {self.number(0)})",
                f"np.maximum({first}, {second})",
                f"np.cumsum({first})",
                f"np.concatenate(({first}[2:], {second}[:2]))",
                f"np.roll({first}, n)",
                f"{first}[[2, 0, 3, 0]]",
                f"np.array([{self.number(0)}, {first}[1], x * n, {second}[0]])",
                f"np.outer({first}, {second})[1]",
                f"np.stack(({first}, {second}))[n - 1]",
                f"{first}.reshape(2, 2).T.ravel()",
            )
        )

    def test(self) -> str:
        if self.counters and self.often(4):
            return f"{self.choose(self.counters)} {self.choose(('< 1', '% 2', '> 0', '== 2'))}"
        return f"{self.number(1)} {self.choose('<>')} {self.number(1)}"

    # --- statements -----------------------------------------------------------------------

    def statement(self) -> Lines:
        options = [*PLAIN, *(each for part in sorted(self.parts) for each in OF_PART[part])]
        if self.depth < 2:
            options += NESTING
        if self.loops:
            options += LEAVING
        return self.choose(options)(self)

    def block(self, most: int = 3) -> Lines:
        self.depth += 1
        lines = [line for _ in range(1 + self.below(most)) for line in self.statement()]
        self.depth -= 1
        return lines

    def loop(self, opening: str, counter: str | None, first: Sequence[str] = ()) -> Lines:
        self.loops += 1
        if counter:
            self.counters.append(counter)
        body = self.block()
        if counter:
            self.counters.pop()
        self.loops -= 1
        return [opening, *indented([*first, *body])]

    def program(self) -> str:
        for part in OF_PART:
            if self.often(2):
                self.parts.add(part)
        setup = [
            "u, v = x, 0.5 * x",
            "b = " + self.choose(("a * x", "a", "np.zeros(4)", "a.copy()", "np.full(4, x)")),
            "c = " + self.choose(("a[::-1] * x", "b", "a")),
        ]
        setup += [line for part in sorted(self.parts) for line in SETUP[part](self)]
        body = [line for _ in range(1 + self.below(4)) for line in self.statement()]
        terms = ["u * 0.5", "v", "a @ WEIGHTS", "(b * c) @ WEIGHTS"]
        terms += [TERM[part] for part in sorted(self.parts)]
        lines = [*setup, *body, f"return {' + '.join(terms)}"]
        return HEAD + f"{OPENING}\n" + "\n".join(indented(lines)) + "\n" + SLOPE


def line(template: str, *parts: str) -> Statement:
    """A statement of one line; `parts` are the methods that write what goes into it."""
    return lambda w: [template.format(*(getattr(w, part)() for part in parts))]


def lines(*templates: str) -> Statement:
    """Lines that are always the same."""
    return lambda w: list(templates)


def assign(w: Writer) -> Lines:
    return [f"{w.choose('uv')} = {w.number()}"]


def augment(w: Writer) -> Lines:
    return [f"{w.choose('uv')} {w.choose('+-*')}= {w.number(1)}"]


def augment_item(w: Writer) -> Lines:
    return [f"{w.vector()}[{w.index()}] {w.choose('+-*')}= {w.number(1)}"]


def augment_vector(w: Writer) -> Lines:
    return [f"{w.vector()} {w.choose('+-*')}= {w.choose((w.vector(), w.number(1)))}"]


def rename(w: Writer) -> Lines:
    source = w.choose(("a", "b", "c", *(["m[1]"] if "m" in w.parts else [])))
    return [f"{w.choose('bca')} = {source}"]


def rebind(w: Writer) -> Lines:
    return [f"{w.choose('bca')} = {w.whole()}"]


def swap(w: Writer) -> Lines:
    return [w.choose(("a, b = b, a", "b, c = c, b", "a, b, c = c, a, b", "c, b = b, a"))]


def slice_write(w: Writer) -> Lines:
    return [
        w.choose(
            (
                f"{w.vector()}[:] = {w.whole()}",
                f"{w.vector()}[1:] = {w.vector()}[:-1]",
                f"{w.vector()}[1:3] = {w.number(1)}",
                f"{w.vector()}[::2] *= {w.vector()}[1::2]",
                f"{w.vector()}[{w.vector()} > {w.number(0)}] = {w.number(0)}",
                f"{w.vector()}[[0, 2]] += {w.vector()}[1:3]",
                f"{w.vector()}[{w.vector()} < {w.vector()}] *= {w.number(0)}",
                f"np.add.at({w.vector()}, [0, 0, 3], {w.number(0)})",
                f"{w.vector()}.fill({w.number(1)})",
                f"{w.vector()}.sort()",
                f"np.multiply({w.vector()}, {w.vector()}, out={w.vector()})",
                f"np.copyto({w.vector()}, {w.vector()})",
            )
        )
    ]


def view(w: Writer) -> Lines:
    source = w.vector()
    name = w.choose(("w", "z"))
    part = w.choose(("[1:3]", "[::-1]", "[1:]", ".reshape(2, 2)[1]", ".reshape(2, 2).T[0]"))
    after = w.choose((f"{name}[0] = {w.number(1)}", f"{source}[2] = {w.number(1)}"))
    read = w.choose((f"u = {name}[1] + {source}[2]", f"{name} *= 0.5", f"v = {source}[1]"))
    return [f"{name} = {source}{part}", after, read]


def call(w: Writer) -> Lines:
    target = w.choose(("a", "b", "c", *(["m[0]", "m[:, 1]"] if "m" in w.parts else [])))
    return [
        w.choose(
            (
                f"u = bump({target}, {w.number(1)})",
                f"shift({target})",
                f"fill({target}, {w.number(0)})",
                f"{w.choose('bc')} = same({target})",
                f"v = walk({target}, 0)",
                f"u = first_above({target}, {w.number(1)})",
                f"{w.choose('bc')} = mixed({target}, {w.vector()})",
            )
        )
    ]


def two_calls(w: Writer) -> Lines:
    """Two calls of a function that writes to both arrays, to one array or to parts of it."""
    first, second = w.vector(), w.vector()
    part = w.choose(("", "", "[::-1]", "[1:]", ".reshape(2, 2)[1]", ".copy()"))
    between = w.choose(([], [f"{first}[{w.index()}] *= {w.number(0)}"], [f"u = {second}[0]"]))
    return [
        f"u = blend({first}, {second}{part}, {w.number(1)})",
        *between,
        f"v = {w.choose(('v + ', ''))}blend({second}{part}, {first}, {w.number(0)}) * 0.5",
    ]


def local_function(w: Writer) -> Lines:
    name = w.vector()
    w.flags += 1
    return [
        f"def change{w.flags}(e):",
        *w.choose(
            (
                [f"    {name}[{w.index()}] += e", f"    return {name}[0]"],
                ["    nonlocal_ = e * 2", f"    {name}[0] = nonlocal_", "    return nonlocal_"],
            )
        ),
        "",
        f"u = change{w.flags}({w.number(1)})",
    ]


def branch(w: Writer) -> Lines:
    found = [f"if {w.test()}:", *indented(w.block(2))]
    if w.often(5):
        found += ["else:", *indented(w.block(2))]
    return found


def for_range(w: Writer) -> Lines:
    counter = w.choose("ijk")
    return w.loop(f"for {counter} in range({w.choose(('n', '3', 'n + 1'))}):", counter)


def for_items(w: Writer) -> Lines:
    source = w.choose((w.vector(), *(["list(xs)"] if "xs" in w.parts else [])))
    return w.loop(f"for e in {source}:", None, [f"u = u * 0.5 + e * {w.number(0)}"])


def for_rows(w: Writer) -> Lines:
    rows = [*(["m"] if "m" in w.parts else []), *(["r[:2]"] if "r" in w.parts else [])]
    source = w.choose(rows or [f"({w.vector()}, {w.vector()})"])
    return w.loop(f"for row in {source}:", None, [f"row[{w.small()}] += {w.number(0)}"])


def while_loop(w: Writer) -> Lines:
    w.flags += 1
    fuel = f"f{w.flags}"
    test = w.choose(("", f" and {w.test()}"))
    found = w.loop(f"while {fuel} < {w.choose(('3', 'n'))}{test}:", fuel, [f"{fuel} += 1"])
    return [f"{fuel} = 0", *found]


def attempt(w: Writer) -> Lines:
    body = w.choose(
        (
            [f"u = checked({w.vector()}, {w.number(1)})"],
            [f"if {w.test()}:", "    raise ValueError", *w.statement()],
            [*w.statement(), f"u = {w.vector()}[{w.choose(('n + 2', 'n'))}]"],
        )
    )
    handler = w.block(1)
    last = ["finally:", *indented(w.block(1))] if w.often(2) else []
    return ["try:", *indented(body), "except (ValueError, IndexError):", *indented(handler), *last]


def leave(w: Writer) -> Lines:
    return [f"if {w.test()}:", f"    {w.choose(('break', 'continue'))}"]


def early_return(w: Writer) -> Lines:
    return [f"if {w.test()}:", f"    return {w.number()} + b @ WEIGHTS"]


def of_two_kinds(w: Writer) -> Lines:
    """A name that is an array on one path and a number on the other."""
    name, total = (
        w.choose("wz"),
        w.choose((f"np.sum({w.vector()})", f"{w.vector()}[1]", w.number(0))),
    )
    array = w.choose((f"abs({w.vector()})", f"{w.vector()} * {w.number(0)}", f"-{w.vector()}"))
    return [
        f"{name} = {array} if {w.test()} else {total}",
        f"{w.choose('uv')} = np.sum({name} * {w.number(0)}) * 0.3",
    ]


def never_left(w: Writer) -> Lines:
    """A way out that is never taken, with something else than a number."""
    others = (
        f"abs({w.vector()})",
        f"{w.vector()} * {w.number(0)}",
        w.vector(),
        f"({w.number(0)}, u)",
        "None",
    )
    return [f"if {w.choose('uvx')} > 1e6:", f"    return {w.choose(others)}"]


PLAIN = [
    assign,
    line("{}[{}] = {}", "vector", "index", "number"),
    line("{}[{}] = {}", "vector", "index", "number"),
    augment,
    augment_item,
    augment_vector,
    rename,
    rebind,
    swap,
    slice_write,
    view,
    call,
    two_calls,
    of_two_kinds,
    never_left,
]
NESTING = [branch, branch, for_range, for_range, for_items, for_rows, while_loop, attempt,
           local_function, early_return]  # fmt: skip
LEAVING = [leave, leave]


def of_matrix(w: Writer) -> Lines:
    return [
        w.choose(
            (
                f"m[{w.small()}, {w.index()}] = {w.number(1)}",
                f"m[{w.small()}] = {w.vector()}",
                f"m[:, {w.index()}] *= {w.number(1)}",
                f"m[{w.small()}][{w.index()}] += {w.number(1)}",
                f"m.T[{w.index()}] = {w.number(1)}",
                f"m.ravel()[{w.index()}] = {w.number(1)}",
                f"m.reshape(-1)[n:] += {w.number(1)}",
                "m[0], m[1] = m[1].copy(), m[0].copy()",
                f"row = m[{w.small()}]",
                f"m += {w.vector()}",
                f"m.ravel()[{w.index()}], row = {w.number(1)}, np.split(m, 2)[0][0]",
            )
        )
    ]


def of_list(w: Writer) -> Lines:
    name, other = w.choose((("xs", "ys"), ("ys", "xs")))
    return w.choose(
        (
            [f"{name}.append({w.number(1)})"],
            [f"{name}[{w.small()}] = {w.number(1)}"],
            [f"{name}[{w.small()}] += {w.number(1)}"],
            [f"{name}.insert({w.small()}, {w.number(1)})"],
            [f"if len({name}) > 2:", f"    u = {name}.pop({w.choose(('', '0', '1'))})"],
            [f"if len({name}) > 2:", f"    del {name}[{w.small()}]"],
            [f"{name} = {other}"],
            [f"{name} = list({other})"],
            ["xs, ys = ys, xs"],
            [f"{name} += [{w.number(1)}]"],
            [f"fill({name}, {w.number(0)})"],
            [f"u = walk({name}, 0)"],
            [f"{name} = [t * 0.5 for t in {name}]"],
        )
    )


def of_rows(w: Writer) -> Lines:
    return w.choose(
        (
            [f"r[{w.small()}][{w.small()}] = {w.number(1)}"],
            [f"r[{w.small()}][{w.small()}] += {w.number(1)}"],
            [f"q = r[{w.small()}]"],
            [f"q[{w.small()}] = {w.number(1)}"],
            ["r[0], r[1] = r[1], r[0]"],
            [f"r.append([{w.number(1)}, 0.5])"],
            [f"r.append({w.vector()})"],
            [f"r[{w.small()}] = {w.choose((w.vector(), 'q', '[x, 0.5]'))}"],
            ["r = [q, r[-1]]"],
            ["if len(r) > 2:", "    q = r.pop()"],
            ["q = r[-1] if u > v else r[0]"],
        )
    )


def of_dictionary(w: Writer) -> Lines:
    return w.choose(
        (
            [f"d['p'] = {w.number(1)}"],
            [f"d['s'] = d.get('s', 0.5) + {w.number(1)}"],
            [f"d['t'][{w.index()}] = {w.number(1)}"],
            [f"d['t'] = {w.vector()}"],
            [f"{w.choose('bc')} = d['t']"],
            [f"d[n] = {w.number(1)}"],
            [f"d['p'] *= {w.number(1)}"],
        )
    )


def of_object(w: Writer) -> Lines:
    name = w.choose("op")
    return w.choose(
        (
            [f"{name}.add({w.number(1)})"],
            [f"{name}.v = {w.number(1)}"],
            [f"{name}.v *= {w.number(1)}"],
            [f"{name}.w[{w.index()}] = {w.number(1)}"],
            [f"{name}.w = {w.vector()}"],
            [f"{w.choose('bc')} = {name}.w"],
            ["p = o"],
            [f"p = Box({w.number(1)}, {w.vector()})"],
            ["o, p = p, o"],
            [f"{name}.w += {w.number(1)}"],
            ["o.w, p.w = p.w, o.w"],
            ["p = o if u > v else p"],
        )
    )


def of_arrays(w: Writer) -> Lines:
    """On a list of arrays that an argument holds."""
    return w.choose(
        (
            [f"{w.choose('bc')} = o.parts[{w.small()}]"],
            [f"o.parts[{w.small()}] = {w.choose((w.vector(), w.whole()))}"],
            [f"o.parts[{w.small()}][{w.index()}] = {w.number(1)}"],
            [f"o.parts[{w.small()}] *= {w.number(1)}"],
            [f"o.parts.append({w.choose((w.vector(), w.whole()))})"],
            [f"o.parts.insert({w.small()}, {w.whole()})"],
            ["if len(o.parts) > 2:", f"    {w.choose('bc')} = o.parts.pop({w.choose(('', '0'))})"],
            ["o.parts[0], o.parts[1] = o.parts[1], o.parts[0]"],
            ["o.w, o.parts[0] = o.parts[0], o.w"],
            [f"o.parts = [o.w, {w.whole()}]"],
            [
                "old = o.parts[0]",
                f"o.parts[0] = {w.vector()}",
                f"old[{w.index()}] = {w.number(1)}",
                "u += old[1]",
            ],
            [
                "old = o.w",
                f"o.w = {w.whole()}",
                f"{w.choose(('old', 'o.w'))}[{w.index()}] = {w.number(1)}",
                "v += old[2]",
            ],
            ["for part in o.parts:", f"    part[{w.index()}] += {w.number(0)}"],
            [f"u = sum(part[{w.index()}] for part in o.parts)"],
        )
    )


def of_views(w: Writer) -> Lines:
    """On a list of views of the vectors, and on views that objects hold."""
    return w.choose(
        (
            [f"f[{w.small()}][{w.index()}] = {w.number(1)}"],
            [f"f[{w.small()}] *= {w.number(1)}"],
            [f"f.append({w.vector()}[::-1])"],
            [f"f.append({w.vector()})"],
            [f"f += [{w.vector()}, {w.whole()}]"],
            [f"f[{w.small()}] = {w.vector()}"],
            [f"f = [{w.vector()}, {w.vector()}[::-1]]"],
            ["f = f + f[:1]"],
            ["f[0], f[1] = f[1], f[0]"],
            ["for view in f:", f"    view[{w.index()}] += {w.number(0)}"],
            [f"u = f[{w.small()}][{w.index()}] + {w.vector()}[1]"],
            [f"{w.vector()}[{w.index()}] = {w.number(1)}", f"v += f[{w.small()}][{w.index()}]"],
            [f"o.w = {w.vector()}[::-1]", f"o.w[{w.index()}] *= {w.number(1)}"],
            ["o.w = o.w[::-1]", f"{w.vector()}[{w.index()}] += o.w[{w.index()}]"],
            [f"o.log.append({w.vector()}[{w.index()}])"],
            [f"start, end = np.split({w.vector()}, 2)", f"start[0] = {w.number(1)}", "v = end[1]"],
        )
    )


def of_chosen(w: Writer) -> Lines:
    """On a vector that only the run chooses."""
    one, other = w.vector(), w.vector()
    return w.choose(
        (
            [f"g[{w.index()}] = {w.number(1)}"],
            [f"g *= {w.number(1)}"],
            [f"{one}[{w.index()}] = {w.number(1)}", f"u = g[{w.index()}]"],
            [f"g[{w.index()}] = {w.number(1)}", f"u = {one}[{w.index()}]"],
            [f"g = {one} if {w.test()} else {other}"],
            [f"if {w.test()}:", f"    g = {one}"],
            [f"g = next((t for t in ({one}, {other}) if t[0] > {w.number(1)}), o.w)"],
            [f"g = max([{one}, {other}], key=lambda t: t[{w.index()}])"],
            [f"for t in ({one}, {other}):", f"    if t[{w.index()}] > g[0]:", "        g = t"],
            ["g = g[::-1]"],
            ["o.w = g"],
            [f"o.w = {one} if {w.test()} else {other}"],
            [f"o.w = [{one}, {other}][{w.test()}]"],
            [f"h = [g, {one}]", f"h[{w.small()}][{w.index()}] = {w.number(1)}"],
            [f"h = [{one}, o.w]", "h = h.copy()", f"h[{w.small()}][{w.index()}] = {w.number(1)}"],
            [f"{w.choose('bc')} = g"],
            [f"g = o.w if {w.test()} else g"],
            [
                "h = []",
                "for k in range(n):",
                f"    h.append({one} if k else {other})",
                *w.choose((["t = h.pop()"], ["t = h[-1]", f"h[-1] = {w.whole()}"])),
                f"t[{w.index()}] = {w.number(1)}",
            ],
            [
                f"h = [t for t in ({one}, {other}) if t[0] > {w.number(0)}]",
                "g = h[-1] if h else g",
                f"g[{w.index()}] = {w.number(1)}",
            ],
        )
    )


def of_one_path(w: Writer) -> Lines:
    """On objects that names refer to on one path only."""
    change = w.choose(
        (
            [f"row[{w.small()}] = {w.number(1)}"],
            [f"row[{w.small()}] *= {w.number(1)}"],
            [f"row.append({w.number(1)})"],
            [f"kept.v += {w.number(1)}"],
            [f"kept.w[{w.index()}] = {w.number(1)}"],
            [f"kept.w = {w.vector()}"],
            ["also = row", f"also[0] *= {w.number(1)}"],
            [f"kept.log = row, {w.vector()}", f"kept.log[0][1] -= {w.number(1)}"],
            [f"v = row[{w.small()}] * 0.3 + kept.half"],
        )
    )
    return w.choose(([f"u = grow({w.number(1)})"], ["if on:", *indented(change)]))


def of_holders(w: Writer) -> Lines:
    """On vectors that functions, iterators and others hold without a name."""
    one, other = w.vector(), w.vector()
    return w.choose(
        (
            [f"hold = lambda t={one}: t @ WEIGHTS"],
            [f"hold = functools.partial(np.dot, {one}, WEIGHTS)"],
            [f"hold = {one}.sum"],
            [f"hold = reader({one}, {w.index()})"],
            ["u = hold() * 0.3"],
            [f"{one} *= {w.number(1)}", "u += hold()"],
            [f"queue.append({one})"],
            [f"queue[{w.small()}][{w.index()}] = {w.number(1)}"],
            ["queue.rotate(1)"],
            [f"{w.choose('bc')} = queue.popleft()", f"queue.append({one})"],
            [f"v = sum(t[0] for t in passed({one}, {w.number(1)}))"],
            [
                f"s = passed({one}, 0.5)",
                "u = next(s)[1]",
                f"{other}[1] = {w.number(1)}",
                "v = next(s)[1]",
            ],
            [
                f"for i, t in enumerate(({one}, {other})):",
                f"    {w.vector()} *= {w.number(1)}",
                "    u += t[i]",
            ],
            [
                f"for s, t in zip(({one}, {other}), [{w.vector()}, {w.vector()}]):",
                f"    s[{w.index()}] += t[1]",
                f"    {w.vector()} *= 0.5",
            ],
            [f"s, *t = {one}, {other}, {w.vector()}", "t[0] *= 0.5", "u = s[1] + t[1][2]"],
            [f"b = c = {w.whole()}"],
            [f"u = (t := {one})[0] + {other}[1]", "t *= 0.5"],
            [f"u = keyed(s={one}, t={other})"],
            [f"with Scaled({one}, {w.number(0)}) as t:", f"    t[{w.index()}] += {other}[0]"],
            [f"v = ({one}, fill({other}, 0.5))[0][1] + {w.vector()}[2]"],
            [f"u = dict(s={one}, t={other})['s'][1]", f"{one} += {other}"],
        )
    )


def of_tables(w: Writer) -> Lines:
    """On dictionaries of dictionaries, by key and in loops over keys."""
    key, vector = w.choose("pq"), w.vector()
    return w.choose(
        (
            [f"table['{key}']['s'] = {w.number(1)}"],
            [f"table['{key}']['t'][{w.index()}] = {w.number(1)}"],
            [f"table['{key}']['t'] = {w.choose((vector, w.whole()))}"],
            ["for key in table:", f"    table[key]['s'] {w.choose('+*')}= {w.number(1)}"],
            ["for key in sorted(table):", f"    table[key]['t'][{w.index()}] += {w.number(0)}"],
            [
                "for key, inner in table.items():",
                f"    inner['t'] *= {w.number(0)}",
                "    u += inner['s']",
            ],
            ["for inner in table.values():", f"    inner['s'] = inner['t'][{w.index()}]"],
            [
                "table = {key: {**inner, 's': inner['s'] * "
                + w.number(0)
                + "} for key, inner in table.items()}"
            ],
            ["table['p'], table['q'] = table['q'], table['p']"],
            [f"table.setdefault('r', {{'s': x, 't': {vector}}})['s'] += {w.number(0)}"],
            [f"table['{key}'].update(s={w.number(1)}, t={vector})"],
            [f"table['{key}'] = dict(table['{w.choose('pq')}'])"],
            [
                f"inner = table['{key}']",
                f"inner['t'][0] = {w.number(1)}",
                f"inner['s'] *= {w.number(0)}",
            ],
            [f"{w.choose('bc')} = table['{key}']['t']"],
            [f"u = sum(inner['s'] for inner in table.values() if inner['t'][0] > {w.number(0)})"],
            ["table = dict(sorted(table.items(), key=lambda item: item[1]['s']))"],
            [
                "best = max(table, key=lambda key: table[key]['s'])",
                f"table[best]['t'][1] = {w.number(1)}",
            ],
        )
    )


def of_made(w: Writer) -> Lines:
    """On objects and pairs that comprehensions make."""
    one, other = w.vector(), w.vector()
    return w.choose(
        (
            [f"made = [Box(t[0] * 0.5, t) for t in ({one}, {other})]"],
            [f"made = [Box({w.number(0)}, t * 0.5) for t in ({one}, {other})]"],
            [f"made.append(Box({w.number(0)}, {w.choose((one, w.whole()))}))"],
            ["for each in made:", f"    each.v {w.choose('+*')}= {w.number(1)}"],
            ["for each in made:", f"    each.w[{w.index()}] += each.v", "    u += each.w[1]"],
            ["for k, each in enumerate(made):", f"    each.add({w.number(0)} * k)"],
            [f"made[{w.small()}].w[{w.index()}] = {w.number(1)}"],
            [f"made[{w.small()}].w = {one}"],
            ["made.sort(key=lambda each: each.v)"],
            ["made = sorted(made, key=lambda each: each.w[0], reverse=True)"],
            ["best = max(made, key=lambda each: each.v)", f"best.w[{w.index()}] = {w.number(1)}"],
            [f"made = [each for each in made if each.v > {w.number(0)}] or made"],
            [f"u = sum(each.v * each.w[{w.index()}] for each in made)"],
            [f"pairs = [(t[{w.index()}], t) for t in ({one}, {other})]"],
            ["pairs = [(e * 0.5, t) for e, t in pairs]"],
            [f"pairs.append(({w.number(0)}, {w.choose((one, w.whole()))}))"],
            [
                "for k, (e, t) in enumerate(pairs):",
                "    t[k % 4] += e",
                f"    u = e * {w.number(0)}",
            ],
            ["for (e, s), (_, t) in zip(pairs, pairs[1:]):", f"    s[{w.index()}] = t[0] * e"],
            [f"{one}[{w.index()}] = {w.number(1)}", "v = sum(e * t[0] for e, t in pairs)"],
            [f"{w.choose('bc')} = pairs[{w.small()}][1]"],
            [f"b, c = (t * {w.number(0)} for _, t in pairs[:2])"],
        )
    )


OF_PART = {
    "c": [of_made] * 4,
    "d": [of_dictionary] * 4,
    "f": [of_views] * 4,
    "k": [of_arrays] * 4,
    "m": [of_matrix] * 4,
    "y": [of_one_path] * 4,
    "o": [of_object] * 4,
    "r": [of_rows] * 4,
    "h": [of_holders] * 4,
    "t": [of_tables] * 4,
    "z": [of_chosen] * 4,
    "xs": [of_list] * 5,
}
SETUP: dict[str, Statement] = {
    "c": lambda w: [
        f"made = [Box(t[0], t) for t in ({w.vector()}, {w.vector()})]",
        f"pairs = [(t[1], t) for t in ({w.vector()}, {w.vector()})]",
    ],
    "d": lambda w: [f"d = {{'p': x, 't': {w.vector()}}}"],
    "f": lambda w: [f"f = [{w.vector()}[::-1], {w.vector()}]"],
    "h": lambda w: [f"hold, queue = {w.vector()}.sum, deque([{w.vector()}, {w.vector()}])"],
    "k": lambda w: [],
    "m": lambda w: [],
    "o": lambda w: [f"p = {w.choose(('Box(x, b)', 'o', 'Box(0.5, a)'))}"],
    "t": lambda w: [
        f"table = {{'p': {{'s': x, 't': {w.vector()}}}, 'q': {{'s': 0.5, 't': {w.vector()}}}}}"
    ],
    "r": lambda w: [
        f"r = [{w.choose(('[x, 1.0], [0.5, x]', 'a, b', '[x, 1.0], b'))}]",
        f"q = {w.choose(('r[0]', '[x, x]'))}",
    ],
    "y": lambda w: [
        f"on = {w.test()}",
        "if on:",
        f"    row, kept = [x, 0.5, {w.number(1)}], Box({w.number(1)}, {w.vector()})",
        "",
        "def grow(e):",
        "    if on:",
        f"        row[{w.small()}] += e",
        f"        kept.v *= {w.choose(('e', 'row[1]', '0.5'))}",
        "    return e * 0.5",
        "",
        f"u = grow({w.number(1)})",
    ],
    "z": lambda w: [f"g = {w.vector()} if {w.test()} else {w.vector()}"],
    "xs": lambda w: [f"ys = {w.choose(('xs', '[x, 2.0]', 'list(xs)'))}"],
}
TERM = {
    "c": "sum(each.v * (each.w @ WEIGHTS) for each in made) + sum(e * t[2] for e, t in pairs)",
    "d": "d['p'] + d['t'] @ WEIGHTS + d.get('s', 0.0)",
    "f": "sum(view @ WEIGHTS for view in f) + f[0] @ o.w",
    "h": "hold() * 0.4 + sum(t @ WEIGHTS for t in queue)",
    "k": "sum(part @ WEIGHTS for part in o.parts) + o.parts[0] @ o.w + len(o.parts)",
    "m": "m[0] @ m[1] + m[1, 2]",
    "t": "sum(inner['s'] * (inner['t'] @ WEIGHTS) for inner in table.values()) + len(table)",
    "o": "o.v * p.v + (o.w * p.w) @ WEIGHTS + sum(o.log) + len(p.log)",
    "r": "r[0][0] * q[1] + r[-1][1] - q[0]",
    "y": "(row[0] * row[-1] + kept.v + kept.w @ WEIGHTS if on else 0.0)",
    "z": "g @ WEIGHTS + o.w @ g",
    "xs": "xs[0] * xs[-1] + sum(ys) * 0.3 + len(xs)",
}


@dataclass(frozen=True)
class Drawn:
    """A program's text."""

    source: str

    def load(self, folder: Any) -> Any:
        """The module, imported from a real file so that its source can be found."""
        digest = hashlib.sha256(self.source.encode()).hexdigest()[:12]
        path = folder / f"changes_{digest}.py"
        own = folder / f"{path.stem}.{os.getpid()}"
        own.write_text(self.source)
        own.replace(path)  # as a whole: another process may be importing the same program
        spec = importlib.util.spec_from_file_location(path.stem, path)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module


def arguments(module: Any) -> tuple[Any, ...]:
    """Fresh arguments of a program, which may change them."""
    box = module.Box(0.85, np.array([0.45, -0.35, 0.95, 0.15]))
    box.parts += [np.array([0.25, 0.15, -0.65, 0.35]), np.array([-0.55, 0.45, 0.75, 0.05])]
    return (
        0.73,
        np.array([0.31, -0.27, 0.92, 0.54]),
        np.array([[0.21, 0.83, -0.44, 0.62], [-0.12, 0.39, 0.71, 0.17]]),
        [0.66, -0.58, 0.29],
        box,
        2,
    )
