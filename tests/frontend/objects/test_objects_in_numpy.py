"""Objects whose class makes arrays of them (`__array__`), in NumPy's functions and operators."""

import numpy as np
import pytest

import wengert as wg


class Field:
    def __init__(self, data):
        self.data = np.asarray(data, float)

    def __array__(self, dtype=None, copy=None):
        return self.data


class Scaled(Field):
    def __mul__(self, factor):
        return Scaled(self.data * np.asarray(factor) * 3)

    __rmul__ = __mul__

    def __len__(self):
        return len(self.data)


class First(Scaled):
    __array_priority__ = 10.0


class Whole(Field):
    __array_ufunc__ = None

    def __radd__(self, other):
        return 5 * self.data.sum() + other


def assigned(x):
    a = np.zeros(2)
    a[:] = Field([x, 2 * x])
    a += Field([x, x * x])
    return a @ a


PROGRAMS = [
    lambda x: np.asarray(Field([x, 2 * x])).sum() + np.array(Field([x, 2 * x])) @ [1.0, x],
    lambda x: np.sum(Field([x, 2 * x])) * np.linalg.norm(Field([x, 1.0])),
    lambda x: np.sin(Field([x, 2 * x]))[1] + np.mean(Scaled([x, x * x])),
    lambda x: np.concatenate([Field([x, 2 * x]), Field([x])]).sum() * np.stack([Field([x]), Field([x])]).sum(),
    lambda x: np.dot(Field([x, 2 * x]), Field([x, 1.0])),
    lambda x: (np.ones(2) * Field([x, 2 * x])).sum() + (Field([x, 2 * x]) - np.ones(2)).prod(),
    lambda x: (np.ones(2) * Scaled([x, 2 * x])).sum(),  # of NumPy: the class is not asked
    lambda x: np.asarray(Scaled([x, 2 * x]) * np.ones(2)).sum(),
    lambda x: np.asarray(x * Scaled([x, 2 * x])).sum(),
    lambda x: np.asarray(np.ones(2) * First([x, 2 * x])).sum(),
    lambda x: (np.ones(2) + Whole([x, x * x])).sum(),
    assigned,
]  # fmt: skip


@pytest.mark.parametrize("f", PROGRAMS)
def test_an_object_is_the_array_that_its_class_makes_of_it(f):
    x = 0.8
    value, slope = wg.value_and_grad(f)(x)
    assert value == pytest.approx(f(x), rel=1e-14)
    assert slope == pytest.approx((f(x + 1e-6) - f(x - 1e-6)) / 2e-6, rel=1e-7)
    assert wg.derivative(f)(x) == pytest.approx(slope, rel=1e-14)


class OfUfuncs(Field):
    def __array_ufunc__(self, ufunc, method, *inputs, **options):
        return 7.0


class OfFunctions(Field):
    def __array_function__(self, function, types, args, kwargs):
        return 7.0 * self.data.sum()


class Wrapped(Field):
    def __array_wrap__(self, array, context=None, return_scalar=False):
        return Wrapped(2 * array)


@pytest.mark.static_tier
@pytest.mark.parametrize(
    ("f", "name"),
    [
        (lambda x: np.sin(OfUfuncs([x])), "OfUfuncs has a `__array_ufunc__`"),
        (lambda x: np.ones(1) * OfUfuncs([x]), "OfUfuncs has a `__array_ufunc__`"),
        (lambda x: np.sum(OfFunctions([x])), "OfFunctions has a `__array_function__`"),
        (lambda x: np.sin(Wrapped([x])).data.sum(), "Wrapped has a `__array_wrap__`"),
        (lambda x: (np.ones(1) * Wrapped([x])).data.sum(), "Wrapped has a `__array_wrap__`"),
    ],
)  # fmt: skip
def test_a_class_that_says_what_numpys_functions_do_is_refused(f, name):
    with pytest.raises(
        wg.WengertError, match=f"{name} of its own, which NumPy's functions go through"
    ):
        wg.grad(f)(0.8)


POLYNOMIALS = [
    lambda x: np.polyder(np.poly1d([1.0, -x, 0.5]))(1.0) + np.polyint(np.poly1d([1.0, -x]))(x),
    lambda x: np.polymul(np.poly1d([1.0, -x]), [x, 1.0])(2.0) + np.polysub([1.0], np.poly1d([1.0, x]))(0.3),
    lambda x: np.polyadd(np.poly1d([1.0, -x]), np.poly1d([x, 1.0]))(2.0),
    lambda x: np.roots(np.poly1d([1.0, -x - 3, 0.5])).max(),
]  # fmt: skip


@pytest.mark.parametrize("f", POLYNOMIALS)
def test_functions_of_polynomials_take_polynomials(f):
    wg.testing.check_gradient(f, 0.8)
