"""What an op was given, or gave, is written to afterwards: every op, against differences of the program.

`WENGERT_EVERY_WRITE=1` runs the programs of every op, way to write and target (half an hour); else two of each op.
"""

from __future__ import annotations

import os
import warnings
import zlib
from typing import Any

import numpy as np
import pytest
from written_operands import SAMPLES, WAYS, Written, loaded, programs

import wengert as wg
from wengert.errors import InternalError
from wengert.frontend.boundary.signature import kind_of
from wengert.ir.graph import Const, Eqn, Var
from wengert.ops import registry
from wengert.passes.analysis.groups import is_computed, is_of_first

EVERY = bool(os.environ.get("WENGERT_EVERY_WRITE"))
STEP = 1e-6
BATCHES = 8

# --- what is said of the memory of results ----------------------------------------------------


def arrays(x: Any) -> list[np.ndarray]:
    """The arrays in a value."""
    if isinstance(x, np.ndarray):
        return [x]
    if isinstance(x, dict):
        x = list(x.values())
    return [a for item in x for a in arrays(item)] if isinstance(x, list | tuple) else []


def equation_of(op: Any, args: tuple[Any, ...], options: dict[str, Any]) -> Eqn:
    inexact = (np.ndarray, list, tuple, float, complex)
    atoms = tuple(Var(kind_of(a)) if isinstance(a, inexact) else Const(a) for a in args)
    params = {key: Const(value) for key, value in options.items()}
    return Eqn((Var(op.infer(atoms, params)),), op, atoms, params)


UNUSUAL: dict[str, list[Any]] = {
    "undiag": [((np.ones((3, 3)),), {"like": np.ones(3)})],
    "given_at": [
        (([np.ones(3), np.ones(2)], 0, np.ones(3)), {}),
        ((np.ones(3), slice(1, None), np.ones(2)), {}),
        ((np.ones((2, 3)), 0, np.ones(3)), {}),
    ],
    "pad": [((np.ones(3),), {"pad_width": 0})],
    "roll": [((np.ones(3),), {"shift": 0})],
    "repeat": [((np.ones(3),), {"repeats": 1})],
    "tile": [((np.ones(3),), {"reps": 1}), ((np.ones(3),), {"reps": ()})],
    "concatenate": [(((np.ones(3),),), {})],
    "sum": [((np.ones(3),), {"axis": ()})],
    "max": [((np.ones(3),), {"axis": ()})],
    "mean": [((np.ones((1, 3)),), {"axis": 0})],
    "einsum_2": [(("ij,->ji", np.ones((2, 3)), 1.0), {})],
    "take": [((np.ones((1, 3)),), {"indices": 0, "axis": 0})],
}
"""Where an op has nothing to do, it might give back what it was given."""


@pytest.mark.parametrize("name", sorted({*SAMPLES, *UNUSUAL}))
def test_results_said_to_be_in_memory_of_their_own_are(name: str) -> None:
    """All analyses of writes rest on this: a result that is computed shares no memory with the operands."""
    op = registry.named(name)
    for args, options in (*SAMPLES.get(name, ()), *UNUSUAL.get(name, ())):
        if name == "diff" and options.get("n") == 0:
            continue  # which is the array itself: no equation is made of it
        eqn = equation_of(op, args, options)
        result = arrays(op(*args, **options))
        shared = {
            k
            for k, arg in enumerate(args)
            if any(np.may_share_memory(a, b) for a in arrays(arg) for b in result)
        }
        assert not is_computed(eqn) or not shared, (args, options)
        assert not is_of_first(eqn) or shared <= {0}, (args, options)


# --- every op and way to write ----------------------------------------------------------------


def one_of_each(name: str, target: int, way: str) -> bool:
    """Whether a program is one of those of its op: other ways to write for every op and sample."""
    return way == list(WAYS)[zlib.crc32(f"{name}{target}".encode()) % len(WAYS)]


def chosen() -> list[Written]:
    if EVERY:
        return list(programs())
    by_op: dict[str, list[Written]] = {}
    for each in programs(one_of_each):
        by_op.setdefault(each.op, []).append(each)
    return [each for found in by_op.values() for each in (found[0], found[-1])]


class LeftOut(Exception):
    """Differences say nothing of a program: it raises, or is not smooth."""


