"""The IR's text, its parser and its verifier."""

from __future__ import annotations

import importlib
import math
import pkgutil
from collections.abc import Callable
from functools import reduce
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st
from ir_parsing import parse
from ir_verifier import verify

from wengert import ops
from wengert.errors import InternalError
from wengert.ir.builder import Builder, kind_of_atom
from wengert.ir.graph import (
    CALL,
    FOR,
    IF,
    TRY,
    UNDEFINED,
    WHILE,
    ZERO,
    Atom,
    Block,
    Callee,
    Const,
    Eqn,
    Function,
    Input,
    Span,
    Var,
    walk,
)
from wengert.ir.notation import BINARY, UNARY
from wengert.ir.op import Op
from wengert.ir.records import replace
from wengert.ir.text import show, show_block
from wengert.ir.types import (
    BOOL,
    FLOAT,
    INT,
    RANGE,
    UNKNOWN,
    Array,
    Map,
    Number,
    Other,
    Seq,
    Static,
    Struct,
    join,
)
from wengert.ops import registry


def _joined(args: Any, params: Any) -> Any:
    return reduce(join, map(kind_of_atom, args))


_UNARY = (*UNARY, "sin", "sum")
_BINARY = (*BINARY, "maximum")
_OTHERS = ("getitem", "getattr", "add_at", "range")
OPS = {name: Op(name, infer=_joined) for name in (*_UNARY, *_BINARY, *_OTHERS)}
OPS["range"].infer = lambda args, params: RANGE
OPS["getattr"].infer = lambda args, params: UNKNOWN


_CLASSES = {cls.__name__: cls for cls in (ValueError, KeyError)}


def read(text: str, **constants: Any) -> Function:
    return parse(text, OPS.__getitem__, {**_CLASSES, **constants})


def poly() -> Function:
    x = Var(name="x")
    builder = Builder()

    def step(line: int, name: str, *args: Atom) -> Atom:
        builder.span = Span("/home/me/poly.py", line, 4, line, 20, "poly")
        return builder.emit(OPS[name], *args)

    squared = step(2, "mul", step(2, "mul", Const(3), x), x)
    total = step(2, "add", step(2, "add", squared, step(2, "mul", Const(2), x)), Const(1))
    return Function("poly", (Input("x", UNKNOWN),), builder.block([x], [total]), UNKNOWN)


# --- printing -----------------------------------------------------------------------------


def test_poly_reads_like_the_literature() -> None:
    x = Var(name="x")
    span = Span("/home/me/poly.py", 2, 4, 2, 30, "poly")
    values = [Var() for _ in range(5)]
    operands: list[tuple[str, Atom, Atom]] = [
        ("mul", Const(3), x),
        ("mul", values[0], x),
        ("mul", Const(2), x),
        ("add", values[1], values[2]),
        ("add", values[3], Const(1)),
    ]
    eqns = [
        Eqn((out,), OPS[name], args, span=span)
        for out, (name, *args_) in zip(values, operands, strict=True)
        for args in [tuple(args_)]
    ]
    body = Block((x,), tuple(eqns), (values[4],))
    assert str(Function("poly", (Input("x", UNKNOWN),), body, UNKNOWN)) == (
        "poly(x):\n"
        "    %1 = 3 * x              # poly.py:2\n"
        "    %2 = %1 * x\n"
        "    %3 = 2 * x\n"
        "    %4 = %2 + %3\n"
        "    %5 = %4 + 1\n"
        "    return %5"
    )


def test_an_origin_is_shown_where_the_line_changes() -> None:
    builder = Builder()
    x = Var(name="x")
    for line in (1, 1, 2, 1):
        builder.span = Span("a.py", line, 0, line, 1)
        builder.emit(OPS["sin"], x)
    function = Function("f", (Input("x", UNKNOWN),), builder.block([x], []), UNKNOWN)
    origins = [line.partition("#")[2].strip() for line in show(function).split("\n")]
    assert origins == ["", "a.py:1", "", "a.py:2", "a.py:1", ""]
    assert "#" not in show(function, spans=False)


