"""Twelve things that workers of a cluster do: `refimpl launch -n 2 -s 2 cluster_cases.py` prints what they find.

It runs under MXNet 1.9.1 too, one case to a cluster: tools/launch.py -n 2 -s 2 --launcher local python cluster_cases.py
mxnet CASE. Each worker prints a line of JSON for each case.
"""

import json
import sys

UNDER_MXNET = sys.argv[1:2] == ["mxnet"]
if UNDER_MXNET:
    import mxnet as mx
else:
    import refimpl as mx

nd = mx.nd


def pulled(kv, key, shape, dtype="float32"):
    out = nd.zeros(shape, dtype=dtype)
    kv.pull(key, out=out)
    return out.asnumpy().tolist()


def first_values(kv):
    """The first value is that of worker 0."""
    kv.init("w", nd.array([1.0 + kv.rank, 2.0 + kv.rank]))
    return [kv.type, kv.num_workers, pulled(kv, "w", 2)]


def dense(kv):
    """A push stores the sum over the workers."""
    kv.init(3, nd.zeros((2, 2)))
    found = []
    for i in range(3):
        kv.push(3, nd.array([[kv.rank + 1, i], [0.5, -1.0]]))
        found.append(pulled(kv, 3, (2, 2)))
    return found


def lists(kv):
    """Several keys in a call, and several arrays to a key."""
    kv.init(["a", "b"], [nd.zeros(2), nd.zeros(3)])
    kv.push(["a", "b"], [[nd.ones(2), nd.ones(2) * 2], [nd.ones(3) * (kv.rank + 1), nd.ones(3) * 10]])
    outs = [[nd.zeros(2), nd.zeros(2)], [nd.zeros(3)]]
    kv.pull(["a", "b"], out=outs)
    return [[array.asnumpy().tolist() for array in group] for group in outs]


def big(kv):
    """An array of more than a million elements is cut into parts for all servers."""
    rows = 1001
    kv.init("big", nd.zeros((rows, 1000)))
    kv.push("big", nd.arange(rows).reshape((rows, 1)).broadcast_to((rows, 1000)) * (kv.rank + 1))
    out = nd.zeros((rows, 1000))
    kv.pull("big", out=out)
    return [out[row].asnumpy()[[0, 999]].tolist() for row in (0, 1, 499, 500, 501, 1000)]


def rows(kv):
    """Row_sparse arrays: the rows that any worker pushed, and the rows that are asked for."""
    kv.init("r", nd.ones((4, 2)).tostype("row_sparse"))
    mine = nd.sparse.row_sparse_array(([[1.0, 2.0], [3.0, 4.0]], [0, 1 + kv.rank]), shape=(4, 2))
    kv.push("r", mine)
    out = nd.sparse.zeros("row_sparse", (4, 2))
    kv.row_sparse_pull("r", out=out, row_ids=nd.array([0, 2, 1]))
    return [out.indices.asnumpy().tolist(), out.data.asnumpy().tolist()]


def compressed(kv):
    """Gradients as codes of two bits; what they leave out comes later."""
    kv.set_gradient_compression({"type": "2bit", "threshold": 0.5})
    kv.init("c", nd.zeros(5))
    found = []
    for _ in range(3):
        kv.push("c", nd.array([0.2, 0.6, -0.3, -2.0, 0.5 * kv.rank]))
        found.append(pulled(kv, "c", 5))
    return found


def test_optimizer(kv):
    """An optimizer on the servers makes one update of the sum."""
    kv.set_optimizer(mx.optimizer.create("test", rescale_grad=1.0))
    kv.init("w", nd.zeros(1))
    found = []
    for _ in range(3):
        kv.push("w", nd.array([kv.rank + 1.0]))
        found.append(pulled(kv, "w", 1))
    return found


def momentum(kv):
    """SGD with momentum and weight decay on the servers."""
    kv.set_optimizer(mx.optimizer.SGD(learning_rate=0.5, momentum=0.5, wd=0.25, rescale_grad=0.5))
    kv.init("w", nd.ones(2))
    found = []
    for i in range(4):
        kv.push("w", nd.array([1.0, i + kv.rank]))
        found.append(pulled(kv, "w", 2))
    return found


