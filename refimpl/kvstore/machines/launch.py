"""Starts a job on real processes, watches it, and shows its progress: the program behind ``refimpl launch``."""

from __future__ import annotations

import json
import os
import secrets
import shutil
import signal
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from ...base import MXNetError, decides, refusal, require
from ...files.atomic import write_atomically
from . import told
from .checksums import Bytes
from .events import LATE, EventFile
from .folders import folder_of_job, place_of_logs, sweep
from .keeper import NEWS, OUTPUT
from .progress import Display, Progress
from .serving import QUESTION
from .sockets import Caller, Keys, Listener, new_keys, require_zmq, wait_for

_FILE = "job.json"
ASKED_EVERY = 1.0
"""Seconds between two questions to the servers for their reports."""

GATHERED = 5.0
"""Seconds for which lost workers are gathered for one log line: Ray reports each worker of a lost machine."""

LAST = 2.0
"""Seconds that the launcher waits for a server's last report."""


@dataclass(frozen=True)
class Job:
    """The description of a job.

    Args:
        workers, servers: the numbers of workers and servers.
        command: the command of each worker.
        keep: how servers keep their state: ``none``; ``process``, which survives kills; ``disk``, which survives a
            power cut; ``peer``, which survives the loss of a disk, because the next server has a copy.
        state: the folder for the state of the servers; None for a folder that is removed at the end.
        events: a file for the events of the job, one JSON object per line.
        patience: seconds after which a worker gives up a wait.
        remote: whether the job uses other machines.
    """

    workers: int
    servers: int
    command: Sequence[str]
    keep: str = "process"
    state: Path | None = None
    events: Path | None = None
    patience: float = 3600.0
    remote: bool = False


class Engine(Protocol):
    """Starts processes, and starts them again when they or their machines are lost."""

    def start_servers(self, arguments: Sequence[tuple[Any, ...]]) -> list[str]:
        """Start servers, each with the arguments of ``ray.ServerActor``; returns their addresses."""

    def address(self) -> str:
        """The address of this machine as the other machines reach it."""

    def endpoints(self) -> list[str]:
        """The present address of each server."""

    def start_worker(self, rank: int, restarts: int, arguments: tuple[Any, ...]) -> None:
        """Start the keeper of a worker, with its arguments."""

    def note_restarts(self, rank: int, restarts: int) -> None:
        """Note how often a worker was started."""

    def watch(self) -> list[int]:
        """Start processes of lost machines again; returns the ranks of the workers among them."""

    def stop(self) -> None:
        """End all processes."""


Starts = Callable[[Path, Callable[[str], None]], Engine]
"""Makes an engine, from a folder for its files and a function that it calls with log lines."""


