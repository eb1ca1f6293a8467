"""A variational autoencoder whose noise is an input, with a loss made of two parts. In float64."""
from __future__ import print_function
import mxnet as mx
import numpy as np

batch_size, num_pixels, num_hidden, num_latent = 20, 25, 16, 3


def fc(data, num_hidden, name):
    return mx.sym.FullyConnected(data=data, num_hidden=num_hidden, name=name)


data = mx.sym.Variable('data')
noise = mx.sym.Variable('noise')
kl_weight = mx.sym.Variable('kl_weight', shape=(1,))

# encoder
h = mx.sym.Activation(fc(data, num_hidden, 'encoder_h'), act_type='softrelu', name='encoder_act')
mu = fc(h, num_latent, 'encoder_mu')
logvar = fc(h, num_latent, 'encoder_logvar')
# a point near mu, as a function of mu and logvar
z = mu + noise * mx.sym.exp(0.5 * logvar, name='deviation')
# decoder
h = mx.sym.Activation(fc(z, num_hidden, 'decoder_h'), act_type='tanh', name='decoder_act')
logits = fc(h, num_pixels, 'decoder_x')
# -log p(x | z) of pixels that are on or off, written so that nothing overflows
x_loss = mx.sym.sum(mx.sym.maximum(logits, 0) - logits * data + mx.sym.log(1 + mx.sym.exp(-mx.sym.abs(logits))), axis=1)
kl = -0.5 * mx.sym.sum(1 + logvar - mx.sym.square(mu) - mx.sym.exp(logvar), axis=1)
loss = mx.sym.MakeLoss(x_loss + mx.sym.broadcast_mul(kl, kl_weight), name='loss', normalization='batch')
recon = mx.sym.BlockGrad(mx.sym.sigmoid(logits), name='recon')
net = mx.sym.Group([loss, recon, mx.sym.BlockGrad(kl, name='kl')])

# blobs on a field of 5 x 5
rng = np.random.RandomState(111)
centre = rng.uniform(0, 4, (10 * batch_size, 2))
y, x = np.mgrid[:5, :5]
squared = (y - centre[:, 0, None, None]) ** 2 + (x - centre[:, 1, None, None]) ** 2
pixels = (squared < rng.uniform(1.5, 4.0, (10 * batch_size, 1, 1))).astype(np.float64).reshape(-1, num_pixels)
draws = rng.randn(10 * batch_size, num_latent)

names = ('data', 'noise', 'kl_weight')
shapes = [mx.io.DataDesc('data', (batch_size, num_pixels), np.float64),
          mx.io.DataDesc('noise', (batch_size, num_latent), np.float64),
          mx.io.DataDesc('kl_weight', (1,), np.float64, layout='')]
mod = mx.mod.Module(net, data_names=names, label_names=None, context=mx.gpu(0))
mod.bind(data_shapes=shapes)
args = dict(zip(net.list_arguments(), net.infer_shape(**{d.name: d.shape for d in shapes})[0]))
start = np.random.RandomState(112)
mod.init_params(initializer=None, aux_params={}, arg_params={
    name: mx.nd.array(start.randn(*shape) * (0.3 if name.endswith('weight') else 0.01), dtype=np.float64)
    for name, shape in sorted(args.items()) if name not in names})
mod.init_optimizer(kvstore=None, optimizer='adam',
                   optimizer_params={'learning_rate': 0.02, 'beta1': 0.8, 'wd': 1e-3, 'rescale_grad': 1.0})
losses = []
for i in range(10):
    rows = slice(i * batch_size, (i + 1) * batch_size)
    # the second part of the loss counts more and more
    warm_up = mx.nd.array([min(1.0, (i + 1) / 8.0)], dtype=np.float64)
    mod.forward(mx.io.DataBatch([mx.nd.array(pixels[rows], dtype=np.float64),
                                 mx.nd.array(draws[rows], dtype=np.float64), warm_up], []))
    mod.backward()
    mod.update()
    both, seen, distance = mod.get_outputs()
    assert both.dtype == seen.dtype == np.float64 and distance.shape == (batch_size,)
    losses.append(both.asnumpy().mean())
mod.save_params('vae_like.params')
print('losses', ' '.join('%.12g' % loss for loss in losses))
