"""From a Python function and example arguments to a published derivative function, cached.

A derivative is specialised to the kinds of its arguments, as Julia's generated functions are to
types. What was derived stays in force while the globals it relied on and the table of rules do.
"""

from __future__ import annotations

import types
from _thread import RLock  # which `threading` gives, too: a module that few programs need
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from .backends import python as printer
from .calling import (
    Call,
    call_of,
    captured_by,
    captured_literals,
    counted,
    defaults_of,
    general_call,
    of_one_run,
    self_contained,
)
from .errors import UnsupportedSyntax, WengertError
from .frontends import signature, source
from .frontends.reading import NeedsKnown
from .frontends.values import Value
from .guards import as_identities, one_check, test_of_captured, test_of_function
from .ir.callers import calling_span
from .ir.graph import Function, Input, walk
from .ir.records import field, mutable_record, replace
from .ir.types import Kind, Static, Struct, leaves
from .loading import collecting_later
from .ops.structure import global_
from .passes import memory, tidy
from .passes.ignored import ignored_errors
from .passes.remarks import without_remarks
from .passes.sight import refuse_out_of_sight
from .passes.unread import with_all_evaluated
from .passes.written import targets, written
from .rules import registry as rules
from .steering import is_differentiating
from .verbs import VERBS, Verb

if TYPE_CHECKING:
    from .frontends.interpreter import Interpreter

CACHE_SIZE = 1024


