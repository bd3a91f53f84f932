"""When iterators make their items, and who is asked: values, effects and exceptions as plain Python's."""

# programs under test are written as users write them

import contextlib
import functools
import itertools
import operator
import types
from collections import deque

import numpy as np
import pytest
from differences import slope

import wengert as wg
from wengert.errors import UnsupportedSyntax

XS = [0.5, 1.25, -0.75]
PROGRAMS = []


def program(f):
    PROGRAMS.append(f)
    return f


class Multiples:
    def __init__(self, x, n):
        self.x, self.n, self.k = x, n, 0

    def __iter__(self):
        return self

    def __next__(self):
        if self.k >= self.n:
            raise StopIteration
        self.k += 1
        return self.x * self.k


class Bag:
    def __init__(self, items):
        self.items = items

    def __iter__(self):
        yield from self.items


@program
def accumulate_late(x, xs, d):
    ys = [x, 2.0]
    it = itertools.accumulate(ys)
    ys.append(x * x)
    return sum(it)


@program
def accumulate_late_rt(x, xs, d):
    it = itertools.accumulate(xs)
    xs.append(x * x)
    return sum(it)


@program
def map_late(x, xs, d):
    it = map(lambda v: v * x, xs)
    xs.append(x * x)
    return sum(it)


@program
def map_late_known(x, xs, d):
    ys = [x, 2.0]
    it = map(lambda v: v * x, ys)
    ys.append(x * x)
    return sum(it)


@program
def filter_late(x, xs, d):
    it = filter(lambda v: v > 0, xs)
    xs.append(x * x)
    xs[0] = 3 * x
    return sum(it)


@program
def zip_late(x, xs, d):
    it = zip(xs, [x, x * x, 3.0, 4.0])
    xs.append(x * x)
    xs[0] = 3 * x
    return sum(a * b for a, b in it)


@program
def enumerate_late(x, xs, d):
    it = enumerate(xs)
    xs.append(x * x)
    return sum(k * b for k, b in it)


@program
def islice_late(x, xs, d):
    it = itertools.islice(xs, 1, 5)
    xs.append(x * x)
    xs[1] = x
    return sum(it)


@program
def chain_late(x, xs, d):
    ys = [x]
    it = itertools.chain(xs, ys)
    ys.append(x * x)
    xs.append(x)
    return sum(it)


@program
def reversed_late(x, xs, d):
    it = reversed(xs)
    xs.append(x * x)
    xs[0] = x
    t = 0.0
    for k, v in enumerate(it):
        t += (k + 1) * v
    return t


@program
def reversed_late_known(x, xs, d):
    ys = [x, 2.0, 3.0]
    it = reversed(ys)
    ys.append(x * x)
    ys[0] = x**3
    t = 0.0
    for k, v in enumerate(it):
        t += (k + 1) * v
    return t


@program
def pairwise_late(x, xs, d):
    it = itertools.pairwise(xs)
    xs.append(x * x)
    return sum(a * b for a, b in it)


@program
def takewhile_late(x, xs, d):
    it = itertools.takewhile(lambda v: v < 10, xs)
    xs.append(x * x)
    return sum(it)


@program
def dropwhile_late(x, xs, d):
    it = itertools.dropwhile(lambda v: v > 1, xs)
    xs.append(x * x)
    return sum(it)


@program
def starmap_late(x, xs, d):
    ps = [(x, 2.0), (3.0, x)]
    it = itertools.starmap(operator.mul, ps)
    ps.append((x, x))
    return sum(it)


@program
def compress_late(x, xs, d):
    sel = [1, 0, 1, 1]
    it = itertools.compress(xs, sel)
    xs.append(x * x)
    return sum(it)


@program
def zip_longest_late(x, xs, d):
    it = itertools.zip_longest(xs, [x], fillvalue=2.0)
    xs.append(x * x)
    return sum(a * b for a, b in it)


@program
def asked_while_drained(x, xs, d):
    it = iter(xs)
    return sum(v * next(it, x) for v in it)


@program
def asked_while_drained_comp(x, xs, d):
    it = iter([x, 2.0, 3.0, x * x, 5.0])
    return sum([v * next(it, x) for v in it])


