"""Random programs of control flow: `try`, `with`, generators, closures and early exits around a changing state.

A program is drawn from a number, so that a batch is the same everywhere. What it computes is smooth between its
branches, and its branches ask what the drawn points rarely meet.
"""

import itertools
import linecache
import random
import textwrap

PRELUDE = """
import contextlib
import functools
import itertools
import math
from collections import deque, namedtuple
from dataclasses import dataclass

import numpy as np

KEPT = []
Pair = namedtuple("Pair", "u v")


@dataclass
class Point:
    u: float
    parts: list


class Stop(Exception):
    pass


class State:
    def __init__(self, a):
        self.a = a
        self.n = 0

    def bump(self, k):
        self.a = self.a * 0.9 + k
        self.n += 1
        return self.a

    def risky(self, k):
        if k > 1.0:
            raise ValueError(k)
        return k * 2


class Child(State):
    def bump(self, k):
        return super().bump(k) * 0.5


class Managed:
    def __init__(self, o, quiet):
        self.o, self.quiet = o, quiet

    def __enter__(self):
        self.o.a += 0.3
        return self

    def __exit__(self, kind, error, trace):
        self.o.a = self.o.a * 1.1
        return self.quiet and kind is not None and issubclass(kind, ValueError)


@contextlib.contextmanager
def managed(o):
    o.a += 0.2
    try:
        yield o.a
    finally:
        o.a *= 1.2


def sums(x, n):
    total = 0.5
    try:
        for k in range(n):
            total += x * k
            sent = yield total
            if sent is not None:
                total += sent
    finally:
        total = 0.0


def starred(first, *rest, rate=0.5, **named):
    return first + rate * sum(rest) * 0.1 + len(named)


def bound_late(s):
    global late_total
    for k in range(2):
        late_total = s * 0.5
    return late_total


def squares(x):
    yield x
    r = yield from one_square(x)
    yield r * 2


def one_square(x):
    yield x * x
    return x + 1


def changed(s, o, seen):
    o.a = o.a + s * 0.1
    seen.append(o.a)
    if len(seen) > 6:
        raise LookupError(s)
    return s * 0.5
"""

_START = """
KEPT.clear()
s, t, w = 0.4, x * 0.5, 1
o = State(x)
seen = [0.3, x]
table = {}

def noted(k):
    nonlocal w
    w += 1
    o.a += k * 0.1
    seen.append(k)
    return k * 0.5
"""
_END = "return s + 2 * t + 3 * o.a + 0.5 * sum(seen) + sum(table.values())"

