"""What printing and reading IR text share: operators, constants, kinds and what is left unsaid."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any

from .op import Op
from .steps import Field, Viewed
from .types import INT, RANGE, UNKNOWN, Array, Kind, Map, Seq, Static, Struct, join, leaves
from .values import FOR, IF, TRY, UNDEFINED, WHILE, ZERO, Atom, Const, Var, kind_of_atom

if TYPE_CHECKING:
    from .graph import Block

BINARY = {
    "add": "+", "sub": "-", "mul": "*", "div": "/", "floordiv": "//", "mod": "%", "pow": "**", "matmul": "@",
    "eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">=", "is": "is", "is_not": "is not", "in": "in",
    "not_in": "not in", "bitand": "&", "bitor": "|", "bitxor": "^", "lshift": "<<", "rshift": ">>",
}  # fmt: skip
UNARY = {"neg": "-", "pos": "+", "invert": "~", "not": "not "}

RESERVED = frozenset(
    {"False", "None", "True", "UNDEFINED", "ZERO", "inf", "infj", "nan", "nanj"}
    | {
        "if", "else", "for", "in", "reversed", "try", "with", "while", "do", "yield", "until", "return",
    }
    | {"is", "not", "call", "slice", "keyword", "captured", "unbound"}
)  # fmt: skip
"""Words that cannot be the plain name of a value; a value with such a hint prints as `inf.1`."""

NOT_IN_NAMES = r"[^\w\u0300-\u036f]"
"""What the lexer does not take as part of a name: `\\w` and combining accents are."""

SYMBOLS: Mapping[str, Const] = {"UNDEFINED": UNDEFINED, "ZERO": ZERO}
_LITERALS = (bool, int, float, complex, str, bytes, type(None), type(...))
_NAMED_BY = ("__qualname__", "__name__", "name")


# --- constants ----------------------------------------------------------------------------


def constant_text(value: Any) -> str:
    """A constant as a literal, or as a `<token>` if it has no literal."""
    for name, symbol in SYMBOLS.items():
        if value is symbol.value:
            return name
    if type(value) is tuple:
        items: tuple[Any, ...] = value
        inside = ", ".join(map(constant_text, items))
        return f"({inside},)" if len(items) == 1 else f"({inside})"
    if type(value) is slice:
        return "slice({}, {}, {})".format(*map(constant_text, _bounds(value)))
    if value is ...:
        return "..."
    if isinstance(value, (Field, Viewed)):
        return _step_text(value)
    return repr(value) if type(value) in _LITERALS else token(value)


def _step_text(step: Field | Viewed) -> str:
    """`.w` for an attribute, `.method.reshape(shape=(2, 3))` for a view."""
    if isinstance(step, Field):
        return f".{step.name}" if step.name.isidentifier() else token(step)
    options = ", ".join(f"{name}={constant_text(value)}" for name, value in step.options)
    return f".{step.namespace}.{step.op.name}({options})"


def subscript_text(index: Any) -> str:
    """A constant index as Python writes it between brackets: `1:, None`."""
    if type(index) is tuple and index:
        items: tuple[Any, ...] = index
        return ", ".join(map(_dimension_text, items)) + ("," if len(items) == 1 else "")
    return _dimension_text(index)


def _dimension_text(index: Any) -> str:
    if type(index) is not slice:
        return constant_text(index)
    start, stop, step = ("" if b is None else constant_text(b) for b in _bounds(index))
    return f"{start}:{stop}:{step}" if step else f"{start}:{stop}"


def _bounds(index: Any) -> tuple[Any, Any, Any]:
    return index.start, index.stop, index.step


def token(value: Any) -> str:
    """The `<name>` that stands for a constant without a literal; never an address."""
    names = (getattr(value, attribute, None) for attribute in _NAMED_BY)
    name = next((n for n in names if isinstance(n, str)), type(value).__name__)
    if getattr(value, "ndim", None) == 0:
        name = f"{name} {value}"
    return f"<{re.sub('[<>]', '', name)}>"


def function_name(name: str) -> str:
    """The name of a function or op as text: `<lambda>` and `f.<locals>.g` stay as they are."""
    return re.sub(r"[^\w.<>]", "_", name)


# --- kinds --------------------------------------------------------------------------------


def kind_text(kind: Kind) -> str:
    """A kind as `parse` reads it."""
    match kind:
        case Array(dtype=dtype, rank=rank):
            return f"array[{dtype or '?'}, {'?' if rank is None else rank}]"
        case Seq(item=item):
            return f"seq[{kind_text(item)}]"
        case Map(key=key, item=item):
            return f"map[{kind_text(key)}, {kind_text(item)}]"
        case Static(value=value):
            return f"static{token(value)}"
        case Struct(form=form, type=type_):
            class_ = "" if type_ is None else token(type_)
            return f"{form}{class_}({', '.join(_struct_items(kind))})"
        case _:
            return str(kind)


def _struct_items(kind: Struct) -> Iterator[str]:
    for key, item in zip(kind.keys, kind.items, strict=True):
        match kind.form:
            case "tuple" | "list":
                yield kind_text(item)
            case "dict":
                yield f"{constant_text(key)}: {kind_text(item)}"
            case _:
                yield f"{key}: {kind_text(item)}"


def leaf_kinds(kind: Kind) -> list[Kind]:
    """The kinds of the leaves of a kind, in order."""
    return [leaf for _, leaf in leaves(kind)]


def kinds_of(atoms: Iterable[Atom]) -> list[Kind]:
    """The kinds of some atoms."""
    return [kind_of_atom(atom) for atom in atoms]


# --- kinds that need not be said ----------------------------------------------------------


def expected_item(iterable: Atom) -> Kind:
    """The kind of a loop's item unless its text says otherwise."""
    match kind_of_atom(iterable):
        case Seq(item=item):
            return item
        case kind if kind == RANGE:
            return INT
        case _:
            return UNKNOWN


def expected_results(
    op: Op, args: Sequence[Atom], params: Mapping[str, Atom], blocks: Sequence[Block]
) -> Iterator[Kind]:
    """The kinds of an equation's results unless its text says otherwise, `UNKNOWN` without end."""
    if op is IF:
        yield from _joined(*(block.outs for block in blocks))
    elif op is TRY and blocks:
        yield UNKNOWN
        yield from _joined(blocks[0].outs, args)
    elif op in (FOR, WHILE) and blocks:
        initials = args[constant(params, "iterables", 0) :]
        results = blocks[-1].outs[bool(constant(params, "stop", False)) :]
        yield from _joined(initials, results)
        yield from (Seq(kind_of_atom(item)) for item in islice(results, len(initials), None))
    elif not op.control:
        yield _inferred(op, args, params)
    while True:
        yield UNKNOWN


def _joined(*rows: Sequence[Atom]) -> Iterator[Kind]:
    for first, *others in zip(*rows, strict=False):
        kind = kind_of_atom(first)
        for other in others:
            kind = join(kind, kind_of_atom(other))
        yield kind


def _inferred(op: Op, args: Sequence[Atom], params: Mapping[str, Atom]) -> Kind:
    try:
        return op.infer(args, params)
    except Exception:
        return UNKNOWN


def constant(params: Mapping[str, Atom], name: str, default: Any) -> Any:
    """The constant value of an option, or the default if it is absent or not a constant."""
    atom = params.get(name)
    return default if atom is None or isinstance(atom, Var) else atom.value
