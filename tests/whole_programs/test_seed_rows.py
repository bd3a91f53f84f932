"""The systems that wengert descends from, row by row: what they promise and with which numbers.

Row ids: S0 are the cells of the notebook on Zygote, L the language coverage of Zygote's own tests,
P small published examples. `wg.derivative` is their `D`.
"""

# ids of rows keep their capitals, and a row is written as a user would write it

import ast
import copy
import functools
import itertools
import logging
import math
import re
import tracemalloc
from collections import namedtuple
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import oracle
import pytest
import trees

import wengert as wg

D = wg.derivative
ANGLE = math.pi / 6


def close(found, expected, rel=1e-14):
    trees.assert_close(found, expected, rel=rel)


# S0: the notebook


def square(x):
    return x**2


def poly(x):
    return 3 * x * x + 2 * x + 1


def composed(*functions):
    return functools.reduce(lambda f, g: lambda x: g(f(x)), functions)


def test_S0_1_derivative_of_a_square():
    assert D(square)(3) == 6


def test_S0_2_the_derivative_is_an_ordinary_function():
    slope = D(square)
    assert callable(slope)
    assert list(map(slope, [1.0, 2.0])) == [2.0, 4.0]
    assert D is wg.derivative


def test_S0_3_the_gradient_is_the_pullback_of_one():
    y, back = wg.pullback(square, 3.0)
    assert y == 9.0
    assert back(1.0) == wg.gradient(square, 3.0) == (6.0,)


def test_S0_4_a_pullback_may_be_used_many_times():
    _, back = wg.pullback(math.sin, 0.7)
    for y_bar in (1.0, 2.0, -3.5, 1.0):
        close(back(y_bar), (y_bar * math.cos(0.7),))
    assert back(2.0) == (2 * back(1.0)[0],)


def test_S0_5_hand_written_pullbacks():
    def sine(x):
        return math.sin(x)

    def squared(x):
        return x * x

    @wg.rrule(sine)
    def sine_rule(x):
        return math.sin(x), lambda y_bar: y_bar * math.cos(x)

    @wg.rrule(squared)
    def squared_rule(x):
        return x * x, lambda y_bar: y_bar * 2 * x

    close(wg.gradient(sine, ANGLE), (math.cos(ANGLE),))
    close(wg.gradient(lambda x: sine(squared(x)), ANGLE), (2 * ANGLE * math.cos(ANGLE**2),))


def test_S0_6_a_scalar_rule_uses_the_result():
    assert D(math.tan)(ANGLE) == 1.3333333333333333

    def tangent(x):
        return math.tan(x)

    wg.scalar_rule(tangent, lambda x, Ω: 1 + Ω**2)
    assert D(tangent)(ANGLE) == 1.3333333333333333
    assert "1 + Ω**2" in str(wg.rule(tangent))


def test_S0_7_composition():
    expected = 2 * ANGLE * math.cos(ANGLE**2)
    close(D(lambda x: math.sin(square(x)))(ANGLE), expected)
    close(D(composed(square, math.sin))(ANGLE), expected)


POLY_IR = """\
poly(x):
    %1 = 3 * x
    %2 = %1 * x
    %3 = 2 * x
    %4 = %2 + %3
    %5 = %4 + 1
    return %5"""


def test_S0_8_the_ir_reads_like_the_literature():
    text = str(wg.code_ir(poly))
    lines = [re.sub(r"\s*#.*", "", line) for line in text.strip().splitlines()]
    assert "\n".join(lines) == POLY_IR
    specialised = str(wg.code_ir(poly, 1.0)).splitlines()
    assert specialised[0] == "poly(x: float) -> float:"
    assert specialised[1:] == text.splitlines()[1:]
    assert f"test_seed_rows.py:{poly.__code__.co_firstlineno + 1}" in text


def test_S0_9_the_adjoint_can_be_read_and_run():
    text = str(wg.code_adjoint(poly, 1.0))
    namespace = {}
    exec(text, namespace)
    (name,) = re.findall(r"^def (\w+)", text, re.MULTILINE)
    assert "y_bar" in text
    assert namespace[name](2.0, 1.0) == 14.0
    assert namespace[name](2.0, 0.5) == 7.0


def test_S0_10_compositions_and_partials_are_looked_through():
    def power(x, n):
        return x**n

    close(D(functools.partial(power, n=3))(2.0), 12.0)
    text = str(wg.code_ir(composed(square, math.sin), 1.0))
    assert "sin(" in text


def test_S0_11_contributions_add_up():
    for x in (1.0, -0.5, 3.25):
        assert D(poly)(x) == 6 * x + 2


