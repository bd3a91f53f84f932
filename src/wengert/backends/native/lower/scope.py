"""What the values of a block are, and what still uses them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from ....ir.graph import Atom, Block, Const, Eqn, Var, used_by
from ..values.aliases import memory_of
from ..values.complexes import is_complex
from ..values.constants import constant
from ..values.emitter import Emitter
from ..values.values import Lazy, Unlowered, Value


class Scope:
    """The values of one block.

    Attributes:
        e: what is written down.
        values: what the values of the IR are.
        block: the block.
    """

    def __init__(self, e: Emitter, values: dict[Var, Value], block: Block):
        self.e = e
        self.values = values
        self.block = block
        self._own: set[Var] = set(block.params)
        self._uses: Counter[Var] = Counter()
        self._between: list[Var] = []
        """What stands between the ops that the equation being lowered is said in."""
        for eqn in block.eqns:
            self._uses.update(used_by(eqn))
        self._uses.update(out for out in block.outs if isinstance(out, Var))

    def value(self, atom: Atom) -> Value:
        """What a value or a constant is."""
        if isinstance(atom, Var):
            found = self.values.get(atom)
            if found is None:
                raise Unlowered(f"the value {atom.name or '%'} is used before it is known")
            return found
        return constant(atom)

    def atom(self, operand: Any) -> Any:
        """An atom for a value that has none, until the equation being lowered has been."""
        if isinstance(operand, (Var, Const)):
            return operand
        if operand is None or isinstance(operand, (bool, int, float, str, tuple)):
            return Const(operand)
        var = Var()
        self._between.append(var)
        self._uses[var] = 2  # more ops may follow that use it
        self._name(var, operand)
        return var

    def _bind(self, outs: Sequence[Var], value: Value) -> None:
        values = value if isinstance(value, list) else [value]
        if not outs:
            return
        self._own.update(outs)
        for out, each in zip(outs, values, strict=True):
            self._name(out, each)

    def _name(self, var: Var, value: Value) -> None:
        self.values[var] = value
        for part in value.items if is_complex(value) else (value,):
            if isinstance(part, Lazy):
                part.names.append(var)

    def _done(self, eqn: Eqn) -> None:
        """An equation has been lowered: it uses nothing any more."""
        for var in used_by(eqn):
            self._uses[var] -= 1
        for var in self._between:
            del self._uses[var], self.values[var]
        self._between.clear()

    def is_used(self, var: Var) -> bool:
        """Whether what is not lowered yet uses a value of this block."""
        return self._uses[var] > 0

    def is_last_use(self, atom: Atom) -> bool:
        """Whether the equation being lowered is the last to use a value of this block, by any name."""
        if not isinstance(atom, Var) or self._uses[atom] != 1:
            return False
        mine = memory_of(self.values.get(atom))
        needed = (other for other, count in self._uses.items() if count > 0 and other is not atom)
        return all(mine.isdisjoint(memory_of(self.values.get(other))) for other in needed)

    def is_needed(self, delayed: Lazy) -> bool:
        """Whether a pending result is used by what is not lowered yet."""
        return delayed.is_demanded or any(self._uses[name] > 0 for name in delayed.names)

    def is_used_once(self, delayed: Lazy) -> bool:
        """Whether the equation being lowered is all that still uses a pending result."""
        return sum(self._uses[name] for name in delayed.names) == 1
