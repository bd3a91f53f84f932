"""IR printed as Python: what it looks like, that it means the same, and how it behaves when run."""

from __future__ import annotations

import ast
import gc
import inspect
import linecache
import logging
import math
import random
import shutil
import subprocess
import sys
import traceback
from dataclasses import dataclass
from textwrap import dedent
from types import SimpleNamespace
from typing import NamedTuple

import numpy as np
import pytest
from interpreter import evaluate
from ir_parsing import parse
from places import ROOT

import wengert as wg
import wengert.ops  # declares the vocabulary
from wengert.backends.python import joint_source, publish, render, render_together
from wengert.backends.python.traceback import shown_at_user_lines
from wengert.ir.graph import (
    CALL,
    COMMENT,
    FOR,
    IF,
    UNDEFINED,
    WHILE,
    Block,
    Callee,
    Const,
    Eqn,
    Function,
    Input,
    Span,
    Var,
)
from wengert.ir.records import replace
from wengert.ir.types import BOOL, FLOAT, INT, UNKNOWN, Array, Seq, Static, Struct
from wengert.ops import registry, structure as st

VECTOR = Array("float64", 1)


def read(text, **constants):
    """IR from its text."""
    return parse(dedent(text).strip(), registry.named, constants)


def body(function, **options):
    """The printed lines below the `def`, unindented."""
    lines = render(function, **options).text.split("\n")[1:]
    return dedent("\n".join(lines)).strip()


def expect(text, *lines, **constants):
    assert body(read(text, **constants)) == dedent("\n".join(lines)).strip()


def binary(left, op, right):
    out = Var(FLOAT)
    return Eqn((out,), registry.named(op), (left, right))


def of_leaves(name, params, eqns, outs, result=None):
    """A function of plain arguments."""
    kinds = tuple(FLOAT for _ in outs)
    kind = result or (
        kinds[0] if len(outs) == 1 else Struct("tuple", tuple(range(len(outs))), kinds)
    )
    inputs = tuple(Input(p.name, p.kind) for p in params)
    return Function(name, inputs, Block(tuple(params), tuple(eqns), tuple(outs)), kind)


# --- the look -----------------------------------------------------------------------------


def test_the_adjoint_of_the_logistic_map_reads_as_in_the_design():
    def at(line):
        return Span("/home/me/model.py", line, 4, line, 20, "logistic")

    function = read(
        """
        grad_logistic(r: float, x: float, n: int) -> tuple(float, float):
            %1 = range(n)
            x.1: float, xs: seq[float] = for _ in %1 with (x.2: float = x):
                %2 = r * x.2
                %3 = 1 - x.2
                x.3 = %2 * %3
                yield x.3 | x.2
            r_bar, x_bar = for x.4 in reversed xs with (r_bar.1: float = 0.0, x_bar.1: float = 1.0):
                %4 = x_bar.1 * x.4
                %5 = 1 - x.4
                %6 = %4 * %5
                r_bar.2 = r_bar.1 + %6
                %7 = x_bar.1 * r
                %8 = 2 * x.4
                %9 = 1 - %8
                x_bar.2 = %7 * %9
                yield r_bar.2, x_bar.2
            return r_bar, x_bar
        """
    )

    def located(block, line):
        eqns = [
            replace(
                e,
                span=at(3 if e.blocks or e.op.name == "range" else line),
                blocks=tuple(located(b, 4) for b in e.blocks),
            )
            for e in block.eqns
        ]
        return replace(block, eqns=tuple(eqns))

    main = located(function.body, 3)
    forward, reverse = (Eqn((), COMMENT, (), {"text": Const(t)}) for t in ("forward", "reverse"))
    main = replace(main, eqns=(forward, *main.eqns[:-1], reverse, main.eqns[-1]))
    printed = render(replace(function, body=main))
    assert printed.text == dedent(
        """\
        def grad_logistic(r, x, n):
            # forward
            xs = []
            for _ in range(n):  # model.py:3
                xs.append(x)
                x = r * x * (1 - x)  # model.py:4
            # reverse
            r_bar, x_bar = 0.0, 1.0
            for x in reversed(xs):  # model.py:3
                r_bar += x_bar * x * (1 - x)  # model.py:4
                x_bar = x_bar * r * (1 - 2 * x)
            return r_bar, x_bar
        """
    )
    assert printed.lines[6] == (at(4),)
    assert publish(printed)(3.0, 0.5, 2) == pytest.approx(evaluate(function, 3.0, 0.5, 2))


def test_docstring_name_and_defaults():
    function = read("f(x: float, n: int) -> float:\n    %1 = x * n\n    return %1")
    printed = render(function, name="g", doc='Say "x".\n\nTwice.', defaults={"n": 3, "x": object()})
    assert printed.text == dedent(
        '''\
        def g(x, n=3):
            """Say "x".

            Twice.
            """
            return x * n
        '''
    )
    run = publish(printed)
    assert run(2.0) == 6.0
    assert inspect.getdoc(run) == 'Say "x".\n\nTwice.'


