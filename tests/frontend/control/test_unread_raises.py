"""A statement alone on a line raises what Python raises: an op may raise unless it is known not to."""

import dataclasses
import functools
import linecache
import math

import numpy as np
import pytest
from native_outcomes import outcome

import wengert as wg
from wengert.ops.registry import ops


@pytest.fixture(autouse=True)
def own_cache(tmp_path_factory, monkeypatch):
    monkeypatch.setenv("WENGERT_CACHE", str(tmp_path_factory.getbasetemp() / "native"))


STATEMENTS = """
np.linspace(0, 1, n - 4)
range(0, 5, n - n)
np.sort(x, axis=1)
np.take(x, 99)
np.delete(x, 99)
np.repeat(x, -1)
np.roll(x, 1, axis=1)
np.einsum("ij,jk", x.reshape(2, 3), x.reshape(2, 3))
np.quantile(x, 2.0)
np.array([x, x[:2]])
x[:: n - n]
x.item()
10.0 ** 400
10.0 ** (400 + n)
x.reshape(2, 3).item()
np.ones((n - 9, 2))
np.zeros(n - 9)
np.cumsum(x, axis=1)
np.diff(x, axis=3)
np.diff(x, n=n - 9)
np.argsort(x, axis=1)
np.partition(x, 99)
np.median(x, axis=1)
np.percentile(x, 200.0)
np.trace(x)
np.diag(x.reshape(1, 2, 3))
np.tril(1.0)
np.linalg.det(x)
np.linalg.eigh(x)
np.linalg.svd(x)
np.linalg.qr(x)
np.linalg.cholesky(-np.eye(2))
np.linalg.norm(x, "fro")
np.interp(1.0, x, x[:2])
np.searchsorted(x.reshape(2, 3), 1.0)
np.bincount(x)
np.convolve(x, x[:0])
np.expand_dims(x, 5)
np.swapaxes(x, 0, 1)
np.moveaxis(x, 0, 1)
np.tile(x, -1)
np.flip(x, 1)
np.rot90(x)
np.unique(x, axis=2)
np.insert(x, 99, 1.0)
np.append(x, x.reshape(2, 3), axis=0)
np.take_along_axis(x, np.array([99]), 0)
np.compress([True] * 9, x)
np.fft.fft(x, 0)
np.fft.fft(x, axis=3)
np.logspace(0, 1, n - 9)
np.meshgrid(x, indexing="zz")
np.pad(x, -1)
np.pad(x, 1, mode="nope")
np.ldexp(x, 1.5)
np.bitwise_and(x, 1)
np.left_shift(x, 1)
np.asarray([1.0, [2.0]])
np.where(x > 1, np.ones(2), x)
np.clip(x, np.ones(2), 3.0)
np.concatenate([x, x.reshape(2, 3)])
np.broadcast_to(x, (2, 2))
np.split(x, 4)
math.dist([1.0], [1.0, 2.0])
math.factorial(n - 9)
math.comb(n - 9, 1)
math.isqrt(n - 9)
math.sqrt(n - 9.0)
math.ldexp(1.0, 5000 * n)
1 // (n - n)
0.0 ** (n - 9)
pow(2, n, 0)
complex(x)
f"{x:.3f}"
x.astype("nope")
x.take([99])
x.sum(axis=1)
x.reshape(4, -1)
x + x[:2]
x < x[:2]
x[99]
x[0, 0]
[1.0, 2.0][n]
{"a": 1}["b"]
{[]: 1}
1j < 2j
max(1j, 2j)
float("abc")
len(n)
list(n)
a, b = x
[n] + (1,)
(1,) + [n]
[1, 2, 3][np.float64(1.0)]
isinstance(n, 3)
functools.partial(3)
dataclasses.fields(n)
[n].insert("a", n)
np.histogram(x, bins=0)
""".strip().splitlines()

NATIVE = ['"%d" % "a"', "chr(-n)"]
"""What Python derivatives run as it stands."""


NAMES = {
    "np": np, "math": math, "functools": functools, "dataclasses": dataclasses, "__name__": __name__,
}  # fmt: skip


def program(statement):
    """A function that does something in vain before it gives its result."""
    text = f"def f(x, n):\n    {statement}\n    return x[0] * n\n"
    name, namespace = f"<statement {statement}>", dict(NAMES)
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    exec(compile(text, name, "exec"), namespace)
    return namespace["f"]


def arguments():
    return np.arange(6.0) + 0.5, 2


@pytest.mark.parametrize("statement", STATEMENTS)
def test_G3_derivatives(statement):
    f = program(statement)
    expected = outcome(f, *arguments())
    assert issubclass(expected[0], Exception)
    assert outcome(wg.value_and_grad(f), *arguments()) == expected
    assert outcome(lambda *args: wg.pushforward(f, *args)[0], *arguments()) == expected


@pytest.mark.parametrize("statement", STATEMENTS + NATIVE)
def test_G3_native_code(statement):
    pytest.importorskip("llvmlite")
    f = program(statement)
    expected = outcome(f, *arguments())
    assert issubclass(expected[0], Exception)
    assert outcome(wg.jit(f), *arguments()) == expected


def catching(statement):
    """The same, where the program catches what is raised."""
    lines = ["def f(x, n):", "    try:", f"        {statement}", "    except Exception as error:"]
    lines += ["        return x[0] * len(type(error).__name__)", "    return x[0] * n", ""]
    text = "\n".join(lines)
    name, namespace = f"<caught {statement}>", dict(NAMES)
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    exec(compile(text, name, "exec"), namespace)
    return namespace["f"]


@pytest.mark.filterwarnings("ignore::wengert.errors.NativeWarning")
@pytest.mark.parametrize("statement", [*STATEMENTS, *NATIVE, "'a' * x[0]", "f'{n!s:.2f}{[]:d}'"])
def test_what_is_raised_for_nothing_is_caught(statement):
    f = catching(statement)
    expected = f(*arguments())
    assert expected > 2
    for derive in (wg.value_and_grad, lambda f: wg.jit(wg.value_and_grad(f))):
        value, found = derive(f)(*arguments())
        assert value == expected
        np.testing.assert_allclose(found, np.eye(6)[0] * expected / 0.5)


CANNOT_RAISE = """
x * 2 + 1
np.sin(x)
x.sum()
np.mean(x, axis=0)
np.cumsum(x)
np.exp(-x) / 3
np.zeros(3)
np.zeros_like(x)
x.shape
np.asarray(x)
x > 2
(x, n)
""".strip().splitlines()


@pytest.mark.parametrize("statement", CANNOT_RAISE)
def test_what_cannot_raise_is_left_out(statement):
    assert "evaluated" not in str(wg.code_ir(program(f"y = {statement}"), *arguments()))


TOTAL = {
    "argwhere", "array", "asarray", "ascontiguousarray", "asfortranarray", "closure", "count_nonzero", "cumprod",
    "cumsum", "empty_like", "flat", "flatnonzero", "flatten", "gather", "global", "iscomplexobj", "means", "ndim",
    "ones_like", "outer", "pack", "ravel", "ruled", "shape", "shaped", "size", "slice", "tolist", "unknown_where",
    "unrow", "valued", "zeros_like",
}  # fmt: skip


def test_an_op_may_raise_unless_its_row_says_that_it_cannot():
    """What NumPy or Python spells is total only by name; a helper of derivatives is, unless it says otherwise."""
    assert {op.name for op in ops() if op.total and set(op.spellings) != {"rt"}} == TOTAL
