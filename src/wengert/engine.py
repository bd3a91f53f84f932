"""From a Python function and example arguments to a published derivative function, cached.

A derivative is specialised to the kinds of its arguments, as Julia's generated functions are to
types. What was derived stays in force while the globals it relied on and the table of rules do.
"""

from __future__ import annotations

import inspect
import threading
import types
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from . import nested
from .backends import python as printer
from .errors import BadArgument, MixedLibraries, NoSource, UnsupportedSyntax, WengertError
from .frontends import signature, source
from .frontends.reading import NeedsKnown
from .frontends.sources import source_of
from .ir.builder import Builder, kind_of_atom
from .ir.graph import Atom, Block, Const, Function, Input, Span, Var, walk
from .ir.records import field, mutable_record, replace
from .ir.types import (
    COMPLEX,
    FLOAT,
    INT,
    UNKNOWN,
    Array,
    Kind,
    Number,
    Static,
    Step,
    Struct,
    is_differentiable,
    leaves,
    step_into,
)
from .ops import checks
from .ops.elementwise import to_complex, to_float
from .ops.structure import global_, gradient_kind
from .passes import memory, reverse, tidy
from .passes.remarks import without_remarks
from .passes.residuals import renamed_block
from .passes.written import targets, written
from .rules import registry as rules

CACHE_SIZE = 1024


class Call(NamedTuple):
    """The kinds in one call of a function: of the function itself and of every argument."""

    target: Kind
    arguments: tuple[tuple[str, Kind], ...]
    keywords: tuple[tuple[str, Kind], ...] = ()
    counts: tuple[tuple[str, tuple[Any, ...]], ...] | None = None
    """For one call alone: the whole numbers and shapes among the leaves of every input."""


class Verb(NamedTuple):
    """What is to be derived.

    Attributes:
        name: "grad", "value_and_grad", "pullback", "pushforward", "adjoint" …
        argnums: which positional arguments to differentiate with respect to; None means all.
        single: whether `argnums` was one number, so that the result is one gradient, not a tuple.
        has_aux: whether the function returns `(value, auxiliary data)`.
        order: how many times to differentiate ("derivative").
        written: the Python function that spells out a verb in terms of others ("written").
    """

    name: str
    argnums: tuple[int, ...] | None = None
    single: bool = False
    has_aux: bool = False
    order: int = 1
    written: Callable[..., Any] | None = None


