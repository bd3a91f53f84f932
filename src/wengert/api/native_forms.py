"""Native forms: what is made of a function for arguments of some types, or why nothing is."""

from __future__ import annotations

import types
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

from ..backends.native.prepare.outside import read_from_outside
from ..backends.native.program import calls_out, function as lowering
from ..backends.native.program.function import Lowered
from ..backends.native.run import machine
from ..backends.native.run.answers import OTHER_TYPES, Answer
from ..backends.native.run.kernel import Kernel, signature_of
from ..backends.native.run.vectorcall import Identities
from ..backends.native.values.values import Unlowered
from ..compile import calling, engine
from ..compile.calling import Call
from ..compile.derived import Derived
from ..compile.native_globals import read_from, with_parts_of_globals
from ..compile.user_rules import with_own_code
from ..compile.wanted import Verb, check_argnums
from ..errors import InternalError, NotNative, NotScalar, WengertError
from ..frontend.boundary import taking_apart
from ..ir.graph import Function
from ..ir.types import Kind, Static, Struct
from ..passes.blocks import tidy
from .derivative import Derivative

_INSTALL = "The Python form runs instead. `pip install 'wengert[native]'` brings llvmlite."
_HINT = (
    "The Python form runs instead (with `strict=True` this is an error). Native code works on floats,\n"
    "complex numbers, integers, truth values, NumPy arrays of them, and containers of known length."
)


class Form(NamedTuple):
    """The native form for arguments of some types.

    Attributes:
        kernel: the machine code.
        function: the IR that it was made from.
        in_force: says whether nothing that it relied on has changed.
        identities: where they hold, it is in force; nothing if that cannot be said so.
        reads_outside: whether it is given global values beside its arguments.
        assemble: puts a result together from its leaves.
    """

    kernel: Kernel
    function: Function
    in_force: Callable[[], bool]
    identities: Identities
    reads_outside: bool
    assemble: Callable[[Iterator[Any]], Any]

    @property
    def entry(self) -> Callable[..., Any]:
        """What takes the leaves of a call and gives its result, or an `Answer`."""
        return self.kernel.entry or self._by_leaves

    def _by_leaves(self, *leaves: Any) -> Any:
        give = self.kernel.leaves_entry or self._by_python
        found = give(*leaves)
        return found if found.__class__ is Answer else self.assemble(iter(found))

    def _by_python(self, *leaves: Any) -> Any:
        return self.kernel.call(leaves) if self.kernel.fits(leaves) else OTHER_TYPES


class Refused(NamedTuple):
    """Why there is no native form for arguments of some types."""

    reason: WengertError
    in_force: Callable[[], bool]


class Needless(NamedTuple):
    """A native form that would do little else than call Python, and what it would call."""

    called: str
    in_force: Callable[[], bool]


