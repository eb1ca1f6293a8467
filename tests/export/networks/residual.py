"""Networks of units that are added up, concatenated or weighted, of 2015 to 2018."""


def _unit(mx, net, filters, stride, same, name, groups=1, se=False):
    """A bottleneck of the first kind: convolution, statistics, activation; then the shortcut."""
    body = net
    for number, (few, kernel, step, pad, group) in enumerate(
        ((filters // 2, 1, 1, 0, 1), (filters // 2, 3, stride, 1, groups), (filters, 1, 1, 0, 1)), 1
    ):
        body = mx.sym.Convolution(
            body, num_filter=few, kernel=(kernel, kernel), stride=(step, step), pad=(pad, pad), num_group=group,
            no_bias=True, name=f"{name}_conv{number}",
        )
        body = mx.sym.BatchNorm(body, fix_gamma=False, eps=2e-5, name=f"{name}_bn{number}")
        if number < 3:
            body = mx.sym.Activation(body, act_type="relu", name=f"{name}_relu{number}")
    if se:
        squeeze = mx.sym.Pooling(body, global_pool=True, kernel=(7, 7), pool_type="avg", name=name + "_se_pool1")
        squeeze = mx.sym.Flatten(squeeze, name=name + "_flatten")
        excite = mx.sym.FullyConnected(squeeze, num_hidden=max(filters // 4, 2), name=name + "_se_fc1")
        excite = mx.sym.Activation(excite, act_type="relu", name=name + "_se_relu")
        excite = mx.sym.FullyConnected(excite, num_hidden=filters, name=name + "_se_fc2")
        excite = mx.sym.Activation(excite, act_type="sigmoid", name=name + "_se_sigmoid")
        body = mx.sym.broadcast_mul(
            body, mx.sym.reshape(excite, shape=(-1, filters, 1, 1), name=name + "_se_reshape"), name=name + "_se_scale"
        )
    shortcut = net
    if not same:
        shortcut = mx.sym.Convolution(
            net, num_filter=filters, kernel=(1, 1), stride=(stride, stride), no_bias=True, name=name + "_sc"
        )
        shortcut = mx.sym.BatchNorm(shortcut, fix_gamma=False, eps=2e-5, name=name + "_sc_bn")
    body = mx.sym.elemwise_add(body, shortcut, name=name + "_plus")
    return mx.sym.Activation(body, act_type="relu", name=name + "_relu")


def _residual(mx, groups=1, se=False):
    net = mx.sym.Convolution(
        mx.sym.Variable("data"), num_filter=8, kernel=(7, 7), stride=(2, 2), pad=(3, 3), no_bias=True, name="conv0"
    )
    net = mx.sym.Activation(mx.sym.BatchNorm(net, fix_gamma=False, eps=2e-5, name="bn0"), act_type="relu", name="relu0")
    net = mx.sym.Pooling(
        net, kernel=(3, 3), stride=(2, 2), pool_type="max", pooling_convention="full", name="pooling0"
    )
    for stage, filters in enumerate((8, 16), 1):
        for unit in (1, 2):
            stride = 2 if unit == 1 and stage == 2 else 1
            net = _unit(mx, net, filters, stride, unit == 2, f"stage{stage}_unit{unit}", groups, se)
    net = mx.sym.Pooling(net, global_pool=True, kernel=(7, 7), pool_type="avg", name="pool1")
    net = mx.sym.FullyConnected(mx.sym.Flatten(net, name="flatten0"), num_hidden=10, name="fc1")
    return mx.sym.SoftmaxOutput(net, name="softmax")


def resnet_v1(mx):
    return _residual(mx)


def resnext(mx):
    return _residual(mx, groups=4)


def se_resnet(mx):
    return _residual(mx, se=True)


def resnet_v2(mx):
    """Statistics and activation come before each convolution; the data have statistics with gamma fixed at 1."""
    net = mx.sym.BatchNorm(mx.sym.Variable("data"), fix_gamma=True, eps=2e-5, momentum=0.9, name="bn_data")
    net = mx.sym.Convolution(net, num_filter=8, kernel=(3, 3), pad=(1, 1), no_bias=True, name="conv0")
    for stage, filters in enumerate((8, 16), 1):
        for unit in (1, 2):
            name, stride = f"stage{stage}_unit{unit}", 2 if unit == 1 and stage == 2 else 1
            first = mx.sym.BatchNorm(net, fix_gamma=False, eps=2e-5, momentum=0.9, name=name + "_bn1")
            first = mx.sym.Activation(first, act_type="relu", name=name + "_relu1")
            body = mx.sym.Convolution(
                first, num_filter=filters, kernel=(3, 3), stride=(stride, stride), pad=(1, 1), no_bias=True,
                workspace=256, name=name + "_conv1",
            )
            body = mx.sym.BatchNorm(body, fix_gamma=False, eps=2e-5, momentum=0.9, name=name + "_bn2")
            body = mx.sym.Activation(body, act_type="relu", name=name + "_relu2")
            body = mx.sym.Convolution(
                body, num_filter=filters, kernel=(3, 3), pad=(1, 1), no_bias=True, workspace=256, name=name + "_conv2"
            )
            shortcut = net if unit == 2 else mx.sym.Convolution(
                first, num_filter=filters, kernel=(1, 1), stride=(stride, stride), no_bias=True, name=name + "_sc"
            )
            net = body + shortcut
    net = mx.sym.BatchNorm(net, fix_gamma=False, eps=2e-5, momentum=0.9, name="bn1")
    net = mx.sym.Activation(net, act_type="relu", name="relu1")
    net = mx.sym.Pooling(net, global_pool=True, kernel=(7, 7), pool_type="avg", name="pool1")
    net = mx.sym.FullyConnected(mx.sym.Flatten(net), num_hidden=10, name="fc1")
    return mx.sym.SoftmaxOutput(net, name="softmax")


def densenet(mx):
    net = mx.sym.Convolution(
        mx.sym.Variable("data"), num_filter=8, kernel=(3, 3), pad=(1, 1), no_bias=True, name="conv0"
    )
    filters = 8
    for block in (1, 2):
        for layer in (1, 2, 3):
            name = f"conv{block}_{layer}"
            new = mx.sym.BatchNorm(net, fix_gamma=False, eps=1e-5, name=name + "_x1_bn")
            new = mx.sym.Activation(new, act_type="relu", name=name + "_relu1")
            new = mx.sym.Convolution(new, num_filter=8, kernel=(1, 1), no_bias=True, name=name + "_x1")
            new = mx.sym.BatchNorm(new, fix_gamma=False, eps=1e-5, name=name + "_x2_bn")
            new = mx.sym.Activation(new, act_type="relu", name=name + "_relu2")
            new = mx.sym.Convolution(new, num_filter=4, kernel=(3, 3), pad=(1, 1), no_bias=True, name=name + "_x2")
            net = mx.sym.Concat(net, new, name=f"concat_{block}_{layer}")
            filters += 4
        net = mx.sym.BatchNorm(net, fix_gamma=False, eps=1e-5, name=f"conv{block}_blk_bn")
        net = mx.sym.Activation(net, act_type="relu", name=f"relu{block}_blk")
        if block == 1:
            filters //= 2
            net = mx.sym.Convolution(net, num_filter=filters, kernel=(1, 1), no_bias=True, name="conv1_blk")
            net = mx.sym.Pooling(net, pool_type="avg", kernel=(2, 2), stride=(2, 2), name="pool1")
    net = mx.sym.Pooling(net, global_pool=True, kernel=(1, 1), pool_type="avg", name="pool5")
    net = mx.sym.Convolution(net, num_filter=10, kernel=(1, 1), name="fc6")
    return mx.sym.SoftmaxOutput(mx.sym.Flatten(net, name="flatten"), name="prob")


def _separable(mx, net, filters, kernel, stride, pad, name, groups=1, act="relu"):
    net = mx.sym.Convolution(
        net, num_filter=filters, kernel=(kernel, kernel), stride=(stride, stride), pad=(pad, pad), num_group=groups,
        no_bias=True, name=name,
    )
    net = mx.sym.BatchNorm(net, fix_gamma=True, eps=1e-3, name=name + "_bn")
    if act == "relu":
        return mx.sym.Activation(net, act_type="relu", name=name + "_relu")
    return mx.sym.clip(net, a_min=0, a_max=6, name=name + "_relu6") if act == "relu6" else net


def mobilenet_v1(mx):
    net = _separable(mx, mx.sym.Variable("data"), 6, 3, 2, 1, "conv1")
    channels = 6
    for number, (filters, stride) in enumerate(((8, 1), (12, 2), (12, 1)), 2):
        net = _separable(mx, net, channels, 3, stride, 1, f"conv{number}_dw", groups=channels)
        net = _separable(mx, net, filters, 1, 1, 0, f"conv{number}_sep")
        channels = filters
    net = mx.sym.Pooling(net, global_pool=True, kernel=(1, 1), pool_type="avg", name="pool6")
    net = mx.sym.Convolution(net, num_filter=10, kernel=(1, 1), name="fc7")
    return mx.sym.SoftmaxOutput(mx.sym.Flatten(net, name="flatten"), name="prob")


def mobilenet_v2(mx):
    net = _separable(mx, mx.sym.Variable("data"), 6, 3, 2, 1, "conv1", act="relu6")
    channels = 6
    for number, (filters, stride) in enumerate(((6, 1), (8, 2), (8, 1)), 2):
        name, wide = f"conv{number}", channels * 3
        body = _separable(mx, net, wide, 1, 1, 0, name + "_expand", act="relu6")
        body = _separable(mx, body, wide, 3, stride, 1, name + "_dwise", groups=wide, act="relu6")
        body = _separable(mx, body, filters, 1, 1, 0, name + "_linear", act="")
        net = mx.sym.elemwise_add(net, body, name=name + "_add") if stride == 1 and channels == filters else body
        channels = filters
    net = mx.sym.Pooling(net, global_pool=True, kernel=(1, 1), pool_type="avg", name="pool6")
    net = mx.sym.Convolution(net, num_filter=10, kernel=(1, 1), name="fc7")
    return mx.sym.softmax(mx.sym.Flatten(net, name="flatten"), name="prob")


def squeezenet(mx):
    def fire(net, squeeze, expand, name):
        net = mx.sym.Convolution(net, num_filter=squeeze, kernel=(1, 1), name=name + "_squeeze1x1")
        net = mx.sym.Activation(net, act_type="relu", name=name + "_relu_squeeze1x1")
        one = mx.sym.Convolution(net, num_filter=expand, kernel=(1, 1), name=name + "_expand1x1")
        three = mx.sym.Convolution(net, num_filter=expand, kernel=(3, 3), pad=(1, 1), name=name + "_expand3x3")
        return mx.sym.Concat(
            mx.sym.Activation(one, act_type="relu", name=name + "_relu_expand1x1"),
            mx.sym.Activation(three, act_type="relu", name=name + "_relu_expand3x3"), dim=1, name=name + "_concat",
        )

    def pool(net, name):
        return mx.sym.Pooling(
            net, kernel=(3, 3), stride=(2, 2), pool_type="max", pooling_convention="full", name=name
        )

    net = mx.sym.Convolution(mx.sym.Variable("data"), num_filter=8, kernel=(3, 3), stride=(2, 2), name="conv1")
    net = pool(mx.sym.Activation(net, act_type="relu", name="relu_conv1"), "pool1")
    net = pool(fire(fire(net, 4, 6, "fire2"), 4, 6, "fire3"), "pool3")
    net = mx.sym.Dropout(fire(net, 4, 8, "fire4"), p=0.5, name="drop9")
    net = mx.sym.Convolution(net, num_filter=10, kernel=(1, 1), name="conv10")
    net = mx.sym.Activation(net, act_type="relu", name="relu_conv10")
    net = mx.sym.Pooling(net, global_pool=True, kernel=(13, 13), pool_type="avg", name="pool10")
    return mx.sym.SoftmaxOutput(mx.sym.Flatten(net, name="flatten"), name="prob")


NETWORKS = {
    "resnet-v1": (resnet_v1, {"data": (2, 3, 32, 32)}), "resnet-v2": (resnet_v2, {"data": (2, 3, 16, 16)}),
    "resnext": (resnext, {"data": (1, 3, 32, 32)}), "se-resnet": (se_resnet, {"data": (1, 3, 32, 32)}),
    "densenet": (densenet, {"data": (1, 3, 16, 16)}), "mobilenet-v1": (mobilenet_v1, {"data": (2, 3, 24, 24)}),
    "mobilenet-v2": (mobilenet_v2, {"data": (2, 3, 24, 24)}), "squeezenet": (squeezenet, {"data": (1, 3, 38, 38)}),
}
