"""The user's own exceptions come out unchanged, at the user's line, and leave nothing behind."""

# programs under test are written as users write them, mistakes included

import functools
import math
import operator
import traceback

import numpy as np
import pytest
from differences import slope
from error_texts import last_line, place, refusal

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


# What the derivative does not need


UNNEEDED = {
    "an index": lambda x: x + np.ones(3)[7],
    "an index of an active array": lambda x: x + np.sum((x * np.ones(2))[np.array([5])]) * 0,
    "an index of a range": lambda x: x + range(3)[5],
    "a conversion of text": lambda x: x + int("q"),
    "a conversion of infinity": lambda x: x + math.floor(math.inf * x),
    "shapes of a product": lambda x: x + np.dot(np.ones(2), np.ones(3)),
    "shapes of a sum": lambda x: x + (x * np.ones(2) + np.ones(3))[0] * 0,
    "shapes of what is stacked": lambda x: x + np.stack([np.ones(2), np.ones(3)])[0, 0],
    "a new shape": lambda x: x + np.zeros((2, 3)).reshape(4, 4)[0, 0],
    "parts of equal length": lambda x: x + np.split(np.ones(5), 2)[0][0],
    "a negative length": lambda x: x + np.ones(-1)[0],
    "an axis": lambda x: np.sum(x, axis=3),
    "a singular matrix": lambda x: x + np.linalg.inv(np.zeros((2, 2)))[0, 0],
    "the greatest of nothing": lambda x: x + np.max(np.ones(0)),
    "a floored quotient": lambda x: x + x // 0,
    "a remainder": lambda x: x + x % 0,
    "a remainder by math": lambda x: x + math.fmod(x, 0),
    "a quotient": lambda x: x / 0,
    "a quotient of constants": lambda x: x + 1 / 0,
    "a power by math": lambda x: math.pow(x - x, -0.5),
    "a factorial": lambda x: x + math.factorial(-1),
    "a function of text": lambda x: x + math.sin("a"),
    "a function of None": lambda x: x + math.sin(None),
    "an overflow": lambda x: x + math.exp(1000.0),
    "a domain": lambda x: x + math.asin(2.0),
    "a length": lambda x: x + len(x),
    "a key": lambda x: {"a": x}[x],
    "a comparison with text": lambda x: x + (x < "a"),
    "a sum with None": lambda x: x + None,
    "truth of an array": lambda x: x if np.ones(2) * x > 0 else 1 * x,
    "iterating over a number": lambda x: x + len([2 * k for k in x]),
    "iterating over a literal": lambda x: x + len([2 * k for k in 3]),
    "an item of a number": lambda x: x[0],
    "calling a number": lambda x: x(),
    "reducing nothing": lambda x: functools.reduce(operator.add, []) * x,
    "steps of nothing": lambda x: range(0, 3, 0)[0] * x,
    "too many arguments": lambda x: math.sin(x, x),
    "too few arguments": lambda x: math.atan2(x),
}


@pytest.mark.parametrize("name", UNNEEDED)
def test_what_a_derivative_does_not_need_raises_where_the_program_does(name):
    f = UNNEEDED[name]
    with pytest.raises(Exception) as pythons:  # noqa: PT011
        f(1.0)
    calls = [lambda: wg.gradient(f, 1.0), lambda: wg.pushforward(f, 1.0)[1](1.0)]
    if not name.endswith(("of a sum", "active array")):  # times 0, which forward mode leaves out
        calls.append(lambda: wg.derivative(f)(1.0))
    for call in calls:
        with pytest.raises(type(pythons.value)) as ours:
            call()
        assert (type(ours.value), str(ours.value)) == (type(pythons.value), str(pythons.value))
        assert own_line(ours.value) == own_line(pythons.value)


def own_line(error):
    """The last line of this file on the way to where an exception was raised."""
    frames = traceback.extract_tb(error.__traceback__)
    return [frame.line for frame in frames if frame.filename == __file__][-1]


def test_what_cannot_fail_is_not_computed_for_a_gradient():
    def f(x, a):
        return x * 3.0 + a * 2.0 + np.sin(a).sum() + a**2 / 4

    text = str(wg.grad(f).specialize(1.0, np.float64(2.0)).source)
    assert "sin" not in text
    assert "/ 4" not in text


def deleted(x):
    del x
    return x


def imported_by_a_wrong_name(x):
    from math import no_such_function

    return no_such_function(x)


def imported_from_nowhere(x):
    import no_such_module

    return no_such_module.f(x)


def read_too_early(x):
    def g():
        return q * x

    r = g()
    q = 2
    return r


def of_one(x, *, k=1.0):
    return x * k


def given_two(x):
    return of_one(x, 1, k=2)


def of_three(a, b, c, *, d, e):
    return a


def given_none(x):
    return of_three() + x


def given_no_names(x):
    return of_three(x, x, x)


def unpacked(x):
    a, b = x
    return a + b


@pytest.mark.parametrize(
    "f",
    [
        deleted, imported_by_a_wrong_name, imported_from_nowhere, read_too_early, given_two, given_none,
        given_no_names, unpacked,
    ],
)  # fmt: skip
def test_python_finds_the_words(f):
    with pytest.raises(Exception) as pythons:  # noqa: PT011
        f(1.0)
    for call in (lambda: wg.gradient(f, 1.0), lambda: wg.pushforward(f, 1.0)):
        with pytest.raises(type(pythons.value)) as ours:
            call()
        assert str(ours.value) == str(pythons.value)
        assert own_line(ours.value) == own_line(pythons.value)


