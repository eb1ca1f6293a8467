"""Anchors, targets and two losses in a Group, as in example/ssd, on rectangles in noise."""
from __future__ import print_function
import mxnet as mx
import numpy as np

num_classes = 2
data = mx.symbol.Variable("data")
label = mx.symbol.Variable("label")
body = mx.symbol.Convolution(data=data, kernel=(3, 3), pad=(1, 1), stride=(2, 2), num_filter=8, name="conv1")
body = mx.symbol.Activation(data=body, act_type="relu", name="relu1")
body = mx.symbol.L2Normalization(data=body, mode="channel", name="norm1")
body = mx.symbol.Convolution(data=body, kernel=(3, 3), pad=(1, 1), stride=(2, 2), num_filter=8, name="conv2")
body = mx.symbol.Activation(data=body, act_type="relu", name="relu2")
loc_preds = mx.symbol.Convolution(data=body, kernel=(3, 3), pad=(1, 1), num_filter=4 * 4, name="loc_pred")
loc_preds = mx.symbol.transpose(loc_preds, axes=(0, 2, 3, 1))
loc_preds = mx.symbol.Flatten(data=loc_preds, name="multibox_loc")
cls_preds = mx.symbol.Convolution(data=body, kernel=(3, 3), pad=(1, 1), num_filter=4 * (num_classes + 1),
                                  name="cls_pred")
cls_preds = mx.symbol.transpose(cls_preds, axes=(0, 2, 3, 1))
cls_preds = mx.symbol.Reshape(data=cls_preds, shape=(0, -1, num_classes + 1))
cls_preds = mx.symbol.transpose(cls_preds, axes=(0, 2, 1), name="multibox_cls")
anchors = mx.symbol.contrib.MultiBoxPrior(body, sizes=(0.3, 0.5), ratios=(1, 2, 0.5), clip=False, name="anchors")

tmp = mx.symbol.contrib.MultiBoxTarget(
    *[anchors, label, cls_preds], overlap_threshold=.5, ignore_label=-1, negative_mining_ratio=3,
    minimum_negative_samples=0, negative_mining_thresh=.5, variances=(0.1, 0.1, 0.2, 0.2), name="multibox_target")
loc_target, loc_target_mask, cls_target = tmp[0], tmp[1], tmp[2]
cls_prob = mx.symbol.SoftmaxOutput(data=cls_preds, label=cls_target, ignore_label=-1, use_ignore=True,
                                   grad_scale=1., multi_output=True, normalization='valid', name="cls_prob")
loc_loss_ = mx.symbol.smooth_l1(name="loc_loss_", data=loc_target_mask * (loc_preds - loc_target), scalar=1.0)
loc_loss = mx.symbol.MakeLoss(loc_loss_, grad_scale=1., normalization='valid', name="loc_loss")
cls_label = mx.symbol.MakeLoss(data=cls_target, grad_scale=0, name="cls_label")
net = mx.symbol.Group([cls_prob, loc_loss, cls_label])

rng = np.random.RandomState(21)
X = rng.uniform(0, 0.2, (40, 1, 16, 16))
Y = np.zeros((40, 1, 5))
for i in range(40):
    kind, x, y = i % 2, rng.randint(0, 9), rng.randint(0, 9)
    w, h = ((8, 5), (5, 8))[kind]
    X[i, 0, y:y + h, x:x + w] += 1 - 0.5 * kind
    Y[i, 0] = [kind, x / 16., y / 16., (x + w) / 16., (y + h) / 16.]
train = mx.io.NDArrayIter({'data': X}, {'label': Y}, batch_size=4)

mx.random.seed(6)
mod = mx.mod.Module(net, label_names=('label',), context=mx.gpu(0))
mod.bind(data_shapes=train.provide_data, label_shapes=train.provide_label)
mod.init_params(mx.init.Xavier())
mod.init_optimizer(optimizer='sgd', optimizer_params=(('learning_rate', 0.05), ('momentum', 0.9), ('wd', 0.0005),
                                                      ('rescale_grad', 1.0)))
losses = []
for batch in train:
    mod.forward(batch, is_train=True)
    prob, l1, target = [out.asnumpy() for out in mod.get_outputs()]
    mod.backward()
    mod.update()
    counted = target.flatten() >= 0
    classes = target.flatten()[counted].astype(np.int)
    prob = prob.transpose((0, 2, 1)).reshape((-1, num_classes + 1))[counted]
    losses.append(-np.log(prob[np.arange(len(classes)), classes]).mean() + l1.sum() / len(classes))
mod.save_params('ssd_like.params')
print('losses', ' '.join('%.7g' % loss for loss in losses))
