"""Import statements inside functions."""

from __future__ import annotations

import ast
import importlib
import sys
import types
from contextlib import suppress

from ...ir.graph import Const
from ..domain.values import Value
from ..machine.failing import fail_now, raise_now
from ..machine.guards import is_users_module, rely_on
from ..machine.interpreter import Interpreter


def run_import(it: Interpreter, node: ast.Import) -> None:
    for alias in node.names:
        module = _imported(it, alias.name)
        top = alias.name.split(".")[0]
        it.bind(alias.asname or top, Const(module if alias.asname else sys.modules[top]))


def run_import_from(it: Interpreter, node: ast.ImportFrom) -> None:
    package = it.frame.scope.globals.get("__package__")
    module = _imported(it, "." * node.level + (node.module or ""), package)
    for alias in node.names:
        it.bind(alias.asname or alias.name, _from_module(it, module, alias.name))


def _from_module(it: Interpreter, module: types.ModuleType, name: str) -> Value:
    if not hasattr(module, name):
        with suppress(ImportError):
            importlib.import_module(f"{module.__name__}.{name}")
    if not hasattr(module, name):
        where = getattr(module, "__file__", None) or "unknown location"
        said = f"cannot import name {name!r} from {module.__name__!r} ({where})"
        raise_now(it, ImportError, said)
    return it.getattr(Const(module), name)


def _imported(it: Interpreter, name: str, package: str | None = None) -> types.ModuleType:
    try:
        module = importlib.import_module(name, package)
    except ImportError:
        return fail_now(it, importlib.import_module, Const(name), Const(package))
    if is_users_module(module):
        rely_on(it.reading.guards, sys.modules, module.__name__, module)
    return module
