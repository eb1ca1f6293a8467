"""Processor time of what is done in Python around the operators, on arrays too small to take time themselves.

    python -m tests.bench.handling [--mxnet-python PATH] [--only NAME ...]

Each library runs in a process of its own: this file again, written for Python 3.8, which is what MXNet may run on.
A number is the least of many runs, of the whole process with all its threads, so that whatever else the machine
does hardly counts. This never gates anything: numbers are for reading.
"""

import argparse
import importlib
import json
import os
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
LENGTH = 100  # operators of the recorded chain
STEPS, ROWS, HIDDEN = 35, 32, 200  # of the recurrent network


def chain_of_symbols(mx, length):
    net = mx.sym.Variable("data")
    for number in range(length // 2):
        net = mx.sym.Activation(net * 2.0, act_type="relu", name=f"relu{number}")
    return net


def recorded(mx):
    """Microseconds per operator that is recorded and differentiated."""
    x = mx.nd.ones((2,))
    x.attach_grad()

    def work():
        with mx.autograd.record():
            y = x
            for _ in range(LENGTH // 2):
                y = (y + x) * x
        y.backward()
        x.grad.wait_to_read()

    return work, 1e6 / LENGTH


def bound(mx):
    """Milliseconds of ``simple_bind`` of 500 nodes."""
    net = chain_of_symbols(mx, 500)
    return lambda: net.simple_bind(mx.cpu(), data=(2, 2)), 1e3


def bound_resnet(mx):
    """Milliseconds of ``simple_bind`` of ResNet-50."""
    memory = importlib.import_module("memory")  # this folder is the first where modules are looked for
    net = memory.resnet50(mx, 1)
    return lambda: net.simple_bind(mx.cpu(), data=(1, 3, 32, 32), softmax_label=(1,)), 1e3


def written(mx):
    """Milliseconds of ``tojson`` of 500 nodes."""
    return chain_of_symbols(mx, 500).tojson, 1e3


def read(mx):
    """Milliseconds of ``load_json`` of 500 nodes."""
    text = chain_of_symbols(mx, 500).tojson()
    return lambda: mx.sym.load_json(text), 1e3


def composed(mx):
    """Milliseconds of making a symbol of 500 nodes."""
    return lambda: chain_of_symbols(mx, 500), 1e3


def sparse_sum(mx):
    """Microseconds of csr + csr, 64 rows of 4 among 1000."""
    import numpy as np

    def matrix(seed):
        columns = np.random.RandomState(seed).randint(0, 250, (64, 4)) + np.arange(4) * 250
        places = np.arange(0, 257, 4)
        return mx.nd.sparse.csr_matrix((np.ones(256, np.float32), columns.ravel(), places), shape=(64, 1000))

    left, right = matrix(0), matrix(1)

    def work():
        for _ in range(20):
            made = left + right
        made.wait_to_read()

    return work, 1e6 / 20


def recurrent(mx):
    """Milliseconds of forward and backward of an LSTM."""
    shapes = {"data": (STEPS, ROWS, HIDDEN), "state": (1, ROWS, HIDDEN), "cell": (1, ROWS, HIDDEN)}
    variables = {name + "_": mx.sym.Variable(name) for name in shapes}
    net = mx.sym.RNN(
        variables["data_"], mx.sym.Variable("weights"), variables["state_"], variables["cell_"],
        state_size=HIDDEN, num_layers=1, mode="lstm",
    )
    executor = net.simple_bind(mx.cpu(), **shapes)
    for array in executor.arg_arrays:
        array[:] = 0.01
    heads = [mx.nd.ones(executor.outputs[0].shape)]

    def work():
        executor.forward(is_train=True)
        executor.backward(heads)
        executor.grad_dict["weights"].wait_to_read()

    return work, 1e3


WORK = {
    "recorded operator us": recorded, "simple_bind 500 ms": bound, "simple_bind resnet-50 ms": bound_resnet,
    "tojson 500 ms": written, "load_json 500 ms": read, "compose 500 ms": composed,
    "csr + csr us": sparse_sum, "lstm ms": recurrent,
}


def least(work, seconds):
    """The least processor time of one call, over some seconds of calls."""
    for _ in range(3):
        work()
    found, until = [], time.perf_counter() + seconds
    while len(found) < 5 or time.perf_counter() < until:
        began = time.process_time()
        work()
        found.append(time.process_time() - began)
    return min(found)


def measure(library, names, seconds):
    """Measure in this process; lines of JSON."""
    sys.path.insert(0, str(ROOT))
    mx = importlib.import_module(library)
    for name in names:
        work, unit = WORK[name](mx)
        print(json.dumps([name, unit * least(work, seconds)]), flush=True)


def start(python, library, names, seconds):
    kept = {k: v for k, v in os.environ.items() if k != "OPENBLAS_CORETYPE"}
    kept["OMP_NUM_THREADS"] = "1"
    command = [python, str(Path(__file__)), "--library", library, "--seconds", str(seconds), "--only", *names]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=kept, cwd=str(ROOT))


def main():
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.handling", description=__doc__)
    parser.add_argument("--mxnet-python", help="a Python that has MXNet 1.9.1")
    parser.add_argument("--only", nargs="*", default=list(WORK), choices=list(WORK))
    parser.add_argument("--seconds", type=float, default=2.0, help="length of one measurement")
    parser.add_argument("--library", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.library:
        measure(options.library, options.only, options.seconds)
        return
    pythons = {"refimpl": sys.executable, "mxnet": options.mxnet_python}
    found = {}
    for library, python in pythons.items():
        if python:
            lines = start(python, library, options.only, options.seconds).communicate()[0].splitlines()
            found[library] = dict(json.loads(line) for line in lines)
    print(f"{'':26}{'refimpl':>10}{'mxnet':>10}{'ratio':>8}")
    for name in options.only:
        ours, theirs = found["refimpl"][name], found.get("mxnet", {}).get(name)
        rest = "" if theirs is None else f"{theirs:10.2f}{theirs / ours:8.2f}"
        print(f"{name:26}{ours:10.2f}{rest}")
    print("\nratio: time of mxnet / time of refimpl; above 1 means that refimpl is faster")


if __name__ == "__main__":
    main()
