"""Other people's functions at arguments that are drawn: values and pullbacks beside plain calls and differences.

`python benchmarks/drawn_calls.py fluids sklearn --calls 40 --seed 1` looks for arguments that functions of a package
take, numbers, lists and arrays, until they give numbers of which differences of three steps agree, and compares.
"""

import argparse
import contextlib
import inspect
import io
import math
import random
import signal
import warnings
from collections import Counter
from collections.abc import Callable, Generator, Iterator, Sequence
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
from machine import machine_line
from packages import modules

import wengert as wg

STEPS = (1e-5, 3e-6, 1e-6)
NEAR = 3e-4
TRIES = 60
MOST_RESULTS = 900
LEFT_OUT = ("plot", "show", "draw", "write", "save", "print", "load", "download", "fetch", "open", "read", "random",
            "test", "remove", "delete", "mkdir", "path", "file", "url", "server", "main")  # fmt: skip
"""What is in the names of functions that do more than compute."""
IN_FORTRAN = ("fitpack", "roots_")
"""Names of functions and modules of SciPy that crash, or fill the memory, at arguments that make no sense."""

NUMBERS = (0.7, 1.3, 2.6, 0.31, 25.3, 301.7, 1.01e5)
OTHERS: tuple[Any, ...] = (
    2,
    [0.2, 0.5, 0.3],
    np.array([0.4, 1.3, 2.2]),
    np.array([21.3, 18.9, 25.1]),
    np.array([0.3, 1.1, 0.8, 2.5, 1.9]),
    np.array([[1.3, 0.2], [0.4, 2.1]]),
    np.array([[1.3, 0.22, 0.33], [0.41, 2.1, 0.17], [0.26, 0.37, 1.7]]),
)


class Drawn(NamedTuple):
    """A call that gives numbers, a direction to move its arguments in, and how far its results then move."""

    function: Callable[..., Any]
    arguments: list[Any]
    direction: list[Any]
    results: list[float]
    slope: float
    slack: float


class TimeUp(BaseException):
    """A call takes too long: no handler of the function is to catch this."""


def main() -> None:
    options = parse_options()
    warnings.simplefilter("ignore")
    signal.signal(signal.SIGALRM, time_up)
    print(machine_line("numpy", *options.packages), "\n")
    print("| package | right | refused | differs | raises | slow |\n|---|---:|---:|---:|---:|---:|")
    for package in options.packages:
        rng = random.Random(options.seed)  # noqa: S311  draws no secrets
        functions = sorted(functions_of(package), key=lambda f: (f.__module__, f.__qualname__))
        rng.shuffle(functions)
        drawn = (call for function in functions if (call := draw(function, rng)) is not None)
        outcomes = Counter(
            outcome(call, show=options.show) for call in islice(drawn, options.calls)
        )
        cells = (outcomes[kind] for kind in ("right", "refused", "differs", "raises", "slow"))
        print(f"| {package} | {' | '.join(map(str, cells))} |", flush=True)


def parse_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("packages", nargs="+", help="installed packages, such as fluids, sklearn")
    parser.add_argument("--calls", type=int, default=40, help="functions of each package")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--show", action="store_true", help="say what is not right")
    return parser.parse_args()


# --- calls --------------------------------------------------------------------------------


def functions_of(package: str) -> Iterator[Any]:
    seen: set[Any] = set()
    for module in modules(package):
        for function in vars(module).values():
            own = inspect.isfunction(function) and function.__module__.startswith(
                package.partition(".")[0]
            )
            if (
                own
                and function not in seen
                and not any(word in function.__qualname__.lower() for word in LEFT_OUT)
                and not any(
                    word in f"{function.__module__}.{function.__name__}" for word in IN_FORTRAN
                )
            ):
                seen.add(function)
                yield function


def draw(function: Callable[..., Any], rng: random.Random) -> Drawn | None:
    """A call of a function that says how it moves with its arguments; None where no such call was found."""
    count = parameters_of(function)
    for _ in range(TRIES if count else 0):
        numbers_only = rng.random() < 0.5
        pool = NUMBERS if numbers_only else (*NUMBERS, *OTHERS)
        drawn = measured(function, [rng.choice(pool) for _ in range(count)])
        if drawn is not None:
            return drawn
    return None


