"""Ops on complex arrays that are said in terms of ops on real ones: part by part, or product by product."""

from __future__ import annotations

from .....ir.graph import Atom, Const, Eqn, Var
from .....ir.records import replace, value_record
from .....ops.registry import named
from ...form.loopform import Constant
from ...lower.fusion import mapped
from ...lower.groups import can_be_placed
from ...lower.lowering import HANDLERS, BlockLowering
from ...lower.sequences.columns import GrowingList, Parts
from ...lower.shapes import dims_of, sizes_of
from ...lower.structure import elementwise as of_real, over_arrays
from ...values import values as nv
from ...values.complexes import by_part, complex_of, is_complex, is_number, known_number, lifted
from ...values.rows import ROWS
from .complex_ops import asks_for_complex, elementwise, has_complex, of_complex, operand


@value_record
class ByParts:
    """An op that does the same to both parts of an array.

    Attributes:
        operands: which operands have parts.
        like: operands that lend their shape only.
    """

    operands: tuple[int, ...] = (0,)
    like: tuple[int, ...] = ()


BY_PARTS: dict[str, ByParts] = {
    **dict.fromkeys(
        (
            "sum", "mean", "reshape", "ravel", "flatten", "transpose", "matrix_transpose", "swapaxes",
            "moveaxis", "expand_dims", "squeeze", "broadcast_to", "flip", "flipud", "fliplr", "roll", "unroll",
            "diag", "diagonal", "trace", "undiag", "undiagonal", "untrace", "tril", "triu", "cumsum",
            "cumsum_reversed", "diff", "undiff", "repeat", "tile", "take", "concatenate", "stack", "vstack",
            "hstack", "dstack", "column_stack", "atleast_1d", "atleast_2d", "pad", "pad_zeros", "unpad",
            "summed_to",
        ),
        ByParts(),
    ),
    **dict.fromkeys(("unbroadcast", "unreduce", "broadcast_like", "fill"), ByParts((0,), (1,))),
    **dict.fromkeys(("unconcatenate", "fitted"), ByParts()),
    "append": ByParts((0, 1)),
    "where": ByParts((1, 2)),
}  # fmt: skip
"""Linear ops that put together nothing but elements of the same part."""

PRODUCTS = ("matmul", "dot", "outer", "matmul_left", "matmul_right", "convolve")
"""Ops that are linear in each of two operands."""

_ZERO = Constant(0.0, "f64")


def part(site: BlockLowering, value: nv.Value, k: int) -> nv.Value:
    """The real or the imaginary part of a value, or of what is in a list or tuple."""
    if is_complex(value):
        return value.items[k]
    if isinstance(value, nv.Tuple):
        return replace(value, items=tuple(part(site, item, k) for item in value.items))
    if isinstance(value, GrowingList) and isinstance(value.column, Parts):
        return replace(value, column=value.column.columns[k])
    found = site.operand_of(value)
    if isinstance(found, nv.Scalar):
        return lifted(site.e, found).items[0] if k == 0 else nv.Scalar(_ZERO, nv.NUMPY)
    if found.code == "f32":
        raise nv.Unlowered("complex numbers of 32 bits for each part")
    if k:
        return nv.Broadcast(nv.Scalar(_ZERO, nv.NUMPY), "f64", dims_of(found))
    if found.code == "f64":
        return found
    return mapped(site, ROWS["copy"], [found], "f64", dims_of(found))


@of_complex(*BY_PARTS)
def _by_parts(site: BlockLowering, eqn: Eqn) -> nv.Value:
    rule = BY_PARTS[eqn.op.name]
    values = [site.value(atom) for atom in eqn.args]
    own = {*rule.operands, *rule.like}
    if any(has_complex(value) for n, value in enumerate(values) if n not in own):
        raise nv.Unlowered(f"`{eqn.op.name}` with a complex operand in this place")
    if not any(has_complex(values[n]) for n in rule.operands if n < len(values)):
        return _of_parts(site, eqn, rule, 0)  # the shape alone is that of a complex array
    return _both_parts(site, eqn, rule)


def _both_parts(site: BlockLowering, eqn: Eqn, rule: ByParts) -> nv.Tuple:
    re, im = (_kept(site, _of_parts(site, eqn, rule, k)) for k in (0, 1))
    return complex_of(re, im)


def _kept(site: BlockLowering, value: nv.Value) -> nv.Value:
    """A part that is pending, and is needed whatever is computed before the other one."""
    site.atom(value)
    return value


def _of_parts(site: BlockLowering, eqn: Eqn, rule: ByParts, k: int) -> nv.Value:
    """What an op gives for one of the two parts."""
    args: list[Atom] = []
    for n, atom in enumerate(eqn.args):
        value = site.value(atom)
        if n in rule.operands:
            args.append(site.atom(part(site, value, k)))
        else:
            args.append(site.atom(part(site, value, 0)) if is_complex(value) else atom)
    return of_real_parts(site, replace(eqn, args=tuple(args), params=_shapes(site, eqn)))


