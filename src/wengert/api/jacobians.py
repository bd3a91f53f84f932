"""Jacobians and Hessians: the public functions, over `matrices`."""

from __future__ import annotations

import copy
from collections.abc import Callable
from contextlib import suppress
from importlib import import_module
from typing import Any, overload

from ..compile import calling
from ..compile.tangents import is_not_a_number
from ..compile.wanted import Verb, check_argnums
from ..errors import BadArgument, NotScalar, WengertError
from ..ir.records import replace
from . import matrices
from .derivative import Derivative, P
from .gradients import Argnums, verb_of
from .texts import Text


@overload
def jacobian(
    f: Callable[..., Any], argnums: Argnums = 0, mode: str = "auto", *, tier: str | None = None
) -> Jacobian: ...
@overload
def jacobian(
    f: Callable[..., Any],
    argnums: Argnums = 0,
    mode: str = "auto",
    *,
    sparsity: Any,
    tier: str | None = None,
) -> Any: ...
def jacobian(
    f: Callable[..., Any],
    argnums: Argnums = 0,
    mode: str = "auto",
    sparsity: Any = None,
    *,
    tier: str | None = None,
) -> Any:
    """The Jacobian function of a function of arrays.

    Args:
        f: a function whose result is a number, an array, a list or tuple of numbers, or a dictionary, list,
            tuple, namedtuple or dataclass of such results.
        argnums: which positional arguments to differentiate with respect to, by place or by name; a tuple
            gives a tuple.
        mode: "forward" (one run of the function, and one pushforward per input), "reverse" (one
            pullback per output), or "auto", the cheaper of the two.
        sparsity: where entries may be: a matrix of the numbers of the result by those of the argument (dense, or
            of `scipy.sparse`), or "detect", which finds them at the first call for one run per number. Then one
            sweep serves all columns that have no row in common, and the result is a `scipy.sparse.csr_array`.
            Every call checks the matrix against a product with a random vector.
        tier: as of `grad`.

    Returns:
        A function of the same arguments; its result has the shape of `f`'s result followed by the
        shape of the argument. Where one of them has parts, so has the Jacobian: it is indexed by part of the
        result, then by part of the argument. Its method `explain(*args)` says which mode is taken, and why.

    >>> import numpy as np, wengert as wg
    >>> wg.jacobian(lambda x: np.array([x[0] * x[1], x[1]]))(np.array([2.0, 3.0]))
    array([[3., 2.],
           [0., 1.]])
    >>> differences = wg.jacobian(lambda x: x[1:] ** 2 - x[:-1], sparsity="detect")
    >>> differences.explain(np.ones(100))
    '198 nonzeros of 99 × 100, by 2 pushforwards'
    """
    if mode not in matrices.MODES:
        raise BadArgument(
            f"`mode` must be 'auto', 'forward' or 'reverse', not {mode!r}",
            "'auto' takes the cheaper of the two.",
        )
    verb = verb_of("written", f, argnums, tier, written=matrices.MODES[mode])
    return Jacobian(f, verb) if sparsity is None else _sparse(f, verb, mode, sparsity)


def _sparse(f: Callable[..., Any], verb: Verb, mode: str, sparsity: Any) -> Any:
    if not verb.single or verb.argnums is None:
        raise BadArgument(
            f"`sparsity` is the pattern of one argument's Jacobian, but argnums={verb.argnums!r}",
            "Take one Jacobian for each argument.",
        )
    if isinstance(sparsity, str) and sparsity != "detect":
        raise BadArgument(
            f"`sparsity` must be 'detect' or a matrix, not {sparsity!r}",
            "A matrix says by entries that are not zero where the Jacobian may have them.",
        )
    calling.must_be_function(f)
    # needs SciPy, which most programs do without
    module = import_module(f"{__package__}.sparsity")
    return module.SparseJacobian(f, verb.argnums[0], mode, sparsity)


def hessian(
    f: Callable[P, Any], argnums: Argnums = 0, *, tier: str | None = None
) -> Derivative[P, Any]:
    """The Hessian function of a scalar function: forward over reverse.

    Args:
        f: a function with one real number as its result; of one with several, the Hessian of each (the
            Jacobian of the Jacobian).
        argnums: which positional arguments to differentiate with respect to, by place or by name; a tuple gives
            the blocks, a tuple of them for each argument of the first derivative.
        tier: as of `grad`.

    Returns:
        A function of the same arguments; its result has the shape of the argument twice over, after that of
        the function's result.

    >>> import numpy as np, wengert as wg
    >>> wg.hessian(lambda x: x[0] ** 2 * x[1])(np.array([1.0, 2.0]))
    array([[4., 2.],
           [2., 0.]])
    """
    return Hessian(f, verb_of("written", f, argnums, tier, written=matrices.hessian, order=2))


def diag_hessian(
    f: Callable[P, Any], argnums: Argnums = 0, *, tier: str | None = None
) -> Derivative[P, Any]:
    """The diagonal of the Hessian of a scalar function, in the shape of the argument.

    >>> import numpy as np, wengert as wg
    >>> wg.diag_hessian(lambda x: np.sum(x ** 3))(np.array([1.0, 2.0]))
    array([ 6., 12.])
    """
    return Derivative(
        f, verb_of("written", f, argnums, tier, written=matrices.diag_hessian, order=2)
    )


class Hessian(Derivative[..., Any]):
    """A Hessian function, also of a function with several results."""

    @property
    def verbs(self) -> tuple[Verb, ...]:
        """One Hessian, or one for each of several results."""
        return self.verb, replace(self.verb, written=matrices.hessian_of_each, order=0)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        try:
            return super().__call__(*args, **kwargs)
        except NotScalar:
            with suppress(WengertError):  # of what is no number the first refusal says more
                return Derivative(self.function, self.verbs[1])(*args, **kwargs)
            raise


class Jacobian(Derivative[..., Any]):
    """A Jacobian function, which can say how it is computed."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        matrix = super().__call__(*args, **kwargs)
        if self.verb.written is not matrices.jacobian_forward and is_not_a_number(matrix):
            guarded = replace(self.verb, written=matrices.guarded_jacobian_reverse)
            again = Derivative(self.function, guarded)(*args, **kwargs)
            return matrices.filled(matrix, again)
        return matrix

    def explain(self, *args: Any, **kwargs: Any) -> Text:
        """Which mode is taken for each argument, and why; without arguments, how that is decided."""
        mode = next(
            mode for mode, written in matrices.MODES.items() if written is self.verb.written
        )
        if not args:
            return Text(_DECIDED[mode])
        args, kwargs = self.placed(args, kwargs)
        check_argnums(self.verb, self.function, args, kwargs)
        y = self.function(*copy.deepcopy(args), **copy.deepcopy(kwargs))
        argnums = self.verb.argnums or range(len(args))
        return Text(
            "\n".join(f"argument {k}: {matrices.explained(args[k], y, mode)}" for k in argnums)
        )


_DECIDED = {
    "auto": "forward mode takes one pushforward for each number of the argument, reverse mode one pullback for each\n"
    "number of the result: the one that takes fewer is chosen at the call, forward where they tie",
    "forward": "forward, as mode='forward' says: one pushforward for each number of the argument",
    "reverse": "reverse, as mode='reverse' says: one pullback for each number of the result",
}
