"""Building derivative code that computes nothing twice, and nothing that an identity makes simpler."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import Any

from ...ir.builder import Builder, kind_of_atom
from ...ir.graph import Atom, Const, Eqn, Span, Var
from ...ir.op import Op
from ...ir.types import Array, Kind, Number
from ...ops import elementwise as el
from ...ops.algebra import divides_as_numpy
from ...ops.structure import getitem
from .patterns import Expression, Operand, Rewrite, rewrites

_AS_NUMPY_DOES = {el.div: (el.ieee_div, "py"), el.floordiv: (el.floordiv, "np")}
"""What computes a quotient as NumPy does, of Python's numbers as well."""

_COMMUTATIVE = frozenset((el.add, el.mul, el.maximum, el.minimum))
Key = tuple[Any, ...]


class SimplifyingBuilder(Builder):
    """A builder of derivative code, by the identities of `rules/identities/algebra`.

    Equations are kept by what they compute: a request for one that is there already gives its result.
    Such sharing on construction (hash-consing; A. Ershov, On programming of arithmetic operations, 1958)
    takes the same time for every equation, whatever there is already.
    """

    __slots__ = ("_shared",)

    def __init__(self, span: Span | None = None, *, derived: bool = True):
        super().__init__(span, derived=derived)
        self._shared: dict[Key, Atom] = {}

    def identities(self, op: Op) -> Sequence[Rewrite]:
        """The identities whose left side is an application of an op."""
        return identities_of(("derivative code",), op)

    def may_share(self, op: Op, args: Sequence[Atom]) -> bool:
        """Whether one result of an op serves all who ask for it: nobody may write to it."""
        return op.elementwise and not op.effect and all(map(_is_plain, args))

    def may_rewrite(self, args: Sequence[Atom]) -> bool:
        """Whether identities of real numbers hold for some operands."""
        return all(map(_is_plain, args))

    def emit_with(
        self,
        op: Op,
        args: Sequence[Atom],
        params: Mapping[str, Atom],
        namespace: str = "py",
        name: str = "",
        kind: Kind | None = None,
    ) -> Atom:
        if self.of_numpy and op in _AS_NUMPY_DOES and self._may_raise(args):
            op, namespace = _AS_NUMPY_DOES[op]
        may_share = kind is None and self.may_share(op, args)
        key = self.key(op, args, params, namespace) if may_share else None
        if key is not None and key in self._shared:
            return _named(self._shared[key], name)
        result = self.folded(op, args, params, namespace)
        if result is None and not params:
            result = self._simpler(op, args, namespace)
        if result is None:
            result = self.equation(op, args, params, namespace, name, kind)
        if key is not None:
            self._shared[key] = result
        return result

    def _may_raise(self, args: Sequence[Atom]) -> bool:
        """Whether a quotient may be one of Python's numbers, and by zero."""
        divisor = self.definition(args[1])
        if divisor is not None and divisor.op.name == "or_one":
            return False
        return not divides_as_numpy(*args) and not number_of_numpy(self, args[1])

    def append(self, eqn: Eqn, *, derived: bool = False) -> None:
        """Add an equation as it is; its result serves those who ask for the same later."""
        super().append(eqn, derived=derived)
        self.reuse((eqn,))

    def reuse(self, eqns: Iterable[Eqn]) -> None:
        """Say what has been computed where this code runs."""
        for eqn in eqns:
            if len(eqn.outs) == 1 and self.may_share(eqn.op, eqn.args):
                key = self.key(eqn.op, eqn.args, eqn.params, eqn.namespace)
                self._shared.setdefault(key, eqn.outs[0])

    def key(self, op: Op, args: Sequence[Atom], params: Mapping[str, Atom], namespace: str) -> Key:
        """What an equation computes; a sum or product does not depend on the order of its operands."""
        if op in _COMMUTATIVE and len(args) == 2:
            args = sorted(args, key=_place)
        return (op, namespace, *args, *params.items())

    # --- identities -----------------------------------------------------------------------

    def _simpler(self, op: Op, args: Sequence[Atom], namespace: str) -> Atom | None:
        candidates = self.identities(op)
        if not candidates or not self.may_rewrite(args):
            return None
        for rewrite in candidates:
            found: list[Atom | None] = [None] * rewrite.operands
            if self._matches(rewrite.left, op, args, found):
                return self._built(rewrite.right, found, op, namespace)
        return None

    def _matches(
        self, pattern: Expression, op: Op, args: Sequence[Atom], found: list[Atom | None]
    ) -> bool:
        """Whether an application has the form of a pattern, and what its operands then are."""
        if pattern.op is not op or len(pattern.parts) != len(args):
            return False
        orders = [tuple(args)]
        if op in _COMMUTATIVE:
            orders.append(tuple(reversed(args)))
        for order in orders:
            trial = list(found)
            pairs = zip(pattern.parts, order, strict=True)
            if all(self._matches_part(part, arg, trial) for part, arg in pairs):
                found[:] = trial
                return True
        return False

    def _matches_part(self, part: Any, arg: Atom, found: list[Atom | None]) -> bool:
        if isinstance(part, Expression):
            eqn = self.definition(arg) if self.is_derived(arg) else None
            return (
                eqn is not None and not eqn.params and self._matches(part, eqn.op, eqn.args, found)
            )
        if isinstance(part, Operand):
            if part.integer and not (isinstance(arg, Const) and type(arg.value) is int):
                return False
            if found[part.number] is None:
                found[part.number] = arg
            return found[part.number] == arg
        return isinstance(arg, Const) and arg == Const(part)

    def _built(self, right: Any, found: Sequence[Atom | None], op: Op, namespace: str) -> Atom:
        if isinstance(right, Expression):
            parts = [self._built(part, found, op, namespace) for part in right.parts]
            where = namespace if right.op is op else "py"
            where = where if where in right.op.spellings else namespace
            return self.emit_with(right.op, parts, {}, where)
        if isinstance(right, Operand):
            atom = found[right.number]
            assert atom is not None
            return atom
        return Const(right)


