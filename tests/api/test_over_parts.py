"""Sums over parts of the data, and their derivatives, wherever the parts are."""

import linecache
import pickle
import runpy
import sys
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import contextmanager, nullcontext

import numpy as np
import pytest
from error_texts import message, place, refusal, says

import wengert as wg
from wengert.api import travelling

RNG = np.random.default_rng(7)
PARTS = [(RNG.normal(size=(5, 3)), RNG.normal(size=5)) for _ in range(5)]
THETA = {"w": np.array([0.1, -0.2, 0.3]), "b": 0.5}
V = {"w": np.array([1.0, 2.0, 0.0]), "b": -1.0}


def loss(theta, part):
    x, y = part
    return np.sum(np.logaddexp(0.0, -y * (x @ theta["w"] + theta["b"])))


def by_loop(theta):
    return sum(loss(theta, part) for part in PARTS)


def cube(x, part):
    return part * x**3


def waves(x, part):
    return np.sum(np.sin(part * x) ** 2)


def too_large(theta, part):
    if part > 2.0:
        raise ZeroDivisionError("too large")
    return theta * part


def moments(x, part):
    return {"sum": np.sum(x * part), "of": (x**2 * part, "name")}


def one(executor):
    return wg.over_parts(loss, PARTS, executor)


class Serial(Executor):
    """An executor of nobody's."""

    def submit(self, fn, /, *args, **kwargs):
        future = Future()
        future.set_result(fn(*args, **kwargs))
        return future


@contextmanager
def dask_client():
    distributed = pytest.importorskip("distributed")
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=None
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


PLACES = {
    "a loop": nullcontext,
    "threads": lambda: ThreadPoolExecutor(2),
    "processes": lambda: ProcessPoolExecutor(2),
    "an executor": Serial,
    "dask": dask_client,
}


@pytest.fixture(params=PLACES, scope="module")
def executor(request):
    if request.param == "dask":
        pytest.importorskip("distributed")
    with PLACES[request.param]() as made:
        yield made


def same(found, expected):
    found, expected = wg.flatten(found)[0], wg.flatten(expected)[0]
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-14)


def test_verbs(executor):
    total = one(executor)
    assert total(THETA) == pytest.approx(by_loop(THETA), rel=1e-14)
    for verb in (wg.grad, wg.value_and_grad, wg.jacobian):
        same(verb(total)(THETA), verb(by_loop)(THETA))
    same(wg.grad(total, "theta")(THETA), wg.grad(by_loop)(THETA))
    same(wg.grad(total, (0,))(THETA), wg.grad(by_loop, (0,))(THETA))
    same(wg.gradient(total, THETA), wg.gradient(by_loop, THETA))
    same(wg.hvp(total)(THETA, V), wg.hvp(by_loop)(THETA, V))


def test_at_a_point(executor):
    total = one(executor)
    y, back = wg.pullback(total, THETA)
    assert y == pytest.approx(by_loop(THETA))
    same(back(2.0), wg.pullback(by_loop, THETA)[1](2.0))
    same(wg.pushforward(total, THETA)[1](V), wg.pushforward(by_loop, THETA)[1](V))


def penalised(total):
    return lambda theta: 2 * total(theta) ** 2 + 0.1 * np.sum(theta["w"] ** 2)


def test_inside_programs(executor):
    found, expected = penalised(one(executor)), penalised(by_loop)
    same(wg.grad(found)(THETA), wg.grad(expected)(THETA))
    same(wg.hvp(found)(THETA, V), wg.hvp(expected)(THETA, V))
    same(wg.pushforward(found, THETA)[1](V), wg.pushforward(expected, THETA)[1](V))
    _, unflatten = wg.flatten(THETA)
    total = one(executor)
    vector = wg.flatten(THETA)[0]
    same(wg.grad(lambda v: total(unflatten(v)))(vector), wg.flatten(wg.grad(by_loop)(THETA))[0])


def test_numbers(executor):
    total = wg.over_parts(cube, [1.0, 2.0], executor)
    assert total(2.0) == 24.0
    assert wg.derivative(total)(2.0) == 36.0
    assert wg.derivative(total, order=2)(2.0) == 36.0
    assert wg.grad(wg.grad(wg.grad(total)))(2.0) == 18.0
    assert wg.grad(wg.derivative(total))(2.0) == 36.0
    assert wg.derivative(lambda x: x * total(x), order=3)(2.0) == 144.0


