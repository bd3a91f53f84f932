"""wengert at the command line: `wengert show FILE:FUNCTION`, or `python -m wengert …`."""

from __future__ import annotations

import argparse
import importlib.util
import inspect
import math
import sys
import traceback
import typing
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from . import pages_of_errors, testing
from .api import exploring, gradients
from .api.linear_maps import pullback
from .errors import BadArgument, CheckFailed, WengertError

_TEXTS = {
    "reverse": gradients.code_adjoint,
    "forward": gradients.code_tangent,
    "ir": gradients.code_ir,
}

_ARGS = """\
Arguments are Python expressions, read where the function stands: its module's names, `np` and `math` are
known. `--args 2.0 "[1.0, 0.5]" "np.linspace(0, 1, 5)"` is a number, a list and an array; what begins with a
minus is put in parentheses: `"(-1.0)"`."""


class Target(NamedTuple):
    """A function and the arguments it is looked at with."""

    function: Callable[..., Any]
    args: tuple[Any, ...]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command.

    Args:
        arguments: as in a shell, without the program's name; those of the process by default.

    Returns:
        0; 1 where a derivative is wrong or the function cannot be differentiated; 2 for wrong usage.
    """
    options = _parser().parse_args(arguments)
    try:
        options.run(options)
    except WengertError as error:
        print(error, file=sys.stderr)
        return 2 if isinstance(error, BadArgument) else 1
    except Exception as error:
        print(_of_program(error), file=sys.stderr, end="")
        return 1
    return 0


def _of_program(error: Exception) -> str:
    """The traceback of an exception of the program's own, without the frames of who runs it."""
    ours = str(Path(__file__).parent)
    frames = [
        frame
        for frame in traceback.extract_tb(error.__traceback__)
        if not frame.filename.startswith((ours, "<frozen "))
    ]
    shown = (
        ["Traceback (most recent call last):\n", *traceback.format_list(frames)] if frames else []
    )
    return "".join([*shown, *traceback.format_exception_only(error)])


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="wengert", description="Read, picture and check derivatives."
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    show = _command(commands, "show", _show, "print the derivative as Python")
    show.add_argument(
        "--mode", choices=_TEXTS, default="reverse", help="which text: reverse unless you say"
    )
    explore = _command(commands, "explore", _explore, "write a page that shows code and derivative")
    explore.add_argument(
        "-o", "--output", type=Path, metavar="PAGE", help="FUNCTION.html unless you say"
    )
    _command(commands, "check", _check, "compare the derivative with central differences")
    explain = commands.add_parser(
        "explain", help="print the page of an error", description="Explain an error."
    )
    explain.add_argument("code", metavar="CODE", help="as messages show it: `WG101`")
    explain.set_defaults(run=_explain)
    return parser


def _command(commands: Any, name: str, run: Callable[..., None], what: str) -> Any:
    parser = commands.add_parser(
        name,
        help=what,
        description=f"{what[0].upper()}{what[1:]}.",
        epilog=_ARGS,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "target", metavar="FILE:FUNCTION", help="`model.py:loss`, `model.py:Net.loss`"
    )
    parser.add_argument(
        "--args", nargs="+", default=[], metavar="EXPRESSION", help="example arguments"
    )
    parser.set_defaults(run=lambda options: run(_target(options), options))
    return parser


# --- commands -----------------------------------------------------------------------------


def _show(target: Target, options: argparse.Namespace) -> None:
    print(_TEXTS[options.mode](target.function, *target.args))


def _explore(target: Target, options: argparse.Namespace) -> None:
    page = exploring.page(target.function, *target.args)
    output = options.output or Path(f"{target.function.__name__}.html")
    output.write_text(page, encoding="utf-8")
    print(f"wrote {output}")


def _check(target: Target, options: argparse.Namespace) -> None:
    _must_fit(target)
    target = _with_defaults(target)
    value, _ = pullback(target.function, *target.args)
    try:
        testing.check_gradient(target.function, *target.args)
    except CheckFailed as failed:
        wrong = "not deterministic" not in str(failed)
        verdict = "the derivative is wrong" if wrong else "another one in the next call"
        print(f"{options.target}: value {value!r}, {verdict}")
        raise
    print(f"{options.target}: value {value!r}, derivative and central differences agree")


