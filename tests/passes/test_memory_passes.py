"""Derivatives of programs that write in place: what the IR means, and what is printed of it.

The direct evaluator takes the IR by its word: a write gives a new value. The printed program writes to
memory. Both have to agree, to the last digit but for the order of sums.
"""

# pyright: basic

from __future__ import annotations

import copy
import re
import time
from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np
import programs
import pytest
from interpreter import evaluate
from ir_parsing import parse
from ir_verifier import verify
from memory_programs import PROGRAMS
from random_writes import random_program

import wengert as wg
from wengert.backends import python as printer
from wengert.compile import engine
from wengert.errors import LostWrite, WengertError
from wengert.frontend.row_reader import RowReader
from wengert.ir.graph import Function
from wengert.ops import registry
from wengert.passes.forward import push as forward
from wengert.passes.memory import settle as memory
from wengert.passes.memory.written_closure import Concerned
from wengert.passes.reverse import sweep as reverse

STEP = 1e-6


# --- helpers ------------------------------------------------------------------------------


def function_of(text: str) -> Function:
    return checked(parse(text.strip(), registry.named))


def checked(function: Function) -> Function:
    verify(function)
    return function


def text_of(function: Function) -> str:
    return printer.render(memory.settled(function)).text


def printed(function: Function) -> Callable[..., tuple[Any, ...]]:
    """A function as it is published, giving a tuple of the leaves of its result."""
    run = printer.publish(printer.render(memory.settled(function)))
    alone = len(function.body.outs) == 1

    def call(*args: Any) -> tuple[Any, ...]:
        result = run(*args)
        is_tuple = isinstance(result, tuple) and len(result) == 1
        return (result,) if alone and not is_tuple else result

    return call


def flat(x: Any) -> np.ndarray:
    """The numbers in a value, one after the other."""
    match x:
        case list() | tuple():
            parts = [flat(item) for item in x]
        case dict():
            parts = [flat(item) for item in x.values()]
        case SimpleNamespace():
            parts = [flat(vars(x))]
        case None:
            parts = []
        case _:
            return np.atleast_1d(np.asarray(x, complex if np.iscomplexobj(x) else float)).ravel()
    return np.concatenate(parts) if parts else np.zeros(0)


def close(found: Any, expected: Any, tolerance: float = 1e-5) -> None:
    np.testing.assert_allclose(flat(found), flat(expected), rtol=tolerance, atol=tolerance)


def moved(x: Any, direction: Any, t: Any) -> Any:
    match x:
        case list():
            return [moved(a, b, t) for a, b in zip(x, direction, strict=True)]
        case dict():
            return {key: moved(item, direction[key], t) for key, item in x.items()}
        case _:
            return x + t * direction


def direction_of(x: Any, rng: np.random.Generator) -> Any:
    match x:
        case list():
            return [direction_of(item, rng) for item in x]
        case dict():
            return {key: direction_of(item, rng) for key, item in x.items()}
        case np.ndarray() if x.dtype.kind == "c":
            return rng.normal(size=x.shape) + 1j * rng.normal(size=x.shape)
        case np.ndarray():
            return rng.normal(size=x.shape)
        case _:
            return float(rng.normal())


def inner(a: Any, b: Any) -> float:
    return float(np.real(np.sum(np.conj(flat(a)) * flat(b))))