@program
def asked_while_drained_for(x, xs, d):
    it = iter(xs)
    t = 0.0
    for v in it:
        t += v * next(it, x)
    return t


@program
def groups(x, xs, d):
    t = 0.0
    for k, g in itertools.groupby([x, 0.2, 1.5, 0.1, 2.0], key=lambda v: v > 1):
        t += (2 if k else 3) * sum(g)
    return t


@program
def groupby_list(x, xs, d):
    gs = [
        (k, list(g)) for k, g in itertools.groupby([x, 0.2, 1.5, 0.1, 2.0 * x], key=lambda v: v > 1)
    ]
    return x + sum(len(g) * sum(g) for k, g in gs)


@program
def groupby_rt(x, xs, d):
    t = 0.0
    for k, g in itertools.groupby(xs, key=lambda v: v > 0):
        t += (2 if k else 3) * sum(v * x for v in g)
    return t


@program
def groupby_partial(x, xs, d):
    t = 0.0
    for _, g in itertools.groupby([x, 0.2, 1.5, 0.1, 2.0 * x], key=lambda v: v > 1):
        t += next(g)
    return t


@program
def tee_shared(x, xs, d):
    it = iter([x, 2.0, x * x, 4.0])
    a, b = itertools.tee(it)
    t = next(a)
    u = next(it)
    return t * u + 3 * sum(b) + sum(a)


@program
def two_branches(x, xs, d):
    a, b = itertools.tee([x, 2.0, x * x, 4.0])
    next(b)
    return sum(p * q for p, q in zip(a, b))


@program
def tee_rt(x, xs, d):
    a, b = itertools.tee(xs)
    next(b)
    return sum(p * q * x for p, q in zip(a, b))


@program
def tee_gen_effects(x, xs, d):
    log = []

    def gen():
        for k in range(4):
            log.append(x * k)
            yield k * x

    a, b = itertools.tee(gen())
    t = next(a) + next(a) + next(b)
    return t + 10 * sum(log)


@program
def iter_eq(x, xs, d):
    return x * 2 if iter(xs) == iter(xs) else x * 3


@program
def iter_eq_self(x, xs, d):
    it = iter([x, 2.0])
    return x * 2 if it == it else x * 3


@program
def map_eq(x, xs, d):
    return x * 2 if map(abs, xs) == map(abs, xs) else x * 3


@program
def set_remove_absent_caught(x, xs, d):
    s = {1, 2}
    try:
        s.remove(5)
    except KeyError:
        return x * 3
    return x


@program
def for_float_caught(x, xs, d):
    try:
        return x + sum(1.0)
    except TypeError:
        return x * x


@program
def list_float_caught(x, xs, d):
    try:
        return x + len(list(x))
    except TypeError:
        return x * x


@program
def dict_resized_caught(x, xs, d):
    t = 0.0
    try:
        for k in d:
            t += d[k] * x
            d[k + "z"] = x
    except RuntimeError:
        t += x * x
    return t


@program
def gen_raises_in_extend(x, xs, d):
    def gen():
        yield x
        yield x * x
        raise ValueError("no")

    ys = []
    try:
        ys.extend(gen())
    except ValueError:
        pass
    return sum(ys) + x


@program
def gen_raises_in_extend_eff(x, xs, d):
    log = []

    def gen():
        log.append(x)
        yield x
        log.append(x * x)
        raise ValueError("no")

    ys = []
    try:
        ys.extend(gen())
    except ValueError:
        pass
    return sum(log) + x


@program
def gen_raises_in_list(x, xs, d):
    log = []

    def gen():
        log.append(x)
        yield x
        log.append(x * x)
        raise ValueError("no")

    ys = [x]
    try:
        ys = list(gen())
    except ValueError:
        pass
    return sum(log) + sum(ys)


@program
def gen_raised_is_finished(x, xs, d):
    def gen():
        yield x
        if x < 10:
            raise ValueError("no")
        yield x * x

    g = gen()
    a = next(g)
    try:
        next(g)
    except ValueError:
        a *= 2
    return a + next(g, 7 * x)


