"""Convolution over sentences, several filter sizes, gradients clipped by their norm, on a bare executor."""
from __future__ import print_function
import math
import mxnet as mx
import numpy as np

batch_size, sentence_size, vocab_size, num_embed, num_filter = 10, 9, 30, 8, 6
input_x = mx.sym.Variable('data')
input_y = mx.sym.Variable('softmax_label')
embed_layer = mx.sym.Embedding(data=input_x, input_dim=vocab_size, output_dim=num_embed, name='vocab_embed')
conv_input = mx.sym.Reshape(data=embed_layer, target_shape=(batch_size, 1, sentence_size, num_embed))
pooled_outputs = []
for filter_size in [2, 3, 4]:
    convi = mx.sym.Convolution(data=conv_input, kernel=(filter_size, num_embed), num_filter=num_filter)
    relui = mx.sym.Activation(data=convi, act_type='relu')
    pooled_outputs.append(mx.sym.Pooling(data=relui, pool_type='max', kernel=(sentence_size - filter_size + 1, 1),
                                         stride=(1, 1)))
concat = mx.sym.Concat(*pooled_outputs, dim=1)
h_pool = mx.sym.Reshape(data=concat, target_shape=(batch_size, num_filter * 3))
fc = mx.sym.FullyConnected(data=h_pool, weight=mx.sym.Variable('cls_weight'), bias=mx.sym.Variable('cls_bias'),
                           num_hidden=2)
cnn = mx.sym.SoftmaxOutput(data=fc, label=input_y, name='softmax')

arg_names = cnn.list_arguments()
ctx = mx.gpu(0)
arg_shapes, out_shapes, aux_shapes = cnn.infer_shape(data=(batch_size, sentence_size))
arg_arrays = [mx.nd.zeros(s, ctx) for s in arg_shapes]
args_grad = {}
for shape, name in zip(arg_shapes, arg_names):
    if name in ['softmax_label', 'data']:
        continue
    args_grad[name] = mx.nd.zeros(shape, ctx)
cnn_exec = cnn.bind(ctx=ctx, args=arg_arrays, args_grad=args_grad, grad_req='add')
arg_dict = dict(zip(arg_names, cnn_exec.arg_arrays))

mx.random.seed(23)
initializer = mx.initializer.Uniform(0.3)
param_blocks = []
for i, name in enumerate(arg_names):
    if name in ['softmax_label', 'data']:
        continue
    initializer(mx.init.InitDesc(name), arg_dict[name])
    param_blocks.append((i, arg_dict[name], args_grad[name], name))
opt = mx.optimizer.create('rmsprop')
opt.lr = 0.01
updater = mx.optimizer.get_updater(opt)

rng = np.random.RandomState(23)
X = rng.randint(0, vocab_size, (100, sentence_size))
Y = (X < 10).sum(axis=1) > 2
losses = []
for begin in range(0, 100, batch_size):
    cnn_exec.arg_dict['data'][:] = X[begin:begin + batch_size]
    cnn_exec.arg_dict['softmax_label'][:] = Y[begin:begin + batch_size]
    cnn_exec.forward(is_train=True)
    cnn_exec.backward()
    norm = 0
    for idx, weight, grad, name in param_blocks:
        grad /= batch_size
        l2_norm = mx.nd.norm(grad).asscalar()
        norm += l2_norm * l2_norm
    norm = math.sqrt(norm)
    for idx, weight, grad, name in param_blocks:
        if norm > 0.5:
            grad *= (0.5 / norm)
        updater(idx, grad, weight)
        grad[:] = 0.0
    out = cnn_exec.outputs[0].asnumpy()
    losses.append(-np.log(out[np.arange(batch_size), Y[begin:begin + batch_size].astype(np.int)]).mean())
mx.nd.save('text_cnn.params', cnn_exec.arg_dict)
print('losses', ' '.join('%.7g' % loss for loss in losses))
