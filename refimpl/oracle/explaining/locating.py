"""The first wrong node of a program: each node of its graph runs alone, on inputs that the reference computes.

An implementation shows only the heads of a graph and the gradients of its variables. So the graph is cut: the inputs of
a node become variables with the reference's values, its results become the heads, and the reference's gradients of
these results are the head gradients. The first wrong node is the first in the order of the forward pass that differs
alone, else the first in the order of the backward pass. If every node is right alone, the readers of one value run
together, whose gradients are summed; then all results at once become heads.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from ...kernels.foundation import get
from ...kernels.foundation.refusal import MXNetError
from ..backends import Backend, Refused, declared_of
from ..judging.comparing import Mismatch, Verdict, answers_of, judge_answer
from ..judging.reference import Program, trace_of
from ..programs.values import array_of
from .causes import FITTING

Entry = tuple[int, int]
"""A node's number, and that of one of its outputs."""
Shown = tuple[Mismatch, Program]
"""What differs, and the program that shows it."""
MOST_NODES = 40
"""Nodes that are run alone at most."""
MOST_CRASHES = 8
"""Nodes that are run alone at most where each may end the process."""


class Where(NamedTuple):
    """Where a program goes wrong first."""

    node: str
    """The name of the node; empty where it is none."""
    operator: str
    """Its operator."""
    part: str
    """forward, backward, sum (of the gradients of several readers), together (no node alone), or step."""
    step: int
    """The number of the step that shows it."""
    text: str
    """All of this in one line."""
    first: Mismatch | None = None
    """What differs there first."""
    program: Program | None = None
    """The program of that node, or of those readers, alone."""


def locate(backend: Backend, program: Program, verdict: Verdict) -> Where:
    """The first wrong node or step of a failing program.

    Args:
        backend: the implementation.
        program: a program that it fails.
        verdict: the verdict on the program.
    """
    mismatch = verdict.mismatches[0]
    if program["level"] == 7:
        return Where("", "", "step", 0, f"what the workers saw: {mismatch.kind}")
    at = _step_of(program, mismatch)
    if program["level"] <= 2 and any(node["op"] != "null" for node in program["nodes"]):
        try:
            return _Taps(backend, program, verdict, at).first()
        except (Refused, MXNetError):  # the reference refuses a node alone: nothing to compare with
            pass
    done = f"{at} ({program['steps'][at]['do']})" if program["steps"] else str(at)
    return Where("", "", "step", at, f"first divergent step: {done}, {_named(mismatch)}")


def _named(mismatch: Mismatch) -> str:
    return mismatch.name.partition("/")[2] or mismatch.kind


def _step_of(program: Program, mismatch: Mismatch) -> int:
    """The number of the step that shows a mismatch."""
    number = mismatch.name.partition("/")[0]
    if number.isdecimal():
        return int(number)
    told = re.search(r"step (\d+) \(", mismatch.text)
    last = len(program["steps"]) - 1
    return min(int(told[1]), last) if told else last


