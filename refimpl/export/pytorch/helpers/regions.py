"""Regions of images: proposals, pooling and alignment."""

import math

import torch


def proposals(
    scores, moves, sizes, pre_nms_top_n, post_nms_top_n, threshold, min_size, scales, ratios, stride, iou_loss
):
    """Regions (image, left, top, right, bottom) that may hold an object, and their scores."""
    anchors = region_anchors(scales, ratios, stride, scores)
    batch, count = len(scores), len(anchors)
    height, width = scores.shape[2:]
    y, x = torch.meshgrid(*(torch.arange(side, device=scores.device) for side in (height, width)), indexing="ij")
    shift = torch.stack([x, y, x, y], -1)[:, :, None] * stride
    boxes = (anchors + shift).expand(batch, -1, -1, -1, -1)
    moves = moves.reshape(batch, count, 4, height, width).permute(0, 3, 4, 1, 2)
    if iou_loss:
        boxes = boxes + moves
    else:
        side = boxes[..., 2:] - boxes[..., :2] + 1
        middle = boxes[..., :2] + (side - 1) * 0.5 + moves[..., :2] * side
        half = (torch.exp(moves[..., 2:]) * side - 1) * 0.5
        boxes = torch.cat([middle - half, middle + half], -1)
    edge = (sizes[:, [1, 0, 1, 0]] - 1)[:, None, None, None]
    boxes = torch.minimum(boxes, edge).clamp(min=0)
    least = (sizes[:, 2] * min_size)[:, None, None, None]
    small = ((boxes[..., 2:] - boxes[..., :2] + 1) < least[..., None]).any(-1)
    grown = boxes + torch.stack([-least, -least, least, least], -1) * 0.5
    boxes = torch.where(small[..., None], grown, boxes)
    inside = (y[None] + 1 <= sizes[:, 0, None, None] / stride) & (x[None] + 1 <= sizes[:, 1, None, None] / stride)
    keys = scores[:, count:].permute(0, 2, 3, 1)
    keys = torch.where(inside[..., None] & ~small, keys, -torch.ones_like(keys))
    rows, kept_scores = [], []
    for image, (some, key) in enumerate(zip(boxes.reshape(batch, -1, 4), keys.reshape(batch, -1))):
        order = torch.sort(key, descending=True, stable=True).indices
        order = order[:pre_nms_top_n] if pre_nms_top_n > 0 else order
        all_of_them = torch.ones_like(order, dtype=torch.bool)
        alive = suppressed(some[order], torch.zeros_like(order), all_of_them, threshold, extent=1.0)
        kept = order[alive][:post_nms_top_n]
        kept = kept[torch.arange(post_nms_top_n, device=kept.device) % len(kept)]
        rows.append(torch.cat([torch.full_like(some[kept, :1], image), some[kept]], 1))
        kept_scores.append(key[kept, None])
    return torch.cat(rows), torch.cat(kept_scores)


def region_anchors(scales, ratios, stride, like):
    """Corners of the anchors of the first pixel, ratios outermost."""
    found = []
    for ratio in ratios:
        wide = math.floor(math.sqrt(math.floor(stride**2 / ratio)) + 0.5)
        high = math.floor(wide * ratio + 0.5)
        middle = (stride - 1) / 2
        for scale in scales:
            x, y = (wide * scale - 1) / 2, (high * scale - 1) / 2
            found.append((middle - x, middle - y, middle + x, middle + y))
    return like.new_tensor(found)


def away_from_zero(x):
    """Whole numbers, of halves those further from 0."""
    return torch.sign(x) * torch.floor(x.abs() + 0.5)


def roi_pooling(x, rois, size, scale):
    """The largest number in each part of each region."""
    height, width = x.shape[2:]
    ends = away_from_zero(rois[:, 1:].double() * scale).long().tolist()
    found = []
    for image, (left, top, right, bottom) in zip(rois[:, 0].tolist(), ends):
        parts = []
        down, across = max(bottom - top + 1, 1), max(right - left + 1, 1)
        for i in range(size[0]):
            y, v = top + i * down // size[0], top - (-(i + 1) * down // size[0])
            for j in range(size[1]):
                z, w = left + j * across // size[1], left - (-(j + 1) * across // size[1])
                y0, y1, x0, x1 = max(y, 0), min(v, height), max(z, 0), min(w, width)
                if y1 > y0 and x1 > x0 and 0 <= image < len(x):
                    parts.append(x[int(image), :, y0:y1, x0:x1].amax((1, 2)))
                else:
                    parts.append(torch.zeros_like(x[0, :, 0, 0]))
        found.append(torch.stack(parts, 1).reshape(-1, *size))
    return torch.stack(found)


def roi_align(x, rois, size, scale, sample_ratio, aligned):
    """The mean of points, spread evenly over each bin of each region."""
    found = []
    for image, left, top, right, bottom in rois.double().tolist():
        if not 0 <= image < len(x) or not math.isfinite(left + top + right + bottom):
            found.append(torch.zeros((x.shape[1], *size), dtype=x.dtype, device=x.device))
            continue
        axes = []
        for low, high, bins in ((top, bottom, size[0]), (left, right, size[1])):
            begin, length = low * scale - (0.5 if aligned else 0.0), (high - low) * scale
            length = length if aligned else max(length, 1.0)
            points = sample_ratio if sample_ratio > 0 else max(math.ceil(length / bins), 0)
            places = torch.arange(bins * points, dtype=torch.float64, device=x.device)
            axes.append(begin + (places + 0.5) * (length / bins / max(points, 1)))
        rows, columns = len(axes[0]), len(axes[1])
        if not rows or not columns:
            found.append(torch.zeros((x.shape[1], *size), dtype=x.dtype, device=x.device))
            continue
        y, z = axes[0].repeat_interleave(columns)[None], axes[1].repeat(rows)[None]
        values = between_pixels(x[int(image), None].double(), z, y, "near").reshape(-1, rows, columns)
        bins = values.reshape(-1, size[0], rows // size[0], size[1], columns // size[1])
        found.append(bins.mean((2, 4)).to(x.dtype))
    return torch.stack(found)


def psroi_pooling(x, rois, scale, outputs, bins, groups):
    """The mean of each bin of each region, in a channel of its own."""
    height, width = x.shape[2:]
    found = []
    corners = away_from_zero(rois[:, 1:].double()).tolist()
    for image, (left, top, right, bottom) in zip(rois[:, 0].tolist(), corners):
        parts = torch.zeros((outputs, bins, bins), dtype=x.dtype, device=x.device)
        down = max((bottom + 1) * scale - top * scale, 0.1) / bins
        across = max((right + 1) * scale - left * scale, 0.1) / bins
        for i in range(bins):
            y0 = min(max(math.floor(top * scale + i * down), 0), height)
            y1 = min(max(math.ceil(top * scale + (i + 1) * down), 0), height)
            for j in range(bins):
                x0 = min(max(math.floor(left * scale + j * across), 0), width)
                x1 = min(max(math.ceil(left * scale + (j + 1) * across), 0), width)
                if y1 > y0 and x1 > x0 and 0 <= image < len(x):
                    first = i * groups // bins * groups + j * groups // bins
                    channels = torch.arange(outputs, device=x.device) * groups**2 + first
                    parts[:, i, j] = x[int(image), channels, y0:y1, x0:x1].mean((1, 2))
        found.append(parts)
    return torch.stack(found)
