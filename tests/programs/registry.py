"""The list of programs, and how a theme adds one."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, eq=False)
class Program:
    """A plain Python function and argument tuples to differentiate it at.

    `wrt` are the arguments with a derivative (all by default; counts and names are left out);
    `rel` is the relative error allowed against the oracle; `smooth` says whether a second
    derivative may be compared; `autograd` whether HIPS autograd can run it; `late` whether only
    the run tells which function is called. A call works on copies: a program may change what it is given.
    """

    function: Callable[..., Any]
    points: tuple[tuple[Any, ...], ...]
    wrt: tuple[int, ...]
    theme: str
    rel: float = 1e-11
    smooth: bool = True
    autograd: bool = False
    late: bool = False
    note: str = ""

    def __call__(self, *args: Any) -> Any:
        return self.function(*copy.deepcopy(args))

    @property
    def name(self) -> str:
        return f"{self.theme}.{self.function.__name__}"


PROGRAMS: list[Program] = []


def add(function, *points, wrt=None, theme=None, **options):
    """Put a function into the corpus; every argument tuple is a point to differentiate it at."""
    theme = theme or function.__module__.rpartition(".")[2]
    wrt = tuple(range(len(points[0]))) if wrt is None else tuple(wrt)
    PROGRAMS.append(Program(function, points, wrt, theme, **options))
