"""What two closures have captured, or two objects hold: a change by one name is seen by the other."""

import collections
import functools

import numpy as np
import pytest
from error_texts import refusal

import wengert as wg


class Inner:
    def __init__(self):
        self.v = 1.0
        self.l = [1.0]


class Outer:
    def __init__(self, i):
        self.i = i


class Reader:
    def __init__(self, i):
        self.i = i

    def get(self):
        return self.i.v


class Machine:
    def __init__(self):
        self.i = Inner()
        self.m = Reader(self.i)
        self.g = self.m.get

    def run(self, x):
        self.i.v = x * x
        return self.m.get() * 2

    def run_bound(self, x):
        self.i.v = x * x
        return self.g() * 2

    def run_inside(self, x):
        self.m.i.v = x * x
        return self.i.v * 2


def attributes_in_two_closures():
    s = Inner()

    def step(x):
        s.v = s.v + x

    def energy():
        return s.v**2

    def f(x):
        step(x)
        return energy()

    return f


def dictionary_in_two_closures():
    s = {"v": 1.0}

    def step(x):
        s["v"] = s["v"] + x

    def energy():
        return s["v"] ** 2

    def f(x):
        step(x)
        return energy()

    return f


def list_in_two_closures():
    s = [1.0]

    def step(x):
        s[0] = s[0] + x

    def f(x):
        step(x)
        return total() ** 2

    def total():
        return sum(s)

    return f


def array_in_two_closures():
    a = np.zeros(3)

    def read():
        return a[0]

    def f(x):
        a[0] = x * x
        return read() * 2

    return f


def array_in_a_deque():
    a = np.zeros(3)
    held = collections.deque([a])

    def f(x):
        a[0] = x * x
        return held[0][0] * 2

    return f


def array_in_a_default():
    a = np.zeros(3)

    def read(a=a):
        return a[0]

    def f(x):
        a[:] = np.array([x * x, 2.0, 3.0])
        return read() * 2

    return f


def object_in_a_default():
    o = Inner()

    def read(*, o=o):
        return o.v

    def f(x):
        o.v = x * x
        return read() * 2

    return f


def method_of_an_array():
    a = np.zeros(3)
    total = a.sum

    def f(x):
        a[0] = x * x
        return total() * 2

    return f


def partial_of_an_array():
    a = np.zeros(3)
    against = functools.partial(np.dot, a)

    def f(x):
        a[0] = x * x
        return against(np.ones(3)) * 2

    return f


def part_of_two_objects():
    i = Inner()
    a, b = Outer(i), Outer(i)

    def f(x):
        a.i.v = x * x
        return b.i.v * 2

    return f


def two_names_in_one_object():
    o = Outer([1.0])
    o.j = o.i

    def f(x):
        o.i[0] = x * x
        return o.j[0] * 2

    return f


def views_in_one_object():
    o = Outer(np.zeros(2))
    o.j = o.i[::-1]

    def f(x):
        o.i[0] = x * x
        return o.j[1] * 2

    return f


def parents():
    p, c = Inner(), Inner()
    p.child, c.parent = c, p

    def f(x):
        c.v = x * x
        return p.child.v * 2

    return f


def bound_method():
    i = Inner()
    get = Reader(i).get

    def f(x):
        i.v = x * x
        return get() * 2

    return f


PROGRAMS = {
    f.__name__: f
    for f in (
        attributes_in_two_closures,
        dictionary_in_two_closures,
        list_in_two_closures,
        array_in_two_closures,
        array_in_a_deque,
        array_in_a_default,
        object_in_a_default,
        method_of_an_array,
        partial_of_an_array,
        part_of_two_objects,
        two_names_in_one_object,
        views_in_one_object,
        parents,
        bound_method,
    )
} | {
    "a method": lambda: Machine().run,
    "a bound method in an object": lambda: Machine().run_bound,
    "a part of a part": lambda: Machine().run_inside,
}


def slope(make, x=0.8, step=1e-6):
    return (make()(x + step) - make()(x - step)) / (2 * step)


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("tier", [None, "recorded"])
def test_a_change_by_one_name_is_seen_by_the_other(name, tier):
    make = PROGRAMS[name]
    value, derivative = wg.value_and_grad(make(), tier=tier)(0.8)
    assert value == pytest.approx(make()(0.8))
    assert derivative == pytest.approx(slope(make), rel=1e-7)
    if tier is not None:
        forward = wg.jacobian(make(), mode="forward", tier=tier)(0.8)
        assert forward == pytest.approx(slope(make), rel=1e-7)


