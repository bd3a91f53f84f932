"""What entry points need of Python and NumPy: functions and objects, by address, and how objects are laid out."""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Sequence
from functools import cache
from importlib import import_module
from sys import intern
from typing import Any

import numpy as np

from ....runtime.undefined import UNDEFINED
from . import result_memory
from .answers import EXITED, OTHER_TYPES
from .vectorcall import ITEMS_AT, TYPE_AT, is_as_expected

VALUE_AT = 16
ARRAY_AT = {"data": 16, "rank": 24, "dims": 32, "strides": 40, "descr": 56, "flags": 64}
"""Where the parts of an array object are: NumPy's C ABI, the same since 1.7."""

_IN_NUMPYS_TABLE = {
    "PyArray_New": 93,
    "PyArray_Scalar": 60,
    "PyDataMem_SetHandler": 304,
    "PyDataMem_GetHandler": 305,
}
_DEFAULT_HANDLER = 306
"""Places in NumPy's table of C functions, and of the handler of memory that it has by itself."""


@cache
def table() -> dict[str, int]:
    """The addresses that entry points use, by name."""
    api = ctypes.pythonapi
    functions = [
        "PyFloat_FromDouble",
        "PyComplex_FromDoubles",
        "PyLong_FromLongLong",
        "PyLong_FromDouble",
        "PyTuple_New",
        "PyLong_AsLongLongAndOverflow",
        "PyBool_FromLong",
        "PyEval_SaveThread",
        "PyEval_RestoreThread",
        "Py_IncRef",
        "Py_DecRef",
        "PyObject_CallNoArgs",
        "PyObject_Vectorcall",
        "PyDict_GetItemWithError",
        "PyFunction_GetCode",
        "PyObject_GetAttr",
    ]
    found = {n: ctypes.cast(getattr(api, n), ctypes.c_void_p).value or 0 for n in functions}
    numpys = _numpys_functions()
    found |= {name: numpys[place] for name, place in _IN_NUMPYS_TABLE.items()}
    found |= result_memory.for_table(numpys[_DEFAULT_HANDLER])
    objects: dict[str, Any] = {
        "float": float, "complex": complex, "int": int, "bool": bool, "None": None, "True": True, "ndarray": np.ndarray,
        "numpy.f64": np.float64, "numpy.f32": np.float32, "numpy.i64": np.int64, "numpy.b1": np.bool_,
        "descr.f64": np.dtype(np.float64), "descr.f32": np.dtype(np.float32),
        "numpy.complex": np.complex128, "descr.complex": np.dtype(np.complex128),
        "descr.i64": np.dtype(np.int64), "descr.b1": np.dtype(np.bool_),
        "other": OTHER_TYPES, "exited": EXITED, "dict": dict, "UNDEFINED": UNDEFINED,
        "__code__": intern("__code__"),
    }  # fmt: skip
    return found | {name: id(value) for name, value in objects.items()}


def _numpys_functions() -> Sequence[int]:
    umath = import_module("numpy._core._multiarray_umath")
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    address = pointer(vars(umath)["_ARRAY_API"], None)
    return list((ctypes.c_size_t * (_DEFAULT_HANDLER + 1)).from_address(address))


@cache
def is_possible() -> bool:
    """Whether objects are laid out here as entry points expect."""
    if not is_as_expected():
        return False
    number, array = 1.25, np.zeros((2, 3))
    first = ctypes.c_double.from_address(id(number) + VALUE_AT).value
    rank = ctypes.c_int.from_address(id(array) + ARRAY_AT["rank"]).value
    data = ctypes.c_size_t.from_address(id(array) + ARRAY_AT["data"]).value
    types = ctypes.c_size_t.from_address(id(array) + TYPE_AT).value
    pair = (number, array)
    second = ctypes.c_size_t.from_address(id(pair) + ITEMS_AT + 8).value
    expected = (1.25, 2, array.ctypes.data, id(np.ndarray), id(array))
    return (first, rank, data, types, second) == expected


def callable_at(address: int, name: str) -> Any:
    """The entry point at an address as a Python function."""
    api = ctypes.pythonapi
    make = api.PyCFunction_NewEx
    make.restype = ctypes.py_object
    make.argtypes = [ctypes.c_void_p, ctypes.py_object, ctypes.c_void_p]
    definition = _Method(name.encode(), address, _FASTCALL, None)
    function = make(ctypes.addressof(definition), addresses(), None)
    _kept.append(definition)  # Python keeps a pointer to it
    return function


@cache
def addresses() -> bytes:
    """The table, as entry points read it."""
    return struct.pack(f"{len(table())}Q", *table().values())


class _Method(ctypes.Structure):
    _fields_ = (
        ("name", ctypes.c_char_p),
        ("function", ctypes.c_void_p),
        ("flags", ctypes.c_int),
        ("doc", ctypes.c_char_p),
    )


_FASTCALL = 0x80
_kept: list[Any] = []