@pytest.mark.parametrize(
    ("equations", "expression"),
    [
        (["a + b", "%1 * c"], "(a + b) * c"),
        (["a * b", "%1 + c"], "a * b + c"),
        (["b - c", "a - %1"], "a - (b - c)"),
        (["a - b", "%1 - c"], "a - b - c"),
        (["b / c", "a / %1"], "a / (b / c)"),
        (["-a", "%1 ** b"], "(-a) ** b"),
        (["a ** b", "-%1"], "-a**b"),
        (["-b", "a ** %1"], "a**-b"),
        (["b + c", "a ** %1"], "a ** (b + c)"),
        (["(-1.0) ** a"], "(-1.0) ** a"),
        (["a * -2.5"], "a * -2.5"),
        (["a < b", "not %1"], "not a < b"),
        (["a < b", "%1 == c"], "(a < b) == c"),
        (["math.sin(a)", "%1 * b"], "math.sin(a) * b"),
        (["maximum(a, b)"], "max(a, b)"),
        (["np.maximum(a, b)"], "np.maximum(a, b)"),
        (["a @ b"], "a @ b"),
        (["a * inf"], "a * math.inf"),
        (["a * 3.141592653589793"], "a * math.pi"),
    ],
)
def test_precedence(equations, expression):
    lines = "\n".join(f"    %{k} = {e}" for k, e in enumerate(equations, 1))
    text = f"f(a: float, b: float, c: float) -> float:\n{lines}\n    return %{len(equations)}"
    assert body(read(text)) == f"return {expression}"


@pytest.mark.parametrize(
    ("index", "shown"),
    [
        ("0", "x[0]"),
        ("1:", "x[1:]"),
        ("::-1", "x[::-1]"),
        ("1:, None", "x[1:, None]"),
        ("..., 0", "x[..., 0]"),
        ("i", "x[i]"),
    ],
)
def test_indices(index, shown):
    text = f"f(x: array[float64, 2], i: int) -> ?:\n    %1: ? = x[{index}]\n    return %1"
    assert body(read(text)) == f"return {shown}"


def test_an_index_that_is_computed_is_written_in_place():
    x, i = Var(VECTOR, "x"), Var(INT, "i")
    end, cut, pair, item = (Var(UNKNOWN) for _ in range(4))
    eqns = [
        Eqn((end,), registry.named("add"), (i, Const(3))),
        Eqn((cut,), st.slice_, (i, end, Const(None))),
        Eqn(
            (pair,),
            st.pack,
            (cut, Const(None)),
            {"form": Const("tuple"), "keys": Const((0, 1)), "type": Const(None)},
        ),
        Eqn((item,), st.getitem, (x, pair)),
    ]
    function = of_leaves("f", [x, i], eqns, [item], UNKNOWN)
    assert body(function) == "return x[i : i + 3, None]"


def test_spellings_follow_the_namespace_the_user_wrote():
    expect(
        """
        f(x: array[float64, 2], s: float) -> tuple(?, ?, ?, ?, ?):
            a: ? = method.sum(x, axis=0)
            b: ? = attr.transpose(x)
            c: ? = np.inv(x)
            d = sin(s)
            e: ? = sin(x)
            return a, b, c, d, e
        """,
        "a = x.sum(axis=0)",
        "b = x.T",
        "c = np.linalg.inv(x)",
        "d = math.sin(s)",
        "e = np.sin(x)",
        "return a, b, c, d, e",
    )


def test_values_the_user_named_keep_their_line():
    expect(
        """
        f(x: float) -> float:
            %1 = x * x
            y = %1 + 1
            %2 = y * y
            %3 = %2 - x
            return %3
        """,
        "y = x * x + 1",
        "return y * y - x",
    )


def test_a_named_result_is_returned_at_once():
    expect("f(x: float) -> float:\n    y = x * x\n    return y", "return x * x")


def test_equations_nobody_reads_stay():
    expect(
        "f(x: array[float64, 1]) -> float:\n    y: float = x[5]\n    return 1.0",
        "y = x[5]",
        "return 1.0",
    )


@pytest.mark.parametrize("count", [1000, 5000])
def test_long_chains_print_compile_and_run(count):
    x = Var(FLOAT, "x")
    eqns, value = [], x
    for k in range(count):
        eqns.append(binary(value, ("add", "mul", "sub")[k % 3], Const(0.5) if k % 3 else x))
        value = eqns[-1].outs[0]
    function = of_leaves("f", [x], eqns, [value])
    printed = render(function)
    assert max(map(len, printed.text.split("\n"))) <= 88
    assert publish(printed)(0.25) == evaluate(function, 0.25)[0]


def test_long_lines_are_broken_as_a_formatter_breaks_them():
    names = [f"a_rather_long_argument_name_{k}" for k in range(6)]
    params = [Var(FLOAT, name) for name in names]
    text = render(of_leaves("f", params, [], params)).text
    assert text.startswith("def f(\n    a_rather_long_argument_name_0,\n")
    assert "    return (\n        a_rather_long_argument_name_0,\n" in text
    assert max(map(len, text.split("\n"))) <= 88
    ast.parse(text)


def test_long_texts_are_not_broken_where_they_look_like_code():
    def g(x):
        if x < 0.0:
            raise ValueError(
                "no root of the curve at z = %.4f, where the width is a = %.3f, but b = %.3f"  # noqa: UP031
                % (x, x, x)
            )
        return x * x

    assert wg.grad(g)(3.0) == 6.0
    with pytest.raises(ValueError, match=r"at z = -1\.0000, where"):
        wg.grad(g)(-1.0)


# --- names --------------------------------------------------------------------------------


def test_versions_of_a_name_share_it_when_their_lives_do_not_meet():
    expect(
        """
        f(x: float) -> float:
            x.1 = x * 2
            x.2 = x.1 + 1
            x.3 = x.2 * x.1
            %1 = x.3 + x.1
            return %1
        """,
        "x = x * 2",
        "x_2 = x + 1",
        "x_2 = x_2 * x",
        "return x_2 + x",
    )


@pytest.mark.parametrize("hint", ["lambda", "math", "max", "_", "%flag", "2x", "a b", "t1"])
def test_hints_never_hide_what_the_text_uses(hint):
    x, y = Var(FLOAT, "x"), Var(FLOAT, hint)
    bigger, sine = Var(FLOAT, hint), Var(FLOAT, "")
    eqns = [
        Eqn((y,), registry.named("mul"), (x, Const(2.0))),
        Eqn((bigger,), registry.named("maximum"), (y, x)),
        Eqn((sine,), registry.named("sin"), (bigger,), namespace="math"),
    ]
    function = of_leaves("f", [x], [*eqns, last := binary(sine, "add", y)], [last.outs[0]])
    assert publish(render(function))(0.5) == evaluate(function, 0.5)[0]


