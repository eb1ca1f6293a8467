"""Two blocks of parallel branches that are joined along the channels, as in the Inception networks."""
from __future__ import print_function
import logging

import mxnet as mx
import numpy as np

logging.basicConfig(level=logging.INFO)
batch_size = 8


def ConvFactory(data, num_filter, kernel, stride=(1, 1), pad=(0, 0), name=None, suffix=''):
    conv = mx.symbol.Convolution(data=data, num_filter=num_filter, kernel=kernel, stride=stride, pad=pad,
                                 workspace=64, name='conv_%s%s' % (name, suffix))
    return mx.symbol.Activation(data=conv, act_type='relu', name='relu_%s%s' % (name, suffix))


def InceptionFactory(data, num_1x1, num_3x3red, num_3x3, num_d5x5red, num_d5x5, pool, proj, name):
    c1x1 = ConvFactory(data, num_1x1, kernel=(1, 1), name='%s_1x1' % name)
    c3x3r = ConvFactory(data, num_3x3red, kernel=(1, 1), name='%s_3x3' % name, suffix='_reduce')
    c3x3 = ConvFactory(c3x3r, num_3x3, kernel=(3, 3), pad=(1, 1), name='%s_3x3' % name)
    cd5x5r = ConvFactory(data, num_d5x5red, kernel=(1, 1), name='%s_5x5' % name, suffix='_reduce')
    # a 5 x 5 as a column and a row
    cd5x5 = ConvFactory(cd5x5r, num_d5x5, kernel=(5, 1), pad=(2, 0), name='%s_5x1' % name)
    cd5x5 = ConvFactory(cd5x5, num_d5x5, kernel=(1, 5), pad=(0, 2), name='%s_1x5' % name)
    pooling = mx.symbol.Pooling(data=data, kernel=(3, 3), stride=(1, 1), pad=(1, 1), pool_type=pool,
                                name='%s_pool_%s' % (pool, name))
    cproj = ConvFactory(pooling, proj, kernel=(1, 1), name='%s_proj' % name)
    return mx.symbol.Concat(*[c1x1, c3x3, cd5x5, cproj], name='ch_concat_%s_chconcat' % name)


def get_symbol(num_classes):
    data = mx.symbol.Variable(name='data')
    conv1 = ConvFactory(data, 8, kernel=(3, 3), stride=(2, 2), pad=(1, 1), name='1')
    norm1 = mx.symbol.LRN(data=conv1, alpha=0.001, beta=0.75, knorm=2, nsize=5, name='norm1')
    in3a = InceptionFactory(norm1, 4, 3, 5, 2, 3, 'max', 4, name='in3a')
    pool3 = mx.symbol.Pooling(in3a, kernel=(3, 3), stride=(2, 2), pooling_convention='full', pool_type='max')
    in3b = InceptionFactory(pool3, 5, 4, 6, 2, 3, 'avg', 4, name='in3b')
    norm2 = mx.symbol.LRN(data=in3b, nsize=3)
    pool5 = mx.symbol.Pooling(norm2, kernel=(4, 4), stride=(1, 1), pool_type='avg', global_pool=True)
    flatten = mx.symbol.Flatten(data=pool5)
    flatten = mx.symbol.Dropout(data=flatten, p=0.0)
    # the second classifier hangs on the first block
    aux = mx.symbol.Pooling(in3a, kernel=(4, 4), stride=(4, 4), pool_type='avg', name='aux_pool')
    aux = mx.symbol.FullyConnected(data=mx.symbol.Flatten(data=aux), num_hidden=num_classes, name='aux_fc')
    fc1 = mx.symbol.FullyConnected(data=flatten, num_hidden=num_classes, name='fc1')
    return mx.symbol.SoftmaxOutput(data=fc1 + 0.3 * aux, name='softmax')


net = get_symbol(4)
mx.viz.print_summary(net, shape={'data': (1, 3, 16, 16)}, line_length=100)

rng = np.random.RandomState(67)
label = rng.randint(0, 4, 10 * batch_size)
images = rng.normal(0, 0.3, (10 * batch_size, 3, 16, 16))
for image, which in zip(images, label):
    row, column = 8 * (which // 2), 8 * (which % 2)
    image[which % 3, row:row + 8, column:column + 8] += 2.0
train = mx.io.NDArrayIter(images, label, batch_size)

shapes, _, _ = net.infer_shape(data=(batch_size, 3, 16, 16))
arg_params = {}
for name, shape in zip(net.list_arguments(), shapes):
    if name.endswith('weight'):
        fan_in = float(np.prod(shape[1:]))
        arg_params[name] = mx.nd.array(rng.uniform(-1, 1, shape) * np.sqrt(4.0 / fan_in))
    elif name.endswith('bias'):
        arg_params[name] = mx.nd.zeros(shape)

losses, rates = [], []
metric = mx.metric.CrossEntropy()


def record(param):
    metric.reset()
    mod.update_metric(metric, param.locals['data_batch'].label)
    losses.append(metric.get()[1])
    rates.append(mod._optimizer._get_lr(0))


mod = mx.mod.Module(net, context=[mx.gpu(0), mx.gpu(1)], work_load_list=[1, 3])
scheduler = mx.lr_scheduler.FactorScheduler(step=3, factor=0.5, stop_factor_lr=0.01)
mod.fit(train, num_epoch=1, arg_params=arg_params, kvstore='local', optimizer='sgd',
        optimizer_params={'learning_rate': 0.2, 'momentum': 0.9, 'wd': 0.0002, 'lr_scheduler': scheduler},
        batch_end_callback=record)
print('rates', ' '.join('%.7g' % rate for rate in rates))
mod.save_params('inception_like.params')
print('losses', ' '.join('%.7g' % loss for loss in losses))
