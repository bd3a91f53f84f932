"""Writing statements of the loop form down, one after the other; the same number is computed once."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import contextmanager

from ....ir.graph import Span
from ..form import loopform as lf
from .values import Root, View, plus, times


class Names:
    """Names that no two variables of a procedure share."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}
        self._taken: set[str] = set()
        self.readers: dict[lf.Expr, list[lf.Expr]] = {}
        """By each variable that changes, what has been computed of it."""

    def fresh(self, hint: str) -> str:
        hint = "".join(c if c.isalnum() or c == "_" else "_" for c in hint) or "t"
        hint = hint if hint.isascii() and not hint[0].isdigit() else "v"
        while True:
            number = self._numbers.get(hint, 0)
            self._numbers[hint] = number + 1
            name = hint if number == 0 else f"{hint}_{number}"
            if name not in self._taken:  # the program may have a name that ends in a number, too
                self._taken.add(name)
                return name


class Emitter:
    """Collects the statements of one block.

    Attributes:
        statements: what has been written.
        owned: the memory that this block releases when it ends.
        span: where in the user's program we are.
        named: the variables of numbers that have been computed.
        same_sizes: sizes that are known to be the same as others.
        excluded: conditions under which the program has exited before.
        bounds: what integers are known to be no less than.
        settled: variables that never change, for as long as this block runs.
    """

    def __init__(self, names: Names, outer: Emitter | None = None):
        self.names = names
        self.statements: list[lf.Statement] = []
        self.owned: list[Root] = []
        self.outer = outer
        self.span: Span | None = outer.span if outer else None
        self.named: dict[lf.Expr, lf.Slot] = dict(outer.named) if outer else {}
        self.same_sizes: dict[lf.Expr, lf.Expr] = dict(outer.same_sizes) if outer else {}
        self.excluded: set[lf.Expr] = set(outer.excluded) if outer else set()
        self.bounds: dict[lf.Expr, int] = dict(outer.bounds) if outer else {}
        self.settled: set[lf.Expr] = set(outer.settled) if outer else set()

    def block(self) -> Emitter:
        """What collects the statements of a block inside this one."""
        return Emitter(self.names, self)

    def add(self, statement: lf.Statement) -> None:
        self.statements.append(statement)
        if isinstance(statement, lf.Assign):
            self._forget_readers(statement.slot)

    def _forget_readers(self, variable: lf.Slot) -> None:
        """What has been computed of a variable before it changes is another number afterwards."""
        for value in self.names.readers.get(variable, ()):
            block: Emitter | None = self
            while block is not None:
                block.named.pop(value, None)
                block = block.outer

    def slot(self, hint: str, code: lf.Code) -> lf.Slot:
        return lf.Slot(self.names.fresh(hint), code)

    # --- numbers --------------------------------------------------------------------------

    def let(self, value: lf.Expr, hint: str = "t") -> lf.Expr:
        """A name for a number; what was computed before has one."""
        value = self._decided(simplified(value))
        if isinstance(value, (lf.Constant, lf.Slot)):
            return value
        found = self.named.get(value)
        if found is not None:
            return found
        if self.outer is not None and self.outer.can_name(value) and not self._is_checked(value):
            return self._named_outside(self.outer, value, hint)
        slot = self.slot(hint, value.code)
        self.settled.add(slot)
        self.add(lf.Assign(slot, value))
        if not isinstance(value, lf.Load):
            self.named[value] = slot
            for variable in lf.slots_in(value):
                if variable in self.names.readers:
                    self.names.readers[variable].append(value)
        if isinstance(value, lf.Apply) and value.op in ("add", "sub") and value.code == "i64":
            self._note_sum(slot, value)
        return slot

    def _decided(self, value: lf.Expr) -> lf.Expr:
        """Whether an integer is beyond one that is known, where its bounds say so."""
        if not isinstance(value, lf.Apply) or value.op not in _BEYOND:
            return value
        x, limit = value.args
        if not isinstance(limit, lf.Constant) or limit.code != "i64" or isinstance(x, lf.Constant):
            return value
        least = self.least(x)
        if (
            least is None
            or least < limit.value
            or (least == limit.value and value.op not in ("lt", "ge"))
        ):
            return value
        return lf.Constant(_BEYOND[value.op], "b1")

    def can_name(self, value: lf.Expr) -> bool:
        """Whether a size or an index can be computed here: cheap, of integers that never change."""
        if not isinstance(value, lf.Apply) or value.op not in _OF_SIZES or value.code != "i64":
            return False
        return all(isinstance(arg, lf.Constant) or arg in self.settled for arg in value.args)

    def _is_checked(self, value: lf.Expr) -> bool:
        """Whether the program exits here where a number would overflow: it must not be computed before."""
        assert isinstance(value, lf.Apply)
        return lf.Apply(f"{value.op}_overflows", value.args, "b1") in self.named

    def _named_outside(self, outer: Emitter, value: lf.Expr, hint: str) -> lf.Expr:
        """A name that the block around this one gives to a number: one for all iterations."""
        found = outer.let(value, hint)
        if isinstance(found, lf.Slot):
            self.named[value] = found
            self.settled.add(found)
        if found in outer.bounds:
            self.bounds[found] = outer.bounds[found]
        return found

    def _note_sum(self, slot: lf.Slot, value: lf.Apply) -> None:
        a, b = map(self.least, value.args)
        if value.op == "add" and a is not None and b is not None:
            self.bounds[slot] = a + b
        elif value.op == "sub" and a is not None and isinstance(value.args[1], lf.Constant):
            self.bounds[slot] = a - int(value.args[1].value)

    def apply(
        self, op: str, *args: lf.Expr, code: lf.Code | None = None, hint: str = "t"
    ) -> lf.Expr:
        """A primitive operation; its result has the type of its first operand unless one is given."""
        return self.let(lf.Apply(op, tuple(args), code or args[0].code), hint)

    def variable(self, hint: str, initial: lf.Expr) -> lf.Slot:
        """A variable that is going to change."""
        slot = self.slot(hint, initial.code)
        self.add(lf.Assign(slot, initial))
        self.names.readers[slot] = []
        return slot

    def knowledge(self) -> Emitter:
        """What is known here: which numbers have names, and which sizes are the same."""
        return self.block()

    def forget(self, knowledge: Emitter) -> None:
        """Know only what was known before."""
        self.named, self.same_sizes = knowledge.named, knowledge.same_sizes
        self.excluded, self.bounds = knowledge.excluded, knowledge.bounds
        self.settled = knowledge.settled

    # --- control --------------------------------------------------------------------------

    def exit_if(self, condition: lf.Expr, reason: str) -> None:
        """Leave the rest to the Python form if a condition holds."""
        condition = self.let(condition)
        if condition != lf.Constant(False, "b1") and condition not in self.excluded:
            self.excluded.add(condition)
            self.add(lf.ExitIf(condition, reason, self.span))

    @contextmanager
    def loop(self, count: lf.Expr, hint: str = "k") -> Generator[tuple[lf.Slot, Emitter]]:
        """The statements of a loop that counts up to a number: the number, and what collects them."""
        index, inner = self.slot(hint, "i64"), self.block()
        yield index, inner
        self.add(lf.For(index, count, tuple(inner.statements)))

    def break_if(self, condition: lf.Expr) -> None:
        self.add(lf.BreakIf(condition))

    def choose(
        self, condition: lf.Expr, then: Sequence[lf.Statement], other: Sequence[lf.Statement] = ()
    ) -> None:
        """One of two blocks: where it is known which, that one alone."""
        if isinstance(condition, lf.Constant):
            self.statements += then if condition.value else other
        else:
            self.add(lf.If(condition, tuple(then), tuple(other)))

    # --- bounds ---------------------------------------------------------------------------

    def note_least(self, value: lf.Expr, least: int) -> None:
        """An integer is known to be no less than another."""
        self.bounds[value] = least

    def least(self, value: lf.Expr) -> int | None:
        """What an integer is known to be no less than."""
        if isinstance(value, lf.Constant):
            return int(value.value)
        return self.bounds.get(value)

    # --- sizes ----------------------------------------------------------------------------

    def size(self, dim: lf.Expr) -> lf.Expr:
        """A size, by the name of one that is known to be the same."""
        while dim in self.same_sizes:
            dim = self.same_sizes[dim]
        return dim

    def must_be_same(self, a: lf.Expr, b: lf.Expr, reason: str = "the shapes differ") -> None:
        """Go on only if two sizes are the same."""
        a, b = self.size(a), self.size(b)
        if a == b:
            return
        self.exit_if(lf.Apply("ne", (a, b), "b1"), reason)
        if isinstance(a, lf.Constant):
            a, b = b, a
        if not isinstance(a, lf.Constant):
            self.same_sizes[a] = b

    # --- elements -------------------------------------------------------------------------

    def position(self, array: View, indices: Sequence[lf.Expr]) -> lf.Expr:
        """Where in its memory an element of an array is."""
        total = array.offset
        for index, stride in zip(indices, array.strides, strict=True):
            total = plus(total, times(index, stride))
        return total

    def load(self, array: View, indices: Sequence[lf.Expr], hint: str = "t") -> lf.Expr:
        return self.let(lf.Load(array.pointer, self.position(array, indices), array.code), hint)

    def store(self, array: View, indices: Sequence[lf.Expr], value: lf.Expr) -> None:
        self.add(lf.Store(array.pointer, self.position(array, indices), value))


