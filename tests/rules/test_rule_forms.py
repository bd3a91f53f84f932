"""The ways to add a rule: what is checked, what takes effect, and what `rule(f)` says."""

from __future__ import annotations

import itertools
import math
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from textwrap import dedent
from typing import Any

import numpy as np
import pytest

import wengert as wg
from wengert.api.explaining import rule
from wengert.errors import RuleError
from wengert.ops import registry as ops
from wengert.ops.arrays.linear_algebra import matmul
from wengert.ops.arrays.reduction import sum_
from wengert.ops.elementwise import add, cos, sin
from wengert.rules import registry
from wengert.rules.forms import (
    bilinear_rule,
    differential,
    frule,
    linear_rule,
    opt_out,
    rrule,
    scalar_rule,
    zero_rule,
)


@pytest.fixture(autouse=True)
def keep_tables() -> Iterator[None]:
    """Every test leaves the table as it found it."""
    registry.rules()  # loads the tables that are not there yet
    before = dict(registry._rules)
    yield
    registry._rules.clear()
    registry._rules.update(before)


def line_of(function: Any) -> str:
    code = function.__code__
    return f"{code.co_filename}:{code.co_firstlineno}"


def own(x: float, y: float = 2.0, *, scale: float = 1.0) -> float:
    return scale * x**y


# --- what is refused ------------------------------------------------------------------------


def _wrong_rows() -> dict[str, tuple[Callable[[], object], str]]:
    return {
        "partials": (
            lambda: scalar_rule(add, lambda x, y, Ω: 1, lambda x, y, Ω: 1, lambda x, y, Ω: 1),
            "the rule for add has 3 partials for 2 operands",
        ),
        "no partial": (lambda: scalar_rule(sin), "the rule for sin has no partial"),
        "parameters": (
            lambda: scalar_rule(math.sin, lambda x: 2.0 * cos(x)),
            "a row of the rule for sin takes 1 positional argument, not 2",
        ),
        "not a function": (
            lambda: scalar_rule(sin, 1.0),  # type: ignore[arg-type]
            "the rule for sin has a row that is not a function: 1.0",
        ),
        "transpose": (
            lambda: linear_rule(sum_, transpose=lambda ȳ: ȳ),
            "a row of the rule for sum takes 1 positional argument, not 2",
        ),
        "transposes": (
            lambda: linear_rule(sum_, transpose=(None, None)),
            "the rule for sum has 2 transposes for 1 operand",
        ),
        "option": (
            lambda: linear_rule(sum_, transpose=lambda ȳ, x, *, axes=None: ȳ),
            "a row of the rule for sum takes the option `axes`, which the op does not have",
        ),
        "bilinear": (
            lambda: bilinear_rule(sin, left=lambda ȳ, x: ȳ, right=lambda ȳ, x: ȳ),
            "the rule for sin has 2 transposes for 1 operand",
        ),
        "bilinear row": (
            lambda: bilinear_rule(matmul, left=lambda ȳ, a: ȳ, right=lambda ȳ, a, b: ȳ),
            "a row of the rule for matmul takes 2 positional arguments, not 3",
        ),
        "differential": (
            lambda: differential(sin)(lambda dx, x: dx),
            "a row of the rule for sin takes 2 positional arguments, not 3",
        ),
        "rrule": (
            lambda: rrule(own)(lambda: None),
            "a row of the rule for own takes 0 positional arguments, not 1 or 2",
        ),
        "frule": (
            lambda: frule(own)(lambda x, x_dot, y: None),
            "a row of the rule for own takes 3 positional arguments, not 2",
        ),
        "target": (lambda: zero_rule(3), "3 is not callable, so it cannot have a rule"),  # type: ignore[arg-type]
        "opt_out": (lambda: opt_out(sin), "opt_out() needs the function itself"),
    }


@pytest.mark.parametrize("case", list(_wrong_rows()))
def test_a_wrong_row_is_refused_at_its_own_line(case: str) -> None:
    register, message = _wrong_rows()[case]
    with pytest.raises(RuleError) as caught:
        register()
    text = str(caught.value)
    assert text.startswith(f"[WG301] {message}")
    span = caught.value.findings[0].span
    assert span is not None
    assert span.file == __file__
    start = register.__code__.co_firstlineno
    assert start <= span.line <= start + 3
    assert f"{span.file}:{span.line}" in text


def test_a_bound_method_is_refused() -> None:
    class Model:
        def area(self) -> float:
            return 1.0

    with pytest.raises(RuleError, match="is a bound method: a new object whenever it is looked up"):
        zero_rule(Model().area)


def test_a_wrong_row_leaves_the_table_as_it_was() -> None:
    before = registry.rule_for(sin)
    with pytest.raises(RuleError):
        scalar_rule(sin, lambda: 0)
    assert registry.rule_for(sin) is before


def test_two_built_in_rules_for_one_op_are_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "_OWN_TABLES", "")
    with pytest.raises(RuleError, match=r"test_rule_forms.py:\d+: sin already has a rule"):
        scalar_rule(sin, lambda x, Ω: cos(x))


# --- what takes effect ------------------------------------------------------------------------


