"""Each metric: values observed in MXNet 1.9.1 with the same arrays, and refusals."""

from __future__ import annotations

import math

import numpy as np
import pytest

from refimpl import metric
from refimpl import ndarray as nd
from refimpl.base import MXNetError

from .metric_cases import FIVE, FOUND, LABELS, SCORES, THREE, WANTED, refused, value

close = pytest.approx


# --- classifiers ---------------------------------------------------------------------------------


@pytest.mark.clause("Metric/accuracy")
@pytest.mark.parametrize(("expected", "labels", "preds", "axis"), [
    (2 / 3, LABELS, SCORES, 1),
    (2 / 3, nd.array([[1], [0], [0]]), SCORES, 1),
    (2 / 3, nd.array([1.9, 0.2, -0.5]), SCORES, 1),
    (2 / 3, LABELS, nd.array([1, 0, 1]), 1),
    (2 / 3, LABELS, nd.array([0.9, 0.1, 0.6]), 1),
    (2 / 3, LABELS, nd.array([[0.9], [0.1], [0.6]]), 1),
    (2 / 3, LABELS, nd.array([[1, 1], [2, 2], [0, 0]]), 1),
    (1 / 2, nd.array([1, 0]), SCORES, 0),
    (5 / 8, nd.array(np.arange(8).reshape(2, 2, 2) % 2), nd.array(np.arange(16).reshape(2, 2, 2, 2) % 3), 1),
])
def test_accuracy(expected, labels, preds, axis):
    assert value(metric.Accuracy(axis), ([labels], [preds])) == close(expected)
    assert value(metric.Accuracy(axis), ([labels, labels], [preds, preds]), ([labels], [preds])) == close(
        expected
    )


@pytest.mark.clause("Metric/axis")
def test_accuracy_axis():
    refused("Metric/axis", MXNetError, metric.Accuracy(axis=2).update, [LABELS], [SCORES])


# np.random.RandomState(0).rand(6, 5), rounded
RANDOM = nd.array([
    [0.54881, 0.71519, 0.60276, 0.54488, 0.42365], [0.64589, 0.43759, 0.89177, 0.96366, 0.38344],
    [0.79173, 0.52889, 0.56804, 0.92560, 0.07104], [0.08713, 0.02022, 0.83262, 0.77816, 0.87001],
    [0.97862, 0.79916, 0.46148, 0.78053, 0.11827], [0.63992, 0.14335, 0.94467, 0.52185, 0.41466],
])
SIX = nd.array([0, 1, 2, 3, 4, 0])


@pytest.mark.clause("Metric/top-k")
def test_top_k():
    for top_k, expected in ((2, 1 / 6), (3, 4 / 6), (5, 1.0)):
        made = metric.TopKAccuracy(top_k)
        assert made.name == f"top_k_accuracy_{top_k}"
        assert value(made, ([SIX], [RANDOM])) == close(expected)
    assert metric.TopKAccuracy(3, name="z").name == "z_3"
    ties = nd.zeros((4, 4))
    assert value(metric.TopKAccuracy(2), ([nd.array([0, 1, 2, 3])], [ties])) == 0.5
    hits = [metric.TopKAccuracy(2) for _ in range(4)]
    assert [value(m, ([nd.array([i])], [ties[:1]])) for i, m in enumerate(hits)] == [0, 0, 1, 1]


@pytest.mark.clause("Metric/top-k", "Metric/shapes")
def test_top_k_refusals():
    refused("Metric/top-k", AssertionError, metric.TopKAccuracy, 1)
    made = metric.TopKAccuracy(2)
    refused("Metric/top-k", AssertionError, made.update, [LABELS], [nd.array([1, 1, 2])])
    refused("Metric/top-k", AssertionError, made.update, [nd.array([1, 0])], [nd.zeros((2, 2, 2))])
    refused("Metric/top-k", ValueError, metric.TopKAccuracy(3).update, [LABELS], [SCORES])
    refused("Metric/shapes", ValueError, made.update, [nd.array([1, 0])], [SCORES])


@pytest.mark.clause("Metric/cross-entropy")
@pytest.mark.parametrize(("kind", "name"), [
    (metric.CrossEntropy, "cross-entropy"), (metric.NegativeLogLikelihood, "nll-loss")
])
def test_log_loss(kind, name):
    made = kind()
    assert value(made, ([LABELS], [SCORES])) == close(0.825646162033081, rel=1e-6)
    assert made.get()[0] == name
    assert value(kind(eps=0.5), ([LABELS], [SCORES])) == close(0.02634770671526591, rel=1e-5)
    certain = nd.array([[0, 1], [0, 1]])
    assert value(kind(), ([nd.array([0, 0])], [certain])) == close(27.63102149963379, rel=1e-6)
    backwards = nd.array([[0], [1], [-1]])
    assert value(kind(), ([backwards], [SCORES])) == close(0.7811357180277506, rel=1e-6)
    doubles = nd.array(SCORES.asnumpy(), dtype="float64")
    assert value(kind(), ([LABELS], [doubles])) == close(0.825646147507679, rel=1e-14)


