"""Data of unusual kinds in recorded runs: arrays of records, what classes hold, sparse matrices."""

import collections
import decimal
import itertools
import math
import sys
import types
import weakref

import numpy as np
import pytest
import test_records
from error_texts import refusal, says
from scipy import sparse

import wengert as wg

RECORDS = [
    test_records.bodies_that_move,
    test_records.records_walked_over,
    test_records.chosen_records_are_copies_and_slices_are_not,
    test_records.records_from_tuples,
    test_records.fields_by_their_names,
    test_records.records_in_order_of_a_field,
    test_records.records_in_two_axes,
    test_records.records_with_attributes,
    test_records.records_in_an_object,
]


def differences(f, x, step=1e-6):
    return (f(x + step) - f(x - step)) / (2 * step)


def recorded(f):
    return wg.grad(f, tier="recorded")


@pytest.mark.parametrize("f", RECORDS)
def test_fields_of_records_lie_in_one_memory(f):
    value, slope = wg.value_and_grad(f, tier="recorded")(0.7)
    assert value == pytest.approx(f(0.7), rel=1e-14)
    assert slope == pytest.approx(differences(f, 0.7), rel=1e-7)
    assert recorded(recorded(f))(0.7) == pytest.approx(differences(recorded(f), 0.7), rel=1e-6)


def records_that_overlap(x):
    table = np.zeros(4, dtype=[("a", float), ("n", int), ("b", float, 2)])
    table["a"], table["b"][:, 1] = x ** np.arange(4), x
    table[1:] = table[:-1]
    table[0] = (x * x, 7, [1.0, x])
    row = table[3].copy()
    table[3]["a"] = 9.0
    total, counts = row["a"] * row["b"].sum() + table[3]["a"] * x, table["n"]
    return total + (table["a"] * table["b"][:, 1]).sum() + counts.sum() * x


def test_records_are_copied_and_written_whole():
    assert wg.value_and_grad(records_that_overlap, tier="recorded")(0.7) == (
        pytest.approx(records_that_overlap(0.7)),
        pytest.approx(differences(records_that_overlap, 0.7)),
    )


def test_a_function_of_whole_records_is_refused():
    def f(x):
        table = np.zeros(2, dtype=[("a", float), ("b", float)])
        table["a"] = x
        return np.pad(table, 1)["a"].sum()

    says(refusal("WG101", NotImplementedError, lambda: recorded(f)(0.7)), "array of records")


class Scale:
    def __init__(self):
        self.factor = np.array([1.0, 2.0])

    def of(self, x):
        return math.tanh(x) * self.factor.sum()


class Layer:
    kinds = {}  # noqa: RUF012
    squash = math.sin
    functions = {"exp": math.exp}  # noqa: RUF012
    weights = np.zeros(2)
    scale = Scale()
    seen = []  # noqa: RUF012
    count = 0

    def __init_subclass__(cls, kind):
        Layer.kinds[kind] = cls

    def __call__(self, x):
        self.weights[0] = x
        Layer.count += 1
        Layer.last = x
        self.seen.append(x)
        return self.squash(x) + self.functions["exp"](x) + self.weights.sum() * self.scale.of(x)


class Cosine(Layer, kind="cosine"):
    squash = np.cos


def by_layers(x):
    return Layer()(x) * Layer.kinds["cosine"]()(x)


def test_what_classes_hold_is_part_of_the_run():
    expected, slope = by_layers(0.3), differences(by_layers, 0.3)
    Layer.count = 0
    Layer.seen.clear()
    value, found = wg.value_and_grad(by_layers, tier="recorded")(0.3)
    assert (value, found) == (pytest.approx(expected), pytest.approx(slope))
    assert (Layer.count, Layer.last, Layer.seen) == (2, 0.3, [0.3, 0.3])
    assert Layer.weights.tolist() == [0.3, 0.0]
    assert list(map(type, (*Layer.seen, Layer.last))) == [float] * 3
    assert Layer.kinds == {"cosine": Cosine}
    assert Layer.functions == {"exp": math.exp}


def stored_of(matrix):
    return matrix.data.sum() * (1 + matrix.indptr[1])


def filled_later(x):
    table = sparse.lil_matrix((3, 3))
    for k in range(3):
        table[k, (k + 1) % 3] = x * (k + 1)
    table[0, 0] += 1.0
    return stored_of(table.tocsr())


def of_a_dense_matrix(x):
    return stored_of(sparse.csr_matrix(np.array([[x, 0.0], [x * x, 1.0]])))


