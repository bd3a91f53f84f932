"""Lists of dataclasses and named tuples of numbers: made, read, changed and differentiated as Python does."""

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import pytest
from c_library import GCC, shared_library
from native_outcomes import outcome

import wengert as wg

pytest.importorskip("llvmlite")

A = np.linspace(-1.0, 1.0, 7)
NONE = A[:0]


@pytest.fixture(autouse=True)
def own_cache(tmp_path_factory, monkeypatch):
    monkeypatch.setenv("WENGERT_CACHE", str(tmp_path_factory.getbasetemp() / "native"))


@dataclass
class Particle:
    x: float
    v: float

    def __add__(self, other):
        return Particle(self.x + other.x, self.v + other.v)

    def move(self, time):
        self.x += time * self.v
        if self.x < 0:
            self.v = -self.v


@dataclass(frozen=True)
class Counted:
    x: float
    n: int


@dataclass
class Held:
    place: Particle
    mass: float


class Pair(NamedTuple):
    a: float
    b: float


def appended(a):
    ps = []
    for v in a:
        ps.append(Particle(v, v * 2))  # noqa: PERF401 (what is tested)
    t = 0.0
    for p in ps:
        t += p.x * p.v
    return t


def by_number(a):
    ps = [Particle(v, v * 2) for v in a]
    t = 0.0
    for i in range(len(ps)):
        t += ps[i].x * ps[i].v
    return t


def moved(a):
    ps = [Particle(v, 1.0) for v in a]
    for _ in range(3):
        for p in ps:
            p.v -= 0.1 * p.x
            p.x += 0.1 * p.v
    t = 0.0
    for p in ps:
        t += p.x**2
    return t


def attracted(a):
    ps = [Held(Particle(v, 0.0), 1.0 + v * v) for v in a]
    forces = []
    for i in range(len(ps)):
        f = 0.0
        for j in range(len(ps)):
            if i != j:
                d = ps[j].place.x - ps[i].place.x
                f += ps[j].mass * d / (d * d + 0.1) ** 1.5
        forces.append(f)
    e = 0.0
    for f, p in zip(forces, ps, strict=True):
        e += f * p.mass
    return e


def of_pairs(a):
    qs = []
    for v in a:
        qs.append(Pair(v, v * v))  # noqa: PERF401 (what is tested)
    t = 0.0
    for q in qs:
        t += q.a * q.b
    for v, w in qs:
        t += v - w
    return t


def replaced_pairs(a):
    qs = [Pair(v, 1.0) for v in a]
    for i in range(len(qs)):
        qs[i] = qs[i]._replace(b=qs[i].a * 2)
    t = 0.0
    for q in qs:
        t += q[0] * q[1]
    return t


def added(a):
    s = Particle(0.0, 0.0)
    for p in [Particle(v, 1.0) for v in a]:
        s = s + p
    return s.x * s.v


def counted(a):
    cs = []
    for i in range(len(a)):
        cs.append(Counted(a[i], i))  # noqa: PERF401 (what is tested)
    t = 0.0
    for c in cs:
        t += c.x * c.n
    return t


def changed_after_it_was_appended(a):
    ps = []
    for v in a:
        p = Particle(v, 0.0)
        p.v = v * 3
        ps.append(p)
        p.x = p.x + 1.0
    t = 0.0
    for p in ps:
        t += p.x * p.v
    return t


def made_anew(a):
    ps = [Particle(v, 1.0) for v in a]
    for _ in range(3):
        ps = [Particle(p.x + 0.1 * p.v, p.v - 0.1 * p.x) for p in ps]
    t = 0.0
    for p in ps:
        t += p.x
    return t


def copied_with_changes(a):
    ps = [replace(p, v=p.x * 2) for p in [Particle(v, 1.0) for v in a]]
    t = 0.0
    for p in ps:
        t += p.v
    return t


def numbered(a):
    ps = [Particle(v, 1.0) for v in a]
    out = np.zeros(len(ps))
    for i, p in enumerate(ps):
        p.v = a[i] * a[i]
        p.x += i * p.v
        out[i] = p.x
    return (out**2).sum()


def nested(a):
    hs = [Held(Particle(v, v * v), 2.0) for v in a]
    for h in hs:
        h.place.x *= h.mass
    t = 0.0
    for h in hs:
        t += h.place.x + h.place.v
    return t


def of_a_tree(a):
    stack, t = [(0, 1.0)], 0.0
    while stack:
        i, weight = stack.pop()
        if i < len(a):
            t += weight * a[i]
            stack.append((2 * i + 1, weight * 0.5))
            stack.append((2 * i + 2, weight * 0.25))
    return t


