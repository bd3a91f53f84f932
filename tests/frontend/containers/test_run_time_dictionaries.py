"""Dictionaries whose keys only the run knows: what they hold is of a known kind."""

import copy
import math
import re
import warnings
from collections import Counter, defaultdict

import numpy as np
import pytest
from oracle import central_gradient

import wengert as wg
from wengert.errors import NativeWarning

WORDS = ["a", "b", "a", "c", "b", "a", "d"] * 10
"""More than are told apart when a program is read."""
X = np.array([0.7, 1.1, 0.9, 1.3, 0.8, 1.2, 1.05])
V = np.array([0.3, -0.2, 0.5, 0.1, -0.7, 0.4, 0.2])

PROGRAMS = []
ALIASED = []
"""Of these, a run may have to be recorded."""
RECORDED = []


def program(function):
    PROGRAMS.append(function)
    return function


def aliased(function):
    ALIASED.append(function)
    return function


def recorded(function):
    RECORDED.append(function)
    return function


# --- numbers ------------------------------------------------------------------------------


@program
def sums(x, words, n):
    total = {}
    for i in range(n):
        k = words[i]
        total[k] = total.get(k, 0.0) + x[i] ** 2
    return sum(np.log1p(v) for v in total.values())


@program
def sums_in_a_given_order(x, words, n):
    total = {}
    for i, k in enumerate(words[:n]):
        if k not in total:
            total[k] = 0.0
        total[k] += x[i] * x[i]
    s = 1.0
    for k in total:  # noqa: PLC0206
        s = 2 * s + total[k]
    for k in sorted(total, key=total.get):
        s = 2 * s + total[k]
    for k in reversed(total):
        s = 2 * s + total[k]
    best = max(total, key=total.get)
    return s * total[best] + min(total.values()) + len(total)


@program
def memo(x, words, n):
    table = {0: x[0]}
    for i in range(1, n):
        table[i] = np.sin(table[i - 1]) + x[i]
    return table[n - 1]


@program
def tuples_as_keys(x, words, n):
    d = {}
    for i in range(n):
        for j in range(n):
            if i == 0 or j == 0:
                d[i, j] = x[(i + j) % n]
            else:
                d[i, j] = min(d[i - 1, j], d[i, j - 1]) + x[i] * x[j]
    s = 0.0
    for (i, j), v in d.items():
        s += v * (i + 2 * j)
    return s


@program
def deleted(x, words, n):
    d = {}
    s = 0.0
    for i, k in enumerate(words[:n]):
        if k in d and i % 2:
            del d[k]
        s += d.pop(i - 2, 2.0) * x[i]
        d[k] = d.get(k, 1.0) * x[i]
        d[i] = x[i] ** 3
    while len(d) > 3:
        k, v = d.popitem()
        s += v * 3
    for v in d.values():
        s = s * 2 + v * v
    d.clear()
    return s + sum(d.values())


@program
def equal_keys(x, words, n):
    d = {}
    for i in range(n):
        d[i % 3] = x[i]
        d[float(i % 2)] = d[i % 3] * x[i]
    d[True] = d[1] * 2
    d[1.0] += x[0]
    return d[0] * d[1] + d[2] + len(d)


@program
def missing_keys(x, words, n):
    d = {}
    s = 0.0
    for i, k in enumerate(words[:n]):
        try:
            d[k] = d[k] * x[i]
        except KeyError as error:
            d[k] = x[i] * len(str(error))
    try:
        return d["no such"]
    except KeyError:
        return s + sum(v * v for v in d.values())


@program
def no_keys(x, words, n):
    d = {}
    s = 0.0
    for k in ([n], n):
        try:
            s += x[1] if k in d else x[0]
        except TypeError:
            s += x[2]
        try:
            d[k]
        except (KeyError, TypeError) as error:
            s += x[3] * (1 if isinstance(error, KeyError) else 5)
    return s * x[0]


