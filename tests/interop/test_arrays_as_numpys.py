"""NumPy's functions over the array API standard, each against NumPy, for every library that is installed."""

import math

import numpy as np
import pytest
from array_libraries import LIBRARIES, to_numpy

from wengert.errors import NoRule
from wengert.interop.arrays import numpys, table
from wengert.interop.arrays.calls import space_of
from wengert.interop.arrays.duck import Duck

V = np.array([0.3, -1.2, 2.5, 0.7])
P = np.array([0.3, 0.6, 0.9, 0.2])
W = np.array([1.5, 0.4, -0.6, 2.0])
M = np.array([[0.5, -1.0, 2.0], [1.5, 0.25, -0.75]])
N = np.array([[2.0, 0.3, 0.1], [0.4, 1.7, -0.2], [0.2, -0.5, 3.0]])
S = N @ N.T
T = np.arange(24.0).reshape(2, 3, 4) * 0.1
K = np.array([2, 0, 1, 3])
B = np.array([True, False, True, True])
X = np.array([1.0, math.nan, -math.inf, 3.0])
Z = V + 1j * W


def of_each(names, samples):
    return {name: samples for name in names}  # noqa: C420  # which no test changes


ONE = {
    **of_each(("arcsin", "arccos", "arctanh", "log", "log2", "log10", "sqrt"), [(P,)]),
    "arccosh": [(1 + P,)],
    "log1p": [(P,)],
    **of_each(("isnan", "isinf", "isfinite"), [(X,)]),
    **of_each(("conj", "conjugate"), [(V,), (Z,)]),
    "logical_not": [(B,), (V,)],
    "invert": [(B,), (K,)],
    "cbrt": [(V,), (np.array([0.0, -8.0, 27.0]),)],
    "sign": [(V,), (K,)],
    "sinc": [(np.append(V, 0.0),)],
}
TWO = {
    **of_each(("logical_and", "logical_or", "logical_xor"), [(B, ~B), (V, K)]),
    **of_each(("bitwise_and", "bitwise_or", "bitwise_xor"), [(B, ~B), (K, K[::-1])]),
    **of_each(("fmax", "fmin"), [(X, V)]),
    **of_each(("power", "pow", "float_power"), [(P, W), (P, 2), (2.0, V)]),
    **of_each(("floor_divide", "mod", "remainder", "fmod"), [(V, W), (K, 2)]),
}
PAIRS = frozenset(
    (
        *("add", "subtract", "multiply", "divide", "true_divide", "maximum", "minimum", "equal"),
        *("not_equal", "less", "less_equal", "greater", "greater_equal", "hypot", "arctan2"),
        *("logaddexp", "logaddexp2", "copysign", "nextafter", "heaviside"),
    )
)
SAMPLES = {
    "real": [(V,), (Z,)],
    "imag": [(V,), (Z,)],
    "angle": [(Z,)],
    "round": [(V,), (V, 1)],
    "around": [(V * 10,)],
    "clip": [(V, -1, 1), (V, None, 0.5)],
    "nan_to_num": [(X,)],
    **of_each(("zeros", "ones"), [(3,), ((2, 3),), (2, int)]),
    **of_each(("zeros_like", "ones_like"), [(M,), (K, float)]),
    **of_each(("empty", "empty_like"), []),
    "full": [((2, 3), 1.5), (3, 2)],
    "full_like": [(M, 2.0), (K, 1)],
    **of_each(("array", "asarray", "asanyarray"), [(V,), ([1.0, 2.0],), ([V, W],), (K, float)]),
    **of_each(("copy", "ascontiguousarray", "asfortranarray"), [(M,)]),
    "arange": [(4,), (1.0, 2.0, 0.25)],
    "eye": [(3,), (2, 3)],
    "identity": [(3,)],
    "tri": [(3,), (3, 4, 1)],
    "indices": [((2, 3),)],
    "linspace": [(0.0, 1.0, 5), (np.float64(0.5), 2.0, 3)],
    "meshgrid": [(V, P)],
    "diag": [(V,), (N,), (V, 1), (N, -1)],
    "vander": [(V, 3), (V,)],
    "shape": [(M,)],
    "ndim": [(T,)],
    "size": [(T,), (T, 1)],
    "reshape": [(T, (6, 4)), (T, -1), (M, (3, 2), "F")],
    "ravel": [(T,), (M, "F")],
    "transpose": [(M,), (T, (2, 0, 1)), (V,)],
    "permute_dims": [(T, (1, 2, 0))],
    "matrix_transpose": [(T,)],
    "swapaxes": [(T, 0, 2)],
    "moveaxis": [(T, 0, -1), (T, (0, 1), (2, 0))],
    "expand_dims": [(V, 0), (M, (0, -1))],
    "squeeze": [(V[None],), (V[None, :, None], 0)],
    **of_each(("atleast_1d", "atleast_2d", "atleast_3d"), [(V,), (M,), (np.array(2.0),)]),
    "broadcast_to": [(V, (3, 4))],
    "broadcast_arrays": [(V, M[:, :1])],
    **of_each(("stack", "hstack", "vstack", "dstack", "column_stack"), [([V, W],), ([N, N],)]),
    "concatenate": [([V, W],), ([M, M], 1), ([M, V], None), ([V, K],)],
    "concat": [([V, W],)],
    "array_split": [(V, 3), (V, [1, 3])],
    "split": [(V, 2), (M, [1], 1)],
    "hsplit": [(V, 2)],
    "vsplit": [(M, 2)],
    "append": [(V, W), (M, M, 0)],
    "insert": [(V, 1, 5.0), (M, 1, 0.0, 1)],
    "flip": [(M,), (M, 0), (T, (0, 2))],
    "fliplr": [(M,)],
    "flipud": [(M,)],
    "rot90": [(M,), (M, 3)],
    "roll": [(V, 1), (M, 2, 1), (M, (1, 1), (0, 1))],
    "tile": [(V, 2), (M, (2, 1))],
    "repeat": [(V, 2), (M, 2, 1), (V, [1, 2, 0, 1])],
    "pad": [(V, 2), (M, ((1, 0), (0, 2)))],
    "diagonal": [(N,), (N, 1), (T, 0, 1, 2)],
    **of_each(
        ("sum", "prod", "mean", "max", "min", "amax", "amin", "var", "std", "ptp", "median"),
        [(V,), (M, 0), (M, 1), (T, (0, 2))],
    ),
    **of_each(("any", "all"), [(B,), (M > 0, 0)]),
    **of_each(("argmax", "argmin"), [(V,), (M, 1), (M,)]),
    **of_each(("cumsum", "cumprod"), [(V,), (M, 1), (M,)]),
    "average": [(V,), (V, None, P)],
    "count_nonzero": [(B,), (M > 0, 1)],
    "trace": [(N,), (N, 1)],
    "diff": [(V,), (M, 1, 0), (V, 2)],
    "quantile": [(V, 0.3), (M, 0.5, 1), (V, np.array([0.1, 0.9]))],
    "percentile": [(V, 30), (V, [10, 90])],
    **of_each(("nansum", "nanprod", "nanmax", "nanmin", "nanmean"), [(X[:2],)]),
    "where": [(B, V, W), (B, 1.0, V), (B, 1, 2.5), (V > 0,)],
    "select": [([V > 1, V > 0], [V, W])],
    "take": [(V, K), (M, [0, 2], 1)],
    "take_along_axis": [(V, K, 0), (M, np.argsort(M, 1), 1)],
    "compress": [(B, V)],
    "nonzero": [(B,)],
    "flatnonzero": [(M > 0,)],
    "argwhere": [(M > 0,)],
    **of_each(("sort", "argsort"), [(V,), (M, 0)]),
    "searchsorted": [(np.sort(V), W), (np.sort(V), 0.5)],
    "unique": [(K,)],
    "unravel_index": [(5, (2, 3))],
    "ravel_multi_index": [((1, 2), (2, 3))],
    "result_type": [(V, K)],
    **of_each(("tril", "triu"), [(N,), (N, 1)]),
    "isclose": [(V, V + 1e-9)],
    "allclose": [(V, V + 1e-9), (V, W)],
    "array_equal": [(V, V), (V, W)],
    "iscomplexobj": [(V,), (Z,)],
    "isrealobj": [(V,)],
    "bincount": [(K,), (K, V)],
    "matmul": [(M, N), (V, V), (N, N[0])],
    "dot": [(M, N), (V, W), (V, 2.0), (T, T[0].T)],
    "vdot": [(V, W), (Z, Z)],
    "inner": [(V, W), (M, N)],
    "outer": [(V, W)],
    "tensordot": [(T, T, ([0, 1], [0, 1])), (M, N, 1)],
    "kron": [(V, W), (M, N)],
    "einsum": [
        ("ij,jk->ik", M, N),
        ("ii", N),
        ("ij->j", M),
        ("i,j", V, W),
        ("ijj->i", T[:, :, :3]),
    ],
    "cross": [(N, N[::-1])],
    "convolve": [(V, W[:3]), (V, W[:3], "same"), (V, W[:3], "valid")],
    "correlate": [(V, W[:2])],
    **of_each(("linalg_inv", "linalg_det", "linalg_pinv", "linalg_matrix_rank"), [(N,)]),
    **of_each(("linalg_cholesky", "linalg_eigvalsh", "linalg_slogdet"), [(S,)]),
    "linalg_svdvals": [(M,)],
    "linalg_solve": [(N, N[0]), (N, N.T)],
    "linalg_norm": [(V,), (M,), (M, None, 1), (V, 1), (V, math.inf), (M, 2), (M, 1), (M, "nuc")],
    "linalg_matrix_power": [(N, 3), (N, -1)],
    "linalg_lstsq": [],
    **{f"fft_{name}": [(V,)] for name in ("fft", "ifft", "rfft", "irfft")},
    "fft_fftfreq": [(5, 0.1)],
    "fft_rfftfreq": [(5, 0.1)],
    **{f"linalg_{name}": [] for name in ("matmul", "outer", "trace", "diagonal", "tensordot")},
    **{f"linalg_{name}": [] for name in ("cross", "matrix_transpose")},
}
WITHOUT = {
    "fix": "another name of `trunc`, which NumPy 2.5 warns of",
    "linalg_eigh": "its vectors have signs of their own; the corpus has it",
    "linalg_qr": "as are its",
    "linalg_svd": "as are its",
    "partition": "NumPy orders less",
    "argpartition": "NumPy orders less",
    "put_along_axis": "changes its argument",
    "copyto": "changes its argument",
    "may_share_memory": "of memory",
    "shares_memory": "of memory",
}
UNKNOWN = {"torch": {"nextafter"}}


