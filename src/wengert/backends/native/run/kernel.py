"""A compiled function, called by way of a frame: numbers and addresses, 8 bytes each."""

from __future__ import annotations

import ctypes
import struct
import weakref
from array import array
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from ....ir.types import Kind, leaves, tuple_kind
from ..emit import llvm
from ..emit.llvm_runtime import MEMORY_WORDS
from ..form.loopform import NUMPY_NAMES, SIZES, Code, Constant, Expr, Slot, Spread, each
from ..lower import calling_convention as cc
from ..program.function import Lowered
from ..program.read_out import ITEM_TYPES, ListReader, part_of, python_number
from ..values.values import PYTHON, DynamicOwner, Origin, Unlowered
from . import python_objects, vectorcall
from .answers import EXITED
from .call_out import connect
from .machine import compiled, machine
from .runtime import runtime
from .threads import pool

_TYPE_CODES: dict[Code, str] = {"f64": "d", "i64": "q", "f32": "f"}
_FORMATS: dict[Code, str] = {"f64": "d", "i64": "q", "b1": "q", "ptr": "Q", "f32": "f4x"}


class Kernel:
    """Machine code of a function for arguments of some types."""

    def __init__(self, lowered: Lowered, result: Kind):
        from . import entry, python_objects

        self.lowered = lowered
        if any(isinstance(s, Spread) for p in lowered.procedures for s in each(p.body)):
            pool()
        flat = not entry.is_plain(result)
        given = tuple_kind(kind for _, kind in leaves(result)) if flat else result
        made = entry.entry_function(lowered, given) if python_objects.is_possible() else ""
        self.llvm = program_text(lowered, made)
        shared = runtime()
        self.code = compiled(self.llvm, tuple(python_objects.table()) if made else ())
        connect(self.code, lowered)
        self.entry = self.leaves_entry = None
        """A Python function that does all that `call` does, for leaves that are the arguments, and gives the
        result; the same for results that Python puts together, of which it gives the leaves."""
        if made:
            address = self.code.address(f"{lowered.name}.entry")
            called = python_objects.callable_at(address, lowered.name)
            self.entry, self.leaves_entry = (None, called) if flat else (called, None)
        self.keep_nothing = ctypes.CFUNCTYPE(None)(shared.address("wg_keep_nothing"))
        """Gives back the memory that calls, of all programs, have left for the next."""
        # what must live until then is an argument
        last = weakref.finalize(self.code, _keep_nothing, self.keep_nothing, self.code.engine)
        last.atexit = False
        main = lowered.procedures[0]
        kind = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)
        self._function = kind(self.code.address(f"{lowered.name}.frame"))
        release = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
        self._release = release(shared.address("wg_release_all"))
        self._inputs = struct.Struct("=" + "".join(_FORMATS[p.code] for p in main.params))
        self._outputs = struct.Struct("=" + "".join(_FORMATS[r.code] for r in main.results))
        self._results = main.results
        self._params = {slot: k for k, slot in enumerate(main.params)}

    def called_by(
        self,
        called: Any,
        in_force: Callable[[], bool],
        identities: vectorcall.Identities,
        otherwise: Callable[..., Any],
    ) -> tuple[Any, ...]:
        """From now on, calls of an object go to the entry point, and where it cannot do the work to `otherwise`.

        Args:
            called: of a class that `quickly_called` gave.
            in_force: whether the native form may be used.
            identities: where they hold, `in_force()` is true; nothing if that cannot be said so.
            otherwise: takes the same arguments, and arguments by name.

        Returns:
            What must live as long as the object.
        """
        way = vectorcall.way(
            python_objects.addresses(),
            in_force,
            identities,
            otherwise,
            self.code.address(f"{self.lowered.name}.entry"),
            self.code,
        )
        vectorcall.set_way(called, runtime().address("wg_call"), way)
        return way

    def fits(self, values: Sequence[Any]) -> bool:
        """Whether values are of the types that the code was made for."""
        try:
            return signature_of(values) == self.lowered.leaves
        except Unlowered:
            return False

    def call(self, values: Sequence[Any]) -> Any:
        """The leaves of the result, or EXITED.

        Args:
            values: the leaves of the arguments, of the types that the code was made for.
        """
        if any(not values[k].flags.writeable for k in self.lowered.written):
            return EXITED
        keep: list[Any] = []
        try:
            words, sizes = self._words(values, keep)
        except OverflowError:  # an integer of more than 64 bits
            return EXITED
        made = self._memory_for_results(sizes)
        words += [memory.ctypes.data for memory in made.values()]
        words += sizes
        frame = bytearray(self._inputs.size + self._outputs.size)
        self._inputs.pack_into(frame, 0, *words)
        memory = (ctypes.c_void_p * MEMORY_WORDS)()
        raw = (ctypes.c_char * len(frame)).from_buffer(frame)
        try:
            if self._function(ctypes.addressof(memory), ctypes.addressof(raw)):
                return EXITED
            found = self._outputs.unpack_from(frame, self._inputs.size)
            words_of_results = dict(zip(self._results, found, strict=True))
            return [
                self._result(result, words_of_results, made, values)
                for result in self.lowered.results
            ]
        finally:
            self._release(ctypes.addressof(memory))

    def _words(self, values: Sequence[Any], keep: list[Any]) -> tuple[list[Any], list[int]]:
        """What stands in the frame for these values, and the sizes of arrays among them."""
        words: list[Any] = []
        sizes: dict[int, int] = {}
        for value, leaf in zip(values, self.lowered.leaves, strict=True):
            match leaf:
                case cc.NumberLeaf():
                    words.append(_machine_number(value))
                case cc.ComplexLeaf():
                    words += [float(value.real), float(value.imag)]
                case (
                    cc.ArrayLeaf(sizes=numbers, contiguous=contiguous)
                    | cc.ComplexArrayLeaf(sizes=numbers, contiguous=contiguous)
                ):
                    words.append(value.ctypes.data)
                    if not contiguous:
                        words += [stride // value.itemsize for stride in value.strides]
                    pairs = zip(numbers, value.shape, strict=True)
                    sizes.update((n, size) for n, size in pairs if n is not None)
                case cc.ListLeaf(item=item):
                    words.append(len(value))
                    words += _columns(item, value, sizes, keep)
                case cc.KnownLeaf():
                    pass
        return words, [sizes[n] for n in range(len(sizes))]

    # --- results --------------------------------------------------------------------------

    def _memory_for_results(self, numbers: Sequence[int]) -> dict[Slot, Any]:
        given = [r for r in self.lowered.results if isinstance(r, cc.ArrayResult) and r.given]
        params = self.lowered.procedures[0].params
        first = len(params) - self.lowered.sizes
        sizes = dict(zip(params[first:], numbers, strict=True))
        return {
            r.pointer: np.empty([_size(d, sizes) for d in r.dims], ITEM_TYPES[r.code])
            for r in sorted(given, key=lambda r: self._params[r.pointer])
        }

    def _result(
        self,
        result: cc.Result,
        words: dict[Slot, Any],
        made: dict[Slot, Any],
        values: Sequence[Any],
    ) -> Any:
        match result:
            case cc.ArgumentResult(number=number):
                return values[number]
            case cc.ViewResult(number=number, start=start, dims=dims, strides=strides):
                shape, steps = ([_size(x, words) for x in each] for each in (dims, strides))
                return part_of(values[number], _size(start, words), shape, steps)
            case cc.ListResult(value=value, form=form):
                return ListReader(words).read(value, form)
            case cc.NumberResult(slot=slot, origin=origin):
                number = words[slot]
                return python_number(number, slot.code, _whose(origin, words))
            case cc.ComplexResult(re=re, im=im, origin=origin):
                value = complex(words[re], words[im])
                return value if _whose(origin, words) == PYTHON else np.complex128(value)
            case cc.ArrayResult(pointer=pointer, given=True):
                return made[pointer]
            case cc.ArrayResult(pointer=pointer, code=code, dims=dims):
                shape = [_size(d, words) for d in dims]
                return _copied(words[pointer], code, shape)
            case cc.ComplexArrayResult(pointer=pointer, dims=dims):
                shape = [_size(d, words) for d in dims]
                return _copied(words[pointer], "f64", (*shape, 2)).view(complex)[..., 0]
            case cc.KnownResult(value=value):
                return value


def _columns(
    item: cc.ItemLeaf, values: Sequence[Any], sizes: dict[int, int], keep: list[Any]
) -> Iterator[int]:
    """The addresses of the items of a list, part by part."""
    if isinstance(item, cc.PartsLeaf):
        parts = zip(item.parts, cc.columns_of(item.form, values), strict=True)
        for part, column in parts:
            yield from _columns(part, column, sizes, keep)
        return
    if isinstance(item, cc.RowsLeaf):
        yield len(values[0])
        item, values = item.item, [x for row in values for x in row]
    if isinstance(item, cc.NumberLeaf) and item.code != "b1":
        numbers = array(_TYPE_CODES[item.code], values)  # in a third of NumPy's time
        keep.append(numbers)
        yield numbers.buffer_info()[0]
        return
    if isinstance(item, cc.ArrayLeaf):
        pairs = zip(item.sizes, values[0].shape, strict=True)
        sizes.update((n, size) for n, size in pairs if n is not None)
    items = np.array(values, NUMPY_NAMES[item.code])
    keep.append(items)
    yield items.ctypes.data


def _whose(origin: Origin, words: Mapping[Slot, Any]) -> int:
    """Whose a result is, in this run."""
    if not isinstance(origin, DynamicOwner):
        return origin
    assert isinstance(origin.expr, Slot)
    return int(words[origin.expr])


def _keep_nothing(release: Callable[[], None], _engine: Any) -> None:
    release()


def program_text(lowered: Lowered, entry: str) -> str:
    """The LLVM IR of a program for this machine, with its entry point."""
    fresh = [r.pointer for r in lowered.results if isinstance(r, cc.ArrayResult) and r.given]
    return llvm.module(
        lowered.procedures,
        lowered.name,
        entry,
        vectors=machine().vectors,
        fresh=fresh,
    )


def _machine_number(value: Any) -> Any:
    if isinstance(value, (float, np.floating)):
        return float(value)
    number = int(value)
    if not -(2**63) <= number < 2**63:
        raise OverflowError("an integer of more than 64 bits")
    return number


def _size(dim: Expr, sizes: Mapping[Slot, int]) -> int:
    if isinstance(dim, Constant):
        return int(dim.value)
    assert isinstance(dim, Slot)
    return sizes[dim]


def _copied(address: int, code: Code, shape: Sequence[int]) -> Any:
    count = int(np.prod(shape, dtype=np.int64))
    if not count:
        return np.empty(shape, ITEM_TYPES[code])
    raw = ctypes.string_at(address, count * SIZES[code])
    return np.frombuffer(raw, ITEM_TYPES[code]).reshape(shape).copy()


def signature_of(values: Sequence[Any]) -> tuple[Any, ...]:
    """What each leaf of a call is."""
    sizes = cc.Sizes()
    return tuple(cc.leaf_of(value, sizes) for value in values)
