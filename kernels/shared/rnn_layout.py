"""Where RNN keeps what: sizes, the places of matrices in the parameter vector, its hidden outputs."""

from math import prod
from typing import NamedTuple

from ..foundation import Buffer

GATES = {"rnn_relu": 1, "rnn_tanh": 1, "lstm": 4, "gru": 3}


def inputs(p):
    names = ["data", "parameters", "state"]
    names += ["state_cell"] * (p.mode == "lstm") + ["sequence_length"] * p.use_sequence_length
    return tuple(names)


def visible(p):
    return 1 + p.state_outputs * (1 + (p.mode == "lstm"))


def hidden_outputs(p):
    """gates, memory (cells of an LSTM, see rnn_cells.py for a GRU), the layers but the last, dropout masks."""
    names = ["gates"] + ["memory"] * (p.mode in ("lstm", "gru"))
    return tuple(names + ["layers"] * (p.num_layers > 1) + ["mask"] * drops(p))


def outputs(p):
    return ("output", "state_output", "statecell_output")[: visible(p)] + hidden_outputs(p)


def needs(p):
    return (*inputs(p), "output", *hidden_outputs(p))


def drops(p):
    return p.p > 0 and p.num_layers > 1


class Sizes(NamedTuple):
    """Of one direction of any layer: its output is ``out`` numbers, all of them together ``wide``."""

    ways: int
    gates: int
    size: int
    out: int
    wide: int


def sizes_of(p):
    ways, out = 1 + p.bidirectional, p.projection_size or p.state_size
    return Sizes(ways, GATES[p.mode], p.state_size, out, ways * out)


def places(p, columns):
    """(layer, way, columns, starts of W, R, P, b, c) of every direction in parameters, then the number of all."""
    s = sizes_of(p)
    side, start, found = s.gates * s.size, 0, []
    for layer in range(p.num_layers):
        inner = s.wide if layer else columns
        for way in range(s.ways):
            second = start + side * inner
            third = second + side * s.out
            found.append([layer, way, inner, start, second, third])
            start = third + (s.out * s.size if p.projection_size else 0)
    for place in found:
        place += [start, start + side]
        start += 2 * side
    return found, start


def bounds(p):
    low, high = p.lstm_state_clip_min, p.lstm_state_clip_max
    return float("-inf") if low is None else low, float("inf") if high is None else high


def part(buffer, start, *shape):
    """A piece of flat memory as an array of this shape."""
    size = prod(shape)
    return Buffer(buffer.flat[start : start + size], shape, buffer.device)


def row(buffer, index):
    """One index of the first axis."""
    return part(buffer, index * (buffer.size // buffer.shape[0]), *buffer.shape[1:])