@program
def whole_numbers_then_floats(x, words, n):
    d = {}
    for k in words[:n]:
        d[k] = 0
    for i, k in enumerate(words[:n]):
        d[k] += x[i] * x[i]
    e = {}
    for k in words[:n]:
        e[k] = None
    for i, k in enumerate(words[:n]):
        e[k] = x[i] if e[k] is None else e[k] * x[i]
    return d["a"] * e["b"] + d["c"] * e["a"]


@program
def complex_at_times(x, words, n):
    d = {}
    for i, k in enumerate(words[:n]):
        d[k] = x[i] * 1j if i == 2 else x[i]
    e = {}
    for i, k in enumerate(words[:n]):
        e[k] = e.get(k, 1.0) * (x[i] + 1j * x[0])
    s = sum(v * v for v in d.values()) + sum(abs(v) for v in e.values())
    return s.real + s.imag


@program
def under_two_names(x, words, n):
    a = b = {}
    for i, k in enumerate(words[:n]):
        a[k] = x[i]
        b[k] *= x[0]
    c, d, e, f = a.copy(), copy.copy(a), copy.deepcopy(a), dict(a, z=x[1])
    a["a"] = a["a"] * x[1]
    c["a"] = x[2]
    return b["a"] * b["b"] + c["a"] * c["b"] + d["a"] * e["a"] * f["a"] * f["z"]


@program
def merged(x, words, n):
    a, b = {}, {}
    for i, k in enumerate(words[:n]):
        a[k] = x[i]
        b[k + "x" if i % 2 else k] = x[i] ** 2
    c, e = {**a, **b}, a | b
    a |= b
    a.update(b, z=x[0])
    a.update([("q", x[1])])
    return sum(c[k] * e[k] * a[k] for k in c) + a["z"] * a["q"]


@program
def comprehensions(x, words, n):
    d = {i: x[i] for i in range(len(x))}
    e = {k: v * v for k, v in d.items() if k % 2}
    f = dict(zip(d, [v * 3 for v in d.values()], strict=True))
    g = {k % 2: v for k, v in d.items()}
    return sum(e.values()) + f[0] * f[1] + g[0] * g[1]


@program
def of_known_keys_first(x, words, n):
    best = {0: 0.0}
    for i in range(n):
        new = dict(best)
        for w, v in best.items():
            if w + i <= 9 and ((w + i) not in new or new[w + i] < v + x[i]):
                new[w + i] = v + x[i] * x[i]
        best = new
    return max(best.values()) + sum(k * v for k, v in best.items())


@program
def exchanged(x, words, n):
    a, b = {0: x[0]}, {1: x[1]}
    for i in range(n):
        a, b = b, a
        a[i] = x[i] * sum(b.values())
    return sum(a.values()) * sum(b.values())


@program
def divided_while_walked_over(x, words, n):
    d = {}
    for i in range(n):
        d[i] = x[i]
    for t in range(3):
        whole = sum(d.values())
        for k in d:
            d[k] /= whole * x[t]
        for k, v in d.items():
            d[k] = v * v + x[1]
    return d[1] + d[2] * d[3]


@program
def longer_while_walked_over(x, words, n):
    d = {}
    for i in range(n):
        d[i] = x[i]
    try:
        for k in d:
            d[k + 50] = x[0]
    except RuntimeError:
        return sum(d.values()) * x[0]
    return 0.0


@program
def what_a_dictionary_is_asked(x, words, n):
    d, e = {}, {}
    s = 0.0
    for i, k in enumerate(words[:n]):
        s += x[i] if d else x[i] ** 2
        d[k] = x[i]
        if i > 3:
            e[k] = 1.0
        if d == e or d is None:
            s += 100
    for call in (lambda: d.append(1), lambda: d.pop(), lambda: d + 1, lambda: d()):
        try:
            call()
        except (AttributeError, TypeError):
            s *= x[1]
    match d:
        case {"a": v, "no such": w}:
            s += v * w
        case {"a": v, **rest}:
            s += v * sum(rest.values())
    return s * (isinstance(d, dict) and type(d) is dict)