def test_values_with_the_same_hint_are_told_apart_and_reserved_words_get_a_suffix() -> None:
    x, again, reserved = Var(name="x"), Var(name="x"), Var(name="inf")
    eqns = (
        Eqn((again,), OPS["neg"], (x,)),
        Eqn((reserved,), OPS["neg"], (again,)),
    )
    function = Function("f", (Input("x", UNKNOWN),), Block((x,), eqns, (reserved,)), UNKNOWN)
    assert show(function) == "f(x):\n    x.1 = -x\n    inf.1 = -x.1\n    return inf.1"
    assert read(show(function)) == function


ROUND_TRIPS = {
    "nothing": "f():\n    return",
    "inputs of every sort": """\
f(x: float, p: tuple(float, array[?, 2]) = (p_0, p_1), keyword k: dict('w': int) = (w), captured c):
    return p_0, w, c""",
    "kinds": """\
f(a: seq[array[float64, ?]], b: range, c: object(u: float, v: list(int)) = (u, v)) -> tuple():
    return""",
    "an input under another name": "f(x = (y)):\n    return y",
    "operators": """\
f(x, i):
    %1 = -x
    %2 = not %1
    %3 = %2 is not None
    %4 = x not in %3
    %5 = x % %4
    %6 = (-2) ** x
    %7 = x ** -2
    %8 = x[i]
    %9 = x.w
    %10 = ~x
    %11 = x << 2
    %12 = x | %11
    %13 = x == %12
    y = x.y
    y.1 = y.y
    return %9""",
    "subscripts": """\
f(x):
    %1 = x[1:]
    %2 = x[:, None, ..., ::-2]
    %3 = x[1,]
    %4 = x['key']
    %5 = x[()]
    %6 = x[(slice(1, None, None), 2), 1]
    return""",
    "constants": """\
f(x):
    %1 = maximum(1, -2.5)
    %2 = maximum(1e-05, -0.0)
    %3 = maximum(inf, -inf)
    %4 = maximum(nan, 2j)
    %5 = maximum((1-2j), (-0-1j))
    %6 = maximum(None, True)
    %7 = maximum('a # "quoted" \\\\ \\n', b'bytes')
    %8 = maximum((), (1, (2, 'a'), (3,)))
    %9 = maximum(UNDEFINED, ZERO)
    %10 = neg(1)
    return 1.0, 'return'""",
    "namespaces and options": """\
f(x):
    %1 = np.sin(x)
    %2 = method.sum(x, axis=(0, -1), keepdims=x)
    %3 = attr.sum(x)
    %4 = np.add(x, %3)
    return %4""",
    "calls": """\
f(x):
    %1, y: float = call f(x, 1)
    call f.<locals>.g()
    call <lambda>(y)
    return""",
    "comments": """\
f(x):
    # forward
    y = if x:
        # inner
        yield x
    else:
        yield 'not # one'
    # reverse: ∂y
    return y""",
    "branches": """\
f(x: float, c):
    y = if c:
        yield x
    else:
        %1 = -x
        if %1:
            yield
        else:
            yield
        yield %1
    return y""",
    "loops": """\
f(x: float, n, items: seq[float]):
    x.1, xs = for i in n with (x.2 = x):
        x.3 = x.2 * x
        yield x.3 | x.2
    ys = for item, j: int in reversed items, xs:
        yield | item
    for i.1 in n:
        yield
    r, n.1 = while (r.1: ? = 1, n.2 = n):
        %1 = n.2 < 0
        yield %1
    do (r.2, n.3: float):
        r.3 = r.2 * x
        %2 = r.3 < 0
        yield r.3, n.3 until %2
    while ():
        yield c
    do ():
        yield until True
    return r""".replace("yield c", "yield r"),
    "exceptions": """\
f(x: float, y0):
    e, y, z: float = try <ValueError>, <KeyError> else y0, UNDEFINED:
        %1 = -x
        e.1 = try <KeyError>:
            %2 = -%1
            yield
        yield %1, %1
    try <ValueError>:
        yield
    return e, y""",
}


