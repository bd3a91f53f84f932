"""What every program gets before it is differentiated, whatever the mode.

In: a function. Out: the same function, which refuses when it runs what the derivative would get wrong, and in
which what is smooth has a smooth form: squares of kinks, functions of a matrix by its eigenvalues.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...ir.graph import Function, Span, walk, with_called
from ...rules.identities.squares import LENGTHS
from ..analysis.keys import with_keys_checked
from ..blocks.lookups import with_lookups_ahead
from ..checks.jumps import with_jumps_checked
from ..checks.searches import warn_of_searches
from ..edges.squares import with_squares


def with_checks(function: Function, wrt: Sequence[int]) -> Function:
    """A function that checks what depends on some of its parameters: keys, and jumps inside integrals.

    What its loops only look up stands before them.
    """
    function = with_jumps_checked(with_keys_checked(with_lookups_ahead(function), wrt), wrt)
    warn_of_searches(function, wrt)
    return function


def kinks(function: Function) -> frozenset[Span]:
    """Where a program that is a derivative computes lengths, and their slopes."""
    names = {eqn.op.name for each in with_called(function) for eqn in walk(each.body)}
    if names.isdisjoint(LENGTHS) or names.isdisjoint(_OF_SLOPES):
        return frozenset()
    from ..edges import slopes_at_kinks

    return slopes_at_kinks.kinks(function)


def with_smooth_forms(function: Function, read: Any) -> Function:
    """A function in which what is smooth has a smooth form; `read` inlines rows of rules."""
    function = with_squares(function)
    if not any(eqn.op.name in _OF_EIGENVECTORS for eqn in walk(function.body)):
        return function
    from ..edges.matrix_functions import with_matrix_functions
    from .slopes import with_slopes

    return with_slopes(with_matrix_functions(function), read)


_OF_SLOPES = ("unit", "sign", "sign_of_number", "direction_cosine", "safe_div", "where")
_OF_EIGENVECTORS = ("eigh", "spectral")


def prepared(function: Function, read: Any) -> Function:
    """A function in which what is smooth has a smooth form, and other second derivatives at a kink are NaN."""
    function = with_smooth_forms(function, read)
    places = kinks(function)
    if not places:
        return function
    from ..edges.unknown_slopes import with_unknown_slopes

    return with_unknown_slopes(function, places)
