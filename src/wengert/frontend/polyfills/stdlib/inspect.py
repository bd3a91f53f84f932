"""Questions whose answer the program computes, written in Python: the front end reads this instead."""

from __future__ import annotations

import inspect
from typing import Any


class BoundArguments:
    """`inspect.BoundArguments`, without the exceptions by which that tells what is missing."""

    __stands_for__ = inspect.BoundArguments

    def __init__(self, signature: inspect.Signature, arguments: dict[str, Any]):
        self.signature = signature
        self.arguments = arguments

    @property
    def args(self) -> tuple[Any, ...]:
        args: list[Any] = []
        for name, param in self.signature.parameters.items():
            if param.kind in (param.VAR_KEYWORD, param.KEYWORD_ONLY) or name not in self.arguments:
                break
            if param.kind == param.VAR_POSITIONAL:
                args.extend(self.arguments[name])
            else:
                args.append(self.arguments[name])
        return tuple(args)

    @property
    def kwargs(self) -> dict[str, Any]:
        kwargs: dict[str, Any] = {}
        started = False
        for name, param in self.signature.parameters.items():
            by_name = param.kind in (param.VAR_KEYWORD, param.KEYWORD_ONLY)
            started = started or by_name or name not in self.arguments
            if started and name in self.arguments:
                if param.kind == param.VAR_KEYWORD:
                    kwargs.update(self.arguments[name])
                else:
                    kwargs[name] = self.arguments[name]
        return kwargs

    def apply_defaults(self) -> None:
        arguments: dict[str, Any] = {}
        for name, param in self.signature.parameters.items():
            if name in self.arguments:
                arguments[name] = self.arguments[name]
            elif param.default is not param.empty:
                arguments[name] = param.default
            elif param.kind == param.VAR_POSITIONAL:
                arguments[name] = ()
            elif param.kind == param.VAR_KEYWORD:
                arguments[name] = {}
        self.arguments = arguments


def has_attribute(value: Any, name: str) -> bool:
    """`hasattr`, where a method may say that there is no such attribute."""
    try:
        getattr(value, name)
    except AttributeError:
        return False
    return True


def attribute_or(value: Any, name: str, default: Any) -> Any:
    """`getattr` with a default, where a method may say that there is no such attribute."""
    try:
        return getattr(value, name)
    except AttributeError:
        return default
