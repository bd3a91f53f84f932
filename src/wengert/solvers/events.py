"""SciPy's integrators, called so that they say what the derivative asks of them."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import integrate  # pyright: ignore[reportMissingTypeStubs]


def run_with_events(function: Callable[..., Any], *args: Any, about: Any, **options: Any) -> Any:
    """`scipy.integrate.solve_ivp` of a function that returns the slope and then the value of each event.

    Args:
        function: of time and state.
        *args: what `solve_ivp` is given after the function.
        about: for each event, what its attributes `terminal` and `direction` are.
        **options: what `solve_ivp` is given by keyword.
    """

    def event(k: int, terminal: Any, direction: Any) -> Callable[..., Any]:
        def value(t: Any, y: Any) -> Any:
            return function(t, y)[k]

        value.terminal = terminal  # type: ignore[attr-defined]
        value.direction = direction  # type: ignore[attr-defined]
        return value

    events = [event(k, *settings) for k, settings in enumerate(about, 1)]
    return integrate.solve_ivp(lambda t, y: function(t, y)[0], *args, events=events, **options)


def odeint_and_stiffness(function: Callable[..., Any], *args: Any, **options: Any) -> Any:
    """`scipy.integrate.odeint`, and whether it has taken the problem for a stiff one."""
    values, report = integrate.odeint(function, *args, tfirst=True, full_output=True, **options)
    if report["message"] != "Integration successful.":
        warnings.warn(report["message"], integrate.ODEintWarning, stacklevel=2)
    return values, bool(np.any(report["nje"] > 0))


def stops_of_dop853(
    function: Callable[..., Any],
    from_to: Any,
    start: Any,
    needed: bool,
    stops: Any,
    rtol: Any,
    atol: Any,
    max_step: Any,
) -> Any:
    """Where DOP853 stops if that is needed, else the stops that are known."""
    if not needed:
        return stops
    options = {"rtol": rtol, "atol": atol, "max_step": max_step}
    return integrate.solve_ivp(function, from_to, start, method="DOP853", **options).t
