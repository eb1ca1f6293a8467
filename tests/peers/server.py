"""What the tests run here and in MXNet beside programs of the oracle: one text, two imports.

Runs under MXNet's Python, 3.8 or newer, so it is written plainly. A request is {"do": name of a function below,
"arrays": {name: array as data}, ...}; its answer is a dict of arrays, sent as the oracle sends traces.
"""

import io
import json
import logging
import sys
from pathlib import Path

import numpy as np

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "refimpl" / "oracle"))
    from programs.interpreter import elements
    from programs.messages import serve
    from programs.values import array_of
else:
    from refimpl.oracle.programs.interpreter import elements
    from refimpl.oracle.programs.values import array_of


def text(value):
    """A text as an array."""
    return np.frombuffer(value.encode(), np.uint8)


def update(mx, arrays, look, operator, params, outputs, row_sparse):
    """Run an update operator on arrays in the order given, with ``out`` the arrays named ``outputs``.

    Those named in ``row_sparse`` are given that storage. Returns all arrays as they are afterwards.
    """
    given = {name: mx.nd.array(value, dtype=value.dtype) for name, value in arrays.items()}
    for name in row_sparse:
        given[name] = given[name].tostype("row_sparse")
    spaces = ((mx.nd.sparse, "_sparse_"), (mx.nd.contrib, "_contrib_"), (mx.nd, ""), (mx.nd._internal, ""))
    called = [
        getattr(space, operator[len(prefix):]) for space, prefix in spaces
        if operator.startswith(prefix) and hasattr(space, operator[len(prefix):])
    ]
    out = [given[name] for name in outputs]
    params = {name: tuple(value) if isinstance(value, list) else value for name, value in params.items()}
    called[0](*given.values(), out=out if len(out) > 1 else out[0], **params)
    mx.nd.waitall()
    return {name: look(value.tostype("default")) for name, value in given.items()}


def rewrite(mx, arrays, look, graphs):
    """Read graphs and write them again."""
    return {str(number): text(mx.sym.load_json(graph).tojson()) for number, graph in enumerate(graphs)}


def infer_partial(mx, arrays, look, graph, shapes):
    """What infer_shape_partial reports, as JSON: three lists of shapes."""
    found = mx.sym.load_json(graph).infer_shape_partial(**{name: tuple(shape) for name, shape in shapes.items()})
    return {"lists": text(json.dumps(found))}


def _load(mx, prefix, epoch, optimizer, shape):
    module = mx.mod.Module.load(prefix, epoch, load_optimizer_states=True)
    module.bind([("data", tuple(shape))], [("softmax_label", (shape[0],))])
    module.init_optimizer(optimizer="sgd", optimizer_params=optimizer)
    return module


def resume(mx, arrays, look, prefix, epoch, optimizer):
    """Load a checkpoint; predict, train one step, return predictions and weights."""
    module = _load(mx, prefix, epoch, optimizer, arrays["data"].shape)
    batch = mx.io.DataBatch([mx.nd.array(arrays["data"])], [mx.nd.array(arrays["label"])])
    module.forward(batch, is_train=False)
    answer = {"predictions": look(module.get_outputs()[0])}
    module.forward_backward(batch)
    module.update()
    mx.nd.waitall()
    for values in module.get_params():
        answer.update((name, look(value)) for name, value in values.items())
    return answer


def train(mx, arrays, look, graph, prefix, steps, optimizer, seed, contexts, initializer):
    """Initialise a graph and train it, save a checkpoint; return the weights before and after."""
    mx.random.seed(seed)
    module = mx.mod.Module(mx.sym.load_json(graph), context=[mx.cpu(i) for i in range(contexts)])
    module.bind([("data", arrays["data"].shape)], [("softmax_label", arrays["label"].shape)])
    module.init_params(getattr(mx.init, initializer)())
    answer = {"before:" + k: look(v) for k, v in module.get_params()[0].items()}
    module.init_optimizer(optimizer="sgd", optimizer_params=optimizer)
    for step in range(steps):
        data, label = np.roll(arrays["data"], step, 0), np.roll(arrays["label"], 2 * step, 0)
        module.forward_backward(mx.io.DataBatch([mx.nd.array(data)], [mx.nd.array(label)]))
        module.update()
    mx.nd.waitall()
    for values in module.get_params():
        answer.update(("after:" + name, look(value)) for name, value in values.items())
    module.save_checkpoint(prefix, steps, save_optimizer_states=True)
    return answer


