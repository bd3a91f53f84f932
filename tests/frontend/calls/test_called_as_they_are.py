"""Functions that cannot be read are called as they are where no differentiated value reaches them."""

from __future__ import annotations

import struct

import numpy as np
import pytest
from error_texts import says
from scipy import fft, linalg, ndimage, signal, special

import wengert as wg

SPACE = {}
exec(
    """
def look_up(graph, a, b): return [a, b] if b in graph[a] else None
def scale(n): return 2.0 * n
def keep(d): d["n"] = 1
def back(d): return d
def part(a): return a[1:]
STATE = {}
def state(): return STATE["x"]
def apply(f, t): return f(t)
def path(graph, a): return [a, *graph.edges[a]]
""",
    SPACE,
)
look_up, scale, keep, back, part, state, apply_to, path = (
    SPACE[name] for name in ("look_up", "scale", "keep", "back", "part", "state", "apply", "path")
)
STATE = SPACE["STATE"]


class Graph:
    def __init__(self):
        self.edges = {"lab": ["xyz"], "xyz": []}


GRAPH = Graph()


class Converter:
    graph = GRAPH

    def convert(self, x):
        return x * len(path(self.graph, "lab"))


CONVERTER = Converter()


def unread(x):
    return x * len(look_up({"lab": {"xyz": 1}}, "lab", "xyz"))


def of_an_object(x):
    return CONVERTER.convert(x)


def of_a_constant(x):
    return x * scale(3.0)


def of_a_count(x):
    return x * scale(len([x, x]))


@pytest.mark.filterwarnings("ignore::wengert.errors.NativeWarning")
@pytest.mark.parametrize(
    ("f", "slope"), [(unread, 2.0), (of_an_object, 2.0), (of_a_constant, 6.0), (of_a_count, 4.0)]
)
def test_R3_a_function_without_source_that_no_derivative_reaches(f, slope):
    assert wg.grad(f)(3.0) == slope
    assert wg.pushforward(f, 3.0)[1](1.0) == slope
    assert wg.jacobian(f, mode="forward")(3.0) == slope
    assert wg.jit(wg.grad(f))(3.0) == slope
    assert wg.hessian(f)(3.0) == 0.0
    assert wg.grad(lambda x: wg.grad(f)(x) * x)(3.0) == slope


def reached(x):
    return x * scale(x)


def inside_a_container(x):
    return sum(part([1.0, x, x]))


def changing(x):
    d = {}
    keep(d)
    return x * len(d)


def giving_back(x):
    d = {"n": 1.0}
    e = back(d)
    d["n"] = x
    return e["n"] * x


def by_memory(x):
    a = np.array([1.0, 2.0])
    b = part(a)
    a[1] = x
    return b[0] * x


def behind_its_back(x):
    STATE["x"] = x
    return state() * x


def calling_back(x):
    return apply_to(lambda t: t * x, 2.0)


@pytest.mark.static_tier
@pytest.mark.parametrize(
    "f",
    [reached, inside_a_container, changing, giving_back, by_memory, behind_its_back, calling_back],
)
def test_what_it_may_do_unseen_is_refused(f):
    for run in (wg.grad(f), lambda x: wg.pushforward(f, x)[1](1.0)):
        with pytest.raises(wg.WengertError, match="WG102") as caught:
            run(3.0)
        assert "cannot be found" in str(caught.value)


X = np.linspace(0.3, 2.0, 8)
OPTIONS = {
    "dct": (lambda x, k: np.sum(fft.dct(x, type=k) ** 2), 2),
    "idct": (lambda x, k: np.sum(fft.idct(x, k) ** 2), 3),
    "dst": (lambda x, k: np.sum(fft.dst(x, type=k) ** 2), 2),
    "dctn": (lambda x, k: np.sum(fft.dctn(x, type=k) ** 2), 2),
    "dct n": (lambda x, k: np.sum(fft.dct(x, n=k) ** 2), 6),
    "dct axis": (lambda x, k: np.sum(fft.dct(np.outer(x, x), axis=k) ** 2), 0),
    "savgol": (lambda x, k: np.sum(signal.savgol_filter(x, 5, k) ** 2), 2),
    "butter": (lambda x, k: np.sum(signal.lfilter(*signal.butter(k, 0.3), x) ** 2), 2),
    "hann": (lambda x, k: np.sum(signal.windows.hann(k) * x), 8),
    "window": (lambda x, k: np.sum(signal.get_window("hamming", k) * x), 8),
    "resample": (lambda x, k: np.sum(signal.resample(x, k) ** 2), 6),
    "decimate": (lambda x, k: np.sum(signal.decimate(np.tile(x, 5), k) ** 2), 2),
    "roots": (lambda x, k: np.sum(special.roots_legendre(k)[0] * x[:3] ** 2), 3),
    "leggauss": (lambda x, k: np.sum(np.polynomial.legendre.leggauss(k)[0] * x[:3] ** 2), 3),
    "hadamard": (lambda x, k: np.sum((linalg.hadamard(k) @ x) ** 2), 8),
    "diff": (lambda x, k: np.sum(np.diff(x, k) ** 2), 2),
    "vander": (lambda x, k: np.sum(np.vander(x, k) ** 2), 3),
    "norm": (lambda x, k: np.linalg.norm(x, k), 3),
}


