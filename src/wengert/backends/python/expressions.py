"""One equation as one Python expression."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import MethodType, SimpleNamespace
from typing import Any

from ...ir.builder import kind_of_atom
from ...ir.graph import Atom, Callee, Const, Eqn, Var
from ...ir.types import UNKNOWN
from ...ops.registry import is_foreign
from ...runtime.containers import CONTENTS
from .bindings import Bindings
from .code import (
    PRIMARY,
    Code,
    at_least,
    binary,
    call,
    concat,
    is_operator,
    keyword,
    listing,
    receiver,
    slice_bounds,
    string,
    ternary,
    tuple_display,
    unary,
)
from .derivative_ops import OF_DERIVATIVES
from .spellings import rest_of, spelled_as

_NOT_IN_F_STRINGS = frozenset("\"'{}\\#")


class Expressions:
    """Writes equations down.

    `name` gives the name of a value; `folded` the equation that is to be written in the place
    where its value is used, or None.
    """

    def __init__(
        self, bindings: Bindings, name: Callable[[Var], str], folded: Callable[[Var], Eqn | None]
    ):
        self.bindings = bindings
        self._name = name
        self._folded = folded

    def atom(self, atom: Atom) -> Code:
        """A value or constant."""
        if isinstance(atom, Const):
            return self.bindings.constant(atom.value)
        eqn = self._folded(atom)
        return Code(self._name(atom)) if eqn is None else self.equation(eqn)

    def atoms(self, atoms: Sequence[Atom]) -> list[Code]:
        return [self.atom(atom) for atom in atoms]

    def equation(self, eqn: Eqn) -> Code:
        """The right-hand side of an equation."""
        # a function outside the vocabulary may have the name of an op: `struct.pack`
        writer = None if is_foreign(eqn.op) else _STRUCTURAL.get(eqn.op.name)
        code = writer(self, eqn) if writer is not None else None
        return self.marked(code or self._spelled(eqn), eqn)

    def write(self, eqn: Eqn) -> Code:
        """A change in place as a statement (of level 0), or as a call that gives the new version."""
        from .writes import write

        return write(self, eqn)

    def negation(self, atom: Atom) -> Code:
        """`not atom`."""
        eqn = self.definition(atom)
        if eqn is not None and eqn.op.name == "not":
            return self.atom(eqn.args[0])
        opposite = _OPPOSITES.get(eqn.op.name) if eqn is not None else None
        if eqn is not None and opposite is not None:
            return self.marked(binary(opposite, *self.atoms(eqn.args)), eqn)
        return unary("not", self.atom(atom))

    def marked(self, code: Code, eqn: Eqn) -> Code:
        """The code, said to compute what stands where an equation comes from."""
        return code.marked(eqn.span)

    def definition(self, atom: Atom) -> Eqn | None:
        """The equation that is written where `atom` is used, if there is one."""
        return self._folded(atom) if isinstance(atom, Var) else None

    def on(self, operand: Code) -> Expressions:
        """What writes an equation down whose one operand is an expression that is there already."""
        return Expressions(self.bindings, lambda _: operand.text, lambda _: None)

    # --- ops by their spelling ------------------------------------------------------------

    def _spelled(self, eqn: Eqn) -> Code:
        namespace, spelling = spelled_as(eqn)
        args = self.atoms(eqn.args)
        if namespace == "py" and is_operator(spelling):
            return unary(spelling, *args) if len(args) == 1 else _chained(spelling, args)
        rest = rest_of(eqn.op.signature)
        more = [self.atom(atom) for name, atom in eqn.params.items() if name == rest]
        args += more  # `x.reshape((2, 3))`: the array's method has no keyword for it
        options = [keyword(n, self.atom(atom)) for n, atom in eqn.params.items() if n != rest]
        match namespace:
            case "attr":
                return concat(receiver(args[0]), ".", spelling, level=PRIMARY)
            case "method":
                method = concat(receiver(args[0]), ".", spelling, level=PRIMARY)
                return call(method, *args[1:], *options)
            case "py":
                function = self.bindings.builtin(spelling)
            case "rt":
                function = self.bindings.helper(spelling)
            case "call":
                function = self.bindings.constant(eqn.op.implementation)
            case _:
                function = self.bindings.member(namespace, spelling)
        return call(function, *args, *options)

    def helper(self, name: str, *args: Code) -> Code:
        return call(self.bindings.helper(name), *args)

    # --- containers -----------------------------------------------------------------------

    def pack(self, eqn: Eqn) -> Code:
        items = self.atoms(eqn.args)
        return self.container(eqn.param("form"), eqn.param("keys"), items, eqn.param("type"))

    def container(
        self, form: str, keys: Sequence[Any] | None, items: Sequence[Code], type_: Any
    ) -> Code:
        """A container display or a call that makes one."""
        if form in ("function", "object", "derivative") and not items and not _has_class(type_):
            return Code("None")  # nothing in it can be differentiated
        match form:
            case "tuple":
                tuple_ = tuple_display(items)
                return at_least(tuple_, PRIMARY)
            case "list":
                return concat("[", *listing(items), "]")
            case "dict":
                names = [self.bindings.constant(key) for key in keys or ()]
                pairs = (concat(k, ": ", v) for k, v in zip(names, items, strict=True))
                return concat("{", *listing(pairs), "}")
            case "namedtuple" | "dataclass" | "object" if _has_class(type_):
                maker = self.bindings.constant(type_)
                if not _takes_attributes(type_, keys or ()):
                    # its constructor may do more: the object is put together without it
                    names = (keyword(str(k), v) for k, v in zip(keys or (), items, strict=True))
                    return call(self.bindings.helper("made"), maker, *names)
            case _:
                maker = Code(self.bindings.member("types", "SimpleNamespace"), PRIMARY)
        fields = (keyword(str(k), v) for k, v in zip(keys or (), items, strict=True))
        return call(maker, *fields)

    def getitem(self, eqn: Eqn) -> Code:
        x, index = eqn.args
        if isinstance(x, Const) and type(x.value) in (float, int):
            # where no run comes: of a bare number Python's compiler warns
            made = call(self.bindings.builtin(type(x.value).__name__), self.atom(x))
            return self.subscript(made, index)
        return self.subscript(self.atom(x), index)

    def subscript(self, x: Code, index: Atom) -> Code:
        """`x[index]`"""
        return concat(receiver(x), "[", self.index(index), "]", level=PRIMARY)

    def as_list(self, eqn: Eqn) -> Code | None:
        return (
            self.helper("listed", self.atom(eqn.args[0]))
            if kind_of_atom(eqn.args[0]) == UNKNOWN
            else None
        )

    def index(self, index: Atom) -> Code:
        """What stands between the brackets."""
        items = self._index_items(index)
        if items is None or len(items) < 2:
            return self._dimension(index)
        return concat(*listing(self._dimension(item) for item in items), level=0)

    def _index_items(self, index: Atom) -> list[Atom] | None:
        if isinstance(index, Const):
            value = index.value
            return [Const(item) for item in value] if type(value) is tuple else None
        eqn = self.definition(index)
        if eqn is not None and eqn.op.name == "pack" and eqn.param("form") == "tuple":
            return list(eqn.args)
        return None

    def _dimension(self, index: Atom) -> Code:
        eqn = self.definition(index)
        if eqn is not None and eqn.op.name == "slice":
            bounds = eqn.args
        elif isinstance(index, Const) and isinstance(index.value, slice):
            value = index.value
            bounds = (Const(value.start), Const(value.stop), Const(value.step))
        else:
            return self.atom(index)
        return slice_bounds(*(None if b == Const(None) else self.atom(b) for b in bounds))

    def getattr(self, eqn: Eqn) -> Code:
        return self.attribute(self.atom(eqn.args[0]), eqn.param("name"))

    def attribute(self, x: Code, name: str) -> Code:
        """`x.name`; the contents of a container are what a helper gives."""
        if name == CONTENTS:
            return self.helper("contents", x)
        return concat(receiver(x), ".", name, level=PRIMARY)

    # --- calls ----------------------------------------------------------------------------

    def apply(self, eqn: Eqn) -> Code:
        function, *args = eqn.args
        return call(self.atom(function), *self._arguments(eqn, args))

    def pullback_of(self, eqn: Eqn) -> Code:
        function, *args = eqn.args
        helper = eqn.op.spellings.get("rt", "pullback")
        return self.helper(helper, self.atom(function), *self._arguments(eqn, args))

    def _arguments(self, eqn: Eqn, args: Sequence[Atom]) -> list[Code]:
        names: Sequence[str] = eqn.param("names") or ()
        first = len(args) - len(names)
        by_name = zip(names, self.atoms(args[first:]), strict=True)
        return [*self.atoms(args[:first]), *(_named_argument(n, c) for n, c in by_name)]

    def call(self, eqn: Eqn) -> Code:
        callee: Callee = eqn.param("callee")
        return call(self.bindings.callee(callee), *self.atoms(eqn.args))

    # --- other ----------------------------------------------------------------------------

    def identity(self, eqn: Eqn) -> Code | None:
        """`x is 3.0`, of which Python warns wherever it is written as an operator."""
        if not any(isinstance(arg, Const) and _is_number_or_text(arg.value) for arg in eqn.args):
            return None
        return call(self.bindings.constant(eqn.op.implementation), *self.atoms(eqn.args))

    def read_global(self, eqn: Eqn) -> Code:
        name, holder, key = (eqn.param(part) for part in ("name", "holder", "key"))
        return Code(self.bindings.read_global(name, holder, key))

    def slice(self, eqn: Eqn) -> Code:
        return call(self.bindings.builtin("slice"), *self.atoms(eqn.args))

    def conditional(self, eqn: Eqn) -> Code:
        """`a if c else b`, for an `if` whose blocks fold into their one result."""
        then, other = (block.outs[0] for block in eqn.blocks)
        condition = self.definition(eqn.args[0])
        if condition is not None and condition.op.name == "not":
            return ternary(self.atom(condition.args[0]), self.atom(other), self.atom(then))
        return ternary(self.atom(eqn.args[0]), self.atom(then), self.atom(other))

    def format(self, eqn: Eqn) -> Code:
        values = self.atoms(eqn.args)
        template = eqn.param("template")
        if any(set(code.text) & _NOT_IN_F_STRINGS for code in values):
            texts = [Code(str(index)) for index in range(len(values))]
            pattern = Code(string("".join(c.text for c in _fields(template, texts))))
            return call(concat(pattern, ".format", level=PRIMARY), *values)
        inside = concat(*_fields(template, values))
        return Code("f" + string(inside.text), marks=concat('f"', inside).marks)


def _has_class(type_: Any) -> bool:
    return isinstance(type_, type) and type_ not in (SimpleNamespace, MethodType)


def _takes_attributes(cls: type, keys: Sequence[Any]) -> bool:
    """Whether calling a class with attributes by name makes an object that has just these."""
    if issubclass(cls, tuple):
        return _is_generated(cls.__new__)
    fields: dict[str, Any] = getattr(cls, "__dataclass_fields__", {})
    kinds = {f._field_type.name for f in fields.values()}  # noqa: SLF001
    plain = kinds <= {"_FIELD"} and all(f.init for f in fields.values())
    own = hasattr(cls, "__post_init__") or any(not _is_generated(m) for m in _makers(cls))
    return plain and not own and set(keys) == set(fields)


def _makers(cls: type) -> list[Any]:
    """What runs when an object is created and its attributes are set."""
    methods = [cls.__init__, *([] if cls.__new__ is object.__new__ else [cls.__new__])]  # type: ignore[misc]
    return [*methods, *([] if cls.__setattr__ is object.__setattr__ else [cls.__setattr__])]


def _is_generated(function: Any) -> bool:
    code = getattr(function, "__code__", None)
    return code is not None and code.co_filename.startswith("<")


def _fields(template: Sequence[Any], values: Sequence[Code]) -> list[Code]:
    parts: list[Code] = []
    for part in template:
        if isinstance(part, str):
            parts.append(Code(part.replace("{", "{{").replace("}", "}}")))
            continue
        index, conversion, spec = part
        suffix = _conversion(conversion)
        inside = [Code(":"), *([Code(spec)] if isinstance(spec, str) else _fields(spec, values))]
        parts.append(concat("{", values[index], suffix, *(inside if spec else ()), "}"))
    return parts


def _conversion(conversion: Any) -> str:
    if isinstance(conversion, int):
        return f"!{chr(conversion)}" if conversion > 0 else ""
    return f"!{conversion}" if conversion else ""


def _named_argument(name: str, value: Code) -> Code:
    return concat(name, value) if name in ("*", "**") else keyword(name, value)


def _chained(symbol: str, args: Sequence[Code]) -> Code:
    result = args[0]
    for arg in args[1:]:
        result = binary(symbol, result, arg)
    return result


def _is_number_or_text(value: Any) -> bool:
    return type(value) in (int, float, complex, str, bytes, tuple)


_OPPOSITES = {"is": "is not", "is_not": "is", "in": "not in", "not_in": "in"}

_STRUCTURAL: dict[str, Callable[[Expressions, Eqn], Code | None]] = {
    "pack": Expressions.pack,
    "getitem": Expressions.getitem,
    "getattr": Expressions.getattr,
    "apply": Expressions.apply,
    "applied": Expressions.pullback_of,
    "opaque": Expressions.apply,
    "pullback_of": Expressions.pullback_of,
    "call": Expressions.call,
    "is": Expressions.identity,
    "is_not": Expressions.identity,
    "global": Expressions.read_global,
    "slice": Expressions.slice,
    "as_list": Expressions.as_list,
    "if": Expressions.conditional,
    "format": Expressions.format,
    **OF_DERIVATIVES,
}
