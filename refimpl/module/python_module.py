"""Modules written in Python: PythonModule has no parameters, PythonLossModule is a loss at the end of a chain."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from .. import ndarray as nd
from ..base import decides, refusal
from ..io import DataDesc
from ..ndarray import NDArray
from ..ndarray.undo import undo
from .base_module import INITIALIZER, BaseModule
from .batch_shapes import shapes_of_batch
from .bind_options import require_training
from .descriptions import _as_descriptions, names_of, with_batch_size
from .life_cycle import ALREADY_BOUND, demand


@decides("PythonModule/subclass")
class PythonModule(BaseModule):
    """The base class of modules without parameters, which compute in Python.

    A subclass writes ``_compute_output_shapes``, ``forward``, ``backward``, ``get_outputs`` and ``get_input_grads``.
    Because there are no parameters, the module is initialised as soon as it is bound, and ``update`` does nothing.

    Parameters
    ----------
    data_names, label_names, output_names : names in the order in which arrays come; None means none.
    """

    def __init__(
        self, data_names: Sequence[str] | None, label_names: Sequence[str] | None,
        output_names: Sequence[str] | None, logger: Any = logging,
    ) -> None:
        super().__init__(logger=logger)
        self._data_names = names_of(data_names)
        self._label_names = names_of(label_names)
        self._output_names = names_of(output_names)
        self._data_shapes: list[DataDesc] = []
        self._label_shapes: list[DataDesc] | None = None
        self._output_shapes: list[tuple[str, tuple[int, ...]]] = []

    # --- names and shapes ------------------------------------------------------------------------

    @property
    def data_names(self) -> list[str]:
        """Names of the data inputs."""
        return self._data_names

    @property
    def label_names(self) -> list[str]:
        """Names of the labels."""
        return self._label_names

    @property
    def output_names(self) -> list[str]:
        """Names of the outputs."""
        return self._output_names

    @property
    def data_shapes(self) -> list[DataDesc]:
        """Descriptions of the data inputs."""
        demand(self, "data_shapes")
        return self._data_shapes

    @property
    def label_shapes(self) -> list[DataDesc] | None:
        """Descriptions of the labels; None when bound without."""
        demand(self, "label_shapes")
        return self._label_shapes

    @property
    def output_shapes(self) -> list[tuple[str, tuple[int, ...]]]:
        """(name, shape) of each output."""
        demand(self, "output_shapes")
        return self._output_shapes

    def _compute_output_shapes(self) -> list[tuple[str, tuple[int, ...]]]:
        """(name, shape) of each output, computed from ``_data_shapes`` and ``_label_shapes``."""
        raise NotImplementedError

    # --- binding ---------------------------------------------------------------------------------

    @decides("PythonModule/life-cycle")
    def bind(
        self, data_shapes: Any, label_shapes: Any = None, for_training: bool = True,
        inputs_need_grad: bool = False, force_rebind: bool = False, shared_module: Any = None,
        grad_req: Any = "write",
    ) -> None:
        """Keep the shapes. :meth:`BaseModule.bind` explains the arguments; ``shared_module`` is ignored.

        Raises:
            AssertionError: the names differ from the constructor's, or have another order; ``grad_req`` is not
                "write"; ``inputs_need_grad`` without ``for_training``.
        """
        if self.binded and not force_rebind:
            self.logger.warning(ALREADY_BOUND)
            return
        if grad_req != "write":
            raise refusal(
                "PythonModule/write", f"a Python module only writes gradients, grad_req is {grad_req!r}",
                AssertionError,
            )
        require_training(inputs_need_grad, for_training)
        self._describe(data_shapes, label_shapes)
        self.for_training, self.inputs_need_grad = for_training, inputs_need_grad
        self.binded = self.params_initialized = True

    def reshape(self, data_shapes: Any, label_shapes: Any = None) -> None:
        """Keep other shapes; without ``label_shapes`` the labels follow the batch size.

        Raises:
            AssertionError: the names differ from the constructor's.
        """
        demand(self, "reshape")
        if label_shapes is None and self._label_shapes:
            first = _as_descriptions(data_shapes)[0]
            axis = DataDesc.get_batch_axis(first.layout)
            rows = None if axis == -1 else first.shape[axis]
            label_shapes = [with_batch_size(description, rows) for description in self._label_shapes]
        self._describe(data_shapes, label_shapes)

    def _describe(self, data_shapes: Any, label_shapes: Any) -> None:
        """Check and store the descriptions of inputs and outputs; after a failure nothing has changed."""
        data = _as_descriptions(data_shapes)
        labels = None if label_shapes is None else _as_descriptions(label_shapes)
        for what, given, names in (("data", data, self._data_names), ("label", labels, self._label_names)):
            if given is not None and [description.name for description in given] != names:
                raise refusal(
                    "PythonModule/names",
                    f"{what}_shapes are {given}, this module takes {names} in this order", AssertionError,
                )
        with undo(dicts=[vars(self)]):
            self._data_shapes, self._label_shapes = data, labels
            self._output_shapes = self._compute_output_shapes()

    @decides("PythonModule/reshape")
    def follow(self, data_batch: Any) -> None:
        """Reshape to the shapes of a batch if they differ from the bound shapes."""
        wanted = shapes_of_batch(data_batch, self._data_shapes, self._label_shapes, 1)
        if wanted is not None:
            self.reshape(*wanted)

    # --- nothing to learn ------------------------------------------------------------------------

    def get_params(self) -> tuple[dict[str, NDArray], dict[str, NDArray]]:
        """Return ({}, {})."""
        return {}, {}

    def init_params(
        self, initializer: Any = INITIALIZER, arg_params: Mapping[str, Any] | None = None,
        aux_params: Mapping[str, Any] | None = None, allow_missing: bool = False, force_init: bool = False,
        allow_extra: bool = False,
    ) -> None:
        """Do nothing: there are no parameters."""

    def init_optimizer(
        self, kvstore: Any = "local", optimizer: Any = "sgd",
        optimizer_params: Any = (("learning_rate", 0.01),), force_init: bool = False,
    ) -> None:
        """Only set ``optimizer_initialized``: there are no parameters."""
        self.optimizer_initialized = True

    def update(self) -> None:
        """Do nothing: there are no parameters."""

    def install_monitor(self, mon: Any) -> None:
        """Do nothing: there is no executor."""
        demand(self, "install_monitor")

    @decides("PythonModule/metric")
    def update_metric(self, eval_metric: Any, labels: Any, pre_sliced: bool = False) -> None:
        """Add the last outputs and ``labels`` to a metric; without label shapes do nothing.

        Raises:
            RuntimeError: ``pre_sliced`` is set.
        """
        demand(self, "update_metric")
        if self._label_shapes is None:
            return
        if pre_sliced:
            raise refusal(
                "PythonModule/pre-sliced", "a Python module has one context: give labels whole, without pre_sliced",
                RuntimeError,
            )
        eval_metric.update(labels, self.get_outputs())


@decides("PythonModule/loss")
class PythonLossModule(PythonModule):
    """A loss in Python: its output is its one data array, and ``grad_func`` computes the gradient.

    Parameters
    ----------
    name : the module's name; the output has the name ``NAME_output``.
    data_names, label_names : one data name and one label name.
    grad_func : called with (scores, labels), returns the gradient of the loss with respect to the scores: an NDArray
        or an argument of ``mx.nd.array``. Without ``grad_func`` a subclass writes ``_backward_impl``, which reads
        ``_scores`` and ``_labels`` and sets ``_scores_grad``.

    Raises
    ------
    AssertionError : not one data name and one label name, or ``grad_func`` is not callable.
    """

    def __init__(
        self, name: str = "pyloss", data_names: Sequence[str] = ("data",),
        label_names: Sequence[str] = ("softmax_label",), logger: Any = logging,
        grad_func: Callable[[NDArray, NDArray], Any] | None = None,
    ) -> None:
        super().__init__(data_names, label_names, [f"{name}_output"], logger=logger)
        for what, names in (("data", self._data_names), ("label", self._label_names)):
            if len(names) != 1:
                raise refusal(
                    "PythonModule/one-input", f"a loss takes one {what} array, {what}_names is {names}",
                    AssertionError,
                )
        if grad_func is not None and not callable(grad_func):
            raise refusal(
                "PythonModule/grad-func", f"grad_func must be a function of scores and labels, not {grad_func!r}",
                AssertionError,
            )
        self._name = name
        self._grad_func = grad_func
        self._scores: NDArray | None = None
        self._labels: NDArray | None = None
        self._scores_grad: NDArray | None = None

    def _compute_output_shapes(self) -> list[tuple[str, tuple[int, ...]]]:
        return [(f"{self._name}_output", tuple(self._data_shapes[0].shape))]

    def forward(self, data_batch: Any, is_train: bool | None = None) -> None:
        """Store the scores; in training mode (``is_train`` None means ``for_training``) the labels too.

        Raises:
            TypeError: labels are missing in training mode.
        """
        demand(self, "forward")
        self.follow(data_batch)
        training = self.for_training if is_train is None else is_train
        labels: Any = getattr(data_batch, "label", None)
        if training and not labels:
            raise refusal(
                "PythonModule/label",
                "a loss in training mode needs a label; give one, in a chain with take_labels=True, or pass "
                "is_train=False",
                TypeError,
            )
        self._scores = data_batch.data[0]
        if training:
            self._labels = labels[0]

    def backward(self, out_grads: Any = None) -> None:
        """Compute the gradient of the loss.

        Raises:
            AssertionError: head gradients are given, or the module is bound for inference.
            NotImplementedError: there is no ``grad_func`` and no ``_backward_impl``.
        """
        if out_grads is not None:
            raise refusal(
                "PythonModule/no-heads", "nothing comes after a loss: leave out_grads out",
                AssertionError,
            )
        demand(self, "backward")
        self._backward_impl()

    def _backward_impl(self) -> None:
        if self._grad_func is None:
            raise refusal(
                "PythonModule/grad-func", "give grad_func, or write _backward_impl in a subclass",
                NotImplementedError,
            )
        gradient = self._grad_func(self._scores, self._labels)  # type: ignore[arg-type]  # forward came first
        self._scores_grad = gradient if isinstance(gradient, NDArray) else nd.array(gradient)

    def get_outputs(self, merge_multi_context: bool = True) -> list:
        """Return the scores."""
        demand(self, "get_outputs")
        _require_merge(merge_multi_context)
        return [self._scores]

    def get_input_grads(self, merge_multi_context: bool = True) -> list:
        """Return the gradient of the scores, also when bound without ``inputs_need_grad``."""
        if not self.binded:
            demand(self, "get_input_grads")
        _require_merge(merge_multi_context)
        return [self._scores_grad]


def _require_merge(merge_multi_context: bool) -> None:
    if not merge_multi_context:
        raise refusal(
            "PythonModule/merged", "a Python module has no contexts to keep apart; merge_multi_context=True",
            AssertionError,
        )
