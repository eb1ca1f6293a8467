"""An actor and a critic on one body; head gradients are made in NumPy and given to backward."""
from __future__ import print_function
import mxnet as mx
import numpy as np

batch_size, num_actions = 16, 3
net = mx.sym.Variable('data')
net = mx.sym.FullyConnected(data=net, name='fc1', num_hidden=24)
net = mx.sym.Activation(data=net, name='relu1', act_type='relu')
policy = mx.sym.SoftmaxActivation(mx.sym.FullyConnected(data=net, name='policy_fc', num_hidden=num_actions))
value = mx.sym.FullyConnected(data=net, name='value_fc', num_hidden=1)

mx.random.seed(17)
rng = np.random.RandomState(17)
mod = mx.mod.Module(mx.sym.Group([policy, value]), data_names=('data',), label_names=None, context=mx.gpu(0))
mod.bind(data_shapes=[('data', (batch_size, 8))], label_shapes=None, grad_req='write')
mod.init_params(mx.init.Uniform(0.3))
mod.init_optimizer(kvstore=None, optimizer='adam', optimizer_params={'learning_rate': 0.02, 'epsilon': 1e-4})
hidden = rng.randn(8, num_actions)
losses = []
for step in range(10):
    states = rng.randn(batch_size, 8)
    mod.forward(mx.io.DataBatch(data=[mx.nd.array(states)], label=None), is_train=True)
    probs, values = [out.asnumpy() for out in mod.get_outputs()]
    best = states.dot(hidden).argmax(axis=1).astype(np.int)
    reward = np.where(probs.argmax(axis=1) == best, 1.0, -1.0)
    advantage = reward - values[:, 0]
    chosen = np.zeros_like(probs)
    chosen[np.arange(batch_size), best] = -1.0 / np.maximum(probs[np.arange(batch_size), best], 1e-3)
    head = [mx.nd.array(chosen * np.abs(advantage)[:, np.newaxis] / batch_size),
            mx.nd.array(-advantage[:, np.newaxis] / batch_size)]
    mod.backward(out_grads=head)
    mod.update()
    losses.append(np.square(advantage).mean())
mod.save_params('actor_critic.params')
print('losses', ' '.join('%.7g' % loss for loss in losses))
