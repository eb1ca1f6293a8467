"""A small convolutional network with the FeedForward of 2015."""
from __future__ import print_function

import logging
import mxnet as mx
import numpy as np

logging.getLogger().setLevel(logging.DEBUG)


def conv_factory(data, num_filter, name):
    conv = mx.sym.Convolution(data=data, num_filter=num_filter, kernel=(3, 3), pad=(1, 1), name='conv_' + name)
    bn = mx.sym.BatchNorm(data=conv, name='bn_' + name)
    act = mx.sym.Activation(data=bn, act_type='relu', name='relu_' + name)
    return mx.sym.Pooling(data=act, kernel=(2, 2), stride=(2, 2), pool_type='max', name='pool_' + name)


data = mx.sym.Variable(name='data')
net = conv_factory(data, 8, '1')
net = conv_factory(net, 16, '2')
net = mx.sym.Flatten(data=net)
net = mx.sym.FullyConnected(data=net, num_hidden=4, name='fc')
softmax = mx.sym.SoftmaxOutput(data=net, name='softmax')

rng = np.random.RandomState(3)
y = rng.randint(0, 4, 160)
X = rng.uniform(0, 1, (160, 1, 8, 8))
X[np.arange(160), 0, y * 2] += 1.0   # a bright row says which class

losses = []


def record(param):
    prob = param.locals['executor_manager'].curr_execgrp.train_execs[0].outputs[0].asnumpy()
    label = param.locals['data_batch'].label[0].asnumpy().astype('int32')
    losses.append(-np.log(prob[np.arange(len(label)), label]).mean())


mx.random.seed(11)
np.random.seed(11)
model = mx.model.FeedForward(ctx=mx.gpu(), symbol=softmax, num_epoch=1, numpy_batch_size=16,
                             learning_rate=0.05, momentum=0.9, wd=0.00001,
                             initializer=mx.init.Xavier(factor_type="in", magnitude=2.34))
model.fit(X=mx.io.NDArrayIter(X, y, batch_size=16), eval_metric='accuracy', batch_end_callback=record)
prob = model.predict(X[:32])
print('predicted', '%.5g' % np.product(prob.max(axis=1)[:4]))
mx.nd.waitall()
model.save('feed_forward')
print('losses', ' '.join('%.7g' % loss for loss in losses))
