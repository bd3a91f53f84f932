"""Matrices of derivatives, in Python over pullbacks and pushforwards.

Nothing here mutates anything, so that wengert reads it like any user's code when a Jacobian is taken
inside a program that is itself being differentiated.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from ..errors import BadArgument
from ..ir.callers import calling_span
from ..ops.program import checks
from ..ops.program.checks import counted
from ..ops.program.cotangents import basis
from ..ops.program.refusals import of_matrix
from ..runtime.containers import CONTENTS, attributes_of, is_built_on_container, reads_plainly
from .derivative import by_numbers
from .gradients import grad, hvp
from .linear_maps import guarded_pullback, pullback, pushforward


def is_number(x: Any) -> bool:
    """Whether a value is one number, and no array without dimensions.

    Of a value of unknown kind the answer while reading is no: arrays can do what numbers can.
    """
    return isinstance(_plain(x), (float, int, complex))


def as_array(y: Any) -> Any:
    """A list or tuple of numbers as an array; what is one value already as it is."""
    return as_rows(y) if isinstance(y, (list, tuple)) else y


def as_rows(items: Any) -> Any:
    """Numbers, or arrays of one shape, as the rows of an array."""
    return by_numbers().rows(items)


def directions(x: Any, unit: Any = 1.0) -> Any:
    """The tangents that are `unit` in one place and zero elsewhere."""
    return basis(_plain(x), unit)


def must_span(x: Any) -> None:
    """Refuse an argument whose numbers do not form an array."""
    checks.spanning(_plain(x))


def must_be_real_result(y: Any) -> None:
    """Refuse a result that has no Jacobian."""
    checks.real_result(_plain(y))


def must_be_real_argument(x: Any) -> None:
    """Refuse an argument with more than one second derivative."""
    checks.real_argument(_plain(x))


def _plain(x: Any) -> Any:
    return by_numbers().plain(x)


OPS = {
    as_rows: np.array,
    directions: basis,
    must_span: checks.spanning,
    must_be_real_result: checks.real_result,
    must_be_real_argument: checks.real_argument,
}
"""What a call of each is read as."""


def filled(matrix: Any, again: Any) -> Any:
    """A matrix, or several, with the entries of another one where they are NaN."""
    if isinstance(matrix, np.ndarray):
        return np.where(np.isnan(matrix), again, matrix)
    if isinstance(matrix, (dict, list, tuple)):
        return _for_parts(matrix, lambda key: filled(matrix[key], again[key]))
    return matrix


def explained(x: Any, y: Any, mode: str) -> str:
    """The mode for an argument and a result, in words."""
    if has_parts(x):
        varying = (key for key in _keys(x) if may_vary(_part(x, key)))
        parts = (f"[{key!r}]: {explained(_part(x, key), y, mode)}" for key in varying)
        return "\n  ".join(("part by part", *parts))
    inputs, outputs = int(np.size(x)), int(count(y))
    costs = {"forward": counted(inputs, "pushforward"), "reverse": counted(outputs, "pullback")}
    if mode != "auto":
        return f"{mode}, as mode={mode!r} says: {costs[mode]}"
    forward = is_number(x) or (not is_number(y) and prefers_forward(x, y))
    taken, other = ("forward", "reverse") if forward else ("reverse", "forward")
    return (
        f"{taken}, as {counted(inputs, 'number')} in and {counted(outputs, 'number')} out take "
        f"{costs[taken]}; {other} would take {costs[other]}"
    )


def may_vary(x: Any) -> bool:
    """Whether a part of an argument is one to differentiate with respect to: a text is none."""
    return has_parts(x) or isinstance(_plain(x), _NUMBERS)


_NUMBERS = (int, float, complex, np.number, np.ndarray, list, tuple)


def has_parts(x: Any) -> bool:
    """Whether a value is a dictionary, a dataclass, or a list or tuple that is no row or table of numbers.

    Of a value of unknown kind the answer while reading is no.

    Raises:
        BadArgument: it is built on a container, and has more than numbers in order.
    """
    if is_built_on_container(type(x)) and not _is_row(x):
        raise BadArgument(*of_matrix(type(x)), calling_span())
    if isinstance(x, (list, tuple)):
        if hasattr(x, "_fields"):
            return True
        lengths = {len(item) if isinstance(item, (list, tuple)) else None for item in x}
        return len(lengths) > 1 or any(isinstance(i, np.ndarray) or has_parts(i) for i in x)
    return isinstance(x, dict) or dataclasses.is_dataclass(x)


def _is_row(x: Any) -> bool:
    """Whether an object that is built on a container has nothing but numbers in order."""
    own = attributes_of(x)
    items = own[CONTENTS]
    is_plain = len(own) == 1 and reads_plainly(type(x)) and isinstance(items, (list, tuple))
    return is_plain and all(map(is_number, items))


def _keys(x: Any) -> Any:
    """The keys, fields or indices of a container's parts."""
    if isinstance(x, dict):
        return list(x)
    if dataclasses.is_dataclass(x):
        return [field.name for field in dataclasses.fields(x)]
    return list(range(len(x)))


