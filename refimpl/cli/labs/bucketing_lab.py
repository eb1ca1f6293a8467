"""The lab on bucketing: one network in several lengths, with one set of parameters."""

from __future__ import annotations

from typing import Any

import numpy as np

from ... import symbol as sym
from ...base import MXNetError
from ...io import DataBatch
from ...ndarray import array
from ...oracle.drawing.draws import Draw
from .lab import Broken, Lab, Law, demand

STUB = '''
"""A network that reads inputs of several lengths.

{rules}
"""

import refimpl as mx


class Buckets:
    """One mx.mod.Module for each bucket key. Build it on Module alone: mx.mod.BucketingModule is the answer.

    Module.bind(data_shapes, shared_module=other) makes a module that uses the parameters, the gradients, the memory and
    the optimizer of another one, which was bound before; mx.name.NameManager() is a scope of automatic names.
    """

    def __init__(self, sym_gen, default_key):
        """sym_gen(key) returns (symbol, data names, None): these networks have no labels."""
        raise NotImplementedError("write this method")

    def bind(self, data_shapes):
        """Bind the default bucket: a list of (name, shape)."""
        raise NotImplementedError("write this method")

    def set_params(self, params):
        """Set the parameters of all buckets: a dict from names to NDArrays."""
        raise NotImplementedError("write this method")

    def init_optimizer(self, **settings):
        """Install one optimizer for all buckets; settings are those of Module.init_optimizer."""
        raise NotImplementedError("write this method")

    def forward(self, batch):
        """Run the bucket batch.bucket_key; a new one is bound with batch.provide_data. TypeError without a key."""
        raise NotImplementedError("write this method")

    def backward(self):
        """Backward of the current bucket."""
        raise NotImplementedError("write this method")

    def update(self):
        """One step of the optimizer, along the gradients of the current bucket."""
        raise NotImplementedError("write this method")

    def outputs(self):
        """The first output of the current bucket, an NDArray."""
        raise NotImplementedError("write this method")
'''

LONGEST = 4
"""The default bucket."""


def sym_gen(length: int) -> tuple[sym.Symbol, tuple[str, ...], None]:
    """Every step goes through one weight; keys above ``LONGEST`` have a parameter that nobody owns."""
    name = "fc" if length <= LONGEST else "other"
    steps = sym.FullyConnected(sym.Variable("data"), num_hidden=1, no_bias=True, flatten=False, name=name)
    return sym.MakeLoss(sym.sum(steps, axis=1), name="loss"), ("data",), None


def unnamed(length: int) -> tuple[sym.Symbol, tuple[str, ...], None]:
    """The same with a layer that has no name of its own."""
    del length
    steps = sym.FullyConnected(sym.Variable("data"), num_hidden=1, no_bias=True, flatten=False)
    return sym.MakeLoss(sym.sum(steps, axis=1)), ("data",), None


def described(length: int, rows: int) -> list[tuple[str, tuple[int, ...]]]:
    """The content of a batch."""
    return [("data", (rows, length, 2))]


class Batch(DataBatch):
    """A batch that is called so in a counter-example."""

    def __repr__(self) -> str:
        return "batch"


def batch(length: int, rows: int) -> tuple[Batch, np.ndarray]:
    """A batch of a bucket, and the sum of its data: the gradient of the weight."""
    data = np.arange(rows * length * 2).reshape(rows, length, 2) % 5 - 2
    made = Batch([array(data)], bucket_key=length, provide_data=described(length, rows))
    return made, data.sum(axis=(0, 1))


class _Run:
    """A student's Buckets beside a model of one weight; every number is a small integer, so nothing rounds."""

    def __init__(self, student: Any, draw: Draw, generate: Any = sym_gen, name: str = "fc_weight") -> None:
        self.student = student
        self.weight = np.array([draw.integer(-2, 2), draw.integer(-2, 2)])
        self.moment = np.zeros(2)
        self.buckets = student.Buckets(generate, LONGEST)
        self.buckets.bind(described(LONGEST, 2))
        self.buckets.set_params({name: array(self.weight[None])})

    def forward(self, key: int, rows: int) -> None:
        """Run forward, and compare the outputs."""
        made, self.total = batch(key, rows)
        self.student.note(f"batch = a batch of {rows} rows of length {key}")
        self.buckets.forward(made)
        self.look(made.data[0].asnumpy())

    def look(self, data: np.ndarray) -> None:
        """The outputs of the current bucket belong to these data."""
        expected = (data @ self.weight).sum(axis=1, keepdims=True)
        got = self.buckets.outputs().asnumpy()
        demand(np.array_equal(got, expected), f"outputs {expected.tolist()}", got)

    def learn(self) -> None:
        """Backward and update, with momentum 1 and rate 1."""
        self.buckets.backward()
        self.buckets.update()
        self.moment = self.moment - self.total
        self.weight = self.weight + self.moment


