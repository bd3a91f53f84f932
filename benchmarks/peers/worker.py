"""One tool in a process of its own: `python worker.py TOOL THREADS [--quick]`.

Reads a line of JSON for each thing to do, and answers with one:

    {"do": "prepare", "problem": NAME}                    → the value and the gradients, in short; or {"absent": why}
    {"do": "sample", "problem": NAME, "seconds": 0.02}    → the seconds that a call takes
"""

import os
import sys

TOOL, THREADS = sys.argv[1], int(sys.argv[2])
if THREADS == 1 and hasattr(os, "sched_setaffinity"):
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
for variable in ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS"):
    os.environ[variable] = str(THREADS)

import gc  # noqa: E402  NumPy reads the number of threads when it is imported
import importlib  # noqa: E402
import json  # noqa: E402
import math  # noqa: E402
import time  # noqa: E402
import timeit  # noqa: E402
from pathlib import Path  # noqa: E402

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import numpy as np  # noqa: E402
from problems import light_problems, problems  # noqa: E402

# One thread is measured by its processor time, so that other programs disturb less.
CLOCK = time.process_time if THREADS == 1 else time.perf_counter
CALLS = {}


def main():
    answers, sys.stdout = sys.stdout, sys.stderr
    quick = "--quick" in sys.argv
    try:
        tool = importlib.import_module(f"by_{TOOL}")
    except ImportError as error:
        tool = error
    for line in sys.stdin:
        asked = json.loads(line)
        name = asked["problem"]
        problem = light_problems(quick).get(name) or problems(quick)[name]
        answer = answered(tool, problem, asked)
        print(json.dumps(answer), file=answers, flush=True)


def answered(tool, problem, asked):
    if isinstance(tool, ImportError):
        return {"absent": str(tool)}
    match asked["do"]:
        case "prepare":
            return prepared(tool, problem)
        case "sample":
            return sampled(tool, problem, asked["seconds"])
        case "memory":
            return {"bytes per step": bytes_per_step(tool, problem)}
        case other:
            raise ValueError(other)


def prepared(tool, problem):
    made = tool.call(problem, THREADS)
    if made is None:
        return {"absent": "not said in it"}
    CALLS[problem.name] = made
    given = made()
    found = leaves(getattr(made, "results", given))  # or where it writes to
    divisor = getattr(tool, "FEWER_STEPS", 1) if problem.steps else 1
    taken = time.process_time()
    return {"found": [in_short(each) for each in found], "fewer": divisor, "processor": taken}


def leaves(result):
    if isinstance(result, tuple | list):
        return [leaf for part in result for leaf in leaves(part)]
    return [result]


def in_short(value):
    """A few numbers that tell arrays apart."""
    if value is None:
        return None
    entries = np.asarray(value, dtype=float).ravel()
    return [float(entries.sum()), float(np.cos(np.arange(len(entries))) @ entries)]


def sampled(tool, problem, duration):
    """Seconds for one call, from as many as fill the duration, and of those what the way into the tool takes.

    `.nothing` of a call computes nothing.
    """
    call = CALLS[problem.name]
    gc.collect()
    gc.disable()
    divisor = getattr(tool, "FEWER_STEPS", 1) if problem.steps else 1
    seconds = timed(call, duration) * divisor
    nothing = getattr(call, "nothing", None)
    return {"seconds": seconds, "boundary": timed(nothing, duration / 4) if nothing else 0.0}


def timed(call, duration):
    timer = timeit.Timer(call, timer=CLOCK)
    count = 1
    while (spent := timer.timeit(count)) < duration:
        count = max(2 * count, math.ceil(1.1 * count * duration / max(spent, 1e-7)))
    return spent / count


def bytes_per_step(tool, problem):
    """What a gradient takes beyond what is taken before, at its peak, per step; None where Linux does not say."""
    few = tool.call(problem.shorter(100), THREADS)
    if few is None or not PEAK.exists():
        return None
    few()
    call = tool.call(problem, THREADS)
    PEAK.write_text("5", encoding="ascii")  # from here on
    before = memory_of("VmRSS")
    call()
    return (memory_of("VmHWM") - before) * getattr(tool, "FEWER_STEPS", 1) / problem.steps


PEAK = Path("/proc/self/clear_refs")


def memory_of(name):
    """A figure of this process, in bytes."""
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    (found,) = (line.split()[1] for line in lines if line.startswith(name))
    return 1024 * int(found)


if __name__ == "__main__":
    main()
