"""`vmap`: a function of one example as a function of a batch, written over a loop and `np.stack`."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Generic, NamedTuple, ParamSpec

import numpy as np

from ..compile import calling
from ..errors import BadArgument
from ..frontend.boundary import signature
from ..frontend.boundary.no_code import OfAnotherLibrary, library_of_arrays
from ..ir.types import Kind, Static, Struct
from . import trees
from .derivative import in_its_library

P = ParamSpec("P")


def vmap(f: Callable[P, Any], in_axes: Any = 0, out_axes: Any = 0) -> Batched[P]:
    """A function over a batch: `f` of each item, the results stacked.

    Args:
        f: a function of numbers, arrays, and trees of these (`wg.flatten` says what a tree is).
        in_axes: along which axis each argument holds the items: an integer for all arguments, or a tuple with one
            entry for each. None is for an argument that all items share. In the place of an integer there may be a
            tuple, list or dictionary with one entry for each part of a container.
        out_axes: the axis of the results along which the items lie: an integer, or a tuple, list or dictionary with one
            for each part of a result; None of a part that is the same for all items.

    Returns:
        A function of the same arguments. Keyword arguments are mapped along axis 0. It composes with every verb, and
        may stand in what is differentiated.

    Raises:
        BadArgument: on a call: the sizes of axes differ, an axis is not there, nothing is to be mapped; says which
            argument.

    >>> import numpy as np, wengert as wg
    >>> wg.vmap(lambda x, w: x @ w, in_axes=(0, None))(np.eye(2), np.array([3.0, 5.0]))
    array([3., 5.])
    >>> wg.vmap(wg.grad(lambda x: x ** 3))(np.array([1.0, 2.0]))
    array([ 3., 12.])
    """
    calling.must_be_function(f)
    _must_be_axes("in_axes", in_axes)
    _must_be_axes("out_axes", out_axes)
    return Batched(f, in_axes, out_axes)


class Axes(NamedTuple):
    """Where the items of a batch lie, in arguments and results."""

    ins: Any
    outs: Any


class Batched(Generic[P]):
    """A function over a batch.

    Attributes:
        function: the function of one item.
        axes: where the items lie.
    """

    def __init__(self, function: Callable[..., Any], in_axes: Any = 0, out_axes: Any = 0):
        self.function = function
        self.axes = Axes(in_axes, out_axes)
        functools.update_wrapper(self, function, updated=())

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> Any:
        try:
            batch = Batch(self.function, self.axes, args, kwargs)
        except OfAnotherLibrary as met:
            return in_its_library().mapped(self, args, kwargs, met.array)
        results = [self.function(*one, **named) for one, named in batch.items()]
        return stacked(results, self.axes.outs)

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        if instance is None:
            return self
        return Batched(self.function.__get__(instance, owner), *self.axes)

    def __repr__(self) -> str:
        return f"<vmap of {calling.shown(self.function)}>"

    def __reduce__(self) -> Any:
        return Batched, (self.function, *self.axes)


def _kind_of_batched(value: Any, depth: int) -> Kind:
    inner = signature.kind_of(value.function, depth)
    return Struct("object", ("function", "axes"), (inner, Static(Known(value.axes))), Batched)


class Known:
    """Axes as something that is known by value: equal ones are one kind."""

    def __init__(self, axes: Axes):
        self.axes = axes
        self._key = repr(axes)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Known) and other._key == self._key

    def __hash__(self) -> int:
        return hash(self._key)


signature.describe(Batched, _kind_of_batched)


class Batch:
    """The arguments of one call, and how many items they hold.

    Raises:
        BadArgument: the sizes differ, an axis is not there, or nothing is mapped.
    """

    def __init__(self, function: Any, axes: Axes, args: Sequence[Any], kwargs: Mapping[str, Any]):
        names = calling.argument_names(function, len(args))
        self.args = list(zip(args, axes_of_arguments(axes.ins, len(args), function), strict=True))
        self.kwargs = kwargs
        sizes: dict[str, int] = {}
        for k, (arg, axis) in enumerate(self.args):
            for path, leaf, at in mapped_leaves(arg, axis, f"argument {k} (`{names[k]}`)"):
                _must_be_numpys(leaf)
                sizes[path] = _size(path, np.shape(leaf), at)
        for name, arg in kwargs.items():
            for path, leaf, at in mapped_leaves(arg, 0, f"argument `{name}`"):
                sizes[path] = _size(path, np.shape(leaf), at)
        self.size = common_size(tuple(sizes), tuple(sizes.values()))

    def items(self) -> Iterator[tuple[list[Any], dict[str, Any]]]:
        """The arguments for each item."""
        for k in range(self.size):
            named = {name: item_of(arg, 0, k) for name, arg in self.kwargs.items()}
            yield [item_of(arg, axis, k) for arg, axis in self.args], named


def _must_be_numpys(leaf: Any) -> None:
    if library_of_arrays(type(leaf)):
        raise OfAnotherLibrary(leaf)


def axes_of_arguments(in_axes: Any, count: int, function: Any) -> list[Any]:
    """The axes of each positional argument."""
    if not isinstance(in_axes, (tuple, list)):
        return [in_axes] * count
    if len(in_axes) != count:
        raise BadArgument(
            f"`in_axes` has {counted(len(in_axes), 'entry', 'entries')}, but {calling.name_of(function)} was called "
            f"with {counted(count, 'positional argument')}",
            "Give one entry for each: an axis, or None for what all items share.",
        )
    return list(in_axes)


def mapped_leaves(x: Any, axes: Any, path: str) -> Iterator[tuple[str, Any, int]]:
    """The numbers and arrays of an argument that are mapped, each with how it is reached and its axis."""
    if axes is None:
        return
    if isinstance(axes, int):
        for steps, leaf in trees.leaves(x):
            there = "".join(steps)
            yield f"{path} at `{there}`" if there else path, leaf, axes
        return
    held = parts_for(x, axes, path)
    for key, item in held.items():
        yield from mapped_leaves(item, axis_of(axes, key), f"{path} at `{trees.step(x, key)}`")


def parts_for(x: Any, axes: Any, path: str) -> dict[Any, Any]:
    """The parts of a container for which axes are given one by one."""
    held = trees.parts(x)
    if (
        held is None
        or len(held) != len(axes)
        or (isinstance(axes, dict) and set(axes) != set(held))
    ):
        raise BadArgument(
            f"{path} is not built like its axes {axes!r}",
            "Give an axis for the whole, or a tuple, list or dictionary with one entry for each part.",
        )
    return held


def axis_of(axes: Any, key: Any) -> Any:
    """The axes of one part of a container."""
    if isinstance(axes, dict):
        return axes[key]
    return getattr(axes, key) if isinstance(key, str) else axes[key]


def _size(path: str, shape: tuple[int, ...], axis: int) -> int:
    must_have_axis(path, len(shape), axis)
    return shape[axis]


def must_have_axis(path: str, rank: int, axis: int) -> None:
    """Refuse an axis that an argument has not."""
    if -rank <= axis < rank:
        return
    what = f"has {rank} dimension{'s' * (rank != 1)}, and" if rank else "is a number, and"
    raise BadArgument(
        f"{path} {what} no axis {axis} to map along",
        "Say by `in_axes` where the items lie: `in_axes=(0, None)` maps the first of two arguments along its\n"
        "first axis, and gives the second to all items.",
    )


def common_size(paths: Sequence[str], sizes: Sequence[int]) -> int:
    """How many items there are, said by every mapped argument."""
    if not sizes:
        raise nothing_mapped()
    for n in sizes:
        if n != sizes[0]:
            shown = ", ".join([f"{path}: {n}" for path, n in zip(paths, sizes, strict=True)])
            raise BadArgument(
                f"`vmap` maps along axes of one size, but these differ: {shown}",
                "Give arguments with the same number of items; `in_axes` says where they lie.",
            )
    if sizes[0] == 0:
        raise BadArgument(
            "`vmap` was given a batch without items, and what it gives for none is not known",
            "Do not call it where there is nothing to map.",
        )
    return sizes[0]


def nothing_mapped() -> BadArgument:
    """The error where all items would share all arguments."""
    return BadArgument(
        "`vmap` has nothing to map along: no argument holds an array whose axis `in_axes` names",
        "Give an array, and its axis: `wg.vmap(f, in_axes=(0, None))(x, shared)`.",
    )


def item_of(x: Any, axes: Any, k: int) -> Any:
    """What an argument holds for one item."""
    if axes is None:
        return x
    if isinstance(axes, int):
        return trees.mapped(lambda leaf: leaf_at(leaf, axes, k), x, ())
    held = trees.parts(x) or {}
    items = {key: item_of(item, axis_of(axes, key), k) for key, item in held.items()}
    return trees.rebuilt(x, items)


def stacked(results: Sequence[Any], axes: Any) -> Any:
    """Results with the items along an axis; what is neither a number nor an array is that of the first."""
    first = results[0]
    if axes is None:
        return _shared(results)
    if trees.is_leaf(first) or isinstance(first, (bool, np.bool_)) or trees.is_array(first):
        must_be_axis_of_result(axes, np.ndim(first))
        return np.stack(results, axis=axes)
    held = trees.parts(first)
    if held is None:
        return first
    if not isinstance(axes, int):
        parts_for(first, axes, "the result")
    columns = [trees.parts(result) or {} for result in results]
    items = {
        key: stacked(
            [each[key] for each in columns], axes if isinstance(axes, int) else axis_of(axes, key)
        )
        for key in held
    }
    return trees.rebuilt(first, items)


def _shared(results: Sequence[Any]) -> Any:
    try:
        return shared(results)
    except ValueError as error:
        raise BadArgument(str(error), "Name its axis.") from None


def must_be_axis_of_result(axis: Any, rank: int) -> None:
    """Refuse an axis that a stack of results would not have."""
    if not isinstance(axis, int):
        raise BadArgument(
            f"the result is not built like its axes {axis!r}",
            "Give an axis for the whole, or a tuple, list or dictionary with one entry for each part.",
        )
    if not -rank - 1 <= axis <= rank:
        raise BadArgument(
            f"`out_axes` names axis {axis}, but the results of all items together have {rank + 1} "
            f"dimension{'s' * (rank > 0)}",
            "Axes count from 0; -1 is the last.",
        )


# --- what is read in programs as well ------------------------------------------------------------


def leaf_at(leaf: Any, axis: Any, k: Any) -> Any:
    """The part of an array that belongs to one item."""
    return leaf[k] if axis == 0 else np.moveaxis(leaf, axis, 0)[k]


def shared(results: Any) -> Any:
    """The result that all items have in common."""
    first = results[0]
    for other in results:
        if np.any(other != first):
            raise ValueError(
                "`out_axes` says None of a result that is not the same for all items of the batch"
            )
    return first


def rows(one: Any, size: Any) -> Any:
    """The results of all items."""
    return [one(k) for k in range(size)]


# --- axes -------------------------------------------------------------------------------------------


def counted(count: int, one: str, several: str = "") -> str:
    """A number of things in words."""
    return f"{count} {one if count == 1 else several or one + 's'}"


def _must_be_axes(name: str, axes: Any) -> None:
    """Refuse what says nothing of axes."""
    if axes is None or (isinstance(axes, int) and not isinstance(axes, bool)):
        return
    if isinstance(axes, (tuple, list, dict)):
        for each in axes.values() if isinstance(axes, dict) else axes:
            _must_be_axes(name, each)
        return
    raise BadArgument(
        f"`{name}` must be made of integers and None, not of {axes!r}",
        "An integer is the axis along which the items lie, None is for what all items share.",
    )
