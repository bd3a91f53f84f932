"""How the iterations of checkpointed loops are divided."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ...ir.graph import Atom, Var
from ...ir.types import SLICE, Kind, Seq
from ..cotangent_kinds import like_second
from ..helpers import helper
from ..structure import getitem


def _of_blocks(args: Sequence[Atom], params: Mapping[str, Atom]) -> Kind:
    return Seq(getitem.infer((args[0], Var(SLICE)), {}))


blocks = helper("blocks", "x, *counts, every=None", _of_blocks, fresh=False)
joined = helper("joined", "blocks_bar, x", like_second)
divided_like = helper("divided_like", "x, blocks", _of_blocks, fresh=False)
