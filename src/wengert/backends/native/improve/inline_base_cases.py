"""Base cases of recursive functions are done where they are called.

In: the procedures of a program. Out: the same program, in which a procedure that calls itself, but not in its base
case, has another one beside it: that does the base case, and calls the first for all others. The optimiser
puts it in the place of its calls. Of the calls of a recursion that branches most are base cases.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ....ir.records import replace
from ..form import loopform as lf
from ..values.emitter import Names
from .memory_planning import with_blocks

LONGEST = 80
"""How many statements are worth having in the place of every call."""


def with_base_cases_in_place(
    procedures: Sequence[lf.Procedure], names: Names
) -> tuple[lf.Procedure, ...]:
    """The procedures of a program, with more where some call themselves."""
    shallow = {p.name: made for p in procedures if (made := _shallow(p, names)) is not None}
    if not shallow:
        return tuple(procedures)
    called = {name: made.name for name, made in shallow.items()}
    found = [replace(p, body=tuple(_calling(p.body, called))) for p in procedures]
    return (*found, *shallow.values())


def _shallow(procedure: lf.Procedure, names: Names) -> lf.Procedure | None:
    """What does the base case of a procedure itself; None if there is none that is worth it."""
    body = procedure.body
    at = next((k for k, s in enumerate(body) if not _may_run_twice(s)), len(body))
    fork = body[at] if at < len(body) else None
    if not isinstance(fork, lf.If) or not set(procedure.params).isdisjoint(
        lf.assigned_in(body[:at])
    ):
        return None
    deep = [_calls(branch, procedure.name) for branch in (fork.then, fork.other)]
    base, after = fork.other if deep[0] else fork.then, body[at + 1 :]
    if sum(deep) != 1 or not _is_short((*body[:at], *base, *after)):
        return None
    call = lf.Invoke(procedure.name, procedure.params, procedure.results)
    branches = ((call,), (*base, *after)) if deep[0] else ((*base, *after), (call,))
    made = replace(fork, then=branches[0], other=branches[1])
    name = names.fresh(f"shallow_{procedure.name}")
    return replace(procedure, name=name, body=(*body[:at], made), inlined=True)


def _calls(statements: Sequence[lf.Statement], name: str) -> bool:
    return any(isinstance(s, lf.Invoke) and s.function == name for s in lf.each(tuple(statements)))


def _may_run_twice(statement: lf.Statement) -> bool:
    return all(isinstance(s, (lf.Assign, lf.ExitIf, lf.If)) for s in lf.each((statement,)))


def _is_short(statements: Sequence[lf.Statement]) -> bool:
    found = list(lf.each(tuple(statements)))
    plain = all(isinstance(s, (lf.Assign, lf.ExitIf, lf.Store, lf.If)) for s in found)
    return plain and len(found) <= LONGEST


def _calling(statements: Sequence[lf.Statement], called: dict[str, str]) -> Iterator[lf.Statement]:
    for statement in statements:
        if isinstance(statement, lf.Invoke):
            name = called.get(statement.function, statement.function)
            yield replace(statement, function=name)
        else:
            yield with_blocks(statement, lambda block: _calling(block, called))
