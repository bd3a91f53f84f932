"""Code that asks whether values are of known kinds, made for the purpose: quicker than finding their kinds again."""

from __future__ import annotations

import types
from collections.abc import Callable, Sequence
from itertools import chain
from typing import Any

import numpy as np

from ...ir.types import UNREAD, Array, Kind, Number, Other, Picked, Seq, Static, Struct
from ...ops.program.drawing import is_any_generator, name_of
from ...runtime.containers import CONTENTS
from ..machine.guards import PARTS
from .signature import SMALL, kind_of
from .templates import Template, asked_of

_CLASSES: dict[str, tuple[type, ...]] = {
    "float": (float, np.float64),
    "int": (int, np.int64),
    "bool": (bool, np.bool_),
    "complex": (complex, np.complex128),
}
_PLAIN: dict[str, type] = {"None": type(None), "range": range, "slice": slice, "str": str}


class KindCheck:
    """A function that says whether values are of some kinds, part by part as these say.

    It asks nothing of what is `UNREAD`. Its no is not the last word: `kind_of` may find the same kind for values of
    other classes; `in_order`, for arrays of another layout, too. With `leaves` it gives the leaves of the values
    instead of a yes, and does not ask of what kind they are.
    """

    def __init__(self, parameters: Sequence[str], *, leaves: bool = False, in_order: bool = False):
        self._parameters = parameters
        self._lines: list[str] = []
        self._names: dict[str, Any] = {
            "kind_of": kind_of,
            "ndarray": np.ndarray,
            "rows_of": _rows_of,
            "lists_of": _lists_of,
        }
        self._leaves: list[str] | None = [] if leaves else None
        self._in_order = in_order

    def made(self) -> Callable[..., Any]:
        """The function; it gives None where a value is not of its kind."""
        result = "True" if self._leaves is None else f"[{', '.join(self._leaves)}]"
        body = "".join(f"    {line}\n" for line in (*self._lines, f"return {result}"))
        exec(f"def check({', '.join(self._parameters)}):\n{body}", self._names)  # noqa: S102
        return self._names["check"]

    def ask(self, text: str, kind: Kind, depth: int = 0) -> None:
        """Ask whether what an expression gives is of a kind."""
        if kind is UNREAD:
            return
        value = self.let(text)
        if not isinstance(kind, (Static, Struct)) and self._leaves is not None:
            self._leaves.append(value)
            return
        match kind:
            case Static(value=str() as known):
                self.must(f"type({value}) is str and {value} == {known!r}")
            case Static(value=known):
                self.must(f"{value} is {self.constant(known)}")
            case Number(type=name):
                self.must(f"type({value}) in {self.constant(_CLASSES[name])}")
            case Array(dtype=dtype, rank=int() as rank) if dtype in _DTYPES:
                same = (
                    f"{value}.dtype is {self.constant(_DTYPES[dtype])} and {value}.ndim == {rank}"
                )
                self.must(f"type({value}) is ndarray and {same}")
                if self._in_order:
                    self.must(f"{value}.flags.carray")
            case Other(name=name) if name in _PLAIN:
                self.must(f"type({value}) is {self.constant(_PLAIN[name])}")
            case Other(name=name) if is_any_generator(kind):
                self.must(f"{self.constant(name_of)}(type({value})) == {name!r}")
            case Picked(places=()):
                self.must(f"type({value}) is list")
            case Picked(item=item, places=places):
                longest = max(k + 1 if k >= 0 else -k for k in places)
                self.must(f"type({value}) in (list, tuple) and len({value}) >= {longest}")
                for k in places:
                    self.ask(f"{value}[{k}]", item, depth + 1)
            case Seq(item=Number(type=name)):
                cls = self.constant({_CLASSES[name][0]})
                items = f"len({value}) > {SMALL} and set(map(type, {value})) == {cls}"
                self.must(f"type({value}) in (list, tuple) and {items}")
            case Seq(item=Seq(item=Number(type=name))):
                self.must(f"lists_of({value}, {self.constant({_CLASSES[name][0]})})")
            case Seq(item=Struct(form="tuple" | "list" | "dict", type=None) as item) if all(
                isinstance(each, Number) for each in item.items
            ):
                self.must(f"rows_of({value}, {self.constant(_Rows(item))})")
            case Struct():
                self._ask_parts(value, kind, depth + 1)
            case _:
                self._ask_slowly(value, kind, depth)

    def let(self, text: str) -> str:
        """A name for what an expression gives."""
        name = f"v{len(self._lines)}"
        self._lines.append(f"{name} = {text}")
        return name

    def constant(self, value: Any) -> str:
        """A name for a value that is known."""
        name = f"k{len(self._names)}"
        self._names[name] = value
        return name

    def must(self, condition: str) -> None:
        """Go on only where this is so."""
        self._lines.append(f"if not ({condition}): return None")

    def _ask_slowly(self, value: str, kind: Kind, depth: int) -> None:
        known = self.constant(kind)
        self.must(f"kind_of({value}, {depth}, {known}) == {known}")
        if self._leaves is not None:
            raise NoLeaves

    def _ask_parts(self, value: str, kind: Struct, depth: int) -> None:
        match kind:
            case Struct(form="tuple" | "list" as form, items=items):
                self.must(f"type({value}) is {form} and len({value}) == {len(items)}")
                texts = [f"{value}[{k}]" for k in range(len(items))]
            case Struct(form="namedtuple", items=items, type=cls):
                self.must(f"type({value}) is {self.constant(cls)}")
                texts = [f"{value}[{k}]" for k in range(len(items))]
            case Struct(form="dict", keys=keys, type=None):
                self.must(f"type({value}) is dict and tuple({value}) == {self.constant(keys)}")
                texts = [f"{value}[{self.constant(key)}]" for key in keys]
            case Struct(form="object", type=types.MethodType):
                self.must(f"type({value}) is {self.constant(types.MethodType)}")
                texts = [f"{value}.__self__", f"{value}.__func__"]
            case Struct(form="object" | "dataclass", keys=keys, type=cls) if _by_name(cls, keys):
                self.must(f"type({value}) is {self.constant(cls)}")
                own = self.let(f"{value}.__dict__")
                names = self.constant(frozenset(keys))
                self.must(f"len({own}) == {len(keys)} and {own}.keys() == {names}")
                texts = [f"{own}[{key!r}]" for key in keys]
            case Struct(form="function", type=Template() as template) if not asked_of(
                template.function
            ):
                texts = self._same_function(value, template.function, kind.keys)
            case _:
                self._ask_slowly(value, kind, depth - 1)
                return
        for text, item in zip(texts, kind.items, strict=True):
            self.ask(text, item, depth)

    def _same_function(
        self, value: str, function: types.FunctionType, names: Sequence[str]
    ) -> list[str]:
        """Ask whether a value is a function as it is now; gives what it has captured."""
        self.must(f"{value} is {self.constant(function)}")
        self.must_be_made_of(value, function)
        cells = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))
        return [f"{self.constant(cells[name])}.cell_contents" for name in names]

    def must_be_made_of(self, text: str, function: types.FunctionType) -> None:
        """Go on only where a function has the code and the defaults that another one has now."""
        for part in PARTS:
            self.must(f"{text}.{part} is {self.constant(getattr(function, part))}")

    def ask_function(self, text: str, target: Kind) -> None:
        """Ask whether a function, which is the same object, is as it was."""
        match target:
            case Struct(type=types.MethodType, items=(owner, func)):
                self.ask(f"{text}.__self__", owner, 1)
                self.ask_function(f"{text}.__func__", func)
            case Struct(form="function", type=Template() as template) if asked_of(
                template.function
            ):
                self._ask_slowly(text, target, 0)
            case Struct(form="function", type=Template() as template, keys=keys, items=items):
                names = template.co_freevars
                self.must_be_made_of(text, template.function)
                for key, item in zip(keys, items, strict=True):
                    self.ask(f"{text}.__closure__[{names.index(key)}].cell_contents", item, 1)
            case _:
                self.ask(text, target)


