"""Bad input gets an error that says what, where, why and what next.

Every error is asked for its code, its built-in base, the user's line, the text under the caret and
the words of its hint.
"""

# programs under test are written as users write them, mistakes included
# ruff: noqa: PLC3002, PLE0643, PLW0108, PTH123

import itertools
import math
import operator
import re
import traceback
from types import SimpleNamespace

import numpy as np
import pytest

import wengert as wg


def refusal(code, base, action):
    """The error that an action raises, which must be ours, of that code and that built-in base."""
    with pytest.raises(wg.WengertError) as caught:
        action()
    error = caught.value
    assert error.code == code, str(error)
    assert isinstance(error, base)
    assert f"[{code}]" in str(error)
    assert f"docs/errors.md#{code.lower()}" in str(error)
    return error


def lines_with_carets(error):
    """The user's lines in a message, each with the text above the carets."""
    shown = []
    lines = str(error).splitlines()
    for line, below in itertools.pairwise(lines):
        if re.fullmatch(r" *\^+", below):
            shown.append((line.strip(), line[below.index("^") : below.rindex("^") + 1]))
    return shown


def says(error, *words):
    message = str(error)
    missing = [word for word in words if word not in message]
    assert not missing, f"{missing} not in:\n{message}"


def line_of(function, offset):
    return f"test_errors.py:{function.__code__.co_firstlineno + offset}"


# No source


def without_source():
    namespace = {}
    exec("def f(x):\n    return x * x\n", namespace)
    return namespace["f"]


def test_no_source():
    error = refusal("WG102", TypeError, lambda: wg.gradient(without_source(), 2.0))
    # word for word: str(error) == ...
    says(error, "source of f", "'<string>'", "file", "wg.rrule")


def test_no_source_of_a_function_that_is_called():
    helper = without_source()

    def outer(x):
        return helper(x) + 1

    error = refusal("WG102", TypeError, lambda: wg.gradient(outer, 2.0))
    # word for word: str(error) == ...
    says(error, line_of(outer, 1), "in outer")
    assert lines_with_carets(error) == [("return helper(x) + 1", "helper(x)")]


# A C function without a rule


def triple(t):
    return 3 * t


COMPILED = np.frompyfunc(triple, 1, 1)


def calls_c(x):
    y = math.sin(x)
    return y + operator.index(len("abc")) * COMPILED(x * y)


def test_no_rule_names_the_function_and_three_ways_out():
    error = refusal("WG103", TypeError, lambda: wg.gradient(calls_c, 2.0))
    # word for word: str(error) == ...
    says(error, "triple (vectorized)", line_of(calls_c, 2), "in calls_c")
    says(error, "wg.rrule", "wg.zero_rule", "wg.stop_gradient")
    assert lines_with_carets(error)[0][1] == "COMPILED(x * y)"


def test_no_rule_is_raised_only_when_a_derivative_needs_one():
    def inactive(x, n):
        return x * math.isqrt(n)

    assert wg.gradient(inactive, 2.0, 9) == (3.0, 0.0)


def test_no_rule_for_the_function_itself():
    error = refusal("WG103", TypeError, lambda: wg.gradient(np.interp, 0.5, [0.0, 1.0], [0.0, 2.0]))
    says(error, "interp", "wg.rrule")


# Unsupported syntax, all of it at once


def unsupported(x):
    try:
        y = x * x
    except ValueError:
        y = x
    with open("file") as stream:
        y = y + len(stream.read())

    def generate():
        yield y

    return y


def test_unsupported_syntax_is_reported_all_at_once():
    error = refusal("WG101", NotImplementedError, lambda: wg.gradient(unsupported, 2.0))
    # word for word: str(error) == ...
    says(error, line_of(unsupported, 1), line_of(unsupported, 5), "in unsupported")
    lines = [line for line, _ in lines_with_carets(error)]
    assert lines[:2] == ["try:", 'with open("file") as stream:']
    assert len(error.findings) >= 3
    assert all(finding.hint for finding in error.findings)


@pytest.mark.parametrize(
    "construct", ["try", "with", "yield", "async", "element", "attribute", "append", "del"]
)
def test_each_unsupported_construct(construct):
    function, line, caret = UNSUPPORTED[construct]
    error = refusal("WG101", NotImplementedError, lambda: wg.gradient(function, *POINTS[construct]))
    # word for word: str(error) == ...
    shown = lines_with_carets(error)
    assert len(shown) == 1, str(error)
    assert shown[0][0] == line
    assert caret in shown[0][1]


def has_try(x):
    try:
        return x
    finally:
        pass


def has_with(x):
    with np.errstate(all="ignore"):
        return x * x


def has_yield(x):
    yield x


async def has_async(x):
    return x


