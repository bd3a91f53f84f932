"""Cotangents and tangents of values whose kind is known only at run time.

A cotangent looks like its value: a number for a number, an array of the same shape for an array, a
list for a list or tuple, a dictionary for a dictionary or (by attribute) an object, and None for
what has no derivative. The text of these functions is copied into saved derivatives, so each uses
NumPy and the others only.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .containers import attributes_of
from .refusals import coded


def zeros(x: Any) -> Any:
    """The cotangent of `x` that is zero."""
    if isinstance(x, np.ndarray):
        return np.zeros(x.shape, x.dtype if x.dtype.kind in "fc" else np.float64)
    if isinstance(x, (complex, np.complexfloating)) and not isinstance(x, float):
        return 0j
    if isinstance(x, (bool, float, int, np.number, np.bool_)):
        return 0.0
    if isinstance(x, (list, tuple)):
        numbers = {float, int, np.float64}.issuperset(map(type, x))
        return [0.0] * len(x) if numbers else [zeros(item) for item in x]
    if isinstance(x, dict):
        return {key: zeros(item) for key, item in x.items()}
    if x is None or isinstance(x, (str, bytes, range, slice, type)) or _has_no_parts(x):
        return None
    names = tuple(attributes_of(x))
    if isinstance(x, BaseException):
        names = (*names, "args", "__cause__")
    return {name: zeros(getattr(x, name)) for name in names if hasattr(x, name)} or None


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
    if a is None or b is None:
        return b if a is None else a
    if isinstance(a, (list, tuple)) and isinstance(b, (list, tuple)):
        return [accumulate(p, q) for p, q in zip(a, b, strict=True)]
    if isinstance(a, dict) and isinstance(b, dict):
        return {key: accumulate(a.get(key), b.get(key)) for key in {**a, **b}}
    return a + b


def unbroadcast(x_bar: Any, x: Any) -> Any:
    """The cotangent of `x` from that of `x` broadcast: summed over what broadcasting repeated.

    An axis that `x_bar` lacks is one along which all cotangents are the same.
    """
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
    shape, big = np.shape(x), np.shape(x_bar)
    if big == shape:
        return x_bar
    lead = len(big) - len(shape)
    axes = [k for k, n in enumerate(big) if k < lead or (n != 1 and shape[k - lead] == 1)]
    total = np.sum(x_bar, axis=tuple(axes), keepdims=True) if axes else np.asarray(x_bar)
    if shape == ():
        return total.reshape(())[()]
    total = total.reshape(total.shape[max(lead, 0) :])
    return total if total.shape == shape else np.array(np.broadcast_to(total, shape))


def _of_joined(x: Any) -> ValueError:
    """The error for an operator that turned out to make a longer list when the program ran."""
    error = ValueError(
        f"an operator joins or repeats a {type(x).__name__}, which is known only when the program runs\n"
        "Specialise the derivative for example arguments, or write `[*a, *b]`."
    )
    return coded(error, "WG101")


def _of_class(x: Any) -> ValueError:
    """The error for an operator that turned out to make an object when the program ran."""
    error = ValueError(
        f"an operator on a {type(x).__name__} makes an object, whose class is known only when the program "
        "runs\nCall a method instead, or specialise the derivative for example arguments."
    )
    return coded(error, "WG101")


def fill(scalar: Any, x: Any) -> Any:
    """The number `scalar` everywhere in the shape of `x`."""
    if isinstance(x, np.ndarray):
        dtype = x.dtype if x.dtype.kind in "fc" else np.dtype(np.float64)
        return np.full(x.shape, scalar, np.result_type(dtype, scalar))
    if isinstance(x, (list, tuple)):
        return [fill(scalar, item) for item in x]
    return scalar


def add_at(buffer: Any, *path_and_value: Any) -> Any:
    """`buffer[i] += value`, in place, or `buffer[i][j] += value` with several indices."""
    *path, last, value = path_and_value
    part = buffer
    for index in path:
        part = part[index]
    if isinstance(part, np.ndarray):
        _add_to_array(part, last, value)
    elif isinstance(last, slice):
        part[last] = [accumulate(a, b) for a, b in zip(part[last], value, strict=True)]
    elif isinstance(part, dict):
        part[last] = accumulate(part.get(last), value)
    else:
        part[last] = _added(part[last], value)
    return buffer


def _added(part: Any, value: Any) -> Any:
    """The sum of a part of a buffer and a cotangent: what is a list in the buffer stays one."""
    if isinstance(part, list) and isinstance(value, np.ndarray):
        return [_added(a, b) for a, b in zip(part, value, strict=True)]
    return accumulate(part, value)


def _add_to_array(array: Any, index: Any, value: Any) -> None:
    parts = index if isinstance(index, tuple) else (index,)
    fancy = any(isinstance(part, (list, np.ndarray)) for part in parts)
    mask = any(isinstance(part, np.ndarray) and part.dtype.kind == "b" for part in parts)
    if array.dtype.kind != "c" and isinstance(value, (complex, np.complexfloating, np.ndarray)):
        value = np.real(value)
    if fancy and not mask:
        np.add.at(array, index, value)  # the same element may be named twice
    else:
        array[index] += value


def project(x_bar: Any, x: Any, owned: bool = False) -> Any:
    """The gradient of `x` in its final form: shape, dtype and realness of `x`, memory of its own.

    `owned` says that nothing else refers to the memory of an array `x_bar`.
    """
    if type(x_bar) is float and type(x) is float:
        return x_bar
    if isinstance(x, (bool, np.bool_)):
        return None
    if isinstance(x, np.ndarray):
        return _project_array(x_bar, x, owned)
    if isinstance(x, (complex, np.complexfloating)) and not isinstance(x, float):
        return complex(0 if x_bar is None else x_bar)
    if isinstance(x, (float, int, np.number)):
        return float(0 if x_bar is None else np.real(x_bar))
    return _project_container(zeros(x) if x_bar is None else x_bar, x)


def _project_array(x_bar: Any, x: Any, owned: bool) -> Any:
    if x.dtype.kind not in "fciu":
        return None
    dtype = x.dtype if x.dtype.kind in "fc" else np.dtype(np.float64)
    value = np.asarray(0.0 if x_bar is None else x_bar)
    if value.dtype.kind == "c" and dtype.kind != "c":
        value = np.real(value)
    if value.shape != x.shape:
        value = np.broadcast_to(value, x.shape)
    elif owned and value.dtype == dtype and value.flags.owndata:
        return value
    return np.array(value, dtype)


def _project_container(x_bar: Any, x: Any) -> Any:
    if isinstance(x, tuple) and hasattr(x, "_fields"):
        return type(x)(*(project(b, item) for b, item in zip(x_bar, x, strict=True)))
    if isinstance(x, (list, tuple)):
        if len(x) == len(x_bar) and all({float}.issuperset(map(type, each)) for each in (x, x_bar)):
            return type(x)(x_bar)
        return type(x)([project(b, item) for b, item in zip(x_bar, x, strict=True)])
    if isinstance(x, dict):
        return {key: project(x_bar.get(key), item) for key, item in x.items()}
    shadow = zeros(x)
    if not isinstance(shadow, dict):
        return None
    items = {name: project(x_bar.get(name), getattr(x, name)) for name in shadow}
    return _like_object(x, items)


def _like_object(x: Any, items: dict[str, Any]) -> Any:
    import dataclasses
    import types

    if not dataclasses.is_dataclass(x):
        return types.SimpleNamespace(**{k: v for k, v in items.items() if v is not None})
    result = object.__new__(type(x))
    for name, item in items.items():
        object.__setattr__(result, name, item)
    return result


def collected_cotangent(items_bar: list[Any], items: Any, reverse: bool = False) -> Any:
    """The cotangent of what a loop iterated over, from the cotangents of the items it reached.

    `reverse` says that the loop ran backwards, so that the items it did not reach are the first.
    """
    if isinstance(items, dict):
        return zeros(items)  # iterating gave its keys
    if isinstance(items, np.ndarray):
        n = len(items_bar)
        start = len(items) - n if reverse else 0
        result = zeros(items)
        if n:
            bars = np.asarray(items_bar)
            result[start : start + n] = bars if items.dtype.kind == "c" else np.real(bars)
        return result
    if complex in map(type, items_bar) or np.complex128 in map(type, items_bar):
        # what is real has a real cotangent, also beside complex items
        reached = items[len(items) - len(items_bar) :] if reverse else items
        pairs = zip(items_bar, reached, strict=False)
        items_bar = [bar.real if isinstance(x, float) else bar for bar, x in pairs]
    missing = len(items) - len(items_bar)
    rest = items[:missing] if reverse else items[len(items) - missing :]
    return [*zeros(rest), *items_bar] if reverse else [*items_bar, *zeros(rest)]


def items_reached(bar: Any, items_bar: list[Any], items: Any, reverse: bool = False) -> Any:
    """The cotangents of the items that a loop reached, from that of all it iterated over."""
    if isinstance(items, dict):
        return zeros(items_bar)  # iterating gave its keys
    listed, n = list(bar), len(items_bar)
    return listed[len(listed) - n :] if reverse else listed[:n]


def add_attr(buffer: Any, x: Any, value: Any, name: str) -> Any:
    """`buffer.name += value`, where `buffer` is the cotangent of the object `x`; in place."""
    fields = getattr(x, "_fields", None)
    if fields is not None and name not in fields:
        fields = None  # a method of a namedtuple
    if fields is None and _is_computed(x, name):
        return accumulate(buffer, _of_receiver(x, value, name))
    if fields is not None and name not in fields:
        raise _of_method(x, name)
    key = fields.index(name) if fields is not None else name
    if buffer is None:
        raise TypeError(f"no derivative flows through attribute {name!r} of {type(x).__name__}")
    buffer[key] = accumulate(buffer[key] if fields is not None else buffer.get(key), value)
    return buffer


def _is_computed(x: Any, name: str) -> bool:
    """Whether an attribute is not kept by an object, but made by its class: a method, a property."""
    import types

    found = getattr(type(x), name, None)
    if isinstance(x, BaseException) and name in ("args", "__cause__"):
        return False
    if isinstance(found, types.MemberDescriptorType):
        return False
    if not callable(found) and hasattr(type(found), "__get__"):
        return True  # also a cached property: what it has computed is kept as what was assigned is
    return name not in getattr(x, "__dict__", {}) and (found is None or callable(found))


def _of_receiver(x: Any, method_bar: Any, name: str) -> Any:
    """The cotangent of an object from that of one of its methods."""
    if callable(getattr(type(x), name, None)):
        return None if method_bar is None else method_bar["__self__"]
    error = ValueError(
        f"the attribute {name!r} of {type(x).__name__} is computed by its class, which is known only when "
        "the program runs\n"
        "Call a method instead; or pass such objects as arguments of their own, or in a short list."
    )
    raise coded(error, "WG101")


def _of_method(x: Any, name: str) -> ValueError:
    error = ValueError(
        f"{name!r} of the {type(x).__name__} is no field of it, which is known only when the program runs\n"
        "Specialise the derivative for example arguments, or make the new tuple by its class."
    )
    return coded(error, "WG101")


def shadow_attr(x_bar: Any, x: Any, name: str) -> Any:
    """The part of the cotangent of the object `x` that belongs to its attribute `name`."""
    fields = getattr(x, "_fields", ())
    if name in fields:
        return x_bar[fields.index(name)]
    if _is_computed(x, name):
        _of_receiver(x, None, name)
        return {"__self__": x_bar, "__func__": None}
    item = x_bar.get(name) if isinstance(x_bar, dict) else getattr(x_bar, name, None)
    return zeros(getattr(x, name)) if item is None else item


def shadow_items(x_bar: Any) -> list[Any]:
    """The tangents of the items that iterating over a container gives."""
    if isinstance(x_bar, dict):
        return [zeros(key) for key in x_bar]
    return list(x_bar)


def _wrong_rule(message: str) -> ValueError:
    error = ValueError(message)
    return coded(error, "WG301")


def rule_pair(returned: Any, rule: str = "the rule") -> Any:
    """What a hand-written rule returned, which must be a result and a pullback."""
    if isinstance(returned, tuple) and len(returned) == 2 and callable(returned[1]):
        return returned
    raise _wrong_rule(
        f"{rule} returned a value of type {type(returned).__name__}, not a pair (result, pullback)\n"
        "An rrule returns the result of the function and a function that gives the cotangents."
    )


def rule_cotangents(returned: Any, *operands: Any, rule: str = "the rule") -> Any:
    """What the pullback of a hand-written rule returned, as a list of one cotangent per operand.

    Raises ValueError if their number, a type or a shape is wrong.
    """
    cotangents = list(returned) if isinstance(returned, tuple) else [returned]
    if not operands:
        return cotangents
    if len(cotangents) != len(operands):
        raise _wrong_rule(
            f"the pullback of {rule} returned {len(cotangents)} "
            f"cotangent{'s' * (len(cotangents) != 1)} for {len(operands)} "
            f"argument{'s' * (len(operands) != 1)}\n"
            "It returns a tuple with one cotangent for each positional argument, None for zero; a\n"
            "bare cotangent if there is one argument."
        )
    return [
        _of_rule(x_bar, x, f"the pullback of {rule} returned a cotangent", f"argument {k}")
        for k, (x_bar, x) in enumerate(zip(cotangents, operands, strict=True))
    ]


def rule_tangent(returned: Any, rule: str = "the rule") -> Any:
    """What a hand-written pushforward returned: a result and its tangent.

    Raises ValueError if it is no pair, or if the type or the shape of the tangent is wrong.
    """
    if not isinstance(returned, tuple) or len(returned) != 2:
        raise _wrong_rule(
            f"{rule} returned a value of type {type(returned).__name__}, not a pair (result, tangent)\n"
            "An frule returns the result of the function and the tangent of the result."
        )
    y, y_dot = returned
    return y, _of_rule(y_dot, y, f"{rule} returned a tangent", "the result")


def cotangents_by_rule(
    rule: Any, name: str, y_bar: Any, /, *operands: Any, **options: Any
) -> list[Any]:
    """The cotangents of operands, by a hand-written rule that is run for them."""
    pullback = rule_pair(rule(*operands, **options), name)[1]
    return rule_cotangents(pullback(y_bar), *operands, rule=name)


def tangent_by_rule(rule: Any, name: str, primals: Any, tangents: Any, /, **options: Any) -> Any:
    """The tangent of a result, by a hand-written rule that is run for it."""
    return rule_tangent(rule(primals, tangents, **options), name)[1]


def partial_of_row(partial: Any, like: Any, row: str) -> Any:
    """A partial that a row of a rule gave: it has the shape of the result, or is spread over that."""
    shape, given = np.shape(like), np.shape(partial)
    if np.asarray(partial).dtype.kind not in "biufc":
        raise _wrong_rule(f"{row} gave a partial of type {type(partial).__name__}")
    spread = len(given) <= len(shape) and all(
        n in (1, m) for n, m in zip(given[::-1], shape[::-1], strict=False)
    )
    if not spread:
        raise _wrong_rule(
            f"{row} gave a partial of shape {given} for a result of shape {shape}\n"
            "A partial has the shape of the result, or is one number."
        )
    return partial if given in ((), shape) else np.broadcast_to(partial, shape)


def given_by_row(found: Any, like: Any, returned: str, whose: str) -> Any:
    """A cotangent or tangent that a row of a rule, or a hook, gave for a value."""
    return _of_rule(found, like, returned, whose)


def _of_rule(found: Any, x: Any, returned: str, whose: str) -> Any:
    """A cotangent or tangent that a hand-written rule gave for `x`; None stands for zeros."""
    if found is None:
        return zeros(x)
    if isinstance(x, (dict, list, tuple)):
        return _of_rule_in_parts(found, x, returned, whose)
    if not isinstance(x, (np.ndarray, float, int, complex, np.number)):
        return found
    array, belongs = np.asarray(found), whose.split(maxsplit=1)[0].replace("the", "result")
    hint = f"A {returned.rsplit(maxsplit=1)[-1]} has the shape of the {belongs} it belongs to."
    if array.dtype.kind not in "biufc":
        raise _wrong_rule(f"{returned} of type {type(found).__name__} for {whose}\n{hint}")
    if array.shape != np.shape(x):
        shapes = f"of shape {array.shape} for {whose}, whose shape is {np.shape(x)}"
        raise _wrong_rule(f"{returned} {shapes}\n{hint}")
    if array.dtype.kind == "c" and not np.iscomplexobj(x):
        if belongs == "result":
            raise _wrong_rule(f"{returned} that is complex for {whose}, which is real\n{hint}")
        found = np.real(found)
    if not isinstance(x, np.ndarray):
        return found
    return np.asarray(found, x.dtype if x.dtype.kind in "fc" else None)


def _of_rule_in_parts(found: Any, x: Any, returned: str, whose: str) -> Any:
    """The same for a container; only entries without a derivative may be left out of a dictionary."""
    alike = isinstance(found, dict) if isinstance(x, dict) else isinstance(found, (list, tuple))
    keys = set(x.keys() if isinstance(x, dict) else range(len(x)))
    given = set((found.keys() if isinstance(x, dict) else range(len(found))) if alike else ())
    if not alike or given - keys or any(zeros(x[key]) is not None for key in keys - given):
        kind = returned.rsplit(maxsplit=1)[-1]
        raise _wrong_rule(
            f"{returned} that does not fit {whose}, a {type(x).__name__} of {len(x)}\n"
            f"A {kind} has the structure of what it belongs to."
        )
    parts = {
        key: _of_rule(found[key] if key in given else None, x[key], returned, f"{whose}[{key!r}]")
        for key in (x if isinstance(x, dict) else range(len(x)))
    }
    if isinstance(x, dict):
        return parts
    return type(x)(*parts.values()) if hasattr(x, "_fields") else type(x)(parts.values())


def entries_of(merged: Any, x: Any, others: Any) -> Any:
    """The entries of a merged dictionary that came from `x`; zeros for those that `others` took the place of."""
    if not hasattr(x, "keys"):
        return 0.0
    lost = () if others is None else others
    return {key: merged[key] if key in merged and key not in lost else zeros(x[key]) for key in x}


def as_returned(cotangents: Any, returned: Any) -> Any:
    """A cotangent of what a pullback returned: bare if it returned a bare value."""
    return cotangents if isinstance(returned, tuple) else cotangents[0]


def values_at(mapping: Any, keys: list[Any]) -> list[Any]:
    """The transpose of `dict_of`: of a key that occurs twice only the last value counted."""
    last = {key: k for k, key in enumerate(keys)}
    return [mapping[key] if last[key] == k else zeros(mapping[key]) for k, key in enumerate(keys)]