def _must_fit(target: Target) -> None:
    """Refuse arguments that a function does not take, as far as its signature is known."""
    try:
        signature = inspect.signature(target.function)
    except (TypeError, ValueError):
        return
    try:
        signature.bind(*target.args)
    except TypeError as error:
        name = getattr(target.function, "__name__", "the function")
        given = "these arguments" if target.args else "no arguments"
        ways = f"Give `--args`.\n{_ARGS}" if target.args else f"{_proposal(signature)}\n{_ARGS}"
        raise BadArgument(f"{name} cannot be called with {given}: {error}", ways) from None


def _with_defaults(target: Target) -> Target:
    """The defaults as arguments, where none are given: what is not an argument is not checked."""
    if target.args:
        return target
    with suppress(TypeError, ValueError):
        parameters = inspect.signature(target.function).parameters.values()
        given = [p.default for p in parameters if p.kind in _POSITIONAL]
        return target._replace(args=tuple(given))
    return target


_EXAMPLES = {
    float: "1.5",
    int: "2",
    complex: "1.0+0.5j",
    bool: "True",
    str: '"text"',
    np.ndarray: '"np.ones(3)"',
    list: '"[1.0, 2.0]"',
    tuple: '"(1.0, 2.0)"',
    dict: "\"{'a': 1.0}\"",
}


def _proposal(signature: inspect.Signature) -> str:
    """The arguments that annotations and defaults speak of, as they are typed."""
    proposed = [_example(p) for p in signature.parameters.values() if p.kind in _POSITIONAL]
    return f"Give `--args`. By annotations and defaults: `--args {' '.join(proposed)}`."


_POSITIONAL = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


def _example(parameter: inspect.Parameter) -> str:
    if parameter.default is not parameter.empty:
        shown = repr(parameter.default)
        return shown if shown.replace(".", "").isalnum() else f'"({shown})"'
    wanted = parameter.annotation
    if isinstance(wanted, str):
        # the class that is named first: a list of floats is a list
        named = {
            wanted.find(cls.__name__): text
            for cls, text in _EXAMPLES.items()
            if cls.__name__ in wanted
        }
        return named[min(named)] if named else "1.5"
    wanted = typing.get_origin(wanted) or wanted
    return _EXAMPLES.get(wanted, "1.5")


def _explain(options: argparse.Namespace) -> None:
    print(pages_of_errors.page_of(options.code), end="")


# --- the function and its arguments -------------------------------------------------------


def _target(options: argparse.Namespace) -> Target:
    file, colon, name = options.target.rpartition(":")
    if not colon or not file or not name:
        raise BadArgument(
            f"{options.target!r} does not name a function",
            "Write the file, a colon and the function: `model.py:loss`.",
        )
    module = _module(Path(file))
    found: Any = module
    for part in name.split("."):
        if not hasattr(found, part):
            raise BadArgument(
                f"{file} has no {name!r}",
                f"It has {', '.join(_functions(module)) or 'no function'}.",
            )
        found = getattr(found, part)
    known = {"np": np, "math": math} | vars(module)
    return Target(found, tuple(_evaluated(text, known) for text in options.args))


def _module(path: Path) -> Any:
    """The module that a file defines, as `python FILE` would find what it imports."""
    if not path.is_file():
        raise BadArgument(f"there is no file {str(path)!r}", "Give the path of a Python file.")
    sys.path.insert(0, str(path.resolve().parent))
    specification = importlib.util.spec_from_file_location(path.stem, path)
    if specification is None or specification.loader is None:
        raise BadArgument(f"{str(path)!r} is no Python file", "Its name has to end in `.py`.")
    module = importlib.util.module_from_spec(specification)
    sys.modules[path.stem] = module
    specification.loader.exec_module(module)
    return module


def _functions(module: Any) -> list[str]:
    return [
        name
        for name, value in vars(module).items()
        if callable(value) and getattr(value, "__module__", None) == module.__name__
    ]


def _evaluated(text: str, known: dict[str, Any]) -> Any:
    try:
        return eval(text, dict(known))
    except Exception as error:
        raise BadArgument(
            f"the argument {text!r} is no Python expression: {type(error).__name__}: {error}", _ARGS
        ) from None


if __name__ == "__main__":
    sys.exit(main())
