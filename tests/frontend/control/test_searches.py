"""Loops that find a number by comparing: what they find has no derivative, which is warned of."""

import math
import warnings

import numpy as np
import pytest

import wengert as wg
from wengert.errors import DerivativeWarning


def root(a):
    lo, hi = 0.0, 4.0
    while hi - lo > 1e-12:
        mid = (lo + hi) / 2
        if mid * mid > a:
            hi = mid
        else:
            lo = mid
    return (lo + hi) / 2


def root_from(a):
    lo, hi = 0.0, a + 1.0
    while hi - lo > 1e-12:
        mid = (lo + hi) / 2
        if mid * mid > a:
            hi = mid
        else:
            lo = mid
    return (lo + hi) / 2


def fixed_count(a):
    lo, hi = 0.0, 4.0
    for _ in range(50):
        mid = 0.5 * (lo + hi)
        if math.exp(mid) - a * mid > 3.0:
            hi = mid
        else:
            lo = mid
    return a * mid


def with_early_exit(a):
    lo, hi = 0.0, 4.0
    while True:
        mid = 0.5 * (lo + hi)
        value = mid**3 - a
        if abs(value) < 1e-10:
            break
        if value > 0:
            hi = mid
        else:
            lo = mid
    return mid


def by_signs(a):
    lo, hi = 0.0, 4.0
    f_lo = lo * lo - a
    for _ in range(40):
        mid = (lo + hi) / 2
        f_mid = mid * mid - a
        if f_lo * f_mid <= 0:
            hi = mid
        else:
            lo, f_lo = mid, f_mid
    return lo


def halving(a):
    x, step = 0.0, 2.0
    for _ in range(50):
        x = x + step if x * x < a else x - step
        step /= 2
    return x


def golden(a):
    lo, hi = 0.0, 4.0
    for _ in range(60):
        c, d = hi - (hi - lo) / 1.618, lo + (hi - lo) / 1.618
        if (c - a) ** 2 < (d - a) ** 2:
            hi = d
        else:
            lo = c
    return 0.5 * (lo + hi)


def vectorised(a):
    lo, hi = np.zeros(3), np.full(3, 4.0)
    for _ in range(50):
        mid = (lo + hi) / 2
        above = mid**2 > a * np.arange(1.0, 4.0)
        lo, hi = np.where(above, lo, mid), np.where(above, mid, hi)
    return np.sum(lo)


def by_arithmetic(a):
    lo, hi = 0.0, 4.0
    for _ in range(50):
        mid = (lo + hi) / 2
        is_below = mid * mid <= a
        lo, hi = lo + (mid - lo) * is_below, mid + (hi - mid) * is_below
    return lo


def by_sign(a):
    x, step = 0.0, 2.0
    for _ in range(50):
        x = x + step * np.sign(a - x * x)
        step /= 2
    return x


def by_masks(a):
    lo, hi = np.zeros(3), np.full(3, 4.0)
    for _ in range(50):
        mid = (lo + hi) / 2
        is_below = mid**2 <= a * np.arange(1.0, 4.0)
        lo[is_below] = mid[is_below]
        hi[~is_below] = mid[~is_below]
    return np.sum(lo)


def by_index(a):
    lo, hi = 0.0, 4.0
    for _ in range(50):
        mid = (lo + hi) / 2
        lo, hi = ((lo, mid), (mid, hi))[mid * mid <= a]
    return lo


def in_a_helper(a):
    return 3.0 * root(a) + a


def used_further(a):
    return math.sin(root_from(a)) * a


SEARCHES = [
    root, root_from, fixed_count, with_early_exit, by_signs, halving, golden, vectorised, by_arithmetic, by_sign,
    by_masks, by_index, in_a_helper, used_further,
]  # fmt: skip


@pytest.mark.parametrize("f", SEARCHES, ids=lambda f: f.__name__)
def test_a_search_by_comparisons_is_warned_of(f):
    for derivative in (wg.grad(f), wg.derivative(f)):
        with pytest.warns(DerivativeWarning, match=r"test_searches.py:\d+: what this loop finds"):
            derivative(2.0)


@pytest.mark.parametrize(
    "f",
    [f for f in SEARCHES if f is not by_sign],
    ids=lambda f: f.__name__,
)
def test_a_recorded_search_is_warned_of(f):
    """The recorder does not see searches by signs."""
    for derivative in (wg.grad(f, tier="recorded"), wg.hessian(f, tier="recorded")):
        with pytest.warns(
            DerivativeWarning, match=r"test_searches.py:\d+: what is searched for by this"
        ):
            derivative(2.0)


def test_B_W3_a_bisection_by_hand():
    gradient = wg.grad(lambda a: root(a) + 1.0)
    with pytest.warns(DerivativeWarning, match=r"`brentq` or `wg.implicit`") as caught:
        assert [gradient(2.0), gradient(3.0)] == [0.0, 0.0]
    assert len(caught) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error", DerivativeWarning)
        stepped = wg.grad(one_step)(2.0)
        solved = wg.grad(wg.implicit(lambda x, a: x * x - a, root))(2.0)
        recorded = wg.grad(one_step, tier="recorded")(2.0)
    assert stepped == pytest.approx(0.5 / 2**0.5)
    assert recorded == pytest.approx(0.5 / 2**0.5)
    assert solved == pytest.approx(0.5 / 2**0.5)


