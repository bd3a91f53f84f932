"""Loops of every shape."""

import math

import numpy as np

from .registry import add


def power(x, n):
    r = 1
    while n > 0:
        n -= 1
        r *= x
    return r


add(power, (5.0, 3), (1.5, 0), (2.0, 1), wrt=(0,))


def geometric_sum(x, n):
    total = 0.0
    for k in range(n):
        total += x**k / (k + 1)
    return total


add(geometric_sum, (0.5, 6), (0.5, 0), (2.0, 1), wrt=(0,))


def babylonian(a):
    x = a
    while abs(x * x - a) > 1e-9:
        x = 0.5 * (x + a / x)
    return x


add(babylonian, (2.0,), (50.0,), smooth=False, note="the trip count depends on the value")


def logistic_map(r, x, n):
    for _ in range(n):
        x = r * x * (1 - x)
    return x


add(logistic_map, (3.1, 0.2, 8), wrt=(0, 1))


def stepped_ranges(x):
    total = 0
    for i in range(1, 8, 3):
        total = total + i * x
    for i in range(5, -1, -2):
        total = total * x + i
    return total


add(stepped_ranges, (0.7,), (-1.2,))


def over_a_list(xs):
    product = 1.0
    for x in xs:
        product = product * x
    return product


add(over_a_list, ([2.0, 3.0, 5.0],), ((1.5, -2.0),), (np.array([1.0, 2.0, 6.0]),))


def over_rows(matrix):
    total = 0.0
    for row in matrix:
        largest = 0.0
        for item in row:
            largest = largest + item * item
        total = total + math.sqrt(largest)
    return total


add(over_rows, (np.array([[1.0, 2.0], [3.0, -1.0]]),), ([[1.0, 2.0, 2.0], [0.5]],))


def zipped(xs, ys):
    total = 0.0
    for x, y in zip(xs, ys):
        total += x * y * y
    return total


add(zipped, ([1.0, 2.0, 3.0], [4.0, 5.0]), (np.array([1.0, 2.0]), (0.5, 0.25)))


def enumerated(xs):
    total = 0.0
    for i, x in enumerate(xs, 1):
        total += x**i
    for i, (a, b) in enumerate(zip(xs, xs[1:])):
        total += i * a * b
    return total


add(enumerated, ([1.5, 2.0, -3.0],), (np.array([0.5, 2.0, 3.0]),))


def backwards(xs):
    result = 0.0
    for x in reversed(xs):
        result = result * 0.5 + x * x
    for i in reversed(range(3)):
        result = result * xs[0] + i
    return result


add(backwards, ([1.0, 2.0, 3.0],))


def over_dictionary(prices, amounts):
    total = 0.0
    for name, price in prices.items():
        total += price * amounts[name]
    for name in prices:
        total += prices[name] ** 2
    for amount in amounts.values():
        total += math.sin(amount)
    return total


add(over_dictionary, ({"a": 2.0, "b": 3.0}, {"b": 0.5, "a": 1.5}))


def breaks(x, n):
    total = 0.0
    for i in range(n):
        total += x * i
        if total > 3:
            break
        total *= 1.1
    return total


add(breaks, (1.0, 10), (0.01, 3), wrt=(0,))


def continues(xs):
    total = 0.0
    for x in xs:
        if x < 0:
            continue
        if x > 10:
            total -= x
            continue
        total += x * x
    return total


add(continues, ([1.0, -2.0, 3.0, 20.0],))


def for_else(xs, limit):
    for x in xs:
        if x > limit:
            found = x * x
            break
    else:
        found = limit * 7
    return found


add(for_else, ([1.0, 5.0, 9.0], 3.0), ([1.0, 2.0], 3.0))


def while_else(x):
    n = 0
    while n < 5:
        n += 1
        x = x * 1.5
        if x > 10:
            break
    else:
        x = x + 100 * x
    return x * n


