"""Checks that a derivative makes of the function it belongs to."""

from __future__ import annotations

from collections.abc import Callable

from ...errors import NotScalar
from ...ir.builder import Builder, kind_of_atom
from ...ir.graph import Atom, Const, Function, Span
from ...ir.op import Op
from ...ir.types import FLOAT, NONE, Array, Kind, Number, Other, Seq, Static, Struct
from ..helpers import helper
from ..registry import declare

scalar_seed = helper("scalar_seed", "y, *, function", FLOAT, effect=True)


def _is_real(kind: Kind) -> bool:
    match kind:
        case Number(type=type_):
            return type_ != "complex"
        case Array(dtype=dtype):
            return bool(dtype) and not dtype.startswith("complex")
        case _:
            return False


def _check(name: str, holds: Callable[[Kind], bool]) -> Op:
    """An op that raises, when the program runs, unless its operand is known to be in order."""
    return declare(
        name,
        "x",
        infer=NONE,
        effect=True,
        fold=lambda b, args, params, n: Const(None) if holds(kind_of_atom(args[0])) else None,
        rt=name,
    )


def _is_of_real_numbers(kind: Kind) -> bool:
    is_bool = kind == Number("bool") or (isinstance(kind, Array) and kind.dtype == "bool")
    return _is_real(kind) and not is_bool


real_result = _check("real_result", _is_of_real_numbers)
real_argument = _check("real_argument", _is_real)
real_power = _check("real_power", lambda kind: kind != FLOAT)
python_truth = _check("python_truth", lambda kind: False)
spanning = _check("spanning", lambda kind: isinstance(kind, (Number, Array, Seq)))


def real_scalar(function: Function, *, has_aux: bool = False, span: Span | None = None) -> None:
    """Refuse a function whose result is known not to be one real number.

    Raises:
        NotScalar: saying what comes out.
    """
    kind = function.result
    if has_aux:
        if not (isinstance(kind, Struct) and kind.form == "tuple" and len(kind.items) == 2):
            raise NotScalar(
                f"with has_aux=True, {function.name} must return a pair (value, auxiliary data); "
                f"it returns {describe(kind)}",
                "Return such a pair, or leave `has_aux` out.",
                span,
            )
        kind = kind.items[0]
    known_array = isinstance(kind, Array) and (kind.rank or 0) > 0
    complex_ = kind == Number("complex") or (
        isinstance(kind, Array) and kind.dtype.startswith("complex")
    )
    nothing = isinstance(kind, (Struct, Seq, Static, Other))
    if known_array or complex_ or nothing or kind == Number("bool"):
        raise NotScalar(
            f"a gradient needs one real number as the result, but {function.name} returns "
            f"{describe(kind)}",
            _first_aid(kind, complex_) + _OTHER_VERBS,
            span,
        )


_OTHER_VERBS = (
    "For several results use `wg.jacobian`; to choose the cotangent of the result yourself use\n"
    "`wg.pullback`."
)


def _first_aid(kind: Kind, complex_: bool) -> str:
    if complex_:
        return "Return a real number, such as `abs(y)` or `y.real`.\n"
    return "Is a `return` missing?\n" if kind == NONE else ""


def describe(kind: Kind) -> str:
    """A kind in the words of an error message."""
    match kind:
        case Number(type="complex"):
            return "a complex number"
        case Number(type=type_):
            return f"an {type_}" if type_ == "int" else f"a {type_}"
        case Array(dtype=dtype, rank=rank):
            rank_text = "" if rank is None else f" with {counted(rank, 'dimension')}"
            return f"an array{f' of {dtype}' if dtype else ''}{rank_text}"
        case Struct(form="tuple" | "list" | "dict" as form, items=items):
            return f"a {form} of {counted(len(items), 'item')}"
        case Struct(form="function" | "derivative"):
            return "a function"
        case Struct(form="iterator"):
            return "a generator"
        case Struct(type=type_):
            return f"an object of class {type_.__name__}"
        case Seq():
            return "a list or tuple"
        case _ if kind == NONE:
            return "None"
        case Static(value=str() as text):
            return f"the text {text!r}"
        case Static(value=value) if isinstance(value, (int, float, tuple)):
            return repr(value)
        case Static(value=value) if callable(value):
            return "a function"
        case Static(value=value):
            return f"an object of class {type(value).__name__}"
        case _:
            return f"a {kind}"


def counted(count: int, what: str) -> str:
    """`1 item`, `2 items`."""
    return f"{count} {what}" if count == 1 else f"{count} {what}s"


def seed(builder: Builder, out: Atom, name: str) -> Atom:
    """The cotangent of a scalar result: 1.0, checked when it runs unless that is known."""
    if isinstance(kind_of_atom(out), Number):
        return Const(1.0)
    return builder.emit(scalar_seed, out, function=Const(name))
