"""Cotangents and tangents of values whose kind is known only at run time.

A cotangent looks like its value: a number for a number, an array of the same shape for an array, a
list for a list or tuple, a dictionary for a dictionary or (by attribute) an object, and None for
what has no derivative. The text of these functions is copied into saved derivatives, so each uses
NumPy and the others only.
"""

from __future__ import annotations

import builtins
from collections import Counter, defaultdict, deque
from collections.abc import Callable
from typing import Any

import numpy as np

from .containers import SEQUENCES, attributes_of, is_built_on_container
from .refusals import unclear


class OfAttributes(dict[str, Any]):
    """The cotangent of an object, by the names of its attributes: its items are what its class makes of these."""

    of_class = True  # by which it is told from dictionaries of classes of the program's own

    def get(self, name: Any, default: Any = None) -> Any:
        if not isinstance(name, str):
            raise of_items("an object")
        return super().get(name, default)

    def __setitem__(self, name: Any, value: Any) -> None:
        if not isinstance(name, str):
            raise of_items("an object")
        super().__setitem__(name, value)

    def copy(self) -> Any:
        return OfAttributes(self)

    def computed_with(self, *others: Any) -> Any:
        raise of_items("an object")

    __add__ = __radd__ = __mul__ = __rmul__ = __neg__ = __truediv__ = __matmul__ = computed_with


def zeros(x: Any, unbound: Any = None, depth: int = 0) -> Any:
    """The cotangent of `x` that is zero.

    `unbound`: what there is instead if `x`, or what is so deep in lists, is nothing.
    """
    if isinstance(x, (float, int)):
        return 0.0
    zero, parts = _zero_and_parts(x, unbound, depth)
    if not parts:
        return zero
    # a stack of our own: data may be nested more deeply than functions may call each other
    pending = [(zero, parts, depth, 1)]
    while pending:
        holder, parts, depth, level = pending.pop()
        if level > MOST_NESTED:
            raise RecursionError("an object holds itself, or is nested too deeply")
        of_list = unbound if isinstance(holder, list) else None
        for key, item in parts:
            if type(item) is float:
                holder[key] = 0.0
                continue
            holder[key], inner = _zero_and_parts(item, of_list, depth - 1)
            if inner:
                pending.append((holder[key], inner, depth - 1, level + 1))
    return zero


MOST_NESTED = 100_000
"""What is nested more deeply holds itself, as far as can be told."""


_NUMBERS = {float, int, np.float64}


def _zero_and_parts(x: Any, unbound: Any, depth: int) -> tuple[Any, Any]:
    """The zero of a value, and the parts of the value whose zeros belong into it, by their keys."""
    if type(x) in (list, tuple):
        numbers = _NUMBERS.issuperset(map(type, x))
        return [0.0] * len(x), () if numbers else enumerate(x)
    if unbound is not None and type(x).__name__.endswith("Undefined"):
        return (unbound if depth == 0 else None), ()
    if isinstance(x, np.ndarray):
        return np.zeros(x.shape, x.dtype if x.dtype.kind in "fc" else np.float64), ()
    if isinstance(x, (complex, np.complexfloating)) and not isinstance(x, float):
        return 0j, ()
    if isinstance(x, (bool, float, int, np.number, np.bool_)):
        return 0.0, ()
    if is_built_on_container(type(x)):
        parts = attributes_of(x)
        return OfAttributes(dict.fromkeys(parts)), parts.items()
    if isinstance(x, (list, tuple, *SEQUENCES)):
        return [0.0] * len(x), enumerate(x)
    if isinstance(x, dict):
        return with_made_items(dict.fromkeys(x), x), x.items()
    if x is None or isinstance(x, (str, bytes, range, slice, type)) or _has_no_parts(x):
        return None, ()
    names = tuple(attributes_of(x))
    if isinstance(x, BaseException):
        names = (*names, "args", "__cause__")
    parts = {name: getattr(x, name) for name in names if hasattr(x, name)}
    return OfAttributes(dict.fromkeys(parts)) if parts else None, parts.items()


def with_made_items(x_bar: Any, x: Any) -> Any:
    """What belongs to a dictionary which makes the items that it has not: it makes their zeros."""
    if not isinstance(x_bar, dict) or not isinstance(x, (Counter, defaultdict)):
        return x_bar
    return defaultdict(_zeros_of_made(x), x_bar)


