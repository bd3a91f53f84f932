"""What solvers pass on to their functions: `args` as SciPy takes them, tuple, list, array or number."""

import math

import numpy as np
import pytest

import wengert as wg

optimize = pytest.importorskip("scipy.optimize")
integrate = pytest.importorskip("scipy.integrate")


def cubic(x, p, q):
    return x**3 - p * x - q


def bowl(x, p, q):
    return np.sum((np.asarray(x) - p) ** 2) + q * np.sum(np.asarray(x)) + np.sum(x) ** 4 * 0.1


def of_list(x, pq):
    return x**3 - pq[0] * x - pq[1]


WITH_TWO = {
    "newton": lambda args: optimize.newton(cubic, 2.0, args=args),
    "newton, array": lambda args: np.sum(optimize.newton(cubic, np.array([2.0, 2.1]), args=args)),
    "fixed_point": lambda args: optimize.fixed_point(
        lambda x, p, q: np.cos(p * x) * q, 0.5, args=args, xtol=1e-12
    ),
    "fmin_bfgs": lambda args: optimize.fmin_bfgs(bowl, [0.3], args=args, disp=0, gtol=1e-10)[0],
    "fmin_cg": lambda args: optimize.fmin_cg(bowl, [0.3], args=args, disp=0, gtol=1e-10)[0],
    "fminbound": lambda args: optimize.fminbound(bowl, -1.0, 2.0, args=args, xtol=1e-12),
    "least_squares": lambda args: optimize.least_squares(
        lambda x, p, q: [x[0] - p, x[0] * q], [0.3], args=args
    ).x[0],
    "nquad": lambda args: integrate.nquad(lambda x, p, q: math.exp(-p * x) * q, [[0, 1]], args)[0],
    "dblquad": lambda args: integrate.dblquad(
        lambda y, x, p, q: math.exp(-p * x) * q * y, 0, 1, 0, 1, args
    )[0],
    "solve_ivp": lambda args: integrate.solve_ivp(
        lambda t, y, p, q: -p * y + q, (0, 1), [1.0], args=args, rtol=1e-9, atol=1e-12
    ).y[0, -1],
    "differential_evolution": lambda args: optimize.differential_evolution(
        bowl, [(-1, 2)], args=args, rng=0, tol=1e-12
    ).x[0],
}
WITH_ONE = {
    "brentq": lambda args: optimize.brentq(of_list, 0.0, 3.0, args=args),
    "toms748": lambda args: optimize.toms748(of_list, 0.0, 3.0, args=args),
    "root_scalar": lambda args: optimize.root_scalar(of_list, bracket=(0, 3), args=args).root,
    "fsolve": lambda args: optimize.fsolve(of_list, 2.0, args=args)[0],
    "root": lambda args: optimize.root(of_list, [2.0], args=args).x[0],
    "minimize": lambda args: optimize.minimize(
        lambda x, pq: bowl(x, pq[0], pq[1]), [0.3], args=args, tol=1e-10
    ).x[0],
    "minimize_scalar": lambda args: (
        optimize.minimize_scalar(lambda x, pq: bowl(x, pq[0], pq[1]), args=args).x
    ),
    "leastsq": lambda args: optimize.leastsq(
        lambda x, pq: [x[0] - pq[0], x[0] * pq[1]], [0.3], args=args
    )[0][0],
    "quad": lambda args: integrate.quad(
        lambda x, pq: math.exp(-pq[0] * x) * pq[1], 0, 1, args=args
    )[0],
    "quad_vec": lambda args: integrate.quad_vec(
        lambda x, pq: math.exp(-pq[0] * x) * pq[1], 0, 1, args=args
    )[0],
}


def by_differences(f):
    step = 1e-4
    return (f(1.0 + step, 0.7) - f(1.0 - step, 0.7)) / (2 * step)


@pytest.mark.parametrize("container", [list, tuple, np.array], ids=["list", "tuple", "array"])
@pytest.mark.parametrize("name", WITH_TWO)
def test_B_C2_arguments_that_are_unpacked(name, container):
    if container is tuple:
        f = lambda a, b: WITH_TWO[name]((a, b))
    elif container is list:
        f = lambda a, b: WITH_TWO[name]([a, b])
    else:
        f = lambda a, b: WITH_TWO[name](np.array([a, b]))
    assert wg.gradient(f, 1.0, 0.7)[0] == pytest.approx(by_differences(f), rel=1e-3)


@pytest.mark.parametrize("container", [list, np.array], ids=["list", "array"])
@pytest.mark.parametrize("name", WITH_ONE)
def test_B_C2_arguments_that_are_one(name, container):
    if name == "quad_vec" and container is np.array:
        return  # SciPy does not take one
    if container is list:
        f = lambda a, b: WITH_ONE[name]([a, b])
    else:
        f = lambda a, b: WITH_ONE[name](np.array([a, b]))
    assert wg.gradient(f, 1.0, 0.7)[0] == pytest.approx(by_differences(f), rel=1e-3)


def test_B_C2_newton_with_a_list():
    def f(a, b):
        return optimize.newton(lambda x, p, q: x**3 - p * x - q, 2.0, args=[a, b])

    assert wg.gradient(f, 1.0, 2.0) == pytest.approx((0.25596127, 0.16824286), rel=1e-7)
