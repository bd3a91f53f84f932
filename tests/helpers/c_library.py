"""C that native functions are written as, compiled: strictly, and with every warning an error."""

import ctypes
import shutil
import subprocess
from pathlib import Path

GCC = shutil.which("gcc")


def shared_library(source: str, directory: Path) -> ctypes.CDLL:
    path = directory / "program.c"
    path.write_text(source)
    library = directory / "program.so"
    strict = ["-std=c99", "-O2", "-Wall", "-Wextra", "-Werror", "-Wno-unused-variable"]
    subprocess.run([GCC, *strict, "-shared", "-fPIC", path, "-o", library, "-lm"], check=True)
    return ctypes.CDLL(str(library))
