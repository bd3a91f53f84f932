"""What the programs of a process share: memory, and what lies between Python's calls and theirs.

It is compiled with the first program, once for the process: programs find it by the names of its functions.
"""

from __future__ import annotations

import ctypes
from functools import cache

from ..emit import llvm_runtime
from . import python_objects, result_memory, vectorcall
from .machine import Code, compiled, machine


@cache
def runtime() -> Code:
    """The code of these functions, which from now on programs find."""
    text, exported, names = llvm_runtime.RUNTIME, list(llvm_runtime.EXPORTED), list[str]()
    if python_objects.is_possible():
        names = list(python_objects.table())
        text += vectorcall.first_way(names) + result_memory.functions(names)
        exported += ["wg_call", "wg_new_array", *result_memory.EXPORTED]
    code = compiled(text, level=1)
    for name in exported:
        machine().binding.add_symbol(name, code.address(name))
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(code))  # arrays and programs live longer than this
    return code