def test_parameters_keep_their_names_and_modules_make_way():
    x = Var(FLOAT, "math")
    sine = Eqn((Var(FLOAT),), registry.named("sin"), (x,), namespace="math")
    printed = render(of_leaves("f", [x], [sine], sine.outs))
    assert "def f(math):\n    return math_2.sin(math)" in printed.source
    assert "import math as math_2" in printed.source
    assert publish(printed)(math=0.5) == math.sin(0.5)


def test_the_text_is_the_same_in_every_process():
    code = (
        "import sys; import test_python_backend as t;"
        "print(''.join(t.render(t.RandomIR(k).function()).source for k in range(12)))"
    )
    texts = {
        subprocess.run(
            [sys.executable, "-c", code],
            capture_output=True,
            check=True,
            cwd=ROOT,
            env={"PYTHONHASHSEED": seed, "PYTHONPATH": ":".join(["src", *filter(None, sys.path)])},
        ).stdout
        for seed in ("0", "7")
    }
    assert len(texts) == 1


# --- loops and branches -------------------------------------------------------------------


def test_swapped_and_rotated_loop_variables():
    text = """
        f(a: float, b: float, c: float, n: int) -> tuple(float, float, float):
            %1 = range(n)
            a.1, b.1, c.1 = for _ in %1 with (a.2: float = a, b.2: float = b, c.2: float = c):
                yield b.2, c.2, a.2
            return a.1, b.1, c.1
        """
    expect(text, "for _ in range(n):", "    a, b, c = b, c, a", "return a, b, c")
    assert publish(render(read(text)))(1.0, 2.0, 3.0, 4) == (2.0, 3.0, 1.0)


def test_fibonacci_needs_no_third_name():
    text = """
        f(a: int, b: int, n: int) -> int:
            %1 = range(n)
            a.1, b.1 = for _ in %1 with (a.2: int = a, b.2: int = b):
                b.3 = a.2 + b.2
                yield b.2, b.3
            return a.1
        """
    expect(text, "for _ in range(n):", "    a, b = b, a + b", "return a")
    assert publish(render(read(text)))(0, 1, 10) == 55


def test_a_value_needed_after_the_loop_is_not_overwritten():
    text = """
        f(x: float, n: int) -> float:
            %1 = range(n)
            x.1: float = for _ in %1 with (x.2: float = x):
                x.3 = x.2 * x.2
                yield x.3
            %2 = x.1 - x
            return %2
        """
    expect(text, "x_2 = x", "for _ in range(n):", "    x_2 = x_2 * x_2", "return x_2 - x")
    assert publish(render(read(text)))(3.0, 2) == 78.0


def test_reverse_loops_and_what_they_collect():
    text = """
        f(xs: seq[float], ys: seq[float]) -> tuple(float, seq[float]):
            s: float, zs: seq[float] = for x, y in reversed xs, ys with (s.1: float = 0.0):
                z = x * y
                s.2 = s.1 + z
                yield s.2 | z
            return s, zs
        """
    expect(
        text,
        "s = 0.0",
        "zs = []",
        "for x, y in zip(reversed(xs), reversed(ys)):",
        "    z = x * y",
        "    zs.append(z)",
        "    s += z",
        "zs.reverse()",
        "return s, zs",
    )
    assert publish(render(read(text)))([1.0, 2.0], [3.0, 4.0]) == (11.0, [3.0, 8.0])


def test_while_and_break():
    text = """
        f(x: float) -> float:
            x.1: float = while (x.2: float = x):
                %1 = x.2 > 1.0
                yield %1
            do (x.3: float):
                x.4 = x.3 * 0.5
                %2 = x.4 < 0.1
                yield x.4 until %2
            return x.1
        """
    expect(
        text,
        "while x > 1.0:",
        "    x = x * 0.5",
        "    if x < 0.1:",
        "        break",
        "return x",
    )


def test_a_stop_that_reads_the_old_value_is_saved_from_the_assignments():
    text = """
        f(x: float, done: bool, n: int) -> float:
            %1 = range(n)
            x.1: float, done.1: bool = for _ in %1 with (x.2: float = x, done.2: bool = done):
                x.3 = x.2 + 1.0
                %2 = x.3 > 3.0
                yield x.3, %2 until done.2
            return x.1
        """
    function = read(text)
    assert publish(render(function))(0.0, False, 10) == evaluate(function, 0.0, False, 10)[0]


def test_branches_elif_and_what_is_left_out():
    text = """
        f(x: float) -> float:
            %1 = x > 0
            y = if %1:
                y.1 = x * 2
                yield y.1
            else:
                %2 = x < -1
                y.2 = if %2:
                    y.3 = x * 3
                    yield y.3
                else:
                    yield x
                yield y.2
            z = if %1:
                yield y
            else:
                z.1 = y + 1
                yield z.1
            return z
        """
    expect(
        text,
        "t1 = x > 0",
        "if t1:",
        "    y = x * 2",
        "elif x < -1:",
        "    y = x * 3",
        "else:",
        "    y = x",
        "if t1:",
        "    z = y",
        "else:",
        "    z = y + 1",
        "return z",
    )


def test_an_empty_branch_is_turned_around():
    expect(
        """
        f(x: float) -> float:
            %1 = x > 0
            x.1 = if %1:
                yield x
            else:
                x.2 = -x
                yield x.2
            return x.1
        """,
        "if not x > 0:",
        "    x = -x",
        "return x",
    )


