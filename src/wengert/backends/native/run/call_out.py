"""Calls out, as native code reaches them: functions of addresses, which have Python compute an equation.

Each is written as Python for what it is given and gives: between native code and NumPy there is little time to lose.
"""

from __future__ import annotations

import ctypes
import struct
import threading
from collections.abc import Callable
from typing import Any

import numpy as np

from ...python.printed import render
from ...python.publish import publish
from ..emit.llvm_runtime import pointer_of_call_out
from ..form import loopform
from ..lower.words import (
    ArrayWords,
    CallOut,
    ComplexWords,
    ContainerWords,
    KnownWords,
    NumberWords,
    Words,
)
from ..program.function import Lowered
from ..program.read_out import ITEM_TYPES, python_number
from ..values.values import NUMPY, PYTHON
from . import python_objects
from .answers import interrupts
from .machine import Code

_PYTHONS: dict[loopform.Code, type] = {"f64": float, "i64": int, "b1": bool}


class _Other(Exception):
    """Python has given something of another type."""


class Callback:
    """What native code calls for one equation.

    Attributes:
        text: it as Python.
    """

    def __init__(self, call: CallOut):
        writing = _Writing(call)
        self.text = writing.text()
        exec(compile(self.text, f"<call of {call.name}>", "exec"), writing.names)
        kind = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * (call.addresses + 2))
        self._pointer = kind(writing.names["call_out"])

    @property
    def address(self) -> int:
        """Where native code finds it."""
        return ctypes.cast(self._pointer, ctypes.c_void_p).value or 0


def connect(code: Code, lowered: Lowered) -> None:
    """Tell machine code what it calls of Python."""
    for number, call in lowered.calls_out.items():
        code.connect(pointer_of_call_out(number), Callback(call))


def _owner(value: Any, of_python: type, of_numpy: type) -> int:
    """Whose number a result is."""
    if type(value) is of_python:
        return PYTHON
    if type(value) is not of_numpy:
        raise _Other
    return NUMPY


def _strided(address: int, dims: tuple[int, ...], strides: tuple[int, ...], dtype: Any) -> Any:
    """The array whose first element is at an address; strides count elements."""
    steps = [step * dtype.itemsize for step in strides]
    pairs = zip(steps, dims, strict=True)
    back = sum(step * (dim - 1) for step, dim in pairs if step < 0 < dim)
    return np.ndarray(dims, dtype, _memory(address + back), -back, steps)


_memory: Callable[[int], Any] = (ctypes.c_char * 2**46).from_address
"""All memory from an address on: arrays and words lie somewhere in there."""


