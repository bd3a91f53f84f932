"""Tuples, dictionaries and objects in lists: their cotangents have items by place or by name, of known kinds."""

import copy
import heapq
import re
from collections import deque
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import pytest
from differences import agree

import wengert as wg

PROGRAMS = []


def program(function):
    PROGRAMS.append(function)
    return function


class State(NamedTuple):
    x: float
    v: float


@dataclass
class Particle:
    x: float
    v: float
    name: str = "p"


@dataclass
class Body:
    place: Any
    mass: float


class Slotted:
    __slots__ = ("a", "b")

    def __init__(self, a, b):
        self.a = a
        self.b = b


class Doubled:
    """The attribute that is read is no attribute that is kept."""

    def __init__(self, x):
        self._x = x
        self.changes = 0

    @property
    def x(self):
        return self._x * 2

    @x.setter
    def x(self, value):
        self._x = value / 2
        self.changes += 1


class Growing:
    def __init__(self, x):
        self.x = x

    def grow(self, k):
        self.y = self.x * k

    def step(self):
        self.x = self.x * 1.1 + getattr(self, "y", 0.0)


# --- tuples -------------------------------------------------------------------------------


@program
def queue_by_priority(x):
    heap = []
    for i in range(7):
        heapq.heappush(heap, ((i * 5 % 7) * x, i))
    total = 0.0
    while heap:
        a, i = heapq.heappop(heap)
        total += a * a * (1 + i)
        if a > 3 and i < 3:
            heapq.heappush(heap, (a * 0.5, i + 4))
    return total


@program
def pairs_as_an_array(x):
    pairs = []
    for i in range(5):
        pair = x * i, x**2 - i
        pairs.append(pair)
    pairs[1] = (x * 3.0, x)
    pairs[-1] = pairs[0]
    table = np.asarray(pairs)
    pairs.pop()
    return sum(u * v for u, v in pairs) + float(np.sum(table**2))


@program
def pairs_of_which_the_mean_replaces_one(x):
    pairs = [(x * i, 1.0) for i in range(4)]
    mean = np.mean(pairs, axis=0)
    pairs[0] = tuple(mean)
    return float(np.sum(mean)) + pairs[0][0] * pairs[3][0]


@program
def table_of_pairs(x):
    table = [[(0.0, 0.0)] * 3 for _ in range(3)]
    for i in range(3):
        for j in range(3):
            table[i][j] = (x * i, x * j) if (i + j) % 2 else (x, x * x)
    return sum(a * b for row in table for a, b in row)


@program
def work_to_do(x):
    stack = [(x, 0)]
    total = 0.0
    while stack:
        value, depth = stack.pop()
        total += value * value
        if depth < 4:
            stack.append((value * 0.5, depth + 1))
            stack.append((value * 0.3 + x, depth + 1))
    return total


@program
def pairs_reversed_and_sliced(x):
    pairs = [(x, 2.0), (x * x, 1.0)]
    others = list(pairs)
    others[0] = (1.0, x)
    pairs += others
    pairs.reverse()
    rest = pairs[1:3]
    rest.insert(1, (x, x))
    del rest[0]
    return sum(a * b for a, b in rest) + pairs[0][0]


@program
def last_three(x):
    window = deque(maxlen=3)
    total = 0.0
    for i in range(6):
        window.append((x * i, i))
        total += window[0][0] * window[-1][0]
    return total


@program
def triples_of_triples(x):
    rows = [(x, 1.0, 2.0)]
    for _ in range(4):
        a, b, c = rows[-1]
        rows.append((b * x, c + a, a * b))
    return rows[-1][0] + rows[-1][1] * rows[-2][2]


@program
def numbers_beside_arrays(x):
    pairs = [(i, x * np.arange(3.0)) for i in range(3)]
    total = 0.0
    for i, a in pairs:
        total += i * a.sum()
    for i in range(3):
        pairs[i] = (i, pairs[i][1] ** 2)
    return total + sum(float(a @ a) for _, a in pairs)


