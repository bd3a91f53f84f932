"""`match` statements."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from typing import Any

from ...ir.graph import Atom, Const, Var
from ...ir.types import BOOL, UNKNOWN, Map, Number, Other, Seq
from ...ops import structure as st
from ..classes.class_lookup import class_of
from ..domain import number_classes
from ..domain.values import Items, Maybe, Value, is_object, kind_of_value, list_of
from ..machine.interpreter import Interpreter
from ..polyfills import manifest
from ..polyfills.stdlib import collections as container_polyfills


def run_match(it: Interpreter, node: ast.Match) -> None:
    """Try the cases one after the other."""
    subject = it.evaluate(node.subject)
    _run_cases(it, subject, node.cases)


def _run_cases(it: Interpreter, subject: Value, cases: list[ast.match_case]) -> None:

    if not cases:
        return
    case, *others = cases
    bindings: dict[str, Value] = {}
    matched = _matches(it, subject, case.pattern, bindings)
    if case.guard is not None:
        guard = case.guard

        def guarded() -> Value:
            _bind_all(it, bindings)
            return it.evaluate(guard)

        matched = it.choose(it.truth(matched), guarded, lambda: Const(False))

    def run() -> None:
        _bind_all(it, bindings)
        it.execute(case.body)

    it.branch(it.truth(matched), run, lambda: _run_cases(it, subject, others))


def _bind_all(it: Interpreter, bindings: dict[str, Value]) -> None:

    for name, value in bindings.items():
        it.bind(name, value)


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
            return it.compare(ast.Eq(), subject, it.evaluate(value))
        case ast.MatchSingleton(value=value):
            return it.compare(ast.Is(), subject, Const(value))
        case ast.MatchAs(pattern=inner, name=name):
            if name is not None:
                bindings[name] = subject
            return Const(True) if inner is None else _matches(it, subject, inner, bindings)
        case ast.MatchOr(patterns=patterns):
            return _matches_any(it, subject, patterns, bindings)
        case ast.MatchSequence(patterns=patterns):
            return _matches_sequence(it, subject, patterns, bindings)
        case ast.MatchMapping():
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
    return other if known is False else it.emit(st.either, it.atom(matched), it.truth(other))


_SEQUENCE, _MAPPING = 1 << 5, 1 << 6
"""The flags of classes whose objects are sequences and mappings to `match`."""


def _is_object_of(subject: Value, flag: int) -> bool:
    """Whether an object is a sequence, or a mapping, to `match`."""
    if not isinstance(subject, Items) or not is_object(subject):
        return False
    cls: type = subject.type
    return bool(container_polyfills.class_to_see(cls).__flags__ & flag)


def _matches_sequence(
    it: Interpreter, subject: Value, patterns: list[ast.pattern], bindings: dict[str, Value]
) -> Value:
    starred = next((k for k, p in enumerate(patterns) if isinstance(p, ast.MatchStar)), None)
    if _is_object_of(subject, _SEQUENCE):
        subject = it.as_list(subject)
    if isinstance(subject, Items) and subject.form in ("tuple", "list", "namedtuple"):
        return _matches_items(it, list(subject.values), patterns, starred, bindings)
    if not (isinstance(kind_of_value(subject), Seq) or kind_of_value(subject) == UNKNOWN):
        return Const(False)  # arrays, numbers and strings are no sequences to `match`

    def has_enough() -> Value:
        count = it.emit(st.length, it.atom(subject))
        wanted = Const(len(patterns) - (starred is not None))
        return it.emit(st.eq if starred is None else st.ge, count, wanted)

    if kind_of_value(subject) == UNKNOWN:
        enough = it.choose(_is_sequence(it, subject), has_enough, lambda: Const(False))
    else:
        enough = has_enough()

    def parts(inner: dict[str, Value]) -> Value:
        matched: Value = Const(True)
        for k, pattern in enumerate(patterns):
            if isinstance(pattern, ast.MatchStar):
                stop = k - len(patterns) + 1
                if pattern.name is not None:
                    rest = it.getitem(subject, Const(slice(k, stop or None, None)))
                    inner[pattern.name] = it.as_list(rest)
                continue
            at = k if starred is None or k < starred else k - len(patterns)
            matched = _both(
                it, matched, _matches(it, it.getitem(subject, Const(at)), pattern, inner)
            )
        return matched

    return _where(it, it.truth(enough), parts, bindings)


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
    keys = [it.constant(it.evaluate(key)) for key in pattern.keys]
    if isinstance(subject, Var):
        subject = it.open_up(subject)
    if _is_object_of(subject, _MAPPING):
        subject = it.dict_from(subject)
    if not isinstance(subject, Items):
        return _matches_run_time_mapping(it, subject, keys, pattern, bindings)
    if subject.form != "dict":
        return Const(False)
    matched: Value = Const(True)
    for key, inner in zip(keys, pattern.patterns, strict=True):
        if key not in subject.keys:
            return Const(False)
        matched = _both(it, matched, _matches(it, subject[key], inner, bindings))
    if pattern.rest is not None:
        rest = {k: v for k, v in zip(subject.keys, subject.values, strict=True) if k not in keys}
        bindings[pattern.rest] = Items("dict", tuple(rest), tuple(rest.values()))
    return matched


def _matches_run_time_mapping(
    it: Interpreter,
    subject: Value,
    keys: list[Any],
    pattern: ast.MatchMapping,
    bindings: dict[str, Value],
) -> Value:
    kind = kind_of_value(subject)
    if kind not in (UNKNOWN, Other("dict")) and not isinstance(kind, Map):
        return Const(False)
    atom = it.atom(subject)
    is_mapping = _is_instance(it, subject, dict)

    def has(k: int) -> Value:
        if k == len(keys):
            return Const(True)
        present = it.emit(st.in_, Const(keys[k]), atom)
        return it.choose(present, lambda: has(k + 1), lambda: Const(False))

    def parts(inner: dict[str, Value]) -> Value:
        matched: Value = Const(True)
        for key, part in zip(keys, pattern.patterns, strict=True):
            item = it.getitem(subject, Const(key))
            matched = _both(it, matched, _matches(it, item, part, inner))
        if pattern.rest is not None:
            inner[pattern.rest] = _without(it, subject, keys)
        return matched

    present = it.choose(is_mapping, lambda: has(0), lambda: Const(False))
    return _where(it, it.truth(present), parts, bindings)


def _without(it: Interpreter, subject: Value, keys: list[Any]) -> Value:
    """A dictionary without some of its keys."""
    return it.call(Const(manifest.without), [subject, Const(tuple(keys))], {})


def _is_sequence(it: Interpreter, subject: Value) -> Atom:
    """Whether something is a sequence to `match`: text is not."""
    is_text = _is_instance(it, subject, (str, bytes, bytearray))
    return it.emit(st.both, it.emit(st.not_, is_text), _is_instance(it, subject, Sequence))


def _is_instance(it: Interpreter, subject: Value, cls: Any) -> Atom:
    args = (Const(isinstance), it.atom(subject), Const(cls))
    return it.builder.emit_with(st.opaque, args, {"names": Const(())}, kind=BOOL)


def _where(
    it: Interpreter,
    condition: Atom,
    parts: Callable[[dict[str, Value]], Value],
    bindings: dict[str, Value],
) -> Value:
    """Match the parts of something where it has them; what they bind is bound then."""
    inner: dict[str, Value] = {}

    def match() -> Value:
        matched = parts(inner)
        it.vars.update({f"%{name}": value for name, value in inner.items()})
        return matched

    result = it.choose(condition, match, lambda: Const(False))
    for name in inner:
        value = it.vars.pop(f"%{name}")
        bindings[name] = value.value if isinstance(value, Maybe) else value
    return result


def _matches_class(
    it: Interpreter, subject: Value, pattern: ast.MatchClass, bindings: dict[str, Value]
) -> Value:
    cls = it.evaluate(pattern.cls)
    if not isinstance(cls, Const):
        raise it.unsupported(
            "a class pattern needs a class that is known when the program is read",
            "Use `if isinstance(...)`.",
            pattern,
        )
    said = _is_known_instance(it, subject, cls.value)
    if said is None:
        is_instance = _is_instance(it, subject, cls.value)
        return _where(
            it, is_instance, lambda inner: _parts_of(it, subject, cls, pattern, inner), bindings
        )
    return _parts_of(it, subject, cls, pattern, bindings) if said else Const(False)


def _is_known_instance(it: Interpreter, subject: Value, cls: type) -> bool | None:
    """Whether something is of a class; None where only the running program knows."""
    kind = kind_of_value(subject)
    if isinstance(subject, Var) and isinstance(kind, Number):
        return number_classes.is_instance(it, subject, kind, (cls,))
    known = class_of(subject)
    return None if known is None else issubclass(container_polyfills.class_to_see(known), cls)


def _parts_of(
    it: Interpreter, subject: Value, cls: Const, pattern: ast.MatchClass, bindings: dict[str, Value]
) -> Value:
    """The positional and keyword patterns of a class pattern, whose class fits."""
    if pattern.patterns and cls.value in (int, float, str, bool, complex, list, tuple, dict):
        return _matches(it, subject, pattern.patterns[0], bindings)
    names = list(getattr(cls.value, "__match_args__", ()))[: len(pattern.patterns)]
    parts = [
        *zip(names, pattern.patterns, strict=True),
        *zip(pattern.kwd_attrs, pattern.kwd_patterns, strict=True),
    ]
    matched: Value = Const(True)
    for name, inner in parts:
        matched = _both(it, matched, _matches(it, it.getattr(subject, name), inner, bindings))
    return matched
