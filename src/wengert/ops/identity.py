"""Questions about objects that only the run can answer: are two of them one?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..ir.builder import kind_of_atom
from ..ir.op import Op
from ..ir.types import BOOL, NONE
from ..runtime import identity as rt
from .registry import declare


def _question(signature: str, answer: Callable[..., bool]) -> Op:
    return _declare(signature, answer, infer=lambda args, params: BOOL)


def _check(signature: str, check: Callable[..., None]) -> Op:
    """What raises where derivative code would be wrong, and does nothing else."""
    return _declare(signature, check, infer=lambda args, params: NONE, effect=True)


def _passed_on(signature: str, check: Callable[..., Any]) -> Op:
    """A check whose result is its first operand."""
    infer = lambda args, params: kind_of_atom(args[0])
    return _declare(signature, check, infer=infer, fresh=False, effect=True)


def _declare(signature: str, function: Callable[..., Any], **options: Any) -> Op:
    name = function.__name__
    return declare(name, signature, rt=name, implementation=function, **options)


is_view = _question("part", rt.is_view)
is_sequence = _question("x", rt.is_sequence)
is_view_of = _question("part, whole", rt.is_view_of)
indexed = _question("x", rt.indexed)

in_place = _check("part, whole", rt.in_place)
"""What was read from a container that got other items cannot have changed since."""
unchanging = _check("value, depth", rt.unchanging)
"""A value, or everything in it, is no object that may have changed under another name."""
objects_only = _check("items", rt.objects_only)
"""The items of what is walked over are objects, which stay what they are when they change."""
as_long = _check("items, count", rt.as_long)
"""A list that was walked over by index is as long as it was."""
counted = _check("value, count", rt.counted)
"""A number or a shape is the one that the program was read for."""
decided = _check("value, before", rt.decided)
"""A program goes the way that it went in the run that it was read for."""
of_array = _check("part", rt.of_array)
"""A slice that is written to is one of an array, and no copy."""
copy_of_array = _check("made", rt.copy_of_array)
"""What a method `copy` gave is an array."""
rebound = _check("value, whole=None", rt.rebound)
"""Augmented assignment to a value, or to an item, cannot change an object that others may see."""
apart = _check("*values", rt.apart)
"""No object that a program may change is given to it twice."""
kept = _check("owner, name", rt.kept)
"""An attribute that is assigned is one that the object itself keeps."""
built_in_operator = _check("value, names", rt.built_in_operator)
"""What an operator does to a value no class says that the program defines."""
built_in = _check("owner, name", rt.built_in)
"""A method that changes an object is one of Python's own containers."""

evaluated = _check("value", rt.evaluated)
"""What nothing reads is computed all the same: that may raise."""
equally_long = _check("*lengths", rt.equally_long)
"""What is walked over side by side has the same number of items."""

distinct = _passed_on("items", rt.distinct)
"""No object is in a container twice."""
unshared = _passed_on("value, whole=None", rt.unshared)
"""Nobody can change a value that is put into a container."""
