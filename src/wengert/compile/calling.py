"""What is to be differentiated: a function, and the kinds of the arguments it is called with."""

from __future__ import annotations

import enum
import functools
import inspect
import types
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from ..errors import BadArgument, MixedLibraries, NoSource
from ..frontend.boundary import signature, taking_apart
from ..frontend.boundary.no_code import ForeignArray, computing_in, library_of_arrays
from ..frontend.boundary.partial_kinds import has_unread
from ..frontend.domain.number_classes import is_narrow
from ..frontend.syntax.sources import source_of
from ..ir.graph import Span
from ..ir.records import replace, value_record
from ..ir.types import NONE, UNKNOWN, Kind, Static, Step, Struct, step_into
from ..runtime.containers import own_attributes


@value_record
class Call:
    """The kinds in one call of a function: of the function itself and of every argument."""

    target: Kind
    arguments: tuple[tuple[str, Kind], ...]
    keywords: tuple[tuple[str, Kind], ...] = ()
    narrow: bool = False
    """Whether numbers among the arguments are narrower than Python's: np.float32."""
    defers: bool = False
    """Whether what cannot be read on a path is refused by the runs that take it."""
    namespace: Any = None
    """What stands for NumPy where it runs."""

    @property
    def is_partial(self) -> bool:
        """Whether it is described by some parts of what it holds."""
        named = (*self.arguments, *self.keywords)
        return has_unread(self.target) or any(has_unread(kind) for _, kind in named)


# --- functions that users pass in ---------------------------------------------------------


def must_be_function(function: Any) -> None:
    """Refuse what cannot be called.

    Raises:
        BadArgument: saying what was passed instead of a function.
    """
    if not callable(function):
        raise BadArgument(
            f"wengert differentiates functions, not values of type {type(function).__name__}",
            "Pass the function itself, not its result: `wg.grad(f)(x)`, `wg.gradient(f, x)`.",
        )


def name_of(function: Any) -> str:
    """What messages call a function."""
    name = getattr(function, "__name__", type(function).__name__)
    return "f" if name == "<lambda>" else name


def shown(function: Any) -> str:
    """What a function is called where it is shown: by its name, one of wengert's own as what it is."""
    own = type(function).__module__.partition(".")[0] == __name__.partition(".")[0]
    if own and not isinstance(function, type):
        return repr(function).removeprefix("<").removesuffix(">")
    if isinstance(function, functools.partial):
        return f"partial {shown(function.func)}"
    return getattr(function, "__name__", None) or f"a {type(function).__name__}"


def definition_of(function: Any) -> Span | None:
    """Where a function is defined, if that can be found."""
    if not isinstance(function, types.FunctionType):
        return None
    try:
        source = source_of(function)
    except NoSource:
        return None
    node = source.node
    end = node.end_lineno or node.lineno, node.end_col_offset or node.col_offset
    return Span(source.file, node.lineno, node.col_offset, *end)


# --- describing calls ---------------------------------------------------------------------


def call_of(
    function: Any, args: Sequence[Any], kwargs: Mapping[str, Any], like: Call | None = None
) -> Call:
    """The kinds of a call with these arguments; what is unread in a call `like` it is not looked at.

    Raises:
        MixedLibraries, BadArgument: the arrays among them are not all NumPy's.
    """
    names = argument_names(function, len(args))
    try:
        return _call_of(function, names, args, kwargs, like)
    except ForeignArray:
        inputs = {**dict(zip(names, args, strict=True)), **kwargs, name_of(function): function}
        raise foreign_arrays(inputs) from None


def _call_of(
    function: Any,
    names: Sequence[str],
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
    like: Call | None,
) -> Call:
    likes = {} if like is None else dict((*like.arguments, *like.keywords))
    kinds = tuple(
        (name, signature.kind_of(arg, like=likes.get(name)))
        for name, arg in zip(names, args, strict=True)
    )
    for arg in args:
        signature.refuse_exact_numbers(arg)
    keywords = tuple(
        (name, signature.kind_of(value, like=likes.get(name)))
        for name, value in sorted(kwargs.items())
    )
    narrow = is_narrow([*args, *kwargs.values()])
    target = signature.kind_of(function, like=None if like is None else like.target)
    return Call(target, kinds, keywords, narrow=narrow, namespace=computing_in.get())


