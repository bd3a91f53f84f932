"""What the adapter serves: a function, how its arguments are read, and how its result is told."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np


def as_json(result: Any) -> Any:
    """Arrays as lists, tuples and lists item by item, numbers as Python's."""
    match result:
        case np.ndarray() | np.generic():
            return result.tolist()
        case tuple() | list():
            return [as_json(item) for item in result]
        case dict():
            return {key: as_json(item) for key, item in result.items()}
        case _:
            return result


@dataclass(frozen=True)
class Evaluation:
    """One function of an eval.

    Attributes:
        compute: what is timed.
        read: its arguments, from the input of a message.
        tell: its result, as JSON has it.
    """

    compute: Callable[..., Any]
    read: Callable[[Any], tuple[Any, ...]]
    tell: Callable[[Any], Any] = as_json

    def answer(self, message_input: Any) -> dict[str, Any]:
        """The response to an `evaluate` message: as many runs as its input asks for."""
        arguments = self.read(message_input)
        wanted = message_input if isinstance(message_input, dict) else {}
        runs, seconds = wanted.get("min_runs", 1), wanted.get("min_seconds", 0)
        timings: list[dict[str, Any]] = []
        elapsed = 0
        result = None
        while len(timings) < runs or elapsed < seconds * 1e9:
            start = time.perf_counter_ns()
            result = self.compute(*arguments)
            taken = time.perf_counter_ns() - start
            timings.append({"name": "evaluate", "nanoseconds": taken})
            elapsed += taken
        return {"success": True, "output": self.tell(result), "timings": timings}
