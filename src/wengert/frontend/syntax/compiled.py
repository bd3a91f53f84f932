"""Whether a text is what a function was compiled from: a file may have changed since it was imported."""

from __future__ import annotations
import __future__

import ast
from collections.abc import Iterable, Iterator
from functools import lru_cache
from importlib.machinery import SourceFileLoader
from types import CodeType, FunctionType

_FUTURES = sum(getattr(__future__, name).compiler_flag for name in __future__.all_feature_names)


def is_compiled_as_it_stands(function: FunctionType) -> bool:
    """Whether the code of a function is what Python makes of its file.

    Other loaders than Python's own may rewrite what they read, as pytest does with `assert`.
    """
    return type(function.__globals__.get("__loader__")) is SourceFileLoader


def is_compiled_from(code: CodeType, text: str) -> bool:
    """Whether code comes from a text."""
    return _is_among(_codes(text, code.co_filename, code.co_flags & _FUTURES), code)


def defines(tree: ast.Module, code: CodeType) -> bool:
    """Whether code comes from a syntax tree."""
    try:
        return _is_among(_compiled(tree, code.co_filename, code.co_flags & _FUTURES), code)
    except SyntaxError:
        return False


def _is_among(compiled: Iterable[CodeType], code: CodeType) -> bool:
    bare = _without_positions(code)
    return any(
        _without_positions(each) == bare
        for each in compiled
        if (each.co_name, each.co_firstlineno) == (code.co_name, code.co_firstlineno)
    )


@lru_cache(maxsize=256)
def _codes(text: str, file: str, futures: int) -> tuple[CodeType, ...]:
    """The code of everything that a text defines."""
    return tuple(_compiled(text, file, futures))


def _compiled(source: str | ast.Module, file: str, futures: int) -> Iterator[CodeType]:
    return _inside(compile(source, file, "exec", flags=futures, dont_inherit=True))


def _inside(code: CodeType) -> Iterator[CodeType]:
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield constant
            yield from _inside(constant)


def _without_positions(code: CodeType) -> CodeType:
    """Code that is equal where only comments and spaces differ."""
    constants = (
        _without_positions(each) if isinstance(each, CodeType) else each for each in code.co_consts
    )
    return code.replace(co_consts=tuple(constants), co_linetable=b"", co_firstlineno=1)
