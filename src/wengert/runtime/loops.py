"""How the iterations of a checkpointed loop are divided."""

from __future__ import annotations

from typing import Any

import numpy as np

from .cotangents import zeros
from .refusals import coded


def blocks(x: Any, *counts: int, every: int | None = None) -> list[Any]:
    """What a loop walks over, in blocks; `counts` are the lengths of all that it walks over at once.

    As many states are kept as there are blocks, and the values of one block at a time: about √n of
    each where `every` does not say how long a block is.
    """
    count = min(counts, default=len(x))
    size = max(1, round(count**0.5)) if every is None else every
    if size < 1:
        error = ValueError(
            f"a loop is checkpointed every so many iterations, not every {size!r}\n"
            "Pass a whole number greater than 0, or leave `every` out."
        )
        raise coded(error, "WG202")
    return [x[start : min(start + size, count)] for start in range(0, count, size)]


def joined(blocks_bar: Any, x: Any) -> Any:
    """The cotangent of what was divided into blocks, from the cotangents of the blocks reached."""
    if not isinstance(x, np.ndarray):
        items = [item for block_bar in blocks_bar for item in block_bar]
        return [*items, *zeros(x[len(items) :])]
    x_bar = np.zeros(x.shape, np.result_type(zeros(x), *blocks_bar[:1]))
    start = 0
    for block_bar in blocks_bar:
        x_bar[start : start + len(block_bar)] = block_bar
        start += len(block_bar)
    return x_bar


def divided_like(x: Any, blocks: Any) -> list[Any]:
    """`x` in blocks as long as these."""
    result: list[Any] = []
    start = 0
    for block in blocks:
        result.append(x[start : start + len(block)])
        start += len(block)
    return result
