"""What native functions may give beside numbers and arrays of their own: lists, arguments, parts of arguments."""

import copy
from typing import NamedTuple

import numpy as np
import pytest

import wengert as wg

pytest.importorskip("llvmlite")

VECTOR, MATRIX = np.array([1.0, 2.0, 3.0]), np.arange(6.0).reshape(2, 3)


@pytest.fixture(autouse=True)
def own_cache(tmp_path_factory, monkeypatch):
    monkeypatch.setenv("WENGERT_CACHE", str(tmp_path_factory.getbasetemp() / "native"))


def alike(a, b):
    """Whether two results have the same types and values, to any depth."""
    if type(a) is not type(b):
        return False
    match a:
        case list() | tuple():
            return len(a) == len(b) and all(map(alike, a, b))
        case dict():
            return a.keys() == b.keys() and all(alike(a[key], b[key]) for key in a)
        case np.ndarray():
            return (a.dtype, a.shape, a.tolist()) == (b.dtype, b.shape, b.tolist())
        case _:
            return a == b


def gives_the_same(function, *arguments):
    """The native form and its results, twice: the second call goes the short way, where there is one."""
    compiled = wg.jit(function, strict=True)
    for _ in range(2):
        mine, theirs = copy.deepcopy(arguments), copy.deepcopy(arguments)
        found, expected = compiled(*mine), function(*theirs)
        assert alike(found, expected)
        assert alike(mine, theirs)
        assert where_it_lies(found, mine) == where_it_lies(expected, theirs)
    assert compiled.exits == 0


def where_it_lies(results, arguments):
    """Which results share memory with which arguments, and which are these."""
    results = results if isinstance(results, tuple) else (results,)
    return [
        (a is b, np.shares_memory(a, b))
        for a in results
        for b in arguments
        if isinstance(a, np.ndarray) and isinstance(b, np.ndarray)
    ]


# --- lists ----------------------------------------------------------------------------------


def history(x):
    found = []
    while x < 10:
        found.append((x, x * x))
        x *= 1.5
    return found


def orbit(x, n):
    state, path = (x, 0.0), []
    for _ in range(n):
        state = (state[0] + 0.1 * state[1], state[1] - 0.1 * state[0])
        path.append(state)
    return path


def doubled(x):
    path = [x]
    for _ in range(3):
        x = x * 2
        path.append(x)
    return path, x


class Step(NamedTuple):
    time: float
    count: int


LISTS = [
    (lambda x: [v * v for v in x], (VECTOR,)),
    (lambda x: tuple(v * v for v in x), (VECTOR,)),
    (lambda x: sorted(-x), (VECTOR,)),
    (lambda x: tuple(sorted(-x)), (VECTOR,)),
    (lambda x: list(x), (VECTOR,)),
    (lambda x: tuple(x), (VECTOR,)),
    (lambda x: x.tolist(), (VECTOR,)),
    (lambda x: (x > 1.5).tolist(), (VECTOR,)),
    (lambda x: [[v, 2 * v] for v in x], (VECTOR,)),
    (lambda x: [v for v in x if v > 1.5], (VECTOR,)),
    (lambda x: {"path": [v * 2 for v in x], "last": x[-1]}, (VECTOR,)),
    (lambda x: [np.outer(x, x) * k for k in range(3)], (VECTOR,)),
    (lambda x: [x[k:] * 2 for k in range(3)], (VECTOR,)),
    (lambda n: [k * k for k in range(n)], (4,)),
    (lambda n: [k * k for k in range(n)], (0,)),
    (lambda n: [k % 2 == 0 for k in range(n)], (3,)),
    (lambda n: [complex(k, 1.0) for k in range(n)], (3,)),
    (lambda n: [np.float64(k) * 1j for k in range(n)], (3,)),
    (lambda n: [Step(k * 0.5, k) for k in range(n)], (3,)),
    (lambda x: [x * k for k in range(3)], (np.float32(1.5),)),
    (history, (1.0,)),
    (orbit, (1.0, 4)),
    (doubled, (1.0,)),
]


@pytest.mark.parametrize(("function", "arguments"), LISTS)
def test_lists(function, arguments):
    gives_the_same(function, *arguments)


def test_gradients_of_lists_are_lists():
    derived = wg.grad(lambda xs: sum(x * x for x in xs))
    gives_the_same(derived, [1.0, 2.0, 3.0])


def test_long_lists():
    assert wg.jit(lambda n: [0.5 * k for k in range(n)], strict=True)(10**5)[-1] == 49999.5


# --- arguments ------------------------------------------------------------------------------


def first_set(x):
    x[0] = 5.0
    return x


def doubled_in_place(x):
    for k in range(len(x)):
        x[k] *= 2
    return x[1:]


ARGUMENTS = [
    (lambda x: x, (VECTOR,)),
    (lambda x: (x, x.sum()), (VECTOR,)),
    (lambda x: (x, x[1:], x[::-1]), (VECTOR,)),
    (lambda x: (x, x[1:], x[::-1]), (VECTOR[::-1],)),
    (lambda a: a.T, (MATRIX,)),
    (lambda a: a.T, (MATRIX[:, ::2],)),
    (lambda a: (a[:, 0], a.reshape(-1)), (MATRIX,)),
    (lambda a: a[1], (MATRIX,)),
    (lambda a: np.broadcast_to(a, (2, 2, 3)), (MATRIX,)),
    (lambda a: a[:0], (MATRIX,)),
    (lambda n: n, (np.arange(3),)),
    (first_set, (VECTOR,)),
    (first_set, (VECTOR[::2],)),
    (doubled_in_place, (VECTOR,)),
    (doubled_in_place, (VECTOR[::-1],)),
]


@pytest.mark.parametrize(("function", "arguments"), ARGUMENTS)
def test_arguments_and_parts_of_them(function, arguments):
    gives_the_same(function, *arguments)


def test_what_may_not_be_written_to_stays_so():
    x = VECTOR.copy()
    x.flags.writeable = False
    part = wg.jit(lambda x: x[1:], strict=True)(x)
    assert not part.flags.writeable


def test_a_part_keeps_its_array_alive():
    part = wg.jit(lambda x: x[1:], strict=True)(np.arange(1e5))
    others = [np.zeros(10**5) for _ in range(4)]
    assert part[:3].tolist() == [1.0, 2.0, 3.0]
    assert len(others) == 4


@pytest.mark.parametrize("x", [0.7, np.float64(0.7), VECTOR, np.array(0.7)])
def test_a_polynomial_at_a_number_is_a_number(x):
    gives_the_same(np.polyval, VECTOR, x)
    gives_the_same(lambda p, at: np.polyval(p, at), VECTOR, x)
