"""`match` statements."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from ..ir.graph import Const
from ..ir.types import UNKNOWN, Seq
from ..ops import structure as st
from .expressions import compare, evaluate, subscript, truth
from .values import Items, Value, kind_of_value, list_of

if TYPE_CHECKING:
    from .interpreter import Interpreter


def run_match(it: Interpreter, node: ast.Match) -> None:
    """Try the cases one after the other."""
    subject = evaluate(it, node.subject)
    _run_cases(it, subject, node.cases)


def _run_cases(it: Interpreter, subject: Value, cases: list[ast.match_case]) -> None:
    from .statements import run_body

    if not cases:
        return
    case, *others = cases
    bindings: dict[str, Value] = {}
    matched = _matches(it, subject, case.pattern, bindings)
    if case.guard is not None:
        guard = case.guard

        def guarded() -> Value:
            _bind_all(it, bindings)
            return evaluate(it, guard)

        matched = it.choose(truth(it, matched), guarded, lambda: Const(False))

    def run() -> None:
        _bind_all(it, bindings)
        run_body(it, case.body)

    it.branch(truth(it, matched), run, lambda: _run_cases(it, subject, others))


def _bind_all(it: Interpreter, bindings: dict[str, Value]) -> None:
    from .statements import bind

    for name, value in bindings.items():
        bind(it, name, value)


def _both(it: Interpreter, a: Value, b: Value) -> Value:
    for known, other in ((a, b), (b, a)):
        truth_ = it.known_truth(known)
        if truth_ is not None:
            return other if truth_ else Const(False)
    return it.emit(st.both, it.atom(a), it.atom(b))


def _matches(
    it: Interpreter, subject: Value, pattern: ast.pattern, bindings: dict[str, Value]
) -> Value:
    match pattern:
        case ast.MatchValue(value=value):
            return compare(it, ast.Eq(), subject, evaluate(it, value))
        case ast.MatchSingleton(value=value):
            return compare(it, ast.Is(), subject, Const(value))
        case ast.MatchAs(pattern=inner, name=name):
            if name is not None:
                bindings[name] = subject
            return Const(True) if inner is None else _matches(it, subject, inner, bindings)
        case ast.MatchOr(patterns=patterns):
            return _matches_any(it, subject, patterns, bindings)
        case ast.MatchSequence(patterns=patterns):
            return _matches_sequence(it, subject, patterns, bindings)
        case ast.MatchMapping() if pattern.rest is None:
            return _matches_mapping(it, subject, pattern, bindings)
        case ast.MatchClass():
            return _matches_class(it, subject, pattern, bindings)
        case _:
            raise it.unsupported("this pattern is not covered", "Use `if` and `elif`.", pattern)


def _matches_any(
    it: Interpreter, subject: Value, patterns: list[ast.pattern], bindings: dict[str, Value]
) -> Value:
    first, *rest = patterns
    matched = _matches(it, subject, first, bindings)
    if not rest:
        return matched
    known = it.known_truth(matched)
    if known is True:
        return matched
    other = _matches_any(it, subject, rest, bindings)
    return other if known is False else it.emit(st.either, it.atom(matched), truth(it, other))


def _matches_sequence(
    it: Interpreter, subject: Value, patterns: list[ast.pattern], bindings: dict[str, Value]
) -> Value:
    starred = next((k for k, p in enumerate(patterns) if isinstance(p, ast.MatchStar)), None)
    if isinstance(subject, Items) and subject.form in ("tuple", "list", "namedtuple"):
        return _matches_items(it, list(subject.values), patterns, starred, bindings)
    if not (isinstance(kind_of_value(subject), Seq) or kind_of_value(subject) == UNKNOWN):
        return Const(False)  # arrays, numbers and strings are no sequences to `match`
    count = it.emit(st.length, it.atom(subject))
    wanted = Const(len(patterns) - (starred is not None))
    enough = it.emit(st.eq if starred is None else st.ge, count, wanted)
    inner: dict[str, Value] = {}

    def parts() -> Value:
        matched: Value = Const(True)
        for k, pattern in enumerate(patterns):
            if isinstance(pattern, ast.MatchStar):
                stop = k - len(patterns) + 1
                if pattern.name is not None:
                    inner[pattern.name] = subscript(
                        it, subject, Const(slice(k, stop or None, None))
                    )
                continue
            at = k if starred is None or k < starred else k - len(patterns)
            matched = _both(
                it, matched, _matches(it, subscript(it, subject, Const(at)), pattern, inner)
            )
        it.vars.update(inner)
        return matched

    result = it.choose(enough, parts, lambda: Const(False))
    bindings.update({name: it.vars[name] for name in inner})
    for name in inner:
        bindings[name] = it.checked(bindings[name], name)
    return result


def _matches_items(
    it: Interpreter,
    items: list[Value],
    patterns: list[ast.pattern],
    starred: int | None,
    bindings: dict[str, Value],
) -> Value:
    if starred is None and len(items) != len(patterns):
        return Const(False)
    if starred is not None:
        tail = len(patterns) - starred - 1
        if len(items) < len(patterns) - 1:
            return Const(False)
        rest = list_of(*items[starred : len(items) - tail])
        items = [*items[:starred], rest, *items[len(items) - tail :]]
    matched: Value = Const(True)
    for item, pattern in zip(items, patterns, strict=True):
        if isinstance(pattern, ast.MatchStar):
            if pattern.name is not None:
                bindings[pattern.name] = item
            continue
        matched = _both(it, matched, _matches(it, item, pattern, bindings))
    return matched


def _matches_mapping(
    it: Interpreter, subject: Value, pattern: ast.MatchMapping, bindings: dict[str, Value]
) -> Value:
    if not (isinstance(subject, Items) and subject.form == "dict"):
        raise it.unsupported(
            "a mapping pattern needs a dictionary whose keys are known",
            "Use `if` and `elif`.",
            pattern,
        )
    matched: Value = Const(True)
    for key_node, inner in zip(pattern.keys, pattern.patterns, strict=True):
        key = evaluate(it, key_node)
        assert isinstance(key, Const)
        if key.value not in subject.keys:
            return Const(False)
        matched = _both(it, matched, _matches(it, subject[key.value], inner, bindings))
    return matched


def _matches_class(
    it: Interpreter, subject: Value, pattern: ast.MatchClass, bindings: dict[str, Value]
) -> Value:
    from .attributes import read_attribute
    from .objects import class_of

    cls = evaluate(it, pattern.cls)
    known = class_of(subject)
    if not isinstance(cls, Const) or known is None:
        raise it.unsupported(
            "a class pattern needs a value of known class", "Use `if isinstance(...)`.", pattern
        )
    if not issubclass(known, cls.value):
        return Const(False)
    if pattern.patterns and cls.value in (int, float, str, bool, complex, list, tuple, dict):
        return _matches(it, subject, pattern.patterns[0], bindings)
    names = list(getattr(cls.value, "__match_args__", ()))[: len(pattern.patterns)]
    parts = [
        *zip(names, pattern.patterns, strict=True),
        *zip(pattern.kwd_attrs, pattern.kwd_patterns, strict=True),
    ]
    matched: Value = Const(True)
    for name, inner in parts:
        matched = _both(
            it, matched, _matches(it, read_attribute(it, subject, name), inner, bindings)
        )
    return matched
