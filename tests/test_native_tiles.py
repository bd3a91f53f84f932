"""Products of matrices in tiles, for processors with AVX-512 that NumPy's BLAS has no code for."""

import ctypes
import itertools

import numpy as np
import pytest

import wengert as wg

pytest.importorskip("llvmlite")
from wengert.backends.native.run import tiles
from wengert.backends.native.run.machine import core_of_blas, machine


@pytest.fixture(scope="module")
def product():
    code = tiles.use_tiles()
    if code is None:
        pytest.skip("NumPy's BLAS has code for this processor")
    integer, size, place = ctypes.c_int, ctypes.c_int64, ctypes.c_void_p
    matrix = (place, size)
    factor = ctypes.c_double
    kinds = (*[integer] * 3, *[size] * 3, factor, *matrix, *matrix, factor, *matrix)
    function = ctypes.CFUNCTYPE(None, *kinds)(code.address("wg_tiled_gemm"))

    def call(left, right):
        """Of matrices in C order, or transposes of such."""
        result = np.full((len(left), right.shape[1]), np.nan)
        orders = [111 if each.flags.c_contiguous else 112 for each in (left, right)]
        sizes = (*result.shape, len(right))
        a, b = ((e.ctypes.data, max(e.strides) // 8) for e in (left, right))
        function(101, *orders, *sizes, 1.0, *a, *b, 0.0, result.ctypes.data, result.shape[1])
        return result

    return call


@pytest.mark.parametrize("inner", [2, 16, 255, 256, 257, 600])
def test_products_of_all_sizes_and_orders(product, inner):
    rng = np.random.default_rng(inner)
    for rows, columns in itertools.product((2, 3, 8, 9, 17), (2, 5, 16, 17, 33)):
        a, b = rng.normal(size=(rows, inner)), rng.normal(size=(inner, columns))
        for left, right in itertools.product((a, a.T.copy().T), (b, b.T.copy().T)):
            np.testing.assert_allclose(product(left, right), a @ b, rtol=1e-12, atol=1e-12)


def test_what_is_no_number_stays_in_its_row_and_column(product):
    a, b = np.ones((9, 20)), np.ones((20, 17))
    a[3, 4], b[5, 6] = np.inf, np.nan
    np.testing.assert_array_equal(product(a, b), a @ b)


def test_large_products_are_left_to_blas(product):
    a = np.random.default_rng(0).normal(size=(300, 300))
    np.testing.assert_allclose(product(a, a), a @ a, rtol=1e-12, atol=1e-11)


def test_native_functions_multiply_in_tiles():
    if not machine().has_avx512 or core_of_blas() not in ("Haswell", "Zen"):
        pytest.skip("NumPy's BLAS has code for this processor")
    before = tiles.use_tiles.cache_info().hits
    native = wg.jit(lambda a, b: (a @ b.T).sum(), strict=True)
    a, b = np.random.default_rng(1).normal(size=(2, 40, 50))
    assert native(a, b) == pytest.approx((a @ b.T).sum(), rel=1e-13)
    assert tiles.use_tiles.cache_info().hits > before