_VALUES = (
    "s * 0.5 + x", "t * x", "s - t * 0.3", "o.a * 0.7", "math.sin(s) + t", "x * x * 0.2 + o.n", "seen[-1] * 0.6",
    "seen[0] + s * 0.1", "max(s, t)", "abs(t) * 0.5", "(s if t > 0.4 else t)",
)  # fmt: skip
_QUESTIONS = (
    "s > 0.7", "t < s", "len(seen) > 3", "o.n > 1", "x > 0.5", "o.a > 1.2", "seen[-1] < 0.9", "w % 2 == 0",
    "(s > t or o.n)",
)  # fmt: skip
_STEPS = (
    "s = {}", "t = {}", "o.a = {}", "seen.append({})", "s += {}", "t -= {} * 0.5", "seen[w % len(seen)] = {}",
    "s = o.bump({})", "t = noted({})", "s, t = t, {}", "table['k'] = {}", "s = table.get('k', {})",
    "t += table['k']", "seen[-1] *= 1.1",
)  # fmt: skip
_FAILURES = (
    "raise ValueError({})", "raise Stop({})", "raise LookupError(s)", "seen[99]", "t = s / (o.n * 0)", "table['none']",
    "s = o.risky({})", "t = changed({}, o, seen)",
)  # fmt: skip
_MANAGERS = (
    "Managed(o, True)", "Managed(o, False)", "Managed(o, x > 0.5)", "managed(o)", "contextlib.suppress(ValueError)",
)  # fmt: skip
_CAUGHT = (
    "ValueError", "LookupError", "(ValueError, LookupError)", "Stop", "ZeroDivisionError", "Exception",
)  # fmt: skip
_WALKS = (
    "for y in sums({}, 3):", "for y in squares({}):", "for y in itertools.chain(seen[:2], squares({})):",
    "for y in (v * x for v in seen[:3] if v > 0.2):", "for y in map(lambda v: v * t, seen[:2]):",
)  # fmt: skip
_SEVERAL = (
    ("it = sums({}, 3)", "s += next(it)", "t += it.send(s)"),
    ("it = squares({})", "s += next(it)", "t += next(it, 0.0)"),
    ("seen = [v * x for v in seen if v > 0.1] or [t]",),
    ("seen.sort()",),
    ("seen.reverse()",),
    ("s += seen.pop() if len(seen) > 1 else 0.2",),
    ("t += list(squares(s))[-1]",),
    ("pair = (s, t)", "for k in range(w % 3 + 1):", "    pair += ({},)", "s += sum(pair)"),
    ("rows = [(s, t), (t,)]", "rows[0] += ({},)", "t += sum(rows[0]) * len(rows)"),
    (
        "late = map(lambda v: v * t, [s, {}])",
        "if s > t:",
        "    w += len(list(late))",
        "t *= 0.5",
        "s += sum(late)",
    ),
    (
        "late = (v * t for v in (s, {}))",
        "if s > t:",
        "    w += len(list(late))",
        "t *= 0.5",
        "s += sum(late)",
    ),
    ("it = zip(sums({}, 3), seen)", "t += sum(u * v for u, v in it) * 0.1"),
    ("t += bound_late({})",),
    ("KEPT.append(s)", "KEPT.append([t, {}])"),
    ("z = np.float64({})", "t += np.sum(z + [s, t]) * 0.1", "s += z * 0.5"),
    ("a = np.array([s, t])", "a += ({},)", "a[1:] -= [s]", "t += np.sum(a) * 0.3"),
    (
        "def held(k, memory=[]):",
        "    memory.append(k)",
        "    return sum(memory)",
        "s += held({})",
        "t += held(s)",
    ),
    (
        "match (s, w):",
        "    case (v, 2):",
        "        s += v * 0.5",
        "    case _:",
        "        t += {} * 0.3",
    ),
    ("s += starred({}, *seen, rate=t, **table)",),
    ("half = functools.partial(starred, t, rate={})", "s += half(s)"),
    ("p = Pair(s, {})", "p = p._replace(v=t)", "t += p.u * p.v * 0.3"),
    ("q = Point({}, [s])", "q.u += t", "q.parts.append(q.u)", "s += sum(q.parts) * 0.2"),
    ("text = f'{{w}}-{{len(seen)}}'", "s += len(text) * 0.1 * {}"),
    ("keys = {{1, w}}", "keys |= {{w + 1}}", "s += sum(keys) * 0.05 * {}"),
    (
        "queue = deque([s, t], maxlen=3)",
        "queue.append({})",
        "queue.rotate(1)",
        "t += queue[0] + queue.popleft()",
    ),
    ("u, *others = [s, t, {}]", "s += u * 0.3 + sum(others) * 0.2"),
    ("k = State(s) if s > t else Child({})", "t += k.bump(x)"),
    ("s = (t := {}) * 0.4 + s",),
    (
        "near = 1.0",
        "while abs(near * near - 1 - s * s) > 1e-9 * (1 + s * s):",
        "    near = 0.5 * (near + (1 + s * s) / near)",
        "t += near * 0.2",
    ),
    ("for k in sorted(table):", "    t += table[k] * 0.3 + {} * 0.1"),
    ("s += functools.reduce(lambda u, v: u * 0.5 + v, seen, {})",),
    ("ways = [lambda v, k=k: v * k for k in range(3)]", "s += ways[w % 3]({}) * 0.3"),
)