def of_real_parts(site: BlockLowering, eqn: Eqn) -> nv.Value:
    """What an op gives for real operands."""
    return HANDLERS.get(eqn.op.name, of_real)(site, eqn)


def _shapes(site: BlockLowering, eqn: Eqn) -> dict[str, object]:
    """The options of an op; of a complex array that lends its shape, the real part."""
    return {
        key: site.atom(part(site, site.value(option), 0))
        if isinstance(option, Var) and has_complex(site.values.get(option))
        else option
        for key, option in eqn.params.items()
    }


@of_complex("shape", "ndim", "size", "length", "reduced_count")
def _of_shape(site: BlockLowering, eqn: Eqn) -> nv.Value:
    if is_number(site.value(eqn.args[0])):
        raise nv.Unlowered(f"`{eqn.op.name}` of a complex number")
    return _of_parts(site, eqn, ByParts((0,)), 0)


# --- products ---------------------------------------------------------------------------------


@of_complex(*PRODUCTS)
def _product(site: BlockLowering, eqn: Eqn) -> nv.Value:
    """(a + ib)(c + id) = ac − bd + i(ad + bc); what is real has one part."""
    left, right = (site.value(atom) for atom in eqn.args)
    if any(is_complex(value) and is_number(value) for value in (left, right)):
        raise nv.Unlowered(f"`{eqn.op.name}` with a complex number")
    params = _shapes(site, eqn)

    def of(j: int, k: int) -> nv.Value:
        args = (site.atom(part(site, left, j)), site.atom(part(site, right, k)))
        found = of_real_parts(site, replace(eqn, args=args, params=params))
        return _kept(site, found) if dims_of(found) else site.as_scalar(found)

    if not is_complex(left):
        return complex_of(of(0, 0), of(0, 1))
    if not is_complex(right):
        return complex_of(of(0, 0), of(1, 0))
    re = _kept(site, _together(site, "sub", of(0, 0), of(1, 1)))
    return complex_of(re, _together(site, "add", of(0, 1), of(1, 0)))


def _together(site: BlockLowering, op: str, a: nv.Value, b: nv.Value) -> nv.Value:
    if isinstance(a, nv.Scalar) and isinstance(b, nv.Scalar):
        return nv.Scalar(site.e.apply(op, a.expr, b.expr), nv.NUMPY)
    return over_arrays(site, op, [a, b])


@of_complex("vdot")
def _vdot(site: BlockLowering, eqn: Eqn) -> nv.Value:
    """The product of the conjugate of a vector with another."""
    if any(len(dims_of(part(site, site.value(atom), 0))) != 1 for atom in eqn.args):
        raise nv.Unlowered("`vdot` of something else than vectors")
    return site.apply("dot", site.apply("conj", eqn.args[0]), eqn.args[1])


@of_complex("norm")
def _norm(site: BlockLowering, eqn: Eqn) -> nv.Value:
    """That of the moduli: of vectors, and of matrices by all of their elements."""
    if not {"axis", "keepdims"}.issuperset(eqn.params) or len(eqn.args) != 1:
        raise nv.Unlowered("a norm of complex numbers by name")
    moduli = site.atom(site.apply("abs", eqn.args[0]))
    return HANDLERS["norm"](site, replace(eqn, args=(moduli,)))


@of_complex("sum_items")
def _sum_items(site: BlockLowering, eqn: Eqn) -> nv.Value:
    """Python's `sum`, of an array or a list that is not empty."""
    items, *start = (site.value(atom) for atom in eqn.args)
    if isinstance(items, GrowingList):
        empty = site.e.apply("eq", items.length, nv.ZERO, code="b1")
        site.e.exit_if(empty, "a sum of nothing")
    begin = start[0] if start else nv.number(0)
    parts = [
        HANDLERS["sum_items"](
            site, replace(eqn, args=tuple(site.atom(part(site, x, k)) for x in (items, begin)))
        )
        for k in (0, 1)
    ]
    return complex_of(*map(site.as_scalar, parts))


# --- parts ------------------------------------------------------------------------------------


@of_complex("real", "imag")
def _part_of_number_or_array(site: BlockLowering, eqn: Eqn) -> nv.Value:
    """`z.real` and `z.imag`: of an array, a view of what it has in memory."""
    value = site.value(eqn.args[0])
    if not dims_of(value.items[0]):
        if isinstance(value.items[0], nv.View):
            raise nv.Unlowered(f"`{eqn.op.name}` of an array without axes")
        return elementwise(site, eqn)
    if any(isinstance(x, nv.Broadcast) for x in value.items):
        value = site.parts_in_memory(eqn.args[0])
    return value.items[0 if eqn.op.name == "real" else 1]


