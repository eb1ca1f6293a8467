"""FeedForward: numbers and call order of MXNet 1.9.1, refusals, and Module's bits."""

from __future__ import annotations

import logging

import numpy as np
import pytest

import refimpl as mx
from refimpl.model import FeedForward

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")

ROWS = np.arange(24).reshape(12, 2) / 8
CLASSES = np.arange(12) % 3


def network():
    data = mx.sym.Variable("data")
    return mx.sym.SoftmaxOutput(mx.sym.FullyConnected(data, num_hidden=3, name="fc"), name="softmax")


def weights():
    return {"fc_weight": mx.nd.array([[1, -1], [0.5, 0.25], [-0.5, 2]]), "fc_bias": mx.nd.array([0, 0.5, -0.25])}


def iterator(batch_size=4):
    return mx.io.NDArrayIter(ROWS, CLASSES, batch_size)


def made(contexts=1, **settings):
    settings = {"learning_rate": 0.5, "arg_params": weights(), **settings}
    return FeedForward(network(), ctx=[mx.cpu(i) for i in range(contexts)], **settings)


def fitted(data=None, contexts=1, num_epoch=1, fit=None, **settings):
    model = made(contexts, num_epoch=num_epoch, **settings)
    model.fit(data or iterator(), **(fit or {}))
    return model


def bias(model):
    return model.arg_params["fc_bias"].asnumpy()


def refused(kind, clause, function, *args, **kwargs):
    with pytest.raises(kind) as caught:
        function(*args, **kwargs)
    assert caught.value.clause == clause
    return str(caught.value)


# --- numbers of MXNet 1.9.1: model.arg_params["fc_bias"] and, where given, ["fc_weight"] --------------


def test_two_epochs():
    model = fitted(num_epoch=2)
    assert np.allclose(bias(model), [0.29616084694862366, 0.4371364712715149, -0.4832973778247833], rtol=1e-6)
    assert np.allclose(
        model.arg_params["fc_weight"].asnumpy(),
        [[1.2260653972625732, -0.7369145750999451], [0.34946656227111816, 0.09160864353179932],
         [-0.5755318403244019, 1.8953059911727905]], rtol=1e-6,
    )
    assert np.allclose(model.predict(ROWS)[0], [0.34312516, 0.43818283, 0.21869205], rtol=1e-6)


@pytest.mark.parametrize("store", ["local", "device", "instance"])
def test_two_devices_and_a_store(store):
    store = mx.kv.create("local") if store == "instance" else store
    model = fitted(contexts=2, num_epoch=2, momentum=0.5, fit={"kvstore": store})
    assert np.allclose(bias(model), [0.3343144953250885, 0.493421733379364, -0.5777361989021301], rtol=1e-6)


def test_two_devices_without_a_store():
    model = fitted(contexts=2, num_epoch=2, momentum=0.5, fit={"kvstore": None})
    assert np.allclose(bias(model), [0.348746120929718, 0.3597055673599243, -0.45845165848731995], rtol=1e-6)


@pytest.mark.clause("FeedForward/rescale")
def test_an_optimizer_of_your_own_is_not_rescaled():
    optimizer = mx.optimizer.SGD(learning_rate=0.5)
    model = fitted(optimizer=optimizer)
    assert np.allclose(bias(model), [0.8905527591705322, -0.7062152028083801, 0.0656624436378479], rtol=1e-5)
    assert optimizer.idx2name == {0: "fc_weight", 1: "fc_bias"}
    assert optimizer.rescale_grad == 1.0


@pytest.mark.clause("FeedForward/arrays")
def test_arrays_are_shuffled():
    np.random.seed(3)
    model = made(num_epoch=1, numpy_batch_size=5)
    model.fit(ROWS, CLASSES, eval_data=(ROWS, CLASSES))
    assert np.allclose(bias(model), [0.20550724864006042, 0.43841642141342163, -0.39392364025115967], rtol=1e-6)


@pytest.mark.clause("FeedForward/init")
def test_the_initializer_is_called_the_old_way():
    mx.random.seed(3)
    model = fitted(arg_params=None)
    assert np.allclose(bias(model), [0.018125586211681366, -0.09500186890363693, 0.07687625288963318], rtol=1e-5)
    names = []
    given = weights()
    model = fitted(arg_params={"fc_weight": given["fc_weight"]}, initializer=lambda name, array: names.append(name))
    assert names == ["fc_bias"]
    assert given["fc_weight"].asnumpy().tolist() == [[1, -1], [0.5, 0.25], [-0.5, 2]]


