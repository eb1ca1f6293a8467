"""Networks for words, lines of text and sparse features, of 2015 to 2021."""


def fused_lstm(mx):
    """A language model of two fused layers, with its states as inputs and outputs."""
    data = mx.sym.Variable("data")
    embed = mx.sym.Embedding(data, input_dim=20, output_dim=8, name="embed")
    states = [mx.sym.Variable(f"lstm_init_{kind}") for kind in "hc"]
    net = mx.sym.RNN(
        mx.sym.SwapAxis(embed, dim1=0, dim2=1, name="time_major"), mx.sym.Variable("lstm_parameters"), *states,
        state_size=8, num_layers=2, mode="lstm", state_outputs=True, p=0.5, name="lstm",
    )
    flat = mx.sym.Reshape(net[0], shape=(-1, 8), name="flat")
    pred = mx.sym.FullyConnected(flat, num_hidden=20, name="pred")
    states = [mx.sym.BlockGrad(net[1], name="last_h"), mx.sym.BlockGrad(net[2], name="last_c")]
    return mx.sym.Group([mx.sym.SoftmaxOutput(pred, name="softmax"), *states])


def fused_gru(mx):
    """A classifier of sentences that are read from both ends, with lengths."""
    length = mx.sym.Variable("length")
    embed = mx.sym.Embedding(mx.sym.Variable("data"), input_dim=20, output_dim=6, name="embed")
    net = mx.sym.transpose(embed, axes=(1, 0, 2), name="time_major")
    net = mx.sym.RNN(
        net, mx.sym.Variable("gru_parameters"), mx.sym.Variable("gru_init_h"), state_size=5, num_layers=1,
        bidirectional=True, mode="gru", name="gru",
    )
    net = mx.sym.SequenceMask(net, length, use_sequence_length=True, value=-1, name="masked")
    last = mx.sym.SequenceLast(net, length, use_sequence_length=True, name="last")
    both = mx.sym.concat(last, mx.sym.max(net, axis=0, name="most"), dim=1, name="both")
    return mx.sym.softmax(mx.sym.FullyConnected(both, num_hidden=3, name="pred"), name="softmax")


def fused_rnn(mx):
    """The plain cells, which keep their last state."""
    net = mx.sym.RNN(
        mx.sym.Variable("data"), mx.sym.Variable("rnn_parameters"), mx.sym.Variable("rnn_init_h"), state_size=4,
        num_layers=1, mode="rnn_tanh", state_outputs=True, name="rnn",
    )
    return mx.sym.Group([net[0], net[1]])


def unrolled_lstm(mx):
    """Three steps of a cell of two FullyConnected layers, which all share."""
    parameters = {name: mx.sym.Variable("l0_" + name) for name in ("i2h_weight", "i2h_bias", "h2h_weight", "h2h_bias")}
    hidden, cell = mx.sym.Variable("l0_init_h"), mx.sym.Variable("l0_init_c")
    embed = mx.sym.Embedding(mx.sym.Variable("data"), input_dim=20, output_dim=6, name="embed")
    words = mx.sym.SliceChannel(embed, num_outputs=3, squeeze_axis=True, axis=1, name="words")
    outputs = []
    for step in range(3):
        name = f"t{step}_l0_"
        gates = mx.sym.FullyConnected(
            words[step], weight=parameters["i2h_weight"], bias=parameters["i2h_bias"], num_hidden=32, name=name + "i2h"
        ) + mx.sym.FullyConnected(
            hidden, weight=parameters["h2h_weight"], bias=parameters["h2h_bias"], num_hidden=32, name=name + "h2h"
        )
        gates = mx.sym.SliceChannel(gates, num_outputs=4, name=name + "slice")
        into, out = (mx.sym.Activation(gates[k], act_type="sigmoid", name=name + n) for k, n in ((0, "in"), (3, "out")))
        new = mx.sym.Activation(gates[1], act_type="tanh", name=name + "new")
        forget = mx.sym.Activation(gates[2], act_type="sigmoid", name=name + "forget")
        cell = forget * cell + into * new
        hidden = out * mx.sym.Activation(cell, act_type="tanh", name=name + "state")
        outputs.append(hidden)
    pred = mx.sym.FullyConnected(mx.sym.Concat(*outputs, dim=0, name="hidden"), num_hidden=20, name="cls")
    return mx.sym.SoftmaxOutput(pred, name="softmax")


def crnn(mx):
    """A line of text: convolutions, both directions, and the loss that aligns; it predicts class by class."""
    net = mx.sym.Variable("data")
    for number, (filters, pool) in enumerate(((4, (2, 2)), (6, (2, 2)), (8, (2, 1))), 1):
        net = mx.sym.Convolution(net, num_filter=filters, kernel=(3, 3), pad=(1, 1), name=f"conv{number}")
        net = mx.sym.Activation(mx.sym.BatchNorm(net, fix_gamma=False, name=f"bn{number}"), act_type="relu")
        net = mx.sym.Pooling(net, kernel=pool, stride=pool, pool_type="max", name=f"pool{number}")
    net = mx.sym.reshape(mx.sym.transpose(net, axes=(3, 0, 1, 2), name="columns"), shape=(0, 0, -3), name="steps")
    net = mx.sym.RNN(
        net, mx.sym.Variable("lstm_parameters"), mx.sym.Variable("lstm_init_h"), mx.sym.Variable("lstm_init_c"),
        state_size=6, num_layers=1, bidirectional=True, mode="lstm", name="lstm",
    )
    pred = mx.sym.FullyConnected(mx.sym.reshape(net, shape=(-3, -2), name="rows"), num_hidden=7, name="pred_fc")
    steps = mx.sym.reshape(pred, shape=(8, -1, 7), name="pred_ctc")
    loss = mx.sym.contrib.ctc_loss(steps, mx.sym.Variable("label", shape=(1, 4)), name="ctc")
    loss = mx.sym.MakeLoss(loss, name="loss")
    classes = mx.sym.SoftmaxActivation(pred, name="softmax")
    return mx.sym.Group([loss, mx.sym.BlockGrad(classes, name="pred")])


