"""Nonlinear regression on NIST's certified data sets: plain models, derivatives by wengert."""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from scipy.optimize import least_squares, root

import wengert as wg


def misra1a(b, x):
    return b[0] * (1 - np.exp(-b[1] * x))


def gauss1(b, x):
    peaks = [b[i] * np.exp(-((x - b[i + 1]) ** 2) / b[i + 2] ** 2) for i in (2, 5)]
    return b[0] * np.exp(-b[1] * x) + sum(peaks)


def lanczos3(b, x):
    return b[0] * np.exp(-b[1] * x) + b[2] * np.exp(-b[3] * x) + b[4] * np.exp(-b[5] * x)


def mgh09(b, x):
    return b[0] * (x**2 + x * b[1]) / (x**2 + x * b[2] + b[3])


def thurber(b, x):
    return (b[0] + b[1] * x + b[2] * x**2 + b[3] * x**3) / (1 + x * (b[4] + b[5] * x + b[6] * x**2))


def loss(b, model, x, y):
    return np.sum((model(b, x) - y) ** 2)


def fit(b, model, x, y):
    jac = wg.jacobian(model)
    b = least_squares(lambda b, x: model(b, x) - y, b, jac, args=(x,), method="lm", max_nfev=999).x
    return root(wg.grad(loss), b, (model, x, y), jac=wg.hessian(loss), tol=1e-14).x  # last digits


plt.figure(figsize=(18, 3.6), layout="constrained")
for i, model in enumerate((misra1a, gauss1, lanczos3, mgh09, thurber), 1):
    file = Path(__file__).parent / "data" / "nist" / f"{model.__name__}.dat"
    y, x = np.loadtxt(file, skiprows=60, unpack=True)
    rows = [line.split()[2:5] for line in file.read_text().splitlines() if line.startswith("  b")]
    *starts, certified = np.array(rows).astype(float).T
    fits = [fit(start, model, x, y) for start in starts]
    print(f"\n{model.__name__:12}certified         from start 1      from start 2      to 1e-10")
    for k, row in enumerate(np.transpose([certified, *fits]), 1):
        print(f"  b{k}  ", *np.char.mod("%.10E", row), np.allclose(row, row[0], 1e-10, 0), sep="  ")
    grid = np.linspace(x.min(), x.max(), 300)
    plt.subplot(1, 5, i, title=model.__name__, xlabel="x", ylabel="y")
    plt.plot(x, y, ".", grid, model(fits[0], grid), grid, model(fits[1], grid), "--")
    plt.legend(["data", "fit from start 1", "fit from start 2"])
plt.savefig("nist.png")
print("\nData and fits are drawn in", Path("nist.png").resolve())
print("\nThe gradient of misra1a's sum of squares:\n")
print(wg.grad(loss).specialize(np.ones(2), misra1a, x, y).source.rpartition("\n\n\n")[2])
