"""Units with shortcuts, batch normalisation and augmentation in an iterator of one's own, on two GPUs."""
from __future__ import print_function
import logging
import mxnet as mx
import numpy as np


def residual_unit(data, num_filter, stride, dim_match, name):
    bn1 = mx.sym.BatchNorm(data=data, fix_gamma=False, eps=2e-5, momentum=0.9, name=name + '_bn1')
    act1 = mx.sym.Activation(data=bn1, act_type='relu', name=name + '_relu1')
    conv1 = mx.sym.Convolution(data=act1, num_filter=num_filter, kernel=(3, 3), stride=stride, pad=(1, 1),
                               no_bias=True, workspace=256, name=name + '_conv1')
    bn2 = mx.sym.BatchNorm(data=conv1, fix_gamma=False, eps=2e-5, momentum=0.9, name=name + '_bn2')
    act2 = mx.sym.Activation(data=bn2, act_type='relu', name=name + '_relu2')
    conv2 = mx.sym.Convolution(data=act2, num_filter=num_filter, kernel=(3, 3), stride=(1, 1), pad=(1, 1),
                               no_bias=True, workspace=256, name=name + '_conv2')
    if dim_match:
        shortcut = data
    else:
        shortcut = mx.sym.Convolution(data=act1, num_filter=num_filter, kernel=(1, 1), stride=stride, no_bias=True,
                                      workspace=256, name=name + '_sc')
    return conv2 + shortcut


class Flipped(mx.io.DataIter):
    """Mirrors every second batch of another iterator."""
    def __init__(self, inner):
        super(Flipped, self).__init__()
        self.inner, self.batch_size = inner, inner.batch_size
        self.provide_data, self.provide_label = inner.provide_data, inner.provide_label
        self.count = 0

    def reset(self):
        self.inner.reset()

    def next(self):
        batch = self.inner.next()
        self.count += 1
        if self.count % 2:
            batch.data = [mx.nd.flip(batch.data[0], axis=3)]
        return batch


data = mx.sym.Variable(name='data')
body = mx.sym.Convolution(data=data, num_filter=4, kernel=(3, 3), pad=(1, 1), no_bias=True, name='conv0')
body = residual_unit(body, 4, (1, 1), True, 'stage1_unit1')
body = residual_unit(body, 8, (2, 2), False, 'stage2_unit1')
bn1 = mx.sym.BatchNorm(data=body, fix_gamma=False, eps=2e-5, momentum=0.9, name='bn1')
relu1 = mx.sym.Activation(data=bn1, act_type='relu', name='relu1')
pool1 = mx.sym.Pooling(data=relu1, global_pool=True, kernel=(7, 7), pool_type='avg', name='pool1')
fc1 = mx.sym.FullyConnected(data=mx.sym.Flatten(data=pool1), num_hidden=3, name='fc1')
net = mx.sym.SoftmaxOutput(data=fc1, name='softmax')

rng = np.random.RandomState(31)
y = rng.randint(0, 3, 120)
x = rng.randn(120, 2, 6, 6) * 0.5
x[np.arange(120), y % 2] += (y - 1.0)[:, np.newaxis, np.newaxis]
train = Flipped(mx.io.NDArrayIter(x, y, 12))
losses = []
metric = mx.metric.create('ce')


def record(param):
    metric.reset()
    mod.update_metric(metric, param.locals['data_batch'].label)
    losses.append(metric.get()[1])


mx.random.seed(31)
mod = mx.mod.Module(net, context=[mx.gpu(i) for i in (0, 1)], logger=logging)
mod.fit(train, num_epoch=1, kvstore='device', optimizer='nag',
        optimizer_params={'learning_rate': 0.05, 'momentum': 0.9, 'wd': 0.0001,
                          'lr_scheduler': mx.lr_scheduler.MultiFactorScheduler(step=[4, 8], factor=0.1)},
        initializer=mx.init.Xavier(rnd_type='gaussian', factor_type='in', magnitude=2), batch_end_callback=record)
mx.nd.waitall()
mod.save_params('resnet_like.params')
print('losses', ' '.join('%.7g' % loss for loss in losses))
