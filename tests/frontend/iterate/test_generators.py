"""Generators and iterators: what yields items, what asks for them, and what gives up half-way."""

# programs under test are written as users write them

import contextlib
import dataclasses
import functools
import heapq
import itertools
import math
import operator
from itertools import islice

import numpy as np
import pytest
from differences import agree
from error_texts import message, place, refusal

import wengert as wg

# --- a generator and its loop ---------------------------------------------------------------


def powers(x, n):
    y = 1.0
    for _ in range(n):
        y = y * x
        yield y


def sum_of_powers(x):
    total = 0.0
    for k, y in enumerate(powers(x, 5)):
        total = total + y * (k + 1)
    return total


def test_a_loop_over_a_generator():
    agree(sum_of_powers, 0.7, -1.2)


def series(x):
    term, k = 1.0, 0
    while True:
        yield term
        k += 1
        term = term * x / k


def exponential(x):
    total = 0.0
    for term in series(x):
        if abs(term) < 1e-12:
            break
        total += term
    else:
        total = 100.0
    return total


def until_large(x):
    for y in series(x):
        if y * x > 1.5:
            return y * y
    return None


def test_a_loop_that_leaves_a_generator_without_end():
    agree(exponential, 0.8, -1.7)
    agree(until_large, 2.3)


def several_yields(x, steps):
    yield x
    for k in range(3):
        if k * x > 1.0:
            yield x * k
        else:
            yield x - k
            steps.append(x)
    if x > 2:
        return
    yield x * x


def uses_several_yields(x):
    steps = []
    total = 1.0
    for y in several_yields(x, steps):
        if y < 0:
            continue
        total = total * (1 + y)
    return total + sum(steps)


def test_several_yields():
    agree(uses_several_yields, 0.6, 1.3, 2.5)


def cleaned(x, log):
    try:
        yield x
        yield x * x
        yield x**3
    finally:
        log.append(2 * x)


def leaves_and_cleans(x):
    log = [1.0]
    total = 0.0
    for y in cleaned(x, log):
        total += y
        if y > 3:
            break
    return total * log[-1]


def test_finally_of_a_generator_runs_when_it_is_left():
    agree(leaves_and_cleans, 1.2, 2.0, 4.0)


def delegating(x):
    first = yield from powers(x, 3)
    assert first is None
    count = yield from counting(x)
    yield x * count
    yield from [x, 2 * x]


def counting(x):
    k = 0
    while k * x < 2:
        yield k * x
        k += 1
    return k


def delegates(x):
    total = 0.0
    for k, y in enumerate(delegating(x)):
        total += y * (k + 1) ** 2
    return total


def test_yield_from():
    agree(delegates, 0.55, 1.3)


class Grid:
    """An object that is walked over by a generator of its own."""

    def __init__(self, left, right, n):
        self.left, self.right, self.n = left, right, n

    def __iter__(self):
        for k in range(self.n):
            yield self.left + (self.right - self.left) * k / self.n

    def pairs(self):
        previous = None
        for point in self:
            if previous is not None:
                yield previous, point
            previous = point


def walks_over_an_object(x):
    grid = Grid(0.5, x, 4)
    total = 0.0
    for a, b in grid.pairs():
        total += (b - a) * math.exp(a)
    return total + max(grid) * sum(point**2 for point in grid)


def test_methods_that_are_generators():
    agree(walks_over_an_object, 1.4)


def squares(items):
    for item in items:
        yield item * item


def positive(items):
    for item in items:
        if item > 0:
            yield item


def pipeline(x):
    return sum(math.sqrt(y + 1) for y in positive(squares(y - x for y in powers(x, 4))))


def test_generators_of_generators():
    agree(pipeline, 1.3)


def mean_of(data):
    n = 0

    def counted(items):
        nonlocal n
        for n, x in enumerate(items, start=1):  # noqa: B007
            yield x

    return sum(counted(data)) / max(n, 1)


def mean_of_squares(x):
    return mean_of(v * v for v in [x, 2 * x, 3.0])


