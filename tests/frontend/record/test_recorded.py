"""Recording a run: what the program sees of boxes, what it leaves, what is refused."""

# ruff: noqa: UP031 — programs under test are written as users write them

import copy
import gc
import json
import logging
import math
import pickle
import random
import struct
import types
import warnings
from array import array
from collections import Counter, OrderedDict, deque
from collections.abc import Iterable, Sized
from datetime import timedelta
from decimal import Decimal
from fractions import Fraction
from numbers import Real
from typing import NamedTuple

import numpy as np
import pytest
import test_random_arrays as random_arrays
from differences import slope

import wengert as wg
from wengert.compile import engine, recorded
from wengert.errors import BadArgument, LostDerivative, UnsupportedSyntax, WengertError

RECORDED = {"tier": "recorded"}
KEPT = {"calls": 0, "last": None}
TABLE = {"square": lambda x: x * x, "sine": math.sin}


class Layer:
    made = 0

    def __init__(self, w):
        Layer.made += 1
        self.w = w
        self.seen = []

    def __call__(self, x):
        self.seen.append(x)
        return math.tanh(self.w * x)


class Deep(Layer):
    def __call__(self, x):
        return super().__call__(super().__call__(x))


def classes(w, x):
    layers = [Layer(w), Deep(w * 0.5)]
    for layer in layers:
        x = layer(x)
    assert all(type(layer.seen[0]) is float for layer in layers)
    assert isinstance(layers[1], Layer)
    return x * TABLE["sine"](w)


def test_classes_and_what_they_count():
    made = Layer.made
    assert wg.grad(classes, (0, 1), **RECORDED)(0.4, 1.5) == pytest.approx(
        wg.grad(classes, (0, 1), tier="static")(0.4, 1.5)
    )
    assert Layer.made == made + 4


def keeps(x):
    KEPT["calls"] += 1
    KEPT["last"] = x * 2.0
    return KEPT["last"] ** 2


def test_no_box_is_left_in_globals():
    KEPT.update(calls=0, last=None)
    assert wg.grad(keeps, **RECORDED)(3.0) == 24.0
    assert KEPT == {"calls": 1, "last": 6.0}
    assert type(KEPT["last"]) is float


SEEN = {}
LAST = []


class Named:
    value = None


def keeps_its_argument(x):
    SEEN["x"] = x
    return x * x


def keeps_its_result(x):
    SEEN["y"] = y = x * 2.0
    return y


def keeps_some_of_its_results(x):
    LAST.append(x * x)
    return [LAST[-1], (x, {"y": LAST[0]})]


def keeps_it_in_a_class(x):
    Named.value = x
    return x


def keeps_an_array(x):
    SEEN["a"] = a = np.array([x, 1.0])
    LAST.append(a)
    return a[0] * SEEN["a"]


def raises_after_that(x):
    SEEN["x"] = x
    LAST.append([x * x])
    return LAST[0][0][0]  # which raises


@pytest.mark.parametrize(
    "f",
    [
        keeps_its_argument, keeps_its_result, keeps_some_of_its_results, keeps_it_in_a_class, keeps_an_array,
        raises_after_that,
    ],
)  # fmt: skip
def test_what_is_an_argument_or_a_result_as_well_is_left_plain(f):
    def left_by(call):
        SEEN.clear()
        LAST.clear()
        Named.value = None
        try:
            call()
        except TypeError as error:
            assert f is raises_after_that, error  # noqa: PT017
        return repr([SEEN, LAST, Named.value]), [
            type(x) for x in (*SEEN.values(), *LAST, Named.value)
        ]

    expected = left_by(lambda: f(3.0))
    assert left_by(lambda: recorded.pullback(f, (3.0,), {})) == expected
    assert left_by(lambda: recorded.pushforward(f, (3.0,), {})) == expected


def test_arguments_are_left_as_plain_python_leaves_them():
    def program(state, x):
        state["history"].append(x * 2.0)
        state["a"][1:] *= x
        state["self"] = state["history"]
        return state["a"].sum() + state["history"][0]

    state = {"history": [], "a": np.array([1.0, 2.0, 3.0])}
    history, array = state["history"], state["a"]
    assert wg.grad(program, 1, **RECORDED)(state, 2.0) == 7.0
    assert state["history"] is history is state["self"]
    assert state["a"] is array
    assert history == [4.0]
    assert type(history[0]) is float
    np.testing.assert_array_equal(array, [1.0, 4.0, 6.0])


def test_an_exception_passes_through():
    kept = []

    def program(x):
        kept.append(x)
        raise KeyError("here", x)

    with pytest.raises(KeyError) as caught:
        wg.grad(program, **RECORDED)(1.5)
    assert caught.value.args == ("here", 1.5)
    assert type(caught.value.args[1]) is float
    assert kept == [1.5]
    assert type(kept[0]) is float


def transparent(x):
    assert type(x) is float
    assert isinstance(x, float)
    assert f"{x:.2f} {x}" == "0.50 0.5"
    assert {x: 1}[0.5] == 1
    assert copy.deepcopy([x])[0] == x
    assert not hasattr(x, "value_of")
    match x:
        case float(y):
            return y * y
    raise AssertionError


