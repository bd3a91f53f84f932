"""What `explored_program` asks another file for: interpolation, and smooth stand-ins for corners."""

import math


def softplus(x, sharpness=4.0):
    """A smooth `max(x, 0)`."""
    scaled = sharpness * x
    if scaled > 30.0:
        return x
    return math.log1p(math.exp(scaled)) / sharpness


def interpolate(times, values, time):
    """The value at a time, on straight lines between the given points."""
    if time <= times[0]:
        return values[0]
    for k in range(1, len(times)):
        if time <= times[k]:
            share = (time - times[k - 1]) / (times[k] - times[k - 1])
            return values[k - 1] + share * (values[k] - values[k - 1])
    return values[-1]