def test_what_certainly_fails_can_be_caught():
    def f(x):
        try:
            return x[0]
        except TypeError:
            return 3 * x

    assert wg.gradient(f, 2.0) == (3.0,)
    assert wg.pushforward(f, 2.0)[1](1.0) == 3.0


# Text with a computed width, names that are deleted together


@pytest.mark.parametrize("spec", ["x:>{w}", "x!r:>{w}", "x:{w}.{p}f"])
def test_a_format_whose_width_is_computed(spec):
    def wide(x, w):
        return x * len(f"{x:>{w}}")

    def shown(x, w):
        return x * len(f"{x!r:>{w}}")

    def precise(x, w, p=3):
        return x * len(f"{x:{w}.{p}f}")

    f = {"x:>{w}": wide, "x!r:>{w}": shown, "x:{w}.{p}f": precise}[spec]
    assert wg.gradient(f, 1.5, 9)[0] == wg.pushforward(f, 1.5, 9)[1](1.0, None) == 9.0


def test_names_that_are_deleted_together():
    def f(x):
        y = 2 * x
        z = y * y
        w = z * x
        del (y, z)
        return w

    assert wg.gradient(f, 2.0) == (48.0,)
    assert wg.pushforward(f, 2.0)[1](1.0) == 48.0


# Mistakes that only the way back meets, in the words of NumPy, at the user's line


def test_an_element_that_is_not_there():
    def sixth(x):
        y = x[5]
        return y

    with pytest.raises(IndexError) as caught:
        wg.gradient(sixth, np.ones(3))
    assert last_line(caught.value) == "y = x[5]"


@pytest.mark.parametrize("others", [1, 2, 4])
@pytest.mark.parametrize("f", [np.dot, np.inner, operator.matmul])
def test_products_of_vectors_of_different_lengths(f, others):
    with pytest.raises(ValueError, match="shape"):
        wg.grad(lambda x: f(x, np.ones(others)))(np.ones(3))


@pytest.mark.parametrize("subscripts", ["i,j,k->", "i,j,k", "i->", "i"])
def test_einsum_of_another_number_of_operands(subscripts):
    with pytest.raises(ValueError, match="operands provided to einstein sum function"):
        wg.grad(lambda x: np.einsum(subscripts, x, x))(np.ones(3))


def in_a_comprehension(x, on):
    if on:
        factor = x
    return sum([factor * k for k in range(2)])


def in_a_generator(x, on):
    if on:
        factor = x
    return sum(factor * k for k in range(2))


def in_a_function(x, on):
    if on:
        factor = x

    def scaled(y):
        return y * factor

    return scaled(x)


@pytest.mark.parametrize("f", [in_a_comprehension, in_a_generator, in_a_function])
def test_a_name_of_a_scope_around_that_is_unbound(f):
    """Which error it is hangs on where Python runs comprehensions (PEP 709)."""
    with pytest.raises(NameError) as pythons:
        f(1.0, False)
    for derivative in (wg.grad(f), wg.jit(wg.grad(f))):
        with pytest.raises(NameError) as ours:
            derivative(1.0, False)
        assert (type(ours.value), str(ours.value)) == (type(pythons.value), str(pythons.value))


def packed(x):
    return np.sum(np.packbits(x))


@pytest.mark.parametrize(
    ("call", "most"),
    [
        (lambda: wg.grad(packed)(np.ones(3)), 1),
        (lambda: wg.gradient(packed, np.ones(3)), 2),
        (lambda: wg.hessian(packed)(np.ones(3)), 2),
        (lambda: wg.pullback(packed, np.ones(3)), 1),
        (lambda: wg.grad(packed).source, 0),
        (lambda: wg.grad(packed).specialize(np.ones(3)), 0),
    ],
)
def test_a_refusal_has_hardly_a_frame_of_wengerts(call, most):
    with pytest.raises(wg.WengertError) as caught:
        call()
    files = [frame.filename for frame in traceback.extract_tb(caught.value.__traceback__)]
    assert __file__ in files
    assert len([file for file in files if "src/wengert" in file]) <= most


SEEN = []


def changes_and_is_refused(x, n):
    SEEN.append(n)
    xs = [x * k for k in range(n)]
    for item in xs:
        if item > 1.0 and len(xs) < 6:
            xs.append(item * 0.5)
    return sum(xs)


def test_what_was_refused_midway_says_how_to_record_it():
    SEEN.clear()
    error = refusal("WG101", NotImplementedError, lambda: wg.grad(changes_and_is_refused)(1.5, 3))
    assert 'ask for it: `tier="recorded"`.' in str(error)
    assert SEEN == [3]
    assert wg.grad(changes_and_is_refused, tier="recorded")(1.5, 3) == pytest.approx(
        slope(lambda x: changes_and_is_refused(x, 3), 1.5)
    )
    error = refusal(
        "WG101", NotImplementedError, lambda: wg.grad(changes_and_is_refused, tier="static")(1.5, 3)
    )
    assert "tier=" not in str(error)


def writes_to_flat_in_another_order(x):
    a = (np.arange(4.0) * x).reshape(2, 2)
    a.T.flat[1] = x
    return a.sum()


def test_a_write_that_is_lost_in_a_run_shows_its_line():
    f = writes_to_flat_in_another_order
    error = refusal("WG104", ValueError, lambda: wg.grad(f, tier="static")(1.5))
    assert place(f, 2, "a.T.flat[1] = x", f.__name__) in str(error)