COUNT = 0.0


def counted_outside(items):
    global COUNT
    for v in items:
        COUNT += 1.0
        yield v


def squares_and_count(x):
    global COUNT
    COUNT = 0.0
    total = sum(counted_outside(v * v for v in [x, 2 * x]))
    return total * (1.0 + COUNT)


@contextlib.contextmanager
def doubled(x):
    yield 2.0 * x


def sum_in_a_context(x):
    total = 0.0

    def add(y):
        nonlocal total
        with doubled(y) as twice:
            total += twice * twice

    add(x)
    add(3.0 * x)
    return total


@pytest.mark.parametrize("f", [mean_of_squares, squares_and_count, sum_in_a_context])
def test_names_of_outer_functions_are_bound_there(f):
    """Also by the body of a loop over a generator, which runs at its `yield`, and by that of a `with`."""
    agree(f, 0.7, -1.2)


def every_consumer(x):
    a, b, c = powers(x, 3)
    first, *others = powers(x, 4)
    listed = [*list(powers(x, 3)), *powers(2 * x, 2)]
    paired = dict(zip("abc", powers(x, 3), strict=True))
    both = [y * z for y, z in zip(powers(x, 3), powers(x + 1, 5), strict=False)]
    total = a * b + c + first * sum(others) + sum(listed) + paired["b"] * paired["c"] + sum(both)
    total += max(powers(x, 3)) + min(powers(x, 3)) + len(tuple(powers(x, 6)))
    total += sorted(powers(x, 4))[1] * math.prod(powers(x, 2)) + np.array(list(powers(x, 3))).sum()
    total += functools.reduce(operator.mul, powers(x, 3)) + math.fsum(powers(x, 3))
    if any(y > 4 for y in powers(x, 3)) or all(y > 0 for y in powers(x, 2)):
        total *= x
    return total


def test_everything_that_takes_items():
    agree(every_consumer, 0.8, 1.9)


# --- one by one -----------------------------------------------------------------------------


def asks_one_by_one(x):
    terms = series(x)
    total = 0.0
    while total < 2 * x:
        total = total + next(terms)
    return total * next(terms) + next(iter([x, 5.0]))


def test_next():
    agree(asks_one_by_one, 1.2, 0.8)


def with_default(x):
    items = powers(x, 2)
    return next(items) + 10 * next(items) + 100 * next(items, x**4) + next(iter([]), x)


def first_that_fits(x):
    return next(y for y in powers(x, 10) if y > 4) + next((y for y in [x] if y > 9), x**2)


def ends(x):
    items = powers(x, 2)
    total = 0.0
    try:
        while True:
            total = total * x + next(items)
    except StopIteration:
        return total


def test_the_end_of_an_iterator():
    agree(with_default, 1.3)
    agree(first_that_fits, 1.7)
    agree(ends, 1.3)


def two_at_a_time(x):
    items = iter([x, 2.0, x * x, 3 * x])
    total = 0.0
    for first in items:
        second = next(items)
        total += first * second
    return total


def header_and_rest(x):
    items = iter([x, 2.0 * x, x * x])
    scale = next(items)
    return scale * sum(items) + len(list(items))


def test_a_loop_that_goes_on_from_where_an_iterator_is():
    agree(two_at_a_time, 1.3)
    agree(header_and_rest, 1.3)


def averaging():
    total, count, mean = 0.0, 0, None
    while True:
        value = yield mean
        total += value
        count += 1
        mean = total / count


def sends(x):
    averages = averaging()
    next(averages)
    averages.send(x)
    averages.send(x * x)
    return averages.send(3.0) ** 2


def test_send():
    agree(sends, 1.3)


class Halving:
    """An iterator of its own."""

    def __init__(self, x):
        self.x = x

    def __iter__(self):
        return self

    def __next__(self):
        if self.x < 0.3:
            raise StopIteration
        self.x = self.x / 2
        return self.x