@program
def defaults(x, words, n):
    c, e, h, t = defaultdict(float), defaultdict(int), defaultdict(lambda: 1.0), Counter()
    for i, k in enumerate(words[:n]):
        c[k] += x[i] * x[i]
        e[k] += x[i]
        h[k] *= x[i]
        t[k] += x[i]
    d = {}
    s = 0.0
    for i, k in enumerate(words[:n]):
        s += d.setdefault(k, x[i] ** 2) * x[0]
    return s + sum(v * v for v in c.values()) + e["a"] * h["b"] + sum(v * v for v in t.values())


@program
def captured(x, words, n):
    d = {}

    def put(k, v):
        d[k] = v

    for i, k in enumerate(words[:n]):
        put(k, x[i] * (d[k] if k in d else 1.0))
    inner = wg.grad(lambda t: sum(v * t * t for v in d.values()))(x[0])
    return inner * d["b"]


@program
def in_a_list(x, words, n):
    rows = [{} for _ in range(n)]
    for i in range(n):
        rows[i % 3][i // 2] = x[i] ** 2
    s = 0.0
    for d in rows:
        for k in d:
            s += d[k] * (k + 1)
    rows[0][0] = x[1]
    return s * sum(rows[0].values())


# --- lists, arrays, tuples and dictionaries in them ---------------------------------------


@program
def groups(x, words, n):
    g = {}
    for i, k in enumerate(words[:n]):
        g.setdefault(k, []).append(x[i] ** 2)
    s = 0.0
    for vs in g.values():
        for v in vs:
            s = s * 1.5 + v * v
    for vs in g.values():
        vs[0] *= x[0]
        vs.append(x[1])
    return s + sum(sum(vs) ** 2 for vs in g.values())


@program
def default_groups(x, words, n):
    g = defaultdict(list)
    for i, k in enumerate(words[:n]):
        g[k].append(x[i] ** 2)
    g["a"].pop()
    g["b"].extend([x[0], x[1]])
    g["b"].sort()
    return sum(sum(v) ** 2 for v in g.values()) + len(g["none yet"])


@aliased
def one_list_under_two_keys(x, words, n):
    g = {}
    shared = [x[0]]
    for k in words[:n]:
        g[k] = shared
    for i, k in enumerate(words[:n]):
        g[k].append(x[i])
    return sum(g["a"]) * g["b"][1] * shared[-1]


@aliased
def lists_that_leave(x, words, n):
    g = {}
    for i, k in enumerate(words[:n]):
        g.setdefault(k, []).append(x[i])
    a = g["a"]
    a.append(x[1])
    g["a"] = [x[2]]
    a.append(x[3])
    g["b"] = a
    a[0] = x[4]
    for t in range(3):
        g["a"], g["c"] = g["c"], g["a"]
        g["a"][0] *= x[t]
    c = g.pop("c")
    return sum(g["a"]) * sum(g["b"]) + sum(a) ** 2 + c[0] ** 2


@program
def pairs(x, words, n):
    edges = [(0, 1), (1, 2), (0, 2), (2, 3), (3, 0)]
    g = {}
    for e in range(n):
        a, b = edges[e % 5]
        g.setdefault(a, []).append((b, x[e]))
        g.setdefault(b, []).append((a, x[e]))
    d = {}
    for i, k in enumerate(words[:n]):
        d[k] = (i, x[i] ** 2) if k not in d else (d[k][0] + 1, d[k][1] * x[i])
    s = sum(w * w * (a + 1) / (b + 1) for a in g for b, w in g[a])
    return s + sum(count * v for count, v in d.values())


@program
def arrays(x, words, n):
    d, e = {}, {}
    for i, k in enumerate(words[:n]):
        if k not in d:
            d[k] = np.zeros(3)
        d[k] += x[i] * np.arange(3.0)
        d[k][1] *= x[0]
        e[k] = e.get(k, 1.0) * x[:3]
    shared = d["a"]
    shared *= x[2]
    return sum(np.sum(v**2) for v in d.values()) + np.sum(e["a"] * e["b"]) * shared[2]


@aliased
def views(x, words, n):
    d = {}
    y = x * 1.0
    for i, k in enumerate(words[:n]):
        d[k] = y[i : i + 2]
    y[3] = x[0] ** 2
    d["c"][0] *= 3.0
    return np.sum(d["a"]) * np.sum(d["c"]) + np.sum(y)


@program
def in_each_other(x, words, n):
    d = {}
    for i, k in enumerate(words[:n]):
        d.setdefault(k, {})[i] = x[i] ** 2
        d[k][i % 3] = d[k].get(i % 3, 0.0) + x[0]
    s = 0.0
    for k in d:  # noqa: PLC0206
        for j, v in d[k].items():
            s = s * 1.1 + v * (j + 1)
    return s


@program
def lists_as_arrays(x, words, n):
    d = {}
    for i, k in enumerate(words[:n]):
        d.setdefault(k, []).append(x[i])
    return sum(np.var(np.array(v)) + np.sum(np.array(v)) ** 2 + max(v) for v in d.values())


@program
def number_then_list(x, words, n):
    d = {}
    for i, k in enumerate(words[:n]):
        d[k] = [x[i]] if i % 2 else x[i] * x[:2] if i == 4 else x[i]
    s = 0.0
    for v in d.values():
        s += v[0] ** 2 if isinstance(v, (list, np.ndarray)) else v
    return s


# --- what only a run tells ----------------------------------------------------------------


@recorded
def left_after_a_deletion(x, words, n):
    d = {}
    for i in range(n):
        d[i] = x[i]
    for k, v in d.items():
        if v < 1:
            del d[k]
            break
    return sum(d.values()) * x[0]


@recorded
def put_in_again(x, words, n):
    d = {}
    for i in range(n):
        d[i] = x[i]
    turns = 0
    try:
        for k in d:
            turns += 1
            v = d.pop(k)
            d[k] = v * x[0]
    except RuntimeError:
        pass
    return sum(k * v for k, v in d.items()) * turns


@recorded
def longer_in_a_comprehension(x, words, n):
    d = {}
    for i in range(n):
        d[i] = x[i]
    try:
        return sum([d.setdefault(k + 9, x[1]) for k in d])
    except RuntimeError:
        return sum(d.values())


ARGS = WORDS, 7
"""What every program is given beside `X`."""


@pytest.mark.parametrize("f", [*PROGRAMS, *ALIASED, *RECORDED], ids=lambda f: f.__name__)
def test_derivatives(f):
    (expected,) = central_gradient(f, X, *ARGS, wrt=(0,))
    about = pytest.approx(expected, rel=1e-5, abs=1e-6)
    tier = "static" if f in PROGRAMS else None
    assert wg.grad(f, tier=tier)(X.copy(), *ARGS) == about
    assert wg.grad(f, tier="recorded")(X.copy(), *ARGS) == about
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NativeWarning)
        assert wg.jit(wg.grad(f))(X.copy(), *ARGS) == about
    _, push = wg.pushforward(f, X.copy(), *ARGS)
    assert push(V, None, None) == pytest.approx(expected @ V, rel=1e-5, abs=1e-6)


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_second_derivatives(f):
    along = lambda x: wg.grad(f)(x, *ARGS) @ V
    (expected,) = central_gradient(along, X, wrt=(0,))
    about = pytest.approx(expected, rel=1e-4, abs=1e-5)
    assert wg.hessian(f)(X.copy(), *ARGS) @ V == about
    assert wg.grad(along)(X.copy()) == about


