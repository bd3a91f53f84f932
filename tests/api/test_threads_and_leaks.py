"""Derivatives from many threads at once, and what is left behind when they are gone."""

from __future__ import annotations

import gc
import linecache
import math
import threading
import tracemalloc
import types
import weakref
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

import wengert as wg
from wengert.backends import python as printer
from wengert.compile import engine, ready

THREADS = 16


@pytest.fixture(scope="module", autouse=True)
def what_was_there_before() -> None:
    """What earlier tests have left stays, and need not be looked through by every collection here."""
    engine._cache.clear()  # pyright: ignore[reportPrivateUsage]
    ready._known.clear()  # pyright: ignore[reportPrivateUsage]
    gc.collect()
    gc.freeze()


# --- many threads -------------------------------------------------------------------------


def at_once(run: Callable[[int], Any]) -> list[Any]:
    """What as many threads get that start at the same moment."""
    barrier = threading.Barrier(THREADS)

    def wait_and_run(number: int) -> Any:
        barrier.wait()
        return run(number)

    with ThreadPoolExecutor(THREADS) as pool:
        return list(pool.map(wait_and_run, range(THREADS)))


def looped(x, n):
    for k in range(n):
        x = x + math.sin(x) / (k + 1) if k % 2 else x * 0.9
    return x


def with_arrays(v):
    total = np.zeros(3)
    for row in v:
        total = np.tanh(total + row)
        total[0] *= 1.1
    return np.sum(total**2)


def recursive(x, n):
    return x if n == 0 else recursive(math.sin(x) * 1.1, n - 1)


def checkpointed(x, n):
    for _ in wg.checkpoint(range(n)):
        x = x * x * 0.5 + 0.4
    return x


def raising(x):
    try:
        x = x / (x - x)
    except ZeroDivisionError:
        x = x * x
    return x


MATRIX = np.linspace(-1.0, 1.0, 12).reshape(4, 3)

CALLS: dict[str, Callable[[], Any]] = {
    "number": lambda: wg.grad(looped)(0.7, 5),
    "gradient": lambda: wg.gradient(looped, 0.7, 5),
    "array": lambda: wg.grad(with_arrays)(MATRIX).tolist(),
    "recursive": lambda: wg.grad(recursive)(0.7, 6),
    "checkpointed": lambda: wg.grad(checkpointed)(0.3, 20),
    "raising": lambda: wg.grad(raising)(0.3),
    "closure": lambda: wg.grad((lambda a: lambda x: math.sin(a * x))(2.0))(0.5),
    "pullback": lambda: wg.pullback(looped, 0.7, 5)[1](2.0),
    "pushforward": lambda: wg.pushforward(looped, 0.7, 5)[1](1.0, None),
    "hvp": lambda: wg.hvp(with_arrays)(MATRIX, MATRIX).tolist(),
    "jacobian": lambda: wg.jacobian(lambda v: np.sin(v) * v[0])(MATRIX[0]).tolist(),
    "nested": lambda: wg.grad(lambda x: wg.grad(lambda y: x * y * y)(x))(3.0),
    "specialised": lambda: wg.grad(looped).specialize(0.7, 5)(0.7, 5),
    "source": lambda: str(wg.grad(looped).source),
}


