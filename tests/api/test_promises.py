"""What the contract promises of every derivative: memory of its own, real gradients of real arguments,
the values of the forward call, and nothing lost in silence.
"""

# programs under test are written as users write them

from __future__ import annotations

import cmath
import io
import math
import re
import struct
import sys
from collections.abc import Callable, Iterator
from datetime import timedelta
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import wengert as wg
from wengert.errors import BadTangent, LostDerivative, UnsupportedSyntax

X = np.array([1.0, 2.0, 3.0])
T = np.array([0.1, 0.2, 0.3])
Z = np.array([1 + 2j, 3 - 1j, 0.5j])

# --- memory of its own --------------------------------------------------------------------


def arrays(value: Any) -> Iterator[Any]:
    if isinstance(value, list | tuple):
        for item in value:
            yield from arrays(item)
    elif isinstance(value, dict):
        yield from arrays(list(value.values()))
    else:
        yield value


HANDED_ON: list[Callable[..., Any]] = [
    lambda x: x,
    lambda x: x.T,
    lambda x: (x, 2 * x),
    lambda x: [x, x],
    lambda x: {"a": x},
    lambda x: x[1:],
    lambda x: x.reshape(3, 1),
    lambda x: np.real(x),
    lambda x: np.asarray(x),
    lambda x: +x,
    lambda x: x + 0,
]


@pytest.mark.parametrize("f", HANDED_ON)
def test_tangents_share_no_memory_with_what_was_passed(f: Callable[..., Any]) -> None:
    _, push = wg.pushforward(f, X)
    for found in arrays(push(T)):
        assert not np.shares_memory(found, T)
        assert not np.shares_memory(found, X)


@pytest.mark.parametrize("f", HANDED_ON)
def test_gradients_share_no_memory_with_what_was_passed(f: Callable[..., Any]) -> None:
    y, back = wg.pullback(f, X)
    y_bar = wg.pushforward(f, X)[1](T)  # of the structure of y
    (first,), (second,) = back(y_bar), back(y_bar)
    for other in (X, second, *arrays(y_bar), *arrays(y)):
        assert not np.shares_memory(first, other)


CHANGED: list[Callable[..., Any]] = [
    lambda x: (x * x).sum(),
    lambda x: (x[1:] * x[:-1]).sum(),
    lambda x: sum([a * a for a in x]),
    lambda x: np.sum(np.sort(x) * x),
    lambda x: np.linalg.norm(x.reshape(1, 3) * x),
]


@pytest.mark.parametrize("f", CHANGED)
def test_a_pullback_is_that_of_the_values_at_the_forward_call(f: Callable[..., Any]) -> None:
    x = X.copy()
    _, back = wg.pullback(f, x)
    _, push = wg.pushforward(f, x)
    before, moved = back(1.0), push(T)
    x *= 10
    np.testing.assert_array_equal(back(1.0)[0], before[0])
    assert push(T) == moved


def test_changing_the_result_does_not_change_the_pullback() -> None:
    y, back = wg.pullback(lambda x: np.exp(x), X)
    y[:] = 0
    np.testing.assert_array_equal(back(np.ones(3))[0], np.exp(X))


def test_changing_what_a_function_captured_does_not_change_the_pullback() -> None:
    weights = X.copy()
    _, back = wg.pullback(lambda x: (x * weights).sum(), X)
    weights *= 10
    np.testing.assert_array_equal(back(1.0)[0], X)


scale = 3.0
table = np.array([1.0, 2.0, 3.0])
holder = SimpleNamespace(weight=2.0)


def scaled(x: Any, n: int) -> Any:
    for _ in range(n):
        x = x * np.sin(x) * scale
    return x * holder.weight


def test_changing_a_global_does_not_change_the_pullback(monkeypatch: pytest.MonkeyPatch) -> None:
    _, back = wg.pullback(scaled, 2.0, 3)
    _, back_of_table = wg.pullback(lambda x: (x * table).sum(), X)
    before = back(1.0)
    monkeypatch.setitem(globals(), "scale", 5.0)
    monkeypatch.setattr(holder, "weight", 7.0)
    monkeypatch.setitem(globals(), "table", table * 0)
    assert back(1.0) == before
    np.testing.assert_array_equal(back_of_table(1.0)[0], X)


def test_changing_a_list_does_not_change_the_pullback() -> None:
    items = [1.0] * 40
    _, back = wg.pullback(lambda xs: sum([x * x for x in xs]), items)
    items[0] = 10.0
    assert back(1.0)[0][0] == 2.0