def test_batch_norm_states_are_learnt():
    normal = mx.sym.BatchNorm(mx.sym.Variable("data"), fix_gamma=False, name="bn")
    net = mx.sym.SoftmaxOutput(mx.sym.FullyConnected(normal, num_hidden=3, name="fc"), name="softmax")
    mx.random.seed(3)
    model = FeedForward(net, num_epoch=2, learning_rate=0.5, initializer=mx.init.Xavier())
    model.fit(iterator())
    assert np.allclose(
        model.aux_params["bn_moving_mean"].asnumpy(), [0.677119791507721, 0.735689640045166], rtol=1e-6
    )
    expected = [0.3103136122226715, 0.31777632236480713, 0.37191006541252136]
    assert np.allclose(model.predict(ROWS)[0], expected, rtol=1e-6)


@pytest.mark.clause("FeedForward/same-as-module")
@pytest.mark.parametrize(("contexts", "loads"), [(1, None), (2, None), (2, [1, 3])])
def test_the_same_bits_as_a_module(contexts, loads):
    model = fitted(contexts=contexts, num_epoch=3, momentum=0.5, fit={"work_load_list": loads})
    module = mx.mod.Module(network(), context=[mx.cpu(i) for i in range(contexts)], work_load_list=loads)
    module.fit(
        iterator(), num_epoch=3, arg_params=weights(), aux_params={},
        optimizer_params={"learning_rate": 0.5, "momentum": 0.5},
    )
    for name, value in module.get_params()[0].items():
        assert value.asnumpy().tobytes() == model.arg_params[name].asnumpy().tobytes()


def bucket_net(length):
    embedded = mx.sym.Embedding(mx.sym.Variable("data"), input_dim=7, output_dim=2, name="emb")
    summed = mx.sym.sum(embedded, axis=1)
    return mx.sym.SoftmaxOutput(mx.sym.FullyConnected(summed, num_hidden=2, name="fc"), name="softmax")


class Buckets(mx.io.DataIter):
    """A batch of each length."""

    default_bucket_key = 5
    provide_data, provide_label = [("data", (4, 5))], [("softmax_label", (4,))]

    def __init__(self, *lengths):
        super().__init__(4)
        self.lengths = lengths
        self.at = 0

    def reset(self):
        self.at = 0

    def next(self):
        if self.at == len(self.lengths):
            raise StopIteration
        length = self.lengths[self.at]
        self.at += 1
        return mx.io.DataBatch(
            [mx.nd.ones((4, length)) * length], [mx.nd.array([0, 1, 0, 1])], 0, bucket_key=length,
            provide_data=[("data", (4, length))], provide_label=self.provide_label,
        )


def bucketed():
    return FeedForward(bucket_net, num_epoch=1, learning_rate=0.5, arg_params={
        "emb_weight": mx.nd.array(np.arange(14).reshape(7, 2) / 8), "fc_weight": mx.nd.array([[1, 2], [3, 4]]),
        "fc_bias": mx.nd.array([0, 1]),
    })


def test_buckets():
    model = bucketed()
    model.fit(Buckets(5, 6, 5))
    assert bias(model).tolist() == [-0.25, 1.25]
    assert model.arg_params["fc_weight"].asnumpy().tolist() == [[1.875, 2.6875], [2.125, 3.3125]]
    assert model.arg_params["emb_weight"].asnumpy()[5:].tolist() == [[2.96875, 3.171875], [-0.1875, -0.53125]]
    assert model.predict(Buckets(5, 5)).shape == (8, 2)
    bucketed().fit(Buckets(5, 3))  # a smaller bucket; MXNet 1.9.1 fails here


# --- the order of things ------------------------------------------------------------------------------


@pytest.mark.clause("FeedForward/epochs", "FeedForward/nbatch", "FeedForward/callback-params")
def test_callbacks_and_lines(caplog):
    seen = []

    def note(what):
        return lambda now: seen.append((what, now.epoch, now.nbatch))

    def at_end(epoch, symbol, arguments, states):
        seen.append(("end", epoch, sorted(arguments), sorted(states)))

    with caplog.at_level(logging.INFO):
        fitted(num_epoch=3, begin_epoch=1, contexts=2, fit={
            "batch_end_callback": note("batch"), "epoch_end_callback": [at_end], "eval_data": iterator(),
            "eval_batch_end_callback": [note("eval")], "eval_end_callback": note("eval end"),
        })
    epoch = lambda n: [  # noqa: E731  # a table
        *[("batch", n, k) for k in (1, 2, 3)], ("end", n, ["fc_bias", "fc_weight"], []),
        *[("eval", n, k) for k in (0, 1, 2)], ("eval end", n, 3),
    ]
    assert seen == epoch(1) + epoch(2)
    lines = [record.getMessage() for record in caplog.records]
    assert lines[0] == "Start training with [cpu(0), cpu(1)]"
    assert lines[1] == "Epoch[1] Resetting Data Iterator"
    assert lines[2].startswith("Epoch[1] Time cost=")
    assert len(lines) == 5
    caplog.clear()
    with caplog.at_level(logging.INFO):
        fitted(fit={"eval_data": iterator()})
    assert caplog.records[-1].getMessage().startswith("Epoch[0] Validation-accuracy=0.")


