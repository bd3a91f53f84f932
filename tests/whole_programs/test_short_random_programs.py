"""Short programs that nobody wrote, in source for any kinds: only the run tells its arrays from lists.

Each takes parts, joins and copies of what it is given, under several names, and changes any of them.
`WENGERT_RANDOM_PROGRAMS=100000` runs that many, `WENGERT_RANDOM_BATCH=7` others.
"""

import os
import random
from collections import Counter

import numpy as np
import oracle
import pytest
from standing_alone import alone, loaded, unless_refused

import wengert as wg

PROGRAMS = int(os.environ.get("WENGERT_RANDOM_PROGRAMS", "240"))
BATCH = int(os.environ.get("WENGERT_RANDOM_BATCH", "0"))
X = 0.6137
NAMES = ("a", "b", "c", "d", "e")


def numbers():
    return [0.7, 0.2, 0.5, 0.9], [0.15, 0.35, 0.95, 0.55]


def vectors():
    return tuple(map(np.array, numbers()))


def lists_of_rows():
    return tuple([np.array(each) * k for k in (1, 2, 3, 4)] for each in numbers())


def tables():
    return tuple(map(np.array, lists_of_rows()))


PARTS = ["{}[1:]", "{}[::-1]", "{}[0:3]", "{}", "{}.copy()", "{} if n > 1 else b", "{} + b"]
PARTS_OF_LISTS = [
    "{} * n",
    "n * {}",
    "list({})",
    "list(reversed({}))",
    "[*{}, *b]",
    "{} * (n > 1)",
    "tuple({})",
    "{} or b",
]
WRITES = [
    "{}[0] = x", "{}[1] *= x", "{}[-1] = {}[0]", "{}[0] += {}[1]", "{}[0:2] = {}[1:3]", "shift({}, x)",
    "{}[0], {}[1] = {}[1], {}[0]", "{}[:] = {}[::-1]",
]  # fmt: skip
WRITES_TO_ARRAYS = [
    "{} *= x",
    "{} += x",
    "{} -= {}[0]",
    "{}[:] = x",
    "{}.sort()",
    "np.multiply({}, x, out={})",
]
WRITES_TO_LISTS = [
    "{}.append({}[0] * x)", "{} += [{}[1] * x]", "{}.reverse()", "{}.pop()", "{} += {}[:1]",
    "{}.insert(0, {}[1])", "{} *= 2", "for k in range(len({})):\n        {}[k] *= x",
]  # fmt: skip
KINDS = {
    numbers: (
        [*PARTS, *PARTS_OF_LISTS, "[r * x for r in {}]", "sorted({})"],
        [*WRITES, *WRITES_TO_LISTS, "{}.sort()", "{}[1:] = [x, x * x]", "{}.extend({}[:2])"],
    ),
    vectors: (
        [*PARTS, "{}.reshape(2, 2)[0]", "{}.reshape(2, 2).T[1]", "{}.ravel()", "np.asarray({})", "{} * x"],
        [*WRITES, *WRITES_TO_ARRAYS],
    ),
    lists_of_rows: (
        [*PARTS, *PARTS_OF_LISTS, "{}[0]", "{}[-1]", "{}[0][1:]", "sorted({}, key=len)"],
        [*WRITES, *WRITES_TO_LISTS, "{}[0][0] = x", "{}[1][0] *= x", "{}[0] *= x", "{}[0] += (x,)",
         "for r in {}:\n        r *= x"],
    ),
    tables: (
        [*PARTS, "{}[0]", "{}[1]", "{}.T", "{}.T[1]", "{}[:, 1]", "{}.reshape(16)[2:6]", "{} * x"],
        [*WRITES, *WRITES_TO_ARRAYS],
    ),
}  # fmt: skip
TEXT = """
import numpy as np


def shift(t, e):
    t[0] = t[1] * e


def measure(items):
    total = 0.0
    for k, item in enumerate(items):
        total = total + (k + 1) * np.sum(item * item)
    return total


def program(x, a, b, n):
    {lines}
    return {measures}
"""


