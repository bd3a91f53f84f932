"""`tqdm`, in Python: its bars count, and show nothing. A derivative goes through its loops in its own way."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from ...ops.program.refusals import uncovered


class Bar:
    """`tqdm.tqdm`."""

    def __init__(
        self,
        iterable: Any = None,
        desc: Any = None,
        total: Any = None,
        *settings: Any,
        **named: Any,
    ) -> None:
        self.iterable = iterable
        self.desc = desc
        self.total = len(iterable) if total is None and hasattr(iterable, "__len__") else total
        self._done = named.get("initial", 0)
        self._counts = iterable is None and not named.get("disable", False)

    @property
    def n(self) -> Any:
        if not self._counts:
            raise uncovered(
                "what a bar counts that is not updated by hand", "Count the turns yourself."
            )
        return self._done

    def __iter__(self) -> Any:
        return iter(self.iterable)

    def __len__(self) -> Any:
        return len(self.iterable) if self.total is None else self.total

    def __bool__(self) -> bool:
        return self.total is None or self.total > 0

    def __enter__(self) -> Any:
        return self

    def __exit__(self, *raised: object) -> None:
        pass

    def update(self, n: Any = 1) -> None:
        self._done += n

    def reset(self, total: Any = None) -> None:
        self._done = 0

    def refresh(self, *settings: Any, **named: Any) -> None:
        pass

    display = clear = unpause = close = refresh
    set_description = set_description_str = set_postfix = set_postfix_str = refresh

    @classmethod
    def write(cls, s: str, *settings: Any, **named: Any) -> None:
        print(s)  # noqa: T201


def equivalent_of(function: Any) -> Callable[..., Any] | None:
    """What stands for a class of bars."""
    bars = getattr(sys.modules.get("tqdm.std"), "tqdm", None)
    is_bar = isinstance(bars, type) and isinstance(function, type) and issubclass(function, bars)
    return Bar if is_bar and function.__module__.partition(".")[0] == "tqdm" else None


EQUIVALENTS: list[tuple[Any, Callable[..., Any]]] = []
"""None that are known by themselves."""
