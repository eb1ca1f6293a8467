"""Executor: a graph with memory. ``forward`` and ``backward`` run lists of steps that are made once, at bind.

This is the contract of MXNet 1.x: the executor uses the caller's arrays themselves, outputs keep their memory
from call to call, and gradients are written, accumulated or not computed, as ``grad_req`` says.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from functools import partial
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import engine
from ..base import MXNetError, decides, described, refusal, shapes_in_words
from ..context import Context
from ..engine import fast_road
from ..engine.compiling import RUNNING
from ..kernels.foundation import collector_pause as collection
from ..ndarray import NDArray, zeros
from ..ndarray.undo import undo
from ..symbol import Symbol, storage
from ..symbol.describe import debug_text
from ..symbol.inference import is_shown_whole
from ..symbol.inferred_lists import known_shapes
from ..symbol.ir import variables
from ..symbol.memory import Plan
from .fixed import FixedDict, FixedList
from .memory_pool import Pool
from .program import Program
from .sparse_borders import Borders
from .step_runner import MonitorCallback, run_monitored, run_one, touched
from .steps import Step, StepFailed

if TYPE_CHECKING:
    from .binding import Bound

TEMPORARY_SPACES = 11
"""The number that MXNet reports for every graph; here working memory belongs to threads (``scratch``)."""
_NOTHING = nullcontext()


@decides("Executor/gradient-arrays")
def _gradients_of(bound: Bound) -> list[NDArray | None] | None:
    return FixedList(bound.gradients) if bound.has_gradients else None


class Executor:
    """A bound graph. Made by ``Symbol.bind`` and ``Symbol.simple_bind``.

    ``arg_arrays``, ``grad_arrays``, ``aux_arrays`` are the arrays given at bind (None where no gradient
    is kept; ``grad_arrays`` itself is None after a bind without ``args_grad``); ``outputs`` exist from the start and
    are overwritten by every ``forward``.

    Args:
        symbol: the graph.
        ctx: the context of nodes that belong to no group.
        bound: the arrays and requirements.
        shared_exec: an executor with which to share working memory.
    """

    def __init__(self, symbol: Symbol, ctx: Context, bound: Bound, shared_exec: Executor | None = None) -> None:
        self._symbol = symbol
        bound.order = bound.order or symbol.order()
        self._argument_names, self._state_names = ([node.name for node in nodes] for nodes in variables(bound.order))
        self._ctx = ctx
        self._bound = bound
        self.arg_arrays: list[NDArray] = FixedList(bound.arguments)
        self.grad_arrays: list[NDArray | None] | None = _gradients_of(bound)
        self.aux_arrays: list[NDArray] = FixedList(bound.auxiliary)
        self._grad_req = bound.requirements
        pool = shared_exec.program.pool if shared_exec is not None else Pool()
        arrays = [*bound.arguments, *bound.gradients, *bound.auxiliary]
        makes_sparse = any(map(storage.makes_sparse, bound.order))
        is_sparse = makes_sparse or any(array is not None and array.is_sparse for array in arrays)
        self._borders = border = Borders(symbol, bound) if is_sparse else None
        with collection.paused():  # a third of the time would go into the garbage collector, which finds none here
            self.program: Program = (
                Program(symbol, ctx, bound, pool) if border is None
                else Program(symbol, ctx, border.inside, pool, border.lasting)
            )
        self.outputs: list[NDArray] = self.program.outputs if border is None else border.enclose(self.program)
        self._monitor: tuple[MonitorCallback, bool] | None = None
        self._ran = False  # whether memory holds the values of a forward

    def __repr__(self) -> str:
        return described(self, self._words)

    def _words(self) -> str:
        given = zip(self._argument_names, (array.shape for array in self.arg_arrays), strict=True)
        made = zip(self._symbol.list_outputs(), (array.shape for array in self.outputs), strict=True)
        return f"{shapes_in_words(given)} -> {shapes_in_words(made)} on {self._ctx}"

    @property
    def plan(self) -> Plan:
        """The memory plan: which values share memory. ``print(executor.plan.describe())`` shows it."""
        return self.program.plan

    # --- run ---------------------------------------------------------------------------------------

    @decides("Executor/turns")
    def forward(self, is_train: bool = False, **kwargs: Any) -> list[NDArray]:
        """Compute the outputs; keywords first overwrite the arguments of these names.

        Raises:
            TypeError: a keyword is not the name of an argument.
            ValueError: a value is not an array, or has another shape than the argument.
        """
        with self.program.pool.turn:
            arguments = self._assigned(kwargs) if kwargs else {}
            # entering a block takes as long as running a small graph
            changed = [*arguments.values(), *self.aux_arrays] if arguments or self.aux_arrays else None
            try:
                with _NOTHING if changed is None else undo(changed):
                    for name, argument in arguments.items():
                        argument[:] = kwargs[name]
                    self._run_forward(is_train)
            except BaseException:
                _forward_failed([self])
                raise
        return self.outputs

    @decides("Executor/repeatable")
    def _run_forward(self, is_train: bool, run: Callable[[], None] | None = None) -> None:
        """Compute the outputs; the caller handles a failure. ``run`` replaces the plain run of the steps."""
        pool, program = self.program.pool, self.program
        if program.forward_table is None:
            program.make_tables()
        pool.unfinished = True
        if self._borders is not None:
            self._borders.before_forward()
        if run is None:
            self._run_steps(program.forward_steps, is_train, program.forward_table)
        else:
            run()
        if self._borders is not None:
            self._borders.after_forward()
        self._ran = True
        pool.unfinished = False

    def _run_steps(self, steps: list[Step], is_train: bool, table: Any) -> None:
        """Run the steps of forward or backward; the monitor, if there is one, sees each."""
        if self._monitor is None:
            run_steps(steps, is_train, self._ctx, table)
        else:
            run_monitored(steps, is_train, self._ctx, *self._monitor, self.program.without_gradient)

    def _assigned(self, values: dict[str, Any]) -> dict[str, NDArray]:
        """Check ``values`` for :meth:`forward`, and return the arguments of these names."""
        arguments = self.arg_dict
        for name, value in values.items():
            if name not in arguments:
                raise refusal("Executor/forward-name", f"Unknown argument {name}", TypeError)
            if not isinstance(value, (NDArray, np.ndarray)):
                raise refusal(
                    "Executor/forward-value",
                    "only accept keyword argument of NDArrays and numpy.ndarray,"
                    f" {name} is {type(value).__name__}", ValueError,
                )
            if tuple(value.shape) != arguments[name].shape:
                raise refusal(
                    "Executor/forward-shape",
                    f"Shape not match! Argument {name}, need: {arguments[name].shape}, received: {value.shape}",
                    ValueError,
                )
        return {name: arguments[name] for name in values}

    @decides("Executor/current-arguments")
    def backward(self, out_grads: Any = None, is_train: bool = True) -> None:
        """Compute gradients from the values of the last forward and the current arguments.

        ``out_grads`` are head gradients: an array, a list in the order of the outputs, or a dict by output name. They
        may be left out when every output is a loss or needs no head gradient.

        Raises:
            MXNetError: a head gradient is missing, or has another shape than its output; or a wanted gradient is one
                that its operator does not compute, such as the gradient of Embedding's indices.
            TypeError: a head gradient is not an NDArray.
            KeyError: a dict lacks the name of an output.
        """
        with self.program.pool.turn:
            self._begin_backward(out_grads)
            with undo_backward([self]):
                self._run_backward(is_train)

    def _begin_backward(self, out_grads: Any) -> None:
        """Make the checks of :meth:`backward`, and copy the head gradients."""
        if self.program.gradients.refused is not None:
            raise self.program.gradients.refused
        if self.program.pool.unfinished:
            require_forward([self])
        listed = () if out_grads is None else self._listed_heads(out_grads)
        heads = zip(self.program.heads, self.program.head_needed, strict=True)
        for number, (head, needed) in enumerate(heads):
            if not needed:
                continue
            if number >= len(listed):
                raise refusal(
                    "Executor/head-needed",
                    f"output {self._symbol.list_outputs()[number]} is not a loss: give its head gradient to"
                    " backward, or end the network with a loss such as make_loss",
                )
            given = listed[number]
            assert head is not None
            if given.shape != head.shape:
                raise refusal(
                    "Executor/head-shape",
                    f"head gradient {number} has shape {given.shape}, the output has {head.shape}",
                )
            given.copyto(head)

    @decides("Executor/before-forward")
    def _run_backward(self, is_train: bool = True, run: Callable[[], None] | None = None) -> None:
        """Compute the gradients; the caller handles a failure. ``run`` replaces the plain run of the steps."""
        program = self.program
        if not self._ran:  # without a forward the planned memory holds zeros
            for key in program.plan.place:
                engine.overwrite(program.buffers[key])
                program.buffers[key].fill(0)
        if self._borders is not None:
            self._borders.before_backward()
        if run is None:
            self._run_steps(program.backward_steps, is_train, program.backward_table)
        else:
            run()
        if self._borders is not None:
            self._borders.after_backward()

    def _listed_heads(self, out_grads: Any) -> Sequence[NDArray]:
        """Head gradients in the order of the outputs, from an array, a list or a dict by name."""
        if isinstance(out_grads, NDArray):
            return [out_grads]
        if isinstance(out_grads, dict):
            names = self._symbol.list_outputs()
            absent = [name for name in names if name not in out_grads]
            if absent:
                raise refusal(
                    "Executor/head-names", f"the head gradient of {absent[0]} is missing in the dict", KeyError
                )
            out_grads = [out_grads[name] for name in names]
        if not isinstance(out_grads, (list, tuple)) or not all(isinstance(g, NDArray) for g in out_grads):
            raise refusal(
                "Executor/head-type", "inputs must be NDArray: head gradients are given as NDArrays", TypeError
            )
        return out_grads

    # --- watching ----------------------------------------------------------------------------------

    def set_monitor_callback(self, callback: MonitorCallback | None, monitor_all: bool = False) -> None:
        """Call ``callback(name, array)`` for each output of a node that ran; ``monitor_all``: for its inputs before."""
        self._monitor = None if callback is None else (callback, monitor_all)

    # --- looking -----------------------------------------------------------------------------------

    @staticmethod
    def _by_name(names: list[str], arrays: list[Any]) -> dict[str, Any]:
        if len(set(names)) != len(names):
            raise refusal("Executor/duplicate-names", f"Duplicate names detected, {names}", ValueError)
        return FixedDict(zip(names, arrays, strict=True))

    @property
    def arg_dict(self) -> dict[str, NDArray]:
        """Arguments by name."""
        return self._by_name(self._argument_names, self.arg_arrays)

    @property
    def grad_dict(self) -> dict[str, NDArray | None]:
        """Gradient arrays by argument name, None for an argument without one."""
        return self._by_name(self._argument_names, self._bound.gradients)

    @property
    def aux_dict(self) -> dict[str, NDArray]:
        """Auxiliary states by name."""
        return self._by_name(self._state_names, self.aux_arrays)

    @property
    def output_dict(self) -> dict[str, NDArray]:
        """Outputs by name."""
        return self._by_name(self._symbol.list_outputs(), self.outputs)

    @decides("Executor/debug-string")
    def debug_str(self) -> str:
        """The text of the graph, then the megabytes that its memory takes."""
        text = debug_text(self.program.results(), self.program.graph.order())
        megabytes = self.program.allocated >> 20
        return f"{text}Total {megabytes} MB allocated\nTotal {TEMPORARY_SPACES} TempSpace resource requested\n"

    @decides("Executor/optimized-symbol")
    def get_optimized_symbol(self) -> Symbol:
        """The simplified graph that forward runs, as a new symbol."""
        return copy.deepcopy(Symbol(self.program.graph.outputs))

    # --- parameters and shapes ---------------------------------------------------------------------

    @decides("Executor/copy-params")
    def copy_params_from(
        self, arg_params: dict[str, NDArray], aux_params: dict[str, NDArray] | None = None,
        allow_extra_params: bool = False,
    ) -> None:
        """Copy values into arguments and auxiliary states, cast to their dtype.

        Nothing is copied when a name or a shape is refused.

        Raises:
            ValueError: a name is unknown and ``allow_extra_params`` is False.
            MXNetError: a shape differs.
        """
        jobs = []
        for given, mine, what in (
            (arg_params, self.arg_dict, "the arguments"),
            (aux_params or {}, self.aux_dict, "the auxiliary states"),
        ):
            for name, value in given.items():
                if name not in mine:
                    if allow_extra_params:
                        continue
                    raise refusal(
                        "Executor/copy-name", f'Find name "{name}" that is not in {what}', ValueError
                    )
                if value.shape != mine[name].shape:
                    raise refusal(
                        "Executor/copy-shape",
                        f"{name} has shape {value.shape}, the executor's has {mine[name].shape}",
                    )
                jobs.append((value, mine[name]))
        with undo([target for _, target in jobs]):
            for value, target in jobs:
                if value is not target and (value.is_sparse or target.is_sparse or value._data is not target._data):
                    value.copyto(target)

    @decides("Executor/reshape")
    def reshape(
        self, partial_shaping: bool = False, allow_up_sizing: bool = False, **kwargs: tuple[int, ...]
    ) -> Executor:
        """A new executor for other input shapes, sharing memory with this one.

        A named array that shrinks becomes a view of the front of the old array; an array that grows needs
        ``allow_up_sizing`` and gets new memory. Arrays that keep their shape are shared.

        Raises:
            MXNetError: an array would grow without ``allow_up_sizing``, or an array that was not named
                changes shape without ``partial_shaping``.
        """
        names = self._argument_names
        arg_shapes, _, aux_shapes = known_shapes(
            self._symbol.entries, {name: shape for name, shape in kwargs.items() if name in names}
        )
        if not all(map(is_shown_whole, arg_shapes)):
            raise refusal(
                "Executor/reshape-known", f"the shapes {kwargs} do not determine those of all arguments"
            )

        def resized(name: str, old: NDArray, shape: tuple[int, ...]) -> NDArray:
            if old.shape == shape:
                return old
            if name not in kwargs and not partial_shaping:
                raise refusal(
                    "Executor/reshape-partial",
                    f"Shape of unspecified array {name} changed from {old.shape} to {shape}; set"
                    " partial_shaping=True if that is intended",
                )
            if old.is_sparse:
                raise refusal(
                    "Sparse/reshape-bound",
                    f"{name} is {old.stype} and cannot change from {old.shape} to {shape} in place; bind again",
                )
            if prod(shape) > old.size:
                if not allow_up_sizing:
                    raise refusal(
                        "Executor/reshape-grow",
                        f"New shape of {name} {shape} is larger than the original {old.shape}; set"
                        " allow_up_sizing=True to allocate a new array",
                    )
                return zeros(shape, old.context, old.dtype)
            return old._shared(shape, 0)

        arguments = [resized(n, a, s) for n, a, s in zip(names, self.arg_arrays, arg_shapes, strict=True)]
        gradients = [
            None if g is None else resized(n, g, s)
            for n, g, s in zip(names, self._bound.gradients, arg_shapes, strict=True)
        ]
        auxiliary = [resized(n, a, s) for n, a, s in zip(self._state_names, self.aux_arrays, aux_shapes, strict=True)]
        bound = replace(
            self._bound, arguments=arguments, gradients=gradients, auxiliary=auxiliary,
            requirements=list(self._grad_req), inferred=None,
        )
        made = Executor(self._symbol, self._ctx, bound, shared_exec=self)
        made._monitor = self._monitor
        return made


# --- the steps -----------------------------------------------------------------------------------------


def run_steps(steps: Sequence[Step], is_train: bool, context: Context, table: Any) -> None:
    """Run ``steps`` in turn, or replay the kernel calls that ``table``, a recording of these steps, holds.

    The outputs of a step that fails hold its error from then on.
    """
    at = 0
    try:
        if table is not None and fast_road.is_open() and table.is_replayed(is_train):
            return
        if fast_road.is_quiet():
            for at, step in enumerate(RUNNING.begin(steps)):  # noqa: B007  # `at` says which step failed
                step.run(is_train)
            return
    except StepFailed as failure:
        _go_on(failure.__cause__, steps, failure.number, is_train, context)
        return
    except MXNetError as error:
        _go_on(error, steps, at, is_train, context)
        return
    for step in steps:
        run_one(step, is_train, context)


def _go_on(error: Any, steps: Sequence[Step], failed: int, is_train: bool, context: Context) -> None:
    """Let the outputs of a failed step hold its error, and run the later steps that do not read them."""
    spoiled = touched(steps[failed]).writes
    if not spoiled:
        raise error from error.__cause__
    engine.fail(error, spoiled)
    for step in steps[failed + 1 :]:
        run_one(step, is_train, context)


# --- a forward or backward that does not finish --------------------------------------------------------

# States and accumulated gradients are as before the call. Outputs, and gradients with grad_req 'write', hold no values:
# reading one raises an error until the call is repeated. The values that forward keeps for backward are in memory that
# executors share; ``Pool.unfinished`` says that no backward may use them.


@decides("Module/unfinished")
def undo_forward(
    executors: Sequence[Executor], inputs: Iterable[NDArray] = (), settle: Callable[[], object] = lambda: None
) -> AbstractContextManager[None]:
    """A block, a forward of ``executors``. If it fails, states and ``inputs`` are as before; outputs hold no values.

    ``settle`` waits for threads that still run.
    """
    arrays = [*inputs]
    for executor in executors:
        arrays += executor.aux_arrays
    return undo(arrays, settle=settle, then=partial(_forward_failed, executors))


def _forward_failed(executors: Sequence[Executor]) -> None:
    for executor in executors:
        executor.program.pool.unfinished = True
    _spoil("forward", [array for executor in executors for array in executor.outputs])


@decides("Module/unfinished")
def undo_backward(
    executors: Sequence[Executor], settle: Callable[[], object] = lambda: None
) -> AbstractContextManager[None]:
    """A block, a backward of ``executors``. If it fails, gradients with 'add' are as before; others hold no values."""
    written: list[NDArray] = []
    kept: list[NDArray] = []
    for executor in executors:
        for array, requirement in zip(executor._bound.gradients, executor._grad_req, strict=True):
            if array is not None and requirement != "null":
                (kept if requirement == "add" or array.is_sparse else written).append(array)
        kept += executor.aux_arrays
    return undo(kept, settle=settle, then=partial(_spoil, "backward", written))


def _spoil(what: str, arrays: Sequence[Any]) -> None:
    """Mark arrays as holding no values."""
    engine.spoil(
        engine.unfinished(what), [array._values._buffer if array.is_sparse else array._buffer for array in arrays]
    )


def require_forward(executors: Iterable[Executor]) -> None:
    """Refuse a backward after a forward that did not finish.

    Raises:
        MXNetError: the last forward on the memory of one of ``executors`` did not finish.
    """
    for executor in executors:
        if executor.program.pool.unfinished:
            raise refusal(
                "Executor/unfinished", "the last forward did not finish, and there is nothing to compute gradients"
                " from; run forward again",
            )
