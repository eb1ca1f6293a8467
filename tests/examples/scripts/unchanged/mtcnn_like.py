"""A cascade of three small networks for faces: proposal, refinement and output, each with several losses at once."""
from __future__ import print_function
import mxnet as mx
import numpy as np

batch_size = 16
rng = np.random.RandomState(53)


def losses_of(feature, label, bbox_target, landmark_target, suffix, landmarks):
    """Classification over 0 and 1 (-1 and -2 are ignored), boxes of 1 and -1, landmarks of -2."""
    cls = mx.sym.FullyConnected(data=feature, num_hidden=2, name='cls' + suffix)
    bbox = mx.sym.FullyConnected(data=feature, num_hidden=4, name='bbox' + suffix)
    keep_cls = mx.sym.where(label < -1, mx.sym.ones_like(label) * -1, label)
    cls_prob = mx.sym.SoftmaxOutput(data=cls, label=keep_cls, multi_output=True, use_ignore=True, ignore_label=-1,
                                    normalization='valid', name='cls_prob' + suffix)
    one_axis = mx.sym.Reshape(label, shape=(-1, 1))
    has_box = mx.sym.broadcast_equal(mx.sym.abs(one_axis), mx.sym.ones_like(one_axis))
    square = mx.sym.square(bbox - bbox_target)
    bbox_loss = mx.sym.MakeLoss(mx.sym.broadcast_mul(square, has_box), grad_scale=0.5,
                                normalization='batch', name='bbox_loss' + suffix)
    outs = [cls_prob, bbox_loss, mx.sym.BlockGrad(label)]
    if landmarks:
        points = mx.sym.FullyConnected(data=feature, num_hidden=10, name='landmark' + suffix)
        off = mx.sym.smooth_l1(points - landmark_target, scalar=2.0)
        has_points = mx.sym.broadcast_equal(one_axis, mx.sym.ones_like(one_axis) * -2)
        outs.append(mx.sym.MakeLoss(mx.sym.broadcast_mul(off, has_points), valid_thresh=1e-6,
                                    normalization='valid', name='landmark_loss' + suffix))
    return mx.sym.Group(outs)


def network(size, suffix, filters, landmarks):
    net = mx.sym.Variable('data')
    for i, num_filter in enumerate(filters):
        net = mx.sym.Convolution(net, kernel=(3, 3), num_filter=num_filter, name='conv%d%s' % (i, suffix))
        net = mx.sym.LeakyReLU(net, act_type='prelu', name='prelu%d%s' % (i, suffix))
        if i == 0:
            net = mx.sym.Pooling(net, kernel=(2, 2), stride=(2, 2), pool_type='max', pooling_convention='full')
    return losses_of(mx.sym.Flatten(net), mx.sym.Variable('label'), mx.sym.Variable('bbox_target'),
                     mx.sym.Variable('landmark_target') if landmarks else None, suffix, landmarks)


class CascadeMetric(mx.metric.EvalMetric):
    """Mean log loss over what counts, mean of the box loss, and how often the class is right."""
    def __init__(self):
        super(CascadeMetric, self).__init__('cascade', num=3)
        self.reset()

    def reset(self):
        self.rows = []

    def update(self, labels, preds):
        prob, box, label = [pred.asnumpy() for pred in preds[:3]]
        counted = label >= 0
        prob, label = prob[counted], label[counted].astype(np.int)
        log_loss = -np.log(np.maximum(prob[np.arange(len(label)), label], 1e-10)).mean()
        landmark = preds[3].asnumpy().sum() / batch_size if len(preds) > 3 else 0.0
        self.rows.append((log_loss + box.sum() / batch_size + landmark, (prob.argmax(axis=1) == label).mean()))

    def get(self):
        return (['loss', 'right'], [float(np.mean(column)) for column in zip(*self.rows)])


def faces(count, size):
    """Discs on noise: whole ones are faces, parts of them are not, some only say where, some have points."""
    label = np.array([1, 0, -1, 0, -2, 1, 0, -1] * (count // 8), dtype=np.float)
    where = rng.uniform(-0.3, 0.3, (count, 2))
    grid = np.linspace(-1, 1, size)
    radius = np.hypot(grid[np.newaxis, :, np.newaxis] - where[:, :1, np.newaxis],
                      grid[np.newaxis, np.newaxis, :] - where[:, 1:, np.newaxis])
    image = (radius < 0.7) * (label != 0)[:, np.newaxis, np.newaxis] + rng.normal(0, 0.15, (count, size, size))
    bbox = np.hstack([where - 0.7, where + 0.7])
    landmark = np.tile(where, (1, 5)) + np.linspace(-0.4, 0.4, 10)
    return image[:, np.newaxis], label, bbox, landmark


losses = []
previous = None
for name, size, filters in (('p', 8, (4, 6)), ('r', 10, (5, 6)), ('o', 12, (5, 7, 6))):
    net = network(size, '_' + name, filters, landmarks=(name == 'o'))
    image, label, bbox, landmark = faces(6 * batch_size, size)
    targets = {'label': label, 'bbox_target': bbox}
    if name == 'o':
        targets['landmark_target'] = landmark
    if previous is not None:
        # only rows of which the network before is not sure that they are no face go on; the sure ones are ignored
        small = image[:, :, 1:-1, 1:-1]
        sure = previous.predict(mx.io.NDArrayIter(small, batch_size=batch_size)).asnumpy()[:, 0] > 0.6
        print(name, 'ignores', int((sure & (label == 0)).sum()))
        targets['label'] = np.where(sure & (label == 0), -1, label)
    train = mx.io.NDArrayIter(image, targets, batch_size=batch_size)
    shapes, _, _ = net.infer_shape(**dict(train.provide_data + train.provide_label))
    given = ['data'] + sorted(targets)
    args = dict((one, mx.nd.array(np.full(shape, 0.25) if 'gamma' in one else rng.normal(0, 0.15, shape)))
                for one, shape in zip(net.list_arguments(), shapes) if one not in given)
    mod = mx.mod.Module(net, data_names=['data'], label_names=sorted(targets), context=mx.gpu(0))
    metric = CascadeMetric()

    def record(param):
        metric.reset()
        mod.update_metric(metric, param.locals['data_batch'].label)
        losses.append(metric.get()[1][0])

    mod.fit(train, eval_metric=metric, num_epoch=2, arg_params=args, optimizer='sgd',
            optimizer_params={'learning_rate': 0.05, 'momentum': 0.9, 'wd': 0.00001, 'rescale_grad': 1.0},
            batch_end_callback=record)
    mod.save_params('mtcnn_%s.params' % name)
    deployed = mx.sym.SoftmaxActivation(net.get_internals()['cls_%s_output' % name])
    scorer = mx.mod.Module(deployed, label_names=None, context=mx.gpu(0))
    scorer.bind(data_shapes=[('data', (batch_size, 1, size, size))], label_shapes=None, for_training=False)
    scorer.set_params(*mod.get_params(), allow_extra=True)
    previous = scorer
print('losses', ' '.join('%.7g' % loss for loss in losses))
