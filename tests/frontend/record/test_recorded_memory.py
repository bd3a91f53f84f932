"""Memory in a run that is recorded: arrays that lie in one memory, however the program came by them."""

import math
import tracemalloc
from fractions import Fraction

import numpy as np
import pytest
from differences import slope
from error_texts import refusal, says

import wengert as wg
from wengert.errors import BadArgument, UnsupportedSyntax
from wengert.frontend.record.run import RecordedRun

RECORDED = {"tier": "recorded"}
WHOLE = np.zeros(6)
EVERY_SECOND = WHOLE[::2]
WINDOWS = np.lib.stride_tricks.as_strided(WHOLE, (5, 2), (8, 8))


class Holder:
    whole = WHOLE
    rest = WHOLE[1:]


def read_in_a_view(x):
    WHOLE[0] = x
    WHOLE[2] = x * x
    return EVERY_SECOND[0] * 2.0 + EVERY_SECOND[1] * 3.0


def written_in_a_view(x):
    EVERY_SECOND[1] = x * x
    return WHOLE.sum() * x


def held_by_a_class(x):
    Holder.whole[1] = x
    WHOLE[0] = x * x
    return WHOLE.sum() * Holder.rest[0]


def seen_in_windows(x):
    WHOLE[1] = x * x
    return (WINDOWS**2).sum() * x


def in_one_buffer(x):
    buffer = bytearray(32)
    first, second = np.frombuffer(buffer), np.frombuffer(buffer)
    first[1] = x * x
    return second[1] * x


@pytest.mark.parametrize(
    "f",
    [read_in_a_view, written_in_a_view, held_by_a_class, seen_in_windows, in_one_buffer],
)
def test_views_that_the_program_made_before(f):
    def plain(x):
        WHOLE[:] = 0.0
        return f(x)

    expected = slope(plain, 1.3)
    WHOLE[:] = 0.0
    assert wg.grad(f, **RECORDED)(1.3) == pytest.approx(expected)


def test_a_global_that_is_the_argument_and_is_written_to_is_refused():
    def f(x):
        x[1] = x[0] ** 2
        return WHOLE.sum() * x[0]

    with pytest.raises(UnsupportedSyntax, match="share memory"):
        wg.grad(f, **RECORDED)(WHOLE)


class Pair:
    def __init__(self, whole):
        self.whole = whole
        self.rest = whole[1:]


def test_an_object_whose_arrays_share_memory_is_not_written_to():
    def f(pair):
        pair.whole[1] = pair.whole[0] ** 2
        return pair.rest.sum()

    with pytest.raises(UnsupportedSyntax, match="share memory"):
        wg.grad(f, **RECORDED)(Pair(np.ones(3)))


def test_arguments_that_lie_side_by_side_in_one_memory_are_written_to():
    def f(x, y):
        x[0] = y[0] ** 2
        return x.sum() * y.sum()

    both = np.array([1.0, 2.0, 3.0, 4.0])
    found = wg.grad(f, (0, 1), **RECORDED)(both[:2], both[2:])
    assert [bar.tolist() for bar in found] == [[0.0, 7.0], [53.0, 11.0]]


def based(x):
    y = x * 2.0
    return (y[1:].base * x).sum() + x[1:].base.sum()


def strided(x):
    windows = np.lib.stride_tricks.as_strided(x, (2, 2), (8, 8))
    x[1] = x[0] * x[2]
    return (windows**3).sum()


def windowed(x):
    windows = np.lib.stride_tricks.sliding_window_view(x, 2)
    sums = windows.sum(1)
    x[0] = x[1] * x[2]
    return (windows**3).sum() * sums.sum()


def chosen_records(x):
    records = np.zeros(3, [("a", float), ("b", float, (2,))])
    records["a"] = x
    chosen = records[[0, 2, 2]]
    chosen["a"][1] *= x[1]
    return (chosen["a"] ** 3).sum() + (records[records["a"] > 1.0]["a"] ** 3).sum()


