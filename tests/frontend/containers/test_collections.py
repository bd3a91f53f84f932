"""Containers of `collections` that a program makes: they compare and join as Python's do."""

from __future__ import annotations

import math
from collections import Counter, OrderedDict, defaultdict, deque

import numpy as np
import oracle
import pytest
import trees
from error_texts import refusal

import wengert as wg


def ordered_dictionaries_in_another_order(x):
    a, b = OrderedDict(p=x, q=2.0), OrderedDict(q=2.0, p=x)
    return x * 3 if a == b else x * 5


def ordered_and_plain_dictionary(x):
    a, b = OrderedDict(p=x, q=2.0), {"q": 2.0, "p": x}
    return x * 3 if a == b and b == a else x * 5


def moved_to_the_front(x):
    queue = OrderedDict(a=x, b=2.0, c=x * x)
    queue.move_to_end("c", last=False)
    queue.move_to_end("a")
    first, value = queue.popitem(last=False)
    return value * len(queue) + (x if first == "c" and next(reversed(queue)) == "a" else 0.0)


def default_dictionary_and_plain(x):
    totals = defaultdict(float)
    totals["a"] += x
    return x * 3 if totals == {"a": x} and totals != {"a": 2 * x} else x * 5


def copied_default_dictionary(x):
    lists = defaultdict(list)
    lists["a"].append(x)
    shared = lists.copy()
    shared["a"].append(3.0)
    return sum(lists["a"]) * (2 if lists == shared else 1)


def equal_deques(x):
    a, b = deque([x, 1.0]), deque([x, 1.0], maxlen=5)
    return x * 3 if a == b and a != [x, 1.0] else x * 5


def deques_in_order(x):
    a, b = deque([x, 1.0]), deque([x, 2.0])
    return x * 3 if a < b and b >= a else x * 5


def counters_joined(x):
    a, b = Counter(u=3, v=1), Counter(u=1, v=2)
    either, both = a | b, a & b
    a.subtract(b)
    same = Counter(w=0) == Counter()
    return x * (either["u"] * 10 + either["v"] + 100 * both["u"] + 1000 * both["v"] + a["v"] + same)


def deque_given_to_numpy(x):
    window = deque([x, 2 * x, 3.0], maxlen=3)
    window.append(x * x)
    return np.mean(window) + np.dot(window, window) + np.array(window)[0] + math.fsum(window)


def unpacked_into_dictionaries_and_calls(x):
    def product(a, b):
        return a * b

    given = OrderedDict(a=x, b=2.0)
    merged = {**given, "c": x * x}
    return product(**given) + sum(merged.values()) + dict(given)["a"]


PROGRAMS = [
    value for name, value in list(globals().items()) if getattr(value, "__module__", "") == __name__
]


@pytest.mark.parametrize("program", PROGRAMS)
def test_they_do_what_pythons_do(program):
    value, slope = wg.value_and_grad(program)(1.5)
    assert value == program(1.5)
    (wanted,) = oracle.central_gradient(program, 1.5)
    assert slope == pytest.approx(wanted, rel=1e-6, abs=1e-7)


def kinds_told_apart(x):
    lists, counts, queue = defaultdict(list), Counter("ab"), deque([x])
    total = 3.0 * (type(lists) is defaultdict) + 5.0 * (type(counts) is Counter)
    total += 7.0 * (queue.__class__.__name__ == "deque")
    match lists:
        case list():
            total += 100.0
        case dict():
            total += 11.0
    match queue:
        case deque():
            total += 13.0
    return x * total * type(queue)([2 * x])[0]


def keys_joined(x):
    return x * len("+".join(Counter("aab"))) + x * len(" ".join(deque(["ab", "c"])))


@pytest.mark.parametrize("program", [kinds_told_apart, keys_joined])
def test_they_are_of_pythons_classes(program):
    value, slope = wg.value_and_grad(program)(1.5)
    assert value == program(1.5)
    (wanted,) = oracle.central_gradient(program, 1.5)
    assert slope == pytest.approx(wanted, rel=1e-6)


def grouped_by_parity(xs):
    groups = defaultdict(list)
    for x in xs:
        groups[int(x) % 2].append(x * x)
    return sum(groups[0]) * sum(groups[1])


def sums_and_counts(xs):
    groups = defaultdict(lambda: [0.0, 0])
    for x in xs:
        group = groups[int(x) % 2]
        group[0] += x
        group[1] += 1
    return groups[0][0] / groups[0][1] * groups[1][0]


class OfKeys(defaultdict):
    def __missing__(self, key):
        self[key] = made = self.default_factory(key)
        return made


def made_of_their_keys(xs):
    groups = OfKeys(lambda key: [key * xs[0]])
    for k in range(3):
        groups[k % 2].append(xs[k])
    return sum(groups[0]) * sum(groups[1])


@pytest.mark.parametrize("program", [grouped_by_parity, sums_and_counts, made_of_their_keys])
def test_default_dictionaries_of_lists_serve_any_number_of_items(program):
    for xs in ([1.3, 2.3, 5.3, 4.3], [1.5 * k + 0.2 for k in range(90)]):
        gradient = wg.grad(program)
        assert gradient(xs) == pytest.approx(
            list(oracle.central_gradient(program, xs)[0]), rel=1e-4
        )
    if program is not made_of_their_keys:
        assert gradient.specialize([1.0] * 90)([1.3, 2.3, 5.3]) == gradient([1.3, 2.3, 5.3])


def asked_for_what_it_has_not(totals, x):
    try:
        start = totals["other"]
    except KeyError:
        start = 10.0
    return start * x + x * totals["a"] + x * len(totals)


def added_to(totals, x):
    totals["a"] += x
    totals["new"] += x * x
    return totals["a"] * totals["new"] * len(totals)


