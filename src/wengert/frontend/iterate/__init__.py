"""Walking over things: iterables, comprehensions, generators, loops that are written out turn by turn."""

from ...loading import later

__getattr__ = later(__name__, "generators", "iterators")
