"""Bad input gets an error that says what, where, why and what next.

Every error is asked for its code, its built-in base, the user's line, the text under the caret and
the words of its hint.
"""

# programs under test are written as users write them, mistakes included
# ruff: noqa: PLC3002, PLE0643, PLW0108, PTH123

import itertools
import linecache
import math
import operator
import pickle
import re
import runpy
import traceback
from pathlib import Path
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


def place(function, offset, underlined, inside=None):
    """What a message shows of a line of a function: its file, its number, carets under a text.

    `inside` is the name of the function that the line is said to stand in.
    """
    code = function.__code__
    number = code.co_firstlineno + offset
    line = linecache.getline(code.co_filename, number).strip()
    carets = " " * line.index(underlined) + "^" * len(underlined)
    where = f"  {code.co_filename}:{number}" + (f", in {inside}" if inside else "")
    return f"{where}\n    {line}\n    {carets}"


def message(code, *findings):
    """The whole text of an error; a finding says what, where (or None) and what to do."""
    paragraphs = []
    for what, where, hint in findings:
        indented = "\n".join("  " + line for line in hint.splitlines())
        paragraphs += [f"[{code}] {what}", *([where] if where else []), indented]
    return "\n\n".join([*paragraphs, f"  explained in docs/errors.md#{code.lower()}"])


# No source


def without_source():
    namespace = {}
    exec("def f(x):\n    return x * x\n", namespace)
    return namespace["f"]


def test_no_source():
    error = refusal("WG102", TypeError, lambda: wg.gradient(without_source(), 2.0))
    assert str(error) == """\
[WG102] the source of f cannot be found: it was defined in '<string>', which is not a file

  wengert reads the source of what it differentiates. Put f into a file, or
  write its rule: `@wg.rrule(f)`.

  explained in docs/errors.md#wg102"""


def test_no_source_of_a_function_that_is_called():
    helper = without_source()

    def outer(x):
        return helper(x) + 1

    error = refusal("WG102", TypeError, lambda: wg.gradient(outer, 2.0))
    assert str(error) == message(
        "WG102",
        (
            "the source of f cannot be found: it was defined in '<string>', which is not a file",
            place(outer, 1, "helper(x)", inside="outer"),
            "wengert reads the source of what it differentiates. Put f into a file, or\n"
            "write its rule: `@wg.rrule(f)`.",
        ),
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
    error = refusal("WG102", TypeError, lambda: wg.gradient(outer, 2.0))
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
        (
            f"the source of f is not where Python says it is ({file}:1)",
            None,
            "The file has probably changed since it was imported: start Python anew, or reload the "
            "module.",
        ),
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
        (
            "triple (vectorized) has no derivative rule, and no Python source to derive one from",
            place(calls_c, 2, "COMPILED(x * y)", inside="calls_c"),
            "Write its rule:                wg.rrule(COMPILED) or wg.scalar_rule(COMPILED, ...)\n"
            "or say its derivative is zero: wg.zero_rule(COMPILED)\n"
            "or cut the derivative off:     wg.stop_gradient(...) around its arguments",
        ),
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
        (
            "triple (vectorized) has no derivative rule, and no Python source to derive one from",
            place(calls, 1, "COMPILED(x)", inside="calls"),
            "Write its rule:                wg.frule(COMPILED) or wg.scalar_rule(COMPILED, ...)\n"
            "or say its derivative is zero: wg.zero_rule(COMPILED)\n"
            "or cut the derivative off:     wg.stop_gradient(...) around its arguments",
        ),
    )


def test_a_rule_for_the_other_mode_only():
    one_way = np.frompyfunc(triple, 1, 1)
    wg.rrule(one_way)(lambda t: (3 * t, lambda y_bar: 3 * y_bar))

    def calls(x):
        return one_way(x)

    error = refusal("WG103", TypeError, lambda: wg.pushforward(calls, 2.0))
    assert str(error) == message(
        "WG103",
        (
            "triple (vectorized) has an rrule but no frule, which forward mode needs",
            place(calls, 1, "one_way(x)", inside="calls"),
            "Write its rule:                wg.frule(one_way) or wg.scalar_rule(one_way, ...)\n"
            "or say its derivative is zero: wg.zero_rule(one_way)\n"
            "or cut the derivative off:     wg.stop_gradient(...) around its arguments",
        ),
    )


