"""Switching the profiler on and off, and reading what it found."""

from __future__ import annotations

import ctypes
import json
import warnings
from typing import Any, Literal, NamedTuple

from .. import engine
from ..base import decides, refusal, require
from ..engine import profiling_hook
from ..files.atomic import write_atomically
from ..kernels.foundation.params import parse
from .aggregate import as_json, as_table
from .recorder import RECORDER

KVStoreHandle = ctypes.c_void_p
ProfileHandle = ctypes.c_void_p
profiler_kvstore_handle = KVStoreHandle()


class Config(NamedTuple):
    """What may be set, with MXNet's defaults.

    Memory, API calls and periodic writing have no counterpart here: their settings are read and have no effect.
    """

    profile_all: bool = False
    profile_symbolic: bool = True
    profile_imperative: bool = True
    profile_memory: bool = True
    profile_api: bool = True
    filename: str = "profile.json"
    continuous_dump: bool = True
    dump_period: float = 1.0
    aggregate_stats: bool = False
    profile_process: Literal["worker", "server"] = "worker"


class _Control:
    """The profiler's state: stopped or running, running or paused."""

    def __init__(self) -> None:
        self.config = Config()
        self.running = False
        self.paused = False
        self.finished = False

    def apply(self) -> None:
        """Put the watch where operators look for it, or take it away."""
        wanted, on = self.config, self.running and not self.paused
        RECORDER.keeps_sums = wanted.aggregate_stats
        profiling_hook.symbolic = RECORDER if on and (wanted.profile_all or wanted.profile_symbolic) else None
        profiling_hook.imperative = RECORDER if on and (wanted.profile_all or wanted.profile_imperative) else None


CONTROL = _Control()


@decides("Profiler/off")
def recording() -> bool:
    """Whether tasks, counters and the like are remembered now."""
    return CONTROL.running and not CONTROL.paused


def _require_worker(profile_process: str) -> None:
    """Refuse to command a server: there is none beside this process."""
    if profile_process not in ("worker", "server"):
        raise refusal(
            "Profiler/process", f"profile_process must be 'worker' or 'server', got {profile_process!r}", KeyError
        )
    require(
        "Profiler/server", profile_process == "worker",
        "there is no parameter server to profile: everything runs in this process, use profile_process='worker'",
    )


def set_kvstore_handle(handle: Any) -> None:
    """Remember the store whose servers could be profiled."""
    profiler_kvstore_handle.value = getattr(handle, "value", handle)


@decides("Profiler/what")
def set_config(**kwargs: Any) -> None:
    """Choose what is measured: ``filename``, ``profile_all``, ``aggregate_stats`` ... (see :class:`Config`).

    What is not given returns to its default.

    Raises:
        MXNetError: a setting is unknown or has a value that it cannot have.
    """
    config = parse("profiler.set_config", Config, kwargs)
    _require_worker(config.profile_process)
    CONTROL.config = config
    CONTROL.apply()


def set_state(state: str = "stop", profile_process: str = "worker") -> None:
    """Start measuring with "run", end with "stop".

    Raises:
        KeyError: ``state`` is neither.
        MXNetError: ``profile_process`` is "server".
    """
    if state not in ("run", "stop"):
        raise refusal("Profiler/state", f"state must be 'run' or 'stop', got {state!r}", KeyError)
    _require_worker(profile_process)
    if state == "run" and CONTROL.finished:
        RECORDER.clear_rows()
        CONTROL.finished = False
    CONTROL.running, CONTROL.paused = state == "run", False
    CONTROL.apply()


@decides("Profiler/pause")
def pause(profile_process: str = "worker") -> None:
    """Leave out what follows, until :func:`resume`."""
    _require_worker(profile_process)
    CONTROL.paused = True
    CONTROL.apply()


@decides("Profiler/pause")
def resume(profile_process: str = "worker") -> None:
    """Measure again after :func:`pause`."""
    _require_worker(profile_process)
    CONTROL.paused = False
    CONTROL.apply()


@decides("Profiler/dump")
def dump(finished: bool = True, profile_process: str = "worker") -> None:
    """Write the trace of this run to the file named in the configuration.

    With ``finished`` the profiler stops, and the next run begins with an empty trace.

    Raises:
        MXNetError: the file cannot be written.
    """
    _require_worker(profile_process)
    if finished:
        set_state("stop")
        CONTROL.finished = True
    engine.current().finish_all()  # operators that are still to run were called while the profiler ran
    write_atomically(CONTROL.config.filename, json.dumps(RECORDER.trace(), indent=1).encode())


_SORTS = ("total", "avg", "min", "max", "count")


@decides("Profiler/sums")
def dumps(reset: bool = False, format: str = "table", sort_by: str = "total", ascending: bool = False) -> str:  # noqa: A002  # MXNet's name
    """Sums over all runs since the last ``reset``, as a "table" or as "json"; milliseconds.

    Args:
        reset: whether the sums begin anew afterwards.
        format: "table" or "json".
        sort_by: "total", "avg", "min", "max" or "count".
        ascending: whether the smallest comes first.

    Empty unless ``aggregate_stats`` was set.

    Raises:
        AssertionError: ``format`` or ``sort_by`` is none of those there are.
    """
    for what, value, choices in (("format", format, ("table", "json")), ("sort_by", sort_by, _SORTS)):
        if value not in choices:
            raise refusal(
                "Profiler/format", f"Invalid value provided for {what}: {value}. Support: {', '.join(choices)}",
                AssertionError,
            )
    if not CONTROL.config.aggregate_stats:
        return ""
    engine.current().finish_all()
    with RECORDER.lock:
        text = (as_table if format == "table" else as_json)(RECORDER, sort_by, ascending)
        if reset:
            RECORDER.clear_sums()
    return text


def _deprecated(old: str, new: str) -> None:
    warnings.warn(f"profiler.{old}() is deprecated; call profiler.{new}()", stacklevel=3)


def profiler_set_config(mode: str = "symbolic", filename: str = "profile.json") -> None:
    """:func:`set_config` of 2017: ``mode`` is "symbolic", "imperative", "api", "memory" or "all"."""
    _deprecated("profiler_set_config", "set_config")
    set_config(**{f"profile_{mode}": True}, filename=filename)


def profiler_set_state(state: str = "stop") -> None:
    """:func:`set_state` of 2017."""
    _deprecated("profiler_set_state", "set_state")
    set_state(state)


def dump_profile() -> None:
    """:func:`dump` of 2017."""
    _deprecated("dump_profile", "dump")
    dump(finished=True)
