"""Every elementwise function of NumPy that has a rule: what is dropped of its result counts for nothing."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from samples_scalar import SAMPLES

import wengert as wg
from wengert.rules.registry import rules

BAD = (0.0, -0.0, 1.0, -1.0, 0.5, np.inf, -np.inf, np.nan, 1e308, 5e-324)
"""Poles, ties, zeros and what is not finite, beside an entry that is used."""

_NOT_OF_FLOATS = ("gcd", "lcm", "ldexp", "bitand", "bitor", "bitxor", "invert", "lshift", "rshift")


def _functions() -> dict[str, tuple[Callable[..., Any], tuple[float, ...]]]:
    found: dict[str, tuple[Callable[..., Any], tuple[float, ...]]] = {}
    for op, rule in rules().items():
        function = getattr(np, op.spellings.get("np", "").partition(" ")[0] or "-", None)
        samples = [args for args, options in SAMPLES.get(op.name, ()) if not options]
        numbers = [args for args in samples if all(isinstance(x, float) for x in args)]
        if not op.elementwise or rule.form == "zero" or function is None or not numbers:
            continue
        if op.name not in _NOT_OF_FLOATS:
            found[op.name] = (function, numbers[0])
    return found


FUNCTIONS = _functions()


def test_there_are_functions_to_be_tested() -> None:
    assert len(FUNCTIONS) > 40
    assert {"log", "sqrt", "div", "pow", "arctanh"} - {"arctanh"} <= FUNCTIONS.keys()


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_dropped_entry_counts_for_nothing(name: str) -> None:
    function, numbers = FUNCTIONS[name]
    used, others = numbers[0], numbers[1:]
    whole = lambda x, *others: np.sum(function(x, *others))
    kept = np.array([False, True])
    dropping = lambda x, *others: np.sum(function(x, *others)[kept])
    reverse, forward = wg.grad(dropping), wg.jacobian(dropping, mode="forward")
    other_reverse = wg.grad(dropping, tuple(range(1, 1 + len(others)))) if others else None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        alone = wg.grad(whole)(np.array([used]), *others)
        of_others = [wg.grad(whole, k + 1)(np.array([used]), *others) for k in range(len(others))]
        for bad in BAD:
            x = np.array([bad, used])
            np.testing.assert_array_equal(reverse(x, *others), [0.0, *alone], err_msg=f"{bad}")
            np.testing.assert_allclose(forward(x, *others), [0.0, *alone], err_msg=f"{bad}")
            if other_reverse is not None:
                arrays = [np.array([bad, each]) for each in others]
                for found, expected in zip(other_reverse(x, *arrays), of_others, strict=True):
                    np.testing.assert_allclose(found, [0.0, expected], err_msg=f"{bad}")


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_branch_that_is_not_taken_counts_for_nothing(name: str) -> None:
    function, others = FUNCTIONS[name][0], FUNCTIONS[name][1][1:]

    def f(x: Any, k: int) -> Any:
        unused = function(x, *others)
        return unused if k > 0 else 3.0 * x

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for bad in BAD:
            assert wg.grad(f)(np.float64(bad), 0) == 3.0, bad
            assert wg.derivative(lambda x: f(x, 0))(np.float64(bad)) == 3.0, bad
            assert wg.derivative(lambda x: f(x, 0), 2)(np.float64(bad)) == 0.0, bad


@pytest.mark.parametrize("name", FUNCTIONS)
def test_nothing_has_an_empty_gradient(name: str) -> None:
    function, others = FUNCTIONS[name][0], FUNCTIONS[name][1][1:]
    empty = np.zeros(0)
    for reduced in (np.sum, np.mean):
        f = lambda x, reduced=reduced: reduced(function(x, *others))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for found in (wg.grad(f)(empty), wg.jacobian(f, mode="forward")(empty)):
                assert found.shape == (0,)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_derivative_raises_nothing_that_the_function_does_not_raise(name: str) -> None:
    function, others = FUNCTIONS[name][0], FUNCTIONS[name][1][1:]
    f = lambda x: function(x, *others)
    derivative, forward = wg.grad(f), wg.jacobian(f, mode="forward")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for bad in BAD:
            for x in (bad, np.float64(bad)):
                derivative(x), forward(x)
