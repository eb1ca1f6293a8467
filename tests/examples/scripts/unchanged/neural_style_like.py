"""An image gets the content of one picture and the style of another: descent on the pixels, the weights stay."""
from __future__ import print_function
from collections import namedtuple

import mxnet as mx
import numpy as np

size, dtype = 12, np.float64
ctx = mx.gpu(0)
rng = np.random.RandomState(71)
Executor = namedtuple('Executor', ['executor', 'data', 'data_grad'])


def features():
    """A small network in the form of VGG; its layers are what style and content are."""
    data = mx.sym.Variable('data')
    conv1_1 = mx.sym.Convolution(name='conv1_1', data=data, num_filter=6, pad=(1, 1), kernel=(3, 3), no_bias=False)
    relu1_1 = mx.sym.Activation(name='relu1_1', data=conv1_1, act_type='relu')
    conv1_2 = mx.sym.Convolution(name='conv1_2', data=relu1_1, num_filter=6, pad=(1, 1), kernel=(3, 3))
    relu1_2 = mx.sym.Activation(name='relu1_2', data=conv1_2, act_type='relu')
    pool1 = mx.sym.Pooling(name='pool1', data=relu1_2, pad=(0, 0), kernel=(2, 2), stride=(2, 2), pool_type='avg')
    conv2_1 = mx.sym.Convolution(name='conv2_1', data=pool1, num_filter=8, pad=(2, 2), kernel=(3, 3), dilate=(2, 2))
    relu2_1 = mx.sym.Activation(name='relu2_1', data=conv2_1, act_type='relu')
    return mx.sym.Group([relu1_1, relu2_1]), mx.sym.Group([relu1_2])


def style_gram_symbol(style):
    """The products of the channels of each layer, over the places."""
    _, output_shapes, _ = style.infer_shape(data=(1, 3, size, size))
    gram_list, grad_scale = [], []
    for i, shape in enumerate(output_shapes):
        x = mx.sym.Reshape(style[i], shape=(int(shape[1]), int(np.prod(shape[2:]))))
        gram_list.append(mx.sym.FullyConnected(x, x, no_bias=True, num_hidden=int(shape[1])))
        grad_scale.append(np.prod(shape[1:]) * shape[1])
    return mx.sym.Group(gram_list), grad_scale


def get_loss(gram, content):
    gram_loss = [mx.sym.sum(mx.sym.square(mx.sym.Variable('target_gram_%d' % i) - gram[i]))
                 for i in range(len(gram.list_outputs()))]
    content_loss = mx.sym.sum(mx.sym.square(mx.sym.Variable('target_content') - content))
    return mx.sym.Group(gram_loss), content_loss


def make_executor(symbol, params, wanted):
    """Only the image has a gradient."""
    shapes, _, _ = symbol.infer_shape_partial(data=(1, 3, size, size))
    reqs = dict((name, 'write' if name == 'data' and wanted else 'null') for name in symbol.list_arguments())
    types = dict((name, dtype) for name in symbol.list_arguments())
    executor = symbol.simple_bind(ctx=ctx, grad_req=reqs, type_dict=types, data=(1, 3, size, size))
    executor.copy_params_from(params, allow_extra_params=True)
    return Executor(executor, executor.arg_dict['data'], executor.grad_dict.get('data'))


def tv_gradient(img, weight):
    """How unlike its neighbours each point of each channel is, as a convolution with a fixed kernel."""
    channels = mx.sym.SliceChannel(mx.sym.Variable('img'), num_outputs=3)
    kernel = mx.sym.Variable('kernel')
    out = mx.sym.Concat(*[mx.sym.Convolution(data=channels[i], weight=kernel, num_filter=1, kernel=(3, 3), pad=(1, 1),
                                             no_bias=True, stride=(1, 1)) for i in range(3)]) * weight
    laplace = np.array([[0, -1, 0], [-1, 4, -1], [0, -1, 0]]).reshape((1, 1, 3, 3)) / 8.0
    return out.bind(ctx, args={'img': img, 'kernel': mx.nd.array(laplace, ctx=ctx, dtype=dtype)}, grad_req='null')


style, content = features()
gram, gscale = style_gram_symbol(style)
both = mx.sym.Group([gram, content])
params = {}
for name, shape in zip(content.list_arguments() + ['conv2_1_weight', 'conv2_1_bias'],
                       content.infer_shape(data=(1, 3, size, size))[0] + [(8, 6, 3, 3), (8,)]):
    if name != 'data':
        params[name] = mx.nd.array(rng.normal(0, 0.3, shape), dtype=dtype)
wave = np.sin(np.arange(size) * 1.3)
content_np = np.stack([np.outer(np.linspace(-1, 1, size), np.ones(size)) * k for k in (1.0, 0.5, -0.5)])[np.newaxis]
style_np = np.stack([np.add.outer(wave, k * wave) for k in (0.3, 1.0, -0.7)])[np.newaxis]

# what is wanted: the grams of one picture, the features of the other
target = make_executor(both, params, wanted=False)
target.data[:] = style_np
goals = dict(('target_gram_%d' % i, out.copy()) for i, out in enumerate(target.executor.forward()[:-1]))
target.data[:] = content_np
goals['target_content'] = target.executor.forward()[-1].copy()

style_loss, content_loss = get_loss(gram, content)
params.update(goals)
model = make_executor(mx.sym.Group([style_loss, content_loss]), params, wanted=True)
grad_array = [mx.nd.ones((1,), ctx, dtype=dtype) * (2.0 / float(scale)) for scale in gscale]
grad_array.append(mx.nd.ones((1,), ctx, dtype=dtype) * 0.5)

img = mx.nd.array(rng.uniform(-0.1, 0.1, (1, 3, size, size)), ctx=ctx, dtype=dtype)
tv = tv_gradient(img, 0.01)
lr = mx.lr_scheduler.FactorScheduler(step=4, factor=0.9)
optimizer = mx.optimizer.create('adam', learning_rate=0.1, wd=0.0005, lr_scheduler=lr)
optim_state = optimizer.create_state(0, img)
losses, steps = [], []
old_img = img.copyto(ctx)
for e in range(10):
    img.copyto(model.data)
    model.executor.forward(is_train=True)
    model.executor.backward(grad_array)
    gnorm = mx.nd.norm(model.data_grad).asscalar()
    if gnorm > 5.0:
        model.data_grad[:] *= 5.0 / gnorm
    optimizer.update(0, img, model.data_grad + tv.forward()[0], optim_state)
    outs = [float(out.asnumpy().ravel()[0]) for out in model.executor.outputs]
    losses.append(sum(out / float(scale) for out, scale in zip(outs, gscale)) + 0.5 * outs[-1])
    steps.append((mx.nd.norm(old_img - img) / mx.nd.norm(img)).asscalar())
    old_img = img.copyto(ctx)
print('steps', ' '.join('%.10g' % step for step in steps))
mx.nd.save('neural_style_like.params', {'img': img, 'gram': goals['target_gram_1'], 'grad': model.data_grad})
print('losses', ' '.join('%.12g' % loss for loss in losses))
