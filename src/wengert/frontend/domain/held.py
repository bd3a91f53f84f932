"""What Python's own class machinery finds in place of what the program computes."""

from __future__ import annotations

from .values import Scope, Value


class StandIn:
    """What a class body finds in place of a variable of the function around it."""

    __slots__ = ("name", "scope")

    def __init__(self, name: str, scope: Scope):
        self.name = name
        self.scope = scope


class Held:
    """An attribute of a class whose value the program computes."""

    __slots__ = ("value",)

    def __init__(self, value: Value):
        self.value = value
