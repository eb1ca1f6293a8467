"""An autoencoder: Module, regression loss, a Monitor and CSV files."""
from __future__ import print_function
import os
import shutil
import tempfile
import mxnet as mx
import numpy as np

rng = np.random.RandomState(8)
base = rng.randn(4, 12)
X = np.tanh(rng.randn(120, 4).dot(base))
folder = tempfile.mkdtemp()
path = os.path.join(folder, 'train.csv')
np.savetxt(path, X, delimiter=',', fmt='%.6f')
train = mx.io.CSVIter(data_csv=path, data_shape=(12,), label_csv=path, label_shape=(12,), batch_size=12)

data = mx.symbol.Variable('data')
encoder = mx.symbol.FullyConnected(data=data, num_hidden=6, name='encoder_0')
encoder = mx.symbol.Activation(data=encoder, act_type='sigmoid')
decoder = mx.symbol.FullyConnected(data=encoder, num_hidden=12, name='decoder_0')
net = mx.symbol.LinearRegressionOutput(data=decoder, label=mx.symbol.Variable('label'), name='rec')

mx.random.seed(3)
seen = []
mon = mx.mon.Monitor(5, lambda x: mx.nd.norm(x) / np.sqrt(x.size), pattern='.*weight', sort=True)
mod = mx.mod.Module(net, data_names=['data'], label_names=['label'], context=[mx.gpu(0), mx.gpu(1)])
mod.bind(data_shapes=train.provide_data, label_shapes=[('label', (12, 12))])
mod.init_params(mx.init.Normal(0.3))
mod.install_monitor(mon)
mod.init_optimizer(kvstore='local', optimizer='nag', optimizer_params={'learning_rate': 0.3, 'momentum': 0.9})
metric = mx.metric.MSE()
losses = []
for batch in train:
    mon.tic()
    mod.forward(batch, is_train=True)
    metric.reset()
    mod.update_metric(metric, batch.label)
    mod.backward()
    mod.update()
    seen.extend(name for _, name, _ in mon.toc())
    losses.append(metric.get()[1])
shutil.rmtree(folder)
assert 'encoder_0_weight' in seen
mod.save_params('autoencoder.params')
print('losses', ' '.join('%.7g' % loss for loss in losses))
