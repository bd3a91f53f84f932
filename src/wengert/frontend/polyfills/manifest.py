"""Standard functions that Python implements in C, written in Python: the front end reads these instead.

They give lists where the originals give iterators; nothing that the front end accepts can tell.
"""

from __future__ import annotations

import cmath
import functools
import importlib
import itertools
import math
import sys
from collections.abc import Callable
from typing import Any

from ...ops import registry
from ...ops.arrays.reduction import exponent_of


def range_(*bounds: int) -> range:
    """`range` of as many numbers as only the run knows."""
    if len(bounds) == 1:
        return range(0, bounds[0], 1)
    return range(bounds[0], bounds[1], bounds[2] if len(bounds) == 3 else 1)


def slice_indices(part: slice, length: int) -> tuple[int, int, int]:
    """`slice.indices`."""
    step = 1 if part.step is None else part.step
    if step == 0:
        raise ValueError("slice step cannot be zero")
    low, high = (0, length) if step > 0 else (-1, length - 1)
    first, last = (low, high) if step > 0 else (high, low)
    start = first if part.start is None else _within(part.start, length, low, high)
    stop = last if part.stop is None else _within(part.stop, length, low, high)
    return start, stop, step


def _within(index: int, length: int, low: int, high: int) -> int:
    return max(index + length, low) if index < 0 else min(index, high)


def count_in(items: Any, value: Any) -> int:
    """`items.count(value)`, of objects."""
    return sum([1 for each in items if each is value or each == value])


def index_in(items: Any, value: Any, start: int = 0, stop: int = sys.maxsize) -> int:
    """`items.index(value)`, of objects."""
    first, last, _ = slice(start, stop).indices(len(items))
    for k, each in enumerate(items):
        if first <= k < last and (each is value or each == value):
            return k
    raise ValueError("index(x): x is not there")


def namedtuple_of(cls: Any, iterable: Any) -> Any:
    """`cls._make(iterable)` of a namedtuple."""
    items = tuple(iterable)
    if len(items) != len(cls._fields):
        raise TypeError(f"Expected {len(cls._fields)} arguments, got {len(items)}")
    return cls(*[items[k] for k in range(len(cls._fields))])  # of which it is known how many


def product(*iterables: Any, repeat: int = 1) -> Any:
    """`itertools.product`."""
    return functools.reduce(_extended, [list(i) for i in iterables] * repeat, [()])


def _extended(rows: Any, items: Any) -> Any:
    return [(*row, item) for row in rows for item in items]


def chain(*iterables: Any) -> Any:
    """`itertools.chain`."""
    return [item for iterable in iterables for item in iterable]


def chain_from_iterable(iterables: Any) -> Any:
    """`itertools.chain.from_iterable`."""
    return [item for iterable in iterables for item in iterable]


def islice(iterable: Any, *bounds: Any) -> Any:
    """`itertools.islice` of something finite."""
    refuse_negative(bounds)
    return list(iterable)[slice(*bounds)]


def refuse_negative(bounds: Any) -> None:
    """Raise what `itertools.islice` raises where it would have to count from the end."""
    for bound in bounds[:2]:
        if bound is not None and bound < 0:
            which = "Stop argument" if bounds[:2][-1] == -1 else "Indices"
            raise ValueError(
                f"{which} for islice() must be None or an integer: 0 <= x <= sys.maxsize."
            )
    if len(bounds) == 3 and bounds[2] is not None and bounds[2] < 1:
        raise ValueError("Step for islice() must be a positive integer or None.")


def repeat(item: Any, times: int) -> Any:
    """`itertools.repeat` with a number of times."""
    return [item for _ in range(times)]


def starmap(function: Any, iterable: Any) -> Any:
    """`itertools.starmap`."""
    return [function(*args) for args in iterable]


def pairwise(iterable: Any) -> Any:
    """`itertools.pairwise`."""
    items = list(iterable)
    return [(items[k], items[k + 1]) for k in range(len(items) - 1)]


def compress(data: Any, selectors: Any) -> Any:
    """`itertools.compress`."""
    return [item for item, selected in zip(data, selectors) if selected]  # noqa: B905


