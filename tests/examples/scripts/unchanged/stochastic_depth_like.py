"""Residual blocks that are left out by chance, each a module of its own that holds two others."""
from __future__ import print_function
import logging

import mxnet as mx
import numpy as np

logging.basicConfig(level=logging.INFO)
batch_size, channels = 8, 4
chance = np.random.RandomState(91)


class StochasticDepthModule(mx.mod.BaseModule):
    """Runs the long way or the short way; both have the shapes of the data at both ends."""
    def __init__(self, symbol_compute, symbol_skip, death_rate, context, logger=logging):
        super(StochasticDepthModule, self).__init__(logger=logger)
        names = [name for name in symbol_compute.list_arguments() if name.startswith('data')]
        self.compute = mx.mod.Module(symbol_compute, data_names=names, label_names=None, context=context, logger=logger)
        self.skip = mx.mod.Module(symbol_skip, data_names=names, label_names=None, context=context, logger=logger)
        self.death_rate = death_rate
        self.gates = []

    @property
    def data_names(self):
        return self.compute.data_names

    @property
    def output_names(self):
        return self.compute.output_names

    @property
    def data_shapes(self):
        return self.compute.data_shapes

    @property
    def label_shapes(self):
        return self.compute.label_shapes

    @property
    def output_shapes(self):
        return self.compute.output_shapes

    def get_params(self):
        return self.compute.get_params()

    def init_params(self, *args, **kwargs):
        self.compute.init_params(*args, **kwargs)
        self.skip.init_params()
        self.params_initialized = True

    def bind(self, *args, **kwargs):
        self.compute.bind(*args, **kwargs)
        self.skip.bind(*args, **kwargs)
        self.binded = True
        self.for_training, self.inputs_need_grad = self.compute.for_training, self.compute.inputs_need_grad

    def init_optimizer(self, *args, **kwargs):
        self.compute.init_optimizer(*args, **kwargs)
        self.optimizer_initialized = True

    def forward(self, data_batch, is_train=None):
        is_train = self.for_training if is_train is None else is_train
        if is_train:
            self.gates.append(bool(chance.uniform() >= self.death_rate))
            self.compute_now = self.gates[-1]
        (self.compute if self.compute_now else self.skip).forward(data_batch, is_train=is_train)

    def get_outputs(self, merge_multi_context=True):
        return (self.compute if self.compute_now else self.skip).get_outputs(merge_multi_context)

    def backward(self, out_grads=None):
        (self.compute if self.compute_now else self.skip).backward(out_grads=out_grads)

    def get_input_grads(self, merge_multi_context=True):
        return (self.compute if self.compute_now else self.skip).get_input_grads(merge_multi_context)

    def update(self):
        if self.compute_now:
            self.compute.update()

    def update_metric(self, eval_metric, labels, pre_sliced=False):
        self.compute.update_metric(eval_metric, labels)

    def install_monitor(self, mon):
        self.compute.install_monitor(mon)


class Shift(mx.mod.PythonModule):
    """No parameters: subtracts the mean of each row, and says so to the modules around it."""
    def __init__(self):
        super(Shift, self).__init__(['shift_data'], [], ['shift_output'])

    def _compute_output_shapes(self):
        return [('shift_output', self._data_shapes[0][1])]

    def forward(self, data_batch, is_train=None):
        rows = data_batch.data[0]
        self.out = mx.nd.broadcast_sub(rows, mx.nd.mean(rows, axis=1, keepdims=True))

    def get_outputs(self, merge_multi_context=True):
        return [self.out]

    def backward(self, out_grads=None):
        grads = out_grads[0].asnumpy()
        self.grad = mx.nd.array(grads - grads.mean(axis=1, keepdims=True))

    def get_input_grads(self, merge_multi_context=True):
        return [self.grad]


def block(i):
    data = mx.sym.Variable('data%d' % i)
    net = mx.sym.Convolution(data, num_filter=channels, kernel=(3, 3), pad=(1, 1), name='conv%d_a' % i)
    net = mx.sym.Activation(net, act_type='relu', name='relu%d_a' % i)
    net = mx.sym.Convolution(net, num_filter=channels, kernel=(3, 3), pad=(1, 1), name='conv%d_b' % i)
    return (mx.sym.Activation(net + data, act_type='relu', name='relu%d_b' % i),
            mx.sym.Activation(data, act_type='relu', name='skip%d' % i))


context = mx.gpu(0)
stem = mx.sym.Convolution(mx.sym.Variable('data'), num_filter=channels, kernel=(3, 3), name='stem')
top = mx.sym.Pooling(mx.sym.Variable('data_top'), kernel=(2, 2), stride=(2, 2), pool_type='sum', name='pool')
top = mx.sym.FullyConnected(mx.sym.Flatten(top), num_hidden=3, name='fc')
seq = mx.mod.SequentialModule()
seq.add(mx.mod.Module(stem, label_names=None, context=context))
blocks = [StochasticDepthModule(*block(i), death_rate=0.5 * i, context=context) for i in (1, 2)]
for one in blocks:
    seq.add(one, auto_wiring=True)
seq.add(mx.mod.Module(top, data_names=['data_top'], label_names=None, context=context), auto_wiring=True)
seq.add(Shift(), auto_wiring=True)
loss = mx.sym.SoftmaxOutput(mx.sym.Variable('centred'), name='softmax')
seq.add(mx.mod.Module(loss, data_names=['centred'], context=context), take_labels=True, auto_wiring=True)

rng = np.random.RandomState(92)
label = rng.randint(0, 3, 10 * batch_size)
images = rng.normal(0, 0.4, (10 * batch_size, 1, 8, 8)) + (label - 1.0)[:, None, None, None] * np.eye(8)
train = mx.io.NDArrayIter(mx.nd.array(images), mx.nd.array(label), batch_size)
args = {}
for module_symbol in [stem, top] + [block(i)[0] for i in (1, 2)]:
    shape = dict(data=(batch_size, 1, 8, 8), data_top=(batch_size, channels, 6, 6),
                 data1=(batch_size, channels, 6, 6), data2=(batch_size, channels, 6, 6))
    names = module_symbol.list_arguments()
    shapes, _, _ = module_symbol.infer_shape(**dict((k, v) for k, v in shape.items() if k in names))
    args.update((name, mx.nd.array(rng.normal(0, 0.25, s)))
                for name, s in zip(names, shapes) if not name.startswith('data'))

losses = []
metric = mx.metric.CrossEntropy()


def record(param):
    metric.reset()
    seq.update_metric(metric, param.locals['data_batch'].label)
    losses.append(metric.get()[1])


seq.fit(train, num_epoch=1, arg_params=args, optimizer='sgd', batch_end_callback=record,
        optimizer_params={'learning_rate': 0.1, 'momentum': 0.5, 'wd': 0.001})
print('gates', [''.join('01'[gate] for gate in one.gates) for one in blocks])
seq.save_params('stochastic_depth_like.params')
print('losses', ' '.join('%.7g' % value for value in losses))