@pytest.mark.parametrize("name", PROGRAMS)
def test_reading_is_refused(name):
    refusal("WG101", NotImplementedError, lambda: wg.grad(PROGRAMS[name](), tier="static")(0.8))


@pytest.mark.parametrize("name", PROGRAMS)
def test_every_verb_sees_both_names(name):
    make = PROGRAMS[name]
    expected = pytest.approx(slope(make), rel=1e-7)
    assert wg.gradient(make(), 0.8)[0] == expected
    assert wg.pullback(make(), 0.8)[1](1.0)[0] == expected
    assert wg.pushforward(make(), 0.8)[1](1.0) == expected
    assert wg.derivative(make())(0.8) == expected
    f = wg.jit(make())
    with pytest.warns(wg.errors.NativeWarning):
        assert f(0.8) == pytest.approx(make()(0.8))


def closure_that_writes():
    o = Inner()

    def f(x):
        o.v = x * x
        return o.v**2

    return f


def list_that_is_written():
    held = [1.0]

    def f(x):
        held[0] = x * x
        return held[0] ** 2

    return f


class Counter:
    def __init__(self):
        self.calls, self.last = 0, 7.0

    def run(self, x):
        self.calls += 1
        self.last = x * x
        return self.last**2


def method_of_a_captured_object():
    o = Counter()
    return lambda x: o.run(x)


@pytest.mark.parametrize(
    "make",
    [
        closure_that_writes,
        list_that_is_written,
        lambda: Counter().run,
        method_of_a_captured_object,
    ],
)
def test_what_a_function_changes_of_its_own_is_followed_by_every_verb(make):
    first, second = pytest.approx(4 * 0.8**3), pytest.approx(12 * 0.8**2)
    f = make()
    assert wg.value_and_grad(f)(0.8) == (pytest.approx(0.8**4), first)
    assert wg.jacobian(make())(0.8) == first
    assert wg.jacobian(make(), mode="forward")(0.8) == first
    assert wg.hessian(make())(0.8) == second
    assert wg.derivative(make(), 2)(0.8) == second
    assert wg.grad(wg.grad(make()))(0.8) == second
    if getattr(f, "__self__", None) is not None:
        assert (f.__self__.calls, f.__self__.last) == (1, pytest.approx(0.64))


def test_a_bound_method_that_changes_its_object_is_recorded():
    run = Counter().run
    error = refusal("WG101", NotImplementedError, lambda: wg.grad(run, tier="static")(0.8))
    what = (
        "a bound method that changes its object, or the derivative of a function that changes what it has captured, "
        "is not read"
    )  # fmt: skip
    assert str(error).startswith(f"[WG101] {what}\n\n  {__file__}:")
    assert "Differentiate a function that calls it: `lambda x: o.method(x)`." in str(error)


def test_objects_that_are_arguments():
    def f(a, b, x):
        a.i.v = x * x
        return b.i.v * 2

    i = Inner()
    assert wg.grad(f, 2)(Outer(i), Outer(i), 0.8) == pytest.approx(3.2)
    assert wg.grad(f, 2)(Outer(i), Outer(Inner()), 0.8) == 0.0
    assert wg.grad(lambda o, x: o.run(x), 1)(Machine(), 0.8) == pytest.approx(3.2)


def test_what_nobody_changes_may_be_shared():
    shared = Inner()

    def f(a, b, x):
        return a.i.v * b.i.v * x

    derivative = wg.grad(f, 2, tier="static")
    assert derivative(Outer(shared), Outer(shared), 0.8) == 1.0


def test_reading_says_that_it_knows_one_name():
    f = attributes_in_two_closures()
    error = refusal("WG101", NotImplementedError, lambda: wg.grad(f, tier="static")(0.8))
    what = (
        "f changes an object, and reaches one in two ways: two functions have captured it, or two objects "
        "or a global hold it"
    )  # fmt: skip
    hint = "Reach it in one way, or take the derivative with `wg.grad`, which records a run."
    assert str(error).startswith(f"[WG101] {what}\n\n")
    assert hint in str(error)


