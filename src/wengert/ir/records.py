"""Classes of attributes that are set once.

Type checkers refuse an assignment to their attributes, as to a frozen dataclass's; at run time nothing
does. A frozen dataclass takes three times as long to define and to make an instance of: of sixty such
classes a third of the time of `import wengert` would be spent on them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeVar, dataclass_transform

Class = TypeVar("Class", bound=type)


@dataclass_transform(frozen_default=True, eq_default=False, field_specifiers=(field,))
def record(cls: Class) -> Class:
    """Compared by identity, unless the class says otherwise."""
    return dataclass(slots=True, eq=False, repr=False)(cls)  # type: ignore[return-value]


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def value_record(cls: Class) -> Class:
    """Compared by what it holds; may be the key of a dictionary."""
    return dataclass(slots=True, unsafe_hash=True)(cls)  # type: ignore[return-value]
