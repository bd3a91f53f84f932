"""`z.real = x`, `z.imag = y`, `a.flat = v`: attributes of an array that are assigned by writing to its entries."""

import numpy as np
import oracle
import pytest
import standing_alone
from error_texts import refusal

import wengert as wg

X = np.array([0.5, 1.2, 0.3])
PROGRAMS = []


def program(function):
    PROGRAMS.append(function)
    return function


@program
def both_parts(x):
    z = np.zeros(3, complex)
    z.real = x
    z.imag = x**2
    z.real[1] += 3 * x[0]
    z.imag *= 2
    return np.abs(np.exp(1j * z)).sum()


@program
def parts_of_what_was_computed(x):
    z = x * (1 + 2j)
    z.real *= x
    z.imag[:2] -= x[1:]
    z.imag = 3 * z.real * x[0]
    z.real = 2.0
    return np.abs(z).sum()


@program
def part_of_real_numbers(x):
    y = 2 * x
    y.real = x * y
    y.real[1:] *= 3
    return (y**2).sum()


@program
def all_entries_in_order(x):
    y = np.zeros((3, 2))
    y.flat = 3 * x[0]
    y.flat[1] = x[1]
    y.flat[2:4] = x[1:]
    return (y**2).sum()


@program
def parts_of_views(x):
    z = np.empty((2, 3), dtype=complex)
    z[0] = x
    z[1].real = x
    z[1].imag = -1.0
    z[0].imag += x
    turned = z.T
    turned.real[:, 1] *= x
    return (np.abs(z) ** 2).sum() + z.imag.sum()


class Wave:
    def __init__(self, n):
        self.z = np.zeros(n, complex)


@program
def parts_in_an_object_and_a_list(x):
    wave = Wave(3)
    wave.z.real = x
    wave.z.imag = x**2
    waves = [wave.z]
    waves[0].real = waves[0].imag * x
    return np.abs(wave.z).sum()


@program
def parts_in_a_loop(x):
    z = np.zeros(3, complex)
    for k in range(3):
        z.real = z.real * x + x[k]
        z.imag += z.real
        if z.real[0] > 0.7:
            z.real = z.imag
    return np.abs(z).sum()


@program
def part_of_a_part_of_a_result(x):
    values, vectors = np.linalg.eig(np.outer(x, x) + np.diag([1.0, 2.0, 4.0]))
    first = np.real(vectors[:, np.argmin(values)])
    first /= first.sum()
    return first @ np.array([1.0, 3.0, 2.0])


@pytest.mark.parametrize("f", PROGRAMS)
def test_derivatives(f):
    wg.testing.check_gradient(f, X)
    slope = wg.pushforward(f, X)[1](np.array([1.0, -2.0, 0.5]))
    assert slope == pytest.approx(wg.grad(f)(X) @ [1.0, -2.0, 0.5], rel=1e-12)


@pytest.mark.parametrize("f", PROGRAMS)
def test_general_source(f):
    found = standing_alone.unless_refused(lambda: standing_alone.alone(wg.grad(f))(X))
    if found is not None:
        np.testing.assert_allclose(found, wg.grad(f)(X), rtol=1e-12)


def test_an_argument_is_left_as_the_function_leaves_it():
    def f(z, x):
        z.real = x
        z.imag *= x
        return np.abs(z).sum()

    z, x = np.array([1 + 2j, 3 + 1j]), np.array([0.3, 0.4])
    z_bar, x_bar = wg.grad(f, argnums=(0, 1))(z, x)
    np.testing.assert_array_equal(z, [0.3 + 0.6j, 0.4 + 0.4j])
    # |z| = |x| √(1 + y²) of the old imaginary part y
    np.testing.assert_allclose(z_bar, 1j * x * [2, 1] / np.sqrt([5, 2]), rtol=1e-12)
    np.testing.assert_allclose(x_bar, np.sqrt([5, 2]), rtol=1e-12)


