"""Level 4: modules that make others: one for each bucket, or one for the full gradient of SVRG.

``settings`` of the program hold ``buckets``, a list of objects: ``key``, ``heads`` (which of the program's heads are
those of this bucket), names of ``data`` and ``labels``. Steps are those of level 3, and:

==================  ===================================================================================================
create_buckets      ``contexts``, ``default`` (a key), ``fixed``
load                ``states``: a module of the last checkpoint, as ``load`` of level 3
switch              ``key``, and descriptions of ``data`` and ``labels``
prepare             ``data`` and ``labels`` of a batch that comes later; the current bucket stays
create_svrg         as ``create`` of level 3, and ``frequency`` (epochs from one full pass to the next)
full_pass           ``data``, ``labels``, ``batch`` (rows), ``last``: gradients of all rows at the weights of now
==================  ===================================================================================================

``forward``, ``forward_backward`` and ``prepare`` of buckets have a ``key``, and arrays in the order of the bucket's
names.
"""

import importlib

from .modules import Modules
from .program import pruned


class Buckets(Modules):
    """See the module's text."""

    def __init__(self, mx, program, look):
        super(Buckets, self).__init__(mx, program, look)
        self.buckets = {bucket["key"]: bucket for bucket in program.get("settings", {}).get("buckets", [])}
        self.graphs = {}
        self.key = None
        self.made_with = None

    def create_buckets(self, contexts, default, fixed=None):
        """See the module's text."""
        self.key = default
        self.made_with = {
            "default_bucket_key": default, "context": self._contexts(contexts), "fixed_param_names": fixed,
        }
        return self._current(self.mx.mod.BucketingModule(self._symbol, **self.made_with))

    def load(self, contexts, states=False):
        """See the module's text."""
        if self.made_with is None:
            return super(Buckets, self).load(contexts, states)
        return self._current(self.mx.mod.BucketingModule.load(
            self._path("net"), 1, sym_gen=self._symbol, load_optimizer_states=states,
            **dict(self.made_with, context=self._contexts(contexts))
        ))

    def _symbol(self, key):
        """The ``sym_gen`` of BucketingModule: the graph of a bucket, and the names of its inputs."""
        bucket = self.buckets[key]
        if key not in self.graphs:
            heads = [self.program["heads"][i] for i in bucket["heads"]]
            graph = pruned({"nodes": self.program["nodes"], "heads": heads, "arrays": {}, "steps": []})
            self.graphs[key] = self.symbol_from(graph)
        return self.graphs[key], bucket["data"], bucket["labels"] or None

    def switch(self, key, data, labels=None):
        """See the module's text."""
        self.mx.nd.waitall()
        self.module.switch_bucket(key, self._described(data), self._described(labels))
        return ()

    def forward(self, data, labels=None, pad=0, train=None, key=None):
        """See the module's text."""
        self.key = key
        return super(Buckets, self).forward(data, labels, pad, train)

    def forward_backward(self, data, labels=None, pad=0, key=None):
        """See the module's text."""
        self.key = key
        return super(Buckets, self).forward_backward(data, labels, pad)

    def prepare(self, data, labels=None, key=None):
        """See the module's text."""
        self.key = key
        self.mx.nd.waitall()
        self.module.prepare(self._batch(data, labels, 0))
        return ()

    def _batch(self, data, labels, pad):
        batch = super(Buckets, self)._batch(data, labels, pad)
        if self.key is not None:
            bucket = self.buckets[self.key]
            batch.bucket_key = self.key
            batch.provide_data = [(name, tuple(s["shape"])) for name, s in zip(bucket["data"], data)]
            batch.provide_label = [(name, tuple(s["shape"])) for name, s in zip(bucket["labels"], labels or [])] or None
        return batch

    def create_svrg(self, contexts, data, labels, frequency, fixed=None):
        """See the module's text."""
        kind = importlib.import_module(self.mx.__name__ + ".contrib.svrg_optimization.svrg_module").SVRGModule
        self.data_names, self.label_names = data, labels
        return self._current(kind(
            self.graph, data_names=data, label_names=labels or None,
            context=self._contexts(contexts), fixed_param_names=fixed, update_freq=frequency,
        ))

    def full_pass(self, data, labels, batch, last="pad"):
        """See the module's text."""
        self.module.update_full_grads(self._iterator(data, labels, batch, last))
        self.mx.nd.waitall()
        return ()
