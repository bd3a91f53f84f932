"""Arguments to try each array op on: `SAMPLES[op name]` is a list of (operands, options).

Empty arrays, arrays without axes, negative axes, broadcasting, complex numbers and single precision
are here because each of them has been somebody's bug.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

Sample = tuple[tuple[Any, ...], dict[str, Any]]

_random = np.random.default_rng(20240917)


def real(*shape: int) -> Any:
    """Random numbers in an array of that shape."""
    return np.asarray(_random.uniform(0.5, 2.0, shape) * _random.choice((-1.0, 1.0), shape))


def comp(*shape: int) -> Any:
    """Random complex numbers in an array of that shape."""
    return real(*shape) + 1j * real(*shape)


def single(*shape: int) -> Any:
    """Random numbers in single precision."""
    return real(*shape).astype(np.float32)


def regular(*shape: int, make: Any = real) -> Any:
    """Well-conditioned square matrices."""
    return make(*shape) + 4 * np.eye(shape[-1])


def hermitian(*shape: int, make: Any = real) -> Any:
    """Hermitian, positive definite matrices with distinct eigenvalues."""
    x = make(*shape)
    return x @ np.conj(np.swapaxes(x, -1, -2)) + np.diag(np.arange(1.0, shape[-1] + 1))


def of(*args: Any, **options: Any) -> Sample:
    return args, options


def each(arrays: Sequence[Any], *options: dict[str, Any]) -> list[Sample]:
    """Every array with every choice of options."""
    return [((x,), dict(choice)) for x in arrays for choice in (options or ({},))]


ANY = [real(3), real(2, 3), real(2, 3, 4), comp(2, 3), single(2, 3), real(0), real(2, 0)]
MATRICES = [real(2, 3), real(3, 2, 4), comp(3, 3), single(3, 2)]

SHAPE: dict[str, list[Sample]] = {
    "shape": each([*ANY, 2.0]),
    "ndim": each([*ANY, 2.0]),
    "iscomplexobj": each([*ANY, 2.0]),
    "size": each([*ANY, 2.0]),
    "dtype": each(ANY),
    "shaped": [of(real(2), like=real(2)), of(real(2, 2), like=real(2, 2), matrix=real(2, 2))],
    "memory_order": [of(real(2, 3), "C"), of(real(2, 3).T, "A"), of(real(2, 3), "F")],
    "inverse_permutation": [of((1, 2, 0)), of((-1, 0, 1))],
    "other_axes": [of(0, 2, "xy"), of(1, 3, "ij")],
    "reshape": [
        of(real(2, 3), shape=(3, 2)),
        of(real(2, 3), shape=-1),
        of(real(2, 3), shape=(3, -1), order="F"),
        of(real(2, 3), shape=(6,), order="A"),
        of(real(4), shape=(2, 1, 2)),
        of(real(), shape=(1, 1)),
        of(2.0, shape=(1,)),
        of(real(0, 3), shape=(3, 0)),
        of(comp(2, 2), shape=(4,)),
        of(single(2, 2), shape=(4,)),
    ],
    "ravel": each([*ANY, real()], {}, {"order": "F"}),
    "flatten": each([*ANY, real()], {}, {"order": "F"}),
    "transpose": [
        *each([*ANY, real()]),
        of(real(2, 3, 4), axes=(1, 2, 0)),
        of(real(2, 3, 4), axes=(-1, 0, 1)),
        of(real(2, 3), axes=None),
    ],
    "matrix_transpose": each([real(2, 3), comp(2, 3, 4), real(0, 2)]),
    "swapaxes": [of(real(2, 3, 4), axis1=0, axis2=-1), of(comp(2, 3), axis1=1, axis2=0)],
    "moveaxis": [
        of(real(2, 3, 4), source=0, destination=-1),
        of(comp(2, 3, 4), source=(0, 2), destination=(1, 0)),
    ],
    "squeeze": [
        of(real(1, 3, 1)),
        of(real(1, 3, 1), axis=0),
        of(real(1, 3, 1), axis=(0, -1)),
        of(real(1, 1)),
        of(comp(1, 2)),
    ],
    "expand_dims": [
        of(real(2, 3), axis=0),
        of(real(2, 3), axis=-1),
        of(real(3), axis=(0, 2)),
        of(comp(2), axis=1),
        of(2.0, axis=0),
    ],
    "broadcast_to": [
        of(real(3), shape=(2, 3)),
        of(real(1, 3), shape=(2, 3)),
        of(real(2, 1), shape=(4, 2, 3)),
        of(2.0, shape=(3,)),
        of(real(), shape=(2, 2)),
        of(comp(3), shape=(2, 3)),
        of(real(1), shape=(0,)),
    ],
    "atleast_1d": each([2.0, real(), real(2), comp(2, 3)]),
    "atleast_2d": each([2.0, real(), real(2), comp(2, 3)]),
    "atleast_3d": each([2.0, real(), real(2), comp(2, 3), real(1, 2, 3)]),
    "flip": [*each(ANY), of(real(2, 3), axis=-1), of(real(2, 3, 2), axis=(0, 2))],
    "flipud": each(ANY),
    "fliplr": each([real(2, 3), comp(2, 3), real(2, 3, 4)]),
    "rot90": [
        of(real(2, 3)),
        of(real(2, 3), k=-1),
        of(real(2, 3), k=2),
        of(comp(2, 3, 4), k=1, axes=(1, 2)),
    ],
    "roll": [
        of(real(4), shift=1),
        of(real(2, 3), shift=2),
        of(real(2, 3), shift=-1, axis=1),
        of(comp(2, 3), shift=(1, 2), axis=(0, 1)),
        of(real(0), shift=1),
    ],
    "unroll": [of(real(4), shift=1), of(real(2, 3), shift=(1, 2), axis=(0, 1))],
    "copy": each([*ANY, real()]),
    "astype": [
        of(real(3), dtype=np.float32),
        of(real(3), dtype=np.float64),
        of(real(3), dtype=complex),
        of(comp(3), dtype="complex64"),
        of(np.arange(3), dtype=float),
    ],
    "item": each([real(), real(1), real(1, 1), comp(1)]),
    "tolist": each([real(3), real(2, 3), comp(2)]),
    "cast_like": [
        of(real(3), like=single(3)),
        of(comp(3), like=real(3)),
        of(real(3), like=comp(3)),
        of(real(3), like=np.arange(3)),
    ],
    "concatenate": [
        of([real(2), real(3)]),
        of([real(2, 3), real(1, 3)]),
        of([real(2, 3), real(2, 1), real(2, 0)], axis=1),
        of([real(2, 3), real(2, 1)], axis=-1),
        of([real(2, 3), real(2)], axis=None),
        of((comp(2), real(1))),
        of([single(2), single(3)]),
        of(real(2, 3)),
    ],
    "stack": [
        of([real(2), real(2)]),
        of([real(2, 3), real(2, 3)], axis=-1),
        of([real(2, 3), real(2, 3)], axis=1),
        of([2.0, 3.0]),
        of((comp(2), real(2))),
    ],
    "vstack": each([[real(2), real(2)], [real(2), real(3, 2)], [1.0, 2.0], [real(2, 2, 2)] * 2]),
    "hstack": each([[real(2), real(3)], [real(2, 1), real(2, 3)], [1.0, real(2)]]),
    "dstack": each([[real(2), real(2)], [real(2, 3), real(2, 3, 2)], [real(2, 3)]]),
    "column_stack": each([[real(2), real(2)], [real(2), real(2, 3)], [comp(2), real(2, 2)]]),
    "append": [
        of(real(2), real(3)),
        of(real(2, 3), real(2)),
        of(real(2, 3), real(1, 3), axis=0),
        of(real(2, 3), real(2, 1), axis=-1),
        of(real(2), 3.0),
    ],
    "unconcatenate": [
        of(real(5), like=[real(2), real(3)]),
        of(real(2, 4), like=[real(2, 3), real(2, 1)], axis=1),
        of(real(8), like=[real(2, 3), real(2)], axis=None),
        of(real(4, 2), like=[real(2), real(3, 2)], axis=0, rank=2),
        of(real(2, 4), like=[real(2), real(2, 3)], axis=1, rank=2),
        of(real(2, 3, 3), like=[real(2, 3), real(2, 3, 2)], axis=2, rank=3),
        of(real(3), like=[1.0, real(2)], axis=1),
    ],
    "split": [
        of(real(6), indices_or_sections=3),
        of(real(6), indices_or_sections=[1, 4]),
        of(real(4, 6), indices_or_sections=2, axis=-1),
        of(comp(4), indices_or_sections=(1,)),
        of(real(3), indices_or_sections=[0, 5]),
    ],
    "array_split": [
        of(real(5), indices_or_sections=3),
        of(real(2, 5), indices_or_sections=2, axis=1),
    ],
    "vsplit": [of(real(4, 3), indices_or_sections=2), of(comp(4, 3), indices_or_sections=[1])],
    "hsplit": [of(real(4, 4), indices_or_sections=2), of(real(4), indices_or_sections=[1, 2])],
    "dsplit": [of(real(2, 3, 4), indices_or_sections=2)],
    "meshgrid": [
        of(real(2), real(3)),
        of(real(2), real(3), indexing="ij"),
        of(real(2), real(3), real(4)),
        of(real(2), real(3), real(4), real(2), indexing="ij"),
        of(real(2), real(3), sparse=True),
        of(2.0, real(3)),
        of(comp(2)),
    ],
}

SELECTION: dict[str, list[Sample]] = {
    "tile": [
        of(real(3), reps=2),
        of(real(2, 3), reps=(2, 1)),
        of(real(3), reps=(2, 2)),
        of(real(2, 3, 2), reps=(2, 3)),
        of(2.0, reps=3),
        of(comp(2), reps=2),
        of(real(2), reps=0),
    ],
    "untile": [of(real(6), reps=2, like=real(3)), of(real(2, 6), reps=(2, 2), like=real(3))],
    "repeat": [
        of(real(3), repeats=2),
        of(real(2, 3), repeats=2),
        of(real(2, 3), repeats=2, axis=-1),
        of(real(2, 3), repeats=[1, 0], axis=0),
        of(comp(3), repeats=[2, 1, 3]),
        of(2.0, repeats=3),
    ],
    "unrepeat": [
        of(real(6), repeats=2, like=real(3)),
        of(real(3, 3), repeats=[1, 2], like=real(2, 3), axis=0),
    ],
    "pad": [
        of(real(3), pad_width=1),
        of(real(3), pad_width=(1, 2), constant_values=3.0),
        of(real(2, 3), pad_width=((1, 0), (0, 2))),
        of(real(3), pad_width=2, mode="edge"),
        of(real(2, 3), pad_width=1, mode="wrap"),
        of(comp(3), pad_width=1),
    ],
    "pad_zeros": [
        of(real(3), pad_width=(1, 2)),
        of(real(2, 3), pad_width=((1, 0), (0, 2))),
        of(real(2, 3), pad_width=(2, 1), mode="edge"),
        of(real(3, 4), pad_width=2, mode="reflect"),
        of(real(3, 4), pad_width=2, mode="symmetric"),
        of(comp(3), pad_width=2, mode="wrap"),
    ],
    "unpad": [
        of(real(6), pad_width=(1, 2), like=real(3)),
        of(real(5, 6), pad_width=((2, 1), (2, 1)), like=real(2, 3), mode="edge"),
    ],
    "take": [
        of(real(4), indices=2),
        of(real(4), indices=[0, 0, 3]),
        of(real(2, 3), indices=[[0, 5], [1, 1]]),
        of(real(2, 3), indices=[2, 0, 2], axis=1),
        of(real(2, 3), indices=-1, axis=-1),
        of(comp(2, 3), indices=np.array([[0, 1]]), axis=0),
        of(real(3), indices=[4, -5], mode="wrap"),
        of(real(2, 3), indices=[4, -5], axis=1, mode="clip"),
        of(real(3), indices=np.array([], int)),
    ],
    "untake": [
        of(real(3), indices=[0, 0, 3], like=real(4)),
        of(real(2, 3), indices=[2, 0, 2], like=real(2, 3), axis=1),
    ],
    "take_along_axis": [
        of(real(2, 3), indices=np.array([[0, 2], [1, 1]]), axis=1),
        of(real(2, 3), indices=np.array([[1, 0, 1]]), axis=0),
        of(real(2, 3), indices=np.array([[0, 2], [1, 1]])),
        of(comp(4), indices=np.array([3, 3]), axis=0),
        of(real(2, 3), indices=np.array([5, 0]), axis=None),
    ],
    "untake_along_axis": [
        of(real(2, 2), indices=np.array([[0, 2], [1, 1]]), like=real(2, 3), axis=1),
    ],
    "edge_like": [of(2.0, like=real(2, 3)), of(real(2, 1), like=real(2, 3)), of(2.0, like=real(4))],
    "lexsort": [of((real(4), real(4))), of(real(2, 5))],
    "isin": [of(real(3), [1.0, 2.0])],
    "diff": [
        of(real(5)),
        of(real(5), n=2),
        of(real(3), n=4),
        of(real(3, 4), axis=0),
        of(comp(2, 4)),
        of(real(1)),
        of(real(4), n=0),
    ],
    "undiff": [of(real(4), like=real(5)), of(real(2, 3), like=real(2, 5), n=2)],
    "triu": each([real(3), *MATRICES], {}, {"k": 1}, {"k": -1}),
    "tril": each(MATRICES, {}, {"k": 1}, {"k": -1}),
    "diag": [
        *each([real(3), real(3, 3), comp(2), real(2, 4), real(4, 2)], {}, {"k": 1}, {"k": -1}),
        of(real(0)),
    ],
    "undiag": [
        of(real(3, 3), like=real(3)),
        of(real(4, 4), like=real(3), k=-1),
        of(real(2), like=real(2, 4), k=1),
    ],
    "diagonal": [
        *each(MATRICES),
        of(real(3, 4), offset=-1),
        of(real(3, 4), offset=2),
        of(real(2, 3, 4), axis1=-2, axis2=-1),
        of(real(2, 3, 4), offset=1, axis1=2, axis2=0),
    ],
    "undiagonal": [
        of(real(2), like=real(2, 3)),
        of(real(2, 3), like=real(2, 3, 4), axis1=-2, axis2=-1),
    ],
    "trace": [
        *each(MATRICES),
        of(real(3, 4), offset=1),
        of(real(2, 3, 3), axis1=-2, axis2=-1),
        of(real(2, 3, 4), offset=-1, axis1=2, axis2=0),
    ],
    "untrace": [of(2.0, like=real(2, 3)), of(real(4), like=real(2, 3, 4), offset=1)],
    "sort": [
        of(real(5)),
        of(real(3, 4)),
        of(real(3, 4), axis=0),
        of(real(3, 4), axis=None),
        of(comp(4)),
        of(real(0)),
    ],
    "argsort": [of(real(5)), of(real(3, 4), axis=0), of(real(3, 4), axis=None)],
    "searchsorted": [of(np.sort(real(5)), 0.3), of(np.sort(real(5)), real(2), side="right")],
    "argwhere": each([real(3), real(2, 3)]),
    "flatnonzero": each([real(3), real(2, 3)]),
    "nonzero": each([real(3), real(2, 3)]),
}

CREATION: dict[str, list[Sample]] = {
    "zeros_array": [of(shape=(2, 3)), of(shape=2, dtype=np.float32)],
    "ones": [of(shape=(2, 3)), of(shape=2, dtype=int)],
    "empty": [of(shape=(2, 3))],
    "zeros_like": each([real(2), comp(2, 3), single(2), 2.0]),
    "ones_like": each([real(2), comp(2, 3), single(2), 2.0]),
    "empty_like": each([real(2)]),
    "eye": [of(N=3), of(N=2, M=3, k=1)],
    "identity": [of(n=3)],
    "tri": [of(N=3), of(N=2, M=3, k=1)],
    "indices": [of(dimensions=(2, 3))],
    "tril_indices": [of(n=3)],
    "triu_indices": [of(n=3, k=1)],
    "diag_indices": [of(n=3)],
    "arange": [of(3)],
    "full": [of((2, 3), 2.0), of(3, real()), of((2, 3), real(3)), of((2,), 2 + 1j)],
    "full_like": [of(real(2, 3), 2.0), of(single(2), 2.0), of(real(2, 3), real(3))],
    "arange_from": [of(0.5, 3.0, 0.75), of(0, 2.5, 1), of(2.0, -1.2, -0.6)],
    "linspace": [
        of(0.5, 2.0, num=5),
        of(0.5, 2.0, num=4, endpoint=False),
        of(0.5, 2.0, num=1),
        of(real(2), 2.0, num=3),
        of(real(2), real(3, 1), num=4, axis=1),
        of(real(2), real(2), num=4, axis=-1),
        of(1j, 2.0, num=3),
    ],
    "array": [
        of(2.0),
        of([1.0, 2.0]),
        of([[1.0, 2.0], (3.0, 4.0)]),
        of([real(2), real(2)]),
        of(real(2, 3)),
        of([1.0, 2.0], dtype=np.float32),
        of([1.0, 2.0], ndmin=2),
        of(comp(2)),
    ],
    "asarray": [of(2.0), of([1.0, 2.0]), of(real(2, 3)), of(real(2), dtype=complex)],
    "asfortranarray": [of(real(2)), of(real(2, 3))],
    "ascontiguousarray": [of(2.0), of(real(2, 3).T)],
    "gather": [of(2.0), of([1.0, 2.0]), of([[1.0, 2.0], (3.0, 4.0)]), of([real(2), real(2)])],
}

PAIRS = {
    "vectors": (real(3), real(3)),
    "complex vectors": (comp(3), comp(3)),
    "matrix, vector": (real(2, 3), real(3)),
    "vector, matrix": (real(2), real(2, 3)),
    "matrices": (real(2, 3), real(3, 4)),
    "real, complex": (real(2, 3), comp(3, 2)),
    "single": (single(2, 3), single(3)),
    "empty": (real(2, 0), real(0, 3)),
}
STACKS = [
    of(real(5, 2, 3), real(5, 3, 4)),
    of(real(5, 2, 3), real(3, 4)),
    of(real(2, 3), real(5, 3, 4)),
    of(real(5, 1, 2, 3), real(6, 3, 4)),
    of(comp(1, 2, 3), real(5, 3, 4)),
    of(real(5, 2, 3), real(3)),
    of(real(2), real(5, 2, 3)),
    of(comp(5, 2, 3), comp(3)),
    of(comp(2), comp(5, 2, 3)),
]
DOTS = [of(*pair) for pair in PAIRS.values()]
HIGHER_DOTS = [
    of(real(2, 2, 3), real(3)),
    of(real(2, 3), real(4, 3, 2)),
    of(comp(2, 2, 3), comp(4, 3, 2)),
    of(2.0, 3.0),
    of(2.0, real(2, 3)),
    of(real(2, 3), 2.0),
    of(real(), comp(2)),
]
TENSORDOTS = [
    of(real(2, 3), real(3, 4), axes=1),
    of(real(2, 3, 4), real(3, 4, 5)),
    of(real(2, 3, 4), real(4, 3), axes=((1, 2), (1, 0))),
    of(comp(3, 2, 4), comp(4, 5, 3), axes=([0, 2], [2, 0])),
    of(real(2), real(3), axes=0),
    of(real(2, 3), real(3), axes=(-1, 0)),
    of(real(2, 3), real(2, 3)),
]
CROSSES = [
    of(real(3), real(3)),
    of(comp(3), comp(3)),
    of(real(4, 3), real(3)),
    of(real(3), real(4, 3)),
    of(real(4, 1, 3), real(2, 3)),
    of(real(3, 4), real(3, 4), axis=0),
    of(real(3), real(3, 3), axis=0),
    of(real(3, 4), real(4, 3), axisa=0, axisc=0),
]
KRONS = [
    of(real(2), real(3)),
    of(real(2, 3), real(3, 2)),
    of(comp(2, 2), comp(2)),
    of(real(2), real(2, 2, 2)),
    of(2.0, real(3)),
]


def transposes(products: list[Sample], function: Any, which: str, **extra: Any) -> list[Sample]:
    """Samples of a product's transpose, from samples of the product."""
    found: list[Sample] = []
    for (a, b), options in products:
        y = np.asarray(function(a, b, **options))
        y_bar = comp(*y.shape) if np.iscomplexobj(y) else real(*y.shape)
        args = (y_bar, b) if which == "left" else (a, y_bar)
        found.append((args, {**options, **extra, "like": a if which == "left" else b}))
    return found