def test_a_box_answers_as_its_number():
    assert wg.grad(transparent, **RECORDED)(0.5) == 1.0


def test_what_leaves_the_boxes_is_refused_with_its_line():
    buffer = array("d")

    def program(x):
        buffer.append(x)
        return x

    with pytest.raises(LostDerivative, match=r"buffer\.append\(x\)"):
        wg.grad(program, **RECORDED)(1.5)


def test_levels_are_kept_apart():
    def program(x):
        return x * wg.grad(lambda y: x + y * y * y, **RECORDED)(2.0)

    assert wg.grad(program, **RECORDED)(1.0) == 12.0
    assert wg.grad(lambda x: x * wg.derivative(lambda y: x + y)(1.0), **RECORDED)(1.0) == 1.0


def test_a_pullback_is_called_again_and_keeps_what_it_needs():
    x = np.array([1.0, 2.0])
    y, back = recorded.pullback(lambda x: [x * x, np.sum(x)], (x,), {})
    x[:] = 0.0
    for _ in range(2):
        np.testing.assert_array_equal(back([np.array([1.0, 1.0]), 2.0])[0], [4.0, 6.0])
    np.testing.assert_array_equal(y[0], [1.0, 4.0])


def test_long_tapes_are_linear():
    def steps(x):
        total = 0.0
        for _ in range(20_000):
            x = x - 0.001 * x * x
            total += x
        return total

    assert math.isfinite(wg.grad(steps, **RECORDED)(1.0))


def test_tiers_are_named():
    with pytest.raises(BadArgument, match="'static' or 'recorded'"):
        wg.grad(math.sin, tier="fast")


@pytest.fixture
def recording(monkeypatch):
    """The checks of random programs, by recording."""
    for name in ("grad", "value_and_grad"):
        own = getattr(wg, name)
        monkeypatch.setattr(wg, name, lambda f, k, own=own: own(f, k, **RECORDED))
    monkeypatch.setattr(wg, "pushforward", lambda f, *args: recorded.pushforward(f, args, {}))
    monkeypatch.setattr(random_arrays.Check, "is_saved", lambda self, folder, number: True)


def test_random_programs(recording, tmp_path):
    warnings.simplefilter("ignore")
    counts, wrong = Counter(), []
    for number in range(40):
        how, _, text = random_arrays.examined(number, tmp_path)
        counts[how] += 1
        wrong += [text] if how == "wrong" else []
    assert not wrong, "\n".join(wrong)
    assert counts["refused"] <= 2


def test_second_derivatives_along_lists():
    def row(a, b):
        whole = np.zeros((2, 3))
        whole[0] = -a, a * b, 0.0
        whole[1] += [0.0, b, a]
        return np.sum(whole**3)

    def distances(a, b):
        return math.dist((a, b), (0.3, 1.0)) + math.hypot(a, b)

    for f in (row, distances):
        expected = wg.hvp(f)(0.7, 0.4, 1.0)
        assert wg.hvp(f, **RECORDED)(0.7, 0.4, 1.0) == pytest.approx(expected, rel=1e-12)


def test_explain_of_what_is_compiled():
    square, cube = wg.jit(wg.grad(lambda x: x * x)), wg.jit(wg.grad(by_eval))
    assert square.explain(2.0) == square.explain() == "(x: float) native"
    told = cube.explain(2.0)
    assert told.startswith("(x: float) [WG101] `eval()` cannot be read before it runs")
    assert "\n\nThe Python form: (x: float) recorded: each call runs the program once" in told


def test_views_of_what_is_given_a_derivative_later():
    def program(x, a):
        windows = np.lib.stride_tricks.sliding_window_view(x=a, window_shape=2)
        a[1] = x
        return np.sum(windows**2)

    a = np.array([2.0, 1.0, 3.0])
    assert wg.grad(program, **RECORDED)(0.7, a.copy()) == pytest.approx(2.8)
    assert wg.hvp(program, **RECORDED)(0.7, a.copy(), 1.0) == pytest.approx(4.0)


def test_dictionaries_of_the_standard_library_are_left_as_the_program_leaves_them():
    def program(x, counts, ordered):
        ordered["b"] = x * ordered.pop("a")
        ordered.move_to_end("c")
        return ordered["b"] * counts["a"]

    counts, ordered = Counter("abaa"), OrderedDict(a=2.0, c=3.0)
    assert wg.grad(program, **RECORDED)(2.0, counts, ordered) == 6.0
    assert counts == Counter("abaa")
    assert list(ordered.items()) == [("b", 4.0), ("c", 3.0)]
    counts, ordered = Counter("abaa"), OrderedDict(a=2.0, c=3.0)
    slope = wg.grad(program, (0, 1, 2), **RECORDED)(2.0, counts, ordered)
    assert (slope[0], list(ordered.items())) == (6.0, [("b", 4.0), ("c", 3.0)])


