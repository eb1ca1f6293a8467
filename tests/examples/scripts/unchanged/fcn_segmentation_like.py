"""A class for every pixel, as fully convolutional networks give it: scores of two depths, enlarged and cropped."""
from __future__ import print_function
import mxnet as mx
import numpy as np

batch_size, size, classes, workspace = 4, 16, 3, 512
rng = np.random.RandomState(83)


def fcn16s():
    data = mx.symbol.Variable(name="data")
    # pad a lot at the first layer, crop at the end
    conv1 = mx.symbol.Convolution(data=data, kernel=(3, 3), pad=(5, 5), num_filter=6, workspace=workspace, name="conv1")
    relu1 = mx.symbol.Activation(data=conv1, act_type="relu", name="relu1")
    pool1 = mx.symbol.Pooling(data=relu1, pool_type="max", kernel=(2, 2), stride=(2, 2), name="pool1")
    conv2 = mx.symbol.Convolution(data=pool1, kernel=(3, 3), pad=(1, 1), num_filter=8, name="conv2")
    relu2 = mx.symbol.Activation(data=conv2, act_type="relu", name="relu2")
    pool2 = mx.symbol.Pooling(data=relu2, pool_type="max", kernel=(2, 2), stride=(2, 2), name="pool2")
    fc6 = mx.symbol.Convolution(data=pool2, kernel=(1, 1), num_filter=8, name="fc6")
    relu6 = mx.symbol.Activation(data=fc6, act_type="relu", name="relu6")
    drop6 = mx.symbol.Dropout(data=relu6, p=0.0, name="drop6")
    score = mx.symbol.Convolution(data=drop6, kernel=(1, 1), num_filter=classes, name="score")
    score2 = mx.symbol.Deconvolution(data=score, kernel=(4, 4), stride=(2, 2), num_filter=classes, no_bias=True,
                                     workspace=workspace, name="score2")
    with mx.AttrScope(lr_mult='2', wd_mult='0'):
        weight = mx.symbol.Variable("score_pool1_weight")
    score_pool1 = mx.symbol.Convolution(data=pool1, weight=weight, kernel=(1, 1), num_filter=classes,
                                        name="score_pool1")
    score2c = mx.symbol.Crop(*[score2, score_pool1], center_crop=True, name="score2c")
    fused = mx.symbol.ElementWiseSum(*[score2c, score_pool1], name="score_fused")
    bigscore = mx.symbol.Deconvolution(data=fused, kernel=(4, 4), stride=(2, 2), num_filter=classes, num_group=classes,
                                       attr={'lr_mult': '0'}, no_bias=True, workspace=workspace, name="bigscore")
    upscore = mx.symbol.Crop(*[bigscore, data], offset=(4, 4), name="upscore")
    return mx.symbol.SoftmaxOutput(data=upscore, multi_output=True, use_ignore=True, ignore_label=255,
                                   normalization='valid', name="softmax")


def pictures(count):
    """A rectangle and a disc; the border of each is not counted."""
    rows, columns = np.mgrid[:size, :size]
    image, label = rng.normal(0, 0.2, (count, 3, size, size)), np.zeros((count, size, size))
    for picture, kind in zip(image, label):
        top, left = rng.randint(1, 7, 2)
        box = (rows >= top) & (rows < top + 6) & (columns >= left) & (columns < left + 7)
        far = np.hypot(rows - rng.randint(8, 14), columns - rng.randint(8, 14))
        kind[box] = 1
        kind[far < 4] = 2
        picture[0] += box
        picture[1] += far < 4
        kind[(far >= 3.5) & (far < 4.5)] = 255
    return image, label


class PixelLoss(mx.metric.EvalMetric):
    """Mean log loss over the pixels that count."""
    def __init__(self):
        super(PixelLoss, self).__init__('pixel')

    def update(self, labels, preds):
        label = labels[0].asnumpy().astype(np.int)
        prob = preds[0].asnumpy().transpose((0, 2, 3, 1))
        counted = label != 255
        self.sum_metric -= np.log(prob[counted][np.arange(counted.sum()), label[counted]]).sum()
        self.num_inst += int(counted.sum())


symbol = fcn16s()
print('arguments', ' '.join(symbol.list_arguments()))
print('rates', sorted((name, sorted(attr.items())) for name, attr in symbol.attr_dict().items()
                      if name in ('score_pool1_weight', 'bigscore_weight')))
image, label = pictures(10 * batch_size)
train = mx.io.NDArrayIter(image, label, batch_size)
shapes, outs, _ = symbol.infer_shape(data=(batch_size, 3, size, size))
print('output', outs)
args = dict((name, mx.nd.array(rng.normal(0, np.sqrt(1.0 / np.prod(shape[1:])), shape)))
            for name, shape in zip(symbol.list_arguments(), shapes)
            if name.endswith('_weight') and 'score2' not in name and 'bigscore' not in name)

mod = mx.mod.Module(symbol, context=mx.gpu(0), fixed_param_names=['fc6_bias'])
mod.bind(data_shapes=train.provide_data, label_shapes=train.provide_label)
# what is not given is enlarged linearly, or begins with a constant
initializer = mx.init.Mixed(['score2_weight|bigscore_weight', 'score_bias', '.*'],
                            [mx.init.Bilinear(), mx.init.Constant(0.05), mx.init.Zero()])
mod.init_params(initializer, arg_params=args, allow_missing=True)
mod.init_optimizer(optimizer='adagrad', optimizer_params={'learning_rate': 0.05, 'wd': 0.0005, 'rescale_grad': 1.0})
metric = PixelLoss()
losses = []
for batch in train:
    mod.forward_backward(batch)
    mod.update()
    metric.reset()
    mod.update_metric(metric, batch.label)
    losses.append(metric.get()[1])
mod.save_params('fcn_segmentation_like.params')
print('losses', ' '.join('%.7g' % loss for loss in losses))
