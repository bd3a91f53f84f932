"""What derivatives ought to be, found without any rule of calculus.

The oracle runs a program's *own source* on numbers of sixty digits (`exact.py`, `twin.py`) and
takes differences with a step of 1e-20: no rule, no tolerance games. Everything here either covers
a program fully or fails loudly.
"""

from __future__ import annotations

import cmath
import copy
import math

import exact
import exact_arrays
import numpy as np
import trees
from exact import Exact, NotCovered, context
from twin import Dialect, twin

FIRST_STEP = context.mpf(10) ** -20
SECOND_STEP = context.mpf(10) ** -13


def _pairs(module, covered):
    names = [name for name in vars(covered) if hasattr(module, name)]
    pairs = [(getattr(module, name), getattr(covered, name)) for name in names]
    return [(module, covered)] + [(old, new) for old, new in pairs if callable(old)]


EXACT = Dialect(
    name="the oracle",
    replaced=[
        *_pairs(cmath, exact.cmath_),
        *_pairs(math, exact.math_),
        *_pairs(np, exact_arrays.numpy),
        *_pairs(np.linalg, exact_arrays.numpy.linalg),
    ],
    builtins=exact.builtins_,
    convert=exact_arrays.exact,
    refuse=NotCovered,
    opaque=(Exact,),
)


def run_exactly(function, args):
    """The function's value in high precision; integers, which may be counts, stay integers.

    Every run has a twin and arguments of its own: what one run writes, the next does not see.
    """
    twin_function, twin_args = twin((function, tuple(args)), EXACT)
    return twin_function(*twin_args)


def run(function, *args):
    """The function's value in high precision, rounded to Python's numbers."""
    return trees.map_leaves(_nearest, _owned(run_exactly(function, args)))


def gradient(function, *args, wrt=None, cotangent=None):
    """⟨cotangent, function⟩ differentiated by each real coordinate of the arguments in `wrt`.

    Returns:
        a tuple with one gradient per index in `wrt` (all arguments by default): floats, complex
        numbers (∂/∂Re + i ∂/∂Im), float64 or complex arrays, containers of these.
    """
    projected = _Projection(function, args, wrt, cotangent)
    slopes = [
        (projected(plus) - projected(minus)) / (2 * FIRST_STEP)
        for plus, minus in (projected.moved(k, FIRST_STEP) for k in range(projected.size))
    ]
    return projected.tree(slopes)


def directional(function, args, tangents, cotangent=None):
    """d/dt ⟨cotangent, function(args + t tangents)⟩ at t = 0, as a float."""
    wrt = tuple(i for i, tangent in enumerate(tangents) if trees.coordinates(tangent))
    projected = _Projection(function, args, wrt, cotangent)
    along = trees.coordinates([tangents[i] for i in wrt], exactly=True)
    forth = projected(projected.along(along, FIRST_STEP))
    back = projected(projected.along(along, -FIRST_STEP))
    return float((forth - back) / (2 * FIRST_STEP))


def is_bent(function, *args, wrt=None, cotangent=None):
    """Whether the slopes to the left and to the right of the point are different ones.

    The step is large for an oracle: what is nearly a kink would be one in Python's own numbers.
    """
    projected = _Projection(function, args, wrt, cotangent)
    here, step = projected(projected.start), context.mpf(10) ** -9
    for k in range(projected.size):
        plus, minus = projected.moved(k, step)
        right, left = (projected(plus) - here) / step, (here - projected(minus)) / step
        if abs(right - left) > 1e-4 * (1 + abs(right) + abs(left)):
            return True
    return False


def hessian_times(function, args, tangents, wrt=None):
    """The Hessian of a real function times a vector: mixed second differences."""
    projected = _Projection(function, args, wrt, None)
    along = trees.coordinates(tangents, exactly=True)
    results = []
    for k in range(projected.size):
        total = context.mpf(0)
        for sign in (1, -1):
            start = projected.along(along, sign * SECOND_STEP)
            plus, minus = projected.moved(k, SECOND_STEP, start)
            total += sign * (projected(plus) - projected(minus))
        results.append(total / (4 * SECOND_STEP**2))
    return projected.tree(results)