def count(text, *operators):
    nodes = ast.walk(ast.parse(text))
    return sum(isinstance(node, operators) for node in nodes)


def test_S0_12_literals_make_no_work():
    text = str(wg.code_adjoint(poly, 1.0))
    assert count(text, ast.Mult) <= 7, text  # three forward, four backward
    assert count(text, ast.Add) <= 4, text  # two forward, one accumulation of three


def test_S0_13_the_printed_adjoint_is_the_gradient():
    source = wg.grad(poly).specialize(1.0).source
    namespace = {}
    exec(source, namespace)
    (name,) = re.findall(r"^def (\w+)", source, re.MULTILINE)[-1:]
    for x in (1.0, 0.3):
        close(namespace[name](x), 6 * x + 2)


def test_S0_14_integers_are_numbers():
    assert D(square)(3) == 6.0
    assert D(poly)(1) == 8.0
    assert isinstance(D(poly)(1), float)
    assert wg.code_adjoint(poly, 1)


# L: the language


def power(x, n):
    r = 1
    while n > 0:
        n -= 1
        r *= x
    return r


def power_by_recursion(x, n):
    return 1 if n == 0 else x * power_by_recursion(x, n - 1)


def test_L1_loops_with_a_trip_count_from_data():
    assert wg.gradient(lambda x: power(x, 3), 5) == (75.0,)
    assert wg.gradient(power, 2, 3) == (12.0, 0.0)


def test_L2_recursion():
    assert wg.gradient(lambda x: power_by_recursion(x, 3), 5) == (75.0,)
    assert wg.gradient(power_by_recursion, 2, 3) == (12.0, 0.0)


def test_L3_branches_merge():
    def three_ways(x):
        if x > 0:
            x *= 2
        elif x < 0:
            x *= 3
        return x

    def constant_branch(x):
        if True:
            pass
        elif True:
            None
        return x + x

    assert wg.gradient(three_ways, 1) == (2.0,)
    assert wg.gradient(three_ways, -1.0) == (3.0,)
    assert wg.gradient(lambda x: x * 2 if x > 0 else x * 3 if x < 0 else x, 1) == (2.0,)
    assert wg.gradient(constant_branch, 1) == (2.0,)


def test_L4_short_circuit_and_ternary():
    def relu(x):
        return max(0, x)

    assert wg.gradient(relu, 2.0) == (1.0,)
    assert wg.gradient(relu, -2.0) == (0.0,)
    assert wg.gradient(lambda x: x and x * 3, 2.0) == (3.0,)
    assert wg.gradient(lambda x: x or 7.0, 2.0) == (1.0,)


def test_L5_endless_loops_with_exits_in_odd_places():
    def exits_at_once(x):
        while True:
            if True:
                return x * 3
            if x > 5:
                break

    def exits_in_the_middle(x):
        while True:
            x = x * 2
            if x > 10:
                return x
            if x < 0:
                break
            x = x + 1
        return -x

    assert wg.gradient(exits_at_once, 2.0) == (3.0,)
    assert wg.gradient(exits_in_the_middle, 1.0) == (8.0,)
    assert wg.gradient(exits_in_the_middle, -1.0) == (-2.0,)
    assert wg.code_adjoint(exits_in_the_middle)


def test_L6_code_after_return():
    def unreachable(x):
        return x
        return 2 * x

    assert wg.gradient(unreachable, 3.0) == (1.0,)


def multiplier(a):
    return lambda x: x * a


def test_L7_gradient_of_captured_values():
    function_bar, x_bar = wg.gradient(lambda f, x: f(x), multiplier(3.0), 2.0)
    assert function_bar == SimpleNamespace(a=2.0)
    assert x_bar == 3.0


def test_L10_composition_runs_each_part_once(capsys):
    def announced(name, function):
        def call(x):
            print(name, end=" ")
            return function(x)

        return call

    chain = composed(announced("f", math.sin), announced("g", square), announced("h", math.exp))
    y, back = wg.pullback(chain, 4.0)
    back(1.0)
    assert capsys.readouterr().out == "f g h "
    assert y == math.exp(math.sin(4.0) ** 2)


def five_times(x):
    return 5 * x


GLOBAL_FUNCTION = five_times
GLOBAL_PARAMETER = 3


def test_L11_globals():
    assert wg.gradient(lambda x: GLOBAL_FUNCTION(x), 2) == (5.0,)
    y, back = wg.pullback(lambda x: x * GLOBAL_PARAMETER, 2)
    assert (y, back(1.0)) == (6, (3.0,))


RESULT = 1