def most_common(counts, x):
    return x * sum(amount for _, amount in counts.most_common(2)) + x**2 * counts["none"]


@pytest.mark.parametrize(
    ("program", "given"),
    [
        (asked_for_what_it_has_not, defaultdict(float, a=2.0)),
        (asked_for_what_it_has_not, defaultdict(None, a=2.0)),
        (added_to, defaultdict(float, a=2.0)),
        (added_to, defaultdict(float, {str(k): 2.0 for k in range(80)})),
        (most_common, Counter(a=2.0, b=3.0, c=1.0)),
    ],
)
def test_what_a_given_one_makes_of_keys_that_it_has_not(program, given):
    mine, theirs = given.copy(), given.copy()
    value, (of_given, slope) = wg.value_and_grad(program, (0, 1))(mine, 1.5)
    assert value == program(theirs, 1.5)
    assert mine == theirs
    after, before = (program(given.copy(), 1.5 + e) for e in (1e-6, -1e-6))
    assert slope == pytest.approx((after - before) / 2e-6, rel=1e-7)
    key = next(iter(given))
    after, before = (program(_moved(given, key, e), 1.5) for e in (1e-6, -1e-6))
    assert of_given[key] == pytest.approx((after - before) / 2e-6, rel=1e-7, abs=1e-8)
    y, push = wg.pushforward(program, given.copy(), 1.5)
    assert y == value
    assert push(None, 1.0) == pytest.approx(slope, rel=1e-12)
    tangent = dict.fromkeys(given, 0.0) | {key: 1.0}
    assert push(tangent, 1.0) == pytest.approx(slope + of_given[key], rel=1e-12)


def appended_by_name(d, names, x):
    for n in names:
        d[n].append(x)
        x = x * 2
    return sum(v * v for items in d.values() for v in items)


def added_by_name(d, names, x):
    for n in names:
        d[n] += x
        x = x * 2
    return sum(np.sum(v * v) for v in d.values())


def nested_by_name(d, names, x):
    for n in names:
        d[n][n] += x
        d[n]["z"] = x * x
        x = x * 2
    return sum(v * v for inner in d.values() for v in inner.values())


@pytest.mark.parametrize(
    ("program", "make"),
    [
        (appended_by_name, lambda: defaultdict(list)),
        (appended_by_name, lambda: defaultdict(list, a=[0.5])),
        (appended_by_name, lambda: defaultdict(lambda: list())),  # noqa: C408
        (added_by_name, lambda: defaultdict(float, a=0.5)),
        (added_by_name, Counter),
        (added_by_name, lambda: defaultdict(lambda: np.zeros(3))),
        (nested_by_name, lambda: defaultdict(lambda: defaultdict(float))),
    ],
)
def test_tangents_follow_what_a_given_one_makes(program, make):
    names = ["a", "b", "a"]
    slope = wg.grad(program, 2)(make(), names, 1.5)
    after, before = (program(make(), names, 1.5 + e) for e in (1e-6, -1e-6))
    assert slope == pytest.approx((after - before) / 2e-6, rel=1e-7)
    _, push = wg.pushforward(program, make(), names, 1.5)
    assert push(None, None, 1.0) == pytest.approx(slope, rel=1e-12)
    of_given = wg.grad(program, 0)(make(), names, 1.5)
    along_itself = sum(trees.inner(of_given[key], item) for key, item in make().items())
    assert push(make(), None, 1.0) == pytest.approx(slope + along_itself, rel=1e-12)


def numbered(ids, names, weights, x):
    return sum(x * weights[ids[n]] for n in names)


def test_what_makes_an_item_is_not_called_for_its_tangent():
    numbers, weights = [2, 1, 0, 1], [1.0, 2.0, 4.0]
    y, push = wg.pushforward(numbered, defaultdict(numbers.pop), ["a", "b", "a"], weights, 1.5)
    assert (y, numbers) == (7.5, [2, 1])
    assert push(None, None, None, 1.0) == 8.0
    assert numbers == []


def recorded(tracks, names, x):
    for n in names:
        tracks[n].append(x)
    return sum(sum(track) for track in tracks.values())


def test_a_tangent_that_cannot_be_made_is_refused():
    made = []

    def noted():
        made.append(1)
        return []

    _, push = wg.pushforward(recorded, defaultdict(noted), ["a", "b"], 1.5)
    with pytest.raises(wg.errors.UnsupportedSyntax, match="may do more than that"):
        push(None, None, 1.0)


def _moved(given, key, by):
    moved = given.copy()
    moved[key] += by
    return moved


def a_deque(x):
    return deque([x * x])


def a_default_dictionary_in_a_list(x):
    totals = defaultdict(float)
    totals["a"] += x
    return [x, totals]


@pytest.mark.static_tier
@pytest.mark.parametrize(
    ("program", "name", "plain"),
    [
        (a_deque, "deque", "list(d)"),
        (a_default_dictionary_in_a_list, "defaultdict", "dict(d)"),
    ],
)
def test_what_stands_in_for_them_is_not_handed_out(program, name, plain):
    text = refusal("WG101", NotImplementedError, lambda: wg.pullback(program, 1.5))
    assert (
        f"a container of class {name} that the program makes is needed as a value at run time"
        in str(text)
    )
    assert f"Hand on what it holds: `{plain}`." in str(text)


def test_a_display_evaluates_its_entries_once():
    def program(x, given):
        stack = [1.0, 2.0, 3.0]
        entries = {"last": stack.pop(), **given, x > 0: stack.pop()}
        return entries["last"] * x + len(stack) + entries[3]

    value, (slope, _) = wg.value_and_grad(program, (0, 1))(1.5, {3: 2.0})
    assert (value, slope) == (program(1.5, {3: 2.0}), 3.0)
