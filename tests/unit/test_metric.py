"""What all metrics have in common: sums kept twice, names, functions, composites, creation."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from refimpl import metric
from refimpl import ndarray as nd

from .metric_cases import FIVE, LABELS, SCORES, refused, value

close = pytest.approx


# --- what all have in common ---------------------------------------------------------------------


@pytest.mark.clause("Metric/empty", "Metric/two-sums")
def test_local_and_global_sums():
    accuracy = metric.Accuracy()
    assert math.isnan(accuracy.get()[1])
    assert math.isnan(accuracy.get_global()[1])
    accuracy.update([LABELS], [SCORES])
    accuracy.reset_local()
    assert math.isnan(accuracy.get()[1])
    assert accuracy.get_global() == ("accuracy", close(2 / 3))
    accuracy.update([nd.array([0])], [nd.array([[1, 0]])])
    assert accuracy.get_name_value() == [("accuracy", 1.0)]
    assert accuracy.get_global_name_value() == [("accuracy", 0.75)]
    assert str(accuracy) == "EvalMetric: {'accuracy': 1.0}"
    accuracy.reset()
    assert math.isnan(accuracy.get_global()[1])


class Seen(metric.EvalMetric):
    """Counts the elements of the labels; keeps no global sums."""

    def update(self, labels, preds):
        self.sum_metric += sum(label.size for label in labels)
        self.num_inst += len(preds)


@pytest.mark.clause("Metric/abstract", "Metric/two-sums")
def test_own_metric():
    refused("Metric/abstract", NotImplementedError, metric.EvalMetric("x").update, [], [])
    own = Seen("seen", factor=3)
    own.update([LABELS], [SCORES])
    assert own.get() == own.get_global() == ("seen", 3.0)
    assert own.get_config() == {
        "factor": 3, "metric": "Seen", "name": "seen", "output_names": None, "label_names": None
    }
    assert metric.EvalMetric(["a", "b"]).name == "['a', 'b']"


@pytest.mark.clause("Metric/names")
def test_update_by_name():
    picking = metric.Accuracy(output_names=["o"], label_names=["l"])
    picking.update_dict({"l": LABELS, "other": None}, {"o": SCORES, "more": None})
    assert picking.get()[1] == close(2 / 3)
    refused("Metric/names", KeyError, picking.update_dict, {"x": LABELS}, {"o": SCORES})
    refused("Metric/names", KeyError, picking.update_dict, {"l": LABELS}, {"x": SCORES})
    taking_all = metric.Accuracy()
    taking_all.update_dict({"a": LABELS}, {"b": SCORES})
    assert taking_all.num_inst == 3


@pytest.mark.clause("Metric/shapes", "Metric/arrays")
def test_lists_must_match():
    accuracy = metric.Accuracy()
    refused("Metric/shapes", ValueError, accuracy.update, [LABELS, LABELS], [SCORES])
    refused("Metric/shapes", ValueError, accuracy.update, [LABELS], [SCORES, SCORES])
    refused("Metric/shapes", ValueError, accuracy.update, [nd.array([1, 0])], [SCORES])
    refused("Metric/arrays", AttributeError, accuracy.update, [LABELS.asnumpy()], [SCORES.asnumpy()])
    refused("Metric/shapes", ValueError, metric.check_label_shapes, LABELS, SCORES, shape=True)
    assert metric.check_label_shapes(LABELS, SCORES) == (LABELS, SCORES)
    labels, preds = metric.check_label_shapes(LABELS, SCORES, wrap=True)
    assert labels[0] is LABELS
    assert preds[0] is SCORES


# --- functions, lists and names ------------------------------------------------------------------


def pair(label, pred):
    return 3.0, 4


@pytest.mark.clause("Metric/custom", "Metric/custom-config")
def test_custom():
    distance = metric.CustomMetric(lambda label, pred: np.abs(label - pred[:, 0]).sum())
    assert distance.name == "custom(<lambda>)"
    assert value(distance, FIVE) == close(2.2)
    counting = metric.np(pair)
    assert counting.name == "pair"
    assert value(counting, FIVE, FIVE) == 0.75
    assert counting.num_inst == 8
    assert metric.np(pair, "other").name == "other"
    assert math.isnan(value(metric.np(lambda label, pred: (1.5, 0)), FIVE))
    refused("Metric/shapes", ValueError, counting.update, [LABELS], [SCORES, SCORES])
    metric.np(pair, allow_extra_outputs=True).update([LABELS], [SCORES, SCORES])
    refused("Metric/custom-config", NotImplementedError, counting.get_config)


@pytest.mark.clause("Metric/composite", "Metric/index")
def test_composite():
    both = metric.CompositeEvalMetric(["acc", metric.CrossEntropy()])
    both.update(*FIVE)
    names, values = both.get()
    assert names == ["accuracy", "cross-entropy"]
    assert values == [close(0.6), close(1.058069896697998, rel=1e-6)]
    assert both.get_name_value() == both.get_global_name_value() == list(zip(names, values, strict=True))
    assert (both.get_metric(0).name, both.get_metric(-1).name) == ("accuracy", "cross-entropy")
    refused("Metric/index", ValueError, both.get_metric, 5)
    both.reset_local()
    assert all(math.isnan(one) for one in both.get()[1])
    assert both.get_global()[1] == values
    both.reset()
    assert all(math.isnan(one) for one in both.get_global()[1])
    both.add("mse")
    assert both.get()[0] == ["accuracy", "cross-entropy", "mse"]
    assert metric.CompositeEvalMetric().get() == ([], [])
    nested = metric.CompositeEvalMetric(["f1", both])
    nested.update(*FIVE)
    assert [name for name, _ in nested.get_name_value()] == ["f1", "accuracy", "cross-entropy", "mse"]


@pytest.mark.clause("Metric/composite")
def test_composite_by_name():
    labels, outputs = {"l": FIVE[0], "k": None}, {"o": FIVE[1], "p": None}
    own = metric.CompositeEvalMetric(["acc", "ce"], output_names=["o"], label_names=["l"])
    own.update_dict(labels, outputs)
    each = metric.CompositeEvalMetric([metric.Accuracy(output_names=["o"], label_names=["l"])])
    each.update_dict(labels, outputs)
    assert own.get()[1][0] == each.get()[1][0] == close(0.6)


@pytest.mark.clause("Metric/create")
@pytest.mark.parametrize(("name", "kind"), [
    ("acc", metric.Accuracy), ("Accuracy", metric.Accuracy), ("ACC", metric.Accuracy),
    ("ce", metric.CrossEntropy), ("crossentropy", metric.CrossEntropy),
    ("nll_loss", metric.NegativeLogLikelihood), ("negativeloglikelihood", metric.NegativeLogLikelihood),
    ("composite", metric.CompositeEvalMetric), ("f1", metric.F1), ("mcc", metric.MCC), ("pcc", metric.PCC),
    ("loss", metric.Loss), ("torch", metric.Torch), ("caffe", metric.Caffe), ("mae", metric.MAE),
    ("mse", metric.MSE), ("rmse", metric.RMSE), ("pearsonr", metric.PearsonCorrelation),
    ("pearsoncorrelation", metric.PearsonCorrelation),
])
def test_create_by_name(name, kind):
    assert type(metric.create(name)) is kind


@pytest.mark.clause("Metric/create")
def test_create():
    for name in ("top_k_acc", "top_k_accuracy", "topkaccuracy"):
        assert metric.create(name, top_k=3).name == "top_k_accuracy_3"
    assert metric.create("perplexity", None).ignore_label is None
    assert metric.create(["acc", "ce"]).get()[0] == ["accuracy", "cross-entropy"]
    assert metric.create(["top_k_acc"], top_k=3).get()[0] == ["top_k_accuracy_3"]
    assert metric.create(pair, name="q").name == "q"
    accuracy = metric.Accuracy()
    assert metric.create(accuracy) is accuracy
    assert metric.create({"metric": "acc", "axis": 2}).axis == 2
    assert metric.create('["acc", {"axis": 2}]').axis == 2
    for name in ("cross-entropy", "nll-loss", "evalmetric", None, 3, ("acc",)):
        with pytest.raises(AssertionError):
            metric.create(name)


@pytest.mark.clause("Metric/config")
@pytest.mark.parametrize("made", [
    metric.Accuracy(2, "a", ["o"], ["l"]), metric.TopKAccuracy(3), metric.CrossEntropy(0.1),
    metric.Perplexity(0, 1), metric.F1(average="micro"), metric.MCC(), metric.PCC(), metric.MSE(),
    metric.PearsonCorrelation(average="micro"), metric.Loss(),
    metric.CompositeEvalMetric(["acc", metric.TopKAccuracy(2)]),
], ids=lambda made: type(made).__name__)
def test_a_configuration_makes_the_same_metric(made):
    config = made.get_config()
    for twin in (metric.create(config), metric.create(json.dumps(config))):
        assert type(twin) is type(made)
        assert twin.get_config() == config
        assert twin.name == made.name


@pytest.mark.clause("Metric/register")
def test_register():
    @metric.register
    @metric.alias("seen_too")
    class SeenAgain(Seen):
        def __init__(self, name="seen", output_names=None, label_names=None):
            super().__init__(name, output_names, label_names)

    assert type(metric.create("seenagain")) is type(metric.create("SEEN_TOO")) is SeenAgain


@given(
    st.lists(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2)), min_size=1), min_size=1),
    st.integers(0, 5),
)
def test_accuracy_does_not_depend_on_how_samples_are_batched(batches, local_from):
    made = metric.Accuracy()
    for number, batch in enumerate(batches):
        if number == local_from:
            made.reset_local()
        made.update(nd.array([one for one, _ in batch]), nd.array([other for _, other in batch]))
    everything = [one == other for batch in batches for one, other in batch]
    assert made.get_global()[1] == close(sum(everything) / len(everything))
    recent = batches[local_from:] if local_from < len(batches) else batches
    local = [one == other for batch in recent for one, other in batch]
    assert made.get()[1] == close(sum(local) / len(local))
