"""The pictures in docs/pictures are what docs/build_pictures.py draws."""

import runpy

import pytest
from places import DOCS

BUILD = runpy.run_path(str(DOCS / "build_pictures.py"))


@pytest.mark.parametrize("name", BUILD["PICTURES"])
def test_a_picture_is_up_to_date(name):
    drawn = (DOCS / "pictures" / name).read_text(encoding="utf-8")
    assert drawn == BUILD["PICTURES"][name](), "run: python docs/build_pictures.py"


def test_every_picture_is_shown():
    page = (DOCS / "graphs.md").read_text(encoding="utf-8")
    assert all(f"pictures/{name}" in page for name in BUILD["PICTURES"])
