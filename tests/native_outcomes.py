"""What a call gives, to compare native code with Python's own."""

import warnings

import numpy as np


def outcome(f, *args):
    """What a function gives, with its type and the signs of zeros; or what it raises."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            found = f(*args)
        except Exception as error:
            return type(error), str(error)
    return type(found), np.asarray(found).dtype, np.shape(found), repr(found)