@mutable_record
class Derived:
    """A derivative that is ready to run: the functions that make it up and what they rely on."""

    functions: tuple[Function, ...]
    guards: tuple[tuple[Any, str, Kind], ...]
    generation: int
    defaults: Mapping[str, Any] = field(default_factory=dict[str, Any])
    by_counts: bool = False
    """Whether it is for calls with the same counts only."""
    _printed: tuple[printer.Printed, ...] = ()
    _published: tuple[Callable[..., Any], ...] = ()
    _method: Callable[..., Any] | None = None
    _in_force: Callable[[], bool] | None = None
    _leaves_arguments: bool | None = None

    @property
    def printed(self) -> tuple[printer.Printed, ...]:
        """The functions as Python text."""
        if not self._printed:
            with _lock:
                self._printed = self._printed or printer.render_together(
                    self.functions, defaults=self.defaults
                )
        return self._printed

    @property
    def published(self) -> tuple[Callable[..., Any], ...]:
        """The functions as Python functions."""
        if not self._published:
            with _lock:
                self._published = self._published or tuple(map(printer.publish, self.printed))
        return self._published

    def with_defaults(self, defaults: Mapping[str, Any]) -> Derived:
        """The same derivative, some of its parameters with default values."""
        unused = {
            i.name: None
            for i in self.functions[0].inputs
            if i.how == "captured" and not list(leaves(i.kind))
        }
        return Derived(
            self.functions, self.guards, self.generation, {**unused, **defaults}, self.by_counts
        )

    @property
    def method(self) -> Callable[..., Any]:
        """The function with a parameter before all others that it does not read."""
        if self._method is None:
            with _lock:
                self._method = self._method or printer.publish(self.printed[0], method=True)
        return self._method

    @property
    def run(self) -> Callable[..., Any]:
        return self.published[0]

    @property
    def source(self) -> str:
        """A module that defines the functions and needs NumPy alone."""
        return printer.joint_source(self.printed)

    def must_leave_arguments(self) -> None:
        """Refuse a function that changes an object it is given, or a global one.

        Raises:
            UnsupportedSyntax: it does, so that its caller would have to know.
        """
        if self._leaves_arguments is None:
            function = self.functions[0]
            given = [eqn.outs[0] for eqn in walk(function.body) if eqn.op is global_]
            clobbered = written(function.body).clobbered
            self._leaves_arguments = clobbered.isdisjoint((*function.body.params, *given))
        if not self._leaves_arguments:
            spans = [eqn.span for eqn in walk(self.functions[0].body) if targets(eqn)]
            raise UnsupportedSyntax(
                "this changes an object of the caller, in a function that is known only when the program "
                "runs",
                "Choose the function where wengert can see it: pass it as an argument of its own, or select\n"
                "it with `if` instead of looking it up; or return the new value.",
                next(iter(spans), None),
            )

    def read_from(self) -> list[Any]:
        """The values of the globals that it reads when it runs."""
        return [
            holder.get(key) if isinstance(holder, dict) else getattr(holder, key, None)
            for holder, key, kind in self.guards
            if not isinstance(kind, Static)
        ]

    @property
    def in_force(self) -> Callable[[], bool]:
        """Says whether nothing it relied on has changed since."""
        if self._in_force is None:
            self._in_force = _one_check(self.guards, self.generation)
        return self._in_force

    def ready_for(self, function: Any) -> tuple[Callable[[], bool], Callable[..., Any]] | None:
        """A check that it is still the derivative of a function, and what to call then.

        None where what the function has captured has no kind that is quick to check. Both read
        captured values anew.
        """
        namespace: dict[str, Any] = {"run": self.run}
        names = function.__code__.co_freevars if isinstance(function, types.FunctionType) else ()
        if set(captured_by(function)) != set(names):
            return None
        tests: list[str] = []
        kind = signature.kind_of(function)
        kinds = dict(zip(kind.keys, kind.items, strict=True)) if isinstance(kind, Struct) else {}
        cells = getattr(function, "__closure__", None) or ()
        for n, name in enumerate(names):
            value = cells[n].cell_contents
            test = _test_of_captured(value, kinds[name], n, namespace)
            if test is None:
                return None
            namespace[f"cell{n}"] = cells[n]
            tests.append(test)
        if isinstance(function, types.FunctionType):
            tests.append(_test_of_function(function, "f", namespace))
        check = _one_check(self.guards, self.generation, tests, namespace)
        if not names:
            return check, self.run
        options = ", ".join(f"{name}=cell{n}.cell_contents" for n, name in enumerate(names))
        return check, eval(f"lambda *args: run(*args, {options})", namespace)


_MISSING = object()


def _one_check(
    guards: Sequence[tuple[Any, str, Kind]],
    generation: int,
    more: Sequence[str] = (),
    names_in_more: Mapping[str, Any] = MappingProxyType({}),
) -> Callable[[], bool]:
    """One function that checks all guards, and more: it runs in every call of a derivative."""
    namespace = {"rules": rules.state(), "missing": _MISSING, "still": _still, **names_in_more}
    tests = [f"rules.generation == {generation}", *more]
    for n, (holder, key, kind) in enumerate({(id(g[0]), g[1]): g for g in guards}.values()):
        names = vars(holder) if isinstance(holder, types.ModuleType) else holder
        value = names.get(key, _MISSING) if isinstance(names, dict) else _MISSING
        namespace |= {
            f"holder{n}": holder,
            f"names{n}": names,
            f"kind{n}": kind,
            f"value{n}": value,
        }
        found, slow = f"names{n}.get({key!r}, missing)", f"still(holder{n}, {key!r}, kind{n})"
        if value is not _MISSING and isinstance(kind, Static) and kind.value is value:
            tests.append(f"{found} is value{n}")
        elif type(value) in (float, int, bool, complex) and signature.kind_of(value) == kind:
            tests.append(f"(type({found}) is type(value{n}) or {slow})")
        else:
            tests.append(slow)
    return eval(f"lambda: {' and '.join(tests)}", namespace)


