"""Checks a parameter server by the results of its pulls, with pushes that can be distinguished.

Push j of worker w (counted over all keys, both from 0) is ``tag(w, j, workers, pushes)``: 1 in a column of its own and
0 elsewhere. If the servers add up pushes (``mx.optimizer.create("test")``, arrays of zeros at first), a pulled array
shows which pushes are in it, and how often. From the events of each worker, in order, ``check`` finds values that no
correct server could have handed out; it needs no clock, and no access to the servers.

>>> history = History(workers=2, pushes=2)
>>> gradient = history.push(0, "w")             # store.push("w", nd.array(gradient)) belongs here
>>> gradient
array([[1., 0., 0., 0.]], dtype=float32)
>>> _ = history.push(1, "w")
>>> history.pull(1, "w", [[0, 0, 1, 0]])        # what store.pull("w", out=...) gave
>>> print(*check(history, "dist_async"))        # worker 0's push may still be on its way
<BLANKLINE>
>>> print(*check(history, "dist_sync"))
early: worker 1's pull 0 of key 'w' lacks worker 0's push 0 of this key (push 0 of all), which belongs to round 0

Arrays of several rows, each row with the same tag, are for servers that split arrays between rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import chain, pairwise
from typing import Any

import numpy as np

from ..base import decides, require
from .history_events import History, HistoryEvent, Key, tag

NAMES = (
    "garbage", "wrong key", "duplicated", "torn", "lost", "out of order", "read your writes", "backwards", "early",
    "incomparable", "unanswered", "residual",
)
"""The kinds of violations; a kind that explains others comes before them."""


@dataclass(frozen=True)
class Violation:
    """A value that no correct server could have handed out: its kind, one of ``NAMES``, and an explanation."""

    name: str
    explanation: str

    def __str__(self) -> str:
        return f"{self.name}: {self.explanation}"


@dataclass(eq=False)
class Read:
    """A pull, with the numbers of earlier pushes and barriers of its worker."""

    worker: int
    number: int
    key: Key
    value: np.ndarray
    pushed: int
    """The number of earlier pushes of this worker to this key."""
    passed: int
    """The number of barriers that this worker passed before."""
    after_loss: bool

    def __str__(self) -> str:
        return f"worker {self.worker}'s pull {self.number} of key {self.key!r}"


@dataclass(eq=False)
class Pushes:
    """One worker's pushes to one key, in order: their columns, their gradients, the barriers passed before each."""

    columns: list[int] = field(default_factory=list)
    values: list[np.ndarray | None] = field(default_factory=list)
    phases: list[int] = field(default_factory=list)


class Findings:
    """The pushes and pulls of a history, by key."""

    def __init__(self, history: History, kind: str) -> None:
        self.history, self.sync = history, "_async" not in kind
        self.pushes: dict[Key, list[Pushes]] = {}
        self.reads: dict[Key, list[Read]] = {}
        self.settled: dict[tuple[Key, int], int] = {}
        """(key, worker) -> number of the worker's pushes to the key before its last pull, which servers have taken."""
        self.waits: list[tuple[int, Key, int]] = []
        """(worker, key, number of the worker's earlier pushes to the key) of pulls that were not answered."""
        self.left: set[int] = set()
        self.lost: set[int] = set()
        phases = [0] * history.workers
        numbers: dict[tuple[Key, int], int] = {}
        for event in history.events:
            worker = event.worker
            if event.kind == "barrier":
                phases[worker] += 1
            elif event.kind in ("leave", "lost"):
                (self.left if event.kind == "leave" else self.lost).add(worker)
            elif event.key is not None:
                reads = self.reads.setdefault(event.key, [])
                pushes = self.pushes.setdefault(event.key, [Pushes() for _ in range(history.workers)])[worker]
                if event.kind == "push":
                    assert event.push is not None
                    pushes.columns.append(worker * history.pushes + event.push)
                    pushes.values.append(event.value)
                    pushes.phases.append(phases[worker])
                elif event.kind == "wait":
                    self.waits.append((worker, event.key, len(pushes.columns)))
                elif event.kind == "pull":
                    assert event.value is not None
                    number = numbers.get((event.key, worker), 0)
                    numbers[event.key, worker] = number + 1
                    done, lost = len(pushes.columns), worker in self.lost
                    self.settled[event.key, worker] = done
                    reads.append(Read(worker, number, event.key, event.value, done, phases[worker], lost))

    def bounds(self, read: Read) -> list[tuple[int, int]]:
        """For each worker, the least and the most of its pushes that a pulled array may contain."""
        found = []
        for worker, pushes in enumerate(self.pushes[read.key]):
            count = len(pushes.columns)
            if worker in self.lost or (self.sync and read.after_loss):  # unknown which pushes arrived, in which round
                found.append((0, count))
            elif self.sync:
                rounds = min(read.pushed, count) if worker in self.left else read.pushed
                found.append((rounds, rounds))
            elif worker == read.worker:
                found.append((read.pushed, read.pushed))
            else:
                phases = np.array(pushes.phases)
                found.append((int((phases < read.passed).sum()), int((phases <= read.passed).sum())))
        return found


