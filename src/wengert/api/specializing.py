"""Derivatives for arguments of some kinds only: functions with the code that is generated for these."""

from __future__ import annotations

import functools
import types
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Protocol, cast

from ..backends import python as printer
from ..compile import calling, engine
from ..compile.wanted import Verb
from ..errors import BadArgument
from ..frontend.boundary.no_code import OfAnotherLibrary
from .texts import Source, saved

if TYPE_CHECKING:
    import pathlib

    from .derivative import Derivative


class Specialized(Protocol):
    """A derivative function for arguments of some kinds: the generated function itself.

    It is a bound method of a `Specialization`: calling that costs nothing, and it can be pickled.
    """

    source: str
    function: Callable[..., Any]
    verb: Verb

    def __call__(self, *args: Any, **kwargs: Any) -> Any: ...

    def save(self, path: str | pathlib.Path) -> pathlib.Path:
        """Write `source` to a file; gives its path."""
        ...

    def specialize(self, *args: Any, **kwargs: Any) -> Specialized:
        """The same derivative for arguments of other kinds."""
        ...


class Specialization:
    """Of which derivative a specialised function is, and for what example arguments."""

    derives = True

    def __init__(self, origin: Derivative[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]):
        self.origin = origin
        self.args = args
        self.kwargs = kwargs

    def method(self) -> Specialized:
        """The specialised function."""
        origin = self.origin
        args = origin.primals(self.args)
        try:
            derived, written = engine.derive_to_keep(
                origin.verb, origin.function, args, self.kwargs
            )
        except OfAnotherLibrary as met:
            raise BadArgument(
                f"what `specialize` writes is code for NumPy, and this is a {type(met.array).__name__}",
                "Pass an array of NumPy's of the same dtype and rank to read the code; call the derivative itself\n"
                "with arrays of other libraries.",
            ) from None
        text = written.source
        whole = printer.with_options(derived.method, calling.captured_by(origin.function))
        function = self._for_these_only(whole, args)
        function.source = Source(text)  # type: ignore[attr-defined]
        function._repr_html_ = function.source._repr_html_  # type: ignore[attr-defined]
        function.save = functools.partial(saved, text)  # type: ignore[attr-defined]
        function.specialize = origin.specialize  # type: ignore[attr-defined]
        function.function, function.verb = origin.function, origin.verb  # type: ignore[attr-defined]
        return cast(Specialized, types.MethodType(function, self))

    def _for_these_only(self, function: Any, args: Sequence[Any]) -> Any:
        """The function, with a check of the arguments that are known by more than their kinds."""
        origin = self.origin
        expected = calling.known_by_value(origin.function, args, self.kwargs)
        if not expected:
            return function

        @functools.wraps(function)
        def checked(specialization: Specialization, *args: Any, **kwargs: Any) -> Any:
            found = calling.known_by_value(origin.function, origin.primals(args), kwargs)
            calling.must_be_the_same(found, expected)
            return function(specialization, *args, **kwargs)

        return checked

    def __getattr__(self, name: str) -> Any:
        """Unpickling the method asks for it by the name of the generated function."""
        if not name.startswith("_") and "origin" in self.__dict__:
            method = self.method()
            if method.__name__ == name:  # type: ignore[attr-defined]
                return method
        raise AttributeError(name)

    def __repr__(self) -> str:
        return f"<{self.origin!r} specialised>"
