"""Every rule row, called by hand on numbers and arrays, against finite differences.

No transformation takes part: a mistake found here is a mistake in the row.
"""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import samples_reduction
import samples_scalar

from wengert.ops import registry as ops
from wengert.rules import registry as rules
from wengert.rules.checks import check

SAMPLES = {**samples_scalar.SAMPLES, **samples_reduction.SAMPLES}
STEP = 1e-5


def cases() -> Iterator[Any]:
    for name, samples in SAMPLES.items():
        for k, (args, options) in enumerate(samples):
            yield pytest.param(name, args, options, id=f"{name}-{k}")


@pytest.mark.parametrize(("name", "args", "options"), list(cases()))
def test_row_agrees_with_finite_differences(
    name: str, args: tuple[Any, ...], options: dict[str, Any]
) -> None:
    op = ops.named(name)
    rule = rules.rule_for(op)
    assert rule is not None
    result = op(*args, **options)
    random = np.random.default_rng(0)
    for k, arg in enumerate(args):
        if not is_varied(arg):
            continue
        direction = like(arg, random)
        expected = difference(lambda x, k=k: op(*put(args, k, x), **options), arg, direction)
        if rule.form != "zero" and row_of(rule, k) is None:
            continue
        found = CHECKS[rule.form](rule, k, direction, args, options, result, random)
        if callable(found):
            found(expected)
        else:
            np.testing.assert_allclose(flat(found), flat(expected), rtol=2e-6, atol=2e-8)


def row_of(rule: rules.Rule, k: int) -> Any:
    return rule.rows[k] if len(rule.rows) > k else rule.rows[0]


def by_partial(rule: Any, k: int, d: Any, args: Any, options: Any, result: Any, _: Any) -> Any:
    if len(rule.rows) == 1:
        partials = rule.rows[0](*args, result, **options)
        partial = partials[k] if isinstance(partials, tuple) else partials
    else:
        partial = rule.rows[k](*args, result, **options)
    return np.broadcast_to(partial * np.asarray(d), np.shape(result))


def by_differential(rule: Any, k: int, d: Any, args: Any, options: Any, result: Any, _: Any) -> Any:
    ds = [d if i == k else zeros(arg) for i, arg in enumerate(args)]
    return rule.rows[0](*ds, *args, result, **options)


def by_transpose(
    rule: Any, k: int, d: Any, args: Any, options: Any, result: Any, random: Any
) -> Callable[[Any], None]:
    cotangent = like(result, random)

    def check(expected: Any) -> None:
        linear = [i for i in range(len(args)) if rule.form == "linear" and row_of(rule, i)]
        others = [zeros(a) if i in linear else a for i, a in enumerate(args)]
        pushed = rule.op(*put(others, k, d), **options)
        np.testing.assert_allclose(flat(pushed), flat(expected), rtol=2e-6, atol=2e-8)
        arg_bar = rule.rows[k](cotangent, *args, **options)
        left = np.real(np.vdot(flat(cotangent), flat(pushed)))
        shape = np.shape(np.asarray(args[k]) if not isinstance(args[k], list) else flat(args[k]))
        spread = np.vdot(sum_to(arg_bar, shape), flat(d))
        assert np.real(spread) == pytest.approx(left, rel=1e-9, abs=1e-9)

    return check


def by_zero(rule: Any, k: int, d: Any, args: Any, options: Any, result: Any, _: Any) -> Any:
    return np.zeros(np.shape(result))


CHECKS: dict[str, Callable[..., Any]] = {
    "scalar": by_partial,
    "differential": by_differential,
    "linear": by_transpose,
    "bilinear": by_transpose,
    "zero": by_zero,
}


# --- values -------------------------------------------------------------------------------


def is_varied(arg: Any) -> bool:
    if isinstance(arg, list):
        return True
    return np.asarray(arg).dtype.kind in "fc"


def like(arg: Any, random: np.random.Generator) -> Any:
    if isinstance(arg, list):
        return [like(item, random) for item in arg]
    value = random.normal(size=np.shape(arg))
    if np.iscomplexobj(arg):
        value = value + 1j * random.normal(size=np.shape(arg))
    return value if isinstance(arg, np.ndarray) else value[()].item()


def zeros(arg: Any) -> Any:
    if isinstance(arg, list):
        return [zeros(item) for item in arg]
    return np.zeros_like(arg) if isinstance(arg, np.ndarray) else 0.0 * arg


def put(args: Any, k: int, value: Any) -> list[Any]:
    return [value if i == k else arg for i, arg in enumerate(args)]


def difference(f: Callable[[Any], Any], x: Any, d: Any) -> Any:
    return (flat(f(moved(x, d, STEP))) - flat(f(moved(x, d, -STEP)))) / (2 * STEP)


def moved(x: Any, d: Any, step: float) -> Any:
    if isinstance(x, list):
        return [moved(a, b, step) for a, b in zip(x, d, strict=True)]
    return x + step * d


def flat(value: Any) -> Any:
    if isinstance(value, (list, tuple)):
        return np.concatenate([flat(item) for item in value])
    value = np.ravel(value)
    return value.astype(float) if value.dtype.kind in "biu" else value


def sum_to(value: Any, shape: tuple[int, ...]) -> Any:
    """A broadcast cotangent summed to the shape of its operand, as the passes do."""
    if isinstance(value, (list, tuple)):
        return flat(value)
    value = np.asarray(value)
    value = value.sum(axis=tuple(range(value.ndim - len(shape))))
    axes = tuple(k for k, n in enumerate(shape) if n == 1 and value.shape[k] != 1)
    return np.broadcast_to(value.sum(axis=axes, keepdims=True), shape).ravel()


# --- completeness -------------------------------------------------------------------------


def test_every_row_fits_its_op() -> None:
    for rule in rules.rules().values():
        for each in (rule, *rule.also.values()):
            if Path(each.file).name != "einsum.py":  # linear in any number of operands, not two
                check(each, each.place)


def test_every_rule_has_samples() -> None:
    by_table = {**SAMPLES, **arrays_samples()}
    missing = {
        f"{rule.op.name} ({Path(rule.file).name})"
        for rule in rules.rules().values()
        if rule.built_in
        and rule.op.name not in by_table
        and Path(rule.file).name in sampled_tables()
    }
    assert not missing


def test_every_sample_is_of_an_op() -> None:
    names = {op.name for op in ops.ops()}
    assert set(SAMPLES) <= names


def arrays_samples() -> dict[str, Any]:
    if importlib.util.find_spec("samples_arrays") is None:
        return {}
    return importlib.import_module("samples_arrays").SAMPLES


def sampled_tables() -> set[str]:
    tables = {"scalar.py", "reduction.py"}
    if arrays_samples():
        tables |= {"shape.py", "selection.py", "creation.py", "linear_algebra.py", "einsum.py"}
        tables |= {"signals.py", "statistics.py", "factorisations.py", "sparse.py"}
    return tables
