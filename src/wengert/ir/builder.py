"""Building blocks equation by equation, with kinds inferred and trivial algebra folded away."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Self

from .graph import FOR, IF, TRY, UNDEFINED, WHILE, ZERO, Atom, Block, Const, Eqn, Span, Var
from .op import Op
from .records import replace
from .renaming import clones, renamed_eqn
from .types import UNKNOWN, Array, Kind, Number
from .values import kind_of_atom as kind_of_atom, kind_of_constant as kind_of_constant


class Builder:
    """Appends equations to a block under construction."""

    __slots__ = (
        "_computed",
        "_defining",
        "_derived",
        "derived",
        "eqns",
        "exact",
        "numpy_numbers",
        "of_numpy",
        "parent",
        "primal",
        "span",
    )

    def __init__(self, span: Span | None = None, *, derived: bool = False) -> None:
        self.eqns: list[Eqn] = []
        self.span = span
        self.derived = derived
        """Derivative code may be simplified; the user's own code stays as it was written."""
        self.exact = False
        """Whether the code is for any kind of number: 1 / 3 is no float, nor is log(2)."""
        self.of_numpy = False
        """Whether Python's operators are to compute as NumPy's do, which raise nothing at a pole."""
        self.numpy_numbers: dict[Atom, bool] = {}
        """Of numbers that were asked about, whether they are NumPy's."""
        self.primal: Mapping[Atom, Eqn] = {}
        """The equations that compute what this derivative code reads, as far as they are known."""
        self._defining: dict[Var, Eqn] = {}
        self._computed: set[Var] = set()
        """What any equation of this block, or of the blocks around and beside it, computes."""
        self._derived: set[Atom] = set()
        self.parent: Builder | None = None

    def child(self) -> Builder:
        """A builder for a block inside this one."""
        return type(self)(self.span, derived=self.derived).within(self)

    def within(self, parent: Builder) -> Self:
        """The builder itself, for a block inside that of another one."""
        self.parent = parent
        self._computed = parent._computed
        return self

    def emit(
        self,
        op: Op,
        *args: Atom,
        namespace: str = "py",
        name: str = "",
        kind: Kind | None = None,
        **params: Atom,
    ) -> Atom:
        """`op(*args, **params)`: its one result, folded where that is simpler.

        A symbolic `ZERO` among the operands gives `ZERO` unless the op's fold says otherwise:
        tangents and cotangents only ever enter linearly.
        """
        return self.emit_with(op, args, params, namespace, name, kind)

    def emit_with(
        self,
        op: Op,
        args: Sequence[Atom],
        params: Mapping[str, Atom],
        namespace: str = "py",
        name: str = "",
        kind: Kind | None = None,
    ) -> Atom:
        """`emit` with the options as a mapping, for options whose names collide with Python's."""
        folded = self.folded(op, args, params, namespace)
        if folded is not None:
            return folded
        return self.equation(op, args, params, namespace, name, kind)

    def folded(
        self, op: Op, args: Sequence[Atom], params: Mapping[str, Atom], namespace: str
    ) -> Atom | None:
        """What is simpler than an equation, if the op knows of it; ZERO of a symbolic zero."""
        folded = None if op.fold is None else op.fold(self, args, params, namespace)
        return ZERO if folded is None and ZERO in args else folded

    def equation(
        self,
        op: Op,
        args: Sequence[Atom],
        params: Mapping[str, Atom],
        namespace: str = "py",
        name: str = "",
        kind: Kind | None = None,
    ) -> Var:
        """The result of a new equation, just as it is asked for."""
        kind = _infer(op, args, params, namespace) if kind is None else kind
        out = Var(kind, name)
        _describe_shape(out, op, args)
        if op.reduction:
            _describe_reduction(out, args[0], params)
        if self.derived:
            self._derived.add(out)
        self.append(Eqn((out,), op, tuple(args), params, (), namespace, self.span))
        return out

    def append(self, eqn: Eqn, *, derived: bool = False) -> None:
        """Add an equation; `derived` says that derivative code emitted it."""
        if derived:
            self._derived.update(eqn.outs)
        self.eqns.append(eqn)
        self.define([eqn])

    def since(self, last: Eqn | None) -> list[Eqn]:
        """The equations after one of them; all of them after None."""
        after = (k + 1 for k in reversed(range(len(self.eqns))) if self.eqns[k] is last)
        return self.eqns[next(after, 0) :]

    def forget_after(self, last: Eqn | None) -> None:
        """Take back the equations after one of them, those that were inserted before it stay."""
        del self.eqns[len(self.eqns) - len(self.since(last)) :]

    def insert_after(self, var: Var, eqn: Eqn) -> None:
        """Add an equation right after the one that gives a value, in this block or one around it."""
        builder: Builder | None = self
        while builder is not None:
            for k in reversed(range(len(builder.eqns))):
                if var in builder.eqns[k].outs:
                    owner, *rest = _followed_by(builder.eqns[k], var, eqn)
                    builder._replace(k, owner)
                    builder.eqns[k + 1 : k + 1] = rest
                    builder.define([eqn])
                    return
            builder = builder.parent
        raise KeyError(f"no open block computes {var}")

    def _replace(self, k: int, eqn: Eqn) -> None:
        """Put an equation in the place of another one."""
        before, self.eqns[k] = self.eqns[k], eqn
        for out in before.outs:
            if self._defining.get(out) is before:  # and not an equation that owns it
                self._defining[out] = eqn

    def take(self, inner: Builder) -> None:
        """Append what was read into another builder."""
        for eqn in inner.eqns:
            self.append(eqn)
        self._defining.update(inner._defining)
        if inner._computed is not self._computed:
            self._computed |= inner._computed

    def define(self, eqns: Iterable[Eqn]) -> None:
        """Say which equations give values that are handed on by one that owns them."""
        for eqn in eqns:
            self._computed.update(eqn.outs)
            for out in eqn.outs:
                self._defining[out] = eqn

    def definition(self, atom: Atom) -> Eqn | None:
        """The equation of this block that computes a value, if one does."""
        return self._defining.get(atom) if isinstance(atom, Var) else None

    def is_derived(self, atom: Atom) -> bool:
        """Whether derivative code emitted the equation that computes a value."""
        return atom in self._derived

    def visible_definition(self, var: Var) -> Eqn | None:
        """The equation that computes a value, in this block or one around it."""
        builder: Builder | None = self if var in self._computed else None
        while builder is not None:
            eqn = builder.definition(var)
            if eqn is not None:
                return eqn
            builder = builder.parent
        return None

    def if_(self, condition: Atom, then: Block, other: Block, outs: Sequence[Var]) -> None:
        self.append(Eqn(tuple(outs), IF, (condition,), {}, (then, other), "py", self.span))

    def for_(
        self,
        iterables: Sequence[Atom],
        initials: Sequence[Atom],
        body: Block,
        outs: Sequence[Var],
        *,
        reverse: bool = False,
        stop: bool = False,
        every: Atom | None = None,
    ) -> None:
        params: dict[str, Atom] = {
            "iterables": Const(len(iterables)),
            "reverse": Const(reverse),
            "stop": Const(stop),
        }
        if every is not None:
            params["every"] = every
        args = (*iterables, *initials)
        self.append(Eqn(tuple(outs), FOR, args, params, (body,), "py", self.span))

    def while_(
        self,
        initials: Sequence[Atom],
        test: Block,
        body: Block,
        outs: Sequence[Var],
        *,
        stop: bool,
        every: Atom | None = None,
    ) -> None:
        params: dict[str, Atom] = {"stop": Const(stop)}
        if every is not None:
            params["every"] = every
        self.append(Eqn(tuple(outs), WHILE, tuple(initials), params, (test, body), "py", self.span))

    def try_(
        self, instead: Sequence[Atom], catches: Sequence[type], body: Block, outs: Sequence[Var]
    ) -> None:
        params: Mapping[str, Atom] = {"catches": Const(tuple(catches))}
        self.append(Eqn(tuple(outs), TRY, tuple(instead), params, (body,), "py", self.span))

    def block(self, params: Sequence[Var] = (), outs: Sequence[Atom] = ()) -> Block:
        """The finished block."""
        return Block(tuple(params), tuple(self.eqns), tuple(outs))


