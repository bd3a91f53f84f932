"""NumPy's interface over an array of another library, as far as programs and their derivatives use it.

What NumPy gives as a scalar is a `Scalar` here, also where the library has arrays without axes only: the one
cannot be written to, the other can. Of a library whose arrays cannot be written to, a write makes a new array
and binds it here; a view keeps how it is read from what it is a view of, and how that is written for it.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from ...errors import ImmutableArray, MixedLibraries
from .library import numpy_dtype

if TYPE_CHECKING:
    from .namespace import Namespace

Read = Callable[[Any], Any]
"""From the array of what a view is of to the view's."""
Write = Callable[[Any, Any], Any]
"""From the array of what a view is of, and the new one of the view, to the first as it is then."""


class Duck:
    """What looks like an array or a scalar of NumPy's, and is one of another library."""

    __slots__ = (
        *("__weakref__", "_base", "_read", "_write"),
        *("is_given", "is_ordered", "latest", "place", "root", "space"),
    )
    __hash__ = None  # type: ignore[assignment]

    def __init__(
        self,
        space: Namespace,
        raw: Any,
        base: Duck | None = None,
        read: Read | None = None,
        write: Write | None = None,
    ):
        self.space = space
        self.latest = raw
        self._base = base
        self._read = read
        self._write = write
        self.is_given = False
        self.is_ordered = True
        self.place: tuple[Duck, Any] | None = None
        self.root: Duck = self if base is None else base.root

    @property
    def raw(self) -> Any:
        """The array of the other library."""
        if self._base is not None and self._read is not None:
            self.latest = self._read(self._base.raw)
        return self.latest

    def must_be_writable(self) -> None:
        """Refuse a write that others would not see.

        Raises:
            ImmutableArray: it is an argument, whose holder would not see it, or a view that cannot be written through.
        """
        name = self.space.library.name
        if self._base is not None and self._write is None:
            raise ImmutableArray(
                f"this writes through a view that arrays of {name} cannot share memory with",
                "Write to the array itself by index, or to a copy.",
            )
        if self.root.is_given and not self.space.library.is_mutable:
            raise ImmutableArray(
                f"this writes to an argument, and arrays of {name} cannot be written to",
                "Write to a copy: `x = x.copy()`.",
            )

    def bind(self, raw: Any) -> None:
        """Have it be another array from now on, and with it what it is a view of."""
        if self._base is not None and self._write is not None:
            self._base.bind(self._write(self._base.raw, raw))
        self.latest = raw

    # --- what NumPy's arrays say of themselves --------------------------------------------

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(self.latest.shape)

    @property
    def ndim(self) -> int:
        return len(self.latest.shape)

    @property
    def size(self) -> int:
        size = 1
        for n in self.latest.shape:
            size *= n
        return size

    @property
    def dtype(self) -> np.dtype[Any]:
        return numpy_dtype(self.latest.dtype)

    @property
    def itemsize(self) -> int:
        return self.dtype.itemsize

    @property
    def flags(self) -> Flags:
        return Flags()

    @property
    def T(self) -> Any:  # noqa: N802  # as NumPy calls it
        return self.space.numpy.transpose(self)

    @property
    def real(self) -> Any:
        return self.space.numpy.real(self)

    @property
    def imag(self) -> Any:
        return self.space.numpy.imag(self)

    @property
    def flat(self) -> Iterator[Any]:
        return iter(self.space.numpy.ravel(self))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.latest!r})"

    # --- NumPy's own functions --------------------------------------------------------------

    __array_priority__ = 1000.0

    def __array__(self, *_: Any, **__: Any) -> Any:
        name = self.space.library.name
        raise MixedLibraries(
            f"an array of {name} is written into an array of NumPy's, or read by code that computes with NumPy",
            f"Make that array from one of {name}: `np.zeros_like(x)`, `np.full_like(x, …)`, `np.array([x, …])`.",
        )

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        function = getattr(self.space.numpy, ufunc.__name__)
        if method != "__call__":
            function = getattr(function, method)
        out = options.pop("out", None)
        if out is not None:
            options["out"] = out[0] if isinstance(out, tuple) and len(out) == 1 else out
        return function(*inputs, **options)

    def __array_function__(self, function: Any, _: Any, args: Any, options: Any) -> Any:
        place = self.space.numpy
        inner = function.__module__.removeprefix("numpy").strip(".")
        for part in inner.split(".") if inner in ("linalg", "fft") else ():
            place = getattr(place, part)
        return getattr(place, function.__name__)(*args, **options)

    # --- as Python's ------------------------------------------------------------------------

    def __bool__(self) -> bool:
        return bool(self.raw)

    def __float__(self) -> float:
        return float(self.raw)

    def __int__(self) -> int:
        return int(self.raw)

    def __complex__(self) -> complex:
        return complex(self.raw)

    def __index__(self) -> int:
        if self.dtype.kind not in "iu":
            raise TypeError("only integer scalar arrays can be converted to a scalar index")
        return int(self.raw)

    def __snapshot__(self) -> Any:
        return self.space.numpy.copy(self)

    def __copy__(self) -> Any:
        return self.space.numpy.copy(self)

    def __deepcopy__(self, _: Any) -> Any:
        return self.space.numpy.copy(self)

    @property
    def strides(self) -> tuple[int, ...]:
        """As if it lay in memory row by row: the other libraries say it in other units, or not."""
        found, step = [], self.itemsize
        for n in reversed(self.shape):
            found.append(step)
            step *= n
        return tuple(reversed(found))

    @property
    def is_plain(self) -> bool:
        """Whether its array is its own, or the library shares the memory itself."""
        return self._base is None

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("len() of unsized object")
        return self.shape[0]

    def __iter__(self) -> Iterator[Any]:
        return (self[k] for k in range(len(self)))

    def __contains__(self, x: Any) -> bool:
        return bool((self == x).any())

    def item(self, *place: Any) -> Any:
        one = self[place] if place else self.space.numpy.reshape(self, ())
        return {"f": float, "c": complex, "b": bool}.get(self.dtype.kind, int)(one.raw)

    def tolist(self) -> Any:
        return self.item() if not self.shape else [each.tolist() for each in self]

    # --- items --------------------------------------------------------------------------------

    def __getitem__(self, key: Any) -> Any:
        return self.space.read(self, key)

    # --- methods that NumPy's arrays have beside functions ------------------------------------

    def reshape(self, *shape: Any, order: str = "C", copy: Any = None) -> Any:
        whole = shape[0] if len(shape) == 1 else shape
        return self.space.numpy.reshape(self, whole, order=order)

    def transpose(self, *axes: Any) -> Any:
        whole = axes[0] if len(axes) == 1 else (axes or None)
        return self.space.numpy.transpose(self, whole)

    def astype(self, dtype: Any, *_: Any, copy: bool = True, **__: Any) -> Any:
        return self.space.cast(self, dtype, copy=copy)

    def view(self) -> Any:
        return self[...]

    def flatten(self, order: str = "C") -> Any:
        return self.space.numpy.ravel(self, order).copy()


