"""Classes and functions of the standard library that numerical programs lean on, read as Python's own."""

# programs under test are written as their authors would

import array
import collections
import contextlib
import copy
import functools
import pickle
import statistics
import types
import weakref
from typing import TypedDict

import numpy as np
import pytest
from differences import agree
from error_texts import refusal, says

import wengert as wg


class Window(collections.deque):
    def mean(self):
        return sum(self) / len(self)


class Total(collections.deque):
    def __init__(self, size):
        super().__init__(maxlen=size)
        self.total = 0.0

    def append(self, value):
        if len(self) == self.maxlen:
            self.total -= self[0]
        super().append(value)
        self.total += value


def classes_built_on_deques(x):
    window, last = Window([x, 2.0], maxlen=3), Total(3)
    total = 0.0
    for k in range(5):
        window.append(x * k)
        last.append(x**k)
        total += window.mean()
    is_one = isinstance(window, collections.deque) and isinstance(window + window, Window)
    return total * window[-1] + last.total * last[0] + (window * 2).mean() * is_one


def copies_of_deques(x):
    window = Window([x, x])
    shallow = copy.copy(window)
    shallow.append(3 * x)
    deep = copy.deepcopy(shallow)
    deep[0] = 1.0
    queue = collections.deque([x, x])
    other = copy.copy(queue)
    other.append(5 * x)
    return window.mean() + shallow.mean() * deep.mean() + sum(queue) * len(other)


def deques_of_other_classes_as_arrays(x):
    window = Window([x, x * x])
    match window:
        case [a, b]:
            return np.sum(np.array(window) * [a, b]) + max(window)


def typed_arrays(x):
    a = array.array("d")
    for k in range(4):
        a.append(x * k)
    b = a[1:]
    b.reverse()
    a.pop()
    a.insert(0, x * x)
    zeros = array.array("d", [0.0]) * 3
    zeros[1] = x
    whole = array.array("i", [1, 2])
    squares = float(np.sum(np.array(a) ** 2)) + np.dot(a, a)
    return squares + sum(zeros) * b[0] * whole[1] + isinstance(a, array.array) * a.tolist()[1]


class Node:
    def __init__(self, value, parent=None):
        self.value = value
        self.parent = None if parent is None else weakref.ref(parent)

    def depth(self):
        parent = self.parent and self.parent()
        return self.value + (0.0 if parent is None else parent.depth() * self.value)


def weak_references(x):
    root = Node(x)
    child = Node(x * x, root)
    root.value *= 2
    return Node(x**3, child).depth()


def by_comparison(x):
    def compare(a, b):
        return (a > b) - (a < b)

    ordered = sorted([x, 0.2, 3 * x], key=functools.cmp_to_key(compare))
    pairs = [(x, 1), (0.2, 2), (3 * x, 0)]
    pairs.sort(key=functools.cmp_to_key(lambda p, q: compare(p[0], q[0])), reverse=True)
    nodes = [Node(x), Node(0.2), Node(x * x)]
    nodes.sort(key=functools.cmp_to_key(lambda p, q: compare(p.value, q.value)))
    return ordered[0] * ordered[1] + ordered[2] + pairs[1][0] * 3 + nodes[1].value * 5


def bound_by_hand(x):
    node = Node(x)
    node.scaled = types.MethodType(lambda self, by: self.value * by, node)
    return node.scaled(x) + node.scaled.__self__.value


def stacks_that_hand_over(x):
    log = []
    with contextlib.ExitStack() as stack:
        stack.callback(lambda value, by=1.0: log.append(value * by), x, by=x)
        kept = stack.pop_all()
    before = sum(log)
    kept.close()
    return sum(log) * x + before


def any_is_a_bool(x):
    said = any([np.array([x])[0] > 0.5])
    return x * said + (1.0 if said is True else x * x)


class Said:
    def __init__(self, value):
        self.value = value

    def __array__(self, dtype=None, copy=None):
        return np.array([self.value, 1.0])


def arrays_that_classes_say(x):
    rows = np.concatenate([Said(x), Said(2 * x)])
    return np.sum(np.sin(Said(x))) * np.dot(Said(x), [x, 2.0]) + rows @ np.arange(4.0)


class Settings(TypedDict, total=False):
    rate: float
    decay: float


def typed_dictionaries(x):
    settings = Settings(rate=x)
    settings["decay"] = x * x
    return settings["rate"] * settings.get("decay", 0.0)


def parts_of_partials(x):
    first = functools.partial(lambda a, b, c: a * b + c, x, c=x * x)
    second = functools.partial(first, 2.0)
    return second() + first.keywords["c"] * second.args[1] + second.func(x, x, 3.0)


@pytest.mark.parametrize(
    "f",
    [
        arrays_that_classes_say,
        typed_dictionaries,
        parts_of_partials,
        classes_built_on_deques,
        copies_of_deques,
        deques_of_other_classes_as_arrays,
        typed_arrays,
        weak_references,
        by_comparison,
        bound_by_hand,
        stacks_that_hand_over,
        any_is_a_bool,
    ],
)
def test_right(f):
    agree(f, 0.7)


def test_a_deque_of_another_class_is_not_handed_out():
    error = refusal("WG101", NotImplementedError, lambda: wg.pullback(lambda x: Window([x]), 1.0))
    says(error, "a container of class Window", "`list(d)`")


class Branch:
    def __init__(self, value, parent=None):
        self.value, self.kids = value, []
        self.parent = None if parent is None else weakref.ref(parent)


