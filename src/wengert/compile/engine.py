"""From a Python function and example arguments to a published derivative function, cached.

A derivative is specialised to the kinds of its arguments, as Julia's generated functions are to
types. What was derived stays in force while the globals it relied on and the table of rules do.
"""

from __future__ import annotations

import types
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any

from ..errors import BadArgument, NotScalar, UnsupportedSyntax, WengertError
from ..frontend import read as source
from ..frontend.boundary import signature
from ..frontend.domain.values import Value
from ..frontend.machine.progress import furthest
from ..frontend.machine.session import NeedsKnown
from ..intrinsics.steering import is_differentiating
from ..ir.graph import Function, Input
from ..ir.records import mutable_record, record, replace
from ..ir.types import Struct
from ..loading import collecting_later
from ..ops.program.refusals import REFUSALS
from ..passes.blocks import tidy
from ..passes.blocks.remarks import without_remarks
from ..passes.checks.deferral import refused_when_run
from ..passes.checks.dominance import refuse_out_of_sight
from ..passes.checks.ignored import ignored_errors
from ..passes.checks.keep_raising import with_all_evaluated
from ..passes.memory import settle
from ..passes.simplify.dtype_narrowing import with_dtypes_checked
from ..rules import registry as rules
from .calling import (
    Call,
    call_of,
    captured_literals,
    defaults_of,
    deferring,
    general_call,
    of_one_run,
    same,
    self_contained,
)
from .derived import Derived, followed, lock, traces
from .verbs import VERBS, Verb

if TYPE_CHECKING:
    from ..frontend.machine.interpreter import Interpreter

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
            found = followed(lambda: _derive(verb, call))
        if call.is_one_run:
            return found  # nobody asks for it again
        _cache[key] = found
        _cache.move_to_end(key)
        while len(_cache) > CACHE_SIZE:
            _cache.popitem(last=False)
    return found


def derive_for(
    verb: Verb,
    function: Any,
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
    *,
    to_keep: bool = False,
) -> Derived:
    """The derivative for arguments like these.

    Where only a run decides what it is, the one of the last run may be given, to be tried first (`derive_again`);
    what is `to_keep` is for this call.
    """
    while True:
        try:
            return _derive_for(verb, function, args, kwargs, anew=to_keep)
        except NeedsKnown as needs:
            signature.must_be_known(needs.template, needs.name, of_function=needs.of_function)


def _derive_for(
    verb: Verb,
    function: Any,
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
    *,
    anew: bool = False,
) -> Derived:
    call = call_of(function, args, kwargs)
    known = _known.get((verb, call))
    if known is not None and not (anew and known.more is deferring):
        with suppress(WengertError, RecursionError):
            return _derive_knowing(known.more, verb, call, function, args, kwargs, anew=anew)
    try:
        return _published(verb, call)
    except REFUSALS as refusal:
        return _Refused(verb, call, function, args, kwargs, [refusal], to_keep=anew).derived()


