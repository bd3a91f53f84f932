"""Generators of random numbers: what makes them, by package and name.

To name `np.random` would load it, which takes longer than most derivatives.
"""

from __future__ import annotations

from typing import Any

from ...ir.graph import Eqn
from ...ir.types import Kind, Other

_MAKERS = {
    "numpy.default_rng": "numpy.Generator",
    "numpy.RandomState": "numpy.RandomState",
    "random.Random": "random.Random",
}
CLASSES = frozenset(_MAKERS.values())


def name_of(value: Any) -> str:
    """The package that something comes from, and its name there."""
    package = str(getattr(value, "__module__", "")).partition(".")[0]
    return f"{package}.{getattr(value, '__name__', '')}"


def kind_of_generator(value: Any) -> Other | None:
    """The kind of any generator of the class of this one; None of what is no generator."""
    name = name_of(type(value))
    return Other(name) if name in CLASSES else None


def is_any_generator(kind: Kind) -> bool:
    """Whether a kind is that of any generator of some class."""
    return isinstance(kind, Other) and kind.name in CLASSES


def made_by(maker: Any) -> str | None:
    """The class of the generators that a function makes, if it makes any."""
    return _MAKERS.get(name_of(maker))


def makes_generator(eqn: Eqn) -> bool:
    """Whether an equation makes a generator of random numbers."""
    return eqn.namespace == "call" and made_by(eqn.op.implementation) is not None
