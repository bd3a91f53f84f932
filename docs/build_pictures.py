"""Draws the pictures in docs/pictures, which docs/graphs.md shows."""

from pathlib import Path
from typing import Any

import numpy as np

import wengert as wg

FOLDER = Path(__file__).with_name("pictures")


def diamond() -> str:
    """A value that is used twice, with the values and gradients of one backpropagation."""
    g = wg.Graph()
    a, b, c = g.variables("a", "b", "c")
    f = a * (b - a) + c
    f.backprop(a=1.5, b=1.0, c=7.0)
    g.set(a=1.5, b=1.0, c=7.0)
    f.eval()
    return f.to_svg(show_values=True)


def gaussian() -> str:
    """exp(-x²) with its first three derivatives, which share what they can."""
    (x,) = wg.Graph().variables("x")
    f = np.exp(-x * x)
    orders = [f, f.derive(x), f.derive(x).derive(x), f.derive(x).derive(x).derive(x)]
    return orders[0].to_svg(*orders[1:])


def gaussian_growing() -> str:
    """The same, order by order."""
    (x,) = wg.Graph().variables("x")
    f = np.exp(-x * x)
    orders = [f, f.derive(x), f.derive(x).derive(x), f.derive(x).derive(x).derive(x)]
    return orders[0].to_animated_svg(*orders[1:], of=("derive",))


def diamond_sweeping() -> str:
    """A diamond, forward and back: each node as it gets its value, then as it gets its gradient."""
    g = wg.Graph()
    a, b, c = g.variables("a", "b", "c")
    g.set(a=1.5, b=1.0, c=7.0)
    return (a * (b - a) + c).to_animated_svg(of=("eval", "backprop"))


def misfit() -> tuple[wg.Graph, Any]:
    """The squared misfit of two peaks at one sample."""
    g = wg.Graph()
    mu0, sigma0, mu1, sigma1 = g.variables("mu0", "sigma0", "mu1", "sigma1")
    x, y = 0.5, 0.584
    fit = np.exp(-(((x - mu0) / sigma0) ** 2)) + np.exp(-(((x - mu1) / sigma1) ** 2))
    return g, (fit - y) ** 2


def peaks_sweeping() -> str:
    """The misfit of two peaks, forward and back."""
    g, loss = misfit()
    g.set(mu0=-1.0, sigma0=1.0, mu1=1.0, sigma1=1.0)
    return loss.to_animated_svg(of=("eval", "backprop"))


def peaks() -> str:
    """The misfit of two peaks, and how it changes with the first one's middle."""
    g, loss = misfit()
    return loss.to_svg(loss.gradient(*g.variables("mu0"))[0])


PICTURES = {
    "diamond.svg": diamond,
    "diamond-sweeping.svg": diamond_sweeping,
    "gaussian.svg": gaussian,
    "gaussian-growing.svg": gaussian_growing,
    "peaks.svg": peaks,
    "peaks-sweeping.svg": peaks_sweeping,
}

if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for name, draw in PICTURES.items():
        (FOLDER / name).write_text(draw(), encoding="utf-8")
