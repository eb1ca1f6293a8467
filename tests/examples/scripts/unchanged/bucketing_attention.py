"""Sentences are read in both directions and told again by a decoder that attends to what was read, in buckets."""
from __future__ import print_function
import logging
import random

import mxnet as mx
import numpy as np

logging.basicConfig(level=logging.INFO)
buckets = [3, 5, 7]
batch_size, num_embed, num_hidden = 6, 8, 10

random.seed(113)
np.random.seed(113)
rng = np.random.RandomState(113)
words = ['sun', 'moon', 'star', 'sea', 'wind', 'rain', 'rises', 'falls']
sentences = []
for i in range(66):
    length = 2 + i % 6
    begin, stride = rng.randint(0, len(words)), rng.randint(1, 3)
    sentences.append([words[(begin + stride * k) % len(words)] for k in range(length)])
vocab = dict((word, i + 1) for i, word in enumerate(words))
coded, vocab = mx.rnn.encode_sentences(sentences, vocab=vocab, invalid_label=0)
train = mx.rnn.BucketSentenceIter(coded, batch_size, buckets=buckets, invalid_label=0, layout='NT')
print('buckets', train.buckets, train.default_bucket_key, [part.shape for part in train.data])

encoder = mx.rnn.BidirectionalCell(mx.rnn.GRUCell(num_hidden // 2, prefix='enc_l_'),
                                   mx.rnn.GRUCell(num_hidden // 2, prefix='enc_r_'), output_prefix='enc_bi_')
decoder = mx.rnn.SequentialRNNCell()
decoder.add(mx.rnn.LSTMCell(num_hidden=num_hidden, prefix='dec_l0_', forget_bias=0.5))
decoder.add(mx.rnn.DropoutCell(0.0, prefix='dec_drop_'))
decoder.add(mx.rnn.ResidualCell(mx.rnn.RNNCell(num_hidden=num_hidden, activation='tanh', prefix='dec_l1_')))


def attend(query, keys, seq_len):
    """Softmax over the places of how well each fits the query, and the mean that it weighs."""
    query = mx.sym.expand_dims(query, axis=2)
    fit = mx.sym.batch_dot(keys, query) / float(np.sqrt(num_hidden))
    weight = mx.sym.SoftmaxActivation(mx.sym.Reshape(fit, shape=(-1, seq_len)))
    context = mx.sym.batch_dot(mx.sym.expand_dims(weight, axis=1), keys)
    return mx.sym.Reshape(context, shape=(-1, num_hidden))


def sym_gen(seq_len):
    data = mx.sym.Variable('data')
    label = mx.sym.Variable('softmax_label')
    table = mx.sym.Variable('embed_weight')
    embed = mx.sym.Embedding(data=data, weight=table, input_dim=len(vocab) + 1, output_dim=num_embed, name='embed')
    encoder.reset()
    decoder.reset()
    keys, ends = encoder.unroll(seq_len, inputs=embed, merge_outputs=True, layout='NTC')
    steps = mx.sym.SliceChannel(embed, num_outputs=seq_len, axis=1, squeeze_axis=True)
    states = decoder.begin_state()
    context = mx.sym.Concat(ends[0][0], ends[1][0], dim=1)
    outputs = []
    for t in range(seq_len):
        output, states = decoder(mx.sym.Concat(steps[t], context, dim=1), states)
        context = attend(output, keys, seq_len)
        outputs.append(mx.sym.expand_dims(output + context, axis=1))
    hidden = mx.sym.Reshape(mx.sym.Concat(*outputs, dim=1), shape=(-1, num_hidden))
    pred = mx.sym.FullyConnected(data=hidden, num_hidden=len(vocab) + 1, name='pred')
    label = mx.sym.Reshape(label, shape=(-1,))
    return (mx.sym.SoftmaxOutput(data=pred, label=label, use_ignore=True, ignore_label=0, name='softmax'),
            ('data',), ('softmax_label',))


symbol, _, _ = sym_gen(train.default_bucket_key)
shapes, _, _ = symbol.infer_shape(data=(batch_size, 7), softmax_label=(batch_size, 7))
known = dict(zip(symbol.list_arguments(), shapes))
args = dict((name, mx.nd.array(rng.uniform(-0.4, 0.4, known[name])))
            for name in sorted(known) if name not in ('data', 'softmax_label') and 'begin_state' not in name)
losses, keys = [], []
metric = mx.metric.Perplexity(ignore_label=0)


def record(param):
    metric.reset()
    model.update_metric(metric, param.locals['data_batch'].label)
    losses.append(np.log(metric.get()[1]))
    keys.append(param.locals['data_batch'].bucket_key)


model = mx.mod.BucketingModule(sym_gen=sym_gen, default_bucket_key=train.default_bucket_key, context=mx.gpu(0))
model.fit(train, eval_metric=mx.metric.Perplexity(0), num_epoch=2, arg_params=args, optimizer='rmsprop',
          optimizer_params={'learning_rate': 0.01, 'wd': 0.0001, 'clip_gradient': 0.5, 'clip_weights': 2.0},
          batch_end_callback=[record, mx.callback.Speedometer(batch_size, 4, auto_reset=False)])
print('keys', keys)

# the packed weights of a checkpoint are those of the gates, one by one
mx.rnn.save_rnn_checkpoint([encoder, decoder], 'told', 2, symbol, *model.get_params())
_, unpacked, _ = mx.model.load_checkpoint('told', 2)
print('unpacked', ' '.join(sorted(unpacked)))
_, packed, _ = mx.rnn.load_rnn_checkpoint([encoder, decoder], 'told', 2)
assert sorted(packed) == sorted(args)
scored = model.score(train, mx.metric.Perplexity(0))
print('scored', '%.7g' % scored[0][1])
print('losses', ' '.join('%.7g' % loss for loss in losses))