def test_matrices(executor):
    parts = [np.arange(3.0), np.ones(3) / 2]
    total = wg.over_parts(waves, parts, executor)
    loop = lambda x: sum(waves(x, part) for part in parts)
    x = np.array([0.1, 0.2, 0.3])
    for make in (wg.hessian, wg.diag_hessian, lambda f: wg.jacobian(wg.grad(f))):
        same(make(total)(x), make(loop)(x))
    same(wg.hessian(lambda x: total(x) ** 2)(x), wg.hessian(lambda x: loop(x) ** 2)(x))


def test_results_with_parts(executor):
    total = wg.over_parts(moments, [1.0, 2.0], executor)
    x = np.array([1.0, 3.0])
    assert total(x)["sum"] == 12.0
    assert total(x)["of"][1] == "name"
    assert wg.grad(lambda x: np.sum(total(x)["of"][0]))(x).tolist() == [6.0, 18.0]


def test_a_part_that_fails(executor):
    total = wg.over_parts(too_large, [1.0, 2.0, 3.0], executor)
    for call in (total, wg.grad(total), wg.grad(lambda x: total(x) ** 2)):
        error = refusal("WG221", RuntimeError, lambda call=call: call(2.0))
        says(
            error,
            "[WG221] part 2 of 3 failed with ZeroDivisionError: too large\n",
            "  Traceback of the part:\n    File ",
            'raise ZeroDivisionError("too large")',
            "  Compute the part by itself to look at it: `f(theta, part)`.",
        )
        assert "wengert/" not in str(error).partition("Compute the part")[0].replace("/tests/", "")
    assert isinstance(error.__cause__, ZeroDivisionError)


def test_a_part_that_cannot_be_differentiated():
    total = wg.over_parts(lambda x, part: x * part, [np.ones(2)])
    error = refusal("WG221", RuntimeError, lambda: wg.grad(total)(2.0))
    says(error, "part 0 of 1 failed with wengert.errors.NotScalar: [WG201]")
    assert isinstance(error.__cause__, wg.errors.NotScalar)


def test_functions_made_inside_of_others_travel_as_code(executor):
    pytest.importorskip("cloudpickle")
    scale = 3.0
    total = wg.over_parts(lambda x, part: scale * cube(x, part), [1.0, 2.0], executor)
    assert wg.grad(total)(2.0) == 108.0


def test_their_source_travels(tmp_path):
    pytest.importorskip("cloudpickle")
    file = tmp_path / "made.py"
    file.write_text("def outer(k):\n    return lambda x, part: k * part * x**2\n")
    function = runpy.run_path(str(file))["outer"](3.0)
    packed = travelling.packed(function, main_is_shared=False)
    assert isinstance(packed, travelling.Packed)
    file.unlink()
    linecache.clearcache()
    arrived = travelling._unpacked(packed.text)
    assert wg.grad(arrived)(2.0, 5.0) == 60.0
    assert travelling._unpacked(pickle.loads(pickle.dumps(packed)).text) is arrived


def test_a_function_that_cannot_travel(monkeypatch):
    monkeypatch.setitem(sys.modules, "cloudpickle", None)

    def local(x, part):
        return x * part

    total = wg.over_parts(local, [1.0], Serial())
    error = refusal("WG222", TypeError, lambda: wg.grad(total)(2.0))
    says(
        error,
        "[WG222] local cannot be sent to another process: ",
        place(local, 0, "def local(x, part):"),
        "  Define it with `def` at the top of a module, and pass what it captured as parameters or parts; or\n"
        "  install cloudpickle, which sends functions as their code.",
    )


class Lost(Executor):
    def submit(self, fn, /, *args, **kwargs):
        future = Future()
        future.set_exception(MemoryError("gone"))
        return future


def test_a_part_that_is_lost():
    error = refusal("WG221", RuntimeError, lambda: wg.over_parts(cube, [1.0, 2.0], Lost())(2.0))
    assert str(error) == message(
        "WG221",
        "part 0 of 2 parts gave no result: MemoryError: gone",
        None,
        "Its worker ended, or could not send what it found: see what it printed, and whether its memory\n"
        "was enough. Compute the part here to look at it: `f(theta, part)`.",
    )


