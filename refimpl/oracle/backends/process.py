"""One process of a backend: it is started, asked, listened to with a time limit, and ended with its children."""

from __future__ import annotations

import os
import queue
import signal
import subprocess
import threading
from collections.abc import Sequence
from typing import IO, Any

from ...base import decides
from ..judging.reference import Program, Trace
from ..programs import messages
from ..programs.inline import with_references
from .hello import check_hello

SILENCE = "no answer within "
"""How the text begins that says of a program that its time was over."""


class Ended(Exception):
    """The process ended, hung or answered nonsense; the text says which."""


class Worker:
    """One process; it may be started again and again.

    Args:
        command: what starts it.
        environment: its whole environment.
        limit: seconds that a program may take.
        start_limit: seconds from its start to its first message.
        quiet: whether its standard error is dropped.
    """

    def __init__(
        self, command: Sequence[str], environment: dict[str, str], limit: float, start_limit: float, *, quiet: bool
    ) -> None:
        self.command, self.environment, self.quiet = list(command), environment, quiet
        self.limit, self.start_limit = limit, start_limit
        self.process: subprocess.Popen[bytes] | None = None
        self.answers: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self.requests: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self.due = threading.Semaphore(0)
        """How many messages the process still owes."""
        self.hello: dict[str, Any] = {}
        self.starts = 0
        self.fresh = True
        """Whether the next program is the first one of a process."""

    def start(self) -> None:
        """Start the process and read its first message; raises Ended where there is none, or a wrong one."""
        self.stop()
        self.starts += 1
        self.answers, self.requests, self.due = queue.SimpleQueue(), queue.SimpleQueue(), threading.Semaphore(1)
        try:
            self.process = subprocess.Popen(  # noqa: S603  # the command is the user's own
                self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL if self.quiet else None, env=self.environment, start_new_session=True,
            )
        except OSError as error:
            raise Ended(str(error)) from error
        threading.Thread(target=_read, args=(self.process, self.answers, self.due), daemon=True).start()
        threading.Thread(target=_write, args=(self.process.stdin, self.requests), daemon=True).start()
        hello, _ = self.next(self.start_limit)
        wrong = check_hello(hello)
        if wrong:
            self.stop()
            raise Ended(f"its first message: {wrong}")
        self.hello = hello

    @decides("oracle/arrays-inline")
    def ask(self, programs: Sequence[Program]) -> None:
        """Send a batch."""
        if self.process is None:
            self.start()
        self.fresh = False
        self.due.release(len(programs))
        if self.hello.get("inline"):
            self._send(*with_references(programs))
        else:
            self._send({"programs": list(programs)})

    def _send(self, message: dict[str, Any], arrays: Trace | None = None) -> None:
        self.requests.put(messages.pack(message, arrays))

    def renew(self) -> None:
        """Let the next program be the first one of a process; no answer may be awaited."""
        if self.process is not None and self.hello.get("forks"):
            self._send({"restart": True})
            self.fresh = True
        else:
            self.stop()

    def next(self, limit: float) -> tuple[dict[str, Any], Trace]:
        """The next answer; ends the process and raises Ended where there is none."""
        assert self.process is not None
        try:
            found = self.answers.get(timeout=limit)
        except queue.Empty:
            found = Ended(f"{SILENCE}{limit:g} s")
        if isinstance(found, tuple):
            if "ended" in found[0]:
                self.fresh = True
                self.starts += 1
                raise Ended(f"it ended with {found[0]['ended']}")
            return found
        process = self.process
        if found is None:
            try:
                code = process.wait(10)
            except subprocess.TimeoutExpired:
                code = None
            found = Ended("it closed its output" if code is None else f"it ended with {code}")
        self.stop()
        raise found

    def stop(self) -> None:
        """End the process, and the processes that it started."""
        process, self.process = self.process, None
        self.fresh = True
        if process is None:
            return
        self.requests.put(None)
        if process.returncode is None:  # after it was waited for, its number may be another's
            try:
                os.killpg(process.pid, signal.SIGKILL)
            except (AttributeError, OSError):  # Windows; nobody is left
                process.kill()
            process.wait()


def _write(stream: IO[bytes], requests: queue.SimpleQueue[bytes | None]) -> None:
    """Send requests until there is None; a thread of its own, because a process that does not read blocks it."""
    try:
        with stream:
            while (request := requests.get()) is not None:
                stream.write(request)
                stream.flush()
    except OSError:  # it has ended: reading says how
        return


@decides("oracle/message-limits")
def _read(process: subprocess.Popen[bytes], answers: queue.SimpleQueue[Any], due: threading.Semaphore) -> None:
    """Put the messages of a process into a queue; at its end None, or Ended where it wrote something else."""
    assert process.stdout is not None
    with process.stdout as stream:
        try:
            while (message := messages.unpack(stream)) is not None:
                if not due.acquire(blocking=False):
                    answers.put(Ended("it wrote a message that nobody asked for"))
                    return
                answers.put(message)
        except Exception as error:  # noqa: BLE001  # whatever it wrote, it was no message
            answers.put(Ended(f"it wrote what is no message ({type(error).__name__}: {error})"))
        answers.put(None)
