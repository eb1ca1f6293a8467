"""The hook of the profiler: two attributes that are None unless the profiler runs.

Code that runs an operator reads one of them, and does nothing more when it is None. The profiler, which lies above,
sets them to its watch.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Protocol

from ..base import decides
from ..context import Context


class Watch(Protocol):
    """An object that is called when an operator begins and ends."""

    def begin(self, name: str, context: Context, shapes: Sequence[tuple[int, ...]], node: str = "") -> Any:
        """Note the begin of operator ``name`` on ``context``; the result is passed to :meth:`end`.

        ``shapes`` are the shapes of its inputs, ``node`` is the name of its node in a graph.
        """

    def end(self, begun: Any) -> None:
        """Note the end of an operator; ``begun`` is the result of its :meth:`begin`."""


imperative: Watch | None = None
"""Watches operators that run one by one (``mx.nd``)."""

symbolic: Watch | None = None
"""Watches the steps of executors."""

_PLAIN = {"CopyStep": "_copy", "ZeroStep": "_zeros"}


def _described(step: Any) -> tuple[str, list[tuple[int, ...]], str]:
    """(name of the operator, shapes of its inputs, name of the node) of an executor's step."""
    node = getattr(step, "node", None)
    reads = getattr(step, "inputs", None)
    if reads is None and node is not None:
        reads = [*step.heads, *step.needs]
    shapes = [buffer.shape for buffer in reads or () if buffer is not None]
    if node is not None:
        return node.kind, shapes, node.name
    op = getattr(step, "op", None)
    return (_PLAIN.get(type(step).__name__, "_copy") if op is None else op.name), shapes, ""


@decides("Profiler/operators")
def run_steps(watch: Watch, steps: Iterable[Any], is_train: bool, context: Context) -> None:
    """Run an executor's steps, and note the begin and the end of each with ``watch``."""
    for step in steps:
        begun = watch.begin(*_arguments(step, context))
        try:
            step.run(is_train)
        finally:
            watch.end(begun)


def _arguments(step: Any, context: Context) -> tuple[str, Context, list[tuple[int, ...]], str]:
    name, shapes, node = _described(step)
    return name, getattr(step, "context", context), shapes, node
