"""The gradients of RNN, layer by layer, direction by direction and time by time; see the page, rnn.py.

The loops have the same indices and arrays as the loops in rnn_cells.py.
"""

from math import prod

import numpy as np

from ..foundation import Loop, items, scratch
from ..foundation.loops import COPY, FILL, MULTIPLY, zero
from .curves import TANH
from .products import PRODUCT, SUM_ROWS, kept_of, kept_size, multiply_by_kept, product_of
from .rnn_cells import Cells, Limits, active, cells_of, directions, drops, limits_of, row, sizes_of, weights_of

# --- loops --------------------------------------------------------------------------------------


def add(other, out, n):
    for i in items(n):
        out[i] += other[i]


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
    """``came`` is what time ``behind`` sent back; ``carried`` is what is kept while a row is not active.

    ``total`` becomes the gradient of this time's output: in active rows the head gradient plus ``carried``, which is
    first replaced by ``came`` in rows that are active at time ``behind``; zero in other rows. ``head`` has all times.
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
STATES_BEFORE, CELLS_BEFORE = Loop(states_before), Loop(cells_before)
ARRIVE, LEAVE, ADD_KEPT, HIDDEN_OF = Loop(arrive), Loop(leave), Loop(add_kept), Loop(hidden_of)
BACK_SIMPLE, BACK_LSTM, BACK_GRU = Loop(back_simple), Loop(back_lstm), Loop(back_gru)


# --- calling them -------------------------------------------------------------------------------


class Backward:
    """The gradients of one call: the arrays that every method reads, and the working memory."""

    def __init__(self, p, heads, has, gradients, *, is_train):
        self.p, self.s, self.heads, self.has = p, sizes_of(p), heads, has
        self.d_data, self.d_parameters, self.d_state, self.d_cell, self.d_lengths = gradients
        data, s = has["data"], self.s
        self.times, self.batch, self.columns = data.shape
        self.rows, self.side = self.times * self.batch, s.gates * s.size
        self.ends = has.get("sequence_length", has["state"])
        self.dropped = drops(p) and is_train
        times, batch, gates = self.times, self.batch, (self.times, self.batch, s.gates, s.size)
        shapes = {
            **dict.fromkeys(("upper", "lower", "source"), (times, batch, s.wide)),
            "other": (times, batch, max(self.columns, s.wide)),
            **dict.fromkeys(("before", "total"), (times, batch, s.out)), "d_x": gates, "d_h": gates,
            **dict.fromkeys(("came", "carried"), (batch, s.out)),
            **dict.fromkeys(("curve", "cells", "hidden"), (times, batch, s.size)),
            **dict.fromkeys(("cell", "d_hidden"), (batch, s.size)),
            "kept_r": (kept_size(self.side, s.out),), "kept_p": (kept_size(s.out, s.size),),
        }
        lent = scratch(data, *map(prod, shapes.values()))
        self.memory = {name: one.reshape(shapes[name]) for name, one in zip(shapes, lent, strict=True)}

    def run(self):
        """Fill every gradient that is wanted."""
        p, s, memory, has = self.p, self.s, self.memory, self.has
        zero(self.d_lengths)
        found = directions(p, self.columns)[0]
        head = self.heads["output"]
        for layer in reversed(range(p.num_layers)):
            source = has["data"]
            if layer:
                source = row(has["layers"], layer - 1)
                if self.dropped:
                    MULTIPLY(source, row(has["mask"], layer - 1), memory["source"], self.rows * s.wide)
                    source = memory["source"]
            below = memory["lower"] if layer else self.d_data
            for index in range(layer * s.ways, layer * s.ways + s.ways):
                self.direction(index, found[index], head, source, below)
            if layer:
                if self.dropped:
                    MULTIPLY(below, row(has["mask"], layer - 1), below, self.rows * s.wide)
                COPY(below, memory["upper"], self.rows * s.wide)
                head = memory["upper"]

    def direction(self, index, at, head, source, below):
        """Gradients of one direction of one layer; ``below`` gets, or adds, the gradient of its input."""
        p, has = self.p, self.has
        cells, weights = cells_of(p, at.way), weights_of(p, has["parameters"], at)
        out = has["output"] if at.layer == p.num_layers - 1 else row(has["layers"], at.layer)
        STATES_BEFORE(row(has["state"], index), out, self.ends, self.memory["before"], cells)
        self.cells_back(index, cells)
        last = self.times_back(index, head, weights, cells)
        self.first_states(index, last, cells)
        if below is not None:
            self.input_gradient(at, weights, below)
        if self.d_parameters is not None:
            self.weight_gradients(index, source, weights_of(p, self.d_parameters, at))

    def cells_back(self, index, cells):
        """An LSTM's cells before each time, their tanh, and the gradient of the cells after the last time."""
        if self.p.mode != "lstm":
            return
        memory, kept = self.memory, row(self.has["memory"], index)
        CELLS_BEFORE(row(self.has["state_cell"], index), kept, memory["cells"], cells)
        TANH(kept, memory["curve"], kept.size)
        if "cell" in self.heads:
            COPY(row(self.heads["cell"], index), memory["cell"], memory["cell"].size)
        else:
            FILL(memory["cell"], 0.0, memory["cell"].size)

    def times_back(self, index, head, weights, cells):
        """Gradients of the sums that enter the gates, from the last time to the first, which is returned."""
        p, memory = self.p, self.memory
        came, carried = memory["came"], memory["carried"]
        if "state" in self.heads:
            COPY(row(self.heads["state"], index), came, came.size)
        else:
            FILL(came, 0.0, came.size)
        COPY(came, carried, came.size)
        kept_r = kept_of(weights.r, memory["kept_r"])
        kept_p = kept_of(weights.p, memory["kept_p"]) if p.projection_size else None
        # no time lies behind the last one: what comes from there is in "came" and in "carried" already
        behind = self.times if cells.onward == 1 else -1
        for t in range(self.times)[:: -cells.onward]:
            total = row(memory["total"], t)
            ARRIVE(came, carried, head, total, self.ends, t, behind, cells)
            d_h = self.gates_back(index, t, total, kept_p, cells)
            multiply_by_kept(d_h, kept_r, came)
            if p.mode == "gru":
                ADD_KEPT(total, row(row(self.has["gates"], index), t), came)
            behind = t
        return behind

    def gates_back(self, index, t, total, kept_p, cells):
        """Gradients of the sums that enter the gates at one time; returns those that come from the state."""
        p, memory = self.p, self.memory
        d_x = row(memory["d_x"], t)
        if p.mode == "lstm":
            if kept_p:
                multiply_by_kept(total, kept_p, memory["d_hidden"])
                total = memory["d_hidden"]
            gates, curve, before, cell = row(self.has["gates"], index), memory["curve"], memory["cells"], memory["cell"]
            limits = limits_of(p, d_x.dtype.type)
            BACK_LSTM(total, gates, curve, before, cell, memory["d_x"], self.ends, t, cells, limits)
            return d_x
        gates = row(row(self.has["gates"], index), t)
        if p.mode != "gru":
            BACK_SIMPLE(total, gates, d_x, d_x.size, p.mode == "rnn_relu")
            return d_x
        d_h = row(memory["d_h"], t)
        BACK_GRU(total, gates, row(row(self.has["memory"], index), t), row(memory["before"], t), d_x, d_h)
        return d_h

    def first_states(self, index, first, cells):
        """Gradients of the states before the first time."""
        memory = self.memory
        if self.d_state is not None:
            LEAVE(memory["came"], memory["carried"], self.ends, first, row(self.d_state, index), cells)
        if self.d_cell is not None:
            COPY(memory["cell"], row(self.d_cell, index), memory["cell"].size)

    def input_gradient(self, at, weights, below):
        """The gradient that one direction gives to the input of its layer, which all directions of the layer share."""
        target = self.memory["other"] if at.way else below
        PRODUCT(self.memory["d_x"], weights.w, target, product_of(self.rows, self.side, at.columns))
        if at.way:
            ADD(target, below, self.rows * at.columns)

    def weight_gradients(self, index, source, into):
        """Gradients of one direction's weights, which are products over all times and rows."""
        memory, rows, side = self.memory, self.rows, self.side
        d_x, d_h = (memory[name] for name in ("d_x", "d_h" if self.p.mode == "gru" else "d_x"))
        for slopes, read, target in ((d_x, source, into.w), (d_h, memory["before"], into.r)):
            PRODUCT(slopes, read, target, product_of(side, rows, target.shape[1], transpose_a=True))
        SUM_ROWS(d_x.reshape((rows, side)), into.b)
        SUM_ROWS(d_h.reshape((rows, side)), into.c)
        if into.p is not None:
            HIDDEN_OF(memory["curve"], row(self.has["gates"], index), memory["hidden"])
            projected = product_of(self.s.out, rows, self.s.size, transpose_a=True)
            PRODUCT(memory["total"], memory["hidden"], into.p, projected)