def test_deques_are_followed():
    def program(x, waiting):
        waiting.append(x * waiting.popleft())
        return sum(waiting) * x

    waiting = deque([2.0, 3.0], maxlen=2)
    assert wg.gradient(program, 1.5, deque(waiting))[0] == 9.0
    assert wg.grad(program, **RECORDED)(1.5, waiting) == 9.0
    assert waiting == deque([3.0, 3.0])
    assert wg.grad(program, 1, **RECORDED)(1.5, deque([2.0, 3.0])) == [2.25, 1.5]


def test_conversions_iterators_and_elementwise_functions():
    x = np.array([0.3, 1.2, -0.7])

    def program(x):
        single = np.sum(x.astype(np.float32) ** 2)
        squares = np.fromiter((v * v for v in x), float).sum()
        chosen = np.vectorize(lambda v: v * v if v > 0 else -v)(x).sum()
        return float(single) + 3.0 * squares + chosen

    expected = 8 * x + np.where(x > 0, 2 * x, -1.0)
    assert wg.grad(program, **RECORDED)(x) == pytest.approx(expected, rel=1e-6)


def test_another_shape_in_place():
    def program(x):
        y = x * x
        same = y
        total = y.sum()
        y.shape = (1, 2)
        y[0, 0] *= x[1]
        return total * same[0, 1] + same[0, 0]

    x = np.array([2.0, 3.0])
    np.testing.assert_allclose(wg.grad(program, **RECORDED)(x), [36.0 + 12.0, 132.0 + 4.0])
    np.testing.assert_allclose(
        wg.hessian(program, **RECORDED)(x), [[18.0 + 6.0, 24.0 + 4.0], [24.0 + 4.0, 116.0]]
    )


def test_another_shape_of_what_was_given_is_refused():
    def program(x):
        x.shape = (1, 2)
        return x[0, 1]

    x = np.array([2.0, 3.0])
    with pytest.raises(UnsupportedSyntax, match="given another shape in place"):
        wg.grad(program, **RECORDED)(x)
    assert x.shape == (2,)


def test_arrays_that_may_not_be_written():
    def program(x):
        y = 2.0 * x
        y.setflags(write=False)
        try:
            y[0] = 0.0
        except ValueError:
            return np.sum(y * y)

    np.testing.assert_allclose(wg.grad(program, **RECORDED)(np.array([2.0, 3.0])), [16.0, 24.0])


def test_layouts_of_copies():
    def program(a, b):
        flat = a.T.reshape(-1)
        flat[0] = b * b
        return np.sum(a * a) * b

    a = np.asfortranarray([[0.5, 2.0], [3.0, 0.7]])
    for mode in ("forward", "reverse"):
        found = wg.jacobian(program, (0, 1), mode=mode, **RECORDED)(a.copy("K"), 1.3)
        expected = wg.jacobian(program, (0, 1), mode=mode, tier="static")(a.copy("K"), 1.3)
        np.testing.assert_allclose(found[0], expected[0])
        assert found[1] == pytest.approx(expected[1])


def test_an_array_of_integers_takes_no_floats():
    def program(x):
        counts = np.zeros(2, dtype=int)
        counts += x
        return np.sum(counts * x)

    with pytest.raises(TypeError, match="Cannot cast ufunc 'add' output"):
        wg.grad(program, **RECORDED)(2.5)


def by_eval(x):
    return eval("x * x * x", {"x": x})


def test_what_reading_refuses_is_recorded():
    assert wg.grad(by_eval)(2.0) == 12.0
    assert wg.hessian(lambda x: np.sum(by_eval(x)))(np.array([1.0, 2.0])).tolist() == [
        [6.0, 0.0],
        [0.0, 12.0],
    ]
    y, back = wg.pullback(by_eval, 2.0)
    assert (y, back(1.0)) == (8.0, (12.0,))
    assert wg.pushforward(by_eval, 2.0)[1](1.0) == 12.0
    with pytest.raises(UnsupportedSyntax, match="cannot be read before it runs"):
        wg.grad(by_eval, tier="static")(2.0)
    with pytest.raises(wg.WengertError, match="Recording a run does not help here"):
        wg.grad(lambda x: eval("1.0") * array("d", [x])[0])(2.0)


def test_what_a_path_refuses_is_recorded_by_the_runs_that_take_it():
    def program(x, deep):
        return x * x if deep < 3 else x + by_eval(x)

    assert wg.grad(program)(2.0, 1) == 4.0
    assert wg.grad(program)(2.0, 5) == 13.0
    assert wg.pullback(program, 2.0, 5)[1](1.0) == (13.0, 0.0)
    assert wg.pushforward(program, 2.0, 5)[1](1.0, None) == 13.0
    with pytest.raises(UnsupportedSyntax, match="cannot be read before it runs"):
        wg.grad(program, tier="static")(2.0, 5)


def test_a_program_that_leaves_traces_runs_once():
    calls = []

    def program(x, deep):
        calls.append(deep)
        return x * x if deep < 3 else x + by_eval(x)

    assert [wg.grad(program)(2.0, deep) for deep in (1, 5)] == [4.0, 13.0]
    assert calls == [1, 5]


