"""The protocol of a backend: one method, or one function with a decorator.

    class Mine:
        capabilities = Capabilities(level=2, operators=frozenset({"relu", "FullyConnected"}))

        def run(self, program):        # a program as data, see oracle.programs
            return {"1/output0": ...}  # its trace: arrays by step and name

``run`` raises :class:`Unsupported` for a program that it cannot run, :class:`Refused` with the implementation's error.
"""

from __future__ import annotations

from typing import Any, Protocol

from ...base import decides
from ..bounds import NOTHING, Declared
from ..drawing.choices import Capabilities
from ..judging.reference import Program, Trace, trace_of
from ..programs.interpreter import Refused


class Unsupported(Exception):
    """The implementation lacks an operator or feature of the program; the text names it."""


class Crashed(Exception):
    """The process of the implementation ended, or did not answer in time; the text says how."""


class Backend(Protocol):
    """An implementation under test."""

    capabilities: Capabilities

    def run(self, program: Program) -> Trace:
        """Run a program.

        Args:
            program: a checked program of at most the level that ``capabilities`` names.

        Returns:
            its trace, with the names that ``programs.interpreter`` gives.

        Raises:
            Unsupported: the implementation cannot do that.
            Refused: it raised an error of its own.
            Crashed: it ended or hung.
        """
        ...


@decides("oracle/declared")
def declared_of(backend: Any) -> Declared:
    """The arithmetic that a backend declares in its attribute ``declares``; without one nothing is declared."""
    found: Declared = getattr(backend, "declares", NOTHING)
    return found


class Reference:
    """The reference as a backend: for testing the oracle itself."""

    capabilities = Capabilities()

    def run(self, program: Program) -> Trace:
        """See :class:`Backend`."""
        return trace_of(program)


__all__ = ["Backend", "Capabilities", "Crashed", "Reference", "Refused", "Unsupported", "declared_of"]
