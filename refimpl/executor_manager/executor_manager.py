"""Data-parallel training in its oldest form: an executor for each device, and who shares memory with whom."""

from __future__ import annotations

import logging
import math
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

import numpy as np

from ..base import decides, mx_real_t, refusal, require
from ..context import Context, cpu
from ..log import chosen
from ..ndarray import NDArray, zeros
from .slicing import _check_arguments, _load_data, _load_general, _load_label, _split_input_slice

# --- binding --------------------------------------------------------------------------------------


def _bind_exec(
    sym: Any, ctx: Context, input_shapes: Mapping[str, tuple[int, ...]], param_names: Collection[str],
    need_grad: Any = False, base_exec: Any = None, shared_data_arrays: dict[str, NDArray] | None = None,
    input_types: Mapping[str, Any] | None = None, logger: Any = logging,
) -> Any:
    """Bind ``sym`` on one device, and decide for every array whether it is new or shared.

    Args:
        sym: the net.
        ctx: where it runs.
        input_shapes: shape of each data and label by name, for this device.
        param_names: the arguments that are parameters; they alone get gradient arrays.
        need_grad: who asks for a gradient: False nobody, True every argument that is no input, or a set of names.
        base_exec: an executor whose parameters, gradients and auxiliary states are used again.
        shared_data_arrays: memory for inputs by name; a smaller request takes a view of its front, a
            larger one puts a larger array in its place.
        input_types: dtype of each input; float32 for all when None.
        logger: where a replaced array is reported.

    Raises:
        AssertionError: the inputs do not determine the net, ``need_grad`` is neither a truth value nor a
            set, or a shared array does not fit.
        KeyError: ``base_exec`` lacks a parameter.
    """
    types = dict.fromkeys(input_shapes, mx_real_t) if input_types is None else input_types
    arg_shapes, aux_shapes = _inferred(sym.infer_shape, input_shapes)
    arg_types, aux_types = _inferred(sym.infer_type, types)
    names = sym.list_arguments()
    wanted = _wanting_gradient(need_grad, names, input_shapes)

    arguments: list[NDArray] = []
    gradients: dict[str, NDArray] = {}
    for name, shape, dtype in zip(names, arg_shapes, arg_types, strict=True):
        if name not in param_names:
            arguments.append(_input_array(shared_data_arrays, name, shape, dtype, ctx, chosen(logger)))
        elif base_exec is None:
            arguments.append(zeros(shape, ctx, dtype))
            if name in wanted:
                gradients[name] = zeros(shape, ctx, dtype)
        else:
            arguments.append(_base_array(base_exec.arg_dict, name, shape, dtype))
            if name in wanted:
                gradients[name] = base_exec.grad_dict[name]
    states = [
        zeros(shape, ctx, dtype) if base_exec is None else _base_array(base_exec.aux_dict, name, shape, dtype)
        for name, shape, dtype in zip(sym.list_auxiliary_states(), aux_shapes, aux_types, strict=True)
    ]
    requirements = {name: "write" if name in wanted else "null" for name in names}
    return sym.bind(
        ctx, arguments, args_grad=None if need_grad is False else gradients, grad_req=requirements, aux_states=states,
        shared_exec=base_exec,
    )


def _inferred(infer: Any, known: Mapping[str, Any]) -> tuple[list, list]:
    """Shapes, or types, of all arguments and of all auxiliary states."""
    arguments, _, states = infer(**known)
    require(
        "ExecutorManager/known", arguments is not None,
        f"the net cannot be inferred from {dict(known)}; describe every input", AssertionError,
    )
    return arguments, states


def _wanting_gradient(need_grad: Any, names: Sequence[str], inputs: Collection[str]) -> Collection[str]:
    """The arguments whose gradient is asked for."""
    if need_grad is True:
        return set(names) - set(inputs)
    require(
        "ExecutorManager/need-grad", need_grad is False or isinstance(need_grad, set),
        f"need_grad is True, False or a set of names, not {need_grad!r}", AssertionError,
    )
    return need_grad or ()


