"""Writes in place as Python's own statements, and as calls where there is none that does the same."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from ...ir.builder import kind_of_atom
from ...ir.graph import Atom, Const, Eqn, Var
from ...ir.types import NONE, SLICE, UNKNOWN, Array, Kind, Map, Number, Other, Seq, Struct
from ...ops.indexing import indexed
from ...ops.program.memory import Field, Viewed, holder, kind_after, path_of
from ...runtime.containers import CONTENTS, own_base
from .code import PRIMARY, SUM, UNARY, Code, at_least, binary, call, concat, receiver

if TYPE_CHECKING:
    from .expressions import Expressions

_AUGMENTED = {
    "add": ("+", SUM + 1),
    "sub": ("-", SUM + 1),
    "mul": ("*", UNARY),
    "div": ("/", UNARY),
}
_NEVER_COPIES = frozenset(
    (
        "transpose", "matrix_transpose", "swapaxes", "moveaxis", "squeeze", "expand_dims",
        "flip", "flipud", "fliplr", "real", "imag",
    )
)  # fmt: skip
"""Ops whose result is always a view of an array."""


def write(expressions: Expressions, eqn: Eqn) -> Code:
    """A write as a statement (of level 0), or as a call that gives the new version."""
    return _WRITERS[eqn.op.name](expressions, eqn).marked(eqn.span)


# --- the user's writes --------------------------------------------------------------------


def _store(expressions: Expressions, eqn: Eqn) -> Code:
    x, *path, value = eqn.args
    owner, kind = expressions.atom(x), kind_of_atom(x)
    for k, step in enumerate(path[:-1]):
        if k == len(path) - 2 and _is_contents(step):
            return _into_contents(expressions, owner, kind, path[-1], value)
        owner, kind = _stepped(expressions, owner, kind, step)
    return _into(expressions, owner, kind, path[-1], value)


def _is_contents(step: Atom) -> bool:
    """Whether a step leads to the items of an object of a class that is built on a container."""
    return isinstance(step, Const) and step.value == Field(CONTENTS)


def _into_contents(
    expressions: Expressions, owner: Code, kind: Kind, last: Atom, value: Atom
) -> Code:
    by_base = _by_base(expressions, kind, "__setitem__")
    if by_base is None:
        return _into(expressions, owner, _field(kind, CONTENTS), last, value)
    index = concat(*expressions.atoms([last]))
    return at_level_0(call(by_base, owner, index, expressions.atom(value)))


def _by_base(expressions: Expressions, kind: Kind, method: str) -> Code | None:
    """The method of Python's container, where a class that is built on it has a method of its own."""
    assert isinstance(kind, Struct)
    base = own_base(kind.type)
    if method == "insert" and issubclass(base, dict):
        method = "__setitem__"
    if getattr(kind.type, method) is getattr(base, method):
        return None
    return concat(expressions.bindings.constant(base), ".", method, level=PRIMARY)


def _stepped(expressions: Expressions, owner: Code, kind: Kind, step: Atom) -> tuple[Code, Kind]:
    """What a step leads to: the object itself, where Python might give a copy checked to be it."""
    view, inner = _part(expressions, owner, kind, step)
    if _may_copy(kind, step, expressions.definition):
        view = expressions.helper("reached", view, owner)
    return view, inner


def _part(expressions: Expressions, owner: Code, kind: Kind, step: Atom) -> tuple[Code, Kind]:
    match step:
        case Const(value=Field(name=name)):
            return expressions.attribute(owner, name), _field(kind, name)
        case Const(value=Viewed() as viewed):
            params = {name: Const(value) for name, value in viewed.options}
            eqn = Eqn((Var(),), viewed.op, (Var(kind),), params, (), viewed.namespace)
            return expressions.on(owner).equation(eqn), kind_after(kind, step)
        case _:
            return expressions.subscript(owner, step), _item(kind, step)


def _field(kind: Kind, name: str) -> Kind:
    if isinstance(kind, Struct) and name in kind.keys:
        return kind.items[kind.keys.index(name)]
    return UNKNOWN


