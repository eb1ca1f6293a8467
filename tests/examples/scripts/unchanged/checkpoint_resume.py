"""Training that stops after an epoch and goes on from its checkpoint gets where training in one go does."""
from __future__ import print_function
import logging
import os
import shutil
import tempfile

import mxnet as mx
import numpy as np

logging.getLogger().setLevel(logging.INFO)
folder = tempfile.mkdtemp()
batch_size, epochs = 16, 3


def net_symbol():
    net = mx.sym.Variable('data')
    for i, width in enumerate((16, 12)):
        net = mx.sym.FullyConnected(net, num_hidden=width, no_bias=True, name='fc%d' % i)
        net = mx.sym.BatchNorm(net, fix_gamma=False, momentum=0.8, eps=2e-5, name='bn%d' % i)
        net = mx.sym.Activation(net, act_type='softrelu', name='act%d' % i)
    net = mx.sym.FullyConnected(net, num_hidden=3, name='out')
    return mx.sym.SoftmaxOutput(net, name='softmax')


def data_iter():
    rng = np.random.RandomState(41)
    label = rng.randint(0, 3, 5 * batch_size)
    rows = rng.normal(0, 1, (5 * batch_size, 6)) + 1.5 * np.eye(3, 6)[label]
    return mx.io.NDArrayIter(rows, label, batch_size, label_name='softmax_label')


def start():
    rng = np.random.RandomState(42)
    symbol = net_symbol()
    shapes, _, aux_shapes = symbol.infer_shape(data=(batch_size, 6))
    args = dict((name, mx.nd.array(rng.uniform(-0.5, 0.5, shape)))
                for name, shape in zip(symbol.list_arguments(), shapes) if name not in ('data', 'softmax_label'))
    auxs = dict((name, mx.nd.array(rng.uniform(0.5, 1.5, shape)))
                for name, shape in zip(symbol.list_auxiliary_states(), aux_shapes))
    return args, auxs


def recorder(losses):
    metric = mx.metric.create('ce')

    def record(param):
        metric.reset()
        param.locals['self'].update_metric(metric, param.locals['data_batch'].label)
        losses.append(metric.get()[1])
    return record


def optimizer_params():
    return {'learning_rate': 0.05, 'beta1': 0.85, 'wd': 0.001, 'clip_gradient': 1.0}


# in one go, with a checkpoint of parameters and of optimizer states after each epoch
prefix = os.path.join(folder, 'whole')
losses = []
args, auxs = start()
whole = mx.mod.Module(net_symbol(), context=[mx.gpu(0), mx.gpu(1)])
whole.fit(data_iter(), num_epoch=epochs, arg_params=args, aux_params=auxs, kvstore='device',
          optimizer='adam', optimizer_params=optimizer_params(), batch_end_callback=recorder(losses),
          epoch_end_callback=[mx.callback.module_checkpoint(whole, prefix, period=1, save_optimizer_states=True),
                              mx.callback.do_checkpoint(os.path.join(folder, 'plain'), period=2)])
print('files', ' '.join(sorted(os.listdir(folder))))

# stopped after the first epoch: everything comes from files
again = []
resumed = mx.mod.Module.load(prefix, 1, load_optimizer_states=True, context=[mx.gpu(0), mx.gpu(1)])
resumed.fit(data_iter(), begin_epoch=1, num_epoch=epochs, kvstore='device', optimizer='adam',
            optimizer_params=dict(optimizer_params(), begin_num_update=5), batch_end_callback=recorder(again))
for mine, theirs in zip(whole.get_params(), resumed.get_params()):
    assert sorted(mine) == sorted(theirs)
    for name in mine:
        assert np.array_equal(mine[name].asnumpy(), theirs[name].asnumpy()), name
print('resumed', losses[5:] == again)

# without the optimizer's states it gets somewhere else
symbol, arg_params, aux_params = mx.model.load_checkpoint(prefix, 1)
assert symbol.tojson() == net_symbol().tojson()
forgetful = mx.mod.Module(symbol, context=[mx.gpu(0), mx.gpu(1)])
other = []
forgetful.fit(data_iter(), begin_epoch=1, num_epoch=epochs, arg_params=arg_params, aux_params=aux_params,
              kvstore='device', optimizer='adam', optimizer_params=optimizer_params(),
              batch_end_callback=recorder(other))
print('forgetful', ' '.join('%.7g' % loss for loss in other))

# the file of the old interface is the same file
model = mx.model.FeedForward.load(os.path.join(folder, 'plain'), 2, ctx=mx.gpu(0), numpy_batch_size=batch_size)
found = model.predict(data_iter())
bound = mx.mod.Module.load(prefix, 2, context=mx.gpu(0))
bound.bind(data_shapes=data_iter().provide_data, for_training=False)
assert np.allclose(found, bound.predict(data_iter()).asnumpy(), rtol=1e-5)
print('predicted', ' '.join('%.7g' % value for value in found[:3].ravel()))
shutil.rmtree(folder)
mx.nd.waitall()
whole.save_params('whole.params')
forgetful.save_params('forgetful.params')
print('losses', ' '.join('%.7g' % loss for loss in losses))
