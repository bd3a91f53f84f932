"""Roots, minima, integrals and initial value problems that SciPy solves inside a program."""

import math

import numpy as np
import pytest
from differences import slope
from error_texts import refusal

import wengert as wg

optimize = pytest.importorskip("scipy.optimize")
integrate = pytest.importorskip("scipy.integrate")

TIMES = np.linspace(0.0, 2.0, 12)


# --- roots --------------------------------------------------------------------------------


def cube_root(x):
    return optimize.brentq(lambda t: t**3 - x, 0.0, 10.0)


def with_report(x):
    root, report = optimize.brenth(
        lambda t, k: t**3 - k * x, 0.0, 10.0, args=(2.0,), full_output=True
    )
    return root if report.converged else 0.0


def angles(x):
    total = 0.0
    for k in range(3):
        total += optimize.bisect(lambda t, k=k: math.sin(t) - x / (k + 2), 0, 1.5)
    return total + optimize.ridder(math.cos, 0, 3)


def kepler(e):
    anomalies = (0.3, 1.0, 2.0)
    return sum(
        optimize.newton(lambda E, M: E - e * math.sin(E) - M, M, args=(M,)) for M in anomalies
    )


def logarithm(x):
    return optimize.newton(lambda t: math.exp(t) - x, 0.3, fprime=lambda t: math.exp(t))


def scalar(x):
    found = optimize.root_scalar(lambda t: t**2 - x, bracket=(0, 10))
    assert found.converged
    return found.root * x


def scalar_with_slope(x):
    return optimize.root_scalar(
        lambda t: (t**3 - x, 3 * t**2), x0=1.0, fprime=True, method="newton"
    ).root


def circle_and_line(x):
    def equations(p):
        u, v = p
        return [u**2 + v**2 - x, u - v * x]

    u, v = optimize.fsolve(equations, [1.0, 1.0])
    return u * v


def equilibrium(x):
    found = optimize.root(lambda p: [p[0] + x * p[1] - 2, p[0] * p[1] - 0.3], [2.0, 0.3])
    return found.x[0] * 3 if found.success else 0.0


def fixed_points(x):
    several = optimize.fixed_point(lambda t: np.cos(t) * x, [0.5, 0.6])
    return optimize.fixed_point(lambda t: math.cos(t) * x, 0.5) + several.sum()


# --- minima -------------------------------------------------------------------------------


def valley(x):
    return optimize.minimize(
        lambda p: (p[0] - x) ** 2 + (p[1] + x * p[0]) ** 2 + 0.1 * p[0] ** 4,
        [0.3, 0.1],
        jac=lambda p: np.array(
            [
                2 * (p[0] - x) + 2 * x * (p[1] + x * p[0]) + 0.4 * p[0] ** 3,
                2 * (p[1] + x * p[0]),
            ]
        ),
        tol=1e-13,
    ).x[1]


def held_by_a_bound(x):
    found = optimize.minimize(
        lambda p: (p[0] - x) ** 2 + (p[1] - 3 * x) ** 2,
        [0.3, 0.1],
        bounds=[(0, None), (None, 0.5 * x)],
        tol=1e-13,
        jac=lambda p: np.array([2 * (p[0] - x), 2 * (p[1] - 3 * x)]),
    )
    return found.x[0] + 2 * found.x[1]


def value_at_the_minimum(x):
    return optimize.minimize_scalar(lambda t: math.cosh(t - x) + 0.1 * t**2).fun


def decay(t, a, k):
    return a * np.exp(-k * t)


def fitted(x):
    y = decay(TIMES, 2.0, x) + 0.05 * np.sin(7 * TIMES)
    found, covariance = optimize.curve_fit(decay, TIMES, y, p0=[1.0, 1.0])
    return found[1] + 10 * np.sqrt(covariance[0, 0])


def fitted_line(x):
    return optimize.curve_fit(lambda t, a, b: a * t + b, TIMES, x**2 * TIMES)[0][0]


