"""A user's call that shows each fault of ``training_faults.json``: ``python -m tests.oracle.training_calls [ID ...]``.

Every function here is named as a fault, makes a handful of calls of the public interface, and returns what the user
sees. The script runs each in a copy of the package without a fault and in one with it, and says which results differ;
it fails where one does not. Nothing here knows how the oracle draws its programs.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

if __name__ == "__main__" and len(sys.argv) > 2 and sys.argv[1] == "--inside":
    sys.path[0] = sys.argv[2]  # the copy of the package

import refimpl as mx
from refimpl.contrib.svrg_optimization.svrg_module import SVRGModule

TWO = [mx.cpu(0), mx.cpu(1)]
MASTERS = {"learning_rate": 0.5, "momentum": 0.5, "multi_precision": True, "rescale_grad": 1.0}


# --- what the calls share -------------------------------------------------------------------------


def ramp(*shape, scale=0.125):
    """Numbers that differ from row to row."""
    return (np.arange(np.prod(shape)) % 11 - 4).reshape(shape).astype(np.float32) * np.float32(scale)


def arrays(*shape, dtype="float32"):
    return mx.nd.array(ramp(*shape), dtype=dtype)


def line(hidden=3, **weight):
    """data -> fc -> squared loss."""
    found = mx.sym.FullyConnected(
        mx.sym.Variable("data"), mx.sym.Variable("fc_weight", **weight), mx.sym.Variable("fc_bias"),
        num_hidden=hidden, name="fc",
    )
    return mx.sym.LinearRegressionOutput(found, mx.sym.Variable("label"), name="out")


def two_lines():
    hidden = mx.sym.FullyConnected(mx.sym.Variable("data"), num_hidden=3, name="a")
    return mx.sym.LinearRegressionOutput(
        mx.sym.FullyConnected(hidden, num_hidden=3, name="b"), mx.sym.Variable("label"), name="out"
    )


def normed():
    """data -> BatchNorm -> fc -> squared loss."""
    found = mx.sym.BatchNorm(mx.sym.Variable("data"), fix_gamma=False, momentum=0.5, name="bn")
    found = mx.sym.FullyConnected(found, num_hidden=3, name="fc")
    return mx.sym.LinearRegressionOutput(found, mx.sym.Variable("label"), name="out")


def batch(rows=4, width=2, hidden=3, shift=0.0, **more):
    data = [mx.nd.array(ramp(rows, width) * (1 + np.arange(rows)[:, None]) + np.float32(shift))]
    return mx.io.DataBatch(data, [mx.nd.array(ramp(rows, hidden, scale=0.25))], **more)


def given(module):
    """Parameters that differ from each other."""
    group = getattr(module, "_exec_group", None) or module._bucket_modules.owner._exec_group
    shapes = {name: copies[0].shape for name, copies in zip(group.param_names, group.param_arrays, strict=True)}
    return {name: mx.nd.array(ramp(*shape) + 0.125 * n) for n, (name, shape) in enumerate(sorted(shapes.items()))}


def ready(symbol, rows=4, context=None, bind=None, optimizer=None, store="local", width=2, kind=None, **options):
    """A module that is bound and has parameters, and an optimizer if wanted."""
    module = (kind or mx.mod.Module)(symbol, label_names=("label",), context=context or mx.cpu(), **options)
    module.bind([("data", (rows, width))], [("label", (rows, 3))], **(bind or {}))
    module.init_params(mx.init.One(), arg_params=given(module), aux_params={}, allow_missing=True)
    if optimizer is not None:
        module.init_optimizer(store, "sgd", optimizer)
    return module


def step(module, one=None):
    module.forward_backward(one or batch())
    module.update()


def params(module):
    return [{name: value.asnumpy().copy() for name, value in values.items()} for values in module.get_params()]


def outputs(module, **more):
    return [[p.asnumpy() for p in o] if isinstance(o, list) else o.asnumpy() for o in module.get_outputs(**more)]


def iterator(rows=5, size=2, label=3, width=2, **more):
    return mx.io.NDArrayIter(
        {"data": ramp(rows, width) * (1 + np.arange(rows)[:, None])}, {"label": ramp(rows, label, scale=0.25)}, size,
        **more,
    )


def twice(layout):
    """An output of a layout, without parameters."""
    found = mx.sym.Variable("data") * 2
    found._set_attr(__layout__=layout)
    return found


def bare(symbol, shape, layout, context=None, **bind):
    module = mx.mod.Module(symbol, label_names=None, context=context or TWO)
    module.bind([mx.io.DataDesc("data", shape, layout=layout)], **bind)
    module.init_params()
    return module


# --- Module ---------------------------------------------------------------------------------------


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


# --- buckets and SVRG -----------------------------------------------------------------------------


def generate(key):
    """The default bucket is 4; the number of rows is the same, the width is the key."""
    data = mx.sym.sum(mx.sym.Variable("data"), axis=1, keepdims=True) * (1.0 / key)
    data = mx.sym.broadcast_axis(data, axis=1, size=2)
    return mx.sym.LinearRegressionOutput(
        mx.sym.FullyConnected(data, num_hidden=3, name="fc"), mx.sym.Variable("label"), name="out"
    ), ("data",), ("label",)


def normed_bucket(key):
    data = mx.sym.sum(mx.sym.Variable("data"), axis=1, keepdims=True) * (1.0 / key)
    data = mx.sym.BatchNorm(data, fix_gamma=False, name="bn")
    return mx.sym.LinearRegressionOutput(
        mx.sym.FullyConnected(data, num_hidden=3, name="fc"), mx.sym.Variable("label"), name="out"
    ), ("data",), ("label",)


def of_bucket(key, rows=4, width=None, shift=0.0):
    return batch(
        rows, width or key, shift=shift, bucket_key=key, provide_data=[("data", (rows, key))],
        provide_label=[("label", (rows, 3))],
    )


def buckets(maker=generate, bind=None, optimizer=None, context=None, **options):
    module = mx.mod.BucketingModule(maker, 4, context=context or mx.cpu(), **options)
    module.bind([("data", (4, 4))], [("label", (4, 3))], **(bind or {}))
    module.init_params(mx.init.One(), arg_params=given(module), aux_params={}, allow_missing=True)
    if optimizer is not None:
        module.init_optimizer(optimizer_params=optimizer)
    return module


def accumulated(*keys):
    module = buckets(bind={"grad_req": "add"}, optimizer={"learning_rate": 0.5})
    for key in keys:
        module.forward_backward(of_bucket(key, shift=0.5))
    module.update()
    return params(module)


def bucket_grad_req():
    return accumulated(2, 2)


def bucket_key_of_current():
    module = buckets()
    module.forward(of_bucket(2))
    return outputs(module)


def failed_forward_switches():
    module = buckets()
    module.forward(of_bucket(4))
    module.switch_bucket(2, [("data", (4, 2))], [("label", (4, 3))])
    module.forward(of_bucket(4))
    bad = of_bucket(2)
    bad.label = [mx.nd.ones((1, 7, 5))]
    try:
        module.forward(bad)
    except (mx.MXNetError, ValueError, AssertionError):
        return [tuple(d.shape) for d in module.data_shapes]
    return "it was taken"


def prepare_switches():
    module = buckets()
    module.forward(of_bucket(4))
    module.prepare(of_bucket(2))
    return [tuple(d.shape) for d in module.data_shapes], outputs(module)


def borrow_once():
    module = buckets(optimizer={"learning_rate": 0.5})
    step(module, of_bucket(2))
    module.init_optimizer(optimizer_params={"learning_rate": 0.125}, force_init=True)
    step(module, of_bucket(2))
    return params(module)


def rebind_keeps_buckets():
    module = buckets()
    module.forward(of_bucket(2))
    module.bind([("data", (4, 4))], [("label", (4, 3))], force_rebind=True)
    module.set_params({name: value + 1 for name, value in module.get_params()[0].items()}, {})
    module.forward(of_bucket(2))
    return outputs(module)


def bucket_trains():
    module = buckets(normed_bucket, bind={"for_training": False})
    module.forward(of_bucket(2))
    return outputs(module)


def bucket_not_fixed():
    module = buckets(fixed_param_names=["fc_weight"], optimizer={"learning_rate": 0.5})
    step(module, of_bucket(2))
    return params(module)


def bucket_states_not_read():
    optimizer = {"learning_rate": 0.5, "momentum": 0.5}
    with tempfile.TemporaryDirectory() as folder:
        module = buckets(optimizer=optimizer)
        step(module, of_bucket(4))
        module.save_checkpoint(f"{folder}/net", 1, save_optimizer_states=True)
        again = mx.mod.BucketingModule.load(f"{folder}/net", 1, generate, 4, load_optimizer_states=True)
        again.bind([("data", (4, 4))], [("label", (4, 3))])
        again.init_optimizer(optimizer_params=optimizer)
        step(again, of_bucket(4))
        return params(again)


def gradients_not_shared():
    return accumulated(4, 2)


def bucket_without_monitor():
    module, monitor = buckets(), mx.mon.Monitor(1)
    module.install_monitor(monitor)
    monitor.tic()
    module.forward(of_bucket(2))
    return monitor.toc()


def bucket_own_states():
    module = buckets(optimizer={"learning_rate": 0.5, "momentum": 0.5})
    step(module, of_bucket(4))
    step(module, of_bucket(2))
    return params(module)


def reordered(key):
    """Two layers of the same size; the other bucket uses them in the other order."""
    data = mx.sym.broadcast_axis(mx.sym.sum(mx.sym.Variable("data"), axis=1, keepdims=True), axis=1, size=3)
    for name in ("a", "b") if key == 4 else ("b", "a"):
        data = mx.sym.FullyConnected(data, num_hidden=3, name=name)
    return mx.sym.LinearRegressionOutput(data, mx.sym.Variable("label"), name="out"), ("data",), ("label",)


def bucket_order_by_length():
    module = buckets(reordered, optimizer={"learning_rate": 0.0625, "momentum": 0.5})
    step(module, of_bucket(4))
    step(module, of_bucket(2))
    return params(module)


bucket_order_first = bucket_order_by_length


def svrg(store="local", context=None, rows=4, bind=None, frequency=1):
    return ready(
        line(), rows, context, bind, {"learning_rate": 0.25}, store, kind=SVRGModule,
        update_freq=frequency,
    )


def other_size(store):
    module = svrg(store, TWO)
    module.update_full_grads(iterator(8, 4))
    step(module, batch(6))
    return params(module)


def svrg_same_share():
    return other_size("local")


def svrg_share_inverse():
    return other_size(None)


def svrg_snapshot_shown():
    module = svrg(rows=2)
    module.update_full_grads(iterator())
    step(module, batch(2))
    module.forward(batch(2, shift=1), is_train=True)
    module.update_full_grads(iterator())
    module.backward()
    module.update()
    return params(module)


def svrg_frequency():
    module = SVRGModule(line(), label_names=("label",), update_freq=2)
    module.fit(
        iterator(4, 2), eval_metric="mse", optimizer_params={"learning_rate": 0.25}, num_epoch=3,
        initializer=mx.init.One(),
    )
    return params(module)


def svrg_padding_front():
    module = svrg(rows=2)
    module.update_full_grads(iterator(5, 2))
    step(module, batch(2))
    return params(module)


def svrg_snapshot_adds():
    module = svrg(rows=2, bind={"grad_req": "add"})
    module.update_full_grads(iterator(4, 2))
    step(module, batch(2))
    return params(module)


# --- optimizers -----------------------------------------------------------------------------------


def updates(optimizer, indices=(0,), count=2, dtypes=("float32",)):
    """Weights after steps of one Updater."""
    updater = mx.optimizer.get_updater(optimizer)
    weights = [mx.nd.ones((3,), dtype=dtype) for dtype in (dtypes * len(indices))[: len(indices)]]
    for _ in range(count):
        updater([*indices], [arrays(3).astype(weight.dtype) for weight in weights], weights)
    return [weight.asnumpy() for weight in weights]


def begin_num_update():
    return updates(mx.optimizer.Adam(begin_num_update=9, learning_rate=0.5), count=1)


def negative_momentum_sgd():
    return updates(mx.optimizer.SGD(learning_rate=0.5, momentum=-0.5))


def negative_momentum_nag():
    return updates(mx.optimizer.NAG(learning_rate=0.5, momentum=-0.5))


def named(**given_mult):
    optimizer = mx.optimizer.SGD(learning_rate=0.5, param_idx2name={0: "a_weight", 1: "b_weight"})
    optimizer.set_lr_mult(dict(given_mult["mult"]))
    return updates(optimizer, (0, 1))


def multiplier_index():
    return named(mult={0: 0.5})


def multiplier_name_first():
    return named(mult={0: 0.5, "a_weight": 0.25})


def attribute_over_given():
    module = ready(line(lr_mult=0.25))
    module.init_optimizer(optimizer_params={"learning_rate": 0.5})
    module._optimizer.set_lr_mult({"fc_weight": 2.0})
    step(module)
    return params(module)


def counts_of_one_device():
    updater = mx.optimizer.get_updater(mx.optimizer.Adam(learning_rate=0.5))
    weights = [mx.nd.ones((3,), place) for place in TWO]
    for _ in range(2):
        for weight in weights:
            updater(0, mx.nd.array(ramp(3), weight.context), weight)
    return [weight.asnumpy() for weight in weights]


def groups_mix_types():
    optimizer = mx.optimizer.SGD(learning_rate=0.5, momentum=0.5, multi_precision=True)
    return updates(optimizer, (0, 1), dtypes=("float32", "float16"))


# --- running them ---------------------------------------------------------------------------------


def seen(name: str) -> str:
    """What the call of a fault returns, or the error that it raises, as text."""
    from refimpl.kernels.foundation.loop import plain_kernels

    try:
        with plain_kernels(), np.errstate(all="ignore"):
            return repr(globals()[name]())
    except Exception as error:  # noqa: BLE001  # a fault may do anything
        return f"{type(error).__name__}: {error}"


def in_copy(fault: Any, names: list[str]) -> list[str]:
    """:func:`seen` of each name, in a process that has a copy of the package with a fault, or without one."""
    from refimpl.oracle.scoring.copies import _compiled

    environment = {**os.environ, "NUMBA_DISABLE_JIT": "1", "PYTHONDONTWRITEBYTECODE": "1"}
    environment.pop("PYTHONPATH", None)
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "refimpl"
        shutil.copytree(_compiled()[1], root, copy_function=os.link)
        if fault is not None:
            fault.apply(root)
        found = subprocess.run(
            [sys.executable, "-W", "ignore", __file__, "--inside", folder, *names], env=environment, cwd=folder,
            capture_output=True, text=True, check=False,
        )
    lines = found.stdout.splitlines()
    return [*map(json.loads, lines)] if lines else [found.stderr[-500:]]


def main() -> int:
    """Run the script."""
    from refimpl.oracle.scoring.faults import TRAINING, faults

    chosen = [fault for fault in faults(TRAINING) if fault.id in sys.argv[1:] or len(sys.argv) == 1]
    names = [fault.id.partition("/")[2].replace("-", "_") for fault in chosen]
    good = 0
    for fault, name, right in zip(chosen, names, in_copy(None, names), strict=True):
        (wrong,) = in_copy(fault, [name])
        shows = right != wrong and "Error: " not in right[:40]
        good += shows
        print(json.dumps({"id": fault.id, "shows": shows, "right": right[:400], "wrong": wrong[:400]}), flush=True)
    return good < len(chosen)


if __name__ == "__main__":
    if len(sys.argv) > 2 and sys.argv[1] == "--inside":
        for one in sys.argv[3:]:
            print(json.dumps(seen(one)))
        sys.exit(0)
    sys.exit(main())
