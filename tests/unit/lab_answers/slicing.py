def split(batch_size, weights):
    if not weights:
        raise IndexError("no device")
    total = sum(weights)
    shares = [round(weight * batch_size / total) for weight in weights]
    shares[-1] += max(0, batch_size - sum(shares))
    slices, begin = [], 0
    for share in shares:
        end = min(begin + share, batch_size)
        if end <= begin:
            raise ValueError("a device gets no row")
        slices.append(slice(begin, end))
        begin = end
    return slices
