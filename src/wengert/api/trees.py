"""Trees: the numbers and arrays of containers and objects, as one vector, or through one function.

A tree has the structure that gradients have: tuples, lists, dictionaries, namedtuples, dataclasses and objects
with attributes, in each other. Its leaves are the numbers and arrays in it; what else it holds (text, truth
values, None, functions) is kept as it is.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Mapping
from numbers import Number
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType, SimpleNamespace
from typing import Any, NamedTuple

import numpy as np

from ..errors import BadArgument
from ..runtime.containers import CONTENTS, attributes_of, built, is_built_on_container
from ..runtime.gradients import parts_of_gradient

Path = tuple[str, ...]


def flatten(tree: Any) -> tuple[Any, Unflatten]:
    """The numbers of a tree as one vector, for SciPy's optimisers and whatever else takes vectors.

    Args:
        tree: tuples, lists, dictionaries, namedtuples, dataclasses and objects, in each other, that hold
            numbers and arrays.

    Returns:
        `(vector, unflatten)`. The vector has shape (n,) for the n numbers of the tree, in their order.
        `unflatten(vector)` is a tree of the same structure with the numbers of a vector: arrays of the same
        shapes and dtypes. Whole numbers come back as floats, as in gradients: what is varied is no whole number.
        Both may stand in a function that is differentiated.

    Raises:
        BadArgument: the tree holds itself; `unflatten` was given anything but a vector of n numbers.

    >>> import numpy as np, wengert as wg
    >>> vector, unflatten = wg.flatten({"w": np.array([[1.0, 2.0]]), "b": 0.5, "name": "first"})
    >>> vector
    array([1. , 2. , 0.5])
    >>> unflatten(2 * vector)
    {'w': array([[2., 4.]]), 'b': 1.0, 'name': 'first'}
    """
    unflatten = Unflatten(tree)
    return joined([leaf for _, leaf in leaves(tree)]), unflatten


def tree_map(fn: Callable[..., Any], tree: Any, *trees: Any) -> Any:
    """A tree of what a function gives for the numbers and arrays of trees of one structure.

    Args:
        fn: takes a leaf of each tree.
        tree: says the structure of the result, and what else it holds.
        *trees: trees of the same structure, such as gradients of the first; of an object a `SimpleNamespace` with
            the same attributes will do.

    Returns:
        A tree like the first. Objects in it are new ones of the same class, whose constructors were not run.

    Raises:
        BadArgument: the structures differ; says where.

    >>> import wengert as wg
    >>> params, slope = {"w": [1.0, 2.0], "b": 0.5}, {"w": [0.5, 0.5], "b": 1.0}
    >>> wg.tree_map(lambda x, x_bar: x - 0.1 * x_bar, params, slope)
    {'w': [0.95, 1.95], 'b': 0.4}
    """
    if not callable(fn):
        raise BadArgument(
            f"`tree_map` takes a function first, not a value of type {type(fn).__name__}",
            "Call it like this: `wg.tree_map(fn, tree, *trees)`.",
        )
    return mapped(fn, tree, trees)


class Slot(NamedTuple):
    """Where a leaf stands in the vector, and what it looks like; `shape` is None of a number.

    The last one is without end, so that a vector that is too long does not fit.
    """

    start: int
    stop: int | None
    shape: tuple[int, ...] | None
    dtype: np.dtype[Any]


class Unflatten:
    """Makes trees of one structure from vectors; what `flatten` gives beside the vector.

    Attributes:
        size: how many numbers a vector must have.
        outline: the tree, of whose arrays only shapes are kept.
        slots: where the leaves stand, in their order.
    """

    __slots__ = ("__weakref__", "outline", "size", "slots")

    def __init__(self, tree: Any):
        self.outline = mapped(_outline_of, tree, ())
        self.slots: list[Slot] = []
        self.size = 0
        for _, leaf in leaves(tree):
            count = np.size(leaf)
            shape = np.shape(leaf) if is_array(leaf) else None
            self.slots.append(Slot(self.size, self.size + count, shape, _dtype_of(leaf)))
            self.size += count
        if self.slots:
            self.slots[-1] = self.slots[-1]._replace(stop=None)

    def __call__(self, vector: Any) -> Any:
        """The tree with the numbers of a vector."""
        if not hasattr(vector, "shape"):
            vector = np.asarray(vector)
        must_fit(np.shape(vector), self.size)
        slots = iter(self.slots)
        return mapped(lambda _: taken(vector, next(slots)), self.outline, ())

    def __repr__(self) -> str:
        return f"<unflatten: {self.size} numbers to {_named(self.outline)}>"


def must_fit(shape: tuple[int, ...], size: int) -> None:
    """Refuse what is no vector of so many numbers."""
    if shape != (size,):
        raise BadArgument(
            f"`unflatten` makes a tree of {size} numbers, and was given an array of shape {shape}",
            "Give it a vector like the one that `wg.flatten` gave.",
        )


def taken(vector: Any, slot: Slot) -> Any:
    """A leaf from its place in the vector."""
    start, stop, shape, dtype = slot
    if shape is None:
        return number_of(vector, start, last=stop is None, of_complex=dtype.kind == "c")
    return array_of(vector, start, stop, shape, dtype)


def _dtype_of(leaf: Any) -> np.dtype[Any]:
    dtype = getattr(leaf, "dtype", None) or np.dtype(type(leaf) if _plain(leaf) else float)
    return dtype if dtype.kind in "fc" else np.dtype(float)


def _plain(x: Any) -> bool:
    return type(x) in (float, int, complex)


def _outline_of(leaf: Any) -> Any:
    """What stands for a leaf where only its kind matters."""
    if not is_array(leaf):
        return 0j if isinstance(leaf, complex) else 0.0
    dtype = _dtype_of(leaf)
    return np.broadcast_to(np.zeros((), dtype), leaf.shape)


# --- what is read in programs as well ------------------------------------------------------------


def joined(values: Any) -> Any:
    """Numbers and arrays as one vector of floats, or of complex numbers."""
    if not values:
        return np.zeros(0)
    vector = np.concatenate([np.ravel(x) for x in values])
    return vector.astype(float) if vector.dtype.kind in "iub" else vector


def array_of(vector: Any, start: Any, stop: Any, shape: Any, dtype: Any) -> Any:
    """An array of some shape and dtype from its place in a vector, with memory of its own."""
    found = np.reshape(vector[start:stop], shape)
    if np.iscomplexobj(found) and dtype.kind != "c":
        found = np.real(found)
    return found.astype(dtype) if found.dtype.kind in "fciu" else found


def number_of(vector: Any, start: Any, last: Any, of_complex: Any) -> Any:
    """A number from its place in a vector; the `last` is refused where others follow it."""
    found = vector[start:].item() if last else vector[start].item()
    if of_complex:
        return found + 0j
    return found.real if isinstance(found, complex) else found * 1.0


# --- structure -------------------------------------------------------------------------------------


def is_array(x: Any) -> bool:
    """Whether a value is an array, without axes or with."""
    return hasattr(x, "shape") and hasattr(x, "dtype") and not isinstance(x, np.generic)


def is_leaf(x: Any) -> bool:
    """Whether a value is a number or an array of numbers: what derivatives are taken in."""
    if isinstance(x, (bool, np.bool_)):
        return False
    if isinstance(x, Number) or hasattr(type(x), "__compute_op__"):
        return True
    return is_array(x) and getattr(x.dtype, "kind", "f") in "iufcO"


_WHOLE = (FunctionType, MethodType, BuiltinFunctionType, ModuleType, type, np.ufunc, np.generic)
_OF_LIBRARIES = frozenset(
    ("builtins", "logging", "functools", "inspect", "numpy", "scipy", "random", "wengert", "enum")
)


def parts(x: Any) -> dict[Any, Any] | None:
    """What a container or an object holds, by key, index or attribute; None of what is no tree."""
    if isinstance(x, (list, tuple, dict)) and not is_built_on_container(type(x)):
        if hasattr(x, "_fields"):
            return dict(zip(x._fields, x, strict=True))  # type: ignore[union-attr]
        return dict(x) if isinstance(x, dict) else dict(enumerate(x))
    if is_leaf(x) or isinstance(x, _WHOLE) or x is None:
        return None
    if isinstance(x, SimpleNamespace):
        return vars(x)
    if type(x).__module__.partition(".")[0] in _OF_LIBRARIES or hasattr(type(x), "derives"):
        return None
    return attributes_of(x) or None


def rebuilt(x: Any, items: dict[Any, Any]) -> Any:
    """A container or object like another one, with other parts."""
    if is_built_on_container(type(x)):
        return built(type(x), items)
    match x:
        case tuple():
            return tuple.__new__(type(x), items.values())
        case dict() | list():
            made = copy.copy(x)
            for key, item in items.items():
                made[key] = item
            return made
        case _:
            made = copy.copy(x) if "__copy__" not in dir(type(x)) else object.__new__(type(x))
            for name, item in items.items():
                object.__setattr__(made, name, item)
            return made


def mapped(fn: Callable[..., Any], tree: Any, trees: tuple[Any, ...], path: Path = ()) -> Any:
    """What a function gives for every leaf of a tree and the same leaves of others, in its structure."""
    if is_leaf(tree):
        for k, other in enumerate(trees, start=2):
            if not is_leaf(other):
                raise differs(k, f"{_a(other)} where the first has {_a(tree)}", path)
        return fn(tree, *trees)
    held = parts(tree)
    if held is None:
        return tree
    if len(path) > _DEEPEST:
        raise _holds_itself(path)
    others = [_parts_like(tree, held, other, k, path) for k, other in enumerate(trees, start=2)]
    items = {
        key: mapped(fn, item, tuple([other[key] for other in others]), (*path, step(tree, key)))
        for key, item in held.items()
    }
    return rebuilt(tree, items)


def leaves(tree: Any, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    """The leaves of a tree in their order, each with the way to it."""
    if is_leaf(tree):
        yield path, tree
        return
    if len(path) > _DEEPEST:
        raise _holds_itself(path)
    for key, item in (parts(tree) or {}).items():
        yield from leaves(item, (*path, step(tree, key)))


_DEEPEST = 200


def step(x: Any, key: Any) -> str:
    """How a part of a container or object is written."""
    of_items = isinstance(x, (list, tuple, dict)) and not hasattr(x, "_fields")
    if key == CONTENTS:
        return ""
    return f"[{key!r}]" if of_items and not is_built_on_container(type(x)) else f".{key}"


def _parts_like(
    tree: Any, held: Mapping[Any, Any], other: Any, k: int, path: Path
) -> Mapping[Any, Any]:
    """The parts of a tree that belong to those of the first one; of what is no leaf, none are needed."""
    found = parts_of_gradient(other) if CONTENTS in held and other is not None else parts(other)
    if found is None:
        if any(True for _ in leaves(dict(held))):
            raise differs(k, f"{_a(other)} where the first has {_named(tree)}", path)
        return dict.fromkeys(held)
    of_items = isinstance(tree, (list, tuple, dict))
    if of_items and len(found) > len(held) and not is_built_on_container(type(tree)):
        raise differs(k, f"{len(found)} items where the first has {len(held)}", path)
    for key, item in held.items():
        if key not in found and any(True for _ in leaves(item)):
            raise differs(k, f"no `{step(tree, key)}`", path)
    return {key: found.get(key) for key in held}


def differs(k: int, what: str, path: Path) -> BadArgument:
    """The error for trees of different structures."""
    there = f" at `{''.join(path)}`" if any(path) else ""
    return BadArgument(
        f"`tree_map` goes over trees of one structure, and tree {k} has {what}{there}",
        "Give trees with the same keys, lengths and attributes, as gradients of the first have them.",
    )


def _holds_itself(path: Path) -> BadArgument:
    return BadArgument(
        f"this tree holds itself, or is nested too deeply: `{''.join(path[:6])}…`",
        "Take the parts that are to be varied, such as `[net.weights, net.bias]`.",
    )


def _a(x: Any) -> str:
    if is_leaf(x):
        return "an array" if is_array(x) else "a number"
    return "None" if x is None else _named(x)


def _named(x: Any) -> str:
    name = type(x).__name__
    return f"{'an' if name[0] in 'aeiouAEIOU' else 'a'} {name}"
