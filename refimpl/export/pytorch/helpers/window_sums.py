"""Pooling over windows that PyTorch's own pooling does not have, deformable convolution, correlation."""

import math

import torch
import torch.nn.functional as F


def windows_of(x, kernel, stride, pad, outputs, padding):
    """The windows of images, (batch, channels, *outputs, *kernel); what lies outside an image is padding."""
    sides = x.shape[2:]
    ends = [max((o - 1) * s + k - side - p, 0) for o, s, k, side, p in zip(outputs, stride, kernel, sides, pad)]
    x = F.pad(x, [n for p, end in zip(pad[::-1], ends[::-1]) for n in (p, end)], value=padding)
    for axis, (k, s, o) in enumerate(zip(kernel, stride, outputs), 2):
        x = x.unfold(axis, k, s).narrow(axis, 0, o)
    return x


def max_of_windows(x, kernel, stride, pad, outputs, padding=None):
    """The largest element of each window."""
    least = torch.finfo(x.dtype).min
    if padding is None:
        return windows_of(x, kernel, stride, pad, outputs, least).flatten(-len(kernel)).amax(-1)
    x = F.pad(x, [n for p in pad[::-1] for n in (p, p)], value=padding)
    return windows_of(x, kernel, stride, (0,) * len(pad), outputs, -math.inf).flatten(-len(kernel)).amax(-1)


def sum_of_windows(x, kernel, stride, pad, outputs):
    """The sum of each window."""
    return windows_of(x, kernel, stride, pad, outputs, 0.0).flatten(-len(kernel)).sum(-1)


def mean_of_windows(x, kernel, stride, pad, outputs, divisor):
    """The sum of each window by its size: that of the kernel, of its part in the padded image, or in the data."""
    total = sum_of_windows(x, kernel, stride, pad, outputs)
    if divisor == "kernel":
        return total / math.prod(kernel)
    ones = torch.ones((1, 1, *x.shape[2:]), dtype=x.dtype, device=x.device)
    if divisor == "padded":
        ones = F.pad(ones, [n for p in pad[::-1] for n in (p, p)], value=1.0)
        pad = (0,) * len(pad)
    return total / sum_of_windows(ones, kernel, stride, pad, outputs).clamp(min=1.0)


def between_pixels(x, y, rows, edge):
    """Bilinear values of images (batch, channels, height, width) at places (batch, n); 0 outside.

    With the edge "near" a place within a pixel outside has the value of the edge, with "behind" only behind the last
    pixel, with "zero" pixels outside are zeros.
    """
    height, width = x.shape[2:]
    columns = y
    low = -1.0 if edge == "near" else 0.0
    inside = (rows >= low) & (rows <= height) & (columns >= low) & (columns <= width)
    if edge == "behind":
        inside = (rows >= 0) & (rows < height) & (columns >= 0) & (columns < width)
    if edge == "zero":
        inside = (rows > -1) & (rows < height) & (columns > -1) & (columns < width)
    else:
        rows, columns = rows.clamp(0, height - 1), columns.clamp(0, width - 1)
    top, left = rows.detach().floor(), columns.detach().floor()
    found = 0.0
    for down in (0, 1):
        for right in (0, 1):
            i, j = top + down, left + right
            share = (1 - (rows - i).abs()) * (1 - (columns - j).abs())
            there = inside & (i >= 0) & (i < height) & (j >= 0) & (j < width)
            place = (i.clamp(0, height - 1) * width + j.clamp(0, width - 1)).long()
            pixels = x.flatten(2).gather(2, place[:, None].expand(-1, x.shape[1], -1))
            found = found + pixels * (share * there)[:, None]
    return found


def deformable_convolution(x, offset, mask, weight, bias, stride, dilate, pad, groups, offset_groups):
    """A convolution whose taps read where offsets lead them."""
    batch, channels = x.shape[:2]
    (down, across), (height, width) = weight.shape[2:], offset.shape[2:]
    like = {"dtype": x.dtype, "device": x.device}
    rows = torch.arange(height, **like) * stride[0] - pad[0]
    columns = torch.arange(width, **like) * stride[1] - pad[1]
    offset = offset.reshape(batch, offset_groups, down * across, 2, height, width)
    found = []
    for tap in range(down * across):
        taps = []
        for group in range(offset_groups):
            y = rows[:, None] + tap // across * dilate[0] + offset[:, group, tap, 0]
            z = columns[None] + tap % across * dilate[1] + offset[:, group, tap, 1]
            part = x.chunk(offset_groups, 1)[group]
            values = between_pixels(part, z.flatten(1), y.flatten(1), "behind" if mask is None else "zero")
            values = values.reshape(batch, -1, height, width)
            if mask is not None:
                values = values * mask[:, group * down * across + tap, None]
            taps.append(values)
        found.append(torch.cat(taps, 1))
    read = torch.stack(found, 2).reshape(batch, groups, channels // groups * down * across, height * width)
    out = weight.reshape(groups, weight.shape[0] // groups, -1) @ read
    out = out.reshape(batch, -1, height, width)
    return out if bias is None else out + bias[:, None, None]


def correlation(first, second, kernel_size, max_displacement, stride1, stride2, pad_size, is_multiply):
    """Patches of one image compared with patches of another at small displacements."""
    first, second = F.pad(first, [pad_size] * 4), F.pad(second, [pad_size] * 4)
    border, radius = max_displacement + kernel_size // 2, max_displacement // stride2
    height, width = (-((2 * border - side) // stride1) for side in first.shape[2:])
    rows, columns = (height - 1) * stride1 + kernel_size, (width - 1) * stride1 + kernel_size
    begin = max_displacement
    one = first[:, :, begin:begin + rows, begin:begin + columns]
    found = []
    for down in range(-radius, radius + 1):
        for right in range(-radius, radius + 1):
            y, x = begin + down * stride2, begin + right * stride2
            other = second[:, :, y:y + rows, x:x + columns]
            compared = one * other if is_multiply else (one - other).abs()
            found.append(F.avg_pool2d(compared.mean(1, keepdim=True), kernel_size, stride1))
    return torch.cat(found, 1)
