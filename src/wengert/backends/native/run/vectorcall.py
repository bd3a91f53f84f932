"""Objects that are called with nothing between the call and native code.

An object of such a class has two words behind all that Python keeps in it: the address of a C function, which Python
calls directly (its *vectorcall*), and the tuple that this function works with. While the first is empty, a call
goes to the class's `__call__`.
"""

from __future__ import annotations

import ctypes
import struct
import sys
import sysconfig
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

TYPE_AT = 8
"""Where an object says of which type it is."""
TABLE_AT = 32
"""Where the bytes of a `bytes` object start."""
ITEMS_AT = 24
"""Where the items of a tuple start."""
_COUNT_AT = 16
"""Where their number is."""

Identities = Sequence[tuple[Any, str, Any]]
"""What must stand by which name in which dictionary, or be which part of which function; `UNDEFINED` for nothing."""


@cache
def is_as_expected() -> bool:
    """Whether this is a Python whose objects native code knows."""
    if sys.implementation.name != "cpython" or sysconfig.get_config_var("Py_GIL_DISABLED"):
        return False
    return struct.calcsize("P") == 8 and sys.byteorder == "little"


@cache
def quickly_called(base: type) -> type:
    """The class of the same name whose objects can be given a way of their own; the class itself where none can."""
    if not is_as_expected() or base.__basicsize__ != _FUNCTION_AT:
        return base
    members = (_Member * 2)(_Member(b"__vectorcalloffset__", _SIZE, _FUNCTION_AT, _READ_ONLY))
    slots = (_Slot * 2)(_Slot(_MEMBERS, ctypes.addressof(members)))
    name = f"{base.__module__}.{base.__qualname__}".encode()
    flags = _HAS_VECTORCALL | _MAY_BE_A_BASE
    spec = _Spec(name, _WAY_AT + 8, 0, flags, ctypes.addressof(slots))
    make = ctypes.pythonapi.PyType_FromSpecWithBases
    make.restype, make.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.py_object]
    return make(ctypes.addressof(spec), (base,))


def set_way(called: Any, address: int, way: tuple[Any, ...]) -> None:
    """From now on, calls of an object of such a class go to the function at an address.

    The tuple must live as long as the object does: a call in another thread may be using one that was set before.
    """
    ctypes.c_size_t.from_address(id(called) + _WAY_AT).value = id(way)
    ctypes.c_size_t.from_address(id(called) + _FUNCTION_AT).value = address


class _Plain:
    """A class without slots: its objects end where ours go on."""


_FUNCTION_AT = _Plain.__basicsize__
_WAY_AT = _FUNCTION_AT + 8


class _Member(ctypes.Structure):
    _fields_ = (
        ("name", ctypes.c_char_p),
        ("type", ctypes.c_int),
        ("offset", ctypes.c_ssize_t),
        ("flags", ctypes.c_int),
        ("doc", ctypes.c_char_p),
    )


class _Slot(ctypes.Structure):
    _fields_ = (("slot", ctypes.c_int), ("what", ctypes.c_void_p))


class _Spec(ctypes.Structure):
    _fields_ = (
        ("name", ctypes.c_char_p),
        ("size", ctypes.c_int),
        ("item_size", ctypes.c_int),
        ("flags", ctypes.c_uint),
        ("slots", ctypes.c_void_p),
    )


_SIZE, _READ_ONLY, _MEMBERS = 19, 1, 72
_MAY_BE_A_BASE, _HAS_VECTORCALL = 1 << 10, 1 << 11
"""`Py_T_PYSSIZET`, `Py_READONLY`, `Py_tp_members`, `Py_TPFLAGS_…`: parts of Python's stable ABI."""


# --- the function -------------------------------------------------------------------------


def way(
    addresses: bytes,
    in_force: Callable[[], bool],
    identities: Identities,
    otherwise: Callable[..., Any],
    entry: int,
    code: Any,
) -> tuple[Any, ...]:
    """What `first_way` works with.

    Args:
        addresses: the table of the entry point.
        in_force: whether the native form may be used.
        identities: where they hold, `in_force()` is true; nothing if that cannot be said so.
        otherwise: takes the same arguments, and arguments by name.
        entry: where the entry point is.
        code: what must live as long as the function.
    """
    found = identities or [({}, "", None)]  # what does not hold: then `in_force` is asked
    at = struct.pack("P", entry)
    return (addresses, in_force, otherwise, at, code, *(part for each in found for part in each))


