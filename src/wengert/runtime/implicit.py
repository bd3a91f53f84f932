"""Solutions of equations: the linear systems in their derivatives, and whether they are solutions.

The text of these functions is copied into saved derivatives, so each uses NumPy and the others only.
"""

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from .cotangents import zeros
from .refusals import DerivativeWarning, coded


def found(
    solver: Callable[..., Any],
    *operands: Any,
    callee: Callable[..., Any],
    own: int,
    names: tuple[str, ...],
    also: tuple[str, ...] = (),
    state: tuple[int, ...] = (),
) -> Any:
    """What a solver finds that is given a function.

    Args:
        solver: takes the function and then what is left of the operands.
        operands: what the function takes before its point, and the solver after its function.
        callee: the function.
        own: how many operands belong to the function.
        names: the names of the last operands, which are passed by keyword.
        also: the keywords of other functions, whose values the function returns after its own.
        state: which of the function's operands it changes.

    Raises:
        ValueError: what the function returns depends on what an earlier call of it left there.
    """
    captured, rest = operands[:own], operands[own:]
    run = _checked(callee, captured, state) if state else lambda *point: callee(*captured, *point)
    by_place = len(rest) - len(names)
    named = dict(zip(names, rest[by_place:], strict=True))

    def item(k: int) -> Callable[..., Any]:
        return lambda *point: run(*point)[k]

    named |= {name: item(k) for k, name in enumerate(also, 1)}
    return solver(item(0) if also else run, *rest[:by_place], **named)


def _checked(
    callee: Callable[..., Any], captured: tuple[Any, ...], state: tuple[int, ...]
) -> Callable[..., Any]:
    """A function that changes operands, and must return what it returns from what they were at first."""
    at_first = copy.deepcopy([captured[k] for k in state])

    def run(*point: Any) -> Any:
        values = callee(*captured, *point)
        again = list(captured)
        for k, value in zip(state, copy.deepcopy(at_first), strict=True):
            again[k] = value
        if not _same(values, callee(*again, *point)):
            raise _refused(
                "a function that a solver is given returns something else for the same point, by what an "
                "earlier call of it left in an object\n"
                "The derivative of a solution is that of an equation, which remembers nothing. Let the\n"
                "function return the same wherever the solver has been before."
            )
        return values

    return run


def _same(a: Any, b: Any) -> bool:
    if isinstance(a, (tuple, list)):
        return len(a) == len(b) and all(map(_same, a, b))
    return bool(np.all((a == b) | ((a != a) & (b != b))))  # noqa: PLR0124  # NaN is not itself


def linear_root(
    b: Any,
    *operands: Any,
    callee: Callable[..., Any],
    x: Any,
    result: Any,
    linear_solve: Callable[..., Any] | None = None,
    tol: float | None = None,
    transposed: bool = False,
    linear: bool = False,
    flipped: bool = False,
) -> Any:
    """The v for which `callee(*operands, v) + b`, linear in v, vanishes.

    Args:
        b: a tangent of the residual; if transposed, a cotangent of the solution.
        operands: what else `callee` takes.
        callee: the product of the Jacobian, or of its transpose, with v.
        x: the solution at which the Jacobian is taken.
        result: the residual there.
        linear_solve: `(matvec, b) -> v` on vectors, in place of a dense solve. If it has an attribute
            `transposed`, that is called in its place where the system is the transposed one.
        tol: how far x may be off; None to check nothing.
        transposed: whether `callee` multiplies with the transpose.
        linear: whether x was found by this function, so that it need not be checked.
        flipped: whether the matrix is the transpose of that which `linear_solve` is for.

    Returns:
        A tangent of the solution; if transposed, a cotangent of the residual.

    Raises:
        LinAlgError: the Jacobian is singular.
        ValueError: x is no solution, or there are not as many equations as unknowns.
    """
    unknown, given = (result, x) if transposed else (x, result)
    right = -flat(b, given)
    n = right.size
    if flat(zeros(unknown), unknown).size != n:
        raise _wrong_count(flat(result, result).size, flat(x, x).size)

    def matvec(v: Any) -> Any:
        return flat(callee(*operands, unflat(np.asarray(v), unknown)), given)

    check = tol is not None and not linear
    if linear_solve is not None:
        if check:
            _check(x, result, tol, _size_by_sample(matvec, x, transposed))
        solve = getattr(linear_solve, "transposed", linear_solve) if flipped else linear_solve
        return unflat(_solved_by(solve, matvec, right, tol), unknown)
    matrix = np.reshape([matvec(unit) for unit in np.eye(n)], (n, n)).T
    if check:
        scale = _scale(x)
        _check(x, result, tol, np.linalg.norm(matrix * (scale[:, None] if transposed else scale)))
    return unflat(_solved(matrix, right), unknown)


def _solved(matrix: Any, right: Any) -> Any:
    try:
        found = np.linalg.solve(matrix, right)
    except np.linalg.LinAlgError:
        raise _singular() from None
    if not right.size:
        return found
    # a lower bound of the condition number, whatever the units of the rows and columns are
    rows = np.abs(matrix).max(axis=1)
    amplified = np.max(np.abs(matrix) @ np.abs(found) / rows)
    if amplified * np.finfo(float).eps > np.max(np.abs(right) / rows):
        raise _singular()
    return found