@pytest.fixture
def builds(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What is derived and what is published, as it happens."""
    happened: list[str] = []
    derive, publish = engine._derive, printer.publish  # pyright: ignore[reportPrivateUsage]

    def deriving(verb: Any, call: Any) -> Any:
        happened.append(f"derive {verb.name}")
        return derive(verb, call)

    def publishing(printed: Any, **options: Any) -> Any:
        happened.append(f"publish {printed.name}")
        return publish(printed, **options)

    monkeypatch.setattr(engine, "_derive", deriving)
    monkeypatch.setattr(printer, "publish", publishing)
    engine._cache.clear()  # pyright: ignore[reportPrivateUsage]
    ready._known.clear()  # pyright: ignore[reportPrivateUsage]
    return happened


@pytest.mark.parametrize("name", CALLS)
def test_first_calls_at_once(name: str, builds: list[str]) -> None:
    call = CALLS[name]
    expected = call()
    alone = sorted(builds)
    engine._cache.clear()  # pyright: ignore[reportPrivateUsage]
    ready._known.clear()  # pyright: ignore[reportPrivateUsage]
    builds.clear()
    assert at_once(lambda _: [call() for _ in range(3)]) == [[expected] * 3] * THREADS
    assert sorted(builds) == alone


def test_one_derivative_function_in_all_threads(builds: list[str]) -> None:
    derivative = wg.grad(looped)
    arguments = [(0.1 * k, 3 + k % 4) for k in range(THREADS)]
    found = at_once(lambda k: [derivative(*arguments[k]) for _ in range(50)])
    assert found == [[derivative(*each)] * 50 for each in arguments]
    assert sorted(builds) == ["derive grad", "publish grad_looped"]


def test_different_functions_at_once() -> None:
    functions = [(lambda c: lambda x: math.sin(c * x))(float(k)) for k in range(THREADS)]
    found = at_once(lambda k: [wg.gradient(functions[k], 0.3)[0] for _ in range(20)])
    for k, gradients in enumerate(found):
        assert gradients == [pytest.approx(k * math.cos(0.3 * k))] * 20


@pytest.mark.parametrize("function", [with_arrays, lambda v: checkpointed(v[0, 0] * v[1, 1], 9)])
def test_one_pullback_in_all_threads(function: Callable[..., Any]) -> None:
    _, back = wg.pullback(function, MATRIX.copy())
    expected = [back(float(k))[0].tolist() for k in range(THREADS)]
    found = at_once(lambda k: [back(float(k))[0].tolist() for _ in range(20)])
    assert found == [[each] * 20 for each in expected]


def test_an_error_in_one_thread_stays_there() -> None:
    def f(x):
        return math.sqrt(x)

    def run(number: int) -> Any:
        try:
            return wg.grad(f)(1.0 if number % 2 else -1.0)
        except ValueError:
            return None

    assert at_once(run) == [0.5 if k % 2 else None for k in range(THREADS)]


# --- nothing is left ----------------------------------------------------------------------


def grown_by(run: Callable[[], Any], times: int) -> tuple[int, int]:
    """How many bytes and objects that many runs leave behind, once the first ones are over."""
    for _ in range(70):  # more than a derivative counts its calls, see api
        run()
    gc.collect()
    objects = len(gc.get_objects())
    tracemalloc.start()
    for _ in range(times):
        run()
    gc.collect()
    size, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return size, len(gc.get_objects()) - objects


def failing() -> None:
    with pytest.raises(ZeroDivisionError):
        wg.gradient(lambda x: 1 / (x - x), 2.0)


def refused() -> None:
    with pytest.raises(wg.WengertError):
        wg.gradient(lambda x: eval("x"), 2.0)


RUNS = {name: run for name, run in CALLS.items() if name not in ("specialised", "source")} | {
    "kept derivative": (lambda d: lambda: d(0.7, 5))(wg.grad(looped)),
    "other numbers": (lambda ks: lambda: wg.grad((lambda c: lambda x: c * x)(next(ks)))(0.5))(
        iter(np.linspace(0.0, 1.0, 10_000).tolist())
    ),
    "failing": failing,
}


@pytest.mark.parametrize("name", RUNS)
def test_gradients_in_a_row_leave_nothing(name: str) -> None:
    size, objects = grown_by(RUNS[name], 300)
    assert objects <= 20
    assert size <= 30_000  # tables of a bounded size may still fill: 1,200 runs leave no more


def test_refusals_in_a_row_leave_nothing() -> None:
    size, objects = grown_by(refused, 30)
    assert objects <= 20
    assert size <= 20_000


def generated_files() -> set[str]:
    gc.collect()
    return {name for name in linecache.cache if name.startswith("<wengert ")}


def made_from(text: str) -> Callable[..., Any]:
    """A function that nothing else refers to."""
    file = f"<test {text}>"
    namespace: dict[str, Any] = {"math": math}
    exec(compile(text, file, "exec"), namespace)
    linecache.cache[file] = (len(text), None, [text], file)
    return namespace.pop("f")


def test_what_the_cache_gives_up_is_gone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "CACHE_SIZE", 4)
    engine._cache.clear()  # pyright: ignore[reportPrivateUsage]
    ready._known.clear()  # pyright: ignore[reportPrivateUsage]
    before = generated_files()
    for k in range(12):
        assert wg.gradient(made_from(f"def f(x): return {k} * x * x"), 3.0) == (6.0 * k,)
    assert len(generated_files() - before) == 4
    engine._cache.clear()  # pyright: ignore[reportPrivateUsage]
    ready._known.clear()  # pyright: ignore[reportPrivateUsage]
    assert generated_files() <= before


def test_a_derivative_in_use_keeps_its_text() -> None:
    derivative = wg.grad(made_from("def f(x): return math.sin(x) / x")).specialize(1.0)
    engine._cache.clear()  # pyright: ignore[reportPrivateUsage]
    ready._known.clear()  # pyright: ignore[reportPrivateUsage]
    (file,) = {derivative.__func__.__code__.co_filename} & generated_files()  # type: ignore[attr-defined]
    assert "def grad_f(x):" in "".join(linecache.getlines(file))
    del derivative
    assert file not in generated_files()


def test_what_a_new_rule_replaces_is_gone() -> None:
    def opaque(x):
        return float(str(2 * x))

    def f(x):
        return opaque(x) * x

    wg.scalar_rule(opaque, lambda x, Ω: 2.0)
    assert wg.gradient(f, 3.0) == (12.0,)
    before = generated_files()
    for row, slope in ((lambda x, Ω: 3.0, 15.0), (lambda x, Ω: 4.0, 18.0)):
        wg.scalar_rule(opaque, row)
        assert wg.gradient(f, 3.0) == (slope,)
    assert len(generated_files()) <= len(before)


def is_gone(reference: weakref.ref[Any]) -> bool:
    gc.collect()
    return reference() is None


@pytest.mark.parametrize("raises_in", ["forward", "reverse"])
def test_an_exception_keeps_no_argument(raises_in: str) -> None:
    def f(v):
        w = v * 2
        if raises_in == "forward":
            w = w / w[99]
        return np.sum(wg.hook(lambda w_bar: w_bar / w_bar.missing, w) * v)

    v = np.ones(5)
    reference = weakref.ref(v)
    with pytest.raises((IndexError, AttributeError)):
        wg.gradient(f, v)
    del v
    assert is_gone(reference)


def test_a_gradient_keeps_no_argument() -> None:
    v = np.ones((4, 3))
    reference = weakref.ref(v)
    found = wg.gradient(with_arrays, v)
    del v
    assert is_gone(reference)
    assert found[0].shape == (4, 3)


def test_a_pullback_keeps_what_it_needs_while_it_lives() -> None:
    v = np.ones(4)
    y, back = wg.pullback(lambda v: v * v, v)
    seen = [weakref.ref(y), weakref.ref(back)]
    assert back(np.ones(4))[0].tolist() == [2.0] * 4
    del y, back
    assert all(map(is_gone, seen))


def test_a_function_and_its_derivative_function_die_together() -> None:
    derivative = wg.grad(lambda x: x * x)
    reference = weakref.ref(derivative)
    assert derivative(3.0) == 6.0
    del derivative
    assert is_gone(reference)


@pytest.mark.parametrize("was_on", [True, False])
def test_garbage_is_collected_after_a_derivation_as_before_it(was_on):
    was_on_here = gc.isenabled()
    (gc.enable if was_on else gc.disable)()
    try:
        assert wg.grad(lambda x: x * x * x)(2.0) == 12.0
        assert gc.isenabled() is was_on
        with pytest.raises(wg.WengertError):
            wg.grad(lambda x: float(str(x)))(2.0)
        assert gc.isenabled() is was_on
    finally:
        (gc.enable if was_on_here else gc.disable)()


class Toolbox:
    """Holds a module that gains a name whenever it is looked through, as `matplotlib` does while it loads."""

    def __init__(self):
        self.rate = 2.0
        self.library = types.ModuleType("library")
        vars(self.library).update(first=Growing(self.library), second=1)


class Growing:
    def __init__(self, module):
        self._module = module

    def __getattribute__(self, name):
        module = object.__getattribute__(self, "_module")
        setattr(module, f"loaded_{len(vars(module))}", name)
        return object.__getattribute__(self, name)


TOOLBOX = Toolbox()


def test_a_pullback_does_not_look_through_modules():
    y, back = wg.pullback(lambda x, tools: x**tools.rate, 3.0, TOOLBOX)
    assert y == 9.0
    assert back(1.0)[0] == 6.0