@pytest.mark.parametrize("f", RECORDED, ids=lambda f: f.__name__)
def test_keys_that_are_taken_out_while_a_loop_walks_over_them_are_refused_when_read(f):
    with pytest.raises(wg.WengertError, match="changes while a loop walks over it"):
        wg.grad(f, tier="static")(X.copy(), *ARGS)


@pytest.mark.parametrize(
    ("f", "kinds"),
    [
        (sums, {"map[str, float]"}),
        (memo, {"map[int, float]"}),
        (tuples_as_keys, {"map[tuple(int, int), float]"}),
        (of_known_keys_first, set()),
        (divided_while_walked_over, {"map[int, float]"}),
        (groups, {"map[str, seq[float]]"}),
        (in_each_other, {"map[str, map[int, float]]"}),
    ],
    ids=lambda each: getattr(each, "__name__", ""),
)
def test_what_such_dictionaries_hold_has_a_kind(f, kinds):
    ir = wg.code_ir(f, X, *ARGS)
    assert kinds <= set(re.findall(r": (map\[.*\]) = pack", ir))
    assert "?" not in ir


def test_reading_and_adding_take_no_helper():
    text = wg.code_adjoint(memo, X, *ARGS)
    (body,) = re.findall(r"    # reverse\n(.*)", text, re.DOTALL)
    assert not re.findall(r"\b_[a-z]+\w*\(", body)


