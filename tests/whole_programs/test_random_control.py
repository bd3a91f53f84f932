"""Random programs of control flow: never silently wrong.

`WENGERT_RANDOM_PROGRAMS=50000` runs that many, `WENGERT_RANDOM_BATCH=7` starts with another batch.
"""

import os

import pytest
from random_control import drawn

import wengert as wg
from wengert.errors import InternalError

POINTS = (0.3137, 0.8291)
PROGRAMS_PER_BATCH = 25
PROGRAMS = int(os.environ.get("WENGERT_RANDOM_PROGRAMS", "100"))
FIRST = int(os.environ.get("WENGERT_RANDOM_BATCH", "0"))
BATCHES = range(FIRST, FIRST + -(-PROGRAMS // PROGRAMS_PER_BATCH))
TOO_LARGE = 1e12
"""Of such a number no sine can be told: its differences say nothing of its derivative."""


def outcome(run):
    """What a run gives, or the exception that it raises."""
    try:
        return run()
    except Exception as error:
        return error


def shown(kept):
    """What a list holds, and of which types."""
    return [shown(x) if type(x) is list else f"{type(x).__name__} {x:.9g}" for x in kept]


def slope_of(f, x):
    """The derivative by central differences; None where they say nothing: a branch is near, or numbers are huge."""
    slopes = []
    for step in (1e-6, 1e-5):
        above, below = outcome(lambda: f(x + step)), outcome(lambda: f(x - step))  # noqa: B023
        if isinstance(above, Exception) or isinstance(below, Exception):
            return None
        slopes.append((above - below) / (2 * step))
    near, far = slopes
    if abs(near) > TOO_LARGE:
        return None
    return near if near == pytest.approx(far, rel=1e-4, abs=1e-4) else None


def is_right(f, x, wanted, derived):
    """Whether a derivative is that of the program: where this raises, so does its derivative."""
    if isinstance(derived, wg.WengertError):
        return not isinstance(derived, InternalError)  # it is refused
    if isinstance(derived, Exception):
        return type(derived) is type(wanted)
    slope = None if isinstance(wanted, Exception) else slope_of(f, x)
    if slope is None:
        return not isinstance(wanted, Exception)
    value, derivative = derived
    return value == pytest.approx(wanted, rel=1e-9) and derivative == pytest.approx(
        slope, rel=1e-4, abs=1e-4
    )


@pytest.mark.parametrize("batch", BATCHES)
def test_control_flow_is_differentiated_as_it_runs(batch):
    results = refused = 0
    for number in range(batch * PROGRAMS_PER_BATCH, (batch + 1) * PROGRAMS_PER_BATCH):
        f, source, kept = drawn(number)
        for x in POINTS:
            wanted = outcome(lambda: f(x))  # noqa: B023
            left = shown(kept)
            ways = (
                lambda: wg.value_and_grad(f)(x),  # noqa: B023
                lambda: (f(x), wg.derivative(f)(x)),  # noqa: B023
                lambda: wg.value_and_grad(f, tier="recorded")(x),  # noqa: B023
            )
            for way in ways:
                derived = outcome(way)
                if not isinstance(derived, wg.WengertError):
                    assert shown(kept) == left, (source, x, kept, left)
                assert is_right(f, x, wanted, derived), (source, x, wanted, derived)
                results += not isinstance(derived, Exception)
                refused += isinstance(derived, wg.WengertError)
    assert results > PROGRAMS_PER_BATCH
    assert refused <= 0.02 * results
