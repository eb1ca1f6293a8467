"""A training whose processes are killed: `refimpl launch -n 2 -s 2 training_to_launch.py EPOCHS SECONDS`.

BatchNorm, Dropout, momentum on the servers and noise on the pictures; each worker prints a digest of all that it ends
with. SECONDS is how long each batch takes at least.
"""

from __future__ import annotations

import hashlib
import json
import random
import sys
import time

import numpy as np

import refimpl as mx
from refimpl import ndarray as nd

DATA = np.random.RandomState(1).uniform(-1, 1, (120, 5)).astype(np.float32)
LABEL = (np.arange(120) % 3).astype(np.float32)


class Augmented(mx.io.DataIter):
    """Batches with noise of NumPy's and Python's global generators, read again after a kill: no ``state()``."""

    def __init__(self, inner) -> None:
        super().__init__(inner.batch_size)
        self.inner = inner
        self.provide_data, self.provide_label = inner.provide_data, inner.provide_label

    def reset(self) -> None:
        self.inner.reset()

    def next(self) -> mx.io.DataBatch:
        batch = self.inner.next()
        batch.data = [batch.data[0] + nd.array(np.random.uniform(-1, 1, batch.data[0].shape)) * random.random()]
        return batch


def network() -> mx.sym.Symbol:
    net = mx.sym.FullyConnected(mx.sym.Variable("data"), num_hidden=8, name="fc1")
    net = mx.sym.Dropout(mx.sym.BatchNorm(net, fix_gamma=False, name="bn"), p=0.3)
    return mx.sym.SoftmaxOutput(mx.sym.FullyConnected(net, num_hidden=3, name="fc2"), name="softmax")


def train(epochs: int, seconds: float) -> list:
    """[rank, digest, the numbers that come next]."""
    mx.random.seed(5)
    np.random.seed(5)
    random.seed(5)
    store = mx.kv.create("dist_sync")
    data = mx.io.NDArrayIter(DATA[store.rank :: 2], LABEL[store.rank :: 2], 6, shuffle=True)
    module, metric = mx.mod.Module(network(), context=mx.cpu()), mx.metric.create(["acc", "ce"])
    module.fit(
        Augmented(data), kvstore=store, optimizer="sgd", num_epoch=epochs, initializer=mx.init.Uniform(0.5),
        eval_metric=metric, optimizer_params={"learning_rate": 0.1, "momentum": 0.9},
        batch_end_callback=lambda _: time.sleep(seconds) if seconds else None,
    )
    digest = hashlib.sha256(str(metric.get()).encode())
    for arrays in module.get_params():
        for name in sorted(arrays):
            digest.update(arrays[name].asnumpy().tobytes())
    store._barrier()
    return [store.rank, digest.hexdigest(), np.random.rand(), random.random(), float(nd.random.uniform().asscalar())]


if __name__ == "__main__":
    print("RESULT", json.dumps(train(int(sys.argv[1]), float(sys.argv[2]))), flush=True)