def test_operators_are_the_vocabularys() -> None:
    for module in pkgutil.walk_packages(ops.__path__, f"{ops.__name__}."):
        importlib.import_module(module.name)
    for name, symbol in (BINARY | UNARY).items():
        assert registry.named(name).spellings["py"] == symbol.strip()


@pytest.mark.parametrize("text", ROUND_TRIPS.values(), ids=ROUND_TRIPS)
def test_text_survives_parsing_and_printing(text: str) -> None:
    assert show(read(text)) == text


def test_a_name_carries_its_hint_and_kind() -> None:
    function = read("f(x: float):\n    s.1: int = -x\n    return s.1")
    (out,) = function.body.eqns[0].outs
    assert (out.name, out.kind) == ("s", INT)


def test_implied_kinds_are_restored() -> None:
    text = ROUND_TRIPS["loops"]
    kinds = {out.name: out.kind for eqn in walk(read(text).body) for out in eqn.outs}
    assert kinds["xs"] == Seq(FLOAT)
    assert kinds["ys"] == Seq(FLOAT)
    assert kinds["x"] == FLOAT


def test_constants_without_a_literal_are_tokens_without_addresses() -> None:
    values = [math.sin, {}, SimpleNamespace, OPS["sin"], lambda: 0, Callee("g"), object()]
    eqns = tuple(Eqn((Var(),), OPS["sin"], (Const(value),)) for value in values)
    text = show(Function("f", (), Block((), eqns, ()), UNKNOWN))
    shown = [line.partition("sin(")[2] for line in text.split("\n")[1:-1]]
    name = test_constants_without_a_literal_are_tokens_without_addresses.__name__
    assert shown == [
        "<sin>)",
        "<dict>)",
        "<SimpleNamespace>)",
        "<sin>)",
        f"<{name}.locals.lambda>)",
        "<g>)",
        "<object>)",
    ]


def test_tokens_parse_when_their_values_are_given() -> None:
    text = (
        "f(p: object<SimpleNamespace>(w: float) = (w), g: static<sin> = ()):\n"
        "    %1 = -w\n"
        "    return <dict>"
    )
    holder: dict[str, int] = {}
    function = read(text, SimpleNamespace=SimpleNamespace, sin=math.sin, dict=holder)
    assert function.inputs[0].kind == Struct("object", ("w",), (FLOAT,), SimpleNamespace)
    assert function.inputs[1].kind == Static(math.sin)
    assert function.body.outs == (Const(holder),)
    assert show(function) == text


def test_a_recursive_call_finds_its_own_function() -> None:
    function = read("f(x):\n    %1 = call f(x)\n    return %1")
    assert function.body.eqns[0].param("callee").function is function
    verify(function)


def test_structural_equality_and_hash_follow_the_text() -> None:
    text = "f(x):\n    y = -x\n    return y"
    assert read(text) == read(text)
    assert hash(read(text)) == hash(read(text))
    assert read(text) != read(text.replace("-x", "not x"))
    assert read(text) != read("f(x: float):\n    y = -x\n    return y")


@pytest.mark.parametrize(
    ("text", "message", "line", "column"),
    [
        ("f(x):\n    y = foo(x)\n    return y", "there is no op 'foo'", 2, 9),
        ("f(x):\n    y = x + z\n    return y", "z is not defined here", 2, 13),
        ("f(x):\n    y = x ! 1\n    return y", "unexpected character", 2, 11),
        ("f(x):\n    y = x y\n    return y", "expected an operator", 2, 11),
        ("f(x):\n   y = -x\n    return y", "indentation is not a multiple of 4", 2, 4),
        ("f(x):\n    y = -x\n", "expected an equation or 'return' at column 5", 3, 1),
        ("f(x):\n    x = -x\n    return x", "x is defined twice", 2, 11),
        ("f(x):\n    return <C>", "the constant <C> has no literal", 2, 12),
        ("f(x):\n    return x x", "expected the end of the line", 2, 14),
        ("f(x: tuple(float)):\n    return", None, 1, None),
        ("f(x: tuple(float, int)):\n    return", "x has 2 leaves, not 1", 1, 23),
        ("f(x):\n    if x:\n        yield\n    return", "expected 'else' at column 5", 4, 5),
        ("f(x):\n    return 1 +", "expected the end of the line", 2, 14),
        ("f(x):\n    return -x", "expected a number", 2, 13),
        ("f(x):\n    return )", "expected a value or a constant", 2, 12),
    ],
)
def test_bad_text_is_refused_at_its_place(
    text: str, message: str | None, line: int, column: int | None
) -> None:
    if message is None:
        assert show(read(text)).startswith("f(x: tuple(float)")
        return
    with pytest.raises(SyntaxError) as caught:
        read(text)
    assert caught.value.msg.startswith(message)
    assert (caught.value.lineno, caught.value.offset) == (line, column)