def least_squares(x):
    y = decay(TIMES, 2.0, x) + 0.05 * np.sin(7 * TIMES)
    found = optimize.least_squares(
        lambda p: decay(TIMES, *p) - y, [1.0, 1.0], xtol=1e-15, ftol=1e-15, gtol=1e-15
    )
    return found.x[0] * found.x[1] + found.cost


EXACTLY = {"xtol": 1e-15, "ftol": 1e-15, "gtol": 1e-15}


def fitted_between_bounds(x):
    y = decay(TIMES, 2.0, x) + 0.05 * np.sin(7 * TIMES)
    found, covariance = optimize.curve_fit(
        decay, TIMES, y, [1.0, 1.0], bounds=([0, 0], [10, 10]), **EXACTLY
    )
    return found[1] + 10 * np.sqrt(covariance[0, 0])


def fitted_at_a_bound(x):
    y = decay(TIMES, 2.0, x) + 0.05 * np.sin(7 * TIMES)
    bounds = ([0, 0], [1.8 * x, 10])
    return optimize.curve_fit(decay, TIMES, y, [1.0, 1.0], bounds=bounds, **EXACTLY)[0] @ [1.0, 2.0]


def fitted_with_dependent_errors(x):
    y = decay(TIMES, 2.0, x) + 0.05 * np.sin(7 * TIMES)
    errors = x * (0.1 * np.eye(12) + 0.02)
    found, covariance = optimize.curve_fit(
        decay, list(TIMES), list(y), p0=[1.0, 1.0], sigma=errors, absolute_sigma=True
    )
    return found[0] * found[1] + covariance[0, 0]


def fitted_to_outliers(x, loss):
    y = decay(TIMES, 2.0, x) + 0.3 * (TIMES > 1.5)
    found = optimize.least_squares(
        lambda p: decay(TIMES, *p) - y, [1.0, 1.0], loss=loss, f_scale=0.2 * x, **EXACTLY
    )
    return found.x[0] * found.x[1] + found.cost


def held_by_bounds(x):
    y = decay(TIMES, 2.0, x) + 0.05 * np.sin(7 * TIMES)
    bounds = optimize.Bounds([0, 0], [1.8, 10])
    found = optimize.least_squares(
        lambda p: decay(TIMES, *p) - y, [1.0, 1.0], bounds=bounds, x_scale=[1.0, 2.0], **EXACTLY
    )
    return found.x[0] * found.x[1] + found.active_mask.sum()


def with_jacobians(x):
    y = decay(TIMES, 2.0, x)
    slopes = lambda t, a, k: np.array([np.exp(-k * t), -a * t * np.exp(-k * t)]).T
    one = optimize.curve_fit(decay, TIMES, y, p0=[1.0, 1.0], jac=slopes)[0]
    other = optimize.leastsq(
        lambda p: decay(TIMES, *p) - y, [1.0, 1.0], (), lambda p: slopes(TIMES, *p)
    )[0]
    return one[0] * one[1] + other[0] * other[1]


# --- integrals ----------------------------------------------------------------------------


def bounded(x):
    return integrate.quad(lambda t: math.sin(t * x), 0.0, 2 * x)[0]


def reversed_bounds(x):
    return integrate.quad(lambda t: math.exp(-t * x), 1.0, 0.2)[0]


def half_line(x):
    return integrate.quad(lambda t: math.exp(-x * t * t), 0.0, np.inf)[0]


def other_half_line(x):
    return integrate.quad(np.exp, -np.inf, x)[0]


def whole_line(x):
    value, _ = integrate.quad(lambda t, k: np.exp(-k * x * t * t), -np.inf, np.inf, args=(2.0,))
    return value


def singular(x):
    return integrate.quad(lambda t: math.cos(x * t) / math.sqrt(t), 0, 1)[0]


def in_no_time(x):
    return integrate.solve_ivp(lambda t, y: -y * x, (1, 1), [x]).y[0, -1]


def by_item(x):
    found = optimize.minimize(lambda q: (q[0] - x) ** 2 + x, [0.0], tol=1e-12)
    return found.fun + found["x"][0]


