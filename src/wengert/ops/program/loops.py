"""How the iterations of checkpointed loops are divided."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ...ir.builder import kind_of_atom
from ...ir.graph import Atom, Var
from ...ir.types import SLICE, Kind, Seq
from ..helpers import helper
from ..structure import getitem, gradient_kind


def _of_blocks(args: Sequence[Atom], params: Mapping[str, Atom]) -> Kind:
    return Seq(getitem.infer((args[0], Var(SLICE)), {}))


def _like_second(args: Sequence[Atom], params: Mapping[str, Atom]) -> Kind:
    return gradient_kind(kind_of_atom(args[1]))


blocks = helper("blocks", "x, *counts, every=None", _of_blocks, fresh=False)
joined = helper("joined", "blocks_bar, x", _like_second)
divided_like = helper("divided_like", "x, blocks", _of_blocks, fresh=False)
