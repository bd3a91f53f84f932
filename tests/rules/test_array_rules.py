"""Every array rule on its own: its rows are called on NumPy arrays, as they stand.

Linear and bilinear rows are transposes of what the op does, ⟨ȳ, op(ẋ)⟩ = ⟨row(ȳ), ẋ⟩; differentials
agree with central differences. The cases come from the registry: a rule without samples fails.
"""

from __future__ import annotations

import inspect
import types
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from samples_arrays import SAMPLES, Sample

import wengert.rules  # noqa: F401
from wengert.frontend.boundary.signature import kind_of
from wengert.ir.builder import Builder
from wengert.ir.graph import Const, Var
from wengert.ir.op import Op
from wengert.ir.types import UNKNOWN, Array, Kind, Number, Seq, Struct
from wengert.ops.indexing import indexed
from wengert.ops.registry import named
from wengert.rules.registry import Rule, rules
from wengert.runtime.cotangents import unbroadcast

FILES = {
    f"{name}.py"
    for name in (
        "shape", "selection", "creation", "linear_algebra", "einsum", "signals", "statistics",
        "factorisations", "sparse", "spectra",
    )
}  # fmt: skip
RULES = {op.name: rule for op, rule in rules().items() if Path(rule.file).name in FILES}
random = np.random.default_rng(7)


@pytest.fixture(autouse=True)
def _unbroadcast_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    if named("unbroadcast").implementation is None:
        monkeypatch.setattr(named("unbroadcast"), "implementation", unbroadcast)


def cases(*forms: str) -> list[Any]:
    return [
        pytest.param(rule, sample, id=f"{name}-{k}")
        for name, rule in RULES.items()
        if rule.form in forms
        for k, sample in enumerate(SAMPLES.get(name, ()))
    ]


# --- values as vectors --------------------------------------------------------------------


def leaves(x: Any) -> Iterator[Any]:
    if isinstance(x, list | tuple):
        for item in x:
            yield from leaves(item)
    elif isinstance(x, int | float | complex | np.ndarray | np.number) and not isinstance(x, bool):
        yield x


def like(x: Any, make: Any) -> Any:
    """A value of the structure of `x`; what carries no derivative is kept."""
    if isinstance(x, list | tuple):
        return [like(item, make) for item in x]
    if isinstance(x, str | bool | None | np.dtype | type) or np.asarray(x).dtype.kind not in "iufc":
        return x
    return make(np.asarray(x))


def noise(x: Any) -> Any:
    value = random.standard_normal(x.shape)
    return value + 1j * random.standard_normal(x.shape) if np.iscomplexobj(x) else value


def dot(a: Any, b: Any) -> float:
    """⟨a, b⟩, of nested lists of arrays too; the items of `a` are found by index."""
    if isinstance(b, list | tuple):
        return sum(dot(a[k], item) for k, item in enumerate(b))
    if not isinstance(b, float | complex | np.ndarray | np.number):
        return 0.0
    return float(np.sum(np.conj(a) * b).real)


def assert_shaped(x_bar: Any, x: Any) -> None:
    if isinstance(x, list | tuple):
        assert len(x_bar) == len(x)
        for k, item in enumerate(x):
            assert_shaped(x_bar[k], item)
    else:
        assert np.shape(x_bar) == np.shape(x)


# --- the rules ----------------------------------------------------------------------------


@pytest.mark.parametrize("name", RULES)
def test_every_rule_has_samples(name: str) -> None:
    assert SAMPLES.get(name), f"add samples of {name} to samples_arrays.py"


@pytest.mark.parametrize(("rule", "sample"), cases("linear", "bilinear"))
def test_transposes(rule: Rule, sample: Sample) -> None:
    args, options = sample
    y = rule.op(*args, **options)
    for k, row in enumerate(rule.rows[: len(args)]):
        if row is None:
            continue
        assert_transposed(rule, row, k, y, args, options)


def assert_transposed(
    rule: Rule, row: Any, k: int, y: Any, args: tuple[Any, ...], options: dict[str, Any]
) -> None:
    y_bar = like(y, noise)
    x_bar = row(y_bar, *args, **options)
    assert_shaped(x_bar, args[k])
    x_dot = like(args[k], noise)
    inputs = list(args)
    inputs[k] = x_dot
    if rule.form == "linear":
        for j, other in enumerate(rule.rows[: len(args)]):
            if other is not None and j != k:
                inputs[j] = like(args[j], np.zeros_like)
    y_dot = rule.op(*inputs, **options)
    left, right = dot(y_bar, y_dot), dot(x_bar, x_dot)
    assert left == pytest.approx(
        right, rel=2e-5 if has_single((args, *options.values())) else 1e-10, abs=1e-10
    )


def has_single(args: Any) -> bool:
    return any(np.asarray(leaf).dtype.name in ("float32", "complex64") for leaf in leaves(args))


BY_THE_MATRIX = frozenset(("spectral", "values_along"))
"""Ops that are computed of vectors, and differentiated by the matrix that has them: see `test_equal_values`."""
OF_COUNTS = frozenset(("fftfreq", "rfftfreq"))
"""Ops with a count that cannot be moved: see `test_numpy_functions`."""


