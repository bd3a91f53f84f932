"""Integrals that `scipy.integrate` computes, as functions of their bounds and of what is integrated.

QUADPACK is run as it is and says which intervals it ended with. The derivative is that of the sum over its
own nodes in these intervals, which is as exact as the integral is (Piessens et al., *QUADPACK*, 1983).
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import integrate  # pyright: ignore[reportMissingTypeStubs]

from ..frontend.polyfills.same_names import same_names
from ..intrinsics.roots import solved, watch
from ..intrinsics.steering import stop_gradient
from ..ops.program.refusals import uncovered
from .results import must_agree

_KRONROD_21 = np.array(
    [
        [0.995657163025808080735527280689003, 0.011694638867371874278064396062192],
        [0.973906528517171720077964012084452, 0.032558162307964727478818972459390],
        [0.930157491355708226001207180059508, 0.054755896574351996031381300244580],
        [0.865063366688984510732096688423493, 0.075039674810919952767043140916190],
        [0.780817726586416897063717578345042, 0.093125454583697605535065465083366],
        [0.679409568299024406234327365114874, 0.109387158802297641899210590325805],
        [0.562757134668604683339000099272694, 0.123491976262065851077958109831074],
        [0.433395394129247190799265943165784, 0.134709217311473325928054001771707],
        [0.294392862701460198131126603103866, 0.142775938577060080797094273138717],
        [0.148874338981631210884826001129720, 0.147739104901338491374841515972068],
        [0.0, 0.149445554002916905664936468389821],
    ]
)
"""Nodes and weights in [0, 1] of QUADPACK's rule for a bounded interval."""

_KRONROD_15 = np.array(
    [
        [0.991455371120812639206854697526329, 0.022935322010529224963732008058970],
        [0.949107912342758524526189684047851, 0.063092092629978553290700663189204],
        [0.864864423359769072789712788640926, 0.104790010322250183839876322541518],
        [0.741531185599394439863864773280788, 0.140653259715525918745189590510238],
        [0.586087235467691130294144838258730, 0.169004726639267902826583426598550],
        [0.405845151377397166906606412076961, 0.190350578064785409913256402421014],
        [0.207784955007898467600689403773245, 0.204432940075298892414161999234649],
        [0.0, 0.209482141084727828012999174891714],
    ]
)
"""Those of its rule for an interval without end."""


def _both_sides(half: Any) -> Any:
    """A rule for [-1, 1] from what is given of it: its last node is 0."""
    mirrored = half[:-1] * np.array([-1.0, 1.0])
    return np.concatenate([half, mirrored])


BOUNDED = _both_sides(_KRONROD_21)
UNBOUNDED = _both_sides(_KRONROD_15)


_ADVICE = "its sum over the last intervals is not the integral. Substitute what is singular away."


def quad(
    func: Any,
    a: Any,
    b: Any,
    args: Any = (),
    full_output: Any = 0,
    epsabs: Any = 1.49e-8,
    epsrel: Any = 1.49e-8,
    limit: Any = 50,
    points: Any = None,
) -> Any:
    """`scipy.integrate.quad`, without weights and complex integrands."""
    args = args if isinstance(args, tuple) else (args,)

    def integrand(x: Any) -> Any:
        return float(func(x, *args))

    first, last = stop_gradient(float(a)), stop_gradient(float(b))
    found = solved(
        quad_and_nodes,
        integrand,
        (0.5,),
        first,
        last,
        full_output=1,
        epsabs=epsabs,
        epsrel=epsrel,
        limit=limit,
        points=points,
    )
    result = found[0]
    points, weights = _moved(found[1], _by(a, first), _by(b, last))
    watch(found, points)
    total, size = 0.0, 0.0
    # the integrand is called in one place: where integrals are inside each other, each call is read by itself
    for point, weight in zip(points, weights, strict=True):
        part = weight * integrand(point)
        total, size = total + part, size + abs(stop_gradient(part))
    must_agree(total, result[0], size, 1e-6, _ADVICE)
    integral = float(result[0]) + (total - stop_gradient(total))
    return (integral, *result[1:]) if full_output else (integral, result[1])


