"""Programs that nobody wrote, as native code: bit for bit what the Python form gives."""

import math

import pytest
from hypothesis import given, settings
from random_programs import random_programs

import wengert as wg
from wengert.errors import NotNative

pytest.importorskip("llvmlite")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("drawn")


def outcome(function, point):
    """What a call gives, or which exception with which message."""
    try:
        return function(*point)
    except ArithmeticError as error:
        return type(error), str(error)


def alike(a, b):
    """Whether two outcomes are the same, NaN being the same as NaN."""
    if isinstance(a, tuple) and isinstance(b, tuple):
        return len(a) == len(b) and all(map(alike, a, b))
    same = type(a) is type(b) and (
        a == b or (isinstance(a, float) and math.isnan(a) and math.isnan(b))
    )
    return bool(same)


@pytest.mark.filterwarnings("ignore:.*what this loop finds")  # drawn loops may look like searches
@settings(max_examples=15)
@given(drawn=random_programs())
def test_values_and_gradients(folder, drawn):
    program = drawn.load(folder)
    for form in (program, wg.value_and_grad(program, (0, 1))):
        expected = outcome(form, drawn.point)
        try:
            found = outcome(wg.jit(form, strict=True), drawn.point)
        except NotNative:
            continue
        assert alike(found, expected), (found, expected)
