"""Every scalar row, called on floats, against arbitrary precision, in units in the last place.

The arguments cover the domain up to where the function or its derivative leaves the floats. What
is more than 4 ulp off stands in `ALLOWED`, with the reason.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import mpmath as mp
import numpy as np
import pytest
import samples_scalar

import wengert as wg
from wengert.rules import registry as rules

DIGITS = 80
SCALES = 2000  # digits enough to see 1e-300 beside 1e300, squared
ULPS = 4.0

TINY = (5e-324, 1e-310, 1e-300, 1e-160, 1e-20, 1e-8, 1e-3)
ORDINARY = (0.1, 0.37, 0.9, 1.0, 1.7, 3.3, 12.5, 30.0)
LARGE = (1e3, 1e8, 1e17, 1e154, 1e200, 1e300)


def signed(*magnitudes: float) -> list[float]:
    return [s * x for x in magnitudes for s in (1.0, -1.0)]


EVERYWHERE = [0.0, *signed(*TINY, *ORDINARY, *LARGE)]
POSITIVE = [*TINY, *ORDINARY, *LARGE]
NEAR_ONE = [1 - 1e-16, 1 - 1e-12, 1 - 1e-5, 0.999]
INSIDE = [0.0, *signed(*TINY, 0.1, 0.37, 0.9, *NEAR_ONE)]
EXPONENTS = [0.0, *signed(*TINY, *ORDINARY, 100.0, 350.0, 700.0)]
PAIRS = [
    (x, y) for x in signed(1e-300, 1e-8, 0.37, 1.0, 12.5, 1e300) for y in (1e-300, -0.9, 3.3, 1e300)
]
MODULI = [(x, y) for x in (7.3, -7.3, 0.4, 1e8 + 0.25) for y in (2.1, -2.1, 1e-3 * math.pi)]


@dataclass(frozen=True)
class Reference:
    """A function in arbitrary precision, and where its derivative is looked at.

    `partials` gives the derivatives where numerical differentiation of `function` cannot.
    """

    function: Callable[..., Any]
    points: Sequence[Any]
    partials: tuple[Callable[..., Any], ...] = ()


def _mod(x: Any, y: Any) -> Any:
    return x - y * mp.floor(x / y)


def _fmod(x: Any, y: Any) -> Any:
    q = x / y
    return x - y * (mp.floor(q) if q > 0 else mp.ceil(q))


def _logaddexp(x: Any, y: Any) -> Any:
    high, low = max(x, y), min(x, y)
    return high + mp.log1p(mp.exp(low - high))


def _falling(y: Any, order: int, derivative: int) -> Any:
    def product(t: Any) -> Any:
        return mp.fprod(t - i for i in range(order))

    return mp.diff(product, y, derivative)


def _pow_derivative(x: Any, y: Any, order: int) -> Any:
    return mp.fprod(y - i for i in range(order)) * x ** (y - order)


def _sinc(x: Any, order: int = 0) -> Any:
    return (
        mp.quad(lambda u: u**order * mp.cos(u * mp.pi * x + order * mp.pi / 2), [0, 1])
        * mp.pi**order
    )


POWERS = [
    (x, y)
    for x in (1e-300, 1e-8, 0.37, 1.0, 12.5, 1e100)
    for y in (-2.0, -0.5, 0.5, 1.0, 1.5, 2.0, 3.0)
    if -300 < (y - 3) * math.log10(x) < 300
]
LOGADD = [(x, y) for x in (-700.0, -1.0, 0.0, 2.5, 1000.0) for y in (-745.0, 0.3, 999.0)]

REFERENCES: dict[str, Reference] = {
    "add": Reference(lambda x, y: x + y, PAIRS),
    "sub": Reference(lambda x, y: x - y, PAIRS),
    "mul": Reference(lambda x, y: x * y, PAIRS),
    "div": Reference(lambda x, y: x / y, PAIRS),
    "neg": Reference(lambda x: -x, EVERYWHERE),
    "pos": Reference(lambda x: x, EVERYWHERE),
    "mod": Reference(_mod, MODULI),
    "fmod": Reference(_fmod, MODULI),
    "remainder": Reference(lambda x, y: x - y * mp.nint(x / y), MODULI),
    "reciprocal": Reference(lambda x: 1 / x, signed(1e-100, *ORDINARY, 1e100)),
    "square": Reference(lambda x: x * x, [0.0, *signed(1e-150, *ORDINARY, 1e150)]),
    "fma": Reference(lambda x, y, z: x * y + z, [(0.3, 1e300, 2.0), (-1.0, 1e-300, 7.0)]),
    "pow": Reference(lambda x, y: x**y, POWERS),
    "float_power": Reference(lambda x, y: x**y, POWERS),
    "ieee_pow": Reference(lambda x, y: x**y, POWERS),
    "pow_derivative": Reference(_pow_derivative, POWERS),
    "falling": Reference(_falling, [-1.5, 0.5, 2.25, 10.0]),
    "sqrt": Reference(mp.sqrt, POSITIVE),
    "cbrt": Reference(lambda x: mp.sign(x) * mp.cbrt(abs(x)), signed(*TINY, *ORDINARY, *LARGE)),
    "hypot": Reference(mp.hypot, PAIRS),
    "hypot1": Reference(lambda x: mp.hypot(1, x), EVERYWHERE),
    "exp": Reference(mp.exp, EXPONENTS),
    "exp2": Reference(lambda x: mp.power(2, x), EXPONENTS),
    "expm1": Reference(mp.expm1, EXPONENTS),
    "log": Reference(mp.log, POSITIVE[2:]),
    "log_base": Reference(
        mp.log, [(x, b) for x in POSITIVE[3:-2] for b in (0.1, 2.0, 10.0, 1e100)]
    ),
    "log2": Reference(lambda x: mp.log(x, 2), POSITIVE[2:]),
    "log10": Reference(mp.log10, POSITIVE[2:]),
    "log1p": Reference(mp.log1p, [*POSITIVE, *(-x for x in (*TINY, 0.1, 0.9, *NEAR_ONE))]),
    "logaddexp": Reference(_logaddexp, LOGADD),
    "logaddexp2": Reference(lambda x, y: _logaddexp(x * mp.ln2, y * mp.ln2) / mp.ln2, LOGADD),
    "expit": Reference(lambda x: 1 / (1 + mp.exp(-x)), EXPONENTS),
    "safe_log": Reference(mp.log, POSITIVE[2:]),
    "sin": Reference(mp.sin, EVERYWHERE),
    "cos": Reference(mp.cos, EVERYWHERE),
    "tan": Reference(mp.tan, EVERYWHERE),
    "asin": Reference(mp.asin, INSIDE),
    "acos": Reference(mp.acos, INSIDE),
    "atan": Reference(mp.atan, EVERYWHERE),
    "atan2": Reference(mp.atan2, PAIRS),
    "sinh": Reference(mp.sinh, EXPONENTS),
    "cosh": Reference(mp.cosh, EXPONENTS),
    "tanh": Reference(mp.tanh, EXPONENTS),
    "sech": Reference(mp.sech, EXPONENTS),
    "asinh": Reference(mp.asinh, EVERYWHERE),
    "acosh": Reference(mp.acosh, [1 + 1e-12, 1 + 1e-5, 1.1, 1.7, 12.5, *LARGE]),
    "atanh": Reference(mp.atanh, INSIDE),
    "sinc": Reference(
        _sinc, signed(1e-20, 1e-8, 1e-3, 0.1, 0.37, 0.9, 1.7, 3.3, 12.6), (lambda x: _sinc(x, 1),)
    ),
    "sinc_derivative": Reference(
        _sinc,
        signed(1e-8, 1e-3, 0.1, 0.37, 0.9, 1.8, 3.3, 12.6),
        (lambda x, order: _sinc(x, order + 1),),
    ),
    "erf": Reference(mp.erf, [0.0, *signed(*TINY, 0.1, 0.37, 1.0, 3.3, 12.5, 25.3)]),
    "erfc": Reference(mp.erfc, [0.0, *signed(*TINY, 0.1, 0.37, 1.0, 3.3, 12.5, 25.3)]),
    "gamma": Reference(
        mp.gamma,
        [1e-100, 1e-8, 0.1, 0.37, 0.9, 3.3, 12.5, 100.0, -0.5, -7.3],
        (lambda x: mp.gamma(x) * mp.digamma(x),),
    ),
    "lgamma": Reference(
        lambda x: mp.log(abs(mp.gamma(x))),
        [1e-100, 1e-8, 0.1, 0.37, 0.9, 3.3, 12.5, 1e8, 1e300, -0.5, -7.3],
        (mp.digamma,),
    ),
    "i0": Reference(lambda x: mp.besseli(0, x), [0.0, *signed(*TINY, 0.37, 5.0, 30.0, 700.0)]),
    "bessel_i": Reference(
        lambda x, order: mp.besseli(order, x), signed(1e-8, 0.1, 0.37, 3.3, 30.0, 700.0)
    ),
    "heaviside": Reference(lambda x, y: mp.mpf(x > 0), [(-2.3, 0.5), (0.4, 0.5)]),
    "polygamma": Reference(
        lambda x, order: mp.polygamma(order, x),
        [1e-8, 0.1, 0.37, 0.9, 3.3, 12.5, 1e4, -0.5, -7.3],
        (lambda x, order: mp.polygamma(order + 1, x),),
    ),
    "maximum": Reference(max, [(1.0, 2.0), (2.0, 1.0), (-1e300, 1e-300)]),
    "minimum": Reference(min, [(1.0, 2.0), (2.0, 1.0), (-1e300, 1e-300)]),
    "fmax": Reference(max, [(1.0, 2.0), (2.0, 1.0)]),
    "fmin": Reference(min, [(1.0, 2.0), (2.0, 1.0)]),
    "clip": Reference(
        lambda x, low, high: min(max(x, low), high), [(0.5, -1.0, 1.0), (3.0, -1.0, 1.0)]
    ),
    "fabs": Reference(abs, signed(*TINY, *ORDINARY, *LARGE)),
    "copysign": Reference(lambda x, y: abs(x) * mp.sign(y), PAIRS),
    "nextafter": Reference(lambda x, y: x, [(1.5, 2.0)]),
    "nan_to_num": Reference(lambda x: x, EVERYWHERE),
    "safe_div": Reference(lambda x, y: x / y, PAIRS),
    "direction_cosine": Reference(lambda x, y: x / y, PAIRS),
    "ieee_div": Reference(lambda x, y: x / y, PAIRS),
}

OPTIONS: dict[str, list[dict[str, int]]] = {
    "pow_derivative": [{"order": 1}, {"order": 2}],
    "falling": [{"order": 2, "derivative": 0}, {"order": 3, "derivative": 1}],
    "sinc_derivative": [{"order": 1}, {"order": 2}],
    "bessel_i": [{"order": 1}, {"order": 2}, {"order": 3}],
    "polygamma": [{"order": 0}, {"order": 1}, {"order": 2}],
}

ALLOWED: dict[str, tuple[float, str]] = {
    "pow_derivative": (100, "∂²(xʸ)/∂x∂y is a difference, and 0 near x = exp(-1/y)"),
    "logaddexp": (1000, "x - y is rounded, and exp magnifies that by |x - y|"),
    "logaddexp2": (1000, "x - y is rounded, and exp magnifies that by |x - y|"),
    "erf": (1000, "x² is rounded, and exp magnifies that by x²"),
    "erfc": (1000, "x² is rounded, and exp magnifies that by x²"),
    "sinc_derivative": (20, "near its zeros only the absolute error is small"),
    "gamma": (
        200,
        "the digamma function has a zero at -0.504; its absolute error there is 1 ulp of 1",
    ),
    "lgamma": (
        200,
        "the digamma function has a zero at -0.504; its absolute error there is 1 ulp of 1",
    ),
}


def scalar_rules() -> dict[str, rules.Rule]:
    """The table's own rows; SciPy's functions of the same names are registered after them."""
    own: dict[str, rules.Rule] = {}
    for rule in rules.rules().values():
        if rule.form == "scalar" and rule.op.name in samples_scalar.SAMPLES:
            own.setdefault(rule.op.name, rule)
    return own


def cases() -> Iterator[Any]:
    for name, reference in REFERENCES.items():
        for options in OPTIONS.get(name, [{}]):
            yield pytest.param(
                name, reference, options, id="-".join([name, *map(str, options.values())])
            )


@pytest.mark.parametrize(("name", "reference", "options"), list(cases()))
def test_row_is_accurate(name: str, reference: Reference, options: dict[str, int]) -> None:
    rule = scalar_rules()[name]
    worst = (0.0, "")
    for point in reference.points:
        args = point if isinstance(point, tuple) else (point,)
        partials = called(rule, args, options)
        for k, found in enumerate(partials):
            if found is None:
                continue
            error = ulps(float(found), exact_partial(reference, k, args, options))
            at = f"∂{name}/∂{k} at {args}: {found!r}"
            worst = max(worst, (error, at))
    allowed, _ = ALLOWED.get(name, (ULPS, ""))
    assert worst[0] <= allowed, f"{worst[0]:.3g} ulp: {worst[1]}"


def called(rule: rules.Rule, args: Sequence[float], options: dict[str, int]) -> list[Any]:
    result = rule.op(*args, **options)
    if len(rule.rows) == 1 and rule.rows[0] is not None:
        partials = rule.rows[0](*args, result, **options)
        return list(partials) if isinstance(partials, tuple) else [partials]
    return [row and row(*args, result, **options) for row in rule.rows]


def exact_partial(
    reference: Reference, k: int, args: Sequence[float], options: dict[str, int]
) -> Any:
    with mp.workdps(DIGITS):
        exact = [mp.mpf(arg) for arg in args]
        if reference.partials:
            return +reference.partials[k](*exact, **options)

        def along(x: Any) -> Any:
            return reference.function(*exact[:k], x, *exact[k + 1 :], **options)

        x = exact[k]
        step = mp.mpf(2) ** -200 * (min(abs(x), 1) if x else mp.mpf(2) ** -1100)
        with mp.workdps(SCALES):
            return (along(x + step) - along(x - step)) / (2 * step)


def ulps(found: float, exact: Any) -> float:
    """The distance in units in the last place; beyond the floats only infinity or zero is right."""
    nearest = float(exact)
    if found == nearest or (math.isnan(found) and math.isnan(nearest)):
        return 0.0
    if not math.isfinite(found) or not math.isfinite(nearest):
        return math.inf
    with mp.workdps(DIGITS):
        return float(abs(mp.mpf(found) - exact) / math.ulp(nearest))


def test_every_scalar_row_is_audited() -> None:
    missing = scalar_rules().keys() - REFERENCES.keys()
    assert not missing


def test_every_allowance_is_needed() -> None:
    assert ALLOWED.keys() <= REFERENCES.keys()


def rotated_onto(x):
    """Kabsch's rotation of three points onto others: centred, they span a plane, so that a singular value is zero."""
    points, others = x - x.mean(axis=0), np.sin(x[::-1] * 2.0)
    others = others - others.mean(axis=0)
    left, _, right = np.linalg.svd(points.T @ others)
    return np.sum(np.cos(np.arange(9.0)).reshape(3, 3) * (points @ left @ right))


def test_of_a_square_matrix_nothing_is_outside_its_singular_vectors():
    """What rounding left there was divided by a singular value of 1e-17."""
    random = np.random.default_rng(5)
    for _ in range(20):
        x, direction = random.normal(size=(2, 3, 3))
        slope = np.sum(wg.grad(rotated_onto)(x) * direction)
        moved = [rotated_onto(x + h * direction) for h in (1e-5, -1e-5)]
        assert slope == pytest.approx((moved[0] - moved[1]) / 2e-5, rel=1e-5, abs=1e-7)
