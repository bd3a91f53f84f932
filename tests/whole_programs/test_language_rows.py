"""Rows of language coverage that have no label in another module: objects, mutation, exceptions, threads.

Row ids as in `test_seed_rows`: L from Zygote's tests, MG from the article on MicroGrad, P small
published examples, also those that their own systems mark as broken.
"""

# an exception that is raised where it is caught is what these rows are about
# ruff: noqa: TRY301

import collections
import contextlib
import copy
import dataclasses
import functools
import linecache
import math
import queue
import threading
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import numpy as np
import pytest
import trees

import wengert as wg
from wengert.errors import NoSource, UnsupportedSyntax

D = wg.derivative


def close(found, expected, rel=1e-13):
    trees.assert_close(found, expected, rel=rel)


# L8, L9: functions and callable objects as arguments


def test_L8_a_function_argument_has_its_own_gradient():
    def multiplier(a):
        return lambda x: a * x

    captured, slope = wg.gradient(lambda f, x: f(x), multiplier(2.0), 5.0)
    assert captured.a == 5.0
    assert slope == 2.0


@dataclasses.dataclass
class Linear:
    W: np.ndarray
    b: np.ndarray

    def __call__(self, x):
        return self.W @ x + self.b


def test_L9_callable_objects():
    x = np.array([1.0, 2.0, 3.0])
    model = Linear(np.arange(6.0).reshape(2, 3), np.zeros(2))
    (found,) = wg.gradient(lambda m: np.sum(m(x)), model)
    assert isinstance(found, Linear)
    close(found.W, np.array([x, x]))
    close(found.b, np.ones(2))


# L19 - L24, L28: objects that are made, changed and held in containers


@dataclasses.dataclass
class Point:
    x: float
    y: float


def test_L19_MG12_objects_made_and_read():
    def product(a, b):
        p = Point(a, b)
        return p.x * p.y

    assert wg.gradient(product, 2.0, 3.0) == (3.0, 2.0)
    assert wg.gradient(lambda p: p.x, Point(1.0, 2.0)) == (Point(1.0, 0.0),)


class FewerFields:
    def __init__(self, x):
        self.x = x
        if x < 0:
            self.negative = x


def test_L20_fields_that_are_never_set():
    assert wg.gradient(lambda x: FewerFields(x).x * 2, 2.0) == (2.0,)

    def reads_what_is_unset(x):
        return FewerFields(x).negative

    assert wg.gradient(reads_what_is_unset, -2.0) == (1.0,)
    with pytest.raises(AttributeError, match="negative"):
        wg.gradient(reads_what_is_unset, 2.0)


class Sum:
    def __init__(self, a, b):
        self.a = a
        self.b = b

    @property
    def c(self):
        return self.a + self.b

    def __getattr__(self, name):
        if name == "d":
            return self.a * self.c
        raise AttributeError(name)


def test_L21_computed_properties():
    (found,) = wg.gradient(lambda s: s.a + s.b + s.c, Sum(1.0, 2.0))
    assert (found.a, found.b) == (2.0, 2.0)
    (found,) = wg.gradient(lambda s: s.d, Sum(1.0, 2.0))
    assert (found.a, found.b) == (4.0, 1.0)


class Mutable:
    def __init__(self, value):
        self.value = value


def test_L22_objects_that_change():
    (found,) = wg.gradient(lambda m: m.value**2 + m.value, Mutable(3.0))
    assert found.value == 7.0

    def put(m, x):
        m.value = x
        return m.value

    holder = Mutable(1.0)
    found, slope = wg.gradient(put, holder, 5.0)
    assert (found.value, slope) == (0.0, 1.0)
    assert holder.value == 5.0


def power_in_a_cell(x, n):
    cell = [1.0]
    while n > 0:
        n -= 1
        cell[0] *= x
    return cell[0]


def test_L23_cells():
    assert wg.gradient(power_in_a_cell, 2.0, 3) == (12.0, 0.0)


def test_L24_lists_of_objects_that_change():
    def squares(cells):
        return sum(cell.value**2 for cell in cells)

    (found,) = wg.gradient(squares, [Mutable(1.0), Mutable(2.0), Mutable(3.0)])
    assert [cell.value for cell in found] == [2.0, 4.0, 6.0]

    def made_inside(xs):
        cells = [Mutable(x) for x in xs]
        for cell in cells:
            cell.value *= cell.value
        nested = Mutable(cells[1])
        nested.value.value += cells[0].value
        return sum(cell.value for cell in cells)

    close(wg.gradient(made_inside, np.array([1.0, 2.0, 3.0])), (np.array([4.0, 4.0, 6.0]),))