class _Projection:
    """A program with any result as a real function of a flat vector of real coordinates."""

    def __init__(self, function, args, wrt, cotangent):
        self.function = function
        self.args = args
        self.wrt = tuple(range(len(args))) if wrt is None else tuple(wrt)
        self.active = [args[i] for i in self.wrt]
        self.start = trees.coordinates(self.active, exactly=True)
        self.size = len(self.start)
        weights = 1.0 if cotangent is None else cotangent
        self.weights = trees.coordinates(weights, exactly=True)

    def __call__(self, point):
        moved = iter(point)
        args = list(self.args)
        for i in self.wrt:
            args[i] = trees.from_coordinates(self.args[i], moved, _exact_array)
        # a result that is an argument itself is a number of the program's own kind
        value = trees.coordinates(_owned(run_exactly(self.function, args)), exactly=True)
        if len(value) != len(self.weights):
            raise NotCovered(f"{len(value)} results, but {len(self.weights)} cotangents")
        terms = [x.value * w.value for x, w in zip(value, self.weights, strict=True)]
        return context.fsum(terms)

    def moved(self, k, step, start=None):
        start = self.start if start is None else start
        return (
            [x + step if i == k else x for i, x in enumerate(start)],
            [x - step if i == k else x for i, x in enumerate(start)],
        )

    def along(self, direction, step):
        return [x + step * d for x, d in zip(self.start, direction, strict=True)]

    def tree(self, numbers):
        floats = iter([float(number) for number in numbers])
        found = [trees.from_coordinates(arg, floats, trees.float_array) for arg in self.active]
        return tuple(trees.map_leaves(lambda leaf: leaf, item) for item in found)


def _exact_array(items, like):
    array = np.empty(like.shape, dtype=object)
    for index, item in zip(np.ndindex(like.shape), items, strict=True):
        array[index] = item
    return array.view(exact_arrays.ExactArray)


def _owned(value):
    return exact_arrays.wrap(value)


def _nearest(leaf):
    if isinstance(leaf, Exact):
        return leaf.nearest()
    if isinstance(leaf, np.ndarray) and leaf.dtype == object:
        items = [item.nearest() if isinstance(item, Exact) else item for item in leaf.flat]
        return np.array(items).reshape(leaf.shape)
    return leaf


# Outside references, for tests that ask for them by name


def complex_step(function, *args, argnum=0):
    """f′ of an analytic NumPy-only program by one complex step: Im f(x + ih) / h, h = 1e-30."""
    moved = list(args)
    moved[argnum] = args[argnum] + 1e-30j
    value = function(*moved)
    if not np.iscomplexobj(value):
        raise NotCovered(f"{function.__name__} loses the complex step")
    return value.imag / 1e-30


def central_difference(function, x, step=1e-6):
    """f′ of a function of one float by central differences: good to about ten digits at best."""
    return (function(x + step) - function(x - step)) / (2 * step)


def central_gradient(function, *args, wrt=None, cotangent=None, step=1e-6):
    """`gradient` in Python's own numbers, by central differences: good to five digits and more."""
    wrt = tuple(range(len(args))) if wrt is None else wrt
    cotangent = 1.0 if cotangent is None else cotangent
    start = trees.coordinates([args[i] for i in wrt])

    def moved(k, by):
        point = iter([x + by if i == k else x for i, x in enumerate(start)])
        moved_args = list(copy.deepcopy(args))
        for i in wrt:
            moved_args[i] = trees.from_coordinates(args[i], point, trees.float_array)
        return trees.inner(function(*moved_args), cotangent)

    steps = [step * max(1.0, abs(x)) for x in start]
    slopes = [(moved(k, h) - moved(k, -h)) / (2 * h) for k, h in enumerate(steps)]
    numbers = iter(slopes)
    return tuple(trees.from_coordinates(args[i], numbers, trees.float_array) for i in wrt)


# Forward against reverse


def assert_transposed(y_dot, y_bar, x_bars, x_dots, rel=1e-11):
    """⟨ȳ, Jẋ⟩ = ⟨Jᵀȳ, ẋ⟩: the two modes are each other's transpose."""
    forward = [a * b for a, b in _matching(y_bar, y_dot)]
    reverse = [a * b for a, b in _matching(x_bars, x_dots)]
    size = max(map(abs, [*forward, *reverse, 1e-3]))
    difference = abs(math.fsum(forward) - math.fsum(reverse))
    assert difference <= rel * size, (
        f"⟨ȳ, Jẋ⟩ = {math.fsum(forward)!r}, but ⟨Jᵀȳ, ẋ⟩ = {math.fsum(reverse)!r}"
    )


def _matching(a, b):
    return zip(trees.coordinates(a), trees.coordinates(b), strict=True)