def sets_an_element(xs):
    xs[0] = xs[1] * 2
    return xs[0]


def sets_an_attribute(p):
    p.x = p.x * 2
    return p.x


def appends(x):
    xs = [x]
    xs.append(x * 2)
    return sum(xs)


def deletes_an_element(d):
    del d["a"]
    return d["b"]


UNSUPPORTED = {
    "try": (has_try, "try:", "try"),
    "with": (has_with, 'with np.errstate(all="ignore"):', "with"),
    "yield": (has_yield, "yield x", "yield x"),
    "async": (has_async, "async def has_async(x):", "async def"),
    "element": (sets_an_element, "xs[0] = xs[1] * 2", "xs[0]"),
    "attribute": (sets_an_attribute, "p.x = p.x * 2", "p.x"),
    "append": (appends, "xs.append(x * 2)", "xs.append"),
    "del": (deletes_an_element, 'del d["a"]', "del"),
}
POINTS = {
    "element": (np.array([1.0, 2.0]),),
    "attribute": (SimpleNamespace(x=1.0),),
    "del": ({"a": 1.0, "b": 2.0},),
} | dict.fromkeys(["try", "with", "yield", "async", "append"], (2.0,))


# Results that have no gradient


@pytest.mark.parametrize(
    ("function", "what"),
    [
        (lambda x: np.array([x, x]), "array"),
        (lambda x: (x, x), "tuple"),
        (lambda x: {"a": x}, "dict"),
        (lambda x: x * 1j, "complex"),
        (lambda x: None, "None"),
        (lambda x: "text", "str"),
    ],
)
@pytest.mark.parametrize(
    "verb", [wg.gradient, lambda f, x: wg.grad(f)(x), lambda f, x: wg.value_and_grad(f)(x)]
)
def test_gradient_of_what_is_not_one_real_number(verb, function, what):
    error = refusal("WG201", TypeError, lambda: verb(function, 2.0))
    # word for word: str(error) == ...
    says(error, what, "wg.jacobian", "wg.pullback")


def test_gradient_of_an_array_says_what_array():
    error = refusal("WG201", TypeError, lambda: wg.gradient(lambda x: x * 2, np.ones((2, 3))))
    # word for word: str(error) == ...
    says(error, "array", "2 dimensions")


def test_a_zero_dimensional_result_is_fine():
    assert wg.gradient(lambda x: np.array(x * 2), 1.0) == (2.0,)
    (found,) = wg.gradient(lambda x: np.sum(x, keepdims=False), np.ones(2))
    assert found.tolist() == [1.0, 1.0]


# Wrong argnums and wrong arguments


@pytest.mark.parametrize("argnums", [2, (0, 5), -3])
def test_argnums_out_of_range(argnums):
    error = refusal("WG202", TypeError, lambda: wg.grad(lambda x, y: x * y, argnums)(1.0, 2.0))
    # word for word: str(error) == ...
    says(error, "argnums", "2")


@pytest.mark.parametrize("argnums", ["x", 1.5, None, ("a",)])
def test_argnums_of_the_wrong_type(argnums):
    error = refusal("WG202", TypeError, lambda: wg.grad(lambda x, y: x * y, argnums)(1.0, 2.0))
    # word for word: str(error) == ...
    says(error, "argnums", repr(argnums))


def test_argnums_of_an_argument_without_a_derivative():
    error = refusal("WG202", TypeError, lambda: wg.grad(lambda name, x: x, 0)("text", 2.0))
    # word for word: str(error) == ...
    says(error, "argnums", "name", "'text'")


@pytest.mark.parametrize(
    "verb", [wg.grad, wg.value_and_grad, wg.derivative, wg.hessian, wg.jacobian]
)
def test_not_a_function(verb):
    error = refusal("WG202", TypeError, lambda: verb(3.0))
    # word for word: str(error) == ...
    says(error, "float", "function")


@pytest.mark.parametrize("order", [0, -1, 1.5, "2"])
def test_order_of_a_derivative(order):
    error = refusal("WG202", TypeError, lambda: wg.derivative(math.sin, order))
    # word for word: str(error) == ...
    says(error, "order", repr(order))


def test_mode_of_a_jacobian():
    error = refusal("WG202", TypeError, lambda: wg.jacobian(lambda x: x * x, mode="sideways")(1.0))
    # word for word: str(error) == ...
    says(error, "'sideways'", "forward", "reverse", "auto")


def test_wrong_arguments_are_pythons_own_error():
    with pytest.raises(TypeError, match=r"missing 1 required positional argument: 'y'"):
        wg.gradient(lambda x, y: x * y, 1.0)
    with pytest.raises(TypeError, match="unexpected keyword argument 'z'"):
        wg.gradient(lambda x: x, 1.0, z=2.0)


# Tangents and cotangents


