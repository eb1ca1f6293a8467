"""All cells under one name, as scripts import them: ``mx.rnn.rnn_cell``."""

from __future__ import annotations

from .cells import GRUCell, LSTMCell, RNNCell
from .combined import BidirectionalCell, SequentialRNNCell
from .convolutional import BaseConvRNNCell, ConvGRUCell, ConvLSTMCell, ConvRNNCell
from .fused import FusedRNNCell
from .modifiers import DropoutCell, ModifierCell, ResidualCell, ZoneoutCell
from .recurrent_cell import BaseRNNCell, RNNParams

__all__ = [
    "BaseConvRNNCell", "BaseRNNCell", "BidirectionalCell", "ConvGRUCell", "ConvLSTMCell", "ConvRNNCell",
    "DropoutCell", "FusedRNNCell", "GRUCell", "LSTMCell", "ModifierCell", "RNNCell", "RNNParams",
    "ResidualCell", "SequentialRNNCell", "ZoneoutCell",
]