def bert(mx):
    """Two layers of GluonNLP's encoder, with lengths: interleaved attention, masks, GELU."""
    units, heads, words = 12, 3, 7
    length = mx.sym.Variable("valid_length")
    net = mx.sym.Embedding(mx.sym.Variable("data"), input_dim=20, output_dim=units, name="word_embed")
    net = net + mx.sym.Embedding(mx.sym.Variable("token_types"), input_dim=2, output_dim=units, name="token_type_embed")
    place = mx.sym.Variable("position_weight", shape=(1, words, units))
    net = mx.sym.LayerNorm(mx.sym.broadcast_add(net, place, name="placed"), eps=1e-12, name="embed_norm")
    net = mx.sym.transpose(net, axes=(1, 0, 2), name="time_major")
    for layer in range(2):
        name = f"layer{layer}_"
        qkv = mx.sym.FullyConnected(net, num_hidden=3 * units, flatten=False, name=name + "qkv")
        scores = mx.sym.contrib.interleaved_matmul_selfatt_qk(qkv, heads=heads, name=name + "scores")
        valid = mx.sym.broadcast_axis(mx.sym.expand_dims(length, axis=1), axis=1, size=heads)
        valid = mx.sym.broadcast_axis(mx.sym.reshape(valid, shape=(-1, 1)), axis=1, size=words, name=name + "lengths")
        valid = valid.astype("int32")
        attention = mx.sym.softmax(scores, length=valid, use_length=True, axis=-1, name=name + "attention")
        context = mx.sym.contrib.interleaved_matmul_selfatt_valatt(qkv, attention, heads=heads, name=name + "context")
        context = mx.sym.FullyConnected(context, num_hidden=units, flatten=False, name=name + "proj")
        net = mx.sym.LayerNorm(net + context, eps=1e-5, name=name + "norm1")
        wide = mx.sym.FullyConnected(net, num_hidden=2 * units, flatten=False, name=name + "ffn1")
        wide = mx.sym.LeakyReLU(wide, act_type="gelu", name=name + "gelu")
        wide = mx.sym.FullyConnected(wide, num_hidden=units, flatten=False, name=name + "ffn2")
        net = mx.sym.LayerNorm(net + wide, eps=1e-5, name=name + "norm2")
    net = mx.sym.SequenceMask(net, length, use_sequence_length=True, name="masked")
    net = mx.sym.transpose(net, axes=(1, 0, 2), name="encoded")
    first = mx.sym.slice_axis(net, axis=1, begin=0, end=1, name="first")
    pooled = mx.sym.FullyConnected(first, num_hidden=units, name="pooler")
    return mx.sym.Group([net, mx.sym.Activation(pooled, act_type="tanh", name="pooled")])


def factorization_machine(mx):
    data = mx.sym.Variable("data")
    factors = mx.sym.Variable("v", shape=(16, 4))
    weight = mx.sym.Variable("w1_weight", shape=(16, 1))
    bias = mx.sym.Variable("w1_bias", shape=(1,))
    first = mx.sym.broadcast_add(mx.sym.dot(data, weight), bias)
    second = 0.5 * mx.sym.sum(mx.sym.square(mx.sym.dot(data, factors)), axis=1, keepdims=True)
    squares = mx.sym.sum(mx.sym.square(factors), axis=1, keepdims=True)
    third = 0.5 * mx.sym.negative(mx.sym.dot(mx.sym.square(data), squares))
    net = mx.sym.elemwise_add(mx.sym.elemwise_add(first, second), third, name="model")
    return mx.sym.LogisticRegressionOutput(net, name="out")


NETWORKS = {
    "fused-lstm": (fused_lstm, {"data": (2, 5), "lstm_init_h": (2, 2, 8), "lstm_init_c": (2, 2, 8)}),
    "fused-gru": (fused_gru, {"data": (3, 6), "length": (3,), "gru_init_h": (2, 3, 5)}),
    "fused-rnn": (fused_rnn, {"data": (4, 2, 3), "rnn_init_h": (1, 2, 4)}),
    "unrolled-lstm": (unrolled_lstm, {"data": (2, 3), "l0_init_h": (2, 8), "l0_init_c": (2, 8)}),
    "crnn": (crnn, {"data": (1, 1, 16, 32), "lstm_init_h": (2, 1, 6), "lstm_init_c": (2, 1, 6)}),
    "bert": (bert, {"data": (2, 7), "token_types": (2, 7), "valid_length": (2,)}),
    "factorization-machine": (factorization_machine, {"data": (3, 16)}),
}
