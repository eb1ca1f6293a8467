"""The loops of one time step of a recurrent layer, forward and back; rnn.py says what they compute.

Most loops compute one time ``t`` for all rows of the batch. ``gates`` holds the gates of this time one after another,
(gates, batch, size); products and gradients hold them side by side, (batch, gates * size). A row that has a length is
active at the times before it; at later times its output is zero and its state stays.
"""

from ..foundation import Loop, items, scalar
from .rnn_layout import Cells, Limits


@scalar
def within(value, limits):
    """The value clipped to the limits; NaN becomes the upper one where ``replaces_nan``, and else stays."""
    if value != value:
        return limits.high if limits.replaces_nan else value
    return limits.low if value < limits.low else (limits.high if value > limits.high else value)


@scalar
def active(length, t, cells):
    """Whether a row of this length is active at time ``t``."""
    return cells.with_lengths == 0 or t < length


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


def move_cell(gates, cell, memory, lengths, t, cells: Cells, limits: Limits):
    """The LSTM's cell = forget * cell + in * new, clipped; ``memory`` keeps it for the gradient."""
    size, area = cells.size, cells.batch * cells.size
    for row in items(cells.batch):
        moves = active(lengths[row], t, cells)
        for k in range(row * size, row * size + size):
            if moves:
                value = gates[area + k] * cell[k] + gates[k] * gates[2 * area + k]
                cell[k] = within(value, limits)
            memory[k] = cell[k]


def move_gru(gates, state, hidden, cells: Cells):
    area = cells.batch * cells.size
    for k in items(area):
        keep = gates[area + k]
        new = gates[2 * area + k]
        hidden[k] = new + keep * (state[k] - new)


def settle(hidden, lengths, state, out, t, cells: Cells):
    """State and output of this time."""
    size = cells.out
    for row in items(cells.batch):
        start = row * cells.wide + cells.first
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
    """
    size = cells.out
    for row in items(cells.batch):
        if active(lengths[row], behind, cells):
            for k in range(row * size, row * size + size):
                carried[k] = came[k]
        if active(lengths[row], t, cells):
            for j in range(size):
                total[row * size + j] = carried[row * size + j] + head[row * cells.wide + cells.first + j]
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
    """``curve`` is tanh of the cell, ``total`` the gradient of the hidden state."""
    size, area = cells.size, cells.batch * cells.size
    for row in items(cells.batch):
        at = row * 4 * size
        if active(lengths[row], t, cells):
            for j in range(size):
                k = row * size + j
                i, f, g, o = gates[k], gates[area + k], gates[2 * area + k], gates[3 * area + k]
                raw = f * before[k] + i * g
                through = total[k] * o
                d_c = d_cell[k] + (through - through * curve[k] * curve[k])
                d_c = d_c * 0 if raw < limits.low or raw > limits.high else d_c
                d_cell[k] = d_c * f
                d_gates[at + j] = d_c * g * (i - i * i)
                d_gates[at + size + j] = d_c * before[k] * (f - f * f)
                d_gates[at + 2 * size + j] = d_c * (i - i * g * g)
                d_gates[at + 3 * size + j] = total[k] * curve[k] * (o - o * o)
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
ADD_PARTS, NEW_GATE, MOVE_CELL = Loop(add_parts), Loop(new_gate), Loop(move_cell)
MOVE_GRU, SETTLE = Loop(move_gru), Loop(settle)
STATES_BEFORE, CELLS_BEFORE = Loop(states_before), Loop(cells_before)
ARRIVE, LEAVE, ADD_KEPT, HIDDEN_OF = Loop(arrive), Loop(leave), Loop(add_kept), Loop(hidden_of)
BACK_SIMPLE, BACK_LSTM, BACK_GRU = Loop(back_simple), Loop(back_lstm), Loop(back_gru)
