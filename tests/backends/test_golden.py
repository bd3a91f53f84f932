"""Generated text, word for word: `pytest --update` writes what the programs give now."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from golden_programs import GOLDEN
from golden_texts import golden_text
from places import HELPERS, TESTS

FOLDER = TESTS / "golden"
SOME = ["poly", "cross_entropy", "least_squares", "nested", "recursive_pow"]


@pytest.mark.parametrize("name", GOLDEN)
def test_golden(name: str, update: bool) -> None:
    path = FOLDER / f"{name}.txt"
    found = golden_text(name)
    if update:
        FOLDER.mkdir(exist_ok=True)
        path.write_text(found, encoding="utf-8")
    assert path.exists(), f"{path.name} is missing: run pytest --update"
    assert found == path.read_text(encoding="utf-8"), "if the new text is right: pytest --update"


def test_every_golden_text_has_a_program() -> None:
    texts = {path.stem for path in FOLDER.glob("*.txt")} - {"routes"}
    assert texts == set(GOLDEN)


@pytest.mark.parametrize("seed", ["0", "1", "4242"])
def test_text_does_not_depend_on_the_hash_seed(seed: str) -> None:
    environment = os.environ | {"PYTHONHASHSEED": seed}
    command = [sys.executable, str(HELPERS / "golden_texts.py"), *SOME]
    run = subprocess.run(
        command, env=environment, capture_output=True, encoding="utf-8", check=True
    )
    assert run.stdout == "".join(golden_text(name) + "\n" for name in SOME)
