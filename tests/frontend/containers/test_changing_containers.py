"""Containers that an argument holds, changed by their methods: dictionaries, lists, sets, deques and their like."""

import array
import types
from collections import Counter, OrderedDict, deque

import line_programs
import numpy as np
import pytest
import standing_alone
from error_texts import refusal, says

import wengert as wg

HEAD = """
import numpy as np
from collections import Counter, OrderedDict, defaultdict, deque


class Box:
    pass


def arguments():
    o = Box()
    o.d = {"p": 1.5, "q": 2.0}
    o.e = {"r": 0.25, "p": 3.0}
    o.xs = [1.0, 3.0, 2.0]
    o.s = {1, 2, 3}
    o.dq = deque([1.0, 2.0, 4.0])
    o.dd = defaultdict(float, a=1.0)
    o.c = Counter("aab")
    o.od = OrderedDict(a=1.0, b=2.0)
    o.da = {"u": np.array([1.0, 2.0]), "v": np.array([3.0, 4.0])}
    o.ys = [np.array([1.0, 2.0]), np.array([3.0, 4.0])]
    o.inner = Box()
    o.inner.d = {"k": 2.0}
    o.t = ({"k": 2.5}, [1.0, 2.0])
    o.dl = {"a": [1.0, 2.0], "b": [3.0]}
    return (o,)


def told(o, x):
    return sum(o.d.values()) + sum(o.e.values()) * x + sum(o.xs)
"""