def known_by_value(
    function: Any, args: Sequence[Any], kwargs: Mapping[str, Any]
) -> dict[str, Kind]:
    """What is known of arguments beside the types of numbers and arrays: text, functions, classes, lengths."""
    call = call_of(function, args, kwargs)
    known = ((name, _without_leaves(kind)) for name, kind in (*call.arguments, *call.keywords))
    return {name: kind for name, kind in known if kind != UNKNOWN}


def must_be_the_same(found: Mapping[str, Kind], expected: Mapping[str, Kind]) -> None:
    """Refuse arguments of which other things are known than a derivative was specialised for.

    Raises:
        BadArgument: naming the first of them.
    """
    for name, kind in expected.items():
        if found.get(name) != kind:
            raise BadArgument(
                f"this derivative was made for another `{name}`",
                "What `specialize` was given decides which code there is: have it made for this one as well.",
            )


def _without_leaves(kind: Kind) -> Kind:
    match kind:
        case Struct(items=items):
            return replace(kind, items=tuple(map(_without_leaves, items)))
        case Static():
            return kind
        case _:
            return kind if kind == NONE else UNKNOWN


def deferring(call: Call) -> Call:
    """The same call, which is refused only where its run comes to what cannot be read."""
    return replace(call, defers=True)


def taken_apart(
    inputs: Sequence[tuple[str, Kind]], values: Mapping[str, Any]
) -> tuple[tuple[str, Kind], ...]:
    return tuple((name, taking_apart.taken_apart(kind, values[name])) for name, kind in inputs)


def foreign_arrays(inputs: Mapping[str, Any]) -> MixedLibraries | BadArgument:
    """The error for arrays that do not go together, or that nothing is known of."""
    arrays = {
        shown: type(array)
        for name, value in inputs.items()
        for shown, array in arrays_in(value, name)
    }
    found = [f"`{n}` is a {t.__module__}.{t.__qualname__}" for n, t in arrays.items()]
    if len(set(arrays.values())) > 1:
        return MixedLibraries(
            f"arrays of different libraries meet: {', '.join(found)}",
            "Convert them, so that the whole computation stays in one array library.",
        )
    return BadArgument(
        f"arrays of this library are not covered yet: {', '.join(found)}",
        "Pass NumPy arrays: `np.asarray(x)`.",
    )


def arrays_in(value: Any, name: str, depth: int = 0) -> Iterator[tuple[str, Any]]:
    """The arrays in an input, of NumPy's and of other libraries, and how they are reached."""
    if isinstance(value, _NO_ARRAYS) or depth > 6:
        return
    if isinstance(value, np.ndarray) or library_of_arrays(type(value)):
        yield name, value
        return
    inner: dict[str, Any] = {}
    match value:
        case tuple() | list():
            inner = {f"{name}[{k}]": item for k, item in enumerate(value)}
        case dict():
            inner = {f"{name}[{key!r}]": item for key, item in value.items()}
        case types.FunctionType():
            inner = signature.captured_values(value)
        case types.MethodType():
            inner = {name: value.__self__}
        case _:
            inner = {f"{name}.{key}": item for key, item in own_attributes(value).items()}
    for shown, item in inner.items():
        yield from arrays_in(item, shown, depth + 1)


_NO_ARRAYS = (str, bytes, int, float, complex, type(None), type, types.ModuleType, np.generic)


def general_call(function: Any) -> Call:
    """A call about whose arguments nothing is known.

    Raises:
        BadArgument: where a call says how many arguments there are.
    """
    parameters = _parameters(function)
    for p in parameters:
        stars = {p.VAR_POSITIONAL: "*", p.VAR_KEYWORD: "**"}.get(p.kind)
        if stars is not None:
            raise BadArgument(
                f"how many arguments `{stars}{p.name}` stands for is known of a call only",
                "Pass arguments like yours: `wg.grad(f).specialize(*args).source`, `wg.code_adjoint(f, *args)`.",
            )
    keywords = [
        p
        for p in parameters
        if p.kind is p.KEYWORD_ONLY and (p.default is p.empty or _is_display(p.default))
    ]
    return Call(
        signature.kind_of(function),
        tuple((p.name, UNKNOWN) for p in parameters if p.kind in _POSITIONAL),
        tuple((p.name, UNKNOWN) for p in keywords),
    )