def popped_while_they_are_small(a):
    """The tests ask whether lists hold something, beside comparisons."""
    stack, t = [Pair(v, v * v) for v in a], 0.0
    while (stack and (last := stack.pop()).b < 0.9) or (stack and t < 0.1):
        t += last.a * last.b
        if not stack or (stack[-1].a < 0 and len(stack) > 1):
            t += 0.5 * last.a
    return t


PROGRAMS = [
    appended, by_number, moved, attracted, of_pairs, replaced_pairs, added, counted, changed_after_it_was_appended,
    made_anew, copied_with_changes, numbered, nested, of_a_tree,
    popped_while_they_are_small,
]  # fmt: skip


def like_python(f, *args, rel=1e-12):
    """Value and gradient have native forms, which give what the Python forms give."""
    for g in (f, wg.value_and_grad(f)):
        compiled = wg.jit(g, strict=True)
        found, expected = compiled(*args), g(*args)
        assert compiled.exits == 0
        pairs = zip(found, expected, strict=True) if g is not f else [(found, expected)]
        for one, other in pairs:
            assert (type(one), np.asarray(one).dtype) == (type(other), np.asarray(other).dtype)
            np.testing.assert_allclose(one, other, rtol=rel, atol=rel)


@pytest.mark.parametrize("f", PROGRAMS)
@pytest.mark.parametrize("a", [A, A[:1], NONE])
def test_programs(f, a):
    like_python(f, a)


@pytest.mark.parametrize(
    "f", [appended, moved, counted, replaced_pairs, changed_after_it_was_appended]
)
@pytest.mark.parametrize("n", [0, 7])
def test_of_floats_of_32_bits(f, n):
    like_python(f, A[:n].astype(np.float32), rel=1e-5)


def by_another_name(a):
    ps = [Particle(v, 1.0) for v in a]
    p = ps[0]
    ps[0].x = 5.0
    return p.x + ps[0].x


def the_same_twice(a):
    p, ps = Particle(a[0], 1.0), []
    ps.append(p)
    ps.append(p)
    ps[0].x = 5.0
    return ps[1].x + p.x * 2


def in_a_list_of_some(a):
    ps = [Particle(v, 1.0) for v in a]
    qs = [ps[0], ps[1]]
    qs[0].x = 3.0
    return ps[0].x


def exchanged(a):
    ps = [Particle(v, 1.0) for v in a]
    ps[0], ps[1] = ps[1], ps[0]
    ps[0].x += 10.0
    t = 0.0
    for k in range(len(ps)):
        t += ps[k].x * (k + 1)
    return t


def taken_out(a):
    ps = []
    for v in a:
        ps.append(Particle(v, 1.0))  # noqa: PERF401 (what is tested)
    del ps[0]
    ps.insert(1, Particle(9.0, a[0]))
    while len(ps) > 4:
        p = ps.pop()
        ps[-1].x += p.x * p.v
    t = 0.0
    for k, p in enumerate(ps):
        t += k * p.x + p.v
    return t


@pytest.mark.parametrize("f", [by_another_name, the_same_twice, in_a_list_of_some, taken_out])
def test_objects_that_are_changed_by_any_of_their_names(f):
    like_python(f, A)


def test_objects_that_change_places_are_left_to_python():
    with pytest.raises(wg.errors.NotNative, match="`distinct` has no native form yet"):
        wg.jit(exchanged, strict=True)(A)
    with pytest.warns(wg.errors.NativeWarning):
        assert wg.jit(exchanged)(A) == exchanged(A)


def test_methods_that_change_their_object():
    def f(a):
        ps = [Particle(v * v, v) for v in a]
        for _ in range(3):
            for p in ps:
                p.move(0.3)
        t = 0.0
        for p in ps:
            t += p.x * p.v
        return t

    np.testing.assert_allclose(wg.jit(f, strict=True)(A), f(A), rtol=1e-13)


def test_an_index_out_of_range():
    def f(a):
        ps = [Particle(v, 1.0) for v in a]
        return ps[20].x

    assert outcome(wg.jit(f, strict=True), A) == outcome(f, A)


@pytest.mark.parametrize("x", [2, 2.5, np.float64(2.5)])
def test_numbers_of_another_type_in_a_list_that_a_loop_made(x):
    def f(a, x):
        xs = [v * 2 for v in a]
        xs.append(x)
        xs[0] = 1.0
        return xs[-1] * xs[0], sum(xs)

    assert outcome(wg.jit(f, strict=True), A, x) == outcome(f, A, x)


@pytest.mark.skipif(GCC is None, reason="needs gcc")
def test_in_c(tmp_path):
    compiled = wg.jit(wg.grad(moved), strict=True)
    compiled(A)
    shared_library(compiled.c_source, tmp_path)