@pytest.mark.parametrize(
    ("rule", "sample"),
    [
        each
        for each in cases("differential")
        if each.values[0].op.name not in BY_THE_MATRIX | OF_COUNTS
    ],
)
def test_differentials(rule: Rule, sample: Sample) -> None:
    args, options = sample
    (row,) = rule.rows
    Ω = rule.op(*args, **options)
    dots = [like(arg, noise) for arg in args]
    assert row is not None
    Ω_dot = row(*dots, *args, Ω, **options)
    for found, expected, value in zip(
        leaves(Ω_dot), leaves(difference(rule.op, args, dots, options)), leaves(Ω), strict=True
    ):
        assert np.shape(found) == np.shape(value)
        if at_kink(rule.op, args):
            assert not np.any(np.isnan(found))
            continue
        tolerance = 2e-2 if has_single((args, Ω)) else 2e-6
        np.testing.assert_allclose(found, expected, rtol=tolerance, atol=tolerance)


def at_kink(op: Op, args: tuple[Any, ...]) -> bool:
    return op.name == "norm" and not np.any(args[0])


def difference(op: Op, args: Any, dots: Any, options: dict[str, Any]) -> Any:
    """The central difference along a direction; integer operands move as floats."""
    step = 1e-3 if has_single(args) or "float32" in str(options) else 1e-5

    def moved(sign: float) -> Any:
        return op(*(shifted(x, d, sign * step) for x, d in zip(args, dots, strict=True)), **options)

    plus, minus = list(leaves(moved(1.0))), list(leaves(moved(-1.0)))
    return [(a - b) / (2 * step) for a, b in zip(plus, minus, strict=True)]


def shifted(x: Any, d: Any, step: float) -> Any:
    if isinstance(x, list | tuple):
        return [shifted(a, b, step) for a, b in zip(x, d, strict=True)]
    return x + step * d if not isinstance(x, str) else x