@decides("History/check")
def check(history: History, kind: str = "dist_sync", threshold: float | None = None) -> list[Violation]:
    """The values that no correct server of this kind could have handed out: at most one violation per kind and pull.

    The work is proportional to pulls times columns. Violations are sorted by ``NAMES``: a lost update also makes later
    pulls look early, so look at the first violation first.

    Args:
        history: the events of the workers. Of a lost worker, any number of its pushes may have arrived.
        kind: "dist_sync": a pull contains exactly the rounds that its worker began. "dist_async": it contains its
            worker's own pushes, all pushes before a barrier that its worker passed, all pushes of earlier pulls, and
            of each worker the pushes up to some point; of two pulls of a row, one contains all pushes of the other.
        threshold: the threshold of 2-bit compression. The pushes then are gradients of any kind instead of tags, and
            pulls whose pushes are certain are compared with the sums of the codes, with residuals kept.

    Raises:
        MXNetError: a pull does not have a column for each push, or with ``threshold`` a push has no gradient.
    """
    findings = Findings(history, kind)
    found: list[Violation] = []
    for key, reads in findings.reads.items():
        if threshold is not None:
            found += _residuals(findings, key, reads, threshold)
            continue
        ever = [read.value > 0 for read in reads]
        for read in reads:
            require(
                "History/columns", read.value.shape[1] == history.width,
                f"{read} has {read.value.shape[1]} columns, tags of {history.workers} workers with {history.pushes}"
                f" pushes have {history.width}",
            )
        seen = np.logical_or.reduce(ever) if ever else np.zeros((1, history.width), bool)
        before: dict[int, np.ndarray] = {}
        for read, holds in zip(reads, ever, strict=True):
            found += _judged(findings, read, seen, before.get(read.worker))
            before[read.worker] = holds | before.get(read.worker, False)
        found += _incomparable(history, reads)
    found += _unanswered(findings)
    return sorted(found, key=lambda violation: NAMES.index(violation.name))


@decides("History/check")
def _judged(findings: Findings, read: Read, ever: np.ndarray, before: np.ndarray | None) -> Iterator[Violation]:
    """The violations of one pull of tags.

    ``ever`` has the pushes that some pull contains, ``before`` the pushes in the session's earlier pulls.
    """
    told: set[str] = set()
    for name, words in chain(_strange(findings, read), _misplaced(findings, read, ever, before)):
        if name not in told:
            told.add(name)
            yield Violation(name, f"{read} {words}")


@decides("History/check")
def _strange(findings: Findings, read: Read) -> Iterator[tuple[str, str]]:
    """Values that no pull may contain: a number that is no count, a push twice, a push to another key."""
    history, value = findings.history, read.value
    strange = (value != np.floor(value)) | (value < 0) | ~np.isfinite(value)
    for row, column in np.argwhere(strange)[:1]:
        yield "garbage", f"holds {value[row, column]:g} of {history.named(column)}, no count of pushes"
    for row, column in np.argwhere((value > 1) & ~strange)[:1]:
        yield "duplicated", f"holds {history.named(column)} {value[row, column]:g} times"
    here = np.zeros(history.width, bool)
    for pushes in findings.pushes[read.key]:
        here[pushes.columns] = True
    for _, column in np.argwhere((value != 0) & ~here & ~strange)[:1]:
        others = [key for key in findings.pushes if any(column in p.columns for p in findings.pushes[key])]
        if others:
            yield "wrong key", f"holds {history.named(column)}, which went to key {others[0]!r}"
        else:
            yield "garbage", f"holds {history.named(column)}, which was never made"


@decides("History/check", "History/gone")
def _misplaced(
    findings: Findings, read: Read, ever: np.ndarray, before: np.ndarray | None
) -> Iterator[tuple[str, str]]:
    """Pushes that a pull contains too early, and pushes that it lacks."""
    history, holds = findings.history, read.value > 0
    for worker, (low, high) in enumerate(findings.bounds(read)):
        pushes = findings.pushes[read.key][worker]
        columns = np.array(pushes.columns, int)
        if low > len(columns):
            words = f"was answered after its worker's push {low - 1} of this key"
            yield "early", f"{words}, while worker {worker} has only made {len(columns)} of them"
        mine = holds[:, columns]
        for _, place in np.argwhere(mine[:, high:])[:1]:
            which = _which(history, pushes, high + place)
            yield "early", f"holds {which}, which worker {worker} makes after what worker {read.worker} has waited for"
        below = np.arange(len(columns))
        later = np.where(mine, below, -1).max(axis=1, initial=-1)[:, None]  # the last push in each row
        due = (below < low) | ((below < later) & (worker not in findings.lost))
        if before is not None:
            due = due | before[:, columns]
        for row, place in np.argwhere(due & ~mine):
            shown = ever[:, columns[place]]
            if not shown[row] and place < findings.settled.get((read.key, worker), 0):
                name, why = "lost", f"which no pull ever holds, not even those of worker {worker}"
                if shown.any():
                    name, why = "torn", f"at least in row {row}, where it never comes; row {shown.argmax()} has it"
            elif place < later[row, 0]:
                name, why = "out of order", f"but has push {later[row, 0]} of this key, which came after it"
            elif worker == read.worker and place < low:
                name, why = "read your writes", "which it made before it asked"
            elif place >= low:
                name, why = "backwards", "which an earlier pull of the same worker holds"
            else:
                name = "early"
                why = f"which belongs to round {place}" if findings.sync else "made before a barrier they passed"
            yield name, f"lacks {_which(history, pushes, place)}, {why}"


