"""Counts programs that emulated hardware runs as it declares, in blocks: there must be no alarm.

    python -m tests.oracle.counting_declared declared.jsonl --programs 10000 --shard 1/2

The emulations are those of ``refimpl.oracle.backends.emulations``. Those of every operator get graphs of the operators
that multiply matrices, for the others would mostly be copies of the reference; where subnormal numbers are flushed,
half of the blocks have numbers that are subnormal. Each block is a row of the file; what the file has
is not run again.
"""

from __future__ import annotations

import argparse
import logging
import warnings
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from refimpl.oracle import judge, program_of
from refimpl.oracle.backends import emulations
from refimpl.oracle.judging.comparing import Verdict
from refimpl.oracle.judging.statistical import draws_numbers
from refimpl.oracle.programs.values import array_of
from refimpl.oracle.scoring.fault_search import append

from .counting_alarms import counted, read

SEED, SIZE = 2, 250
NAMES = (
    "bfloat16", "float16", "tf32", "tf32_cut", "daz", "bfloat16_sums", "float16_sums", "double_sums", "separate",
    "contracted", "webgpu",
)
MULTIPLYING = frozenset((
    "FullyConnected", "dot", "batch_dot", "Convolution", "Deconvolution", "_linalg_gemm", "_linalg_gemm2",
    "_linalg_syrk", "_contrib_interleaved_matmul_selfatt_qk", "_contrib_interleaved_matmul_selfatt_valatt",
    "_contrib_DeformableConvolution", "RNN", "elemwise_add", "negative", "relu", "Reshape", "Flatten", "transpose",
))
SMALL = 2.0**-126
"""What numbers are multiplied by where they shall be about the smallest normal number."""


def capabilities_of(name: str) -> Any:
    """What is drawn for an emulation."""
    own = getattr(emulations, name).capabilities
    if own.operators is not None or name == "daz":
        return own._replace(level=2)
    return own._replace(level=2, operators=MULTIPLYING, corners=False)


def with_small_numbers(program: dict[str, Any]) -> dict[str, Any]:
    """A program with every other element of its arrays of single precision multiplied by SMALL."""
    arrays = {}
    if draws_numbers(program):  # which are judged by how many of them are 0, say
        return program
    for name, spec in program["arrays"].items():
        value = array_of(spec)
        if value.dtype.name == "float32":
            flat = value.reshape(-1).copy()
            flat[::2] *= np.float32(SMALL)
            spec = {"shape": spec["shape"], "dtype": "float32", "elements": [  # noqa: PLW2901
                x if np.isfinite(x) else 1.0 for x in flat.tolist()
            ]}
        arrays[name] = spec
    return {**program, "arrays": arrays}


class Block(NamedTuple):
    """Programs that are drawn and run together."""

    name: str
    level: int
    start: int

    def run(self) -> dict[str, Any]:
        """Run it; a row of the file."""
        backend, wanted = getattr(emulations, self.name), capabilities_of(self.name)
        is_small = "flushed" in backend.declares.as_fields() and self.start // SIZE % 2 == 1

        def verdicts() -> Iterator[tuple[list[Any], Verdict]]:
            for number in range(self.start, self.start + SIZE):
                program = program_of(SEED, number, wanted, level=self.level)
                yield [number], judge(backend, with_small_numbers(program) if is_small else program)

        return {**self._asdict(), "programs": SIZE, "seed": SEED, **counted(verdicts())}


def judged(rows: list[dict[str, Any]], name: str) -> int:
    """How many programs an emulation ran that were judged."""
    return sum(row["statuses"].get("passed", 0) + len(row["alarms"]) for row in rows if row["name"] == name)


def main() -> None:
    """Run blocks until every emulation has run as many programs as wanted."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("results", type=Path)
    parser.add_argument("--programs", type=int, default=10_000)
    parser.add_argument("--shard", default="1/1")
    wanted = parser.parse_args()
    warnings.simplefilter("ignore")
    logging.disable(logging.WARNING)
    part, parts = map(int, wanted.shard.split("/"))
    for turn in count():
        rows = read(wanted.results)
        left = [name for name in NAMES if judged(rows, name) < wanted.programs]
        if not left:
            break
        known = {(row["name"], row["level"], row["start"]) for row in rows}
        for name in left if turn % parts == part - 1 else ():
            block = Block(name, 1 + (turn % 4 > 0), turn * SIZE)
            if block not in known:
                append(wanted.results, block.run())
    for name in NAMES:
        own = [row for row in rows if row["name"] == name]
        print(f"{name}: {judged(rows, name)} programs, {sum(len(row['alarms']) for row in own)} alarms")
        for row in own:
            for number, reason in row["alarms"]:
                print(f"  level {row['level']}, program {number}: {reason}")


if __name__ == "__main__":
    main()
