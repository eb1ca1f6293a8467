"""Sequences with lengths, attention of interleaved heads, recurrent layers over padded sequences."""

import torch
import torch.nn.functional as F
from torch import nn


def steps_before(lengths, x, axis):
    """Which elements of x lie before the end of their sequence; times are along axis 0 or 1."""
    steps = torch.arange(x.shape[axis], device=x.device)
    inside = steps[:, None] < lengths.long()[None] if axis == 0 else steps[None] < lengths.long()[:, None]
    return inside.reshape(*inside.shape, *[1] * (x.ndim - 2))


def sequence_mask(x, lengths, value, axis):
    """The sequences with a value behind their ends."""
    return torch.where(steps_before(lengths, x, axis), x, torch.full_like(x, value))


def sequence_last(x, lengths, axis):
    """The last element of each sequence."""
    last = lengths.long().clamp(1, x.shape[axis]) - 1
    rows = torch.arange(len(last), device=x.device)
    return x[last, rows] if axis == 0 else x[rows, last]


def sequence_reverse(x, lengths):
    """Each sequence backwards; what lies behind its end stays."""
    steps = torch.arange(x.shape[0], device=x.device)[:, None]
    ends = lengths.long().clamp(0, x.shape[0])[None]
    source = torch.where(steps < ends, ends - 1 - steps, steps)
    return x[source, torch.arange(x.shape[1], device=x.device)[None]]


def softmax_of_length(x, lengths, axis):
    """Softmax over the first elements along an axis, 0 behind them."""
    lengths = lengths.unsqueeze(axis)
    steps = torch.arange(x.shape[axis], device=x.device)
    shape = [1] * x.ndim
    shape[axis] = -1
    inside = steps.reshape(shape) < lengths
    found = F.softmax(torch.where(inside, x, torch.full_like(x, -1e30)), axis)
    return torch.where(inside, found, torch.zeros_like(x))


def split_heads(x, heads, parts):
    """(times, batch, heads * parts * size) as parts of (batch * heads, times, size)."""
    times, batch = x.shape[:2]
    x = x.reshape(times, batch * heads, parts, -1).permute(2, 1, 0, 3)
    return x.unbind(0)


def attention_scores(queries, keys):
    """The products of queries and keys by the root of their size."""
    return queries @ keys.mT / queries.shape[-1] ** 0.5


def attended(attention, values, heads):
    """The values by their attention, (times, batch, heads * size)."""
    found = (attention @ values).permute(1, 0, 2)
    return found.reshape(found.shape[0], found.shape[1] // heads, -1)


def padded_rnn(rnn, x, states, lengths):
    """A recurrent layer over sequences that end before the array does."""
    lengths = lengths.long().clamp(0, x.shape[0])
    packed = nn.utils.rnn.pack_padded_sequence(x, lengths.clamp(min=1).cpu(), enforce_sorted=False)
    output, ends = rnn(packed, states)
    output = nn.utils.rnn.pad_packed_sequence(output, total_length=x.shape[0])[0]
    empty = (lengths == 0)[:, None]  # which PyTorch does not take
    if isinstance(ends, tuple):
        ends = tuple(torch.where(empty, first, last) for first, last in zip(states, ends))
    else:
        ends = torch.where(empty, states, ends)
    return torch.where(empty, torch.zeros_like(output), output), ends
