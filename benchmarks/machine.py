"""One line that says where the figures were taken."""

import os
import platform
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path


def machine_line(*packages: str) -> str:
    """Processor, cores, threads, system and the versions of Python and of `packages`."""
    threads = os.environ.get("OPENBLAS_NUM_THREADS", "default")
    parts = [
        f"{processor()}, {os.cpu_count()} cores, BLAS threads: {threads}",
        f"{platform.system()} {platform.machine()}",
        f"Python {platform.python_version()}",
        *(f"{package} {version_of(package)}" for package in packages),
    ]
    return "; ".join(parts)


def processor() -> str:
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        for line in cpuinfo.read_text().splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return platform.processor() or "unknown processor"


def version_of(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "(not installed)"