def test_arrays_without_a_derivative():
    x = np.array([2.0, 3.0])
    assert wg.grad(lambda x: np.sum(x * wg.stop_gradient(x)), **RECORDED)(x).tolist() == [2.0, 3.0]

    def cut_off(x):
        a = np.zeros(2, dtype=int)
        a[0] = x
        return a[0] * x

    with pytest.raises(wg.WengertError, match="an array of integers keeps the integer part"):
        wg.grad(cut_off, **RECORDED)(2.0)

    def counted(x):
        a = np.zeros(2, dtype=int)
        a[0] = int(x)
        return a[0] * x

    assert wg.grad(counted, **RECORDED)(2.0) == 2.0


def test_generators_of_random_numbers_are_bound_to_compiled_code():
    def drawn(x):
        np.random.seed(3)  # noqa: NPY002
        return x * np.random.normal(0.0, 0.3, size=2)[0]  # noqa: NPY002

    assert wg.grad(drawn, **RECORDED)(1.0) == drawn(1.0)


def read_back(x):
    return float(f"{x:.3f}")


def read_back_from_a_table(x):
    return float(f"a = {x}; b = 2".split("=")[1].split(";")[0])


READ_BACK = [
    read_back,
    read_back_from_a_table,
    lambda x: json.loads(json.dumps({"a": [x]}))["a"][0] * x,
    lambda x: struct.unpack("d", struct.pack("d", x))[0] * x,
    lambda x: pickle.loads(pickle.dumps([x]))[0] * x,
    lambda x: np.frombuffer(np.array([x]).tobytes())[0] * x,
    lambda x: float.fromhex(x.hex()) * x,
    lambda x: float("%.3f" % x) * x,
    lambda x: float(("loss: %g" % x).split()[1]) * x,
    lambda x: np.array([f"{x}"]).astype(float)[0] * x,
]


@pytest.mark.parametrize("f", READ_BACK)
def test_numbers_of_text_are_refused(f):
    with pytest.raises(LostDerivative, match="was made of a number that has a derivative"):
        wg.grad(f, **RECORDED)(2.5)


def test_text_is_written_in_every_way(caplog):
    def program(x):
        shown = "%6.2f of %g" % (x, 3.0)
        shown += " %d %s %r" % (x, x, [x])
        shown %= ()
        logging.getLogger("training").warning("loss %.3e", x)
        return x * len(shown) + (7.0 % x) + np.float64(7.0) % x

    with caplog.at_level(logging.WARNING, "training"):
        gradient = wg.grad(program, **RECORDED)(2.5)
    assert gradient == len("  2.50 of 3 2 2.5 [2.5]") - 2 - 2
    assert caplog.messages == ["loss 2.500e+00"]


def test_text_of_other_numbers_is_read():
    def program(x):
        print(x, json.dumps({"loss": x}))
        return x * float("3.25") * json.loads("[2.0]")[0]

    assert wg.grad(program, **RECORDED)(2.5) == 6.5


def test_no_handler_catches_what_is_refused():
    def program(x):
        try:
            return float(f"{x}") * x
        except Exception:
            return x * x

    with pytest.raises(LostDerivative, match="text has none"):
        wg.grad(program, **RECORDED)(2.0)


def test_captured_functions_do_not_keep_a_pushforward_from_being_recorded():
    def program(x):
        return x * x if x < 3.0 else by_eval(x)

    y, push = wg.pushforward(lambda x: program(x), 4.0)
    assert (y, push(1.0)) == (64.0, 48.0)


def chain(length):
    node = None
    for k in range(length):
        node = types.SimpleNamespace(x=1.0 * k, following=node)
    return node


def test_long_chains_of_objects_are_left_as_they_were():
    nodes, rows = chain(3000), []
    inner = rows
    for _ in range(3000):
        inner.append([np.ones(2)])
        inner = inner[-1]

    def program(x):
        return x * nodes.following.x * len(rows)

    assert wg.grad(program, **RECORDED)(2.0) == 2998.0
    assert (nodes.x, nodes.following.x, len(rows)) == (2999.0, 2998.0, 1)
    held = chain(800)
    with pytest.raises(UnsupportedSyntax, match="nested more deeply than a recorded run can go"):
        wg.grad(lambda node: node.x, **RECORDED)(held)
    assert (held.x, held.following.x) == (799.0, 798.0)


def test_exceptions_are_those_of_the_program():
    def program(x):
        try:
            math.sqrt(-x)
        except ValueError as error:
            return x if error.__context__ else 2 * x

    assert wg.grad(program)(2.0) == 2.0


def test_boxes_that_c_code_does_not_take():
    def program(x):
        memoryview(x)[0] = 3.0
        return np.sum(x)

    with pytest.raises(UnsupportedSyntax, match="looks into the memory of an array") as caught:
        wg.grad(program)(np.ones(2))
    said = "code that is written in C takes plain numbers: memoryview: a bytes-like object"
    assert f"Recording a run does not help here: {said}" in str(caught.value)