def two_arguments(x, y):
    return np.sum(x) * y


def push(*tangents):
    return wg.pushforward(two_arguments, np.ones(3), 2.0)[1](*tangents)


@pytest.mark.parametrize("tangents", [(), (np.ones(3),), (np.ones(3), 1.0, 1.0)])
def test_wrong_number_of_tangents(tangents):
    error = refusal("WG203", ValueError, lambda: push(*tangents))
    # word for word: str(error) == ...
    says(error, "2 tangents", str(len(tangents)), "None")


@pytest.mark.parametrize("tangent", [np.ones(4), 1.0, np.ones((3, 1)), [1.0] * 3])
def test_wrong_shape_of_a_tangent(tangent):
    if isinstance(tangent, list):
        pytest.skip("whether a list may stand for an array is left open")
    error = refusal("WG203", ValueError, lambda: push(tangent, 1.0))
    # word for word: str(error) == ...
    says(error, str(np.shape(tangent)), "(3,)")


def test_complex_tangent_of_a_real_argument():
    error = refusal("WG203", ValueError, lambda: push(np.ones(3), 1j))
    # word for word: str(error) == ...
    says(error, "complex", "real")


@pytest.mark.parametrize("y_bar", [np.ones(2), np.ones((3, 1)), "text", (1.0, 2.0, 3.0, 4.0)])
def test_wrong_cotangent(y_bar):
    _, back = wg.pullback(lambda x: x * 2, np.ones(3))
    error = refusal("WG203", ValueError, lambda: back(y_bar))
    # word for word: str(error) == ...
    says(error, "cotangent", "(3,)")


@pytest.mark.parametrize("y_bar", [1.0, (1.0,), (1.0, 2.0, 3.0), {"a": 1.0}])
def test_cotangent_of_the_wrong_structure(y_bar):
    _, back = wg.pullback(lambda x: (x, x * x), 2.0)
    error = refusal("WG203", ValueError, lambda: back(y_bar))
    # word for word: str(error) == ...
    says(error, "cotangent", "structure")


def test_vector_of_an_hvp():
    error = refusal(
        "WG203", ValueError, lambda: wg.hvp(lambda x: np.sum(x**2))(np.ones(3), np.ones(2))
    )
    # word for word: str(error) == ...
    says(error, "(2,)", "(3,)")


# Rules that are wrong


def test_rule_with_the_wrong_number_of_cotangents():
    def own(x, y):
        return x * y

    @wg.rrule(own)
    def rule(x, y):
        return x * y, lambda z_bar: (z_bar * y, z_bar * x, 0.0)

    error = refusal("WG301", ValueError, lambda: wg.gradient(lambda x, y: own(x, y), 2.0, 3.0))
    # word for word: str(error) == ...
    says(error, "own", "3 cotangents", "2", "test_errors.py:")


def test_rule_with_the_wrong_shape_of_a_cotangent():
    def own(x):
        return np.sum(x)

    wg.rrule(own)(lambda x: (np.sum(x), lambda y_bar: np.ones(2)))
    error = refusal("WG301", ValueError, lambda: wg.gradient(lambda x: own(x), np.ones(3)))
    # word for word: str(error) == ...
    says(error, "own", "(2,)", "(3,)", "test_errors.py:")


def test_rule_that_returns_no_pullback():
    def own(x):
        return math.sin(x)

    wg.rrule(own)(lambda x: math.sin(x))
    error = refusal("WG301", ValueError, lambda: wg.gradient(lambda x: own(x), 1.0))
    # word for word: str(error) == ...
    says(error, "own", "pullback", "test_errors.py:")


def test_scalar_rule_with_the_wrong_number_of_partials():
    def own(x, y):
        return math.hypot(x, y)

    def register():
        wg.scalar_rule(own, lambda x, y, Ω: x / Ω, lambda x, y, Ω: y / Ω, lambda x, y, Ω: 0.0)

    error = refusal("WG301", ValueError, register)
    # word for word: str(error) == ...
    says(error, line_of(test_scalar_rule_with_the_wrong_number_of_partials, 5), "own", "3", "2")


def test_scalar_rule_with_the_wrong_parameters():
    def own(x, y):
        return math.hypot(x, y)

    error = refusal("WG301", ValueError, lambda: wg.scalar_rule(own, lambda x: x, lambda x: x))
    # word for word: str(error) == ...
    says(error, "own", "test_errors.py:")


def test_rule_that_is_not_a_function():
    error = refusal("WG301", ValueError, lambda: wg.scalar_rule(triple, 3.0))
    # word for word: str(error) == ...
    says(error, "function")


# Arrays of two libraries


