"""Derivatives and native functions in the user's own `@numba.njit` code.

Numba asks a value what it takes it for (`_numba_type_`): here, for a function of its own that calls our machine code.
Which sizes of arrays are the same decides which machine code that is, and is known only when the program runs:
the function looks for it in a table, and has Python enter what is missing. Where native code exits, the Python
form does the call, and raises what it raises.
"""

# Numba has no types, need not be installed, and reads functions of ours that are typed otherwise than they run:
# pyright: reportMissingImports=false, reportUntypedFunctionDecorator=false, reportCallIssue=false
# pyright: reportMissingParameterType=false, reportUnknownParameterType=false

from __future__ import annotations

import inspect
import itertools
import linecache
from collections.abc import Callable, Sequence
from functools import cache, cached_property
from typing import Any

import numba
import numpy as np
from numba import types
from numba.core import errors as numba_errors
from numba.extending import overload

from ..api import gradients
from ..api.derivative import Derivative
from ..api.jitting import Jitted
from ..api.native_forms import specialised
from ..backends.native.emit.llvm_runtime import MEMORY_WORDS
from ..backends.native.form.loopform import CODES, Code
from ..backends.native.lower.calling_convention import (
    ArrayLeaf,
    ArrayResult,
    Leaf,
    NumberLeaf,
    NumberResult,
    Sizes,
    leaf_of,
)
from ..backends.native.prepare.outside import read_from_outside
from ..backends.native.program import function as lowering
from ..backends.native.run import machine
from ..backends.native.run.numba_abi import Flat, Table, flat, key_of, words_of, words_of_array
from ..backends.native.values.values import AN_INTEGER, Unlowered
from ..errors import NotNative, WengertError
from ..ir.types import Kind, Struct
from ..passes.blocks import tidy
from .numba_intrinsics import call_by_address, copied_bytes, found_address, key_of_sizes

MOST_SIZES = 15
"""How many sizes the arrays of a call may have: a pattern of them is one integer."""

_NUMBERS: dict[Any, tuple[Code, Any]] = {
    types.float64: ("f64", 1.5), types.int64: ("i64", 1), types.boolean: ("b1", True),
}  # fmt: skip
_TYPES: dict[Code, Any] = {
    "f64": types.float64, "f32": types.float32, "i64": types.int64, "b1": types.boolean,
}  # fmt: skip


def type_of(value: Any) -> Any:
    """What Numba takes a derivative or a native function for."""
    return types.Dispatcher(_dispatcher(value))


@cache
def _dispatcher(value: Any) -> Any:
    function = value.function if isinstance(value, Jitted) else value

    def stub(*args: Any) -> Any:
        return value(*args)

    @overload(stub)
    def typed(*args: Any) -> Any:  # pyright: ignore[reportUnusedFunction]
        run = _compiled(function, args)

        def call(*args: Any) -> Any:
            return run(*args)

        return call

    names = _names(function)
    if names is None:
        return _made("def call(*args):\n    return stub(*args)\n", {"stub": stub})
    listed = ", ".join(names)
    return _made(f"def call({listed}):\n    return stub({listed})\n", {"stub": stub})


def _names(function: Any) -> list[str] | None:
    """The names of the parameters, by which they can be passed too."""
    try:
        params = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return None
    plain = all(p.kind is p.POSITIONAL_OR_KEYWORD and p.default is p.empty for p in params)
    return [p.name for p in params] if plain else None


_numbers = itertools.count(1)


def _made(text: str, names: dict[str, Any]) -> Any:
    """A function of Numba's from source, which stays readable in tracebacks."""
    path = f"<wengert in numba {next(_numbers)}>"
    linecache.cache[path] = (len(text), None, text.splitlines(keepends=True), path)
    namespace = {**names}
    exec(compile(text, path, "exec"), namespace)  # noqa: S102 - the text is ours
    return numba.njit(namespace["call"])


# --- one function for arguments of some types -------------------------------------------------