def test_a_function_without_a_rule_that_is_known_only_at_run_time():
    def looked_up(x, name):
        return x * TABLE[name](x)

    error = refusal("WG103", TypeError, lambda: wg.gradient(looked_up, 2.0, "triple"))
    assert str(error) == message(
        "WG103",
        (
            "triple (vectorized) has no derivative rule, and no Python source to derive one from",
            place(looked_up, 1, "TABLE[name](x)", inside="looked_up"),
            "Write its rule:                wg.rrule(f) or wg.scalar_rule(f, ...)\n"
            "or say its derivative is zero: wg.zero_rule(f)\n"
            "or cut the derivative off:     wg.stop_gradient(...) around its arguments",
        ),
    )


TABLE = {"triple": COMPILED}


def test_a_function_of_numpy_is_shown_where_the_user_calls_it():
    def interpolates(x):
        return np.interp(x, [0.0, 1.0], [0.0, 2.0])

    error = refusal("WG103", TypeError, lambda: wg.gradient(interpolates, 0.5))
    assert str(error) == message(
        "WG103",
        (
            "numpy.interp has no derivative rule, and no Python source to derive one from",
            place(interpolates, 1, "np.interp(x, [0.0, 1.0], [0.0, 2.0])", inside="interpolates"),
            "Write its rule:                wg.rrule(np.interp) or wg.scalar_rule(np.interp, ...)\n"
            "or say its derivative is zero: wg.zero_rule(np.interp)\n"
            "or cut the derivative off:     wg.stop_gradient(...) around its arguments",
        ),
    )


def test_no_rule_is_raised_only_when_a_derivative_needs_one():
    def inactive(x, n):
        return x * math.isqrt(n)

    assert wg.gradient(inactive, 2.0, 9) == (3.0, 0.0)


def test_no_rule_for_the_function_itself():
    error = refusal("WG103", TypeError, lambda: wg.gradient(np.interp, 0.5, [0.0, 1.0], [0.0, 2.0]))
    assert str(error) == message(
        "WG103",
        (
            "numpy.interp has no derivative rule, and no Python source to derive one from",
            None,
            "Write its rule:                wg.rrule(numpy.interp) or wg.scalar_rule(numpy.interp, ...)\n"
            "or say its derivative is zero: wg.zero_rule(numpy.interp)\n"
            "or cut the derivative off:     wg.stop_gradient(...) around its arguments",
        ),
    )


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
    line = unsupported.__code__.co_firstlineno
    assert str(error) == f"""\
[WG101] `try` cannot be differentiated yet

  {__file__}:{line + 1}, in unsupported
    try:
    ^^^

  Test the condition with `if` instead of catching the exception.

[WG101] `with` cannot be differentiated yet

  {__file__}:{line + 5}, in unsupported
    with open("file") as stream:
    ^^^^

  Put the `with` around the call of the derivative instead.

[WG101] a generator cannot be differentiated yet

  {__file__}:{line + 9}, in generate
    yield y
    ^^^^^^^

  Return a list of the items instead of yielding them.

  explained in docs/errors.md#wg101"""
    assert len(error.findings) == 3


def has_try(x):
    try:
        return x
    finally:
        pass


def has_try_star(x):
    try:
        return x
    except* ValueError:
        pass


def has_with(x):
    with np.errstate(all="ignore"):
        return x * x


def has_yield(x):
    yield x


def has_yield_from(x):
    yield from [x]


async def has_async(x):
    return x


def has_global(x):
    global COUNTER  # noqa: PLW0603
    COUNTER = x
    return x


def has_nonlocal(x):
    y = x

    def double():
        nonlocal y
        y = 2 * y

    double()
    return y


def has_class(x):
    class Point:
        y = x

    return Point.y


def sets_an_element(xs):
    xs[0] = xs[1] * 2
    return xs[0]


def adds_to_a_slice(xs):
    xs[1:] += xs[0]
    return xs[1]


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


def writes_into(xs):
    np.exp(xs, out=xs)
    return xs[0]


def evaluates(x):
    return eval("2 * x")


