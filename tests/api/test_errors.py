"""Bad input gets an error that says what, where, why and what next.

Every error is asked for its code, its built-in base and its whole text, word for word: what is
wrong, the user's file and line with carets under the text, and the way out.
"""

# programs under test are written as users write them, mistakes included

import math
import operator
import pickle
import re
import runpy

import numpy as np
import pytest
from error_texts import message, place, refusal, says
from ir_verifier import verify
from places import TESTS

import wengert as wg
from wengert import errors
from wengert.ir.graph import Block, Function, Var
from wengert.ir.types import UNKNOWN

pytestmark = pytest.mark.static_tier

# No source


def without_source():
    namespace = {}
    exec("def f(x):\n    return x * x\n", namespace)
    return namespace["f"]


def test_no_source():
    error = refusal("WG102", TypeError, lambda: wg.gradient(without_source(), 2.0))
    assert (
        str(error)
        == """\
[WG102] the source of f cannot be found: it was defined in '<string>', which is not a file

  wengert reads the source of what it differentiates. Put f into a file, or
  write its rule: `@wg.rrule(f)`.

  explained by `wengert explain WG102`"""
    )


def test_no_source_of_a_function_that_is_called():
    helper = without_source()

    def outer(x):
        return helper(x) + 1

    error = refusal("WG102", TypeError, lambda: wg.gradient(outer, 2.0))
    assert str(error) == message(
        "WG102",
        "the source of f cannot be found: it was defined in '<string>', which is not a file",
        place(outer, 1, "helper(x)", inside="outer"),
        "wengert reads the source of what it differentiates. Put f into a file, or\n"
        "write its rule: `@wg.rrule(f)`.",
    )


def test_a_rule_is_a_way_out_where_there_is_no_source():
    helper = without_source()
    wg.rrule(helper)(lambda x: (x * x, lambda y_bar: 2 * x * y_bar))
    assert wg.gradient(lambda x: helper(x) + 1, 3.0) == (6.0,)
    assert wg.gradient(helper, 3.0) == (6.0,)
    assert wg.gradient(lambda x: FROM_TEXT["f"](x), 3.0) == (6.0,)


def test_a_function_without_source_that_is_not_called_does_no_harm():
    def outer(x):
        return x if x > 0 else HELPER(x)

    assert wg.gradient(lambda x: (HELPER, x * x)[1], 3.0) == (6.0,)
    assert wg.gradient(outer, 2.0) == (1.0,)
    error = refusal("WG102", TypeError, lambda: wg.gradient(outer, -2.0))
    assert place(outer, 1, "HELPER(x)", inside="outer") in str(error)


HELPER = without_source()
FROM_TEXT = {"f": without_source()}
wg.rrule(FROM_TEXT["f"])(lambda x: (x * x, lambda y_bar: 2 * x * y_bar))


def test_a_file_that_has_changed_since_it_was_imported(tmp_path):
    file = tmp_path / "changing.py"
    file.write_text("def f(x):\n    return x\n")
    f = runpy.run_path(str(file))["f"]
    file.write_text("# nothing is here any more\n")
    error = refusal("WG102", TypeError, lambda: wg.gradient(f, 2.0))
    assert str(error) == message(
        "WG102",
        f"the source of f is not where Python says it is ({file}:1)",
        None,
        "The file has probably changed since it was imported: start Python anew, or reload the "
        "module.",
    )


# A C function without a rule


def triple(t):
    return 3 * t


COMPILED = np.frompyfunc(triple, 1, 1)


def calls_c(x):
    y = math.sin(x)
    return y + operator.index(len("abc")) * COMPILED(x * y)


def test_no_rule_names_the_function_and_three_ways_out():
    error = refusal("WG103", TypeError, lambda: wg.gradient(calls_c, 2.0))
    assert str(error) == message(
        "WG103",
        "triple (vectorized) has no derivative rule, and no Python source to derive one from",
        place(calls_c, 2, "COMPILED(x * y)", inside="calls_c"),
        "Write its rule:                wg.rrule(COMPILED) or wg.scalar_rule(COMPILED, ...)\n"
        "or say its derivative is zero: wg.zero_rule(COMPILED)\n"
        "or cut the derivative off:     wg.stop_gradient(...) around its arguments",
    )


def test_the_three_ways_out_are_ways_out():
    of_rrule, of_scalar_rule, of_zero_rule = (np.frompyfunc(triple, 1, 1) for _ in range(3))
    wg.rrule(of_rrule)(lambda t: (3 * t, lambda y_bar: 3 * y_bar))
    wg.scalar_rule(of_scalar_rule, lambda t, Ω: 3.0)
    wg.zero_rule(of_zero_rule)
    assert wg.gradient(lambda x: x * of_rrule(x), 2.0) == (12.0,)
    assert wg.gradient(lambda x: x * of_scalar_rule(x), 2.0) == (12.0,)
    assert wg.gradient(lambda x: x * of_zero_rule(x), 2.0) == (6.0,)
    assert wg.gradient(lambda x: x * COMPILED(wg.stop_gradient(x)), 2.0) == (6.0,)


