"""A backend in processes of its own: warm workers, batches, a time limit for every program, a restart after a crash.

    backend = isolate("my.package:backend", workers=2, limit=5.0)
    traces = backend.run_many(programs)  # in order; an exception stands where there is no trace

A worker answers the programs of a batch one by one, so a crash points at the program that was running. That need not be
the culprit: an earlier program may have damaged memory. So the suspect runs again, alone and in a fresh process; if it
passes, halving the earlier programs finds the one that damages memory. A worker may fork itself after it has imported
its library, see ``programs.messages.serve``: a fresh process then starts at once.
"""

from __future__ import annotations

import json
import logging
import os
import queue
import re
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from ...base import decides
from ..drawing.choices import Capabilities
from ..judging.reference import Program, Trace
from ..programs import messages
from .protocol import Crashed, Refused, Unsupported

Answer = Trace | Exception
POISON = re.compile(r"could not execute a primitive|could not (create|initialize)|oneDNN|MKLDNN|CUDA|cuDNN|bad_alloc")
"""Errors after which a process is not asked again: what native libraries say when their state is spoilt."""

LAST = (
    "import runpy, sys; sys.path.append(sys.argv.pop(1));"
    "runpy.run_module('refimpl.oracle.backends.worker', run_name='__main__')"
)
"""Runs a worker in another Python. The folder of this package comes last: it may hold packages for this Python."""

SILENCE = "no answer within "
"""How the text begins that says of a program that its time was over."""


def is_silence(answer: object) -> bool:
    """Whether an answer says that a program did not end in time."""
    return isinstance(answer, Crashed) and str(answer).startswith(SILENCE)


class _Ended(Exception):
    """The process ended, hung or answered nonsense; the text says which."""


class _Worker:
    """One process; it may be started again and again."""

    def __init__(self, command: Sequence[str], environment: dict[str, str], limit: float, start_limit: float) -> None:
        self.command, self.environment = list(command), environment
        self.limit, self.start_limit = limit, start_limit
        self.process: subprocess.Popen[bytes] | None = None
        self.answers: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self.hello: dict[str, Any] = {}
        self.starts = 0
        self.fresh = True
        """Whether the next program is the first one of a process."""

    def start(self) -> None:
        self.stop()
        self.starts += 1
        self.answers = queue.SimpleQueue()
        self.process = subprocess.Popen(  # noqa: S603  # the command is the user's own
            self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=self.environment
        )
        threading.Thread(target=_read, args=(self.process, self.answers), daemon=True).start()
        self.hello, _ = self.next(self.start_limit)

    def ask(self, programs: Sequence[Program]) -> None:
        """Send a batch."""
        if self.process is None:
            self.start()
        self.fresh = False
        self._send({"programs": list(programs)})

    def _send(self, message: dict[str, Any]) -> None:
        assert self.process is not None
        assert self.process.stdin is not None
        try:
            self.process.stdin.write(messages.pack(message))
            self.process.stdin.flush()
        except OSError:  # it has ended: reading says how
            return

    def renew(self) -> None:
        """Let the next program be the first one of a process; no answer may be awaited."""
        if self.process is not None and self.hello.get("forks"):
            self._send({"restart": True})
            self.fresh = True
        else:
            self.stop()

    def next(self, limit: float) -> tuple[dict[str, Any], Trace]:
        """The next answer; ends the process and raises _Ended where there is none."""
        assert self.process is not None
        try:
            found = self.answers.get(timeout=limit)
        except queue.Empty:
            found = _Ended(f"{SILENCE}{limit:g} s")
        if isinstance(found, tuple):
            if "ended" in found[0]:
                self.fresh = True
                self.starts += 1
                raise _Ended(f"it ended with {found[0]['ended']}")
            return found
        process = self.process
        if found is None:
            try:
                code = process.wait(10)
            except subprocess.TimeoutExpired:
                code = None
            found = _Ended("it closed its output" if code is None else f"it ended with {code}")
        self.stop()
        raise found

    def stop(self) -> None:
        process, self.process = self.process, None
        self.fresh = True
        if process is None:
            return
        process.kill()
        process.wait()
        assert process.stdin is not None
        try:
            process.stdin.close()
        except OSError:  # what was not sent stays so
            return


