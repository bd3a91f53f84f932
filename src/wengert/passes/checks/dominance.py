"""Whether a program uses a value where no definition of it is seen: on another path than the one it is computed on.

In: a function as it was read. A function that one path makes, and that another calls, may have taken a value
along that the reader did not see it take.
"""

from __future__ import annotations

from ...errors import UnsupportedSyntax
from ...ir.graph import Function, free_vars, out_of_sight, with_called
from ..blocks.tidy import dce


def refuse_out_of_sight(function: Function, *, is_whole: bool = True) -> None:
    """Refuse a program, or what it calls, that needs a value where it is not seen.

    Args:
        function: the program; or a part of one, if it is not whole, that may use what is around it.
        is_whole: which of both it is.

    Raises:
        UnsupportedSyntax: it does.
    """
    for each in with_called(function):
        around = () if is_whole or each is not function else free_vars(function.body)
        if out_of_sight(each.body, around) is None:
            continue
        found = out_of_sight(dce(each).body, around)  # what nobody needs may be anything
        if found is not None:
            eqn, var = found
            what = f"`{var.name}`" if var.name else "a value"
            raise UnsupportedSyntax(
                f"this needs {what} of another path of the program, through a function that was made there",
                "Make the function outside of the branch or the loop, and choose between values.",
                None if eqn is None else eqn.span,
            )
