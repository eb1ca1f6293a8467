"""Networks of every cell, written once for MXNet and for refimpl: ``recipes(mx)`` makes them.

``recorded_rnn.py`` holds what MXNet 1.9.1 makes of them, printed by running this file with it:

    python tests/unit/rnn_cases.py > tests/unit/recorded_rnn.py
"""

import hashlib
import itertools
import re
import sys
import warnings

MODES = ("rnn_relu", "rnn_tanh", "lstm", "gru")


def flat(symbols):
    """All symbols in nested lists."""
    if isinstance(symbols, (list, tuple)):
        return [symbol for inner in symbols for symbol in flat(inner)]
    return [symbols]


def sequence(mx, *cells):
    stack = mx.rnn.SequentialRNNCell()
    for cell in cells:
        stack.add(cell)
    return stack


def cells(mx):
    """A function for each kind of cell, by name."""
    rnn = mx.rnn
    return {
        "rnn": lambda: rnn.RNNCell(5),
        "rnn relu": lambda: rnn.RNNCell(5, activation="relu", prefix="r_"),
        "rnn function": lambda: rnn.RNNCell(5, activation=mx.sym.LeakyReLU, prefix="r_"),
        "lstm": lambda: rnn.LSTMCell(5, forget_bias=2.0),
        "gru": lambda: rnn.GRUCell(5),
        "zoneout": lambda: rnn.ZoneoutCell(rnn.LSTMCell(5), 0.3, 0.2),
        "zoneout of outputs": lambda: rnn.ZoneoutCell(rnn.RNNCell(5), 0.3),
        "zoneout of states": lambda: rnn.ZoneoutCell(rnn.GRUCell(5), zoneout_states=0.3),
        "zoneout twice": lambda: rnn.ZoneoutCell(rnn.ZoneoutCell(rnn.RNNCell(5), 0.1, 0.1), 0.2, 0.2),
        "residual": lambda: rnn.ResidualCell(rnn.GRUCell(5)),
        "residual zoneout": lambda: rnn.ResidualCell(rnn.ZoneoutCell(rnn.RNNCell(5), 0.1, 0.1)),
        "zoneout residual": lambda: rnn.ZoneoutCell(rnn.ResidualCell(rnn.RNNCell(5)), 0.1, 0.1),
        "dropout": lambda: rnn.DropoutCell(0.4),
        "dropout of nothing": lambda: rnn.DropoutCell(0.0),
        "sequence": lambda: sequence(
            mx, rnn.LSTMCell(5, prefix="a_"), rnn.DropoutCell(0.5), rnn.GRUCell(5, prefix="b_")
        ),
        "empty sequence": lambda: sequence(mx),
        "sequence of sequences": lambda: sequence(
            mx, sequence(mx, rnn.RNNCell(5, prefix="a_")),
            rnn.ZoneoutCell(rnn.RNNCell(5, prefix="b_"), 0.1, 0.1),
            rnn.ResidualCell(rnn.RNNCell(5, prefix="c_")),
        ),
        "both ways": lambda: rnn.BidirectionalCell(rnn.LSTMCell(5, prefix="x_"), rnn.GRUCell(4, prefix="y_")),
        "both ways in a sequence": lambda: sequence(
            mx, rnn.LSTMCell(5, prefix="a_"),
            rnn.BidirectionalCell(rnn.GRUCell(5, prefix="x_"), rnn.RNNCell(4, prefix="y_"), output_prefix="q_"),
            rnn.RNNCell(3, prefix="z_"),
        ),
        "residual both ways": lambda: rnn.ResidualCell(
            rnn.BidirectionalCell(rnn.LSTMCell(4, prefix="x_"), rnn.LSTMCell(1, prefix="y_"))
        ),
        "fused both ways": lambda: rnn.BidirectionalCell(
            rnn.FusedRNNCell(8, prefix="f_"), rnn.FusedRNNCell(8, prefix="g_")
        ),
        "residual fused": lambda: rnn.ResidualCell(rnn.FusedRNNCell(5, prefix="f_")),
        "fused in a sequence": lambda: sequence(
            mx, rnn.FusedRNNCell(5, 2, prefix="f_"), rnn.DropoutCell(0.3), rnn.GRUCell(4)
        ),
    }


