"""Calls: how arguments are bound, and how functions are inlined, read as callees, remembered."""

from ...loading import later

__getattr__ = later(
    __name__,
    frozenset(
        (
            "checkpoints",
            "remembering",
            "separate",
            "writing_functions",
        )
    ),
)
