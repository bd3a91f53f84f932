"""What an object holds where paths meet: every way to leave a block × every write × every way to read.

`WENGERT_RANDOM_PROGRAMS=100000` draws that many of the 240,000 combinations, `WENGERT_RANDOM_BATCH=7` others.
"""

import os
import random
import warnings
from functools import cache

import leaving_programs
import numpy as np
import pytest

import wengert as wg

PROGRAMS = int(os.environ.get("WENGERT_RANDOM_PROGRAMS", "240"))
BATCH = int(os.environ.get("WENGERT_RANDOM_BATCH", "0"))
POINTS = 0.3, 1.7, 2.5
STEP = 1e-5


def square(z):
    out = [0.0]
    if z == 0.0:
        out[0] = 5.0
        return out
    out[0] = z * z
    return out


def in_both_arms(z):
    out = {"k": 0.0}
    if z == 0.0:
        out["k"] = 5.0
        return out
    else:  # noqa: RET505 — both arms return
        out["k"] = z * z
        return out


def given(z, out):
    if z == 0.0:
        out.append(5.0)
        return out
    out.append(z * z)
    return out


def in_a_loop(z):
    out = [z]
    for k in range(3):
        if z < k:
            out[0] = 5.0
            return out
        out[0] = z * z
    return out


PROGRAMS_OF_F1 = (
    lambda z: square(z)[0],
    lambda z: in_both_arms(z)["k"],
    lambda z: given(z, [])[0],
    lambda z: given(z, [1.0])[-1],
    lambda z: in_a_loop(z)[0],
    lambda z: (square(z) if z > 1.0 else in_a_loop(z))[0],
    lambda z: (square(z) and in_a_loop(z))[0],
)


@pytest.mark.filterwarnings("ignore::wengert.errors.NativeWarning")
@pytest.mark.parametrize("program", PROGRAMS_OF_F1)
def test_F1_a_list_or_dictionary_returned_early(program):
    for way in (wg.value_and_grad(program), wg.jit(wg.value_and_grad(program))):
        assert way(3.0) == (9.0, 6.0)
    value, push = wg.pushforward(program, 3.0)
    assert (value, push(1.0)) == (9.0, 6.0)
    assert wg.grad(wg.grad(program))(3.0) == 2.0


def state(value):
    """What an argument holds, in a form that can be compared."""
    match value:
        case dict():
            return {key: state(item) for key, item in value.items()}
        case list() | tuple():
            return [state(item) for item in value]
        case np.ndarray():
            return value.tolist()
        case float() | int() | str():
            return value
        case _:
            return type(value).__name__, state(vars(value))


def outcome(run, arguments):
    """What a run gives, or the class of what it raises, and the arguments afterwards."""
    try:
        found = run(*arguments)
    except wg.WengertError:
        return None  # a refusal
    except Exception as error:
        found = (type(error).__name__,)
    return *found, state(arguments)


def wanted(module, z):
    plain = outcome(lambda *given: (module.program(z, *given),), module.arguments())
    if isinstance(plain[0], str):
        return plain
    ends = (module.program(z + step, *module.arguments()) for step in (STEP, -STEP))
    return plain[0], (next(ends) - next(ends)) / (2 * STEP), plain[1]


def forward(module, z, arguments):
    value, push = wg.pushforward(module.program, z, *arguments)
    return value, push(1.0, *[None for _ in arguments])


def is_close(found, expected):
    if isinstance(expected, (list, tuple)):
        pairs = zip(found, expected, strict=False)
        return len(found) == len(expected) and all(is_close(*pair) for pair in pairs)
    if isinstance(expected, dict):
        return list(found) == list(expected) and all(is_close(found[k], expected[k]) for k in found)
    if isinstance(expected, str) or isinstance(found, str):
        return found == expected
    return found == pytest.approx(expected, rel=1e-6, abs=1e-6)


@cache
def drawn():
    draw = random.Random(BATCH)
    each = PROGRAMS // len(leaving_programs.KINDS)
    return {
        kind: draw.sample(list(leaving_programs.grid(kind)), each)
        for kind in leaving_programs.KINDS
    }


def wrong(kind, way, every=1):
    """The programs of a kind for which a way to differentiate gives something else, and how many it refuses."""
    found, refused = [], 0
    for number, case in enumerate(drawn()[kind][::every]):
        text = leaving_programs.text_of(kind, *case)
        module = leaving_programs.program_of(f"leaving {kind} {BATCH} {number}", text)
        run = way(module)
        for z in POINTS:
            expected = wanted(module, z)
            came = outcome(lambda *given, run=run, z=z: run(z, *given), module.arguments())
            if came is None:
                refused += 1
            elif not is_close(came, expected):
                found.append((case, z, expected, came))
    return found, refused


WAYS = {
    "reverse": lambda module: wg.value_and_grad(module.program),
    "forward": lambda module: lambda z, *given: forward(module, z, given),
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("kind", leaving_programs.KINDS)
def test_what_is_written_before_a_block_is_left(kind, way):
    found, refused = wrong(kind, WAYS[way])
    assert found == []
    assert refused <= 0.15 * len(POINTS) * len(drawn()[kind])


@pytest.mark.parametrize("kind", leaving_programs.KINDS)
def test_what_is_written_before_a_block_is_left_by_native_code(kind):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found, _ = wrong(kind, lambda module: wg.jit(wg.value_and_grad(module.program)), every=8)
    assert found == []


class Holder:
    def __init__(self, a):
        self.a = a


def deleted_twice(z):
    o = Holder(z)
    if z > 1.0:
        del o.a
    del o.a
    return z


def deleted_in_turn(z):
    o = Holder(z)
    for _ in range(2):
        if z < 1.0:
            continue
        del o.a
    return z


@pytest.mark.parametrize("program", [deleted_twice, deleted_in_turn])
def test_an_attribute_that_some_paths_have_deleted(program):
    for way, wanted in ((wg.grad(program), 1.0), (wg.jit(program), 0.5)):
        assert way(0.5) == wanted
        with pytest.raises(AttributeError):
            way(2.0)


def one_of_two_containers(z):
    held = [z, 2.0] if z > 1.0 else (2.0, z)
    return held[0] * (3.0 if isinstance(held, list) else 5.0)


def length_of_one_of_two(z):
    held = [z, 2.0] if z > 1.0 else Holder(z)
    return len(held) * z


def test_native_code_tells_containers_of_one_length_apart():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert [wg.jit(one_of_two_containers)(z) for z in (0.5, 2.0)] == [10.0, 6.0]
        assert wg.jit(length_of_one_of_two)(2.0) == 4.0
        with pytest.raises(TypeError):
            wg.jit(length_of_one_of_two)(0.5)
