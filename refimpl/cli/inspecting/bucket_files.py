"""The buckets of a checkpoint that a BucketingModule wrote: networks that share one file of parameters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ...base import MXNetError, decides
from ..options import bucket_keys
from . import files, graph
from .files import Problem
from .graph import Variables


class Listed(NamedTuple):
    """The keys that ``PREFIX.buckets`` lists, and the problems of this file."""

    keys: list[int]
    problems: list[Problem]


@decides("Inspect/buckets")
def listed(prefix: str) -> Listed:
    """The buckets of a checkpoint; none where it has no list of them."""
    try:
        return Listed(bucket_keys(prefix), [])
    except MXNetError as error:
        file = f"{prefix}.buckets"
        return Listed([], [Problem("damaged-file", file, files.plain(error))])


@decides("Inspect/buckets")
def variables(
    prefix: str, chosen: Variables | None, others: Sequence[int]
) -> tuple[Variables | None, list[Problem]]:
    """The variables of all buckets together, and the files of other buckets that are missing or damaged."""
    problems: list[Problem] = []
    made = chosen
    for key in others:
        content = files.opened(f"{prefix}-{key}-symbol.json")
        net, told = graph.graph(content)
        problems += told if content.problem is None else [content.problem]
        if net.variables is None:
            made = None  # what its network needs is not known
        elif made is not None:
            made = Variables(
                list(dict.fromkeys([*made.arguments, *net.variables.arguments])),
                list(dict.fromkeys([*made.auxiliary, *net.variables.auxiliary])),
                made.learned | net.variables.learned, made.whole and net.variables.whole,
            )
    return made, problems


__all__ = ["Listed", "listed", "variables"]