def _part(x: Any, key: Any) -> Any:
    return getattr(x, key) if dataclasses.is_dataclass(x) else x[key]


def _for_parts(x: Any, of_part: Any) -> Any:
    """What a function gives for each key or index of a container, in a container like it."""
    if isinstance(x, dict):
        return {key: of_part(key) for key in x}
    if dataclasses.is_dataclass(x):
        return _like(x, {key: of_part(key) for key in _keys(x)})
    each = [of_part(j) for j in range(len(x))]
    if hasattr(x, "_fields"):
        return tuple.__new__(type(x), each)
    return tuple(each) if isinstance(x, tuple) else each


def _like(x: Any, parts: Any) -> Any:
    """An object of the class of a dataclass, with other attributes: nothing of its own code runs."""
    made = object.__new__(type(x))
    for name, part in parts.items():
        object.__setattr__(made, name, part)
    return made


def _as_arrays(y: Any) -> Any:
    """A result, its lists and tuples of numbers as arrays."""
    return _for_parts(y, lambda key: _as_arrays(_part(y, key))) if has_parts(y) else as_array(y)


def _each(one: Any, function: Any, argnums: Any, single: Any, args: Any) -> Any:
    """The matrix for each of `argnums`."""
    matrices = tuple([_by_parts(one, function, args, k) for k in argnums])
    return matrices[0] if single else matrices


def _by_parts(one: Any, function: Any, args: Any, k: Any) -> Any:
    """The matrix for an argument: by part of the result, then by part of the argument."""
    return _result_first(args[k], _by_part(one, function, args, k))


def _by_part(one: Any, function: Any, args: Any, k: Any) -> Any:
    x = args[k]
    if not has_parts(x):
        return one(function, args, k)

    def in_its_place(key: Any) -> Any:
        return lambda part: function(*args[:k], _with_part(x, key, part), *args[k + 1 :])

    def of_part(key: Any) -> Any:
        part = _part(x, key)
        return _by_part(one, in_its_place(key), (part,), 0) if may_vary(part) else None

    return _for_parts(x, of_part)


def _with_part(x: Any, key: Any, part: Any) -> Any:
    """A container with another part in a place."""
    return _for_parts(x, lambda other: part if other == key else _part(x, other))


def _result_first(x: Any, matrices: Any) -> Any:
    """By part of the result and then of the argument, where it is the other way round."""
    if not has_parts(x):
        return matrices
    first = _first_matrix(x, matrices)
    if not has_parts(first):
        return matrices
    return _for_parts(first, lambda part: _result_first(x, _of_part(x, matrices, part)))


def _first_matrix(x: Any, matrices: Any) -> Any:
    if not has_parts(x):
        return matrices
    varying = [key for key in _keys(x) if may_vary(_part(x, key))]
    return _first_matrix(_part(x, varying[0]), _part(matrices, varying[0]))


def _of_part(x: Any, matrices: Any, part: Any) -> Any:
    """What belongs to one part of the result, for each part of an argument."""
    if not has_parts(x):
        return None if matrices is None else _part(matrices, part)
    return _for_parts(x, lambda key: _of_part(_part(x, key), _part(matrices, key), part))


def _reverse(function: Any, args: Any, k: Any, pull: Any = pullback) -> Any:
    y, back = pull(lambda *point: _as_arrays(function(*point)), *args)
    if has_parts(y):
        part_of = lambda key: lambda *point: _part(function(*point), key)
        return _for_parts(y, lambda key: _reverse(part_of(key), args, k, pull))
    return _of_rows(y, back, args, k)


def _guarded_reverse(function: Any, args: Any, k: Any) -> Any:
    """The same where a row gave NaN: a zero of its cotangent may have met an infinite derivative."""
    return _reverse(function, args, k, guarded_pullback)


def _of_rows(y: Any, back: Any, args: Any, k: Any) -> Any:
    """The matrix of which a pullback gives the rows."""
    must_be_real_result(y)
    if is_number(y):
        return as_array(back(1.0)[k])
    must_span(args[k])
    rows = [as_array(back(y_bar)[k]) for y_bar in directions(y)]
    return np.reshape(as_rows(rows), np.shape(y) + np.shape(args[k]))


def _forward(function: Any, args: Any, k: Any, gaps: Any = False) -> Any:
    x = args[k]
    must_span(x)

    def of_one(point: Any, k: int = k) -> Any:
        return _as_arrays(function(*args[:k], point, *args[k + 1 :]))

    y, push = pushforward(of_one, x)
    columns = [push(1.0)] if is_number(x) else [push(x_dot) for x_dot in directions(x)]
    matrix = _stacked(y, columns, x, gaps)
    if not np.iscomplexobj(x):
        return matrix
    columns = [push(1j)] if is_number(x) else [push(x_dot) for x_dot in directions(x, 1j)]
    return _plus(matrix, _stacked(y, columns, x, gaps))  # ∂/∂Re + i ∂/∂Im, as in every gradient