def quad_and_nodes(function: Callable[..., Any], first: Any, last: Any, **options: Any) -> Any:
    """What `scipy.integrate.quad` finds, and the nodes in the intervals that it ended with."""
    result = integrate.quad(function, first, last, **options)
    found = result[2]
    count = found["last"] if first != last else 0
    low, high = found["alist"][:count], found["blist"][:count]
    if np.isfinite(first) and np.isfinite(last):
        nodes = nodes_in(low, high, min(first, last), max(first, last))
        return result, nodes if first <= last else backwards(nodes)
    return result, nodes_without_end(first, last, low, high)


def nodes_in(low: Any, high: Any, first: Any, last: Any) -> tuple[Any, ...]:
    """Where the integrand is asked in some intervals, with which weights, and how they follow the bounds.

    The first interval and the last move with the bounds, and those between stay where they are.

    Returns:
        Nodes and weights; by how much the nodes move with each bound, and by which share their weights grow.
    """
    rule = BOUNDED
    span = (high - low)[:, None]
    share = 0.5 + 0.5 * rule[:, 0]
    begins, ends = (low == first)[:, None], (high == last)[:, None]
    parts = (
        low[:, None] + span * share,
        0.5 * span * rule[:, 1],
        begins * (1.0 - share),
        ends * share,
        0.0 * share - begins / span,
        0.0 * share + ends / span,
    )
    return tuple(part.ravel() for part in parts)


def backwards(nodes: Any) -> tuple[Any, ...]:
    """The same where the integral goes from the greater bound to the lesser."""
    at, weights, of_low, of_high, grows_by_low, grows_by_high = nodes
    return at, -weights, of_high, of_low, grows_by_high, grows_by_low


def nodes_without_end(first: Any, last: Any, low: Any, high: Any) -> tuple[Any, ...]:
    """The same for an interval without end: QUADPACK integrates over t in (0, 1], where x = bound ± (1 - t) / t."""
    half = 0.5 * (high - low)[:, None]
    t = low[:, None] + half * (1.0 + UNBOUNDED[:, 0])
    away = (1.0 - t) / t
    weights = (1.0 if last > first else -1.0) * half * UNBOUNDED[:, 1] / (t * t)
    still = np.zeros(away.size)
    if not (np.isfinite(first) or np.isfinite(last)):
        both = (
            np.concatenate([away, -away], axis=None),
            np.concatenate([weights, weights], axis=None),
        )
        return *both, *[np.zeros(2 * away.size)] * 4
    bound = first if np.isfinite(first) else last
    up = max(first, last) == np.inf
    at_bound, bounded = (high == 1.0)[:, None], (low > 0.0)[:, None]
    far = (1.0 - low[:, None]) / np.where(bounded, low[:, None], 1.0)
    follows = at_bound * np.where(bounded, 1.0 - away / np.where(bounded & at_bound, far, 1.0), 1.0)
    grows = at_bound * bounded * (-1.0 if up else 1.0) / np.where(bounded & at_bound, far, 1.0)
    grows = (grows + 0.0 * away).ravel()
    at = bound + away if up else bound - away
    of_first, of_last = (follows.ravel(), still) if np.isfinite(first) else (still, follows.ravel())
    by_first, by_last = (grows, still) if np.isfinite(first) else (still, grows)
    return at.ravel(), weights.ravel(), of_first, of_last, by_first, by_last


def _moved(nodes: Any, by_first: Any, by_last: Any) -> tuple[Any, Any]:
    """Nodes and weights as they follow the bounds, which move by zero that has a derivative."""
    at, weights, of_first, of_last, grow_first, grow_last = nodes
    at, weights = np.asarray(at, float), np.asarray(weights, float)
    grown = 1.0 + by_first * np.asarray(grow_first, float) + by_last * np.asarray(grow_last, float)
    moved = by_first * np.asarray(of_first, float) + by_last * np.asarray(of_last, float)
    return at + moved, weights * grown