@pytest.mark.parametrize(("rule", "sample"), cases("differential"))
def test_differentials_are_linear(rule: Rule, sample: Sample) -> None:
    args, options = sample
    (row,) = rule.rows
    assert row is not None
    Ω = rule.op(*args, **options)
    a, b = ([like(arg, noise) for arg in args] for _ in range(2))
    mixed = [shifted(like(x, lambda v: v * 2.0), y, 1.0) for x, y in zip(a, b, strict=True)]
    parts = (row(*d, *args, Ω, **options) for d in (a, b, mixed))
    for one, other, both in zip(*map(leaves, parts), strict=True):
        np.testing.assert_allclose(2 * one + other, both, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("sample", SAMPLES["solve"])
def test_solve_is_transposed_in_its_right_hand_side(sample: Sample) -> None:
    rule = RULES["solve"].also["linear"]
    row = rule.rows[1]
    assert row is not None
    assert_transposed(rule, row, 1, rule.op(*sample[0]), *sample)


@pytest.mark.parametrize(("rule", "sample"), cases("zero"))
def test_zero_rules_are_of_functions_that_stay_where_they_are(rule: Rule, sample: Sample) -> None:
    args, options = sample
    before = rule.op(*args, **options)
    dots = [like(arg, noise) for arg in args]
    after = rule.op(*(nudged(x, d) for x, d in zip(args, dots, strict=True)), **options)
    assert type(after) is type(before)
    for old, new in zip(leaves(before), leaves(after), strict=True):
        assert np.shape(old) == np.shape(new)
        assert rule.op.name in ("empty", "empty_like") or np.array_equal(old, new)


def nudged(x: Any, d: Any) -> Any:
    """A value moved a little, where it is of numbers that can be."""
    if isinstance(x, list | tuple):
        return type(x)(nudged(a, b) for a, b in zip(x, d, strict=True))
    if isinstance(x, str) or np.asarray(x).dtype.kind not in "fc":
        return x
    return np.asarray(x + 1e-9 * np.asarray(d), np.asarray(x).dtype)[()]


# --- what rows are made of ----------------------------------------------------------------


def ops_in(function: types.FunctionType, seen: set[Any]) -> Iterator[Op]:
    """The ops that a row calls, in the functions it calls too."""
    if function in seen:
        return
    seen.add(function)
    names = set(function.__code__.co_names)
    for inner in function.__code__.co_consts:
        if isinstance(inner, types.CodeType):
            names.update(inner.co_names)
    for name in names & set(function.__globals__):
        value = function.__globals__[name]
        if isinstance(value, Op):
            yield value
        elif isinstance(value, types.FunctionType):
            yield from ops_in(value, seen)


@pytest.mark.parametrize("rule", RULES.values(), ids=RULES)
def test_rows_can_be_differentiated_again(rule: Rule) -> None:
    known = rules()
    folded_away = {"einsum", "einsum_bar", "unrow"}
    for row in rule.rows:
        assert row is None or inspect.isfunction(row)
        for op in ops_in(row, set()) if row is not None else ():
            assert op in known or op.name in folded_away, f"{op.name} has no rule"


# --- kinds --------------------------------------------------------------------------------


def every_sample() -> list[Any]:
    return [
        pytest.param(named(name), sample, id=f"{name}-{k}")
        for name, samples in SAMPLES.items()
        for k, sample in enumerate(samples)
    ]


def covers(inferred: Kind, actual: Kind) -> bool:
    """Whether what was inferred is true of the actual value."""
    match inferred, actual:
        case Array(dtype=dtype, rank=rank), Array(dtype=of, rank=r):
            return dtype in ("", of) and rank in (None, r)
        case Array(dtype=dtype, rank=rank), Number(type=type_):
            return rank in (None, 0) and (not dtype or dtype.startswith(type_))
        case Number(type=type_), Array(dtype=dtype, rank=0):
            return dtype.startswith(type_)
        case Seq(item=item), Seq(item=other):
            return covers(item, other)
        case Seq(item=item), Struct(items=items):
            return all(covers(item, other) for other in items)
        case Struct(items=items), Struct(items=others) if len(items) == len(others):
            return all(map(covers, items, others))
        case _:
            return inferred == UNKNOWN or inferred == actual


@pytest.mark.parametrize(("op", "sample"), every_sample())
def test_inferred_kinds_hold(op: Op, sample: Sample) -> None:
    args, options = sample
    operands = [as_atom(arg) for arg in args]
    params = {name: as_atom(value) for name, value in options.items()}
    inferred = op.infer(operands, params)
    actual = kind_of(op(*args, **options))
    assert str(actual).startswith("static") or covers(inferred, actual), f"{inferred}, not {actual}"


def as_atom(value: Any) -> Any:
    if isinstance(value, str | int | None | type | np.dtype) or is_constant_tuple(value):
        return Const(value)
    return Var(kind_of(value))


def is_constant_tuple(value: Any) -> bool:
    return isinstance(value, tuple | list) and all(
        isinstance(v, int) or is_constant_tuple(v) for v in value
    )


# --- folds --------------------------------------------------------------------------------


HELPERS = [name for name in SAMPLES if name.endswith(("_left", "_right"))] + [
    name for name in SAMPLES if name.startswith("einsum_bar")
]


@pytest.mark.parametrize(
    ("name", "sample"),
    [
        pytest.param(name, sample, id=f"{name}-{k}")
        for name in HELPERS
        for k, sample in enumerate(SAMPLES[name])
    ],
)
def test_folds_compute_what_the_helper_does(name: str, sample: Sample) -> None:
    args, options = sample
    op = named("einsum_bar" if name.startswith("einsum_bar") else name)
    builder = Builder(derived=True)
    values: dict[Var, Any] = {}

    def bind(value: Any) -> Any:
        atom = as_atom(value)
        if isinstance(atom, Var):
            values[atom] = value
        return atom

    operands = [bind(arg) for arg in args]
    params = {key: bind(value) for key, value in options.items()}
    result = builder.emit_with(op, operands, params, "np")
    expected = named(name)(*args, **options)
    for eqn in builder.eqns:
        inputs = [at(atom, values) for atom in eqn.args]
        chosen = {key: at(atom, values) for key, atom in eqn.params.items()}
        values[eqn.outs[0]] = eqn.op(*inputs, **chosen)
    np.testing.assert_allclose(at(result, values), expected, rtol=1e-5)


def at(atom: Any, values: dict[Var, Any]) -> Any:
    return atom.value if isinstance(atom, Const) else values[atom]


# --- indexing -----------------------------------------------------------------------------

CUBE = np.arange(24.0).reshape(2, 3, 4)
INDICES: list[Any] = [
    0,
    -1,
    (0, 1),
    (0, 1, 2),
    slice(None),
    (slice(None), 0),
    (..., 0),
    (0, ..., 1, 2),
    None,
    (None, 0),
    (None, ..., None),
    ...,
    (),
    [0, 1],
    ([0, 1], [1, 2]),
    (slice(None), [0, 1, 2]),
    ([[0], [1]], 0),
    (0, slice(None), [1, 1]),
    np.array([0, 1]),
    np.array(1),
    (np.array([[0, 1]]), slice(1, 2)),
    CUBE > 3,
    (CUBE > 3)[0, 0],
    np.array([True, False]),
    (np.array([True, False]), [0]),
    ([True, False],),
    True,
    (slice(None), np.array([True, False, True])),
]


@pytest.mark.parametrize("index", INDICES, ids=lambda index: str(index).replace("\n", ""))
def test_kind_of_an_indexed_array(index: Any) -> None:
    try:
        actual = kind_of(CUBE[index])
    except IndexError:
        pytest.skip("not an index of this array")
    known = kind_of(CUBE)
    assert isinstance(known, Array)
    for atom in (Const(index), Var(kind_of(index))):
        for kind in (known, Array("float64"), Array("", 3)):
            assert covers(indexed(kind, atom), actual)
    exact = indexed(known, Const(index))
    assert exact != UNKNOWN
