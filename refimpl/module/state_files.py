"""Files of optimizer states: they are loaded together with the params file with which they were saved."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any, NamedTuple

from .. import kvstore as kvs
from ..base import refusal
from ..files.atomic import sha256_of
from ..ndarray import NDArray
from ..ndarray.file_format import read_file
from ..optimizer import states
from ..symbol.checkpoint import parse_params


class ParamsFile(NamedTuple):
    """The name and the SHA-256 of a params file; without a SHA-256, states saved with any params file are taken."""

    name: str
    sha256: str | None


def read_params(
    prefix: str, epoch: int, compared: bool
) -> tuple[dict[str, NDArray], dict[str, NDArray], ParamsFile]:
    """Read ``PREFIX-EPOCH.params``: (arguments, auxiliary states, the file with its SHA-256 if ``compared``).

    Raises:
        MXNetError: the file is missing or damaged.
        ValueError: a name has no prefix, or the arrays have no names.
    """
    name = f"{prefix}-{epoch:04d}.params"
    content = read_file(name)
    digest = hashlib.sha256(content).hexdigest() if compared else None
    return *parse_params(content, name), ParamsFile(name, digest)


def read_states(fname: str, params: ParamsFile | None) -> bytes:
    """Read the file of states that was saved with the params file ``params``; None stands for the file beside it.

    States without the SHA-256 of a params file are taken, and so are states without a params file beside them.

    Raises:
        MXNetError: the states were saved with another params file.
        OSError: the file of states cannot be read.
    """
    content = states.read_file(fname)
    saved_with = states.saved_with(content)
    if saved_with is None:
        return content
    if params is None:
        beside = states.params_beside(fname)
        if beside is None or not beside.exists():
            return content
        params = ParamsFile(str(beside), sha256_of(beside))
    if params.sha256 not in (None, saved_with):
        raise refusal(
            "States/same-save",
            f"{fname} was saved with params of SHA-256 {saved_with[:12]}..., those of {params.name} have"
            f" {params.sha256[:12]}...: their save was interrupted, or one of the two files was replaced; load another"  # type: ignore[index]  # it is none of (None, ...)
            " epoch, or give allow_other_params=True to go on from these two as they are",
        )
    return content


def set_states(content: bytes, fname: str, store: Any, updater: Any, weights: Mapping[int, Any]) -> None:
    """Set the states of ``updater``, or of the store's updater when ``updater`` is None, from a file's ``content``."""
    if updater is None and type(store).load_optimizer_states is kvs.KVStore.load_optimizer_states:
        updater, weights = store._require_updater("load"), store._stored
    if updater is None:  # a user's own store, which reads its files itself
        store.load_optimizer_states(fname)
    else:
        updater.set_states(content, str(fname), weights)