def _test_of_captured(value: Any, kind: Kind, n: int, namespace: dict[str, Any]) -> str | None:
    """Python that says whether captured variable n still has the kind that `value` has."""
    found = f"cell{n}.cell_contents"
    namespace[f"captured{n}"] = value
    if isinstance(kind, Number):
        return f"type({found}) is type(captured{n})"
    if type(value) is np.ndarray:
        namespace[f"dtype{n}"], namespace["ndarray"] = value.dtype, np.ndarray
        same = f"{found}.dtype is dtype{n} and {found}.ndim == {value.ndim}"
        return f"type({found}) is ndarray and {same}"
    if isinstance(value, types.FunctionType) and not value.__closure__:
        return f"{found} is captured{n} and {_test_of_function(value, f'captured{n}', namespace)}"
    if isinstance(
        value, int | tuple | str | types.ModuleType | types.BuiltinFunctionType | np.ufunc | None
    ):
        return f"{found} is captured{n}"
    return None


def _test_of_function(function: types.FunctionType, name: str, namespace: dict[str, Any]) -> str:
    """Python that says whether a function still has the code and the defaults it has now."""
    namespace |= {
        name: function,
        f"{name}_code": function.__code__,
        f"{name}_defaults": function.__defaults__,
    }
    return f"{name}.__code__ is {name}_code and {name}.__defaults__ is {name}_defaults"


def _still(holder: Any, key: str, kind: Kind) -> bool:
    value = (
        holder.get(key, _MISSING) if isinstance(holder, dict) else getattr(holder, key, _MISSING)
    )
    if isinstance(kind, Static):
        return value is kind.value
    return value is not _MISSING and signature.kind_of(value) == kind


_cache: OrderedDict[tuple[Verb, Call], Derived] = OrderedDict()
_lock = threading.RLock()


def derive(verb: Verb, call: Call) -> Derived:
    """The derivative of a function for arguments of some kinds, from the cache where it is there."""
    key = (verb, call)
    found = _cache.get(key)
    if found is not None and found.in_force():
        return found
    with _lock:
        found = _cache.get(key)
        if found is not None and found.in_force():
            return found
        found = _derive(verb, call)
        _cache[key] = found
        _cache.move_to_end(key)
        while len(_cache) > CACHE_SIZE:
            _cache.popitem(last=False)
    return found


def derive_for(
    verb: Verb, function: Any, args: Sequence[Any], kwargs: Mapping[str, Any]
) -> Derived:
    """The derivative for arguments like these."""
    while True:
        try:
            return _derive_for(verb, function, args, kwargs)
        except NeedsKnown as needs:
            signature.must_be_known(needs.template, needs.name)


def _derive_for(
    verb: Verb, function: Any, args: Sequence[Any], kwargs: Mapping[str, Any]
) -> Derived:
    call = call_of(function, args, kwargs)
    if (verb, call) in _by_counts:
        with suppress(WengertError, RecursionError):
            return derive(verb, counted(call, function, args, kwargs))
    try:
        return derive(verb, call)
    except UnsupportedSyntax as refused:
        return _derive_by_counts(refused, verb, call, counted(call, function, args, kwargs))


_by_counts: OrderedDict[tuple[Verb, Call], None] = OrderedDict()
"""What is refused for arguments of some kinds, but not for each call by itself."""


def _derive_by_counts(refused: UnsupportedSyntax, verb: Verb, call: Call, one: Call) -> Derived:
    """The derivative for calls with the counts of this one: their loops are written out.

    Raises:
        UnsupportedSyntax: that cannot be differentiated either.
    """
    try:
        derived = derive(verb, one)
    except (WengertError, RecursionError):
        raise refused from None
    with _lock:
        _by_counts[verb, call] = None
        while len(_by_counts) > CACHE_SIZE:
            _by_counts.popitem(last=False)
    return derived


