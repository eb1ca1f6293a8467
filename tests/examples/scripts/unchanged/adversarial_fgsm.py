"""Images that mislead a network: a step along the sign of the loss's gradient at the input, then training on them."""
from __future__ import print_function
import mxnet as mx
import numpy as np

batch_size, classes = 12, 4
epsilon = 0.15
devs = [mx.gpu(0), mx.gpu(1)]
rng = np.random.RandomState(29)


def picture_of(which):
    image = np.zeros((1, 8, 8))
    if which % 2:
        image[0, 1 + which:3 + which] = 1
    else:
        image[0, :, 2 + which:4 + which] = 1
    return image


y = rng.randint(0, classes, 10 * batch_size)
X = np.array([picture_of(one) for one in y]) + rng.normal(0, 0.25, (len(y), 1, 8, 8))

data = mx.sym.Variable('data')
conv1 = mx.sym.Convolution(data=data, kernel=(3, 3), num_filter=6, name='conv1')
act1 = mx.sym.Activation(data=conv1, act_type='tanh', name='tanh1')
pool1 = mx.sym.Pooling(data=act1, pool_type='avg', kernel=(2, 2), stride=(2, 2), name='pool1')
fc1 = mx.sym.FullyConnected(data=mx.sym.Flatten(data=pool1), num_hidden=10, name='fc1')
act2 = mx.sym.LeakyReLU(data=fc1, act_type='elu', slope=0.5, name='elu1')
fc2 = mx.sym.FullyConnected(data=act2, num_hidden=classes, name='fc2')
softmax = mx.sym.SoftmaxOutput(data=fc2, name='softmax')

batch_shape = mx.io.DataDesc('data', (batch_size, 1, 8, 8), np.float64)
label_shape = mx.io.DataDesc('softmax_label', (batch_size,), np.float64)
mod = mx.mod.Module(softmax, context=devs)
mod.bind(data_shapes=[batch_shape], label_shapes=[label_shape], inputs_need_grad=True)
shapes, _, _ = softmax.infer_shape(data=batch_shape.shape)
mod.set_params(dict((name, mx.nd.array(rng.normal(0, 0.3, shape), dtype='float64'))
                    for name, shape in zip(softmax.list_arguments(), shapes)
                    if name not in ('data', 'softmax_label')), {})
optimizer = mx.optimizer.SGD(learning_rate=0.3, momentum=0.8, wd=0.001, rescale_grad=1.0 / batch_size,
                             param_idx2name=dict(enumerate(mod._exec_group.param_names)))
optimizer.set_lr_mult({'conv1_weight': 0.5, 'fc2_bias': 2.0})
optimizer.set_wd_mult({'conv1_weight': 0.0})
mod.init_optimizer(kvstore='local', optimizer=optimizer)


def cross_entropy(batch):
    prob = mod.get_outputs()[0].asnumpy()
    label = batch.label[0].asnumpy().astype(np.int)
    return -np.log(prob[np.arange(batch_size), label]).mean()


losses, moved = [], []
for i in range(0, len(y), batch_size):
    batch = mx.io.DataBatch([mx.nd.array(X[i:i + batch_size], dtype='float64')],
                            [mx.nd.array(y[i:i + batch_size], dtype='float64')])
    # what the input's gradient is before anything is learned of this batch
    mod.forward(batch, is_train=True)
    mod.backward()
    clean = cross_entropy(batch)
    slope = mod.get_input_grads()[0]
    moved.append(float(mx.nd.sum(mx.nd.abs(slope)).asscalar()))
    fooling = mx.nd.clip(batch.data[0] + epsilon * mx.nd.sign(slope), -1.0, 2.0)

    adversarial = mx.io.DataBatch([fooling], batch.label)
    mod.forward(adversarial, is_train=True)
    fooled = cross_entropy(adversarial)
    assert fooled > clean
    mod.backward()
    mod.update()
    losses.extend([clean, fooled])

# each device has its part of the gradient of the input
parts = mod.get_input_grads(merge_multi_context=False)[0]
print('parts', [part.shape for part in parts], [str(part.dtype.__name__) for part in parts])
print('slopes', ' '.join('%.10g' % value for value in moved))

# a picture that is optimised until the network is sure, with the weights as they are
probe = mx.nd.array(rng.normal(0.3, 0.1, batch_shape.shape), dtype='float64')
wanted = mx.nd.array(np.arange(batch_size) % classes, dtype='float64')
for step in range(5):
    mod.forward(mx.io.DataBatch([probe], [wanted]), is_train=True)
    mod.backward()
    probe -= 0.5 * mod.get_input_grads()[0]
mod.forward(mx.io.DataBatch([probe], None), is_train=False)
print('sure', ' '.join('%.10g' % value for value in mod.get_outputs()[0].asnumpy().max(axis=1)))
mod.save_params('adversarial_fgsm.params')
mx.nd.save('probe.params', {'probe': probe})
print('losses', ' '.join('%.12g' % loss for loss in losses))
