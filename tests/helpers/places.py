"""Where the parts of the project are."""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "src"
PACKAGE = SOURCE / "wengert"
DOCS = ROOT / "docs"
TESTS = ROOT / "tests"
HELPERS = TESTS / "helpers"
