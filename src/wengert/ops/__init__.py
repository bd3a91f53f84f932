"""The vocabulary: `wg.ops.sin(x)` is the sine of whatever `x` is."""

from __future__ import annotations

import sys
from importlib.util import find_spec
from typing import Any


def __getattr__(name: str) -> Any:
    registry = sys.modules.get(f"{__name__}.registry")
    if registry is not None and name[0] != "_" and find_spec(f"{__name__}.{name}") is None:
        try:
            return registry.named(name)
        except KeyError:
            pass
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
