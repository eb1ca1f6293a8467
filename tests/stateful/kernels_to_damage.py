"""Runs a few kernels with a given cache folder, in a process of its own each time.

    python -m tests.stateful.kernels_to_damage

Reads a line of JSON, [cache folder, number of processes, whether Ctrl-C comes]; forks them all at once, and answers
with a line: for each, the values, the lines that were logged, and how many kernels were compiled. Ctrl-C comes when
the first kernel is being compiled.
"""

from __future__ import annotations

import json
import logging
import os
import resource
import signal
import sys
from typing import Any

import numba
from numba.core import event

import refimpl as mx
from refimpl.kernels.foundation import LOOPS

MEMORY, SECONDS = 4 << 30, 30


def values() -> list[list[float]]:
    """Four kernels: two signatures of one function, another of the same page, and one of another page."""
    x = mx.nd.array([-1.5, 2.0, 0.25, -4.0])
    rectified = mx.nd.relu(x)
    exact = mx.nd.relu(mx.nd.array([-0.1, 0.1], dtype="float64"))
    return [array.asnumpy().tolist() for array in (rectified, exact, mx.nd.square(x), x + 1)]


class Interruption(event.Listener):
    """Sends SIGINT, as a terminal does, when something begins for the first time."""

    def __init__(self) -> None:
        self.sent = False

    def on_start(self, happened: event.Event) -> None:
        if not self.sent:
            self.sent = True
            os.kill(os.getpid(), signal.SIGINT)

    def on_end(self, happened: event.Event) -> None:
        pass


def interrupted_values() -> list[list[float]]:
    """What is computed after a Ctrl-C in the middle of compiling."""
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's jobs in the background ignore it
    try:
        with event.install_listener("numba:compile", Interruption()):
            values()
    except KeyboardInterrupt:
        return values()
    raise AssertionError("Ctrl-C was lost")


def run(cache: str, *, interrupt: bool) -> dict[str, Any]:
    """What a run with that cache computes, logs and compiles."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    signal.alarm(SECONDS)
    os.environ["REFIMPL_CACHE_DIR"] = cache
    lines: list[str] = []
    handler = logging.Handler()
    handler.emit = lambda record: lines.append(record.getMessage())  # type: ignore[method-assign]
    logging.getLogger().addHandler(handler)
    with event.install_recorder("numba:compile") as recorder:
        computed = interrupted_values() if interrupt else values()
    kernels = [loop._cpu for loop in LOOPS if loop._cpu is not None]  # formulas are compiled as parts of them
    compiled = [happened.data["dispatcher"] for _, happened in recorder.buffer if happened.is_start]
    return {"values": computed, "lines": lines, "compiled": sum(made in kernels for made in compiled)}


def forked(cache: str, *, interrupt: bool) -> tuple[int, int]:
    """Start a run; its number, and the pipe for its answer."""
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        try:
            os.write(writing, json.dumps(run(cache, interrupt=interrupt)).encode())
            os._exit(0)
        except BaseException:  # noqa: BLE001  # it is printed, and the process ends
            sys.excepthook(*sys.exc_info())
        finally:
            os._exit(1)
    os.close(writing)
    return child, reading


def main() -> None:
    numba.njit(lambda n: n)(1)  # what Numba does at its first call is done once, before the processes part
    for line in sys.stdin:
        cache, count, interrupt = json.loads(line)
        answers = []
        for child, reading in [forked(cache, interrupt=interrupt) for _ in range(count)]:
            with os.fdopen(reading, "rb") as pipe:
                answer = pipe.read()
            status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
            answers.append(json.loads(answer) if status == 0 else {"died": status})
        print(json.dumps(answers), flush=True)


if __name__ == "__main__":
    main()
