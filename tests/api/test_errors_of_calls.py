"""Calls of wengert's functions that make no sense: results, argnums, tangents, rules, arrays."""

# programs under test are written as users write them, mistakes included

import math
import operator
from types import SimpleNamespace

import numpy as np
import pytest
from error_texts import in_a_file, message, place, refusal

import wengert as wg


def product(x, y):
    return x * y


def triple(t):
    return 3 * t


# Results that have no gradient


OTHER_VERBS = """\
For several results use `wg.jacobian`; to choose the cotangent of the result yourself use
`wg.pullback`."""
NOT_SCALAR = {
    "lambda x: np.array([x, x])": ("an array of float64 with 1 dimension", ""),
    "lambda x: (x, x)": ("a tuple of 2 items", ""),
    "lambda x: [x]": ("a list of 1 item", ""),
    "lambda x: [x * k for k in range(100)]": ("a list or tuple", ""),
    'lambda x: {"a": x}': ("a dict of 1 item", ""),
    "lambda x: x * 1j": (
        "a complex number",
        "Return a real number, such as `abs(y)` or `y.real`.\n",
    ),
    "lambda x: None": ("None", "Is a `return` missing?\n"),
    'lambda x: "text"': ("a str", ""),
    "lambda x: x > 0": ("a bool", ""),
    "lambda x: math.sin": ("a function", ""),
}


@pytest.mark.parametrize("code", NOT_SCALAR)
@pytest.mark.parametrize(
    "verb", [wg.gradient, lambda f, x: wg.grad(f)(x), lambda f, x: wg.value_and_grad(f)(x)]
)
def test_gradient_of_what_is_not_one_real_number(verb, code, tmp_path):
    function = in_a_file(code, tmp_path)
    error = refusal("WG201", TypeError, lambda: verb(function, 2.0))
    what, first = NOT_SCALAR[code]
    assert str(error) == message(
        "WG201",
        f"a gradient needs one real number as the result, but f returns {what}",
        place(function, 0, code),
        first + OTHER_VERBS,
    )


def test_gradient_of_an_array_says_what_array():
    def doubled(x):
        return x * 2

    error = refusal("WG201", TypeError, lambda: wg.gradient(doubled, np.ones((2, 3))))
    assert str(error) == message(
        "WG201",
        "a gradient needs one real number as the result, but doubled returns an array of "
        "float64 with 2 dimensions",
        place(doubled, 0, "def doubled(x):"),
        OTHER_VERBS,
    )


@pytest.mark.parametrize(
    ("y", "what"),
    [
        (np.ones(2), "a value of type ndarray of shape (2,)"),
        (1j, "a value of type complex"),
        (None, "None"),
        ("text", "a value of type str"),
        (SimpleNamespace(y=1.0), "a value of type SimpleNamespace"),
        (math.sin, "a value of type builtin_function_or_method"),
    ],
)
def test_gradient_of_what_only_running_tells(y, what):
    def own(x):
        return x

    def calls(x):
        return own(x)

    wg.rrule(own)(lambda x: (y, lambda y_bar: y_bar))
    error = refusal("WG201", TypeError, lambda: wg.gradient(calls, 2.0))
    assert str(error) == message(
        "WG201",
        f"a gradient needs one real number as the result, but calls returned {what}",
        place(calls, 0, "def calls(x):"),
        OTHER_VERBS,
    )


def test_gradient_of_what_is_not_one_real_number_inside_a_program():
    def pair(t):
        return t, t

    def slope(x):
        return wg.grad(pair)(x)

    error = refusal("WG201", TypeError, lambda: wg.gradient(slope, 2.0))
    assert str(error) == message(
        "WG201",
        "a gradient needs one real number as the result, but pair returns a tuple of 2 items",
        place(slope, 1, "wg.grad(pair)(x)", inside="slope"),
        OTHER_VERBS,
    )


def test_auxiliary_data_that_is_not_there():
    def loss(x):
        return x * x

    error = refusal("WG201", TypeError, lambda: wg.grad(loss, has_aux=True)(2.0))
    assert str(error) == message(
        "WG201",
        "with has_aux=True, loss must return a pair (value, auxiliary data); it returns a float",
        place(loss, 0, "def loss(x):"),
        "Return such a pair, or leave `has_aux` out.",
    )


