"""Three engines behind one interface, and the rule for when a task runs.

A :class:`Task` names the memory that it reads and writes. Two tasks must keep their order when one writes what the
other reads or writes; any other two may run in any order. A :class:`Queue` keeps this as data, ``print(queue)``
shows it.

* ``Naive`` runs every task at once, in the order of the program;
* ``Threaded`` runs tasks of different contexts at the same time, one thread per context;
* ``Shuffled`` keeps tasks back until their memory is needed, then runs them in an order drawn from a seed: a program
  that gives the same numbers for every seed names all the memory that its tasks read and write.
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
    """The object that owns a buffer's memory and lives as long as the memory: all views of an array have one owner."""
    base = getattr(buffer.flat, "base", None)
    return buffer.flat if base is None else base


def span_of(buffer: Buffer) -> Span:
    """(address of the first byte, address after the last byte) of a buffer's memory."""
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

    ``name`` is its name in messages, ``context`` the device whose thread runs it. A queue fills in ``waits_for`` (the
    earlier tasks) and ``followers`` (the tasks that wait for this one).
    """

    __slots__ = ("buffers", "context", "followers", "name", "reads", "run", "waits_for", "writes")

    def __init__(
        self, name: str, context: str, run: Callable[[], None], reads: Iterable[Buffer], writes: Iterable[Buffer]
    ) -> None:
        self.name, self.context, self.run = name, context, run
        read, written = list(reads), list(writes)
        self.buffers = [*read, *written]  # kept alive, so that no other array gets their bytes
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
        """Append a task, and find the tasks that it waits for."""
        task.waits_for = {other for other in self.pending if task.must_follow(other)}
        for other in task.waits_for:
            other.followers.append(task)
        self.pending[task] = None

    def done(self, task: Task) -> list[Task]:
        """Remove a task that has run; returns the tasks that now wait for no other."""
        del self.pending[task]
        for follower in task.followers:
            follower.waits_for.discard(task)
        return [follower for follower in task.followers if not follower.waits_for]

    def ready(self) -> list[Task]:
        """The pending tasks that wait for no other pending task."""
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
    """The interface of an engine."""

    name: str

    def push(self, task: Task) -> None:
        """Run a task now or later."""

    def finish(self, buffers: Sequence[Buffer]) -> None:
        """Wait until no pending task reads or writes these buffers."""

    def finish_all(self) -> None:
        """Wait until no task is pending."""

    @property
    def idle(self) -> bool:
        """Whether no task is pending."""


class Naive:
    """Every task runs when it is pushed."""

    name = "naive"
    idle = True

    def push(self, task: Task) -> None:
        """Run the task."""
        task.run()

    def finish(self, buffers: Sequence[Buffer]) -> None:
        """Do nothing: no task is ever pending."""

    def finish_all(self) -> None:
        """Do nothing: no task is ever pending."""


class Shuffled:
    """Tasks run late, in a legal order drawn from ``seed``."""

    name = "shuffled"

    def __init__(self, seed: int) -> None:
        self.queue = Queue()
        self.ran: list[str] = []  # names of tasks in the order in which they ran
        self._draw = random.Random(seed)
        self._lock = threading.RLock()  # a program may push from several threads
        hold_while_forking(self._lock)  # so that no task is half done in the child, which runs the pending ones

    @property
    def idle(self) -> bool:
        """Whether no task is pending."""
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
        """Run tasks, in any legal order, until no pending task reads or writes these buffers."""
        spans = [span_of(buffer) for buffer in buffers]
        with self._lock:
            while self.queue.touching(spans):
                self._step()

    def finish_all(self) -> None:
        """Run all pending tasks."""
        with self._lock:
            while self.queue.pending:
                self._step()


class Threaded:
    """One thread per context; a task goes to the thread of its context as soon as it waits for no other task.

    When the system cannot start a thread for a context, the thread of another context runs its tasks; when there is
    no thread at all, the caller runs them.
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
        """Wait until all tasks are done, and let none begin: called before a fork."""
        self._changed.acquire()
        if not hasattr(self._here, "works"):  # a task would wait for itself
            self.finish_all()

    def release(self) -> None:
        """Let tasks begin again: called after a fork."""
        self._changed.release()

    @decides("engine/forked")
    def after_fork(self) -> None:
        """Forget the threads, which the child does not have; its first task starts new ones."""
        self._changed, self._inboxes = threading.Condition(), {}

    @property
    def idle(self) -> bool:
        """Whether no task is pending."""
        return not self.queue.pending

    def push(self, task: Task) -> None:
        """Queue the task, and send it to its thread when it waits for no other.

        After an interrupt the task is either queued and will run, or is not queued.
        """
        try:
            with self._changed:
                self.queue.add(task)
                if not task.waits_for:
                    self._send(task)
        except BaseException:
            with self._changed:
                for one in self.queue.ready():  # a ready task may not have been sent; a task sent twice runs once
                    self._send(one)
            raise

    def _send(self, task: Task) -> None:
        inbox = self._inboxes.get(task.context) or self._started(task.context)
        if inbox is None:  # there is no thread, so all earlier tasks have run here
            if self._begins(task):
                task.run()
                self._begun.discard(task)
                self.queue.done(task)
        else:
            inbox.put(task)

    @decides("engine/no-thread")
    def _started(self, context: str) -> SimpleQueue | None:
        """The inbox of a new thread; if none can be started, the inbox of another thread, or None without threads."""
        inbox: SimpleQueue = SimpleQueue()
        try:
            threading.Thread(target=self._work, args=(inbox,), name=f"engine {context}", daemon=True).start()
        except RuntimeError:
            return next(iter(self._inboxes.values()), None)
        self._inboxes[context] = inbox
        return inbox

    def _begins(self, task: Task) -> bool:
        """Whether this thread has to run ``task``: it is pending, and no thread has begun it."""
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
        """Wait until no pending task reads or writes these buffers."""
        spans = [span_of(buffer) for buffer in buffers]
        with self._changed:
            self._changed.wait_for(lambda: not self.queue.touching(spans))

    def finish_all(self) -> None:
        """Wait until all tasks are done."""
        with self._changed:
            self._changed.wait_for(lambda: not self.queue.pending)

    def stop(self) -> None:
        """Wait until all tasks are done, and end the threads."""
        self.finish_all()
        for inbox in self._inboxes.values():
            inbox.put(None)
        self._inboxes.clear()