class Launcher:
    """One job, from its start to its end.

    Args:
        job: the description of the job.
        engine: makes the engine that starts processes.
        folder: a folder of the user's own, for sockets.
        say: called with each log line; without it lines go to standard error, with a table if that is a terminal.
        logs: a folder for the servers' logs, where the job names none; None means a folder in ``folder``.
    """

    def __init__(
        self, job: Job, engine: Starts, folder: Path, say: Callable[[str], None] | None = None,
        logs: Path | None = None,
    ) -> None:
        require_zmq()
        require(
            "Cluster/peer-needs-two", job.keep != "peer" or job.servers > 1,
            "with --keep peer each server keeps a copy for the one before it, and there is 1 server: give -s 2 or more,"
            " or another --keep",
        )
        self.job, self._folder = job, folder
        terminal = sys.stderr if say is None and sys.stderr.isatty() and os.environ.get("TERM") != "dumb" else None
        self._display = Display(say or _to_stderr, terminal, lambda: shutil.get_terminal_size().columns)
        self._state = job.state or logs or folder / "state"
        self._memory = _memory(job, self._state)
        self.progress = Progress(job.workers, job.servers)
        self._keys: tuple[Keys, Keys] | None = (new_keys(), new_keys()) if job.remote else None
        mine, _ = self._keys or (None, None)
        self._questions: list[Caller] = []
        self._events: EventFile | None = None
        self._lost: set[int] = set()  # workers that were lost with a machine, and have not started again
        self._unsaid, self._since = set[int](), 0.0  # lost workers that were not logged yet, and since when
        self._engine = engine(folder, self._display.say)
        try:
            here = f"tcp://{self._engine.address()}:*" if job.remote else f"ipc://{folder}/head"
            callers = 2 * job.workers + job.servers  # a worker and its keeper each, and servers
            self._head = Listener(here, mine, self._allowed, callers)
        except BaseException:
            self._engine.stop()
            raise

    # --- running ---------------------------------------------------------------------------------

    @decides("Cluster/launch")
    def run(self) -> int:
        """Run the job; the exit code of the worker that failed first, or 0."""
        try:
            if self.job.events is not None:
                self._events = EventFile(self.job.events, self.job.workers, self.job.servers)
            endpoints = self._start_servers()
            self._start_workers(endpoints)
            code = self._watch()
        finally:
            self._display.clear()
            self._engine.stop()
            for caller in self._questions:
                caller.close()
            self._head.close()
            if self._events is not None:
                self._events.close()
        if code == 0:
            _forget(self._state)
        self._summary(code)
        return code

    def _start_servers(self) -> list[str]:
        job = self.job
        self._display.say(f"waits for {job.servers} servers to start, then for {job.workers} workers")
        mine, theirs = self._keys or (None, None)
        options = {
            "durable": job.keep == "disk", "noting": job.events is not None, "peer": job.keep == "peer",
            "servers": job.servers, "head": self._head.endpoint, "interface": os.environ.get("DMLC_INTERFACE", ""),
        }
        arguments = [
            (
                number, job.workers, None if job.keep == "none" else str(self._state / f"server-{number}"),
                "tcp" if job.remote else f"ipc://{self._folder}/server-{number}", mine,
                self._allowed, options,
            ) for number in range(job.servers)
        ]
        endpoints = self._engine.start_servers(arguments)
        name = f"launcher {os.getpid()}".encode()
        self._questions = [Caller(one, name, theirs, mine.public if mine else "") for one in endpoints]
        return endpoints

    @property
    def _allowed(self) -> list[str]:
        """The public keys of allowed callers: workers, their keepers, and servers, which have the launcher's keys."""
        return [one.public for one in self._keys or ()]

    def _start_workers(self, endpoints: Sequence[str]) -> None:
        job = self.job
        mine, theirs = self._keys or (None, None)
        job_told: dict[str, Any] = {
            "servers": list(endpoints), "head": self._head.endpoint, "returning": job.keep != "none",
            "patience": job.patience,
        }
        if mine is not None and theirs is not None:
            job_told.update(keys=list(theirs), server=mine.public)
        for rank in range(job.workers):
            arguments = (
                rank, list(job.command), os.getcwd(), self._variables(rank), job_told,  # noqa: PTH109
                self._head.endpoint, theirs,
                mine.public if mine else "",
            )
            self._engine.start_worker(rank, self._memory["restarts"][rank], arguments)

    def _variables(self, rank: int) -> dict[str, str]:
        """The variables of a worker: those of this process, and the names that MXNet's launcher sets."""
        return {
            **os.environ,
            "PYTHONHASHSEED": os.environ.get("PYTHONHASHSEED", str(self._memory["hashes"])),
            "DMLC_ROLE": "worker", "DMLC_WORKER_ID": str(rank), "DMLC_RANK": str(rank),
            "DMLC_NUM_WORKER": str(self.job.workers), "DMLC_NUM_SERVER": str(self.job.servers),
            "DMLC_PS_ROOT_URI": "127.0.0.1", "DMLC_PS_ROOT_PORT": "0", "DMLC_JOB_CLUSTER": "refimpl",
        }

    # --- watching --------------------------------------------------------------------------------

    def _watch(self) -> int:
        asked = 0.0
        while len(self.progress.codes) < self.job.workers:
            for name, kind, pieces in self._head.receive(0.1):
                self._take(name, kind, pieces)
            denied = self._head.denied()
            if denied:
                self._display.say(f"{denied} connections of strangers, whose keys are not of this job, were refused")
            failed = next((code for code in self.progress.codes.values() if code), 0)
            if failed:
                return failed if failed > 0 else 128 - failed
            self._hear_servers()
            if self._events is not None:
                self._events.write(time.time() - LATE)
            if time.monotonic() - asked > ASKED_EVERY:
                asked = time.monotonic()
                self._ask_servers()
                self._note_lost(self._engine.watch())
                self._display.show(self.progress)
        self._last_reports()
        return 0

    @decides("Cluster/ends-by-name")
    def _note_lost(self, ranks: Sequence[int]) -> None:
        """Gather workers that were lost with a machine; a start of one that fails meanwhile is not another loss."""
        fresh, now = set(ranks) - self._lost, time.monotonic()
        if fresh and not self._unsaid:
            self._since = now
        self._lost |= fresh
        self._unsaid |= fresh
        if now - self._since >= GATHERED:
            self._say_lost()

    def _say_lost(self) -> None:
        """Log the lost workers in one line."""
        if self._unsaid:
            names = ", ".join(f"worker {rank}" for rank in sorted(self._unsaid))
            were = "was lost with its machine, and is" if len(self._unsaid) == 1 else (
                "were lost with their machine, and are"
            )
            self._display.say(f"{names} {were} started again")
            self._unsaid.clear()

    @decides("Cluster/stranger")
    def _take(self, name: bytes, kind: bytes, pieces: Sequence[Bytes]) -> None:
        """Take a message of a keeper, a worker or a server; a malformed message is logged and dropped."""
        if kind == QUESTION:
            self._head.send(name, QUESTION, [json.dumps(self._engine.endpoints()).encode()])
            return
        try:
            rank, number, content = b"".join(pieces).split(b" ", 2)
            require("Cluster/stranger", 0 <= int(rank) < self.job.workers, f"there is no worker {int(rank)}")
            if kind == NEWS:
                news = told.news(json.loads(content))
                require("Cluster/stranger", news["worker"] == int(rank), f"it is about worker {news['worker']}")
            else:
                require("Cluster/stranger", kind == OUTPUT and int(number) in (0, 1, 2), f"its kind is {kind[:9]!r}")
        except (MXNetError, ValueError, TypeError, KeyError, RecursionError) as error:
            self._display.say(f"a malformed message from {name[:40]!r} was dropped: {told.one_line(error)}")
            return
        if kind == NEWS:
            self._heard(news)
            return
        self._display.clear()
        _pass_on(int(rank), int(number), content)

    def _last_reports(self) -> None:
        """Ask each server that can be reached for its last report."""
        reports, end = dict(self.progress.reports), time.monotonic() + LAST
        self._ask_servers()
        while time.monotonic() < end and any(self.progress.reports.get(n) is one for n, one in reports.items()):
            wait_for(self._questions, 0.1)
            self._hear_servers()

    @decides("Cluster/ends-by-name")
    def _heard(self, news: Mapping[str, Any]) -> None:
        rank = int(news["worker"])
        if "started" in news:
            restarts = int(news["restarts"])
            self.progress.pids[rank] = int(news["started"])
            if rank in self._unsaid:
                self._say_lost()
            self._lost.discard(rank)
            self._engine.note_restarts(rank, restarts)
            self._memory["restarts"][rank] = restarts + 1  # for a launcher that goes on with the job
            _remember(self._state, self._memory)
            again = " again" if rank in self.progress.restarts else ""
            self.progress.restarts[rank] = self.progress.restarts.get(rank, -1) + 1
            self._display.say(f"worker {rank} runs{again}: process {news['started']}")
            return
        code = int(news["ended"])
        how = f"was ended by {signal.Signals(-code).name}" if code < 0 else f"ended with exit code {code}"
        if news["again"]:
            if self._events is not None:
                self._events.note_kill(rank)
            self._display.say(f"worker {rank} {how}: it is started again")
            return
        self.progress.codes[rank] = code
        if code:
            self._display.say(f"worker {rank} {how}: the job ends")
        self._ask_servers()

    def _ask_servers(self) -> None:
        """Ask the servers for reports, and tell them which workers have ended."""
        question = json.dumps({"report": True, "ended": sorted(self.progress.codes)}).encode()
        for caller, endpoint in zip(self._questions, self._engine.endpoints(), strict=True):
            caller.move(endpoint)
            caller.connected_anew()
            if caller.up:
                caller.send(QUESTION, [question])

    @decides("Cluster/stranger")
    def _hear_servers(self) -> None:
        for number, caller in enumerate(self._questions):
            caller.connected_anew()
            for _, pieces in caller.receive():
                try:
                    report = told.report(b"".join(pieces))
                except (ValueError, TypeError, KeyError, RecursionError) as error:
                    self._display.say(f"a malformed report of server {number} was dropped: {told.one_line(error)}")
                    continue
                for warning in report.pop("warned"):
                    self._display.say(f"server {number}: {warning}")
                noted = report.pop("noted")
                before = self.progress.hear(number, report, time.monotonic())
                again = before is not None and before["process"] != report["process"]
                if self._events is not None:
                    self._events.kind = self._events.kind or next(iter(report["kinds"]), "")
                    self._events.note(number, noted, (before or report)["at"], report["began"] if again else None)
                if before is None:
                    self._display.say(f"server {number} runs: process {report['process']}")
                elif before is not None and again:
                    self._display.say(
                        f"server {number} was killed and is started again: process {report['process']}, with"
                        f" {report['recovered']} records of its log"
                    )
                    require(
                        "Cluster/log-lost", self.job.keep == "none" or report["found"] >= before["safe"],
                        f"server {number} came back with {report['found']} records, where it had answered"
                        f" {before['safe']}: its log is lost; start the job again",
                    )
                    require(
                        "Cluster/keep-none", self.job.keep != "none",
                        f"server {number} was killed, and with --keep none nothing of it is left: start the job again;"
                        " --keep process survives this",
                    )

    def _summary(self, code: int) -> None:
        self._say_lost()
        self._display.say(self.progress.summary(code, self._display.seconds))
        if code and self.job.state is not None and self.job.keep != "none":
            self._display.say(f"the servers' state is in {self._state}: the same command goes on from there")