def power_with_global(x, n):
    global RESULT
    while n > 0:
        RESULT *= x
        n -= 1
    return RESULT


def test_L12_assigned_globals_are_right_or_refused(monkeypatch):
    monkeypatch.setitem(globals(), "RESULT", 1)
    try:
        found = wg.gradient(power_with_global, 2, 3)
    except wg.WengertError:
        with pytest.raises(wg.WengertError, match="global"):
            wg.gradient(power_with_global, 2, 3)
    else:
        assert found == (12.0, 0.0)


FLAG = True


def depends_on_flag(x):
    return 2 * x if FLAG else x


def test_L13_rebinding_a_global_between_calls(monkeypatch):
    slope = wg.grad(depends_on_flag)
    assert wg.pullback(depends_on_flag, 3)[1](4.0) == (8.0,)
    assert slope(3.0) == 2.0
    monkeypatch.setitem(globals(), "FLAG", False)
    assert wg.pullback(depends_on_flag, 3)[1](4.0) == (4.0,)
    assert slope(3.0) == 1.0


def product(*xs):
    result = 1
    for x in xs:
        result = result * x
    return result


def test_L14_variadic_calls():
    assert wg.gradient(lambda a, *b: product(a, *b), 2, 3) == (3.0, 2.0)
    assert wg.gradient(lambda xs: max(*xs), [1, 2, 3]) == ([0.0, 0.0, 1.0],)
    assert wg.pullback(lambda xs: (*xs,), [1.0, 2.0])[1]((1.0, 1.0)) == ([1.0, 1.0],)


def test_L15_unused_arguments_have_zero_gradients():
    assert wg.gradient(lambda x, *a: x, 1) == (1.0,)
    assert wg.gradient(lambda x, *a: x, 1, 1) == (1.0, 0.0)
    assert wg.gradient(lambda x, *a: 7.0, 1, 2) == (0.0, 0.0)


def test_L16_keyword_arguments():
    def scaled(*, a=1, b):
        return a * b

    def outer(options):
        return inner(**options)

    def inner(**options):
        return innermost(scale=2.0, **options)

    def innermost(scale, **options):
        return options["x"] * options["z"] * scale / 2

    assert wg.gradient(lambda a, b: scaled(a=a, b=b), 2, 3) == (3.0, 2.0)
    assert wg.gradient(lambda b: scaled(b=b), 3) == (1.0,)
    found = wg.gradient(outer, {"x": 3.0, "y": 4.0, "z": 2.3})
    assert found == ({"x": 2.3, "y": 0.0, "z": 3.0},)


def test_L17_tuples():
    assert wg.gradient(lambda t: t[0] * t[1], (2, 3)) == ((3.0, 2.0),)
    sliced = wg.gradient(lambda x, y, z: sum((x, y, z)[0:2]), 7, 8.8, 9.9)
    assert sliced == (1.0, 1.0, 0.0)
    picked = wg.gradient(lambda x, y, z: sum((x, y, z)[k] for k in [0, 1, 0]), 1, 2, 3)
    assert picked == (2.0, 1.0, 0.0)
    (unpacked,) = wg.gradient(lambda t: (lambda a, b: a * b * b)(*t), (2.0, 3.0))
    assert unpacked == (9.0, 12.0)


Pair = namedtuple("Pair", "a b")


def test_L18_named_tuples():
    (found,) = wg.gradient(lambda p: p.a, Pair(a=1, b=2))
    assert found == Pair(a=1.0, b=0.0)
    assert isinstance(found, Pair)
    assert wg.gradient(lambda p: p.a, SimpleNamespace(a=1.0, b=2.0))[0].a == 1.0


def test_L25_dictionaries():
    def built(x):
        d = {"x": x}
        return d["x"] * d["x"]

    def sum_of_powers(x):
        d = {i: i**x for i in range(1, 5)}
        return sum(d.values())

    def with_default(d):
        return d.get("a", 10.0) * d.get("missing", 3.0) + (d.get("none") or 0)

    def iterated(d):
        return sum(len(key) * value**2 for key, value in d.items())

    def copied(x):
        d = copy.deepcopy({"a": x, "b": 2 * x})
        return d["a"] + 3 * d["b"]

    assert wg.gradient(built, 5) == (10.0,)
    close(wg.gradient(sum_of_powers, 3), (123.93054835019153,))
    assert wg.gradient(with_default, {"a": 2.0}) == ({"a": 3.0},)
    assert wg.gradient(iterated, {"a": 3.0, "bb": 2.0}) == ({"a": 6.0, "bb": 8.0},)
    assert wg.gradient(copied, 2.0) == (7.0,)


