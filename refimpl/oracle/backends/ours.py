"""The reference itself, in each form of its loops: the oracle must find nothing here.

    --oracle-backend=refimpl.oracle.backends.ours:plain    the page's text, compiled
    :tuned      with the faster twins, which add in another order
    :python     the page's text as plain Python
    :cuda       on a CUDA device, or in Numba's simulator with NUMBA_ENABLE_CUDASIM=1
    :cuda_text  the text for CUDA as plain Python, which needs neither
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from types import SimpleNamespace
from typing import Any

import refimpl

from ...kernels.foundation.loop import SIMULATED, plain_kernels, python_loops
from ..drawing.choices import Capabilities
from ..drawing.drawn_graphs import drawable
from ..drawing.drawn_networks import IN_NETWORKS
from ..judging.reference import Program, Trace
from ..programs import interpreter
from .describing import description
from .protocol import Crashed

FORMS: dict[str, Callable[[], AbstractContextManager[Any]]] = {
    "plain": plain_kernels, "tuned": nullcontext, "python": python_loops, "cuda": lambda: refimpl.gpu(0),
    "cuda_text": partial(python_loops, "gpu"),
}
"""Form -> the block that programs run in."""


class Ours:
    """The reference itself.

    Args:
        form: one of ``FORMS``.
        dtypes: the floating types that are drawn.

    Raises:
        Crashed: there is no CUDA device, and no simulator.
    """

    def __init__(self, form: str, dtypes: tuple[str, ...] = ("float32",)) -> None:
        self.form, self.block = form, FORMS[form]
        self.version = f"refimpl {refimpl.__version__}, {form}"
        self.capabilities = Capabilities(level=max(interpreter.SESSIONS), dtypes=dtypes, corners=True)
        if form == "cuda" and SIMULATED:  # a simulated thread for each of 40,000 random numbers takes minutes
            self.capabilities = self.capabilities._replace(operators=frozenset((*drawable(), *IN_NETWORKS)))
        self.library: Any = refimpl
        if form == "cuda":
            if not SIMULATED and not refimpl.context.num_gpus():
                raise Crashed("there is no CUDA device; NUMBA_ENABLE_CUDASIM=1 simulates one")
            self.library = SimpleNamespace(**{**vars(refimpl), "cpu": refimpl.gpu})  # programs ask for cpu()

    def describe(self) -> str:
        """The supported levels and operators, as text."""
        return description(self.capabilities, self.version)

    def run(self, program: Program) -> Trace:
        """See ``protocol.Backend.run``."""
        with self.block():
            return interpreter.run(self.library, program)


def plain() -> Ours:
    """Compiled from the pages' text."""
    return Ours("plain")


def tuned() -> Ours:
    """With the faster twins."""
    return Ours("tuned")


def python() -> Ours:
    """The pages' text as plain Python."""
    return Ours("python")


def cuda() -> Ours:
    """On a CUDA device or in the simulator."""
    return Ours("cuda")


def cuda_text() -> Ours:
    """The text for CUDA as plain Python."""
    return Ours("cuda_text")
