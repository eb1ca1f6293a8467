"""Two modules against each other, as dcgan.py did: a generator learns from the input gradients of its opponent."""
from __future__ import print_function
import mxnet as mx
import numpy as np


def make_dcgan_sym(ngf, ndf, nc, no_bias=True, fix_gamma=True, eps=1e-5 + 1e-12):
    BatchNorm = mx.sym.BatchNorm
    rand = mx.sym.Variable('rand')
    g1 = mx.sym.Deconvolution(rand, name='g1', kernel=(4, 4), num_filter=ngf * 2, no_bias=no_bias)
    gbn1 = BatchNorm(g1, name='gbn1', fix_gamma=fix_gamma, eps=eps)
    gact1 = mx.sym.Activation(gbn1, name='gact1', act_type='relu')
    g2 = mx.sym.Deconvolution(gact1, name='g2', kernel=(4, 4), stride=(2, 2), pad=(1, 1),
                              num_filter=nc, no_bias=no_bias)
    gout = mx.sym.Activation(g2, name='gact2', act_type='tanh')

    data = mx.sym.Variable('data')
    label = mx.sym.Variable('label')
    d1 = mx.sym.Convolution(data, name='d1', kernel=(4, 4), stride=(2, 2), pad=(1, 1), num_filter=ndf, no_bias=no_bias)
    dact1 = mx.sym.LeakyReLU(d1, name='dact1', act_type='leaky', slope=0.2)
    d2 = mx.sym.Convolution(dact1, name='d2', kernel=(4, 4), num_filter=1, no_bias=no_bias)
    d2 = mx.sym.Flatten(d2)
    dloss = mx.sym.LogisticRegressionOutput(data=d2, label=label, name='dloss')
    return gout, dloss


class RandIter(mx.io.DataIter):
    def __init__(self, batch_size, ndim):
        self.batch_size = batch_size
        self.ndim = ndim
        self.provide_data = [('rand', (batch_size, ndim, 1, 1))]
        self.provide_label = []

    def iter_next(self):
        return True

    def getdata(self):
        return [mx.random.normal(0, 1.0, shape=(self.batch_size, self.ndim, 1, 1))]


mx.random.seed(1)
np.random.seed(1)
ndf, ngf, nc, batch_size, Z = 8, 8, 1, 16, 6
ctx = mx.gpu(0)
symG, symD = make_dcgan_sym(ngf, ndf, nc)
X = np.tile(np.sin(np.arange(8) / 2.0), (160, 1, 8, 1)) + np.random.normal(0, 0.05, (160, 1, 8, 8))
train_iter = mx.io.NDArrayIter(X, batch_size=batch_size)
rand_iter = RandIter(batch_size, Z)
label = mx.nd.zeros((batch_size, 1), ctx=ctx)

modG = mx.mod.Module(symbol=symG, data_names=('rand',), label_names=None, context=ctx)
modG.bind(data_shapes=rand_iter.provide_data)
modG.init_params(initializer=mx.init.Normal(0.02))
modG.init_optimizer(optimizer='adam', optimizer_params={'learning_rate': 0.002, 'wd': 0., 'beta1': 0.5})

modD = mx.mod.Module(symbol=symD, data_names=('data',), label_names=('label',), context=ctx)
modD.bind(data_shapes=train_iter.provide_data, label_shapes=[('label', (batch_size, 1))], inputs_need_grad=True)
modD.init_params(initializer=mx.init.Normal(0.02))
modD.init_optimizer(optimizer='adam', optimizer_params={'learning_rate': 0.002, 'wd': 0., 'beta1': 0.5})


def entropy(label, pred):
    label, pred = label.ravel(), pred.ravel()
    return -(label * np.log(pred + 1e-12) + (1. - label) * np.log(1. - pred + 1e-12)).mean()


losses = []
train_iter.reset()
for t, batch in enumerate(train_iter):
    rbatch = rand_iter.next()
    modG.forward(rbatch, is_train=True)
    outG = modG.get_outputs()

    # the opponent on what was made
    label[:] = 0
    modD.forward(mx.io.DataBatch(outG, [label]), is_train=True)
    modD.backward()
    gradD = [[grad.copyto(grad.context) for grad in grads] for grads in modD._exec_group.grad_arrays]
    fake = entropy(label.asnumpy(), modD.get_outputs()[0].asnumpy())

    # and on what is real
    label[:] = 1
    batch.label = [label]
    modD.forward(batch, is_train=True)
    modD.backward()
    for gradsr, gradsf in zip(modD._exec_group.grad_arrays, gradD):
        for gradr, gradf in zip(gradsr, gradsf):
            gradr += gradf
    modD.update()
    real = entropy(label.asnumpy(), modD.get_outputs()[0].asnumpy())

    # the generator
    label[:] = 1
    modD.forward(mx.io.DataBatch(outG, [label]), is_train=True)
    modD.backward()
    diffD = modD.get_input_grads()
    modG.backward(diffD)
    modG.update()
    losses.append((fake + real) / 2)
mx.nd.waitall()
modG.save_params('generator.params')
modD.save_params('discriminator.params')
print('losses', ' '.join('%.7g' % loss for loss in losses))
