"""The operator at fault in a failure, and the kind of the wrong numbers.

Two failures have one cause when the shrunk programs have the same suspected operator, the same place (output, gradient,
state), the same requirement and the same kind of wrong numbers. Several operators may share a *mechanism*: the executor
writes gradient buffers, whichever operators are in the graph. Causes of one mechanism are one *root cause*, see
``gathered``.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from ..drawing.drawn_graphs import JOIN, KEEP_SHAPE
from ..judging.comparing import Mismatch, Verdict
from ..judging.reference import Program
from ..programs.program import operators
from ..programs.values import array_of
from ..traits import SEEN, words_of

FITTING = {name for name, _ in KEEP_SHAPE} | set(JOIN) | {"Reshape", "tile", "slice_axis", "elemwise_add"}
"""Operators that drawing puts between others: suspected only where nothing else is left."""


ANY = "any operator"


class Cause(NamedTuple):
    """The fault, as far as the numbers show it."""

    operator: str
    """The operator under suspicion; empty where the program has none."""
    place: str
    """output, gradient, state, or what the trace calls it; or refused, crashed, shape, dtype."""
    input: str
    """Of a gradient: the position of the variable among the operator's inputs."""
    requirement: str
    """Of a gradient: write or add; with "repeated" where backward ran more than once."""
    look: str
    """What the wrong number looks like."""
    consumers: str
    """How many operators read the value whose gradient is wrong: one, few or many."""
    values: str = ""
    """"special" where only NaN and infinities show it, "wide" where only values of very different sizes do."""
    mode: str = ""
    """Words that the operator was given (``act_type=selu``); the optimizer, or what a store was asked to do."""

    @property
    def key(self) -> tuple[str, ...]:
        """Equal for failures of one cause."""
        return tuple(self)

    @property
    def mechanism(self) -> tuple[str, ...]:
        """Equal for causes that are one root cause."""
        if self.place == "gradient" and self.look in SHARED:
            return (self.place, self.requirement.split()[0], self.look)
        if self.place == "gradient" and "repeated" in self.requirement:
            return (self.place, "repeated")
        if self.place == "crashed":
            return (self.operator, self.place, *filter(None, [self.mode]))
        return (self.operator, self.place, self.values, *filter(None, [self.mode]))

    def __str__(self) -> str:
        parts = [self.operator or "no operator", *filter(None, [self.mode]), self.place]
        if self.input:
            parts.append(f"of input {self.input}")
        if self.requirement:
            parts.append(f"with {self.requirement}")
        if self.consumers not in ("", "one"):
            parts.append(f"read {self.consumers} times")
        return " ".join(parts) + (f": {self.look}" if self.look else "")


ADDING = {
    "the initial gradient is missing", "the initial gradient is counted twice",
    "nothing was added to the initial gradient",
}
"""Looks of a gradient with the requirement add that say what was done with what was there."""
SHARED = {"", *ADDING}
"""Looks of a gradient that say what was done with its buffer: no operator's formula gives them."""


def gathered(causes: Iterable[Cause]) -> dict[tuple[str, ...], list[Cause]]:
    """Root causes: each mechanism and the distinct causes that have it."""
    found: dict[tuple[str, ...], list[Cause]] = {}
    for cause in dict.fromkeys(causes):
        found.setdefault(cause.mechanism, []).append(cause)
    return found


def cause_of(program: Program, verdict: Verdict) -> Cause:
    """The cause of a failure.

    Args:
        program: the shrunk program.
        verdict: its verdict.
    """
    mismatch = verdict.mismatches[0]
    suspect = suspect_of(program)
    what = place_of(mismatch)
    variable = mismatch.name.partition(":")[2]
    if what != "gradient":
        look = _error_look(mismatch) if mismatch.kind in ("refused", "crashed") else look_of(program, mismatch)
        return Cause(suspect, what, "", "", look, "", _values(program), _mode(program))
    requirement = _requirement(program, variable)
    if sum(step["do"] == "backward" for step in program["steps"]) > 1:
        requirement += " repeated"
    consumers = _consumers(program)
    if consumers == "many":  # no cut has left fewer, so it is their number, whichever operators they are
        return Cause(ANY, what, "", requirement.split()[0], "", consumers)
    return Cause(
        suspect, what, _position(program, variable, suspect), requirement, look_of(program, mismatch), consumers,
        _values(program), _mode(program),
    )


def place_of(mismatch: Mismatch) -> str:
    """output, gradient, state, or what else the trace calls the wrong array; of its form or an error, the kind."""
    if mismatch.kind != "value":
        return mismatch.kind
    return mismatch.name.partition("/")[2].partition(":")[0].rstrip("0123456789")


def _requirement(program: Program, variable: str) -> str:
    """How the gradient of a variable is wanted; of gradients of data, modules tell no variable."""
    for step in program["steps"]:
        if variable in step.get("requirements", {}):
            return str(step["requirements"][variable])
        if isinstance(step.get("requirement"), str):
            return str(step["requirement"])
    return "write"