def _with_axes(samples: list[Sample]) -> list[Sample]:
    return [(args, {"axes": options.get("axes", 2)}) for args, options in samples]


def contractions(which: str) -> list[Sample]:
    """Samples of the transposes of `dot`, `inner` and `tensordot`."""
    return [
        *transposes(DOTS + HIGHER_DOTS, np.dot, which, axes="dot"),
        *transposes(
            [of(real(2, 3), real(4, 3)), of(real(3), real(3))], np.inner, which, axes="inner"
        ),
        *transposes(_with_axes(TENSORDOTS), np.tensordot, which),
    ]


PRODUCTS: dict[str, list[Sample]] = {
    "matmul": DOTS + STACKS,
    "matmul_left": transposes(DOTS + STACKS, np.matmul, "left"),
    "matmul_right": transposes(DOTS + STACKS, np.matmul, "right"),
    "dot": DOTS + HIGHER_DOTS,
    "inner": [
        of(real(3), real(3)),
        of(real(2, 3), real(3)),
        of(real(3), real(2, 3)),
        of(real(2, 3), real(4, 3)),
        of(comp(2, 3), comp(5, 4, 3)),
        of(2.0, real(3)),
        of(real(3), 2.0),
        of(2.0, 3.0),
    ],
    "tensordot": TENSORDOTS,
    "contract": [*_with_axes(TENSORDOTS), *[(args, {"axes": "dot"}) for args, _ in HIGHER_DOTS]],
    "contract_left": contractions("left"),
    "contract_right": contractions("right"),
    "outer": [
        of(real(2), real(3)),
        of(comp(2), comp(3)),
        of(real(2, 2), real(3)),
        of(2.0, real(3)),
        of(real(0), real(3)),
    ],
    "vdot": [
        of(real(3), real(3)),
        of(comp(3), comp(3)),
        of(real(2, 2), comp(4)),
        of(comp(2, 2), real(2, 2)),
        of(2.0, 3.0),
    ],
    "kron": KRONS,
    "kron_left": transposes(KRONS, np.kron, "left"),
    "kron_right": transposes(KRONS, np.kron, "right"),
    "cross": CROSSES,
    "cross_left": transposes(CROSSES, np.cross, "left"),
    "cross_right": transposes(CROSSES, np.cross, "right"),
}