def samples_of(name):
    if name in SAMPLES:
        return SAMPLES[name]
    if name in ONE or name in TWO:
        return {**ONE, **TWO}[name]
    return [(V, W), (V, 0.5), (K, 2.5)] if name in PAIRS else [(V,)]


def numpys_own(name):
    place = np
    for part in numpys._parts_of(name):
        place = getattr(place, part)
    return place


for module in table.MODULES:
    __import__(f"wengert.interop.arrays.{module}")
NAMES = sorted({*table.FUNCTIONS, *table.UFUNCS} - WITHOUT.keys())


def test_every_function_has_samples():
    assert table.FUNCTIONS.keys() - WITHOUT.keys() == SAMPLES.keys()


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("name", NAMES)
def test_functions_give_what_numpys_give(name, library):
    make = LIBRARIES[library]()
    space = space_of(make(V))
    own = getattr(space.numpy, name)

    def given(x):
        if isinstance(x, np.ndarray) and x.dtype.kind != "O":
            return space.own(make(np.ascontiguousarray(x)))
        return type(x)(map(given, x)) if isinstance(x, (list, tuple)) else x

    for args in samples_of(name):
        wanted = numpys_own(name)(*args)
        found = own(*map(given, args))
        compare(found, wanted)


def compare(found, wanted):
    if isinstance(wanted, (list, tuple)) and not isinstance(found, Duck):
        assert len(found) == len(wanted)
        for each, other in zip(found, wanted, strict=True):
            compare(each, other)
        return
    if isinstance(wanted, (np.ndarray, np.generic)):
        if isinstance(found, Duck):
            assert found.dtype.kind == np.asarray(wanted).dtype.kind
            found = to_numpy(found.raw)
        np.testing.assert_allclose(found, wanted, rtol=1e-12, atol=1e-13)
        assert np.shape(found) == np.shape(wanted)
        return
    assert found == wanted


