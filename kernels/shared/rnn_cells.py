"""The loops of one time step of a recurrent layer, forward and back; rnn.py says what they compute.

Index t is the time, n the row of the batch, g the gate and j the cell. Gates are (times, gates, batch, size); the sums
that enter them, and their gradients, are (times, batch, gates, size), as products leave them. A loop gets one time of
these arrays, or all of them and ``t``. A row that has a length is active at the times before it; at later times its
output is zero and its state stays.
"""

import numpy as np

from ..foundation import Loop, items
from .curves import sigmoid, tanh
from .rnn_layout import Cells, Limits, active, within


def add(other, out, n):
    for i in items(n):
        out[i] += other[i]


# --- forward ------------------------------------------------------------------------------------


def add_parts(x, h, bias_x, bias_h, gates, count):
    """The first ``count`` gates before their functions: (x + bias_x) + (h + bias_h)."""
    for g, n, j in items((count, x.shape[0], x.shape[2])):
        gates[g, n, j] = (x[n, g, j] + bias_x[g, j]) + (h[n, g, j] + bias_h[g, j])


def new_gate(x, h, bias_x, bias_h, gates, memory):
    """The third gate of a GRU before tanh, and in memory the part that its reset gate multiplies."""
    for n, j in items(memory.shape):
        memory[n, j] = h[n, 2, j] + bias_h[2, j]
        gates[2, n, j] = (x[n, 2, j] + bias_x[2, j]) + gates[0, n, j] * memory[n, j]


def lstm_step(x, h, biases, gates, cell, memory, hidden, lengths, t, cells: Cells, limits: Limits):
    """Gates (x + bias) + (h + bias) under their functions, cell = forget * cell + in * new, clipped, and the hidden
    state out * tanh(cell). ``biases`` are those of x, then those of h; ``memory`` keeps the cell for the gradient.
    """
    for n, j in items(cell.shape):
        for g in range(4):
            value = (x[t, n, g, j] + biases[0, g, j]) + (h[n, g, j] + biases[1, g, j])
            gates[t, g, n, j] = tanh(value) if g == 2 else sigmoid(value)
        if active(lengths[n], t, cells):
            cell[n, j] = within(gates[t, 1, n, j] * cell[n, j] + gates[t, 0, n, j] * gates[t, 2, n, j], limits)
        memory[t, n, j] = cell[n, j]
        hidden[n, j] = tanh(cell[n, j])
        hidden[n, j] = hidden[n, j] * gates[t, 3, n, j]


def move_gru(gates, state, hidden):
    """new + keep (state - new), which is (1 - keep) new + keep state."""
    for n, j in items(hidden.shape):
        hidden[n, j] = gates[2, n, j] + gates[1, n, j] * (state[n, j] - gates[2, n, j])


def settle(hidden, lengths, state, out, t, cells: Cells):
    """State and output of this time; ``out`` has all times, and both directions."""
    for n in items(state.shape[0]):
        if active(lengths[n], t, cells):
            for j in range(state.shape[1]):
                state[n, j] = hidden[n, j]
                out[t, n, cells.first + j] = hidden[n, j]
        else:
            for j in range(state.shape[1]):
                out[t, n, cells.first + j] = 0


# --- backward -----------------------------------------------------------------------------------


def states_before(start, out, lengths, before, cells: Cells):
    """The state that each time began with: the output of the time before, or ``start``."""
    for t, n in items(before.shape[:2]):
        source = t - cells.onward
        inside = source >= 0 and source < before.shape[0] and active(lengths[n], source, cells)
        for j in range(before.shape[2]):
            before[t, n, j] = out[source, n, cells.first + j] if inside else start[n, j]


def cells_before(start, memory, before, cells: Cells):
    """The LSTM's cells that each time began with."""
    for t, n in items(before.shape[:2]):
        source = t - cells.onward
        for j in range(before.shape[2]):
            before[t, n, j] = memory[source, n, j] if 0 <= source < before.shape[0] else start[n, j]


