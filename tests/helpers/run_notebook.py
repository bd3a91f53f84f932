"""Runs the cells of a notebook, given as a JSON list, in a kernel of its own; prints what each has shown, as JSON."""

import json
import re
import sys

import nbformat
from nbclient import NotebookClient


def run(sources: list[str]) -> list[str]:
    notebook = nbformat.v4.new_notebook(cells=list(map(nbformat.v4.new_code_cell, sources)))
    NotebookClient(notebook, timeout=120, kernel_name="python3", allow_errors=True).execute()
    return ["\n".join(map(shown, cell.outputs)) for cell in notebook.cells]


def shown(output: dict) -> str:
    if output["output_type"] == "stream":
        return output["text"]
    if output["output_type"] == "error":
        return re.sub(r"\x1b\[[0-9;]*m", "", "\n".join(output["traceback"]))
    return "\n".join(output["data"].values())


if __name__ == "__main__":
    print(json.dumps(run(json.load(sys.stdin))))
