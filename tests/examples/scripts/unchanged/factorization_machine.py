"""A factorisation machine on csr data, by the identity for sums of squares, with weights of row_sparse storage."""
from __future__ import print_function
import mxnet as mx
import numpy as np


def factorization_machine_model(factor_size, num_features, lr_mult_config, wd_mult_config, init_config):
    x = mx.symbol.Variable("data", stype='csr')
    v = mx.symbol.Variable("v", shape=(num_features, factor_size), init=init_config['v'], stype='row_sparse',
                           lr_mult=lr_mult_config['v'], wd_mult=wd_mult_config['v'])
    w1_weight = mx.symbol.var('w1_weight', shape=(num_features, 1), init=init_config['w1'], stype='row_sparse',
                              lr_mult=lr_mult_config['w1'], wd_mult=wd_mult_config['w1'])
    w1_bias = mx.symbol.var('w1_bias', shape=(1,), init=mx.init.Zero())
    w1 = mx.symbol.broadcast_add(mx.symbol.dot(x, w1_weight), w1_bias)
    v_s = mx.symbol.sum(data=mx.symbol.square(data=v), axis=1, keepdims=True)
    x_s = mx.symbol.square(data=x)
    bd_sum = mx.sym.dot(x_s, v_s)
    w2 = mx.symbol.dot(x, v)
    w2_squared = 0.5 * mx.symbol.square(data=w2)
    w_all = mx.symbol.Concat(w1, w2_squared, dim=1)
    sum1 = mx.symbol.sum(data=w_all, axis=1, keepdims=True)
    sum2 = 0.5 * mx.symbol.negative(bd_sum)
    model = mx.sym.elemwise_add(sum1, sum2)
    y = mx.symbol.Variable("softmax_label")
    return mx.symbol.LogisticRegressionOutput(data=model, label=y)


num_features, factor_size, batch_size = 60, 4, 16
rng = np.random.RandomState(41)
dense = rng.uniform(0, 1, (160, num_features)) * (rng.uniform(0, 1, (160, num_features)) < 0.1)
label = (dense[:, :30].sum(axis=1) > dense[:, 30:].sum(axis=1)).astype(np.float32)
mx.random.seed(41)
init_config = {'v': mx.initializer.Normal(sigma=0.1), 'w1': mx.initializer.Normal(sigma=0.1)}
model = factorization_machine_model(factor_size, num_features, {'v': 1, 'w1': 2.0}, {'v': 0.01, 'w1': 0.01},
                                    init_config)
mod = mx.mod.Module(symbol=model, context=mx.cpu())
mod.bind(data_shapes=[('data', (batch_size, num_features))], label_shapes=[('softmax_label', (batch_size, 1))])
mod.init_params()
optimizer_params = (('learning_rate', 0.5), ('wd', 0.0))
mod.init_optimizer(optimizer='sgd', kvstore=mx.kv.create('local'), optimizer_params=optimizer_params)
losses = []
for i in range(0, 160, batch_size):
    part = mx.nd.array(dense[i:i + batch_size]).tostype('csr')
    batch = mx.io.DataBatch(data=[part], label=[mx.nd.array(label[i:i + batch_size, np.newaxis])])
    row_ids = mx.nd.array(np.unique(part.indices.asnumpy()))
    mod.prepare(batch, sparse_row_id_fn=lambda b: {'v': row_ids, 'w1_weight': row_ids})
    mod.forward_backward(batch)
    p = mod.get_outputs()[0].asnumpy().ravel()
    y = label[i:i + batch_size]
    mod.update()
    losses.append(-(y * np.log(p) + (1 - y) * np.log(1 - p)).mean())
mod.save_params('factorization_machine.params')
print('losses', ' '.join('%.7g' % loss for loss in losses))
