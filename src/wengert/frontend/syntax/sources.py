"""Finding the source of a Python function: its syntax tree, with lines and columns of its file."""

from __future__ import annotations

import ast
import linecache
from collections.abc import Iterator, Sequence
from functools import lru_cache
from types import CodeType, FunctionType

from ...errors import NoSource
from ...ir.records import value_record
from .cells import typed
from .compiled import is_compiled_as_it_stands, is_compiled_from
from .private_names import with_private_names

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda


@value_record
class Source:
    """A function's syntax tree and the file it stands in."""

    node: FunctionNode
    file: str


def source_of(function: FunctionType) -> Source:
    """The syntax tree of a function.

    Raises:
        NoSource: where the text of the function cannot be found.
    """
    file = _file_of(function)
    found = _found(function)
    if not found:
        linecache.checkcache(file)
        found = _found(function)
    if found:
        # of a lambda inside a lambda both may fit: the instructions belong to the tightest
        return Source(min(found, key=_extent), file)
    raise _refusal(function)


def _file_of(function: FunctionType) -> str:
    """The file of a function; Python has modules of its own compiled in, whose files are there all the same."""
    if cell := typed(function.__code__):
        return cell.file
    name = function.__code__.co_filename
    return function.__globals__.get("__file__") or name if name.startswith("<frozen ") else name


def _code_of(function: FunctionType) -> CodeType:
    """The code of a function, as it stands in its file."""
    cell = typed(function.__code__)
    return cell.code if cell else function.__code__


def _refusal(function: FunctionType) -> NoSource:
    code, lines = function.__code__, _lines(function)
    if not lines or code.co_filename.startswith("<"):  # another text may have taken that name
        return NoSource(
            f"the source of {function.__qualname__} cannot be found: "
            f"it was defined in {code.co_filename!r}, which is not a file",
            f"wengert reads the source of what it differentiates. Put {function.__name__} into a file, or\n"
            f"write its rule: `@wg.rrule({function.__name__})`.",
        )
    try:
        _parsed("".join(lines), code.co_filename)
    except SyntaxError as error:
        return NoSource(
            f"{code.co_filename}:{error.lineno} cannot be parsed: {error.msg}",
            "The file has probably changed since it was imported; correct it.",
        )
    return NoSource(
        f"the source of {function.__qualname__} is not where Python says it is "
        f"({code.co_filename}:{code.co_firstlineno})",
        "The file has probably changed since it was imported: start Python anew, or reload the module.",
    )


def _found(function: FunctionType) -> list[FunctionNode]:
    """What may be the source of a function, in its file as it was when it was last looked at."""
    code, strict = _code_of(function), is_compiled_as_it_stands(function)
    if not strict:
        linecache.checkcache(_file_of(function))
    for text in _texts(_lines(function), code):
        nodes = _fitting(text, code)
        if nodes and (not strict or is_compiled_from(code, text)):
            return nodes
    return []


def _lines(function: FunctionType) -> tuple[str, ...]:
    return tuple(linecache.getlines(_file_of(function), function.__globals__))


def around(function: FunctionType, node: ast.AST) -> list[FunctionNode]:
    """The functions that a function's definition stands in, the outermost first."""
    code = _code_of(function)
    for text in _texts(_lines(function), code):
        try:
            tree = _parsed(text, code.co_filename)
        except SyntaxError:
            continue
        path = _path_to(tree, node)
        if path is not None:
            return [each for each in path if isinstance(each, FunctionNode)]
    return []


def _path_to(tree: ast.AST, node: ast.AST) -> list[ast.AST] | None:
    """The nodes around a node, from the root of its tree on; None if it is not in it."""
    for child in children(tree):
        if child is node:
            return [tree]
        if (inner := _path_to(child, node)) is not None:
            return [tree, *inner]
    return None


def _texts(lines: tuple[str, ...], code: CodeType) -> Iterator[str]:
    """Where a function may be found: in the outermost statement that it stands in, or else in the file."""
    start, stop = _statement_around(lines, code)
    yield "".join((*_only_imports(lines)[:start], *lines[start:stop]))
    yield "".join(lines)


@lru_cache(maxsize=64)
def _only_imports(lines: tuple[str, ...]) -> Sequence[str]:
    """The lines of a module's imports; the others empty, which count and cost nothing.

    Python compiles `np.sin(x)` in another way where the module imports `np`.
    """
    found: list[str] = []
    inside = 0
    for line in lines:
        if inside or line.startswith(("import ", "from ")):
            inside = max(0, inside + line.count("(") - line.count(")"))
            found.append(line)
        else:
            found.append("\n")
    return found