def zip_longest(*iterables: Any, fillvalue: Any = None) -> Any:
    """`itertools.zip_longest`."""
    lists = [list(iterable) for iterable in iterables]
    longest = max([len(items) for items in lists], default=0)
    return [
        tuple([items[k] if k < len(items) else fillvalue for items in lists])
        for k in range(longest)
    ]


def tee(items: Any, n: int = 2) -> Any:
    """`itertools.tee` of what never changes afterwards."""
    items = list(items)
    return tuple([iter(items) for _ in range(n)])


def groups(iterable: Any, key: Any = None) -> Any:
    """The keys and the groups of `itertools.groupby`, as a list."""
    groups = []
    for item in iterable:
        of_item = item if key is None else key(item)
        if len(groups) > 0 and groups[-1][0] == of_item:
            groups[-1][1].append(item)
        else:
            groups.append((of_item, [item]))
    return groups


def from_keys(keys: Any, value: Any = None) -> Any:
    """`dict.fromkeys`."""
    return {key: value for key in keys}  # noqa: C420  (what is read instead of `dict.fromkeys`)


def outer_key(keys: Any, last: Any) -> Any:
    """The key that `popitem` takes out of a dictionary: the last, or of an ordered one the first."""
    if not keys:
        raise KeyError("popitem(): dictionary is empty")
    return keys[-1 if last else 0]


def extend_left(items: Any, more: Any) -> None:
    """`deque.extendleft`."""
    for item in more:
        items.appendleft(item)


def rotated(items: Any, n: int = 1) -> Any:
    """What a deque holds after `deque.rotate`."""
    k = (-n) % max(len(items), 1)
    return items[k:] + items[:k]


def without(table: Any, keys: Any) -> Any:
    """A dictionary without some of its keys."""
    return {key: table[key] for key in table if key not in keys}


def batched(iterable: Any, n: int) -> Any:
    """`itertools.batched`."""
    items = list(iterable)
    return [tuple(items[k : k + n]) for k in range(0, len(items), n)]


def repeated(items: Any, times: int) -> Any:
    """`items * times` of a list."""
    return [item for _ in range(times) for item in items]


def modf(x: Any, /) -> Any:
    """`math.modf`."""
    x = float(x)  # of an array without axes, which knows no `trunc`
    if math.isinf(x):
        return math.copysign(0.0, x), x
    return math.fmod(x, 1.0), math.copysign(float(math.trunc(x)), x)


def frexp(x: Any, /) -> Any:
    """`math.frexp`."""
    exponent = exponent_of(x)
    return math.ldexp(x, -exponent), exponent


def hypot_of(xs: Any) -> Any:
    """`math.hypot(*xs)`."""
    return functools.reduce(math.hypot, xs, 0.0)


def polar(z: Any, /) -> Any:
    """`cmath.polar`."""
    return abs(z), cmath.phase(z)


def rect(r: Any, phi: Any, /) -> Any:
    """`cmath.rect`."""
    return complex(r * math.cos(phi), r * math.sin(phi))


def transposed(rows: Any) -> Any:
    """`zip(*rows)`, as a list."""
    rows = [list(row) for row in rows]
    count = min([len(row) for row in rows], default=0)
    return [tuple([row[k] for row in rows]) for k in range(count)]


def matrix_product(a: Any, b: Any) -> Any:
    """`a @ b`, whatever their classes say that it is."""
    return a @ b


def of_one(function: Any, x: Any, /) -> Any:
    """A function of one operand."""
    return function(x)


def of_two(function: Any, left: Any, right: Any, /) -> Any:
    """A function of two operands, which `*` may have given."""
    return function(left, right)


def ranks(items: Any) -> Any:
    """Of each item, of a class that says what `<` is, how many others are less."""
    return [sum([other < item for other in items]) for item in items]


def is_known_as(x: Any, cls: type) -> bool:
    """Whether a value is known to be of a class when the program is read."""
    return isinstance(x, cls)


def as_it_is(function: Any, *args: Any) -> Any:
    """A call of a function that something stands for, of constants: it is called as it is."""
    return function(*args)


AT_ONCE: list[tuple[Any, Callable[..., Any]]] = [
    (getattr(itertools, each.__name__), each)
    for each in (pairwise, compress, zip_longest, batched)
    if hasattr(itertools, each.__name__)
]
"""Iterators of which all items are made at once, or none is: they are not asked one by one."""

