"""What a program shows while it computes: pictures, progress bars, and the switches that leave them out."""

import math

import matplotlib as mpl
import numpy as np
import pytest
from differences import agree
from error_texts import refusal
from tqdm import tqdm, trange

import wengert as wg

mpl.use("Agg")

import matplotlib.pyplot as plt

SHOW = False
SCALED = True
FIGURE, AXES = plt.subplots()
DRAWN = []


@pytest.fixture(autouse=True)
def no_figures():
    yield
    plt.close("all")


# --- pictures -----------------------------------------------------------------------------------


def with_a_switch(theta):
    xs = [theta[0]]
    for _ in range(5):
        xs.append(xs[-1] * theta[1] + 0.1)
        if SHOW:
            plt.cla()
            plt.plot(xs, "-r", label="course")
            plt.gcf().canvas.mpl_connect("key_release_event", lambda event: [print(event)])
            plt.pause(0.01)
    return sum(xs)


def with_axes(theta, ax=None):
    x = np.linspace(0.0, 1.0, 5) * theta[0]
    y = np.sin(x) * theta[1]
    if ax is None:
        ax = plt.gca()
    ax.plot(x, y, label=f"{theta[0]:.2f}")
    ax.set_xlabel("x")
    ax.legend(loc="best")
    ax.figure.canvas.mpl_connect("close_event", lambda event: print("closed", event))
    return np.sum(y)


def with_figures(theta):
    figure, (left, right) = plt.subplots(1, 2, figsize=(3, 3))
    with plt.style.context("ggplot"):
        left.scatter(theta, theta**2, c=theta)
        for ax in (left, right):
            ax.set_title(str(theta[0])[:4])
    AXES.bar([1, 2], theta)
    figure.tight_layout()
    plt.close(figure)
    return theta[0] * math.sin(theta[1])


class Simulation:
    def __init__(self, x, draw):
        self.x, self.course = x, []
        self.figure, self.axes = plt.subplots() if draw else (None, None)

    def step(self, rate):
        self.x = self.x * rate + 0.1
        self.course.append(self.x)
        if self.axes is not None:
            self.axes.clear()
            self.axes.plot(self.course)


def simulated(theta):
    simulation = Simulation(theta[0], draw=True)
    for _ in range(3):
        simulation.step(theta[1])
    return simulation.x


@pytest.mark.parametrize("f", [with_a_switch, with_axes, with_figures, simulated])
def test_programs_that_draw(f):
    theta = np.array([0.3, 0.9])
    steps = np.eye(2) * 1e-6
    expected = [(f(theta + e) - f(theta - e)) / 2e-6 for e in steps]
    np.testing.assert_allclose(wg.grad(f)(theta), expected, rtol=1e-7)
    pushed = [wg.pushforward(f, theta)[1](e) for e in np.eye(2)]
    np.testing.assert_allclose(pushed, expected, rtol=1e-7)


def test_a_picture_is_drawn_of_the_values_once():
    _, ax = plt.subplots()
    value, gradient = wg.value_and_grad(with_axes)(np.array([0.3, 0.9]), ax)
    (line,) = ax.lines
    np.testing.assert_allclose(line.get_ydata().sum(), value)
    assert line.get_label() == "0.30"
    assert gradient.shape == (2,)


def test_numbers_that_are_read_from_a_picture_have_lost_their_derivative():
    def f(theta):
        heights, edges, _ = plt.hist(theta, bins=3)
        return np.sum(heights * edges[1:])

    error = refusal("WG101", NotImplementedError, lambda: wg.gradient(f, np.array([0.1, 0.5, 0.9])))
    assert "a number read back from text or from a picture has lost its derivative" in str(error)

    def g(theta):
        heights, _, _ = plt.hist([1.0, 2.0, 2.5], bins=2)
        return theta * heights[1]

    assert wg.gradient(g, 2.0) == (2.0,)


def test_what_is_to_be_called_later_may_not_need_the_values_of_the_program():
    def f(x):
        plt.gcf().canvas.mpl_connect("close_event", lambda event: x)
        return x

    error = refusal("WG101", NotImplementedError, lambda: wg.gradient(f, 1.0))
    assert "passed on in a way that is known only at run time" in str(error)


# --- progress -----------------------------------------------------------------------------------


def with_bars(x):
    total = x
    for k in tqdm(range(5), desc="steps"):
        total = total * x + k
    for k in trange(3, leave=False):
        total -= k * x
    bar = tqdm(enumerate([x, 2.0]), total=2)
    for k, y in bar:
        total += k * y
        bar.set_description(f"{total:.2f}")
    with tqdm(total=4, unit="step") as by_hand:
        while by_hand.n < by_hand.total:
            total += x / (1 + by_hand.n)
            by_hand.update(1)
            by_hand.set_postfix(total=total)
    return total


def test_progress_bars(capsys):
    agree(with_bars, 0.7)
    capsys.readouterr()
    assert wg.gradient(with_bars, 0.7)
    assert capsys.readouterr() == ("", "")
    with pytest.warns(wg.errors.NativeWarning, match="text that nobody reads"):
        assert wg.jit(wg.grad(with_bars))(0.7) == pytest.approx(wg.grad(with_bars)(0.7))


def counted_by_the_bar(x):
    bar = tqdm([x, 2 * x])
    total = sum(y * y for y in bar)
    return total * bar.n


def test_what_a_bar_counts_by_itself_is_refused():
    """It depends on when it was last shown."""
    error = refusal("WG101", NotImplementedError, lambda: wg.gradient(counted_by_the_bar, 1.0))
    assert "what a bar counts that is not updated by hand" in str(error)


# --- switches -----------------------------------------------------------------------------------


def scaled(x):
    return 3.0 * x if SCALED else x


def test_a_switch_is_honoured_when_it_is_turned(monkeypatch):
    native = wg.jit(wg.grad(scaled))
    for value, expected in [(True, 3.0), (False, 1.0), (True, 3.0)]:
        monkeypatch.setitem(globals(), "SCALED", value)
        assert wg.gradient(scaled, 2.0) == (expected,)
        assert native(2.0) == expected


def test_what_a_switch_leaves_out_is_not_read():
    """A picture leaves no native form, but none is drawn."""
    theta = np.array([0.3, 0.9])
    found = wg.jit(wg.grad(with_a_switch), strict=True)(theta)
    np.testing.assert_allclose(found, wg.grad(with_a_switch)(theta))
