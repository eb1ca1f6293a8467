"""Word vectors by noise contrastive estimation: a true word among sampled ones, by their weights as labels."""
from __future__ import print_function
from collections import Counter

import mxnet as mx
import numpy as np

num_context, num_negative, num_embed, batch_size, vocab_size = 4, 5, 12, 16, 30


def get_word_net():
    """Embeddings of the words around are added up, and compared with those of the candidates."""
    data = mx.sym.Variable('data')
    label = mx.sym.Variable('label')
    label_weight = mx.sym.Variable('label_weight')
    embed_weight = mx.sym.Variable('embed_weight')
    around = mx.sym.Embedding(data=data, input_dim=vocab_size, weight=embed_weight, output_dim=num_embed,
                              name='data_embed', sparse_grad=True)
    hidden = mx.sym.sum(around, axis=1, keepdims=True)
    label_embed = mx.sym.Embedding(data=label, input_dim=vocab_size, weight=mx.sym.Variable('label_embed_weight'),
                                   output_dim=num_embed, name='label_embed')
    label_bias = mx.sym.Embedding(data=label, input_dim=vocab_size, weight=mx.sym.Variable('label_bias_weight'),
                                  output_dim=1, name='label_bias')
    pred = mx.sym.sum(mx.sym.broadcast_mul(hidden, label_embed), axis=2)
    pred = pred + mx.sym.reshape(label_bias, shape=(-1, num_negative + 1))
    return mx.sym.LogisticRegressionOutput(data=pred, label=label_weight, name='nce')


class NceMetric(mx.metric.EvalMetric):
    """How often the true word comes first, and the cross-entropy of each batch."""
    def __init__(self):
        super(NceMetric, self).__init__('nce-first')
        self.losses = []

    def update(self, labels, preds):
        _, wanted = [label.asnumpy() for label in labels]
        pred = preds[0].asnumpy()
        self.losses.append(-np.where(wanted > 0, np.log(pred), np.log(1 - pred)).sum(axis=1).mean())
        self.sum_metric += (pred.argmax(axis=1) == wanted.argmax(axis=1)).sum()
        self.num_inst += len(pred)


rng = np.random.RandomState(121)
# words like their neighbours: a walk over a ring
text = (np.cumsum(rng.randint(-2, 3, 10 * batch_size + num_context)) % vocab_size).astype(np.int)
counts = Counter(text.tolist())
frequent = np.array([counts[word] for word in range(vocab_size)]) ** 0.75
half = num_context // 2
contexts, candidates = [], []
for i in range(half, len(text) - half):
    contexts.append(np.concatenate([text[i - half:i], text[i + 1:i + half + 1]]))
    candidates.append(np.append(text[i], rng.choice(vocab_size, num_negative, p=frequent / frequent.sum())))
weights = np.zeros((len(candidates), num_negative + 1))
weights[:, 0] = 1

train = mx.io.NDArrayIter(data={'data': np.array(contexts)},
                          label={'label': np.array(candidates), 'label_weight': weights}, batch_size=batch_size)
metric = NceMetric()
start = np.random.RandomState(122)
arg_params = {'embed_weight': start.uniform(-0.3, 0.3, (vocab_size, num_embed)),
              'label_embed_weight': start.uniform(-0.3, 0.3, (vocab_size, num_embed)),
              'label_bias_weight': np.zeros((vocab_size, 1))}
mod = mx.mod.Module(get_word_net(), data_names=['data'], label_names=['label', 'label_weight'], context=mx.gpu(0))
mod.fit(train, num_epoch=1, eval_metric=metric, kvstore='local',
        optimizer='sgd', optimizer_params={'learning_rate': 0.9, 'momentum': 0.5, 'wd': 1e-4},
        initializer=mx.init.One(), allow_missing=False,
        arg_params={name: mx.nd.array(value) for name, value in arg_params.items()})
mod.save_params('word2vec_nce.params')
vectors = mod.get_params()[0]['embed_weight'].asnumpy()
vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
print('nearest to word 3:', vectors.dot(vectors[3]).argsort()[::-1][1:4])
print('losses', ' '.join('%.7g' % loss for loss in metric.losses))
