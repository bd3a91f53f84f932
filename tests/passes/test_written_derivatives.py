"""Derivatives that later code writes into: an array of their own for every item, and of floats.

The derivative of `a * 0.5` may be computed once for two items of a list, and that of `n * x` is a whole
number: neither may show when derivative code writes in place.
"""

import numpy as np
import oracle
import pytest
import trees

import wengert as wg

WEIGHTS = np.array([0.3, -0.7])
WHOLE = np.array([1, 2])
NUMBERS = [1, 2, 3]
TABLE = {"a": 2, "b": 3}
PROGRAMS = {}


def program(function):
    PROGRAMS[function.__name__] = function
    return function


def arguments():
    return 0.7, np.array([0.4, 0.6]), [np.array([0.1, 0.9]), np.array([-0.4, 0.2])], 3


def weighed(items):
    return sum(item @ WEIGHTS * (k + 1) for k, item in enumerate(items))


# One derivative for several items


@program
def alike_in_a_list(x, a, rows, n):
    items = [a * 0.5, a * 0.5]
    for k in range(n):
        items.append(a * 0.5)
        items[k] *= x
    return weighed(items)


@program
def alike_by_turns(x, a, rows, n):
    items = []
    for _ in range(n):
        items.append(a + 1.0)
        items.append(a + 2.0)
    for k in range(n):
        items[k] *= x
    return weighed(items)


@program
def alike_in_a_slice(x, a, rows, n):
    rows[0:2] = [a * x, a * x]
    for k in range(n):
        rows[k % 2][0] *= x
    return weighed(rows)


@program
def alike_at_the_end(x, a, rows, n):
    rows.extend([rows[1] * x, rows[1] * x])
    rows += [rows[1] * x]
    for k in range(n):
        rows[k % 2 - 3][0] *= x
    return weighed(rows)


@program
def alike_in_a_comprehension(x, a, rows, n):
    items = [row + k for row in rows for k in range(n)]
    items[n] *= x
    items[n + 1][1] *= x
    return weighed(items)


@program
def alike_in_a_dictionary(x, a, rows, n):
    table = {}
    for k in range(n):
        table[k] = a * 0.5
        table[k + 10] = a * 0.5
    for k in range(n):
        table[k] *= x
        table[k + 10][1] -= a[0]
    return weighed(table.values())


# Views of what an operator in place leaves: the array itself, or a number


@program
def through_a_view_of_what_is_left(x, a, rows, n):
    a -= x
    part = a.reshape(2, 1)[0]
    part[0] = x * x
    part *= 0.5
    return a @ WEIGHTS


@program
def through_views_by_turns(x, a, rows, n):
    b = a
    a *= x
    for k in range(n):
        part = a.reshape(2, 1).T[0]
        part[k % 2] = b[0] + x
        part += x * k
    return a @ WEIGHTS + b @ WEIGHTS


class Pair:
    def __init__(self, u, v):
        self.u, self.v = u, v


@program
def alike_in_objects(x, a, rows, n):
    pairs = [Pair(a + k, a + 2 * k) for k in range(n)]
    for k in range(n):
        pairs[k].u *= x
        pairs[k].v[0] -= x
    return sum((pair.u @ WEIGHTS) * (k + 1) + pair.v @ WEIGHTS for k, pair in enumerate(pairs))


@program
def alike_in_tuples(x, a, rows, n):
    pairs = []
    for _ in range(n):
        pairs += [(a + 1.0, [a + 2.0, a + 3.0])]
    for k in range(n):
        pairs[k][1][0] *= x
        pairs[k][0][1] -= x
    return sum(u @ WEIGHTS * (k + 1) + weighed(v) for k, (u, v) in enumerate(pairs))


@program
def alike_in_a_table(x, a, rows, n):
    table = [[a * 1.0 for _ in range(n)] for _ in range(n)]
    for i in range(n):
        for j in range(n):
            table[i][j] *= x * (i + 1)
            if j:
                table[i][j] += table[i][j - 1]
    return sum(weighed(row) * (i + 1) for i, row in enumerate(table))


@program
def alike_by_name(x, a, rows, n):
    found = {}
    for k in range(n):
        for name in ("p", "q"):
            found.setdefault(name, []).append(a + k)
    for items in found.values():
        items[0] *= x
        items[-1][0] += x
    return sum(weighed(items) * (k + 2) for k, items in enumerate(found.values()))


@program
def alike_in_dictionaries(x, a, rows, n):
    table = {k: {"u": a + 1, "v": a + 2} for k in range(n)}
    for k in range(n):
        table[k]["u"] *= x
    return sum(v["u"] @ WEIGHTS * (k + 1) + v["v"] @ WEIGHTS for k, v in table.items())


@program
def keys_that_are_numbers(x, a, rows, n):
    table = {}
    for k in range(n):
        table[k] = a * x * (k + 1)
    total = 0.0
    for k in table:  # noqa: PLC0206  # what it walks over are the keys
        total += (table[k] ** 2).sum() * (k + 1) * x
    return total


