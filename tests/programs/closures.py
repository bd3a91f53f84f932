"""Functions inside functions."""

import math

from .registry import add


def inner_function(x, y):
    def inside(t):
        return t * y + x

    return inside(x) * inside(2.0)


add(inner_function, (1.5, 0.5))


def reads_late(x):
    scale = 1.0

    def inside(t):
        return t * scale

    scale = x * 3
    return inside(x)


add(reads_late, (1.5,))


def several_lambdas(x):
    f, g, h = lambda t: t * x, lambda t: t + x, lambda t: t * t
    return f(g(h(x))) + (lambda a, b=2.0: a * b)(x) + (lambda *xs: sum(xs))(x, x, 1.0)


add(several_lambdas, (1.3,))


def make_polynomial(a, b, c):
    def value(x):
        return a * x * x + b * x + c

    return value


def closure_from_factory(a, x):
    p = make_polynomial(a, 2.0, x)
    q = make_polynomial(1.0, a, 0.0)
    return p(x) * q(p(a))


add(closure_from_factory, (0.5, 1.2))


def curried(x, y):
    def first(a):
        def second(b):
            def third(c):
                return a * b + c * x

            return third

        return second

    return first(x)(y)(x * y)


add(curried, (1.5, 0.5))


def closures_in_list(x):
    functions = [lambda t, k=k: t**k * x for k in range(1, 4)]
    return sum(f(x + 1) for f in functions)


add(closures_in_list, (0.7,))


def late_binding(x):
    functions = [lambda t: t**k for k in range(4)]
    return functions[0](x) + functions[1](x) * x


add(late_binding, (1.2,), note="every lambda sees the last k")


def recursive_inside(x, n):
    def descend(value, depth):
        if depth == 0:
            return value
        return descend(value * x + 1, depth - 1)

    return descend(x, n)


add(recursive_inside, (1.1, 4), wrt=(0,))


def chosen_function(x):
    if x > 0:

        def f(t):
            return t * t

    else:
        f = math.cos
    return f(x) * x


add(chosen_function, (1.5,), (-1.5,))


def integrate(f, a, b, n=8):
    step = (b - a) / n
    total = 0.5 * (f(a) + f(b))
    for k in range(1, n):
        total = total + f(a + k * step)
    return total * step


def integral_of_closure(a, width):
    return integrate(lambda t: math.exp(-a * t * t), 0.0, width) + integrate(
        math.sin, a, width, n=3
    )


add(integral_of_closure, (0.7, 1.5))


def shadowed_names(x):
    y = x * 2

    def inside(x):
        y = x + 1
        return y * y

    return inside(y) + y


add(shadowed_names, (1.5,))


def comprehension_scope(x):
    i = 10.0
    squares = [i * x for i in range(3)]
    return i * x + sum(squares)


add(comprehension_scope, (1.5,))


def bound_in_a_loop(x, y):
    """Functions and generators inside read names that a loop around has bound, in branches and loops."""
    for k in range(3):
        last, x = x * y, x * 0.5 + k

    def weighted(k):
        return last * x if k > 1 else last + k

    return sum(weighted(k) * last**k for k in range(3)) + max(last - k for k in range(2))


add(bound_in_a_loop, (1.5, 0.5), (-0.3, 2.0))