def walks_over_an_iterator(x):
    total = 0.0
    for k, y in enumerate(Halving(x)):
        total += y * (k + 1)
    halving = Halving(x)
    first = next(halving)
    return total * first + sum(y**2 for y in halving)


def test_iterators_of_the_user():
    agree(walks_over_an_iterator, 1.3, 3.7)


def calls_until(x):
    y = x

    def smaller():
        nonlocal y
        y = y * x
        return y if y > 0.2 else None

    return sum(value**2 for value in iter(smaller, None))


def test_iter_of_a_function():
    agree(calls_until, 0.7)


# --- itertools ------------------------------------------------------------------------------


TOOLS = {
    "chain": lambda x: math.prod(itertools.chain([x, 2.0], (x * x,), powers(x, 2))),
    "chain.from_iterable": lambda x: sum(itertools.chain.from_iterable([[x], [x * x, 3.0]])),
    "accumulate": lambda x: sum(y**2 for y in itertools.accumulate([x, 2.0, x * x])),
    "accumulate, function": lambda x: sum(
        itertools.accumulate([2.0, x, 3.0], operator.mul, initial=x)
    ),
    "product": lambda x: sum(a * b for a, b in itertools.product([x, 2.0], [x * x, 1.0, x])),
    "product, repeat": lambda x: sum(math.prod(t) for t in itertools.product([x, 2.0], repeat=3)),
    "permutations": lambda x: sum(a - b * b for a, b in itertools.permutations([x, x * x, 2.0], 2)),
    "combinations": lambda x: sum(
        a * b for a, b in itertools.combinations([x, x * x, 2.0, 3.0], 2)
    ),
    "combinations with replacement": lambda x: sum(
        a * b for a, b in itertools.combinations_with_replacement([x, x * x, 2.0], 2)
    ),
    "islice": lambda x: sum(islice(series(x), 6)) + sum(islice(powers(x, 9), 1, 8, 3)),
    "takewhile": lambda x: sum(itertools.takewhile(lambda y: y < 9, powers(x + 1, 20))),
    "dropwhile": lambda x: sum(itertools.dropwhile(lambda y: y < 9, powers(x + 1, 5))),
    "count": lambda x: sum(y for y, _ in zip(itertools.count(x, x), range(4), strict=False)),
    "cycle": lambda x: sum(
        a * b for a, b in zip(itertools.cycle([x, 2.0]), powers(x, 5), strict=False)
    ),
    "repeat": lambda x: sum(itertools.repeat(x, 4)) + sum(map(pow, [x, 2.0], itertools.repeat(2))),
    "zip_longest": lambda x: sum(
        a * b for a, b in itertools.zip_longest([x, 2.0, x], [x * x], fillvalue=x)
    ),
    "pairwise": lambda x: sum((b - a) ** 2 for a, b in itertools.pairwise([x, 2.0, x * x])),
    "groupby": lambda x: math.prod(
        sum(group) * (1 + key)
        for key, group in itertools.groupby([x, x, 2.0, 3.0], lambda y: y > 1.6)
    ),
    "starmap": lambda x: sum(itertools.starmap(pow, [(x, 2), (x + 1, 3)])),
    "tee": lambda x: sum(a * b for a, b in zip(*itertools.tee(powers(x, 3)), strict=True)),
    "compress": lambda x: sum(itertools.compress([x, 2.0, x * x], [1, 0, 1])),
    "filterfalse": lambda x: sum(itertools.filterfalse(lambda y: y > 2, powers(x, 4))),
    "reduce": lambda x: functools.reduce(lambda a, b: a * x + b, [1.0, x, 3.0], 2.0),
}


@pytest.mark.parametrize("name", TOOLS)
def test_itertools(name):
    agree(TOOLS[name], 1.3)


# --- when items are made ----------------------------------------------------------------------


def logged(x, log):
    for k in range(3):
        log.append(x)
        yield x * k


class Counting:
    """What it says of itself while somebody walks over it is how far they are."""

    def __init__(self, x):
        self.x, self.taken = x, 0

    def __iter__(self):
        for k in range(3):
            self.taken += 1
            yield self.x * k


