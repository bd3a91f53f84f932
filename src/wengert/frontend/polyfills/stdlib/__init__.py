"""What stands for functions and classes of the standard library."""

from ....loading import later

__getattr__ = later(__name__, "collections", "contextlib", "iterators")