def _zeros_of_made(x: Any) -> Callable[[], Any]:
    """Makes the zero of an item that a dictionary has just made.

    What makes the items is not called again, unless that changes nothing: it may count, or draw.
    """
    make = int if isinstance(x, Counter) else x.default_factory
    if _only_makes(make):
        return lambda: zeros(make())

    def of_the_last() -> Any:
        item = x[next(reversed(x))]  # Python's dictionaries are in the order of insertion
        if isinstance(item, (int, float, np.number, np.ndarray)):
            return zeros(item)
        message = "this makes an item of a dictionary by a function that may do more than that"
        hint = "Set the item before it is read: `if key not in d: d[key] = []`."
        raise unclear(f"{message}\n{hint}")

    return of_the_last


def _only_makes(make: Any) -> bool:
    """Whether a function makes a container of Python's own, or several in each other, and does nothing else."""
    if isinstance(make, type):
        return make in _PLAIN
    code = getattr(make, "__code__", None)
    if code is None or code.co_freevars:
        return False
    names = getattr(make, "__globals__", {})
    found = [names.get(name, vars(builtins).get(name)) for name in code.co_names]
    return all(isinstance(each, type) and each in _PLAIN for each in found)


_PLAIN = (float, int, complex, bool, list, dict, set, tuple, defaultdict, Counter, deque)


def _has_no_parts(x: Any) -> bool:
    """Whether a value is a function or a module, whose attributes are no data of the program."""
    import types

    functions = (types.FunctionType, types.MethodType, types.BuiltinFunctionType, np.ufunc)
    return isinstance(x, (*functions, types.ModuleType))


def basis(x: Any, unit: Any = 1.0) -> list[Any]:
    """The tangents of a number, an array or a list that are `unit` in one place and zero elsewhere."""
    zero = zeros(x)
    if isinstance(zero, np.ndarray):
        units = np.eye(zero.size, dtype=zero.dtype) * np.asarray(unit, zero.dtype)
        return list(units.reshape((zero.size, *zero.shape)))
    if not isinstance(zero, list):
        return [unit]
    found: list[Any] = []
    for k, item in enumerate(x):
        for one in basis(item, unit):
            found.append(zeros(x))
            found[-1][k] = one
    return found


def accumulate(a: Any, b: Any) -> Any:
    """The sum of two cotangents of one value."""
    if type(a) is float is type(b):
        return a + b
    if type(a) is dict is type(b):
        numbers = _sum_of_numbers(a, b)
        if numbers is not None:
            return numbers
    if not isinstance(a, (list, tuple, dict)) or not isinstance(b, (list, tuple, dict)):
        return _accumulate_leaves(a, b)
    total, pairs = _total_and_pairs(a, b)
    pending = [(total, pairs)]
    while pending:
        holder, pairs = pending.pop()
        for key, p, q in pairs:
            if isinstance(p, (list, tuple, dict)) and isinstance(q, (list, tuple, dict)):
                holder[key], inner = _total_and_pairs(p, q)
                pending.append((holder[key], inner))
            else:
                holder[key] = _accumulate_leaves(p, q)
    return total


def _sum_of_numbers(a: dict[Any, Any], b: dict[Any, Any]) -> dict[Any, Any] | None:
    """The sum of two dictionaries of floats; None of others."""
    total = a.copy()
    for key, q in b.items():
        p = total.get(key, 0.0)
        if not isinstance(p, float) or not isinstance(q, float):
            return None
        total[key] = p + q
    return total


def _accumulate_leaves(a: Any, b: Any) -> Any:
    if a is None or b is None:
        return b if a is None else a
    if isinstance(a, dict) or isinstance(b, dict):
        raise of_items("an object")
    return a + b


def _total_and_pairs(a: Any, b: Any) -> tuple[Any, Any]:
    """What the sum of two containers is put into, and the parts to add, by their keys."""
    if isinstance(a, dict) and isinstance(b, dict):
        keys = {**a, **b}
        total = OfAttributes(keys) if isinstance(a, OfAttributes) else keys
        return total, [(key, a.get(key), b.get(key)) for key in keys]
    if isinstance(a, dict) or isinstance(b, dict):
        raise of_items("an object")
    return [None] * len(a), zip(range(len(a)), a, b, strict=True)


