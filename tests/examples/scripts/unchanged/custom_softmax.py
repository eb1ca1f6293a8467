"""A softmax as a custom operator, and parameters updated by hand on an executor of simple_bind."""
from __future__ import print_function
import mxnet as mx
import numpy as np


class Softmax(mx.operator.CustomOp):
    def forward(self, is_train, req, in_data, out_data, aux):
        x = in_data[0].asnumpy()
        y = np.exp(x - x.max(axis=1).reshape((x.shape[0], 1)))
        y /= y.sum(axis=1).reshape((x.shape[0], 1))
        self.assign(out_data[0], req[0], mx.nd.array(y))

    def backward(self, req, out_grad, in_data, out_data, in_grad, aux):
        l = in_data[1].asnumpy().ravel().astype(np.int)
        y = out_data[0].asnumpy()
        y[np.arange(l.shape[0]), l] -= 1.0
        self.assign(in_grad[0], req[0], mx.nd.array(y))


@mx.operator.register("softmax")
class SoftmaxProp(mx.operator.CustomOpProp):
    def __init__(self):
        super(SoftmaxProp, self).__init__(need_top_grad=False)

    def list_arguments(self):
        return ['data', 'label']

    def list_outputs(self):
        return ['output']

    def infer_shape(self, in_shape):
        return [in_shape[0], (in_shape[0][0],)], [in_shape[0]], []

    def create_operator(self, ctx, shapes, dtypes):
        return Softmax()


data = mx.symbol.Variable('data')
net = mx.symbol.FullyConnected(data=data, name='fc1', num_hidden=24)
net = mx.symbol.Activation(data=net, name='tanh1', act_type="tanh")
net = mx.symbol.FullyConnected(data=net, name='fc2', num_hidden=6)
net = mx.symbol.Custom(data=net, name='softmax', op_type='softmax')

# pictures came out of binary files
raw = bytes(bytearray((i * 37 + i // 7) % 251 for i in range(100 * 16)))
images = np.fromstring(raw, dtype=np.uint8).reshape(100, 16).astype(np.float32) / 255
labels = (images[:, :6].argmax(axis=1)).astype(np.float32)

mx.random.seed(13)
ctx = mx.gpu()
exe = net.simple_bind(ctx=ctx, data=(10, 16), grad_req='write')
init = mx.init.Xavier()
for name, arr in sorted(exe.arg_dict.items()):
    if name not in ('data', 'softmax_label'):
        init(mx.init.InitDesc(name), arr)
updater = mx.optimizer.get_updater(mx.optimizer.create('rmsprop', learning_rate=0.02, rescale_grad=0.1))
losses = []
for i in range(10):
    exe.arg_dict['data'][:] = images[i * 10:i * 10 + 10]
    exe.arg_dict['softmax_label'][:] = labels[i * 10:i * 10 + 10]
    out = exe.forward(is_train=True)[0].asnumpy()
    exe.backward()
    for index, name in enumerate(net.list_arguments()):
        if name not in ('data', 'softmax_label'):
            updater(index, exe.grad_dict[name], exe.arg_dict[name])
    losses.append(-np.log(out[np.arange(10), labels[i * 10:i * 10 + 10].astype(np.int)]).mean())
mx.nd.save('custom_softmax.params', exe.arg_dict)
print('losses', ' '.join('%.7g' % loss for loss in losses))
