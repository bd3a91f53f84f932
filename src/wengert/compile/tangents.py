"""What passes between a user and a derivative that is called later.

Tangents and cotangents are checked against what they belong to; what is kept from one call to the
next is memory of its own, which the user cannot change.
"""

from __future__ import annotations

import dataclasses
import reprlib
import types
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import repeat
from typing import Any, NamedTuple

import numpy as np

from ..errors import BadTangent
from ..frontend.boundary import signature, taking_apart
from ..ir.types import (
    UNKNOWN,
    Array,
    Kind,
    Map,
    Number,
    Path,
    Seq,
    Struct,
    is_differentiable,
    leaves,
    step_into,
)
from ..runtime.containers import (
    attributes_of,
    is_built_on_container,
    made,
    own_attributes,
    values_held,
)
from ..runtime.copies import snapshot
from ..runtime.cotangents import with_made_items, zeros
from ..runtime.gradients import like_built_on, parts_of_gradient
from ..runtime.reached import closed_over


class Meant(NamedTuple):
    """How messages speak of a tangent and of the value that it belongs to."""

    what: str
    whose: str


def leaves_like(
    value: Any, given: Any, what: str, whose: str, kind: Kind | None = None
) -> list[Any]:
    """The differentiable leaves of a tangent or cotangent; None stands for zeros.

    Args:
        value: what it belongs to.
        given: the tangent or cotangent, of the structure of `value`.
        what: how a message speaks of the tangent or cotangent: "the cotangent".
        whose: how it speaks of the value: "the result".
        kind: as what the program knows the value; if None, as what it is.

    Raises:
        BadTangent: the structure, a shape or a type is wrong.
    """
    kind = signature.kind_of(value) if kind is None else kind
    if given is None:
        return [_zero(leaf) for leaf, _, _ in _differentiable(kind, value)]
    meant = Meant(what, whose)
    try:
        _compare_structure(kind, given)
        found = _differentiable(kind, given)
    except (TypeError, KeyError, AttributeError, IndexError, ValueError):
        raise _wrong_structure(meant, value, given) from None
    pairs = zip(found, _differentiable(kind, value), strict=True)
    return [_checked(x, like, leaf, path, meant) for (x, _, _), (like, leaf, path) in pairs]


def whole_like(value: Any, given: Any, what: str, whose: str) -> Any:
    """A tangent as generated code keeps that of a container or object which is not taken apart."""
    filled = iter(leaves_like(value, given, what, whose))

    def rebuilt(kind: Kind, value: Any) -> Any:
        if not isinstance(kind, Struct):
            return next(filled) if is_differentiable(kind) else zeros(value)
        items = [
            rebuilt(item, taking_apart.step(value, step_into(kind, key)))
            for key, item in zip(kind.keys, kind.items, strict=True)
        ]
        in_order = kind.form in ("tuple", "list", "namedtuple")
        return items if in_order else dict(zip(kind.keys, items, strict=True))

    return rebuilt(signature.kind_of(value), value)


def _differentiable(kind: Kind, value: Any) -> list[tuple[Any, Kind, Path]]:
    pairs = zip(taking_apart.leaf_values(kind, value), leaves(kind), strict=True)
    return [(x, leaf, path) for x, (path, leaf) in pairs if is_differentiable(leaf)]


def _compare_structure(kind: Kind, given: Any) -> None:
    """Refuse items that are too many; those that are missing are missed where they are read."""
    if not isinstance(kind, Struct) or not is_differentiable(kind):
        return
    if kind.form in ("tuple", "list") and len(given) != len(kind.keys):
        raise ValueError(kind.form)
    if kind.form == "dict" and not given.keys() <= set(kind.keys):
        raise ValueError(kind.form)
    for key, item in zip(kind.keys, kind.items, strict=True):
        if isinstance(item, Struct):
            _compare_structure(item, taking_apart.step(given, step_into(kind, key)))


def _zero(value: Any) -> Any:
    return 0.0 if type(value) in _SCALARS else zeros(value)


