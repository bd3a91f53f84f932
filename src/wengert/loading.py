"""Modules that few programs need: loaded when something in them is first asked for.

A package says which of its modules these are. Who needs one writes an import like any other,
`from . import contexts`, and reads what it needs from there: `contexts.run_with(it, node)`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from importlib import import_module
from types import ModuleType
from typing import Any


def later(package: str, modules: Collection[str]) -> Callable[[str], ModuleType]:
    """What a package has for its `__getattr__`, so that these modules of it are loaded later."""

    def module_of_package(name: str) -> ModuleType:
        if name in modules:
            return _Later(f"{package}.{name}")
        raise AttributeError(f"module {package!r} has no attribute {name!r}")

    return module_of_package


class _Later(ModuleType):
    """Stands for a module that is not loaded before something in it is asked for."""

    def __getattr__(self, name: str) -> Any:
        value = getattr(import_module(self.__name__), name)
        setattr(self, name, value)  # from now on it is found here
        return value
