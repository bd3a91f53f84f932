"""What one reading of a program knows and collects, and the reasons to stop or to begin again."""

from __future__ import annotations

import ast
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from ...ir.builder import Builder
from ...ir.graph import Atom, Callee, Eqn, Span, Var
from ...ir.records import field, mutable_record
from ..domain.values import Closure, Items, ObjectId, Scope, Value
from ..domain.whereabouts import Held, Moved, Part, Write
from .budget import Budget, budget_of_reading
from .guards import Guards

Step = Callable[[], None]


class NeverReturns(Exception):
    """The path being read never comes back: it raises, or recurses without end."""


class PathRaises(Exception):
    """The path being read raises what the program catches: what follows it is the handler."""


class NeedsCallee(Exception):
    """A function turned out to be recursive: read again, keeping it a function of its own."""


class NeedsTestInBody(Exception):
    """The test of a loop turned out to change an object: read again, as the first statement of its body."""


class NeedsKnown(Exception):
    """A captured number, or an attribute of a function, turned out to be needed when the program is read."""

    def __init__(self, template: Any, name: str, *, of_function: bool = False):
        self.template = template
        self.name = name
        self.of_function = of_function


if TYPE_CHECKING:
    from types import CodeType

    from ...errors import WengertError
    from ...ir.op import Op
    from ...ir.types import Kind
    from ..boundary.partial_kinds import Way
    from ..syntax.sources import Source


@mutable_record
class Frame:
    """One activation of a function that is being inlined."""

    closure: Closure
    scope: Scope
    loops: int = 0
    around: Frame | None = None
    """Of a comprehension, the function that it stands in."""
    producing: Any = None
    """Of a generator, what `yield` does."""
    unbound: set[str] = field(default_factory=set[str])
    """Local names that were read where nothing had bound them."""
    bound: Mapping[str, Value] = field(default_factory=dict[str, "Value"])
    """The arguments that it was called with."""

    @contextmanager
    def in_loop(self) -> Generator[int, None, None]:
        """Inside a `with` block one more loop is around what is read, also where an exception leaves it."""
        self.loops += 1
        depth = self.loops
        try:
            yield depth
        finally:
            self.loops = depth - 1


