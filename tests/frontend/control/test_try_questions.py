"""Views that are made in one part of a `try` and asked about in another: whether they are views of what changes."""

import numpy as np
import pytest
import standing_alone
from oracle import central_gradient

import wengert as wg


def raised():
    raise ValueError


def seen_in_a_handler(x, a):
    try:
        raised()
    except ValueError:
        z = a.reshape(2, 2).T[0]
        a[2] = a[-1] * x
        u = z[1] + a[2]
    finally:
        for _ in range(3):
            break
    return u


def seen_in_parts(x, a):
    try:
        z = a.reshape(2, 2)
        a[0] = x
        w = z.ravel()
        a[1] = x * x
        u = w[0] * z[0, 1] + w[1]
    except IndexError:
        u = 0.0
    return u


def seen_in_a_try_in_a_try(x, a):
    try:
        try:
            z = a.reshape(2, 2).T
            a[3] = x
        except IndexError:
            z = a
        a[1] = z[1, 1] * x
        u = z[1, 0] * x
    except ValueError:
        u = x
    return u


@pytest.mark.parametrize("f", [seen_in_a_handler, seen_in_parts, seen_in_a_try_in_a_try])
def test_what_a_try_hands_on_is_asked_about_where_it_is_made(f):
    def given(derivative):
        return derivative(0.7, np.arange(1.0, 5.0))

    x_bar, a_bar = central_gradient(f, 0.7, np.arange(1.0, 5.0))
    derivative = wg.grad(f, argnums=(0, 1))
    alone = standing_alone.unless_refused(lambda: given(standing_alone.alone(derivative)))
    for found in (given(derivative), *([] if alone is None else [alone])):
        assert found[0] == pytest.approx(x_bar, rel=1e-8)
        assert found[1] == pytest.approx(a_bar, rel=1e-8)


def test_source_that_stands_alone_knows_it_of_a_handler():
    found = standing_alone.alone(wg.grad(seen_in_a_handler, argnums=(0, 1)))(0.7, np.arange(4.0))
    assert found[1] == pytest.approx([0.0, 0.0, 0.0, 1.4])