@pytest.mark.clause("Metric/one-label-each", "Metric/label-range")
def test_log_loss_refusals():
    made = metric.CrossEntropy()
    refused("Metric/one-label-each", AssertionError, made.update, [nd.array([0])], [SCORES])
    refused("Metric/label-range", IndexError, made.update, [nd.array([0, 1, 2])], [SCORES])
    refused("Metric/label-range", IndexError, made.update, [nd.array([0, 1, -3])], [SCORES])


@pytest.mark.clause("Metric/perplexity")
def test_perplexity():
    both = [FIVE[0], THREE[0]], [FIVE[1], THREE[1]]
    for ignored, first, all_of_them in (
        (None, 2.8808050931956344, 2.7902746565578576), (0, 2.8768479208661475, 2.6564132850146067)
    ):
        assert value(metric.Perplexity(ignored), FIVE) == close(first, rel=1e-6)
        assert value(metric.Perplexity(ignored), FIVE, THREE) == close(all_of_them, rel=1e-6)
        assert value(metric.Perplexity(ignored), both) == close(all_of_them, rel=1e-6)
    assert math.isnan(value(metric.Perplexity(0), ([nd.array([0])], [nd.array([[0.25, 0.75]])])))
    zero = [nd.array([0])], [nd.array([[0, 1]])]
    assert value(metric.Perplexity(None), zero) == close(9999993660.802519, rel=1e-5)
    beyond = [nd.array([5])], [nd.array([[0.25, 0.75]])]
    assert value(metric.Perplexity(None), beyond) == close(4 / 3)
    # By hand: probabilities 1/2, 1/4, 1/4, 1/2 along the middle axis.
    deep = nd.array([[[0.5, 0.75], [0.5, 0.25]], [[0.75, 0.5], [0.25, 0.5]]])
    made = metric.Perplexity(None, axis=1)
    assert value(made, ([nd.array([[0, 1], [1, 0]])], [deep])) == close(2 ** 1.5)


@pytest.mark.clause("Metric/one-label-each")
def test_perplexity_refusals():
    made = metric.Perplexity(None)
    refused("Metric/one-label-each", AssertionError, made.update, [nd.array([0, 1])], [SCORES])
    refused("Metric/one-label-each", AssertionError, made.update, [LABELS, LABELS], [SCORES])
    made.update([LABELS.reshape((-1, 1))], [SCORES])  # one label for each row, in any shape
    assert made.num_inst == LABELS.size


@pytest.mark.clause("Metric/f1", "Metric/macro-micro")
def test_f1():
    lists = [FIVE[0], THREE[0]], [FIVE[1], THREE[1]]
    assert value(metric.F1(), FIVE) == close(2 / 3)
    assert value(metric.F1(), FIVE, THREE) == close(0.5833333333333333)
    assert value(metric.F1(), lists) == close(0.6)
    assert value(metric.F1(average="micro"), FIVE, THREE) == close(0.6)
    labels = nd.array([1, 0]), nd.array([0, 0])
    ones, zeros = nd.array([[0, 1], [0, 1]]), nd.array([[1, 0], [1, 0]])
    assert value(metric.F1(), (labels[0], zeros)) == 0
    assert value(metric.F1(), (labels[1], zeros)) == 0
    assert value(metric.F1(), (nd.array([1, 1]), ones)) == 1
    assert value(metric.F1(), (nd.array([1, 2, 1]), nd.array([[0, 1], [0, 1], [1, 0]]))) == 0.5


@pytest.mark.clause("Metric/mcc", "Metric/macro-micro")
def test_mcc():
    assert value(metric.MCC(), FIVE) == close(1 / 6)
    assert value(metric.MCC(), FIVE, THREE) == close(-1 / 6)
    assert value(metric.MCC(average="micro"), FIVE, THREE) == close(-0.06666666666666667)
    assert value(metric.MCC(), (nd.array([1, 1]), nd.array([[0, 1], [0, 1]]))) == 0
    assert value(metric.MCC(), (nd.array([1, 0]), nd.array([[0, 1], [1, 0]]))) == 1


@pytest.mark.clause("Metric/macro-micro", "Metric/two-sums")
@pytest.mark.parametrize(("made", "local", "overall"), [
    (metric.F1(), 0.5, 0.5833333333333333), (metric.F1(average="micro"), 0.5, 0.6),
    (metric.MCC(), -0.5, -1 / 6), (metric.MCC(average="micro"), -0.5, -1 / 15),
])
def test_local_scores(made, local, overall):
    made.update(*FIVE)
    made.reset_local()
    assert math.isnan(made.get()[1])
    made.update(*THREE)
    assert (made.get()[1], made.get_global()[1]) == (close(local), close(overall))
    made.reset()
    assert math.isnan(made.get_global()[1])


