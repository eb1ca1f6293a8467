"""The rules behind each part of a training step, and their words.

The rules of operators are read from their pages, those of the chapters from ``mx.rules``.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from ..base import decides
from ..kernels.foundation import REGISTRY, Op
from ..op_registry import pages as operator_pages
from ..rules import rules

CITED: dict[str, tuple[str, ...]] = {
    "slices": (
        "split/partition", "split/half-to-even", "split/shortfall", "split/excess", "ExecutorGroup/work-load",
        "ExecutorGroup/one-batch-size", "ExecutorGroup/no-batch-axis", "ExecutorGroup/load-numpy",
    ),
    "graph": (
        "infer/fixpoint", "gradient/chain", "gradient/unreached", "ExecutorGroup/grad-req",
        "Executor/grad-req-independent", "Executor/current-arguments",
    ),
    "memory": (
        "memory/lifetime", "memory/inplace", "memory/views", "memory/in-outputs", "memory/contexts",
        "memory/plan-changes-nothing", "Executor/outputs-keep-memory",
    ),
    "times": ("Profiler/operators", "ExecutorGroup/side-by-side", "ExecutorGroup/deterministic"),
    "store": ("KVStore/decision", "KVStore/push-copies", "KVStore/push-order", "ExecutorGroup/same-result"),
    "store, summing as local": ("KVStore/sum-order-local",),
    "store, summing as device": ("KVStore/sum-order-device",),
    "store, updating": ("KVStore/update-on-store", "KVStore/updater", "KVStore/pull-copies"),
    "store, not updating": ("KVStore/update-on-devices",),
    "store of a cluster": (
        "Cluster/sync-round", "Cluster/rank-order", "Cluster/pull-own", "Cluster/placement", "Cluster/module",
    ),
    "corrections": (
        "SVRG/step", "SVRG/full-gradient", "SVRG/mean-once", "SVRG/snapshot-follows", "SVRG/batch-size",
    ),
    "buckets": (
        "Bucketing/parameters", "Bucketing/memory", "Bucketing/largest-first", "Bucketing/optimizer",
        "memory/shared-pool",
    ),
    "no store": ("KVStore/decision", "KVStore/update-on-devices", "Module/no-store"),
    "update": (
        "Optimizer/gradient", "Module/rescale", "Optimizer/learning-rate", "Optimizer/multipliers",
        "Optimizer/no-decay", "Optimizer/counts", "Updater/states",
    ),
    "update by SGD": ("SGD/plain", "SGD/with-momentum"),
}
"""Part of a step -> the rules of the chapters that decide it."""


class Rule(NamedTuple):
    """The text of a rule, its file, and a worked example where the rule has one."""

    text: str
    place: str
    example: str = ""


def _of_chapter(name: str) -> Rule:
    found = rules[name]
    return Rule(found.text, found.written, found.example)


def of_operator(op: Op) -> dict[str, Rule]:
    """Rules of an operator by name, from its page."""
    place = operator_pages.file_of(op)
    return {
        clause.name: Rule(clause.text, place, "\n".join(clause.examples)) for clause in operator_pages.clauses(op)
    }


def of_optimizer(kind: str) -> dict[str, Rule]:
    """Rules of an optimizer by the name of its class: of its operator's page, where it has one."""
    op = REGISTRY.get(f"{kind.lower()}_update")
    chapter = {name: _of_chapter(name) for name in CITED.get(f"update by {kind}", ())}
    return {**chapter, **(of_operator(op) if op is not None else {})}


@decides("Explain/rules")
def words(names: Iterable[str], more: dict[str, Rule]) -> dict[str, dict[str, Any]]:
    """The text of each named rule, as plain data; ``more`` holds the rules that are in no chapter."""
    return {name: (more.get(name) or _of_chapter(name))._asdict() for name in names}
