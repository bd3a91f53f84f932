"""The field's words: names that were private to this project do not come back."""

import ast
import re
from pathlib import Path

from test_architecture import MODULES, PACKAGE

CLASSES = {
    "Reading", "Lost", "Arm", "Meeting", "Merger", "Exports", "Catching", "Leaves", "Diverges", "Producer", "Maker",
    "Iteration", "Site", "Unit", "Repeated", "Delayed", "Growing", "Whose",
}  # fmt: skip
MODULE_NAMES = {
    "apart", "by_numbers", "own_code", "steered", "inside", "global_parts", "unknown_calls", "arms", "exports",
    "merging", "catching", "relied_on", "shown", "equivalents_in_python", "unseen", "sight", "moving", "steep",
    "unread", "narrowest", "concerned", "related", "written", "economy", "reuse", "untouched", "lean_calls",
    "base_cases", "kept", "record_words", "shared_words", "conditional_words", "sinking", "numbering", "one_sweep",
    "run_once", "factored", "border", "flat", "quick_call", "access", "writing", "pieces", "extremes", "counts",
    "raising", "questions", "checked",
}  # fmt: skip
"""What they were called is in `docs/contributing/glossary.md` under the field's word."""


def names_of_classes(path: Path) -> set[str]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return {node.name for node in ast.walk(tree) if isinstance(node, ast.ClassDef)}


def test_no_module_has_a_retired_name() -> None:
    assert {path.stem for path in MODULES} & MODULE_NAMES == set()


def test_no_class_has_a_retired_name() -> None:
    assert {n for path in MODULES for n in names_of_classes(path)} & CLASSES == set()


def test_the_glossary_names_what_there_is() -> None:
    page = PACKAGE.parent.parent / "docs" / "contributing" / "glossary.md"
    rows = [
        line.split("|") for line in page.read_text(encoding="utf-8").splitlines() if "| `" in line
    ]
    places = [row[2].strip().strip("`") for row in rows]
    assert len(places) > 25
    assert [place for place in places if not (PACKAGE / place).exists()] == []


def paths_in(text: str) -> set[str]:
    """Paths below the package, or that look so, which stand in backticks."""
    units = {path.stem for path in PACKAGE.iterdir()}
    found = re.findall(r"`([a-z_]+(?:/[a-z_0-9]+)+)(?:\.py)?`", text)
    return {path for path in found if path.partition("/")[0] in units}


def test_modules_that_texts_name_exist() -> None:
    assert paths_in("see `rules/arrays` and `rules/none.py`, not `a/b`") == {
        "rules/arrays",
        "rules/none",
    }
    root = PACKAGE.parent.parent
    pages = [root / "ARCHITECTURE.md", root / "CONTRIBUTING.md", *root.glob("docs/*.md")]
    texts = [*MODULES, *pages, *root.glob("docs/contributing/*.md")]  # decisions say what there was
    lost = {
        (text.name, path)
        for text in texts
        for path in paths_in(text.read_text(encoding="utf-8"))
        if not ((PACKAGE / path).exists() or (PACKAGE / f"{path}.py").exists())
    }
    assert lost == set()
