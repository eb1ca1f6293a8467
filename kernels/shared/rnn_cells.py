"""The loops of one time step of a recurrent layer, forward and back; rnn.py says what they compute.

In every loop ``batch`` rows and ``size`` hidden units meet at time ``t``. ``gates`` holds the gates of this time
one after another, (gates, batch, size); products and gradients hold them side by side, (batch, gates * size). With
``uses`` a row rests from its length on: it leaves zeros and keeps its state.
"""

from ..foundation import Loop, items, scalar


@scalar
def within(value, low, high, mends):
    """The value clipped; NaN becomes ``high`` where ``mends``, and else stays."""
    if value != value:
        return high if mends else value
    return low if value < low else (high if value > high else value)


@scalar
def awake(length, t, uses):
    """Whether a row of this length takes part at time ``t``."""
    return uses == 0 or t < length


def add(other, out, n):
    for i in items(n):
        out[i] += other[i]


# --- forward ------------------------------------------------------------------------------------


def add_parts(x, h, bias_x, bias_h, gates, batch, count, wide, size):
    """The first ``count`` of ``wide`` gates: (x + bias_x) + (h + bias_h)."""
    for row in items(batch):
        for g in range(count):
            side, start = g * size, row * wide * size + g * size
            target = (g * batch + row) * size
            for j in range(size):
                gates[target + j] = (x[start + j] + bias_x[side + j]) + (h[start + j] + bias_h[side + j])


def new_gate(x, h, bias_x, bias_h, gates, memory, batch, size):
    """The third gate of a GRU before tanh, and in memory the part that its reset gate multiplies."""
    for row in items(batch):
        for j in range(size):
            at = row * 3 * size + 2 * size + j
            here = row * size + j
            memory[here] = h[at] + bias_h[2 * size + j]
            gates[2 * batch * size + here] = (x[at] + bias_x[2 * size + j]) + gates[here] * memory[here]


def move_cell(gates, cell, memory, lengths, t, uses, batch, size, low, high, mends):
    """The LSTM's cell = forget * cell + in * new, clipped; ``memory`` keeps it for the gradient."""
    area = batch * size
    for row in items(batch):
        wakes = awake(lengths[row], t, uses)
        for k in range(row * size, row * size + size):
            if wakes:
                value = gates[area + k] * cell[k] + gates[k] * gates[2 * area + k]
                cell[k] = within(value, low, high, mends)
            memory[k] = cell[k]


def move_gru(gates, state, hidden, batch, size):
    area = batch * size
    for k in items(area):
        keep = gates[area + k]
        new = gates[2 * area + k]
        hidden[k] = new + keep * (state[k] - new)


def settle(hidden, lengths, state, out, t, uses, batch, size, wide, first):
    """State and output of this time; the output's rows are ``wide``, this direction's begin at ``first``."""
    for row in items(batch):
        start = row * wide + first
        if awake(lengths[row], t, uses):
            for j in range(size):
                state[row * size + j] = hidden[row * size + j]
                out[start + j] = hidden[row * size + j]
        else:
            for j in range(size):
                out[start + j] = 0


# --- backward -----------------------------------------------------------------------------------


def states_before(start, out, lengths, before, times, batch, size, wide, first, step, uses):
    """before (times, batch, size): the state that each time found, ``step`` being 1 or -1."""
    for row in items(times * batch):
        t, b = row // batch, row % batch
        source = t - step
        inside = source >= 0 and source < times and awake(lengths[b], source, uses)
        for j in range(size):
            if inside:
                before[row * size + j] = out[(source * batch + b) * wide + first + j]
            else:
                before[row * size + j] = start[b * size + j]


def cells_before(start, memory, before, times, area, step):
    """The same for the LSTM's cells, which rest through ``memory``."""
    for row in items(times):
        source = row - step
        if 0 <= source < times:
            for k in range(area):
                before[row * area + k] = memory[source * area + k]
        else:
            for k in range(area):
                before[row * area + k] = start[k]


def arrive(came, carried, head, total, lengths, t, behind, uses, batch, size, wide, first):
    """What reaches this time's output: the head, and what came from time ``behind`` unless that rested."""
    for row in items(batch):
        if awake(lengths[row], behind, uses):
            for k in range(row * size, row * size + size):
                carried[k] = came[k]
        if awake(lengths[row], t, uses):
            for j in range(size):
                total[row * size + j] = carried[row * size + j] + head[row * wide + first + j]
        else:
            for j in range(size):
                total[row * size + j] = 0


def leave(came, carried, lengths, behind, uses, out, batch, size):
    """What reaches the state before the first time."""
    for row in items(batch):
        passed = awake(lengths[row], behind, uses)
        for k in range(row * size, row * size + size):
            out[k] = came[k] if passed else carried[k]


def back_simple(total, gates, d_gates, n, is_relu):
    for k in items(n):
        y = gates[k]
        if is_relu:
            d_gates[k] = total[k] if y > 0 else total[k] * 0
        else:
            d_gates[k] = total[k] - total[k] * y * y


def back_lstm(
    total, gates, curve, before, d_cell, d_gates, lengths, t, uses, batch, size, low, high,
):  # fmt: skip
    """``curve`` is tanh of the cell, ``total`` the gradient of the hidden state."""
    area = batch * size
    for row in items(batch):
        at = row * 4 * size
        if awake(lengths[row], t, uses):
            for j in range(size):
                k = row * size + j
                i, f, g, o = gates[k], gates[area + k], gates[2 * area + k], gates[3 * area + k]
                raw = f * before[k] + i * g
                through = total[k] * o
                d_c = d_cell[k] + (through - through * curve[k] * curve[k])
                d_c = d_c * 0 if raw < low or raw > high else d_c
                d_cell[k] = d_c * f
                d_gates[at + j] = d_c * g * (i - i * i)
                d_gates[at + size + j] = d_c * before[k] * (f - f * f)
                d_gates[at + 2 * size + j] = d_c * (i - i * g * g)
                d_gates[at + 3 * size + j] = total[k] * curve[k] * (o - o * o)
        else:
            for j in range(4 * size):
                d_gates[at + j] = 0


def back_gru(total, gates, memory, before, d_x, d_h, batch, size):
    """Gradients of the parts from the input and from the state, which differ in the third gate."""
    area = batch * size
    for row in items(batch):
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
    """The way of a GRU's gradient past its gates: came += total * keep."""
    for k in items(n):
        came[k] += total[k] * gates[n + k]


def hidden_of(curve, gates, hidden, times, area):
    """The LSTM's hidden state before it is projected: out gate * tanh of the cell."""
    for t in items(times):
        for k in range(area):
            hidden[t * area + k] = curve[t * area + k] * gates[t * 4 * area + 3 * area + k]


ADD = Loop(add)
ADD_PARTS, NEW_GATE, MOVE_CELL = Loop(add_parts), Loop(new_gate), Loop(move_cell)
MOVE_GRU, SETTLE = Loop(move_gru), Loop(settle)
STATES_BEFORE, CELLS_BEFORE = Loop(states_before), Loop(cells_before)
ARRIVE, LEAVE, ADD_KEPT, HIDDEN_OF = Loop(arrive), Loop(leave), Loop(add_kept), Loop(hidden_of)
BACK_SIMPLE, BACK_LSTM, BACK_GRU = Loop(back_simple), Loop(back_lstm), Loop(back_gru)