def number_of_numpy(builder: Builder, atom: Atom) -> bool:
    """Whether a number is one of NumPy's, as far as it is known where it comes from."""
    known, pending = builder.numpy_numbers, [atom]
    while pending:
        each = pending[-1]
        operands = _operands_of_python(builder, each)
        open_ones = [arg for arg in operands if arg not in known]
        if open_ones:
            pending += open_ones
            continue
        by_operands = any(known[arg] for arg in operands)
        known[each] = by_operands if operands else _is_by_numpy(builder, each)
        pending.pop()
    return known[atom]


def _definition(builder: Builder, atom: Atom) -> Eqn | None:
    eqn = builder.primal.get(atom) or builder.definition(atom)
    return eqn if isinstance(kind_of_atom(atom), Number) else None


def _operands_of_python(builder: Builder, atom: Atom) -> Sequence[Atom]:
    """The operands of one of Python's operators that computes a number: it is NumPy's if one of them is."""
    eqn = _definition(builder, atom)
    return eqn.args if eqn is not None and eqn.op.elementwise and eqn.namespace == "py" else ()


def _is_by_numpy(builder: Builder, atom: Atom) -> bool:
    eqn = _definition(builder, atom)
    if eqn is None or (eqn.op.elementwise and eqn.namespace == "py"):
        return False
    if eqn.op is getitem:
        return isinstance(kind_of_atom(eqn.args[0]), Array)
    return eqn.namespace in ("np", "method")


@cache
def identities_of(groups: tuple[str, ...], op: Op) -> Sequence[Rewrite]:
    """The identities of some groups whose left side is an application of an op."""
    return [rewrite for group in groups for rewrite in rewrites(group).get(op, ())]


def _named(atom: Atom, name: str) -> Atom:
    """A value, with a name if it had none."""
    if isinstance(atom, Var):
        atom.name = atom.name or name
    return atom


def _is_plain(atom: Atom) -> bool:
    """Whether a value is a real number, or an array of them."""
    match kind_of_atom(atom):
        case Number(type=t):
            return t in ("int", "float")
        case Array(dtype=dtype):
            return dtype.startswith(("int", "uint", "float"))
        case _:
            return False


def _place(atom: Atom) -> tuple[int, str]:
    return (atom.born, "") if isinstance(atom, Var) else (-1, repr(atom))