def in_a_comprehension(x):
    log = []
    total = sum([y * len(log) for y in logged(x, log)])
    total += sum(y * len(log) for z in (1.0, 2.0) for y in logged(x * z, log) if y > 0.5)
    return total + {k: y * len(log) for k, y in enumerate(logged(x, log))}[1]


def what_is_left_in_a_comprehension(x):
    log = []
    items = logged(x, log)
    return next(items) + sum([y * len(log) for y in items])


def over_an_object(x):
    counting, total = Counting(x), 0.0
    for y in counting:
        total += y * counting.taken
    for k, y in enumerate(counting):
        total += y * counting.taken * k
    return total + sum(y * counting.taken for y in counting)


def by_reduce(x):
    log = []
    return functools.reduce(lambda a, b: a + b * len(log), logged(x, log))


def mapped(x):
    log = []

    def square(y):
        log.append(y)
        return y * y

    total = sum(y * len(log) for y in map(square, [x, 2 * x]))
    for y, z in zip(map(square, [x, 2 * x]), [1.0, 2.0], strict=True):
        total += y * z * len(log)
    squares = map(square, [x, 3 * x])
    return total + next(squares) * len(log) + next(squares) * len(log)


def map_reads_what_the_loop_binds(x):
    total, items = 1.0, [x * k for k in range(12)]
    for y in map(lambda y: y * total, [x, 2 * x]):
        total += y
    for y, z in zip(map(lambda y: y * total, items), items, strict=True):
        total += y * z
    scaled = map(lambda y: y * total, items)
    while total < 400:
        total += next(scaled)
    return total


def filtered(x):
    log = []

    def positive(y):
        log.append(y)
        return y > 0

    return sum([y * len(log) for y in filter(positive, [x, -x, 2 * x])])


def test_items_are_made_when_they_are_asked_for():
    agree(in_a_comprehension, 0.7)
    agree(what_is_left_in_a_comprehension, 0.7)
    agree(over_an_object, 0.7)
    agree(by_reduce, 0.7)
    agree(mapped, 0.7)
    agree(map_reads_what_the_loop_binds, 0.7)
    agree(filtered, 0.7)


def list_made_an_array(x):
    rows = [[], []]
    for k in range(9):
        rows[k % 2].append(x**k)
    steps = [x]
    for k in range(9):
        steps.append(x * k)
        steps.insert(0, x**2)
    steps.pop()
    del steps[1]
    return np.array(rows[0]).sum() * np.sum(rows[1]) + (np.array(steps) ** 2).sum()


def test_a_list_that_grows_and_becomes_an_array():
    agree(list_made_an_array, 0.7)


# --- `yield` inside expressions ------------------------------------------------------------------


def running_means(x, weight):
    def means():
        total, n = 0.0, 0
        while n < 3:
            total += yield total / n if n else 0.0
            n += 1
        return total

    asked = means()
    found = [next(asked)]
    try:
        for k in range(5):
            mean = asked.send(x**k * weight)
            found.append(mean)
    except StopIteration as end:
        found.append(end.value)
    return sum(f * (k + 1) for k, f in enumerate(found))


def keeps_what_came_before(x, gain):
    """Operands on the left have the values they had when the generator stopped."""
    state = {"gain": gain}

    def asks():
        a = state["gain"] * x + math.exp((yield x)) * state["gain"]
        b = (yield a) - (yield a * x) * 2
        return (yield max(a, b)) + b

    asked = asks()
    total = next(asked)
    state["gain"] = 5.0 * x
    total += asked.send(x * 0.5)
    total *= asked.send(gain)
    total += asked.send(total)
    try:
        asked.send(x)
    except StopIteration as end:
        total += end.value
    return total


def collects_what_is_sent(x, gain):
    seen, state = [], {"gain": gain}

    def sink():
        while True:
            seen.append((yield len(seen)) * state["gain"])

    asked = sink()
    next(asked)
    for k in range(4):
        asked.send(x**k)
        state["gain"] *= 1.1
    return sum(v * (k + 1) for k, v in enumerate(seen))


