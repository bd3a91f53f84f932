"""The ways in which Python and NumPy change what a name refers to: each is followed, or refused."""

import contextvars
import heapq
import operator
import random
import struct

import line_programs
import numpy as np
import pytest
from error_texts import refusal, says

import wengert as wg
from wengert.frontend.calls import writing_functions

OF_PYTHON = line_programs.Lines(
    "ways_to_change",
    """
import bisect, collections, copy, functools, heapq, itertools, operator, random, types

import numpy as np


class Box:
    pass


G, GD, GO = [], {}, Box()


def arguments():
    o = Box()
    o.a, o.xs, o.d = 2.0, [1.0, 2.0], {"a": 1.0}
    G[:] = [1.0, 2.0]
    GD.clear()
    GD["a"] = 1.0
    GO.a, GO.xs = 1.0, [1.0]
    ns, cm = types.SimpleNamespace(a=1.0), collections.ChainMap({"a": 1.0})
    d, ud = {"a": 1.0, "b": 2.0}, collections.UserDict(a=1.0)
    return np.arange(1.0, 5.0), np.eye(3), [1.0, 3.0, 5.0], d, o, ns, cm, ud


def told(x, a, A, xs):
    return np.sum(a) * x + np.sum(A) * x + sum(xs) * x
""",
    "a, A, xs, d, o, ns, cm, ud",
    """
ns.a = x; return ns.a * x
ns.__dict__.update(a=x); return ns.a * x
cm["a"] = x; return cm["a"] * x
cm.update(a=x); return cm["a"] * x
ud["a"] = x; return ud["a"] * x
ud.update(a=x); return ud["a"] * x
operator.setitem(d, "a", x); return d["a"] * x
operator.iadd(xs, [x]); return xs[-1] * x
xs = operator.iadd(xs, [x]); return xs[-1] * x
operator.iadd(a, x); return a @ a
operator.imatmul(A, A * x + 1.0); return np.sum(A * A)
operator.ipow(a, x); return a @ a
operator.imod(a, x); return a @ a * x
operator.ifloordiv(a, x); return a @ a * x
operator.delitem(xs, 0); xs[0] = x; return xs[0] * xs[1]
setattr(o, "a", x); return o.a * x
setattr(o, "b", x); return o.b * x
list.append(xs, x); return xs[-1] * x
dict.update(d, a=x); return d["a"] * x
dict.__setitem__(d, "a", x); return d["a"] * x
xs.__setitem__(0, x); return xs[0] * x
d.__setitem__("a", x); return d["a"] * x
object.__setattr__(o, "a", x); return o.a * x
o.__setattr__("a", x); return o.a * x
vars(o)["a"] = x; return o.a * x
o.__dict__["a"] = x; return o.a * x
o.__dict__.update(a=x); return o.a * x
o.__dict__ |= {"a": x}; return o.a * x
vars(o).update(a=x, b=x); return o.a * o.b
globals()["G"][0] = x; return G[0] * x
G[0] = x; return G[0] * x
G.append(x); return G[-1] * x
GD.update(a=x); return GD["a"] * x
GD["a"] = x; return GD["a"] * x
GO.a = x; return GO.a * x
GO.xs.append(x); return GO.xs[-1] * x
bisect.insort(xs, x); return xs[0] * 3 + xs[1] * 5
heapq.heappush(xs, x); return heapq.heappop(xs) * x
heapq.heapreplace(xs, x); return xs[0] * x
heapq.heapify(xs); v = heapq.heappushpop(xs, x * 4); return v * x + xs[0]
random.Random(0).shuffle(xs); xs[0] = x; return xs[0] * xs[1]
np.put(a, 0, x); return a @ a
np.put(a, [0, 1], [x, x * x]); return a @ a
a.put([0, 1], x); return a @ a
np.place(a, a > 2, [x]); return a @ a
np.putmask(a, a > 2, x); return a @ a
np.copyto(a, x, where=a > 2); return a @ a
np.fill_diagonal(A, x); return np.sum(A * A)
np.fill_diagonal(A[1:, 1:], x); return np.sum(A * A)
np.put_along_axis(A, np.array([[0], [1], [2]]), x, axis=1); return np.sum(A * A)
a[0] = 3 * x; a.sort(); return a @ np.arange(4.0)
a.view()[0] = x; return a @ a
a.flat[0] = x; return a @ a
a.flat[1:3] = x; return a @ a
A.flat[::4] = x; return np.sum(A * A)
np.ndarray.__setitem__(a, 0, x); return a @ a
a.__setitem__(0, x); return a @ a
np.add(a, x, a); return a @ a
np.multiply(a, x, out=a); return a @ a
np.add(a[1:], x, out=a[:-1]); return a @ a
np.add(a, x, out=a, where=a > 2); return a @ a
np.clip(a, x, 3.0, out=a); return a @ a
np.dot(A, A * x, out=A); return np.sum(A * A)
np.cumsum(a * x, out=a); return a @ a
np.sum(A * x, axis=0, out=a[:3]); return a @ a
np.maximum.accumulate(a * x, out=a); return a @ a
np.add.at(a, [0, 0], x); return a @ a
np.subtract.at(a, [0, 0], x); return a @ a
np.copyto(a[:2], [x, x]); return a @ a
np.take(a * x, [1, 2, 0, 0], out=a); return a @ a
np.round(a * x, out=a); return a @ a * x
np.einsum("i,i->i", a, a * x, out=a); return a @ a
np.matmul(A, A * x, out=A); return np.sum(A * A)
np.concatenate([a[:2] * x, a[2:]], out=a); return a @ a
np.stack([a * x, a], out=np.zeros((2, 4))); return a @ a * x
np.sqrt(a * x, a); return a @ a
np.exp(a * x, out=a[:]); return a @ a
b = np.asarray(a); b[0] = x; return a @ a
b = np.array(a, copy=False); b[0] = x; return a @ a
b = np.ascontiguousarray(a); b[0] = x; return a @ a
b = a.astype(float, copy=False); b[0] = x; return a @ a
b = np.atleast_2d(a); b[0, 0] = x; return a @ a
b = np.broadcast_to(a, (2, 4)); a[0] = x; return np.sum(b * b)
b = a.reshape(2, 2); b[:, 0] = x; return a @ a
b = A.T; b[0] = x; return np.sum(A[:, 0] * x)
b = np.diagonal(A); A[0, 0] = x; return b @ b
b, c = np.split(a, 2); b[0] = x; return a @ a + c @ c
for row in A: row[0] = x; return told(x, a, A, xs)
for i, row in enumerate(A): row += x * i; return told(x, a, A, xs)
it = iter(A); next(it)[0] = x; return np.sum(A * A)
a, xs[0] = a * x, x; return a @ a * xs[0]
xs[0], xs[1] = xs[1] * x, xs[0]; return xs[0] * 3 + xs[1] * x
xs[0] = xs[1] = x; return xs[0] * xs[1]
(xs[0], *xs[1:]) = (x, x * x, x); return xs[0] * xs[1] * xs[2]
for xs[0] in (x, x * x): pass; return told(x, a, A, xs)
[xs.append(x * k) for k in range(3)]; return sum(xs) * x
sum(map(xs.append, [1.0])) if 0 else xs.append(x); return sum(xs) * x
list(map(xs.append, [x, x * x])); return sum(xs) * x
any(xs.append(v) for v in (x, x * x)); return sum(xs) * x
functools.reduce(lambda acc, v: (acc.append(v), acc)[1], [x, x * x], xs); return sum(xs) * x
(lambda: xs.append(x))(); return sum(xs) * x
f = xs.append; f(x); f(x * x); return sum(xs) * x
f = d.get; d["a"] = x; return f("a") * x
f = functools.partial(xs.insert, 0); f(x); return xs[0] * x
f = functools.partial(setattr, o, "a"); f(x); return o.a * x
if (n := xs.append(x)) is None: xs[0] = x; return told(x, a, A, xs)
xs[len(xs):] = [x]; return sum(xs) * x
xs[:] = [v * x for v in xs]; return sum(xs) * x
del xs[:]; xs.append(x); return sum(xs) * x
b = copy.copy(o); b.a = x; return b.a * o.a * x
b = copy.copy(o); b.xs[0] = x; return o.xs[0] * x
b = copy.deepcopy(o); b.xs[0] = x; return o.xs[0] * b.xs[0]
b = xs[:]; b[0] = x; return b[0] * xs[0]
b = xs * 2; b[0] = x; return b[0] * xs[0] + b[3]
b = [[0.0]] * 2; b[0][0] = x; return b[1][0] * x
b = [xs] * 2; b[0][0] = x; return xs[0] * b[1][0]
b = dict(d); b["a"] = x; return b["a"] * d["a"]
b = {**d}; b["a"] = x; return b["a"] * d["a"]
b = dict(zip("ab", (x, x * x))); return b["a"] * b["b"]
b = dict.fromkeys("ab", x); b["a"] *= x; return b["a"] * b["b"]
k, b = d.popitem(); d[k] = b * x; return d[k] * x
b = d.items(); d["a"] = x; return sum(v for _, v in b) * x
b = d.values(); d["c"] = x; return sum(b) * x
b = d.keys(); d["c"] = x; return len(b) * x
b = list(d.values()); d["a"] = x; return sum(b) * x
b = iter(xs); next(b); xs[1] = x; return next(b) * x
b = reversed(xs); xs[2] = x; return next(b) * x
b = enumerate(xs); xs[0] = x; return next(b)[1] * x
b = zip(xs, xs[1:]); xs[0] = x; return next(b)[0] * x
b = (v * x for v in xs); xs[0] = x; return sum(b)
b = map(lambda v: v * x, xs); xs[0] = x; return sum(b)
b = filter(lambda v: v > 0.5, xs); xs[0] = x; return sum(b)
b = itertools.chain(xs, [x]); xs[0] = x; return sum(b) * x
b = itertools.accumulate(xs); xs[0] = x; return list(b)[-1] * x
b = itertools.islice(xs, 2); xs[0] = x; return sum(b) * x
""",
)