def _solved_by(linear_solve: Any, matvec: Any, right: Any, tol: float | None) -> Any:
    found = linear_solve(matvec, right)
    if not isinstance(found, np.ndarray) or found.shape != right.shape:
        kind = type(found).__name__
        shown = f"an array of shape {found.shape}" if kind == "ndarray" else f"a {kind}"
        raise _refused(
            f"`linear_solve` must return an array of shape {right.shape}, not {shown}\n"
            "It takes a function that multiplies a vector with a matrix, and the right-hand side b."
        )
    if tol is None:
        return found
    left, size = np.linalg.norm(matvec(found) - right), np.linalg.norm(right)
    if not left <= tol * size:
        raise _refused(
            f"`linear_solve` left a residual of {left:.2g}, where b is {size:.2g}\n"
            "The derivative is the solution of this linear system. Let it converge further, or allow\n"
            "more with `tol=`."
        )
    return found


def flat(tangent: Any, like: Any) -> Any:
    """The real numbers in a tangent of `like` as one vector; a complex one counts as two."""
    return np.concatenate([np.zeros(0), *_parts(tangent, zeros(like))])


def _parts(tangent: Any, zero: Any) -> list[Any]:
    if zero is None:
        return []
    tangent = zero if tangent is None else tangent
    if isinstance(zero, list):
        return [p for pair in zip(tangent, zero, strict=True) for p in _parts(*pair)]
    if isinstance(zero, dict):
        return [p for key in sorted(zero, key=str) for p in _parts(_item(tangent, key), zero[key])]
    vector: Any = np.ravel(np.broadcast_to(tangent, np.shape(zero)))
    return [vector.real, vector.imag] if np.iscomplexobj(zero) else [vector.real]


def _item(tangent: Any, key: Any) -> Any:
    return tangent[key] if isinstance(tangent, dict) else getattr(tangent, key)


def unflat(vector: Any, like: Any) -> Any:
    """The tangent of `like` whose numbers are those of a vector, in the order of `flat`."""
    return _taken(zeros(like), vector, 0)[0]


def _taken(zero: Any, vector: Any, start: int) -> tuple[Any, int]:
    if isinstance(zero, (list, dict)):
        made: Any = type(zero)(zero)
        keys = range(len(made)) if isinstance(made, list) else sorted(made, key=str)
        for key in keys:
            made[key], start = _taken(zero[key], vector, start)
        return made, start
    if zero is None:
        return None, start
    shape, complex_ = np.shape(zero), np.iscomplexobj(zero)
    n = int(np.prod(shape))
    part = vector[start : start + n]
    if complex_:
        part = part + 1j * vector[start + n : start + 2 * n]
    end = start + (2 * n if complex_ else n)
    if isinstance(zero, np.ndarray):
        return np.array(part, zero.dtype).reshape(shape), end
    return part[0].item(), end


def check_root(x: Any, r: Any, slope: Any, tol: float | None) -> None:
    """ValueError where the number x is no root: the residual is r there, with this slope.

    Raises LinAlgError if the slope is zero.
    """
    if not slope:
        raise _singular()
    if tol is not None:
        _check(x, r, tol, abs(slope) * max(1.0, abs(x)))


def check_solution(x: Any, r: Any, jacobian: Any, tol: float | None) -> None:
    """ValueError where a number or an array x is no root: the residual is r there, with this derivative."""
    if np.size(r) != np.size(x):
        raise _wrong_count(np.size(r), np.size(x))
    if np.ndim(x) == 0:
        check_root(x, r, np.reshape(jacobian, ()), tol)
    elif tol is not None:
        _check(x, r, tol, np.linalg.norm(np.reshape(jacobian, (-1, np.size(x))) * _scale(x)))


def inverse_at_root(jacobian: Any) -> Any:
    """The inverse of a Jacobian.

    Raises LinAlgError if it is singular.
    """
    return np.reshape([_solved(jacobian, unit) for unit in np.eye(len(jacobian))], jacobian.shape).T


def _scale(x: Any) -> Any:
    """What an error in the solution is small or large against."""
    return np.maximum(1.0, np.abs(flat(x, x)))


def _size_by_sample(matvec: Any, x: Any, transposed: bool) -> Any:
    """About the norm of the Jacobian, its columns scaled, from its product with one vector."""
    scale = _scale(x)
    signs = np.where(np.arange(scale.size) * 0.6180339887498949 % 1.0 < 0.5, -1.0, 1.0)
    return np.linalg.norm(matvec(signs) * scale if transposed else matvec(signs * scale))


