"""Processes that compute with one tool each."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

WORKER = Path(__file__).with_name("worker.py")


class Worker:
    """A process for one tool, which answers one question after the other."""

    def __init__(self, tool: str, threads: int, quick: bool, **environment: str):
        command = [sys.executable, str(WORKER), tool, str(threads), *["--quick"] * quick]
        self.process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=os.environ | environment,
        )

    def ask(self, do: str, problem: str, **more: Any) -> dict[str, Any]:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        print(
            json.dumps({"do": do, "problem": problem} | more), file=self.process.stdin, flush=True
        )
        return json.loads(self.process.stdout.readline())

    def stop(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait()
        assert self.process.stdout is not None
        self.process.stdout.close()
