"""Classes of the user's that are built on dictionaries, lists and tuples: given, captured and made inside."""

# programs under test are written as their authors would
# ruff: noqa: FURB192, RUF005, SLOT001

import collections
import copy
import math
from fractions import Fraction

import numpy as np
import oracle
import pytest
from error_texts import refusal, says
from standing_alone import alone

import wengert as wg
from wengert.compile import recorded

# Classes that people write


class Params(dict):
    __getattr__ = dict.__getitem__
    __setattr__ = dict.__setitem__


class AttrDict(dict):
    def __getattr__(self, name):
        try:
            return self[name]
        except KeyError:
            raise AttributeError(name) from None

    def __setattr__(self, name, value):
        self[name] = value

    def copy(self):
        return type(self)(self)


class Bunch(dict):
    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.__dict__ = self


class Nested(dict):
    def __init__(self, entries):
        super().__init__()
        for key, value in entries.items():
            self[key] = Nested(value) if isinstance(value, dict) else value

    def __getattr__(self, name):
        return self[name]


class Path(list):
    name = "path"

    def length(self):
        return sum(abs(b - a) for a, b in zip(self, self[1:]))  # noqa: RUF007

    def mean(self):
        return sum(self) / len(self)


class Body:
    def __init__(self, x, v):
        self.x, self.v = x, v


class System(list):
    stiffness = 2.0

    def __init__(self, bodies, damping=0.1):
        super().__init__(bodies)
        self.damping = damping

    def step(self, dt):
        for body in self:
            body.v -= dt * (self.stiffness * body.x + self.damping * body.v)
        for body in self:
            body.x += dt * body.v

    def energy(self):
        return sum(0.5 * body.v**2 + body.x**2 for body in self)


class Vector(list):
    def __add__(self, other):
        return Vector(a + b for a, b in zip(self, other, strict=True))

    def __mul__(self, scale):
        return Vector([a * scale for a in self])

    __rmul__ = __mul__

    def dot(self, other):
        return sum(a * b for a, b in zip(self, other, strict=True))


class Poly(tuple):
    def __new__(cls, *coefficients):
        return super().__new__(cls, coefficients)

    def __call__(self, x):
        total = 0.0
        for coefficient in reversed(self):
            total = total * x + coefficient
        return total


class Tally(collections.Counter):
    def add(self, key, amount):
        self[key] += amount


class History(collections.OrderedDict):
    def __setitem__(self, key, value):
        super().__setitem__(key, value)
        if len(self) > 3:
            self.popitem(last=False)


class Totals(collections.defaultdict):
    def __init__(self):
        super().__init__(float)

    def total(self):
        return sum(self.values())


class Lengths(dict):
    def __missing__(self, key):
        self[key] = value = len(key) * 1.5
        return value


# Made inside


def attributes_that_are_items(x):
    p = Params(a=x, b=2 * x)
    p.c = p.a * p.b
    p["d"] = p.c**2
    return p.c * p.d + p["a"] + len(p)


def attributes_by_items(x):
    p = AttrDict({"a": x, "b": 3.0})
    p.a *= p.b
    p.z = p.a * p["b"]
    q = p.copy()
    q.a = 1.0
    return p.z * p.a * x + q.z * q.a + hasattr(p, "zz")


def its_own_attributes(x):
    p = Bunch(a=x, b=2.0)
    p.c = p.a * p.b
    p["d"] = p.c * p.a
    del p.b
    return p.c * p.d + p["c"] * hasattr(p, "d") + hasattr(p, "b")


def nested_attributes(x):
    c = Nested({"m": {"k": x, "l": 2.0}, "n": 3.0})
    return c.m.k**2 * c.m.l * c.n + c["m"]["k"]


def a_list_with_methods(x):
    p = Path([x, 2 * x, x**3])
    p.append(x * 5)
    p[1] *= x
    a, b, *_ = p
    return p.length() * p.mean() + a * b + len(p.name) + (x in p)


def a_list_of_objects(x):
    s = System([Body(x, 1.0), Body(2.0, x)], damping=x / 10)
    for _ in range(10):
        s.step(0.05)
    s.mass = x
    return s.energy() * s.mass + s.damping * s[0].x