def _statement_around(lines: tuple[str, ...], code: CodeType) -> tuple[int, int]:
    """Which lines make up the outermost statement that a function stands in.

    That is a guess by indentation, and saves the parsing of a whole file for a function. Where it
    is wrong (in the middle of a string, or before an `else`), nothing is found between these lines.
    """
    if not lines:
        return 0, 0
    start = min(code.co_firstlineno, len(lines)) - 1
    while start > 0 and not _begins_statement(lines[start]):
        start -= 1
    decorated, stop = lines[start].startswith("@"), start + 1
    while stop < len(lines) and (decorated or not _begins_statement(lines[stop])):
        if _begins_statement(lines[stop]):
            decorated = lines[stop].startswith("@")
        stop += 1
    return start, stop


def _begins_statement(line: str) -> bool:
    return line[:1] not in " \t\f\r\n#)]}"


def _fitting(text: str, code: CodeType) -> list[FunctionNode]:
    """The functions in a text that a code object may be of."""
    try:
        tree = _parsed(text, code.co_filename)
    except SyntaxError:
        return []
    return [node for node in _functions_at(tree, code.co_firstlineno) if _fits(node, code)]


@lru_cache(maxsize=1024)
def _parsed(text: str, file: str) -> ast.Module:
    """A file, or part of it; the same tree for the same text."""
    return with_private_names(ast.parse(text, file), text)


def _functions_at(node: ast.AST, line: int) -> Iterator[FunctionNode]:
    """The functions inside a syntax node that begin in a line."""
    if isinstance(node, (ast.Lambda, ast.FunctionDef, ast.AsyncFunctionDef)):
        if _first_line(node) == line:
            yield node
    for child in children(node):
        if _covers_line(child, line):
            yield from _functions_at(child, line)


def _covers_line(node: ast.AST, line: int) -> bool:
    decorators: list[ast.expr] = getattr(node, "decorator_list", [])
    start: int = decorators[0].lineno if decorators else getattr(node, "lineno", line)
    return start <= line <= (getattr(node, "end_lineno", None) or line)


def children(node: ast.AST) -> list[ast.AST]:
    """The nodes directly inside a syntax node: what `ast.iter_child_nodes` gives, in half the time."""
    found: list[ast.AST] = []
    for name in node._fields:
        value = getattr(node, name, None)
        if isinstance(value, ast.AST):
            found.append(value)
        elif type(value) is list:
            found += [each for each in value if isinstance(each, ast.AST)]
    return found


def _first_line(node: FunctionNode) -> int:
    if not isinstance(node, ast.Lambda) and node.decorator_list:
        return node.decorator_list[0].lineno
    return node.lineno


def _fits(node: FunctionNode, code: CodeType) -> bool:
    if parameter_names(node.args) != list(code.co_varnames[: _parameter_count(code)]):
        return False
    if not isinstance(node, ast.Lambda):
        return node.name == code.co_name
    return code.co_name == "<lambda>" and _covers(node.body, code)


def _parameter_count(code: CodeType) -> int:
    flags = bool(code.co_flags & 0x04) + bool(code.co_flags & 0x08)
    return code.co_argcount + code.co_kwonlyargcount + flags


def parameter_names(args: ast.arguments) -> list[str]:
    """Every parameter's name in the order of `co_varnames`."""
    names = [a.arg for a in (*args.posonlyargs, *args.args, *args.kwonlyargs)]
    return names + [a.arg for a in (args.vararg, args.kwarg) if a is not None]


def _covers(body: ast.expr, code: CodeType) -> bool:
    """Whether the instructions of a code object lie inside this expression."""
    instructions = [
        ((line, column), (end_line, end_column))
        for line, end_line, column, end_column in code.co_positions()
        if line is not None and end_line is not None and column is not None and end_column
    ]
    if not instructions:  # Python 3.12 keeps no columns for a lambda that returns a constant
        return _literal(body) in code.co_consts
    (start, _), end = min(instructions), max(end for _, end in instructions)
    return start >= (body.lineno, body.col_offset) and end <= _end(body)


def _literal(body: ast.expr) -> object:
    """The value of a literal, `-1` included; an object that nothing equals for anything else."""
    try:
        return ast.literal_eval(body)
    except ValueError:
        return object()


def _end(node: ast.expr) -> tuple[int, int]:
    return node.end_lineno or node.lineno, node.end_col_offset or node.col_offset


def _extent(node: FunctionNode) -> tuple[int, int]:
    lines = (node.end_lineno or node.lineno) - node.lineno
    return lines, (node.end_col_offset or 0) - node.col_offset if lines == 0 else 0
