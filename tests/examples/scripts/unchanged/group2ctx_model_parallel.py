"""Layers on different devices by ctx_group, and rows of a batch on devices of uneven speed."""
from __future__ import print_function
import logging

import mxnet as mx
import numpy as np

logging.basicConfig(level=logging.INFO)
batch_size, num_hidden, seq_len, num_classes = 12, 10, 4, 5


def get_symbol():
    """A table of words and a recurrent layer on one device; a deeper layer and the classes on another."""
    with mx.AttrScope(ctx_group='embed'):
        data = mx.sym.Variable('data')
        # learns slower, and is not decayed
        with mx.AttrScope(lr_mult='0.5', wd_mult='0'):
            table = mx.sym.Variable('embed_weight')
        embed = mx.sym.Embedding(data=data, weight=table, input_dim=20, output_dim=8, name='embed')
        steps = mx.sym.SliceChannel(data=embed, num_outputs=seq_len, squeeze_axis=1)
    hidden = None
    with mx.AttrScope(ctx_group='layer'):
        i2h_weight, i2h_bias = mx.sym.Variable('i2h_weight'), mx.sym.Variable('i2h_bias')
        h2h_weight = mx.sym.Variable('h2h_weight')
        for t in range(seq_len):
            total = mx.sym.FullyConnected(steps[t], i2h_weight, i2h_bias, num_hidden=num_hidden, name='t%d_i2h' % t)
            if hidden is not None:
                total = total + mx.sym.FullyConnected(hidden, h2h_weight, num_hidden=num_hidden, no_bias=True,
                                                      name='t%d_h2h' % t)
            hidden = mx.sym.Activation(total, act_type='tanh', name='t%d_tanh' % t)
    with mx.AttrScope(ctx_group='decode'):
        maxout = mx.sym.FullyConnected(hidden, num_hidden=12, name='maxout')
        maxout = mx.sym.max(mx.sym.Reshape(maxout, shape=(0, 6, 2)), axis=2)
        fc = mx.sym.FullyConnected(maxout, num_hidden=num_classes, name='fc')
        return mx.sym.SoftmaxOutput(fc, name='softmax')


net = get_symbol()
groups = {name: attrs['ctx_group'] for name, attrs in net.attr_dict().items() if 'ctx_group' in attrs}
assert groups['embed_weight'] == 'embed' and groups['fc'] == 'decode', groups

rng = np.random.RandomState(171)
data = rng.randint(0, 20, (5 * batch_size, seq_len))
label = (data[:, 0] + 2 * data[:, -1]) // 4 % num_classes
train = mx.io.NDArrayIter(data, label.astype(np.float32), batch_size)

# two copies of the network: the second is said to do two rows for each row of the first
group2ctxs = {'embed': mx.gpu(0), 'layer': [mx.gpu(1), mx.gpu(2)], 'decode': [mx.gpu(2), mx.gpu(3)]}
mod = mx.mod.Module(net, context=[mx.gpu(0), mx.gpu(1)], work_load_list=[1, 2], group2ctxs=group2ctxs)
mod.bind(data_shapes=train.provide_data, label_shapes=train.provide_label)
shapes = dict(zip(net.list_arguments(), net.infer_shape(**dict(train.provide_data))[0]))
start = np.random.RandomState(172)
mod.init_params(initializer=None, aux_params={}, arg_params={
    name: mx.nd.array(start.uniform(-0.5, 0.5, shape)) for name, shape in sorted(shapes.items())
    if name not in ('data', 'softmax_label')})
mod.init_optimizer(kvstore='local_allreduce_cpu', optimizer='sgd',
                   optimizer_params={'learning_rate': 0.8, 'momentum': 0.7, 'wd': 0.02})
metric = mx.metric.create(['acc', 'ce'])
losses = []
for epoch in range(2):
    train.reset()
    for batch in train:
        mod.forward(batch)
        mod.backward()
        mod.update()
        assert [out.shape[0] for out in mod.get_outputs(merge_multi_context=False)[0]] == [4, 8]
        metric.reset()
        mod.update_metric(metric, batch.label)
        losses.append(dict(metric.get_name_value())['cross-entropy'])
    logging.info('epoch %d: %s', epoch, metric.get_name_value())
mod.save_checkpoint('group2ctx_model_parallel', 2, save_optimizer_states=True)
print('losses', ' '.join('%.7g' % loss for loss in losses))
