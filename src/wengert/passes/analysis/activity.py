"""Activity: which values depend on a differentiated input and reach the output.

Only these get a tangent or a cotangent. Loop counters, shapes, indices, strings and comparisons
never do.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from ...errors import LostWrite, NoRule
from ...ir.builder import kind_of_atom
from ...ir.graph import (
    CALL,
    IF,
    TRY,
    Atom,
    Block,
    Const,
    Eqn,
    Function,
    Var,
    alternatives,
    walk,
    with_called,
)
from ...ir.op import Op
from ...ir.types import COUNTS, UNKNOWN, Array, Kind, Number, Seq, Struct, is_differentiable
from ...ops import structure as st
from ...ops.array_kinds import dtype_name
from ...ops.program import containers as co, cotangents as ct, memory as me
from ...ops.program.refusals import of_captured
from ...rules.registry import Rule, rule_for
from ..blocks.loops import LOOPS, Loop, view
from .caught import HOLDING, carries
from .read_back import numbers_read_back, refuse_numbers_read_back

BRANCHES = (IF, TRY)

ZERO_OPS = frozenset(
    (
        st.zeros, st.stop_gradient, st.slice_, st.range_, st.length, st.global_, st.opaque,
        st.raise_, st.format_, st.eq, st.ne, st.lt, st.le, st.gt, st.ge, st.is_, st.is_not,
        st.in_, st.not_in, st.not_, st.both, st.either, st.truth,
        me.zeros_at, me.accepts, me.can_change, me.position, me.span_of, me.last_written, me.copied_places,
    )
)  # fmt: skip
"""Structural ops whose result never carries a derivative."""

FIRST_ONLY = frozenset(
    (
        st.getitem, st.getattr_, st.ruled, st.as_list, st.as_tuple, st.bound, st.unpackable, st.project,
        ct.collected_cotangent, ct.items_reached, ct.shadow_attr, ct.shadow_items, ct.rule_cotangents, ct.as_returned,
        ct.partial_of_row, ct.given_by_row, ct.given_by_hook,
        me.drop, me.dropped, me.snapshot, me.duplicate, me.given_at, me.as_left,
        me.summed_to, me.spread_over, me.spread_from,
    )
)  # fmt: skip
"""Structural ops that are linear in their first operand and have no derivative in the others."""


def active(block: Block, varied: Iterable[Var], useful: Iterable[Var]) -> set[Var]:
    """The values, at every depth of a block, that a derivative flows through.

    Args:
        block: the program.
        varied: the values it is differentiated with respect to.
        useful: the values whose derivative is wanted.
    """
    reach = _Reach()
    forward = _Varied(dict.fromkeys(varied, 1), reach)
    forward.block(block)
    dependent = set(forward.varied)
    refuse_active_options(block, dependent)
    read_back = numbers_read_back(block, dependent)
    if read_back:
        forward.varied.update(dict.fromkeys(read_back, 1))
        forward.block(block)
    backward = _Useful(set(useful), set(forward.varied), reach)
    backward.block(block)
    found = backward.varied & backward.useful
    refuse_cut_off(block, found)
    refuse_numbers_read_back(read_back, found)
    return found


def depending(block: Block, varied: Iterable[Var]) -> set[Var]:
    """The values, at every depth of a block, that may change with some others."""
    forward = _Varied(dict.fromkeys(varied, 1), _Reach())
    forward.block(block)
    return set(forward.varied)


def dependences(block: Block, bits: Mapping[Var, int]) -> Mapping[Var, int]:
    """For every value at every depth of a block, the bits of those that it may change with."""
    forward = _Varied(dict(bits), _Reach())
    forward.block(block)
    return forward.varied


def dependences_of_turns(loop: Loop, bits: Mapping[Var, int]) -> Mapping[Var, int]:
    """The same for the turns of a loop, which starts from values that depend on nothing."""
    forward = _Varied(dict(bits), _Reach())
    changed = True
    while changed:
        forward.block(loop.body)
        changed = forward.copy(loop.results, loop.carried)
    return forward.varied


_DATA = frozenset(
    ("constant_values", "end_values", "left", "right", "nan", "posinf", "neginf", "d", "weights")
)
"""Options that hold numbers to compute with, also where their kind is not known."""

_THRESHOLDS = frozenset(("rcond", "rtol"))
"""Options that say what counts as zero: results do not move with them."""

STAND_INS = frozenset(("like", "vector", "result", "matrix", "x", "rule", "owned"))
"""Options of helper ops that hold a value only for its shape, or whose rules know of it."""


def refuse_active_options(block: Block, varied: set[Var]) -> None:
    """An option has no derivative: a value that should have one must not arrive in it.

    Raises:
        NoRule: naming the option.
    """
    own: set[Atom] = set()
    for eqn in walk(block):
        if eqn.op is st.pack or (keys_of(eqn) and eqn.args[0] in own):
            own.update(eqn.outs)
        if eqn.op.control or eqn.op in ZERO_OPS:
            continue
        _refuse_active_captured(eqn, varied)
        _refuse_operands_without_rows(eqn, varied)
        _refuse_active_keys(eqn, varied, own)
        for name, atom in eqn.params.items():
            known = name in _THRESHOLDS or (name in STAND_INS and eqn.op.spellings)
            data = _is_inexact(kind_of_atom(atom)) or name in _DATA or eqn.namespace == "call"
            if atom in varied and not known and data:
                raise NoRule(
                    f"no derivative flows through the argument `{name}` of {eqn.op.name}",
                    "Compute what depends on it yourself, give the function a rule (`wg.rrule`), or keep\n"
                    "the argument out of the derivative with `wg.stop_gradient`.",
                    eqn.span,
                )


def keys_of(eqn: Eqn) -> tuple[Atom, ...]:
    """Where an equation puts what it stores."""
    if eqn.op is co.dict_of:
        return eqn.args[:1]
    return eqn.args[1:-1] if eqn.op in me.OWN or eqn.op in me.PURE else ()


def _refuse_active_keys(eqn: Eqn, varied: set[Var], own: set[Atom]) -> None:
    """What is in a set, or under which key, has no derivative; what earlier runs have left there, neither."""
    of_a_set = eqn.op in (me.insert, me.inserted) and eqn.args[-1] == Const(None)
    refused = (UNKNOWN,) if of_a_set else ()
    kinds = [kind_of_atom(atom) for atom in keys_of(eqn) if atom in varied]
    if any(_is_inexact(kind) or kind in refused for kind in kinds):
        error = number_as_key(eqn)
        error.also_elsewhere = eqn.op is not co.dict_of and eqn.args[0] not in own
        raise error


def number_as_key(eqn: Eqn) -> NoRule:
    """The error for a set or a key of numbers that have a derivative."""
    return NoRule(
        "a number that has a derivative is put into a set, or is the key of an entry",
        "Keep such numbers in a list; or use `wg.stop_gradient(x)` as the key.",
        eqn.span,
    )


def _refuse_active_captured(eqn: Eqn, varied: set[Var]) -> None:
    """The rule of a function says nothing about what the function has captured."""
    if eqn.op is not st.ruled:
        return
    captured = zip(eqn.args[1:], eqn.param("names"), strict=True)
    name = next((name for atom, name in captured if atom in varied), None)
    if name is not None:
        raise NoRule(*of_captured(eqn.param("function"), name), eqn.span)


def _refuse_operands_without_rows(eqn: Eqn, varied: set[Var]) -> None:
    rule = rule_for(eqn.op)
    if rule is None or not _has_row_by_operand(rule):
        return
    beyond = next((atom for atom in eqn.args[len(rule.rows) :] if atom in varied), None)
    if beyond is not None:
        raise NoRule(
            f"the rule of {eqn.op.name} ({rule.file}:{rule.line}) has no row for its operand "
            f"{eqn.args.index(beyond)}",
            "Give one row for each operand, `None` for one without derivative.",
            eqn.span,
        )


def _has_row_by_operand(rule: Rule) -> bool:
    together = rule.form == "scalar" and len(rule.rows) == 1
    return rule.form in ("linear", "bilinear", "scalar") and not together


def refuse_cut_off(block: Block, active: set[Var]) -> None:
    """An array of integers cuts off what it is given: a float with a derivative must not go there.

    Raises:
        LostWrite: at the write.
    """
    for eqn in walk(block):
        if eqn.op not in me.TAKING or not active.issuperset((eqn.args[-1], eqn.outs[0])):  # type: ignore[arg-type]
            continue
        kind = me.holder(eqn)
        if (
            isinstance(kind, Array)
            and _holds_integers(kind)
            and _is_inexact(kind_of_atom(eqn.args[-1]))
        ):
            raise LostWrite(
                f"an array of {kind.dtype} is given a value that has a derivative: it would keep the "
                "integer part only",
                "Create the array with `dtype=float`.",
                eqn.span,
            )


_INTEGERS = ("int", "uint", "bool")


def _holds_integers(kind: Array) -> bool:
    return kind.dtype.startswith(_INTEGERS)


def _is_inexact(kind: Kind) -> bool:
    """Whether something is a floating-point number, or holds some."""
    match kind:
        case Number(type=type_):
            return type_ in ("float", "complex")
        case Array(dtype=dtype):
            return dtype.startswith(("float", "complex"))
        case Seq(item=item):
            return _is_inexact(item)
        case Struct(items=items):
            return any(map(_is_inexact, items))
        case _:
            return False


def operands_of(eqn: Eqn) -> Iterable[Atom]:
    """The operands of an equation in which its results may have a derivative."""
    op = eqn.op
    if op in ZERO_OPS:
        return ()
    if op in FIRST_ONLY:
        return eqn.args[:1]
    if op is st.valued or (op is me.overwrite and len(eqn.args) == 2):
        return eqn.args[1:]
    if op is st.add_at or op in me.TAKING or op is me.overwrite:
        return (eqn.args[0], eqn.args[-1])
    if op is ct.add_attr:
        return (eqn.args[0], eqn.args[2])
    return _by_rule(eqn)


def _by_rule(eqn: Eqn) -> Iterable[Atom]:
    if _cuts_off(eqn):
        return ()
    rule = rule_for(eqn.op)
    if rule is None:
        return eqn.args
    if rule.form == "zero":
        return ()
    if _has_row_by_operand(rule):
        return [arg for arg, row in zip(eqn.args, rule.rows, strict=False) if row is not None]
    return eqn.args


def _cuts_off(eqn: Eqn) -> bool:
    """Whether only the integer part of what is computed is kept: a step function."""
    if "dtype" in eqn.params:
        return dtype_name(eqn.params["dtype"]).startswith(_INTEGERS)
    if eqn.op.name != "full_like":
        return False
    kind = eqn.outs[0].kind
    return isinstance(kind, Array) and _holds_integers(kind)


def _takes_options(op: Op) -> bool:
    """Whether an op is a function of a library without a rule: whole numbers say how it is done, and how often.

    An elementwise function may be one of real numbers that is given whole ones.
    """
    function = op.implementation
    module = str(getattr(function, "__module__", "")).partition(".")[0]
    if module not in ("numpy", "scipy") or isinstance(function, (np.ufunc, type)):
        return False
    return getattr(function, "__self__", None) is None and rule_for(op) is None


class _Varied:
    """Forward: what depends on which of the differentiated values.

    Attributes:
        varied: for each value that depends on some, a bit for each of them.
    """

    def __init__(self, varied: dict[Var, int], reach: _Reach):
        self.varied = varied
        self.reach = reach
        self.holders: set[Atom] = set()
        """What holds such values and has no derivative itself: exceptions, above all."""
        self.tuples: dict[Atom, Eqn] = {}
        """How tuples are made: an item depends on what it is, whatever else is in the tuple."""

    def mark(self, var: Var, bits: int) -> bool:
        before = self.varied.get(var, 0)
        if bits | before == before or not is_differentiable(var.kind):
            return False
        self.varied[var] = bits | before
        return True

    def bits(self, atoms: Iterable[Atom]) -> int:
        found = 0
        for atom in atoms:
            found |= self.varied.get(atom, 0)  # type: ignore[arg-type]
        return found

    def block(self, block: Block) -> None:
        for eqn in block.eqns:
            if eqn.op in HOLDING and any(a in self.varied or a in self.holders for a in eqn.args):
                self.holders.update(eqn.outs)
            if eqn.op in BRANCHES:
                self.branches(eqn)
            elif eqn.op in LOOPS:
                self.loop(eqn)
            elif eqn.op is CALL:
                for out, args in zip(eqn.outs, self.reach.sources(eqn), strict=True):
                    self.mark(out, self.bits(args))
            elif bits := self.bits(self.sources(eqn)):
                for out in eqn.outs:
                    self.mark(out, bits)
            if eqn.op is st.pack and eqn.param("form") == "tuple":
                self.tuples[eqn.outs[0]] = eqn

    def sources(self, eqn: Eqn) -> Iterable[Atom]:
        """The operands of an equation in which its results may have a derivative."""
        if eqn.namespace == "call" and _takes_options(eqn.op):
            return [atom for atom in operands_of(eqn) if kind_of_atom(atom) not in COUNTS]
        if eqn.op is not st.getitem or eqn.args[0] not in self.tuples:
            return operands_of(eqn)
        made, key = self.tuples[eqn.args[0]], eqn.args[1]
        keys = made.param("keys")
        if not isinstance(key, Const) or key.value not in keys:
            return operands_of(eqn)
        return made.args[keys.index(key.value) : keys.index(key.value) + 1]

    def branches(self, eqn: Eqn) -> None:
        outs, blocks = alternatives(eqn)
        for inner in blocks:
            self.block(inner)
            self.copy(inner.outs, outs)
        if eqn.op is TRY and carries(eqn.blocks[0], {*self.varied, *self.holders}):
            self.mark(eqn.outs[0], self.bits(self.varied))

    def loop(self, eqn: Eqn) -> None:
        loop = view(eqn)
        self.copy(loop.iterables, loop.items)
        self.copy(loop.initials, loop.carried)
        changed = True
        while changed:
            self.block(loop.body)
            changed = self.copy(loop.results, loop.carried)
        self.copy(loop.carried, loop.outs)
        self.copy(loop.collected, loop.lists)

    def copy(self, sources: Sequence[Atom], targets: Sequence[Var]) -> bool:
        pairs = zip(sources, targets, strict=True)
        marked = [self.mark(target, self.bits((source,))) for source, target in pairs]
        return any(marked)


class _Reach:
    """Which results of the functions that are called depend on which of their arguments."""

    def __init__(self) -> None:
        self._found: dict[int, list[int]] = {}
        """For each function, by identity, the arguments of each result, a bit for each of them."""

    def sources(self, eqn: Eqn) -> list[list[Atom]]:
        """For each result of a call, the arguments it depends on."""
        function: Function | None = eqn.param("callee").function
        if function is None or len(function.body.outs) != len(eqn.outs):
            return [list(eqn.args) for _ in eqn.outs]
        if id(function) not in self._found:
            self._find(function)
        return [
            [arg for k, arg in enumerate(eqn.args) if bits >> k & 1]
            for bits in self._found[id(function)]
        ]

    def _find(self, function: Function) -> None:
        """The least dependences that agree with each other, for functions that call each other."""
        called = with_called(function)
        found = {id(each): [0] * len(each.body.outs) for each in called}
        self._found |= found
        changed = True
        while changed:
            before = {each: self._found[each] for each in found}
            self._found |= {id(each): self._dependences(each) for each in called}
            changed = any(self._found[each] != before[each] for each in found)

    def _dependences(self, function: Function) -> list[int]:
        params = {param: 1 << k for k, param in enumerate(function.body.params)}
        inside = _Varied(params, self)
        inside.block(function.body)
        return [inside.bits((out,)) for out in function.body.outs]


class _Useful:
    """Backward: what the wanted values depend on."""

    def __init__(self, useful: set[Var], varied: set[Var], reach: _Reach):
        self.useful = useful
        self.varied = varied
        self.reach = reach

    def mark(self, atoms: Iterable[Atom]) -> None:
        self.useful.update(atom for atom in atoms if isinstance(atom, Var) and atom in self.varied)

    def block(self, block: Block) -> None:
        for eqn in reversed(block.eqns):
            if eqn.op in LOOPS:
                self.loop(eqn)
            elif not any(out in self.useful for out in eqn.outs):
                continue
            elif eqn.op in BRANCHES:
                self.branches(eqn)
            elif eqn.op is CALL:
                for out, args in zip(eqn.outs, self.reach.sources(eqn), strict=True):
                    self.mark(args if out in self.useful else ())
            else:
                self.mark(operands_of(eqn))

    def branches(self, eqn: Eqn) -> None:
        outs, blocks = alternatives(eqn)
        for inner in blocks:
            pairs = zip(outs, inner.outs, strict=True)
            self.mark(result for out, result in pairs if out in self.useful)
            self.block(inner)

    def loop(self, eqn: Eqn) -> None:
        loop = view(eqn)
        if not any(out in self.useful for out in eqn.outs):
            return
        self.copy(loop.lists, loop.collected)
        self.copy(loop.outs, loop.carried)
        before = -1
        while before != len(self.useful):
            before = len(self.useful)
            self.copy(loop.carried, loop.results)
            self.block(loop.body)
        self.copy(loop.carried, loop.initials)
        self.copy(loop.items, loop.iterables)
        self.copy(loop.carried, loop.outs)

    def copy(self, needed: Sequence[Var], sources: Sequence[Atom]) -> None:
        self.mark(source for var, source in zip(needed, sources, strict=True) if var in self.useful)
