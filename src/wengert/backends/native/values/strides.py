"""How the elements of an array lie in its memory."""

from __future__ import annotations

from .values import ONE, ZERO, View, c_strides, product


def is_spread(view: View) -> bool:
    """Whether one place in memory stands for several elements of an array."""
    return any(s == ZERO and d != ONE for s, d in zip(view.strides, view.dims, strict=True))


def is_contiguous(view: View) -> bool:
    """Whether the elements of an array follow each other in C order."""
    return all(
        stride == wanted or dim == ONE
        for stride, wanted, dim in zip(view.strides, c_strides(view.dims), view.dims, strict=True)
    )


def replaced_flat(view: View) -> View:
    """The same memory as an array with one axis."""
    return View(view.root, view.code, (product(view.dims),), (ONE,), view.offset, view.whole)
