"""Attributes and methods of boxes: those of the value, with derivatives."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from operator import methodcaller
from typing import Any, cast

import numpy as np

from ...errors import LostDerivative, UnsupportedSyntax
from ...ir.callers import calling_span
from ...numbers.number import PerturbedNumber, value_of
from ...numbers.refusals import lost
from ...numbers.squares import followed
from ...ops import registry
from ...ops.array_classes import of_own_arithmetic
from . import boxes, records
from .boxes import Recorded, boxes_in, is_active
from .memory import NUMPYS_OWN, Memory, relaid
from .operations import operations


def attribute(box: Recorded, name: str) -> Any:
    """What a number or an array has under a name.

    Raises:
        AttributeError: it has none of that name.
    """
    value = value_of(box)
    if name in ("real", "imag"):
        return _part(box, name)
    if name == "flat":
        return _flat(box)
    if name in ("data", "base", "ctypes"):
        if name == "base" and box.memory is not None and isinstance(value.base, np.ndarray):
            return relaid(box, value.base)
        if not is_active(box, box.tape):
            return getattr(value, name)
        raise boxes.noting(lost(box, f"the memory behind `.{name}`"))
    if box.memory is not None and records.is_record(box) and name in value.dtype.names:
        if isinstance(value, (np.record, np.recarray)):
            return box[name]
    found = getattr(value, name)  # which says that there is none
    if not callable(found):
        if isinstance(found, np.ndarray):
            return _view(box, name)
        return found
    own = _METHODS.get(name)
    if own is not None:
        return partial(own, box)
    return partial(_called, box, name)


def _view(box: Recorded, name: str) -> Any:
    """An attribute that is a view of the array."""
    op, below = registry.named("transpose"), getattr(box.value, name)
    found = boxes.noted(box.tape, op, (box,), {}, below)
    return followed(op, (box,), {}, found, value_of) if name == "T" else found


def _part(box: Recorded, name: str) -> Any:
    value = value_of(box)
    op = registry.named(name)
    if box.memory is not None and not (name == "imag" and value.dtype.kind != "c"):
        below = getattr(box.value, name)
        return boxes.noted(box.tape, op, (box,), {}, below)
    below = getattr(box.value, name)
    if name == "imag" and not np.iscomplexobj(value):
        return value_of(below)
    return boxes.noted(box.tape, op, (box,), {}, below)


def _flat(box: Recorded) -> Any:
    if value_of(box).ndim == 1:
        return box[:].again().as_walk()
    if value_of(box).flags.c_contiguous:
        return box.reshape(-1).again().as_walk()
    raise boxes.noting(lost(box, "`.flat` of an array that does not lie in C's order"))


def set_attribute(box: Recorded, name: str, value: Any) -> None:
    """Change an attribute of an array in place."""
    if isinstance(value_of(box), (np.record, np.recarray)) and name in value_of(box).dtype.names:
        box[name] = value
    elif name in ("real", "imag", "flat", "T") and box.memory is not None:
        getattr(box, name)[...] = value
    elif name == "shape" and box.memory is not None and box.tape.is_open:
        _reshape_in_place(box, value)
    else:
        setattr(value_of(box), name, value)  # which says that it cannot be set


def _reshape_in_place(box: Recorded, shape: Any) -> None:
    memory, view = cast(Memory, box.memory), box.reshape(shape)
    if box.tape.is_given(memory) or view.memory is not memory:
        raise boxes.noting(
            UnsupportedSyntax(
                "an array is given another shape in place, which its tape has kept as it was",
                "Write `a = a.reshape(shape)`.",
                calling_span(),
            )
        )
    box.become(view)


def _called(box: Recorded, name: str, *args: Any, **keywords: Any) -> Any:
    """A method whose name an op has."""
    value = value_of(box)
    if name in _PLAIN or (not is_active(box, box.tape) and not boxes_in((args, keywords))):
        return _plainly(box, name, args, keywords)
    op = registry.find_method(name)
    if op is None:
        instead = getattr(np, name, None)
        if instead is not None and callable(instead):
            return operations.called(instead, (box, *args), keywords)
        raise AttributeError(f"{type(value).__name__!r} object has no attribute {name!r}")
    return operations.called(_method_caller(name), (box, *args), keywords, op=op)


@cache
def _method_caller(name: str) -> Callable[..., Any]:
    """Calls a method of whatever it is given, as numbers of lower levels have methods of their own."""
    return lambda x, *args, **keywords: getattr(x, name)(*args, **keywords)


_PLAIN = frozenset((
    "argmax", "argmin", "argsort", "all", "any", "nonzero", "tobytes", "is_integer", "hex", "searchsorted",
    "argpartition",
))  # fmt: skip
"""Methods of which only the value matters."""


def _plainly(box: Recorded, name: str, args: Any, keywords: Any) -> Any:
    plain = [boxes.at_level_below(x, box.tape) for x in args]
    named = {k: boxes.at_level_below(x, box.tape) for k, x in keywords.items()}
    below = getattr(box.value, name)(*plain, **named)
    if name in _PLAIN:
        boxes.asked(registry.find_method(name), (box, *args), keywords, below)
        return box.shown_as(below) if isinstance(below, (str, bytes)) else below
    memories = [] if box.memory is None else [box.memory]
    return boxes.boxed_result(box.tape, below, memories) if box.tape.is_open else below


# --- methods that change an array, or copy it ---------------------------------------------------


def _fill(box: Recorded, value: Any) -> None:
    box[...] = value


def _sort(
    box: Recorded, axis: int = -1, kind: Any = None, order: Any = None, **options: Any
) -> None:
    if records.is_record(box):
        box[...] = box[value_of(box).argsort(axis, kind, order)]
    else:
        box[...] = operations.called(np.sort, (box,), {"axis": axis})


def _partition(
    box: Recorded, kth: Any, axis: int = -1, kind: Any = "introselect", order: Any = None
) -> None:
    if records.is_record(box):
        box[...] = box[value_of(box).argpartition(kth, axis, kind, order)]
    else:
        box[...] = operations.called(np.partition, (box, kth), {"axis": axis})


def _item(box: Recorded, *index: Any) -> Any:
    if isinstance(value_of(box), np.void):
        return _tolist(box)
    if box.memory is None:
        return as_python(box) if not index else box[index]
    if not index:
        value_of(box).item()  # which says whether there is one
        return as_python(box.reshape(-1)[0])
    if len(index) == 1 and not isinstance(index[0], tuple):
        return as_python(box.reshape(-1)[index[0]])
    return as_python(box[index[0] if len(index) == 1 else index])


def _tolist(box: Recorded) -> Any:
    if isinstance(value_of(box), np.void):
        return tuple([_tolist(part) if isinstance(part, Recorded) else part for part in box])
    if box.memory is None or value_of(box).ndim == 0:
        return as_python(box if box.memory is None else box[()])
    return [
        _tolist(row) if isinstance(row, Recorded) and row.memory else as_python(row) for row in box
    ]


def as_python(x: Any) -> Any:
    """A number of NumPy's as Python's."""
    if type(x) is Recorded:
        return Recorded(as_python(x.value), x.tape, x.number)
    return x.item() if isinstance(x, np.generic) else x


def as_numpy(x: Any, cls: Any) -> Any:
    """A number as one of NumPy's, of a class."""
    if type(x) is Recorded:
        return Recorded(as_numpy(x.value, cls), x.tape, x.number)
    return x if isinstance(x, PerturbedNumber) else cls(x)