def many_of_them(x):
    params = [Params(m=x * k, v=1.0) for k in range(1, 12)]
    for p in params:
        p.v += p.m * 0.1
    return sum(p.v * p.m for p in params) + System([Body(x * k, 1.0) for k in range(12)]).energy()


def operators_of_a_list(x):
    v = Vector([x, 2.0, x * x])
    w = 2.0 * v + v * x
    return w.dot(v) + sum(w) + max(v) + sorted(w)[0] + float(np.sum(np.array(v) ** 2))


def a_tuple_that_is_called(x):
    p = Poly(1.0, x, x * x)
    return p(2.0) * p[1] + p(x) + len(p) + sum(p + (x,))


def counted(x):
    t = Tally()
    t.add("a", x)
    t.add("b", x * x)
    t.add("a", 3 * x)
    return t["a"] * t["b"] + t["none"] + t.total() * t.most_common(1)[0][1]


def in_order(x):
    h = History()
    for k, value in enumerate((1.0, x, x * 2, x * x, x**3)):
        h[k] = value
    return sum(h.values()) * len(h) + h[4]


def missing_items(x):
    t = Totals()
    t["p"] += x
    t["q"] += x * x
    t["p"] *= x
    d = Lengths(a=x)
    return t.total() * t["p"] + t["new"] + d["a"] * d["bcd"] + len(d)


def as_other_containers(x):
    p = AttrDict(a=x, b=x * x)

    def product(a, b):
        return a * b

    merged = {**p, "c": 1.0} | p
    merged.update(AttrDict(c=x))
    u, v = p.values()
    items = list(Path([x, x * x]))
    return merged["a"] * dict(p)["b"] * u * v + product(**p) + product(*items) + merged["c"]


def copies(x):
    p = Path([x, x * x])
    q = copy.copy(p)
    q.append(3 * x)
    r = copy.deepcopy(q)
    r[0] = 9.0
    return len(p) * p[0] + sum(q) * r[2] + sum(p + [x]) + sum(p * 2) + r.mean()


def on_two_paths(x):
    p = Path([1.0])
    if x > 0:
        p.append(x)
    else:
        p.extend([x, x])
    while p[-1] < 10:
        p.append(p[-1] * 1.5)
    return sum(p) * p[-1] if p else 0.0


def of_a_class_inside(x):
    class Config(dict):
        def __getattr__(self, name):
            return self[name]

        def scaled(self, s):
            return Config({key: value * s for key, value in self.items()})

    c = Config(rate=x, momentum=x * x).scaled(x)
    return c.rate * c.momentum + sum(c.values())


def matched(x):
    match Path([x, x * x]):
        case [a, b]:
            found = a * b
        case _:
            found = 0.0
    match Params(kind="a", x=x), collections.Counter(a=x):
        case {"kind": "b"}, _:
            return 0.0
        case {"kind": "a", "x": value}, {"a": amount}:
            return found * value + amount
    return 0.0


class Pairs(list):
    """Its methods call those of `list` by the class."""

    def append(self, a, k):
        list.append(self, (a * 2, k))

    def extend(self, items):
        list.extend(self, [(a, k + 1) for a, k in items])

    def pop(self):
        return list.pop(self)[0]


def methods_by_the_class(x):
    pairs = Pairs()
    for k in range(4):
        pairs.append(x * k, k)
        pairs.extend([(x * x, k)])
    plain = []
    list.append(plain, x)
    list.extend(plain, [x, 2.0])
    return sum(a * k for a, k in pairs) * pairs.pop() + math.prod(plain)


INSIDE = [
    methods_by_the_class,
    attributes_that_are_items, attributes_by_items, its_own_attributes, nested_attributes, a_list_with_methods,
    a_list_of_objects, many_of_them, operators_of_a_list, a_tuple_that_is_called, counted, in_order, missing_items,
    as_other_containers, copies, on_two_paths, of_a_class_inside, matched,
]  # fmt: skip


