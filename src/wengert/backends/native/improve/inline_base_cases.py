"""Base cases of recursive functions are done where they are called.

In: the procedures of a program. Out: the same program, in which a procedure that calls itself, but not in its base
case, has another one beside it: that does the base case, and calls the first for all others. The optimiser
puts it in the place of its calls. Of the calls of a recursion that branches most are base cases.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ....ir.records import replace
from ..form.loopform import (
    Assign,
    ExitIf,
    If,
    Invoke,
    Procedure,
    Statement,
    Store,
    assigned_in,
    each,
)
from ..values.emitter import Names
from .memory_planning import with_blocks

LONGEST = 80
"""How many statements are worth having in the place of every call."""


def with_base_cases_in_place(
    procedures: Sequence[Procedure], names: Names
) -> tuple[Procedure, ...]:
    """The procedures of a program, with more where some call themselves."""
    shallow = {p.name: made for p in procedures if (made := _shallow(p, names)) is not None}
    if not shallow:
        return tuple(procedures)
    called = {name: made.name for name, made in shallow.items()}
    found = [replace(p, body=tuple(_calling(p.body, called))) for p in procedures]
    return (*found, *shallow.values())


def _shallow(procedure: Procedure, names: Names) -> Procedure | None:
    """What does the base case of a procedure itself; None if there is none that is worth it."""
    body = procedure.body
    at = next((k for k, s in enumerate(body) if not _may_run_twice(s)), len(body))
    fork = body[at] if at < len(body) else None
    if not isinstance(fork, If) or not set(procedure.params).isdisjoint(assigned_in(body[:at])):
        return None
    deep = [_calls(branch, procedure.name) for branch in (fork.then, fork.other)]
    base, after = fork.other if deep[0] else fork.then, body[at + 1 :]
    if sum(deep) != 1 or not _is_short((*body[:at], *base, *after)):
        return None
    call = Invoke(procedure.name, procedure.params, procedure.results)
    branches = ((call,), (*base, *after)) if deep[0] else ((*base, *after), (call,))
    made = replace(fork, then=branches[0], other=branches[1])
    name = names.fresh(f"shallow_{procedure.name}")
    return replace(procedure, name=name, body=(*body[:at], made), inlined=True)


def _calls(statements: Sequence[Statement], name: str) -> bool:
    return any(isinstance(s, Invoke) and s.function == name for s in each(tuple(statements)))


def _may_run_twice(statement: Statement) -> bool:
    return all(isinstance(s, (Assign, ExitIf, If)) for s in each((statement,)))


def _is_short(statements: Sequence[Statement]) -> bool:
    found = list(each(tuple(statements)))
    plain = all(isinstance(s, (Assign, ExitIf, Store, If)) for s in found)
    return plain and len(found) <= LONGEST


def _calling(statements: Sequence[Statement], called: dict[str, str]) -> Iterator[Statement]:
    for statement in statements:
        if isinstance(statement, Invoke):
            name = called.get(statement.function, statement.function)
            yield replace(statement, function=name)
        else:
            yield with_blocks(statement, lambda block: _calling(block, called))
