"""The table of polynomials is what the program that derives them finds."""

import sys

import pytest
from places import ROOT

from wengert.backends.native.vector_math import vector_coefficients

sys.path.insert(0, str(ROOT / "benchmarks"))
import polynomials

TYPES = ("f64", "f32")


@pytest.mark.parametrize("code", TYPES)
@pytest.mark.parametrize("name", ["SIN", "COS"])
def test_coefficients_are_found_again(name, code):
    wanted = polynomials.WANTED[name]
    found = polynomials.coefficients(wanted, code)
    assert tuple(map(float, found)) == getattr(vector_coefficients, name)[code]


@pytest.mark.parametrize("code", TYPES)
@pytest.mark.parametrize("name", polynomials.WANTED)
def test_polynomials_are_as_near_as_their_functions_need(name, code):
    found = [polynomials.mp.mpf(c) for c in getattr(vector_coefficients, name)[code]]
    digits = 53 if code == "f64" else 24
    more = 8 if name == "LOG_IN_PARTS" else 0
    assert polynomials.error(polynomials.WANTED[name], found) < 2.0 ** -(digits + 3 + more)


@pytest.mark.parametrize("code", TYPES)
@pytest.mark.parametrize("name", polynomials.IN_PARTS)
def test_constants_are_sums_of_parts(name, code):
    value, count, _ = polynomials.IN_PARTS[name]
    assert polynomials.in_parts(value, count, code) == getattr(vector_coefficients, name)[code]