# MXNet 1.9.1: batches of each epoch, epochs in which the iterator was reset, bias
EPOCH_SIZES = [
    (1, [1, 1, 1], [], [0.2960887551307678, 0.3160061240196228, -0.3620948791503906]),
    (2, [2, 2, 2], [1], [0.29616084694862366, 0.4371364712715149, -0.4832973778247833]),
    (3, [3, 3, 3], [1, 2], [0.3757054805755615, 0.38753432035446167, -0.513239860534668]),
    (5, [5, 5, 5], [0, 1, 1, 2], [0.44576168060302734, 0.42045196890830994, -0.6162136197090149]),
    (None, [3, 3, 3], [0, 1, 2], [0.3757054805755615, 0.38753432035446167, -0.513239860534668]),
]


@pytest.mark.clause("FeedForward/epoch-size")
@pytest.mark.parametrize(("size", "batches", "resets", "expected"), EPOCH_SIZES)
def test_epoch_size(size, batches, resets, expected, caplog):
    seen = []
    with caplog.at_level(logging.INFO):
        model = fitted(num_epoch=3, epoch_size=size, fit={"batch_end_callback": lambda now: seen.append(now.epoch)})
    assert [seen.count(epoch) for epoch in range(3)] == batches
    lines = [record.getMessage() for record in caplog.records]
    assert [int(line[6]) for line in lines if "Resetting" in line] == resets
    assert np.allclose(bias(model), expected, rtol=1e-6)


@pytest.mark.clause("FeedForward/no-batches")
def test_an_empty_iterator_cannot_fill_an_epoch():
    refused(ValueError, "FeedForward/no-batches", bucketed_empty)


def bucketed_empty():
    model = FeedForward(bucket_net(5), num_epoch=1, epoch_size=2)
    model.fit(Buckets())


@pytest.mark.clause("FeedForward/deprecated")
def test_it_is_deprecated():
    with pytest.warns(DeprecationWarning, match="FeedForward is deprecated"):
        made()


# --- asking -------------------------------------------------------------------------------------------


@pytest.mark.clause("FeedForward/predict", "FeedForward/nothing")
def test_predict():
    model = made()
    assert np.allclose(model.predict(ROWS)[3], [0.12701155, 0.42967457, 0.4433139], rtol=1e-6)  # MXNet 1.9.1
    assert model.predict(mx.nd.array(ROWS)).shape == (12, 3)
    assert model.predict(iterator(5)).shape == (12, 3)
    assert model.predict(iterator(5), num_batch=1).shape == (5, 3)
    started = iterator(5)
    next(started)
    assert model.predict(started, reset=False).shape == (7, 3)
    refused(ValueError, "FeedForward/nothing", model.predict, started, reset=False)
    outputs, data, labels = model.predict(iterator(5), return_data=True)
    assert np.array_equal(outputs, model.predict(ROWS))
    assert np.array_equal(data, ROWS.astype(np.float32))
    assert np.array_equal(labels, CLASSES)


@pytest.mark.clause("FeedForward/score")
def test_score():
    model, seen = made(), []
    assert model.score(iterator(5)) == pytest.approx(1 / 3)  # MXNet 1.9.1: padded rows count
    assert model.score(iterator(5), num_batch=1) == pytest.approx(0.2)
    assert model.score(iterator(5), ["acc", "ce"])[1] == pytest.approx(1.3207153002421061, rel=1e-6)
    model.score(iterator(5), batch_end_callback=lambda now: seen.append((now.epoch, now.nbatch)))
    assert seen == [(0, 0), (0, 1), (0, 2)]


@pytest.mark.clause("FeedForward/fresh")
def test_predictions_follow_the_parameters():
    model = made(num_epoch=1)
    before = model.predict(ROWS)
    model.fit(iterator())
    after = model.predict(ROWS)
    assert not np.array_equal(before, after)
    assert np.array_equal(after, FeedForward(network(), arg_params=model.arg_params).predict(ROWS))


@pytest.mark.clause("FeedForward/files", "FeedForward/save")
def test_save_and_load(tmp_path):
    prefix = str(tmp_path / "model")
    model = fitted(num_epoch=2)
    model.save(prefix)
    again = FeedForward.load(prefix, 2, num_epoch=3, learning_rate=0.5)
    assert np.array_equal(again.predict(ROWS), model.predict(ROWS))
    again.fit(iterator())
    assert np.array_equal(bias(again), bias(fitted(num_epoch=3)))
    refused(AssertionError, "FeedForward/save", made().save, prefix)
    refused(AssertionError, "FeedForward/save", FeedForward(network()).save, prefix, 1)