@pytest.mark.parametrize("f", INSIDE)
@pytest.mark.parametrize("x", [0.7, 1.3])
def test_made_inside(f, x):
    (wanted,) = oracle.central_gradient(f, x)
    assert wg.value_and_grad(f)(x) == (pytest.approx(f(x)), pytest.approx(wanted, rel=1e-6))
    assert wg.derivative(f)(x) == pytest.approx(wanted, rel=1e-6)
    (second,) = oracle.central_gradient(wg.grad(f), x)
    assert wg.hvp(f)(x, 1.0) == pytest.approx(second, rel=1e-5, abs=1e-5)
    assert wg.grad(wg.derivative(f))(x) == pytest.approx(second, rel=1e-5, abs=1e-5)


# Given


def numbers(value):
    """The numbers in an argument, or in its gradient."""
    if isinstance(value, float):
        return [value]
    if isinstance(value, dict):
        return [n for item in value.values() for n in numbers(item)]
    if isinstance(value, list | tuple):
        own = numbers(vars(value)) if hasattr(value, "__dict__") else []
        return [*(n for item in value for n in numbers(item)), *own]
    return [n for item in vars(value).values() for n in numbers(item)]


GIVEN = [
    (lambda p: p.a**2 * p["b"], lambda a, b: Params(a=a, b=b), (1.5, 2.0)),
    (lambda p: p.a**2 * p["b"], lambda a, b: Bunch(a=a, b=b), (1.5, 2.0)),
    (lambda p: p.length() * p.mean(), lambda *x: Path(x), (1.0, 2.0, 4.0)),
    (lambda p: p.length() * p.mean(), lambda *x: Path(x), tuple(float(k * k) for k in range(12))),
    (lambda p: p(2.0) * p[1], Poly, (1.0, 2.0, 3.0)),
    (lambda h: sum(h.values()) * h["a"], lambda a, b: History(a=a, b=b), (2.0, 3.0)),
    (
        lambda s: s.energy() * s.damping,
        lambda x, v, damping: System([Body(x, v)], damping),
        (1.0, 2.0, 0.3),
    ),
    (
        lambda ps: sum(p.a * p["b"] for p in ps),
        lambda *x: [Params(a=a, b=3.0) for a in x],
        tuple(map(float, range(9))),
    ),
]


