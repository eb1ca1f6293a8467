"""A training loop by hand on arrays: autograd, attach_grad, a Function, updates in place."""
from __future__ import print_function
import mxnet as mx
from mxnet import nd, autograd
import numpy as np


class Swish(autograd.Function):
    def forward(self, x):
        s = 1 / (1 + nd.exp(-x))
        self.save_for_backward(x, s)
        return x * s

    def backward(self, dy):
        x, s = self.saved_tensors
        return dy * (s + x * s * (1 - s))


ctx = mx.gpu()
mx.random.seed(71)
W1 = nd.random_normal(shape=(10, 16), scale=0.4, ctx=ctx)
b1 = nd.zeros(16, ctx=ctx)
W2 = nd.random_normal(shape=(16, 4), scale=0.4, ctx=ctx)
b2 = nd.zeros(4, ctx=ctx)
params = [W1, b1, W2, b2]
for param in params:
    param.attach_grad()

rng = np.random.RandomState(71)
centres = rng.randn(4, 10)
losses = []
for step in range(10):
    y = rng.randint(0, 4, 24)
    data = nd.array(centres[y] + 0.5 * rng.randn(24, 10), ctx=ctx)
    label = nd.one_hot(nd.array(y, ctx=ctx), 4)
    with autograd.record():
        h = Swish()(nd.dot(data, W1) + b1)
        h = nd.Dropout(h, p=0.0)
        out = nd.log_softmax(nd.dot(h, W2) + b2)
        loss = - nd.mean(nd.sum(label * out, axis=0, exclude=True))
    loss.backward()
    for param in params:
        param[:] = param - 0.5 * param.grad
    losses.append(loss.asscalar())
nd.save('autograd_loop.params', dict(zip(['W1', 'b1', 'W2', 'b2'], params)))
print('losses', ' '.join('%.7g' % value for value in losses))
