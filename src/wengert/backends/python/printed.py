"""`render`: a function of the IR, and all it calls, as Python text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from ...ir.graph import Function, Span, walk
from ...ir.records import record
from .bindings import Module
from .code import Mark
from .functions import FunctionPrinter, input_names, takes_leaves
from .layout import Layout, Line, Statement
from .names import identifier


@record
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
        definitions: the text, function by function.
        namespace: what stands for NumPy where it runs, or None.
    """

    name: str
    text: str
    names: Mapping[str, Any]
    lines: Mapping[int, tuple[Span, ...]]
    marks: Mapping[int, tuple[Mark, ...]]
    helpers: Mapping[str, str]
    globals: tuple[tuple[str, Any, str], ...]
    modules: Mapping[str, str]
    definitions: Mapping[str, str]
    namespace: Any = None

    @property
    def source(self) -> str:
        """A complete module that defines the function: imports, helpers, constants, functions."""
        return joint_source([self])

    def __str__(self) -> str:
        return self.text


published: dict[str, Printed] = {}
"""What lives as a function, by the name of its file."""


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
    return _render(function, module, own_name, function.doc if doc is None else doc, defaults)


def render_together(
    functions: Sequence[Function], *, defaults: Mapping[str, object] | None = None
) -> tuple[Printed, ...]:
    """Print functions that are saved into one module: what they share has one name.

    Each can be published by itself; `joint_source` is the text of the module.
    """
    inputs = {name for function in functions for name in _all_input_names(function)}
    module = Module(inputs)
    names = [module.unique(identifier(f.name, "function")) for f in functions]
    return tuple(
        _render(function, module, name, function.doc, defaults)
        for function, name in zip(functions, names, strict=True)
    )


def _render(
    function: Function, module: Module, name: str, doc: str, defaults: Mapping[str, object] | None
) -> Printed:
    if takes_leaves(function):
        module.is_called(function, name)
    main = FunctionPrinter(function, module, defaults=defaults)
    definitions = dict(_called_by(main, module))
    definitions[name] = main.statement(name, doc=doc)
    laid_out = {n: _lay_out(d) for n, d in definitions.items()}
    return _printed(name, module, laid_out, function.namespace)


def _called_by(main: FunctionPrinter, module: Module) -> Iterator[tuple[str, Statement]]:
    """The functions that one calls, in the order in which calls of them are met."""
    todo = list(main.bindings.callees)
    seen = {id(main.function)} if takes_leaves(main.function) else set[int]()
    for callee in todo:
        if callee.function is None:
            raise ValueError(f"the function {callee.name!r} is called but was never finished")
        if id(callee.function) in seen:
            continue
        seen.add(id(callee.function))
        printer = FunctionPrinter(callee.function, module, flat=True)
        yield module.callee(callee), printer.statement(module.callee(callee))
        todo += printer.bindings.callees


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
            if "callee" in eqn.params:
                callee = eqn.param("callee").function
                todo += [callee] if callee is not None else []
            elif eqn.op.name == "closure":
                todo.append(eqn.param("function"))


def _lay_out(definition: Statement) -> list[Line]:
    layout = Layout()
    layout.block([definition], 0)
    return layout.lines


def _printed(
    name: str, module: Module, definitions: Mapping[str, list[Line]], namespace: Any
) -> Printed:
    lines: list[Line] = []
    for one in definitions.values():
        lines += [Line(""), Line("")] if lines else []
        lines += one
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
        definitions={n: "\n".join(line.text for line in d) for n, d in definitions.items()},
        namespace=namespace,
    )


def joint_source(printed: Sequence[Printed]) -> str:
    """The text of a module that defines all of these functions."""
    from .saving import module_source

    return module_source(printed)


def read(holder: Any, key: str) -> Any:
    """The present value of a global: of an entry of a dict or an attribute of a module or an object."""
    # an object may be a mapping by its class: what was read of it is an attribute all the same
    of_entry = isinstance(holder, (dict, MappingProxyType))
    return holder[key] if of_entry else getattr(holder, key)
