"""The vocabulary: `wg.ops.sin(x)` is the sine of whatever `x` is."""

from __future__ import annotations

import sys
from os.path import exists
from typing import Any


def __getattr__(name: str) -> Any:
    registry = sys.modules.get(f"{__name__}.registry")
    place = f"{__path__[0]}/{name}"
    is_module = exists(place) or exists(f"{place}.py")  # noqa: PTH110  # `pathlib` takes long to load
    if registry is not None and name[0] != "_" and not is_module:
        try:
            return registry.named(name)
        except KeyError:
            pass
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
