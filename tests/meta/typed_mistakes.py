"""Eighteen mistakes that a newcomer made, each of which a type checker must find, or refimpl only when it runs."""

import refimpl as mx

x = mx.nd.ones((2, 3, 8, 8))
data = mx.sym.Variable("data")

mx.sym.Activation(data, act_type="rleu")  # error
mx.sym.Convolution(data, kernel="three", num_filter=4)  # error
mx.sym.Convolution(data, kernl=(3, 3), num_filter=4)  # error
mx.sym.Convolution(data, num_filter=4)  # error
mx.sym.Convolution(data, kernel=(3, 3))  # error
mx.sym.FullyConnected(data, num_hiden="4")  # error
mx.sym.FullyConected(data, num_hidden=4)  # error
mx.sym.Pooling(data, kernel=(2, 2), pool_type="maximum")  # error
mx.nd.LRN(x)  # error
mx.nd.Cast(x, dtype="flaot32")  # error
mx.nd.random.uniform(0, 1, shap=(2, 3))  # error
x + "a"  # error
x.reshape("x")  # error
x.sum(axes=1)  # error
mx.optimizer.SGD(learnig_rate=0.1)  # error
mx.mod.Module(data, label_name=None)  # error
mx.mod.Module(data).fit("wrong")  # error
mx.io.NDArrayIter(x, batchsize=2)  # error
