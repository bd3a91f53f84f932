"""Expressions: walrus, comprehensions, generator expressions, formats, unpacking."""

import math

from .registry import add


def walrus(x):
    if (y := x * x) > 1:
        return y * (z := y + 1) + z
    return (y := y + 1) * y


add(walrus, (2.0,), (0.5,))


def walrus_in_loop(x):
    total = 0.0
    while (x := x * 0.5) > 0.1:
        total += x * x
    return total


add(walrus_in_loop, (3.0,))


def list_comprehension(xs):
    squares = [x * x for x in xs]
    positive = [math.sqrt(x) for x in xs if x > 0]
    return sum(squares) + 2 * sum(positive) + squares[0]


add(list_comprehension, ([1.0, -2.0, 3.0],))


def nested_comprehension(xs, ys):
    table = [[x * y for y in ys] for x in xs]
    flat = [item + i for i, row in enumerate(table) for item in row if item > 1]
    return sum(flat) + table[1][0]


add(nested_comprehension, ([1.0, 2.0], [0.6, 3.0, 4.0]))


def dict_comprehension(xs):
    powers = {f"p{i}": x**i for i, x in enumerate(xs)}
    return powers["p0"] + powers["p2"] * sum(powers.values())


add(dict_comprehension, ([1.5, 2.0, 0.5],))


def generators(xs):
    total = sum(x * x for x in xs)
    largest = max(abs(x) for x in xs)
    smallest = min(x + 1 for x in xs if x > 0)
    if any(x > 2 for x in xs) and not all(x > 0 for x in xs):
        total = total * 2
    items = list(x * 3 for x in xs)
    pair = tuple(math.sin(x) for x in items)
    return total + largest * smallest + pair[0] * items[-1]


add(generators, ([1.0, -2.0, 3.0],), ([1.0, 2.0],))


def sum_with_start(xs, start):
    return sum(xs, start) * sum((x for x in xs), 2.0) + sum(xs[1:])


add(sum_with_start, ([1.0, 2.0, 3.0], 4.0))


def largest_by_key(xs):
    best = max(xs, key=lambda x: -((x - 1.2) ** 2))
    worst = min(xs, key=abs)
    return best * best + 3 * worst + max(xs, default=0.0) + max([], default=2.0)


add(largest_by_key, ([0.5, 1.0, -3.0],))


def starred(xs):
    first, *middle, last = xs
    a, (b, c) = first, (last, sum(middle))
    [d, e] = [a * b, b + c]
    return d * e + len(middle) * first


add(starred, ([1.0, 2.0, 3.0, 4.0],), ((1.0, 2.0),))


def chained_assignment(x):
    a = b = x * x
    b = b + a
    (c, d), e = (a, b), x
    return c * d * e


add(chained_assignment, (1.3,))


def displays(x, y):
    pairs = [(x, y), (y, x * y)]
    merged = {**{"a": x}, "b": y, **{"c": x * y}}
    joined = [*pairs[0], y * y, *(x, x)]
    whole = (*joined, merged["c"])
    return sum(joined) * whole[-1] + merged["b"] * pairs[1][1] + len({1, 2, 2})


add(displays, (1.5, 0.5))


def membership(x):
    allowed = {1, 2, 3}
    n = 2
    return x * x if n in allowed and n not in {4, 5} else x


add(membership, (1.5,))


def conversions(x):
    numbers = list((x, x * 2)) + [x]
    doubled = tuple(numbers) * 2
    return doubled[3] * doubled[1] + dict(a=x, b=numbers[1])["b"] + dict([("k", x)])["k"]


add(conversions, (1.5,))


def augmented(x, y):
    x += y
    y *= x
    x -= y / 2
    y /= 1.5
    x **= 2
    y %= 10.0
    x //= 0.25
    return x * y + y


add(augmented, (1.0, 0.7), smooth=True)


def boolean_arithmetic(x):
    return (x > 1) * x + True * x * x + (not x) * 5 - False


add(boolean_arithmetic, (2.0,), (0.5,))


def slices_of_lists(xs):
    odd = xs[1::2]
    back = xs[::-1]
    tail = xs[-2:]
    window = xs[1:-1]
    cut = slice(0, 2)
    return sum(odd) * back[0] + tail[0] * tail[1] + sum(window) ** 2 + sum(xs[cut])


add(slices_of_lists, ([1.0, 2.0, 3.0, 4.0, 5.0],), ((1.0, 2.0, 3.0),))


def deep_expression(x):
    return (
        (((x + 1) * 2 - x) / (3 + (x * (x - (x / (1 + x * x)))))) ** 2
        + math.sin(math.cos(math.exp(-x)))
    ) * x


add(deep_expression, (0.8,), (-2.0,))


def comparisons_as_values(xs):
    flags = [x > 1 for x in xs]
    count = sum(flags)
    kept = [x for x, flag in zip(xs, flags) if flag]
    return count * sum(kept) + sum(1 for x in xs if x < 0) * xs[0]


add(comparisons_as_values, ([0.5, 2.0, -3.0, 4.0],))
