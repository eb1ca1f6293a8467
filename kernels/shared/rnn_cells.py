"""The loops of one time step of a recurrent layer, forward and back; rnn.py says what they compute.

Most loops compute one time ``t`` for all rows of the batch. ``gates`` holds the gates of a time one after another,
(gates, batch, size); products and gradients hold them side by side, (batch, gates * size). A row that has a length is
active at the times before it; at later times its output is zero and its state stays. An LSTM's loops get ``gates``,
``memory`` and their like of all times, one after another.
"""

import numpy as np

from ..foundation import Loop, items
from .curves import sigmoid, tanh
from .rnn_layout import Cells, Limits, active, within


def add(other, out, n):
    for i in items(n):
        out[i] += other[i]


# --- forward ------------------------------------------------------------------------------------


def add_parts(x, h, bias_x, bias_h, gates, count, cells: Cells):
    """The first ``count`` gates before their functions: (x + bias_x) + (h + bias_h)."""
    size = cells.size
    for row in items(cells.batch):
        for g in range(count):
            side, start = g * size, (row * cells.gates + g) * size
            target = (g * cells.batch + row) * size
            for j in range(size):
                gates[target + j] = (x[start + j] + bias_x[side + j]) + (h[start + j] + bias_h[side + j])


def new_gate(x, h, bias_x, bias_h, gates, memory, cells: Cells):
    """The third gate of a GRU before tanh, and in memory the part that its reset gate multiplies."""
    batch, size = cells.batch, cells.size
    for row in items(batch):
        for j in range(size):
            at = row * 3 * size + 2 * size + j
            here = row * size + j
            memory[here] = h[at] + bias_h[2 * size + j]
            gates[2 * batch * size + here] = (x[at] + bias_x[2 * size + j]) + gates[here] * memory[here]


def lstm_step(x, h, biases, gates, cell, memory, hidden, lengths, t, cells: Cells, limits: Limits):
    """Gates (x + bias) + (h + bias) under their functions, cell = forget * cell + in * new, clipped, and the hidden
    state out * tanh(cell). The biases of h lie behind those of x; ``memory`` keeps the cell for the gradient.
    """
    size, area = cells.size, cells.batch * cells.size
    for k in items(area):
        row, j = k // size, k % size
        side, at = row * 4 * size + j, t * 4 * area + k
        for g in range(4):
            now, bias = side + g * size, g * size + j
            value = (x[t * 4 * area + now] + biases[bias]) + (h[now] + biases[4 * size + bias])
            gates[at + g * area] = tanh(value) if g == 2 else sigmoid(value)
        if active(lengths[row], t, cells):
            cell[k] = within(gates[at + area] * cell[k] + gates[at] * gates[at + 2 * area], limits)
        memory[t * area + k] = cell[k]
        hidden[k] = tanh(cell[k])
        hidden[k] = hidden[k] * gates[at + 3 * area]


def move_gru(gates, state, hidden, cells: Cells):
    area = cells.batch * cells.size
    for k in items(area):
        keep = gates[area + k]
        new = gates[2 * area + k]
        hidden[k] = new + keep * (state[k] - new)


def settle(hidden, lengths, state, out, t, cells: Cells):
    """State and output of this time; ``out`` has all times."""
    size = cells.out
    for row in items(cells.batch):
        start = (t * cells.batch + row) * cells.wide + cells.first
        if active(lengths[row], t, cells):
            for j in range(size):
                state[row * size + j] = hidden[row * size + j]
                out[start + j] = hidden[row * size + j]
        else:
            for j in range(size):
                out[start + j] = 0


# --- backward -----------------------------------------------------------------------------------


def states_before(start, out, lengths, before, cells: Cells):
    """before (times, batch, out): the state that each time began with."""
    batch, size = cells.batch, cells.out
    for row in items(cells.times * batch):
        t, b = row // batch, row % batch
        source = t - cells.onward
        inside = source >= 0 and source < cells.times and active(lengths[b], source, cells)
        for j in range(size):
            if inside:
                before[row * size + j] = out[(source * batch + b) * cells.wide + cells.first + j]
            else:
                before[row * size + j] = start[b * size + j]


def cells_before(start, memory, before, cells: Cells):
    """before (times, batch, size): the LSTM's cells that each time began with."""
    area = cells.batch * cells.size
    for row in items(cells.times):
        source = row - cells.onward
        if 0 <= source < cells.times:
            for k in range(area):
                before[row * area + k] = memory[source * area + k]
        else:
            for k in range(area):
                before[row * area + k] = start[k]


