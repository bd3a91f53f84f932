"""Which values of a program are real, which are complex, and which may be either."""

from __future__ import annotations

from ...ir.builder import kind_of_atom
from ...ir.graph import CALL, Block, Callee, Eqn, walk
from ...ir.types import UNKNOWN, Array, Kind, Map, Number, Seq, Struct

_OF_UNKNOWN_ORIGIN = frozenset(("apply", "pullback_of", "global", "means", "root"))
_TURN_COMPLEX = frozenset((
    "eig", "eigvals", "roots", "fft", "ifft", "rfft", "irfft_adjoint", "imag", "i_imag", "angle",
))  # fmt: skip
"""What may give complex numbers of real ones, or such cotangents, and whose dtype may be unknown all the same."""


def may_be_complex(block: Block) -> bool:
    """Whether a value of unknown kind in a program may be complex: something must have made it so."""
    return _may_be_complex(block, set())


def _may_be_complex(block: Block, seen: set[Callee]) -> bool:
    eqns = list(walk(block))
    atoms = [*block.params, *(atom for eqn in eqns for atom in (*eqn.operands(), *eqn.outs))]
    return (
        any(is_complex(kind_of_atom(atom)) for atom in atoms)
        or any(_is_open(kind_of_atom(param)) for param in block.params)
        or any(eqn.op.name in _OF_UNKNOWN_ORIGIN and eqn.outs[0].kind == UNKNOWN for eqn in eqns)
        or any(map(_may_turn_complex, eqns))
        or any(_calls_complex(eqn.param("callee"), seen) for eqn in eqns if eqn.op is CALL)
    )


def says_little(kind: Kind) -> bool:
    """Whether values of a kind may be real or complex."""
    return kind == UNKNOWN or (isinstance(kind, Array) and not kind.dtype)


def _is_open(kind: Kind) -> bool:
    """Whether a value of a kind, or something in it, may be real or complex."""
    match kind:
        case Seq(item=item) | Map(item=item):
            return _is_open(item)
        case Struct(items=items):
            return any(map(_is_open, items))
        case _:
            return says_little(kind)


def _calls_complex(callee: Callee, seen: set[Callee]) -> bool:
    if callee in seen or callee.function is None:
        return False
    seen.add(callee)
    return _may_be_complex(callee.function.body, seen)


def _may_turn_complex(eqn: Eqn) -> bool:
    """Whether an op may give complex numbers of real ones."""
    unknown = not eqn.op.spellings and eqn.namespace == "call" and eqn.outs[0].kind == UNKNOWN
    return unknown or eqn.op.name in _TURN_COMPLEX


def is_complex(kind: Kind) -> bool:
    """Whether values of this kind are known to be complex."""
    return kind == Number("complex") or (
        isinstance(kind, Array) and kind.dtype.startswith("complex")
    )


def is_real(kind: Kind) -> bool:
    """Whether values of this kind are known to be real."""
    if isinstance(kind, Array):
        return bool(kind.dtype) and not kind.dtype.startswith(("complex", "object"))
    return isinstance(kind, Number) and kind.type != "complex"