# --- generated functions ------------------------------------------------------------------

_HINTS = st.sampled_from(["", "", "x", "y", "s_bar", "Ω", "x̄", "inf", "until", "π2"])
_KINDS = st.sampled_from(
    [
        UNKNOWN,
        UNKNOWN,
        FLOAT,
        INT,
        BOOL,
        Number("complex"),
        Array(),
        Array("float64", 2),
        Seq(FLOAT),
        Seq(Array("", 1)),
        Struct("tuple", (0, 1), (FLOAT, Seq(UNKNOWN))),
        Map(Other("str"), FLOAT),
        Map(Struct("tuple", (0, 1), (INT, Other("str"))), Seq(Array("float64", 2))),
        Other("str"),
    ]
)
_SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.complex_numbers(),
    st.text(max_size=5),
    st.binary(max_size=3),
    st.just(...),
)
_SLICES = st.builds(slice, *[st.none() | st.integers(-3, 3)] * 3)
_CONSTANTS = st.one_of(
    _SCALARS,
    _SLICES,
    st.lists(_SCALARS | _SLICES, max_size=3).map(tuple),
    st.just(UNDEFINED.value),
).map(Const)


class Generator:
    """Draws well-formed functions: every value used is in scope."""

    def __init__(self, draw: Callable[[Any], Any]):
        self.draw = draw
        self.scope: list[Var] = []

    def variable(self) -> Var:
        return Var(self.draw(_KINDS), self.draw(_HINTS))

    def variables(self, most: int = 2) -> tuple[Var, ...]:
        return tuple(self.variable() for _ in range(self.draw(st.integers(0, most))))

    def atom(self) -> Atom:
        if self.scope and self.draw(st.integers(0, 3)):
            return self.draw(st.sampled_from(self.scope))
        return self.draw(_CONSTANTS)

    def atoms(self, count: int) -> tuple[Atom, ...]:
        return tuple(self.atom() for _ in range(count))

    def block(self, params: tuple[Var, ...], results: int, depth: int) -> Block:
        outer, self.scope = self.scope, [*self.scope, *params]
        eqns: list[Eqn] = []
        for _ in range(self.draw(st.integers(0, 3))):
            eqns.append(self.equation(depth))
            self.scope.extend(eqns[-1].outs)
        block = Block(params, tuple(eqns), self.atoms(results))
        self.scope = outer
        return block

    def equation(self, depth: int) -> Eqn:
        forms = [self.operation, self.operation, self.call]
        if depth:
            forms += [self.if_, self.for_, self.while_, self.try_]
        return self.draw(st.sampled_from(forms))(depth - 1)

    def operation(self, depth: int) -> Eqn:
        name = self.draw(st.sampled_from([*_UNARY, *_BINARY, "getitem", "getattr"]))
        args = self.atoms(1 if name in _UNARY or name == "getattr" else 2)
        names = self.draw(st.lists(st.sampled_from(["axis", "key", "name"]), unique=True))
        params: dict[str, Atom] = {option: self.atom() for option in names}
        if name == "getattr":
            params = {"name": Const(self.draw(st.sampled_from(["w", "x", "not a name"])))}
        namespace = self.draw(st.sampled_from(["py", "py", "np", "math", "method", "attr"]))
        implied = OPS[name].infer(args, params)
        out = Var(self.draw(st.sampled_from([implied, UNKNOWN, FLOAT])), self.draw(_HINTS))
        return Eqn((out,), OPS[name], args, params, (), namespace, self.span())

    def span(self) -> Span | None:
        line = self.draw(st.integers(0, 3))
        return Span("/a/b.py", line, 0, line, 1) if line else None

    def call(self, depth: int) -> Eqn:
        callee = Callee(self.draw(st.sampled_from(["g", "<lambda>", "h.<locals>.g"])))
        return Eqn(self.variables(), CALL, self.atoms(2), {"callee": Const(callee)})

    def if_(self, depth: int) -> Eqn:
        outs = tuple(Var(UNKNOWN, self.draw(_HINTS)) for _ in self.variables())
        blocks = tuple(self.block((), len(outs), depth) for _ in range(2))
        return Eqn(outs, IF, self.atoms(1), {}, blocks)

    def try_(self, depth: int) -> Eqn:
        outs = tuple(Var(UNKNOWN, self.draw(_HINTS)) for _ in self.variables())
        classes = self.draw(st.sampled_from([(ValueError,), (KeyError, ValueError)]))
        exception = Var(UNKNOWN, self.draw(_HINTS))
        body = self.block((), len(outs), depth)
        instead = self.atoms(len(outs))
        return Eqn((exception, *outs), TRY, instead, {"catches": Const(classes)}, (body,))

    def loop_body(self, params: tuple[Var, ...], carried: int, stop: bool, depth: int) -> Any:
        collected = self.draw(st.integers(0, 2))
        body = self.block(params, stop + carried + collected, depth)
        outs = tuple(Var(UNKNOWN, self.draw(_HINTS)) for _ in range(carried + collected))
        return outs, body

    def carried(self) -> tuple[Var, ...]:
        return tuple(Var(UNKNOWN, self.draw(_HINTS)) for _ in self.variables())

    def for_(self, depth: int) -> Eqn:
        iterables = self.draw(st.integers(1, 2))
        items = tuple(self.variable() for _ in range(iterables))
        carried, stop = self.carried(), self.draw(st.booleans())
        args = self.atoms(iterables + len(carried))
        outs, body = self.loop_body((*items, *carried), len(carried), stop, depth)
        options = {"iterables": iterables, "reverse": self.draw(st.booleans()), "stop": stop}
        return Eqn(outs, FOR, args, {k: Const(v) for k, v in options.items()}, (body,))

    def while_(self, depth: int) -> Eqn:
        carried, stop = self.carried(), self.draw(st.booleans())
        args = self.atoms(len(carried))
        test = self.block(carried, 1, depth)
        again = tuple(Var(UNKNOWN, self.draw(_HINTS)) for _ in carried)
        outs, body = self.loop_body(again, len(carried), stop, depth)
        return Eqn(outs, WHILE, args, {"stop": Const(stop)}, (test, body))