def _checked(given: Any, value: Any, kind: Kind, path: Path, meant: Meant) -> Any:
    if type(given) is float and type(value) is float:
        return given
    if given is None:
        return _zero(value)
    if kind == UNKNOWN:
        kind = signature.kind_of(value)
    if isinstance(kind, Seq) or isinstance(value, (list, tuple)):
        return _checked_items(given, value, path, meant)
    if isinstance(kind, Map):
        if not isinstance(given, dict) or given.keys() != value.keys():
            raise _wrong_structure(meant, value, given)
        return {k: _checked(given[k], item, kind.item, path, meant) for k, item in value.items()}
    if isinstance(kind, Struct):
        return as_cotangent(given, value)
    if not isinstance(kind, (Number, Array)):
        return with_made_items(given, value)
    signature.refuse_numbers_with_derivatives(given)
    found = _as_array(given)
    if found is None or not (found.dtype.kind in "biufc" or hasattr(given, "__float__")):
        raise BadTangent(
            f"{meant.what} is a value of type {type(given).__name__}{_at(path)}",
            f"Pass {_wanted(value)}.",
        )
    if found.shape != np.shape(value):
        there = " there" if path else ""
        raise BadTangent(
            f"{meant.what} has shape {found.shape}{_at(path)}, but {meant.whose} has shape "
            f"{np.shape(value)}{there}",
            f"Pass {_wanted(value)}.",
        )
    if found.dtype.kind == "c" and not np.iscomplexobj(value):
        raise BadTangent(
            f"{meant.what} is complex{_at(path)}, but {meant.whose} is real", "Pass its real part."
        )
    if isinstance(kind, Number):
        return complex(given) if found.dtype.kind == "c" else float(given)
    return found if found.dtype.kind in "fc" else found.astype(float)


def _checked_items(given: Any, value: Any, path: Path, meant: Meant) -> Any:
    """A list or tuple that is not taken apart: its items have to look like those of `value`."""
    if not isinstance(given, (list, tuple, np.ndarray)) or len(given) != len(value):
        raise _wrong_structure(meant, value, given)
    pairs = list(zip(given, value, strict=True))
    return [_checked(x, like, signature.kind_of(like), path, meant) for x, like in pairs]


def _as_array(given: Any) -> Any:
    try:
        return given if _is_array(given) else np.asarray(given)
    except ValueError:  # lists of different lengths
        return None


def _is_array(x: Any) -> bool:
    """Whether something is an array of NumPy's, or looks like one; a number with derivatives is none."""
    return hasattr(type(x), "__array_function__") and not hasattr(type(x), "__compute_op__")


def _wanted(value: Any) -> str:
    shape = np.shape(value)
    return f"an array of shape {shape}" if shape else "a number"


def _at(path: Path) -> str:
    """` at ['a'][0].w`: the way to a leaf."""
    steps = [f".{step.key}" if step.how == "attr" else f"[{step.key!r}]" for step in path]
    return f" at {''.join(steps)}" if steps else ""


def _wrong_structure(meant: Meant, value: Any, given: Any) -> BadTangent:
    return BadTangent(
        f"{meant.what} does not have the structure of {meant.whose}",
        f"It should look like {_short(value)}, not like {_short(given)}.",
    )


def _short(value: Any) -> str:
    return " ".join(reprlib.repr(value).split())


# --- inside generated code ------------------------------------------------------------------


def as_cotangent(gradient: Any, value: Any) -> Any:
    """The gradient of a value as generated code keeps it: lists and dictionaries for containers and objects."""
    if is_built_on_container(type(value)):
        return _cotangents(parts_of_gradient(gradient), attributes_of(value))
    if isinstance(gradient, (list, tuple)):
        items = value if isinstance(value, (list, tuple)) else repeat(None)
        return list(map(as_cotangent, gradient, items))
    if isinstance(gradient, dict):
        return _cotangents(gradient, value if isinstance(value, dict) else {})
    if isinstance(gradient, types.SimpleNamespace) or dataclasses.is_dataclass(gradient):
        return _cotangents(attributes_of(gradient), _parts_of(value))
    return gradient


def _cotangents(gradients: dict[Any, Any], values: dict[Any, Any]) -> dict[Any, Any]:
    return {key: as_cotangent(gradient, values.get(key)) for key, gradient in gradients.items()}


def _parts_of(value: Any) -> dict[str, Any]:
    """What an object keeps in its attributes, a function in its closure and a method in its two parts."""
    match value:
        case types.FunctionType():
            return closed_over(value)
        case types.MethodType():
            return {"__self__": value.__self__, "__func__": value.__func__}
        case _:
            return attributes_of(value)


def as_structured(value: Any, bar: Any) -> Any:
    """What generated code keeps of a value, in the structure of the value itself."""
    if isinstance(bar, list):
        items = [as_structured(x, x_bar) for x, x_bar in zip(value, bar, strict=True)]
        return tuple.__new__(type(value), items) if hasattr(value, "_fields") else items
    if not isinstance(bar, dict):
        return bar
    if is_built_on_container(type(value)):
        kept = attributes_of(value)
        return like_built_on(
            type(value), {name: as_structured(kept[name], bar[name]) for name in bar}
        )
    if isinstance(value, dict):
        return {key: as_structured(value[key], item) for key, item in bar.items()}
    fields = {name: as_structured(getattr(value, name, None), item) for name, item in bar.items()}
    return types.SimpleNamespace(**fields)