def _copy(box: Recorded, order: str = "C") -> Any:
    return copied(box, order)


def copied(box: Any, order: str = "C") -> Any:
    """A copy of an array, at every level that the array has."""
    if type(box) is not Recorded:
        return np.array(box, order=order)  # pyright: ignore[reportArgumentType, reportCallIssue]
    if box.memory is None:
        return box
    if records.is_record(box):
        return records.copied(box)
    return boxes.noted(box.tape, registry.named("copy"), (box,), {}, copied(box.value, order))


def _astype(box: Recorded, dtype: Any, *args: Any, copy: bool = True, **options: Any) -> Any:
    target = np.dtype(real_type(dtype))
    value = value_of(box)
    if target.kind in "US":
        raise boxes.noting(
            LostDerivative(
                "numbers that have derivatives are made an array of text, which has none",
                "Use the numbers themselves. To show them, write `wg.stop_gradient(x).astype(str)`.",
                calling_span(),
            )
        )
    if target.kind not in "fcO":
        plain = value.astype(target)
        boxes.asked(registry.named("astype"), (box,), {"dtype": target}, plain)
        return plain
    if target == value.dtype:
        order = args[0] if args else options.get("order", "K")
        if box.memory is None or (not copy and value.astype(target, order, copy=False) is value):
            return box
        return copied(box, order)
    below = box.value.astype(target)
    return boxes.noted(box.tape, registry.named("astype"), (box,), {"dtype": target}, below)


