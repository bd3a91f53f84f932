"""What `solve_ivp` can do besides: events, dense output, moving times, second order, by implicit methods too."""

import numpy as np
import pytest

import wengert as wg

integrate = pytest.importorskip("scipy.integrate")

CLOSE = {"rtol": 1e-9, "atol": 1e-12}


def stiff(t, y, k):
    return [y[1], -k * y[0] - (50 * k + 3.0) * y[1] + np.sin(t)]


def event(x, method):
    half = lambda t, y, k: y[0] - 1.3 * k
    half.terminal = True
    found = integrate.solve_ivp(
        stiff, (0, 20), [1.0, 0.0], args=(x,), events=half, method=method, **CLOSE
    )
    return found.t_events[0][0] + 3 * found.y[0, -1] + found.y_events[0][0, 1]


def dense(x, method):
    found = integrate.solve_ivp(
        stiff, (0, 3), [1.0, x], args=(x,), method=method, dense_output=True, **CLOSE
    )
    return np.sum(found.sol(np.array([0.4, 1.3, 2.9]))[0]) + found.sol(1.7)[1]


def moving_times(x, method):
    found = integrate.solve_ivp(
        stiff, (0.1 * x, 3 * x), [1.0, x], args=(x,), method=method, t_eval=[0.5, x, 3 * x], **CLOSE
    )
    return found.y[0] @ np.array([1.0, 2.0, 3.0])


def backwards(x, method):
    rates = lambda t, y: -stiff(-t, y, x)[1] * np.array([0.0, 1.0]) - np.array([y[1], 0.0])
    found = integrate.solve_ivp(rates, (0.0, -2.0 * x), np.array([1.0, x]), method=method, **CLOSE)
    return found.y[0, -1]


def every_stop(x, method):
    found = integrate.solve_ivp(
        stiff, (0, 3), [1.0, x], args=(x,), method=method,
        rtol=1e-9, atol=[1e-12, 1e-11],
    )  # fmt: skip
    return found.y[0, -1] + found.t[-1] * found.y[0, 0]


def of_one(x, method):
    found = integrate.solve_ivp(
        lambda t, y: -40 * x * (y - np.cos(x * t)), (0, 2), [1.0], method=method, **CLOSE
    )
    return found.y[0, -1]


def with_jacobian(x, method):
    options = {} if method == "DOP853" else {"jac": [[-40.0 * x]]}
    found = integrate.solve_ivp(
        lambda t, y: [-40 * x * (y[0] - t)], (0, 2), [1.0], method=method, **options, **CLOSE
    )
    return found.y[0, -1]


PROGRAMS = [event, dense, moving_times, backwards, every_stop, of_one, with_jacobian]


@pytest.mark.parametrize("method", ["LSODA", "BDF", "Radau"])
@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_implicit_methods_have_the_derivatives_of_explicit_ones(f, method):
    of = lambda by: lambda x: f(x, by)
    expected, slope = wg.value_and_grad(of("DOP853"))(0.7)
    value, found = wg.value_and_grad(of(method))(0.7)
    assert value == pytest.approx(expected, rel=1e-6)
    assert found == pytest.approx(slope, rel=2e-6)
    assert wg.derivative(of(method))(0.7) == pytest.approx(slope, rel=2e-6)


@pytest.mark.parametrize("f", [event, moving_times, every_stop], ids=lambda f: f.__name__)
def test_second_derivatives_by_implicit_methods(f):
    expected = wg.derivative(lambda x: f(x, "DOP853"), order=2)(0.7)
    of_slope = wg.derivative(wg.grad(lambda x: f(x, "Radau")))(0.7)
    assert of_slope == pytest.approx(expected, rel=1e-5)
    assert wg.derivative(lambda x: f(x, "BDF"), order=2)(0.7) == pytest.approx(expected, rel=1e-5)
    assert wg.grad(wg.grad(lambda x: f(x, "LSODA")))(0.7) == pytest.approx(expected, rel=1e-5)


def test_complex_numbers_by_an_implicit_method():
    def turned(x):
        options = {"method": "BDF", "rtol": 1e-8, "atol": 1e-10}
        found = integrate.solve_ivp(lambda t, y: 1j * x * y, (0, 1), [1.0 + 0j], **options)
        return found.y[0, -1].real

    assert wg.grad(turned)(0.7) == pytest.approx(-np.sin(0.7), rel=1e-6)


def test_several_thousand_unknowns_in_few_groups():
    """Each component moves with few others: neither differences nor factors take their square."""
    cells = 1500

    def spread(k):
        def rates(t, u):
            flow = k * cells * np.diff(u) * (1 + u[1:] + u[:-1])
            return np.concatenate([flow, [0.0]]) - np.concatenate([[0.0], flow])

        start = np.exp(-(np.linspace(-3, 3, cells) ** 2))
        band = np.eye(cells) + np.eye(cells, k=1) + np.eye(cells, k=-1)
        found = integrate.solve_ivp(
            rates, (0, 1.0), start, method="BDF", jac_sparsity=band, t_eval=[1.0]
        )
        return np.sum(found.y[:, -1] ** 2)

    gradient = wg.grad(spread)(1.0)
    moved = (spread(1.001) - spread(0.999)) / 2e-3
    assert gradient == pytest.approx(moved, rel=0.05)
    assert wg.derivative(spread)(1.0) == pytest.approx(gradient, rel=1e-4)


@pytest.mark.parametrize("method", ["RK45", "BDF"])
def test_events_that_do_not_happen_and_the_first_time_alone(method):
    def never(x):
        reached = lambda t, y: y[0] - 5.0
        found = integrate.solve_ivp(
            lambda t, y: -x * y, (0, 1), [1.0], method=method, events=reached, **CLOSE
        )
        return found.y[0, -1] + len(found.t_events[0]) + np.sum(found.y_events[0])

    def at_once(x):
        found = integrate.solve_ivp(
            lambda t, y: -x * y, (0, 1), [x], method=method, t_eval=[0.0], **CLOSE
        )
        return found.y[0, 0]

    assert wg.grad(never)(0.7) == pytest.approx(-np.exp(-0.7), rel=1e-7)
    assert wg.grad(at_once)(0.7) == 1.0
