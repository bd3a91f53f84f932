"""Writes docs/errors.md from the docstrings of wengert's exceptions."""

import inspect
from pathlib import Path

from wengert import errors

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


def classes() -> list[type[errors.WengertError]]:
    """Every exception class of `wengert.errors`."""
    return [
        each
        for each in vars(errors).values()
        if isinstance(each, type) and issubclass(each, errors.WengertError)
    ]


def section(error: type[errors.WengertError]) -> str:
    """One error: an anchor that messages point to, its names, its docstring."""
    caught_as = [base.__name__ for base in error.__bases__ if base.__module__ == "builtins"]
    names = [f"`{name}`" for name in (f"wengert.errors.{error.__name__}", *caught_as)]
    anchor = error.code.lower()
    return f"""\
<a id="{anchor}"></a>

## {error.code}: {error.__name__}

{", also caught as ".join(names)}

{inspect.getdoc(error)}
"""


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