def test_a_value_without_a_name_may_be_a_conditional_expression():
    expect(
        """
        f(x: float) -> float:
            %1 = x > 0
            %2 = if %1:
                yield x
            else:
                %3 = -x
                yield %3
            %4 = %2 * 2
            return %4
        """,
        "return (x if x > 0 else -x) * 2",
    )


def test_undefined_is_a_value_only_where_it_can_be_read():
    text = """
        f(x: float, c: bool) -> float:
            y = if c:
                y.1 = x * 2
                yield y.1
            else:
                yield UNDEFINED
            {}
            return z
        """
    function = read(text.format("z = bound(y, name='y')"))
    assert body(function) == dedent(
        """\
        if c:
            y = x * 2
        else:
            y = _UNDEFINED
        return _bound(y, "y")"""
    )
    run = publish(render(function))
    assert run(1.0, True) == 2.0
    with pytest.raises(UnboundLocalError, match="local variable 'y'"):
        run(1.0, False)


def test_undefined_is_not_written_where_the_same_condition_guards_the_reading():
    expect(
        """
        f(x: float, c: bool) -> float:
            y = if c:
                y.1 = x * 2
                yield y.1
            else:
                yield UNDEFINED
            z = if c:
                z.1 = y + 1
                yield z.1
            else:
                yield x
            return z
        """,
        "if c:",
        "    y = x * 2",
        "if c:",
        "    z = y + 1",
        "else:",
        "    z = x",
        "return z",
    )


def test_raise_ends_a_branch():
    x, bad = Var(FLOAT, "x"), Var(BOOL)
    error, never = Var(UNKNOWN), Var(UNKNOWN)
    then = [
        Eqn((error,), st.opaque, (Const(ValueError), Const("negative")), {"names": Const(())}),
        Eqn((never,), st.raise_, (error, Const(False))),
    ]
    eqns = [
        Eqn((bad,), st.lt, (x, Const(0))),
        Eqn((), IF, (bad,), {}, (Block((), tuple(then), ()), Block((), (), ()))),
    ]
    assert body(of_leaves("f", [x], eqns, [x])) == dedent(
        """\
        if x < 0:
            raise ValueError("negative")
        return x"""
    )


# --- effects and memory -------------------------------------------------------------------


def opaque(function, *args, name=""):
    return Eqn((Var(FLOAT, name),), st.opaque, (Const(function), *args), {"names": Const(())})


def test_nothing_moves_across_an_effect():
    log = []
    append = log.append
    x = Var(FLOAT, "x")
    product = binary(x, "mul", x)
    first, second = opaque(append, x), opaque(append, product.outs[0])
    quotient = binary(Const(1.0), "div", x)
    function = of_leaves("f", [x], [quotient, first, product, second], quotient.outs)
    lines = body(function).split("\n")
    assert lines == ["t1 = 1.0 / x", "append(x)", "append(x * x)", "return t1"]
    publish(render(function))(3.0)
    assert log == [3.0, 9.0]


def test_an_effect_folds_into_what_follows_it_at_once():
    x = Var(FLOAT, "x")
    product, called = binary(x, "mul", x), opaque(abs, x)
    total = binary(product.outs[0], "add", called.outs[0])
    assert (
        body(of_leaves("f", [x], [product, called, total], total.outs)) == "return x * x + abs(x)"
    )
    swapped = binary(called.outs[0], "add", product.outs[0])
    text = body(of_leaves("f", [x], [product, called, swapped], swapped.outs))
    assert text == "t1 = x * x\nreturn abs(x) + t1"


def add_at(buffer, *path, value, kind=VECTOR):
    return Eqn((Var(kind, buffer.name),), st.add_at, (buffer, *path, value))


def test_adding_to_an_element():
    x, i, k = Var(VECTOR, "x"), Var(INT, "i"), Var(UNKNOWN, "k")
    made = Eqn((Var(VECTOR, "x_bar"),), st.zeros, (x,))
    one = add_at(made.outs[0], i, value=Const(2.0))
    some = add_at(one.outs[0], Const(slice(1, None)), value=Const(1.0))
    any_ = add_at(some.outs[0], k, value=Const(3.0))
    function = of_leaves("f", [x, i, k], [made, one, some, any_], any_.outs, VECTOR)
    assert body(function) == dedent(
        """\
        x_bar = np.zeros_like(x)
        x_bar[i] += 2.0
        x_bar[1:] += 1.0
        x_bar = _add_at(x_bar, k, 3.0)
        return x_bar"""
    )
    found = publish(render(function))(np.zeros(3), 0, np.array([2, 2]))
    np.testing.assert_array_equal(found, [2.0, 1.0, 7.0])


def test_adding_along_a_path():
    kind = Seq(VECTOR)
    xs, i, j = Var(kind, "xs"), Var(INT, "i"), Var(INT, "j")
    added = add_at(xs, i, j, value=Const(1.0), kind=kind)
    assert (
        body(of_leaves("f", [xs, i, j], [added], added.outs, kind)) == "xs[i][j] += 1.0\nreturn xs"
    )


# --- arguments and results ----------------------------------------------------------------


class Point(NamedTuple):
    x: float
    y: float


@dataclass
class Model:
    weights: float
    bias: float


def line(a, b):
    return lambda x: a * x + b


