"""A multi-class hinge loss written in NumPy, behind a network, as in the examples of Module."""
from __future__ import print_function
import mxnet as mx
import numpy as np
import numpy.random as npr

recorded = []


def mc_hinge_grad(scores, labels):
    scores = scores.asnumpy()
    labels = labels.asnumpy().astype(int)
    n, _ = scores.shape
    grad = np.zeros_like(scores)
    loss = 0
    for i in range(n):
        score = 1 + scores[i] - scores[i, labels[i]]
        score[labels[i]] = 0
        ind_pred = score.argmax()
        loss += max(score[ind_pred], 0)
        grad[i, labels[i]] -= 1
        grad[i, ind_pred] += 1
    recorded.append(loss / n)
    return grad


npr.seed(5)
mx.random.seed(5)
data = mx.symbol.Variable('data')
fc1 = mx.symbol.FullyConnected(data, name='fc1', num_hidden=32)
act1 = mx.symbol.Activation(fc1, name='relu1', act_type="relu")
fc2 = mx.symbol.FullyConnected(act1, name='fc2', num_hidden=5)

mlp = mx.mod.Module(fc2, data_names=['data'], label_names=[], context=mx.gpu(0))
loss = mx.mod.PythonLossModule(grad_func=mc_hinge_grad)
mod = mx.mod.SequentialModule().add(mlp).add(loss, take_labels=True, auto_wiring=True)

centres = npr.randn(5, 12) * 2
label = npr.randint(0, 5, 200)
train = mx.io.NDArrayIter(centres[label] + npr.randn(200, 12), label, 20, shuffle=True)
mod.fit(train, optimizer_params={'learning_rate': 0.05}, num_epoch=1, initializer=mx.init.Uniform(0.2))
mod.save_params('python_loss.params')
print('losses', ' '.join('%.7g' % value for value in recorded))
