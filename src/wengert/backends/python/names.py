"""Names for local values: the user's where possible, shared where lifetimes allow."""

from __future__ import annotations

import keyword
from bisect import bisect_left
from collections.abc import Iterable
from functools import lru_cache

KEYWORDS = frozenset(keyword.kwlist)
_TRIES = 12
"""How many taken names are looked at before a new one is made."""


@lru_cache(maxsize=4096)
def identifier(hint: str, default: str = "") -> str:
    """A valid Python name that looks like `hint`, or `default` if nothing of it can stay.

    A hint that starts with "%" is not the user's and gives no name.
    """
    if hint.startswith("%"):
        return default
    name = hint if hint.isascii() else _as_python_reads_it(hint)
    if not name.isidentifier():
        name = "".join(c if ("_" + c).isidentifier() else "_" for c in name).strip("_")
        name = f"_{name}" if name[:1].isdigit() else name
    if not name or not name.isidentifier():
        return default
    return name + "_" if name in KEYWORDS else name


def _as_python_reads_it(name: str) -> str:
    import unicodedata  # an extension module, for the few names that need it

    return unicodedata.normalize("NFKC", name)


def versions(name: str) -> Iterable[str]:
    """`x`, `x_2`, `x_3` …"""
    yield name
    number = 2
    while True:
        yield f"{name}_{number}"
        number += 1


class Lifetime:
    """The stretches of a program, first and last position of each, in which a value is alive."""

    __slots__ = ("ends", "starts")

    def __init__(self, stretches: Iterable[tuple[int, int]] = ()):
        self.starts: list[int] = []
        self.ends: list[int] = []
        for start, end in sorted(stretches):
            if self.ends and start <= self.ends[-1]:
                self.ends[-1] = max(self.ends[-1], end)
            else:
                self.starts.append(start)
                self.ends.append(end)

    def __bool__(self) -> bool:
        return bool(self.starts)

    def meets(self, other: Lifetime) -> bool:
        """Whether both are alive at some position."""
        few, many = sorted((self, other), key=lambda lifetime: len(lifetime.starts))
        return any(
            many.alive_within(start, end) for start, end in zip(few.starts, few.ends, strict=True)
        )

    def add(self, other: Lifetime) -> None:
        """Be alive wherever `other` is, too; the two must not meet."""
        for start, end in zip(other.starts, other.ends, strict=True):
            at = bisect_left(self.starts, start)
            self.starts.insert(at, start)
            self.ends.insert(at, end)

    def alive_within(self, start: int, end: int) -> bool:
        """Whether some stretch meets these positions."""
        at = bisect_left(self.ends, start)
        return at < len(self.starts) and self.starts[at] <= end


class Names:
    """Gives out the local names of one function.

    `reserved` are the names of the module that the function uses.
    """

    def __init__(self, reserved: Iterable[str]):
        self._reserved = frozenset(reserved) | {"_"}
        self._taken: dict[str, Lifetime] = {}
        self._families: dict[str, list[str]] = {}
        self._temporaries = 0

    def fix(self, name: str, lifetime: Lifetime) -> None:
        """Say that something, an argument, has this name."""
        if name in self._taken:
            self._taken[name].add(lifetime)
        else:
            self._taken[name] = lifetime
            self._families.setdefault(name, []).append(name)

    def give(self, hint: str, lifetime: Lifetime) -> str:
        """A name that nothing else has during the lifetime."""
        base = identifier(hint)
        if not base or base == "_":
            return self._temporary(lifetime)
        family = self._families.setdefault(base, [])
        candidates = family if len(family) <= _TRIES else [*family[:2], *family[2 - _TRIES :]]
        for name in candidates:
            if not self._taken[name].meets(lifetime):
                self._taken[name].add(lifetime)
                return name
        return self._fresh(base, family, lifetime)

    def _fresh(self, base: str, family: list[str], lifetime: Lifetime) -> str:
        number = len(family) + 1
        name = base if number == 1 else f"{base}_{number}"
        while name in self._taken or name in self._reserved:
            number += 1
            name = f"{base}_{number}"
        family.append(name)
        self._taken[name] = lifetime
        return name

    def _temporary(self, lifetime: Lifetime) -> str:
        while True:
            self._temporaries += 1
            name = f"t{self._temporaries}"
            if name not in self._taken and name not in self._reserved:
                self._taken[name] = lifetime
                return name
