"""Where a derivative may be infinite, or not a number, although nothing is wrong with the value.

Such a derivative must not be multiplied by the zero that is written out for a path which does not use the value.
Which ops have one is read off their rules: a row that divides, takes a logarithm or calls a function with poles.
"""

from __future__ import annotations

import cmath
import inspect
import operator
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from typing import Any

from ...ir.builder import kind_of_atom
from ...ir.graph import CALL, Atom, Block, Callee, Const, Eqn, Function, Var, callees, walk
from ...ir.op import Op
from ...ir.types import BOOL, INT, Number
from ...ops import elementwise as el, structure as st
from ...ops.algebra import is_real
from ...ops.program.memory import COPIES
from ...rules.registry import Row, Rule, rule_for
from ..blocks.flow import flow, reached

_LINEAR = frozenset(("add", "sub", "neg", "pos"))
CHOOSING = frozenset(("maximum", "minimum", "fmax", "fmin", "clip"))
"""Ops that choose one of their operands: their value is finite though a bound that nothing reaches is not."""

_FINITE_AT_POLE = frozenset(
    ("sqrt", "cbrt", "pow", "asin", "acos", "acosh", "hypot", "norm", "dist")
)
"""Ops whose slope is infinite, or not a number, where their value is finite."""

_OF_SUCH_ENTRIES = frozenset(("sum", "mean", "ravel", "reshape", "transpose"))
"""Ops whose result is at least 0 where the entries of their operand are."""

_SMOOTH = frozenset(
    (
        "atan", "asinh", "hypot1", "erf", "erfc", "astype", "<ufunc 'erf'>", "<ufunc 'erfc'>", "<ufunc 'expit'>",
        "<ufunc 'log_expit'>", "<ufunc 'ndtr'>",
    )
)  # fmt: skip
"""Ops with a bounded slope, though their rows divide, or take exponentials."""

_NAN = Const(cmath.nan)

Lost = dict[Callee, set[Var]]
"""Of each function that is called, the values that may come of constants that are not finite."""


def singular_equations(block: Block) -> frozenset[Eqn]:
    """The equations whose derivative may be infinite, or NaN, where what is made of it is neither.

    Beside those whose rule says so: those of a value that was set to infinity or to NaN, for a path that does not
    use it, and calls of functions that have such equations.
    """
    return _equations(block, _is_singular)


def quiet_equations(block: Block) -> frozenset[Eqn]:
    """Those whose operands may be at a pole though nothing was raised: Python's numbers and `math` do at most poles."""
    return _equations(block, _is_quiet)


def finite_equations(block: Block) -> frozenset[Eqn]:
    """Those whose value is finite at a pole: all that a tangent meets, which goes only where values go."""
    return _equations(block, _is_finite_at_pole)


def _equations(block: Block, which: Callable[[Eqn, set[Var]], bool]) -> frozenset[Eqn]:
    lost = Lost()
    positive = _positive_values(block)
    own = _not_finite(block, lost)
    singular = {
        callee
        for callee, inside in lost.items()
        if any(which(eqn, inside) for eqn in walk(_function(callee).body))
    }
    leading_there = {
        callee
        for callee in lost
        if not singular.isdisjoint((callee, *callees([_function(callee)])))
    }
    return frozenset(
        eqn
        for eqn in walk(block)
        if (which(eqn, own) and not _stays_off_poles(eqn, positive))
        or (eqn.op is CALL and eqn.param("callee") in leading_there)
    )


def _positive_values(block: Block) -> set[Var]:
    """Values that are certainly more than some positive number, such as 1 + x²."""
    at_least_zero, positive = set[Atom](), set[Var]()
    for eqn in walk(block):
        if len(eqn.outs) != 1 or not is_real(eqn.outs[0].kind):
            continue
        (out,) = eqn.outs
        if _is_square(eqn) or eqn.op in (el.exp, el.abs_, el.exp2, el.cosh, el.sqrt):
            at_least_zero.add(out)
        if eqn.op.name in _OF_SUCH_ENTRIES and "initial" not in eqn.params:
            if eqn.args[0] in at_least_zero:
                at_least_zero.add(out)
        if eqn.op is el.add:
            signs = [_is_positive(arg) or arg in positive for arg in eqn.args]
            not_below = [
                arg in at_least_zero or sign for arg, sign in zip(eqn.args, signs, strict=True)
            ]
            if any(signs) and all(not_below):
                positive.add(out)
                at_least_zero.add(out)
        if eqn.op is el.sqrt and eqn.args[0] in positive:
            positive.add(out)
        if eqn.op in (el.maximum, el.fmax, el.clip):
            bounds = eqn.args if eqn.op is not el.clip else _lower_bound(eqn)
            if any(_is_positive(bound) or bound in positive for bound in bounds):
                positive.add(out)
                at_least_zero.add(out)
            if any(bound in (Const(0), Const(0.0)) for bound in bounds):
                at_least_zero.add(out)
    return positive