def drawn(rng, kind):
    """The text of a program."""
    parts, writes = KINDS[kind]
    names, lines = ["a", "b"], []
    for _ in range(rng.randint(3, 7)):
        if rng.random() < 0.42:
            source, name = rng.choice(names), rng.choice(NAMES)
            lines.append(f"{name} = {rng.choice(parts).replace('{}', source)}")
            names += [name] if name not in names else []
        else:
            lines.append(placed(rng, rng.choice(writes).replace("{}", rng.choice(names))))
    return text_of(lines, names)


def placed(rng, line):
    """A statement, at times in a branch or a loop."""
    around = rng.choice(["if x > 0.1:", "if x > 9.0:", "for _ in range(n):", *[""] * 9])
    return f"{around}\n        {line.replace('    ', 8 * ' ')}" if around else line


def text_of(lines, names):
    measures = " + ".join(f"{k + 1} * measure({name})" for k, name in enumerate(names))
    return TEXT.format(lines="\n    ".join(lines), measures=measures)


def slope_of(program, arguments):
    """The derivative by differences; None where there is none, or the program fails."""
    at = lambda x: program(x, *arguments(), 2)
    try:
        slope, other = (oracle.central_difference(at, X, step) for step in (1e-6, 3e-6))
    except (AttributeError, TypeError, ValueError, IndexError):
        return None
    return slope if abs(slope - other) < 1e-5 * (1 + abs(slope)) else None


def outcome(file, text, arguments):
    program = loaded(file, text)
    slope = slope_of(program, arguments)
    if slope is None:
        return "left out"
    found = unless_refused(lambda: alone(wg.grad(program))(X, *arguments(), 2))
    assert found is None or found == pytest.approx(slope, rel=1e-5, abs=1e-5), text
    return "refused" if found is None else "right"


@pytest.mark.parametrize("kind", KINDS)
def test_short_programs(tmp_path, kind):
    counts, size = Counter(), -(-PROGRAMS // len(KINDS))
    for number in range(BATCH * size, (BATCH + 1) * size):
        text = drawn(random.Random(f"{kind.__name__} {number}"), kind)
        counts[outcome(tmp_path / "short.py", text, kind)] += 1
    assert counts["right"] >= AT_LEAST[kind] * counts.total(), counts


AT_LEAST = {numbers: 0.35, vectors: 0.6, lists_of_rows: 0.2, tables: 0.45}
"""The share of programs that are right: it may only grow."""


FOUND = {
    "a copy of a part, and what both hold": (lists_of_rows, ["d = b[::-1]", "b[0][0] = x"]),
    "a part that is taken again": (numbers, ["c = a[0:3]", "c[1] *= x"]),
    "a part changed in a loop": (numbers, ["e = a[1:]", "for k in range(len(e)):\n        e[k] *= x"]),
    "a list times a truth": (numbers, ["b[1] *= x", "c = b * (n > 1)"]),
    "a list times a comparison of lists": (numbers, ["b[1] *= x", "c = b * (b != a)"]),
    "twice the same list": (numbers, ["b[1] *= x", "c = b + b"]),
    "a view of what a loop changes": (
        tables, ["e = a[:, 1]", "shift(e, x)", "c = e[1:]", "for _ in range(n):\n        e *= x"],
    ),
    "the first item once more": (
        lists_of_rows, ["a += a[:1]", "for k in range(len(a)):\n        a[k] *= x"],
    ),
    "a view of one of two": (
        tables, ["a = a * x", "a -= a[0]", "c = a[::-1]", "for _ in range(n):\n        c[0] += c[1]"],
    ),
    "a row of a transpose": (tables, ["d = b.copy().T[1]", "d[0], d[1] = d[1], d[0]"]),
}  # fmt: skip
"""Programs that were wrong once."""


@pytest.mark.parametrize("name", FOUND)
def test_programs_that_were_wrong(tmp_path, name):
    kind, lines = FOUND[name]
    names = ["a", "b", *(line[0] for line in lines if line[1:4] == " = ")]
    assert outcome(tmp_path / "found.py", text_of(lines, names), kind) in ("right", "refused")
