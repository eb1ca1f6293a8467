"""Calls of Module that show the faults of training, see ``training_calls``."""

from __future__ import annotations

import os
import tempfile

import numpy as np

import refimpl as mx

from .training_nets import (
    TWO,
    arrays,
    bare,
    batch,
    given,
    iterator,
    line,
    normed,
    outputs,
    params,
    ready,
    step,
    twice,
    two_lines,
)

MASTERS = {"learning_rate": 0.5, "momentum": 0.5, "multi_precision": True, "rescale_grad": 1.0}


def described(length, rows, layout="TN"):
    return [[mx.io.DataDesc(name, (length, rows), layout=layout)] for name in ("data", "label")]


def reshape_label_axis():
    module = mx.mod.Module(sequence_net(), label_names=("label",))
    module.bind(*described(3, 4))
    module.reshape(described(3, 2)[0])
    return [tuple(d.shape) for d in module.label_shapes]


def sequence_net():
    return mx.sym.LinearRegressionOutput(mx.sym.Variable("data") * 2, mx.sym.Variable("label"), name="out")


def reshape_labels_lost():
    module = mx.mod.Module(sequence_net(), label_names=("label",))
    module.bind([("data", (2, 4))], [("label", (2, 4))], inputs_need_grad=True)
    module.init_params()
    module.forward_backward(mx.io.DataBatch([arrays(2, 3)], [arrays(2, 3) + 1]))
    return [g.asnumpy() for g in module.get_input_grads()]


def list_of_batches_rows():
    module = ready(line(), context=TWO)
    module.forward([batch(3), batch(3, shift=1)])
    return outputs(module)


def heads_rows():
    module = bare(twice("TN"), (3, 4), "TN", inputs_need_grad=True)
    module.forward(mx.io.DataBatch([arrays(3, 4)]), is_train=True)
    module.backward([arrays(3, 4)])
    return [g.asnumpy() for g in module.get_input_grads()]


def merge_other_axis():
    module = bare(twice("TN"), (3, 4), "TN")
    module.forward(mx.io.DataBatch([arrays(3, 4)]))
    return outputs(module)


def merge_first_layout():
    data = mx.sym.Variable("data")
    first, second = data * 2, mx.sym.transpose(data)
    first._set_attr(__layout__="NT")
    second._set_attr(__layout__="TN")
    module = bare(mx.sym.Group([first, second]), (4, 3), "NT")
    module.forward(mx.io.DataBatch([arrays(4, 3)]))
    return outputs(module)


def input_gradients_axis():
    module = bare(mx.sym.MakeLoss(mx.sym.square(mx.sym.Variable("data"))), (3, 4, 2), "TNC", inputs_need_grad=True)
    module.forward_backward(mx.io.DataBatch([arrays(3, 4, 2)]))
    return [g.asnumpy() for g in module.get_input_grads()]


def metric_label_axis():
    symbol = sequence_net()
    module = mx.mod.Module(symbol, label_names=("label",), context=TWO)
    module.bind(*described(2, 4))
    module.init_params()
    one = mx.io.DataBatch([arrays(2, 4)], [arrays(2, 4) + 1])
    module.forward(one)
    metric = mx.metric.create("mse")
    module.update_metric(metric, one.label)
    return metric.get()


def second_label():
    data = mx.sym.Variable("data")
    heads = [mx.sym.LinearRegressionOutput(
        mx.sym.FullyConnected(data, num_hidden=3, name=f"fc{n}"), mx.sym.Variable(f"label{n}"),
    ) for n in range(2)]
    module = mx.mod.Module(mx.sym.Group(heads), label_names=("label0", "label1"))
    module.bind([("data", (4, 2))], [("label0", (4, 3)), ("label1", (4, 3))])
    module.init_params(mx.init.One())
    module.init_optimizer()
    step(module, mx.io.DataBatch([arrays(4, 2)], [arrays(4, 3), arrays(4, 3) + 1]))
    return params(module)


def backward_leaves_states():
    module = ready(normed())
    module.forward(batch(), is_train=True)
    first = params(module)
    module.backward()
    return first, params(module)


def missing_not_adopted():
    module = ready(line(), context=TWO, optimizer={"learning_rate": 0.5})
    step(module)
    module.set_params({"fc_weight": mx.nd.ones((3, 2))}, {}, allow_missing=True)
    step(module)
    return params(module)


def half():
    data = [mx.io.DataDesc("data", (4, 2), np.float16)], [mx.io.DataDesc("label", (4, 3), np.float16)]
    module = mx.mod.Module(line(), label_names=("label",))
    module.bind(*data)
    module.init_params(mx.init.One(), arg_params=given(module), aux_params={}, allow_missing=True)
    return module


def half_batch():
    return mx.io.DataBatch([arrays(4, 2, dtype="float16")], [arrays(4, 3, dtype="float16")])