OF_NUMPY = line_programs.Lines(
    "ways_of_numpy",
    """
import collections

import numpy as np


class Box:
    pass


def arguments():
    t = {"q": [1.0, 2.0], "d": {"a": 1.0}, "s": {1, 2}, "a": np.arange(3.0)}
    return np.arange(1.0, 7.0), collections.defaultdict(float, a=1.0), t
""",
    "a, dd, t",
    """
dict.update(dd, a=x); return dd["a"] * x
dict.setdefault(dd, "z", x); return dd["z"] * x
v = dict.pop(dd, "a"); dd["a"] = v * x; return dd["a"] * x
list.append(t["q"], x); return t["q"][-1] * x
list.sort(t["q"], reverse=True); t["q"][0] = x; return t["q"][0] * t["q"][1]
dict.__setitem__(t["d"], "a", x); return t["d"]["a"] * x
set.add(t["s"], 7); return len(t["s"]) * x
np.ndarray.sort(t["a"]); t["a"][0] = x; return t["a"] @ t["a"]
np.ndarray.fill(a, x); return a @ a
np.ndarray.put(a, [0], x); return a @ a
b = np.require(a); b[0] = x; return a @ a
b = a[::-1]; b[0] = x; return a @ a
b = a[:, None]; b[0, 0] = x; return a @ a
b = np.broadcast_arrays(a, a)[0]; a[0] = x; return b @ b
b = np.squeeze(a[None]); b[0] = x; return a @ a
b = np.expand_dims(a, 0); b[0, 0] = x; return a @ a
b = np.ravel(a); b[0] = x; return a @ a
b = a.flatten(); b[0] = x; return a @ a + b @ b
b = a.copy(); b[0] = x; return a @ a * x + b @ b
b = np.array(a); b[0] = x; return a @ a * x + b @ b
b = a + 0; b[0] = x; return a @ a * x + b @ b
b = np.real(a); b[0] = x; return a @ a
b = a.real; b[0] = x; return a @ a
b = np.positive(a); b[0] = x; return a @ a * x
b = np.flip(a); b[0] = x; return a @ a
b = np.rot90(a.reshape(2, 3)); b[0] = x; return a @ a
b = np.roll(a, 1); b[0] = x; return a @ a * x
b = np.hsplit(a, 2)[1]; b[0] = x; return a @ a
b = np.array_split(a, 3)[2]; b[:] = x; return a @ a
b = np.reshape(a, (2, 3)).T; b[0] = x; return a @ a
b = np.swapaxes(a.reshape(2, 3), 0, 1); b[0] = x; return a @ a
b = np.moveaxis(a.reshape(1, 2, 3), 0, 2); b[0] = x; return a @ a
b = np.transpose(a.reshape(2, 3)); b += x; return a @ a
b = np.diag(a.reshape(2, 3)[:, :2]); a[0] = x; return b @ b
b = a.reshape(2, 3).diagonal(); a[0] = x; return b @ b * x
b = np.take(a, [0, 1]); b[0] = x; return a @ a * x
b = a[[0, 1]]; b[0] = x; return a @ a * x
b = a[a > 2]; b[0] = x; return a @ a * x
b = np.delete(a, 0); b[0] = x; return a @ a * x
b = np.where(a > 2, a, 0); b[0] = x; return a @ a * x + b @ b
b = np.nan_to_num(a, copy=False); b[0] = x; return a @ a
b = np.atleast_1d(a); b[0] = x; return a @ a
b = np.asanyarray(a); b[0] = x; return a @ a
b = np.asarray_chkfinite(a); b[0] = x; return a @ a
b = np.unstack(a.reshape(2, 3)) if hasattr(np, "unstack") else a; return a @ a * x
b = np.copy(a); b[0] = x; return a @ a * x
b = np.vstack([a, a]); b[0] = x; return a @ a * x + np.sum(b)
b = a if x > 0 else a.copy(); b[0] = x; return a @ a
b = [a]; b[0][0] = x; return a @ a
b = (a, a); b[1][0] = x; return b[0] @ a
b = {"k": a}; b["k"][0] = x; return a @ a
b = lambda: a; b()[0] = x; return a @ a
(a if x > 0 else a.copy())[0] = x; return a @ a
a[:2], a[2:4] = a[2:4] * x, a[:2] * x; return a @ np.arange(6.0)
a[1:] = a[:-1] * x; return a @ a
a[1:] += a[:-1] * x; return a @ a
a[::2] *= a[1::2] * x; return a @ a
a[[0, 0, 1]] += x; return a @ a
a[[0, 0, 1]] = [x, 2 * x, 3 * x]; return a @ a
a[a > 3] *= x; return a @ a
a[np.argsort(-a)] = a * x; return a @ np.arange(6.0)
a += a * x; a -= a[::-1]; return a @ a
a @= np.eye(6) * x; return a @ a
a **= 2; a /= x; return a @ a
a //= x; return a @ a * x
a %= x; return a @ a * x
f = a.sum; a[0] = x; return f() * x
f = a.dot; a[0] = x; return f(a) * x
f = a.copy; a[0] = x; return f() @ a * x
f = a.reshape; a[0] = x; b = f(2, 3); b[0, 1] = x; return a @ a
f = a.max; a[:] = x; return f() * x
""",
)


