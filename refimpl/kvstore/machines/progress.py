"""The progress of a job: the reports of its servers, shown as a table on a terminal or as regular log lines."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import IO, Any

from ...base import decides

TOLD_EVERY = 60.0
"""Seconds between two log lines about the progress, without a terminal."""

LONG = 5.0
"""Seconds of waiting, or of a server's silence, after which another log line comes."""

WAITED = 1.0
"""Seconds from which the table shows a wait: shorter waits are a part of every round."""

@dataclass
class Progress:
    """The progress of a job.

    Attributes:
        workers, servers: the numbers of workers and servers.
        codes: exit codes of the workers that have ended, by rank.
        restarts: how often each worker was started again in this run; ``crashes`` the same of servers.
        reports: the newest report of each server.
        pids: the process of each worker.
    """

    workers: int = 0
    servers: int = 0
    codes: dict[int, int] = field(default_factory=dict)
    restarts: dict[int, int] = field(default_factory=dict)
    pids: dict[int, int] = field(default_factory=dict)
    crashes: dict[int, int] = field(default_factory=dict)
    reports: dict[int, dict[str, Any]] = field(default_factory=dict)
    _ended: list[dict[str, Any]] = field(default_factory=list)  # the last reports of processes that were killed
    _heard: dict[int, float] = field(default_factory=dict)  # server -> time of its newest report
    _since: dict[tuple[int, int, str], float] = field(default_factory=dict)  # (server, worker, awaited event) -> time

    def hear(self, number: int, report: dict[str, Any], now: float) -> dict[str, Any] | None:
        """Take a server's report; returns the earlier report of the server, or None.

        Args:
            number: the server.
            report: a result of :meth:`~refimpl.kvstore.machines.node.Node.report`.
            now: seconds on the same clock as for the other methods.
        """
        before = self.reports.get(number)
        if before is not None and before["process"] != report["process"]:
            self._ended.append(before)
            self.crashes[number] = self.crashes.get(number, 0) + 1
        self.reports[number], self._heard[number] = report, now
        waits = {(number, who, _words(about, turn)) for who, about, turn, _ in report["waiting"]}
        since = {place: at for place, at in self._since.items() if place[0] != number or place in waits}
        self._since = {**dict.fromkeys(waits, now), **since}
        return before

    @property
    def rounds(self) -> int:
        """The highest version of an array."""
        return max((one["rounds"] for one in self.reports.values()), default=0)

    def total(self, name: str) -> int:
        """``requests`` or ``bytes`` of all servers, killed processes included."""
        return sum(one[name] for one in (*self.reports.values(), *self._ended))

    def _of_worker(self, rank: int) -> tuple[int, int, int]:
        """(rounds, requests, bytes) of a worker."""
        now = [one for report in self.reports.values() for one in report["workers"] if one[0] == rank]
        ended = [one for report in self._ended for one in report["workers"] if one[0] == rank]
        return (
            max((one[1] for one in now), default=0), sum(one[2] for one in (*now, *ended)),
            sum(one[3] for one in (*now, *ended)),
        )

    def waits(self, now: float) -> dict[int, str]:
        """Worker -> the workers that it waits for, in words, for waits of ``WAITED`` seconds or more."""
        found: dict[int, str] = {}
        away = self.away(now)
        for number, report in self.reports.items():
            if number in away:
                continue
            for who, about, turn, missing in report["waiting"]:
                what = _words(about, turn)
                waited = now - self._since.get((number, who, what), now)
                if waited >= WAITED:
                    names = [f"worker {one}{' (has ended)' * (one in self.codes)}" for one in missing]
                    found[who] = f"{what} for {waited:.0f} s{_missing(names)}"
        return found

    def away(self, now: float) -> dict[int, str]:
        """Server that does not answer -> for how long, in words."""
        silent = {number: now - at for number, at in self._heard.items()}
        return {number: f"has not answered for {gone:.0f} s" for number, gone in silent.items() if gone >= LONG}

    def long(self, now: float) -> set[tuple[int, int, str]]:
        """The waits, and the silences of servers, of ``LONG`` seconds or more, each with the same key until it ends."""
        away = self.away(now)
        waits = {place for place, at in self._since.items() if now - at >= LONG and place[0] not in away}
        return waits | {(number, -1, "") for number in away}

    @decides("Cluster/table")
    def table(self, now: float) -> list[str]:
        """A line for each process: process, rounds, requests, megabytes, how often it was started again, its state."""
        waits, away = self.waits(now), self.away(now)
        rows = [["", "process", "rounds", "requests", "MB", "again", ""]]
        for rank in range(self.workers):
            rounds, requests, size = self._of_worker(rank)
            state = "has ended" if rank in self.codes else f"waits for {waits[rank]}" if rank in waits else ""
            again = max(0, self.restarts.get(rank, 0))
            rows.append([f"worker {rank}", *_cells(self.pids.get(rank, 0), rounds, requests, size, again), state])
        for number in range(self.servers):
            report = self.reports.get(number)
            state = "starts" if report is None else away.get(number, "")
            told = report or {"process": 0, "rounds": 0, "requests": 0, "bytes": 0}
            again = self.crashes.get(number, 0)
            cells = _cells(told["process"], told["rounds"], told["requests"], told["bytes"], again)
            rows.append([f"server {number}", *cells, state])
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        return [
            "  ".join([row[0].ljust(widths[0]), *map(str.rjust, row[1:-1], widths[1:-1]), row[-1]]).rstrip()
            for row in rows
        ]

    @decides("Cluster/table")
    def line(self, now: float, seconds: float) -> str:
        """The progress, and which workers wait for which, in one line."""
        told = [f"{seconds:.0f} s: {self.rounds} rounds, {self.total('bytes') / 1e6:.1f} MB to the servers"]
        told += [f"worker {rank} waits for {what}" for rank, what in sorted(self.waits(now).items())]
        told += [f"worker {rank} has not started" for rank in range(self.workers) if rank not in self.pids]
        told += [f"server {number} has not answered" for number in range(self.servers) if number not in self.reports]
        told += [f"server {number} {what}" for number, what in sorted(self.away(now).items())]
        return "; ".join(told)

    def summary(self, code: int, seconds: float) -> str:
        """The line at the end of a job: its exit code, time and totals."""
        kills, crashes = sum(self.restarts.values()), sum(self.crashes.values())
        return (
            f"{'done' if code == 0 else 'failed'} after {seconds:.1f} s: {self.rounds} rounds,"
            f" {self.total('requests')} requests, {self.total('bytes') / 1e6:.1f} MB to the servers, {kills} workers"
            f" and {crashes} servers started again"
        )


