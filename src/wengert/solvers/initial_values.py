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

from ..intrinsics.roots import Opaque, root_of, solved, watch
from ..intrinsics.steering import stop_gradient
from .collocation import collocate
from .events import odeint_and_stiffness, run_with_events, stops_of_dop853
from .results import Result, must_follow

_WITH_EVENTS = Opaque(run_with_events)
"""Run as it is: in a recorded run, too, `integrate.solve_ivp` means SciPy's there."""


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
        return solved(_WITH_EVENTS, slope_and_tests, (0.5, start), from_to, y0, **options)

    def other_stops(needed: Any, found: Any) -> Any:
        from_to, y0 = stop_gradient((float(first), found.t[-1])), stop_gradient(start)
        tighter = _tighter(rtol, atol)
        given = (needed, found.sol.ts, *tighter, max_step)
        return solved(stops_of_dop853, slope, (0.5, start), from_to, y0, *given)

    found = run(method, rtol, atol)
    watch(found, found.sol)
    own = method in ("RK45", "RK23", "DOP853")
    explicit = own or start.dtype == complex or (method == "LSODA" and found.njev == 0)
    steps = found.sol.ts if own else other_stops(explicit, found)
    rule = _rule(method if own else "DOP853")
    implicit = None if own else (not explicit, found.sol, rtol, atol)
    path_to, along = _following(slope, start, (first, last), steps, rule, implicit)

    def at(times: Any) -> Any:
        return along(path_to(times), times)

    def moment(test: Any, found_at: Any) -> Any:
        path = path_to(np.array([found_at]))
        value = lambda t: test(t, along(path, np.array([t]))[0], *passed_on) + 0.0
        return root_of(value, found_at)

    t_events, end = [], last
    for test in tests:
        found_at = found.t_events[len(t_events)]
        t_events.append(np.array([moment(test, float(t)) for t in found_at]))
        if found.status == 1 and _terminal(test) and len(t_events[-1]) > 0:
            end = t_events[-1][-1]
    times = _asked(t_eval, first, last, end, np.asarray(found.t, float), len(tests) > 0)
    values = _found_at(found.sol, times, start).T
    y = at(times).T
    must_follow(y.T, values.T, rtol, atol)
    states = [_as_found(at(t), _found_at(found.sol, t, start)) for t in t_events]
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


def _asked(t_eval: Any, first: Any, last: Any, end: Any, stops: Any, to_event: Any) -> Any:
    """The times whose values are returned."""
    if t_eval is not None:
        wanted = np.asarray(t_eval, float)
        return wanted[abs(wanted - first) <= abs(stops[-1] - first)] if to_event else wanted
    return np.append(stops[:-1], end) if to_event else _moving_with(first, last, stops)


def _moving_with(first: Any, last: Any, stops: Any) -> Any:
    """The times where the solver has stopped: the last moves with the end, the first with the beginning."""
    ends = np.where(stops == stop_gradient(float(last)), last, stops)
    return np.where(stops == stop_gradient(float(first)), first, ends)


def _terminal(test: Any) -> Any:
    return getattr(test, "terminal", False)


def _found_at(solution: Any, times: Any, start: Any) -> Any:
    """What a solver found at some times, which may be none: one row for each."""
    if len(times) == 0:
        return np.zeros((0, len(start)), dtype=start.dtype)
    return np.asarray(solution(stop_gradient(times)), start.dtype).T


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
        # a copy: SciPy's `odeint` makes one, so that `func` may give the same array each time
        return np.atleast_1d(np.array(func(t, y, *passed_on) if tfirst else func(y, t, *passed_on)))

    def run(solver: Any, *given: Any, **options: Any) -> Any:
        return solved(solver, slope, (0.5, start), *given, **options)

    from_to = stop_gradient((float(times[0]), float(times[-1])))
    relative = 1.49012e-8 if rtol is None else rtol
    absolute = 1.49012e-8 if atol is None else atol
    given = {"rtol": rtol, "atol": atol, "mxstep": mxstep, "hmax": hmax}
    values, is_stiff = run(
        odeint_and_stiffness, stop_gradient(start), stop_gradient(times), **given
    )
    allowed = (relative, absolute) if is_stiff else _tighter(relative, absolute)
    again = run(
        integrate.solve_ivp,
        from_to,
        stop_gradient(start),
        method="LSODA" if is_stiff else "DOP853",
        dense_output=True,
        rtol=allowed[0],
        atol=allowed[1],
    )
    steps = again.sol
    watch(again, steps)
    span, implicit = (times[0], times[-1]), (is_stiff, steps, relative, absolute)
    path_to, along = _following(slope, start, span, steps.ts, _rule("DOP853"), implicit)
    y = along(path_to(times), times)
    values = np.asarray(values, float)
    must_follow(y, values, relative, absolute)
    return values + (y - stop_gradient(y))