class _Taps:
    """Programs of a node or a few, made of one program as it stands at one step."""

    def __init__(self, backend: Backend, program: Program, verdict: Verdict, at: int) -> None:
        self.backend, self.program, self.verdict, self.at = backend, program, verdict, at
        self.nodes = program["nodes"]
        most = MOST_CRASHES if verdict.mismatches[0].kind == "crashed" else MOST_NODES
        self.numbers = [i for i, node in enumerate(self.nodes) if node["op"] != "null"][:most]
        self.steps = program["steps"][: at + 1]
        self.arrays = self._arrays()
        forward = [step for step in self.steps if step["do"] == "forward"]
        self.train = bool(forward and forward[-1].get("train"))
        backward = [step for step in self.steps if step["do"] == "backward"]
        self.heads = backward[-1].get("heads") if backward else None
        self.backward = bool(backward)
        self.requirements = next((step.get("requirements") or {} for step in self.steps if step["do"] == "bind"), {})
        self.wanted: set[int] = set()
        for number, node in enumerate(self.nodes):
            if node["op"] == "null":
                if self.requirements.get(node["name"], "null") != "null":
                    self.wanted.add(number)
            elif any(entry[0] in self.wanted for entry in node["inputs"]):
                self.wanted.add(number)
        self.values: dict[Entry, dict[str, Any]] = {}
        self.slopes: dict[Entry, np.ndarray] = {}

    def _arrays(self) -> dict[str, Any]:
        """The values of variables when the last forward pass begins."""
        arrays = dict(self.program["arrays"])
        last = max((i for i, step in enumerate(self.steps) if step["do"] == "forward"), default=0)
        for step in self.steps[: last + 1]:
            if step["do"] in ("forward", "reshape"):
                arrays.update(step.get("arrays") or {})
        if last > 1:
            trace = trace_of({**self.program, "steps": self.steps[:last]})
            for key, state in trace.items():  # the last one of each name is kept
                what, _, name = key.partition("/")[2].partition(":")
                if what == "state":
                    arrays[name] = literal(state)
        return arrays

    def first(self) -> Where:
        """See :func:`locate`."""
        outputs = self._outputs()
        self._run_reference(outputs)
        count = len(self.numbers)
        for number, found in self._differing([(n, self.alone([n], "forward")) for n in self.numbers]):
            return self._where(number, "forward", f"first divergent node of the forward pass of {count}", *found)
        agrees = f"forward agrees at {count} node{'s' * (count > 1)}"
        if self.backward:
            self._reference_gradients(outputs)
            back = [n for n in reversed(self.numbers) if n in self.wanted]
            for number, found in self._differing([(n, self.alone([n], "backward")) for n in back]):
                return self._where(number, "backward", f"{agrees}; first divergent node of the backward pass", *found)
            for number, found in self._differing([(n, self.alone([n], "same steps")) for n in back]):
                how = "requirements and steps" if self._unlike_write() else "steps"
                text = f"{agrees}, and backward with write; first divergent node with the program's {how}"
                return self._where(number, "backward", text, *found)
            for entry, readers in self._shared():
                for number, found in self._differing([(entry[0], self.alone(readers, "same steps"))]):
                    times = sum(self.nodes[reader]["inputs"].count(list(entry)) for reader in readers)
                    text = f"{agrees}, backward each alone; the sum of gradients of {times} readers differs"
                    return self._where(number, "sum", text, *found)
        return self._together(outputs)

    # --- what the reference computes ------------------------------------------------------------

    def _outputs(self) -> dict[int, list[Entry]]:
        """The visible outputs of each node."""
        found = {}
        for number in self.numbers:
            op = get(self.nodes[number]["op"])
            count = op.visible_count(op.parse(self.nodes[number].get("attrs", {})))
            found[number] = [(number, i) for i in range(count)]
        return found

    def _run_reference(self, outputs: dict[int, list[Entry]]) -> None:
        """Keep the value of every entry."""
        entries = [entry for number in self.numbers for entry in outputs[number]]
        trace = trace_of({
            **self.program, "arrays": self.arrays, "heads": [list(entry) for entry in entries],
            "steps": [{"do": "bind"}, {"do": "forward", "train": self.train}],
        })
        self.values = {entry: literal(trace[f"1/output{i}"]) for i, entry in enumerate(entries)}
        for number, node in enumerate(self.nodes):
            if node["op"] == "null":
                self.values[number, 0] = self.arrays[node["name"]]

    def _reference_gradients(self, outputs: dict[int, list[Entry]]) -> None:
        """Keep the gradient of every entry, node by node from the heads on."""
        given = self.heads or [None] * len(self.program["heads"])
        for head, spec in zip(self.program["heads"], given, strict=True):
            entry = (head[0], head[1])
            like = self.values.get(entry)
            if spec is not None and like is not None:
                self._add(entry, array_of(spec))
        for number in reversed(self.numbers):
            for entry in outputs[number]:
                if entry not in self.slopes:
                    self.slopes[entry] = np.zeros_like(array_of(self.values[entry]))
            if number in self.wanted:
                trace = trace_of(self.alone([number], "backward"))
                for entry, name in self._names([number]).items():
                    slope = trace.get(f"2/gradient:{name}")
                    if slope is not None:
                        self._add(entry, slope)

    def _add(self, entry: Entry, slope: np.ndarray) -> None:
        with np.errstate(all="ignore"):
            self.slopes[entry] = self.slopes[entry] + slope if entry in self.slopes else slope

    # --- programs of a few nodes ----------------------------------------------------------------

    def _names(self, numbers: Sequence[int]) -> dict[Entry, str]:
        """Entries that some nodes read, and the names of their variables."""
        found: dict[Entry, str] = {}
        for number in numbers:
            for entry in self.nodes[number]["inputs"]:
                source = self.nodes[entry[0]]
                known = source["op"] == "null"
                found[entry[0], entry[1]] = source["name"] if known else f"{source['name']}_{entry[1]}"
        return found

    def alone(self, numbers: Sequence[int], kind: str) -> Program:
        """A program of some nodes, each of which reads variables only.

        Args:
            numbers: of the nodes.
            kind: forward; backward, with the requirement write where a gradient is wanted; or same steps, with the
                program's own requirements and repetitions.
        """
        names = self._names(numbers)
        place = {entry: i for i, entry in enumerate(names)}
        nodes: list[dict[str, Any]] = [{"op": "null", "name": name} for name in names.values()]
        heads: list[list[int]] = []
        slopes: list[Any] = []
        for number in numbers:
            node = self.nodes[number]
            inputs = [[place[entry[0], entry[1]], 0] for entry in node["inputs"]]
            nodes.append({**node, "inputs": inputs})
            op = get(node["op"])
            for output in range(op.visible_count(op.parse(node.get("attrs", {})))):
                heads.append([len(nodes) - 1, output])
                slope = self.slopes.get((number, output))
                slopes.append(None if slope is None else literal(slope))
        made = {
            **self.program, "nodes": nodes, "heads": heads,
            "arrays": {name: self.values[entry] for entry, name in names.items()},
        }
        wanted = {name: "write" for entry, name in names.items() if entry[0] in self.wanted}
        if kind == "forward":
            return {**made, "steps": [{"do": "bind"}, {"do": "forward", "train": self.train}]}
        back = {"do": "backward", "heads": slopes if self.heads is not None else None}
        if kind == "backward":
            bind: dict[str, Any] = {"do": "bind", "requirements": wanted}
            return {**made, "steps": [bind, {"do": "forward", "train": True}, back]}
        return {**made, "steps": self._same_steps(wanted, back)}

    def _same_steps(self, wanted: dict[str, str], back: dict[str, Any]) -> list[dict[str, Any]]:
        begun = next(step for step in self.steps if step["do"] == "bind")
        reshaped = max((i for i, step in enumerate(self.steps) if step["do"] == "reshape"), default=0)
        requirements, given = wanted, {}
        if not reshaped:  # which gives gradients new memory
            requirements = {name: self.requirements.get(name, "write") for name in wanted}
            given = {name: spec for name, spec in (begun.get("gradients") or {}).items() if name in wanted}
        steps: list[dict[str, Any]] = [{"do": "bind", "requirements": requirements, "gradients": given}]
        for step in self.steps[reshaped:]:
            if step["do"] == "backward":
                steps.append(back)
            elif step["do"] in ("forward", "share"):
                steps.append({key: value for key, value in step.items() if key != "arrays"})
        return steps

    def _unlike_write(self) -> bool:
        return bool(set(self.requirements.values()) - {"write", "null"})

    def _shared(self) -> Iterator[tuple[Entry, list[int]]]:
        """Entries that several nodes read and whose gradient is wanted, from the heads on, with their readers."""
        for number in range(len(self.nodes) - 1, -1, -1):
            readers: dict[int, list[int]] = {}
            for reader in self.numbers:
                for entry in self.nodes[reader]["inputs"]:
                    if entry[0] == number and reader not in readers.setdefault(entry[1], []):
                        readers[entry[1]].append(reader)
            for output, several in readers.items():
                if number in self.wanted and len(several) > 1:
                    yield (number, output), several

    # --- what differs ---------------------------------------------------------------------------

    def _differing(self, given: Sequence[tuple[int, Program]]) -> Iterator[tuple[int, Shown]]:
        """The programs that fail, in their order."""
        answers = answers_of(self.backend, [program for _, program in given])
        for (number, program), answer in zip(given, answers, strict=True):
            verdict = judge_answer(program, answer, declared=declared_of(self.backend))
            if verdict.status == "failed":
                yield number, (verdict.mismatches[0], program)

    def _where(self, number: int, part: str, text: str, first: Mismatch, program: Program | None = None) -> Where:
        node = self.nodes[number]
        operator = "" if node["op"] == "null" else node["op"]
        shown = f"{text}: {node['name']} ({operator or 'variable'})"
        return Where(node["name"], operator, part, self.at, shown, first, program)

    def _together(self, outputs: dict[int, list[Entry]]) -> Where:
        """No node differs alone: make every result a head."""
        given = [list(head) for head in self.program["heads"]]
        more = [list(entry) for number in self.numbers for entry in outputs[number] if list(entry) not in given]
        steps = []
        for step in self.steps:
            extra = [_zeros(self.values[entry[0], entry[1]]) for entry in more]
            several = step["do"] == "backward" and isinstance(step.get("heads"), list)
            steps.append({**step, "heads": [*step["heads"], *extra]} if several else step)
        tapped = {**self.program, "heads": [*given, *more], "steps": steps}
        try:
            answer = answers_of(self.backend, [tapped])[0]
            verdict = judge_answer(tapped, answer, declared=declared_of(self.backend))
        except Refused:
            verdict = Verdict("discarded")
        wrong = {m.name.partition("/")[2]: m for m in verdict.mismatches}
        for number in self.numbers:
            for entry in outputs[number]:
                found = wrong.get(f"output{[*given, *more].index(list(entry))}")
                if found is not None:
                    text = "every node does well alone; first that differs in the graph"
                    return self._where(number, "together", text, found)
        number = self._nearest()
        what = _named(self.verdict.mismatches[0])
        kept = "" if verdict.status == "failed" else " and with every result as a head"
        return self._where(
            number, "together", f"every node does well alone{kept}; {what} differs in step {self.at}, next to",
            self.verdict.mismatches[0],
        )

    def _nearest(self) -> int:
        """The likeliest node at fault: the nearest to the wrong array, nodes that only adapt shapes last."""
        what, _, variable = _named(self.verdict.mismatches[0]).partition(":")
        near = list(reversed(self.numbers))
        if variable:
            place = next((i for i, node in enumerate(self.nodes) if node["name"] == variable), -1)
            near = self._connected([place], forward=True)
        elif what.startswith("output") and what[len("output"):].isdecimal():
            near = self._connected([self.program["heads"][int(what[len("output"):])][0]], forward=False)
        own = [number for number in near if self.nodes[number]["op"] not in FITTING]
        return (own or near or self.numbers)[0]

    def _connected(self, begin: list[int], *, forward: bool) -> list[int]:
        """Nodes from some nodes on to their readers, or back to their inputs, the nearest first."""
        found = dict.fromkeys(begin)
        for number in self.numbers if forward else reversed(self.numbers):
            sources = [entry[0] for entry in self.nodes[number]["inputs"]]
            if forward and any(source in found for source in sources):
                found[number] = None
            elif not forward and number in found:
                found.update(dict.fromkeys(sources))
        return [number for number in found if number in self.numbers]


def literal(array: np.ndarray) -> dict[str, Any]:
    """An array as data, element by element."""
    words = {"nan": "nan", "inf": "inf", "-inf": "-inf"}
    elements = [words.get(str(value), value) for value in array.reshape(-1).tolist()]
    return {"shape": list(array.shape), "dtype": array.dtype.name, "elements": elements}


def _zeros(spec: dict[str, Any]) -> dict[str, Any]:
    count = int(np.prod(spec["shape"]))
    return {"shape": spec["shape"], "dtype": spec["dtype"], "elements": [0.0] * count}

