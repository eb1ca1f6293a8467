"""Graphs of any number of nodes, of six kinds."""


def chain(mx, nodes):
    """Operators one after the other."""
    net = mx.sym.Variable("data")
    for number in range(nodes // 2):
        net = mx.sym.Activation(net * 2.0, act_type="relu", name=f"relu{number}")
    return net, {"data": (2, 2)}


def fan(mx, nodes):
    """One value that many operators read, and their sum."""
    data = mx.sym.Variable("data")
    return mx.sym.add_n(*[mx.sym.exp(data * float(i + 1)) for i in range(nodes // 2)]), {"data": (2, 2)}


def heads(mx, nodes):
    """As many outputs as a third of the nodes."""
    data = mx.sym.Variable("data")
    made = [mx.sym.tanh(mx.sym.exp(data * float(i + 1))) for i in range(nodes // 3)]
    return mx.sym.Group(made), {"data": (2, 2)}


def residual(mx, nodes):
    """Layers with a connection around each."""
    net = mx.sym.Variable("data")
    for number in range(nodes // 5):
        layer = mx.sym.FullyConnected(net, num_hidden=4, name=f"fc{number}")
        net = net + mx.sym.Activation(layer, act_type="relu", name=f"relu{number}")
    return net, {"data": (2, 4)}


def widths(mx, nodes):
    """Layers of changing width, so that gaps in memory have many sizes."""
    net = mx.sym.Variable("data")
    for number in range(nodes // 4):
        layer = mx.sym.FullyConnected(net, num_hidden=(3, 40, 17, 90, 200)[number % 5], name=f"fc{number}")
        net = mx.sym.Activation(layer, act_type="tanh", name=f"tanh{number}")
    return net, {"data": (2, 4)}


def lstm(mx, nodes):
    """A recurrent network, unrolled."""
    steps = max(1, nodes // 14)
    outputs, _ = mx.rnn.LSTMCell(4, prefix="lstm_").unroll(steps, mx.sym.Variable("data"), merge_outputs=True)
    return outputs, {"data": (2, steps, 3)}


GRAPHS = {"chain": chain, "fan": fan, "heads": heads, "residual": residual, "widths": widths, "lstm": lstm}
