"""Runs the command of one worker, and again after its process was killed; sends its output to the launcher."""

from __future__ import annotations

import ctypes
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from typing import IO, Any

from ...base import decides, require
from .seat import VARIABLE
from .sockets import Caller, Keys, wait_for

OUTPUT, NEWS = b"o", b"n"

FAST = 1.0
AT_MOST = 10
"""The number of times in a row, each within ``FAST`` seconds, after which a killed process is not started again."""

REACHED = 30.0
"""Seconds after which a keeper that has not reached the launcher gives up."""

_PR_SET_PDEATHSIG = 1


def die_with_parent() -> None:
    """Make the operating system end this process when its parent ends, where the system can do that."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


class Keeper:
    """Watches over the process of one worker.

    Args:
        rank: the rank of the worker.
        command, folder, environment: the command, its working folder, and its environment variables.
        told: the content of its variable ``REFIMPL_JOB``, without the number of restarts.
        head: the address of the launcher.
        keys, server: keys for the connection to it, see :class:`~refimpl.kvstore.machines.sockets.Caller`.
    """

    def __init__(
        self, rank: int, command: Sequence[str], folder: str, environment: Mapping[str, str], told: Mapping[str, Any],
        head: str, keys: Keys | None = None, server: str = "",
    ) -> None:
        self._rank, self._command, self._folder = rank, list(command), folder
        self._environment, self._told = dict(environment), dict(told)
        self._head, self._where = Caller(head, f"keeper {rank} {os.getpid()}".encode(), keys, server), head
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._stopping = self._closed = False

    @decides("Cluster/restart")
    def run(self, restarts: int = 0) -> int:
        """Run the command until it ends by itself; returns its exit code.

        Args:
            restarts: how often the command was started before.

        Raises:
            MXNetError: the launcher cannot be reached; the command was not run.
        """
        self._reach()
        fast = 0
        while True:
            began = time.monotonic()
            code = self._once(restarts)
            fast = fast + 1 if time.monotonic() - began < FAST else 0
            killed = code == -signal.SIGKILL or code in (-signal.SIGSEGV, -signal.SIGBUS, -signal.SIGABRT)
            again = killed and self._told["returning"] and not self._stopping and fast < AT_MOST
            self._tell({"worker": self._rank, "ended": code, "again": again})
            if not again:
                return code
            restarts += 1

    @decides("Cluster/unreachable")
    def _reach(self) -> None:
        end = time.monotonic() + REACHED
        while time.monotonic() < end and not (self._head.up or self._stopping):
            with self._lock:
                if not self._closed:
                    wait_for([self._head], 0.1)
                    self._head.connected_anew()
        if not self._stopping:
            name = socket.gethostname()
            why = "the launcher does not know its key" if self._head.refused else "nobody answers there"
            require(
                "Cluster/unreachable",
                self._head.up,
                f"its machine, {name}, cannot reach the launcher at {self._where} after {REACHED:.0f} s: {why}; let the"
                " machines reach each other at all ports, or name a network interface of each in DMLC_INTERFACE",
            )

    def stop(self) -> None:
        """End the process, without a message to the launcher."""
        self._stopping = True
        with self._lock:
            self._closed = True
            self._head.close()
        process = self._process
        if process is not None and process.poll() is None:
            process.terminate()
            try:
                process.wait(5)
            except subprocess.TimeoutExpired:
                process.kill()

    def _once(self, restarts: int) -> int:
        environment = {**self._environment, VARIABLE: json.dumps({**self._told, "restarts": restarts})}
        try:
            process = subprocess.Popen(  # noqa: S603  # that is what launching a command is
                self._command, cwd=self._folder, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                stderr=subprocess.PIPE, preexec_fn=die_with_parent if sys.platform == "linux" else None,  # noqa: PLW1509
            )
        except OSError as error:
            self._send(OUTPUT, 2, f"refimpl launch: cannot run {self._command[0]}: {error.strerror}\n".encode())
            return 127
        self._process = process
        if self._stopping:  # meanwhile
            process.kill()
        self._tell({"worker": self._rank, "started": process.pid, "restarts": restarts})
        threads = [
            threading.Thread(target=self._pass_on, args=(stream, number), daemon=True)
            for stream, number in ((process.stdout, 1), (process.stderr, 2))
        ]
        for thread in threads:
            thread.start()
        code = process.wait()
        for thread in threads:
            thread.join(5)  # what it started itself may hold the streams open
        return code

    def _pass_on(self, stream: IO[bytes] | None, number: int) -> None:
        assert stream is not None
        for line in iter(stream.readline, b""):
            self._send(OUTPUT, number, line)

    def _tell(self, news: Mapping[str, Any]) -> None:
        self._send(NEWS, 0, json.dumps(news).encode())

    def _send(self, kind: bytes, number: int, content: bytes) -> None:
        with self._lock:
            for _ in range(100):
                if self._closed:
                    return
                self._head.connected_anew()
                if self._head.up and self._head.send(kind, [f"{self._rank} {number} ".encode(), content]):
                    return
                wait_for([self._head], 0.1)


__all__ = ["NEWS", "OUTPUT", "Keeper", "die_with_parent"]