def _followed_by(owner: Eqn, var: Var, eqn: Eqn) -> list[Eqn]:
    """An equation and one that follows it: inside of a `try` that hands the value on, which may hand on a copy."""
    if owner.op is not TRY:
        return [owner, eqn]
    (block,) = owner.blocks
    handed_on = dict(zip(owner.outs[1:], block.outs, strict=True))
    made = handed_on[var]
    inside = clones(eqn.outs)
    following = replace(renamed_eqn(eqn, handed_on), outs=tuple(inside.values()))
    eqns: list[Eqn] = []
    for each in block.eqns:
        assert isinstance(made, Var)
        eqns += _followed_by(each, made, following) if made in each.outs else [each]
    body = replace(block, eqns=tuple(eqns), outs=(*block.outs, *inside.values()))
    outs, instead = (*owner.outs, *eqn.outs), (*owner.args, *(UNDEFINED for _ in eqn.outs))
    return [replace(owner, outs=outs, args=instead, blocks=(body,))]


def _infer(op: Op, args: Sequence[Atom], params: Mapping[str, Atom], namespace: str) -> Kind:
    kind = op.infer(args, params)
    if kind == UNKNOWN and namespace == "math" and op.elementwise and namespace in op.spellings:
        return op.infer([Const(1.0)] * len(args), params)  # `math` works on real numbers alone
    return kind