def test_containers_are_taken_apart_and_put_together():
    slope = line(3.0, 4.0)
    pair = Struct("tuple", (0, 1), (FLOAT, Struct("list", (0, 1), (FLOAT, FLOAT))))
    mapping = Struct("dict", ("w", "b"), (FLOAT, FLOAT))
    point = Struct("namedtuple", ("x", "y"), (FLOAT, FLOAT), Point)
    cells = Struct("function", ("a", "b"), (FLOAT, FLOAT), slope.__code__)
    names = ["", "", "", "d", "d", "x", "y", "a", "b"]
    params = [Var(FLOAT, name) for name in names]
    result = Struct(
        "tuple",
        (0, 1, 2, 3),
        (
            Struct("namedtuple", ("x", "y"), (FLOAT, FLOAT), Point),
            Struct("dict", ("u", "v"), (FLOAT, Static(None))),
            Struct("tuple", (0,), (FLOAT,)),
            Struct("object", ("p", "q"), (FLOAT, FLOAT)),
        ),
    )
    inputs = (
        Input("t", pair),
        Input("d", mapping),
        Input("p", point, "keyword"),
        Input("f", cells, "captured"),
    )
    t0, t1, _, w, _, x, y, a, _ = params
    function = Function("g", inputs, Block(tuple(params), (), (t0, t1, w, x, y, a)), result)
    printed = render(function)
    assert printed.text == dedent(
        """\
        def g(t, d, *, p, f):
            t_0, t_1_0 = t[0], t[1][0]
            w = d["w"]
            x, y = p.x, p.y
            a = f.__closure__[0].cell_contents
            return (
                Point(x=t_0, y=t_1_0),
                {"u": w, "v": None},
                (x,),
                types.SimpleNamespace(p=y, q=a),
            )
        """
    )
    found = publish(printed)((1.0, [2.0, 0.0]), {"w": 5.0, "b": 0.0}, p=Point(6.0, 7.0), f=slope)
    assert found == (Point(1.0, 2.0), {"u": 5.0, "v": None}, (6.0,), SimpleNamespace(p=7.0, q=3.0))


def test_a_sequence_that_is_used_whole_is_unpacked():
    kind = Struct("tuple", (0, 1), (FLOAT, Struct("list", (0, 1), (FLOAT, FLOAT))))
    params = tuple(Var(FLOAT, name) for name in "abc")
    result = Struct("dataclass", ("weights", "bias"), (FLOAT, FLOAT), Model)
    total = binary(params[1], "add", params[2])
    block = Block(params, (total,), (params[0], total.outs[0]))
    function = Function("f", (Input("p", kind),), block, result)
    assert body(function) == "a, (b, c) = p\nreturn Model(weights=a, bias=b + c)"
    assert publish(render(function))((1.0, [2.0, 3.0])) == Model(1.0, 5.0)


@pytest.mark.parametrize(
    ("kind", "outs", "shown"),
    [
        (Struct("tuple", (), ()), (), "()"),
        (Struct("tuple", (0,), (FLOAT,)), (Const(1.0),), "(1.0,)"),
        (Struct("list", (), ()), (), "[]"),
        (Struct("dict", (), ()), (), "{}"),
        (Static(None), (), "None"),
        (Static(math.sin), (), "math.sin"),
        (Static(np.linalg.norm), (), "norm"),
        (UNKNOWN, (UNDEFINED,), "None"),
    ],
)
def test_results(kind, outs, shown):
    assert body(Function("f", (), Block((), (), outs), kind)) == f"return {shown}"


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (-0.0, "-0.0"),
        (1e-7, "1e-07"),
        (-math.inf, "-math.inf"),
        (2j, "2j"),
        (complex(1, -2), "complex(1.0, -2.0)"),
        (complex(math.nan, 0.0), "complex(math.nan, 0.0)"),
        ("it's", '"it\'s"'),
        ('say "x"', "'say \"x\"'"),
        (b"x", 'b"x"'),
        ((1, (2.0,)), "(1, (2.0,))"),
        (slice(1, None), "slice(1, None, None)"),
        (range(3), "range(3)"),
        (..., "..."),
        (np.float32(0.1), "np.float32(0.10000000149011612)"),
        (np.float64(math.inf), "np.float64(math.inf)"),
        (np.dtype("int8"), 'np.dtype("int8")'),
        (np.float64, "np.float64"),
        (np.add, "np.add"),
        (len, "len"),
    ],
)
def test_constants(value, shown):
    function = Function("f", (), Block((), (), (Const(value),)), UNKNOWN)
    assert body(function) == f"return {shown}"
    found = publish(render(function))()
    assert type(found) is type(value)
    assert found == value or value != value or "nan" in shown


def test_constants_without_a_literal_are_bound():
    table = [1.0, 2.0]
    printed = render(Function("f", (), Block((), (), (Const(table),)), UNKNOWN))
    assert list(printed.names.values()) == [table]
    assert publish(printed)() is table


def test_f_strings():
    x = Var(FLOAT, "x")
    template = ("x = ", (0, -1, ".3f"), " {", (0, 114, ""), "}")
    eqn = Eqn((Var(UNKNOWN),), st.format_, (x,), {"template": Const(template)})
    function = of_leaves("f", [x], [eqn], eqn.outs, UNKNOWN)
    assert body(function) == 'return f"x = {x:.3f} {{{x!r}}}"'
    assert publish(render(function))(0.5) == "x = 0.500 {0.5}"


# --- functions that call functions --------------------------------------------------------


def factorial():
    callee = Callee("factorial")
    n, small = Var(INT, "n"), Var(BOOL)
    less, rest, result = Var(INT), Var(INT), Var(INT)
    other = [
        Eqn((less,), registry.named("sub"), (n, Const(1))),
        Eqn((rest,), CALL, (less,), {"callee": Const(callee)}),
        Eqn((product := Var(INT),), registry.named("mul"), (n, rest)),
    ]
    eqns = [
        Eqn((small,), st.lt, (n, Const(2))),
        Eqn(
            (result,),
            IF,
            (small,),
            {},
            (Block((), (), (Const(1),)), Block((), tuple(other), (product,))),
        ),
    ]
    callee.function = of_leaves("factorial", [n], eqns, [result], INT)
    return callee


