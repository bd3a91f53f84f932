"""Context managers of the standard library, in the Python that the front end reads instead of theirs."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any


class ExitStack:
    """`contextlib.ExitStack`."""

    def __init__(self) -> None:
        self.leaving: list[Callable[..., Any]] = []

    def __enter__(self) -> Any:
        return self

    def __exit__(self, cls: Any, exception: Any, trace: Any) -> Any:  # noqa: PYI036
        suppressed = False
        for leave in reversed(self.leaving):
            if suppressed:
                leave(None, None, None)
            elif leave(cls, exception, trace):
                suppressed = True
        self.leaving = []
        return suppressed and cls is not None

    def enter_context(self, manager: Any) -> Any:
        entered = manager.__enter__()
        self.leaving.append(manager.__exit__)
        return entered

    def push(self, leave: Any) -> Any:
        if hasattr(leave, "__exit__"):
            self.leaving.append(leave.__exit__)
        else:
            self.leaving.append(leave)
        return leave

    def callback(self, function: Any, /, *args: Any, **options: Any) -> Any:
        def leave(cls: Any, exception: Any, trace: Any) -> Any:
            function(*args, **options)
            return False

        self.leaving.append(leave)
        return function

    def pop_all(self) -> Any:
        others = ExitStack()
        others.leaving, self.leaving = self.leaving, []
        return others

    def close(self) -> None:
        self.__exit__(None, None, None)


EQUIVALENTS: list[tuple[Any, Callable[..., Any]]] = [(contextlib.ExitStack, ExitStack)]
