"""Memory of large results: what earlier ones left is used again.

The operating system takes longer to give memory than most programs take to fill it, so that a loop that computes one
large gradient after the other would spend its time there. NumPy lets memory come from elsewhere (NEP 49): large arrays
that native code makes take it from here, and give it back when they die. It is kept, up to as much as `llvm_kept`
says. Where the user has said where memory is to come from, it does.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from functools import cache

from .machine import machine

LARGE_RESULT = 2**17
"""From so many bytes on, the C library asks the operating system for each array."""

NEEDED = ("PyArray_New", "PyDataMem_SetHandler", "PyDataMem_GetHandler", "PyObject_CallNoArgs",
          "Py_DecRef", "ndarray", "handler.usual", "handler.place", "handler.make")  # fmt: skip

_PLACE = (ctypes.c_void_p * 1)()
"""Where native code looks for the handler: empty until the first large result."""


EXPORTED = tuple(f"wg_result_{name}" for name in ("new", "zeros", "resize", "give"))
"""The functions that NumPy is to call, in the order of its handlers."""


def for_table(default_handler: int) -> dict[str, int]:
    """What entry points find by these names in their table."""
    return {
        "handler.usual": default_handler,
        "handler.place": ctypes.addressof(_PLACE),
        "handler.make": id(make_handler),
    }


@cache
def make_handler() -> None:
    """Make the functions that NumPy is to call known to native code, which has been compiled by then."""
    handler = _Handler(b"wengert", 1, None, *map(machine().binding.address_of_symbol, EXPORTED))
    capsule_of = ctypes.pythonapi.PyCapsule_New
    capsule_of.restype = ctypes.py_object
    capsule_of.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
    capsule = capsule_of(ctypes.addressof(handler), b"mem_handler", None)
    for needed in (handler, capsule):  # arrays may live longer than this module
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(needed))
    _PLACE[0] = id(capsule)


class _Handler(ctypes.Structure):
    """`PyDataMem_Handler` of NumPy's C API, version 1."""

    _fields_ = (
        ("name", ctypes.c_char * 127),
        ("version", ctypes.c_uint8),
        ("context", ctypes.c_void_p),
        ("malloc", ctypes.c_void_p),
        ("calloc", ctypes.c_void_p),
        ("realloc", ctypes.c_void_p),
        ("free", ctypes.c_void_p),
    )


def functions(table: Sequence[str]) -> str:
    """The functions that NumPy is to call, and `wg_new_array`, which makes an array of a program's results.

    That is null where there is no memory.

    Args:
        table: the names of what the table of addresses holds, in order.
    """
    loads = "\n".join(
        f"  %at.{k} = getelementptr i64, ptr %table, i64 {table.index(key)}\n"
        f"  %{key} = load ptr, ptr %at.{k}, !invariant.load !{{}}"
        for k, key in enumerate(NEEDED)
    )
    array = _ARRAY.replace("MADE", _MADE).replace("LOADS", loads)
    return (array + _FUNCTIONS).replace("LARGE", str(LARGE_RESULT))


_MADE = (
    "call ptr %PyArray_New(ptr %ndarray, i32 %rank, ptr %dims, i32 %type, ptr null, ptr null, "
    "i32 0, i32 0, ptr null)"
)
_ARRAY = """
define ptr @wg_new_array(ptr %table, i32 %rank, ptr %dims, i32 %type, i64 %bytes) #0 {
LOADS
  %large = icmp uge i64 %bytes, LARGE
  br i1 %large, label %ours, label %plain
plain:
  %array = MADE
  ret ptr %array
ours:
  %found = load ptr, ptr %handler.place
  %there = icmp ne ptr %found, null
  br i1 %there, label %ask, label %make
make:
  %made = call ptr %PyObject_CallNoArgs(ptr %handler.make)
  %raised = icmp eq ptr %made, null
  br i1 %raised, label %failed, label %ready
failed:
  ret ptr null
ready:
  call void %Py_DecRef(ptr %made)
  br label %ask
ask:
  %handler = load ptr, ptr %handler.place
  %now = call ptr %PyDataMem_GetHandler()
  %nothing = icmp eq ptr %now, null
  br i1 %nothing, label %failed, label %compare
compare:
  %usual = load ptr, ptr %handler.usual
  %is.usual = icmp eq ptr %now, %usual
  call void %Py_DecRef(ptr %now)
  br i1 %is.usual, label %set, label %plain
set:
  %before = call ptr %PyDataMem_SetHandler(ptr %handler)
  %unset = icmp eq ptr %before, null
  br i1 %unset, label %failed, label %new
new:
  %other = MADE
  %after = call ptr %PyDataMem_SetHandler(ptr %before)
  call void %Py_DecRef(ptr %before)
  %lost = icmp eq ptr %after, null
  br i1 %lost, label %failed, label %done
done:
  call void %Py_DecRef(ptr %after)
  ret ptr %other
}
"""


_FUNCTIONS = """\
declare ptr @calloc(i64, i64) nounwind

define ptr @wg_result_new(ptr %context, i64 %size) #0 {
  %large = icmp uge i64 %size, LARGE
  br i1 %large, label %look, label %new
look:
  %kept = call ptr @wg_kept_block(i64 %size)
  %none = icmp eq ptr %kept, null
  br i1 %none, label %new, label %old
old:
  ret ptr %kept
new:
  %made = call ptr @malloc(i64 %size)
  call void @wg_in_huge_pages(ptr %made, i64 %size)
  ret ptr %made
}

define ptr @wg_result_zeros(ptr %context, i64 %count, i64 %size) #0 {
  %made = call ptr @calloc(i64 %count, i64 %size)
  ret ptr %made
}

define ptr @wg_result_resize(ptr %context, ptr %old, i64 %size) #0 {
  %made = call ptr @realloc(ptr %old, i64 %size)
  ret ptr %made
}

define void @wg_result_give(ptr %context, ptr %data, i64 %size) #0 {
  %large = icmp uge i64 %size, LARGE
  br i1 %large, label %keep, label %small
small:
  call void @free(ptr %data)
  ret void
keep:
  %size.at = getelementptr ptr, ptr %data, i64 2
  store i64 %size, ptr %size.at
  call void @wg_give(ptr %data)
  ret void
}
"""
