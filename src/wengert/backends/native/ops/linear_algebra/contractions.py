"""Products of stacks of matrices, contractions with named axes, products of vectors of space."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from .....ir.graph import Const, Eqn
from .....runtime.numeric.products import explicit_subscripts
from ...form.loopform import Apply, Constant, Expr
from ...lower.fusion import reduced
from ...lower.groups import REDUCTIONS
from ...lower.lowering import BlockLowering, lowers
from ...lower.shapes import broadcast, dims_of, spread_value, with_axes
from ...lower.structure import over_arrays
from ...values import values as nv
from ...values.emitter import Emitter
from ...values.loops import copy_elements, over
from ...values.promotion import converted, operand_code
from ..arrays.gather_scatter import filled_with
from ..elementwise.creation import zeroed
from ..reductions.reductions import summed_to
from .products import product_of_two, transposed

Sizes = Mapping[str, Expr]


# --- einsum -------------------------------------------------------------------------------


@lowers(*(f"einsum_{n}" for n in range(1, 7)))
def _einsum(site: BlockLowering, eqn: Eqn) -> nv.Value:
    views = [site.view(site.operand(atom)) for atom in eqn.args[1:]]
    terms, output = _subscripts(eqn.args[0], [len(view.dims) for view in views])
    return contracted(site, terms, output, views)


def _subscripts(atom: object, ranks: Sequence[int]) -> tuple[list[str], str]:
    text = getattr(atom, "value", None)
    try:
        terms, output = explicit_subscripts(text, ranks)
    except (NotImplementedError, ValueError):
        raise nv.Unlowered("subscripts that are not known, or are about other arrays") from None
    if len(set(output)) < len(output) or not set(output) <= set("".join(terms)):
        raise nv.Unlowered("subscripts of a result that are not those of the operands")
    return list(terms), output


def contracted(
    site: BlockLowering, terms: Sequence[str], output: str, views: Sequence[nv.View]
) -> nv.Value:
    """The sum of the products of arrays whose axes have names, over the axes that the result lacks."""
    if any(view.code == "b1" for view in views):
        raise nv.Unlowered("a contraction of truth values")
    if any(len(term) != len(view.dims) for term, view in zip(terms, views, strict=True)):
        site.e.exit_if(_TRUE, "subscripts of another number of axes")
        raise nv.Unlowered("subscripts of another number of axes")
    singles = [_without_repetition(site, t, v) for t, v in zip(terms, views, strict=True)]
    if _is_product_of_matrices([term for term, _ in singles], output):
        return _product_of_matrices(site, singles, output)
    labels = output + "".join(dict.fromkeys(c for t, _ in singles for c in t if c not in output))
    placed = [_placed(view, term, labels) for term, view in singles]
    whole = placed[0] if len(placed) == 1 else over_arrays(site, "mul", placed[:2])
    for other in placed[2:]:
        whole = over_arrays(site, "mul", [whole, other])
    axes = tuple(range(len(output), len(labels)))
    if not axes:
        return whole
    return reduced(site, REDUCTIONS["sum"], whole, axes, whole.code)


_TRUE = Apply("eq", (nv.ZERO, nv.ZERO), "b1")


def _without_repetition(site: BlockLowering, term: str, view: nv.View) -> tuple[str, nv.View]:
    """An array whose axes of the same name have become its diagonal."""
    for label in dict.fromkeys(term):
        first, *others = (k for k, c in enumerate(term) if c == label)
        for k in reversed(others):
            site.e.must_be_same(view.dims[first], view.dims[k], "a diagonal of no square")
            strides = list(view.strides)
            strides[first] = site.e.let(nv.plus(strides[first], strides.pop(k)))
            view = with_axes(view, (*view.dims[:k], *view.dims[k + 1 :]), tuple(strides))
            term = term[:k] + term[k + 1 :]
    return term, view


def _placed(view: nv.View, term: str, labels: str) -> nv.View:
    """An array with its axes in the order of the labels, and one element along those that it lacks."""
    at = [term.find(label) for label in labels]
    dims = tuple(nv.ONE if k < 0 else view.dims[k] for k in at)
    return with_axes(view, dims, tuple(nv.ZERO if k < 0 else view.strides[k] for k in at))


def _is_product_of_matrices(terms: Sequence[str], output: str) -> bool:
    if len(terms) != 2 or any(len(term) != 2 for term in terms) or len(output) != 2:
        return False
    a, b = map(set, terms)
    return len(a & b) == 1 and a ^ b == set(output)


def _product_of_matrices(
    site: BlockLowering, singles: Sequence[tuple[str, nv.View]], output: str
) -> nv.Value:
    (left, a), (right, b) = sorted(singles, key=lambda single: output[0] not in single[0])
    a = a if left[0] == output[0] else transposed(a)
    b = b if right[1] == output[1] else transposed(b)
    return product_of_two(site, a, b)


@lowers(*(f"einsum_bar_{n}" for n in range(1, 7)))
def _einsum_bar(site: BlockLowering, eqn: Eqn) -> nv.Value:
    """The cotangent of one operand, as `runtime.products.einsum_bar` has it."""
    k = eqn.param("index")
    bar, *others = (site.view(site.operand(atom)) for atom in eqn.args)
    like = tuple(map(site.e.size, dims_of(site.operand(eqn.params["like"]))))
    ranks = [len(view.dims) for view in others]
    ranks.insert(k, len(like))
    terms, output = _subscripts(eqn.params["subscripts"], ranks)
    own = terms.pop(k)
    labels = "".join(dict.fromkeys(own))
    present = "".join(c for c in labels if c in output or any(c in term for term in terms))
    found = contracted(site, [output, *terms], present, [bar, *others])
    sizes = dict(zip(own, like, strict=True))
    return _spread_back(site, found, (own, labels, present), sizes)


def _spread_back(
    site: BlockLowering, found: nv.Value, names: tuple[str, str, str], sizes: Sizes
) -> nv.Value:
    """A cotangent that is the same along axes that were summed alone, and zero off diagonals."""
    own, labels, present = names
    kept = tuple(sizes[c] for c in present)
    found = summed_to(site, site.operand_of(found), kept) if present else found
    if own == present:
        return found
    view = _placed(site.view(found), present, labels)
    dims = tuple(sizes[c] for c in labels)
    view = site.view(spread_value(site, view, dims))
    if own == labels:
        return site.copied(view)
    made = zeroed(site, tuple(sizes[c] for c in own), view.code, ())
    _, diagonal = _without_repetition(site, own, made)
    copy_elements(site.e, diagonal, view)
    return made


# --- tensordot ----------------------------------------------------------------------------


def _labels(site: BlockLowering, eqn: Eqn, ranks: tuple[int, int]) -> tuple[str, str, str]:
    """Names for the axes of two arrays and of their contraction."""
    a, b = LETTERS[: ranks[0]], LETTERS[ranks[0] : sum(ranks)]
    for i, j in _pairs(_known(site.value(eqn.params.get("axes", Const(2)))), ranks):
        b = b.replace(b[j], a[i])
    return a, b, "".join(c for c in a + b if (c in a) != (c in b))


LETTERS = "abcdefghijklmnopqrstuvwxyz"


def _known(value: nv.Value) -> object:
    """A value as Python has it, where it is known."""
    match value:
        case nv.Tuple(items=items):
            return tuple(map(_known, items))
        case nv.Scalar(expr=Constant(value=number)):
            return number
        case nv.StaticValue(value=known):
            return known
        case _:
            return None


def _pairs(axes: object, ranks: tuple[int, int]) -> list[tuple[int, int]]:
    """Which axes of two arrays are summed together."""
    match axes:
        case "dot" | "inner" if 0 in ranks:
            return []
        case "dot":
            return [(ranks[0] - 1, max(ranks[1] - 2, 0))]
        case "inner":
            return [(ranks[0] - 1, ranks[1] - 1)]
        case int(count):
            return [(ranks[0] - count + k, k) for k in range(count)]
        case (int(i), int(j)):
            return [(i % ranks[0], j % ranks[1])]
        case (tuple(ours), tuple(theirs)) if len(ours) == len(theirs):
            return [(i % ranks[0], j % ranks[1]) for i, j in zip(ours, theirs, strict=True)]
        case _:
            raise nv.Unlowered("a contraction of axes that are not known")


@lowers("tensordot", "contract")
def _tensordot(site: BlockLowering, eqn: Eqn) -> nv.Value:
    a, b = (site.view(site.operand(atom)) for atom in eqn.args)
    own, other, output = _labels(site, eqn, (len(a.dims), len(b.dims)))
    return contracted(site, [own, other], output, [a, b])


@lowers("contract_left", "contract_right")
def _contract_back(site: BlockLowering, eqn: Eqn) -> nv.Value:
    left = eqn.op.name == "contract_left"
    first, second = (site.view(site.operand(atom)) for atom in eqn.args)
    bar, other = (first, second) if left else (second, first)
    like = len(dims_of(site.operand(eqn.params["like"])))
    ranks = (like, len(other.dims)) if left else (len(other.dims), like)
    a, b, output = _labels(site, eqn, ranks)
    own, others = (a, b) if left else (b, a)
    return contracted(site, [output, others], own, [bar, other])


# --- vectors of space ---------------------------------------------------------------------


@lowers("cross")
def _cross(site: BlockLowering, eqn: Eqn) -> nv.Value:
    return crossed(site, eqn, *(site.operand(atom) for atom in eqn.args))


@lowers("cross_left", "cross_right")
def _cross_back(site: BlockLowering, eqn: Eqn) -> nv.Value:
    """The cotangent of one factor of a × b: b × ȳ, or ȳ × a."""
    y, x = (site.operand(atom) for atom in eqn.args[::-1])
    found = crossed(site, eqn, y, x)
    like = tuple(map(site.e.size, dims_of(site.operand(eqn.params["like"]))))
    return summed_to(site, found, like)


def crossed(
    site: BlockLowering, eqn: Eqn, x: nv.Scalar | nv.Array, y: nv.Scalar | nv.Array
) -> nv.View:
    """The products of vectors along the last axis."""
    e = site.e
    shapes = dims_of(x), dims_of(y)
    if not all(shapes) or any(eqn.params.get(name, _LAST) != _LAST for name in _AXES):
        raise nv.Unlowered("`cross` along another axis than the last")
    for shape in shapes:
        e.must_be_same(shape[-1], nv.integer(3), "vectors of another space")
    code = operand_code("arithmetic", [x, y])
    lead = broadcast(e, [filled_with(nv.ZERO, shape[:-1]) for shape in shapes])
    a, b = (site.view(spread_value(site, v, (*lead, nv.integer(3)))) for v in (x, y))
    site.write_all()
    made = site.allocate((*lead, nv.integer(3)), code, eqn.outs)

    def element(inner: Emitter, at: tuple[Expr, ...]) -> None:
        u, v = ([converted(inner, inner.load(w, (*at, nv.integer(k))), code) for k in range(3)]
                for w in (a, b))  # fmt: skip
        for k in range(3):
            i, j = (k + 1) % 3, (k + 2) % 3
            plus_, minus_ = inner.apply("mul", u[i], v[j]), inner.apply("mul", u[j], v[i])
            inner.store(made, (*at, nv.integer(k)), inner.apply("sub", plus_, minus_))

    over(e, lead, element)
    return made


_AXES = "axisa", "axisb", "axisc", "axis"
_LAST = Const(-1)
