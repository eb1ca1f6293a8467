"""Two questions about each row, answered by one network with two heads, with a metric that counts both."""
from __future__ import print_function
import logging

import mxnet as mx
import numpy as np

logging.basicConfig(level=logging.DEBUG)
batch_size = 16


def build_network():
    data = mx.symbol.Variable('data')
    fc1 = mx.symbol.FullyConnected(data=data, name='fc1', num_hidden=24)
    act1 = mx.symbol.Activation(data=fc1, name='relu1', act_type="relu")
    fc2 = mx.symbol.FullyConnected(data=act1, name='fc2', num_hidden=12)
    act2 = mx.symbol.Activation(data=fc2, name='sigmoid2', act_type="sigmoid")
    digit = mx.symbol.FullyConnected(data=act2, name='fc3_digit', num_hidden=5)
    odd = mx.symbol.FullyConnected(data=mx.symbol.concat(act2, digit, dim=1), name='fc3_odd', num_hidden=2)
    sm1 = mx.symbol.SoftmaxOutput(data=digit, name='softmax1', smooth_alpha=0.05)
    sm2 = mx.symbol.SoftmaxOutput(data=odd, name='softmax2', grad_scale=0.5)
    return mx.symbol.Group([sm1, sm2])


class TwoLabels(mx.io.DataIter):
    """Makes the second label of the first one."""
    def __init__(self, data_iter):
        super(TwoLabels, self).__init__()
        self.data_iter = data_iter
        self.batch_size = data_iter.batch_size

    @property
    def provide_data(self):
        return self.data_iter.provide_data

    @property
    def provide_label(self):
        desc = self.data_iter.provide_label[0]
        return [mx.io.DataDesc('softmax1_label', desc.shape, desc.dtype),
                mx.io.DataDesc('softmax2_label', desc.shape, desc.dtype)]

    def hard_reset(self):
        self.data_iter.hard_reset()

    def reset(self):
        self.data_iter.reset()

    def next(self):
        batch = self.data_iter.next()
        label = batch.label[0]
        return mx.io.DataBatch(data=batch.data, label=[label, label % 2], pad=batch.pad, index=batch.index)


class MultiCrossEntropy(mx.metric.EvalMetric):
    """One mean for each head."""
    def __init__(self, num=None):
        self.heads = num
        super(MultiCrossEntropy, self).__init__('multi-ce')

    def reset(self):
        self.sums = [0.0] * self.heads
        self.counts = [0] * self.heads

    def update(self, labels, preds):
        mx.metric.check_label_shapes(labels, preds)
        for i in range(len(labels)):
            label = labels[i].asnumpy().astype('int32')
            prob = preds[i].asnumpy()[np.arange(len(label)), label]
            self.sums[i] -= np.log(prob).sum()
            self.counts[i] += len(label)

    def get(self):
        return (['%s-%d' % (self.name, i) for i in range(self.heads)],
                [total / count if count else float('nan') for total, count in zip(self.sums, self.counts)])


rng = np.random.RandomState(17)
centres = rng.normal(0, 1.2, (5, 10))
label = rng.randint(0, 5, 160)
rows = centres[label] + rng.normal(0, 1, (160, 10))
train = TwoLabels(mx.io.NDArrayIter(mx.nd.array(rows, dtype='float64'), mx.nd.array(label, dtype='float64'),
                                    batch_size=batch_size))
net = build_network()
shapes, out_shapes, _ = net.infer_shape(data=(batch_size, 10))
print('outputs', ' '.join(net.list_outputs()), out_shapes)
arg_params = dict((name, mx.nd.array(rng.normal(0, 0.3, shape), dtype='float64'))
                  for name, shape in zip(net.list_arguments(), shapes) if name.startswith('fc'))

losses = []
metric = MultiCrossEntropy(num=2)
everything = mx.metric.CompositeEvalMetric([MultiCrossEntropy(num=2)])
everything.add(mx.metric.create('acc', output_names=['softmax1_output'], label_names=['softmax1_label'], name='digit'))
everything.add(mx.metric.create('acc', output_names=['softmax2_output'], label_names=['softmax2_label'], name='odd'))


def record(param):
    metric.reset()
    mod.update_metric(metric, param.locals['data_batch'].label)
    losses.extend(metric.get()[1])


mod = mx.mod.Module(context=mx.gpu(0), symbol=net, label_names=('softmax1_label', 'softmax2_label'))
mod.fit(train, eval_metric=everything, num_epoch=2, arg_params=arg_params, optimizer='ftml',
        optimizer_params={'learning_rate': 0.05, 'epsilon': 1e-7, 'wd': 0.001,
                          'lr_scheduler': mx.lr_scheduler.MultiFactorScheduler(step=[3, 7, 15], factor=0.5)},
        batch_end_callback=[record, mx.callback.Speedometer(batch_size, 5)])
for name, value in everything.get_name_value():
    print(name, '%.10g' % value)
mod.save_params('multi_task.params')
print('losses', ' '.join('%.12g' % loss for loss in losses))
