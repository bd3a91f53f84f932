"""Functions for `native.py`, and their adjoints written by hand in C, as a careful person would.

Every C function takes what the Python function takes and writes the value and the gradients. They are
compiled with `-O3 -march=native -ffast-math`, so that loops over elements use the vector functions of libmvec.
"""

import ctypes
import math
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import workloads


@dataclass(frozen=True, slots=True)
class Native:
    """A function, arguments, and the name of its C adjoint.

    `results` are the arguments, by number, whose gradients C writes (a number or an array each).
    """

    name: str
    function: Callable[..., Any]
    arguments: tuple[Any, ...]
    argnums: int | tuple[int, ...]
    c_name: str
    results: tuple[int, ...]


def small(x):
    return math.sin(x * x)


def newton(a):
    x = a
    while abs(x * x - a) > 1e-12 * a:
        x = 0.5 * (x + a / x)
    return x


def logistic_map(r, x, n):
    for _ in range(n):
        x = r * x * (1 - x)
    return x


def black_scholes(s, k, t):
    root = 0.2 * np.sqrt(t)
    d = (np.log(s / k) + 0.06 * t) / root
    e = d - root
    call = s / (1 + np.exp(-1.702 * d)) - k * np.exp(-0.04 * t) / (1 + np.exp(-1.702 * e))
    return np.sum(call)


C = r"""
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

void nothing(void) {}

void small(double x, double *restrict out, double *restrict g) { *out = sin(x * x); *g = 2 * x * cos(x * x); }

void sincos(double x, double *restrict out, double *restrict g)
{
    double c = cos(x);
    *out = sin(c);
    *g = -cos(c) * sin(x);
}

void loop(double x, int64_t n, double *restrict out, double *restrict g)
{
    double *rs = malloc(sizeof *rs * (size_t)(n > 0 ? n : 1)), r = 1, s = sin(x), c = cos(x);
    for (int64_t k = 0; k < n; k++) { rs[k] = r; r *= s; }
    double r_bar = 1, x_bar = 0;
    for (int64_t k = n - 1; k >= 0; k--) { x_bar += r_bar * rs[k] * c; r_bar *= s; }
    free(rs);
    *out = r; *g = x_bar;
}

void logsumexp(const double *x, int64_t n, double *restrict out, double *restrict g)
{
    double m = x[0], total = 0;
    for (int64_t i = 0; i < n; i++) m = x[i] > m ? x[i] : m;
    for (int64_t i = 0; i < n; i++) { g[i] = exp(x[i] - m); total += g[i]; }
    double scale = 1 / total;
    for (int64_t i = 0; i < n; i++) g[i] *= scale;
    *out = m + log(total);
}

void logistic(const double *w, const double *b, const double *x, int64_t m, int64_t n,
              double *restrict out, double *restrict wg, double *restrict bg, double *restrict xg)
{
    double total = 0;
    memset(xg, 0, sizeof *xg * (size_t)n);
    for (int64_t i = 0; i < m; i++) {
        double z = b[i];
        for (int64_t j = 0; j < n; j++) z += w[i * n + j] * x[j];
        double s = 1 / (1 + exp(-z)), d = s * (1 - s);
        total += s;
        bg[i] = d;
        for (int64_t j = 0; j < n; j++) { wg[i * n + j] = d * x[j]; xg[j] += d * w[i * n + j]; }
    }
    *out = total;
}

void mlp(const double *w1, const double *b1, const double *w2, const double *b2, const double *x,
         int64_t label, int64_t h, int64_t n, int64_t c,
         double *restrict out, double *restrict w1g, double *restrict b1g, double *restrict w2g, double *restrict b2g)
{
    double a[64], z[64], m = -INFINITY, total = 0;
    for (int64_t i = 0; i < h; i++) {
        double t = b1[i];
        for (int64_t j = 0; j < n; j++) t += w1[i * n + j] * x[j];
        a[i] = t > 0 ? t : 0;
    }
    for (int64_t i = 0; i < c; i++) {
        double t = b2[i];
        for (int64_t j = 0; j < h; j++) t += w2[i * h + j] * a[j];
        z[i] = t;
        m = t > m ? t : m;
    }
    for (int64_t i = 0; i < c; i++) { b2g[i] = exp(z[i] - m); total += b2g[i]; }
    for (int64_t i = 0; i < c; i++) b2g[i] /= total;
    *out = m + log(total) - z[label];
    b2g[label] -= 1;
    memset(b1g, 0, sizeof *b1g * (size_t)h);
    for (int64_t i = 0; i < c; i++)
        for (int64_t j = 0; j < h; j++) { w2g[i * h + j] = b2g[i] * a[j]; b1g[j] += b2g[i] * w2[i * h + j]; }
    for (int64_t i = 0; i < h; i++) {
        b1g[i] = a[i] > 0 ? b1g[i] : 0;
        for (int64_t j = 0; j < n; j++) w1g[i * n + j] = b1g[i] * x[j];
    }
}

void newton(double a, double *restrict out, double *restrict g)
{
    double xs[128], x = a, x_bar = 1, a_bar = 0;
    int k = 0;
    while (fabs(x * x - a) > 1e-12 * a) { xs[k++] = x; x = 0.5 * (x + a / x); }
    *out = x;
    while (k--) {
        double h = 0.5 * x_bar, inverse = 1 / xs[k];
        a_bar += h * inverse;
        x_bar = h - h * a * inverse * inverse;
    }
    *g = a_bar + x_bar;
}

void logistic_map(double r, double x, int64_t n, double *restrict out, double *restrict rg, double *restrict xg)
{
    double *xs = malloc(sizeof *xs * (size_t)(n > 0 ? n : 1)), x_bar = 1, r_bar = 0;
    for (int64_t k = 0; k < n; k++) { xs[k] = x; x = r * x * (1 - x); }
    *out = x;
    for (int64_t k = n - 1; k >= 0; k--) {
        r_bar += x_bar * xs[k] * (1 - xs[k]);
        x_bar *= r * (1 - 2 * xs[k]);
    }
    free(xs);
    *rg = r_bar; *xg = x_bar;
}

void black_scholes(const double *s, const double *k, const double *t, int64_t n,
                   double *restrict out, double *restrict sg, double *restrict kg, double *restrict tg)
{
    double total = 0;
    for (int64_t i = 0; i < n; i++) {
        double q = sqrt(t[i]), root = 0.2 * q, d = (log(s[i] / k[i]) + 0.06 * t[i]) / root, e = d - root;
        double p = 1 / (1 + exp(-1.702 * d)), u = 1 / (1 + exp(-1.702 * e)), v = exp(-0.04 * t[i]);
        double dp = 1.702 * p * (1 - p) * s[i], du = -1.702 * u * (1 - u) * k[i] * v, dd = dp + du;
        total += s[i] * p - k[i] * v * u;
        sg[i] = p + dd / (root * s[i]);
        kg[i] = -v * u - dd / (root * k[i]);
        tg[i] = 0.04 * k[i] * v * u + dd * 0.06 / root - dd * d * 0.1 / (q * root) - du * 0.1 / q;
    }
    *out = total;
}
"""


