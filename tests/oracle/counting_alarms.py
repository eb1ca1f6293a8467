"""Counts arrays that right implementations compute, in blocks that several processes share: there must be no alarm.

    python -m tests.oracle.counting_alarms alarms.jsonl --arrays 1000000 --shard 1/2

Seven implementations are right and round otherwise: five ways to sum in NumPy, this library's faster twins, and its
loops in double precision. The first five have nineteen operators; programs of levels 1 and 2 drawn for these run on
them and on the twins, and what the program must give is found once. Programs drawn from everything, of levels 1 to 6,
run on the twins and in double precision. Each block is a row of the file; what the file has is not run again.

An array counts that an implementation gave for a step of a judged program and that has elements, unless its numbers are
drawn. Blocks of the time when arrays were not counted, some of them on the twins alone, have one for each answer, which
is the least that an answer has.
"""

from __future__ import annotations

import argparse
import json
import logging
import time
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple

from refimpl.oracle import program_of
from refimpl.oracle.backends import emulations, ours, variants
from refimpl.oracle.judging.comparing import Verdict, answers_of, judge_answer
from refimpl.oracle.judging.reference import Truth
from refimpl.oracle.judging.statistical import draws_numbers
from refimpl.oracle.scoring.fault_search import append

SEED = 1
SIZE = {1: 250, 2: 250, 3: 20, 4: 20, 5: 100, 6: 100}
"""Level -> programs of a block."""
ALL_SIX = {**{name: getattr(variants, name) for name in variants.WAYS}, "tuned": ours.tuned()}
BOTH = {"tuned": ALL_SIX["tuned"], "wide": emulations.wide}
TURN = [("six", 1), ("six", 2), *(("both", level) for level in range(1, 7))]
"""What is run in turn."""


def counted(verdicts: Iterable[tuple[list[Any], Verdict]]) -> dict[str, Any]:
    """What became of the programs of a block: part of a row of the file.

    Args:
        verdicts: what names the program of an alarm, and the verdict, of each answer.
    """
    statuses, elements, alarms, began = Counter[str](), Counter[str](), [], time.process_time()
    for names, verdict in verdicts:
        statuses[verdict.status] += 1
        elements.update({tier: getattr(verdict, tier) for tier in ("exact", "bounded", "free", "spared")})
        if verdict.status == "failed":
            alarms.append([*names, verdict.reason[:300]])
    return {
        "statuses": dict(statuses), "elements": dict(elements), "alarms": alarms,
        "seconds": round(time.process_time() - began, 1),
    }


class Block(NamedTuple):
    """Programs that are drawn and run together."""

    group: str
    level: int
    start: int

    def run(self) -> dict[str, Any]:
        """Run it; a row of the file."""
        backends = ALL_SIX if self.group == "six" else BOTH
        capabilities = variants.sequential.capabilities if self.group == "six" else BOTH["tuned"].capabilities
        arrays = 0

        def verdicts() -> Iterator[tuple[list[Any], Verdict]]:
            nonlocal arrays
            for number in range(self.start, self.start + SIZE[self.level]):
                program = program_of(SEED, number, capabilities, level=self.level)
                truth = Truth(program)
                for name, backend in backends.items():
                    verdict = judge_answer(program, answers_of(backend, [program])[0], truth=truth)
                    if verdict.status in ("passed", "failed") and not draws_numbers(program):
                        arrays += sum(array.size > 0 for array in truth.trace.values())
                    yield [name, number], verdict

        return {
            **self._asdict(), "programs": SIZE[self.level], "seed": SEED, **counted(verdicts()), "arrays": arrays,
        }


def blocks() -> Iterator[Block]:
    """All blocks, in the order in which they are run."""
    starts: Counter[tuple[str, int]] = Counter()
    for _ in count():
        for pair in TURN:
            yield Block(*pair, starts[pair])
            starts[pair] += SIZE[pair[1]]


def read(path: Path) -> list[dict[str, Any]]:
    """The rows of a file, none where there is no file."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()] if path.exists() else []


def judged(rows: Sequence[dict[str, Any]]) -> int:
    """How many programs were judged: one that six implementations ran counts as six."""
    return sum(row["statuses"].get("passed", 0) + row["statuses"].get("failed", 0) for row in rows)


def arrays_of(rows: Sequence[dict[str, Any]]) -> int:
    """How many arrays were judged."""
    return sum(row.get("arrays", judged([row])) for row in rows)


def main() -> None:
    """Run blocks until the file has as many arrays as wanted."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("results", type=Path)
    parser.add_argument("--arrays", type=int, default=1_000_000)
    parser.add_argument("--shard", default="1/1")
    wanted = parser.parse_args()
    warnings.simplefilter("ignore")
    logging.disable(logging.WARNING)
    part, parts = map(int, wanted.shard.split("/"))
    known = {(row["group"], row["level"], row["start"]) for row in read(wanted.results)}
    for number, block in enumerate(blocks()):
        if arrays_of(read(wanted.results)) >= wanted.arrays:
            break
        if number % parts == part - 1 and block not in known:
            append(wanted.results, block.run())
    rows = read(wanted.results)
    print(f"{judged(rows)} answers, {arrays_of(rows)} arrays, {sum(len(row['alarms']) for row in rows)} alarms")
    for row in rows:
        for name, number, reason in row["alarms"]:
            print(f"{name}, level {row['level']}, program {number} of {row['group']}: {reason}")


if __name__ == "__main__":
    main()
