"""Which tier a call of a derivative function takes, why, and what that relies on; and the rule of a function."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from types import FunctionType, ModuleType
from typing import Any

from ..compile import calling, engine
from ..compile.calling import Call
from ..compile.derived import Derived
from ..compile.wanted import Verb
from ..errors import WengertError
from ..frontend.machine.guards import PARTS, Guard
from ..frontend.polyfills.manifest import stand_in_for as stand_in_for  # which descriptions look in
from ..rules.description import Description, describe

MOST_NAMES = 12
"""How many names are listed that a derivative relies on."""

_RECORDED = (
    "recorded: each call runs the program once, in Python, and goes back over what it computed"
)
_READ = "read: the derivative is generated from the source"


def rule(function: Any) -> Description:
    """The rule that would be used for a function, where it is written, and its source.

    Returns:
        A description that prints itself; where there is no rule it says what can be done.
    """
    return describe(function)


def of_call(verb: Verb, function: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> str:
    """Which tier takes a call with these arguments, and why."""
    call = calling.call_of(function, args, kwargs)
    if verb.tier == "recorded":
        return _told(call, f"{_RECORDED}\n  as tier='recorded' says")
    try:
        engine.derive_for(verb, function, args, kwargs, or_recorded=not verb.tier)
    except WengertError as refusal:
        return _told(call, _after(verb, refusal))
    return _told(
        call, _of_known(verb, *engine.known(verb, engine.call_for(verb, function, args, kwargs)))
    )


def of_calls(verb: Verb, function: Any) -> str:
    """The same for the calls so far."""
    if verb.tier == "recorded":
        return f"{_RECORDED}, as tier='recorded' says"
    told = [
        _told(call, _of_known(verb, *engine.known(verb, call)))
        for call in engine.calls_of(verb, function)
    ]
    return "\n".join(told) or "no call so far"


def text_of(verb: Verb, function: Any) -> str | None:
    """A derivative without its helpers, as the last of its calls took it; None where it has no text."""
    known = [engine.known(verb, call)[0] for call in engine.calls_of(verb, function)]
    try:
        last = next(filter(None, reversed(known)), None) or engine.derive_generally(verb, function)
        return "\n\n".join(printed.text for printed in last.printed)
    except WengertError:
        return None


def _told(call: Call, said: str) -> str:
    kinds = ", ".join(f"{name}: {kind}" for name, kind in (*call.arguments, *call.keywords))
    return f"({kinds}) {said}"


def _of_known(verb: Verb, derived: Derived | None, refusal: WengertError | None) -> str:
    if derived is None:
        assert refusal is not None
        return _after(verb, refusal)
    said = _READ
    if refusal is not None:
        otherwise = "raise this" if verb.tier else "are recorded"
        said += (
            f"; runs that come to a line that is refused {otherwise}:\n{_indented(str(refusal))}"
        )
    names = list(dict.fromkeys(_names(derived.guards)))
    if names:
        more = ["…"] if len(names) > MOST_NAMES else []
        said += f"\n  relies on {', '.join([*names[:MOST_NAMES], *more])}"
    return said


def _after(verb: Verb, refusal: WengertError) -> str:
    said = "refused" if verb.tier else f"{_RECORDED}\n  reading the source is refused"
    return f"{said}:\n{_indented(str(refusal))}"


def _indented(text: str) -> str:
    return "\n".join(f"    {line}".rstrip() for line in text.splitlines())


def _names(guards: Sequence[Guard]) -> Iterator[str]:
    """What a derivative relies on, by the names that the program has for it."""
    for holder, key, _ in guards:
        if isinstance(holder, FunctionType) and key in PARTS:
            yield f"{holder.__name__}()"
        elif isinstance(holder, (type, ModuleType)):
            yield f"{holder.__name__}.{key}"
        elif isinstance(holder, dict):
            yield str(key)