def test_what_a_dictionary_holds_has_a_cotangent_of_its_own():
    def entries(x, words):
        d = {}
        for i in range(len(x)):
            d[words[i]] = d.get(words[i], 1.0) * x[i]
        return d

    y, pull = wg.pullback(entries, X, WORDS)
    assert list(y) == ["a", "b", "c", "d"]
    x_bar, *_ = pull({"a": 1.0, "b": None, "c": 2, "d": np.float64(3.0)})
    others = X[2] * X[5], X[0] * X[5], X[0] * X[2]
    assert x_bar == pytest.approx([others[0], 0, others[1], 2, 0, others[2], 3])
    with pytest.raises(wg.WengertError, match="structure"):
        pull({"a": 1.0})


def test_a_number_that_has_a_derivative_is_no_key():
    def f(x, words):
        d = {}
        for i, v in enumerate(x):
            d[words[i], v] = v
        return sum(d.values())

    with pytest.raises(wg.WengertError, match="key of an entry"):
        wg.grad(f)(X, WORDS)


# --- comprehensions with keys that are floats -------------------------------------------------


def discounted(x):
    factors = {}
    for k in range(int(4 * x)):
        factors[0.5 * k + 0.5] = math.exp(-x * (0.5 * k + 0.5))
    rates = {t: -math.log(d) / t + d for t, d in factors.items()}
    long = {t: r**2 for t, r in rates.items() if r > 1.6}
    return sum(long.values()) * len(long) + sum(t * r for t, r in rates.items())


def thinned(x):
    left = {0.1 * k: x + k for k in range(int(4 * x))}
    while len(left) > 1:
        left = {t: 1.5 * v for t, v in left.items() if t > 0.05}
        left.pop(max(left))
    return sum(left.values()) * x


def raising(x):
    try:
        inverses = {k: x / (k - 2) for k in range(int(4 * x))}
    except ZeroDivisionError:
        return 3.0 * x
    return inverses[0] * x


@pytest.mark.parametrize("f", [discounted, thinned, raising])
@pytest.mark.parametrize("x", [0.45, 1.3])
def test_keys_of_a_comprehension_are_apart_from_its_values(f, x):
    expected = pytest.approx((f(x + 1e-6) - f(x - 1e-6)) / 2e-6, rel=1e-7)
    assert wg.grad(f, tier="static")(x) == expected
    assert wg.pushforward(f, x)[1](1.0) == expected