@st.composite
def functions(draw: Callable[[Any], Any]) -> Function:
    generator = Generator(draw)
    names = draw(st.lists(st.sampled_from(["x", "y", "p", "inf"]), unique=True, max_size=3))
    how = st.sampled_from(["positional", "keyword", "captured", "unbound"])
    inputs = tuple(Input(name, draw(_KINDS), draw(how)) for name in names)
    params = tuple(
        Var(leaf, draw(st.just(each.name) | _HINTS))
        for each in inputs
        for leaf in (each.kind.items if isinstance(each.kind, Struct) else (each.kind,))
    )
    count = draw(st.integers(0, 2))
    result = Struct("tuple", tuple(range(count)), (UNKNOWN,) * count)
    return Function("f", inputs, generator.block(params, count, 3), result)


@settings(max_examples=150, deadline=None)
@given(functions())
def test_parsing_undoes_printing(function: Function) -> None:
    parsed = read(show(function))
    assert show(parsed, spans=False) == show(function, spans=False)
    assert parsed == function


@settings(max_examples=100, deadline=None)
@given(functions())
def test_the_verifier_accepts_well_formed_functions(function: Function) -> None:
    verify(function)
    verify(read(show(function)))


@settings(max_examples=50, deadline=None)
@given(functions())
def test_parsed_values_have_the_kinds_of_the_printed_ones(function: Function) -> None:
    def kinds(f: Function) -> list[Any]:
        return [out.kind for eqn in walk(f.body) for out in eqn.outs]

    assert kinds(read(show(function))) == kinds(function)


