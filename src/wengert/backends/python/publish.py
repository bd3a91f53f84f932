"""Printed functions as functions: compiled, and visible to debuggers and tracebacks."""

from __future__ import annotations

import ast
import functools
import itertools
import linecache
import re
import types
import weakref
from collections.abc import Callable
from typing import Any

from ...ops.registry import runtime_helper
from .bindings import MODULES
from .printed import Printed, published, read

_numbers = itertools.count(1)


def publish(printed: Printed, *, method: bool = False) -> Callable[..., Any]:
    """Compile a printed function, or a method of anything that does the same.

    `inspect.getsource`, `pdb` and tracebacks see its text for as long as the function lives. A
    function that reads globals looks them up anew in each call.

    Raises:
        LookupError: it calls a helper that `wengert.runtime` does not have.
    """
    if method and len(re.findall(rf"\b{printed.name}\b", printed.text)) > 1:
        return _as_method(publish(printed))  # it calls itself by its name
    file = f"<wengert {printed.name} {next(_numbers)}>"
    namespace: dict[str, Any] = {"__name__": "wengert.generated", "__file__": file}
    space = printed.namespace or _OF_NUMPY
    namespace.update((name, space.module(key)) for name, key in printed.modules.items())
    namespace.update(
        (name, space.rebound(runtime_helper(key))) for name, key in printed.helpers.items()
    )
    namespace.update((name, space.constant(value)) for name, value in printed.names.items())
    namespace[_SHOW] = _shown
    code = (None if method else _guarded_text(printed)) or _guarded(printed, method=method)
    exec(compile(code, file, "exec", dont_inherit=True), namespace)
    function = namespace[printed.name]
    if printed.name not in function.__code__.co_names:
        # a namespace that does not refer to its function lets it die at once
        del namespace[printed.name]
    lines = printed.text.splitlines(keepends=True)
    linecache.cache[file] = (len(printed.text), None, lines, file)
    published[file] = printed
    weakref.finalize(function, _forget, file).atexit = False
    return _reading_globals(function, printed) if printed.globals else function


class _Numpy:
    """Where code runs that computes with NumPy."""

    def module(self, key: str) -> types.ModuleType:
        return MODULES[key]

    def rebound(self, helper: Any) -> Any:
        return helper

    def constant(self, value: Any) -> Any:
        return value


_OF_NUMPY = _Numpy()
_SHOW = "__shown_at_user_lines__"
_SELF = "__specialization__"


_SIGNATURE_AND_COMMENT = re.compile(r"def .*(?:\n {4}.*)*?\n?\):\n(?P<comment> {4}#.*)")


def _guarded_text(printed: Printed) -> str | None:
    """What `_guarded` makes, as text: where the function begins with a comment, whose line is the guard's.

    Python compiles a text twice as fast as the same text as a tree.
    """
    text, own = printed.text.rstrip(), printed.definitions[printed.name].rstrip()
    begins = _SIGNATURE_AND_COMMENT.match(own)
    if begins is None or not text.endswith(own):
        return None
    start, end = (len(text) - len(own) + k for k in begins.span("comment"))
    return f"{text[:start]}  try:{text[end:]}\n  except Exception as error: raise {_SHOW}(error)\n"


def _guarded(printed: Printed, *, method: bool) -> ast.Module:
    """The text, its function inside a `try` (free until something is raised) that nobody sees."""
    tree = ast.parse(printed.text)
    function = next(
        n for n in tree.body if isinstance(n, ast.FunctionDef) and n.name == printed.name
    )
    if method:
        parameters = function.args.posonlyargs or function.args.args
        parameters.insert(0, ast.copy_location(ast.arg(_SELF), function))
    handler = ast.parse(f"try: pass\nexcept Exception as error: raise {_SHOW}(error)").body[0]
    assert isinstance(handler, ast.Try)
    for node in ast.walk(handler):
        if hasattr(node, "lineno"):
            ast.copy_location(node, function)
    start = 0 if ast.get_docstring(function) is None else 1
    if function.body[start:]:
        handler.body = function.body[start:]
        function.body[start:] = [handler]
    return tree


def _shown(error: Exception) -> Exception:
    from .traceback import shown_at_user_lines

    return shown_at_user_lines(error)


def _forget(file: str) -> None:
    linecache.cache.pop(file, None)
    published.pop(file, None)


def _as_method(function: Callable[..., Any]) -> Callable[..., Any]:
    def call(_: Any, *args: Any, **options: Any) -> Any:
        return function(*args, **options)

    call.__name__, call.__qualname__ = function.__name__, function.__qualname__
    return call


def with_options(function: Callable[..., Any], options: dict[str, Any]) -> types.FunctionType:
    """A copy of a published function, some of its keyword-only parameters with these defaults."""
    original: Any = function
    base: Any = function
    code = base.__code__
    by_name = code.co_varnames[code.co_argcount :][: code.co_kwonlyargcount]
    if not set(options) <= set(by_name):

        @functools.wraps(function)
        def with_given(*args: Any, **given: Any) -> Any:
            return original(*args, **options, **given)

        base = with_given
    made = types.FunctionType(
        base.__code__, base.__globals__, base.__name__, base.__defaults__, base.__closure__
    )
    made.__kwdefaults__ = {**(base.__kwdefaults__ or {}), **options}
    made.__dict__.update(base.__dict__)
    made.__doc__, made.__qualname__ = base.__doc__, base.__qualname__
    made.published = original  # type: ignore[attr-defined]  # whose text is there while it lives
    return made


def _reading_globals(function: Callable[..., Any], printed: Printed) -> Callable[..., Any]:
    namespace = function.__globals__
    own = (printed.namespace or _OF_NUMPY).constant

    @functools.wraps(function)
    def call(*args: Any, **options: Any) -> Any:
        for name, holder, key in printed.globals:
            try:
                namespace[name] = own(read(holder, key))
            except (KeyError, AttributeError):
                namespace.pop(name, None)
        return function(*args, **options)

    return call
