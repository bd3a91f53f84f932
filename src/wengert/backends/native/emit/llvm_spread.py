"""Loops on threads, as LLVM IR: a frame for each part, what is done with them, and what they give put together."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ..form.loopform import Apply, Code, Expr, Slot, Spread
from .llvm_ops import LLVM_TYPES, result_type
from .llvm_writer import Writer


def spread(writer: Writer, statement: Spread) -> None:
    """Write a call of a procedure on parts of a loop."""
    _Parts(writer).spread(statement)


class _Parts:
    def __init__(self, writer: Writer):
        self.writer = writer

    def spread(self, statement: Spread) -> None:
        """Frames for all parts, side by side in memory; what they give is put together in their order."""
        s = statement
        values = ["i64 0", "i64 0", "i64 0", *(self._word(arg) for arg in s.args)]
        words = len(values) + len(s.results)
        parts, count = self.writer.expr(s.parts), self.writer.expr(s.count)
        size = self.writer.define(f"mul i64 {parts}, {8 * words}")
        frames = self.writer.define(f"call ptr @wg_allocate(ptr %memory, i64 {size})")
        self.writer.leave_if(self.writer.define(f"icmp eq ptr {frames}, null"))
        self._over_parts(
            parts, lambda part: self._fill(frames, words, part, (parts, count), values)
        )
        self.writer.operations.declare("wg_spread", "declare i32 @wg_spread(ptr, ptr, i64, i64)")
        status = self.writer.define(
            f"call i32 @wg_spread(ptr @{s.function}.chunk, ptr {frames}, i64 {8 * words}, i64 {parts})"
        )
        self.writer.leave_if(self.writer.define(f"icmp ne i32 {status}, 0"))
        for number, (slot, step) in enumerate(zip(s.results, s.steps, strict=True)):
            place = len(values) + number
            self._gather(
                slot, step, parts, lambda part, at=place: self._at(frames, words, part, at)
            )
        self.writer.lines.append(f"  call void @wg_release(ptr {frames})")

    def _word(self, value: Expr) -> str:
        found = self.writer.expr(value)
        if value.code == "b1":
            return f"i64 {self.writer.define(f'zext i1 {found} to i64')}"
        return f"{LLVM_TYPES[value.code]} {found}"

    def _at(self, frames: str, words: int, part: str, place: int) -> str:
        index = self.writer.define(
            f"add i64 {self.writer.define(f'mul i64 {part}, {words}')}, {place}"
        )
        return self.writer.define(f"getelementptr i64, ptr {frames}, i64 {index}")

    def _fill(
        self, frames: str, words: int, part: str, of: tuple[str, str], values: Sequence[str]
    ) -> None:
        parts, count = of
        start = self._share(part, parts, count)
        stop = self._share(self.writer.define(f"add i64 {part}, 1"), parts, count)
        for place, value in enumerate([f"i64 {part}", f"i64 {start}", f"i64 {stop}", *values[3:]]):
            self.writer.lines.append(f"  store {value}, ptr {self._at(frames, words, part, place)}")

    def _share(self, part: str, parts: str, count: str) -> str:
        """Where a part starts: the first ones are longer by one where there is a rest."""
        whole = self.writer.define(f"sdiv i64 {count}, {parts}")
        rest = self.writer.define(f"srem i64 {count}, {parts}")
        self.writer.operations.declare("llvm.smin.i64", "declare i64 @llvm.smin.i64(i64, i64)")
        more = self.writer.define(f"call i64 @llvm.smin.i64(i64 {part}, i64 {rest})")
        return self.writer.define(
            f"add i64 {self.writer.define(f'mul i64 {part}, {whole}')}, {more}"
        )

    def _over_parts(self, parts: str, write: Callable[[str], None], first: int = 0) -> None:
        """A loop over the parts; there is one at least."""
        place = self.writer.label("%part")
        self.writer.allocas.append(f"  {place} = alloca i64")
        self.writer.lines.append(f"  store i64 {first}, ptr {place}")
        test, body, end = (self.writer.label(hint) for hint in ("test", "body", "end"))
        self.writer.jump(test)
        self.writer.start(test)
        part = self.writer.define(f"load i64, ptr {place}")
        self.writer.branch(self.writer.define(f"icmp slt i64 {part}, {parts}"), body, end)
        self.writer.start(body)
        write(part)
        self.writer.lines.append(
            f"  store i64 {self.writer.define(f'add i64 {part}, 1')}, ptr {place}"
        )
        self.writer.jump(test)
        self.writer.start(end)

    def _gather(self, slot: Slot, step: str, parts: str, at: Callable[[str], str]) -> None:
        type_ = LLVM_TYPES[slot.code]

        def add(part: str) -> None:
            found = self._from_word(slot.code, at(part))
            before = self.writer.expr(slot)
            total = self.writer.operations.apply(
                self.writer, Apply(step, (slot, slot), slot.code), [before, found]
            )
            self.writer.lines.append(f"  store {type_} {total}, ptr %{slot.name}.v")

        if step == "last":
            last = self._from_word(slot.code, at(self.writer.define(f"sub i64 {parts}, 1")))
            self.writer.lines.append(f"  store {type_} {last}, ptr %{slot.name}.v")
            return
        first = self._from_word(slot.code, at("0"))
        self.writer.lines.append(f"  store {type_} {first}, ptr %{slot.name}.v")
        self._over_parts(parts, add, first=1)

    def _from_word(self, code: Code, place: str) -> str:
        found = self.writer.define(f"load {result_type(code)}, ptr {place}")
        return self.writer.define(f"trunc i64 {found} to i1") if code == "b1" else found