def test_create():
    model = FeedForward.create(network(), iterator(), num_epoch=1, learning_rate=0.5, arg_params=weights())
    assert np.array_equal(bias(model), bias(fitted()))


# --- refusals -----------------------------------------------------------------------------------------

LABELS = [
    (None, ValueError, "labels-needed"), ([1] * 12, TypeError, "labels-type"), (np.ones(5), ValueError, "labels-count"),
    (np.ones((12, 2)), ValueError, "labels-shape"), (np.ones((12, 1, 1)), ValueError, "labels-shape"),
    (np.ones((12, 0)), ValueError, "labels-shape"),
]


@pytest.mark.clause(
    "FeedForward/labels-needed", "FeedForward/labels-type", "FeedForward/labels-count", "FeedForward/labels-shape"
)
@pytest.mark.parametrize(("labels", "kind", "clause"), LABELS)
def test_labels_of_arrays(labels, kind, clause):
    refused(kind, f"FeedForward/{clause}", made(num_epoch=1).fit, ROWS, labels)


@pytest.mark.clause("FeedForward/arrays", "FeedForward/labels-shape")
def test_a_column_of_labels():
    made(num_epoch=1).fit(ROWS, CLASSES.reshape(12, 1))


@pytest.mark.clause("FeedForward/data", "FeedForward/num-epoch")
def test_data_and_epochs():
    refused(TypeError, "FeedForward/data", made(num_epoch=1).fit, [1, 2], CLASSES)
    refused(TypeError, "FeedForward/data", made().predict, ROWS.tolist())
    refused(TypeError, "FeedForward/num-epoch", made().fit, iterator())


@pytest.mark.clause("FeedForward/eval-data", "FeedForward/eval-none")
def test_evaluation_data():
    model = made(num_epoch=1)
    for wrong in (3, (ROWS,)):
        refused(TypeError, "FeedForward/eval-data", model.fit, iterator(), eval_data=wrong)
    refused(ValueError, "FeedForward/eval-none", model.fit, iterator(), eval_data=(None, CLASSES))
    refused(ValueError, "FeedForward/labels-needed", model.fit, iterator(), eval_data=(ROWS, None))
    model.fit(iterator(), eval_data=(iterator(), None))
    model.fit(iterator(12), eval_data=[ROWS.tolist(), CLASSES.tolist()])


@pytest.mark.clause("FeedForward/symbol", "FeedForward/symbol-known", "FeedForward/params", "FeedForward/shapes-known")
def test_the_net_and_its_parameters():
    refused(AssertionError, "FeedForward/symbol", FeedForward, None)
    refused(AssertionError, "FeedForward/symbol-known", bucketed().predict, Buckets(5))
    refused(AttributeError, "FeedForward/params", FeedForward(network()).predict, ROWS)
    elsewhere = mx.io.NDArrayIter({"other": ROWS}, CLASSES, 4, label_name="label")
    unknown = mx.sym.broadcast_add(mx.sym.Variable("other"), mx.sym.Variable("more"))
    with pytest.warns(UserWarning, match="Cannot decide shape"):
        model = FeedForward(unknown, num_epoch=1)
        refused(AssertionError, "FeedForward/shapes-known", model.fit, Unlabelled(elsewhere))


class Unlabelled(mx.io.ResizeIter):
    """The same data without labels."""

    def __init__(self, iterator):
        super().__init__(iterator, 1)
        self.provide_label = []


@pytest.mark.clause("FeedForward/param-shape")
def test_given_parameters_fit_the_net():
    model = made(num_epoch=1, arg_params={**weights(), "fc_bias": mx.nd.ones(4)})
    before = model.arg_params
    refused(ValueError, "FeedForward/param-shape", model.fit, iterator())
    assert model.arg_params is before


@pytest.mark.clause("FeedForward/extra-params")
def test_extra_parameters():
    extra = {**weights(), "extra": mx.nd.ones(2)}
    assert sorted(made(arg_params=extra, allow_extra_params=True).arg_params) == ["fc_bias", "fc_weight"]
    with pytest.raises(ValueError, match='"extra" that is not in the arguments'):
        made(arg_params=extra).predict(ROWS)
    assert sorted(fitted(arg_params=extra).arg_params) == ["fc_bias", "fc_weight"]


def test_public_names():
    assert mx.model.BASE_ESTIMATOR is object
    assert mx.model.SKLEARN_INSTALLED is False
    assert mx.model.get_updater is mx.optimizer.get_updater
    assert mx.callback.save_checkpoint is mx.model.save_checkpoint
