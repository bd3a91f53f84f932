"""Options that only the run knows have no native form, or have one: none is a mistake of wengert's."""

import linecache

import numpy as np
import pytest
from native_outcomes import outcome

import wengert as wg

pytest.importorskip("llvmlite")


@pytest.fixture(autouse=True)
def own_cache(tmp_path_factory, monkeypatch):
    monkeypatch.setenv("WENGERT_CACHE", str(tmp_path_factory.getbasetemp() / "native"))


EXPRESSIONS = """
np.expand_dims(x, k)
np.trace(x, k)
np.triu(x, k)
np.tril(x, k)
np.diag(x, k)
np.diagonal(x, k)
np.sum(x, axis=k)
np.max(x, axis=k)
np.argmax(x, axis=k)
np.cumsum(x, axis=k)
np.sort(x, axis=k)
np.flip(x, k)
np.roll(x, 1, axis=k)
np.diff(x, n=k)
np.take(x, [0, 1], axis=k)
np.repeat(x, 2, axis=k)
np.tile(x, k)
np.swapaxes(x, 0, k)
np.moveaxis(x, 0, k)
np.concatenate([x, x], axis=k)
np.stack([x, x], axis=k)
np.split(x, k + 1)
np.var(x, ddof=k)
np.quantile(x, 0.5, axis=k)
np.partition(x, k)
np.pad(x, k)
np.linalg.norm(x, k)
np.linalg.matrix_power(x[:2, :2], k)
np.eye(3, k=k)
np.vander(x[0], k)
np.delete(x, 0, axis=k)
np.rot90(x, k)
np.tensordot(x, x.T, k)
np.round(x, k)
np.sum(x, keepdims=bool(k))
np.linspace(0, 1, 5, endpoint=bool(k))
np.maximum.accumulate(x, axis=k)
np.trapezoid(x, axis=k)
np.digitize(x, x[0], right=bool(k))
x.flatten("F" if k else "C")
x.dot(0.5)
np.dot(x, k)
(1 + x) ** np.asarray(k)
np.asarray(k) ** x
""".strip().splitlines()


def programs(expression):
    text = f"def f(x, k):\n    return {expression}\ndef total(x, k):\n    return np.sum({expression})\n"
    name, namespace = f"<option of {expression}>", {"np": np}
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    exec(compile(text, name, "exec"), namespace)
    return namespace["f"], namespace["total"]


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_D_options_that_are_arguments(expression):
    f, total = programs(expression)
    x = np.arange(6.0).reshape(2, 3) + 0.5
    for function in (f, wg.value_and_grad(total), wg.jacobian(f, mode="forward")):
        compiled = wg.jit(function)
        for k in (0, 1, 2):
            expected, found = outcome(function, x, k), outcome(compiled, x, k)
            if function is f or issubclass(expected[0], Exception):
                assert found[:1] == expected[:1]
        assert "WG901" not in compiled.explain()


def scaled(a):
    return np.array([[0.0, 1.0], [-1.0, -a]]).dot(0.1)[1, 1]


def powers(r):
    return (1 + r) ** np.asarray(12)


def test_F3_a_product_with_a_number():
    value, slope = wg.jit(wg.value_and_grad(scaled), strict=True)(0.3)
    assert (value, slope) == pytest.approx((-0.03, -0.1))


def test_F3_an_exponent_of_no_axes():
    x = np.array([0.5, 0.2])
    found = wg.jit(wg.jacobian(powers), strict=True)(x)
    assert found == pytest.approx(np.diag(12 * (1 + x) ** 11))
