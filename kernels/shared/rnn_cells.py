"""The layout of RNN's arrays, and the loops of one time step of a layer; rnn.py has their formulas.

Index t of a loop is the time, n the row of the batch, g the gate and j the cell. Gates are (times, gates, batch, size);
the sums that enter them, and their gradients, are (times, batch, gates, size), as products leave them. A loop gets
these arrays at one time, or at all times together with ``t``. In order, the gates of a GRU are r reset, z keep, n new;
those of an LSTM are i in, f forget, g new, o out. A row that has a length is active at the times before it; at
later times its output is zero and its state stays.
"""

from functools import lru_cache
from math import prod
from typing import NamedTuple

import numpy as np

from ..foundation import Buffer, Loop, items, scalar
from .curves import sigmoid, tanh

GATES = {"rnn_relu": 1, "rnn_tanh": 1, "lstm": 4, "gru": 3}


def inputs(p):
    names = ["data", "parameters", "state"]
    names += ["state_cell"] * (p.mode == "lstm") + ["sequence_length"] * p.use_sequence_length
    return tuple(names)


def visible(p):
    return 1 + p.state_outputs * (1 + (p.mode == "lstm"))


def hidden_outputs(p):
    """gates, memory (cells of an LSTM; R h' + c of a GRU's third gate, see new_gate), the layers but the last, dropout
    masks.
    """
    names = ["gates"] + ["memory"] * (p.mode in ("lstm", "gru"))
    return tuple(names + ["layers"] * (p.num_layers > 1) + ["mask"] * drops(p))


def outputs(p):
    return ("output", "state_output", "statecell_output")[: visible(p)] + hidden_outputs(p)


def needs(p):
    return (*inputs(p), "output", *hidden_outputs(p))


def drops(p):
    return p.p > 0 and p.num_layers > 1


class Sizes(NamedTuple):
    """A direction has ``size`` cells and its output ``out`` numbers; a layer has ``ways`` directions, and its output
    ``wide`` numbers.
    """

    ways: int
    gates: int
    size: int
    out: int
    wide: int


def sizes_of(p):
    ways, out = 1 + p.bidirectional, p.projection_size or p.state_size
    return Sizes(ways, GATES[p.mode], p.state_size, out, ways * out)


class Direction(NamedTuple):
    """One direction of one layer: how many numbers it reads at a time, and where its parameters begin.

    W is (gates * size, columns), R is (gates * size, out), P is (out, size); b and c have gates * size numbers.
    """

    layer: int
    way: int
    columns: int
    w: int
    r: int
    p: int
    b: int
    c: int


@lru_cache(maxsize=1024)
def directions(p, columns):
    """Every direction of every layer, and the number of all parameters."""
    s = sizes_of(p)
    side, start, found = s.gates * s.size, 0, []
    for layer in range(p.num_layers):
        inner = s.wide if layer else columns
        for way in range(s.ways):
            r = start + side * inner
            projection = r + side * s.out
            found.append(Direction(layer, way, inner, start, r, projection, 0, 0))
            start = projection + (s.out * s.size if p.projection_size else 0)
    behind = range(start, start + 2 * side * len(found), 2 * side)
    with_biases = tuple(each._replace(b=b, c=b + side) for each, b in zip(found, behind, strict=True))
    return with_biases, start + 2 * side * len(found)


class Weights(NamedTuple):
    """The weights and biases of a direction, as parts of the parameters or of their gradient.

    ``p`` is None without a projection.
    """

    w: Buffer
    r: Buffer
    p: Buffer | None
    b: Buffer
    c: Buffer


def weights_of(p, parameters, at):
    """The parts of ``parameters`` that belong to the direction ``at``."""
    s = sizes_of(p)
    side = s.gates * s.size
    return Weights(
        w=part(parameters, at.w, side, at.columns), r=part(parameters, at.r, side, s.out),
        p=part(parameters, at.p, s.out, s.size) if p.projection_size else None,
        b=part(parameters, at.b, s.gates, s.size), c=part(parameters, at.c, s.gates, s.size),
    )


class Cells(NamedTuple):
    """The numbers that the loops over one direction of a layer read; see :class:`Sizes`.

    The direction has ``size`` cells, and its output begins at number ``first`` of the layer's output. ``onward`` is 1
    where it runs forward and -1 where it runs from the end; ``with_lengths`` is 1 where rows have lengths.
    """

    size: int
    first: int
    onward: int
    with_lengths: int


@scalar
def active(length, t, cells):
    """Whether a row of this length is active at time ``t``."""
    return cells.with_lengths == 0 or t < length


def cells_of(p, way):
    return Cells(
        size=p.state_size, first=way * sizes_of(p).out, onward=-1 if way else 1,
        with_lengths=int(p.use_sequence_length),
    )


class Limits(NamedTuple):
    """The bounds of an LSTM's cells, in their type; NaN becomes ``high`` where ``replaces_nan`` is 1."""

    low: np.floating
    high: np.floating
    replaces_nan: int


@scalar
def within(value, limits):
    """The value clipped to the limits; NaN becomes the upper one where ``replaces_nan``, and else stays."""
    if value != value:
        return limits.high if limits.replaces_nan else value
    return limits.low if value < limits.low else (limits.high if value > limits.high else value)


@lru_cache(maxsize=1024)
def limits_of(p, kind):
    low, high = p.lstm_state_clip_min, p.lstm_state_clip_max
    low, high = float("-inf") if low is None else low, float("inf") if high is None else high
    return Limits(kind(low), kind(high), int(p.lstm_state_clip_nan))


def part(buffer, start, *shape):
    """A piece of flat memory as an array of this shape."""
    size = prod(shape)
    return Buffer(buffer.flat[start : start + size], shape, buffer.device)


def row(buffer, index):
    """One index of the first axis."""
    return part(buffer, index * (buffer.size // buffer.shape[0]), *buffer.shape[1:])


# --- loops --------------------------------------------------------------------------------------


def add_parts(x, h, bias_x, bias_h, gates, count):
    """The first ``count`` gates before their functions: (x + bias_x) + (h + bias_h)."""
    for g, n, j in items((count, x.shape[0], x.shape[2])):
        gates[g, n, j] = (x[n, g, j] + bias_x[g, j]) + (h[n, g, j] + bias_h[g, j])


def new_gate(x, h, bias_x, bias_h, gates, memory):
    """The third gate of a GRU before tanh; ``memory`` gets the part of it that the reset gate multiplies."""
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


ADD_PARTS, NEW_GATE, LSTM_STEP = Loop(add_parts), Loop(new_gate), Loop(lstm_step)
MOVE_GRU, SETTLE = Loop(move_gru), Loop(settle)