@program
def complex_beside_real(x):
    pairs = [(x + 1j * i, x) for i in range(3)]
    pairs[0] = (x * 1j, x)
    return sum(abs(a) ** 2 * b for a, b in pairs)


@program
def pairs_beside_none(x):
    pairs = [(x * i, None) for i in range(3)]
    pairs[1] = (x, 2.0)
    return sum(a * (b or 1.0) for a, b in pairs)


@program
def named_tuples(x):
    states = [State(x * i, x) for i in range(4)]
    states = [s._replace(x=s.x * s.v) for s in states]
    states[2] = State(*states[1])
    states.append(states[0]._replace(v=x * x))
    table = np.array(states)
    return float((table**2).sum()) + sum(s.x * s[1] for s in states)


@program
def containers_of_many_forms(x):
    rows = [(x, [x * 2, 1.0], {"a": x})]
    for i in range(3):
        a, b, c = rows[-1]
        rows.append((a * b[0], [b[1] * a, c["a"]], {"a": a + i}))
    return rows[-1][0] + rows[-1][1][0] * rows[-1][2]["a"]


# --- dictionaries -------------------------------------------------------------------------


@program
def records(x):
    rows = []
    t = 0.0
    while t < 3.0:
        t += 0.3 * (1.0 + 0.01 * x)
        rows.append({"t": t, "y": t * x, "n": len(rows)})
    total = 0.0
    for i in range(1, len(rows)):
        total += (rows[i]["t"] - rows[i - 1]["t"]) * rows[i]["y"]
        rows[i]["y"] = total
    return total + sum(row["y"] * row["n"] for row in rows)


@program
def records_with_keys_of_some(x):
    rows = []
    for i in range(5):
        row = {"a": x * i, "b": i}
        if i % 2:
            row["c"] = x * x
        rows.append(row)
    total = 0.0
    for row in rows:
        total += row["a"] * row.get("c", 1.0)
        row["a"] = total
    return total + sum(row["a"] for row in rows)


@program
def keys_that_come_and_go(x):
    rows = [{"a": x * i} for i in range(4)]
    for row in rows:
        row["z"] = row["a"] * x
    for row in rows:
        row["a"] += row.pop("z")
    return sum(row["a"] ** 2 for row in rows)


@program
def records_of_arrays_and_text(x):
    rows = [{"place": np.array([x, x * i]), "m": 1.0 + i, "tag": f"t{i}"} for i in range(3)]
    for row in rows:
        row["place"] = row["place"] * row["m"]
        row["place"][0] += x
        row["m"] *= x
    return sum(float(row["place"].sum()) * row["m"] for row in rows)


@program
def updated_records(x):
    rows = [{"x": x * i, "y": None} for i in range(3)]
    for row in rows:
        row["y"] = row["x"] ** 2
    for row in rows:
        row.update(x=row["y"] * x)
    others = [dict(row, y=row["x"]) for row in rows]
    wider = [{**row, "z": row["y"] * x} for row in others]
    return sum(r["x"] + r["z"] for r in wider) + sum(sum(r.values()) for r in others)


@program
def grid_of_records(x):
    grid = [[{"h": x * (i + j), "u": 0.0} for j in range(3)] for i in range(3)]
    for _ in range(2):
        for i in range(3):
            for j in range(2):
                grid[i][j]["u"] += 0.1 * (grid[i][j + 1]["h"] - grid[i][j]["h"]) * x
        for row in grid:
            for cell in row:
                cell["h"] -= cell["u"] * cell["h"]
    return sum(cell["h"] ** 2 for row in grid for cell in row)


@program
def keys_that_are_names_of_methods(x):
    rows = [{"items": x * i, "values": x, "get": x * x} for i in range(4)]
    total = 0.0
    for row in rows:
        row["items"] *= x
        for value in row.values():
            total += value
        total += sum(v for _, v in row.items()) * row.get("get", 1.0)
    return total