def arrive(came, carried, head, total, lengths, t, behind, cells: Cells):
    """The gradient of this time's output: the head, and what came from time ``behind``.

    Rows that were not active then have ``carried`` instead of ``came``: what came from the last time they were.
    ``head`` has all times.
    """
    size = cells.out
    for row in items(cells.batch):
        if active(lengths[row], behind, cells):
            for k in range(row * size, row * size + size):
                carried[k] = came[k]
        if active(lengths[row], t, cells):
            for j in range(size):
                given = head[(t * cells.batch + row) * cells.wide + cells.first + j]
                total[row * size + j] = carried[row * size + j] + given
        else:
            for j in range(size):
                total[row * size + j] = 0


def leave(came, carried, lengths, behind, out, cells: Cells):
    """The gradient of the state before the first time."""
    size = cells.out
    for row in items(cells.batch):
        passed = active(lengths[row], behind, cells)
        for k in range(row * size, row * size + size):
            out[k] = came[k] if passed else carried[k]


def back_simple(total, gates, d_gates, n, is_relu):
    for k in items(n):
        y = gates[k]
        if is_relu:
            d_gates[k] = total[k] if y > 0 else total[k] * 0
        else:
            d_gates[k] = total[k] - total[k] * y * y


def back_lstm(total, gates, curve, before, d_cell, d_gates, lengths, t, cells: Cells, limits: Limits):
    """``curve`` is tanh of the cell, ``before`` the cell before, ``total`` the gradient of this time's hidden state."""
    size, area = cells.size, cells.batch * cells.size
    for row in items(cells.batch):
        at = (t * cells.batch + row) * 4 * size
        if active(lengths[row], t, cells):
            for j in range(size):
                k = row * size + j
                then, gate = t * area + k, t * 4 * area + k
                i, f, g, o = gates[gate], gates[gate + area], gates[gate + 2 * area], gates[gate + 3 * area]
                raw = f * before[then] + i * g
                through = total[k] * o
                d_c = np.float64(d_cell[k] + (through - through * curve[then] * curve[then]))
                d_c = d_c * 0 if raw < limits.low or raw > limits.high else d_c
                d_cell[k] = d_c * f
                d_gates[at + j] = d_c * g * (i - i * i)
                d_gates[at + size + j] = d_c * before[then] * (f - f * f)
                d_gates[at + 2 * size + j] = d_c * (i - i * g * g)
                d_gates[at + 3 * size + j] = total[k] * curve[then] * (o - o * o)
        else:
            for j in range(4 * size):
                d_gates[at + j] = 0


def back_gru(total, gates, memory, before, d_x, d_h, cells: Cells):
    """Gradients of the parts from the input and from the state, which differ in the third gate."""
    size, area = cells.size, cells.batch * cells.size
    for row in items(cells.batch):
        for j in range(size):
            k, at = row * size + j, row * 3 * size + j
            reset, keep, new = gates[k], gates[area + k], gates[2 * area + k]
            rest = total[k] - total[k] * keep
            d_new = rest - rest * new * new
            d_reset = d_new * memory[k] * (reset - reset * reset)
            d_keep = total[k] * (before[k] - new) * (keep - keep * keep)
            d_x[at] = d_reset
            d_h[at] = d_reset
            d_x[at + size] = d_keep
            d_h[at + size] = d_keep
            d_x[at + 2 * size] = d_new
            d_h[at + 2 * size] = d_new * reset


def add_kept(total, gates, came, n):
    """came += total * keep: the part of a GRU's gradient that goes from state to state."""
    for k in items(n):
        came[k] += total[k] * gates[n + k]


def hidden_of(curve, gates, hidden, cells: Cells):
    """The LSTM's hidden state before it is projected: out gate * tanh of the cell."""
    area = cells.batch * cells.size
    for t in items(cells.times):
        for k in range(area):
            hidden[t * area + k] = curve[t * area + k] * gates[t * 4 * area + 3 * area + k]


ADD = Loop(add)
ADD_PARTS, NEW_GATE, LSTM_STEP = Loop(add_parts), Loop(new_gate), Loop(lstm_step)
MOVE_GRU, SETTLE = Loop(move_gru), Loop(settle)
STATES_BEFORE, CELLS_BEFORE = Loop(states_before), Loop(cells_before)
ARRIVE, LEAVE, ADD_KEPT, HIDDEN_OF = Loop(arrive), Loop(leave), Loop(add_kept), Loop(hidden_of)
BACK_SIMPLE, BACK_LSTM, BACK_GRU = Loop(back_simple), Loop(back_lstm), Loop(back_gru)
