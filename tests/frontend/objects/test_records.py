"""Arrays of records that a program makes: `dtype=[("position", float), ("velocity", float, 2)]`."""

import numpy as np
import pytest
from differences import agree
from error_texts import refusal, says

import wengert as wg

BODY = np.dtype([("m", np.float64), ("r", np.float64, (2,)), ("v", "f8", (2,)), ("tag", "i4")])


def forces(bodies):
    total = np.zeros((len(bodies), 2))
    for i in range(len(bodies)):
        for j in range(len(bodies)):
            if i != j:
                d = bodies["r"][j] - bodies["r"][i]
                total[i] += bodies[j]["m"] * d / (d @ d + 0.1) ** 1.5
    return total


def bodies_that_move(x):
    bodies = np.zeros(3, dtype=BODY)
    bodies["m"] = [1.0, x, 0.5]
    bodies["r"] = [[0, 0], [1, 0.1], [0.2, x]]
    bodies["tag"] = np.arange(3)
    for _ in range(3):
        bodies["v"] += 0.1 * forces(bodies)
        bodies["r"] += 0.1 * bodies["v"]
    energy = 0.5 * np.sum(bodies["m"] * np.sum(bodies["v"] ** 2, axis=1))
    return energy + bodies["r"][bodies["tag"] == 1].sum()


def records_walked_over(x):
    table = np.empty(4, dtype=np.dtype([("a", float), ("b", float)]))
    for k, record in enumerate(table):
        record["a"] = x * k
        record[1] = x**k
    return sum(record["a"] * record["b"] for record in table) + table["a"].mean()


def chosen_records_are_copies_and_slices_are_not(x):
    table = np.zeros(4, dtype=[("a", float), ("k", int)])
    table["a"] = x * np.arange(4)
    table["k"] = [0, 1, 0, 1]
    chosen, rest = table[table["k"] == 1], table[1:]
    chosen["a"] *= 10
    rest["a"][0] = x**2
    table["a"][table["a"] > 1] += x
    return chosen["a"].sum() + table["a"].sum() * rest["a"][0]


def records_from_tuples(x):
    rows = [(x * k, float(k)) for k in range(5)]
    table = np.array(rows, dtype=[("t", float), ("w", float)])
    table[2] = (x, 7.0)
    table[3]["w"] = x
    table[:2] = [(x, 1.0), (x**2, x)]
    mean = np.sum(table["t"] * table["w"]) / np.sum(table["w"])
    return mean + x * len(table) * table.size * table.shape[0] * table.ndim


def fields_by_their_names(x):
    table = np.ones(3, dtype=[("u", float), ("v", float)])
    table["u"] *= x
    return sum(np.sum(table[name]) * (k + 1) for k, name in enumerate(table.dtype.names)) * x


def records_in_order_of_a_field(x):
    table = np.array([(3.0, x), (1.0, 2 * x), (2.0, x * x)], dtype=[("k", float), ("v", float)])
    table.sort(order="k")
    return np.sum(table["v"] * np.arange(3))


def records_in_two_axes(x):
    table = np.ones((2, 2), dtype=[("u", float), ("v", float)])
    table["u"][0, 1] = x
    table[0, 1]["v"] = x * x
    other = table.copy()
    other["u"] = 5.0
    one = table[0, 1].copy()
    one["u"] = 3.0
    return table["u"].sum() * table["v"].sum() + other["u"][0, 0] * x + sum(table[0, 1]) * one["v"]


def records_with_attributes(x):
    table = np.rec.fromarrays(
        [np.array([x, 1.0]), np.array([2.0, x * x])], dtype=[("u", float), ("v", float)]
    )
    other = np.zeros(2, dtype=[("w", float)]).view(np.recarray)
    listed = np.rec.array([(x, 2.0), (3.0, x)], dtype=[("u", float), ("v", float)])
    table.u[1] = x
    table[0].v = x**3
    other.w = x
    return np.sum(table.u * table.v) * other.w[0] + table[1].u + np.sum(listed.u * listed.v)


class Store:
    def __init__(self, size):
        self.data = np.zeros(size, dtype=BODY)
        self.count = 0

    def add(self, m, r):
        self.data[self.count]["m"] = m
        self.data[self.count]["r"] = r
        self.count += 1


def records_in_an_object(x):
    store = Store(4)
    for k in range(3):
        store.add(x * k, (x, k))
    used = store.data[: store.count]
    return np.sum(used["m"][:, None] * used["r"]) * isinstance(used, np.ndarray)


@pytest.mark.parametrize(
    "f",
    [
        bodies_that_move,
        records_walked_over,
        chosen_records_are_copies_and_slices_are_not,
        records_from_tuples,
        fields_by_their_names,
        records_in_order_of_a_field,
        records_in_two_axes,
        records_with_attributes,
        records_in_an_object,
    ],
)
def test_they_are_what_numpys_are(f):
    agree(f, 0.7)


def records_with_text(x):
    return np.zeros(2, dtype=[("n", "U3"), ("v", float)])["v"][0] + x**2


def some_of_the_fields(x):
    table = np.zeros(2, dtype=BODY)
    table["m"] = x
    return table[["m", "v"]]["m"][0] ** 2


@pytest.mark.parametrize("f", [records_with_text, some_of_the_fields])
def test_what_numpy_alone_knows_of_them_is_recorded(f):
    agree(f, 0.7)


def joined_records(x):
    return np.concatenate([np.zeros(2, dtype=BODY)] * 2)["m"][0] * x


def made_by_name(x):
    return np.rec.array([(x, 2.0)], dtype=[("u", float), ("v", float)]).u[0]


@pytest.mark.parametrize("f", [bodies_that_move, made_by_name, joined_records])
def test_reading_refuses_them(f):
    derivative = wg.grad(f, tier="static")
    error = refusal("WG101", NotImplementedError, lambda: derivative(0.7))
    says(error, "an array of records is not read", "Use one array for each field")