IN_PLACE = "changes an object in place, which cannot be differentiated yet"
NEW_CONTAINER = """\
Build a new value instead: `np.where`, `np.concatenate`, a list comprehension, `[*items, x]`,
`{**d, key: x}`; or move the change out of the differentiated function."""
NEW_OBJECT = """\
Build a new object instead, such as a dataclass with the new value: `Point(x=..., y=p.y)`;
or move the change out of the differentiated function."""
NEW_LIST = """\
Build a new value instead: `[*items, x]` for `append`, `{**d, key: x}` for an entry,
`sorted(items)` for `sort`; or move the change out of the differentiated function."""
UNSUPPORTED = {
    "try": (
        has_try,
        (1, "try"),
        "`try` cannot be differentiated yet",
        "Test the condition with `if` instead of catching the exception.",
    ),
    "except*": (
        has_try_star,
        (1, "try"),
        "`try` … `except*` cannot be differentiated",
        "Test the condition with `if` instead of catching the exceptions.",
    ),
    "with": (
        has_with,
        (1, "with"),
        "`with` cannot be differentiated yet",
        "Put the `with` around the call of the derivative instead.",
    ),
    "yield": (
        has_yield,
        (1, "yield x"),
        "a generator cannot be differentiated yet",
        "Return a list of the items instead of yielding them.",
    ),
    "yield from": (
        has_yield_from,
        (1, "yield from [x]"),
        "a generator cannot be differentiated yet",
        "Return a list of the items instead of yielding them.",
    ),
    "async": (
        has_async,
        (0, "async def"),
        "`async def` cannot be differentiated",
        "Write a plain `def`; await what it needs outside and pass it in.",
    ),
    "global": (
        has_global,
        (1, "global COUNTER"),
        "`global` cannot be differentiated yet",
        "Return the new value instead of assigning it to a global name.",
    ),
    "nonlocal": (
        has_nonlocal,
        (4, "nonlocal y"),
        "`nonlocal` cannot be differentiated yet",
        "Return the new value instead of assigning it to an outer name.",
    ),
    "class": (
        has_class,
        (1, "class"),
        "a class cannot be defined inside a differentiated function",
        "Define the class outside.",
    ),
    "element": (sets_an_element, (1, "xs[0]"), f"assignment to an item {IN_PLACE}", NEW_CONTAINER),
    "slice": (adds_to_a_slice, (1, "xs[1:]"), f"assignment to an item {IN_PLACE}", NEW_CONTAINER),
    "attribute": (
        sets_an_attribute,
        (1, "p.x"),
        f"assignment to an attribute {IN_PLACE}",
        NEW_OBJECT,
    ),
    "append": (appends, (2, "xs.append(x * 2)"), f"`.append()` {IN_PLACE}", NEW_LIST),
    "del": (
        deletes_an_element,
        (1, 'del d["a"]'),
        "`del` cannot be differentiated yet",
        "Build a new container without the item; a name can be left as it is.",
    ),
    "out": (
        writes_into,
        (1, "np.exp(xs, out=xs)"),
        "`out=` of exp writes into an array, which cannot be differentiated yet",
        "Assign the result instead: `y = exp(x)`.",
    ),
    "eval": (
        evaluates,
        (1, 'eval("2 * x")'),
        "`eval()` cannot be read before it runs",
        "Write the code itself instead.",
    ),
}
ARGUMENTS = {
    "element": np.array([1.0, 2.0]),
    "slice": np.array([1.0, 2.0]),
    "out": np.array([1.0, 2.0]),
    "attribute": SimpleNamespace(x=1.0),
    "del": {"a": 1.0, "b": 2.0},
}


@pytest.mark.parametrize("construct", UNSUPPORTED)
def test_each_unsupported_construct(construct):
    function, (offset, underlined), what, hint = UNSUPPORTED[construct]
    argument = ARGUMENTS.get(construct, 2.0)
    error = refusal("WG101", NotImplementedError, lambda: wg.gradient(function, argument))
    inside = "double" if construct == "nonlocal" else function.__name__
    assert str(error) == message("WG101", (what, place(function, offset, underlined, inside), hint))


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
    "lambda x: SimpleNamespace(y=x)": ("an object of class SimpleNamespace", ""),
    "lambda x: x * 1j": (
        "a complex number",
        "Return a real number, such as `abs(y)` or `y.real`.\n",
    ),
    "lambda x: None": ("None", "Is a `return` missing?\n"),
    'lambda x: "text"': ("a str", ""),
    "lambda x: x > 0": ("a bool", ""),
    "lambda x: math.sin": ("a function", ""),
}


