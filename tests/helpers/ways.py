"""A program of one float by every way to differentiate it, and what its values say the derivative is."""

import pytest
from standing_alone import alone, unless_refused

import wengert as wg

STEP = 1e-6


def run(program, *args):
    try:
        return program(*args)
    except Exception as error:
        return error


def wanted(program, x, *rest):
    """Value and slope, or the exception that the program raises."""
    value = run(program, x, *rest)
    if isinstance(value, Exception):
        return value
    return value, (program(x + STEP, *rest) - program(x - STEP, *rest)) / (2 * STEP)


def outcomes(program, x, *rest):
    """What every way to differentiate gives, by its name: see `found_by`."""
    value = run(program, x, *rest)
    ways = {
        "reverse": lambda: wg.value_and_grad(program)(x, *rest),
        "alone": lambda: (value, alone(wg.grad(program))(x, *rest)),
        "forward": lambda: (value, wg.pushforward(program, x, *rest)[1](1.0, *[None] * len(rest))),
    }
    return {name: found_by(way) for name, way in ways.items()}


def found_by(way):
    """What a way gives, None where it is refused, or the exception that the program raises in it."""
    try:
        return unless_refused(way)
    except wg.WengertError:
        return None
    except Exception as error:
        return error


def is_right(found, expected):
    if isinstance(found, Exception) or isinstance(expected, Exception):
        return type(found) is type(expected)
    return found == pytest.approx(expected, rel=1e-6, abs=1e-6)