def test_a_result_of_any_length_takes_a_cotangent_like_itself() -> None:
    def powers(x: Any, n: int) -> Any:
        result: list[Any] = []
        for k in range(n):
            result = [*result, x**k]
        return result

    y, back = wg.pullback(powers, 2.0, 40)
    assert back([1.0] + [0.0] * 37 + [1.0, 0.0])[0] == 38 * 2.0**37
    assert len(y) == 40
    with pytest.raises(BadTangent):
        back([1.0])


# --- real gradients of real arguments -----------------------------------------------------

JOINED: list[Callable[..., Any]] = [
    lambda x, z: np.concatenate([x, z]),
    lambda x, z: np.concatenate((x[None], z[None]), axis=0),
    lambda x, z: np.concatenate([np.sin(x), z]),
    lambda x, z: np.concatenate([[float(x[0])], z]),
    lambda x, z: np.stack([x, z]),
    lambda x, z: np.hstack([x, z]),
    lambda x, z: np.vstack([x, z]),
    lambda x, z: np.dstack([x, z]),
    lambda x, z: np.column_stack([x, z]),
    lambda x, z: np.append(x, z),
    lambda x, z: np.array([x, z]),
    lambda x, z: np.array([x[0], z[0], x[1]]),
    lambda x, z: np.where(np.arange(3) > 0, x, z),
    lambda x, z: np.linspace(x[0], z[0], 4),
    lambda x, z: np.full(3, x[0], dtype=complex) * z,
    lambda x, z: x[None] @ z,
    lambda x, z: np.block([x, z]),
    lambda x, z: np.convolve(x, z),
    lambda x, z: np.fft.fft(x) * z,
]


@pytest.mark.parametrize("join", JOINED)
def test_a_real_array_joined_with_a_complex_one_has_a_real_gradient(
    join: Callable[..., Any],
) -> None:
    def loss(x: Any, z: Any) -> Any:
        return np.sum(join(x, z) ** 2 * (1 + 2j)).real

    x_bar, z_bar = wg.gradient(loss, X, Z)
    assert x_bar.dtype == np.float64
    assert z_bar.dtype == np.complex128
    wg.testing.check_gradient(loss, X, Z, rtol=1e-5)


# --- nothing lost in silence --------------------------------------------------------------

WITH_PERCENT, WITH_BRACES = "%.3f", "{:.3f}"
READ_BACK: list[Callable[..., Any]] = [
    lambda x: np.array([str(x)]).astype(float)[0],
    lambda x: np.array([str(x)], dtype=float)[0],
    lambda x: np.asarray([f"{x}"], float).sum(),
    lambda x: np.array(str(x)).astype(np.float64)[()],
    lambda x: float(np.array([str(x)])[0]),
    lambda x: np.array(str(x).split(",")).astype(float)[0],
    lambda x: np.float64(str(x)),
    lambda x: complex(str(x)).real,
    lambda x: np.fromstring(str(x), sep=" ")[0],
    lambda x: float(f"{x} {2 * x}".split()[1]),
    lambda x: float(WITH_PERCENT % x),
    lambda x: float(WITH_BRACES.format(x)),
    lambda x: sum(map(float, ",".join([str(x), str(2 * x)]).split(","))),
    lambda x: float(re.findall(r"\S+", f"{x} {2 * x}")[1]),
    lambda x: float({"text": str(x), "number": x}["text"]),
    lambda x: np.loadtxt(io.StringIO(f"{x},{2 * x}"), delimiter=",").sum(),
    lambda x: timedelta(seconds=x).total_seconds() * 2.0,
    lambda x: _printed(x),
    lambda x: _packed(x),
    lambda x: _saved(x),
]


def _printed(x):
    stream = io.StringIO()
    print(x, file=stream)
    return float(stream.getvalue())


def _packed(x):
    stream = io.BytesIO()
    stream.write(struct.pack("d", x))
    stream.seek(0)
    return struct.unpack("d", stream.read())[0] * x


def _saved(x):
    stream = io.BytesIO()
    np.save(stream, np.array([x]))
    stream.seek(0)
    return np.load(stream)[0] * x


