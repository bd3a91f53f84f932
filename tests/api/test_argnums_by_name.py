"""Arguments to differentiate in, by name."""

import pickle

import numpy as np
import pytest
from error_texts import message, place, refusal

import wengert as wg


def decay(t, start, rate=2.0, *, scale=1.0):
    return scale * start * np.exp(-rate * t)


POINT = 0.5, 3.0, 1.5


@pytest.mark.parametrize("name", ["t", "start", "rate"])
@pytest.mark.parametrize(
    "verb", [wg.grad, wg.value_and_grad, wg.jacobian, wg.hessian, wg.diag_hessian]
)
def test_a_name_is_the_place_of_the_argument(verb, name):
    place = ["t", "start", "rate"].index(name)
    assert verb(decay, name)(*POINT) == verb(decay, place)(*POINT)


def test_several_names_give_a_tuple():
    expected = wg.grad(decay, (2, 0))(*POINT)
    assert wg.grad(decay, ("rate", "t"))(*POINT) == expected
    assert wg.grad(decay, ["rate", 0])(*POINT) == expected
    assert wg.grad(decay, ("rate",))(*POINT) == expected[:1]


def test_hvp_by_name():
    assert wg.hvp(decay, "rate")(*POINT, 1.0) == wg.hvp(decay, 2)(*POINT, 1.0)
    assert wg.hvp(decay, "rate")(0.5, 3.0, 1.0, rate=1.5) == wg.hvp(decay, 2)(*POINT, 1.0)


def test_what_is_named_may_be_passed_by_keyword():
    slope = wg.grad(decay, "rate")
    expected = wg.grad(decay, 2)(*POINT)
    assert slope(0.5, 3.0, rate=1.5) == expected
    assert slope(rate=1.5, t=0.5, start=3.0) == expected
    assert slope(0.5, 3.0, rate=1.5, scale=2.0) == 2 * expected
    assert wg.jacobian(decay, "rate")(0.5, 3.0, rate=1.5) == expected
    assert wg.hessian(decay, "rate")(0.5, 3.0, rate=1.5) == wg.hessian(decay, 2)(*POINT)


def test_what_is_named_may_be_left_to_its_default():
    slope = wg.grad(decay, "rate")
    for _ in range(3):  # also from the second call on, which is a short way
        assert slope(0.5, 3.0) == wg.grad(decay, 2)(0.5, 3.0, 2.0)
        assert slope(*POINT) == wg.grad(decay, 2)(*POINT)


def test_native_derivatives_take_names():
    pytest.importorskip("llvmlite")
    expected = wg.grad(decay, 2)(*POINT)
    for slope in (wg.jit(wg.grad(decay, "rate"), strict=True), wg.grad(wg.jit(decay), "rate")):
        assert slope(0.5, 3.0, rate=1.5) == pytest.approx(expected)
        assert slope(*POINT) == pytest.approx(expected)


def test_other_ways_to_use_it():
    slope = wg.grad(decay, "rate")
    expected = slope(*POINT)
    assert slope.specialize(0.5, 3.0, rate=1.5)(*POINT) == expected
    assert pickle.loads(pickle.dumps(slope))(0.5, 3.0, rate=1.5) == expected
    assert "rate_bar" in slope.source or "return" in slope.source
    assert wg.jacobian(decay, "rate").explain(0.5, 3.0, rate=1.5) == wg.jacobian(decay, 2).explain(
        *POINT
    )


def test_methods():
    class Model:
        def loss(self, weight, bias):
            return weight * weight * bias

    assert wg.grad(Model().loss, "bias")(3.0, 2.0) == 9.0
    assert wg.grad(Model.loss, "bias")(Model(), 3.0, 2.0) == 9.0


def inside(x):
    local = lambda a, b=3.0: a * b * b
    return (
        wg.grad(decay, "rate")(x, 1.0, rate=x)
        + wg.grad(local, "b")(x)
        + wg.grad(local, "b")(x, b=x)
        + wg.hvp(local, "b")(x, x, 1.0)
        + wg.value_and_grad(local, ("b", "a"))(x, x)[1][0]
    )


def test_inside_a_program():
    wg.testing.check_gradient(inside, 0.7)
    t = 0.7
    expected = -t * np.exp(-t * t) + 6 * t + 2 * t * t + 2 * t + 2 * t * t
    assert inside(t) == pytest.approx(expected)
    assert wg.value_and_grad(inside)(t)[0] == pytest.approx(expected)


def test_numbers_with_derivatives():
    x = wg.Dual(0.5, 1.0)
    found = wg.grad(decay, "rate")(x, 3.0, rate=1.5)
    assert found.tangent == pytest.approx(wg.grad(wg.grad(decay, 2), 0)(0.5, 3.0, 1.5))


@pytest.mark.parametrize(
    "verb", [wg.grad, wg.value_and_grad, wg.jacobian, wg.hessian, wg.diag_hessian, wg.hvp]
)
def test_an_unknown_name(verb):
    error = refusal("WG202", TypeError, lambda: verb(decay, "raet"))
    assert str(error) == message(
        "WG202",
        "`argnums` names `raet`, but decay has no argument of that name",
        None,
        "Did you mean `rate`? Its positional arguments are `t`, `start`, `rate`.",
    )


def test_an_unknown_name_like_none():
    error = refusal("WG202", TypeError, lambda: wg.grad(decay, ("t", "weights")))
    assert str(error) == message(
        "WG202",
        "`argnums` names `weights`, but decay has no argument of that name",
        None,
        "Its positional arguments are `t`, `start`, `rate`.",
    )


def test_a_name_that_is_keyword_only():
    error = refusal("WG202", TypeError, lambda: wg.grad(decay, "scale"))
    assert str(error) == message(
        "WG202",
        "`argnums` names `scale`, which decay takes by keyword only",
        None,
        "Derivatives are taken in positional arguments: leave the `*` before it away, or differentiate\n"
        "`lambda scale: decay(..., scale=scale)`.",
    )


def test_a_name_of_a_function_whose_arguments_have_none():
    error = refusal("WG202", TypeError, lambda: wg.grad(lambda *xs: xs[0], "x"))
    assert str(error) == message(
        "WG202",
        "`argnums` names `x`, but f has no argument of that name",
        None,
        "Give its place: `argnums=0`.",
    )


def test_an_unknown_name_inside_a_program():
    def slope(x):
        return wg.grad(decay, "raet")(x, x, x)

    error = refusal("WG202", TypeError, lambda: wg.gradient(slope, 2.0))
    assert str(error) == message(
        "WG202",
        "`argnums` names `raet`, but decay has no argument of that name",
        place(slope, 1, 'wg.grad(decay, "raet")', inside="slope"),
        "Did you mean `rate`? Its positional arguments are `t`, `start`, `rate`.",
    )