EQUIVALENTS: list[tuple[Any, Callable[..., Any]]] = [
    (math.modf, modf),
    (math.frexp, frexp),
    (cmath.polar, polar),
    (cmath.rect, rect),
    (itertools.product, product),
    (itertools.chain, chain),
    (itertools.islice, islice),
    (itertools.starmap, starmap),
    *AT_ONCE,
]


_LATE = {
    "numpy.polynomial": "numpy.polynomial",
    "numpy": "numpy.functions",
    "_bisect": "stdlib.bisect",
    "heapq": "stdlib.heapq",
    "tqdm": "tqdm",
    **dict.fromkeys(("concurrent.futures", "multiprocessing", "joblib"), "stdlib.pools"),
    "statistics": "stdlib.statistics",
    "random": "stdlib.random",
    "scipy.special": "scipy.special",
    "scipy.linalg": "...solvers.matrices",
    "scipy.signal._spectral_py": "scipy.spectra",
    "scipy.signal._ltisys": "scipy.systems",
    "scipy.signal._signaltools": "scipy.systems",
    "scipy.signal": "scipy.signal",
    "scipy.fft": "scipy.signal",
    "scipy.stats": "scipy.stats",
    "scipy.ndimage._interpolation": "scipy.warps",
    "scipy.ndimage": "scipy.ndimage",
    "scipy.interpolate._fitpack2": "scipy.curves.fitpack",
    "scipy.interpolate._fitpack_py": "scipy.curves.fitpack",
    "scipy.interpolate._fitpack_impl": "scipy.curves.fitpack",
    "scipy.interpolate._rbfinterp": "scipy.curves.scattered",
    "scipy.interpolate._interpnd": "scipy.curves.scattered",
    "scipy.interpolate._ndgriddata": "scipy.curves.scattered",
    "scipy.interpolate._rgi": "scipy.curves.grids",
    "scipy.interpolate": "scipy.curves.interpolate",
    "scipy.spatial.transform": "scipy.rotations",
    "scipy.spatial": "scipy.spatial",
    "scipy.sparse": "scipy.sparse",
    "scipy._lib._sparse": "scipy.sparse",
    "scipy._lib.array_api_extra": "scipy.distributions",
    "scipy._external.array_api_extra": "scipy.distributions",
    "scipy.optimize": "...solvers.optimisation",
    "scipy.integrate": "...solvers.integrals",
}
"""Where the equivalents of modules are, most of which most programs do without.

Those that are written over derivatives stand above this module, and are named, not imported.
"""


def stand_in_for(function: Any) -> Callable[..., Any] | None:
    """What stands for a function, if anything does."""
    return next((b for a, b in EQUIVALENTS if a is function), None) or late_equivalent(function)


registry.polyfills.append(stand_in_for)


def late_equivalent(function: Any) -> Callable[..., Any] | None:
    """What stands for a function of a module that is looked at only when it is used."""
    module = str(getattr(function, "__module__", None) or type(function).__module__)
    for name, table in _LATE.items():
        if module == name or module.startswith(f"{name}."):
            return _table(table).get(id(function)) or _of_object(name, function)
    return None


_OF_OBJECTS = {
    "tqdm": "tqdm",
    **dict.fromkeys(("concurrent.futures", "multiprocessing", "joblib"), "stdlib.pools"),
    "scipy.stats": "scipy.distributions",
    "scipy.interpolate._fitpack2": "scipy.curves.fitpack",
    "scipy.interpolate._rbfinterp": "scipy.curves.scattered",
    "scipy.interpolate._interpnd": "scipy.curves.scattered",
    "scipy.interpolate._rgi": "scipy.curves.grids",
    "scipy.interpolate": "scipy.curves.interpolate",
    "scipy.spatial": "scipy.spatial",
}
"""Where it is said what stands for objects that can be called, and for their methods."""


def _of_object(module: str, function: Any) -> Callable[..., Any] | None:
    if module not in _OF_OBJECTS:
        return None
    return importlib.import_module(f".{_OF_OBJECTS[module]}", __package__).equivalent_of(function)


@functools.cache
def _table(name: str) -> dict[int, Callable[..., Any]]:
    module = importlib.import_module(name if name.startswith(".") else f".{name}", __package__)
    return {id(function): equivalent for function, equivalent in module.EQUIVALENTS}
