"""Networks that find objects, of 2015 to 2020."""


def _conv(mx, net, filters, kernel, stride, name, act="relu", **more):
    pad = more.pop("pad", kernel // 2)
    net = mx.sym.Convolution(
        net, num_filter=filters, kernel=(kernel, kernel), stride=(stride, stride), pad=(pad, pad), name=name, **more
    )
    if act == "leaky":
        net = mx.sym.BatchNorm(net, fix_gamma=False, eps=1e-5, name=name + "_batchnorm")
        return mx.sym.LeakyReLU(net, act_type="leaky", slope=0.1, name=name + "_leaky")
    return mx.sym.Activation(net, act_type=act, name=name + "_" + act) if act else net


def ssd(mx):
    """VGG with atrous convolution; the first scale is normalised and multiplied by a learned number per channel."""
    net = _conv(mx, mx.sym.Variable("data"), 6, 3, 1, "conv1_1")
    net = mx.sym.Pooling(net, pool_type="max", kernel=(2, 2), stride=(2, 2), name="pool1")
    early = _conv(mx, net, 8, 3, 1, "conv4_3")
    net = mx.sym.Pooling(early, pool_type="max", kernel=(2, 2), stride=(2, 2), pooling_convention="full", name="pool4")
    net = mx.sym.Pooling(net, pool_type="max", kernel=(3, 3), stride=(1, 1), pad=(1, 1), name="pool5")
    net = _conv(mx, net, 8, 3, 1, "fc6", pad=6, dilate=(6, 6))
    late = _conv(mx, net, 8, 1, 1, "fc7")
    last = _conv(mx, late, 8, 3, 2, "conv8_2", pad=1)
    scale = mx.sym.Variable("relu4_3_scale", shape=(1, 8, 1, 1), attr={"__wd_mult__": "0.1"})
    early = mx.sym.broadcast_mul(scale, mx.sym.L2Normalization(early, mode="channel", name="relu4_3_norm"))
    classes, places, anchors = [], [], []
    sizes, ratios, steps = ((0.1, 0.14), (0.3, 0.4), (0.6, 0.75)), ((1, 2, 0.5), (1, 2, 0.5), (1, 3)), (4, 8, 16)
    for number, layer in enumerate((early, late, last)):
        name = ("relu4_3", "relu7", "multi_feat_2_conv_3x3_relu")[number]
        count = len(sizes[number]) + len(ratios[number]) - 1
        scores = _conv(mx, layer, count * 4, 3, 1, name + "_cls_pred_conv", act="")
        scores = mx.sym.transpose(scores, axes=(0, 2, 3, 1))
        classes.append(mx.sym.Flatten(scores))
        boxes = _conv(mx, layer, count * 4, 3, 1, name + "_loc_pred_conv", act="")
        places.append(mx.sym.Flatten(mx.sym.transpose(boxes, axes=(0, 2, 3, 1))))
        prior = mx.sym.contrib.MultiBoxPrior(
            layer, sizes=sizes[number], ratios=ratios[number], clip=False, steps=(steps[number] / 32.0,) * 2,
            name=name + "_anchors",
        )
        anchors.append(mx.sym.Flatten(prior))
    scores = mx.sym.Reshape(mx.sym.Concat(*classes, dim=1), shape=(0, -1, 4))
    scores = mx.sym.transpose(scores, axes=(0, 2, 1), name="multibox_cls_pred")
    anchors = mx.sym.Reshape(mx.sym.Concat(*anchors, dim=1), shape=(0, -1, 4), name="multibox_anchors")
    places = mx.sym.Concat(*places, dim=1, name="multibox_loc_pred")
    scores = mx.sym.SoftmaxActivation(scores, mode="channel", name="cls_prob")
    return mx.sym.contrib.MultiBoxDetection(
        scores, places, anchors, name="detection", nms_threshold=0.45, force_suppress=False,
        variances=(0.1, 0.1, 0.2, 0.2), nms_topk=400,
    )


def yolov3(mx):
    """Boxes are decoded from two scales; the coarse one is enlarged and joined to the fine one."""
    def head(net, side, stride, name):
        """(batch, side * side * 2, 2 + 5): class, score, and corners for each of two classes."""
        out = _conv(mx, net, 2 * 7, 1, 1, name + "_pred", act="")
        out = mx.sym.transpose(mx.sym.reshape(out, shape=(0, 2, 7, -1)), axes=(0, 3, 1, 2), name=name + "_flat")
        centres = mx.sym.slice_axis(out, begin=0, end=2, axis=-1, name=name + "_centres")
        scales = mx.sym.slice_axis(out, begin=2, end=4, axis=-1, name=name + "_scales")
        object_ = mx.sym.slice_axis(out, begin=4, end=5, axis=-1, name=name + "_object")
        classes = mx.sym.slice_axis(out, begin=5, end=7, axis=-1, name=name + "_classes")
        offsets = mx.sym.Variable(name + "_offsets", shape=(1, side * side, 1, 2))
        anchors = mx.sym.Variable(name + "_anchors", shape=(1, 1, 2, 2))
        centres = mx.sym.broadcast_add(mx.sym.sigmoid(centres), offsets) * stride
        half = mx.sym.broadcast_mul(mx.sym.exp(scales), anchors) / 2.0
        scores = mx.sym.broadcast_mul(mx.sym.sigmoid(classes), mx.sym.sigmoid(object_), name=name + "_scores")
        boxes = mx.sym.concat(centres - half, centres + half, dim=-1, name=name + "_boxes")
        found = []
        for number in range(2):
            score = mx.sym.slice_axis(scores, begin=number, end=number + 1, axis=-1)
            found.append(mx.sym.concat(mx.sym.zeros_like(score) + number, score, boxes, dim=-1))
        return mx.sym.reshape(mx.sym.concat(*found, dim=2), shape=(0, -1, 6), name=name + "_detections")

    net = _conv(mx, mx.sym.Variable("data"), 6, 3, 1, "conv0", act="leaky", no_bias=True)
    fine = _conv(mx, net, 8, 3, 2, "conv1", act="leaky", no_bias=True)
    body = _conv(mx, fine, 4, 1, 1, "conv2", act="leaky", no_bias=True)
    fine = fine + _conv(mx, body, 8, 3, 1, "conv3", act="leaky", no_bias=True)
    coarse = _conv(mx, fine, 12, 3, 2, "conv4", act="leaky", no_bias=True)
    up = _conv(mx, coarse, 4, 1, 1, "conv5", act="leaky", no_bias=True)
    up = mx.sym.UpSampling(up, scale=2, sample_type="nearest", num_args=1, name="upsample")
    fine = mx.sym.concat(up, fine, dim=1, name="route")
    found = mx.sym.concat(head(coarse, 4, 4.0, "yolo1"), head(fine, 8, 2.0, "yolo0"), dim=1, name="detections")
    return mx.sym.contrib.box_nms(
        found, overlap_thresh=0.45, valid_thresh=0.01, topk=100, id_index=0, score_index=1, coord_start=2,
        force_suppress=False, name="nms",
    )


def retinaface(mx):
    """Scores, boxes and five landmarks at two scales; the coarse features are enlarged, cropped and added."""
    def unit(net, filters, stride, name, kernel=3):
        net = mx.sym.Convolution(
            net, num_filter=filters, kernel=(kernel, kernel), stride=(stride, stride), pad=(kernel // 2,) * 2, name=name
        )
        net = mx.sym.BatchNorm(net, eps=2e-5, fix_gamma=False, name=name + "_bn")
        return mx.sym.Activation(net, act_type="relu", name=name + "_relu")

    fine = unit(unit(mx.sym.Variable("data"), 6, 2, "rf_c0"), 8, 2, "rf_c1")
    coarse = unit(fine, 8, 2, "rf_c2")
    lateral, top = unit(fine, 6, 1, "rf_c1_red_conv", 1), unit(coarse, 6, 1, "rf_c2_lateral", 1)
    up = mx.sym.UpSampling(top, scale=2, sample_type="nearest", num_args=1, name="rf_c2_upsampling")
    up = mx.sym.Crop(up, lateral, name="crop0")
    merged = unit(mx.sym.elemwise_add(lateral, up, name="plus0"), 6, 1, "rf_c1_aggr")
    outputs = []
    for stride, features in ((8, top), (4, merged)):
        net = features
        left = mx.sym.Convolution(net, num_filter=4, kernel=(3, 3), pad=(1, 1), name=f"rf_det_conv_stride{stride}")
        net = mx.sym.concat(left, unit(net, 4, 1, f"rf_context_stride{stride}"), dim=1, name=f"concat{stride}")
        net = mx.sym.Activation(net, act_type="relu", name=f"rf_concat_stride{stride}_relu")
        score = mx.sym.Convolution(net, num_filter=4, kernel=(1, 1), name=f"face_rpn_cls_score_stride{stride}")
        shaped = mx.sym.Reshape(
            score, shape=(0, 2, -1, 0), name=f"face_rpn_cls_score_reshape_stride{stride}"
        )
        prob = mx.sym.SoftmaxActivation(shaped, mode="channel", name=f"face_rpn_cls_prob_stride{stride}")
        prob = mx.sym.Reshape(prob, shape=(0, 4, -1, 0), name=f"face_rpn_cls_prob_reshape_stride{stride}")
        box = mx.sym.Convolution(net, num_filter=8, kernel=(1, 1), name=f"face_rpn_bbox_pred_stride{stride}")
        marks = mx.sym.Convolution(net, num_filter=20, kernel=(1, 1), name=f"face_rpn_landmark_pred_stride{stride}")
        outputs += [prob, box, marks]
    return mx.sym.Group(outputs)


def _proposals(mx):
    net = _conv(mx, mx.sym.Variable("data"), 6, 3, 2, "conv1")
    features = _conv(mx, net, 8, 3, 2, "conv2")
    rpn = _conv(mx, features, 8, 3, 1, "rpn_conv_3x3")
    score = mx.sym.Convolution(rpn, num_filter=2 * 3, kernel=(1, 1), name="rpn_cls_score")
    box = mx.sym.Convolution(rpn, num_filter=4 * 3, kernel=(1, 1), name="rpn_bbox_pred")
    shaped = mx.sym.Reshape(score, shape=(0, 2, -1, 0), name="rpn_cls_score_reshape")
    prob = mx.sym.SoftmaxActivation(shaped, mode="channel", name="rpn_cls_prob")
    prob = mx.sym.Reshape(prob, shape=(0, 2 * 3, -1, 0), name="rpn_cls_prob_reshape")
    rois = mx.sym.contrib.Proposal(
        cls_prob=prob, bbox_pred=box, im_info=mx.sym.Variable("im_info"), feature_stride=4, scales=(2,),
        ratios=(0.5, 1, 2), rpn_pre_nms_top_n=60, rpn_post_nms_top_n=8, threshold=0.7, rpn_min_size=4, name="rois",
    )
    return features, rois


def _regions(mx, pooled, rois):
    net = mx.sym.FullyConnected(mx.sym.Flatten(pooled, name="flatten"), num_hidden=12, name="fc6")
    net = mx.sym.Dropout(mx.sym.Activation(net, act_type="relu", name="relu6"), p=0.5, name="drop6")
    score = mx.sym.FullyConnected(net, num_hidden=3, name="cls_score")
    box = mx.sym.FullyConnected(net, num_hidden=12, name="bbox_pred")
    prob = mx.sym.Reshape(mx.sym.SoftmaxOutput(score, name="cls_prob"), shape=(1, -1, 3), name="cls_prob_reshape")
    return mx.sym.Group([rois, prob, mx.sym.Reshape(box, shape=(1, -1, 12), name="bbox_pred_reshape")])


def faster_rcnn(mx):
    features, rois = _proposals(mx)
    pooled = mx.sym.ROIPooling(features, rois, pooled_size=(4, 4), spatial_scale=0.25, name="roi_pool5")
    return _regions(mx, pooled, rois)


def region_head(mx):
    """The second stage alone, with ROIAlign on regions that are an input."""
    rois = mx.sym.Variable("rois")
    features = _conv(mx, mx.sym.Variable("data"), 8, 3, 1, "conv1")
    pooled = mx.sym.contrib.ROIAlign(
        features, rois, pooled_size=(3, 3), spatial_scale=0.5, sample_ratio=2, name="roi_align"
    )
    return _regions(mx, pooled, rois)


def custom_detector(mx):
    """What a Python operator makes of boxes: no other framework has it. Its class must be registered before."""
    net = _conv(mx, mx.sym.Variable("data"), 6, 3, 2, "conv1")
    box = mx.sym.Convolution(net, num_filter=4, kernel=(1, 1), name="box_pred")
    return mx.sym.Custom(box, op_type="rounded_boxes", name="rounded")


def register_custom(mx):
    """The operator of ``custom_detector``: boxes rounded to whole pixels."""

    class RoundedBoxes(mx.operator.CustomOp):
        def forward(self, is_train, req, in_data, out_data, aux):
            self.assign(out_data[0], req[0], mx.nd.round(in_data[0]))

        def backward(self, req, out_grad, in_data, out_data, in_grad, aux):
            self.assign(in_grad[0], req[0], 0)

    @mx.operator.register("rounded_boxes")
    class RoundedBoxesProp(mx.operator.CustomOpProp):
        def __init__(self):
            super().__init__(need_top_grad=False)

        def create_operator(self, ctx, shapes, dtypes):
            return RoundedBoxes()


NETWORKS = {
    "ssd": (ssd, {"data": (1, 3, 32, 32)}), "yolov3": (yolov3, {"data": (1, 3, 16, 16)}),
    "retinaface": (retinaface, {"data": (1, 3, 40, 40)}),
    "faster-rcnn": (faster_rcnn, {"data": (1, 3, 32, 32), "im_info": (1, 3)}),
    "region-head": (region_head, {"data": (1, 3, 16, 16), "rois": (4, 5)}),
    "custom-detector": (custom_detector, {"data": (1, 3, 16, 16)}),
}
