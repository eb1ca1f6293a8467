"""Folders of a job that are removed at its end: for sockets, and for logs that need to survive only processes."""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

from ...base import decides

MEMORY = Path("/dev/shm")  # noqa: S108  # the folders made there are the user's own
"""The folder whose files are in memory, on Linux."""

SPACE = 1 << 30
"""The free bytes per server that logs in ``MEMORY`` require; a log takes less, for parts of up to 256 MiB."""

_PREFIX = "refimpl-job-"


@contextlib.contextmanager
def folder_of_job(place: Path | None = None) -> Iterator[Path]:
    """A new folder of the user's own, in ``place`` or the system's temporary folder, removed after the block."""
    folder = Path(tempfile.mkdtemp(prefix=f"{_PREFIX}{os.getpid()}-", dir=place))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@decides("Cluster/log-memory")
def place_of_logs(servers: int) -> Path | None:
    """The folder in memory for the logs of a job; None if it has too little space, or does not exist."""
    try:
        there = MEMORY.is_dir() and os.access(MEMORY, os.W_OK) and shutil.disk_usage(MEMORY).free >= servers * SPACE
    except OSError:
        return None
    return MEMORY if there else None


def sweep() -> None:
    """Remove folders of launchers that were killed."""
    for place in (Path(tempfile.gettempdir()), MEMORY):
        for path in place.glob(f"{_PREFIX}*"):
            process = path.name.removeprefix(_PREFIX).partition("-")[0]
            try:
                if process.isdigit() and path.stat().st_uid == os.getuid():
                    os.kill(int(process), 0)
            except ProcessLookupError:
                shutil.rmtree(path, ignore_errors=True)
            except OSError:
                continue


__all__ = ["MEMORY", "SPACE", "folder_of_job", "place_of_logs", "sweep"]
