"""Inferring the kinds of array operations: small functions that the declarations combine."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..errors import UnsupportedSyntax
from ..ir.builder import Builder, kind_of_atom
from ..ir.graph import ZERO, Atom, Const, Var
from ..ir.op import Infer
from ..ir.types import STR, UNKNOWN, Array, Kind, Number, Seq, Struct
from .indexing import element_kind

Args = Sequence[Atom]
Params = Mapping[str, Atom]

TEXT = "str"
"""The dtype of an array that the program makes of text."""
DTYPE_OF_NUMBER = {"bool": "bool", "int": "int64", "float": "float64", "complex": "complex128"}


def rank_of_kind(kind: Kind) -> int | None:
    """`np.ndim` of a value of that kind; None if it is not known."""
    match kind:
        case Array(rank=rank):
            return rank
        case Number():
            return 0
        case Struct(form="list" | "tuple", items=(first, *_)):
            inner = rank_of_kind(first)
            return None if inner is None else inner + 1
        case Seq(item=item):
            inner = rank_of_kind(item)
            return None if inner is None else inner + 1
        case _:
            return 0 if kind == STR else None


def rank_of(atom: Atom) -> int | None:
    """`np.ndim` of a value; None if it is not known."""
    return rank_of_kind(kind_of_atom(atom))


def dtype_of_kind(kind: Kind) -> str:
    """The dtype that `np.asarray` gives a value of that kind; "" if it is not known."""
    match kind:
        case Array(dtype=dtype):
            return dtype
        case Number(type=type_):
            return DTYPE_OF_NUMBER[type_]
        case Struct(form="list" | "tuple", items=items) if items:
            return promoted(*items)
        case Seq(item=item):
            return dtype_of_kind(item)
        case _:
            return TEXT if kind == STR else ""


def dtype_of(atom: Atom) -> str:
    """The dtype that `np.asarray` gives a value; "" if it is not known."""
    return dtype_of_kind(kind_of_atom(atom))


def promoted(*kinds: Kind) -> str:
    """The dtype of arithmetic between arrays of these kinds; "" if it is not known."""
    names = {dtype_of_kind(kind) for kind in kinds}
    if TEXT in names:
        return TEXT
    if "" in names or not names:
        return ""
    return names.pop() if len(names) == 1 else np.result_type(*names).name


def inexact(dtype: str) -> str:
    """The dtype in which NumPy's linear algebra computes with operands of that dtype."""
    return "float64" if dtype.startswith(("int", "uint", "bool")) else dtype


def real_of(dtype: str) -> str:
    """The dtype of the absolute values of an array of that dtype."""
    return {"complex128": "float64", "complex64": "float32"}.get(dtype, dtype)


def array_or_number(dtype: str, rank: int | None) -> Kind:
    """What a function gives that returns a NumPy scalar instead of an array without axes."""
    if rank is None:
        return UNKNOWN
    return Array(dtype, rank) if rank else element_kind(dtype)


def constant(atom: Atom | None, default: Any = None) -> Any:
    """The value of a constant option; `default` if it is absent or known only at run time."""
    return atom.value if isinstance(atom, Const) else default


def is_constant(atom: Atom | None) -> bool:
    """Whether an option is absent or known when the program is read."""
    return not isinstance(atom, Var)


def given_option(atom: Atom | None, default: object = None) -> Atom | None:
    """An option; None if it is its default, or NumPy's mark for what is not given."""
    if not isinstance(atom, Const):
        return atom
    unsaid = atom.value is default or type(atom.value).__name__ == "_NoValueType"
    return None if unsaid else atom


def length_of(atom: Atom) -> int | None:
    """How many entries a shape, an axis or another tuple of integers has; a number counts as 1."""
    match kind_of_atom(atom):
        case Number():
            return 1
        case Struct(items=items):
            return len(items)
        case _:
            return None


def dtype_option(params: Params, default: str) -> str:
    """The dtype that the option `dtype` asks for."""
    atom = params.get("dtype")
    if atom is None or constant(atom, atom) is None:
        return default
    return dtype_name(atom)


def dtype_name(atom: Atom) -> str:
    """The name of a dtype given as NumPy takes it; "" if it is known only at run time."""
    if isinstance(atom, Var):
        return ""
    try:
        return np.dtype(atom.value).name
    except TypeError:
        return ""


def fold_no_text(builder: Builder, args: Args, params: Params, namespace: str) -> None:
    """Refuse numbers made of text: what they were before they were text is not known.

    Raises:
        UnsupportedSyntax: the operand is text, or an array of it, and the result is numbers.
    """
    kind = kind_of_atom(args[0]) if ZERO not in args else UNKNOWN
    target = params.get("dtype")
    numbers = "dtype" not in params or dtype_name(params["dtype"]).startswith(("float", "complex"))
    if dtype_of_kind(kind) == TEXT and numbers and target != Const(None):
        raise UnsupportedSyntax(
            "a number read back from text has lost its derivative",
            "Use the number itself; turn it into text only to show it.",
            builder.span,
        ).final()


def along_axis(args: Args, params: Params) -> Kind:
    """The dtype and rank of the first operand, which has one axis if `axis` is None."""
    flat = "axis" in params and constant(params["axis"], -1) is None
    return Array(dtype_of(args[0]), 1 if flat else rank_of(args[0]))


def like_first(args: Args, params: Params) -> Kind:
    """The kind of the first operand."""
    return kind_of_atom(args[0])


def same_array(args: Args, params: Params) -> Kind:
    """The dtype and rank of the first operand."""
    return Array(dtype_of(args[0]), rank_of(args[0]))


def of_rank(rank: int | None) -> Infer:
    """The dtype of the first operand, and this rank."""
    return lambda args, params: Array(dtype_of(args[0]), rank)


def at_least_rank(least: int) -> Infer:
    """The dtype of the first operand, and its rank raised to `least`."""

    def infer(args: Args, params: Params) -> Kind:
        rank = rank_of(args[0])
        return Array(dtype_of(args[0]), None if rank is None else max(rank, least))

    return infer


def like_option(args: Args, params: Params) -> Kind:
    """A cotangent for the value of the option `like`, with the dtype of the operands."""
    return Array(promoted(*map(kind_of_atom, args)), rank_of(params["like"]))
