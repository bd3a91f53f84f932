"""Arguments and values that are containers."""

import copy
import math
from collections import namedtuple
from dataclasses import dataclass
from types import SimpleNamespace

import numpy as np

from .registry import add


def tuple_argument(point):
    x, y = point
    return x * y + point[0] ** 2


add(tuple_argument, ((1.5, 2.0),))


def nested_tuples(state):
    (a, b), [c, (d,)] = state
    return a * d + b * c * state[1][1][0]


add(nested_tuples, (((1.0, 2.0), [3.0, (4.0,)]),))


def dict_argument(params):
    return params["w"] * params["x"] + params["b"] ** 2 + params.get("missing", 1.0)


add(dict_argument, ({"w": 2.0, "x": 3.0, "b": 0.5},), ({"w": 2.0, "x": 3.0, "b": 0.5, "c": 9.0},))


def dict_with_name(params):
    if params["name"] == "square":
        return params["x"] ** 2
    return params["x"]


add(dict_with_name, ({"x": 3.0, "name": "square"},), ({"x": 3.0, "name": "same"},))


def dict_views(d):
    total = sum(d.values())
    names = sorted(d.keys())
    items = [v * len(k) for k, v in d.items()]
    return total * d[names[0]] + sum(items) + len(d)


add(dict_views, ({"bb": 2.0, "a": 3.0},))


def dict_get_or_default(d, key):
    x = d.get(key)
    if x is None:
        return d["x"] * 2
    return x * x if key in d else 0.0


add(dict_get_or_default, ({"x": 3.0, "y": 4.0}, "y"), ({"x": 3.0}, "y"), wrt=(0,))


Point = namedtuple("Point", ["x", "y"])


def namedtuple_argument(p):
    q = Point(p.x * 2, y=p.y + 1)
    return q.x * p.y + q[1] ** 2


add(namedtuple_argument, (Point(1.5, 2.0),))


@dataclass
class Line:
    slope: float
    intercept: float
    label: str = "line"


def dataclass_argument(line, x):
    return line.slope * x + line.intercept**2


add(dataclass_argument, (Line(2.0, 3.0), 1.5))


def dataclass_inside(a, b):
    line = Line(a, intercept=b)
    other = Line(line.intercept, line.slope * a)
    return other.slope * other.intercept + line.slope


add(dataclass_inside, (2.0, 3.0))


def namespace_argument(model):
    return model.weight * model.bias + math.sin(model.weight)


add(namespace_argument, (SimpleNamespace(weight=1.5, bias=0.3),))


def list_of_dicts(samples):
    total = 0.0
    for sample in samples:
        total += sample["x"] * sample["y"][0] - sample["y"][1]
    return total


add(list_of_dicts, ([{"x": 1.0, "y": (2.0, 3.0)}, {"x": 4.0, "y": (5.0, 6.0)}],))


def dict_of_arrays(params):
    hidden = np.tanh(params["W"] @ params["x"] + params["b"])
    return np.sum(hidden * hidden)


add(
    dict_of_arrays,
    (
        {
            "W": np.array([[0.1, 0.2], [0.3, -0.4]]),
            "x": np.array([1.0, 2.0]),
            "b": np.array([0.5, 0.1]),
        },
    ),
)


def heterogeneous(items):
    return items[0] * items[2]["a"] + len(items[1])


add(heterogeneous, ([2.0, "three", {"a": 4.0, "b": None}],))


def several_results(x, y):
    return x * y, [x + y, {"square": x * x}]


add(several_results, (1.5, 2.0))


def dict_result(x):
    return {"sin": math.sin(x), "both": (x, x * x)}


add(dict_result, (0.5,))


def list_building(x):
    xs = [x]
    xs = xs + [x * 2]
    xs = xs + [item * item for item in xs]
    return sum(xs) + xs[-1] * xs[0]


add(list_building, (1.5,))


def copied(x):
    d = copy.deepcopy({"a": x, "b": 2 * x})
    e = copy.copy([x, x * x])
    return d["a"] + 3 * d["b"] + e[1]


add(copied, (2.0,))


def integers_in_lists(xs):
    return sum(x * x for x in xs) / len(xs)


add(integers_in_lists, ([1, 2, 3],), ([1, 2.5],))


def merged_dicts(a, b):
    both = {**a, **b}
    other = a | {"z": 2.0}
    return both["x"] * both["y"] + other["z"] * other["x"]


add(merged_dicts, ({"x": 2.0, "y": 1.0}, {"y": 5.0}))


def entries_of_texts(x, y):
    """Dictionaries of pairs that texts fall apart into, and texts made and taken apart when it runs."""
    powers = dict(part.split("=") for part in "a=2,b=3".split(","))
    weights = dict([["a", x], ("b", y), "c1"])
    total = sum(weights[name] ** int(power) for name, power in powers.items())
    shown = ",".join(f"{name}={len(name) + 1}" for name in weights)
    for part in shown.split(","):
        name, _, count = part.partition("=")
        total += x ** int(count) * int(weights[name] == "1" or 2)
    return total


add(entries_of_texts, (1.5, 0.5), (-0.4, 2.0))


def sums_of_sums(x, n):
    """What makes an item of the outer sum is a sum as well, of lists whose lengths only the run knows."""
    paid = {name: [] for name in ("A", "B")}
    for k in range(n):
        for name in paid:
            paid[name].append(x * (k + 1))
            if x < k:
                break
    rows = [[x**k for k in range(j)] for j in range(1, n)]
    return sum(map(sum, paid.values())) + sum(map(sum, rows)) + max(map(max, rows))


add(sums_of_sums, (1.5, 4), (0.3, 3), wrt=(0,))


def joined_sets(x):
    some, others = {"p": x, "q": 2.0}, {"r": x * x}
    keys = {*some, *others, "z"}
    return x * len(keys) + sum(some.get(key, x) for key in sorted(keys))


add(joined_sets, (1.5,))