class Check:
    """One program by every way to differentiate it, against differences."""

    def __init__(self, program: Written, module: Any):
        self.program, self.f = program, getattr(module, program.name)
        self.numbers = tuple(range(len(program.spelled.arrays)))
        rng = np.random.default_rng(3)
        self.v, self.w = (
            [np.asarray(rng.uniform(0.5, 1.5, a.shape)) for a in program.args()] for _ in range(2)
        )
        try:
            self.value = self.f(*program.args())
        except (ValueError, IndexError, TypeError) as error:
            raise LeftOut from error
        self.after = program.args()
        self.f(*self.after)
        self.slope = self.slope_of(self.f, self.v)

    def moved(self, along: list[Any], t: float) -> tuple[Any, ...]:
        args = self.program.args()
        return tuple(np.asarray(a + t * d) for a, d in zip(args, along, strict=True))

    def slope_of(self, f: Any, along: list[Any]) -> float:
        near, far = (
            (f(*self.moved(along, step)) - f(*self.moved(along, -step))) / (2 * step)
            for step in (STEP / 4, STEP)
        )
        if not np.isfinite(far) or abs(near - far) > 1e-5 * (1 + abs(far)):
            raise LeftOut
        return float(far)

    def close(self, found: Any, expected: float, what: str, tolerance: float) -> None:
        scale = 1 + abs(self.value) + abs(expected)
        wrong = f"{what}: {found}, expected {expected}\n{self.program.text}"
        assert abs(float(found) - expected) <= tolerance * scale, wrong

    def first(self) -> None:
        args = self.program.args()
        found = wg.grad(self.f, self.numbers)(*args)
        along = sum(np.sum(g * v) for g, v in zip(found, self.v, strict=True))
        self.close(along, self.slope, "gradient", 1e-5)
        for a, b in zip(args, self.after, strict=True):
            np.testing.assert_array_equal(a, b)
        push = wg.pushforward(self.f, *self.program.args())[1]
        self.close(push(*self.v), self.slope, "forward", 1e-5)

    def second(self) -> None:
        along_v = gradient_along(self.f, self.numbers, self.v)
        bend = self.slope_of(lambda *args: float(along_v(*args)), self.w)
        push = wg.pushforward(wg.grad(self.f, self.numbers), *self.program.args())[1](*self.w)
        along = sum(np.sum(g * v) for g, v in zip(push, self.v, strict=True))
        self.close(along, bend, "forward over reverse", 1e-4)
        again = wg.grad(along_v, self.numbers)(*self.program.args())
        along = sum(np.sum(g * w) for g, w in zip(again, self.w, strict=True))
        self.close(along, bend, "reverse over reverse", 1e-4)


def gradient_along(f: Any, numbers: tuple[int, ...], v: list[Any]) -> Any:
    """The gradient along `v`, as a program of its own: it is differentiated again."""

    def along(*args: Any) -> Any:
        total = 0.0
        for g, direction in zip(wg.grad(f, numbers)(*args), v, strict=True):
            total = total + np.sum(g * direction)
        return total

    return along


def examined(program: Written, module: Any) -> str:
    try:
        check = Check(program, module)
        check.first()
        check.second()
    except (
        LeftOut,
        np.linalg.LinAlgError,
    ):  # the adjugate of a singular matrix: `det`, second order
        return "left out"
    except InternalError:
        raise
    except wg.WengertError:
        return "refused"
    return "right"


@pytest.mark.parametrize("batch", range(BATCHES))
def test_what_a_rule_keeps_is_as_it_was(batch: int, tmp_path: Any) -> None:
    warnings.simplefilter("ignore")
    few = list(dict.fromkeys(chosen()[batch::BATCHES]))
    module = loaded(few, tmp_path)
    with np.errstate(all="ignore"):
        outcomes = [examined(each, module) for each in few]
    assert outcomes.count("refused") <= 0.08 * len(few)
    assert outcomes.count("right") > 0.7 * len(few)


# --- programs that were wrong -----------------------------------------------------------------

POINT = np.array([1.5, 2.0, 3.0])
MATRIX = np.array([[0.6, -0.4, -0.3], [0.9, 1.5, -0.5]])
DIRECTION = np.arange(6.0).reshape(2, 3)


def products(a):
    r = np.multiply.reduceat(a, [1, 0])
    a **= 2
    return np.sum(r)


def largest(a):
    r = np.maximum.reduceat(a, [1, 0])
    a[...] = a[::-1] * 0.5
    return np.sum(r * r)


WHOLE = {np.multiply: np.prod}


def found_at_run_time(a):
    whole = WHOLE.get(np.multiply)
    r = whole(a, axis=0) * 1.0
    a **= 2
    return np.sum(r)


def spectrum(a):
    w = np.linalg.eigh(a @ a.T)[0]
    np.subtract.at(w.ravel(), [0, 0, 1], 0.5)
    return np.sum(np.sin(w))


def singular_values(a):
    _, s, _ = np.linalg.svd(a, full_matrices=False)
    np.subtract.at(s.ravel(), [0, 0, 1], 0.5)
    return np.sum(np.sin(s))


def thirds(a):
    r = np.array_split(a.ravel(), 3)
    np.subtract.at(r[2].ravel(), [0, 0], 0.5)
    return np.sum(np.sin(r[0])) + np.sum(np.sin(r[2]))


def test_E1_what_reduceat_keeps():
    np.testing.assert_allclose(wg.grad(products)(POINT.copy()), [6.0, 5.5, 3.0])
    np.testing.assert_allclose(wg.grad(largest)(POINT.copy()), [0.0, 4.0, 6.0])


def test_E1_what_a_function_known_at_run_time_keeps():
    np.testing.assert_allclose(wg.grad(found_at_run_time)(POINT.copy()), [6.0, 4.5, 3.0])


@pytest.mark.parametrize("f", [spectrum, singular_values, thirds], ids=lambda f: f.__name__)
def test_E1_one_of_several_results_is_changed_through_a_view(f):
    def along(a):
        return np.sum(wg.grad(f)(a) * DIRECTION)

    push = wg.pushforward(wg.grad(f), MATRIX.copy())[1](DIRECTION)
    np.testing.assert_allclose(wg.grad(along)(MATRIX.copy()), push, rtol=1e-10)
    step = 1e-5 * DIRECTION
    slope = (wg.grad(f)(MATRIX + step) - wg.grad(f)(MATRIX - step)) / 2e-5
    np.testing.assert_allclose(push, slope, rtol=1e-6)
