"""Looking into a network while it learns: what a Monitor says of outputs, weights and gradients, batch by batch."""
from __future__ import print_function
import logging

import mxnet as mx
import numpy as np

logging.getLogger().setLevel(logging.INFO)
batch_size = 10


def build():
    data = mx.sym.Variable('data')
    net = mx.sym.Convolution(data, num_filter=4, kernel=(3, 3), name='conv1')
    net = mx.sym.BatchNorm(net, fix_gamma=False, momentum=0.9, name='bn1')
    net = mx.sym.Activation(net, act_type='relu', name='relu1')
    net = mx.sym.Pooling(net, kernel=(2, 2), stride=(2, 2), pool_type='max', name='pool1')
    left, right = mx.sym.SliceChannel(mx.sym.Flatten(net, name='flat1'), num_outputs=2, name='halves')
    net = mx.sym.FullyConnected(left * mx.sym.sigmoid(right, name='gate'), num_hidden=3, name='fc1')
    return mx.sym.SoftmaxOutput(net, name='softmax')


def norm_stat(d):
    """The asymptotic norm that the documentation of Monitor gives as its example."""
    return mx.nd.norm(d) / np.sqrt(d.size)


def extremes(d):
    return [mx.nd.min(d), mx.nd.max(d)]


rng = np.random.RandomState(103)
net = build()
label = rng.randint(0, 3, 10 * batch_size)
images = rng.normal(0, 0.3, (10 * batch_size, 1, 6, 6))
images[np.arange(len(label)), 0, label * 2, :] += 1.0
train = mx.io.NDArrayIter(images, label, batch_size)
shapes, _, aux_shapes = net.infer_shape(data=(batch_size, 1, 6, 6))
args = dict((name, mx.nd.array(rng.uniform(0.2, 0.6, shape) if 'gamma' in name else rng.normal(0, 0.4, shape)))
            for name, shape in zip(net.list_arguments(), shapes) if name not in ('data', 'softmax_label'))
auxs = dict((name, mx.nd.array(rng.uniform(0.5, 1.0, shape)))
            for name, shape in zip(net.list_auxiliary_states(), aux_shapes))
internals = net.get_internals().list_outputs()
print('internals', ' '.join(internals))

# in fit, every third batch, sorted by name; what it logs is kept to be printed
class Lines(logging.Handler):
    def __init__(self):
        logging.Handler.__init__(self)
        self.lines = []

    def emit(self, record):
        if record.getMessage().startswith('Batch:'):
            self.lines.append(record.getMessage())


lines = Lines()
logging.getLogger().addHandler(lines)
mon = mx.mon.Monitor(3, norm_stat, pattern='.*(output|weight|gamma|moving_var)$', sort=True)
metric = mx.metric.CrossEntropy()
losses = []


def record(param):
    metric.reset()
    mod.update_metric(metric, param.locals['data_batch'].label)
    losses.append(metric.get()[1])


mod = mx.mod.Module(net, context=mx.gpu(0))
mod.fit(train, num_epoch=1, monitor=mon, arg_params=args, aux_params=auxs, batch_end_callback=record,
        optimizer='sgd', optimizer_params={'learning_rate': 0.2, 'momentum': 0.9})
logging.getLogger().removeHandler(lines)
for line in lines.lines:
    _, number, name, values = line.split(None, 3)
    # what the forward pass gave, and weights; a moving variance may be that of before or of after the batch
    if name in internals and 'moving' not in name:
        print('batch', number, name, values.strip())

# by hand on an executor: what goes into each operator too, several numbers for each array
exe = net.simple_bind(ctx=mx.gpu(0), data=(batch_size, 1, 6, 6), grad_req='write')
mx.nd.waitall()
exe.copy_params_from(*mod.get_params())
watch = mx.mon.Monitor(1, stat_func=extremes, pattern='.*', sort=False, monitor_all=True)
watch.install(exe)
exe.arg_dict['data'][:] = images[:batch_size]
exe.arg_dict['softmax_label'][:] = label[:batch_size]
watch.tic()
exe.forward(is_train=True)
for number, name, values in watch.toc():
    # what BatchNorm and Pooling keep for themselves is not of interest
    if not name.endswith(('_mean', '_var', '_workspace')):
        print('step', number, name, values.strip())

# only what the pattern says, without numbers when nothing was asked for
quiet = mx.mon.Monitor(2, pattern='fc1.*')
quiet.install(exe)
for i in range(3):
    quiet.tic()
    exe.forward(is_train=False)
    found = quiet.toc()
    print('quiet', i, [name for _, name, _ in found], ' '.join(value.strip() for _, _, value in found))
mod.save_params('monitor_debug.params')
print('losses', ' '.join('%.7g' % loss for loss in losses))
