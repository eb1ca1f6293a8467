"""What a search has not reached of what the implementation offers, and why."""

from __future__ import annotations

from ..base import decides
from .coverage import axes
from .drawing.drawn_graphs import drawable
from .drawing.drawn_optimizers import RULES
from .numbering import DRAWERS
from .results import Result

JUDGED = ("passed", "failed", "unconfirmed", "known", "expected")
"""Statuses of programs that were judged."""
GRAPHS, GRADIENTS, OPTIMIZERS = {1, 2, 3, 4}, {2, 3, 4}, {5}
"""Levels whose programs have a graph, gradients, or an optimizer alone."""
MOST = 12
"""Names that one line gives; further ones are counted."""


@decides("oracle/unreached")
def unreached(result: Result) -> dict[str, list[str]]:
    """Axis -> what the implementation offers and no judged program had; axes of which nothing is missing are left out.

    Operators and the rest are asked of the levels that were searched alone.

    Args:
        result: of a search.
    """
    capabilities = result.capabilities
    if capabilities is None:
        return {}
    searched = {level for level, counts in result.levels.items() if any(counts[status] for status in JUDGED)}
    covered = axes(result.covered)
    asked = {"none" if each == "null" else each for each in capabilities.requirements}
    offered: dict[str, tuple[set[str], set[str]]] = {
        "levels": ({str(level) for level in DRAWERS if capabilities.offers(level)}, {str(each) for each in searched}),
    }
    if searched & GRAPHS:
        offered["operators"] = ({n for n in drawable() if capabilities.has(n)}, set(covered["operator"]))
        offered["dtypes"] = set(capabilities.dtypes), set(covered["dtype"])
    if searched & GRADIENTS:
        offered["requirements"] = asked, set(covered["requirement"])
        offered["modes"] = {"train", "predict"}, set(covered["mode"])
    if searched & OPTIMIZERS:
        offered["optimizers"] = {f"optimizer {name}" for name in RULES}, set(covered["operator"])
    missing = {axis: sorted(every - seen) for axis, (every, seen) in offered.items()}
    return {axis: names for axis, names in missing.items() if names}


def reached(result: Result) -> list[str]:
    """What was not reached, level by level and axis by axis, and why programs were not supported: a line each.

    Args:
        result: of a search.
    """
    lines = []
    for level, counts in sorted(result.levels.items()):
        told = ", ".join(f"{count} {status}" for status, count in sorted(counts.items()))
        lines.append(f"level {level}: {sum(counts.values())} programs{': ' if told else ''}{told}")
    for axis, names in unreached(result).items():
        more = f" and {len(names) - MOST} more" if len(names) > MOST else ""
        lines.append(f"not reached, {len(names)} {axis}: {', '.join(names[:MOST])}{more}")
    for reason, count in result.unsupported.most_common(MOST):
        lines.append(f"unsupported, {count} programs: {reason}")
    rest = sum(result.unsupported.values()) - sum(count for _, count in result.unsupported.most_common(MOST))
    if rest:
        lines.append(f"unsupported, {rest} programs: other reasons")
    lines += [f"warning: {text}" for text in result.warnings]
    return lines
