"""Every program of the corpus as native code, with its Python form as the reference.

Of one half of the programs the value is compiled, of the other value and gradient together (`turns.py`).
What has no native form is refused, and how many have one may not fall.
"""

import copy
from collections import Counter

import numpy as np
import programs
import pytest
import trees
from programs import pending
from turns import EVERY_PROGRAM, has_turn

import wengert as wg
from wengert.errors import NotNative, UnsupportedSyntax

pytest.importorskip("llvmlite")

NATIVE_AT_LEAST = {"value": 500, "gradient": 485}
if not EVERY_PROGRAM:
    NATIVE_AT_LEAST = {"value": 237, "gradient": 253}
"""How many programs have a native form."""

found = Counter()
"""What became of the programs, by what was compiled."""


@pytest.fixture(autouse=True)
def own_cache(tmp_path_factory, monkeypatch):
    monkeypatch.setenv("WENGERT_CACHE", str(tmp_path_factory.getbasetemp() / "native"))


def forms_of(program):
    gradient = has_turn(program.name, 0, 2) and program.name not in pending.GRADIENT
    if EVERY_PROGRAM or not gradient:
        yield "value", program.function
    if gradient:
        yield "gradient", wg.value_and_grad(program.function, program.wrt)


@pytest.mark.parametrize("program", programs.PROGRAMS, ids=lambda p: p.name)
@pytest.mark.filterwarnings("ignore")  # those of NumPy's scalars: native code gives none
def test_native_code_gives_what_the_python_form_gives(program):
    found["program"] += 1
    for what, form in forms_of(program):
        found[what] += runs_natively(form, program.points)


def runs_natively(form, points):
    """Whether there is native code; that it gives the same is asserted."""
    compiled = wg.jit(form, strict=True)
    for point in points:
        left, mine = copy.deepcopy(point), copy.deepcopy(point)
        try:
            expected = form(*left)
        except wg.WengertError:
            return False  # it cannot be differentiated, or has no single real result
        try:
            result = compiled(*mine)
        except NotNative:
            return False
        except UnsupportedSyntax:
            return False
        trees.assert_close(result, expected, rel=1e-11)
        assert same_types(result, expected)
        trees.assert_close(mine, left, rel=1e-11)
    return compiled.exits == 0


def same_types(a, b):
    """Whether two results are alike in all but rounding."""
    if type(a) is not type(b):
        return False
    match a:
        case np.ndarray():
            return (a.dtype, a.shape) == (b.dtype, b.shape)
        case tuple() | list():
            return len(a) == len(b) and all(map(same_types, a, b))
        case dict():
            return a.keys() == b.keys() and all(same_types(a[key], b[key]) for key in a)
        case _:
            return True


def test_as_many_programs_as_ever_are_native():
    if found["program"] < len(programs.PROGRAMS):
        pytest.skip("counts only if all programs have run in this process")
    print(dict(found))
    assert {what: found[what] >= least for what, least in NATIVE_AT_LEAST.items()} == {
        "value": True,
        "gradient": True,
    }, dict(found)
