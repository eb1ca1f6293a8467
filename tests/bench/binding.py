"""Processor time of ``simple_bind`` for each node of graphs from small to huge, and how much it grows.

    python -m tests.bench.binding [--only NAME ...] [--nodes 1000 8000 50000] [--grad-req write]

Each number is the median of five binds, in microseconds of the whole process for each node of the symbol; the last
column is what a node of the largest graph costs, as a multiple of a node of the smallest. This never gates anything.
"""

import argparse
import statistics
import time

import refimpl as mx

ROUNDS = 5


def chain(nodes):
    """Operators one after the other."""
    net = mx.sym.Variable("data")
    for number in range(nodes // 2):
        net = mx.sym.Activation(net * 2.0, act_type="relu", name=f"relu{number}")
    return net, {"data": (2, 2)}


def fan(nodes):
    """One value that many operators read, and their sum."""
    data = mx.sym.Variable("data")
    return mx.sym.add_n(*[mx.sym.exp(data * float(i + 1)) for i in range(nodes // 2)]), {"data": (2, 2)}


def heads(nodes):
    """As many outputs as a third of the nodes."""
    data = mx.sym.Variable("data")
    made = [mx.sym.tanh(mx.sym.exp(data * float(i + 1))) for i in range(nodes // 3)]
    return mx.sym.Group(made), {"data": (2, 2)}


def residual(nodes):
    """Layers with a connection around each."""
    net = mx.sym.Variable("data")
    for number in range(nodes // 5):
        layer = mx.sym.FullyConnected(net, num_hidden=4, name=f"fc{number}")
        net = net + mx.sym.Activation(layer, act_type="relu", name=f"relu{number}")
    return net, {"data": (2, 4)}


def widths(nodes):
    """Layers of changing width, so that gaps in memory have many sizes."""
    net = mx.sym.Variable("data")
    for number in range(nodes // 4):
        layer = mx.sym.FullyConnected(net, num_hidden=(3, 40, 17, 90, 200)[number % 5], name=f"fc{number}")
        net = mx.sym.Activation(layer, act_type="tanh", name=f"tanh{number}")
    return net, {"data": (2, 4)}


def lstm(nodes):
    """A recurrent network, unrolled."""
    steps = nodes // 14
    outputs, _ = mx.rnn.LSTMCell(4, prefix="lstm_").unroll(steps, mx.sym.Variable("data"), merge_outputs=True)
    return outputs, {"data": (2, steps, 3)}


GRAPHS = {"chain": chain, "fan": fan, "heads": heads, "residual": residual, "widths": widths, "lstm": lstm}


def microseconds_per_node(make, nodes, grad_req):
    """The median over ``ROUNDS`` binds."""
    net, shapes = make(nodes)
    found = []
    for _ in range(ROUNDS):
        began = time.process_time()
        net.simple_bind(mx.cpu(), grad_req=grad_req, **shapes)
        found.append(time.process_time() - began)
    return 1e6 * statistics.median(found) / len(net.order())


def main():
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.binding", description=__doc__)
    parser.add_argument("--only", nargs="*", default=list(GRAPHS), choices=list(GRAPHS))
    parser.add_argument("--nodes", nargs="*", type=int, default=[1000, 8000, 50000])
    parser.add_argument("--grad-req", default="write")
    options = parser.parse_args()
    print("us per node", *[f"{nodes:>8,}" for nodes in options.nodes], "  growth")
    for name in options.only:
        row = [microseconds_per_node(GRAPHS[name], nodes, options.grad_req) for nodes in options.nodes]
        print(f"{name:11}", *[f"{value:8.1f}" for value in row], f"{row[-1] / row[0]:7.2f}x", flush=True)


if __name__ == "__main__":
    main()
