"""Text that shows itself, and code that can be saved."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..errors import NoSource

if TYPE_CHECKING:
    import pathlib


class Text(str):
    """Text that shows itself: at a prompt it is printed, not quoted."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


class Source(Text):
    """Text that is code: a notebook shows it in colours."""

    __slots__ = ()

    def in_colours(self) -> str:
        """The code as HTML."""
        from ..highlighting import highlighted

        return highlighted(self)

    _repr_html_ = in_colours


def saved(source: str, path: str | pathlib.Path) -> pathlib.Path:
    """Write code to a file; gives its path."""
    import pathlib

    from ..backends.python.saving import MISSING

    missing = [line for line in source.splitlines() if line.startswith(MISSING)]
    if missing:
        names = ", ".join(line.removeprefix(MISSING).split(";")[0] for line in missing)
        raise NoSource(
            f"the saved file would lack what it calls: {names}",
            "Define it with `def` at the top of a module that the file can import.",
        )
    path = pathlib.Path(path)
    path.write_text(source, encoding="utf-8")
    return path