def _item(kind: Kind, step: Atom) -> Kind:
    match kind:
        case Array():
            return indexed(kind, step)
        case Map(item=item):
            return item
        case Seq(item=item) if kind_of_atom(step) == Number("int"):
            return item
        case Struct() if isinstance(step, Const) and isinstance(step.value, (int, str)):
            return _field(kind, step.value)  # type: ignore[arg-type]
        case _:
            return UNKNOWN


def _may_copy(kind: Kind, step: Atom, definition: Callable[[Atom], Eqn | None]) -> bool:
    if isinstance(step, Const):
        if isinstance(step.value, Viewed):
            return step.value.op.name not in _NEVER_COPIES
        if isinstance(step.value, (Field, str)):
            return False
    return isinstance(kind, (Array, type(UNKNOWN))) and not is_basic_index(step, definition)


def _into(expressions: Expressions, owner: Code, kind: Kind, last: Atom, value: Atom) -> Code:
    """`owner[last] = value`, or `owner[last] += …` where that is the same."""
    if isinstance(last, Const) and isinstance(last.value, Viewed):
        view, _ = _stepped(expressions, owner, kind, last)
        return at_level_0(expressions.helper("overwrite", view, expressions.atom(value)))
    may_lack_axes = kind == UNKNOWN or (isinstance(kind, Array) and not kind.rank)
    everything = isinstance(last, Const) and last.value == slice(None)
    if may_lack_axes and everything:  # an array without axes has no slices
        return at_level_0(expressions.helper("overwrite", owner, expressions.atom(value)))
    target, item = _part(expressions, owner, kind, last)
    if isinstance(item, Number) or _is_inexact(kind):
        augmented = _augmented(expressions, target, value)
        if augmented is not None:
            return augmented
    return concat(target, " = ", expressions.atom(value), level=0)


def _augmented(expressions: Expressions, target: Code, value: Atom) -> Code | None:
    """`target += rest`, if the value is `target + rest`."""
    eqn = expressions.definition(value)
    if eqn is None or eqn.op.name not in _AUGMENTED or len(eqn.args) != 2 or eqn.params:
        return None
    symbol, level = _AUGMENTED[eqn.op.name]
    whole = expressions.equation(eqn).text
    if eqn.namespace != "py" or not whole.startswith(f"{target.text} {symbol} "):
        return None
    rest = expressions.atom(eqn.args[1])
    if whole != f"{target.text} {symbol} {at_least(rest, level).text}":
        return None
    return concat(target, f" {symbol}= ", rest, level=0)


def _is_inexact(kind: Kind) -> bool:
    return isinstance(kind, Array) and kind.dtype.startswith(("float", "complex"))


def _overwrite(expressions: Expressions, eqn: Eqn) -> Code:
    x, *path, value = eqn.args
    target, kind = expressions.atom(x), kind_of_atom(x)
    for step in path:
        target, kind = _stepped(expressions, target, kind, step)
    given = kind_of_atom(value)
    if _is_inexact(kind) and _casts_safely(kind, given):
        # `total += x` would bind the name of a global in the function
        is_local = bool(path) or expressions.definition(x) is None
        augmented = _augmented(expressions, target, value) if is_local else None
        return augmented or concat(target, "[...] = ", expressions.atom(value), level=0)
    if isinstance(kind, Seq):
        return concat(target, "[:] = ", expressions.atom(value), level=0)
    return at_level_0(expressions.helper("overwrite", target, expressions.atom(value)))


def _casts_safely(kind: Kind, value: Kind) -> bool:
    """Whether an array of floats takes a value without a check."""
    assert isinstance(kind, Array)
    match value:
        case Number(type=type_):
            return type_ != "complex" or kind.dtype.startswith("complex")
        case Array(dtype=dtype):
            real = dtype.startswith(("float", "int", "uint", "bool"))
            return real or kind.dtype.startswith("complex")
        case _:
            return False


