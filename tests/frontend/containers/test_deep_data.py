"""Data nested more deeply than Python's functions may call each other, walked over by loops."""

import pytest

import wengert as wg
from wengert.runtime.cotangents import zeros

DEEP = 700


def of_tuples(n, x):
    node = None
    for k in range(n):
        node = (x * k, node)
    total = 0.0
    while node is not None:
        value, node = node
        total += value
    return total


def of_lists(n, x):
    node = None
    for k in range(n):
        node = [x * k, node]
    total = 0.0
    while node is not None:
        total += node[0]
        node = node[1]
    return total


def of_dictionaries(n, x):
    node = None
    for k in range(n):
        node = {"value": x * k, "next": node}
    total = 0.0
    while node is not None:
        total += node["value"]
        node = node["next"]
    return total


class Node:
    def __init__(self, value, after):
        self.value, self.after = value, after


def of_objects(n, x):
    node = None
    for k in range(n):
        node = Node(x * k, node)
    total = 0.0
    while node is not None:
        total += node.value
        node = node.after
    return total


@pytest.mark.parametrize(
    "linked", [of_tuples, of_lists, of_dictionaries, of_objects], ids=lambda f: f.__name__
)
def test_A12_linked_lists(linked):
    slope = DEEP * (DEEP - 1) / 2
    assert wg.grad(linked, 1)(DEEP, 2.0) == slope
    assert wg.pushforward(linked, DEEP, 2.0)[1](None, 1.0) == slope


def test_the_zero_of_what_holds_itself_is_refused():
    ring = [1.0]
    ring.append(ring)
    with pytest.raises(RecursionError, match="holds itself"):
        zeros(ring)