def in_the_plane(x):
    return integrate.dblquad(lambda y, t: x * y * t + y**2, 0, 1, lambda t: 0.0, lambda t: t * x)[0]


def moments(x):
    total = 0.0
    for k in range(3):
        total += integrate.quad(lambda t, k=k: t**k * math.exp(-x * t), 0, 1 + k)[0]
    return total


# --- initial value problems ---------------------------------------------------------------

CLOSE = {"rtol": 1e-10, "atol": 1e-12}


def relaxation(x):
    return integrate.solve_ivp(lambda t, y: -x * y, (0, 1), [1.0], **CLOSE).y[0, -1]


def predators(x):
    def rates(t, z, a, b):
        u, v = z
        return [a * u - b * u * v, -v + u * v]

    found = integrate.solve_ivp(
        rates,
        [0, 3],
        [x, 1.0],
        args=(1.1, 0.4 * x),
        t_eval=np.linspace(0, 3, 7),
        method="DOP853",
        **CLOSE,
    )
    return np.sum(found.y**2)


def backwards(x):
    found = integrate.solve_ivp(
        lambda t, y: -x * y + np.sin(t), (1, 0.0), [x], method="RK23", rtol=1e-9, atol=1e-11
    )
    return found.y[0, -1]


def asked_times(x):
    found = integrate.solve_ivp(
        lambda t, y: x * y * (1 - y), (0, 2), [0.1], t_eval=[0.5 * x, 1.0, 2.0], **CLOSE
    )
    return found.y[0].sum() if found.success else 0.0


def implicit_rule(x):
    def van_der_pol(t, y):
        return np.array([y[1], (1 - y[0] ** 2) * y[1] * x - y[0]])

    start = np.array([2.0, 0.0])
    return integrate.solve_ivp(van_der_pol, (0, x), start, method="Radau", **CLOSE).y[0, -1]


def pendulum(x):
    def rates(y, t, b, c):
        theta, omega = y
        return [omega, -b * omega - c * np.sin(theta)]

    found = integrate.odeint(
        rates,
        [np.pi - 0.1, 0.0],
        np.linspace(0, 3, 31),
        args=(0.25, 5.0 * x),
        rtol=1e-11,
        atol=1e-11,
    )
    return (found[:, 0] ** 2).mean()


def until_half(x):
    half = lambda t, y: y[0] - 0.5
    found = integrate.solve_ivp(lambda t, y: -x * y, (0, 2), [1.0], events=half, **CLOSE)
    return found.t_events[0][0]


def thrown(x):
    def fall(t, y):
        return [y[1], -9.0 * x - 0.1 * y[1]]

    def ground(t, y):
        return y[0]

    ground.terminal = True
    ground.direction = -1
    found = integrate.solve_ivp(fall, (0, 10), [1.0, 5.0], events=ground, **CLOSE)
    return found.t[-1] + found.y[1, -1] + found.y_events[0][0, 1] ** 2


def two_events(x):
    def top(t, y, k):
        return y[1]

    def low(t, y, k):
        return y[0] - 0.3 * k

    low.terminal = True
    found = integrate.solve_ivp(
        lambda t, y, k: [y[1], -k * y[0]], (0, 4), [0.4, 1.0], events=[top, low], args=(x,),
        t_eval=np.linspace(0, 4, 9), **CLOSE,
    )  # fmt: skip
    return (
        found.t_events[0][0] * found.t_events[1][0] + np.sum(found.y[0]) + found.y_events[0][0, 0]
    )


def between_the_steps(x):
    found = integrate.solve_ivp(lambda t, y: -x * y, (0, 2), [1.0, x], dense_output=True, **CLOSE)
    return found.sol(1.3)[0] + np.sum(found.sol(np.array([0.2, 1.9]))[1])


# --- minima under constraints -------------------------------------------------------------

TIGHT = {"method": "SLSQP", "options": {"ftol": 1e-15, "maxiter": 300}}


