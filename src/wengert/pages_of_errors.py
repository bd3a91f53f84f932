"""The pages that explain errors: of the docstrings of exceptions, for `docs/errors.md` and `wengert explain`."""

from __future__ import annotations

import inspect

from . import errors


def classes() -> list[type[errors.WengertError]]:
    """Every exception class of `wengert.errors`."""
    return [
        each
        for each in vars(errors).values()
        if isinstance(each, type) and issubclass(each, errors.WengertError)
    ]


def section(error: type[errors.WengertError]) -> str:
    """One error: its code, its names, its docstring; in Markdown.

    >>> print(section(errors.NotScalar).partition("`gradient`")[0])
    ## WG201: NotScalar
    <BLANKLINE>
    `wengert.errors.NotScalar`, also caught as `TypeError`
    <BLANKLINE>
    <BLANKLINE>
    """
    caught_as = [base.__name__ for base in error.__bases__ if base.__module__ == "builtins"]
    names = [f"`{name}`" for name in (f"wengert.errors.{error.__name__}", *caught_as)]
    return f"""\
## {error.code}: {error.__name__}

{", also caught as ".join(names)}

{inspect.getdoc(error)}
"""


def page_of(code: str) -> str:
    """What explains an error, by its code.

    Raises:
        BadArgument: there is no such code; says which there are.
    """
    by_code = {each.code: each for each in classes()}
    wanted = code.strip("[]").upper()
    if wanted not in by_code:
        raise errors.BadArgument(
            f"there is no error {code!r}", f"There are {', '.join(sorted(by_code))}."
        )
    return section(by_code[wanted])