def test_recursion():
    printed = render(factorial().function)
    assert printed.text == "def factorial(n):\n    return 1 if n < 2 else n * factorial(n - 1)\n"
    assert publish(printed)(20) == math.factorial(20)


def test_called_functions_are_printed_once_and_take_leaves():
    callee = factorial()
    pair = Struct("tuple", (0, 1), (INT, INT))
    a, b = Var(INT, "a"), Var(INT, "b")
    calls = [Eqn((Var(INT),), CALL, (v,), {"callee": Const(callee)}) for v in (a, b)]
    total = binary(calls[0].outs[0], "add", calls[1].outs[0])
    block = Block((a, b), (*calls, total), total.outs)
    printed = render(Function("f", (Input("factorial", pair),), block, INT))
    assert printed.text.count("def ") == 2
    assert publish(printed)((3, 4)) == 30


def test_closures_keep_the_values_they_captured():
    a, x, total = Var(FLOAT, "a"), Var(FLOAT, "x"), Var(FLOAT)
    inner = Function(
        "inner",
        (Input("a", FLOAT, "captured"), Input("x", FLOAT)),
        Block((a, x), (Eqn((total,), registry.named("mul"), (a, x)),), (total,)),
        FLOAT,
    )
    start = Var(FLOAT, "a")
    made = Eqn(
        (Var(UNKNOWN, "g"),),
        st.closure,
        (start,),
        {"function": Const(inner), "names": Const(("a",))},
    )
    later = Eqn((Var(FLOAT, "a"),), registry.named("add"), (start, Const(1.0)))
    used = Eqn((Var(UNKNOWN),), st.apply, (made.outs[0], later.outs[0]), {"names": Const(())})
    function = of_leaves("f", [start], [made, later, used], used.outs, UNKNOWN)
    assert body(function) == dedent(
        """\
        def g(x, *, a=a):
            return a * x

        a = a + 1.0
        return g(a)"""
    ).replace("a = a + 1.0", "a += 1.0")
    assert publish(render(function))(3.0) == 12.0


def test_globals_are_read_at_call_time():
    module = {"SCALE": 2.0}
    x, scale = Var(FLOAT, "x"), Var(FLOAT, "SCALE")
    params = {"name": Const("SCALE"), "holder": Const(module), "key": Const("SCALE")}
    product = binary(x, "mul", scale)
    function = of_leaves("f", [x], [Eqn((scale,), st.global_, (), params), product], product.outs)
    printed = render(function)
    assert printed.globals == (("SCALE", module, "SCALE"),)
    assert "SCALE = 2.0  # value when this was written\n" in printed.source
    run = publish(printed)
    assert run(3.0) == 6.0
    module["SCALE"] = 10.0
    assert run(3.0) == 30.0
    del module["SCALE"]
    with pytest.raises(NameError, match="SCALE"):
        run(3.0)


# --- saving and publishing ----------------------------------------------------------------


TOKEN = object()


def unbroadcasting(name="f"):
    x = Var(UNKNOWN, "x")
    eqn = Eqn((Var(UNKNOWN),), st.unbroadcast, (Const(2.0), x))
    return of_leaves(name, [x], [eqn], eqn.outs, UNKNOWN)


def imported_modules(source):
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module


def test_saved_source_runs_without_wengert():
    printed = render(unbroadcasting())
    assert "def _unbroadcast(" in printed.source
    assert printed.text not in ("", printed.source)
    assert not any(name.startswith("wengert") for name in imported_modules(printed.source))
    namespace = {}
    exec(printed.source, namespace)
    np.testing.assert_array_equal(namespace["f"](np.zeros(3)), publish(printed)(np.zeros(3)))


def test_saved_source_imports_what_can_be_imported():
    function = Function("f", (), Block((), (), (Const(inspect.getsource), Const(Point))), UNKNOWN)
    function = replace(function, result=Struct("tuple", (0, 1), (UNKNOWN, UNKNOWN)))
    source = render(function).source
    assert "from inspect import getsource\n" in source
    assert f"from {__name__} import Point\n" in source


def test_saved_source_imports_globals_from_their_module_and_rebuilds_what_pickle_can():
    module = sys.modules[__name__]
    table, log = Var(UNKNOWN, "TOKEN"), logging.getLogger("generated").debug
    params = {"name": Const("TOKEN"), "holder": Const(vars(module)), "key": Const("TOKEN")}
    made = Eqn((Var(UNKNOWN),), st.as_list, (table,))
    called = opaque(log, Const("x"))
    eqns = [Eqn((table,), st.global_, (), params), made, called]
    source = render(of_leaves("f", [], eqns, made.outs, UNKNOWN)).source
    assert f"from {__name__} import TOKEN\n" in source
    assert 'debug = getLogger("generated").debug\n' in source
    assert "from logging import getLogger\n" in source


def test_saved_source_says_what_is_missing():
    returned = Const(line(object(), 2.0))  # of what it has captured, an object has no text
    source = render(Function("f", (), Block((), (), (returned,)), UNKNOWN)).source
    assert "# NameError: function is the function line.<locals>.<lambda>" in source


def test_saved_source_writes_out_functions_that_it_cannot_import():
    function = Function("f", (), Block((), (), (Const(line(1.0, 2.0)),)), UNKNOWN)
    namespace = {}
    exec(render(function).source, namespace)
    assert namespace["f"]()(3.0) == line(1.0, 2.0)(3.0)


def test_functions_saved_together_share_helpers_and_have_names_of_their_own():
    pair = render_together([unbroadcasting(), unbroadcasting()])
    assert [printed.name for printed in pair] == ["f", "f_2"]
    source = joint_source(pair)
    assert source.count("def _unbroadcast(") == 1
    namespace = {}
    exec(source, namespace)
    assert namespace["f_2"](1.0) == publish(pair[1])(1.0) == 2.0


