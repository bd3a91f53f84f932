"""The memory of what a block makes."""

from __future__ import annotations

from collections.abc import Sequence

from ....ir.graph import Block, Var
from ..form.loopform import Allocate, Code, Expr, Release
from ..values.emitter import Emitter
from ..values.values import ZERO, Root, Value, View, c_strides, product
from .scope import Scope


class Memory(Scope):
    """A block that takes memory.

    Attributes:
        destinations: the memory that a caller has made for values of this function.
    """

    def __init__(
        self, e: Emitter, values: dict[Var, Value], block: Block, destinations: dict[Var, View]
    ):
        super().__init__(e, values, block)
        self.destinations = destinations

    def allocate(self, dims: tuple[Expr, ...], code: Code, names: Sequence[Var]) -> View:
        """Memory for an array: the caller's if the array is one of its results."""
        for name in names:
            made = self.destinations.get(name)
            if made is not None and made.code == code and made.dims == dims:
                del self.destinations[name]
                return made
        hint = next((name.name for name in names if name.name), "temporary")
        pointer = self.e.slot(hint, "ptr")
        self.e.add(Allocate(pointer, self.e.let(product(dims)), code))
        root = Root(pointer, hint)
        self.e.owned.append(root)
        return View(root, code, dims, tuple(map(self.e.let, c_strides(dims))), ZERO, whole=True)

    def release_owned(self) -> None:
        """Release what this block has made and nobody else has taken over."""
        for root in self.e.owned:
            self.e.add(Release(root.pointer))
        self.e.owned.clear()