def _derive(verb: Verb, call: Call) -> Derived:
    generation = rules.generation()
    if verb.written is not None:
        program = _read_written(verb, call)
        derived: tuple[Function, ...] = (tidy.tidy(program.function),)
    else:
        program = read(call)
        derived = VERBS[verb.name](program.function, verb)
    functions = memory.settled_together(map(without_remarks, derived))
    return Derived(functions, program.guards, generation, by_counts=call.counts is not None)


def _read_written(verb: Verb, call: Call) -> source.Program:
    """A verb that is written in Python over the others, applied to a function."""
    whole = Struct("derivative", ("function",), (call.target,), verb)
    program = read(call._replace(target=whole))
    made = program.function
    match call.target:
        case Struct(form="function", keys=keys, items=items):
            captured = tuple(Input(n, k, "captured") for n, k in zip(keys, items, strict=True))
        case Struct():
            captured = (Input("self", call.target, "captured"),)
        case _:
            captured = ()
    written = getattr(verb.written, "__name__", "derivative").lstrip("_")
    name = getattr(getattr(call.target, "type", None), "__name__", None) or "f"
    name = name if name.isidentifier() else "f"
    made = replace(made, name=f"{written}_{name}", inputs=(*captured, *made.inputs[1:]))
    return program._replace(function=made)


def derive_generally(verb: Verb, function: Any) -> Derived:
    """The derivative for arguments of any kinds."""
    derived = derive(verb, self_contained(general_call(function), function))
    return derived.with_defaults({**defaults_of(function), **captured_literals(function)})


def derive_for_text(
    verb: Verb, function: Any, args: Sequence[Any], kwargs: Mapping[str, Any]
) -> Derived:
    """The derivative for arguments like these, to be read or saved rather than called here."""
    call = call_of(function, args, kwargs)
    if (verb, call) in _by_counts:
        call = counted(call, function, args, kwargs)
    return derive(verb, self_contained(call, function)).with_defaults(captured_literals(function))


def self_contained(call: Call, function: Any) -> Call:
    """A call for a text that is to stand alone: what captured functions captured is written out.

    A number that the function itself captured becomes a parameter with a default; one that a function
    captured that it captured has no place in the signature.
    """
    match call.target:
        case Struct(form="function", keys=keys, items=items) as target:
            steps = [Step("cell", key) for key in keys]
            known = tuple(
                _known(item, signature.step(function, step)) if isinstance(item, Struct) else item
                for item, step in zip(items, steps, strict=True)
            )
            return call._replace(target=replace(target, items=known))
        case _:
            return call


def _known(kind: Kind, value: Any) -> Kind:
    match kind:
        case Struct(keys=keys, items=items):
            inner = (
                _known(item, signature.step(value, step_into(kind, key)))
                for key, item in zip(keys, items, strict=True)
            )
            return replace(kind, items=tuple(inner))
        case _ if isinstance(value, bool | int | float | complex | str | None):
            return Static(value)
        case _:
            return kind


def captured_literals(function: Any) -> dict[str, Any]:
    """The literal values a function has captured."""
    return {
        name: value
        for name, value in captured_by(function).items()
        if isinstance(value, bool | int | float | complex | str | None)
    }


def captured_by(function: Any) -> dict[str, Any]:
    """What the published derivative of a function takes beside the user's arguments, by name."""
    try:
        kind = signature.kind_of(function)
    except signature.ForeignArray:
        return {}  # whoever calls the derivative is told
    match kind:
        case Struct(form="function", keys=keys):
            return {key: signature.step(function, Step("cell", key)) for key in keys}
        case Struct():
            return {"self": function}
        case _:
            return {}


def read(call: Call) -> source.Program:
    """The IR of a call."""
    return source.read(
        call.target,
        call.arguments,
        dict(call.keywords),
        counts=None if call.counts is None else dict(call.counts),
        specials=nested.specials(),
        derivative=nested.derivative,
        opted_out=rules.opted_out,
    )


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


def definition_of(function: Any) -> Span | None:
    """Where a function is defined, if that can be found."""
    if not isinstance(function, types.FunctionType):
        return None
    try:
        node, file = source_of(function)
    except NoSource:
        return None
    end = node.end_lineno or node.lineno, node.end_col_offset or node.col_offset
    return Span(file, node.lineno, node.col_offset, *end)


# --- describing calls ---------------------------------------------------------------------