def _tighter(rtol: Any, atol: Any) -> Any:
    """Tolerances that leave what is allowed to the solver whose steps are not followed."""
    relative = np.clip(0.1 * np.asarray(rtol, float), 3e-14, 1e-6)
    return relative, np.minimum(0.1 * np.asarray(atol, float), 1e-8)


def _rule(method: Any) -> Any:
    """Nodes, matrix and weights of a Runge–Kutta rule."""
    if method == "RK23":
        return integrate.RK23.C, integrate.RK23.A, integrate.RK23.B
    if method == "RK45":
        return integrate.RK45.C, integrate.RK45.A, integrate.RK45.B
    return integrate.DOP853.C, integrate.DOP853.A, integrate.DOP853.B


def _following(slope: Any, y: Any, span: Any, steps: Any, rule: Any, implicit: Any) -> Any:
    """How a solution is followed by steps that can be differentiated.

    Args:
        slope: of time and state.
        y: the state at first.
        span: the first time and the last.
        steps: where the solver has stopped.
        rule: an explicit Runge–Kutta rule.
        implicit: None, or whether there are steps of an implicit rule in place of it, what the solver found,
            and the tolerances that it was given.

    Returns:
        A function that gives the path to some times: where steps begin and end, and those of an implicit rule
        if there are. And a function of a path and times that gives the values there, one row each.
    """
    first, last = span

    def path_to(times: Any) -> Any:
        stops = _up_to_the_last(np.asarray(steps, float), stop_gradient(times))
        if implicit is None:
            return stops, None
        # run whether it is needed or not: in a branch, its function could not change what it remembers
        found = solved(collocate, slope, (0.5, y), stop_gradient(y), stops, *implicit)
        return np.asarray(found.stops, float), found

    def along(path: Any, times: Any) -> Any:
        stops, found = path
        places = _places(stops, stop_gradient(times))
        at = _moving_with(first, last, stops)
        at[places] = times
        if implicit is not None and implicit[0]:
            return _collocated(slope, y, at, found)[places]
        return _stepped(slope, y, at, rule)[places]

    return path_to, along


def _up_to_the_last(steps: Any, asked: Any) -> Any:
    """The stops of a solver and the times that are asked for, in the order in which it comes to them."""
    if len(asked) == 0:
        return steps[:1]
    stops = np.union1d(steps, asked)
    if steps[-1] >= steps[0]:
        return stops[stops <= np.maximum(np.max(asked), steps[0])]
    return stops[stops >= np.minimum(np.min(asked), steps[0])][::-1]


def _places(stops: Any, asked: Any) -> Any:
    """Where among the stops the times are that are asked for."""
    if stops[-1] >= stops[0]:
        return np.searchsorted(stops, asked)
    return np.searchsorted(-stops, -asked)


def _collocated(slope: Any, y: Any, at: Any, found: Any) -> Any:
    """The values at all stops: the solution of the equations of collocation."""
    lengths = at[1:] - at[:-1]
    nodes, matrix = np.asarray(found.nodes, float), np.asarray(found.matrix, float)
    times = np.ravel(at[:-1, None] + lengths[:, None] * nodes)
    values = np.asarray(found.values, float)

    def equations(values: Any) -> Any:
        points = np.reshape(values, (len(times), len(y)))
        slopes = np.array([slope(times[k], points[k]) for k in range(len(times))])
        added = matrix @ np.reshape(slopes, values.shape)
        before = np.concatenate([y[None], values[:-1, -1]])
        return values - before[:, None, :] - lengths[:, None, None] * added

    values = root_of(equations, values, found)
    return np.concatenate([y[None], values[:, -1]])


def _stepped(slope: Any, y: Any, at: Any, rule: Any) -> Any:
    """The values at all stops, by the steps of an explicit Runge–Kutta rule."""
    nodes, matrix, weights = rule
    values = np.zeros((len(at), len(y)), dtype=y.dtype)
    values[0] = y
    for k in range(len(at) - 1):
        y = _step(slope, at[k], y, at[k + 1] - at[k], nodes, matrix, weights)
        values[k + 1] = y
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
