"""What modules of the recorder ask of others above them: each of these is set where it is defined."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Operation = Callable[..., Any]


class Operations:
    """The rules of ops, functions on boxes, and what the program of the run is and calls by which name."""

    pull: Operation
    push: Operation
    attribute: Operation
    set_attribute: Operation
    called: Operation
    called_ufunc: Operation
    stacked: Operation
    put: Operation
    current: Operation
    of_library: Operation
    run: Operation
    names: Any
    in_run: Operation


operations = Operations()
