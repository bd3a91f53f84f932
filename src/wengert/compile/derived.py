"""A derivative that is ready to run, and what its runs leave behind.

It stays in force while the globals it relied on and the table of rules do.
"""

from __future__ import annotations

import types
from _thread import RLock, get_ident  # of `threading`, a module that few programs need
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from ..backends import python as printer
from ..errors import InternalError, UnsupportedSyntax
from ..frontend.boundary.kind_checks import KindCheck
from ..frontend.domain.values import HEAP_TYPE
from ..frontend.machine.guards import Guard
from ..ir.callers import calling_span
from ..ir.graph import Function, Var, walk
from ..ir.records import field, mutable_record
from ..ir.types import UNKNOWN, Static, leaves
from ..loading import collecting_later
from ..ops.structure import global_
from ..passes.analysis.changed_parts import Way
from ..passes.analysis.write_sets import targets, written
from ..runtime import unchanged
from ..runtime.containers import own_dictionary
from .guards import Identities, as_identities, one_check

lock = RLock()


@mutable_record
class Derived:
    """A derivative that is ready to run: the functions that make it up and what they rely on."""

    functions: tuple[Function, ...]
    guards: tuple[Guard, ...]
    generation: int
    defaults: Mapping[str, Any] = field(default_factory=dict[str, Any])
    must_be_apart: bool = False
    """Whether no object may be given to it twice: it changes one, and would not see it in another."""
    changes: tuple[tuple[str, Way], ...] | None = None
    """By the name of the input, the ways to what it changes of what it is given; None if not all are known."""
    _printed: tuple[printer.Printed, ...] = ()
    _published: tuple[Callable[..., Any], ...] = ()
    _method: Callable[..., Any] | None = None
    _in_force: Callable[[], bool] | None = None
    _is_repeatable: bool | None = None

    @property
    def printed(self) -> tuple[printer.Printed, ...]:
        """The functions as Python text."""
        if not self._printed:
            with lock, collecting_later():
                self._printed = self._printed or printer.render_together(
                    self.functions, defaults=self.defaults
                )
        return self._printed

    @property
    def published(self) -> tuple[Callable[..., Any], ...]:
        """The functions as Python functions."""
        if not self._published:
            with lock:
                self._published = self._published or followed(
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
        given = {**unused, **defaults}
        apart = self.must_be_apart
        return Derived(self.functions, self.guards, self.generation, given, apart)

    @property
    def method(self) -> Callable[..., Any]:
        """The function with a parameter before all others that it does not read."""
        if self._method is None:
            with lock:
                self._method = self._method or printer.publish(self.printed[0], method=True)
        return self._method

    @property
    def run(self) -> Callable[..., Any]:
        return self.published[0]

    def called(
        self, args: Sequence[Any], kwargs: Mapping[str, Any], captured: Mapping[str, Any]
    ) -> Any:
        """What a call of the first function gives."""
        self.refuse_shared(*args, *kwargs.values(), *captured.values())
        return self.run(*args, **kwargs, **captured)

    def refuse_shared(self, *given: Any) -> None:
        """Refuse what the program changes in one place and would not see in another.

        Raises:
            ValueError: an object is given twice.
        """
        if self.must_be_apart:
            unchanged.apart(*given)

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
        from ..passes.checks.repeatable import binds_outside

        body = self.functions[0].body
        given = [eqn.outs[0] for eqn in walk(body) if eqn.op is global_]
        if written(body).clobbered.isdisjoint(given) and not binds_outside(self.functions[0]):
            return ()
        return tuple(
            (each, key)
            for holder, key, kind in self.guards
            if not isinstance(kind, Static)
            for each in _that_give(holder, key)
            if _can_be_bound(each, key)
        )

    @property
    def is_repeatable(self) -> bool:
        """Whether a run that was refused may be run again, if no function left a trace that only the run knows."""
        if self._is_repeatable is None:
            from ..passes.checks.repeatable import is_repeatable

            self._is_repeatable = not self.changed_outside and is_repeatable(self.functions[0])
        return self._is_repeatable

    @property
    def calls_unknown(self) -> bool:
        """Whether it differentiates calls of functions that only a run knows."""
        from ..passes.checks.repeatable import calls_unknown

        return calls_unknown(self.functions[0])

    @property
    def refuses_paths(self) -> bool:
        """Whether runs of some paths are refused, of which nothing else is known, such as what they change."""
        from ..passes.checks.repeatable import refuses_paths

        return refuses_paths(self.functions[0])

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

    def identities_for(self, function: Any) -> Identities:
        """Where these hold, so does `in_force_for`; nothing if that cannot be said so."""
        found = () if _has_defaults(function) else as_identities(self.guards, self.generation)
        if not found or not isinstance(function, types.FunctionType):
            return found
        return (*found, (function, "__code__", function.__code__))

    def in_force_for(self, function: Any) -> Callable[[], bool]:
        """The same, and that a function still has the code and the defaults that it had when it was read."""
        if not isinstance(function, types.FunctionType) and not _has_defaults(function):
            return self.in_force
        check = KindCheck([])
        if isinstance(function, types.FunctionType):
            check.must_be_made_of(check.constant(function), function)
        return self._in_force_with(check)

    def _in_force_with(self, check: KindCheck) -> Callable[[], bool]:
        return one_check(self.guards, self.generation, ["same()"], {"same": check.made()})

    def ready_for(self, function: Any) -> tuple[Callable[[], bool], Callable[..., Any]] | None:
        """A check that it is still the derivative of a function, and what to call then.

        None where the program changes what the function has captured. Both read captured values anew.
        """
        kinds = {
            each.name: each.kind for each in self.functions[0].inputs if each.how == "captured"
        }
        if self.must_be_apart or UNKNOWN in kinds.values():
            return None
        check = KindCheck([])
        known = check.constant(function)
        if isinstance(function, types.FunctionType):
            check.must_be_made_of(known, function)
            cells = dict(
                zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
            )
            if kinds.keys() != cells.keys():
                return None
            for name, kind in kinds.items():
                check.ask(f"{check.constant(cells[name])}.cell_contents", kind)
        else:
            cells = {}
            for kind in kinds.values():
                check.ask_function(known, kind)
        namespace: dict[str, Any] = {"run": self.run, "self": function, "cells": cells}
        captured = [
            f"{name}=cells[{name!r}].cell_contents" if cells else "self=self" for name in kinds
        ]
        if not captured:
            return self._in_force_with(check), self.run
        run = eval(f"lambda *args: run(*args, {', '.join(captured)})", namespace)
        return self._in_force_with(check), run


def _has_defaults(function: Any) -> bool:
    return isinstance(function, types.FunctionType) and bool(function.__defaults__)


def followed(make: Callable[[], Any]) -> Any:
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
    except KeyError as error:
        if not isinstance(error.args[0] if error.args else None, Var):
            raise
        raise InternalError(f"{error.args[0]} is used where nothing defines it") from error


def traces() -> int:
    """How many functions that only a run knows have been run in this thread and may have left a trace."""
    return _traces.get(get_ident(), 0)


def note_run_inside(derived: Derived) -> None:
    """Note that a run is about to call a function that only the run knows."""
    if not derived.is_repeatable:
        _traces[get_ident()] = traces() + 1


_traces: dict[int, int] = {}


def _that_give(holder: Any, key: str) -> Iterator[Any]:
    """What a name is read from: a class, and those that it inherits from until one has it."""
    for each in holder.__mro__ if isinstance(holder, type) else (holder,):
        yield each
        if isinstance(each, type) and key in vars(each):
            return


def _can_be_bound(holder: Any, key: str) -> bool:
    """Whether a program can bind what someone holds to something else: what `int | None` is made of, it cannot."""
    if isinstance(holder, types.CellType):
        return True
    if not isinstance(holder, type) and (isinstance(holder, dict) or key in own_dictionary(holder)):
        return True
    cls = holder if isinstance(holder, type) else type(holder)
    computed = cls is not holder and isinstance(getattr(cls, key, None), property)
    return bool(cls.__flags__ & HEAP_TYPE) and not computed