def test_L25_a_captured_dictionary():
    table = {"w": 2.0, "b": 1.0}
    function_bar, x_bar = wg.gradient(lambda f, x: f(x), lambda x: table["w"] * x, 5.0)
    assert function_bar.table == {"w": 5.0, "b": 0.0}
    assert x_bar == 2.0


def test_L26_gradient_of_a_dictionary():
    found = wg.gradient(lambda d: sum(v for _, v in d.items()), {"a": 3, "b": 4, 7: 5})
    assert found == ({"a": 1.0, "b": 1.0, 7: 1.0},)


def test_L27_literals_of_vectors_and_matrices():
    def of_list(a, b):
        xs = [a, b]
        return xs[0] * xs[1]

    assert wg.gradient(of_list, 2, 3) == (3.0, 2.0)
    assert wg.gradient(lambda a, b: np.prod(np.array([a, b])), 2, 3) == (3.0, 2.0)
    assert wg.gradient(lambda x: np.sum(np.array([[1, x], [3, 4]])), 2) == (1.0,)


def product_of(xs):
    s = 1
    for x in xs:
        s *= x
    return s


def test_L29_iteration():
    assert wg.gradient(product_of, [1, 2, 3]) == ([6.0, 3.0, 2.0],)
    assert wg.gradient(product_of, (1, 2, 3)) == ((6.0, 3.0, 2.0),)
    close(wg.gradient(product_of, np.array([1, 2, 3])), (np.array([6.0, 3.0, 2.0]),))


def test_L30_iterators():
    def powers(xs):
        return sum([x**i for i, x in enumerate(xs, 1)])

    def even_squares(xs):
        return sum(x**2 for x in filter(lambda x: x % 2 == 0, xs))

    def weighted(xs, ys):
        total = 0
        for a, b in zip(xs, ys):
            total += 13 * a + 17 * b
        return total

    def products(xs, ys):
        return sum(a**2 + 10 * b for a in xs for b in ys)

    assert wg.gradient(powers, [1, 2, 3, 4, 5]) == ([1.0, 4.0, 27.0, 256.0, 3125.0],)
    expected = [4.0, 0.0, 8.0, 0.0, 12.0, 0.0, 16.0, 0.0]
    assert wg.gradient(even_squares, list(range(2, 10))) == (expected,)
    left, right = wg.gradient(weighted, [0.5] * 4, (0.25, 0.5))
    assert left == [13.0, 13.0, 0.0, 0.0]
    assert right == (17.0, 17.0)
    found = wg.gradient(products, [3, 4, 5], [6, 7, 8])
    assert found == ([18.0, 24.0, 30.0], [30.0, 30.0, 30.0])


def test_L30_itertools():
    def products(xs, ys):
        return sum(a * b for a, b in itertools.product(xs, ys))

    def running(xs):
        return sum(itertools.accumulate(xs))

    def cut(xs):
        return sum(itertools.islice(itertools.chain(xs, xs), 3))

    assert right_or_refused(products, [3.0, 4.0], [1.0, 2.0, 3.0])
    assert right_or_refused(running, [1.0, 2.0, 3.0])
    assert right_or_refused(cut, [1.0, 2.0])


def right_or_refused(f, *args):
    """Whether a gradient is the oracle's or an error: the one thing it may not be is wrong."""
    try:
        found = wg.gradient(f, *args)
    except wg.WengertError:
        return True
    close(found, oracle.gradient(f, *args))
    return True


def announce(x):
    print(x, end=" ")
    return x


def test_L31_unused_comprehensions_run_once_and_in_order(capsys):
    def used(xs):
        return sum([announce(x) * x for x in xs])

    def unused(xs):
        [announce(x) * x for x in xs]
        return 0.0

    assert wg.gradient(used, [1.0, 2.0]) == ([2.0, 4.0],)
    assert capsys.readouterr().out == "1.0 2.0 "
    assert wg.gradient(unused, [1.0, 2.0]) == ([0.0, 0.0],)
    assert capsys.readouterr().out == "1.0 2.0 "
    assert wg.gradient(unused, []) == ([],)
    assert capsys.readouterr().out == ""


def test_L31_comprehensions_of_all_sorts():
    def nested(xs):
        return sum(x * y for i, x in enumerate(xs) for y in xs[i:] if i != 1)

    close(wg.gradient(nested, [1.0, 2.0, 3.0]), oracle.gradient(nested, [1.0, 2.0, 3.0]))
    assert wg.gradient(lambda x: sum({k: k * x for k in range(4)}.values()), 1.5) == (6.0,)


