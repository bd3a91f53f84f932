"""How the iterations of checkpointed loops are divided."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ...ir.builder import kind_of_atom
from ...ir.graph import Atom, Var
from ...ir.types import SLICE, Kind, Seq
from ..registry import declare
from ..structure import getitem, gradient_kind


def _of_blocks(args: Sequence[Atom], params: Mapping[str, Atom]) -> Kind:
    return Seq(getitem.infer((args[0], Var(SLICE)), {}))


def _like_second(args: Sequence[Atom], params: Mapping[str, Atom]) -> Kind:
    return gradient_kind(kind_of_atom(args[1]))


blocks = declare(
    "blocks",
    "x, *counts, every=None",
    infer=_of_blocks,
    fresh=False,
    rt="blocks",
)
joined = declare("joined", "blocks_bar, x", infer=_like_second, rt="joined")
divided_like = declare(
    "divided_like",
    "x, blocks",
    infer=_of_blocks,
    fresh=False,
    rt="divided_like",
)
