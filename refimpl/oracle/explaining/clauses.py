"""The clause that a failing program breaks.

The executor writes the memory of gradients, so the mechanisms of this memory have clauses of their own. For all other
failures of levels 1 and 2 the page of the first wrong operator has the clause, see ``page_clauses``. Above level 2 the
step decides, and of an optimizer the parameters of the shrunk program.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..judging.comparing import Mismatch
from ..judging.reference import Program
from .causes import ADDING, Cause
from .locating import Where
from .page_clauses import Case, conditions_of, decisive

STEPS: dict[int, dict[str, str]] = {
    3: {
        "create": "Module/contexts", "bind": "Module/bind-twice", "init_params": "Module/given-parameters",
        "set_params": "Module/params-reach-store", "init_optimizer": "Module/rescale",
        "forward": "ExecutorGroup/merge", "backward": "ExecutorGroup/head-gradients",
        "forward_backward": "ExecutorGroup/merge", "update": "Module/rescale", "get_params": "Module/params-mean",
        "reshape": "Module/reshape", "share": "Module/shared-module", "borrow": "Module/borrow-names",
        "save": "Module/checkpoint", "load": "Module/checkpoint", "save_states": "Module/checkpoint",
        "load_states": "Module/checkpoint", "update_metric": "ExecutorGroup/metric",
        "score": "Module/score-counts-padding", "predict": "Module/predict-pad", "fit": "Module/fit",
        "set_states": "Module/states", "get_states": "Module/states", "use": "Module/own-modules",
        "shapes": "Module/reshape", "infer": "infer/sources",
    },
    4: {
        "switch": "Bucketing/switch", "forward": "Bucketing/forward", "forward_backward": "Bucketing/forward",
        "get_params": "Bucketing/equals-padded", "update": "Bucketing/equals-padded",
        "full_pass": "SVRG/full-gradient", "prepare": "Bucketing/prepare",
    },
    5: {
        "create": "Optimizer/create", "multiply": "Optimizer/multipliers", "resume": "Updater/resume",
        "set_rate": "Optimizer/learning-rate", "read": "Optimizer/counts",
    },
    6: {
        "create": "KVStore/types", "init": "KVStore/init-copies", "broadcast": "KVStore/init-copies",
        "push": "KVStore/push-merges", "pushpull": "KVStore/pushpull", "pull": "KVStore/pull-copies",
        "row_sparse_pull": "KVStore/row-sparse-pull", "updater": "KVStore/updater",
        "optimizer": "KVStore/set-optimizer", "compress": "KVStore/compression", "save": "KVStore/states",
        "load": "KVStore/states", "barrier": "KVStore/types",
    },
}
"""Level -> step -> the clause that says what it lets one see; level 4 has those of level 3 too."""
RULES = {
    "sgd": "SGD/plain", "nag": "NAG/rule", "signum": "Signum/rule", "sgld": "SGLD/rule", "dcasgd": "DCASGD/rule",
    "test": "Test/rule", "lars": "LARS/rule", "lbsgd": "LBSGD/rule", "lamb": "LAMB/rule", "adagrad": "AdaGrad/rule",
    "groupadagrad": "GroupAdaGrad/rule", "adadelta": "AdaDelta/rule", "rmsprop": "RMSProp/rule", "adam": "Adam/rule",
    "adamax": "AdaMax/rule", "nadam": "Nadam/rule", "ftrl": "FTRL/rule", "ftml": "FTML/rule",
}
"""Optimizer -> the clause of its rule."""
OF_PARAMETERS = (
    ("Optimizer/multi-precision", frozenset(RULES), frozenset({"multi_precision"})),
    ("SGD/with-momentum", frozenset({"sgd", "ccsgd"}), frozenset({"momentum"})),
    ("DCASGD/with-momentum", frozenset({"dcasgd"}), frozenset({"momentum"})),
    ("Optimizer/lazy", frozenset(RULES), frozenset({"lazy_update"})),
)
"""Clauses that decide where an optimizer of some still needs a parameter after shrinking."""


def _of_requirement(program: Program, cause: Cause, passing: Sequence[str]) -> str:
    """The clause on the memory of gradients, if the failure is there; else None."""
    if cause.look in ADDING and cause.requirement.startswith("add"):
        return "Executor/grad-req-add"
    if "repeated" in cause.requirement:
        return "Executor/repeatable"
    wanted = [pair for step in program["steps"] for pair in (step.get("requirements") or {}).items()]
    if any(f"{name}=write" in passing for name, requirement in wanted if requirement == "add"):
        return "Executor/grad-req-add"
    if any(f"{name}=write" in passing for name, requirement in wanted if requirement == "null"):
        return "Executor/grad-req-independent"
    return ""


def clause_of(
    program: Program, cause: Cause, where: Where, passing: Sequence[str] = (), mismatch: Mismatch | None = None
) -> str:
    """The name of the clause that decides; empty where no page has one.

    Args:
        program: the shrunk program.
        cause: its cause.
        where: its first wrong node or step.
        passing: changes with which it passes, see ``neighbours``.
        mismatch: what differs in it first.
    """
    if program["level"] > 2:
        return _of_step(program, where)
    if cause.consumers == "many" or where.part == "sum":
        return "gradient/chain"
    if cause.place == "gradient" and (clause := _of_requirement(program, cause, passing)):
        return clause
    operator = where.operator or cause.operator.split("+")[0]
    alone = where.program or program
    node: dict[str, Any] = next((node for node in alone["nodes"] if node["op"] == operator), {})
    needed = [change.partition(" without ")[2].partition("=")[0] for change in passing if " without " in change]
    conditions = conditions_of(alone, operator, where.first or mismatch)
    return decisive(Case(operator, cause.place, node.get("attrs", {}), needed, conditions))


def _of_rule(program: Program, name: str) -> str:
    """The clause of an optimizer's rule: what a shrunk program still has decides."""
    parameters = {key for step in program["steps"] for key in step.get("parameters", ())}
    for clause, rules, needed in OF_PARAMETERS:
        if name in rules and needed & parameters:
            return clause
    return RULES.get(name, "Optimizer/create")


def _of_step(program: Program, where: Where) -> str:
    level = program["level"]
    if level not in STEPS:
        return ""
    do = program["steps"][where.step]["do"]
    if level == 5 and do == "update":
        names = [step["optimizer"] for step in program["steps"] if step.get("optimizer")]
        return _of_rule(program, names[0].lower()) if names else ""
    if level == 4 and do == "update" and any(step["do"] == "create_svrg" for step in program["steps"]):
        return "SVRG/step"
    return STEPS[level].get(do) or (STEPS[3].get(do, "") if level == 4 else "")
