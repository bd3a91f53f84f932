"""Functions as values: where they are written, which names they see, how arguments are bound, whether they are pure."""

from ...loading import later

__getattr__ = later(__name__, "purity")
