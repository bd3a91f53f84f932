"""The text of a class that a function defines: a module that stands alone cannot import it."""

from __future__ import annotations

import builtins
import inspect
import symtable
import sys
import textwrap
from collections.abc import Callable, Iterable, Iterator
from typing import Any

Bind = Callable[[str, Any, str], None]
"""Has a name bound to a value that is a global of the module of a name."""


def class_text(cls: type, bind: Bind) -> str | None:
    """The statement that defines a class; None if it needs variables of the function around it."""
    module = sys.modules.get(cls.__module__)
    if "<locals>" not in cls.__qualname__ or module is None:
        return None
    try:
        lines, start = inspect.getsourcelines(cls)
        whole = symtable.symtable(inspect.getsource(module), "", "exec")
    except (OSError, TypeError):
        return None
    text = textwrap.dedent("".join(lines)).rstrip()
    names = set(globals_of(symtable.symtable(text, "", "exec"))) - {cls.__name__}
    around = _names_around(whole, cls.__name__, range(start, start + len(lines)))
    if around is None or not names.isdisjoint(around):
        return None
    for each in sorted(names):
        if hasattr(module, each):
            bind(each, getattr(module, each), module.__name__)
        elif not hasattr(builtins, each):
            return None
    return text


def globals_of(table: symtable.SymbolTable) -> Iterator[str]:
    """The names that a text looks up outside of itself."""
    top = table.get_type() == "module"
    for symbol in table.get_symbols():
        if symbol.is_referenced() and (top or symbol.is_global()):
            yield symbol.get_name()
    for child in table.get_children():
        yield from globals_of(child)


def _names_around(
    table: symtable.SymbolTable,
    name: str,
    lines: Iterable[int],
    outer: frozenset[str] = frozenset(),
) -> frozenset[str] | None:
    """The variables of the functions around a class; None if the class is not found."""
    if isinstance(table, symtable.Function):
        outer = outer.union(table.get_locals(), table.get_frees())
    for child in table.get_children():
        if isinstance(child, symtable.Class) and child.get_name() == name:
            if child.get_lineno() in lines:
                return outer
        found = _names_around(child, name, lines, outer)
        if found is not None:
            return found
    return None
