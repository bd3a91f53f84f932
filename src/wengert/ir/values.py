"""Values and constants, which equations read, and the ops of control flow."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from itertools import count
from typing import Any

from .op import Op
from .records import record
from .types import NONE, SLICE, STR, UNKNOWN, Kind, Number, Other, Struct

Axes = tuple[int, ...]
births = count()


class Var:
    """A value; compared by identity. `name` is only a hint: the user's name for it, or ""."""

    __slots__ = ("born", "kind", "name", "roots", "shape_of", "shapes", "within")

    def __init__(self, kind: Kind = UNKNOWN, name: str = "", shape_of: Var | None = None):
        self.born = next(births)
        """Greater than that of every value made before it."""
        self.kind = kind
        self.name = name
        self.shape_of = shape_of if shape_of is not None else self
        """An array known to have the same shape as this one; two arrays with the same `shape_of`
        need no broadcasting between them."""
        self.within: tuple[Var, Axes] | None = None
        """An array whose shape this one, reduced along these axes, broadcasts to; said of the array
        that `shape_of` names."""
        self.roots: frozenset[Var] | None = None
        """The arrays whose shapes broadcast together are this one's, if there are several; said of
        the array that `shape_of` names."""
        self.shapes: dict[tuple[Axes, bool] | frozenset[Var], Var] = {}
        """What has the shape that this one's leads to: reduced along some axes (with `keepdims` or
        not), or broadcast together with others."""

    def __repr__(self) -> str:
        return f"<{self.name or '%'}: {self.kind}>"


class _Undefined:
    """The value of a name on a path that has not assigned it."""

    def __repr__(self) -> str:
        return "UNDEFINED"


class _Zero:
    """The symbolic zero: a tangent or cotangent that is known to vanish. Never stored in a value."""

    def __repr__(self) -> str:
        return "ZERO"


@record
class Const:
    """A value known when the program is read: a literal, a function, a dtype, `UNDEFINED` …"""

    value: Any

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Const):
            return NotImplemented
        a, b = self.value, other.value
        if type(a) is type(b) and type(a) in _SHOWN_AS_EQUAL:
            return a == b
        # 0.0 and -0.0, 1 and True, nan and nan: what prints the same is the same
        return a is b or (type(a) is type(b) and _is_literal(a) and repr(a) == repr(b))

    def __hash__(self) -> int:
        value = self.value
        if type(value) in _SHOWN_AS_EQUAL:
            return hash(value)
        return hash(repr(value)) if _is_literal(value) else id(value)

    def __repr__(self) -> str:
        return repr(self.value)


_SHOWN_AS_EQUAL = frozenset((bool, int, str, type(None)))
"""Types of which two values are equal where they print the same: of numbers with a point, -0.0 and nan are not."""


def _is_literal(value: Any) -> bool:
    if isinstance(value, tuple):
        return all(_is_literal(v) for v in value)  # pyright: ignore[reportUnknownVariableType]
    return value is None or isinstance(value, (bool, int, float, complex, str, bytes))


Atom = Var | Const
ZERO = Const(_Zero())
UNDEFINED = Const(_Undefined())


class NotConstant(Exception):
    """An option is asked for that only the run knows: what asks works on constants alone."""

    def __init__(self, op: str, option: str):
        super().__init__(f"the option `{option}` of `{op}`, which is computed")


IF = Op("if", control=True)
FOR = Op("for", control=True)
WHILE = Op("while", control=True)
TRY = Op("try", control=True)
CALL = Op("call", control=True, effect=True)
COMMENT = Op("comment", control=True, effect=True)
"""A line for the reader of generated code: the param `text` says what comes next."""


def kind_of_atom(atom: Atom) -> Kind:
    """The kind of a value or of a constant."""
    return atom.kind if isinstance(atom, Var) else kind_of_constant(atom.value)


_KINDS_OF_LITERALS: Mapping[type, Kind] = {
    bool: Number("bool"),
    int: Number("int"),
    float: Number("float"),
    complex: Number("complex"),
    str: STR,
    type(None): NONE,
    slice: SLICE,
}


def kind_of_constant(value: Any) -> Kind:
    """The kind of a literal."""
    kind = _KINDS_OF_LITERALS.get(type(value))
    if kind is not None:
        return kind
    if isinstance(value, Enum):  # also one that is a number or a text: it has a name and a class
        return Other(type(value).__name__)
    if isinstance(value, tuple):
        items: tuple[Any, ...] = value
        return Struct("tuple", tuple(range(len(items))), tuple(map(kind_of_constant, items)))
    derived = (kind for each, kind in _KINDS_OF_LITERALS.items() if isinstance(value, each))
    return next(derived, Other(type(value).__name__))
