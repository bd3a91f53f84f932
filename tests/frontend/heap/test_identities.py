"""Which object is which: `is`, `==`, `id`, `hash`, `in`, `index`, sets and keys of objects equal to themselves only."""

from __future__ import annotations

import dataclasses

import pytest
from differences import agree

import wengert as wg


class Node:
    def __init__(self, v, *kids):
        self.v = v
        self.kids = kids


def by_its_id(x):
    a, b = Node(x), Node(x)
    found = {id(a): x, id(b): 2 * x}
    return found[id(a)] * 10 + found[id(b)]


def visited_once(x):
    leaf = Node(x)
    root, seen = Node(x * x, leaf, Node(2 * x, leaf)), set()

    def total(node):
        if id(node) in seen:
            return 0.0
        seen.add(id(node))
        return node.v + sum(total(kid) for kid in node.kids)

    return total(root)


def remembered(x):
    memo = {}

    def cost(node):
        if id(node) not in memo:
            memo[id(node)] = node.v**2 + sum(map(cost, node.kids))
        return memo[id(node)]

    leaf = Node(x)
    return cost(Node(x * x, leaf, Node(x, leaf)))


def ids_and_hashes(x):
    a, b, items, others = Node(x), Node(x), [x], [x]
    same = (id(a) == id(b)) + 2 * (hash(a) == hash(b)) + 4 * (id(items) == id(others))
    return x**3 * (1 + same) + x * (id(a) == id(a)) + x**2 * (hash(b) == hash(b))


def in_sets(x):
    a, b, c = Node(x), Node(2 * x), Node(3 * x)
    seen, pairs = {a}, {(a, b), (b, c)}
    found = 5 * (b in seen) + 2 * (a in seen) + 3 * ((a, b) in pairs) + 7 * ((c, b) in pairs)
    return x * found + x**2 * len({a, b, a}) + x**3 * (c in set([b, c]))  # noqa: C405


def in_equal_containers(x):
    a, b = Node(x), Node(x)
    alike = ([a] == [a]) + 2 * ([a, 1] == [b, 1]) + 4 * ({"k": a} == {"k": a}) + 8 * ((a,) != (b,))
    return x * alike + x**2 * ([a, b] == [a]) + x**3 * ({"k": a} == {"l": a})


def among_others(x):
    nodes = [Node(x), Node(2 * x), Node(x)]
    edges = [(nodes[0], nodes[1]), (nodes[1], nodes[2])]
    first = {"p": nodes[0], "q": nodes[1]}
    place = nodes.index(nodes[2]) + 3 * edges.index((nodes[1], nodes[2]))
    place += 5 * list(first.values()).index(nodes[1])
    count = [nodes[0], nodes[1], nodes[0]].count(nodes[0])
    return x * place + x**2 * count + x**3 * ((nodes[1], nodes[0]) in edges)


@dataclasses.dataclass(frozen=True)
class Edge:
    start: Node
    end: Node


def in_what_is_compared_by_its_fields(x):
    a, b = Node(x), Node(2 * x)
    edges = {Edge(a, b)}
    return x * (Edge(a, b) in edges) + x**2 * (Edge(b, a) in edges) + x**3 * (len(edges) + 1)


def from_some_place_on(x):
    nodes = [Node(x), Node(2 * x)]
    nodes.append(nodes[0])
    try:
        place = nodes.index(nodes[1], 2)
    except ValueError:
        place = 5
    return x * nodes.index(nodes[0], 1) + x**2 * nodes.index(nodes[1], 0, -1) + x**3 * place


def of_a_list_that_grows(x):
    items = [x]
    before = id(items)
    items.append(x)
    return x**2 * (id(items) == before) + x**3


def the_next_that_is(x):
    nodes = [Node(x), Node(2 * x)]
    second = nodes[1]
    place = next((k for k, node in enumerate(nodes) if node is second), 7)
    equal = (k for k, node in enumerate(nodes) if node == second)
    for k in equal:
        return x * (place + 10 * k)
    return x * x


PROGRAMS = [
    by_its_id, visited_once, remembered, ids_and_hashes, in_sets, in_equal_containers, among_others, the_next_that_is,
    in_what_is_compared_by_its_fields, from_some_place_on, of_a_list_that_grows,
]  # fmt: skip


@pytest.mark.parametrize("program", PROGRAMS)
def test_objects_are_told_apart(program):
    agree(program, 1.3)


def test_what_is_nowhere_is_an_error_of_the_program():
    def nowhere(x):
        a, b = Node(x), Node(x)
        try:
            return x * [a].index(b)
        except ValueError:
            return x * x

    agree(nowhere, 1.3)


def test_of_an_identity_nothing_but_a_comparison_is_known():
    def bits(x):
        return x * id(Node(x)).bit_length()

    with pytest.raises(wg.WengertError, match="the identity of an object"):
        wg.grad(bits)(1.3)
