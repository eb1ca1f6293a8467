"""A script of sixty lines in which a type checker has nothing to find, not even when it is strict."""

import logging

import numpy as np

import refimpl as mx

BATCH, CLASSES = 20, 4
logging.basicConfig(level=logging.INFO)


def block(data: mx.Symbol, filters: int, name: str) -> mx.Symbol:
    """A convolution, normalised and pooled."""
    data = mx.sym.Convolution(data, kernel=(3, 3), pad=(1, 1), num_filter=filters, no_bias=True, name=f"{name}_conv")
    data = mx.sym.BatchNorm(data, fix_gamma=False, eps=1e-3, momentum=0.9, name=f"{name}_bn")
    data = mx.sym.Activation(data, act_type="relu", name=f"{name}_relu")
    return mx.sym.Pooling(data, kernel=(2, 2), stride=(2, 2), pool_type="max", name=f"{name}_pool")


def network() -> mx.Symbol:
    """Two blocks beside a shortcut, and a classifier."""
    data = mx.sym.Variable("data")
    body = block(block(data, 8, "a"), 16, "b")
    short = mx.sym.Convolution(data, None, None, (1, 1), (4, 4), num_filter=16, name="short", lr_mult=0.5)
    body = mx.sym.LRN(body + short, 1e-4, 0.75, 2, 5, name="norm")
    body = mx.sym.Concat(body, mx.sym.zeros_like(body), dim=1, name="both")
    body = mx.sym.Dropout(mx.sym.Flatten(body), p=0.2)
    body = mx.sym.FullyConnected(body, num_hidden=32, name="fc1", attr={"__lr_mult__": "2"})
    body = mx.sym.LeakyReLU(mx.sym.clip(body, -3, 3), act_type="leaky", slope=0.1)
    body = mx.sym.FullyConnected(body, num_hidden=CLASSES, name="fc2", wd_mult=0)
    return mx.sym.SoftmaxOutput(body, name="softmax", normalization="batch")


def pictures(count: int) -> tuple[mx.NDArray, mx.NDArray]:
    """Bright squares, each in the corner of its class."""
    labels = np.arange(count) % CLASSES
    noise = mx.nd.random.uniform(0, 0.3, shape=(count, 1, 16, 16)).asnumpy()
    for picture, label in zip(noise, labels, strict=True):
        picture[0, 8 * (label // 2) : 8 * (label // 2) + 8, 8 * (label % 2) : 8 * (label % 2) + 8] += 1
    return mx.nd.array(noise), mx.nd.array(labels, dtype="float32")


mx.random.seed(7)
data, labels = pictures(200)
train = mx.io.NDArrayIter(data, labels, BATCH, shuffle=True)
held = mx.io.NDArrayIter(data=data[:40], label=labels[:40], batch_size=BATCH)
module = mx.mod.Module(network(), context=[mx.cpu(0), mx.cpu(1)])
module.fit(
    train, eval_data=held, num_epoch=2, optimizer=mx.optimizer.SGD(momentum=0.9, learning_rate=0.1, wd=1e-4),
    initializer=mx.init.Xavier(rnd_type="gaussian", magnitude=2), eval_metric=["acc", mx.metric.CrossEntropy()],
    batch_end_callback=mx.callback.Speedometer(BATCH, 5),
)
print(dict(module.score(held, "acc")))
arguments, states = module.get_params()
largest = mx.nd.max(mx.nd.abs(arguments["fc2_weight"])).asscalar()
shifted = (arguments["fc2_weight"] * 2 - 1).reshape((-1, 2)).sum(axis=1).astype("float64")
best = mx.nd.topk(shifted, k=2, ret_typ="value").expand_dims(0)
with mx.autograd.record():
    loss = mx.nd.smooth_l1(best, scalar=1.0).mean()
print(largest, loss.asscalar(), best.one_hot(depth=3).shape, len(states))
