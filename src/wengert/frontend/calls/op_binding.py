"""How the arguments of a call are bound to the operands and options of an op."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence

from ...ir.graph import Const
from ...ir.op import Op
from ...ops import structure as st
from ...ops.registry import named
from ...ops.signatures import Signature
from ...rules.registry import rule_for
from ..domain.arguments import is_star
from ..domain.values import Items, Value, tuple_of
from ..machine.interpreter import Interpreter
from ..polyfills import ordinary_options


def spread(
    it: Interpreter, op: Op, namespace: str, signature: Signature, args: Sequence[Value]
) -> Sequence[Value]:
    """The arguments with `*items` taken apart, where the op says how many items there are."""
    count = len(signature.operands)
    k = next((k for k, arg in enumerate(args) if is_star(arg)), None)
    if k is None or (signature.rest and count and k >= count):
        return args
    required = signature.required
    if op.elementwise and namespace == "np" and not count:
        count = required = 2  # `math.hypot` takes any number of operands, NumPy's two
    missing = count - (len(args) - 1)
    if not 0 < count == required or missing < 0 or any(map(is_star, args[k + 1 :])):
        raise it.unsupported(
            f"`*` in a call of {op.name} needs a sequence whose length is known when the program is "
            "read",
            "Pass the items one by one, or use a function of the whole sequence.",
        )
    starred = args[k]
    assert isinstance(starred, Items)
    items = it.emit(st.unpackable, it.atom(starred.values[0]), Const(missing), Const(-1))
    return [*args[:k], *(it.getitem(items, Const(j)) for j in range(missing)), *args[k + 1 :]]


def bind(
    it: Interpreter,
    op: Op,
    signature: Signature,
    args: Sequence[Value],
    kwargs: Mapping[str, Value],
) -> tuple[list[Value], dict[str, Value]]:
    count = len(signature.operands)
    values = dict(zip(signature.operands, args, strict=False))
    extra = list(args[count:])
    options: dict[str, Value] = {}
    if signature.rest and not signature.operands:
        return list(args), _options(it, op, signature, kwargs)
    if signature.rest:
        if extra:
            options[signature.rest] = _packed(it, extra)
    else:
        if len(extra) > len(signature.options):
            raise it.unsupported(
                f"{op.name} takes at most {count + len(signature.options)} arguments",
                "Pass options by name.",
            )
        options.update(zip(signature.options, extra, strict=False))
    by_name = {name: kwargs[name] for name in signature.operands if name in kwargs}
    others = {name: value for name, value in kwargs.items() if name not in by_name}
    options.update(_options(it, op, signature, others))
    return _operands(it, op, signature, {**values, **by_name}), options


def _operands(
    it: Interpreter, op: Op, signature: Signature, given: Mapping[str, Value]
) -> list[Value]:
    """The operands in order, up to the last that was given; those left out before it are defaults."""
    last = max((k for k, name in enumerate(signature.operands) if name in given), default=-1)
    rule = None if op.spellings else rule_for(op)
    if rule is not None:  # a function of the user's, whose rows may be written for its defaults too
        from ...rules.checks import operands_needed

        last = max(last, operands_needed(rule) - 1)
    result: list[Value] = []
    for name in signature.operands[: last + 1]:
        if name not in given and name not in signature.defaults:
            raise it.unsupported(f"{op.name} is called without `{name}`", f"Pass `{name}`.")
        result.append(given[name] if name in given else Const(_default(op, signature, name)))
    return result


def _options(
    it: Interpreter, op: Op, signature: Signature, kwargs: Mapping[str, Value]
) -> dict[str, Value]:
    for name in kwargs:
        if name in signature.options or (name and name == signature.rest):
            continue
        raise it.unsupported(*ordinary_options.not_covered(name, op.name))
    return dict(kwargs)


def _default(op: Op, signature: Signature, name: str) -> object:
    if op.spellings or op.implementation is None:
        return signature.defaults[name]
    return inspect.signature(op.implementation).parameters[name].default


def _packed(it: Interpreter, extra: list[Value]) -> Value:
    """`x.reshape(2, 3)` and `x.reshape((2, 3))` mean the same."""
    if len(extra) == 1:
        (only,) = extra
        return only.values[0] if isinstance(only, Items) and is_star(only) else only
    if not any(map(is_star, extra)):
        return tuple_of(*extra)
    parts = [v.values[0] if isinstance(v, Items) and is_star(v) else tuple_of(v) for v in extra]
    joined = it.atom(parts[0])
    for part in parts[1:]:
        joined = it.emit(named("join_lists"), joined, it.atom(part))
    return joined