def _by(bound: Any, now: Any) -> Any:
    """By how much a bound has moved, which is zero and has a derivative."""
    return bound - now if np.isfinite(now) else 0.0


def dblquad(
    func: Any,
    a: Any,
    b: Any,
    gfun: Any,
    hfun: Any,
    args: Any = (),
    epsabs: Any = 1.49e-8,
    epsrel: Any = 1.49e-8,
) -> Any:
    """`scipy.integrate.dblquad`."""

    def inner(x: Any) -> Any:
        low = gfun(x) if callable(gfun) else gfun
        high = hfun(x) if callable(hfun) else hfun
        return quad(lambda y: func(y, x, *args), low, high, (), 0, epsabs, epsrel)[0]

    return quad(inner, a, b, (), 0, epsabs, epsrel)


def tplquad(
    func: Any,
    a: Any,
    b: Any,
    gfun: Any,
    hfun: Any,
    qfun: Any,
    rfun: Any,
    args: Any = (),
    epsabs: Any = 1.49e-8,
    epsrel: Any = 1.49e-8,
) -> Any:
    """`scipy.integrate.tplquad`."""

    def inner(y: Any, x: Any) -> Any:
        low = qfun(x, y) if callable(qfun) else qfun
        high = rfun(x, y) if callable(rfun) else rfun
        return quad(lambda z: func(z, y, x, *args), low, high, (), 0, epsabs, epsrel)[0]

    return dblquad(inner, a, b, gfun, hfun, (), epsabs, epsrel)


def nquad(func: Any, ranges: Any, args: Any = ()) -> Any:
    """`scipy.integrate.nquad` without options; the error is that of the last integral."""
    *inner, last = ranges
    integrand: Any = functools.reduce(_over, inner, func)
    limits: Any = last(*args) if callable(last) else last
    return quad(lambda x: integrand(x, *args), limits[0], limits[1])


def _over(func: Any, bounds: Any) -> Callable[..., Any]:
    """The integral over a function's first variable, as a function of the others."""

    def of_the_others(*others: Any) -> Any:
        limits: Any = bounds(*others) if callable(bounds) else bounds
        return quad(lambda x: func(x, *others), limits[0], limits[1])[0]

    return of_the_others


def quad_vec(
    f: Any, a: Any, b: Any, epsabs: Any = 1e-200, epsrel: Any = 1e-8, norm: Any = "2",
    cache_size: Any = 100e6, limit: Any = 10000, *, args: Any = (),
) -> Any:  # fmt: skip
    """`scipy.integrate.quad_vec` between bounds that are finite."""
    args = args if isinstance(args, tuple) else (args,)

    def integrand(x: Any) -> Any:
        return np.asarray(f(x, *args)) * 1.0

    first, last = stop_gradient(float(a)), stop_gradient(float(b))
    if not (np.isfinite(first) and np.isfinite(last)):
        raise uncovered(
            "quad_vec over an interval without end", "Call `quad` for each of the numbers."
        )
    options = {"epsabs": epsabs, "epsrel": epsrel, "norm": norm, "limit": limit}
    found = solved(quad_vec_and_nodes, integrand, (0.5,), first, last, full_output=True, **options)
    result = found[0]
    nodes, weights = _moved(found[1], _by(a, first), _by(b, last))
    watch(found, nodes)
    total, size = 0.0, 0.0
    for node, weight in zip(nodes, weights, strict=True):
        part = weight * integrand(node)
        total, size = total + part, size + np.max(np.abs(stop_gradient(part)))
    value = np.asarray(result[0], float)
    must_agree(total, value, size, 1e-6, _ADVICE)
    return value + (total - stop_gradient(total)), result[1]


def quad_vec_and_nodes(function: Callable[..., Any], first: Any, last: Any, **options: Any) -> Any:
    """What `scipy.integrate.quad_vec` finds, and the nodes in the intervals that it ended with."""
    result = integrate.quad_vec(function, first, last, **options)
    low, high = np.transpose(result[2].intervals)
    return result, nodes_in(low, high, first, last)


EQUIVALENTS: list[tuple[Any, Callable[..., Any]]] = same_names(integrate, globals())