def test_no_rule_in_forward_mode():
    def calls(x):
        return COMPILED(x)

    error = refusal("WG103", TypeError, lambda: wg.pushforward(calls, 2.0))
    assert str(error) == message(
        "WG103",
        "triple (vectorized) has no derivative rule, and no Python source to derive one from",
        place(calls, 1, "COMPILED(x)", inside="calls"),
        "Write its rule:                wg.frule(COMPILED) or wg.scalar_rule(COMPILED, ...)\n"
        "or say its derivative is zero: wg.zero_rule(COMPILED)\n"
        "or cut the derivative off:     wg.stop_gradient(...) around its arguments",
    )


def test_a_rule_for_the_other_mode_only():
    one_way = np.frompyfunc(triple, 1, 1)
    wg.rrule(one_way)(lambda t: (3 * t, lambda y_bar: 3 * y_bar))

    def calls(x):
        return one_way(x)

    error = refusal("WG103", TypeError, lambda: wg.pushforward(calls, 2.0))
    assert str(error) == message(
        "WG103",
        "triple (vectorized) has an rrule but no frule, which forward mode needs",
        place(calls, 1, "one_way(x)", inside="calls"),
        "Write its rule:                wg.frule(one_way) or wg.scalar_rule(one_way, ...)\n"
        "or say its derivative is zero: wg.zero_rule(one_way)\n"
        "or cut the derivative off:     wg.stop_gradient(...) around its arguments",
    )


def test_a_function_without_a_rule_that_is_known_only_at_run_time():
    def looked_up(x, name):
        return x * TABLE[name](x)

    error = refusal("WG103", TypeError, lambda: wg.gradient(looked_up, 2.0, "triple"))
    assert str(error) == message(
        "WG103",
        "triple (vectorized) has no derivative rule, and no Python source to derive one from",
        place(looked_up, 1, "TABLE[name](x)", inside="looked_up"),
        "Write its rule:                wg.rrule(f) or wg.scalar_rule(f, ...)\n"
        "or say its derivative is zero: wg.zero_rule(f)\n"
        "or cut the derivative off:     wg.stop_gradient(...) around its arguments",
    )


TABLE = {"triple": COMPILED}


def test_a_function_of_numpy_is_shown_where_the_user_calls_it():
    def trims(x):
        return np.sum(np.packbits(x))

    error = refusal("WG103", TypeError, lambda: wg.gradient(trims, np.ones(3)))
    assert str(error) == message(
        "WG103",
        "numpy.packbits has no derivative rule, and no Python source to derive one from",
        place(trims, 1, "np.packbits(x)", inside="trims"),
        "Write its rule:                wg.rrule(np.packbits) or "
        "wg.scalar_rule(np.packbits, ...)\n"
        "or say its derivative is zero: wg.zero_rule(np.packbits)\n"
        "or cut the derivative off:     wg.stop_gradient(...) around its arguments",
    )


def test_no_rule_is_raised_only_when_a_derivative_needs_one():
    def inactive(x, n):
        return x * math.isqrt(n)

    assert wg.gradient(inactive, 2.0, 9) == (3.0, 0.0)


def test_no_rule_for_the_function_itself():
    error = refusal("WG103", TypeError, lambda: wg.pullback(np.packbits, np.ones(3)))
    assert str(error) == message(
        "WG103",
        "numpy.packbits has no derivative rule, and no Python source to derive one from",
        None,
        "Write its rule:                wg.rrule(numpy.packbits) or "
        "wg.scalar_rule(numpy.packbits, ...)\n"
        "or say its derivative is zero: wg.zero_rule(numpy.packbits)\n"
        "or cut the derivative off:     wg.stop_gradient(...) around its arguments",
    )


# Unsupported syntax, all of it at once


def unsupported(x):
    try:
        y = x * x
    except* ValueError:
        y = x

    async def later():
        return y

    return y


def test_unsupported_syntax_is_reported_all_at_once():
    error = refusal("WG101", NotImplementedError, lambda: wg.gradient(unsupported, 2.0))
    line = unsupported.__code__.co_firstlineno
    assert (
        str(error)
        == f"""\
[WG101] `try` … `except*` cannot be differentiated

  {__file__}:{line + 1}, in unsupported
    try:
    ^^^

  Test the condition with `if` instead of catching the exceptions.

[WG101] `async def` cannot be differentiated

  {__file__}:{line + 6}, in unsupported
    async def later():
    ^^^^^^^^^

  Write a plain `def`; await what it needs outside and pass it in.

  explained by `wengert explain WG101`"""
    )
    assert len(error.findings) == 2


