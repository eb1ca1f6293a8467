"""mx.rnn: recurrent networks on symbols, their checkpoints, and batches of sentences."""

from __future__ import annotations

from . import io, rnn, rnn_cell  # noqa: F401  # MXNet's names of the files, which scripts may spell out
from .io import BucketSentenceIter, DataBatch, DataDesc, DataIter, encode_sentences
from .rnn import (
    do_rnn_checkpoint,
    load_checkpoint,
    load_rnn_checkpoint,
    rnn_unroll,
    save_checkpoint,
    save_rnn_checkpoint,
)
from .rnn_cell import (
    BaseConvRNNCell,
    BaseRNNCell,
    BidirectionalCell,
    ConvGRUCell,
    ConvLSTMCell,
    ConvRNNCell,
    DropoutCell,
    FusedRNNCell,
    GRUCell,
    LSTMCell,
    ModifierCell,
    ResidualCell,
    RNNCell,
    RNNParams,
    SequentialRNNCell,
    ZoneoutCell,
)

__all__ = [
    "BaseConvRNNCell", "BaseRNNCell", "BidirectionalCell", "BucketSentenceIter", "ConvGRUCell",
    "ConvLSTMCell", "ConvRNNCell", "DataBatch", "DataDesc", "DataIter", "DropoutCell", "FusedRNNCell",
    "GRUCell", "LSTMCell", "ModifierCell", "RNNCell", "RNNParams", "ResidualCell", "SequentialRNNCell",
    "ZoneoutCell", "do_rnn_checkpoint", "encode_sentences", "load_checkpoint", "load_rnn_checkpoint",
    "rnn_unroll", "save_checkpoint", "save_rnn_checkpoint",
]