def nearest_on_an_ellipse(x):
    goal = np.array([2.0, x])
    on_it = {"type": "eq", "fun": lambda p, a: p[0] ** 2 / a + p[1] ** 2 - 1.0, "args": (1.0 + x,)}
    found = optimize.minimize(
        lambda p: np.sum((p - goal) ** 2), [1.0, 0.1], constraints=on_it, **TIGHT
    )
    return found.x[0] * 2 + found.x[1] + found.fun


def portfolio(x):
    """All is spent, one share would be sold, and enough must be earned."""
    risk = np.array([[1.0, 0.2, 0.1], [0.2, x, 0.3], [0.1, 0.3, 2.0]])
    gains = np.array([1.0, 1.5 * x, -0.2])
    held = [
        {"type": "eq", "fun": lambda w: np.sum(w) - 1.0},
        {"type": "ineq", "fun": lambda w: gains @ w - 1.02},
        {"type": "ineq", "fun": lambda w: 5.0 - w},
    ]
    found = optimize.minimize(
        lambda w: w @ risk @ w, np.ones(3) / 3, bounds=[(0.0, None)] * 3, constraints=held, **TIGHT
    )
    return found.x @ np.array([1.0, 2.0, 3.0])


def constraints_that_are_not_reached(x):
    far = ({"type": "ineq", "fun": lambda p: 10.0 * x - p[0]},)
    return optimize.minimize(
        lambda p: (p[0] - x) ** 2 + p[0] ** 4, [0.3], constraints=far, **TIGHT
    ).x[0]


# --- older functions ----------------------------------------------------------------------


def older_minima(x):
    one = optimize.fmin_bfgs(lambda p: (p[0] - x) ** 2 + p[0] ** 4, [0.3], disp=False, gtol=1e-9)
    two = optimize.fmin(
        lambda p: np.sum((p - x) ** 2), [0.3, 0.2], xtol=1e-10, ftol=1e-15, disp=False
    )
    three = optimize.fminbound(
        lambda t, k: k * math.cosh(t - x * k), 0.0, 3.0, args=(2.0,), xtol=1e-10
    )
    return one[0] + two[1] * three


def along_a_line(x):
    """The last steps of both are cuts of an interval, which do not move with what is minimised."""
    gap = lambda t, k: (t - k) ** 4 + t * t
    place, least, *_ = optimize.golden(gap, args=(x,), full_output=True)
    return place * optimize.brent(gap, (2.0 * x,), (x - 2.0, x)) + least


def nearest_with_its_distance(x):
    """The full output is counted with, and what is read of it is changed."""
    total, start = 0.0, 0.5
    for k in range(3):
        found = optimize.fmin_cg(
            lambda s, y: (s - y) ** 2 + (np.sin(s) - 0.5 * y) ** 2,
            start,
            lambda s, y: 2 * (s - y) + 2 * (np.sin(s) - 0.5 * y) * np.cos(s),
            args=(x + k,),
            full_output=True,
            disp=False,
            gtol=1e-9,
        )
        start, distance = found[0][0], found[1]
        if start > 2.0:
            distance *= -1
        total += start * distance + found[4]
    return total


def without_negatives(x):
    matrix = np.array([[1.0, 0.5, 0.2], [0.3, x, 0.1], [0.2, 0.4, 1.0], [0.5, 0.1, x]])
    found, left = optimize.nnls(matrix, np.array([1.0, 0.7 * x, -0.8, 0.2]))
    return found @ np.array([1.0, 2.0, 3.0]) + left


def in_space(x):
    return integrate.tplquad(
        lambda c, b, a: a * b * math.exp(-x * c), 0, 1, 0, lambda a: 1 + a, 0, lambda a, b: x + b
    )[0]


def stiff_with_jacobian(x):
    found = integrate.solve_ivp(
        lambda t, y: [-x * y[0]], (0, 1), [1.0], method="BDF", jac=[[-0.7]], rtol=1e-9, atol=1e-11
    )
    return found.y[0, -1]


