"""What rules written by hand, and hooks, give when generated code runs: checked, and brought into form."""

from __future__ import annotations

from typing import Any

import numpy as np

from .cotangents import zeros
from .refusals import coded


def _wrong_rule(message: str) -> ValueError:
    error = ValueError(message)
    return coded(error, "WG301")


def rule_pair(returned: Any, rule: str = "the rule") -> Any:
    """What a hand-written rule returned, which must be a result and a pullback."""
    if isinstance(returned, tuple) and len(returned) == 2 and callable(returned[1]):
        return returned
    raise _wrong_rule(
        f"{rule} returned a value of type {type(returned).__name__}, not a pair (result, pullback)\n"
        "An rrule returns the result of the function and a function that gives the cotangents."
    )


def rule_cotangents(returned: Any, *operands: Any, rule: str = "the rule") -> Any:
    """What the pullback of a hand-written rule returned, as a list of one cotangent per operand.

    Raises ValueError if their number, a type or a shape is wrong.
    """
    cotangents = list(returned) if isinstance(returned, tuple) else [returned]
    if not operands:
        return cotangents
    if len(cotangents) != len(operands):
        raise _wrong_rule(
            f"the pullback of {rule} returned {len(cotangents)} "
            f"cotangent{'s' * (len(cotangents) != 1)} for {len(operands)} "
            f"argument{'s' * (len(operands) != 1)}\n"
            "It returns a tuple with one cotangent for each positional argument, None for zero; a\n"
            "bare cotangent if there is one argument."
        )
    return [
        _of_rule(x_bar, x, f"the pullback of {rule} returned a cotangent", f"argument {k}")
        for k, (x_bar, x) in enumerate(zip(cotangents, operands, strict=True))
    ]


def rule_tangent(returned: Any, rule: str = "the rule") -> Any:
    """What a hand-written pushforward returned: a result and its tangent.

    Raises ValueError if it is no pair, or if the type or the shape of the tangent is wrong.
    """
    if not isinstance(returned, tuple) or len(returned) != 2:
        raise _wrong_rule(
            f"{rule} returned a value of type {type(returned).__name__}, not a pair (result, tangent)\n"
            "An frule returns the result of the function and the tangent of the result."
        )
    y, y_dot = returned
    return y, _of_rule(y_dot, y, f"{rule} returned a tangent", "the result")


def cotangents_by_rule(
    rule: Any, name: str, y_bar: Any, /, *operands: Any, **options: Any
) -> list[Any]:
    """The cotangents of operands, by a hand-written rule that is run for them."""
    pullback = rule_pair(rule(*operands, **options), name)[1]
    return rule_cotangents(pullback(y_bar), *operands, rule=name)


def tangent_by_rule(rule: Any, name: str, primals: Any, tangents: Any, /, **options: Any) -> Any:
    """The tangent of a result, by a hand-written rule that is run for it."""
    return rule_tangent(rule(primals, tangents, **options), name)[1]


def partial_of_row(partial: Any, like: Any, row: str) -> Any:
    """A partial that a row of a rule gave: it has the shape of the result, or is spread over that."""
    shape, given = np.shape(like), np.shape(partial)
    if np.asarray(partial).dtype.kind not in "biufc":
        raise _wrong_rule(f"{row} gave a partial of type {type(partial).__name__}")
    spread = len(given) <= len(shape) and all(
        n in (1, m) for n, m in zip(given[::-1], shape[::-1], strict=False)
    )
    if not spread:
        raise _wrong_rule(
            f"{row} gave a partial of shape {given} for a result of shape {shape}\n"
            "A partial has the shape of the result, or is one number."
        )
    return partial if given in ((), shape) else np.broadcast_to(partial, shape)


def given_by_row(found: Any, like: Any, returned: str, whose: str) -> Any:
    """A cotangent or tangent that a row of a rule, or a hook, gave for a value."""
    return _of_rule(found, like, returned, whose)


def given_by_hook(found: Any, like: Any) -> Any:
    """The cotangent that a hook gave for a value."""
    if found is None and zeros(like) is not None:
        raise _wrong_rule(
            "a hook gave None for the value that is hooked\n"
            "It returns the cotangent, changed or as it is: `lambda x_bar: x_bar`."
        )
    return _of_rule(found, like, "a hook gave a cotangent", "value that is hooked")


def _of_rule(found: Any, x: Any, returned: str, whose: str) -> Any:
    """A cotangent or tangent that a hand-written rule gave for `x`; None stands for zeros."""
    if found is None:
        return zeros(x)
    if isinstance(x, (dict, list, tuple)):
        return _of_rule_in_parts(found, x, returned, whose)
    if not isinstance(x, (np.ndarray, float, int, complex, np.number)):
        return found
    array, belongs = np.asarray(found), whose.split(maxsplit=1)[0].replace("the", "result")
    hint = f"A {returned.rsplit(maxsplit=1)[-1]} has the shape of the {belongs} it belongs to."
    if array.dtype.kind not in "biufc":
        raise _wrong_rule(f"{returned} of type {type(found).__name__} for {whose}\n{hint}")
    if array.shape != np.shape(x):
        shapes = f"of shape {array.shape} for {whose}, whose shape is {np.shape(x)}"
        raise _wrong_rule(f"{returned} {shapes}\n{hint}")
    if array.dtype.kind == "c" and not np.iscomplexobj(x):
        if belongs == "result":
            raise _wrong_rule(f"{returned} that is complex for {whose}, which is real\n{hint}")
        found = np.real(found)
    if not isinstance(x, np.ndarray):
        return found
    return np.asarray(found, x.dtype if x.dtype.kind in "fc" else None)


def _of_rule_in_parts(found: Any, x: Any, returned: str, whose: str) -> Any:
    """The same for a container; only entries without a derivative may be left out of a dictionary."""
    alike = isinstance(found, dict) if isinstance(x, dict) else isinstance(found, (list, tuple))
    keys = set(x.keys() if isinstance(x, dict) else range(len(x)))
    given = set((found.keys() if isinstance(x, dict) else range(len(found))) if alike else ())
    if not alike or given - keys or any(zeros(x[key]) is not None for key in keys - given):
        kind = returned.rsplit(maxsplit=1)[-1]
        raise _wrong_rule(
            f"{returned} that does not fit {whose}, a {type(x).__name__} of {len(x)}\n"
            f"A {kind} has the structure of what it belongs to."
        )
    parts = {
        key: _of_rule(found[key] if key in given else None, x[key], returned, f"{whose}[{key!r}]")
        for key in (x if isinstance(x, dict) else range(len(x)))
    }
    if isinstance(x, dict):
        return parts
    return (
        tuple.__new__(type(x), parts.values()) if hasattr(x, "_fields") else type(x)(parts.values())
    )


def as_returned(cotangents: Any, returned: Any) -> Any:
    """A cotangent of what a pullback returned: bare if it returned a bare value."""
    return cotangents if isinstance(returned, tuple) else cotangents[0]
