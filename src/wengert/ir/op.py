"""What an operation is to the IR: a name and how it behaves, nothing of its meaning."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from .records import mutable_record
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
        total: it raises for no numbers and arrays, whatever they are, if its options fit. What is not known to
            be total may raise, and is computed though nothing reads it.
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
    spellings: Mapping[str, str] = MappingProxyType({})
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
    total: bool = False

    def __call__(self, *args: Any, **options: Any) -> Any:
        if self.implementation is None:
            raise TypeError(f"the op {self.name!r} has no implementation on run-time values")
        evaluate = evaluator_of(args)
        if evaluate is not None:
            return evaluate(self, args, options)
        return self.implementation(*args, **options)

    def __repr__(self) -> str:
        return f"<op {self.name}>"


Evaluator = Callable[[Op, tuple[Any, ...], dict[str, Any]], Any]

libraries: dict[str, Evaluator] = {}
"""Who computes ops on the numbers of another library, by the library's name."""

_evaluators: WeakKeyDictionary[type, tuple[int, Evaluator | None]] = WeakKeyDictionary()


def add_libraries(evaluators: Mapping[str, Evaluator]) -> None:
    """Say who computes ops on the numbers of libraries; "builtins" are Python's own."""
    libraries.update(evaluators)
    _evaluators.clear()


def evaluator_of(args: Sequence[Any]) -> Evaluator | None:
    """Who computes an op on these values; None: the op's own implementation.

    A class of values of its own has a `__compute_op__(op, args, options)`, and the operand whose class
    has the highest `compute_priority` decides. The items of a list or tuple count as operands do.
    """
    return _ranked(args)[1]


def _ranked(args: Sequence[Any]) -> tuple[int, Evaluator | None]:
    best: tuple[int, Evaluator | None] = (_NO_RANK, None)
    for arg in args:
        found = _ranked(arg) if isinstance(arg, (list, tuple)) else _of_type(type(arg))
        if found[0] > best[0]:
            best = found
    return best


def _of_type(cls: type) -> tuple[int, Evaluator | None]:
    found = _evaluators.get(cls)
    if found is None:
        own = getattr(cls, "__compute_op__", None)
        roots = [base.__module__.partition(".")[0] for base in cls.__mro__[:-1]]
        root = next((root for root in roots if root in libraries), "")
        if own is not None:
            found = int(cls.compute_priority), own
        elif root:
            found = (_RANK_OF_PYTHONS if root == "builtins" else _RANK_OF_OTHERS), libraries[root]
        else:
            found = _NO_RANK, None
        _evaluators[cls] = found
    return found


_NO_RANK, _RANK_OF_PYTHONS, _RANK_OF_OTHERS = -2, -1, 0
"""Beside a number of another library, Python's own are converted to it."""
