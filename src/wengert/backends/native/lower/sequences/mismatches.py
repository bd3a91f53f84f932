"""What lowering learns when an item does not fit the list that it is put into."""

from __future__ import annotations

from collections.abc import Hashable

from ...values.values import Unlowered, Value


class Mismatch(Unlowered):
    """An item of another type than the list that it is put into was made for."""

    def __init__(self) -> None:
        super().__init__("a list of items of different types")


class Widened(Exception):
    """A list of floats turned out to be given floats of 32 bits."""


class Loosened(Exception):
    """A list turned out to be given numbers of another type than those that it was made of."""

    def __init__(self, key: Hashable):
        super().__init__()
        self.key = key


class Learned(Exception):
    """A list that starts empty turned out to hold items like this one."""

    def __init__(self, key: Hashable, item: Value):
        super().__init__()
        self.key = key
        self.item = item
