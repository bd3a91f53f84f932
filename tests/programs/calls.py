"""Calls: parameters of every kind, recursion, decorators, functions as values."""

import functools
import math
import operator
from functools import partial, reduce

from .registry import add


def square(x):
    return x * x


def scaled(x, factor=3.0, *, shift=1.0):
    return x * factor + shift


def defaults(x):
    return scaled(x) + scaled(x, 2.0) * scaled(x, shift=x) + scaled(factor=x, x=2.0)


add(defaults, (1.5,))


def summed(*xs, start=0.0, **named):
    total = start
    for x in xs:
        total = total + x * x
    for value in named.values():
        total = total * value
    return total


def variadic(x, y):
    pair = (x, y)
    options = {"start": y, "scale": x}
    return summed(*pair, x * y) + summed(x, **options) + summed() + summed(*[x, y], start=1.0, k=y)


add(variadic, (1.5, 0.5))


def rest_arguments(x, *others, scale=2.0):
    return x * scale + sum(others) * x + len(others)


add(rest_arguments, (1.5,), (1.5, 2.0, 3.0))


def keyword_lookup(**options):
    return options["x"] * options.get("y", 1.0)


def passes_keywords(x, y):
    def layer(**options):
        return keyword_lookup(**options) + options["x"]

    return layer(x=x, y=y) + layer(x=y)


add(passes_keywords, (1.5, 2.0))


def factorial_power(x, n):
    if n == 0:
        return 1.0
    return x * factorial_power(x, n - 1)


add(factorial_power, (1.5, 4), (1.5, 0), wrt=(0,))


def by_squaring(x, n):
    if n == 0:
        return 1.0
    half = by_squaring(x * x, n // 2)
    return half * x if n % 2 else half


add(by_squaring, (1.3, 11), wrt=(0,))


def is_even_step(x, n):
    return x if n == 0 else is_odd_step(x * x, n - 1)


def is_odd_step(x, n):
    return x + 1 if n == 0 else is_even_step(x * 0.5 + 1, n - 1)


add(is_even_step, (1.1, 5), (1.1, 4), wrt=(0,))


def tree_sum(tree):
    if isinstance(tree, (list, tuple)):
        return sum(tree_sum(branch) for branch in tree)
    return tree * tree


add(tree_sum, ([1.0, [2.0, (3.0, 4.0)], []],))


def ackermann_like(x, depth):
    if depth == 0:
        return math.sin(x)
    return ackermann_like(x * 0.5, depth - 1) * ackermann_like(x + 0.1, depth - 1)


add(ackermann_like, (1.2, 3), wrt=(0,))


def doubled(function):
    @functools.wraps(function)
    def wrapper(*args, **options):
        return 2 * function(*args, **options)

    return wrapper


def to_the(power):
    def decorate(function):
        def wrapper(x):
            return function(x) ** power

        return wrapper

    return decorate


@doubled
def decorated_square(x):
    return x * x


@doubled
@to_the(3)
def decorated_twice(x):
    return math.sin(x)


def calls_decorated(x):
    return decorated_square(x) + decorated_twice(x)


add(calls_decorated, (1.2,))
add(decorated_twice, (0.8,), theme="calls")


def with_partial(x):
    double = partial(scaled, factor=2.0)
    shifted = functools.partial(double, shift=x)
    power_of_two = partial(pow, 2.0)
    return double(x) * shifted(x) + power_of_two(x)


add(with_partial, (1.5,))


def with_reduce(xs):
    product = reduce(lambda a, b: a * b, xs)
    folded = functools.reduce(lambda a, b: a * 0.5 + b, xs, 1.0)
    total = reduce(operator.add, xs)
    return product + folded * total


add(with_reduce, ([1.5, 2.0, -0.5],))


def with_map(xs, ys):
    squares = list(map(square, xs))
    products = sum(map(lambda x, y: x * y, xs, ys))
    positive = list(filter(lambda x: x > 0, xs))
    return sum(squares) * products + sum(positive) + sum(map(math.sin, ys))


add(with_map, ([1.0, -2.0, 3.0], [0.5, 2.0]))


def with_sorted(xs):
    ordered = sorted(xs)
    falling = sorted(xs, reverse=True)
    by_size = sorted(xs, key=abs)
    return ordered[0] * 2 + falling[0] ** 2 + by_size[1] * 3


add(with_sorted, ([3.0, -1.0, 2.0],))


def apply_twice(function, x):
    return function(function(x))


def functions_as_arguments(x):
    return apply_twice(math.sin, x) + apply_twice(square, x) + apply_twice(lambda t: t * x, x)


add(functions_as_arguments, (1.1,))


FUNCTIONS = {"sin": math.sin, "square": square, "scaled": scaled}


def looked_up(name, x):
    return FUNCTIONS[name](x) * x


add(looked_up, ("sin", 1.0), ("square", 1.5), ("scaled", 1.5), wrt=(1,), late=True)


def list_of_functions(x):
    total = x
    for function in [math.sin, square, lambda t: t + 1]:
        total = function(total) * 0.9
    return total


add(list_of_functions, (0.7,))


def composed(*functions):
    return reduce(lambda f, g: lambda x: g(f(x)), functions)


def compositions(x):
    pipeline = composed(square, math.sin, lambda t: t * 3)
    return pipeline(x) + composed(math.exp, square)(x * 0.1)


add(compositions, (0.7,))


SCALE = 2.5
OFFSETS = [1.0, 2.0]


def reads_globals(x):
    return SCALE * x + OFFSETS[1] * x * x


add(reads_globals, (1.5,))


class Affine:
    def __init__(self, weight, bias):
        self.weight = weight
        self.bias = bias

    def __call__(self, x):
        return self.weight * x + self.bias


AFFINE = Affine(2.0, 0.5)


def callable_object(x):
    return AFFINE(x) * AFFINE(x + 1)


add(callable_object, (1.5,))


def result_unpacked(x, y):
    def both(a, b):
        return a * b, a + b

    product, total = both(x, y)
    again, _ = both(product, total)
    return again * total


add(result_unpacked, (1.5, 0.5))


def same_helper_many_times(x):
    a = scaled(x)
    b = scaled(a)
    c = scaled(b, shift=a)
    return square(c) + square(square(a))


add(same_helper_many_times, (0.3,))


def positional_only(x, /, y, *, z):
    return x * y + z


def calls_positional_only(x, y):
    return positional_only(x, y=y, z=x) * positional_only(y, x, z=2.0)


add(calls_positional_only, (1.5, 0.5))
