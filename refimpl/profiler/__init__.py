"""mx.profiler: how long operators take, as a trace for a browser and as a table."""

from __future__ import annotations

from .control import (
    KVStoreHandle,
    ProfileHandle,
    dump,
    dump_profile,
    dumps,
    pause,
    profiler_kvstore_handle,
    profiler_set_config,
    profiler_set_state,
    resume,
    set_config,
    set_kvstore_handle,
    set_state,
)
from .objects import Counter, Domain, Event, Frame, Marker, Task

__all__ = [
    "Counter", "Domain", "Event", "Frame", "KVStoreHandle", "Marker", "ProfileHandle", "Task", "dump",
    "dump_profile", "dumps", "pause", "profiler_kvstore_handle", "profiler_set_config", "profiler_set_state",
    "resume", "set_config", "set_kvstore_handle", "set_state",
]
