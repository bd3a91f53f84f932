"""The primitive operations of the loop form as LLVM instructions.

Elementary functions are LLVM's intrinsics or calls of the C library, marked with what there is
for vectors of them (`vector_functions`), so that a loop over elements calls that.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from typing import Protocol

from ..form.loopform import Apply, Code
from ..vector_math.vector_functions import Vectors

LLVM_TYPES: dict[Code, str] = {
    "b1": "i1", "i64": "i64", "f64": "double", "f32": "float", "ptr": "ptr",
}  # fmt: skip


def in_memory(code: Code) -> str:
    """The type of an element: NumPy keeps a truth value in a byte."""
    return "i8" if code == "b1" else LLVM_TYPES[code]


def result_type(code: Code) -> str:
    """How a result is written to memory: a truth value as an integer."""
    return "i64" if code == "b1" else LLVM_TYPES[code]


_FLOAT = {
    "add": "fadd", "sub": "fsub", "mul": "fmul", "div": "fdiv", "fmod": "frem", "neg": "fneg",
    "add_any": "fadd reassoc contract", "mul_any": "fmul reassoc", "mul_of_sum": "fmul contract",
}  # fmt: skip
_INTEGER = {
    "add": "add", "sub": "sub", "mul": "mul", "quotient": "sdiv", "rem": "srem", "xor": "xor",
    "and": "and", "or": "or", "shift_left": "shl", "shift_right": "ashr",
}  # fmt: skip
_FLOAT_TESTS = {"lt": "olt", "le": "ole", "gt": "ogt", "ge": "oge", "eq": "oeq", "ne": "une"}
_INTEGER_TESTS = {
    "lt": "slt", "le": "sle", "gt": "sgt", "ge": "sge", "eq": "eq", "ne": "ne", "outside": "uge",
}  # fmt: skip
_TRUTH_TESTS = {"lt": "ult", "le": "ule", "gt": "ugt", "ge": "uge"}
"""Of numbers of one bit, which with a sign would be -1."""
_INTRINSICS = frozenset(
    [
        "exp", "exp2", "log", "log2", "log10", "sqrt", "sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh",
        "tanh", "atan2", "pow", "fabs", "floor", "ceil", "trunc", "rint", "copysign", "maximum", "minimum",
    ]
)  # fmt: skip
_IN_C = {
    "gamma": "tgamma", "expm1": "expm1", "log1p": "log1p", "cbrt": "cbrt", "erf": "erf", "erfc": "erfc",
    "lgamma": "lgamma", "hypot": "hypot", "asinh": "asinh", "acosh": "acosh", "atanh": "atanh",
    "nextafter": "nextafter",
}  # fmt: skip


class Instructions(Protocol):
    """Where instructions are written to.

    `may_be_vectors` says whether what is written may become vectors: numbers alone are computed as Python does.
    """

    may_be_vectors: bool

    def define(self, text: str) -> str:
        """Write an instruction; gives the name of its result."""
        ...


def symbol(procedure: str) -> str:
    """What LLVM calls a procedure: a function of the user's that is called `log` is not that of the C library."""
    return f"@{procedure}.body"