def test_jacobian_of_a_complex_result():
    def rotated(x):
        return x * 1j

    error = refusal("WG201", TypeError, lambda: wg.jacobian(rotated)(2.0))
    assert str(error) == message(
        "WG201",
        "`wg.jacobian` needs a real result, but the function returns a complex one",
        place(rotated, 0, "def rotated(x):"),
        "Return its real and imaginary parts, or use `wg.pullback`.",
    )


def test_a_zero_dimensional_result_is_fine():
    assert wg.gradient(lambda x: np.array(x * 2), 1.0) == (2.0,)
    (found,) = wg.gradient(lambda x: np.sum(x, keepdims=False), np.ones(2))
    assert found.tolist() == [1.0, 1.0]


# Wrong argnums and wrong arguments


BY_POSITION = "Arguments count from 0. Pass those to differentiate by position, not by keyword."


@pytest.mark.parametrize("verb", [wg.grad, wg.value_and_grad, wg.jacobian, wg.hessian])
@pytest.mark.parametrize(("argnums", "wrong"), [(2, 2), ((0, 5), 5), (-3, -3)])
def test_argnums_out_of_range(verb, argnums, wrong):
    error = refusal("WG202", TypeError, lambda: verb(product, argnums)(1.0, 2.0))
    assert str(error) == message(
        "WG202",
        f"`argnums` names argument {wrong}, but product was called with 2 positional arguments",
        None,
        BY_POSITION,
    )


def test_argnums_of_an_argument_passed_by_keyword():
    error = refusal("WG202", TypeError, lambda: wg.grad(product, argnums=1)(1.0, y=2.0))
    assert str(error) == message(
        "WG202",
        "`argnums` names argument 1, but product was called with 1 positional argument",
        None,
        BY_POSITION,
    )


def test_argnums_out_of_range_inside_a_program():
    def slope(x):
        return wg.grad(product, argnums=4)(x, x)

    error = refusal("WG202", TypeError, lambda: wg.gradient(slope, 2.0))
    assert str(error) == message(
        "WG202",
        "`argnums` names argument 4, but the function is called with 2 positional arguments",
        place(slope, 1, "wg.grad(product, argnums=4)(x, x)", inside="slope"),
        BY_POSITION,
    )


@pytest.mark.parametrize("verb", [wg.grad, wg.value_and_grad, wg.jacobian, wg.hessian, wg.hvp])
@pytest.mark.parametrize("argnums", [1.5, None, True, (0, 1.5), np.ones(2)])
def test_argnums_of_the_wrong_type(verb, argnums):
    error = refusal("WG202", TypeError, lambda: verb(product, argnums))
    assert str(error) == message(
        "WG202",
        f"`argnums` must be an integer, a name, or a tuple of these, not {argnums!r}",
        None,
        "`argnums=0` is the first positional argument, `argnums=(0, 1)` the first two, "
        '`argnums="rate"` the one\n'
        "of that name. Did you mean the derivative at a point? That is `wg.gradient(f, x)`, or `wg.grad(f)(x)`.",
    )


def test_several_argnums_of_hvp():
    error = refusal("WG202", TypeError, lambda: wg.hvp(product, (0, 1)))
    assert str(error) == message(
        "WG202",
        "`argnums` of `hvp` must be one integer or name, not (0, 1)",
        None,
        "Take the arguments together: differentiate a function of one tuple.",
    )


@pytest.mark.parametrize("verb", [wg.grad, wg.value_and_grad, wg.jacobian])
@pytest.mark.parametrize(
    ("value", "what"),
    [
        ("text", "the text 'text'"),
        (True, "a bool"),
        (None, "None"),
        (math.sin, "a function"),
        (np.array([True]), "an array of bool with 1 dimension"),
        ((), "a tuple of 0 items"),
    ],
)
def test_argnums_of_an_argument_without_a_derivative(verb, value, what):
    error = refusal("WG202", TypeError, lambda: verb(lambda name, x: x, 0)(value, 2.0))
    assert str(error) == message(
        "WG202",
        f"`argnums` names argument 0 (`name`), which is {what} and has no derivative",
        None,
        "Choose other `argnums`, or pass a float, a complex number, an array, or a container "
        "of these.",
    )


