"""Reading IR text back; the grammar stands in `text`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from ir_lexing import INDENT, Line
from ir_literals import Literals, several

from wengert.ir.graph import (
    CALL,
    COMMENT,
    FOR,
    IF,
    TRY,
    WHILE,
    Atom,
    Block,
    Callee,
    Const,
    Eqn,
    Function,
    Input,
    Var,
)
from wengert.ir.notation import BINARY, UNARY, expected_item, expected_results, kinds_of, leaf_kinds
from wengert.ir.op import Op
from wengert.ir.types import UNKNOWN, Kind

Lookup = Callable[[str], Op]
Binding = tuple[str, Kind | None]

_BINARY = {symbol: name for name, symbol in BINARY.items()}
_UNARY = {symbol.strip(): name for name, symbol in UNARY.items()}


def parse(text: str, ops: Lookup, constants: Mapping[str, Any] | None = None) -> Function:
    """The function that a text shows.

    Args:
        text: what `show` gave, possibly edited.
        ops: gives the op of a name, or raises KeyError.
        constants: the values that tokens such as `<C>` stand for, by name: `{"C": C}`.

    Raises:
        SyntaxError: the text is not IR; it carries the line and the column.
    """
    return _Parser(text, ops, constants or {}).function()


class _Results(NamedTuple):
    """What a block ends with."""

    carried: list[Atom]
    collected: list[Atom]
    stop: list[Atom]

    @property
    def atoms(self) -> tuple[Atom, ...]:
        return (*self.stop, *self.carried, *self.collected)


class _Right(NamedTuple):
    """The right-hand side of an equation."""

    op: Op
    args: Sequence[Atom]
    params: Mapping[str, Atom] = {}
    blocks: tuple[Block, ...] = ()
    namespace: str = "py"


class _Parser:
    def __init__(self, text: str, ops: Lookup, constants: Mapping[str, Any]):
        numbered = [*enumerate(text.split("\n"), 1)]
        self.lines = [Line(n, line) for n, line in numbered if line.strip(" #")]
        self.lines.append(Line(len(numbered), ""))
        self.next = 0
        self.ops = ops
        self.literals = Literals(constants, self.op)
        self.values: dict[str, Var] = {}
        self.callees: dict[str, Callee] = {}

    # --- functions ------------------------------------------------------------------------

    def function(self) -> Function:
        line = self.line()
        name = line.until_parenthesis()
        line.expect("(")
        params: list[Var] = []
        inputs = several(line, ")", lambda: self.input(line, params))
        result = self.literals.kind(line) if line.accept("->") else UNKNOWN
        self.end_of_head(line)
        body = self.block(params, line.depth + 1, "return")
        self.line().expect("")
        function = Function(name, tuple(inputs), body, result)
        if name in self.callees:
            self.callees[name].function = function
        return function

    def input(self, line: Line, params: list[Var]) -> Input:
        how = (
            line.advance()
            if line.token.text in ("keyword", "captured", "unbound")
            else "positional"
        )
        name = line.advance()
        kind = self.literals.kind(line) if line.accept(":") else UNKNOWN
        kinds = leaf_kinds(kind)
        leaves: list[Binding] = [(name, None)]
        if line.accept("="):
            line.expect("(")
            leaves = several(line, ")", lambda: self.binding(line))
        if len(leaves) != len(kinds):
            line.fail(f"{name} has {len(kinds)} leaves, not {len(leaves)}")
        params += self.define(line, leaves, kinds)
        return Input(name, kind, how)

    # --- blocks ---------------------------------------------------------------------------

    def line(self, *, comments: bool = False) -> Line:
        line = self.lines[min(self.next, len(self.lines) - 1)]
        self.next += 1
        return line if comments or not line.comment else self.line()

    def block(self, params: Iterable[Var], depth: int, closing: str = "yield") -> Block:
        eqns: list[Eqn] = []
        while True:
            line = self.line(comments=True)
            if line.comment:
                eqns.append(Eqn((), COMMENT, (), {"text": Const(line.comment)}))
                continue
            if line.depth != depth or line.token.form == "end":
                line.fail(f"expected an equation or {closing!r} at column {depth * INDENT + 1}")
            if line.accept(closing):
                return Block(tuple(params), tuple(eqns), self.results(line).atoms)
            eqns.append(self.equation(line, depth))

    def results(self, line: Line) -> _Results:
        carried = [] if line.token.text in ("", "|", "until") else self.atoms(line)
        collected = self.atoms(line) if line.accept("|") else []
        stop = [self.atom(line)] if line.accept("until") else []
        line.expect("")
        return _Results(carried, collected, stop)

    def equation(self, line: Line, depth: int) -> Eqn:
        targets: list[Binding] = []
        if line.has_targets():
            targets = several(line, "=", lambda: self.binding(line))
        right = self.right(line, depth)
        expected = expected_results(right.op, right.args, right.params, right.blocks)
        outs = self.define(line, targets, expected)
        args, params = tuple(right.args), right.params
        return Eqn(outs, right.op, args, params, right.blocks, right.namespace)

    def right(self, line: Line, depth: int) -> _Right:
        heads = {"if": self.if_, "for": self.for_, "while": self.while_, "try": self.try_}
        control = heads.get(line.token.text)
        if control is not None:
            line.advance()
            return control(line, depth)
        right = self.call(line) if line.accept("call") else self.operation(line)
        line.expect("")
        return right

    def if_(self, line: Line, depth: int) -> _Right:
        condition = self.atom(line)
        self.end_of_head(line)
        then = self.block((), depth + 1)
        self.end_of_head(self.head("else", depth))
        return _Right(IF, (condition,), {}, (then, self.block((), depth + 1)))

    def try_(self, line: Line, depth: int) -> _Right:
        catches = [self.literals.constant(line)]
        while line.accept(","):
            catches.append(self.literals.constant(line))
        instead = self.atoms(line) if line.accept("else") else []
        self.end_of_head(line)
        body = self.block((), depth + 1)
        return _Right(TRY, instead, _constants({"catches": tuple(catches)}), (body,))

    def for_(self, line: Line, depth: int) -> _Right:
        items = several(line, "in", lambda: self.binding(line))
        reverse = line.accept("reversed")
        iterables = self.atoms(line)
        carried, initials = self.initials(line) if line.accept("with") else ([], [])
        checkpointing = self.checkpointing(line)
        self.end_of_head(line)
        params = [
            *self.define(line, items, map(expected_item, iterables)),
            *self.define(line, carried, kinds_of(initials)),
        ]
        body, stop = self.loop_body(params, depth + 1)
        options = {"iterables": len(iterables), "reverse": reverse, "stop": stop}
        params_of_loop = {**_constants(options), **checkpointing}
        return _Right(FOR, [*iterables, *initials], params_of_loop, (body,))

    def while_(self, line: Line, depth: int) -> _Right:
        carried, initials = self.initials(line)
        checkpointing = self.checkpointing(line)
        self.end_of_head(line)
        params = self.define(line, carried, kinds_of(initials))
        test = self.block(params, depth + 1)
        line = self.head("do", depth)
        line.expect("(")
        carried = several(line, ")", lambda: self.binding(line))
        self.end_of_head(line)
        again = self.define(line, carried, kinds_of(params))
        body, stop = self.loop_body(again, depth + 1)
        return _Right(WHILE, initials, {"stop": Const(stop), **checkpointing}, (test, body))

    def checkpointing(self, line: Line) -> dict[str, Atom]:
        params: dict[str, Atom] = {}
        if line.accept("every"):
            params["every"] = self.atom(line)
        if line.accept("again"):
            params["again"] = Const(True)
        return params

    def loop_body(self, params: Iterable[Var], depth: int) -> tuple[Block, bool]:
        body = self.block(params, depth)
        closing = self.lines[self.next - 1]
        return body, any(token[:2] == ("name", "until") for token in closing.tokens)

    def head(self, word: str, depth: int) -> Line:
        line = self.line()
        if line.depth != depth or not line.accept(word):
            line.fail(f"expected {word!r} at column {depth * INDENT + 1}")
        return line

    def end_of_head(self, line: Line) -> None:
        line.expect(":")
        line.expect("")

    def initials(self, line: Line) -> tuple[list[Binding], list[Atom]]:
        line.expect("(")
        pairs = several(line, ")", lambda: self.initial(line))
        return [binding for binding, _ in pairs], [atom for _, atom in pairs]

    def initial(self, line: Line) -> tuple[Binding, Atom]:
        binding = self.binding(line)
        line.expect("=")
        return binding, self.atom(line)

    # --- operations -----------------------------------------------------------------------

    def call(self, line: Line) -> _Right:
        name = line.until_parenthesis()
        args, params = self.operands(line)
        callee = self.callees.setdefault(name, Callee(name))
        return _Right(CALL, args, {**params, "callee": Const(callee)})

    def operation(self, line: Line) -> _Right:
        text, following = line.token.text, line.after
        if text in _UNARY and following.form in ("value", "name"):
            line.advance()
            return _Right(self.op(line, _UNARY[text]), [self.atom(line)])
        if self.at_application(line):
            return self.application(line)
        left = self.atom(line)
        if line.accept("["):
            return _Right(self.op(line, "getitem"), [left, self.subscript(line)])
        if line.accept("."):
            name = line.expect_form("name")
            return _Right(self.op(line, "getattr"), [left], {"name": Const(name)})
        op = self.op(line, self.infix(line))
        return _Right(op, [left, self.atom(line)])

    def infix(self, line: Line) -> str:
        symbol = line.token.text
        if symbol in ("is", "not") and line.after.text in ("not", "in"):
            symbol = f"{line.advance()} {line.token.text}"
        if symbol not in _BINARY:
            line.fail("expected an operator")
        line.advance()
        return _BINARY[symbol]

    def at_application(self, line: Line) -> bool:
        """Whether `name(` or `namespace.name(` comes next."""
        tokens, at = line.tokens, line.position
        while tokens[at].form in ("name", "token") and tokens[at + 1].text == ".":
            at += 2
        return tokens[at].form == "name" and tokens[at + 1].text == "("

    def application(self, line: Line) -> _Right:
        column = line.token.column
        name = line.until_parenthesis()
        namespace, _, op_name = name.partition(".") if "." in name else ("py", ".", name)
        op = self.op(line, op_name, column)
        args, params = self.operands(line)
        return _Right(op, args, params, namespace=namespace)

    def op(self, line: Line, name: str, column: int | None = None) -> Op:
        try:
            return self.ops(name)
        except KeyError:
            line.fail(f"there is no op {name!r}", column)

    def operands(self, line: Line) -> tuple[list[Atom], dict[str, Atom]]:
        args: list[Atom] = []
        params: dict[str, Atom] = {}

        def operand() -> None:
            if line.token.form == "name" and line.after.text == "=":
                name = line.advance()
                line.expect("=")
                params[name] = self.atom(line)
            else:
                args.append(self.atom(line))

        line.expect("(")
        several(line, ")", operand)
        return args, params

    def subscript(self, line: Line) -> Atom:
        items = [self.dimension(line)]
        while line.accept(","):
            if line.token.text == "]":
                break
            items.append(self.dimension(line))
        else:
            if len(items) == 1:
                line.expect("]")
                return items[0]
        line.expect("]")
        return Const(tuple(self.value_of(line, item) for item in items))

    def dimension(self, line: Line) -> Atom:
        bounds = [self.bound(line)]
        while line.accept(":"):
            bounds.append(self.bound(line))
        if len(bounds) == 1:
            return bounds[0]
        return Const(slice(*(self.value_of(line, bound) for bound in bounds)))

    def bound(self, line: Line) -> Atom:
        return Const(None) if line.token.text in (":", ",", "]") else self.atom(line)

    # --- values ---------------------------------------------------------------------------

    def binding(self, line: Line) -> Binding:
        if line.token.form not in ("name", "value"):
            line.fail("expected the name of a value")
        name = line.advance()
        return name, self.literals.kind(line) if line.accept(":") else None

    def define(
        self, line: Line, bindings: Sequence[Binding], expected: Iterable[Kind]
    ) -> tuple[Var, ...]:
        for (name, kind), implied in zip(bindings, expected, strict=False):
            if name in self.values:
                line.fail(f"{name} is defined twice")
            hint = "" if name.startswith("%") else name.partition(".")[0]
            self.values[name] = Var(implied if kind is None else kind, hint)
        return tuple(self.values[name] for name, _ in bindings)

    def atoms(self, line: Line) -> list[Atom]:
        atoms = [self.atom(line)]
        while line.accept(","):
            atoms.append(self.atom(line))
        return atoms

    def atom(self, line: Line) -> Atom:
        if line.token.form in ("value", "name") and line.token.text in self.values:
            return self.values[line.advance()]
        return Const(self.literals.constant(line))

    def value_of(self, line: Line, atom: Atom) -> Any:
        return atom.value if isinstance(atom, Const) else line.fail("expected a constant")


def _constants(values: Mapping[str, Any]) -> dict[str, Atom]:
    return {name: Const(value) for name, value in values.items()}