def _changed_part(expressions: Expressions, eqn: Eqn, method: str = "") -> tuple[Code, Code | None]:
    """The list or dictionary that a write changes, and the function that changes it, if it is no method of its own."""
    owner, kind = expressions.atom(eqn.args[0]), kind_of_atom(eqn.args[0])
    path = path_of(eqn)
    of_object = bool(path) and _is_contents(path[-1])
    for step in path[:-1] if of_object else path:
        owner, kind = _part(expressions, owner, kind, step)
    by_base = _by_base(expressions, kind, method) if of_object else None
    return at_least(owner, PRIMARY), by_base


def _append(expressions: Expressions, eqn: Eqn) -> Code:
    value = expressions.atom(eqn.args[-1])
    part, by_base = _changed_part(expressions, eqn, "append")
    if by_base is not None:
        return at_level_0(call(by_base, part, value))
    return concat(part, ".append(", value, ")", level=0)


def _insert(expressions: Expressions, eqn: Eqn) -> Code:
    part, by_base = _changed_part(expressions, eqn, "insert")
    key, value = expressions.atoms(eqn.args[-2:])
    if by_base is not None:
        return at_level_0(call(by_base, part, key, value))
    if not isinstance(holder(eqn), Seq) or kind_of_atom(eqn.args[-2]) != Number("int"):
        return at_level_0(expressions.helper("insert", part, key, value))
    return concat(part, ".insert(", key, ", ", value, ")", level=0)


def _drop(expressions: Expressions, eqn: Eqn) -> Code:
    part, by_base = _changed_part(expressions, eqn, "__delitem__")
    if by_base is not None:
        return at_level_0(call(by_base, part, expressions.atom(eqn.args[-1])))
    return concat("del ", expressions.subscript(part, eqn.args[-1]), level=0)


def at_level_0(code: Code) -> Code:
    """An expression that is a statement of its own."""
    return Code(code.text, 0, code.marks)


# --- writes of derivative code ------------------------------------------------------------


def _stored(expressions: Expressions, eqn: Eqn) -> Code:
    x, *path, _ = eqn.args
    if not _is_plain(kind_of_atom(x), path, expressions.definition):
        return expressions.helper("stored", *expressions.atoms(eqn.args))
    return _store(expressions, eqn)


def _is_plain(kind: Kind, path: Sequence[Atom], definition: Callable[[Atom], Eqn | None]) -> bool:
    """Whether Python's statement does what `stored` means, for a value of that kind."""
    first, *rest = path
    match kind:
        case Array(rank=int(rank)) if rank > 0:
            return not rest
        case Map(item=item):
            return not rest or _is_plain(item, rest, definition)
        case Seq(item=item) if kind_of_atom(first) == Number("int"):
            return not rest or _is_plain(item, rest, definition)
        case Struct(form="list" | "dict") if isinstance(first, Const):
            return not rest or _is_plain(kind_after(kind, first), rest, definition)
        case _:
            return False


def _appended(expressions: Expressions, eqn: Eqn) -> Code:
    return _on_list(expressions, eqn, _append)


def _inserted(expressions: Expressions, eqn: Eqn) -> Code:
    return _on_list(expressions, eqn, _insert)


def _dropped(expressions: Expressions, eqn: Eqn) -> Code:
    return _on_list(expressions, eqn, _drop)


def _on_list(
    expressions: Expressions, eqn: Eqn, statement: Callable[[Expressions, Eqn], Code]
) -> Code:
    """The statement, if what it changes is known to be a list."""
    kinds = [kind_of_atom(eqn.args[0])]
    for step in path_of(eqn):
        kinds.append(kind_after(kinds[-1], step))
    if isinstance(kinds[-1], Seq) and all(isinstance(kind, (Seq, Map, Struct)) for kind in kinds):
        return statement(expressions, eqn)
    if eqn.op.name == "inserted" and isinstance(kinds[-1], Map) and len(kinds) == 1:
        target = expressions.subscript(expressions.atom(eqn.args[0]), eqn.args[-2])
        return concat(target, " = ", expressions.atom(eqn.args[-1]), level=0)
    return expressions.helper(eqn.op.name, *expressions.atoms(eqn.args))


