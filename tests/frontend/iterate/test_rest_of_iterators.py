"""What is left of an iterator after something has asked it, through others, for a part of its items."""

import itertools

import pytest
from differences import slope

import wengert as wg

W = 0.67


def handed_on(items):
    for item in items:  # noqa: UP028
        yield item


def handed_on_at_once(items):
    yield from items


SOURCES = {
    "itself": lambda it: it,
    "filter": lambda it: filter(lambda v: v > W, it),
    "map": lambda it: map(lambda v: v * 1.1, it),
    "generator": lambda it: (v * 1.1 for v in it),
    "chosen": lambda it: (v for v in it if v > 0.1),
    "chain": lambda it: itertools.chain(it, [9.0]),
    "enumerate": lambda it: (v for _, v in enumerate(it)),
    "zip": lambda it: (a for a, _ in zip(it, itertools.count())),
    "accumulate": itertools.accumulate,
    "dropwhile": lambda it: itertools.dropwhile(lambda v: v < 0.1, it),
    "function": handed_on,
    "yield from": handed_on_at_once,
    "both": lambda it: handed_on_at_once(handed_on(it)),
}

ASKED = {
    "any": lambda items: any(v > W for v in items),
    "all": lambda items: all(v > W for v in items),
    "next": lambda items: next(items, 0.0) > W,
    "first": lambda items: next((v for v in items if v > W), 0.0) > W,
    "islice": lambda items: sum(itertools.islice(items, 1)) > W,
    "zip": lambda items: sum(a * b for a, b in zip([1.0], items)) > W,
    "in": lambda items: 0.8 in items,
}


@pytest.mark.parametrize("asked", ASKED)
@pytest.mark.parametrize("source", SOURCES)
def test_what_is_left_of_an_iterator(source, asked):
    through, ask = SOURCES[source], ASKED[asked]

    def f(x):
        it = iter([x, 0.8, x * x, 0.3])
        found = ask(through(it))
        return (x if found else x * x) + sum(k * v for k, v in enumerate(it, 1))

    value, gradient = wg.value_and_grad(f)(0.7)
    assert value == f(0.7)
    assert gradient == pytest.approx(slope(f, 0.7))


def some_of_others(x):
    it = iter([x, 0.8, x * x, 0.3])
    found = any(v > W for v in (u * 1.1 for u in it))
    return (x if found else x * x) + sum(it)


def all_of_a_map(x):
    it = iter([x, 0.8, x * x, 0.3])
    found = all(v > W for v in map(lambda u: u * 1.1, it))
    return (x if found else x * x) + sum(it)


def first_of_a_filter(x):
    it = iter([x, 0.8, x * x, 0.3])
    return next(v for v in filter(lambda u: u > W, it) if v > 0.0) + 2.0 * sum(it)


def some_of_a_function(x):
    it = iter([x, 0.8, x * x, 0.3])
    found = not any(v < W for v in handed_on(it))
    return (x if found else x * x) + 3.0 * sum(it)


def some_of_a_chain(x):
    it = iter([x, 0.8, x * x, 0.3])
    for v in itertools.chain(it, [x]):
        if v > W:
            break
    return v + 2.0 * sum(it)


@pytest.mark.parametrize(
    "f", [some_of_others, all_of_a_map, first_of_a_filter, some_of_a_function, some_of_a_chain]
)
def test_what_is_left_where_it_is_asked(f):
    value, gradient = wg.value_and_grad(f)(0.7)
    assert value == f(0.7)
    assert gradient == pytest.approx(slope(f, 0.7))
