"""Classes that a differentiated function defines.

Python itself runs the body of such a class, so that decorators, slots and descriptors do what they
always do. In place of the variables of the function around it the body finds stand-ins, and so do the
methods, whose source is then read with the scope that the class was defined in.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Mapping
from types import CellType, CodeType, FunctionType
from typing import TYPE_CHECKING, Any, cast

from ...ir.graph import Const
from ..domain.values import Items, Maybe, Scope, Value, list_of, same, tuple_of
from ..machine.session import LocalClass
from ..syntax.declarations import assigned_names, own_nodes
from ..syntax.sources import parameter_names
from . import class_attributes
from .class_bodies import Body, code_inside

if TYPE_CHECKING:
    from ..machine.interpreter import Interpreter
from ..domain.held import Held, StandIn


def define(it: Interpreter, node: ast.ClassDef) -> Value:
    """The class that a statement defines."""
    bases = tuple(_known(it, it.evaluate(base), base) for base in node.bases)
    code = _code_of(it, node)
    body = _body(it, node, code)
    made = it.reading.local_classes.setdefault((id(node), id(it.frame.scope)), [])
    found = next((each for each in made if _is_again(it, each, bases, body.values)), None)
    if found is None:
        found = _made(it, node, bases, body.code(code) if body.values else code, body.values)
        made.append(found)
    else:
        class_attributes.define_again(it, found.cls)
    _fill(it, found)
    return Const(found.cls)


def _body(it: Interpreter, node: ast.ClassDef, code: CodeType) -> Body:
    _refuse_statements(it, node)
    scope = it.frame.scope
    return Body(it, node, {n for n in code.co_freevars if _constant(scope, n) is _UNKNOWN})


def _is_again(
    it: Interpreter, made: LocalClass, bases: tuple[type, ...], computed: Mapping[str, Value]
) -> bool:
    """Whether a statement that comes to its turn again makes a class like one that it has made.

    Python makes another one, but nobody can tell them apart where all that they hold is the same.
    """
    scope = made.scope
    known = all(_constant(scope, name) is value for name, value in made.known.items())
    held = all(
        same(computed[name] if name in computed else it.lookup(scope, name), value)
        for name, value in made.held.items()
    )
    return bases == made.bases and known and held


def _made(
    it: Interpreter,
    node: ast.ClassDef,
    bases: tuple[type, ...],
    code: CodeType,
    computed: Mapping[str, Value],
) -> LocalClass:

    options = {
        k.arg: _known(it, it.evaluate(k.value), k.value) for k in node.keywords if k.arg is not None
    }
    decorators = [_decorator(it, d) for d in node.decorator_list]
    scope = Scope(it.frame.scope.globals, it.frame.scope)
    scope.vars.update(computed)
    known = {name: _constant(scope, name) for name in code.co_freevars}
    cells = {
        name: CellType(StandIn(name, scope) if value is _UNKNOWN else value)
        for name, value in known.items()
    }
    # not a copy of them: its methods see what changes, and may change it
    around = cast(dict[str, Any], scope.globals)
    body = FunctionType(code, around, node.name, None, tuple(cells.values()))
    try:
        cls = builtins.__build_class__(body, node.name, *bases, **options)
        for decorate in reversed(decorators):
            cls = decorate(cls)
    except Exception as error:
        raise it.unsupported(
            f"the body of this class cannot be run before the program: {error}",
            "Compute what it needs in `__init__`, or define the class outside.",
            node,
        ) from error
    itself = node.name if _is_bound_once(it, node) else None
    for name, cell in cells.items():
        cell.cell_contents = cls if name == itself else StandIn(name, scope)
    containers = _containers(it, cls)
    return LocalClass(cls, scope, bases, known, _hold_values(it, cls, computed), containers)


def _is_bound_once(it: Interpreter, node: ast.ClassDef) -> bool:
    """Whether the name of a class means the class wherever it is read: Python itself may read it there."""
    function = it.frame.closure.node
    others = [each for each in own_nodes(function) if each is not node]
    return node.name not in {*parameter_names(function.args), *assigned_names(others)}


def _decorator(it: Interpreter, node: ast.expr) -> Any:
    """A decorator as Python's own object: `dataclass`, or what `dataclass(frozen=True)` gives."""
    if not isinstance(node, ast.Call):
        return _known(it, it.evaluate(node), node)
    function, *args = (_known(it, it.evaluate(n), n) for n in (node.func, *node.args))
    options = {k.arg: _known(it, it.evaluate(k.value), k.value) for k in node.keywords if k.arg}
    return function(*args, **options)


def _refuse_statements(it: Interpreter, node: ast.ClassDef) -> None:
    plain = (ast.FunctionDef, ast.Assign, ast.AnnAssign, ast.Pass, ast.ClassDef)
    for statement in node.body:
        is_text = isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
        if not isinstance(statement, plain) and not is_text:
            raise it.unsupported(
                "the body of a class inside a differentiated function holds methods and attributes only",
                "Define the class outside.",
                statement,
            )