class _Writing:
    """Writes the function of one call; where that fails, it leaves the word for the status as it is."""

    def __init__(self, call: CallOut):
        self.call = call
        self.names: dict[str, Any] = {
            "function": publish(render(call.function)), "memory": _memory, "array": np.ndarray, "strided": _strided,
            "number": python_number, "owner": _owner, "Other": _Other, "of_numpy": np.complex128,
            "last": threading.local(),
            "interrupts": interrupts, "address": ctypes.c_size_t.from_address,
            "integers": struct.Struct(f"={call.status}q").unpack_from,
            "floats": struct.Struct(f"={call.first_float}d").unpack_from,
            "put": struct.Struct(f"={call.integers - call.status}q").pack_into,
            "put_floats": struct.Struct(f"={call.floats - call.first_float}d").pack_into,
        }  # fmt: skip
        self.checks: list[str] = []
        self.integers: list[str] = ["0"]
        self.floats: list[str] = []
        self.arrays: list[str] = []

    def text(self) -> str:
        """It as Python."""
        call = self.call
        addresses = "".join(f", a{k}" for k in range(call.addresses))
        operands = ", ".join(map(self.operand, call.operands))
        self._result(call.result, "r")
        has_floats = call.floats > call.first_float
        lines = [
            "words = memory(words)",
            "i = integers(words)",
            "x = floats(memory(numbers))" if call.first_float else "",
            f"r = function({operands})",
            *self.checks,
            f"put(words, {8 * call.status}, {', '.join(self.integers)})",
            f"put_floats(memory(numbers), {8 * call.first_float}, {', '.join(self.floats)})"
            if has_floats
            else "",
            # nothing else runs until native code has copied them: no other call takes their place
            f"last.arrays = {''.join(f'{name}, ' for name in self.arrays)}" if self.arrays else "",
        ]
        body = "".join(f"        {line}\n" for line in lines if line)
        return (
            f"def call_out(words, numbers{addresses}):\n    try:\n{body}"
            "    except KeyboardInterrupt as error:\n        interrupts.append(error)\n"
            "    except BaseException:\n        pass\n"
        )

    def _named(self, value: Any) -> str:
        """A name for an object."""
        name = f"c{len(self.names)}"
        self.names[name] = value
        return name

    # --- operands -------------------------------------------------------------------------

    def operand(self, words: Words) -> str:
        """An operand, from its words."""
        match words:
            case NumberWords(code=code, at=at, owner=owner):
                of = "x" if code in ("f64", "f32") else "i"
                return f"number({of}[{at}], {code!r}, i[{owner}])"
            case ComplexWords(at=at, owner=owner):
                number = f"complex(x[{at}], x[{at + 1}])"
                return f"{number} if i[{owner}] == {PYTHON} else of_numpy({number})"
            case ArrayWords(rank=rank, at=at, pointer=pointer):
                dims, dtype = _words(at, rank), self._named(np.dtype(words.dtype))
                if words.contiguous:
                    return f"array({dims}, {dtype}, memory(a{pointer} or 0))"
                return f"strided(a{pointer} or 0, {dims}, {_words(at + rank, rank)}, {dtype})"
            case ContainerWords(form=form, items=items):
                inside = "".join(f"{self.operand(item)}, " for item in items)
                return {"tuple": f"({inside})", "list": f"[{inside}]", "slice": f"slice({inside})"}[
                    form
                ]
            case KnownWords(value=value):
                return self._named(value)

    # --- results --------------------------------------------------------------------------

    def _result(self, words: Words, name: str) -> None:
        """Write a result into its words, in their order."""
        match words:
            case NumberWords(code=code):
                owner = f"owner({name}, {_PYTHONS[code].__name__}, {self._named(ITEM_TYPES[code])})"
                if code == "f64":
                    self.floats.append(name)
                else:
                    self.integers.append(f"int({name})")
                self.integers.append(owner)
            case ComplexWords():
                self.floats += [f"{name}.real", f"{name}.imag"]
                self.integers.append(f"owner({name}, complex, of_numpy)")
            case ArrayWords():
                self._array(words, name)
            case ContainerWords(form=form, items=items, type=cls):
                cls = self._named(cls or {"tuple": tuple, "list": list}[form])
                self._must(f"type({name}) is {cls} and len({name}) == {len(items)}")
                parts = [f"{name}_{k}" for k in range(len(items))]
                self.checks.append(f"{''.join(f'{part}, ' for part in parts)} = {name}")
                for part, item in zip(parts, items, strict=True):
                    self._result(item, part)
            case KnownWords(value=value):
                self._must(f"{name} is {self._named(value)}")

    def _must(self, condition: str) -> None:
        self.checks.append(f"if not ({condition}): raise Other")

    def _array(self, words: ArrayWords, name: str) -> None:
        dtype = self._named(np.dtype(words.dtype))
        self._must(
            f"type({name}) is array and {name}.ndim == {words.rank} and {name}.dtype == {dtype}"
        )
        # its order decides what is a view of it: where that is written to, the Python form knows
        other = "raise Other" if self.call.in_order else f"{name} = {name}.copy()"
        self.checks.append(f"if not {name}.flags.c_contiguous: {other}")
        self.arrays.append(name)
        self.integers += [_address_of_data(name), f"*{name}.shape"]


def _words(at: int, count: int) -> str:
    return f"({''.join(f'i[{k}], ' for k in range(at, at + count))})"


def _address_of_data(name: str) -> str:
    """Where the elements of an array are; `ctypes.data` takes longer than all else together."""
    if not python_objects.is_possible():
        return f"{name}.ctypes.data"
    return f"address(id({name}) + {python_objects.ARRAY_AT['data']}).value"
