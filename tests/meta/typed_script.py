"""What a type checker says of scripts. A line that ends with `# error` must be one, every other must be none."""

import numpy as np

import refimpl as mx

# --- arrays --------------------------------------------------------------------------------------
x = mx.nd.ones((2, 3))
w, b = mx.nd.zeros((4, 3), ctx=mx.cpu(0)), mx.nd.array([1, 2, 3, 4], dtype=np.float32)
mx.nd.FullyConnected(x, w, b, num_hidden=4)
mx.nd.FullyConnected(data=x, weight=w, no_bias=True, num_hidden=4, name="fc")
mx.nd.FullyConnected(x, w, b, 4, False, out=mx.nd.zeros((2, 4)))
mx.nd.FullyConnected(x, nonsense=1)  # error
mx.nd.FullyConnected(x, w, b, num_hidden=[4])  # error
mx.nd.FullyConnected("x", w, b, num_hidden=4)  # error
mx.nd.FulyConnected(x, w, b, num_hidden=4)  # error
mx.nd.Activation(x, act_type="relu")
mx.nd.Activation(x)  # error
mx.nd.Convolution(x, w, kernel=(3, 3), stride=(1, 1), num_filter=np.int64(4), no_bias=1)
mx.nd.concat(x, x, dim=1)
mx.nd.Concat(*[x, x], dim=1)
mx.nd.stack(x, x, axis=0)
mx.nd.cast(x, dtype="float16")
mx.nd.cast(x, np.float64)
mx.nd.sum(x, axis=(0, 1), keepdims=True).asnumpy().tolist()
mx.nd.dot(x, w, transpose_b=True).shape[0]
mx.nd.random.uniform(0, 1, shape=(2, 3), ctx=mx.cpu())
mx.nd.add(x, 1)
mx.nd.maximum(lhs=x, rhs=2)
mx.nd.maximum(x)  # error
mx.nd.linalg.gemm2(x, w, transpose_b=True)
mx.nd.linalg.gemm3(x, w)  # error
mx.nd.contrib.box_nms(x, overlap_thresh=0.5)
mx.nd.contrib.foreach(lambda row, s: (row, s), x, [])
mx.nd.sparse.dot(x.tostype("csr"), w, transpose_b=True)
mx.nd.slice(x, begin=(0, None), end=(1, None))
mx.nd.slice_axis(x, axis=1, begin=0, end=None)
x.slice(begin=(0, 1), end=(2, 3)).slice_axis(axis=0, begin=0, end=1)
mx.nd.Custom(x, op_type="mine", anything=3)
mx.nd.op.exp(x)
mx.nd._internal._plus_scalar(x, scalar=1.5)
x.sum(axis=1).reshape((1, -1)).transpose().astype("int32")
x.clip(0, 1).exp().argmax(axis=1).asscalar()
x.clip(a_min=0, a_max=np.float32(1))
x.sum(axes=1)  # error
x.summ()  # error
x.attach_grad()
(x * 2 + 1).backward()

# --- symbols -------------------------------------------------------------------------------------
data = mx.sym.Variable("data", shape=(0, 3), lr_mult=2.0)
fc = mx.sym.FullyConnected(data, num_hidden=4, name="fc", attr={"ctx_group": "left"}, __lr_mult__="2.0")
mx.sym.FullyConnected(data, num_hidden=4, lr_mult=2.0, wd_mult=0, ctx_group="left", force_mirroring="True")
mx.sym.Concat(fc, fc, dim=1, lr_mult="0.5")
mx.sym.FullyConnected(data, num_hidden=4, lr_mult=[2])  # error
mx.sym.FullyConnected(data=data, num_hidden=4, nonsense=1)  # error
mx.sym.FullyConnected(data, num_hidden=None, flatten=[True])  # error
act = mx.sym.Activation(data=fc, act_type="tanh", name="act")
both = mx.sym.Concat(fc, act, dim=1, name="both")
mx.sym.BatchNorm(fc, fix_gamma=False, eps=1e-3)[0].list_arguments()
mx.sym.SoftmaxOutput(both, name="softmax", use_ignore=True)
mx.sym.contrib.foreach(lambda row, s: (row, s), data, [])
mx.sym.Group([fc, act]).infer_shape(data=(2, 3))
outputs, states = mx.rnn.LSTMCell(4, prefix="l_").unroll(3, inputs=data, merge_outputs=True)
mx.sym.Reshape(outputs, shape=(-1, 4))
fc.reshape((2, 2)).sum(axis=1).mean()
fc.reshape(2, 2)
fc.reshape(shape=(2, 2))
fc.sum(axes=1)  # error
mx.sym.Softmax_Output(both)  # error

# --- training ------------------------------------------------------------------------------------
train = mx.io.NDArrayIter(np.ones((4, 3)), np.zeros(4), batch_size=2)
module = mx.mod.Module(mx.sym.SoftmaxOutput(fc, name="softmax"), context=[mx.cpu(0), mx.cpu(1)])
module.fit(train, num_epoch=1, optimizer="sgd", optimizer_params={"learning_rate": 0.1})
mx.mod.Module(fc).fit("wrong")  # error
