"""Rules called by passes: which one an equation needs, what its row is given, and what it gives."""

from __future__ import annotations

import inspect
import linecache
import re
from collections.abc import Callable, Container, Iterable, Sequence
from functools import cache
from types import FunctionType
from typing import Any

from ...errors import NoRule, NoSource
from ...ir.builder import Builder, kind_of_atom
from ...ir.graph import Atom, Const, Eqn, Span, Var
from ...ir.op import Op
from ...ir.types import BOOL, Array, Kind, Number
from ...ops import registry, structure as st
from ...ops.cotangent_kinds import gradient_kind
from ...ops.program import containers as co, cotangents as ct
from ...rules.identities.simplification import number_of_numpy
from ...rules.places import refuse
from ...rules.registry import Row, Rule, rule_for
from ...runtime.sourceless import Sourceless
from . import active_refusals
from .realness import is_complex, is_real

_NAMESPACES = ("math", "cmath", "np")


def chosen_rule(eqn: Eqn, forms: Container[str], wanted: Callable[[Atom], bool]) -> Rule | None:
    """The rule for an op that a pass can use, given the operands whose derivative is wanted.

    An op with a differential may also be linear in some operands; where only those are wanted,
    its structure says more than the differential.
    """
    rule = rule_for(eqn.op)
    if rule is None:
        return None
    linear = rule.also.get("linear")
    if linear is not None and all(
        row is not None or not wanted(arg) for arg, row in zip(eqn.args, linear.rows, strict=False)
    ):
        return linear
    if rule.form in forms:
        return rule
    return next((each for form, each in rule.also.items() if form in forms), None)


def partials(
    builder: Builder, read: Any, eqn: Eqn, rule: Rule, wanted: Callable[[Atom], bool]
) -> list[tuple[Atom, Atom]]:
    """The operands that are wanted, each with its partial."""
    operands = (*eqn.args, eqn.outs[0])
    namespace = "np" if _divides_number_of_numpy(builder, eqn) else row_namespace(eqn)
    if len(rule.rows) == 1 and rule.rows[0] is not None:
        if not any(map(wanted, eqn.args)):
            return []
        together = read(builder, rule.rows[0], operands, options(eqn, rule.rows[0]), namespace)
        each = together if isinstance(together, tuple) else (together,)
        if len(each) != len(eqn.args):
            message = (
                f"the row of the rule for {_full_name(eqn.op)} gives {len(each)} "
                f"partial{'s' * (len(each) != 1)} for {len(eqn.args)} operands"
            )
            hint = "It returns a tuple of all partials, or there is one row for each operand."
            raise refuse(message, hint, rule.place)
        pairs = zip(eqn.args, each, strict=True)
        found = [(arg, partial) for arg, partial in pairs if wanted(arg)]
    else:
        found = [
            (arg, one(read(builder, row, operands, options(eqn, row), namespace), builder))
            for arg, row in zip(eqn.args, rule.rows, strict=False)
            if row is not None and wanted(arg)
        ]
    return [(arg, _checked_partial(builder, eqn, rule, partial)) for arg, partial in found]


def _divides_number_of_numpy(builder: Builder, eqn: Eqn) -> bool:
    """Whether an operator divides a number of NumPy's, which raises nothing where it divides by zero."""
    if eqn.op.name not in ("div", "mod", "floordiv"):
        return False
    x, y = eqn.args
    return y in (Const(0), Const(0.0)) or number_of_numpy(builder, x)


def _checked_partial(builder: Builder, eqn: Eqn, rule: Rule, partial: Atom) -> Atom:
    """A partial, checked if the rule is the user's own and what it gives may be of another shape."""
    if rule.built_in or isinstance(kind_of_atom(partial), Number):
        return partial
    return builder.emit(
        ct.partial_of_row, partial, like=eqn.outs[0], row=Const(row_described(rule))
    )


def one(result: Atom | tuple[Atom, ...], builder: Builder) -> Atom:
    """The result of a row as one value; several are packed, as the op's own results are."""
    if not isinstance(result, tuple):
        return result
    keys = tuple(range(len(result)))
    params = {"form": Const("tuple"), "keys": Const(keys), "type": Const(None)}
    return builder.emit_with(st.pack, result, params)


def row_namespace(eqn: Eqn) -> str:
    """Where the ops of a rule's row are taken from: where the user took the op from."""
    if eqn.namespace in _NAMESPACES:
        return eqn.namespace
    if eqn.namespace == "call":
        return "np"
    kinds = [kind_of_atom(arg) for arg in eqn.args]
    if not all(isinstance(kind, Number) for kind in kinds):
        return "np"
    return "cmath" if Number("complex") in kinds else "math"


def options(eqn: Eqn, row: Row) -> dict[str, Atom]:
    """The options of an equation that a rule's row asks for."""
    if not eqn.params:
        return {}
    names, takes_all = _keywords(row)
    return {name: atom for name, atom in eqn.params.items() if takes_all or name in names}


@cache
def _keywords(row: Row) -> tuple[frozenset[str], bool]:
    parameters = inspect.signature(row).parameters.values()
    names = frozenset(p.name for p in parameters if p.kind is not p.POSITIONAL_ONLY)
    return names, any(p.kind is p.VAR_KEYWORD for p in parameters)