@pytest.mark.parametrize("f", [filled_later, of_a_dense_matrix])
def test_what_sparse_matrices_store(f):
    assert wg.value_and_grad(f, tier="recorded")(0.7) == (
        pytest.approx(f(0.7)),
        pytest.approx(differences(f, 0.7)),
    )


def test_what_is_stored_of_a_product_is_refused():
    def f(x):
        matrix = sparse.csr_matrix(np.array([[x, 0.0], [x * x, 1.0]]))
        return (matrix @ matrix).nnz * x

    says(refusal("WG101", NotImplementedError, lambda: recorded(f)(0.7)), "what SciPy stores")


KEPT = np.ones(3)
HANDS_OUT = {
    "an iterator": lambda: iter([KEPT[1:]]),
    "a cycle": lambda: itertools.cycle([KEPT[1:]]),
    "a generator": lambda: (KEPT[k:] for k in range(1, 3)),
    "a map": lambda: map(lambda k: KEPT[k:], [1]),
    "a weak reference": lambda: weakref.ref(KEPT),
}
HELD = {}


def what_is_handed_out(x):
    KEPT[1] = x
    held = HELD["it"]
    return (held()[1:] if callable(held) else next(held))[0] * x


@pytest.mark.parametrize("make", HANDS_OUT.values(), ids=HANDS_OUT)
def test_what_was_made_before_hands_out_the_arrays_of_the_run(make):
    KEPT[:] = 1.0
    HELD["it"] = made = make()
    assert wg.value_and_grad(what_is_handed_out, tier="recorded")(0.7) == (
        pytest.approx(0.49),
        pytest.approx(1.4),
    )
    assert HELD["it"] is made
    assert KEPT.tolist() == [1.0, 0.7, 1.0]


class Counted:
    def __init__(self, a):
        self.a = a
        self.count = getattr(self, "count", 0) + 1

    def value(self):
        return math.sin(self.a) * self.count


class Named(Counted):
    def __init__(self, a, b):
        super(Named, self).__init__(a)  # noqa: UP008
        self.b, self.count = b, self.count + 1

    def value(self):
        return super(Named, self).value() * math.exp(self.b)  # noqa: UP008


class Youngest(Named):
    def __init__(self, a):
        super().__init__(a, 2 * a)

    def value(self):
        own = lambda: self.a
        return super().value() + own()


class Ordered(collections.OrderedDict):
    def __init__(self, scale):
        super(Ordered, self).__init__()  # noqa: UP008
        self.scale = scale

    def __setitem__(self, key, value):
        super(Ordered, self).__setitem__(key, value * self.scale)  # noqa: UP008


def in_order(x):
    table = Ordered(3.0)
    table["a"] = math.exp(x)
    return table["a"] * x


@pytest.mark.parametrize(
    "f", [lambda x: Named(x, x * x).value(), lambda x: Youngest(x).value(), in_order]
)
def test_super_with_a_class_runs_each_method_once(f):
    value, slope = wg.value_and_grad(f, tier="recorded")(0.7)
    assert value == pytest.approx(f(0.7), rel=1e-14)
    assert slope == pytest.approx(differences(f, 0.7), rel=1e-7)
    assert wg.jacobian(f, mode="forward", tier="recorded")(0.7) == pytest.approx(slope)


IN_C = types.MappingProxyType({"array": np.array})


def one_by_one(x):
    table = np.empty((2, 2), dtype=object)
    table[0, 0] = x[0] * x[1]
    table[0, 1] = x[1]
    table[1, 0], table[1, 1] = 1.0, x[0]
    return table


@pytest.mark.parametrize(
    "f",
    [
        one_by_one,
        lambda x: IN_C["array"]([[x[0] * x[1], x[1]], [1.0, x[0]]]),
        lambda x: [one_by_one(x)][0],
        lambda x: one_by_one(x).ravel(),
    ],
)
@pytest.mark.parametrize("mode", ["forward", "reverse"])
def test_results_that_are_arrays_of_objects(f, mode):
    found = wg.jacobian(f, mode=mode, tier="recorded")(np.array([0.3, 0.5]))
    np.testing.assert_array_equal(found.reshape(4, 2), [[0.5, 0.3], [0, 1], [0, 0], [1, 0]])


