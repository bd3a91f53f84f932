"""Functions of NumPy and of the standard library that change what they are given.

Most are written in Python here and read like the user's own code; in-place writes are then followed
like any other.
"""

from __future__ import annotations

import bisect
import heapq
import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ...ir.graph import Const, Var
from ...ir.op import Op
from ...ir.types import BOOL, Array, Number
from ...ops import elementwise as el, structure as st
from ...ops.array_kinds import rank_of_kind
from ...ops.registry import named
from .. import heap
from ..domain.values import Args, Handler, Items, Kwargs, Value, as_known, is_mutable, kind_of_value
from ..machine.interpreter import Interpreter

# --- in Python ----------------------------------------------------------------------------


def copyto(dst: Any, src: Any, casting: Any = "same_kind", where: Any = True) -> None:
    """`np.copyto`."""
    if where is True:
        dst[...] = src
    else:
        dst[...] = np.where(where, src, dst)


def fill_diagonal(a: Any, val: Any) -> None:
    """`np.fill_diagonal` of a matrix."""
    index = np.arange(min(a.shape))
    a[index, index] = val


def put(a: Any, ind: Any, v: Any) -> None:
    """`np.put`: `reshape` might make a copy, to which nothing is to be written."""
    v = np.resize(v, np.shape(ind)) if np.ndim(v) else v
    if np.ndim(a) == 1:
        a[ind] = v
    else:
        a[np.unravel_index(np.arange(np.size(a))[ind], np.shape(a))] = v


def place(arr: Any, mask: Any, vals: Any) -> None:
    """`np.place`."""
    mask = np.asarray(mask, dtype=bool)
    count = np.count_nonzero(mask)
    arr[mask] = np.resize(vals, count)


def putmask(a: Any, mask: Any, values: Any) -> None:
    """`np.putmask`."""
    a[...] = np.where(mask, values, a)


def put_along_axis(arr: Any, indices: Any, values: Any, axis: Any) -> None:
    """`np.put_along_axis`."""
    places = [np.arange(n).reshape([-1 if k == j else 1 for j in range(arr.ndim)])
              for k, n in enumerate(arr.shape)]  # fmt: skip
    places[axis] = indices
    arr[tuple(places)] = values


def heappush(items: Any, item: Any) -> None:
    """`heapq.heappush`."""
    items.append(item)
    _sift_down(items, 0, len(items) - 1)


def heappop(items: Any) -> Any:
    """`heapq.heappop`."""
    last = items.pop()
    if len(items) == 0:
        return last
    first = items[0]
    items[0] = last
    _sift_up(items, 0)
    return first


