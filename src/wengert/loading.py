"""How modules are loaded: those that few programs need when something in them is first asked for.

A package says which of its modules these are. Who needs one writes an import like any other,
`from . import contexts`, and reads what it needs from there: `contexts.run_with(it, node)`.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from importlib import import_module
from types import ModuleType
from typing import Any


def later(package: str, *modules: str) -> Callable[[str], ModuleType]:
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


@contextmanager
def collecting_later() -> Generator[None]:
    """Inside a `with` block, no garbage is looked for.

    What an import or a derivation makes is needed to its end: to look through all of it again and again
    takes a tenth of the time, and finds nothing. What loaded modules hold stays: with `freeze` and
    `unfreeze` it joins the oldest objects unsearched.
    """
    if not gc.isenabled():
        yield
        return
    loaded = len(sys.modules)
    gc.disable()
    try:
        yield
    finally:
        if len(sys.modules) > loaded and not gc.get_freeze_count():
            gc.freeze()
            gc.unfreeze()
        gc.enable()
