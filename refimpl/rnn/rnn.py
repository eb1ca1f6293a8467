"""Checkpoints with weights gate by gate, and the old way to unroll."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from .. import symbol
from ..base import decides
from ..model import load_checkpoint, save_checkpoint
from ..ndarray import NDArray
from ..symbol import Symbol
from .recurrent_cell import BaseRNNCell
from .sequences import States, Steps

Cells = BaseRNNCell | Sequence[BaseRNNCell]


@decides("rnn/rnn-unroll")
def rnn_unroll(
    cell: BaseRNNCell, length: int, inputs: Steps | None = None, begin_state: States | None = None,
    input_prefix: str = "", layout: str = "NTC",
) -> tuple[Any, States]:
    """``cell.unroll``, under its old name; without inputs, variables ``PREFIXt0_data`` ... are made.

    Args:
        cell: the cell.
        length: the number of times.
        inputs: the sequence, as ``cell.unroll`` takes it, or None.
        begin_state: the states before the first time; None for those of the cell.
        input_prefix: what the names of the variables begin with.
        layout: "NTC" or "TNC", for inputs that are one symbol.
    """
    warnings.warn("rnn_unroll is deprecated; call cell.unroll", stacklevel=2)
    if inputs is None:
        inputs = [symbol.Variable(f"{input_prefix}t{time}_data") for time in range(length)]
    return cell.unroll(length, inputs, begin_state=begin_state, layout=layout)


def _listed(cells: Cells) -> Sequence[BaseRNNCell]:
    return [cells] if isinstance(cells, BaseRNNCell) else cells


@decides("rnn/checkpoint")
def save_rnn_checkpoint(
    cells: Cells, prefix: str, epoch: int, symbol: Symbol | None, arg_params: Mapping[str, NDArray],
    aux_params: Mapping[str, NDArray],
) -> None:
    """:func:`mx.model.save_checkpoint`, with the weights of one or several cells unpacked first.

    Args:
        cells: a cell, or a list of cells.
        prefix, epoch: the files are ``PREFIX-symbol.json`` and ``PREFIX-EPOCH.params``, with four digits.
        symbol: the network; None to write parameters alone.
        arg_params, aux_params: arrays by name.

    Raises:
        KeyError: an array of a cell is missing.
        MXNetError: a file cannot be written.
    """
    for cell in _listed(cells):
        arg_params = cell.unpack_weights(arg_params)
    save_checkpoint(prefix, epoch, symbol, arg_params, aux_params)


@decides("rnn/checkpoint")
def load_rnn_checkpoint(
    cells: Cells, prefix: str, epoch: int
) -> tuple[Symbol, dict[str, NDArray], dict[str, NDArray]]:
    """Read what :func:`save_rnn_checkpoint` wrote, with the weights packed for these cells.

    Raises:
        KeyError: an array of a cell is missing.
        MXNetError: a file is missing or damaged.
    """
    network, arguments, auxiliary = load_checkpoint(prefix, epoch)
    for cell in _listed(cells):
        arguments = cell.pack_weights(arguments)
    return network, arguments, auxiliary


@decides("rnn/checkpoint")
def do_rnn_checkpoint(cells: Cells, prefix: str, period: int = 1) -> Callable[[int, Any, Any, Any], None]:
    """Return an epoch callback: :func:`save_rnn_checkpoint` after every ``period`` epochs.

    A period below 1 counts as 1.
    """
    period = int(max(1, period))

    def _callback(iter_no: int, sym: Any = None, arg: Any = None, aux: Any = None) -> None:
        if (iter_no + 1) % period == 0:
            save_rnn_checkpoint(cells, prefix, iter_no + 1, sym, arg, aux)

    return _callback


__all__ = [
    "do_rnn_checkpoint", "load_checkpoint", "load_rnn_checkpoint", "rnn_unroll", "save_checkpoint",
    "save_rnn_checkpoint",
]
