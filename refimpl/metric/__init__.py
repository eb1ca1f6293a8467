"""mx.metric: running measures of how good the outputs of a network are."""

from __future__ import annotations

from .classification import (
    Accuracy,
    CrossEntropy,
    NegativeLogLikelihood,
    Perplexity,
    TopKAccuracy,
)
from .composite import CompositeEvalMetric, create
from .confusion import F1, MCC, PCC
from .custom import CustomMetric, np
from .metric import EvalMetric, alias, check_label_shapes, register
from .regression import MAE, MSE, RMSE, Caffe, Loss, PearsonCorrelation, Torch

__all__ = [
    "F1", "MAE", "MCC", "MSE", "PCC", "RMSE", "Accuracy", "Caffe", "CompositeEvalMetric",
    "CrossEntropy", "CustomMetric", "EvalMetric", "Loss", "NegativeLogLikelihood",
    "PearsonCorrelation", "Perplexity", "TopKAccuracy", "Torch", "alias", "check_label_shapes",
    "create", "np", "register",
]
