"""Seconds that the first call of an operator takes when nothing is compiled yet, page by page.

    python -m tests.bench.compilation [--pages NAME ...] [--slowest N]

One process calls every operator once in float32, forward and then backward, with an empty cache of machine code.
A page's number is that of its slowest operator, since a first call compiles only the loops that it runs. Loops
that pages share count for the page that meets them first; "page s" adds up all its operators.
The seconds are this process's processor time, so that whatever else the machine does hardly counts.
"""

from __future__ import annotations

import argparse
import os
import statistics
import tempfile
import time
from typing import NamedTuple

MEDIAN_AT_MOST, PAGE_AT_MOST = 0.4, 2.0  # seconds


class First(NamedTuple):
    """The first call of one operator."""

    page: str
    operator: str
    forward: float
    backward: float

    @property
    def whole(self) -> float:
        return self.forward + self.backward


def first_calls(pages: list[str]) -> list[First]:
    """Call every operator that has cases once, in the order of the pages."""
    from pathlib import Path

    from numba import njit

    from refimpl.kernels import distinct
    from refimpl.op_registry import facts
    from refimpl.oracle.pages.calls import Trial, has_gradient
    from refimpl.oracle.pages.draws import SeededDraw, example

    njit(lambda x: x + 1)(1)  # the compiler's own first use is nobody's
    found = []
    operators = [op for op in distinct() if op.cases is not None and not facts.is_internal(op)]
    for op in sorted(operators, key=lambda op: (facts.file_of(op), op.name)):
        page = Path(facts.file_of(op)).stem
        if pages and page not in pages:
            continue
        trial = Trial(example(op, SeededDraw(0)), is_train=op.mode)
        began = time.process_time()
        trial.forward()
        between = time.process_time()
        if op.backward is not None and has_gradient(trial.of):
            trial.backward()
        found.append(First(page, op.name, between - began, time.process_time() - between))
    return found


def report(found: list[First], slowest: int) -> None:
    """Print the median page, the slowest ones, and those over the bounds."""
    by_page: dict[str, list[First]] = {}
    for each in found:
        by_page.setdefault(each.page, []).append(each)
    worst = {page: max(calls, key=lambda call: call.whole) for page, calls in by_page.items()}
    order = sorted(worst.values(), key=lambda call: -call.whole)
    print(f"{'page':24}{'operator':40}{'forward s':>10}{'backward s':>11}{'both s':>8}{'page s':>8}")
    for call in order[:slowest]:
        total = sum(each.whole for each in by_page[call.page])
        print(
            f"{call.page:24}{call.operator:40}{call.forward:10.2f}{call.backward:11.2f}{call.whole:8.2f}{total:8.2f}"
        )
    forward = statistics.median(max(call.forward for call in calls) for calls in by_page.values())
    both = statistics.median(call.whole for call in worst.values())
    print(f"\n{len(by_page)} pages, {len(found)} operators, {sum(call.whole for call in found):.0f} s in all")
    print(f"median page: {forward:.2f} s forward, {both:.2f} s both ways (at most {MEDIAN_AT_MOST})")
    over = [call for call in sorted(found, key=lambda call: -call.whole) if call.whole > PAGE_AT_MOST]
    print(f"over {PAGE_AT_MOST} s both ways: {', '.join(f'{c.operator} {c.whole:.2f}' for c in over) or 'none'}")


def main(arguments: list[str] | None = None) -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.compilation", description=__doc__)
    parser.add_argument("--pages", nargs="*", default=[], help="only these pages")
    parser.add_argument("--slowest", type=int, default=10, help="how many pages are listed")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as cache:
        os.environ["REFIMPL_CACHE_DIR"] = cache
        report(first_calls(options.pages), options.slowest)


if __name__ == "__main__":
    main()