@pytest.mark.clause("Metric/binary", "Metric/shapes")
@pytest.mark.parametrize("kind", [metric.F1, metric.MCC])
def test_binary_refusals(kind):
    preds = nd.array([[0, 1], [0, 1], [1, 0]])
    refused("Metric/binary", ValueError, kind().update, nd.array([1, 2, 0]), preds)
    refused("Metric/binary", ValueError, kind().update, nd.array([1, 0]), nd.array([1, 0]))
    refused("Metric/shapes", ValueError, kind().update, nd.array([1, 0]), preds)


@pytest.mark.clause("Metric/pcc")
def test_pcc():
    three_classes = nd.array([0, 1, 2, 2, 1]), nd.array(np.eye(3)[[0, 2, 2, 1, 1]])
    assert value(metric.PCC(), FIVE) == close(1 / 6)
    assert value(metric.PCC(), FIVE, THREE) == close(-1 / 15)
    assert value(metric.PCC(), three_classes) == close(0.375)
    assert value(metric.PCC(), FIVE, three_classes) == close(0.3548387096774194)
    assert value(metric.PCC(), (nd.array([0, 1, 1]), nd.array([0, 1, 0]))) == close(0.5)
    assert math.isnan(value(metric.PCC(), (nd.array([0, 0]), nd.array([[1, 0], [1, 0]]))))
    made = metric.PCC()
    made.update(*FIVE)
    made.reset_local()
    assert (math.isnan(made.get()[1]), made.get_global()[1]) == (True, close(1 / 6))
    made.reset()
    assert math.isnan(made.get_global()[1])


# --- numbers -------------------------------------------------------------------------------------


@pytest.mark.clause("Metric/distances")
@pytest.mark.parametrize(("kind", "one", "two", "column", "wide"), [
    (metric.MAE, 1.625, 1.3125, 4 / 3, 7 / 6),
    (metric.MSE, 5.0625, 3.03125, 8 / 3, 13 / 6),
    (metric.RMSE, 2.25, 1.625, 1.632993221282959, 1.471960186958313),
])
def test_distances(kind, one, two, column, wide):
    small = nd.array([[1, 2]]), nd.array([[2, 3]])
    flat = nd.array([1, 2, 3])
    assert value(kind(), ([WANTED], [FOUND])) == one
    assert value(kind(), ([WANTED], [FOUND]), ([small[0]], [small[1]])) == two
    assert value(kind(), ([WANTED, WANTED], [FOUND, WANTED])) == one / 2
    assert value(kind(), (flat, nd.array([3, 2, 1]))) == close(column, rel=1e-6)
    assert value(kind(), (flat, nd.array([[3], [2], [1]]))) == close(column, rel=1e-6)
    assert value(kind(), (flat, nd.array([[3, 1], [2, 1], [1, 1]]))) == close(wide, rel=1e-6)
    refused("Metric/shapes", ValueError, kind().update, [flat], [nd.array([3, 2])])


@pytest.mark.clause("Metric/pearson", "Metric/macro-micro")
def test_pearson():
    x, y, z = nd.array([[1, 2], [3, 4], [5, 7]]), nd.array([[1.5, 2], [1, 8], [4, 4]]), None
    z = nd.array([[2, 1], [0, 1], [3, 1]])
    macro, micro = metric.PearsonCorrelation, lambda: metric.PearsonCorrelation(average="micro")
    assert value(macro(), ([x], [y])) == close(0.4789903942807498, rel=1e-12)
    assert value(macro(), ([x], [y]), ([x], [z])) == close(0.26937591237373476, rel=1e-12)
    assert value(micro(), ([x], [y])) == close(0.47899039428074963, rel=1e-12)
    assert value(micro(), ([x, x], [y, z])) == close(0.28540242720507025, rel=1e-12)
    assert math.isnan(value(macro(), ([x], [nd.ones((3, 2))])))
    assert math.isnan(value(micro(), ([nd.array([1])], [nd.array([2])])))
    made = micro()
    made.update([x], [y])
    made.reset_local()
    made.update([x], [z])
    assert made.get()[1] == close(0.059761430466719695, rel=1e-12)
    assert made.get_global()[1] == close(0.28540242720507025, rel=1e-12)
    refused("Metric/shapes", ValueError, macro().update, [x], [nd.ones((2, 3))])


@pytest.mark.clause("Metric/loss")
def test_loss():
    batches = (LABELS, [nd.array([1, 2, 3])]), (None, [nd.array([[4, 5]]), nd.array([3])])
    assert value(metric.Loss(), *batches) == 3
    assert value(metric.Loss(), (None, nd.array([1, 2, 3]))) == 2
    assert (metric.Torch().name, metric.Caffe().name) == ("torch", "caffe")