class Derivatives:
    """All ways to differentiate one program at one point."""

    def __init__(self, primal: Function, args: Sequence[Any]):
        self.primal = checked(primal)
        self._args = args
        self.wrt = [k for k, arg in enumerate(args) if not isinstance(arg, int)]
        rng = np.random.default_rng(0)
        self._directions = [direction_of(args[k], rng) for k in self.wrt]
        self.gradient = checked(reverse.gradient(self.primal, self.wrt, read=RowReader()))
        self.push = checked(forward.pushforward(self.primal, self.wrt, read=RowReader()))

    @property
    def args(self) -> list[Any]:
        return copy.deepcopy(list(self._args))

    @property
    def directions(self) -> list[Any]:
        return copy.deepcopy(self._directions)

    def slope(self, function: Function) -> np.ndarray:
        """The directional derivative of a function's results, by central differences."""
        values = []
        for t in (STEP, -STEP):
            args = self.args
            for k, direction in zip(self.wrt, self.directions, strict=True):
                args[k] = moved(args[k], direction, t)
            values.append(flat(evaluate(function, *args)))
        return (values[0] - values[1]) / (2 * STEP)

    def agree(self, function: Function, *more: Any) -> tuple[Any, ...]:
        """What a function gives; the same by the evaluator and by the printed program."""
        expected = evaluate(function, *self.args, *copy.deepcopy(more))
        found = printed(function)(*self.args, *copy.deepcopy(more))
        close(list(found), list(expected), 1e-9)
        return expected

    def through_split(self, function: Function, bars: Sequence[Any]) -> None:
        """Both halves agree with the evaluator's; the second may be called again."""
        halves = reverse.split(function, self.wrt, read=RowReader())
        ahead, back = map(checked, halves)
        *_, residuals = evaluate(ahead, *self.args)
        expected = evaluate(back, residuals, *copy.deepcopy(bars))
        *_, residuals = printed(ahead)(*self.args)
        pull = printed(back)
        for _ in range(2):
            close(list(pull(residuals, *copy.deepcopy(bars))), list(expected), 1e-9)


def check_first(d: Derivatives) -> None:
    d.agree(d.primal)
    gradient = d.agree(d.gradient)
    first = d.slope(d.primal)[0]
    close(sum(map(inner, gradient, d.directions)), first)
    outs = len(d.primal.body.outs)
    close(d.agree(d.push, *d.directions)[outs], first)
    d.through_split(d.primal, [1.0, *[np.zeros(3)] * (outs - 1)])


def check_arguments(d: Derivatives) -> None:
    """The arguments are left as the program itself leaves them."""
    expected, found = d.args, d.args
    printed(d.primal)(*expected)
    for function, more in ((d.gradient, ()), (d.push, d.directions)):
        found = d.args
        printed(function)(*found, *more)
        assert repr(found) == repr(expected)


def check_second(d: Derivatives) -> None:
    expected = d.slope(d.gradient)
    outs = len(d.primal.body.outs)
    over_reverse = checked(forward.pushforward(d.gradient, d.wrt, read=RowReader()))
    close(d.agree(over_reverse, *d.directions)[len(d.wrt) :], expected)
    over_forward = checked(reverse.gradient(d.push, d.wrt, read=RowReader(), output=outs))
    close(d.agree(over_forward, *d.directions), expected)
    d.through_split(d.gradient, d.directions)


# --- programs -----------------------------------------------------------------------------


@pytest.fixture(scope="module", params=PROGRAMS)
def derivatives(request: pytest.FixtureRequest) -> Derivatives:
    text, args = PROGRAMS[request.param]
    return Derivatives(function_of(text), args)


def test_first_derivatives_agree(derivatives: Derivatives) -> None:
    check_first(derivatives)


def test_arguments_are_left_as_the_program_leaves_them(derivatives: Derivatives) -> None:
    check_arguments(derivatives)


def test_second_derivatives_agree(derivatives: Derivatives) -> None:
    check_second(derivatives)


@pytest.mark.parametrize("generic", [False, True], ids=["specialised", "generic"])
@pytest.mark.parametrize("seed", range(12))
def test_random_programs(seed: int, generic: bool) -> None:
    with np.errstate(all="ignore"):
        d = Derivatives(*random_program(seed, generic=generic))
        check_first(d)
        check_arguments(d)
        check_second(d)


def test_a_returned_array_shares_no_memory_with_a_gradient() -> None:
    text, args = PROGRAMS["returned"]
    gradient = reverse.gradient(function_of(text), [0, 1], read=RowReader(), value=True)
    a, t = copy.deepcopy(args)
    s, left, a_bar, _ = printed(gradient)(a, t)
    assert left is a
    assert not np.shares_memory(a_bar, a)
    np.testing.assert_allclose(left, [1.1, 1.1 * 0.7, 1.1 * 0.7])
    assert s == pytest.approx(1.1 + 1.1 * 0.7 + 1.3)


