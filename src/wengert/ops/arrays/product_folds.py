"""What the transposes of products become where the ranks are known: plain products.

Only derivative code is rewritten. `ȳ bᴴ` for two matrices is `y_bar @ b.T`, nothing more.
"""

from __future__ import annotations

from collections.abc import Sequence
from string import ascii_lowercase, ascii_uppercase
from typing import Any

from ...ir.builder import Builder, kind_of_atom
from ...ir.graph import ZERO, Atom, Const, Eqn, Var
from ...ir.types import STR, Array
from ...runtime.numeric.products import explicit_subscripts
from ..array_kinds import Args, Params, constant, rank_of
from ..registry import named

MOST_OPERANDS = 6
"""An einsum of more operands than this has no rule."""

_LETTERS = dict(enumerate(ascii_uppercase + ascii_lowercase))
"""What NumPy calls the axes that an einsum is given by numbers: in this order they are sorted."""


def _conj(builder: Builder, x: Atom) -> Atom:
    return builder.emit(named("conj"), x, namespace="np")


def _adjoint(builder: Builder, x: Atom) -> Atom:
    return builder.emit(named("transpose"), _conj(builder, x), namespace="np")


def _matmul(builder: Builder, a: Atom, b: Atom) -> Atom:
    return builder.emit(named("matmul"), a, b)


def _outer(builder: Builder, a: Atom, b: Atom) -> Atom:
    return builder.emit(named("outer"), a, b, namespace="np")


def _applies(builder: Builder, args: Args) -> bool:
    return builder.derived and ZERO not in args


def _ranks(args: Args, params: Params, *, left: bool) -> tuple[int | None, int | None]:
    """The ranks of the product's operands `a` and `b`."""
    like = rank_of(params["like"])
    return (like, rank_of(args[1])) if left else (rank_of(args[0]), like)


# --- matmul, dot, inner -------------------------------------------------------------------


def fold_matmul_left(builder: Builder, args: Args, params: Params, namespace: str) -> Atom | None:
    """ȳ bᴴ."""
    if not _applies(builder, args):
        return None
    y_bar, b = args
    match _ranks(args, params, left=True):
        case (1, 1):
            return builder.emit(named("mul"), y_bar, _conj(builder, b))
        case (1, 2):
            return _matmul(builder, _conj(builder, b), y_bar)
        case (2, 1):
            return _outer(builder, y_bar, _conj(builder, b))
        case (int(), 2):
            return _matmul(builder, y_bar, _adjoint(builder, b))
        case _:
            return None


def fold_matmul_right(builder: Builder, args: Args, params: Params, namespace: str) -> Atom | None:
    """aᴴ ȳ."""
    if not _applies(builder, args):
        return None
    a, y_bar = args
    match _ranks(args, params, left=False):
        case (1, 1):
            return builder.emit(named("mul"), y_bar, _conj(builder, a))
        case (1, 2):
            return _outer(builder, _conj(builder, a), y_bar)
        case (2, 1 | 2):
            return _matmul(builder, _adjoint(builder, a), y_bar)
        case _:
            return None


def fold_contract(builder: Builder, args: Args, params: Params, namespace: str) -> Atom | None:
    """A contraction as NumPy names it: `dot`, `inner` or `tensordot`."""
    if ZERO in args:
        return None
    axes = constant(params["axes"])
    if axes in ("dot", "inner") if isinstance(axes, str) else False:
        return builder.emit(named(axes), *args, namespace="np")
    return builder.emit(named("tensordot"), *args, namespace="np", axes=params["axes"])


def fold_contract_left(builder: Builder, args: Args, params: Params, namespace: str) -> Atom | None:
    """`dot` of at most two axes is `matmul`; `inner(a, b)` is a bᵀ."""
    if not _applies(builder, args):
        return None
    y_bar, b = args
    ranks = _ranks(args, params, left=True)
    match constant(params["axes"]):
        case "dot" if _like_matmul(ranks):
            return fold_matmul_left(builder, args, params, namespace)
        case "inner" if ranks in ((1, 1), (2, 1)):
            return fold_matmul_left(builder, args, params, namespace)
        case "inner" if ranks == (1, 2):
            return _matmul(builder, _adjoint(builder, b), y_bar)
        case "inner" if ranks == (2, 2):
            return _matmul(builder, y_bar, _conj(builder, b))
        case _:
            return None


def fold_contract_right(
    builder: Builder, args: Args, params: Params, namespace: str
) -> Atom | None:
    """`dot` of at most two axes is `matmul`; `inner(a, b)` is a bᵀ."""
    if not _applies(builder, args):
        return None
    a, y_bar = args
    ranks = _ranks(args, params, left=False)
    match constant(params["axes"]):
        case "dot" if _like_matmul(ranks):
            return fold_matmul_right(builder, args, params, namespace)
        case "inner" if ranks in ((1, 1), (2, 1)):
            return fold_matmul_right(builder, args, params, namespace)
        case "inner" if ranks == (1, 2):
            return _outer(builder, y_bar, _conj(builder, a))
        case "inner" if ranks == (2, 2):
            transposed = builder.emit(named("transpose"), y_bar, namespace="np")
            return _matmul(builder, transposed, _conj(builder, a))
        case _:
            return None


def _like_matmul(ranks: tuple[int | None, int | None]) -> bool:
    return all(rank in (1, 2) for rank in ranks)


# --- einsum -------------------------------------------------------------------------------


def fold_einsum(builder: Builder, args: Args, params: Params, namespace: str) -> Atom | None:
    """The op for this number of operands."""
    if args and kind_of_atom(args[0]) != STR:
        args = _with_subscripts(builder, args)
    if not 2 <= len(args) <= MOST_OPERANDS + 1:
        return None
    return builder.emit_with(named(f"einsum_{len(args) - 1}"), args, params, namespace)


