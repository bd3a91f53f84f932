"""Random programs on arrays, against plain Python: value, derivatives, arguments, state outside, exceptions.

`WENGERT_RANDOM_PROGRAMS=50000` runs that many and says how far it is, `WENGERT_RANDOM_BATCH=7` starts with
another batch.
"""

from __future__ import annotations

import importlib.util
import os
import pickle
import subprocess
import sys
import warnings
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from random_arrays import Writer, arguments

import wengert as wg
from wengert.errors import InternalError, NoSource, UnsupportedSyntax

PER_BATCH = 25
PROGRAMS = int(os.environ.get("WENGERT_RANDOM_PROGRAMS", "75"))
FIRST = int(os.environ.get("WENGERT_RANDOM_BATCH", "0"))
BATCHES = range(FIRST, FIRST + -(-PROGRAMS // PER_BATCH))
ACTIVE = (0, 1, 2, 3)
STEP = 1e-6
REFUSED = 1
NOT_SAVED = 12
"""How many programs of a batch may be refused, and of how many no file can be written: they may only shrink."""


class LeftOut(Exception):
    """Differences say nothing of a program: a kink is near, or its numbers are huge."""


def module_of(source: str, name: str, folder: Path) -> Any:
    path = folder / f"{name}.py"
    path.write_text(source)
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def outcome(run: Any) -> Any:
    """What a run gives, or the exception that it raises."""
    try:
        return run()
    except Exception as error:
        return error


class Check:
    """One program, and what plain Python says of it."""

    def __init__(self, number: int, folder: Path):
        writer = Writer(number)
        self.source = writer.program()
        self.features = writer.features
        self.module = module_of(self.source, f"arrays_{number}", folder)
        self.program = self.module.program
        rng = np.random.default_rng(number)
        self.v, self.w = ([rng.normal(size=np.shape(x)) for x in arguments()] for _ in range(2))
        self.module.reset()
        args = arguments()
        self.value = outcome(lambda: self.program(*args))
        self.after = args, self.module.outside()
        self.slope = None
        if not isinstance(self.value, Exception):
            try:
                self.slope = self.slope_of(lambda *args: self.run(*args), self.v)
            except (
                ValueError,
                IndexError,
                TypeError,
            ) as error:  # beside the point it takes another path
                raise LeftOut from error

    def run(self, *args: Any) -> Any:
        self.module.reset()
        return self.program(*args)

    def moved(self, along: list[Any], t: float) -> tuple[Any, ...]:
        moved = [x + t * d for x, d in zip(arguments(), along, strict=True)]
        return (*moved[:2], float(moved[2]), np.asarray(moved[3]))

    def slope_of(self, f: Any, along: list[Any]) -> float:
        here = f(*self.moved(along, 0.0))
        ends = [[f(*self.moved(along, t)) for t in (step, -step)] for step in (STEP / 4, STEP)]
        near, far = (
            (up - down) / (2 * step)
            for (up, down), step in zip(ends, (STEP / 4, STEP), strict=True)
        )
        if not abs(far) < 1e4 or abs(near - far) > 1e-5 * (1 + abs(far)):
            raise LeftOut
        up, down = ends[1]
        if abs(up + down - 2 * here) > 1e-3 * STEP * (1 + abs(far)):
            raise LeftOut  # a kink just here, of two numbers that are equal
        return float(far)

    def close(self, found: Any, expected: float, what: str, tolerance: float = 1e-5) -> None:
        scale = 1 + abs(self.value) + abs(expected)
        assert abs(found - expected) <= tolerance * scale, f"{what}: {found}, expected {expected}"

    def left_alike(self, args: Any, what: str) -> None:
        expected, outside = self.after
        for found, wanted in zip(args[:2], expected[:2], strict=True):
            np.testing.assert_allclose(found, wanted, rtol=1e-9, atol=1e-9, err_msg=what)
        np.testing.assert_allclose(args[3], expected[3], rtol=1e-9, atol=1e-9, err_msg=what)
        assert self.module.outside() == outside, (
            f"{what}: {self.module.outside()}, expected {outside}"
        )

    # --- what is asked ----------------------------------------------------------------------

    def raises(self) -> None:
        """The derivative raises what the program raises."""
        self.module.reset()
        found = outcome(lambda: wg.grad(self.program, ACTIVE)(*arguments()))
        if isinstance(found, wg.WengertError):
            raise found
        assert type(found) is type(self.value), f"{found!r}, expected {self.value!r}"

    def reverse(self) -> None:
        self.module.reset()
        args = arguments()
        value, found = wg.value_and_grad(self.program, ACTIVE)(*args)
        self.close(value, self.value, "value", 1e-9)
        self.left_alike(args, "reverse mode")
        for bar, x in zip(found, arguments(), strict=True):
            assert np.shape(bar) == np.shape(x), f"shape {np.shape(bar)} of a gradient"
        self.close(dot(found, self.v), self.slope, "gradient")

    def forward(self) -> None:
        self.module.reset()
        args = arguments()
        value, push = wg.pushforward(self.program, *args)
        self.close(value, self.value, "value with tangents", 1e-9)
        self.left_alike(args, "forward mode")
        self.close(push(*self.v), self.slope, "forward")

    def second(self) -> None:
        program, v = self.program, self.v

        def along(a: Any, m: Any, s: Any, b: Any) -> Any:
            a_bar, m_bar, s_bar, b_bar = wg.grad(program, (0, 1, 2, 3))(a, m, s, b)
            return np.sum(a_bar * v[0]) + np.sum(m_bar * v[1]) + s_bar * v[2] + b_bar * v[3]

        def run(*args: Any) -> Any:
            self.module.reset()
            return float(along(*args))

        bend = self.slope_of(run, self.w)
        self.module.reset()
        found = wg.pushforward(wg.grad(program, ACTIVE), *arguments())[1](*self.w)
        self.close(dot(found, v), bend, "forward over reverse", 1e-4)
        self.module.reset()
        found = wg.grad(along, ACTIVE)(*arguments())
        self.close(dot(found, self.w), bend, "reverse over reverse", 1e-4)

    def is_saved(self, folder: Path, number: int) -> bool:
        """Save the derivative, if its text can stand alone and runs; what it gave here is kept beside it."""
        self.module.reset()
        try:
            derived = wg.grad(self.program, ACTIVE).specialize(*arguments())
            derived(*arguments())
            derived.save(folder / f"saved_{number}.py")
        except Exception as error:
            if getattr(error, "code", "") not in (NoSource.code, UnsupportedSyntax.code):
                raise
            return False
        self.module.reset()
        expected = wg.grad(self.program, ACTIVE)(*arguments())
        (folder / f"saved_{number}.pickle").write_bytes(pickle.dumps(expected))
        return True


def dot(xs: Any, ys: Any) -> float:
    return float(sum(np.sum(x * y) for x, y in zip(xs, ys, strict=True)))


def examined(number: int, folder: Path) -> tuple[str, Counter[str], str]:
    """How a program came out, its features, and its text and what is wrong with it if anything is."""
    try:
        check = Check(number, folder)
    except LeftOut:
        return "left out", Counter(), ""
    features = Counter(dict.fromkeys(check.features, 1))
    try:
        if isinstance(check.value, Exception):
            check.raises()
            return "raises", features, ""
        check.reverse()
        check.forward()
        if number % 2 == 0:
            check.second()
        elif not check.is_saved(folder, number):
            return "not saved", features, ""
    except LeftOut:
        pass
    except InternalError as error:
        return "wrong", features, f"program {number}: {error}\n{program_of(check.source)}"
    except wg.WengertError as error:
        return "refused", features, str(error)
    except Exception as error:
        kind = f"{type(error).__name__}: {error}"
        return "wrong", features, f"program {number}: {kind}\n{program_of(check.source)}"
    return "right", features, ""


def program_of(source: str) -> str:
    return source[source.index("def program") :]


SAVED = """
import importlib.util, pathlib, pickle, sys, types
sys.modules["wengert"] = None  # it cannot be imported
import numpy as np
for path in sorted(pathlib.Path(sys.argv[1]).glob("saved_*.py")):
    try:
        number = path.stem.partition("_")[2]
        spec = importlib.util.spec_from_file_location(path.stem, path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        functions = [f for f in vars(module).values() if isinstance(f, types.FunctionType)]
        gradient = [f for f in functions if f.__module__ == path.stem][-1]
        a = np.array([0.31, -0.27, 0.92, 0.54])
        m = np.array([[0.21, 0.83, -0.44], [-0.12, 0.39, 0.71]])
        found = gradient(a, m, 0.63, np.array(0.47))
        expected = pickle.loads(path.with_suffix(".pickle").read_bytes())
        for x, y in zip(found, expected, strict=True):
            assert type(x) is type(y), f"{type(x)}, expected {type(y)}"
            np.testing.assert_allclose(x, y, rtol=1e-12, atol=1e-12)
    except Exception as error:
        print(number, type(error).__name__, str(error).replace(chr(10), " ")[:300])
"""


def wrong_when_saved(folder: Path) -> list[str]:
    """What saved derivatives do otherwise in a process without wengert."""
    run = [sys.executable, "-W", "ignore", "-c", SAVED, str(folder)]
    path = {**os.environ, "PYTHONPATH": str(folder)}
    done = subprocess.run(run, capture_output=True, text=True, env=path, check=True)
    return done.stdout.splitlines()


@pytest.mark.parametrize("batch", BATCHES)
def test_random_programs_on_arrays(batch: int, tmp_path: Path, capsys: Any) -> None:
    warnings.simplefilter("ignore")
    counts, features, wrong = Counter[str](), Counter[str](), list[str]()
    for number in range(batch * PER_BATCH, (batch + 1) * PER_BATCH):
        how, found, text = examined(number, tmp_path)
        counts[how] += 1
        features += found
        wrong += [text] if how == "wrong" else []
    wrong += wrong_when_saved(tmp_path)
    if len(BATCHES) > 4:
        with capsys.disabled():
            print(f"batch {batch}: {dict(counts)}, {dict(features)}", flush=True)
    assert not wrong, "\n".join(wrong)
    assert counts["refused"] <= REFUSED
    assert counts["not saved"] <= NOT_SAVED
