"""Anchors, boxes and their suppression. A box is (left, top, right, bottom), or a center (x, y, width, height)."""

import math

import torch


def box_overlaps(boxes, others, form="corner", extent=0.0):
    """Intersection over union of each box with each other one."""
    if form == "center":
        boxes, others = corner_form(boxes), corner_form(others)
    boxes, shape = boxes.reshape(-1, 4), (*boxes.shape[:-1], *others.shape[:-1])
    others = others.reshape(-1, 4)
    low = torch.maximum(boxes[:, None, :2], others[None, :, :2])
    high = torch.minimum(boxes[:, None, 2:], others[None, :, 2:])
    width, height = (high - low + extent).unbind(-1)
    meet = torch.where((width > 0) & (height > 0), width * height, torch.zeros_like(width))
    area, other = (
        (each[:, 2] - each[:, 0] + extent).clamp(min=0) * (each[:, 3] - each[:, 1] + extent).clamp(min=0)
        for each in (boxes, others)
    )
    union = area[:, None] + other[None] - meet
    return torch.where(meet > 0, meet / union, torch.zeros_like(meet)).reshape(shape)


def corner_form(boxes):
    """Corners of boxes that have a center."""
    x, y, width, height = boxes.unbind(-1)
    return torch.stack([x - width * 0.5, y - height * 0.5, x + width * 0.5, y + height * 0.5], -1)


def center_form(boxes):
    """Centers and sides of boxes that have corners."""
    left, top, right, bottom = boxes.unbind(-1)
    return torch.stack([(left + right) * 0.5, (top + bottom) * 0.5, right - left, bottom - top], -1)


def suppressed(boxes, kinds, alive, threshold, inclusive=False, extent=0.0):
    """Which boxes, in their order, stay: each removes those of its kind behind it that overlap it too much."""
    much = box_overlaps(boxes, boxes, extent=extent)
    removes = (much >= threshold) if inclusive else (much > threshold)
    removes &= kinds[:, None] == kinds[None]
    alive = alive.clone()
    for index in range(len(boxes)):
        if alive[index]:
            alive[index + 1:] &= ~removes[index, index + 1:]
    return alive


def multibox_prior(x, sizes, ratios, clip, steps, offsets):
    """Boxes of several sizes and shapes around every pixel of a feature map."""
    height, width = x.shape[2:4]
    down, across = steps if min(steps) > 0 else (1 / height, 1 / width)
    like = {"dtype": x.dtype, "device": x.device}
    y = (torch.arange(height, **like) + offsets[0]) * down
    z = (torch.arange(width, **like) + offsets[1]) * across
    shapes = [(size, ratios[0]) for size in sizes] + [(sizes[0], ratio) for ratio in ratios[1:]]
    halves = torch.tensor(
        [(s * math.sqrt(r) * height / width / 2, s / math.sqrt(r) / 2) for s, r in shapes], **like
    )
    centers = torch.stack([z[None].expand(height, -1), y[:, None].expand(-1, width)], -1)[:, :, None]
    boxes = torch.cat([centers - halves, centers + halves], -1).reshape(1, -1, 4)
    return boxes.clamp(0, 1) if clip else boxes


def multibox_detection(scores, moves, anchors, clip, threshold, nms_threshold, force_suppress, variances, nms_topk):
    """Rows (class, score, left, top, right, bottom) of each image, the highest scores first; unused ones are -1."""
    found = []
    at, side = center_form(anchors[0]).split(2, -1)
    for score, move in zip(scores, moves.reshape(len(scores), -1, 4) * moves.new_tensor(variances)):
        center, half = at + move[:, :2] * side, torch.exp(move[:, 2:]) * side / 2
        boxes = torch.cat([center - half, center + half], -1)
        boxes = boxes.clamp(0, 1) if clip else boxes
        best, kind = score[1:].max(0) if len(score) > 1 else (score[0] - math.inf, score[0].long())
        kept = torch.nonzero(best >= threshold).flatten()
        rows = torch.cat([kind[:, None].to(best.dtype), best[:, None], boxes], 1)[kept]
        if 0 < nms_threshold <= 1 and len(rows):
            order = torch.sort(rows[:, 1], descending=True, stable=True).indices
            rest = rows
            if nms_topk > 0:
                order = order[:nms_topk]
            rows = rows[order]
            kinds = torch.zeros_like(rows[:, 0]) if force_suppress else rows[:, 0]
            alive = suppressed(rows[:, 2:], kinds, torch.ones_like(kinds, dtype=torch.bool), nms_threshold, True)
            rows = torch.cat([torch.where(alive, rows[:, 0], -torch.ones_like(kinds))[:, None], rows[:, 1:]], 1)
            behind = rest[len(rows):]
            rows = torch.cat([rows, torch.cat([-torch.ones_like(behind[:, :1]), behind[:, 1:]], 1)])
        empty = rows.new_full((scores.shape[2] - len(rows), 6), -1.0)
        found.append(torch.cat([rows, empty]))
    return torch.stack(found)


def box_nms(
    x, overlap_thresh, valid_thresh, topk, coord_start, score_index, id_index, background_id, force_suppress,
    in_format, out_format,
):
    """The rows of the boxes that stay, the highest score first, and rows of -1 behind them."""
    found = []
    place = slice(coord_start, coord_start + 4)
    for rows in x.reshape(-1, *x.shape[-2:]):
        score = rows[:, score_index]
        good = score > valid_thresh
        if id_index >= 0:
            good = good & (rows[:, id_index] != background_id)
        keys = torch.where(good, score, torch.full_like(score, -math.inf))
        order = torch.sort(keys, descending=True, stable=True).indices
        order = order[:topk] if topk > 0 else order
        sorted_rows = rows[order]
        boxes = sorted_rows[:, place]
        kinds = torch.zeros_like(boxes[:, 0]) if id_index < 0 or force_suppress else sorted_rows[:, id_index].trunc()
        alive = suppressed(
            (corner_form(boxes) if in_format == "center" else boxes).detach(), kinds, good[order], overlap_thresh
        )
        kept = sorted_rows[alive]
        if in_format != out_format:
            new = corner_form(kept[:, place]) if out_format == "corner" else center_form(kept[:, place])
            kept = torch.cat([kept[:, :coord_start], new, kept[:, coord_start + 4:]], 1)
        found.append(torch.cat([kept, kept.new_full((len(rows) - len(kept), rows.shape[1]), -1.0)]))
    return torch.stack(found).reshape(x.shape)


def box_decode(moves, anchors, stds, clip, form):
    """Boxes from a network's predictions for anchors."""
    anchors = center_form(anchors) if form == "corner" else anchors
    at, side = anchors.split(2, -1)
    moves = moves * moves.new_tensor(stds)
    center, stretch = moves[..., :2] * side + at, moves[..., 2:]
    half = torch.exp(stretch.clamp(max=clip) if clip > 0 else stretch) * side / 2
    return torch.cat([center - half, center + half], -1)
