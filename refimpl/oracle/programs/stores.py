"""Level 6: a store in one process.

================  =====================================================================================================
create            ``kind`` (local, device, or any other name)
init              ``keys``, and ``values`` (an array for each)
push              ``keys``, and ``values`` (for each key a list of arrays, one for each device). Lets see what an
                  updater is called with.
pushpull          the same. Lets see the arrays afterwards, too.
broadcast         as init. Lets see what comes back.
pull              ``keys``, ``shapes`` (for each key), ``outs`` (arrays for each key). Lets see them.
row_sparse_pull   ``key``, ``ids`` (a list for each array), ``shape``. Lets see rows and their numbers.
updater           from now on pushes add to what is stored; ``kept``: the updater only looks
optimizer         ``optimizer``, ``parameters``, ``schedule``
compress          ``threshold`` of the 2-bit compression
save              optimizer states to file ``file``, with the optimizer if ``whole``; load reads them back
barrier           which there is nobody to wait for
================  =====================================================================================================

``rows`` beside ``values`` makes them row_sparse: like ``values``, with lists of the rows that are stored. A key, and
its list of arrays, may also stand alone instead of in a list.
"""

import os

from .optimizers import rows_of, schedule_of
from .session import Session


class Stores(Session):
    """See the module's text."""

    def __init__(self, mx, program, look):
        super(Stores, self).__init__(mx, program, look)
        self.store = None
        self.calls = []

    def create(self, kind):
        """See the module's text."""
        self.store = self.mx.kv.create(kind)
        return ()

    def _given(self, values, rows):
        """The arrays of one key, each on a device of its own."""
        rows = rows or [None] * len(values)
        return [
            self.array(spec, device) if kept is None else rows_of(self, spec, kept, device)
            for device, (spec, kept) in enumerate(zip(values, rows))
        ]

    def _all_given(self, keys, values, rows):
        if not isinstance(keys, list):
            return self._given(values, rows)
        return [self._given(*pair) for pair in zip(values, rows or [None] * len(values))]

    def _called(self):
        calls, self.calls = self.calls, []
        for number, (key, merged, stored) in enumerate(calls):
            yield "call%d:%s" % (number, key), merged
            yield "stored%d:%s" % (number, key), stored

    def init(self, keys, values, rows=None):
        """See the module's text."""
        arrays = self._given(values, rows)
        if isinstance(keys, list):
            self.store.init(keys, arrays)
        else:
            self.store.init(keys, arrays[0])
        return ()

    def broadcast(self, keys, values, shapes):
        """See the module's text."""
        outs = [self.mx.nd.zeros(tuple(shape)) for shape in shapes]
        self.store.broadcast(keys, self._given(values, None), out=outs)
        return [("out%d" % i, self.seen(out)) for i, out in enumerate(outs)]

    def push(self, keys, values, rows=None):
        """See the module's text."""
        self.store.push(keys, self._all_given(keys, values, rows))
        self.mx.nd.waitall()
        return list(self._called())

    def pushpull(self, keys, values, rows=None):
        """See the module's text."""
        arrays = self._all_given(keys, values, rows)
        self.store.pushpull(keys, arrays)
        self.mx.nd.waitall()
        named = zip(keys, arrays) if isinstance(keys, list) else [(keys, arrays)]
        after = [
            ("pulled%d:%s:%d" % (i, key, j), self.seen(array))
            for i, (key, of_key) in enumerate(named) for j, array in enumerate(of_key) if array.stype == "default"
        ]
        return list(self._called()) + after

    def pull(self, keys, shapes, outs=1):
        """See the module's text."""
        alone = not isinstance(keys, list)
        named = [keys] if alone else keys
        made = [[self.mx.nd.zeros(tuple(shape), ctx=self.mx.cpu(i)) for i in range(outs)] for shape in shapes]
        self.store.pull(keys, out=made[0] if alone else made)
        return [
            ("out%d:%s:%d" % (i, key, j), self.seen(out))
            for i, key in enumerate(named) for j, out in enumerate(made[i])
        ]

    def row_sparse_pull(self, key, ids, shape):
        """See the module's text."""
        outs = [self.mx.nd.zeros(tuple(shape), stype="row_sparse") for _ in ids]
        numbers = [self.mx.nd.array(each, dtype="int64") for each in ids]
        self.store.row_sparse_pull(key, out=outs, row_ids=numbers)
        for i, out in enumerate(outs):
            yield "ids%d" % i, self.seen(out.indices)
            yield "rows%d" % i, self.seen(out.data)

    def updater(self, kept=False):
        """See the module's text."""

        def note(key, merged, stored):
            name = key.decode() if isinstance(key, bytes) else key
            self.calls.append((name, self.seen(merged), self.seen(stored)))
            if not kept:
                stored += merged

        self.store._set_updater(note)
        return ()

    def optimizer(self, optimizer, parameters=None, schedule=None):
        """See the module's text."""
        arguments = dict(parameters or {})
        if schedule is not None:
            arguments["lr_scheduler"] = schedule_of(self.mx, schedule)
        self.store.set_optimizer(self.mx.optimizer.create(optimizer, **arguments))
        return ()

    def compress(self, threshold):
        """See the module's text."""
        self.store.set_gradient_compression({"type": "2bit", "threshold": threshold})
        return ()

    def _path(self, file):
        return os.path.join(self.folder(), "%d.states" % file)

    def save(self, file, whole=False):
        """See the module's text."""
        self.mx.nd.waitall()
        self.store.save_optimizer_states(self._path(file), dump_optimizer=whole)
        return ()

    def load(self, file):
        """See the module's text."""
        self.store.load_optimizer_states(self._path(file))
        return ()

    def barrier(self):
        """See the module's text."""
        self.store._barrier()
        return ()
