"""The public verbs: thin layers over `engine`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..compile import calling, engine
from ..compile.derived import Derived
from ..compile.wanted import Verb
from ..errors import BadArgument
from ..ir.graph import Function
from ..passes.blocks.tidy import tidy
from .derivative import Derivative, P, T
from .presenting import AtUsersFrames
from .texts import Source

Argnums = int | str | Sequence[int | str]
"""What says which arguments to differentiate with respect to: places, or names."""


def checked_tier(tier: str | None) -> str:
    """The tier that a user has asked for.

    Raises:
        BadArgument: there is none of that name.
    """
    if tier not in (None, "static", "recorded"):
        raise BadArgument(
            f"`tier` must be 'static' or 'recorded', not {tier!r}",
            "'static' reads the source, 'recorded' records a run; leave it out to have what fits.",
        )
    return tier or ""


# --- at one point -------------------------------------------------------------------------


def gradient(f: Callable[..., Any], *args: Any, **kwargs: Any) -> tuple[Any, ...]:
    """The gradients of a scalar function, one per positional argument.

    Args:
        f: a function with one real number as its result.
        *args: the point; numbers, arrays, and containers or objects that hold them.
        **kwargs: passed on; not differentiated.

    Returns:
        A tuple with a gradient for each positional argument, each like its argument. That is a float for a
        number, an array of the same shape and dtype for an array, the same structure for a
        container, None where there is nothing to differentiate.

    Raises:
        NotScalar: `f` returned anything but one real number.
        UnsupportedSyntax, NoRule, NoSource: `f` cannot be differentiated; says where and why.

    >>> import wengert as wg
    >>> wg.gradient(lambda x, y: x * y + x, 2.0, 3.0)
    (4.0, 2.0)
    """
    return Derivative(f, Verb("grad"))(*args, **kwargs)


# --- from a function to a function --------------------------------------------------------


def argnums_of(argnums: Argnums, function: Any) -> tuple[tuple[int, ...], bool, bool]:
    """`argnums` as places, whether it was a single one, and whether by name."""
    if type(argnums) is int:
        return (argnums,), True, False
    from .argnums import chosen

    return chosen(argnums, function)


def verb_of(name: str, f: Any, argnums: Argnums, tier: str | None, **more: Any) -> Verb:
    """What derives by some arguments, by a tier."""
    chosen, single, by_name = argnums_of(argnums, f)
    return Verb(name, chosen, single, by_name=by_name, tier=checked_tier(tier), **more)


def grad(
    f: Callable[P, Any], argnums: Argnums = 0, has_aux: bool = False, *, tier: str | None = None
) -> Derivative[P, Any]:
    """The gradient function of a scalar function.

    Args:
        f: a function with one real number as its result (with `has_aux`, a pair of such a number
            and anything else).
        argnums: which positional arguments to differentiate with respect to, by place or by name; a tuple
            gives a tuple. What is named may be passed by keyword, or left to its default.
        has_aux: whether `f` returns `(value, auxiliary data)`.
        tier: "static" to read the source or be refused, "recorded" to record a run; if left out, the source
            is read, and a run recorded where that is refused.

    Returns:
        A function of the same arguments that gives the gradient, with `has_aux` the pair
        `(gradient, auxiliary data)`. It has `.source`, `.save(path)` and `.specialize(*args)`.

    >>> import wengert as wg
    >>> wg.grad(lambda x: 3 * x * x + 2 * x + 1)(1.0)
    8.0
    >>> wg.grad(lambda x, rate: x * rate, "rate")(2.0, rate=5.0)
    2.0
    """
    return Derivative(f, verb_of("grad", f, argnums, tier, has_aux=has_aux))


def value_and_grad(
    f: Callable[P, T], argnums: Argnums = 0, has_aux: bool = False, *, tier: str | None = None
) -> Derivative[P, tuple[T, Any]]:
    """Like `grad`, but the function it gives returns `(value, gradient)`.

    With `has_aux` it returns `((value, auxiliary data), gradient)`.

    >>> import wengert as wg
    >>> wg.value_and_grad(lambda x: x ** 3)(2.0)
    (8.0, 12.0)
    """
    return Derivative(f, verb_of("value_and_grad", f, argnums, tier, has_aux=has_aux))


def derivative(
    f: Callable[P, Any], order: int = 1, *, tier: str | None = None
) -> Derivative[P, Any]:
    """The derivative of a function of one number, f'; `order=2` gives f''.

    Args:
        f: a function of one number; its result may be anything made of numbers and arrays.
        order: how many times to differentiate.
        tier: as of `grad`.

    >>> import wengert as wg
    >>> wg.derivative(lambda x: x ** 2)(3)
    6.0
    """
    if type(order) is not int or order < 1:
        raise BadArgument(
            f"`order` must be 1, 2, 3 …, not {order!r}", "`order=1` gives f', `order=2` gives f''."
        )
    verb = Verb("derivative", (0,), True, order=order, tier=checked_tier(tier))
    return Derivative(f, verb)


def hvp(
    f: Callable[..., Any], argnums: int | str = 0, *, tier: str | None = None
) -> Derivative[..., Any]:
    """The Hessian–vector product of a scalar function; no Hessian is formed.

    Args:
        f: a function with one real number as its result.
        argnums: the positional argument to differentiate with respect to, by place or by name.
        tier: as of `grad`.

    Returns:
        A function `hvp(*args, v)` of the arguments of `f` and then a vector like argument `argnums`;
        it gives the product of the Hessian with it (Pearlmutter, 1994).

    >>> import wengert as wg
    >>> wg.hvp(lambda x: x ** 3)(2.0, 1.0)
    12.0
    """
    verb = verb_of("hvp", f, argnums, tier)
    if not verb.single:
        raise BadArgument(
            f"`argnums` of `hvp` must be one integer or name, not {argnums!r}",
            "Take the arguments together: differentiate a function of one tuple.",
        )
    return Derivative(f, verb)


# --- reading ------------------------------------------------------------------------------


def _call(f: Callable[..., Any], args: Sequence[Any]) -> calling.Call:
    calling.must_be_function(f)
    return calling.call_of(f, args, {}) if args else calling.general_call(f)


def code_ir(f: Callable[..., Any], *args: Any) -> str:
    """The function as wengert reads it: its equations in SSA form.

    With example arguments it is specialised to their kinds, without them it is general.
    """
    return Source(str(ir_of(f, *args)))


def ir_of(f: Callable[..., Any], *args: Any) -> Function:
    """The function as wengert reads it."""
    with AtUsersFrames():
        call = _call(f, args)
        return tidy(engine.program_of(f, args) if args else engine.read(call).function)


def _to_read(verb: Verb, f: Callable[..., Any], args: Sequence[Any]) -> Derived:
    with AtUsersFrames():
        call = _call(f, args)
        derived = engine.derive_to_keep(verb, f, args, {})[0] if args else engine.derive(verb, call)
    given = {} if args else calling.defaults_of(f)
    seed = {"y_bar": 1.0} if verb.name == "adjoint" else {}
    return derived.with_defaults({**seed, **given, **calling.captured_literals(f)})


def adjoint_of(f: Callable[..., Any], *args: Any) -> Derived:
    """The forward and reverse sweep of a function, to be read."""
    return _to_read(Verb("adjoint"), f, args)


def tangent_of(f: Callable[..., Any], *args: Any) -> Derived:
    """The pushforward of a function, to be read."""
    return _to_read(Verb("pushforward"), f, args)


def code_adjoint(f: Callable[..., Any], *args: Any) -> str:
    """The adjoint of a function as runnable Python: its forward and its reverse sweep.

    With example arguments it is specialised to their kinds, without them it is general.
    """
    return Source(adjoint_of(f, *args).source)


def code_tangent(f: Callable[..., Any], *args: Any) -> str:
    """The pushforward of a function as runnable Python: values and tangents side by side."""
    return Source(tangent_of(f, *args).source)
