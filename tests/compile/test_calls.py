"""Calling a derivative is quick, and still notices everything that it relies on."""

import copy
import inspect
import math
import operator
import pickle
import posixpath
import runpy
import statistics
import struct
import subprocess
import sys
from typing import NamedTuple

import numpy as np
import pytest

import wengert as wg
from wengert.errors import BadArgument
from wengert.frontend.boundary.signature import kind_of
from wengert.ir.types import FLOAT, INT, Seq, Struct

SCALE = 2


def scaled(x):
    return SCALE * x


def sin_of_cos(x):
    return math.sin(math.cos(x))


def weighted(x, y):
    return np.sum(x * y)


def square(x):
    return x * x


def test_a_global_may_change_between_calls(monkeypatch):
    slope = wg.grad(scaled)
    for value in (2, 2, 2, 3, 2.5, True, np.float64(4.0), 2):
        monkeypatch.setitem(globals(), "SCALE", value)
        assert slope(1.0) == value


def test_what_is_captured_may_change_between_calls():
    factor, function = 2.0, square

    def f(x):
        return factor * function(x)

    slope = wg.grad(f)
    assert [slope(1.0) for _ in range(4)] == [4.0] * 4
    for factor in (3.0, 3, np.array(3.0), 4):
        assert slope(1.0) == 2 * factor
    function = math.sin
    assert slope(1.0) == pytest.approx(4 * math.cos(1.0))
    function = lambda x: 5 * x
    assert slope(1.0) == 20.0
    function.__code__ = square.__code__
    assert slope(1.0) == 8.0


def test_new_code_in_the_same_function_is_noticed():
    def f(x):
        return x * 3

    slope = wg.grad(f)
    assert [slope(1.0) for _ in range(3)] == [3.0] * 3
    f.__code__ = square.__code__
    assert slope(1.0) == 2.0


def test_each_dtype_and_rank_has_its_own_derivative():
    slope = wg.grad(weighted)
    for _ in range(4):
        assert slope(1.0, 2.0) == 2.0
        for dtype, of_gradient in (
            (np.float64, np.float64),
            (np.float32, np.float32),
            (int, float),
        ):
            found = slope(np.ones(3, dtype), 2.0)
            assert found.tolist() == [2.0] * 3
            assert found.dtype == of_gradient
        assert slope(np.ones((2, 2)), np.ones(2)).tolist() == [[1.0, 1.0]] * 2


def test_a_specialised_function_is_as_good_as_the_derivative():
    gradient = wg.grad(sin_of_cos)
    special = gradient.specialize(1.0)
    assert special(0.7) == gradient(0.7)
    assert str(inspect.signature(special)) == "(x)"
    assert "def grad_sin_of_cos(x):" in inspect.getsource(special)
    assert special.source.endswith(inspect.getsource(special))
    assert special.specialize(np.ones(()))(0.7) == gradient(0.7)
    for same in (copy.copy(special), copy.deepcopy(special), pickle.loads(pickle.dumps(special))):
        assert same(0.7) == gradient(0.7)
        assert same.source == special.source
    assert wg.grad(special)(0.7) == wg.grad(gradient)(0.7)
    assert wg.derivative(lambda x: special(x) * x)(0.7) == wg.derivative(lambda x: gradient(x) * x)(
        0.7
    )


def by_method(x, method, flow=math.sin, limit=None):
    y = flow(x) if method == "flow" else x * x
    return 2 * y if limit is None else min(y, limit)


@pytest.mark.parametrize(
    ("other", "name"),
    [
        ((1.0, "square", math.sin, None), "method"),
        ((1.0, "flow", math.cos, None), "flow"),
        ((1.0, "flow", lambda x: x, None), "flow"),
        ((1.0, "flow", math.sin, 0.5), "limit"),
    ],
)
def test_a_specialised_function_is_for_what_decided_its_code(other, name, tmp_path):
    """What selects code is known by value, so that its code is not there for another value."""
    args = (1.0, "flow", math.sin, None)
    special = wg.grad(by_method).specialize(*args)
    assert special(*args) == 2 * math.cos(1.0)
    with pytest.raises(BadArgument, match=rf"was made for another `{name}`"):
        special(*other)
    saved = runpy.run_path(str(special.save(tmp_path / "saved.py")))["grad_by_method"]
    assert saved(*args) == special(*args)
    with pytest.raises(ValueError, match=rf"was derived for `{name}` being"):
        saved(*other)


def test_a_specialised_function_is_for_containers_of_its_lengths_and_classes():
    special = wg.grad(lambda xs: sum(xs) ** 2).specialize([1.0, 2.0])
    assert special([3, 1.0]) == [8.0, 8.0]
    with pytest.raises(BadArgument, match=r"was made for another `xs`"):
        special([1.0, 2.0, 3.0])


