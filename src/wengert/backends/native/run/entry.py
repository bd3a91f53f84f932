"""The entry point: a C function, made with the kernel, that Python calls without anything in between.

It takes Python's objects apart and puts the results together through the C API of Python and NumPy. What
it needs of both (functions, types, the two answers below) it finds in a table of addresses, its `self`: no
address is compiled in, so that the code can be kept on disk.

It answers `OTHER_TYPES` if the arguments are not of the types it was made for, and `EXITED` if the Python
form is to do the work.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ....ir.types import NONE, Kind, Other, Static, Struct
from ..emit.llvm_ops import LLVM_TYPES, result_type, symbol
from ..emit.llvm_runtime import MEMORY
from ..form.loopform import Allocate, Code, Constant, Expr, Slot, each
from ..lower import calling_convention as cc
from ..program.function import Lowered
from ..values.values import AN_INTEGER, NUMPY, PYTHON, SINGLE, UNBOUND, DynamicOwner
from .duration import takes_long
from .entry_lines import EntryLines
from .python_objects import ARRAY_AT, VALUE_AT
from .vectorcall import ITEMS_AT, TABLE_AT, TYPE_AT

_IN_ORDER, _ALIGNED, _WRITEABLE = 0x1, 0x100, 0x400
_TYPE_NUMBERS: dict[str, int] = {
    "complex": np.dtype(np.complex128).num,
    "f64": np.dtype(np.float64).num,
    "f32": np.dtype(np.float32).num,
    "i64": np.dtype(np.int64).num,
    "b1": np.dtype(np.bool_).num,
}


_ROOM = 2**13
"""Bytes for the first small pieces of memory of a call: `malloc` takes as long as some ten elementary functions."""

_WIDTHS = {"b1": 1, "f32": 4, "f64": 8, "i64": 8, "complex": 16}
AnyArrayLeaf = cc.ArrayLeaf | cc.ComplexArrayLeaf
AnyArrayResult = cc.ArrayResult | cc.ComplexArrayResult


def _type_of(array: AnyArrayLeaf | AnyArrayResult) -> str:
    """The type of the elements of an array, as the table names it."""
    return array.code if isinstance(array, (cc.ArrayLeaf, cc.ArrayResult)) else "complex"


def entry_function(lowered: Lowered, result: Kind) -> str:
    """The entry point of a program whose arguments are the leaves themselves; "" if it has none."""
    plain = all(
        isinstance(leaf, (cc.NumberLeaf, cc.ComplexLeaf, cc.ArrayLeaf, cc.ComplexArrayLeaf))
        for leaf in lowered.leaves
    )
    by_python = any(isinstance(made, (cc.ListResult, cc.ViewResult)) for made in lowered.results)
    if not plain or by_python or not is_plain(result):
        return ""
    return _Entry(lowered).text(result)


def is_plain(kind: Kind) -> bool:
    """Whether a result is made of tuples alone."""
    match kind:
        case Struct(form=form, items=items):
            return form == "tuple" and all(map(is_plain, items))
        case Static(value=value):
            return value is None
        case Other():
            return kind == NONE
        case _:
            return True


class _Entry(EntryLines):
    """Writes one entry point."""

    # --- the whole ------------------------------------------------------------------------

    def text(self, result: Kind) -> str:
        self.lines = [f"  %table = getelementptr i8, ptr %self, i64 {TABLE_AT}"]
        self._start = 0
        self.do(f"%memory = alloca {MEMORY}")
        self.do(f"store {MEMORY} zeroinitializer, ptr %memory")
        if any(isinstance(s, Allocate) and not s.in_frame for s in each(self.main.body)):
            self.do(f"%frame = alloca [{_ROOM} x i8], align 64")
            self.do(f"store ptr %frame, ptr {self._memory_word(7)}")
            end = self.define(f"getelementptr i8, ptr %frame, i64 {_ROOM}")
            self.do(f"store ptr {end}, ptr {self._memory_word(8)}")
        self.leave_unless(self.same("i64", "%count", str(len(self.lowered.leaves))))
        self._take_arguments()
        outs = self._call()
        made = self._build(result, iter(self.lowered.results), outs)
        self.do("call void @wg_release_all(ptr %memory)")
        self.do(f"ret ptr {made}")
        self._answers()
        head = f"define ptr @{self.lowered.name}.entry(ptr %self, ptr %args, i64 %count) #0 {{"
        return "\n".join([head, *self.lines, "}", ""])

    def _answers(self) -> None:
        self.lines.append("failed:")  # there was no memory for a result: the exception is set
        self.do("call void @wg_release_all(ptr %memory)")
        self.do("ret ptr null")
        for label, name in (("other", "other"), ("exited", "exited")):
            self.lines.append(f"{label}:")
            if label == "exited":
                for array in self.arrays.values():
                    self.do(f"call void {self.from_table('Py_DecRef')}(ptr {array})")
                self.do("call void @wg_release_all(ptr %memory)")
            answer = self.from_table(name)
            self.do(f"call void {self.from_table('Py_IncRef')}(ptr {answer})")
            self.do(f"ret ptr {answer}")

    # --- arguments ------------------------------------------------------------------------

    def _take_arguments(self) -> None:
        params = iter(self.main.params)
        symbols = self.main.params[len(self.main.params) - self.lowered.sizes :]
        self.sizes: dict[Slot, str] = {}
        for k, leaf in enumerate(self.lowered.leaves):
            place = self.define(f"getelementptr ptr, ptr %args, i64 {k}")
            value = self.define(f"load ptr, ptr {place}")
            if isinstance(leaf, cc.NumberLeaf):
                self.found[next(params)] = self._number(value, leaf)
            elif isinstance(leaf, cc.ComplexLeaf):
                self._complex(value, leaf, params)
            else:
                assert isinstance(leaf, (cc.ArrayLeaf, cc.ComplexArrayLeaf))
                self._array(value, leaf, params, symbols, written=k in self.lowered.written)
        self.found.update(self.sizes)

    def _number(self, value: str, leaf: cc.NumberLeaf) -> str:
        code = leaf.code
        names = {"f64": "float", "i64": "int", "b1": "bool"}
        wanted = f"numpy.{code}" if leaf.numpy else names[code]
        self.leave_unless(self.same("ptr", self.at(value, TYPE_AT, "ptr"), self.from_table(wanted)))
        if code == "b1" and not leaf.numpy:
            return self.same("ptr", value, self.from_table("True"))
        if code == "b1":
            return self.define(f"trunc i8 {self.at(value, VALUE_AT, 'i8')} to i1")
        if code != "i64" or leaf.numpy:
            return self.at(value, VALUE_AT, LLVM_TYPES[code])
        over = self.local("i32")
        function = self.from_table("PyLong_AsLongLongAndOverflow")
        number = self.define(f"call i64 {function}(ptr {value}, ptr {over})")
        fits = self.same("i32", self.define(f"load i32, ptr {over}"), "0")
        self.leave_unless(fits, "other")
        return number

    def _complex(self, value: str, leaf: cc.ComplexLeaf, params: Any) -> None:
        wanted = self.from_table("numpy.complex" if leaf.numpy else "complex")
        self.leave_unless(self.same("ptr", self.at(value, TYPE_AT, "ptr"), wanted))
        for offset in (0, 8):
            self.found[next(params)] = self.at(value, VALUE_AT + offset, "double")

    def _array(
        self, value: str, leaf: AnyArrayLeaf, params: Any, symbols: Sequence[Slot], *, written: bool
    ) -> None:
        self.leave_unless(
            self.same("ptr", self.at(value, TYPE_AT, "ptr"), self.from_table("ndarray"))
        )
        descr = self.from_table(f"descr.{_type_of(leaf)}")
        self.leave_unless(self.same("ptr", self.at(value, ARRAY_AT["descr"], "ptr"), descr))
        rank = self.at(value, ARRAY_AT["rank"], "i32")
        self.leave_unless(self.same("i32", rank, str(len(leaf.sizes))))
        wanted = _ALIGNED | (_IN_ORDER if leaf.contiguous else 0) | (_WRITEABLE if written else 0)
        flags = self.define(f"and i32 {self.at(value, ARRAY_AT['flags'], 'i32')}, {wanted}")
        self.leave_unless(self.same("i32", flags, str(wanted)))
        self.found[next(params)] = self.at(value, ARRAY_AT["data"], "ptr")
        dims = self.at(value, ARRAY_AT["dims"], "ptr")
        for axis, number in enumerate(leaf.sizes):
            size = self.at(dims, 8 * axis, "i64")
            known = "1" if number is None else self.sizes.setdefault(symbols[number], size)
            if known != size:
                self.leave_unless(self.same("i64", size, known))
        if not leaf.contiguous:
            self._strides(value, leaf, params)

    def _strides(self, value: str, leaf: AnyArrayLeaf, params: Any) -> None:
        strides = self.at(value, ARRAY_AT["strides"], "ptr")
        width = _WIDTHS[_type_of(leaf)]
        for axis in range(len(leaf.sizes)):
            stride = self.at(strides, 8 * axis, "i64")
            rest = self.define(f"srem i64 {stride}, {width}")
            self.leave_unless(self.same("i64", rest, "0"))
            self.found[next(params)] = self.define(f"sdiv i64 {stride}, {width}")

    # --- the call -------------------------------------------------------------------------

    def _call(self) -> dict[Slot, str]:
        for made in self.lowered.results:
            if isinstance(made, cc.ArrayResult) and made.given:
                array = self._new_array(made, self.found)
                self.arrays[made.pointer] = array
                self.found[made.pointer] = self.at(array, ARRAY_AT["data"], "ptr")
        outs = {slot: self.local("i64") for slot in self.main.results}
        args = ["ptr %memory"]
        args += [f"{LLVM_TYPES[p.code]} {self.found[p]}" for p in self.main.params]
        args += [f"ptr {out}" for out in outs.values()]
        self._let_others_run()
        status = self.define(f"call i32 {symbol(self.main.name)}({', '.join(args)})")
        self._stop_others()
        self.leave_unless(self.same("i32", status, "0"), "exited")
        return {
            slot: self.define(f"load {result_type(slot.code)}, ptr {out}")
            for slot, out in outs.items()
        }

    def _let_others_run(self) -> None:
        """Python's other threads run meanwhile, if the program takes long, or from when on it does."""
        save = self.from_table("PyEval_SaveThread")
        self.do(f"store ptr {save}, ptr {self._memory_word(5)}")
        self._count += 1
        now, later = f"long{self._count}", f"short{self._count}"
        is_long = takes_long(self.main, lambda count: _size(count, self.found), self.define)
        self.do(f"br i1 {is_long}, label %{now}, label %{later}")
        self.lines.append(f"{now}:")
        self.do("call void @wg_let_others_run(ptr %memory)")
        self.do(f"br label %{later}")
        self.lines.append(f"{later}:")

    def _stop_others(self) -> None:
        state = self.define(f"load ptr, ptr {self._memory_word(6)}")
        self._count += 1
        running, stopped = f"running{self._count}", f"stopped{self._count}"
        self.do(f"br i1 {self.same('ptr', state, 'null')}, label %{stopped}, label %{running}")
        self.lines.append(f"{running}:")
        self.do(f"call void {self.from_table('PyEval_RestoreThread')}(ptr {state})")
        self.do(f"br label %{stopped}")
        self.lines.append(f"{stopped}:")

    def _memory_word(self, number: int) -> str:
        return self.define(f"getelementptr ptr, ptr %memory, i64 {number}")

    def _new_array(self, made: AnyArrayResult, sizes: dict[Slot, str]) -> str:
        rank = len(made.dims)
        dims = self.local(f"[{max(rank, 1)} x i64]")
        for axis, dim in enumerate(made.dims):
            place = self.define(f"getelementptr i64, ptr {dims}, i64 {axis}")
            self.do(f"store i64 {_size(dim, sizes)}, ptr {place}")
        number, bytes_ = _TYPE_NUMBERS[_type_of(made)], self._bytes(made, sizes)
        array = self.define(
            f"call ptr @wg_new_array(ptr %table, i32 {rank}, ptr {dims}, i32 {number}, "
            f"i64 {bytes_})"
        )
        self.leave_unless(self.define(f"icmp ne ptr {array}, null"), "failed")
        return array

    def _bytes(self, made: AnyArrayResult, sizes: dict[Slot, str]) -> str:
        total = str(_WIDTHS[_type_of(made)])
        for dim in made.dims:
            total = self.define(f"mul i64 {total}, {_size(dim, sizes)}")
        return total

    # --- results --------------------------------------------------------------------------

    def _build(self, kind: Kind, results: Any, outs: dict[Slot, str]) -> str:
        if isinstance(kind, Struct):
            size = len(kind.items)
            made = self.define(f"call ptr {self.from_table('PyTuple_New')}(i64 {size})")
            for k, item in enumerate(kind.items):
                part = self._build(item, results, outs)
                place = self.define(f"getelementptr i8, ptr {made}, i64 {ITEMS_AT + 8 * k}")
                self.do(f"store ptr {part}, ptr {place}")
            return made
        if isinstance(kind, Static):
            return self._none()
        return self._leaf(next(results), outs)

    def _none(self) -> str:
        none = self.from_table("None")
        self.do(f"call void {self.from_table('Py_IncRef')}(ptr {none})")
        return none

    def _leaf(self, result: cc.Result, outs: dict[Slot, str]) -> str:
        match result:
            case cc.KnownResult():
                return self._none()
            case cc.ArgumentResult(number=number):
                place = self.define(f"getelementptr ptr, ptr %args, i64 {number}")
                value = self.define(f"load ptr, ptr {place}")
                self.do(f"call void {self.from_table('Py_IncRef')}(ptr {value})")
                return value
            case cc.NumberResult(slot=slot, origin=origin):
                number = outs[slot]
                if isinstance(origin, DynamicOwner):
                    return self._one_of(
                        origin, outs, lambda whose: self._python_number(number, slot.code, whose)
                    )
                return self._python_number(number, slot.code, origin)
            case cc.ComplexResult(re=re, im=im, origin=origin):
                parts = (outs[re], outs[im])
                if isinstance(origin, DynamicOwner):
                    return self._one_of(
                        origin, outs, lambda whose: self._complex_number(parts, whose)
                    )
                return self._complex_number(parts, origin)
            case cc.ArrayResult(pointer=pointer, given=True):
                return self.arrays[pointer]
            case cc.ArrayResult() | cc.ComplexArrayResult():
                return self._copied(result, outs)
            case cc.ListResult() | cc.ViewResult():
                raise TypeError("Python puts these together")

    def _python_number(self, value: str, code: Code, origin: int) -> str:
        if origin == SINGLE:
            value, code = self.define(f"fptrunc double {value} to float"), "f32"
            origin = NUMPY
        if origin == NUMPY:
            place = self.local(result_type(code))
            self.do(f"store {result_type(code)} {value}, ptr {place}")
            descr, make = self.from_table(f"descr.{code}"), self.from_table("PyArray_Scalar")
            return self.define(f"call ptr {make}(ptr {place}, ptr {descr}, ptr null)")
        if code == "b1":
            short = self.define(f"trunc i64 {value} to i1")
            return self.define(
                f"call ptr {self.from_table('PyBool_FromLong')}(i64 {self.define(f'zext i1 {short} to i64')})"
            )
        name = "PyLong_FromLongLong" if code == "i64" else "PyFloat_FromDouble"
        name = "PyLong_FromDouble" if origin == AN_INTEGER and code != "i64" else name
        return self.define(f"call ptr {self.from_table(name)}({LLVM_TYPES[code]} {value})")

    def _complex_number(self, parts: tuple[str, str], origin: int) -> str:
        re, im = parts
        if origin == PYTHON:
            make = self.from_table("PyComplex_FromDoubles")
            return self.define(f"call ptr {make}(double {re}, double {im})")
        place = self.local("[2 x double]")
        self.do(f"store double {re}, ptr {place}")
        second = self.define(f"getelementptr double, ptr {place}, i64 1")
        self.do(f"store double {im}, ptr {second}")
        descr, make = self.from_table("descr.complex"), self.from_table("PyArray_Scalar")
        return self.define(f"call ptr {make}(ptr {place}, ptr {descr}, ptr null)")

    def _one_of(
        self, origin: DynamicOwner, outs: dict[Slot, str], make: Callable[[int], str]
    ) -> str:
        """An object that is made in another way for each origin, which is known only now."""
        assert isinstance(origin.expr, Slot)
        number = outs[origin.expr]
        place = self.local("ptr")
        self._count += 1
        end = f"made{self._count}"
        for candidate in sorted(origin.among - {UNBOUND}):
            self._count += 1
            here, after = f"is{self._count}", f"not{self._count}"
            self.do(
                f"br i1 {self.same('i64', number, str(candidate))}, label %{here}, label %{after}"
            )
            self.lines.append(f"{here}:")
            self.do(f"store ptr {make(candidate)}, ptr {place}")
            self.do(f"br label %{end}")
            self.lines.append(f"{after}:")
        self.do("br label %exited")
        self.lines.append(f"{end}:")
        return self.define(f"load ptr, ptr {place}")

    def _copied(self, made: AnyArrayResult, outs: dict[Slot, str]) -> str:
        array = self._new_array(made, outs)
        size = self._bytes(made, outs)
        data = self.at(array, ARRAY_AT["data"], "ptr")
        self.do(
            f"call void @llvm.memcpy.p0.p0.i64(ptr {data}, ptr {outs[made.pointer]}, i64 {size}, "
            "i1 false)"
        )
        return array


def _size(dim: Expr, sizes: dict[Slot, str]) -> str:
    if isinstance(dim, Constant):
        return str(int(dim.value))
    assert isinstance(dim, Slot)
    return sizes[dim]
