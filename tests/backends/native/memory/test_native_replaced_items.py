"""Items of lists of arrays that are used after their places in the list went to others."""

# programs under test are written as users write them

import numpy as np
import pytest
from differences import slope

import wengert as wg

pytest.importorskip("llvmlite")


@pytest.fixture(autouse=True)
def own_cache(tmp_path_factory, monkeypatch):
    monkeypatch.setenv("WENGERT_CACHE", str(tmp_path_factory.getbasetemp() / "native"))


def exchanged_at_once(x):
    g = [np.array([x * i for j in range(3)]) for i in range(19)]
    h1 = [row.copy() for row in g]
    h1[0], h1[1] = (h1[1], h1[0])
    return sum((q for i, o in enumerate(h1) for q in o))


def exchanged_by_a_name(x):
    g = [np.array([x * i]) for i in range(19)]
    a = g[0]
    g[0] = g[1]
    g[1] = a
    return g[0][0] * 2 + g[1][0] * 3


def replaced_while_it_has_a_name(x):
    g = [np.array([x * i, 1.0]) for i in range(19)]
    a = g[0]
    g[0] = np.array([x * x, 2.0])
    return a[0] + g[0][0]


def turned_round(x):
    g = [np.array([x * i, 1.0]) for i in range(19)]
    for i in range(9):
        g[i], g[18 - i] = (g[18 - i], g[i])
    return sum(((i + 1) * a[0] for i, a in enumerate(g)))


def moved_on(x):
    g = [np.array([x * i, 1.0]) for i in range(19)]
    a = g[3]
    for i in range(9):
        g[i] = g[i + 1] * 2.0
    return a[0] + sum(((i + 1) * a[0] for i, a in enumerate(g)))


def taken_from_the_end(x):
    g = [np.array([x * i, 1.0]) for i in range(19)]
    g.insert(0, g.pop())
    a = g.pop(3)
    g.append(a)
    return sum(((i + 1) * a[0] for i, a in enumerate(g)))


def rows_of_all_lengths(x):
    g = [[x * (i + 1) for _ in range(i + 1)] for i in range(19)]
    g[0], g[3] = (g[3], g[0])
    return sum(((k + 1) * v for k, r in enumerate(g) for v in r))


def tuples_with_arrays(x):
    g = [(np.array([x * i, 1.0]), x) for i in range(19)]
    g[0], g[1] = (g[1], g[0])
    return g[0][0][0] * 2 + g[1][0][0] * 3 + sum((a.sum() for a, w in g))


def the_first_goes(x):
    g = [np.array([x * i, 1.0]) for i in range(19)]
    a = g[3]
    g.pop(0)
    return a[0] + g[3][0]


def reversed_in_place(x):
    g = [np.array([x * i, 1.0]) for i in range(19)]
    a = g[3]
    g.reverse()
    return a[0] + g[3][0]


def replaced_while_walked_over(x):
    g = [np.array([x * i, 1.0]) for i in range(19)]
    s = 0.0
    for a in g:
        g[0] = a * 2.0
        s += a[0]
    return s


def the_best_so_far(x):
    g = [np.array([x * i, 1.0]) for i in range(19)]
    best = g[0]
    for i in range(19):
        if g[i][0] > best[0]:
            best = g[i]
        g[i] = np.array([0.5 * x, x])
    return best[0] + sum(a.sum() for a in g)


def two_held_in_a_tuple(x):
    g = [np.array([x * i, 1.0]) for i in range(19)]
    h = (g[0], g[1])
    g[0] = g[2] + 1.0
    g[1] = g[3] * x
    return h[0][0] + h[1][0] + sum(((i + 1) * r[0] for i, r in enumerate(g)))


NATIVE = [
    exchanged_at_once,
    exchanged_by_a_name,
    replaced_while_it_has_a_name,
    turned_round,
    moved_on,
]
OTHERS = [
    taken_from_the_end, rows_of_all_lengths, tuples_with_arrays, the_first_goes, reversed_in_place,
    replaced_while_walked_over, the_best_so_far, two_held_in_a_tuple,
]  # fmt: skip


@pytest.mark.parametrize("f", NATIVE + OTHERS)
@pytest.mark.filterwarnings(
    "ignore::wengert.errors.NativeWarning"
)  # some gradients are left to Python
def test_an_array_that_left_its_place_is_what_it_was(f):
    assert wg.jit(f, strict=f in NATIVE)(1.3) == pytest.approx(f(1.3), rel=1e-12)
    assert wg.jit(wg.grad(f))(1.3) == pytest.approx(slope(f, 1.3), rel=1e-7, abs=1e-7)
