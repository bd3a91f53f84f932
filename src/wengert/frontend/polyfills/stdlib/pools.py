"""Pools of threads and processes, in Python: what they are given is run at once, one after the other.

A process works on copies, and what it changes elsewhere is lost with it: it may only be given functions that see and
change nothing but their arguments.
"""

from __future__ import annotations

import copy
import sys
from collections.abc import Callable
from typing import Any


class Future:
    """`concurrent.futures.Future` of what has been run, and what `apply_async` of a pool gives."""

    def __init__(self, value: Any, error: Any) -> None:
        self._value = value
        self._error = error

    def result(self, timeout: Any = None) -> Any:
        if self._error is not None:
            raise self._error
        return self._value

    def get(self, timeout: Any = None) -> Any:
        return self.result()

    def exception(self, timeout: Any = None) -> Any:
        return self._error

    def done(self) -> bool:
        return True

    ready = done

    def wait(self, timeout: Any = None) -> None:
        pass

    def add_done_callback(self, fn: Any) -> None:
        fn(self)


def in_a_process(function: Any, *args: Any, **named: Any) -> Any:
    """A call in a process of its own; the front end lets functions pass that are for it."""
    return on_copies(function, *args, **named)


def on_copies(function: Any, *args: Any, **named: Any) -> Any:
    """A call of which nobody sees what it changes of its arguments."""
    return function(*copy.deepcopy(args), **copy.deepcopy(named))


class Workers:
    """What all pools are."""

    def __enter__(self) -> Any:
        return self

    def __exit__(self, *raised: object) -> None:
        pass

    def _call(self, function: Any, *args: Any, **named: Any) -> Any:
        return function(*args, **named)

    def _try(self, function: Any, args: Any, named: Any) -> Any:
        try:
            return Future(self._call(function, *args, **named), None)
        except Exception as error:  # it is raised where the result is asked for
            return Future(None, error)


class Executor(Workers):
    """`concurrent.futures.ThreadPoolExecutor`."""

    def __init__(self, max_workers: Any = None, *settings: Any, **named: Any) -> None:
        self.max_workers = max_workers

    def submit(self, fn: Any, /, *args: Any, **named: Any) -> Any:
        return self._try(fn, args, named)

    def map(self, fn: Any, *iterables: Any, timeout: Any = None, chunksize: Any = 1) -> Any:
        return [self._call(fn, *args) for args in zip(*iterables, strict=False)]

    def shutdown(self, wait: Any = True, cancel_futures: Any = False) -> None:
        pass


class Pool(Workers):
    """`multiprocessing.pool.ThreadPool`."""

    def __init__(self, processes: Any = None, *settings: Any, **named: Any) -> None:
        self.processes = processes

    def imap(self, func: Any, iterable: Any, chunksize: Any = None) -> Any:
        return [self._call(func, item) for item in iterable]

    imap_unordered = map = imap

    def map_async(self, func: Any, iterable: Any, chunksize: Any = None) -> Any:
        return Future(self.map(func, iterable), None)

    def starmap(self, func: Any, iterable: Any, chunksize: Any = None) -> Any:
        return [self._call(func, *args) for args in iterable]

    def apply(self, func: Any, args: Any = (), kwds: Any = None) -> Any:
        return self._call(func, *args, **({} if kwds is None else kwds))

    def apply_async(self, func: Any, args: Any = (), kwds: Any = None) -> Any:
        return self._try(func, args, {} if kwds is None else kwds)

    def close(self) -> None:
        pass

    terminate = join = close


class ProcessExecutor(Executor):
    """`concurrent.futures.ProcessPoolExecutor`."""

    def _call(self, function: Any, *args: Any, **named: Any) -> Any:
        return in_a_process(function, *args, **named)


class ProcessPool(Pool):
    """`multiprocessing.Pool`."""

    def _call(self, function: Any, *args: Any, **named: Any) -> Any:
        return in_a_process(function, *args, **named)


class Parallel(Workers):
    """`joblib.Parallel`: in processes, unless there is one job, or threads are asked for."""

    def __init__(
        self,
        n_jobs: Any = None,
        backend: Any = None,
        *settings: Any,
        prefer: Any = None,
        require: Any = None,
        **named: Any,
    ) -> None:
        in_threads = backend == "threading" or prefer == "threads" or require == "sharedmem"
        self._together = in_threads or n_jobs is None or n_jobs == 1

    def _call(self, function: Any, *args: Any, **named: Any) -> Any:
        if self._together:
            return function(*args, **named)
        return in_a_process(function, *args, **named)

    def __call__(self, iterable: Any) -> Any:
        return [self._call(function, *args, **named) for function, args, named in iterable]


def as_completed(fs: Any, timeout: Any = None) -> Any:
    """`concurrent.futures.as_completed`: all have been."""
    return list(fs)


_BY_NAME: dict[tuple[str, str], Callable[..., Any]] = {
    ("concurrent.futures.thread", "ThreadPoolExecutor"): Executor,
    ("concurrent.futures.process", "ProcessPoolExecutor"): ProcessExecutor,
    ("concurrent.futures._base", "as_completed"): as_completed,
    ("multiprocessing.pool", "ThreadPool"): Pool,
    ("multiprocessing.context", "Pool"): ProcessPool,
    ("joblib.parallel", "Parallel"): Parallel,
}


def equivalent_of(function: Any) -> Callable[..., Any] | None:
    """What stands for a class or a function, by its name: its package is loaded, or nobody could have named it."""
    place = str(getattr(function, "__module__", "")), str(getattr(function, "__name__", ""))
    module = sys.modules.get(place[0])
    made = getattr(function, "__func__", function)
    if place == ("multiprocessing.context", "Pool"):
        return (
            ProcessPool
            if made is getattr(getattr(module, "BaseContext", None), "Pool", None)
            else None
        )
    return _BY_NAME.get(place) if getattr(module, place[1], None) is function else None


EQUIVALENTS: list[tuple[Any, Callable[..., Any]]] = []
"""None that are known by themselves."""
