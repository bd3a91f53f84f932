"""Where the nodes of a picture go: in layers by depth, ordered so that few edges cross.

The method of K. Sugiyama, S. Tagawa and M. Toda (1981): each node is a layer behind its deepest operand;
where an edge passes a layer it has a place there like a node; places are ordered by the mean of their
neighbours', to and fro.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple, Protocol

from ....ir.graph import Var

COLUMN, CHARACTER = 46.0, 8.0
"""The gap between layers and the width of a character, in pixels."""


class Nodes(Protocol):
    """What is to be laid out."""

    @property
    def nodes(self) -> Sequence[Var]:
        """All nodes, each behind those that it is computed from."""
        ...

    def parents(self, var: Var, /) -> Iterable[Var]:
        """The nodes that one is computed from."""
        ...


class Box(NamedTuple):
    """The middle and the size of a node, or of the place where an edge passes, in pixels."""

    x: float
    y: float
    width: float
    height: float


Passage = tuple[Var, Var, int]
"""Where an edge passes a layer: its two ends and the number of the layer."""
Place = Var | Passage


class Layout(NamedTuple):
    """Where everything is: the nodes, and the boxes that each edge passes on its way."""

    boxes: dict[Var, Box]
    edges: list[list[Box]]


def layout(picture: Nodes, label: Callable[[Var], str], row: float) -> Layout:
    """A place for each node, from left to right.

    Args:
        picture: the nodes.
        label: what is written on a node.
        row: the height that a node takes, in pixels.
    """
    depth = _depths(picture)
    chains = list(_chains(picture, depth))
    layers = _ordered(picture, depth, chains)
    places: dict[Place, Box] = {}
    x, tallest = 0.0, max(len(layer) for layer in layers)  # a literal has no nodes
    for layer in layers:
        widths = {place: _width(place, label) for place in layer}
        widest = max(widths.values(), default=0.0)
        top = (tallest - len(layer)) * row / 2
        for k, place in enumerate(layer):
            places[place] = Box(x + widest / 2, top + (k + 0.5) * row, widths[place], 30.0)
        x += widest + COLUMN
    boxes = {place: box for place, box in places.items() if isinstance(place, Var)}
    return Layout(boxes, [[places[place] for place in chain] for chain in chains])


def _width(place: Place, label: Callable[[Var], str]) -> float:
    if not isinstance(place, Var):
        return 0.0
    return max(38.0, 18.0 + CHARACTER * max(map(len, label(place).split("\n"))))


def _depths(picture: Nodes) -> dict[Var, int]:
    depth: dict[Var, int] = {}
    for var in picture.nodes:
        depth[var] = 1 + max((depth[parent] for parent in picture.parents(var)), default=-1)
    return depth


def _chains(picture: Nodes, depth: dict[Var, int]) -> Iterator[list[Place]]:
    """Each edge as the places that it goes through, its ends included."""
    for var in picture.nodes:
        for parent in dict.fromkeys(picture.parents(var)):
            between = range(depth[parent] + 1, depth[var])
            yield [parent, *((parent, var, k) for k in between), var]


def _ordered(picture: Nodes, depth: dict[Var, int], chains: list[list[Place]]) -> list[list[Place]]:
    """The places of each layer, in an order in which few edges cross."""
    layers: list[list[Place]] = [[] for _ in range(1 + max(depth.values(), default=0))]
    for var in picture.nodes:
        layers[depth[var]].append(var)
    before: dict[Place, list[Place]] = {}
    behind: dict[Place, list[Place]] = {}
    for chain in chains:
        for place in chain[1:-1]:
            assert not isinstance(place, Var)
            layers[place[2]].append(place)
        for a, b in pairwise(chain):
            behind.setdefault(a, []).append(b)
            before.setdefault(b, []).append(a)
    for _ in range(6):
        _sort(layers, before)
        _sort(layers[::-1], behind)
    return layers


def _sort(layers: list[list[Place]], neighbours: dict[Place, list[Place]]) -> None:
    """Sort each layer by the mean place of what its places are joined to in the one before."""
    where: dict[Place, float] = {}
    for layer in layers:
        mean: dict[Place, float] = {}
        for k, place in enumerate(layer):
            found = [where[each] for each in neighbours.get(place, ()) if each in where]
            mean[place] = sum(found) / len(found) if found else (k + 0.5) / len(layer)
        layer.sort(key=mean.__getitem__)
        where.update((place, (k + 0.5) / len(layer)) for k, place in enumerate(layer))