class Program:
    """A function for arguments of some types: compiled for each pattern of sizes that turns up.

    Attributes:
        table: where native code finds what has been compiled.
        first: the number of the first leaf that is an argument: values that the function has captured come
            before, those that it reads from outside after them.
        bound: these values.
    """

    def __init__(self, function: Any, args: Sequence[Any]):
        self.function = function
        self.table = Table()
        self._kept: list[Flat] = []
        self._addresses: dict[int, int] = {}
        examples = [_example(arg, k) for k, arg in enumerate(args)]
        contiguous = [getattr(arg, "layout", "C") == "C" for arg in args]
        ir, values = specialised(function, examples)
        self.result = ir.result
        self.first = len(values) - len(read_from_outside(ir)) - len(examples)
        self.bound = {
            k: value
            for k, value in enumerate(values)
            if not self.first <= k < self.first + len(examples)
        }
        self.contiguous = [True] * self.first + contiguous + [True] * len(values)
        self.lowered = self._lowered(ir, values)
        for result in self.lowered.results:
            words_of(result)
        self.leaves = self.lowered.leaves

    def _lowered(self, ir: Any, values: Sequence[Any]) -> lowering.Lowered:
        sizes = Sizes()
        leaves = [self._leaf(k, value, sizes) for k, value in enumerate(values)]
        for leaf in leaves:
            words_of(leaf)
        return lowering.lower(ir, leaves, tidy.dce, machine.target())

    def _leaf(self, k: int, value: Any, sizes: Sizes) -> Leaf:
        leaf = leaf_of(value, sizes)
        if isinstance(leaf, ArrayLeaf):
            own = leaf.contiguous if k in self.bound else self.contiguous[k]
            return ArrayLeaf(leaf.code, leaf.sizes, own)
        return leaf

    def resolve(self, *args: Any) -> int:
        """The machine code for arguments with these sizes, found without Python from now on; -1: none."""
        try:
            ir, values = specialised(self.function, args)
        except (Unlowered, WengertError):
            return -1
        key = key_of([n for x in values if isinstance(x, np.ndarray) for n in x.shape])
        if key not in self._addresses:
            self._addresses[key] = self._compiled(ir, values)
            self.table.add(key, self._addresses[key])
        return self._addresses[key]

    def _compiled(self, ir: Any, values: Sequence[Any]) -> int:
        try:
            lowered = self._lowered(ir, values)
        except Unlowered:
            return -1
        types_now, types_known = (
            list(map(_type_of_result, results))
            for results in (lowered.results, self.lowered.results)
        )
        if types_now != types_known or ir.result != self.result:
            return -1
        self._kept.append(flat(lowered))
        return self._kept[-1].address

    @cached_property
    def _first(self) -> Flat:
        return flat(self.lowered)

    def address(self) -> int:
        """The machine code, where it does not depend on sizes."""
        return self._first.address

    def release(self) -> int:
        """What releases the memory of a call."""
        return self._first.release


def _example(arg: Any, number: int) -> Any:
    """A value of a type of Numba's, with sizes that no other one has."""
    arg = types.unliteral(arg)
    if arg in _NUMBERS:
        return _NUMBERS[arg][1]
    if isinstance(arg, types.Array) and str(arg.dtype) in CODES:
        sizes = [2 + 8 * number + axis for axis in range(arg.ndim)]
        return np.ones(sizes, str(arg.dtype))
    raise Unlowered(f"an argument of Numba's type {arg}")


def _type_of_result(result: Any) -> Any:
    if isinstance(result, ArrayResult):
        return types.Array(_TYPES[result.code], len(result.dims), "C")
    if result.origin == AN_INTEGER:
        return types.int64
    return _TYPES[result.slot.code]


_in_use: list[Program] = []
"""Programs whose machine code Numba's code has the addresses of: they stay."""


@cache
def _compiled(function: Any, args: tuple[Any, ...]) -> Any:
    """A function of Numba's that calls our machine code."""
    try:
        program = Program(function, args)
        _in_use.append(program)
        text, names = _Source(program, len(args)).text()
    except Unlowered as error:
        refused = NotNative(
            f"{getattr(function, '__name__', function)} has no native form: {error}"
        )
        raise numba_errors.TypingError(str(refused)) from None
    except WengertError as error:
        raise numba_errors.TypingError(str(error)) from None
    return _made(text, names)


def _in_python(args: str, function: Callable[..., Any], kind: Any) -> Any:
    """A function of Numba's that has Python call another one."""
    lines = ["    with objmode(result=kind):", f"        result = function({args})"]
    text = "\n".join([f"def call({args}):", *lines, "    return result", ""])
    return _made(text, {"objmode": numba.objmode, "function": function, "kind": kind})