def test_published_functions_show_their_source_and_leave_nothing_behind():
    run = publish(render(unbroadcasting()))
    file = run.__code__.co_filename
    assert inspect.getsource(run) == render(unbroadcasting()).text
    assert file in linecache.cache
    linecache.checkcache()
    assert file in linecache.cache
    del run
    gc.collect()
    assert file not in linecache.cache


def test_an_unknown_helper_is_named():
    x = Var(UNKNOWN, "x")
    unheard = replace(registry.named("unbroadcast"), name="unheard", spellings={"rt": "unheard"})
    eqn = Eqn((Var(UNKNOWN),), unheard, (x,))
    with pytest.raises(LookupError, match="'unheard'"):
        publish(render(of_leaves("f", [x], [eqn], eqn.outs, UNKNOWN)))


# --- exceptions ---------------------------------------------------------------------------

USER_SOURCE = """\
def helper(x):
    return 1 / x

def model(x, y):
    a = x * y + helper(x)
    b = a / (x - y)
    return b
"""


@pytest.fixture
def user(tmp_path):
    file = tmp_path / "user.py"
    file.write_text(USER_SOURCE)
    namespace = {}
    exec(compile(USER_SOURCE, str(file), "exec"), namespace)

    def at(line, start, end):
        return Span(str(file), line, start, line, end, "model")

    x, y = Var(FLOAT, "x"), Var(FLOAT, "y")

    def step(op, *args, span, name=""):
        return Eqn((Var(FLOAT, name),), registry.named(op), args, span=span)

    product = step("mul", x, y, span=at(5, 8, 13))
    called = replace(opaque(namespace["helper"], x), span=at(5, 16, 25))
    total = step("add", product.outs[0], called.outs[0], span=at(5, 8, 25), name="a")
    difference = step("sub", x, y, span=at(6, 13, 18))
    quotient = step("div", total.outs[0], difference.outs[0], span=at(6, 8, 19), name="b")
    scaled = step("mul", quotient.outs[0], Const(2.0), span=None)
    eqns = [product, called, total, difference, quotient, scaled]
    function = of_leaves("generated", [x, y], eqns, scaled.outs)
    return SimpleNamespace(
        file=str(file), run=publish(render(function)), helper=namespace["helper"]
    )


def frames_of(error):
    return [(f.filename, f.lineno, f.name) for f in traceback.extract_tb(error.__traceback__)]


def test_exceptions_show_the_users_line_and_columns(user):
    with pytest.raises(ZeroDivisionError) as info:
        user.run(1.0, 1.0)
    shown = shown_at_user_lines(info.value)
    frame = traceback.extract_tb(shown.__traceback__)[-1]
    assert (frame.filename, frame.lineno, frame.name) == (user.file, 6, "model")
    assert (frame.colno, frame.end_colno) == (8, 19)
    assert frame.line == "b = a / (x - y)"


def test_the_users_own_frames_stay_below(user):
    with pytest.raises(ZeroDivisionError) as info:
        user.run(0.0, 1.0)
    shown = frames_of(info.value)
    assert shown[-2:] == [(user.file, 5, "model"), (user.file, 2, "helper")]
    assert [name for name, _, _ in shown if name.startswith("<wengert")] == [
        user.run.__code__.co_filename
    ]
    assert info.value.__context__ is None
    assert info.value.__cause__ is None


def test_variables_can_be_looked_at_after_an_exception(user):
    with pytest.raises(ZeroDivisionError) as info:
        user.run(1.0, 1.0)
    entry = info.value.__traceback__
    while entry.tb_next is not None:
        entry = entry.tb_next
    assert entry.tb_frame.f_locals["x"] == 1.0


def test_helpers_of_the_runtime_are_not_shown():
    span = Span(__file__, 1, 0, 1, 5, "model")
    y = Var(UNKNOWN, "y")
    eqn = Eqn(
        (Var(UNKNOWN, "y"),), st.bound, (Const(UNDEFINED.value),), {"name": Const("y")}, span=span
    )
    function = of_leaves("f", [y], [eqn], eqn.outs, UNKNOWN)
    with pytest.raises(UnboundLocalError) as info:
        publish(render(function))(1.0)
    assert frames_of(info.value)[-1] == (__file__, 1, "model")


def test_wrong_arguments_raise_where_they_are_passed():
    with pytest.raises(TypeError, match="missing 1 required positional argument"):
        publish(render(unbroadcasting()))()


# --- everything together ------------------------------------------------------------------


def tick(x):
    TICKS.append(x)
    return (7 * x + len(TICKS)) % MODULUS


TICKS = []
MODULUS = 1_000_003