@program
def gen_raised_is_finished_for(x, xs, d):
    def gen():
        for k in range(5):
            if k == 2:
                raise ValueError("no")
            yield x * k

    g = gen()
    t = 0.0
    try:
        for v in g:
            t += v
    except ValueError:
        t += x
    for v in g:
        t += 100 * v
    return t


@program
def extend_object(x, xs, d):
    ys = [x]
    ys.extend(Multiples(x, 3))
    return sum(ys)


@program
def extend_object_bag(x, xs, d):
    ys = [x]
    ys.extend(Bag([x, 2.0]))
    return sum(ys)


@program
def extend_object_rt(x, xs, d):
    xs.extend(Multiples(x, 3))
    return sum(xs)


@program
def iadd_object(x, xs, d):
    xs += Multiples(x, 3)
    return sum(xs)


@program
def iadd_object_known(x, xs, d):
    ys = [x]
    ys += Bag([x, 2.0])
    return sum(ys)


@program
def slice_object(x, xs, d):
    ys = [1.0, 2.0]
    ys[0:1] = Multiples(x, 3)
    return sum((k + 1) * v for k, v in enumerate(ys))


@program
def deque_extend_object(x, xs, d):
    q = deque([x])
    q.extend(Multiples(x, 3))
    return sum(q)


@program
def pairs_of_unlike_lengths(x, xs, d):
    t = 0.0
    try:
        for a, b in zip(xs, [x, x * x], strict=True):
            t += a * b
    except ValueError:
        t += 100 * x
    return t


@program
def strict_zip_known(x, xs, d):
    t = 0.0
    try:
        for a, b in zip([x, 2.0, 3.0], [x, x * x], strict=True):
            t += a * b
    except ValueError:
        t += 100 * x
    return t


@program
def strict_zip_gen(x, xs, d):
    t = 0.0
    try:
        for a, b in zip(xs, (v * x for v in [1.0, 2.0]), strict=True):
            t += a * b
    except ValueError:
        t += 100 * x
    return t


@program
def strict_zip_list(x, xs, d):
    try:
        return x + len(list(zip(xs, [x], strict=True)))
    except ValueError:
        return x * 3


@program
def update_zip(x, xs, d):
    d.update(zip(["a", "q", "r"], xs))
    return sum(d.values()) * x


@program
def update_zip_rt(x, xs, d):
    keys = [f"k{i}" for i in range(len(xs))]
    d.update(zip(keys, (v * x for v in xs)))
    return sum(d.values()) * x


@program
def update_genexp(x, xs, d):
    e = {}
    e.update((k, v * x) for k, v in d.items())
    return sum(e.values())


@program
def update_enumerate(x, xs, d):
    e = {7: x}
    e.update(enumerate(xs))
    return sum(k * v * x for k, v in e.items())


@program
def branches_of_a_list_that_changes_later(x, xs, d):
    a, b = itertools.tee(xs)
    next(b)
    xs[1] = x * x
    return sum(p * q for p, q in zip(a, b))


@program
def branches_of_items_that_change_later(x, xs, d):
    ys = [x, 2.0, 3.0]
    a, b = itertools.tee(y * x for y in ys)
    first = sum(a)
    ys[2] = x * x
    ys.append(x)
    return first * x + sum(b)


@program
def a_list_that_grows_while_it_is_walked_over(x, xs, d):
    ys = [x]
    for v in ys:
        if len(ys) < 4:
            ys.append(v * x)
    return sum(ys)


@program
def a_list_that_shrinks_while_it_is_walked_over(x, xs, d):
    ys = [x, 2 * x, 3 * x, 4 * x]
    total = 0.0
    for v in ys:
        total += v
        ys.pop(0)
    return total * x + sum(ys)


@program
def division_by_nothing_suppressed(x, xs, d):
    total = x
    with contextlib.suppress(ZeroDivisionError):
        total *= 3
        total /= 0
        total *= 5
    return total


@program
def a_closure_asks_what_a_loop_drains(x, xs, d):
    some = iter(xs)

    def another():
        return next(some, x)

    total = 0.0
    for v in some:
        total += v * another()
    return total


