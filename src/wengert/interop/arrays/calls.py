"""Calls of derivatives with arrays of another library: derived in its namespace, run on what looks like NumPy's."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ...api import linear_maps
from ...api.batches import Batched
from ...api.derivative import ByArrays, Derivative
from ...api.texts import Text
from ...compile import calling, engine
from ...compile.wanted import Verb
from ...frontend.boundary import signature
from ...frontend.boundary.no_code import computing_in, library_of_arrays
from ...ir.types import BOOL, COMPLEX, FLOAT, INT, Array as ArrayKind, Kind
from .duck import Array, Scalar
from .given import Given, bare, wrapped
from .library import device_of, follows_standard, library
from .namespace import Namespace


def called(
    derivative: Derivative[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any], array: Any
) -> Any:
    """What a derivative function gives for arrays of another library.

    Args:
        derivative: as the user called it.
        args: of the call.
        kwargs: of the call.
        array: one that was met, among the arguments or what the function has captured or reads.
    """
    call = _Call(array, derivative.function, args, kwargs)
    function = call.given(derivative.function)
    own = (
        derivative
        if function is derivative.function
        else type(derivative)(function, derivative.verb)
    )
    result = call.run(own, args, kwargs)
    if own is derivative and not kwargs:
        _make_ready(derivative, args, call.space)
    return bare(result)


def pullback(
    f: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any], array: Any
) -> tuple[Any, Callable[..., Any]]:
    """A value, and its pullback, which takes and gives arrays of the library."""
    call = _Call(array, f, args, kwargs)
    y, back = call.run(linear_maps.pullback, (f, *args), kwargs)
    return bare(y), LinearMap(call.space, back)


def pushforward(
    f: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any], array: Any
) -> tuple[Any, Callable[..., Any]]:
    """A value, and its pushforward, which takes and gives arrays of the library."""
    call = _Call(array, f, args, kwargs)

    def both(function: Any, *args: Any, **kwargs: Any) -> Any:
        derived = engine.derive_for(Verb("pushforward"), function, args, kwargs)
        push = linear_maps.Pushforward(function, derived, args, kwargs)
        return itself(function)(*args, **kwargs), push

    y, push = call.run(both, (f, *args), kwargs)
    return bare(y), LinearMap(call.space, push)


def value(f: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any], array: Any) -> Any:
    """What a function gives for arrays of another library."""
    call = _Call(array, f, args, kwargs)
    return bare(call.run(itself(call.given(f)), args, kwargs))


def mapped(
    batched: Batched[...], args: Sequence[Any], kwargs: Mapping[str, Any], array: Any
) -> Any:
    """What a function over a batch gives for arrays of another library."""
    call = _Call(array, batched.function, args, kwargs)
    own = Batched(itself(call.given(batched.function)), *batched.axes)
    return bare(call.run(own, args, kwargs))


def explained(
    derivative: Derivative[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any], array: Any
) -> Text:
    """How a call is computed."""
    call = _Call(array, derivative.function, args, kwargs)
    told = call.run(derivative.explain, args, kwargs)
    return Text(f"{told}\n  computes with {call.space.library.name}")


def itself(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function as it runs in the namespace of its call."""

    def run(*args: Any, **kwargs: Any) -> Any:
        if isinstance(function, Derivative):
            return function(*args, **kwargs)
        derived = engine.derive_for(Verb("itself"), function, args, kwargs)
        return derived.called(args, kwargs, calling.captured_by(function))

    return run


class LinearMap:
    """A linear map of what a program has computed in another library."""

    def __init__(self, space: Namespace, linear: Callable[..., Any]):
        self._space = space
        self._linear = linear

    def __call__(self, *vectors: Any) -> Any:
        inner = [wrapped(self._space, x, move=True) for x in vectors]
        return bare(_in(self._space, self._linear, inner, {}))

    def __repr__(self) -> str:
        return repr(self._linear)