def _stacked(y: Any, columns: Any, x: Any, gaps: Any = False) -> Any:
    """The matrix of which columns are given; of a result that has parts, one for each of them.

    A gradient has `gaps`: it is None in the place of what does not vary.
    """
    if has_parts(y):
        of_part = lambda key: [_part(column, key) for column in columns]
        return _for_parts(y, lambda key: _stacked(_part(y, key), of_part(key), x, gaps))
    if gaps and y is None:
        return None
    must_be_real_result(y)
    if is_number(x):
        return columns[0]
    rows = np.reshape(as_rows(columns), (np.size(x), *np.shape(y)))
    return np.reshape(np.moveaxis(rows, 0, -1), np.shape(y) + np.shape(x))


def _plus(real: Any, imaginary: Any) -> Any:
    """What came of the real parts, and i times what came of the imaginary ones."""
    if has_parts(real):
        return _for_parts(real, lambda key: _plus(_part(real, key), _part(imaginary, key)))
    return real + 1j * imaginary


def _auto(function: Any, args: Any, k: int) -> Any:
    if is_number(args[k]):
        return _forward(function, args, k)
    y = function(*args)
    if is_number(y):
        return _reverse(function, args, k)
    if prefers_forward(args[k], y):
        return _forward(function, args, k)
    return _reverse(function, args, k)


def prefers_forward(x: Any, y: Any) -> Any:
    """Whether there are no more numbers to push forward from than to pull back from."""
    return np.size(x) <= count(y)


def count(y: Any) -> Any:
    """How many numbers a value has."""
    if not has_parts(y):
        return np.size(y)
    return sum([count(_part(y, key)) for key in _keys(y)])


def _of_gradient(gradient: Any, args: Any, k: Any) -> Any:
    return _by_parts(lambda *given: _forward(*given, gaps=True), gradient, args, k)


def _each_hessian_of(function: Any, args: Any, k: Any, other: Any) -> Any:
    matrix = lambda *point, k=k: _by_parts(_auto, function, point, k)
    return _by_parts(_forward, matrix, args, other)


def _diag_of(function: Any, args: Any, k: int) -> Any:
    x = args[k]
    must_be_real_argument(x)
    must_span(x)
    if is_number(x):
        return hvp(function, k)(*args, 1.0)

    def gradient(point: Any, k: int = k) -> Any:
        return grad(function, k)(*args[:k], point, *args[k + 1 :])

    _, push = pushforward(gradient, x)
    products = [np.sum(as_array(push(v)) * as_array(v)) for v in directions(x)]
    return np.reshape(as_rows(products), np.shape(x))


def jacobian(function: Any, argnums: Any, single: Any, args: Any) -> Any:
    return _each(_auto, function, argnums, single, args)


def jacobian_forward(function: Any, argnums: Any, single: Any, args: Any) -> Any:
    return _each(_forward, function, argnums, single, args)


def _jacobian_reverse(function: Any, argnums: Any, single: Any, args: Any) -> Any:
    return _each(_reverse, function, argnums, single, args)


def guarded_jacobian_reverse(function: Any, argnums: Any, single: Any, args: Any) -> Any:
    return _each(_guarded_reverse, function, argnums, single, args)


def hessian(function: Any, argnums: Any, single: Any, args: Any) -> Any:
    if single:
        return _of_gradient(grad(function, argnums[0]), args, argnums[0])
    gradients = lambda *point: dict(zip(argnums, grad(function, argnums)(*point), strict=True))
    columns = [_of_gradient(gradients, args, k) for k in argnums]
    return tuple([tuple([column[k] for column in columns]) for k in argnums])


def hessian_of_each(function: Any, argnums: Any, single: Any, args: Any) -> Any:
    blocks = [tuple([_each_hessian_of(function, args, k, j) for j in argnums]) for k in argnums]
    return blocks[0][0] if single else tuple(blocks)


def diag_hessian(function: Any, argnums: Any, single: Any, args: Any) -> Any:
    return _each(_diag_of, function, argnums, single, args)


MODES = {"auto": jacobian, "forward": jacobian_forward, "reverse": _jacobian_reverse}
WRITTEN = (
    _for_parts, _keys, _part, _like, _as_arrays, _each, _by_parts, _by_part, _with_part,
    _result_first, _first_matrix, _of_part,
    _forward, _reverse, _guarded_reverse, _of_rows, _stacked, _plus, _auto, prefers_forward, count, _of_gradient,
    _each_hessian_of, _diag_of, hessian_of_each,
    jacobian, jacobian_forward, _jacobian_reverse, guarded_jacobian_reverse, hessian, diag_hessian,
)  # fmt: skip
"""What is read inside programs: a Jacobian of a Jacobian is no recursion."""