def call_of(function: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Call:
    """The kinds of a call with these arguments.

    Raises:
        MixedLibraries, BadArgument: the arrays among them are not all NumPy's.
    """
    names = argument_names(function, len(args))
    try:
        return _call_of(function, names, args, kwargs)
    except signature.ForeignArray:
        inputs = {**dict(zip(names, args, strict=True)), **kwargs, name_of(function): function}
        raise _foreign_arrays(inputs) from None


def _call_of(
    function: Any, names: Sequence[str], args: Sequence[Any], kwargs: Mapping[str, Any]
) -> Call:
    kinds = tuple((name, signature.kind_of(arg)) for name, arg in zip(names, args, strict=True))
    keywords = tuple((name, signature.kind_of(value)) for name, value in sorted(kwargs.items()))
    return Call(signature.kind_of(function), kinds, keywords)


def counted(call: Call, function: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Call:
    """The same call with its counts; its lists are taken apart, however long they are."""
    values = dict(zip((name for name, _ in call.arguments), args, strict=True))
    arguments = _taken_apart(call.arguments, values)
    keywords = _taken_apart(call.keywords, kwargs)
    inputs = {**values, **kwargs}
    kinds = {**dict(arguments), **dict(keywords)}
    match call.target:
        case Struct(form="function", keys=keys, items=items):
            kinds |= dict(zip(keys, items, strict=True))
            inputs |= {key: signature.step(function, Step("cell", key)) for key in keys}
        case Struct():
            kinds["self"], inputs["self"] = call.target, function
        case _:
            pass
    counts = tuple((name, signature.counts_of(kind, inputs[name])) for name, kind in kinds.items())
    return call._replace(arguments=arguments, keywords=keywords, counts=counts)


def _taken_apart(
    inputs: Sequence[tuple[str, Kind]], values: Mapping[str, Any]
) -> tuple[tuple[str, Kind], ...]:
    return tuple((name, signature.taken_apart(kind, values[name])) for name, kind in inputs)


def _foreign_arrays(inputs: Mapping[str, Any]) -> MixedLibraries | BadArgument:
    arrays = {
        shown: type(array)
        for name, value in inputs.items()
        for shown, array in _arrays_in(value, name)
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


def _arrays_in(value: Any, name: str, depth: int = 0) -> Iterator[tuple[str, Any]]:
    """The arrays in an input, and how they are reached."""
    if isinstance(value, np.generic) or depth > 6:
        return
    if hasattr(type(value), "__array_namespace__"):
        yield name, value
        return
    inner: dict[str, Any] = {}
    match value:
        case tuple() | list():
            inner = {f"{name}[{k}]": item for k, item in enumerate(value)}
        case dict():
            inner = {f"{name}[{key!r}]": item for key, item in value.items()}
        case types.FunctionType():
            captured = inspect.getclosurevars(value).nonlocals
            inner = dict(captured)
        case _:
            inner = {f"{name}.{key}": item for key, item in getattr(value, "__dict__", {}).items()}
    for shown, item in inner.items():
        yield from _arrays_in(item, shown, depth + 1)


def general_call(function: Any) -> Call:
    """A call about whose arguments nothing is known."""
    positional = [p for p in _parameters(function) if p.kind in _POSITIONAL]
    required = [p for p in _parameters(function) if p.kind is p.KEYWORD_ONLY]
    keywords = tuple((p.name, UNKNOWN) for p in required if p.default is p.empty)
    return Call(signature.kind_of(function), tuple((p.name, UNKNOWN) for p in positional), keywords)


def defaults_of(function: Any) -> dict[str, Any]:
    """The literal defaults of a function's positional parameters."""
    return {
        p.name: p.default
        for p in _parameters(function)
        if p.kind in _POSITIONAL
        and isinstance(p.default, bool | int | float | complex | str | None)
    }


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


# --- verbs --------------------------------------------------------------------------------


class Wanted(NamedTuple):
    """Which leaves of a function's inputs are differentiated, and how their gradients are put together."""

    indices: tuple[int, ...]
    """The differentiable leaves, as indices into the function's parameters."""
    layout: tuple[tuple[Kind, tuple[int | None, ...]], ...]
    """For each argument its kind and, leaf by leaf, which gradient belongs there (None: no gradient)."""


def wanted(function: Function, verb: Verb) -> Wanted:
    """The leaves that a verb differentiates with respect to.

    Raises:
        BadArgument: where `argnums` names an argument that is not there or has no derivative.
    """
    positional = [k for k, i in enumerate(function.inputs) if i.how == "positional"]
    chosen = range(len(positional)) if verb.argnums is None else verb.argnums
    starts = _leaf_starts(function)
    indices: list[int] = []
    layout: list[tuple[Kind, tuple[int | None, ...]]] = []
    for argnum in chosen:
        if not -len(positional) <= argnum < len(positional):
            raise _no_such_argument(argnum, function.name, len(positional))
        k = positional[argnum]
        kind = function.inputs[k].kind
        slots: list[int | None] = []
        for offset, (_, leaf) in enumerate(leaves(kind)):
            if is_differentiable(leaf):
                slots.append(len(indices))
                indices.append(starts[k] + offset)
            else:
                slots.append(None)
        if verb.argnums is not None and not any(s is not None for s in slots):
            raise _not_differentiable(argnum, function.inputs[k].name, kind)
        layout.append((kind, tuple(slots)))
    return Wanted(tuple(indices), tuple(layout))


def check_argnums(verb: Verb, function: Any, args: Sequence[Any]) -> None:
    """Refuse `argnums` that name an argument that is not there or has no derivative.

    Raises:
        BadArgument: saying which.
    """
    arguments = call_of(function, args, {}).arguments
    for argnum in verb.argnums or ():
        if not -len(args) <= argnum < len(args):
            raise _no_such_argument(argnum, name_of(function), len(args))
        name, kind = arguments[argnum]
        if not any(is_differentiable(leaf) for _, leaf in leaves(kind)):
            raise _not_differentiable(argnum, name, kind)


def _no_such_argument(argnum: int, function: str, count: int) -> BadArgument:
    return BadArgument(
        f"`argnums` names argument {argnum}, but {function} was called with "
        f"{checks.counted(count, 'positional argument')}",
        "Arguments count from 0. Pass those to differentiate by position, not by keyword.",
    )


def _not_differentiable(argnum: int, name: str, kind: Kind) -> BadArgument:
    return BadArgument(
        f"`argnums` names argument {argnum} (`{name}`), which is {checks.describe(kind)} and has no "
        "derivative",
        "Choose other `argnums`, or pass a float, a complex number, an array, or a container of these.",
    )


def _leaf_starts(function: Function) -> list[int]:
    starts, total = [], 0
    for input_ in function.inputs:
        starts.append(total)
        total += sum(1 for _ in leaves(input_.kind))
    return starts


def assembled(
    function: Function, outs: Sequence[Atom], kind: Kind, inputs: Sequence[Input] | None = None
) -> Function:
    """A function with its results in the shape the user sees."""
    body = Block(function.body.params, function.body.eqns, tuple(outs))
    return replace(function, body=body, result=kind, inputs=tuple(inputs or function.inputs))


def gradient_outs(bars: Sequence[Atom], want: Wanted) -> tuple[list[Atom], list[Kind]]:
    """Leaves and kinds of the gradients, argument by argument."""
    outs: list[Atom] = []
    kinds: list[Kind] = []
    for kind, slots in want.layout:
        outs += [Const(None) if slot is None else bars[slot] for slot in slots]
        kinds.append(_without_statics(kind))
    return outs, kinds


def _without_statics(kind: Kind) -> Kind:
    """The kind of a gradient: what is known without running has none."""
    match kind:
        case Struct(form=form, items=items):
            inner = tuple(map(_without_statics, items))
            type_ = types.SimpleNamespace if form == "object" else kind.type
            return replace(kind, items=inner, type=type_)
        case Static():
            return Static(None)
        case _:
            return kind


def tuple_kind(kinds: Iterable[Kind]) -> Struct:
    items = tuple(kinds)
    return Struct("tuple", tuple(range(len(items))), items)


def _gradient_kind(kinds: list[Kind], verb: Verb) -> Kind:
    return kinds[0] if verb.single else tuple_kind(kinds)


def _grad(function: Function, verb: Verb) -> tuple[Function, ...]:
    want = wanted(function, verb)
    checks.real_scalar(function, has_aux=verb.has_aux)
    with_value = verb.name == "value_and_grad" or verb.has_aux
    made = reverse.gradient(
        function,
        want.indices,
        read=source.read_row,
        value=with_value,
        seed=lambda builder, out: checks.seed(builder, out, function.name),
    )
    count = len(function.body.outs) if with_value else 0
    made = _with_floats(made, function, want, count)
    primal, bars = list(made.body.outs[:count]), made.body.outs[count:]
    outs, kinds = gradient_outs(bars, want)
    gradient = _gradient_kind(kinds, verb)
    name = f"{'grad' if verb.name == 'grad' else verb.name}_{function.name}"
    made = replace(made, name=name)
    if verb.name == "value_and_grad":
        return (assembled(made, [*primal, *outs], tuple_kind([function.result, gradient])),)
    if verb.has_aux:
        assert isinstance(function.result, Struct)
        aux_kind = function.result.items[1]
        return (assembled(made, [*outs, *primal[1:]], tuple_kind([gradient, aux_kind])),)
    return (assembled(made, outs, gradient),)


def _with_floats(made: Function, function: Function, want: Wanted, count: int) -> Function:
    """The gradients of numbers as Python's floats, where NumPy may have made scalars of its own."""
    if all(eqn.namespace in ("py", "math", "rt") for eqn in walk(made.body)):
        return made
    builder = Builder()
    outs = list(made.body.outs)
    for k, index in enumerate(want.indices, start=count):
        number = function.body.params[index].kind in (FLOAT, INT)
        if number and isinstance(outs[k], Var) and kind_of_atom(outs[k]) == FLOAT:
            outs[k] = builder.emit(to_float, outs[k])
    eqns = (*made.body.eqns, *builder.eqns)
    return replace(made, body=Block(made.body.params, eqns, tuple(outs)))


def _pullback(function: Function, verb: Verb) -> tuple[Function, ...]:
    want = wanted(function, verb)
    ahead, back = reverse.split(function, want.indices, read=source.read_row, final=True)
    residuals = kind_of_atom(ahead.body.outs[-1])
    ahead = assembled(ahead, ahead.body.outs, tuple_kind([function.result, _leaf(residuals)]))
    back = _with_floats(back, function, want, 0)
    outs, kinds = gradient_outs(back.body.outs, want)
    return ahead, assembled(back, outs, tuple_kind(kinds))


def _leaf(kind: Kind) -> Kind:
    return UNKNOWN if isinstance(kind, Struct | Static) else kind


def _pushforward(function: Function, verb: Verb) -> tuple[Function, ...]:
    from .passes import forward

    want = wanted(function, verb)
    made = forward.pushforward(function, want.indices, read=source.read_row)
    count = len(function.body.outs)
    primal, dots = made.body.outs[:count], iter(made.body.outs[count:])
    tangents = [
        next(dots) if is_differentiable(kind_of_atom(out)) else Const(None)
        for out in function.body.outs
    ]
    kind = tuple_kind([function.result, _without_statics(function.result)])
    return (assembled(made, [*primal, *tangents], kind),)


def _derivative(function: Function, verb: Verb) -> tuple[Function, ...]:
    if sum(1 for i in function.inputs if i.how == "positional") != 1:
        raise BadArgument(
            f"`derivative` is for functions of one number; {function.name} was called with "
            f"{checks.counted(sum(1 for i in function.inputs if i.how == 'positional'), 'argument')}",
            "Use `wg.grad(f, argnums=...)`, or fix the other arguments with `functools.partial`.",
        )
    want = wanted(function, verb._replace(argnums=(0,)))
    kind = want.layout[0][0]
    if isinstance(kind, Struct | Array) or len(want.indices) != 1:
        raise BadArgument(
            f"`derivative` is for functions of one number; this argument is {checks.describe(kind)}",
            "Use `wg.grad` for a scalar function of an array, `wg.jacobian` for an array-valued one.",
        )
    made = function
    for _ in range(verb.order):
        made = _tangent_along(made, want.indices[0])
    prefix = "d" if verb.order == 1 else f"d{verb.order}"
    return (replace(made, name=f"{prefix}_{function.name}"),)


def _tangent_along(function: Function, index: int) -> Function:
    """The derivative in one number: the pushforward of the tangent 1."""
    from .passes import forward

    pushed = forward.pushforward(function, [index], read=source.read_row)
    count = len(function.body.params)
    ahead = pushed.body
    mapping: dict[Var, Atom] = {ahead.params[count]: Const(1.0)}
    body = renamed_block(Block(ahead.params[:count], ahead.eqns, ahead.outs), mapping)
    outs = body.outs[len(function.body.outs) :]
    made = Function(
        function.name, function.inputs, Block(body.params, body.eqns, outs), function.result
    )
    return tidy.tidy(made)


def _hvp(function: Function, verb: Verb) -> tuple[Function, ...]:
    """Forward over reverse (Pearlmutter, 1994): no Hessian is formed."""
    from .passes import forward

    want = wanted(function, verb)
    checks.real_scalar(function)
    gradient = reverse.gradient(
        function,
        want.indices,
        read=source.read_row,
        seed=lambda builder, out: checks.seed(builder, out, function.name),
    )
    pushed = forward.pushforward(gradient, want.indices, read=source.read_row)
    builder = Builder()
    products = [
        builder.emit(to_complex, dot)
        if primal.kind == COMPLEX and kind_of_atom(dot) != COMPLEX
        else dot
        for dot, primal in zip(
            pushed.body.outs[len(want.indices) :],
            (function.body.params[k] for k in want.indices),
            strict=True,
        )
    ]
    eqns = (*pushed.body.eqns, *builder.eqns)
    pushed = replace(pushed, body=replace(pushed.body, eqns=eqns))
    kind = want.layout[0][0]
    outs, kinds = gradient_outs(products, want)
    vector = Input("v", _tangent_input(kind))
    inputs = (*_positional_first(function), vector)
    made = replace(pushed, name=f"hvp_{function.name}")
    return (tidy.tidy(assembled(made, outs, kinds[0], inputs)),)


def _positional_first(function: Function) -> tuple[Input, ...]:
    return function.inputs


def _tangent_input(kind: Kind) -> Kind:
    """The kind of a vector that multiplies a derivative in an argument of this kind."""
    match kind:
        case Struct(form=form, keys=keys, items=items, type=type_):
            return Struct(form, keys, tuple(map(_tangent_input, items)), type_)
        case _:
            return gradient_kind(kind) if is_differentiable(kind) else Static(None)


def _adjoint(function: Function, verb: Verb) -> tuple[Function, ...]:
    """The adjoint as a reader wants to see it: the cotangent of the result is an argument."""
    want = wanted(function, verb)
    outs = [k for k, out in enumerate(function.body.outs) if is_differentiable(kind_of_atom(out))]
    if len(outs) != 1:
        return _pullback(function, verb)
    seed = Var(gradient_kind(kind_of_atom(function.body.outs[outs[0]])), "y_bar")
    made = reverse.gradient(
        function,
        want.indices,
        read=source.read_row,
        output=outs[0],
        seed=lambda builder, out: seed,
        maybe_complex=False,
        scalar=isinstance(seed.kind, Number),
    )
    body = Block((*made.body.params, seed), made.body.eqns, made.body.outs)
    made = replace(made, body=body, name=f"adjoint_{function.name}")
    results, kinds = gradient_outs(made.body.outs, want)
    kind = kinds[0] if len(kinds) == 1 else tuple_kind(kinds)
    return (assembled(made, results, kind, (*function.inputs, Input("y_bar", seed.kind))),)


def _itself(function: Function, verb: Verb) -> tuple[Function, ...]:
    return (tidy.tidy(function),)


VERBS: dict[str, Callable[[Function, Verb], tuple[Function, ...]]] = {
    "itself": _itself,
    "grad": _grad,
    "value_and_grad": _grad,
    "pullback": _pullback,
    "pushforward": _pushforward,
    "derivative": _derivative,
    "hvp": _hvp,
    "adjoint": _adjoint,
}