def test_explain():
    def program(x, deep):
        return x * scale if deep < 3 else by_eval(x)

    slope = wg.grad(program)
    assert slope.explain() == "no call so far"
    slope(2.0, 1)
    told = slope.explain()
    assert told == slope.explain(2.0, 1)
    assert told.startswith(
        "(x: float, deep: int) read: the derivative is generated from the source; "
    )
    assert "are recorded:\n    [WG101] `eval()` cannot be read before it runs" in told
    assert told.endswith("\n  relies on scale, by_eval, by_eval(), eval")
    assert (
        wg.grad(by_eval)
        .explain(2.0)
        .startswith(
            "(x: float) recorded: each call runs the program once, in Python, and goes back over what it computed\n"
            "  reading the source is refused:\n    [WG101] `eval()`"
        )
    )
    assert "(x: float) refused:" in wg.grad(by_eval, tier="static").explain(2.0)
    assert wg.grad(by_eval, **RECORDED).explain(2.0).endswith("as tier='recorded' says")


@pytest.fixture
def reads(monkeypatch):
    """Grows by one item whenever a program is read."""
    found = []
    read = engine.source.read
    monkeypatch.setattr(engine.source, "read", lambda *a, **k: found.append(1) or read(*a, **k))
    return found


def test_a_refusal_is_found_once(monkeypatch, reads):
    slope = wg.grad(lambda x: eval("x * scale", {"x": x, "scale": scale}))
    assert [slope(2.0) for _ in range(3)] == [3.0] * 3
    assert len(reads) == 1
    monkeypatch.setitem(globals(), "scale", 4.0)
    assert slope(2.0) == 4.0


def asked_in_turn(x):
    def powers(n):
        for k in range(1, n):
            yield x**k

    walks, total = [powers(3), powers(4)], 0.0
    while walks:
        walk = walks.pop(0)
        try:
            total += next(walk)
            walks.append(walk)
        except StopIteration:
            continue
    return total


def test_that_leaving_paths_to_runs_is_refused_as_well_is_found_once(reads):
    slope = wg.grad(asked_in_turn)
    assert slope(2.0) == pytest.approx(2 + 2 * 4 + 12)
    first = len(reads)
    assert first > 1
    assert [slope(2.0) for _ in range(3)] == [slope(2.0)] * 3
    assert len(reads) == first


class Located:
    """Whose property has the name of what its dictionary holds."""

    def __init__(self, place):
        self.__dict__["place"] = place

    @property
    def place(self):
        return self.__dict__["place"]


HERE = Located(2.0)


def test_a_property_of_the_name_of_an_attribute():
    def f(x):
        HERE.__dict__["place"] *= x
        return HERE.place * x

    assert wg.grad(lambda x: HERE.place * x, **RECORDED)(3.0) == 2.0
    assert wg.grad(f, **RECORDED)(3.0) == 12.0
    assert HERE.__dict__ == {"place": 6.0}


class Draws(random.Random):
    scale = 2.0

    def scaled(self, x):
        return self.scale * x


DRAWS = Draws(3)


def test_objects_of_classes_derived_from_one_of_c_are_left_as_they_are():
    assert wg.grad(lambda x: DRAWS.scaled(x) * x, **RECORDED)(3.0) == 12.0


def test_circles_of_objects_are_no_reason_to_search_the_heap(monkeypatch):
    class Ring:
        def __init__(self, x):
            self.x, self.itself = x, self

    def fail(*objects):
        raise AssertionError("all objects of the process are looked at")

    monkeypatch.setattr(gc, "get_referrers", fail)
    assert wg.grad(lambda x: Ring(x * x).x + 1, **RECORDED)(3.0) == 6.0


WEIGHTS, SCALES = np.array([1.0, 2.0]), np.array([2.0, 1.0])
MORE, AND_MORE = np.array([5.0, 6.0]), np.array([7.0, 8.0])


class Weighted:
    weights = np.array([3.0, 4.0])

    def __init__(self, x):
        self.x = x

    def total(self, more=MORE, *, and_more=AND_MORE):
        return np.sum(self.x * self.weights * more * and_more)


def test_arrays_of_the_program_are_no_reason_to_search_the_heap(monkeypatch):
    captured = np.array([9.0, 10.0])

    def f(x, scale=SCALES):
        pair = (x[0] * captured[0], x * WEIGHTS)
        return pair[0] + np.sum(pair[1] * scale) + Weighted(x).total()

    def fail(*objects):
        raise AssertionError("all objects of the process are looked at")

    monkeypatch.setattr(gc, "get_referrers", fail)
    monkeypatch.setattr(gc, "collect", fail)
    x = np.array([1.0, 1.0])
    assert wg.grad(f, **RECORDED)(x).tolist() == [9.0 + 2.0 + 105.0, 2.0 + 192.0]
    pair = wg.jacobian(lambda x: (x[0] * x[1], (2 * x[1], WEIGHTS[0])), **RECORDED)(x)
    assert [*pair[0], *pair[1][0], *pair[1][1]] == [1.0, 1.0, 0.0, 2.0, 0.0, 0.0]
    length = wg.grad(lambda x: np.linalg.norm(x), **RECORDED)(np.array([3.0, 4.0]))
    assert length == pytest.approx([0.6, 0.8])
    assert type(WEIGHTS) is type(Weighted.weights) is type(captured) is np.ndarray


