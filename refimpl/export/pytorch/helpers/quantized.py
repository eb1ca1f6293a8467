"""Quantized layers. A value is a triple: whole numbers of 8 or 32 bits, and the ends of their range."""

import torch
import torch.nn.functional as F


def reach(low, high):
    """The larger absolute end of a range."""
    return torch.maximum(low.abs(), high.abs())


def by_step(steps, size):
    """How many steps make 1 of a range; PyTorch's number / tensor would round twice."""
    return torch.full_like(size, steps) / size


def rounded(x, kind):
    """The nearest whole numbers that a type holds, of halves the even ones."""
    ends = torch.iinfo(kind)
    return x.round().clamp(ends.min, ends.max).to(kind)


def symmetric(size, kind):
    """The range of a type whose larger end is size."""
    return (torch.zeros_like(size) if kind == torch.uint8 else -size), size


def quantized(x, kind, steps, low=None, high=None, whole_range=False):
    """Real numbers as whole ones of 8 bits; without a range that of the numbers."""
    low = x.amin().reshape(1) if low is None else torch.as_tensor(low, dtype=x.dtype, device=x.device).reshape(1)
    high = x.amax().reshape(1) if high is None else torch.as_tensor(high, dtype=x.dtype, device=x.device).reshape(1)
    size = reach(low, high)
    ends = (low, high) if kind == torch.uint8 or whole_range else (-size, size)
    return rounded(x * by_step(steps, size), kind), *ends


def requantized(value, kind, steps, low=None, high=None):
    """Sums of 32 bits as numbers of 8 bits."""
    x, begin, end = value
    part = reach(begin, end) / 2.0**31
    if low is None:
        size = part * x.double().abs().amax().float()
    else:
        size = torch.tensor([max(abs(low), abs(high))], device=x.device)
    return rounded(x.float() * (part * by_step(steps, size)), kind), *symmetric(size, kind)


def dequantized(value):
    """The real numbers that whole ones of 8 bits stand for."""
    x, low, high = value
    return x.float() * (reach(low, high) / (255.5 if x.dtype == torch.uint8 else 127.5))


def as_int32(x):
    """The lower 32 bits of whole numbers in double precision."""
    return ((x + 2.0**31) % 2.0**32 - 2.0**31).to(torch.int32)


def range_of_products(value, low, high, steps):
    """The range of a sum of products of 32 bits."""
    size = (reach(value[1], value[2]) / steps) * (reach(low, high) / 127.0) * 2.0**31
    return -size, size


def quantized_linear(value, weight, bias, weight_range, bias_range, flatten):
    """A fully connected layer on whole numbers; its bias has a range of its own."""
    x, low, high = value
    x = x.flatten(1) if flatten else x
    found = x.double() @ weight.double().T
    if bias is not None:
        steps = 255.5 if value[0].dtype == torch.uint8 else 127.5
        scale = by_step(steps, reach(low, high)) * by_step(127.5, reach(*weight_range)) * reach(*bias_range) / 127.5
        found = found + (bias.float().reshape(-1) * scale).trunc().double()
    steps = 255.0 if value[0].dtype == torch.uint8 else 127.0
    return as_int32(found), *range_of_products(value, *weight_range, steps)


def quantized_convolution(value, weight, bias, weight_range, stride, padding, dilation):
    """A convolution of whole numbers, to which the bias is added as it stands."""
    run = F.conv2d if weight.ndim == 4 else F.conv3d
    bias = None if bias is None else bias.double()
    found = run(value[0].double(), weight.double(), bias, stride, padding, dilation)
    return as_int32(found), *range_of_products(value, *weight_range, 127.0)


def quantized_relu(value):
    """Negative numbers made 0."""
    x, low, high = value
    return x.view(torch.int8).clamp(min=0) if x.dtype == torch.int8 else x.view(torch.int8), low, high


def quantized_norm(value, gamma, beta, mean, var, eps, low, high):
    """A norm by moving statistics, as numbers of 8 bits of a calibrated range."""
    x, size = value[0], torch.tensor(max(abs(low), abs(high)))
    inverse = torch.rsqrt(var.double() + eps).float()
    weight = gamma * inverse * reach(value[1], value[2]) / size / torch.sqrt(torch.tensor(1.0) + eps)
    bias = (beta - mean * gamma * inverse) * 127.5 / size
    real = rounded(x.float() * (127.5 / 255.5), torch.int8).float() if x.dtype == torch.uint8 else x.float()
    shape = (-1, *[1] * (x.ndim - 2))
    ends = torch.tensor([low]), torch.tensor([high])
    return rounded(real * weight.reshape(shape) + bias.reshape(shape), torch.int8), *ends


def quantized_pooling(value, pool):
    """Pooling of whole numbers, whose means are rounded."""
    x, low, high = value
    return rounded(pool(x.float()), x.dtype), low, high


def quantized_cat(values, dim):
    """Numbers of several ranges along an axis, as numbers of one range."""
    low = torch.stack([value[1] for value in values]).amin(0).clamp(max=0)
    high = torch.stack([value[2] for value in values]).amax(0).clamp(min=0)
    kind = torch.int8 if any(value[0].dtype == torch.int8 for value in values) else torch.uint8
    steps = {torch.int8: 127.5, torch.uint8: 255.5}
    pieces = []
    for x, begin, end in values:
        by = by_step(steps[kind], reach(low, high)) / by_step(steps[x.dtype], reach(begin, end))
        pieces.append(rounded(x.float() * by, kind))
    return torch.cat(pieces, dim), low, high


def quantized_sum(one, other, low=None, high=None):
    """The sum of numbers of two ranges, as 32 bits, or as 8 bits of a calibrated range."""
    steps = {torch.int8: 127.5, torch.uint8: 255.5}
    unsigned = one[0].dtype == other[0].dtype == torch.uint8
    kind = torch.int32 if low is None else torch.uint8 if unsigned else torch.int8
    sizes = [reach(value[1], value[2]) for value in (one, other)]
    size = sizes[0] + sizes[1] if low is None else torch.tensor([max(abs(low), abs(high))])
    count = 2.0**31 if low is None else steps[kind]
    parts = []
    for value, own in zip((one, other), sizes):
        own_steps = steps[value[0].dtype]
        by = (count * own) / (size * own_steps) if low is None else by_step(count, size) / by_step(own_steps, own)
        part = value[0].float() * by
        if value[0].dtype == torch.uint8 and not unsigned:
            part = rounded(part, torch.int8).float()
        parts.append(part)
    total = (parts[0] + parts[1]).double()
    ends = (-size, size) if low is None else (torch.tensor([low]), torch.tensor([high]))
    return rounded(total, kind), *ends