@mutable_record
class Session:
    """What one reading of a program collects, whatever function it is in."""

    narrow: bool = False
    """Whether arguments are of other classes than their kinds say: np.float32, or derived from np.ndarray."""
    defers: bool = False
    """Whether what cannot be read on a path is refused by the runs that take it."""
    general: bool = False
    """Whether nothing is known of the arguments, so that no other reading can tell more."""
    budget: Budget = field(default_factory=budget_of_reading)
    """How much may be read."""
    on_a_path: bool = False
    """Whether a run may avoid what is read now."""
    unseen: list[WengertError] = field(default_factory=list["WengertError"])
    """Why functions that are called as they are have not been read."""
    guards: Guards = field(default_factory=dict[Any, Any])
    """Globals the reading relied on: holder, key and the kind (or identity) it had."""
    likes: Mapping[tuple[int, str], Kind] = field(default_factory=dict[Any, Any])
    """The kinds of globals of which some parts are unread, by whose they are."""
    unread: dict[Var, Way] = field(default_factory=dict[Var, Any])
    """What stands for parts of which nothing is known, since the program is expected not to look at them."""
    generators: dict[Var, str] = field(default_factory=dict[Var, str])
    """What stands for generators of random numbers of which the class is known, and its name."""
    separate: set[Any] = field(default_factory=set[Any])
    """Functions that are not inlined, because they recurse."""
    inlined: set[Any] = field(default_factory=set[Any])
    """Large functions that are inlined all the same: more must be known of them than a call tells."""
    callees: dict[Any, Callee] = field(default_factory=dict[Any, Callee])
    acting_tests: set[Any] = field(default_factory=set[Any])
    """`while` loops whose tests change objects."""
    looking_up: set[int] = field(default_factory=set[int])
    """Loops of the source that look things up by their number: they are written out where they are short."""
    steered: dict[Any, list[Any]] = field(default_factory=dict[Any, list[Any]])
    """The choices of constants that large functions have been read for."""
    special: Callable[[Any], Callable[..., Value] | None] = lambda function: None
    """How to read a call of a function, where it is one of wengert's own."""
    read_from: dict[Atom, tuple[Any, str]] = field(default_factory=dict[Atom, tuple[Any, str]])
    """Where a value that is read when the program runs comes from: holder and key."""
    may_be_read_from: dict[Var, list[tuple[Any, str]]] = field(default_factory=dict[Var, Any])
    """Where a value may come from that a branch gives, one arm of which has read it."""
    captured: dict[Atom, tuple[Any, str]] = field(default_factory=dict[Atom, tuple[Any, str]])
    """The captured values of the function that is differentiated: what made it, and the name."""
    inputs: list[Value] = field(default_factory=list["Value"])
    """The arguments of the program, and what they hold: the caller's own objects."""
    entries: dict[Var, Var] = field(default_factory=dict[Var, Var])
    """For a parameter of a loop's body, the value it has when the loop starts."""
    parts_of_tables: dict[Any, Any] = field(default_factory=dict[Any, Any])
    """What was taken out of tables of data, and by which steps."""
    inert: set[Atom] = field(default_factory=set[Atom])
    """What opaque calls gave: nothing that is got from it has a derivative."""
    loop_kinds: dict[Any, Any] = field(default_factory=dict[Any, Any])
    """What earlier attempts learned about the values a loop carries."""
    places: dict[Var, ObjectId] = field(default_factory=dict[Var, ObjectId])
    """Which object every version of a value that changes belongs to."""
    writes: dict[ObjectId | None, list[Write]] = field(default_factory=dict[Any, Any])
    """The writes to every object."""
    changed_inside: dict[ObjectId, list[Write]] = field(default_factory=dict[ObjectId, Any])
    """The writes to every object that may change an item itself, instead of replacing it."""
    left: dict[int, ObjectId] = field(default_factory=dict[int, ObjectId])
    """The object that a container referred to before a write, by the version that the write made."""
    left_from: dict[ObjectId, ObjectId] = field(default_factory=dict[ObjectId, ObjectId])
    """The container that such an object was in, which may still refer to it in another place."""
    globals_at: dict[Any, ObjectId] = field(default_factory=dict[Any, ObjectId])
    """The objects that were there before the program ran, by what tells them apart."""
    changed_outside: dict[int, Any] = field(default_factory=dict[int, Any])
    """Those of them that the program changes, by identity."""
    seen_outside: dict[int, Any] = field(default_factory=dict[int, Any])
    """Those that it reads."""
    outside: dict[int, Var] = field(default_factory=dict[int, Var])
    """What those that it changes are at its start."""
    choices: dict[Var, tuple[Atom, Atom | None, Atom | None]] = field(
        default_factory=dict[Var, Any]
    )
    """A value that is one of two objects: the condition, and each object made outside the branch."""
    aliases: dict[ObjectId, dict[ObjectId, int]] = field(default_factory=dict[ObjectId, Any])
    """For every object, those that change with it: and through how many containers at least."""
    holding: dict[ObjectId, dict[ObjectId, int]] = field(default_factory=dict[ObjectId, Any])
    """Objects that hold some of the same objects, and through how many containers they do."""
    put_into: dict[Var, list[Held]] = field(default_factory=dict[Var, Any])
    """Where values of unknown kind were put that have not changed yet: containers, and how deep."""
    holding_unknown: dict[ObjectId, list[Held]] = field(default_factory=dict[ObjectId, Any])
    """The values of unknown kind that were put into every run-time object, and how deep."""
    noted: set[tuple[ObjectId, ObjectId, tuple[int, int] | None]] = field(default_factory=set[Any])
    """What was said of two objects since `holding` last changed: that they share something so deep in them,
    or (`None`) that they may be one."""
    linked: set[Var] = field(default_factory=set[Var])
    """Run-time containers of which it has been found out where their items came from."""
    links: int = 0
    """How many pairs of objects have been noted that may be one."""
    shared: int = 0
    """How many have been noted that may hold the same."""
    sharings: dict[ObjectId, dict[Any, list[Any]]] = field(default_factory=dict[ObjectId, Any])
    """Where parts of every object were put into containers, and how deep in it they were."""
    compared: dict[ObjectId, dict[Any, tuple[int, ...]]] = field(
        default_factory=dict[ObjectId, Any]
    )
    """How many of these, and of the writes to the object, have been compared with one another."""
    kept_at: dict[ObjectId, list[Part]] = field(default_factory=dict[ObjectId, Any])
    """Where every object was put into run-time containers."""
    checked: set[Any] = field(default_factory=set[Any])
    """The places in the source where that needs a check when the program runs."""
    doubtful: dict[ObjectId, None] = field(default_factory=dict[ObjectId, None])
    """Containers that are to be checked before the next statement that moves no items."""
    left_in_doubt: dict[ObjectId, ObjectId] = field(default_factory=dict[ObjectId, ObjectId])
    """What a container referred to in one place, and may refer to in another."""
    detached: set[ObjectId] = field(default_factory=set[ObjectId])
    """What stands for a part of an object that one path of the program leads to: it can be read, not changed."""
    moved: dict[ObjectId, list[Moved]] = field(default_factory=dict[ObjectId, Any])
    """What statements that move items have put into other places of their containers, until these are checked."""
    stands_for: dict[Var, Var] = field(default_factory=dict[Var, Var])
    """What a part of something was when it was looked at again, and the part."""
    asked: dict[tuple[Var, Op], Var] = field(default_factory=dict[Any, Var])
    """Values that are views or copies, which the run decides, by what it is asked of them, and the answers."""
    told_apart: set[ObjectId] = field(default_factory=set[ObjectId])
    """The copies among them that the program writes to, where they are copies."""
    surely_views: set[Var] = field(default_factory=set[Var])
    """What stands for them where they are views."""
    walks_over: set[Atom] = field(default_factory=set[Atom])
    """What `x.flat` gave: it reads `x` whenever it is read."""
    walked_by: dict[Atom, tuple[str, ast.AST]] = field(default_factory=dict[Atom, Any])
    """By which of its names such a walk was read, and in which function."""
    sources: dict[int, tuple[CodeType, Source]] = field(default_factory=dict[int, Any])
    """Of the code of functions that were called, by its identity."""
    walked: set[Var] = field(default_factory=set[Var])
    """Lists of what something of unknown kind holds, made to walk over it: they stand for it."""
    keys_of: dict[Var, Var] = field(default_factory=dict[Var, Var])
    """Lists of the keys of a dictionary, made to walk over it, and the dictionary."""
    elements: dict[Var, int | None] = field(default_factory=dict[Var, Any])
    """The items that a loop walks over, and the loop as `by_index` knows it; None of one that is no statement."""
    given: dict[int, Any] = field(default_factory=dict[int, Any])
    """The containers among the inputs that were taken apart, and the names of the inputs (with the
    function, of one that is called)."""
    whole: set[Any] = field(default_factory=set[Any])
    """The inputs that are not taken apart, since the program changes them."""
    copied_ahead: list[tuple[Callable[[], bool], Value, Span | None]] = field(
        default_factory=list[Any]
    )
    """Whether what items were taken from before they were asked for has changed since, what that is, and where."""
    by_index: set[int] = field(default_factory=set[int])
    """The loops that walk over what they change."""
    by_turn: set[int] = field(default_factory=set[int])
    """The loops that walk over something of unknown kind that gets other items."""
    copies: dict[Atom, Any] = field(default_factory=dict[Atom, Any])
    """Run-time copies of known containers, and the places in the source where they were made."""
    packed_at: dict[ObjectId, set[Any]] = field(default_factory=dict[ObjectId, Any])
    """For known containers, the places in the source where they were copied."""
    copied: dict[ObjectId, set[Any]] = field(default_factory=dict[ObjectId, Any])
    """For known objects, the places in the source where something that holds them was copied."""
    holding_copies: dict[ObjectId, set[Any]] = field(default_factory=dict[ObjectId, Any])
    """For run-time lists that a loop collects, the places where copies were made of which they hold parts."""
    brought: dict[ObjectId, set[int]] = field(default_factory=dict[ObjectId, Any])
    """For such lists, how deep in them are objects that the turns of the loop have not made."""
    kept: set[Any] = field(default_factory=set[Any])
    """The places where the container itself is wanted, since it or its copy changes."""
    remembered: dict[Any, Any] = field(default_factory=dict[Any, Any])
    """What methods gave that remember their results: the result, its block, the objects then."""
    made_of: set[type] = field(default_factory=set[type])
    """The classes of the objects that the program makes."""
    asked_of_unknown: set[str] = field(default_factory=set[str])
    """The special methods that operators would call on what may be an object, if its class had them."""
    class_attributes: dict[tuple[type, str], ObjectId] = field(default_factory=dict[Any, ObjectId])
    """The attributes of classes that the program assigns to."""
    classes_shown: set[type] = field(default_factory=set[type])
    """Classes whose `__dict__` the program reads, which is as they are when it is read."""
    root: Builder | None = None
    """The block of the program itself."""
    early: list[Eqn] = field(default_factory=list[Eqn])
    """What is to be done at its very start."""
    bound_outside: dict[tuple[int, str], tuple[Any, str]] = field(default_factory=dict[Any, Any])
    """The names that the program binds that were there before it: holder and key."""
    cells: dict[tuple[int, str], Items] = field(default_factory=dict[Any, Any])
    """Their cells."""
    externals: dict[ObjectId, tuple[Any, str]] = field(default_factory=dict[ObjectId, Any])
    """Holder and key, by the identities of the cells."""
    kept_to_itself: frozenset[ObjectId] = frozenset()
    """What a function that is read apart binds for itself only."""
    derivative: Callable[..., Value] = lambda it, verb, function, args, kwargs: NotImplemented
    """How to read a call of a derivative function."""
    opted_out: Callable[[Any], bool] = lambda function: False
    """Whether the code of an op that stands for a function is to be read, not its rule."""


@contextmanager
def strictly(reading: Session) -> Generator[Any]:
    """Inside, what cannot be read is refused at once: something else is read in its place then."""
    before, reading.defers = reading.defers, False
    try:
        yield
    finally:
        reading.defers = before
