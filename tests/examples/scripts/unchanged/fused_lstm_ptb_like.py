"""A language model whose LSTM layers are one operator; what it remembers goes from each piece of text to the next."""
from __future__ import print_function
import mxnet as mx
import numpy as np

batch_size, bptt, num_embed, num_hidden, num_layers = 5, 6, 9, 7, 2
ctx = mx.gpu(0)
rng = np.random.RandomState(127)


def corpus(count):
    """Words that follow each other by a rule, with some noise."""
    text = [0]
    while len(text) < count:
        text.append((3 * text[-1] + 1) % 11 if rng.uniform() < 0.9 else rng.randint(0, 11))
    return np.array(text)


class CorpusIter(mx.io.DataIter):
    """The text in `batch_size` columns, `bptt` words at a time; the labels are one word ahead."""
    def __init__(self, source):
        super(CorpusIter, self).__init__(batch_size)
        columns = source[:len(source) // batch_size * batch_size].reshape((batch_size, -1)).T
        self._data, self._label = columns[:-1], columns[1:]
        self.provide_data = [mx.io.DataDesc('data', (bptt, batch_size), 'float32', layout='TN')]
        self.provide_label = [mx.io.DataDesc('label', (bptt, batch_size), 'float32', layout='TN')]
        self.reset()

    def reset(self):
        self._at = 0

    def iter_next(self):
        if self._at + bptt > len(self._data):
            return False
        self._piece = slice(self._at, self._at + bptt)
        self._at += bptt
        return True

    def getdata(self):
        return [mx.nd.array(self._data[self._piece])]

    def getlabel(self):
        return [mx.nd.array(self._label[self._piece])]

    def getpad(self):
        return 0


def rnn(cell, fused):
    data = mx.sym.Variable('data')
    weight = mx.sym.var('encoder_weight')
    embed = mx.sym.Embedding(data=data, weight=weight, input_dim=11, output_dim=num_embed, name='embed')
    shape = (num_layers, batch_size, num_hidden) if fused else (batch_size, num_hidden)
    states = [mx.sym.Variable('state%d' % i, shape=shape) for i in range(2 if fused else 2 * num_layers)]
    output, after = cell.unroll(bptt, inputs=embed, begin_state=states, layout='TNC', merge_outputs=True)
    pred = mx.sym.Reshape(output, shape=(-1, num_hidden))
    pred = mx.sym.FullyConnected(data=pred, num_hidden=11, name='pred')
    label = mx.sym.Reshape(mx.sym.Variable('label'), shape=(-1,))
    loss = mx.sym.SoftmaxOutput(pred, label, name='softmax')
    return mx.sym.Group([mx.sym.BlockGrad(state) for state in after] + [loss])


def entropy(batch, prob):
    label = batch.label[0].asnumpy().ravel().astype(int)
    return -np.log(prob.asnumpy()[np.arange(len(label)), label]).mean()


train = CorpusIter(corpus(5 * (10 * bptt + 1)))
cell = mx.rnn.FusedRNNCell(num_hidden, num_layers=num_layers, mode='lstm', dropout=0.0, prefix='lstm_',
                           get_next_state=True, forget_bias=1.0)
symbol = rnn(cell, fused=True)
print('outputs', ' '.join(symbol.list_outputs()))
state_names = ['state0', 'state1']
mod = mx.mod.Module(symbol, data_names=('data',), label_names=('label',), state_names=state_names, context=ctx)

# the weights of each gate first, then packed into the vector of the operator
stack = cell.unfuse()
gates = {}
for layer in range(num_layers):
    for kind, columns in (('i2h', num_embed if layer == 0 else num_hidden), ('h2h', num_hidden)):
        for gate in ('_i', '_f', '_c', '_o'):
            name = 'lstm_l%d_%s%s' % (layer, kind, gate)
            gates[name + '_weight'] = mx.nd.array(rng.uniform(-0.4, 0.4, (num_hidden, columns)))
            gates[name + '_bias'] = mx.nd.array(rng.uniform(-0.1, 0.1, num_hidden))
args = cell.pack_weights(gates)
print('packed', [(name, array.shape) for name, array in sorted(args.items())])
args['encoder_weight'] = mx.nd.array(rng.uniform(-0.5, 0.5, (11, num_embed)))
args['pred_weight'] = mx.nd.array(rng.uniform(-0.5, 0.5, (11, num_hidden)))
args['pred_bias'] = mx.nd.zeros(11)

mod.bind(data_shapes=train.provide_data, label_shapes=train.provide_label)
mod.set_params(args, {}, allow_missing=True)
mod.init_optimizer(optimizer='sgd', optimizer_params={'learning_rate': 1.5, 'rescale_grad': 1.0 / (bptt * batch_size)})
mod.set_states(value=0)
losses, norms = [], []
for i, batch in enumerate(train):
    mod.forward(batch, is_train=True)
    mod.backward()
    # the gradients together are not longer than a given length
    grads = [grad for grads in mod._exec_group.grad_arrays for grad in grads]
    norms.append(float(np.sqrt(sum(mx.nd.sum(mx.nd.square(grad)).asscalar() for grad in grads))))
    if norms[-1] > 3.0:
        for grad in grads:
            grad *= 3.0 / norms[-1]
    mod.update()
    outputs = mod.get_outputs(merge_multi_context=False)
    mod.set_states(states=outputs[:-1])
    losses.append(entropy(batch, outputs[-1][0]))
    if i == 6:
        mod._optimizer.lr *= 0.5
print('norms', ' '.join('%.6g' % norm for norm in norms))
kept = [devices[0] for devices in mod.get_states(merge_multi_context=False)]
print('states', ' '.join('%.6g' % value for state in kept for value in state.asnumpy()[:, 0, :2].ravel()))

# the same network step by step, without the operator, gives the same
mod.set_states(value=0.5)
train.reset()
batch = train.next()
mod.forward(batch, is_train=False)
at_once = mod.get_outputs()[-1].asnumpy()
parts = cell.unpack_weights(mod.get_params()[0])
slow = rnn(stack, fused=False)
names = ['state%d' % i for i in range(2 * num_layers)]
other = mx.mod.Module(slow, label_names=('label',), state_names=names, context=ctx)
other.bind(train.provide_data, train.provide_label, for_training=False)
other.set_params(stack.pack_weights(parts), {})
other.set_states(value=0.5)
other.forward(batch, is_train=False)
step_by_step = other.get_outputs()[-1].asnumpy()
assert np.allclose(at_once, step_by_step, rtol=1e-4, atol=1e-6), abs(at_once - step_by_step).max()
print('evaluated', '%.6g' % entropy(batch, other.get_outputs()[-1]))
mod.save_params('fused_lstm_ptb_like.params')
print('losses', ' '.join('%.7g' % loss for loss in losses))
