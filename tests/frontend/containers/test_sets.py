"""Sets: arguments, globals and attributes that change; operators in place seen by every name."""

import heapq
import math
from collections import defaultdict

import pytest
import standing_alone
from differences import agree

import wengert as wg

SEEN = {1}


def second_name(x):
    numbers = {1}
    same = numbers
    same |= {2, 3}
    return math.sin(x) * len(numbers)


def operators_in_place(x):
    numbers = {1, 2, 3, 4, 5}
    same = numbers
    same &= {1, 2, 3, 9}
    same ^= {3, 7}
    same -= {1}
    return x**3 * len(numbers) + (x if 7 in numbers else 0.0)


def in_a_loop(x):
    numbers = {1, 2}
    same = numbers
    for k in range(3):
        same |= {k + 5}
    return x**3 * len(numbers)


def in_a_dictionary(x):
    table = {"a": {1}}
    table["a"] |= {2}
    inner = table["a"]
    inner ^= {1}
    return x**3 * len(table["a"]) + (1 in table["a"])


class Visitor:
    def __init__(self):
        self.seen = set()
        self.scale = 2.0

    def __call__(self, x):
        self.seen.update([round(x)])
        self.seen |= {5, 6}
        self.seen.discard(6)
        self.seen -= {99}
        self.seen.add(3)
        return x**2 * len(self.seen) * self.scale


def in_an_object(x):
    visitor = Visitor()
    return visitor(x) + visitor(2 * x)


@pytest.mark.parametrize(
    "f", [second_name, operators_in_place, in_a_loop, in_a_dictionary, in_an_object]
)
def test_what_a_set_holds(f):
    agree(f, 0.7, 1.3)


def ranks_of_a_graph(x):
    edges = (("a", "b"), ("b", "c"), ("c", "a"), ("a", "c"))
    nodes = sorted({node for edge in edges for node in edge})
    ranks = dict.fromkeys(nodes, x)
    for _ in range(3):
        ranks = {n: 0.2 + sum(x * ranks[a] for a, b in edges if b == n) for n in nodes}
    return ranks["a"] * len(set(nodes) - {"c"}) * ("b" in frozenset(nodes))


def changed_before_it_is_sorted(x):
    names = set("abc")
    names.add("e")
    same = names
    same.discard("a")
    same |= {"z"}
    kept = [names]
    kept[0].add("y")
    return x**2 * len(names) * ord(sorted(names)[-2]) * len(sorted(kept[0], reverse=True))


def of_things_that_have_no_order(x):
    try:
        return x * len(sorted({1, "a"}))
    except TypeError:
        return x**3


@pytest.mark.parametrize(
    "f", [ranks_of_a_graph, changed_before_it_is_sorted, of_things_that_have_no_order]
)
def test_what_is_known_of_a_set(f):
    agree(f, 0.7, 1.3)


def test_a_program_over_the_sorted_items_of_a_known_set_is_written_out():
    assert "sorted" not in str(wg.code_ir(ranks_of_a_graph, 1.0))


def test_an_argument_that_changes():
    def f(x, numbers):
        same = numbers
        same.add(7)
        return x * len(numbers)

    numbers = {1}
    assert wg.value_and_grad(f)(2.0, numbers) == (4.0, 2.0)
    assert numbers == {1, 7}


def test_what_is_in_an_argument_is_not_remembered():
    gradient = wg.grad(lambda x, numbers: x * len(numbers) if 3 in numbers else -x)
    numbers = {1}
    assert gradient(2.0, numbers) == -1.0
    numbers.add(3)
    assert gradient(2.0, numbers) == 2.0


def test_a_global_set_is_read_at_every_call():
    gradient = wg.grad(lambda x: x * len(SEEN))
    assert gradient(2.0) == 1.0
    SEEN.add(3)
    try:
        assert gradient(2.0) == 2.0
    finally:
        SEEN.discard(3)


def test_an_object_with_a_set():
    visitor = Visitor()
    assert wg.gradient(lambda x, visitor: visitor(x), 2.0, visitor)[0] == 4.0 * 2.0 * 3
    assert visitor.seen == {2, 3, 5}


def test_a_set_of_names_is_walked_over():
    def f(x, names, weights):
        return sum(weights[name] * x for name in sorted(names))

    assert wg.grad(f)(2.0, {"a", "b"}, {"a": 1.0, "b": 3.0, "c": 4.0}) == 4.0


def keyed_by_one_of_many(x, names):
    items = [x, 3.0, names]
    weights = {}
    for k in range(len(items) - 1):
        weights[items[k]] = 2.0
    return sum(key * weight for key, weight in weights.items())


def keyed_by_a_pair(x, names):
    items = [x, "a"] if x > 0.1 else [1, x]
    weights = {}
    weights[tuple(items)] = 2.0
    return sum(key[0] for key in weights)


def keyed_in_a_try(x, names):
    items = [x, 3.0, names]
    weights = {}
    try:
        for k in range(1):
            weights[items[k]] = 2.0
    except ValueError:
        return 0.0
    return sum(weights)


@pytest.mark.parametrize("f", [keyed_by_one_of_many, keyed_by_a_pair, keyed_in_a_try])
@pytest.mark.parametrize(
    "differentiate", [wg.grad, lambda f: standing_alone.alone(wg.grad(f)), wg.jacobian]
)
def test_a_key_that_turns_out_to_have_a_derivative_is_refused(f, differentiate):
    with pytest.raises((ValueError, wg.WengertError), match="a derivative") as refused:
        differentiate(f)(0.5, ["a", "b"])
    assert refused.value.code in ("WG101", "WG103")


def test_keys_of_one_of_many_kinds_without_a_derivative():
    def f(x, names):
        items = ["a", 3, x, names]
        weights = {}
        for k in range(2):
            weights[items[k]] = x
        return weights["a"] * weights[3]

    assert wg.grad(f)(0.5, ["b"]) == 1.0


@pytest.mark.parametrize(
    "f", [lambda x: max({x, 2 * x}), lambda x: sorted({x, 2 * x})[1], lambda x: sum({x: 1})]
)
def test_what_is_in_a_set_has_no_derivative(f):
    with pytest.raises(wg.WengertError, match="is put into a set, or is the key of an entry"):
        wg.grad(f)(0.5)


def test_what_earlier_calls_have_stored_by_a_number_is_not_taken_for_its_value():
    """A run that finds an entry does not store one: what it finds is plain, and its derivative would be lost."""
    known = {}

    def square(x):
        if x not in known:
            known[x] = x * x
        return known[x]

    square(0.5)
    with pytest.raises(wg.WengertError, match="is put into a set, or is the key of an entry"):
        wg.grad(square)(0.5)
    assert wg.grad(lambda x: x * {0.5: 3.0}[x])(0.5) == 3.0


def test_what_may_be_a_whole_number_is_put_into_a_set():
    """What leaves a dictionary of lists is of no known kind: runs tell nodes of a graph from lengths of its edges."""

    def longest(lengths):
        edges = defaultdict(list)
        for (a, b), length in zip([(0, 1), (0, 2), (1, 2)], lengths, strict=True):
            edges[a].append((b, length))
        done = set()
        far, waiting = 0.0, [(0.0, 0)]
        while waiting:
            way, node = heapq.heappop(waiting)
            done.add(node)
            far = max(far, way**2)
            for other, length in edges[node]:
                if other not in done:
                    heapq.heappush(waiting, (way + length, other))
        return far

    assert wg.grad(longest)([1.0, 2.5, 2.0]) == [6.0, 0.0, 6.0]
