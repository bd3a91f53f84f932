"""Recorded runs written out: the text of `.specialize(*args)` and `code_ir` of what is recorded."""

# programs under test are written as users write them

import copy
import heapq
import math
import random
import re
import runpy

import numpy as np
import pytest
import trees
from programs.objects import machine_shop
from test_corpus import each_program, has_one_real_result

import wengert as wg
from wengert.errors import UnsupportedSyntax
from wengert.frontend.listing import runs

CHANGES = "its run has no text: it changes what `"
OF_PARTS = "its run has no text: it takes the parts of complex numbers in memory"
WITHOUT_TEXT = {
    **dict.fromkeys(
        (
            "control.tree_of_dicts",
            "mutable_containers.copies_deep_and_shallow",
            "mutable_containers.descended",
            "mutable_containers.gini_coefficient",
            "mutable_containers.inventory",
            "mutable_containers.momentum_by_name",
            "mutable_containers.nested_records",
            "mutable_containers.slices_of_lists",
            "mutable_containers.transposed_in_place",
            "objects.flight_of_the_given",
            "objects.objects_as_arguments",
        ),
        CHANGES,
    ),
    "complexes.complex_array": OF_PARTS,
    "linear_algebra.fft_in_place_complex": OF_PARTS,
    "pde.quantum_packet": OF_PARTS,
}


def listed(function, *args, argnums=0):
    """The gradient of a function as its run for these arguments is written out."""
    return wg.grad(function, argnums, tier="recorded").specialize(*copy.deepcopy(args))


@each_program(has_one_real_result, turn=1, parts=3)
def test_a_run_that_is_written_out_has_the_derivative_of_the_run(program, args):
    gradient = wg.grad(program.function, program.wrt, tier="recorded")
    if program.name in WITHOUT_TEXT:
        with pytest.raises(UnsupportedSyntax, match=WITHOUT_TEXT[program.name]):
            gradient.specialize(*copy.deepcopy(args))
        return
    given, left = copy.deepcopy(args), copy.deepcopy(args)
    found = gradient.specialize(*copy.deepcopy(args))(*given)
    trees.assert_close(list(found), list(gradient(*copy.deepcopy(args))), rel=1e-9)
    program.function(*left)
    assert trees.coordinates(given) == pytest.approx(trees.coordinates(left), rel=1e-12)


def ordered(x, y):
    """What reading refuses: a heap of functions."""
    heap = []
    for k in range(2):
        heapq.heappush(heap, (y * (2 - k), k, (lambda v: v * x) if k else (lambda v: v + x)))
    return heapq.heappop(heap)[2](x)


def test_the_text_is_that_of_the_run():
    source = wg.grad(ordered).specialize(1.5, 2.0).source
    assert re.sub(r"(?<=\S)  # .*", "", source).endswith("""
def grad_ordered(x, y):
    # forward
    t1 = y * 2
    t2 = y * 1
    _decided(t2 == t1, False)
    _decided(t2 < t1, True)
    # reverse
    return 2 * x
""")


def test_verbs_of_a_run_that_is_written_out():
    at = (1.1, 0.7, 0.21)
    gradient, bend = wg.grad(machine_shop), wg.hessian(machine_shop)
    assert wg.hvp(machine_shop).specialize(*at, 1.0)(*at, 1.0) == pytest.approx(bend(*at))
    assert bend.specialize(*at)(*at) == pytest.approx(bend(*at))
    value, slope = wg.value_and_grad(machine_shop).specialize(*at)(*at)
    assert (value, slope) == (pytest.approx(machine_shop(*at)), pytest.approx(gradient(*at)))
    assert "%1 = 0.0 + work_time    # objects.py:374" in wg.code_ir(machine_shop, *at)
    for text in (wg.code_adjoint(machine_shop, *at), wg.code_tangent(machine_shop, *at)):
        assert " <= 9.0, True)" in text


def test_a_saved_text_stands_alone(tmp_path):
    at = (1.1, 0.7, 0.21)
    path = wg.grad(machine_shop).specialize(*at).save(tmp_path / "slope.py")
    assert runpy.run_path(str(path))["grad_machine_shop"](*at) == wg.grad(machine_shop)(*at)


