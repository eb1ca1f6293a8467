"""Position-sensitive score maps pooled over given regions, two losses with weights, as in R-FCN."""
from __future__ import print_function
import mxnet as mx
import numpy as np

num_classes, group = 3, 3
data = mx.sym.Variable('data')
# one image a batch: regions have the image's axis in front
rois = mx.sym.Reshape(data=mx.sym.Variable('rois'), shape=(-1, 5), name='rois_reshape')
label = mx.sym.Reshape(data=mx.sym.Variable('label'), shape=(-1,), name='label_reshape')
bbox_target = mx.sym.Reshape(data=mx.sym.Variable('bbox_target'), shape=(-1, 4), name='bbox_target_reshape')
bbox_weight = mx.sym.Reshape(data=mx.sym.Variable('bbox_weight'), shape=(-1, 4), name='bbox_weight_reshape')
body = mx.sym.Convolution(data=data, kernel=(3, 3), pad=(1, 1), num_filter=8, name='conv1')
body = mx.sym.Activation(data=body, act_type='relu', name='relu1')
rfcn_cls = mx.sym.Convolution(data=body, kernel=(1, 1), num_filter=group * group * num_classes, name='rfcn_cls')
rfcn_bbox = mx.sym.Convolution(data=body, kernel=(1, 1), num_filter=group * group * 4, name='rfcn_bbox')
cls = mx.sym.contrib.PSROIPooling(name='psroi_cls', data=rfcn_cls, rois=rois, group_size=group, pooled_size=group,
                                  output_dim=num_classes, spatial_scale=0.5)
loc = mx.sym.contrib.PSROIPooling(name='psroi_loc', data=rfcn_bbox, rois=rois, group_size=group, pooled_size=group,
                                  output_dim=4, spatial_scale=0.5)
cls_score = mx.sym.Pooling(name='ave_cls', data=cls, pool_type='avg', global_pool=True, kernel=(3, 3))
bbox_pred = mx.sym.Pooling(name='ave_bbox', data=loc, pool_type='avg', global_pool=True, kernel=(3, 3))
cls_score = mx.sym.Reshape(name='cls_score', data=cls_score, shape=(-1, num_classes))
bbox_pred = mx.sym.Reshape(name='bbox_pred', data=bbox_pred, shape=(-1, 4))
cls_prob = mx.sym.SoftmaxOutput(name='cls_prob', data=cls_score, label=label, normalization='valid')
bbox_loss_ = bbox_weight * mx.sym.smooth_l1(name='bbox_loss_', scalar=1.0, data=(bbox_pred - bbox_target))
bbox_loss = mx.sym.MakeLoss(name='bbox_loss', data=bbox_loss_, grad_scale=1.0 / 8)
net = mx.sym.Group([cls_prob, bbox_loss, mx.sym.BlockGrad(label)])

rng = np.random.RandomState(61)
mx.random.seed(61)
shapes = [('data', (1, 2, 12, 12)), ('rois', (1, 8, 5))]
labels = [('label', (1, 8)), ('bbox_target', (1, 8, 4)), ('bbox_weight', (1, 8, 4))]
mod = mx.mod.Module(net, data_names=[n for n, _ in shapes], label_names=[n for n, _ in labels], context=[mx.gpu(0)],
                    fixed_param_names=['conv1_bias'])
mod.bind(data_shapes=shapes, label_shapes=labels)
mod.init_params(mx.init.Normal(0.2))
mod.init_optimizer(optimizer='sgd', optimizer_params={'momentum': 0.9, 'wd': 0.0005, 'learning_rate': 0.1,
                                                      'rescale_grad': 1.0, 'clip_gradient': 5})
losses = []
for step in range(10):
    image = rng.randn(1, 2, 12, 12)
    x1, y1 = rng.randint(0, 12, (2, 8))
    boxes = np.stack([np.zeros(8), x1, y1, x1 + rng.randint(4, 12, 8), y1 + rng.randint(4, 12, 8)], axis=1)
    kinds = (x1 > 5).astype(np.int) + (y1 > 5)
    targets = np.stack([x1, y1, boxes[:, 3] - x1, boxes[:, 4] - y1], axis=1) / 12.0
    weights = np.tile((kinds > 0)[:, np.newaxis], (1, 4)).astype(np.float)
    batch = mx.io.DataBatch([mx.nd.array(image), mx.nd.array(boxes[np.newaxis])],
                            [mx.nd.array(one[np.newaxis]) for one in (kinds, targets, weights)])
    mod.forward_backward(batch)
    mod.update()
    prob, l1, kept = [out.asnumpy() for out in mod.get_outputs()]
    losses.append(-np.log(prob[np.arange(8), kept.astype(np.int)]).mean() + l1.sum() / 8)
mod.save_params('rfcn_like.params')
print('losses', ' '.join('%.7g' % loss for loss in losses))