def _in(space: Namespace, run: Callable[..., Any], args: Sequence[Any], kwargs: Any) -> Any:
    token = computing_in.set(space)
    try:
        return run(*args, **kwargs)
    finally:
        computing_in.reset(token)


class _Call:
    """One call, and the namespace in which it computes.

    Raises:
        MixedLibraries: arrays of several libraries, or of several devices, are among what is given.
    """

    def __init__(self, array: Any, function: Any, args: Sequence[Any], kwargs: Mapping[str, Any]):
        names = calling.argument_names(function, len(args))
        given = {**dict(zip(names, args, strict=True)), **kwargs}
        arrays = [x for name, value in given.items() for _, x in calling.arrays_in(value, name)]
        met = {calling.name_of(function): function}
        if not any(x is array for _, x in calling.arrays_in((*args, function), "")):
            met = {"a global": array}
        libraries = {library_of_arrays(type(x)) for x in (*arrays, array)}
        if len(libraries) > 1 or not follows_standard(array):
            raise calling.foreign_arrays({**given, **met})
        self.space = space_of(array)
        for x in arrays:
            self.space.own(x)  # is it on this device?
        self._given = Given(self.space)

    def given(self, x: Any) -> Any:
        """What was given as the program sees it: an object that is given twice is one."""
        return self._given.wrapped(x)

    def run(self, run: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        whole = [self.given(x) for x in args]
        named = {name: self.given(x) for name, x in kwargs.items()}
        try:
            return _in(self.space, run, whole, named)
        finally:  # what it has changed it has changed, also where it raises
            self._given.hand_back()


def space_of(array: Any) -> Namespace:
    """The namespace of the library and the device of an array."""
    key = library_of_arrays(type(array)), device_of(array)
    if key not in _spaces:
        _spaces[key] = Namespace(library(array), key[1])
    return _spaces[key]


_spaces: dict[tuple[str, Any], Namespace] = {}


# --- the short way ---------------------------------------------------------------------------------


class _ByDevices(ByArrays):
    """The same by the devices of the arrays as well."""

    __slots__ = ()

    def kinds(self, args: Sequence[Any]) -> Any:
        return tuple([(x.dtype, x.ndim, device_of(x)) for x in map(args.__getitem__, self.places)])


def _make_ready(derivative: Any, args: Sequence[Any], space: Namespace) -> None:
    """From now on, arguments that are arrays of these kinds, or numbers, take a short way."""
    types = tuple(map(type, args))
    places = tuple(k for k, cls in enumerate(types) if library_of_arrays(cls))
    numbers = all(cls in (float, int) or k in places for k, cls in enumerate(types))
    if not numbers or derivative.verb.name == "hvp" or derivative.verb.by_name:
        return

    def inside(args: Sequence[Any]) -> list[Any]:
        own = {
            id(x): space.own(x) for x in map(args.__getitem__, places)
        }  # one that is given twice is one
        return [own.get(id(x), x) for x in args]

    derived = _in(space, derivative.derived, (inside(args), {}), {})
    ready = derived.ready_for(derivative.function)
    if ready is None:
        return
    in_force, run = ready
    found = derivative.quick.get(types)
    if not isinstance(found, _ByDevices):
        found = derivative.quick[types] = _ByDevices(places)
    is_ready = lambda: _in(space, in_force, (), {})
    found.ready[found.kinds(args)] = is_ready, lambda *args: bare(_in(space, run, inside(args), {}))


# --- kinds -----------------------------------------------------------------------------------------


def _kind_of_array(x: Array, _: int) -> Kind:
    return ArrayKind(x.dtype.name, x.ndim)


def _kind_of_scalar(x: Scalar, _: int) -> Kind:
    return {"b": BOOL, "i": INT, "u": INT, "c": COMPLEX}.get(x.dtype.kind, FLOAT)


signature.describe(Array, _kind_of_array)
signature.describe(Scalar, _kind_of_scalar)