@pytest.mark.parametrize("name", OPTIONS)
def test_A14_a_whole_number_that_is_an_option(name):
    f, k = OPTIONS[name]
    right = wg.grad(lambda x: f(x, k))(X)
    np.testing.assert_allclose(wg.gradient(f, X, k)[0], right, rtol=1e-12)
    np.testing.assert_allclose(wg.pullback(f, X, k)[1](1.0)[0], right, rtol=1e-12)
    np.testing.assert_allclose(wg.jacobian(f, mode="reverse")(X, k), right, rtol=1e-12)
    along = wg.pushforward(f, X, k)[1](np.cos(X), None)
    assert along == pytest.approx(right @ np.cos(X))


def test_a_number_that_an_elementwise_function_has_no_rule_for_is_no_option():
    with pytest.raises(wg.WengertError, match="WG103"):
        wg.gradient(lambda x, k: x * special.eval_legendre(k, 0.3), 2.0, 3)


def dilated(x):
    out = np.empty_like(x)
    ndimage.grey_dilation(x, (3,), output=out)
    return out @ out


def dilated_by_place(x):
    out = np.empty_like(x)
    ndimage.grey_dilation(x, (3,), None, None, out)
    return out @ out


@pytest.mark.parametrize("f", [dilated, dilated_by_place])
def test_what_a_function_that_is_not_read_writes_to_is_refused(f):
    for derivative in (wg.grad(f), wg.grad(f, tier="static"), wg.jacobian(f, mode="forward")):
        with pytest.raises(wg.WengertError):
            derivative(np.array([1.0, 3.0, 2.0]))


def test_a_result_that_is_written_to_an_argument_and_does_not_move():
    def spread(x):
        out = np.zeros(3, dtype=int)
        ndimage.grey_dilation(np.array([1, 3, 2]), (3,), output=out)
        return x * np.sum(out)

    assert wg.grad(spread)(2.0) == 9.0


def shown(x):
    print(*x, sep="-")
    return x @ x


def of_all_rows(x):
    places = [np.arange(n) for n in np.outer(x, x).shape]
    return np.sum(np.outer(x, x)[np.ix_(*places)])


@pytest.mark.filterwarnings("ignore::wengert.errors.NativeWarning")
@pytest.mark.parametrize("f", [shown, of_all_rows])
def test_as_many_arguments_as_only_the_run_knows(f, capsys):
    x = np.array([1.0, 2.0])
    expected = {shown: 2 * x, of_all_rows: np.full(2, 6.0)}
    assert wg.grad(f)(x) == pytest.approx(expected[f])
    assert capsys.readouterr().out == ("1.0-2.0\n" if f is shown else "")
    assert wg.pushforward(f, x)[1](np.ones(2)) == pytest.approx(sum(expected[f]))
    assert wg.jit(f)(x) == f(x)


FLOATS = struct.Struct("d")


def filled(x):
    y = x * x
    FLOATS.pack_into(y, 0, 3.0)
    return np.sum(y)


def filled_and_asked(x):
    y = np.zeros(3)
    nothing = FLOATS.pack_into(y, 8, 3.0)
    return np.sum(x * y) if nothing is None else 0.0


@pytest.mark.parametrize("f", [filled, filled_and_asked])
def test_compiled_code_that_fills_an_array_is_refused(f):
    x = np.array([1.0, 2.0, 3.0])
    for derive in (wg.grad(f), wg.grad(f, tier="static")):
        with pytest.raises(wg.WengertError, match="WG102") as caught:
            derive(x)
        says(
            caught.value, "Struct.pack_into is compiled", "it changes what it is given", "wg.rrule"
        )


def test_compiled_code_that_leaves_an_array_alone_is_called():
    f = lambda x: np.sum(x * FLOATS.unpack_from(np.full(2, 3.0))[0])
    np.testing.assert_array_equal(wg.grad(f)(np.ones(2)), [3.0, 3.0])
