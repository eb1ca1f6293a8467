"""One mechanism behind the root causes of several operators.

    the same function   their formulas share a function (a division, ``exp``), their numbers are wrong to the same
                        extent, and at least half of the operators that were run and have the function are wrong;
    the same ratio      every wrong number is the right one times one factor;
    the same form       arrays of one type come as another, or are refused with one sentence.
"""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from ..base import decides
from .drawing.choices import Capabilities
from .drawing.drawn_graphs import drawable
from .explaining.causes import SHARED
from .explaining.shared_functions import functions_of
from .probing import single
from .programs.program import operators
from .triage_entries import Entry, Root

CLOSE = 5.0
"""How many powers of two the errors of one mechanism may be apart."""
EVEN = 2.0**-21
"""How far the ratios of got to expected may be apart that are called one: some roundings of float32."""
DIFFERENT = 3
"""Different numbers of one cause that have one ratio by no chance."""
HALF = 0.5
"""The part of the operators with a function that must be wrong for the function to be at fault."""
SEEN_OFTEN = 3
"""Programs in which an operator was right often enough to speak for its functions."""
FORM = re.compile(r"has type (\w+), expected (\w+)")


class Mechanism(NamedTuple):
    """Root causes that have one mechanism."""

    text: str
    """What they share, empty for a root cause alone."""
    roots: list[Root]

    @property
    def operators(self) -> list[str]:
        """The operators of all causes, in order."""
        return sorted({entry.cause.operator or entry.cause.mode for root in self.roots for entry in root.entries})


@decides("oracle/mechanisms")
def mechanisms(roots: Sequence[Root], covered: Mapping[str, int]) -> list[Mechanism]:
    """Root causes, merged across operators, in the order in which they were first seen.

    Args:
        roots: see ``triage.roots``.
        covered: operator -> in how many programs it ran.
    """
    found: list[Mechanism] = []
    left = list(roots)
    for test in (_same_form, _same_ratio, lambda some: _same_function(some, covered)):
        for text, group in test(left):
            if len({_operator(root) for root in group}) > 1:
                found.append(Mechanism(text, group))
                left = [root for root in left if root not in group]
    found += [Mechanism("", [root]) for root in left]
    return sorted(found, key=lambda each: min(entry.seconds for root in each.roots for entry in root.entries))


def _operator(root: Root) -> str:
    """The first wrong operator, of level 5 the optimizer."""
    first = root.entries[0]
    return first.operator or first.cause.operator or first.cause.mode


def _same_form(roots: Sequence[Root]) -> Iterable[tuple[str, list[Root]]]:
    """Arrays that come in another type, and refusals with the same words."""
    groups: dict[str, list[Root]] = defaultdict(list)
    for root in roots:
        first = root.entries[0]
        if first.cause.place == "dtype" and (form := FORM.search(first.reason)):
            groups[f"type {form[1]} instead of {form[2]}"].append(root)
        elif first.cause.place == "refused" and first.cause.look:
            groups[f"refused: {first.cause.look}"].append(root)
    return list(groups.items())


def _same_ratio(roots: Sequence[Root]) -> Iterable[tuple[str, list[Root]]]:
    """Numbers that are the right ones times one factor, near 1 but not 1."""
    groups: list[tuple[float, list[Root]]] = []
    for root in roots:
        ratio = _ratio(root.entries[0])
        for known, group in groups:
            if ratio is not None and abs(ratio - known) <= EVEN:
                group.append(root)
                break
        else:
            groups += [(ratio, [root])] if ratio is not None else []
    groups = [(ratio, group) for ratio, group in groups if any(map(_is_evidence, group))]
    return [(f"every number is {ratio:.5g} times the right one", group) for ratio, group in groups]


def _is_evidence(root: Root) -> bool:
    """Whether no function explains the ratio: several numbers have it, or the operator evaluates none."""
    first = root.entries[0]
    return len({right for _, right in first.wrong}) >= DIFFERENT or not functions_of(first.program)