@decides("Cluster/launch")
def _pass_on(rank: int, stream: int, content: bytes) -> None:
    """Write the output of a worker, with its rank before each line."""
    content = b"".join(b"worker %d | %s\n" % (rank, line) for line in content.removesuffix(b"\n").split(b"\n"))
    target = sys.stderr if stream == 2 else sys.stdout
    target.flush()
    binary = getattr(target, "buffer", None)
    if binary is None:
        target.write(content.decode("utf-8", "replace"))
    else:
        binary.write(content)
    target.flush()


def _to_stderr(line: str) -> None:
    print(f"refimpl launch: {line}", file=sys.stderr, flush=True)  # noqa: T201  # that is what it is for


# --- a folder that outlives the job ---------------------------------------------------------------


@decides("Cluster/resume")
def _memory(job: Job, state: Path) -> dict[str, Any]:
    """The facts that a launcher keeps in the folder ``state`` about its job, if there is one; compared with ``job``.

    Raises:
        MXNetError: the folder belongs to another job.
    """
    state.mkdir(mode=0o700, parents=True, exist_ok=True)
    fresh = {
        "workers": job.workers, "servers": job.servers, "command": list(job.command),
        "restarts": [0] * job.workers, "hashes": secrets.randbelow(1 << 32),
    }
    path = state / _FILE
    if not path.exists():
        _remember(state, fresh)
        return fresh
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
        same = {name: found[name] == fresh[name] for name in ("workers", "servers", "command")}
        int(found["hashes"]), list(map(int, found["restarts"]))
    except (ValueError, KeyError, TypeError) as error:
        raise refusal("Cluster/resume", f"{path} is no job of refimpl launch: {error}; remove the folder") from error
    other = [name for name, is_same in same.items() if not is_same]
    require(
        "Cluster/resume", not other,
        f"{state} holds another job, whose {' and '.join(other)} differ: {found['workers']} workers, {found['servers']}"
        f" servers, {' '.join(map(str, found['command']))}; give that command, another --state, or remove the folder",
    )
    return dict(found)


def _remember(state: Path, memory: Mapping[str, Any]) -> None:
    write_atomically(state / _FILE, json.dumps(memory).encode())


def _forget(state: Path) -> None:
    """Remove the facts of a job that has ended well: no later launcher continues it."""
    for path in state.glob("server-*"):
        shutil.rmtree(path, ignore_errors=True)
    (state / _FILE).unlink(missing_ok=True)


@decides("Cluster/launch")
def launch(job: Job, engine: Starts) -> int:
    """Run a job; returns its exit code. Temporary folders are removed at the end, also after an error.

    Raises:
        MXNetError: a package or a server is missing, or ``--state`` belongs to another job.
    """
    sweep()
    before = {
        number: signal.signal(number, _interrupted)
        for number in ((signal.SIGTERM,) if threading.current_thread() is threading.main_thread() else ())
    }
    in_memory = place_of_logs(job.servers) if job.keep in ("process", "peer") and not job.remote else None
    try:
        with folder_of_job() as folder, folder_of_job(in_memory) as logs:
            return Launcher(job, engine, folder, logs=logs).run()
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _interrupted(number: int, frame: object) -> None:
    del number, frame
    raise KeyboardInterrupt


__all__ = ["Engine", "Job", "Launcher", "Progress", "launch"]
