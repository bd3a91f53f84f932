"""What a program reads from outside: global values."""

from __future__ import annotations

from typing import Any

from ....ir.graph import Function, walk, with_called


def read_from_outside(function: Function) -> list[tuple[Any, str]]:
    """The global values that a function reads: in what, and under which name."""
    found: dict[tuple[int, str], tuple[Any, str]] = {}
    for each in with_called(function):
        for eqn in walk(each.body):
            if eqn.op.name == "global":
                holder, key = eqn.param("holder"), eqn.param("key")
                found[id(holder), key] = (holder, key)
    return list(found.values())
