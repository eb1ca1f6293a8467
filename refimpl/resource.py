"""What operators borrow from the machine besides memory: the random streams of each context."""

from __future__ import annotations

import numpy as np

from . import engine
from .base import decides
from .context import Context
from .kernels.foundation import Buffer, allocate, as_buffer
from .kernels.foundation.forks import own_lock
from .kernels.shared.random_streams import STATE_SIZE, seed_streams

_LOCK = own_lock()
_STREAMS: dict[Context, Buffer] = {}
_SEED = 0  # as MXNet: without mx.random.seed every process draws the same numbers


@decides("random/streams")
def stream_seed(seed: int, context: Context) -> int:
    """The seed of one context's streams: [random/streams] of spec/reference/arrays/random.md."""
    return (seed + context.device_id * 1_000_003) & 0x7FFFFFFF if context.device_id else seed


def random_streams(context: Context) -> Buffer:
    """Return the generator state of ``context``, seeded on first use."""
    found = _STREAMS.get(context)
    if found is None:
        with _LOCK:
            found = _STREAMS.get(context)
            if found is None:
                found = allocate((STATE_SIZE,), np.dtype(np.uint32), context.memory)
                seed_streams(found, stream_seed(_SEED, context))
                _STREAMS[context] = found
    return found


def seed_all(seed: int) -> None:
    """Restart the streams of every context, those not yet used included."""
    global _SEED  # noqa: PLW0603  # the one global seed of the process, as in MXNet
    with _LOCK:
        _SEED = seed
        for context, state in _STREAMS.items():
            engine.overwrite(state)
            seed_streams(state, stream_seed(seed, context))


def seed_one(seed: int, context: Context) -> None:
    """Restart the streams of one context."""
    state = random_streams(context)
    with _LOCK:
        engine.overwrite(state)
        seed_streams(state, stream_seed(seed, context))


def fresh_streams() -> tuple[dict[Context, Buffer], int]:
    """Streams that nobody has drawn from, of the seed that holds now: for :func:`exchange_streams`."""
    return {}, _SEED


def exchange_streams(streams: tuple[dict[Context, Buffer], int]) -> tuple[dict[Context, Buffer], int]:
    """Draw from other streams from now on; return those in use until now."""
    global _STREAMS, _SEED  # one set is in use at a time
    with _LOCK:
        before, (_STREAMS, _SEED) = (_STREAMS, _SEED), streams
    return before


def remembered_streams() -> tuple[int, list[tuple[str, int, np.ndarray]]]:
    """The seed, and the streams in use as (device type, device id, state): for :func:`restore_streams`."""
    with _LOCK:
        streams = [(at.device_type, at.device_id, state.to_numpy().copy()) for at, state in _STREAMS.items()]
        return _SEED, streams


def restore_streams(remembered: tuple[int, list[tuple[str, int, np.ndarray]]]) -> None:
    """Go on with the streams as they were when they were remembered."""
    seed, streams = remembered
    contexts = [Context(kind, number) for kind, number, _ in streams]
    exchange_streams((
        {at: as_buffer(state.copy(), at.memory) for at, (_, _, state) in zip(contexts, streams, strict=True)}, seed
    ))