def is_choice(partial: Atom) -> bool:
    """Whether a partial says where an operand is chosen, rather than how steep an op is."""
    kind = kind_of_atom(partial)
    return kind == BOOL or (isinstance(kind, Array) and kind.dtype == "bool")


def differential_of(operand: Atom) -> Var:
    """The d of an operand."""
    assert isinstance(operand, Var)
    return Var(gradient_kind(operand.kind), "", operand.shape_of)


def scaled(builder: Builder, factor: Atom, partial: Atom) -> Atom:
    """`factor * partial`."""
    return builder.emit(registry.named("mul"), factor, partial)


def real_part(builder: Builder, bar: Atom, kind: Kind) -> Atom:
    """The cotangent of a real value is real."""
    if is_real(kind) and is_complex(kind_of_atom(bar)):
        return builder.emit(registry.named("real"), bar, namespace="np")
    return bar


def shapes(atoms: Iterable[Atom]) -> set[Var]:
    """What decides the shapes of some operands that are not numbers."""
    found: set[Var] = set()
    for atom in atoms:
        if isinstance(atom, Var) and not isinstance(atom.kind, Number):
            found |= atom.shape_of.roots or {atom.shape_of}
    return found


def shapes_in(builder: Builder, atom: Atom, eqn: Eqn) -> set[Var]:
    """What decides the shape of a value that elementwise operations computed from an equation's."""
    found: set[Var] = set()
    pending, seen = [atom], set[Atom]()
    while pending:
        atom = pending.pop()
        if atom in seen or not isinstance(atom, Var):
            continue
        seen.add(atom)
        found |= shapes([atom])
        definition = builder.definition(atom)
        if definition is not None and definition is not eqn and definition.op.elementwise:
            pending.extend(definition.args)
    return found | shapes(eqn.args) if shapes(eqn.outs) <= found else found


def row_described(rule: Rule) -> str:
    """What messages call a row of a rule."""
    return f"a row of the rule for {_full_name(rule.op)} ({rule.file}:{rule.line})"


def no_rule(eqn: Eqn, form: str) -> NoRule | NoSource:
    """The error for an op that a derivative is needed of and that has no rule for it."""
    if eqn.op in co.SETS:
        return active_refusals.number_as_key(eqn)
    why: Any = eqn.op.implementation
    if type(why) is Sourceless:
        return _of(eqn, NoSource(why.message, why.way_out, _span_of_user(eqn)))
    rule = rule_for(eqn.op)
    is_python = isinstance(eqn.op.implementation, FunctionType)
    source = "its Python cannot be read" if is_python else "no Python source to derive one from"
    lacks = f"has no derivative rule, and {source}"
    if rule is not None:
        mode = "reverse" if form == "rrule" else "forward"
        lacks = f"has an {rule.form} but no {form}, which {mode} mode needs"
    name = _spelled(eqn)
    hint = (
        f"Write its rule:                wg.{form}({name}) or wg.scalar_rule({name}, ...)\n"
        f"or say its derivative is zero: wg.zero_rule({name})\n"
        f"or cut the derivative off:     wg.stop_gradient(...) around its arguments"
    )
    return _of(eqn, NoRule(f"{_full_name(eqn.op)} {lacks}", hint, _span_of_user(eqn)))


def _of(eqn: Eqn, error: NoRule | NoSource) -> NoRule | NoSource:
    error.op = eqn.op
    return error


_PACKAGE = __file__.rpartition("passes")[0]


def _span_of_user(eqn: Eqn) -> Span | None:
    return None if eqn.span is None or eqn.span.file.startswith(_PACKAGE) else eqn.span


def _full_name(op: Op) -> str:
    """The name of an op; of a function outside the vocabulary, that of its module too."""
    function = op.implementation
    if op.spellings or function is None:
        name = op.spellings.get("np", "").partition(" ")[0]
        return f"numpy.{name}" if name and name != op.name else op.name
    name: str = getattr(function, "__qualname__", None) or getattr(function, "__name__", op.name)
    module = None if isinstance(function, FunctionType) else getattr(function, "__module__", None)
    return name if module in (None, "builtins", "__main__") else f"{module}.{name}"


def _spelled(eqn: Eqn) -> str:
    """The function that an equation calls, as the user wrote it where that can be told."""
    span = _span_of_user(eqn)
    if span is not None and span.line == span.end_line:
        line = linecache.getline(span.file, span.line).encode()
        called = re.match(rb"[\w.]+(?=\()", line[span.column : span.end_column])
        if called is not None:
            return called[0].decode()
    name = _full_name(eqn.op)
    return name if name.replace(".", "").isidentifier() else "f"


def described(rule: Rule) -> str:
    """What messages call a hand-written rule."""
    return f"the {rule.form} of {rule.op.name} ({rule.file}:{rule.line})"


def with_method(builder: Builder, eqn: Eqn, args: Sequence[Atom]) -> Sequence[Atom]:
    """Operands of an equation, tangents among them: that of a NumPy number may be one of Python's.

    So may that of an array without axes.
    """
    kind = kind_of_atom(args[0])
    without_axes = isinstance(kind, Number) or (isinstance(kind, Array) and kind.rank == 0)
    if eqn.namespace != "method" or not without_axes:
        return args
    return (builder.emit(registry.named("asarray"), args[0], namespace="np"), *args[1:])