def fused(mx):
    """A function for each fused cell, by name."""
    made = {}
    for mode, layers, ways, dropout, states in itertools.product(
        MODES, (1, 2), (False, True), (0.0, 0.5), (False, True)
    ):
        name = f"fused {mode}, layers {layers}, ways {1 + ways}, dropout {dropout:g}, states {states:d}"
        made[name] = lambda given=(5, layers, mode, ways, dropout, states): mx.rnn.FusedRNNCell(*given)
    return made


def convolutional(mx):
    """A function for each convolutional cell, by name."""
    given = {
        "plain": {},
        "strided": {
            "h2h_kernel": (3, 5), "h2h_dilate": (2, 1), "i2h_kernel": (5, 3), "i2h_stride": (2, 1),
            "i2h_pad": (2, 1), "i2h_dilate": (1, 2), "activation": "tanh", "prefix": "cc_",
            "i2h_bias_initializer": "ones", "h2h_weight_initializer": "uniform",
        },
    }
    return {
        kind + " " + name: lambda kind=kind, name=name: getattr(mx.rnn, kind)((2, 3, 8, 8), 4, **given[name])
        for kind in ("ConvRNNCell", "ConvLSTMCell", "ConvGRUCell")
        for name in given
    }


def _unrolled(mx, make, layout, merge, listed):
    cell = make()
    inputs = [mx.sym.Variable(f"x{time}") for time in range(3)] if listed else mx.sym.Variable("data")
    return flat(cell.unroll(3, inputs, layout=layout, merge_outputs=merge))


def _step(mx, make, names):
    cell = make()
    states = cell.begin_state()
    for name in names:
        output, states = cell(mx.sym.Variable(name), states)
    cell.reset()
    return [output, *flat(states), *flat(cell.begin_state())]


def recipes(mx):
    """(name of a cell, functions that make networks of it)."""
    for name, make in [*cells(mx).items(), *fused(mx).items()]:
        yield name, [
            lambda given=(make, layout, merge, listed): _unrolled(mx, *given)
            for layout, merge, listed in itertools.product(("NTC", "TNC"), (None, True, False), (False, True))
        ]
    plain = cells(mx)
    for name in ("rnn", "lstm", "gru", "zoneout", "residual", "sequence"):
        yield name + ", step by step", [lambda name=name: _step(mx, plain[name], "xy")]
    for name, make in convolutional(mx).items():
        yield name, [lambda make=make: _step(mx, make, "xy")]
    for name, make in fused(mx).items():
        yield name + ", unfused", [lambda make=make: flat(make().unfuse().unroll(2, mx.sym.Variable("data")))]


def graphs(mx, recipes):
    """The text of each symbol file, without the counts of outputs."""
    for recipe in recipes:
        with mx.name.NameManager(), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            text = mx.sym.Group(recipe()).tojson()
        # how many outputs nodes have inside, which readers ignore and the operator RNN here does its own way
        yield re.sub(r'"node_row_ptr": \[[^]]*\], \n', "", text)


def digest(texts):
    return hashlib.sha256("\n".join(texts).encode()).hexdigest()[:16]


if __name__ == "__main__":
    import mxnet

    lines = [f'    "{name}": "{digest(graphs(mxnet, makers))}",' for name, makers in recipes(mxnet)]
    heading = '"""The start of the SHA-256 of each cell\'s symbol files, as MXNet 1.9.1 makes them by rnn_cases.py."""'
    sys.stdout.write("\n".join([heading, "", "DIGESTS = {", *lines, "}", ""]))
