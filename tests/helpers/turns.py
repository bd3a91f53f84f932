"""Which programs of the corpus an expensive test takes: a part that stays the same from run to run.

Tests that differentiate the corpus in several ways take different parts, so that every program has its
turn in some of them. `WENGERT_EVERY_PROGRAM=1` has every test take all.
"""

import os
import zlib

EVERY_PROGRAM = os.environ.get("WENGERT_EVERY_PROGRAM") == "1"


def turn_of(name: str, parts: int) -> int:
    """Which of so many parts a name belongs to, in every process and in every run."""
    return zlib.crc32(name.encode()) % parts


def has_turn(name: str, turn: int, parts: int) -> bool:
    return EVERY_PROGRAM or turn_of(name, parts) == turn