def test_no_parts():
    error = refusal("WG202", TypeError, lambda: wg.over_parts(cube, []))
    assert str(error) == message(
        "WG202",
        "`over_parts` was given no parts, and a sum of nothing has no structure",
        None,
        "Give at least one part.",
    )


def test_no_executor():
    error = refusal("WG202", TypeError, lambda: wg.over_parts(cube, [1.0], "processes"))
    assert str(error) == message(
        "WG202",
        "`executor` must have a method `submit`, not be a value of type str",
        None,
        "Pass a `concurrent.futures.ProcessPoolExecutor()`, a `ThreadPoolExecutor()`, or a client of "
        "`dask.distributed`.",
    )


def test_auxiliary_data():
    error = refusal("WG202", TypeError, lambda: wg.grad(wg.over_parts(cube, [1.0]), has_aux=True))
    assert str(error) == message(
        "WG202",
        "`has_aux` is for one function, and the auxiliary data of parts is not summed",
        None,
        "Leave it out: a part may return a tree of numbers, and `wg.jacobian` differentiates all of them.",
    )


@pytest.mark.static_tier
def test_made_inside_a_program():
    def f(x):
        return wg.over_parts(lambda t, part: t * part * x, [1.0])(x)

    error = refusal("WG101", NotImplementedError, lambda: wg.grad(f)(2.0))
    says(
        error,
        "what is summed over parts is made inside the program that is differentiated",
        "Make it outside, `total = wg.over_parts(f, parts)`, and pass what `f` depends on as parameters.",
    )
    assert wg.grad(lambda x: wg.over_parts(cube, (1.0, 2.0))(x))(2.0) == 36.0


def test_in_a_recorded_run(executor):
    """Boxes were sent to processes as plain numbers, and no derivative came back."""
    recorded = {"tier": "recorded"}
    number = wg.over_parts(cube, [1.0, 2.0], executor)
    of_number = lambda x: x * number(x)  # 3 x⁴
    assert wg.grad(of_number, **recorded)(2.0) == pytest.approx(96.0)
    assert wg.derivative(of_number, order=3, **recorded)(2.0) == pytest.approx(144.0)
    total = one(executor)
    found = wg.grad(lambda theta: total(theta) ** 2, **recorded)(THETA)
    same(found, wg.grad(lambda theta: by_loop(theta) ** 2)(THETA))
    tree = wg.over_parts(moments, [1.0, 2.0], executor)
    x = np.array([1.0, 3.0])
    of_tree = lambda x: np.sum(tree(x)["of"][0] * x) * tree(x)["sum"]
    same(wg.grad(of_tree, **recorded)(x), wg.grad(of_tree, tier="static")(x))
    same(wg.hessian(of_tree, **recorded)(x), wg.hessian(of_tree, tier="static")(x))


def test_a_function_that_has_captured_numbers_of_a_recorded_run():
    def f(x, executor):
        return wg.over_parts(lambda t, part: t * part * x, [1.0, 3.0], executor)(x)

    slope = wg.grad(f, tier="recorded")
    assert slope(2.0, None) == pytest.approx(16.0)
    error = refusal("WG101", NotImplementedError, lambda: slope(2.0, Serial()))
    says(error, "what is summed over parts is made inside the program that is differentiated")


def test_any_iterable_of_parts():
    assert wg.over_parts(cube, iter([1.0, 2.0]))(1.0) == 3.0
    assert wg.over_parts(cube, np.arange(4.0))(1.0) == 6.0
    assert wg.over_parts(cube, {1.0, 2.0})(1.0) == 3.0


def test_native_parts():
    pytest.importorskip("llvmlite")
    total = wg.over_parts(wg.jit(cube), [1.0, 2.0])
    assert wg.grad(total)(2.0) == 36.0


def test_what_it_is():
    total = wg.over_parts(cube, [1.0, 2.0])
    assert repr(total) == "<sum of cube over 2 parts>"
    assert repr(wg.grad(total)) == "<sum of grad of cube over 2 parts>"
    with ThreadPoolExecutor(1) as executor:
        made = wg.over_parts(cube, [1.0], executor)
        assert repr(made) == "<sum of cube over 1 part, by ThreadPoolExecutor>"
