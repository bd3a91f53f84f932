"""What functions of Numba's that call our machine code are made of: calls by address, words, bytes and tables."""

# Numba has no types, need not be installed, and reads functions of ours that are typed otherwise than they run:
# pyright: reportMissingImports=false, reportUntypedFunctionDecorator=false, reportCallIssue=false
# pyright: reportMissingParameterType=false, reportUnknownParameterType=false

from __future__ import annotations

from typing import Any

from numba import types
from numba.extending import intrinsic, register_jitable


@intrinsic
def call_by_address(typing_context: Any, address: Any, memory: Any, words: Any) -> Any:
    """Call machine code by its address."""
    signature = types.int32(types.int64, types.uintp, types.uintp)

    def write(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        from llvmlite import ir  # pyright: ignore[reportMissingTypeStubs]

        pointer = ir.IntType(8).as_pointer()
        kind = ir.FunctionType(ir.IntType(32), [pointer, pointer])
        function = builder.inttoptr(args[0], kind.as_pointer())
        return builder.call(function, [builder.inttoptr(a, pointer) for a in args[1:]])

    return signature, write


@intrinsic
def _word_at(typing_context: Any, address: Any) -> Any:
    """A word of memory."""
    signature = types.int64(types.int64)

    def write(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        from llvmlite import ir  # pyright: ignore[reportMissingTypeStubs]

        return builder.load(builder.inttoptr(args[0], ir.IntType(64).as_pointer()))

    return signature, write


@intrinsic
def copied_bytes(typing_context: Any, target: Any, source: Any, size: Any) -> Any:
    """Copy bytes."""
    signature = types.void(types.uintp, types.int64, types.int64)

    def write(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        from llvmlite import ir  # pyright: ignore[reportMissingTypeStubs]
        from numba.core import cgutils

        pointer = ir.IntType(8).as_pointer()
        target, source = (builder.inttoptr(a, pointer) for a in args[:2])
        cgutils.raw_memcpy(builder, target, source, args[2], 1)
        return context.get_dummy_value()

    return signature, write


@register_jitable
def found_address(table: int, key: int) -> int:
    """The address under a key; 0 if there is none."""
    for number in range(_word_at(table)):
        if _word_at(table + 8 + 16 * number) == key:
            return _word_at(table + 16 + 16 * number)
    return 0


@register_jitable
def key_of_sizes(sizes: tuple[int, ...]) -> int:
    """As `key_of`: which sizes are the same, and which are 1."""
    key, known = 0, 0
    for k in range(len(sizes)):
        digit = 0
        if sizes[k] != 1:
            for j in range(k):
                if digit == 0 and sizes[j] == sizes[k]:
                    digit = (key >> (4 * j)) & 15
            if digit == 0:
                known += 1
                digit = known
        key |= digit << (4 * k)
    return key