@pytest.mark.parametrize(
    "program",
    [
        lambda x: np.sum(x.astype("U10").astype(float)),
        lambda x: np.sum(np.asarray(x, dtype=str).astype(float)),
        lambda x: np.sum(np.array([x[0], x[1]]).astype("S10").astype(float)),
    ],
)
def test_arrays_of_text_have_lost_their_derivative(program):
    with pytest.raises(UnsupportedSyntax, match=r"read back from text|an array of objects"):
        wg.grad(program, tier="static")(np.array([1.5, 2.0]))
    with pytest.raises(LostDerivative, match="are made an array of text, which has none"):
        wg.grad(program, tier="recorded")(np.array([1.5, 2.0]))


@pytest.mark.parametrize("f", READ_BACK)
def test_a_number_read_back_from_text_is_refused(f: Callable[..., Any]) -> None:
    with pytest.raises(UnsupportedSyntax, match="a number read back from text"):
        wg.grad(f)(0.5)


def _by_keys_of_text(x: float, n: float) -> Any:
    key = f"v{n}"
    d = {key: x * n, "other": 2.0}
    d[key] *= x
    d.setdefault(f"{x}", n)
    return d[key] * d.get(f"{x}", 0.0) + {key: x, "more": 1.0}[key] + sum(d.values())


def _text_by_a_key_of_text(x: float, n: float) -> Any:
    return float({f"{n}": f"{x}", "other": 1.0}[f"{n}"]) * x


def test_what_a_dictionary_has_under_a_key_of_text_is_no_text() -> None:
    x, n, h = 1.5, 2.5, 1e-6
    by_x = (_by_keys_of_text(x + h, n) - _by_keys_of_text(x - h, n)) / (2 * h)
    by_n = (_by_keys_of_text(x, n + h) - _by_keys_of_text(x, n - h)) / (2 * h)
    for tier in ("static", "recorded"):
        slopes = wg.grad(_by_keys_of_text, (0, 1), tier=tier)(x, n)  # type: ignore[arg-type]
        assert slopes == pytest.approx((by_x, by_n), rel=1e-8)
    with pytest.raises(UnsupportedSyntax, match="a number read back from text"):
        wg.grad(_text_by_a_key_of_text, (0, 1), tier="static")(x, n)


def _through_einsum(x: Any) -> Any:
    y = np.outer(x, [1.0, 2.0, 3.0])
    np.einsum("ii->i", y)[:] *= 2
    return np.sum(y**2)


def _through_strides(x: Any) -> Any:
    y = x.copy()
    np.lib.stride_tricks.as_strided(y, (2,), (16,))[0] = 5.0
    return np.sum(y**2)


def _through_an_iterator(x: Any) -> Any:
    y = x.copy()
    for v in np.nditer(y, op_flags=["readwrite"]):
        v[...] = 2 * v
    return np.sum(y**2)


def test_writing_through_a_view_by_einsum() -> None:
    x, weights = np.array([1.0, 2.0, 3.0]), np.array([1.0, 2.0, 3.0])
    np.testing.assert_allclose(wg.grad(_through_einsum)(x), 2 * x * (14 + 3 * weights**2))


@pytest.mark.parametrize("f", [_through_strides, _through_an_iterator])
def test_writing_through_a_view_that_is_not_followed_is_refused(f: Callable[..., Any]) -> None:
    with pytest.raises(UnsupportedSyntax, match=r"may write to another array|writes to arrays"):
        wg.grad(f, tier="static")(np.array([1.0, 2.0, 3.0]))


def test_writing_through_a_view_in_a_recorded_run() -> None:
    assert wg.grad(_through_strides)(np.array([1.0, 2.0, 3.0])).tolist() == [0.0, 4.0, 6.0]
    with pytest.raises(UnsupportedSyntax, match=r"np\.nditer walks over arrays in C"):
        wg.grad(_through_an_iterator)(np.array([1.0, 2.0, 3.0]))


def test_methods_of_arrays_called_by_their_class() -> None:
    def f(x: Any) -> Any:
        y = x.copy()
        np.ndarray.sort(y)
        return sum(float(v) * k for k, v in enumerate(np.nditer(y)))

    wg.testing.check_gradient(f, np.array([3.0, 1.0, 2.0]))


def test_numbers_beside_text_made_of_them_keep_their_derivatives() -> None:
    def total(x: float) -> float:
        rows, log = [], []
        for k in range(3):
            rows.append((f"{x:.2f}", x * k))
            log.append(f"step {k}: {x}")
        return sum(float(value) for _, value in rows) * len(log) + x * float(str(len(log)))

    assert wg.grad(total)(1.5) == 12.0
    assert wg.grad(total).source


