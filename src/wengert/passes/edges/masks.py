"""Which entries of a cotangent are more than zeros that a selection has written out.

An index, a mask, `np.take` or `np.max` uses some entries of an array; the others get a zero, which must not be
multiplied by a slope that is infinite there. So where a value comes of an equation with a singular partial
(`singular_partials`), it is counted how often each entry is used: by the same transposes as its cotangent, with 1
in place of every cotangent and partial. `np.where` then cuts off what is not used, and products are
taken inside it (`ops/algebra`): a cotangent that happens to be 0 is no such zero.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

from ...ir.builder import Builder, kind_of_atom
from ...ir.graph import Atom, Block, Const, Eqn, Var, walk
from ...ir.records import field, mutable_record
from ...ir.types import Array, Kind, Number, Struct
from ...ops import registry, structure as st
from ...ops.cotangent_kinds import gradient_kind
from ..blocks.flow import flow, reached
from .singular_partials import has_slope

if TYPE_CHECKING:
    from ...rules.registry import Rule
    from ..reverse.cotangents import Cotangents
    from ..reverse.sweep import Sweep

ONE, NOT_USED = Const(1.0), Const(0.0)

_MOVES_ENTRIES = frozenset(
    (
        "accumulate", "append", "array_split", "ascontiguousarray", "asfortranarray", "at_extreme", "atleast_1d",
        "atleast_2d", "atleast_3d", "broadcast_like", "broadcast_to", "cast_like", "column_stack", "compress",
        "concatenate", "conj", "copy", "cumsum", "cumsum_reversed", "diag", "diagonal", "dsplit", "dstack",
        "edge_like", "expand_dims", "flatten", "flip", "fliplr", "flipud", "float32", "float64", "gather",
        "hsplit", "hstack", "item", "lane_of", "lanes", "matrix_transpose", "mean", "moveaxis", "pad_zeros",
        "put_extreme", "ravel", "repeat", "reshape", "roll", "rot90", "shaped", "split", "split_like", "squeeze",
        "stack", "sum", "swapaxes", "take", "take_along_axis", "tile", "trace", "transpose", "tril", "triu",
        "unbroadcast", "unconcatenate", "undiag", "undiagonal", "unlanes", "unpad", "unreduce", "unrepeat",
        "unroll", "untake", "untake_along_axis", "untile", "untrace", "vsplit", "vstack",
    )
)  # fmt: skip
"""Linear ops without a factor that is negative: a sum of what they are given vanishes where all of it does."""


def weighed(builder: Builder, count: Atom) -> Atom:
    """Counts of which no sum with factors vanishes, unless all are 0: the factors of a mixing op may be negative."""
    kind, emit = kind_of_atom(count), builder.emit
    if not isinstance(kind, Array):
        return count
    places = emit(registry.named("cumsum"), emit(st.ne, count, Const(0)), namespace="np")
    weights = emit(registry.named("sqrt"), places, namespace="np")
    if kind.rank != 1:
        shape = emit(registry.named("shape"), count, namespace="attr")
        weights = emit(registry.named("reshape"), weights, shape=shape, namespace="np")
    return emit(registry.named("mul"), count, weights)


_SUMS_OF_PRODUCTS = frozenset(
    (
        "matmul", "matmul_left", "matmul_right", "dot", "inner", "outer", "vdot", "tensordot", "contract",
        "contract_left", "contract_right", "einsum_2", "einsum_3", "kron", "kron_left", "kron_right",
    )
)  # fmt: skip
"""Bilinear ops that only add products: of counts, with 1 in the place of each factor, no sum vanishes."""

_OF_WHOLE_MATRICES = frozenset(("cholesky", "inv", "pinv", "eigh", "eig", "svd", "qr"))
"""Ops of which each entry of the result comes of all entries of a matrix, or of as many as anyone uses."""


def uses_all(eqn: Eqn) -> bool:
    """Whether an op uses all entries of its operands, however few of its own are used."""
    kind = kind_of_atom(eqn.args[0]) if eqn.args else None
    return eqn.op.name in _OF_WHOLE_MATRICES and isinstance(kind, Array) and kind.rank == 2


_SELECTS = frozenset(
    (
        "at_extreme", "compress", "diag", "diagonal", "edge_like", "gather", "item", "lane_of", "take",
        "take_along_axis", "trace", "tril", "triu", "unpad",
    )
)  # fmt: skip
"""Those that may leave entries of their operand unused."""


@mutable_record
class Masks:
    """What is counted, in all blocks of one function."""

    wanted: Collection[Var] = ()
    """The values that come of an equation with a singular partial."""
    counters: dict[Var, Var] = field(default_factory=dict[Var, Var])
    """Of a value, what stands for how often its entries are used: it has such cotangents."""
    counted: dict[Var, Var] = field(default_factory=dict[Var, Var])
    """The other way round."""
    whole: set[Var] = field(default_factory=set[Var])
    """The values of which all entries are used, as far as is known."""
    known: dict[Atom, Atom] = field(default_factory=dict[Atom, Atom])
    """Of cotangents that have been cut off, and of the conditions for that, how often entries are used."""

    def counter(self, var: Var) -> Var:
        if var not in self.counters:
            counter = Var(gradient_kind(var.kind), "", var.shape_of)
            self.counters[var], self.counted[counter] = counter, var
        return self.counters[var]

    def counts(self, var: Var) -> bool:
        """Whether it is worth while, and possible, to count the entries of a value that are used."""
        return var in self.wanted and _has_entries(var.kind)


def _has_entries(kind: Kind) -> bool:
    if isinstance(kind, Struct):
        return kind.form in ("tuple", "list", "dict") and all(
            isinstance(item, (Number, Array)) for item in kind.items
        )
    return isinstance(kind, Array)


def steep_under_masks(block: Block, active: set[Var]) -> set[Eqn]:
    """The equations that multiply arrays, where a program takes parts of arrays by masks.

    What a mask leaves out is often not a number, such as what is missing in data: then so is what is computed of it.
    """
    eqns = [eqn for eqn in walk(block) if not active.isdisjoint(eqn.outs)]
    if not any(map(_selects_by_mask, eqns)):
        return set()
    return {
        eqn
        for eqn in eqns
        if eqn.op.elementwise and isinstance(eqn.outs[0].kind, Array) and has_slope(eqn)
    }


def _selects_by_mask(eqn: Eqn) -> bool:
    if eqn.op.name == "compress":
        return True
    index = kind_of_atom(eqn.args[1]) if eqn.op is st.getitem else None
    return isinstance(index, Array) and index.dtype == "bool"


def derived_from(block: Block, singular: Collection[Eqn], starts: Collection[Var] = ()) -> set[Var]:
    """The values that are computed with a result of some equations."""
    if not singular and not starts:
        return set()
    eqns = walk(block)
    first = {out for eqn in singular for out in eqn.outs}.union(starts)
    pairs = [pair for eqn in eqns for pair in flow(eqn)]
    return reached(pairs, lambda atom: atom in first) | first


def leading_to(block: Block, singular: Collection[Eqn]) -> set[Var]:
    """The values that results of some equations are computed with: their cotangents may be infinite."""
    if not singular:
        return set()
    first = {arg for eqn in singular for arg in eqn.args if isinstance(arg, Var)}
    pairs = [
        (atom, (out,))
        for eqn in walk(block)
        for out, atoms in flow(eqn)
        for atom in atoms
        if isinstance(atom, Var)
    ]
    return reached(pairs, lambda atom: atom in first) | first


# --- counting -----------------------------------------------------------------------------


def count_of(bars: Cotangents, bar: Atom) -> Atom | None:
    """How often the entries of a cotangent are used, where `np.where` cuts some off; else None."""
    known = bars.masks.known
    if bar in known:
        return known[bar]
    eqn = bars.builder.definition(bar)
    if eqn is None or eqn.op.name != "where" or not bars.builder.is_derived(bar):
        return None
    condition, *branches = eqn.args
    if not any(map(_is_zero, branches)):
        return None
    inner = [None if _is_zero(each) else count_of(bars, each) for each in branches]
    if condition in known and inner == [None, None] and _is_zero(branches[1]):
        return known[condition]
    counts = [
        NOT_USED if _is_zero(each) else count or ONE
        for each, count in zip(branches, inner, strict=True)
    ]
    known[bar] = bars.builder.emit(registry.named("where"), condition, *counts, namespace="np")
    return known[bar]


def _is_zero(atom: Atom) -> bool:
    return atom in (NOT_USED, Const(0))


def cut_off(bars: Cotangents, total: Atom, count: Atom, like: Atom) -> Atom:
    """A cotangent, zero where an entry is not used."""
    used, eqn = _condition(bars, count), bars.builder.definition(total)
    if eqn is not None and eqn.op.name == "where" and eqn.args[0] == used:
        return total
    found = bars.builder.emit(registry.named("where"), used, total, NOT_USED, namespace="np")
    if isinstance(found, Var) and isinstance(like, Var) and isinstance(kind_of_atom(total), Array):
        found.shape_of = like.shape_of
    bars.masks.known[found] = bars.masks.known[used] = count
    return found


def _condition(bars: Cotangents, count: Atom) -> Atom:
    eqn = bars.builder.definition(count)
    if eqn is not None and eqn.op.name == "where" and eqn.args[1:] == (ONE, NOT_USED):
        return eqn.args[0]
    if eqn is not None and eqn.op is st.ne:
        return count
    return bars.builder.emit(st.ne, count, Const(0))


def _has_fixed_factors(sweep: Sweep, eqn: Eqn, rule: Rule) -> bool:
    """Whether what a linear op multiplies by does not change: then its zeros say what is not used."""
    others = eqn.args[len(rule.rows) :]
    others += tuple(arg for arg, row in zip(eqn.args, rule.rows, strict=False) if row is None)
    return not any(map(sweep.is_active, others))


def factors_for_counts(builder: Builder, eqn: Eqn, rule: Rule) -> Sequence[Atom]:
    """The operands of an op that is transposed on counts: a factor of a product that happens to be 0 is used."""
    if rule.form != "bilinear":
        return eqn.args
    return [
        builder.emit(st.fill, ONE, arg)
        if row is not None and isinstance(kind_of_atom(arg), Array)
        else arg
        for arg, row in zip(eqn.args, (*rule.rows, *[None] * len(eqn.args)), strict=False)
    ]


def count_to_move(sweep: Sweep, eqn: Eqn, rule: Rule, arg: Atom, bar: Atom) -> Atom | None:
    """What a linear op is to be transposed on as well, to count what it uses of an operand."""
    if eqn.op.elementwise or not isinstance(arg, Var) or not sweep.context.masks.counts(arg):
        return None
    count = count_of(sweep.bars, bar)
    if eqn.op.name not in _MOVES_ENTRIES:
        if count is None or not (rule.form == "bilinear" or _has_fixed_factors(sweep, eqn, rule)):
            return None
        if isinstance(eqn.outs[0].kind, Array):  # a condition may be repeated along axes
            count = sweep.builder.emit(registry.named("broadcast_like"), count, eqn.outs[0])
        if eqn.op.name in _SUMS_OF_PRODUCTS:
            used = _condition(sweep.bars, count)
            return sweep.builder.emit(registry.named("where"), used, ONE, NOT_USED, namespace="np")
        return weighed(sweep.builder, count)
    if count is None and eqn.op.name in _SELECTS:
        return sweep.builder.emit(st.fill, ONE, eqn.outs[0])
    return count