add(while_else, (1.0,), (4.0,))


def endless_with_return(x):
    n = 0
    while True:
        x = x * x + 0.5
        n += 1
        if x > 30:
            return x * n
        if n == 10:
            return x


add(endless_with_return, (1.1,), (0.3,))


def endless_with_break(x):
    while True:
        if x > 8:
            break
        x = x * 1.7
    return x * x


add(endless_with_break, (1.0,), (9.0,))


def fibonacci_like(a, b, n):
    for _ in range(n):
        a, b = b, a + b * b * 0.1
    return a * b


add(fibonacci_like, (0.5, 0.8, 6), (0.5, 0.8, 0), wrt=(0, 1))


def rotation(a, b, c):
    for i in range(4):
        a, b, c = b, c, a
        if i == 2:
            b = b * c
    return a + 2 * b + 3 * c


add(rotation, (1.0, 2.0, 3.0))


def nested_loops(x, n):
    total = 0.0
    for i in range(n):
        inner = 1.0
        for j in range(i):
            inner = inner * x + j
            if inner > 20:
                break
        total = total + inner
    return total


add(nested_loops, (1.5, 5), (3.0, 4), wrt=(0,))


def nested_early_return(matrix, limit):
    total = 0.0
    for row in matrix:
        for item in row:
            total = total + item * item
            if total > limit:
                return total * item
        total = total * 0.5
    return total


MATRIX = [[1.0, 2.0], [3.0, 4.0]]
add(nested_early_return, (MATRIX, 3.0), (MATRIX, 8.0), (MATRIX, 100.0))


def continue_in_nested(n, x):
    total = 0.0
    for i in range(n):
        j = 0
        while j < 3:
            j += 1
            if (i + j) % 2:
                continue
            total += x**j
            if total > 50:
                break
        else:
            total += x
            continue
        return total
    return -total


add(continue_in_nested, (3, 1.2), (4, 3.0), wrt=(1,))


def index_after_loop(xs):
    for i, x in enumerate(xs):
        last = x * 2
    return last * (i + 1) + x


add(index_after_loop, ([1.0, 2.0, 3.0],))


def changing_type(n, x):
    total = 0
    for k in range(n):
        total = total + x * k
    return total


add(changing_type, (4, 1.5), (1, 2.0), wrt=(1,))


def bisection(a, b):
    def value(t):
        return t * t * t - a * t - b

    low, high = 0.0, 4.0
    while high - low > 1e-6:
        middle = (low + high) / 2
        if value(middle) > 0:
            high = middle
        else:
            low = middle
    root = (low + high) / 2
    return root - value(root) / (3 * root * root - a)


add(bisection, (1.0, 2.0))


def newton(a):
    x = 1.0
    for _ in range(50):
        step = (math.cos(x) - a * x) / (-math.sin(x) - a)
        x = x - step
        if abs(step) < 1e-12:
            break
    return x


add(newton, (1.0,), (2.5,), smooth=False)


def collatz_like(x, n):
    while n != 1:
        if n % 2 == 0:
            n = n // 2
            x = x * 1.25
        else:
            n = 3 * n + 1
            x = x - 0.3
    return x * x


add(collatz_like, (1.0, 6), wrt=(0,))


def continued_fraction(x, depth):
    value = x
    for k in range(depth, 0, -1):
        value = k + x / value
    return value


add(continued_fraction, (1.7, 6), wrt=(0,))


def horner(coefficients, x):
    value = 0.0
    for c in reversed(coefficients):
        value = value * x + c
    return value


add(horner, ([1.0, -2.0, 0.5, 3.0], 1.3))


def arithmetic_geometric_mean(a, b):
    while abs(a - b) > 1e-6:
        a, b = (a + b) / 2, math.sqrt(a * b)
    return a


add(arithmetic_geometric_mean, (24.0, 6.0), (1.0, 1.1), smooth=False)
