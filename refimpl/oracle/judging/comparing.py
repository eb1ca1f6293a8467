"""Whether an implementation's trace is right: every element is equal, or inside its bound, or free.

The clauses oracle/tiers and oracle/not-a-number of ``spec/reference/tools/oracle.md`` say which of them an element
must be. An element outside of its first bound is a suspect; oracle/confirmed says which suspects are reported.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from ...base import decides
from ..backends import Backend, Crashed, Refused, Unsupported, declared_of
from ..bounds import NOTHING, Declared
from .cluster_histories import violations_of
from .reference import Expected, Program, Trace, Truth
from .statistical import can_judge, draws_numbers, unlikely

Answer = Trace | Exception
"""What an implementation made of a program: its trace, or Unsupported, Refused or Crashed."""
RELATION = "relation: "
"""How the kind of a mismatch begins that is a broken relation; its name follows."""
LOOSE = 0.1
"""A bound of this part of an array's largest value says nothing."""


class Mismatch(NamedTuple):
    """One array of a trace that is wrong."""

    name: str
    """The number of the step and what is seen: ``2/gradient:a``."""
    kind: str
    """value, shape, dtype, missing, refused, crashed, distribution, or RELATION and a name; of a history what is
    violated."""
    text: str
    """What differs, in one line."""
    expected: np.ndarray | None = None
    """The values in double precision."""
    bounds: np.ndarray | None = None
    got: np.ndarray | None = None
    wrong: np.ndarray | None = None
    """True where an element is wrong."""
    confirmed: bool = True
    """False where only the first bound says so, because the second one would need too many numbers."""

    @property
    def tier(self) -> str:
        """How the first wrong element was judged: exact, bounded, statistical, or relation."""
        if self.kind.startswith(RELATION):
            return "relation"
        if self.kind == "distribution":
            return "statistical"
        if self.bounds is None or self.wrong is None:
            return "exact"
        return "exact" if self.bounds[self.wrong].flat[0] == 0 else "bounded"


@dataclass
class Verdict:
    """The verdict of one program on an implementation."""

    status: str
    """passed, failed, unsupported, or discarded (the reference refuses the program)."""
    mismatches: list[Mismatch] = field(default_factory=list)
    exact: int = 0
    """Elements that had to be equal."""
    bounded: int = 0
    """Elements that were inside a bound without being equal to the reference's."""
    statistical: int = 0
    """Random numbers that were judged by their distribution."""
    free: int = 0
    """Elements that were not judged."""
    spared: int = 0
    """Those of them that were outside of their first bound and not of the second."""
    reason: str = ""

    @property
    def confirmed(self) -> bool:
        """Whether a failure is certain."""
        return any(mismatch.confirmed for mismatch in self.mismatches)


def judge(backend: Backend, program: Program, *, confirm: bool = True) -> Verdict:
    """Run a program on an implementation and compare its trace.

    Args:
        backend: the implementation.
        program: a checked program.
        confirm: whether suspects are judged by the second bound too.
    """
    return judge_answer(program, answers_of(backend, [program])[0], confirm=confirm, declared=declared_of(backend))


def answers_of(backend: Backend, programs: Sequence[Program]) -> list[Answer]:
    """The answers of an implementation to some programs: at once, if it has ``run_many``.

    Args:
        backend: the implementation.
        programs: checked programs.
    """
    many = getattr(backend, "run_many", None)
    if many is not None:
        return list(many(programs))
    answers: list[Answer] = []
    for program in programs:
        try:
            answers.append(backend.run(program))
        except (Unsupported, Refused, Crashed) as error:
            answers.append(error)
    return answers