def first_way(table: Sequence[str]) -> str:
    """The C function that calls an entry point where it may, and otherwise what Python has.

    Args:
        table: the names of what the table of addresses holds, in order.
    """
    known = (
        *("True", "other", "exited", "PyObject_CallNoArgs", "PyObject_Vectorcall", "Py_DecRef"),
        "PyDict_GetItemWithError", "PyFunction_GetCode", "PyObject_GetAttr", "dict", "__code__", "UNDEFINED",
    )  # fmt: skip
    loads = "\n".join(
        f"  %at.{key} = getelementptr i64, ptr %table, i64 {table.index(key)}\n"
        f"  %{key} = load ptr, ptr %at.{key}, !invariant.load !{{}}"
        for key in known
    )
    return _FIRST_WAY.format(
        way_at=_WAY_AT,
        items=ITEMS_AT,
        type_at=TYPE_AT,
        count_at=_COUNT_AT,
        table_at=TABLE_AT,
        loads=loads,
    )


_FIRST_WAY = """
define ptr @wg_call(ptr %self, ptr %args, i64 %given, ptr %names) #0 {{
start:
  %way.at = getelementptr i8, ptr %self, i64 {way_at}
  %way = load ptr, ptr %way.at
  %items = getelementptr i8, ptr %way, i64 {items}
  %addresses = load ptr, ptr %items
  %at.in_force = getelementptr ptr, ptr %items, i64 1
  %in_force = load ptr, ptr %at.in_force
  %at.otherwise = getelementptr ptr, ptr %items, i64 2
  %otherwise = load ptr, ptr %at.otherwise
  %at.size = getelementptr i8, ptr %way, i64 {count_at}
  %size = load i64, ptr %at.size
  %table = getelementptr i8, ptr %addresses, i64 {table_at}
  %at.entry = getelementptr ptr, ptr %items, i64 3
  %packed = load ptr, ptr %at.entry
  %packed.at = getelementptr i8, ptr %packed, i64 {table_at}
  %entry = load ptr, ptr %packed.at
{loads}
  %unnamed = icmp eq ptr %names, null
  br i1 %unnamed, label %comparing, label %slowly
comparing:
  %k = phi i64 [ 5, %start ], [ %k.next, %same ]
  %end = icmp eq i64 %k, %size
  br i1 %end, label %quickly, label %compare
compare:
  %at.holder = getelementptr ptr, ptr %items, i64 %k
  %holder = load ptr, ptr %at.holder
  %at.key = getelementptr ptr, ptr %at.holder, i64 1
  %key = load ptr, ptr %at.key
  %at.value = getelementptr ptr, ptr %at.holder, i64 2
  %value = load ptr, ptr %at.value
  %at.type = getelementptr i8, ptr %holder, i64 {type_at}
  %type = load ptr, ptr %at.type
  %is.dict = icmp eq ptr %type, %dict
  br i1 %is.dict, label %looking, label %reading
looking:
  %item = call ptr %PyDict_GetItemWithError(ptr %holder, ptr %key)
  %is.absent = icmp eq ptr %item, null
  %kept = select i1 %is.absent, ptr %UNDEFINED, ptr %item
  br label %compared
reading:
  %is.code = icmp eq ptr %key, %__code__
  br i1 %is.code, label %borrowing, label %owning
borrowing:
  %code = call ptr %PyFunction_GetCode(ptr %holder)
  br label %compared
owning:
  %part = call ptr %PyObject_GetAttr(ptr %holder, ptr %key)
  %is.lost = icmp eq ptr %part, null
  br i1 %is.lost, label %failed, label %read
read:
  call void %Py_DecRef(ptr %part)
  br label %compared
compared:
  %now = phi ptr [ %kept, %looking ], [ %code, %borrowing ], [ %part, %read ]
  %is.value = icmp eq ptr %now, %value
  br i1 %is.value, label %same, label %asking
same:
  %k.next = add i64 %k, 3
  br label %comparing
asking:
  %said = call ptr %PyObject_CallNoArgs(ptr %in_force)
  %raised = icmp eq ptr %said, null
  br i1 %raised, label %failed, label %told
told:
  call void %Py_DecRef(ptr %said)
  %still = icmp eq ptr %said, %True
  br i1 %still, label %quickly, label %slowly
quickly:
  %count = and i64 %given, 9223372036854775807
  %found = call ptr %entry(ptr %addresses, ptr %args, i64 %count)
  %others = icmp eq ptr %found, %other
  %left = icmp eq ptr %found, %exited
  %answered = or i1 %others, %left
  br i1 %answered, label %unfit, label %done
done:
  ret ptr %found
failed:
  ret ptr null
unfit:
  call void %Py_DecRef(ptr %found)
  br label %slowly
slowly:
  %slow = tail call ptr %PyObject_Vectorcall(ptr %otherwise, ptr %args, i64 %given, ptr %names)
  ret ptr %slow
}}
"""
