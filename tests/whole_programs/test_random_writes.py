"""Programs that nobody wrote and that change what they are given, held against the oracle.

`WENGERT_RANDOM_PROGRAMS=100000` runs that many and says how far it is, `WENGERT_RANDOM_BATCH=7` starts with
another batch (see CONTRIBUTING.md).
"""

from __future__ import annotations

import collections
import functools
import importlib
import math
import os
import random
import traceback

import exact
import numpy as np
import oracle
import pytest
import trees
from hypothesis import HealthCheck, Phase, given, seed as seeded, settings, strategies as st
from random_changes import HEAD, OPENING, SLOPE, Drawn, Writer, arguments

import wengert as wg
from wengert.compile import engine
from wengert.errors import InternalError

closure_calls = importlib.import_module("wengert.frontend.calls.closure_calls")
interpreter = importlib.import_module("wengert.frontend.machine.interpreter")

PER_BATCH = 30
PROGRAMS = int(os.environ.get("WENGERT_RANDOM_PROGRAMS", "240"))
FIRST = int(os.environ.get("WENGERT_RANDOM_BATCH", "0"))
BATCHES = range(FIRST, FIRST + -(-PROGRAMS // PER_BATCH))
REFUSED = 0.30
"""The share of programs that may be refused: it may only shrink."""
LEFT_OUT = 0.20
REL = 1e-9  # a drawn program may be badly conditioned; a wrong derivative is wrong by far more
ACTIVE = (0, 1, 2, 3, 4)
Found = collections.Counter
SO_FAR = Found()
"""How the programs of the batches that this process has run came out."""


class LeftOut(Exception):
    """The oracle has nothing to say of a program, or its numbers blow up."""


class Refused(Exception):
    """wengert says that it cannot differentiate a program."""


@st.composite
def changing_programs(draw):
    below = functools.cache(lambda n: st.integers(0, n - 1))
    return Drawn(Writer(lambda n: draw(below(n))).program())


def state(value, known=None):
    """What arguments hold, and which of the objects in them are one object."""
    known = {} if known is None else known
    if isinstance(value, float | int):
        return float(value)
    if id(value) in known:
        return f"object {known[id(value)][0]}"
    known[id(value)] = len(known), value
    if isinstance(value, np.ndarray):
        return [state(item, known) if item.ndim else float(item) for item in map(np.asarray, value)]
    items = value if isinstance(value, list | tuple) else vars(value).values()
    return [state(item, known) for item in items]


def refusable(compute):
    """A refusal is told from an error that the program raises itself, and from wengert's own."""
    try:
        return compute()
    except wg.WengertError as error:
        if isinstance(error, InternalError):
            raise
        raise Refused(str(error)) from None
    except (ValueError, TypeError, NameError) as error:  # of source that stands alone
        if getattr(error, "code", "").startswith("WG1") or "'Box'" in str(error):
            raise Refused(str(error)) from None
        raise


class Check:
    """One program, everything that is asked of it, and what the oracle says."""

    def __init__(self, module):
        self.module, self.program = module, module.program
        args = self.args()
        self.tangents = (*trees.random_like(args[:-1]), None)
        try:
            self.value = self.program(*args)
        except (IndexError, KeyError, ValueError, TypeError, AttributeError) as error:
            raise LeftOut from error
        self.after = state(args)
        exact_value, self.slope = self.expected()
        if not abs(self.value) < 1e3 or not abs(self.slope) < 1e5:
            raise LeftOut
        if not math.isclose(exact_value, self.value, rel_tol=REL, abs_tol=REL):
            raise LeftOut  # which path it takes hangs on the rounding of a number

    def args(self):
        return arguments(self.module)

    def expected(self):
        try:
            value = oracle.run(self.program, *self.args())
            return value, oracle.directional(self.program, self.args(), self.tangents)
        except (exact.NotCovered, OverflowError, ZeroDivisionError) as error:
            raise LeftOut from error

    def close(self, found, expected, what):
        scale = 1 + abs(self.value) + abs(self.slope)
        assert abs(found - expected) <= REL * scale, f"{what}: {found!r}, expected {expected!r}"

    def changed_alike(self, args, what):
        found, expected = state(args), self.after
        assert _alike(found, expected), f"{what} leaves {found}, the function {expected}"

    def reverse(self):
        args = self.args()
        value, back = refusable(lambda: wg.pullback(self.program, *args))
        self.close(value, self.value, "value")
        self.changed_alike(args, "reverse mode")
        first = trees.inner(back(1.0)[:-1], self.tangents[:-1])
        self.close(first, self.slope, "reverse")
        again = trees.inner(back(2.0)[:-1], self.tangents[:-1])
        self.close(again, 2 * self.slope, "the second pullback")

    def forward(self):
        args = self.args()
        value, push = refusable(lambda: wg.pushforward(self.program, *args))
        self.close(value, self.value, "value with tangents")
        self.changed_alike(args, "forward mode")
        self.close(push(*self.tangents), self.slope, "forward")

    def joint(self):
        args = self.args()
        found = refusable(lambda: wg.grad(self.program, argnums=ACTIVE)(*args))
        self.close(trees.inner(found, self.tangents[:-1]), self.slope, "joint")
        self.changed_alike(args, "joint reverse mode")

    def alone(self):
        text = refusable(lambda: wg.grad(self.program, argnums=ACTIVE).source)
        namespace = {}
        exec(text, namespace)
        found = refusable(lambda: namespace["grad_program"](*self.args()))
        self.close(trees.inner(found, self.tangents[:-1]), self.slope, "source that stands alone")

    def nested(self):
        (bend,) = oracle.hessian_times(self.program, self.args(), (1.0,), wrt=(0,))
        if abs(bend) < 1e5:
            found = refusable(lambda: wg.hvp(self.program)(*self.args(), 1.0))
            self.close(found, bend, "nested")

    def twice(self):
        (bend,) = oracle.hessian_times(self.program, self.args(), (1.0,), wrt=(0,))
        if abs(bend) < 1e5:
            found = refusable(lambda: wg.grad(self.module.slope)(*self.args()))
            self.close(found, bend, "the gradient of the gradient")

    def called(self):
        """Both modes where every function of the program is called, not inlined, as large ones are."""
        inline = closure_calls.INLINE_NODES
        closure_calls.INLINE_NODES = 1
        engine._cache.clear()
        try:
            self.reverse()
            self.forward()
        finally:
            closure_calls.INLINE_NODES = inline
            engine._cache.clear()


EVERY_TIME = (Check.reverse, Check.forward)
SOMETIMES = (Check.joint, Check.alone, Check.nested, Check.twice, Check.called, None, None)


def _alike(found, expected):
    if isinstance(found, list) and isinstance(expected, list):
        return len(found) == len(expected) and all(map(_alike, found, expected))
    if isinstance(found, str) or isinstance(expected, str):
        return found == expected
    return math.isclose(found, expected, rel_tol=1e-9, abs_tol=1e-9)


def examined(drawn, folder):
    """Check a program; gives "right", "refused", or why nothing can be said."""
    try:
        check = Check(drawn.load(folder))
    except LeftOut:
        return "left out"
    extra = random.Random(drawn.source).choice(SOMETIMES)
    try:
        for each in (*EVERY_TIME, *([extra] if extra else [])):
            each(check)
    except Refused:
        return "refused"
    return "right"


def run_batch(number, size, folder):
    """How many programs of a batch came out how, and what went wrong."""
    counts = Found()

    @seeded(number)
    @settings(
        max_examples=size,
        phases=(Phase.explicit, Phase.generate),  # shrinking takes longer than the whole test
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(drawn=changing_programs())
    def check(drawn):
        counts[examined(drawn, folder)] += 1

    try:
        check()
    except Exception:
        return counts, traceback.format_exc()
    return counts, ""


@pytest.mark.filterwarnings("ignore")  # of searches, and of NumPy's numbers
@pytest.mark.parametrize("batch", BATCHES)
def test_programs_that_change_things(batch, tmp_path, capsys):
    found, wrong = run_batch(batch, min(PROGRAMS, PER_BATCH), tmp_path)
    assert not wrong, f"batch {batch}: {wrong}"
    SO_FAR.update(found)
    if len(BATCHES) > 8:
        with capsys.disabled():
            print(f"batch {batch}: {dict(SO_FAR)}", flush=True)
    said = SO_FAR["right"] + SO_FAR["refused"]
    assert SO_FAR["left out"] <= at_most(LEFT_OUT, SO_FAR.total()), SO_FAR
    assert SO_FAR["refused"] <= at_most(REFUSED, said), SO_FAR


def at_most(share, number):
    """How many of a number of draws may be of a kind of this share: the fewer they are, the more it varies."""
    return share * number + 3 * math.sqrt(share * (1 - share) * number)


LEAVES_EARLY = """\
    u, v = (x, 0.5)
    b = np.full(4, x)
    c = a
    made = [Box(t[0], t) for t in (c, c)]
    pairs = [(t[1], t) for t in (b, a)]
    d = {'p': x, 't': c}
    f = [x, c]
    hold, queue = (a.sum, [a, a])
    p = Box(0.5, a)
    for j in range(n):
        return x - x + b @ WEIGHTS
    for k, (e, t) in enumerate(pairs):
        t[k % 4] += e
    return (u * 0.5 + v + a @ WEIGHTS + b * c @ WEIGHTS + sum(each.v * (each.w @ WEIGHTS) for each in made)
        + sum(e * t[2] for e, t in pairs) + d['p'] + d['t'] @ WEIGHTS + d.get('s', 0.0)
        + sum(view @ WEIGHTS for view in f) + f[0] @ o.w + x * 0.4 + sum(t @ WEIGHTS for t in queue)
        + m[0] @ m[1] + m[1, 2] + o.v * p.v + o.w * p.w @ WEIGHTS + sum(o.log))
"""


def test_what_only_the_path_not_taken_has_lends_no_shape(tmp_path):
    """The gradient's gradient, of a program that is too large to be one function."""
    module = Drawn(f"{HEAD}{OPENING}\n{LEAVES_EARLY}{SLOPE}").load(tmp_path)
    assert wg.grad(module.slope)(*arguments(module)) == 0.0
    assert wg.hvp(module.program)(*arguments(module), 1.0) == 0.0


ONE_IN_ANOTHER = """\
    u, v = x, 0.5 * x
    b = np.zeros(4)
    c = a
    made = [Box(t[0], t) for t in (b, c)]
    pairs = [(t[1], t) for t in (a, b)]
    table = {'p': {'s': x, 't': a}, 'q': {'s': 0.5, 't': b}}
    try:
        u = checked(b, c[-1])
    except (ValueError, IndexError):
        if (v * x) < (a[-1] * x):
            o.parts.insert(0, b * 0.5)
        else:
            table = {key: {**inner, 's': inner['s'] * a[-1]} for key, inner in table.items()}
            made = [Box(t[0] * 0.5, t) for t in (b, b)]
    finally:
        a = b + a
    b += b
    return (u * 0.5 + v + a @ WEIGHTS + (b * c) @ WEIGHTS
        + sum(each.v * (each.w @ WEIGHTS) for each in made) + sum(e * t[2] for e, t in pairs)
        + sum(part @ WEIGHTS for part in o.parts) + o.parts[0] @ o.w + len(o.parts)
        + sum(inner['s'] * (inner['t'] @ WEIGHTS) for inner in table.values()) + len(table))
"""


def test_what_is_one_of_two_objects_is_made_anew_only_where_it_has_changed(tmp_path, monkeypatch):
    """Each such object was made of others that were: their number grew exponentially with their depth."""

    def choose(*args):
        raise AssertionError("nothing has changed")

    monkeypatch.setattr(interpreter.Interpreter, "choose", choose)
    check = Check(Drawn(f"{HEAD}{OPENING}\n{ONE_IN_ANOTHER}{SLOPE}").load(tmp_path))
    check.reverse()
    check.forward()