EXACT = [
    cube_root, with_report, angles, kepler, logarithm, scalar, scalar_with_slope, circle_and_line, equilibrium,
    fixed_points, valley, held_by_a_bound, bounded, reversed_bounds, half_line, other_half_line,
    whole_line, in_the_plane, moments, relaxation, predators, asked_times, in_no_time,
    until_half, thrown, two_events, between_the_steps,
    without_negatives, in_space,
]  # fmt: skip
CLOSE_TO = [
    by_item, value_at_the_minimum, fitted_line, fitted, least_squares, backwards, implicit_rule, pendulum,
    nearest_on_an_ellipse, portfolio, constraints_that_are_not_reached, older_minima, along_a_line,
    nearest_with_its_distance, fitted_between_bounds, fitted_at_a_bound, held_by_bounds, with_jacobians,
    stiff_with_jacobian,
]  # fmt: skip
"""What their solvers find is not exact enough for differences to be."""

TOLERANCES = [*((f, 1e-7) for f in EXACT), *((f, 1e-5) for f in CLOSE_TO)]


@pytest.mark.parametrize(
    ("f", "tolerance"), TOLERANCES, ids=lambda each: getattr(each, "__name__", "")
)
def test_solutions_are_differentiated_to_second_order(f, tolerance):
    step = 1e-2
    expected = pytest.approx(slope(f, 0.7, step), rel=tolerance, abs=tolerance)
    value, gradient = wg.value_and_grad(f)(0.7)
    assert value == pytest.approx(f(0.7), rel=1e-12)
    assert gradient == expected
    assert wg.derivative(f)(0.7) == expected
    # of derivatives that are right, differences show whether the second are
    curvature = pytest.approx(slope(wg.grad(f), 0.7, step), rel=10 * tolerance, abs=10 * tolerance)
    assert wg.derivative(wg.grad(f))(0.7) == curvature


@pytest.mark.parametrize(
    "f",
    [nearest_on_an_ellipse, held_by_a_bound, fitted_at_a_bound],
)
def test_solvers_in_recorded_runs(f):
    """What stands for the solver called itself, or took a class of constraints for a function."""
    expected = pytest.approx(slope(f, 0.7, 1e-2), rel=1e-5, abs=1e-5)
    assert wg.grad(f, tier="recorded")(0.7) == expected


def test_events_in_recorded_runs_are_refused():
    refusal("WG206", TypeError, lambda: wg.grad(until_half, tier="recorded")(0.7))


def test_a_fit_with_errors_that_depend_on_each_other():
    f = fitted_with_dependent_errors  # its values differ by what the solver leaves
    assert wg.grad(f)(0.7) == pytest.approx(slope(f, 0.7, 1e-2), rel=1e-5)
    assert wg.derivative(f)(0.7) == pytest.approx(wg.grad(f)(0.7), rel=1e-12)


@pytest.mark.parametrize("loss", ["soft_l1", "huber", "cauchy", "arctan"])
def test_losses_that_weigh_outliers_less(loss):
    f = lambda x: fitted_to_outliers(x, loss)
    assert wg.grad(f)(0.7) == pytest.approx(slope(f, 0.7, 1e-2), rel=1e-5)
    assert wg.derivative(f)(0.7) == pytest.approx(wg.grad(f)(0.7), rel=1e-12)


def test_a_loss_that_is_a_function_is_refused():
    with pytest.raises(wg.WengertError, match=r"Name one of SciPy's: loss='soft_l1'"):
        wg.grad(lambda x: fitted_to_outliers(x, lambda z: np.array([z, 1 + 0 * z, 0 * z])))(0.7)


def test_a_fit_with_its_full_output_is_refused():
    full = lambda x: optimize.curve_fit(decay, TIMES, x * TIMES, [1.0, 1.0], full_output=True)[0][0]
    with pytest.raises(wg.WengertError, match="Leave the option out"):
        wg.grad(full)(0.7)


def test_a_fit_of_as_many_points_as_parameters_has_no_errors():
    def f(x):
        found, covariance = optimize.curve_fit(
            decay, TIMES[:2], decay(TIMES[:2], 2.0, x), p0=[1.0, 1.0]
        )
        return found[1] ** 2 if np.isinf(covariance).all() else 0.0

    assert wg.grad(f)(0.7) == pytest.approx(1.4, rel=1e-6)