@pytest.mark.parametrize(
    "verb",
    [
        *(wg.grad, wg.value_and_grad, wg.derivative, wg.hessian, wg.jacobian, wg.hvp),
        *(wg.diag_hessian, wg.gradient, wg.pullback, wg.pushforward),
        *(wg.code_ir, wg.code_adjoint, wg.code_tangent),
    ],
)
def test_not_a_function(verb):
    error = refusal("WG202", TypeError, lambda: verb(3.0))
    assert str(error) == message(
        "WG202",
        "wengert differentiates functions, not values of type float",
        None,
        "Pass the function itself, not its result: `wg.grad(f)(x)`, `wg.gradient(f, x)`.",
    )


@pytest.mark.parametrize("order", [0, -1, 1.5, "2"])
def test_order_of_a_derivative(order):
    error = refusal("WG202", TypeError, lambda: wg.derivative(math.sin, order))
    assert str(error) == message(
        "WG202",
        f"`order` must be 1, 2, 3 …, not {order!r}",
        None,
        "`order=1` gives f', `order=2` gives f''.",
    )


def test_derivative_of_a_function_of_an_array():
    error = refusal("WG202", TypeError, lambda: wg.derivative(np.sum)(np.ones(3)))
    assert str(error) == message(
        "WG202",
        "`derivative` is for functions of one number; this argument is an array of float64 "
        "with 1 dimension",
        None,
        "Use `wg.grad` for a scalar function of an array, `wg.jacobian` for an array-valued one.",
    )


def test_derivative_of_a_function_of_two_numbers():
    error = refusal("WG202", TypeError, lambda: wg.derivative(product)(1.0, 2.0))
    assert str(error) == message(
        "WG202",
        "`derivative` is for functions of one number; product was called with 2 arguments",
        None,
        "Use `wg.grad(f, argnums=...)`, or fix the other arguments with `functools.partial`.",
    )


def test_mode_of_a_jacobian():
    error = refusal("WG202", TypeError, lambda: wg.jacobian(lambda x: x * x, mode="sideways")(1.0))
    assert str(error) == message(
        "WG202",
        "`mode` must be 'auto', 'forward' or 'reverse', not 'sideways'",
        None,
        "'auto' takes the cheaper of the two.",
    )


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
    assert str(error) == message(
        "WG203",
        "the pushforward of two_arguments takes 2 tangents, one for each positional argument; "
        f"it was given {len(tangents)}",
        None,
        "Pass None for a zero tangent.",
    )


@pytest.mark.parametrize("cotangents", [(), (1.0, 1.0)])
def test_wrong_number_of_cotangents(cotangents):
    _, back = wg.pullback(two_arguments, np.ones(3), 2.0)
    error = refusal("WG203", ValueError, lambda: back(*cotangents))
    assert str(error) == message(
        "WG203",
        "the pullback of two_arguments takes one cotangent, that of its result; it was given "
        f"{len(cotangents)}",
        None,
        "For a result of several items pass one container of their cotangents.",
    )


@pytest.mark.parametrize(
    ("tangent", "shape"), [(np.ones(4), "(4,)"), (1.0, "()"), (np.ones((3, 1)), "(3, 1)")]
)
def test_wrong_shape_of_a_tangent(tangent, shape):
    error = refusal("WG203", ValueError, lambda: push(tangent, 1.0))
    assert str(error) == message(
        "WG203",
        f"the tangent of argument 0 (`x`) has shape {shape}, but the argument has shape (3,)",
        None,
        "Pass an array of shape (3,).",
    )


def test_a_list_may_stand_for_an_array():
    assert push([1.0, 2.0, 3.0], None) == 12.0


def test_complex_tangent_of_a_real_argument():
    error = refusal("WG203", ValueError, lambda: push(np.ones(3), 1j))
    assert str(error) == message(
        "WG203",
        "the tangent of argument 1 (`y`) is complex, but the argument is real",
        None,
        "Pass its real part.",
    )


@pytest.mark.parametrize(
    ("y_bar", "what"),
    [
        (np.ones(2), "has shape (2,), but the result has shape (3,)"),
        (np.ones((3, 1)), "has shape (3, 1), but the result has shape (3,)"),
        ((1.0, 2.0, 3.0, 4.0), "has shape (4,), but the result has shape (3,)"),
        ("text", "is a value of type str"),
        (object(), "is a value of type object"),
        ([1.0, [2.0]], "is a value of type list"),
    ],
)
def test_wrong_cotangent(y_bar, what):
    _, back = wg.pullback(lambda x: x * 2, np.ones(3))
    error = refusal("WG203", ValueError, lambda: back(y_bar))
    assert str(error) == message(
        "WG203", f"the cotangent {what}", None, "Pass an array of shape (3,)."
    )


