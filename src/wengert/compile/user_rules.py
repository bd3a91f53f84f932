"""Functions with rules of the user's own as the code that they are, where nobody is going to differentiate them.

A function with a rule is one operation of the program: its derivative is what the rule says. Once derivatives have been
taken, the function itself is a function like any other, and can be read.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Sequence
from typing import NamedTuple

from ..errors import WengertError
from ..frontend.boundary import signature
from ..ir.builder import kind_of_atom
from ..ir.graph import Atom, Block, Eqn, Function, Var
from ..ir.records import replace
from ..ir.renaming import renamed_atom, renamed_eqn
from ..ir.types import Struct
from ..passes.blocks.copies import copied
from ..rules import registry
from . import engine
from .calling import Call
from .guards import one_check

MOST_DEEP = 20
"""How many functions with rules may call each other in turn."""


class Read(NamedTuple):
    """A program with the code of such functions, and what says that it is still theirs."""

    function: Function
    checks: tuple[Callable[[], bool], ...]


def with_own_code(function: Function) -> Read:
    """The function with the code of those that it calls and that have rules; what cannot be read stays a call."""
    reading = _Reading()
    body = reading.block(function.body, {}, MOST_DEEP)
    return Read(replace(function, body=body) if reading.checks else function, tuple(reading.checks))


class _Reading:
    def __init__(self) -> None:
        self.checks: list[Callable[[], bool]] = []

    def block(self, block: Block, around: dict[Var, Atom], depth: int) -> Block:
        names = dict(around)
        eqns = [made for eqn in block.eqns for made in self._eqn(eqn, names, depth)]
        return Block(block.params, tuple(eqns), tuple(renamed_atom(x, names) for x in block.outs))

    def _eqn(self, eqn: Eqn, names: dict[Var, Atom], depth: int) -> Sequence[Eqn]:
        blocks = tuple(self.block(block, names, depth) for block in eqn.blocks)
        made = replace(renamed_eqn(replace(eqn, blocks=()), names), blocks=blocks)
        code = self._code_of(made) if depth else None
        if code is None:
            return [made]
        mapping: dict[Var, Atom] = dict(zip(code.body.params, made.args, strict=True))
        eqns = copied(code.body.eqns, mapping)
        names[made.outs[0]] = renamed_atom(code.body.outs[0], mapping)
        return self.block(Block((), tuple(eqns), ()), {}, depth - 1).eqns

    def _code_of(self, eqn: Eqn) -> Function | None:
        """The function that an equation calls, for arguments of these kinds; None if that is not what it does."""
        target = eqn.op.implementation
        is_call = eqn.namespace == "call" and not eqn.op.spellings and not eqn.params
        if not is_call or not isinstance(target, types.FunctionType) or target.__closure__:
            return None
        names = target.__code__.co_varnames[: target.__code__.co_argcount]
        if len(names) != len(eqn.args) or any(map(_has_parts, eqn.args)):
            return None
        kinds = tuple((n, kind_of_atom(a)) for n, a in zip(names, eqn.args, strict=True))
        generation = registry.generation()
        try:
            program = engine.read(
                Call(signature.kind_of(target), kinds),
                opted_out=lambda op: op is eqn.op or registry.opted_out(op),
            )
        except WengertError:
            return None
        body = program.function.body
        if len(body.params) != len(eqn.args) or len(body.outs) != 1 or _is_struct(program.function):
            return None
        self.checks.append(one_check(program.guards, generation))
        return program.function


def _has_parts(atom: Atom) -> bool:
    return isinstance(kind_of_atom(atom), Struct)


def _is_struct(function: Function) -> bool:
    return isinstance(function.result, Struct)
