"""Both tiers on the programs of the corpus: each is the other's oracle for values, derivatives and what is left.

None may be refused by recording or differ from what reading gives; what is asked takes turns (`turns.py`).
"""

import copy
import warnings
from functools import partial

import numpy as np
import programs
import pytest
import trees
from programs import pending
from turns import has_turn

import wengert as wg
from wengert.compile import recorded

THEMES = sorted({program.theme for program in programs.PROGRAMS})


def alike(found, expected, rel):
    """Whether two results or gradients are the same, their types and shapes too."""
    if isinstance(expected, (list, tuple)):
        return len(found) == len(expected) and all(
            alike(a, b, rel) for a, b in zip(found, expected, strict=True)
        )
    if isinstance(expected, dict):
        return found.keys() == expected.keys() and all(
            alike(found[key], expected[key], rel) for key in expected
        )
    if expected is None or isinstance(expected, (str, bool)):
        return found is expected or found == expected
    if hasattr(expected, "__dict__"):
        return alike(vars(found), vars(expected), rel)
    a, b = np.asarray(found), np.asarray(expected)
    if a.dtype.kind not in "iufcb":
        return True
    same = a.shape == b.shape and a.dtype == b.dtype
    return same and bool(np.allclose(a, b, rtol=rel, atol=1e-11, equal_nan=True))


def outcome(run, args):
    """What a derivative gives and leaves in its arguments, or the exception it raises."""
    args = copy.deepcopy(args)
    try:
        return run(*args), args
    except Exception as error:
        return error, args


def compare(program, args, read, record):
    expected, left = outcome(read, args)
    if isinstance(expected, wg.WengertError):
        return
    found, also_left = outcome(record, args)
    if isinstance(expected, Exception):
        assert type(found) is type(expected), f"{program.name}: {found!r}, expected {expected!r}"
        return
    if isinstance(found, Exception):
        raise found
    rel = max(program.rel * 100, 1e-8)
    assert alike(found, expected, rel), f"{program.name}: {found}, expected {expected}"
    assert alike(list(also_left), list(left), 1e-9), (
        f"{program.name} leaves {also_left}, not {left}"
    )


def of_theme(theme, turn, parts):
    for program in programs.PROGRAMS:
        if program.theme == theme and program.name not in pending.GRADIENT:
            if has_turn(program.name, turn, parts):
                yield program, program.points[0]


@pytest.fixture(autouse=True)
def quiet():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


@pytest.mark.parametrize("theme", THEMES)
def test_gradients(theme):
    for program, args in of_theme(theme, 0, 3):
        if not isinstance(outcome(program, args)[0], int | float | np.floating):
            continue
        read = wg.value_and_grad(program.function, program.wrt, tier="static")
        record = wg.value_and_grad(program.function, program.wrt, tier="recorded")
        compare(program, args, read, record)


@pytest.mark.parametrize("theme", THEMES)
def test_second_derivatives(theme):
    for program, args in of_theme(theme, 2, 6):
        if program.smooth and isinstance(outcome(program, args)[0], int | float | np.floating):
            k = program.wrt[0]
            vector = trees.random_like(args[k], seed=1)
            read = wg.hvp(program.function, k, tier="static")
            record = wg.hvp(program.function, k, tier="recorded")
            compare(
                program,
                args,
                lambda *args, f=read, v=vector: f(*args, v),
                lambda *args, f=record, v=vector: f(*args, v),
            )


def both_ways(program, pushforward, pullback):
    """A function that gives the value, a tangent of it and cotangents of the arguments."""

    def run(*args):
        dots = [
            trees.random_like(x, seed=k + 1) if k in program.wrt else None
            for k, x in enumerate(args)
        ]
        kept = copy.deepcopy(args)
        y, push = pushforward(*args)
        back = pullback(*kept)[1]
        return y, push(*dots), back(trees.random_like(y, seed=3))

    return run


@pytest.mark.parametrize("theme", THEMES)
def test_tangents_and_cotangents(theme):
    for program, args in of_theme(theme, 1, 6):
        f = program.function
        read = both_ways(program, partial(wg.pushforward, f), partial(wg.pullback, f))
        record = both_ways(
            program,
            lambda *args, f=f: recorded.pushforward(f, args, {}),
            lambda *args, f=f: recorded.pullback(f, args, {}),
        )
        compare(program, args, read, record)