def obeys(x, amount):
    """Tests of loops and branches, a named expression, `continue`."""

    def machine():
        level = x
        while (command := (yield level)) is not None:
            if command == "scale":
                level *= amount
                continue
            level = level**2 if (yield level) > 1 else level + amount
        yield level * 10

    asked = machine()
    total = next(asked)
    for command in ("add", amount, "scale", "add", 0.5 * x, None):
        total = total * 0.7 + asked.send(command)
    return total


@pytest.mark.parametrize("f", [running_means, keeps_what_came_before, collects_what_is_sent, obeys])
def test_yield_inside_an_expression(f):
    for args in ((0.7, 2.0), (1.3, 0.4)):
        wg.testing.check_gradient(f, *args)
        expected = wg.gradient(f, *args)
        value, push = wg.pushforward(f, *args)
        assert value == f(*args)
        assert math.isclose(push(1.0, 2.0), expected[0] + 2 * expected[1], rel_tol=1e-12)


# --- what is refused --------------------------------------------------------------------------


def all_of_it(x):
    return sum(series(x))


def test_a_generator_without_end():
    error = refusal("WG101", NotImplementedError, lambda: wg.gradient(all_of_it, 1.0))
    assert str(error) == message(
        "WG101",
        "the generator series never ends, and all its items are asked for",
        place(all_of_it, 1, "sum(series(x))", inside="all_of_it"),
        "Take what is needed of it with a `for` loop that has a `break`, with `itertools.islice` "
        "or `next`.",
    )


def asks_a_list(x):
    return next([x])


def test_next_of_what_is_no_iterator():
    with pytest.raises(TypeError, match=r"^'list' object is not an iterator$"):
        wg.gradient(asks_a_list, 1.0)


def inside_an_expression(x):
    y = 1 + x * ((yield x) if x > 0 else 2)
    yield y * x


def steps_inside_an_expression(x):
    items = inside_an_expression(x)
    return next(items) + items.send(x)


def test_yield_in_an_arm_of_an_expression():
    agree(steps_inside_an_expression, 1.3)


def yields_in_a_handler(x):
    try:
        yield math.log(x)
    except ValueError:
        yield x
    yield x * x


def asks_for_what_a_handler_yields(x):
    items = yields_in_a_handler(x)
    return next(items) * next(items)


def walks_over_what_a_handler_yields(x):
    total = 1.0
    for y in yields_in_a_handler(x):
        total = total * 3 + y
    return total


def test_yield_in_a_handler():
    agree(walks_over_what_a_handler_yields, 2.0, -2.0)
    agree(asks_for_what_a_handler_yields, 1.3, -1.3)


def closes(x):
    items = cleaned(x, [])
    first = next(items)
    items.close()
    return first


def test_close():
    agree(closes, 1.3)


def test_a_generator_that_would_have_to_stop_is_not_read():
    action = lambda: wg.grad(closes, tier="static")(1.0)
    error = refusal("WG101", NotImplementedError, action)
    assert str(error) == message(
        "WG101",
        "a generator is asked for one item at a time",
        place(closes, 2, "next(items)", inside="closes"),
        "Walk over it with one `for` loop, to the end or until a `break`; or over a list of its items.",
    )


# --- asked on some paths only ---------------------------------------------------------------


def asked_in_a_branch(x):
    items = (x * k for k in range(5))
    total = 0.0
    if x > 0.1:
        total += next(items)
    if x > 0.2:
        total += 2 * next(items)
    if x > 0.1:
        total += 3 * next(items)
    return total + 4 * next(items)


def asked_in_turns(x):
    items = (x * k for k in range(9))
    total = 0.0
    for i in range(4):
        if x * i != 4 * x:
            total += next(items) * (i + 1)
        if i != 2:
            total += next(items) * (i + 2)
    return total


