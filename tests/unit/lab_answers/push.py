import functools
import operator

import refimpl as mx


def added(values, size):
    total = values[0].copy()
    for start in range(1, len(values), size):
        total = total + functools.reduce(operator.add, values[start : start + size])
    return total


class Store:
    def __init__(self, kind):
        self.size, self.held, self.updater = 1 if kind == "device" else 4, {}, None

    def init(self, key, value):
        if key in self.held:
            raise mx.MXNetError(f"{key} is there")
        self.held[key] = value.copy()

    def set_updater(self, updater):
        self.updater = updater

    def push(self, key, values):
        stored = self.known(key)
        merged = added(values, self.size)
        if self.updater is None:
            self.held[key] = merged
        else:
            self.updater(key, merged, stored)

    def pull(self, key):
        return self.known(key).copy()

    def known(self, key):
        if key not in self.held:
            raise mx.MXNetError(f"{key} is not there")
        return self.held[key]
