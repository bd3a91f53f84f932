"""One function: its parameters, what they are taken apart into, its body and its result."""

from __future__ import annotations

import enum
from collections.abc import Iterator, Mapping, Sequence
from itertools import repeat
from typing import Any

from ...errors import InternalError
from ...ir.graph import Atom, Const, Eqn, Function, Input, Var
from ...ir.types import NONE, UNKNOWN, Kind, Static, Struct, leaves, step_into
from ...runtime.containers import CONTENTS, reads_plainly
from .bindings import Bindings, Module, import_path
from .code import Code, concat, listing, string, tuple_display
from .expressions import Expressions
from .folding import Folding, hint
from .layout import WIDTH, Statement
from .lifetimes import Lifetimes, assign_names
from .names import Lifetime, Names, identifier
from .needs import Needs, is_undefined
from .statements import Statements


class FunctionPrinter:
    """Prints one function of a module.

    With `flat`, it takes and gives leaves, as the equation `call` does, not containers. The first
    `captured` leaves of a nested function become keyword-only parameters with defaults.
    """

    def __init__(
        self,
        function: Function,
        module: Module,
        indent: int = 0,
        *,
        flat: bool = False,
        captured: int = 0,
        defaults: Mapping[str, object] | None = None,
    ):
        outs, expected = len(function.body.outs), sum(1 for _ in leaves(function.result))
        if outs != expected and (outs or isinstance(function.result, Struct)):
            raise InternalError(f"{function.name} has {outs} results, its kind has {expected}")
        self.bindings = Bindings(module)
        self.function = function
        self._indent = indent
        self._nested: dict[Eqn, FunctionPrinter] = {}
        self._needs = Needs(function)
        self._folding = Folding(function, self._needs, self.bindings, self._on_closure, indent + 1)
        self._parameters = list(_parameters(function, flat, captured))
        self._flat = flat
        self._defaults = self._default_texts(defaults or {})
        self._known: list[tuple[str, Code]] = []
        if not flat:
            self._bind_containers(function.result)
            self._known = [pair for p in self._parameters for pair in p.known(self.bindings)]
        self._name_values()

    def _on_closure(self, eqn: Eqn) -> None:
        printer = FunctionPrinter(
            eqn.param("function"), self.bindings.module, self._indent + 1, captured=len(eqn.args)
        )
        self._nested[eqn] = printer
        self.bindings.used |= printer.bindings.used
        self.bindings.callees += printer.bindings.callees

    def _default_texts(self, defaults: Mapping[str, object]) -> dict[str, Code]:
        codes: dict[str, Code] = {}
        for name, value in defaults.items():
            code = self.bindings.literal(value)
            owner = type(value) if isinstance(value, enum.Enum) else value
            if code is None and import_path(owner) is not None:
                code = self.bindings.constant(value)
            if code is not None:
                codes[name] = code
        return codes

    def _bind_containers(self, kind: Kind) -> None:
        """Have everything bound that parameters and result name, before local names are given out."""
        self._result(kind, repeat(Code("")))
        for parameter in self._parameters:
            if parameter.leaf is None:
                list(parameter.paths(self.bindings))

    # --- names ----------------------------------------------------------------------------

    def _name_values(self) -> None:
        lifetimes = self._lifetimes = Lifetimes(self._needs, self._folding)
        whole = [p for p in self._parameters if p.leaf is not None]
        lifetimes.inputs(p.leaf for p in whole if p.leaf is not None)
        taken_out = [leaf for p in self._parameters for leaf in p.leaves if self._is_read(leaf)]
        lifetimes.unpacked(taken_out)
        lifetimes.body(self.function.body)
        names = Names(self.bindings.used)
        whole_body = (0, lifetimes.end)
        for parameter in self._parameters:
            if parameter.leaf is None:
                names.fix(parameter.name, Lifetime([whole_body]))
        fixed = {p.leaf: p.name for p in whole if p.leaf is not None}
        for parameter in self._parameters:
            lifetimes.hints.update(parameter.suggested_names())
        self._names = assign_names(lifetimes, names, fixed)
        self._expressions = Expressions(
            self.bindings, self._names.__getitem__, self._folding.definition
        )

    def _is_read(self, leaf: Var) -> bool:
        return leaf in self._needs.values

    # --- text -----------------------------------------------------------------------------

    def statement(self, name: str, captured: Sequence[Code] = (), doc: str = "") -> Statement:
        """The whole `def`."""
        body = list(self._prologue())
        statements = Statements(
            self._needs,
            self._folding,
            self._lifetimes,
            self._expressions,
            self._names,
            lambda eqn, name, codes: self._nested[eqn].statement(name, codes),
        )
        main = statements.block(self.function.body)
        body += main
        if not main or not main[-1].head.text.startswith("raise "):
            body.append(Statement(self._return()))
        if self.function.ignores:
            body = [Statement(self._errstate(), None, body)]
        if doc:
            body.insert(0, Statement(Code(_docstring(doc))))
        head = concat(f"def {name}(", *listing(self._signature(captured)), ")")
        return Statement(head, None, body, spaced=True)

    def _errstate(self) -> Code:
        settings = ", ".join(f'{error}="ignore"' for error in self.function.ignores)
        return Code(f"with {self.bindings.member('np', 'errstate')}({settings})")

    def _signature(self, captured: Sequence[Code]) -> Iterator[Code]:
        own = [p.name for p in self._parameters if p.how == "bound"]
        bound = dict(zip(own, captured, strict=True))
        positional = [p for p in self._parameters if p.how == "positional"]
        required = max(
            (k for k, p in enumerate(positional) if p.source not in self._defaults), default=-1
        )
        for position, parameter in enumerate(positional):
            default = self._defaults.get(parameter.source)
            if default is None or position < required:
                yield Code(parameter.name)
            else:
                yield concat(f"{parameter.name}=", default)
        keywords = [p for p in self._parameters if p.how != "positional"]
        if keywords:
            yield Code("*")
        for parameter in keywords:
            default = bound.get(parameter.name) or self._defaults.get(parameter.source)
            yield concat(f"{parameter.name}=", default) if default else Code(parameter.name)

    def _prologue(self) -> Iterator[Statement]:
        """Checks of what is known, and the leaves of containers as variables of their own."""
        for path, literal in self._known:
            differs = "!=" if literal.text[0] in "'\"" else "is not"
            other = string(f"this was derived for `{path}` being {literal.text}")
            refusal = Statement(Code(f"raise ValueError({other})"))
            yield Statement(concat(f"if {path} {differs} ", literal), None, [refusal])
        for parameter in self._parameters:
            if parameter.leaf is not None:
                continue
            pairs = [
                (self._names[leaf], path)
                for leaf, path in zip(parameter.leaves, parameter.paths(self.bindings), strict=True)
                if self._is_read(leaf)
            ]
            pattern = parameter.pattern(self._names) if len(pairs) == len(parameter.leaves) else ""
            if pattern and pairs:
                yield Statement(Code(f"{pattern} = {parameter.name}"))
                continue
            yield from _unpack(pairs)

    def _return(self) -> Code:
        outs = iter(self._expressions.atom(_defined(atom)) for atom in self.function.body.outs)
        if self._flat:
            codes = list(outs)
            value = codes[0] if len(codes) == 1 else tuple_display(codes)
            return concat("return ", value) if codes else Code("return None")
        if not self.function.body.outs and not isinstance(self.function.result, (Struct, Static)):
            return Code("return None")
        value = self._result(self.function.result, outs)
        kind = self.function.result
        if isinstance(kind, Struct) and kind.form == "tuple" and len(kind.items) > 1:
            value = value.cut(1, len(value) - 1)
        return concat("return ", value)

    def _result(self, kind: Kind, outs: Iterator[Code]) -> Code:
        match kind:
            case Struct(form=form, keys=keys, items=items, type=type_):
                codes = [self._result(item, outs) for item in items]
                return self._make(form, keys, codes, type_)
            case Static(value=value):
                return self.bindings.constant(value)
            case _:
                return next(outs)

    def _make(self, form: str, keys: Sequence[Any], codes: Sequence[Code], type_: Any) -> Code:
        if form == "tuple" and len(codes) > 1:
            return concat("(", *listing(codes), ")")
        return Expressions(self.bindings, hint, lambda var: None).container(
            form, keys, codes, type_
        )


