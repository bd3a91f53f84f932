"""The user's own exceptions come out unchanged, at the user's line, and leave nothing behind."""

# programs under test are written as users write them, mistakes included

import math
import traceback

import numpy as np
import pytest
from error_texts import last_line

import wengert as wg

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
    assert (
        str(ours.value)
        == "cannot access local variable 'y' where it is not associated with a value"
    )
    assert str(ours.value) == str(pythons.value)
    assert last_line(ours.value) == last_line(pythons.value) == "return y + x"


def test_an_unbound_global():
    def unbound(x):
        return x * not_defined_anywhere

    with pytest.raises(NameError) as caught:
        wg.gradient(unbound, 1.0)
    assert str(caught.value) == "name 'not_defined_anywhere' is not defined"
    assert last_line(caught.value) == "return x * not_defined_anywhere"


def test_a_loop_variable_of_an_empty_loop():
    def after_the_loop(x, n):
        for k in range(n):
            y = x * k
        return y

    assert wg.gradient(after_the_loop, 2.0, 3) == (2.0, 0.0)
    with pytest.raises(UnboundLocalError) as caught:
        wg.gradient(after_the_loop, 2.0, 0)
    assert (
        str(caught.value)
        == "cannot access local variable 'y' where it is not associated with a value"
    )
    assert last_line(caught.value) == "return y"


@pytest.mark.parametrize(
    "differentiate",
    [
        lambda f, x: wg.pullback(f, x),
        lambda f, x: wg.pushforward(f, x),
        lambda f, x: wg.jacobian(f)(x),
        lambda f, x: wg.grad(f).specialize(x)(x),
        lambda f, x: wg.grad(wg.grad(f))(x),
    ],
)
def test_a_name_unbound_in_every_verb(differentiate):
    with pytest.raises(UnboundLocalError, match=r"^cannot access local variable 'y'"):
        differentiate(sometimes_bound, -1.0)


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


DIFFERENTIATE = [
    lambda f, x: wg.gradient(f, x),
    lambda f, x: wg.pullback(f, x)[1](1.0),
    lambda f, x: wg.pushforward(f, x)[1](1.0),
    lambda f, x: wg.derivative(f)(x),
    lambda f, x: wg.jacobian(f)(x),
    lambda f, x: wg.hvp(f)(x, 1.0),
    lambda f, x: wg.grad(f).specialize(x)(x),
    lambda f, x: wg.grad(wg.grad(f))(x),
]


@pytest.mark.parametrize("differentiate", DIFFERENTIATE)
def test_exceptions_come_out_unchanged(differentiate):
    with pytest.raises(Own) as caught:
        differentiate(raises_deep, 0.6)
    assert caught.value.args == ("too large", 1.2)
    assert last_line(caught.value) == 'raise Own("too large", t)'


@pytest.mark.parametrize("differentiate", DIFFERENTIATE)
def test_exceptions_leave_nothing_behind(differentiate):
    before = np.geterr()
    x = np.array([1.0, 2.0])

    def fails_for(x, limit=1.5):
        if x > limit:
            raise Own
        return x * x

    expected = differentiate(fails_for, 1.0)
    with pytest.raises(Own) as caught:
        differentiate(fails_for, 2.0)
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None
    assert getattr(caught.value, "__notes__", []) == []
    assert not wg.is_differentiating()
    assert np.geterr() == before
    assert x.tolist() == [1.0, 2.0]
    assert repr(differentiate(fails_for, 1.0)) == repr(expected)


def test_exceptions_of_a_pullback_come_out_unchanged():
    @wg.rrule(halved)
    def rule(x):
        def pullback(y_bar):
            raise Own("in reverse", y_bar)

        return x / 2, pullback

    for differentiate in (wg.gradient, lambda f, x: wg.pullback(f, x)[1](1.0)):
        with pytest.raises(Own) as caught:
            differentiate(lambda x: halved(x), 3.0)
        assert caught.value.args == ("in reverse", 1.0)
        assert last_line(caught.value) == 'raise Own("in reverse", y_bar)'
    assert not wg.is_differentiating()


def halved(x):
    return x / 2


def test_the_cause_that_the_user_gives_is_kept():
    def fails(x):
        if x > 0:
            raise Own from CAUSE
        return x

    with pytest.raises(Own) as caught:
        wg.gradient(fails, 1.0)
    assert caught.value.__cause__ is CAUSE


CAUSE = KeyError("cause")


def test_tracebacks_show_no_generated_code():
    with pytest.raises(Own) as caught:
        wg.gradient(raises_deep, 0.6)
    text = "".join(traceback.format_exception(caught.value))
    assert "<wengert" not in text
    assert "^" * len('raise Own("too large", t)') in text


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
        assert last_line(ours.value) == last_line(pythons.value)


def test_failed_assertions_are_the_users():
    def asserts(x):
        assert x > 0, f"x is {x}"
        return x

    with pytest.raises(AssertionError, match=r"^x is -1\.0") as caught:
        wg.gradient(asserts, -1.0)
    assert last_line(caught.value) == 'assert x > 0, f"x is {x}"'
