"""Programs of a line or two, given as text: each is checked against itself in every mode."""

import importlib.util
import sys

import numpy as np
import pytest
import standing_alone
from oracle import central_gradient

import wengert as wg

AT = 0.7


class Lines:
    """Programs `def program(x, …)`, one for each line; statements are separated by semicolons.

    Args:
        name: of the module that holds them.
        head: the module's text, which defines `arguments()`: what the programs are given beside x, as a tuple.
        parameters: their names.
        lines: the programs.
    """

    def __init__(self, name, head, parameters, lines):
        self.name, self.head, self.parameters = name, head, parameters
        self.lines = [line for line in lines.strip().splitlines() if line.strip()]

    def load(self, folder):
        """The module, in which program k is called `line_k`."""
        parts = [self.head]
        for k, line in enumerate(self.lines):
            body = "\n    ".join(line.split("; "))
            parts.append(f"def line_{k}(x, {self.parameters}):\n    {body}\n")
        file = folder / f"{self.name}.py"
        file.write_text("\n\n".join(parts))
        spec = importlib.util.spec_from_file_location(self.name, file)
        module = importlib.util.module_from_spec(spec)
        sys.modules[self.name] = module  # which `globals()` is asked for
        spec.loader.exec_module(module)
        return module


def test_of(lines):
    """A test of each program, which is checked in every mode."""
    made = []

    @pytest.mark.parametrize("number", range(len(lines.lines)))
    def test(tmp_path_factory, number):
        if not made:
            made.append(lines.load(tmp_path_factory.mktemp("lines")))
        check(getattr(made[0], f"line_{number}"), made[0].arguments)

    return test


def held(value):
    """What a value holds, as something that can be compared."""
    if isinstance(value, np.ndarray):
        return value.dtype.name, value.tolist()
    if isinstance(value, dict):
        return type(value).__name__, [(key, held(item)) for key, item in value.items()]
    if isinstance(value, str):
        return value
    if isinstance(value, set):
        return sorted(map(held, value))
    if hasattr(value, "__dict__"):
        return type(value).__name__, held(vars(value))
    if hasattr(value, "__len__"):
        return type(value).__name__, [held(item) for item in value]
    return float(value)


def check(program, arguments):
    """Have a program's derivatives be right, and its arguments left as it leaves them.

    Source that stands alone may refuse, when it is made or when it runs.
    """
    (expected,) = central_gradient(lambda x: program(x, *arguments()), AT)
    for way in (reverse, forward, joint):
        close(way(program, arguments), expected, way.__name__)
    alone = standing_alone.unless_refused(
        lambda: standing_alone.alone(wg.grad(program))(AT, *arguments())
    )
    if alone is not None:
        close(alone, expected, "source that stands alone")


def close(found, expected, what):
    assert abs(found - expected) <= 1e-7 * (1 + abs(expected)), f"{what}: {found}, not {expected}"


def reverse(program, arguments):
    before, given = arguments(), arguments()
    value = program(AT, *before)
    found, slope = wg.value_and_grad(program)(AT, *given)
    close(found, value, "value")
    assert held(given) == held(before)
    return slope


def forward(program, arguments):
    before, given = arguments(), arguments()
    value, push = wg.pushforward(program, AT, *given)
    close(value, program(AT, *before), "value")
    assert held(given) == held(before)
    return push(1.0, *[None] * len(given))


def joint(program, arguments):
    given = arguments()
    return wg.grad(program, argnums=tuple(range(1 + len(given))))(AT, *given)[0]
