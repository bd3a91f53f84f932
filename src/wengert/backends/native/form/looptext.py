"""The loop form as text for people: `wg.jit(f).source`.

It looks like Python, with types; `exit if` leaves the rest to the Python form.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from . import loopform as lf
from .reading import readable

_INFIX = {
    "add": "+", "sub": "-", "mul": "*", "div": "/", "add_any": "+", "mul_any": "*", "quotient": "//",
    "rem": "%", "lt": "<", "le": "<=", "gt": ">", "ge": ">=", "eq": "==", "ne": "!=", "and": "and",
    "or": "or", "xor": "^", "shift_left": "<<", "shift_right": ">>",
}  # fmt: skip
_LEVELS = {
    "or": 1, "and": 2, "<": 3, "<=": 3, ">": 3, ">=": 3, "==": 3, "!=": 3, "^": 4, "<<": 5, ">>": 5,
    "+": 6, "-": 6, "*": 7, "/": 7, "//": 7, "%": 7,
}  # fmt: skip


def show(procedures: Sequence[lf.Procedure]) -> str:
    """Procedures as text."""
    return "\n\n".join("\n".join(_procedure(readable(p))) for p in procedures) + "\n"


def _procedure(procedure: lf.Procedure) -> Iterator[str]:
    params = ", ".join(f"{p.name}: {p.code}" for p in procedure.params)
    yield f"def {procedure.name}({params}):"
    yield from _block(procedure.body)
    yield f"    return {', '.join(r.name for r in procedure.results)}".rstrip()


def _block(statements: Sequence[lf.Statement]) -> Iterator[str]:
    for statement in statements or ():
        for line in _statement(statement):
            yield "    " + line
    if not statements:
        yield "    pass"


def _statement(statement: lf.Statement) -> Iterator[str]:
    match statement:
        case lf.Assign(slot=slot, value=value):
            yield f"{slot.name} = {expression(value)}"
        case lf.Store(pointer=pointer, index=index, value=value):
            yield f"{pointer.name}[{expression(index)}] = {expression(value)}"
        case lf.Allocate() | lf.Enlarge() | lf.Release() | lf.Mark() | lf.Reset():
            yield _of_memory(statement)
        case lf.Copy():
            yield _copy(statement)
        case lf.For(index=index, count=count, body=body):
            yield f"for {index.name} in range({expression(count)}):"
            yield from _block(body)
        case lf.While(test=test, condition=condition, body=body):
            yield from _while(test, condition, body)
        case lf.If(condition=condition, then=then, other=other):
            yield f"if {expression(condition)}:"
            yield from _block(then)
            if other:
                yield "else:"
                yield from _block(other)
        case lf.BreakIf(condition=condition):
            yield f"break if {expression(condition)}"
        case lf.ExitIf(condition=condition, reason=reason, span=span):
            where = f", {span}" if span is not None else ""
            yield f"exit if {expression(condition)}  # {reason}{where}"
        case lf.Multiply():
            yield _product(statement)
        case lf.External(name=name, args=args):
            number = "" if statement.number is None else f" {statement.number}"
            yield f"{name.replace('_', ' ') if number else name}{number}({', '.join(map(expression, args))})"
        case lf.Spread():
            yield from _spread(statement)
        case lf.Invoke(function=function, args=args, results=results):
            call = f"{function}({', '.join(map(expression, args))})"
            yield f"{', '.join(r.name for r in results)}{' = ' * bool(results)}{call}"


def _of_memory(statement: lf.Allocate | lf.Enlarge | lf.Release | lf.Mark | lf.Reset) -> str:
    match statement:
        case lf.Allocate(pointer=pointer, count=count, code=code):
            return f"{pointer.name} = {_taken(statement)} {code}[{expression(count)}]"
        case lf.Enlarge(pointer=pointer, count=count, code=code):
            return f"{pointer.name} = enlarged {code}[{expression(count)}]"
        case lf.Release(pointer=pointer):
            return f"release {pointer.name}"
        case lf.Mark(place=place):
            return f"{place.name} = arena.top"
        case lf.Reset(place=place):
            return f"arena.reset({place.name})"


def _taken(statement: lf.Allocate) -> str:
    if statement.in_frame:
        return "local"
    return "arena" if statement.in_arena else "new"


def _spread(statement: lf.Spread) -> Iterator[str]:
    s = statement
    yield f"on threads, for part, start, stop in {expression(s.parts)} parts of {expression(s.count)}:"
    call = f"{s.function}(part, start, stop, {', '.join(map(expression, s.args))})"
    sums = [f"{r.name} {step}" for r, step in zip(s.results, s.steps, strict=True)]
    yield f"    {', '.join(sums)}{' = ' if sums else ''}{call}"


def _copy(statement: lf.Copy) -> str:
    start, source = expression(statement.target_index), expression(statement.source_index)
    count = expression(statement.count)
    target = f"{statement.target.name}[{start}:][:{count}]"
    return f"{target} = {statement.source.name}[{source}:][:{count}]"


def _product(statement: lf.Multiply) -> str:
    left = f"{statement.left.name}{'.T' * statement.left_transposed}"
    right = f"{statement.right.name}{'.T' * statement.right_transposed}"
    sizes = (statement.rows, statement.inner, statement.columns)
    shape = " × ".join(map(expression, sizes))
    return f"{statement.target.name} = {left} @ {right}  # {shape}"


def _while(
    test: Sequence[lf.Statement], condition: lf.Expr, body: Sequence[lf.Statement]
) -> Iterator[str]:
    if not test:
        yield f"while {expression(condition)}:"
        yield from _block(body)
        return
    yield "while:"
    yield from _block(test)
    yield f"holds {expression(condition)}:"
    yield from _block(body)


def expression(value: lf.Expr, level: int = 0) -> str:
    """An expression, in brackets where an operator of a level around it needs them."""
    match value:
        case lf.Slot(name=name):
            return name
        case lf.Constant(value=number):
            return repr(number)
        case lf.Load(pointer=pointer, index=index):
            return f"{pointer.name}[{expression(index)}]"
        case lf.Apply(op="neg", args=(x,)):
            return f"-{expression(x, 8)}"
        case lf.Apply(op="not", args=(x,)):
            return f"not {expression(x, 3)}"
        case lf.Apply(op="select", args=(condition, then, other)):
            text = f"{expression(then, 1)} if {expression(condition, 1)} else {expression(other)}"
            return f"({text})" if level else text
        case lf.Apply(op=op, args=(a, b)) if op in _INFIX:
            own = _LEVELS[_INFIX[op]]
            text = f"{expression(a, own)} {_INFIX[op]} {expression(b, own + 1)}"
            return f"({text})" if level > own else text
        case lf.Apply(op=op, args=args):
            return f"{op}({', '.join(map(expression, args))})"
