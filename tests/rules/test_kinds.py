"""The kinds that ops infer are the kinds that come out."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import samples_reduction
import samples_scalar

import wengert as wg
from wengert.frontend.boundary.signature import kind_of
from wengert.ir.graph import Const, Var
from wengert.ir.types import UNKNOWN, Array, Kind, Number, Seq
from wengert.ops import registry as ops

SAMPLES = {**samples_scalar.SAMPLES, **samples_reduction.SAMPLES}
DTYPES = ("float32", "float64", "int64", "int32", "complex64", "complex128", "bool")
ARITHMETIC = ("add", "sub", "mul", "div", "pow", "maximum", "arctan2", "hypot")
UNARY = (
    "sin",
    "sqrt",
    "exp",
    "abs",
    "neg",
    "square",
    "conj",
    "real",
    "angle",
    "floor",
    "sum",
    "mean",
    "var",
    "max",
    "cumsum",
)


def cases() -> Iterator[Any]:
    for name, samples in SAMPLES.items():
        for k, (args, options) in enumerate(samples):
            yield pytest.param(name, args, options, id=f"{name}-{k}")


@pytest.mark.parametrize(("name", "args", "options"), list(cases()))
def test_inferred_kind(name: str, args: tuple[Any, ...], options: dict[str, Any]) -> None:
    check(name, args, options)


@pytest.mark.parametrize("name", ARITHMETIC)
@pytest.mark.parametrize("a", [*DTYPES, "int", "float", "literal"])
@pytest.mark.parametrize("b", [*DTYPES, "int", "float", "literal"])
@pytest.mark.filterwarnings("ignore:.*:RuntimeWarning")
def test_promotion(name: str, a: str, b: str) -> None:
    if name == "arctan2":
        name = "atan2"
    if {a, b} <= {"int", "float", "literal"}:
        return
    if name == "pow" and a == "literal":
        return
    check(name, (example(a), example(b)), {}, literals=(a == "literal", b == "literal"))


@pytest.mark.parametrize("name", UNARY)
@pytest.mark.parametrize("dtype", DTYPES)
def test_unary_promotion(name: str, dtype: str) -> None:
    check(name, (example(dtype),), {})


def example(dtype: str) -> Any:
    if dtype in DTYPES:
        return np.ones((2, 3), dtype)
    return {"int": np.int64(2), "float": np.float64(1.5), "literal": 2.0}[dtype]


def check(
    name: str, args: tuple[Any, ...], options: dict[str, Any], literals: tuple[bool, ...] = ()
) -> None:
    op = ops.named(name)
    literal = (*literals, *[False] * (len(args) - len(literals)))
    atoms = [Const(a) if k else Var(kind_of(a)) for a, k in zip(args, literal, strict=True)]
    try:
        actual = kind_of(op(*args, **options))
    except (TypeError, ValueError):
        return  # NumPy has no such function for these dtypes
    inferred = op.infer(atoms, {key: Const(value) for key, value in options.items()})
    assert covers(inferred, actual), f"{inferred} for {actual}"


def covers(inferred: Kind, actual: Kind) -> bool:
    """Whether what is said before the run holds for what came out."""
    match inferred, actual:
        case Array(dtype=d, rank=r), Array(dtype=e, rank=q):
            return d in ("", e) and r in (None, q)
        case Number(type=s), Number(type=t):
            order = ("bool", "int", "float", "complex")
            return s == t or (s == "float" and order.index(t) < 2) or (s == "int" and t == "float")
        case Seq(), _:
            return True
        case _:
            return inferred in (UNKNOWN, actual)


# --- the classes of numbers -----------------------------------------------------------------


def asks_for_dtype(a):
    t = a[0]
    return t * t if hasattr(t, "dtype") else t


def asks_for_item(x):
    return x.item() * 2 if hasattr(x, "item") else x * 0


def matches_float(x):
    match x:
        case float():
            return x
        case _:
            return x * x


def matches_int(a):
    match np.argmax(a):
        case int():
            return a[0]
        case _:
            return a[0] ** 2


def asks_for_float(a):
    return a[0] ** 2 if isinstance(a[0], float) else a[0]


def asks_for_complex(z):
    return abs(z) if isinstance(z, complex) else abs(z) ** 2


@pytest.mark.parametrize(
    ("f", "x"),
    [
        (asks_for_dtype, np.array([3.0])),
        (asks_for_dtype, [3.0]),
        (asks_for_item, np.float64(3.0)),
        (asks_for_item, 3.0),
        (matches_float, np.float32(3.0)),
        (matches_float, np.float64(3.0)),
        (matches_float, 3.0),
        (matches_int, np.array([3.0])),
        (asks_for_float, np.array([3.0], np.float32)),
        (asks_for_float, np.array([3.0])),
        (asks_for_float, [np.float32(3.0)]),
        (asks_for_complex, np.complex64(3 + 4j)),
        (asks_for_complex, 3 + 4j),
    ],
)
def test_what_a_number_is_to_python_decides(f, x):
    value = f(x)
    slope = {3.0: 1.0, 9.0: 6.0, 6.0: 2.0, 0.0: 0.0, 5.0: 0.6 + 0.8j, 25.0: 6 + 8j}[float(value)]
    found, gradient = wg.value_and_grad(f)(x)
    assert found == value
    np.testing.assert_allclose(gradient[0] if isinstance(gradient, list) else gradient, slope)


def test_what_all_classes_of_a_kind_answer_alike_leaves_no_trace():
    def f(x):
        return x * x if isinstance(x, float) and hasattr(x, "real") else x

    text = wg.grad(f).specialize(2.0).source
    assert "isinstance" not in text
    assert "hasattr" not in text