def _block(mx, data, filters, name, stride):
    """A residual block of two convolutions."""
    sym, options = mx.sym, {"num_filter": filters, "no_bias": True}
    net = sym.Convolution(
        data, kernel=(3, 3), stride=(stride, stride), pad=(1, 1), name=name + "_conv1", **options
    )
    net = sym.BatchNorm(net, fix_gamma=False, eps=2e-5, name=name + "_bn1")
    net = sym.Activation(net, act_type="relu")
    net = sym.Convolution(net, kernel=(3, 3), pad=(1, 1), name=name + "_conv2", **options)
    net = sym.BatchNorm(net, fix_gamma=True, name=name + "_bn2")
    if stride != 1:
        data = sym.Convolution(
            data, kernel=(1, 1), stride=(stride, stride), name=name + "_shortcut", **options
        )
    return sym.Activation(net + data, act_type="relu")


def fit(mx, arrays, look):
    """A script as people wrote them: a residual net, two contexts, shuffled rows, a schedule, log lines."""
    np.random.seed(1)
    mx.random.seed(1)
    net = mx.sym.Variable("data")
    for name, filters, stride in (("one", 4, 1), ("two", 8, 2)):
        if name == "one":
            net = mx.sym.Convolution(net, num_filter=filters, kernel=(3, 3), pad=(1, 1), name="conv")
        net = _block(mx, net, filters, name, stride)
    net = mx.sym.Pooling(net, global_pool=True, kernel=(4, 4), pool_type="avg")
    net = mx.sym.FullyConnected(mx.sym.Flatten(net), num_hidden=3, name="fc")
    net = mx.sym.SoftmaxOutput(net, name="softmax")

    logger, lines = logging.getLogger("fit"), io.StringIO()
    logger.propagate, logger.level = False, logging.INFO
    logger.handlers = [logging.StreamHandler(lines)]
    module = mx.mod.Module(net, context=[mx.cpu(0), mx.cpu(1)], logger=logger)
    rows = mx.io.NDArrayIter(arrays["data"], arrays["label"], batch_size=20, shuffle=True)
    held_out = mx.io.NDArrayIter(arrays["data"][:30], arrays["label"][:30], batch_size=20)
    schedule = mx.lr_scheduler.MultiFactorScheduler(step=[4, 7], factor=0.5, base_lr=0.1)
    found = {}

    def keep(epoch, symbol, arguments, states):
        # what a checkpoint holds: the evaluation that follows sets a fixed gamma to 1, which MXNet does not report
        found.update((name, look(value)) for values in (arguments, states) for name, value in values.items())

    module.fit(
        rows, held_out, eval_metric=["acc", "ce", mx.metric.TopKAccuracy(top_k=2)], kvstore="device",
        optimizer="sgd", initializer=mx.init.Xavier(rnd_type="gaussian", factor_type="in", magnitude=2),
        optimizer_params={"learning_rate": 0.1, "momentum": 0.9, "wd": 1e-4, "lr_scheduler": schedule},
        num_epoch=2, epoch_end_callback=keep,
    )
    mx.nd.waitall()
    found["predictions"] = look(module.predict(held_out))
    found["log"] = text(lines.getvalue())
    return found


FUNCTIONS = {
    "fit": fit, "infer_partial": infer_partial, "resume": resume, "rewrite": rewrite, "train": train, "update": update,
}


def run(mx, request, look=elements):
    """Do what is asked; errors go to whoever calls.

    ``look`` turns an NDArray into what the answer keeps of it.
    """
    options = dict(request)
    arrays = {name: array_of(spec) for name, spec in options.pop("arrays", {}).items()}
    return FUNCTIONS[options.pop("do")](mx, arrays, look, **options)


def start():
    """Import MXNet; returns what to say first and what answers a request."""
    import mxnet as mx

    return {"version": mx.__version__}, lambda request: run(mx, request)


if __name__ == "__main__":
    serve(start)
