"""The clause of an operator's page that decides a wrong number: by operator, parameters, place, and the values there.

Every clause of the page gets points for what it says of the case, and loses points for what it says of another case:
another operator of the page, another choice of a parameter, a tie, a zero, a NaN or an index out of range that the
program does not have. The clause with the most points decides, of equal ones the first.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping, Sequence
from functools import cache
from types import MappingProxyType
from typing import Any, Literal, NamedTuple, get_args, get_origin, get_type_hints

import numpy as np

from ...base import decides
from ...kernels.foundation import Op, get
from ...kernels.foundation.params import defaults
from ...kernels.foundation.refusal import MXNetError
from ...op_registry.pages import Clause, clauses, family
from ...symbol.calls import attribute_text
from ..judging.comparing import Mismatch
from ..judging.reference import Program
from ..programs.values import array_of

ABOUT = {
    "gradient": ("gradient", "grad", "backward", "slope"),
    "state": ("moving", "state", "running", "auxiliary", "master"),
    "shape": ("shape", "sides", "output"),
    "dtype": ("type", "types", "dtype"),
    "output": ("formula", "functions", "elementwise", "result", "value", "rule", "row", "sum", "output"),
}
"""What goes wrong -> words in a clause's slug, the best first."""
FORM = {"shape", "shapes", "type", "types", "floating", "required", "sides", "dtype", "rank", "fits"}
"""Words in the slugs of clauses that say which calls are right, not which numbers."""
CONDITIONS = {
    "zero": r"(?<!-)\bzero\b(?=$|-)|^at-zero", "tie": r"\b(ties|tie|first)\b", "nan": r"\b(nan|not-a-number)\b",
    "outside": r"\b(clip|wrap|range|outside|raise|mode)\b", "fraction": r"\bwhole\b",
    "large": r"\b(extremes|overflow|stable)\b", "comparison": r"\bcomparison\b",
}
"""What the wrong elements have in common -> how the slugs of clauses call it."""
OUTSIDE = re.compile(r"outside|below 0|past the end|out of range")
COMPARED = re.compile(r"\b(as|like|than) \w+")
FORMULA = re.compile(r"^out\S* =")
COMPARISONS = re.compile("equal|greater|lesser|logical")
INDICES = {"indices", "index"}
"""Names of inputs that are places; so is the data of Embedding."""


class Case(NamedTuple):
    """What is wrong, as far as pages can tell it apart."""

    operator: str
    place: str
    attrs: Mapping[str, str] = MappingProxyType({})
    needed: Sequence[str] = ()
    """Parameters without which the program passes."""
    conditions: frozenset[str] = frozenset()


@decides("oracle/clause")
def decisive(case: Case) -> str:
    """The clause of the operator's page that decides a case; empty where no clause says anything of it.

    Args:
        case: what is wrong.
    """
    try:
        op = get(case.operator)
        found = clauses(op)
    except MXNetError:
        return ""
    if COMPARISONS.search(op.name):
        case = case._replace(conditions=case.conditions | {"comparison"})
    points = [sum(rule(clause, op, case) for rule in RULES) for clause in found]
    return found[points.index(max(points))].name if max(points, default=0.0) > 0 else ""


def _slug(clause: Clause) -> str:
    return clause.name.partition("/")[2]


def _words(text: str) -> set[str]:
    return set(re.findall(r"\w+", text))


def _of_operator(clause: Clause, op: Op, case: Case) -> float:
    """Clauses of other operators on the page say nothing of this one."""
    own = {op.name, *op.aliases, case.operator} | {name.removeprefix("_") for name in (op.name, *op.aliases)}
    named = {name for other in family(op) for name in (other.name, *other.aliases, other.name.removeprefix("_"))}
    prefix, said = clause.name.partition("/")[0], _words(COMPARED.sub("", clause.text))
    lead = clauses(op)[0].name.partition("/")[0]  # whose clauses hold for the page
    if prefix in named - own - {lead}:
        return -4.0
    if prefix in own or said & own:
        return 4.0
    return -4.0 if said & named else 1.0


def _of_place(clause: Clause, _: Op, case: Case) -> float:
    """A clause on gradients says nothing of an output, and one on shapes nothing of numbers."""
    slug = _slug(clause).split("-")
    words = ABOUT.get(case.place, ABOUT["output"])
    points = max((3.0 - index / 4 for index, word in enumerate(words) if word in slug), default=0.0)
    if case.place not in ("shape", "dtype", "missing") and FORM & set(slug):
        points -= 5.0
    if case.place == "gradient":
        return points + 1.5 * bool(_words(clause.text) & {"gradient", "slope", "gradients", "slopes"})
    return points + 2.0 * bool(FORMULA.search(clause.text)) - 4.0 * bool(set(ABOUT["gradient"]) & set(slug))


def _of_conditions(clause: Clause, _: Op, case: Case) -> float:
    """A tie, a zero, a NaN, an index out of range: a clause on these decides where the wrong elements have them."""
    points = 0.0
    for name, pattern in CONDITIONS.items():
        about = bool(re.search(pattern, _slug(clause)))
        if name == "outside":
            about = about and bool(OUTSIDE.search(clause.text) or "take" in clause.text)
        if about:
            points += 6.0 if name in case.conditions else -2.0 if name == "outside" else -5.0
    return points


