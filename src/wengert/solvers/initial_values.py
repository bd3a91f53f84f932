"""Solutions of ordinary differential equations that `scipy.integrate` finds, as functions of all they depend on.

The solver is run as it is and says at which times it stopped. The derivative is that of one Runge–Kutta step
from each of these times to the next, whose lengths are held fixed: the discrete adjoint (Hager, 2000). For a
solver that takes other steps than these, DOP853 says where to stop.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import integrate  # pyright: ignore[reportMissingTypeStubs]

from ..roots import root_of, solved
from ..steering import stop_gradient
from .events import run_with_events
from .results import Result, must_agree

_ADVICE = (
    "at `rtol=1e-8` DOP853 finds another solution. Ask for smaller errors, or for a shorter time."
)


def solve_ivp(
    fun: Any,
    t_span: Any,
    y0: Any,
    method: Any = "RK45",
    t_eval: Any = None,
    *,
    vectorized: Any = False,
    args: Any = None,
    rtol: Any = 1e-3,
    atol: Any = 1e-6,
    max_step: Any = np.inf,
    first_step: Any = None,
    events: Any = None,
    dense_output: Any = False,
    jac: Any = None,
    jac_sparsity: Any = None,
) -> Any:
    """`scipy.integrate.solve_ivp`; an event is a root of its function along the solution.

    Nothing here needs a Jacobian: one that is passed is not called.
    """
    several = isinstance(events, (list, tuple))
    tests = () if events is None else tuple(events) if several else (events,)
    passed_on = () if args is None else args
    start, first, last = np.asarray(y0) * 1.0, t_span[0], t_span[1]

    def slope(t: Any, y: Any) -> Any:
        return np.asarray(fun(t, y, *passed_on))

    def slope_and_tests(t: Any, y: Any) -> Any:
        return (slope(t, y), *[test(t, y, *passed_on) for test in tests])

    def run(by: Any, relative: Any, absolute: Any) -> Any:
        from_to, y0 = stop_gradient((float(first), float(last))), stop_gradient(start)
        steps = {"max_step": max_step, "first_step": first_step, "dense_output": True}
        options = {"method": by, "rtol": relative, "atol": absolute, **steps}
        if not tests:
            return solved(integrate.solve_ivp, slope, (0.5, start), from_to, y0, **options)
        about = [(_terminal(test), getattr(test, "direction", 0)) for test in tests]
        options = {**options, "about": about, "whole": True}
        return solved(run_with_events, slope_and_tests, (0.5, start), from_to, y0, **options)

    found = run(method, rtol, atol)
    explicit = method in ("RK45", "RK23", "DOP853")
    steps = (found if explicit else run("DOP853", 1e-8, 1e-10)).sol.ts
    rule = _rule(method if explicit else "DOP853")

    def at(times: Any) -> Any:
        return _solution(slope, start, first, last, times, steps, rule)

    def moments(test: Any, found_at: Any) -> Any:
        value = lambda t: test(t, at(np.array([t]))[0], *passed_on) + 0.0
        return np.array([root_of(value, float(t)) for t in found_at])

    t_events, end = [], last
    for test in tests:
        t_events.append(moments(test, found.t_events[len(t_events)]))
        if found.status == 1 and _terminal(test) and len(t_events[-1]) > 0:
            end = t_events[-1][-1]
    stops = np.asarray(found.t, float)
    if t_eval is not None:
        wanted = np.asarray(t_eval, float)
        times = _reached(wanted, first, stops) if tests else wanted
    elif tests:
        times = np.append(stops[:-1], end)
    else:
        times = _moving_with(first, last, stops)
    values = np.asarray(found.sol(stop_gradient(times)), start.dtype)
    y = _solution(slope, start, first, last, times, steps, rule).T
    must_agree(y, values, np.max(np.abs(values)), 0.01, _ADVICE)
    states = [_as_found(at(t), found.sol(stop_gradient(t)).T) for t in t_events]
    return Result(
        t=times,
        y=values + (y - stop_gradient(y)),
        success=found.success,
        status=found.status,
        message=found.message,
        nfev=found.nfev,
        t_events=t_events if tests else None,
        y_events=states if tests else None,
        sol=(lambda t: _between(at, found.sol, t)) if dense_output else None,
    )


def _moving_with(first: Any, last: Any, stops: Any) -> Any:
    """The times where the solver has stopped, as parts of the way from the first to the last."""
    span = stop_gradient(float(last) - float(first))
    return first + (last - first) * ((stops - stop_gradient(float(first))) / (span or 1.0))


def _reached(times: Any, first: Any, stops: Any) -> Any:
    """Those of some times that a solver came to."""
    return times[abs(times - first) <= abs(stops[-1] - first)]


def _terminal(test: Any) -> Any:
    return getattr(test, "terminal", False)


def _between(at: Any, found: Any, t: Any) -> Any:
    """A solution as `dense_output` gives it: one column for each time."""
    times = np.atleast_1d(np.asarray(t, float))
    values = _as_found(at(times).T, found(stop_gradient(times)))
    return values[:, 0] if np.ndim(t) == 0 else values


def _as_found(followed: Any, found: Any) -> Any:
    """The values that a solver found, with the derivative of the steps that follow it."""
    return np.asarray(found, followed.dtype) + (followed - stop_gradient(followed))


def odeint(
    func: Any,
    y0: Any,
    t: Any,
    args: Any = (),
    Dfun: Any = None,
    *,
    tfirst: Any = False,
    rtol: Any = None,
    atol: Any = None,
    mxstep: Any = 0,
    hmax: Any = 0.0,
) -> Any:
    """`scipy.integrate.odeint`."""
    passed_on = args if isinstance(args, tuple) else (args,)
    start, times = np.atleast_1d(np.asarray(y0, float)), np.asarray(t, float)

    def slope(t: Any, y: Any) -> Any:
        return np.atleast_1d(
            np.asarray(func(t, y, *passed_on) if tfirst else func(y, t, *passed_on))
        )

    def run(solver: Any, *given: Any, **options: Any) -> Any:
        return solved(solver, slope, (0.5, start), *given, **options)

    from_to = stop_gradient((float(times[0]), float(times[-1])))
    values = run(
        integrate.odeint,
        stop_gradient(start),
        stop_gradient(times),
        tfirst=True,
        rtol=rtol,
        atol=atol,
        mxstep=mxstep,
        hmax=hmax,
    )
    steps = run(
        integrate.solve_ivp,
        from_to,
        stop_gradient(start),
        method="DOP853",
        dense_output=True,
        rtol=1e-8,
        atol=1e-10,
    ).sol.ts
    y = _solution(slope, start, times[0], times[-1], times, steps, _rule("DOP853"))
    values = np.asarray(values, float)
    must_agree(y, values, np.max(np.abs(values)), 0.01, _ADVICE)
    return values + (y - stop_gradient(y))


def _rule(method: Any) -> Any:
    """Nodes, matrix and weights of a Runge–Kutta rule."""
    if method == "RK23":
        return integrate.RK23.C, integrate.RK23.A, integrate.RK23.B
    if method == "RK45":
        return integrate.RK45.C, integrate.RK45.A, integrate.RK45.B
    return integrate.DOP853.C, integrate.DOP853.A, integrate.DOP853.B


def _solution(slope: Any, y: Any, first: Any, last: Any, times: Any, steps: Any, rule: Any) -> Any:
    """The values at some times, one row each, by one step from each stop to the next."""
    nodes, matrix, weights = rule
    asked = stop_gradient(times)
    stops = np.union1d(np.asarray(steps, float), asked)
    if steps[-1] < steps[0]:
        stops = stops[::-1]
    span = stop_gradient(last - first)
    shares = (stops - stop_gradient(first)) / (span or 1.0)
    order = np.argsort(asked) if steps[-1] >= steps[0] else np.argsort(-asked)
    values = np.zeros((len(times), len(y)), dtype=y.dtype)
    now = first
    k = 0
    for stop, share in zip(stops, shares, strict=True):
        then = (
            times[order[k]]
            if k < len(times) and asked[order[k]] == stop
            else first + (last - first) * share
        )
        y = _step(slope, now, y, then - now, nodes, matrix, weights)
        now = then
        while k < len(times) and asked[order[k]] == stop:
            values[order[k]] = y
            k += 1
    return values


def _step(slope: Any, t: Any, y: Any, h: Any, nodes: Any, matrix: Any, weights: Any) -> Any:
    slopes = np.zeros((len(weights), len(y)), dtype=y.dtype)
    for s in range(len(weights)):
        slopes[s] = slope(t + nodes[s] * h, y + h * (matrix[s, :s] @ slopes[:s]))
    return y + h * (weights @ slopes)


EQUIVALENTS: list[tuple[Any, Callable[..., Any]]] = [
    (integrate.solve_ivp, solve_ivp),
    (integrate.odeint, odeint),
]
