"""The loop form as C99: `wg.jit(f).c_source`.

One file that needs the C library alone. What it defines for its caller is documented at its head.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..form import loopform as lf
from ..form.reading import readable
from ..lower import calling_convention as cc
from ..lower.call_out import FASTER
from ..program.function import Lowered
from ..values.values import ZERO, Unlowered
from .ccode_expressions import TYPES, expression, name
from .ccode_runtime import HELPERS


def program(lowered: Lowered) -> str:
    """A program as one C file."""
    procedures = [readable(p) for p in lowered.procedures]
    elements = _element_types(procedures)
    main, *others = procedures
    declared = [f"{_signature(p, elements, inner=True)};" for p in others]
    bodies = ["\n".join(_procedure(p, elements, inner=p is not main)) for p in procedures[::-1]]
    return "\n".join([_head(lowered), HELPERS, *declared, "" * bool(others), *bodies, ""])


def _head(lowered: Lowered) -> str:
    main = lowered.procedures[0]
    lines = [
        "/*",
        f" * {main.name}: made by wengert.",
        " *",
        f" * int {name(main.name)}({', '.join(_parameters(main, {}))});",
        " *",
        " * Gives 0, or the number of the place where it gave up because the result is not a machine",
        " * number (a division by zero, an index out of range, an integer of more than 64 bits).",
        " * Arrays are given by their first element" + _order(lowered) + ".",
        *_sizes(lowered),
        *_results(lowered),
        *_memory(lowered),
        " */",
    ]
    return "\n".join(lines)


def _memory(lowered: Lowered) -> Iterator[str]:
    statements = (s for procedure in lowered.procedures for s in lf.each(procedure.body))
    if any(isinstance(s, lf.Allocate) and s.in_arena for s in statements):
        yield " * What calls keep lies in chunks of WG_ARENA_CHUNK bytes, or more where one piece is larger."
    yield " * It allocates memory for intermediate arrays and releases all of it before it returns."


def _order(lowered: Lowered) -> str:
    strided = any(
        isinstance(leaf, (cc.ArrayLeaf, cc.ComplexArrayLeaf)) and not leaf.contiguous
        for leaf in lowered.leaves
    )
    return ", with strides in elements" if strided else ", in C order"


def _sizes(lowered: Lowered) -> Iterator[str]:
    main = lowered.procedures[0]
    symbols = main.params[len(main.params) - lowered.sizes :]
    params = iter(main.params)
    for leaf in lowered.leaves:
        if isinstance(leaf, cc.NumberLeaf):
            next(params)
        elif isinstance(leaf, cc.ComplexLeaf):
            re, im = next(params), next(params)
            yield f" * {name(re.name)}, {name(im.name)}: the parts of a complex number."
        elif isinstance(leaf, (cc.ArrayLeaf, cc.ComplexArrayLeaf)):
            slot = next(params)
            shape = ", ".join("1" if n is None else symbols[n].name for n in leaf.sizes)
            of = (
                "complex array, part by part," if isinstance(leaf, cc.ComplexArrayLeaf) else "array"
            )
            yield f" * {slot.name}: {of} of shape ({shape})."
            if not leaf.contiguous:
                for _ in leaf.sizes:
                    next(params)


def _results(lowered: Lowered) -> Iterator[str]:
    for k, result in enumerate(lowered.results):
        if isinstance(result, cc.ArrayResult) and result.given:
            yield f" * Result {k} is written to {name(result.pointer.name)}, memory of its own."
        elif isinstance(result, cc.NumberResult):
            yield f" * Result {k} is written to *out_{name(result.slot.name)}."
        elif isinstance(result, cc.ComplexResult):
            re, im = name(result.re.name), name(result.im.name)
            yield f" * The parts of result {k} are written to *out_{re} and *out_{im}."
        else:
            raise Unlowered("a C function has no results whose shape it finds itself")


# --- procedures ---------------------------------------------------------------------------


def _element_types(procedures: Sequence[lf.Procedure]) -> dict[lf.Slot, lf.Code]:
    """Of what type the elements behind each pointer are."""
    found: dict[lf.Slot, lf.Code] = {}
    by_name = {procedure.name: procedure for procedure in procedures}
    copies: list[tuple[lf.Slot, lf.Slot]] = []
    for procedure in procedures:
        for statement in lf.each(procedure.body):
            match statement:
                case (
                    lf.Allocate(pointer=pointer, code=code) | lf.Enlarge(pointer=pointer, code=code)
                ):
                    found[pointer] = code
                case lf.Store(pointer=pointer, value=value):
                    found[pointer] = value.code
                case lf.Copy(target=target, source=source, code=code):
                    found[target] = found[source] = code
                case lf.Multiply(target=target, left=left, right=right, code=code):
                    found[target] = found[left] = found[right] = code
                case lf.Assign(slot=slot, value=lf.Slot() as value) if slot.code == "ptr":
                    copies.append((slot, value))
                case lf.Invoke(function=function, args=args, results=results):
                    callee = by_name[function]
                    copies += _pointers((*args, *results), (*callee.params, *callee.results))
                case _:
                    pass
            for value in lf.expressions_of(statement):
                found.update((load.pointer, load.code) for load in _loads(value))
    for _ in copies:
        for a, b in copies:
            if a in found or b in found:
                found[a] = found[b] = found.get(a) or found[b]
    return found


def _pointers(
    outside: Sequence[lf.Expr], inside: Sequence[lf.Slot]
) -> Iterator[tuple[lf.Slot, lf.Slot]]:
    """The pointers that a call hands over: as its caller names them, and as the function does."""
    for given, own in zip(outside, inside, strict=True):
        if isinstance(given, lf.Slot) and own.code == "ptr":
            yield given, own


def _loads(value: lf.Expr) -> Iterator[lf.Load]:
    if isinstance(value, lf.Load):
        yield value
        yield from _loads(value.index)
    elif isinstance(value, lf.Apply):
        for arg in value.args:
            yield from _loads(arg)


def _type(slot: lf.Slot, elements: dict[lf.Slot, lf.Code]) -> str:
    if slot.code == "ptr":
        return f"{TYPES[elements.get(slot, 'f64')]} *"
    return f"{TYPES[slot.code]} "


def _declared(slot: lf.Slot, elements: dict[lf.Slot, lf.Code]) -> str:
    return f"{_type(slot, elements)}{name(slot.name)}"


def _parameters(procedure: lf.Procedure, elements: dict[lf.Slot, lf.Code]) -> list[str]:
    outs = [f"{_type(r, elements)}*out_{name(r.name)}" for r in procedure.results]
    return [*(_declared(p, elements) for p in procedure.params), *outs]


def _signature(procedure: lf.Procedure, elements: dict[lf.Slot, lf.Code], *, inner: bool) -> str:
    """The head of a function; those inside are handed the list of what has been allocated."""
    given = ["wg_memory *memory"] * inner + _parameters(procedure, elements)
    return f"{'static ' * inner}int {name(procedure.name)}({', '.join(given)})"


def _procedure(
    procedure: lf.Procedure, elements: dict[lf.Slot, lf.Code], *, inner: bool
) -> Iterator[str]:
    exits = _Exits()
    body = list(_block(procedure.body, exits))
    yield _signature(procedure, elements, inner=inner)
    yield "{"
    if not inner:
        yield "    wg_memory all = {0}, *memory = &all;"
    yield "    int status = 0;"
    for slot in _locals(procedure):
        start = "NULL" if slot.code == "ptr" else "0"
        yield f"    {_declared(slot, elements)} = {start};"
    if inner:
        yield "    (void)memory;"
    yield from _frame(procedure)
    read = {
        s
        for each_ in lf.each(procedure.body)
        for v in lf.expressions_of(each_)
        for s in lf.slots_in(v)
    }
    for slot in procedure.params:
        if slot not in read:
            yield f"    (void){name(slot.name)};"
    yield from body
    for slot in procedure.results:
        yield f"    *out_{name(slot.name)} = {name(slot.name)};"
    if exits.count:
        yield "done:"
    if not inner:
        yield "    wg_release_all(memory);"
    yield "    return status;"
    yield "}"


def _frame(procedure: lf.Procedure) -> Iterator[str]:
    """The small arrays of a procedure."""
    for statement in lf.each(procedure.body):
        if isinstance(statement, lf.Allocate) and statement.in_frame:
            place = f"{name(statement.pointer.name)}_frame[{expression(statement.count)}]"
            yield f"    {TYPES[statement.code]} {place};"


def _locals(procedure: lf.Procedure) -> Iterator[lf.Slot]:
    seen = set(procedure.params)
    for statement in lf.each(procedure.body):
        made: Sequence[lf.Slot] = ()
        match statement:
            case lf.Assign(slot=slot):
                made = (slot,)
            case lf.Allocate(pointer=pointer) | lf.Mark(place=pointer):
                made = (pointer,)
            case lf.Invoke(results=results) | lf.Spread(results=results):
                made = results
            case _:
                pass
        for slot in made:
            if slot not in seen:
                seen.add(slot)
                yield slot


class _Exits:
    """Numbers the places where a procedure gives up."""

    def __init__(self) -> None:
        self.count = 0

    def next(self) -> int:
        self.count += 1
        return self.count


# --- statements ---------------------------------------------------------------------------


def _block(statements: Sequence[lf.Statement], exits: _Exits) -> Iterator[str]:
    for statement in statements:
        for line in _statement(statement, exits):
            yield "    " + line


def _statement(statement: lf.Statement, exits: _Exits) -> Iterator[str]:
    match statement:
        case lf.Assign(slot=slot, value=value):
            yield f"{name(slot.name)} = {expression(value)};"
        case lf.Store(pointer=pointer, index=index, value=value):
            yield f"{name(pointer.name)}[{expression(index)}] = {expression(value)};"
        case lf.Allocate() | lf.Enlarge() | lf.Release() | lf.Mark() | lf.Reset():
            yield from _of_memory(statement, exits)
        case lf.Copy():
            yield _copy(statement)
        case lf.For() | lf.While() | lf.If():
            yield from _nested(statement, exits)
        case lf.BreakIf(condition=condition):
            yield f"if ({expression(condition)}) break;"
        case lf.ExitIf(condition=condition, reason=reason):
            leave = f"{{ status = {exits.next()}; goto done; }}"
            yield f"if ({expression(condition)}) {leave} /* {reason} */"
        case lf.Multiply():
            yield _product(statement)
        case lf.External(number=int()):
            raise Unlowered("a call of Python, which a file of C has not")
        case lf.External(name=routine):
            raise Unlowered(f"`{routine}` is a routine of LAPACK, which a file of its own has not")
        case lf.Spread(function=function, args=args, results=results, count=count):
            yield f"(void){expression(statement.parts, atomic=True)};"
            whole = lf.Invoke(
                function, (ZERO, ZERO, count, *args), results
            )  # C has one thread: one part
            yield from _statement(whole, exits)
        case lf.Invoke(function=function, args=args, results=results):
            outs = (f"&{name(r.name)}" for r in results)
            inside = ["memory", *map(expression, args), *outs]
            call = f"{name(function)}({', '.join(inside)})"
            yield f"if ({call}) {{ status = {exits.next()}; goto done; }}"


def _of_memory(
    statement: lf.Allocate | lf.Enlarge | lf.Release | lf.Mark | lf.Reset, exits: _Exits
) -> Iterator[str]:
    match statement:
        case lf.Allocate(pointer=pointer, in_frame=True):
            yield f"{name(pointer.name)} = {name(pointer.name)}_frame;"
        case lf.Allocate(pointer=pointer, count=count):
            taken = "wg_arena_take" if statement.in_arena else "wg_allocate"
            yield from _obtain(pointer, f"{taken}(memory, {_bytes(pointer, count)})", exits)
        case lf.Enlarge(pointer=pointer, count=count):
            text = f"wg_enlarge({name(pointer.name)}, {_bytes(pointer, count)})"
            yield from _obtain(pointer, text, exits)
        case lf.Release(pointer=pointer):
            yield f"wg_release({name(pointer.name)});"
        case lf.Mark(place=place):
            yield f"{name(place.name)} = (void *)memory->top;"
        case lf.Reset(place=place):
            yield f"wg_arena_reset(memory, {name(place.name)});"


def _nested(statement: lf.For | lf.While | lf.If, exits: _Exits) -> Iterator[str]:
    match statement:
        case lf.For(index=index, count=count, body=body):
            i = name(index.name)
            yield f"for (int64_t {i} = 0, {i}_end = {expression(count)}; {i} < {i}_end; {i}++) {{"
            yield from _block(body, exits)
            yield "}"
        case lf.While(test=test, condition=condition, body=body):
            yield "for (;;) {"
            yield from _block(test, exits)
            yield f"    if (!({expression(condition)})) break;"
            yield from _block(body, exits)
            yield "}"
        case lf.If(then=then, other=other) if any(map(_calls_python, then)):
            yield "{"
            yield from _block(other, exits)
            yield "}"
        case lf.If(condition=condition, then=then, other=other):
            yield f"if ({expression(condition)}) {{"
            yield from _block(then, exits)
            if other:
                yield "} else {"
                yield from _block(other, exits)
            yield "}"


def _calls_python(statement: lf.Statement) -> bool:
    """Whether a statement calls Python in the place of slower native code."""
    return isinstance(statement, lf.External) and statement.name == FASTER


def _product(statement: lf.Multiply) -> str:
    s = statement
    left = f"{name(s.left.name)} + {expression(s.left_index, atomic=True)}"
    right = f"{name(s.right.name)} + {expression(s.right_index, atomic=True)}"
    strides = [
        f"1, {expression(lead)}" if transposed else f"{expression(lead)}, 1"
        for lead, transposed in (
            (s.left_lead, s.left_transposed),
            (s.right_lead, s.right_transposed),
        )
    ]
    sizes = ", ".join(map(expression, (s.rows, s.inner, s.columns)))
    helper = f"wg_multiply_{s.code}"
    return f"{helper}({name(s.target.name)}, {left}, {strides[0]}, {right}, {strides[1]}, {sizes});"


def _bytes(pointer: lf.Slot, count: lf.Expr) -> str:
    return f"{expression(count, atomic=True)} * (int64_t)sizeof *{name(pointer.name)}"


def _obtain(pointer: lf.Slot, text: str, exits: _Exits) -> Iterator[str]:
    yield f"{name(pointer.name)} = {text};"
    yield f"if (!{name(pointer.name)}) {{ status = {exits.next()}; goto done; }}"


def _copy(statement: lf.Copy) -> str:
    target = f"{name(statement.target.name)} + {expression(statement.target_index, atomic=True)}"
    source = f"{name(statement.source.name)} + {expression(statement.source_index, atomic=True)}"
    size = f"(size_t)({expression(statement.count)}) * sizeof *{name(statement.target.name)}"
    return f"memcpy({target}, {source}, {size});"