@program
def pairs_of_a_list_that_changes(x, xs, d):
    ys = [x, 2.0, 3.0]
    total = 0.0
    for a, b in itertools.pairwise(ys):
        total += a * b
        ys[2] = x * x
    return total


@program
def map_asked_in_a_branch(x, xs, d):
    s, items = x, map(lambda v: v * s, xs)
    if x > 100.0:
        d["a"] = sum(items)
    s = 3.0 * x
    return sum(items)


@program
def generator_asked_in_a_branch(x, xs, d):
    s, items = x, (v * s for v in xs)
    if x > 0.5:
        d["a"] = sum(items)
    else:
        s = 2.0 * x
    s = 3.0 * s
    return s + sum(items)


@program
def zip_asked_in_a_branch(x, xs, d):
    items = zip(xs, [x, x * x])
    if x > 100.0:
        d["a"] = sum(a * b for a, b in items)
    xs[1] = x
    return sum(a * b for a, b in items)


class Stop(Exception):
    pass


@program
def generator_asked_after_a_return_that_was_not_taken(x, xs, d):
    s = 0.4
    try:
        try:
            if x > 5.0:
                return s
        finally:
            if "new" not in d:
                d["new"] = x * 2.0
            s = d["new"]
        if s > 0.1:
            raise Stop  # noqa: TRY301
    except Stop:
        items = (v * s for v in xs)
        s = 2.0 * x
        s = sum(items)
    return s


@pytest.mark.parametrize("f", PROGRAMS)
def test_values_derivatives_and_effects(f):
    def of_one(x):
        return f(x, list(XS), {"a": 0.3, "b": 1.7})

    x, xs, d = 0.7, list(XS), {"a": 0.3, "b": 1.7}
    value = pytest.approx(of_one(x), rel=1e-12)
    expected = pytest.approx(slope(of_one, x), rel=1e-8, abs=1e-9)
    assert wg.value_and_grad(f)(x, xs, d) == (value, expected)
    left, table = list(XS), {"a": 0.3, "b": 1.7}
    f(x, left, table)
    assert (xs, d) == (pytest.approx(left), pytest.approx(table))
    assert wg.derivative(of_one)(x) == expected


GENERAL = [
    accumulate_late,
    zip_late,
    pairwise_late,
    groups,
    strict_zip_gen,
    extend_object,
    iadd_object,
    update_zip,
]


@pytest.mark.parametrize("f", GENERAL)
def test_the_source_for_any_arguments(f):
    names = {}
    exec(wg.grad(f).source, names)
    found = names[f"grad_{f.__name__}"](0.7, list(XS), {"a": 0.3, "b": 1.7})
    of_one = lambda x: f(x, list(XS), {"a": 0.3, "b": 1.7})
    assert found == pytest.approx(slope(of_one, 0.7), rel=1e-8)


def grows(x, numbers):
    items = map(lambda v: v * x, numbers)
    numbers.append(2 * x)
    return sum(items)


def test_a_list_that_a_partial_or_a_default_has_is_changed():
    for bind in (
        lambda numbers: functools.partial(grows, numbers=numbers),
        lambda numbers: lambda x, xs=numbers: grows(x, xs),
    ):
        numbers, others = [1.0, 2.0], [1.0, 2.0]
        assert wg.value_and_grad(bind(numbers))(0.7) == pytest.approx((3.08, 5.8))
        assert wg.derivative(bind(others))(0.7) == pytest.approx(5.8)
        assert numbers == others == [1.0, 2.0, 1.4]


# --- exceptions that nobody catches -----------------------------------------------------------


def takes_out_what_is_not_there(x, xs, d):
    s = {1, 2}
    s.remove(5)
    return x


def walks_over_nothing(x, xs, d):
    total = x
    for v in None:
        total += v
    return total


def adds_keys_while_it_walks(x, xs, d):
    total = 0.0
    for k in d:
        total += d[k] * x
        d[k + "z"] = x
    return total


def drops_keys_while_it_walks(x, xs, d):
    e = {"a": x, "b": 2.0}
    total = 0.0
    for k in e:
        total += len(k) * x
        if k == "a":
            del e["b"]
    return total


