"""An iterator and an operator of one's own: it has a state that training changes, and two outputs. In float64."""
from __future__ import print_function
import mxnet as mx
import numpy as np


class RunningCentre(mx.operator.CustomOp):
    """Subtracts the running mean of each column; its second output is the mean of the squares of a row."""
    def __init__(self, momentum):
        super(RunningCentre, self).__init__()
        self.momentum = momentum

    def forward(self, is_train, req, in_data, out_data, aux):
        x, scale = in_data
        mean, count = aux
        if is_train:
            mean[:] = self.momentum * mean + (1 - self.momentum) * mx.nd.mean(x, axis=0)
            count += 1
        centred = mx.nd.broadcast_sub(x, mean.reshape((1, -1)))
        self.assign(out_data[0], req[0], mx.nd.broadcast_mul(centred, scale.reshape((1, -1))))
        self.assign(out_data[1], req[1], mx.nd.mean(mx.nd.square(centred), axis=1))

    def backward(self, req, out_grad, in_data, out_data, in_grad, aux):
        x, scale = in_data
        centred = mx.nd.broadcast_sub(x, aux[0].reshape((1, -1)))
        # the running mean counts as a constant
        grad_x = mx.nd.broadcast_mul(out_grad[0], scale.reshape((1, -1)))
        grad_x = grad_x + mx.nd.broadcast_mul(centred, out_grad[1].reshape((-1, 1))) * (2.0 / x.shape[1])
        self.assign(in_grad[0], req[0], grad_x)
        self.assign(in_grad[1], req[1], mx.nd.sum(out_grad[0] * centred, axis=0))


@mx.operator.register('running_centre')
class RunningCentreProp(mx.operator.CustomOpProp):
    def __init__(self, momentum='0.9'):
        super(RunningCentreProp, self).__init__(need_top_grad=True)
        self.momentum = float(momentum)

    def list_arguments(self):
        return ['data', 'scale']

    def list_outputs(self):
        return ['output', 'energy']

    def list_auxiliary_states(self):
        return ['moving_mean', 'count']

    def infer_shape(self, in_shape):
        rows, columns = in_shape[0]
        return [in_shape[0], [columns]], [in_shape[0], [rows]], [[columns], [1]]

    def infer_type(self, in_type):
        return [in_type[0]] * 2, [in_type[0]] * 2, [in_type[0]] * 2

    def declare_backward_dependency(self, out_grad, in_data, out_data):
        return list(out_grad) + list(in_data)

    def create_operator(self, ctx, shapes, dtypes):
        return RunningCentre(self.momentum)


class Spirals(mx.io.DataIter):
    """Points on two arms; each epoch the arms have turned. Batches are made one by one when they are asked for."""
    def __init__(self, batch_size, batches):
        super(Spirals, self).__init__(batch_size)
        self.batches, self.epoch, self.current = batches, 0, -1
        self.rng = np.random.RandomState(151)

    @property
    def provide_data(self):
        return [mx.io.DataDesc('points', (self.batch_size, 8), np.float64, layout='NC')]

    @property
    def provide_label(self):
        return [mx.io.DataDesc('arm_label', (self.batch_size,), np.float64, layout='N')]

    def reset(self):
        self.epoch, self.current = self.epoch + 1, -1

    def iter_next(self):
        self.current += 1
        if self.current == self.batches:
            return False
        self.arm = self.rng.randint(0, 2, self.batch_size)
        radius = self.rng.uniform(0.3, 2.0, self.batch_size)
        angle = 1.5 * radius + np.pi * self.arm + 0.4 * self.epoch
        powers = [radius * f(k * angle) for k in (1, 2, 3, 4) for f in (np.cos, np.sin)]
        self.points = np.stack(powers, axis=1) + 2.0
        return True

    def getdata(self):
        return [mx.nd.array(self.points, dtype=np.float64)]

    def getlabel(self):
        return [mx.nd.array(self.arm, dtype=np.float64)]

    def getindex(self):
        return self.current

    def getpad(self):
        return 0


data = mx.sym.Variable('points')
net = mx.sym.FullyConnected(data, num_hidden=12, name='fc1')
centred = mx.sym.Custom(net, name='centre', op_type='running_centre', momentum=0.8)
act = mx.sym.Activation(centred[0], act_type='tanh', name='tanh1')
out = mx.sym.FullyConnected(act, num_hidden=1, name='fc2')
arm = mx.sym.LogisticRegressionOutput(mx.sym.Flatten(out), mx.sym.Variable('arm_label'), name='arm')
energy = mx.sym.MakeLoss(centred[1], grad_scale=0.02, name='energy')
net = mx.sym.Group([arm, energy])
print(net.list_auxiliary_states())

losses = []


def record(param):
    pred, energy = [one.asnumpy() for one in param.locals['self'].get_outputs()]
    label = param.locals['data_batch'].label[0].asnumpy()
    pred = pred.ravel()
    losses.append(-np.where(label > 0, np.log(pred), np.log(1 - pred)).mean() + 0.02 * energy.mean())


start = np.random.RandomState(152)
shapes = {'fc1_weight': (12, 8), 'fc1_bias': (12,), 'centre_scale': (12,), 'fc2_weight': (1, 12), 'fc2_bias': (1,)}
train = Spirals(16, 5)
mod = mx.mod.Module(net, data_names=['points'], label_names=['arm_label'], context=mx.gpu(0))
mod.fit(train, num_epoch=2, optimizer='adamax',
        optimizer_params={'learning_rate': 0.05, 'beta2': 0.99, 'wd': 0.01},
        eval_metric=mx.metric.Loss(output_names=['energy_output'], label_names=[]), initializer=None,
        arg_params={name: mx.nd.array(start.uniform(-0.6, 0.6, shapes[name]), dtype=np.float64)
                    for name in sorted(shapes)},
        aux_params={'centre_moving_mean': mx.nd.zeros((12,), dtype='float64'),
                    'centre_count': mx.nd.zeros((1,), dtype='float64')},
        batch_end_callback=record)
mod.save_params('custom_iter_ops.params')
print('losses', ' '.join('%.12g' % loss for loss in losses))
