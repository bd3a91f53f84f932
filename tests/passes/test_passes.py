"""Forward and reverse mode as IR: compared with finite differences by the direct evaluator."""

# pyright: basic

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from interpreter import evaluate
from ir_verifier import verify
from pass_programs import CASES, counted, means, poly, quadratic, rows, weighted

from wengert.errors import NoRule
from wengert.frontend.read import read
from wengert.frontend.row_reader import RowReader
from wengert.ir.builder import Builder
from wengert.ir.graph import Block, Const, Eqn, Function, Input, Var, walk
from wengert.ir.types import (
    BOOL,
    COMPLEX,
    FLOAT,
    INT,
    RANGE,
    UNKNOWN,
    Array,
    Kind,
    Seq,
    Static,
    Struct,
)
from wengert.ops import elementwise as el, registry, structure as st
from wengert.passes.analysis import activity
from wengert.passes.blocks.loops import Slot, for_eqn
from wengert.passes.blocks.tidy import tidy
from wengert.passes.forward import push as forward
from wengert.passes.reverse import sweep as reverse

Program = Callable[..., Any]
STEP = 1e-6


# --- helpers ------------------------------------------------------------------------------


def kind_of(value: Any) -> Kind:
    match value:
        case int():
            return INT
        case float():
            return FLOAT
        case complex():
            return COMPLEX
        case list():
            return Seq(kind_of(value[0]))
        case _:
            return Array(value.dtype.name, value.ndim)


def ir_of(f: Program, kinds: Sequence[Kind]) -> Function:
    arguments = list(zip(inspect.signature(f).parameters, kinds, strict=True))

    def no(*_: Any) -> Any:
        raise AssertionError("not needed here")

    def not_ours(_: Any) -> None: ...

    def not_opted(_: Any) -> bool:
        return False

    reading = read(Static(f), arguments, {}, special=not_ours, derivative=no, opted_out=not_opted)
    return checked(reading.function)


def checked(function: Function) -> Function:
    verify(function)
    return function


def moved(x: Any, direction: Any, t: float) -> Any:
    if isinstance(x, list):
        return [moved(a, b, t) for a, b in zip(x, direction, strict=True)]
    return x + t * direction


def direction_of(x: Any, rng: np.random.Generator) -> Any:
    if isinstance(x, list):
        return [direction_of(item, rng) for item in x]
    return rng.normal(size=x.shape) if isinstance(x, np.ndarray) else float(rng.normal())


def inner(a: Any, b: Any) -> float:
    if isinstance(a, list):
        return sum(map(inner, a, b))
    return float(np.sum(np.asarray(a) * np.asarray(b)))


def close(found: Any, expected: Any, tolerance: float = 1e-5) -> None:
    if isinstance(expected, list):
        assert len(found) == len(expected)
        for a, b in zip(found, expected, strict=True):
            close(a, b, tolerance)
    else:
        assert np.shape(found) == np.shape(expected)
        np.testing.assert_allclose(found, expected, rtol=tolerance, atol=tolerance)


class Derivatives:
    """All ways to differentiate one program at one point."""

    def __init__(self, f: Program, args: Sequence[Any], *, generic: bool):
        self.args = list(args)
        kinds = [UNKNOWN if generic else kind_of(arg) for arg in args]
        self.primal = ir_of(f, kinds)
        self.wrt = [k for k, arg in enumerate(args) if not isinstance(arg, int)]
        rng = np.random.default_rng(0)
        self.directions = [direction_of(args[k], rng) for k in self.wrt]
        self.gradient = checked(reverse.gradient(self.primal, self.wrt, read=RowReader()))
        self.push = checked(forward.pushforward(self.primal, self.wrt, read=RowReader()))

    def at(self, t: float) -> list[Any]:
        args = list(self.args)
        for k, direction in zip(self.wrt, self.directions, strict=True):
            args[k] = moved(args[k], direction, t)
        return args

    def slope(self, function: Function) -> list[Any]:
        """The directional derivatives of a function's results, by central differences."""
        ahead, behind = (evaluate(function, *self.at(t)) for t in (STEP, -STEP))
        return [_slope(a, b) for a, b in zip(ahead, behind, strict=True)]

    def through_split(self, function: Function, bars: Sequence[Any]) -> tuple[Any, ...]:
        ahead, back = reverse.split(function, self.wrt, read=RowReader())
        *_, residuals = evaluate(checked(ahead), *self.args)
        return evaluate(checked(back), residuals, *bars)


def _slope(ahead: Any, behind: Any) -> Any:
    if isinstance(ahead, list):
        return [_slope(a, b) for a, b in zip(ahead, behind, strict=True)]
    return (ahead - behind) / (2 * STEP)


# --- first and second derivatives ---------------------------------------------------------


