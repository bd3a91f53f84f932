"""Options in recorded runs: those that have a derivative, and those that a rule knows nothing of."""

import math
import statistics

import numpy as np
import pytest
from error_texts import message, place, refusal
from scipy import signal

import wengert as wg

A = np.array([1.1, 0.3, 2.2, 0.7])
MATRIX = np.array([[1.1, 0.3, 2.2], [0.7, -1.0, 0.2]])
ONES = np.ones(2)


def differences(f, x, step=1e-6):
    if not isinstance(x, np.ndarray):
        return (f(x + step) - f(x - step)) / (2 * step)
    units = np.eye(x.size).reshape(-1, *x.shape)
    return np.array([differences(lambda t, e=e: f(x + t * e), 0.0) for e in units]).reshape(x.shape)


OF_A_NUMBER = {
    "diff beside a constant": lambda x: np.sum(np.diff(ONES, prepend=x, append=x * x) ** 2),
    "diff beside an array": lambda x: np.sum(np.diff(ONES * x, prepend=x * x, n=2) ** 2),
    "pad a constant": lambda x: np.sum(np.pad(ONES, 2, constant_values=x) ** 2),
    "pad an array": lambda x: np.sum(np.pad(ONES * x, 2, constant_values=x * x) ** 2),
    "pad by two": lambda x: np.sum(np.pad(ONES * x, (1, 2), constant_values=(x * x, 3.0)) ** 2),
    "pad matrices": lambda x: np.sum(np.pad(np.eye(2), ((1, 0), (0, 2)), constant_values=((x, 1), (2, x * x))) ** 3),
    "interp": lambda x: np.sum(np.interp([0.0, 1.5, 5.0], [1.0, 2.0], [3.0, 4.0], left=x, right=x * x) ** 2),
    "nan_to_num": lambda x: np.sum(np.nan_to_num(np.array([1.0, np.nan]), nan=x) ** 2),
    "nan_to_num of both": lambda x: np.sum(np.nan_to_num(np.array([x, np.nan]), nan=x) ** 2),
    "prod of constants": lambda x: math.prod([2.0, 3.0], start=x),
    "prod": lambda x: math.prod([x, 3.0 * x], start=x) + math.prod((x, 3.0), start=2.0),
    "linspace": lambda x: np.linspace(0.0, x, 4, retstep=True)[1] * x,
    "r_": lambda x: np.sum(np.r_[x, 1.0, 2 * x, np.arange(3.0) * x, 0:2] ** 2),
    "no out by position": lambda x: np.multiply(np.sin(x, None), x, None) + np.exp(np.array([x]), None)[0],
    "no outs": lambda x: np.divmod(7.0, x, out=(None, None))[1] * np.modf(x, None, None)[0],
    "array of one": lambda x: np.sum(np.array(x, ndmin=2) @ np.array([[x]])),
}  # fmt: skip

OF_AN_ARRAY = {
    "periodic interp": lambda a: np.sum(np.interp(a, [0.0, 1.0, 2.0], [1.0, 3.0, 2.0], period=2.5) ** 2),
    "table of periodic interp": lambda a: np.sum(np.interp([0.5, 3.2], [0.0, 1.0, 2.0, 3.0], a, period=3.0) ** 2),
    "diff": lambda a: np.sum(np.diff(a, prepend=0.0) ** 2) + np.sum(np.diff(a, append=[3.0], n=2) ** 2),
    "linear ramp": lambda a: np.sum(np.pad(a, (1, 2), "linear_ramp", end_values=3.0) ** 2),
    "pad by means": lambda a: np.sum(np.pad(a, 1, mode="mean", stat_length=2) ** 2),
    "pad oddly": lambda a: np.sum(np.pad(a, 2, mode="reflect", reflect_type="odd") ** 2),
    "std": lambda a: np.std(a, where=a > 0.5) + np.var(a, where=a < 2, correction=1),
    "clip": lambda a: np.sum(np.clip(a, min=0.5, max=2.0) ** 2) + np.sum(a.clip(max=1.0) ** 2),
    "c_": lambda a: np.sum(np.c_[a, a**2][1:] ** 2),
    "r_ by rows": lambda a: np.sum(np.r_["0,2", a, 2 * a] ** 3) + np.sum(np.r_["-1", a[None], a[None] * 2] ** 2),
    "add.reduceat": lambda a: np.sum(np.add.reduceat(a**2, [3, 1, 1, 0]) * np.arange(4)),
    "multiply.reduceat": lambda a: np.sum(np.multiply.reduceat(a**2, [0, 2, 3]) * np.arange(3)),
    "maximum.reduceat": lambda a: np.sum(np.maximum.reduceat(a.reshape(2, 2), [0, 1], axis=1) * np.arange(2)),
    "hypot.accumulate": lambda a: np.sum(np.hypot.accumulate(a)) + np.maximum.accumulate(a)[-1] ** 2,
    "reduce": lambda a: np.sum(np.multiply.reduce(a.reshape(2, 2), axis=1, keepdims=True) ** 2)
    + np.logaddexp.reduce(a) + np.add.reduce(a, where=a > 0.5, initial=2.0) ** 2,
    "qr": lambda a: np.linalg.qr(a.reshape(2, 2) + np.eye(2), mode="r")[0, 1] ** 2,
    "largest of more": lambda a: np.max(a, initial=2.0) + np.min(a.reshape(2, 2), axis=0, initial=0.5).sum() ** 2
    + a.max(initial=9.0) + np.max(a, initial=a[0] * 4) ** 2 + np.max(a, initial=0.5, where=a < 1),
    "order by place": lambda a: np.sum(np.reshape(a, (2, 2), "F") ** 2 * [[1, 2], [3, 4]]),
    "full by places": lambda a: np.sum(np.full((2, 2), a[0] * a[1], float, "C")),
    "compress": lambda a: np.sum((a * a).compress(a > 0.5) * [1, 2, 3]),
    "mean": lambda a: statistics.mean(list(a * a)) * statistics.fmean(v for v in a),
    "stdev": lambda a: statistics.stdev(a) + statistics.pvariance(list(a)) + statistics.median(list(a)),
    "correlation": lambda a: statistics.correlation(list(a), [1.0, 2.0, 3.0, 5.0])
    + statistics.linear_regression([1.0, 2.0, 3.0, 5.0], list(a)).slope,
}  # fmt: skip


