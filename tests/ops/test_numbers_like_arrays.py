"""Numbers of NumPy and arrays without axes: both have the methods of arrays, only arrays change in place."""

from __future__ import annotations

import itertools
import random
import textwrap

import numpy as np
import pytest
from standing_alone import alone, loaded
from ways import is_right, outcomes, wanted

import wengert as wg

PROGRAM = """
import numpy as np


def program(x):
    c = {number}
    z = {way}
    w = z
{use}
"""
NUMBERS = {
    "a sum": "np.atleast_1d(x).sum()",
    "an element": "np.array([x, 2 * x])[0]",
    "a product of an array without axes": "np.array(x) * 1.0",
    "an array without axes": "np.array(x)",
    "an entry": "{'a': np.float64(x) * 2}['a']",
    "an item of a list": "[np.float64(x), None][int(x > 100)]",
    "what only the run knows": "(np.atleast_1d(x) * 2).squeeze()[()]",
    "an array of unknown rank": "(np.atleast_1d(x) * 2).squeeze()",
    "a product of unknown rank": "np.atleast_1d(x).squeeze() * 2",
}
WAYS = [
    "c", "c.copy()", "c.T", "c.transpose()", "c.reshape(())", "c.astype(float)", "c.squeeze()", "np.squeeze(c)",
    "np.transpose(c)", "c.real", "np.real(c)", "c.conj()", "np.conj(c)", "np.flip(c)", "np.round(c) + c",
    "np.copy(c)", "np.moveaxis(c, (), ())", "np.asarray(c)", "c.ravel()", "c.clip(0, 100)", "np.clip(c, 0, 100)",
    "c.sum()", "c.max()", "np.sin(c)", "-c", "+c", "abs(c)", "np.broadcast_to(c, ()).copy()",
    "np.where(c > 0, c, 0.0)", "np.maximum(c, 0.0)", "c.cumsum()", "c.item()", "np.nan_to_num(c)",
    "np.atleast_1d(c)[0]", "np.array(c)", "np.float64(c)", "np.ones_like(c) * c", "np.full_like(c, c)",
    "np.dot(c, c)", "np.multiply.outer(c, c)", "c * 1", "c[()]", "c[...]", "c[None]", "np.expand_dims(c, 0)",
]  # fmt: skip
USES = {
    "in place": "z += x\nreturn np.sum(w * z)",
    "by itself in place": "z *= z\nreturn np.sum(w * z)",
    "in a branch": "if x > 0:\n    z += x\nreturn np.sum(w * z)",
    "in a loop": "for _ in range(3):\n    z += x\nreturn np.sum(w * z)",
    "in a loop afterwards": "y = np.atleast_1d(x)\nfor _ in range(3):\n    y = y * z\nreturn np.sum(y * w) + z.sum()",
    "read": "return np.sum(z[()] * x)",
    "read whole": "return np.sum(z[...] * x)",
    "with an axis": "return np.sum(z[None] * x)",
    "carried": "t = z\nfor k in range(3):\n    t = t * x + w\nreturn np.sum(t * z)",
    "through its source": "z += x\nreturn np.sum(c * z)",
}
MADE_OF_NUMBERS = {"c.ravel()", "np.expand_dims(c, 0)"}
"""Of a number an array of its own: source for any arguments takes it for a view of one where a loop changes it."""

PER_NUMBER = 25


@pytest.mark.filterwarnings("ignore:this writes to a copy")
@pytest.mark.parametrize("number", NUMBERS)
def test_only_arrays_change_in_place(tmp_path, number):
    tally = {"right": 0, "refused": 0}
    programs = random.Random(number).sample(list(itertools.product(WAYS, USES)), PER_NUMBER)
    for k, (way, use) in enumerate(programs):
        text = PROGRAM.format(
            number=NUMBERS[number],
            way=way,
            use=textwrap.indent(USES[use], "    "),
        )
        program = loaded(tmp_path / f"like{k}.py", text)
        expected = wanted(program, 1.3)
        if isinstance(expected, Exception):
            continue
        found_by = outcomes(program, 1.3)
        if way in MADE_OF_NUMBERS and "loop" in use:
            del found_by["alone"]
        for mode, found in found_by.items():
            if isinstance(found, TypeError) and "item assignment" in str(found) and "loop" in use:
                found = None  # in a loop what may be a number is taken for an array, which NumPy refuses
            tally["refused" if found is None else "right"] += 1
            assert found is None or is_right(found, expected), (way, use, mode, found, expected)
    assert tally["right"] > 4 * tally["refused"], tally


def test_an_array_made_of_a_number_is_no_view(tmp_path):
    program = loaded(
        tmp_path / "made.py",
        "def program(s):\n    z = s[None]\n    w = z\n    z *= 2\n    return (w * z).sum()\n",
    )
    with pytest.raises(ValueError, match="an array made of a number is changed") as refusal:
        alone(wg.grad(program))(np.float64(1.5))
    assert refusal.value.code == "WG101"
    assert wg.grad(program)(np.float64(1.5)) == 12.0
    assert alone(wg.grad(program))(np.array([1.5, 2.0])) == pytest.approx([12.0, 16.0])
