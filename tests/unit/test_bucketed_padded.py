"""Training over buckets gives what padded and masked batches give, on any number of contexts.

A net sums ``weight @ step`` over the steps of a row, and regresses. Values are small dyadic rationals, of
which no sum rounds; the expected weights are made in NumPy, float64, from the unpadded rows.
"""

from __future__ import annotations

import numpy as np
import pytest

import refimpl as mx

LENGTHS, LONGEST, ROWS = (2, 4, 3), 4, 16


def net(length):
    """``data`` (rows, length, 2) and ``mask`` (rows, length) to two outputs per row."""
    del length
    steps = mx.sym.FullyConnected(mx.sym.Variable("data"), num_hidden=2, no_bias=True, flatten=False, name="fc")
    masked = mx.sym.broadcast_mul(steps, mx.sym.expand_dims(mx.sym.Variable("mask"), axis=2))
    total = mx.sym.sum(masked, axis=1)
    return mx.sym.LinearRegressionOutput(total, mx.sym.Variable("label"), name="out"), ("data", "mask"), ("label",)


def rows_of(length, step):
    """Rows of so many steps, and their labels: -1, 0 and 1."""
    places = np.arange(ROWS * length * 2)
    data = ((places * (3 + step) + places // 7) % 3 - 1).reshape(ROWS, length, 2)
    label = (np.arange(ROWS * 2) * (2 + step) % 3 - 1).reshape(ROWS, 2)
    return data, label


def batch(length, step, padded):
    data, label = rows_of(length, step)
    mask = np.ones((ROWS, length))
    if padded:
        missing = LONGEST - length
        # what is under the mask must not matter, so it is no zero
        data = np.pad(data, [(0, 0), (0, missing), (0, 0)], constant_values=1.5)
        mask = np.pad(mask, [(0, 0), (0, missing)])
    arrays = {"data": data, "mask": mask}
    return mx.io.DataBatch(
        [mx.nd.array(array) for array in arrays.values()], [mx.nd.array(label)], bucket_key=length,
        provide_data=[(name, array.shape) for name, array in arrays.items()],
        provide_label=[("label", label.shape)],
    )


START = np.array([[1, -1], [0, 2]])
SHAPES = [("data", (ROWS, LONGEST, 2)), ("mask", (ROWS, LONGEST))], [("label", (ROWS, 2))]
OPTIONS = {"learning_rate": 0.5, "momentum": 0.5, "rescale_grad": 1 / 16}


def train(kind, contexts=1, kvstore="local", weights=None):
    """Three steps, one per length; (weights, outputs of each step)."""
    settings = {"context": [mx.cpu(i) for i in range(contexts)], "work_load_list": weights}
    if kind == "padded":
        module = mx.mod.Module(net(LONGEST)[0], ("data", "mask"), ("label",), **settings)
    else:
        module = mx.mod.BucketingModule(net, LONGEST, **settings)
    module.bind(*SHAPES)
    module.init_params(arg_params={"fc_weight": mx.nd.array(START)}, aux_params={})
    module.init_optimizer(kvstore=kvstore, optimizer_params=OPTIONS)
    outputs = []
    for step, length in enumerate(LENGTHS):
        module.forward_backward(batch(length, step, kind == "padded"))
        outputs.append(module.get_outputs()[0].asnumpy())
        module.update()
    return module.get_params()[0]["fc_weight"].asnumpy(), outputs


def by_hand():
    weight, moved, outputs = START, np.zeros((2, 2)), []
    for step, length in enumerate(LENGTHS):
        data, label = rows_of(length, step)
        summed = data.sum(axis=1)
        outputs.append(summed @ weight.T)
        # LinearRegressionOutput divides by the number of outputs per row
        gradient = ((outputs[-1] - label) / 2).T @ summed
        moved = 0.5 * moved - 0.5 / 16 * gradient
        weight = weight + moved
    return weight, outputs


def check(found):
    expected = by_hand()
    assert np.array_equal(found[0], expected[0])
    for mine, output in zip(found[1], expected[1], strict=True):
        assert np.array_equal(mine, output)


@pytest.mark.clause("Bucketing/equals-padded")
@pytest.mark.parametrize("kind", ["padded", "bucketed"])
def test_buckets_and_padding_give_the_same_bits(kind):
    check(train(kind))


@pytest.mark.clause("Bucketing/same-result")
@pytest.mark.parametrize("kvstore", ["local", "device"])
@pytest.mark.parametrize("contexts", [2, 3, 4, 5, 6, 7, 8])
def test_buckets_on_any_number_of_contexts_give_the_same_bits(contexts, kvstore):
    check(train("bucketed", contexts, kvstore))


@pytest.mark.clause("Bucketing/same-result")
@pytest.mark.parametrize("weights", [[1, 3], [7, 1], [1, 2, 5], [3, 1, 1, 3]])
def test_buckets_with_uneven_work_loads_give_the_same_bits(weights):
    check(train("bucketed", len(weights), weights=weights))


@pytest.mark.clause("Bucketing/same-result")
@pytest.mark.parametrize("on_store", ["0", "1"])
def test_buckets_updated_beside_the_weights_or_on_the_store(on_store, monkeypatch):
    monkeypatch.setenv("MXNET_UPDATE_ON_KVSTORE", on_store)
    check(train("bucketed", 3))


# --- a loss that ignores padding ------------------------------------------------------------------


def tagger(length):
    """A class for every step; a label of -1 is ignored."""
    del length
    words = mx.sym.Embedding(mx.sym.Variable("data"), input_dim=5, output_dim=3, name="embed")
    scores = mx.sym.FullyConnected(mx.sym.Reshape(words, shape=(-1, 3)), num_hidden=4, name="fc")
    label = mx.sym.Reshape(mx.sym.Variable("label"), shape=(-1,))
    return mx.sym.SoftmaxOutput(scores, label, use_ignore=True, ignore_label=-1, name="softmax"), ("data",), ("label",)


@pytest.mark.clause("Bucketing/equals-padded")
def test_ignored_labels_are_as_good_as_a_mask():
    modules = {
        "padded": mx.mod.Module(tagger(0)[0], ("data",), ("label",)),
        "bucketed": mx.mod.BucketingModule(tagger, LONGEST),
    }
    draw = np.random.RandomState(0)
    start = {"embed_weight": (5, 3), "fc_weight": (4, 3), "fc_bias": (4,)}
    start = {name: mx.nd.array(draw.uniform(-1, 1, shape)) for name, shape in start.items()}
    batches = [(draw.randint(0, 5, (2, length)), draw.randint(0, 4, (2, length))) for length in LENGTHS]
    for kind, module in modules.items():
        module.bind([("data", (2, LONGEST))], [("label", (2, LONGEST))])
        module.init_params(arg_params=start, aux_params={})
        module.init_optimizer(optimizer_params={"learning_rate": 0.5, "momentum": 0.5})
        for words, classes in batches:
            given = {"bucket_key": words.shape[1]}
            if kind == "padded":
                margins = [(0, 0), (0, LONGEST - words.shape[1])]
                words, classes = np.pad(words, margins), np.pad(classes, margins, constant_values=-1)  # noqa: PLW2901
            given.update(provide_data=[("data", words.shape)], provide_label=[("label", words.shape)])
            module.forward_backward(mx.io.DataBatch([mx.nd.array(words)], [mx.nd.array(classes)], **given))
            module.update()
    padded = modules["padded"].get_params()[0]
    for name, value in modules["bucketed"].get_params()[0].items():
        # the same terms, and zeros in between
        np.testing.assert_allclose(value.asnumpy(), padded[name].asnumpy(), rtol=1e-6, atol=1e-7)