@pytest.mark.parametrize("f", [cube_root, equilibrium, valley, bounded, relaxation, pendulum])
def test_saved_source_needs_scipy_alone(f):
    namespace = {}
    exec(wg.grad(f).specialize(0.7).source, namespace)
    assert namespace[f"grad_{f.__name__}"](0.7) == wg.grad(f)(0.7)


def test_several_arguments_share_one_solution():
    def level(a, b):
        return optimize.brentq(lambda t: a * t**3 + b * t - 1.0, 0.0, 2.0)

    root = level(2.0, 1.0)
    steepness = 6.0 * root**2 + 1.0
    assert wg.gradient(level, 2.0, 1.0) == pytest.approx(
        (-(root**3) / steepness, -root / steepness)
    )


@pytest.mark.static_tier
def test_a_solver_that_is_given_what_is_not_covered_is_refused():
    def banded(x):
        found = integrate.solve_ivp(lambda t, y: -x * y, (0, 1), [1.0], method="LSODA", lband=0)
        return found.y[0, -1]

    with pytest.raises(wg.WengertError) as caught:
        wg.grad(banded)(1.3)
    message = str(caught.value)
    assert (
        "[WG101] this call of solve_ivp is not covered: it got an unexpected keyword argument"
        in message
    )
    assert "found = integrate.solve_ivp(" in message


def test_what_is_no_solution_is_refused():
    def not_there(x):
        found = optimize.root(lambda p: p**2 + x, np.array([1.0]))
        return found.x[0]

    with pytest.raises(wg.WengertError, match="WG211"):
        wg.grad(not_there)(1.0)


def test_an_exception_in_an_equation_is_the_users():
    def unlucky(x):
        def equation(t):
            if t > 0.5:
                raise ValueError("out of range")
            return t - x

        return optimize.brentq(equation, 0.0, 1.0)

    with pytest.raises(ValueError, match="out of range"):
        wg.grad(unlucky)(0.3)


def test_an_integral_whose_sum_is_another_is_refused():
    with pytest.raises(ArithmeticError, match="Substitute what is singular away"):
        wg.grad(singular)(0.7)


def test_a_field_that_a_result_does_not_have_is_named():
    def curvature(x):
        return optimize.minimize(lambda q: (q[0] - x) ** 2, [0.0]).hess_inv[0, 0]

    with pytest.raises(AttributeError, match="hess_inv"):
        wg.grad(curvature)(0.7)


OUTSIDE = optimize.LinearConstraint(np.eye(2), -0.5, 0.6)
TO_THE_END = {"ftol": 1e-15}


@pytest.mark.parametrize(
    "f",
    [
        lambda x: (
            optimize.minimize(
                lambda p: np.sum((p - x) ** 2),
                [0.0, 0.0],
                constraints=optimize.LinearConstraint(
                    [[1.0, x[0]], [1.0, -1.0]], [-np.inf, 0.2 * x[1]], 1.0
                ),
                options=TO_THE_END,
            ).x
        ),
        lambda x: (
            optimize.minimize(
                lambda p: np.sum((p - 2 * x) ** 2),
                [0.0, 0.0],
                constraints=[
                    optimize.NonlinearConstraint(lambda p: p @ p * x[0], -np.inf, 0.5),
                    {"type": "eq", "fun": lambda p: p[0] - 0.3 * x[1]},
                ],
                options=TO_THE_END,
            ).x
        ),
        lambda x: (
            optimize.minimize(
                lambda p: np.sum((p - x) ** 2), [0.0, 0.0], constraints=OUTSIDE, options=TO_THE_END
            ).x
        ),
    ],
)
def test_constraints_between_bounds(f):
    at = np.array([0.7, 1.3])
    assert wg.pullback(f, at)[0] == pytest.approx(f(at), rel=1e-7)
    moved = lambda d: (f(at + d) - f(at - d)) @ [1.0, 0.3] / 2e-4
    found = wg.grad(lambda x: f(x) @ np.array([1.0, 0.3]))(at)
    # what the solver finds is exact to 1e-8 or so, by which machine
    assert found == pytest.approx([moved(d) for d in 1e-4 * np.eye(2)], rel=1e-3, abs=1e-5)


