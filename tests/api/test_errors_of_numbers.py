"""What numbers with derivatives and graphs refuse, word for word."""

import math
import shutil

import numpy as np
import pytest
from error_texts import message, place, refusal, says

import wengert as wg
from wengert import numbers
from wengert.numbers import Taylor


def wrongly_named(x):
    return x.sine()


def test_a_function_that_there_is_not():
    error = refusal("WG205", AttributeError, lambda: wrongly_named(wg.Dual(1.0, 1.0)))
    assert str(error) == message(
        "WG205",
        "a Dual has no attribute or function 'sine'; is 'sin' meant?",
        place(wrongly_named, 1, "x.sine", "wrongly_named"),
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
    error = refusal("WG207", TypeError, lambda: product(x, y))
    assert str(error) == message(
        "WG207",
        "mul of a Dual and a Taylor that carry the same infinitesimal",
        place(product, 1, "a * b", "product"),
        "Use one of the two for one differentiation; nest them to differentiate twice.",
    )


def fifth(x):
    return x.exp().derivative(5)


def test_an_order_that_is_not_kept():
    error = refusal("WG208", IndexError, lambda: fifth(Taylor([1.0, 1.0], order=2)))
    assert str(error) == message(
        "WG208",
        "order 5 of a Taylor number that keeps order 2",
        place(fifth, 1, "x.exp().derivative(5)", "fifth"),
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


# --- every way to put in what does not belong there: the value or node, and the user's line ----------


def graph_of_two():
    g = wg.Graph()
    return g, *g.variables("a", "b")


def both():
    return product(*graph_of_two()[1:])


def of_another():
    return wg.Graph().variables("c")[0]


class Thing:
    def __init__(self, x):
        self.x = x


D2, D3 = (lambda: wg.Dual(1.0, (1.0, 0.0))), (lambda: wg.Dual(1.0, (1.0, 0.0, 0.0)))
BAD = {
    "text for a Dual": (lambda: wg.Dual("x", 1.0), "WG202", "'x' is no number, and cannot be the primal"),
    "None for a tangent": (lambda: wg.Dual(1.0, None), "WG202", "None is no number, and cannot be the tangent"),
    "a list for a Dual": (lambda: wg.Dual([1.0], 1.0), "WG202", "[1.0] is no number"),
    "text for a series": (lambda: Taylor(["x"]), "WG202", "'x' is no number, and cannot be a coefficient"),
    "text for a tower": (lambda: next(wg.derivatives(np.sin, "x")), "WG202", "'x' is no number"),
    "text for a polynomial": (lambda: wg.taylor(np.sin, "x", 2), "WG202", "'x' is no number"),
    "text as a result": (lambda: wg.taylor(lambda x: "y", 1.0, 2), "WG202", "'y' is no number"),
    "no order": (lambda: wg.taylor(np.sin, 1.0, -1), "WG202", "degree -1"),
    "a tangent's shape": (lambda: wg.Dual(np.ones(3), np.ones(2)), "WG203", "shape (2,), its primal the shape (3,)"),
    "numbers of tangents": (lambda: numbers.pushforward(np.sin, [1.0], []), "WG203", "1 primals and 0 tangents"),
    "two and three directions": (lambda: D2() * D3(), "WG207", "mul of duals with 2 and 3 directions"),
    "one and two directions": (lambda: D2() * wg.Dual(1.0, 1.0), "WG207", "mul of duals with 1 and 2 directions"),
    "a number and a series": (lambda: wg.Dual(1.0, 1.0) - Taylor([1.0, 1.0]), "WG207", "sub of a Dual and a Taylor"),
    "an order too high": (lambda: Taylor([1.0], order=1).coefficient(2), "WG208", "order 2 of a Taylor number"),
    "partials of another count": (lambda: numbers.partials(np.exp, 1.0)[1, 1], "WG202", "2 orders of a function of 1"),
    "a negative order": (lambda: numbers.partials(np.exp, 1.0)[-1], "WG202", "a partial derivative of order -1"),
    "an object as a result": (lambda: numbers.derivative(lambda x: Thing(x), 1.0), "WG202", "is no number, and has no"),
    "a partial by a sum's array": (lambda: numbers.partials(np.sum, np.ones(2)), "WG202", "no single partial by an"),
    "a gradient of an array": (lambda: numbers.gradient(np.exp, np.ones(2)), "WG201", "returns an array of shape (2,)"),
    "a gradient of a list": (lambda: numbers.gradient(list, np.ones(2)), "WG201", "needs one number as the result"),
    "a gradient by a number": (lambda: numbers.gradient(np.exp, 1.0), "WG202", "1.0 is no list, tuple or array"),
    "a gradient by names": (lambda: numbers.gradient(len, {"a": 1.0}), "WG202", "is no list, tuple or array"),
    "an unknown function": (lambda: graph_of_two()[1].sine(), "WG205", "no attribute or function 'sine'"),
    "an unknown variable": (lambda: graph_of_two()[0].set(z=1.0), "WG209", "no variable 'z'"),
    "an unknown variable to evaluate": (lambda: graph_of_two()[1].eval(z=1.0), "WG209", "no variable 'z'"),
    "text for a variable": (lambda: graph_of_two()[0].set(a="x"), "WG202", "cannot be the value of 'a'"),
    "a list for a variable": (lambda: graph_of_two()[1].eval(a=[1.0]), "WG202", "cannot be the value of 'a'"),
    "a keyword for a name": (lambda: wg.Graph().variables("lambda"), "WG209", "'lambda' is no name for a variable"),
    "no name for a function": (lambda: graph_of_two()[1].to_function(name="a b"), "WG209", "'a b' is no name"),
    "too few arguments": (lambda: both().to_function()(1.0), "WG202", "is called with no value for 'b'"),
    "another graph's variable": (lambda: both().derive(of_another()), "WG209", "the term c belongs to another graph"),
    "another graph's term": (lambda: both().gradient(of_another()), "WG209", "the term c belongs to another graph"),
    "another graph in a list": (lambda: np.stack([both(), of_another()]), "WG209", "belongs to another graph"),
    "by a name": (lambda: graph_of_two()[1].derive("a"), "WG209", "'a' is no variable"),
    "no gradient yet": (lambda: graph_of_two()[1].grad, "WG209", "a has no gradient"),
    "the integer of a term": (lambda: int(graph_of_two()[1]), "WG209", "a is no integer before"),
    "the float of a term": (lambda: float(graph_of_two()[1]), "WG209", "a is no float before"),
    "the items of a term": (lambda: list(graph_of_two()[1]), "WG209", "how many items a has is not known"),
    "writing to a term": (lambda: graph_of_two()[1].__setitem__(0, 1.0), "WG209", "a would change in place"),
    "a name for a function": (lambda: graph_of_two()[1].apply("sin"), "WG202", "'sin' is no function"),
    "an unknown event": (lambda: graph_of_two()[0].hook("x", print).__enter__(), "WG202", "no event is called 'x'"),
    "an unknown sweep": (lambda: graph_of_two()[1].to_animated_svg(of=("x",)), "WG202", "no sweep is called 'x'"),
    "unknown identities": (lambda: wg.Graph("fast"), "WG202", "no identities are called 'fast'"),
}  # fmt: skip


@pytest.mark.parametrize("what", BAD)
def test_what_does_not_belong_is_named_with_its_line(what):
    run, code, words = BAD[what]
    with pytest.raises(wg.WengertError) as caught:
        run()
    text = str(caught.value)
    assert caught.value.code == code
    assert words in text
    assert "test_errors_of_numbers.py:" in text
    assert "^" in text


@pytest.mark.parametrize(
    "derive",
    [
        lambda f, x: wg.grad(f)(x),
        lambda f, x: wg.gradient(f, x),
        lambda f, x: wg.pullback(f, x),
        lambda f, x: wg.pushforward(f, x),
        lambda f, x: wg.derivative(f)(x),
        lambda f, x: wg.hvp(f)(x, 1.0),
        lambda f, x: wg.jacobian(f)(x),
        lambda f, x: wg.hessian(f)([x, x]),
        lambda f, x: wg.taylor(f, x, 2),
        lambda f, x: wg.numbers.derivative(f, x),
        lambda f, x: x.graph.set(x=x),
        lambda f, x: wg.Dual(x, 1.0),
    ],
)
def test_a_term_where_a_number_is_wanted(derive):
    (x,) = wg.Graph().variables("x")
    for call in (
        lambda: derive(lambda z: z**3, x),
        lambda: wg.trace(lambda x: derive(abs, x), 1.0),
    ):
        with pytest.raises(wg.errors.BadArgument, match="<Term x> is a term of a graph") as refused:
            call()
        assert "f(x).derive(x)" in str(refused.value)


def test_a_derivative_by_numbers_that_depends_on_terms():
    trace = wg.trace(lambda a: wg.grad(lambda z: z**3 * a)(2.0), 5.0)
    assert (str(trace), trace.eval()) == ("a * 12", 60.0)


def test_an_array_of_floats_that_a_derivative_is_written_to():
    def written(x):
        y = np.zeros(2)
        y[0] = x * x
        return y[0] * x

    for call in (
        lambda: wg.numbers.derivative(written, 2.0),
        lambda: wg.numbers.derivative(wg.grad(written), 2.0),
        lambda: wg.taylor(written, 2.0, 2),
    ):
        with pytest.raises(wg.errors.LostDerivative, match="a float has no derivative") as refused:
            call()
        assert "np.zeros(n) * x" in str(refused.value)
        assert "y[0] = x * x" in str(refused.value)
    with pytest.raises(wg.errors.LostDerivative, match="an array of floats"):
        np.zeros(2)[:] = wg.Dual(np.ones(2), np.ones(2))
    with pytest.raises(wg.errors.LostDerivative, match="an array of floats"):
        np.asarray([wg.Dual(1.0, 1.0)], dtype=float)


@pytest.mark.parametrize(
    "program",
    [
        lambda x: np.linalg.det(np.array([[x, 1.0], [2.0, x]])),
        lambda x: np.linalg.solve(np.array([[x, 1.0], [2.0, x]]), np.ones(2))[0],
        lambda x: np.log1p(np.array([x, 0.1]))[0],
        lambda x: np.arctan2(np.array([x, 0.1]), 1.0)[0],
        lambda x: np.interp(0.5, np.array([0, 1.0]), np.array([x, 1.0])),
    ],
)
def test_what_numpy_does_not_compute_item_by_item(program):
    with pytest.raises(wg.errors.LostDerivative, match="one by one") as refused:
        wg.numbers.derivative(program, 0.5)
    assert "np.stack([x, 1.0])" in str(refused.value)
    assert "lambda x: np." in str(refused.value)
    stacked = lambda x: np.linalg.det(np.stack([np.stack([x, 1.0]), np.stack([2.0, x])]))
    assert wg.numbers.derivative(stacked, 0.5) == pytest.approx(1.0)


@pytest.mark.parametrize("order", [-1, 1.5])
def test_an_order_of_partials_that_there_is_not(order):
    with pytest.raises(wg.errors.BadArgument, match="the derivatives of order"):
        wg.numbers.partials(lambda a, b: a * b, 1.0, 2.0).order(order)
