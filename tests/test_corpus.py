"""Every program of the corpus, differentiated every way, against the oracle.

The oracle knows no calculus: it runs the program's own source in sixty digits and takes
differences. Forward mode is held against reverse mode, second derivatives against mixed
differences, generated source against the functions it came from.
"""

import ast
import builtins
import copy
import math

import numpy as np
import oracle
import programs
import pytest
import trees
import twin

import wengert as wg


def each_program(chosen=lambda program: True, every_point=False):
    """A decorator: the test for every chosen program, at its first or at every point."""
    cases = [
        pytest.param(program, args, id=f"{program.name}-{k}")
        for program in programs.PROGRAMS
        if chosen(program)
        for k, args in enumerate(program.points if every_point else program.points[:1])
    ]
    return pytest.mark.parametrize(("program", "args"), cases)


def has_one_real_result(program):
    return isinstance(program.function(*program.points[0]), int | float | np.floating)


def has_numbers_for_arguments(program):
    """Whether every differentiated argument is a float or an array of floats."""
    arguments = [program.points[0][i] for i in program.wrt]
    return has_one_real_result(program) and all(
        isinstance(x, float) or (isinstance(x, np.ndarray) and x.dtype.kind == "f")
        for x in arguments
    )


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


@each_program(every_point=True)
def test_reverse_is_what_the_oracle_finds(program, args):
    before = copy.deepcopy(args)
    value, back = wg.pullback(program.function, *args)
    trees.assert_close(value, program.function(*args), rel=1e-15)
    y_bar = trees.random_like(value)
    found = back(y_bar)
    assert len(found) == len(args)
    for i in program.wrt:
        trees.assert_looks_like_a_gradient(found[i], args[i], f"argument {i}")
    expected = oracle.gradient(program.function, *args, wrt=program.wrt, cotangent=y_bar)
    trees.assert_close(only(program, found), expected, rel=program.rel)
    assert trees.coordinates(args) == trees.coordinates(before), "the arguments have changed"


@each_program(has_one_real_result, every_point=True)
def test_gradient_is_what_the_oracle_finds(program, args):
    found = wg.grad(program.function, argnums=program.wrt)(*args)
    expected = oracle.gradient(program.function, *args, wrt=program.wrt)
    trees.assert_close(found, expected, rel=program.rel)


@each_program(every_point=True)
def test_forward_is_reverse_transposed(program, args):
    tangents = tangents_for(program, args)
    value, push = wg.pushforward(program.function, *args)
    trees.assert_close(value, program.function(*args), rel=1e-15)
    y_dot = push(*tangents)
    _, back = wg.pullback(program.function, *args)
    y_bar = trees.random_like(value)
    x_bars, x_dots = only(program, back(y_bar)), only(program, tangents)
    oracle.assert_transposed(y_dot, y_bar, x_bars, x_dots, rel=program.rel)


@each_program(lambda p: is_smooth(p) and has_numbers_for_arguments(p))
def test_gradient_of_a_gradient(program, args):
    """d(x · ∇f(x)) = ∇f(x) + H x."""
    found = wg.grad(radial_slope(program.function, program.wrt), argnums=program.wrt)(*args)
    at = tuple(args[i] for i in program.wrt)
    slopes = oracle.gradient(program.function, *args, wrt=program.wrt)
    bends = oracle.hessian_times(program.function, args, at, wrt=program.wrt)
    expected = [slope + bend for slope, bend in zip(slopes, bends, strict=True)]
    trees.assert_close(list(found), expected, rel=10 * program.rel)


def radial_slope(function, wrt):
    gradient = wg.grad(function, argnums=wrt)

    def slope(*args):
        total = 0.0
        for i, x_bar in zip(wrt, gradient(*args), strict=True):
            total = total + np.sum(args[i] * x_bar)
        return total

    return slope


@each_program(is_smooth)
def test_hessian_vector_product(program, args):
    for i in program.wrt[:2]:
        vector = trees.random_like(args[i], seed=i + 1)
        expected = oracle.hessian_times(program.function, args, (vector,), wrt=(i,))
        found = wg.hvp(program.function, argnums=i)(*args, vector)
        trees.assert_close((found,), expected, rel=10 * program.rel)


@each_program(has_one_real_result, every_point=True)
def test_specialised_code_agrees_with_general_code(program, args):
    gradient = wg.grad(program.function, argnums=program.wrt)
    specialised = gradient.specialize(*args)
    trees.assert_close(specialised(*args), gradient(*args), rel=1e-13)
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


@each_program(has_one_real_result)
def test_source_stands_alone(program, args):
    gradient = wg.grad(program.function, argnums=program.wrt)
    if program.function.__name__ == "looked_up":
        # which function is called only the run tells: its derivative must be taken then
        assert "wengert" in gradient.source
    trees.assert_close(run_alone(gradient)(*args), gradient(*args), rel=1e-15)


@each_program(has_one_real_result)
def test_specialised_source_stands_alone(program, args):
    specialised = wg.grad(program.function, argnums=program.wrt).specialize(*args)
    trees.assert_close(run_alone(specialised)(*args), specialised(*args), rel=1e-15)


@each_program(has_one_real_result)
def test_source_is_deterministic(program, args):
    first = wg.grad(program.function, argnums=program.wrt).specialize(*args).source
    again = wg.grad(program.function, argnums=program.wrt).specialize(*args).source
    assert first == again


@each_program(lambda program: program.autograd)
def test_autograd_says_the_same(program, args):
    autograd = pytest.importorskip("autograd")
    anp = pytest.importorskip("autograd.numpy")
    dialect = twin.Dialect("autograd", [(np, anp), (np.linalg, anp.linalg), (math, math)])
    reference = autograd.grad(twin.twin(program.function, dialect), program.wrt)(*args)
    found = wg.grad(program.function, argnums=program.wrt)(*args)
    trees.assert_close(list(found), list(reference), rel=1e-10)
