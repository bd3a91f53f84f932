"""The complete module text of a printed function, as it is saved: it needs NumPy alone."""

from __future__ import annotations

import ast
import enum
import inspect
import sys
import textwrap
import types
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np

from ...ops.registry import runtime_helper
from .bindings import MODULES, Bindings, Module, can_import_from, import_path
from .class_text import class_text
from .function_text import function_text
from .layout import WIDTH

if TYPE_CHECKING:
    from .printed import Printed

_PRESENT = "  # value when this was written"
MISSING = "# NameError: "
"""How a line begins that says which name the text does not define."""
_SMALL = 256
"""Arrays with more elements than this are not written out."""


def module_source(together: Sequence[Printed]) -> str:
    """The text of a module that defines printed functions and imports nothing of wengert."""
    parts = _Parts()
    definitions: dict[str, str] = {}
    for printed in together:
        parts.add(printed)
        definitions |= printed.definitions
    return parts.text(definitions.values())


@dataclass(slots=True, eq=False, repr=False)
class _Parts:
    imports: dict[str, None] = field(default_factory=dict[str, None])
    assignments: dict[str, None] = field(default_factory=dict[str, None])
    helpers: list[str] = field(default_factory=list[str])
    renamed: dict[str, str] = field(default_factory=dict[str, str])
    annotated: bool = False
    around: tuple[types.FunctionType, ...] = ()
    """The functions whose text needs these parts."""

    def add(self, printed: Printed) -> None:
        """What one function needs."""
        for name, key in printed.modules.items():
            self.import_module(MODULES[key], name)
        for name, helper in printed.helpers.items():
            self.add_helper(helper, name)
        homes = {name: _home(holder, key) for name, holder, key in printed.globals}
        for name, value in printed.names.items():
            self.add_name(name, value, homes.get(name))
        for name in sorted(homes.keys() - printed.names.keys()):
            self.missing(name, "was not defined")

    def text(self, functions: Iterable[str]) -> str:
        blocks: list[str] = []
        future = ["from __future__ import annotations"] if self.annotated else []
        groups = [future, *_import_groups(list(self.imports))]
        head = "\n\n".join("\n".join(group) for group in groups if group)
        if self.assignments:
            head += ("\n\n" if head else "") + "\n".join(self.assignments)
        if head:
            blocks.append(head)
        blocks += [*self.helpers, *functions]
        return "\n\n\n".join(blocks) + "\n"

    # --- imports and constants ------------------------------------------------------------

    def import_module(self, module: types.ModuleType, name: str) -> None:
        real = module.__name__
        self.imports[f"import {real}" + ("" if real == name else f" as {name}")] = None

    def add_name(self, name: str, value: Any, home: tuple[str, str] | None = None) -> None:
        """Bind a name; for the name of a global, `home` says where it can be imported from."""
        if isinstance(value, types.ModuleType):
            self.import_module(value, name)
            return
        if isinstance(value, (types.FunctionType, type)) and _is_ours(value):
            self._add_definition(sys.modules[value.__module__], value.__name__, name)
            return
        path = import_path(value)
        text = None if path is not None else self._literal(value)
        if path is None and text is None:
            path = home if home is not None and home[0] else None
        if path is not None:
            self._import(path, name)
            return
        text = text or self._expression(value)
        if text is None and isinstance(value, type) and self._define(name, value):
            return
        if text is None and isinstance(value, types.FunctionType) and self._write(name, value):
            return
        if text is None:
            self.missing(name, f"is {_describe(value)}")
            return
        line = f"{name} = {text}"
        fits = home is not None and len(line) + len(_PRESENT) <= WIDTH
        self.assignments[line + (_PRESENT if fits else "")] = None

    def _import(self, path: tuple[str, str], name: str) -> None:
        module, attribute = path
        renamed = "" if attribute == name else f" as {name}"
        self.imports[f"from {module} import {attribute}{renamed}"] = None

    def _expression(self, value: Any) -> str | None:
        """An expression that gives an equal object: a bound method, a member, a call that pickling knows."""
        if isinstance(value, (types.MethodType, types.BuiltinMethodType)):
            owner = self._operand(value.__self__)
            return None if owner is None else f"{owner}.{value.__name__}"
        if isinstance(value, types.MethodDescriptorType):
            owner = self._operand(value.__objclass__)
            return None if owner is None else f"{owner}.{value.__name__}"
        if isinstance(value, enum.Enum):
            owner = self._operand(type(value))
            return None if owner is None else f'{owner}["{value.name}"]'
        if _is_namedtuple(value):
            self._import(("collections", "namedtuple"), "namedtuple")
            defaults = self._literal(tuple(value._field_defaults.values()))
            fields = f'"{value.__name__}", {list(value._fields)!r}'
            return None if defaults is None else f"namedtuple({fields}, defaults={defaults})"
        reduced = _reduced(value)
        if reduced is None:
            return None
        maker, arguments = reduced
        path = import_path(maker)
        texts = [self._operand(argument) for argument in arguments]
        if path is None or None in texts:
            return None
        self._import(path, path[1])
        return f"{path[1]}({', '.join(text for text in texts if text is not None)})"

    def _operand(self, value: Any) -> str | None:
        text = self._literal(value)
        path = import_path(value) if text is None else None
        if path is not None:
            self._import(path, path[1])
            return path[1]
        return text if text is not None else self._expression(value)

    def _define(self, name: str, cls: type) -> bool:
        """Write out a class, in a function that keeps the names it needs apart from all others."""
        inner = _Parts()
        text = class_text(cls, lambda each, value, home: inner.add_name(each, value, (home, each)))
        if text is None or inner.helpers or any(line[0] == "#" for line in inner.assignments):
            return False
        parts = [*inner.imports, *inner.assignments, text, f"return {cls.__name__}"]
        body = textwrap.indent("\n".join(parts), "    ")
        self.helpers.append(f"def _define_{name}():\n{body}\n\n\n{name} = _define_{name}()")
        return True

    def _write(self, name: str, function: types.FunctionType) -> bool:
        """Write out a function, in one that keeps the names it needs apart from all others."""
        written = function_text(function) if function not in self.around else None
        if written is None:
            return False
        inner = _Parts(around=(*self.around, function))
        for each, value in written.needs.items():
            captured = each in function.__code__.co_freevars
            inner.add_name(each, value, None if captured else _home(function.__globals__, each))
        if any(line[0] == "#" for line in inner.assignments):
            return False
        own = function.__name__
        result = (
            [written.text, f"return {own}"] if own.isidentifier() else [f"return {written.text}"]
        )
        parts = [*inner.imports, *inner.assignments, *inner.helpers, *result]
        body = textwrap.indent("\n".join(parts), "    ")
        self.helpers.append(f"def _define_{name}():\n{body}\n\n\n{name} = _define_{name}()")
        return True

    def missing(self, name: str, what: str) -> None:
        self.assignments[f"{MISSING}{name} {what}; define it here"] = None

    def _literal(self, value: Any) -> str | None:
        module = Module(())
        bindings = Bindings(module)
        if isinstance(value, np.ndarray) and type(value) is np.ndarray:  # pyright: ignore[reportUnknownArgumentType]
            if value.size > _SMALL or value.dtype.kind not in "biufc":
                return None
            code = bindings.literal(value.tolist())
            text = None if code is None else f'np.array({code.text}, dtype="{value.dtype.name}")'
            bindings.member("np", "array")
        else:
            code = bindings.literal(value)
            text = None if code is None else code.text
        if module.objects or text is None:
            return None
        for name, key in module.modules.items():
            self.import_module(MODULES[key], name)
        return text

    # --- helpers --------------------------------------------------------------------------

    def add_helper(self, helper: str, name: str) -> None:
        """The text of a helper, and of all of the runtime that it uses, under private names."""
        value = runtime_helper(helper)
        module = _defining_module(helper, value)
        self._add_definition(module, helper, name)

    def _add_definition(self, module: types.ModuleType, helper: str, name: str) -> None:
        if helper in self.renamed:
            return
        self.renamed[helper] = name
        definition = _definitions(module)[helper]
        self.annotated = self.annotated or definition.annotated
        # what it uses comes first: classes and constants are needed when it is defined
        for used in sorted(definition.uses):
            self._add_used(module, used)
        text = _replace_names(definition.text, self.renamed, definition.uses | {helper})
        self.helpers.append(text)

    def _add_used(self, module: types.ModuleType, name: str) -> None:
        if name in _definitions(module):
            self._add_definition(module, name, _private(name))
            return
        if not hasattr(module, name):
            return
        value = getattr(module, name)
        home = _imported_from(module).get(name)
        if home is not None and home.startswith("wengert"):
            source = sys.modules[home]
            if isinstance(getattr(source, name, None), types.ModuleType):
                raise ValueError(f"a helper uses the module {name} of wengert as a whole")
            self._add_definition(_defining_module(name, value, source), name, _private(name))
        elif isinstance(value, types.ModuleType):
            self.import_module(value, name)
        elif home is not None:
            self.imports[f"from {home} import {name}"] = None


