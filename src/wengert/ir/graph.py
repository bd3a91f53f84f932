"""The IR: SSA with structured regions.

A `Block` is a list of equations; `if`, `for` and `while` are equations that own blocks. Blocks
take parameters and give results; there is no flat control-flow graph and no φ. A block may use the
values of the blocks around it.

Control equations (their ops are `IF`, `FOR`, `WHILE`, `TRY`, `CALL` of `values`):

| op      | args                     | blocks                      | outs                                |
|---------|--------------------------|-----------------------------|-------------------------------------|
| `if`    | condition                | then, else: () → results    | results                             |
| `for`   | iterables…, initials…    | body: (items…, carried…)    | carried…, collected…                |
|         |                          | → [stop,] carried…, collected… |                                  |
| `while` | initials…                | test: (carried…) → condition; | carried…, collected…              |
|         |                          | body: (carried…) → [stop,] carried…, collected… |               |
| `try`   | what the results are instead | body: () → results      | the exception or None, results      |
| `call`  | the callee's leaf arguments | –                        | the callee's leaf results           |

`for` has the params `iterables` (how many), `reverse` (walk them backwards) and `stop` (whether the
body's first result ends the loop after that iteration); `while` has `stop`. A *collected* result of
a body is a list with one entry per iteration; in a `reverse` loop entry k still belongs to item k.

A loop with the param `every` asks reverse mode to keep what it carries at the start of every so many
iterations only (None: as many as need the least memory). One with the param `again` has its
iterations run again by its reverse, which keeps nothing of them but what they start from.

`try` runs its body until it raises one of the exceptions of the param `catches`, a tuple of classes. Its
first result is that exception, and the others are then its arguments; or it is None, and they are the
results of the body. What the body had written to memory stays written.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from .. import notebooks
from .op import Op
from .records import record, value_record
from .types import UNKNOWN, Kind
from .values import (
    CALL as CALL,
    COMMENT as COMMENT,
    FOR as FOR,
    IF as IF,
    TRY as TRY,
    UNDEFINED as UNDEFINED,
    WHILE as WHILE,
    ZERO as ZERO,
    Atom as Atom,
    Const as Const,
    NotConstant as NotConstant,
    Var as Var,
    births as births,
)


@value_record
class Span:
    """Where a value came from in the user's source; columns count UTF-8 bytes, as `ast` does."""

    file: str
    line: int
    column: int
    end_line: int
    end_column: int
    function: str = ""

    def __str__(self) -> str:
        file = self.file if notebooks.cell(self.file) else self.file.rsplit("/", 1)[-1]
        return notebooks.place(file, self.line)


@record
class Eqn:
    """`outs = op(*args, **params)`.

    `args` are operands, `params` options such as `axis`; both may be values or constants.
    `namespace` says which spelling of the op the user wrote ("math", "np", "method", "py" …), so
    that derivative code can stay in it.
    """

    outs: tuple[Var, ...]
    op: Op
    args: tuple[Atom, ...]
    params: Mapping[str, Atom] = MappingProxyType({})
    blocks: tuple[Block, ...] = ()
    namespace: str = "py"
    span: Span | None = None

    def param(self, name: str, default: Any = None) -> Any:
        """The constant value of an option."""
        atom = self.params.get(name)
        if atom is None:
            return default
        if not isinstance(atom, Const):
            raise NotConstant(self.op.name, name)
        return atom.value

    def operands(self) -> tuple[Atom, ...]:
        """Operands and options: every atom this equation reads, its blocks aside."""
        return (*self.args, *self.params.values()) if self.params else self.args


@record
class Block:
    """Equations, with the values they may start from and those they give."""

    params: tuple[Var, ...]
    eqns: tuple[Eqn, ...]
    outs: tuple[Atom, ...]


@value_record
class Input:
    """One argument of a function: its leaves are the next parameters of the body.

    `how` is "positional", "keyword" (keyword-only), "captured" (a closure's variable, a default
    that was computed, an object a method is bound to) or "unbound" (a variable of a function around
    one that is called apart, which a path may leave unbound).
    """

    name: str
    kind: Kind
    how: str = "positional"


@record
class Function:
    """A program: `body.params` are the leaves of `inputs`, `body.outs` the leaves of `result`."""

    name: str
    inputs: tuple[Input, ...]
    body: Block
    result: Kind
    doc: str = ""
    ignores: tuple[str, ...] = ()
    """The floating-point errors that it says nothing of, as `np.errstate` names them."""
    narrow: bool = False
    """Whether numbers that it is given are narrower than Python's: np.float32."""
    namespace: Any = None
    """What stands for NumPy where it runs: that of another library, or None."""

    def __repr__(self) -> str:
        n = sum(1 for _ in walk(self.body))
        return f"<Function {self.name}: {len(self.inputs)} inputs, {n} equations>"

    def __str__(self) -> str:
        from .text import show

        return show(self)

    def __eq__(self, other: object) -> bool:
        from .text import show

        return isinstance(other, Function) and show(self, spans=False) == show(other, spans=False)

    def __hash__(self) -> int:
        from .text import show

        return hash(show(self, spans=False))