def judge_answer(
    program: Program, answer: Answer, *, same_numbers: bool = False, truth: Truth | None = None, confirm: bool = True,
    declared: Declared = NOTHING, loosely: bool = False,
) -> Verdict:
    """Compare an implementation's answer to a program with the expected values.

    Args:
        program: a checked program.
        answer: a trace, at level 7 a history, or an exception of ``backends``.
        same_numbers: whether equal seeds must give equal random numbers.
        truth: the expected values, if another answer to the program was judged before.
        confirm: whether suspects are judged by the second bound too.
        declared: the arithmetic of the implementation, without ``truth``.
        loosely: whether an element of a training that is a tenth off is a suspect, whatever its bound.

    Raises:
        Exception: ``answer``, if it is any other exception: a fault of the adapter.
    """
    is_shared, truth = truth is not None, truth or Truth(program, declared)
    try:
        if program["level"] != 7:
            truth.trace  # noqa: B018  # what the reference refuses, an implementation may too
    except Refused as error:
        return Verdict("discarded", reason=str(error))
    if isinstance(answer, Unsupported):
        return Verdict("unsupported", reason=str(answer))
    if isinstance(answer, (Refused, Crashed)):
        kind = "crashed" if isinstance(answer, Crashed) else "refused"
        text = " ".join(str(answer).split())[:300]
        return Verdict("failed", [Mismatch("", kind, text)], reason=text)
    if isinstance(answer, Exception):
        raise answer
    if program["level"] == 7:
        return _judged_history(program, answer)
    try:
        return _compared(
            truth, truth.trace, answer, same_numbers=same_numbers, is_shared=is_shared, confirm=confirm,
            loosely=loosely,
        )
    except Refused as error:  # by the reference where it computes bounds: counted, and never in silence
        return Verdict("discarded", reason=str(error))


def _judged_history(program: Program, answer: Any) -> Verdict:
    """The mismatches of a history: one for each violation, whose name is the kind."""
    found, reads = violations_of(program, answer)
    mismatches = [Mismatch("history", name, f"{name}: {text}") for name, text in found]
    if not mismatches:
        return Verdict("passed", exact=reads)
    return Verdict("failed", mismatches, exact=reads, reason=mismatches[0].text)


def compare(program: Program, ours: Trace, theirs: Trace, *, same_numbers: bool = False) -> Verdict:
    """Compare two traces of one program; see the module's text.

    Args:
        program: the program.
        ours: the reference's trace of it.
        theirs: the trace to be judged. Arrays that the reference does not have are ignored.
        same_numbers: whether equal seeds must give equal random numbers, as in MXNet; else only their distribution
            is judged.
    """
    return _compared(Truth(program), ours, theirs, same_numbers=same_numbers)


def _compared(
    truth: Truth, ours: Trace, theirs: Trace, *, same_numbers: bool, is_shared: bool = False, confirm: bool = True,
    loosely: bool = False,
) -> Verdict:
    """Compare; where other answers are judged by the same truth, all bounds are found at once."""
    if draws_numbers(truth.program) and not same_numbers:
        return _judged_by_distribution(truth.program, ours, theirs)
    if truth.declared.bits:
        return _judged_by_bits(ours, theirs)

    if loosely and truth.program["level"] > 2:  # bounds of a training take longer than running it
        rough = compare_within(ours, theirs, lambda: {name: _roughly(array) for name, array in ours.items()})
        if rough.mismatches:
            return rough

    is_ours = truth.declared.keeps_reference()

    def expected() -> dict[str, Expected]:
        if is_shared:
            return truth.expected
        wanted = {name for name, mine in ours.items() if not (is_ours and _are_equal(mine, theirs.get(name)))}
        return truth.expected_of(wanted)

    return compare_within(ours, theirs, expected, (lambda: truth.proved) if confirm else None, is_ours=is_ours)


def _roughly(reference: np.ndarray) -> Expected:
    """Values with the widest bounds: an element outside them is wrong, or free."""
    values = reference.astype(np.float64)
    finite = np.isfinite(values)
    return Expected(values, np.where(finite, LOOSE * np.abs(values[finite]).max(initial=0.0), np.inf))


