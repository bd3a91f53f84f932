"""Tangents and cotangents that a user passes in, checked against what they belong to."""

from __future__ import annotations

import reprlib
from typing import Any, NamedTuple

import numpy as np

from .errors import BadTangent
from .frontends import signature
from .ir.types import Array, Kind, Number, Path, Seq, Struct, is_differentiable, leaves, step_into


class Meant(NamedTuple):
    """How messages speak of a tangent and of the value that it belongs to."""

    what: str
    whose: str


def leaves_like(value: Any, given: Any, what: str, whose: str) -> list[Any]:
    """The differentiable leaves of a tangent or cotangent; None stands for zeros.

    Args:
        value: what it belongs to.
        given: the tangent or cotangent, of the structure of `value`.
        what: how a message speaks of the tangent or cotangent: "the cotangent".
        whose: how it speaks of the value: "the result".

    Raises:
        BadTangent: the structure, a shape or a type is wrong.
    """
    kind = signature.kind_of(value)
    if given is None:
        return [_zero(leaf) for leaf, _, _ in _differentiable(kind, value)]
    meant = Meant(what, whose)
    try:
        _compare_structure(kind, given)
        found = _differentiable(kind, given)
    except (TypeError, KeyError, AttributeError, IndexError, ValueError):
        raise _wrong_structure(meant, value, given) from None
    pairs = zip(found, _differentiable(kind, value), strict=True)
    return [_checked(x, like, leaf, path, meant) for (x, _, _), (like, leaf, path) in pairs]


def _differentiable(kind: Kind, value: Any) -> list[tuple[Any, Kind, Path]]:
    pairs = zip(signature.leaf_values(kind, value), leaves(kind), strict=True)
    return [(x, leaf, path) for x, (path, leaf) in pairs if is_differentiable(leaf)]


def _compare_structure(kind: Kind, given: Any) -> None:
    """Refuse items that are too many; those that are missing are missed where they are read."""
    if not isinstance(kind, Struct) or not is_differentiable(kind):
        return
    if kind.form in ("tuple", "list") and len(given) != len(kind.keys):
        raise ValueError(kind.form)
    if kind.form == "dict" and not given.keys() <= set(kind.keys):
        raise ValueError(kind.form)
    for key, item in zip(kind.keys, kind.items, strict=True):
        if isinstance(item, Struct):
            _compare_structure(item, signature.step(given, step_into(kind, key)))


def _zero(value: Any) -> Any:
    return np.zeros(np.shape(value)) if isinstance(value, np.ndarray) else 0.0


def _checked(given: Any, value: Any, kind: Kind, path: Path, meant: Meant) -> Any:
    if type(given) is float and type(value) is float:
        return given
    if given is None:
        return _zero(value)
    if isinstance(kind, Seq):
        return _checked_items(given, value, path, meant)
    if not isinstance(kind, Number | Array):
        return given
    found = _as_array(given)
    if found is None or not (found.dtype.kind in "biufc" or hasattr(given, "__float__")):
        raise BadTangent(
            f"{meant.what} is a value of type {type(given).__name__}{_at(path)}",
            f"Pass {_wanted(value)}.",
        )
    if found.shape != np.shape(value):
        there = " there" if path else ""
        raise BadTangent(
            f"{meant.what} has shape {found.shape}{_at(path)}, but {meant.whose} has shape "
            f"{np.shape(value)}{there}",
            f"Pass {_wanted(value)}.",
        )
    if found.dtype.kind == "c" and not np.iscomplexobj(value):
        raise BadTangent(
            f"{meant.what} is complex{_at(path)}, but {meant.whose} is real", "Pass its real part."
        )
    if isinstance(kind, Number):
        return complex(given) if found.dtype.kind == "c" else float(given)
    return found if found.dtype.kind in "fc" else found.astype(float)


def _checked_items(given: Any, value: Any, path: Path, meant: Meant) -> Any:
    """A list or tuple that is not taken apart: its items have to look like those of `value`."""
    if not isinstance(given, list | tuple | np.ndarray) or len(given) != len(value):
        raise _wrong_structure(meant, value, given)
    pairs = list(zip(given, value, strict=True))
    return [_checked(x, like, signature.kind_of(like), path, meant) for x, like in pairs]


def _as_array(given: Any) -> np.ndarray[Any, Any] | None:
    try:
        return np.asarray(given)
    except ValueError:  # lists of different lengths
        return None


def _wanted(value: Any) -> str:
    shape = np.shape(value)
    return f"an array of shape {shape}" if shape else "a number"


def _at(path: Path) -> str:
    """` at ['a'][0].w`: the way to a leaf."""
    steps = [f".{step.key}" if step.how == "attr" else f"[{step.key!r}]" for step in path]
    return f" at {''.join(steps)}" if steps else ""


def _wrong_structure(meant: Meant, value: Any, given: Any) -> BadTangent:
    return BadTangent(
        f"{meant.what} does not have the structure of {meant.whose}",
        f"It should look like {_short(value)}, not like {_short(given)}.",
    )


def _short(value: Any) -> str:
    return " ".join(reprlib.repr(value).split())
