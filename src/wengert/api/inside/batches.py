"""`vmap` inside programs that are differentiated: how its calls are read."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ...errors import BadArgument
from ...frontend import heap
from ...frontend.calls.calls import call
from ...frontend.domain.arguments import is_star
from ...frontend.domain.values import (
    Args,
    Items,
    Kwargs,
    Native,
    Value,
    as_known,
    kind_of_value,
    tuple_of,
    unflatten,
)
from ...frontend.machine.interpreter import Interpreter
from ...intrinsics.nested import name_of
from ...ir.graph import Const
from ...ir.types import Array, Kind, Number, Path, Seq, Struct, Unknown, leaves
from .. import batches
from ..batches import Axes, Batched
from .trees import is_container, is_leaf


def read_vmap(it: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    """`wg.vmap(f, …)` inside a program: a function of it, not yet called."""
    bound = inspect.signature(batches.vmap).bind(*args, **kwargs).arguments
    function = bound.pop("f")
    try:
        options = {name: _known(it, value) for name, value in bound.items()}
        axes = batches.vmap(_nothing, **options).axes
    except LookupError:
        raise BadArgument(
            "the axes of `vmap` must be known when the program is read",
            "Write them out: `in_axes=(0, None)`.",
            it.builder.span,
        ) from None
    except BadArgument as error:
        raise error.at(it.builder.span) from None

    def run(it: Interpreter, args: Args, kwargs: Kwargs) -> Value:
        return _called(it, function, axes, args, kwargs)

    return Native("vmap", run)


def _nothing() -> None:
    """Stands for the function while only the axes are wanted."""


def _known(it: Interpreter, axes: Value) -> Any:
    """Axes that the program has written out.

    Raises:
        LookupError: only the run knows them.
    """
    axes = heap.now(it, axes)
    if not isinstance(axes, Items):
        return it.constant(axes)
    each = [_known(it, item) for item in axes.values]
    return dict(zip(axes.keys, each, strict=True)) if axes.form == "dict" else tuple(each)


def read_batched(it: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    """A call of a `Batched` that was made outside of the program."""
    made, *rest = args
    if isinstance(made, Const):
        value: Batched[...] = made.value
        return _called(it, as_known(value.function), value.axes, rest, kwargs)
    assert isinstance(made, Items)
    known: batches.Known = it.constant(made["axes"])
    return _called(it, made["function"], known.axes, rest, kwargs)


def _called(it: Interpreter, function: Value, axes: Axes, args: Args, kwargs: Kwargs) -> Value:
    if any(map(is_star, args)):
        raise it.unsupported(
            "how many arguments `*` stands for here is known only when the program runs",
            "Pass the arguments one by one.",
        )
    try:
        return _mapped(it, function, axes, args, kwargs)
    except BadArgument as error:
        raise error.at(it.builder.span) from None


def _mapped(it: Interpreter, function: Value, axes: Axes, args: Args, kwargs: Kwargs) -> Value:
    of_arguments = _axes_of_arguments(axes.ins, args, function)
    sizes: dict[str, Value] = {}
    for k, (arg, axis) in enumerate(zip(args, of_arguments, strict=True)):
        for path, leaf, at in _mapped_leaves(it, arg, axis, f"argument {k}"):
            sizes[path] = _size(it, path, leaf, at)
    for name, arg in kwargs.items():
        for path, leaf, at in _mapped_leaves(it, arg, 0, f"argument `{name}`"):
            sizes[path] = _size(it, path, leaf, at)
    if not sizes:
        raise batches.nothing_mapped()
    size = call(it, Const(same_size), [tuple_of(*sizes.values())], {})

    def one(it: Interpreter, at: Args, _: Kwargs) -> Value:
        (k,) = at
        items = [_item(it, arg, axis, k) for arg, axis in zip(args, of_arguments, strict=True)]
        return call(it, function, items, {n: _item(it, arg, 0, k) for n, arg in kwargs.items()})

    results = call(it, Const(batches.rows), [Native("one", one), size], {})
    return _stacked(it, results, axes.outs)


def _axes_of_arguments(in_axes: Any, args: Args, function: Value) -> list[Any]:
    def named() -> None: ...

    named.__name__ = name_of(function)
    return batches.axes_of_arguments(in_axes, len(args), named)


def same_size(sizes: Any) -> Any:
    """How many items there are; `batches.common_size` where it is the program that asks."""
    for n in sizes[1:]:
        if n != sizes[0]:
            raise ValueError("`vmap` maps along axes of one size, but these differ")
    if sizes[0] == 0:
        raise ValueError("`vmap` was given a batch without items")
    return sizes[0]


def size_along(leaf: Any, axis: Any) -> Any:
    """How many items an array has along an axis."""
    return np.shape(leaf)[axis]


def _size(it: Interpreter, path: str, leaf: Value, axis: int) -> Value:
    kind = kind_of_value(leaf)
    rank = kind.rank if isinstance(kind, Array) else 0
    if rank is not None:
        batches.must_have_axis(path, rank, axis)
    return call(it, Const(size_along), [leaf, Const(axis)], {})


# --- arguments ------------------------------------------------------------------------------------


def _mapped_leaves(
    it: Interpreter, x: Value, axes: Any, path: str
) -> Iterator[tuple[str, Value, int]]:
    if axes is None:
        return
    if not isinstance(axes, int):
        for key, item in _parts_for(it, x, axes, path):
            there = f"{path} at `{key!r}`"
            yield from _mapped_leaves(it, item, batches.axis_of(axes, key), there)
        return
    x = heap.now(it, x)
    if is_container(x):
        for item in x.values:
            yield from _mapped_leaves(it, item, axes, path)
    elif is_leaf(it, x):
        yield path, x, axes


def _parts_for(it: Interpreter, x: Value, axes: Any, path: str) -> Sequence[tuple[Any, Value]]:
    x = heap.now(it, x)
    keys = x.keys if is_container(x) else ()
    if len(keys) != len(axes) or (isinstance(axes, dict) and set(axes) != set(keys)):
        batches.parts_for(None, axes, path)  # says what is wrong
    return list(zip(keys, x.values, strict=True))  # type: ignore[union-attr]


def _item(it: Interpreter, x: Value, axes: Any, k: Value) -> Value:
    if axes is None:
        return x
    x = heap.now(it, x)
    if is_container(x):
        pairs = list(zip(x.keys, x.values, strict=True))
        each = [axes if isinstance(axes, int) else batches.axis_of(axes, key) for key, _ in pairs]
        items = [_item(it, item, axis, k) for (_, item), axis in zip(pairs, each, strict=True)]
        return Items(x.form, x.keys, tuple(items), x.type)
    if not is_leaf(it, x):
        return x
    return call(it, Const(batches.leaf_at), [x, Const(axes), k], {})


# --- results --------------------------------------------------------------------------------------


def _stacked(it: Interpreter, results: Value, axes: Any) -> Value:
    """The results of all items as one, leaf by leaf."""
    kind = kind_of_value(results)
    if isinstance(kind, Seq):
        item = kind.item
    elif isinstance(kind, Struct) and kind.items:
        item = kind.items[0]
    else:
        raise it.unsupported(
            "what `vmap` gives here is known only when the program runs",
            "Return numbers, arrays, or containers of these.",
        )
    steps = iter(list(leaves(item)))

    def take(leaf: Kind) -> Any:
        path, _ = next(steps)
        return it.atom(_column(it, results, path, leaf, _axis_at(axes, path)))

    return unflatten(item, take)


def _axis_at(axes: Any, path: Path) -> Any:
    for step in path:
        if axes is None or isinstance(axes, int):
            return axes
        try:
            axes = batches.axis_of(axes, step.key)
        except (LookupError, AttributeError, TypeError):
            batches.parts_for(None, axes, "the result")  # says what is wrong
    return axes


def _column(it: Interpreter, results: Value, path: Path, leaf: Kind, axis: Any) -> Value:
    """What all items have in one place."""

    def follow(it: Interpreter, at: Args, _: Kwargs) -> Value:
        (found,) = at
        for step in path:
            if step.how == "attr":
                found = call(it, Const(getattr), [found, Const(step.key)], {})
            else:
                found = call(it, Const(item_under), [found, Const(step.key)], {})
        return found

    column = call(it, Const(column_of), [results, Native("part", follow)], {}) if path else results
    if axis is None:
        return call(it, Const(batches.shared), [column], {})
    if not isinstance(leaf, (Number, Array, Unknown)):
        return call(it, Const(item_under), [column, Const(0)], {})
    if isinstance(leaf, Unknown):
        column = call(it, Const(stackable), [column], {})
    rank = 0 if isinstance(leaf, Number) else getattr(leaf, "rank", None)
    if rank is not None or not isinstance(axis, int):
        batches.must_be_axis_of_result(axis, rank or 0)
    return call(it, Const(np.stack), [column], {"axis": Const(axis)} if axis else {})


def column_of(results: Any, part: Any) -> Any:
    """One part of all results."""
    return [part(result) for result in results]


def stackable(column: Any) -> Any:
    """The same results, which turn out to be numbers or arrays when the program runs."""
    for each in column:
        if not (hasattr(each, "shape") or isinstance(each, (float, int, complex))):
            raise ValueError(
                "what `vmap` gives here turns out to be a container: `vmap` a function that returns its parts"
            )
    return column


def item_under(x: Any, key: Any) -> Any:
    """An item of a container."""
    return x[key]
