"""Calls: how arguments are bound, and how functions are inlined, read as callees, remembered."""

from ...loading import later

__getattr__ = later(__name__, "checkpoints", "remembering", "separate", "writing_functions")
