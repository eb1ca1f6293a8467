"""Logistic regression on csr data with a row_sparse weight, as example/sparse/linear_classification."""
from __future__ import print_function
import os
import shutil
import tempfile

import mxnet as mx
import numpy as np


def linear_model(num_features):
    x = mx.symbol.Variable("data", stype='csr')
    norm_init = mx.initializer.Normal(sigma=0.01)
    weight = mx.symbol.Variable("weight", shape=(num_features, 2), init=norm_init, stype='row_sparse')
    bias = mx.symbol.Variable("bias", shape=(2,))
    dot = mx.symbol.sparse.dot(x, weight)
    pred = mx.symbol.broadcast_add(dot, bias)
    y = mx.symbol.Variable("softmax_label")
    return mx.symbol.SoftmaxOutput(data=pred, label=y, name='softmax')


rng = np.random.RandomState(9)
num_features, batch_size = 300, 32
dense = rng.uniform(0, 1, (320, num_features)) * (rng.uniform(0, 1, (320, num_features)) < 0.03)
truth = rng.randn(num_features)
label = (dense.dot(truth) > 0).astype('float32')
folder = tempfile.mkdtemp()
with open(os.path.join(folder, 'train.libsvm'), 'w') as f:
    for row, y in zip(dense, label):
        f.write(' '.join(['%d' % y] + ['%d:%.6f' % (i, row[i]) for i in np.nonzero(row)[0]]) + '\n')
train_data = mx.io.LibSVMIter(data_libsvm=os.path.join(folder, 'train.libsvm'), data_shape=(num_features,),
                              label_shape=(1,), batch_size=batch_size)

mx.random.seed(4)
mod = mx.mod.Module(symbol=linear_model(num_features), data_names=['data'], label_names=['softmax_label'])
mod.bind(data_shapes=train_data.provide_data, label_shapes=train_data.provide_label)
mod.init_params()
kv = mx.kvstore.create('local')
optim = mx.optimizer.create('adagrad', learning_rate=0.1, rescale_grad=1.0 / batch_size)
mod.init_optimizer(optimizer=optim, kvstore=kv)
metric = mx.metric.create(['nll_loss'])
losses = []


def rows(batch):
    return {'weight': batch.data[0].indices}


for batch in train_data:
    mod.prepare(batch, sparse_row_id_fn=rows)
    mod.forward_backward(batch)
    mod.update()
    metric.reset()
    mod.update_metric(metric, batch.label)
    losses.append(metric.get()[1][0])
shutil.rmtree(folder)
mod.save_params('sparse_linear.params')
print('losses', ' '.join('%.7g' % loss for loss in losses))
