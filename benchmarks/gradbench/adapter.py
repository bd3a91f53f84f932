"""wengert as a tool of GradBench: `python benchmarks/gradbench/adapter.py`.

Reads the protocol's messages, one JSON object a line, and answers each with a line. A module of this
folder, `evals/gmm.py` for example, is what its eval asks for. Derivatives are native code where there is
a native form; where there is none, a warning on stderr says which line has none, and Python runs.
"""

import importlib
import json
import os
import sys
import traceback
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")


def main() -> None:
    # what a program prints goes to stderr: stdout carries the protocol
    answers, sys.stdout = sys.stdout, sys.stderr
    for line in sys.stdin:
        message = json.loads(line)
        response = {"id": message["id"]} | answer(message)
        print(json.dumps(response), file=answers, flush=True)


def answer(message: dict[str, Any]) -> dict[str, Any]:
    match message:
        case {"kind": "start"}:
            return {"tool": "wengert"}
        case {"kind": "define", "module": module}:
            return attempt(lambda: {"success": bool(functions_of(module))})
        case {"kind": "evaluate", "module": module, "function": name, "input": given}:
            return attempt(lambda: functions_of(module)[name].answer(given))
        case _:
            return {}


def functions_of(module: str) -> dict[str, Any]:
    """The evaluations of an eval, by the names of its functions."""
    return importlib.import_module(f"evals.{module}").FUNCTIONS


def attempt(work: Any) -> dict[str, Any]:
    try:
        return work()
    except Exception:
        return {"success": False, "error": traceback.format_exc()}


if __name__ == "__main__":
    main()
