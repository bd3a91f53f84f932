"""Printing, logging, formatting and timing: seen by the user, not by the derivative."""

import logging
import math
import time
import warnings

from .registry import add

logger = logging.getLogger("programs")


def printing(x):
    y = x * x
    print("y is", y, f"and x is {x:.3f}", end="")
    print(f"{y!r:>10} {{literal}} {x + 1}")
    return y * 2


add(printing, (1.5,))


def logged(x):
    logger.debug("x is %s", x)
    logger.info("entering")
    y = math.exp(x)
    logging.getLogger("programs").debug("left with %r", y)
    return y


add(logged, (0.5,))


def formatted_choice(x):
    label = f"{'large' if x > 1 else 'small'}-{2 + 1}"
    text = "%s:%d" % (label, 7)
    parts = "a,b,c".split(",")
    if label == "large-3" and text.endswith("7"):
        return x * len(label)
    return x * len(parts)


add(formatted_choice, (2.0,), (0.5,))


def string_work(x, mode):
    mode = mode.strip().lower()
    names = ["sin", "cos"]
    return math.sin(x) if mode == names[0] else math.cos(x) * len(mode)


add(string_work, (0.5, " SIN "), (0.5, "cos"), wrt=(0,))


def type_questions(x, n):
    if isinstance(n, int) and callable(math.sin) and hasattr(n, "bit_length"):
        return x * n
    return x


add(type_questions, (1.5, 3), wrt=(0,))


def timed(x):
    start = time.perf_counter()
    y = x * x
    elapsed = time.perf_counter() - start
    assert elapsed >= 0
    return y


add(timed, (1.5,), note="the oracle leaves the module time alone")


def annotated(x: float, n: int = 3) -> float:
    total: float = 0.0
    step: "int"
    for step in range(n):
        total += x * step
    return total


add(annotated, (1.5, 4), wrt=(0,))


def warned(x):
    if x > 100:
        warnings.warn("large", stacklevel=2)
    return x * x


add(warned, (1.5,))