def _of_choices(clause: Clause, op: Op, case: Case) -> float:
    """A clause on another choice of a parameter (``act_type=selu``) says nothing of this one."""
    points, slug, said = 0.0, set(_slug(clause).split("-")), _words(clause.text)
    usual = defaults(op.params)
    for name, choices in choices_of(op).items():
        chosen = case.attrs.get(name, attribute_text(usual.get(name)))
        others = choices - {chosen}
        if chosen in slug:
            points += 4.0
        elif others & slug:
            points -= 6.0
        elif chosen in said:
            points += 0.5
        elif others & said:
            points -= 2.0
        shown = [values for kind, _, values in calls_of(clause) if (kind == "grad") == (case.place == "gradient")]
        points += 0.5 * any(values.get(name) == chosen for values in shown)
    return points


def _of_parameters(clause: Clause, op: Op, case: Case) -> float:
    """A clause that has the name of a parameter decides where the program needs that parameter."""
    points, slug = 0.0, set(_slug(clause).split("-"))
    usual = {name: attribute_text(value) for name, value in defaults(op.params).items()}
    for name in getattr(op.params, "__annotations__", ()):
        if not set(name.split("_")) & slug - {"data", "output", "mode", "type"}:
            continue
        if name in case.needed:
            points += 5.0
        elif case.attrs.get(name, usual.get(name)) != usual.get(name):
            points += 1.0
        else:
            points -= 0.5
    return points


RULES = (_of_operator, _of_place, _of_conditions, _of_choices, _of_parameters)


@cache
def choices_of(op: Op) -> dict[str, set[str]]:
    """Parameter -> the words that it may be.

    Args:
        op: an operator.
    """
    found = {}
    for name, hint in get_type_hints(op.params).items():
        if get_origin(hint) is Literal:
            words = {each for each in get_args(hint) if isinstance(each, str)}
            found[name] = {word for word in words if not word.startswith(("float", "int", "uint"))}
    return {name: words for name, words in found.items() if words}


@cache
def calls_of(clause: Clause) -> list[tuple[str, str, dict[str, Any]]]:
    """The calls of a clause's examples: run or grad, the operator, and parameters that are literals.

    Args:
        clause: of a page.
    """
    found = []
    for example in clause.examples:
        source = "\n".join(line.strip()[4:] for line in example.splitlines() if line.strip().startswith((">>>", "...")))
        for node in ast.walk(ast.parse(source)):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("run", "grad"):
                given = {word.arg: word.value.value for word in node.keywords
                         if word.arg and isinstance(word.value, ast.Constant)}
                first = node.args[0] if node.args else None
                name = first.value if isinstance(first, ast.Constant) else ""
                found.append((node.func.id, str(name), given))
    return found


def conditions_of(program: Program, operator: str, mismatch: Mismatch | None) -> frozenset[str]:
    """What the wrong elements have in common: "zero", "tie", "nan", "outside", "fraction".

    Args:
        program: a program whose node of that operator reads variables.
        operator: its name.
        mismatch: what differs in it.
    """
    node = next((node for node in program.get("nodes", ()) if node["op"] == operator), None)
    if node is None:
        return frozenset()
    values = [_value(program, number) for number, _ in node.get("inputs", ())]
    given = [value for value in values if value is not None]
    found = {"nan"} if any(not np.isfinite(value).all() for value in given) else set()
    found |= _of_indices(node, get(operator), values)
    wrong = None if mismatch is None else mismatch.wrong
    if wrong is None:
        return frozenset(found)
    return frozenset(found | _of_equals(given, wrong))


def _of_equals(given: Sequence[np.ndarray], wrong: np.ndarray) -> set[str]:
    """Whether the inputs are 0 at all wrong elements, or equal to another element there."""
    alike = [value for value in given if value.shape == wrong.shape]
    found = {"zero"} if any((value[wrong] == 0).all() for value in alike) else set()
    if len(given) == 1:
        elements = alike[0][wrong].reshape(-1) if alike else np.empty(0)
        several = all((given[0] == each).sum() > 1 for each in elements)
        tie = several if alike else np.unique(given[0]).size < given[0].size
    else:
        tie = len(alike) > 1 and bool((alike[0][wrong] == alike[1][wrong]).all())
    return found | ({"tie"} if tie else set())


def _value(program: Program, number: int) -> np.ndarray | None:
    spec = program["arrays"].get(program["nodes"][number]["name"]) if program["nodes"][number]["op"] == "null" else None
    return None if spec is None else array_of(spec).astype(np.float64)


def _of_indices(node: dict[str, Any], op: Op, values: Sequence[np.ndarray | None]) -> set[str]:
    """Whether indices among the inputs lie outside, or are no whole numbers."""
    params = op.parse(node.get("attrs", {}))
    names = op.inputs(params) if callable(op.inputs) else op.inputs
    data = next((v for v, name in zip(values, names, strict=False) if v is not None and name not in INDICES), None)
    side = getattr(params, "input_dim", None) or getattr(params, "depth", None)
    if side is None and data is not None and data.ndim:
        axis = getattr(params, "axis", 0)
        side = data.shape[axis] if isinstance(axis, int) and -data.ndim <= axis < data.ndim else max(data.shape)
    found: set[str] = set()
    for name, value in zip(names, values, strict=False):
        if value is not None and (name in INDICES or (op.name == "Embedding" and name == "data")):
            whole = np.trunc(value)
            found |= {"fraction"} if (whole != value).any() else set()
            found |= {"outside"} if (whole < 0).any() or (side is not None and (whole >= side).any()) else set()
    return found
