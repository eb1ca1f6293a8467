"""Data-parallel training over several workers with a dist_sync store; each worker reads its part of the data."""
from __future__ import print_function
import argparse
import logging

import mxnet as mx
import numpy as np

parser = argparse.ArgumentParser(description='train an MLP on several machines')
parser.add_argument('--kv-store', type=str, default='dist_sync')
parser.add_argument('--batch-size', type=int, default=16, help='of one worker')
parser.add_argument('--lr', type=float, default=0.2)
parser.add_argument('--model-prefix', type=str, default='dist_sync_mlp')
args = parser.parse_args()

kv = mx.kvstore.create(args.kv_store)
logging.basicConfig(level=logging.INFO, format='%(asctime)-15s Node[' + str(kv.rank) + '] %(message)s')


def get_symbol():
    net = mx.sym.Variable('data')
    for i, hidden in enumerate((24, 16)):
        net = mx.sym.FullyConnected(net, num_hidden=hidden, name='fc%d' % (i + 1))
        net = mx.sym.BatchNorm(net, fix_gamma=(i == 0), name='bn%d' % (i + 1))
        net = mx.sym.Activation(net, act_type='relu', name='relu%d' % (i + 1))
    net = mx.sym.FullyConnected(net, num_hidden=6, name='fc3')
    return mx.sym.SoftmaxOutput(net, name='softmax')


def get_iter(kv, batch_size):
    """The worker's own rows: one part of num_workers."""
    rng = np.random.RandomState(71)
    num_examples = 5 * batch_size * kv.num_workers
    label = rng.randint(0, 6, num_examples)
    data = rng.randn(6, 12)[label] + rng.randn(num_examples, 12) * 0.7
    part = num_examples // kv.num_workers
    mine = slice(kv.rank * part, (kv.rank + 1) * part)
    return mx.io.NDArrayIter(data[mine].astype(np.float32), label[mine].astype(np.float32), batch_size)


def start(net, batch_size):
    """Weights that differ from worker to worker: those of rank 0 hold."""
    rng = np.random.RandomState(72 + kv.rank)
    shapes, _, aux_shapes = net.infer_shape(data=(batch_size, 12))
    arg_params = {}
    for name, shape in zip(net.list_arguments(), shapes):
        if name.endswith('gamma'):
            arg_params[name] = mx.nd.ones(shape)
        elif name not in ('data', 'softmax_label'):
            arg_params[name] = mx.nd.array(rng.uniform(-0.4, 0.4, shape) * name.endswith('weight'))
    aux_params = {name: mx.nd.array(np.full(shape, name.endswith('var')))
                  for name, shape in zip(net.list_auxiliary_states(), aux_shapes)}
    return arg_params, aux_params


losses = []


def record(param):
    mx.nd.waitall()  # also for the moving means
    loss = mx.metric.CrossEntropy()
    param.locals['self'].update_metric(loss, param.locals['data_batch'].label)
    losses.append(loss.get()[1])


net = get_symbol()
train = get_iter(kv, args.batch_size)
arg_params, aux_params = start(net, args.batch_size)
prefix = args.model_prefix if kv.rank == 0 else '%s-%d' % (args.model_prefix, kv.rank)
epoch_size = 5
model = mx.mod.Module(context=[mx.gpu(0), mx.gpu(1)], symbol=net)
model.fit(train,
          num_epoch=2,
          kvstore=kv,
          eval_metric=['accuracy', mx.metric.TopKAccuracy(top_k=3)],
          optimizer='sgd',
          optimizer_params={'learning_rate': args.lr, 'momentum': 0.9, 'wd': 0.001,
                            'lr_scheduler': mx.lr_scheduler.MultiFactorScheduler(step=[epoch_size], factor=0.1)},
          initializer=None,
          arg_params=arg_params,
          aux_params=aux_params,
          batch_end_callback=[mx.callback.Speedometer(args.batch_size, 2), record],
          epoch_end_callback=mx.callback.do_checkpoint(prefix, 2))
kv._barrier()
if kv.rank == 0:
    print('losses', ' '.join('%.7g' % loss for loss in losses))
