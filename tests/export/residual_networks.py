"""MXNet's residual networks of 2015 to 2019, in full size or thin: units of three convolutions, version 1 and 2."""

import refimpl as mx


def _norm(data, name):
    return mx.sym.BatchNorm(data, fix_gamma=False, eps=2e-5, momentum=0.9, name=name)


def _conv(data, filters, kernel, stride, name):
    return mx.sym.Convolution(
        data, num_filter=filters, kernel=(kernel, kernel), stride=(stride, stride), pad=(kernel // 2, kernel // 2),
        no_bias=True, name=name,
    )


def _relu(data, name):
    return mx.sym.Activation(data, act_type="relu", name=name)


def _unit_1(data, filters, stride, match, name):
    body = _relu(_norm(_conv(data, filters // 4, 1, stride, name + "_conv1"), name + "_bn1"), name + "_relu1")
    body = _relu(_norm(_conv(body, filters // 4, 3, 1, name + "_conv2"), name + "_bn2"), name + "_relu2")
    body = _norm(_conv(body, filters, 1, 1, name + "_conv3"), name + "_bn3")
    shortcut = data if match else _norm(_conv(data, filters, 1, stride, name + "_conv1sc"), name + "_sc")
    return _relu(body + shortcut, name + "_relu3")


def _unit_2(data, filters, stride, match, name):
    first = _relu(_norm(data, name + "_bn1"), name + "_relu1")
    body = _relu(_norm(_conv(first, filters // 4, 1, 1, name + "_conv1"), name + "_bn2"), name + "_relu2")
    body = _relu(_norm(_conv(body, filters // 4, 3, stride, name + "_conv2"), name + "_bn3"), name + "_relu3")
    body = _conv(body, filters, 1, 1, name + "_conv3")
    return body + (data if match else _conv(first, filters, 1, stride, name + "_sc"))


def resnet(version, units=(3, 4, 6, 3), filters=(64, 256, 512, 1024, 2048), classes=1000):
    """ResNet-50, or a thin one."""
    net = mx.sym.Variable("data")
    if version == 2:
        net = mx.sym.BatchNorm(net, fix_gamma=True, eps=2e-5, momentum=0.9, name="bn_data")
    net = _relu(_norm(_conv(net, filters[0], 7, 2, "conv0"), "bn0"), "relu0")
    net = mx.sym.Pooling(net, kernel=(3, 3), stride=(2, 2), pad=(1, 1), pool_type="max", name="pooling0")
    unit = _unit_1 if version == 1 else _unit_2
    for stage, count in enumerate(units, 1):
        for number in range(1, count + 1):
            stride = 2 if number == 1 < stage else 1
            net = unit(net, filters[stage], stride, number > 1, f"stage{stage}_unit{number}")
    if version == 2:
        net = _relu(_norm(net, "bn1"), "relu1")
    net = mx.sym.Pooling(net, global_pool=True, kernel=(7, 7), pool_type="avg", name="pool1")
    net = mx.sym.FullyConnected(mx.sym.Flatten(net, name="flatten0"), num_hidden=classes, name="fc1")
    return mx.sym.SoftmaxOutput(net, name="softmax")