def unbroadcast(x_bar: Any, x: Any) -> Any:
    """The cotangent of `x` from that of `x` broadcast: summed over what broadcasting repeated.

    An axis that `x_bar` lacks is one along which all cotangents are the same.
    """
    if type(x_bar) is float and type(x) in (float, int):
        return x_bar
    if isinstance(x, (list, tuple)):
        if isinstance(x_bar, (list, tuple)):
            if len(x_bar) != len(x):
                raise _of_joined(x)
            return x_bar
        x = np.asarray(x)
    if isinstance(x_bar, dict):
        if x is None or isinstance(x, dict):
            return x_bar  # the cotangent of a cotangent
        raise _of_class(x)
    if type(x_bar) is list:
        x_bar = np.asarray(x_bar)  # of an array that was added to a list
    shape, big = np.shape(x), np.shape(x_bar)
    if big == shape:
        if type(x_bar) in (float, complex) and isinstance(x, (np.ndarray, np.generic)):
            return np.asarray(x_bar)[()]  # of which a mask can take an entry
        return x_bar
    lead = len(big) - len(shape)
    axes = [k for k, n in enumerate(big) if k < lead or (n != 1 and shape[k - lead] == 1)]
    total = np.sum(x_bar, axis=tuple(axes), keepdims=True) if axes else np.asarray(x_bar)
    if shape == ():
        return total.reshape(())[()]
    total = total.reshape(total.shape[max(lead, 0) :])
    return total if total.shape == shape else np.array(np.broadcast_to(total, shape))


def of_items(whose: str) -> ValueError:
    """The error for items of an object that its class gives, in code that was not read."""
    return unclear(
        f"the items of {whose} are read as its class says, which is known only when the program runs\n"
        "Pass it as an argument of its own, or specialise the derivative for example arguments."
    )


def _of_joined(x: Any) -> ValueError:
    """The error for an operator that turned out to make a longer list when the program ran."""
    return unclear(
        f"an operator joins or repeats a {type(x).__name__}, which is known only when the program runs\n"
        "Specialise the derivative for example arguments, or write `[*a, *b]`."
    )


def _of_class(x: Any) -> ValueError:
    """The error for an operator that turned out to make an object when the program ran."""
    return unclear(
        f"an operator on a {type(x).__name__} makes an object, whose class is known only when the program "
        "runs\nCall a method instead, or specialise the derivative for example arguments."
    )


def fill(scalar: Any, x: Any) -> Any:
    """The number `scalar` everywhere in the shape of `x`."""
    if isinstance(x, np.ndarray):
        dtype = x.dtype if x.dtype.kind in "fc" else np.dtype(np.float64)
        return np.full(x.shape, scalar, np.result_type(dtype, scalar))
    if isinstance(x, (list, tuple)):
        return [fill(scalar, item) for item in x]
    if hasattr(getattr(type(x), "__float__", None), "__code__"):
        raise _of_class(x)
    return scalar


def add_at(buffer: Any, *path_and_value: Any) -> Any:
    """`buffer[i] += value`, in place, or `buffer[i][j] += value` with several indices."""
    *path, last, value = path_and_value
    if isinstance(buffer, (float, complex)):
        return buffer + np.sum(value)  # of a number of NumPy's: `x[None]`, `x[x > 0]`
    part: Any = buffer
    for k, index in enumerate(path):
        inner: Any = part[index]
        if isinstance(inner, (np.generic, float, complex)):
            if all(map(_reads_number, (*path[k + 1 :], last))):
                return add_at(buffer, *path[: k + 1], np.sum(value))  # `x[i][()]`
        part = inner
    if type(part) is list and (type(part[last]), type(value)) == (float, float):
        part[last] += value
    elif isinstance(part, np.ndarray):
        _add_to_array(part, last, value)
    elif isinstance(last, slice):
        if isinstance(part, dict):
            raise of_items("an object")
        part[last] = [accumulate(a, b) for a, b in zip(part[last], value, strict=True)]
    elif isinstance(part, dict):
        part[last] = _added(part.get(last), value)
    else:
        part[last] = _added(part[last], value)
    return buffer


def _reads_number(index: Any) -> bool:
    """Whether one of NumPy's numbers may be read by an index: it has no axes."""
    parts = index if isinstance(index, tuple) else (index,)
    return all(part is None or part is ... for part in parts)


def _added(part: Any, value: Any) -> Any:
    """The sum of a part of a buffer and a cotangent: what is a list in the buffer stays one."""
    if isinstance(part, list) and isinstance(value, np.ndarray):
        return [_added(a, b) for a, b in zip(part, value, strict=True)]
    return accumulate(part, value)


def _add_to_array(array: Any, index: Any, value: Any) -> None:
    parts = index if isinstance(index, tuple) else (index,)
    lists = [np.asarray(part) for part in parts if isinstance(part, (list, np.ndarray))]
    if array.dtype.kind != "c" and isinstance(value, (complex, np.complexfloating, np.ndarray)):
        value = np.real(value)
    if any(part.dtype.kind != "b" for part in lists):
        np.add.at(array, index, value)  # the same element may be named twice
    else:
        array[index] += value
