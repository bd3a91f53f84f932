"""Complex numbers inside and as arguments."""

import cmath
import math

import numpy as np

from .registry import add


def squared_size(z):
    return z.real**2 + z.imag**2


add(squared_size, (1 + 2j,), (-0.5 + 0.1j,))


def size(z):
    return abs(z * z + 1)


add(size, (1 + 2j,), (0.3 - 0.4j,))


def real_part_of_polynomial(z, w):
    value = z**3 + 2 * w * z - 1j * w
    return value.real + 3 * value.imag


add(real_part_of_polynomial, (1 + 2j, 0.5 - 1j))


def exponential(z):
    w = cmath.exp(1j * z) + cmath.sin(z) / cmath.sqrt(z + 3)
    return (w * w.conjugate()).real


add(exponential, (0.3 + 0.4j,))


def complex_inside(x, y):
    z = complex(x, y)
    w = (z + 1j) / (z - 2)
    return abs(w) + cmath.phase(z)


add(complex_inside, (1.5, 0.5))


def mandelbrot_distance(c):
    z = 0j
    for _ in range(5):
        z = z * z + c
    return abs(z) ** 2


add(mandelbrot_distance, (0.2 + 0.3j,), (-0.5 + 0.5j,))


def escape(c):
    z = c
    n = 0
    while abs(z) < 2 and n < 30:
        z = z * z + c
        n += 1
    return n + abs(z)


add(escape, (0.6 + 0.6j,), smooth=True)


def real_argument_stays_real(x):
    z = x * (1 + 2j) + 1j
    return (z.conjugate() * z * 1j + z**2).imag


add(real_argument_stays_real, (0.3,))


def complex_array(z):
    w = np.exp(1j * z) * np.conj(z)
    return np.sum(np.abs(w) ** 2) + np.sum(np.real(z) * np.imag(w))


add(complex_array, (np.array([0.5 + 0.1j, -0.3 + 0.7j]),))


def fourier_by_hand(signal):
    n = len(signal)
    total = 0.0
    for k in range(n):
        term = 0j
        for t in range(n):
            angle = -2 * math.pi * k * t / n
            term = term + signal[t] * complex(math.cos(angle), math.sin(angle))
        total = total + abs(term) ** 2 / (k + 1)
    return total


add(fourier_by_hand, ([1.0, 2.0, -0.5],), (np.array([0.3, -1.0, 2.0, 0.7]),))


def complex_result(x, y):
    return x * y + 1j * math.sin(x)


add(complex_result, (0.5, 2.0))


def holomorphic_result(z):
    return z * z * z - cmath.log(z)


add(holomorphic_result, (1 + 2j,))


def impedance(resistance, inductance, capacitance):
    omega = 50.0
    z = resistance + 1j * omega * inductance + 1 / (1j * omega * capacitance)
    return abs(1 / z)


add(impedance, (10.0, 0.5, 0.001))
