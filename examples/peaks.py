"""Separating two overlapping peaks: gradient descent on six parameters of a plain function."""

import math

import wengert as wg

XS = [i / 10 for i in range(-40, 40)]
RATE = 0.01


def truth(x):
    return 0.75 * math.exp(-((x - 0.8) ** 2) / 0.35) + 0.5 * math.exp(-((x + 0.3) ** 2) / 0.5)


def peak(x, mu, sigma, scale):
    return scale * math.exp(-((x - mu) ** 2) / sigma**2)


def loss(peaks, xs, ys):
    total = 0.0
    for x, y in zip(xs, ys, strict=True):
        fitted = sum(peak(x, **shape) for shape in peaks)
        total += (fitted - y) ** 2
    return total


ys = [truth(x) for x in XS]
peaks = [{"mu": -1.0, "sigma": 1.0, "scale": 1.0}, {"mu": 1.0, "sigma": 1.0, "scale": 1.0}]
loss_and_gradient = wg.value_and_grad(loss)

for step in range(500):
    value, gradient = loss_and_gradient(peaks, XS, ys)
    if step % 100 == 0:
        print(f"step {step:3}: loss {value:.3e}")
    peaks = [
        {name: shape[name] - RATE * slope[name] for name in shape}
        for shape, slope in zip(peaks, gradient, strict=True)
    ]

print("final loss:", loss(peaks, XS, ys))
for shape in peaks:
    print(*(f"{name} = {value}" for name, value in shape.items()), sep="  ")
