"""Classes of attributes that are set once.

Type checkers refuse an assignment to their attributes, as to a frozen dataclass's; at run time
nothing does. A frozen dataclass takes three times as long to define, and to make an instance of:
the definitions alone were a third of the time of `import wengert`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, TypeVar, dataclass_transform

Class = TypeVar("Class", bound=type)


@dataclass_transform(frozen_default=True, eq_default=False, field_specifiers=(field,))
def record(cls: Class) -> Class:
    """Compared by identity, unless the class says otherwise."""
    return dataclass(slots=True, eq=False, repr=False)(cls)  # type: ignore[return-value]


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def value_record(cls: Class) -> Class:
    """Compared by what it holds; may be the key of a dictionary."""
    cls.__repr__ = _shown  # type: ignore[method-assign]
    return dataclass(slots=True, unsafe_hash=True, repr=False)(cls)  # type: ignore[return-value]


def _shown(self: Any) -> str:
    """As a dataclass shows itself."""
    inside = ", ".join(f"{name}={getattr(self, name)!r}" for name in self.__match_args__)
    return f"{type(self).__qualname__}({inside})"