def test_L28_push_and_pop():
    def stacked(x):
        stack = []
        stack.append(x)
        stack.append([x * x])
        stack.append((stack[0], "note"))
        number, _ = stack.pop()
        return stack.pop()[0] * number + len(stack)

    assert D(stacked)(2.0) == 12.0
    assert D(stacked, order=2)(2.0) == 12.0


def test_L32_stateful_map():
    def totals(xs):
        s = 0.0

        def add(x):
            nonlocal s
            s += x
            return s

        return sum(map(add, xs))

    close(
        wg.gradient(totals, list(map(float, range(1, 11)))), (list(map(float, range(10, 0, -1))),)
    )

    (found,) = wg.gradient(lambda x: sum(map(lambda a, b: a * b, x, [1, 2, 3])), np.ones(5))
    close(found, np.array([1.0, 2.0, 3.0, 0.0, 0.0]))


# L38, L39, P15: exceptions


def try_catch_finally(condition, x):
    try:
        x = 2 * x
        if condition:
            raise ValueError("caught")
    except ValueError:
        x = 2 * x
    finally:
        x = 3 * x
    return x


def try_catch_else(condition, x):
    x = 2 * x
    try:
        if condition:
            raise ValueError("caught")
    except ValueError:
        x = 2 * x
    else:
        x = 4 * x
    return x


def try_catch_else_finally(condition, x):
    try:
        if condition:
            raise ValueError("caught")
    except ValueError:
        x = 2 * x
    else:
        x = 2 * x
    finally:
        x = 3 * x
    return x * 2


@pytest.mark.parametrize("mode", ["forward", "reverse"])
def test_L38_L39_P15_try_on_both_paths(mode):
    for f, condition, expected in [
        (try_catch_finally, False, 6.0),
        (try_catch_finally, True, 12.0),
        (try_catch_else, False, 8.0),
        (try_catch_else, True, 4.0),
        (try_catch_else_finally, True, 12.0),
    ]:
        if mode == "reverse":
            assert wg.gradient(f, condition, 1.0) == (None, expected)
            assert wg.jit(wg.grad(f, argnums=1))(condition, 1.0) == expected
        else:
            assert wg.pushforward(f, condition, 1.0)[1](None, 1.0) == expected


# L44, P14: queues, threads and tasks


def through_a_queue(x):
    channel = queue.Queue()
    channel.put(x)
    channel.put(2 * x)
    return channel.get() * channel.get()


def test_L44_P14_queues():
    assert wg.gradient(through_a_queue, 5.0) == (20.0,)


@pytest.mark.static_tier
def test_L44_P14_threads_and_tasks_are_refused():
    def in_a_thread(x):
        out = []
        worker = threading.Thread(target=lambda: out.append(x * x))
        worker.start()
        worker.join()
        return out[0]

    with pytest.raises(UnsupportedSyntax):
        wg.gradient(in_a_thread, 5.0)

    async def task(x):
        return x * x

    def in_a_task(x):
        import asyncio

        return asyncio.run(task(x))

    with pytest.raises(UnsupportedSyntax):
        wg.gradient(in_a_task, 5.0)


def test_L33_L44_pools_are_maps():
    def in_a_pool(xs):
        with ThreadPoolExecutor(2) as pool:
            return sum(pool.map(lambda x: x * 2.0, xs))

    close(wg.gradient(in_a_pool, np.ones(4)), (np.full(4, 2.0),))


# L49, L53, L54, L55, P12: copies, steps and kinks


def test_L49_copies_are_apart():
    def doubled(d):
        kept = copy.deepcopy(d)
        d[1] = d[1] * 5.0
        return np.sum(d[1]) + np.sum(kept[2])

    (found,) = wg.gradient(doubled, {1: np.ones(3), 2: np.ones(3)})
    close(found[1], np.full(3, 5.0))
    close(found[2], np.ones(3))
    assert not np.shares_memory(found[1], found[2])