def _input_array(
    pool: dict[str, NDArray] | None, name: str, shape: tuple[int, ...], dtype: Any, ctx: Context, logger: Any
) -> NDArray:
    """The front of the pool's array if it is large enough, else a new one, which the pool remembers."""
    if pool is None:
        return zeros(shape, ctx, dtype)
    memory, size = pool.get(name), math.prod(shape)
    if memory is not None and memory.size >= size:
        require(
            "ExecutorManager/shared-type", np.dtype(memory.dtype) == np.dtype(dtype),
            f"{name} is {np.dtype(dtype)} but the shared array holds {np.dtype(memory.dtype)}; "
            "give every bucket inputs of one type", AssertionError,
        )
        return memory.reshape((-1,))[:size].reshape(shape)
    if memory is not None:
        logger.warning(
            "bucketing: data %r needs shape %s, which is larger than the shared %s; a new array takes its "
            "place. Make the largest bucket the default_bucket_key to save memory.", name, shape, memory.shape,
        )
    pool[name] = zeros(shape, ctx, dtype)
    return pool[name]


@decides("ExecutorManager/shared-front", "ExecutorManager/shared-grows")
def _base_array(owned: Mapping[str, NDArray], name: str, shape: tuple[int, ...], dtype: Any) -> NDArray:
    """The base executor's array of this name, which must fit exactly."""
    require(
        "ExecutorManager/base-has", name in owned,
        f"{name} is not an array of the default bucket; every bucket has the parameters of the default one",
        KeyError,
    )
    found = owned[name]
    require(
        "ExecutorManager/base-fits",
        found.shape == tuple(shape) and np.dtype(found.dtype) == np.dtype(dtype),
        f"{name} is {np.dtype(dtype)} of {tuple(shape)} here but {np.dtype(found.dtype)} of {found.shape} in "
        "the executor that shares it; only inputs may change size", AssertionError,
    )
    return found


# --- one executor for each device -----------------------------------------------------------------


@decides("ExecutorManager/group")
class DataParallelExecutorGroup:
    """One executor for each device, each at work on its slice of every batch.

    Args:
        sym: the net.
        arg_names, param_names: its arguments, and those of them that are parameters.
        ctx: the devices.
        slices: the rows of each device.
        train_data: anything with ``provide_data`` and ``provide_label``; the first axis is cut.
        shared_group: a group whose parameters, gradients, states and input memory are used.

    Attributes that others read: ``train_execs``; ``data_arrays`` and ``label_arrays``, for each name a list
    of (slice, array); ``param_arrays``, ``grad_arrays`` and ``aux_arrays``, for each name a list with one
    array per device; ``shared_data_arrays``, for each device its input memory by name.

    Raises:
        ValueError: two arguments have one name.
        AssertionError, KeyError: see :func:`_bind_exec`. Nothing that is shared has changed then.
    """

    def __init__(
        self, sym: Any, arg_names: Sequence[str], param_names: Collection[str], ctx: Sequence[Context],
        slices: Sequence[slice], train_data: Any, shared_group: DataParallelExecutorGroup | None = None,
    ) -> None:
        _check_arguments(sym)
        require(
            "ExecutorManager/slice-each", len(slices) >= len(ctx),
            f"{len(ctx)} devices need as many slices, got {len(slices)}", IndexError,
        )
        self.shared_data_arrays: list[dict[str, NDArray]] = (
            shared_group.shared_data_arrays if shared_group else [{} for _ in ctx]
        )
        self.train_execs: list[Any] = self._bound(
            sym, param_names, list(zip(ctx, slices, strict=False)), train_data, shared_group
        )
        self.slices = slices
        self.data_names = [one[0] for one in train_data.provide_data]
        self.label_names = [one[0] for one in train_data.provide_label]
        self.aux_names = sym.list_auxiliary_states()
        self.param_idx = [index for index, name in enumerate(arg_names) if name in param_names]
        self.param_names = [arg_names[index] for index in self.param_idx]
        self.data_arrays = self._sliced(self.data_names)
        self.label_arrays = self._sliced(self.label_names)
        self.param_arrays = [[each.arg_arrays[index] for each in self.train_execs] for index in self.param_idx]
        self.grad_arrays = [[each.grad_arrays[index] for each in self.train_execs] for index in self.param_idx]
        self.aux_arrays = [[each.aux_dict[name] for each in self.train_execs] for name in self.aux_names]

    def _bound(
        self, sym: Any, param_names: Collection[str], parts: Sequence[tuple[Context, slice]], train_data: Any,
        shared_group: DataParallelExecutorGroup | None,
    ) -> list[Any]:
        """An executor for each device and its rows; what is shared changes once all are bound."""
        inputs = [*train_data.provide_data, *train_data.provide_label]
        types = {one[0]: getattr(one, "dtype", mx_real_t) for one in inputs}
        pools = [dict(pool) for pool in self.shared_data_arrays]
        made = []
        for device, (context, rows) in enumerate(parts):
            shapes = {one[0]: (rows.stop - rows.start, *one[1][1:]) for one in inputs}
            base = shared_group.train_execs[device] if shared_group else None
            made.append(_bind_exec(
                sym, context, shapes, param_names, need_grad=True, base_exec=base,
                shared_data_arrays=pools[device], input_types=types,
            ))
        for pool, grown in zip(self.shared_data_arrays, pools, strict=True):
            pool.update(grown)
        return made

    def _sliced(self, names: Sequence[str]) -> list[list[tuple[slice, NDArray]]]:
        return [
            [(part, each.arg_dict[name]) for part, each in zip(self.slices, self.train_execs, strict=False)]
            for name in names
        ]

    def load_data_batch(self, data_batch: Any) -> None:
        """Copy each device its slice of the data and labels."""
        _load_data(data_batch, self.data_arrays)
        _load_label(data_batch, self.label_arrays)

    def forward(self, is_train: bool = False) -> None:
        """Run every executor on what was loaded."""
        for each in self.train_execs:
            each.forward(is_train=is_train)

    def backward(self) -> None:
        """Compute every device's gradients, each the sum over its own rows."""
        for each in self.train_execs:
            each.backward()

    def update_metric(self, metric: Any, labels: Sequence[Any], pre_sliced: bool = False) -> None:
        """Show each device's outputs to ``metric``, with its slice of ``labels`` (or ``labels[device]``)."""
        for device, (each, part) in enumerate(zip(self.train_execs, self.slices, strict=False)):
            mine = labels[device] if pre_sliced else [label[part] for label in labels]
            metric.update(mine, each.outputs)