@pytest.mark.parametrize("f", [based, strided, windowed, chosen_records])
def test_views_and_copies_have_the_right_derivatives_of_two_orders(f):
    x = np.array([1.1, 0.7, 1.9])
    gradient = wg.grad(f, **RECORDED)
    again = wg.grad(lambda x: (gradient(x.copy()) * x**2).sum(), **RECORDED)
    for k in range(3):
        one = np.arange(3) == k
        assert gradient(x.copy())[k] == pytest.approx(slope(lambda t: f(x + t * one), 0.0))  # noqa: B023
        along = lambda t: (gradient(x + t * one) * (x + t * one) ** 2).sum()  # noqa: B023
        assert again(x.copy())[k] == pytest.approx(slope(along, 0.0))


def test_a_write_to_several_elements_in_one_place_is_refused():
    def f(x):
        windows = np.lib.stride_tricks.as_strided(x, (2, 2), (8, 8))
        windows[0] = x[0] ** 2
        return x.sum()

    with pytest.raises(UnsupportedSyntax, match="in one place"):
        wg.grad(f, **RECORDED)(np.ones(3))


def test_an_array_of_objects_is_refused_where_derivatives_would_be_lost():
    def f(x):
        return (np.array([x, x * 2.0]) * Fraction(3, 4)).sum()

    with pytest.raises(UnsupportedSyntax, match="array of objects"):
        wg.grad(f, **RECORDED)(1.3)


def test_what_is_not_chosen_has_no_infinite_derivative():
    f = lambda x: np.where(x > 0.0, np.sqrt(x), x)
    assert wg.grad(f, **RECORDED)(0.0) == 1.0
    assert wg.grad(wg.grad(f, **RECORDED), **RECORDED)(0.0) == 0.0
    assert wg.grad(lambda x: np.array(0.0) * np.sqrt(x) + x, **RECORDED)(0.0) == 1.0


def test_a_pole_of_a_function_of_numpy_is_infinite():
    with np.errstate(all="ignore"):
        assert wg.grad(lambda x: np.log(x), **RECORDED)(0.0) == math.inf
        assert math.isnan(wg.grad(lambda x: np.arcsin(x), **RECORDED)(2.0))


def test_an_item_is_a_number_of_python():
    y = wg.value_and_grad(lambda x: (np.float64(2.0) * x).item(), **RECORDED)(1.5)[0]
    assert (type(y), y) == (float, 3.0)


# --- the limit of a tape ------------------------------------------------------------------------


def diffused(x, turns=1000):
    for _ in range(turns):
        x = x + 0.1 * (np.roll(x, 1) - x)
    return np.sum(x**2)


def added_up(x):
    for _ in range(20_000):
        x = math.sin(x) + 0.5 * x
    return x


def changed_in_place(x):
    a, total = x.copy(), 0.0
    for _ in range(500):
        total = total + np.sum(a * a)
        a[1:] *= 0.9
    return total


@pytest.mark.parametrize(
    ("f", "x"), [(diffused, np.ones(1000)), (added_up, 0.3), (changed_in_place, np.ones(1000))]
)
def test_a_tape_has_a_limit(f, x):
    tracemalloc.start()
    run = RecordedRun(f, (x,), {}, (0,))
    taken, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    del run
    slope = wg.grad(f, **RECORDED)
    wanted = slope(x)
    with wg.tape_limit(3 * taken):
        np.testing.assert_array_equal(slope(x), wanted)
    with wg.tape_limit(taken / 3):
        error = refusal("WG101", NotImplementedError, lambda: slope(x))
    says(error, f"in {f.__name__}", "the limit that `wg.tape_limit` has set", "`wg.checkpoint`")
    np.testing.assert_array_equal(slope(x), wanted)


def test_no_handler_passes_the_limit():
    def careful(x):
        try:
            return diffused(x)
        except NotImplementedError:
            return 0.0 * np.sum(x)

    with wg.tape_limit(1e6):
        refusal("WG101", NotImplementedError, lambda: wg.grad(careful, **RECORDED)(np.ones(1000)))