def _is_namedtuple(value: Any) -> bool:
    """Whether a value is a class that nothing but its names makes, as `namedtuple` gives it."""
    is_class = isinstance(value, type) and value.__bases__ == (tuple,) and hasattr(value, "_fields")
    return is_class and not getattr(value, "__annotations__", None)


def _is_ours(value: types.FunctionType | type) -> bool:
    """Whether programs run this function or class of our own as it is: its text can stand in a saved file."""
    module = sys.modules.get(value.__module__)
    known = module is not None and getattr(module, value.__name__, None) is value
    warning = isinstance(value, type) and issubclass(value, Warning)
    homes = ("wengert.solvers.", "wengert.frontend.", *(["wengert.runtime."] if warning else []))
    return known and value.__module__.startswith(homes)


@dataclass(frozen=True, slots=True)
class _Definition:
    text: str
    uses: frozenset[str]
    annotated: bool


@cache
def _definitions(module: types.ModuleType) -> dict[str, _Definition]:
    """The top-level functions, classes and assignments of a module."""
    source = inspect.getsource(module)
    lines = source.splitlines()
    found: dict[str, _Definition] = {}
    for node in ast.parse(source).body:
        match node:
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                first = min([node.lineno, *(d.lineno for d in node.decorator_list)])
            case ast.Assign(targets=[ast.Name(id=name)]) | ast.AnnAssign(target=ast.Name(id=name)):
                first = node.lineno
            case _:
                continue
        text = "\n".join(lines[first - 1 : node.end_lineno])
        uses = frozenset(n.id for n in ast.walk(node) if isinstance(n, ast.Name)) - {name}
        found[name] = _Definition(text, uses, any(map(_is_annotation, ast.walk(node))))
    return found


