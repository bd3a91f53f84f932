"""`flatten` and `tree_map` inside programs that are differentiated: how their calls are read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, TypeGuard

import numpy as np

from ...errors import BadArgument
from ...frontend import heap
from ...frontend.boundary import signature, taking_apart
from ...frontend.calls.calls import call
from ...frontend.domain.values import (
    Args,
    Closure,
    Items,
    Kwargs,
    LazyIterable,
    Native,
    Value,
    kind_of_value,
    list_of,
    tuple_of,
    unflatten,
)
from ...frontend.machine.interpreter import Interpreter
from ...ir.graph import Const, Var
from ...ir.types import Array, Kind, Number, Seq, Unknown, is_differentiable
from ...runtime.containers import CONTENTS
from .. import trees

_LEAVES = (Number, Array)
_TREES = ("list", "tuple", "dict", "namedtuple", "dataclass", "object")


def read_flatten(it: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    """`wg.flatten(tree)`: the vector, and how trees are made of vectors for as long as the program is read."""
    (tree,) = (*args, *kwargs.values())
    found = list(_leaves(it, tree))
    vector = call(it, Const(trees.joined), [list_of(*found)], {})

    def back(it: Interpreter, given: Args, named: Kwargs) -> Value:
        return _rebuilt(it, tree, given[0], found)

    return tuple_of(vector, Native("unflatten", back))


def read_unflatten(it: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    """A call of an `Unflatten` that was made outside of the program: all places are known."""
    known, vector = args
    made: trees.Unflatten = it.constant(known)
    kind = kind_of_value(vector)
    if isinstance(kind, Array) and kind.rank not in (None, 1):
        raise BadArgument(
            f"`unflatten` makes a tree of {made.size} numbers, and was given an array with {kind.rank} dimensions",
            "Give it a vector like the one that `wg.flatten` gave.",
            it.builder.span,
        )
    outline = taking_apart.taken_apart(signature.kind_of(made.outline), made.outline)
    values = taking_apart.leaf_values(outline, made.outline)
    slots = iter(made.slots)

    def take(kind: Kind) -> Any:
        value = next(values)
        return it.atom(_taken(it, vector, next(slots))) if trees.is_leaf(value) else Const(value)

    return unflatten(outline, take)


def read_tree_map(it: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    """`wg.tree_map(fn, tree, *trees)`."""
    fn, tree, *others = args
    return _mapped(it, fn, tree, others, ())


def _taken(it: Interpreter, vector: Value, slot: trees.Slot) -> Value:
    start, stop, shape, dtype = slot
    plain = isinstance(kind := kind_of_value(vector), Array) and kind.dtype == dtype.name
    if shape is None:
        take, options = (real_at, ()) if plain else (trees.number_of, (Const(dtype.kind == "c"),))
        return call(it, Const(take), [vector, Const(start), Const(stop is None), *options], {})
    known = tuple_of(*map(Const, shape))
    take, options = (array_at, ()) if plain else (trees.array_of, (Const(dtype),))
    return call(it, Const(take), [vector, Const(start), Const(stop), known, *options], {})


def real_at(vector: Any, start: Any, last: Any) -> Any:
    """`trees.number_of` where the vector is known to have the type of the number."""
    return np.reshape(vector[start:], (1,))[0] if last else vector[start]


def array_at(vector: Any, start: Any, stop: Any, shape: Any) -> Any:
    """`trees.array_of` where the vector is known to have the dtype of the array."""
    return np.reshape(vector[start:stop], shape).copy()


def _rebuilt(it: Interpreter, tree: Value, vector: Value, found: Sequence[Value]) -> Value:
    """A tree like one of the program, of the numbers of a vector; where they stand only the run knows."""
    start: Value = Const(0)
    pieces: list[Value] = []
    for k, leaf in enumerate(found, start=1):
        last = Const(k == len(found))
        pieces.append(call(it, Const(piece_like), [vector, start, leaf, last], {}))
        start = call(it, Const(end_of), [start, leaf], {})
    remaining = iter(pieces)
    return _mapped(it, Native("piece", lambda *_: next(remaining)), tree, (), ())


def piece_like(vector: Any, start: Any, leaf: Any, last: Any) -> Any:
    """The part of a vector that stands for a leaf; the `last` one is all that is left."""
    if not hasattr(leaf, "shape"):
        return trees.number_of(vector, start, last, isinstance(leaf, complex))
    rest = vector[start:] if last else vector[start : start + leaf.size]
    found = np.reshape(rest, leaf.shape)
    if np.iscomplexobj(found) and not np.iscomplexobj(leaf):
        found = np.real(found)
    return found.astype(leaf.dtype) if leaf.dtype.kind in "fc" else found


def end_of(start: Any, leaf: Any) -> Any:
    """Where the next leaf stands in the vector."""
    return start + np.size(leaf)


# --- structure -------------------------------------------------------------------------------------


def _leaves(it: Interpreter, tree: Value) -> Iterator[Value]:
    for item in _parts(it, tree):
        if isinstance(item, Items):
            yield from _leaves(it, item)
        elif is_leaf(it, item):
            yield item


def _parts(it: Interpreter, tree: Value) -> Sequence[Value]:
    """What a value of the program holds; what is no container is its own only part."""
    tree = heap.now(it, tree)
    if is_container(tree):
        return [heap.now(it, item) for item in tree.values]
    return () if isinstance(tree, (Items, Closure, Native, LazyIterable)) else (tree,)


def is_container(value: Value) -> TypeGuard[Items]:
    """Whether a value is one of the containers that a tree is made of."""
    return isinstance(value, Items) and value.form in _TREES


def is_leaf(it: Interpreter, value: Value) -> bool:
    """Whether a value is a number or an array of numbers.

    Raises:
        UnsupportedSyntax: only the run knows what it is.
    """
    kind = kind_of_value(value)
    if isinstance(kind, (Seq, Unknown)):
        raise it.unsupported(
            "what this tree holds is known only when the program runs",
            "Take `wg.flatten` or `wg.tree_map` of a tree of known parts: an argument, or what is made of it.",
        )
    return isinstance(kind, _LEAVES) and is_differentiable(kind)


def _mapped(
    it: Interpreter, fn: Value, tree: Value, others: Sequence[Value], path: trees.Path
) -> Value:
    tree = heap.now(it, tree)
    if is_container(tree):
        items: list[Value] = []
        for key, item in zip(tree.keys, tree.values, strict=True):
            way = _step(tree, key)
            held = [_part(it, o, key, k, way, path) for k, o in enumerate(others, start=2)]
            items.append(_mapped(it, fn, item, held, (*path, way)))
        return Items(tree.form, tree.keys, tuple(items), tree.type)
    if isinstance(tree, (Items, Closure, Native, LazyIterable)) or not is_leaf(it, tree):
        return tree
    return call(it, fn, [tree, *others], {})


def _step(tree: Items, key: Any) -> str:
    if key == CONTENTS:
        return ""
    return f"[{key!r}]" if tree.form in ("list", "tuple", "dict") else f".{key}"


def _part(it: Interpreter, other: Value, key: Any, k: int, way: str, path: trees.Path) -> Value:
    """The part of another tree under a key; None where it holds nothing there."""
    other = heap.now(it, other)
    if is_container(other):
        names = (key, "contents") if key == CONTENTS else (key,)
        for name in names:
            if name in other.keys:
                return other[name]
        if key == CONTENTS:
            return other
        raise trees.differs(k, f"no `{way}`", path).at(it.builder.span)
    if isinstance(other, Var):
        is_leaf(it, other)
    return Const(None)
