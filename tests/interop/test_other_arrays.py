"""NumPy programs on arrays of other libraries: values and derivatives are those of NumPy, in the library's arrays."""

import copy
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from array_libraries import HAS_JAX, LIBRARIES, to_numpy
from error_texts import message, place, refusal
from programs import PROGRAMS
from test_corpus import has_numbers_for_arguments
from turns import has_turn

import wengert as wg
from wengert.errors import BadArgument, ImmutableArray, MixedLibraries, NoRule, UnsupportedSyntax

IN_EVERY_LIBRARY = pytest.mark.parametrize("library", LIBRARIES)
X = np.array([0.1, 0.2, 0.3])
WEIGHTS = np.array([1.0, 2.0, 3.0])

RECORDED = frozenset(
    ("mutation.list_of_rows", "mutation.history_of_one_array", "mutation.rows_in_a_list")
)
"""Programs that only a recorded run differentiates, and runs are of NumPy's arrays."""


def has_arrays(program):
    arguments = program.points[0]
    plain = all(
        isinstance(x, (float, int)) or (isinstance(x, np.ndarray) and x.dtype.kind in "fiub")
        for x in arguments
    )
    return (
        plain
        and any(isinstance(x, np.ndarray) for x in arguments)
        and program.name not in RECORDED
        and has_numbers_for_arguments(program)
    )


ARRAY_PROGRAMS = [p for p in PROGRAMS if has_turn(p.name, 2, 3) and has_arrays(p)]


def close(found, wanted, like):
    for each, other, x in zip(found, wanted, like, strict=True):
        if isinstance(x, (float, int)):
            np.testing.assert_allclose(float(each), other, rtol=1e-10, atol=1e-11)
            continue
        assert type(each) is type(x)
        np.testing.assert_allclose(to_numpy(each), other, rtol=1e-10, atol=1e-11)


@IN_EVERY_LIBRARY
@pytest.mark.parametrize("program", ARRAY_PROGRAMS, ids=lambda program: program.name)
def test_programs_of_the_corpus(program, library):
    args = program.points[0]
    make = LIBRARIES[library]()
    try:
        value, bars = wg.value_and_grad(program.function, program.wrt)(*copy.deepcopy(args))
    except wg.WengertError:
        pytest.skip("NumPy's arrays are refused")
    moved = [make(x) if isinstance(x, np.ndarray) else x for x in copy.deepcopy(args)]
    try:
        found, found_bars = wg.value_and_grad(program.function, program.wrt)(*moved)
    except ImmutableArray:
        after = copy.deepcopy(args)
        program.function(*after)  # it does write to one
        assert any(not np.array_equal(x, y) for x, y in zip(args, after, strict=True))
        return
    np.testing.assert_allclose(to_numpy(found), value, rtol=1e-11, atol=1e-12)
    close(found_bars, bars, [moved[k] for k in program.wrt])


def f(x):
    return np.sum(np.exp(x) * np.sin(x) * WEIGHTS)


def several(x):
    return np.stack([x[0] * x[1], np.sum(x**2), np.exp(x[2])])


@IN_EVERY_LIBRARY
@pytest.mark.parametrize(
    "run",
    [
        lambda make: wg.grad(f)(make(X)),
        lambda make: wg.gradient(f, make(X))[0],
        lambda make: wg.jacobian(several)(make(X)),
        lambda make: wg.jacobian(several, mode="reverse")(make(X)),
        lambda make: wg.hessian(f)(make(X)),
        lambda make: wg.diag_hessian(f)(make(X)),
        lambda make: wg.hvp(f)(make(X), make(WEIGHTS)),
        lambda make: wg.grad(lambda x: np.sum(wg.grad(f)(x) ** 2))(make(X)),
        lambda make: wg.pullback(several, make(X))[1](make(WEIGHTS))[0],
        lambda make: wg.pushforward(several, make(X))[1](make(WEIGHTS)),
        lambda make: wg.pushforward(several, make(X))[0],
        lambda make: wg.vmap(wg.grad(f))(make(np.stack([X, WEIGHTS]))),
        lambda make: wg.vmap(lambda x: np.sum(np.zeros(3) + x**2))(make(np.stack([X, WEIGHTS]))),
        lambda make: wg.jit(wg.grad(f))(make(X)),
        lambda make: wg.jit(lambda x: x * np.zeros(3))(make(X)),
        lambda make: (lambda c: wg.derivative(lambda t: t**2 * c)(2.0))(make(X)),
    ],
)
def test_verbs(run, library):
    make = LIBRARIES[library]()
    found, wanted = run(make), run(np.array)
    assert type(found) is type(make(X))
    np.testing.assert_allclose(to_numpy(found), wanted, rtol=1e-12)