def test_L32_map():
    def with_lengths(xs):
        return sum(map(lambda a, b: a * b, xs, [1, 2, 3]))

    found = wg.gradient(with_lengths, [0.3, 0.1, 0.2, 0.9, 0.5])
    assert found == ([1.0, 2.0, 3.0, 0.0, 0.0],)


def test_L33_derivatives_map_in_parallel():
    slope = wg.grad(lambda x: math.sin(x) * product_of([x, x, 2.0]))
    points = [k / 7 for k in range(40)]
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(slope, points)) == list(map(slope, points))


def test_L34_sums_of_functions_and_folds():
    def with_closure(x, y):
        return sum(z**2 + y[0] for z in x)

    def folded(xs):
        return functools.reduce(lambda a, b: a * b + 1, xs)

    assert wg.gradient(with_closure, [1, 2, 3], [4, 5]) == ([2.0, 4.0, 6.0], [3.0, 0.0])
    assert wg.gradient(lambda xs: math.prod(xs), [2.0, 3.0, 4.0]) == ([12.0, 8.0, 6.0],)
    close(wg.gradient(folded, [2.0, 3.0, 4.0]), ([12.0, 8.0, 7.0],))
    (cumulative,) = wg.gradient(lambda x: np.sum(np.cumsum(x)), np.array([1.0, 2.0, 3.0]))
    assert cumulative.tolist() == [3.0, 2.0, 1.0]


def test_L35_broadcasting_gathers():
    (found,) = wg.gradient(lambda x: np.sum(np.array(x) + np.ones((2, 2))), (1, 2))
    assert found == (2.0, 2.0)
    assert wg.gradient(lambda x, m: np.sum(x * m), 2.0, np.ones((2, 3)))[0] == 6.0
    (kept,) = wg.gradient(lambda b: np.sum(b + np.ones((2, 3, 4))), np.ones((3, 1)))
    assert kept.tolist() == [[8.0]] * 3
    mask = np.array([True, False])
    (masked,) = wg.gradient(lambda x: np.sum(x * mask), np.array([1.0, 2.0]))
    assert masked.tolist() == [1.0, 0.0]


def test_L36_nested_derivatives():
    assert D(lambda x: D(math.sin)(x))(0.5) == -math.sin(0.5)
    assert D(D(math.sin))(1.0) == -math.sin(1.0)
    assert D(D(D(math.sin)))(1.0) == -math.cos(1.0)
    assert D(math.sin, order=3)(1.0) == -math.cos(1.0)


def test_L37_no_perturbation_confusion():
    assert D(lambda x: x * D(lambda y: x + y)(1))(1) == 1
    assert D(lambda x: x * D(lambda y: x * y)(1))(4) == 8
    assert D(lambda x: D(lambda y: x)(x))(1.0) == 0.0


class Mismatch(Exception):
    pass


def test_L40_exceptions_come_out_unchanged():
    def fails(x):
        y = x * 2
        raise Mismatch("fubar", y)

    with pytest.raises(Mismatch) as caught:
        wg.gradient(fails, 1.0)
    assert caught.value.args == ("fubar", 2.0)
    with pytest.raises(ZeroDivisionError):
        wg.gradient(lambda x: 1 / x, 0.0)


def test_L41_raise_on_the_other_path():
    def guarded(x):
        if x < 0:
            raise ValueError("foo")
        return x * 5

    assert wg.gradient(guarded, 2) == (5.0,)
    with pytest.raises(ValueError, match=r"^foo$"):
        wg.gradient(guarded, -2)


def test_L42_names_bound_on_one_path():
    def conditional(x, defined):
        if defined:
            y = 3.0 * x
        if defined:
            return y * 2
        return 42.0 * x

    assert wg.gradient(conditional, 1.0, True) == (6.0, None)
    assert wg.gradient(conditional, 1.0, False) == (42.0, None)


def test_L43_printing_and_logging(capsys, caplog):
    log = logging.getLogger("seed")

    def talkative(x):
        print("x:", x)
        log.warning("msg %s", x)
        log.info(f"{x=} {x**2:.1f}")
        return x**2

    with caplog.at_level(logging.INFO):
        assert wg.gradient(talkative, 2.0) == (4.0,)
    assert capsys.readouterr().out == "x: 2.0\n"
    assert [record.getMessage() for record in caplog.records] == ["msg 2.0", "x=2.0 4.0"]


class Base:
    @staticmethod
    def scale(x):
        return 2 * x


def traced(function):
    @functools.wraps(function)
    def wrapper(*args):
        return function(*args)

    return wrapper


@traced
def decorated(x):
    return 2 * x


