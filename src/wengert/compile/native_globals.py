"""Global containers whose structure is known: what the program reads of them is read by itself, part by part."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..frontend.boundary.taking_apart import step
from ..frontend.domain.values import held_by
from ..ir.graph import Atom, Block, Const, Eqn, Function, Var
from ..ir.records import record, replace
from ..ir.types import Struct, step_into
from ..ops import structure as st


@record
class PartOf:
    """Where a part of a global container is: in what a namespace holds under a name."""

    holder: Any
    key: str
    kind: Struct

    def read(self, part: Any) -> Any:
        """The part, as it is now."""
        return step(read_from(self.holder, self.key), step_into(self.kind, part))


def read_from(holder: Any, key: Any) -> Any:
    """A global value: what a namespace holds under a name."""
    if isinstance(holder, PartOf):
        return holder.read(key)
    return held_by(holder, key)


def with_parts_of_globals(function: Function) -> Function:
    """The program in which items of global dictionaries, tuples and objects are global values themselves.

    Native code is given numbers and arrays, and no dictionaries.
    """
    return replace(function, body=_Parts().block(function.body))


class _Parts:
    def __init__(self) -> None:
        self.containers: dict[Var, PartOf] = {}
        self.known: dict[tuple[int, Any], PartOf] = {}
        """One for each container, however often the program reads it."""

    def block(self, block: Block) -> Block:
        return replace(block, eqns=tuple(map(self.eqn, block.eqns)))

    def eqn(self, eqn: Eqn) -> Eqn:
        if eqn.blocks:
            return replace(eqn, blocks=tuple(map(self.block, eqn.blocks)))
        container, part = self._part_read(eqn)
        if container is not None:
            eqn = _global(eqn, container, part)
        if eqn.op is st.global_ and isinstance(eqn.outs[0].kind, Struct):
            place = eqn.param("holder"), eqn.param("key")
            found = self.known.setdefault(
                (id(place[0]), place[1]), PartOf(*place, eqn.outs[0].kind)
            )
            self.containers[eqn.outs[0]] = found
        return eqn

    def _part_read(self, eqn: Eqn) -> tuple[PartOf | None, Any]:
        """Of which container an equation reads which part."""
        owner = eqn.args[0] if eqn.args else None
        container = self.containers.get(owner) if isinstance(owner, Var) else None
        if container is None or eqn.op not in (st.getitem, st.getattr_):
            return None, None
        key = eqn.params["name"] if eqn.op is st.getattr_ else eqn.args[1]
        if not isinstance(key, Const) or key.value not in container.kind.keys:
            return None, None
        return container, key.value


def _global(eqn: Eqn, container: PartOf, part: Any) -> Eqn:
    params: Mapping[str, Atom] = {
        "name": Const(str(part)),
        "holder": Const(container),
        "key": Const(part),
    }
    return replace(eqn, op=st.global_, args=(), params=dict(params))
