"""What is generated depends on the program alone, not on addresses or on the seed of Python's hashes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any

import pytest
from places import HELPERS, TESTS

pytest.importorskip("llvmlite")

ONCE_MANY_TEXTS = (
    "arrays.statistics",
    "models.layer_norm",
    "mutation.complex_spectrum",
    "objects.tracked",
)

TEXTS = """
import copy, json, random, sys, warnings
warnings.simplefilter("ignore")
import programs
import wengert as wg
from wengert.compile import engine
from wengert.backends.native.run import kernel

class Compiled(BaseException):
    pass

def compiled(text, table):
    raise Compiled(text)

kernel.compiled = compiled  # what it would be compiled from is enough
chosen = programs.PROGRAMS[::24] + [p for p in programs.PROGRAMS if p.name in sys.argv[1:]]
found, kept = {}, []
for turn in range(2):
    for program in chosen:
        kept.append([object() for _ in range(random.randrange(400))])
        engine._refusals.clear()
        derived = wg.value_and_grad(program.function, program.wrt)
        texts = found.setdefault(program.name, [])
        for text in (
            lambda *args: derived.specialize(*args).source,
            lambda *args: wg.jit(derived, strict=True)(*args),
        ):
            try:
                texts.append(str(text(*copy.deepcopy(program.points[0]))))
            except Compiled as made:
                texts.append(made.args[0])
            except wg.WengertError as error:
                texts.append(type(error).__name__)
print(json.dumps(found))
"""


def texts(seed: int) -> dict[str, list[Any]]:
    path = os.pathsep.join([str(TESTS), str(HELPERS), os.environ.get("PYTHONPATH", "")])
    environment = {**os.environ, "PYTHONPATH": path, "PYTHONHASHSEED": str(seed)}
    run = [sys.executable, "-c", TEXTS, *ONCE_MANY_TEXTS]
    done = subprocess.run(run, capture_output=True, text=True, env=environment, check=True)
    return json.loads(done.stdout)


def test_what_is_generated_depends_on_the_program_alone():
    first, second = texts(1), texts(2)
    different = [
        name
        for name, found in first.items()
        if len(set(found[::2] + second[name][::2])) > 1
        or len(set(found[1::2] + second[name][1::2])) > 1
    ]
    assert not different
    assert sum("define" in found[1] for found in first.values()) > 15