class Writer:
    """Draws one program."""

    def __init__(self, number):
        self._random = random.Random(number)
        self._names = itertools.count(1)

    def program(self):
        body = [*_START.splitlines(), *self._block(3, in_loop=False, few=True), _END]
        return f"{PRELUDE}\n\ndef f(x):\n" + textwrap.indent("\n".join(body), "    ") + "\n"

    def _pick(self, options):
        return self._random.choice(options)

    def _filled(self, options):
        return self._pick(options).format(self._pick(_VALUES))

    def _block(self, depth, *, in_loop, few=False):
        count = self._random.choice((2, 3, 4) if few else (1, 1, 2, 2, 3))
        return [line for _ in range(count) for line in self._statement(depth, in_loop)]

    def _inside(self, depth, in_loop, *first):
        return [f"    {line}" for line in (*first, *self._block(depth - 1, in_loop=in_loop))]

    def _statement(self, depth, in_loop):
        ways = (
            (0.30, self._step), (0.08, self._branch), (0.08, self._count), (0.04, self._repeat), (0.16, self._try),
            (0.08, self._fail), (0.06, self._manage), (0.06, self._walk), (0.24, self._take_several),
            (0.05, self._leave), (0.03, self._return),
        )  # fmt: skip
        if depth <= 0:
            return self._step(depth, in_loop)
        (way,) = self._random.choices([w for _, w in ways], [share for share, _ in ways])
        return way(depth, in_loop)

    def _step(self, depth, in_loop):
        return [self._filled(_STEPS)]

    def _branch(self, depth, in_loop):
        lines = [f"if {self._pick(_QUESTIONS)}:", *self._inside(depth, in_loop)]
        return (
            [*lines, "else:", *self._inside(depth, in_loop)]
            if self._random.random() < 0.5
            else lines
        )

    def _count(self, depth, in_loop):
        name = f"i{next(self._names)}"
        lines = [
            f"for {name} in range({self._pick((1, 2, 3))}):",
            *self._inside(depth, True, f"s += {name} * 0.1"),
        ]
        return (
            [*lines, "else:", *self._inside(depth, in_loop)]
            if self._random.random() < 0.3
            else lines
        )

    def _repeat(self, depth, in_loop):
        name = f"w{next(self._names)}"
        asked = f"while {name} < 3 and {self._pick(_QUESTIONS)}:"
        return [f"{name} = 0", asked, *self._inside(depth, True, f"{name} += 1")]

    def _try(self, depth, in_loop):
        lines = ["try:", *self._inside(depth, in_loop)]
        handlers = self._pick((0, 1, 1, 1, 2))
        for _ in range(handlers):
            lines += self._handler(depth, in_loop)
        if handlers and self._random.random() < 0.3:
            lines += ["else:", *self._inside(depth, in_loop)]
        if not handlers or self._random.random() < 0.3:
            lines += ["finally:", *self._inside(depth, in_loop)]
        return lines

    def _handler(self, depth, in_loop):
        named = self._random.random() < 0.5
        shown = "s += e.args[0] if e.args and isinstance(e.args[0], float) else 0.1"
        first = (shown,) if named and self._random.random() < 0.6 else ()
        again = ("    raise",) if self._random.random() < 0.15 else ()
        caught = f"except {self._pick(_CAUGHT)}{' as e' if named else ''}:"
        return [caught, *self._inside(depth, in_loop, *first), *again]

    def _fail(self, depth, in_loop):
        return [f"if {self._pick(_QUESTIONS)}:", f"    {self._filled(_FAILURES)}"]

    def _manage(self, depth, in_loop):
        manager = self._pick(_MANAGERS)
        gives = manager == "managed(o)" and self._random.random() < 0.5
        first = ("s += m",) if gives else ()
        return [f"with {manager}{' as m' if gives else ''}:", *self._inside(depth, in_loop, *first)]

    def _walk(self, depth, in_loop):
        return [self._filled(_WALKS), *self._inside(depth, True, "s += y * 0.3")]

    def _take_several(self, depth, in_loop):
        value = self._pick(_VALUES)
        return [line.format(value) for line in self._pick(_SEVERAL)]

    def _leave(self, depth, in_loop):
        if not in_loop:
            return self._step(depth, in_loop)
        return [f"if {self._pick(_QUESTIONS)}:", f"    {self._pick(('break', 'continue'))}"]

    def _return(self, depth, in_loop):
        return [f"if {self._pick(_QUESTIONS)}:", f"    return {self._pick(_VALUES)}"]


def drawn(number):
    """A function, its source, and the global list that it keeps numbers in."""
    source, name = Writer(number).program(), f"<control {number}>"
    linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)
    names = {"__name__": name}
    exec(compile(source, name, "exec"), names)
    return names["f"], source, names["KEPT"]
