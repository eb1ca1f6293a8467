"""The way back through the layers of RNN, direction by direction and time by time; see the page, rnn.py."""

from ..activation import MAP
from ..dropout import MULTIPLY
from ..foundation import scratch
from ..foundation.loops import COPY, FILL, zero
from ..fully_connected import PRODUCT, SUM_ROWS
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
from .rnn_layout import bounds, drops, part, places, row, sizes_of
from .rnn_products import BY_KEPT, KEEP, room_for


class Backward:
    """The way back through all layers; its working memory and what every method reads."""

    def __init__(self, p, heads, has, gradients, *, is_train):
        self.p, self.s, self.heads, self.has = p, sizes_of(p), heads, has
        self.d_data, self.d_parameters, self.d_state, self.d_cell, self.d_lengths = gradients
        data, s = has["data"], self.s
        self.times, self.batch, self.columns = data.shape
        self.ends = has.get("sequence_length", has["state"])
        self.dropped = drops(p) and is_train
        rows, side, area = self.times * self.batch, s.gates * s.size, self.batch * s.size
        states, cells, most = self.batch * s.out, rows * s.size, max(self.columns, s.wide)
        memory = scratch(
            data, rows * s.wide, rows * s.wide, rows * s.wide, rows * most, rows * s.out, rows * s.out,
            rows * side, rows * side, states, states, area, cells, cells, cells, area, room_for(side, s.out),
            room_for(s.out, s.size),
        )
        names = "upper lower source other before total d_x d_h came carried cell curve cells hidden d_hidden kept"
        self.room = dict(zip([*names.split(), "kept_p"], memory, strict=True))

    def run(self):
        p, s, room, has = self.p, self.s, self.room, self.has
        rows = self.times * self.batch
        zero(self.d_lengths)
        found = places(p, self.columns)[0]
        head = self.heads["output"]
        for layer in reversed(range(p.num_layers)):
            source = has["data"]
            if layer:
                source = row(has["layers"], layer - 1)
                if self.dropped:
                    MULTIPLY(source, row(has["mask"], layer - 1), room["source"], rows * s.wide)
                    source = room["source"]
            below = room["lower"] if layer else self.d_data
            for index in range(layer * s.ways, layer * s.ways + s.ways):
                self.direction(index, found[index], head, source, below)
            if layer:
                if self.dropped:
                    MULTIPLY(below, row(has["mask"], layer - 1), below, rows * s.wide)
                COPY(below, room["upper"], rows * s.wide)
                head = room["upper"].reshape((self.times, self.batch, s.wide))

    def direction(self, index, place, head, source, below):
        """Gradients of one direction of one layer; ``below`` gets, or adds, what reaches its input."""
        layer, way, inner, w, r, project, *biases = place
        p, s, room, has = self.p, self.s, self.room, self.has
        rows, side, size, sign = self.times * self.batch, s.gates * s.size, s.out, -1 if way else 1
        out = has["output"] if layer == p.num_layers - 1 else row(has["layers"], layer)
        uses = p.use_sequence_length
        STATES_BEFORE(
            row(has["state"], index), out, self.ends, room["before"], self.times, self.batch, size, s.wide,
            way * size, sign, uses,
        )
        self.cells(index, sign)
        if "state" in self.heads:
            COPY(row(self.heads["state"], index), room["came"], self.batch * size)
        else:
            FILL(room["came"], 0.0, self.batch * size)
        COPY(room["came"], room["carried"], self.batch * size)
        parameters, behind = has["parameters"], (self.times if not way else -1)
        KEEP(part(parameters, r, side, size), room["kept"], side, size, size, 1)
        if p.projection_size:
            KEEP(part(parameters, project, size * s.size), room["kept_p"], size, s.size, s.size, 1)
        for t in range(self.times)[::-sign]:
            # "behind" has no time at first: what came from there is in both places already
            total = part(room["total"], t * self.batch * size, self.batch, size)
            ARRIVE(
                room["came"], room["carried"], row(head, t), total, self.ends, t, behind, uses, self.batch, size,
                s.wide, way * size,
            )
            d_h = self.gates_back(index, t, total)
            BY_KEPT(d_h, room["kept"], room["came"], self.batch, size, side, side, 1)
            if p.mode == "gru":
                ADD_KEPT(total, row(row(has["gates"], index), t), room["came"], self.batch * size)
            behind = t
        if self.d_state is not None:
            LEAVE(
                room["came"], room["carried"], self.ends, behind, uses, row(self.d_state, index), self.batch, size
            )
        if self.d_cell is not None:
            COPY(room["cell"], row(self.d_cell, index), self.batch * s.size)
        d_x, d_h = room["d_x"], room["d_h" if p.mode == "gru" else "d_x"]
        if below is not None:
            target = room["other"] if way else below
            PRODUCT(d_x, part(parameters, w, side, inner), target, rows, inner, side, side, 1, inner, 1)
            if way:
                ADD(target, below, rows * inner)
        if self.d_parameters is not None:
            into = self.d_parameters
            PRODUCT(d_x, source, part(into, w, side * inner), side, inner, rows, 1, side, inner, 1)
            PRODUCT(d_h, room["before"], part(into, r, side * size), side, size, rows, 1, side, size, 1)
            for start, slopes in zip(biases, (d_x, d_h), strict=True):
                SUM_ROWS(slopes, part(into, start, side), rows, side)
            if p.projection_size:
                HIDDEN_OF(room["curve"], row(has["gates"], index), room["hidden"], self.times, self.batch * s.size)
                made = part(into, project, size * s.size)
                PRODUCT(room["total"], room["hidden"], made, size, s.size, rows, 1, size, s.size, 1)

    def cells(self, index, sign):
        """An LSTM's cells before each time, their tanh, and what reaches those after the last time."""
        if self.p.mode != "lstm":
            return
        room, area = self.room, self.batch * self.s.size
        memory = row(self.has["memory"], index)
        CELLS_BEFORE(row(self.has["state_cell"], index), memory, room["cells"], self.times, area, sign)
        MAP["tanh"](memory, room["curve"], self.times * area)
        if "cell" in self.heads:
            COPY(row(self.heads["cell"], index), room["cell"], area)
        else:
            FILL(room["cell"], 0.0, area)

    def gates_back(self, index, t, total):
        """Gradients of the sums that enter the gates at one time; returns those that come from the state."""
        p, s, room = self.p, self.s, self.room
        batch, area, side = self.batch, self.batch * s.size, s.gates * s.size
        gates = row(row(self.has["gates"], index), t)
        d_x = part(room["d_x"], t * batch * side, batch, side)
        if s.gates == 1:
            BACK_SIMPLE(total, gates, d_x, area, p.mode == "rnn_relu")
            return d_x
        before = part(room["before"], t * batch * s.out, batch, s.out)
        if p.mode == "gru":
            d_h = part(room["d_h"], t * batch * side, batch, side)
            BACK_GRU(total, gates, row(row(self.has["memory"], index), t), before, d_x, d_h, batch, s.size)
            return d_h
        if p.projection_size:
            BY_KEPT(total, room["kept_p"], room["d_hidden"], batch, s.size, s.out, s.out, 1)
            total = room["d_hidden"]
        curve, cells = (part(room[name], t * area, area) for name in ("curve", "cells"))
        BACK_LSTM(
            total, gates, curve, cells, room["cell"], d_x, self.ends, t, p.use_sequence_length, batch, s.size,
            *bounds(p),
        )
        return d_x