def _check(x: Any, r: Any, tol: Any, size: Any) -> None:
    """The residual is no larger than an error of `tol` in the solution makes it."""
    residual = float(np.linalg.norm(flat(r, r)))
    if residual <= tol * size:
        return
    raise _refused(
        f"the solver's result is not a solution: the residual there is {residual:.2g}, where an error "
        f"of {tol:g} in it would make {tol * float(size):.2g}\n"
        "The derivative of a solution holds only at a solution. Let the solver converge further, see\n"
        "that it solves the same equation as the residual, or allow more with `tol=`."
    )


def _wrong_count(equations: int, unknowns: int) -> ValueError:
    return _refused(
        f"the residual has {equations} numbers, but the solution has {unknowns}\n"
        "An equation determines its solution if there are as many equations as unknowns."
    )


def _refused(message: str) -> ValueError:
    error = ValueError(message)
    return coded(error, "WG211")


def _singular() -> np.linalg.LinAlgError:
    return np.linalg.LinAlgError(
        "the Jacobian of the residual with respect to the solution is singular here, so the solution "
        "has no derivative: it is a multiple root, or there are solutions arbitrarily close to it"
    )


def watch(found: Any, path: Any, differentiated: bool = False) -> None:
    """Nothing is checked of what is not differentiated."""


def check_jumps(
    found: Any,
    path: Any,
    *operands: Any,
    callee: Callable[..., Any],
    kinks: bool,
    where: tuple[str, ...],
) -> None:
    """Refuse a function that jumps where something that it decides changes.

    Args:
        found: what a solver found, which is not looked at.
        path: points, or a solution with the times `ts` where it is known.
        operands: what the function takes before its point.
        callee: the function; after its value it returns what it decides.
        kinks: whether a change of its slope matters as well, since a derivative is differentiated.
        where: where in the program these things are decided.

    Raises:
        ValueError: it jumps there.
    """
    if isinstance(path, np.ndarray):
        times, at = np.unique(path), lambda t: (float(t),)
    else:
        times, at = np.unique(path.ts), lambda t: (t, path(t))
    run = lambda t: callee(*operands, *at(t))
    results = [run(t) for t in times]
    values = [np.abs(each[0]) for each in results]
    size = np.max(values, axis=0, initial=0.0) + 1e-12 * np.max(values, initial=0.0)
    for k in range(len(times) - 1):
        for n, place in enumerate(where, -len(where)):
            if _same_decision(results[k][n], results[k + 1][n]):
                continue
            low, high = _change(run, times[k], times[k + 1], n)
            if min(low - times[0], times[-1] - high) <= 1e-9 * (times[-1] - times[0]):
                continue  # it ends there
            jump = np.abs(np.subtract(run(high)[0], run(low)[0]))
            if np.any(jump > 1e-6 * size + _slack(callee, operands, at(low), at(high))):
                raise _jumping(low, np.max(jump), place)
            if kinks:
                _warn_of_kink(run, low, high, 1e-4 * (times[k + 1] - times[k]), place)


def _slack(callee: Any, operands: Any, low: Any, high: Any) -> Any:
    """By how much a function changes where the state does as much as between two points: a solution that is
    interpolated does not quite meet itself where a step ends.
    """
    moved = [b + (b - a) for a, b in zip(low[1:], high[1:], strict=True)]
    if not moved:
        return 0.0
    here = callee(*operands, *high)[0]
    return 10 * np.abs(np.subtract(callee(*operands, high[0], *moved)[0], here))


def _change(run: Callable[[Any], Any], low: Any, high: Any, n: int) -> tuple[Any, Any]:
    """Two points, as close as they can be, between which a decision changes."""
    far, decided = high - low, run(low)[n]
    while high - low > 1e-13 * far:
        middle = 0.5 * (low + high)
        if not low < middle < high:
            break
        if _same_decision(run(middle)[n], decided):
            low = middle
        else:
            high = middle
    return low, high


def _same_decision(a: Any, b: Any) -> bool:
    return np.shape(a) == np.shape(b) and bool(np.all(np.equal(a, b)))


def _warn_of_kink(run: Callable[[Any], Any], low: Any, high: Any, step: Any, place: str) -> None:
    """Compare the slopes on both sides of where a decision changes."""
    before = np.subtract(run(low)[0], run(low - step)[0])
    after = np.subtract(run(high + step)[0], run(high)[0])
    if _distance(before, after) > 1e-3 * max(_distance(before, 0.0), _distance(after, 0.0)):
        warnings.warn(
            f"what is integrated has a kink at {low:.6g} ({place}), which moves with what is "
            "differentiated: it has no part in the second derivative",
            DerivativeWarning,
            stacklevel=2,
        )


def _distance(a: Any, b: Any) -> float:
    return float(np.max(np.abs(np.subtract(a, b)), initial=0.0))


def _jumping(at: Any, jump: float, place: str) -> ValueError:
    error = ValueError(
        f"what is integrated jumps by {jump:.3g} at {at:.6g}, a place that moves with what is differentiated "
        f"({place})\n"
        "The derivative of an integral has a term there that this one would miss. Integrate up to the\n"
        "jump and on from it, as two integrals whose bounds say where it is; with `solve_ivp` end the\n"
        "first at a terminal event, and start the second at its time."
    )
    return coded(error, "WG213")
