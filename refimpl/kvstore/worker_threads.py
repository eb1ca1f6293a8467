"""The worker threads of a simulated cluster: each runs a function, and only one of them runs at a time."""

from __future__ import annotations

import contextvars
import logging
import os
import random
import sys
import threading
from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np

from ..base import refusal
from ..name import NameManager
from ..resource import exchange_streams, fresh_streams
from .transport import Ticket

_HERE = threading.local()  # .worker is the Worker whose thread this is


class Worker:
    """A function that runs as one worker, in a thread of its own that sleeps while another worker runs.

    ``before`` is the worker that this worker replaces: it starts with the same random numbers and context variables.

    Raises:
        MXNetError: the system cannot start a thread.
    """

    def __init__(
        self, cluster: Any, rank: int, function: Callable[..., Any], kind: str | None, before: Worker | None = None
    ) -> None:
        self.cluster, self.rank, self.function, self.kind = cluster, rank, function, kind
        self.ticket: Ticket | None = None
        self.result: Any = None
        self.failure: BaseException | None = None
        self.failed_at = 0
        self.ended = self.dismissed = False
        self._process = os.getpid()
        self._go, self._back = threading.Semaphore(0), threading.Semaphore(0)
        self._began: Any = before._began if before else (
            fresh_streams()[1], np.random.get_state(), random.getstate(), _told(), contextvars.copy_context()  # noqa: NPY002  # programs draw there
        )
        seed, numbers, others, told, context = self._began
        self._own: Any = ({}, seed), numbers, others, told
        self.thread = threading.Thread(target=context.copy().run, args=(self._work,), daemon=True)
        try:
            self.thread.start()
        except RuntimeError as error:
            raise refusal(
                "Cluster/threads",
                f"the system has no thread for worker {rank}: {error}; simulate fewer workers, or end other threads",
            ) from error

    @property
    def ready(self) -> bool:
        """Whether the worker can run: it has not ended, and its awaited answer, if any, has come."""
        return not self.ended and (self.ticket is None or self.ticket.answer is not None or bool(self.ticket.failure))

    def go_on(self) -> None:
        """Let the worker run until it waits or ends, with its own random numbers, ``__main__`` and log handlers."""
        others = _exchanged(self._own)
        try:
            self._go.release()
            self._back.acquire()
        finally:
            self._own = _exchanged(others)

    def sleep(self, ticket: Ticket) -> None:
        """Wait for an answer, while others run.

        Raises:
            SystemExit: the worker was dismissed; this ends its thread.
        """
        if self._process != os.getpid():
            raise refusal(
                "Cluster/forked", f"this process was forked by worker {self.rank}, whose servers its parent simulates;"
                " use the store in the parent only",
            )
        self.ticket = ticket
        self._back.release()
        self._proceed()
        self.ticket = None

    def dismiss(self) -> None:
        """End the thread where it waits; called when ``run`` ends before its workers do, or the worker is killed."""
        if not self.ended:
            self.dismissed = True
            self._go.release()

    def _proceed(self) -> None:
        if not self.dismissed:
            self._go.acquire()
        if self.dismissed:
            raise SystemExit

    def _work(self) -> None:
        _HERE.worker = self
        try:
            self._proceed()
            with self.cluster.worker(self.rank), NameManager():
                stores = [] if self.kind is None else [self.cluster.store(self.rank, self.kind)]
                self.result = self.function(*stores)
        except BaseException as failure:  # noqa: BLE001  # the caller of run raises it
            self.failure, self.failed_at = failure, len(self.cluster.events)
        self.ended = True
        self._back.release()


def _told() -> tuple[ModuleType, list[logging.Handler], int]:
    """The module ``__main__``, and the handlers and level of the root logger."""
    return sys.modules["__main__"], logging.root.handlers[:], logging.root.level


def _exchanged(own: Any) -> Any:
    """Install the state ``own`` that a process would have: random numbers, ``__main__``, the root logger's handlers.

    Returns the state that was installed before.
    """
    streams, numbers, others, (main, handlers, level) = own
    before = exchange_streams(streams), np.random.get_state(), random.getstate(), _told()  # noqa: NPY002  # programs draw there
    np.random.set_state(numbers)  # noqa: NPY002
    random.setstate(others)
    sys.modules["__main__"] = main
    logging.root.handlers[:] = handlers
    if level != logging.root.level:  # setting it empties caches
        logging.root.setLevel(level)
    return before


def worker_here() -> Worker | None:
    """Return the worker whose thread calls this function, or None."""
    return getattr(_HERE, "worker", None)


__all__ = ["Worker", "worker_here"]