def _lower_bound(eqn: Eqn) -> Sequence[Atom]:
    """What a clipped value is no less than, unless an upper bound below it may be."""
    low, high = eqn.args[1:3]
    return (low,) if high == Const(None) or _is_positive(high) else ()


def _is_square(eqn: Eqn) -> bool:
    if eqn.op is el.mul:
        return eqn.args[0] == eqn.args[1]
    return eqn.op is el.square or (eqn.op is el.pow_ and eqn.args[1] == Const(2))


def _is_positive(atom: Atom) -> bool:
    return isinstance(atom, Const) and type(atom.value) in (int, float) and atom.value > 0


def _stays_off_poles(eqn: Eqn, positive: set[Var]) -> bool:
    """Whether the only pole of an op is at 0, and what it is taken of is not."""
    if eqn.op is el.div:
        return eqn.args[1] in positive
    return eqn.op in (el.log, el.sqrt, el.reciprocal) and eqn.args[0] in positive


def _is_quiet(eqn: Eqn, lost: set[Var]) -> bool:
    if not _is_singular(eqn, lost):
        return False
    numbers = all(isinstance(kind_of_atom(arg), Number) for arg in eqn.args)
    return (
        not numbers or eqn.namespace not in ("py", "math", "cmath") or _is_finite_at_pole(eqn, lost)
    )


def _is_finite_at_pole(eqn: Eqn, lost: set[Var]) -> bool:
    if rule_for(eqn.op) is None or eqn.op.name in _LINEAR:
        return False
    if any(arg in lost or _is_lost(arg) for arg in eqn.args) and eqn.op.name not in CHOOSING:
        return True
    return eqn.op.name in _FINITE_AT_POLE and not _is_smooth_power(eqn)


def has_infinite_value(eqn: Eqn) -> bool:
    """Whether an equation with a singular partial has no finite value at its pole either."""
    return eqn.op.name not in _FINITE_AT_POLE and eqn.op.name not in OVERFLOWING


def has_slope(eqn: Eqn) -> bool:
    """Whether an equation multiplies a cotangent by anything but literals: by a value, which may be infinite."""
    rule = rule_for(eqn.op)
    if rule is None or rule.form in ("zero", "linear") or eqn.op.name in (*_LINEAR, *CHOOSING):
        return False
    factors = eqn.args if eqn.op is el.mul else eqn.args[1:] if eqn.op is el.div else ()
    return not any(isinstance(arg, Const) and not _is_lost(arg) for arg in factors)


def _function(callee: Callee) -> Function:
    assert callee.function is not None, f"{callee!r} is called before it is read"
    return callee.function


def _is_singular(eqn: Eqn, lost: set[Var]) -> bool:
    rule = rule_for(eqn.op)
    if rule is None or eqn.op.name in _LINEAR:
        return False
    if any(arg in lost or _is_lost(arg) for arg in eqn.args) and eqn.op.name not in CHOOSING:
        return True
    if eqn.op is el.div and isinstance(eqn.args[1], Const):
        return eqn.args[1] in (Const(0), Const(0.0))
    return has_pole(rule) and not _is_smooth_power(eqn)


def _is_smooth_power(eqn: Eqn) -> bool:
    if eqn.op is not el.pow_:
        return False
    x, exponent = eqn.args
    if kind_of_atom(exponent) == INT and isinstance(kind_of_atom(x), Number):
        return True  # a negative one raises at 0
    return (
        isinstance(exponent, Const)
        and isinstance(exponent.value, (int, float))
        and exponent.value >= 1
    )


# --- what a row multiplies by -------------------------------------------------------------


@cache
def has_pole(rule: Rule) -> bool:
    """Whether what a rule multiplies by may be infinite, or NaN, for operands that are finite."""
    if rule.form in ("zero", "linear", "bilinear"):
        return False
    if rule.built_in and rule.op.name in _SMOOTH:
        return False
    if not rule.built_in or rule.form not in ("scalar", "differential"):
        return True
    return (
        rule.op.name in OVERFLOWING
        or rule.op is el.reciprocal
        or any(row is not None and _row_has_pole(row) for row in rule.rows)
    )


def _row_has_pole(row: Row) -> bool:
    """Whether a row uses an op outside those that are finite for finite operands."""
    traced = _Traced([])
    parameters = inspect.signature(row).parameters.values()
    count = sum(p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD) for p in parameters)
    operands = [traced] * (3 if any(p.kind is p.VAR_POSITIONAL for p in parameters) else count)
    unsaid = [p.name for p in parameters if p.kind is p.KEYWORD_ONLY and p.default is p.empty]
    try:
        row(*operands, **dict.fromkeys(unsaid, 1))
    except Exception:  # it asks for what only the running program knows
        return True
    return any(not _is_finite(op, args) for op, args in traced.seen)