def adam(kv):
    """Adam on the servers, whose update counts."""
    kv.set_optimizer(mx.optimizer.Adam(learning_rate=0.125))
    kv.init([5, 7], [nd.ones(2), nd.ones(1)])
    found = []
    for i in range(3):
        kv.push([5, 7], [nd.array([1.0, i + kv.rank]), nd.array([0.5])])
        found.append([pulled(kv, 5, 2), pulled(kv, 7, 1)])
    return found


def eager(kv):
    """dist_async: every push is an update, and after a barrier all are there."""
    kv.set_optimizer(mx.optimizer.create("test", rescale_grad=1.0))
    kv.init("w", nd.zeros(2))
    for i in range(5):
        kv.push("w", nd.array([1.0, i]))
    nd.waitall()
    kv.pull("w", out=nd.zeros(2))
    nd.waitall()
    kv._barrier()
    return [kv.type, pulled(kv, "w", 2)]


def commands(kv):
    """Commands to the servers; one that they do not know is ignored, and barriers let all go on."""
    kv.init("w", nd.zeros(1))
    kv._barrier()
    kv._send_command_to_servers(77, "anything")
    kv._barrier()
    kv.push("w", nd.ones(1))
    return pulled(kv, "w", 1)


def states(kv):
    """Optimizer states are on the servers: a worker neither saves nor loads them."""
    kv.set_optimizer(mx.optimizer.create("test"))
    said = []
    for call in (kv.save_optimizer_states, kv.load_optimizer_states):
        try:
            call("nowhere.states")
        except AssertionError as error:
            said.append(str(error).split(":")[0].split(" [")[0])
    return said


CASES = [first_values, dense, lists, big, rows, compressed, test_optimizer, momentum, adam, eager, commands, states]

RECORDED = {
    "first_values": ["dist_sync", 2, [1.0, 2.0]],
    "dense": [[[3.0, 0.0], [1.0, -2.0]], [[3.0, 2.0], [1.0, -2.0]], [[3.0, 4.0], [1.0, -2.0]]],
    "lists": [[[6.0, 6.0], [6.0, 6.0]], [[23.0, 23.0, 23.0]]],
    "big": [[0.0, 0.0], [3.0, 3.0], [1497.0, 1497.0], [1500.0, 1500.0], [1503.0, 1503.0], [3000.0, 3000.0]],
    "rows": [[0, 1, 2], [[2.0, 4.0], [3.0, 4.0], [3.0, 4.0]]],
    "compressed": [[0.0, 1.0, 0.0, -1.0, 0.5], [0.0, 1.0, -1.0, -1.0, 0.5], [1.0, 1.0, 0.0, -1.0, 0.5]],
    "test_optimizer": [[3.0], [6.0], [9.0]],
    "momentum": [
        [0.375, 0.625],
        [-0.484375, -0.390625],
        [-1.353515625, -2.099609375],
        [-2.118896484375, -4.441650390625],
    ],
    "adam": [
        [[0.8749991655349731, 0.8749992251396179], [0.8749992251396179]],
        [[0.7499983310699463, 0.7602758407592773], [0.7499984502792358]],
        [[0.6249974966049194, 0.6453941464424133], [0.624997615814209]],
    ],
    "eager": ["dist_async", [10.0, 20.0]],
    "commands": [2.0],
    "states": ["Cannot save states for distributed training", "Cannot load states for distributed training"],
}
"""What each worker found on the live cluster of MXNet 1.9.1: two workers, two servers, one machine."""


def main():
    for case in CASES:
        name = case.__name__
        if not UNDER_MXNET or name == sys.argv[2]:
            kv = mx.kv.create("dist_async" if case is eager else "dist_sync")
            print("CASE", json.dumps([name, kv.rank, case(kv)]))
            sys.stdout.flush()


if __name__ == "__main__":
    main()
