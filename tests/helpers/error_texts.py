"""How tests of errors state the whole text of an error, with lines and carets computed."""

import linecache
import runpy
import traceback
from pathlib import Path

import pytest
from places import TESTS

import wengert as wg


def refusal(code, base, action):
    """The error that an action raises, which must be ours, of that code and that built-in base."""
    with pytest.raises(wg.WengertError) as caught:
        action()
    error = caught.value
    assert error.code == code, str(error)
    assert isinstance(error, base)
    assert f"[{code}]" in str(error)
    assert f"wengert explain {code}`" in str(error)
    return error


def says(error, *words):
    message = str(error)
    missing = [word for word in words if word not in message]
    assert not missing, f"{missing} not in:\n{message}"


def place(function, offset, underlined, inside=None):
    """What a message shows of a line of a function: its file, its number, carets under a text.

    `inside` is the name of the function that the line is said to stand in.
    """
    code = function.__code__
    number = code.co_firstlineno + offset
    line = linecache.getline(code.co_filename, number).strip()
    carets = " " * line.index(underlined) + "^" * len(underlined)
    where = f"  {code.co_filename}:{number}" + (f", in {inside}" if inside else "")
    return f"{where}\n    {line}\n    {carets}"


def message(code, what, where, hint):
    """The whole text of an error: what is wrong, where (or None), and what to do."""
    indented = "\n".join("  " + line for line in hint.splitlines())
    paragraphs = [f"[{code}] {what}", *([where] if where else []), indented]
    return "\n\n".join([*paragraphs, f"  explained by `wengert explain {code}`"])


def in_a_file(code, folder):
    """A function whose source is a file of its own."""
    file = folder / "function.py"
    head = "import math\nfrom types import SimpleNamespace\nimport numpy as np\n"
    file.write_text(f"{head}f = {code}\n")
    return runpy.run_path(str(file))["f"]


def last_line(error):
    """The text of the line, in a test, at which a traceback ends."""
    last = traceback.extract_tb(error.__traceback__)[-1]
    assert TESTS in Path(last.filename).parents
    return last.line
