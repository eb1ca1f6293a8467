"""Networks whose output is a picture or a vector: segmentation, generators, faces, a spatial transformer."""


def fcn(mx):
    """FCN-16s: coarse scores are enlarged and added to those of an earlier layer, cut to their size."""
    data = mx.sym.Variable("data")
    net = mx.sym.Convolution(data, kernel=(3, 3), pad=(10, 10), num_filter=6, name="conv1")
    net = mx.sym.Activation(net, act_type="relu", name="relu1")
    early = mx.sym.Pooling(net, pool_type="max", kernel=(2, 2), stride=(2, 2), name="pool1")
    net = mx.sym.Convolution(early, kernel=(3, 3), pad=(1, 1), num_filter=8, name="conv2")
    net = mx.sym.Activation(net, act_type="relu", name="relu2")
    net = mx.sym.Pooling(net, pool_type="max", kernel=(2, 2), stride=(2, 2), name="pool2")
    score = mx.sym.Convolution(net, kernel=(1, 1), num_filter=5, name="score")
    score2 = mx.sym.Deconvolution(score, kernel=(4, 4), stride=(2, 2), pad=(1, 1), num_filter=5, name="score2")
    early = mx.sym.Convolution(early, kernel=(1, 1), num_filter=5, name="score_pool4")
    early = mx.sym.Crop(early, score2, offset=(1, 1), name="score_pool4c")
    big = mx.sym.Deconvolution(
        score2 + early, kernel=(4, 4), stride=(2, 2), num_filter=5, num_group=5, adj=(1, 1), no_bias=True,
        name="bigscore",
    )
    upscore = mx.sym.Crop(big, data, offset=(9, 9), name="upscore")
    return mx.sym.SoftmaxOutput(upscore, multi_output=True, use_ignore=True, ignore_label=255, name="softmax")


def unet(mx):
    def conv(net, filters, name):
        for number in (1, 2):
            net = mx.sym.Convolution(
                net, num_filter=filters, kernel=(3, 3), pad=(1, 1), name=f"{name}_conv{number}"
            )
            net = mx.sym.BatchNorm(net, fix_gamma=False, name=f"{name}_bn{number}")
            net = mx.sym.Activation(net, act_type="relu", name=f"{name}_relu{number}")
        return net

    first = conv(mx.sym.Variable("data"), 4, "down1")
    second = conv(mx.sym.Pooling(first, kernel=(2, 2), stride=(2, 2), pool_type="max", name="pool1"), 6, "down2")
    net = conv(mx.sym.Pooling(second, kernel=(2, 2), stride=(2, 2), pool_type="max", name="pool2"), 8, "middle")
    net = mx.sym.Deconvolution(
        net, kernel=(3, 3), stride=(2, 2), pad=(1, 1), target_shape=(8, 8), num_filter=6, no_bias=True, name="up2"
    )
    net = conv(mx.sym.concat(net, second, dim=1, name="join2"), 6, "up2")
    net = mx.sym.UpSampling(net, scale=2, num_filter=6, sample_type="bilinear", name="up1")
    net = conv(mx.sym.concat(net, first, dim=1, name="join1"), 4, "up1")
    net = mx.sym.Convolution(net, num_filter=1, kernel=(1, 1), name="score")
    return mx.sym.LogisticRegressionOutput(net, name="softmax")


def spatial_transformer(mx):
    data = mx.sym.Variable("data")
    loc = mx.sym.Convolution(data, num_filter=4, kernel=(5, 5), stride=(2, 2), name="loc_conv1")
    loc = mx.sym.Activation(loc, act_type="relu", name="loc_relu1")
    loc = mx.sym.Pooling(loc, kernel=(2, 2), stride=(2, 2), pool_type="max", name="loc_pool1")
    loc = mx.sym.FullyConnected(mx.sym.Flatten(loc, name="loc_flatten"), num_hidden=6, name="stn_loc")
    net = mx.sym.SpatialTransformer(
        data, loc, target_shape=(14, 14), transform_type="affine", sampler_type="bilinear", name="stn"
    )
    net = mx.sym.Convolution(net, num_filter=6, kernel=(3, 3), name="conv1")
    net = mx.sym.Activation(net, act_type="relu", name="relu1")
    net = mx.sym.Pooling(net, kernel=(2, 2), stride=(2, 2), pool_type="max", name="pool1")
    net = mx.sym.FullyConnected(mx.sym.Flatten(net, name="flatten"), num_hidden=10, name="fc")
    return mx.sym.SoftmaxOutput(net, name="softmax")


