"""Counts programs that right implementations run, in blocks that several processes share: there must be no alarm.

    python -m tests.oracle.counting_alarms alarms.jsonl --programs 1000000 --shard 1/2

Six implementations are right and round otherwise: five ways to sum in NumPy, and this library's faster twins. The
first five have nineteen operators; programs of levels 1 and 2 drawn for these run on all six, and what the program must
give is found once. Programs drawn from everything, of levels 1 to 6, run on the twins. Each block is a row of the file;
what the file has is not run again.
"""

from __future__ import annotations

import argparse
import json
import logging
import time
import warnings
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple

from refimpl.oracle import program_of
from refimpl.oracle.backends import ours, variants
from refimpl.oracle.judging.comparing import answers_of, judge_answer
from refimpl.oracle.judging.reference import Truth
from refimpl.oracle.scoring.fault_search import append

SEED = 1
SIZE = {1: 250, 2: 250, 3: 20, 4: 20, 5: 100, 6: 100}
"""Level -> programs of a block."""
ALL_SIX = {**{name: getattr(variants, name) for name in variants.WAYS}, "tuned": ours.tuned()}
TWINS = {"tuned": ALL_SIX["tuned"]}
OFTEN = [("six", 2)] * 4 + [("six", 1)] * 4
"""What is run in turn."""
SELDOM = [("twins", level) for level in range(1, 7)]
"""What every fourth turn has too: one program is run once here, and a Module's takes ten times as long."""


class Block(NamedTuple):
    """Programs that are drawn and run together."""

    group: str
    level: int
    start: int

    def run(self) -> dict[str, Any]:
        """Run it; a row of the file."""
        backends = ALL_SIX if self.group == "six" else TWINS
        capabilities = variants.sequential.capabilities if self.group == "six" else TWINS["tuned"].capabilities
        statuses, elements, alarms, began = Counter(), Counter(), [], time.process_time()
        for number in range(self.start, self.start + SIZE[self.level]):
            program = program_of(SEED, number, capabilities, level=self.level)
            truth = Truth(program)
            for name, backend in backends.items():
                verdict = judge_answer(program, answers_of(backend, [program])[0], truth=truth)
                statuses[verdict.status] += 1
                elements.update({tier: getattr(verdict, tier) for tier in ("exact", "bounded", "free", "spared")})
                if verdict.status == "failed":
                    alarms.append([name, number, verdict.reason[:300]])
        return {
            **self._asdict(), "programs": SIZE[self.level], "seed": SEED, "statuses": dict(statuses),
            "elements": dict(elements), "alarms": alarms, "seconds": round(time.process_time() - began, 1),
        }


def blocks() -> Iterator[Block]:
    """All blocks, in the order in which they are run."""
    starts: Counter[tuple[str, int]] = Counter()
    for turn in count():
        for pair in [*OFTEN, *(SELDOM if turn % 4 == 0 else [])]:
            yield Block(*pair, starts[pair])
            starts[pair] += SIZE[pair[1]]


def read(path: Path) -> list[dict[str, Any]]:
    """The rows of a file, none where there is no file."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()] if path.exists() else []


def judged(rows: Sequence[dict[str, Any]]) -> int:
    """How many programs were judged: one that six implementations ran counts as six."""
    return sum(row["statuses"].get("passed", 0) + row["statuses"].get("failed", 0) for row in rows)


def main() -> None:
    """Run blocks until the file has as many programs as wanted."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("results", type=Path)
    parser.add_argument("--programs", type=int, default=1_000_000)
    parser.add_argument("--shard", default="1/1")
    wanted = parser.parse_args()
    warnings.simplefilter("ignore")
    logging.disable(logging.WARNING)
    part, parts = map(int, wanted.shard.split("/"))
    known = {(row["group"], row["level"], row["start"]) for row in read(wanted.results)}
    for number, block in enumerate(blocks()):
        if judged(read(wanted.results)) >= wanted.programs:
            break
        if number % parts == part - 1 and block not in known:
            append(wanted.results, block.run())
    rows = read(wanted.results)
    print(f"{judged(rows)} programs, {sum(len(row['alarms']) for row in rows)} alarms")
    for row in rows:
        for name, number, reason in row["alarms"]:
            print(f"{name}, level {row['level']}, program {number} of {row['group']}: {reason}")


if __name__ == "__main__":
    main()
