"""Results under `jit` share memory with arguments and each other where they do in Python, whatever was called first."""

import itertools

import numpy as np
import pytest
from native_outcomes import outcome

import wengert as wg

pytest.importorskip("llvmlite")


@pytest.fixture(autouse=True)
def own_cache(tmp_path_factory, monkeypatch):
    monkeypatch.setenv("WENGERT_CACHE", str(tmp_path_factory.getbasetemp() / "native"))


def doubled_if(x, n):
    if n > 0:
        x = x * 2
    return x


def given_back_early(x, n):
    if n == 0:
        return x
    return x * 2


def doubled_in_a_loop(x, n):
    for _ in range(n):
        x = x * 2
    return x


def doubled_while(x, n):
    while n > 0:
        x = x * 2
        n -= 1
    return x


def twice(x, n):
    y = x * 2
    return y, y


def with_its_rest(x, n):
    y = x * 2
    return y, y[1:]


def rows(x, n):
    return [r for r in x]  # noqa: C416 (`list(x)` is another program)


def rows_of_another_shape(x, n):
    return [r for r in x.reshape(2, -1)]  # noqa: C416 (likewise)


def as_array(x, n):
    return np.asarray(x)


def real_part(x, n):
    return x.real


def one_axis(x, n):
    return x.reshape(-1)


def ravelled(x, n):
    return x.ravel()


def transposed_and_flat(x, n):
    return x.T.reshape(-1)


def rest(x, n):
    return x[1:]


def every_other(x, n):
    return x[::2]


def itself_and_its_rest(x, n):
    return x, x[1:]


def in_order(x, n):
    return np.ascontiguousarray(x)


def one_axis_more(x, n):
    return np.expand_dims(x, 0)


def backwards(x, n):
    return np.flip(x)


def of_one_axis(x, n):
    return np.atleast_1d(x)


def diagonal(x, n):
    return np.diagonal(x.reshape(2, -1))


def copied(x, n):
    return x.copy()


def one_of_two_parts(x, n):
    y = x if n > 0 else x[1:]
    return y


def one_or_the_other(x, n):
    y = x * 1.0
    z = y
    if n > 0:
        z = y * 2
    return y, z


def by_a_helper(x, n):
    def h(v, k):
        if k > 0:
            return v * 2
        return v

    return h(x, n)


def appended(x, n):
    out = []
    for _ in range(3):
        out.append(x)  # noqa: PERF401 (a comprehension is another program)
    return out


def collected(x, n):
    y = x * 2
    return [y for _ in range(3)]


def parts_collected(x, n):
    y = x * 2
    out = []
    for i in range(2):
        out.append(y[i:])  # noqa: PERF401 (likewise)
    return out


def new_rows(x, n):
    return [r * 2 for r in x]


def best(x, n):
    best = x
    for i in range(n):
        y = x + i
        if y.sum() > best.sum():
            best = y
    return best


def nested(x, n):
    y = x * 2
    return (y, (y, 1.0))


def changing_places(x, n):
    a = x
    b = x * 2
    for _ in range(n):
        a, b = b, a
    return a


def shrinking(x, n):
    y = x * 2
    for _ in range(n):
        y = y[1:]
    return y


def written_and_its_rest(x, n):
    x[0] = 5.0
    return x[1:]


def written_and_doubled(x, n):
    x[0] = 5.0
    if n > 0:
        x = x * 2
    return x


def written_by_another_shape(x, n):
    y = x.reshape(-1, 2)
    y[0] = 3.0
    return x


def positive_part(x, n):
    return np.maximum(x, 0) if n else x


def in_its_own_shape(x, n):
    return x.reshape(x.shape)


def first_row(x, n):
    return x.reshape(2, -1)[0]


PROGRAMS = [
    doubled_if,
    given_back_early,
    doubled_in_a_loop,
    doubled_while,
    twice,
    with_its_rest,
    rows,
    rows_of_another_shape,
    as_array,
    real_part,
    one_axis,
    ravelled,
    transposed_and_flat,
    rest,
    every_other,
    itself_and_its_rest,
    in_order,
    one_axis_more,
    backwards,
    of_one_axis,
    diagonal,
    copied,
    one_of_two_parts,
    one_or_the_other,
    by_a_helper,
    appended,
    collected,
    parts_collected,
    new_rows,
    best,
    nested,
    changing_places,
    shrinking,
    written_and_its_rest,
    written_and_doubled,
    written_by_another_shape,
    positive_part,
    in_its_own_shape,
    first_row,
]

