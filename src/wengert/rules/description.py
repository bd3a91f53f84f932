"""What rule is in force for a function, in words: `wg.rule(f)`."""

from __future__ import annotations

import ast
import linecache
import textwrap
from collections.abc import Callable
from typing import Any, NamedTuple

from ..ir.op import Op
from ..ops import registry as ops
from .registry import Rule, entry_for

WAYS_OUT = """\
Write its rule:              wg.rrule({name})  or  wg.scalar_rule({name}, ...)
or say that it is constant:  wg.zero_rule({name})
or keep it out:              wg.stop_gradient(...) around its arguments"""

_FORMS = {
    "scalar": "scalar_rule: its partial derivatives",
    "linear": "linear_rule: it is linear, this is its transpose",
    "bilinear": "bilinear_rule: linear in each of two operands, these are its transposes",
    "zero": "zero_rule: it is piecewise constant, no derivative flows through it",
    "differential": "differential: its pushforward, and transposed its pullback",
    "rrule": "rrule: a hand-written pullback",
    "frule": "frule: a hand-written pushforward",
}


class Description(NamedTuple):
    """What `wg.rule(f)` returns; it prints itself.

    Attributes:
        name: the function's name.
        form: the name of the form, or "" where there is no rule.
        file, line: where the rule is written.
        text: the whole description.
    """

    name: str
    form: str
    file: str
    line: int
    text: str

    def __str__(self) -> str:
        return self.text

    __repr__ = __str__


def describe(function: Op | Callable[..., Any]) -> Description:
    """The rule that would be used for a function."""
    op = _op_of(function)
    name = _name(function)
    entry = entry_for(op) if op is not None else None
    if entry is None:
        return _stand_in(name, function) or Description(
            name, "", "", 0, _without_rule(name, function)
        )
    if entry.form == "opt_out":
        text = (
            f"{name}: no rule is used (opt_out at {entry.file}:{entry.line}); its own code is read"
        )
        return Description(name, "opt_out", entry.file, entry.line, text)
    parts = [_paragraph(name, each) for each in (entry, *entry.also.values())]
    return Description(name, entry.form, entry.file, entry.line, "\n\n".join(parts))


def _op_of(function: Any) -> Op | None:
    if isinstance(function, Op):
        return function
    found = ops.find(function)
    return None if found is None else found[0]


def _name(function: Any) -> str:
    if isinstance(function, Op):
        return function.name
    name = getattr(function, "__qualname__", None) or getattr(function, "__name__", repr(function))
    module = getattr(function, "__module__", None)
    return f"{module}.{name}" if module and module not in ("builtins", "__main__") else name


def _stand_in(name: str, function: Any) -> Description | None:
    """What the front end reads in the place of a function, if it does."""
    found = next(filter(None, (look(function) for look in ops.polyfills)), None)
    code = getattr(found, "__code__", None)
    if code is None:
        return None
    file, line = code.co_filename, code.co_firstlineno
    text = f"{name}: no rule; Python that stands for it is read ({file}:{line})"
    return Description(name, "", file, line, text)


def _without_rule(name: str, function: Any) -> str:
    code = getattr(function, "__code__", None)
    if code is not None:
        return f"{name}: no rule; its own code is read ({code.co_filename}:{code.co_firstlineno})"
    ways = textwrap.indent(WAYS_OUT.format(name=name), "  ")
    return f"{name}: no rule, and it is not written in Python\n{ways}"


def _paragraph(name: str, rule: Rule) -> str:
    whose = "built in" if rule.built_in else "yours"
    head = f"{name}: {_FORMS[rule.form]} ({whose}, {rule.file}:{rule.line})"
    source = statement_at(rule.file, rule.line)
    return f"{head}\n\n{textwrap.indent(source, '    ')}" if source else head


def statement_at(file: str, line: int) -> str:
    """The statement of a file that covers a line, decorators included; "" if it cannot be read."""
    lines = linecache.getlines(file)
    try:
        tree = ast.parse("".join(lines))
    except (SyntaxError, ValueError):
        return ""
    best: tuple[int, int] | None = None
    for node in ast.walk(tree):
        if isinstance(node, ast.stmt):
            start, end = _extent(node)
            if start <= line <= end and (best is None or end - start < best[1] - best[0]):
                if _is_whole(node):
                    best = (start, end)
    if best is None:
        return ""
    return textwrap.dedent("".join(lines[best[0] - 1 : best[1]])).rstrip()


def _extent(node: ast.stmt) -> tuple[int, int]:
    decorators = getattr(node, "decorator_list", [])
    start = min([node.lineno, *(d.lineno for d in decorators)])
    return start, node.end_lineno or node.lineno


def _is_whole(node: ast.stmt) -> bool:
    """Simple statements and decorated functions are rows; what is inside of them is not."""
    return isinstance(node, (ast.Expr, ast.Assign)) or bool(getattr(node, "decorator_list", []))
