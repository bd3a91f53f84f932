"""From a Python function and example arguments to a published derivative function, cached.

A derivative is specialised to the kinds of its arguments, as Julia's generated functions are to
types. What was derived stays in force while the globals it relied on and the table of rules do.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from traceback import walk_tb
from types import FunctionType
from typing import Any

from ..errors import NoRule, UnsupportedSyntax, WengertError
from ..frontend import read as source
from ..frontend.boundary import templates
from ..frontend.machine.session import NeedsKnown
from ..ir.graph import Function
from ..ir.records import record, replace
from ..loading import collecting_later
from ..ops.program.refusals import REFUSALS
from ..passes.blocks import tidy
from ..passes.blocks.remarks import without_remarks
from ..passes.checks.deferral import refused_when_run
from ..passes.checks.ignored import ignored_errors
from ..passes.memory import settle
from ..rules import registry as rules
from ..runtime import unchanged
from . import keys, ready, shared
from .calling import (
    Call,
    call_of,
    captured_by,
    captured_literals,
    defaults_of,
    deferring,
    general_call,
    self_contained,
)
from .derived import Derived, followed, lock, traces
from .guards import one_check
from .patience import LongReading
from .reading import (
    applied,
    as_written,
    checked_program,
    read as read,
    read_source,
    special_of,
    special_where_run,
)
from .verbs import VERBS
from .wanted import Verb

CACHE_SIZE = 1024

_cache: OrderedDict[tuple[Verb, Call], Derived] = OrderedDict()


def derive(verb: Verb, call: Call) -> Derived:
    """The derivative of a function for arguments of some kinds, from the cache where it is there."""
    key = (verb, call)
    found = _cache.get(key)
    if found is not None and found.in_force():
        return found
    with lock:
        found = _cache.get(key)
        if found is not None and found.in_force():
            return found
        with collecting_later():
            by, found = followed(lambda: _derive(verb, call))
        for each in dict.fromkeys(((verb, by), key)):
            _cache[each] = found
            _cache.move_to_end(each)
        while len(_cache) > CACHE_SIZE:
            _cache.popitem(last=False)
    return found


def derive_for(
    verb: Verb,
    function: Any,
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
    *,
    or_recorded: bool = False,
) -> Derived:
    """The derivative for arguments like these.

    What cannot be read on a path is left to the runs that take it. Where a run may be recorded instead, this is
    done only if a run that comes to it could be begun again, and recorded then (`may_begin_again`), and what takes
    long to read is refused until recording has taken as long.

    Raises:
        WengertError: reading is refused.
    """
    derived = ready.find(verb, function, args, kwargs)
    while derived is None:
        try:
            derived = _derive_for(verb, function, args, kwargs, or_recorded)
        except NeedsKnown as needs:
            templates.must_be_known(needs.template, needs.name, of_function=needs.of_function)
        except keys.LooksFurther as looks:
            keys.must_look_at(verb, looks.call, looks.ways)
    if derived.must_be_apart:
        shared.refuse(function, args, kwargs, derived.changes, derived.guards)
    return derived


def call_for(verb: Verb, function: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Call:
    """A call, described by what its program asks about."""
    return call_of(function, args, kwargs, keys.described_by(verb, function))


def _derive_for(
    verb: Verb, function: Any, args: Sequence[Any], kwargs: Mapping[str, Any], or_recorded: bool
) -> Derived:
    call = call_for(verb, function, args, kwargs)
    known = _refusals.get((verb, call))
    if known is None or not known.in_force():
        try:
            with _patience(verb, call, or_recorded):
                derived = _published(verb, call)
        except (keys.LooksFurther, NeedsKnown, LongReading):
            raise
        except Exception as refusal:
            refused = isinstance(refusal, REFUSALS)
            if call.is_partial and (refused or not isinstance(refusal, WengertError)):
                keys.must_look_at_all(verb, call)
                return _derive_for(verb, function, args, kwargs, or_recorded)
            if not refused:
                raise
            known = _remembered(verb, call, refusal)
        else:
            ready.note(verb, function, args, kwargs, call, derived)
            return derived
    refusal = known.error
    derived = _left_to_runs(verb, deferring(call), or_recorded) if refusal.on_a_path else None
    if derived is None or (or_recorded and _is_recorded_at_once(derived, refusal)):
        raise refusal.anew()
    return derived


def _patience(verb: Verb, call: Call, or_recorded: bool) -> AbstractContextManager[None]:
    """A reading that takes no longer than it may where a run can be recorded in its place."""
    return keys.account_of(verb, call).reading() if or_recorded else nullcontext()


def _left_to_runs(verb: Verb, call: Call, or_recorded: bool) -> Derived | None:
    """What is derived where what cannot be read is left to the runs that come to it, if that helps."""
    known = _refusals.get((verb, call))
    if known is None or not known.in_force():
        try:
            with _patience(verb, call, or_recorded):
                return derive(verb, call)
        except LongReading:
            raise
        except (WengertError, RecursionError) as refusal:
            if isinstance(refusal, REFUSALS):
                _remembered(verb, call, refusal)
    return None


def _is_recorded_at_once(derived: Derived, refusal: WengertError) -> bool:
    """Whether a run that comes to what is refused could not be begun again, but be recorded from the start."""
    leaves_traces = derived.calls_unknown or not derived.is_repeatable
    return leaves_traces and isinstance(refusal, UnsupportedSyntax)


@record
class _Refusal:
    """Why a call is refused for the kinds of its arguments, and whether it still is."""

    error: WengertError
    in_force: Callable[[], bool]


_refusals: OrderedDict[tuple[Verb, Call], _Refusal] = OrderedDict()
"""By verb and call: reading that was refused is not tried again while what it relied on is as it was."""


def _remembered(verb: Verb, call: Call, refusal: WengertError) -> _Refusal:
    in_force = one_check(refusal.guards, rules.generation())
    refusal.__traceback__ = None  # it would keep what reading has found, and the caller's values
    with lock:
        known = _refusals[verb, call] = _Refusal(refusal, in_force)
        while len(_refusals) > CACHE_SIZE:
            _refusals.popitem(last=False)
    return known


def known(verb: Verb, call: Call) -> tuple[Derived | None, WengertError | None]:
    """What was derived for a call, and why reading it was refused, as far as that is so."""
    refusal = _refusals.get((verb, call))
    if refusal is None:
        return _cache.get((verb, call)), None
    derived = _cache.get((verb, deferring(call)))
    if derived is not None and not verb.tier and _is_recorded_at_once(derived, refusal.error):
        derived = None
    return derived, refusal.error


def calls_of(verb: Verb, function: Any) -> list[Call]:
    """The calls of a function that were met so far."""
    calls = (call for each, call in (*_cache, *_refusals) if each == verb and not call.defers)
    found = {id(known(verb, call)[0]): call for call in calls if keys.is_of(call, function)}
    return list(found.values())


def may_begin_again(
    derived: Derived, error: Exception, given: Iterable[Any], traces_before: int | None
) -> bool:
    """Whether a run was refused and has left no trace, so that it may be begun again and recorded.

    `traces_before` are the `traces` before the run, if they were asked for.
    """
    if not is_refused_by_its_run(error):
        return False
    if _are_not_apart(error):
        return True
    if not derived.is_repeatable:
        return False
    left_none = not derived.calls_unknown if traces_before is None else traces() == traces_before
    return left_none and not any(hasattr(arg, "__next__") for arg in given)


def _are_not_apart(error: Exception) -> bool:
    """Whether a run was refused by what is asked before it begins: whether its arguments are apart."""
    codes = [frame.f_code for frame, _ in walk_tb(error.__traceback__)]
    around = next((codes[:k] for k, code in enumerate(codes) if code in _APART), [])
    written = {code.co_filename for code in around if code.co_filename.startswith("<wengert ")}
    if not written:
        return around[-1:] == [Derived.refuse_shared.__code__]
    return len(written) == 1 and around[-1].co_filename in written  # of no function that it calls


_APART = (unchanged.apart.__code__, unchanged.no_shared_memory.__code__)


def _published(verb: Verb, call: Call) -> Derived:
    """The derivative, written out: what is nested too deeply is refused here, not by its run."""
    derived = derive(verb, call)
    _ = derived.published
    return derived


def is_refused_by_its_run(error: Exception) -> bool:
    """Whether generated code has raised what says that it cannot be right for these arguments."""
    if isinstance(error, WengertError):
        return error.met_in_a_run
    return getattr(error, "code", "") == UnsupportedSyntax.code


def _derive(verb: Verb, call: Call) -> tuple[Call, Derived]:
    """A derivative, and the call that is described by what its program asks about."""
    generation = rules.generation()
    special = special_where_run if verb.name == "itself" else special_of

    def read_again(call: Call, likes: keys.Likes) -> source.Program:
        return read_source(applied(verb, call), special, rules.opted_out, likes)

    call, program = keys.narrowed(verb, call, read_again)
    if program.looked_at:
        raise keys.LooksFurther(call, program.looked_at)
    program = checked_program(call, program)
    if verb.written is not None:
        program = as_written(verb, call, program)
        derived: tuple[Function, ...] = (tidy.tidy(program.function),)
    else:
        with source.relying_on(program.guards):
            derived = refused_when_run(
                program.function,
                lambda function: VERBS[verb.name](function, verb),
                defers=call.defers,
            )
    ignores = ignored_errors(program.function)
    derived = tuple(
        replace(function, ignores=ignores, narrow=call.narrow, namespace=call.namespace)
        for function in derived
    )
    functions = settle.settled_together(map(without_remarks, derived))
    return call, Derived(
        functions,
        (*program.guards, *shared.guards_of(program.function)),
        generation,
        must_be_apart=program.must_be_apart,
        changes=shared.changes_of(program.function) if program.must_be_apart else None,
    )


def derive_generally(verb: Verb, function: Any) -> Derived:
    """The derivative for arguments of any kinds."""
    derived = derive(verb, self_contained(general_call(function), function))
    return derived.with_defaults({**defaults_of(function), **captured_literals(function)})


def derive_to_keep(
    verb: Verb, function: Any, args: Sequence[Any], kwargs: Mapping[str, Any]
) -> tuple[Derived, Derived]:
    """The derivative for arguments like these, and the same to be read or saved rather than called here.

    Of what is recorded it is that of this run, written out.
    """
    if verb.tier == "recorded":
        return _listed(verb, function, args, kwargs)
    may_record = verb.tier != "static"
    try:
        derived = derive_for(verb, function, args, kwargs)
    except REFUSALS as refusal:
        if not may_record or not may_be_recorded(refusal):
            raise
        from . import recorded  # few programs need it

        return recorded.after(refusal, _listed, verb, function, args, kwargs)
    call = call_of(function, args, kwargs)
    if known(verb, call)[1] is None:
        return derived, _to_keep(verb, call, function)
    if may_record:
        with suppress(WengertError, RecursionError):
            return _listed(verb, function, args, kwargs)
    return derived, _to_keep(verb, deferring(call), function)


def program_of(function: Any, args: Sequence[Any]) -> Function:
    """The IR of a call with arguments like these; of what is recorded that of this run, written out."""
    call = call_of(function, args, {})
    try:
        return read(call).function
    except REFUSALS as refusal:
        if not may_be_recorded(refusal):
            raise
        from . import listed, recorded

        found = recorded.after(
            refusal, listed.listed, call, function, args, {}, captured_by(function)
        )
        return found.function


def may_be_recorded(refusal: WengertError) -> bool:
    """Whether a run may give what reading has refused: it comes to what has no rule as well, if that is code in C."""
    is_python = isinstance(getattr(refusal.op, "implementation", None), FunctionType)
    is_certain = refusal.is_final or (isinstance(refusal, NoRule) and not is_python)
    return refusal.on_a_path or not is_certain


def _listed(
    verb: Verb, function: Any, args: Sequence[Any], kwargs: Mapping[str, Any]
) -> tuple[Derived, Derived]:
    from . import listed

    call = call_of(function, args, kwargs)
    functions, apart = listed.differentiated(verb, call, function, args, kwargs)
    functions = tuple(replace(each, narrow=call.narrow) for each in functions)
    settled = settle.settled_together(map(without_remarks, functions))
    made = Derived(settled, (), rules.generation(), must_be_apart=apart)
    return made, made.with_defaults(captured_literals(function))


def _to_keep(verb: Verb, call: Call, function: Any) -> Derived:
    return derive(verb, self_contained(call, function)).with_defaults(captured_literals(function))