EINSUMS = [
    of("i->i", real(3)),
    of("ij->ji", comp(2, 3)),
    of("ij->i", real(2, 3)),
    of("ij->", real(2, 3)),
    of("ii", real(3, 3)),
    of("ii->i", real(3, 3)),
    of("iji->j", real(2, 3, 2)),
    of("ba", real(2, 3)),
    of("...ij->...ji", real(2, 3, 4)),
    of("...i->...", comp(2, 3)),
    of("ij,jk->ik", real(2, 3), real(3, 4)),
    of("ij,jk", comp(2, 3), comp(3, 4)),
    of("ij, j -> i", real(2, 3), comp(3)),
    of("i,i", real(3), real(3)),
    of("i,j->ij", real(2), real(3)),
    of("ij,kl->i", real(2, 3), real(3, 2)),
    of("ii,ij->j", real(3, 3), real(3, 2)),
    of("ij,ij->ij", real(1, 3), real(2, 3)),
    of("i,->i", real(3), 2.0),
    of("...ij,...jk->...ik", real(5, 2, 3), real(3, 4)),
    of("...ij,jk", real(5, 2, 3), real(3, 4)),
    of("...,...->...", real(4, 1, 3), real(2, 3)),
    of("i...,i...", real(3), real(3, 2)),
    of("i,i,i->", real(3), comp(3), real(3)),
    of("ij,jk,kl->il", real(2, 3), real(3, 4), real(4, 2)),
    of("ai,bi,ci,di->abcd", real(2, 2), real(2, 2), real(1, 2), real(2, 2)),
    of("i,i,i,i,i", *(real(2) for _ in range(5))),
    of("i,i,i,i,i,i->i", *(comp(2) for _ in range(6))),
]