def test_overriding_a_built_in_rule_takes_effect_at_once() -> None:
    generation = registry.generation()
    row = lambda x, Ω: 2.0 * cos(x)
    scalar_rule(np.sin, row)
    found = registry.rule_for(sin)
    assert found is not None
    assert found.rows == (row,)
    assert not found.built_in
    assert registry.generation() > generation


def test_a_function_of_ones_own_becomes_an_op() -> None:
    scalar_rule(own, lambda x, y, Ω: y * Ω / x, None)
    op, namespace = ops.find(own) or (None, "")
    assert op is not None
    assert namespace == "call"
    assert op.signature == "x, y=..., *, scale=..."
    found = registry.rule_for(op)
    assert found is not None
    assert found.form == "scalar"
    assert op(3.0) == 9.0


def test_a_c_function_can_have_a_rule() -> None:
    linear_rule(math.modf, transpose=lambda ȳ, x: ȳ)
    found = ops.find(math.modf)
    assert found is not None
    assert registry.rule_for(found[0]) is not None


def test_an_frule_stands_beside_an_rrule_in_either_order() -> None:
    for first, second in ((rrule, frule), (frule, rrule)):

        def f(x: float) -> float:
            return x

        rows = {
            rrule: lambda x: (x, lambda ȳ: ȳ),
            frule: lambda primals, tangents: (primals, tangents),
        }
        for form in (first, second):
            form(f)(rows[form])
        found = ops.find(f)
        assert found is not None
        both = registry.rule_for(found[0])
        assert both is not None
        assert both.form == "rrule"
        assert both.also["frule"].rows == (rows[frule],)


def test_decorators_give_the_row_back() -> None:
    def row(x: float, y: float = 2.0, *, scale: float = 1.0) -> Any:
        return own(x, y, scale=scale), lambda ȳ: (ȳ, ȳ)

    assert rrule(own)(row) is row


def test_opt_out_uses_no_rule_until_there_is_a_new_one() -> None:
    zero_rule(own)
    opt_out(own)
    op, _ = ops.find(own) or (None, "")
    assert op is not None
    assert registry.rule_for(op) is None
    assert registry.opted_out(op)
    zero_rule(own)
    assert registry.rule_for(op) is not None
    assert not registry.opted_out(op)


# --- what is loaded when it is met ------------------------------------------------------------

PREAMBLE = """
import sys
import numpy as np
import wengert as wg

LATE = ("linear_algebra", "selection")
assert not [name for name in sys.modules if name.startswith("wengert") and name.endswith(LATE)]
A = np.array([[2.0, 1.0], [1.0, 3.0]])
"""


@pytest.mark.parametrize(
    ("program", "expected"),
    [
        ("lambda A: np.linalg.det(A)", 3.0),
        ("lambda A: np.sum(A @ A)", 28.0),
        ("lambda A: np.sum(A.dot(A))", 28.0),
        ("lambda A: np.einsum('ii', A)", 2.0),
        ("lambda A: np.sum(np.take(A, [0, 0]))", 2.0),
        ("lambda A: A.trace()", 2.0),
    ],
)
def test_what_most_programs_do_without_is_loaded_when_it_is_met(
    program: str, expected: float, tmp_path: Path
) -> None:
    found = in_a_fresh_process(f"f = {program}\nprint(np.sum(wg.grad(f)(A)))", tmp_path)
    assert found == pytest.approx(expected)


def test_a_rule_of_ones_own_is_kept_when_the_tables_are_loaded(tmp_path: Path) -> None:
    program = """
        wg.linear_rule(np.trace, lambda ȳ, x: ȳ * np.ones((2, 2)))
        def f(A):
            return np.trace(A) + np.sum(np.linalg.inv(A)) * 0.0
        print(np.sum(wg.grad(f)(A)))
    """
    assert in_a_fresh_process(dedent(program), tmp_path) == 4.0


def test_a_rule_is_described_before_its_table_is_loaded(tmp_path: Path) -> None:
    program = "print(float(wg.rule(np.linalg.inv).form == 'differential'))"
    assert in_a_fresh_process(program, tmp_path) == 1.0


def test_every_function_is_known_before_any_rule_is_asked_for(tmp_path: Path) -> None:
    """What is loaded with the rules only would be taken for a function without one."""
    program = """
        import importlib, pkgutil, wengert.ops
        from wengert.ops import registry
        known = {op.name for op in registry.ops()}
        for module in pkgutil.walk_packages(wengert.ops.__path__, "wengert.ops."):
            importlib.import_module(module.name)
        late = [op for op in registry.ops() if op.spellings and op.name not in known]
        print(len(late) + (registry.find(np.concatenate)[1] != "np"))
    """
    assert in_a_fresh_process(dedent(program), tmp_path) == 0.0


def in_a_fresh_process(program: str, folder: Path) -> float:
    file = folder / "program.py"
    file.write_text(PREAMBLE + program, encoding="utf-8")
    run = subprocess.run([sys.executable, file], capture_output=True, text=True, check=True)
    return float(run.stdout)


# --- rule(f) ----------------------------------------------------------------------------------