def in_a_file(code, folder):
    """A function whose source is a file of its own."""
    file = folder / "function.py"
    head = "import math\nfrom types import SimpleNamespace\nimport numpy as np\n"
    file.write_text(f"{head}f = {code}\n")
    return runpy.run_path(str(file))["f"]


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
        (
            f"a gradient needs one real number as the result, but f returns {what}",
            place(function, 0, code),
            first + OTHER_VERBS,
        ),
    )


def test_gradient_of_an_array_says_what_array():
    def doubled(x):
        return x * 2

    error = refusal("WG201", TypeError, lambda: wg.gradient(doubled, np.ones((2, 3))))
    assert str(error) == message(
        "WG201",
        (
            "a gradient needs one real number as the result, but doubled returns an array of "
            "float64 with 2 dimensions",
            place(doubled, 0, "def doubled(x):"),
            OTHER_VERBS,
        ),
    )


@pytest.mark.parametrize(
    ("y", "what"),
    [
        (np.ones(2), "a value of type ndarray of shape (2,)"),
        (1j, "a value of type complex"),
        (None, "None"),
        ("text", "a value of type str"),
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
        (
            f"a gradient needs one real number as the result, but calls returned {what}",
            place(calls, 0, "def calls(x):"),
            OTHER_VERBS,
        ),
    )


def test_gradient_of_what_is_not_one_real_number_inside_a_program():
    def pair(t):
        return t, t

    def slope(x):
        return wg.grad(pair)(x)

    error = refusal("WG201", TypeError, lambda: wg.gradient(slope, 2.0))
    assert str(error) == message(
        "WG201",
        (
            "a gradient needs one real number as the result, but pair returns a tuple of 2 items",
            place(slope, 1, "wg.grad(pair)(x)", inside="slope"),
            OTHER_VERBS,
        ),
    )


def test_auxiliary_data_that_is_not_there():
    def loss(x):
        return x * x

    error = refusal("WG201", TypeError, lambda: wg.grad(loss, has_aux=True)(2.0))
    assert str(error) == message(
        "WG201",
        (
            "with has_aux=True, loss must return a pair (value, auxiliary data); it returns a float",
            place(loss, 0, "def loss(x):"),
            "Return such a pair, or leave `has_aux` out.",
        ),
    )


def test_jacobian_of_a_complex_result():
    def rotated(x):
        return x * 1j

    error = refusal("WG201", TypeError, lambda: wg.jacobian(rotated)(2.0))
    assert str(error) == message(
        "WG201",
        (
            "`wg.jacobian` needs a real result, but the function returns a complex one",
            place(rotated, 0, "def rotated(x):"),
            "Return its real and imaginary parts, or use `wg.pullback`.",
        ),
    )


def test_a_zero_dimensional_result_is_fine():
    assert wg.gradient(lambda x: np.array(x * 2), 1.0) == (2.0,)
    (found,) = wg.gradient(lambda x: np.sum(x, keepdims=False), np.ones(2))
    assert found.tolist() == [1.0, 1.0]


# Wrong argnums and wrong arguments


def product(x, y):
    return x * y


BY_POSITION = "Arguments count from 0. Pass those to differentiate by position, not by keyword."


@pytest.mark.parametrize("verb", [wg.grad, wg.value_and_grad, wg.jacobian, wg.hessian])
@pytest.mark.parametrize(("argnums", "wrong"), [(2, 2), ((0, 5), 5), (-3, -3)])
def test_argnums_out_of_range(verb, argnums, wrong):
    error = refusal("WG202", TypeError, lambda: verb(product, argnums)(1.0, 2.0))
    assert str(error) == message(
        "WG202",
        (
            f"`argnums` names argument {wrong}, but product was called with 2 positional arguments",
            None,
            BY_POSITION,
        ),
    )


def test_argnums_of_an_argument_passed_by_keyword():
    error = refusal("WG202", TypeError, lambda: wg.grad(product, argnums=1)(1.0, y=2.0))
    assert str(error) == message(
        "WG202",
        (
            "`argnums` names argument 1, but product was called with 1 positional argument",
            None,
            BY_POSITION,
        ),
    )


def test_argnums_out_of_range_inside_a_program():
    def slope(x):
        return wg.grad(product, argnums=4)(x, x)

    error = refusal("WG202", TypeError, lambda: wg.gradient(slope, 2.0))
    assert str(error) == message(
        "WG202",
        (
            "`argnums` names argument 4, but the function is called with 2 positional arguments",
            place(slope, 1, "wg.grad(product, argnums=4)(x, x)", inside="slope"),
            BY_POSITION,
        ),
    )


@pytest.mark.parametrize("verb", [wg.grad, wg.value_and_grad, wg.jacobian, wg.hessian, wg.hvp])
@pytest.mark.parametrize("argnums", ["x", 1.5, None, True, ("a",)])
def test_argnums_of_the_wrong_type(verb, argnums):
    error = refusal("WG202", TypeError, lambda: verb(product, argnums))
    assert str(error) == message(
        "WG202",
        (
            f"`argnums` must be an integer or a tuple of integers, not {argnums!r}",
            None,
            "`argnums=0` is the first positional argument, `argnums=(0, 1)` the first two.",
        ),
    )


def test_several_argnums_of_hvp():
    error = refusal("WG202", TypeError, lambda: wg.hvp(product, (0, 1)))
    assert str(error) == message(
        "WG202",
        (
            "`argnums` of `hvp` must be one integer, not (0, 1)",
            None,
            "Take the arguments together: differentiate a function of one tuple.",
        ),
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
        (
            f"`argnums` names argument 0 (`name`), which is {what} and has no derivative",
            None,
            "Choose other `argnums`, or pass a float, a complex number, an array, or a container "
            "of these.",
        ),
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
        (
            "wengert differentiates functions, not values of type float",
            None,
            "Pass the function itself, not its result: `wg.grad(f)(x)`, `wg.gradient(f, x)`.",
        ),
    )


@pytest.mark.parametrize("order", [0, -1, 1.5, "2"])
def test_order_of_a_derivative(order):
    error = refusal("WG202", TypeError, lambda: wg.derivative(math.sin, order))
    assert str(error) == message(
        "WG202",
        (
            f"`order` must be 1, 2, 3 …, not {order!r}",
            None,
            "`order=1` gives f', `order=2` gives f''.",
        ),
    )


def test_derivative_of_a_function_of_an_array():
    error = refusal("WG202", TypeError, lambda: wg.derivative(np.sum)(np.ones(3)))
    assert str(error) == message(
        "WG202",
        (
            "`derivative` is for functions of one number; this argument is an array of float64 "
            "with 1 dimension",
            None,
            "Use `wg.grad` for a scalar function of an array, `wg.jacobian` for an array-valued one.",
        ),
    )


def test_derivative_of_a_function_of_two_numbers():
    error = refusal("WG202", TypeError, lambda: wg.derivative(product)(1.0, 2.0))
    assert str(error) == message(
        "WG202",
        (
            "`derivative` is for functions of one number; product was called with 2 arguments",
            None,
            "Use `wg.grad(f, argnums=...)`, or fix the other arguments with `functools.partial`.",
        ),
    )


def test_mode_of_a_jacobian():
    error = refusal("WG202", TypeError, lambda: wg.jacobian(lambda x: x * x, mode="sideways")(1.0))
    assert str(error) == message(
        "WG202",
        (
            "`mode` must be 'auto', 'forward' or 'reverse', not 'sideways'",
            None,
            "'auto' takes the cheaper of the two.",
        ),
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
        (
            "the pushforward of two_arguments takes 2 tangents, one for each positional argument; "
            f"it was given {len(tangents)}",
            None,
            "Pass None for a zero tangent.",
        ),
    )


@pytest.mark.parametrize("cotangents", [(), (1.0, 1.0)])
def test_wrong_number_of_cotangents(cotangents):
    _, back = wg.pullback(two_arguments, np.ones(3), 2.0)
    error = refusal("WG203", ValueError, lambda: back(*cotangents))
    assert str(error) == message(
        "WG203",
        (
            "the pullback of two_arguments takes one cotangent, that of its result; it was given "
            f"{len(cotangents)}",
            None,
            "For a result of several items pass one container of their cotangents.",
        ),
    )


@pytest.mark.parametrize(
    ("tangent", "shape"), [(np.ones(4), "(4,)"), (1.0, "()"), (np.ones((3, 1)), "(3, 1)")]
)
def test_wrong_shape_of_a_tangent(tangent, shape):
    error = refusal("WG203", ValueError, lambda: push(tangent, 1.0))
    assert str(error) == message(
        "WG203",
        (
            f"the tangent of argument 0 (`x`) has shape {shape}, but the argument has shape (3,)",
            None,
            "Pass an array of shape (3,).",
        ),
    )


def test_a_list_may_stand_for_an_array():
    assert push([1.0, 2.0, 3.0], None) == 12.0


def test_complex_tangent_of_a_real_argument():
    error = refusal("WG203", ValueError, lambda: push(np.ones(3), 1j))
    assert str(error) == message(
        "WG203",
        (
            "the tangent of argument 1 (`y`) is complex, but the argument is real",
            None,
            "Pass its real part.",
        ),
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
        "WG203", (f"the cotangent {what}", None, "Pass an array of shape (3,).")
    )


def test_wrong_cotangent_of_a_number():
    _, back = wg.pullback(math.sin, 1.0)
    error = refusal("WG203", ValueError, lambda: back(np.ones(2)))
    assert str(error) == message(
        "WG203",
        (
            "the cotangent has shape (2,), but the result has shape ()",
            None,
            "Pass a number.",
        ),
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
        (
            "the cotangent does not have the structure of the result",
            None,
            f"It should look like (2.0, 4.0), not like {shown}.",
        ),
    )


def test_cotangent_of_a_long_list():
    _, back = wg.pullback(lambda xs: [2 * x for x in xs], [1.0] * 9)
    error = refusal("WG203", ValueError, lambda: back([1.0] * 8))
    assert str(error) == message(
        "WG203",
        (
            "the cotangent does not have the structure of the result",
            None,
            "It should look like [2.0, 2.0, 2.0, 2.0, 2.0, 2.0, ...], "
            "not like [1.0, 1.0, 1.0, 1.0, 1.0, 1.0, ...].",
        ),
    )


def test_a_cotangent_with_an_item_too_many():
    _, back = wg.pullback(lambda x: {"a": x}, 2.0)
    error = refusal("WG203", ValueError, lambda: back({"a": 1.0, "b": 1.0}))
    assert str(error) == message(
        "WG203",
        (
            "the cotangent does not have the structure of the result",
            None,
            "It should look like {'a': 2.0}, not like {'a': 1.0, 'b': 1.0}.",
        ),
    )


def test_wrong_shape_inside_a_container():
    def weighted(p):
        return np.sum(p["layers"][0]["w"]) * p["b"]

    _, push = wg.pushforward(weighted, {"layers": [{"w": np.ones(3)}], "b": 1.0})
    error = refusal(
        "WG203", ValueError, lambda: push({"layers": [{"w": np.ones(2)}], "b": None})
    )
    assert str(error) == message(
        "WG203",
        (
            "the tangent of argument 0 (`p`) has shape (2,) at ['layers'][0]['w'], but the "
            "argument has shape (3,) there",
            None,
            "Pass an array of shape (3,).",
        ),
    )


def test_vector_of_an_hvp():
    error = refusal(
        "WG203", ValueError, lambda: wg.hvp(lambda x: np.sum(x**2))(np.ones(3), np.ones(2))
    )
    assert str(error) == message(
        "WG203",
        (
            "the vector has shape (2,), but argument 0 (`x`) has shape (3,)",
            None,
            "Pass an array of shape (3,).",
        ),
    )


def test_hvp_without_a_vector():
    error = refusal("WG202", TypeError, lambda: wg.hvp(math.sin)(1.0))
    assert str(error) == message(
        "WG202",
        (
            "a Hessian–vector product takes the arguments of the function and then a vector",
            None,
            "Call it like this: `wg.hvp(f)(x, v)`.",
        ),
    )


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