def test_a_number_in_a_matrix_of_complex_ones_has_real_derivatives() -> None:
    def reflected(n: float) -> Any:
        layer = np.array([[np.cos(n), 1j * np.sin(n) / n], [1j * n * np.sin(n), n]])
        b, c = layer @ np.array([1, 1.5 + 0.1j])
        return abs((b - c) / (b + c)) ** 2

    assert isinstance(wg.hvp(reflected)(1.5, 1.0), float)
    wg.testing.check_gradient(wg.grad(reflected), 1.5)


SPECTRA: list[Callable[..., Any]] = [
    lambda x: np.abs(np.fft.rfft(x * np.hanning(4)))[1] ** 2,
    lambda x: np.abs(np.fft.fft(np.ones(4, dtype=x.dtype) * x))[1] ** 2,
    lambda x: sum(abs(v) ** 2 * k for k, v in enumerate(_spectrum(list(x)))),
    lambda x: sum(abs(v) ** 2 * k for k, v in enumerate(_spectrum(x))),
]


def _spectrum(a: Any) -> Any:
    """The fast Fourier transform, as a recursion."""
    n = len(a)
    if n == 1:
        return a
    even, odd = _spectrum(a[::2]), _spectrum(a[1::2])
    turned = [cmath.exp(-2j * math.pi * k / n) * odd[k] for k in range(n // 2)]
    return [even[k] + turned[k] for k in range(n // 2)] + [
        even[k] - turned[k] for k in range(n // 2)
    ]


@pytest.mark.parametrize("f", SPECTRA)
def test_a_spectrum_is_complex_also_where_its_kind_does_not_say_so(f: Callable[..., Any]) -> None:
    x = np.array([0.5, 1.2, 0.7, 2.1])
    assert wg.grad(f)(x).dtype == np.float64
    wg.testing.check_gradient(f, x)


def test_operands_passed_by_name_go_where_they_belong() -> None:
    assert wg.grad(lambda x: np.linspace(stop=x, num=5, start=0.0).sum())(2.0) == 2.5
    assert wg.grad(lambda x: np.full(fill_value=x, shape=3).sum())(2.0) == 3.0
    knots, values = np.array([0.0, 1.0]), np.array([0.0, 5.0])
    assert wg.grad(lambda x: np.interp(fp=values, xp=knots, x=x))(0.5) == 5.0


def test_every_array_of_a_grid_has_a_gradient() -> None:
    def corner(*axes: Any) -> Any:
        return sum(np.sum(grid) for grid in np.meshgrid(*axes))

    for gradient in wg.gradient(corner, *[X[:2]] * 4):
        np.testing.assert_array_equal(gradient, [8.0, 8.0])


# --- where a condition is not met ---------------------------------------------------------

MASKED: list[tuple[Callable[..., Any], list[float]]] = [
    (lambda x: np.where(x > 0, np.sqrt(x), 0.0).sum(), [0.0, 0.5, 0.25]),
    (lambda x: np.where(x > 0, np.log(x), 0.0).sum(), [0.0, 1.0, 0.25]),
    (lambda x: np.where(x == 0, 0.0, x * np.log(x)).sum(), [0.0, 1.0, 1 + np.log(4.0)]),
    (lambda x: (2 * np.where(x > 0, 1 / x, 0.0)).sum(), [0.0, -2.0, -0.125]),
]


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize(("f", "expected"), MASKED)
def test_what_was_not_chosen_does_not_count(f: Callable[..., Any], expected: list[float]) -> None:
    x = np.array([0.0, 1.0, 4.0])
    np.testing.assert_allclose(wg.grad(f)(x), expected)
    np.testing.assert_allclose([wg.pushforward(f, x)[1](e) for e in np.eye(3)], expected)


def test_generated_code_has_no_section_of_its_own_alone() -> None:
    source = wg.code_adjoint(lambda x: np.sum(np.floor(x) * x), X)
    assert not re.search("# (forward|reverse)", source)


def test_check_gradient_gives_each_call_arguments_of_its_own():
    def doubled(x):
        x *= 2
        return np.sum(x**2)

    x = np.array([1.0, 2.0])
    wg.testing.check_gradient(doubled, x)
    assert x.tolist() == [1.0, 2.0]


def test_what_the_system_says_of_numbers_is_known():
    def logged(x):
        info, positions = sys.float_info, range(2, 9, 3)
        small = max(x, info.epsilon)
        return (
            math.log(small + sys.float_info.min) * positions.start + positions.step * x * info.dig
        )

    assert wg.gradient(logged, 1.3) == (pytest.approx(2 / 1.3 + 45),)
