"""Ridge regression by SVRG: the gradient of all rows once, and then steps that are corrected by it."""
from __future__ import print_function
import mxnet as mx
import numpy as np
from mxnet.contrib.svrg_optimization.svrg_module import SVRGModule

num_examples, num_features, batch_size = 50, 7, 10


def create_network():
    rng = np.random.RandomState(181)
    train_data = rng.randn(num_examples, num_features) * np.linspace(0.3, 1.5, num_features)
    weights = rng.uniform(-1, 1, num_features)
    train_label = train_data.dot(weights) + 0.1 * rng.randn(num_examples)
    di = mx.io.NDArrayIter(train_data, train_label, batch_size=batch_size, shuffle=False, label_name='lin_reg_label')
    X = mx.sym.Variable('data')
    Y = mx.symbol.Variable('lin_reg_label')
    fc = mx.sym.FullyConnected(data=X, name='fc1', num_hidden=1)
    lro = mx.sym.LinearRegressionOutput(data=fc, label=Y, name='lro')
    mod = SVRGModule(symbol=lro, data_names=['data'], label_names=['lin_reg_label'], update_freq=2, context=mx.gpu(0))
    return di, mod


di, mod = create_network()
mod.bind(data_shapes=di.provide_data, label_shapes=di.provide_label)
start = np.random.RandomState(182)
mod.init_params(initializer=None, allow_missing=False, force_init=False, aux_params={}, arg_params={
    'fc1_weight': mx.nd.array(start.uniform(-0.5, 0.5, (1, num_features))),
    'fc1_bias': mx.nd.array([0.1])})
mod.init_optimizer(kvstore='local', optimizer='sgd', optimizer_params=(
    ('learning_rate', 0.1), ('lr_scheduler', mx.lr_scheduler.FactorScheduler(step=4, factor=0.5)), ('wd', 0.01)))
metrics = mx.metric.create('mse')
losses = []
for e in range(2):
    # an even epoch begins with the gradient of all rows
    if e % mod.update_freq == 0:
        mod.update_full_grads(di)
    di.reset()
    for batch in di:
        mod.forward_backward(data_batch=batch)
        mod.update()
        metrics.reset()
        mod.update_metric(metrics, batch.label)
        losses.append(metrics.get()[1])
mod.save_params('svrg_linear.params')
print('losses', ' '.join('%.7g' % loss for loss in losses))