def _ratio(entry: Entry) -> float | None:
    """The one ratio of got to expected in all wrong elements, between a half and two; None where there are several."""
    ratios = [got / right for got, right in entry.wrong if right and math.isfinite(got) and math.isfinite(right)]
    if not ratios or len(ratios) < len(entry.wrong) or entry.cause.look in SHARED:
        return None
    middle = sorted(ratios)[len(ratios) // 2]
    return middle if 0.5 < middle < 2 and all(abs(ratio - middle) <= EVEN for ratio in ratios) else None


def _same_function(roots: Sequence[Root], covered: Mapping[str, int]) -> Iterable[tuple[str, list[Root]]]:
    """The function that explains most causes first, then the next among what is left."""
    bits = {id(root): bits for root in roots if (bits := error_bits(root.entries[0])) is not None}
    left = [root for root in roots if id(root) in bits]
    functions = {id(root): functions_of(root.entries[0].program) for root in left}
    shared = [name for several in functions.values() for name in several]
    if len(shared) == len(set(shared)):
        return []  # no function stands behind two of them
    wrong = {name for root in roots for entry in root.entries for name in (entry.operator, *operators(entry.program))}
    right = _right(covered, wrong)
    found: list[tuple[str, list[Root]]] = []
    while group := _most_explained(sorted(set(shared)), left, functions, bits, right):
        name, several = group
        middle = sorted(bits[id(root)] for root in several)[len(several) // 2]
        most = f"{right[name]} with it are right" if right[name] else "none with it is right"
        found.append((f"{name} is wrong by about 2^{middle:.0f} of its result; {most}", several))
        left = [root for root in left if root not in several]
    return found


def _most_explained(
    names: Sequence[str], roots: Sequence[Root], functions: Mapping[int, frozenset[str]], bits: Mapping[int, float],
    right: Mapping[str, int],
) -> tuple[str, list[Root]] | None:
    """The function of which the largest part of all operators is wrong, and its root causes; None below HALF."""
    groups = {name: _largest(name, roots, functions, bits) for name in names}
    parts = {name: len(group) / (len(group) + right[name]) for name, group in groups.items() if len(group) > 1}
    best = max(parts, default="", key=lambda name: (parts[name], len(groups[name])))
    return (best, groups[best]) if parts.get(best, 0.0) >= HALF else None


def _largest(
    name: str, roots: Sequence[Root], functions: Mapping[int, frozenset[str]], bits: Mapping[int, float]
) -> list[Root]:
    """The most root causes with a function whose errors are close and whose variants do not speak against it."""
    having = [root for root in roots if name in functions[id(root)]]
    groups = []
    for one in having:
        near = [root for root in having if abs(bits[id(root)] - bits[id(one)]) <= CLOSE / 2]
        groups.append([root for root in near if _agree(one.entries[0], root.entries[0])])
    return max(groups, default=[], key=len)


def _agree(one: Entry, other: Entry) -> bool:
    """Whether no change of the type makes one of them pass and leaves the other wrong."""
    types = ("float16", "float32", "float64")
    return not any(
        (change in one.passes and change in other.fails) or (change in one.fails and change in other.passes)
        for change in types
    )


def _right(covered: Mapping[str, int], wrong: set[str]) -> dict[str, int]:
    """Function -> how many operators have it that were run often and were never wrong."""
    found: dict[str, int] = defaultdict(int)
    known = set(drawable())
    for name, count in covered.items():
        if name in known and name not in wrong and count >= SEEN_OFTEN:
            program = single(name, 1, 0, Capabilities(level=1))
            for function in functions_of(program) if program is not None else ():
                found[function] += 1
    return found


def error_bits(entry: Entry) -> float | None:
    """The power of two of the largest relative error; None where the numbers are not nearly right.

    Args:
        entry: a cause with some of its wrong numbers.
    """
    errors = [
        abs(got - right) / abs(right) for got, right in entry.wrong
        if right and math.isfinite(got) and math.isfinite(right) and got != right
    ]
    if not errors or max(errors) > 1:
        return None
    return math.log2(max(errors))