def test_what_reading_refuses_says_both():
    def of_text(x):
        return eval("[x := x + 0.5 * x for _ in range(1000)][-1]", {"x": x})

    with wg.tape_limit(1e5):
        error = refusal("WG101", NotImplementedError, lambda: wg.grad(of_text)(0.3))
    says(error, "`eval()` cannot be read before it runs", "more than 100,000 bytes")


def repeated(x):
    return np.sum(np.arange(6.0).reshape(2, 3) * np.broadcast_to(x, (2, 3)) ** 3)


def in_windows(x):
    return np.sum(
        np.arange(1.0, 5.0).reshape(2, 2) * np.lib.stride_tricks.sliding_window_view(x, 2) ** 3
    )


def parts_of_a_complex_array(x):
    z = x * (1.0 + 2.0j)
    return repeated(z.real) + in_windows(z.imag)


@pytest.mark.parametrize("f", [repeated, in_windows, parts_of_a_complex_array])
def test_views_that_repeat_a_part_of_complex_numbers(f):
    x = np.array([1.0 + 4.0j, 2.0 - 1.0j, 3.0 + 2.0j]).real
    wanted = [(f(x + 1e-6 * e) - f(x - 1e-6 * e)) / 2e-6 for e in np.eye(3)]
    np.testing.assert_allclose(wg.grad(f, **RECORDED)(x), wanted, rtol=1e-7)
    # of homogeneous functions of degree three
    np.testing.assert_allclose(wg.hvp(f, **RECORDED)(x, x), 2 * np.array(wanted), rtol=1e-7)


def test_views_that_repeat_a_field_of_records():
    def f(x):
        table = np.zeros(3, dtype=[("a", float), ("n", int)])
        table["a"] = x
        return repeated(table["a"])

    x = np.array([1.0, 2.0, 3.0])
    np.testing.assert_allclose(wg.grad(f, **RECORDED)(x), wg.grad(repeated, tier="static")(x))


@pytest.mark.parametrize("most", [0, -1.0, float("nan")])
def test_a_limit_is_a_number_of_bytes(most):
    with pytest.raises(BadArgument, match="limited to a number of bytes"), wg.tape_limit(most):
        pass


def slices_of_flat(x):
    a = np.ones((2, 3)) * x
    first, rest, every = a.flat[:2], a.flat[2:], a.flat[...]
    first[0], every[1] = 5.0 * x, 7.0 * x
    rest *= x
    a.flat[3] += x
    a.flat[4:] *= 3.0
    return a.sum() + first @ first + rest.sum() + every.sum()


def slices_of_flat_by_a_name(x):
    a = np.ones((2, 3)) * x
    walk = a.flat
    first = walk[:2]
    walk[3] += x
    first[0], walk[4:] = 5.0 * x, x * x
    return a.sum() + first @ first + walk[...].sum()


def flat_of_parts(x):
    a = np.arange(1.0, 7.0) * x
    backwards, second = a[::-1], a.reshape(2, 3)[:, 1]
    backwards.flat[1] = x * x
    second.flat[0] += backwards.flat[-1]
    return a @ np.arange(6.0)


def flat_of_a_part_by_turns(x):
    a = np.arange(1.0, 7.0) * x
    for k, item in enumerate(a[::2].flat):
        a[1::2].flat[k] = item * x
    return a @ np.arange(6.0)


@pytest.mark.parametrize("tier", ["static", "recorded"])
@pytest.mark.parametrize(
    "f", [slices_of_flat, slices_of_flat_by_a_name, flat_of_parts, flat_of_a_part_by_turns]
)
def test_slices_of_flat_are_copies(f, tier):
    value, gradient = wg.value_and_grad(f, tier=tier)(0.7)
    assert value == pytest.approx(f(0.7), rel=1e-14)
    assert gradient == pytest.approx(slope(f, 0.7), rel=1e-7)
