"""The value that a name has while nothing has been assigned to it."""

from __future__ import annotations


class Undefined:
    """The type of `UNDEFINED`."""

    def __repr__(self) -> str:
        return "UNDEFINED"


UNDEFINED = Undefined()
