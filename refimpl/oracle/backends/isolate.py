"""A backend in processes of its own: warm workers, batches, a time limit for every program, a restart after a crash.

    backend = isolate("my.package:backend", workers=2, limit=5.0)
    traces = backend.run_many(programs)  # in order; an exception stands where there is no trace

A worker answers the programs of a batch one by one, so a crash points at the program that was running. That need not be
the culprit: an earlier program may have damaged memory. So the suspect runs again, alone and in a fresh process; if it
passes, halving the earlier programs finds the one that damages memory. A worker that runs the programs of a batch
together gets halves of a batch that ends it. A worker may fork itself after it has imported its library, see
``programs.messages.serve``: a fresh process then starts at once.
"""

from __future__ import annotations

import logging
import math
import os
import queue
import re
import shlex
import sys
import time
import weakref
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from ...base import decides
from ..bounds import Declared
from ..drawing.choices import Capabilities
from ..judging.reference import Program, Trace
from .hello import capabilities_of
from .packs import run_in_packs
from .process import SILENCE, Ended, Worker
from .protocol import Crashed, Refused, Unsupported

Answer = Trace | Exception
BATCH = 32
"""Programs that are sent at once, at most, to a worker that answers them one by one."""
POISON = re.compile(r"could not execute a primitive|could not (create|initialize)|oneDNN|MKLDNN|CUDA|cuDNN|bad_alloc")
"""Errors after which a process is not asked again: what native libraries say when their state is spoilt."""
LAST = (
    "import runpy, sys; sys.path.append(sys.argv.pop(1));"
    "runpy.run_module('refimpl.oracle.backends.worker', run_name='__main__')"
)
"""Runs a worker in another Python. The folder of this package comes last: it may hold packages for this Python."""


def is_silence(answer: object) -> bool:
    """Whether an answer says that a program did not end in time."""
    return isinstance(answer, Crashed) and str(answer).startswith(SILENCE)


class Isolated:
    """See the module's text.

    Args:
        command: starts a process that speaks the protocol of ``spec/reference/tools/oracle-protocol.md``; in Python,
            ``programs.messages.serve`` does.
        environment: variables to add to, or (where the value is None) to take from the environment.
        limit: seconds that a program may take.
        start_limit: seconds from the start of a process to its first message.
        workers: processes.
        capabilities: those of the backend; None: its first message holds them.
        poison: whether an error's text means that the process must not be used again.
        quiet: whether the standard error of the processes is dropped.
        give_up: whether the rest of a batch is skipped (Unsupported) after a program without an answer in time; a
            worker that runs programs together is always asked for all.

    Raises:
        Crashed: the first process does not start.
    """

    def __init__(
        self, command: Sequence[str], environment: Mapping[str, str | None] | None = None, *, limit: float = 20.0,
        start_limit: float = 300.0, workers: int = 1, capabilities: Capabilities | None = None,
        poison: Callable[[str], object] = POISON.search, give_up: bool = False, quiet: bool = True,
    ) -> None:
        merged = {**os.environ, **(environment or {})}
        kept = {name: value for name, value in merged.items() if value is not None}
        self.limit, self.poison, self.give_up = limit, poison, give_up
        self._workers = [Worker(command, kept, limit, start_limit, quiet=quiet) for _ in range(workers)]
        weakref.finalize(self, _stop, self._workers)  # when nobody holds it, or Python ends
        try:
            self._workers[0].start()
        except Ended as error:
            raise Crashed(f"{' '.join(command)}: {error}") from error
        self.hello = self._workers[0].hello
        self.pack = int(self.hello.get("pack", 1))
        if self.hello.get("leaves_out"):
            self.leaves_out = tuple(self.hello["leaves_out"])
        self.capabilities = capabilities or capabilities_of(self.hello)
        self.declares = Declared(**self.hello.get("declares", {}))

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
        _stop(self._workers)

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
        size = self.pack if self.pack > 1 else min(BATCH, max(1, math.ceil(len(programs) / len(self._workers))))
        batches = [programs[i:i + size] for i in range(0, len(programs), size)]
        if len(self._workers) == 1 or len(batches) < 2:
            return [answer for batch in batches for answer in self._answers(self._workers[0], batch)]
        free: queue.SimpleQueue[Worker] = queue.SimpleQueue()
        for worker in self._workers:
            free.put(worker)

        def one(batch: Sequence[Program]) -> list[Answer]:
            worker = free.get()
            try:
                return self._answers(worker, batch)
            finally:
                free.put(worker)

        with ThreadPoolExecutor(len(self._workers)) as pool:
            return [answer for found in pool.map(one, batches) for answer in found]

    @decides("oracle/packs-of-workers")
    def _answers(self, worker: Worker, programs: Sequence[Program]) -> list[Answer]:
        """The answers to a batch. Halves of a pack that ends its process run in fresh ones, down to one program."""
        if self.pack == 1:
            return _Answers(self, worker, programs).found
        found: dict[int, Answer] = {}
        ended: list[str] = []

        def run(numbers: Sequence[int]) -> None:
            some = [programs[number] for number in numbers]
            try:
                made = self._together(worker, some) if some[1:] else _Answers(self, worker, some).found
            except Ended as error:
                ended.append(str(error))
                raise
            found.update(zip(numbers, made, strict=True))

        run_in_packs(range(len(programs)), self.pack, run, found.__setitem__)
        if ended and not any(isinstance(each, Crashed) for each in found.values()):
            logging.getLogger(__name__).warning("a process ended (%s), and does not by a part of its work", ended[0])
        return [found[number] for number in range(len(programs))]

    def _together(self, worker: Worker, programs: Sequence[Program]) -> list[Answer]:
        """The answers to programs that a process runs as one; raises where they cannot be told from its end."""
        worker.ask(programs)
        end = time.monotonic() + self.limit * len(programs)
        answers = [_answer(*worker.next(max(0.0, end - time.monotonic()))) for _ in programs]
        for each in answers:
            if isinstance(each, Refused) and self.poison(str(each)):  # the others may be wrong for that
                worker.stop()
                raise each
        return answers


def _stop(workers: Sequence[Worker]) -> None:
    for worker in workers:
        worker.stop()


class _Answers:
    """The answers to one batch."""

    def __init__(self, backend: Isolated, worker: Worker, programs: Sequence[Program]) -> None:
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
        except Ended as error:
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
        except Ended as error:
            return Crashed(str(error))
        return answers[-1]


def _answer(header: dict[str, Any], arrays: Trace) -> Answer:
    if "error" not in header:
        return arrays
    kind = {"unsupported": Unsupported}.get(header["error"], Refused)
    return kind(header.get("text", ""))


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


def command(line: str, **options: Any) -> Isolated:
    """Run a backend in any language: a program that speaks the protocol on its standard input and output.

    Args:
        line: the command and its arguments, as a shell would read them: ``node backend.js``. No shell runs.
        options: those of :class:`Isolated`. The processes' standard error is shown unless ``quiet`` is true.

    Raises:
        Crashed: the command does not start, or its first message is not right.
    """
    words = shlex.split(line)
    if not words:
        raise Crashed("there is no command")
    return Isolated(words, **{"quiet": False, **options})