@mutable_record
class Derived:
    """A derivative that is ready to run: the functions that make it up and what they rely on."""

    functions: tuple[Function, ...]
    guards: tuple[tuple[Any, str, Kind], ...]
    generation: int
    defaults: Mapping[str, Any] = field(default_factory=dict[str, Any])
    by_counts: bool = False
    """Whether it is for calls with certain counts or values only."""
    _printed: tuple[printer.Printed, ...] = ()
    _published: tuple[Callable[..., Any], ...] = ()
    _method: Callable[..., Any] | None = None
    _in_force: Callable[[], bool] | None = None

    @property
    def printed(self) -> tuple[printer.Printed, ...]:
        """The functions as Python text."""
        if not self._printed:
            with _lock, collecting_later():
                self._printed = self._printed or printer.render_together(
                    self.functions, defaults=self.defaults
                )
        return self._printed

    @property
    def published(self) -> tuple[Callable[..., Any], ...]:
        """The functions as Python functions."""
        if not self._published:
            with _lock:
                self._published = self._published or _followed(
                    lambda: tuple(map(printer.publish, self.printed))
                )
        return self._published

    def with_defaults(self, defaults: Mapping[str, Any]) -> Derived:
        """The same derivative, some of its parameters with default values."""
        unused = {
            i.name: None
            for i in self.functions[0].inputs
            if i.how == "captured" and not list(leaves(i.kind))
        }
        return Derived(
            self.functions, self.guards, self.generation, {**unused, **defaults}, self.by_counts
        )

    @property
    def method(self) -> Callable[..., Any]:
        """The function with a parameter before all others that it does not read."""
        if self._method is None:
            with _lock:
                self._method = self._method or printer.publish(self.printed[0], method=True)
        return self._method

    @property
    def run(self) -> Callable[..., Any]:
        return self.published[0]

    @property
    def source(self) -> str:
        """A module that defines the functions and needs NumPy alone."""
        return printer.joint_source(self.printed)

    def must_leave_arguments(self) -> None:
        """Refuse a function that changes an object it is given, or a global one.

        Raises:
            UnsupportedSyntax: it does, so that its caller would have to know.
        """
        body = self.functions[0].body
        given = [eqn.outs[0] for eqn in walk(body) if eqn.op is global_]
        if not written(body).clobbered.isdisjoint((*body.params, *given)):
            spans = [eqn.span for eqn in walk(body) if targets(eqn)]
            raise UnsupportedSyntax(
                "this changes an object of the caller, in a function that is known only when the program "
                "runs",
                "Choose the function where wengert can see it: pass it as an argument of its own, or select\n"
                "it with `if` instead of looking it up; or return the new value.",
                next(iter(spans), None),
            )

    @property
    def changed_outside(self) -> tuple[tuple[Any, str], ...]:
        """The globals that it reads, by who holds them, if a run changes any."""
        from .passes.repeatable import binds_outside

        body = self.functions[0].body
        given = [eqn.outs[0] for eqn in walk(body) if eqn.op is global_]
        if written(body).clobbered.isdisjoint(given) and not binds_outside(self.functions[0]):
            return ()
        return tuple(
            (holder, key) for holder, key, kind in self.guards if not isinstance(kind, Static)
        )

    @property
    def is_repeatable(self) -> bool:
        """Whether a run that was refused may be run again."""
        from .passes.repeatable import is_repeatable

        return not self.changed_outside and is_repeatable(self.functions[0])

    def read_from(self) -> list[Any]:
        """The values of the globals that it reads when it runs."""
        return [
            holder.get(key) if isinstance(holder, dict) else getattr(holder, key, None)
            for holder, key, kind in self.guards
            if not isinstance(kind, Static)
        ]

    @property
    def in_force(self) -> Callable[[], bool]:
        """Says whether nothing it relied on has changed since."""
        if self._in_force is None:
            self._in_force = one_check(self.guards, self.generation)
        return self._in_force

    def identities_for(self, function: Any) -> tuple[tuple[dict[str, Any], str, Any], ...]:
        """Where these hold, so does `in_force_for`; nothing if that cannot be said so."""
        return () if _has_defaults(function) else as_identities(self.guards, self.generation)

    def in_force_for(self, function: Any) -> Callable[[], bool]:
        """The same, and that a function still has the defaults that it had when it was read."""
        if not _has_defaults(function):
            return self.in_force
        namespace: dict[str, Any] = {}
        test = test_of_function(function, "f", namespace)
        return one_check(self.guards, self.generation, [test], namespace)

    def ready_for(self, function: Any) -> tuple[Callable[[], bool], Callable[..., Any]] | None:
        """A check that it is still the derivative of a function, and what to call then.

        None where what the function has captured has no kind that is quick to check. Both read
        captured values anew.
        """
        namespace: dict[str, Any] = {"run": self.run}
        names = function.__code__.co_freevars if isinstance(function, types.FunctionType) else ()
        if set(captured_by(function)) != set(names):
            return None
        tests: list[str] = []
        kind = signature.kind_of(function)
        kinds = dict(zip(kind.keys, kind.items, strict=True)) if isinstance(kind, Struct) else {}
        cells = getattr(function, "__closure__", None) or ()
        for n, name in enumerate(names):
            value = cells[n].cell_contents
            test = test_of_captured(value, kinds[name], n, namespace)
            if test is None:
                return None
            namespace[f"cell{n}"] = cells[n]
            tests.append(test)
        if isinstance(function, types.FunctionType):
            tests.append(test_of_function(function, "f", namespace))
        check = one_check(self.guards, self.generation, tests, namespace)
        if not names:
            return check, self.run
        options = ", ".join(f"{name}=cell{n}.cell_contents" for n, name in enumerate(names))
        return check, eval(f"lambda *args: run(*args, {options})", namespace)


def _has_defaults(function: Any) -> bool:
    return isinstance(function, types.FunctionType) and bool(function.__defaults__)


_cache: OrderedDict[tuple[Verb, Call], Derived] = OrderedDict()
_lock = RLock()


def derive(verb: Verb, call: Call) -> Derived:
    """The derivative of a function for arguments of some kinds, from the cache where it is there."""
    key = (verb, call)
    found = _cache.get(key)
    if found is not None and found.in_force():
        return found
    with _lock:
        found = _cache.get(key)
        if found is not None and found.in_force():
            return found
        with collecting_later():
            found = _followed(lambda: _derive(verb, call))
        if call.is_one_run:
            return found  # nobody asks for it again
        _cache[key] = found
        _cache.move_to_end(key)
        while len(_cache) > CACHE_SIZE:
            _cache.popitem(last=False)
    return found


