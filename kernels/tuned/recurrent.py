"""One time of an LSTM, row by row: what a row needs stays in the nearest cache while its gates and cells are computed.

The curves are those of ``elementary``; everything else has the page's arithmetic.
"""

from __future__ import annotations

from ..foundation import Buffer
from ..shared.rnn_cells import LSTM_STEP, Cells, Limits, active, within
from .elementary import sigmoid, tanh
from .kernel import kernel, twin


@kernel
def lstm_rows(x, h, biases, gates, cell, memory, hidden, lengths, t, cells: Cells, limits: Limits):
    """As ``rnn_cells.lstm_step``."""
    size, area = cells.size, len(cell)
    batch = area // size
    for row in range(batch):
        for g in range(4):
            now, then, bias = (row * 4 + g) * size, (t * batch + row) * 4 * size + g * size, g * size
            more, at = 4 * size + bias, t * 4 * area + g * area + row * size
            if g == 2:
                for j in range(size):
                    gates[at + j] = tanh((x[then + j] + biases[bias + j]) + (h[now + j] + biases[more + j]))
            else:
                for j in range(size):
                    gates[at + j] = sigmoid((x[then + j] + biases[bias + j]) + (h[now + j] + biases[more + j]))
        own, at = row * size, t * 4 * area + row * size
        if active(lengths[row], t, cells):
            for j in range(size):
                value = gates[at + area + j] * cell[own + j] + gates[at + j] * gates[at + 2 * area + j]
                cell[own + j] = within(value, limits)
    for k in range(area):  # in one piece: what vectors leave over is slow
        memory[t * area + k] = cell[k]
        hidden[k] = tanh(cell[k]) * gates[t * 4 * area + 3 * area + k]


@twin(LSTM_STEP)
def lstm_step(
    x: Buffer, h: Buffer, biases: Buffer, gates: Buffer, cell: Buffer, memory: Buffer, hidden: Buffer, lengths: Buffer,
    t: int, cells: Cells, limits: Limits,
) -> None:
    """As ``rnn_cells.lstm_step``."""
    arrays = x, h, biases, gates, cell, memory, hidden, lengths
    lstm_rows(*(array.flat for array in arrays), t, tuple(cells), tuple(limits))