@pytest.fixture(scope="module", params=["specialised", "generic"])
def generic(request: pytest.FixtureRequest) -> bool:
    return request.param == "generic"


@pytest.fixture(scope="module", params=CASES, ids=lambda case: case[0].__name__)
def derivatives(request: pytest.FixtureRequest, generic: bool) -> Derivatives:
    f, *args = request.param
    return Derivatives(f, args, generic=generic)


def test_first_derivatives_agree(derivatives: Derivatives) -> None:
    d = derivatives
    gradient = evaluate(d.gradient, *d.args)
    (slope,) = d.slope(d.primal)
    close(sum(map(inner, gradient, d.directions)), slope)
    close(evaluate(d.push, *d.args, *d.directions)[-1], slope)
    close(list(d.through_split(d.primal, [1.0])), list(gradient))


def test_second_derivatives_agree_in_every_order(derivatives: Derivatives) -> None:
    d = derivatives
    expected = d.slope(d.gradient)
    forward_of_reverse = checked(forward.pushforward(d.gradient, d.wrt, read=RowReader()))
    close(list(evaluate(forward_of_reverse, *d.args, *d.directions)[len(d.wrt) :]), expected)
    reverse_of_forward = checked(reverse.gradient(d.push, d.wrt, read=RowReader(), output=1))
    close(list(evaluate(reverse_of_forward, *d.args, *d.directions)), expected)
    close(list(d.through_split(d.gradient, d.directions)), expected)


# --- complex numbers ----------------------------------------------------------------------


def squared(z):
    return abs(z * z) ** 2


def mixed(z):
    x = z.real
    w = x * z
    return (w * w).imag


def iterated(z):
    s = z
    for i in range(3):
        s = s * z + 1j * i
    return abs(s)


def of_arrays(z):
    return np.sum(np.abs(np.sin(z) * z) ** 2)


@pytest.mark.parametrize(
    ("f", "z"),
    [
        (squared, 1.2 + 0.7j),
        (mixed, 0.3 + 0.8j),
        (iterated, 0.3 + 0.8j),
        (of_arrays, np.array([0.3 + 0.2j, 0.1 - 1j])),
    ],
)
def test_complex_gradients_are_of_the_real_and_imaginary_part(f: Program, z: Any) -> None:
    primal = ir_of(f, [kind_of(z)])
    (gradient,) = evaluate(checked(reverse.gradient(primal, [0], read=RowReader())), z)
    push = checked(forward.pushforward(primal, [0], read=RowReader()))
    for direction in (1.0, 1j, 0.3 - 0.7j):
        slope = (f(z + STEP * direction) - f(z - STEP * direction)) / (2 * STEP)
        close(np.sum(np.real(np.conj(gradient) * direction)), slope)
        close(evaluate(push, z, direction * np.ones_like(z))[1], slope)


# --- shape of the result ------------------------------------------------------------------


def count(function: Function, *names: str) -> int:
    return sum(eqn.op.name in names for eqn in walk(function.body))


def test_poly_has_no_dead_work_and_one_accumulation() -> None:
    for kind, operations in ((FLOAT, 3), (UNKNOWN, 4)):
        gradient = reverse.gradient(ir_of(poly, [kind]), [0], read=RowReader())
        assert count(gradient, "mul", "add") == operations  # 3 * x of a number is used again
        assert count(gradient, "unbroadcast", "accumulate", "zeros", "fill") == 0


def test_reading_an_element_in_a_loop_writes_one_element_in_reverse() -> None:
    of_arrays = [Array("float64", 1), Array("float64", 2), INT]
    for f, kinds in ((quadratic, of_arrays), (rows, [UNKNOWN, INT])):
        gradient = reverse.gradient(ir_of(f, kinds), [0], read=RowReader())
        inside = [eqn for each in gradient.body.eqns for b in each.blocks for eqn in walk(b)]
        assert not [eqn for eqn in inside if eqn.op is st.zeros]
        assert [eqn for eqn in inside if eqn.op is st.add_at]


def test_the_cotangent_of_a_sum_is_never_spread_out() -> None:
    gradient = reverse.gradient(
        ir_of(weighted, [Array("float64", 1)] * 2), [0, 1], read=RowReader()
    )
    assert count(gradient, "fill", "mul") == 0


def test_gradients_share_no_memory() -> None:
    gradient = reverse.gradient(
        ir_of(weighted, [Array("float64", 1)] * 2), [0, 1], read=RowReader()
    )
    x, w = np.ones(3), np.ones(3)
    x_bar, w_bar = evaluate(gradient, x, w)
    assert not np.shares_memory(x_bar, w)
    assert not np.shares_memory(w_bar, x)

    def added(x, y):
        return np.sum(np.sin(x + y))

    gradient = reverse.gradient(ir_of(added, [Array("float64", 1)] * 2), [0, 1], read=RowReader())
    assert not np.shares_memory(*evaluate(gradient, x, w))


