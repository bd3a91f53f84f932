"""Derivatives that are found for arguments like those before, without finding the kinds of everything in them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any
from weakref import ref

from ..frontend.boundary.kind_checks import KindCheck
from ..ir.records import field, mutable_record
from .calling import Call
from .derived import Derived
from .wanted import Verb

MOST = 4
"""How many kinds of calls of one function are tried, and with how many verbs."""


@mutable_record
class _Ways:
    """What calls of one function with one verb came to: the last of them, and those that have come to it twice."""

    verb: Verb
    last: Derived
    checks: list[tuple[Any, Callable[..., Any], Derived]] = field(default_factory=list[Any])


_known: dict[int, tuple[ref[Any], list[_Ways]]] = {}
"""By the identity of the function."""


def find(
    verb: Verb, function: Any, args: Sequence[Any], kwargs: Mapping[str, Any]
) -> Derived | None:
    """The derivative of an earlier call, if this one is of the same kinds and nothing it relied on has changed."""
    ways = _ways_of(verb, function)
    if ways is None:
        return None
    shape = len(args), *kwargs
    for way in ways.checks:
        expected, check, derived = way
        if shape == expected and check(function, *args, *kwargs.values()):
            if derived.in_force():
                return derived
            ways.checks = [each for each in ways.checks if each is not way]
    return None


def _ways_of(verb: Verb, function: Any) -> _Ways | None:
    known, ways = _known.get(id(function), (None, ()))
    if known is None or known() is not function:
        return None
    return next((each for each in ways if each.verb is verb or each.verb == verb), None)


def note(
    verb: Verb,
    function: Any,
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
    call: Call,
    derived: Derived,
) -> None:
    """A call came to a derivative: if it has come to it before, the next one is looked for with a check."""
    if call.narrow or call.namespace is not None:
        return
    ways = _ways_of(verb, function)
    if ways is None:
        _begin(function, _Ways(verb, derived))
    elif ways.last is not derived:
        ways.last = derived
    elif not any(each is derived for _, _, each in ways.checks):
        check = check_of_call(call, len(args), kwargs)
        ways.checks = [((len(args), *kwargs), check, derived), *ways.checks[: MOST - 1]]


def _begin(function: Any, ways: _Ways) -> None:
    key = id(function)
    known, others = _known.get(key, (None, list[_Ways]()))
    if known is None or known() is not function:
        try:
            known, others = ref(function, lambda gone, known=_known: known.pop(key, None)), []
        except TypeError:
            return  # an object that nobody can follow
    _known[key] = known, [ways, *others[: MOST - 1]]


def check_of_call(
    call: Call, count: int, names: Iterable[str], *, in_order: bool = False
) -> Callable[..., Any]:
    """What says of a function and its arguments that a call is one of these kinds: its no is not the last word."""
    names = list(names)
    given = [f"given{k}" for k in range(count)]
    named = [f"named{k}" for k in range(len(names))]
    check = KindCheck(["function", *given, *named], in_order=in_order)
    check.ask_function("function", call.target)
    for text, (_, kind) in zip(given, call.arguments, strict=True):
        check.ask(text, kind)
    kinds = dict(call.keywords)
    for text, name in zip(named, names, strict=True):
        check.ask(text, kinds[name])
    return check.made()
