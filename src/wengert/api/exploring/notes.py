"""Values beside lines: of the program's own run, and of its derivative's, with what is not finite named."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from html import escape
from pathlib import Path
from typing import Any

import numpy as np

from ...compile.calling import captured_by
from ...compile.derived import Derived
from .lines import Line
from .reading import Place, Source
from .statements import statements
from .values import MOST_STEPS, Arising, Program, Run, Seen, followed, shown
from .watching import watching

DERIVATIVE = ""
"""The name of a derivative's text among the programs of a run."""
MOST_NAMES = 4


def run_of_program(f: Callable[..., Any], args: Sequence[Any], sources: Iterable[Source]) -> Run:
    """A run of the program itself, followed in the functions that were read."""
    texts = {s.file: "\n".join(s.lines) for s in sources if not s.is_ours}

    @cache
    def program(file: str) -> Program | None:
        return Program(file, statements(texts[file])) if file in texts else None

    given = _copied(args)
    return followed(lambda: f(*given), program)


def run_of_derivative(
    derived: Derived, f: Callable[..., Any], args: Sequence[Any], value: Any
) -> Run | None:
    """A run of an adjoint, seeded with ones; None where the result is no number and no array of numbers."""
    seed = _ones_like(value)
    if seed is None:
        return None
    run = Run()
    watched = watching(derived.printed[0], lambda line, *seen: run.see((DERIVATIVE, line), *seen))
    seed_name = [i.name for i in derived.functions[0].inputs if i.how == "positional"][-1]
    options = {**captured_by(f), seed_name: seed}
    given = _copied(args)
    try:
        with np.errstate(all="ignore"):
            watched(*given, **options)
    except Exception:  # of arguments that the derivative itself takes in another form
        return None
    return run


def _ones_like(value: Any) -> Any:
    if isinstance(value, (float, np.floating)):
        return 1.0
    if isinstance(value, np.ndarray) and value.dtype.kind == "f":
        return np.ones_like(value)
    return None


def _copied(args: Sequence[Any]) -> Sequence[Any]:
    try:
        return copy.deepcopy(list(args))
    except Exception:  # of what cannot be copied
        return args


# --- beside lines -------------------------------------------------------------------------


def annotate(panes: Mapping[str, Sequence[Line]], run: Run, where: str) -> Iterator[str]:
    """Write the values of a run beside the lines, by the name of their program.

    Yields:
        Where NaN and infinities came up first, as HTML with links to the lines.
    """
    first = {arising.place: arising for arising in run.arising.values()}
    for program, lines in panes.items():
        for position, line in enumerate(lines, 1):
            place = (program, position if program == DERIVATIVE else line.number or 0)
            line.notes = _note(run.lines.get(place, {}))
            if place in first:
                line.notes += " <mark>first here</mark>"
                yield _alarm(first[place], line, where)


def add_cotangents(
    panes: Mapping[str, Sequence[Line]], derivative: Sequence[Line], run: Run
) -> None:
    """Write the cotangents that the steps back through a line give beside it."""
    found: dict[Place, dict[str, Seen]] = {}
    for number, line in enumerate(derivative, 1):
        seen = run.lines.get((DERIVATIVE, number), {})
        bars = {name: one for name, one in seen.items() if "_bar" in name and one.last}
        if line.origins and bars:
            found.setdefault(line.origins[-1], {}).update(bars)
    for file, lines in panes.items():
        for line in lines:
            note = _note(found.get((file, line.number or 0), {}))
            line.notes += f"<u>{note}</u>" if note else ""


def _note(seen: Mapping[str, Seen]) -> str:
    texts = [_of_name(*item) for item in list(seen.items())[:MOST_NAMES]]
    return "; ".join(texts) + (" …" if len(seen) > MOST_NAMES else "")


def _of_name(name: str, seen: Seen) -> str:
    first, last = (
        each if isinstance(each, str) else shown(each)[0] for each in (seen.first, seen.last)
    )
    values = first if first == last else f"{first} → {last}"
    times = f" ×{seen.turns}" if seen.turns > 1 else ""
    wrong = f" <mark>{seen.wrong}</mark>" if seen.wrong else ""
    return f"{escape(name)} = {escape(values)}{times}{wrong}"


# --- what is not finite -------------------------------------------------------------------


def _alarm(arising: Arising, line: Line, where: str) -> str:
    turn = f", turn {arising.turn}" if arising.turn > 1 else ""
    file, number = line.origins[-1] if line.origins else arising.place
    return (
        f'<p class="alarm"><mark>{arising.what}</mark> came up {where} first at '
        f'<a href="#{line.anchor}">{escape(Path(file).name)}:{number}</a>: '
        f"<code>{escape(line.text.strip())}</code> gives <code>{escape(arising.name)}</code>{turn}</p>"
    )


def of_arguments(names: Iterable[str], args: Iterable[Any]) -> Iterator[str]:
    """Which arguments are not finite themselves."""
    for name, arg in zip(names, args, strict=False):
        wrong = shown(arg)[1]
        if wrong:
            yield f'<p class="alarm"><mark>{wrong}</mark> is in the argument <code>{escape(name)}</code></p>'


def ended_early(run: Run) -> str:
    """What to say of a run that was too long to be followed to its end."""
    if run.steps < MOST_STEPS:
        return ""
    return f"<p>Values are of the first {MOST_STEPS:,} lines that ran.</p>"
