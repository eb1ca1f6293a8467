"""Ray: starts servers and workers, places them, watches them and starts them again. No other module imports it."""

from __future__ import annotations

import contextlib
import importlib
import ipaddress
import os
import secrets
import shutil
import socket
import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from ...base import decides, refusal, require
from .. import server as rules
from .events import Noting
from .keeper import Keeper
from .neighbour import Neighbour
from .node import Node
from .serving import Serving
from .sockets import Keys, Listener, address_of

# Nothing is sent to anybody, and lines of the job stay as they are.
_QUIET = {
    "RAY_USAGE_STATS_ENABLED": "0", "RAY_DEDUP_LOGS": "0", "RAY_COLOR_PREFIX": "0", "RAY_LOG_TO_DRIVER": "0",
    "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0", "RAY_LOG_TO_STDERR": "0", "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
    "RAY_DISABLE_IMPORT_WARNING": "1",
}
_SILENT = {"log_to_driver": False, "logging_level": "ERROR", "configure_logging": False}
"""Arguments of ``ray.init`` without which Ray writes into the job's own lines."""
STORE = 80 << 20
"""Bytes for Ray's object store: arrays do not travel through it."""


@decides("Cluster/needs-ray")
def _ray() -> Any:
    """The package Ray.

    Raises:
        MXNetError: Ray is not installed.
    """
    os.environ.update({name: value for name, value in _QUIET.items() if name not in os.environ})
    try:
        return importlib.import_module("ray")
    except ImportError as error:
        raise refusal(
            "Cluster/needs-ray",
            'processes of a job are started with Ray, which is not installed: pip install "refimpl[ray]"',
        ) from error


def _print_nothing(*data: Any, **options: Any) -> None:
    """Replaces Ray's own printing of errors, which cannot be switched off."""
    del data, options


def is_near(address: str) -> bool:
    """Whether HOST:PORT is an address of this machine that no other machine can reach."""
    host = address.rpartition(":")[0].strip("[]")
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


@decides("Cluster/address")
def require_guarded(address: str, environment: Mapping[str, str]) -> None:
    """Refuse (MXNetError) a Ray cluster on other machines whose port executes the code of any sender."""
    missing = [
        f"{name}={value}" for name, value in (("RAY_AUTH_MODE", "token"), ("RAY_USE_TLS", "1"))
        if environment.get(name, "").lower() != value
    ]
    require(
        "Cluster/address", is_near(address) or not missing,
        f"a Ray cluster at {address} executes what it is sent, by whomever: it is used with a token and TLS only; set"
        f" {' and '.join(missing)} as for the cluster, see its documentation",
    )


@decides("Cluster/address-answers")
def require_there(address: str) -> None:
    """Refuse (MXNetError) an address without a listener: Ray would try it for minutes."""
    host, _, port = address.rpartition(":")
    reason = "it is not HOST:PORT"
    if host and port.isdigit() and int(port) < 1 << 16:
        try:
            socket.create_connection((host.strip("[]"), int(port)), 5).close()
        except OSError as error:
            reason = error.strerror or str(error)
        else:
            return
    raise refusal(
        "Cluster/address-answers",
        f"there is no Ray cluster at {address}: {reason}; `ray start --head --port 6379` starts one, and `ray status`"
        " says where one is; without --address a job starts its own",
    )


def require_usable(address: str) -> None:
    """Refuse (MXNetError) a Ray cluster that strangers could use, or that does not listen."""
    require_guarded(address, os.environ)
    require_there(address)


@decides("Cluster/address-answers")
def join(address: str, **options: Any) -> Any:
    """The package Ray, connected to a cluster that is usable.

    Args:
        address: its HOST:PORT.
        options: further arguments of ``ray.init``.

    Raises:
        MXNetError: Ray is missing, or the cluster does not take this job.
    """
    ray = _ray()
    try:
        ray.init(address=address, **_SILENT, **options)
    except (ConnectionError, RuntimeError) as error:
        raise refusal(
            "Cluster/address-answers",
            f"there is no Ray cluster at {address} that takes this job: {error}; if it wants a token, set"
            " RAY_AUTH_MODE=token, and RAY_AUTH_TOKEN to that with which it was started",
        ) from error
    return ray