def _add_at(expressions: Expressions, eqn: Eqn) -> Code:
    """`buffer[i] += value`, or the call of the helper that does the same."""
    buffer, *path, value = eqn.args
    target = expressions.atom(buffer)
    if adds_in_place(kind_of_atom(buffer), path, expressions.definition):
        for index in path:
            target = expressions.subscript(target, index)
        return concat(target, " += ", expressions.atom(value), level=0)
    if holds_numbers(kind_of_atom(buffer)) and len(path) == 1:
        total = binary("+", item_or_zero(expressions, buffer, path[0]), expressions.atom(value))
        return concat(expressions.subscript(target, path[0]), " = ", total, level=0)
    helper = eqn.op.spellings.get("rt", "add_at")
    return expressions.helper(helper, target, *expressions.atoms(eqn.args[1:]))


def holds_numbers(kind: Kind) -> bool:
    """Whether a kind is that of a dictionary of numbers."""
    return isinstance(kind, Map) and isinstance(kind.item, Number)


def item_or_zero(expressions: Expressions, x_bar: Atom, key: Atom) -> Code:
    """The number under a key in the cotangent of a dictionary; it may lack what nothing has been added to."""
    kind = kind_of_atom(x_bar)
    assert isinstance(kind, Map)
    zero = expressions.bindings.constant(0j if kind.item == Number("complex") else 0.0)
    get = concat(receiver(expressions.atom(x_bar)), ".get", level=PRIMARY)
    return call(get, expressions.atom(key), zero)


def is_basic_index(index: Atom, definition: Callable[[Atom], Eqn | None]) -> bool:
    """Whether `x[index]` is a view in NumPy's sense: integers, slices, `None` and `...` alone."""
    if isinstance(index, Const):
        items = index.value if type(index.value) is tuple else (index.value,)
        return all(item is None or item is ... or type(item) in (int, slice) for item in items)
    if _is_basic_kind(index.kind):
        return True
    eqn = definition(index)
    if eqn is None or eqn.op.name != "pack" or eqn.param("form") != "tuple":
        return False
    return all(is_basic_index(item, definition) for item in eqn.args)


def _is_basic_kind(kind: Kind) -> bool:
    if isinstance(kind, Struct) and kind.form == "tuple":
        return all(map(_is_basic_kind, kind.items))
    return kind in (Number("int"), SLICE, NONE, Other("ellipsis"))


def adds_in_place(
    kind: Kind, path: Sequence[Atom], definition: Callable[[Atom], Eqn | None]
) -> bool:
    """Whether `buffer[i][j] += value` does what `add_at` means, for a buffer of that kind."""
    if not path:
        return isinstance(kind, Number)
    match kind:
        case Array(rank=None | 0) if _fits_numbers(path[0]):
            return False  # without axes it may be a number, which NumPy's arithmetic makes of such arrays
        case Array(rank=rank) if len(path) > 1:
            known = rank is not None and len(path) <= rank
            return known and all(kind_of_atom(index) == Number("int") for index in path)
        case Array():
            return is_basic_index(path[0], definition)
        case Map(item=item):
            return len(path) > 1 and adds_in_place(item, path[1:], definition)
        case Seq(item=item):
            integer = kind_of_atom(path[0]) == Number("int")
            return integer and adds_in_place(item, path[1:], definition)
        case Struct(form="list" | "dict") if isinstance(path[0], Const):
            return adds_in_place(kind_after(kind, path[0]), path[1:], definition)
        case _:
            return False


def _fits_numbers(index: Atom) -> bool:
    """Whether one of NumPy's numbers may be read by an index, too."""
    items = index.value if isinstance(index, Const) else 0
    return all(
        item is None or item is ... for item in (items if type(items) is tuple else (items,))
    )


_WRITERS: dict[str, Callable[[Expressions, Eqn], Code]] = {
    "store": _store,
    "append_item": _append,
    "insert_item": _insert,
    "drop": _drop,
    "overwrite": _overwrite,
    "stored": _stored,
    "appended": _appended,
    "inserted": _inserted,
    "dropped": _dropped,
    "add_at": _add_at,
}