LINES = line_programs.Lines(
    "changing_containers",
    HEAD,
    "o",
    """
o.d.update(o.e); return x * o.d["p"] + o.d["r"]
o.d["p"] = x; o.e.update(o.d); return o.e["p"] * x + o.e["q"]
o.d["p"] = x; o.e |= o.d; return o.e["p"] * x + o.e["q"]
o.d.clear(); o.d["z"] = x; return sum(o.d.values()) * x
o.d["z"] = x * x; v = o.d.pop("z"); return v * len(o.d)
o.d["z"] = x * x; k, v = o.d.popitem(); return v * len(o.d)
v = o.d.setdefault("z", x); w = o.d.setdefault("p", x); return v * w + o.d["z"]
o.d["p"] = x; del o.d["q"]; return sum(v * x for v in o.d.values())
o.d["p"] *= x; o.d["q"] += x * x; return sum(o.d.values())
o.d.update((k, v * x) for k, v in o.e.items()); return sum(o.d.values())
o.d.update({k: v * x for k, v in o.e.items()}); return sum(o.d.values())
o.d.update(zip(["a", "b"], [x, x * x])); return sum(o.d.values())
o.d.update(a=x, **o.e); return o.d["a"] * o.d["p"] * o.d["r"]
o.d |= {"a": x}; o.d |= o.e; return o.d["a"] * o.d["p"]
o.d |= [("a", x)]; return o.d["a"] * x
o.d = {**o.d, "a": x}; return o.d["a"] * x
o.d = o.d | {"a": x}; return o.d["a"] * x
o.xs.append(x); return o.xs[-1] * o.xs[0]
o.xs.extend([x, x * x]); return sum(o.xs) * x
o.xs += [x]; return sum(o.xs) * x
o.xs *= 2; o.xs[0] = x; return sum(o.xs) * x
o.xs.insert(1, x); return o.xs[1] * o.xs[2]
o.xs[1] = x; v = o.xs.pop(1); return v * sum(o.xs)
o.xs.append(x); v = o.xs.pop(); return v * v
o.xs.remove(3.0); o.xs[1] = x; return sum(o.xs) * x
o.xs[0] = x; o.xs.sort(); return o.xs[0] * 3 + o.xs[1] * 5 + o.xs[2] * 7
o.xs[0] = x; o.xs.sort(reverse=True); return o.xs[0] * 3 + o.xs[1] * 5 + o.xs[2] * 7
o.xs[0] = x; o.xs.sort(key=lambda v: -v); return o.xs[0] * 3 + o.xs[1] * 5 + o.xs[2] * 7
o.xs[0] = x; o.xs.reverse(); return o.xs[0] * 3 + o.xs[2] * 7
o.xs.clear(); o.xs.append(x); return o.xs[0] * len(o.xs) * x
o.xs[1:] = [x, x * x, x]; return sum(o.xs) * x
del o.xs[:2]; o.xs.append(x); return sum(o.xs) * x
o.xs[::2] = [x, x * x]; return o.xs[0] + o.xs[1] * o.xs[2]
o.s.add(7); return x * len(o.s)
o.s |= {5, 6}; o.s -= {1}; o.s &= {2, 5, 6}; o.s ^= {9}; return x * sum(o.s)
o.s.update([8, 9]); o.s.intersection_update({8, 1}); return x * sum(o.s)
o.s.difference_update({1}); o.s.symmetric_difference_update({4}); return x * sum(o.s)
o.s.clear(); o.s.add(3); return x ** sum(o.s)
o.dq.append(x); o.dq.appendleft(x * x); return sum(o.dq) * o.dq[0]
o.dq.append(x); o.dq.rotate(1); return o.dq[0] * o.dq[1]
o.dq.extend([x, x]); o.dq.extendleft([x]); v = o.dq.pop(); return v * sum(o.dq)
o.dd["b"] += x; o.dd["a"] *= x; return sum(o.dd.values())
o.dd.update(a=x); return o.dd["a"] * (o.dd["zz"] + x)
o.da["u"][0] = x; o.da.update(w=o.da["u"] * x); return o.da["w"] @ o.da["v"]
o.da["u"] *= x; return o.da["u"] @ o.da["v"]
o.da["w"] = x * o.da["u"]; o.da["w"][0] = 1.0; return o.da["w"] @ o.da["v"]
o.da.update({"u": x * o.da["v"]}); o.da["u"][1] *= x; return o.da["u"].sum()
o.ys[0][1] = x; o.ys.append(o.ys[0] * x); return o.ys[2] @ o.ys[1]
o.ys += [x * o.ys[0]]; return sum(y.sum() for y in o.ys)
o.inner.d.update(z=x); return o.inner.d["z"] * o.inner.d["k"]
o.inner.d |= {"k": x}; return o.inner.d["k"] ** 2
o.inner.d.clear(); o.inner.d["k"] = x; return o.inner.d["k"] ** 2
o.t[0].update(z=x); o.t[1].append(x); return o.t[0]["z"] * sum(o.t[1])
o.t[0].clear(); o.t[1].clear(); o.t[1].append(x); return o.t[1][0] * x
o.dl["a"].append(x); o.dl["b"] += [x * x]; return sum(map(sum, o.dl.values()))
o.dl.setdefault("c", []).append(x); o.dl.setdefault("a", []).append(x); return sum(map(sum, o.dl.values())) * x
o.dl["a"].sort(reverse=True); o.dl["a"][0] = x; return sum(v * k for k, v in enumerate(o.dl["a"], 1)) * x
o.dl.update(a=[x, x]); o.dl["a"].append(1.0); return sum(o.dl["a"]) * x
o.dl["a"][0] = x; o.dl["c"] = o.dl.pop("a"); return sum(o.dl["c"]) * x
d = dict(o.d); d.update(p=x); return d["p"] * o.d["p"]
d = o.d.copy(); d.clear(); d["p"] = x; return d["p"] * o.d["p"]
d = o.d; d.update(p=x, z=x * x); return o.d["p"] * o.d["z"]
d = o.d if x > 0 else o.e; d.update(p=x); return o.d["p"] * x
for d in (o.d, o.e): d.update(p=x * len(d)); return told(o, x)
for k in list(o.d): o.d.update({k: o.d[k] * x, k + "2": x}); return told(o, x)
for k, v in o.e.items(): o.d.update({k: v * x}); return told(o, x)
for k in range(3): o.xs.append(x * o.xs[-1]); return told(o, x)
while len(o.xs) > 1: o.d.update(p=o.d["p"] + o.xs.pop() * x); return told(o, x)
""",
)

