"""Calls of BucketingModule, SVRGModule and optimizers that show the faults of training, see ``training_calls``."""

from __future__ import annotations

import tempfile

import refimpl as mx
from refimpl.contrib.svrg_optimization.svrg_module import SVRGModule

from .training_nets import TWO, arrays, batch, given, iterator, line, outputs, params, ramp, ready, step


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