test_ways_of_python = line_programs.test_of(OF_PYTHON)
test_ways_of_numpy = line_programs.test_of(OF_NUMPY)


VARIABLE = contextvars.ContextVar("variable", default=1.0)


def by_a_context_variable(x, a):
    VARIABLE.set(x)
    return VARIABLE.get() * x


def by_the_memory(x, a):
    memoryview(a)[0] = 3.0
    return a @ a * x


def by_a_buffer(x, a):
    np.frombuffer(a)[0] = 3.0
    return a @ a * x


def by_an_array_of_a_buffer(x, a):
    np.ndarray((3,), buffer=a)[0] = x
    return a @ a


def by_packing(x, a):
    struct.pack_into("d", a, 0, x)
    return a @ a


@pytest.mark.parametrize(
    ("program", "words"),
    [
        (by_a_context_variable, "a context variable is given a value that may have a derivative"),
        (by_the_memory, "`memoryview` looks into the memory of an array"),
        (by_a_buffer, "`frombuffer` looks into the memory of an array"),
        (by_an_array_of_a_buffer, "`ndarray` looks into the memory of an array"),
        (by_packing, "`pack_into` looks into the memory of an array"),
    ],
)
def test_what_nobody_follows_is_refused(program, words):
    derivative = wg.grad(program, argnums=(0, 1))
    says(refusal("WG101", NotImplementedError, lambda: derivative(0.5, np.arange(4.0))), words)