def unlike_lengths(x, xs, d):
    total = 0.0
    for a, b in zip(xs, [x, x * x], strict=True):
        total += a * b
    return total


RAISING = [
    takes_out_what_is_not_there,
    walks_over_nothing,
    adds_keys_while_it_walks,
    drops_keys_while_it_walks,
    unlike_lengths,
]


@pytest.mark.parametrize("f", RAISING)
def test_the_exceptions_of_plain_python(f):
    with pytest.raises((KeyError, TypeError, RuntimeError, ValueError)) as plain:
        f(0.7, list(XS), {"a": 0.3, "b": 1.7})
    for way in (wg.value_and_grad(f), lambda *args: wg.pushforward(f, *args)):
        with pytest.raises(type(plain.value)) as found:
            way(0.7, list(XS), {"a": 0.3, "b": 1.7})
        assert found.value.args == plain.value.args


# --- objects that are iterators -----------------------------------------------------------------


class Halving:
    """An iterator by its class: it ends when nothing much is left."""

    def __init__(self, x):
        self.x = x

    def __iter__(self):
        return self

    def __next__(self):
        if self.x < 0.2:
            raise StopIteration
        self.x = self.x / 2
        return self.x


def asks_with_a_default(x):
    halves = Halving(x)
    total = next(halves)
    while (half := next(halves, None)) is not None:
        total += half * x
    return total + next(halves, 3 * x)


def test_next_of_an_object_with_a_default():
    for x in (0.9, 5.0):
        wg.testing.check_gradient(asks_with_a_default, x)
        assert wg.derivative(asks_with_a_default)(x) == pytest.approx(
            wg.grad(asks_with_a_default)(x), rel=1e-12
        )


# --- what is refused --------------------------------------------------------------------------


def groups_kept_in_a_list(x):
    kept = [group for _, group in itertools.groupby([x, 0.2, 1.5], key=lambda v: v > 1)]
    return x + sum(map(sum, kept))


def test_groups_that_are_kept_are_empty_as_the_run_shows():
    assert wg.value_and_grad(groups_kept_in_a_list)(0.7) == (0.7, 1.0)


def any_item_of_a_set(x):
    numbers = {1, 2}
    return x * numbers.pop()


def test_what_is_refused():
    for way in (wg.grad, wg.derivative):
        with pytest.raises(UnsupportedSyntax, match="decided by chance"):
            way(any_item_of_a_set)(0.7)


def take(count, items):
    return list(itertools.islice(items, count))


def chunks(items, count):
    return iter(functools.partial(take, count, iter(items)), [])


def squares_of_chunks(x, numbers):
    return sum(sum(chunk) ** 2 * x for chunk in chunks(numbers, 2))


def asks_by_a_partial(x, numbers):
    ask, total = functools.partial(take, 2, iter(numbers)), 0.0
    while True:
        chunk = ask()
        if len(chunk) == 0:
            return total
        total = total + sum(chunk) ** 2 * x


def asks_by_a_function_in_a_table(x, numbers):
    ways = {"two": functools.partial(take, 2, iter(numbers)), "factor": x}
    first = sum(ways["two"]())
    return first + sum(ways["two"]()) ** 2 * ways["factor"]


@pytest.mark.parametrize("f", [squares_of_chunks, asks_by_a_partial, asks_by_a_function_in_a_table])
def test_an_iterator_that_only_a_function_has_is_asked_again(f):
    for numbers in (np.array([1.0, 2.0, 4.0, 7.0]), [1.0, 2.0, 4.0, 7.0]):
        wg.testing.check_gradient(f, 1.3, numbers)


def scale(factor):
    return lambda x: factor * x


def shift(by):
    return lambda x: x + by


def made_from(step):
    kind, number = step
    return {"scale": scale, "shift": shift}[kind](number)


STEPS = [["scale", 2.0], ["shift", 1.0], ["scale", 3.0]]


def composed_from_a_table(x):
    steps = [list(step) for step in STEPS]
    steps[0][1] = x
    return functools.reduce(lambda f, g: lambda y: g(f(y)), map(made_from, steps))(x)


