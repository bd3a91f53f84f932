"""Declaring the ops that only derivative code uses, computed by helpers of `wengert.runtime`."""

from __future__ import annotations

import ast

from ..errors import UnsupportedSyntax
from ..ir.builder import Builder
from ..ir.graph import ZERO, Atom, Const
from ..ir.op import Fold, Infer, Op
from ..ir.types import Kind
from .array_kinds import Args, Params
from .registry import declare, named


def helper(
    name: str, signature: str, infer: Infer | Kind, fold: Fold | None = None, **options: bool
) -> Op:
    """Declare an op that only derivative code uses, computed by the helper of that name.

    One that stands for part of a function of NumPy's, and is given what that is given, is not `total`.
    """
    fold = _trimmed(name, signature, fold) if "=" in signature else fold
    return declare(name, signature, infer=infer, fold=fold, rt=name, **options)  # type: ignore[arg-type]


def refuse_options(name: str, **defaults: object) -> Fold:
    """Refuse options that are not the default, whose derivative nobody has worked out.

    Raises:
        UnsupportedSyntax: naming the option.
    """

    def fold(builder: Builder, args: Args, params: Params, namespace: str) -> Atom | None:
        kept = {key: atom for key, atom in params.items() if key not in defaults}
        for key in params.keys() - kept.keys():
            if params[key] != Const(defaults[key]):
                raise UnsupportedSyntax(
                    f"the option `{key}` of {name} is not covered",
                    "Compute it in another way, or give a function of your own a rule "
                    "(`@wg.rrule`).",
                    builder.span,
                )
        if len(kept) == len(params):
            return None
        return builder.emit_with(named(name), args, kept, namespace)

    return fold


def drop_none(name: str, *options: str) -> Fold:
    """Options of an op that are None say nothing."""

    def fold(builder: Builder, args: Args, params: Params, namespace: str) -> Atom | None:
        said = {k: atom for k, atom in params.items() if k not in options or atom != Const(None)}
        if len(said) == len(params) or ZERO in args:
            return None
        return builder.emit_with(named(name), args, said, namespace)

    return fold


def _trimmed(name: str, signature: str, fold: Fold | None) -> Fold:
    """Options that have their default value are left out."""
    defaults = {
        key.strip(): Const(ast.literal_eval(value))
        for key, _, value in (part.partition("=") for part in signature.split(","))
        if value
    }

    def trim(builder: Builder, args: Args, params: Params, namespace: str) -> Atom | None:
        folded = fold(builder, args, params, namespace) if fold is not None else None
        kept = {key: value for key, value in params.items() if defaults.get(key) != value}
        if folded is not None or len(kept) == len(params) or ZERO in args:
            return folded
        return builder.emit_with(named(name), args, kept, namespace)

    return trim