def natives() -> list[Native]:
    """The workloads, with the same random arrays every time."""
    rng = np.random.default_rng(1)
    five = {each.name: each for each in workloads.workloads()}

    def of_table(name: str, c_name: str, results: tuple[int, ...]) -> Native:
        each = five[name]
        return Native(name, each.function, each.arguments, each.argnums, c_name, results)

    large = rng.normal(size=10**4)
    options = tuple(rng.uniform(0.5, 2.0, 10**6) for _ in range(3))
    return [
        Native("small call: sin(x²)", small, (0.7,), 0, "small", (0,)),
        of_table("SinCos", "sincos", (0,)),
        of_table("Loop", "loop", (0,)),
        of_table("LogSumExp", "logsumexp", (0,)),
        Native("LogSumExp 10⁴", workloads.logsumexp, (large,), 0, "logsumexp", (0,)),
        of_table("Logistic regression", "logistic", (0, 1, 2)),
        of_table("MLP 784-32-10", "mlp", (0, 1, 2, 3)),
        Native("Newton", newton, (1e12,), 0, "newton", (0,)),
        Native("logistic map 10⁶", logistic_map, (3.2, 0.4, 10**6), (0, 1), "logistic_map", (0, 1)),
        Native("Black–Scholes 10⁶", black_scholes, options, (0, 1, 2), "black_scholes", (0, 1, 2)),
    ]


def c_library() -> ctypes.CDLL | None:
    """The C adjoints, compiled now; None without a C compiler."""
    gcc = shutil.which("gcc")
    if gcc is None:
        return None
    with tempfile.TemporaryDirectory() as folder:
        source, library = Path(folder, "adjoints.c"), Path(folder, "adjoints.so")
        source.write_text(C, encoding="utf-8")
        flags = ["-O3", "-march=native", "-ffast-math", "-shared", "-fPIC"]
        subprocess.run([gcc, *flags, source, "-o", library, "-lm"], check=True)
        return ctypes.CDLL(str(library))


class CAdjoint:
    """A C adjoint, and memory for what it writes; `nothing` takes the same arguments and returns at once."""

    def __init__(self, library: ctypes.CDLL, native: Native):
        self.function = getattr(library, native.c_name)
        self.nothing = library.nothing
        self.function.restype = self.nothing.restype = None
        arguments, sizes = [], []
        for value in native.arguments:
            if isinstance(value, np.ndarray):
                arguments.append(value.ctypes.data_as(ctypes.c_void_p))
                sizes += [n for n in value.shape if n not in sizes]
            else:
                kind = ctypes.c_double if isinstance(value, float) else ctypes.c_int64
                arguments.append(kind(value))
        self.value = ctypes.c_double()
        self.gradients = [self._memory(native.arguments[k]) for k in native.results]
        outs = [g.ctypes.data_as(ctypes.c_void_p) for g in self.gradients]
        numbers = [ctypes.c_int64(n) for n in sizes]
        self.arguments = (*arguments, *numbers, ctypes.byref(self.value), *outs)

    @staticmethod
    def _memory(like: Any) -> Any:
        return np.empty(np.shape(like))

    def run(self) -> None:
        self.function(*self.arguments)