def _known(it: Interpreter, value: Value, node: ast.AST) -> Any:
    if isinstance(value, Const):
        return value.value
    raise it.unsupported(
        "what a class is built on must be known when the program is read",
        "Name the class.",
        node,
    )


_UNKNOWN = object()


def _constant(around: Scope, name: str) -> Any:
    """The value of a variable where it is known, for the body of the class itself."""
    scope: Scope | None = around
    while scope is not None:
        if name in scope.vars:
            value = scope.vars[name]
            return value.value if isinstance(value, Const) else _UNKNOWN
        scope = scope.outer
    return _UNKNOWN


def _code_of(it: Interpreter, node: ast.ClassDef) -> CodeType:
    """The compiled body of a class, which is part of the code of the function around it."""
    first = min([node.lineno, *(d.lineno for d in node.decorator_list)])
    for frame in reversed(it.frames):
        function = frame.closure.function
        for code in code_inside(function.__code__) if isinstance(function, FunctionType) else ():
            if code.co_name == node.name and code.co_firstlineno in (first, node.lineno):
                return code
    raise it.unsupported(
        "a class cannot be defined in this function", "Define the class outside.", node
    )


def _hold_values(it: Interpreter, cls: type, computed: Mapping[str, Value]) -> dict[str, Value]:
    """The attributes of the class that are variables of the function around it, as they are now."""
    held: dict[str, Value] = {}
    for name, attribute in list(vars(cls).items()):
        if isinstance(attribute, StandIn):
            value = it.lookup(attribute.scope, attribute.name)
            if isinstance(value, (Items, Maybe)) and attribute.name not in computed:
                raise it.unsupported(
                    f"the attribute `{name}` of a class is a container of the function around it",
                    "Set it on the objects, in `__init__`.",
                )
            setattr(cls, name, Held(value))
            held[attribute.name] = value
        held.update(_hold_defaults(it, attribute))
    held.update(_hold_defaults_of_fields(it, cls))
    return held


def _hold_defaults_of_fields(it: Interpreter, cls: type) -> dict[str, Value]:
    """The defaults of a dataclass's or a namedtuple's fields that are variables of the function around it."""
    held: dict[str, Value] = {}

    def holding(default: Any) -> Any:
        if not isinstance(default, StandIn):
            return default
        held[default.name] = it.lookup(default.scope, default.name)
        return Held(held[default.name])

    for field in vars(cls).get("__dataclass_fields__", {}).values():
        field.default = holding(field.default)
    defaults = vars(cls).get("_field_defaults", {})
    defaults.update({name: holding(default) for name, default in defaults.items()})
    return held


def _hold_defaults(it: Interpreter, attribute: Any) -> dict[str, Value]:
    """The defaults of a method that are variables of the function around the class."""
    function = getattr(attribute, "__func__", attribute)
    defaults = getattr(function, "__defaults__", None) or ()
    by_name = getattr(function, "__kwdefaults__", None) or {}
    taken = [each for each in (*defaults, *by_name.values()) if isinstance(each, StandIn)]
    if not taken:
        return {}
    held = {each.name: it.lookup(each.scope, each.name) for each in taken}

    def holding(default: Any) -> Any:
        return Held(held[default.name]) if isinstance(default, StandIn) else default

    function.__defaults__ = tuple(map(holding, defaults)) or None
    function.__kwdefaults__ = {name: holding(each) for name, each in by_name.items()} or None
    return held


def _containers(it: Interpreter, cls: type) -> dict[str, Any]:
    """The attributes of a class that are containers which the program changes, or whose items it computes."""
    return {
        name: attribute
        for name, attribute in vars(cls).items()
        if type(attribute) in (list, dict, tuple)
        and not name.startswith(("__", "_field"))
        and (_is_computed(attribute) or (cls.__qualname__, name) in it.reading.changed_in_classes)
    }


def _is_computed(attribute: Any) -> bool:
    if isinstance(attribute, StandIn):
        return True
    if type(attribute) not in (list, dict, tuple):
        return False
    return any(map(_is_computed, attribute.values() if type(attribute) is dict else attribute))


def _fill(it: Interpreter, made: LocalClass) -> None:
    """Have the class hold containers of its own, as its body makes them whenever it is run."""
    for name, attribute in made.containers.items():
        setattr(made.cls, name, Held(_as_value(it, attribute)))


def _as_value(it: Interpreter, attribute: Any) -> Value:
    if isinstance(attribute, StandIn):
        return it.lookup(attribute.scope, attribute.name)
    if type(attribute) is dict:
        values = tuple(_as_value(it, item) for item in attribute.values())
        return Items("dict", tuple(attribute), values)
    if type(attribute) in (list, tuple):
        make = list_of if type(attribute) is list else tuple_of
        return make(*(_as_value(it, item) for item in attribute))
    return Const(attribute)