def test_attributes_of_an_object() -> None:
    function = function_of("""
f(p: ?, t: float) -> float:
    x: float = p.x
    w = p.w
    y = x * t
    p.1: ? = store(p, .x, y)
    z = y * x
    p.2: ? = store(p.1, .w, 1, z)
    x.1: float = p.2.x
    w.1 = p.2.w
    u = w.1 * x.1
    s: float = sum(u)
    return s
""")
    gradient = checked(reverse.gradient(function, [0, 1], read=RowReader()))

    def value(x: float, w: Any, t: float) -> float:
        return evaluate(function, SimpleNamespace(x=x, w=np.array(w)), t)[0]

    p = SimpleNamespace(x=1.3, w=np.array([0.4, 0.6]))
    p_bar, t_bar = printed(gradient)(p, 0.7)
    assert p.x == 1.3 * 0.7
    x_bar = (value(1.3 + STEP, [0.4, 0.6], 0.7) - value(1.3 - STEP, [0.4, 0.6], 0.7)) / (2 * STEP)
    assert p_bar.x == pytest.approx(x_bar, rel=1e-6)
    np.testing.assert_allclose(p_bar.w, [1.3 * 0.7, 0.0])
    close(t_bar, (value(1.3, [0.4, 0.6], 0.7 + STEP) - value(1.3, [0.4, 0.6], 0.7 - STEP)) / 2e-6)


# --- what is refused ----------------------------------------------------------------------

_INTEGERS = """
f(x: float) -> float:
    a: array[{dtype}, 1] = np.arange(3)
    a.1 = store(a, 1, x)
    s: float = sum(a.1)
    return s
"""


def test_an_array_of_integers_takes_no_active_float() -> None:
    function = function_of(_INTEGERS.format(dtype="int64"))
    for derive in (reverse.gradient, forward.pushforward):
        with pytest.raises(LostWrite, match=r"array of int64[\s\S]*integer part[\s\S]*dtype=float"):
            derive(function, [0], read=RowReader())


def test_an_array_of_unknown_dtype_is_checked_when_the_program_runs() -> None:
    function = function_of(_INTEGERS.format(dtype="?"))
    for derived, args in (
        (reverse.gradient(function, [0], read=RowReader()), [1.5]),
        (forward.pushforward(function, [0], read=RowReader()), [1.5, 1.0]),
    ):
        with pytest.raises(ValueError, match="integer part"):
            printed(derived)(*args)


def test_writing_to_a_copy_of_a_part_is_told() -> None:
    function = function_of("""
f(a: array[float64, 2], x: float) -> float:
    a.1 = store(a, .method.reshape(shape=(6,)), 1, x)
    s: float = sum(a.1)
    return s
""")
    gradient = reverse.gradient(function, [0, 1], read=RowReader())
    a_bar, x_bar = printed(gradient)(np.ones((2, 3)), 2.0)
    np.testing.assert_array_equal(a_bar, [[1, 0, 1], [1, 1, 1]])
    assert x_bar == 1.0
    with pytest.raises(ValueError, match="writes to a copy"):
        printed(gradient)(np.ones((3, 2)).T, 2.0)


# --- what it costs ------------------------------------------------------------------------


def loops_of(text: str) -> str:
    """The lines of the loops of a printed function."""
    return "\n".join(line for line in text.split("\n") if line.startswith(" " * 8))


@pytest.mark.parametrize("name", ["elements", "one_branch", "table", "while_loop", "appended"])
def test_no_copy_stands_in_a_loop_over_elements(name: str) -> None:
    d = Derivatives(function_of(PROGRAMS[name][0]), PROGRAMS[name][1])
    for function in (d.gradient, d.push, *reverse.split(d.primal, d.wrt, read=RowReader())):
        inside = loops_of(text_of(function))
        assert inside
        assert "copy" not in inside
        assert "zeros" not in inside


def test_buffers_that_change_places_are_not_copied() -> None:
    """Only the slice that the reverse sweep takes out of the buffer is."""
    d = Derivatives(function_of(PROGRAMS["swapped_buffers"][0]), PROGRAMS["swapped_buffers"][1])
    assert "copy" not in loops_of(text_of(d.push))
    text = text_of(d.gradient)
    assert "copy" not in loops_of(text.partition("# reverse")[0])
    copies = [line for line in loops_of(text).split("\n") if "copy" in line]
    assert len(copies) == 1
    assert "v_bar[1:-1]" in copies[0]


