"""The executor group: one executor per context, each of which runs its own slice of every batch."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from .. import ndarray as nd
from ..base import decides, refusal
from ..context import Context
from ..engine import fast_road
from ..executor.executor import undo_backward, undo_forward
from ..executor_manager import _check_arguments, _split_input_slice
from ..io import DataDesc
from ..log import chosen
from ..ndarray import NDArray
from ..ndarray.undo import undo
from .arrays import (
    along,
    as_stored,
    cut_heads,
    inferred,
    mean_of,
    merged,
    owned,
    pooled,
    sliced_shape,
    storages,
)
from .bind_options import argument_contexts, gradient_requirements, group_contexts
from .descriptions import check_labels, resized
from .loading import _load_data, _load_general, _load_label, _merge_multi_context, _prepare_group2ctxs
from .parameters import check_states, check_values
from .thread_pool import ThreadPool


class SliceCopy(NamedTuple):
    """A copy to make for every batch: the ``part`` of its array number ``position`` goes into ``target``."""

    position: int
    part: Any
    whole: bool
    target: NDArray

    @decides("ExecutorGroup/load-numpy", "ExecutorGroup/label-covers")
    def fill(self, sources: Sequence[Any]) -> None:
        """Copy the part of ``sources[position]``, cast to the dtype of the target."""
        source = sources[self.position]
        if not isinstance(source, NDArray):
            source = nd.array(source, dtype=getattr(source, "dtype", None))
        if not self.whole or source.shape != self.target.shape:
            source = source[self.part]
        source.copyto(self.target)


class DataParallelExecutorGroup:
    """Executors of one symbol on several contexts, with the batch cut between them.

    Parameters
    ----------
    symbol, contexts, workload : the net, its contexts, and the weight of each context.
    data_shapes, label_shapes : lists of DataDesc for the whole batch (or None: no labels).
    param_names : the arguments that are parameters.
    for_training, inputs_need_grad, grad_req, fixed_param_names : which arguments get a gradient, see
        :func:`~refimpl.module.bind_options.gradient_requirements`.
    shared_group : a group with which to share parameters, gradients, auxiliary states and input memory.
    state_names : arguments that are neither data nor parameters and keep their value between batches.
    group2ctxs : the context of each ``ctx_group``, see :func:`~refimpl.module.bind_options.group_contexts`.

    Public attributes
    -----------------
    ``batch_size``, ``slices``, ``execs``; parameter-major lists with one array per context:
    ``param_arrays``, ``grad_arrays`` (None entries for fixed parameters), ``aux_arrays``,
    ``state_arrays``, ``input_grad_arrays``; ``data_arrays`` and ``label_arrays`` hold (slice, array).
    """

    def __init__(
        self, symbol: Any, contexts: Sequence[Context], workload: Sequence[float],
        data_shapes: Sequence[DataDesc], label_shapes: Sequence[DataDesc] | None,
        param_names: Sequence[str], for_training: bool, inputs_need_grad: bool,
        shared_group: DataParallelExecutorGroup | None = None, logger: Any = logging,
        fixed_param_names: Sequence[str] | None = None, grad_req: Any = "write",
        state_names: Sequence[str] | None = None, group2ctxs: Any = None,
    ) -> None:
        _check_arguments(symbol)
        self.symbol = symbol
        self.contexts = list(contexts)
        self.workload = workload
        self.arg_names = symbol.list_arguments()
        self.aux_names = symbol.list_auxiliary_states()
        self.output_names = symbol.list_outputs()
        self.param_names = [name for name in self.arg_names if name in set(param_names)]
        self.fixed_param_names = list(fixed_param_names or [])
        self.state_names = list(state_names or [])
        self.for_training = for_training
        self.inputs_need_grad = inputs_need_grad
        self.logger = chosen(logger)
        self.group2ctxs = group_contexts(group2ctxs, len(self.contexts))
        inputs = [description.name for description in _described(data_shapes)] if inputs_need_grad else []
        trained = set(self.param_names) - set(self.fixed_param_names)
        self.grad_req = gradient_requirements(self.arg_names, grad_req, {*trained, *inputs}, for_training)
        self.output_layouts = [
            DataDesc.get_batch_axis(symbol[index].attr("__layout__"))
            for index in range(len(self.output_names))
        ]
        self.shared_data_arrays: list[dict[str, NDArray]] = (
            shared_group.shared_data_arrays if shared_group else [{} for _ in self.contexts]
        )
        self.thread_pool = ThreadPool(len(self.contexts))
        self.execs: list[Any] = []
        self.monitors: list[Any] = []
        self.bind_exec(data_shapes, label_shapes, shared_group)

    # --- binding ---------------------------------------------------------------------------------

    def bind_exec(
        self, data_shapes: Sequence[DataDesc], label_shapes: Sequence[DataDesc] | None,
        shared_group: DataParallelExecutorGroup | None = None, reshape: bool = False,
    ) -> None:
        """Cut the batch and bind an executor per context; after a failure the group is unchanged.

        A group that was bound before keeps its arrays; in MXNet that needs ``reshape=True``.
        """
        del reshape
        data_shapes, label_shapes = _described(data_shapes), _described(label_shapes)
        check_labels(label_shapes, self.arg_names)
        batch_size, slices = self.decide_slices(data_shapes + label_shapes)
        owners = shared_group.execs if shared_group else self.execs or [None] * len(self.contexts)
        execs = [
            self._bind_one(index, [
                resized(description, sliced_shape(description, slices[index] if slices else None))
                for description in data_shapes + label_shapes
            ], owners[index])
            for index in range(len(self.contexts))
        ]

        self._carry_monitors(execs)
        self._carry_callbacks(execs)
        self.execs = execs
        self.batch_size, self.slices = batch_size, slices
        self.data_shapes, self.label_shapes = data_shapes, label_shapes or None
        self.data_names = [description.name for description in data_shapes]
        self.label_names = [description.name for description in label_shapes]
        self.data_layouts = [DataDesc.get_batch_axis(d.layout) for d in data_shapes]
        self.label_layouts = [DataDesc.get_batch_axis(d.layout) for d in label_shapes]
        self._collect_arrays()

    def reshape(
        self, data_shapes: Sequence[DataDesc], label_shapes: Sequence[DataDesc] | None
    ) -> None:
        """Bind again for other shapes; parameters, their gradients and auxiliary states stay."""
        if _described(data_shapes) == self.data_shapes and _described(label_shapes) == (self.label_shapes or []):
            return
        self.bind_exec(data_shapes, label_shapes)

    @decides("ExecutorGroup/work-load", "ExecutorGroup/no-batch-axis")
    def decide_slices(
        self, data_shapes: Sequence[DataDesc]
    ) -> tuple[int | None, list[slice] | None]:
        """Return the common batch size and a slice per context; (None, None) without any batch axis.

        Raises:
            AssertionError: two of ``data_shapes`` disagree about the batch size.
            ValueError: a context would get no row.
        """
        batch_size = None
        for description in data_shapes:
            axis = DataDesc.get_batch_axis(description.layout)
            if axis == -1:
                continue
            rows = description.shape[axis]
            if batch_size is not None and rows != batch_size:
                raise refusal(
                    "ExecutorGroup/one-batch-size",
                    f"all data must have the same batch size: batch_size = {batch_size}, but "
                    f"{description.name} has shape {description.shape}",
                    AssertionError,
                )
            batch_size = rows
        return batch_size, None if batch_size is None else _split_input_slice(batch_size, self.workload)

    def _bind_one(self, index: int, descriptions: Sequence[DataDesc], owner: Any) -> Any:
        """Bind the executor of one context, with the parameters that ``owner`` has."""
        sizes, kinds = {d.name: d.shape for d in descriptions}, {d.name: d.dtype for d in descriptions}
        shapes, aux_shapes = inferred("ExecutorGroup/shapes-known", self.symbol.infer_shape, sizes)
        types, aux_types = inferred("ExecutorGroup/types-known", self.symbol.infer_type, kinds)
        device, groups = self.contexts[index], self.group2ctxs[index]
        sparse = storages(self.symbol, sizes, kinds)
        contexts = argument_contexts(self.symbol, self.arg_names, device, groups)
        state_contexts = argument_contexts(self.symbol, self.aux_names, device, groups)
        old_arguments, old_gradients, old_states = (
            (owner.arg_dict, owner.grad_dict, owner.aux_dict) if owner else (None, None, None)
        )
        arguments, gradients = [], {}
        for name, shape, dtype, context in zip(self.arg_names, shapes, types, contexts, strict=True):
            wanted = self.grad_req[name] != "null"
            like = (shape, dtype, context, sparse.variables.get(name, "default"))
            gradient_like = (shape, dtype, context, sparse.gradients.get(name, "default"))
            if name in self.param_names:
                arguments.append(owned(old_arguments, name, *like))
                if wanted:
                    gradients[name] = owned(old_gradients, name, *gradient_like)
            else:
                pool = self.shared_data_arrays[index]
                arguments.append(pooled(pool, name, *like))
                if wanted:
                    gradients[name] = pooled(pool, f"grad of {name}", *gradient_like)
        states = [
            owned(old_states, name, shape, dtype, context, sparse.variables.get(name, "default"))
            for name, shape, dtype, context in zip(self.aux_names, aux_shapes, aux_types, state_contexts, strict=True)
        ]
        return self.symbol.bind(
            device, arguments, args_grad=gradients, grad_req=self.grad_req,
            aux_states=states, group2ctx=groups, shared_exec=owner,
        )

    @decides("ExecutorGroup/gradient-arrays")
    def _collect_arrays(self) -> None:
        """List the arrays by name, and the copies to make of each batch by context; called once per binding."""
        parts = self.slices or [slice(None)] * len(self.contexts)

        def each(pick: str, names: Sequence[str]) -> list[list[NDArray]]:
            by_name = [getattr(executor, pick) for executor in self.execs]
            return [[arrays.get(name) for arrays in by_name] for name in names]

        def sliced(names: Sequence[str]) -> list[list[tuple[slice, NDArray]]]:
            return [list(zip(parts, arrays, strict=True)) for arrays in each("arg_dict", names)]

        def copies(
            index: int, names: Sequence[str], axes: Sequence[int], part: slice
        ) -> list[SliceCopy]:
            alone = len(self.contexts) == 1
            return [
                SliceCopy(position, along(axis, part), alone or axis == -1, self.execs[index].arg_dict[name])
                for position, (name, axis) in enumerate(zip(names, axes, strict=True))
            ]

        self.data_arrays = sliced(self.data_names)
        self.label_arrays = sliced(self.label_names) if self.label_names else None
        self.state_arrays = each("arg_dict", self.state_names)
        self.param_arrays = each("arg_dict", self.param_names)
        self.aux_arrays = each("aux_dict", self.aux_names)
        self.grad_arrays: Any = each("grad_dict", self.param_names) if self.for_training else None
        self.input_grad_arrays: Any = each("grad_dict", self.data_names) if self.inputs_need_grad else None
        self._data_copies = [
            copies(index, self.data_names, self.data_layouts, part) for index, part in enumerate(parts)
        ]
        self._label_copies = [
            copies(index, self.label_names, self.label_layouts, part) for index, part in enumerate(parts)
        ]
        self._label_targets = [copy.target for copies in self._label_copies for copy in copies]

    # --- computation -----------------------------------------------------------------------------

    def fits(self, data_batch: Any) -> bool:
        """Whether the data arrays of a batch have the bound shapes; False for a list of batches, which may fit, too."""
        if isinstance(data_batch, list) or len(data_batch.data) < len(self.data_shapes):
            return False
        for array, description in zip(data_batch.data, self.data_shapes, strict=False):
            if array.shape != description.shape:
                return False
        return True

    @decides("ExecutorGroup/labels-stay", "ExecutorGroup/close-result")
    def forward(self, data_batch: Any, is_train: bool | None = None) -> None:
        """Copy each context its slice of the batch and run its executor, all contexts at the same time.

        ``data_batch`` may be a list with one batch per context, each with that context's share of the rows. If the
        batch has no labels (or no ``label``), the label arrays keep their values. ``is_train`` None means
        ``for_training``.
        """
        mode = self.for_training if is_train is None else is_train

        def load(index: int) -> None:
            if isinstance(data_batch, list):
                batch, data, labels = data_batch[index], _own(self._data_copies[index]), _own(self._label_copies[index])
            else:
                batch, data, labels = data_batch, self._data_copies[index], self._label_copies[index]
            for copy in data:
                copy.fill(batch.data)
            given = getattr(batch, "label", None)
            if given:
                for copy in labels:
                    copy.fill(given)

        def step(index: int) -> None:
            load(index)
            self.execs[index]._run_forward(mode)

        targets = self._label_targets  # a later batch may have no labels
        with self.execs[0].program.pool.turn, undo_forward(self.execs, targets, self.thread_pool.settle):
            if fast_road.is_open() and fast_road.road.is_walked(self.thread_pool, self.execs, "forward", mode, load):
                return
            self.thread_pool.run(step)

    def backward(self, out_grads: Sequence[NDArray] | None = None) -> None:
        """Run every executor backward; head gradients for the whole batch are cut where outputs are joined.

        Raises:
            AssertionError: the group is bound for inference.
        """
        if not self.for_training:
            raise refusal(
                "Module/needs-training", "backward: re-bind with for_training=True to run backward",
                AssertionError,
            )
        heads = (
            [None] * len(self.execs) if out_grads is None
            else cut_heads(out_grads, self.execs, self.contexts, self.output_layouts)
        )
        with self.execs[0].program.pool.turn:
            for executor, gradients in zip(self.execs, heads, strict=True):
                executor._begin_backward(gradients)
            with undo_backward(self.execs, self.thread_pool.settle):
                if fast_road.is_open() and fast_road.road.is_walked(self.thread_pool, self.execs, "backward", True):
                    return
                self.thread_pool.run(lambda index: self.execs[index]._run_backward())

    # --- results ---------------------------------------------------------------------------------

    @decides("ExecutorGroup/merge")
    def get_outputs(
        self, merge_multi_context: bool = True, begin: int = 0, end: int | None = None
    ) -> list[Any]:
        """Return outputs ``begin`` to ``end`` for the whole batch, or a list per context of each."""
        if merge_multi_context and len(self.execs) == 1:
            return list(self.execs[0].outputs[begin:end])
        outputs = [list(parts) for parts in zip(*(e.outputs for e in self.execs), strict=True)][begin:end]
        if not merge_multi_context:
            return outputs
        return merged(outputs, self.output_layouts[begin:end])

    @decides("Module/input-gradients")
    def get_input_grads(self, merge_multi_context: bool = True) -> list[Any]:
        """Return the gradient of each data input, in the order of the data shapes.

        Raises:
            AssertionError: the group is bound without ``inputs_need_grad``.
        """
        if self.input_grad_arrays is None:
            raise refusal(
                "Module/needs-input-gradients", "get_input_grads: bind with inputs_need_grad=True to have them",
                AssertionError,
            )
        if merge_multi_context:
            return merged(self.input_grad_arrays, self.data_layouts)
        return self.input_grad_arrays

    @decides("Module/output-shapes")
    def get_output_shapes(self) -> list[tuple[str, tuple[int, ...]]]:
        """Return (name, shape of the merged output) pairs."""
        shapes = []
        for position, (name, axis) in enumerate(
            zip(self.output_names, self.output_layouts, strict=True)
        ):
            shape = list(self.execs[0].outputs[position].shape)
            if axis != -1:
                shape[axis] = sum(e.outputs[position].shape[axis] for e in self.execs)
            shapes.append((name, tuple(shape)))
        return shapes

    @decides("ExecutorGroup/metric")
    def update_metric(self, eval_metric: Any, labels: Any, pre_sliced: bool = False) -> None:
        """Update ``eval_metric`` once per context with its slice of ``labels`` (or ``labels[context]``)."""
        # without label shapes, labels are named by their position
        names = self.label_names or [*map(str, range(len(labels)))]
        axes = self.label_layouts or [0] * len(labels)
        parts = self.slices or [slice(None)] * len(self.execs)
        with undo(eval_metric, into_lists=False):
            for index, (executor, part) in enumerate(zip(self.execs, parts, strict=True)):
                mine = list(labels[index] if pre_sliced else labels)
                for position, axis in enumerate(() if pre_sliced else axes[: len(mine)]):
                    if axis != -1 and (len(parts) > 1 or mine[position].shape[axis] != self.batch_size):
                        mine[position] = mine[position][part if axis == 0 else along(axis, part)]
                eval_metric.update_dict(
                    dict(zip(names, mine, strict=False)),
                    dict(zip(self.output_names, executor.outputs, strict=True)),
                )

    # --- parameters and states -------------------------------------------------------------------

    def set_params(
        self, arg_params: Mapping[str, NDArray], aux_params: Mapping[str, NDArray] | None,
        allow_extra: bool = False,
    ) -> None:
        """Copy values to every context.

        Raises:
            ValueError: an unknown name, unless ``allow_extra``; nothing is written.
            MXNetError: a value of another shape; nothing is written.
        """
        for executor in self.execs:
            for known, given, where in (
                (executor.arg_dict, arg_params, "arguments"),
                (executor.aux_dict, aux_params or {}, "auxiliary states"),
            ):
                check_values(known, given, where, allow_extra)
        if any(copies[0].is_sparse for copies in (*self.param_arrays, *self.aux_arrays)):
            arg_params = as_stored(arg_params, self.execs[0].arg_dict)
            aux_params = as_stored(aux_params or {}, self.execs[0].aux_dict)
        for executor in self.execs:
            executor.copy_params_from(arg_params, aux_params, allow_extra_params=allow_extra)

    def get_params(self, arg_params: dict[str, NDArray], aux_params: dict[str, NDArray]) -> None:
        """Write the mean over contexts of each parameter and auxiliary state into the given arrays."""
        for names, arrays, targets in (
            (self.param_names, self.param_arrays, arg_params),
            (self.aux_names, self.aux_arrays, aux_params),
        ):
            for name, copies in zip(names, arrays, strict=True):
                mean = mean_of(copies)
                if name in targets:
                    mean.copyto(targets[name])
                else:
                    targets[name] = mean

    def get_states(self, merge_multi_context: bool = True) -> list[list[NDArray]]:
        """Return the arrays of each state, one per context.

        Raises:
            AssertionError: ``merge_multi_context`` is True.
        """
        if merge_multi_context:
            raise refusal(
                "Module/states-unmerged",
                "states of several contexts are not merged; pass merge_multi_context=False",
                AssertionError,
            )
        return self.state_arrays

    def set_states(self, states: Any = None, value: float | None = None) -> None:
        """Set states from arrays per context, or all to one number; AssertionError on neither or both."""
        if (states is None) == (value is None):
            raise refusal(
                "Module/states-or-value",
                "set_states takes exactly one of states and value: "
                + ("both were given" if states is not None else "neither was given"),
                AssertionError,
            )
        if states is not None:
            check_states(self.state_names, self.state_arrays, states)
        with undo(self.state_arrays):
            for position, arrays in enumerate(self.state_arrays):
                for index, array in enumerate(arrays):
                    if states is None:
                        array[:] = value
                    else:
                        states[position][index].copyto(array)

    # --- monitoring ------------------------------------------------------------------------------

    def install_monitor(self, mon: Any) -> None:
        """Install a monitor on every executor; reshaping the group keeps it."""
        watching = getattr(mon, "exes", None)  # a user's own monitor may not have it
        with undo(self.monitors, watching, dicts=[vars(executor) for executor in self.execs]):
            for executor in self.execs:
                mon.install(executor)
            self.monitors.append(mon)

    @decides("ExecutorGroup/monitor")
    def _carry_monitors(self, execs: Sequence[Any]) -> None:
        """Move monitors from the old executors to ``execs``."""
        for monitor in self.monitors:
            monitor.exes = [executor for executor in monitor.exes if executor not in self.execs]
            for executor in execs:
                monitor.install(executor)

    @decides("ExecutorGroup/callbacks")
    def _carry_callbacks(self, execs: Sequence[Any]) -> None:
        """Give ``execs`` the monitor callbacks of the executors that they replace."""
        for old, made in zip(self.execs, execs, strict=False):
            if made._monitor is None:
                made._monitor = old._monitor


@decides("ExecutorGroup/descriptions")
def _described(shapes: Sequence[Any] | None) -> list[DataDesc]:
    """DataDescs from DataDescs or (name, shape) pairs."""
    return [d if isinstance(d, DataDesc) else DataDesc(*d) for d in shapes or []]


def _own(copies: Sequence[SliceCopy]) -> list[SliceCopy]:
    """The same copies for a context that gets a whole batch of its own."""
    return [copy._replace(whole=True, part=Ellipsis) for copy in copies]


__all__ = [
    "DataParallelExecutorGroup", "_load_data", "_load_general", "_load_label", "_merge_multi_context",
    "_prepare_group2ctxs",
]