def _which(history: History, pushes: Pushes, place: int) -> str:
    worker, push = divmod(pushes.columns[place], history.pushes)
    return f"worker {worker}'s push {place} of this key (push {push} of all)"


def _incomparable(history: History, reads: list[Read]) -> Iterator[Violation]:
    """Pairs of pulls of one row that no order of pushes explains: each contains a push that the other lacks."""
    for row in range(len(reads[0].value) if reads else 0):
        ordered = sorted(reads, key=lambda read: int((read.value[row] > 0).sum()))
        for one, other in pairwise(ordered):
            less, more = one.value[row] > 0, other.value[row] > 0
            if (less & ~more).any():
                left, right = int((less & ~more).argmax()), int((more & ~less).argmax())
                yield Violation(
                    "incomparable", f"{one} holds {history.named(left)} and lacks {history.named(right)}, {other} holds"
                    " the second and lacks the first: no order of pushes makes both",
                )
                break


@decides("History/wait")
def _unanswered(findings: Findings) -> Iterator[Violation]:
    """Pulls without an answer although no push was missing for one."""
    for worker, key, pushed in findings.waits:
        there = [
            len(pushes.columns) for other, pushes in enumerate(findings.pushes[key])
            if other not in findings.left | findings.lost
        ]
        if findings.sync and pushed and min(there, default=pushed) < pushed:
            continue
        why = f"though every worker has made its push {pushed - 1} of this key" if findings.sync and pushed else (
            "though it waits for nobody"
        )
        yield Violation("unanswered", f"worker {worker}'s pull of key {key!r} was never answered, {why}")


# --- 2-bit compression ----------------------------------------------------------------------------


def _arrived(gradients: list[np.ndarray], threshold: float, kept: bool) -> list[np.ndarray]:
    """The sums of the decoded first 0, 1, 2, ... gradients, with residuals ``kept`` or forgotten."""
    unsent = np.zeros_like(gradients[0])
    total = [np.zeros_like(gradients[0])]
    for gradient in gradients:
        wanted = unsent * kept + gradient
        sent = threshold * ((wanted >= threshold).astype(wanted.dtype) - (wanted <= -threshold))
        unsent = wanted - sent
        total.append(total[-1] + sent)
    return total


def _residuals(findings: Findings, key: Key, reads: list[Read], threshold: float) -> Iterator[Violation]:
    values: list[list[Any]] = [pushes.values for pushes in findings.pushes[key]]
    require(
        "History/residual", all(gradient is not None for made in values for gradient in made),
        f"with a threshold each push of key {key!r} needs its gradient: history.push(worker, key, value=gradient)",
    )
    sums: Mapping[bool, list[list[np.ndarray]]] = {
        kept: [_arrived(made, threshold, kept) if made else [] for made in values] for kept in (True, False)
    }
    for read in reads:
        bounds = findings.bounds(read)
        if all(low == high for low, high in bounds):
            yield from _wrong_sum(read, [low for low, _ in bounds], values, sums, threshold)


def _wrong_sum(
    read: Read, counts: list[int], values: list[list[Any]], sums: Mapping[bool, list[list[np.ndarray]]],
    threshold: float,
) -> Iterator[Violation]:
    """An element of one pull that is not the sum of ``counts`` decoded pushes of each worker."""
    expected, forgetful = (
        sum((one[count] for one, count in zip(sums[kept], counts, strict=True) if count), np.zeros_like(read.value))
        for kept in (True, False)
    )
    wrong = np.abs(read.value - expected) >= threshold / 2
    for place in np.argwhere(wrong)[:1]:
        at = tuple(place.tolist())
        whole = sum(gradient[at] for made, count in zip(values, counts, strict=True) for gradient in made[:count])
        hint = "" if (np.abs(read.value - forgetful) >= threshold / 2).any() else (
            ": that is what comes if what a code leaves out is forgotten"
        )
        yield Violation(
            "residual", f"{read} has {read.value[at]:g} in place {at}, where gradients of {whole:g} in all, sent"
            f" with threshold {threshold:g}, make {expected[at]:g}{hint}",
        )


__all__ = ["NAMES", "History", "HistoryEvent", "Violation", "check", "tag"]
