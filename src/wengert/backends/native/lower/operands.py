"""Values as what an op takes: numbers, arrays, and arrays in memory."""

from __future__ import annotations

from collections.abc import Sequence

from ....ir.graph import Atom, Var
from ..values import values as nv
from ..values.complexes import by_part
from ..values.loops import copy_elements, fill
from ..values.promotion import converted
from .pending import Pending


class Operands(Pending):
    """A block whose values are asked for as numbers, as arrays, or in memory."""

    def scalar(self, atom: Atom) -> nv.Scalar:
        """A number."""
        return self.as_scalar(self.value(atom))

    def as_scalar(self, value: nv.Value) -> nv.Scalar:
        if isinstance(value, nv.Lazy) and not value.dims:
            value = self.computed(value)
        if isinstance(value, (nv.View, nv.Broadcast)) and not value.dims:
            return self._element(value)
        if not isinstance(value, nv.Scalar):
            raise nv.Unlowered(f"{nv.described(value)} where a number is expected")
        return value

    def _element(self, value: nv.View | nv.Broadcast) -> nv.Scalar:
        if isinstance(value, nv.Broadcast):
            return nv.Scalar(value.element.expr, nv.NUMPY)
        return nv.Scalar(self.e.load(value, ()), nv.NUMPY)

    def array(self, atom: Atom) -> nv.View | nv.Lazy | nv.Broadcast:
        """An array, in memory or not."""
        value = self.value(atom)
        if not isinstance(value, (nv.View, nv.Lazy, nv.Broadcast)):
            raise nv.Unlowered(f"{nv.described(value)} where an array is expected")
        return value

    def operand(self, atom: Atom) -> nv.Scalar | nv.View | nv.Lazy | nv.Broadcast:
        """A number or an array, of a known type; a reduction that gives a number is computed."""
        found = self.any_operand(atom)
        if isinstance(found, nv.Scalar):
            nv.must_have_type(found)
        return found

    def any_operand(self, atom: Atom) -> nv.Scalar | nv.View | nv.Lazy | nv.Broadcast:
        """The same, also of a type that depends on the run."""
        return self.operand_of(self.value(atom))

    def operand_of(self, value: nv.Value) -> nv.Scalar | nv.View | nv.Lazy | nv.Broadcast:
        """The same for a value."""
        if isinstance(value, nv.Lazy) and not value.dims:
            return self.computed(value)
        if not isinstance(value, (nv.Scalar, nv.View, nv.Lazy, nv.Broadcast)):
            raise nv.Unlowered(f"{nv.described(value)} where numbers are expected")
        return value

    def view(self, value: nv.Value) -> nv.View:
        """An array in memory."""
        if isinstance(value, nv.Lazy):
            value = self.computed(value)
        if isinstance(value, nv.Scalar):
            nv.must_have_type(value)
            value = nv.Broadcast(value, value.code, ())
        if isinstance(value, nv.Broadcast):
            made = self.allocate(value.dims, value.code, ())
            fill(self.e, made, converted(self.e, value.element.expr, value.code))
            return made
        if not isinstance(value, nv.View):
            raise nv.Unlowered(f"{nv.described(value)} where an array is expected")
        return value

    def in_memory(self, atom: Atom) -> nv.View:
        """An array in memory; a value that was only planned is there from now on."""
        value = self.value(atom)
        if isinstance(value, nv.Broadcast) and isinstance(atom, Var):
            made = self._filled(value, [atom])
            if atom in self._own:  # an inner block fills memory for itself, and releases it
                self.values[atom] = made
            return made
        found = self.view(value)
        if isinstance(value, nv.Lazy):
            for name in value.names:
                if self.values.get(name) is value:
                    self.values[name] = found
        return found

    def parts_in_memory(self, atom: Atom) -> nv.Tuple:
        """A complex number, or a complex array whose parts are in memory."""
        made = by_part(self.value(atom), self._part_in_memory)
        if isinstance(atom, Var) and atom in self._own:
            self.values[atom] = made
        return made

    def _part_in_memory(self, part: nv.Value) -> nv.Value:
        if isinstance(part, nv.Scalar):
            return part
        return self.view(part) if part.dims else self.as_scalar(part)

    def _filled(self, value: nv.Broadcast, names: Sequence[Var]) -> nv.View:
        made = self.allocate(value.dims, value.code, names)
        fill(self.e, made, converted(self.e, value.element.expr, value.code))
        return made

    def copied(self, value: nv.Value, names: Sequence[Var] = ()) -> nv.View:
        """An array in memory of its own."""
        source = self.view(value)
        made = self.allocate(source.dims, source.code, names)
        copy_elements(self.e, made, source)
        return made

    def owned_array(self, value: nv.Value) -> nv.View:
        """An array in memory that this block has made, whole, and hands on: it does not release it."""
        view = self.view(value)
        if view.root not in self.e.owned or not view.whole:
            view = self.copied(view)
        self.e.owned.remove(view.root)
        return view