# --- the verifier -------------------------------------------------------------------------


def refused(function: Function, where: str = "") -> str:
    with pytest.raises(InternalError) as caught:
        verify(function, where=where)
    return str(caught.value)


CORRUPT_TEXTS = {
    "a value leaves a branch": (
        (
            "f(c):\n    y = if c:\n        z = -c\n        yield z\n    else:\n        yield c\n"
            "    return z"
        ),
        "dominance: 'z' is used outside its block",
    ),
    "a branch uses the other's": (
        (
            "f(c):\n    y = if c:\n        z = -c\n        yield z\n    else:\n        yield z\n"
            "    return y"
        ),
        "dominance: 'z' is used outside its block",
    ),
    "branches disagree in number": (
        "f(c):\n    y = if c:\n        yield c, 1\n    else:\n        yield c\n    return y",
        "arity: results of a branch: 2, expected 1",
    ),
    "a result's kind does not cover a branch": (
        "f(c):\n    y: int = if c:\n        yield 1\n    else:\n        yield 1.5\n    return y",
        "kinds: 'y' is int, which does not cover float",
    ),
    "an array is not a number": (
        (
            "f(c, a: array[float64, 1]):\n    y: array[?, ?] = if c:\n        yield a\n    else:\n"
            "        yield 0.0\n    return y"
        ),
        "kinds: 'y' is array[?, ?], which does not cover float",
    ),
    "a loop body gives too little": (
        "f(n):\n    a, b = for i in n with (a.1 = 0, b.1 = 1):\n        yield a.1\n    return a",
        "arity: results of a loop's body: 1, expected 2",
    ),
    "a carried value has no result": (
        "f(n):\n    for i in n with (a.1 = 0):\n        yield a.1\n    return n",
        "arity: a carried value has no result",
    ),
    "a carried value changes its kind": (
        "f(n):\n    a: ? = for i in n with (a.1 = 0):\n        yield 1.5\n    return a",
        "kinds: 'a' is int, which does not cover float",
    ),
    "a test without a result": (
        "f(n):\n    while ():\n        yield\n    do ():\n        yield\n    return n",
        "arity: results of the test: 0, expected 1",
    ),
    "test and body differ": (
        (
            "f(n):\n    a = while (a.1 = 1):\n        yield n\n    do ():\n        yield 1\n"
            "    return a"
        ),
        "arity: parameters of a loop's block: 0, expected 1",
    ),
    "a result is missing": (
        "f(x) -> tuple(float, float):\n    return x",
        "arity: results for the leaves of its result: 1, expected 2",
    ),
    "a written buffer is read": (
        "f(b, i):\n    c = add_at(b, i, 1.0)\n    y = b[i]\n    return c",
        "linearity: 'b' is used after add_at wrote to it",
    ),
    "a written buffer is returned": (
        "f(b, i):\n    c = add_at(b, i, 1.0)\n    return b",
        "linearity: 'b' is used after add_at wrote to it",
    ),
    "a buffer is written twice": (
        "f(b, i):\n    c = add_at(b, i, 1.0)\n    d = add_at(b, i, 1.0)\n    return d",
        "linearity: 'b' is used after add_at wrote to it",
    ),
    "a branch wrote to a buffer": (
        (
            "f(b, i):\n    c = if i:\n        d = add_at(b, i, 1.0)\n        yield d\n    else:\n"
            "        yield b\n    return b"
        ),
        "linearity: 'b' is used after add_at wrote to it",
    ),
    "a loop writes to a buffer from outside": (
        "f(b, n):\n    for i in n:\n        c = add_at(b, i, 1.0)\n        yield\n    return n",
        "linearity: 'b' is written to again by every iteration",
    ),
    "a loop wrote to what it started with": (
        (
            "f(b, n):\n    c = for i in n with (b.1 = b):\n        b.2 = add_at(b.1, i, 1.0)\n"
            "        yield b.2\n    return b"
        ),
        "linearity: 'b' is used after add_at wrote to it",
    ),
}


