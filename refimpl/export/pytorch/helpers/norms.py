"""Norms and dropout as MXNet has them."""

import torch
import torch.nn.functional as F
from torch import nn


def fixed_scale(norm):
    """The norm, whose scale is not learnt: it stays 1."""
    norm.weight.requires_grad_(False)
    return norm


class FrozenBatchNorm1d(nn.BatchNorm1d):
    """A norm by its moving statistics, in training too."""

    def train(self, mode=True):
        return super().train(False)


class FrozenBatchNorm2d(nn.BatchNorm2d):
    """A norm by its moving statistics, in training too."""

    def train(self, mode=True):
        return super().train(False)


class FrozenBatchNorm3d(nn.BatchNorm3d):
    """A norm by its moving statistics, in training too."""

    def train(self, mode=True):
        return super().train(False)


def dropout_along(x, p, axes, training):
    """Dropout that draws once for all places along the axes."""
    shape = [1 if axis in axes else side for axis, side in enumerate(x.shape)]
    return x * F.dropout(torch.ones(shape, dtype=x.dtype, device=x.device), p, training)
