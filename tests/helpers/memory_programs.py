"""Programs in the IR that write in place, with arguments."""

from __future__ import annotations

from typing import Any

import numpy as np

PROGRAMS: dict[str, tuple[str, tuple[Any, ...]]] = {
    # reads one element, writes the next
    "elements": (
        """
f(a: array[float64, 1], n: int) -> float:
    %1 = range(1, n)
    a.3 = for i in %1 with (a.1 = a):
        %2 = i - 1
        %3 = a.1[%2]
        %4 = a.1[i]
        %5 = %3 * %4
        a.2 = store(a.1, i, %5)
        yield a.2
    s: float = sum(a.3)
    return s
""",
        (np.array([1.1, 0.9, 1.3, 0.7]), 4),
    ),
    # a value of the whole array is needed after it was written to
    "residual": (
        """
f(a: array[float64, 1]) -> float:
    b = np.sin(a)
    c = a * b
    a.1 = store(a, 1, 5.0)
    d = c * a.1
    s: float = sum(d)
    return s
""",
        (np.array([1.1, 0.9, 1.3, 0.7]),),
    ),
    # slices of one array
    "slices": (
        """
f(u: array[float64, 1], n: int) -> float:
    %1 = range(n)
    u.3 = for i in %1 with (u.1 = u):
        a = u.1[2:]
        b = u.1[:-2]
        c = u.1[1:-1]
        %5 = a + b
        %6 = %5 * c
        %7 = %6 * 0.1
        %8 = c + %7
        u.2 = store(u.1, slice(1, -1, None), %8)
        yield u.2
    %9 = u.3 * u.3
    s: float = sum(%9)
    return s
""",
        (np.array([1.1, 0.9, 1.3, 0.7, 0.2, 0.4]), 3),
    ),
    # two buffers that change places in every iteration
    "swapped_buffers": (
        """
f(u: array[float64, 1], n: int) -> float:
    v = np.zeros_like(u)
    %1 = range(n)
    u.3, v.3 = for i in %1 with (u.1 = u, v.1 = v):
        a = u.1[2:]
        b = u.1[:-2]
        %5 = a + b
        %6 = %5 * 0.5
        v.2 = store(v.1, slice(1, -1, None), %6)
        yield v.2, u.1
    %9 = u.3 * u.3
    s: float = sum(%9)
    return s
""",
        (np.array([1.1, 0.9, 1.3, 0.7, 0.2, 0.4]), 3),
    ),
    # a view is needed after the array was written to
    "view": (
        """
f(a: array[float64, 2]) -> float:
    r = a[0]
    q = np.sin(r)
    w = r * q
    a.1 = store(a, 0, 1, 2.0)
    r.1 = a.1[0]
    z = r.1 * w
    a.2 = store(a.1, 1, z)
    %1 = a.2 * a.2
    s: float = sum(%1)
    return s
""",
        (np.array([[1.1, 0.9, 1.3], [0.7, 0.2, 0.4]]),),
    ),
    # an index that names an element twice
    "repeated_index": (
        """
f(a: array[float64, 1], v: array[float64, 1]) -> float:
    i = np.array((0, 2, 0))
    i2: array[int64, 1] = np.asarray(i)
    w = v * v
    a.1 = store(a, i2, w)
    %1 = a.1 * a.1
    s: float = sum(%1)
    return s
""",
        (np.array([1.1, 0.9, 1.3, 0.7]), np.array([0.3, 0.6, 0.8])),
    ),
    # a row and a number, repeated by the write
    "broadcast": (
        """
f(a: array[float64, 2], v: array[float64, 1], t: float) -> float:
    w = v * t
    a.1 = store(a, slice(0, 2, None), w)
    a.2 = store(a.1, (2, slice(None, None, None)), t)
    %1 = a.2 * a.2
    s: float = sum(%1)
    return s
""",
        (
            np.array([[0.0, 1.0, 2.0], [3.0, 4.0, 5.0], [6.0, 7.0, 8.0], [9.0, 10.0, 11.0]]),
            np.array([0.3, 0.6, 0.8]),
            1.5,
        ),
    ),
    # a real number in a complex array
    "real_in_complex": (
        """
f(z: array[complex128, 1], t: float) -> float:
    w = z * z
    z.1 = store(z, 1, t)
    q = w * z.1
    r = np.abs(q)
    %1 = r * r
    s: float = sum(%1)
    return s
""",
        (np.array([(1 + 2j), (0.3 - 1j), 0.5j]), 1.5),
    ),
    # a list that grows, and is walked over
    "appended": (
        """
f(a: array[float64, 1], n: int) -> float:
    xs: seq[float] = pack(form='list', keys=(), type=None)
    %1 = range(n)
    xs.3, t.3 = for i in %1 with (xs.1 = xs, t.1 = 1.0):
        %3 = a[i]
        t.2 = %3 * t.1
        xs.2 = append_item(xs.1, t.2)
        yield xs.2, t.2
    s.3 = for x in xs.3 with (s.1 = 0.0):
        %6 = x * x
        s.2 = s.1 + %6
        yield s.2
    return s.3
""",
        (np.array([1.1, 0.9, 1.3, 0.7]), 4),
    ),
    # insert, store, drop with negative positions
    "list_methods": (
        """
f(xs: seq[float], t: float) -> float:
    y = xs[0]
    z = y * t
    xs.1 = insert_item(xs, 1, z)
    xs.2 = store(xs.1, -1, t)
    xs.3 = drop(xs.2, 0)
    xs.4 = insert_item(xs.3, -1, y)
    u = xs.4[2]
    xs.5 = drop(xs.4, -2)
    s.3 = for x in xs.5 with (s.1 = u):
        %6 = x * x
        s.2 = s.1 * %6
        yield s.2
    return s.3
""",
        ([1.1, 0.9, 1.3, 0.7], 1.7),
    ),
    # a new key, a key that is there, a key that goes
    "dictionary": (
        """
f(d: ?, t: float) -> float:
    a: float = d['a']
    b = a * t
    d.1: ? = store(d, 'b', b)
    d.2: ? = store(d.1, 'a', 2.0)
    a.1: float = d.2['a']
    d.3: ? = drop(d.2, 'c')
    b.1: float = d.3['b']
    %1 = b.1 * a.1
    %2 = %1 * b
    return %2
""",
        ({"a": 1.1, "b": 0.9, "c": 1.3}, 1.7),
    ),
    # an element of an array in a list
    "element_of_item": (
        """
f(xs: seq[array[float64, 1]], n: int) -> float:
    %1 = range(n)
    xs.3 = for i in %1 with (xs.1 = xs):
        r = xs.1[i]
        y = r[0]
        z = y * y
        xs.2 = store(xs.1, i, 1, z)
        yield xs.2
    r.1 = xs.3[0]
    r.2 = xs.3[1]
    p = r.1 * r.2
    s: float = sum(p)
    return s
""",
        ([np.array([1.1, 0.9]), np.array([1.3, 0.7])], 2),
    ),
    # an item that is an array takes the place of another
    "item_replaced": (
        """
f(xs: seq[array[float64, 1]], n: int) -> float:
    r = xs[0]
    q = np.sin(r)
    xs.1 = store(xs, 0, q)
    r.1 = xs.1[0]
    r.2 = xs.1[1]
    p = r.1 * r.2
    xs.2 = store(xs.1, 1, 0, 3.0)
    r.3 = xs.2[1]
    p.1 = r.3 * p
    s: float = sum(p.1)
    return s
""",
        ([np.array([1.1, 0.9]), np.array([1.3, 0.7])], 2),
    ),
    # the whole array, by a value of itself
    "overwritten": (
        """
f(a: array[float64, 1], b: array[float64, 1], n: int) -> float:
    %1 = range(n)
    a.3 = for i in %1 with (a.1 = a):
        %2 = a.1 * b
        %3 = a.1 + %2
        a.2 = overwrite(a.1, %3)
        yield a.2
    %9 = a.3 * a.3
    s: float = sum(%9)
    return s
""",
        (np.array([1.1, 0.9, 1.3, 0.7]), np.array([0.1, 0.2, 0.3, 0.4]), 3),
    ),
    # one branch writes
    "one_branch": (
        """
f(a: array[float64, 1], n: int) -> float:
    %1 = range(1, n)
    a.4 = for i in %1 with (a.1 = a):
        %2 = i - 1
        %3 = a.1[%2]
        %4 = a.1[i]
        %5 = %3 > 1.0
        a.3 = if %5:
            %6 = %3 * %4
            a.2 = store(a.1, i, %6)
            yield a.2
        else:
            yield a.1
        yield a.3
    %9 = a.4 * a.4
    s: float = sum(%9)
    return s
""",
        (np.array([1.1, 0.9, 1.3, 0.7]), 4),
    ),
    # both branches write
    "both_branches": (
        """
f(a: array[float64, 1], n: int) -> float:
    %1 = range(1, n)
    a.4 = for i in %1 with (a.1 = a):
        %2 = i - 1
        %5 = i > 1
        a.3 = if %5:
            %3 = a.1[%2]
            %4 = a.1[i]
            %6 = %3 * %4
            a.2 = store(a.1, i, %6)
            yield a.2
        else:
            %7 = a.1[0]
            a.5 = store(a.1, 3, %7)
            yield a.5
        yield a.3
    %9 = a.4 * a.4
    s: float = sum(%9)
    return s
""",
        (np.array([1.1, 0.9, 1.3, 0.7]), 4),
    ),
    # a table
    "table": (
        """
f(a: array[float64, 2], n: int) -> float:
    %1 = range(1, n)
    a.5 = for i in %1 with (a.1 = a):
        a.4 = for j in %1 with (a.2 = a.1):
            %2 = i - 1
            %3 = j - 1
            k = pack(i, j, form='tuple', keys=(0, 1), type=None)
            k.1 = pack(%2, j, form='tuple', keys=(0, 1), type=None)
            k.2 = pack(i, %3, form='tuple', keys=(0, 1), type=None)
            x = a.2[k.1]
            y = a.2[k.2]
            z = x * y
            a.3 = store(a.2, k, z)
            yield a.3
        yield a.4
    s: float = sum(a.5)
    return s
""",
        (np.array([[1.1, 0.9, 1.3], [0.7, 0.8, 0.5], [1.0, 1.2, 0.6]]), 3),
    ),
    # a loop that counts itself
    "while_loop": (
        """
f(a: array[float64, 1], n: int) -> float:
    a.3, i.3 = while (a.1 = a, i.1 = 1):
        %1 = i.1 < n
        yield %1
    do (a.2, i.2):
        %2 = i.2 - 1
        x = a.2[%2]
        y = a.2[i.2]
        z = x * y
        a.4 = store(a.2, i.2, z)
        i.4 = i.2 + 1
        yield a.4, i.4
    s: float = sum(a.3)
    return s
""",
        (np.array([1.1, 0.9, 1.3, 0.7]), 4),
    ),
    # the whole array is needed of every iteration
    "collected": (
        """
f(a: array[float64, 1], n: int) -> float:
    %1 = range(n)
    a.3, t.3 = for i in %1 with (a.1 = a, t.1 = 0.0):
        b = np.sin(a.1)
        c = b * a.1
        d: float = sum(c)
        t.2 = t.1 + d
        x = a.1[i]
        y = x * d
        a.2 = store(a.1, i, y)
        yield a.2, t.2
    s: float = sum(a.3)
    s.1 = s * t.3
    return s.1
""",
        (np.array([1.1, 0.9, 1.3, 0.7]), 3),
    ),
    # through a view made by a method
    "through_views": (
        """
f(a: array[float64, 2], t: float) -> float:
    b = a * a
    x = a[0, 1]
    y = x * t
    a.1 = store(a, .method.reshape(shape=(6,)), 4, y)
    a.2 = store(a.1, .attr.transpose(), 0, t)
    c = a.2 * b
    s: float = sum(c)
    return s
""",
        (np.array([[1.1, 0.9, 1.3], [0.7, 0.8, 0.5]]), 1.3),
    ),
    # real and imaginary parts
    "parts_of_complex": (
        """
f(z: array[complex128, 1], t: float) -> float:
    w = z * z
    z.1 = store(z, .attr.real(), 1, t)
    z.2 = store(z.1, .attr.imag(), slice(0, 2, None), t)
    q = w * z.2
    r = np.abs(q)
    %1 = r * r
    s: float = sum(%1)
    return s
""",
        (np.array([(1 + 2j), (0.3 - 1j), 0.5j]), 1.5),
    ),
    # nothing is known of the argument
    "of_unknown_kind": (
        """
f(a: ?, n: int) -> float:
    %1 = range(1, n)
    a.3 = for i in %1 with (a.1 = a):
        %2 = i - 1
        %3 = a.1[%2]
        %4 = a.1[i]
        %5 = %3 * %4
        a.2 = store(a.1, i, %5)
        yield a.2
    s: float = sum(a.3)
    return s
""",
        (np.array([1.1, 0.9, 1.3, 0.7]), 4),
    ),
    # nor of this list
    "list_of_unknown_kind": (
        """
f(a: ?, n: int) -> float:
    %1 = range(1, n)
    a.3 = for i in %1 with (a.1 = a):
        %2 = i - 1
        %3 = a.1[%2]
        %4 = a.1[i]
        %5 = %3 * %4
        a.2 = store(a.1, i, %5)
        a.4: ? = append_item(a.2, %3)
        yield a.4
    x: float = a.3[2]
    y: float = a.3[5]
    s = x * y
    return s
""",
        ([1.1, 0.9, 1.3, 0.7], 4),
    ),
    # a list in a list grows
    "list_in_list": (
        """
f(xs: seq[seq[float]], t: float, n: int) -> float:
    %1 = range(n)
    xs.3 = for i in %1 with (xs.1 = xs):
        r = xs.1[0]
        x = r[i]
        y = x * t
        r.1 = appended(r, y)
        xs.2 = store(xs.1, 0, r.1)
        yield xs.2
    r.2 = xs.3[0]
    s.3 = for x.1 in r.2 with (s.1 = 1.0):
        s.2 = s.1 * x.1
        yield s.2
    return s.3
""",
        ([[1.1, 0.9], [0.3]], 0.7, 3),
    ),
    # a mutated array is the result
    "returned": (
        """
f(a: array[float64, 1], t: float) -> tuple(float, array[float64, 1]):
    x = a[0]
    y = x * t
    a.1 = store(a, 1, y)
    s: float = sum(a.1)
    a.2 = store(a.1, 2, y)
    return s, a.2
""",
        (np.array([1.1, 0.9, 1.3]), 0.7),
    ),
    # the cotangents of two arrays start as one: both are written to
    "one_cotangent_for_two": (
        """
f(a: array[float64, 1], b: array[float64, 1], n: int) -> float:
    %1 = range(n)
    a.3, b.3 = for i in %1 with (a.1 = a, b.1 = b):
        x = a.1[i]
        y = b.1[0]
        z = x * y
        a.2 = store(a.1, 0, z)
        b.2 = store(b.1, i, x)
        yield a.2, b.2
    c = a.3 + b.3
    d = c * c
    s: float = sum(d)
    return s
""",
        (np.array([1.1, 0.9, 1.3]), np.array([0.2, 0.8, 0.6]), 3),
    ),
    # an array in a dictionary
    "element_of_entry": (
        """
f(d: ?, n: int) -> float:
    %1 = range(1, n)
    d.3 = for i in %1 with (d.1 = d):
        w = d.1['w']
        %2 = i - 1
        x: float = w[%2]
        y = x * x
        d.2: ? = store(d.1, 'w', i, y)
        yield d.2
    w.1 = d.3['w']
    q = np.sin(w.1)
    d.4: ? = store(d.3, 'w', q)
    w.2 = d.4['w']
    p = w.2 * w.1
    s: float = sum(p)
    return s
""",
        ({"w": np.array([1.1, 0.9, 1.3]), "v": np.array([0.4])}, 3),
    ),
}