class Settings:
    def __init__(self, rate):
        self.rate = rate
        self.names = ["a"]


class Layer:
    def __init__(self, settings, w):
        self.settings = settings
        self.w = w
        self.last = 0.0

    def __call__(self, x):
        self.last = x * self.w
        return np.tanh(self.last) * self.settings.rate


class Network:
    def __init__(self):
        settings = Settings(0.5)
        self.layers = [Layer(settings, 0.3), Layer(settings, 0.7)]
        self.calls = 0

    def __call__(self, x):
        self.calls += 1
        for layer in self.layers:
            x = layer(x)
        return x


def test_what_is_shared_and_does_not_change_is_read():
    def squared(network, x):
        return network(x) ** 2

    gradient = wg.grad(squared, 1)
    assert "read: the derivative is generated" in str(gradient.explain(Network(), 1.3))
    step = 1e-6
    slope = (squared(Network(), 1.3 + step) - squared(Network(), 1.3 - step)) / (2 * step)
    assert abs(gradient(Network(), 1.3) - slope) < 1e-8


def test_what_is_shared_and_changes_is_recorded():
    def warmed(network, x):
        network.layers[1].settings.rate *= x
        return network(x) ** 2

    gradient = wg.grad(warmed, 1)
    assert "recorded: each call runs the program once" in str(gradient.explain(Network(), 1.3))
    step = 1e-6
    slope = (warmed(Network(), 1.3 + step) - warmed(Network(), 1.3 - step)) / (2 * step)
    assert abs(gradient(Network(), 1.3) - slope) < 1e-8


def test_a_loop_that_changes_its_items_may_change_what_they_share():
    def warmed(network, x):
        for layer in network.layers:
            layer.settings.rate *= x
        return network(x) ** 2

    gradient = wg.grad(warmed, 1)
    step = 1e-6
    slope = (warmed(Network(), 1.3 + step) - warmed(Network(), 1.3 - step)) / (2 * step)
    assert abs(gradient(Network(), 1.3) - slope) < 1e-8


class Node:
    def __init__(self, settings, after=None):
        self.settings = settings
        self.after = after
        self.weight = 1.0


def test_a_walk_along_a_chain_may_change_what_is_held_twice():
    def walked(first, other, x):
        node = first
        for _ in range(2):
            node.weight = node.weight * x
            node = node.after if node.after is not None else node
        return other.after.weight * x

    def arguments():
        last = Node(Settings(0.5))
        return Node(Settings(0.5), last), Node(Settings(0.5), last)

    step = 1e-6
    slope = (walked(*arguments(), 1.3 + step) - walked(*arguments(), 1.3 - step)) / (2 * step)
    assert abs(wg.grad(walked, 2)(*arguments(), 1.3) - slope) < 1e-8


SETTINGS = Settings(0.5)
SETTINGS.grid = np.array([1.0, 2.0])
TABLES = [np.array([1.0, 2.0])]
ROWS = {"first": [1.0, 2.0]}


def argument_in_a_global_object(grid, x):
    grid[0] = x * x
    return x * SETTINGS.grid[0]


def argument_in_a_global_list(table, x):
    table[0] = x * x
    return x * TABLES[0][0]


def argument_in_a_global_dictionary(row, x):
    ROWS["first"][0] = x * x
    return x * row[0]


@pytest.mark.parametrize(
    ("function", "part"),
    [
        (argument_in_a_global_object, SETTINGS.grid),
        (argument_in_a_global_list, TABLES[0]),
        (argument_in_a_global_dictionary, ROWS["first"]),
    ],
)
def test_an_argument_may_be_a_part_of_what_is_read_outside(function, part):
    for tier in (None, "recorded"):
        part[0] = 1.0
        assert wg.grad(function, 1, tier=tier)(part, 2.0) == 12.0
    part[0] = 1.0
    error = refusal(
        "WG101", NotImplementedError, lambda: wg.grad(function, 1, tier="static")(part, 2.0)
    )
    assert "reaches one in two ways" in str(error)
    other = [1.0, 2.0] if isinstance(part, list) else np.array([1.0, 2.0])
    assert wg.grad(function, 1, tier="static")(other, 2.0) == 1.0