def einsum_cotangents() -> dict[str, list[Sample]]:
    found: dict[str, list[Sample]] = {f"einsum_bar_{n}": [] for n in range(1, 7)}
    for (subscripts, *operands), _ in EINSUMS:
        y = np.asarray(np.einsum(subscripts, *operands))
        y_bar = comp(*y.shape) if np.iscomplexobj(y) else real(*y.shape)
        for k, like in enumerate(operands):
            others = operands[:k] + operands[k + 1 :]
            options = {"subscripts": subscripts, "index": k, "like": like}
            found[f"einsum_bar_{len(operands)}"].append(((y_bar, *others), options))
    return found


EINSUM: dict[str, list[Sample]] = {
    **{f"einsum_{n}": [s for s in EINSUMS if len(s[0]) == n + 1] for n in range(1, 7)},
    **einsum_cotangents(),
}

ORIGIN = np.zeros(3)
NORMS = [
    *each([real(3), comp(3), real(2, 3), real(2, 3, 4), single(4), ORIGIN]),
    of(real(2, 3), ord="fro"),
    *each([real(4), comp(4)], *({"ord": p} for p in (1, 2, 3, 0, 2.5, np.inf, -np.inf))),
    *each([real(2, 3), comp(2, 3)], *({"ord": p, "axis": -1} for p in (None, 1, 2, 3, np.inf))),
    of(real(2, 3), axis=0),
    of(real(2, 3), axis=0, keepdims=True),
    of(real(2, 3, 4), axis=(0, 2)),
    of(real(2, 3, 4), axis=(1, 2), ord="fro", keepdims=True),
    of(real(2, 3), keepdims=True),
    of(real(2, 3), axis=(1,), ord=1),
    of(np.zeros((2, 3)), axis=1),
    *each(
        [real(3, 4), comp(3, 3)],
        *({"ord": p} for p in (1, -1, 2, -2, "nuc", np.inf, -np.inf)),
    ),
    of(real(2, 3, 4), ord=1, axis=(2, 0)),
    of(real(2, 3, 4), ord=2, axis=(0, 1), keepdims=True),
    of(real(2, 3, 4), ord="nuc", axis=(-1, -2)),
]
SQUARE = [regular(3, 3), regular(2, 3, 3), regular(3, 3, make=comp), regular(1, 1)]
HERMITIAN = [hermitian(3, 3), hermitian(2, 3, 3), hermitian(3, 3, make=comp), hermitian(1, 1)]
SINGULAR = np.arange(1.0, 10.0).reshape(3, 3)
SPECTRUM = (HERMITIAN[0], *np.linalg.eigh(HERMITIAN[0]))

