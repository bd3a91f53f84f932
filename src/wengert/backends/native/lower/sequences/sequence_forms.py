"""Whether a sequence of any length is a list or a tuple."""

from __future__ import annotations

from collections.abc import Mapping

from .....ir.builder import kind_of_atom
from .....ir.graph import FOR, IF, WHILE, Atom, Eqn, Function, Var, walk
from .....ir.types import SLICE
from ...values.values import Unlowered

_LISTS = frozenset(("as_list", "tolist", "compress", "spread", "flatten_lists"))
_CHANGES = ("append_item", "insert_item", "drop", "store", "overwrite")
_CHANGED_LISTS = frozenset((*_CHANGES, "add_at", "appended", "inserted", "dropped", "stored"))
_FORM_OF_FIRST = frozenset(("getitem", "repeated_items", "add", "copy", "snapshot", "duplicate"))


def form_of_sequence(function: Function, atom: Atom, forms: Mapping[Var, str]) -> str:
    """What a sequence that a function gives is: "list" or "tuple"; `forms` has those of its parameters.

    Raises:
        Unlowered: that is not known.
    """
    defined = {out: eqn for eqn in walk(function.body) for out in eqn.outs}
    seen: dict[Atom, str | None] = {**forms}
    form = _form(atom, defined, seen)
    if form is None:
        raise Unlowered("a result that is a list or a tuple")
    return form


def _form(atom: Atom, defined: dict[Var, Eqn], seen: dict[Atom, str | None]) -> str | None:
    """The form of a sequence; None if it is not known; "" while it is being found out."""
    if not isinstance(atom, Var) or (atom not in defined and atom not in seen):
        return None
    if atom not in seen:
        seen[atom] = ""
        seen[atom] = _form_by(defined[atom], atom, defined, seen)
    return seen[atom]


def _form_by(
    eqn: Eqn, out: Var, defined: dict[Var, Eqn], seen: dict[Atom, str | None]
) -> str | None:
    name = eqn.op.name
    if name == "as_tuple":
        return "tuple"
    if name in _LISTS or name in _CHANGED_LISTS:
        return "list"
    if name == "pack":
        return eqn.param("form")
    if name == "project":
        return _form(eqn.args[1], defined, seen)
    if name == "getitem" and kind_of_atom(eqn.args[1]) != SLICE:
        return None  # an item of a list may be a tuple
    if name in _FORM_OF_FIRST:
        return _form(eqn.args[0], defined, seen)
    if eqn.op is IF:
        k = eqn.outs.index(out)
        forms = {_form(block.outs[k], defined, seen) for block in eqn.blocks}
        return forms.pop() if len(forms) == 1 else None
    if eqn.op in (FOR, WHILE):
        k, n = eqn.outs.index(out), eqn.param("iterables", 0)
        return _form(eqn.args[n + k], defined, seen) if k < len(eqn.args) - n else "list"
    return None