def face(mx):
    """The improved residual units of ArcFace; pixels are scaled inside, the embedding has length 1."""
    def prelu(net, name):
        return mx.sym.LeakyReLU(net, act_type="prelu", name=name)

    net = (mx.sym.identity(mx.sym.Variable("data"), name="id") - 127.5) * 0.0078125
    net = mx.sym.Convolution(net, num_filter=6, kernel=(3, 3), pad=(1, 1), no_bias=True, name="conv0")
    net = prelu(mx.sym.BatchNorm(net, fix_gamma=False, eps=2e-5, momentum=0.9, name="bn0"), "relu0")
    for unit, (filters, stride) in enumerate(((8, 2), (8, 1)), 1):
        name = f"stage1_unit{unit}"
        body = mx.sym.BatchNorm(net, fix_gamma=False, eps=2e-5, momentum=0.9, name=name + "_bn1")
        body = mx.sym.Convolution(
            body, num_filter=filters, kernel=(3, 3), pad=(1, 1), no_bias=True, name=name + "_conv1"
        )
        body = mx.sym.BatchNorm(body, fix_gamma=False, eps=2e-5, momentum=0.9, name=name + "_bn2")
        body = prelu(body, name + "_relu1")
        body = mx.sym.Convolution(
            body, num_filter=filters, kernel=(3, 3), stride=(stride, stride), pad=(1, 1), no_bias=True,
            name=name + "_conv2",
        )
        body = mx.sym.BatchNorm(body, fix_gamma=False, eps=2e-5, momentum=0.9, name=name + "_bn3")
        if stride == 2:
            net = mx.sym.Convolution(
                net, num_filter=filters, kernel=(1, 1), stride=(2, 2), no_bias=True, name=name + "_conv1sc"
            )
            net = mx.sym.BatchNorm(net, fix_gamma=False, eps=2e-5, momentum=0.9, name=name + "_sc")
        net = body + net
    net = mx.sym.BatchNorm(net, fix_gamma=False, eps=2e-5, momentum=0.9, name="bn1")
    net = mx.sym.Dropout(net, p=0.4, name="dropout0")
    net = mx.sym.FullyConnected(net, num_hidden=16, name="pre_fc1")
    net = mx.sym.BatchNorm(net, fix_gamma=True, eps=2e-5, momentum=0.9, name="fc1")
    return mx.sym.L2Normalization(net, mode="instance", name="embedding")


def dcgan(mx):
    """The generator: a vector of noise becomes a picture."""
    net = mx.sym.Variable("rand")
    for number, (filters, side) in enumerate(((12, 4), (8, 8), (6, 16)), 1):
        step = (1, 0) if side == 4 else (2, 1)
        net = mx.sym.Deconvolution(
            net, kernel=(4, 4), stride=(step[0],) * 2, pad=(step[1],) * 2, num_filter=filters, no_bias=True,
            name=f"g{number}",
        )
        net = mx.sym.BatchNorm(net, fix_gamma=True, eps=1e-5 + 1e-12, name=f"gbn{number}")
        net = mx.sym.Activation(net, act_type="relu", name=f"gact{number}")
    net = mx.sym.Deconvolution(
        net, kernel=(4, 4), stride=(2, 2), pad=(1, 1), num_filter=3, no_bias=True, name="g5"
    )
    return mx.sym.Activation(net, act_type="tanh", name="gact5")


NETWORKS = {
    "fcn": (fcn, {"data": (1, 3, 24, 24)}), "unet": (unet, {"data": (2, 1, 16, 16)}),
    "spatial-transformer": (spatial_transformer, {"data": (2, 1, 20, 20)}), "face": (face, {"data": (2, 3, 16, 16)}),
    "dcgan": (dcgan, {"rand": (2, 10, 1, 1)}),
}
