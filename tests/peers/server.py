"""MXNet behind a pipe, and the lines that the tests run here and there: one text, two imports.

Runs under MXNet's Python, 3.8 or newer, so it is written plainly. A message is its length (8 bytes,
little-endian) and an .npz file; the entry "request" is JSON: {"do": name of a function below, ...}.
The other arrays are handed over as a dict. The answer is an .npz of arrays, or one entry "error".
"""

import contextlib
import io
import json
import logging
import os
import struct
import sys

import numpy as np


def pack(request, arrays):
    """A message."""
    file = io.BytesIO()
    text = np.frombuffer(json.dumps(request).encode(), np.uint8)
    np.savez(file, request=text, **{"a:" + name: value for name, value in arrays.items()})
    return struct.pack("<Q", len(file.getvalue())) + file.getvalue()


def unpack(stream):
    """(request, arrays) of the next message; None at the end of the stream."""
    head = stream.read(8)
    if len(head) < 8:
        return None
    content = np.load(io.BytesIO(stream.read(struct.unpack("<Q", head)[0])))
    request = json.loads(content["request"].tobytes().decode())
    return request, {name[2:]: content[name] for name in content.files if name != "request"}


# --- what both libraries are asked ---------------------------------------------------------------


def run(mx, arrays, graph, is_train, gradients, backward, seed):
    """Bind a graph, run it forward and backward once.

    Returns outputs (``out0`` ...), the wanted gradients (``grad:NAME``), the arguments and auxiliary states
    as they are afterwards (``now:NAME``). Arrays ``head0`` ... are the head gradients.
    """
    net = mx.sym.load_json(graph)
    arguments, states = net.list_arguments(), net.list_auxiliary_states()

    def on_cpu(value):
        return mx.nd.array(value, dtype=value.dtype)

    executor = net.bind(
        mx.cpu(),
        args=[on_cpu(arrays[name]) for name in arguments],
        args_grad={name: on_cpu(np.full_like(arrays[name], 99)) for name in gradients},
        grad_req={name: "write" if name in gradients else "null" for name in arguments},
        aux_states=[on_cpu(arrays[name]) for name in states],
    )
    if seed is not None:
        mx.random.seed(seed)
    outputs = executor.forward(is_train=is_train)
    answer = {"out%d" % i: out.asnumpy() for i, out in enumerate(outputs)}
    if backward:
        executor.backward([on_cpu(arrays["head%d" % i]) for i in range(len(outputs))])
        mx.nd.waitall()  # backward moves BatchNorm's statistics, and MXNet does not wait for it
        for name in gradients:
            answer["grad:" + name] = executor.grad_dict[name].asnumpy()
    mx.nd.waitall()
    for name, value in list(executor.arg_dict.items()) + list(executor.aux_dict.items()):
        answer["now:" + name] = value.asnumpy()
    return answer


def update(mx, arrays, operator, params, outputs, row_sparse):
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
    return {name: value.asnumpy() for name, value in given.items()}


def rewrite(mx, arrays, graph):
    """Read a graph and write it again."""
    text = mx.sym.load_json(graph).tojson()
    return {"graph": np.frombuffer(text.encode(), np.uint8)}


def infer_partial(mx, arrays, graph, shapes):
    """What infer_shape_partial reports, as JSON: three lists of shapes."""
    found = mx.sym.load_json(graph).infer_shape_partial(**{name: tuple(shape) for name, shape in shapes.items()})
    return {"lists": np.frombuffer(json.dumps(found).encode(), np.uint8)}


def _load(mx, prefix, epoch, optimizer, shape):
    module = mx.mod.Module.load(prefix, epoch, load_optimizer_states=True)
    module.bind([("data", tuple(shape))], [("softmax_label", (shape[0],))])
    module.init_optimizer(optimizer="sgd", optimizer_params=optimizer)
    return module


def resume(mx, arrays, prefix, epoch, optimizer):
    """Load a checkpoint; predict, train one step, return predictions and weights."""
    module = _load(mx, prefix, epoch, optimizer, arrays["data"].shape)
    batch = mx.io.DataBatch([mx.nd.array(arrays["data"])], [mx.nd.array(arrays["label"])])
    module.forward(batch, is_train=False)
    answer = {"predictions": module.get_outputs()[0].asnumpy()}
    module.forward_backward(batch)
    module.update()
    mx.nd.waitall()
    for values in module.get_params():
        answer.update((name, value.asnumpy()) for name, value in values.items())
    return answer


def train(mx, arrays, graph, prefix, steps, optimizer, seed, contexts, initializer):
    """Initialise a graph and train it, save a checkpoint; return the weights before and after."""
    mx.random.seed(seed)
    module = mx.mod.Module(mx.sym.load_json(graph), context=[mx.cpu(i) for i in range(contexts)])
    module.bind([("data", arrays["data"].shape)], [("softmax_label", arrays["label"].shape)])
    module.init_params(getattr(mx.init, initializer)())
    answer = {"before:" + k: v.asnumpy() for k, v in module.get_params()[0].items()}
    module.init_optimizer(optimizer="sgd", optimizer_params=optimizer)
    for step in range(steps):
        data, label = np.roll(arrays["data"], step, 0), np.roll(arrays["label"], 2 * step, 0)
        module.forward_backward(mx.io.DataBatch([mx.nd.array(data)], [mx.nd.array(label)]))
        module.update()
    mx.nd.waitall()
    for values in module.get_params():
        answer.update(("after:" + name, value.asnumpy()) for name, value in values.items())
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


def fit(mx, arrays):
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
        found.update((name, value.asnumpy()) for values in (arguments, states) for name, value in values.items())

    module.fit(
        rows, held_out, eval_metric=["acc", "ce", mx.metric.TopKAccuracy(top_k=2)], kvstore="device",
        optimizer="sgd", initializer=mx.init.Xavier(rnd_type="gaussian", factor_type="in", magnitude=2),
        optimizer_params={"learning_rate": 0.1, "momentum": 0.9, "wd": 1e-4, "lr_scheduler": schedule},
        num_epoch=2, epoch_end_callback=keep,
    )
    mx.nd.waitall()
    found["predictions"] = module.predict(held_out).asnumpy()
    found["log"] = np.frombuffer(lines.getvalue().encode(), np.uint8)
    return found


FUNCTIONS = {
    "fit": fit, "infer_partial": infer_partial, "resume": resume, "rewrite": rewrite, "run": run, "train": train,
    "update": update,
}


def answer(mx, request, arrays):
    """Do what is asked; an MXNetError or other refusal becomes ``{"error": text}``."""
    options = dict(request)
    try:
        return FUNCTIONS[options.pop("do")](mx, arrays, **options)
    except Exception as error:
        text = "%s: %s" % (type(error).__name__, str(error).strip())
        return {"error": np.frombuffer(text.encode(), np.uint8)}


def main():
    pipe = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # whatever MXNet prints goes elsewhere
    import mxnet as mx

    with contextlib.suppress(BrokenPipeError):
        pipe.write(pack({"version": mx.__version__}, {}))
        pipe.flush()
        while True:
            message = unpack(sys.stdin.buffer)
            if message is None:
                return
            pipe.write(pack({}, answer(mx, *message)))
            pipe.flush()


if __name__ == "__main__":
    main()