class RandomIR:
    """Draws functions of three integers: branches, loops of both kinds, effects, shared names."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.budget = self.random.randint(5, 40)

    def hint(self):
        return self.random.choice(["", "", "", "x", "y", "z", "s", "x_bar", "t1", "%b"])

    def pick(self, scope):
        if self.random.random() < 0.15 or not scope:
            return Const(self.random.randint(-3, 5))
        return self.random.choice(scope[-6:] if self.random.random() < 0.6 else scope)

    def function(self):
        params = [Var(INT, name) for name in ("x", "y", "n")]
        eqns, scope, lists = [], list(params), []
        for _ in range(5):
            eqns += self.equations(scope, lists, 0)
        outs = [*(self.pick(scope) for _ in range(3)), *lists[:3]]
        return of_leaves("f", params, eqns, outs)

    def equations(self, scope, lists, depth):
        eqns = []
        for _ in range(self.random.randint(0, 6)):
            if self.budget > 0:
                self.budget -= 1
                step = self.random.choices(
                    [self.arithmetic, self.effect, self.branch, self.counted, self.conditional],
                    [12, 2, *([4, 3, 1] if depth < 4 else [0, 0, 0])],
                )[0]
                step(eqns, scope, lists, depth)
        return eqns

    def block(self, scope, lists, depth, params=()):
        inside = [*scope, *params]
        return self.equations(inside, list(lists), depth + 1), inside

    def arithmetic(self, eqns, scope, lists, depth):
        raw, value = Var(INT), Var(INT, self.hint())
        op = self.random.choice(["add", "sub", "mul", "maximum"])
        eqns.append(Eqn((raw,), registry.named(op), (self.pick(scope), self.pick(scope))))
        eqns.append(Eqn((value,), registry.named("mod"), (raw, Const(MODULUS))))
        scope.append(value)

    def effect(self, eqns, scope, lists, depth):
        eqns.append(opaque(tick, self.pick(scope), name=self.hint()))
        scope.append(eqns[-1].outs[0])

    def condition(self, eqns, scope):
        found = Var(BOOL, self.random.choice(["", "", "done"]))
        eqns.append(Eqn((found,), st.lt, (self.pick(scope), self.pick(scope))))
        return found

    def branch(self, eqns, scope, lists, depth):
        condition = self.condition(eqns, scope)
        outs = [Var(INT, self.hint()) for _ in range(self.random.randint(0, 3))]
        blocks = []
        for _ in range(2):
            inner, inside = self.block(scope, lists, depth)
            blocks.append(Block((), tuple(inner), tuple(self.pick(inside) for _ in outs)))
        eqns.append(Eqn(tuple(outs), IF, (condition,), {}, tuple(blocks)))
        scope += outs

    def results(self, eqns, inside, params, counted):
        carried = [self.random.choice([self.pick(inside), *params]) for _ in params]
        collected = [self.pick(inside) for _ in range(self.random.randint(0, 2))]
        stop = []
        if self.random.random() < 0.3:
            old = [p for p in params if counted and self.random.random() < 0.2]
            stop = old[:1] or [self.condition(eqns, inside)]
        return stop, carried, collected

    def slots(self, scope):
        initials = [self.pick(scope) for _ in range(self.random.randint(0, 3))]
        keep = self.random.random() < 0.5
        hints = [i.name if keep and isinstance(i, Var) else self.hint() for i in initials]
        return initials, hints

    def counted(self, eqns, scope, lists, depth):
        initials, hints = self.slots(scope)
        if lists and self.random.random() < 0.5:
            iterables = [self.random.choice(lists)]
        else:
            count = Const(self.random.randint(0, 4))
            iterables = [Var(UNKNOWN) for _ in range(self.random.randint(1, 2))]
            eqns += (Eqn((r,), st.range_, (count,)) for r in iterables)
        items = [Var(INT, self.random.choice(["i", "x", ""])) for _ in iterables]
        params = [Var(INT, hint) for hint in hints]
        inner, inside = self.block(scope, lists, depth, [*items, *params])
        stop, carried, collected = self.results(inner, inside, params, counted=True)
        block = Block((*items, *params), tuple(inner), (*stop, *carried, *collected))
        options = {
            "iterables": Const(len(items)),
            "reverse": Const(self.random.random() < 0.3),
            "stop": Const(bool(stop)),
        }
        self.finish(eqns, scope, lists, FOR, (*iterables, *initials), options, (block,), hints)

    def conditional(self, eqns, scope, lists, depth):
        initials, hints = self.slots(scope)
        initials, hints = [Const(0), *initials], ["k", *hints]
        tested, params = ([Var(INT, hint) for hint in hints] for _ in range(2))
        test = self.block(scope, lists, depth, tested)[0] if self.random.random() < 0.5 else []
        again = Var(BOOL)
        test.append(Eqn((again,), st.lt, (tested[0], Const(self.random.randint(0, 4)))))
        inner, inside = self.block(scope, lists, depth, params)
        stop, carried, collected = self.results(inner, inside, params, counted=False)
        inner.append(
            Eqn((following := Var(INT, "k"),), registry.named("add"), (params[0], Const(1)))
        )
        outs = (*stop, following, *carried[1:], *collected)
        blocks = (
            Block(tuple(tested), tuple(test), (again,)),
            Block(tuple(params), tuple(inner), outs),
        )
        options = {"stop": Const(bool(stop))}
        self.finish(eqns, scope, lists, WHILE, tuple(initials), options, blocks, hints)

    def finish(self, eqns, scope, lists, op, args, options, blocks, hints):
        outs = [Var(INT, hint) for hint in hints]
        stops = options["stop"].value
        count = len(blocks[-1].outs) - stops - len(outs)
        collected = [Var(Seq(INT), self.random.choice(["xs", "", "ys"])) for _ in range(count)]
        eqns.append(Eqn((*outs, *collected), op, args, options, blocks))
        scope += outs
        lists += collected


@pytest.mark.parametrize("seed", range(250))
def test_what_is_printed_means_what_the_ir_means(seed):
    function = RandomIR(seed).function()
    run = publish(render(function))
    for arguments in ((1, 2, 3), (5, -2, 0)):
        TICKS.clear()
        expected, expected_ticks = evaluate(function, *arguments), list(TICKS)
        TICKS.clear()
        assert run(*arguments) == expected
        assert expected_ticks == TICKS


@pytest.mark.skipif(shutil.which("ruff") is None, reason="ruff is not installed")
def test_the_text_is_formatted():
    text = "\n\n".join(render(RandomIR(seed).function()).text for seed in range(60))
    command = ["ruff", "format", "--isolated", "--diff", "--stdin-filename", "generated.py", "-"]
    found = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
    assert found.stdout == ""
