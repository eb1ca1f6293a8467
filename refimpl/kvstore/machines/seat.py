"""The place of a process in a job: its rank and the servers' addresses, from environment variables of a launcher."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import Any

from ...base import decides, refusal, require
from .. import messages as say
from ..distributed import DistributedKVStore
from ..plain import pack, unpack
from ..random_numbers import random_numbers, set_random_numbers
from .remote import RemoteTransport
from .sockets import Keys

VARIABLE = "REFIMPL_JOB"
"""The environment variable with the servers' addresses and other facts for a worker, as JSON."""

_NAMES = ("DMLC_ROLE", "DMLC_PS_ROOT_URI", "DMLC_NUM_SERVER")


class Seat:
    """The place of a worker in a job; it makes the worker's stores."""

    def __init__(self, transport: RemoteTransport) -> None:
        self.transport, self._opened = transport, 0

    @decides("Cluster/pairing", "Cluster/kind")
    def store(self, kind: str) -> DistributedKVStore:
        """The next store of this worker."""
        table, self._opened = self._opened, self._opened + 1
        return DistributedKVStore(kind, self.transport, self.transport.rank, table)


_taken: list[tuple[str, int, Seat]] = []


@decides("Cluster/seat")
def seat_here() -> Seat | None:
    """The place that a launcher gave this process; None without a launcher.

    Raises:
        MXNetError: another launcher started the process, or the variables are damaged.
    """
    text = os.environ.get(VARIABLE)
    if text is None:
        named = [name for name in _NAMES if name in os.environ]
        if named:
            raise refusal(
                "Cluster/seat",
                f"{', '.join(named)} are set, but this process was not started by `refimpl launch`: start the job with"
                " `refimpl launch -n WORKERS -s SERVERS python script.py`, in the place of MXNet's tools/launch.py",
            )
        return None
    here = text, os.getpid()
    for *known, seat in _taken:
        if tuple(known) == here:
            return seat
    try:
        seat = Seat(_transport(json.loads(text), os.environ))
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise refusal("Cluster/seat", f"{VARIABLE} is not what `refimpl launch` sets: {error}") from error
    _begin_alike(seat.transport)
    _taken.append((*here, seat))
    return seat


def _transport(told: Mapping[str, Any], environment: Mapping[str, str]) -> RemoteTransport:
    keys = told.get("keys")
    return RemoteTransport(
        list(map(str, told["servers"])), int(environment["DMLC_NUM_WORKER"]), int(environment["DMLC_WORKER_ID"]),
        restarts=int(told["restarts"]), returning=bool(told["returning"]), patience=float(told["patience"]),
        keys=None if keys is None else Keys(*keys), server=str(told.get("server", "")),
        head=str(told.get("head", "")),
    )


@decides("Cluster/random-again")
def _begin_alike(transport: RemoteTransport) -> None:
    """Set the random states with which the first process of this worker began."""
    if not transport.returning:
        return
    own = say.Keep(say.START, pack(random_numbers()))
    transport.send(transport.rank, 0, own).wait()
    answer = transport.send(transport.rank, 0, say.Recall()).wait()
    require(
        "Cluster/random-again", isinstance(answer, say.Recalled) and say.START in answer.kept,
        f"server 0 does not know how worker {transport.rank} began",
    )
    assert isinstance(answer, say.Recalled)
    set_random_numbers(unpack(answer.kept[say.START], "what the first process kept"))


__all__ = ["VARIABLE", "Seat", "seat_here"]