def of_a_constant(x):
    VARIABLE.set(3.0)
    return VARIABLE.get() * x


def test_a_context_variable_that_is_given_a_constant():
    assert wg.grad(of_a_constant)(0.5) == 3.0


@pytest.mark.parametrize("seed", range(20))
def test_heaps_lie_as_those_of_python(seed):
    """Who reads the list finds the items where `heapq` would have them."""
    rng = random.Random(seed)
    items = [rng.randrange(7) for _ in range(rng.randrange(1, 10))]
    item = rng.randrange(7)
    for name, given in [
        ("heapify", ()),
        ("heappush", (item,)),
        ("heappop", ()),
        ("heapreplace", (item,)),
        ("heappushpop", (item,)),
    ]:
        found, expected = sorted(items), sorted(items)
        if name == "heapify":
            found, expected = items[:], items[:]
        assert getattr(writing_functions, name)(found, *given) == getattr(heapq, name)(
            expected, *given
        )
        assert found == expected


# --- functions in C that change what they are given -----------------------------------------


def heapified(x):
    items = [x, x * x, 0.2]
    heapq._heapify_max(items)
    return items[0]


def joined_in_place(x):
    items = [x, x * x]
    operator.iconcat(items, [x**3])
    return items[-1] * len(items)


def merged_in_place(x):
    entries = {1: x}
    operator.ior(entries, {2: x * x})
    return entries[2]


@pytest.mark.parametrize("f", [heapified, joined_in_place, merged_in_place])
@pytest.mark.parametrize("tier", [{}, {"tier": "recorded"}])
def test_functions_in_c_change_what_they_are_given(f, tier):
    value, slope = wg.value_and_grad(f, **tier)(1.3)
    assert value == f(1.3)
    assert slope == pytest.approx((f(1.3 + 1e-6) - f(1.3 - 1e-6)) / 2e-6, rel=1e-8)
