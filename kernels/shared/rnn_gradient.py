"""The gradients of RNN, layer by layer, direction by direction and time by time; see the page, rnn.py."""

from math import prod

from ..foundation import scratch
from ..foundation.loops import COPY, FILL, MULTIPLY, zero
from .curves import TANH
from .products import PRODUCT, SUM_ROWS, product_of
from .rnn_cells import (
    ADD,
    ADD_KEPT,
    ARRIVE,
    BACK_GRU,
    BACK_LSTM,
    BACK_SIMPLE,
    CELLS_BEFORE,
    HIDDEN_OF,
    LEAVE,
    STATES_BEFORE,
)
from .rnn_layout import cells_of, directions, drops, limits_of, row, sizes_of, weights_of
from .rnn_products import kept_of, kept_size, multiply_by_kept


class Backward:
    """The gradients of one call: what every method reads, and its working memory."""

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
        """Fill every gradient that was asked for."""
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
        """Gradients of one direction of one layer; ``below`` gets, or adds, what reaches its input."""
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
        """An LSTM's cells before each time, their tanh, and what reaches those after the last time."""
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
        """What one direction sends to the input of its layer, which all directions of the layer share."""
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
        SUM_ROWS(d_x, into.b, rows, side)
        SUM_ROWS(d_h, into.c, rows, side)
        if into.p is not None:
            HIDDEN_OF(memory["curve"], row(self.has["gates"], index), memory["hidden"])
            projected = product_of(self.s.out, rows, self.s.size, transpose_a=True)
            PRODUCT(memory["total"], memory["hidden"], into.p, projected)