def test_L45_indirect_calls():
    assert wg.gradient(lambda x: Base.scale(x), 5) == (2.0,)
    assert wg.gradient(decorated, 5) == (2.0,)
    (found,) = wg.gradient(lambda x: np.sum(np.where(x > 0, x, 3 * x)), np.array([2.0, -1.0]))
    assert found.tolist() == [1.0, 3.0]


def test_L46_swaps_and_rotations():
    def swapped(x):
        a, b = x, 2 * x
        for _ in range(3):
            a, b = b, a
        return a

    def rotated(x):
        a, b, c = x, 2 * x, 3 * x
        for _ in range(4):
            a, b, c = b, c, a
        return a

    assert wg.gradient(swapped, 1.0) == (2.0,)
    assert wg.gradient(rotated, 1.0) == (2.0,)


def converging(z):
    x = 1.0
    y = 1.0 + z
    while abs(x - y) > 1e-6:
        y, x = (x + y) / 2, y
    return y


def test_L47_convergence_loop():
    close(wg.gradient(converging, 1024.0), (2 / 3,), rel=1e-8)
    for z in (0.0, 2.0, -1e-5):
        close(wg.gradient(converging, z), oracle.gradient(converging, z))


def doubled_nine_times(x1):
    x2 = x1
    x3 = x1 + x2
    x4 = x1 + x2 + x3
    x5 = x1 + x2 + x3 + x4
    x6 = x1 + x2 + x3 + x4 + x5
    x7 = x1 + x2 + x3 + x4 + x5 + x6
    x8 = x1 + x2 + x3 + x4 + x5 + x6 + x7
    x9 = x1 + x2 + x3 + x4 + x5 + x6 + x7 + x8
    return x1 + x2 + x3 + x4 + x5 + x6 + x7 + x8 + x9


def accumulating_loss(x):
    return np.sum(np.abs(doubled_nine_times(x)) ** 2)


def test_L48_P11_every_use_counts_once():
    (found,) = wg.gradient(accumulating_loss, np.ones((10, 10)))
    assert (found == 131072.0).all()


def test_L48_accumulation_is_lean():
    gradient = wg.grad(accumulating_loss)
    x = np.ones((1000, 1000))
    gradient(x)
    tracemalloc.start()
    gradient(x)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 150e6


def test_L50_complex_numbers():
    assert wg.gradient(lambda c: c.real**2 + c.imag**2, 1 + 2j) == (2 + 4j,)
    close(wg.gradient(lambda c: abs(c) ** 2, 1 + 2j), (2 + 4j,))
    close(wg.gradient(lambda x: abs(x * x.real) ** 2, 4 + 5j), (456 + 160j,))
    assert wg.gradient(lambda z: z.real, 2 + 3j) == (1 + 0j,)
    assert wg.gradient(lambda z: z.real * z.imag, 2 + 3j) == (3 + 2j,)


def test_L51_real_stays_real():
    (found,) = wg.gradient(lambda x: np.imag(np.conj(x) + 0.3j), 0.3)
    assert found == 0.0
    assert isinstance(found, float)
    assert wg.gradient(lambda x: (x + 2.0j).real, 3.0) == (1.0,)
    assert wg.gradient(lambda x: (x + 2.0j).imag, 3.0) == (0.0,)
    close(wg.gradient(lambda x: np.imag(np.conj(x) + 0.3j), 0.3 + 0j), (-1j,))


def test_L52_kinds_of_numbers():
    assert wg.gradient(lambda a, b: a / b, 3, 2) == (0.5, -0.75)
    assert wg.gradient(poly, 1 / 4) == (3.5,)
    assert wg.gradient(poly, Fraction(1, 4)) == (Fraction(7, 2),)
    assert wg.gradient(poly, Decimal("0.25")) == (Decimal("3.5"),)
    assert wg.gradient(lambda x: x * Fraction(1, 2), 3.0) == (0.5,)
    assert wg.gradient(lambda x: float(x), 3) == (1.0,)
    for number in (np.int32(3), np.uint16(3), np.float32(3), np.float64(3)):
        assert wg.gradient(lambda x: float(x) * 2, number) == (2.0,)


# P: published examples


def test_P1_tangent_polynomial_and_sine_of_a_square():
    assert D(math.tan)(ANGLE) == 1.3333333333333333
    assert D(poly)(1.0) == 8.0
    close(D(lambda x: math.sin(x**2))(ANGLE), 2 * ANGLE * math.cos(ANGLE**2))