# --- what a run rests on ------------------------------------------------------------------


WENT = r"went another way here: there is {} where there was {}"


def other_way(found, before):
    return pytest.raises(ValueError, match=WENT.format(re.escape(found), re.escape(before)))


def test_comparisons_are_asked_again():
    special = wg.grad(ordered).specialize(1.0, 2.0)
    assert special(1.5, 3.0) == 3.0
    with other_way("False", "True") as caught:
        special(1.5, -3.0)
    assert caught.value.code == "WG101"


def test_what_numpy_says_of_arrays_is_asked_again():
    def f(a):
        k = int(np.argmax(a))
        chosen = a[a > 0.3]
        return ordered(a[k], 1.0) * chosen.sum() * len(chosen)

    special = listed(f, np.array([0.5, 0.2, 0.9]))
    a = np.array([0.6, 0.1, 0.8])
    np.testing.assert_allclose(special(a), wg.grad(f, tier="recorded")(a))
    with other_way("np.int64(0)", "2"):
        special(np.array([1.6, 0.1, 0.8]))
    with other_way("False", "True"):
        special(np.array([0.6, 0.7, 0.8]))
    with pytest.raises(ValueError, match=r"made for calls with \(3,\) where there is \(4,\) now"):
        special(np.ones(4))


def test_whole_numbers_that_are_given_keep_their_derivative():
    def f(x, n):
        return ordered(x, 1.0) * n**2 + sum(x for _ in range(n))

    special = wg.grad(f, (0, 1)).specialize(1.5, 3)
    assert special(1.5, 3) == pytest.approx((2 * 1.5 * 9 + 3, 1.5**2 * 6))
    with pytest.raises(ValueError, match="made for calls with 3 where there is 4 now"):
        special(1.5, 4)


def test_conversions_are_asked_again():
    def f(x):
        return x * int(x) + np.floor(x) * x + x.__round__() * np.array([x]).astype(int)[0]

    special = listed(f, 2.3)
    assert special(2.4) == pytest.approx(2 + 2)
    with other_way("3", "2"):
        special(3.4)


def test_what_has_raised_must_raise_again():
    def f(x):
        step = 1.0
        while True:
            try:
                return math.log(x - step) * x
            except ValueError:
                step /= 2

    special = listed(f, 0.7)
    assert special(0.7) == pytest.approx(math.log(0.2) + 0.7 / 0.2)
    with other_way("1.0", "-0.30000000000000004"):
        special(2.0)


SCALE, WEIGHTS = 2.0, np.array([1.0, 2.0])


def with_globals(x):
    return SCALE * x * WEIGHTS[1]


def test_globals_are_what_they_were():
    global SCALE
    special = listed(with_globals, 1.5)
    assert special(2.5) == 4.0
    try:
        SCALE = 3.0
        with other_way("3.0", "2.0"):
            special(2.5)
    finally:
        SCALE = 2.0
    try:
        WEIGHTS[1] = 5.0
        with other_way("False", "True"):
            special(2.5)
    finally:
        WEIGHTS[1] = 2.0


def test_what_is_captured_is_what_it_was():
    def made(rate):
        return lambda x: ordered(x, 1.0) * rate

    special = wg.grad(made(2.0)).specialize(1.5)
    assert special(2.5) == 2 * 2 * 2.5
    assert "rate=2.0" in special.source


# --- memory ---------------------------------------------------------------------------------


