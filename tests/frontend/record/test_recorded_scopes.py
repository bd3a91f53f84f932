"""Global names in a run that is recorded: found when they are read, and left as the program leaves them."""

import math

import numpy as np
import pytest
from differences import slope

import wengert as wg
from wengert.errors import UnsupportedSyntax
from wengert.frontend.record.world import World

RECORDED = {"tier": "recorded"}
FACTOR = 3.0
TABLE = [1.0, 2.0]
WAITING = []
SET = 1.0
WHOLE = np.zeros(3)


def bent(x):
    return math.sin(x) * FACTOR


def of_text(x):
    return eval("bent(x) * FACTOR + x**2")


def of_text_with_names(x):
    return eval("bent(y) + TABLE[1] * y", globals(), {"y": x * x})


def run_text(x):
    names = {}
    exec("def g(y):\n    return bent(y) * FACTOR\nz = g(2.0)", globals(), names)
    return names["g"](x) + names["z"]


def in_the_body_of_a_class(x):
    class Bent:
        factor = FACTOR
        table = TABLE

        def at(self, y, scale=FACTOR):
            return bent(y) * scale + self.factor * self.table[1] * y

    return Bent().at(x)


def deleted_unread(x):
    global SET
    del SET
    SET = x
    found = SET * SET
    SET = 1.0
    return found


def deleted_and_asked_for(x):
    global SET
    y = SET * x
    del SET
    try:
        y = y + SET
    except NameError:
        y = y * x
    SET = 1.0  # noqa: F841
    return y


def over_a_builtin(x):
    global len
    len = lambda items: 10  # noqa: A001
    y = len([1]) * x**2
    del len
    return y + len([1, 2]) * x


def all_names(x):
    names = globals()
    known = [name for name in names if name in ("FACTOR", "bent")]
    return x**2 * len(known) * names["FACTOR"] + names.get("len", 1.0) * x


@pytest.mark.parametrize(
    "f",
    [
        of_text,
        of_text_with_names,
        run_text,
        in_the_body_of_a_class,
        deleted_unread,
        deleted_and_asked_for,
        over_a_builtin,
        all_names,
    ],
)
def test_what_global_names_mean(f):
    expected = slope(f, 1.3)
    assert wg.grad(f, **RECORDED)(1.3) == pytest.approx(expected)
    assert SET == 1.0
    assert "len" not in globals()


def generated():
    y = FACTOR
    while True:
        yield y
        y = bent(y)


def starts(x):
    WAITING.append(generated())
    return next(WAITING[-1]) * x**2


def test_a_generator_that_a_run_leaves_goes_on_in_the_program():
    assert wg.grad(starts, **RECORDED)(1.3) == pytest.approx(7.8)
    assert next(WAITING.pop()) == bent(FACTOR)


def seldom(x):
    return deeper(x)


def deeper(x):
    return x**3


def chooses(x):
    return bent(x) if x > 0.0 else seldom(x)


def test_a_run_has_the_functions_that_it_calls(monkeypatch):
    copied = []
    as_before = World.copied
    monkeypatch.setattr(
        World, "copied", lambda world, f: (copied.append(f.__name__), as_before(world, f))[1]
    )
    wg.grad(chooses, **RECORDED)(1.3)
    assert copied == ["chooses", "bent"]
    copied.clear()
    wg.grad(chooses, **RECORDED)(-1.3)
    assert copied == ["chooses", "seldom", "deeper"]


def test_a_global_that_is_the_argument_is_refused_once_it_is_seen():
    def writes(x, *, seen):
        x[1] = x[0] ** 2
        return (WHOLE.sum() if seen else x.sum()) * x[0]

    assert wg.grad(writes, **RECORDED)(np.array(WHOLE), seen=True).shape == (3,)
    assert wg.grad(writes, **RECORDED)(WHOLE + 1.0, seen=False).tolist() == [6.0, 0.0, 1.0]
    WHOLE[:] = 1.0
    try:
        assert wg.grad(writes, **RECORDED)(WHOLE, seen=False).tolist() == [6.0, 0.0, 1.0]
        with pytest.raises(UnsupportedSyntax, match="share memory"):
            wg.grad(writes, **RECORDED)(WHOLE, seen=True)
    finally:
        WHOLE[:] = 0.0
