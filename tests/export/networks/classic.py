"""Networks for pictures of 2012 to 2016, with few channels. ``mx`` is refimpl or MXNet, here and in the other files."""


def lenet(mx):
    data = mx.sym.Variable("data")
    conv1 = mx.sym.Convolution(data, kernel=(5, 5), num_filter=6, name="conv1")
    tanh1 = mx.sym.Activation(conv1, act_type="tanh", name="tanh1")
    pool1 = mx.sym.Pooling(tanh1, pool_type="max", kernel=(2, 2), stride=(2, 2), name="pool1")
    conv2 = mx.sym.Convolution(pool1, kernel=(5, 5), num_filter=8, name="conv2")
    tanh2 = mx.sym.Activation(conv2, act_type="tanh", name="tanh2")
    pool2 = mx.sym.Pooling(tanh2, pool_type="max", kernel=(2, 2), stride=(2, 2), name="pool2")
    fc1 = mx.sym.FullyConnected(mx.sym.Flatten(pool2, name="flatten"), num_hidden=12, name="fc1")
    tanh3 = mx.sym.Activation(fc1, act_type="tanh", name="tanh3")
    return mx.sym.SoftmaxOutput(mx.sym.FullyConnected(tanh3, num_hidden=10, name="fc2"), name="softmax")


def _classified(mx, net, hidden, name):
    """The three fully connected layers at the end of AlexNet and VGG."""
    net = mx.sym.Flatten(net, name="flatten")
    for number in (6, 7):
        net = mx.sym.FullyConnected(net, num_hidden=hidden, name=f"fc{number}")
        net = mx.sym.Activation(net, act_type="relu", name=f"relu{number}")
        net = mx.sym.Dropout(net, p=0.5, name=f"drop{number}")
    return mx.sym.SoftmaxOutput(mx.sym.FullyConnected(net, num_hidden=10, name="fc8"), name=name)


def alexnet(mx):
    net = mx.sym.Variable("data")
    for number, (filters, kernel, stride, pad) in enumerate(((8, 11, 4, 0), (12, 5, 1, 2)), 1):
        net = mx.sym.Convolution(
            net, kernel=(kernel, kernel), stride=(stride, stride), pad=(pad, pad), num_filter=filters,
            num_group=number, name=f"conv{number}",
        )
        net = mx.sym.Activation(net, act_type="relu", name=f"relu{number}")
        net = mx.sym.LRN(net, alpha=0.0001, beta=0.75, knorm=2, nsize=5, name=f"norm{number}")
        net = mx.sym.Pooling(net, pool_type="max", kernel=(3, 3), stride=(2, 2), name=f"pool{number}")
    for number, filters in enumerate((12, 12, 8), 3):
        net = mx.sym.Convolution(net, kernel=(3, 3), pad=(1, 1), num_filter=filters, name=f"conv{number}")
        net = mx.sym.Activation(net, act_type="relu", name=f"relu{number}")
    net = mx.sym.Pooling(net, kernel=(3, 3), stride=(2, 2), pool_type="max", name="pool5")
    return _classified(mx, net, 16, "softmax")


def vgg(mx):
    net = mx.sym.Variable("data")
    for block, layers in enumerate((1, 1, 2, 2), 1):
        for layer in range(1, layers + 1):
            name = f"{block}_{layer}"
            net = mx.sym.Convolution(net, kernel=(3, 3), pad=(1, 1), num_filter=4 * block, name="conv" + name)
            net = mx.sym.Activation(net, act_type="relu", name="relu" + name)
        net = mx.sym.Pooling(net, pool_type="max", kernel=(2, 2), stride=(2, 2), name=f"pool{block}")
    return _classified(mx, net, 24, "prob")


