"""Grids, and pixels that move between channels and places."""

import torch


def warped_grid(flow):
    """The grid of a flow in pixels, with coordinates between -1 and 1."""
    height, width = flow.shape[2:]
    y = torch.arange(height, dtype=flow.dtype, device=flow.device)[:, None]
    x = torch.arange(width, dtype=flow.dtype, device=flow.device)[None]
    across = (flow[:, 0] + x) / (max(width - 1, 1) / 2) - 1
    down = (flow[:, 1] + y) / (max(height - 1, 1) / 2) - 1
    return torch.stack([across, down], 1)


def affine_places(matrices, height, width):
    """The grid of matrices (batch, 6); the only place on a side of 1 is -1."""
    like = {"dtype": matrices.dtype, "device": matrices.device}
    y = torch.arange(height, **like) * 2 / max(height - 1, 1) - 1
    x = torch.arange(width, **like) * 2 / max(width - 1, 1) - 1
    places = torch.stack([x.repeat(height), y.repeat_interleave(width), torch.ones(height * width, **like)])
    return (matrices.reshape(-1, 2, 3) @ places).reshape(-1, 2, height, width)


def depth_to_space(x, block):
    """Channels become pixels; those of one pixel lie a whole block of channels apart."""
    n, c, h, w = x.shape
    x = x.reshape(n, block, block, c // block**2, h, w).permute(0, 3, 4, 1, 5, 2)
    return x.reshape(n, c // block**2, h * block, w * block)


def space_to_depth(x, block):
    """Pixels become channels, in the order that depth_to_space undoes."""
    n, c, h, w = x.shape
    x = x.reshape(n, c, h // block, block, w // block, block).permute(0, 3, 5, 1, 2, 4)
    return x.reshape(n, c * block**2, h // block, w // block)
