"""Complex arrays made of real numbers and written to: tangents and cotangents that start real turn complex."""

import numpy as np
import pytest

import wengert as wg

C = np.array([1.77, -0.80, 1.29])
X = np.array([0.5, 0.7, 0.2])
V = np.array([1.0, 2.0, 3.0])


class Holder:
    def __init__(self, z):
        self.z = z


def both(z):
    return np.sum(np.sin(np.real(z))) + 0.3 * np.sum(np.imag(z) ** 2)


def real_part(z):
    return np.sum(np.sin(np.real(z)))


def change(z, u):
    z[0] *= 1j * u[0]


def descend(z, u, k):
    if k == 0:
        return
    z[k] = z[k - 1] * 1j * u[k]
    descend(z, u, k - 1)


def of_an_item(u, g):
    z = u + 1j * C
    z[0] = z[0] ** 2
    return g(z)


def of_a_slice(u, g):
    z = u + 1j * C
    z[1:] *= z[1:]
    return g(z)


def by_a_mask(u, g):
    z = u + 1j * C
    z[np.real(z) > 0] *= 1j
    return g(z)


def through_a_view(u, g):
    z = u + 1j * C
    v = z[::-1]
    v[0] *= 1j
    return g(z)


def of_all_through_a_view(u, g):
    z = u + 1j * C
    r = np.flipud(z)
    r **= 2
    return g(z)


def in_a_loop(u, g):
    z = u + 0j
    for k in range(3):
        z[k] = z[k - 1] * 1j * u[k]
    return g(z)


def in_a_list(u, g):
    z = []
    for k in range(3):
        z.append(u * k + 1j * C)  # noqa: PERF401 - this is what is tested
    for k in range(2):
        z[k + 1][1] *= 1j * z[k][0]
    return g(z[0]) + g(z[1]) + g(z[2])


def in_an_object(u, g):
    o = Holder(u + 1j * C)
    o.z[0] *= 1j
    o.z[1:] = 1j * o.z[:-1]
    return g(o.z)


def in_a_dictionary(u, g):
    d = {"z": u + 1j * C}
    d["z"][0] *= 1j
    return g(d["z"])


def by_a_call(u, g):
    z = u + 1j * C
    for _ in range(2):
        change(z, u)
    return g(z)


def by_a_recursion(u, g):
    z = u + 1j * C
    descend(z, u, 2)
    return g(z)


def after_a_branch(u, g):
    z = u + 1j * C if u[0] > 0 else u * (1 + 2j)
    z[0] *= 1j
    return g(z)


def by_out(u, g):
    z = np.empty(3, complex)
    np.multiply(u, 1j * u, out=z)
    np.add(z[1:], u[0], out=z[1:])
    z[1:] *= 1j
    return g(z)


def of_two_that_change_places(u, g):
    z, w = u + 0j, u * 2 + 0j
    for k in range(3):
        z, w = w, z
        z[k] *= 1j * w[k]
    return g(z) + 2 * g(w)


def by_parts(u, g):
    z = u + 1j * C
    z.imag[...] = u * 2
    z.real[0] = u[1] * u[2]
    z *= 1j
    return g(z)


def of_rows(u, g):
    z = np.outer(u, u) + 0j
    for row in z:
        row[1:] *= 1j
    return g(z)


PROGRAMS = [
    of_an_item, of_a_slice, by_a_mask, through_a_view, of_all_through_a_view, in_a_loop, in_a_list, in_an_object,
    in_a_dictionary, by_a_call, by_a_recursion, after_a_branch, by_out, of_two_that_change_places, by_parts, of_rows,
]  # fmt: skip


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("g", [both, real_part], ids=["both", "real"])
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda f: f.__name__)
def test_what_is_written_keeps_its_imaginary_part(program, g):
    def f(u):
        return program(u, g)

    def along(u):
        return wg.grad(f)(u) @ V

    slope = (f(X + 1e-6 * V) - f(X - 1e-6 * V)) / 2e-6
    assert wg.grad(f)(X.copy()) @ V == pytest.approx(slope, abs=1e-7)
    assert wg.pushforward(f, X.copy())[1](V) == pytest.approx(slope, abs=1e-7)
    assert wg.jacobian(f, mode="forward")(X.copy()) @ V == pytest.approx(slope, abs=1e-7)
    bend = (along(X + 1e-6 * V) - along(X - 1e-6 * V)) / 2e-6
    assert wg.grad(along)(X.copy()) @ V == pytest.approx(bend, abs=1e-6)
    assert wg.pushforward(wg.grad(f), X.copy())[1](V) @ V == pytest.approx(bend, abs=1e-6)
