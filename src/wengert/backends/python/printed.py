"""`render`: a function of the IR, and all it calls, as Python text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from ...ir.graph import CALL, Function, Span, walk
from .bindings import Module
from .code import Mark
from .functions import FunctionPrinter, input_names, takes_leaves
from .layout import Layout, Line, Statement
from .names import identifier


@dataclass(frozen=True)
class Printed:
    """A function as Python.

    Attributes:
        name: what the text calls the function.
        text: the function and the functions it calls; what is published. It expects the modules,
            helpers and names below in its namespace.
        names: the constants that have no literal form, and the globals the function reads (with
            the value they have now), by the names that stand for them in the text.
        lines: for each line of `text`, counted from 1, what the user wrote there.
        marks: for each line of `text`, which columns compute what; columns count characters.
        helpers: the helpers of `wengert.runtime` that the text calls: name in the text -> helper.
        globals: the globals that the function reads at call time, as (name in the text, dict or
            module, key).
        modules: name in the text -> "math", "np", "cmath" or "types".
    """

    name: str
    text: str
    names: Mapping[str, Any]
    lines: Mapping[int, tuple[Span, ...]]
    marks: Mapping[int, tuple[Mark, ...]]
    helpers: Mapping[str, str]
    globals: tuple[tuple[str, Any, str], ...]
    modules: Mapping[str, str]

    @cached_property
    def source(self) -> str:
        """A complete module that defines the function: imports, helpers, constants, functions."""
        from .saving import module_source

        return module_source(self)

    def __str__(self) -> str:
        return self.text


def render(
    function: Function,
    *,
    name: str | None = None,
    doc: str | None = None,
    defaults: Mapping[str, object] | None = None,
) -> Printed:
    """Print a function.

    Args:
        function: what to print; functions that it calls are printed before it.
        name: what to call it, if not by its own name.
        doc: its docstring, if not its own.
        defaults: default values of its inputs, by name; only those with a literal form appear.

    Returns:
        The text and everything that it takes to run, save and debug it.
    """
    own_name = identifier(name or function.name, "function")
    module = Module({own_name, *_all_input_names(function)})
    if takes_leaves(function):
        module.is_called(function, own_name)
    main = FunctionPrinter(function, module, defaults=defaults or {})
    definitions = [*_callees(module, function)]
    text_doc = function.doc if doc is None else doc
    definitions.append(main.statement(own_name, doc=text_doc))
    return _printed(own_name, module, _lay_out(definitions))


def _callees(module: Module, main: Function) -> Iterator[Statement]:
    """The functions called, in the order in which calls of them are met."""
    done = 0
    while done < len(module.callees):
        name, callee = list(module.callees.values())[done]
        done += 1
        if callee.function is main and takes_leaves(main):
            continue
        if callee.function is None:
            raise ValueError(f"the function {callee.name!r} is called but was never finished")
        yield FunctionPrinter(callee.function, module, flat=True).statement(name)


def _all_input_names(function: Function) -> Iterator[str]:
    """The parameter names of a function and of all that it calls or defines."""
    seen, todo = set[int](), [function]
    while todo:
        current = todo.pop()
        if id(current) in seen:
            continue
        seen.add(id(current))
        yield from input_names(current)
        for eqn in walk(current.body):
            if eqn.op is CALL or eqn.op.name == "call":
                callee = eqn.param("callee").function
                todo += [callee] if callee is not None else []
            elif eqn.op.name == "closure":
                todo.append(eqn.param("function"))


def _lay_out(definitions: list[Statement]) -> list[Line]:
    lines: list[Line] = []
    for definition in definitions:
        layout = Layout()
        layout.block([definition], 0)
        lines += [Line(""), Line("")] if lines else []
        lines += layout.lines
    return lines


def _printed(name: str, module: Module, lines: list[Line]) -> Printed:
    names = dict(module.objects)
    for given, (holder, key) in module.globals.items():
        try:
            names[given] = read(holder, key)
        except (KeyError, AttributeError):
            continue
    return Printed(
        name=name,
        text="\n".join(line.text for line in lines) + "\n",
        names=names,
        lines={number: line.spans for number, line in enumerate(lines, 1) if line.spans},
        marks={number: line.marks for number, line in enumerate(lines, 1) if line.marks},
        helpers=dict(module.helpers),
        globals=tuple((given, holder, key) for given, (holder, key) in module.globals.items()),
        modules=dict(module.modules),
    )


def read(holder: Any, key: str) -> Any:
    """The present value of a global: of an entry of a dict or an attribute of a module."""
    return holder[key] if isinstance(holder, Mapping) else getattr(holder, key)
