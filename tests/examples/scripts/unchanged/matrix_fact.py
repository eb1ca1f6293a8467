"""Matrix factorisation in float64: two embeddings, their product, a custom metric, several inputs."""
from __future__ import print_function
import mxnet as mx
import numpy as np

k, max_user, max_item, batch_size = 5, 20, 15, 25
user = mx.symbol.Variable('user')
item = mx.symbol.Variable('item')
score = mx.symbol.Variable('score', dtype='float64')
user_weight = mx.symbol.Variable('user_weight', dtype='float64')
item_weight = mx.symbol.Variable('item_weight', dtype='float64')
user = mx.symbol.Embedding(data=user, weight=user_weight, input_dim=max_user, output_dim=k, dtype='float64')
item = mx.symbol.Embedding(data=item, weight=item_weight, input_dim=max_item, output_dim=k, dtype='float64')
pred = user * item
pred = mx.symbol.sum_axis(data=pred, axis=1)
pred = mx.symbol.Flatten(data=pred)
pred = mx.symbol.LinearRegressionOutput(data=pred, label=score)

rng = np.random.RandomState(51)
P, Q = rng.randn(max_user, 2), rng.randn(max_item, 2)
u, v = rng.randint(0, max_user, 250), rng.randint(0, max_item, 250)
s = (P[u] * Q[v]).sum(axis=1)

mx.random.seed(51)
exe = pred.simple_bind(mx.gpu(0), user=(batch_size,), item=(batch_size,), score=(batch_size,),
                       type_dict={'user': np.float64, 'item': np.float64, 'score': np.float64,
                                  'user_weight': np.float64, 'item_weight': np.float64},
                       grad_req={'user': 'null', 'item': 'null', 'score': 'null', 'user_weight': 'write',
                                 'item_weight': 'write'})
start = np.random.RandomState(52)
for name in ('user_weight', 'item_weight'):
    exe.arg_dict[name][:] = start.uniform(-0.8, 0.8, exe.arg_dict[name].shape)
opt = mx.optimizer.SGD(learning_rate=0.5, momentum=0.9, wd=0.0001, rescale_grad=1.0 / batch_size)
updater = mx.optimizer.get_updater(opt)


def RMSE(label, pred):
    return np.sqrt(np.mean(np.square(label.flatten() - pred.flatten())))


losses = []
for i in range(0, 250, batch_size):
    exe.arg_dict['user'][:] = u[i:i + batch_size]
    exe.arg_dict['item'][:] = v[i:i + batch_size]
    exe.arg_dict['score'][:] = s[i:i + batch_size]
    exe.forward(is_train=True)
    exe.backward()
    for index, name in enumerate(('user_weight', 'item_weight')):
        updater(index, exe.grad_dict[name], exe.arg_dict[name])
    losses.append(RMSE(s[i:i + batch_size], exe.outputs[0].asnumpy()))
mx.nd.save('matrix_fact.params', exe.arg_dict)
print('losses', ' '.join('%.12g' % loss for loss in losses))
