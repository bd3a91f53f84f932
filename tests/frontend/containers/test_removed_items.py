"""Objects that change while others are removed from the list that holds them."""

from dataclasses import dataclass

import numpy as np
import pytest

import wengert as wg


class Cell:
    def __init__(self, size, age=0):
        self.size = size
        self.age = age

    def step(self, food):
        self.size += food - 0.1 * self.size * self.size
        self.age += 1


@dataclass
class Part:
    energy: float


class Watched:
    """Equal to none but those that hold the same; what is asked is written down."""

    def __init__(self, energy, seen):
        self.energy = energy
        self.seen = seen

    def __eq__(self, other):
        self.seen.append(self.energy)
        return self.energy == other.energy

    __hash__ = None


class Colony:
    def __init__(self, x, n):
        self.cells = [Cell(x * (k + 1) / n) for k in range(n)]
        self.dead = []

    def run(self, rounds, food):
        for _ in range(rounds):
            for cell in list(self.cells):
                cell.step(food)
                if cell.size > 1.5:
                    cell.size /= 2
                    self.cells.append(Cell(cell.size))
                elif cell.size < 0.4:
                    self.cells.remove(cell)
                    self.dead.append(cell)
            for cell in self.dead:
                cell.size *= 0.9
        return sum(c.size**2 for c in self.cells) + sum(c.size * c.age for c in self.dead)


def cells_that_divide_and_die(x, n):
    return Colony(x, n).run(6, 0.1 * x)


def lists_in_a_list(x, n):
    rows = [[x * (k + 1), k] for k in range(n)]
    for _ in range(4):
        for row in list(rows):
            row[0] -= 0.3
            if row[0] < 0:
                rows.remove(row)
            else:
                row[1] += row[0] * x
    return sum(a * b for a, b in rows)


def the_weakest_first(x, n):
    parts = [Part(x * (k + 1)) for k in range(n)]
    total = 0.0
    while len(parts) > 2:
        weakest = min(parts, key=lambda part: part.energy)
        parts.remove(weakest)
        for part in parts:
            part.energy -= 0.1 * weakest.energy + 0.01 * x
        total += weakest.energy**2
    return total + sum(part.energy for part in parts)


def classes_that_say_what_is_equal(x, n):
    seen = []
    parts = [Watched(x * k, seen) for k in range(n)]
    for part in parts[:]:
        part.energy *= x
        if part.energy > 1.5:
            parts.remove(part)
    return sum(part.energy for part in parts) + sum(seen) * x


def arrays_in_a_list(x, n):
    rows = [np.array([x * k]) for k in range(n)]
    for row in rows[:]:
        row *= x
        if row[0] > 1.5:
            rows.remove(row)
    return sum(row[0] for row in rows) * x


PROGRAMS = [
    cells_that_divide_and_die, lists_in_a_list, the_weakest_first, classes_that_say_what_is_equal, arrays_in_a_list,
]  # fmt: skip


@pytest.mark.parametrize("n", [3, 5])
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda each: each.__name__)
def test_what_is_left_has_its_derivative(program, n):
    def f(x):
        return program(x, n)

    h = 1e-5
    for x in (0.83, 1.1, 1.62):
        slope = (f(x + h) - f(x - h)) / (2 * h)
        curvature = (f(x + h) - 2 * f(x) + f(x - h)) / h**2
        assert wg.grad(f)(x) == pytest.approx(slope, rel=1e-6)
        assert wg.derivative(f)(x) == pytest.approx(slope, rel=1e-6)
        assert wg.derivative(wg.grad(f))(x) == pytest.approx(curvature, rel=1e-3, abs=1e-4)


def removed_twice(x):
    parts = [Part(x), Part(2 * x)]
    first = parts[0]
    for _ in range(2):
        first.energy *= x
        if first.energy > 0.2:
            parts.remove(first)
    return first.energy


def test_what_is_not_in_the_list():
    with pytest.raises(ValueError, match="not in list") as pythons:
        removed_twice(1.5)
    with pytest.raises(ValueError, match="not in list") as ours:
        wg.grad(removed_twice)(1.5)
    assert str(ours.value) == str(pythons.value)
    assert wg.grad(removed_twice)(0.5) == pytest.approx(3 * 0.5**2)


def test_what_makes_no_sense_is_said_of_recorded_programs():
    with pytest.raises(wg.errors.BadArgument, match="`derivative` is for functions of one number"):
        wg.derivative(lists_in_a_list)(0.83, 3)
    with pytest.raises(wg.errors.NotScalar):
        wg.grad(lambda x: (lists_in_a_list(x, 3), x))(0.83)
