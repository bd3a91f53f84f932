"""Lines of the intermediate code of an entry point."""

from __future__ import annotations

from ..form.loopform import Slot
from ..program.function import Lowered
from .python_objects import table


class EntryLines:
    """The lines of one entry point: names, tests and memory for single values."""

    def __init__(self, lowered: Lowered):
        self.lowered = lowered
        self.main = lowered.procedures[0]
        self.lines: list[str] = []
        self.numbers = {name: k for k, name in enumerate(table())}
        self.found: dict[Slot, str] = {}
        self.arrays: dict[Slot, str] = {}
        self._count = 0
        self._start = 0

    def define(self, text: str) -> str:
        self._count += 1
        self.lines.append(f"  %e{self._count} = {text}")
        return f"%e{self._count}"

    def do(self, text: str) -> None:
        self.lines.append(f"  {text}")

    def from_table(self, name: str) -> str:
        place = self.define(f"getelementptr i64, ptr %table, i64 {self.numbers[name]}")
        return self.define(f"load ptr, ptr {place}, !invariant.load !{{}}")

    def at(self, base: str, offset: int, type_: str) -> str:
        place = self.define(f"getelementptr i8, ptr {base}, i64 {offset}")
        return self.define(f"load {type_}, ptr {place}")

    def leave_unless(self, condition: str, where: str = "other") -> None:
        self._count += 1
        self.do(f"br i1 {condition}, label %on{self._count}, label %{where}")
        self.lines.append(f"on{self._count}:")

    def same(self, type_: str, a: str, b: str) -> str:
        return self.define(f"icmp eq {type_} {a}, {b}")

    def local(self, type_: str) -> str:
        """Memory for one value, made at the start of the function."""
        self._count += 1
        self.lines.insert(self._start, f"  %m{self._count} = alloca {type_}")
        return f"%m{self._count}"
