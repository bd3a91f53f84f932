"""How the program goes on, as methods of the interpreter: loops, generators, exceptions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from .declaring import done_in

if TYPE_CHECKING:
    import ast

    from ...ir.graph import Atom, Var
    from .. import heap as hp
    from ..control.branch import Branch
    from ..control.loop_reading import Collect
    from ..control.try_context import TryContext
    from ..domain.running import Consumer, Running
    from ..domain.values import Args, Closure, Items, Kwargs, Native, Value
    from ..heap import walking
    from .session import Step


class Flow:
    """What is done with the flow of control: each is done where the declaration says."""

    # --- iteration ----------------------------------------------------------------------

    # `list(value)`.
    @done_in("iterate.listed")
    def as_list(self, value: Value) -> Value: ...

    # `tuple(value)`.
    @done_in("iterate.listed")
    def as_tuple(self, value: Value) -> Value: ...

    # The items of a value that is iterated over, where they are known one by one.
    @done_in("iterate.listed")
    def known_items(self, value: Value) -> list[Value] | None: ...

    # What can be walked over more than once: an iterator's items, or the value itself.
    @done_in("iterate.listed")
    def settled(self, value: Value) -> Value: ...

    # The known items of a value, or how to iterate over it at run time.
    @done_in("iterate.iteration")
    def iteration(self, value: Value) -> list[Value] | Running: ...

    # The list of these values, with the items of those that stand for `*items`.
    @done_in("iterate.listed")
    def joined(self, values: Sequence[Value]) -> Atom: ...

    # A part of what is walked over in a loop that the run counts.
    @done_in("iterate.iteration")
    def at_run_time(self, part: list[Value] | Running) -> Running: ...

    # The list that `items[start:]` was taken from, whose items are the same objects, and `start`.
    @done_in("iterate.iteration")
    def whole_list(self, value: Atom) -> tuple[Atom, int]: ...

    # Whether known items are not too many to be written out because something is looked up by them: text.
    @done_in("iterate.iteration")
    def can_be_written_out(self, names: Sequence[Value]) -> bool: ...

    # What a generator function gives, as a list.
    @done_in("iterate.generators")
    def items_of_generator(self, closure: Closure, bound: Mapping[str, Value]) -> Value: ...

    # A list with one value for every item that passes the guards.
    @done_in("iterate.comprehensions")
    def collect_guarded(self, running: Running, make: Callable[[Value], Value]) -> Value: ...

    # What the call of a generator function gives.
    @done_in("iterate.generators", "made")
    def generator_of(self, closure: Closure, bound: Mapping[str, Value]) -> Value: ...

    # `iter(items)`, `iter(function, sentinel)`.
    @done_in("iterate.iterators")
    def make_iterator(self, args: Sequence[Value], kwargs: Mapping[str, Value]) -> Value: ...

    # Do something with the next item of an iterator, or something else where it has come to its end.
    @done_in("iterate.iterators")
    def advance(self, iterator: Items, take: Callable[[Value], None], end: Step) -> None: ...

    # A method of an iterator.
    @done_in("iterate.iterators", "attribute")
    def attribute_of_iterator(self, iterator: Items, name: str) -> Value: ...

    # Whether something refers to an iterator, so that it may be asked again.
    @done_in("iterate.iterators")
    def is_kept(self, iterator: Items) -> bool: ...

    # Hand every item to a consumer, which may want no more at some time; gives what a generator returns.
    @done_in("iterate.iterators")
    def walk(self, value: Value, consumer: Consumer, node: ast.AST) -> Value: ...

    # --- control ------------------------------------------------------------------------

    # An exception: its contents known, where that is all there is to it.
    @done_in("classes.exception_objects", "make")
    def make_exception(self, cls: type, args: Args, kwargs: Kwargs) -> Value: ...

    # Raise an exception, or an exception of a class.
    @done_in("control.exceptions")
    def raise_exception(self, exception: Value, cause: Value | None = None) -> None: ...

    # The context manager that a function decorated with `contextmanager` gives.
    @done_in("control.contexts")
    def manager_of(self, closure: Closure, args: Args, kwargs: Kwargs) -> Value: ...

    # A method of an exception that Python implements.
    @done_in("classes.exception_objects", "builtin_method")
    def method_of_exception(self, receiver: Value, name: str, found: Any) -> Native: ...

    # A loop that asks an iterator for one item after the other.
    @done_in("control.while_loops")
    def run_for_iterator(self, node: ast.For, iterator: Items) -> None: ...

    # Emit a `for` (over `running`) or a `while` (on `test`); gives the collected lists.
    @done_in("control.loop_reading")
    def run_loop(
        self,
        node: ast.AST,
        names: Sequence[str],
        running: Running | None,
        body: Callable[[Value], None],
        *,
        test: Callable[[], Atom] | None = None,
        collecting: Collect | None = None,
        every: Atom | None = None,
        certain: bool = False,
    ) -> list[Var]: ...

    # A list with one value per item.
    @done_in("control.loops")
    def collect(self, running: Running, make: Callable[[Value], Value]) -> Value: ...

    # Whether a loop over known items is written out.
    @done_in("control.loops")
    def should_unroll(self, items: list[Value]) -> bool: ...

    # The body, for the items that pass every guard.
    @done_in("control.loops")
    def guarded(
        self, running: Running, body: Callable[[Value], None]
    ) -> Callable[[Value], None]: ...

    # A loop written out, one iteration after the other.
    @done_in("control.loops")
    def unroll(
        self,
        items: list[Value],
        body: Callable[[Value], None],
        iterable: Value,
        lists: Sequence[walking.Walked],
    ) -> None: ...

    # A `while` loop.
    @done_in("control.while_loops")
    def run_while(self, node: ast.While) -> None: ...

    # A value that paths have handed on which meet here, as it is now: one of them knows what it was at its end.
    @done_in("control.join")
    def as_met(self, value: Value) -> Value: ...

    # What catches the exceptions of what is being read: nothing so far.
    @done_in("control.try_context")
    def new_catching(self) -> TryContext: ...

    # Run one of two paths, or both behind a run-time condition, and merge what they leave.
    @done_in("control.branches")
    def branch(self, condition: Value, then: Step, other: Step) -> None: ...

    # After both arms of a branch have been read: go on in what they leave together, or in one.
    @done_in("control.branches")
    def settle(self, condition: Atom, arms: list[Branch], start: int) -> None: ...

    # Merge what both arms of a branch leave; `heap` was before it.
    @done_in("control.branches")
    def merge_arms(
        self, condition: Atom, arms: list[Branch], heap: hp.Heap, start: int
    ) -> None: ...

    # Read one side of a branch, into a builder of its own that is set up.
    @done_in("control.branches")
    def read_arm(self, step: Step) -> Branch: ...

    # Read what a path does, `certain` to be taken or not, to its end; gives whether it never comes back.
    @done_in("control.branches")
    def read_path(self, step: Step, *, certain: bool = False) -> bool: ...

    # --- the heap -----------------------------------------------------------------------

    # What a value refers to, as it is at this point of the program.
    @done_in("heap.current")
    def now(self, value: Value) -> Value: ...

    # A known container as a run-time value: a copy, unless it or the copy changes.
    @done_in("heap.packing")
    def packed(self, items: Items, name: str = "") -> Atom: ...

    # What a cell holds now, which may be nothing; it may be certain only when the program runs.
    @done_in("heap.cells", "contents")
    def contents_of_cell(self, cell: Items) -> Value | None: ...

    # Bind the name to another value, or (with None) to none.
    @done_in("heap.cells", "write")
    def write_cell(self, cell: Items, value: Value | None) -> None: ...

    # Whether a part is an object of its own by now: its container refers to something else since then.
    @done_in("heap.current", "has_left")
    def has_left_its_place(self, var: Var) -> bool: ...
