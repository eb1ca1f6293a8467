"""Makes ``gpu(i)`` mean ``cpu(i)`` during a block."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from ...base import decides
from ...context import Context


@contextmanager
@decides("run/gpu-as-cpu")
def on_the_processor() -> Iterator[set[int]]:
    """Within the block ``gpu(i)`` is ``cpu(i)``. Yields the numbers that were asked for so far."""
    asked: set[int] = set()
    original = Context.__init__

    def init(self: Context, device_type: str | Context, device_id: int = 0) -> None:
        if device_type == "gpu":
            asked.add(device_id)
            device_type = "cpu"
        original(self, device_type, device_id)

    Context.__init__ = init  # type: ignore[method-assign]  # put back below
    try:
        yield asked
    finally:
        Context.__init__ = original  # type: ignore[method-assign]