def test_wrong_cotangent_of_a_number():
    _, back = wg.pullback(math.sin, 1.0)
    error = refusal("WG203", ValueError, lambda: back(np.ones(2)))
    assert str(error) == message(
        "WG203",
        "the cotangent has shape (2,), but the result has shape ()",
        None,
        "Pass a number.",
    )


@pytest.mark.parametrize(
    ("y_bar", "shown"),
    [
        (1.0, "1.0"),
        ((1.0,), "(1.0,)"),
        ((1.0, 2.0, 3.0), "(1.0, 2.0, 3.0)"),
        ({"a": 1.0}, "{'a': 1.0}"),
    ],
)
def test_cotangent_of_the_wrong_structure(y_bar, shown):
    _, back = wg.pullback(lambda x: (x, x * x), 2.0)
    error = refusal("WG203", ValueError, lambda: back(y_bar))
    assert str(error) == message(
        "WG203",
        "the cotangent does not have the structure of the result",
        None,
        f"It should look like (2.0, 4.0), not like {shown}.",
    )


def test_cotangent_of_a_long_list():
    _, back = wg.pullback(lambda xs: [2 * x for x in xs], [1.0] * 9)
    error = refusal("WG203", ValueError, lambda: back([1.0] * 8))
    assert str(error) == message(
        "WG203",
        "the cotangent does not have the structure of the result",
        None,
        "It should look like [2.0, 2.0, 2.0, 2.0, 2.0, 2.0, ...], "
        "not like [1.0, 1.0, 1.0, 1.0, 1.0, 1.0, ...].",
    )


def test_a_cotangent_with_an_item_too_many():
    _, back = wg.pullback(lambda x: {"a": x}, 2.0)
    error = refusal("WG203", ValueError, lambda: back({"a": 1.0, "b": 1.0}))
    assert str(error) == message(
        "WG203",
        "the cotangent does not have the structure of the result",
        None,
        "It should look like {'a': 2.0}, not like {'a': 1.0, 'b': 1.0}.",
    )


def test_wrong_shape_inside_a_container():
    def weighted(p):
        return np.sum(p["layers"][0]["w"]) * p["b"]

    _, push = wg.pushforward(weighted, {"layers": [{"w": np.ones(3)}], "b": 1.0})
    error = refusal("WG203", ValueError, lambda: push({"layers": [{"w": np.ones(2)}], "b": None}))
    assert str(error) == message(
        "WG203",
        "the tangent of argument 0 (`p`) has shape (2,) at ['layers'][0]['w'], but the "
        "argument has shape (3,) there",
        None,
        "Pass an array of shape (3,).",
    )


def test_vector_of_an_hvp():
    error = refusal(
        "WG203", ValueError, lambda: wg.hvp(lambda x: np.sum(x**2))(np.ones(3), np.ones(2))
    )
    assert str(error) == message(
        "WG203",
        "the vector has shape (2,), but argument 0 (`x`) has shape (3,)",
        None,
        "Pass an array of shape (3,).",
    )


def test_hvp_without_a_vector():
    error = refusal("WG202", TypeError, lambda: wg.hvp(math.sin)(1.0))
    assert str(error) == message(
        "WG202",
        "a Hessian–vector product takes the arguments of the function and then a vector",
        None,
        "Call it like this: `wg.hvp(f)(x, v)`.",
    )


# Rules that are wrong


def test_rule_with_the_wrong_number_of_cotangents():
    @wg.rrule(two_factors)
    def rule(x, y):
        return x * y, lambda z_bar: (z_bar * y, z_bar * x, 0.0)

    error = refusal(
        "WG301", ValueError, lambda: wg.gradient(lambda x, y: two_factors(x, y), 2.0, 3.0)
    )
    assert str(error) == message(
        "WG301",
        "the pullback of the rrule of two_factors returned 3 cotangents for 2 arguments",
        place(rule, 0, "@wg.rrule(two_factors)"),
        "It returns a tuple with one cotangent for each positional argument, None for zero; a\n"
        "bare cotangent if there is one argument.",
    )