class _Parameter:
    """A parameter of the printed function and the leaves that it brings."""

    def __init__(self, name: str, source: str, how: str, kind: Kind, leaves: Sequence[Var]):
        self.name = name
        self.source = source
        self.how = how
        self.kind = kind
        self.is_leaf = not isinstance(kind, (Struct, Static))
        self.leaf = leaves[0] if self.is_leaf else None
        self.leaves = [] if self.is_leaf else list(leaves)

    def suggested_names(self) -> Iterator[tuple[Var, str]]:
        """Names for leaves without one, after the way that leads to them."""
        for leaf, (path, _) in zip(self.leaves, leaves(self.kind), strict=not self.is_leaf):
            if hint(leaf) in ("", self.name):
                keys = [step.key for step in path]
                name = identifier(keys[-1]) if isinstance(keys[-1], str) else ""
                yield leaf, name or identifier("_".join(map(str, (self.name, *keys))))

    def paths(self, bindings: Bindings) -> Iterator[str]:
        return (
            path
            for path, kind in _paths(self.kind, self.name, bindings)
            if not isinstance(kind, Static)
        )

    def known(self, bindings: Bindings) -> Iterator[tuple[str, Code]]:
        """What is known by its value where there is a text for that: the way to it, and the text."""
        for path, kind in _paths(self.kind, self.name, bindings):
            value = None if kind == NONE else kind.value if isinstance(kind, Static) else UNKNOWN
            compares = value is None or isinstance(value, str) or callable(value)
            code = bindings.literal(value) if compares else None
            hidden = ".__" in path  # how an object is built, and what a function captured
            if code is not None and self.how == "positional" and not hidden:
                yield path, code

    def pattern(self, names: Mapping[Var, str]) -> str:
        """`(a, b), c` if the whole parameter can be unpacked so, else ""."""
        remaining = iter(self.leaves)
        return _pattern(self.kind, remaining, names) if _is_unpackable(self.kind) else ""


