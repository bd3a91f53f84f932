"""Every row of the systems that wengert descends from has a test which bears its name."""

import re

import pytest
from places import TESTS

ROWS = {
    "HS": [*range(1, 17), *range(18, 21)],  # the Haskell article; 17 is quaternions
    "AD": range(1, 19),  # ekmett's ad
    "RG": range(1, 47),  # rustograd, and what its author left to do
    "FD": [*range(1, 9), *range(10, 13)],  # ForwardDiff; 9 is buffers that nothing here needs
    "P": [2, 4],
    "W": [*range(1, 5), *range(16, 21)],
    "T": [1, 4, 5, 6, 7],  # numbers that those systems print wrong
}


def rows_in_names():
    """The ids in the names of tests; `RG22_to_RG29` are all between."""
    found = set()
    for path in TESTS.rglob("test_*.py"):
        for name in re.findall(r"^def (test_\w+)", path.read_text(encoding="utf-8"), re.MULTILINE):
            found.update(re.findall(r"(?<=_)([A-Z]+)(\d+)(?=_|$)", name))
            for system, first, last in re.findall(r"_([A-Z]+)(\d+)_to_[A-Z]+(\d+)", name):
                found.update((system, str(k)) for k in range(int(first), int(last) + 1))
    return found


@pytest.mark.parametrize("system", ROWS)
def test_every_row_has_a_test(system):
    tested = rows_in_names()
    assert [k for k in ROWS[system] if (system, str(k)) not in tested] == []
