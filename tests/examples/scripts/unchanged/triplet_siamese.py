"""Three pictures through one network: two alike have to be nearer than two that differ. In float64."""
from __future__ import print_function
import mxnet as mx
import numpy as np

batch_size, num_embed, margin = 12, 6, 0.4
shared = {name: mx.sym.Variable(name) for name in
          ('conv1_weight', 'conv1_bias', 'conv2_weight', 'conv2_bias', 'fc_weight', 'fc_bias')}


def branch(data, prefix):
    """The layers once more, with the same variables."""
    net = mx.sym.Convolution(data, weight=shared['conv1_weight'], bias=shared['conv1_bias'], kernel=(3, 3),
                             num_filter=6, name=prefix + 'conv1')
    net = mx.sym.LeakyReLU(net, act_type='leaky', slope=0.25, name=prefix + 'leaky1')
    net = mx.sym.Pooling(net, pool_type='max', kernel=(2, 2), stride=(2, 2), name=prefix + 'pool1')
    net = mx.sym.Convolution(net, weight=shared['conv2_weight'], bias=shared['conv2_bias'], kernel=(2, 2),
                             dilate=(2, 2), num_filter=8, num_group=2, name=prefix + 'conv2')
    net = mx.sym.Activation(net, act_type='softsign', name=prefix + 'act2')
    net = mx.sym.FullyConnected(net, weight=shared['fc_weight'], bias=shared['fc_bias'], num_hidden=num_embed,
                                name=prefix + 'fc')
    return mx.sym.L2Normalization(net, mode='instance', eps=1e-8, name=prefix + 'embedding')


anchor = branch(mx.sym.Variable('anchor'), 'anchor_')
same = branch(mx.sym.Variable('same'), 'same_')
different = branch(mx.sym.Variable('different'), 'different_')
near = mx.sym.sum(mx.sym.square(anchor - same), axis=1, keepdims=1)
far = mx.sym.sum(mx.sym.square(anchor - different), axis=1, keepdims=1)
loss = mx.sym.Activation(margin + near - far, act_type='relu', name='hinge')
net = mx.sym.Group([mx.sym.MakeLoss(loss, grad_scale=1.0 / batch_size, name='triplet'),
                    mx.sym.BlockGrad(mx.sym.Concat(near, far, dim=1), name='distances')])

rng = np.random.RandomState(131)
prototypes = rng.randn(5, 1, 10, 10)


def picture(kind):
    return mx.nd.array(prototypes[kind] + rng.randn(len(kind), 1, 10, 10) * 0.8, dtype=np.float64)


first = rng.randint(0, 5, 10 * batch_size)
other = (first + rng.randint(1, 5, 10 * batch_size)) % 5
train = mx.io.NDArrayIter({'anchor': picture(first), 'same': picture(first), 'different': picture(other)}, None,
                          batch_size)


def triplet_loss(label, pred):
    """mx.metric.np wraps it; there is no label, so the distances stand for both."""
    return np.maximum(margin + pred[:, 0] - pred[:, 1], 0).mean()


ranked = mx.metric.CustomMetric(lambda label, pred: (np.sum(pred[:, 0] < pred[:, 1]), len(pred)), name='ranked')
metric = mx.metric.CompositeEvalMetric([mx.metric.np(triplet_loss), ranked])

context = mx.gpu(0)
mod = mx.mod.Module(net, data_names=['anchor', 'same', 'different'], label_names=None, context=context,
                    fixed_param_names=['conv1_bias'])
mod.bind(data_shapes=train.provide_data)
shapes = dict(zip(net.list_arguments(), net.infer_shape(**{d.name: d.shape for d in train.provide_data})[0]))
start = np.random.RandomState(132)
mod.init_params(initializer=None, aux_params={}, arg_params={
    name: mx.nd.array(start.randn(*shapes[name]) * 0.3, dtype=np.float64) for name in sorted(shared)})
mod.init_optimizer(optimizer='nag', optimizer_params={
    'learning_rate': 0.3, 'momentum': 0.9, 'rescale_grad': 1.0, 'clip_gradient': 0.2,
    'lr_scheduler': mx.lr_scheduler.PolyScheduler(max_update=12, base_lr=0.3, pwr=2)})
losses = []
for batch in train:
    mod.forward_backward(batch)
    mod.update()
    distances = mod.get_outputs()[1]
    metric.reset()
    metric.update([distances], [distances])
    losses.append(metric.get()[1][0])

# one branch alone, from the inner outputs, with the trained weights
embedding = net.get_internals()['anchor_embedding_output']
alone = mx.mod.Module(embedding, data_names=['anchor'], label_names=None, context=context)
alone.bind(data_shapes=[mx.io.DataDesc('anchor', (5, 1, 10, 10), np.float64)], for_training=False)
alone.set_params(*mod.get_params())
alone.forward(mx.io.DataBatch([mx.nd.array(prototypes, dtype=np.float64)]), is_train=False)
mx.nd.save('prototypes.params', {'embedding': alone.get_outputs()[0]})
mod.save_params('triplet_siamese.params')
print('hinge %.6g ranked %.6g' % tuple(metric.get()[1]))
print('losses', ' '.join('%.12g' % loss for loss in losses))