MATRIX: dict[str, list[Sample]] = {
    "norm": NORMS,
    "normed_rank": [of(real(3), None), of(real(2, 3), None), of(real(2, 3), (0, 1)), of(2.0, 1)],
    "inv": each(SQUARE),
    "solve": [
        of(regular(3, 3), real(3)),
        of(regular(3, 3), real(3, 2)),
        of(regular(3, 3, make=comp), comp(3)),
        of(regular(2, 3, 3), real(2, 3, 4)),
        of(regular(2, 3, 3), real(3, 4)),
        of(regular(3, 3), real(2, 3, 4)),
        of(regular(2, 3, 3), real(3)),
        of(regular(2, 3, 3, make=comp), real(3)),
    ],
    "as_columns": [
        of(real(2, 3), vector=real(3), result=real(2, 3)),
        of(real(3), vector=real(3), result=real(3)),
        of(real(3, 2), vector=real(3, 2), result=real(3, 2)),
    ],
    "from_columns": [
        of(real(2, 3, 1), vector=real(3), result=real(2, 3)),
        of(real(3), vector=real(3), result=real(3)),
    ],
    "pinv": each([real(3, 2), real(2, 3), regular(3, 3), comp(3, 2), real(2, 3, 2)]),
    "det": each([*SQUARE, SINGULAR, np.zeros((2, 2)), np.diag([0.0, 2.0, 3.0])]),
    "cofactor": each(SQUARE),
    "cofactor_along": [of(real(3, 3), real(3, 3)), of(comp(2, 2), comp(2, 2))],
    "cofactor_twice": [of(real(3, 3), real(3, 3), real(3, 3)), of(*[comp(3, 3)] * 3)],
    "cofactor_thrice": [of(*[real(4, 4)] * 4), of(*[comp(3, 3)] * 4)],
    "cofactor_beyond": [of(real(4, 4), real(4, 4))],
    "slogdet": each([*SQUARE, -regular(3, 3)]),
    "cholesky": each(HERMITIAN, {}, {"upper": True}),
    "over_gaps": [of(real(3, 3), np.array([-1.0, 0.5, 2.0])), of(comp(2, 2), np.array([3.0, 1.0]))],
    "spectral": [of(real(3), real(3), *SPECTRUM)],
    "values_along": [of(real(3, 3), *SPECTRUM)],
    "quotients": [of(real(3), real(3), SPECTRUM[1])],
    "over_gaps_bar": [
        of(real(3, 3), np.array([-1.0, 0.5, 2.0])),
        of(real(2, 2), np.array([3.0, 1.0])),
    ],
    "halved_tril": each([real(3, 3), real(2, 3, 3), comp(2, 2)]),
    "eigvalsh": each(HERMITIAN, {}, {"UPLO": "U"}),
    "eigh": each([h for h in HERMITIAN if not np.iscomplexobj(h)], {}, {"UPLO": "U"}),
    "matrix_rank": each([real(3, 3)]),
}