class Callee:
    """A name for a function that may still be under construction: what recursion refers to."""

    __slots__ = ("function", "name", "rebinds", "result", "returns", "updates")

    def __init__(self, name: str, function: Function | None = None, result: Kind = UNKNOWN):
        self.name = name
        self.function = function
        self.result = result
        """What a call is assumed to give while the function is still being read."""
        self.updates: dict[int, Kind] = {}
        """The parameters it changes, and the kinds of their new versions, which are further results."""
        self.rebinds: dict[int, Kind] = {}
        """The inputs that are outer names which it binds anew, and the kinds of what to: results too."""

        self.returns: frozenset[Any] = frozenset()
        """Which parts of the result may be objects of the arguments, or parts so deep in them."""

    def __repr__(self) -> str:
        return f"<Callee {self.name}>"


def alternatives(eqn: Eqn) -> tuple[tuple[Var, ...], tuple[Block, ...]]:
    """The results that an `if` or a `try` merges, and the blocks they come from.

    What the results of a `try` are if its body raises comes from a block without equations.
    """
    if eqn.op is TRY:
        return eqn.outs[1:], (*eqn.blocks, Block((), (), eqn.args))
    return eqn.outs, eqn.blocks


def walk(block: Block) -> Sequence[Eqn]:
    """Every equation of a block and of the blocks inside it, in program order."""
    found: list[Eqn] = []
    _collect(block, found)
    return found


def _collect(block: Block, found: list[Eqn]) -> None:
    for eqn in block.eqns:
        found.append(eqn)
        for inner in eqn.blocks:
            _collect(inner, found)


def callees(functions: Iterable[Function], by: Collection[Op] = ()) -> list[Callee]:
    """What functions call that has been read, directly or not, each once; also what ops in `by` are given."""
    found: dict[Callee, None] = {}
    pending = list(functions)
    while pending:
        for eqn in walk(pending.pop().body):
            callee = eqn.param("callee") if eqn.op is CALL or eqn.op in by else None
            if callee is not None and callee.function is not None and callee not in found:
                found[callee] = None
                pending.append(callee.function)
    return list(found)


def with_called(function: Function) -> list[Function]:
    """A function, and those that it calls, directly or not, each once."""
    called = [callee.function for callee in callees([function])]
    # By identity: functions are equal where their texts are, which takes long to find out.
    return list({id(each): each for each in (function, *called) if each is not None}.values())


def used_in(block: Block) -> Iterator[Var]:
    """Every use of a value inside a block, inner blocks and results included."""
    for eqn in block.eqns:
        yield from used_by(eqn)
    for atom in block.outs:
        if isinstance(atom, Var):
            yield atom


def used_by(eqn: Eqn) -> Iterator[Var]:
    """Every use of a value by an equation and inside its blocks."""
    for atom in eqn.operands():
        if isinstance(atom, Var):
            yield atom
    for inner in eqn.blocks:
        yield from used_in(inner)


def defined_in(block: Block) -> Iterator[Var]:
    """Every value a block defines itself, inner blocks not included."""
    yield from block.params
    for eqn in block.eqns:
        yield from eqn.outs


def free_vars(block: Block) -> dict[Var, None]:
    """The values a block takes from around it, in order of first use."""
    bound = set(defined_in(block))
    for eqn in walk(block):
        for inner in eqn.blocks:
            bound.update(defined_in(inner))
    return {var: None for var in used_in(block) if var not in bound}


def out_of_sight(block: Block, around: Iterable[Var] = ()) -> tuple[Eqn | None, Var] | None:
    """The first use of a value where its definition is not seen, and the equation; None if there is none."""
    return _first_unseen(block, set(around))


def _first_unseen(block: Block, seen: set[Var]) -> tuple[Eqn | None, Var] | None:
    own = set(block.params)
    seen |= own
    for eqn in block.eqns:
        for atom in eqn.operands():
            if isinstance(atom, Var) and atom not in seen:
                return eqn, atom
        for inner in eqn.blocks:
            found = _first_unseen(inner, seen)
            if found is not None:
                return found
        own.update(eqn.outs)
        seen.update(eqn.outs)
    unseen = next((out for out in block.outs if isinstance(out, Var) and out not in seen), None)
    seen -= own
    return None if unseen is None else (None, unseen)
