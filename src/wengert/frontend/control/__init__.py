"""Branches, loops, exceptions, context managers and patterns: where paths part and where they meet."""

from ...loading import later

__getattr__ = later(__name__, "contexts", "exceptions")
