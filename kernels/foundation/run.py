"""Run one operator's forward or backward over buffers: optional inputs, modes, half precision."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .buffer import Buffer, allocate
from .contract import Op

_HALF = np.dtype(np.float16)
_SINGLE = np.dtype(np.float32)


def _widened(buffer: Buffer | None) -> Buffer | None:
    """A float32 copy of a float16 buffer; anything else as it is."""
    if buffer is None or buffer.flat.dtype != _HALF:
        return buffer
    wide = allocate(buffer.shape, _SINGLE, buffer.device)
    wide.fill_from(buffer.to_numpy())
    return wide


def _through_single(call: Any, lists: Sequence[Sequence[Buffer | None]], written: Sequence[int]) -> None:
    """Run ``call`` on float32 copies of float16 buffers, then copy back the lists that it writes."""
    wide = [[_widened(buffer) for buffer in group] for group in lists]
    call(*wide)
    for index in written:
        for narrow, result in zip(lists[index], wide[index], strict=True):
            if narrow is not result and narrow is not None and result is not None:
                narrow.fill_from(result.to_numpy())


def _is_half(buffers: Sequence[Buffer | None]) -> bool:
    return _HALF in [buffer.flat.dtype for buffer in buffers if buffer is not None]


def forward(
    op: Op,
    p: Any,
    ins: list[Buffer],
    outs: list[Buffer],
    *,
    is_train: bool = False,
    rng: Any = None,
) -> None:
    """Fill ``outs`` (all outputs, hidden ones too) from active inputs ``ins``."""
    extra: dict[str, Any] = {}
    if op.mode:
        extra["is_train"] = is_train
    if op.random:
        extra["rng"] = rng
    if not op.takes_half and (_is_half(ins) or _is_half(outs)):
        _through_single(
            lambda a, b: op.forward(p, *op.full_inputs(p, a), *b, **extra), [ins, outs], (0, 1)
            if op.mutates else (1,),
        )
    else:
        op.forward(p, *op.full_inputs(p, ins), *outs, **extra)


def backward(
    op: Op,
    p: Any,
    heads: list[Buffer],
    needs: list[Buffer | None],
    grads: list[Buffer | None],
    *,
    is_train: bool = True,
) -> None:
    """Fill the wanted ``grads`` (one per active input, None where nobody asked)."""
    extra: dict[str, Any] = {"is_train": is_train} if op.mode else {}

    def call(h: list, n: list, g: list) -> None:
        assert op.backward is not None
        op.backward(p, *h, *n, *op.full_inputs(p, g), **extra)

    if not op.takes_half and (_is_half(heads) or _is_half(needs) or _is_half(grads)):
        _through_single(call, [heads, needs, grads], (1, 2) if op.mutates else (2,))
    else:
        call(heads, needs, grads)
