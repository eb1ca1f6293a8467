"""Q-learning with a replay memory: an executor by hand with its own updater, and a Module as the target network."""
from __future__ import print_function
import mxnet as mx
import numpy as np

num_actions, batch_size, gamma, max_norm = 4, 32, 0.9, 2.0


def dqn(data):
    """Duelling: the value of a state, and the advantages of actions with their mean taken off."""
    net = mx.sym.Convolution(data=data, name='conv1', kernel=(3, 3), stride=(1, 1), num_filter=8)
    net = mx.sym.Activation(data=net, name='relu1', act_type='relu')
    net = mx.sym.FullyConnected(data=net, name='fc2', num_hidden=24)
    net = mx.sym.Activation(data=net, name='relu2', act_type='relu')
    value = mx.sym.FullyConnected(data=net, name='value', num_hidden=1)
    advantage = mx.sym.FullyConnected(data=net, name='advantage', num_hidden=num_actions)
    advantage = mx.sym.broadcast_sub(advantage, mx.sym.mean(advantage, axis=1, keepdims=True))
    return mx.sym.broadcast_add(value, advantage, name='q')


def dqn_loss():
    q = dqn(mx.sym.Variable('data'))
    chosen = mx.sym.choose_element_0index(q, mx.sym.Variable('action'), name='chosen')
    huber = mx.sym.smooth_l1(chosen - mx.sym.Variable('target'), scalar=1.0)
    return mx.sym.Group([mx.sym.MakeLoss(huber, grad_scale=1.0 / batch_size, name='huber'), mx.sym.BlockGrad(q)])


class World(object):
    """A field of 5 x 5 with a goal in a corner; the second channel shows it. Walking against a wall does nothing."""
    moves = np.array([[0, 1], [1, 0], [0, -1], [-1, 0]])

    def __init__(self, rng):
        self.rng = rng

    def picture(self, place):
        shown = np.zeros((len(place), 2, 5, 5))
        shown[np.arange(len(place)), 0, place[:, 0], place[:, 1]] = 1
        shown[:, 1, 4, 4] = 1
        return shown

    def steps(self, count):
        """(state, action, reward, next state, whether it ended), at random."""
        place, action = self.rng.randint(0, 5, (count, 2)), self.rng.randint(0, num_actions, count)
        after = np.clip(place + self.moves[action], 0, 4)
        ended = (after == 4).all(axis=1)
        return self.picture(place), action, np.where(ended, 1.0, -0.05), self.picture(after), ended


rng = np.random.RandomState(161)
memory = World(rng).steps(400)
loss = dqn_loss()
ctx = mx.gpu(0)
exe = loss.simple_bind(ctx=ctx, data=(batch_size, 2, 5, 5), action=(batch_size,), target=(batch_size,))
params = [name for name in loss.list_arguments() if name not in ('data', 'action', 'target')]
for name in params:
    shape = exe.arg_dict[name].shape
    exe.arg_dict[name][:] = rng.uniform(-0.3, 0.3, shape) if name.endswith('weight') else np.zeros(shape)

# another context's arrays: they are copied at once, and then now and again
target = mx.mod.Module(dqn(mx.sym.Variable('data')), data_names=['data'], label_names=None, context=ctx)
target.bind(data_shapes=[('data', (batch_size, 2, 5, 5))], for_training=False)
target.init_params(initializer=None, arg_params={name: exe.arg_dict[name] for name in params}, aux_params={})

optimizer = mx.optimizer.create('rmsprop', learning_rate=0.005, gamma1=0.9, gamma2=0.8, centered=True, epsilon=1e-3,
                                wd=0.0, rescale_grad=1.0)
updater = mx.optimizer.get_updater(optimizer)
losses, norms = [], []
for step in range(10):
    rows = rng.randint(0, 400, batch_size)
    state, action, reward, after, ended = [part[rows] for part in memory]
    target.forward(mx.io.DataBatch([mx.nd.array(after)]), is_train=False)
    exe.arg_dict['data'][:] = state
    exe.arg_dict['action'][:] = action
    # double: the network that learns chooses, the target network values
    exe.arg_dict['data'][:] = after
    best = mx.nd.argmax_channel(exe.forward(is_train=False)[1])
    later = mx.nd.choose_element_0index(target.get_outputs()[0], best)
    exe.arg_dict['data'][:] = state
    exe.arg_dict['target'][:] = mx.nd.array(reward, ctx) + gamma * later * mx.nd.array(1.0 - ended, ctx)
    exe.forward(is_train=True)
    exe.backward()
    norm = np.sqrt(sum(mx.nd.sum(mx.nd.square(exe.grad_dict[name])).asscalar() for name in params))
    norms.append(norm)
    for index, name in enumerate(params):
        grad = exe.grad_dict[name]
        if norm > max_norm:
            grad *= max_norm / norm
        updater(index, grad, exe.arg_dict[name])
    losses.append(exe.outputs[0].asnumpy().mean())
    if step % 4 == 3:
        target.set_params({name: exe.arg_dict[name].copy() for name in params}, {})
target.save_params('target.params')
mx.nd.save('rl_dqn_like.params', {name: exe.arg_dict[name] for name in params})
print('norms', ' '.join('%.4g' % norm for norm in norms))
print('losses', ' '.join('%.7g' % loss for loss in losses))
