"""What a call gives, to compare native code with Python's own."""

import copy
import warnings

import numpy as np

import wengert as wg


def outcome(f, *args):
    """What a function gives, with its type and the signs of zeros; or what it raises."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            found = f(*args)
        except Exception as error:
            return type(error), str(error)
    return described(found)


def described(value):
    """A value with its type and those of its items, and the signs of zeros."""
    match value:
        case tuple() | list():
            return type(value), tuple(map(described, value))
        case dict():
            return type(value), tuple((key, described(item)) for key, item in value.items())
        case _:
            return type(value), np.asarray(value).dtype, np.shape(value), repr(value)


def is_as_in_python(f, *args, compiled=None):
    """`jit` gives, raises and leaves in the arguments what Python does, of the same types."""
    compiled = wg.jit(f) if compiled is None else compiled
    mine, theirs = copy.deepcopy(args), copy.deepcopy(args)
    found, expected = outcome(compiled, *mine), outcome(f, *theirs)
    assert found == expected, (f.__name__, args)
    assert described(mine) == described(theirs), (f.__name__, args)
    return compiled
