"""Every program of the corpus, differentiated every way, against the oracle.

The oracle knows no calculus: it runs the program's own source in sixty digits and takes
differences. Forward mode is held against reverse mode, second derivatives against mixed
differences, generated source against the functions it came from. What `programs/pending.py` lists
must be refused, or be right: that it is refused no longer is for that list to say.

Reverse mode goes through every program; the expensive ways take turns (`turns.py`).
"""

import ast
import builtins
import copy
import functools
import math
from pathlib import Path

import numpy as np
import oracle
import programs
import pytest
import trees
import twin
from programs import pending
from turns import has_turn

import wengert as wg
from wengert.errors import InternalError


def each_program(
    chosen=lambda program: True, every_point=False, unless="GRADIENT", turn=0, parts=1
):
    """A decorator: the test for every chosen program that has its turn, at its first or at every point.

    A program that is on the list `unless` is still refused, at one of these points at least.
    """
    listed = getattr(pending, unless)
    cases = []
    for program in programs.PROGRAMS:
        points = program.points if every_point else program.points[:1]
        if not chosen(program) or program.name in pending.GRADIENT - listed:
            continue
        if program.name in listed:
            cases.append(pytest.param(program, points, id=f"{program.name}-pending"))
        elif has_turn(program.name, turn, parts):
            cases += [
                pytest.param(program, [x], id=f"{program.name}-{k}") for k, x in enumerate(points)
            ]

    def decorate(test):
        def run(program, points, update):
            if program.name not in listed:
                test(program, *points)
                return
            refused = [is_refused(test, program, args) for args in points]
            if any(refused):
                return
            if not update:
                pytest.fail(f"{program.name} is refused no longer: {TAKE_OFF}")
            take_off(unless, program.name)
            take_off("WRONG", program.name)

        return pytest.mark.parametrize(("program", "points"), cases)(run)

    return decorate


TAKE_OFF = "take it off the list in programs/pending.py, or let `pytest --update` do it"


def take_off(list_name, program_name):
    path = Path(pending.__file__)
    before, start, after = path.read_text().partition(f"\n{list_name} = ")
    names, end, rest = after.partition('\n""".split())')
    kept = [line for line in names.split("\n") if line.strip() != program_name]
    path.write_text(before + start + "\n".join(kept) + end + rest)


def is_refused(test, program, args):
    """Whether wengert says that it cannot; what it can do has to pass the test."""
    known_as_wrong = program.name in pending.WRONG
    try:
        test(program, args)
    except Exception as error:
        refused = is_refusal(error)
        assert not (refused and known_as_wrong), "refused now: take it off WRONG"
        if not (refused or known_as_wrong):
            raise
        return True
    return False


def is_refusal(error):
    """Whether an error says that wengert cannot: also one that source which stands alone raises."""
    return getattr(error, "code", "").startswith("WG") and not isinstance(error, InternalError)


@functools.cache
def has_one_real_result(program):
    return isinstance(program(*program.points[0]), int | float | np.floating)


def has_numbers_for_arguments(program):
    """Whether every differentiated argument is a float or an array of floats."""
    arguments = [program.points[0][i] for i in program.wrt]
    return has_one_real_result(program) and all(
        isinstance(x, float) or (isinstance(x, np.ndarray) and x.dtype.kind == "f")
        for x in arguments
    )


def test_pending_names_programs_of_the_corpus():
    lists = {name: item for name, item in vars(pending).items() if name.isupper()}
    wrong = lists.pop("WRONG")
    listed = frozenset().union(*lists.values())
    assert listed <= {program.name for program in programs.PROGRAMS}
    assert wrong <= listed


def is_smooth(program):
    return program.smooth and has_one_real_result(program)


def tangents_for(program, args):
    """One tangent per argument, `None` for those without a derivative."""
    return [
        trees.random_like(arg, seed=i + 1) if i in program.wrt else None
        for i, arg in enumerate(args)
    ]


def only(program, values):
    return tuple(values[i] for i in program.wrt)


def on_copies(function):
    """The function, called with copies: a program may change what it is given."""
    return lambda *args: function(*copy.deepcopy(args))


def gradient_of(program):
    return on_copies(wg.grad(program.function, argnums=program.wrt))


def specialised_gradient_of(program, args):
    return specialised_at(program, next(k for k, x in enumerate(program.points) if x is args))


@functools.cache
def specialised_at(program, point):
    return specialised_anew(program, program.points[point])


def specialised_anew(program, args):
    gradient = wg.grad(program.function, argnums=program.wrt)
    return gradient.specialize(*copy.deepcopy(args))


@each_program(every_point=True)
def test_reverse_is_what_the_oracle_finds(program, args):
    given, left = copy.deepcopy(args), copy.deepcopy(args)
    expected_value = program.function(*left)
    value, back = wg.pullback(program.function, *given)
    trees.assert_close(value, expected_value, rel=1e-15)
    y_bar = trees.random_like(value)
    found = back(y_bar)
    assert len(found) == len(args)
    for i in program.wrt:
        trees.assert_looks_like_a_gradient(found[i], args[i], f"argument {i}")
    expected = oracle.gradient(program.function, *args, wrt=program.wrt, cotangent=y_bar)
    trees.assert_close(only(program, found), expected, rel=program.rel)
    trees.assert_close(value, expected_value, rel=1e-15)
    assert trees.coordinates(given) == trees.coordinates(left), (
        "the arguments are not as the program leaves them"
    )