def first_of_a_table_and_the_rest(x):
    steps = [list(step) for step in STEPS]
    rest = iter(steps)
    y = made_from(next(rest))(x)
    for step in rest:
        step[1] *= x
        y = made_from(step)(y)
        if y > 100.0:
            break
    else:
        y = y * x
    return y + sum(step[1] for step in steps)


def first_of_a_generator_and_the_rest(x):
    made = (made_from(step) for step in STEPS)
    y = next(made)(x)
    for f in made:
        y = f(y) * x
    return y


@pytest.mark.parametrize(
    "f",
    [composed_from_a_table, first_of_a_table_and_the_rest, first_of_a_generator_and_the_rest],
)
def test_what_is_left_of_an_iterator_holds_functions(f):
    for x in (0.7, 9.0):
        wg.testing.check_gradient(f, x)


def items_set_by_methods(x):
    d, xs, a = {"a": 1.0}, [1.0, x], np.zeros(3)
    d.__setitem__("b", x * x)
    d.__delitem__("a")
    xs.__setitem__(0, 2 * x)
    a.__setitem__(slice(0, 2), x)
    any(map(d.__setitem__, ("c", "d"), (x, x**3)))
    return d["b"] * xs[0] + d.__len__() * a.sum() + sum(d.values())


def test_items_are_set_by_methods():
    wg.testing.check_gradient(items_set_by_methods, 1.3)


def flat_asked_for_one(x):
    a = x * np.arange(1.0, 5.0).reshape(2, 2)
    return next(a.flat) * a[1, 1]


def flat_walked_over_twice(x):
    a = x * np.arange(1.0, 5.0).reshape(2, 2)
    items, total = a.flat, 0.0
    for item in items:
        if item > 1.5:
            break
    for item in items:
        total = total * x + item
    return total + next(items, x) * sum(items)


def flat_in_pairs(x):
    items = (x * np.arange(1.0, 5.0).reshape(2, 2)).flat
    return sum(a * b for a, b in zip(items, items, strict=True)) + items[3]


def flat_on_one_of_two_paths(x):
    a = x * np.arange(1.0, 5.0)
    items = a if x > 5 else a.flat
    for item in items:
        if item > 1.0:
            break
    return sum(item * item for item in items)


def flat_in_an_attribute(x):
    holder = types.SimpleNamespace(items=(x * np.arange(1.0, 5.0)).flat)
    first = [item for item, _ in zip(holder.items, "ab", strict=False)]
    return sum(holder.items) * first[1]


def flat_by_two_names(x):
    items = others = (x * np.arange(1.0, 5.0)).flat
    for item in items:
        if item > 1.0:
            break
    return sum(item * item for item in others)


def flat_in_a_closure(x):
    items = (x * np.arange(1.0, 5.0)).flat
    total = lambda: sum(item * item for item in items)
    return total() + total()


def flat_in_each_place(x):
    a = x * np.arange(1.0, 5.0).reshape(2, 2)
    items = a.flat
    return sum(a.flat) * sum(items) + items[0] + items[1] * max(a.flat)


FLATS = [
    flat_asked_for_one, flat_walked_over_twice, flat_in_pairs, flat_on_one_of_two_paths, flat_in_an_attribute,
    flat_by_two_names, flat_in_a_closure,
]  # fmt: skip


@pytest.mark.parametrize("f", [*FLATS, flat_in_each_place])
@pytest.mark.parametrize("tier", [None, "recorded"])
def test_flat_goes_on_where_it_has_come_to(f, tier):
    value, gradient = wg.value_and_grad(f, tier=tier)(0.7)
    assert value == pytest.approx(f(0.7), rel=1e-14)
    assert gradient == pytest.approx(slope(f, 0.7), rel=1e-7)


@pytest.mark.parametrize("f", FLATS)
def test_flat_is_read_where_it_is_walked_over_once(f):
    with pytest.raises(
        UnsupportedSyntax, match=r"goes on where it has come to|which iterator it is"
    ):
        wg.grad(f, tier="static")(0.7)
    assert wg.grad(flat_in_each_place, tier="static")(0.7) == wg.grad(flat_in_each_place)(0.7)
