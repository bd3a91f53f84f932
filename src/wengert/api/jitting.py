"""`jit`: native code for a function, or for a derivative of one."""

from __future__ import annotations

import functools
import types
import warnings
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, ParamSpec, Self, TypeVar, overload

from ..backends.native.run.answers import EXITED, Answer, interrupts
from ..backends.native.run.vectorcall import quickly_called
from ..compile import calling
from ..compile.native_globals import read_from
from ..compile.ready import check_of_call
from ..compile.wanted import Verb
from ..errors import BadArgument, NativeWarning, NotNative, WengertError
from ..frontend.boundary import signature
from ..frontend.boundary.kind_checks import KindCheck, NoLeaves
from ..frontend.boundary.no_code import OfAnotherLibrary
from ..frontend.domain.values import Args, Kwargs, Native, Value
from ..frontend.machine.interpreter import Interpreter
from ..intrinsics import nested
from ..ir.types import Static, Struct
from . import native_forms as forms
from .derivative import Derivative, in_its_library
from .texts import Text

if TYPE_CHECKING:
    from ..backends.native.run.kernel import Kernel
    from .native_forms import Form, Needless, Refused

P = ParamSpec("P")
T = TypeVar("T")

MOST_QUICK = 4
"""How many native forms of one function are tried without looking at the kinds of the arguments."""


Quick = tuple[Callable[[], bool], Any, "Kernel | None"]
"""Whether a native form is in force, what to call then, and the code that this must not outlive."""


class Route(NamedTuple):
    """A quick way to a native form for arguments that are not leaves themselves, or not all of them.

    Attributes:
        form: the native form.
        take: gives the leaves of arguments and of what the function has captured.
        places: how many arguments are passed by position.
        names: the arguments that are passed by name, in order; they are the last ones.
        outside: the global values that the program reads.
    """

    form: Form
    take: Callable[..., list[Any] | None]
    places: int
    names: tuple[str, ...]
    outside: tuple[tuple[Any, str], ...]

    def leaves(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Any] | None:
        """What to pass to the native form; None if the arguments are not built as it expects."""
        if len(args) != self.places or len(kwargs) != len(self.names):
            return None
        if kwargs and tuple(sorted(kwargs)) != self.names:
            return None
        try:
            found = self.take(*args, **kwargs)
            if found is not None and self.outside:
                found += [read_from(holder, key) for holder, key in self.outside]
        except (ValueError, LookupError, AttributeError, TypeError):
            return None  # a name, or a part, is not there
        return found


class Fallback(NamedTuple):
    """A quick way to the Python form, for arguments that have no native one.

    Attributes:
        shape: how many arguments there are, and their names.
        fits: says whether arguments are like those that came to it; None as long as these came once.
        reason: why there is no native form.
    """

    shape: tuple[Any, ...]
    fits: Callable[..., Any] | None
    reason: Refused | Needless


