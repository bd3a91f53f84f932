"""Which equations are written inside the expression that uses them.

An equation folds into its only reader when the user has not named its value, the line stays
short, and nothing with an effect stands between the two.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from ...ir.builder import kind_of_atom
from ...ir.graph import Atom, Block, Const, Eqn, Function, Var, used_by, walk
from ...ir.records import record, replace
from ...ir.types import Array
from ...ops.program.memory import WRITES, is_step
from .bindings import Bindings
from .code import TERNARY, Code
from .expressions import Expressions
from .names import identifier
from .needs import Loop, Needs, is_undefined

FOLD_WIDTH = 72
"""How long a line may get by folding: shorter than a full line, it leaves room for the origin."""
_LEAST_WIDTH = 24
_PROVISIONAL = "t00"
_CONTROL = frozenset(("if", "for", "while", "try"))
MUTATING = {op.name for op in WRITES} | {"add_attr"}
"""Ops that change their first operand in place and give it back."""
_STATEMENTS = MUTATING | {"closure", "raise", "for", "while", "try", "comment"}
"""Ops that are statements of their own and never part of an expression."""
_LAZY = frozenset(("both", "either"))
"""Ops whose Python spelling may leave out an operand."""
_SHUFFLED = frozenset(("fill", "format"))
"""Ops whose operands are not written in their own order."""


@record
class _Pending:
    """An equation that may still fold into a later one."""

    eqn: Eqn
    code: Code
    impure: bool
    named: bool
    old: bool = False
    """An effect has come in between: it may only fold to the left of that effect."""


class _Drafts(Expressions):
    """Writes expressions before names are known, each only once."""

    def __init__(self, bindings: Bindings, folded: Mapping[Var, Eqn]):
        super().__init__(bindings, lambda var: hint(var) or _PROVISIONAL, folded.get)
        self.known: dict[Var, Code] = {}

    def atom(self, atom: Atom) -> Code:
        known = self.known.get(atom) if isinstance(atom, Var) else None
        return super().atom(atom) if known is None else known

    def marked(self, code: Code, eqn: Eqn) -> Code:
        return code  # a draft is measured and thrown away


class Folding:
    """The decisions for one function.

    `folded` maps a value to the equation written in its place; `conditionals` are the `if`s that
    print as `a if c else b`; `appended` the values that exist only in a collected list.
    """

    def __init__(
        self,
        function: Function,
        needs: Needs,
        bindings: Bindings,
        on_closure: Callable[[Eqn], None],
        indent: int,
    ):
        self.folded: dict[Var, Eqn] = {}
        self.conditionals: set[Eqn] = set()
        self.appended: set[Var] = set()
        self._needs = needs
        self._drafts = _Drafts(bindings, self.folded)
        self._on_closure = on_closure
        self._bindings = bindings
        self._function(function, indent)

    def definition(self, var: Var) -> Eqn | None:
        """The equation that is written in the place of a value, or None."""
        return self.folded.get(var)

    def leaves(self, atoms: Iterable[Atom]) -> Iterator[Var]:
        """The named values that expressions for these atoms read."""
        todo = [atom for atom in atoms if isinstance(atom, Var)]
        while todo:
            var = todo.pop()
            eqn = self.folded.get(var)
            if eqn is None:
                yield var
            else:
                todo += (atom for atom in self.operands(eqn) if isinstance(atom, Var))

    def operands(self, eqn: Eqn) -> Sequence[Atom]:
        """What an equation written as an expression reads."""
        if eqn not in self.conditionals:
            return eqn.operands()
        return [*eqn.operands(), *(block.outs[0] for block in eqn.blocks)]

    # --- blocks ---------------------------------------------------------------------------

    def _function(self, function: Function, indent: int) -> None:
        body = function.body
        pending = self._block(body, indent)
        only = body.outs[0] if len(body.outs) == 1 else None
        last = pending.get(only) if isinstance(only, Var) else None
        if last is not None and last.named and last.eqn is _last(body):
            pending[last.eqn.outs[0]] = _Pending(last.eqn, last.code, last.impure, False)
        self._finish(pending, [("return", atom) for atom in body.outs], indent)

    def _block(self, block: Block, indent: int) -> dict[Var, _Pending]:
        """Decide for the equations of a block; gives those that its results may still fold."""
        pending: dict[Var, _Pending] = {}
        for eqn in block.eqns:
            asks = eqn.op.name != "if" and eqn in self._needs.with_try
            if eqn.op.name != "comment" and eqn not in self._needs.dropped and not asks:
                self._equation(eqn, pending, indent)
        return pending

    def _equation(self, eqn: Eqn, pending: dict[Var, _Pending], indent: int) -> None:
        if eqn.op.name == "global":
            self.folded[eqn.outs[0]] = eqn
            self._drafts.equation(eqn)
            return
        consumes_effect, draft = self._consume(eqn, pending, indent)
        impure = consumes_effect or eqn.op.effect
        if eqn.op.name == "closure":
            self._on_closure(eqn)
        code = self._code_of(eqn, pending, indent) if draft is None else draft
        impure = impure or (eqn in self.conditionals and _has_effect(eqn))
        may_fold = code is not None and self._may_fold(eqn, code)
        named = bool(eqn.outs) and bool(hint(eqn.outs[0]))
        if impure and may_fold and not named:
            _grow_old(pending)
        elif impure or code is None or eqn.op.name in MUTATING:
            pending.clear()
        if code is not None and may_fold:
            pending[eqn.outs[0]] = _Pending(eqn, code, impure, named)

    def _may_fold(self, eqn: Eqn, code: Code) -> bool:
        if len(eqn.outs) != 1 or self._needs.uses[eqn.outs[0]] != 1:
            return False
        # a comparison of shapes is good to read on a line of its own only
        checks_shape = eqn.op.name == "unbroadcast" and code.level == TERNARY
        return eqn.op.name not in _STATEMENTS and not checks_shape

    def _consume(
        self, eqn: Eqn, pending: dict[Var, _Pending], indent: int
    ) -> tuple[bool, Code | None]:
        """Fold what an equation reads into it; says whether that brings in an effect.

        Where something folds, it gives the equation as an expression as well.
        """
        headers = self._headers(eqn)
        reads = [atom for _, atoms in headers for atom in atoms]
        # whatever has an effect is the last thing pending: nothing may come between it and its use
        effect = next(reversed(pending), None)
        if effect is None or not pending[effect].impure:
            effect = None
        elif effect not in reads or eqn.op.name in MUTATING | _LAZY:
            pending.popitem()
            effect = None
        if effect is None or eqn.op.name in _CONTROL | _SHUFFLED:
            _drop_old(pending)
        draft = None
        if eqn.op.name in _CONTROL:
            chosen = [
                v for head, atoms in headers for v in self._fitting(head, atoms, pending, indent)
            ]
        else:
            chosen, draft = self._choose(eqn, reads, effect, pending, indent)
        for var in chosen:
            self._fold(var, pending)
        if effect not in chosen:
            _drop_old(pending)
        return effect in chosen, draft

    def _headers(self, eqn: Eqn) -> list[tuple[str, Sequence[Atom]]]:
        """The texts into which an equation's operands are written, each with its operands."""
        if eqn.op.name == "if":
            return [("if :", () if eqn in self._needs.with_try else eqn.args)]
        if eqn.op.name == "try":
            return []
        loop = self._needs.loops.get(eqn)
        if loop is None:
            return [("", eqn.operands())]
        copies = self._needs.copies(loop.outs, loop.initials)
        initials = [(f"{hint(out) or _PROVISIONAL} = ", [atom]) for out, atom in copies]
        for _, atoms in initials:
            self._drafts.atom(atoms[0])
        header = "for " + ", ".join(hint(v) or _PROVISIONAL for v in loop.items) + " in zip():"
        return [*initials, (header + "reversed()" * len(loop.items), loop.iterables)]

    def _fitting(
        self, head: str, atoms: Sequence[Atom], pending: dict[Var, _Pending], indent: int
    ) -> list[Var]:
        """Those of the atoms that fold into one line that begins with `head`."""
        chosen = self._foldable(atoms, pending)
        while chosen and len(head) + sum(len(pending[v].code) for v in chosen) > _room(indent):
            chosen.remove(max(chosen, key=lambda v: len(pending[v].code)))
        return chosen

    def _choose(
        self,
        eqn: Eqn,
        reads: Sequence[Atom],
        effect: Var | None,
        pending: dict[Var, _Pending],
        indent: int,
    ) -> tuple[list[Var], Code | None]:
        """The operands of an equation that fold into it, at most one of which has an effect.

        Where there are any, what the equation is then as an expression.
        """
        arrays = all(isinstance(kind_of_atom(atom), Array) for atom in eqn.args)
        if eqn.op.name == "unbroadcast" and arrays:
            return [], None  # their shapes are compared, so that they are written twice
        left_of_effect = reads[: reads.index(effect)] if effect is not None else ()
        kept = eqn.args[0] if eqn.op.name in MUTATING else None
        chosen = [
            var
            for var in self._foldable(reads, pending, old=True)
            if var is not kept and (not pending[var].old or var in left_of_effect)
        ]
        room = _room(indent) - sum(len(hint(out) or _PROVISIONAL) + 2 for out in eqn.outs) - 1
        while chosen:
            draft = self._draft_with(eqn, chosen, pending)
            if len(draft) <= room:
                return chosen, draft
            chosen.remove(max(chosen, key=lambda v: len(pending[v].code)))
            if effect not in chosen:
                chosen = [var for var in chosen if not pending[var].old]
        return [], None

    def _draft_with(self, eqn: Eqn, chosen: Sequence[Var], pending: dict[Var, _Pending]) -> Code:
        """The equation as an expression, if it has these operands inside."""
        for var in chosen:
            self.folded[var] = pending[var].eqn
            self._drafts.known[var] = pending[var].code
        draft = self._draft(eqn)
        for var in chosen:
            del self.folded[var], self._drafts.known[var]
        return draft

    def _foldable(
        self, atoms: Sequence[Atom], pending: dict[Var, _Pending], old: bool = False
    ) -> list[Var]:
        found = (a for a in dict.fromkeys(atoms) if isinstance(a, Var) and a in pending)
        return [var for var in found if not pending[var].named and old >= pending[var].old]

    def _fold(self, var: Var, pending: dict[Var, _Pending]) -> None:
        entry = pending.pop(var)
        self.folded[var] = entry.eqn
        self._drafts.known[var] = entry.code

    def _draft(self, eqn: Eqn) -> Code:
        if eqn.op in WRITES:
            self._drafts.write(eqn)
        if eqn.op in WRITES or eqn.op.name == "raise":
            said = (a for a in eqn.args if not is_step(a))  # steps have no names in the text
            return Code(" " * (12 + sum(len(self._drafts.atom(a)) for a in said)))
        if eqn.op.name == "closure":
            return Code("")
        return self._drafts.equation(eqn)

    def _code_of(self, eqn: Eqn, pending: dict[Var, _Pending], indent: int) -> Code | None:
        """The equation as an expression; None for one that owns statements."""
        if eqn.op.name == "if":
            return self._if(eqn, indent)
        if eqn.op.name == "try":
            self._try(eqn, indent)
            return None
        if eqn in self._needs.loops:
            self._loop(self._needs.loops[eqn], indent)
            return None
        return self._draft(eqn)

    # --- control --------------------------------------------------------------------------

    def _if(self, eqn: Eqn, indent: int) -> Code | None:
        self._drafts.negation(eqn.args[0])
        for block in eqn.blocks:
            pending = self._block(block, indent + 1)
            copies = self._needs.copies(eqn.outs, block.outs)
            self._finish(pending, [(hint(out), atom) for out, atom in copies], indent + 1)
        if not self._is_conditional(eqn):
            return None
        self.conditionals.add(eqn)
        code = self._drafts.equation(eqn)
        if len(code) <= _room(indent) - len(_PROVISIONAL) - 3:
            return code
        self.conditionals.discard(eqn)
        return None

    def _try(self, eqn: Eqn, indent: int) -> None:
        for cls in eqn.param("catches"):
            self._bindings.constant(cls)
        (body,) = eqn.blocks
        pending = self._block(body, indent + 1)
        copies = self._needs.copies(eqn.outs[1:], body.outs)
        self._finish(pending, [(hint(out), atom) for out, atom in copies], indent + 1)
        for _, atom in self._needs.copies(eqn.outs[1:], eqn.args):
            self._drafts.atom(atom)

    def _is_conditional(self, eqn: Eqn) -> bool:
        if eqn in self._needs.with_try:
            return False
        if len(eqn.outs) != 1 or hint(eqn.outs[0]) or eqn.outs[0] not in self._needs.values:
            return False
        return all(self._is_expression(block) for block in eqn.blocks)

    def _is_expression(self, block: Block) -> bool:
        if is_undefined(block.outs[0]):
            return False
        printed = (eqn for eqn in block.eqns if eqn not in self._needs.dropped)
        return all(len(eqn.outs) == 1 and eqn.outs[0] in self.folded for eqn in printed)

    def _loop(self, loop: Loop, indent: int) -> None:
        self._bind_loop(loop)
        for block in loop.eqn.blocks[:-1]:
            self._finish(self._block(block, indent + 1), [("while ", block.outs[0])], indent)
            self._drafts.negation(block.outs[0])
        pending = self._block(loop.body, indent + 1)
        self._append(loop, pending)
        copies = list(self._needs.copies(loop.outs, loop.results))
        self._finish(pending, [(hint(out), atom) for out, atom in copies], indent + 1)
        self._delay(loop, pending)
        self._finish_stop(loop, pending, indent + 1)

    def _bind_loop(self, loop: Loop) -> None:
        if len(loop.items) > 1:
            self._bindings.builtin("zip")
        if loop.eqn.param("reverse", False):
            self._bindings.builtin("reversed")
        for atom in loop.iterables:
            self._drafts.atom(atom)

    def _append(self, loop: Loop, pending: dict[Var, _Pending]) -> None:
        defining = {out: eqn for eqn in loop.body.eqns for out in eqn.outs}
        for out, atom in loop.collected:
            self._drafts.atom(atom)
            if not isinstance(atom, Var) or out not in self._needs.values or hint(atom):
                continue
            eqn = defining.get(atom)
            if eqn is not None and self._needs.uses[atom] == 1 and self._is_written_once(eqn):
                pending.pop(atom, None)
                self.appended.add(atom)

    def _is_written_once(self, eqn: Eqn) -> bool:
        if eqn.op.name in _STATEMENTS or len(eqn.outs) != 1 or eqn in self._needs.with_try:
            return False
        return eqn.op.name not in ("if", "global") or eqn in self.conditionals

    def _delay(self, loop: Loop, pending: dict[Var, _Pending]) -> None:
        """Compute a new value of a loop variable at the end if its old one is read until then.

        `a, b = b, a + b` needs no third name; `b_2 = a + b`, then `a, b = b, b_2` does.
        """
        copies = list(self._needs.copies(loop.outs, loop.results))
        waiting = {
            atom: (out, loop.params[loop.outs.index(out)][-1])
            for out, atom in copies
            if isinstance(atom, Var) and atom in pending and pending[atom].named
            if hint(atom) == hint(out) and not pending[atom].impure
        }
        if not waiting:
            return
        last_read = self._last_reads(loop, copies, [param for _, param in waiting.values()])
        order = {eqn: k for k, eqn in enumerate(loop.body.eqns)}
        changed = True
        while changed:
            changed = False
            for atom, (_, param) in list(waiting.items()):
                entry = pending[atom]
                if last_read.get(param, -1) > order[entry.eqn]:
                    for leaf in self.leaves(self.operands(entry.eqn)):
                        last_read[leaf] = len(order)
                    self._fold(atom, pending)
                    del waiting[atom]
                    changed = True

    def _last_reads(
        self, loop: Loop, copies: Sequence[tuple[Var, Atom]], params: Sequence[Var]
    ) -> dict[Var, int]:
        """Where in the body these values are last read, folded equations where they are written."""
        wanted, last = set(params), dict[Var, int]()
        for position, eqn in enumerate(loop.body.eqns):
            if len(eqn.outs) == 1 and eqn.outs[0] in self.folded:
                continue
            reads = list(used_by(eqn))
            for var in (*self.leaves(reads), *reads):
                if var in wanted:
                    last[var] = position
        stop = [] if loop.stop is None else [loop.stop]
        for var in self.leaves([*(atom for _, atom in copies), *stop]):
            last[var] = len(loop.body.eqns)
        return last

    def _finish_stop(self, loop: Loop, pending: dict[Var, _Pending], indent: int) -> None:
        """`if stop: break` comes after the loop's variables have their new values."""
        if loop.stop is None or not isinstance(loop.stop, Var) or loop.stop not in pending:
            return
        if pending[loop.stop].named:
            return
        old = {param for params in loop.params for param in params}
        if not old.intersection(self.leaves(self.operands(pending[loop.stop].eqn))):
            self._finish(pending, [("if :", loop.stop)], indent)

    def _finish(
        self, pending: dict[Var, _Pending], results: Sequence[tuple[str, Atom]], indent: int
    ) -> None:
        """Fold equations into the lines that end a block."""
        for head, atom in results:
            if isinstance(atom, Const):
                self._drafts.atom(atom)
            for var in self._fitting(f"{head or _PROVISIONAL} = ", [atom], pending, indent):
                self._fold(var, pending)


def hint(var: Var) -> str:
    """The user's name for a value, as a Python name."""
    return identifier(var.name)


def _grow_old(pending: dict[Var, _Pending]) -> None:
    for var, entry in list(pending.items()):
        if entry.named:
            del pending[var]
        else:
            pending[var] = replace(entry, old=True)


def _drop_old(pending: dict[Var, _Pending]) -> None:
    oldest = next(iter(pending), None)
    if oldest is None or not pending[oldest].old:
        return
    for var in [var for var, entry in pending.items() if entry.old]:
        del pending[var]


def _has_effect(eqn: Eqn) -> bool:
    return any(inner.op.effect for block in eqn.blocks for inner in walk(block))


def _last(block: Block) -> Eqn | None:
    printed = [eqn for eqn in block.eqns if eqn.op.name != "comment"]
    return printed[-1] if printed else None


def _room(indent: int) -> int:
    return max(FOLD_WIDTH - 4 * indent, _LEAST_WIDTH)
