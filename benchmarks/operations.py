"""Operations in generated adjoints, before and after tidying, and by hand: `python benchmarks/operations.py`.

Counts what an adjoint computes, both sweeps: arithmetic, elementary functions, reductions and products,
wherever they stand in the text; not reading, storing, shapes, or what an index or a condition is computed
by. A function that somebody wrote is read by wengert's front end and counted in the same way.
"""

from __future__ import annotations

import argparse
import copy
import sys
from collections.abc import Callable, Generator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

from machine import machine_line
from workloads import workloads

from wengert import WengertError
from wengert.compile import engine
from wengert.compile.engine import Verb
from wengert.ir.builder import Builder
from wengert.ir.graph import Span
from wengert.passes.residuals import handing, plan as residuals
from wengert.passes.reverse import rules as reverse_rules, sweep as reverse

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))
import adjoints_by_hand as by_hand
import programs


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="every tenth program: a smoke test")
    quick = parser.parse_args().quick
    print_by_hand()
    print_corpus(programs.PROGRAMS[:: 10 if quick else 1])
    print(machine_line("wengert"))


def print_by_hand() -> None:
    """A row for each function whose adjoint somebody wrote."""
    print("| function | before tidying | after | by hand | after / by hand |")
    print("|---|---:|---:|---:|---:|")
    for program, adjoint in by_hand.PAIRS:
        args = program.points[0]
        print_row(program.name, program.function, args, program.wrt, adjoint)
    for workload in workloads():
        argnums = workload.argnums if isinstance(workload.argnums, tuple) else (workload.argnums,)
        print_row(workload.name, workload.function, workload.arguments, argnums, workload.adjoint)
    print()


def print_row(
    name: str, function: Any, args: Sequence[Any], argnums: tuple[int, ...], adjoint: Any
) -> None:
    before, after = both_counts(function, args, argnums)
    hand = by_hand.operations_by_hand(adjoint, args)
    print(f"| {name} | {before} | {after} | {hand} | {after / hand:.2f} |")


def print_corpus(chosen: Sequence[Any]) -> None:
    """The sum over programs, and those that tidying takes most from."""
    counts: dict[str, tuple[int, int]] = {}
    for program in chosen:
        try:
            counts[program.name] = both_counts(program.function, program.points[0], program.wrt)
        except WengertError:
            continue  # no one real result, or what is refused with a reason
    before, after = map(sum, zip(*counts.values(), strict=True))
    larger = sum(b < a for b, a in counts.values())
    print(
        f"{len(counts)} adjoints of the corpus: {before} operations before tidying, {after} after"
    )
    print(f"({1 - after / before:.0%} less); larger after than before: {larger}.\n")
    print("| the largest differences | before | after |\n|---|---:|---:|")
    for name, (b, a) in sorted(counts.items(), key=lambda item: item[1][1] - item[1][0])[:8]:
        print(f"| {name} | {b} | {a} |")
    print()


def both_counts(function: Any, args: Sequence[Any], argnums: tuple[int, ...]) -> tuple[int, int]:
    with untidied():
        before = adjoint_operations(function, args, argnums)
    return before, adjoint_operations(function, args, argnums)


def adjoint_operations(function: Any, args: Sequence[Any], argnums: tuple[int, ...]) -> int:
    call = engine.call_of(function, copy.deepcopy(tuple(args)), {})
    program = engine.read(call)
    functions = engine.VERBS["grad"](program.function, Verb("grad", argnums))
    return sum(map(by_hand.operations, functions))


class PlainBuilder(Builder):
    """A builder of derivative code that takes every equation as it comes, symbolic zeros aside."""

    def __init__(self, span: Span | None = None, *, derived: bool = False):
        super().__init__(span)

    def reuse(self, eqns: Any) -> None:
        """Nothing is used again."""


@contextmanager
def untidied() -> Generator[None]:
    """Inside a `with` block, adjoints are as the rules leave them: not simplified, not shared, not cleared."""
    as_it_is: Callable[..., Any] = lambda function: function

    def unshared(eqns: Any, mapping: Any, before: Any = ()) -> Any:
        return [residuals.renamed_eqn(eqn, mapping) for eqn in eqns]

    with ExitStack() as stack:
        for module in (reverse, reverse_rules):
            stack.enter_context(patch.object(module, "SimplifyingBuilder", PlainBuilder))
        for module in (reverse, handing):
            stack.enter_context(patch.object(module, "shared", unshared))
        stack.enter_context(patch.object(reverse, "with_shapes_of_needed", as_it_is))
        stack.enter_context(patch.object(reverse, "tidy", as_it_is))
        yield


if __name__ == "__main__":
    main()