def key_of(function: Any, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
    """What the native form depends on: the kinds of the call, and the types of its leaves."""
    target = target_of(function)
    call = calling.call_of(target, args, kwargs)
    inputs = zip(_inputs(target, args, kwargs), _kinds(call), strict=True)
    values = [leaf for value, kind in inputs for leaf in taking_apart.leaf_values(kind, value)]
    try:
        return call, signature_of(values)
    except Unlowered as error:
        return call, error.reason


def native_form_of(
    function: Any,
    args: Sequence[Any],
    kwargs: dict[str, Any],
    key: Any,
    *,
    strict: bool,
    parallel: bool,
) -> Form | Refused | Needless:
    """The native form of a function, or of a derivative, for arguments of the types that `key_of` gave."""
    in_force: Callable[[], bool] = lambda: True
    try:
        _must_be_known(key[1])
        ir, in_force, identities = _specialised_ir(function, args, kwargs)
        own = not isinstance(function, Derivative)
        _must_be_assembled(ir.result, own=own)
        values = list(leaves_of(ir, function, args, kwargs))
        leaves = signature_of(values)
        target = machine.target()
        lowered = lowering.lower(ir, leaves, tidy.dce, target, parallel=parallel, own=own)
        if strict:
            calls_out.must_not_be_in_loops(lowered.procedures, lowered.calls_out)
        if not calls_out.saves_time(ir, lowered.calls_out.values()):
            return Needless(_called(lowered), in_force)
        kernel = Kernel(lowered, ir.result)
    except Unlowered as error:
        message = f"{calling.name_of(function)} has no native form: {error.reason}"
        return Refused(NotNative(message, _HINT, error.span), in_force)
    except WengertError as error:
        return Refused(error, in_force)
    except ImportError as error:
        return Refused(NotNative(f"llvmlite is not there: {error}", _INSTALL), in_force)
    except Exception as error:
        name = calling.name_of(function)
        message = f"no native form of {name} could be made: {type(error).__name__}: {error}"
        return Refused(InternalError(message), in_force)
    outside, assemble = bool(read_from_outside(ir)), _assembler(ir.result)
    return Form(kernel, ir, in_force, identities, outside, assemble)


def told(call: calling.Call, form: Form | Refused | Needless) -> str:
    kinds = ", ".join(f"{name}: {kind}" for name, kind in call.arguments)
    return f"({kinds}) {_said(form)}"


def _said(form: Form | Refused | Needless) -> str:
    """What a form is, and what it has Python compute."""
    if isinstance(form, Refused):
        return str(form.reason)
    if isinstance(form, Needless):
        return f"Python: native code would do little else than call {form.called}"
    called = _called(form.kernel.lowered)
    return f"native, with calls of Python: {called}" if called else "native"


def _called(lowered: Lowered) -> str:
    return calls_out.described(lowered.procedures, lowered.calls_out)


# --- the program ------------------------------------------------------------------------------


def specialised(function: Any, args: Sequence[Any]) -> tuple[Function, list[Any]]:
    """The IR of a function, or of a derivative, for arguments like these, and the leaves it is given.

    Raises:
        Unlowered: it has no IR of its own, or gives an object.
        WengertError: it cannot be differentiated.
    """
    ir, *_ = _specialised_ir(function, args, {})
    _must_be_assembled(ir.result, own=not isinstance(function, Derivative))
    return ir, list(leaves_of(ir, function, args, {}))


def _specialised_ir(
    function: Any, args: Sequence[Any], kwargs: dict[str, Any]
) -> tuple[Function, Callable[[], bool], Identities]:
    """The IR for arguments like these: of a derivative, or of the function itself; and what says if it is in force."""
    candidates = (Verb("itself"),)
    if isinstance(function, Derivative):
        candidates, function = function.verbs, function.function
    derived = _first_that_fits(candidates, function, args, kwargs)
    ir, *others = derived.functions
    if others:
        raise Unlowered("a derivative in two functions")
    ir, checks = with_own_code(tidy.dce(with_parts_of_globals(ir)))
    in_force = derived.in_force_for(function)
    if not checks:
        return ir, in_force, derived.identities_for(function)
    return ir, lambda: in_force() and all(check() for check in checks), ()


def _first_that_fits(
    candidates: Sequence[Verb], function: Any, args: Sequence[Any], kwargs: dict[str, Any]
) -> Derived:
    *others, last = candidates
    if last.written is not None:
        check_argnums(last, function, args, kwargs)
    for verb in others:
        with suppress(NotScalar):
            return engine.derive_for(verb, function, args, kwargs)
    primals = args[:-1] if last.name == "hvp" else args
    return engine.derive_for(last, function, primals, kwargs)


def _must_be_known(leaves: Any) -> None:
    """Refuse arguments that have no native type: then the reason stands in the place of the types."""
    if isinstance(leaves, str):
        raise Unlowered(leaves)


def _must_be_assembled(kind: Kind, *, own: bool) -> None:
    """Refuse results that are objects of the program's own classes, or functions."""
    if isinstance(kind, Struct):
        if kind.form == "iterator":
            raise Unlowered("a result that is an iterator")
        made = kind.form in ("function", "object", "derivative")
        if made and (own or kind.type not in (None, types.SimpleNamespace)):
            raise Unlowered("a result that is an object")
        for item in kind.items:
            _must_be_assembled(item, own=own)


def _assembler(kind: Kind) -> Callable[[Iterator[Any]], Any]:
    """What puts a result together from its leaves."""
    match kind:
        case Static(value=value):
            return lambda leaves: value
        case Struct():
            parts = list(map(_assembler, kind.items))
            return lambda leaves: taking_apart.container_of(kind, [part(leaves) for part in parts])
        case _:
            return next


# --- what it is given -------------------------------------------------------------------------


def target_of(function: Any) -> Any:
    return function.function if isinstance(function, Derivative) else function


def _inputs(target: Any, args: Sequence[Any], kwargs: dict[str, Any]) -> list[Any]:
    """What a program is given, in the order of the inputs of its IR."""
    captured = calling.captured_by(target)
    return [*captured.values(), *args, *(value for _, value in sorted(kwargs.items()))]


def _kinds(call: Call) -> list[Kind]:
    """The kinds of the inputs of a call, in the same order."""
    match call.target:
        case Struct(form="function", items=items):
            captured = list(items)
        case Struct() as target:
            captured = [target]
        case _:
            captured = []
    return [*captured, *(kind for _, kind in call.arguments), *(kind for _, kind in call.keywords)]


def leaves_of(
    ir: Function, function: Any, args: Sequence[Any], kwargs: dict[str, Any]
) -> Iterator[Any]:
    """The leaves of the arguments, in the order of the parameters of the IR; then global values."""
    for value, given in zip(_inputs(target_of(function), args, kwargs), ir.inputs, strict=True):
        yield from taking_apart.leaf_values(given.kind, value)
    for holder, key in read_from_outside(ir):
        yield read_from(holder, key)
