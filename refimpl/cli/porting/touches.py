"""Which deviations from MXNet a script touches, as far as the names that it uses can tell."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any, NamedTuple

from ...base import decides
from ...kernels.foundation import REGISTRY
from ...op_registry import facts
from ...optimizer import Optimizer
from ...quirks import quirks
from ...rules import deviations

_PREFIXES = ("", "_contrib_", "_linalg_", "_random_", "_sample_", "_image_", "_sparse_", "_")

SUBJECTS: dict[str, tuple[str, ...]] = {
    "AdaDelta": ("AdaDelta",), "AdaMax": ("Adamax",), "BucketSentenceIter": ("BucketSentenceIter",),
    "Bucketing": ("BucketingModule",), "CSVIter": ("CSVIter",), "Custom": ("CustomOp", "CustomOpProp", "Custom"),
    "DCASGD": ("DCASGD",), "DataIter": ("DataIter",), "Executor": ("simple_bind", "bind", "Executor"),
    "ExecutorGroup": ("Module", "BucketingModule", "DataParallelExecutorGroup"),
    "ExecutorManager": ("DataParallelExecutorManager",), "FeedForward": ("FeedForward",),
    "ImageRecordIter": ("ImageRecordIter", "ImageDetRecordIter"), "KVStore": ("kv", "kvstore"), "LARS": ("LARS",),
    "LBSGD": ("LBSGD",), "LRScheduler": ("lr_scheduler",), "LibSVMIter": ("LibSVMIter",), "MNISTIter": ("MNISTIter",),
    "Metric": ("metric",), "Module": ("Module", "BucketingModule", "SVRGModule"),
    "NAG": ("NAG",), "NDArrayIter": ("NDArrayIter",),
    "Nadam": ("Nadam",), "Optimizer": ("opt", "optimizer"), "PrefetchingIter": ("PrefetchingIter",),
    "Profiler": ("profiler",), "ProgressBar": ("ProgressBar",), "PythonModule": ("PythonModule", "PythonLossModule"),
    "RecordIO": ("recordio",), "SVRG": ("SVRGModule", "svrg_optimization"), "Sequential": ("SequentialModule",),
    "Signum": ("Signum",), "Sparse": ("sparse",), "Speedometer": ("Speedometer",),
    "Visualization": ("viz", "visualization"),
    "autograd": ("autograd",), "control-flow": ("foreach", "while_loop", "cond"), "random": ("random", "rnd"),
    "rnn": ("rnn",), "test_utils": ("test_utils",), "Initializer": ("init", "initializer"),
    "encode_sentences": ("encode_sentences",), "gradient": ("simple_bind", "bind", "Module"),
}
"""Subject of a clause -> parts of dotted names that touch it. Operators are found by their pages."""


class Deviation(NamedTuple):
    """A row of the chapters on deviations."""

    clause: str
    upstream: str
    here: str


@cache
def rows() -> list[Deviation]:
    """Every row, in the order of the chapters."""
    return [Deviation(*row) for row in deviations.rows()]


def _operator_clauses(name: str) -> Iterable[str]:
    own = name.rpartition(".")[2]
    for prefix in _PREFIXES:
        op = REGISTRY.get(prefix + own)
        if op is not None:
            return [clause.name for clause in facts.clauses(op)]
    return []


def _of_operators(name: str) -> bool:
    return name.split(".")[1:2] in (["nd"], ["ndarray"], ["sym"], ["symbol"], ["contrib"])


@decides("check/deviations")
def touched(names: Iterable[str], words: Iterable[str]) -> list[Deviation]:
    """The rows that a script touches.

    Args:
        names: dotted names of MXNet that it uses.
        words: texts that it holds; an optimizer is often given by its name.
    """
    names = set(names)
    parts = {part for name in names for part in name.split(".")[1:]}
    if names:
        chosen = (Optimizer.opt_registry.get(word.lower()) for word in words)
        parts |= {kind.__name__ for kind in chosen if kind is not None}
    clauses = {clause for name in names if _of_operators(name) for clause in _operator_clauses(name)}
    subjects = {subject for subject, touching in SUBJECTS.items() if parts & set(touching)}
    return [row for row in rows() if row.clause in clauses or row.clause.partition("/")[0] in subjects]


@decides("Inspect/touches")
def of_operators(names: Iterable[str]) -> dict[str, list[dict[str, Any]]]:
    """The quirks and deviations of operators, as plain data; each names the operators that it concerns."""
    concerned: dict[str, list[str]] = {}
    for name in names:
        op = REGISTRY.get(name)
        for clause in facts.clauses(op) if op is not None else ():
            concerned.setdefault(clause.name, []).append(name)
    return {
        "quirks": [
            {"name": quirk.name, **_row(quirk.clause, concerned, quirk.upstream, quirk.reason)}
            for quirk in quirks if quirk.clause in concerned
        ],
        "deviations": [
            _row(row.clause, concerned, row.upstream, row.here) for row in rows() if row.clause in concerned
        ],
    }


def _row(clause: str, concerned: Mapping[str, list[str]], upstream: str, here: str) -> dict[str, Any]:
    return {"clause": clause, "operators": sorted(set(concerned[clause])), "mxnet": upstream, "here": here}
