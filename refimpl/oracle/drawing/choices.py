"""Limits of drawing: the capabilities of an implementation, and exclusions of known faults."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

Program = dict[str, Any]


class Capabilities(NamedTuple):
    """The capabilities of the implementation under test, within which programs are drawn."""

    level: int = 2
    """Programs of levels 1 to this one."""
    operators: frozenset[str] | None = None
    """Names of operators; None for all."""
    dtypes: tuple[str, ...] = ("float32",)
    """Floating dtypes."""
    styles: tuple[str, ...] = ("dyadic", "smooth", "normal", "tied", "wide", "onehot", "special")
    """Styles of values, see ``programs.values``."""
    requirements: tuple[str, ...] = ("write", "add", "null")
    """What may be done with a gradient."""
    most_operators: int = 3
    """Drawn operators in a program, besides those that fit shapes and share results."""
    empty: bool = False
    """Whether a side may be 0."""

    others: tuple[int, ...] = ()
    """Levels beside these: (7,) for a cluster alone, with ``level`` 0."""
    corners: bool = False
    """Whether to draw what few implementations care for: values that operators do not expect (labels beyond the
    classes, negative sides of what must be positive), gradients of labels and lengths, backward passes after a forward
    pass for inference, and flags of operators that their usual calls leave alone."""

    def offers(self, level: int) -> bool:
        """Whether programs of a level may be asked for."""
        return level <= self.level or level in self.others

    @property
    def usual(self) -> int:
        """The level that is asked for where nobody names one."""
        return self.level or max(self.others)

    def has(self, name: str) -> bool:
        """Whether the operator may be used."""
        return self.operators is None or name in self.operators


class Exclusions(NamedTuple):
    """Patterns of known faults that are not drawn; everything else is drawn."""

    operators: frozenset[str] = frozenset()
    """Never drawn. ``NAME float64``: not for numbers of that type."""
    requirements: frozenset[tuple[str, str]] = frozenset()
    """(operator, requirement): a graph with that operator asks for no gradient of that kind. The requirement may be
    "write" for any gradient at all, "add", or "repeated" for more than one backward pass; the operator may be empty
    for any graph."""
    many_readers: bool = False
    """Whether no result is read by more than six operators."""
    together: frozenset[frozenset[str]] = frozenset()
    """Operators that are not drawn in one graph."""
    patterns: frozenset[frozenset[str]] = frozenset()
    """Sets of traits (see ``oracle.traits``): a program that has all traits of one is drawn anew."""
    aside: frozenset[tuple[frozenset[str], str]] = frozenset()
    """(traits, place): programs with these traits are drawn, but wrong arrays of that place are not reported again;
    their other arrays are judged."""

    def also(
        self, *, operator: str = "", requirement: str = "", many_readers: bool = False, together: Sequence[str] = (),
        pattern: Sequence[str] = (), aside: str = "",
    ) -> Exclusions:
        """These and one more: an operator as a whole, its gradients of one requirement, many readers, a meeting, or
        whatever has some traits; of this with ``aside`` one place alone.
        """
        if pattern and aside:
            return self._replace(aside=self.aside | {(frozenset(pattern), aside)})
        if pattern:
            return self._replace(patterns=self.patterns | {frozenset(pattern)})
        if many_readers:
            return self._replace(many_readers=True)
        if together:
            return self._replace(together=self.together | {frozenset(together)})
        if requirement:
            return self._replace(requirements=self.requirements | {(operator, requirement)})
        return self._replace(operators=self.operators | {operator})

    def leaves_out(self, name: str, dtype: Any) -> bool:
        """Whether an operator is not drawn for numbers of a type; ``operators`` may hold it for one type alone."""
        return bool(self.operators) and (name in self.operators or of_type(name, dtype) in self.operators)

    def allowed(self, requirement: str, operators: Sequence[str]) -> bool:
        """Whether a graph of these operators may ask for gradients in this way."""
        return not any((name, requirement) in self.requirements for name in (*operators, ""))


NOTHING = Exclusions()


def of_type(name: str, dtype: Any) -> str:
    """How exclusions call an operator for numbers of one type."""
    return f"{name} {dtype}"


class NothingToDraw(ValueError):
    """The capabilities and the exclusions leave no operator."""