def two_factors(x, y):
    return x * y


def test_rule_with_too_many_cotangents_for_one_argument():
    @wg.rrule(total)
    def rule(x):
        return np.sum(x), lambda y_bar: (np.full(x.shape, y_bar), None)

    error = refusal("WG301", ValueError, lambda: wg.gradient(lambda x: total(x), np.ones(3)))
    assert str(error) == message(
        "WG301",
        "the pullback of the rrule of total returned 2 cotangents for 1 argument",
        place(rule, 0, "@wg.rrule(total)"),
        "It returns a tuple with one cotangent for each positional argument, None for zero; a\n"
        "bare cotangent if there is one argument.",
    )


def total(x):
    return np.sum(x)


def test_rule_with_the_wrong_shape_of_a_cotangent():
    @wg.rrule(total)
    def rule(x):
        return np.sum(x), lambda y_bar: np.ones(2)

    error = refusal("WG301", ValueError, lambda: wg.gradient(lambda x: total(x), np.ones(3)))
    assert str(error) == message(
        "WG301",
        "the pullback of the rrule of total returned a cotangent of shape (2,) for argument 0, "
        "whose shape is (3,)",
        place(rule, 0, "@wg.rrule(total)"),
        "A cotangent has the shape of the argument it belongs to.",
    )


@pytest.mark.parametrize(
    "differentiate",
    [
        lambda f, x: wg.pullback(f, x)[1](1.0),
        lambda f, x: wg.grad(f).specialize(x)(x),
        lambda f, x: wg.jacobian(f, mode="reverse")(x),
    ],
)
def test_a_wrong_rule_is_told_by_every_verb(differentiate):
    wg.rrule(total)(lambda x: (np.sum(x), lambda y_bar: np.ones(2)))
    with pytest.raises(ValueError, match=r"cotangent of shape \(2,\) for argument 0"):
        differentiate(lambda x: total(x), np.ones(3))


def test_rule_that_returns_no_pullback():
    @wg.rrule(total)
    def rule(x):
        return np.sum(x)

    error = refusal("WG301", ValueError, lambda: wg.gradient(lambda x: total(x), np.ones(3)))
    assert str(error) == message(
        "WG301",
        "the rrule of total returned a value of type float64, not a pair (result, pullback)",
        place(rule, 0, "@wg.rrule(total)"),
        "An rrule returns the result of the function and a function that gives the cotangents.",
    )


def register_three_partials():
    wg.scalar_rule(product, lambda x, y, Ω: y, lambda x, y, Ω: x, lambda x, y, Ω: 0.0)


def test_scalar_rule_with_the_wrong_number_of_partials():
    error = refusal("WG301", ValueError, register_three_partials)
    row = "wg.scalar_rule(product, lambda x, y, Ω: y, lambda x, y, Ω: x, lambda x, y, Ω: 0.0)"
    assert str(error) == message(
        "WG301",
        "the rule for product has 3 partials for 2 operands",
        place(register_three_partials, 1, row),
        "product takes (x, y): one partial for each, `None` for zero.",
    )


def register_partials_of_nothing():
    wg.scalar_rule(product, lambda x: x, lambda x: x)


def test_scalar_rule_with_the_wrong_parameters():
    error = refusal("WG301", ValueError, register_partials_of_nothing)
    row = "wg.scalar_rule(product, lambda x: x, lambda x: x)"
    assert str(error) == message(
        "WG301",
        "a row of the rule for product takes 1 positional argument, not 3",
        place(register_partials_of_nothing, 1, row),
        "It is called with (x, y, Ω).",
    )


def register_a_number():
    wg.scalar_rule(triple, 3.0)


def test_rule_that_is_not_a_function():
    error = refusal("WG301", ValueError, register_a_number)
    assert str(error) == message(
        "WG301",
        "the rule for triple has a row that is not a function: 3.0",
        place(register_a_number, 1, "wg.scalar_rule(triple, 3.0)"),
        "A row is a function of the operands: `lambda x, Ω: ...`.",
    )


def register_for_a_number():
    wg.zero_rule(3.0)


