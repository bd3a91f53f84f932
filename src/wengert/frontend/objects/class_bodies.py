"""What the body of a class computes of the function around it: `class A: w = 2 * x`.

Python runs the body before the program runs. What it computes of variables that only the program knows is read in
front of it, by the interpreter, and the body finds a name in its place.
"""

from __future__ import annotations
import __future__ as future

import ast
import copy
import dataclasses
from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from types import CodeType
from typing import TYPE_CHECKING

from ...ir.graph import Const
from ..domain.values import Scope, Value
from ..machine.session import Frame

if TYPE_CHECKING:
    from ..machine.interpreter import Interpreter


_DEFINITIONS = ast.FunctionDef | ast.ClassDef


class Body:
    """The body of a class, whose computed parts are taken out of it one by one."""

    def __init__(self, it: Interpreter, node: ast.ClassDef, unknown: AbstractSet[str]):
        self.node = copy.deepcopy(node)
        self.values: dict[str, Value] = {}
        """What has been taken out, by the names that stand for it."""
        self._it = it
        self._unknown = set(unknown)
        self._bound: dict[str, ast.expr] = {}
        self._scope = Scope(it.frame.scope.globals, it.frame.scope)
        self._defined = {each.name for each in node.body if isinstance(each, _DEFINITIONS)}
        if self._unknown:
            self._read()

    def _read(self) -> None:
        for statement in self.node.body:
            match statement:
                case ast.Assign(targets=targets, value=before):
                    statement.value = self._bind(targets, before)
                case ast.AnnAssign(target=target, value=ast.expr() as before):
                    statement.value = self._bind([target], before)
                case ast.FunctionDef(args=parameters):
                    parameters.defaults = [self._taken_out(each) for each in parameters.defaults]
                    parameters.kw_defaults = [
                        each and self._taken_out(each) for each in parameters.kw_defaults
                    ]
                case _:
                    pass

    def _bind(self, targets: list[ast.expr], value: ast.expr) -> ast.expr:
        """What the body is to assign in place of a value."""
        names = {target.id for target in targets if isinstance(target, ast.Name)}
        found = self._taken_out(value)
        if self._is_unknown(value):
            self._unknown |= names
        self._bound.update(dict.fromkeys(names, value))
        if isinstance(found, ast.Name) and found.id in self.values:
            self._scope.vars.update(dict.fromkeys(names, self.values[found.id]))
        return found

    def _is_unknown(self, node: ast.AST) -> bool:
        """Whether an expression, as far as the body itself computes it, reads what only the program knows."""
        return any(name in self._unknown for name in _names_read(node))

    def _taken_out(self, node: ast.expr) -> ast.expr:
        """The expression with names for what has to be computed when the program runs."""
        if not self._is_unknown(node) or isinstance(node, ast.Name):
            return node
        again = copy.copy(node)
        match again:
            case ast.List() | ast.Tuple():
                again.elts = [self._taken_out(item) for item in again.elts]
                return again
            case ast.Dict():
                again.values = [self._taken_out(value) for value in again.values]
                return again
            case ast.Call() if self._value_of(again.func) == Const(dataclasses.field):
                again.keywords = [
                    ast.copy_location(ast.keyword(k.arg, self._taken_out(k.value)), k)
                    for k in again.keywords
                ]
                return again
            case _:
                name = f"computed_{len(self.values)}_in_{self.node.name}"
                self.values[name] = self._value_of(node)
                return ast.copy_location(ast.Name(name, ast.Load()), node)

    def _value_of(self, node: ast.expr) -> Value:

        for name in _names_read(node):
            if name in self._defined:
                raise self._it.unsupported(
                    f"`{name}`, which the body of a class defines, is used in it to compute another attribute",
                    "Define the function outside of the class.",
                    node,
                )
            if name in self._bound and name not in self._scope.vars:
                self._scope.vars[name] = self._value_of(self._bound[name])
        around = self._it.frame
        self._it.frames.append(Frame(around.closure, self._scope, around=around.around or around))
        try:
            return self._it.evaluate(node)
        finally:
            self._it.frames.pop()

    def code(self, of_source: CodeType) -> CodeType:
        """The compiled body, with the code of the methods as it stands in the program."""
        names = [*of_source.co_freevars, *self.values]
        parameters = ast.arguments([], [ast.arg(name) for name in names], None, [], [], None, [])
        bare = copy.copy(self.node)
        bare.bases, bare.keywords, bare.decorator_list = [], [], []
        around = ast.FunctionDef("around", parameters, [bare], [], None)
        module = ast.fix_missing_locations(ast.Module([ast.copy_location(around, bare)], []))
        flags = of_source.co_flags & future.annotations.compiler_flag
        made = compile(module, of_source.co_filename, "exec", flags, dont_inherit=True)
        body = next(code for code in code_inside(made) if code.co_name == self.node.name)
        originals = {(code.co_name, code.co_firstlineno): code for code in code_inside(of_source)}
        constants = tuple(
            originals.get((each.co_name, each.co_firstlineno), each)
            if isinstance(each, CodeType)
            else each
            for each in body.co_consts
        )
        return body.replace(co_consts=constants)


def _names_read(node: ast.AST) -> Iterator[str]:
    """The names that an expression reads where it stands: what a lambda reads, it reads when it is called."""
    if isinstance(node, ast.Lambda):
        return
    if isinstance(node, ast.Name):
        yield node.id
    for child in ast.iter_child_nodes(node):
        yield from _names_read(child)


def code_inside(code: CodeType) -> Iterator[CodeType]:
    """The functions and classes that are compiled into a function, and those in them."""
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield constant
            yield from code_inside(constant)
