"""The modules behind a BucketingModule: how they are made, and what only the current one can answer."""

from __future__ import annotations

import logging
from collections.abc import Callable, Hashable, Mapping, Sequence
from math import prod
from typing import Any

from ..base import decides, refusal
from ..context import Context
from ..io import DataDesc
from ..name import NameManager
from ..ndarray import NDArray
from ..ndarray.restoring import unchanged_on_failure
from .base_module import BaseModule
from .life_cycle import STEPS, demand
from .module import DEVICE, Module


class Buckets(BaseModule):
    """A module per bucket key, one of them the current one; ``BucketingModule`` adds what they do.

    Attributes: ``_buckets`` (modules by key), ``_default_bucket_key``, ``_curr_bucket_key``,
    ``_curr_module``.
    """

    def __init__(
        self, sym_gen: Callable[[Any], tuple[Any, Any, Any]], default_bucket_key: Any = None,
        logger: Any = logging, context: Context | Sequence[Context] = DEVICE,
        work_load_list: Sequence[float] | None = None, fixed_param_names: Sequence[str] | None = None,
        state_names: Sequence[str] | None = None, group2ctxs: Any = None,
        compression_params: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(logger=logger)
        if default_bucket_key is None:
            raise refusal(
                "Bucketing/default-key", "default_bucket_key is None; give the key of the largest bucket",
                AssertionError,
            )
        if not callable(sym_gen):
            raise refusal(
                "Bucketing/sym-gen", f"sym_gen must be a function of a bucket key, not {sym_gen!r}", TypeError
            )
        self._sym_gen = sym_gen
        self._default_bucket_key = default_bucket_key
        self._settings = {
            "logger": logger, "context": context, "work_load_list": work_load_list,
            "fixed_param_names": fixed_param_names, "state_names": state_names,
            "group2ctxs": group2ctxs, "compression_params": compression_params,
        }
        self._grad_req: Any = "write"
        self._monitors: list[Any] = []
        self._largest: dict[str, Any] = {}
        self._curr_bucket_key = default_bucket_key
        self._curr_module = self._made(default_bucket_key)
        self._buckets: dict[Any, Module] = {default_bucket_key: self._curr_module}

    # --- making modules --------------------------------------------------------------------------

    @decides("Bucketing/names")
    def _call_sym_gen(self, key: Any) -> tuple[Any, Any, Any]:
        """What ``sym_gen`` says of a key, with automatic names counted from zero."""
        with NameManager():
            made = self._sym_gen(key)
        if not isinstance(made, (tuple, list)) or len(made) != 3:
            raise refusal(
                "Bucketing/sym-gen",
                f"sym_gen({key!r}) returned {made!r}; it must return (symbol, data_names, label_names)",
                ValueError,
            )
        symbol, data_names, label_names = made
        return symbol, data_names, label_names

    def _made(self, key: Any, symbol: Any = None) -> Module:
        """An unbound module for a key; ``symbol`` takes the place of the one that ``sym_gen`` makes."""
        fresh, data_names, label_names = self._call_sym_gen(key)
        return Module(fresh if symbol is None else symbol, data_names, label_names, **self._settings)

    @property
    def _owner(self) -> Module:
        """The module of the default bucket: what is shared is its."""
        return self._buckets[self._default_bucket_key]

    def _follow_owner(self) -> None:
        vars(self).update({flag: getattr(self._owner, flag) for flag in STEPS})

    def _choose(self, key: Any, module: Module) -> None:
        """Make a bucket the current one, in one step."""
        vars(self).update(_curr_bucket_key=key, _curr_module=module)

    @decides("Bucketing/parameters", "Bucketing/memory")
    def _bucket(self, key: Any, data_shapes: Any, label_shapes: Any, *, choose: bool = False) -> Module:
        """The module of a key, made and bound when it comes for the first time; the current one if asked for.

        Raises:
            TypeError: the key is None or cannot be looked up, or it is new and nothing says its shapes.
        """
        if key is None or not isinstance(key, Hashable):
            raise refusal(
                "Bucketing/batch-key", f"a batch says its bucket, its bucket_key is {key!r}", TypeError
            )
        module = self._buckets.get(key)
        if module is None or not module.binded:
            if data_shapes is None:
                raise refusal(
                    "Bucketing/batch-shapes",
                    f"bucket {key!r} is new; its first batch must bring provide_data and provide_label",
                    TypeError,
                )
            module = self._made(key) if module is None else module
            watching = [getattr(monitor, "exes", None) for monitor in self._monitors]
            with unchanged_on_failure(watching, self._largest, shallow=[vars(self), vars(module), self._buckets]):
                module.bind(
                    data_shapes, label_shapes, self.for_training, self.inputs_need_grad,
                    shared_module=self._owner, grad_req=self._grad_req,
                )
                self._compare_sizes(module)
                for monitor in self._monitors:
                    module.install_monitor(monitor)
                self._buckets[key] = module
                if choose:
                    self._choose(key, module)
        elif choose:
            self._choose(key, module)
        return module

    @decides("Bucketing/failed-switch")
    def _bucket_of(self, data_batch: Any) -> tuple[Any, Module]:
        """The key of a batch and its module."""
        key = getattr(data_batch, "bucket_key", None)
        shapes = (getattr(data_batch, provided, None) for provided in ("provide_data", "provide_label"))
        return key, self._bucket(key, *shapes)

    @decides("Bucketing/largest-first")
    def _compare_sizes(self, module: Module) -> None:
        """Warn about a bucket whose data are larger than those of all before it."""
        for name, shape in module.data_shapes:
            if prod(shape) > prod(self._largest.setdefault(name, shape)):
                self.logger.warning(
                    "bucketing: data %s has shape %s, larger than the %s allocated so far; make the bucket of "
                    "the largest input the default to save memory", name, shape, self._largest[name],
                )
                self._largest[name] = shape

    # --- names and shapes ------------------------------------------------------------------------

    @property
    def symbol(self) -> Any:
        """The symbol of the current bucket."""
        return self._curr_module.symbol

    @property
    def data_names(self) -> list[str]:
        """Names of the data inputs of the current bucket."""
        return self._curr_module.data_names

    @property
    def label_names(self) -> list[str]:
        """Names of the labels of the current bucket."""
        return self._curr_module.label_names

    @property
    def output_names(self) -> list[str]:
        """Names of the outputs of the current bucket."""
        return self._curr_module.output_names

    @property
    def data_shapes(self) -> list[DataDesc]:
        """Descriptions of the data inputs of the current bucket."""
        return self._curr_module.data_shapes

    @property
    def label_shapes(self) -> list[DataDesc] | None:
        """Descriptions of the labels of the current bucket; None when bound without."""
        return self._curr_module.label_shapes

    @property
    def output_shapes(self) -> list[tuple[str, tuple[int, ...]]]:
        """(name, shape) of each merged output of the current bucket."""
        return self._curr_module.output_shapes

    # --- what the current bucket answers ----------------------------------------------------------

    def backward(self, out_grads: Sequence[NDArray] | None = None) -> None:
        """Compute gradients in the current bucket."""
        demand(self, "backward")
        self._curr_module.backward(out_grads=out_grads)

    def get_outputs(self, merge_multi_context: bool = True) -> list:
        """Return the outputs of the current bucket."""
        demand(self, "get_outputs")
        return self._curr_module.get_outputs(merge_multi_context=merge_multi_context)

    def get_input_grads(self, merge_multi_context: bool = True) -> list:
        """Return the gradients of the data inputs of the current bucket."""
        demand(self, "get_input_grads")
        return self._curr_module.get_input_grads(merge_multi_context=merge_multi_context)

    def update_metric(self, eval_metric: Any, labels: Any, pre_sliced: bool = False) -> None:
        """Add the last outputs of the current bucket and ``labels`` to a metric."""
        demand(self, "update_metric")
        self._curr_module.update_metric(eval_metric, labels, pre_sliced)

    def get_states(self, merge_multi_context: bool = True) -> list:
        """Return the states of the current bucket."""
        return self._curr_module.get_states(merge_multi_context=merge_multi_context)

    @decides("Bucketing/states")
    def set_states(self, states: Any = None, value: float | None = None) -> None:
        """Set the states of the current bucket."""
        self._curr_module.set_states(states, value)
