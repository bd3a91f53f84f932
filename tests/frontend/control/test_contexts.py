"""`with`: what a context manager does before and after, and to exceptions."""

# programs under test are written as users write them

import contextlib
import math
import threading
import time
import warnings
from contextlib import contextmanager, nullcontext, suppress

import numpy as np
import pytest
from differences import agree

import wengert as wg


class Scaled:
    """Multiplies what the body leaves in it."""

    def __init__(self, factor, log):
        self.factor = factor
        self.log = log
        self.value = 0.0

    def __enter__(self):
        self.log.append(self.factor)
        return self

    def __exit__(self, kind, error, trace):
        self.log.append(self.value * self.factor)
        self.value = self.value * self.factor
        return False


def own_manager(x):
    log = []
    with Scaled(x, log) as scaled:
        scaled.value = x * x
    return scaled.value + sum(log)


def leaves_the_body(x):
    log = []
    for k in range(3):
        with Scaled(x, log) as scaled:
            scaled.value = x * k
            if k * x > 1.5:
                break
            if k == 1:
                continue
            scaled.value += 1
    return sum(value * (k + 1) for k, value in enumerate(log))


def returns_in_the_body(x):
    log = [x]
    with Scaled(x, log):
        if x > 1:
            return returned_with(log, x)
    return sum(log)


def returned_with(log, x):
    return log[0] * x * len(log)


def test_own_managers():
    agree(own_manager, 1.3)
    agree(leaves_the_body, 0.6, 0.8, 1.6)
    agree(returns_in_the_body, 0.7, 1.4)


class Ignoring:
    """Says that nothing has happened."""

    def __init__(self, *kinds):
        self.kinds = kinds
        self.seen = 0

    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        if kind is None:
            return None
        self.seen += 1
        return issubclass(kind, self.kinds)


def suppressed(x):
    y = x
    with Ignoring(ValueError) as ignoring:
        y = x * 3
        y = y * math.log(x)
        y = y + 1
    return y * (1 + ignoring.seen)


def not_suppressed(x):
    y = x
    try:
        with Ignoring(KeyError):
            y = x * 3
            y = y * math.log(x)
    except ValueError:
        y = y * x
    return y


def test_exceptions_in_the_body():
    agree(suppressed, 2.0, -2.0)
    agree(not_suppressed, 2.0, -2.0)


def test_an_exception_that_is_not_suppressed_comes_out():
    def f(x):
        with Ignoring(KeyError):
            return math.log(x)

    with pytest.raises(ValueError, match="math domain error"):
        wg.gradient(f, -1.0)


@contextmanager
def stage(x, log):
    log.append(x)
    try:
        yield x * x
    except ValueError:
        log.append(10 * x)
    finally:
        log.append(3 * x)


def made_of_a_generator(x):
    log = []
    y = 0.0
    with stage(x, log) as squared, stage(squared, log) as (fourth):
        y = fourth * x
    return y + sum(value * (k + 1) for k, value in enumerate(log))


def exception_in_a_stage(x):
    log = []
    y = 1.0
    with stage(x, log) as squared:
        y = squared
        y = math.sqrt(x - 1)
    return y + sum(value * (k + 1) for k, value in enumerate(log))


def return_in_a_stage(x):
    log = []

    def inner():
        with stage(x, log) as squared:
            return squared * len(log)

    return inner() + sum(log)


def test_managers_made_of_generators():
    agree(made_of_a_generator, 1.3)
    agree(exception_in_a_stage, 1.7, 0.4)
    agree(return_in_a_stage, 1.3)


def uses_suppress(x):
    y = x
    with suppress(ZeroDivisionError, ValueError):
        y = x * x
        y = math.log(x) / (x - 3)
    return y


def uses_nullcontext(x):
    with nullcontext(x * 2) as y, nullcontext():
        z = y * x
    return z


def test_those_of_contextlib():
    agree(uses_suppress, 2.0, -1.0)
    agree(uses_suppress, 3.0, only=lambda x: x * x)
    agree(uses_nullcontext, 1.3)


class Pair:
    def __init__(self, x):
        self.x = x

    def __enter__(self):
        return self.x, (self.x**2, 3.0)

    def __exit__(self, *described):
        return None


def targets(x):
    held = {}
    with Pair(x) as (a, (b, c)), Pair(b) as held["pair"]:
        y = a * b * c
    return y + held["pair"][0]


def test_targets():
    agree(targets, 1.3)


def uses_exit_stack(x):
    log = []
    with contextlib.ExitStack() as stack:
        for k in range(3):
            scaled = stack.enter_context(Scaled(x + k, log))
            scaled.value = x * k
        stack.callback(log.append, x)
    return sum(value * (k + 1) for k, value in enumerate(log))


def test_exit_stack():
    agree(uses_exit_stack, 1.3)


# --- Python's own -----------------------------------------------------------------------------

LOCK = threading.Lock()


def under_errstate(x):
    with np.errstate(divide="ignore", invalid="ignore"):
        y = np.sqrt(np.array([x, -1.0]) * 1.0)
        z = y[0] * x
    return z


def locked(x):
    with LOCK:
        y = x * x
    assert not LOCK.locked()
    return y * x


def without_warnings(x):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        y = x * x
        warnings.warn("not shown", stacklevel=1)
    return y


def timed(x):
    started = time.perf_counter()
    with LOCK:
        y = math.sin(x)
    elapsed = time.perf_counter() - started
    return y if elapsed >= 0 else 0.0


def test_managers_that_the_program_only_enters():
    agree(locked, 1.3)
    agree(timed, 1.3)
    agree(without_warnings, 1.3)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert wg.gradient(under_errstate, 2.0)[0] == pytest.approx(1.5 * math.sqrt(2.0))


def test_a_lock_is_given_back_after_an_exception():
    def f(x):
        with LOCK:
            return math.log(x)

    with pytest.raises(ValueError, match="math domain error"):
        wg.gradient(f, -1.0)
    assert not LOCK.locked()


def test_a_file(tmp_path):
    path = str(tmp_path / "log.txt")

    def f(x):
        with open(path, "w") as file:
            file.write("started\n")
            y = x * x
        return y

    assert wg.gradient(f, 3.0) == (6.0,)
    assert (tmp_path / "log.txt").read_text() == "started\n"


OPEN = []


class Registered:
    def __init__(self, scale):
        self.scale = scale

    def __enter__(self):
        OPEN.append(self)
        return self

    def __exit__(self, *exception):
        OPEN.pop()


def test_a_manager_that_registers_itself_outside_is_left():
    def scaled(x):
        with Registered(x) as frame:
            return frame.scale**2 * len(OPEN)

    agree(scaled, 1.3)
    assert OPEN == []
