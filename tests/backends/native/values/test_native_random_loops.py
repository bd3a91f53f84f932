"""Random loops over arrays that are replaced, changed in place and summed: gradients, native against Python."""

import random
import warnings

import numpy as np
import pytest

import wengert as wg
from wengert.errors import NotNative, WengertError

pytest.importorskip("llvmlite")

PROGRAMS = 12
EXPRESSIONS = ["np.sin({a})", "{a} * {b}", "{a} + {b}", "{a} - 0.5 * {b}", "np.exp(-{a} * {a})"]
STATEMENTS = [
    "y = {expression}",
    "s[1:] = {a}[:-1] * w[1]",
    "s[{k} % m] = y[2] * w[0]",
    "s += {expression}",
    "total += np.sum(s * y)",
    "y = y * w[2] + s",
    "total = total * 0.5 + np.max(y) + s[{k} % m]",
    "y[:2] = s[1:3] * 0.7",
    "total += np.sum((y[: {k} % m + 1] * w[1]) ** 2)",
    "s = s * 0.5 + y",
]


def block(rng, depth, k):
    lines = []
    for _ in range(rng.randint(1, 4)):
        if depth < 2 and rng.random() < 0.2:
            lines.append(f"for j{depth} in range({rng.choice(['2', 'm', k + ' % 3'])}):")
            lines += ["    " + line for line in block(rng, depth + 1, f"j{depth}")]
            continue
        a, b = rng.choice("xy"), rng.choice("xy")
        expression = rng.choice(EXPRESSIONS).format(a=a, b=b)
        lines.append(rng.choice(STATEMENTS).format(a=a, expression=expression, k=k))
    return lines


def program(seed):
    rng = random.Random(seed)
    lines = ["y, s, total, m = x.copy(), x * 0.3, 0.0, len(x)", "for k in range(n):"]
    lines += ["    " + line for line in block(rng, 0, "k")]
    lines += ["return total + np.sum(y * y) + np.sum(s)"]
    return "import numpy as np\n\n\ndef f(x, w, n):\n" + "".join(f"    {one}\n" for one in lines)


def function_of(source, folder):
    path = folder / "program.py"
    path.write_text(source, encoding="utf-8")
    namespace = {}
    exec(compile(source, str(path), "exec"), namespace)
    return namespace["f"]


@pytest.mark.parametrize("seed", range(PROGRAMS))
def test_random_loops(seed, tmp_path, monkeypatch):
    monkeypatch.setenv("WENGERT_CACHE", "off")
    source = program(seed)
    gradient = wg.value_and_grad(function_of(source, tmp_path), (0, 1))
    numbers = np.random.default_rng(seed)
    x, w = numbers.normal(size=4) / 2, numbers.normal(size=3) / 2
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            value, bars = gradient(x, w, 5)
        except WengertError as error:
            pytest.skip(f"no derivative: {error}")
        try:
            found, found_bars = wg.jit(gradient, strict=True)(x, w, 5)
        except NotNative as error:
            pytest.skip(f"no native form: {error}")
    np.testing.assert_allclose(found, value, rtol=1e-9, err_msg=source)
    for bar, expected in zip(found_bars, bars):
        np.testing.assert_allclose(bar, expected, rtol=1e-8, atol=1e-10, err_msg=source)
