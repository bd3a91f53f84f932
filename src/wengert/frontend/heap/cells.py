"""Names that more than one function binds: `nonlocal`, `global`, and `:=` in a comprehension.

Such a name refers to a cell on the heap, which branches and loops follow as they follow any object. The
cell of a name that was there before the program ran (a global, a variable that a function made outside
has captured) stands for Python's own: what is written to it is written there too.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from types import CellType, FunctionType
from typing import TYPE_CHECKING, Any, NoReturn

from ...ir.graph import Const
from ...ops import structure as st
from .. import heap
from ..domain.values import Closure, Items, Maybe, Scope, Value, held_by
from ..domain.whereabouts import Untracked
from ..machine.failing import raise_now
from ..syntax.declarations import declarations, names_in_cells

if TYPE_CHECKING:
    from ..control.branch import Branch
    from ..machine.interpreter import Interpreter
    from ..machine.session import Frame


class NeedsCells(Exception):
    """The program binds a name that was there before it: it is read again with a cell for it."""


# --- cells --------------------------------------------------------------------------------


def is_cell(value: Value | None) -> bool:
    return isinstance(value, Items) and value.form == "cell"


def new_cell(it: Interpreter, value: Value | None, name: str) -> Items:
    """A cell that holds a value, or (with None) nothing yet."""
    keys, values = ((), ()) if value is None else (("contents",), (value,))
    cell = Items("cell", keys, values, name)
    return heap.put(it, cell, cell)


def contents(it: Interpreter, cell: Items) -> Value | None:
    """What a cell holds now, which may be nothing; it may be certain only when the program runs."""
    assert cell.place is not None
    held = heap.content_in(it.heap, cell.place)
    if isinstance(held, Untracked):
        heap.now(it, cell)  # which refuses it
    assert isinstance(held, Items)
    return heap.now(it, held.values[0]) if held.values else None


def read(it: Interpreter, cell: Items, name: str, *, own: bool | None) -> Value:
    """The value of a name; `own` says that it belongs to the function that reads it, None that it is global."""
    value = contents(it, cell)
    if isinstance(value, Maybe):
        return it.checked(value, name, own=own)
    if value is None:
        unbound(it, name, own=own)
    return value


def unbound(it: Interpreter, name: str, *, own: bool | None) -> NoReturn:
    if own is None:
        raise_now(it, NameError, f"name '{name}' is not defined")
    which, where = ("local", "") if own else ("free", " in enclosing scope")
    message = (
        f"cannot access {which} variable '{name}' where it is not associated with a value{where}"
    )
    raise_now(it, UnboundLocalError if own else NameError, message)


def write(it: Interpreter, cell: Items, value: Value | None) -> None:
    """Bind the name to another value, or (with None) to none."""
    assert cell.place is not None
    external = it.reading.externals.get(cell.place)
    if external is not None and cell.place not in it.reading.kept_to_itself:
        value = _write_through(it, *external, value)
    keys, values = ((), ()) if value is None else (("contents",), (value,))
    heap.put(it, cell, cell.holding(values, keys))


def enter(it: Interpreter, closure: Closure, scope: Scope) -> None:
    """Make the cells of a function that is about to run."""
    for name in names_in_cells(closure.node):
        scope.vars[name] = new_cell(it, scope.vars.get(name), name)


def lend(it: Interpreter, scope: Scope, names: Sequence[str]) -> list[str]:
    """Put names of the function that runs into cells while others run between its statements.

    Names of functions around it, and of its module, have cells already.
    """
    lent = [name for name in dict.fromkeys(names) if find(it, name) is None]
    for name in lent:
        scope.vars[name] = new_cell(it, scope.vars.get(name), name.strip("%"))
    return lent


def take_back(it: Interpreter, scope: Scope, lent: Sequence[str]) -> None:
    """Names of a function are its own again."""
    for name in lent:
        cell = scope.vars.pop(name, None)
        value = contents(it, cell) if isinstance(cell, Items) else None
        if value is not None:
            scope.vars[name] = value


def out_of_cells(arms: Sequence[Branch]) -> None:
    """Names that are in cells in one of two arms only are taken out of them."""
    for arm, other in (arms, tuple(arms)[::-1]):
        for name, value in list(arm.vars.items()):
            if not isinstance(value, Items) or value.form != "cell":
                continue
            found = other.vars.get(name)
            if isinstance(found, Items) and found.place is value.place:
                continue
            assert value.place is not None
            held = heap.content_in(arm.heap, value.place)
            arm.vars = {key: v for key, v in arm.vars.items() if key != name}
            if isinstance(held, Items) and held.values:
                arm.vars[name] = held.values[0]


def find(it: Interpreter, name: str, frame: Frame | None = None) -> Items | None:
    """The cell that binding a name in a function goes to, if it goes to one."""
    frame = it.frame if frame is None else frame
    found = frame.scope.vars.get(name)
    if isinstance(found, Items) and found.form == "cell":
        return found
    if frame.around is not None:
        return None  # the variables of a comprehension are its own
    declared = declarations(frame.closure.node)
    if name in declared.get("nonlocal", ()):
        return _of_function_around(it, frame.scope.outer, name)
    if name in declared.get("global", ()):
        return external(it, frame.scope.globals, name)
    return None


def _of_function_around(it: Interpreter, scope: Scope | None, name: str) -> Items:
    while scope is not None:
        found = scope.vars.get(name)
        if isinstance(found, Items) and found.form == "cell":
            return found
        if name in scope.cells:
            return external(it, scope.cells[name], "cell_contents")
        scope = scope.outer
    raise it.unsupported(
        f"`nonlocal {name}`: the variable is not one that can be followed here",
        "Return the new value instead of assigning it to an outer name.",
    )


def set_attribute_of_function(it: Interpreter, target: Value, name: str, value: Value) -> bool:
    """`function.name = value`; gives whether it is a function."""
    function = target.value if isinstance(target, Const) else getattr(target, "function", None)
    if isinstance(target, Closure) and target.function is None and target.attributes is not None:
        it.assign_plainly(it.known_object(target.attributes), name, value)
        return True
    if isinstance(function, FunctionType):
        write(it, external(it, function, name), value)
        return True
    return False


def attribute_of_function(it: Interpreter, closure: Closure, name: str) -> Value | None:
    """An attribute that the program, or somebody before it, gave to a function; None if there is none."""
    if closure.function is None and closure.attributes is not None:
        held = heap.now(it, closure.attributes)

        known = isinstance(held, Items) and name in held.keys
        return it.attribute_of_object(held, name) if known else None  # type: ignore[arg-type]
    function = closure.function
    if isinstance(function, FunctionType):
        if known_external(it, function, name) is not None or name in vars(function):
            return it.lift(function, name, vars(function).get(name))
    return None


# --- names that were there before ---------------------------------------------------------


def external(it: Interpreter, holder: Any, key: str) -> Items:
    """The cell of a global, or of a variable that was captured outside.

    Raises:
        NeedsCells: there is none yet.
    """
    found = it.reading.cells.get((id(holder), key))
    if found is None:
        it.reading.bound_outside[id(holder), key] = holder, key
        raise NeedsCells
    return found


def known_external(it: Interpreter, holder: Any, key: str) -> Items | None:
    """The cell of what was there before the program ran, if the program binds it."""
    if not it.reading.cells:
        return None
    if not isinstance(holder, (dict, CellType, FunctionType)):
        holder = getattr(holder, "__dict__", None)
    return it.reading.cells.get((id(holder), key))


def make_externals(it: Interpreter) -> None:
    """Make the cells of what the program binds that was there before it."""
    for (identity, key), (holder, _) in it.reading.bound_outside.items():
        name = "contents" if isinstance(holder, CellType) else key
        try:
            current = held_by(holder, key)
        except (KeyError, AttributeError, ValueError):
            value = None
        else:
            value = it.lift(holder, name, current, key=key)
        cell = new_cell(it, value, name)
        assert cell.place is not None
        it.reading.cells[identity, key] = cell
        it.reading.externals[cell.place] = holder, key


def _write_through(it: Interpreter, holder: Any, key: str, value: Value | None) -> Value | None:
    """Have Python's own variable bound when the program runs; gives what it is bound to."""
    if value is None:
        raise it.unsupported(
            f"`del` of the outer name `{key}` cannot be differentiated", "Bind it to None instead."
        )
    if isinstance(value, Items) and value.form in ("list", "dict", "object", "dataclass"):
        value = heap.materialise(it, value)
    target: Any = holder
    if isinstance(holder, dict):
        module = sys.modules.get(holder.get("__name__", ""))  # type: ignore[arg-type]
        if module is None or vars(module) is not holder:
            raise it.unsupported(
                f"`global {key}` belongs to no module that can be found",
                "Return the new value instead of assigning it to a global name.",
            )
        target = module
    args = (Const(setattr), Const(target), Const(key), it.atom(value))
    it.builder.emit_with(st.opaque, args, {"names": Const(())})
    return value
