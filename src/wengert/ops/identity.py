"""Questions about objects that only the run can answer: are two of them one?"""

from __future__ import annotations

from ..ir.builder import kind_of_atom
from ..ir.types import BOOL, NONE
from ..runtime import identity as rt
from .registry import declare

is_view = declare(
    "is_view", "part", infer=lambda args, params: BOOL, rt="is_view", implementation=rt.is_view
)
is_view_of = declare(
    "is_view_of",
    "part, whole",
    infer=lambda args, params: BOOL,
    rt="is_view_of",
    implementation=rt.is_view_of,
)
in_place = declare(
    "in_place",
    "part, whole",
    infer=lambda args, params: NONE,
    effect=True,
    rt="in_place",
    implementation=rt.in_place,
)
"""A check that what was read from a container which got other items cannot have changed since."""
unchanging = declare(
    "unchanging",
    "value, depth",
    infer=lambda args, params: NONE,
    effect=True,
    rt="unchanging",
    implementation=rt.unchanging,
)
"""A check that a value, or everything in it, is no object that may have changed under another name."""
distinct = declare(
    "distinct",
    "items",
    infer=lambda args, params: kind_of_atom(args[0]),
    fresh=False,
    effect=True,
    rt="distinct",
    implementation=rt.distinct,
)
indexed = declare(
    "indexed", "x", infer=lambda args, params: BOOL, rt="indexed", implementation=rt.indexed
)
objects_only = declare(
    "objects_only",
    "items",
    infer=lambda args, params: NONE,
    effect=True,
    rt="objects_only",
    implementation=rt.objects_only,
)
"""A check that the items of what is walked over are objects, which stay what they are when they change."""
as_long = declare(
    "as_long",
    "items, count",
    infer=lambda args, params: NONE,
    effect=True,
    rt="as_long",
    implementation=rt.as_long,
)
"""A check that a list which was walked over by index is as long as it was."""
counted = declare(
    "counted",
    "value, count",
    infer=lambda args, params: NONE,
    effect=True,
    rt="counted",
    implementation=rt.counted,
)
"""A check that a number or a shape is the one that the program was read for."""
of_array = declare(
    "of_array",
    "part",
    infer=lambda args, params: NONE,
    effect=True,
    rt="of_array",
    implementation=rt.of_array,
)
"""A check that a slice which is written to is one of an array, and no copy."""
rebound = declare(
    "rebound",
    "value, whole=None",
    infer=lambda args, params: NONE,
    effect=True,
    rt="rebound",
    implementation=rt.rebound,
)
"""A check that augmented assignment to a value, or to an item, cannot change an object that others may see."""
unshared = declare(
    "unshared",
    "value, whole=None",
    infer=lambda args, params: kind_of_atom(args[0]),
    fresh=False,
    effect=True,
    rt="unshared",
    implementation=rt.unshared,
)
apart = declare(
    "apart",
    "*values",
    infer=lambda args, params: NONE,
    effect=True,
    rt="apart",
    implementation=rt.apart,
)
kept = declare(
    "kept",
    "owner, name",
    infer=lambda args, params: NONE,
    effect=True,
    rt="kept",
    implementation=rt.kept,
)
"""A check that an attribute which is assigned is one that the object itself keeps."""
built_in = declare(
    "built_in",
    "owner, name",
    infer=lambda args, params: NONE,
    effect=True,
    rt="built_in",
    implementation=rt.built_in,
)
"""A check that a method which changes an object is one of Python's own containers."""