def _are_equal(one: np.ndarray, other: np.ndarray | None) -> bool:
    if other is None:
        return False
    if one.dtype == other.dtype and one.shape == other.shape and one.tobytes() == other.tobytes():
        return True  # five times as quick to tell, and mostly so
    return np.array_equal(one, other, equal_nan=one.dtype.kind == "f")


def compare_within(
    ours: Trace, theirs: Trace, expect: Callable[[], dict[str, Expected]],
    prove: Callable[[], dict[str, Expected] | None] | None = None, *, is_ours: bool = True,
) -> Verdict:
    """Compare two traces of code that also ran here under :func:`bounds.tracking`.

    Args:
        ours: the reference's trace.
        theirs: the trace to be judged. Arrays that the reference does not have are ignored.
        expect: gives values in double precision and bounds; it is called where an element is not equal.
        prove: gives them with proved bounds, or None where these are too expensive; without it nothing is confirmed.
        is_ours: whether the reference's trace is right; it need not be where a narrower arithmetic is declared.
    """
    verdict = Verdict("passed")
    expected, proved = cache(expect), cache(prove or (lambda: None))
    for name, reference, got in _of_one_form(verdict, ours, theirs):
        if is_ours and _are_equal(reference, got):
            verdict.exact += got.size
            continue
        shown = reference if is_ours else _finite(reference, expected()[name])
        mismatch = _judge(verdict, name, shown, got, expected()[name])
        if mismatch is not None:
            mismatch = _confirmed(verdict, mismatch, shown, proved())
        if mismatch is not None:
            verdict.mismatches.append(mismatch)
    return _ended(verdict)


@decides("oracle/declared-reference")
def _finite(reference: np.ndarray, expected: Expected) -> np.ndarray:
    """The reference's array where it decides that an element is free: where it is finite and the value is not."""
    values = expected.values
    return np.where(np.isfinite(reference) & np.isfinite(values), values, reference)


@decides("oracle/declared-bits")
def _judged_by_bits(ours: Trace, theirs: Trace) -> Verdict:
    """Every element must have the reference's bits; any NaN is as good as another."""
    verdict = Verdict("passed")
    for name, reference, got in _of_one_form(verdict, ours, theirs):
        wrong = reference != got
        if got.dtype.kind == "f":
            wrong |= np.signbit(reference) != np.signbit(got)
            wrong &= ~(np.isnan(reference) & np.isnan(got))
        verdict.exact += got.size
        if wrong.any():
            values = reference.astype(np.float64)
            verdict.mismatches.append(_value(name, Expected(values, np.zeros(values.shape)), got, wrong))
    return _ended(verdict)


def _judged_by_distribution(program: Program, ours: Trace, theirs: Trace) -> Verdict:
    verdict = Verdict("passed")
    can = can_judge(program)
    for _, reference, _ in _of_one_form(verdict, ours, theirs):
        if can:
            verdict.statistical += reference.size
        else:
            verdict.free += reference.size
    if can and not verdict.mismatches:
        verdict.mismatches += [Mismatch(name, "distribution", text) for name, text in unlikely(program, theirs)]
    return _ended(verdict)


def _of_one_form(verdict: Verdict, ours: Trace, theirs: Trace) -> Iterator[tuple[str, np.ndarray, np.ndarray]]:
    """The arrays that can be compared, as (name, ours, theirs); a missing one or one of another form is a mismatch.

    Of the latter, numbers of a wider type are compared as well.
    """
    for name, reference in ours.items():
        got = theirs.get(name)
        wrong_form = _form(name, reference, got)
        if wrong_form is not None:
            verdict.mismatches.append(wrong_form)
        if got is not None and (wrong_form is None or _is_wider(reference, got)):
            yield name, reference, _as_wide(got, reference.dtype)


def _as_wide(got: np.ndarray, dtype: np.dtype) -> np.ndarray:
    with np.errstate(over="ignore"):
        return got.astype(dtype, copy=False)