def test_P2_the_functions_of_the_dual_number_article():
    def f(x):
        return x * x + math.sin(x)

    def g(a, b):
        return a * b + math.sin(b)

    assert D(f)(0) == 1.0
    assert D(f)(math.pi) == 5.283185307179586
    assert wg.gradient(g, 0.0, 0.0) == (0.0, 1.0)
    _, push = wg.pushforward(g, 0.0, 0.0)
    assert (push(1.0, None), push(None, 1.0)) == (0.0, 1.0)


def ratio(a, b):
    return a / (a + b * b)


def test_P3_ratio():
    y, back = wg.pullback(ratio, 2.1, 3.2)
    close(y, 0.17017828200972446)
    close(back(1.0), (0.06724649254378245, -0.08826102146371445))


def test_P3_ratio_mapped():
    y, back = wg.pullback(lambda a, b: list(map(ratio, a, b)), [2.1, 4.0], [3.2, 5.0])
    assert y == [ratio(2.1, 3.2), ratio(4.0, 5.0)]
    expected = (
        [0.06724649254378245, 0.029726516052318668],
        [
            -0.08826102146371445,
            -0.047562425683709865,
        ],
    )
    close(back([1.0, 1.0]), expected)


def test_P4_derivatives_of_derivatives():
    def f(a, b):
        return (a - b) * a

    fa = wg.grad(f, argnums=0)
    assert (f(2.0, 3.0), fa(2.0, 3.0)) == (-2.0, 1.0)
    assert wg.grad(fa, argnums=1)(2.0, 3.0) == -1.0
    faa = wg.grad(fa, argnums=0)
    assert faa(2.0, 3.0) == 2.0
    assert wg.grad(faa, argnums=0)(2.0, 3.0) == 0.0
    assert (f(5.0, 3.0), fa(5.0, 3.0)) == (10.0, 7.0)


@pytest.mark.parametrize("implementation", [power, power_by_recursion])
def test_P5_powers(implementation):
    assert wg.gradient(implementation, 2.0, 3) == (12.0, 0.0)


def test_P5_small_language_tests():
    def relu(x):
        return max(0, x)

    def keyword(a, b):
        return (lambda *, a=1, b: a * b)(a=a, b=b)

    def through_lambda(x, y):
        g = lambda z: x * z
        return g(y)

    assert wg.gradient(relu, 3.0) == (1.0,)
    assert wg.gradient(keyword, 2.0, 3.0) == (3.0, 2.0)
    assert wg.gradient(through_lambda, 2.0, 3.0) == (3.0, 2.0)
    y, back = wg.pullback(lambda a, b: a * b, 2, 3)
    assert (y, back(4.0)) == (6, (12.0, 8.0))
    y, back = wg.pullback(lambda x: np.sum(x * x), np.array([1, 2, 3]))
    assert (y, back(1.0)[0].tolist()) == (14, [2.0, 4.0, 6.0])


def test_P6_nested_derivatives():
    assert D(math.sin, order=2)(1.0) == -math.sin(1.0)
    assert D(math.sin, order=3)(1.0) == -math.cos(1.0)
    assert D(lambda x: x * D(lambda y: x + y)(1))(1.0) == 1.0
    assert D(lambda x: x * D(lambda y: x * y)(1))(4.0) == 8.0


def test_P7_convergence_loop():
    close(D(converging)(1024.0), 2 / 3, rel=1e-8)


def with_rate(t):
    r = 5.0
    return np.sum(np.exp(-t * r))


def with_literal(t):
    return np.sum(np.exp(-t * 5))


def with_three_factors(t):
    r = 1.0
    return np.sum(np.exp(-t * r * 5))


def with_four_factors(t):
    r = -0.5
    return np.sum(np.exp(t * r * 5 * 2))


@pytest.mark.parametrize("f", [with_rate, with_literal, with_three_factors, with_four_factors])
def test_P8_four_spellings(f):
    (found,) = wg.gradient(f, np.array([1.0, 0.2]))
    close(found, np.array([-0.03368973499542734, -1.8393972058572117]))