_OF_SIZES = frozenset(("add", "sub", "mul", "max", "min"))

_BEYOND = {"eq": False, "lt": False, "le": False, "ne": True, "gt": True, "ge": True}
"""What comparisons give of an integer that is greater than what it is compared with."""

_FOLDS = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "lt": lambda a, b: a < b,
    "le": lambda a, b: a <= b,
    "gt": lambda a, b: a > b,
    "ge": lambda a, b: a >= b,
    "eq": lambda a, b: a == b,
    "ne": lambda a, b: a != b,
    "max": max,
    "min": min,
}


def simplified(value: lf.Expr) -> lf.Expr:
    """What is known of an operation on integers that are known."""
    if not isinstance(value, lf.Apply):
        return value
    if value.op == "i64" and isinstance(value.args[0], lf.Constant):
        return lf.Constant(int(value.args[0].value), "i64")
    if value.op in ("f64", "f32") and isinstance(value.args[0], lf.Constant):
        return lf.floating(value.args[0].value, value.code)
    if value.op == "select" and isinstance(value.args[0], lf.Constant):
        return value.args[1] if value.args[0].value else value.args[2]
    if value.op == "not" and isinstance(value.args[0], lf.Constant):
        return lf.Constant(not value.args[0].value, "b1")
    if value.op in ("or", "and"):
        return _logic(value)
    known = [int(a.value) for a in value.args if isinstance(a, lf.Constant) and a.code == "i64"]
    if len(known) == len(value.args) and value.op in _FOLDS:
        folded = _FOLDS[value.op](*known)
        fits = abs(folded) < 2**63
        return lf.Constant(folded, value.code) if fits else value
    return value


def _logic(value: lf.Apply) -> lf.Expr:
    absorbing = value.op == "or"
    rest = [a for a in value.args if a != lf.Constant(not absorbing, "b1")]
    if lf.Constant(absorbing, "b1") in rest:
        return lf.Constant(absorbing, "b1")
    if not rest:
        return lf.Constant(not absorbing, "b1")
    return rest[0] if len(rest) == 1 else value
