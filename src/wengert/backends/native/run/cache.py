"""Object code kept on disk, so that a second process does not compile again.

A file is named by what the code was made from: the program as LLVM IR, the processor, and the versions of
all that took part. It lies in a directory that only its user may write to, and begins with a digest of
the rest: a file that somebody else wrote, or that is damaged, is made anew.

The environment variable `WENGERT_CACHE` names another directory; `off` turns the cache off.
"""

from __future__ import annotations

import hashlib
import os
import stat
import tempfile
from collections.abc import Callable
from pathlib import Path

_MAGIC = b"wengert object 1\n"
_OFF = ("off", "0", "no", "")


def cached(parts: tuple[str, ...], make: Callable[[], bytes]) -> bytes:
    """Object code: the one that is kept, or one made now.

    Args:
        parts: all that the code depends on.
        make: makes the code.
    """
    directory = _directory()
    if directory is None:
        return make()
    name = hashlib.sha256("\0".join(parts).encode()).hexdigest()
    path = directory / f"{name}.o"
    found = _read(path)
    if found is None:
        found = make()
        _write(path, found)
    return found


def _directory() -> Path | None:
    """Where the cache is; None if there is none."""
    setting = os.environ.get("WENGERT_CACHE")
    if setting is not None and setting.lower() in _OFF:
        return None
    try:
        base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
        directory = Path(setting) if setting else base / "wengert"
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    except (OSError, RuntimeError):
        return None
    return directory if _is_ours(directory) else None


def _is_ours(path: Path) -> bool:
    """Whether only this user can have written something."""
    try:
        found = path.stat()
    except OSError:
        return False
    if not hasattr(os, "getuid"):
        return True
    return found.st_uid == os.getuid() and not found.st_mode & (stat.S_IWGRP | stat.S_IWOTH)


def _read(path: Path) -> bytes | None:
    if not _is_ours(path):
        return None
    try:
        data = path.read_bytes()
    except OSError:
        return None
    magic, digest, code = data[: len(_MAGIC)], data[len(_MAGIC) :][:32], data[len(_MAGIC) + 32 :]
    if magic != _MAGIC or hashlib.sha256(code).digest() != digest:
        return None
    return code


def _write(path: Path, code: bytes) -> None:
    """Write a file at once, so that no other process reads half of it."""
    try:
        handle, temporary = tempfile.mkstemp(dir=path.parent)
        with os.fdopen(handle, "wb") as file:
            file.write(_MAGIC + hashlib.sha256(code).digest() + code)
        Path(temporary).replace(path)
    except OSError:
        return  # a full disk or one that cannot be written to: the code has been made all the same