def googlenet(mx):
    def conv(net, filters, kernel, stride=1, pad=0, name=""):
        net = mx.sym.Convolution(
            net, num_filter=filters, kernel=(kernel, kernel), stride=(stride, stride), pad=(pad, pad),
            name="conv_" + name,
        )
        return mx.sym.Activation(net, act_type="relu", name="relu_" + name)

    def inception(net, one, reduce3, three, reduce5, five, pooled, name):
        a = conv(net, one, 1, name=name + "_1x1")
        b = conv(conv(net, reduce3, 1, name=name + "_3x3_reduce"), three, 3, pad=1, name=name + "_3x3")
        c = conv(conv(net, reduce5, 1, name=name + "_5x5_reduce"), five, 5, pad=2, name=name + "_5x5")
        d = mx.sym.Pooling(
            net, kernel=(3, 3), stride=(1, 1), pad=(1, 1), pool_type="max", name=f"max_pool_{name}_pool"
        )
        return mx.sym.Concat(a, b, c, conv(d, pooled, 1, name=name + "_proj"), name=f"ch_concat_{name}_chconcat")

    net = conv(mx.sym.Variable("data"), 6, 7, 2, 3, "conv1")
    net = mx.sym.Pooling(net, kernel=(3, 3), stride=(2, 2), pool_type="max", pooling_convention="full", name="pool1")
    net = mx.sym.LRN(net, alpha=0.0001, beta=0.75, knorm=1, nsize=5, name="norm1")
    net = inception(net, 4, 4, 6, 2, 4, 2, "in3a")
    net = mx.sym.Pooling(net, kernel=(3, 3), stride=(2, 2), pool_type="max", pooling_convention="full", name="pool3")
    net = inception(net, 6, 4, 8, 2, 4, 2, "in4a")
    net = mx.sym.Pooling(net, kernel=(5, 5), stride=(1, 1), pool_type="avg", name="global_pool")
    net = mx.sym.FullyConnected(mx.sym.Flatten(net, name="flatten"), num_hidden=10, name="fc1")
    return mx.sym.SoftmaxOutput(net, name="softmax")


def inception_v3(mx):
    def conv(net, filters, kernel=(1, 1), stride=(1, 1), pad=(0, 0), name=""):
        net = mx.sym.Convolution(
            net, num_filter=filters, kernel=kernel, stride=stride, pad=pad, no_bias=True, name=name + "_conv2d"
        )
        net = mx.sym.BatchNorm(net, eps=0.001, fix_gamma=True, name=name + "_batchnorm")
        return mx.sym.Activation(net, act_type="relu", name=name + "_relu")

    def pool(net, kind, stride, pad, name):
        return mx.sym.Pooling(
            net, kernel=(3, 3), stride=(stride, stride), pad=(pad, pad), pool_type=kind, name=f"{kind}_pool_{name}"
        )

    net = conv(mx.sym.Variable("data"), 4, (3, 3), (2, 2), name="conv")
    net = conv(net, 4, (3, 3), name="conv_1")
    net = pool(conv(net, 6, (3, 3), pad=(1, 1), name="conv_2"), "max", 2, 0, "pool")
    parts = (
        conv(net, 4, name="mixed_conv"),
        conv(conv(net, 3, name="mixed_tower_conv"), 4, (5, 5), pad=(2, 2), name="mixed_tower_conv_1"),
        conv(pool(net, "avg", 1, 1, "mixed_pool"), 2, name="mixed_tower_2_conv"),
    )
    net = mx.sym.Concat(*parts, name="ch_concat_mixed_chconcat")
    net = mx.sym.Concat(
        conv(net, 6, (3, 3), (2, 2), name="mixed_3_conv"), pool(net, "max", 2, 0, "mixed_3_pool"),
        name="ch_concat_mixed_3_chconcat",
    )
    tower = conv(net, 4, name="mixed_4_tower_conv")
    tower = conv(tower, 4, (1, 7), pad=(0, 3), name="mixed_4_tower_conv_1")
    tower = conv(tower, 6, (7, 1), pad=(3, 0), name="mixed_4_tower_conv_2")
    pooled = conv(pool(net, "avg", 1, 1, "mixed_4_pool"), 4, name="mixed_4_tower_2_conv")
    net = mx.sym.Concat(conv(net, 6, name="mixed_4_conv"), tower, pooled, name="ch_concat_mixed_4_chconcat")
    wide = conv(net, 4, name="mixed_9_tower_conv")
    net = mx.sym.Concat(
        conv(net, 6, name="mixed_9_conv"),
        conv(wide, 4, (1, 3), pad=(0, 1), name="mixed_9_tower_mixed_conv"),
        conv(wide, 4, (3, 1), pad=(1, 0), name="mixed_9_tower_mixed_conv_1"),
        name="ch_concat_mixed_9_chconcat",
    )
    net = mx.sym.Pooling(net, kernel=(8, 8), global_pool=True, pool_type="avg", name="global_pool")
    net = mx.sym.Dropout(mx.sym.Flatten(net, name="flatten"), p=0.5, name="dropout")
    return mx.sym.SoftmaxOutput(mx.sym.FullyConnected(net, num_hidden=10, name="fc1"), name="softmax")


NETWORKS = {
    "lenet": (lenet, {"data": (2, 1, 28, 28)}), "alexnet": (alexnet, {"data": (1, 3, 99, 99)}),
    "vgg": (vgg, {"data": (2, 3, 32, 32)}), "googlenet": (googlenet, {"data": (1, 3, 72, 72)}),
    "inception-v3": (inception_v3, {"data": (1, 3, 39, 39)}),
}