class Tensor:
    """What an array of another library shows to the outside."""

    def __init__(self, data):
        self.data = np.asarray(data)
        self.shape = self.data.shape
        self.dtype = self.data.dtype

    def __array_namespace__(self, api_version=None):
        return operator  # any module that is not NumPy

    __array_ufunc__ = None


def test_mixing_array_libraries():
    error = refusal(
        "WG204", TypeError, lambda: wg.gradient(lambda x, y: x * y, np.ones(2), Tensor([1.0, 2.0]))
    )
    # word for word: str(error) == ...
    says(error, "ndarray", "Tensor")


# Names that are not bound on the path taken


def sometimes_bound(x):
    if x > 0:
        y = x * 2
    return y + x


def test_a_name_unbound_on_the_path_taken():
    assert wg.gradient(sometimes_bound, 1.0) == (3.0,)
    with pytest.raises(UnboundLocalError) as ours:
        wg.gradient(sometimes_bound, -1.0)
    with pytest.raises(UnboundLocalError) as pythons:
        sometimes_bound(-1.0)
    assert str(ours.value) == str(pythons.value)


def test_an_unbound_global():
    def unbound(x):
        return x * not_defined_anywhere  # noqa: F821

    with pytest.raises(NameError, match="name 'not_defined_anywhere' is not defined"):
        wg.gradient(unbound, 1.0)


def test_a_loop_variable_of_an_empty_loop():
    def after_the_loop(x, n):
        for k in range(n):
            y = x * k
        return y

    assert wg.gradient(after_the_loop, 2.0, 3) == (2.0, 0.0)
    with pytest.raises(UnboundLocalError, match="'y'"):
        wg.gradient(after_the_loop, 2.0, 0)


# Exceptions of the user's own code


class Own(Exception):
    pass


def raises_deep(x):
    def inner(t):
        if t > 1:
            raise Own("too large", t)
        return t

    total = 0.0
    for k in range(5):
        total += inner(x * k)
    return total


def user_lines(error):
    lines, step = [], error.__traceback__
    while step is not None:
        if step.tb_frame.f_code.co_filename == __file__:
            lines.append(step.tb_lineno)
        step = step.tb_next
    return lines


@pytest.mark.parametrize(
    "differentiate",
    [
        lambda f, x: wg.gradient(f, x),
        lambda f, x: wg.pullback(f, x),
        lambda f, x: wg.pushforward(f, x)[1](1.0),
        lambda f, x: wg.hvp(f)(x, 1.0),
        lambda f, x: wg.grad(f).specialize(x)(x),
        lambda f, x: wg.grad(wg.grad(f))(x),
    ],
)
def test_exceptions_come_out_unchanged(differentiate):
    with pytest.raises(Own) as caught:
        differentiate(raises_deep, 0.6)
    assert caught.value.args == ("too large", 1.2)
    assert caught.value.__cause__ is None
    assert not wg.is_differentiating()


def test_exceptions_show_the_users_line():
    with pytest.raises(Own) as caught:
        wg.gradient(raises_deep, 0.6)
    text = "".join(traceback.format_exception(caught.value))
    assert 'raise Own("too large", t)' in text


FAILURES = {
    "division": (lambda x: 1 / x, 0.0, ZeroDivisionError),
    "domain": (lambda x: math.log(x), -1.0, ValueError),
    "domain, value unused": (lambda x: (math.sqrt(x - 2), x)[1], 1.0, ValueError),
    "overflow": (lambda x: math.exp(x), 1e4, OverflowError),
    "index": (lambda x: [x][3], 1.0, IndexError),
    "index of array": (lambda x: np.ones(2)[5] * x, 1.0, IndexError),
    "key": (lambda x: {"a": x}["b"], 1.0, KeyError),
    "attribute": (lambda x: x.nonsense, 1.0, AttributeError),
    "type": (lambda x: x + "text", 1.0, TypeError),
    "shape": (lambda x: np.ones(2) @ np.ones(3) * x, 1.0, ValueError),
    "unpacking": (lambda x: (lambda a, b: a * b)(*[x]), 1.0, TypeError),
    "recursion": (lambda x: endless(x), 1.0, RecursionError),
}


def endless(x):
    return endless(x + 1)


@pytest.mark.parametrize("name", FAILURES)
def test_exceptions_are_pythons_own(name):
    function, x, kind = FAILURES[name]
    with pytest.raises(kind) as pythons:
        function(x)
    with pytest.raises(kind) as ours:
        wg.gradient(function, x)
    assert not isinstance(ours.value, wg.WengertError)
    if kind is not RecursionError:
        assert str(ours.value) == str(pythons.value)


def test_failed_assertions_are_the_users():
    def asserts(x):
        assert x > 0, f"x is {x}"
        return x

    with pytest.raises(AssertionError, match=r"^x is -1\.0"):
        wg.gradient(asserts, -1.0)