TALL = np.random.default_rng(3).normal(size=(6, 3))
TO = np.random.default_rng(4).normal(size=6)
LINEAR = [
    lambda x: optimize.lsq_linear(TALL * x[0], TO + x[1]).x,
    lambda x: optimize.lsq_linear(
        TALL + x[2], TO * x[0], bounds=([-0.1, -0.1 * x[1], -0.2], 0.15)
    ).x,
    lambda x: np.array(
        [
            optimize.linprog(
                -x, A_ub=[[1.0, 1, 1], [1, x[0], 0]], b_ub=[1 + x[1], x[2]], bounds=(0, 1.1)
            ).fun
        ]
    ),
    lambda x: optimize.linprog(
        [-1, -2, -0.5], [[1.0, 1, 1], [1, 0.5, 0]], [1 + x[1], x[2]], [[1, -1, x[0]]], [0.1],
        [(0, None), (None, 3), (0, 2)],
    ).x,
    lambda x: np.array([integrate.nquad(lambda a, b: a * b * x[0], [[0, 1], [0, x[1]]])[0]]),
    lambda x: np.array(
        [integrate.nquad(lambda a, t: a * t, [lambda t: (0, t)], args=(x[1],))[0]]
    ),
    lambda x: integrate.quad_vec(lambda s: np.exp(-s * x) * s, 0, x[2])[0],
    lambda x: np.array([integrate.quad_vec(lambda s: np.sin(s * x[0]), x[1], 0.0)[0]]),
]  # fmt: skip


@pytest.mark.parametrize("f", LINEAR)
def test_linear_problems_and_integrals_of_more(f):
    at = np.array([0.7, 1.3, 0.4])
    weights = np.cos(np.arange(len(f(at))))
    assert wg.pullback(f, at)[0] == pytest.approx(f(at), rel=1e-12)
    total = lambda x: np.sum(weights * f(x))
    moved = lambda d: (total(at + d) - total(at - d)) / 2e-4
    expected = pytest.approx([moved(d) for d in 1e-4 * np.eye(3)], rel=1e-5, abs=1e-6)
    assert wg.grad(total)(at) == expected
    assert wg.jacobian(total, mode="forward")(at) == expected


def test_a_program_without_a_single_corner_is_refused():
    def least(x):
        return optimize.linprog([1.0, 1.0], A_eq=[[1.0, 1.0]], b_eq=[x]).x[0]

    def kink(x):
        return optimize.linprog([-1.0], A_ub=[[1.0], [1.0]], b_ub=[x, 2.0]).fun

    with pytest.raises(ArithmeticError, match="a kink there"):
        wg.grad(kink)(2.0)
    assert wg.grad(kink)(1.5) == pytest.approx(-1.0)
    assert wg.grad(least)(1.0) in (0.0, 1.0)  # at one of the corners, all of which are solutions


@pytest.mark.parametrize("name", ["differential_evolution", "dual_annealing", "direct"])
def test_the_least_of_many_minima(name):
    """Its derivative is that of the minimum that a descent from there finds."""

    def of_wells(x):
        return lambda p: p[0] ** 4 - 2 * p[0] ** 2 + 0.3 * x * p[0] + (p[1] + x) ** 2

    def least(x):
        options = (
            {"eps": 1e-9, "maxiter": 5000, "vol_tol": 1e-20} if name == "direct" else {"seed": 3}
        )
        found = getattr(optimize, name)(of_wells(x), [(-2, 2), (-2, 2)], **options)
        return found.x[0] * found.x[1] + found.fun

    def nearby(x):
        found = optimize.minimize(of_wells(x), [-1.0, -0.7], options={"gtol": 1e-10})
        return found.x[0] * found.x[1] + found.fun

    assert wg.grad(least)(0.7) == pytest.approx(wg.grad(nearby)(0.7), rel=1e-3)
