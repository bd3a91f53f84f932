"""What an operation is to the IR: a name and how it behaves, nothing of its meaning."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from .records import field, mutable_record
from .types import UNKNOWN, Kind

if TYPE_CHECKING:
    from .builder import Builder
    from .graph import Atom

Infer = Callable[[Sequence["Atom"], Mapping[str, "Atom"]], Kind]

Fold = Callable[["Builder", Sequence["Atom"], Mapping[str, "Atom"], str], "Atom | None"]


def _unknown(args: Sequence[Atom], params: Mapping[str, Atom]) -> Kind:
    return UNKNOWN


@mutable_record
class Op:
    """A mathematical function, whatever Python spells it; compared by identity.

    Attributes:
        name: the one name it has in IR text.
        infer: the kind of its result from its arguments and options.
        spellings: its name in each namespace: `{"math": "sin", "np": "sin"}`; the namespace "py"
            holds an operator ("+") or a builtin ("abs"), "method" and "attr" how it is spelled on
            an array, "rt" a helper of `wengert.runtime`.
        signature: operands, then after `*` options, as Python writes them:
            `"x, *, axis=None, keepdims=False"`.
        elementwise: the result has the broadcast shape of the operands.
        fresh: a result that is an array shares no memory with the operands.
        effect: must run exactly once and in order, even if nothing reads its result.
        domain: in the namespace "math" it raises outside its domain, so it runs even if nothing reads
            its result.
        control: owns blocks or transfers control; handled by every pass by name.
        fold: what the builder emits instead, when that is simpler: `fold(builder, args, params,
            namespace)` gives an atom, or None to emit the equation as it stands.
        reduction: reduces its first operand along the option `axis`, with the option `keepdims`.
        shaped_like: which operand's shape the result has, for an op that is not elementwise.
        implementation: computes it on run-time values; calling the op calls it.
    """

    name: str
    infer: Infer = _unknown
    spellings: Mapping[str, str] = field(default_factory=dict[str, str])
    signature: str = ""
    elementwise: bool = False
    fresh: bool = True
    effect: bool = False
    control: bool = False
    fold: Fold | None = None
    implementation: Callable[..., Any] | None = None
    domain: bool = False
    reduction: bool = False
    shaped_like: int | None = None

    def __call__(self, *args: Any, **options: Any) -> Any:
        if self.implementation is None:
            raise TypeError(f"the op {self.name!r} has no implementation on run-time values")
        return self.implementation(*args, **options)

    def __repr__(self) -> str:
        return f"<op {self.name}>"
