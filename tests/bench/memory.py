"""Megabytes that bind allocates for ResNet-50 at batch 32: here under each plan, and in MXNet.

    python -m tests.bench.memory                         here
    MXNET_SUBGRAPH_BACKEND=NONE PYTHON tests/bench/memory.py mxnet    with a Python that has MXNet 1.9.1

The graph is the same: it is built by the same lines. Written for Python 3.8, which is what MXNet may run on.
"""

import importlib
import os
import sys

UNITS = ((3, 256), (4, 512), (6, 1024), (3, 2048))
BATCH = {"data": (32, 3, 224, 224), "softmax_label": (32,)}


class Builder:
    """Layers as MXNet's example spells them, of either library."""

    def __init__(self, mx):
        self.mx = mx

    def convolution(self, net, filters, kernel, stride, name):
        pad = kernel // 2
        return self.mx.sym.Convolution(
            net, num_filter=filters, kernel=(kernel, kernel), stride=(stride, stride), pad=(pad, pad),
            no_bias=True, name=name,
        )

    def normalised(self, net, name, fix_gamma=False):
        return self.mx.sym.BatchNorm(net, fix_gamma=fix_gamma, eps=2e-5, momentum=0.9, name=name)

    def rectified(self, net, name):
        return self.mx.sym.Activation(net, act_type="relu", name=name)

    def unit(self, net, filters, stride, widens, name):
        """Version 1 (He et al., 2015): each convolution is normalised, then activated."""
        branch = net
        for number, (width, kernel, step) in enumerate(
            ((filters // 4, 1, stride), (filters // 4, 3, 1), (filters, 1, 1)), start=1
        ):
            branch = self.convolution(branch, width, kernel, step, f"{name}_conv{number}")
            branch = self.normalised(branch, f"{name}_bn{number}")
            if number < 3:
                branch = self.rectified(branch, f"{name}_relu{number}")
        if widens:
            net = self.normalised(self.convolution(net, filters, 1, stride, name + "_sc"), name + "_scbn")
        return self.rectified(branch + net, name + "_relu3")

    def unit_before(self, net, filters, stride, widens, name):
        """Version 2 (He et al., 2016): normalised and activated before each convolution."""
        branch, first = net, None
        for number, (width, kernel, step) in enumerate(
            ((filters // 4, 1, 1), (filters // 4, 3, stride), (filters, 1, 1)), start=1
        ):
            branch = self.rectified(self.normalised(branch, f"{name}_bn{number}"), f"{name}_relu{number}")
            first = branch if first is None else first
            branch = self.convolution(branch, width, kernel, step, f"{name}_conv{number}")
        return branch + (self.convolution(first, filters, 1, stride, name + "_sc") if widens else net)


def resnet50(mx, version):
    """The network for images of 3 x 224 x 224 and 1000 classes."""
    build = Builder(mx)
    net = mx.sym.Variable("data")
    if version == 2:
        net = build.normalised(net, "bn_data", fix_gamma=True)
    net = build.rectified(build.normalised(build.convolution(net, 64, 7, 2, "conv0"), "bn0"), "relu0")
    net = mx.sym.Pooling(net, pool_type="max", kernel=(3, 3), stride=(2, 2), pad=(1, 1), name="pool0")
    unit = build.unit if version == 1 else build.unit_before
    for stage, (units, filters) in enumerate(UNITS, start=1):
        for number in range(1, units + 1):
            stride = 2 if number == 1 and stage > 1 else 1
            net = unit(net, filters, stride, number == 1, f"stage{stage}_unit{number}")
    if version == 2:
        net = build.rectified(build.normalised(net, "bn1"), "relu1")
    net = mx.sym.Pooling(net, pool_type="avg", global_pool=True, kernel=(7, 7), name="pool1")
    net = mx.sym.FullyConnected(mx.sym.Flatten(net, name="flatten"), num_hidden=1000, name="fc1")
    return mx.sym.SoftmaxOutput(net, name="softmax")


def megabytes(mx, version, grad_req):
    """What ``debug_str`` says of the bound network."""
    executor = resnet50(mx, version).simple_bind(mx.cpu(), grad_req=grad_req, **BATCH)
    return int(executor.debug_str().split("Total ")[1].split(" MB")[0])


def main(library):
    mx = importlib.import_module(library)
    for plan in ("keep", "once") if library == "refimpl" else ("",):
        os.environ["REFIMPL_MEMORY_PLAN"] = plan or "keep"
        for version in (1, 2):
            found = {req: megabytes(mx, version, req) for req in ("write", "null")}
            print(f"{library} {plan:5} version {version}: training {found['write']}, inference {found['null']} MB")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "refimpl")
