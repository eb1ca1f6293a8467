def full_gradient(gradient, weights, batches, batch_size):
    total, count = [0] * len(weights), 0
    for rows, pad in batches:
        own = rows[: len(rows) - pad]
        total = [t + g for t, g in zip(total, gradient(weights, own), strict=True)]
        count += len(own)
    return [t * batch_size / count for t in total]


def corrected(new, old, mean, rows, batch_size):
    return [n - o + m * rows / batch_size for n, o, m in zip(new, old, mean, strict=True)]


def train(gradient, weights, batches, batch_size, rate, epochs, update_freq):
    weights, seen = list(weights), []
    for epoch in range(epochs):
        if epoch % update_freq == 0:
            snapshot = list(weights)
            mean = full_gradient(gradient, snapshot, batches, batch_size)
        for rows, _ in batches:
            new, old = gradient(weights, rows), gradient(snapshot, rows)
            step = corrected(new, old, mean, len(rows), batch_size)
            weights = [w - rate * s / len(rows) for w, s in zip(weights, step, strict=True)]
        seen.append(weights)
    return seen
