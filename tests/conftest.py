"""Options of the test run.

`pytest --hypothesis-profile=nightly` draws many more programs; `pytest --update` rewrites what
tests keep word for word: tests/golden, and the output shown in README.md and docs/. `pytest --quick`
runs the files named below, which touch every package in a minute.
"""

import gc
import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

SLOW_START = [HealthCheck.too_slow, HealthCheck.data_too_large]

settings.register_profile(
    "ci", max_examples=40, deadline=None, derandomize=True, suppress_health_check=SLOW_START
)
settings.register_profile(
    "nightly", max_examples=5000, deadline=None, suppress_health_check=SLOW_START
)
settings.load_profile("ci")

os.environ["WENGERT_CACHE"] = "off"  # tests leave nothing behind; those of the cache have their own


QUICK = frozenset(
    """
    architecture calls closures_and_mappings docs docstrings dual errors golden graph_rows ir
    jacobians language_rows names native_one_sweep native_options native_results native_rules
    number_laws numbers_rows operations packages passes python_backend rule_forms rule_results seed_rows
    solver_arguments
    """.split()
)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--quick", action="store_true", help="a part of the tests, in a minute")
    parser.addoption("--update", action="store_true", help="rewrite golden texts and shown output")


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    name = collection_path.name
    chosen = not name.startswith("test_") or name[5:].removesuffix(".py") in QUICK
    return True if config.getoption("--quick") and not chosen else None


HERE = Path(__file__).parent


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark tests of reading alone by their names."""
    alone = frozenset((HERE / "reading_alone.txt").read_text(encoding="utf-8").splitlines())
    for item in items:
        if f"{item.path.name}::{item.nodeid.partition('::')[2]}" in alone:
            item.add_marker(pytest.mark.static_tier)


def pytest_collection_finish() -> None:
    """What 30,000 tests were made of stays until the end: it need not be looked through again and again."""
    gc.collect()
    gc.freeze()
    # derivatives that are kept make a large heap, and looking through it took a sixth of the run
    gc.set_threshold(10_000, 10, 50)


@pytest.fixture(autouse=True, scope="module")
def small_heap() -> None:
    """A recorded run that leaves boxes looks for them in the heap, in which earlier tests have left much."""
    gc.collect()
    gc.freeze()


@pytest.fixture(autouse=True)
def static_tier(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests marked so are of reading alone: what it refuses is not recorded instead."""
    if request.node.get_closest_marker("static_tier"):
        monkeypatch.setattr("wengert.compile.recorded.after", raise_refusal)
        monkeypatch.setattr("wengert.compile.engine._is_recorded_at_once", lambda *refused: False)


def raise_refusal(refusal, *recording):
    raise refusal


@pytest.fixture
def update(request: pytest.FixtureRequest) -> bool:
    """Whether texts that are kept are to be rewritten rather than compared."""
    return bool(request.config.getoption("--update"))