scale = 3.0


@pytest.mark.parametrize("steer", [lambda x: wg.hook(lambda bar: 2 * bar, x), wg.show_grad])
def test_hooks_are_refused(steer):
    with pytest.raises(wg.WengertError, match="a recorded run has no hooks"):
        wg.grad(lambda x: np.sum(steer(x * x)), **RECORDED)(np.ones(2))


def test_memory_given_twice_is_not_written_to():
    def written(a, b):
        a[0] = b[1] * b[0]
        return np.sum(a * b)

    x = np.array([2.0, 3.0])
    found = wg.grad(written, (0, 1), **RECORDED)(x.copy(), x.copy())
    assert np.array_equal(found, ([0.0, 3.0], [12.0, 7.0]))
    for given in ((x, x), (x, x[::-1])):
        with pytest.raises(wg.WengertError, match="two of the arrays given to it share memory"):
            wg.grad(written, (0, 1), **RECORDED)(*given)
    with pytest.raises(wg.WengertError, match="share memory"):
        wg.grad(written, **RECORDED)(x, x)
    assert wg.grad(lambda a, b: np.sum(a * b), (0, 1), **RECORDED)(x, x)[0].tolist() == [2.0, 3.0]


REPEATED = [
    lambda x: np.sum(np.broadcast_to(x, (3,)) * np.array([1.0, 2.0, 3.0])) * x,
    lambda x: np.broadcast_to(x * x, (2, 2)).ravel() @ np.array([1.0, 2.0, 3.0, 4.0]),
    lambda x: x * math.prod([x, x * x, 2.0]),
    lambda x: x * np.mean(np.array([x, x * x]), axis=-1),
    lambda x: np.std(np.array([x, 2.0]), axis=0) * x,
]


@pytest.mark.parametrize("f", REPEATED)
def test_a_number_that_is_repeated_has_the_sum_of_their_cotangents(f):
    slopes = wg.grad(f, **RECORDED)
    assert slopes(0.8) == pytest.approx(slope(f, 0.8), rel=1e-8)
    assert wg.grad(slopes, **RECORDED)(0.8) == pytest.approx(slope(slopes, 0.8), rel=1e-8)


def test_a_number_that_is_repeated_is_not_written_to():
    def written(x):
        repeated = np.broadcast_to(x, (3,))
        repeated[0] = 1.0
        return np.sum(repeated)

    with pytest.raises(ValueError, match="read-only"):
        wg.grad(written, **RECORDED)(0.8)


SUMMED = [
    lambda x: math.fsum(v * x for v in (1.0, x)),
    lambda x: math.fsum({"a": x, "b": x * x}.values()) + math.prod(deque([x, x])),
    lambda x: math.dist((v * x for v in (1.0, 2.0)), [0.0, x * x]),
]


@pytest.mark.parametrize("f", SUMMED)
def test_functions_of_math_walk_over_anything(f):
    assert wg.grad(f, **RECORDED)(0.8) == pytest.approx(slope(f, 0.8), rel=1e-8)


def test_a_number_of_numpy_has_no_items_at_any_level():
    def program(x):
        y = np.sum(np.ones(2) * x)
        try:
            return y[0]
        except IndexError:
            return y[()] * y * abs(complex(x, x))

    def slope_of(x):
        return wg.grad(program, **RECORDED)(x)

    assert wg.grad(program, **RECORDED)(2.0) == pytest.approx(12 * 2**0.5 * 4)
    assert wg.hvp(program, **RECORDED)(2.0, 1.0) == pytest.approx(24 * 2**0.5 * 2)
    assert wg.grad(slope_of, **RECORDED)(2.0) == pytest.approx(24 * 2**0.5 * 2)


TWO_OBJECTS = np.array([None, None], dtype=object)


def keeps_objects(x):
    TWO_OBJECTS[0] = x
    TWO_OBJECTS[1] = [x * x]
    return TWO_OBJECTS[0] * x


def test_an_array_of_objects_is_left_with_plain_numbers():
    TWO_OBJECTS[:] = None
    assert wg.grad(keeps_objects, **RECORDED)(3.0) == 6.0
    assert TWO_OBJECTS.tolist() == [3.0, [9.0]]
    assert [type(TWO_OBJECTS[0]), type(TWO_OBJECTS[1][0])] == [float, float]


def adds_a_tuple(x, a):
    a += (x,)
    return a @ a


def adds_a_list_to_a_part(x, a):
    a[1:] += [x * x]
    a[0] -= x
    return a @ a


def takes_a_list_off(x, a):
    a -= [[x], [x * x]]
    a *= (x,)
    return np.sum(a * a)


