"""Gradients of two bits: a residual network trained on several workers with compression_params."""
from __future__ import print_function
import logging

import mxnet as mx
import numpy as np

logging.basicConfig(level=logging.INFO)
batch_size, num_classes, num_unit = 8, 4, 2


def conv(data, num_filter, name, stride=(1, 1), kernel=(3, 3), pad=(1, 1)):
    return mx.sym.Convolution(data=data, num_filter=num_filter, kernel=kernel, stride=stride, pad=pad, no_bias=True,
                              name=name)


def get_symbol():
    body = conv(mx.sym.Variable('data'), 6, 'conv0')
    for i in range(num_unit):
        act = mx.sym.LeakyReLU(data=body, act_type='elu', slope=0.5, name='unit%d_elu1' % i)
        branch = conv(act, 6, 'unit%d_conv1' % i)
        branch = mx.sym.LeakyReLU(data=branch, act_type='elu', slope=0.5, name='unit%d_elu2' % i)
        body = body + 0.5 * conv(branch, 6, 'unit%d_conv2' % i)
    pool = mx.sym.Pooling(data=body, global_pool=True, kernel=(6, 6), pool_type='avg', name='pool')
    fc = mx.sym.FullyConnected(data=mx.sym.Flatten(pool), num_hidden=num_classes, name='fc')
    return mx.sym.SoftmaxOutput(data=fc, name='softmax', smooth_alpha=0.1)


def pictures(kv):
    """Stripes in four directions with noise; each worker has its own."""
    rng = np.random.RandomState(101 + kv.rank)
    label = rng.randint(0, num_classes, 10 * batch_size)
    y, x = np.mgrid[:6, :6]
    stripes = np.stack([y % 2, x % 2, (x + y) % 2, (x + y) // 2 % 2]).astype(np.float)
    data = stripes[label][:, np.newaxis] + rng.randn(10 * batch_size, 1, 6, 6) * 0.3
    return mx.io.NDArrayIter(data, label.astype(np.float), batch_size)


class LossOf(mx.metric.EvalMetric):
    def __init__(self):
        super(LossOf, self).__init__('loss')
        self.history = []

    def update(self, labels, preds):
        chosen = mx.nd.pick(preds[0], labels[0])
        loss = -mx.nd.log(chosen).asnumpy()
        self.history.append(loss.mean())
        self.sum_metric += loss.sum()
        self.num_inst += loss.size


kv = mx.kv.create('dist_sync')
kv.set_gradient_compression({'type': '2bit', 'threshold': 0.02})
train = pictures(kv)
mod = mx.mod.Module(get_symbol(), context=mx.gpu(0))
mod.bind(data_shapes=train.provide_data, label_shapes=train.provide_label)
start = np.random.RandomState(103)
shapes = dict(zip(mod._symbol.list_arguments(), mod._symbol.infer_shape(data=(batch_size, 1, 6, 6))[0]))
mod.init_params(initializer=None, aux_params={}, arg_params={
    name: mx.nd.array(start.randn(*shape) * (2.0 / np.prod(shape[1:])) ** 0.5 if name.endswith('weight')
                      else np.zeros(shape))
    for name, shape in sorted(shapes.items()) if name not in ('data', 'softmax_label')})

# pushes and pulls by hand: a store with compression does not take both in one
group = mod._exec_group
optimizer = mx.optimizer.create('sgd', learning_rate=1.0, momentum=0.5, wd=0.001, sym=mod._symbol,
                                rescale_grad=1.0 / batch_size / kv.num_workers,
                                param_idx2name=dict(enumerate(group.param_names)))
kv.set_optimizer(optimizer)
for index, arrays in enumerate(group.param_arrays):
    kv.init(index, arrays[0])
    kv.pull(index, arrays, priority=-index)
metric = LossOf()
for batch in train:
    mod.forward_backward(batch)
    for index, (weights, grads) in enumerate(zip(group.param_arrays, group.grad_arrays)):
        kv.push(index, grads, priority=-index)
        kv.pull(index, weights, priority=-index)
    mod.update_metric(metric, batch.label)
logging.info('worker %d: %s', kv.rank, metric.get())
kv._barrier()
if kv.rank == 0:
    mod._params_dirty = True  # nobody called update
    mod.save_params('dist_compression.params')
    print('losses', ' '.join('%.7g' % loss for loss in metric.history))
