"""`queue`, in Python: what one thread puts in and takes out, without the locks.

Where the queue of the standard library would wait for another thread for ever, these raise `Empty` and
`Full`: no other thread is there.
"""

from __future__ import annotations

import heapq
import queue
from collections import deque
from collections.abc import Callable
from typing import Any

from ..same_names import same_names


class Queue:
    """`queue.Queue`."""

    def __init__(self, maxsize: int = 0) -> None:
        self.maxsize = maxsize
        self.unfinished_tasks = 0
        self._init(maxsize)

    def qsize(self) -> int:
        return len(self.queue)

    def empty(self) -> bool:
        return not len(self.queue)

    def full(self) -> bool:
        return 0 < self.maxsize <= len(self.queue)

    def put(self, item: Any, block: bool = True, timeout: Any = None) -> None:
        if block and timeout is not None and timeout < 0:
            raise ValueError("'timeout' must be a non-negative number")
        if self.full():
            raise queue.Full
        self._put(item)
        self.unfinished_tasks += 1

    def get(self, block: bool = True, timeout: Any = None) -> Any:
        if block and timeout is not None and timeout < 0:
            raise ValueError("'timeout' must be a non-negative number")
        if self.empty():
            raise queue.Empty
        return self._get()

    def put_nowait(self, item: Any) -> None:
        self.put(item, False)

    def get_nowait(self) -> Any:
        return self.get(False)

    def task_done(self) -> None:
        if self.unfinished_tasks <= 0:
            raise ValueError("task_done() called too many times")
        self.unfinished_tasks -= 1

    def join(self) -> None:
        if self.unfinished_tasks:
            raise RuntimeError("join() waits for ever: no other thread takes what is unfinished")

    def _init(self, maxsize: int) -> None:
        self.queue: Any = deque()

    def _put(self, item: Any) -> None:
        self.queue.append(item)

    def _get(self) -> Any:
        return self.queue.popleft()


class LifoQueue(Queue):
    """`queue.LifoQueue`."""

    def _init(self, maxsize: int) -> None:
        self.queue = []

    def _get(self) -> Any:
        return self.queue.pop()


class PriorityQueue(Queue):
    """`queue.PriorityQueue`."""

    def _init(self, maxsize: int) -> None:
        self.queue = []

    def _put(self, item: Any) -> None:
        heapq.heappush(self.queue, item)

    def _get(self) -> Any:
        return heapq.heappop(self.queue)


class SimpleQueue:
    """`queue.SimpleQueue`."""

    def __init__(self) -> None:
        self._queue: Any = deque()

    def put(self, item: Any, block: bool = True, timeout: Any = None) -> None:
        self._queue.append(item)

    def get(self, block: bool = True, timeout: Any = None) -> Any:
        if block and timeout is not None and timeout < 0:
            raise ValueError("'timeout' must be a non-negative number")
        if not self._queue:
            raise queue.Empty
        return self._queue.popleft()

    def put_nowait(self, item: Any) -> None:
        self._queue.append(item)

    def get_nowait(self) -> Any:
        return self.get(False)

    def empty(self) -> bool:
        return not self._queue

    def qsize(self) -> int:
        return len(self._queue)


EQUIVALENTS: list[tuple[Any, Callable[..., Any]]] = same_names(queue, globals())