def _followed(make: Callable[[], Any]) -> Any:
    """What a function makes; where Python itself does not nest as deeply, the program is refused."""
    try:
        return make()
    except (RecursionError, IndentationError):
        raise UnsupportedSyntax(
            "the branches of this function are nested more deeply than Python can follow",
            "A long `if … elif …`, or many `if …: return` one after the other, is such a nest: look the value up\n"
            "in a dictionary or list, `table[key](x)`, or split the function in two.",
            calling_span(),
        ) from None


def derive_for(
    verb: Verb, function: Any, args: Sequence[Any], kwargs: Mapping[str, Any]
) -> Derived:
    """The derivative for arguments like these."""
    while True:
        try:
            return _derive_for(verb, function, args, kwargs)
        except NeedsKnown as needs:
            signature.must_be_known(needs.template, needs.name)


def _derive_for(
    verb: Verb, function: Any, args: Sequence[Any], kwargs: Mapping[str, Any]
) -> Derived:
    call = call_of(function, args, kwargs)
    knowing_more = _knowing_more.get((verb, call))
    if knowing_more is not None:
        with suppress(WengertError, RecursionError):
            return derive(verb, knowing_more(call, function, args, kwargs))
    try:
        return _published(verb, call)
    except UnsupportedSyntax as refused:
        for more in (counted, of_one_run):
            with suppress(WengertError, RecursionError):
                derived = derive(verb, more(call, function, args, kwargs))
                _remember(verb, call, more)
                return derived
        raise refused from None


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
) -> Derived | None:
    """The derivative for one run, after another was refused by its run; None if nothing else can be done."""
    if not is_refused_by_its_run(refusal) or not refusing.is_repeatable:
        return None
    if any(hasattr(arg, "__next__") for arg in (*args, *kwargs.values())):
        return None  # the first run has taken items from it
    call = call_of(function, args, kwargs)
    with suppress(WengertError, RecursionError):
        derived = derive(verb, of_one_run(call, function, args, kwargs))
        _remember(verb, call, of_one_run)
        return derived
    return None


def _remember(verb: Verb, call: Call, more: Callable[..., Call]) -> None:
    """Note what must be known of calls like this one."""
    with _lock:
        _knowing_more[verb, call] = more
        while len(_knowing_more) > CACHE_SIZE:
            _knowing_more.popitem(last=False)


_knowing_more: OrderedDict[tuple[Verb, Call], Callable[..., Call]] = OrderedDict()
"""What is refused for arguments of some kinds, but not for each call by itself: what must be known of it."""


def _derive(verb: Verb, call: Call) -> Derived:
    generation = rules.generation()
    if verb.written is not None:
        program = _read_written(verb, call)
        derived: tuple[Function, ...] = (tidy.tidy(program.function),)
    else:
        program = read(call, special=_special_where_run if verb.name == "itself" else _special)
        derived = VERBS[verb.name](program.function, verb)
    ignores = ignored_errors(program.function)
    derived = tuple(replace(function, ignores=ignores, narrow=call.narrow) for function in derived)
    functions = memory.settled_together(map(without_remarks, derived))
    return Derived(functions, program.guards, generation, by_counts=bool(call.counts))


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
    knowing_more = _knowing_more.get((verb, call))
    if knowing_more is not None:
        call = knowing_more(call, function, args, kwargs)
    return derive(verb, self_contained(call, function)).with_defaults(captured_literals(function))


def _special(function: Any) -> Callable[..., Value] | None:
    """How to read a call of a function, where it is one of wengert's own."""
    if not isinstance(function, types.FunctionType) or not _is_ours(function):
        return None
    from .nested import handler_of

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
    return (function.__module__ or "").partition(".")[0] == __package__


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
        counts=None if call.counts is None else dict(call.counts),
        narrow=call.narrow,
        special=special,
        derivative=_read_derivative,
        opted_out=opted_out,
    )
    refuse_out_of_sight(program.function)
    function = replace(with_all_evaluated(program.function), narrow=call.narrow)
    return replace(program, function=function)


def _read_derivative(*call: Any) -> Value:
    """How to read a call of a derivative function inside a program."""
    from .nested import derivative

    return derivative(*call)
