"""Buckets: the modules of a BucketingModule, one for each bucket key."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from math import prod
from typing import Any

from ..base import decides, refusal
from ..name import NameManager
from ..ndarray.undo import undo
from .module import Module


class Buckets:
    """A Module for each bucket key. All share arrays with the module of the default key; one bucket is current.

    Args:
        sym_gen: returns (symbol, data names, label names) of a key.
        default_key: the key whose module owns the shared arrays.
        settings: keyword arguments of every Module.

    Attributes:
        modules: the modules made so far, by key.
        current_key, current: the key of the bucket that was chosen last, and its module.
        grad_req: the gradient requirements for new buckets.
        monitors: the monitors that new buckets get.

    Raises:
        AssertionError: there is no default key.
        TypeError: ``sym_gen`` is not callable.
    """

    def __init__(
        self, sym_gen: Callable[[Any], tuple[Any, Any, Any]], default_key: Any, settings: Mapping[str, Any]
    ) -> None:
        if default_key is None:
            raise refusal(
                "Bucketing/default-key", "default_bucket_key is None; give the key of the largest bucket",
                AssertionError,
            )
        if not callable(sym_gen):
            raise refusal(
                "Bucketing/sym-gen", f"sym_gen must be a function of a bucket key, not {sym_gen!r}", TypeError
            )
        self.sym_gen = sym_gen
        self.default_key = default_key
        self.settings = settings
        self.grad_req: Any = "write"
        self.monitors: list[Any] = []
        self._largest: dict[str, Any] = {}  # the shape of the largest input so far, by its name
        self.current_key = default_key
        self.current = self.made(default_key)
        self.modules: dict[Any, Module] = {default_key: self.current}

    @property
    def owner(self) -> Module:
        """The module of the default key, which owns the shared arrays."""
        return self.modules[self.default_key]

    def bound(self) -> list[Module]:
        """Return the modules that are bound."""
        return [module for module in self.modules.values() if module.binded]

    def choose(self, key: Any, module: Module) -> None:
        """Make a bucket the current one, in one step."""
        vars(self).update(current_key=key, current=module)

    # --- making and binding ----------------------------------------------------------------------

    @decides("Bucketing/names")
    def made(self, key: Any, symbol: Any = None) -> Module:
        """Return a new, unbound module for a key; ``symbol``, if given, replaces the symbol of ``sym_gen``.

        Automatic names count from zero in each call of ``sym_gen``.

        Raises:
            ValueError: ``sym_gen`` does not return three items, or a name is not an argument of the symbol.
        """
        with NameManager():
            returned = self.sym_gen(key)
        if not isinstance(returned, (tuple, list)) or len(returned) != 3:
            raise refusal(
                "Bucketing/sym-gen",
                f"sym_gen({key!r}) returned {returned!r}; it must return (symbol, data_names, label_names)",
                ValueError,
            )
        own_symbol, data_names, label_names = returned
        return Module(own_symbol if symbol is None else symbol, data_names, label_names, **self.settings)

    def begin(self, grad_req: Any, forget: bool) -> None:
        """Start from the default bucket, which was just bound; with ``forget`` drop all other buckets."""
        if forget:
            self.modules = {self.default_key: self.owner}
        self.grad_req, self.monitors = grad_req, []
        self._largest = dict(self.owner.data_shapes)
        self.choose(self.default_key, self.owner)

    @decides("Bucketing/parameters", "Bucketing/memory")
    def get(
        self, key: Any, data_shapes: Any, label_shapes: Any, logger: Any, *, choose: bool = False
    ) -> Module:
        """Return the module of a key; a new key gets a new module, which is bound.

        Args:
            key: the bucket key.
            data_shapes, label_shapes: descriptions to bind a new bucket with, as :meth:`Module.bind` takes them.
            logger: gets a warning when the data of a new bucket are larger than the data of all earlier buckets.
            choose: whether to make the bucket the current one.

        Raises:
            TypeError: the key is None or not hashable, or it is new and shapes are missing.
        """
        if key is None or not isinstance(key, Hashable):
            raise refusal(
                "Bucketing/batch-key", f"a batch says its bucket, its bucket_key is {key!r}", TypeError
            )
        module = self.modules.get(key)
        if module is None or not module.binded:
            if data_shapes is None:
                raise refusal(
                    "Bucketing/batch-shapes",
                    f"bucket {key!r} is new; its first batch must bring provide_data and provide_label",
                    TypeError,
                )
            module = self.made(key) if module is None else module
            watched = [getattr(monitor, "exes", None) for monitor in self.monitors]
            with undo(watched, self._largest, dicts=[vars(self), vars(module), self.modules]):
                module.bind(
                    data_shapes, label_shapes, self.owner.for_training, self.owner.inputs_need_grad,
                    shared_module=self.owner, grad_req=self.grad_req,
                )
                self._compare_sizes(module, logger)
                for monitor in self.monitors:
                    module.install_monitor(monitor)
                self.modules[key] = module
                if choose:
                    self.choose(key, module)
        elif choose:
            self.choose(key, module)
        return module

    @decides("Bucketing/failed-switch")
    def of_batch(self, data_batch: Any, logger: Any) -> tuple[Any, Module]:
        """Return (bucket key of a batch, module of that key); see :meth:`get`."""
        key = getattr(data_batch, "bucket_key", None)
        data_shapes, label_shapes = (getattr(data_batch, name, None) for name in ("provide_data", "provide_label"))
        return key, self.get(key, data_shapes, label_shapes, logger)

    @decides("Bucketing/largest-first")
    def _compare_sizes(self, module: Module, logger: Any) -> None:
        """Warn about a bucket whose data are larger than the data of all earlier buckets."""
        for name, shape in module.data_shapes:
            if prod(shape) > prod(self._largest.setdefault(name, shape)):
                logger.warning(
                    "bucketing: data %s has shape %s, larger than the %s allocated so far; make the bucket of "
                    "the largest input the default to save memory", name, shape, self._largest[name],
                )
                self._largest[name] = shape