class NoLeaves(Exception):
    """The leaves of a value of this kind are found only by looking at all of it."""


class _Rows:
    """What tells that a list is one of rows that are built alike, of numbers."""

    def __init__(self, kind: Struct):
        self.form = {"tuple": tuple, "list": list, "dict": dict}[kind.form]
        self.keys = kind.keys
        self.classes = [{_CLASSES[i.type][0]} for i in kind.items if isinstance(i, Number)]


def _rows_of(value: Any, rows: _Rows) -> bool:
    if (
        type(value) not in (list, tuple)
        or len(value) <= SMALL
        or set(map(type, value)) != {rows.form}
    ):
        return False
    if rows.form is dict:
        alike = set(map(tuple, value)) == {rows.keys}
        items: Any = map(dict[Any, Any].values, value)
    else:
        alike, items = set(map(len, value)) == {len(rows.keys)}, value
    if not alike:
        return False
    if len(set(map(frozenset, rows.classes))) == 1:
        return set(map(type, chain.from_iterable(items))) == rows.classes[0]
    columns = zip(*items, strict=True)
    return all(set(map(type, each)) == cls for each, cls in zip(columns, rows.classes, strict=True))


def _lists_of(value: Any, cls: set[type]) -> bool:
    """Whether a value is a list of lists of numbers of one class, all of them long ones."""
    return (
        type(value) in (list, tuple)
        and len(value) > SMALL
        and {list, tuple}.issuperset(map(type, value))
        and min(map(len, value)) > SMALL
        and set(map(type, chain.from_iterable(value))) == cls
    )


def check_of(kind: Kind) -> Callable[[Any], bool | None]:
    """What says of a value that it is of a kind; its no is not the last word."""
    check = KindCheck(["value"])
    check.ask("value", kind)
    return check.made()


def _by_name(cls: Any, names: Sequence[Any]) -> bool:
    """Whether objects of a class keep these attributes in their `__dict__`, and nothing elsewhere."""
    if CONTENTS in names or not isinstance(cls, type) or issubclass(cls, (dict, list, tuple)):
        return False
    if cls is types.SimpleNamespace:
        return True
    kept = [found for each in cls.__mro__ for found in vars(each).values()]
    in_slots = any(isinstance(found, types.MemberDescriptorType) for found in kept)
    computed = any(hasattr(type(getattr(cls, name, None)), "__set__") for name in names)
    plain = cls.__getattribute__ is object.__getattribute__ and bool(cls.__dictoffset__)
    return plain and not in_slots and not computed and all(isinstance(n, str) for n in names)


_DTYPES = {
    each.name: each
    for each in map(np.dtype, (np.bool_, np.int64, np.int32, np.float64, np.float32, np.complex128))
}
