"""The kinds that ops infer are the kinds that come out."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import samples_reduction
import samples_scalar

from wengert.frontends.signature import kind_of
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