def test_L53_P12_steps():
    for f in (math.floor, math.ceil, round, np.floor, np.ceil, np.round, np.rint, math.trunc):
        assert wg.gradient(lambda x, f=f: f(x) * 1.0, 2.3) == (0.0,)
    assert wg.gradient(lambda x: hash(x) * 0.0 + x, 2.5) == (1.0,)
    assert wg.gradient(lambda a, b: a // b, 7.5, 2.0) == (0.0, 0.0)


def test_L54_P24_kinks():
    assert wg.gradient(lambda x: abs(x), 0.0) == (0.0,)
    assert wg.gradient(lambda x: np.abs(x), 0.0) == (0.0,)
    assert sum(wg.gradient(lambda x, y: max(x, y), 1.0, 1.0)) == 1.0
    assert sum(wg.gradient(lambda x, y: min(x, y), 1.0, 1.0)) == 1.0
    assert sum(wg.gradient(lambda x, y: np.maximum(x, y), 1.0, 1.0)) == 1.0


def test_L55_copysign():
    assert wg.gradient(math.copysign, 2.0, -3.0) == (-1.0, 0.0)
    assert wg.gradient(np.copysign, -2.0, -3.0) == (1.0, 0.0)


# L64, L66 - L69: classes as values, rules for foreign functions, nested containers, constants


def test_L64_classes_as_values():
    def made(cls, x):
        return cls(x, x * x)

    assert wg.gradient(lambda x: made(Point, x).y, 3.0) == (6.0,)
    assert wg.gradient(lambda kind, x: kind(x) * x, float, 3.0) == (None, 6.0)


def test_L67_L68_nested_and_mixed_containers():
    def second(xs, ys):
        return xs[1][1] * ys[1][1]

    xs = [(1, 2.0), (3, 4.0)]
    ys = [(5, 6.0), (7, 8.0)]
    found = wg.gradient(second, xs, ys)
    close(found, ([(0.0, 0.0), (0.0, 8.0)], [(0.0, 0.0), (0.0, 4.0)]))

    (found,) = wg.gradient(lambda v: v[0].a * 1.0, [SimpleNamespace(a=1.0, b=2.0), "three"])
    assert (found[0].a, found[0].b, found[1]) == (1.0, 0.0, None)


def test_L69_constants_of_modules():
    assert wg.gradient(lambda x: x * math.e, 2.0) == (math.e,)
    assert wg.gradient(lambda x: x * np.pi, 2.0) == (np.pi,)


# Rows of MicroGrad, models and maps


def bar(a, b):
    return a / (a + b**2)


def test_MG5_MG8_bar_alone_and_mapped():
    close(bar(2.1, 3.2), 0.17017828200972446)
    close(wg.gradient(bar, 2.1, 3.2), (0.06724649254378245, -0.08826102146371445))
    found = wg.gradient(lambda a, b: sum(map(bar, a, b)), [2.1, 4.0], [3.2, 5.0])
    close(found[0], [0.06724649254378245, 0.029726516052318668])
    close(found[1], [-0.08826102146371445, -0.047562425683709865])


@dataclasses.dataclass
class Polynomial:
    weights: list

    def __call__(self, x):
        total = 0.0
        for w in reversed(self.weights):
            total = total * x + w
        return total


def test_MG9_MG10_a_model():
    model = Polynomial([3.0, 2.0, -3.0, 1.0])
    close(model(2.5), 4.875)
    found, slope = wg.gradient(lambda m, x: m(x), model, 2.5)
    close(found.weights, [1.0, 2.5, 6.25, 15.625])
    close(slope, 5.75)

    xs = [1.0, 2.0, 3.0, 4.0]

    def total(m, xs):
        return sum(m(x) for x in xs)

    found, slopes = wg.gradient(total, model, xs)
    close(found.weights, [4.0, 10.0, 30.0, 100.0])
    close(slopes, [-1.0, 2.0, 11.0, 26.0])

    def cost(m, xs, ys):
        return sum((m(x) - y) ** 2 for x, y in zip(xs, ys)) / len(xs)

    value, back = wg.pullback(cost, model, xs, [2.0, 1.0, 3.0, 15.0])
    assert value > 0
    assert len(back(1.0)) == 3


def test_MG11_fields_that_are_not_read():
    point = SimpleNamespace(x=1.0, y=2.0, z=3.0)
    (found,) = wg.gradient(lambda p: p.x, point)
    assert (found.x, found.y, found.z) == (1.0, 0.0, 0.0)


def test_MG16_MG17_MG20_what_the_small_system_refuses_works():
    def f(x):
        cell = Mutable(x)
        with contextlib.suppress(ZeroDivisionError):
            while cell.value < 100:
                cell.value *= x
            cell.value /= x - x
        return cell.value

    assert D(f)(5.0) == 75.0


def test_MG18_a_call_whose_result_is_not_used():
    def confuse(x):
        math.sqrt(x)
        [x, "text"].index("text")
        return 2 * x

    assert D(confuse)(3.0) == 2.0


GENERATED = "def chain(x):\n    for _ in range(2):\n        x = 3 * x ** 2\n    return x\n"


def generated(name):
    scope = {}
    exec(compile(GENERATED, name, "exec"), scope)
    return scope["chain"]


@pytest.mark.static_tier
def test_MG21_generated_code_is_read_where_its_text_is_known(monkeypatch):
    lines = GENERATED.splitlines(keepends=True)
    monkeypatch.setitem(linecache.cache, "<layers>", (len(GENERATED), None, lines, "<layers>"))
    assert D(generated("<layers>"))(2.0) == 108 * 8.0
    with pytest.raises(NoSource, match="the source of chain cannot be found"):
        D(generated("<nowhere>"))(2.0)


def test_MG24_cotangents_of_another_shape_are_refused():
    _, back = wg.pullback(lambda x: x * 2, np.ones(3))
    with pytest.raises((TypeError, ValueError), match="shape"):
        back(np.ones(4))


@pytest.mark.static_tier
def test_MG25_the_error_names_the_line_that_is_refused():
    def inner(x):
        return eval("x * x")

    def outer(x):
        return inner(x) * 2

    with pytest.raises(UnsupportedSyntax) as refused:
        wg.gradient(outer, 1.0)
    assert 'return eval("x * x")' in str(refused.value)
    assert "in inner" in str(refused.value)


# P: small published examples


def test_P10_powers_in_a_dictionary():
    def f760(x):
        d = {}
        for i in range(1, 4):
            d[i] = x**i
        return sum(d.values())

    close(D(f760)(3.0), 1 + 2 * 3.0 + 3 * 9.0)


def test_P16_is_differentiating():
    def f(x):
        return x**2 if wg.is_differentiating() else 2 * x**2

    assert f(1.0) == 2.0
    assert D(f)(1.0) == 2.0


def test_P17_jacobians_and_hessians():
    def f(x):
        return np.array([x[0] ** 2 + x[1], x[0] * x[1]])

    x = np.array([2.0, 3.0])
    close(wg.jacobian(f)(x), np.array([[4.0, 1.0], [3.0, 2.0]]))
    close(wg.hessian(lambda x: np.sum(x**3))(x), np.diag(6 * x))
    close(wg.diag_hessian(lambda x: np.sum(x**3))(x), 6 * x)


def test_P21_polynomial_and_edges():
    def polynomial(x):
        return 12 + 7 * x + 5 * x**2 + 2 * x**3

    points = [-2.0, -1.5, -1.0, -0.5, 0.0, 0.5, 1.0, 1.5, 2.0]
    close([D(polynomial)(x) for x in points], [11, 5.5, 3, 3.5, 7, 13.5, 23, 35.5, 51.0])
    assert [D(abs)(x) for x in (-2.0, 0.0, 2.0)] == [-1.0, 0.0, 1.0]
    assert D(lambda x: sum([x] * 5000))(1.0) == 5000.0


def test_P23_perturbations_are_kept_apart():
    assert D(lambda x: x * D(lambda y: x + y)(1.0))(1.0) == 1.0
    assert D(lambda x: D(lambda y: x * y)(4.0) * x)(1.0) == 2.0
    assert wg.gradient(
        lambda v: sum(v) * wg.gradient(lambda w: sum(w) * v[0], [1.0, 0.0])[0][1], [1.0, 0.0]
    ) == ([2.0, 1.0],)


def test_P6_rebinding_in_nested_derivatives():
    def g(x):
        def h(y):
            nonlocal x
            x = y
            return x

        return D(h)(x) * x

    assert D(g)(1.0) == 1.0


def test_composition_by_reduce():
    f = functools.reduce(lambda f, g: lambda x: g(f(x)), [math.sin, math.exp, math.sqrt])
    close(D(f)(0.5), math.cos(0.5) * math.exp(math.sin(0.5) / 2) / 2)
    counts = collections.Counter()

    def counted(x):
        counts["calls"] += 1
        return f(x)

    close(D(counted)(0.5), D(f)(0.5))
    assert counts["calls"] == 1
