"""What hand-written rules return is checked, and what they are registered for; their lines are shown."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import wengert as wg
from wengert.errors import NoRule, RuleError
from wengert.rules import registry

V = np.array([1.0, 2.0, 3.0])


@pytest.fixture(autouse=True)
def keep_tables() -> Iterator[None]:
    registry.rules()
    before = dict(registry._rules)
    yield
    registry._rules.clear()
    registry._rules.update(before)
    registry._state.generation += 1


# --- frules -------------------------------------------------------------------------------


def with_frule(pushed: Callable[[Any, Any], Any]) -> Callable[[Any], Any]:
    def total(x: Any) -> Any:
        return np.sum(x)

    @wg.frule(total)
    def _(primals: Any, tangents: Any) -> Any:
        return pushed(primals[0], tangents[0])

    return total


WRONG: dict[str, tuple[Callable[[Any, Any], Any], str]] = {
    "shape": (
        lambda x, t: (np.sum(x), t),
        r"returned a tangent of shape \(3,\) for the result, whose shape is \(\)",
    ),
    "no pair": (
        lambda x, t: np.sum(x),
        r"returned a value of type float64, not a pair \(result, tangent\)",
    ),
    "three": (
        lambda x, t: (np.sum(x), np.sum(t), 1),
        r"returned a value of type tuple, not a pair \(result, tangent\)",
    ),
    "type": (lambda x, t: (np.sum(x), "t"), "returned a tangent of type str for the result"),
    "complex": (
        lambda x, t: (np.sum(x), 1j),
        "returned a tangent that is complex for the result, which is real",
    ),
}


@pytest.mark.parametrize("case", WRONG)
def test_a_wrong_tangent_is_refused_at_the_rule(case: str) -> None:
    pushed, message = WRONG[case]
    total = with_frule(pushed)
    _, push = wg.pushforward(lambda x: 2 * total(x), V)
    with pytest.raises(RuleError, match=message) as caught:
        push(V)
    ((_, _, span),) = caught.value.findings
    assert span is not None
    assert span.file == __file__
    assert "the frule of " in str(caught.value)


def test_none_is_a_zero_tangent() -> None:
    total = with_frule(lambda x, t: (np.sum(x), None))
    assert wg.pushforward(lambda x: x[0] + total(x), V)[1](V) == 1.0


# --- rrules -------------------------------------------------------------------------------


def with_rrule(back: Callable[[Any, Any], Any]) -> Callable[[Any], Any]:
    def square(x: Any) -> Any:
        return x * x

    @wg.rrule(square)
    def _(x: Any) -> Any:
        return x * x, lambda y_bar: back(x, y_bar)

    return square


def test_a_cotangent_that_is_no_number_is_refused() -> None:
    square = with_rrule(lambda x, y_bar: "x")
    with pytest.raises(RuleError, match="returned a cotangent of type str for argument 0"):
        wg.grad(lambda x: square(x) + x)(2.0)


def test_a_cotangent_may_be_a_list_and_is_made_real() -> None:
    square = with_rrule(lambda x, y_bar: list(2 * x * y_bar * (1 + 1j)))
    found = wg.grad(lambda x: np.sum(square(x) + x))(V)
    assert found.dtype == np.float64
    np.testing.assert_array_equal(found, 2 * V + 1)


# --- elementwise functions of one's own ---------------------------------------------------


def bent(x: Any, y: Any) -> Any:
    return np.asarray(x) * x * y


@pytest.mark.parametrize(
    "operands", [(V, 2.0), (2.0, V), (V, np.array(2.0)), (np.ones((2, 3)), V), (V[:, None], V)]
)
def test_an_elementwise_function_of_ones_own_broadcasts(operands: tuple[Any, Any]) -> None:
    wg.scalar_rule(bent, lambda x, y, Ω: 2 * x * y, lambda x, y, Ω: x * x)
    wg.testing.check_rule(bent, *operands)
    for found, operand in zip(wg.gradient(lambda x, y: np.sum(bent(x, y)), *operands), operands):
        assert np.shape(found) == np.shape(operand)


# --- registration -------------------------------------------------------------------------


def test_several_rows_for_any_number_of_operands_are_refused() -> None:
    row = lambda x, y, Ω: x
    with pytest.raises(
        RuleError, match="hypot has 3 partials for any number of operands"
    ) as caught:
        wg.scalar_rule(math.hypot, row, row, row)
    ((_, hint, span),) = caught.value.findings
    assert "give one row, which returns a tuple of all partials" in hint
    assert span is not None
    assert span.line == row.__code__.co_firstlineno


@pytest.mark.parametrize(
    "method", [[].append, "x".join, V.sum, np.add.reduce, (3).__add__], ids=lambda m: m.__name__
)
def test_a_method_of_a_value_is_refused(method: Callable[..., Any]) -> None:
    with pytest.raises(RuleError, match="is a bound method: a new object whenever it is looked up"):
        wg.zero_rule(method)


def test_an_operand_without_a_row_is_refused_where_it_needs_one() -> None:
    def shifted(x: Any, by: Any = 2.0) -> Any:
        return x + by

    wg.linear_rule(shifted, lambda Ω_bar, x, by: Ω_bar)
    assert wg.gradient(lambda x: shifted(x, 3.0), 1.0) == (1.0,)
    with pytest.raises(NoRule, match=r"the rule of .*shifted .* has no row for its operand 1"):
        wg.gradient(shifted, 1.0, 2.0)


def test_too_few_partials_are_an_error_of_the_rule() -> None:
    def total(*xs: Any) -> Any:
        return sum(xs)

    wg.scalar_rule(total, lambda *xs_Ω: (1.0, 1.0))
    assert wg.gradient(total, 1.0, 2.0) == (1.0, 1.0)
    with pytest.raises(RuleError, match="gives 2 partials for 3 operands"):
        wg.gradient(total, 1.0, 2.0, 3.0)


def test_a_default_between_operands_given_by_name_is_the_functions_own() -> None:
    def scaled(x: Any, y: Any = 2.0, z: Any = 3.0) -> Any:
        return x * y * z

    @wg.rrule(scaled)
    def _(x: Any, y: Any = 2.0, z: Any = 3.0) -> Any:
        return scaled(x, y, z), lambda b: (b * y * z, b * x * z, b * x * y)

    assert wg.grad(lambda x: scaled(x, z=5.0))(1.0) == 10.0
    assert wg.grad(lambda z: scaled(1.5, z=z))(1.0) == 3.0


# --- containers, and the dtype of the argument ----------------------------------------------------


def product_of_parts(d):
    return d["a"] * d["b"][0]


CONTAINERS = {
    "an entry is missing": (lambda d: {"a": d["b"][0]}, "a dict of 3"),
    "an entry too many": (lambda d: {"a": 1.0, "b": [1.0], "c": 1.0}, "a dict of 3"),
    "a list too long": (
        lambda d: {"a": d["b"][0], "b": [1.0, 2.0]},
        r"argument 0\['b'\], a list of 1",
    ),
    "no container": (lambda d: 1.0, "a dict of 3"),
    "an array of another shape": (lambda d: {"a": np.ones(2), "b": [1.0]}, r"of shape \(2,\)"),
}


@pytest.mark.parametrize("given", CONTAINERS.values(), ids=CONTAINERS)
def test_cotangents_of_containers_have_their_structure(given):
    cotangent, said = given

    def f(d):
        return product_of_parts(d)

    wg.rrule(f)(lambda d: (f(d), lambda y_bar: cotangent(d)))
    with pytest.raises(ValueError, match=said):
        wg.grad(f)({"a": 2.0, "b": [3.0], "name": "x"})


def test_entries_without_a_derivative_may_be_left_out():
    def f(d):
        return product_of_parts(d)

    wg.rrule(f)(lambda d: (product_of_parts(d), lambda y_bar: {"a": y_bar * 3.0, "b": [2 * y_bar]}))
    found = wg.grad(f)({"a": 2.0, "b": [3.0], "name": "x"})
    assert found == {"a": 3.0, "b": [2.0], "name": None}


def test_a_cotangent_has_the_dtype_of_its_argument():
    def f(x):
        return np.sum(x)

    wg.rrule(f)(lambda x: (np.sum(x), lambda y_bar: np.full(x.shape, float(y_bar))))
    assert wg.grad(f)(np.ones(2, np.float32)).dtype == np.float32
    assert wg.grad(lambda x: f(2 * x))(np.ones(2, np.float32)).dtype == np.float32
    assert wg.grad(f)(np.ones(2, int)).dtype == np.float64


# --- what rows give -----------------------------------------------------------------------


def squared(x: Any) -> Any:
    return x * x


ROWS: dict[str, tuple[Callable[[Any, Any], Any], Any, str]] = {
    "another shape": (
        lambda x, y: np.ones(4),
        V,
        r"gave a partial of shape \(4,\) for a result of shape \(3,\)",
    ),
    "an array for a number": (
        lambda x, y: np.ones(3),
        2.0,
        r"gave a partial of shape \(3,\) for a result of shape \(\)",
    ),
    "text": (lambda x, y: "a", 2.0, "gave a partial of type str"),
    "a name that is not defined": (
        lambda x, y: x * no_such_name,  # type: ignore[name-defined]
        2.0,
        "raises whatever it is given: name 'no_such_name' is not defined",
    ),
}


@pytest.mark.parametrize("name", ROWS)
def test_the_partial_that_a_row_gives_is_checked(name: str) -> None:
    row, x, message = ROWS[name]
    wg.scalar_rule(squared, row)
    f = lambda x: np.sum(squared(x))
    for call in (lambda: wg.gradient(f, x), lambda: wg.pushforward(f, x)[1](x)):
        with pytest.raises(RuleError, match=message) as caught:
            call()
        assert "test_rule_results.py:" in str(caught.value)


def test_a_partial_may_be_spread_over_the_result() -> None:
    wg.scalar_rule(squared, lambda x, y: np.array([2.0]))
    assert wg.gradient(lambda x: np.sum(squared(x)), V)[0].tolist() == [2.0, 2.0, 2.0]


def first_two(x: Any) -> Any:
    return x[:2]


def product(x: Any, y: Any) -> Any:
    return x @ y


def test_the_cotangent_that_a_row_of_a_linear_rule_gives_is_checked() -> None:
    wg.linear_rule(first_two, transpose=lambda y_bar, x: y_bar)
    with pytest.raises(RuleError, match=r"gave a cotangent of shape \(2,\) for argument 0"):
        wg.gradient(lambda x: np.sum(first_two(x)), V)
    wg.bilinear_rule(product, left=lambda z_bar, x, y: z_bar, right=lambda z_bar, x, y: z_bar)
    with pytest.raises(RuleError, match=r"gave a cotangent of shape \(2, 4\) for argument 0"):
        wg.gradient(lambda x, y: np.sum(product(x, y)), np.ones((2, 3)), np.ones((3, 4)))


def test_the_cotangent_that_a_hook_gives_is_checked() -> None:
    f = lambda x: np.sum(wg.hook(lambda x_bar: np.ones(5), x))
    with pytest.raises(RuleError, match=r"a hook gave a cotangent of shape \(5,\)"):
        wg.gradient(f, V)
    kept = lambda x: np.sum(wg.hook(lambda x_bar: -x_bar, x) ** 2)
    assert wg.gradient(kept, V)[0].tolist() == [-2.0, -4.0, -6.0]


@pytest.mark.parametrize(
    "hook", [lambda x_bar: np.ones(3), print, lambda x_bar: "text"], ids=["array", "None", "text"]
)
def test_the_cotangent_that_a_hook_gives_for_a_number_is_a_number(hook) -> None:
    with pytest.raises((RuleError, wg.errors.BadArgument), match="hook"):
        wg.gradient(lambda x: 2 * wg.hook(hook, x), 1.0)


def test_the_cotangent_that_a_hook_gives_for_a_real_number_is_real() -> None:
    assert wg.gradient(lambda x: 2 * wg.hook(lambda x_bar: x_bar * (1 + 1j), x), 1.0) == (2.0,)


def test_checked_rows_are_differentiated_again() -> None:
    wg.scalar_rule(squared, lambda x, y: 2 * x)
    f = lambda x: np.sum(squared(squared(x)))
    np.testing.assert_allclose(wg.hessian(f)(V), np.diag(12 * V**2))
    np.testing.assert_allclose(wg.hvp(f)(V, np.ones(3)), 12 * V**2)


def test_a_partial_that_is_spread_is_differentiated_again() -> None:
    wg.scalar_rule(squared, lambda x, y: x[:1])
    f = lambda x: np.sum(squared(x))
    assert wg.gradient(f, V)[0].tolist() == [1.0, 1.0, 1.0]
    g = lambda x: np.sum(wg.gradient(f, x)[0] * np.array([1.0, 10.0, 100.0]))
    assert wg.gradient(g, V)[0].tolist() == [111.0, 0.0, 0.0]
