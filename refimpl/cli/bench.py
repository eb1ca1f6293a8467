"""``refimpl bench``: how fast this machine runs networks, operators and graphs."""

from __future__ import annotations

import json
import sys
from enum import Enum
from pathlib import Path
from typing import Annotated

import typer

from .benchmark import interleaving, markdown
from .benchmark.rows import GROUPS

GroupName = Enum("GroupName", {name: name for name in GROUPS}, type=str)  # type: ignore[misc]
Clock = Enum("Clock", {"wall": "wall", "cpu": "cpu"}, type=str)


def bench(
    groups: Annotated[list[GroupName] | None, typer.Argument(help="What to measure; everything by default.")] = None,
    only: Annotated[str, typer.Option(help="Rows whose name has this in it.")] = "",
    rounds: Annotated[int, typer.Option(min=1, help="A time is the median of so many.")] = 5,
    clock: Annotated[Clock, typer.Option(help="cpu: processor time, where the machine is busy.")] = Clock.wall,
    output: Annotated[Path | None, typer.Option("--json", help="Write what was found here.")] = None,
) -> None:
    """Time networks, operators, graphs and starting, as fractions of the peak of one core.

    A checkout also compares with MXNet and PyTorch: python -m tests.bench --help.
    """
    chosen = tuple(each.value for each in groups) if groups else tuple(GROUPS)
    wanted = interleaving.Wanted(chosen, {interleaving.OURS: sys.executable}, rounds, clock.value, only)
    found = interleaving.run(wanted, markdown.tell)
    if output is not None:
        output.write_text(json.dumps(found, indent=1), encoding="utf-8")
    print(markdown.markdown(found), end="")
