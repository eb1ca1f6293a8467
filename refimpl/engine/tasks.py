"""Three engines behind one interface, and the rule for when a task runs.

A :class:`Task` names the memory that it reads and writes. Two tasks must keep their order when one writes what the
other reads or writes; any other two may run in any order. A :class:`Queue` keeps this as data, ``print(queue)``
shows it.

* ``Naive`` runs every task at once, in the order of the program;
* ``Threaded`` runs tasks of different contexts at the same time, one thread per context;
* ``Shuffled`` keeps tasks back until somebody needs their memory, then runs them in an order drawn from a seed: any
  program that gives the same numbers for every seed has told the truth about what it reads and writes.
"""

from __future__ import annotations

import random
import threading
from collections.abc import Callable, Iterable, Sequence
from queue import SimpleQueue
from typing import Protocol

from ..base import decides
from ..kernels.foundation import Buffer
from ..kernels.foundation.forks import hold_while_forking, renew_in_child

Span = tuple[int, int]


def owner_of(buffer: Buffer) -> object:
    """The object that owns a buffer's memory and lives as long as it: views of one array have one owner."""
    base = getattr(buffer.flat, "base", None)
    return buffer.flat if base is None else base


def span_of(buffer: Buffer) -> Span:
    """The first byte of a buffer's memory, and the one after its last."""
    flat = buffer.flat
    described = getattr(flat, "__array_interface__", None) or getattr(flat, "__cuda_array_interface__", None)
    if described is None:  # Numba's simulator keeps a NumPy array
        described = flat._ary.__array_interface__
    start = described["data"][0]
    return start, start + flat.size * flat.dtype.itemsize


def overlap(one: Iterable[Span], other: Iterable[Span]) -> bool:
    """Whether any two spans share a byte."""
    spans = list(other)
    return any(start < end and begin < stop for start, stop in one for begin, end in spans)


class Task:
    """A piece of work: ``run`` reads the buffers ``reads`` and writes the buffers ``writes``, and no others.

    ``name`` is what messages call it, ``context`` says which thread suits it. ``waits_for`` and ``followers`` are
    filled in by a queue.
    """

    __slots__ = ("buffers", "context", "followers", "name", "reads", "run", "waits_for", "writes")

    def __init__(
        self, name: str, context: str, run: Callable[[], None], reads: Iterable[Buffer], writes: Iterable[Buffer]
    ) -> None:
        self.name, self.context, self.run = name, context, run
        read, written = list(reads), list(writes)
        self.buffers = [*read, *written]  # alive as long as the task, so that their bytes stay theirs
        self.reads, self.writes = [span_of(b) for b in read], [span_of(b) for b in written]
        self.waits_for: set[Task] = set()
        self.followers: list[Task] = []

    @decides("engine/order")
    def must_follow(self, earlier: Task) -> bool:
        """Whether this task and an earlier one may not change places."""
        return (
            overlap(self.writes, earlier.reads) or overlap(self.writes, earlier.writes)
            or overlap(self.reads, earlier.writes)
        )

    def __repr__(self) -> str:
        return f"Task({self.name} on {self.context})"


class Queue:
    """Tasks that have not run yet, in the order of the program, and what each must wait for.

    [engine/order] A task waits for every earlier task that writes what it reads or writes, or reads what it writes.
    """

    def __init__(self) -> None:
        self.pending: dict[Task, None] = {}

    def add(self, task: Task) -> None:
        """Put a task at the end, and find what it waits for."""
        task.waits_for = {other for other in self.pending if task.must_follow(other)}
        for other in task.waits_for:
            other.followers.append(task)
        self.pending[task] = None

    def done(self, task: Task) -> list[Task]:
        """Take a task that has run out; returns the tasks that need not wait any longer."""
        del self.pending[task]
        for follower in task.followers:
            follower.waits_for.discard(task)
        return [follower for follower in task.followers if not follower.waits_for]

    def ready(self) -> list[Task]:
        """Tasks that wait for nothing which is still pending."""
        return [task for task in self.pending if self.pending.keys().isdisjoint(task.waits_for)]

    def touching(self, spans: list[Span]) -> bool:
        """Whether a pending task reads or writes one of ``spans``."""
        return any(overlap(spans, task.reads) or overlap(spans, task.writes) for task in self.pending)

    def __str__(self) -> str:
        numbers = {task: number for number, task in enumerate(self.pending)}
        lines = []
        for task, number in numbers.items():
            after = sorted(numbers[other] for other in task.waits_for)
            lines.append(f"{number:3} {task.name} on {task.context}" + (f"  after {after}" if after else ""))
        return "\n".join(lines)


class Engine(Protocol):
    """What an engine can do."""

    name: str

    def push(self, task: Task) -> None:
        """Take a task over."""

    def finish(self, buffers: Sequence[Buffer]) -> None:
        """Return when no task reads or writes these buffers any more."""

    def finish_all(self) -> None:
        """Return when nothing is left to do."""

    @property
    def idle(self) -> bool:
        """Whether nothing is left to do."""


