"""Elementary functions of vectors, which loops call that LLVM makes vectors of: ours, or glibc's.

Ours are machine code of their own, made when a program is compiled that calls them: their texts are here, and `machine`
compiles them. A function for one number stays the C library's.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from ....ir.records import record
from ..form.loopform import Code
from .vector_words import Floats, Lines, Shape, Truths

if TYPE_CHECKING:
    from .vector_formulas import Formula

OURS = frozenset(["exp", "expm1", "log", "log1p", "sin", "cos", "tan", "tanh", "erf", "pow"])
"""What `vector_formulas` has formulas for."""
GLIBCS = frozenset(
    [
        "exp2", "log2", "log10", "asin", "acos", "atan", "sinh", "cosh", "atan2", "cbrt", "erfc", "asinh", "acosh",
        "atanh", "hypot",
    ]
)  # fmt: skip
"""What is left to libmvec, which has it for vectors of floats of 64 bits from glibc 2.35 on."""
VECTORISED = OURS | GLIBCS

_NAMES = rf"wg_(?:{'|'.join(sorted(OURS))})_f(?:64|32)x\d+(?=\0)".encode()

_IN_C = {"f64": "", "f32": "f"}
"""How names of the C library's functions end."""


@record
class Vectors:
    """What a machine has for vectors.

    Attributes:
        shapes: the vectors that our functions can be made for.
        glibcs: the letters and widths of libmvec's functions.
    """

    shapes: tuple[Shape, ...] = ()
    glibcs: tuple[tuple[str, int], ...] = ()

    def variants(self, op: str, code: Code, arity: int) -> Iterator[tuple[Shape, str]]:
        """The functions that compute an operation on vectors, by name."""
        if op in OURS:
            yield from ((shape, name_of(op, shape)) for shape in self.shapes if shape.code == code)
        elif op in GLIBCS and code == "f64":
            for letter, lanes in self.glibcs:
                yield Shape(code, lanes), f"_ZGV{letter}N{lanes}{'v' * arity}_{op}"


def name_of(op: str, shape: Shape) -> str:
    return f"wg_{op}_{shape.code}x{shape.lanes}"


def called_in(code: bytes) -> list[str]:
    """The names of our functions that object code calls."""
    return sorted({name.decode() for name in re.findall(_NAMES, code)})


def text_of(name: str) -> str:
    """A module of LLVM IR with one of our functions, as `vector`."""
    from .vector_formulas import FORMULAS

    op, kind = name.removeprefix("wg_").rsplit("_", 1)
    code, lanes = kind.split("x")
    shape = Shape("f64" if code == "f64" else "f32", int(lanes))
    formula = FORMULAS[op]
    made = Lines(shape)
    params = [Floats(made, name) for name in ("%x", "%y")[: formula.arity]]
    found = formula.ordinary(*params)
    if formula.is_ordinary is None:
        parts = [_function("vector", made, params, found)]
    else:
        _leave(made, params, formula.is_ordinary(*params), found)
        parts = [_function("vector", made, params, found), _rest(op, formula, made, params)]
    return "\n".join([*parts, *made.declared, _NOTES])


def _leave(made: Lines, params: Sequence[Floats], test: Truths, found: Floats) -> None:
    """Go to `rest` unless all arguments are ordinary."""
    s = made.shape
    all_ = made.call(f"llvm.vector.reduce.and.v{s.lanes}i1", "i1", (s.of_truths, test.name))
    args = [*(f"{s.type} {p.name}" for p in (*params, found)), f"{s.of_truths} {test.name}"]
    made.lines += [
        f"  br i1 {all_}, label %done, label %more, !prof !0",
        "more:",
        f"  %rest = tail call {s.type} @rest({', '.join(args)})",
        f"  ret {s.type} %rest",
        "done:",
    ]


def _rest(op: str, formula: Formula, made: Lines, params: Sequence[Floats]) -> str:
    s = made.shape
    more = f", {s.type} %found, {s.of_truths} %ordinary"
    made.start()
    if formula.rest is not None:
        return _function("rest", made, params, formula.rest(*params), more)
    number = "double" if s.code == "f64" else "float"
    called = op + _IN_C[s.code]
    made.declared[f"declare {number} @{called}({', '.join([number] * len(params))})"] = None
    made.lines += _ONE_BY_ONE.splitlines()
    args: list[str] = []
    for p in params:
        made.lines.append(f"  {p.name}.i = extractelement {s.type} {p.name}, i64 %i")
        args.append(f"{number} {p.name}.i")
    made.lines += [
        f"  %one = call {number} @{called}({', '.join(args)})",
        f"  %with = insertelement {s.type} %so.far, {number} %one, i64 %i",
        *_NEXT_ONE.splitlines(),
    ]
    text = _function("rest", made, params, Floats(made, "%now"), more)
    return (
        text.replace("VECTOR", s.type).replace("TRUTHS", s.of_truths).replace("LANES", str(s.lanes))
    )


_ONE_BY_ONE = """\
start:
  br label %turn
turn:
  %i = phi i64 [ 0, %start ], [ %i.next, %next ]
  %so.far = phi VECTOR [ %found, %start ], [ %now, %next ]
  %is.done = extractelement TRUTHS %ordinary, i64 %i
  br i1 %is.done, label %next, label %compute
compute:"""

_NEXT_ONE = """\
  br label %next
next:
  %now = phi VECTOR [ %so.far, %turn ], [ %with, %compute ]
  %i.next = add i64 %i, 1
  %again = icmp ult i64 %i.next, LANES
  br i1 %again, label %turn, label %done
done:"""


def _function(
    name: str, made: Lines, params: Sequence[Floats], result: Floats, more: str = ""
) -> str:
    """A function of the module; `more` are parameters of what is seldom called."""
    type_ = made.shape.type
    inside = ", ".join(f"{type_} {p.name}" for p in params) + more
    head = f"{'internal ' if more else ''}{type_} @{name}({inside})"
    notes = "noinline cold nounwind" if more else "nounwind"
    lines = [f"define {head} {notes} #0 {{", *made.lines, f"  ret {type_} {result.name}", "}"]
    return "\n".join(lines)


_NOTES = '!0 = !{!"branch_weights", i32 100000, i32 1}\n'
