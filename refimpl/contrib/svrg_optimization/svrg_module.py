"""SVRGModule: a Module whose gradients vary less and less, so that its learning rate need not decay.

R. Johnson and T. Zhang (2013): Accelerating stochastic gradient descent using predictive variance reduction.
Read ``backward`` and ``update_full_grads``: they are the algorithm. The rules are in spec/reference/training/svrg.md.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from typing import Any

from ...base import decides, refusal, require
from ...context import Context
from ...executor.executor import undo_backward, undo_forward
from ...module import Module
from ...module.life_cycle import demand
from ...module.module import DEVICE
from ...module.parts import undo_optimizer, undo_shapes
from ...ndarray import NDArray
from ...ndarray.undo import undo
from . import svrg_quirks, workers
from .full_pass import GradientSums, Terms, dense, rows_of, summed_gradients
from .svrg_optimizer import _SVRGOptimizer


class SVRGModule(Module):
    """A Module with a snapshot of its weights, to which the gradients of a batch are compared.

    Parameters
    ----------
    update_freq : how many epochs ``fit`` goes on with one snapshot; there is no default.
    symbol, data_names, ... : as :class:`Module` has them.

    Raises
    ------
    TypeError : ``update_freq`` is no int.
    ValueError : it is not above 0.
    """

    def __init__(
        self, symbol: Any, data_names: Sequence[str] | None = ("data",),
        label_names: Sequence[str] | None = ("softmax_label",), logger: Any = logging,
        context: Context | Sequence[Context] = DEVICE, work_load_list: Sequence[float] | None = None,
        fixed_param_names: Sequence[str] | None = None, state_names: Sequence[str] | None = None,
        group2ctxs: Any = None, compression_params: Mapping[str, Any] | None = None,
        update_freq: int | None = None,
    ) -> None:
        given = (
            symbol, data_names, label_names, logger, context, work_load_list, fixed_param_names, state_names,
            group2ctxs,
        )
        super().__init__(*given, compression_params)
        if not isinstance(update_freq, int):
            raise _wrong_frequency(update_freq, TypeError)
        if update_freq <= 0:
            raise _wrong_frequency(update_freq, ValueError)
        self.update_freq = update_freq
        self._mod_aux = Module(*given)
        self._keys = workers.accumulator_keys(self._param_names)
        self._param_dict: Terms | None = None  # what each context adds to its gradients; None before a full pass
        self._rows: list[int] = []  # the rows of a batch for which these terms are
        self._batch: tuple[Any, bool] | None = None  # that of the last forward, and its mode
        self._shown = False  # whether the snapshot ran on that batch

    # --- the algorithm ---------------------------------------------------------------------------

    @decides("SVRG/iterator", "SVRG/failed-pass")
    def update_full_grads(self, train_data: Any) -> None:
        """Take a snapshot of the weights, and the mean of its gradient over all rows of ``train_data``.

        The iterator is reset first and is exhausted afterwards.

        Raises:
            AssertionError: no optimizer is initialised, or the module is bound for inference.
            ValueError: there is no row.
        """
        demand(self, "update", asked="update_full_grads")
        before, self._param_dict = self._param_dict, None
        self._take_snapshot()
        train_data.reset()
        sums = summed_gradients(self._mod_aux, train_data, before if svrg_quirks.NO_RESET.active else None)
        self._param_dict = self._means(sums)
        self._shown = False

    def forward(self, data_batch: Any, is_train: bool | None = None) -> None:
        """Compute the outputs of a batch; in training mode the snapshot computes its outputs too."""
        demand(self, "forward")
        with undo_shapes(self), undo(self._exec_group.aux_arrays):
            super().forward(data_batch, is_train)
            mode = self.for_training if is_train is None else is_train
            self._batch, self._shown = (data_batch, mode), False
            show = bool(is_train) if svrg_quirks.STALE_SNAPSHOT.active else mode
            if show and self.for_training and self._param_dict is not None:
                with undo_forward(self._exec_group.execs):
                    self._show_snapshot()

    def backward(self, out_grads: Sequence[NDArray] | None = None) -> None:
        """Compute the gradients: of the weights, less those of the snapshot, plus the snapshot's mean.

        Raises:
            AssertionError: there was no full pass yet.
        """
        demand(self, "backward")
        if self._param_dict is None:
            raise refusal(
                "SVRG/needs-full-pass", "backward needs a snapshot: call update_full_grads(train_data) first",
                AssertionError,
            )
        if not svrg_quirks.STALE_SNAPSHOT.active:
            self._show_snapshot()
        with undo_backward(self._exec_group.execs):
            super().backward(out_grads)
            self._mod_aux.backward(out_grads)
            if not svrg_quirks.UPDATE_CORRECTS.active:
                self._update_svrg_gradients()

    @decides("SVRG/fixed-parameters", "SVRG/sparse", "SVRG/input-gradients")
    def _update_svrg_gradients(self) -> None:
        """Correct the gradients of every context."""
        assert self._param_dict is not None
        group, shares = self._exec_group, self._shares()
        old_gradients = self._mod_aux._exec_group.grad_arrays
        for name, gradients, olds in zip(group.param_names, group.grad_arrays, old_gradients, strict=True):
            for gradient, old, terms, share in zip(gradients, olds, self._param_dict, shares, strict=True):
                if gradient is not None:
                    term = terms.get(name)
                    if term is not None and share != 1:
                        term = term * share
                    self._svrg_grads_update_rule(gradient, old, term)

    @staticmethod
    @decides("SVRG/step", "SVRG/linear")
    def _svrg_grads_update_rule(gradient: NDArray, old: NDArray, mean: NDArray | None) -> NDArray:
        """gradient <- (gradient - old) + mean; the rows of a sparse one are then all there."""
        result = dense(gradient) - dense(old)
        gradient[:] = result if mean is None else result + mean
        return gradient

    # --- what a full pass consists of ------------------------------------------------------------

    def _take_snapshot(self) -> None:
        """Copy the weights into the snapshot; with several workers, first fetch those of the store."""
        if workers.is_shared(self._kvstore) and self._update_on_kvstore:
            self._kvstore._barrier()
            for name, weights in zip(self._exec_group.param_names, self._exec_group.param_arrays, strict=True):
                self._kvstore.pull(name, out=weights)
            self._params_dirty = True
        self._mod_aux.set_params(*self.get_params())
        if self._kvstore is None and not svrg_quirks.SHARED_SNAPSHOT.active:  # each context has weights of its own
            ours, theirs = self._exec_group, self._mod_aux._exec_group
            for weights, copies in zip(
                (*ours.param_arrays, *ours.aux_arrays), (*theirs.param_arrays, *theirs.aux_arrays), strict=True
            ):
                for weight, copy in zip(weights, copies, strict=True):
                    weight.copyto(copy)

    def _means(self, sums: GradientSums) -> Terms:
        """What each context adds to its gradients, such that the contexts together add the mean once."""
        group = self._exec_group
        self._rows = rows_of(group)
        types = {name: arrays[0].dtype for name, arrays in zip(group.param_names, group.param_arrays, strict=True)}
        if self._kvstore is None:
            _require_rows(sum(sums.rows))
            return [
                _means_of(totals, mine, rows, types)
                for totals, mine, rows in zip(sums.gradients, self._rows, sums.rows, strict=True)
            ]
        store, batch, rows = self._kvstore, sum(self._rows), sum(sums.rows)
        whole = {
            name: _added([totals[name] for totals in sums.gradients]) for name in sums.gradients[0]
        }
        carries = True
        if workers.is_shared(store):
            rows = workers.add_up(store, self._keys, whole, rows)
            if workers.in_rounds(store):
                batch *= store.num_workers
                carries = store.rank == 0
        _require_rows(rows)
        means = _means_of(whole, batch, rows, types)
        if svrg_quirks.MEAN_PER_DEVICE.active:
            count = len(self._context)
            return [{name: mean / count for name, mean in means.items()} for _ in self._context]
        return [means if carries and context == 0 else {} for context in range(len(self._context))]

    @decides("SVRG/batch-size")
    def _shares(self) -> list[float]:
        """For each context, the size of this batch divided by the size that the means were computed for."""
        now = rows_of(self._exec_group)
        if self._kvstore is None:
            return [mine / then for mine, then in zip(now, self._rows, strict=True)]
        return [sum(now) / sum(self._rows)] * len(now)

    def _show_snapshot(self) -> None:
        """Run the snapshot on the last batch, unless it ran on that already."""
        if self._batch is not None and not self._shown:
            self._mod_aux.forward(*self._batch)
            self._shown = True

    # --- the life cycle --------------------------------------------------------------------------

    @decides("SVRG/shared-module")
    def bind(
        self, data_shapes: Any, label_shapes: Any = None, for_training: bool = True,
        inputs_need_grad: bool = False, force_rebind: bool = False, shared_module: Any = None,
        grad_req: Any = "write",
    ) -> None:
        """As :meth:`Module.bind`; for training the snapshot is bound as well, with memory of its own."""
        if self.binded and not force_rebind:
            super().bind(data_shapes, label_shapes)  # which warns
            return
        with undo_shapes(self):
            super().bind(
                data_shapes, label_shapes, for_training, inputs_need_grad, force_rebind, shared_module, grad_req
            )
            self._param_dict = self._batch = None
            if for_training:
                self._bind_snapshot(data_shapes, label_shapes, grad_req)

    @decides("SVRG/statistics", "SVRG/rebind", "SVRG/evaluation")
    def _bind_snapshot(self, data_shapes: Any, label_shapes: Any, grad_req: Any) -> None:
        trained = {
            name for name in self._exec_group.param_names if self._exec_group.grad_req[name] != "null"
        }
        requests = {name: "write" if name in trained else "null" for name in self._exec_group.arg_names}
        if svrg_quirks.ADD_ACCUMULATES.active:
            requests = grad_req
        self._mod_aux.bind(data_shapes, label_shapes, force_rebind=True, grad_req=requests)

    def reshape(self, data_shapes: Any, label_shapes: Any = None) -> None:
        """As :meth:`Module.reshape`, the snapshot too."""
        demand(self, "reshape")
        with undo_shapes(self):
            super().reshape(data_shapes, label_shapes)
            if self.for_training:
                self._mod_aux.reshape(data_shapes, label_shapes)

    @decides("SVRG/states")
    def set_states(self, states: Any = None, value: float | None = None) -> None:
        """As :meth:`Module.set_states`, those of the snapshot too."""
        demand(self, "set_states")
        with undo(self._exec_group.state_arrays):
            super().set_states(states, value)
            if self.for_training:
                self._mod_aux._exec_group.set_states(states, value)

    def init_optimizer(
        self, kvstore: Any = "local", optimizer: Any = "sgd",
        optimizer_params: Any = (("learning_rate", 0.01),), force_init: bool = False,
    ) -> None:
        """As :meth:`Module.init_optimizer`; a store that workers share also gets accumulators.

        Raises:
            MXNetError: ``compression_params`` are set and the store is shared: full gradients must arrive whole.
        """
        demand(self, "init_optimizer")
        stays = self.optimizer_initialized and not force_init
        if not stays:
            self._refuse_compression(kvstore)
        with undo_optimizer(self, kvstore, optimizer):
            super().init_optimizer(kvstore, optimizer, optimizer_params, force_init)
            if stays and not svrg_quirks.NO_RESET.active:
                return
            self._param_dict = None
            if not stays:
                self._begin_on_store()

    def _begin_on_store(self) -> None:
        """Put accumulators into a store that workers share."""
        group = self._exec_group
        if workers.is_shared(self._kvstore):
            weights = {name: arrays[0] for name, arrays in zip(group.param_names, group.param_arrays, strict=True)}
            workers.start(self._kvstore, self._keys, weights)
        if svrg_quirks.ZEROED_WEIGHTS.active and self._update_on_kvstore:
            for copies in group.param_arrays:
                for weight in copies:
                    weight[:] = 0

    def _refuse_compression(self, kvstore: Any) -> None:
        """Refuse a store that workers share and that sends codes in place of gradients."""
        name = kvstore if isinstance(kvstore, str) else getattr(kvstore, "type", "")
        if "dist" in name and (self._compression_params or getattr(kvstore, "_compression", None) is not None):
            raise refusal(
                "SVRG/no-compression",
                f"full gradients pass through the store {name!r} and must arrive whole: leave compression_params out",
            )

    def _wrapped(self, optimizer: Any) -> Any:
        """The optimizer that was asked for, beside the accumulators."""
        if isinstance(optimizer, _SVRGOptimizer):  # that of another SVRGModule
            optimizer = optimizer.default_opt
        return _SVRGOptimizer(optimizer, accumulators=self._keys.listed())

    def update(self) -> None:
        """Apply the gradients of the last backward."""
        if svrg_quirks.UPDATE_CORRECTS.active:
            demand(self, "update")
            self._update_svrg_gradients()
        super().update()

    @decides("SVRG/fit", "SVRG/iterator", "SVRG/resume")
    def _begin_epoch(self, epoch: int, train_data: Any) -> None:
        """A full pass over the data, when one is due; the steps of the epoch begin with its first batch."""
        if epoch % self.update_freq == 0 or self._param_dict is None:
            self.update_full_grads(train_data)
        train_data.reset()

    def _end_epoch(self, train_data: Any) -> None:
        """Leave the iterator exhausted: what comes next resets it, and a reset may shuffle."""

    # --- files -----------------------------------------------------------------------------------

    @staticmethod
    def load(
        prefix: str, epoch: int, load_optimizer_states: bool = False, *, allow_other_params: bool = False,
        **kwargs: Any,
    ) -> Module:
        """Make an SVRGModule from a checkpoint. Its parameters are set; bind it to use it.

        Args:
            prefix, epoch, load_optimizer_states, allow_other_params: as for :meth:`Module.load`.
            kwargs: arguments of the constructor, ``update_freq`` among them.
        """
        if svrg_quirks.LOAD_MODULE.active:
            return Module.load(prefix, epoch, load_optimizer_states, allow_other_params=allow_other_params, **kwargs)
        names = {name: kwargs[name] for name in ("data_names", "label_names", "state_names") if name in kwargs}
        plain = Module.load(prefix, epoch, load_optimizer_states, allow_other_params=allow_other_params, **names)
        module = SVRGModule(plain.symbol, **kwargs)
        module._arg_params, module._aux_params = plain._arg_params, plain._aux_params
        module._preload_opt_states, module._preload_params = plain._preload_opt_states, plain._preload_params
        module.params_initialized = True
        return module


def _added(arrays: Sequence[NDArray]) -> NDArray:
    """The sum of arrays from the left, where the first one is."""
    total = arrays[0]
    for array in arrays[1:]:
        total = total + array.as_in_context(total.context)
    return total


def _mean(total: NDArray, batch: float, rows: float) -> NDArray:
    """The mean over ``rows`` rows, times the size of a batch."""
    if svrg_quirks.PADDING.active:
        return total / (rows / batch)
    return total * batch / max(rows, 1)


def _means_of(totals: Mapping[str, NDArray], batch: float, rows: float, types: Mapping[str, Any]) -> dict[str, NDArray]:
    return {name: _mean(total, batch, rows).astype(types[name], copy=False) for name, total in totals.items()}


def _require_rows(rows: float) -> None:
    require("SVRG/needs-rows", rows > 0, "update_full_grads: train_data has no rows", ValueError)


def _wrong_frequency(given: Any, kind: type[Exception]) -> Exception:
    return refusal(
        "SVRG/update-freq",
        f"update_freq={given!r}: give a positive integer, the number of epochs from one full pass to the next, such as"
        " update_freq=2", kind,
    )


__all__ = ["SVRGModule"]
