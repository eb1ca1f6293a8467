"""Work in a child of this process: what it changes dies with it, and it cannot take longer than it may."""

from __future__ import annotations

import os
import pickle
import resource
import select
import signal
import sys
import threading
import time
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

from . import regions
from .regions import ROOT, Lines

WATCHDOG = 30.0  # seconds


def child(work: Callable[[], Any], seconds: float) -> tuple[str, Any]:
    """("done", result), ("failed", error) or ("late", None) of work done in a child of this process.

    Late is more than so many seconds of processor time, or on the clock ten times as many and WATCHDOG: it waits.
    """
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(read)
        used = sum(resource.getrusage(resource.RUSAGE_SELF)[:2])
        resource.setrlimit(resource.RLIMIT_CPU, (int(used + seconds) + 1, resource.RLIM_INFINITY))
        try:
            result = work()
            answer: tuple[str, Any] = ("done", (result, sum(resource.getrusage(resource.RUSAGE_SELF)[:2]) - used))
        except BaseException as error:  # noqa: BLE001  # a broken program may raise anything
            answer = ("failed", repr(error)[:300])
        with os.fdopen(write, "wb") as pipe:
            pickle.dump(answer, pipe)
        os._exit(0)
    os.close(write)
    end, data = time.monotonic() + WATCHDOG + 10 * seconds, b""
    with os.fdopen(read, "rb") as pipe:
        while True:
            ready, _, _ = select.select([pipe], [], [], max(0.0, end - time.monotonic()))
            if not ready:
                os.kill(pid, signal.SIGKILL)
                break
            chunk = os.read(pipe.fileno(), 1 << 20)
            if not chunk:
                break
            data += chunk
    os.waitpid(pid, 0)
    return pickle.loads(data) if data else ("late", None)


def traced(run: Callable[[], None]) -> Callable[[], Lines]:
    """Run and return the lines of the package that were reached."""
    folders = tuple(str(ROOT / name) + os.sep for name in regions.PACKAGES)

    def work() -> Lines:
        found: dict[str, set[int]] = defaultdict(set)

        def line(frame: Any, event: str, _: object) -> Any:
            if event == "line":
                found[frame.f_code.co_filename].add(frame.f_lineno)
            return line

        def call(frame: Any, event: str, _: object) -> Any:
            return line if frame.f_code.co_filename.startswith(folders) else None

        threading.settrace(call)
        sys.settrace(call)
        try:
            run()
        finally:
            sys.settrace(None)
            threading.settrace(None)  # type: ignore[arg-type]  # None ends it
        return {Path(file).resolve(): lines for file, lines in found.items()}  # pages come through a link

    return work


def untraced(run: Callable[[], None]) -> Lines:
    run()
    return {}