def test_specialised_functions_keep_what_was_captured():
    specials = [wg.grad(lambda x, k=k: x * x, 0).specialize(1.0) for k in (1.0,)]
    specials += [wg.grad(power_law(k)).specialize(1.0) for k in (2.0, 3.0)]
    assert [special(1.0) for special in specials] == [2.0, 2.0, 3.0]


def power_law(k):
    return lambda x: x**k


def test_a_library_function_that_cannot_be_read_is_tried_anew_in_every_iteration():
    """What was left of the first try used to pass for a recursion without a base case."""

    def f(x):
        total = 0.0
        for k in range(3):
            kept = np.setdiff1d(np.arange(4), np.arange(k))
            total += np.mean(x[kept] ** 2)
        return total

    x = np.array([0.5, 1.2, 0.7, 2.1])
    assert wg.value_and_grad(f)(x)[0] == f(x)
    wg.testing.check_gradient(f, x)


def seen_as_complex(a):
    return a.view(np.complex128).real.sum()


def test_a_built_in_method_does_not_hide_its_array_from_source_that_stands_alone():
    namespace = {}
    exec(wg.grad(seen_as_complex).source, namespace)
    with pytest.raises(
        wg.errors.NoRule, match="the method `view` of ndarray has no derivative rule"
    ):
        namespace["grad_seen_as_complex"](np.arange(4.0))


def test_an_equivalent_of_numpy_writes_to_out_and_a_view_is_one():
    def f(x):
        y = x.copy()
        same = y.view()
        same[0] = x[1] ** 2
        np.maximum.accumulate(y, out=y)
        return np.sum(y * x)

    x = np.array([0.5, 1.2, 0.7, 2.1])
    wg.testing.check_gradient(f, x)


def test_a_product_of_an_array_that_changes():
    def f(x):
        y = x.copy()
        y[...] = y * 2
        return math.prod(y)

    wg.testing.check_gradient(f, np.array([0.5, 1.2, 0.7, 2.1]))


# --- a sequence of any length, over parameters with defaults ------------------------------------


def _scaled(a, b=2.0, c=3.0):
    return a * b + c


def all_from_a_sequence(g):
    return _scaled(*g)


def the_last_by_name(g):
    return _scaled(*g[:2], c=g[0])


def the_first_by_itself(g):
    return _scaled(g[0], *g[1:])


@pytest.mark.parametrize("f", [all_from_a_sequence, the_last_by_name, the_first_by_itself])
def test_what_a_sequence_lacks_has_defaults(f):
    for g in ([3.0], [3.0, 4.0], [3.0, 4.0, 5.0]):
        expected = wg.grad(f)(g)
        namespace = {}
        exec(wg.grad(f).specialize(g).source, namespace)
        assert namespace[f"grad_{f.__name__}"](g) == expected
        np.testing.assert_allclose(wg.grad(f)(np.array(g)), expected)


def test_a_sequence_that_is_too_long_is_no_call():
    for g in ([1.0] * 4, np.ones(4)):
        with pytest.raises(
            TypeError, match="takes from 1 to 3 positional arguments but 4 were given"
        ):
            wg.grad(all_from_a_sequence)(g)


class NoFunction:
    def __init__(self, x):
        self.x = x


def calls_a_truth_value_on_no_path(x, rounds):
    again = True
    for k in range(rounds):
        x = x * x
        if k > 90:
            x = again(x)
    return x


def calls_an_object(x):
    return NoFunction(x)(x)


def calls_a_list(x):
    call = [x]
    return call(x)


def catches_a_call(x):
    try:
        return NoFunction(x)(x)
    except TypeError as error:
        return x * len(str(error))


def test_what_is_no_function_raises_where_it_is_called():
    assert wg.grad(calls_a_truth_value_on_no_path)(3.0, 2) == 4 * 3.0**3
    assert wg.grad(catches_a_call)(3.0) == len("'NoFunction' object is not callable")
    for f, kind in ((calls_an_object, "NoFunction"), (calls_a_list, "list")):
        for call in (f, wg.grad(f)):
            with pytest.raises(TypeError, match=rf"^'{kind}' object is not callable"):
                call(2.0)


def with_paths(x, name):
    return x * len(posixpath.join("a", name)) * posixpath.normpath("b/../c").count("c")


def test_functions_of_paths_are_called_as_they_are():
    assert wg.gradient(with_paths, 2.0, "b") == (3.0, None)


def asks_what_a_function_takes(x):
    taken = inspect.signature(_scaled).parameters
    factors = [2.0 for name in taken if name in ("a", "c")]
    return x * len(factors) if "b" in taken else x


def asks_what_its_own_function_takes(x):
    def own(y):
        return y

    return x * len(inspect.signature(own).parameters)


