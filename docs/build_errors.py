"""Writes docs/errors.md from the docstrings of wengert's exceptions."""

from pathlib import Path

from wengert import WengertError, pages_of_errors
from wengert.pages_of_errors import classes

PAGE = Path(__file__).with_name("errors.md")
HEAD = """\
# Errors

<!-- made by `python docs/build_errors.py` from the docstrings in src/wengert/errors.py -->

Everything that wengert raises of its own is a `WengertError` with a stable code. The message shows
your line with a caret, says why, and says what to do. Exceptions of your own code come out as they
are.
"""


def page() -> str:
    """The text of the page."""
    return "\n".join([HEAD, *map(section, sorted(classes(), key=lambda error: error.code))])


def section(error: type[WengertError]) -> str:
    """One error, after an anchor of its own."""
    return f'<a id="{error.code.lower()}"></a>\n\n{pages_of_errors.section(error)}'


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
