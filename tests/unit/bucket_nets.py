"""Nets of several lengths and their batches, for the tests of buckets."""

from __future__ import annotations

from typing import Any

import numpy as np

import refimpl as mx


def labels(rows: int) -> np.ndarray:
    """The classes 0, 1, 2, 0, 1, ... of so many rows."""
    return np.arange(rows) % 3


def bag(length: int) -> tuple[mx.sym.Symbol, tuple[str, ...], tuple[str, ...]]:
    """Word vectors of a sentence, summed, then a classifier with an automatic name."""
    del length  # the same symbol for every length: its data have another shape
    words = mx.sym.Embedding(mx.sym.Variable("data"), input_dim=5, output_dim=2, name="embed")
    net = mx.sym.FullyConnected(mx.sym.sum(words, axis=1), num_hidden=3)
    return mx.sym.SoftmaxOutput(net, name="softmax"), ("data",), ("softmax_label",)


def batch(length: int, rows: int = 4, **settings: Any) -> mx.io.DataBatch:
    """Sentences of ones, as a batch of the bucket ``length``."""
    described = {
        "bucket_key": length, "provide_data": [("data", (rows, length))],
        "provide_label": [("softmax_label", (rows,))], **settings,
    }
    return mx.io.DataBatch([mx.nd.ones((rows, length))], [mx.nd.array(labels(rows))], **described)


def ready(longest: int = 10, initializer: Any = None, **settings: Any) -> mx.mod.BucketingModule:
    """A bound and initialised module over :func:`bag`; weights are one and biases zero unless told otherwise."""
    module = mx.mod.BucketingModule(bag, longest, **settings)
    module.bind([("data", (4, longest))], [("softmax_label", (4,))])
    module.init_params(initializer or mx.init.One())
    return module


def values(module: Any) -> dict[str, np.ndarray]:
    """Parameters by name, as NumPy arrays."""
    return {name: value.asnumpy() for name, value in module.get_params()[0].items()}


def weight_memory(module: mx.mod.BucketingModule, key: int, name: str) -> Any:
    """The array that a bucket has on its last context."""
    return module._buckets[key]._exec_group.execs[-1].arg_dict[name]


class Sentences(mx.io.DataIter):
    """One batch for each of the given lengths."""

    def __init__(self, lengths: tuple[int, ...], rows: int = 4) -> None:
        super().__init__(rows)
        self.lengths, self.default_bucket_key = lengths, max(lengths)
        self.provide_data = [mx.io.DataDesc("data", (rows, self.default_bucket_key))]
        self.provide_label = [mx.io.DataDesc("softmax_label", (rows,))]
        self.reset()

    def reset(self) -> None:
        self.upcoming = iter(self.lengths)

    def next(self) -> mx.io.DataBatch:
        return batch(next(self.upcoming), self.batch_size, pad=0)