def defaults_of(function: Any) -> dict[str, Any]:
    """The defaults of a function's parameters that a text can write out: literals, functions, classes, members."""
    return {p.name: p.default for p in _parameters(function) if _is_written(p.default)}


def _is_written(value: Any) -> bool:
    named = (enum.Enum, type, types.FunctionType, types.BuiltinFunctionType, np.ufunc)
    return _is_display(value) or (isinstance(value, named) and value is not inspect.Parameter.empty)


def _is_display(value: Any) -> bool:
    """Whether a value is one that can be written out: a literal, or a container of literals."""
    if type(value) in (list, tuple):
        return all(map(_is_display, value))
    if type(value) is dict:
        return all(_is_display(part) for item in value.items() for part in item)
    return isinstance(value, (bool, int, float, complex, str, type(None)))


_POSITIONAL = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


def _parameters(function: Any) -> list[inspect.Parameter]:
    try:
        return list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return [inspect.Parameter("x", inspect.Parameter.POSITIONAL_ONLY)]


def _code_of(function: Any) -> types.CodeType | None:
    """The code of a plain function, which says what its parameters are."""
    plain = type(function) is types.FunctionType and not {"__wrapped__", "__signature__"} & set(
        function.__dict__
    )
    return function.__code__ if plain else None


def argument_names(function: Any, count: int) -> list[str]:
    """A name for each positional argument: the parameter's, or the `*args` name with a number."""
    code = _code_of(function)
    if code is not None and count <= code.co_argcount:
        return list(code.co_varnames[:count])
    parameters = _parameters(function)
    names = [p.name for p in parameters if p.kind in _POSITIONAL][:count]
    rest = next((p.name for p in parameters if p.kind is p.VAR_POSITIONAL), "x")
    taken = {p.name for p in parameters}
    k = 0
    while len(names) < count:
        name = f"{rest}_{k}"
        k += 1
        if name not in taken:
            names.append(name)
    return names


# --- what functions have captured ---------------------------------------------------------


def self_contained(call: Call, function: Any) -> Call:
    """A call for a text that is to stand alone: what captured functions captured is written out.

    A number that the function itself captured becomes a parameter with a default; one that a function
    captured that it captured has no place in the signature.
    """
    match call.target:
        case Struct(form="function", keys=keys, items=items) as target:
            steps = [Step("cell", key) for key in keys]
            known = tuple(
                _known(item, taking_apart.step(function, step))
                if isinstance(item, Struct)
                else item
                for item, step in zip(items, steps, strict=True)
            )
            return replace(call, target=replace(target, items=known))
        case _:
            return call


def _known(kind: Kind, value: Any) -> Kind:
    match kind:
        case Struct(keys=keys, items=items):
            inner = (
                _known(item, taking_apart.step(value, step_into(kind, key)))
                for key, item in zip(keys, items, strict=True)
            )
            return replace(kind, items=tuple(inner))
        case _ if isinstance(value, (bool, int, float, complex, str, type(None))):
            return Static(value)
        case _:
            return kind


def captured_literals(function: Any) -> dict[str, Any]:
    """The literal values a function has captured."""
    return {
        name: value
        for name, value in captured_by(function).items()
        if isinstance(value, (bool, int, float, complex, str, type(None)))
    }


def captures(function: Any) -> bool:
    """Whether the published derivative of a function takes anything beside the user's arguments."""
    try:
        return bool(captured_by(function))
    except signature.CarriesDerivatives:
        return True


def captured_by(function: Any) -> dict[str, Any]:
    """What the published derivative of a function takes beside the user's arguments, by name."""
    plain = signature.compiled_from(function)
    if type(plain) is types.FunctionType:
        return signature.captured_values(plain)
    try:
        kind = signature.kind_of(function, like=signature.OUTSIDE)
    except ForeignArray:
        return {}  # whoever calls the derivative is told
    return {"self": function} if isinstance(kind, Struct) else {}