def asked_until_it_ends(x):
    def produced():
        for k in range(9):
            yield x * k

    items = produced()
    total, i = 0.0, 0
    while True:
        try:
            if i * x != 4 * x:
                total += items.__next__() * (i + 1)
            if i * x != 2 * x:
                total += items.__next__() * (i + 2)
        except StopIteration:
            break
        i += 1
    return total


def asked_by_an_expression(x):
    items, others = (x * k for k in range(5)), (x + k for k in range(2))
    total = 0.0
    for k in range(6):
        total += (k + 1) * (next(items, 1.0) if k % 2 else next(others, 2.0))
    return total


def asked_while_there_are_any(x):
    items = (x * k for k in range(3))
    total, done = 0.0, False
    while not done:
        item = next(items, None) if total < 100 else None
        done = item is None
        total = total + (0.0 if item is None else item * item)
    return total


@pytest.mark.parametrize(
    "f",
    [
        asked_in_a_branch,
        asked_in_turns,
        asked_until_it_ends,
        asked_by_an_expression,
        asked_while_there_are_any,
    ],
)
def test_an_iterator_that_is_asked_on_some_paths_only(f):
    agree(f, 0.7, 1.3)


def one_iterator_twice(x):
    powers = iter([x, x * x, x**3])
    return sum(a * b for a, b in itertools.zip_longest(powers, powers, fillvalue=1.0))


def one_generator_twice(x):
    items = (x * k for k in range(1, 6))
    rows = itertools.zip_longest(items, items, [x, x, x, x], fillvalue=1.0)
    return sum(a * b * c for a, b, c in rows)


@pytest.mark.parametrize("f", [one_iterator_twice, one_generator_twice])
def test_zip_longest_of_one_iterator_given_twice(f):
    agree(f, 0.7, 1.3)


# --- walked over once -----------------------------------------------------------------------


def totals_twice(x):
    totals = itertools.accumulate([x, 2.0, x * x])
    first = sum(totals)
    return first * x + sum(totals)


def products_twice(x):
    products = itertools.starmap(operator.mul, [(x, 1.0), (2.0, x)])
    return sum(products) + sum(products)


def asked_and_walked_over(x):
    some = itertools.islice([x, x * x, 3.0, x], 3)
    first = next(some) * x
    for v in some:
        first += 2 * v * x
    return first + sum(some)


def pairs_of_unlike_lengths(x):
    pairs = itertools.zip_longest([x, 2.0, x], [x * x], fillvalue=1.0)
    return sum(a * b for a, b in pairs) + x * len(list(pairs))


def a_slice_by_its_bounds(x):
    part, all_but_one = slice(2), slice(1, None)
    values = [x, x * x, 3.0 * x]
    return sum(values[part]) + 5 * sum(values[all_but_one]) + values[slice(None, None, -1)][0]


@pytest.mark.parametrize(
    "f",
    [
        totals_twice, products_twice, asked_and_walked_over, pairs_of_unlike_lengths,
        a_slice_by_its_bounds,
    ],
)  # fmt: skip
def test_iterators_are_walked_over_once(f):
    agree(f, 0.7, 1.3)


def asked_whether_it_has(x):
    items = iter([1.0, 2.0, 3 * x, 4.0])
    total = 1.0 if 3 * x in items else 0.0
    for v in items:
        total += v * x
    return total + (7.0 in items) * x


def asked_of_a_generator(x):
    def multiples():
        for k in range(5):
            yield k * x

    some = multiples()
    return (2 * x in some) + sum(some) * x + (9 not in some) * x


def asked_of_whole_numbers(x):
    numbers = map(int, [1.5, 2.5, 3.5])
    found = 2 in numbers
    return x * x * sum(numbers) + found


@pytest.mark.parametrize("f", [asked_whether_it_has, asked_of_a_generator, asked_of_whole_numbers])
def test_what_an_iterator_has_is_asked_as_far_as_the_hit(f):
    agree(f, 0.7, 1.3)


# --- what generators return, and who asks for it ----------------------------------------------


def asks_twice(x):
    y = yield x
    z = yield y * 2
    return z * x