class Jitted(Generic[P, T]):
    """A function that runs as native code; where it cannot, its Python form runs.

    Attributes:
        function: what it was made from.
        strict: whether it raises where there is no native form.
        parallel: whether loops are spread over threads.
        exits: how many calls the Python form had to finish: one that raises, or leaves 64 bits.
    """

    def __new__(cls, *_: Any, **__: Any) -> Self:
        return object.__new__(quickly_called(cls))

    def __init__(
        self, function: Callable[..., Any], *, strict: bool = False, parallel: bool = False
    ):
        calling.must_be_function(function)
        self.function = signature.compiled_from(function)
        self.strict = strict
        self.parallel = parallel
        self.exits = 0
        self._forms: dict[Any, Form | Refused | Needless] = {}
        self._quick: tuple[Quick, ...] = ()
        self._ways: list[tuple[Any, ...]] = []  # all there were: another thread may be in one
        self._routes: tuple[Route, ...] = ()
        self._fallbacks: tuple[Fallback, ...] = ()
        functools.update_wrapper(self, self.function, updated=())

    @property
    def py_func(self) -> Callable[..., Any]:
        """What it was made from, by the name that Numba has for it."""
        return self.function

    @property
    def _numba_type_(self) -> Any:
        """What Numba takes it for in code of its own."""
        return import_module("..interop.numba_extension", __package__).type_of(self)

    def of_derivative(self, verb: Verb, cls: type[Derivative[..., Any]]) -> Jitted[..., Any]:
        """The native form of a derivative: what `wg.grad` and its kin give for a native function."""
        derivative = cls(self.function, verb)
        return Jitted(derivative, strict=self.strict, parallel=self.parallel)

    # --- calling --------------------------------------------------------------------------

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> T:
        """A call; once there is a native form, calls go to that first (`_make_quick`)."""
        return self._call(args, kwargs)

    def _call(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if interrupts:
            raise interrupts.pop()
        for quick in self._quick if not kwargs else ():
            in_force, entry, _kernel = quick
            if in_force():
                found = entry(*args)
                if found is EXITED:
                    return self._left(args, kwargs)
                if found.__class__ is not Answer:
                    return found
        for route in self._routes:
            leaves = route.leaves(args, kwargs)
            if leaves is not None and route.form.in_force():
                found = route.form.entry(*leaves)
                if found is EXITED:
                    return self._left(args, kwargs)
                if found.__class__ is not Answer:
                    return found
        if isinstance(self.function, Derivative):
            args, kwargs = self.function.placed(args, kwargs)
        if self._fallbacks and self._falls_back(args, kwargs):
            return self.function(*args, **kwargs)
        try:
            form = self._form(args, kwargs)
        except WengertError as refusal:
            if self.strict:
                raise
            if isinstance(refusal, OfAnotherLibrary) and not isinstance(self.function, Derivative):
                return in_its_library().value(self.function, args, kwargs, refusal.array)
            return self.function(*args, **kwargs)
        if not isinstance(form, forms.Form):
            if self.strict and isinstance(form, forms.Refused):
                raise form.reason
            self._make_fallback(form, args, kwargs)
            return self.function(*args, **kwargs)
        values = list(forms.leaves_of(form.function, self.function, args, kwargs))
        if form.reads_outside and not form.kernel.fits(values):
            self._forms.clear()
            return self._call(args, kwargs)
        found = form.kernel.call(values)
        if found is EXITED:
            return self._left(args, kwargs)
        return form.assemble(iter(found))

    def _left(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """What native code has left to the Python form."""
        if interrupts:
            raise interrupts.pop()
        self.exits += 1
        return self.function(*args, **kwargs)

    def _form(self, args: Sequence[Any], kwargs: dict[str, Any]) -> Form | Refused | Needless:
        key = forms.key_of(self.function, args, kwargs)
        found = self._forms.get(key)
        if found is None or not found.in_force():
            found = self._make(args, kwargs, key)
            replaced = self._forms.pop(key, None)
            if isinstance(replaced, forms.Form):
                replaced.kernel.keep_nothing()
            self._forms[key] = found
            if isinstance(found, forms.Refused) and not self.strict:
                warnings.warn(NativeWarning(str(found.reason)), stacklevel=4)
        return found

    def _make(
        self, args: Sequence[Any], kwargs: dict[str, Any], key: Any
    ) -> Form | Refused | Needless:
        options: dict[str, bool] = {"strict": self.strict, "parallel": self.parallel}
        form = forms.native_form_of(self.function, args, kwargs, key, **options)
        if isinstance(form, forms.Form) and not self._make_quick(form, args, kwargs):
            self._make_route(form, kwargs)
        return form

    def _falls_back(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
        """Whether arguments like these have come to the Python form twice."""
        target, shape = forms.target_of(self.function), (len(args), *kwargs)
        for expected, fits, reason in self._fallbacks:
            if fits is not None and shape == expected and reason.in_force():
                if fits(target, *args, *kwargs.values()):
                    return True
        return False

    def _make_fallback(
        self, reason: Refused | Needless, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> None:
        """The second time that arguments come to the Python form, others like them take a short way to it."""
        met = next((each for each in self._fallbacks if each.reason is reason), None)
        if met is not None and met.fits is not None:
            return  # but these are of other classes
        call, _ = next(key for key, form in self._forms.items() if form is reason)
        fits = (
            check_of_call(call, len(args), kwargs, in_order=True)
            if met is not None and not call.narrow
            else None
        )
        others = [each for each in self._fallbacks if each.reason is not reason]
        made = Fallback((len(args), *kwargs), fits, reason)
        self._fallbacks = (made, *others[: MOST_QUICK - 1])

    def _make_quick(self, form: Form, args: Sequence[Any], kwargs: dict[str, Any]) -> bool:
        """From now on, calls whose arguments are the leaves themselves take a short way.

        The form that was made last is called with nothing in between.
        """
        kinds = [given.kind for given in form.function.inputs]
        plain = len(kinds) == len(args) and not any(isinstance(k, (Struct, Static)) for k in kinds)
        if not plain or kwargs or form.reads_outside:
            return False
        quick = (form.in_force, form.entry, form.kernel)
        self._quick = (quick, *self._quick[: MOST_QUICK - 1])
        if form.kernel.entry is None:
            return True
        otherwise = functools.partial(Jitted.__call__, self)
        self._ways.append(form.kernel.called_by(self, form.in_force, form.identities, otherwise))
        return True

    def _make_route(self, form: Form, kwargs: dict[str, Any]) -> None:
        """From now on, calls whose arguments are built like these take a short way."""
        target = forms.target_of(self.function)
        names = list(calling.captured_by(target))
        if names and not isinstance(target, types.FunctionType):
            return
        closure = (
            dict(zip(target.__code__.co_freevars, target.__closure__ or (), strict=True))
            if names
            else {}
        )
        inputs = form.function.inputs
        given = [f"given{k}" for k in range(len(inputs) - len(names) - len(kwargs))]
        take = KindCheck([*given, *sorted(kwargs)], leaves=True)
        cells = [f"{take.constant(closure[name])}.cell_contents" for name in names]
        try:
            for text, each in zip((*cells, *given, *sorted(kwargs)), inputs, strict=True):
                take.ask(text, each.kind)
        except NoLeaves:
            return
        outside = tuple(forms.read_from_outside(form.function))
        route = Route(form, take.made(), len(given), tuple(sorted(kwargs)), outside)
        self._routes = (route, *self._routes[: MOST_QUICK - 1])

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        return self if instance is None else functools.partial(self, instance)

    def __repr__(self) -> str:
        return f"<jit of {calling.shown(self.function)}>"

    def __reduce__(self) -> Any:
        make = functools.partial(Jitted, strict=self.strict, parallel=self.parallel)
        return make, (self.function,)

    # --- reading --------------------------------------------------------------------------

    def explain(self, *args: P.args, **kwargs: P.kwargs) -> Text:
        """Whether arguments like these run natively, or why they do not, and how they run then.

        Without arguments: whether those met so far do.
        """
        if not args and not kwargs:
            return Text(
                "\n".join(forms.told(call, form) for (call, _), form in self._forms.items())
            )
        given, named = tuple(args), dict(kwargs)
        if isinstance(self.function, Derivative):
            given, named = self.function.placed(given, named)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", NativeWarning)
            form = self._form(given, named)
        told = forms.told(forms.key_of(self.function, given, named)[0], form)
        if isinstance(form, forms.Refused) and isinstance(self.function, Derivative):
            told += f"\n\nThe Python form: {self.function.explain(*given, **named)}"
        return Text(told)

    @property
    def source(self) -> str:
        """The native form that was made last, in the typed loop form."""
        from ..backends.native.form.looptext import show

        return Text(show(self._latest().kernel.lowered.procedures))

    @property
    def c_source(self) -> str:
        """The native form that was made last, as one C99 file that needs the C library alone."""
        from ..backends.native.emit.ccode import program

        try:
            return Text(program(self._latest().kernel.lowered))
        except forms.Unlowered as error:
            raise NotNative(f"{calling.name_of(self.function)}: {error.reason}") from None

    @property
    def llvm(self) -> str:
        """The native form that was made last, as LLVM IR before optimisation."""
        return Text(self._latest().kernel.llvm)

    def _latest(self) -> Form:
        for form in reversed(self._forms.values()):
            if isinstance(form, forms.Form):
                return form
        raise BadArgument(
            f"{calling.name_of(self.function)} has no native form yet",
            "It is made for the arguments of a call: call the function first.",
        )


@overload
def jit(f: Callable[P, T], *, strict: bool = False, parallel: bool = False) -> Jitted[P, T]: ...
@overload
def jit(
    f: None = None, *, strict: bool = False, parallel: bool = False
) -> Callable[[Callable[P, T]], Jitted[P, T]]: ...
def jit(
    f: Callable[..., Any] | None = None, *, strict: bool = False, parallel: bool = False
) -> Any:
    """The same function as native code, made anew for each combination of argument types.

    It gives the same results, of the same types, and raises the same exceptions. Where there is no
    native form, or the result is not a machine number, the Python form runs. Needs llvmlite, which
    `pip install 'wengert[native]'` brings.

    Args:
        f: a function of numbers, NumPy arrays (of any shapes; `float64`, `float32`, `int64` or `bool`)
            and containers of known length, or a derivative: `wg.grad(g)`, `wg.value_and_grad(g)` …
            Left out when `jit(strict=True)` is used as a decorator.
        strict: whether to raise where there is no native form, instead of running the Python form.
        parallel: whether to spread loops whose iterations are independent, sums aside, over threads where
            there is enough to do: `for` loops, and array expressions. The result is the same to rounding.

    Returns:
        A function of the same arguments. It has `.source`, `.c_source` and `.llvm` (the native form as
        text, once it has been called), `.explain()`, `.exits` and `.function`. Its derivatives are native.

    Raises:
        NotNative: with `strict`, on a call; says which line has no native form, and why.

    Warns:
        NativeWarning: without `strict`, where the Python form runs instead; once for each combination
            of argument types.

    >>> import wengert as wg
    >>> square = wg.jit(lambda x: x * x)
    >>> square(3.0), wg.grad(square)(3.0)
    (9.0, 6.0)
    """
    if f is None:
        return functools.partial(jit, strict=strict, parallel=parallel)
    return Jitted(f, strict=strict, parallel=parallel)


def _read(it: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    """`jit(f)` inside a program that is read: the function itself, which becomes part of the program."""
    return args[0] if args else Native("jit", lambda it, args, kwargs: args[0])


nested.special(jit, _read)
