"""Derivative functions: how they are called, and what they say of themselves."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any, Generic, ParamSpec, TypeVar, cast

import numpy as np

from ..compile import calling, engine, wanted
from ..compile.derived import Derived, traces
from ..compile.patience import LongReading
from ..compile.wanted import Verb
from ..errors import BadArgument, UnsupportedSyntax, WengertError
from ..frontend.boundary.no_code import OfAnotherLibrary, computing_in
from ..frontend.boundary.signature import CarriesDerivatives
from ..ops.program.refusals import REFUSALS
from .presenting import AtUsersFrames, presented
from .specializing import Specialization, Specialized
from .texts import Source, Text, saved

if TYPE_CHECKING:
    import pathlib

P = ParamSpec("P")
T = TypeVar("T")


class Refused(Exception):
    """A call that reading has refused, before anything of the program was run."""

    def __init__(self, refusal: WengertError):
        self.refusal = refusal


def derived_or_refused(
    verb: Verb, function: Any, args: Sequence[Any], kwargs: dict[str, Any]
) -> Derived:
    """The derivative for arguments like these.

    Raises:
        Refused: reading is refused, and a run may be recorded instead.
    """
    may_record = verb.tier != "static" and computing_in.get() is None
    try:
        with AtUsersFrames():
            return engine.derive_for(verb, function, args, kwargs, or_recorded=may_record)
    except REFUSALS as refusal:
        if computing_in.get() is not None and engine.may_be_recorded(refusal):
            raise refusal.also(
                "Or pass arrays of NumPy's, of which a run can be recorded."
            ) from None
        if not may_record or not engine.may_be_recorded(refusal):
            raise
        raise Refused(refusal) from None


def recorded_or_read(
    refusal: WengertError,
    record: Callable[[], T],
    derived: Callable[[], Derived],
    again: Callable[[], T],
) -> T:
    """What recording gives where reading was refused, before anything was run.

    Where recording is refused as well, a program that takes long to read is read, and called `again` if it has
    left no trace.
    """
    try:
        return recorded().after(refusal, record)
    except LongReading as neither:
        try:
            known = derived()
        except Refused:
            raise neither from None
        if known.calls_unknown or not known.is_repeatable:
            raise
    return again()


def by_numbers() -> Any:
    """The verbs by numbers, which few programs need."""
    return import_module("wengert.compile.dual_fallback")


def in_its_library() -> Any:
    """Calls with arrays of other libraries than NumPy."""
    return import_module("wengert.interop.arrays.calls")


def recorded() -> Any:
    """The verbs by recording a run, for what is refused or asked to be recorded."""
    return import_module("wengert.compile.recorded")


class Derivative(Generic[P, T]):
    """A derivative function: call it like the function it was made from.

    It is derived anew for each combination of argument kinds, the first time it meets it.

    Attributes:
        function: the function it was made from.
        verb: what it derives.
    """

    derives = True

    @property
    def _numba_type_(self) -> Any:
        """What Numba takes it for in code of its own."""
        return import_module("..interop.numba_extension", __package__).type_of(self)

    def __new__(cls, function: Callable[..., Any], verb: Verb) -> Any:
        """The derivative of a native function is a native function."""
        if hasattr(type(function), "of_derivative"):
            return cast(Any, function).of_derivative(verb, cls)
        return super().__new__(cls)

    def __init__(self, function: Callable[..., Any], verb: Verb):
        calling.must_be_function(function)
        self.function = function
        self.verb = verb
        functools.update_wrapper(self, function, updated=())
        self.quick: dict[tuple[type, ...], Any] = {}
        self._times_ready = 0
        self._captures = calling.captures(function)

    def _called(self, *args: Any, **kwargs: Any) -> Any:
        tried: Derived | None = None
        before: int | None = None
        refusal: WengertError | None = None
        array: Any = None
        try:
            if not kwargs:
                ready = self.quick.get(tuple(map(type, args)))
                if isinstance(ready, ByArrays):
                    ready = ready.find(args)
                if ready is not None and ready[0]():
                    return ready[1](*args)
            if self.verb.by_name:
                args, kwargs = self.placed(args, kwargs)
            if self.verb.tier == "recorded":
                return recorded().called(self.verb, self.function, args, kwargs)
            if self.verb.written is not None:
                wanted.check_argnums(self.verb, self.function, args, kwargs)
            tried, before = self.derived(args, kwargs), traces()
            return self._call(tried, args, kwargs)
        except OfAnotherLibrary as met:
            array = met.array
        except CarriesDerivatives:
            pass  # out of the handler, so that what fails below does not fail "during" this
        except Refused as refused:
            refusal = refused.refusal
        except Exception as error:
            shown = presented(error, self.function)
            final = self._final(tried, args, kwargs, error, shown, before)
            if final is not None:
                raise final from error.__cause__
            refusal = cast(WengertError, shown)
        if refusal is not None:
            return self._after(refusal, args, kwargs)
        try:
            if array is not None:
                return in_its_library().called(self, args, kwargs, array)
            if recorded().is_recorded(self.function, args, kwargs):
                return recorded().called(self.verb, self.function, args, kwargs)
            return by_numbers().called(self.verb, self.function, args, kwargs)
        except Exception as error:
            raise presented(error, self.function) from error.__cause__

    def _after(self, refusal: WengertError, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """What recording finds where reading was refused, before anything was run."""
        try:
            return recorded_or_read(
                refusal,
                lambda: recorded().called(self.verb, self.function, args, kwargs),
                lambda: self.derived(args, kwargs),
                lambda: self._called(*args, **kwargs),
            )
        except Exception as error:
            raise presented(error, self.function) from error.__cause__

    if TYPE_CHECKING:

        def __call__(self, *args: P.args, **kwargs: P.kwargs) -> T: ...
    else:
        __call__ = _called

    @property
    def verbs(self) -> tuple[Verb, ...]:
        """What it derives: the first of these that the function's result fits."""
        return (self.verb,)

    def _call(self, derived: Derived, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if not kwargs:
            self._make_ready(args, derived)
        captured = calling.captured_by(self.function) if self._captures else {}
        return derived.called(args, kwargs, captured)

    def _final(
        self,
        tried: Derived | None,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        error: Exception,
        shown: Exception,
        before: int | None,
    ) -> Exception | None:
        """What a run that failed has to raise; None if the run was refused and may be recorded instead."""
        if self.verb.tier or not engine.is_refused_by_its_run(error):
            return shown
        try:
            derived = tried or self.derived(args, kwargs)
        except OfAnotherLibrary:
            return shown  # runs are recorded of NumPy's arrays only
        if engine.may_begin_again(derived, error, (*args, *kwargs.values()), before):
            return None
        return cast(WengertError, shown).also(_LEFT_TRACES)

    def placed(
        self, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """The arguments of a call: by position up to those that it differentiates in, if these have names."""
        if not self.verb.by_name:
            return args, kwargs
        from .argnums import parameters_of, placed

        count = len(args) - (self.verb.name == "hvp")
        parameters, places = parameters_of(self.function), self.verb.argnums or ()
        primals, named = placed(parameters, places, args[:count], kwargs)
        return (*primals, *args[count:]), named

    def _make_ready(self, args: tuple[Any, ...], derived: Derived) -> None:
        """From the second call on, arguments whose types say their kinds take a short way."""
        key = tuple(map(type, args))
        arrays = tuple([k for k, type_ in enumerate(key) if type_ is np.ndarray])
        if not _QUICK.issuperset(key) or (arrays and self.verb.name == "hvp"):
            return
        if key not in self.quick or self._times_ready == _MOST_TIMES:
            self.quick.setdefault(key, None)
            return
        self._times_ready += 1
        ready = derived.ready_for(self.function)
        if not arrays:
            self.quick[key] = ready
            return
        found = self.quick[key] or ByArrays(arrays)
        found.ready[found.kinds(args)] = ready
        self.quick[key] = found

    def primals(self, args: Sequence[Any]) -> Sequence[Any]:
        """The arguments of the function itself among those of its derivative."""
        if self.verb.name != "hvp":
            return args
        if len(args) < 2:
            raise BadArgument(
                "a Hessian–vector product takes the arguments of the function and then a vector",
                "Call it like this: `wg.hvp(f)(x, v)`.",
            )
        from ..compile.tangents import leaves_like

        *primals, vector = args
        (argnum,) = self.verb.argnums or (0,)
        if argnum < len(primals):
            name = calling.argument_names(self.function, len(primals))[argnum]
            leaves_like(primals[argnum], vector, "the vector", f"argument {argnum} (`{name}`)")
        return primals

    def derived(self, args: Sequence[Any], kwargs: dict[str, Any]) -> Derived:
        return derived_or_refused(self.verb, self.function, self.primals(args), kwargs)

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        return self if instance is None else functools.partial(self, instance)

    def __repr__(self) -> str:
        name, written = self.verb.name, self.verb.written
        if written is not None:
            own = type(self) is not Derivative  # `Jacobian`, `Hessian`
            name = type(self).__name__.lower() if own else written.__name__.strip("_")
        order = (
            f" of order {self.verb.order}" if name == "derivative" and self.verb.order > 1 else ""
        )
        return f"<{name}{order} of {calling.shown(self.function)}>"

    def _repr_html_(self) -> str | None:
        text = import_module("wengert.api.explaining").text_of(self.verb, self.function)
        return text and Source(text).in_colours()

    def __reduce__(self) -> Any:
        return type(self), (self.function, self.verb)

    @property
    def source(self) -> str:
        """The derivative as runnable Python that needs NumPy alone, good for arguments of any kind.

        Raises:
            WengertError: this cannot be written without knowing the kinds of the arguments.
        """
        try:
            with AtUsersFrames():
                return Source(engine.derive_generally(self.verb, self.function).source)
        except UnsupportedSyntax as refused:
            raise refused.also(
                "Or have it written for arguments like yours: `.specialize(*args).source`."
            ) from None

    def save(self, path: str | pathlib.Path) -> pathlib.Path:
        """Write `source` to a file; gives its path."""
        return saved(self.source, path)

    def explain(self, *args: Any, **kwargs: Any) -> Text:
        """Which tier a call takes (the source is read, or a run recorded), why, and what that relies on.

        Without arguments: of the calls so far.
        """
        explaining = import_module("wengert.api.explaining")
        if not args and not kwargs:
            return Text(explaining.of_calls(self.verb, self.function))
        args, kwargs = self.placed(args, kwargs)
        try:
            return Text(explaining.of_call(self.verb, self.function, self.primals(args), kwargs))
        except OfAnotherLibrary as met:
            array = met.array
        return in_its_library().explained(self, args, kwargs, array)

    def specialize(self, *args: Any, **kwargs: Any) -> Specialized:
        """The same function for arguments of these kinds only, as plain as they allow."""
        with AtUsersFrames():
            return Specialization(self, *self.placed(args, kwargs)).method()


_LEFT_TRACES = (
    "The run was refused after it may have changed what outlives it, and was not begun again. Where recording a\n"
    'run helps, ask for it: `tier="recorded"`.'
)
"""What to do where a run was refused midway."""

_QUICK = frozenset(
    (
        float,
        int,
        complex,
        bool,
        type(None),
        np.float64,
        np.float32,
        np.int64,
        np.complex128,
        np.ndarray,
    )
)
"""Types that say the kind of a value, arrays together with their dtype and rank."""


_MOST_TIMES = 64
"""How often a short way is made: what it relies on may change all the time."""


class ByArrays:
    """What is ready to run for arguments of some types, by the dtypes and ranks of the arrays."""

    __slots__ = ("places", "ready")

    def __init__(self, places: tuple[int, ...]):
        self.places = places
        self.ready: dict[Any, Any] = {}

    def kinds(self, args: Sequence[Any]) -> Any:
        return tuple([(args[k].dtype, args[k].ndim) for k in self.places])

    def find(self, args: Sequence[Any]) -> Any:
        return self.ready.get(self.kinds(args))