DEQUES = line_programs.Lines(
    "changing_deques",
    """
import numpy as np
from collections import deque


def arguments():
    return (deque([1.0, 2.0]),)
""",
    "dq",
    """
dq.append(x); return dq[-1] * x
deque.append(dq, x); return dq[-1] * x
dq.append(x); dq.rotate(1); return dq[0] * dq[1]
deque.rotate(dq, 1); dq[0] = x; return dq[0] * dq[1]
dq.insert(1, x); return dq[1] * dq[2]
dq.extendleft([x, x * x]); return dq[0] + dq[1] * dq[2]
dq.appendleft(x); return sum(dq) * dq[0]
dq.clear(); dq.append(x); return dq[0] * len(dq) * x
dq[0] += x; dq[1] *= dq[0]; return dq[1] * x
del dq[0]; dq.append(x); return dq[1] * dq[0]
dq.remove(2.0); dq.append(x); return dq[1] * dq[0]
a, b = dq; dq[0] = b * x; return dq[0] * a
dq = deque(dq, maxlen=2); dq.append(x); return dq[0] * dq[1]
dq = deque([v * x for v in dq]); dq.rotate(); return dq[0] * x
e = list(dq); e[0] = x; return e[0] * dq[0]
e = dq.copy(); e[0] = x; return e[0] * dq[0]
for v in dq: e = v * x; return e
for k, v in enumerate(dq): dq[k] = v * x; return sum(dq)
for k in range(4): dq.append(dq.popleft() * x); return sum(dq)
for v in reversed(dq): x = v * x * x; return x
return np.mean(dq) * x + np.array(dq) @ np.array(dq) * x
return max(dq) * min(dq) * x + len(dq)
return float(2.0 in dq) * x + dq.index(2.0) + dq.count(1.0) * x
return sum(v * w for v, w in zip(dq, [1.0, x])) * x
""",
)


test_what_an_object_holds = line_programs.test_of(LINES)
test_a_deque_from_outside = line_programs.test_of(DEQUES)


HISTORY = deque([1.0, 2.0])
NUMBERS = array.array("d", [1.0, 2.0])
TEXT = bytearray(b"ab")


def of_history(x):
    return HISTORY[0] * x + len(HISTORY) * x


def of_numbers(x):
    return NUMBERS[0] * x + sum(NUMBERS) * x


def of_text(x):
    return TEXT[0] * x


@pytest.mark.parametrize(
    ("program", "change"),
    [
        (of_history, lambda: HISTORY.appendleft(3.0)),
        (of_numbers, lambda: NUMBERS.insert(0, 3.0)),
        (of_text, lambda: TEXT.insert(0, 3)),
    ],
)
def test_what_containers_written_in_c_hold_is_read_in_every_call(program, change):
    derivative = wg.grad(program)
    assert derivative(0.5) == pytest.approx(program(1.0))
    change()
    assert derivative(0.5) == pytest.approx(program(1.0))


class Filter:
    def __init__(self):
        self.window = deque(maxlen=3)

    def step(self, x):
        self.window.append(x * x)
        return sum(self.window)


def test_a_deque_that_drops_items():
    """Made inside it does; made outside its length would be another one than that of its cotangent."""

    def inside(x):
        made = Filter()
        made.step(x)
        return made.step(2 * x)

    assert wg.grad(inside)(0.5) == pytest.approx(5.0)
    error = refusal("WG101", NotImplementedError, lambda: wg.grad(Filter().step)(0.5))
    says(error, "`append` drops items here, since this is a deque that was made elsewhere")


def counted_up(x, counts):
    counts.update(a=x)
    return counts["a"] * x


def counted_by_operator(x, counts):
    counts |= {"a": x}
    return counts["a"] * x


@pytest.mark.parametrize("program", [counted_up, counted_by_operator])
def test_a_counter_from_outside_adds_up(program):
    error = refusal("WG101", NotImplementedError, lambda: wg.grad(program)(0.5, Counter(a=3)))
    says(error, "`update` adds up here, since this is a Counter that was made elsewhere")


