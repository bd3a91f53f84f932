"""The loop form as LLVM IR.

A procedure `f` becomes `i32 @f.body(ptr memory, parameters…, pointers to results…)`; it gives 0, or the number of
the exit it took. `@f.frame(ptr memory, ptr frame)` calls it with what stands in a frame: 8 bytes for each
parameter, then for each result. `memory` is what the call has of memory: see `llvm_runtime`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..form import loopform as lf
from ..vector_math.vector_functions import Vectors
from .llvm_frames import chunk_function, frame_function, parameters_text
from .llvm_hints import (
    SHORT,
    Metadata,
    Notes,
    checked_index_at,
    gains_by_masks,
    is_innermost,
    notes_on,
)
from .llvm_ops import LLVM_TYPES, Operations, in_memory, result_type, symbol
from .llvm_runtime import DECLARED, declaration, pointer_of_call_out
from .llvm_spread import spread
from .llvm_writer import Writer

DEEPEST = 900
"""How deep calls may be nested."""


def module(
    procedures: Sequence[lf.Procedure],
    main: str,
    entry: str,
    *,
    vectors: Vectors,
    fresh: Sequence[lf.Slot] = (),
) -> str:
    """The module of a program: its procedures, and what Python calls.

    Args:
        procedures: the program.
        main: the name of the procedure that Python calls.
        entry: the text of its entry point.
        vectors: which functions of vectors it has.
        fresh: parameters of the procedure that Python calls, whose memory nothing else points to.
    """
    operations = Operations(vectors)
    metadata = Metadata()
    inlined = frozenset(p.name for p in procedures if p.inlined)
    bodies = [
        _Printer(p, operations, metadata, inlined, fresh if p.name == main else ()).text()
        for p in procedures
    ]
    first = next(p for p in procedures if p.name == main)
    spread = {s.function for p in procedures for s in lf.each(p.body) if isinstance(s, lf.Spread)}
    chunks = [chunk_function(p) for p in procedures if p.name in spread]
    parts = [
        *bodies,
        frame_function(first),
        *chunks,
        entry,
        DECLARED,
        *operations.declarations(),
        *metadata.lines,
    ]
    return "\n".join(parts) + "\n"


class _Printer(Writer):
    """One procedure."""

    def __init__(
        self,
        procedure: lf.Procedure,
        operations: Operations,
        metadata: Metadata,
        inlined: frozenset[str] = frozenset(),
        fresh: Sequence[lf.Slot] = (),
    ):
        super().__init__(operations)
        self.procedure = procedure
        self.inlined = inlined
        self.fresh = fresh
        self.metadata = metadata
        self._loop_ends: list[str] = []

    # --- text -----------------------------------------------------------------------------

    def text(self) -> str:
        p = self.procedure
        given = {slot.name for slot in p.params}
        for slot in lf.variables_of(p):
            self.lines.append(f"  %{slot.name}.v = alloca {LLVM_TYPES[slot.code]}")
            if slot.name in given:
                self.lines.append(
                    f"  store {LLVM_TYPES[slot.code]} %{slot.name}, ptr %{slot.name}.v"
                )
        self.block(p.body)
        for slot in p.results:
            self._write_result(slot)
        self.lines.append("  ret i32 0")
        given = parameters_text(p, self.fresh)
        notes = "nounwind alwaysinline" if p.inlined else "nounwind"
        head = f"define internal i32 {symbol(p.name)}({given}) {notes} #0 {{\nentry:"
        return "\n".join([head, *self.allocas, *self.lines, *self.exits, "}", ""])

    def _write_result(self, slot: lf.Slot) -> None:
        value = self.expr(slot)
        if slot.code == "b1":
            value = self.define(f"zext i1 {value} to i64")
        self.lines.append(f"  store {result_type(slot.code)} {value}, ptr %out.{slot.name}")

    # --- statements -----------------------------------------------------------------------

    def block(self, statements: Sequence[lf.Statement]) -> None:
        done = 0
        while done < len(statements):
            index = checked_index_at(statements[done : done + 3])
            if index is not None:
                self.checked_index(*index)
                done += 3
            else:
                statement = statements[done]
                _STATEMENTS[type(statement)](self, statement)
                done += 1

    def checked_index(self, wrapped: lf.Assign, outside: lf.Assign, leave: lf.ExitIf) -> None:
        """An index that may count from the end, and must be in range: where it is not, it is asked whether it does."""
        assert isinstance(wrapped.value, lf.Apply)
        index, size = map(self.expr, wrapped.value.args)
        from_end, after = self.label("from_end"), self.label("on")
        self.lines.append(f"  store i64 {index}, ptr %{wrapped.slot.name}.v")
        self.lines.append(f"  store i1 false, ptr %{outside.slot.name}.v")
        is_rare = self.define(f"icmp uge i64 {index}, {size}")
        self.branch(is_rare, from_end, after, ", !prof !0")
        self.start(from_end)
        position = self.define(f"add i64 {index}, {size}")
        self.lines.append(f"  store i64 {position}, ptr %{wrapped.slot.name}.v")
        self.assign(outside)
        self.exit(leave)
        self.jump(after)
        self.start(after)

    def assign(self, statement: lf.Assign) -> None:
        slot = statement.slot
        value = self.expr(statement.value)
        self.lines.append(f"  store {LLVM_TYPES[slot.code]} {value}, ptr %{slot.name}.v")

    def store(self, statement: lf.Store) -> None:
        code = statement.value.code
        value = self.expr(statement.value)
        if code == "b1":
            value = self.define(f"zext i1 {value} to i8")
        address = self.address(statement.pointer, statement.index, code)
        self.lines.append(f"  store {in_memory(code)} {value}, ptr {address}{self.group}")

    def _bytes(self, count: lf.Expr, code: lf.Code) -> str:
        return self.define(f"mul i64 {self.expr(count)}, {lf.SIZES[code]}")

    def _new_pointer(self, slot: lf.Slot, pointer: str) -> None:
        failed = self.define(f"icmp eq ptr {pointer}, null")
        self.leave_if(failed)
        self.lines.append(f"  store ptr {pointer}, ptr %{slot.name}.v")

    def allocate(self, statement: lf.Allocate) -> None:
        if statement.in_frame:
            self._in_frame(statement)
            return
        size = self._bytes(statement.count, statement.code)
        taken = "wg_arena_take" if statement.in_arena else "wg_allocate"
        made = self.define(f"call ptr @{taken}(ptr %memory, i64 {size})")
        self._new_pointer(statement.pointer, made)

    def _in_frame(self, statement: lf.Allocate) -> None:
        assert isinstance(statement.count, lf.Constant)
        name, code = statement.pointer.name, statement.code
        self.allocas.append(
            f"  %{name}.frame = alloca [{statement.count.value} x {in_memory(code)}], align 64"
        )
        self.lines.append(f"  store ptr %{name}.frame, ptr %{name}.v")

    def enlarge(self, statement: lf.Enlarge) -> None:
        size = self._bytes(statement.count, statement.code)
        old = self.expr(statement.pointer)
        self._new_pointer(
            statement.pointer,
            self.define(f"call ptr @wg_enlarge(ptr %memory, ptr {old}, i64 {size})"),
        )

    def release(self, statement: lf.Release) -> None:
        self.lines.append(f"  call void @wg_release(ptr {self.expr(statement.pointer)})")

    def mark(self, statement: lf.Mark) -> None:
        top = self.define("call ptr @wg_arena_top(ptr %memory)")
        self.lines.append(f"  store ptr {top}, ptr %{statement.place.name}.v")

    def reset(self, statement: lf.Reset) -> None:
        place = self.expr(statement.place)
        self.lines.append(f"  call void @wg_arena_reset(ptr %memory, ptr {place})")

    def copy(self, statement: lf.Copy) -> None:
        code = statement.code
        target = self.address(statement.target, statement.target_index, code)
        source = self.address(statement.source, statement.source_index, code)
        size = self._bytes(statement.count, code)
        self.lines.append(
            f"  call void @llvm.memcpy.p0.p0.i64(ptr {target}, ptr {source}, i64 {size}, i1 false)"
        )

    def multiply(self, statement: lf.Multiply) -> None:
        s, code = statement, statement.code
        type_, name = LLVM_TYPES[code], f"wg_{code}_gemm"
        sizes = [f"i64 {self.expr(size)}" for size in (s.rows, s.columns, s.inner)]
        left = f"ptr {self.address(s.left, s.left_index, code)}, i64 {self.expr(s.left_lead)}"
        right = f"ptr {self.address(s.right, s.right_index, code)}, i64 {self.expr(s.right_lead)}"
        orders = [f"i32 {112 if t else 111}" for t in (s.left_transposed, s.right_transposed)]
        one, zero = (self.operations.constant(value, code) for value in (1.0, 0.0))
        target = f"ptr {self.expr(s.target)}, {sizes[1]}"
        inside = [
            "i32 101",
            *orders,
            *sizes,
            f"{type_} {one}",
            left,
            right,
            f"{type_} {zero}",
            target,
        ]
        self.operations.declare(
            name,
            f"declare void @{name}(i32, i32, i32, i64, i64, i64, {type_}, ptr, i64, ptr, i64, "
            f"{type_}, ptr, i64)",
        )
        self.lines.append(f"  call void @{name}({', '.join(inside)})")

    def external(self, statement: lf.External) -> None:
        places = [self.address(a.pointer, a.index, a.code) for a in statement.args]
        name = f"@wg_{statement.name}"
        if statement.number is not None:
            pointer = f"@{pointer_of_call_out(statement.number)}"
            self.operations.declare(pointer, f"{pointer} = global ptr null")
            name = self.define(f"load ptr, ptr {pointer}")
        else:
            self.operations.declare(name, declaration(name, len(places)))
        self.lines.append(f"  call void {name}({', '.join(f'ptr {place}' for place in places)})")

    # --- control --------------------------------------------------------------------------

    def loop(self, statement: lf.For) -> None:
        count, around = self.expr(statement.count), len(self._loop_ends)
        if not gains_by_masks(statement, around):
            self._loop(statement, count, notes_on(statement, around, self.metadata))
            return
        short, long, end = (self.label(hint) for hint in ("short", "long", "end"))
        self.branch(self.define(f"icmp sle i64 {count}, {SHORT}"), short, long)
        for label, masked in ((short, True), (long, False)):
            self.start(label)
            self._loop(statement, count, notes_on(statement, around, self.metadata, masked=masked))
            self.jump(end)
        self.start(end)

    def _loop(self, statement: lf.For, count: str, notes: Notes) -> None:
        index = statement.index.name
        body, latch, end = (self.label(hint) for hint in ("body", "latch", "end"))
        self.lines.append(f"  store i64 0, ptr %{index}.v")
        self.branch(self.define(f"icmp sgt i64 {count}, 0"), body, end)
        self.start(body)
        outer, self.group = self.group, notes.access
        self.may_be_vectors = is_innermost(statement)
        self._loop_ends.append(end)
        self.block(statement.body)
        self._loop_ends.pop()
        self.may_be_vectors = False
        self.group = outer
        self.jump(latch)
        self.start(latch)
        before = self.define(f"load i64, ptr %{index}.v")
        after = self.define(f"add nuw nsw i64 {before}, 1")
        self.lines.append(f"  store i64 {after}, ptr %{index}.v")
        self.branch(self.define(f"icmp slt i64 {after}, {count}"), body, end, notes.jump)
        self.start(end)

    def repeat(self, statement: lf.While) -> None:
        test, body, end = (self.label(hint) for hint in ("test", "body", "end"))
        outer, self.group = self.group, ""
        self.jump(test)
        self.start(test)
        self.block(statement.test)
        self.branch(self.expr(statement.condition), body, end)
        self.start(body)
        self._loop_ends.append(end)
        self.block(statement.body)
        self._loop_ends.pop()
        self.jump(test)
        self.start(end)
        self.group = outer

    def choose(self, statement: lf.If) -> None:
        then, other, end = (self.label(hint) for hint in ("then", "else", "end"))
        note = ", !prof !0" if statement.rarely else ""
        self.branch(self.expr(statement.condition), then, other, note)
        for label, block in ((then, statement.then), (other, statement.other)):
            self.start(label)
            self.block(block)
            self.jump(end)
        self.start(end)

    def leave_loop(self, statement: lf.BreakIf) -> None:
        after = self.label("on")
        self.branch(self.expr(statement.condition), self._loop_ends[-1], after)
        self.start(after)

    def exit(self, statement: lf.ExitIf) -> None:
        self.leave_if(self.expr(statement.condition))

    def invoke(self, statement: lf.Invoke) -> None:
        """A call; deep recursion is left to Python, which knows how deep is too deep."""
        if statement.function in self.inlined:
            self._call(statement)
            return
        place = self.define("getelementptr i64, ptr %memory, i64 1")
        before = self.define(f"load i64, ptr {place}")
        depth = self.define(f"add i64 {before}, 1")
        self.leave_if(self.define(f"icmp sgt i64 {depth}, {DEEPEST}"))
        self.lines.append(f"  store i64 {depth}, ptr {place}")
        self._call(statement)
        self.lines.append(f"  store i64 {before}, ptr {place}")

    def _call(self, statement: lf.Invoke) -> None:
        args = [f"{LLVM_TYPES[a.code]} {self.expr(a)}" for a in statement.args]
        outs = [self.label("%out") for _ in statement.results]
        self.allocas += [f"  {out} = alloca i64" for out in outs]
        inside = ", ".join(["ptr %memory", *args, *(f"ptr {out}" for out in outs)])
        status = self.define(f"call i32 {symbol(statement.function)}({inside})")
        self.leave_if(self.define(f"icmp ne i32 {status}, 0"))
        for slot, out in zip(statement.results, outs, strict=True):
            found = self.define(f"load {result_type(slot.code)}, ptr {out}")
            if slot.code == "b1":
                found = self.define(f"trunc i64 {found} to i1")
            self.lines.append(f"  store {LLVM_TYPES[slot.code]} {found}, ptr %{slot.name}.v")


_STATEMENTS: dict[type, Callable[[_Printer, Any], None]] = {
    lf.Assign: _Printer.assign,
    lf.Store: _Printer.store,
    lf.Allocate: _Printer.allocate,
    lf.Enlarge: _Printer.enlarge,
    lf.Release: _Printer.release,
    lf.Mark: _Printer.mark,
    lf.Reset: _Printer.reset,
    lf.Copy: _Printer.copy,
    lf.For: _Printer.loop,
    lf.While: _Printer.repeat,
    lf.If: _Printer.choose,
    lf.BreakIf: _Printer.leave_loop,
    lf.ExitIf: _Printer.exit,
    lf.Invoke: _Printer.invoke,
    lf.External: _Printer.external,
    lf.Spread: spread,
    lf.Multiply: _Printer.multiply,
}
