"""Text that is known while a program is read: its methods, and what `re` and `json` find in it, are run at once.

A program that is driven by text (a formula, a description of a model) is known then as if it had been written out.
"""

from __future__ import annotations

import functools
import json
import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping
from types import CodeType
from typing import Any

from ...ir.graph import Const
from ...ir.types import BOOL, INT, PICTURE, STR, Kind, Other
from ...ops import structure as st
from ..classes.class_lookup import class_of
from ..domain.values import Args, Items, Kwargs, Native, Value, as_known, kind_of_value, list_of
from ..heap import now
from ..machine.interpreter import Interpreter
from ..machine.session import NeverReturns
from ..polyfills.stdlib import collections as container_polyfills

_FIXED = (str, bytes, tuple, range, re.Pattern, re.Match, CodeType)
_FUNCTIONS = frozenset(
    (
        re.compile,
        re.escape,
        re.findall,
        re.finditer,
        re.fullmatch,
        re.match,
        re.search,
        re.split,
        re.sub,
        json.loads,
        unicodedata.normalize,
    )
)
"""What depends on nothing but text."""

_OF_TEXT_IS_TEXT = (re.sub, re.escape, unicodedata.normalize)
BYTES = Other("bytes")

_GIVEN_BY_METHODS: Mapping[Kind, Mapping[str, Kind]] = {
    STR: {
        **dict.fromkeys(
            (
                "capitalize", "casefold", "center", "expandtabs", "format", "join", "ljust", "lower", "lstrip",
                "removeprefix", "removesuffix", "replace", "rjust", "rstrip", "strip", "swapcase", "title",
                "translate", "upper", "zfill",
            ),
            STR,
        ),
        **dict.fromkeys(("count", "find", "index", "rfind", "rindex"), INT),
        **dict.fromkeys(("endswith", "startswith", *(n for n in dir(str) if n.startswith("is"))), BOOL),
        "encode": BYTES,
    },
    BYTES: {"decode": STR},
}  # fmt: skip


def kind_of_method(kind: Kind, name: str) -> Kind | None:
    """The kind of what a method of text gives: text, mostly, which nobody can change."""
    if kind == PICTURE:
        return PICTURE
    return _GIVEN_BY_METHODS.get(kind, {}).get(name)


def is_fixed(constant: Any) -> bool:
    """Whether a constant never changes, so that its methods say the same at any time."""
    return isinstance(constant, _FIXED)


def attribute(constant: Any, name: str) -> Value:
    """An attribute or a method of text, or of what was found in it."""
    found = getattr(constant, name)
    if not callable(found) or isinstance(found, type):
        return as_known(found)  # of `sys.float_info`, of a range
    return Native(name, functools.partial(_called, found))


def called(
    it: Interpreter,
    function: Callable[..., Any],
    args: Args,
    kwargs: Kwargs,
    otherwise: Callable[[], Value],
) -> Value:
    """A call of a function of text: at once where all its operands are known."""
    if function in _OF_TEXT_IS_TEXT and all(kind_of_value(arg) == STR for arg in args):
        found = functools.partial(it.opaque, function, args, kwargs, STR)
        return _called(function, it, args, kwargs, found)
    return _called(function, it, args, kwargs, otherwise) if function in _FUNCTIONS else otherwise()


def _called(
    function: Callable[..., Any],
    it: Interpreter,
    args: Args,
    kwargs: Kwargs,
    otherwise: Callable[[], Value] | None = None,
) -> Value:

    args = operands(it, function.__name__, args)
    if not all(isinstance(value, Const) for value in (*args, *kwargs.values())):
        if otherwise is not None:
            return otherwise()
        kind = kind_of_value(Const(getattr(function, "__self__", None)))
        return it.opaque(function, args, kwargs, kind_of_method(kind, function.__name__))
    try:
        result = function(*map(_content, args), **{n: _content(v) for n, v in kwargs.items()})
    except Exception:  # it must fail when the program runs, not when it is read
        it.opaque(function, args, kwargs)
        raise NeverReturns from None
    return _made_here(it, result)


def operands(it: Interpreter, name: str, args: Args) -> Args:
    """What a method of text is given: the texts that `join` walks over may be in what stands for a container."""
    if name != "join":
        return args
    given = [now(it, arg) for arg in args]
    return [
        it.as_list(arg) if class_of(arg) in container_polyfills.CLASSES else arg for arg in given
    ]


def _content(value: Value) -> Any:
    assert isinstance(value, Const)
    return value.value


def _made_here(it: Interpreter, result: Any) -> Value:
    """What a call gave: lists and dictionaries, as of `"a b".split()`, are the program's own to change."""
    if isinstance(result, Iterator):
        return it.make_iterator([as_known(tuple(result))], {})
    if type(result) is dict:
        items = tuple(_made_here(it, item) for item in result.values())
        return Items("dict", tuple(result), items)
    if type(result) is not list:
        return as_known(result)
    items = list_of(*(_made_here(it, item) for item in result))
    return it.emit(st.as_list, it.atom(items)) if it.reading.general else items