def _mode(program: Program) -> str:
    """Words of the only operator, the optimizer of updates, or calls of a store."""
    if program["level"] == 6:
        done = dict.fromkeys(step["do"] for step in program["steps"] if step["do"] not in SEEN)
        return "+".join(done)
    if program["level"] in (3, 4, 5):
        rules = [step["optimizer"] for step in program["steps"] if "optimizer" in step]
        return f"optimizer={rules[0]}" if rules else ""
    nodes = [node for node in program.get("nodes", ()) if node["op"] != "null"]
    if len(nodes) != 1:
        return ""
    words = words_of(nodes[0]["op"], tuple(sorted(nodes[0].get("attrs", {}).items())), usual=False)
    return " ".join(word for word in words if not word.endswith(("=True", "=False")))


def _values(program: Program) -> str:
    """Which unusual values a shrunk program still needs."""
    specs = list(program.get("arrays", {}).values())
    for step in program["steps"]:
        specs += [spec for spec in (*step.get("arrays", {}).values(), *(step.get("heads") or ())) if spec]
    styles = {spec.get("style", "") for spec in specs}
    if any(isinstance(element, str) for spec in specs for element in spec.get("elements", ())):
        return "special"
    return next((style for style in ("special", "wide") if style in styles), "")


def suspect_of(program: Program) -> str:
    """The likeliest operator at fault: one that shrinking has left, operators that only adapt shapes last."""
    if program["level"] == 7:
        return str(program["settings"]["kind"])
    names = operators(program)
    own = [name for name in names if name not in FITTING]
    if not names:
        return ""
    return "+".join(sorted(set(own))[:3]) if own else names[0]


def _position(program: Program, variable: str, suspect: str) -> str:
    number = next((i for i, node in enumerate(program["nodes"]) if node["name"] == variable), -1)
    for node in program["nodes"]:
        if node["op"] in suspect.split("+"):
            for position, entry in enumerate(node.get("inputs", [])):
                if entry[0] == number:
                    return str(position)
    return "earlier"


def _consumers(program: Program) -> str:
    most = 0
    for number in range(len(program["nodes"])):
        readers = sum(e[0] == number for other in program["nodes"] for e in other.get("inputs", []))
        readers += sum(h[0] == number for h in program["heads"])
        most = max(most, readers)
    return "one" if most <= 1 else "few" if most < 7 else "many"


def _error_look(mismatch: Mismatch) -> str:
    """An error without its numbers, so that two of one kind are equal."""
    text = mismatch.text.split("Check failed:")[-1] if "Check failed:" in mismatch.text else mismatch.text
    return "".join("#" if c.isdigit() else c for c in text)[:80].strip()


def look_of(program: Program, mismatch: Mismatch) -> str:
    """The kind of the wrong numbers: "zero", "twice the value", "the initial gradient is missing", ..."""
    expected, got, wrong = mismatch.expected, mismatch.got, mismatch.wrong
    if expected is None or got is None or wrong is None:
        return ""
    right = expected[wrong].astype(np.float64)
    found = got[wrong].astype(np.float64)
    initial = _initial(program, mismatch.name, expected.shape)
    with np.errstate(all="ignore"):
        tests: list[tuple[str, Any]] = []
        if initial is not None:  # first: what is left of the sum may be zero
            start = initial[wrong].astype(np.float64)
            tests += [
                ("the initial gradient is missing", np.isclose(found, right - start, rtol=1e-4, atol=1e-6)),
                ("the initial gradient is counted twice", np.isclose(found, right + start, rtol=1e-4, atol=1e-6)),
                ("nothing was added to the initial gradient", found == start),
            ]
        plain = [
            ("not a number", np.isnan(found)),
            ("infinite", np.isinf(found)),
            ("zero", found == 0),
        ]
        tests += [
            *plain,
            ("the sign is wrong", np.isclose(found, -right, rtol=1e-4, atol=0)),
            ("twice the value", np.isclose(found, 2 * right, rtol=1e-4, atol=0)),
            ("half the value", np.isclose(found, right / 2, rtol=1e-4, atol=0)),
        ]
        if expected.ndim > 1 and expected.shape == expected.T.shape and not np.array_equal(expected, expected.T):
            tests.append(("transposed", np.isclose(got, expected.T, rtol=1e-4, atol=1e-6)))
        tests += [
            ("NaN is expected", np.isnan(right)),
            ("zero is expected", right == 0),
            ("nearly right", np.isclose(found, right, rtol=1e-2, atol=0)),
        ]
        for name, holds in tests:
            if np.all(holds):
                return name
        for name, holds in plain:
            if np.any(holds):
                return f"{name} in places"
    return "other numbers"


def _initial(program: Program, name: str, shape: tuple[int, ...]) -> np.ndarray | None:
    what, _, variable = name.partition("/")[2].partition(":")
    if what != "gradient":
        return None
    for step in program["steps"]:
        spec = (step.get("gradients") or {}).get(variable)
        if spec is not None and tuple(spec["shape"]) == shape:
            return array_of(spec)
    return None
