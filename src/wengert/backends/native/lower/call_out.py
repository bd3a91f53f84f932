"""Calls out: an equation without a native form, computed by its Python form where it stands.

Native code hands over numbers in words and the addresses of arrays; what Python gives comes back in the same words,
an array as its address and sizes, from where it is copied. Whatever Python gives else, or raises, is an exit.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ....ir.graph import Atom, Block, Const, Eqn, Function, Input, Var
from ....ir.types import NONE, UNKNOWN, Array, Kind, Number, Struct
from ....ops.registry import runtime_helper
from ..form import loopform as lf
from ..prepare.writes import WRITES
from ..values import values as nv
from ..values.complexes import complex_number, complex_of, is_complex, is_number, must_be_complex
from ..values.loops import copy_elements
from ..values.numbers import origin_expr
from ..values.promotion import converted
from ..values.strides import is_contiguous
from .lowering import BlockLowering, Handler
from .parameters import parts_side_by_side
from .words import ArrayWords, CallOut, ComplexWords, ContainerWords, KnownWords, NumberWords, Words

COMPLEX = "complex128"
CALL, FASTER = "call_out", "call_if_large"
"""A call that there has to be, and one in the place of native code that is slower."""
FETCH = "fetch"
"""The routine that copies from an address: to where, the address, how many bytes."""

_OF_OBJECTS = frozenset(
    (
        "is", "is_not", "in", "not_in", "may_share_memory", "shares_memory", "memory_order", "strides", "flags", "pack",
        "getattr", "global", "closure", "format", "slice", "root", "means", "ruled", "valued", "shaped",
    )
)  # fmt: skip
"""Ops that ask for more of an object than its type and its numbers, or are about the program."""
_OF_NUMBERS = frozenset(("unbroadcast", "fill", "project", "summed_to"))
"""Helpers of derivatives that depend on numbers alone, beside those of `runtime.numeric`."""


def can_be_called_out(eqn: Eqn, *, may_give_views: bool) -> bool:
    """Whether the op of an equation depends on numbers alone, and gives numbers.

    Args:
        eqn: the equation.
        may_give_views: whether nobody can tell a copy from a view of an operand.
    """
    op = eqn.op
    if op.control or op.effect or op.implementation is None or len(eqn.outs) != 1:
        return False
    if op.name in WRITES or op.name in _OF_OBJECTS or not (op.fresh or may_give_views):
        return False
    if set(op.spellings) == {"rt"} and op.name not in _OF_NUMBERS:
        helper = runtime_helper(op.spellings["rt"])
        if not helper.__module__.startswith("wengert.runtime.numeric."):
            return False  # it is about containers, or about whose memory is whose
    return _is_representable(eqn.outs[0].kind)


def _is_representable(kind: Kind) -> bool:
    match kind:
        case Number():
            return True
        case Array(dtype=dtype, rank=rank):
            return rank is not None and (dtype in lf.CODES or dtype == COMPLEX)
        case Struct(form="tuple" | "list" | "namedtuple", items=items):
            return all(map(_is_representable, items))
        case _:
            return kind == NONE


def handler(reason: str) -> Handler:
    """The handler of an equation that has no native form, for this reason."""

    def lowered(site: BlockLowering, eqn: Eqn) -> nv.Value:
        # another equation of the same op may stand at the same place
        if not can_be_called_out(eqn, may_give_views=not site.unit.changes_arrays):
            raise nv.Unlowered(reason)
        try:
            return _called_out(site, eqn, reason)
        except nv.Unlowered:
            raise nv.Unlowered(reason) from None

    return lowered


def _called_out(site: BlockLowering, eqn: Eqn, reason: str) -> nv.Value:
    results = _Results(site)
    results.call(eqn, eqn.outs[0].kind, reason)
    return results.value(eqn.outs)


def on_large(
    site: BlockLowering,
    eqn: Eqn,
    made: nv.View,
    least: int,
    native: Callable[[BlockLowering], None],
) -> None:
    """Have Python compute an array where it has so many elements, and native code smaller ones."""
    if not site.unit.may_call_faster:
        native(site)
        return
    is_large = site.e.apply("ge", site.e.let(nv.product(made.dims)), nv.integer(least), code="b1")
    by_python, by_native = (site.inside(site.block) for _ in range(2))
    results = _Results(by_python)
    results.call(eqn, Array(lf.NUMPY_NAMES[made.code], len(made.dims)), None)
    results.fetch_into(made)
    native(by_native)
    for each in (by_python, by_native):
        each.release_owned()
    site.e.choose(is_large, by_python.e.statements, by_native.e.statements)


def _is_static(value: nv.Value) -> bool:
    return isinstance(value, nv.StaticValue)


def _function(eqn: Eqn, variables: Sequence[Var], known: dict[Var, Const]) -> Function:
    """An equation as a function of some values."""

    def settled(atom: Atom) -> Atom:
        return known.get(atom, atom) if isinstance(atom, Var) else atom

    args = tuple(map(settled, eqn.args))
    params = {name: settled(atom) for name, atom in eqn.params.items()}
    own = Eqn(eqn.outs, eqn.op, args, params, (), eqn.namespace, eqn.span)
    inputs = tuple(
        Input(f"x{k}", UNKNOWN if isinstance(var.kind, Struct) else var.kind)
        for k, var in enumerate(variables)
    )
    return Function(eqn.op.name, inputs, Block(tuple(variables), (own,), eqn.outs), UNKNOWN)


class _Operands:
    """The operands of a call, as words."""

    def __init__(self, site: BlockLowering):
        self.site = site
        self.integers: list[lf.Expr] = []
        self.floats: list[lf.Expr] = []
        self.places: list[lf.Load] = []

    def words_of(self, value: nv.Value) -> Words:
        """How an operand lies in words, to which it is added."""
        if isinstance(value, nv.Lazy) and not value.dims:
            value = self.site.computed(value)
        match value:
            case nv.Scalar():
                return self._number(value)
            case nv.View() | nv.Lazy() | nv.Broadcast():
                return self._array(self.site.view(value))
            case nv.Tuple() if is_complex(value):
                return self._complex(value)
            case nv.Tuple(items=items, form="tuple" | "list" as form):
                return ContainerWords(form, tuple(map(self.words_of, items)))
            case nv.Bounds(start=start, stop=stop, step=step):
                return ContainerWords("slice", tuple(map(self.words_of, (start, stop, step))))
            case nv.StaticValue(value=known):
                return KnownWords(known)
            case None:
                return KnownWords(None)
            case _:
                raise nv.Unlowered("an operand that is no number and no array")

    def _add(self, words: list[lf.Expr], *values: lf.Expr) -> int:
        words += values
        return len(words) - len(values)

    def _number(self, value: nv.Scalar) -> NumberWords:
        e, code = self.site.e, value.code
        owner = self._add(self.integers, origin_expr(value.origin))
        if code in ("f64", "f32"):
            return NumberWords(code, self._add(self.floats, converted(e, value.expr, "f64")), owner)
        return NumberWords(code, self._add(self.integers, converted(e, value.expr, "i64")), owner)

    def _complex(self, value: nv.Tuple) -> Words:
        parts: list[Any] = [
            self.site.computed(x) if isinstance(x, nv.Lazy) else x for x in value.items
        ]
        if not is_number(complex_of(*parts)):
            return self._complex_array([self.site.view(part) for part in parts])
        must_be_complex(self.site.e, [complex_of(*parts)])
        owner = self._add(self.integers, origin_expr(parts[0].origin))
        return ComplexWords(self._add(self.floats, *(part.expr for part in parts)), owner)

    def _array(self, view: nv.View, dtype: str = "") -> ArrayWords:
        contiguous = is_contiguous(view)
        at = self._add(self.integers, *view.dims, *(() if contiguous else view.strides))
        self.places.append(lf.Load(view.pointer, view.offset, view.code))
        dtype = dtype or lf.NUMPY_NAMES[view.code]
        return ArrayWords(dtype, len(view.dims), at, len(self.places) - 1, contiguous)

    def _complex_array(self, parts: list[nv.View]) -> ArrayWords:
        """Its parts side by side."""
        dims = parts[0].dims
        whole = self.site.allocate((*dims, nv.integer(2)), "f64", ())
        strides = nv.c_strides(dims)
        for place, view in zip(
            parts_side_by_side(self.site.e, whole.root, dims, strides), parts, strict=True
        ):
            copy_elements(self.site.e, place, view)
        return self._array(nv.View(whole.root, "f64", dims, strides, nv.ZERO), COMPLEX)


class _Results:
    """The result of a call, from words."""

    def __init__(self, site: BlockLowering):
        self.site = site
        self.e = site.e
        self.status = self.integers = self.floats = 0
        self.words: nv.View | None = None
        self.numbers: nv.View | None = None
        self.result: Words = KnownWords(None)

    def call(self, eqn: Eqn, kind: Kind, reason: str | None) -> None:
        """Call Python for an equation whose result is of this kind."""
        site = self.site
        site.write_all()
        operands = _Operands(site)
        every = dict.fromkeys(atom for atom in eqn.operands() if isinstance(atom, Var))
        known = {v: Const(value.value) for v in every if _is_static(value := site.value(v))}
        variables = [var for var in every if var not in known]
        given = tuple(operands.words_of(site.value(var)) for var in variables)
        site.write_all()
        self.status, self.floats = len(operands.integers), len(operands.floats)
        self.integers = self.status + 1
        self.result = self.words_of(kind)
        call = CallOut(
            eqn.op.name,
            _function(eqn, variables, known),
            given,
            self.result,
            self.status,
            self.integers,
            len(operands.floats),
            self.floats,
            len(operands.places),
            site.unit.changes_arrays,
            reason,
            eqn.span,
        )
        site.unit.calls_out.append(call)
        self._write_call(len(site.unit.calls_out) - 1, operands, FASTER if reason is None else CALL)

    def words_of(self, kind: Kind) -> Words:
        """How a result of this kind lies in words, which are put aside."""
        match kind:
            case Number(type="complex"):
                return ComplexWords(self._take_floats(2), self._take())
            case Number(type="float"):
                return NumberWords("f64", self._take_floats(1), self._take())
            case Number(type=name):
                return NumberWords("b1" if name == "bool" else "i64", self._take(), self._take())
            case Array(dtype=dtype, rank=rank):
                return ArrayWords(dtype, rank or 0, self._take(1 + (rank or 0)) + 1)
            case Struct(form=form, items=items, keys=keys, type=cls):
                return ContainerWords(form, tuple(map(self.words_of, items)), keys, cls)
            case _:
                return KnownWords(None)

    def _take(self, count: int = 1) -> int:
        self.integers += count
        return self.integers - count

    def _take_floats(self, count: int) -> int:
        self.floats += count
        return self.floats - count

    def _write_call(self, number: int, operands: _Operands, name: str) -> None:
        words = self.site.allocate((nv.integer(self.integers),), "i64", ())
        numbers = self.site.allocate((nv.integer(max(1, self.floats)),), "f64", ())
        for view, values in ((words, (*operands.integers, nv.ONE)), (numbers, operands.floats)):
            for k, value in enumerate(values):
                self.e.store(view, (nv.integer(k),), value)
        places = (_start(words), _start(numbers), *operands.places)
        self.e.add(lf.External(name, places, number))
        self.words, self.numbers = words, numbers
        failed = lf.Apply("ne", (self._word(self.status), nv.ZERO), "b1")
        self.e.exit_if(failed, "Python raises, or gives something of another type")

    def _word(self, k: int) -> lf.Expr:
        assert self.words is not None
        return self.e.load(self.words, (nv.integer(k),))

    def _float(self, k: int) -> lf.Expr:
        assert self.numbers is not None
        return self.e.load(self.numbers, (nv.integer(k),))

    def value(self, names: Sequence[Var]) -> nv.Value:
        """What Python has given."""
        return self._value_of(self.result, names)

    def fetch_into(self, made: nv.View) -> None:
        """Copy the array that Python has given to memory."""
        assert isinstance(self.result, ArrayWords)
        for k, dim in enumerate(made.dims):
            self.e.must_be_same(self._word(self.result.at + k), dim)
        self._fetch(made, self.result.at - 1)

    def _value_of(self, words: Words, names: Sequence[Var] = ()) -> nv.Value:
        match words:
            case NumberWords(code="f64", at=at, owner=owner):
                return nv.Scalar(self._float(at), self._owner(owner))
            case NumberWords(code=code, at=at, owner=owner):
                return nv.Scalar(converted(self.e, self._word(at), code), self._owner(owner))
            case ComplexWords(at=at, owner=owner):
                return complex_number(self._float(at), self._float(at + 1), self._owner(owner))
            case ArrayWords():
                return self._array(words, names)
            case ContainerWords(form=form, items=items, keys=keys, type=cls):
                return nv.Tuple(tuple(map(self._value_of, items)), form, keys, cls)
            case KnownWords(value=value):
                return nv.StaticValue(value)

    def _owner(self, at: int) -> nv.DynamicOwner:
        return nv.DynamicOwner(self._word(at), frozenset((nv.PYTHON, nv.NUMPY)))

    def _array(self, words: ArrayWords, names: Sequence[Var]) -> nv.Value:
        dims = tuple(self._word(words.at + k) for k in range(words.rank))
        for dim in dims:
            self.e.note_least(dim, 0)
        if words.dtype == COMPLEX:
            whole = self.site.allocate((*dims, nv.integer(2)), "f64", ())
            self._fetch(whole, words.at - 1)
            return complex_of(*parts_side_by_side(self.e, whole.root, dims, nv.c_strides(dims)))
        made = self.site.allocate(dims, lf.CODES[words.dtype], names)
        self._fetch(made, words.at - 1)
        return made

    def _fetch(self, target: nv.View, address: int) -> None:
        """Copy an array to memory of its own."""
        assert self.words is not None
        size = self.site.allocate((nv.ONE,), "i64", ())
        self.e.store(
            size, (nv.ZERO,), nv.times(nv.product(target.dims), nv.integer(lf.SIZES[target.code]))
        )
        where = lf.Load(self.words.pointer, nv.plus(self.words.offset, nv.integer(address)), "i64")
        self.e.add(lf.External(FETCH, (_start(target), where, _start(size))))


def _start(view: nv.View) -> lf.Load:
    return lf.Load(view.pointer, view.offset, view.code)
