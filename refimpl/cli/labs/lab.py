"""The parts of a lab: a task, a file to fill in, and laws that each prove one rule of the specification."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ...oracle.drawing.draws import Draw

WIDTH = 96


class Broken(Exception):
    """A law does not hold.

    Args:
        expected: the reference's result, or the rule's.
        got: the result of the student's code.
    """

    def __init__(self, expected: object, got: object) -> None:
        super().__init__(f"expected {shown(expected)}, got {shown(got)}")
        self.expected, self.got = shown(expected), shown(got)


def demand(holds: bool, expected: object, got: object) -> None:
    """Break the law unless ``holds``."""
    if not holds:
        raise Broken(expected, got)


@dataclass(frozen=True)
class Law:
    """One rule, and a function that draws a case and raises :class:`Broken` where the student's code breaks it.

    Attributes:
        holds: called with the student's code (:class:`~refimpl.cli.labs.call_recorder.Watched`) and a source of
            choices.
        clause: the rule.
        examples: how many cases are drawn.
    """

    holds: Callable[[Any, Draw], None]
    clause: str
    examples: int = 100


@dataclass(frozen=True)
class Lab:
    """A task.

    Attributes:
        name: as on the command line.
        title: one line.
        chapter: the chapter to read, as a path in a checkout.
        task: the task in a few sentences.
        stub: the file to fill in; ``{rules}`` becomes the words of the rules.
        laws: the laws, in the order in which a student meets them.
        words: the text of each rule in the lab's own terms.
        answers: names of the package that solve the task; a file that uses one is not judged.
        seconds: the time limit of one call of the student's code.
    """

    name: str
    title: str
    chapter: str
    task: str
    stub: str
    laws: Sequence[Law]
    words: Mapping[str, str]
    answers: frozenset[str] = frozenset()
    seconds: float = 5.0

    @property
    def module(self) -> str:
        """The lab's name as a name of Python."""
        return self.name.replace("-", "_")

    @property
    def clauses(self) -> list[str]:
        """The rules that are judged."""
        return list(dict.fromkeys(law.clause for law in self.laws))

    def code(self) -> str:
        """The file to fill in."""
        words = "\n\n".join(textwrap.fill(f"[{name}] {self.words[name]}", WIDTH) for name in self.clauses)
        return self.stub.replace("{rules}", words).lstrip("\n")

    def text(self) -> str:
        """The task as Markdown."""
        listed = "\n".join(textwrap.fill(f"* `{name}`: {self.words[name]}", WIDTH, subsequent_indent="  ")
                           for name in self.clauses)
        return (
            f"# {self.title}\n\n{self.task.strip()}\n\nWrite your code into `{self.module}.py`, then ask as often as"
            f" you like:\n\n```sh\nrefimpl lab check {self.name}\n```\n\nThe chapter is `{self.chapter}`.\n\n"
            f"These rules are judged, in this order; `refimpl rule NAME` tells more of each.\n\n{listed}\n"
        )


def shown(value: object) -> str:
    """A value in few letters: arrays as nested lists, functions by their names, long texts cut."""
    name = getattr(value, "__name__", None)
    text = value if isinstance(value, str) else name if isinstance(name, str) else repr(_plain(value))
    return text if len(text) <= 400 else f"{text[:380]} ... ({len(text)} letters)"


def _plain(value: Any) -> Any:
    if hasattr(value, "asnumpy"):
        value = value.asnumpy()
    if hasattr(value, "tolist") and hasattr(value, "dtype"):
        return value.tolist()
    if type(value) in (list, tuple):
        return type(value)(_plain(one) for one in value)
    if isinstance(value, dict):
        return {key: _plain(one) for key, one in value.items()}
    return value


__all__ = ["Broken", "Lab", "Law", "demand", "shown"]
