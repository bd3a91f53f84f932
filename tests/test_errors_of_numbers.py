"""What numbers with derivatives and graphs refuse, word for word."""

import math
import shutil

import numpy as np
from error_texts import message, place, refusal, says

import wengert as wg
from wengert.numbers import Taylor


def test_a_function_that_there_is_not():
    error = refusal("WG205", AttributeError, lambda: wg.Dual(1.0, 1.0).sine())
    assert str(error) == message(
        "WG205",
        "a Dual has no attribute or function 'sine'",
        None,
        "Its methods are the functions of NumPy, `math` and `wg.ops`. A function of your own takes\n"
        "part once it has a rule (`wg.scalar_rule`).",
    )


def sine_of_a_float(x):
    return 2 * math.sin(x)


def test_a_function_of_floats():
    error = refusal("WG206", TypeError, lambda: sine_of_a_float(wg.Dual(1.0, 1.0)))
    assert str(error) == message(
        "WG206",
        "a float has no derivative, so that of Dual(1.0, 1.0) would be lost",
        place(sine_of_a_float, 1, "math.sin(x)", "sine_of_a_float"),
        "Write `np.sin` or `wg.ops.sin` in the place of `math.sin`.\n"
        "Where the value alone is wanted, `x.value` is it.",
    )


def test_numbers_of_two_kinds():
    x, y = wg.Dual(1.0, 1.0), Taylor([1.0, 1.0])
    error = refusal("WG207", TypeError, lambda: x + y)
    assert str(error) == message(
        "WG207",
        "add of a Dual and a Taylor that carry the same infinitesimal",
        None,
        "Use one of the two for one differentiation; nest them to differentiate twice.",
    )


def test_an_order_that_is_not_kept():
    error = refusal("WG208", IndexError, lambda: Taylor([1.0, 1.0], order=2).exp().derivative(5))
    assert str(error) == message(
        "WG208",
        "order 5 of a Taylor number that keeps order 2",
        None,
        "Make it with order=5, or leave `order` out: any order can then be asked for.",
    )


def product(a, b):
    return a * b


def test_a_variable_without_a_value():
    a, b = wg.Graph().variables("a", "b")
    error = refusal("WG209", ValueError, lambda: product(a, b).eval(a=1.0))
    assert str(error) == message(
        "WG209",
        "the variable 'b' has no value, and a * b needs it",
        place(product, 1, "a * b", "product"),
        "Give it one: `term.eval(b=...)` or `graph.set(b=...)`.",
    )


def test_terms_of_two_graphs():
    (a,), (b,) = wg.Graph().variables("a"), wg.Graph().variables("b")
    error = refusal("WG209", ValueError, lambda: product(a, b))
    assert str(error) == message(
        "WG209",
        "the term b belongs to another graph",
        place(product, 1, "a * b", "product"),
        "Build all terms of an expression from the variables of one graph.",
    )


def branch(x):
    return x if x > 0 else -x


def test_a_branch_on_a_term():
    error = refusal("WG209", ValueError, lambda: wg.trace(branch, 1.0))
    assert str(error) == message(
        "WG209",
        "whether x > 0 is true is not known before the variables have values",
        place(branch, 1, "x > 0", "branch").replace("^^^^^", "^^^^^"),
        "Choose with `np.where(condition, x, y)`.",
    )


def test_an_op_without_a_rule_on_the_way_of_a_graph():
    def unknown(x):
        return x

    (x,) = wg.Graph().variables("x")
    error = refusal("WG103", TypeError, lambda: x.apply(unknown).derive(x))
    says(error, "unknown has no rule that the terms of a graph could use", "x.apply(unknown)")


def test_a_picture_without_graphviz(monkeypatch):
    monkeypatch.setattr(shutil, "which", lambda name: None)
    (x,) = wg.Graph().variables("x")
    error = refusal("WG210", RuntimeError, lambda: np.sin(x).to_png())
    assert str(error) == message(
        "WG210",
        "a PNG is laid out by Graphviz's `dot`, which is not installed",
        None,
        "Install Graphviz (its package is called `graphviz`), or use `to_svg()`, which needs nothing.",
    )