class Flags:
    """What such an array says of its memory: nothing that one could rely on."""

    owndata = False
    writeable = True
    c_contiguous = False
    f_contiguous = False


def _method(name: str) -> Callable[..., Any]:
    def method(self: Duck, *args: Any, **options: Any) -> Any:
        return getattr(self.space.numpy, name)(self, *args, **options)

    method.__name__ = name
    return method


for each in (
    *("sum", "prod", "mean", "max", "min", "std", "var", "any", "all", "argmax", "argmin", "ptp"),
    *("cumsum", "cumprod", "ravel", "swapaxes", "squeeze", "copy", "dot", "clip", "round"),
    *("conj", "conjugate", "diagonal", "trace", "repeat", "take", "argsort", "nonzero"),
    *("searchsorted",),
):
    setattr(Duck, each, _method(each))


def _binary(symbol: str) -> Callable[[Duck, Any], Any]:
    apply = getattr(operator, symbol)

    def method(self: Duck, other: Any) -> Any:
        return self.space.combined(symbol, apply, self, other)

    return method


def _reflected(symbol: str) -> Callable[[Duck, Any], Any]:
    apply = getattr(operator, symbol)

    def method(self: Duck, other: Any) -> Any:
        return self.space.combined(symbol, apply, other, self)

    return method


for each in (
    *("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul"),
    *("and_", "or_", "xor", "lshift", "rshift"),
):
    bare = each.strip("_")
    setattr(Duck, f"__{bare}__", _binary(each))
    setattr(Duck, f"__r{bare}__", _reflected(each))
for each in ("eq", "ne", "lt", "le", "gt", "ge"):
    setattr(Duck, f"__{each}__", _binary(each))


def _unary(symbol: str) -> Callable[[Duck], Any]:
    apply = getattr(operator, symbol)
    return lambda self: self.space.wrapped(apply(self.raw))


for each in ("neg", "pos", "abs", "invert"):
    setattr(Duck, f"__{each}__", _unary(each))


class Scalar(Duck):
    """What NumPy gives as a scalar."""

    __slots__ = ()


class Array(Duck):
    """An array, also one without axes."""

    __slots__ = ()

    def __setitem__(self, key: Any, value: Any) -> None:
        self.space.write(self, key, value)

    def fill(self, value: Any) -> None:
        self[...] = value

    def sort(self, axis: int = -1, **_: Any) -> None:
        self[...] = self.space.numpy.sort(self, axis)


def _in_place(name: str) -> Callable[[Array, Any], Array]:
    apply = getattr(operator, name)
    in_place = getattr(operator, f"i{name.strip('_')}")

    def method(self: Array, other: Any) -> Array:
        if self.is_plain and self.space.library.is_mutable and self.space.meet_alike(self, other):
            in_place(self.latest, other.raw if isinstance(other, Duck) else other)
            return self
        self.space.write(self, ..., apply(self, other))
        return self

    return method


for each in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "and_", "or_", "xor"):
    setattr(Array, f"__i{each.strip('_')}__", _in_place(each))