def test_float32_stays_float32() -> None:
    x = np.array([1, 2, 3], np.float32)
    for kind in (Array("float32", 1), UNKNOWN):
        gradient = reverse.gradient(ir_of(means, [kind]), [0], read=RowReader())
        assert evaluate(gradient, x)[0].dtype == np.float32


def test_value_keeps_the_primal_results_first() -> None:
    gradient = reverse.gradient(ir_of(poly, [FLOAT]), [0], read=RowReader(), value=True)
    assert evaluate(gradient, 2.0) == (17.0, 14.0)


def test_long_programs_take_linear_time_and_no_recursion() -> None:
    builder = Builder()
    x = Var(FLOAT, "x")
    y: Any = x
    for k in range(10_000):
        y = builder.emit(el.mul, y, Const(1.0001)) if k % 2 else builder.emit(el.add, y, x)
    body = builder.block((x,), (y,))
    function = Function("long", (Input("x", FLOAT),), body, FLOAT)
    (gradient,) = evaluate(reverse.gradient(function, [0], read=RowReader()), 1.0)
    (value,) = evaluate(function, 1.0)
    close(gradient, value)


def test_an_op_without_a_rule_is_named() -> None:
    op = registry.foreign(lambda x: x)
    x, y = Var(FLOAT, "x"), Var(FLOAT)
    body = Block((x,), (Eqn((y,), op, (x,)),), (y,))
    function = Function("f", (Input("x", FLOAT),), body, FLOAT)
    message = r"<lambda> has no derivative rule[\s\S]*zero_rule[\s\S]*stop_gradient"
    for derive in (reverse.gradient, forward.pushforward):
        with pytest.raises(NoRule, match=message):
            derive(function, [0], read=RowReader())


# --- activity and tidying -----------------------------------------------------------------


def test_only_what_depends_on_an_input_and_reaches_the_output_is_active() -> None:
    function = ir_of(counted, [FLOAT, INT])
    body = function.body
    (out,) = body.outs
    active = activity.active(body, body.params, [out])  # type: ignore[list-item]
    assert body.params[0] in active
    assert body.params[1] not in active
    assert all(var.kind == FLOAT for var in active)


def _loop(*slots: Slot, eqns: Sequence[Eqn] = (), stop: Any = None, item: Var | None = None) -> Eqn:
    like = Eqn((), st.zeros, ())
    n = Var(RANGE, "n")
    return for_eqn([(n, item or Var(INT))], slots, [], eqns, like, stop=stop)


def test_loops_carry_only_what_changes_and_is_needed() -> None:
    a, b, result = Var(FLOAT, "a"), Var(FLOAT, "b"), Var(FLOAT)
    fixed = Slot(a, p := Var(FLOAT), p, Var(FLOAT))
    dead = Slot(b, q := Var(FLOAT), q2 := Var(FLOAT), Var(FLOAT))
    kept = Slot(Const(0.0), r := Var(FLOAT), result, Var(FLOAT))
    eqns = [Eqn((q2,), el.mul, (q, q)), Eqn((result,), el.add, (r, p))]
    loop = _loop(fixed, dead, kept, eqns=eqns)
    n = loop.args[0]
    assert isinstance(n, Var)
    body = Block((a, b, n), (loop,), (kept.out, fixed.out))
    inputs = (Input("a", FLOAT), Input("b", FLOAT), Input("n", RANGE))
    kind = Struct("tuple", (0, 1), (FLOAT, FLOAT))
    tidied = checked(tidy(Function("f", inputs, body, kind)))
    (shorter,) = tidied.body.eqns
    assert shorter.outs == (kept.out,)
    assert evaluate(tidied, 2.0, 3.0, range(4)) == (8.0, 2.0)


def test_effects_are_kept() -> None:
    seen: list[Any] = []
    x, y = Var(FLOAT, "x"), Var(UNKNOWN)
    call = Eqn((y,), st.opaque, (Const(seen.append), x), {"names": Const(())})
    dead = Eqn((Var(FLOAT),), el.mul, (x, x))
    branch_body = Block((), (call,), ())
    condition = Var(BOOL)
    test = Eqn((condition,), st.gt, (x, Const(0.0)))
    builder = Builder()
    for eqn in (dead, test):
        builder.append(eqn)
    builder.if_(condition, branch_body, Block((), (), ()), ())
    function = Function("f", (Input("x", FLOAT),), builder.block((x,), (x,)), FLOAT)
    tidied = checked(tidy(function))
    assert [eqn.op.name for eqn in tidied.body.eqns] == ["gt", "if"]
    evaluate(tidied, 1.0)
    assert seen == [1.0]