def test_rule_for_what_is_not_a_function():
    error = refusal("WG301", ValueError, register_for_a_number)
    assert str(error) == message(
        "WG301",
        "3.0 is not callable, so it cannot have a rule",
        place(register_for_a_number, 1, "wg.zero_rule(3.0)"),
        "Give the rule to an op or to a function.",
    )


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


TENSOR = Tensor([1.0, 2.0])
CONVERT = "Convert them, so that the whole computation stays in one array library."


@pytest.mark.parametrize(
    "verb",
    [
        wg.gradient,
        wg.pullback,
        wg.pushforward,
        lambda f, x, y: wg.grad(f)(x, y),
        lambda f, x, y: wg.jacobian(f)(x, y),
    ],
)
def test_mixing_array_libraries(verb):
    error = refusal("WG204", TypeError, lambda: verb(product, np.ones(2), TENSOR))
    assert str(error) == message(
        "WG204",
        "arrays of different libraries meet: `x` is a numpy.ndarray, `y` is a "
        "test_errors_of_calls.Tensor",
        None,
        CONVERT,
    )


def test_arrays_that_compute_in_ways_of_their_own():
    masked = np.ma.array([1.0, 2.0], mask=[False, True])
    error = refusal("WG202", TypeError, lambda: wg.gradient(lambda x: np.sum(x * x), masked))
    assert str(error) == message(
        "WG202",
        f"arrays of this library are not covered yet: `x` is a {type(masked).__module__}.MaskedArray",
        None,
        "Pass NumPy arrays: `np.asarray(x)`.",
    )


def test_arrays_of_objects_that_are_numbers():
    numbers = np.array([1.0, 2.0], dtype=object)
    said = r"an array of objects \(dtype=object\) holds numbers here"
    with pytest.raises(TypeError, match=said):
        wg.grad(lambda x: x[0] * x[1])(numbers)
    with pytest.raises(TypeError, match=said):
        wg.gradient(lambda x, y: x * y[0], 2.0, numbers)
    names = np.array(["a", "b"], dtype=object)
    assert wg.grad(lambda x, names: x * len(names))(2.0, names) == 2.0


def register_what_has_no_transpose():
    wg.linear_rule(triple, None)


def test_linear_rule_without_a_transpose():
    error = refusal("WG301", ValueError, register_what_has_no_transpose)
    assert "has no transpose" in str(error)


def test_mixing_array_libraries_in_a_container():
    def weighted(p):
        return p["w"][0] * p["b"]

    p = {"w": [np.ones(2)], "b": TENSOR}
    error = refusal("WG204", TypeError, lambda: wg.gradient(weighted, p))
    assert str(error) == message(
        "WG204",
        "arrays of different libraries meet: `p['w'][0]` is a numpy.ndarray, `p['b']` is a "
        "test_errors_of_calls.Tensor",
        None,
        CONVERT,
    )


def test_mixing_with_a_captured_array():
    captured = TENSOR

    def scaled(x):
        return x * captured

    error = refusal("WG204", TypeError, lambda: wg.gradient(scaled, np.ones(2)))
    assert str(error) == message(
        "WG204",
        "arrays of different libraries meet: `x` is a numpy.ndarray, `captured` is a "
        "test_errors_of_calls.Tensor",
        None,
        CONVERT,
    )


def test_a_global_array_of_another_library():
    def scaled(x):
        return x * TENSOR

    error = refusal("WG204", TypeError, lambda: wg.gradient(scaled, np.ones(2)))
    assert str(error) == message(
        "WG204",
        "arrays of different libraries meet: `x` is a numpy.ndarray, `a global` is a "
        "test_errors_of_calls.Tensor",
        None,
        CONVERT,
    )


def test_an_array_of_another_library():
    error = refusal("WG202", TypeError, lambda: wg.gradient(triple, TENSOR))
    assert str(error) == message(
        "WG202",
        "arrays of this library are not covered yet: `t` is a test_errors_of_calls.Tensor",
        None,
        "Pass NumPy arrays: `np.asarray(x)`.",
    )


@pytest.mark.parametrize("answer", [None, "a"])
def test_a_hook_that_returns_no_cotangent(answer):
    hooked = lambda x: wg.hook(lambda x_bar: answer, x) ** 2
    error = refusal("WG202", TypeError, lambda: wg.grad(hooked)(3.0))
    assert "a hook must return one cotangent" in str(error)
