"""Questions about objects that only the run can answer: are two of them one?"""

from __future__ import annotations

from ...ir.op import Op
from ...ir.types import BOOL, NONE
from ..array_kinds import like_first
from ..registry import declare


def _question(name: str, signature: str) -> Op:
    return declare(name, signature, infer=BOOL, rt=name)


def _check(name: str, signature: str) -> Op:
    """What raises where derivative code would be wrong, and does nothing else."""
    return declare(name, signature, infer=NONE, effect=True, rt=name)


def _passed_on(name: str, signature: str) -> Op:
    """A check whose result is its first operand."""
    infer = like_first
    return declare(name, signature, infer=infer, fresh=False, effect=True, rt=name)


is_view = _question("is_view", "part")
is_sequence = _question("is_sequence", "x")
is_view_of = _question("is_view_of", "part, whole")
changes = _question("changes", "value")
is_part = _question("is_part", "part, whole")
shares_with = _question("shares_with", "part, whole")
indexed = _question("indexed", "x")

in_place = _check("in_place", "part, whole")
"""What was read from a container that got other items cannot have changed since."""
unchanging = _check("unchanging", "value, depth")
"""A value, or everything in it, is no object that may have changed under another name."""
objects_only = _check("objects_only", "items")
"""The items of what is walked over are objects, which stay what they are when they change."""
as_long = _check("as_long", "items, count")
"""A list that was walked over by index is as long as it was."""
counted = _check("counted", "value, count")
"""A number or a shape is the one that the program was read for."""
long_enough = _check("long_enough", "length, count")
"""What names are walked over beside has an item for each of them."""
decided = _check("decided", "value, before")
"""A program goes the way that it went in the run that it was read for."""
copy_written = _check("copy_written", "file, line")
"""Warns of a write to what is a copy, as an array lies in memory, and might be a view."""
has_dtype = _check("has_dtype", "made, dtype")
"""An array has the dtype that was read."""
no_number = _check("no_number", "key, owner=None")
"""A key, or what is in it, is no number that has a derivative."""
python_number = _check("python_number", "x, beside")
"""A number whose operator meets an object is Python's: NumPy's would make an array of the object."""
no_view = _check("no_view", "part, whole, owner=None")
"""What is put into a container is no view of an array that changes."""
of_array = _check("of_array", "part")
no_view_of_number = _check("no_view_of_number", "base")
"""A slice that is written to is one of an array, and no copy."""
copy_of_array = _check("copy_of_array", "made")
"""What a method `copy` gave is an array."""
rebound = _check("rebound", "value, whole=None")
"""Augmented assignment to a value, or to an item, cannot change an object that others may see."""
no_shared_items = _check("no_shared_items", "items, owner=None")
"""What a list was made of, or what an `owner` that is a list takes in, are no objects that can change."""
gone = _check("gone", "value, owner")
"""What a container referred to in one place is in no other place of it."""
apart = _check("apart", "*values")
"""No object that a program may change is given to it twice."""
kept = _check("kept", "owner, name")
"""An attribute that is assigned is one that the object itself keeps."""
built_in_operator = _check("built_in_operator", "value, names")
"""What an operator does to a value no class says that the program defines."""
built_in = _check("built_in", "owner, name")
"""A method that changes an object is one of Python's own containers."""

evaluated = _check("evaluated", "value")
"""What nothing reads is computed all the same: that may raise."""
equally_long = _check("equally_long", "*lengths")
"""What is walked over side by side has the same number of items."""

distinct = _passed_on("distinct", "items")
"""No object is in a container twice."""
unshared = _passed_on("unshared", "value, whole=None")
"""Nobody can change a value that is put into a container."""
