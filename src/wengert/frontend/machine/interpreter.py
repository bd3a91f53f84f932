"""The interpreter: how values meet where paths of control meet.

Statements and expressions are run symbolically: a run-time value becomes an atom of the IR under
construction, everything else is known. Exits (`return`, `break`, `continue`, `raise`) are names like
any other (`%returned`, `%break0` …), so that merging paths merges them too.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ...ir.graph import Atom, Const, Var
from ...ops import structure as st
from ..domain.values import Closure, Items, LazyIterable, Maybe, Native, Value
from .emitter import Emitter
from .session import Step


class Interpreter(Emitter):
    """Reads one function (and what it calls) into one block."""

    # --- branches -------------------------------------------------------------------------

    def choose(
        self, condition: Value, then: Callable[[], Value], other: Callable[[], Value]
    ) -> Value:
        """The value of a conditional expression."""
        slot = "%value"
        while slot in self.vars:  # merging what the arms of another choice leave may choose, too
            slot += "'"

        def put(make: Callable[[], Value]) -> Step:
            def step() -> None:
                value = make()
                self.vars[slot] = value

            return step

        self.branch(condition, put(then), put(other))
        return self.now(self.vars.pop(slot))

    def known_truth(self, value: Value) -> bool | None:
        """The truth of a value where it is known without running."""
        match value:
            case Const(value=constant):
                return bool(constant)
            case Items(form=form, values=values):
                if form in ("tuple", "list", "dict"):
                    return bool(values)
                if self.asks_its_class(value):
                    return None
                return bool(values) if form == "namedtuple" else True
            case LazyIterable(form="checkpoint", parts=(inner, _)):
                return self.known_truth(inner)
            case LazyIterable(form="keys" | "values" | "items", parts=(mapping, *_)):
                return self.known_truth(self.now(mapping))  # a view is true where it is not empty
            case Closure() | Native() | LazyIterable():
                return True
            case _:
                return None

    # --- exits ----------------------------------------------------------------------------

    def run(self, steps: Sequence[Step]) -> None:
        """Run steps in order; what follows a possible exit runs only where nothing has left."""
        for k, step in enumerate(steps):
            step()
            left = self.left()
            if left == Const(True):
                return
            if left != Const(False):
                rest = steps[k + 1 :]
                if rest:
                    self._run_where_nothing_left(left, rest)
                return

    def run_rest(self, left: Atom, rest: Step) -> None:
        """Run what follows a possible exit where nothing has left."""
        if left != Const(True):
            self._run_where_nothing_left(left, [rest])

    def _run_where_nothing_left(self, left: Atom, rest: Sequence[Step]) -> None:
        depth = self.frame.loops
        only_by_return = all(
            self.flag(f"%{exit_}{depth}") == Const(False) for exit_ in ("break", "continue")
        )
        always_returns = True

        def run_rest() -> None:
            nonlocal always_returns
            for name in self.exits():
                self.set(name, Const(False))
            self.run(rest)
            always_returns = self.flag("%returned") == Const(True)

        self.branch(left, lambda: None, run_rest)
        if only_by_return and always_returns:
            # it had returned, or it returned (or raised) now
            self.set("%returned", Const(True))
            value = self.get("%return")
            assert value is not None
            self.set("%return", value.value if isinstance(value, Maybe) else value)

    def left(self) -> Atom:
        """Whether control has left the current sequence of statements."""
        return self.either(*map(self.flag, self.exits()))

    def exits(self) -> list[str]:
        """The flags for the ways out of the current sequence of statements."""
        depth = self.frame.loops
        names = ("%returned", f"%break{depth}", f"%continue{depth}")
        return [name for name in names if name in self.vars]

    def flag(self, name: str) -> Atom:
        value = self.get(name)
        if value is None:
            return Const(False)
        assert isinstance(value, (Var, Const))
        return value

    def either(self, *flags: Atom) -> Atom:
        """Whether any of some flags is set."""
        open_flags = [flag for flag in flags if flag != Const(False)]
        if any(flag == Const(True) for flag in open_flags):
            return Const(True)
        if not open_flags:
            return Const(False)
        result, *others = open_flags
        for flag in others:
            result = self.emit(st.either, result, flag)
        return result

    def set(self, name: str, value: Value) -> None:
        """Say what a name of the interpreter's own is in the current function."""
        found = self.vars.get(name)
        if isinstance(found, Items) and found.form == "cell":
            self.write_cell(found, value)
        else:
            self.vars[name] = value

    def get(self, name: str) -> Value | None:
        """What a name of the interpreter's own is in the current function."""
        found = self.vars.get(name)
        if isinstance(found, Items) and found.form == "cell":
            return self.contents_of_cell(found)
        return found

    # --- names ----------------------------------------------------------------------------

    def checked(self, value: Value, name: str, *, own: bool | None = True) -> Value:
        """A value that is certainly bound; where it may not be, its use checks at run time.

        `own` says that the name belongs to the function that reads it; None that it is a global one.
        """
        if not isinstance(value, Maybe):
            return value
        params: dict[str, Atom] = {"name": Const(name)}
        params |= {} if own else {"free": Const(None if own is None else True)}
        checked = self.builder.emit_with(st.bound, [value.witness], params)
        return self._with_witness(value, checked)

    def _with_witness(self, value: Maybe, checked: Atom) -> Value:
        if value.value is value.witness:
            return checked
        return self._with_leaf(value.value, value.witness, checked)

    def _with_leaf(self, value: Value, old: Var, new: Atom) -> Value:
        """A value with another leaf."""
        if value is old:
            return new
        if not isinstance(value, Items):
            return value
        values = [self._with_leaf(v, old, new) for v in value.values]
        unchanged = all(a is b for a, b in zip(values, value.values, strict=True))
        return value if unchanged else value.holding(values)