@decides("Cluster/interface")
def address_here(interface: str = "") -> str:
    """The address at which other machines reach this one: the interface's address, or the one that Ray uses.

    Args:
        interface: the name of an interface, used where this machine's ``DMLC_INTERFACE`` is not set.

    Raises:
        MXNetError: there is no such interface.
    """
    named = os.environ.get("DMLC_INTERFACE") or interface
    return address_of(named) if named else str(_ray().util.get_node_ip_address())


class ServerActor:
    """A server in a process of Ray."""

    def __init__(
        self, number: int, workers: int, folder: str | None, endpoint: str, keys: Keys | None, allowed: Sequence[str],
        options: Mapping[str, Any],
    ) -> None:
        noting = Noting() if options["noting"] else None
        step = rules.step if noting is None else noting.step
        node = Node(number, workers, folder, durable=options["durable"], step=step)
        if noting is not None:
            noting.replaying = False
        here = f"tcp://{address_here(options['interface'])}:*" if endpoint == "tcp" else endpoint
        self._listener = Listener(here, keys, allowed, callers=workers + 2)  # the launcher, and one other server
        neighbour = Neighbour(number, options["servers"], options["head"], keys) if options["peer"] else None
        self._stop = threading.Event()
        self._thread = threading.Thread(
            target=Serving(node, self._listener, noting=noting, neighbour=neighbour).run, args=(self._stop,),
            daemon=True,
        )
        self._thread.start()

    def where(self) -> tuple[str, int]:
        """(address of the server, its process)."""
        return self._listener.endpoint, os.getpid()

    def stop(self) -> None:
        """End serving; all answered requests are in the log."""
        self._stop.set()
        self._thread.join(5)


class WorkerActor:
    """A keeper in a process of Ray."""

    def __init__(self, *arguments: Any) -> None:
        self._keeper = Keeper(*arguments)

    def run(self, restarts: int) -> int:
        """Run the worker to its end."""
        return self._keeper.run(restarts)

    def stop(self) -> None:
        """End the worker."""
        self._keeper.stop()