# --- the manager ----------------------------------------------------------------------------------


class DataParallelExecutorManager:
    """An executor group for each bucket, one of them the current one; ``FeedForward`` trains with it.

    Args:
        symbol: the net (with ``sym_gen``: that of the default bucket).
        ctx: list of devices.
        train_data: iterator with ``batch_size``, ``provide_data``, ``provide_label`` and, with ``sym_gen``,
            ``default_bucket_key``.
        arg_names, param_names, aux_names: names of the symbol's arguments, parameters and states.
        work_load_list: list with the weight of each device; equal weights when None.
        logger: where a line about the start goes; the root logger when None.
        sym_gen: function from a bucket key to the symbol of that bucket.

    Raises:
        TypeError: ``ctx`` is not a list.
        AssertionError: ``work_load_list`` is not a list with one weight per device.
        ValueError: a device would get no row.
    """

    def __init__(
        self, symbol: Any, ctx: Sequence[Context], train_data: Any, arg_names: Sequence[str],
        param_names: Sequence[str], aux_names: Sequence[str], work_load_list: list[float] | None = None,
        logger: Any = None, sym_gen: Callable[[Any], Any] | None = None,
    ) -> None:
        require(
            "ExecutorManager/devices", isinstance(ctx, (list, tuple)),
            f"ctx is a list of devices, not {ctx!r}; write [{ctx!r}]", TypeError,
        )
        chosen(logger).info("Start training with %s", str(ctx))
        weights = [1] * len(ctx) if work_load_list is None else work_load_list
        require(
            "ExecutorManager/work-load", isinstance(weights, list) and len(weights) == len(ctx),
            f"work_load_list is a list with {len(ctx)} weights, one for each device, not {work_load_list!r}",
            AssertionError,
        )
        self.slices = _split_input_slice(train_data.batch_size, weights)
        self.arg_names, self.param_names, self.aux_names = arg_names, param_names, aux_names
        self.ctx, self.symbol, self.sym_gen = ctx, symbol, sym_gen
        self.execgrp = DataParallelExecutorGroup(
            symbol, arg_names, param_names, ctx, self.slices, train_data
        )
        self.curr_execgrp: DataParallelExecutorGroup | None = None
        if sym_gen is not None:
            self.execgrp_bucket = {train_data.default_bucket_key: self.execgrp}

    # --- a step ---

    def load_data_batch(self, data_batch: Any) -> None:
        """Choose the group of the batch's bucket, making it if it is new, and load the batch."""
        group = self.execgrp if self.sym_gen is None else self._bucket(data_batch)
        self.curr_execgrp = group
        group.load_data_batch(data_batch)

    @decides("ExecutorManager/buckets", "ExecutorManager/atomic")
    def _bucket(self, data_batch: Any) -> DataParallelExecutorGroup:
        key = data_batch.bucket_key
        if key not in self.execgrp_bucket:
            assert self.sym_gen is not None
            for what in ("provide_data", "provide_label"):
                require(
                    "ExecutorManager/batch-describes", getattr(data_batch, what, None) is not None,
                    f"the first batch of bucket {key!r} has no {what}; it describes the bucket", TypeError,
                )
            self.execgrp_bucket[key] = DataParallelExecutorGroup(
                self.sym_gen(key), self.arg_names, self.param_names, self.ctx, self.slices, data_batch,
                shared_group=self.execgrp,
            )
        return self.execgrp_bucket[key]

    def forward(self, is_train: bool = False) -> None:
        """Run the current group on what was loaded."""
        self._loaded("forward").forward(is_train=is_train)

    def backward(self) -> None:
        """Compute the current group's gradients."""
        self._loaded("backward").backward()

    def update_metric(self, metric: Any, labels: Sequence[Any], pre_sliced: bool = False) -> None:
        """Show the current group's outputs and ``labels`` to ``metric``, device by device."""
        self._loaded("update_metric").update_metric(metric, labels, pre_sliced)

    def _loaded(self, what: str) -> DataParallelExecutorGroup:
        if self.curr_execgrp is None:
            raise refusal(
                "ExecutorManager/load-first", f"{what} needs a batch: call load_data_batch first",
                AttributeError,
            )
        return self.curr_execgrp

    # --- parameters, shared by all groups ---

    @property
    def param_arrays(self) -> list[list[NDArray]]:
        """For each parameter, its array on each device."""
        return self.execgrp.param_arrays

    @property
    def grad_arrays(self) -> list[list[NDArray]]:
        """For each parameter, its gradient on each device."""
        return self.execgrp.grad_arrays

    @property
    def aux_arrays(self) -> list[list[NDArray]]:
        """For each auxiliary state, its array on each device."""
        return self.execgrp.aux_arrays

    def set_params(self, arg_params: Mapping[str, NDArray], aux_params: Mapping[str, NDArray]) -> None:
        """Copy values to every device; ValueError for a name that the net does not have."""
        for each in self.execgrp.train_execs:
            each.copy_params_from(arg_params, aux_params)

    @decides("ExecutorManager/copy-to")
    def copy_to(self, arg_params: Mapping[str, NDArray], aux_params: Mapping[str, NDArray]) -> None:
        """Write the mean over devices of each parameter and state into the given arrays, in their type.

        Raises:
            KeyError: there is no array for one of them; nothing is written.
        """
        pairs = [
            (name, copies, targets)
            for names, arrays, targets in (
                (self.param_names, self.param_arrays, arg_params),
                (self.aux_names, self.aux_arrays, aux_params),
            )
            for name, copies in zip(names, arrays, strict=False)
        ]
        for name, _, targets in pairs:
            require(
                "ExecutorManager/copy-target", name in targets,
                f"no array is given for {name}; copy_to writes into arrays that are there", KeyError,
            )
        for name, copies, targets in pairs:
            total: Any = copies[0].copyto(cpu())
            for copy in copies[1:]:
                total += copy.as_in_context(cpu())
            (total / len(copies)).copyto(targets[name])

    def install_monitor(self, monitor: Any) -> None:
        """Install a monitor on every executor.

        Raises:
            NotImplementedError: there are buckets.
        """
        require(
            "ExecutorManager/monitor", self.sym_gen is None,
            "the executors of several buckets take no monitor here; use a BucketingModule", NotImplementedError,
        )
        for each in self.execgrp.train_execs:
            monitor.install(each)


__all__ = [
    "DataParallelExecutorGroup", "DataParallelExecutorManager", "_bind_exec", "_check_arguments", "_load_data",
    "_load_general", "_load_label", "_split_input_slice",
]