# --- memory -------------------------------------------------------------------------------


def copied(value: Any) -> Any:
    """A value with memory of its own: its arrays, containers and objects are copies.

    Arrays that share memory do so as copies, too.
    """
    parts: dict[int, list[np.ndarray[Any, Any]]] = {}
    for x in _inside((value,), set()):
        if type(x) is np.ndarray:
            parts.setdefault(id(_owner(x)), []).append(x)
    copies: dict[int, Any] = {}
    for arrays in parts.values():
        if len(arrays) > 1:
            copies |= _copies_of_parts(arrays)
    return snapshot(value, copies=copies)


def _owner(x: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """The array whose memory an array is a view of, or itself."""
    while isinstance(x.base, np.ndarray):
        x = x.base
    return x


def _copies_of_parts(arrays: Sequence[np.ndarray[Any, Any]]) -> dict[int, np.ndarray[Any, Any]]:
    """For arrays of one memory, by their identity, the same parts of a copy of it."""
    owner = _owner(arrays[0])
    if owner.dtype.hasobject or not owner.flags.forc:
        return {}
    memory = owner.copy(order="K")
    start, flat = owner.__array_interface__["data"][0], memory.ravel(order="K")

    def part(x: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        offset = x.__array_interface__["data"][0] - start
        return np.ndarray(x.shape, x.dtype, flat, offset, x.strides)

    return {id(x): part(x) for x in arrays}


def apart(value: Any, others: Iterable[Any]) -> Any:
    """A value, copied where it shares memory with others."""
    arrays: list[np.ndarray[Any, Any]] = []
    containers: set[int] = set()
    for x in _inside(others, set()):
        if _is_array(x):
            arrays.append(x)
        elif isinstance(x, (list, dict)):
            containers.add(id(x))
    if not arrays and not containers:
        return value

    def keep(x: Any) -> Any:
        if _is_array(x):
            shared = any(np.may_share_memory(x, array) for array in arrays)
            return x.copy(order="K") if shared else x
        return _rebuilt(x, keep, always=id(x) in containers)

    return keep(value)


_SCALARS = frozenset((float, int, complex, bool, str, type(None), np.float64))


def _inside(values: Iterable[Any], seen: set[int]) -> Iterator[Any]:
    """Some values and what the containers and objects among them hold, each once.

    Modules and classes are passed by: they hold all there is, and grow while others import.
    """
    for value in values:
        if type(value) in _SCALARS or id(value) in seen or isinstance(value, types.ModuleType):
            continue
        seen.add(id(value))
        yield value
        match value:
            case _ if is_built_on_container(type(value)):
                yield from _inside(values_held(value), seen)
            case list() | tuple():
                yield from _inside(value, seen)
            case dict():
                yield from _inside(value.values(), seen)
            case _ if not callable(value):
                yield from _inside(own_attributes(value).values(), seen)
            case _:
                pass


def _rebuilt(x: Any, of: Callable[[Any], Any], *, always: bool = True) -> Any:
    """A list, tuple or dictionary with `of` each item; the same one if nothing in it changes."""
    if is_built_on_container(type(x)):
        return made(type(x), **_rebuilt(attributes_of(x), of))
    if isinstance(x, dict):
        items = {key: of(item) for key, item in x.items()}
        return items if always or any(items[key] is not x[key] for key in x) else x
    if not isinstance(x, (list, tuple)):
        return x
    if _SCALARS.issuperset(map(type, x)):
        return list(x) if always and isinstance(x, list) else x
    items = [of(item) for item in x]
    if not always and all(a is b for a, b in zip(items, x, strict=True)):
        return x
    return tuple.__new__(type(x), items) if isinstance(x, tuple) else type(x)(items)


def is_zero(tangent: Any) -> bool:
    """Whether a tangent is a number that is 0."""
    return isinstance(tangent, (float, int, complex)) and tangent == 0


def is_not_a_number(y_dot: Any) -> bool:
    """Whether any number of a tangent is NaN."""
    if isinstance(y_dot, (list, tuple)):
        return any(map(is_not_a_number, y_dot))
    if isinstance(y_dot, dict):
        return any(map(is_not_a_number, y_dot.values()))
    if _is_array(y_dot):
        return y_dot.dtype.kind in "fc" and bool(np.isnan(np.sum(y_dot)))
    return isinstance(y_dot, (float, complex)) and bool(np.isnan(y_dot))
