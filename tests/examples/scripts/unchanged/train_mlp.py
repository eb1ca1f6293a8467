"""Train a multi-layer perceptron with Module on several GPUs."""
from __future__ import print_function
import argparse
import logging

import numpy as np
import mxnet as mx

logging.basicConfig(level=logging.INFO)

parser = argparse.ArgumentParser(description='train an MLP')
parser.add_argument('--gpus', type=str, default='0,1', help='which gpus to use, e.g. 0,1')
parser.add_argument('--batch-size', type=int, default=32)
parser.add_argument('--lr', type=float, default=0.1)
parser.add_argument('--kv-store', type=str, default='device')
args = parser.parse_args()


def get_mlp():
    data = mx.symbol.Variable('data')
    fc1 = mx.symbol.FullyConnected(data=data, name='fc1', num_hidden=64)
    act1 = mx.symbol.Activation(data=fc1, name='relu1', act_type="relu")
    fc2 = mx.symbol.FullyConnected(data=act1, name='fc2', num_hidden=32)
    act2 = mx.symbol.Activation(data=fc2, name='relu2', act_type="relu")
    drop = mx.symbol.Dropout(data=act2, p=0.0)
    fc3 = mx.symbol.FullyConnected(data=drop, name='fc3', num_hidden=10)
    return mx.symbol.SoftmaxOutput(data=fc3, name='softmax')


def get_iterator(batch_size):
    rng = np.random.RandomState(1)
    centres = rng.randn(10, 20) * 1.5
    label = rng.randint(0, 10, 320).astype(np.int)
    data = (centres[label] + rng.randn(320, 20)).astype(np.float)
    return mx.io.NDArrayIter(data, label.astype(np.float), batch_size, shuffle=False,
                             label_name='softmax_label')


class LossRecorder(object):
    """Mean cross-entropy of each batch."""
    def __init__(self):
        self.metric = mx.metric.CrossEntropy()
        self.losses = []

    def __call__(self, param):
        batch = param.locals['data_batch']
        self.metric.reset()
        param.locals['self'].update_metric(self.metric, batch.label)
        self.losses.append(self.metric.get()[1])


mx.random.seed(7)
devs = mx.cpu() if args.gpus == '' else [mx.gpu(int(i)) for i in args.gpus.split(',')]
recorder = LossRecorder()
mod = mx.mod.Module(symbol=get_mlp(), context=devs)
mod.fit(get_iterator(args.batch_size),
        num_epoch=1,
        kvstore=args.kv_store,
        optimizer='sgd',
        optimizer_params={'learning_rate': args.lr, 'momentum': 0.9, 'wd': 0.0001,
                          'lr_scheduler': mx.lr_scheduler.FactorScheduler(step=5, factor=0.5)},
        initializer=mx.init.Xavier(rnd_type='gaussian', factor_type="in", magnitude=2),
        batch_end_callback=[mx.callback.Speedometer(args.batch_size, 5), recorder])
mod.save_params('train_mlp.params')
print('losses', ' '.join('%.7g' % loss for loss in recorder.losses))
