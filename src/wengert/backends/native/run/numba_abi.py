"""A way into native code for programs that are native themselves: everything stands in words of 8 bytes.

A number is one word; an array is its address, its sizes and its strides, in elements. Behind the arguments stand
the results: a number, or the address and the sizes of an array that lives until memory is released.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any, NamedTuple

from ..emit import llvm
from ..emit.llvm_ops import LLVM_TYPES, result_type, symbol
from ..form.loopform import SIZES, Code, Constant, Expr, Slot
from ..lower.calling_convention import ArrayLeaf, ArrayResult, NumberLeaf, NumberResult
from ..program.function import Lowered
from ..values.values import Unlowered
from .call_out import connect
from .machine import compiled, machine
from .runtime import runtime


class Flat(NamedTuple):
    """Machine code: its address, and that of what releases memory; `code` keeps both alive."""

    address: int
    release: int
    code: Any


def words_of(leaf: Any) -> int:
    """How many words an argument or a result takes.

    Raises:
        Unlowered: it is no number and no array.
    """
    match leaf:
        case NumberLeaf() | NumberResult():
            return 1
        case ArrayLeaf(sizes=sizes):
            return 1 + 2 * len(sizes)
        case ArrayResult(dims=dims):
            return 1 + len(dims)
        case _:
            raise Unlowered("an argument or a result that is no number and no array")


def words_of_array(value: Any) -> list[int]:
    """The words of an array."""
    return [value.ctypes.data, *value.shape, *(s // value.itemsize for s in value.strides)]


def flat(lowered: Lowered) -> Flat:
    """The machine code of a program, to be called with `(memory, words)`; gives 0, or not if it gave up."""
    entry = _Writing(lowered).text()
    vectors = machine().vectors
    text = llvm.module(lowered.procedures, lowered.name, entry, vectors=vectors)
    code = compiled(text)
    connect(code, lowered)
    return Flat(code.address(f"{lowered.name}.flat"), runtime().address("wg_release_all"), code)


class _Writing:
    def __init__(self, lowered: Lowered):
        self.lowered = lowered
        self.main = lowered.procedures[0]
        self.lines: list[str] = []
        self.known: dict[Slot, str] = {}
        self._count = 0

    def define(self, text: str) -> str:
        self._count += 1
        self.lines.append(f"  %f{self._count} = {text}")
        return f"%f{self._count}"

    def place(self, number: int) -> str:
        return self.define(f"getelementptr i64, ptr %words, i64 {number}")

    def load(self, number: int, code: Code) -> str:
        if code == "b1":
            return self.define(f"trunc i64 {self.load(number, 'i64')} to i1")
        return self.define(f"load {LLVM_TYPES[code]}, ptr {self.place(number)}")

    def text(self) -> str:
        first = self._take_arguments()
        self._make_memory()
        outs = {slot: self.define("alloca i64") for slot in self.main.results}
        args = [f"{LLVM_TYPES[p.code]} {self.known[p]}" for p in self.main.params]
        inside = ", ".join(["ptr %memory", *args, *(f"ptr {out}" for out in outs.values())])
        status = self.define(f"call i32 {symbol(self.main.name)}({inside})")
        good = self.define(f"icmp eq i32 {status}, 0")
        self.lines += [f"  br i1 {good}, label %good, label %bad", "bad:", "  ret i32 1", "good:"]
        for slot, out in outs.items():
            self.known[slot] = self.define(f"load {result_type(slot.code)}, ptr {out}")
        self._give_results(first)
        head = f"define i32 @{self.lowered.name}.flat(ptr %memory, ptr %words) nounwind #0 {{"
        return "\n".join([head, *self.lines, "  ret i32 0", "}", ""])

    def _take_arguments(self) -> int:
        params = iter(self.main.params)
        symbols = self.main.params[len(self.main.params) - self.lowered.sizes :]
        at = 0
        for leaf in self.lowered.leaves:
            slot = next(params)
            self.known[slot] = self.load(at, slot.code)
            if isinstance(leaf, ArrayLeaf):
                for axis, number in enumerate(leaf.sizes):
                    if number is not None and symbols[number] not in self.known:
                        self.known[symbols[number]] = self.load(at + 1 + axis, "i64")
                if not leaf.contiguous:
                    for axis in range(len(leaf.sizes)):
                        self.known[next(params)] = self.load(at + 1 + len(leaf.sizes) + axis, "i64")
            at += words_of(leaf)
        return at

    def _make_memory(self) -> None:
        for result in self.lowered.results:
            if not (isinstance(result, ArrayResult) and result.given):
                continue
            size = str(SIZES[result.code])
            for dim in result.dims:
                size = self.define(f"mul i64 {size}, {self._size(dim)}")
            made = self.define(f"call ptr @wg_allocate(ptr %memory, i64 {size})")
            self._count += 1
            there = self.define(f"icmp ne ptr {made}, null")
            on, off = f"on{self._count}", f"off{self._count}"
            self.lines += [f"  br i1 {there}, label %{on}, label %{off}", f"{off}:", "  ret i32 1"]
            self.lines.append(f"{on}:")
            self.known[result.pointer] = made

    def _size(self, dim: Expr) -> str:
        if isinstance(dim, Constant):
            return str(int(dim.value))
        assert isinstance(dim, Slot)
        return self.known[dim]

    def _give_results(self, at: int) -> None:
        for result in self.lowered.results:
            match result:
                case NumberResult(slot=slot):
                    self._store(at, result_type(slot.code), self.known[slot])
                case ArrayResult(pointer=pointer, dims=dims):
                    self._store(at, "ptr", self.known[pointer])
                    for axis, dim in enumerate(dims):
                        self._store(at + 1 + axis, "i64", self._size(dim))
                case _:
                    pass
            at += words_of(result)

    def _store(self, at: int, type_: str, value: str) -> None:
        self.lines.append(f"  store {type_} {value}, ptr {self.place(at)}")


class Table:
    """What size patterns have been compiled for: pairs of a key and an address, read by native code."""

    MOST = 64

    def __init__(self) -> None:
        self._words = (ctypes.c_int64 * (1 + 2 * self.MOST))()
        self.address = ctypes.addressof(self._words)

    def add(self, key: int, address: int) -> None:
        """Enter a pair, where there is still room."""
        count = self._words[0]
        if count < self.MOST:
            self._words[1 + 2 * count], self._words[2 + 2 * count] = key, address
            self._words[0] = count + 1


def key_of(sizes: Sequence[int]) -> int:
    """Which sizes are the same, and which are 1: a digit for each, base 16, from the last to the first."""
    known: dict[int, int] = {}
    digits = [0 if n == 1 else known.setdefault(n, len(known) + 1) for n in sizes]
    return sum(digit << 4 * k for k, digit in enumerate(digits))