def test_what_has_no_form_is_refused():
    make = LIBRARIES["array_api_strict"]()
    with pytest.raises(
        NoRule, match=r"`np.linalg.eigvals` has no form for arrays of array_api_strict yet"
    ):
        space_of(make(V)).numpy.linalg.eigvals


@pytest.mark.parametrize(
    ("run", "said"),
    [
        (
            lambda np_, x: np_.quantile(x, 0.5, method="lower"),
            r"`np.quantile` has no option `method`",
        ),
        (lambda np_, x: np_.var(x, mean=0.0), r"`np.var` has no option `mean`"),
        (
            lambda np_, x: np_.isclose(x, x, equal_nan=True),
            r"`np.isclose` has no option `equal_nan`",
        ),
        (lambda np_, x: np_.pad(x, 1, mode="mean"), r"`np.pad` has no mode 'mean'"),
        (lambda np_, x: np_.add(x, x, axes=1), r"`np.add` has no option `axes`"),
    ],
)
def test_options_that_are_not_known_are_refused(run, said):
    space = space_of(LIBRARIES["array_api_strict"]()(V))
    with pytest.raises(NoRule, match=said):
        run(space.numpy, space.own(LIBRARIES["array_api_strict"]()(V)))


@pytest.mark.parametrize("name", ["cbrt", "heaviside", "median", "exp2"])
def test_what_is_not_finite(name):
    space = space_of(LIBRARIES["array_api_strict"]()(V))
    more = (0.5,) if name == "heaviside" else ()
    wanted = getattr(np, name)(X, *more)
    found = getattr(space.numpy, name)(space.own(LIBRARIES["array_api_strict"]()(X)), *more)
    compare(found, wanted)