@IN_EVERY_LIBRARY
def test_calls_of_one_kind_take_a_short_way(library):
    make, gradient = LIBRARIES[library](), wg.grad(f)
    for shift in range(3):
        found = gradient(make(X + shift))
        np.testing.assert_allclose(to_numpy(found), wg.grad(f)(X + shift), rtol=1e-12)
    (ready,) = gradient.quick.values()
    assert len(ready.ready) == 1


@dataclass
class Model:
    w: object
    b: float


@IN_EVERY_LIBRARY
def test_containers_and_objects(library):
    make = LIBRARIES[library]()
    model = wg.grad(lambda p, x: np.sum(np.tanh(p.w * x + p.b)))(Model(make(X), 0.5), make(X))
    wanted = wg.grad(lambda p, x: np.sum(np.tanh(p.w * x + p.b)))(Model(X, 0.5), X)
    assert isinstance(model, Model)
    close([model.w, model.b], [wanted.w, wanted.b], [make(X), 0.5])
    held = wg.grad(lambda d: np.sum(d["w"] ** 2) + d["l"][0] @ d["l"][1])(
        {"w": make(X), "l": [make(X), make(WEIGHTS)]}
    )
    close([held["w"], *held["l"]], [2 * X, WEIGHTS, X], [make(X)] * 3)


@IN_EVERY_LIBRARY
def test_what_the_program_changes_is_changed_for_the_caller(library):
    make = LIBRARIES[library]()

    def logged(x, log, seen):
        log.append(np.sum(x))
        seen.last = x * 2
        return np.sum(x**2)

    log, seen = [], SimpleNamespace(last=make(X))
    wg.grad(logged)(make(X), log, seen)
    assert type(log[0]) is type(make(X))
    close([seen.last], [2 * X], [make(X)])


@pytest.mark.parametrize("library", [name for name in LIBRARIES if name != "jax"])
def test_writes_to_an_argument(library):
    make = LIBRARIES[library]()

    def written(x):
        x[0] = 2.0 * x[1]
        return np.sum(x * x)

    x = make(X)
    found = wg.grad(written)(x)
    np.testing.assert_allclose(to_numpy(found), [0.0, 10 * X[1], 2 * X[2]])
    np.testing.assert_allclose(to_numpy(x), [2 * X[1], X[1], X[2]])


def views(x):
    a = np.zeros((2, 3))
    a[0] = x
    row, turned = a[1], a.T
    row[::-1] = x * 2
    turned[1] += 5.0
    flat = a.reshape(-1)
    flat[4:] *= 3.0
    np.add.at(a, (np.array([0, 0, 1]), np.array([1, 1, 2])), x)
    a[a > 5] *= 0.5
    a[:, [0, 2]] = a[:, [2, 0]] + 1
    s = a[0, 0]
    s += 1.0
    return np.sum(a**2) + s


@IN_EVERY_LIBRARY
def test_views_and_keys(library):
    make = LIBRARIES[library]()
    value, bar = wg.value_and_grad(views)(X)
    found, found_bar = wg.value_and_grad(views)(make(X))
    close([found, found_bar], [value, bar], [make(X)] * 2)


@IN_EVERY_LIBRARY
def test_a_pullback_keeps_what_it_needs(library):
    make = LIBRARIES[library]()
    x = make(X)
    _, back = wg.pullback(lambda x: x * x, x)
    if library != "jax":
        x[0] = 100.0
    np.testing.assert_allclose(to_numpy(back(make(WEIGHTS))[0]), 2 * X * WEIGHTS)


SHIFT = None


@IN_EVERY_LIBRARY
def test_globals_are_read_anew(library, monkeypatch):
    make = LIBRARIES[library]()
    gradient = wg.grad(lambda x: np.sum(SHIFT * x))
    for factor in (2.0, 3.0):
        monkeypatch.setitem(globals(), "SHIFT", make(factor * WEIGHTS))
        np.testing.assert_allclose(to_numpy(gradient(make(X))), factor * WEIGHTS)
    assert float(wg.grad(lambda s: np.sum(SHIFT * s))(2.0)) == 18.0


