"""Errors as users see them: with their own frames, at their own lines."""

from __future__ import annotations

from typing import Any

from ..compile import calling
from ..errors import (
    EqualValues,
    ImmutableArray,
    LostWrite,
    MixedLibraries,
    NoRule,
    NotASolution,
    NotScalar,
    RuleError,
    UnsupportedSyntax,
    WengertError,
    of_generated_code,
)
from ..ir.graph import Span
from ..rules.places import at_its_rule


class AtUsersFrames:
    """A block out of which errors of wengert's come with the frames of the user's code alone."""

    def __enter__(self) -> None:
        pass

    def __exit__(self, _kind: object, error: BaseException | None, _entries: object) -> None:
        if isinstance(error, WengertError):
            error.__traceback__ = error.frames_to_show()


_OF_RUNS = (
    EqualValues,
    ImmutableArray,
    LostWrite,
    MixedLibraries,
    NoRule,
    NotASolution,
    UnsupportedSyntax,
)
"""Errors whose place is where the run was."""


def presented(error: Exception, function: Any = None) -> Exception:
    """An exception as the user should see it: their lines, wengert's own errors as such."""
    from ..backends.python.traceback import last_user_span, without_generated

    place = getattr(error, "place", None)
    error = of_generated_code(error)
    if isinstance(error, WengertError) and place is not None:
        error = error.at(Span(*place))
    if isinstance(error, RuleError):
        error = at_its_rule(error)
    elif isinstance(error, _OF_RUNS):
        error = error.at(last_user_span(error.__traceback__))
    elif isinstance(error, NotScalar):
        error = error.at(calling.definition_of(function))
    if isinstance(error, WengertError):
        return error.with_traceback(error.frames_to_show())
    return error.with_traceback(without_generated(error.__traceback__))
