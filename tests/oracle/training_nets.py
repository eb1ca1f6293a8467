"""Networks, batches and modules for calls that show the faults of training (``training_calls``)."""

from __future__ import annotations

import numpy as np

import refimpl as mx

TWO = [mx.cpu(0), mx.cpu(1)]


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
