"""Options of the test run.

`pytest --hypothesis-profile=nightly` draws many more programs; `pytest --update` rewrites what
tests keep word for word: tests/golden, and the output shown in README.md and docs/.
"""

import gc
import os

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


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update", action="store_true", help="rewrite golden texts and shown output")


def pytest_collection_finish() -> None:
    """What 30,000 tests were made of stays until the end: it need not be looked through again and again."""
    gc.collect()
    gc.freeze()


@pytest.fixture
def update(request: pytest.FixtureRequest) -> bool:
    """Whether texts that are kept are to be rewritten rather than compared."""
    return bool(request.config.getoption("--update"))