def tree_of(depth, x, parent=None):
    node = Branch(x * (depth + 1), parent)
    if depth:
        node.kids = [tree_of(depth - 1, x, node), tree_of(depth - 1, x * x, node)]
    return node


def sum_upwards(node):
    parent = None if node.parent is None else node.parent()
    return node.value + (0.0 if parent is None else sum_upwards(parent))


def from_a_leaf(x):
    root = tree_of(2, x)
    return sum_upwards(root.kids[0].kids[1])


def from_a_leaf_whose_tree_is_gone(x):
    return sum_upwards(tree_of(2, x).kids[0].kids[1])


def deleted(x):
    node = Branch(x)
    reference = weakref.ref(node)
    del node
    return x if reference() is None else 3 * x


def replaced(x):
    root = Branch(x)
    kid = Branch(2 * x, root)
    root = Branch(5 * x)
    return x if kid.parent() is None else 3 * x * root.value


def made_inside(x):
    def made():
        node = Branch(x)
        return weakref.ref(node)

    reference = made()
    return x if reference() is None else 3 * x


@pytest.mark.parametrize(
    "f", [from_a_leaf, from_a_leaf_whose_tree_is_gone, deleted, replaced, made_inside]
)
def test_weak_references_are_there_as_long_as_in_python(f):
    slope = (f(0.7 + 1e-6) - f(0.7 - 1e-6)) / 2e-6
    assert wg.grad(f)(0.7) == pytest.approx(slope)
    assert wg.pushforward(f, 0.7)[1](1.0) == pytest.approx(slope)


# --- pickle -----------------------------------------------------------------------------------------


class Mass:
    def __init__(self, value):
        self.value = value

    def __add__(self, other):
        return Mass(self.value + getattr(other, "value", other))

    def __mul__(self, by):
        return Mass(self.value * by)


ONE, SEVERAL = pickle.dumps(Mass(2.0)), pickle.dumps([Mass(2.0), Mass(3.0)])


def grown(x):
    mass = pickle.loads(ONE)
    while mass.value < 50:
        mass = mass * x + 1.0
    return mass.value * x


def summed(x):
    total = Mass(0.0)
    for mass in pickle.loads(SEVERAL):
        total = total + mass * x
    return total.value * x


@pytest.mark.parametrize("f", [grown, summed])
def test_operators_of_unpickled_objects(f):
    wg.testing.check_gradient(f, 2.3)


# --- statistics -------------------------------------------------------------------------------------

REFUSED_DATA = {
    "mean": [([],)],
    "fmean": [([],), ([1.0, 2.0], [1.0]), ([1.0, 2.0], [0.0, 0.0])],
    "geometric_mean": [([],), ([-1.0, 2.0],)],
    "harmonic_mean": [([],), ([-1.0, 2.0],), ([1.0, 2.0], [1.0])],
    "pvariance": [([],)],
    "variance": [([],), ([1.0],)],
    "stdev": [([1.0],)],
    "pstdev": [([],)],
    "median": [([],)],
    "quantiles": [([1.0],)],
    "covariance": [([1.0], [1.0]), ([1.0, 2.0], [1.0])],
    "correlation": [([1.0], [1.0]), ([1.0, 1.0], [1.0, 2.0])],
    "linear_regression": [([1.0], [1.0]), ([1.0, 1.0], [1.0, 2.0])],
}


@pytest.mark.parametrize(
    ("name", "data"), [(name, data) for name, many in REFUSED_DATA.items() for data in many]
)
def test_data_that_statistics_refuses(name, data):
    """`function` is captured: what stands for it is read all the same."""
    function = getattr(statistics, name)

    def program(x):
        try:
            found = function(*[[x * value for value in values] for values in data])
        except statistics.StatisticsError as error:
            return x**3 * len(error.args[0])
        return sum(found)  # quantiles of one number, which Python has from 3.13 on

    agree(program, 1.3)


class Summary:
    def __init__(self, of):
        self.of = of

    def __call__(self, x):
        return self.of([x, x * x, 2.0]) * x


def test_functions_of_python_are_known_wherever_they_come_from():
    for of in (statistics.mean, statistics.stdev):
        agree(Summary(of), 1.3)
        agree(lambda x, of=of: of([x, x * x]), 1.3)
        slope, _ = wg.gradient(lambda x, of: of([x, x * x]), 1.3, of)
        assert slope == wg.grad(lambda x, of=of: of([x, x * x]))(1.3)


@pytest.mark.parametrize("rest", [[0.3, 0.1], np.array([0.3, 0.1]), ()])
def test_the_least_of_a_number_and_others(rest):
    def f(x, rest):
        return min(x * x, *rest, 7.0) + max(2 * x, *[x * r for r in rest], 0.1)

    slope = (f(0.5 + 1e-6, rest) - f(0.5 - 1e-6, rest)) / 2e-6
    assert wg.value_and_grad(f)(0.5, rest) == pytest.approx((f(0.5, rest), slope), rel=1e-6)


def test_an_attribute_that_no_list_has():
    def f(x, k):
        items = [[x, 2 * x], [x]]
        chosen = items[k]
        return chosen.real if isinstance(chosen, complex) else chosen[0]

    assert wg.grad(f)(0.5, 1) == 1.0
    with pytest.raises(AttributeError, match="'list' object has no attribute 'real'"):
        wg.grad(lambda x, k: [[x, 2 * x], [x]][k].real)(0.5, 1)
