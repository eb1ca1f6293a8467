"""KVStoreServer, which a server process of MXNet runs: kept for programs that use it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..base import decides
from ..optimizer.states import loads_optimizer
from .messages import OPTIMIZER


@decides("Cluster/server-class")
class KVStoreServer:
    """Hands commands to a store. The servers of a cluster here do not use it: the cluster runs them itself."""

    def __init__(self, kvstore: Any) -> None:
        self.kvstore = kvstore

    def _controller(self) -> Callable[..., None]:
        """A function of (number, body, ...): command 0 sets the optimizer in the body, other commands are printed.

        Raises (the function):
            MXNetError: the body does not hold an optimizer; no code in it is executed.
        """

        def obey(cmd_id: int, cmd_body: Any, _: Any = None) -> None:
            if cmd_id == OPTIMIZER:
                content = cmd_body.encode("latin-1", "replace") if isinstance(cmd_body, str) else cmd_body
                self.kvstore.set_optimizer(loads_optimizer(content, "the command"))
            else:
                print(f"server {self.kvstore.rank}, unknown command ({cmd_id}, {cmd_body})")  # noqa: T201  # as MXNet says it

        return obey

    def run(self) -> None:
        """Return at once, as in MXNet for a store of one process."""


__all__ = ["KVStoreServer"]