def test_what_is_needed_later_is_copied_before_the_write() -> None:
    text, args = PROGRAMS["residual"]
    d = Derivatives(function_of(text), args)
    lines = text_of(d.gradient).split("\n")
    copy_at = next(k for k, line in enumerate(lines) if "a.copy()" in line)
    write_at = next(k for k, line in enumerate(lines) if "a[1] = 5.0" in line)
    assert copy_at < write_at


def test_gradients_cost_a_multiple_of_the_program(capsys: pytest.CaptureFixture[str]) -> None:
    """The ratio is shown, not asserted: a busy machine would decide it."""
    text, _ = PROGRAMS["elements"]
    function = function_of(text)
    gradient = reverse.gradient(function, [0], read=RowReader())
    run, derived = printed(function), printed(gradient)
    ratios: list[str] = []
    for n in (10**3, 10**4, 10**5):
        seconds = [
            min(_seconds(each, np.full(n, 0.9), n) for _ in range(3)) for each in (derived, run)
        ]
        ratios.append(f"{n}: {seconds[0] / seconds[1]:.1f}")
    with capsys.disabled():
        print(f"\ngradient / program: {', '.join(ratios)}")


def _seconds(function: Callable[..., Any], *args: Any) -> float:
    start = time.perf_counter()
    function(*args)
    return time.perf_counter() - start


@pytest.mark.parametrize("program", programs.PROGRAMS[::9], ids=lambda program: program.name)
def test_what_no_write_concerns_would_change_no_copy(
    program: programs.Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    def derivative() -> str:
        engine._cache.clear()  # pyright: ignore[reportPrivateUsage]
        try:
            args = copy.deepcopy(program.points[0])
            return str(wg.code_adjoint(program.function, *args))
        except WengertError as error:
            return str(error)

    quick = derivative()
    monkeypatch.setattr(Concerned, "__contains__", lambda self, var: True)
    assert derivative() == quick


class Kept:
    def __init__(self):
        self.w = np.array([0.1, 0.2])
        self.parts = [np.array([0.3, 0.4]), np.array([0.5, 0.6])]


def put_elsewhere(x, kept):
    """What was a part of an object is changed before another part is put into a list."""
    old = kept.parts[0]
    kept.parts[0] = np.full(2, x)
    old[0] = x
    first = kept.w
    kept.w = np.full(2, 2 * x)
    kept.parts = [first, np.full(2, x)]
    return np.sum(kept.parts[0]) * x + kept.w[0] * x


def taken_and_put_back(x, kept):
    old = kept.parts[0]
    kept.parts[0] = np.full(2, x)
    old *= x
    last = kept.parts.pop()
    kept.parts = [last, np.full(2, x)]
    return np.sum(kept.parts[0]) * x + kept.w[0] * x


@pytest.mark.parametrize(
    ("program", "of"),
    [(put_elsewhere, lambda kept: kept.w), (taken_and_put_back, lambda kept: kept.parts[1])],
)
def test_what_a_program_puts_into_an_object_is_the_very_object(program, of):
    slope = (program(0.7 + 1e-6, Kept()) - program(0.7 - 1e-6, Kept())) / 2e-6
    for way in (
        lambda kept: wg.grad(program)(0.7, kept),
        lambda kept: wg.pushforward(program, 0.7, kept)[1](1.0, None),
        lambda kept: wg.pullback(program, 0.7, kept)[1](1.0)[0],
    ):
        kept = Kept()
        put = of(kept)
        assert way(kept) == pytest.approx(slope)
        assert kept.parts[0] is put


def tabulated(x, n):
    """Dynamic programming in a dictionary: each step stores one number, and reads two."""
    table = {0: x, 1: x * x}
    for i in range(2, n):
        table[i] = np.sin(table[i - 1]) + 0.5 * table[i - 2]
    return table[n - 1]


def test_a_number_that_is_taken_out_of_a_table_is_no_reason_to_copy_the_table():
    text = wg.grad(tabulated).specialize(0.7, 9).source
    loops = text[text.index("# reverse") :]
    assert re.search(r"t\d+\[i\] = 0\.0\n", loops)
    assert "parted=True" not in loops
    slope = (tabulated(0.7 + STEP, 9) - tabulated(0.7 - STEP, 9)) / (2 * STEP)
    assert wg.grad(tabulated)(0.7, 9) == pytest.approx(slope)