def _describe_shape(out: Var, op: Op, args: Sequence[Atom]) -> None:
    """Say which arrays decide the shape of a result."""
    if op.shaped_like is not None:
        like = args[op.shaped_like]
        if isinstance(like, Var) and isinstance(like.kind, (Array, type(UNKNOWN))):
            out.shape_of = like.shape_of
        return
    if not op.elementwise:
        return
    sources: dict[Var, None] = {}
    arrays = True
    for arg in args:
        kind = kind_of_atom(arg)
        if isinstance(arg, Var) and isinstance(kind, (Array, type(UNKNOWN))):
            sources[arg.shape_of] = None
            arrays = arrays and isinstance(kind, Array)
        elif not isinstance(kind, Number):
            return
    if len(sources) == 1:
        out.shape_of = next(iter(sources))
    elif sources and arrays:
        _describe_broadcast(out, sources)


def _describe_broadcast(out: Var, sources: Iterable[Var]) -> None:
    """What the same arrays broadcast to has one shape."""
    roots = frozenset[Var]().union(*map(_roots, sources))
    roots = frozenset(
        r for r in roots if r.within is None or not _roots(r.within[0]) <= roots - {r}
    )
    root = next(iter(roots))
    if len(roots) == 1:
        out.shape_of = root
    elif roots in root.shapes:
        out.shape_of = root.shapes[roots]
    else:
        out.roots = roots
        for root in roots:
            root.shapes[roots] = out


def _roots(shape: Var) -> frozenset[Var]:
    return shape.roots or frozenset((shape,))


def _describe_reduction(out: Var, x: Atom, params: Mapping[str, Atom]) -> None:
    """Reductions of one shape along the same axes have one shape; some broadcast back to it."""
    axes = reduced_axes(x, params)
    if axes is None or not isinstance(x, Var) or not isinstance(out.kind, Array):
        return
    keepdims = params.get("keepdims") == Const(True)
    source = x.shape_of
    out.shape_of = source.shapes.setdefault((axes, keepdims), out)
    if keepdims or axes == tuple(range(len(axes))):
        out.shape_of.within = (source, axes)


def reduced_axes(x: Atom, params: Mapping[str, Atom]) -> tuple[int, ...] | None:
    """The axes that a reduction reduces, in order, counted from the first; None if not known."""
    kind = kind_of_atom(x)
    axis, keepdims = params.get("axis", Const(None)), params.get("keepdims", Const(False))
    if not isinstance(kind, Array) or not kind.rank:
        return None
    if not isinstance(axis, Const) or not isinstance(keepdims, Const):
        return None
    if axis.value is None:
        return tuple(range(kind.rank))
    axes = axis.value if isinstance(axis.value, tuple) else (axis.value,)
    if not all(type(k) is int and -kind.rank <= k < kind.rank for k in axes):
        return None
    return tuple(sorted(k % kind.rank for k in axes))