def test_writes_through_views():
    def f(x, w):
        a = np.zeros((3, 4))
        a[1:, ::2] = w
        a.T[2] += x
        a[0] *= 2.0
        row = a[:, 1]
        row[...] = x[::-1]
        np.add.at(a, ([0, 0], [3, 3]), x[:2])
        a -= a[2, 0]
        return np.sum(a**3) + ordered(a[1, 2], 1.0)

    args = np.array([0.4, 0.7, -0.2]), np.array([[1.0, 0.5], [0.3, 0.8]])
    recorded = wg.grad(f, (0, 1), tier="recorded")
    special = listed(f, *args, argnums=(0, 1))
    for scale in (1.0, 1.7):
        moved = [scale * arg for arg in args]
        for found, expected in zip(special(*moved), recorded(*moved), strict=True):
            np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_what_is_added_many_times_counts_as_often():
    def program(a, s):
        c = a * 1.0
        np.subtract.at(c, np.array([1, 1, 0]), np.array([s]))
        return np.sum(c * np.array([1.0, 2.0, 3.0]))

    a_bar, s_bar = listed(program, np.ones(3), 0.5, argnums=(0, 1))(np.ones(3), 0.5)
    np.testing.assert_array_equal(a_bar, [1.0, 2.0, 3.0])
    assert s_bar == -5.0


def test_arguments_are_changed_as_the_program_changes_them():
    def f(a, b):
        b[0] *= a[1]
        a.T[...] = a[::-1] * 2
        return ordered(a.sum(), 1.0) * b[0]

    a, b = np.array([1.0, 2.0]), np.array([3.0])
    special = listed(f, a, b, argnums=(0, 1))
    given, left = (a.copy(), b.copy()), (a.copy(), b.copy())
    expected = wg.grad(f, (0, 1), tier="recorded")(*left)
    for found, other in zip((*special(*given), *given), (*expected, *left), strict=True):
        np.testing.assert_allclose(found, other)
    both = np.ones(3)
    with pytest.raises(ValueError, match="two of the arrays given to it share memory"):
        special(both[:2], both[1:2])


def test_long_lists_and_derivatives_inside():
    def f(xs):
        slope = wg.grad(lambda x: ordered(x, 1.0) * xs[0])(xs[1])
        return slope * sum(x * x for x in xs)

    xs = [0.1 * k + 1 for k in range(80)]
    special = listed(f, xs)
    np.testing.assert_allclose(special(xs), wg.grad(f, tier="recorded")(xs))
    assert special(xs)[0] != 0
    with pytest.raises(ValueError, match="made for calls with 80 where there is 79 now"):
        special(xs[1:])


# --- runs without text ------------------------------------------------------------------------


def test_what_else_decides_is_refused():
    def f(x):
        return ordered(x, 1.0) * random.random()

    with pytest.raises(UnsupportedSyntax) as caught:
        wg.grad(f).specialize(1.5)
    assert "lambda is chosen, stored or passed on in a way that is known only at run time" in str(
        caught.value
    )
    assert (
        "Recording a run does not help here: its run has no text: something else than its arguments "
        "decides what it gives." in str(caught.value)
    )


def test_a_container_that_is_changed_is_refused():
    def f(xs):
        xs.append(xs[0])
        return ordered(xs[0], 1.0)

    with pytest.raises(UnsupportedSyntax) as caught:
        wg.grad(f).specialize([1.5])
    said = "Recording a run does not help here: its run has no text: it changes what `xs` holds."
    assert said in str(caught.value)


def test_what_it_has_captured_is_not_to_change():
    calls = np.zeros(1)

    def f(x):
        calls[0] += 1
        return x * x

    with pytest.raises(UnsupportedSyntax, match="no text: it changes what `calls` holds"):
        listed(f, 1.5)


def test_a_long_run_is_refused(monkeypatch):
    monkeypatch.setattr(runs, "MOST_STEPS", 100)
    with pytest.raises(UnsupportedSyntax, match="no text: it has 201 steps, more than 100"):
        listed(lambda x: sum(x * k for k in range(100)) + x, 1.5)


@pytest.mark.parametrize("tier", [None, "recorded"])
def test_the_tier_is_what_was_asked_for(tier):
    def f(x):
        return x * x if x > 0 else x

    text = wg.grad(f, tier=tier).specialize(1.5).source
    assert ("_decided(x > 0, True)" in text) == (tier == "recorded")
    with pytest.raises(UnsupportedSyntax, match="lambda is chosen"):
        wg.grad(ordered, tier="static").specialize(1.0, 2.0)