def has_try_star(x):
    try:
        return x
    except* ValueError:
        pass


async def has_async(x):
    return x


def evaluates(x):
    return eval("2 * x")


UNSUPPORTED = {
    "except*": (
        has_try_star,
        (1, "try"),
        "`try` … `except*` cannot be differentiated",
        "Test the condition with `if` instead of catching the exceptions.",
    ),
    "async": (
        has_async,
        (0, "async def"),
        "`async def` cannot be differentiated",
        "Write a plain `def`; await what it needs outside and pass it in.",
    ),
    "eval": (
        evaluates,
        (1, 'eval("2 * x")'),
        "`eval()` cannot be read before it runs",
        "Write the code itself instead.",
    ),
}


@pytest.mark.parametrize("construct", UNSUPPORTED)
def test_each_unsupported_construct(construct):
    function, (offset, underlined), what, hint = UNSUPPORTED[construct]
    error = refusal("WG101", NotImplementedError, lambda: wg.gradient(function, 2.0))
    inside = function.__name__
    assert str(error) == message("WG101", what, place(function, offset, underlined, inside), hint)


# Writes that would lose the derivative


def writes_to_a_copy(x):
    a = np.zeros((2, 2))
    b = a.T.reshape(-1)
    b[0] = x
    return a[0, 0] + b[0]


def test_a_write_to_a_copy_of_a_part():
    with pytest.warns(
        errors.WengertWarning, match="this writes to a copy of a part of an array"
    ) as said:
        assert wg.grad(writes_to_a_copy)(2.0) == 1.0
    assert [each.filename for each in said] == [__file__]


def test_a_write_to_an_array_of_integers():
    def cut_off(x):
        a = np.zeros(2, dtype=int)
        a[0] = x
        return a[0] * x

    error = refusal("WG104", ValueError, lambda: wg.gradient(cut_off, 2.0))
    says(error, "it would keep the integer part only", "Create the array with `dtype=float`")


# wengert's own checks


def test_a_wrong_derivative_that_testing_finds():
    def square(x):
        return x * x

    wg.rrule(square)(lambda x: (x * x, lambda y_bar: y_bar * x))
    error = refusal(
        "WG401", AssertionError, lambda: wg.testing.check_gradient(lambda x: square(x), 3.0)
    )
    says(error, "reverse mode, argument 0", "expected 6.0", "found 3.0")


def test_what_has_no_native_form():
    pytest.importorskip("llvmlite")

    def spectrum(z):
        return np.linalg.eigvals(z)

    error = refusal("WG501", NotImplementedError, lambda: wg.jit(spectrum, strict=True)(np.eye(2)))
    assert str(error) == message(
        "WG501",
        "spectrum has no native form: `eigvals` has no native form yet",
        place(spectrum, 1, "np.linalg.eigvals(z)", inside="spectrum"),
        "The Python form runs instead (with `strict=True` this is an error). Native code works on floats,\n"
        "complex numbers, integers, truth values, NumPy arrays of them, and containers of known length.",
    )


def test_a_contradiction_of_wengerts_own():
    function = Function("f", (), Block((), (), (Var(),)), UNKNOWN)
    error = refusal("WG901", RuntimeError, lambda: verify(function))
    says(error, "dominance: a value is used before its definition", "Please report it")


def test_every_code_is_raised_by_a_test():
    files = TESTS.rglob("test_*.py")
    text = "".join(file.read_text(encoding="utf-8") for file in files)
    raised = set(re.findall(r"refusal\(\s*\"(WG\d+)\"", text))
    codes = {
        each.code
        for each in vars(errors).values()
        if isinstance(each, type) and issubclass(each, wg.WengertError)
    }
    assert codes - raised == {"WG000"}, "WG000 is the base of all, which nothing raises"


def test_errors_pickle():
    error = refusal("WG101", NotImplementedError, lambda: wg.gradient(unsupported, 2.0))
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is type(error)
    assert str(again) == str(error)
    assert again.findings == error.findings


@pytest.mark.parametrize("x", [memoryview(b"ab"), type("Metres", (float,), {})(2.0)])
def test_numbers_that_are_not_followed(x):
    def f(x, k=1.0):
        return k

    error = refusal("WG202", TypeError, lambda: wg.gradient(f, x))
    assert f"is a {type(x).__name__}, whose numbers are not followed" in str(error)
    assert wg.grad(f, argnums=1)(x, 2.0) == 1.0


def test_arrays_of_text_and_of_dates_have_no_gradient():
    dates = np.array(["2020-01-01"], "datetime64[D]")
    assert wg.gradient(lambda a, b, x: x * len(a), np.array(["a"]), dates, 2.0) == (None, None, 1.0)


def test_a_generator_function_has_no_gradient():
    def f(x):
        yield x

    error = refusal("WG201", TypeError, lambda: wg.gradient(f, 1.0))
    assert "returns a generator" in str(error)
