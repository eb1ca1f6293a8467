"""A language model of two LSTM layers over buckets, in the way of example/rnn."""
from __future__ import print_function
import random
import numpy as np
import mxnet as mx

buckets = [4, 6, 8]
batch_size = 8
num_hidden, num_embed, num_layers = 16, 12, 2

random.seed(2)
np.random.seed(2)
mx.random.seed(2)
sentences = [[chr(97 + (i * j + k) % 7) for k in range(3 + (i + j) % 6)] for i in range(1, 25) for j in range(1, 6)]
coded, vocab = mx.rnn.encode_sentences(sentences, start_label=1, invalid_label=0)
data_train = mx.rnn.BucketSentenceIter(coded, batch_size, buckets=buckets, invalid_label=0)

stack = mx.rnn.SequentialRNNCell()
for i in range(num_layers):
    stack.add(mx.rnn.LSTMCell(num_hidden=num_hidden, prefix='lstm_l%d_' % i))


def sym_gen(seq_len):
    data = mx.sym.Variable('data')
    label = mx.sym.Variable('softmax_label')
    embed = mx.sym.Embedding(data=data, input_dim=len(vocab) + 1, output_dim=num_embed, name='embed')
    stack.reset()
    outputs, states = stack.unroll(seq_len, inputs=embed, merge_outputs=True)
    pred = mx.sym.Reshape(outputs, shape=(-1, num_hidden))
    pred = mx.sym.FullyConnected(data=pred, num_hidden=len(vocab) + 1, name='pred')
    label = mx.sym.Reshape(label, shape=(-1,))
    pred = mx.sym.SoftmaxOutput(data=pred, label=label, name='softmax', use_ignore=True, ignore_label=0)
    return pred, ('data',), ('softmax_label',)


model = mx.mod.BucketingModule(sym_gen=sym_gen, default_bucket_key=data_train.default_bucket_key,
                               context=mx.context.gpu(0))
model.bind(data_shapes=data_train.provide_data, label_shapes=data_train.provide_label)
model.init_params(mx.init.Xavier(factor_type="in", magnitude=2.34))
model.init_optimizer(kvstore='device', optimizer='adam', optimizer_params={'learning_rate': 0.02, 'wd': 0.00001})
metric = mx.metric.Perplexity(0)
losses = []
for nbatch, batch in enumerate(data_train):
    if nbatch == 10:
        break
    model.forward(batch, is_train=True)
    metric.reset()
    model.update_metric(metric, batch.label)
    model.backward()
    model.update()
    losses.append(np.log(metric.get()[1]))
model.save_params('lstm_bucketing.params')
print('losses', ' '.join('%.7g' % loss for loss in losses))
