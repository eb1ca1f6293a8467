"""Support vector machines on top of a small network, on drawn digits, after the example of SVMOutput."""
from __future__ import print_function
import logging

import mxnet as mx
import numpy as np

logging.basicConfig(level=logging.INFO)

batch_size = 20
GLYPHS = ['111101101101111', '010110010010111', '111001111100111', '111001111001111', '101101111001001',
          '111100111001111', '111100111101111', '111001001001001', '111101111101111', '111101111001111']


def draw(count, seed):
    """Pictures of 5 x 3 points, blown up to 7 x 7, moved about and noisy."""
    rng = np.random.RandomState(seed)
    labels = rng.randint(0, 10, count)
    pictures = np.zeros((count, 7, 7))
    for picture, which in zip(pictures, labels):
        top, left = rng.randint(0, 3), rng.randint(0, 5)
        picture[top:top + 5, left:left + 3] = np.array(list(GLYPHS[which]), dtype=np.float).reshape(5, 3)
    return (pictures + rng.normal(0, 0.1, pictures.shape)).reshape(count, 49), labels.astype(np.float)


def as_iter(count, seed, last='discard'):
    pictures, labels = draw(count, seed)
    return mx.io.NDArrayIter({'data': mx.nd.array(pictures)},
                             {'svm_label': mx.nd.array(labels)},
                             batch_size=batch_size, last_batch_handle=last)


def build(use_linear):
    data = mx.symbol.Variable('data')
    fc1 = mx.symbol.FullyConnected(data=data, name='fc1', num_hidden=24)
    act1 = mx.symbol.Activation(data=fc1, name='relu1', act_type='relu')
    fc2 = mx.symbol.FullyConnected(data=act1, name='fc2', num_hidden=16)
    act2 = mx.symbol.Activation(data=fc2, name='softsign2', act_type='softsign')
    fc3 = mx.symbol.FullyConnected(data=act2, name='fc3', num_hidden=10)
    # L2-SVM by default; use_linear makes it L1
    return mx.symbol.SVMOutput(data=fc3, name='svm', margin=0.8, regularization_coefficient=0.5,
                               use_linear=use_linear)


def hinge(label, pred):
    """Squared or plain distance to the margin of every class."""
    signs = -np.ones_like(pred)
    signs[np.arange(len(label)), label.astype(np.int)] = 1
    return np.maximum(0.8 - signs * pred, 0).sum(axis=1).mean()


def start(net, seed):
    rng = np.random.RandomState(seed)
    shapes, _, _ = net.infer_shape(data=(batch_size, 49))
    return dict((name, mx.nd.array(rng.uniform(-0.3, 0.3, shape)))
                for name, shape in zip(net.list_arguments(), shapes) if name not in ('data', 'svm_label'))


losses = []
for use_linear in (True, False):
    train, val = as_iter(110, 1), as_iter(50, 2, 'pad')
    net = build(use_linear)
    mod = mx.mod.Module(net, label_names=['svm_label'], context=mx.gpu(0))
    metric = mx.metric.CustomMetric(hinge, name='hinge')

    def per_batch(param):
        metric.reset()
        mod.update_metric(metric, param.locals['data_batch'].label)
        losses.append(metric.get()[1])

    mod.fit(train, eval_data=val, num_epoch=2, arg_params=start(net, 3), optimizer='rmsprop',
            optimizer_params={'learning_rate': 0.005, 'gamma1': 0.9, 'centered': use_linear, 'wd': 0.0001,
                              'rescale_grad': 1.0 / batch_size},
            batch_end_callback=[per_batch, mx.callback.log_train_metric(5)])
    scores = dict(mod.score(val, ['acc', mx.metric.TopKAccuracy(top_k=3), metric]))
    margins = mod.predict(val)
    parts = mod.predict(val, num_batch=2, merge_batches=False)
    print('linear' if use_linear else 'squared', margins.shape, len(parts),
          ' '.join('%s %.7g' % item for item in sorted(scores.items())))
    print('margins', ' '.join('%.7g' % value for value in margins.asnumpy()[[0, 21, 49], [1, 5, 9]]))
    mod.save_params('svm_linear.params' if use_linear else 'svm_squared.params')
print('losses', ' '.join('%.7g' % loss for loss in losses))
