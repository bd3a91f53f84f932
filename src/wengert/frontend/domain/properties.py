"""What an object keeps in its `__dict__` under the name of a property of its class: its attribute is the property."""

from __future__ import annotations


def is_property(cls: type | None, name: object) -> bool:
    """Whether an attribute of objects of a class is a property, whatever these keep."""
    return isinstance(name, str) and isinstance(getattr(cls, name, None), property)


def behind_property(cls: type | None, name: str) -> tuple[str, str]:
    """Says that reading does not follow an entry that no attribute leads to, and the way out."""
    of_class = "an object" if cls is None else f"a {cls.__name__}"
    return (
        f"the `__dict__` of {of_class} has an entry `{name}`, behind the property of its class",
        "Keep it under another name.",
    )