def test_real_numbers_have_no_imaginary_part():
    def f(x):
        y = 2 * x
        y.imag = x
        return y.sum()

    with pytest.raises(TypeError, match="array does not have imaginary part to set"):
        wg.grad(f)(X)


def by_kind(x):
    return x.sum() if x.dtype.kind == "f" else 2.0 * x.sum()


def by_name_and_size(x):
    exact = x.dtype.name == "float64" and x.dtype.itemsize == 8 and x.dtype.char == "d"
    return (x**2).sum() if exact else x.sum()


def by_type(x):
    y = np.asarray(x, dtype=float if np.asarray(x).dtype.kind in "biu" else None)
    return (y * (2.0 if x.dtype.type is np.float64 else 3.0)).sum()


@pytest.mark.parametrize("general", [False, True])
@pytest.mark.parametrize("f", [by_kind, by_name_and_size, by_type])
def test_a_program_asks_for_the_dtype(f, general):
    gradient = standing_alone.alone(wg.grad(f)) if general else wg.grad(f)
    for x in (X, X.astype(np.float32), np.array([1, 2, 3])):
        slope = f(x + np.ones(3, x.dtype)) - f(x)
        if f is by_name_and_size and x is X:
            slope = 2 * x.sum()
        assert gradient(x).sum() == pytest.approx(slope, rel=1e-6)


def outer(x):
    row = x * 2.0
    column = np.exp(x)
    part = row[:2]
    row.shape = 1, -1
    column.shape = (3, 1)
    column[0, 0] *= x[1]
    row[0, 0] = x[2]
    return np.sum(row * column) * part[0]


@pytest.mark.filterwarnings("ignore:Setting the shape")  # which NumPy 2.5 deprecates
def test_the_shape_of_what_the_function_made_is_assigned():
    expected = [oracle.central_difference(lambda t, e=e: outer(X + t * e), 0.0) for e in np.eye(3)]
    np.testing.assert_allclose(wg.grad(outer)(X), expected, rtol=1e-7)
    pushed = [wg.pushforward(outer, X)[1](e) for e in np.eye(3)]
    np.testing.assert_allclose(pushed, expected, rtol=1e-7)


def in_a_list(x):
    kept = [np.concatenate([x, x])]
    y = kept[0]
    y.shape = (2, 3)
    return kept[0][0].sum()


def of_another_function(x):
    def change(y):
        y.shape = (2, 3)

    z = np.concatenate([x, x])
    change(z)
    return z[0].sum()


def remembered(x):
    y = np.concatenate([x, x])
    listed = y.tolist
    y.shape = (2, 3)
    return len(listed()) * x[0]


def as_a_default(x):
    y = np.concatenate([x, x])

    def first(of=y):
        return of[0].sum()

    y.shape = (2, 3)
    return first()


def of_itself(x):
    y = np.concatenate([x, x])
    same = np.asarray(y)
    y.shape = (2, 3)
    return same[0].sum()


@pytest.mark.static_tier
@pytest.mark.parametrize("f", [in_a_list, of_another_function, remembered, as_a_default, of_itself])
def test_the_shape_of_what_others_may_hold_is_not(f):
    error = refusal("WG101", NotImplementedError, lambda: wg.grad(f)(X))
    assert "an array is given another shape in place" in str(error)
    assert "Write `a = a.reshape(shape)`." in str(error)


@pytest.mark.parametrize("name", ["base", "data", "ctypes"])
def test_the_memory_of_an_array_is_not_asked_for(name):
    def asked(v):
        return v[0] if getattr(v, name) is None else v[1]

    message = f"`{name}` of an array, whose memory a derivative may keep elsewhere"
    assert message in str(refusal("WG101", Exception, lambda: wg.grad(asked, tier="static")(X)))


def test_an_array_as_an_array_is_itself():
    def written_through(x):
        y = x * 1.0
        y.__array__()[0] = 3.0  # into `y`
        return (y.__array__() ** 2).sum() + x.__array__(float)[0] * y[0]

    np.testing.assert_array_equal(
        wg.grad(written_through, tier="static")(X), [3.0, 2 * X[1], 2 * X[2]]
    )