def _is_finite(op: Op, args: Sequence[Any]) -> bool:
    if op is el.pow_:
        return isinstance(args[1], (int, float)) and args[1] >= 0
    if op is el.div:
        return isinstance(args[1], (int, float)) and args[1] != 0
    return op in _FINITE or not op.elementwise


_FINITE = frozenset(
    (
        el.add, el.sub, el.mul, el.neg, el.pos, el.square, el.fma, el.conj, el.real, el.imag, el.i_imag,
        el.abs_, el.fabs, el.unit, el.sign, el.copysign, el.where, el.maximum, el.minimum, el.isfinite,
        el.sin, el.cos, el.sech, el.tanh, el.expit, el.sinc_derivative, el.safe_div, el.direction_cosine, el.safe_log,
        el.hypot, el.hypot1, el.degrees, el.radians, el.ldexp,
        st.lt, st.le, st.gt, st.ge, st.eq, st.ne,
    )
)  # fmt: skip
"""Elementwise ops that are finite for finite operands, but for overflow."""

OVERFLOWING = frozenset(("exp", "exp2", "expm1", "sinh", "cosh", "hypot"))
"""Ops whose derivative overflows for operands that occur, or is NaN for infinite ones."""


class _Traced:
    """What a row is called with to see which ops it uses."""

    compute_priority = 4

    def __init__(self, seen: list[tuple[Op, Sequence[Any]]]):
        self.seen = seen

    @staticmethod
    def __compute_op__(op: Op, args: tuple[Any, ...], options: dict[str, Any]) -> Any:
        traced = next(arg for arg in args if isinstance(arg, _Traced))
        traced.seen.append((op, args))
        return traced


def _operator(op: Op, *, reflected: bool = False) -> Callable[..., Any]:
    def compute(self: _Traced, *others: Any) -> Any:
        self.seen.append((op, (*others, self) if reflected else (self, *others)))
        return self

    return compute


for _name, _op in (
    ("neg", el.neg), ("pos", el.pos), ("add", el.add), ("sub", el.sub), ("mul", el.mul), ("truediv", el.div),
    ("floordiv", el.floordiv), ("pow", el.pow_), ("lt", st.lt), ("le", st.le), ("gt", st.gt), ("ge", st.ge),
    ("eq", st.eq), ("ne", st.ne), ("matmul", st.getitem), ("getitem", st.getitem),
):  # fmt: skip
    setattr(_Traced, f"__{_name}__", _operator(_op))
    if hasattr(operator, f"i{_name}"):
        setattr(_Traced, f"__r{_name}__", _operator(_op, reflected=True))


# --- what is not finite -------------------------------------------------------------------


def _not_finite(block: Block, lost: Lost) -> set[Var]:
    """The values that come of constants that are not finite; `lost` is told of the functions that are called."""
    eqns = walk(block)
    for callee in {eqn.param("callee"): None for eqn in eqns if eqn.op is CALL}:
        if callee not in lost:
            lost[callee] = set()  # where it recurses
            lost[callee] = _not_finite(_function(callee).body, lost)
    if not (any(lost.values()) or any(_is_lost(atom) for eqn in eqns for atom in _atoms(eqn))):
        return set()
    return reached([pair for eqn in eqns for pair in _flow(eqn, lost)], _is_lost)


def _atoms(eqn: Eqn) -> Sequence[Atom]:
    return (*eqn.args, *(out for block in eqn.blocks for out in block.outs))


def _flow(eqn: Eqn, lost: Lost) -> Iterable[tuple[Var, Iterable[Atom]]]:
    """Each value that an equation defines, beside those that it may come of."""
    if eqn.blocks or eqn.op in COPIES:
        return flow(eqn)
    if eqn.op.name in CHOOSING:
        return ()
    given = [(out, eqn.args) for out in eqn.outs if out.kind != BOOL]
    return [*given, *_lost_results(eqn, lost)] if eqn.op is CALL else given


def _lost_results(eqn: Eqn, lost: Lost) -> Iterable[tuple[Var, Iterable[Atom]]]:
    """The results of a call that may not be finite, beside a constant that is not."""
    callee: Callee = eqn.param("callee")
    # results that only tell what it has changed come after its own
    pairs = zip(eqn.outs, _function(callee).body.outs, strict=False)
    return [(out, (_NAN,)) for out, atom in pairs if atom in lost[callee] or _is_lost(atom)]


def _is_lost(atom: Atom) -> bool:
    if not isinstance(atom, Const) or not isinstance(atom.value, (float, complex)):
        return False
    return not cmath.isfinite(atom.value)
