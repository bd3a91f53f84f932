"""A whole function: its parameters and results, and the procedure in between."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from ....ir.graph import Function, Var
from ..form.loopform import Procedure
from ..form.target import Target
from ..improve.arena import in_arena
from ..improve.buffer_reuse import with_memory_reused
from ..improve.dead_arguments import with_lean_calls
from ..improve.dead_fields import without_unread_words
from ..improve.inline_base_cases import with_base_cases_in_place
from ..improve.memory_planning import compact, frugal
from ..improve.optional_fields import with_conditional_words
from ..improve.parallel import spread
from ..improve.resets import have_resets, with_resets
from ..lower.call_out import can_be_called_out
from ..lower.calling_convention import Leaf, Result
from ..lower.lowering import BlockLowering, ProgramBuilder
from ..lower.parameters import Parameters, Writes
from ..lower.sequences.mismatches import Learned, Loosened, Widened
from ..lower.sharing import Sharing, lies_in_order
from ..lower.words import CallOut
from ..prepare.early_reads import with_early_reads
from ..prepare.fuse_forward_backward import in_one_sweep
from ..prepare.loop_cse import run_once
from ..prepare.outside import read_from_outside
from ..prepare.recompute import recomputed
from ..prepare.shorten_backward_chain import factored
from ..prepare.sums_in_place import with_sums_in_place
from ..prepare.writes import changes_arrays
from ..values.emitter import Emitter
from ..values.layouts import layouts_in
from ..values.values import OF_DOUBLES, SINGLE, Unlowered, Value
from .calls_out import numbers_of
from .handlers import handler_of, place_of
from .replaced_items import with_kept_items
from .results import Results, Unforeseen, must_not_share_results


class Lowered(NamedTuple):
    """A function in the loop form, and what its parameters and results are.

    Attributes:
        procedures: the function itself, and those that it calls.
        leaves: what each leaf of the arguments is.
        sizes: how many different sizes the arrays have; they are the last parameters.
        results: what each leaf of the result is.
        written: the parameters, by number, that the function changes.
        calls_out: what it has Python compute, by number.
    """

    name: str
    procedures: tuple[Procedure, ...]
    leaves: tuple[Leaf, ...]
    sizes: int
    results: tuple[Result, ...]
    written: frozenset[int]
    calls_out: Mapping[int, CallOut]


class Resets(Exception):
    """The program turned out to give up records before it ends."""


def lower(
    function: Function,
    leaves: Sequence[Leaf],
    prepare: Callable[[Function], Function],
    target: Target,
    *,
    parallel: bool = False,
    own: bool = False,
) -> Lowered:
    """The loop form of a function for arguments with these leaves.

    The leaves of the arguments are followed by those of what it reads from outside. Functions that it
    calls are prepared first. `parallel` has loops spread over threads. `own` says that it is the user's own, and no
    derivative: who calls it may see which of its results share memory.

    Raises:
        Unlowered: something in it has no native form.
    """
    function = factored(recomputed(in_one_sweep(run_once(function))))
    function = with_kept_items(with_early_reads(with_sums_in_place(function), prepare))
    sharing = Sharing(function)
    if own:
        must_not_share_results(function, sharing)
    found = Found(set(), set(), OF_DOUBLES, {}, set(), {}, resets=False)
    while True:
        try:
            unit = ProgramBuilder(prepare, handler_of, target)
            return _Lowering(function, leaves, found, unit, sharing, parallel=parallel).run()
        except Writes as error:
            found.written.add(error.number)
        except Widened:
            if SINGLE in found.of_lists:
                raise Unlowered("a list of numbers of different types") from None
            found = found._replace(of_lists=OF_DOUBLES | {SINGLE})
        except Resets:
            found = found._replace(resets=True)
        except Loosened as error:
            found.loose.add(error.key)
        except Learned as error:
            found.learned[error.key] = error.item
        except Unforeseen as error:
            found.unforeseen.add(error.number)
        except Unlowered as error:
            eqn = error.eqn
            if eqn is None or place_of(eqn) in found.without_form:
                raise
            if not can_be_called_out(eqn, may_give_views=not changes_arrays(function)):
                raise
            found.without_form[place_of(eqn)] = error.reason


class Found(NamedTuple):
    """What turned out when the function was lowered before.

    Attributes:
        written: the parameters that it changes.
        unforeseen: the results whose memory the caller cannot make.
        of_lists: whose the floats may be that lists hold.
        learned: items of lists of which the program itself says nothing.
        loose: lists that hold numbers of several types.
        without_form: equations that have no native form, and why.
        resets: whether it gives up records before it ends.
    """

    written: set[int]
    unforeseen: set[int]
    of_lists: frozenset[int]
    learned: dict[Any, Value]
    loose: set[Any]
    without_form: dict[Any, str]
    resets: bool


class _Lowering:
    def __init__(
        self,
        function: Function,
        leaves: Sequence[Leaf],
        found: Found,
        unit: ProgramBuilder,
        sharing: Sharing,
        *,
        parallel: bool,
    ):
        self.function = function
        self.parallel = parallel
        self.leaves = tuple(leaves)
        unit.of_lists, unit.learned, unit.loose = found.of_lists, found.learned, found.loose
        unit.resets, unit.without_form = found.resets, found.without_form
        unit.may_call_faster = not parallel
        unit.changes_arrays = changes_arrays(function)
        unit.lies_in_order = lies_in_order(function, leaves)
        self.unit = unit
        self.e = Emitter(unit.names)
        self.name = unit.names.fresh(function.name)
        self.parameters = Parameters(self.e, found.written, leaves)
        self.results = Results(function, self.parameters, sharing, found.unforeseen)
        unit.is_apart = sharing.is_apart
        unit.on_write = self.parameters.on_write
        unit.is_kept = lambda root: id(root) in self.parameters.roots

    def run(self) -> Lowered:
        parameters, body = self.parameters, self.function.body
        values = self._values()
        if parameters.written:
            parameters.must_not_overlap()
        site = BlockLowering(self.unit, self.e, values, body, self.results.destinations())
        site.run()
        results = tuple(self.results.result(site, k, atom) for k, atom in enumerate(body.outs))
        site.write_all()
        parameters.write_back()
        params = (*parameters.slots, *self.results.outs, *parameters.sizes)
        main = Procedure(self.name, params, tuple(self.results.slots), tuple(self.e.statements))
        procedures = self._improved(main)
        used = numbers_of(procedures)  # blocks that are lowered again leave others behind
        return Lowered(
            self.name,
            procedures,
            self.leaves,
            len(parameters.sizes),
            results,
            frozenset(parameters.written),
            {k: call for k, call in enumerate(self.unit.calls_out) if k in used},
        )

    def _values(self) -> dict[Var, Value]:
        """What the function is given: arguments, and what it reads from outside."""
        outside = read_from_outside(self.function)
        inside = [Var(name=str(key)) for _, key in outside]
        variables = (*self.function.body.params, *inside)
        given = zip(variables, self.leaves, strict=True)
        values = {var: self.parameters.value(k, var, leaf) for k, (var, leaf) in enumerate(given)}
        for (holder, key), var in zip(outside, inside, strict=True):
            self.unit.outside[id(holder), key] = values[var]
        return values

    def _improved(self, main: Procedure) -> tuple[Procedure, ...]:
        """The function and those that it calls, with less memory and cheaper calls."""
        unit = self.unit
        program = [in_arena(compact(p)) for p in (main, *unit.procedures.values())]
        layouts = layouts_in(
            result for callee in unit.callees.values() for result in callee.results
        )
        program = without_unread_words(program, layouts)
        main, *others = with_conditional_words(program, layouts, unit.names)
        sizes = self.results.sizes()
        main = with_memory_reused(main, sizes)
        others = [with_memory_reused(p, {}) for p in others]
        if self.parallel and not unit.calls_out:
            main, parts = spread(main, others, sizes, unit.names)
            others += parts
        procedures = with_resets([*map(frugal, (main, *others))], unit.names)
        if unit.leaves_memory and not unit.resets and have_resets(procedures):
            raise Resets
        return with_base_cases_in_place(with_lean_calls(procedures), unit.names)