@program
def one_object_several_times(x, a, rows, n):
    b = a * x
    items = [b] * n
    items[0][0] *= x
    items[1][1] *= x
    return weighed(items)


# Whole numbers


@program
def scaled_by_the_turn(x, a, rows, n):
    total = 0.0
    for k in range(n):
        b = a * x
        b[0] *= 0.3
        total += b.sum() * (k + 1)
    return total


@program
def scaled_by_a_count(x, a, rows, n):
    b = a * x
    for k in range(n):
        b[k % 2] *= x
    return sum(b) * n


@program
def scaled_by_entries(x, a, rows, n):
    total = 0.0
    for k in NUMBERS:
        b = a * x
        b[0] *= 0.3
        total += b.sum() * k + b[0] * TABLE["a"] + (b * WHOLE).sum() * TABLE["b"]
    return total


@program
def scaled_in_a_matrix(x, a, rows, n):
    m = np.outer(a, a) * x
    m[0] *= 0.3
    m[:, 1] -= x
    return m.sum(axis=0) @ WHOLE + np.trace(m) * n


@program
def spread_over_an_array(x, a, rows, n):
    b, c, d = np.full(2, x * n), np.zeros(3) + n * x, np.arange(3) * x
    b[0] *= 0.3
    c[1] *= a[0]
    d[2] *= 0.3
    return b.sum() * n + c.sum() + d[1] * d[2] + np.max(d) * n


@program
def written_through_a_chosen_view(x, a, rows, n):
    c = a
    c *= a
    w = c[1:]
    w[0] = x
    w *= 0.5
    return c @ WEIGHTS


REFUSED_ALONE = frozenset(
    (
        "alike_at_the_end", "alike_in_a_comprehension", "alike_in_a_dictionary", "alike_in_a_list",
        "alike_in_a_slice", "one_object_several_times",
    )
)  # fmt: skip
"""What source that knows no kinds of arguments cannot tell apart from what changes elsewhere."""


def directions():
    yield trees.random_like(arguments()[:3])
    yield 1.0, np.zeros(2), [np.zeros(2)] * 2
    one = np.array([0.2, 0.3])
    yield 0.5, one, [one, one]


@pytest.mark.parametrize("name", sorted(PROGRAMS))
def test_all_modes_agree(name):
    function = PROGRAMS[name]
    for direction in directions():
        wanted = oracle.directional(function, arguments(), (*direction, None))

        def agrees(cotangents, direction=direction, wanted=wanted):
            assert trees.inner(cotangents[:3], direction) == pytest.approx(wanted, rel=1e-12)

        _, push = wg.pushforward(function, *arguments())
        assert push(*direction, None) == pytest.approx(wanted, rel=1e-12)
        agrees(wg.pullback(function, *arguments())[1](1.0))
        agrees(wg.pullback(function, *arguments())[1](1))
        agrees(wg.grad(function, argnums=(0, 1, 2))(*arguments()))
        if name not in REFUSED_ALONE:
            namespace = {}
            exec(wg.grad(function, argnums=(0, 1, 2)).source, namespace)
            agrees(namespace[f"grad_{name}"](*arguments()))


@pytest.mark.parametrize("name", sorted(PROGRAMS))
def test_derivatives_of_derivatives(name):
    def function(x):
        _, a, rows, n = arguments()
        return PROGRAMS[name](x, a, rows, n)

    wanted = oracle.directional(function, (0.7,), (1.0,))
    assert wg.derivative(function)(0.7) == pytest.approx(wanted, rel=1e-12)
    (wanted,) = oracle.hessian_times(function, (0.7,), (1.0,))
    for second in (wg.derivative(wg.grad(function)), wg.grad(wg.derivative(function))):
        assert second(0.7) == pytest.approx(wanted, rel=1e-10)


@pytest.mark.parametrize("name", sorted(PROGRAMS))
def test_derivatives_of_gradients(name):
    def slope(x):
        _, a, rows, n = arguments()
        return wg.grad(PROGRAMS[name], argnums=1)(x, a, rows, n) @ WEIGHTS

    (wanted,) = oracle.central_gradient(slope, 0.7)
    for second in (wg.derivative(slope), wg.grad(slope)):
        assert second(0.7) == pytest.approx(wanted, rel=1e-6, abs=1e-7)


@pytest.mark.parametrize("name", sorted(REFUSED_ALONE))
def test_source_that_stands_alone_refuses(name):
    def run():
        namespace = {}
        exec(wg.grad(PROGRAMS[name], argnums=(0, 1, 2)).source, namespace)
        namespace[f"grad_{name}"](*arguments())

    with pytest.raises((ValueError, NotImplementedError, TypeError)) as info:
        run()
    assert getattr(info.value, "code", "").startswith("WG1")