@each_program(has_one_real_result, every_point=True)
def test_gradient_is_what_the_oracle_finds(program, args):
    expected = oracle.gradient(program.function, *args, wrt=program.wrt)
    trees.assert_close(gradient_of(program)(*args), expected, rel=program.rel)


@each_program(every_point=True, unless="FORWARD")
def test_forward_is_reverse_transposed(program, args):
    tangents = tangents_for(program, args)
    value, push = wg.pushforward(program.function, *copy.deepcopy(args))
    trees.assert_close(value, program(*args), rel=1e-15)
    y_dot = push(*tangents)
    _, back = wg.pullback(program.function, *copy.deepcopy(args))
    y_bar = trees.random_like(value)
    x_bars, x_dots = only(program, back(y_bar)), only(program, tangents)
    oracle.assert_transposed(y_dot, y_bar, x_bars, x_dots, rel=program.rel)


@each_program(
    lambda p: is_smooth(p) and has_numbers_for_arguments(p), unless="NESTED", turn=0, parts=2
)
def test_gradient_of_a_gradient(program, args):
    """d(x · ∇f(x)) = ∇f(x) + H x."""
    slope = radial_slope(program.function, program.wrt)
    found = on_copies(wg.grad(slope, argnums=program.wrt))(*args)
    at = tuple(args[i] for i in program.wrt)
    slopes = oracle.gradient(program.function, *args, wrt=program.wrt)
    bends = oracle.hessian_times(program.function, args, at, wrt=program.wrt)
    expected = [slope + bend for slope, bend in zip(slopes, bends, strict=True)]
    scale = max(map(abs, trees.coordinates(slopes)))  # they may cancel altogether
    trees.assert_close(list(found), expected, rel=10 * program.rel, scale=scale)


def radial_slope(function, wrt):
    gradient = on_copies(wg.grad(function, argnums=wrt))

    def slope(*args):
        total = 0.0
        for i, x_bar in zip(wrt, gradient(*args), strict=True):
            total = total + np.sum(args[i] * x_bar)
        return total

    return slope


@each_program(is_smooth, unless="HVP", turn=1, parts=2)
def test_hessian_vector_product(program, args):
    for i in program.wrt[:2]:
        vector = trees.random_like(args[i], seed=i + 1)
        expected = oracle.hessian_times(program.function, args, (vector,), wrt=(i,))
        found = on_copies(wg.hvp(program.function, argnums=i))(*args, vector)
        # the Hessian of what is linear is a sum of terms that cancel
        trees.assert_close((found,), expected, rel=10 * program.rel, scale=1.0)


@each_program(has_one_real_result, every_point=True, unless="SPECIALISED", turn=1, parts=2)
def test_specialised_code_agrees_with_general_code(program, args):
    specialised = specialised_gradient_of(program, args)
    found = on_copies(specialised)(*args)
    trees.assert_close(found, gradient_of(program)(*args), rel=1e-13)
    assert specialised.source


class ForeignImport(AssertionError):
    """Generated source asked for more than Python, NumPy and the program's own module."""


def guarded_import(name, *args, **options):
    if name.split(".")[0] in ("wengert", "scipy", "autograd"):
        raise ForeignImport(name)
    return builtins.__import__(name, *args, **options)


def run_alone(derivative):
    """The last public function of a derivative's source, run in a namespace of its own."""
    namespace = {
        "__builtins__": {**vars(builtins), "__import__": guarded_import},
        "__name__": "alone",
    }
    exec(compile(derivative.source, "alone.py", "exec"), namespace)
    names = [node.name for node in ast.parse(derivative.source).body if is_public_function(node)]
    return namespace[names[-1]]


def is_public_function(node):
    return isinstance(node, ast.FunctionDef) and not node.name.startswith("_")


@each_program(has_one_real_result, unless="ALONE", turn=0, parts=3)
def test_source_stands_alone(program, args):
    gradient = wg.grad(program.function, argnums=program.wrt)
    if program.late:
        # which function is called only the run tells: its derivative must be taken then
        assert "wengert" in gradient.source
    else:
        alone = on_copies(run_alone(gradient))
        trees.assert_close(alone(*args), on_copies(gradient)(*args), rel=program.rel / 1000)


@each_program(has_one_real_result, unless="IMPORTED")
def test_specialised_source_stands_alone(program, args):
    specialised = specialised_gradient_of(program, args)
    alone = on_copies(run_alone(specialised))
    trees.assert_close(alone(*args), on_copies(specialised)(*args), rel=program.rel / 1000)


@each_program(has_one_real_result, unless="SPECIALISED", turn=1, parts=3)
def test_source_is_deterministic(program, args):
    first = specialised_anew(program, args).source
    again = specialised_anew(program, args).source
    assert first == again


@each_program(lambda program: program.autograd)
def test_autograd_says_the_same(program, args):
    autograd = pytest.importorskip("autograd")
    anp = pytest.importorskip("autograd.numpy")
    dialect = twin.Dialect("autograd", [(np, anp), (np.linalg, anp.linalg), (math, math)])
    reference = autograd.grad(twin.twin(program.function, dialect), program.wrt)(*args)
    trees.assert_close(list(gradient_of(program)(*args)), list(reference), rel=1e-10)