def _case(draw: Draw) -> tuple[int, int]:
    return draw.integer(1, LONGEST), draw.integer(1, 3)


def _forward(student: Any, draw: Draw) -> None:
    run = _Run(student, draw)
    for _ in range(draw.integer(1, 3)):
        run.forward(*_case(draw))


def _names(student: Any, draw: Draw) -> None:
    run = _Run(student, draw, unnamed, "fullyconnected0_weight")
    for _ in range(draw.integer(1, 3)):
        run.forward(*_case(draw))


def _trained(student: Any, draw: Draw, momentum: float) -> None:
    run = _Run(student, draw)
    settings = {"learning_rate": 1.0, "momentum": momentum, "rescale_grad": 1.0}
    run.buckets.init_optimizer(optimizer_params=settings)
    for _ in range(draw.integer(1, 4)):
        run.forward(*_case(draw))
        run.learn()
        if not momentum:
            run.moment = np.zeros(2)
    run.forward(*_case(draw))


def _later_optimizer(student: Any, draw: Draw) -> None:
    """The optimizer comes when a second bucket is bound already."""
    run = _Run(student, draw)
    other = draw.integer(1, LONGEST - 1)
    run.forward(other, 1)
    run.buckets.init_optimizer(optimizer_params={"learning_rate": 1.0, "momentum": 1.0, "rescale_grad": 1.0})
    for _ in range(draw.integer(1, 4)):
        run.forward(draw.choice([other, LONGEST]), 1)
        run.learn()
    run.forward(*_case(draw))


def _failed_switch(student: Any, draw: Draw) -> None:
    run = _Run(student, draw)
    key, rows = _case(draw)
    run.forward(key, rows)
    strange, _ = batch(LONGEST + 5, rows)
    student.note(f"batch = one of length {LONGEST + 5}, whose network has a parameter that nobody owns")
    for _ in range(draw.integer(1, 2)):
        try:
            run.buckets.forward(strange)
        except MXNetError:
            continue
        raise Broken("MXNetError raised", "no error")
    run.look(batch(key, rows)[0].data[0].asnumpy())


def _no_key(student: Any, draw: Draw) -> None:
    run = _Run(student, draw)
    made = Batch([array(np.zeros((2, LONGEST, 2)))])
    if draw.boolean():
        made.bucket_key = draw.choice([[1], {}])
    student.note(f"batch = one with bucket_key {getattr(made, 'bucket_key', None)!r}")
    try:
        run.buckets.forward(made)
    except TypeError:
        return
    raise Broken("TypeError raised", "no error")


LAB = Lab(
    name="bucketing", title="One net in several lengths", chapter="spec/reference/training/bucketing.md",
    task="""
Sentences have all lengths, and a net that is unrolled over a sentence is another graph for each length. Buckets are a
few such graphs with one set of parameters. Write them on top of Module: which bucket owns what, and which is the
current one, is all there is to it.
""",
    stub=STUB,
    answers=frozenset({"BucketingModule"}),
    words={
        "Bucketing/forward": "forward makes the bucket of the batch's bucket_key the current one and runs it;"
        " whatever is asked afterwards is asked of the current bucket, which at first is the default one.",
        "Bucketing/parameters": "Every parameter of a bucket is one of the default bucket's; a bucket may use some of"
        " them, in any order. One that the default bucket does not have is refused (MXNetError).",
        "Bucketing/optimizer": "All buckets use the optimizer of the default bucket, and its states belong to"
        " parameters by name.",
        "Bucketing/names": "Each call of sym_gen has automatic names counted from zero, so that a layer without a"
        " name is fullyconnected0 in every bucket, whatever was built before.",
        "Bucketing/failed-switch": "When forward fails, the current bucket stays the current one, and a bucket that"
        " could not be bound is forgotten.",
        "Bucketing/batch-key": "A batch without a bucket_key, or with one that cannot be the key of a dict, raises"
        " TypeError.",
    },
    laws=(
        Law(_forward, "Bucketing/forward", 30),
        Law(lambda student, draw: _trained(student, draw, 0.0), "Bucketing/parameters", 30),
        Law(lambda student, draw: _trained(student, draw, 1.0), "Bucketing/optimizer", 30),
        Law(_later_optimizer, "Bucketing/optimizer", 30), Law(_names, "Bucketing/names", 20),
        Law(_failed_switch, "Bucketing/failed-switch", 20), Law(_no_key, "Bucketing/batch-key", 10),
    ),
    seconds=20.0,
)
"""The lab."""
