"""Run wengert from a fresh clone; needs Python 3.11 or newer and nothing else.

    python run.py example    fit reference data sets with derivatives by wengert
    python run.py test       run the tests; with --quick a part of them, in a minute
    python run.py docs       build the documentation as web pages, in build/docs

The first run makes a virtual environment in `.venv` (or where `WENGERT_VENV` says) and installs what
the command needs there; arguments after the command are passed on: `python run.py test -k text`.
"""

import hashlib
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent
VENV = Path(os.environ.get("WENGERT_VENV", ROOT / ".venv"))
PYTHON = VENV / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")
COMMANDS = {
    "example": ("examples", ["examples/nist.py"]),
    "test": ("test", ["-m", "pytest", "-n", "auto"]),
    "docs": ("docs", ["-m", "sphinx", "-W", "--keep-going", "docs", "build/docs"]),
}


def main(arguments):
    if not arguments or arguments[0] not in COMMANDS:
        print(__doc__.strip())
        return 2
    if sys.version_info < (3, 11):
        print("wengert needs Python 3.11 or newer; this is Python " + sys.version.split()[0])
        return 1
    extra, command = COMMANDS[arguments[0]]
    prepare(extra)
    return subprocess.call([str(PYTHON), *command, *arguments[1:]], cwd=ROOT)


def prepare(extra):
    """Makes `.venv` and installs wengert with an extra, unless that has been done before."""
    stamp = VENV / ("installed-" + extra)
    wanted = hashlib.sha256((ROOT / "pyproject.toml").read_bytes()).hexdigest()
    if stamp.exists() and stamp.read_text() == wanted:
        return
    if not PYTHON.exists():
        say("making a virtual environment in " + VENV.name)
        subprocess.check_call([sys.executable, "-m", "venv", str(VENV)])
    say("installing wengert with its [" + extra + "] packages (once, a minute or so)")
    install = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    subprocess.check_call([str(PYTHON), *install, "--editable", ".[" + extra + "]"], cwd=ROOT)
    stamp.write_text(wanted)


def say(message):
    print("run.py: " + message, flush=True)


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except subprocess.CalledProcessError as error:
        sys.exit("run.py: this command failed: " + " ".join(map(str, error.cmd)))