def _is_annotation(node: ast.AST) -> bool:
    if isinstance(node, ast.AnnAssign):
        return True
    return (
        getattr(node, "annotation", None) is not None or getattr(node, "returns", None) is not None
    )


@cache
def _imported_from(module: types.ModuleType) -> dict[str, str]:
    """For each name that a module imports from another, that module's full name."""
    found: dict[str, str] = {}
    package = module.__name__ if hasattr(module, "__path__") else module.__name__.rpartition(".")[0]
    for node in ast.walk(ast.parse(inspect.getsource(module))):
        if isinstance(node, ast.ImportFrom):
            base = package.split(".")[: len(package.split(".")) - node.level + 1]
            start = ".".join(base) if node.level else ""
            home = ".".join(part for part in (start, node.module) if part)
            found.update((alias.asname or alias.name, home) for alias in node.names)
    return found


def _defining_module(
    name: str, value: Any, start: types.ModuleType | None = None
) -> types.ModuleType:
    """The runtime's module whose text defines a helper."""
    home = getattr(value, "__module__", None)
    module = sys.modules.get(home) if isinstance(home, str) else None
    for candidate in chain((start, module), _runtime_modules()):
        if candidate is not None and name in _definitions(candidate):
            return candidate
    raise ValueError(f"the text of the helper {name!r} was not found")


def _runtime_modules() -> Iterator[types.ModuleType]:
    for name, module in sorted(sys.modules.items()):
        if name.startswith("wengert.runtime"):
            yield module


def _private(name: str) -> str:
    return name if name.startswith("_") else f"_{name}"


def _replace_names(text: str, renamed: dict[str, str], names: frozenset[str]) -> str:
    """Rename whole names in code, leaving attributes, strings and comments alone."""
    lines = text.split("\n")
    for row, column, old in reversed(_names_in(text)):
        new = renamed.get(old)
        if old in names and new:
            line = lines[row - 1]
            lines[row - 1] = line[:column] + new + line[column + len(old) :]
    return "\n".join(lines)


@cache
def _names_in(text: str) -> list[tuple[int, int, str]]:
    """The names in the text of a definition, attributes left out: row, column, name."""
    import io
    import tokenize

    found: list[tuple[int, int, str]] = []
    before = ""
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.NAME and before != ".":
            found.append((*token.start, token.string))
        if token.string.strip():
            before = token.string
    return found


def _home(holder: Any, key: str) -> tuple[str, str]:
    """Where a global is imported from: module and name; the module is "" if it has none."""
    name = holder.get("__name__") if isinstance(holder, dict) else getattr(holder, "__name__", None)
    module = sys.modules.get(name) if isinstance(name, str) else None
    own = module is not None and (module is holder or vars(module) is holder)
    return (str(name), key) if own and can_import_from(str(name)) else ("", key)


def _reduced(value: Any) -> tuple[Any, tuple[Any, ...]] | None:
    try:
        reduced = value.__reduce__()
    except Exception:  # the user's own method, which may not be ready for this
        return None
    if not isinstance(reduced, tuple) or len(reduced) != 2 or not callable(reduced[0]):
        return None
    return None if reduced[0].__module__ in ("copyreg", "builtins") else reduced


def _import_groups(imports: list[str]) -> list[list[str]]:
    """The standard library's modules, then the others; plain imports first."""

    def is_standard(line: str) -> bool:
        return line.split()[1].split(".", maxsplit=1)[0] in sys.stdlib_module_names

    ordered = sorted(imports, key=lambda line: (line.startswith("from"), line))
    return [
        [line for line in ordered if is_standard(line)],
        [line for line in ordered if not is_standard(line)],
    ]


def _describe(value: Any) -> str:
    kind = type(value).__name__
    name = getattr(value, "__qualname__", "")
    return f"the {kind} {name}" if isinstance(name, str) and name else f"a value of type {kind}"