class Naive:
    """Every task runs when it is pushed."""

    name = "naive"
    idle = True

    def push(self, task: Task) -> None:
        """Run the task."""
        task.run()

    def finish(self, buffers: Sequence[Buffer]) -> None:
        """Nothing is ever left over."""

    def finish_all(self) -> None:
        """Nothing is ever left over."""


class Shuffled:
    """Tasks run late, in a legal order drawn from ``seed``."""

    name = "shuffled"

    def __init__(self, seed: int) -> None:
        self.queue = Queue()
        self.ran: list[str] = []  # names in the order in which they ran, for people
        self._draw = random.Random(seed)
        self._lock = threading.RLock()  # programs may have threads of their own
        hold_while_forking(self._lock)  # so that no task is half done in the child, which does those that wait

    @property
    def idle(self) -> bool:
        """Whether nothing is left to do."""
        return not self.queue.pending

    def push(self, task: Task) -> None:
        """Keep the task for later."""
        with self._lock:
            self.queue.add(task)

    def _step(self) -> None:
        task = self._draw.choice(self.queue.ready())
        self.ran.append(task.name)
        try:
            task.run()
        finally:
            self.queue.done(task)

    def finish(self, buffers: Sequence[Buffer]) -> None:
        """Run tasks, needed or not, until these buffers are at rest."""
        spans = [span_of(buffer) for buffer in buffers]
        with self._lock:
            while self.queue.touching(spans):
                self._step()

    def finish_all(self) -> None:
        """Run everything."""
        with self._lock:
            while self.queue.pending:
                self._step()


class Threaded:
    """One thread per context; a task goes to its context's thread as soon as it waits for nothing.

    When the system has no thread for a context, that of another one does its work, or, without any, the caller.
    """

    name = "threaded"

    def __init__(self) -> None:
        self.queue = Queue()
        self._changed = threading.Condition()
        self._inboxes: dict[str, SimpleQueue] = {}
        self._begun: set[Task] = set()
        self._here = threading.local()  # .works: whether this thread is one of the engine's
        hold_while_forking(self)
        renew_in_child(self)

    @decides("engine/forked")
    def acquire(self) -> None:
        """Wait until everything is done, and let nothing begin."""
        self._changed.acquire()
        if not hasattr(self._here, "works"):  # a task would wait for itself
            self.finish_all()

    def release(self) -> None:
        """Let tasks begin."""
        self._changed.release()

    @decides("engine/forked")
    def after_fork(self) -> None:
        """Start threads anew, with the first task: the child has none of these."""
        self._changed, self._inboxes = threading.Condition(), {}

    @property
    def idle(self) -> bool:
        """Whether nothing is left to do."""
        return not self.queue.pending

    def push(self, task: Task) -> None:
        """Hand the task over.

        An interruption on the way leaves a task that is queued and will run, or none.
        """
        try:
            with self._changed:
                self.queue.add(task)
                if not task.waits_for:
                    self._send(task)
        except BaseException:
            with self._changed:
                for one in self.queue.ready():  # one of them may never have been sent; a task runs once in any case
                    self._send(one)
            raise

    def _send(self, task: Task) -> None:
        inbox = self._inboxes.get(task.context) or self._started(task.context)
        if inbox is None:  # then every task before this one has run, here
            if self._begins(task):
                task.run()
                self._begun.discard(task)
                self.queue.done(task)
        else:
            inbox.put(task)

    @decides("engine/no-thread")
    def _started(self, context: str) -> SimpleQueue | None:
        """The inbox of a new thread; of any thread when the system has no more; None without any."""
        inbox: SimpleQueue = SimpleQueue()
        try:
            threading.Thread(target=self._work, args=(inbox,), name=f"engine {context}", daemon=True).start()
        except RuntimeError:
            return next(iter(self._inboxes.values()), None)
        self._inboxes[context] = inbox
        return inbox

    def _begins(self, task: Task) -> bool:
        """Whether a task that was sent is still to be run."""
        with self._changed:
            if task not in self.queue.pending or task in self._begun:
                return False
            self._begun.add(task)
            return True

    def _work(self, inbox: SimpleQueue) -> None:
        self._here.works = True
        while (task := inbox.get()) is not None:
            if self._begins(task):
                task.run()
                with self._changed:
                    self._begun.discard(task)
                    for follower in self.queue.done(task):
                        self._send(follower)
                    self._changed.notify_all()
            del task

    def finish(self, buffers: Sequence[Buffer]) -> None:
        """Wait until these buffers are at rest."""
        spans = [span_of(buffer) for buffer in buffers]
        with self._changed:
            self._changed.wait_for(lambda: not self.queue.touching(spans))

    def finish_all(self) -> None:
        """Wait until everything is done."""
        with self._changed:
            self._changed.wait_for(lambda: not self.queue.pending)

    def stop(self) -> None:
        """Finish, and send the threads home."""
        self.finish_all()
        for inbox in self._inboxes.values():
            inbox.put(None)
        self._inboxes.clear()
