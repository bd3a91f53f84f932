"""docs/errors.md is what the docstrings of the exceptions say."""

from __future__ import annotations

import runpy
from typing import Any

import pytest
from places import DOCS

from wengert.errors import NoRule


@pytest.fixture(scope="module")
def build() -> dict[str, Any]:
    return runpy.run_path(str(DOCS / "build_errors.py"))


def test_the_page_is_up_to_date(build: dict[str, Any]) -> None:
    page = (DOCS / "errors.md").read_text(encoding="utf-8")
    assert page == build["page"](), "run: python docs/build_errors.py"


def test_every_message_points_to_a_section_of_its_own(build: dict[str, Any]) -> None:
    page = build["page"]()
    codes = [error.code for error in build["classes"]()]
    assert len(codes) == len(set(codes))
    for code in codes:
        assert page.count(f'<a id="{code.lower()}"></a>') == 1


def test_every_exception_explains_itself(build: dict[str, Any]) -> None:
    undocumented = [error.__name__ for error in build["classes"]() if not error.__doc__]
    assert not undocumented


def test_a_message_says_what_explains_it() -> None:
    assert str(NoRule("no rule")).endswith("explained by `wengert explain WG103`")
