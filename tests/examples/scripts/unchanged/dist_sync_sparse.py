"""Linear classification of csr rows: the row_sparse weight is on servers, and workers pull the rows of a batch."""
from __future__ import print_function
import argparse
import os
import shutil
import tempfile

import mxnet as mx
import numpy as np

parser = argparse.ArgumentParser()
parser.add_argument('--kvstore', type=str, default='dist_sync')
parser.add_argument('--optimizer', type=str, default='adam')
parser.add_argument('--num-features', type=int, default=400)
parser.add_argument('--batch-size', type=int, default=20)
args = parser.parse_args()
kv = mx.kvstore.create(args.kvstore)
assert 'dist' not in args.kvstore or kv.num_workers > 1, 'start this on several workers'


def linear_model(num_features, positive_cls_weight):
    x = mx.symbol.Variable('data', stype='csr')
    weight = mx.symbol.Variable('weight', shape=(num_features, 2), stype='row_sparse')
    bias = mx.symbol.Variable('bias', shape=(2,))
    pred = mx.symbol.broadcast_add(mx.symbol.sparse.dot(x, weight), bias)
    y = mx.symbol.Variable('softmax_label')
    # mistakes on the rare class cost more
    cost = mx.symbol.where(y, mx.symbol.ones_like(y) * positive_cls_weight, mx.symbol.ones_like(y))
    model = mx.symbol.log_softmax(pred, axis=-1)
    loss = mx.symbol.MakeLoss(-mx.symbol.pick(model, y) * cost, name='cost')
    return mx.symbol.Group([loss, mx.symbol.BlockGrad(mx.symbol.exp(model), name='softmax')])


def write_rare_features(path, num_examples):
    """Rows with few features, some of them very frequent, and the sign of a hidden line."""
    rng = np.random.RandomState(91)
    chance = np.minimum(0.5, 4.0 / (1 + np.arange(args.num_features)))
    dense = rng.uniform(0.5, 1.5, (num_examples, args.num_features))
    dense *= rng.uniform(0, 1, dense.shape) < chance
    label = dense.dot(rng.randn(args.num_features)) > 2.0
    with open(path, 'w') as f:
        for row, y in zip(dense, label):
            f.write(' '.join(['%d' % y] + ['%d:%.4f' % (i, row[i]) for i in np.nonzero(row)[0]]) + '\n')


def rows_of(batch):
    return {'weight': batch.data[0].indices}


folder = tempfile.mkdtemp()
path = os.path.join(folder, 'train.libsvm')
write_rare_features(path, 12 * args.batch_size * kv.num_workers)
# every worker reads its own part of the file
train_data = mx.io.LibSVMIter(data_libsvm=path, data_shape=(args.num_features,), label_shape=(1,),
                              batch_size=args.batch_size, num_parts=kv.num_workers, part_index=kv.rank)
mod = mx.mod.Module(symbol=linear_model(args.num_features, 2.0), data_names=['data'], label_names=['softmax_label'],
                    context=mx.gpu(0))
mod.bind(data_shapes=train_data.provide_data, label_shapes=train_data.provide_label)
rng = np.random.RandomState(92)
first = mx.nd.array(rng.uniform(-0.1, 0.1, (args.num_features, 2))).tostype('row_sparse')
mod.init_params(initializer=None, arg_params={'weight': first, 'bias': mx.nd.zeros((2,))}, aux_params={})
optim = mx.optimizer.create(args.optimizer, learning_rate=0.05,
                            rescale_grad=1.0 / args.batch_size / kv.num_workers)
mod.init_optimizer(optimizer=optim, kvstore=kv)

losses, pulled = [], []
for nbatch, batch in enumerate(train_data):
    if nbatch == 10:
        break
    mod.prepare(batch, sparse_row_id_fn=rows_of)
    mod.forward_backward(batch)
    mod.update()
    losses.append(mod.get_outputs()[0].asnumpy().mean())
    # a look at five rows of the weight on the servers, asked for twice and in no order
    few = mx.nd.sparse.zeros('row_sparse', (args.num_features, 2))
    kv.row_sparse_pull('weight', out=few, row_ids=mx.nd.array([7, 0, 399, 7, 2]))
    pulled.append(few.indices.asnumpy().tolist())
assert pulled == [[0, 2, 7, 399]] * 10, pulled

shutil.rmtree(folder)
kv._barrier()
whole = mx.nd.sparse.zeros('row_sparse', (args.num_features, 2))
kv.row_sparse_pull('weight', out=whole, row_ids=mx.nd.arange(args.num_features))
bias = mx.nd.zeros((2,))
kv.pull('bias', out=bias)
if kv.rank == 0:
    mx.nd.save('dist_sync_sparse.params', {'weight': whole.tostype('default'), 'bias': bias})
    print('losses', ' '.join('%.7g' % loss for loss in losses))
