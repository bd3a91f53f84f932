"""Every array op inside a program, through the whole library: both modes, twice.

The programs are written out, one per sample of `samples_arrays.py`, as a user would write them.
"""

from __future__ import annotations

import importlib
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from samples_arrays import SAMPLES
from test_array_rules import RULES, dot, has_single, leaves, like, noise, shifted

import wengert as wg
from wengert.ops.registry import named

Case = tuple[str, list[Any]]

NOT_CALLED = {"pad_zeros", "gather", "arange_from", "bincount", "contract", "tolist"}
"""Ops that users do not call by name, whose result is no array, or that count integers."""
SECOND_ORDER_REGULAR = ("det_4", "det_5", "det_6")
"""Singular matrices, where the second derivative of the determinant is refused by NumPy's inv."""

constants: dict[str, Any] = {}
lines = [
    "import numpy as np",
    "import wengert as wg",
    "from wengert_test_constants import *",
    "def loss(w, y):",
    "    return np.sum(np.real(w * y * y))",
]


def spelled(name: str) -> tuple[str, str] | None:
    """How users call an op: as a function of NumPy or as a method."""
    spellings = named(name).spellings
    for namespace in ("np", "method"):
        if namespace in spellings:
            return namespace, spellings[namespace].split()[0]
    return None


def option(key: str, name: str, value: Any) -> str:
    if isinstance(value, int | str | tuple | list | None):
        return f"{name}={value!r}"
    constants[f"O_{key}_{name}"] = value
    return f"{name}=O_{key}_{name}"


OF_COUNTS = ("full", "fftfreq", "rfftfreq")
"""Ops whose first operand says how many entries there are."""


def write(name: str, key: str, args: tuple[Any, ...], options: dict[str, Any]) -> list[Any] | None:
    """Write one program; the arguments it takes, or None if users cannot call the op."""
    how = spelled(name)
    if how is None:
        return None
    active = [k for k, arg in enumerate(args) if any(True for _ in leaves(arg))]
    active = [k for k in active if not (name in OF_COUNTS and k == 0)]
    operands = [f"x{k}" if k in active else repr(arg) for k, arg in enumerate(args)]
    rest = [option(key, *item) for item in options.items()]
    if how[0] == "np":
        call = f"np.{how[1]}({', '.join([*operands, *rest])})"
    else:
        call = f"{operands[0]}.{how[1]}({', '.join([*operands[1:], *rest])})"
    lines.append(f"def {key}({', '.join(f'x{k}' for k in active)}):")
    lines.append(f"    y = {call}")
    y = named(name)(*args, **options)
    for k, leaf in enumerate(leaves(y)):
        constants[f"W_{key}_{k}"] = noise(np.asarray(leaf))
    parts = [f"y[{k}]" for k in range(len(y))] if isinstance(y, list | tuple) else ["y"]
    terms = [f"loss(W_{key}_{k}, {part})" for k, part in enumerate(parts)]
    lines.append(f"    return {' + '.join(terms)}")
    inputs = [args[k] for k in active]
    if not any(isinstance(x, list | tuple) for x in inputs):
        write_second(key, inputs)
    return inputs


def write_second(key: str, inputs: list[Any]) -> None:
    """The derivative of the program along a fixed direction."""
    names = [f"x{k}" for k in range(len(inputs))]
    for k, x in enumerate(inputs):
        constants[f"D_{key}_{k}"] = noise(np.asarray(x))
    lines.append(f"def second_{key}({', '.join(names)}):")
    lines.append(f"    g = wg.grad({key}, argnums={tuple(range(len(names)))})({', '.join(names)})")
    terms = [f"np.sum(np.real(np.conj(D_{key}_{k}) * g[{k}]))" for k in range(len(names))]
    lines.append(f"    return {' + '.join(terms)}")


def written() -> Iterator[Case]:
    for name, rule in RULES.items():
        if rule.form == "zero" or name in NOT_CALLED:
            continue
        for k, (args, options) in enumerate(SAMPLES.get(name, ())):
            key = f"{name}_{k}"
            inputs = write(name, key, args, options)
            if inputs is not None:
                yield key, inputs


CASES = list(written())


@pytest.fixture(scope="module")
def programs() -> Iterator[Any]:
    module = type(sys)("wengert_test_constants")
    vars(module).update(constants)
    sys.modules["wengert_test_constants"] = module
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "wengert_test_programs.py").write_text("\n".join(lines) + "\n", "utf-8")
        sys.path.insert(0, folder)
        try:
            yield importlib.import_module("wengert_test_programs")
        finally:
            sys.path.remove(folder)
            sys.modules.pop("wengert_test_programs", None)
            sys.modules.pop("wengert_test_constants", None)


def in_single_precision(key: str, inputs: list[Any]) -> bool:
    rounded = (np.float32, np.complex64, "complex64")
    asked = [value for name, value in constants.items() if name.startswith(f"O_{key}_")]
    return (
        has_single(inputs)
        or any(value in rounded for value in asked if isinstance(value, type | str))
        or (key.startswith(("astype", "full_like", "array_")))
    )


def assert_derivatives(f: Any, key: str, inputs: list[Any]) -> None:
    """Reverse and forward mode agree with the central difference along a random direction."""
    dots = [like(x, noise) for x in inputs]
    single = in_single_precision(key, inputs)
    step, accuracy = (1e-2, 5e-2) if single else (1e-5, 2e-5)
    plus, minus = (
        f(*[shifted(x, d, sign * step) for x, d in zip(inputs, dots, strict=True)])
        for sign in (1.0, -1.0)
    )
    expected = (plus - minus) / (2 * step)
    gradients = wg.gradient(f, *inputs)
    for x, x_bar in zip(inputs, gradients, strict=True):
        for leaf, leaf_bar in zip(leaves(x), leaves(x_bar), strict=True):
            assert np.shape(leaf) == np.shape(leaf_bar)
    reverse = sum(dot(x_bar, d) for x_bar, d in zip(gradients, dots, strict=True))
    assert reverse == pytest.approx(expected, rel=accuracy, abs=accuracy)
    _, push = wg.pushforward(f, *inputs)
    assert push(*dots) == pytest.approx(expected, rel=accuracy, abs=accuracy)


def at_kink(key: str, inputs: list[Any]) -> bool:
    return key.startswith("norm") and not np.any(inputs[0])


@pytest.mark.parametrize("case", CASES, ids=[key for key, _ in CASES])
def test_first_derivatives(case: Case, programs: Any) -> None:
    key, inputs = case
    if at_kink(key, inputs):
        assert not np.any(np.isnan(wg.gradient(getattr(programs, key), *inputs)[0]))
        return
    assert_derivatives(getattr(programs, key), key, inputs)


SECOND = [
    case
    for case in CASES
    if not any(isinstance(x, list | tuple) for x in case[1])
    and case[0] not in SECOND_ORDER_REGULAR
    and not at_kink(*case)
]


@pytest.mark.parametrize("case", SECOND, ids=[key for key, _ in SECOND])
def test_second_derivatives(case: Case, programs: Any) -> None:
    key, inputs = case
    assert_derivatives(getattr(programs, f"second_{key}"), key, inputs)
