"""Functions on their way to other processes: by name where they have one there, else as code with its source."""

from __future__ import annotations

import functools
import io
import linecache
import pickle
import types
from collections.abc import Callable
from typing import Any, ClassVar, NamedTuple

from ..compile import calling
from ..errors import CannotTravel


class Packed(NamedTuple):
    """A function as it travels: its code, with the text that it was written in."""

    text: bytes

    def __call__(self, *args: Any) -> Any:
        return _unpacked(self.text)(*args)


@functools.lru_cache(maxsize=64)
def _unpacked(text: bytes) -> Callable[..., Any]:
    """One function for one text, so that what is derived for it is derived once."""
    return pickle.loads(text)  # noqa: S301  # made by `packed`


def packed(task: Any, *, main_is_shared: bool) -> Any:
    """What is sent to another process for a function: itself, if it is found there by its name.

    Args:
        task: a function, or an object that can be called and holds one.
        main_is_shared: whether the other process has the `__main__` that this one started with.

    Raises:
        CannotTravel: it has no name at the top of a module, and cloudpickle is not there.
    """
    try:
        if b"__main__" not in pickle.dumps(task):
            return task
        failed: Exception | None = None
    except Exception as error:
        failed = error
    try:
        return Packed(_as_code(task))
    except Exception as error:
        if failed is None and main_is_shared:
            return task
        failed = failed or error
        function = task
        while hasattr(function, "function"):
            function = function.function
        raise CannotTravel(
            f"{calling.name_of(function)} cannot be sent to another process: {failed}",
            "Define it with `def` at the top of a module, and pass what it captured as parameters or parts; or\n"
            "install cloudpickle, which sends functions as their code.",
            calling.definition_of(function),
        ) from failed


def _as_code(task: Any) -> bytes:
    """A function as bytes, with the source that a derivative is read from."""
    import cloudpickle  # pyright: ignore[reportMissingImports, reportMissingTypeStubs]

    class Pickler(cloudpickle.Pickler):
        dispatch_table: ClassVar[Any] = {
            **cloudpickle.Pickler.dispatch_table,
            types.CodeType: _code_with_source,
        }

    file = io.BytesIO()
    Pickler(file, pickle.HIGHEST_PROTOCOL).dump(task)
    return file.getvalue()


def _code_with_source(code: types.CodeType) -> Any:
    import cloudpickle  # pyright: ignore[reportMissingImports, reportMissingTypeStubs]

    reduced: Any = cloudpickle.Pickler.dispatch_table[types.CodeType](code)
    arguments = reduced[1]
    return _arrived, (arguments, code.co_filename, _text_of(code.co_filename))


@functools.lru_cache(maxsize=64)
def _text_of(file: str) -> str:
    return "".join(linecache.getlines(file))


def _arrived(arguments: tuple[Any, ...], file: str, text: str) -> types.CodeType:
    """Code that has come from another process, and its source where Python looks for it."""
    if text and not linecache.getlines(file):
        linecache.cache[file] = len(text), None, text.splitlines(keepends=True), file
    return types.CodeType(*arguments).replace(co_filename=file)