def _with_subscripts(builder: Builder, args: Args) -> Args:
    """`einsum(a, [0, 1], b, [1, 2], [0])` as `einsum("ab,bc->a", a, b)`; nothing if the labels are not known."""
    labels = [_labels(builder, arg) for arg in (*args[1::2], *args[-1:][: len(args) % 2])]
    if None in labels:
        return ()
    terms = labels[: len(args) // 2]
    result = "->" + labels[-1] if len(args) % 2 else ""  # type: ignore[operator]
    return Const(",".join(terms) + result), *args[: 2 * len(terms) : 2]  # type: ignore[arg-type]


def _labels(builder: Builder, atom: Atom) -> str | None:
    """A list of small whole numbers, which NumPy is given as an array, as letters; None if it is not known."""
    while isinstance(atom, Var) and (eqn := builder.definition(atom)) is not None:
        if eqn.op is named("pack") and all(isinstance(item, Const) for item in eqn.args):
            atom = Const(tuple(constant(item) for item in eqn.args))
        elif eqn.op is named("array"):
            atom = eqn.args[0]
        else:
            return None
    numbers = constant(atom)
    if not isinstance(numbers, tuple) or not all(type(n) is int and n in _LETTERS for n in numbers):
        return None
    return "".join(_LETTERS[n] for n in numbers)


def fold_einsum_bar(builder: Builder, args: Args, params: Params, namespace: str) -> Atom | None:
    """An einsum again, unless a label of the operand occurs twice in it or nowhere else."""
    if ZERO in args:
        return None
    y_bar, *others = args
    subscripts = _transposed(constant(params["subscripts"]), constant(params["index"]), len(args))
    if subscripts is None or not builder.derived:
        return builder.emit_with(named(f"einsum_bar_{len(args)}"), args, params, namespace)
    operands = [_conj(builder, other) for other in others]
    is_factor = subscripts.startswith(",") and len(others) > 0
    if is_factor:  # a number, of which `einsum` would make an array of float64
        subscripts = subscripts.removeprefix(",")
    else:
        operands.insert(0, y_bar)
    product = named(f"einsum_{len(operands)}")
    x_bar = builder.emit(product, Const(subscripts), *operands, namespace="np")
    if is_factor:
        x_bar = builder.emit(named("mul"), y_bar, x_bar)
    if subscripts.endswith("->"):
        return x_bar
    # an axis of length 1 may have been broadcast against a longer one of the same label
    return builder.emit(named("unbroadcast"), x_bar, params["like"], namespace="np")


def _transposed(subscripts: Any, index: Any, count: int) -> str | None:
    if not isinstance(subscripts, str) or "..." in subscripts or not isinstance(index, int):
        return None
    if subscripts.count(",") + 1 != count:
        return None  # the run says so
    terms, output = explicit_subscripts(subscripts, [0] * count)
    own = terms.pop(index)
    elsewhere = output + "".join(terms)
    if len(set(own)) < len(own) or any(label not in elsewhere for label in own):
        return None
    return ",".join([output, *terms]) + "->" + own


def result_rank(subscripts: Any, ranks: Sequence[int | None]) -> int | None:
    """The rank of an einsum; None if it is not known."""
    if not isinstance(subscripts, str) or len(subscripts.split("->")[0].split(",")) != len(ranks):
        return None
    known = [rank for rank in ranks if rank is not None]
    if "..." not in subscripts:
        known = [0] * len(ranks)
    return len(explicit_subscripts(subscripts, known)[1]) if len(known) == len(ranks) else None


# --- solving ------------------------------------------------------------------------------


def fold_matrix_power(builder: Builder, args: Args, params: Params, namespace: str) -> Atom | None:
    """The products that `np.linalg.matrix_power` computes, in its order."""
    n, (x,) = constant(params["n"]), args
    if type(n) is not int or n == 0 or x == ZERO:
        return None
    if n < 0:
        x, n = builder.emit(named("inv"), x, namespace="np"), -n
    if n <= 3:
        result = x
        for _ in range(n - 1):
            result = _matmul(builder, result, x)
        return result
    square, product = x, None
    while True:
        n, bit = divmod(n, 2)
        if bit:
            product = square if product is None else _matmul(builder, product, square)
        if not n:
            assert product is not None
            return product
        square = _matmul(builder, square, square)


def fold_solve(builder: Builder, args: Args, params: Params, namespace: str) -> Atom | None:
    """The solution of a single system has the shape of its right-hand side."""
    a, b = args
    if ZERO in args or rank_of(a) != 2 or not isinstance(b, Var) or not isinstance(b.kind, Array):
        return None
    solve = named("solve")
    out = Var(solve.infer(args, params), "", b.shape_of)
    builder.append(Eqn((out,), solve, tuple(args), params, (), namespace, builder.span))
    return out


def fold_columns(builder: Builder, args: Args, params: Params, namespace: str) -> Atom | None:
    """Only a stack of matrices with a single vector needs its vectors made columns."""
    vector, result = rank_of(params["vector"]), rank_of(params["result"])
    if (vector is not None and vector > 1) or result == 1:
        return args[0]
    return None


def fold_unstacked(builder: Builder, args: Args, params: Params, namespace: str) -> Atom | None:
    """Nothing was shared where there is a single matrix."""
    (x_bar,) = args
    if x_bar == ZERO:
        return ZERO
    if rank_of(params["matrix"]) == 2:
        return builder.emit(named("shaped"), x_bar, like=params["like"])
    return builder.emit(named("unbroadcast"), x_bar, params["like"], namespace=namespace)