def _is_wider(reference: np.ndarray, got: np.ndarray) -> bool:
    """Whether an array differs in form by a wider floating type alone: its numbers can be judged too, rounded once."""
    floats = reference.dtype.kind == got.dtype.kind == "f"
    return floats and got.shape == reference.shape and got.itemsize > reference.itemsize


def _ended(verdict: Verdict) -> Verdict:
    if verdict.mismatches:
        verdict.status = "failed"
        verdict.reason = verdict.mismatches[0].text
    return verdict


def _form(name: str, reference: np.ndarray, got: np.ndarray | None) -> Mismatch | None:
    if got is None:
        return Mismatch(name, "missing", f"{name} is not in the trace")
    if got.shape != reference.shape:
        return Mismatch(name, "shape", f"{name} has shape {list(got.shape)}, expected {list(reference.shape)}")
    if got.dtype != reference.dtype:
        return Mismatch(name, "dtype", f"{name} has type {got.dtype}, expected {reference.dtype}")
    return None


def _judge(
    verdict: Verdict, name: str, reference: np.ndarray, got: np.ndarray, expected: Expected
) -> Mismatch | None:
    free, wrong = judged(reference, got, expected)
    verdict.free += int(free.sum())
    verdict.exact += int((~free & (expected.bounds == 0)).sum())
    verdict.bounded += int((~free & (expected.bounds > 0)).sum())
    return _value(name, expected, got, wrong) if wrong.any() else None


@decides("oracle/confirmed")
def _confirmed(
    verdict: Verdict, suspect: Mismatch, reference: np.ndarray, proved: dict[str, Expected] | None
) -> Mismatch | None:
    """A suspect as the second bound sees it: None where that says that nothing is wrong."""
    if proved is None:
        return suspect._replace(confirmed=False)
    got, wrong, expected = suspect.got, suspect.wrong, proved[suspect.name]
    assert got is not None
    assert wrong is not None
    still = wrong & judged(reference, got, expected)[1]
    spared = int(wrong.sum()) - int(still.sum())
    verdict.spared += spared
    verdict.free += spared
    return _value(suspect.name, expected, got, still) if still.any() else None


@decides("oracle/tiers")
def judged(reference: np.ndarray, got: np.ndarray, expected: Expected) -> tuple[np.ndarray, np.ndarray]:
    """Which elements are free, and which of the others are wrong.

    Args:
        reference: the reference's array in the program's own precision.
        got: the array to be judged, of its shape.
        expected: the values in double precision and their bounds.
    """
    values, bounds = expected
    if got.dtype.kind != "f":
        return bounds > 0, (bounds == 0) & (got != reference)
    largest = np.abs(values[np.isfinite(values)]).max(initial=0.0)
    free = ~_inside(reference, values, bounds) | ~(bounds <= max(LOOSE * largest, np.finfo(got.dtype).tiny))
    return free, ~free & ~_inside(got, values, bounds)


@decides("oracle/not-a-number")
def _inside(got: np.ndarray, values: np.ndarray, bounds: np.ndarray) -> np.ndarray:
    with np.errstate(all="ignore"):
        wide = got.astype(np.float64)
        return (np.abs(wide - values) <= bounds) | (wide == values) | (np.isnan(wide) & np.isnan(values))


def _value(name: str, expected: Expected, got: np.ndarray, wrong: np.ndarray) -> Mismatch:
    values, bounds = expected
    first = np.unravel_index(int(np.flatnonzero(wrong)[0]), wrong.shape)
    at = [int(i) for i in first]
    allowed = float(bounds[first])
    text = (
        f"{name}{at} is {got[first]:.9g}, expected {values[first]:.9g}"
        f"{f' within {allowed:.3g}' if allowed else ' exactly'}; {int(wrong.sum())} of {wrong.size} elements are wrong"
    )
    return Mismatch(name, "value", text, values, bounds, got, wrong)