def adopts_first_only():
    module = half()
    module.init_optimizer(optimizer="sgd", optimizer_params=MASTERS)
    step(module, half_batch())
    module.set_params({name: value * 0 + 2 for name, value in module.get_params()[0].items()}, {})
    step(module, half_batch())
    return params(module)


master_of_momentum = adopts_first_only


def rebind_forgets():
    module = ready(line(), optimizer={"learning_rate": 0.5})
    step(module)
    module.bind([("data", (2, 2))], [("label", (2, 3))], force_rebind=True)
    return params(module)


def shared_host_copy():
    first = ready(line(), optimizer={"learning_rate": 0.5})
    second = mx.mod.Module(line(), label_names=("label",))
    second.bind([("data", (2, 2))], [("label", (2, 3))], shared_module=first)
    step(second, batch(2))
    return params(first)


def names_of_devices():
    module = ready(line(), context=TWO, store=None, optimizer={"learning_rate": 0.5, "wd": 0.25})
    step(module)
    return params(module)


def optimizer_object_names():
    module = ready(line())
    optimizer = mx.optimizer.SGD(learning_rate=0.5)
    optimizer.set_lr_mult({"fc_weight": 0.25})
    module.init_optimizer(optimizer=optimizer)
    step(module)
    return params(module)


def fixed_moves_indices():
    module = ready(
        two_lines(), fixed_param_names=["a_weight"], optimizer={"learning_rate": 0.5, "wd": 0.25, "momentum": 0.5},
    )
    step(module)
    return params(module)


def fixed_first_only():
    module = ready(two_lines(), fixed_param_names=["a_weight", "b_weight"], optimizer={"learning_rate": 0.5})
    step(module)
    return params(module)


def states_of_contexts():
    symbol = mx.sym.LinearRegressionOutput(
        mx.sym.Variable("data") * mx.sym.Variable("state"), mx.sym.Variable("label"), name="out"
    )
    module = mx.mod.Module(symbol, label_names=("label",), state_names=("state",), context=TWO)
    module.bind([("data", (4, 3))], [("label", (4, 3))])
    module.init_params()
    module.set_states([[mx.nd.ones((2, 3)), mx.nd.ones((2, 3)) * 2]])
    module.forward(mx.io.DataBatch([arrays(4, 3)], [arrays(4, 3)]))
    return outputs(module)


def work_load_order():
    module = ready(line(), context=TWO, work_load_list=[3, 1])
    module.forward(batch())
    return outputs(module, merge_multi_context=False)


def states_mean():
    module = ready(normed(), context=TWO)
    module.forward_backward(batch())
    return params(module)


def force_init():
    module = ready(line())
    module.set_params({name: value + 1 for name, value in module.get_params()[0].items()}, {}, force_init=False)
    return params(module)


def states_loaded_again():
    optimizer = {"learning_rate": 0.5, "momentum": 0.5}
    with tempfile.TemporaryDirectory() as folder:
        module = ready(line(), optimizer=optimizer)
        step(module)
        module.save_checkpoint(f"{folder}/net", 1, save_optimizer_states=True)
        again = mx.mod.Module.load(f"{folder}/net", 1, load_optimizer_states=True, label_names=("label",))
        again.bind([("data", (4, 2))], [("label", (4, 3))])
        again.init_optimizer(optimizer_params=optimizer)
        step(again)
        again.init_optimizer(optimizer_params=optimizer, force_init=True)
        step(again)
        return params(again)


def score_without_reset():
    module, data = ready(line(), rows=2), iterator()
    return [module.score(data, "mse", num_batch=1) for _ in range(2)]


def predict_pad_front():
    module = ready(line(), rows=2)
    return module.predict(iterator()).asnumpy()


def fit_keeps_copies():
    module = mx.mod.Module(line(), label_names=("label",), context=TWO)
    module.fit(
        iterator(8, 4), eval_metric="mse", kvstore=None, optimizer_params={"learning_rate": 0.5}, num_epoch=2,
        initializer=mx.init.One(),
    )
    return params(module)


def fixed_names_on_store():
    module = ready(two_lines(), context=TWO, fixed_param_names=["a_weight"], optimizer={"learning_rate": 0.5})
    step(module)
    return params(module)


def sums_not_pulled():
    os.environ["MXNET_UPDATE_ON_KVSTORE"] = "0"
    module = ready(line(), context=TWO, optimizer={"learning_rate": 0.5})
    step(module)
    return params(module)


def monitored_trains():
    module = ready(normed())
    module.install_monitor(mx.mon.Monitor(1))
    module.forward(batch(), is_train=False)
    return outputs(module)


def rolling(rows, *counts):
    module, data = ready(line(), rows=2), iterator(rows, last_batch_handle="roll_over")
    return [module.score(data, "mse", num_batch=count) for count in counts]


def roll_over_cursor():
    return rolling(5, None, None, None)


def roll_over_full():
    return rolling(4, 2, None)
