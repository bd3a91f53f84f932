"""The derivative of a function holds for all calls that answer what its program asks, and asks nothing else."""

import collections
import copy
import itertools
import math
import random
import types
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import wengert as wg
from wengert.api import jitting
from wengert.compile import engine
from wengert.frontend.boundary import signature
from wengert.frontend.boundary.kind_checks import check_of


class Counts:
    """How many derivatives were made, and of how many values the kinds were found."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch):
        self.derived = self.looked_at = 0
        derive, kind_of = engine._derive, signature.kind_of

        def counted_derive(*args: Any) -> Any:
            self.derived += 1
            return derive(*args)

        def counted_kind_of(*args: Any, **kwargs: Any) -> Any:
            self.looked_at += 1
            return kind_of(*args, **kwargs)

        monkeypatch.setattr(engine, "_derive", counted_derive)
        monkeypatch.setattr(signature, "kind_of", counted_kind_of)

    def of(self, call: Callable[[], Any]) -> tuple[int, int]:
        before = self.derived, self.looked_at
        call()
        return self.derived - before[0], self.looked_at - before[1]


@pytest.fixture
def counts(monkeypatch: pytest.MonkeyPatch) -> Counts:
    return Counts(monkeypatch)


class Record:
    def __init__(self, k):
        self.name, self.mass, self.tags = f"record {k}", 1.0 + k, ["a", "b", k]

    def weighed(self, x):
        return self.mass * x * x


class Library:
    def __init__(self, rate=0.5, size=300):
        self.rate, self.records = rate, [Record(k) for k in range(size)]
        self.mode = "square"

    def cost(self, x):
        return self.rate * (x * x if self.mode == "square" else x)


LIBRARY = Library()


def of_global(x):
    return LIBRARY.rate * x * x


def of_captured(library):
    return lambda x: library.rate * x * x


# --- what is counted --------------------------------------------------------------------------


def test_of_a_global_object_only_what_is_read_is_looked_at(counts):
    gradient = wg.grad(of_global)
    for _ in range(3):
        assert gradient(3.0) == 3.0
    assert counts.of(lambda: gradient(3.0)) <= (0, 10)


def test_of_a_captured_object_only_what_is_read_is_looked_at(counts):
    gradient = wg.grad(of_captured(Library()))
    for _ in range(3):
        assert gradient(3.0) == 3.0
    assert counts.of(lambda: gradient(3.0)) <= (0, 10)


def test_of_an_argument_only_what_is_read_is_looked_at(counts):
    gradient, library = wg.grad(lambda x, library: library.rate * x * x), Library()
    for _ in range(3):
        assert gradient(3.0, library) == 3.0
    assert counts.of(lambda: gradient(3.0, library)) <= (0, 10)


def test_a_method_looks_at_what_it_reads(counts):
    gradient = wg.grad(Library().cost)
    for _ in range(3):
        assert gradient(3.0) == 3.0
    assert counts.of(lambda: gradient(3.0)) <= (0, 20)


def test_of_long_lists_the_columns_are_looked_at(counts):
    rows = [(0.1 * k, 0.2) for k in range(2_000)]
    gradient = wg.grad(lambda x: rows[3][0] * x * x)
    for _ in range(3):
        assert gradient(1.0) == pytest.approx(0.6)
    assert counts.of(lambda: gradient(1.0)) <= (0, 10)


def test_a_text_that_is_not_looked_at_needs_no_derivation(counts):
    gradient = wg.grad(lambda x, record: x * x * record["dose"])
    for k in range(3):
        gradient(1.0, {"name": f"patient {k}", "dose": 2.0})
    more = lambda: [gradient(1.0, {"name": f"no. {k}", "dose": 2.0 + k}) for k in range(20)]
    assert counts.of(more)[0] == 0
    assert more() == [2 * (2.0 + k) for k in range(20)]


def test_a_text_in_what_is_differentiated_needs_no_derivation(counts):
    gradient = wg.grad(lambda record: record["dose"] ** 2)
    for k in range(3):
        gradient({"name": f"patient {k}", "dose": 2.0, "weight": 70.0})
    last = {"name": "another", "dose": 3.0, "weight": 70.0}
    assert counts.of(lambda: gradient(last))[0] == 0
    assert gradient(last) == {"name": None, "dose": 6.0, "weight": 0.0}


MODE = "linear"


def in_mode(x, mode):
    global MODE
    MODE = mode.lower()
    return 2.0 * x if MODE == "linear" else x * x


def test_a_text_setting_that_the_call_writes_back_needs_no_derivation(counts):
    gradient = wg.grad(in_mode)
    gradient(3.0, "LINEAR")
    gradient(3.0, "LINEAR")
    assert counts.of(lambda: [gradient(3.0, "LINEAR") for _ in range(5)])[0] == 0
    assert gradient(3.0, "LINEAR") == 2.0
    assert gradient(3.0, "SQUARE") == 6.0
    assert MODE == "square"
    assert gradient(3.0, "LINEAR") == 2.0


# --- what was assumed, and changed --------------------------------------------------------------


def test_a_global_that_is_bound_to_another_object_is_read_again(monkeypatch):
    gradient = wg.grad(of_global)
    for _ in range(3):
        assert gradient(3.0) == 3.0
    monkeypatch.setattr(LIBRARY, "rate", np.array(2.0))
    assert gradient(3.0) == 12.0
    monkeypatch.setitem(globals(), "LIBRARY", Library(rate=4, size=2))
    assert gradient(3.0) == 24.0
    monkeypatch.setitem(globals(), "LIBRARY", Record(3))
    with pytest.raises(AttributeError):
        gradient(3.0)


class Cubic(Library):
    def cost(self, x):
        return self.rate * x**3


def test_an_object_of_another_class_is_read_again():
    library = Library()
    gradient = wg.grad(lambda x: library.cost(x))
    for _ in range(3):
        assert gradient(3.0) == 3.0
    library.__class__ = Cubic
    assert gradient(3.0) == 13.5
    library.cost = lambda x: 7.0 * x
    assert gradient(3.0) == 7.0


def test_a_method_that_is_replaced_is_read_again(monkeypatch):
    library = Library()
    gradient = wg.grad(lambda x: library.cost(x))
    for _ in range(3):
        assert gradient(3.0) == 3.0
    monkeypatch.setattr(Library, "cost", lambda self, x: self.records[1].weighed(x))
    assert gradient(3.0) == 12.0


def test_a_text_that_is_looked_at_decides():
    library = Library()
    gradient = wg.grad(lambda x: library.cost(x))
    for _ in range(3):
        assert gradient(3.0) == 3.0
    library.mode = "linear"
    assert gradient(3.0) == 0.5
    library.mode = "square"
    assert gradient(3.0) == 3.0


def in_units(x, record, scaled):
    if scaled and record["unit"] == "mg":
        return x * x * record["dose"] / 1000
    return x * x * record["dose"]


def test_a_text_that_is_looked_at_after_all_is_read():
    gradient = wg.grad(in_units)
    units = ["g", "mg", "kg", "mg"]
    records = [{"unit": unit, "dose": 500.0} for unit in units]
    assert [gradient(1.0, record, False) for record in records] == [1000.0] * 4
    assert [gradient(1.0, record, True) for record in records] == [1000.0, 1.0, 1000.0, 1.0]
    assert [gradient(1.0, record, False) for record in records] == [1000.0] * 4


def by_mode(x, library, mode):
    return x * library.rate if mode == "rate" else x * library.records[2].mass


def test_a_part_that_another_call_looks_at_is_read():
    gradient, library = wg.grad(by_mode), Library(size=6)
    for _ in range(3):
        assert gradient(1.0, library, "rate") == 0.5
    for _ in range(3):
        assert gradient(1.0, library, "mass") == 3.0
    library.records[2] = Record(6)
    assert gradient(1.0, library, "mass") == 7.0
    assert gradient(1.0, library, "rate") == 0.5


def test_a_list_that_grows_is_read_where_it_is_looked_at(counts):
    library = Library(size=40)
    of_rate, of_all = (
        wg.grad(lambda x: library.rate * x),
        wg.grad(lambda x: x * sum(record.mass for record in library.records)),
    )
    for _ in range(3):
        assert of_rate(1.0) == 0.5
        assert of_all(1.0) == sum(range(1, 41))
    library.records.append(Record(40))
    assert of_all(1.0) == sum(range(1, 42))
    assert counts.of(lambda: of_rate(1.0))[0] == 0


def test_what_one_verb_does_not_look_at_another_may():
    def f(x, library):
        return x * x * library.rate

    library = Library(size=40)
    for _ in range(3):
        assert wg.grad(f)(3.0, library) == 3.0
    by_library = wg.grad(f, argnums=1)(3.0, library)
    assert by_library.rate == 9.0
    assert by_library.records[7].mass == 0.0
    value, back = wg.pullback(f, 3.0, library)
    assert (value, back(1.0)[0]) == (4.5, 3.0)


def test_what_is_passed_on_whole_is_looked_at():
    def f(x, library):
        return x * x * library.rate, library.records

    library = Library(size=40)
    for _ in range(3):
        gradient, records = wg.grad(f, has_aux=True)(3.0, library)
        assert gradient == 3.0
        assert [record.mass for record in records] == [1.0 + k for k in range(40)]


def test_what_the_program_changes_is_changed():
    def f(x, library):
        library.records[0].mass = 5.0
        return x * library.rate * library.records[0].mass

    library = Library(size=5)
    for _ in range(3):
        library.records[0].mass = 1.0
        assert wg.grad(f)(3.0, library) == 2.5
        assert library.records[0].mass == 5.0


@dataclass
class Setting:
    rate: float
    table: dict[str, list[float]]
    names: tuple[str, ...]


@pytest.mark.parametrize("derived", [wg.hessian, lambda f: wg.derivative(f, 2), wg.jacobian])
def test_other_verbs_look_at_what_is_read(derived):
    setting = Setting(2.0, {str(k): [0.1] * 9 for k in range(50)}, ("a", "b"))
    f = lambda x: setting.rate * x**3
    found = [derived(f)(2.0) for _ in range(3)]
    assert found == [24.0] * 3
    setting.rate = 3
    assert derived(f)(2.0) == 36.0


def test_native_code_is_given_what_it_reads():
    setting = Setting(2.0, {str(k): [0.1] * 9 for k in range(50)}, ("a", "b"))
    gradient = wg.jit(wg.grad(lambda x: setting.rate * math.sin(x)), strict=True)
    for _ in range(3):
        assert gradient(0.0) == 2.0
    setting.rate, setting.names = 3.0, ("c",)
    assert gradient(0.0) == 3.0


def test_a_specialised_derivative_stands_alone():
    library = Library(size=40)
    gradient = wg.grad(lambda x, library: library.rate * x * x).specialize(3.0, library)
    assert gradient(3.0, library) == 3.0
    assert "records" not in gradient.source


# --- what is found again by a check made for it -------------------------------------------------


@dataclass
class Parameters:
    a: float
    w: np.ndarray


def of_parameters(p):
    return p.a * (p.w * p.w).sum()


@pytest.mark.filterwarnings("ignore::wengert.errors.NativeWarning")
@pytest.mark.parametrize("jit", [lambda f: f, wg.jit], ids=["python", "native"])
def test_parameters_with_names_are_looked_at_once(counts, jit):
    gradient, p = jit(wg.grad(of_parameters)), Parameters(2.0, np.array([1.0, 3.0]))
    for _ in range(3):
        assert gradient(p).a == 10.0
    assert counts.of(lambda: gradient(p)) == (0, 0)
    p.a = 3
    assert gradient(p).w.tolist() == [6.0, 18.0]
    p.a = np.array(2.0)
    assert gradient(p).a.shape == ()
    p.w = np.array([[1.0, 3.0]])
    assert gradient(p).w.tolist() == [[4.0, 12.0]]
    p.more = "text"
    assert gradient(p).more is None
    del p.more, p.w
    with pytest.raises(AttributeError):
        gradient(p)


def test_a_keyword_is_looked_at_once(counts):
    gradient = wg.grad(lambda x, *, table: x * x * table["rate"])
    for _ in range(3):
        assert gradient(1.0, table={"rate": 2.0}) == 4.0
    assert counts.of(lambda: gradient(1.0, table={"rate": 3.0})) == (0, 0)
    assert gradient(1.0, table={"rate": 3.0}) == 6.0
    assert gradient(1.0, table={"rate": 3.0, "more": 1.0}) == 6.0


def test_a_function_with_other_code_is_read_again():
    def f(x, table):
        return x * table["rate"]

    gradient = wg.grad(f)
    for _ in range(3):
        assert gradient(1.0, {"rate": 2.0}) == 2.0
    f.__code__ = (lambda x, table: x * x * table["rate"]).__code__
    assert gradient(1.0, {"rate": 2.0}) == 4.0


GENERATOR = random.Random(0)


def of_generator(x):
    return x * x * (1.0 + 0.0 * GENERATOR.random())


def test_what_has_no_native_form_is_found_once(counts, monkeypatch):
    gradient = wg.jit(wg.grad(of_generator))
    with pytest.warns(wg.errors.NativeWarning):
        assert gradient(3.0) == 6.0
    assert gradient(3.0) == 6.0
    made = []
    form = jitting.Jitted._form
    monkeypatch.setattr(jitting.Jitted, "_form", lambda *args: made.append(1) or form(*args))
    assert gradient(3.0) == 6.0
    assert (made, counts.of(lambda: gradient(3.0))) == ([], (0, 0))
    monkeypatch.setitem(globals(), "GENERATOR", types.SimpleNamespace(random=lambda: 1.0))
    assert gradient(3.0) == 6.0
    assert made == [1]


def logged(x, log=[]):  # noqa: B006
    log.append(x)
    return x * x


def test_a_default_that_grows_needs_no_derivation(counts):
    gradient = wg.grad(logged)
    for _ in range(10):
        assert gradient(3.0) == 6.0
    assert counts.of(lambda: [gradient(3.0) for _ in range(5)])[0] == 0
    assert logged.__defaults__ == ([3.0] * 15,)


def test_functions_of_one_def_have_defaults_of_their_own():
    def make():
        def f(x, log=[]):  # noqa: B006
            log.append(x)
            return x * len(log)

        return f

    f, g = make(), make()
    assert [wg.grad(f)(1.0), wg.grad(f)(1.0), wg.grad(g)(1.0)] == [1.0, 2.0, 1.0]
    assert (len(f.__defaults__[0]), len(g.__defaults__[0])) == (2, 1)


Point = collections.namedtuple("Point", "x y")


class Slotted:
    __slots__ = ("a",)

    def __init__(self, a):
        self.a = a


class Bare:
    __slots__ = ()

    def __setattr__(self, name, value):
        setattr(type(self), name, value)


def plain(x):
    return x


VALUES = [
    1.0, 1, True, 1j, None, "a", "b", range(3), slice(1), np.float64(1), np.float32(1), np.int64(1),
    np.ones(2), np.ones((2, 2)), np.ones(2, dtype=int), np.ones(2, dtype=np.float32), [], (), {}, [1.0], [1], (1.0,),
    [1.0, 2.0], [1.0] * 7, [1] * 7, [1.0] * 6 + [1], [1.0] * 70, [1.0] * 69 + [1], ["a"] * 7, (1.0,) * 7,
    [(1.0, 2)] * 7, [(1.0, 2.0)] * 70, [(1.0, 2)] * 69 + [(1.0, 2.0)], [[1.0]] * 7, [{"a": 1.0}] * 70,
    [{"b": 1.0}] * 70,
    {"a": 1.0}, {"a": 1}, {"b": 1.0}, {"a": 1.0, "b": 1.0}, {"b": 1.0, "a": 1.0}, {"a": {"a": 1.0}}, Point(1.0, 2.0),
    Point(1, 2.0), (1.0, 2.0), Parameters(1.0, np.ones(2)), Parameters(1, np.ones(2)), Record(1), Record(2),
    Bare(),
    Slotted(1.0), Slotted(1), types.SimpleNamespace(a=1.0), types.SimpleNamespace(a=1),
    plain, of_captured(1.0), of_captured(1), Library(size=2).cost, Record(1).weighed, math.sin, np, {1, 2},
    b"a", Parameters, collections.OrderedDict(a=1.0),
    np.ones(2)[::-1], np.ones(2, dtype=">f8"), np.array(["a"]), [None] * 7, [[]] * 7,
]  # fmt: skip


def test_a_check_says_yes_to_values_of_the_same_kind_only():
    kinds = list(map(signature.kind_of, VALUES))
    said = [check_of(kind)(value) for kind, value in zip(kinds, VALUES, strict=True)]
    assert said.count(True) > 60
    for kind, (other, value) in itertools.product(kinds, zip(kinds, VALUES, strict=True)):
        if check_of(kind)(value):
            assert other == kind, (str(kind), str(other), value)


# --- generators of random numbers -----------------------------------------------------------------


def noisy(x, rng):
    noise = rng.normal(size=3)
    return (x * noise).sum() + x * rng.uniform(1.0, 2.0)


def scaled(x, rng):
    return x * rng.normal(0.0, x)


def shuffled(x, rng):
    order = rng.permutation(4)
    return x * order[0] + x * rng.integers(10)


def asked(x, rng):
    return x * rng.normal() if isinstance(rng, np.random.Generator) else x


def expected(f, rng):
    """The derivative at 2.0 by differences, of the same draws."""
    state = rng.bit_generator.state
    found = []
    for x in (2.0 + 1e-6, 2.0 - 1e-6):
        rng.bit_generator.state = state
        found.append(f(x, rng))
    return (found[0] - found[1]) / 2e-6


@pytest.mark.parametrize("f", [noisy, scaled, shuffled, asked])
def test_a_generator_draws_what_it_draws(f):
    gradient = wg.grad(f)
    for k in range(6):
        wanted = expected(f, np.random.default_rng(k))
        assert gradient(2.0, np.random.default_rng(k)) == pytest.approx(wanted, rel=1e-6)


def test_a_generator_is_left_as_the_function_leaves_it():
    gradient = wg.grad(noisy)
    for k in range(6):
        ours, theirs = np.random.default_rng(k), np.random.default_rng(k)
        gradient(2.0, ours), noisy(2.0, theirs)
        assert ours.bit_generator.state == theirs.bit_generator.state


def test_a_new_generator_needs_no_derivation(counts):
    gradient = wg.grad(noisy)
    for k in range(3):
        gradient(2.0, np.random.default_rng(k))
    assert counts.of(lambda: gradient(2.0, np.random.default_rng(7))) == (0, 0)


def test_a_generator_of_another_class_is_read_again():
    gradient = wg.grad(lambda x, rng: x * rng.normal(0.0, 1.0))
    for k in range(3):
        gradient(2.0, np.random.default_rng(k))
    old = gradient(2.0, np.random.RandomState(5))
    assert old == np.random.RandomState(5).normal(0.0, 1.0)
    with pytest.raises(AttributeError):
        gradient(2.0, random.Random(5))
    assert gradient(2.0, types.SimpleNamespace(normal=lambda a, b: 3.0)) == 3.0


# --- lists of which no item is looked at ----------------------------------------------------------


def counting(x, rows, mode):
    total = x * len(rows)
    if mode == "walk":
        for row in rows:
            total = total + x * row
    return total


def test_of_a_list_that_is_counted_no_item_is_looked_at(counts):
    gradient, rows = wg.grad(counting), [0.5] * 100
    for _ in range(3):
        assert gradient(1.0, rows, "count") == 100.0
    rows.append("text")
    assert counts.of(lambda: gradient(1.0, rows, "count")) == (0, 0)
    assert gradient(1.0, rows, "count") == 101.0
    rows.pop()
    for _ in range(3):
        assert gradient(1.0, rows, "walk") == 150.0
    assert gradient(1.0, [2] * 100, "walk") == 300.0
    assert gradient(1.0, (0.5,) * 100, "count") == 100.0
    assert gradient(1.0, np.ones(4), "walk") == 8.0
    assert gradient(1.0, rows, "count") == 100.0


def test_a_list_that_grows_by_one_in_every_call(counts):
    log = []

    def f(x):
        log.append(x)
        return x * x * len(log)

    gradient = wg.grad(f)
    for k in range(1, 4):
        assert gradient(3.0) == 6.0 * k
    log.extend("text")
    assert counts.of(lambda: gradient(3.0))[0] == 0
    assert len(log) == 8
    log.clear()
    assert gradient(3.0) == 6.0
    assert log == [3.0]


def of_rows(rows):
    return lambda x: rows[3][0] * x * x + rows[-1][1] * x


def test_of_a_list_the_rows_are_looked_at_that_are_read(counts):
    rows = [(0.5, 2.0 + k) for k in range(200)]
    gradient = wg.grad(of_rows(rows))
    for _ in range(3):
        assert gradient(1.0) == 202.0
    rows[5:50] = ["text"] * 45
    assert counts.of(lambda: gradient(1.0)) == (0, 0)
    assert gradient(1.0) == 202.0


def test_a_row_that_is_read_is_read_again():
    rows = [(0.5, 2.0 + k) for k in range(200)]
    gradient = wg.grad(of_rows(rows))
    for _ in range(3):
        assert gradient(1.0) == 202.0
    rows.append([1.0, 1.0])
    assert gradient(1.0) == 2.0
    rows[3] = (2, 0)
    assert gradient(1.0) == 5.0
    rows[3] = (np.array(3.0), None, "text")
    assert gradient(1.0) == 7.0
    rows[3] = {0: 4.0}
    assert gradient(1.0) == 9.0
    del rows[3:]
    with pytest.raises(IndexError):
        gradient(1.0)
    rows[:] = [(1.0, 1.0)] * 4
    assert gradient(1.0) == 3.0


def chosen(x, rows, mode):
    if mode == "first":
        return x * rows[0]
    if mode == "last":
        return x * rows[-1]
    return x * sum(rows)


def test_other_items_that_another_call_reads_are_looked_at():
    gradient, rows = wg.grad(chosen), [1.0] * 99 + [2]
    for mode, wanted in (("first", 1.0), ("last", 2.0), ("all", 101.0), ("first", 1.0)) * 2:
        assert gradient(1.0, rows, mode) == wanted
    rows[0], rows[-1] = np.float64(3.0), np.array(4.0)
    assert [gradient(1.0, rows, mode) for mode in ("first", "last", "all")] == [3.0, 4.0, 105.0]


def test_an_item_of_a_list_that_got_longer():
    log = [1.0] * 100

    def f(x):
        log.append(x)
        return log[-1] * log[0] * x

    gradient = wg.grad(f)
    for _ in range(3):
        assert gradient(3.0) == 6.0
    log[0] = 2
    assert gradient(3.0) == 12.0


TABLE = []


@pytest.mark.filterwarnings("ignore::wengert.errors.NativeWarning")
@pytest.mark.parametrize("jit", [lambda f: f, wg.jit], ids=["python", "native"])
def test_a_table_of_a_module_by_index(counts, monkeypatch, jit):
    monkeypatch.setitem(globals(), "TABLE", [[0.5 * k, 1.0] for k in range(100)])
    gradient = jit(wg.grad(lambda x: TABLE[4][0] * x * x))
    for _ in range(3):
        assert gradient(1.0) == 4.0
    TABLE[7] = "text"
    assert gradient(1.0) == 4.0
    assert counts.of(lambda: gradient(1.0))[0] == 0
    TABLE[4][0] = 3
    assert gradient(1.0) == 6.0
    monkeypatch.setitem(globals(), "TABLE", np.full((9, 1), 5.0))
    assert gradient(1.0) == 10.0


# --- what a run refuses ----------------------------------------------------------------------------


def by_text(x, table, settings):
    if table["cut"] > 2.0:
        return x * eval("table['rate'] * x")
    return x * x * table["rate"]


def test_a_run_that_is_refused_is_made_anew_each_time():
    gradient = wg.grad(by_text, tier="static")
    settings = {str(k): [k, "text"] for k in range(40)}
    for _ in range(4):
        assert gradient(3.0, {"cut": 1.0, "rate": 2.0}, settings) == 12.0
    for _ in range(3):
        with pytest.raises(wg.errors.UnsupportedSyntax, match="eval"):
            gradient(3.0, {"cut": 3.0, "rate": 2.0}, settings)
    assert gradient(3.0, {"cut": 1.0, "rate": 2.0}, settings) == 12.0


def test_a_run_is_read_by_itself_where_much_is_held(counts):
    def f(x, table, settings):
        total = 0.0
        for name in sorted(table):
            total = total + x * table[name].get("rate", x)
        return total

    gradient = wg.grad(f)
    settings = {str(k): [k, "text"] for k in range(40)}
    tables = [{"a": {"rate": 1.0 + k}, "b": {}} for k in range(4)]
    for k in (0, 1, 2, 3, 0):
        assert gradient(3.0, tables[k], settings) == 1.0 + k + 6.0


def test_attributes_of_functions_are_asked_for_again():
    def scaled(x, table):
        return x * table["rate"] * scaled.scale

    def of_another(x, g):
        return g(x, {"rate": 1.0}) * g.scale

    scaled.scale = 2.0
    own, other = wg.grad(scaled), wg.grad(of_another)
    for _ in range(3):
        assert own(1.0, {"rate": 1.0}) == 2.0
        assert other(1.0, scaled) == 4.0
    scaled.scale = 3
    assert own(1.0, {"rate": 1.0}) == 3.0
    assert other(1.0, scaled) == 9.0
    scaled.scale = np.array([1.0, 2.0])
    with pytest.raises(wg.errors.NotScalar):
        own(1.0, {"rate": 1.0})
    del scaled.scale
    with pytest.raises(AttributeError):
        own(1.0, {"rate": 1.0})


class Slow:
    """What it holds is never looked at by its methods but through `vars`, `copy` and comparisons."""

    def __init__(self, size):
        self.rate, self.records, self.name = 2.0, {str(k): [k, "text"] for k in range(size)}, "slow"

    def of_vars(self, x):
        return x * len(vars(self)) * sum(1.0 for name in vars(self) if name != "name")

    def of_none(self, x):
        return x if self.records is None or not self.records else x * self.rate

    def of_type(self, x):
        return x * (2.0 if isinstance(self.name, str) else 3.0)

    def of_attribute(self, x, name="rate"):
        return x * getattr(self, name)

    def of_copy(self, x):
        other = copy.copy(self)
        other.rate = x
        return other.rate * self.rate * len(other.records)


@pytest.mark.parametrize("name", ["of_vars", "of_none", "of_type", "of_attribute", "of_copy"])
def test_other_ways_to_look_at_what_is_held(name):
    slow = Slow(40)
    f = lambda x: getattr(slow, name)(x)
    gradient = wg.grad(lambda x, slow: getattr(slow, name)(x))
    changes = [
        lambda: None,
        lambda: None,
        lambda: setattr(slow, "name", 3),
        lambda: setattr(slow, "records", {}),
        lambda: setattr(slow, "records", None) if name != "of_copy" else None,
        lambda: setattr(slow, "rate", 5),
        lambda: setattr(slow, "more", 1.0),
    ]
    for change in changes:
        change()
        assert gradient(3.0, slow) == f(4.0) - f(3.0)


def test_a_result_that_is_no_number_is_refused_and_nothing_else_is_looked_at(counts):
    gradient = wg.grad(lambda x, library: x * library.rate)
    library = Library(size=40)
    for _ in range(3):
        assert gradient(1.0, library) == 0.5
    with pytest.raises(wg.errors.NotScalar):
        gradient(np.ones(2), library)
    library.rate = 2
    assert gradient(1.0, library) == 2.0
    assert counts.of(lambda: gradient(1.0, library))[1] <= 10