@pytest.mark.parametrize(
    ("f", "shape"),
    [(adds_a_tuple, (3,)), (adds_a_list_to_a_part, (3,)), (takes_a_list_off, (2, 3))],
)
def test_lists_are_broadcast_where_they_are_added_in_place(f, shape):
    whole = lambda: np.linspace(0.3, 1.1, np.prod(shape)).reshape(shape)
    expected = pytest.approx(slope(lambda x: f(x, whole()), 0.7), rel=1e-7)
    assert wg.grad(f, **RECORDED)(0.7, whole()) == expected
    assert wg.derivative(lambda x: f(x, whole()), **RECORDED)(0.7) == expected


def binds_global_names(x):
    global LATEST, FIRST_BOUND
    LATEST = x * x
    FIRST_BOUND = x
    return LATEST * FIRST_BOUND


LATEST = 0.0


@pytest.mark.parametrize(
    "second",
    [
        lambda x: wg.hvp(binds_global_names, **RECORDED)(x, 1.0),
        wg.derivative(binds_global_names, order=2, **RECORDED),
        wg.grad(lambda x: wg.grad(binds_global_names, **RECORDED)(x), **RECORDED),
    ],
)
def test_global_names_that_an_inner_run_binds_are_left_plain(second):
    names = globals()
    names.pop("FIRST_BOUND", None)
    assert second(2.0) == 12.0
    assert (LATEST, names["FIRST_BOUND"]) == (4.0, 2.0)
    assert [type(LATEST), type(names["FIRST_BOUND"])] == [float, float]


@pytest.mark.parametrize(
    "measure",
    [
        Fraction,
        Decimal,
        lambda x: timedelta(seconds=float.__add__(x, 1.0)),
        lambda x: timedelta(seconds=x),
        lambda x: x.as_integer_ratio(),
        lambda x: memoryview(np.full(3, x)),
    ],
)
def test_no_handler_goes_on_with_what_code_in_c_says_of_a_box(measure):
    """The number itself would have gone through: another path is neither the value nor the derivative."""

    def program(x):
        try:
            measure(x)
        except (TypeError, ValueError):
            return 2 * x
        return x * x

    assert program(1.5) == 2.25
    for tier in ({}, RECORDED):
        try:
            found = wg.value_and_grad(program, **tier)(1.5)
        except WengertError:
            continue
        assert found == (2.25, 3.0)


def test_no_handler_replaces_what_is_refused():
    def program(x):
        try:
            y = x[:2]
            y.shape = (2, 1)
        except Exception:
            raise TypeError("no such shape") from None
        return np.sum(y)

    with pytest.raises(UnsupportedSyntax, match="another shape in place"):
        wg.grad(program)(np.ones(3))


class Labelled:
    def __init__(self, label, weight):
        self.label = label
        self.weight = weight

    @property
    def __name__(self):
        return self.label


def test_a_property_may_be_named_as_classes_are():
    labelled = Labelled("ab", 3.0)

    def program(x):
        return x * labelled.weight * len(labelled.__name__)

    assert wg.grad(program, **RECORDED)(2.0) == 6.0
    assert wg.grad(program)(2.0) == 6.0


def test_one_object_in_two_arguments_is_refused():
    numbers, f = [2.0], lambda p, q: p[0] * q[0]
    assert wg.grad(f, (0, 1), tier="static")(numbers, numbers) == ([2.0], [2.0])
    inside = lambda p, q: p[0][0] * q["n"][0]
    for argnums in ((0, 1), 0, 1):
        with pytest.raises(UnsupportedSyntax, match="two arguments hold one object"):
            wg.grad(f, argnums, tier="recorded")(numbers, numbers)
    with pytest.raises(UnsupportedSyntax, match="two arguments hold one object"):
        wg.grad(inside, (0, 1), tier="recorded")([numbers], {"n": numbers})


def test_a_text_that_looks_like_the_class_of_boxes_is_the_programs_own():
    def f(x, caught):
        try:
            if x > 1.0:
                raise TypeError("Recorded session is missing")
        except caught:
            return 3.0 * x
        return x

    assert wg.grad(f, tier="recorded")(2.0, TypeError) == 3.0
    with pytest.raises(TypeError, match=r"^Recorded session is missing$"):
        wg.grad(f, tier="recorded")(2.0, KeyError)


def by_length(x):
    return 3.0 * x if hasattr(x, "__len__") else x * x


def by_its_value(x):
    try:
        x = x.value
    except AttributeError:
        x = x * 1.0
    return getattr(x, "value", x) ** 2


def by_abstract_class(x):
    return x * x if not isinstance(x, (Iterable, Sized)) and isinstance(x, Real) else 3.0 * x


def by_its_class(x):
    return x * x if x.__class__ is float and x.__class__ is type(x) else 3.0 * x


def by_classes_of_classes(x):
    kinds = (type(Layer), type(float), type(type), type(type(x)))
    return x * x if all(kind is type for kind in kinds) else 3.0 * x


@pytest.mark.parametrize(
    "f", [by_length, by_its_value, by_abstract_class, by_its_class, by_classes_of_classes]
)
def test_a_number_has_what_floats_have(f):
    assert wg.value_and_grad(f, **RECORDED)(3.0) == (9.0, 6.0)


