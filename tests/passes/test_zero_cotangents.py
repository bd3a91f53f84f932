"""What the path taken does not use, or a selection drops, has no part in a derivative, whatever its slope."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import special

import wengert as wg
from wengert.errors import NoRule

Function = Callable[..., Any]


@pytest.fixture(autouse=True)
def _quiet() -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def all_first_orders(f: Function, *args: Any, native: bool = True) -> dict[str, Any]:
    """The gradient by the first argument, in every mode; native code takes most of the time."""
    x = args[0]
    found = {
        "reverse": wg.grad(f)(*args),
        "pullback": wg.pullback(f, *args)[1](1.0)[0],
        "forward": wg.jacobian(f, mode="forward")(*args),
    }
    if native:
        found["jit"] = wg.jit(wg.grad(f))(*args)
    if isinstance(x, float):
        found["pushforward"] = wg.pushforward(f, *args)[1](1.0, *[None] * (len(args) - 1))
    return found


def check(
    f: Function, args: tuple[Any, ...], expected: Any, second: Any = None, *, native: bool = False
) -> None:
    for mode, found in all_first_orders(f, *args, native=native).items():
        np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-300, err_msg=mode)
    if second is not None:
        for mode, hessian in (
            ("forward over reverse", wg.hessian(f)),
            ("reverse over reverse", wg.jacobian(wg.grad(f), mode="reverse")),
        ):
            np.testing.assert_allclose(
                hessian(*args), second, rtol=1e-12, atol=1e-300, err_msg=mode
            )


# --- A4: what the path taken does not use -----------------------------------------------------------


def cross_entropy(p, y):
    yes, no = np.log(p), np.log(1 - p)
    return -yes if y == 1 else -no


def finite_or(w):
    loss = np.log(np.sum(w) - 3.0)
    return loss if np.isfinite(loss) else 3 * np.sum(w)


def other_path(x, k):
    length = x * math.inf
    return length if k > 0 else 3 * x


def test_A4_a_number_that_the_path_taken_does_not_use():
    check(cross_entropy, (1.0, 1), -1.0, 1.0, native=True)
    check(cross_entropy, (np.float64(1.0), 1), -1.0, 1.0)
    check(finite_or, (np.array([1.0, 2.0]),), [3.0, 3.0], np.zeros((2, 2)), native=True)
    check(other_path, (2.0, 0), 3.0, 0.0, native=True)


STEEP: dict[str, Function] = {
    "log": lambda x: np.log(x),
    "log1p": lambda x: np.log1p(x - 1.0),
    "log10": lambda x: np.log10(x),
    "arctanh": lambda x: np.arctanh(x + 1.0),
    "quotient": lambda x: np.float64(1.0) / x if isinstance(x, np.ndarray) else np.divide(1.0, x),
    "reciprocal": lambda x: np.reciprocal(x),
    "gammaln": lambda x: special.gammaln(x),
    "erfinv": lambda x: special.erfinv(x + 1.0),
    "logit": lambda x: special.logit(x),
    "entr": lambda x: special.entr(x),
    "xlogy": lambda x: special.xlogy(x + 1.0, x),
    "exp that overflows": lambda x: x * np.exp(4000.0 * (0.2 - x)),
    "times infinity": lambda x: x * math.inf,
    "times nan": lambda x: x * math.nan,
    "sqrt": lambda x: np.sqrt(x),
    "cbrt": lambda x: np.cbrt(x),
    "power": lambda x: np.power(x, 0.5),
    "inverse power": lambda x: np.power(x, -1.5),
    "arcsin": lambda x: np.arcsin(x + 1.0),
    "arccosh": lambda x: np.arccosh(x + 1.0),
    "nested": lambda x: np.sqrt(np.log(x) * x),
}
"""Functions whose slope, or value, is not finite at 0."""


def by_branch(g: Function) -> Function:
    def f(x, k):
        unused = g(x)
        return unused if k > 0 else 3.0 * x

    return f


def by_early_return(g: Function) -> Function:
    def f(x, k):
        unused = g(x)
        if k > 0:
            return unused
        return 3.0 * x

    return f


def by_exception(g: Function) -> Function:
    def f(x, k):
        unused = g(x)
        try:
            if k <= 0:
                raise ValueError  # noqa: TRY301  the program's own way
            return unused  # noqa: TRY300
        except ValueError:
            return 3.0 * x

    return f


def by_loop(g: Function) -> Function:
    def f(x, k):
        unused, total, n = g(x), x, 0
        while n < 2:
            total = total + (unused if k > 0 else x)
            n += 1
        return total

    return f


def by_tuple(g: Function) -> Function:
    def f(x, k):
        choice = (3.0 * x, g(x))
        return choice[k]

    return f


def by_dictionary(g: Function) -> Function:
    def f(x, k):
        choice = {0: 3.0 * x, 1: g(x)}
        return choice[k]

    return f


def by_helper(g: Function) -> Function:
    def pair(x):
        return g(x), 3.0 * x

    def f(x, k):
        unused, used = pair(x)
        return unused if k > 0 else used

    return f


WAYS = [by_branch, by_early_return, by_exception, by_loop, by_tuple, by_dictionary, by_helper]


@pytest.mark.parametrize("g", STEEP.values(), ids=STEEP.keys())
def test_every_steep_function_on_a_branch_that_is_not_taken(g: Function) -> None:
    check(by_branch(g), (0.0, 0), 3.0, 0.0)
    check(by_branch(g), (np.float64(0.0), 0), 3.0)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", ["log", "times infinity", "reciprocal", "nested"])
def test_every_way_not_to_use_a_number(way: Callable[[Function], Function], name: str) -> None:
    check(way(STEEP[name]), (np.float64(0.0), 0), 3.0, 0.0)


def test_an_infinite_argument_that_is_not_used():
    def f(x, bound, k):
        length = x * bound
        return length if k > 0 else 3 * x

    for bound in (math.inf, -math.inf, math.nan):
        check(f, (2.0, bound, 0), 3.0)
        assert wg.grad(f)(2.0, 4.0, 1) == 4.0


def test_a_direction_of_nothing_that_is_not_used():
    def f(v, k):
        unit = v / np.linalg.norm(v)
        return np.sum(unit) if k > 0 else 3 * np.sum(v)

    check(f, (np.zeros(2), 0), [3.0, 3.0])


def test_a_cotangent_that_happens_to_be_zero_is_used():
    assert math.isnan(wg.grad(lambda x: math.sqrt(x) * x if x < 1 else 0.0)(0.0))
    v = np.array([0.0, 1.0, 4.0])
    found = wg.grad(lambda v: np.sum((np.sqrt(v) * v)[:2]))(v)
    assert math.isnan(found[0])
    assert found[1:].tolist() == [1.5, 0.0]
    fit = lambda v: np.sum(np.log(v)[1:] ** 2)
    at = np.array([0.0, 1.0, 1.0])
    for hessian in (wg.hessian(fit), wg.jacobian(wg.grad(fit), mode="reverse")):
        np.testing.assert_array_equal(hessian(at), np.diag([0.0, 2.0, 2.0]))


# --- A11: what a selection drops ------------------------------------------------------------------------

X = np.float64(0.0)
V = np.array([0.0, 0.5, 2.0])
PLACES = np.array([1, 2])


def in_a_loop(v):
    logs, total = np.log(v), 0.0
    for k in range(1, 3):
        total = total + logs[k]
    return total


def in_a_branch_of_a_loop(v):
    logs, total = np.log(v), 0.0
    for k, a in enumerate(v):
        if a > 0:
            total = total + logs[k]
    return total


def by_items(v):
    total = 0.0
    for a in np.log(v):
        if a > -9.0:
            total = total + a
    return total


def of_a_branch(v):
    logs = np.log(v) if v[1] > 0 else np.log1p(v)
    return np.sum(logs[1:])


def assigned(v):
    logs = np.log(v)
    logs[v <= 0] = -5.0
    return np.sum(logs)


def assigned_twice(v):
    logs = np.log(v)
    logs[0] = 1.0
    again = np.log(logs + 1.0)
    again[0] = v[1]
    return again[1] * 0.0 + logs[1] + logs[2]


def copied_where(v):
    logs = np.log(v)
    np.copyto(logs, -5.0, where=v <= 0)
    return np.sum(logs)


def stored(v):
    out = np.zeros(3)
    out[0] = np.log(v[0])
    out[1] = np.log(v[1])
    out[2] = np.log(v[2])
    return np.sum(out[1:])


LOGS: dict[str, tuple[Function, Any, Any]] = {
    "where": (lambda x: np.where(x > 0, np.log(x), -5.0), X, 0.0),
    "maximum": (lambda x: np.maximum(np.log(x), -5.0), X, 0.0),
    "minimum": (lambda x: np.minimum(np.reciprocal(x), 5.0), X, 0.0),
    "clip": (lambda x: np.clip(np.log(x), -5.0, 5.0), X, 0.0),
    "max of Python": (lambda x: max(np.log(x), -5.0), X, 0.0),
    "min of Python": (lambda x: min(-np.log(x), 5.0), X, 0.0),
    "fmax": (lambda x: np.fmax(np.log(x), -5.0), X, 0.0),
    "maximum of arrays": (lambda v: np.sum(np.maximum(np.log(v), -5.0)), V, [0.0, 2.0, 0.5]),
    "clip of arrays": (lambda v: np.sum(np.clip(np.log(v), -5.0, 5.0)), V, [0.0, 2.0, 0.5]),
    "an index": (lambda v: np.log(v)[1], V, [0.0, 2.0, 0.0]),
    "a slice": (lambda v: np.sum(np.log(v)[1:]), V, [0.0, 2.0, 0.5]),
    "an array of indices": (lambda v: np.sum(np.log(v)[PLACES]), V, [0.0, 2.0, 0.5]),
    "a mask": (lambda v: np.sum(np.log(v)[v > 0]), V, [0.0, 2.0, 0.5]),
    "take": (lambda v: np.sum(np.take(np.log(v), PLACES)), V, [0.0, 2.0, 0.5]),
    "compress": (lambda v: np.sum(np.compress(v > 0, np.log(v))), V, [0.0, 2.0, 0.5]),
    "extract": (lambda v: np.sum(np.extract(v > 0, np.log(v))), V, [0.0, 2.0, 0.5]),
    "sort": (lambda v: np.sum(np.sort(np.log(v))[1:]), V, [0.0, 2.0, 0.5]),
    "partition": (lambda v: np.sum(np.partition(np.log(v), 1)[1:]), V, [0.0, 2.0, 0.5]),
    "max": (lambda v: np.max(np.log(v)), V, [0.0, 0.0, 0.5]),
    "min": (lambda v: np.min(-np.log(v)), V, [0.0, 0.0, -0.5]),
    "max of items": (lambda v: max(np.log(v)), V, [0.0, 0.0, 0.5]),
    "where=": (lambda v: np.sum(np.log(v), where=v > 0), V, [0.0, 2.0, 0.5]),
    "nansum": (lambda v: np.nansum(np.log(v - 0.25)), V, [0.0, 4.0, 1 / 1.75]),
    "nanmean": (lambda v: np.nanmean(np.sqrt(v - 0.25)), V, [0.0, 0.5, 0.25 / math.sqrt(1.75)]),
    "nanmax": (lambda v: np.nanmax(np.log(v - 0.25)), V, [0.0, 0.0, 1 / 1.75]),
    "nan_to_num": (lambda v: np.sum(np.nan_to_num(np.log(v), neginf=0.0)), V, [0.0, 2.0, 0.5]),
    "choose": (
        lambda v: np.sum(np.choose(np.int64(v > 0), [np.zeros(3), np.log(v)])),
        V,
        [0.0, 2.0, 0.5],
    ),
    "select": (lambda v: np.sum(np.select([v > 0], [np.log(v)], 0.0)), V, [0.0, 2.0, 0.5]),
    "an array of numbers": (lambda v: np.array([np.log(v[0]), v[1]])[1], V, [0.0, 1.0, 0.0]),
    "the largest number": (lambda v: np.max(np.array([np.log(v[0]), v[1]])), V, [0.0, 1.0, 0.0]),
    "a loop": (in_a_loop, V, [0.0, 2.0, 0.5]),
    "a branch of a loop": (in_a_branch_of_a_loop, V, [0.0, 2.0, 0.5]),
    "items": (by_items, V, [0.0, 2.0, 0.5]),
    "a branch": (of_a_branch, V, [0.0, 2.0, 0.5]),
    "broadcast": (lambda v: np.sum((np.log(v)[:, None] * np.ones(2))[1:]), V, [0.0, 4.0, 1.0]),
    "transposed": (lambda v: np.sum(np.log(v).reshape(3, 1).T[0, 1:]), V, [0.0, 2.0, 0.5]),
    "concatenated": (lambda v: np.sum(np.concatenate([np.log(v), v])[1:]), V, [1.0, 3.0, 1.5]),
    "a sum": (lambda v: np.cumsum(np.log(v[::-1]))[1], V, [0.0, 2.0, 0.5]),
    "a quotient": (lambda v: np.sum((1 / v)[1:]), V, [0.0, -4.0, -0.25]),
    "a product": (
        lambda v: np.sum((v * np.log(v))[1:]),
        V,
        [0.0, 1 + math.log(0.5), 1 + math.log(2.0)],
    ),
    "a matrix product": (
        lambda v: np.sum((np.log(v)[:, None] @ np.array([[1.0, -1.0, 3.0]]))[1:]),
        V,
        [0.0, 6.0, 1.5],
    ),
    "an outer product": (
        lambda v: np.sum(np.outer(np.log(v), np.array([1.0, -1.0, 3.0]))[1:]),
        V,
        [0.0, 6.0, 1.5],
    ),
    "an assignment": (assigned, V, [0.0, 2.0, 0.5]),
    "two assignments": (assigned_twice, V, [0.0, 2.0, 0.5]),
    "copyto": (copied_where, V, [0.0, 2.0, 0.5]),
    "stored numbers": (stored, V, [0.0, 2.0, 0.5]),
}


@pytest.mark.parametrize(("f", "x", "expected"), LOGS.values(), ids=LOGS.keys())
def test_A11_what_a_selection_drops(f: Function, x: Any, expected: Any) -> None:
    sample = f in (in_a_loop, by_items, assigned, LOGS["a mask"][0], LOGS["maximum"][0])
    check(f, (x,), expected, native=sample)
    second = wg.hessian(f)(x)
    assert np.isfinite(second).all()
    np.testing.assert_allclose(wg.jacobian(wg.grad(f), mode="reverse")(x), second, rtol=1e-12)


@pytest.mark.parametrize(("f", "x", "expected"), LOGS.values(), ids=LOGS.keys())
def test_A11_what_a_selection_drops_in_recorded_runs(f: Function, x: Any, expected: Any) -> None:
    gradient = wg.grad(f, tier="recorded")
    np.testing.assert_allclose(gradient(x), expected, rtol=1e-12)
    second = wg.hessian(f)(x)
    for mode in ("forward", "reverse"):
        found = wg.jacobian(gradient, mode=mode, tier="recorded")(x)
        np.testing.assert_allclose(found, second, rtol=1e-12, atol=1e-12)


def normalised(x: Any, w: Any) -> Any:
    return np.sum((x / np.sqrt(np.mean(x**2, axis=1, keepdims=True) + 1e-5) @ w)[1:])


def with_a_start_below_zero(x: Any, w: Any) -> Any:
    return np.sum((w / np.sqrt(np.sum(x**2, axis=1, initial=-1e-5) + 1e-5))[1:])


def of_a_factor(x: Any, w: Any) -> Any:
    lower = np.linalg.cholesky(np.exp(x @ x.T) + np.eye(2))
    return np.log(np.diag(lower)).sum() + np.tril(lower, -1).sum()


def test_entries_are_counted_only_where_a_slope_may_be_infinite():
    """A mean of squares and a number above zero is none of it; a factor of a matrix uses all entries of that."""
    x, w = np.array([[0.3, 0.5], [0.2, 0.9]]), np.ones(2)
    for f, counts in ((normalised, False), (with_a_start_below_zero, True), (of_a_factor, False)):
        assert ("!= 0" in wg.grad(f).specialize(x, w).source.rpartition("\ndef ")[2]) is counts
    zero = np.array([[0.0, 0.0], [0.2, 0.9]])
    assert np.isfinite(wg.grad(with_a_start_below_zero)(zero, w)).all()


@pytest.mark.parametrize("tier", ["static", "recorded"])
def test_a_divisor_of_entries_that_are_dropped_for_being_infinite(tier):
    def f(a, v):
        w = np.exp(v / a) / a  # the first entry overflows
        return np.sum(np.log1p(w[np.isfinite(w)]))

    def of_data_with_gaps(a):
        scaled = np.array([1.0, np.nan, 2.0]) / a
        return np.sum(scaled[~np.isnan(scaled)])

    def of_numbers_as_arrays(a, v):
        a, v = np.broadcast_arrays(a, v)  # without axes
        taken = a > 0
        w = np.exp(v[taken] / a[taken])
        return np.sum(np.log1p(w[np.isfinite(w)]))

    with np.errstate(over="ignore"):
        found = wg.grad(f, (0, 1), tier=tier)(0.001, np.array([6.0, 0.001]))
        assert wg.grad(of_numbers_as_arrays, (0, 1), tier=tier)(0.001, 6.0) == (0.0, 0.0)
    u = math.e * 1000 / (1 + math.e * 1000)  # the slope of log1p(w) by log w = v / a - log a
    assert found[0] == pytest.approx(-u * (0.001 / 0.001**2 + 1 / 0.001))
    assert found[1] == pytest.approx([0.0, u / 0.001])
    assert wg.grad(of_data_with_gaps, tier=tier)(2.0) == -0.75


@pytest.mark.parametrize("g", STEEP.values(), ids=STEEP.keys())
def test_every_steep_function_of_an_entry_that_is_dropped(g: Function) -> None:
    inside = -0.25 if np.isnan(g(np.array([0.25]))[0]) else 0.25
    v = np.array([0.0, inside])
    alone = wg.grad(lambda v: np.sum(g(v)))(v[1:])
    for f in (lambda v: np.sum(g(v)[1:]), lambda v: np.sum(np.where([False, True], g(v), 0.0))):
        with_it = [wg.grad(f)(v), wg.jacobian(f, mode="forward")(v)]
        for found in with_it:
            np.testing.assert_array_equal(found, [0.0, *alone])


CHOSEN = {
    "maximum": lambda x: np.maximum(np.log(x), -5.0),
    "minimum": lambda x: np.minimum(np.reciprocal(x), 5.0),
    "clip": lambda x: np.clip(np.log(x), -5.0, 5.0),
    "nan_to_num": lambda x: np.nan_to_num(np.log(x)),
    "fmax": lambda x: np.fmax(np.log(x), -5.0),
    "where": lambda x: np.where(x > 0, np.log(x), 5.0),
}


@pytest.mark.parametrize("x", [np.float64(0.0), 0.0])
@pytest.mark.parametrize("f", CHOSEN.values(), ids=CHOSEN.keys())
def test_numbers_with_derivatives_choose_as_well(f: Function, x: float) -> None:
    if f is CHOSEN["minimum"]:
        x = np.float64(
            x
        )  # the reciprocal of a Python float is an exception for Dual, as that of a float
    assert f(wg.Dual(x, 1.0)).tangent == 0.0
    assert wg.taylor(f, x, 2)[1:] == [0.0, 0.0]


# --- a choice before a pole: what is not chosen meets the slope there ------------------------------------

POLES: dict[str, tuple[Function, float]] = {
    "sqrt": (np.sqrt, 0.0),
    "log": (np.log, 0.0),
    "reciprocal": (lambda x: 1.0 / x, 0.0),
    "root": (lambda x: x**0.3, 0.0),
    "cbrt": (np.cbrt, 0.0),
    "arcsin": (np.arcsin, -1.0),
    "arccos": (np.arccos, -1.0),
    "arctanh": (np.arctanh, -1.0),
    "half a circle": (lambda x: np.sqrt(1.0 - x**2), -1.0),
}

KEPT_AT_POLE: dict[str, Callable[[Any, float], Any]] = {
    "maximum": lambda x, low: np.maximum(x, low),
    "maximum of the bound": lambda x, low: np.maximum(low, 1.0 * x),
    "fmax": lambda x, low: np.fmax(x, low),
    "clip": lambda x, low: np.clip(x, low, 0.9),
    "minimum of opposites": lambda x, low: -np.minimum(-x, -low),
    "where": lambda x, low: np.where(x > low, x, low),
    "a shift": lambda x, low: np.maximum(x - low, 0.0) + low,
    "a product": lambda x, low: (x - low) * (x > low) + low,
    "nan_to_num": lambda x, low: np.nan_to_num(np.maximum(x, low)),
}


@pytest.mark.parametrize("keep", KEPT_AT_POLE.values(), ids=KEPT_AT_POLE.keys())
@pytest.mark.parametrize(("g", "low"), POLES.values(), ids=POLES.keys())
def test_what_is_kept_at_a_pole_does_not_move(g: Function, low: float, keep: Any) -> None:
    def f(v):
        return np.sum(g(keep(v, low)))

    v = np.array([-1.5, 0.25])
    slope = wg.grad(lambda x: g(x))(v[1])
    _, push = wg.pushforward(f, v)
    first = {
        "gradient": wg.grad(f)(v),
        "jit": wg.jit(wg.grad(f))(v),
        "Jacobian": wg.jacobian(lambda v: g(keep(v, low)), mode="forward")(v).sum(0),
        "push": [push(direction) for direction in np.eye(2)],
        "recorded": wg.grad(f, tier="recorded")(v),
        "Dual": [f(wg.Dual(v, direction)).tangent for direction in np.eye(2)],
    }
    for mode, derivative in first.items():
        np.testing.assert_allclose(derivative, [0.0, slope], rtol=1e-12, err_msg=mode)
    curvature = wg.derivative(lambda x: g(x), order=2)(v[1])
    np.testing.assert_allclose(wg.hessian(f)(v), [[0.0, 0.0], [0.0, curvature]], rtol=1e-12)


NUMBERS_AT_POLE: dict[str, Function] = {
    "max": lambda x: np.sqrt(max(x, 0.0)),
    "max and min": lambda x: np.arccos(min(max(x, -1.0), 1.0)),
    "max and math": lambda x: math.sqrt(max(x, 0.0)),
    "a power": lambda x: max(0.0, x) ** 0.5,
    "a product": lambda x: np.sqrt(x * (x > 0.0)),
    "a branch": lambda x: np.sqrt(max(0.0, x)),
}


@pytest.mark.parametrize("f", NUMBERS_AT_POLE.values(), ids=NUMBERS_AT_POLE.keys())
@pytest.mark.parametrize("x", [-2.0, np.float64(-2.0)])
def test_a_number_that_is_kept_at_a_pole_does_not_move(f: Function, x: float) -> None:
    assert wg.grad(f)(x) == 0.0
    assert wg.derivative(f)(x) == 0.0
    assert wg.pushforward(f, x)[1](1.0) == 0.0
    assert wg.jit(wg.grad(f))(x) == 0.0
    assert wg.grad(wg.grad(f))(x) == 0.0


@pytest.mark.parametrize("choose", [np.maximum, np.fmin, lambda x, y: np.clip(x, y, 5.0)])
def test_what_is_chosen_of_two_that_are_one_moves(choose: Function) -> None:
    f = lambda v: np.sqrt(choose(v, v))
    for mode in ("forward", "reverse"):
        np.testing.assert_array_equal(
            wg.jacobian(f, mode=mode)(np.array([0.0, 4.0])), [[math.inf, 0.0], [0.0, 0.25]]
        )
    assert wg.derivative(lambda x: np.sqrt(max(x, x)))(4.0) == 0.25


def test_a_level_that_a_loop_keeps_at_a_pole() -> None:
    def outflow(inflow):
        level, total = 1.0, 0.0
        for rain in inflow:
            level = max(level + rain - 0.8, 0.0)
            total += np.sqrt(level)
        return total

    inflow = np.array([0.1, -0.9, 0.2, 1.5, 0.3])  # the level is 0 after two and three of them
    expected = wg.grad(lambda tail: sum(np.sqrt(np.cumsum(tail - 0.8))))(inflow[3:])
    gradient = wg.grad(outflow)(inflow)
    np.testing.assert_allclose(gradient, [0.5 / np.sqrt(0.3), 0.0, 0.0, *expected])


# --- A15: a direction that does not move ----------------------------------------------------------------


def first_less_second(v):
    return np.array([np.log(v[0]) - v[1] ** 2])


def entry_by_entry(v):
    out = []
    for k in range(len(v)):
        out.append(2.0 * np.log(v[k]))  # noqa: PERF401  a loop is what is tested
    return np.array(out)


MATRICES: dict[str, tuple[Function, Any]] = {
    "A15": (first_less_second, [[math.inf, -2.0]]),
    "sqrt": (lambda v: np.sqrt(v), [[math.inf, 0.0], [0.0, 0.5]]),
    "log": (lambda v: np.log(v), [[math.inf, 0.0], [0.0, 1.0]]),
    "reciprocal": (lambda v: 1 / v, [[-math.inf, 0.0], [0.0, -1.0]]),
    "power": (lambda v: v**-1.0, [[-math.inf, 0.0], [0.0, -1.0]]),
    "root": (lambda v: v**0.5, [[math.inf, 0.0], [0.0, 0.5]]),
    "reversed": (lambda v: np.log(v) + np.log(v[::-1]), [[math.inf, 1.0], [math.inf, 1.0]]),
    "product": (lambda v: v * np.log(v[::-1]), [[0.0, 0.0], [math.inf, -math.inf]]),
    "reshaped": (lambda v: np.log(v.reshape(2, 1)), [[[math.inf, 0.0]], [[0.0, 1.0]]]),
    "clamped": (lambda v: np.clip(np.log(v), -5, 5), [[0.0, 0.0], [0.0, 1.0]]),
    "gradient": (wg.grad(lambda v: np.sum(v**1.5)), [[math.inf, 0.0], [0.0, 0.75]]),
}


@pytest.mark.parametrize(("f", "expected"), MATRICES.values(), ids=MATRICES.keys())
def test_A15_a_direction_that_does_not_move(f: Function, expected: Any) -> None:
    v = np.array([0.0, 1.0])
    for mode in ("forward", "reverse", "auto"):
        np.testing.assert_allclose(wg.jacobian(f, mode=mode)(v), expected, err_msg=mode)
    if f is first_less_second:
        np.testing.assert_allclose(wg.jit(wg.jacobian(f, mode="forward"))(v), expected)
    _, push = wg.pushforward(f, v)
    columns = [push(direction) for direction in np.eye(2)]
    np.testing.assert_allclose(np.stack(columns, -1), expected)


def test_A15_entry_by_entry_in_a_loop():
    v = np.array([0.0, 1.0])
    expected = [[math.inf, 0.0], [0.0, 2.0]]
    np.testing.assert_allclose(wg.jacobian(entry_by_entry, mode="forward")(v), expected)


def test_where_a_value_moves_is_asked_once_however_many_paths_lead_to_it():
    wave = lambda y: y * np.cos(y) + y

    def f(x):
        y = wave(wave(wave(wave(wave(wave(wave(wave(x))))))))
        return np.sqrt(wave(wave(wave(wave(wave(wave(wave(wave(y)))))))))  # 3**16 paths

    x = np.array([0.2, 0.3])
    np.testing.assert_allclose(
        wg.jacobian(f, mode="forward")(x), wg.jacobian(f, mode="reverse")(x), rtol=1e-12
    )


def test_A15_a_tangent_of_zero_is_none():
    f = lambda x, y: np.log(x) - y**2
    _, push = wg.pushforward(f, np.float64(0.0), 1.0)
    assert push(0.0, 1.0) == push(None, 1.0) == -2.0
    assert push(1.0, 0.0) == math.inf


def test_a_tangent_that_happens_to_be_zero_moves():
    f = lambda v: np.log(v**2)
    v = np.array([0.0, 1.0])
    for mode in ("forward", "reverse"):
        matrix = wg.jacobian(f, mode=mode)(v)
        assert math.isnan(matrix[0, 0])
        assert matrix[0, 1] == matrix[1, 0] == 0.0


# --- A5, C6, E4: a derivative raises nothing that the program does not raise -------------------------------


def guarded(w):
    loss = np.sum(w**2) / 0.0
    return np.where(np.isinf(loss), np.sum(w), loss)


INF = math.inf
POLES: dict[str, tuple[Function, tuple[Any, ...], Any]] = {
    "log": (lambda x: np.log(x), (0.0,), INF),
    "log2": (lambda x: np.log2(x), (0.0,), INF),
    "log10": (lambda x: np.log10(x), (0.0,), INF),
    "log1p": (lambda x: np.log1p(x), (-1.0,), INF),
    "arctanh": (lambda x: np.arctanh(x), (1.0,), INF),
    "power": (lambda x: np.power(x, -1.0), (0.0,), -INF),
    "float_power": (lambda x: np.float_power(x, -1.0), (0.0,), -INF),
    "true_divide": (lambda x: np.true_divide(x, 0.0), (1.0,), INF),
    "divide": (lambda x, y: np.divide(x, y), (1.0, 0.0), INF),
    "mod": (lambda x, y: np.mod(x, y), (1.0, 0.0), 1.0),
    "remainder": (lambda x, y: np.remainder(x, y), (1.0, 0.0), 1.0),
    "mod by the divisor": (lambda y, x: np.mod(x, y), (0.0, 1.0), -INF),
    "logit": (lambda x: special.logit(x), (0.0,), INF),
    "rel_entr": (lambda y, x: special.rel_entr(x, y), (0.0, 1.0), -INF),
    "kl_div": (lambda y, x: special.kl_div(x, y), (0.0, 1.0), -INF),
    "an array by 0": (lambda v: np.sum(v / 0), (np.array([1.0, 2.0]),), [INF, INF]),
    "a sum by 0": (lambda v, n: np.sum(v) / n, (np.array([1.0, 2.0]), 0), [INF, INF]),
    "a number of NumPy's by 0": (lambda x: x / 0.0, (np.float64(1.0),), INF),
    "a logarithm by 0": (lambda x, n: np.log(x) / n, (2.0, 0), INF),
    "mean of nothing": (lambda v: np.mean(v), (np.zeros(0),), np.zeros(0)),
    "method": (lambda v: v.mean(), (np.zeros(0),), np.zeros(0)),
    "var of nothing": (lambda v: np.var(v), (np.zeros(0),), np.zeros(0)),
    "std of nothing": (lambda v: np.std(v), (np.zeros(0),), np.zeros(0)),
    "average of nothing": (lambda v: np.average(v), (np.zeros(0),), np.zeros(0)),
    "a sum by its length": (lambda v: np.sum(v) / len(v), (np.zeros(0),), np.zeros(0)),
    "a sum by its size": (lambda v: np.sum(v) / v.size, (np.zeros(0),), np.zeros(0)),
    "means of nothing": (
        lambda v: np.sum(np.mean(v, axis=0)),
        (np.zeros((0, 2)),),
        np.zeros((0, 2)),
    ),
    "var of one": (lambda v: np.var(v, ddof=1), (np.ones(1),), [math.nan]),
}


@pytest.mark.parametrize(("f", "args", "expected"), POLES.values(), ids=POLES.keys())
def test_A5_a_derivative_raises_nothing_that_the_program_does_not_raise(
    f: Function, args: tuple[Any, ...], expected: Any
) -> None:
    f(*args)
    native = f in [
        POLES[name][0] for name in ("log", "power", "mod", "a sum by 0", "mean of nothing")
    ]
    for mode, found in all_first_orders(f, *args, native=native).items():
        np.testing.assert_array_equal(found, expected, err_msg=mode)
    if np.ndim(args[0]) == 0 and not any(
        name in f.__code__.co_names for name in ("special", "mod", "log")
    ):
        x = args[0]
        assert f(wg.Dual(x, 1.0), *args[1:]).tangent == expected
    wg.grad(lambda *a: np.sum(wg.grad(f)(*a)))(*args)


def test_A5_a_guarded_quotient():
    for found in all_first_orders(guarded, np.array([1.0, 2.0])).values():
        np.testing.assert_array_equal(found, [1.0, 1.0])


def test_A5_a_weight_beside_an_empty_batch():
    f = lambda w, v: w**2 + np.nan_to_num(np.mean(w * v))
    for found in all_first_orders(f, 3.0, np.zeros(0)).values():
        assert found == 6.0


def test_C6_the_logarithm_of_zero():
    for x in (0.0, np.float64(0.0)):
        assert wg.grad(lambda x: np.log(x))(x) == wg.grad(lambda x: np.sqrt(x))(x) == INF
        assert wg.taylor(np.log, x, 1) == [-INF, INF]
    with pytest.raises(ValueError, match=r"math domain error|positive"):
        wg.grad(lambda x: math.log(x))(0.0)
    with pytest.raises(ZeroDivisionError):
        wg.grad(lambda x: 1.0 / x)(0.0)


def test_D_a_partial_that_nobody_knows_is_refused_by_numbers_as_well():
    f = lambda x: special.hyp1f1(x, 2.0, 0.5)
    for run in (
        lambda: wg.grad(f)(1.0),
        lambda: f(wg.Dual(1.0, 1.0)),
        lambda: wg.taylor(f, 1.0, 1),
    ):
        with pytest.raises(NoRule, match="hyp1f1"):
            run()


def test_A_the_length_of_an_infinite_leg():
    for f in (math.hypot, np.hypot):
        for sign in (1.0, -1.0):
            found = wg.gradient(lambda x, y, f=f: f(x, y), sign * INF, 1.0)
            assert found == (sign, 0.0)
            assert wg.pushforward(lambda x, f=f: f(x, 1.0), sign * INF)[1](1.0) == sign