class Span:
    def __init__(self, width):
        self.width = width

    def __add__(self, other):
        return Wide(self.width + other.width) if isinstance(other, Span) else NotImplemented

    def __radd__(self, other):
        return other + self if isinstance(other, Span) else NotImplemented

    def root(self):
        return math.sqrt(self.width)


class Wide(Span):
    def squared(self):
        return type(self)(math.pow(self.width, 2.0)) + self


SPANS = {"wide": Wide}


@pytest.mark.parametrize(
    "f",
    [
        lambda x: SPANS["wide"](x).squared().root(),
        lambda x: (SPANS["wide"](x) + SPANS["wide"](x * x)).root(),
        lambda x: (SPANS["wide"](x) + SPANS["wide"](x) + SPANS["wide"](x * x)).width,
    ],
)
def test_a_class_that_its_base_refers_to_is_one_class_of_the_run(f):
    assert recorded(f)(0.7) == pytest.approx(differences(f, 0.7), rel=1e-7)


def wave(x):
    return math.sin(x) * x


HERE = sys.modules[__name__]
LAST = {"phase": 0.0}


def remembering(x):
    globals()["LAST"] = {"phase": math.cos(x)}
    vars(HERE)["TIMES"] = 2.0
    return LAST["phase"] * globals()["TIMES"]


@pytest.mark.parametrize(
    "f",
    [
        lambda x: globals()["wave"](x),
        lambda x: vars(HERE)["wave"](x),
        lambda x: wave(x) + HERE.__dict__["wave"](x),
        lambda x: wave(x) if "wave" in dir(HERE) and "wave" in globals() else x,
        remembering,
    ],
)
def test_all_names_of_a_module_are_those_of_the_run(f):
    assert recorded(f)(0.7) == pytest.approx(differences(f, 0.7), rel=1e-7)
    LAST["phase"] = 0.0
    recorded(f)(0.4)
    assert LAST["phase"] == (math.cos(0.4) if f is remembering else 0.0)


@pytest.mark.parametrize(
    "f",
    [
        lambda x: "a" + x,
        lambda x: [1.0] + x,  # noqa: RUF005
        lambda x: None * x,
        lambda x: x + None,
        lambda x: x ** "a",
        lambda x: {} - x,
        lambda x: (1,) * x,
        lambda x: x // "s",
    ],
)
def test_operands_that_are_no_numbers_raise_what_python_raises(f):
    with pytest.raises(TypeError) as expected:
        f(0.7)
    with pytest.raises(TypeError) as caught:
        recorded(f)(0.7)
    assert str(caught.value) == str(expected.value)


@pytest.mark.parametrize(
    ("f", "said"),
    [
        (lambda x: float.__add__(x, 2.0), "requires a 'float' object but received a 'number with a derivative'"),
        (lambda x: float(decimal.Decimal(x)) * x, "conversion from number with a derivative to Decimal"),
        (lambda x: memoryview(np.ones(2) * x)[0], "a bytes-like object is required, not 'number with a derivative'"),
    ],
)  # fmt: skip
def test_code_in_c_that_takes_plain_numbers_is_refused(f, said):
    error = refusal("WG206", TypeError, lambda: recorded(f)(0.7))
    says(error, "code that is written in C takes plain numbers: ", said, __file__, "`wg.rrule`")


def test_metaclasses_that_the_run_defines():
    def f(x):
        class Doubling(type):
            def __call__(cls, *args):
                made = super().__call__(*args)
                made.k = 2
                return made

        class T(metaclass=Doubling):
            def __init__(self, v):
                self.v = math.sin(v)

        return T(x).v * T(x).k

    assert wg.value_and_grad(f)(0.7) == (
        pytest.approx(f(0.7)),
        pytest.approx(2 * math.cos(0.7)),
    )


def test_items_with_their_indices():
    def f(a):
        return sum(v**2 * sum(index) for index, v in np.ndenumerate(a)) + sum(
            k[0] * v for k, v in np.ndenumerate(np.arange(3))
        )

    a = np.arange(6.0).reshape(2, 3)
    assert recorded(f)(a) == pytest.approx(2 * a * np.add.outer([0, 1], [0, 1, 2]))


def test_an_item_of_a_sparse_matrix_is_deleted():
    def f(x):
        table = sparse.dok_matrix((3, 3))
        table[1, 1], table[0, 0] = x, 2 * x
        del table[1, 1]
        return table.sum() * x

    for tier in (None, "recorded"):
        assert wg.value_and_grad(f, tier=tier)(0.7) == (pytest.approx(0.98), pytest.approx(2.8))