def test_attributes_of_functions_that_are_differentiated():
    def times(k):
        return lambda x: k * x

    def of_order(f, x):
        return f(x) * f.order * (1.0 if f.__doc__ is None else 5.0)

    f = times(2.0)
    f.order, f.__doc__ = 3.0, "Documented."
    assert recorded.pullback(of_order, (f, 0.5), {})[1](1.0)[1] == 30.0


def test_an_object_that_one_argument_holds_twice():
    """Its derivative stands where it is first, so that a tangent which moves it as one meets it once."""

    def f(rows):
        return rows[0][0] ** 2 * rows[1][1]

    row = [2.0, 3.0]
    slope = wg.grad(f, **RECORDED)([row, row])
    assert slope == [[12.0, 4.0], [0.0, 0.0]]
    along = [[0.5, 0.25], [0.5, 0.25]]
    push = recorded.pushforward(f, ([row, row],), {})[1]
    wanted = wg.pushforward(f, [row, row])[1](along)
    assert push(along) == wanted == sum(map(np.dot, slope, along))
    twice = wg.hvp(f, **RECORDED)([row, row], along)
    static = np.sum(wg.hvp(f, tier="static")([row, row], along), axis=0)
    np.testing.assert_allclose(np.sum(twice, axis=0), static)
    with pytest.raises(wg.errors.BadTangent, match="holds twice has two tangents here"):
        push([[1.0, 0.0], [0.0, 0.0]])


def counted(g):
    """A decorator that counts calls in an attribute of what it makes."""

    def inner(x):
        inner.calls += 1
        inner.last = x
        return g(x) * inner.calls

    inner.calls = 0
    return inner


@counted
def squared(x):
    return x * x


def test_attributes_of_functions_are_left_as_the_program_leaves_them():
    squared.calls = 0
    value, slope = wg.value_and_grad(lambda x: squared(x) + squared(x), **RECORDED)(3.0)
    assert (value, slope) == (27.0, 18.0)
    assert (squared.calls, squared.last, type(squared.last)) == (2, 3.0, float)

    def fails(x):
        squared(x)
        raise KeyError(x)

    with pytest.raises(KeyError):
        wg.grad(fails, **RECORDED)(4.0)
    assert (squared.calls, squared.last, type(squared.last)) == (3, 4.0, float)


def test_powers_modulo_an_integer_are_constants():
    def f(x, n):
        return x * pow(n, 2, 5)

    assert wg.value_and_grad(f, (0, 1), **RECORDED)(0.5, 3) == (2.0, (4.0, 0.0))
    with pytest.raises(TypeError, match="3rd argument not allowed"):
        wg.grad(lambda x: pow(x, 2, 5), **RECORDED)(0.5)


def objects_in_place(x):
    objects, v = np.array([x, 2.0, 3 * x], dtype=object), np.array([x, x * x, 2.0])
    objects *= x
    objects += v
    np.multiply(objects, v, out=objects, where=v > 1.0)
    return objects.sum()


def partitioned(x):
    v = np.array([[3 * x, x, 2.0], [x * x, 0.1, x]])
    view = v[:, 1:]
    v.partition(1)
    v.T.partition(0, axis=-1)
    return v @ np.arange(3.0) @ np.array([1.0, 5.0]) + view[0, 0] * x


@pytest.mark.parametrize("f", [objects_in_place, partitioned])
def test_arrays_that_functions_and_methods_write_to(f):
    value, gradient = wg.value_and_grad(f)(1.3)
    assert value == pytest.approx(f(1.3), rel=1e-14)
    assert gradient == pytest.approx(slope(f, 1.3), rel=1e-7)


class Pair(NamedTuple):
    a: float
    b: float = 2.0

    def value(self, k=0.5):
        return math.sin(self.a) + k * self.b

    @property
    def length(self):
        return math.hypot(self.a, self.b)


class Triple(tuple):
    __slots__ = ()

    def value(self):
        return math.sin(self[0]) * self[2]


LEFT = {}


def tuples_with_methods(x, pair, triple):
    own = Pair(x)._replace(b=x * pair.value())
    LEFT.update(pair=own, triple=Triple((x, x, 2.0)), held=[own])
    return (
        own.value() + own.length * pair.length + triple.value() + LEFT["triple"].value() + sum(own)
    )


def test_methods_of_tuples_are_recorded():
    args = 0.7, Pair(0.4, 0.9), Triple((0.1, 0.2, 0.3))
    plain = tuples_with_methods(*args)
    value, by_recording = wg.value_and_grad(tuples_with_methods, (0, 1, 2), **RECORDED)(*args)
    assert value == plain
    assert (type(LEFT["pair"]), type(LEFT["triple"])) == (Pair, Triple)
    assert LEFT["held"][0] is LEFT["pair"]
    assert {type(item) for item in LEFT["pair"]} == {float}
    x, pair, triple = wg.grad(tuples_with_methods, (0, 1, 2), tier="static")(*args)
    assert by_recording[0] == pytest.approx(x)
    assert type(by_recording[1]) is Pair
    assert by_recording[1] == pytest.approx(pair)
    assert tuple(by_recording[2]) == pytest.approx(tuple(triple))
