"""Random programs in the IR that write in place, read views and elements, and carry buffers through loops.

They keep the promise that the front end makes: nothing reads an old version of what was written to.
"""

# pyright: basic

from __future__ import annotations

import random
from typing import Any

import numpy as np

from wengert.ir.builder import Builder
from wengert.ir.graph import Atom, Const, Function, Input, Var
from wengert.ir.types import FLOAT, INT, UNKNOWN, Array, Seq
from wengert.ops import elementwise as el, registry, structure as st
from wengert.ops.program import memory as me

SIZE = 5
SLICES = [slice(None), slice(1, None), slice(None, -1), slice(0, 4, 2), slice(1, 3)]


class Names:
    """What the objects and numbers of a program are at one point of it."""

    def __init__(
        self, arrays: list[Any], scalars: list[Any], lists: list[Any], counters: list[Any]
    ):
        self.arrays, self.scalars, self.lists, self.counters = arrays, scalars, lists, counters
        self.fixed: list[Any] = []

    def all(self) -> list[Any]:
        return [*self.arrays, *self.scalars, *self.lists]

    def inside(self, variables: list[Any]) -> Names:
        a, s = len(self.arrays), len(self.arrays) + len(self.scalars)
        return Names(variables[:a], variables[a:s], variables[s:], list(self.counters))

    def assign(self, variables: list[Any]) -> None:
        new = self.inside(variables)
        self.arrays[:], self.scalars[:], self.lists[:] = new.arrays, new.scalars, new.lists