@pytest.mark.parametrize(("f", "make", "at"), GIVEN)
def test_given(f, make, at):
    def of_numbers(*x):
        return f(make(*x))

    wanted = [float(g) for g in oracle.central_gradient(of_numbers, *at)]
    (gradient,) = wg.gradient(f, make(*at))
    assert type(gradient) is type(make(*at))
    found = numbers(gradient)
    assert found[:: len(found) // len(at)] == pytest.approx(wanted, rel=1e-6)
    push = wg.pushforward(f, make(*at))[1]
    squares = sum(n * n for n in found)
    assert push(gradient) == pytest.approx(squares)
    assert numbers(wg.pullback(f, make(*at))[1](1.0)[0]) == found
    product = wg.hvp(f)(make(*at), gradient)
    assert type(product) is type(gradient)


def changes_entries(p):
    p.a = p.a * p.b
    p["c"] = p.a
    return p.c * p.b


def changes_items(p):
    p.append(p[0] * 2)
    p[1] *= p[2]
    del p[0]
    p.extend([p[0]])
    p.insert(0, 3.0 * p[1])
    return sum(x * x for x in p) * p.pop()


def changes_what_it_holds(s):
    for _ in range(3):
        s.step(0.1)
    s.damping *= 2
    return s.energy() * s.damping


class Doubling(list):
    def append(self, x):
        super().append(2 * x)

    def __setitem__(self, index, value):
        super().__setitem__(index, value + 1)


def changes_by_own_methods(p):
    p.append(p[0])
    p[1] *= 3
    return p[-1] * p[1] * p[2]


CHANGING = [
    (changes_entries, lambda a, b: Params(a=a, b=b), (1.5, 2.0)),
    (changes_items, lambda *x: Path(x), (1.0, 2.0, 4.0)),
    (changes_what_it_holds, lambda x, v, d: System([Body(x, v)], d), (1.0, 2.0, 0.3)),
    (changes_by_own_methods, lambda *x: Doubling(x), (1.0, 2.0, 4.0)),
]


@pytest.mark.parametrize(("f", "make", "at"), CHANGING)
def test_changed_where_they_are_given(f, make, at):
    wanted = oracle.central_gradient(lambda *x: f(make(*x)), *at)
    given, plain = make(*at), make(*at)
    value, gradient = wg.value_and_grad(f)(given)
    assert value == pytest.approx(f(plain))
    assert numbers(gradient) == pytest.approx(list(wanted), rel=1e-6)
    assert numbers(given) == numbers(plain)
    assert type(given) is type(plain)


# Classes that say themselves how their items are read


class Scaled(dict):
    def __getitem__(self, key):
        return 2 * super().__getitem__(key)


class Twice(list):
    def __iter__(self):
        for k in range(len(self)):
            yield 2 * list.__getitem__(self, k)


class Threefold(tuple):
    def __getitem__(self, index):
        return 3 * tuple.__getitem__(self, index)


class Longer(list):
    def __len__(self):
        return 7


class Full(dict):
    def __missing__(self, key):
        return 5.0


class Double(collections.Counter):
    def __getitem__(self, key):
        return 2 * super().__getitem__(key)


class Triple(collections.OrderedDict):
    def get(self, key, default=None):
        return 3 * self[key]


class Everything(collections.defaultdict):
    def __contains__(self, key):
        return True


class Wrapped(collections.UserDict):
    def __getitem__(self, key):
        return 2 * self.data[key]


OVERRIDING = [
    (lambda p: p["a"] ** 2, Scaled(a=1.5), {"a": 12.0}),
    (lambda p: sum(x * x for x in p), Twice([1.0, 2.0]), [8.0, 16.0]),
    (lambda p: p[0] * p[1], Threefold([1.0, 2.0]), (18.0, 9.0)),
    (lambda p: p[0] * len(p), Longer([1.0, 2.0]), [7.0, 0.0]),
    (lambda p: p["a"] * p["b"], Full(a=2.0), {"a": 5.0}),
    (lambda p: p["a"] * p["b"], Double(a=2.0, b=3.0), {"a": 12.0, "b": 8.0}),
    (lambda p: p.get("a") * p["b"], Triple(a=2.0, b=3.0), {"a": 9.0, "b": 6.0}),
    (lambda p: p["a"] if "c" in p else p["b"] * 3, Everything(float, a=2.0, b=3.0), {"a": 1.0, "b": 0.0}),
]  # fmt: skip


@pytest.mark.parametrize(("f", "given", "wanted"), OVERRIDING)
def test_methods_of_the_class_are_called(f, given, wanted):
    value, gradient = wg.value_and_grad(f)(given)
    assert value == f(given)
    assert getattr(gradient, "contents", gradient) == wanted
    assert wg.pushforward(f, given)[1](gradient) == pytest.approx(
        sum(n * n for n in numbers(wanted))
    )


@pytest.mark.parametrize(("f", "given", "wanted"), OVERRIDING)
def test_code_for_any_kinds_never_ignores_them(f, given, wanted):
    with pytest.raises(
        ValueError, match=r"of its class|as its class says|is a method of the class"
    ):
        alone(wg.grad(f))(given)


def test_items_of_other_objects_in_code_for_any_kinds():
    assert wg.gradient(lambda p: p["a"] ** 2, Wrapped(a=1.5))[0].data == {"a": 12.0}
    with pytest.raises(ValueError, match="the items of a Wrapped are read as its class says"):
        alone(wg.grad(lambda p: p["a"] ** 2))(Wrapped(a=1.5))


def test_gradients_of_such_objects_nest():
    inner = wg.grad(lambda q: q["a"] ** 3 * q["b"])
    assert wg.grad(lambda p: inner(p).contents["a"])(Scaled(a=2.0, b=3.0)).contents == {
        "a": 576.0,
        "b": 192.0,
    }
    attribute = wg.grad(lambda p: wg.grad(lambda q: q.a**3 * q["b"])(p).a)(Params(a=2.0, b=3.0))
    assert attribute == {"a": 36.0, "b": 12.0}


# Elsewhere


CONFIG = Params(rate=0.1, shift=3.0)
LINE = Path([1.0, 2.0])


def test_captured_and_global():
    config = Params(rate=0.1)
    assert wg.grad(lambda x: config.rate * x**2)(2.0) == pytest.approx(0.4)
    assert wg.grad(lambda x: CONFIG.rate * x**2 + CONFIG["shift"] * x)(2.0) == pytest.approx(3.4)
    assert wg.grad(lambda x: LINE.length() * x + LINE[1] * x)(2.0) == pytest.approx(3.0)
    captured, _ = wg.gradient(lambda f, x: f(x), lambda x: config.rate * x**2, 2.0)
    assert captured.config == {"rate": 4.0}


def test_returned():
    y, back = wg.pullback(lambda x: Path([x, x * x]), 3.0)
    assert (type(y), y, back([1.0, 1.0])) == (Path, [3.0, 9.0], (7.0,))
    y, push = wg.pushforward(lambda x: Params(a=x, b=x * x), 3.0)
    assert (type(y), y, push(1.0)) == (Params, {"a": 3.0, "b": 9.0}, {"a": 1.0, "b": 6.0})


def test_arrays_in_them():
    p = AttrDict(W=np.array([[1.0, 2.0], [3.0, 4.0]]), b=np.array([0.1, 0.2]))
    wg.testing.check_gradient(lambda p: float(np.sum(np.tanh(p.W @ p.b) * p.b)), p)


def test_matrices_of_derivatives():
    p = Params(a=2.0, b=3.0)
    assert wg.hessian(lambda p: p.a**2 * p["b"])(p) == {
        "a": {"a": 6.0, "b": 4.0},
        "b": {"a": 4.0, "b": 0.0},
    }
    assert wg.jacobian(lambda p, *, s: np.array([p.a * s, p.b]))(p, s=5.0)["a"].tolist() == [
        5.0,
        0.0,
    ]
    assert wg.hessian(lambda p: p.mean() * p[0] ** 2)(Path([2.0, 3.0])).tolist() == [
        [9.0, 2.0],
        [2.0, 0.0],
    ]
    for f, given in ((System.energy, System([Body(1.0, 2.0)])), (lambda x: Params(a=x), 2.0)):
        error = refusal("WG202", TypeError, lambda f=f, given=given: wg.jacobian(f)(given))
        says(error, "a matrix of derivatives has no form for an object of class")


def test_on_exact_numbers():
    gradient = wg.grad(lambda p: p.a**2 * p["b"])(Params(a=Fraction(1, 3), b=Fraction(2)))
    assert gradient == {"a": Fraction(4, 3), "b": Fraction(1, 9)}
    assert wg.grad(lambda p: p.mean() * p[0])(Path([Fraction(1), Fraction(3)])) == [
        Fraction(5, 2),
        Fraction(1, 2),
    ]


def test_called_by_what_only_the_run_knows():
    functions = {"u": lambda p: p.a**2, "v": lambda p: p["b"] * p.a}

    def f(p, keys):
        return sum(functions[key](p) for key in keys)

    assert wg.gradient(f, Params(a=2.0, b=3.0), ["u", "v"] * 5)[0] == {"a": 35.0, "b": 10.0}


@pytest.mark.static_tier
def test_the_dictionary_of_its_attributes_is_refused():
    def f(x):
        s = System([Body(x, 1.0)])
        return vars(s)["damping"] * x

    error = refusal("WG101", NotImplementedError, lambda: wg.grad(f)(0.5))
    says(error, "the `__dict__` of an object whose class, System, is built on a container")


def test_absolute_values_of_a_long_path():
    def f(x):
        points = Path()
        for k in range(30):
            points.append(math.sin(x * k))
        return points.length()

    assert wg.grad(f)(0.7) == pytest.approx(oracle.central_gradient(f, 0.7)[0], rel=1e-6)


def chosen_when_it_runs(x, indices):
    things = [{"a": x}, Scaled(a=x), Wrapped(a=x * x)] * 4
    return sum(things[k]["a"] for k in indices)


def walked_over_when_it_runs(x, indices):
    things = [[x, x * x], Twice([x, x * x]), Path([x, 3.0])] * 4
    total = 0.0
    for k in indices:
        a, b = things[k]
        total += a * b + float(np.sum(np.array(things[k])))
    return total


@pytest.mark.parametrize("f", [chosen_when_it_runs, walked_over_when_it_runs])
def test_which_object_it_is_the_run_decides(f):
    indices = [0, 1, 2, 4, 5, 11, 3]
    (wanted,) = oracle.central_gradient(lambda x: f(x, indices), 0.7)
    assert wg.grad(f)(0.7, indices) == pytest.approx(wanted, rel=1e-6)
    assert wg.pushforward(f, 0.7, indices)[1](1.0, None) == pytest.approx(wanted, rel=1e-6)


# In recorded runs


@pytest.mark.parametrize(("f", "make", "at"), GIVEN)
def test_arguments_that_are_built_on_containers(f, make, at):
    (wanted,) = wg.gradient(f, make(*at))
    gradient = wg.grad(f, tier="recorded")(make(*at))
    assert numbers(gradient) == pytest.approx(numbers(wanted))
    product = wg.hvp(f, tier="recorded")(make(*at), gradient)
    expected = wg.hvp(f, tier="static")(make(*at), wanted)
    assert type(product) is type(gradient)
    assert numbers(product) == pytest.approx(numbers(expected))
    assert any(numbers(product))
    push = recorded.pushforward(f, (make(*at),), {})[1]
    assert push(gradient) == pytest.approx(sum(n * n for n in numbers(gradient)))


class Stack(list):
    def __init__(self, items, weight=1.0):
        super().__init__(items)
        self.weight = weight


def test_results_that_are_built_on_containers():
    y, back = recorded.pullback(lambda x: Stack([x, x * x], x**3), (3.0,), {})
    assert (type(y), y, y.weight) == (Stack, [3.0, 9.0], 27.0)
    assert back(Stack([1.0, 1.0], 2.0)) == (7.0 + 54.0,)
    assert recorded.pullback(lambda x: Path([x, x * x]), (3.0,), {})[1]([1.0, 1.0]) == (7.0,)
    dot = recorded.pushforward(lambda x: Stack([x, x * x], x**3), (3.0,), {})[1](1.0)
    assert (type(dot), dot, dot.weight) == (Stack, [1.0, 6.0], 27.0)
    jacobian = wg.jacobian(lambda x: Path([x, x * x]), tier="recorded")
    assert jacobian(3.0) == pytest.approx(np.array([1.0, 6.0]))


def test_numpy_takes_what_is_built_on_a_list():
    def f(x):
        table = np.stack(Path([np.ones(2) * x, np.ones(2)]))
        return np.sum(Path([x, x**3])) * np.mean(table)

    assert wg.grad(f, tier="recorded")(0.7) == pytest.approx(oracle.central_gradient(f, 0.7)[0])


def test_matrices_by_what_is_built_on_containers():
    hessian = wg.hessian(lambda p: p[0] ** 2 * p[1], tier="recorded")
    assert hessian(Path([2.0, 3.0])) == pytest.approx(np.array([[6.0, 4.0], [4.0, 0.0]]))
    for f, x in ((lambda s: s[0] * s.weight, Stack([2.0])), (lambda x: Stack([x]), 2.0)):
        jacobian = wg.jacobian(f, tier="recorded")
        error = refusal("WG202", TypeError, lambda: jacobian(x))  # noqa: B023
        says(error, "a matrix of derivatives has no form for an object of class Stack")


def test_a_vector_of_another_structure_is_refused():
    product = wg.hvp(lambda d: d["a"] ** 2 * d["b"], tier="recorded")
    error = refusal("WG203", ValueError, lambda: product({"a": 1.0, "b": 2.0}, {"c": 1.0}))
    says(error, "the vector does not have the structure")