def is_right(f, x, tier):
    expected = pytest.approx(differences(f, x), rel=1e-6, abs=1e-7)
    value, gradient = wg.value_and_grad(f, tier=tier)(x)
    assert value == pytest.approx(f(x), rel=1e-13)
    assert gradient == expected
    assert wg.jacobian(f, mode="forward", tier=tier)(x) == expected


@pytest.mark.parametrize("tier", ["recorded", None])
@pytest.mark.parametrize("name", OF_A_NUMBER)
def test_a_number_in_an_option_has_a_derivative(name, tier):
    is_right(OF_A_NUMBER[name], 0.8, tier)


@pytest.mark.parametrize("tier", ["recorded", None])
@pytest.mark.parametrize("name", OF_AN_ARRAY)
def test_an_option_that_a_rule_does_not_know_is_said_otherwise(name, tier):
    is_right(OF_AN_ARRAY[name], A, tier)


def test_an_array_in_an_option_has_a_derivative():
    is_right(lambda a: np.sum(np.pad(ONES, 1, constant_values=a[1:3]) ** 2), A, "recorded")


def test_numbers_with_derivatives_in_options():
    for name in ("diff beside an array", "pad an array", "diff beside a constant"):
        f = OF_A_NUMBER[name]
        assert f(wg.Dual(0.8, 1.0)).tangent == pytest.approx(differences(f, 0.8), rel=1e-6), name
    f, along = OF_AN_ARRAY["periodic interp"], np.array([0.0, 0.0, 1.0, 0.5])
    slope = np.sum(differences(f, A) * along)
    assert f(wg.Dual(A, along)).tangent == pytest.approx(slope, rel=1e-6)


def unbounded(x):
    return np.sum(np.nan_to_num(np.array([1.0, np.inf]), posinf=x))


def steps(x):
    return signal.savgol_filter(np.arange(9.0) ** 2, 5, 2, delta=x, deriv=1).sum()


def test_an_option_without_a_derivative_is_refused():
    error = refusal("WG103", TypeError, lambda: wg.grad(unbounded, tier="recorded")(0.8))
    called = place(unbounded, 1, "np.nan_to_num(np.array([1.0, np.inf]), posinf=x)", "unbounded")
    hint = "Write it with other functions."
    what = "nan_to_num has no derivative by its option"
    assert str(error) == message("WG103", what, called, hint)

    error = refusal("WG103", TypeError, lambda: wg.grad(steps, tier="recorded")(0.8))
    called = place(
        steps, 1, "signal.savgol_filter(np.arange(9.0) ** 2, 5, 2, delta=x, deriv=1)", "steps"
    )
    hint = (
        "Keep some of it out of the derivative with `wg.stop_gradient`, or give the function a rule:\n"
        "`wg.rrule`."
    )  # fmt: skip
    what = "savgol_filter has no derivative by all that it is given here"
    assert str(error) == message("WG103", what, called, hint)


def test_records_are_joined_field_by_field():
    def joined(x):
        a = np.zeros(2, dtype=[("p", float), ("n", int), ("q", float)])
        a["p"], a["n"], a["q"] = x, 2, [x * x, 2.0]
        b = np.concatenate([a, a[::-1]])
        c = np.stack([b, np.roll(b, 1)])
        d = np.where(c["p"] > 0, c, np.zeros_like(c))
        d["p"][0, 0] = 3.0
        return np.sum(d["p"] * d["q"] * d["n"]) + np.sum(b["p"] ** 2)

    is_right(joined, 0.8, "recorded")


def test_records_with_arrays_in_them_are_not_moved():
    def joined(x):
        a = np.zeros(2, dtype=[("p", float, 2)])
        a["p"] = x
        return np.sum(np.concatenate([a, a])["p"])

    error = refusal("WG101", NotImplementedError, lambda: wg.grad(joined)(0.8))
    assert "this function has no derivative of an array of records" in str(error)


TWICE = {
    "append": lambda x: np.sum(np.append(A, x) ** 3) + np.sum(np.append(x, A) ** 3),
    "hstack": lambda x: np.sum(np.hstack([A, x]) ** 3),
    "astype": lambda x: np.sum(np.abs((A * x).astype(complex) ** 2)),
}


@pytest.mark.parametrize("name", TWICE)
def test_second_derivatives_of_what_is_joined_and_converted(name):
    f = TWICE[name]
    once = wg.grad(f, tier="recorded")
    assert once(0.7) == pytest.approx(differences(f, 0.7), rel=1e-7)
    wanted = pytest.approx(differences(once, 0.7), rel=1e-6)
    assert wg.grad(lambda x: wg.grad(f)(x), tier="recorded")(0.7) == wanted
    assert wg.hvp(f, tier="recorded")(0.7, 1.0) == wanted