def _parameters(function: Function, flat: bool, captured: int) -> Iterator[_Parameter]:
    variables = list(function.body.params)
    taken: set[str] = set()

    def unique(name: str) -> str:
        base = name = identifier(name, "arg")
        number = 1
        while name in taken:
            number += 1
            name = f"{base}_{number}"
        taken.add(name)
        return name

    start = 0
    for one in function.inputs:
        own = list(leaves(one.kind))
        params = variables[start : start + len(own)]
        is_captured = start < captured
        start += len(own)
        if flat or is_captured:
            how = "positional" if flat else "bound"
            for var, (_, kind) in zip(params, own, strict=True):
                name = unique(hint(var) or one.name)
                yield _Parameter(name, name, how, kind, [var])
        else:
            how = "positional" if one.how == "positional" else "keyword"
            yield _Parameter(unique(one.name), one.name, how, one.kind, params)


def input_names(function: Function) -> Iterator[str]:
    """The names that a function's parameters may get."""
    for one in function.inputs:
        yield identifier(one.name, "arg")
    for parameter in _parameters(function, flat=True, captured=0):
        yield parameter.name


def takes_leaves(function: Function) -> bool:
    """Whether a `call` equation may call this function as it is printed."""
    plain = all(_is_plain_input(one) for one in function.inputs)
    match function.result:
        case Struct(form="tuple", items=items):
            return (
                plain and len(items) > 1 and not any(isinstance(i, (Struct, Static)) for i in items)
            )
        case Struct() | Static():
            return False
        case _:
            return plain


def _is_plain_input(one: Input) -> bool:
    return one.how in ("positional", "unbound") and not isinstance(one.kind, (Struct, Static))


def _paths(kind: Kind, text: str, bindings: Bindings) -> Iterator[tuple[str, Kind]]:
    """The ways to the leaves of a parameter, and to what is known in it."""
    match kind:
        case Struct(keys=keys, items=items, type=type_):
            for key, item in zip(keys, items, strict=True):
                if key == CONTENTS:
                    plain = isinstance(item, Struct) and reads_plainly(type_)
                    inner = text if plain else f"{bindings.helper('contents')}({text})"
                else:
                    inner = text + _step(kind, key, type_)
                yield from _paths(item, inner, bindings)
        case _:
            yield text, kind


def _step(kind: Struct, key: Any, type_: Any) -> str:
    match step_into(kind, key).how:
        case "attr":
            return f".{key}"
        case "cell":
            return f".__closure__[{type_.co_freevars.index(key)}].cell_contents"
        case _:
            return f"[{string(key) if isinstance(key, str) else repr(key)}]"


def _is_unpackable(kind: Kind) -> bool:
    match kind:
        case Struct(form="tuple" | "list", items=items):
            return bool(items) and all(map(_is_unpackable, items))
        case Struct() | Static():
            return False
        case _:
            return True


def _pattern(
    kind: Kind, remaining: Iterator[Var], names: Mapping[Var, str], outer: bool = True
) -> str:
    if not isinstance(kind, Struct):
        return names[next(remaining)]
    items = [_pattern(item, remaining, names, False) for item in kind.items]
    text = ", ".join(items)
    if len(items) == 1:
        return f"({text},)"
    return text if outer else f"({text})"


def _unpack(pairs: Sequence[tuple[str, str]]) -> Iterator[Statement]:
    line = f"{', '.join(n for n, _ in pairs)} = {', '.join(p for _, p in pairs)}"
    if len(line) + 4 <= WIDTH:
        if pairs:
            yield Statement(Code(line))
        return
    for name, path in pairs:
        yield Statement(Code(f"{name} = {path}"))


def _defined(atom: Atom) -> Atom:
    return Const(None) if is_undefined(atom) else atom


def _docstring(doc: str) -> str:
    text = doc.strip().replace("\\", "\\\\").replace('"""', '\\"\\"\\"')
    if "\n" in text:
        return f'"""{text}\n"""'
    if text.endswith('"'):
        text = text[:-1] + '\\"'
    return f'"""{text}"""'