def parameters_of(function: Callable[..., Any]) -> int:
    """How many arguments a function needs; 0 where it needs some by name, or an object of its class."""
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return 0
    needed = [p for p in parameters if p.default is p.empty]
    plain = [p for p in needed if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    by_name = any(p.kind is p.KEYWORD_ONLY for p in needed)
    is_method = bool(parameters) and parameters[0].name in ("self", "cls")
    return 0 if by_name or is_method or len(plain) > 9 else len(plain)


def measured(function: Callable[..., Any], arguments: list[Any]) -> Drawn | None:
    direction = [direction_of(x, k) for k, x in enumerate(arguments)]
    results = numbers_given(function, arguments)
    if results is None or all(d is None for d in direction):
        return None
    slopes: list[float] = []
    for step in STEPS:
        ahead = numbers_given(function, moved(arguments, direction, step))
        behind = numbers_given(function, moved(arguments, direction, -step))
        if (
            ahead is None
            or behind is None
            or len(ahead) != len(results)
            or len(behind) != len(results)
        ):
            return None
        slopes.append(float(np.dot(weights(results), np.subtract(ahead, behind))) / (2 * step))
    size = max(map(abs, slopes))
    if size < 1e-7 or max(slopes) - min(slopes) > 1e-3 * size:
        return None
    if numbers_given(function, arguments) != results:
        return None
    return Drawn(function, arguments, direction, results, slopes[1], NEAR * size + 1e-7)


def numbers_given(function: Callable[..., Any], arguments: Sequence[Any]) -> list[float] | None:
    """What a call gives, as one list of floats; None where it gives anything else, or raises."""
    try:
        with limit(3.0):
            results = flat(function(*map(copied, arguments)))
    except (Exception, SystemExit, TimeUp):
        return None
    usable = results and len(results) < MOST_RESULTS and all(map(math.isfinite, results))
    return results if usable else None


def flat(y: Any) -> list[float] | None:
    match y:
        case float() | np.floating():
            return [float(y)]
        case np.ndarray() if y.dtype.kind == "f":
            return y.ravel().tolist()
        case tuple() | list():
            parts = [
                flat(item)
                for item in y
                if not isinstance(item, (int, str, np.integer)) and item is not None
            ]
            return (
                None
                if any(part is None for part in parts)
                else [x for part in parts for x in part or ()]
            )
        case _:
            return None


def copied(x: Any) -> Any:
    return x.copy() if isinstance(x, (np.ndarray, list)) else x


def direction_of(x: Any, k: int) -> Any:
    match x:
        case float():
            return 0.3 * (1.0 + abs(x)) * math.cos(k + 0.3)
        case list():
            return [math.cos(1.1 * j + k) for j in range(len(x))]
        case np.ndarray():
            return np.cos(1.3 * np.arange(x.size) + 0.2 * k).reshape(x.shape)
        case _:
            return None


def moved(arguments: Sequence[Any], direction: Sequence[Any], step: float) -> list[Any]:
    return [
        x
        if d is None
        else [a + step * b for a, b in zip(x, d, strict=True)]
        if isinstance(x, list)
        else x + step * d
        for x, d in zip(arguments, direction, strict=True)
    ]


def weights(results: Sequence[float]) -> list[float]:
    return [math.cos(1.0 + 0.7 * j) for j in range(len(results))]


# --- outcomes -----------------------------------------------------------------------------


def outcome(call: Drawn, *, show: bool) -> str:
    kind, said = compared(call)
    if show and kind != "right":
        name = f"{call.function.__module__}.{call.function.__qualname__}"
        print(f"{kind}: {name}{tuple(call.arguments)}: {said}\n", flush=True)
    return kind


def compared(call: Drawn) -> tuple[str, str]:
    try:
        with limit(60.0):
            value, back = wg.pullback(call.function, *map(copied, call.arguments))
            bars = back(cotangent(value, iter(weights(call.results))))
    except wg.WengertError as error:
        return "refused", str(error)
    except TimeUp:
        return "slow", "more than a minute"
    except Exception as error:
        return "raises", f"{type(error).__name__}: {error}"
    if not np.allclose(flat(value) or [], call.results, rtol=1e-9, atol=1e-12):
        return "differs", f"its value is {value!r}, not {call.results!r}"
    pairs = zip(bars, call.direction, strict=True)
    slope = sum(float(np.vdot(bar, d)) for bar, d in pairs if bar is not None and d is not None)
    if abs(slope - call.slope) <= call.slack:
        return "right", ""
    return "differs", f"{slope!r}, and {call.slope!r} by differences"


def cotangent(y: Any, numbers: Iterator[float]) -> Any:
    """A cotangent of a result, of the numbers that come next."""
    match y:
        case float() | np.floating():
            return next(numbers)
        case np.ndarray() if y.dtype.kind == "f":
            return np.array([next(numbers) for _ in range(y.size)]).reshape(y.shape)
        case tuple() if hasattr(y, "_fields"):
            return type(y)(*(cotangent(item, numbers) for item in y))
        case tuple() | list():
            return type(y)(cotangent(item, numbers) for item in y)
        case _:
            return None


def time_up(*_: Any) -> None:
    raise TimeUp


@contextlib.contextmanager
def limit(seconds: float) -> Generator[None]:
    """At most so many seconds, and nothing printed."""
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


if __name__ == "__main__":
    main()
