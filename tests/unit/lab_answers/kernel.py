from math import prod


def rows(p, shape):
    if p.axis is None:
        return [0], prod(shape), 1
    axis = p.axis % len(shape)
    inner, side = prod(shape[axis + 1 :]), shape[axis]
    return [o * side * inner + i for o in range(prod(shape[:axis])) for i in range(inner)], side, inner


def forward(p, a, out):
    starts, side, inner = rows(p, a.shape)
    for start in starts:
        total = 0.0
        for k in range(side):
            total += float(a.flat[start + k * inner])
            out.flat[start + k * inner] = total


def backward(p, head, d_a):
    starts, side, inner = rows(p, d_a.shape)
    for start in starts:
        total = 0.0
        for k in reversed(range(side)):
            total += float(head.flat[start + k * inner])
            d_a.flat[start + k * inner] = total
