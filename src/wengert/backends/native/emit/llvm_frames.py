"""Ways into a procedure by a frame: its parameters and results, 8 bytes each, one after the other."""

from __future__ import annotations

from collections.abc import Sequence

from ..form.loopform import Procedure, Slot
from .llvm_ops import LLVM_TYPES, symbol
from .llvm_runtime import MEMORY


def chunk_function(procedure: Procedure) -> str:
    """The function that a thread calls: with a frame, and memory of its own."""
    head = f"define internal i32 @{procedure.name}.chunk(ptr %frame) nounwind #0 {{"
    lines = [
        f"  %memory = alloca {MEMORY}",
        f"  store {MEMORY} zeroinitializer, ptr %memory",
        f"  %status = call i32 @{procedure.name}.frame(ptr %memory, ptr %frame)",
        "  call void @wg_release_all(ptr %memory)",
        "  ret i32 %status",
        "}",
        "",
    ]
    return "\n".join([frame_function(procedure), head, *lines])


def frame_function(procedure: Procedure) -> str:
    """The function that calls a procedure with what stands in a frame."""
    lines: list[str] = []
    args = ["ptr %memory"]
    for k, slot in enumerate(procedure.params):
        type_ = "i64" if slot.code == "b1" else LLVM_TYPES[slot.code]
        lines += [
            f"  %a{k} = getelementptr i64, ptr %frame, i64 {k}",
            f"  %v{k} = load {type_}, ptr %a{k}",
        ]
        if slot.code == "b1":
            lines.append(f"  %b{k} = trunc i64 %v{k} to i1")
        args.append(f"{LLVM_TYPES[slot.code]} %{'b' if slot.code == 'b1' else 'v'}{k}")
    for k in range(len(procedure.results)):
        place = len(procedure.params) + k
        lines.append(f"  %r{k} = getelementptr i64, ptr %frame, i64 {place}")
        args.append(f"ptr %r{k}")
    # inlined, it would be compiled once more
    call = f"  %status = call i32 {symbol(procedure.name)}({', '.join(args)}) noinline"
    head = f"define i32 @{procedure.name}.frame(ptr %memory, ptr %frame) nounwind #0 {{"
    return "\n".join([head, *lines, call, "  ret i32 %status", "}", ""])


def parameters_text(procedure: Procedure, fresh: Sequence[Slot] = ()) -> str:
    """The parameters of a procedure: memory, what it is given, and where its results go."""
    inputs = [
        f"{LLVM_TYPES[p.code]}{' noalias' * (p in fresh)} %{p.name}" for p in procedure.params
    ]
    outputs = [f"ptr noalias %out.{r.name}" for r in procedure.results]
    return ", ".join(["ptr %memory", *inputs, *outputs])
