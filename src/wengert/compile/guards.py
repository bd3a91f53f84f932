"""What a derivative relied on, as one quick question: is it still so?"""

from __future__ import annotations

import gc
import types
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from ..frontend.boundary import signature
from ..frontend.boundary.kind_checks import check_of
from ..frontend.machine.guards import MISSING, PARTS, PRESENT, Guard
from ..ir.types import Kind, Static
from ..rules import registry as rules
from ..runtime.undefined import UNDEFINED

_BY_NAME = (dict, MappingProxyType)
"""Who holds values by name: a module's dictionary, or what a class keeps."""


def one_check(
    guards: Sequence[Guard],
    generation: int,
    more: Sequence[str] = (),
    names_in_more: Mapping[str, Any] = MappingProxyType({}),
) -> Callable[[], bool]:
    """One function that checks all guards, and more: it runs in every call of a derivative."""
    namespace = {"rules": rules.state(), "missing": MISSING, "still": _still, **names_in_more}
    tests = [f"rules.generation == {generation}", *more]
    for n, (holder, key, kind) in enumerate({(id(g[0]), g[1]): g for g in guards}.values()):
        names = vars(holder) if isinstance(holder, types.ModuleType) else holder
        is_quick = isinstance(names, _BY_NAME)
        value = names.get(key, MISSING) if is_quick else MISSING
        namespace |= {
            f"holder{n}": holder,
            f"names{n}": names,
            f"kind{n}": kind,
            f"value{n}": value,
        }
        found, slow = f"names{n}.get({key!r}, missing)", f"still(holder{n}, {key!r}, kind{n})"
        if is_quick and isinstance(kind, Static) and kind.value is value:
            same = f"{found} is value{n}"
            tests.append(f"({same} or {slow})" if type(value) is str else same)
        elif isinstance(holder, types.FunctionType) and key in PARTS:
            tests.append(f"holder{n}.{key} is kind{n}.value")
        elif type(value) in (float, int, bool, complex) and signature.kind_of(value) == kind:
            tests.append(f"(type({found}) is type(value{n}) or {slow})")
        elif is_quick and not isinstance(kind, Static):
            namespace[f"is_kind{n}"] = check_of(kind)
            tests.append(f"(is_kind{n}({found}) or {slow})")
        else:
            tests.append(slow)
    return eval(f"lambda: {' and '.join(tests)}", namespace)


Identities = tuple[tuple[dict[str, Any] | types.FunctionType, str, Any], ...]
"""What stands by which name in which dictionary, or is which part of which function."""


def as_identities(guards: Sequence[Guard], generation: int) -> Identities:
    """What stands by which name in which dictionary, or is which part of which function; `UNDEFINED` for nothing.

    As long as it does, the check of these guards is true. Nothing at all if that cannot be said so. Native code
    compares this without running Python.
    """
    state = vars(rules.state())
    if state["generation"] != generation:
        return ()
    found: list[tuple[Any, str, Any]] = [(state, "generation", state["generation"])]
    for holder, key, kind in guards:
        if not _still(holder, key, kind):
            return ()
        if isinstance(holder, types.FunctionType) and key in PARTS:
            found.append((holder, key, getattr(holder, key)))
            continue
        names = _dictionary_of(holder)
        if names is None or (
            key not in names and not (isinstance(kind, Static) and kind.value is MISSING)
        ):
            return ()
        found.append((names, key, names.get(key, UNDEFINED)))
    return tuple(found)


def _dictionary_of(holder: Any) -> dict[str, Any] | None:
    """The dictionary in which somebody holds values by name; of a class, the one that its `__dict__` shows."""
    if isinstance(holder, MappingProxyType):
        (holder,) = gc.get_referents(holder)
    names = vars(holder) if isinstance(holder, types.ModuleType) else holder
    return names if type(names) is dict else None


def _still(holder: Any, key: str, kind: Kind) -> bool:
    named = isinstance(holder, _BY_NAME)
    value = holder.get(key, MISSING) if named else getattr(holder, key, MISSING)
    if isinstance(kind, Static):
        if type(value) is str and type(kind.value) is str:
            return value == kind.value  # a text that is made again is the same text
        return value is not MISSING if kind.value is PRESENT else value is kind.value
    return value is not MISSING and signature.kind_of(value, like=kind) == kind
