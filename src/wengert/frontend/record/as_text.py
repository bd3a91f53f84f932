"""Functions that show numbers as text or bytes, and those that read them back: what went through has no derivative.

A run keeps what its numbers were shown as. Who makes numbers of that is refused; everything else may be done with it.
"""

from __future__ import annotations

import functools
import inspect
import json
import pickle
import struct
from collections.abc import Callable
from typing import Any

from ...errors import LostDerivative
from ...ir.callers import calling_span
from ...numbers.number import value_of
from .boxes import noting
from .functions import all_plain
from .tape import running


def refuse_as_text(text: Any) -> None:
    """Refuse to make a number of what was made of one.

    Raises:
        LostDerivative: the text, or the bytes, are or hold what a number with a derivative was shown as.
    """
    if isinstance(text, (str, bytes)) and any(_holds(text, tape.texts) for tape in running.get()):
        raise noting(
            LostDerivative(
                f"{text!r} was made of a number that has a derivative, and text has none",
                "Use the number itself. Where its value alone is wanted, write `wg.stop_gradient(x)`.",
                calling_span(),
            )
        )


def _holds(text: Any, texts: set[Any]) -> bool:
    return None in texts or any(
        text.strip() == shown or (len(shown) > 2 and shown in text)
        for shown in texts
        if type(shown) is type(text)
    )


def _showing(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function that shows numbers with derivatives as those that they are."""

    @functools.wraps(function)
    def show(*args: Any, **keywords: Any) -> Any:
        text = function(*map(all_plain, args), **keywords)
        if isinstance(text, (str, bytes)):
            running.get()[-1].texts.add(text.strip())
        return text

    return show


def _reading(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function that makes numbers of text or bytes."""

    @functools.wraps(function)
    def read(*args: Any, **keywords: Any) -> Any:
        for each in args:
            refuse_as_text(each)
        return function(*args, **keywords)

    return read


def _writing(dump: Callable[..., Any], dumps: Callable[..., Any]) -> Callable[..., Any]:
    """A function that shows numbers in a file."""

    @functools.wraps(dump)
    def show(shown: Any, file: Any, *args: Any, **keywords: Any) -> Any:
        _showing(dumps)(shown, *args, **keywords)
        return dump(all_plain(shown), file, *args, **keywords)

    return show


def _reading_file(load: Callable[..., Any]) -> Callable[..., Any]:
    """A function that makes numbers of what is left of a file."""

    @functools.wraps(load)
    def read(file: Any, *args: Any, **keywords: Any) -> Any:
        if running.get()[-1].texts and file.seekable():
            here = file.tell()
            refuse_as_text(file.read())
            file.seek(here)
        return load(file, *args, **keywords)

    return read


INSTEAD: dict[Any, Callable[..., Any]] = {
    **{function: _showing(function) for function in (json.dumps, struct.pack, pickle.dumps)},
    **{module.dump: _writing(module.dump, module.dumps) for module in (json, pickle)},
    **{module.load: _reading_file(module.load) for module in (json, pickle)},
    **{function: _reading(function) for function in (json.loads, struct.unpack, pickle.loads)},
    inspect.getattr_static: lambda obj, *names, **default: inspect.getattr_static(
        value_of(obj), *names, **default
    ),
}
"""What stands in a run for functions of the standard library."""
MODULES = (json, pickle, struct, inspect)
from_hex = _reading(float.fromhex)
