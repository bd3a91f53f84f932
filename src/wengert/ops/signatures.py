"""What a call of an op means: which arguments are operands and which are options."""

from __future__ import annotations

import ast
import functools
import inspect
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, TypeVar

from ..errors import BadArgument
from ..ir.callers import calling_span
from ..ir.op import Op
from ..ir.records import value_record

T = TypeVar("T")


@value_record
class Signature:
    """Operands, then options; `rest` names what takes any further positional arguments."""

    operands: tuple[str, ...]
    options: tuple[str, ...]
    rest: str = ""
    defaults: Mapping[str, object] = MappingProxyType({})
    asked: tuple[str, ...] = ()
    """The options that have no default."""

    @property
    def required(self) -> int:
        """How many operands have no default."""
        return len(self.operands) - len(self.defaults)


@functools.lru_cache(maxsize=1024)
def parse_signature(text: str) -> Signature:
    """`"x, *, axis=None"` → operand x, option axis; `"x, *shape"` → further positionals are `shape`."""
    operands: list[str] = []
    options: list[str] = []
    defaults: dict[str, object] = {}
    rest = ""
    asked: tuple[str, ...] = ()
    after_star = False
    for part in filter(None, (p.strip() for p in text.split(","))):
        name, _, default = part.partition("=")
        if name == "/":
            continue
        if name.startswith("*"):
            after_star = True
            rest = name[1:]
        elif after_star:
            options.append(name)
            asked += () if default else (name,)
        else:
            operands.append(name)
            if default:
                defaults[name] = ast.literal_eval(default)
    return Signature(tuple(operands), tuple(options), rest, defaults, asked)


def with_own_names(op: Op, keywords: Mapping[str, T]) -> dict[str, T]:
    """Keywords, of two names that NumPy has for one option the one that the op has."""
    return {_OTHER_NAMES.get((op.name, name), name): x for name, x in keywords.items()}


_OTHER_NAMES = {("clip", "min"): "a_min", ("clip", "max"): "a_max"}


def bind(
    op: Op, args: Sequence[Any], keywords: Mapping[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The operands and options of a call on run-time values; options that are not given stay out.

    Raises:
        BadArgument: an operand is missing, or the op has no such option.
    """
    if not op.spellings and op.implementation is not None:
        return _bound_to(op.implementation, args, keywords)
    signature = parse_signature(op.signature)
    count = len(signature.operands)
    if not keywords and signature.required <= len(args) <= count:
        return tuple(args), {}
    keywords = with_own_names(op, keywords)
    if signature.rest and not count:
        return tuple(args), dict(keywords)
    given = dict(zip(signature.operands, args, strict=False))
    options = {k: v for k, v in keywords.items() if k not in signature.operands and _is_given(v)}
    given.update({k: v for k, v in keywords.items() if k in signature.operands})
    extra = tuple(args[count:])
    if signature.rest and extra:
        if isinstance(extra[0], (tuple, list)):
            # what follows are options: `np.reshape(x, (2, 3), "F")`
            options.update(zip(signature.options, extra[1:], strict=False))
            extra = extra[:1]
        options[signature.rest] = extra[0] if len(extra) == 1 else extra
    elif len(extra) > len(signature.options):
        raise _misused(op, f"{op.name} takes at most {count + len(signature.options)} arguments")
    else:
        options.update(zip(signature.options, extra, strict=False))
    for name in options:
        if name not in (*signature.options, signature.rest):
            raise _misused(op, f"the option `{name}` of {op.name} is not covered")
    last = max((k for k, name in enumerate(signature.operands) if name in given), default=-1)
    operands: list[Any] = []
    for name in signature.operands[: max(last + 1, signature.required)]:
        if name not in given and name not in signature.defaults:
            raise _misused(op, f"{op.name} is called without `{name}`")
        operands.append(given.get(name, signature.defaults.get(name)))
    return tuple(operands), options


def _bound_to(
    function: Callable[..., Any], args: Sequence[Any], keywords: Mapping[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """What a function is given by position or could be, and what by keyword only.

    Raises:
        BadArgument: it cannot be called like this.
    """
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):  # one that is written in C may not say
        return tuple(args), dict(keywords)
    try:
        bound = signature.bind(*args, **keywords)
    except TypeError as error:
        name = getattr(function, "__name__", repr(function))
        message = f"{name} cannot be called like this: {error}"
        raise BadArgument(message, f"It is {name}{signature}.", calling_span()) from None
    named = [p.name for p in signature.parameters.values() if p.kind is p.POSITIONAL_OR_KEYWORD]
    last = max((k for k, name in enumerate(named) if name in bound.arguments), default=-1)
    for name in named[:last]:
        bound.arguments.setdefault(name, signature.parameters[name].default)
    return bound.args, bound.kwargs


def _misused(op: Op, message: str) -> BadArgument:
    return BadArgument(message, f"It is {op.name}({op.signature}).", calling_span())


def _is_given(value: Any) -> bool:
    """Whether an option is more than NumPy's mark for one that is not given."""
    return type(value).__name__ != "_NoValueType"