def first_taken_out(x, table):
    table["a"] = x
    _, value = table.popitem(last=False)
    return value * x


def test_the_first_item_of_an_ordered_dictionary():
    assert wg.grad(first_taken_out)(0.5, OrderedDict(a=1.0, b=2.0)) == 1.0
    assert wg.pushforward(first_taken_out, 0.5, OrderedDict(a=1.0))[1](1.0, None) == 1.0
    alone = standing_alone.alone(wg.grad(first_taken_out))
    with pytest.raises(ValueError, match="in a way of its class alone"):
        alone(0.5, OrderedDict(a=1.0, b=2.0))


def nothing_taken_out(x, table):
    table.clear()
    return x * table.popitem()[1]


def test_an_item_of_an_empty_dictionary():
    with pytest.raises(KeyError, match="dictionary is empty"):
        wg.grad(nothing_taken_out)(0.5, {"a": 1.0})


class Tally:
    def __init__(self, total):
        self.total = total

    def __ior__(self, other):
        self.total *= other
        return self

    def __iand__(self, other):
        self.total += other
        return self

    def __ilshift__(self, other):
        self.total -= other * other
        return self


def by_operators_of_its_own(x):
    tally = same = Tally(x)
    tally |= x
    tally &= x**3
    tally <<= x
    return same.total * x


def test_operators_in_place_of_a_class():
    assert wg.grad(by_operators_of_its_own)(0.7) == pytest.approx(4 * 0.7**3)


def products(numbers):
    total = 0.0
    for v in numbers:
        total += v * v
    return total * numbers[0]


@pytest.mark.parametrize("make", [deque, lambda xs: array.array("d", xs)])
def test_the_gradient_of_a_sequence_written_in_c_is_a_list(make):
    numbers = make([2.0, 3.0])
    assert wg.grad(products)(numbers) == [21.0, 12.0]
    assert wg.hvp(products)(numbers, [1.0, 0.0]) == [12.0, 6.0]
    assert wg.pushforward(products, numbers)[1]([1.0, 0.0]) == 21.0


TABLE = {"a": 1.0}
VIEWED = types.MappingProxyType(TABLE)


def of_a_view_of_a_dictionary(x, a, m):
    TABLE["a"] = x
    return VIEWED["a"] * x


def of_one_made_inside(x, a, m):
    d = {"a": 1.0}
    p = types.MappingProxyType(d)
    d["a"] = x
    return p["a"] * x


def of_the_memory_of_an_array(x, a, m):
    a[0] = x
    return m[0] * x


@pytest.mark.static_tier
@pytest.mark.parametrize(
    ("program", "words"),
    [
        (of_a_view_of_a_dictionary, "a mappingproxy shows what another object holds"),
        (of_one_made_inside, "a view of a dictionary, which changes with it"),
        (of_the_memory_of_an_array, "a memoryview shows what another object holds"),
    ],
)
def test_what_shows_the_items_of_another_object_is_refused(program, words):
    a = np.arange(3.0)
    says(
        refusal("WG101", NotImplementedError, lambda: wg.grad(program)(0.5, a, memoryview(a))),
        words,
    )


def test_source_that_stands_alone_refuses_to_be_given_the_memory_of_an_array():
    a = np.arange(3.0)
    alone = standing_alone.alone(wg.grad(of_the_memory_of_an_array))
    with pytest.raises(
        ValueError, match="a memoryview given to it shows what another object holds"
    ):
        alone(0.5, a, memoryview(a))


class Model:
    @property
    def rate(self):
        return 2.0

    @staticmethod
    def scale(x):
        return 2.0 * x


def of_a_class(x, model):
    return model.rate * x + model.scale(x)


def test_a_property_and_a_static_method_that_are_replaced():
    derivative = wg.grad(of_a_class)
    assert derivative(0.5, Model()) == 4.0
    Model.rate = property(lambda self: 5.0)
    assert derivative(0.5, Model()) == 7.0
    Model.scale = staticmethod(lambda x: 3.0 * x)
    assert derivative(0.5, Model()) == 8.0