def _read(process: subprocess.Popen[bytes], answers: queue.SimpleQueue[Any]) -> None:
    """Put the messages of a process into a queue; at its end None, or _Ended where it wrote something else."""
    assert process.stdout is not None
    with process.stdout as stream:
        try:
            while (message := messages.unpack(stream)) is not None:
                answers.put(message)
        except Exception as error:  # noqa: BLE001  # whatever it wrote, it was no message
            answers.put(_Ended(f"it wrote what is no message ({type(error).__name__}: {error})"))
        answers.put(None)


class Isolated:
    """See the module's text.

    Args:
        command: starts a process that calls ``programs.messages.serve``.
        environment: variables to add to, or (where the value is None) to take from the environment.
        limit: seconds that a program may take.
        start_limit: seconds from the start of a process to its first message.
        batch: programs that are sent at once.
        workers: processes.
        capabilities: those of the backend; None: its first message holds them.
        poison: whether an error's text means that the process must not be used again.
        give_up: whether the rest of a batch is skipped (Unsupported) after a program without an answer in time.

    Raises:
        Crashed: the first process does not start.
    """

    def __init__(
        self, command: Sequence[str], environment: Mapping[str, str | None] | None = None, *, limit: float = 20.0,
        start_limit: float = 300.0, batch: int = 32, workers: int = 1, capabilities: Capabilities | None = None,
        poison: Callable[[str], object] = POISON.search, give_up: bool = False,
    ) -> None:
        merged = {**os.environ, **(environment or {})}
        kept = {name: value for name, value in merged.items() if value is not None}
        self.batch, self.limit, self.poison, self.give_up = batch, limit, poison, give_up
        self._workers = [_Worker(command, kept, limit, start_limit) for _ in range(workers)]
        try:
            self._workers[0].start()
        except (_Ended, OSError) as error:
            raise Crashed(f"{' '.join(command)}: {error}") from error
        self.hello = self._workers[0].hello
        self.capabilities = capabilities or _capabilities_of(self.hello)

    @property
    def version(self) -> str:
        """The description that the process gives of itself."""
        return str(self.hello.get("version", ""))

    def describe(self) -> str:
        """The process's text about its capabilities."""
        return str(self.hello.get("describe", ""))

    @property
    def processes(self) -> list[int]:
        """The ids of the processes that run now."""
        return [worker.process.pid for worker in self._workers if worker.process is not None]

    @property
    def starts(self) -> int:
        """How many processes were started so far."""
        return sum(worker.starts for worker in self._workers)

    def __enter__(self) -> Isolated:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the processes."""
        for worker in self._workers:
            worker.stop()

    __del__ = close

    def run(self, program: Program) -> Trace:
        """See ``protocol.Backend.run``."""
        answer = _Answers(self, self._workers[0], [program]).found[0]
        if isinstance(answer, Exception):
            raise answer
        return answer

    def run_many(self, programs: Sequence[Program]) -> list[Answer]:
        """Run programs.

        Returns:
            for every program, in their order, its trace, or an exception that ``run`` would raise.
        """
        batches = [programs[i:i + self.batch] for i in range(0, len(programs), self.batch)]
        if len(self._workers) == 1 or len(batches) < 2:
            return [answer for batch in batches for answer in _Answers(self, self._workers[0], batch).found]
        free: queue.SimpleQueue[_Worker] = queue.SimpleQueue()
        for worker in self._workers:
            free.put(worker)

        def one(batch: Sequence[Program]) -> list[Answer]:
            worker = free.get()
            try:
                return _Answers(self, worker, batch).found
            finally:
                free.put(worker)

        with ThreadPoolExecutor(len(self._workers)) as pool:
            return [answer for found in pool.map(one, batches) for answer in found]


class _Answers:
    """The answers to one batch."""

    def __init__(self, backend: Isolated, worker: _Worker, programs: Sequence[Program]) -> None:
        self.backend, self.worker, self.programs = backend, worker, programs
        self.found: list[Answer] = []
        begin = 0  # the first of these programs that the process has run
        while len(self.found) < len(programs):
            alone = worker.fresh and len(self.found)
            text = self._go_on()
            if text is None:
                begin = len(self.found)
            elif alone is not False and alone == len(self.found):
                self.found.append(Crashed(text))
                begin = len(self.found)
            else:
                begin = self._judge(begin, text)
            if backend.give_up and self.found and is_silence(self.found[-1]):
                left = len(programs) - len(self.found)
                self.found += [Unsupported("an earlier program got no answer in time")] * left

    def _go_on(self) -> str | None:
        """Run the remaining programs; returns how the process ended, if it did."""
        try:
            self.worker.ask(self.programs[len(self.found):])
            while len(self.found) < len(self.programs):
                self.found.append(_answer(*self.worker.next(self.backend.limit)))
                last = self.found[-1]
                if isinstance(last, Refused) and self.backend.poison(str(last)):
                    self.worker.stop()
                    return None
        except _Ended as error:
            return str(error)
        return None

    def _judge(self, begin: int, text: str) -> int:
        """Find whose fault an end was, note it, and return where the next process begins."""
        at = len(self.found)
        suspect = self.programs[at]
        again = self._fresh([suspect])
        if isinstance(again, Crashed):
            self.found.append(Crashed(text))
            return at + 1
        if begin == at and isinstance(self._fresh([suspect]), Crashed):  # in some of its runs
            self.found.append(Crashed(text))
            return at + 1
        low, high = begin, at  # a fresh process that runs programs low to at ends; one that runs high to at does not
        if begin == at or not isinstance(self._fresh(self.programs[low:at + 1]), Crashed):
            logging.getLogger(__name__).warning("a process ended (%s) and does not when asked the same again", text)
        else:
            while high - low > 1:
                middle = (low + high) // 2
                if isinstance(self._fresh(self.programs[middle:at + 1]), Crashed):
                    low = middle
                else:
                    high = middle
            self.found[low] = Crashed(f"{text}, while it ran a later program, which does well without this one")
        self.found.append(again)
        self.worker.renew()
        return at + 1

    def _fresh(self, programs: Sequence[Program]) -> Answer:
        """The answer of a fresh process to the last of some programs; Crashed also where an earlier program ends it."""
        self.worker.renew()
        try:
            self.worker.ask(programs)
            answers = [_answer(*self.worker.next(self.backend.limit)) for _ in programs]
        except _Ended as error:
            return Crashed(str(error))
        return answers[-1]


def _answer(header: dict[str, Any], arrays: Trace) -> Answer:
    if "error" not in header:
        return arrays
    kind = {"unsupported": Unsupported}.get(header["error"], Refused)
    return kind(header.get("text", ""))


def _capabilities_of(hello: dict[str, Any]) -> Capabilities:
    """Capabilities as :func:`hello_of` wrote them."""
    said = dict(hello.get("capabilities", {}))
    if said.get("operators") is not None:
        said["operators"] = frozenset(said["operators"])
    fields: dict[str, Any] = {k: tuple(v) if isinstance(v, list) else v for k, v in said.items()}
    return Capabilities(**fields)


def hello_of(backend: Any) -> dict[str, Any]:
    """The first message of a worker, about the backend that it serves."""
    said = backend.capabilities._asdict()
    if said["operators"] is not None:
        said["operators"] = sorted(said["operators"])
    described = getattr(backend, "describe", None)
    return {
        "capabilities": json.loads(json.dumps(said)), "version": getattr(backend, "version", ""),
        "describe": described() if callable(described) else "",
    }


@decides("oracle/other-python")
def isolate(name: str, python: str = sys.executable, **options: Any) -> Isolated:
    """Run a backend in processes of its own.

    Args:
        name: its place, ``package.module:object``; a class or a function without arguments is called.
        python: the Python to run it with; refimpl and what it lacks come from here, after its own packages.
        options: those of :class:`Isolated`.
    """
    root = str(Path(__file__).resolve().parents[3])
    environment: dict[str, str | None] = {"PYTHONPATH": None}
    command = [python, "-c", LAST, root, name]
    if python == sys.executable:
        environment = {"PYTHONPATH": os.pathsep.join(part for part in (root, *sys.path) if part)}
        command = [python, "-m", "refimpl.oracle.backends.worker", name]
    return Isolated(command, {**environment, **options.pop("environment", {})}, **options)