def _words(about: str, turn: int) -> str:
    return f"round {turn} of {about}" if turn else about


def _missing(names: Sequence[str]) -> str:
    return f": {', '.join(names)} {'is' if len(names) == 1 else 'are'} missing" if names else ""


def _cells(process: int, rounds: int, requests: int, size: int, again: int) -> list[str]:
    return [str(process or "-"), str(rounds), str(requests), f"{size / 1e6:.1f}", str(again)]


class Display:
    """Shows the progress of a job: a table at the foot of a terminal, or regular log lines without a terminal.

    Args:
        say: called with each permanent line.
        stream: the terminal; None without one.
        width: returns the width of the terminal in letters.
        clock: returns seconds.
    """

    def __init__(
        self, say: Callable[[str], None], stream: IO[str] | None = None, width: Callable[[], int] = lambda: 80,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._say, self._stream, self._width, self._clock = say, stream, width, clock
        self._began = self._told = clock()
        self._drawn = 0
        self._named: set[tuple[int, int, str]] = set()

    @property
    def seconds(self) -> float:
        """Seconds since the display was made."""
        return self._clock() - self._began

    def say(self, line: str) -> None:
        """Write a permanent line, above the table."""
        self.clear()
        self._say(line)

    def clear(self) -> None:
        """Remove the table from the terminal, so that other text can be written."""
        if self._drawn and self._stream is not None:
            self._stream.write(f"\x1b[{self._drawn}F\x1b[J")  # move up to the table's first line, and erase from there
            self._stream.flush()
        self._drawn = 0

    @decides("Cluster/table")
    def show(self, progress: Progress) -> None:
        """Draw the table again, or write the log line if it is due."""
        now = self._clock()
        if self._stream is not None:
            lines = [line[: max(1, self._width() - 1)] for line in progress.table(now)]
            self.clear()
            self._stream.write("".join(f"{line}\n" for line in lines))
            self._stream.flush()
            self._drawn = len(lines)
            return
        long = progress.long(now)
        if now - self._told >= TOLD_EVERY or long - self._named:
            self._told = now
            self._say(progress.line(now, self.seconds))
        self._named = long


__all__ = ["LONG", "TOLD_EVERY", "WAITED", "Display", "Progress"]