def one_step(a):
    x = wg.stop_gradient(root(a))
    return x - (x * x - a) / (2 * x)


# --- loops that compare and compute -------------------------------------------------------


def line_search(x):
    for _ in range(5):
        step, slope = 1.0, 2 * x - 1.0
        while (x - step * slope) ** 2 - (x - step * slope) > x * x - x:
            step *= 0.5
        x = x - step * slope
    return x


def adaptive(k):
    t, y, h = 0.0, 1.0, 0.1
    while t < 1.0:
        h = min(h, 1.0 - t)
        coarse = y - h * k * y
        fine = y - 0.5 * h * k * y
        fine = fine - 0.5 * h * k * fine
        if abs(fine - coarse) < 1e-4:
            t, y = t + h, 2 * fine - coarse
            h *= 1.5
        else:
            h *= 0.5
    return y


def newton(a):
    x = 1.0
    while abs(x * x - a) > 1e-12:
        x = x - (x * x - a) / (2 * x)
    return x


def largest(v):
    best, at = v[0], 0.0
    for k in range(len(v)):
        if v[k] > best:
            best, at = v[k], float(k)
    return best + 0.0 * at


def counted(v):
    total, count = 0.0, 0.0
    for each in v:
        if each > 0.1:
            total, count = total + each, count + 1.0
    return total / count


def secant(a):
    x, y = 1.0, 2.0
    for _ in range(30):
        fx, fy = x * x - a, y * y - a
        if abs(fy - fx) < 1e-14:
            break
        x, y = y, y - fy * (y - x) / (fy - fx)
    return y


def regula_falsi(a):
    lo, hi = 0.0, 4.0
    for _ in range(60):
        mid = (lo * (hi * hi - a) - hi * (lo * lo - a)) / (hi * hi - lo * lo)
        if mid * mid > a:
            hi = mid
        else:
            lo = mid
    return mid


def simulated(p):
    level, price = 0.0, 1.0
    for k in range(20):
        price = price * (1 + 0.01 * p * math.sin(k))
        if price > 1.001:
            level = level + 1.0
    return price * level


def returned_early(x):
    u, v = x, x * 0.5
    for k in range(3):
        u += 0.1 * k
        if u < v:
            return u
    return u * x


def counted_down(x):
    count = 0.0
    while x > 1e-9:
        x, count = 0.5 * x, count + 1.0
    return count


def stepped_up_to(x):
    t, count = 0.0, 0.0
    while t < x:
        t, count = t + 0.1, count + 1.0
    return count


def looked_up(x):
    table, lo, hi = [0.03 * k for k in range(1000)], 0, 999
    while hi - lo > 1:
        mid = (lo + hi) // 2
        if table[mid] <= x:
            lo = mid
        else:
            hi = mid
    return table[lo]


def descended(a):
    x, step, before = 0.0, 0.3, 1e300
    for _ in range(200):
        x = x - step * (2 * (x - a) + 4 * (x - a) ** 3)
        loss = (x - a) ** 2 + (x - a) ** 4 + a
        if loss > before:
            step *= 0.9
        before = loss
    return x


V = np.array([0.3, 0.9, 0.2])
OTHERS = [
    (line_search, 0.3), (adaptive, 2.0), (newton, 2.0), (largest, V), (counted, V), (secant, 2.0),
    (simulated, 0.7), (returned_early, 0.7), (counted_down, 0.7), (stepped_up_to, 1.0), (looked_up, 7.005),
    (descended, 0.8),
]  # fmt: skip


@pytest.mark.parametrize(("f", "x"), OTHERS, ids=lambda each: getattr(each, "__name__", ""))
def test_loops_that_compute_are_not(f, x):
    with warnings.catch_warnings():
        warnings.simplefilter("error", DerivativeWarning)
        wg.grad(f)(x)
        wg.pushforward(f, x)
        wg.grad(f, tier="recorded")(x)


def test_false_position_is_not_but_when_recorded():
    """Its derivative lags behind what it finds, which the recorder sees."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", DerivativeWarning)
        lagging = wg.grad(regula_falsi)(2.0)
    assert abs(lagging - 0.5 / 2**0.5) > 0.1
    with pytest.warns(DerivativeWarning, match="what is searched for"):
        assert wg.grad(regula_falsi, tier="recorded")(2.0) == pytest.approx(lagging)


def test_programs_of_the_corpus_are_not_warned_of():
    """Those that choose in loops, but for those that bisect."""
    import programs

    searched = set()
    for program in programs.PROGRAMS:
        module = program.name.split(".")[0]
        if module not in ("control", "dynamic_programming", "branches", "loops"):
            continue
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            try:
                wg.code_adjoint(program.function, *program.points[0])
            except wg.WengertError:
                continue
        if any(issubclass(each.category, DerivativeWarning) for each in caught):
            searched.add(program.name)
    assert searched == {"control.root_or_bisection", "loops.bisection"}
