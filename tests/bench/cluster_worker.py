"""What a worker of :mod:`tests.bench.cluster` does, under MXNet 1.9.1 or here: one line of JSON at the end."""

import json
import os
import statistics
import sys
import time

UNDER_MXNET = os.environ.get("CLUSTER_BENCH") == "mxnet"
if UNDER_MXNET:
    import mxnet as mx
else:
    import refimpl as mx


def resnet_50():
    """The shapes of its 161 parameters, in order."""
    shapes = [(64, 3, 7, 7), (64,), (64,)]
    inputs = 64
    for width, units in ((64, 3), (128, 4), (256, 6), (512, 3)):
        for unit in range(units):
            for shape in ((width, inputs, 1, 1), (width, width, 3, 3), (4 * width, width, 1, 1)):
                shapes += [shape, shape[:1], shape[:1]]
            if unit == 0:
                shapes += [(4 * width, inputs, 1, 1), (4 * width,), (4 * width,)]
            inputs = 4 * width
    return [*shapes, (1000, 2048), (1000,)]


def timed(kv, rounds, call):
    """The median seconds of a call, after one that does not count."""
    found = []
    for number in range(rounds + 1):
        kv._barrier()
        began = time.perf_counter()
        call()
        if number:
            found.append(time.perf_counter() - began)
    return statistics.median(found)


def fitted(shapes, batches):
    """The median seconds of a batch of an unmodified Module with these parameters, and next to no arithmetic."""
    weights = [mx.sym.Variable("key%d_weight" % number, shape=shape) for number, shape in enumerate(shapes)]  # noqa: UP031
    sums = [mx.sym.sum(each) for each in (mx.sym.Variable("data"), mx.sym.Variable("label"), *weights)]
    module = mx.mod.Module(mx.sym.MakeLoss(mx.sym.add_n(*sums)), label_names=["label"], context=mx.cpu())
    zeros, at = mx.nd.zeros((batches + 2, 1)), []
    module.fit(
        mx.io.NDArrayIter(zeros, zeros, batch_size=1, label_name="label"), num_epoch=1, kvstore="dist_sync",
        initializer=mx.init.Zero(), optimizer="sgd", optimizer_params={"learning_rate": 0.01},
        eval_metric=mx.metric.Loss(), batch_end_callback=lambda _: at.append(time.perf_counter()),
    )
    return statistics.median(end - begin for begin, end in zip(at[1:], at[2:]))  # noqa: B905, RUF007


def main():
    if sys.argv[1:] == ["fit"]:
        told({"rank": 0, "ResNet-50 by Module, ms": 1e3 * fitted(resnet_50(), 6)})
        return
    kv = mx.kv.create("dist_sync")
    optimizer = sys.argv[1:] == ["sgd"]
    if optimizer:
        kv.set_optimizer(mx.optimizer.SGD(learning_rate=0.01, momentum=0.9, rescale_grad=1.0 / kv.num_workers))

    def round_of(names, arrays, outs, together):
        def call():
            if together:
                kv.push(names, arrays)
                kv.pull(names, out=outs)
            else:
                for name, array, out in zip(names, arrays, outs):  # noqa: B905
                    kv.push(name, array)
                    kv.pull(name, out=out)
            for out in outs:
                out.wait_to_read()

        return call

    found = {"rank": kv.rank}
    small, out = mx.nd.ones((10,)), mx.nd.zeros((10,))
    kv.init("small", small)
    found["small key, us"] = 1e6 * timed(kv, 100, round_of(["small"], [small], [out], False))
    big, out = mx.nd.ones((5000, 5000)), mx.nd.zeros((5000, 5000))
    kv.init("big", big)
    found["100 MB, ms"] = 1e3 * timed(kv, 5, round_of(["big"], [big], [out], False))
    shapes = resnet_50()
    assert len(shapes) == 161
    names = ["key " + str(number) for number in range(len(shapes))]
    arrays, outs = [mx.nd.ones(shape) for shape in shapes], [mx.nd.zeros(shape) for shape in shapes]
    kv.init(names, arrays)
    found["ResNet-50 in a list, ms"] = 1e3 * timed(kv, 5, round_of(names, arrays, outs, True))
    found["ResNet-50 key by key, ms"] = 1e3 * timed(kv, 5, round_of(names, arrays, outs, False))
    kv._barrier()
    if kv.rank == 0:
        told(found)


def told(found):
    """Print what was found."""
    print("FOUND " + json.dumps(found))
    sys.stdout.flush()


if __name__ == "__main__":
    main()