class Operations:
    """Instructions, and the declarations they need.

    `vectors` says which functions of vectors this machine has.
    """

    def __init__(self, vectors: Vectors) -> None:
        self._declared: dict[str, str] = {}
        self._kept: dict[str, None] = {}
        self._notes: dict[str, int] = {}
        self._vectors = vectors

    def declarations(self) -> Iterator[str]:
        yield from self._declared.values()
        if self._kept:
            names = ", ".join(f"ptr @{name}" for name in self._kept)
            size = len(self._kept)
            yield (
                f"@llvm.compiler.used = appending global [{size} x ptr] [{names}], "
                'section "llvm.metadata"'
            )
        for text, number in self._notes.items():
            yield f'attributes #{number} = {{ "vector-function-abi-variant"="{text}" }}'

    @staticmethod
    def constant(value: float | int | bool, code: Code) -> str:
        """A number as LLVM writes it: floats by their bits."""
        if code == "b1":
            return "true" if value else "false"
        if code == "i64":
            return str(int(value))
        if code == "f32":
            (value,) = struct.unpack("<f", struct.pack("<f", value))
        (bits,) = struct.unpack("<Q", struct.pack("<d", value))
        return f"0x{bits:016X}"

    def apply(self, printer: Instructions, value: Apply, args: Sequence[str]) -> str:
        """The instruction of an operation."""
        op, code = value.op, value.code
        source = value.args[0].code
        if op in LLVM_TYPES:
            return printer.define(_conversion(args[0], source, code))
        if op == "select":
            condition, then, other = args
            type_ = LLVM_TYPES[code]
            return printer.define(f"select i1 {condition}, {type_} {then}, {type_} {other}")
        if op == "not":
            return printer.define(f"xor i1 {args[0]}, true")
        if op == "threads":
            self.declare("wg_threads", "declare i64 @wg_threads(i64)")
            return printer.define(f"call i64 @wg_threads(i64 {args[0]})")
        if op == "address":
            return printer.define(f"ptrtoint ptr {args[0]} to i64")
        if op == "pointer":
            return printer.define(f"inttoptr i64 {args[0]} to ptr")
        if op in ("bits", "from_bits"):
            types = LLVM_TYPES[source], LLVM_TYPES[code]
            return printer.define(f"bitcast {types[0]} {args[0]} to {types[1]}")
        if source in ("f64", "f32"):
            return self._on_floats(printer, op, source, args)
        return self._on_integers(printer, op, source, args)

    def _on_floats(self, printer: Instructions, op: str, code: Code, args: Sequence[str]) -> str:
        type_ = LLVM_TYPES[code]
        if op in _FLOAT_TESTS:
            return printer.define(f"fcmp {_FLOAT_TESTS[op]} {type_} {', '.join(args)}")
        if op in _FLOAT:
            return printer.define(f"{_FLOAT[op]} {type_} {', '.join(args)}")
        name = self._function(op, code, len(args))
        note = self._vector_note(name, op, code, len(args)) if printer.may_be_vectors else ""
        operands = ", ".join(f"{type_} {arg}" for arg in args)
        return printer.define(f"call {type_} @{name}({operands}){note}")

    def _on_integers(self, printer: Instructions, op: str, code: Code, args: Sequence[str]) -> str:
        type_ = LLVM_TYPES[code]
        if op in _INTEGER_TESTS:
            test = _TRUTH_TESTS.get(op, "") if code == "b1" else ""
            return printer.define(f"icmp {test or _INTEGER_TESTS[op]} {type_} {', '.join(args)}")
        if op in _INTEGER:
            return printer.define(f"{_INTEGER[op]} {type_} {', '.join(args)}")
        if op == "neg":
            return printer.define(f"sub {type_} 0, {args[0]}")
        if op == "wrapped":
            negative = printer.define(f"icmp slt i64 {args[0]}, 0")
            from_end = printer.define(f"add i64 {args[0]}, {args[1]}")
            return printer.define(f"select i1 {negative}, i64 {from_end}, i64 {args[0]}")
        if op == "abs":
            self.declare("llvm.abs.i64", "declare i64 @llvm.abs.i64(i64, i1)")
            return printer.define(f"call i64 @llvm.abs.i64(i64 {args[0]}, i1 false)")
        if op in ("max", "min"):
            name = f"llvm.s{op}.i64"
            self.declare(name, f"declare i64 @{name}(i64, i64)")
            return printer.define(f"call i64 @{name}(i64 {args[0]}, i64 {args[1]})")
        operation = op.removesuffix("_overflows")
        name = f"llvm.s{operation}.with.overflow.i64"
        self.declare(name, f"declare {{ i64, i1 }} @{name}(i64, i64)")
        pair = printer.define(f"call {{ i64, i1 }} @{name}(i64 {args[0]}, i64 {args[1]})")
        return printer.define(f"extractvalue {{ i64, i1 }} {pair}, 1")

    # --- functions ------------------------------------------------------------------------

    def _function(self, op: str, code: Code, arity: int) -> str:
        """The name of an elementary function."""
        type_ = LLVM_TYPES[code]
        if op in _INTRINSICS:
            name = f"llvm.{op}.{code}"
            effects = ""
        else:
            name = _IN_C[op] + ("f" if code == "f32" else "")
            effects = " nounwind willreturn memory(none)"
        operands = ", ".join([type_] * arity)
        self.declare(name, f"declare {type_} @{name}({operands}){effects}")
        return name

    def _vector_note(self, name: str, op: str, code: Code, arity: int) -> str:
        """What stands behind a call: what the function is for vectors."""
        variants: list[str] = []
        for shape, vector in self._vectors.variants(op, code, arity):
            operands = ", ".join([shape.type] * arity)
            effects = "nounwind willreturn memory(none)"
            self.declare(vector, f"declare {shape.type} @{vector}({operands}) {effects}")
            self._kept[vector] = None
            variants.append(f"_ZGV_LLVM_N{shape.lanes}{'v' * arity}_{name}({vector})")
        if not variants:
            return ""
        number = self._notes.setdefault(",".join(variants), len(self._notes) + 1)
        return f" #{number}"

    def declare(self, name: str, text: str) -> None:
        """Declare a function, once."""
        self._declared.setdefault(name, text)


def _conversion(value: str, source: Code, target: Code) -> str:
    kinds = {
        ("i64", "f64"): "sitofp", ("i64", "f32"): "sitofp", ("b1", "f64"): "uitofp",
        ("b1", "f32"): "uitofp", ("b1", "i64"): "zext", ("f32", "f64"): "fpext",
        ("f64", "f32"): "fptrunc", ("f64", "i64"): "fptosi", ("f32", "i64"): "fptosi",
    }  # fmt: skip
    kind = kinds[source, target]
    return f"{kind} {LLVM_TYPES[source]} {value} to {LLVM_TYPES[target]}"
