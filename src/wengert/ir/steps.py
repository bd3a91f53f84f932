"""Steps into a value that are neither indices nor keys: constants in the path of a write."""

from __future__ import annotations

from typing import Any

from .op import Op
from .records import value_record


@value_record
class Field:
    """The step to the attribute `name` of an object."""

    name: str

    def of(self, x: Any) -> Any:
        """The attribute of a run-time value."""
        return getattr(x, self.name)


@value_record
class Viewed:
    """The step to what an op makes of an array without copying it: `.T`, `.reshape(shape)`.

    `options` are pairs of a name and a value.
    """

    op: Op
    namespace: str
    options: tuple[tuple[str, Any], ...] = ()

    def of(self, x: Any) -> Any:
        """The view of a run-time value."""
        return self.op(x, **dict(self.options))
