"""Arguments for every reduction and scan with a rule: `SAMPLES[name]` lists (args, options)."""

from __future__ import annotations

from typing import Any

import numpy as np

Sample = tuple[tuple[Any, ...], dict[str, Any]]

VECTOR = np.array([0.7, -1.2, 2.5, 0.4])
MATRIX = np.array([[0.3, -1.2, 2.5], [1.7, 0.4, -0.6]])
CUBE = np.sin(np.arange(1.0, 25.0)).reshape(2, 3, 4)
WITH_ZEROS = np.array([[0.0, -1.2, 2.5], [0.0, 0.4, 0.0]])
ITEMS = [0.7, -1.2, 2.5]


def _over(*arrays: Any, **options: Any) -> list[Sample]:
    return [((array,), options) for array in arrays]


REDUCED: list[Sample] = [
    *_over(VECTOR, MATRIX),
    *_over(MATRIX, CUBE, axis=0),
    *_over(VECTOR, MATRIX, axis=-1),
    *_over(CUBE, axis=(0, 2)),
    *_over(CUBE, axis=(2, 0), keepdims=True),
    *_over(MATRIX, keepdims=True),
    *_over(MATRIX, axis=1, keepdims=True),
]
SPREAD: list[Sample] = [*REDUCED, *_over(VECTOR, ddof=1), *_over(MATRIX, axis=1, ddof=1)]
SCANNED: list[Sample] = [
    *_over(VECTOR, MATRIX),
    *_over(VECTOR, MATRIX, axis=0),
    *_over(CUBE, axis=-2),
]
PRODUCTS: list[Sample] = [*REDUCED, *_over(WITH_ZEROS), *_over(WITH_ZEROS, axis=0)]

SAMPLES: dict[str, list[Sample]] = {
    "sum": REDUCED,
    "mean": REDUCED,
    "prod": PRODUCTS,
    "max": REDUCED,
    "min": REDUCED,
    "var": SPREAD,
    "std": SPREAD,
    "any": REDUCED,
    "all": REDUCED,
    "argmax": [*_over(VECTOR, MATRIX), *_over(MATRIX, axis=0)],
    "argmin": [*_over(VECTOR, MATRIX), *_over(MATRIX, axis=0)],
    "count_nonzero": [*_over(VECTOR, MATRIX), *_over(MATRIX, axis=0)],
    "cumsum": SCANNED,
    "cumprod": [*SCANNED, *_over(WITH_ZEROS), *_over(WITH_ZEROS, axis=1)],
    # over lists
    "sum_items": [((ITEMS,), {}), ((ITEMS, 0.5), {}), ((VECTOR,), {}), ((MATRIX,), {})],
    "fsum": _over(ITEMS),
    "prod_items": [*_over(ITEMS, VECTOR), *_over([0.0, 2.0, 3.0])],
    "dist": [((ITEMS, [1.0, 0.5, -2.0]), {})],
    "sumprod": [((ITEMS, [1.0, 0.5, -2.0]), {})],
    # what derivatives are made of
    "unreduce": [
        ((np.array([1.0, 2.0, 3.0]), MATRIX), {"axis": 0}),
        ((np.array([[1.0], [2.0]]), MATRIX), {"axis": 1, "keepdims": True}),
        ((2.0, MATRIX), {}),
    ],
    "sum_of_products": [
        ((VECTOR, VECTOR + 1), {}),
        ((MATRIX, MATRIX + 1), {"axis": 0}),
        ((MATRIX, MATRIX + 1), {"axis": 1, "keepdims": True}),
    ],
    "broadcast_like": [((np.array([1.0, 2.0, 3.0]), MATRIX), {}), ((2.0, VECTOR), {})],
    "exponent_of": [((0.3,), {}), ((-5.7,), {}), *_over(MATRIX)],
    "reduced_count": [*_over(VECTOR), *_over(CUBE, axis=(0, 1), ddof=1)],
    "or_one": [((3, 1), {}), ((0, 1), {})],
    "at_extreme": [
        ((MATRIX + 1, MATRIX, MATRIX.max(0)), {"axis": 0}),
        ((VECTOR + 1, VECTOR, VECTOR.min()), {}),
    ],
    "put_extreme": [
        ((np.array([1.0, 2.0, 3.0]), MATRIX, MATRIX.max(0)), {"axis": 0}),
        ((2.0, VECTOR, VECTOR.min()), {}),
    ],
    "cumsum_reversed": [((VECTOR, VECTOR), {}), ((MATRIX, MATRIX), {"axis": 1})],
    "lanes": [*_over(MATRIX), *_over(CUBE, axis=1), *_over(CUBE, axis=(0, 2))],
    "unlanes": [
        ((MATRIX.ravel(), MATRIX), {}),
        ((np.moveaxis(CUBE, 1, -1), CUBE), {"axis": 1}),
        ((np.moveaxis(CUBE, (0, 2), (-2, -1)).reshape(3, 8), CUBE), {"axis": (0, 2)}),
    ],
    "products_before": [*_over(VECTOR, MATRIX, WITH_ZEROS), *_over(MATRIX, reverse=True)],
    "linear_recurrence": [
        ((x[::-1] * factor, x), options)
        for x in (VECTOR, MATRIX, WITH_ZEROS)
        for factor in (1.0, 1e-90)
        for options in ({}, {"reverse": True})
    ],
    "delayed": [*_over(VECTOR, MATRIX), *_over(MATRIX, reverse=True)],
    "spread_items": [((2.0, ITEMS), {}), ((2.0, VECTOR), {})],
    "scale_items": [((2.0, ITEMS), {}), ((2.0, VECTOR), {})],
    "inner_items": [((ITEMS, [1.0, 0.5, -2.0]), {})],
    "sub_items": [((ITEMS, [1.0, 0.5, -2.0]), {}), ((VECTOR, 2 * VECTOR), {})],
    "neg_items": _over(ITEMS, VECTOR),
    "items_length": _over(ITEMS),
    "lane_of": [*_over(ITEMS), *_over([VECTOR, 2 * VECTOR])],
    "items_of": [
        ((VECTOR, ITEMS), {}),
        ((MATRIX, [VECTOR[:2], VECTOR[2:]]), {}),
        ((MATRIX, MATRIX.T), {}),
    ],
}