# --- signals ------------------------------------------------------------------------------

WAVES = [real(5), real(6), comp(5), real(3, 4)]
TRANSFORMS = [
    *each(WAVES),
    *each([real(6), comp(5)], {"norm": "ortho"}, {"norm": "forward"}, {"n": 4}, {"n": 9}),
    of(real(3, 4), axis=0, norm="forward", n=5),
]
SPECTRA = [
    *each([comp(4), comp(3, 4), real(4)], {}, {"n": 5}, {"n": 9}, {"n": 4, "norm": "ortho"}),
    of(comp(4, 3), axis=0, norm="forward"),
]


def _adjoints(samples: list[Sample], transform: Any) -> list[Sample]:
    found: list[Sample] = []
    for (x,), options in samples:
        y = transform(x, **options)
        y_bar = comp(*y.shape) if np.iscomplexobj(y) else real(*y.shape)
        found.append(((y_bar,), {**options, "like": x}))
    return found


REAL_TRANSFORMS = [sample for sample in TRANSFORMS if not np.iscomplexobj(sample[0][0])]
SEQUENCES = [
    of(real(5), real(3)),
    of(real(2), real(5)),
    of(comp(4), comp(4)),
    of(real(4), comp(2)),
    of(real(1), real(3)),
]
CONVOLUTIONS = [
    (args, options)
    for args, _ in SEQUENCES
    for options in ({}, {"mode": "same"}, {"mode": "valid"}, {"mode": "full"})
]
CORRELATIONS = [*CONVOLUTIONS, of(real(2), real(4), mode="same"), of(real(4), real(5), mode="same")]

