"""The golden texts of some programs, on standard output: `python golden_texts.py poly logistic`."""

from __future__ import annotations

import sys

from golden_programs import GOLDEN

import wengert as wg
from wengert.compile import calling, engine
from wengert.compile.wanted import Verb


def golden_text(name: str) -> str:
    """How a program reads as IR, and its gradient and pushforward as Python."""
    function, example = GOLDEN[name]
    call = calling.call_of(function, example, {}) if example else calling.general_call(function)
    parts = {
        "IR": wg.code_ir(function, *example),
        "gradient": printed(Verb("grad"), call),
        "pushforward": printed(Verb("pushforward"), call),
    }
    return "\n".join(f"# --- {title} ---\n\n{text.strip()}\n" for title, text in parts.items())


def printed(verb: Verb, call: calling.Call) -> str:
    """The generated functions alone: no imports, no helpers."""
    return "\n\n".join(printed.text for printed in engine.derive(verb, call).printed)


if __name__ == "__main__":
    sys.stdout.reconfigure(encoding="utf-8")  # type: ignore[union-attr]
    for each in sys.argv[1:]:
        print(golden_text(each))