def _view_as(box: Recorded, *args: Any, **options: Any) -> Any:
    if not args and not options:
        return box[...]
    below = box.value.view(*args, **options)
    cls = type(value_of(below))
    if is_active(box, box.tape) and cls not in NUMPYS_OWN and issubclass(cls, np.ndarray):
        raise boxes.noting(UnsupportedSyntax(*of_own_arithmetic(cls), calling_span()))
    if is_active(box, box.tape) and _kind_of_number(value_of(box)) != _kind_of_number(
        value_of(below)
    ):
        raise boxes.noting(lost(box, "a number that is made of the bits of another one"))
    return boxes.noted(box.tape, registry.named("transpose"), (box,), {}, below)


def _kind_of_number(x: Any) -> Any:
    """What numbers an array consists of; the parts of complex numbers are such as well."""
    dtype = x.dtype
    if dtype.names is not None:
        return None if dtype.hasobject else _kind_of_number(np.empty(0, dtype[0].base))
    return np.empty(0, dtype).real.dtype


def _compress(box: Recorded, condition: Any, axis: Any = None, **options: Any) -> Any:
    return operations.called(np.compress, (condition, box, axis), options)


def _put(box: Recorded, indices: Any, values: Any, mode: str = "raise") -> None:
    operations.put(box, indices, values, mode)


def _conjugate(box: Recorded, *args: Any, **options: Any) -> Any:
    conjugate = registry.named("conj")
    return boxes.recorded(box.tape, conjugate, (box,), {}, methodcaller("conjugate"), (box,), {})


def _set_flags(box: Recorded, *args: Any, **flags: Any) -> None:
    value_of(box).setflags(*args, **flags)


def _resize(box: Recorded, *args: Any, **options: Any) -> None:
    raise boxes.noting(lost(box, "`resize`, which gives an array other memory,"))


def _lost(name: str) -> Callable[..., Any]:
    def refuse(box: Recorded, *args: Any, **options: Any) -> Any:
        raise boxes.noting(lost(box, f"`.{name}()`"))

    return refuse


def real_type(cls: Any) -> Any:
    """A type that stands for one of Python's or NumPy's, as that."""
    return (getattr(type(cls), "stands_for", None) and cls.real) or cls


_METHODS: dict[str, Callable[..., Any]] = {
    "fill": _fill,
    "sort": _sort,
    "partition": _partition,
    "item": _item,
    "tolist": _tolist,
    "copy": _copy,
    "astype": _astype,
    "view": _view_as,
    "compress": _compress,
    "put": _put,
    "conjugate": _conjugate,
    "conj": _conjugate,
    "resize": _resize,
    "setflags": _set_flags,
    **{
        name: _lost(name)
        for name in ("byteswap", "setfield", "tofile", "dumps", "dump", "getfield")
    },
}

operations.attribute = attribute
operations.set_attribute = set_attribute
