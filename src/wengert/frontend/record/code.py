"""Code of a run: how it reads global names, and whose it is."""

from __future__ import annotations

from collections.abc import Iterator
from opcode import opmap
from types import CodeType, FunctionType
from weakref import WeakKeyDictionary

from ...ir.callers import _installed  # pyright: ignore[reportPrivateUsage]
from ...runtime.reached import closed_over

WENGERT = __file__.rpartition("frontend")[0]


def names_read_by_c(code: CodeType) -> frozenset[str]:
    """The global names that Python looks up as entries of a dictionary, whatever its class says of missing ones.

    Bodies of classes, and code for `eval`, read names so; and `del` of a global name.
    """
    found = _known_names.get(code)
    if found is None:
        names = set(_names_read(code))
        for constant in code.co_consts:
            if isinstance(constant, CodeType):
                names |= names_read_by_c(constant)
        found = _known_names[code] = frozenset(names)
    return found


_known_names: WeakKeyDictionary[CodeType, frozenset[str]] = WeakKeyDictionary()


def _names_read(code: CodeType) -> Iterator[str]:
    extended = 0
    for op, low in zip(code.co_code[::2], code.co_code[1::2], strict=True):
        arg = low | extended
        extended = arg << 8 if op == opmap["EXTENDED_ARG"] else 0
        if op in _READ_BY_C:
            yield code.co_names[arg]


_READ_BY_C = frozenset(
    opmap[name]
    for name in ("LOAD_NAME", "DELETE_GLOBAL", "LOAD_FROM_DICT_OR_GLOBALS")
    if name in opmap
)


def is_polyfill(file: str) -> bool:
    """Whether a file has Python code that stands for functions of libraries."""
    return file.startswith(_POLYFILLS)


_POLYFILLS = (f"{WENGERT}frontend/polyfills/", f"{WENGERT}solvers/")


def is_standard(file: str) -> bool:
    return file.startswith(_installed("stdlib")) and "site-packages" not in file


def closes_over_code(function: FunctionType, depth: int = 0) -> bool:
    """Whether a function of a library was made for one of the program's."""
    for content in closed_over(function).values():
        held = content.values() if type(content) is dict else (content,)
        for each in held:
            if isinstance(each, FunctionType) and (
                not is_standard(each.__code__.co_filename)
                or (depth < _DEEPEST and closes_over_code(each, depth + 1))
            ):
                return True
    return False


_DEEPEST = 3