def heapify(items: Any) -> None:
    """`heapq.heapify`."""
    for i in range(len(items) // 2 - 1, -1, -1):
        _sift_up(items, i)


def heappushpop(items: Any, item: Any) -> Any:
    """`heapq.heappushpop`."""
    if len(items) == 0 or not items[0] < item:
        return item
    return heapreplace(items, item)


def heapreplace(items: Any, item: Any) -> Any:
    """`heapq.heapreplace`."""
    first = items[0]
    items[0] = item
    _sift_up(items, 0)
    return first


def _sift_down(items: Any, start: int, position: int) -> None:
    item = items[position]
    while position > start:
        parent = (position - 1) >> 1
        above = items[parent]
        if not item < above:
            break
        items[position] = above
        position = parent
    items[position] = item


def _sift_up(items: Any, position: int) -> None:
    end = len(items)
    start = position
    item = items[position]
    child = 2 * position + 1
    while child < end:
        right = child + 1
        if right < end and not items[child] < items[right]:
            child = right
        items[position] = items[child]
        position = child
        child = 2 * position + 1
    items[position] = item
    _sift_down(items, start, position)


def insort_right(a: Any, x: Any, lo: int = 0, hi: Any = None) -> None:
    """`bisect.insort`."""
    a.insert(bisect.bisect_right(a, x, lo, hi), x)


def insort_left(a: Any, x: Any, lo: int = 0, hi: Any = None) -> None:
    """`bisect.insort_left`."""
    a.insert(bisect.bisect_left(a, x, lo, hi), x)


IN_PYTHON: list[tuple[Any, Callable[..., Any]]] = [
    (np.copyto, copyto),
    (np.fill_diagonal, fill_diagonal),
    (np.put, put),
    (np.place, place),
    (np.putmask, putmask),
    (np.put_along_axis, put_along_axis),
    (heapq.heappush, heappush),
    (heapq.heappop, heappop),
    (heapq.heapify, heapify),
    (heapq.heappushpop, heappushpop),
    (heapq.heapreplace, heapreplace),
    (bisect.insort, insort_right),
    (bisect.insort_left, insort_left),
]

# --- written by hand ----------------------------------------------------------------------


def _at(operator_: Any) -> Handler:
    """`np.add.at` and `np.subtract.at`: every index counts, however often it occurs."""

    def handler(it: Interpreter, args: Args, kwargs: Kwargs) -> Value:

        array, index, *values = args
        array = heap.now(it, array)
        if not isinstance(array, Var):
            raise it.unsupported(
                "`at` of a ufunc needs an array to write to", "Use an array, not a list."
            )
        zeros, value = it.emit(st.zeros, it.atom(array)), it.atom(values[0])
        added = it.emit(st.add_at, zeros, it.index_atom(index), value, namespace="np")
        heap.whole(it, array, it.emit(operator_, it.atom(array), added))
        return Const(None)

    return handler


def _set_item(it: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    it.setitem(args[0], args[1], args[2])
    return Const(None)


def _delete_item(it: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    it.delitem(args[0], args[1])
    return Const(None)


def _in_place(operator_: Any) -> Handler:
    def handler(it: Interpreter, args: Args, kwargs: Kwargs) -> Value:
        import ast

        return it.add_in_place(operator_(), args[0], args[1], ast.Pass())

    return handler


def written_where(it: Interpreter, function: Any, args: Args) -> Value:
    """`out=` with `where=`: the function is computed where it is written, and nowhere else."""
    out, where, *operands = args
    target = out.values[0] if isinstance(out, Items) and out.values else out
    kind = kind_of_value(where)
    if kind != BOOL and not (isinstance(kind, Array) and kind.dtype == "bool"):
        # a number, such as ~True, says yes or no as well: it is no index
        where = it.call(as_known(np.asarray), [where], {"dtype": Const(bool)})
    return it.call(as_known(write_where), [Const(function), target, where, *operands], {})


def write_where(function: Any, out: Any, where: Any, *operands: Any) -> Any:
    """`function(*operands, out=out, where=where)`."""
    chosen = np.broadcast_to(where, out.shape)
    out[chosen] = function(*[np.broadcast_to(each, out.shape)[chosen] for each in operands])
    return out


def write_to_out(it: Interpreter, out: Value, result: Value) -> Value:
    """`out=`: the result goes into an array, which the call gives."""
    target = heap.now(it, out.values[0] if isinstance(out, Items) and out.values else out)
    if not (isinstance(target, Var) and isinstance(target.kind, Array)):
        raise it.unsupported(
            "`out=` needs an array that is known to be one when the program is read",
            "Assign the result: `a[...] = np.add(b, c)`.",
        )
    heap.whole(it, target, it.atom(result))
    return target


def without_a_copy(
    it: Interpreter, op: Op, namespace: str, values: Sequence[Value], options: Mapping[str, Value]
) -> Value:
    """A call with `copy=False` (or None): it gives the array itself where it can, or changes it."""
    rest = {name: value for name, value in options.items() if name != "copy"}
    if op.name == "nan_to_num":
        result = it.emit_op(op, namespace, values, rest)
        target = heap.now(it, values[0])
        return write_to_out(it, target, result) if is_mutable(target) else result
    if op.name not in ("array", "astype"):
        return it.emit_op(op, namespace, values, rest)
    missing = _axes_to_add(it, values[0], rest["ndmin"]) if "ndmin" in rest else 0
    kept = {name: rest[name] for name in ("dtype", "order") if name in rest}
    made = it.emit_op(named("asarray"), "np", values, kept)
    return it.getitem(made, Const((None,) * missing + (...,))) if missing else made


def _axes_to_add(it: Interpreter, value: Value, least: Value) -> int:
    """How many axes `ndmin` puts before those of an array."""
    kind = kind_of_value(value)
    rank = rank_of_kind(kind) if isinstance(kind, (Array, Number)) else None
    if rank is None or not isinstance(least, Const):
        raise it.unsupported(
            "`ndmin` where no copy is made, of what only the run knows to be an array",
            "Add the axes by an index: `a[None]`, or copy.",
        )
    return max(0, least.value - rank)


def _operators() -> list[tuple[Any, Handler]]:
    import ast

    pairs = [
        (operator.iadd, ast.Add),
        (operator.iconcat, ast.Add),
        (operator.isub, ast.Sub),
        (operator.imul, ast.Mult),
        (operator.itruediv, ast.Div),
        (operator.ifloordiv, ast.FloorDiv),
        (operator.imod, ast.Mod),
        (operator.ipow, ast.Pow),
        (operator.imatmul, ast.MatMult),
        (operator.ior, ast.BitOr),
        (operator.iand, ast.BitAnd),
        (operator.ixor, ast.BitXor),
        (operator.ilshift, ast.LShift),
        (operator.irshift, ast.RShift),
    ]
    return [(function, _in_place(node)) for function, node in pairs]


BY_HAND: list[tuple[Any, Handler]] = [
    (operator.setitem, _set_item),
    (operator.delitem, _delete_item),
    *_operators(),
]
_UFUNC_AT: dict[np.ufunc, Handler] = {np.add: _at(el.add), np.subtract: _at(el.sub)}


def ufunc_at(it: Interpreter, known: Any) -> Handler | None:
    """How to read a call of `np.add.at` and its like; None if it is none."""
    owner = getattr(known, "__self__", None)
    if not isinstance(owner, np.ufunc) or known.__name__ != "at":
        return None
    if owner not in _UFUNC_AT:
        raise it.unsupported(
            f"`np.{owner.__name__}.at()` changes an array in a way that has no derivative rule",
            "Write the loop over the indices out.",
        )
    return _UFUNC_AT[owner]