FILTERED = [
    of(real(3), real(6)),
    of(real(2), real(2, 5)),
    of(comp(3), comp(4)),
    of(real(2), comp(4)),
    of(real(5), real(2, 3)),
    of(real(2), real(0)),
    of(single(3), single(6)),
]
ALL_POLES = [of(np.arange(len(taps), 0.0, -1.0) + taps / 8, x) for (taps, x), _ in FILTERED]

SIGNALS: dict[str, list[Sample]] = {
    "fft": TRANSFORMS,
    "ifft": TRANSFORMS,
    "rfft": REAL_TRANSFORMS,
    "irfft": SPECTRA,
    "rfft_adjoint": _adjoints(REAL_TRANSFORMS, np.fft.rfft),
    "irfft_adjoint": _adjoints(SPECTRA, np.fft.irfft),
    "fitted": [
        of(real(3), like=real(5)),
        of(comp(2, 5), like=comp(2, 3)),
        of(real(3), like=real(3)),
    ],
    "fftfreq": [of(5, 1.0), of(4, 0.5)],
    "rfftfreq": [of(5, 1.0), of(4, 0.5)],
    "opposite_norm": [of(None), of("ortho"), of("forward")],
    "convolve": CONVOLUTIONS,
    "convolve_left": transposes(CONVOLUTIONS, np.convolve, "left"),
    "convolve_right": transposes(CONVOLUTIONS, np.convolve, "right"),
    "correlate": CORRELATIONS,
    "correlate_left": transposes(CORRELATIONS, np.correlate, "left"),
    "correlate_right": transposes(CORRELATIONS, np.correlate, "right"),
    "fir": FILTERED,
    "fir_taps": [
        ((x[..., ::-1] * 0.7, x), {"like": taps})
        for (taps, x), _ in FILTERED
        if np.iscomplexobj(taps) == np.iscomplexobj(x)
    ],
    "all_pole": ALL_POLES,
}

# --- statistics ---------------------------------------------------------------------------

LANES = [real(5), real(4), real(3, 4), single(5), real(1)]
HOLED = np.where(np.arange(6) == 2, np.nan, real(6))
QUANTILES = [
    *[of(x, 0.3) for x in LANES],
    of(real(5), np.array([0.1, 0.55])),
    of(real(3, 4), np.array([[0.2, 0.7]]), axis=1),
    of(real(3, 4), 0.4, axis=0, keepdims=True),
    of(real(2, 3, 4), 0.4, axis=(0, 2)),
    *[
        of(real(7), 0.37, method=method)
        for method in (
            "lower", "higher", "midpoint", "nearest", "hazen", "weibull", "median_unbiased",
            "normal_unbiased", "interpolated_inverted_cdf",
        )
    ],
]  # fmt: skip
KNOTS = np.array([0.5, 1.0, 2.5, 4.0])

