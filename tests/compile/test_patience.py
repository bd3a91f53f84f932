"""What takes long to read is recorded, until recording has taken as long."""

import math
from collections import OrderedDict

import numpy as np
import pytest

import wengert as wg
from wengert.compile import engine, keys, patience, recorded
from wengert.errors import UnsupportedSyntax
from wengert.frontend.machine import budget


class Clock:
    """A clock that goes on by a second whenever it is asked."""

    def __init__(self):
        self.now = 0.0

    def __call__(self):
        self.now += 1.0
        return self.now


@pytest.fixture
def little_patience(monkeypatch):
    monkeypatch.setattr(keys, "_readings", {})
    monkeypatch.setattr(engine, "_cache", OrderedDict())
    monkeypatch.setattr(patience, "NODES", 30)
    monkeypatch.setattr(patience, "perf_counter", Clock())


def long_program(seen=None):
    """A function of some 60 nodes; it notes each run in Python."""

    def f(x):
        if seen is not None:
            seen.append(1)
        y = x
        for w in (1.0, 2.0, 3.0):
            y = y + math.sin(w * y) * math.cos(w * x)
        return y * y

    return f


def slope(x):
    h = 1e-6
    return (long_program()(x + h) - long_program()(x - h)) / (2 * h)


def tier_of(derivative, *args):
    return derivative.explain(*args).partition(") ")[2].partition(":")[0]


def test_pairs_of_objects_that_may_be_one_count_as_well(monkeypatch):
    monkeypatch.setattr(budget, "PAIRS", 0.001)

    @wg.grad
    def derivative(x, k):
        rows = [[x * w] for w in (1.0, 2.0, 3.0)]
        row = rows[k]
        row[0] = row[0] ** 2
        return rows[0][0] + rows[1][0]

    assert derivative(0.7, 1) == pytest.approx(1.0 + 8 * 0.7)
    assert tier_of(derivative, 0.7, 1) == "recorded"


@pytest.mark.usefixtures("little_patience")
@pytest.mark.parametrize(
    "verb",
    [
        lambda f: wg.grad(f),
        lambda f: lambda x: wg.value_and_grad(f)(x)[1],
        lambda f: lambda x: wg.pullback(f, x)[1](1.0)[0],
        lambda f: lambda x: wg.pushforward(f, x)[1](1.0),
        lambda f: wg.derivative(f),
        lambda f: lambda x: wg.jacobian(f)(x),
    ],
    ids=["grad", "value_and_grad", "pullback", "pushforward", "derivative", "jacobian"],
)
def test_each_verb_is_right_before_and_after(verb):
    derivative = verb(long_program())
    for x in np.linspace(0.3, 1.2, 12):
        assert derivative(float(x)) == pytest.approx(slope(float(x)), rel=1e-7)


@pytest.mark.usefixtures("little_patience")
def test_runs_are_recorded_until_they_have_taken_as_long():
    derivative = wg.grad(long_program())
    assert derivative(0.7) == pytest.approx(slope(0.7), rel=1e-7)
    # reading took a second and may take four when it is tried again; each run takes one
    tiers = []
    for _ in range(6):
        tiers.append(tier_of(derivative, 0.7))
        derivative(0.7)
    assert tiers == ["recorded"] * 3 + ["read"] * 3


@pytest.mark.usefixtures("little_patience")
def test_why_is_said():
    derivative = wg.grad(long_program())
    said = derivative.explain(0.7)
    assert "reading this program takes longer than recording some runs of it" in said
    assert "y = y + math.sin(w * y) * math.cos(w * x)" in said
    assert 'tier="static"` reads it at once' in said


@pytest.mark.usefixtures("little_patience")
def test_what_asks_for_reading_gets_it():
    f = long_program()
    static = wg.grad(f, tier="static")
    assert static(0.7) == pytest.approx(slope(0.7), rel=1e-7)
    assert tier_of(static, 0.7) == "read"
    assert "math.cos" in wg.grad(f).specialize(0.7).source
    assert wg.jit(wg.grad(f), strict=True)(0.7) == pytest.approx(slope(0.7), rel=1e-7)


@pytest.mark.usefixtures("little_patience")
def test_each_run_is_one_run():
    seen = []
    derivative = wg.grad(long_program(seen))
    for k in range(8):
        assert derivative(0.7) == pytest.approx(slope(0.7), rel=1e-7)
        assert len(seen) == k + 1
    assert tier_of(derivative, 0.7) == "read"


@pytest.mark.usefixtures("little_patience")
@pytest.mark.parametrize(
    "verb",
    [
        lambda f, x: wg.grad(f)(x),
        lambda f, x: wg.pullback(f, x)[1](1.0)[0],
        lambda f, x: wg.pushforward(f, x)[1](1.0),
    ],
    ids=["grad", "pullback", "pushforward"],
)
def test_where_recording_is_refused_as_well_it_is_read(monkeypatch, verb):
    def refused(*_):
        raise UnsupportedSyntax("not to be recorded", "")

    for name in ("called", "pullback", "pushforward"):
        monkeypatch.setattr(recorded, name, refused)
    assert verb(long_program(), 0.7) == pytest.approx(slope(0.7), rel=1e-7)
    keys._readings.clear()
    seen = []
    f = long_program(seen)
    with pytest.raises(UnsupportedSyntax, match=r"Recording a run does not help here"):
        verb(f, 0.7)  # it leaves traces: nobody knows how far it has come
    assert verb(f, 0.7) == pytest.approx(slope(0.7), rel=1e-7)
    assert seen == [1]


@pytest.mark.usefixtures("little_patience")
def test_what_comes_to_the_limit_of_its_tape_is_read():
    derivative = wg.grad(long_program())
    with wg.tape_limit(500):
        assert derivative(0.7) == pytest.approx(slope(0.7), rel=1e-7)
    assert tier_of(derivative, 0.7) == "read"


@pytest.mark.usefixtures("little_patience")
def test_what_cannot_be_read_on_a_path_leaves_no_reading_without_end():
    def f(x):
        if x < 0:
            exec("x = 2")
        y = x
        for w in (1.0, 2.0, 3.0):
            y = y + math.sin(w * y) * math.cos(w * x)
        return y * y

    derivative = wg.grad(f)
    assert derivative(0.7) == pytest.approx(slope(0.7), rel=1e-7)
    assert tier_of(derivative, 0.7) == "recorded"
    for _ in range(6):
        derivative(0.7)
    assert derivative(0.7) == pytest.approx(slope(0.7), rel=1e-7)
