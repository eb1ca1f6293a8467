"""Reading digits in a picture, column by column: an unrolled LSTM whose states are inputs, and CTC."""
from __future__ import print_function
from collections import namedtuple

import mxnet as mx
import numpy as np

LSTMState = namedtuple('LSTMState', ['c', 'h'])
LSTMParam = namedtuple('LSTMParam', ['i2h_weight', 'i2h_bias', 'h2h_weight', 'h2h_bias'])
batch_size, num_columns, num_rows, num_digits, num_hidden, num_layer, num_classes = 8, 12, 6, 3, 16, 2, 6


def lstm(indata, prev, param, seqidx, layeridx):
    """One step of LSTM."""
    i2h = mx.sym.FullyConnected(data=indata, weight=param.i2h_weight, bias=param.i2h_bias, num_hidden=num_hidden * 4,
                                name='t%d_l%d_i2h' % (seqidx, layeridx))
    h2h = mx.sym.FullyConnected(data=prev.h, weight=param.h2h_weight, bias=param.h2h_bias, num_hidden=num_hidden * 4,
                                name='t%d_l%d_h2h' % (seqidx, layeridx))
    gates = mx.sym.SliceChannel(i2h + h2h, num_outputs=4, name='t%d_l%d_slice' % (seqidx, layeridx))
    write, forget, out = [mx.sym.Activation(gates[i], act_type='sigmoid') for i in (0, 2, 3)]
    candidate = mx.sym.Activation(gates[1], act_type='tanh')
    c = forget * prev.c + write * candidate
    return LSTMState(c=c, h=out * mx.sym.Activation(c, act_type='tanh'))


def lstm_unroll():
    params = [LSTMParam(*[mx.sym.Variable('l%d_%s' % (i, name)) for name in LSTMParam._fields])
              for i in range(num_layer)]
    states = [LSTMState(mx.sym.Variable('l%d_init_c' % i), mx.sym.Variable('l%d_init_h' % i))
              for i in range(num_layer)]
    columns = mx.sym.SliceChannel(data=mx.sym.Variable('data'), num_outputs=num_columns, squeeze_axis=True)
    hidden_all = []
    for t in range(num_columns):
        hidden = columns[t]
        for i in range(num_layer):
            states[i] = lstm(hidden, states[i], params[i], t, i)
            hidden = states[i].h
        hidden_all.append(hidden)
    pred = mx.sym.FullyConnected(data=mx.sym.Concat(*hidden_all, dim=0), num_hidden=num_classes, name='pred')
    pred_ctc = mx.sym.Reshape(data=pred, shape=(num_columns, -1, num_classes))  # columns, rows of a batch, classes
    # 0 is the blank, and fills up short labels
    loss = mx.sym.MakeLoss(mx.sym.contrib.ctc_loss(data=pred_ctc, label=mx.sym.Variable('label'), name='ctc'))
    softmax = mx.sym.BlockGrad(mx.sym.SoftmaxActivation(pred), name='softmax')
    return mx.sym.Group([softmax, loss] + [mx.sym.BlockGrad(state.h) for state in states])


class OCRIter(mx.io.DataIter):
    """Pictures of 2 or 3 digits, and the first states."""
    def __init__(self, count, init_states):
        super(OCRIter, self).__init__()
        self.batch_size, self.count, self.cursor = batch_size, count, 0
        self.init_names, self.init_shapes = zip(*init_states)
        self.provide_data = [('data', (batch_size, num_columns, num_rows))] + list(init_states)
        self.provide_label = [('label', (batch_size, num_digits))]
        self.rng = np.random.RandomState(141)
        self.font = self.rng.uniform(0, 1, (num_classes, 2, num_rows)) > 0.5

    def next(self):
        if self.cursor == self.count:
            raise StopIteration
        self.cursor += 1
        data = self.rng.uniform(0, 0.2, (batch_size, num_columns, num_rows))
        label = np.zeros((batch_size, num_digits))
        for row in range(batch_size):
            digits = self.rng.randint(1, num_classes, self.rng.randint(2, num_digits + 1))
            label[row, :len(digits)] = digits
            for place, digit in enumerate(digits):
                left = 4 * place + self.rng.randint(0, 3)
                data[row, left:left + 2] += self.font[digit]
        states = [mx.nd.zeros(shape) for shape in self.init_shapes]
        return mx.io.DataBatch(data=[mx.nd.array(data)] + states, label=[mx.nd.array(label)], pad=0)

    def reset(self):
        self.cursor = 0


def best_path(prob):
    """Labels along the most probable path, without repetitions and blanks."""
    path = prob.argmax(axis=1)
    return [int(c) for i, c in enumerate(path) if c and (i == 0 or c != path[i - 1])]


def accuracy(label, pred):
    """Rows that were read right, from the softmax alone."""
    pred = pred.reshape(num_columns, -1, num_classes)
    return np.mean([best_path(pred[:, i]) == [int(c) for c in label[i] if c] for i in range(len(label))])


init_states = [('l%d_init_%s' % (i, s), (batch_size, num_hidden)) for s in 'ch' for i in range(num_layer)]
train = OCRIter(10, init_states)
net = lstm_unroll()
mod = mx.mod.Module(net, data_names=[name for name, _ in train.provide_data], label_names=['label'],
                    context=mx.gpu(0))
mod.bind(data_shapes=train.provide_data, label_shapes=train.provide_label)
start = np.random.RandomState(142)
shapes = dict(zip(net.list_arguments(), net.infer_shape(**dict(train.provide_data + train.provide_label))[0]))
inputs = dict(train.provide_data + train.provide_label)
mod.init_params(initializer=None, aux_params={}, arg_params={
    name: mx.nd.array(start.uniform(-0.25, 0.25, shape)) for name, shape in sorted(shapes.items())
    if name not in inputs})
mod.init_optimizer(optimizer='adadelta', optimizer_params={'rho': 0.9, 'epsilon': 1e-3,
                                                           'rescale_grad': 1.0 / batch_size})
losses = []
for batch in train:
    mod.forward_backward(batch)
    mod.update()
    softmax, loss = mod.get_outputs()[:2]
    losses.append(loss.asnumpy().mean())
print('accuracy of the last batch', accuracy(batch.label[0].asnumpy(), softmax.asnumpy()))
mod.save_params('ctc_ocr_like.params')
print('losses', ' '.join('%.7g' % loss for loss in losses))
