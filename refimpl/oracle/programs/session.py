"""The base of all sessions: makes arrays from data, and entries of a trace from arrays and plain numbers.

A session is a class with one method for each step of a level; ``interpreter.run`` calls them in order. A method returns
the pairs (name, value) that its step records.
"""

import shutil
import tempfile
from contextlib import suppress

import numpy as np

from .program import symbol_json
from .values import array_of

MOST_FAILURES = 100  # so many are forgotten; where waiting fails for ever, the program will hear of it


class Session:
    """A program that is being run."""

    def __init__(self, mx, program, look):
        self.mx, self.program, self.look = mx, program, look
        self.failed = False  # whether a step was refused
        self.number = 0  # of the step that runs
        self._folder = None
        self._graph = None

    def symbol_from(self, graph):
        """A symbol of the nodes and heads of ``graph``."""
        return self.mx.sym.load_json(symbol_json(graph))

    @property
    def graph(self):
        """The program's graph as a symbol, the same one for all steps."""
        if self._graph is None:
            self._graph = self.symbol_from(self.program)
        return self._graph

    def again(self, look):
        """Prepare to run the program once more, with another ``look``; returns whether that can be done."""
        del look
        return False

    def array(self, spec, device=0):
        """An NDArray on a logical device of the CPU."""
        value = array_of(spec)
        return self.mx.nd.array(value, ctx=self.mx.cpu(device), dtype=value.dtype)

    def seen(self, array):
        """The trace's entry for an NDArray."""
        self.mx.nd.waitall()  # MXNet does not always wait for what changes states
        return self.look(array.tostype("default") if array.stype != "default" else array)

    def plain(self, value):
        """The trace's entry for a number, or a list of numbers, that no arithmetic of the implementation rounded."""
        return self.look(self.mx.nd.array(np.array(value, "float64"), dtype="float64"))

    def seed(self, value):
        """Begin the streams of random numbers anew."""
        self.mx.random.seed(value)
        return ()

    def forget_failures(self):
        """Raise and drop failures of earlier programs and other threads, so that this program does not meet them."""
        for _ in range(MOST_FAILURES):
            with suppress(Exception):
                self.mx.nd.waitall()
                return

    def folder(self):
        """A temporary folder, made when it is first asked for."""
        if self._folder is None:
            self._folder = tempfile.mkdtemp(prefix="program-")
        return self._folder

    def close(self):
        """Remove the files that the program wrote."""
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)
