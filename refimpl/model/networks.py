"""The networks that ``refimpl train`` knows, written as any MXNet 1.x script would write them.

Each function returns a symbol with one input ``data``, one label ``softmax_label`` and one output. To
try another, copy one of them; nothing here is special to this package but its import line.
"""

from __future__ import annotations

from collections.abc import Callable

import refimpl as mx


def mlp(classes: int, image_shape: tuple[int, int, int]) -> mx.sym.Symbol:
    """Two hidden layers of 128 and 64 units."""
    del image_shape  # any image is flattened
    net = mx.sym.Flatten(mx.sym.Variable("data"), name="flatten")
    for number, width in enumerate((128, 64), start=1):
        net = mx.sym.FullyConnected(net, num_hidden=width, name=f"fc{number}")
        net = mx.sym.Activation(net, act_type="relu", name=f"relu{number}")
    net = mx.sym.FullyConnected(net, num_hidden=classes, name="fc3")
    return mx.sym.SoftmaxOutput(net, name="softmax")


def lenet(classes: int, image_shape: tuple[int, int, int]) -> mx.sym.Symbol:
    """LeNet (LeCun et al., 1998) with tanh and max pooling, as MXNet's examples spell it.

    Images smaller than 28 x 28 get 3 x 3 kernels with padding in place of 5 x 5 without, because two
    unpadded 5 x 5 convolutions would leave nothing of an 8 x 8 digit.
    """
    small = min(image_shape[1:]) < 28
    kernel, pad = ((3, 3), (1, 1)) if small else ((5, 5), (0, 0))
    net = mx.sym.Variable("data")
    for number, filters in enumerate((20, 50), start=1):
        net = mx.sym.Convolution(
            net, kernel=kernel, pad=pad, num_filter=filters, name=f"conv{number}"
        )
        net = mx.sym.Activation(net, act_type="tanh", name=f"tanh{number}")
        net = mx.sym.Pooling(
            net, pool_type="max", kernel=(2, 2), stride=(2, 2), name=f"pool{number}"
        )
    net = mx.sym.Flatten(net, name="flatten")
    net = mx.sym.FullyConnected(net, num_hidden=500, name="fc1")
    net = mx.sym.Activation(net, act_type="tanh", name="tanh3")
    net = mx.sym.FullyConnected(net, num_hidden=classes, name="fc2")
    return mx.sym.SoftmaxOutput(net, name="softmax")


def _normalised(net: mx.sym.Symbol, name: str) -> mx.sym.Symbol:
    return mx.sym.BatchNorm(net, fix_gamma=False, eps=2e-5, momentum=0.9, name=name)


def _convolved(net: mx.sym.Symbol, filters: int, stride: int, name: str) -> mx.sym.Symbol:
    return mx.sym.Convolution(
        net, num_filter=filters, kernel=(3, 3), stride=(stride, stride), pad=(1, 1), no_bias=True,
        name=name,
    )


def _residual_unit(
    net: mx.sym.Symbol, filters: int, stride: int, *, widens: bool, name: str
) -> mx.sym.Symbol:
    """Normalise and activate before each convolution; the shortcut carries the rest unchanged."""
    first = mx.sym.Activation(_normalised(net, f"{name}_bn1"), act_type="relu", name=f"{name}_relu1")
    branch = _convolved(first, filters, stride, f"{name}_conv1")
    branch = mx.sym.Activation(
        _normalised(branch, f"{name}_bn2"), act_type="relu", name=f"{name}_relu2"
    )
    branch = _convolved(branch, filters, 1, f"{name}_conv2")
    if not widens:
        return branch + net
    shortcut = mx.sym.Convolution(
        first, num_filter=filters, kernel=(1, 1), stride=(stride, stride), no_bias=True,
        name=f"{name}_sc",
    )
    return branch + shortcut


def resnet20(classes: int, image_shape: tuple[int, int, int]) -> mx.sym.Symbol:
    """ResNet-20 for small images (He et al., 2016, pre-activation): three stages of three units."""
    del image_shape  # global pooling fits any image
    net = mx.sym.BatchNorm(
        mx.sym.Variable("data"), fix_gamma=True, eps=2e-5, momentum=0.9, name="bn_data"
    )
    net = _convolved(net, 16, 1, "conv0")
    for stage, filters in enumerate((16, 32, 64), start=1):
        for unit in range(1, 4):
            net = _residual_unit(
                net, filters, stride=2 if unit == 1 and stage > 1 else 1, widens=unit == 1,
                name=f"stage{stage}_unit{unit}",
            )
    net = mx.sym.Activation(_normalised(net, "bn1"), act_type="relu", name="relu1")
    net = mx.sym.Pooling(net, pool_type="avg", global_pool=True, kernel=(8, 8), name="pool1")
    net = mx.sym.FullyConnected(mx.sym.Flatten(net), num_hidden=classes, name="fc1")
    return mx.sym.SoftmaxOutput(net, name="softmax")


NETWORKS: dict[str, Callable[[int, tuple[int, int, int]], mx.sym.Symbol]] = {
    "mlp": mlp,
    "lenet": lenet,
    "resnet-20": resnet20,
}
