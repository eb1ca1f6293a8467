"""SequentialModule: a chain of modules; the outputs of each module are the data of the next."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from typing import Any

from ..base import decides, refusal
from ..executor.executor import require_forward, undo_backward, undo_forward
from ..io import DataBatch, DataDesc
from ..ndarray import NDArray
from ..ndarray.undo import attributes_of, undo
from .base_module import INITIALIZER, BaseModule
from .bind_options import require_training
from .descriptions import _as_descriptions
from .life_cycle import ALREADY_BOUND, ALREADY_OPTIMIZED, STEPS, demand
from .parts import executors_of, undo_params, undo_shapes
from .python_module import PythonModule


class SequentialModule(BaseModule):
    """Modules one after another, trained as one. A failed call leaves the chain as it was.

    ``add`` appends a module. Two settings say how the module is connected:

    * ``take_labels`` (``META_TAKE_LABELS``): the module gets the labels of a batch, and updates metrics;
    * ``auto_wiring`` (``META_AUTO_WIRING``): the data inputs of the module take the outputs of the module before it
      by position. Without this setting, inputs and outputs must have the same names.
    """

    META_TAKE_LABELS = "take_labels"
    META_AUTO_WIRING = "auto_wiring"

    def __init__(self, logger: Any = logging) -> None:
        super().__init__(logger=logger)
        self._modules: list[Any] = []
        self._metas: list[dict[str, Any]] = []

    @decides("Sequential/add")
    def add(self, module: Any, **kwargs: Any) -> SequentialModule:
        """Append a module and return the chain, which then has to be bound and initialised again.

        Raises:
            AssertionError: a setting is neither ``take_labels`` nor ``auto_wiring``.
            TypeError: ``module`` is no module.
        """
        known = (self.META_TAKE_LABELS, self.META_AUTO_WIRING)
        for key in kwargs:
            if key not in known:
                raise refusal(
                    "Sequential/meta", f'Unknown meta "{key}", a typo? There are {" and ".join(known)}',
                    AssertionError,
                )
        if not callable(getattr(module, "forward_backward", None)):
            raise refusal("Sequential/kind", f"add takes a module, not {module!r}", TypeError)
        self._modules.append(module)
        self._metas.append(kwargs)
        for flag in STEPS:
            setattr(self, flag, False)
        return self

    # --- names and shapes ------------------------------------------------------------------------

    @property
    @decides("Sequential/names")
    def data_names(self) -> list[str]:
        """Names of the data inputs of the first module."""
        return self._modules[0].data_names if self._modules else []

    @property
    @decides("Sequential/names")
    def output_names(self) -> list[str]:
        """Names of the outputs of the last module."""
        return self._modules[-1].output_names if self._modules else []

    @property
    def data_shapes(self) -> list[DataDesc]:
        """Descriptions of the data inputs of the first module."""
        demand(self, "data_shapes")
        shapes: list[DataDesc] = self._modules[0].data_shapes
        return shapes

    @property
    def label_shapes(self) -> list[DataDesc] | None:
        """Descriptions of the labels; None when bound without labels, or when no module takes them."""
        demand(self, "label_shapes")
        takers = self._taking_labels()
        shapes: list[DataDesc] | None = takers[0].label_shapes if takers else None
        return shapes

    @property
    def output_shapes(self) -> list[tuple[str, tuple[int, ...]]]:
        """(name, shape) of each output of the last module."""
        demand(self, "output_shapes")
        shapes: list[tuple[str, tuple[int, ...]]] = self._modules[-1].output_shapes
        return shapes

    @decides("Sequential/take-labels")
    def _taking_labels(self) -> list[Any]:
        return [
            module for module, meta in zip(self._modules, self._metas, strict=True)
            if meta.get(self.META_TAKE_LABELS)
        ]

    # --- binding ---------------------------------------------------------------------------------

    @decides("Sequential/bind")
    def bind(
        self, data_shapes: Any, label_shapes: Any = None, for_training: bool = True,
        inputs_need_grad: bool = False, force_rebind: bool = False, shared_module: Any = None,
        grad_req: Any = "write",
    ) -> None:
        """Bind every module, each to the output shapes of the module before it.

        :meth:`BaseModule.bind` explains the arguments. Modules that were bound before they were added are bound
        again; their parameters stay.

        Raises:
            AssertionError: the chain is empty, ``shared_module`` is given, ``inputs_need_grad`` without
                ``for_training``, or auto-wiring finds another number of outputs than of inputs.
            ValueError: the names of outputs and inputs differ and ``auto_wiring`` is off.
        """
        if self.binded and not force_rebind:
            self.logger.warning(ALREADY_BOUND)
            return
        require_training(inputs_need_grad, for_training)
        if shared_module is not None:
            raise refusal(
                "Sequential/shared", "a SequentialModule shares no memory: leave shared_module out", AssertionError
            )
        if not self._modules:
            raise refusal("Sequential/empty", "there is no module in the chain: add one first", AssertionError)
        with undo_shapes(self):
            shapes = _as_descriptions(data_shapes)
            for index, (module, meta) in enumerate(zip(self._modules, self._metas, strict=True)):
                if meta.get(self.META_AUTO_WIRING):
                    shapes = _renamed(shapes, module)
                module.bind(
                    shapes, label_shapes if meta.get(self.META_TAKE_LABELS) else None,
                    for_training=for_training, inputs_need_grad=for_training and (inputs_need_grad or index > 0),
                    force_rebind=True, grad_req=grad_req,
                )
                shapes = _as_descriptions(module.output_shapes)
            self.for_training, self.inputs_need_grad = for_training, inputs_need_grad
            self.binded = True

    def install_monitor(self, mon: Any) -> None:
        """Install a monitor on every module."""
        demand(self, "install_monitor")
        for module in self._modules:
            module.install_monitor(mon)

    # --- parameters ------------------------------------------------------------------------------

    @decides("Sequential/params")
    def init_params(
        self, initializer: Any = INITIALIZER, arg_params: Mapping[str, Any] | None = None,
        aux_params: Mapping[str, Any] | None = None, allow_missing: bool = False, force_init: bool = False,
        allow_extra: bool = False,
    ) -> None:
        """Initialise every module; each finds its own names in the dicts.

        :meth:`BaseModule.init_params` explains the arguments. A second call does nothing, unless ``force_init``.

        Raises:
            AssertionError: two modules have a parameter of the same name.
            RuntimeError: a dict is given, lacks a name, and ``allow_missing`` is off.
        """
        if self.params_initialized and not force_init:
            return
        demand(self, "init_params")
        with undo_params(self):
            for module in self._modules:
                module.init_params(
                    initializer=initializer, arg_params=arg_params, aux_params=aux_params,
                    allow_missing=allow_missing, force_init=force_init, allow_extra=allow_extra,
                )
            self._check_unique()
        self.params_initialized = True

    def _check_unique(self) -> None:
        """Refuse a parameter name that two modules have: a value given for it would be ambiguous."""
        owners: dict[str, int] = {}
        for index, module in enumerate(self._modules):
            for name in (name for values in module.get_params() for name in values):
                first = owners.setdefault(name, index)
                if first != index:
                    raise refusal(
                        "Sequential/unique-names",
                        f'Duplicated parameter names: name "{name}" in layer {index} ({type(module).__name__}) '
                        f"is already used in layer {first} ({type(self._modules[first]).__name__}); rename it",
                        AssertionError,
                    )

    @decides("Sequential/params")
    def get_params(self) -> tuple[dict[str, NDArray], dict[str, NDArray]]:
        """Return (parameters, auxiliary states) of all modules in two new dicts."""
        demand(self, "get_params")
        arg_params: dict[str, NDArray] = {}
        aux_params: dict[str, NDArray] = {}
        for module in self._modules:
            arg, aux = module.get_params()
            arg_params.update(arg)
            aux_params.update(aux)
        return arg_params, aux_params

    # --- computation -----------------------------------------------------------------------------

    @decides("Sequential/chain", "Sequential/reshape")
    def forward(self, data_batch: Any, is_train: bool | None = None) -> None:
        """Run the chain; every module gets the outputs of the module before it as data, and the labels of the batch.

        Raises:
            TypeError: a list of batches is given.
        """
        demand(self, "forward")
        if isinstance(data_batch, list):
            raise refusal(
                "Sequential/one-batch", "a chain takes one batch for all contexts, not a list of batches",
                TypeError,
            )
        with undo_shapes(*self._modules), undo_forward(executors_of(self)):
            batch = data_batch
            for index, module in enumerate(self._modules):
                if isinstance(module, PythonModule):
                    module.follow(batch)
                module.forward(batch, is_train=is_train)
                if index + 1 < len(self._modules):
                    batch = DataBatch(
                        module.get_outputs(), getattr(data_batch, "label", None), pad=getattr(data_batch, "pad", None),
                        index=getattr(data_batch, "index", None),
                    )

    def forward_backward(self, data_batch: Any) -> None:
        """Forward in training mode, then backward."""
        demand(self, "forward_backward")
        super().forward_backward(data_batch)

    @decides("Sequential/chain")
    def backward(self, out_grads: Sequence[NDArray] | None = None) -> None:
        """Run the chain backwards; the input gradients of each module are the head gradients of the module before."""
        demand(self, "backward")
        executors = executors_of(self)
        require_forward(executors)
        with undo_backward(executors):
            for index in range(len(self._modules) - 1, -1, -1):
                self._modules[index].backward(out_grads=out_grads)
                if index:
                    out_grads = self._modules[index].get_input_grads()

    def get_outputs(self, merge_multi_context: bool = True) -> list:
        """Return the outputs of the last module."""
        demand(self, "get_outputs")
        outputs: list = self._modules[-1].get_outputs(merge_multi_context=merge_multi_context)
        return outputs

    def get_input_grads(self, merge_multi_context: bool = True) -> list:
        """Return the gradients of the data inputs of the first module."""
        demand(self, "get_input_grads")
        gradients: list = self._modules[0].get_input_grads(merge_multi_context=merge_multi_context)
        return gradients

    @decides("Sequential/take-labels")
    def update_metric(self, eval_metric: Any, labels: Any, pre_sliced: bool = False) -> None:
        """Let every module that takes labels add its last outputs to a metric."""
        demand(self, "update_metric")
        for module in self._taking_labels():
            module.update_metric(eval_metric, labels, pre_sliced)

    # --- optimizer -------------------------------------------------------------------------------

    def init_optimizer(
        self, kvstore: Any = "local", optimizer: Any = "sgd",
        optimizer_params: Any = (("learning_rate", 0.01),), force_init: bool = False,
    ) -> None:
        """Give every module an optimizer; a name makes one for each, an Optimizer object is shared by all.

        :meth:`BaseModule.init_optimizer` explains the arguments.
        """
        demand(self, "init_optimizer")
        if self.optimizer_initialized and not force_init:
            self.logger.warning(ALREADY_OPTIMIZED)
            return
        with undo(dicts=attributes_of(self, *self._modules, kvstore, optimizer)):
            for module in self._modules:
                module.init_optimizer(
                    kvstore=kvstore, optimizer=optimizer, optimizer_params=optimizer_params, force_init=force_init
                )
            self.optimizer_initialized = True

    def update(self) -> None:
        """Update every module."""
        demand(self, "update")
        with undo_params(self):
            for module in self._modules:
                module.update()


@decides("Sequential/auto-wiring")
def _renamed(shapes: Sequence[DataDesc], module: Any) -> list[DataDesc]:
    """The same descriptions under the names of a module's data inputs."""
    names = module.data_names
    if len(names) != len(shapes):
        raise refusal(
            "Sequential/wiring", f"{len(shapes)} outputs {list(shapes)} cannot be wired to the inputs {names}",
            AssertionError,
        )
    return [
        DataDesc(name, tuple(shape.shape), shape.dtype, shape.layout)
        for name, shape in zip(names, shapes, strict=True)
    ]