def gives_up(x):
    for k in range(10):
        if k * x > 3:
            return x * k
        yield x + k
    return -x


def returned_to_a_handler(x):
    generator = asks_twice(x)
    y = next(generator) + generator.send(x * x)
    try:
        generator.send(y + 1)
    except StopIteration as stop:
        return stop.value * stop.args[0]


def returned_at_the_end_of_a_loop(x):
    generator, total = gives_up(x), 0.0
    while True:
        try:
            total += next(generator)
        except StopIteration as stop:
            return total * stop.value


def returned_before_any_item(x):
    def returns_at_once():
        return x * 3
        yield

    try:
        next(returns_at_once())
    except StopIteration as stop:
        return stop.value


def ended_before(x):
    generator = (x * k for k in range(2))
    total = next(generator) + next(generator)
    for _ in range(2):
        try:
            next(generator)
        except StopIteration as stop:
            total *= x if stop.value is None else 100.0
    return total


def averages():
    total, count = 0.0, 0
    while True:
        value = yield total
        if value is None:
            return total / count
        total, count = total + value, count + 1


def in_groups(found):
    while True:
        average = yield from averages()
        found.append(average)


def sent_through(x):
    found = []
    groups = in_groups(found)
    next(groups)
    for value in (x, 2 * x, x * x):
        groups.send(value)
    groups.send(None)
    for value in (3 * x, 2 * x):
        groups.send(value)
    groups.send(None)
    return found[0] * found[1]


def processes_by_time(x):
    queue = [(0.3 * k, k, asks_twice(x * (k + 1))) for k in range(3)]
    heapq.heapify(queue)
    done = []
    while queue:
        now, _, process = heapq.heappop(queue)
        try:
            next(process)
            process.send(x + now)
            process.send(2 * x)
        except StopIteration as stop:
            done.append(stop.value)
    return sum(done)


RETURNED = [
    returned_to_a_handler, returned_at_the_end_of_a_loop, returned_before_any_item, ended_before, sent_through,
    processes_by_time,
]  # fmt: skip


@pytest.mark.parametrize("f", RETURNED)
def test_what_a_generator_returns(f):
    agree(f, 1.3, 0.7)


# --- generators in lists ----------------------------------------------------------------------


def readings(box):
    while box[0] < 9.0:
        yield box[0]


def taken_from_a_list(x):
    box, total = [x], 0.0
    waiting = [readings(box), readings(box)]
    while waiting:
        first = waiting.pop(0)
        before = next(first)
        box[0] *= x
        total += before * next(first)
    return total


def taken_and_asked(x):
    waiting, total = [asks_twice(x), asks_twice(2 * x)], 0.0
    while waiting:
        first = waiting.pop(0)
        next(first)
        total += first.send(x * x)
    return total


def walked_over_while_they_change(x):
    box, total = [x], 0.0
    waiting = [readings(box), readings(box)]
    while waiting:
        for value in waiting.pop():
            total += value
            box[0] *= x
    return total


@pytest.mark.parametrize("f", [taken_from_a_list, taken_and_asked, walked_over_while_they_change])
def test_a_generator_in_a_list_makes_its_items_when_asked(f):
    agree(f, 1.3, 1.7)


# --- items that only the run finds worth a `yield` ----------------------------------------------


def those_above(xs, least):
    for x in xs:
        if x > least:
            yield x


def means_of_three(xs):
    window = []
    for x in xs:
        window.append(x)
        if len(window) == 3:
            yield sum(window) / 3
            window.pop(0)


def squares_of_what_is_left(xs):
    rest = iter(xs)
    while (x := next(rest, None)) is not None:
        if x > 1.0:
            yield x * x


def without_errors(xs):
    for x in xs:
        try:
            yield math.sqrt(x - 1.0)
        except ValueError:
            continue


def differences_of(items):
    before = next(items)
    for item in items:
        yield item - before
        before = item


def first_above_times_the_others(x):
    found = those_above([0.3, x, 2 * x, 0.1, x * x], 1.0)
    return next(found) * sum(found)


