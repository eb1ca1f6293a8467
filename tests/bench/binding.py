"""Processor time of ``simple_bind`` for each node of graphs from small to huge, and how much it grows.

    python -m tests.bench.binding [--only NAME ...] [--nodes 1000 8000 50000] [--grad-req write]

Each number is the median of five binds, in microseconds of the whole process for each node of the symbol; the last
column is what a node of the largest graph costs, as a multiple of a node of the smallest. This never gates anything.
"""

import argparse
import statistics
import time

import refimpl as mx
from refimpl.cli.benchmark.rows.graphs import GRAPHS

ROUNDS = 5


def microseconds_per_node(make, nodes, grad_req):
    """The median over ``ROUNDS`` binds."""
    net, shapes = make(mx, nodes)
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