@mutable_record
class _Refused:
    """A call that is refused for the kinds of its arguments: what else may be done, and why it cannot."""

    verb: Verb
    call: Call
    function: Any
    args: Sequence[Any]
    kwargs: Mapping[str, Any]
    refusals: list[WengertError]
    to_keep: bool
    """Whether it must be right for this call: then it is not left to the run whether it comes to a refusal."""

    def derived(self) -> Derived:
        """The derivative by the first way that is open.

        Raises:
            WengertError: none is; what is wrong is what stopped the reading that came furthest.
        """
        for way in self._ways():
            try:
                return _derive_knowing(
                    way, self.verb, self.call, self.function, self.args, self.kwargs
                )
            except (BadArgument, NotScalar):
                if isinstance(way, partial) or way is deferring:
                    continue  # what is left of the program is no function of the result
                raise  # the program can be read, and what is asked of it makes no sense
            except WengertError as refusal:
                self.refusals.append(refusal)
            except RecursionError:
                continue
        raise furthest(self.refusals) from None

    def _ways(self) -> Iterator[Callable[..., Call]]:
        (by_kinds,) = self.refusals
        if by_kinds.on_a_path and not isinstance(by_kinds, UnsupportedSyntax):
            yield deferring  # no more can be known of it
        if not any(isinstance(each, UnsupportedSyntax) for each in self.refusals):
            return
        if by_kinds.on_a_path and not self.to_keep and self._may_be_run_again():
            yield deferring
        yield of_one_run
        in_run = self.refusals[-1]
        if not in_run.on_a_path and in_run.findings[0] in by_kinds.findings:
            return  # this run comes to what cannot be read
        for way, refusal in ((same, by_kinds), (of_one_run, in_run)):
            if refusal.on_a_path:
                yield partial(deferring, way=way)

    def _may_be_run_again(self) -> bool:
        """Whether a run that comes to what cannot be read may be read by itself and started anew."""
        try:
            derived = derive(self.verb, deferring(self.call))
        except (WengertError, RecursionError):
            return False
        return derived.is_repeatable and not derived.calls_unknown


def _derive_knowing(
    more: Callable[..., Call],
    verb: Verb,
    call: Call,
    function: Any,
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
    *,
    anew: bool = False,
) -> Derived:
    """The derivative for a call of which more is known than the kinds.

    What was derived for the last run is tried first, unless it is to be made anew.
    """
    this = more(call, function, args, kwargs)
    known = _known.get((verb, call))
    if known is not None and known.last is not None and not anew and known.last.may_run_for(this):
        return known.last
    derived = derive(verb, this)
    with lock:
        _known[verb, call] = _Known(more, derived if this.is_one_run else None)
        while len(_known) > CACHE_SIZE:
            _known.popitem(last=False)
    return derived


def _published(verb: Verb, call: Call) -> Derived:
    """The derivative, written out: what is nested too deeply is refused here, not by its run."""
    derived = derive(verb, call)
    _ = derived.published
    return derived


def is_refused_by_its_run(error: Exception) -> bool:
    """Whether generated code has raised what says that it cannot be right for these arguments."""
    code = "" if isinstance(error, WengertError) else getattr(error, "code", "")
    return code == UnsupportedSyntax.code


def derive_again(
    verb: Verb,
    refusing: Derived,
    refusal: Exception,
    function: Any,
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
    *,
    traces_before: int | None,
) -> Derived | None:
    """The derivative for one run, after another was refused by its run; None if nothing else can be done.

    `traces_before` are the `traces` before the run, if they were asked for.
    """
    elsewhere = refusing.run_of is not None  # it may be for another run
    if not (elsewhere or is_refused_by_its_run(refusal)):
        return None
    left_none = not refusing.calls_unknown if traces_before is None else traces() == traces_before
    if not (refusing.is_repeatable and left_none):
        return None
    if any(hasattr(arg, "__next__") for arg in (*args, *kwargs.values())):
        return None  # the first run has taken items from it
    call = call_of(function, args, kwargs)
    with suppress(WengertError, RecursionError):
        return _derive_knowing(of_one_run, verb, call, function, args, kwargs, anew=True)
    if not elsewhere:
        return None
    with lock:
        _known.pop((verb, call), None)
    return _derive_for(verb, function, args, kwargs)  # which says why it is refused


@record
class _Known:
    """What must be known of calls that are refused for their kinds, and what was made for the last run."""

    more: Callable[..., Call]
    last: Derived | None


_known: OrderedDict[tuple[Verb, Call], _Known] = OrderedDict()
"""Of what is refused for arguments of some kinds, but not for each call by itself."""