@pytest.mark.parametrize(("text", "message"), CORRUPT_TEXTS.values(), ids=CORRUPT_TEXTS)
def test_the_verifier_catches(text: str, message: str) -> None:
    assert f"[WG901] {message}\n" in refused(read(text))


def test_buffers_may_be_threaded_through_branches_and_loops() -> None:
    function = read(
        "f(b, n):\n"
        "    c = for i in n with (b.1 = b):\n"
        "        b.2 = if i:\n"
        "            b.3 = add_at(b.1, i, 1.0)\n"
        "            yield b.3\n"
        "        else:\n"
        "            yield b.1\n"
        "        yield b.2\n"
        "    return c"
    )
    verify(function)
    assert read(show(function)) == function


def _with_body(function: Function, **changes: Any) -> Function:
    return replace(function, body=replace(function.body, **changes))


def test_the_verifier_catches_a_second_definition() -> None:
    function = poly()
    eqns = function.body.eqns
    assert "single assignment: a value is defined a second time" in refused(
        _with_body(function, eqns=(*eqns, eqns[-1]))
    )


def test_the_verifier_catches_a_use_before_the_definition() -> None:
    function = poly()
    message = refused(_with_body(function, eqns=function.body.eqns[::-1]), "reverse of poly")
    assert "[WG901] reverse of poly: dominance: a value is used before its definition" in message


def test_the_verifier_catches_missing_blocks_and_still_reports() -> None:
    function = read(ROUND_TRIPS["branches"])
    eqn = replace(function.body.eqns[0], blocks=())
    message = refused(_with_body(function, eqns=(eqn,)))
    assert "arity: blocks of if: 0, expected 2" in message
    assert "the block cannot be shown" in message


def test_the_verifier_catches_a_call_that_does_not_fit() -> None:
    callee = Callee("poly", poly())
    eqn = Eqn((Var(),), CALL, (), {"callee": Const(callee)})
    function = Function("f", (), Block((), (eqn,), ()), Struct("tuple", (), ()))
    assert "arity: arguments of poly: 0, expected 1" in refused(function)
    nothing = replace(eqn, params={})
    assert "call does not say what it calls" in refused(_with_body(function, eqns=(nothing,)))


def test_the_verifier_catches_missing_parameters() -> None:
    function = replace(poly(), inputs=())
    assert "arity: parameters for the leaves of its inputs: 1, expected 0" in refused(function)


def test_the_message_shows_the_smallest_block_and_the_users_line() -> None:
    text = CORRUPT_TEXTS["a branch uses the other's"][0]
    function = read(text)
    span = Span("model.py", 7, 0, 7, 3, "loss")
    eqn = replace(function.body.eqns[0], span=span)
    message = refused(_with_body(function, eqns=(eqn,)))
    assert "\n\n    yield z\n" in message
    assert "model.py:7, in loss" in message
    assert "return" not in message


def test_a_block_is_shown_with_the_names_of_its_function() -> None:
    function = read(ROUND_TRIPS["loops"])
    inner = function.body.eqns[0].blocks[0]
    assert show_block(function, inner) == "x.3 = x.2 * x\nyield x.3 | x.2".replace(" | ", ", ")


def test_absent_values_may_be_merged_with_anything() -> None:
    function = read(
        "f(c):\n"
        "    y: float = if c:\n"
        "        yield UNDEFINED\n"
        "    else:\n"
        "        yield ZERO\n"
        "    return y"
    )
    verify(function)
    assert function.body.eqns[0].blocks[1].outs == (ZERO,)
