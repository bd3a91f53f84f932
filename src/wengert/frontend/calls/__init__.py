"""Calls: how arguments are bound, and how functions are inlined, read as callees, remembered."""

from ...loading import later

__getattr__ = later(
    __name__,
    frozenset(
        (
            "checkpoints",
            "ordinary_options",
            "remembering",
            "separate",
            "writing_functions",
        )
    ),
)