class Writer:
    """Writes one program; with `generic` the kinds of its arguments are unknown."""

    def __init__(self, seed: int, *, generic: bool):
        self.random = random.Random(seed)
        self.generic = generic

    def kind(self, kind: Any) -> Any:
        return UNKNOWN if self.generic else kind

    def program(self) -> Function:
        r = self.random
        arrays = [Var(self.kind(Array("float64", 1)), f"a{k}") for k in range(r.randint(1, 2))]
        lists = [Var(self.kind(Seq(FLOAT)), "xs")] if r.random() < 0.5 else []
        scalars = [Var(FLOAT, "t")]
        params = [*arrays, *scalars, *lists]
        names = Names(list(arrays), list(scalars), list(lists), [])
        builder = Builder()
        self.block(builder, names, r.randint(3, 9), 0)
        total: Atom = Const(0.0)
        for array in [*names.arrays, *names.fixed]:
            squares = builder.emit(el.mul, array, array) if r.random() < 0.5 else array
            total = builder.emit(el.add, total, self.sum(builder, squares))
        for scalar in names.scalars:
            total = builder.emit(el.add, total, scalar)
        for items in names.lists:
            for k in range(2):
                item = builder.emit(st.getitem, items, Const(k), kind=FLOAT)
                total = builder.emit(el.add, total, item)
        inputs = tuple(Input(param.name, param.kind) for param in params)
        return Function("f", inputs, builder.block(tuple(params), (total,)), FLOAT)

    # --- values ---------------------------------------------------------------------------

    def sum(self, builder: Builder, array: Atom) -> Atom:
        return builder.emit(registry.named("sum"), array, namespace="np", kind=FLOAT)

    def sin(self, builder: Builder, x: Atom) -> Atom:
        return builder.emit(registry.named("sin"), x, namespace="np")

    def index(self, names: Names) -> Atom:
        if names.counters and self.random.random() < 0.7:
            return self.random.choice(names.counters)
        return Const(self.random.choice([0, 1, 2, 3, -1]))

    def item(self, builder: Builder, x: Atom, index: Atom) -> Atom:
        known = self.random.random() < 0.8
        return builder.emit(st.getitem, x, index, kind=FLOAT if known else None)

    def scalar(self, builder: Builder, names: Names) -> Atom:
        r = self.random
        match r.random():
            case k if k < 0.4:
                return self.item(builder, r.choice(names.arrays), self.index(names))
            case k if k < 0.6 and names.lists:
                return self.item(builder, r.choice(names.lists), Const(r.choice([0, 1])))
            case k if k < 0.8:
                x = self.scalar(builder, names) if r.random() < 0.5 else r.choice(names.scalars)
                return self.sin(builder, builder.emit(el.mul, x, r.choice(names.scalars)))
            case _:
                return r.choice(names.scalars)

    def array(self, builder: Builder, names: Names, length: int) -> Atom:
        r = self.random
        parts = [part for part in SLICES if len(range(SIZE)[part]) == length]
        if r.random() < 0.5:
            part = r.choice(parts)
            if part == slice(None) and r.random() < 0.7:
                return r.choice(names.arrays)
            return builder.emit(st.getitem, r.choice(names.arrays), Const(part))
        if r.random() < 0.6:
            x = self.array(builder, names, length)
        else:
            x = builder.emit(st.getitem, r.choice(names.arrays), Const(r.choice(parts)))
        match r.random():
            case k if k < 0.4:
                return self.sin(builder, x)
            case k if k < 0.7:
                return builder.emit(el.mul, x, self.array(builder, names, length))
            case _:
                return builder.emit(el.mul, x, r.choice(names.scalars))

    # --- statements -----------------------------------------------------------------------

    def block(self, builder: Builder, names: Names, count: int, depth: int) -> None:
        for _ in range(count):
            match self.random.random():
                case k if k < 0.52:
                    self.write(builder, names)
                case k if k < 0.58:
                    self.new_array(builder, names, depth)
                case k if k < 0.74:
                    self.new_scalar(builder, names, depth)
                case k if k < 0.80 and names.lists:
                    self.change_list(builder, names)
                case k if k < 0.92 and depth < 2:
                    self.loop(builder, names, depth)
                case _ if depth < 3:
                    self.branch(builder, names, depth)

    def write(self, builder: Builder, names: Names) -> None:
        r = self.random
        at = r.randrange(len(names.arrays))
        x, kind = names.arrays[at], r.random()
        if kind < 0.5:
            new = builder.emit(me.store, x, self.index(names), self.scalar(builder, names))
        elif kind < 0.75:
            part = r.choice(SLICES[1:])
            length = len(range(SIZE)[part])
            whole = r.random() < 0.8
            value = self.array(builder, names, length) if whole else self.scalar(builder, names)
            new = builder.emit(me.store, x, Const(part), value)
        elif kind < 0.88:
            new = builder.emit(me.overwrite, x, self.array(builder, names, SIZE))
        else:
            steps = (Const(slice(1, None)), Const(1))
            new = builder.emit(me.store, x, *steps, self.scalar(builder, names))
        names.arrays[at] = new

    def new_array(self, builder: Builder, names: Names, depth: int) -> None:
        array = builder.emit(el.mul, self.array(builder, names, SIZE), Const(0.7))
        if depth == 0 and len(names.arrays) < 4:
            names.arrays.append(array)
        elif depth == 0 and len(names.fixed) < 3:
            names.fixed.append(array)

    def new_scalar(self, builder: Builder, names: Names, depth: int) -> None:
        if self.random.random() < 0.5:
            array = builder.emit(el.mul, self.array(builder, names, 4), Const(0.3))
            scalar = self.sum(builder, array)
        else:
            scalar = self.scalar(builder, names)
        if depth == 0 and len(names.scalars) < 4:
            names.scalars.append(scalar)
        else:
            names.scalars[self.random.randrange(len(names.scalars))] = scalar

    def change_list(self, builder: Builder, names: Names) -> None:
        r = self.random
        (xs,) = names.lists
        value = self.scalar(builder, names)
        match r.random():
            case k if k < 0.4:
                xs = builder.emit(me.append, xs, value)
            case k if k < 0.6:
                xs = builder.emit(me.store, xs, Const(r.choice([0, 1, -1])), value)
            case k if k < 0.8:
                xs = builder.emit(me.insert, xs, Const(r.choice([0, 1, -1, 2])), value)
            case _:
                xs = builder.emit(me.append, xs, value)
                xs = builder.emit(me.drop, xs, Const(r.choice([0, 1, -1])))
        names.lists[:] = [xs]

    # --- control --------------------------------------------------------------------------

    def merged(self, names: Names) -> list[Var]:
        """A new value for everything that a loop carries or a branch gives."""
        return [
            Var(self.kind(FLOAT) if atom.kind == FLOAT else atom.kind, atom.name)
            for atom in names.all()
        ]

    def loop(self, builder: Builder, names: Names, depth: int) -> None:
        r = self.random
        params, outs, counter = self.merged(names), self.merged(names), Var(INT, "i")
        inside = names.inside(params)
        inside.counters.append(counter)
        child = builder.child()
        self.block(child, inside, r.randint(1, 4), depth + 1)
        if len(inside.arrays) > 1 and r.random() < 0.4:
            i, j = r.sample(range(len(inside.arrays)), 2)
            arrays = inside.arrays
            arrays[i], arrays[j] = arrays[j], arrays[i]
        times = builder.emit(st.range_, Const(r.randint(1, 3)))
        body = child.block((counter, *params), inside.all())
        builder.for_([times], names.all(), body, outs)
        names.assign(outs)

    def branch(self, builder: Builder, names: Names, depth: int) -> None:
        r = self.random
        limit = Const(r.choice([0.2, 0.5, 0.8]))
        condition = builder.emit(st.gt, self.scalar(builder, names), limit)
        blocks = []
        for arm in range(2):
            inside, child = names.inside(names.all()), builder.child()
            if arm == 0 or r.random() < 0.5:
                self.block(child, inside, r.randint(1, 3), max(depth, 1) + 1)
            blocks.append(child.block((), inside.all()))
        outs = self.merged(names)
        builder.if_(condition, *blocks, outs)
        names.assign(outs)


def random_program(seed: int, *, generic: bool) -> tuple[Function, tuple[Any, ...]]:
    """A program and arguments to run it with."""
    function = Writer(seed, generic=generic).program()
    rng = np.random.default_rng(seed)
    args: list[Any] = []
    for each in function.inputs:
        if each.name == "t":
            args.append(float(rng.uniform(0.3, 1.2)))
        elif each.name == "xs":
            args.append(rng.uniform(0.3, 1.2, size=3).tolist())
        else:
            args.append(rng.uniform(0.3, 1.2, size=SIZE))
    return function, tuple(args)