def test_signatures_of_known_functions_are_known():
    assert wg.grad(asks_what_a_function_takes)(3.0) == 2.0
    assert wg.grad(asks_what_its_own_function_takes)(3.0) == 1.0


def fields_of_what_python_says_of_itself(x):
    return math.log(sys.float_info.max) * x + sys.float_info.epsilon * x


def says_what_it_is(x):
    def inner(y):
        """Twice."""
        return 2 * y

    names = (inner.__doc__, inner.__name__, inner.__qualname__.split(".")[0], inner.__module__)
    return inner(x) * (names == ("Twice.", "inner", "says_what_it_is", __name__))


def test_what_is_known_of_python_and_of_functions():
    log = math.log(sys.float_info.max)
    assert wg.grad(fields_of_what_python_says_of_itself)(2.0) == pytest.approx(log)
    assert wg.value_and_grad(says_what_it_is)(3.0) == (6.0, 2.0)


def test_a_distribution_of_samples():
    def below(numbers, limit):
        return statistics.NormalDist.from_samples(numbers).cdf(limit)

    wg.testing.check_gradient(below, [1.0, 2.0, 4.0, 8.0], 3.0)


def with_bytes(x, n):
    packed = struct.pack(">i", n)
    return x * struct.unpack(">i", packed)[0]


def test_functions_may_have_names_of_ops():
    assert wg.grad(with_bytes)(2.0, 3) == 3.0


SECOND, SLOPE, TOTAL = (
    operator.itemgetter(1),
    operator.attrgetter("slope"),
    operator.methodcaller("sum", axis=0),
)


class Sloping:
    def __init__(self, slope):
        self.slope = slope


def test_getters_and_callers_made_outside():
    assert wg.grad(SECOND)([1.0, 2.0]) == [0.0, 1.0]
    assert wg.grad(lambda xs: sum(map(SECOND, xs)))([(1.0, 2.0)]) == [(0.0, 1.0)]
    assert wg.grad(lambda line: SLOPE(line) ** 2)(Sloping(2.0)).slope == 4.0
    np.testing.assert_array_equal(
        wg.grad(lambda x: TOTAL(x) @ TOTAL(x))(np.eye(2)), 2 * np.ones((2, 2))
    )


def with_defaults(a, b=2.0, c=3.0, d=5.0):
    return a + 10 * b + 100 * c**2 + d * a


STARS = [
    lambda x, xs: with_defaults(*xs, x),
    lambda x, xs: with_defaults(x, *xs, 2 * x),
    lambda x, xs: with_defaults(*xs, x, 2 * x),
    lambda x, xs: with_defaults(x, *xs),
]


@pytest.mark.parametrize("count", range(5))
@pytest.mark.parametrize("f", STARS)
def test_a_sequence_of_any_length_among_arguments_that_may_be_left_away(f, count):
    xs = [0.5, 0.7, 0.2, 0.9][:count]
    try:
        slope = (f(1.3 + 1e-6, xs) - f(1.3 - 1e-6, xs)) / 2e-6
    except TypeError:
        with pytest.raises(TypeError):
            wg.grad(f)(1.3, xs)
    else:
        assert wg.grad(f)(1.3, xs) == pytest.approx(slope, rel=1e-6)


LATE = """
import wengert
from wengert.rules import registry
assert "wengert.api.many_parts" not in sys.modules
before = registry.generation()
import wengert.api.many_parts
assert registry.generation() == before
"""


def test_rules_that_wengert_loads_late_leave_what_was_derived_in_force():
    done = subprocess.run(
        [sys.executable, "-c", f"import sys\n{LATE}"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


class Point(NamedTuple):
    x: float
    y: float


ROWS = [
    ([np.float64(0.5), 2.0, np.float32(1.0)], FLOAT),
    ([1, np.int32(2)], INT),
    ([Point(1.0, 2.0), Point(np.float64(3.0), 4.0)], Struct("namedtuple", ("x", "y"), (FLOAT, FLOAT), Point)),
    ([{"a": 1.0}, {"a": 2.5}], Struct("dict", ("a",), (FLOAT,))),
    ([[1.0, 2], [3.0, 4]], Struct("list", (0, 1), (FLOAT, INT))),
]  # fmt: skip


@pytest.mark.parametrize(("items", "kind"), ROWS)
def test_the_kind_of_many_items_is_found_column_by_column(items, kind):
    assert kind_of(items * 10) == Seq(kind)
    assert {kind_of(item) for item in items} == {kind}
    other = [*items * 9, None]
    assert kind_of(other) == Struct("list", tuple(range(len(other))), tuple(map(kind_of, other)))
    mixed = [*[(1.0, 2.0)] * 9, (1, 2.0)]
    assert kind_of(mixed) == Struct("list", tuple(range(10)), tuple(map(kind_of, mixed)))
