"""Parts of tables of data."""

from __future__ import annotations

import builtins
from collections.abc import Callable
from typing import Any

Step = Callable[[Any], Any]


class Part:
    """What some steps lead to from a table; `now` takes them again."""

    __slots__ = ("__weakref__", "_steps", "_table", "name")

    def __init__(self, table: Any, steps: tuple[Step, ...] = (), name: str = "table"):
        self._table = table
        self._steps = steps
        self.name = name

    @property
    def now(self) -> Any:
        found = self._table
        for step in self._steps:
            found = step(found)
        return found

    def after(self, step: Step, key: Any = None) -> Part:
        """What one step more leads to; a column that the key names gives its name to what is made of it."""
        named = isinstance(key, str) and key.isidentifier() and not hasattr(builtins, key)
        return Part(self._table, (*self._steps, step), key if named else self.name)

    @property
    def raises(self) -> bool:
        """Whether the last step raises."""
        try:
            _ = self.now
        except Exception:
            return True
        return False

    def fails(self) -> Any:
        """What the last step raises."""
        return self.now
