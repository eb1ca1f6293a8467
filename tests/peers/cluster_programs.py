"""Programs of a worker, for MXNet and for this project: each takes the library and a store, and returns numbers.

As a script, ``python cluster_programs.py NAME KIND`` runs one with MXNet, as a worker of a cluster that the DMLC
variables of the environment describe, and prints what it returned.
"""

import json
import sys

import numpy as np


def sums(mx, store):
    """Without an optimizer the sum of a round is stored. (MXNet adds in the order of arrival: sums must be exact.)"""
    store.init([7, 3], [mx.nd.array([store.rank + 1.0, 0.0]), mx.nd.zeros((2, 2))])
    out, seen = [mx.nd.zeros(2), mx.nd.zeros((2, 2))], []
    store.pull([7, 3], out=out)
    seen.append([array.asnumpy().tolist() for array in out])
    for i in range(3):
        store.push([7, 3], [mx.nd.array([[4.0, 1.0, -2.0][store.rank], i + store.rank]), mx.nd.ones((2, 2)) * i])
        store.pull([7, 3], out=out)
        seen.append([array.asnumpy().tolist() for array in out])
    return seen


def devices(mx, store):
    """Each worker adds up its own arrays first. (MXNet's process dies when their number grows.)"""
    store.init("w", mx.nd.zeros(1))
    out, seen = mx.nd.zeros(1), []
    for values in ([1e8, 1, 1, 1, 1], [1e8, 4, 4, 0, 0], [0.5] * 5):
        store.push("w", [mx.nd.array([value], ctx=mx.cpu(i)) for i, value in enumerate(values)])
        store.pull("w", out=out)
        seen.append(out.asscalar().item())
    return seen


def optimizers(mx, store):
    """One update of the optimizer for each round, with names that have multipliers."""
    optimizer = mx.optimizer.create(
        "sgd", learning_rate=0.5, momentum=0.5, wd=0.25, rescale_grad=0.5, param_idx2name={0: "a_weight", 1: "b_bias"}
    )
    store.set_optimizer(optimizer)
    store.init(["a_weight", "b_bias"], [mx.nd.ones(3), mx.nd.ones(3)])
    out, seen = [mx.nd.zeros(3), mx.nd.zeros(3)], []
    for i in range(4):
        gradients = [mx.nd.array([store.rank, i, 1]), mx.nd.array([1, -i, store.rank])]
        store.push(["a_weight", "b_bias"], gradients)
        store.pull(["a_weight", "b_bias"], out=out)
        seen.append([array.asnumpy().tolist() for array in out])
    return seen


def big(mx, store):
    """Arrays around the bound (it is 8 here) are split; Adam sees no difference."""
    shapes = [(7,), (8,), (9,), (3, 5), (1, 16), (16, 1)]
    keys = [f"w{i}" for i in range(len(shapes))]
    store.set_optimizer(mx.optimizer.create("adam", learning_rate=0.1))
    store.init(keys, [mx.nd.ones(shape) for shape in shapes])
    out, seen = [mx.nd.zeros(shape) for shape in shapes], []
    for i in range(2):
        gradients = [mx.nd.arange(int(np.prod(shape))).reshape(shape) * (store.rank + 1) - i for shape in shapes]
        store.push(keys, gradients)
        store.pull(keys, out=out)
        seen.append([array.asnumpy().tolist() for array in out])
    return seen


def codes(mx, store):
    """2-bit gradients."""
    store.set_gradient_compression({"type": "2bit", "threshold": 0.5})
    store.init("w", mx.nd.zeros((3, 7)))
    out, seen = mx.nd.zeros((3, 7)), []
    for i in range(5):
        gradient = (mx.nd.arange(21).reshape((3, 7)) - 10) / 16 * (store.rank + 1) * (1 - 2 * (i % 2))
        store.push("w", [gradient, gradient * 0.25])
        store.pull("w", out=out)
        seen.append(out.asnumpy().tolist())
    return seen


def rows(mx, store):
    """Row_sparse gradients on row_sparse weights, and rows of them."""
    store.set_optimizer(mx.optimizer.create("sgd", learning_rate=0.5))
    store.init("w", mx.nd.ones((6, 2)).tostype("row_sparse"))
    seen = []
    for i in range(3):
        ids = sorted({store.rank, 3 + i % 2})
        gradient = mx.nd.sparse.row_sparse_array((mx.nd.ones((len(ids), 2)) * (i + 1), ids), shape=(6, 2))
        store.push("w", gradient)
        few = mx.nd.sparse.zeros("row_sparse", (6, 2))
        store.row_sparse_pull("w", out=few, row_ids=mx.nd.array([4, 0, 4, 5]))
        seen.append([few.indices.asnumpy().tolist(), few.data.asnumpy().tolist()])
    return seen


def commuting(mx, store):
    """Asynchronous pushes of whole numbers: the sum does not depend on their order.

    Each is waited for by a pull, because a pull of MXNet may lack earlier pushes that are still queued.
    """
    store.set_optimizer(mx.optimizer.create("test", rescale_grad=1.0))
    store.init(5, mx.nd.zeros(4))
    out = mx.nd.zeros(4)
    for i in range(6):
        store.push(5, mx.nd.array([1, i, store.rank, i * store.rank]))
        store.pull(5, out=out)
        out.wait_to_read()
    store._barrier()
    store.pull(5, out=out)
    return out.asnumpy().tolist()


def training(mx, store):
    """``fit`` with each worker's share of the data."""
    draw = np.random.RandomState(3)
    inputs, labels = draw.randn(48, 5).astype("float32"), draw.randint(0, 3, 48).astype("float32")
    first = {
        "fc1_weight": draw.randn(6, 5) * 0.3, "fc1_bias": np.zeros(6),
        "fc2_weight": draw.randn(3, 6) * 0.3, "fc2_bias": np.zeros(3),
    }
    net = mx.sym.FullyConnected(mx.sym.Variable("data"), num_hidden=6, name="fc1")
    net = mx.sym.FullyConnected(mx.sym.Activation(net, act_type="tanh"), num_hidden=3, name="fc2")
    module = mx.mod.Module(mx.sym.SoftmaxOutput(net, name="softmax"), context=[mx.cpu(0), mx.cpu(1)])
    share = slice(store.rank, None, store.num_workers)
    module.fit(
        mx.io.NDArrayIter(inputs[share], labels[share], 4), num_epoch=3, kvstore=store, eval_metric="acc",
        optimizer="sgd", optimizer_params={"learning_rate": 0.5, "momentum": 0.9},
        arg_params={name: mx.nd.array(value) for name, value in first.items()}, initializer=None,
    )
    return {name: array.asnumpy().tolist() for name, array in sorted(module.get_params()[0].items())}


if __name__ == "__main__":
    import mxnet

    print(json.dumps(globals()[sys.argv[1]](mxnet, mxnet.kv.create(sys.argv[2]))), flush=True)
