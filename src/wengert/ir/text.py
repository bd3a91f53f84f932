"""IR as text: `show` prints a function; the tests have a parser that reads it back.

    poly(x: float) -> float:
        %1 = 3 * x              # poly.py:2
        %2 = %1 * x
        return %2

One equation a line, one operation an equation. Names are unique in a function: `s`, then `s.1`,
`s.2` for values that share the user's name, `%1`, `%2` … for values without one, counted in the
order in which the text defines them.

    function  = NAME "(" [input {"," input}] ")" ["->" kind] ":" block
    input     = ["keyword" | "captured" | "unbound"] NAME [":" kind] ["=" "(" bindings ")"]
    block     = equations one level deeper, ended by "return" or "yield" [atoms]
    equation  = [bindings "="] right-hand side
    bindings  = NAME [":" kind] {"," NAME [":" kind]}

An input whose leaves are not just itself lists them: `p: tuple(float, float) = (p_0, p_1)`.

Right-hand sides:

    a + b    -a    not a    x[1:, i]    x.w         operators, in namespace "py"
    maximum(a, b)                                   any other op, in namespace "py"
    math.sin(x)    np.sum(x, axis=0)                an op in another namespace, under the op's own
    method.sum(x)  attr.transpose(x)                name, options last and by keyword
    call f(a, b)                                    another function of the IR, leaf by leaf

Control, with the blocks of the equation below its head:

    y = if c:                               x, xs = for i in reversed items with (x.1 = x0):
        yield a                                 ...
    else:                                       yield x.2 | x.1 until stop
        yield b

    r, n = while (r.1 = 1, n.1 = n0):
        %1 = n.1 > 0
        yield %1
    do (r.2, n.2):
        ...
        yield r.3, n.3

    e, y = try <ValueError>, <KeyError> else y0:
        ...
        yield y.1

`for i, j in a, b` walks several sequences at once, `reversed` walks backwards; `with` starts what
the loop carries. Before the colon of a `for` or `while`, `every 10` or `every None` says how often
reverse mode keeps what the loop carries, and `again` that it runs the iterations again. A body yields
what it carries, after `|` what it collects, and after `until` the condition that ends the loop after
this iteration. `try` lists what it catches, and after `else` what its results but the first are if it
does.

A kind stands where it is not what the op or the blocks imply: `float`, `array[float64, 2]`,
`array[?, ?]`, `seq[float]`, `dict('w': float)`, `object<C>(w: float)`, `?` for unknown. A constant
without a literal prints as a token, `<C>`; `parse` needs a value for it.

In the path of a write, `.w` is the step to an attribute and `.method.reshape(shape=(2, 3))` the step to a
view: `store(p, .w, 1, 2.0)` for `p.w[1] = 2.0`.

A line of its own that starts with `#` is an equation as well: it comments the generated code.

The text leaves out docstrings, which arrays are known to have equal shapes, and for `parse` the
origins (file and line) that `show` adds as comments where they change.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice, zip_longest
from typing import TYPE_CHECKING

from .notation import (
    BINARY,
    NOT_IN_NAMES,
    RESERVED,
    UNARY,
    constant,
    constant_text,
    expected_item,
    expected_results,
    function_name,
    kind_text,
    kinds_of,
    leaf_kinds,
    subscript_text,
)
from .types import UNKNOWN, Kind
from .values import CALL, COMMENT, FOR, IF, TRY, WHILE, Atom, Const, Var

if TYPE_CHECKING:
    from .graph import Block, Eqn, Function, Input, Span

_ORIGIN_COLUMN = 26


def show(function: Function, spans: bool = True) -> str:
    """The text of a function; with `spans`, origins stand as comments where they change."""
    return _Printer(spans).function(function)


def show_with_places(function: Function) -> list[tuple[str, Span | None]]:
    """The lines of the text of a function, without comments of origins, and what the user wrote for each."""
    printer = _Printer(spans=False)
    printer.function(function)
    return list(zip(printer.lines, printer.places, strict=True))


def show_block(function: Function, block: Block) -> str:
    """The text of one block of a function, with the names it has in the whole."""
    printer = _Printer(spans=False)
    printer.function(function)
    printer.lines = []
    printer.block(block, 0, "return" if block is function.body else "yield")
    return "\n".join(printer.lines)


class _Printer:
    def __init__(self, spans: bool):
        self.spans = spans
        self.lines: list[str] = []
        self.places: list[Span | None] = []
        self.names: dict[Var, str] = {}
        self.used: dict[str, int] = {}
        self.origin: tuple[str, int] | None = None

    def function(self, function: Function) -> str:
        inputs = ", ".join(self.inputs(function))
        result = "" if function.result == UNKNOWN else f" -> {kind_text(function.result)}"
        self.line(0, f"{function_name(function.name)}({inputs}){result}:")
        self.block(function.body, 1, "return")
        return "\n".join(self.lines)

    def inputs(self, function: Function) -> Iterator[str]:
        params = iter(function.body.params)
        for each in function.inputs:
            kinds = leaf_kinds(each.kind)
            yield self.input(each, list(islice(params, len(kinds))), kinds)

    def input(self, each: Input, params: list[Var], kinds: list[Kind]) -> str:
        text = each.name if each.how == "positional" else f"{each.how} {each.name}"
        if each.kind != UNKNOWN:
            text += f": {kind_text(each.kind)}"
        leaves = self.bindings(params, kinds)
        return text if leaves == each.name else f"{text} = ({leaves})"

    # --- blocks ---------------------------------------------------------------------------

    def block(
        self, block: Block, depth: int, closing: str = "yield", within: Span | None = None
    ) -> None:
        for eqn in block.eqns:
            self.equation(eqn, depth)
        self.line(depth, f"{closing} {self.uses(block.outs)}", within=within)

    def equation(self, eqn: Eqn, depth: int) -> None:
        if eqn.op is COMMENT:
            self.line(depth, f"# {constant(eqn.params, 'text', '')}")
            return
        expected = expected_results(eqn.op, eqn.args, eqn.params, eqn.blocks)
        outs = self.bindings(eqn.outs, expected)
        target = f"{outs} = " if outs else ""
        if eqn.op is IF:
            self.if_(eqn, target, depth)
        elif eqn.op is TRY:
            self.try_(eqn, target, depth)
        elif eqn.op is FOR:
            self.for_(eqn, target, depth)
        elif eqn.op is WHILE:
            self.while_(eqn, target, depth)
        else:
            self.line(depth, target + self.operation(eqn), eqn.span)

    def if_(self, eqn: Eqn, target: str, depth: int) -> None:
        then, other = eqn.blocks
        self.line(depth, f"{target}if {self.uses(eqn.args)}:", eqn.span)
        self.block(then, depth + 1, within=eqn.span)
        self.line(depth, "else:", within=eqn.span)
        self.block(other, depth + 1, within=eqn.span)

    def try_(self, eqn: Eqn, target: str, depth: int) -> None:
        (body,) = eqn.blocks
        catches = ", ".join(map(constant_text, constant(eqn.params, "catches", ())))
        instead = f" else {self.uses(eqn.args)}" if eqn.args else ""
        self.line(depth, f"{target}try {catches}{instead}:", eqn.span)
        self.block(body, depth + 1, within=eqn.span)

    def for_(self, eqn: Eqn, target: str, depth: int) -> None:
        (body,) = eqn.blocks
        count = constant(eqn.params, "iterables", 1)
        iterables, initials = eqn.args[:count], eqn.args[count:]
        items = self.bindings(body.params[:count], map(expected_item, iterables))
        backwards = "reversed " if constant(eqn.params, "reverse", False) else ""
        head = f"{target}for {items} in {backwards}{self.uses(iterables)}"
        carried = self.initials(body.params[count:], initials)
        head = f"{head} with ({carried})" if carried else head
        self.line(depth, f"{head}{self.checkpointing(eqn)}:", eqn.span)
        self.loop_body(eqn, body, len(initials), depth + 1)

    def while_(self, eqn: Eqn, target: str, depth: int) -> None:
        test, body = eqn.blocks
        head = f"{target}while ({self.initials(test.params, eqn.args)})"
        self.line(depth, f"{head}{self.checkpointing(eqn)}:", eqn.span)
        self.block(test, depth + 1, within=eqn.span)
        self.line(
            depth, f"do ({self.bindings(body.params, kinds_of(test.params))}):", within=eqn.span
        )
        self.loop_body(eqn, body, len(eqn.args), depth + 1)

    def checkpointing(self, eqn: Eqn) -> str:
        every = f" every {self.use(eqn.params['every'])}" if "every" in eqn.params else ""
        return f"{every} again" if constant(eqn.params, "again", False) else every

    def loop_body(self, eqn: Eqn, body: Block, carried: int, depth: int) -> None:
        for inner in body.eqns:
            self.equation(inner, depth)
        stop = int(constant(eqn.params, "stop", False))
        results = body.outs[stop:]
        text = f"yield {self.uses(results[:carried])}"
        if len(results) > carried:
            text = f"{text.rstrip()} | {self.uses(results[carried:])}"
        until = f" until {self.uses(body.outs[:1])}" if stop else ""
        self.line(depth, text.rstrip() + until, within=eqn.span)

    def initials(self, params: Sequence[Var], initials: Sequence[Atom]) -> str:
        starts = [self.use(atom) for atom in initials]
        carried = [self.binding(*pair) for pair in zip(params, kinds_of(initials), strict=False)]
        pairs = zip_longest(carried, starts, fillvalue="?")
        return ", ".join(f"{param} = {start}" for param, start in pairs)

    # --- operations -----------------------------------------------------------------------

    def operation(self, eqn: Eqn) -> str:
        if eqn.op is CALL:
            return self.call(eqn)
        sugar = self.sugar(eqn) if eqn.namespace == "py" else None
        if sugar is not None:
            return sugar
        name = function_name(eqn.op.name)
        # a dotted name would read as a namespace
        bare = eqn.namespace == "py" and "." not in name
        return f"{name if bare else f'{eqn.namespace}.{name}'}({self.operands(eqn)})"

    def sugar(self, eqn: Eqn) -> str | None:
        """An operation as Python's own syntax, if it has one."""
        match eqn.op.name, eqn.args, eqn.params:
            case "getattr", (Var() as x,), {"name": Const(value=str(name))}:
                return f"{self.use(x)}.{name}" if name.isidentifier() else None
            case _ if eqn.params:
                return None
            case "getitem", (Var() as x, index), _:
                return f"{self.use(x)}[{self.subscript(index)}]"
            case name, (x, y), _ if name in BINARY:
                return f"{self.left(x)} {BINARY[name]} {self.use(y)}"
            case name, (Var() as x,), _ if name in UNARY:
                return f"{UNARY[name]}{self.use(x)}"
            case _:
                return None

    def left(self, atom: Atom) -> str:
        """A left operand: in parentheses where it would read as an operation of its own."""
        text = self.use(atom)
        return f"({text})" if text.startswith(("-", "slice(")) else text

    def subscript(self, index: Atom) -> str:
        return self.use(index) if isinstance(index, Var) else subscript_text(index.value)

    def call(self, eqn: Eqn) -> str:
        name = function_name(eqn.param("callee").name)
        return f"call {name}({self.operands(eqn, but='callee')})"

    def operands(self, eqn: Eqn, but: str = "") -> str:
        options = sorted(item for item in eqn.params.items() if item[0] != but)
        texts = [self.use(atom) for atom in eqn.args]
        return ", ".join(texts + [f"{name}={self.use(atom)}" for name, atom in options])

    # --- names and lines ------------------------------------------------------------------

    def bindings(self, variables: Iterable[Var], expected: Iterable[Kind]) -> str:
        pairs = zip(variables, expected, strict=False)
        return ", ".join(self.binding(*pair) for pair in pairs)

    def binding(self, variable: Var, expected: Kind) -> str:
        name = self.names.get(variable) or self.fresh(variable.name)
        self.names[variable] = name
        return name if variable.kind == expected else f"{name}: {kind_text(variable.kind)}"

    def fresh(self, hint: str) -> str:
        name = re.sub(NOT_IN_NAMES, "_", hint)
        if name[:1].isdigit():
            name = f"_{name}"
        count = self.used.get(name, 1 if name in RESERVED or not name else 0)
        self.used[name] = count + 1
        if not name:
            return f"%{count}"
        return f"{name}.{count}" if count else name

    def uses(self, atoms: Sequence[Atom]) -> str:
        return ", ".join(map(self.use, atoms))

    def use(self, atom: Atom) -> str:
        """A value or constant where it is read; `?` marks a value that nothing defines before."""
        if isinstance(atom, Const):
            return constant_text(atom.value)
        return self.names.get(atom, f"?{atom.name}")

    def line(
        self, depth: int, code: str, span: Span | None = None, within: Span | None = None
    ) -> None:
        text = "    " * depth + code.rstrip()
        if self.spans and span is not None and (span.file, span.line) != self.origin:
            self.origin = span.file, span.line
            text = f"{text:<{_ORIGIN_COLUMN}}  # {span}"
        self.lines.append(text)
        self.places.append(span or within)