def test_rule_prints_a_built_in_rule() -> None:
    described = rule(math.tan)
    assert described.form == "scalar"
    assert described.file.endswith("rules/scalar.py")
    head, source = str(described).split("\n\n")
    where = f"{described.file}:{described.line}"
    assert head == f"math.tan: scalar_rule: its partial derivatives (built in, {where})"
    assert source == "    scalar_rule(tan, lambda x, Ω: 1 + Ω**2)"


def test_rule_prints_a_differential_with_its_docstring() -> None:
    text = repr(rule(np.linalg.inv))
    assert "@differential(inv)" in text
    assert '"""' in text


def test_rule_prints_ones_own_rule() -> None:
    @rrule(own)
    def own_rule(x: float, y: float = 2.0, *, scale: float = 1.0) -> Any:
        return own(x, y, scale=scale), lambda ȳ: (ȳ, None)

    text = str(rule(own))
    assert f"(yours, {line_of(own_rule)})" in text
    assert "    @rrule(own)\n    def own_rule(" in text


def test_rule_says_that_there_is_none_and_what_to_do() -> None:
    assert str(rule(id)) == (
        "id: no rule, and it is not written in Python\n"
        "  Write its rule:              wg.rrule(id)  or  wg.scalar_rule(id, ...)\n"
        "  or say that it is constant:  wg.zero_rule(id)\n"
        "  or keep it out:              wg.stop_gradient(...) around its arguments"
    )


@pytest.mark.parametrize("function", [math.frexp, np.trapezoid, itertools.chain])
def test_rule_names_the_python_that_stands_for_a_function(function: Any) -> None:
    description = rule(function)
    assert description.text.endswith(
        f"no rule; Python that stands for it is read ({description.file}:{description.line})"
    )


def test_rule_of_a_python_function_names_its_code() -> None:
    def plain(x: float) -> float:
        return x

    assert str(rule(plain)).endswith(f"no rule; its own code is read ({line_of(plain)})")


def test_rule_of_a_function_that_opted_out() -> None:
    zero_rule(own)
    opt_out(own)
    assert "no rule is used (opt_out at" in str(rule(own))


# --- differentials that are none ----------------------------------------------------------


def _with_differential(row):
    def area(x: float) -> float:
        return math.sin(x)

    wg.differential(area)(row)
    return area


NOT_LINEAR = [
    (lambda dx, x, y: dx * dx, "mul of a d"),
    (lambda dx, x, y: dx + 1.0, "add of a d and of what is none"),
    (lambda dx, x, y: np.cos(x), "a result that no d is in"),
    (lambda dx, x, y: np.sin(dx) * x, "sin of a d"),
    (lambda dx, x, y: abs(dx) * x, "abs of a d"),
    (lambda dx, x, y: x / dx, "div of a d"),
    (lambda dx, x, y: dx if dx > 0 else 2 * dx, "it branches on a d"),
]


@pytest.mark.parametrize(("row", "says"), NOT_LINEAR)
@pytest.mark.parametrize("mode", [wg.grad, wg.derivative])
def test_a_differential_that_is_not_linear_is_refused_at_its_row(mode, row, says):
    area = _with_differential(row)
    with pytest.raises(RuleError, match=f"is not linear: {says}") as caught:
        mode(area)(1.0)
    ((_, hint, span),) = caught.value.findings
    assert "d(x * y) = dx * y + x * dy" in hint
    assert (span.file, span.line) == (__file__, row.__code__.co_firstlineno)


@pytest.mark.parametrize("mode", [wg.grad, wg.derivative])
def test_a_differential_of_another_shape_is_refused(mode):
    area = _with_differential(lambda dx, x, y: np.ones(3) * dx)
    with pytest.raises(RuleError, match=r"gave a tangent of shape \(3,\) for the result, whose sh"):
        mode(area)(1.0)


def test_linear_differentials_of_all_sorts_are_taken():
    def energy(A: np.ndarray, b: np.ndarray) -> float:
        return float(b @ np.linalg.solve(A, b))

    @wg.differential(energy)
    def _(dA, db, A, b, y):
        x = np.linalg.solve(A, b)
        moved = np.concatenate([np.zeros(1), db])[1:] - 0.0
        return db @ x + b @ np.linalg.solve(A, moved - dA @ x)

    A, b = np.array([[2.0, 0.3], [0.1, 1.5]]), np.array([0.7, -0.4])
    found = wg.grad(energy, (0, 1))(A, b)
    expected = wg.grad(lambda A, b: b @ np.linalg.solve(A, b), (0, 1))(A, b)
    for each, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(each, other, rtol=1e-12)


def test_rows_are_written_for_defaults_that_a_call_leaves_out_too():
    def power(x, k=2.0):
        return math.pow(x, k)

    wg.scalar_rule(power, lambda x, k, y: k * x ** (k - 1), lambda x, k, y: y * math.log(x))
    for call in (lambda x: power(x), lambda x: power(x, 2.0), lambda x: power(x=x)):
        assert wg.grad(call)(3.0) == wg.derivative(call)(3.0) == 6.0
        assert wg.grad(call, tier="recorded")(3.0) == 6.0
