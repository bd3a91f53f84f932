"""`tape_limit`: how much memory recorded runs may take."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager

from ..errors import BadArgument
from ..frontend.record.tape import limit


@contextmanager
def tape_limit(most: float) -> Generator[None]:
    """Inside, the tape of a recorded run takes so many bytes at most.

    A run that comes to the limit is refused (WG101) with the line where it was: `wg.checkpoint` and reading
    (`tier="static"`) keep less. A program that is recorded only because reading it takes long is read then.

    Args:
        most: how many bytes: of the steps, and of the arrays that they keep.

    >>> import wengert as wg
    >>> with wg.tape_limit(2e9):
    ...     wg.grad(lambda x: x * x)(3.0)
    6.0
    """
    if not most > 0:
        raise BadArgument(
            f"a tape is limited to a number of bytes, not {most!r}", "Pass one, such as `2e9`."
        )
    token = limit.set(most)
    try:
        yield
    finally:
        limit.reset(token)