def arrive(came, carried, head, total, lengths, t, behind, cells: Cells):
    """The gradient of this time's output: the head, and what came from time ``behind``.

    Rows that were not active then have ``carried`` instead of ``came``: what came from the last time they were.
    ``head`` has all times.
    """
    for n in items(total.shape[0]):
        if active(lengths[n], behind, cells):
            for j in range(total.shape[1]):
                carried[n, j] = came[n, j]
        if active(lengths[n], t, cells):
            for j in range(total.shape[1]):
                total[n, j] = carried[n, j] + head[t, n, cells.first + j]
        else:
            for j in range(total.shape[1]):
                total[n, j] = 0


def leave(came, carried, lengths, behind, out, cells: Cells):
    """The gradient of the state before the first time."""
    for n, j in items(out.shape):
        out[n, j] = came[n, j] if active(lengths[n], behind, cells) else carried[n, j]


def back_simple(total, gates, d_gates, n, is_relu):
    for k in items(n):
        y = gates[k]
        if is_relu:
            d_gates[k] = total[k] if y > 0 else total[k] * 0
        else:
            d_gates[k] = total[k] - total[k] * y * y


def back_lstm(total, gates, curve, before, d_cell, d_gates, lengths, t, cells: Cells, limits: Limits):
    """``curve`` is tanh of the cell, ``before`` the cell before, ``total`` the gradient of this time's hidden state."""
    for n in items(total.shape[0]):
        if active(lengths[n], t, cells):
            for j in range(total.shape[1]):
                i, f, g, o = gates[t, 0, n, j], gates[t, 1, n, j], gates[t, 2, n, j], gates[t, 3, n, j]
                raw = f * before[t, n, j] + i * g
                through = total[n, j] * o
                d_c = np.float64(d_cell[n, j] + (through - through * curve[t, n, j] * curve[t, n, j]))
                d_c = d_c * 0 if raw < limits.low or raw > limits.high else d_c
                d_cell[n, j] = d_c * f
                d_gates[t, n, 0, j] = d_c * g * (i - i * i)
                d_gates[t, n, 1, j] = d_c * before[t, n, j] * (f - f * f)
                d_gates[t, n, 2, j] = d_c * (i - i * g * g)
                d_gates[t, n, 3, j] = total[n, j] * curve[t, n, j] * (o - o * o)
        else:
            for g in range(4):
                for j in range(total.shape[1]):
                    d_gates[t, n, g, j] = 0


def back_gru(total, gates, memory, before, d_x, d_h):
    """Gradients of the parts from the input and from the state, which differ in the third gate."""
    for n, j in items(total.shape):
        reset, keep, new = gates[0, n, j], gates[1, n, j], gates[2, n, j]
        rest = total[n, j] - total[n, j] * keep
        d_new = rest - rest * new * new
        d_reset = d_new * memory[n, j] * (reset - reset * reset)
        d_keep = total[n, j] * (before[n, j] - new) * (keep - keep * keep)
        d_x[n, 0, j] = d_reset
        d_h[n, 0, j] = d_reset
        d_x[n, 1, j] = d_keep
        d_h[n, 1, j] = d_keep
        d_x[n, 2, j] = d_new
        d_h[n, 2, j] = d_new * reset


def add_kept(total, gates, came):
    """came += total * keep: the part of a GRU's gradient that goes from state to state."""
    for n, j in items(came.shape):
        came[n, j] += total[n, j] * gates[1, n, j]


def hidden_of(curve, gates, hidden):
    """The LSTM's hidden state before it is projected: out gate * tanh of the cell."""
    for t, n, j in items(hidden.shape):
        hidden[t, n, j] = curve[t, n, j] * gates[t, 3, n, j]


ADD = Loop(add)
ADD_PARTS, NEW_GATE, LSTM_STEP = Loop(add_parts), Loop(new_gate), Loop(lstm_step)
MOVE_GRU, SETTLE = Loop(move_gru), Loop(settle)
STATES_BEFORE, CELLS_BEFORE = Loop(states_before), Loop(cells_before)
ARRIVE, LEAVE, ADD_KEPT, HIDDEN_OF = Loop(arrive), Loop(leave), Loop(add_kept), Loop(hidden_of)
BACK_SIMPLE, BACK_LSTM, BACK_GRU = Loop(back_simple), Loop(back_lstm), Loop(back_gru)
