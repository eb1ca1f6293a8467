"""A line fitted by workers that take turns with a dist_async store; the optimizer runs on the servers. In float64."""
from __future__ import print_function
import mxnet as mx
import numpy as np

num_features, num_examples, batch_size, num_steps = 6, 200, 8, 10
params = ['weight', 'bias']


def robust_line():
    """Large errors count less than squared, and the absolute weights count a little."""
    data = mx.sym.Variable('data')
    target = mx.sym.Variable('target')
    weight = mx.sym.Variable('weight', shape=(1, num_features))
    bias = mx.sym.Variable('bias', shape=(1,))
    line = mx.sym.broadcast_add(mx.sym.dot(data, weight, transpose_b=True), bias)
    error = mx.sym.mean(mx.sym.log1p(mx.sym.square(line - target)))
    return mx.sym.MakeLoss(error + 0.01 * mx.sym.sum(mx.sym.abs(weight)), name='loss')


def bind(rows, is_train):
    return robust_line().simple_bind(
        mx.gpu(0), data=(rows, num_features), target=(rows, 1),
        type_dict={name: np.float64 for name in ['data', 'target'] + params},
        grad_req={name: 'write' if is_train and name in params else 'null' for name in ['data', 'target'] + params})


rng = np.random.RandomState(81)
truth = rng.randn(num_features, 1)
data = rng.randn(num_examples, num_features)
target = data.dot(truth) + 0.5 + 0.1 * rng.randn(num_examples, 1)
draws = rng.uniform(size=(num_steps, batch_size))
start = [rng.uniform(-0.1, 0.1, shape) for shape in ((1, num_features), (1,))]

kv = mx.kv.create('dist_async')
mine = np.arange(kv.rank, num_examples, kv.num_workers)  # a worker's own rows
optimizer = mx.optimizer.create('sgd', learning_rate=0.2, momentum=0.8, wd=0.01, param_idx2name=dict(enumerate(params)))
optimizer.set_lr_mult({'bias': 2.0})
kv.set_optimizer(optimizer)
keys = list(range(len(params)))
kv.init(keys, [mx.nd.array(value, dtype=np.float64) for value in start])

exe = bind(batch_size, True)
everything = bind(num_examples, False)
everything.arg_dict['data'][:] = data
everything.arg_dict['target'][:] = target
losses = []
for step in range(num_steps):
    if step % kv.num_workers == kv.rank:
        # my turn: the newest weights, and the gradient of a batch
        kv.pull(keys, out=[exe.arg_dict[name] for name in params])
        rows = mine[(draws[step] * len(mine)).astype(np.int)]
        exe.arg_dict['data'][:] = data[rows]
        exe.arg_dict['target'][:] = target[rows]
        exe.forward(is_train=True)
        exe.backward()
        for key, name in enumerate(params):
            kv.push(key, exe.grad_dict[name], priority=-key)
        # weights come back when the gradient has arrived
        kv.pull(keys, out=[exe.arg_dict[name] for name in params])
        mx.nd.waitall()
    kv._barrier()
    kv.pull(keys, out=[everything.arg_dict[name] for name in params])
    losses.append(everything.forward(is_train=False)[0].asnumpy().item())
    kv._barrier()

if kv.rank == 0:
    mx.nd.save('dist_async_linear.params', {name: everything.arg_dict[name] for name in params})
    print('losses', ' '.join('%.12g' % loss for loss in losses))