# --- reading and writing ----------------------------------------------------------------------


@of_complex("getitem")
def _getitem(site: BlockLowering, eqn: Eqn) -> nv.Value:
    """An item of a complex array, or of a list with complex numbers in it."""
    if not is_complex(site.value(eqn.args[0])):
        return HANDLERS["getitem"](site, eqn)
    site.parts_in_memory(eqn.args[0])
    return _both_parts(site, eqn, ByParts())


@of_complex("store", "stored", "add_at")
def _store(site: BlockLowering, eqn: Eqn) -> nv.Value:
    """A write to a complex array, part by part: what is written is there before the first."""
    target, *path, value = eqn.args
    container = site.value(target)
    if not is_complex(container):
        if isinstance(container, (nv.View, nv.Lazy, nv.Broadcast)):
            raise nv.Unlowered("a complex number that is written to a real array")
        return HANDLERS[eqn.op.name](site, eqn)
    made = site.parts_in_memory(target)
    what = operand(site, value)
    if any(isinstance(x, nv.Lazy) and not _can_wait(x, made) for x in what.items):
        what = by_part(what, lambda x: site.computed(x) if isinstance(x, nv.Lazy) else x)
    parts = [
        HANDLERS[eqn.op.name](site, replace(eqn, args=(site.atom(own), *path, site.atom(new))))
        for own, new in zip(made.items, what.items, strict=True)
    ]
    return complex_of(*parts)


def _can_wait(what: nv.Lazy, container: nv.Tuple) -> bool:
    """Whether a pending part of what is written reads nothing of the array that it is written to."""
    return all(can_be_placed(what, view.root) for view in container.items)


@of_complex("overwrite")
def _overwrite(site: BlockLowering, eqn: Eqn) -> nv.Value:
    """New elements for a whole array, as `z *= w` gives it."""
    target = site.value(eqn.args[0])
    if not is_complex(target) or is_number(target):
        raise nv.Unlowered("complex numbers that are written to a real array")
    made, what = site.parts_in_memory(eqn.args[0]), operand(site, eqn.args[1])
    what = by_part(what, lambda x: site.computed(x) if isinstance(x, nv.Lazy) else x)
    parts = [
        HANDLERS["overwrite"](site, replace(eqn, args=(site.atom(own), site.atom(new))))
        for own, new in zip(made.items, what.items, strict=True)
    ]
    return complex_of(*parts)


# --- creation ---------------------------------------------------------------------------------


@of_complex(
    "zeros_array", "ones", "empty", "full", "zeros_like", "ones_like", "empty_like", "full_like"
)
def _created(site: BlockLowering, eqn: Eqn) -> nv.Value:
    """An array that is the same everywhere."""
    name = eqn.op.name
    if not asks_for_complex(eqn) and ("dtype" in eqn.params or not _is_of_complex(site, eqn)):
        raise nv.Unlowered("a complex number in an array of real ones")
    value = known_number(1 if name in ("ones", "ones_like") else 0, nv.NUMPY)
    if name in ("full", "full_like"):
        value = by_part(operand(site, eqn.args[1]), site.as_scalar)
    if name.endswith("_like"):
        dims = dims_of(part(site, site.value(eqn.args[0]), 0))
    else:
        dims = sizes_of(site, eqn.args[0] if name == "full" else eqn.params["shape"])
    if not dims:
        raise nv.Unlowered("an array without axes of a complex number")
    return by_part(value, lambda x: nv.Broadcast(nv.Scalar(x.expr, nv.NUMPY), "f64", dims))


def _is_of_complex(site: BlockLowering, eqn: Eqn) -> bool:
    """Whether the array that is to be like another, or full of a number, is complex by that."""
    return is_complex(site.value(eqn.args[1 if eqn.op.name == "full" else 0]))


@of_complex("array", "asarray", "ascontiguousarray", "gather", "astype")
def _array(site: BlockLowering, eqn: Eqn) -> nv.Value:
    """An array of the numbers in a list, or of those of another array."""
    asked = eqn.params.get("dtype", Const(None))
    if asked != Const(None) and not asks_for_complex(eqn):
        raise nv.Unlowered("complex numbers converted to real ones")
    values = [site.value(atom) for atom in eqn.args]
    value = values[0] if len(values) == 1 else nv.Tuple(tuple(values), "list")
    if is_complex(value) and is_number(value):
        raise nv.Unlowered("an array without axes of a complex number")
    if is_complex(value):
        return elementwise(site, replace(eqn, op=named("copy"), params={}))
    plain = replace(eqn, op=named("array"), params={"dtype": Const(float)})
    parts = (site.atom(part(site, value, k)) for k in (0, 1))
    return complex_of(*(of_real_parts(site, replace(plain, args=(atom,))) for atom in parts))