NUMBERS = np.arange(12.0)
ARGUMENTS = {
    "vector": lambda: NUMBERS[:6].copy(),
    "every other": lambda: NUMBERS.copy()[::2],
    "matrix": lambda: NUMBERS[:6].copy().reshape(2, 3),
    "transposed": lambda: NUMBERS.reshape(3, 4).copy().T,
    "column": lambda: NUMBERS.copy().reshape(6, 2)[:, 0],
    "backwards": lambda: NUMBERS[:6].copy()[::-1],
    "complex": lambda: NUMBERS[:6] * (1 + 1j),
}


def arrays_in(value):
    if isinstance(value, np.ndarray):
        return [value]
    return (
        [each for item in value for each in arrays_in(item)]
        if isinstance(value, (tuple, list))
        else []
    )


def sharing(result, argument):
    """Which results are the argument, or lie in it, and which of them are one, or share memory."""
    found = arrays_in(result)
    pairs = [*((each, argument) for each in found), *itertools.combinations(found, 2)]
    return [(a is b, np.shares_memory(a, b)) for a, b in pairs]


def outcome_and_sharing(f, argument, n):
    results = []

    def run(x):
        results.append(f(x, n))
        return results[0]

    found = outcome(run, argument)
    return found, argument.tolist(), sharing(results, argument)


@pytest.mark.parametrize("f", PROGRAMS)
def test_G2_results_that_are_the_same_memory_in_python(f):
    compiled = wg.jit(f)
    for kind, n, _ in itertools.product(ARGUMENTS, (0, 2), range(2)):
        expected = outcome_and_sharing(f, ARGUMENTS[kind](), n)
        assert outcome_and_sharing(compiled, ARGUMENTS[kind](), n) == expected, (kind, n)


@pytest.mark.parametrize("f", [one_axis, ravelled, rest, first_row, in_order, as_array])
@pytest.mark.parametrize("before", ARGUMENTS)
def test_G2_nothing_depends_on_what_was_called_before(f, before):
    compiled = wg.jit(f)
    outcome(compiled, ARGUMENTS[before](), 1)
    for kind, make in ARGUMENTS.items():
        assert outcome_and_sharing(compiled, make(), 1) == outcome_and_sharing(f, make(), 1), kind


@pytest.mark.parametrize(
    "f", [doubled_if, doubled_in_a_loop, doubled_while, best, by_a_helper, rest, new_rows]
)
def test_it_stays_native(f):
    compiled = wg.jit(f, strict=True)
    compiled(NUMBERS[:6].copy(), 2)
    assert compiled.exits == 0


# --- writes through views -------------------------------------------------------------------


def written_by_ravel(y):
    y.ravel()[1] = 9.0
    return y


def written_by_rows(y):
    y.reshape(-1, 2)[0] = 9.0
    return y


MADE = {
    "sum": lambda x: x.T + x.T,
    "sine": lambda x: np.sin(x.T),
    "zeros": lambda x: np.zeros_like(x.T),
    "chosen": lambda x: np.where(x.T > 2, x.T, 0.0),
    "copy": lambda x: np.array(x.T),
    "running": lambda x: np.cumsum(x.T, axis=0),
    "sorted": lambda x: np.sort(x.T, axis=0),
    "product": lambda x: x @ x.T,
    "in order": lambda x: x * 2,
    "swapped": lambda x: np.swapaxes(x, 0, 1) * 2,
    "columns": lambda x: x[:, [0, 1]] * 2,
}


@pytest.mark.parametrize("made", MADE)
@pytest.mark.parametrize("write", [written_by_ravel, written_by_rows])
def test_what_numpy_lays_in_another_order_is_not_written_through(made, write):
    make = MADE[made]

    def f(x):
        return write(make(x))

    compiled = wg.jit(f)
    for x in (
        NUMBERS.reshape(3, 4),
        NUMBERS.reshape(4, 3).T,
        np.asfortranarray(NUMBERS.reshape(2, 6)),
    ):
        assert outcome(compiled, x.copy("K")) == outcome(f, x.copy("K"))