class _Source:
    """Writes the function that puts arguments into words and takes results out of them."""

    def __init__(self, program: Program, count: int):
        self.program = program
        self.args = [f"x{k}" for k in range(count)]
        self.lines: list[str] = []
        self.sizes: list[str] = []

    def text(self) -> tuple[str, dict[str, Any]]:
        program = self.program
        at = self._arguments()
        results = self._results(at)
        total = at + sum(map(words_of, program.lowered.results))
        if len(self.sizes) > MOST_SIZES:
            raise Unlowered("arrays of so many axes, in Numba")
        args, sizes = ", ".join(self.args), ", ".join(self.sizes)
        kind = _numba_type(program.result, iter(map(_type_of_result, program.lowered.results)))
        head = [f"def call({args}):", f"    words = np.empty({max(total, 1)}, np.int64)"]
        head += ["    floats = words.view(np.float64)", "    singles = words.view(np.float32)"]
        known = f"find({program.table.address}, key_of(({sizes},)))" if sizes else program.address()
        tail = [
            f"    address = {known}",
            *(["    if address == 0:", f"        address = resolved({args})"] if sizes else []),
            f"    memory = np.zeros({MEMORY_WORDS}, np.int64)",
            "    status = 1",
            "    if address != -1:",
            "        status = invoke(address, memory.ctypes.data, words.ctypes.data)",
            "    if status != 0:",
            f"        invoke({program.release()}, memory.ctypes.data, words.ctypes.data)",
            f"        return by_python({args})",
            *results,
        ]
        names = {
            "np": np, "find": found_address, "key_of": key_of_sizes, "invoke": call_by_address, "copied": copied_bytes,
            "by_python": _in_python(args, program.function, kind),
        }  # fmt: skip
        if sizes:
            names["resolved"] = _in_python(args, program.resolve, types.int64)
        return "\n".join([*head, *self.lines, *tail, ""]), names

    def _arguments(self) -> int:
        at = 0
        for k, leaf in enumerate(self.program.leaves):
            if k in self.program.bound:
                self._bound(at, leaf, self.program.bound[k])
            else:
                self._argument(at, leaf, self.args[k - self.program.first])
            at += words_of(leaf)
        return at

    def _argument(self, at: int, leaf: Any, name: str) -> None:
        if isinstance(leaf, NumberLeaf):
            self.lines.append(f"    {_word(at, leaf.code)} = {name}")
            return
        rank = len(leaf.sizes)
        self.lines.append(f"    words[{at}] = {name}.ctypes.data")
        for axis in range(rank):
            self.sizes.append(f"{name}.shape[{axis}]")
            self.lines.append(f"    words[{at + 1 + axis}] = {name}.shape[{axis}]")
            stride = f"{name}.strides[{axis}] // {name}.itemsize"
            self.lines.append(f"    words[{at + 1 + rank + axis}] = {stride}")

    def _bound(self, at: int, leaf: Any, value: Any) -> None:
        """A value from outside the function, as it is now: Numba treats global values in the same way."""
        if isinstance(leaf, NumberLeaf):
            self.lines.append(
                f"    {_word(at, leaf.code)} = {value.item() if leaf.numpy else value!r}"
            )
            return
        for number, word in enumerate(words_of_array(value)):
            self.lines.append(f"    words[{at + number}] = {word}")
        self.sizes += map(str, value.shape)

    def _results(self, at: int) -> list[str]:
        lines: list[str] = []
        for k, result in enumerate(self.program.lowered.results):
            if isinstance(result, ArrayResult):
                rank = len(result.dims)
                shape = "".join(f"words[{at + 1 + axis}], " for axis in range(rank))
                dtype = "bool_" if result.code == "b1" else str(_TYPES[result.code])
                lines += [
                    f"    r{k} = np.empty(({shape}), np.{dtype})",
                    f"    copied(r{k}.ctypes.data, words[{at}], r{k}.size * r{k}.itemsize)",
                ]
            elif isinstance(result, NumberResult):
                number = _word(at, result.slot.code)
                integer = result.origin == AN_INTEGER
                lines.append(f"    r{k} = {f'np.int64({number})' if integer else number}")
                if result.slot.code == "b1":
                    lines[-1] = f"    r{k} = {number} != 0"
            at += words_of(result)
        lines.append(f"    invoke({self.program.release()}, memory.ctypes.data, words.ctypes.data)")
        names = (f"r{k}" for k in range(len(self.program.lowered.results)))
        lines.append(f"    return {_put_together(self.program.result, names)}")
        return lines


def _word(at: int, code: Code) -> str:
    match code:
        case "f64":
            return f"floats[{at}]"
        case "f32":
            return f"singles[{2 * at}]"
        case _:
            return f"words[{at}]"


def _put_together(kind: Kind, names: Any) -> str:
    if not isinstance(kind, Struct):
        return next(names)
    if kind.form != "tuple":
        raise Unlowered(f"a result that is a {kind.form}, in Numba")
    return f"({''.join(_put_together(item, names) + ', ' for item in kind.items)})"


def _numba_type(kind: Kind, found: Any) -> Any:
    if not isinstance(kind, Struct):
        return next(found)
    return types.Tuple([_numba_type(item, found) for item in kind.items])


# --- wengert's own functions in such code -----------------------------------------------------


def register() -> None:
    """Teach Numba `wg.grad(f)` and `wg.value_and_grad(f)` inside its code; Numba calls this by itself."""
    for derive in (gradients.grad, gradients.value_and_grad):
        _teach(derive)


@cache
def _teach(derive: Callable[..., Any]) -> None:
    @overload(derive)
    def typed(f):  # without types: Numba compares the signatures word by word
        if not isinstance(f, types.Dispatcher):
            return None
        made = _derivative(derive, f.dispatcher)
        return lambda f: made


@cache
def _derivative(derive: Callable[..., Any], dispatcher: Any) -> Any:
    function: Derivative[..., Any] = derive(dispatcher.py_func)
    return _dispatcher(function)


register()