def first_three_or_defaults(x):
    found = those_above([0.3, x, 0.2, 3 * x], 1.0)
    return next(found, 0.5) + next(found, x) ** 2 + next(found, 7.0 * x) ** 3


def differences_of_running_means(x):
    return sum(d * d for d in differences_of(means_of_three([x, 2.0, x * x, 0.5, 3 * x])))


def asked_by_a_while_loop(x):
    found = squares_of_what_is_left([0.3, x, 0.2, 3 * x])
    return next(found, 5.0) * next(found, 6.0)


def asked_inside_a_try(x):
    found = without_errors([0.3, x, 0.2, 3 * x])
    return next(found, 5.0) * next(found, 6.0) + next(found, x)


FOUND = [
    first_above_times_the_others, first_three_or_defaults, differences_of_running_means,
    asked_by_a_while_loop, asked_inside_a_try,
]  # fmt: skip


@pytest.mark.parametrize("f", FOUND)
def test_an_item_that_a_later_turn_of_a_loop_yields(f):
    agree(f, 1.3, 1.1)


@dataclasses.dataclass
class Twig:
    value: float
    left: object = None
    right: object = None

    def __iter__(self):
        if self.left:
            yield from self.left
        yield self.value
        if self.right:
            yield from self.right

    def __len__(self):
        return sum(1 for _ in self)

    def insert(self, value):
        side = "left" if value < self.value else "right"
        if getattr(self, side) is None:
            setattr(self, side, Twig(value))
        else:
            getattr(self, side).insert(value)


def in_order(numbers):
    root = Twig(numbers[0])
    for number in numbers[1:]:
        root.insert(number)
    return sum((k + 1) * number**2 for k, number in enumerate(root))


@pytest.mark.parametrize("numbers", [[1.0, 2.0], [2.0, 1.0], [2.0, 1.0, 4.0, 3.0]])
def test_what_only_one_path_makes_is_walked_over_by_its_own_code(numbers):
    wg.testing.check_gradient(in_order, numbers)


# --- loops that ask for items ---------------------------------------------------------------------


def zipped_strictly(x):
    return sum(a * b for a, b in zip(powers(x, 3), powers(x, 3), strict=True))


def asked_until_nothing_is_left(x):
    items, total = powers(x, 4), 0.0
    while True:
        y = next(items, None)
        if y is None:
            break
        total += y * y
    return total


def asked_until_it_stops(x):
    items, total = powers(x, 4), 0.0
    while True:
        try:
            y = next(items)
        except StopIteration:
            return total
        total += y * y


def asked_inside_each_other(x):
    total, outer = 0.0, iter([x, x * x, 2.0])
    while True:
        inner = iter([1.0, x])
        try:
            a = next(outer)
        except StopIteration:
            break
        while True:
            b = next(inner, None)
            if b is None:
                break
            total += a * b
    return total


@pytest.mark.parametrize(
    "program",
    [
        TOOLS["tee"],
        zipped_strictly,
        asked_until_nothing_is_left,
        asked_until_it_stops,
        asked_inside_each_other,
    ],
)
def test_what_is_known_of_a_generator_is_known_to_a_loop_that_asks_it(program):
    """No loop is left: that over a generator's states was read in minutes."""
    agree(program, 1.3)
    text = str(wg.code_ir(program, 1.3))
    assert " = for " not in text
    assert " = while " not in text


def asked_as_long_as_items_are_small(x, n):
    items, total = powers(x, n), 0.0
    while True:
        y = next(items, None)
        if y is None:
            break
        if y > 35:
            return total * x
        total += y * y
    return total


@pytest.mark.parametrize("n", [3, 50])
def test_a_loop_that_only_the_run_ends(n):
    agree(lambda x: asked_as_long_as_items_are_small(x, n), 1.3)


def test_a_lambda_may_be_a_generator():
    def program(x):
        items = lambda n: (yield from (x**k for k in range(n)))
        return sum(items(4)) * next((lambda: (yield x * x))())

    agree(program, 1.3)