def _derive(verb: Verb, call: Call) -> Derived:
    generation = rules.generation()
    if verb.written is not None:
        program = _read_written(verb, call)
        derived: tuple[Function, ...] = (tidy.tidy(program.function),)
    else:
        program = read(call, special=_special_where_run if verb.name == "itself" else _special)
        derived = refused_when_run(
            program.function,
            lambda function: VERBS[verb.name](function, verb),
            defers=call.defers,
        )
    ignores = ignored_errors(program.function)
    derived = tuple(replace(function, ignores=ignores, narrow=call.narrow) for function in derived)
    functions = settle.settled_together(map(without_remarks, derived))
    return Derived(
        functions,
        program.guards,
        generation,
        must_be_apart=program.must_be_apart,
        run_of=replace(call, values=None) if call.is_one_run else None,
    )


def _read_written(verb: Verb, call: Call) -> source.Program:
    """A verb that is written in Python over the others, applied to a function."""
    whole = Struct("derivative", ("function",), (call.target,), verb)
    program = read(replace(call, target=whole))
    made = program.function
    match call.target:
        case Struct(form="function", keys=keys, items=items):
            captured = tuple(Input(n, k, "captured") for n, k in zip(keys, items, strict=True))
        case Struct():
            captured = (Input("self", call.target, "captured"),)
        case _:
            captured = ()
    written = getattr(verb.written, "__name__", "derivative").lstrip("_")
    name = getattr(getattr(call.target, "type", None), "__name__", None) or "f"
    name = name if name.isidentifier() else "f"
    made = replace(made, name=f"{written}_{name}", inputs=(*captured, *made.inputs[1:]))
    return replace(program, function=made)


def derive_generally(verb: Verb, function: Any) -> Derived:
    """The derivative for arguments of any kinds."""
    derived = derive(verb, self_contained(general_call(function), function))
    return derived.with_defaults({**defaults_of(function), **captured_literals(function)})


def derive_for_text(
    verb: Verb, function: Any, args: Sequence[Any], kwargs: Mapping[str, Any]
) -> Derived:
    """The derivative for arguments like these, to be read or saved rather than called here."""
    call = call_of(function, args, kwargs)
    known = _known.get((verb, call))
    if known is not None:
        call = known.more(call, function, args, kwargs)
    return derive(verb, self_contained(call, function)).with_defaults(captured_literals(function))


def _special(function: Any) -> Callable[..., Value] | None:
    """How to read a call of a function, where it is one of wengert's own."""
    if not isinstance(function, types.FunctionType) or not _is_ours(function):
        return None
    from ..intrinsics.nested import handler_of

    return handler_of(function)


def _special_where_run(function: Any) -> Callable[..., Value] | None:
    """The same for a program that is to be run, where nobody differentiates it."""
    return _refuse_to_say if function is is_differentiating else _special(function)


def _refuse_to_say(it: Interpreter, *call: Any) -> Value:
    """Leave the question whether somebody differentiates to the program itself, derivatives in it aside."""
    raise it.unsupported(
        "whether this is being differentiated is known only when it runs as Python",
        "Call `wg.is_differentiating` in what is differentiated.",
    )


def _is_ours(function: types.FunctionType) -> bool:
    return (function.__module__ or "").partition(".")[0] == __name__.partition(".")[0]


def read(
    call: Call,
    special: source.Special = _special,
    opted_out: Callable[[Any], bool] = rules.opted_out,
) -> source.Program:
    """The IR of a call.

    Args:
        call: the function, and the kinds of its arguments.
        special: how calls of wengert's own functions are read.
        opted_out: whether the code of a function is read although it has a rule, by its op.
    """
    program = source.read(
        call.target,
        call.arguments,
        dict(call.keywords),
        values=None if call.values is None else dict(call.values),
        narrow=call.narrow,
        defers=call.defers,
        special=special,
        derivative=_read_derivative,
        opted_out=opted_out,
    )

    def checked(function: Function) -> Function:
        refuse_out_of_sight(function)
        return with_dtypes_checked(with_all_evaluated(function))

    function = refused_when_run(program.function, checked, defers=call.defers)
    function = replace(function, narrow=call.narrow)
    return replace(program, function=function)


def _read_derivative(*call: Any) -> Value:
    """How to read a call of a derivative function inside a program."""
    from ..intrinsics.nested import derivative

    return derivative(*call)