STATISTICS: dict[str, list[Sample]] = {
    "median": [
        *each(LANES),
        of(real(3, 4), axis=-1),
        of(real(3, 4), axis=0, keepdims=True),
        of(real(2, 3, 4), axis=(0, 1)),
    ],
    "nanmedian": [of(HOLED), of(np.stack([HOLED, HOLED[::-1]]), axis=1)],
    "quantile": QUANTILES,
    "percentile": [((x, 100 * q), options) for (x, q), options in QUANTILES],
    "nanquantile": [of(HOLED, 0.3), of(np.stack([HOLED, HOLED[::-1]]), 0.6, axis=1)],
    "nanpercentile": [of(HOLED, 30.0)],
    "quantile_weights": [
        of(real(5), 0.3),
        of(real(2, 5), np.array([0.3, 0.6])),
        of(real(5), 0.3, order=1),
        of(real(5), 0.41, method="hazen"),
    ],
    "interp": [
        of(1.7, KNOTS, real(4)),
        of(np.array([0.2, 0.7, 1.8, 3.9, 5.0]), KNOTS, real(4)),
        of(np.array([[0.2, 0.7], [1.8, 5.0]]), KNOTS, real(4)),
        of(np.array([0.2, 5.0]), KNOTS, real(4), left=1.0, right=2.0),
        of(0.7, KNOTS, comp(4)),
    ],
    "interval_of": [of(1.7, KNOTS), of(np.array([0.2, 2.7, 9.0]), KNOTS)],
    "digitize": [of(real(3), KNOTS), of(1.7, KNOTS, right=True)],
    "periodic_places": [of(real(4), period=3.0)],
    "periodic_turns": [of(real(4), period=3.0)],
    "bincount": [
        of(np.array([0, 2, 2, 1]), real(4)),
        of(np.array([0, 2, 2, 1]), real(4), minlength=6),
    ],
    "partition": [
        of(real(6), kth=2),
        of(real(3, 5), kth=1, axis=0),
        of(real(3, 5), kth=(1, 3)),
    ],
    "argpartition": [of(real(6), kth=2)],
    "partition_places": [of(SORTED := real(5), np.sort(SORTED))],
    "running_places": [of(real(5)), of(real(3, 4), axis=1, largest=False)],
    "unique_places": [of(real(4)), of(real(2, 3))],
    "insert_places": [of(4, 1, 1), of(4, [1, 2], 2)],
    "delete_places": [of(4, 1), of(4, [0, 2])],
    "spread_mask": [
        of(real(2), np.array([True, False, True])),
        of(comp(1), np.array([[True, False]])),
    ],
}

# --- factorisations -------------------------------------------------------------------------

FACTORED = [real(3, 3), real(4, 2), real(2, 4), real(2, 4, 3)]
GENERAL = np.array([[2.0, 1.0, 0.3], [0.2, -1.0, 0.7], [0.5, 0.4, 3.0]])

FACTORISATIONS: dict[str, list[Sample]] = {
    "svdvals": each([*FACTORED, comp(3, 2)]),
    "svd": [*each(FACTORED, {"full_matrices": False}), of(real(3, 3)), of(real(2, 3, 3))],
    "qr": [*each([real(3, 3), real(4, 2), real(2, 4), real(2, 4, 3), comp(4, 3), comp(3, 3)])],
    "qr_r": each([real(3, 3), real(4, 2), real(2, 4)], {"mode": "r"}),
    "eigvals": each([GENERAL, GENERAL + 1j * GENERAL.T, np.stack([GENERAL, 2 * GENERAL])]),
    "eig": [of(GENERAL), of(np.stack([GENERAL, 2 * GENERAL]))],
    "roots": [of(np.array([1.0, -2.0, -5.0, 6.0])), of(np.array([2.0, 1.0, 3.0]))],
    "matched": [of(np.array([2.0, 1.0]), np.array([1.1, 2.1]))],
    # what stands for the last element where no vector is free is read by nobody
    "full_rank": [of(np.triu(GENERAL), free=2)],
    "independent": [of(real(3, 3), real(3), GENERAL)],
    "blur": [of(real(3), real(3, 3), GENERAL)],
    "completing": [of(real(4, 1), real(4, 1))],
    "completing_bar": [of(real(4, 1), real(4, 1))],
    "over_values": [of(real(4, 2), np.array([3.0, 1.0]), free=2)],
    "over_values_bar": [of(real(4, 2), np.array([3.0, 1.0]), free=2)],
    "least_squares": [
        of(real(5, 3), real(5)),
        of(real(5, 3), real(5, 2)),
        of(real(3, 5), real(3)),
        of(regular(3, 3), real(3)),
        of(comp(5, 3), comp(5)),
        of(real(5, 3), real(5), rcond=1e-12),
    ],
}

# --- sparse matrices ------------------------------------------------------------------------

PLACES = {"rows": np.array([0, 0, 1, 2, 2, 2]), "cols": np.array([0, 1, 1, 0, 2, 2])}
"""Of a matrix with three rows and columns, two entries of which stand at one place."""
REGULAR = np.array([3.0, 0.5, -2.0, 0.7, 1.5, 1.0])

SPARSE: dict[str, list[Sample]] = {
    "sparse_product": [
        of(real(6), real(3), **PLACES, size=3),
        of(real(6), real(3, 2), **PLACES, size=4),
        of(comp(6), comp(5), **PLACES, size=3),
        of(single(6), single(3), **PLACES, size=3),
        of(real(0), real(3), rows=np.arange(0), cols=np.arange(0), size=2),
    ],
    "sparse_outer": [
        of(real(3), real(4), **PLACES),
        of(real(3, 2), real(3, 2), **PLACES),
        of(comp(3), comp(3), **PLACES),
    ],
    "sparse_solve": [
        of(REGULAR, real(3), **PLACES),
        of(REGULAR, real(3, 2), **PLACES),
        of(REGULAR * (1 + 0.5j), comp(3), **PLACES),
    ],
}

SAMPLES: dict[str, list[Sample]] = {
    **SHAPE,
    **SELECTION,
    **CREATION,
    **PRODUCTS,
    **EINSUM,
    **MATRIX,
    **SIGNALS,
    **STATISTICS,
    **FACTORISATIONS,
    **SPARSE,
}