@IN_EVERY_LIBRARY
def test_refusals(library):
    make = LIBRARIES[library]()
    with pytest.raises(MixedLibraries, match=r"`b` is a numpy.ndarray"):
        wg.grad(lambda a, b: np.sum(a * b))(make(X), X)
    with pytest.raises(BadArgument, match="what `specialize` writes is code for NumPy"):
        wg.grad(f).specialize(make(X))
    if library != "jax":  # which has NumPy's names
        with pytest.raises(NoRule, match=r"`np.linalg.eig(vals)?` has no form for arrays of"):
            wg.grad(lambda a: np.sum(np.linalg.eigvals(np.outer(a, a)).real))(make(X))
    name = make(X).__class__.__module__.partition(".")[0].replace("jaxlib", "jax")
    assert str(wg.grad(f).explain(make(X))).endswith(f"computes with {name}")


@pytest.mark.skipif("jax" not in LIBRARIES, reason="JAX is not installed")
def test_jax_transforms_what_was_derived():
    import jax

    make = LIBRARIES["jax"]()
    gradient = wg.grad(f)
    np.testing.assert_allclose(jax.jit(gradient)(make(X)), gradient(X), rtol=1e-12)
    both = jax.vmap(gradient)(make(np.stack([X, WEIGHTS])))
    np.testing.assert_allclose(both, [gradient(X), gradient(WEIGHTS)], rtol=1e-12)


def test_a_write_to_an_argument_that_cannot_be_written_to():
    def written(x):
        x[0] = 2.0 * x[1]
        return np.sum(x * x)

    make = LIBRARIES.get("jax")
    if make is None:
        pytest.skip("JAX is not installed")
    error = refusal("WG214", TypeError, lambda: wg.grad(written)(make()(X)))
    assert str(error) == message(
        "WG214",
        "this writes to an argument, and arrays of jax cannot be written to",
        place(written, 1, "x[0] = 2.0 * x[1]", inside="written"),
        "Write to a copy: `x = x.copy()`.",
    )


@pytest.mark.skipif("jax" in LIBRARIES or not HAS_JAX, reason="JAX is not installed, or is here")
def test_jax_in_a_process_of_its_own():
    here = Path(__file__).parent
    files = [here / "test_other_arrays.py", here / "test_arrays_as_numpys.py"]
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        "-k",
        "jax or argument",
    ]
    run = subprocess.run(
        [*command, *map(str, files)],
        check=False,
        env={**os.environ, "WENGERT_TEST_JAX": "1"},
        capture_output=True,
        text=True,
    )
    assert run.returncode == 0, run.stdout[-5000:] + run.stderr[-2000:]
    assert " passed" in run.stdout


@pytest.mark.skipif("torch" not in LIBRARIES, reason="PyTorch is not installed")
def test_nothing_reads_the_values_of_tensors():
    import torch

    x = torch.ones(3, dtype=torch.float64, device="meta")
    found = wg.grad(f)(x)
    assert found.device.type == "meta"
    assert found.shape == (3,)


def test_devices_are_kept_and_not_mixed():
    import array_api_strict as strict

    other = strict.Device("device1")
    x = strict.asarray(X, device=other)
    assert wg.grad(f)(x).device == other
    with pytest.raises(MixedLibraries, match=r"on .*CPU_DEVICE.* is met"):
        wg.grad(lambda a, b: np.sum(a * b))(x, strict.asarray(X))


def test_an_array_that_is_given_twice_is_one_array():
    make = LIBRARIES["array_api_strict"]()
    x = make(X)

    def moved(a, b):
        a[0] = 5.0 * a[1]
        return np.sum(b * b)

    gradient = wg.grad(moved)
    for _ in range(3):  # the third takes the short way
        gradient(make(X), make(X))
    with pytest.raises(UnsupportedSyntax, match="two of the arrays given to it share memory"):
        gradient(x, x)


def test_integers_have_gradients_that_are_floats():
    import array_api_strict as strict

    found = wg.grad(lambda x: np.sum(x * x / 2))(strict.asarray([1, 2, 3]))
    assert found.dtype == strict.float64
    np.testing.assert_array_equal(to_numpy(found), [1.0, 2.0, 3.0])


def test_arguments_by_name():
    make = LIBRARIES["array_api_strict"]()
    found = wg.grad(lambda x, rate: np.sum(x) * np.sum(rate**2), "rate")(
        make(X), rate=make(WEIGHTS)
    )
    np.testing.assert_allclose(to_numpy(found), 2 * WEIGHTS * X.sum())


def test_arrays_of_other_libraries_are_not_recorded():
    x = LIBRARIES["array_api_strict"]()(X)
    with pytest.raises(UnsupportedSyntax, match="these are of another library"):
        wg.grad(f, tier="recorded")(x)
