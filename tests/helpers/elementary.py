"""Elementary functions of vectors: where they are looked at, and how far they are from the right value."""

import ctypes
import math

import mpmath as mp
import numpy as np

from wengert.backends.native.run.machine import compiled, machine

AROUND = {"exp": 0.0, "expm1": 0.0, "tanh": 0.0, "erf": 0.0, "log": 1.0, "log1p": 0.0}
"""Where functions have a value that more digits depend on than elsewhere."""
ANGLES = ("sin", "cos", "tan")


def points(name, type_, count, rng):
    """Arguments over the whole range: any bits, moderate numbers, where the function turns, and the ends.

    Gives arrays, one for each argument.
    """
    if name == "pow":
        return _bases_and_powers(type_, count, rng)
    info = np.finfo(type_)
    whole = np.uint64 if type_ == np.float64 else np.uint32
    bits = rng.integers(0, np.iinfo(whole).max, count, dtype=whole, endpoint=True).view(type_)
    signs = rng.choice([-1.0, 1.0], count)
    small = AROUND.get(name, 0.0) + signs * np.exp(rng.uniform(-40.0, 1.0, count))
    most = math.log(float(info.max)) + 5.0
    found = [
        bits,
        signs * np.exp(rng.uniform(-5.0, 5.0, count)),
        small,
        rng.uniform(-most - 40.0, most, count),
        signs * float(info.tiny) * np.exp(rng.uniform(-20.0, 3.0, count)),
        np.array([0.0, 1.0, np.inf, np.nan, info.max, info.tiny, info.smallest_subnormal]),
    ]
    found.append(-found[-1])
    if name in ANGLES:
        most = 2.0**28 if type_ == np.float64 else 2.0**16
        zeros = [np.rint(rng.uniform(-m, m, count)) * (math.pi / 2) for m in (100.0, most / 2)]
        found += [*zeros, rng.uniform(-most, most, count)]
    if name == "log1p":
        found.append(np.exp(rng.uniform(-40.0, 0.0, count)) - 1.0)
    with np.errstate(all="ignore"):
        return [np.concatenate([each.astype(type_) for each in found])]


def _bases_and_powers(type_, count, rng):
    info = np.finfo(type_)
    bases = [
        np.exp(rng.uniform(math.log(info.tiny), math.log(info.max), count)),
        np.exp(rng.uniform(-1.0, 1.0, count)),
        1.0 + rng.choice([-1.0, 1.0], count) * np.exp(rng.uniform(-30.0, -1.0, count)),
        rng.uniform(-5.0, 5.0, count),
    ]
    most = math.log(info.max)
    with np.errstate(all="ignore"):
        x = np.concatenate([each.astype(type_) for each in bases])
        y = rng.uniform(-most - 40.0, most + 1.0, len(x)) / np.log(np.abs(x).astype(float))
        whole = rng.random(len(x)) < 0.1
        y = np.where(whole, np.rint(y), y).astype(type_)
        ends = np.array([0.0, 1.0, 2.5, np.inf, info.max, info.tiny, info.smallest_subnormal])
        ends = np.concatenate([ends, -ends, [np.nan]]).astype(type_)
    pairs = np.meshgrid(ends, ends)
    return [np.concatenate([all_, pair.ravel()]) for all_, pair in zip((x, y), pairs, strict=True)]


def right(name, args):
    """The values with more digits than any float has; None where there is none that is finite and real."""
    with mp.workprec(160):
        return [
            _right(name, [float(number) for number in each]) for each in zip(*args, strict=True)
        ]


def _right(name, numbers):
    x = numbers[0]
    is_out = (name == "log" and x <= 0) or (name == "log1p" and x <= -1)
    if name == "pow":
        is_out = (x < 0 and numbers[1] % 1) or (x == 0 and numbers[1] < 0)
    if is_out or not all(map(math.isfinite, numbers)):
        return None
    return getattr(mp, "power" if name == "pow" else name)(*map(mp.mpf, numbers))


def units_off(found, expected, type_):
    """How far numbers are off, in units of the last place of the right ones; NaN where there is no right one."""
    info = np.finfo(type_)
    with mp.workprec(160):
        return np.array(
            [
                math.nan if value is None else _off(float(number), value, info)
                for number, value in zip(found, expected, strict=True)
            ]
        )


def _off(number, value, info):
    if math.isinf(number):  # right if the nearest float is infinite
        most = mp.mpf(float(info.max)) * (1 + mp.mpf(2) ** -(info.nmant + 2))
        return 0.0 if value * math.copysign(1, number) >= most else math.inf
    exponent = max(int(mp.frexp(value)[1]) - 1, info.minexp)
    return float(abs(mp.mpf(number) - value) / mp.mpf(2) ** (exponent - info.nmant))


def of_vectors(name, shape, arity=1):
    """A function of arrays: a function of vectors by its name, called for one vector after the other."""
    number = "double" if shape.code == "f64" else "float"
    m = machine()
    text = _LOOP.replace("READ", "".join(_READ.replace("X", f"x{k}") for k in range(arity)))
    for word, by in (
        ("POINTERS", ", ".join(f"ptr %x{k}" for k in range(arity))),
        ("VALUES", ", ".join(f"VECTOR %x{k}.value" for k in range(arity))),
        ("TYPES", ", ".join(["VECTOR"] * arity)),
        ("VECTOR", shape.type),
        ("NUMBER", number),
        ("NAME", name),
        ("LANES", str(shape.lanes)),
        ("CPU", m.cpu),
        ("FEATURES", m.features),
    ):
        text = text.replace(word, by)
    code = compiled(text)
    words = [ctypes.c_void_p] * (arity + 1)
    loop = ctypes.CFUNCTYPE(None, *words, ctypes.c_int64)(code.address("loop"))

    def function(*args):
        size = len(args[0])
        padded = [np.concatenate([x, np.ones(-size % shape.lanes, x.dtype)]) for x in args]
        result = np.empty_like(padded[0])
        loop(*(x.ctypes.data for x in padded), result.ctypes.data, len(result))
        return result[:size]

    function.loop, function.code = loop, code
    return function


_READ = """
  %X.i = getelementptr NUMBER, ptr %X, i64 %i
  %X.value = load VECTOR, ptr %X.i, align 4"""

_LOOP = """
declare VECTOR @NAME(TYPES) nounwind

define void @loop(POINTERS, ptr %y, i64 %n) nounwind #0 {
start:
  br label %turn
turn:
  %i = phi i64 [ 0, %start ], [ %next, %turn ]READ
  %y.i = getelementptr NUMBER, ptr %y, i64 %i
  %result = call VECTOR @NAME(VALUES)
  store VECTOR %result, ptr %y.i, align 4
  %next = add i64 %i, LANES
  %more = icmp slt i64 %next, %n
  br i1 %more, label %turn, label %done
done:
  ret void
}

attributes #0 = { "target-cpu"="CPU" "target-features"="FEATURES" }
"""