class RayEngine:
    """Processes started by Ray, on this machine or on the machines of an existing cluster.

    Args:
        folder: a folder of the user's own, for Ray's files.
        address: the address of an existing cluster; None starts a cluster on this machine that only it can reach.
        say: called with a log line when Ray starts, which takes a while.

    Raises:
        MXNetError: Ray is missing, the cluster cannot be reached, or strangers could use the cluster.
    """

    @decides("Cluster/own-ray")
    def __init__(self, folder: Path, address: str | None = None, say: Callable[[str], None] = _print_nothing) -> None:
        if address is not None:
            require_usable(address)
        self._address = address
        if address is None:
            os.environ.pop("RAY_ADDRESS", None)  # the address of another cluster
            token = folder / "token"
            token.touch(mode=0o600)
            token.write_text(secrets.token_hex(32))
            os.environ.update(RAY_AUTH_MODE="token", RAY_AUTH_TOKEN_PATH=str(token))
        self._ray = _ray()
        self._server_actors: list[Any] = []
        self._endpoints: list[str] = []
        self._asked: dict[Any, int] = {}  # pending calls that ask whether servers are there
        self._worker_actors: dict[int, Any] = {}
        self._running: dict[Any, int] = {}
        self._restarts: dict[int, int] = {}
        space = f"refimpl-{secrets.token_hex(4)}"
        if address is None:
            say("starts Ray, which takes some seconds, and more on a busy machine")
            self._start(folder, space)
        else:
            say(f"joins the Ray cluster at {address}")
            join(address, namespace=space)
        with contextlib.suppress(ImportError):  # the launcher itself reports killed processes
            printing: Any = importlib.import_module("ray._private.worker")
            printing.print_to_stdstream = _print_nothing

    @decides("Cluster/ray-starts")
    def _start(self, folder: Path, space: str) -> None:
        try:
            self._ray.init(
                address="local", include_dashboard=False, _node_ip_address="127.0.0.1", object_store_memory=STORE,
                num_cpus=max(2, os.cpu_count() or 2), _temp_dir=str(folder / "ray"), namespace=space,
                **_SILENT,
            )
        except Exception as error:  # Ray raises Exception itself when its processes do not answer in time
            raise refusal(
                "Cluster/ray-starts",
                f"Ray did not start on this machine: {error}; nothing ran, so give the same command again, when the"
                " machine is less busy",
            ) from error

    def start_servers(self, arguments: Sequence[tuple[Any, ...]]) -> list[str]:
        """Start the servers; returns their addresses."""
        make = self._ray.remote(ServerActor).options(
            num_cpus=0, max_restarts=-1, max_task_retries=-1, max_concurrency=4, scheduling_strategy="SPREAD"
        )
        self._server_actors = [make.remote(*each) for each in arguments]
        for number, actor in enumerate(self._server_actors):
            self._endpoints.append(self._where(number, actor.where.remote()))
        return self._endpoints

    def address(self) -> str:
        """The address of this machine for the other machines of the cluster."""
        return address_here()

    def endpoints(self) -> list[str]:
        """The present address of each server, as far as it is known."""
        return self._endpoints

    def start_worker(self, rank: int, restarts: int, arguments: tuple[Any, ...]) -> None:
        """Start a worker."""
        make = self._ray.remote(WorkerActor).options(
            num_cpus=0, max_restarts=-1, max_task_retries=0, max_concurrency=2, scheduling_strategy="SPREAD"
        )
        self._worker_actors[rank] = make.remote(*arguments)
        self._run(rank, restarts)

    def _run(self, rank: int, restarts: int) -> None:
        self._restarts[rank] = restarts
        self._running[self._worker_actors[rank].run.remote(restarts)] = rank

    def note_restarts(self, rank: int, restarts: int) -> None:
        """Note how often a worker was started, for the case that its keeper is lost."""
        self._restarts[rank] = restarts

    @decides("Cluster/unreachable")
    def watch(self) -> list[int]:
        """Start workers again whose machine was lost; returns their ranks.

        Raises:
            MXNetError: a server cannot be started again, or a worker cannot reach the launcher.
        """
        self._look_at_servers()
        if not self._running:
            return []
        ready, _ = self._ray.wait(list(self._running), num_returns=len(self._running), timeout=0)
        again = []
        for one in ready:
            rank = self._running.pop(one)
            try:
                self._ray.get(one)
            except self._ray.exceptions.RayTaskError as error:  # raised by its keeper, which is there
                why = str(error.cause).removesuffix(" [Cluster/unreachable]")
                raise refusal("Cluster/unreachable", f"worker {rank} does not run: {why}") from error
            except self._ray.exceptions.RayError:
                again.append(rank)
                self._run(rank, self._restarts[rank] + 1)
        return again

    def _look_at_servers(self) -> None:
        """Refuse to go on without a server that Ray gave up."""
        if not self._asked:
            self._asked = {actor.where.remote(): number for number, actor in enumerate(self._server_actors)}
        ready, _ = self._ray.wait(list(self._asked), num_returns=len(self._asked), timeout=0)
        for one in ready:
            number = self._asked.pop(one)
            self._endpoints[number] = self._where(number, one, " again")

    @decides("Cluster/server-ended")
    def _where(self, number: int, asked: Any, again: str = "") -> str:
        """The address of a server, from the result of the call ``asked``; MXNetError when it cannot be started."""
        try:
            return str(self._ray.get(asked)[0])
        except self._ray.exceptions.RayActorError as error:
            reason = " ".join(str(error).strip().splitlines()[-1:])
            raise refusal("Cluster/server-ended", f"server {number} cannot be started{again}: {reason}") from error

    def stop(self) -> None:
        """End all processes of the job, and a cluster that was started here."""
        errors = (self._ray.exceptions.RayError, TimeoutError)
        with contextlib.suppress(*errors):
            self._ray.get([one.stop.remote() for one in self._worker_actors.values()], timeout=10)
        with contextlib.suppress(*errors):
            self._ray.get([one.stop.remote() for one in self._server_actors], timeout=10)
        for one in (*self._worker_actors.values(), *self._server_actors):
            with contextlib.suppress(*errors):
                self._ray.kill(one)
        self._ray.shutdown()


def shared_memory_is_small() -> str:
    """A log line that says that ``/dev/shm`` is too small for Ray; empty if it is large enough."""
    if not Path("/dev/shm").exists():  # noqa: S108  # Ray's choice
        return ""
    free = shutil.disk_usage("/dev/shm").free  # noqa: S108
    if free >= STORE:
        return ""
    return f"the shared memory (/dev/shm) has {free >> 20} MiB free and Ray wants {STORE >> 20}: it uses files"


__all__ = [
    "RayEngine", "ServerActor", "WorkerActor", "address_here", "is_near", "require_guarded", "require_there",
    "shared_memory_is_small",
]