I = 1j
COMPLEX_FAMILIES = {
    "real": lambda z: np.real(z),
    "imag": lambda z: np.imag(z),
    "abs": lambda z: abs(z),
    "abs2": lambda z: z.real**2 + z.imag**2,
    "abs * cos(angle)": lambda z: abs(z) * np.cos(np.angle(z)),
    "abs(cos(exp))": lambda z: abs(np.cos(np.exp(z))),
    "cubes": lambda z: 3 * np.real(z) ** 3 - 2 * np.imag(z) ** 5,
    "cos": lambda z: np.cos(z),
    "exp": lambda z: np.exp(z),
    "log": lambda z: np.log(z),
    "square": lambda z: z**2,
    "square of parts": lambda z: (np.real(z) + I * np.imag(z)) ** 2,
    "parts of square": lambda z: np.real(z) ** 2 - np.imag(z) ** 2 + 2j * (np.real(z) * np.imag(z)),
    "exp(cos(log))": lambda z: np.exp(np.cos(np.log(z))),
    "polar": lambda z: abs(z) * np.exp(I * np.angle(z)),
    "conj": lambda z: np.conj(z),
    "abs + 0i": lambda z: abs(z) + 0j,
    "i abs": lambda z: I * abs(z),
    "abs2 + 0i": lambda z: abs(z) ** 2 + 0j,
    "i abs2": lambda z: I * abs(z) ** 2,
    "z'z": lambda z: np.conj(z) * z,
    "conj(z) z^2": lambda z: z.conjugate() * z**2,
    "mixed": lambda z: np.imag(z) ** 2 + np.real(np.sin(z)) ** 3 * 1j,
}


@pytest.mark.parametrize("z", [1.0 + 2.0j, -2.0 + math.pi * 1j])
@pytest.mark.parametrize("name", COMPLEX_FAMILIES)
def test_P13_complex_families(name, z):
    f = COMPLEX_FAMILIES[name]
    real, imaginary = (lambda z: np.real(f(z))), (lambda z: np.imag(f(z)))
    for part in (real, imaginary):
        expected = oracle.gradient(part, z)
        close(wg.gradient(part, z), expected, rel=1e-13)
        _, push = wg.pushforward(part, z)
        slope = oracle.directional(part, (z,), (0.3 - 0.7j,))
        close(push(0.3 - 0.7j), slope, rel=1e-13)


def evaluated(weights, x):
    value = 0.0
    for w in reversed(weights):
        value = value * x + w
    return value


def mean_square(ys, targets):
    return sum((y - t) ** 2 for y, t in zip(ys, targets)) / len(ys)


WEIGHTS, XS, TARGETS = [3.0, 2.0, -3.0, 1.0], [1.0, 2.0, 3.0, 4.0], [2.0, 1.0, 3.0, 15.0]


def test_P19_a_model_mapped():
    y, back = wg.pullback(lambda w, xs: [evaluated(w, x) for x in xs], WEIGHTS, XS)
    assert y == [3.0, 3.0, 9.0, 27.0]
    weights_bar, xs_bar = back([1.0] * 4)
    assert weights_bar == [4.0, 10.0, 30.0, 100.0]
    assert xs_bar == [-1.0, 2.0, 11.0, 26.0]


def test_P19_a_model_mapped_and_measured():
    def loss(weights, xs, targets):
        return mean_square(list(map(lambda x: evaluated(weights, x), xs)), targets)

    value, found = wg.value_and_grad(loss, argnums=(0, 1, 2))(WEIGHTS, XS, TARGETS)
    assert value == 46.25
    weights_bar, xs_bar, targets_bar = found
    assert xs_bar == [-0.5, 2.0, 33.0, 156.0]
    assert targets_bar == [-0.5, -1.0, -3.0, -6.0]
    assert weights_bar == [10.5, 35.5, 127.5, 473.5]


A = np.array([[4.4, 6.9, 6.2, 8.4], [9.2, 7.4, 8.0, 0.3], [0.6, 0.4, 0.5, 0.7]])
X = np.array([[1.1, 6.5], [3.7, 8.5], [9.8, 6.6], [6.1, 2.4]])


def test_P20_matrix_product():
    y, back = wg.pullback(lambda a, x: a @ x, A, X)
    close(y, np.array([[142.37, 148.33], [117.73, 176.22], [11.31, 12.28]]), rel=1e-14)
    delta = np.array([[5.6, 5.3], [2.8, 6.9], [8.9, 1.0]])
    close(back(delta), (delta @ X.T, A.T @ delta))


def test_P20_dense_layer_with_broadcast_bias():
    bias = np.array([[10.0], [20.0], [30.0]])
    y, back = wg.pullback(lambda x, w, b: w @ x + b, X, A, bias)
    close(y[0], np.array([152.37, 158.33]), rel=1e-14)
    delta = np.array([[10.0, 11.0], [20.0, 21.0], [30.0, 31.0]])
    close(back(delta), (A.T @ delta, delta @ X.T, np.array([[21.0], [41.0], [61.0]])))
    _, back = wg.pullback(lambda a, b: a + b, A, bias)
    wide = np.arange(10.0, 14.0) + np.array([[0.0], [10.0], [20.0]])
    close(back(wide), (wide, np.array([[46.0], [86.0], [126.0]])))
