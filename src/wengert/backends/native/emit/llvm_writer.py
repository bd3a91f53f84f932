"""Instructions of LLVM, one after the other, and the values of expressions in them."""

from __future__ import annotations

from ....ir.records import replace
from ..form.loopform import Apply, Code, Constant, Expr, Load, Slot
from .llvm_ops import LLVM_TYPES, Operations, in_memory


class Writer:
    """Where a procedure is written to.

    Attributes:
        operations: what is declared beside it.
        lines: its instructions.
        exits: where it gives up, behind them.
        allocas: the memory in its frame, before them.
        group: what stands behind the accesses of the loop that is being written.
        may_be_vectors: whether what is written may become vectors.
    """

    def __init__(self, operations: Operations):
        self.operations = operations
        self.lines: list[str] = []
        self.exits: list[str] = []
        self.allocas: list[str] = []
        self.group = ""
        self.may_be_vectors = False
        self._count = 0

    def define(self, text: str) -> str:
        """A name for the result of an instruction."""
        self._count += 1
        name = f"%t.{self._count}"
        self.lines.append(f"  {name} = {text}")
        return name

    def label(self, hint: str) -> str:
        self._count += 1
        return f"{hint}.{self._count}"

    def start(self, label: str) -> None:
        self.lines.append(f"{label}:")

    def jump(self, label: str, note: str = "") -> None:
        self.lines.append(f"  br label %{label}{note}")

    def branch(self, condition: str, then: str, other: str, note: str = "") -> None:
        self.lines.append(f"  br i1 {condition}, label %{then}, label %{other}{note}")

    def leave_if(self, condition: str) -> None:
        """Give up where a condition holds."""
        leave, after = self.label("exit"), self.label("on")
        self.branch(condition, leave, after, ", !prof !0")
        self.exits += [f"{leave}:", f"  ret i32 {len(self.exits) // 2 + 1}"]
        self.start(after)

    # --- expressions ----------------------------------------------------------------------

    def expr(self, value: Expr) -> str:
        match value:
            case Constant(value=number, code=code):
                return self.operations.constant(number, code)
            case Slot(name=name, code=code):
                return self.define(f"load {LLVM_TYPES[code]}, ptr %{name}.v")
            case Load(pointer=pointer, index=index, code=code):
                found = self.define(
                    f"load {in_memory(code)}, ptr {self.address(pointer, index, code)}{self.group}"
                )
                return self.define(f"trunc i8 {found} to i1") if code == "b1" else found
            case Apply(op=op, args=args):
                if op == "add_any":  # a product is added to a sum without being rounded before
                    args = tuple(map(_of_sum, args))
                return self.operations.apply(self, value, [self.expr(arg) for arg in args])

    def address(self, pointer: Slot, index: Expr, code: Code) -> str:
        base, offset = self.expr(pointer), self.expr(index)
        return self.define(f"getelementptr inbounds {in_memory(code)}, ptr {base}, i64 {offset}")


def _of_sum(value: Expr) -> Expr:
    return (
        replace(value, op="mul_of_sum") if isinstance(value, Apply) and value.op == "mul" else value
    )