# --- objects ------------------------------------------------------------------------------


@program
def particles(x):
    items = [Particle(0.1 * i * x, x + i) for i in range(5)]
    for k in range(3):
        for p in items:
            p.v -= 0.1 * p.x
            p.x += 0.1 * p.v * p.x
        if k == 1:
            items.append(Particle(items[0].x, x))
        if k == 2:
            del items[1]
    return sum(p.x * p.v for p in items)


@program
def bodies(x):
    items = [Body(x * np.arange(3.0), x * i) for i in range(3)]
    for _ in range(3):
        for i, a in enumerate(items):
            for b in items[i + 1 :]:
                apart = b.place - a.place
                a.place = a.place + 0.01 * apart * b.mass
                b.place -= 0.01 * apart * a.mass
    return sum(float(b.place @ b.place) for b in items)


@program
def slots(x):
    items = [Slotted(x, i) for i in range(4)]
    for i in range(4):
        items[i].b = items[i - 1].a * items[i].b
        items[i].a = items[i].b + x
    return sum(s.a * s.b for s in items)


@program
def properties(x):
    items = [Doubled(x * i) for i in range(4)]
    for i in range(3):
        for item in items:
            item.x = item.x * 1.5 + i
    return sum(item.x**2 + item.changes * item._x for item in items)


@program
def attributes_of_some(x):
    items = [Growing(x * i) for i in range(4)]
    for k in range(3):
        for i, item in enumerate(items):
            if (i + k) % 2:
                item.grow(x)
            item.step()
    return sum(item.x for item in items)


@program
def one_object_twice(x):
    items = [Particle(x * i, x) for i in range(4)]
    one = items[1]
    one.x *= 3
    items[2] = one
    one.v += x
    return sum(p.x * p.v for p in items)


@program
def copies_of_objects(x):
    items = [Particle(x * i, x) for i in range(4)]
    squared = [replace(p, x=p.x**2) for p in items]
    deep = copy.deepcopy(squared)
    deep[0].x = x * 5
    squared[1].v = 0.3
    return sum(p.x * q.v + d.x for p, q, d in zip(items, squared, deep, strict=True))


@program
def objects_by_key(x):
    table = {i: Particle(x * i, x) for i in range(3)}
    for k in list(table):
        table[k].x = table[k].x + table[(k + 1) % 3].x * table[k].v
    return sum(p.x for p in table.values())


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_every_way_finds_what_differences_find(f):
    agree(f, 0.7, 1.3)


@pytest.mark.parametrize("f", [particles, records, queue_by_priority, named_tuples])
def test_recorded_runs_agree(f):
    assert wg.grad(f, tier="recorded")(1.3) == pytest.approx(wg.grad(f)(1.3), rel=1e-12)


def movement(w):
    items = [Particle(0.1 * i * w, w + i) for i in range(20)]
    for _ in range(10):
        for p in items:
            p.v -= 0.1 * p.x
            p.x += 0.1 * p.v
    return sum(p.x**2 for p in items)


def test_cotangents_of_objects_are_written_to_by_name():
    gradient = wg.grad(movement)
    assert gradient(1.3) == pytest.approx(wg.grad(movement, tier="recorded")(1.3), rel=1e-12)
    source = gradient.specialize(1.3).source
    assert re.search(r'items_bar\[\w+\]\["x"\] = 0\.0\n +items_bar\[\w+\]\["v"\] \+= ', source)
    assert "_add_at" not in source
    assert "_snapshot" not in source


def test_a_pullback_takes_objects_as_cotangents_of_objects():
    def pair(x):
        return [Particle(x * x, 3.0 * x), Particle(x, 2.0)]

    _, pull = wg.pullback(pair, 1.5)
    bars = pull([Particle(1.0, 2.0), Particle(4.0, 5.0)])
    assert bars == (pytest.approx(2 * 1.5 + 3.0 * 2.0 + 4.0),)
