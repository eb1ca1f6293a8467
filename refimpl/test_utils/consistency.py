"""The same symbol on several contexts and in several types; and how long it takes."""

from __future__ import annotations

import time
import traceback
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..base import refusal
from ..context import Context
from ..executor import Executor
from ..ndarray import NDArray, waitall
from ..symbol import Symbol
from .compare import as_numpy, assert_almost_equal
from .surroundings import default_context
from .tolerance import Tolerance, default_atols, default_rtols


def check_consistency(
    sym: Symbol | list[Symbol], ctx_list: Sequence[dict[str, Any]], scale: float = 1.0,
    grad_req: Any = "write", arg_params: Mapping[str, Any] | None = None,
    aux_params: Mapping[str, Any] | None = None, rtol: Tolerance | None = None,
    atol: Tolerance | None = None, raise_on_err: bool = True,
    ground_truth: Mapping[str, NDArray] | None = None, equal_nan: bool = False, use_uniform: bool = False,
    rand_type: Any = np.float64,
) -> dict[str, NDArray | None]:
    """Demand that a symbol gives the same outputs and gradients wherever it runs.

    Args:
        sym: a symbol, or one for each entry of ``ctx_list``, with equal argument and output names.
        ctx_list: keywords of ``simple_bind``: ``ctx``, the shapes of inputs by name, and ``type_dict``.
        scale: standard deviation of the random arguments, or their range with ``use_uniform``.
        grad_req: requirement of the gradients; "null" compares outputs only.
        arg_params, aux_params: values that are not to be random (arguments) or zero (states).
        rtol, atol: numbers, or dicts by dtype; by default those of the less precise type.
        raise_on_err: raise at the first difference instead of printing all.
        ground_truth: outputs and gradients to compare with; by default those of the most precise entry.
        equal_nan: whether NaN equals NaN.
        use_uniform: draw from a uniform distribution instead of a normal one.
        rand_type: type that random arguments are rounded to.

    Returns:
        What was compared with: outputs and, in training, gradients by name.

    Raises:
        AssertionError: they differ; or there are fewer than two entries, or the names of the symbols differ.
    """
    symbols = [sym] * len(ctx_list) if isinstance(sym, Symbol) else sym
    _require_comparable(symbols, ctx_list)
    executors = [
        symbol.simple_bind(grad_req=grad_req, **entry) for symbol, entry in zip(symbols, ctx_list, strict=True)
    ]
    _fill(executors, scale, arg_params or {}, aux_params or {}, use_uniform, rand_type)
    for executor in executors:
        executor.forward(is_train=False)
    precision = [np.dtype(executor.outputs[0].dtype).itemsize for executor in executors]
    best = precision.index(max(precision))
    training = grad_req != "null"
    truth: dict[str, NDArray | None] = dict(ground_truth) if ground_truth is not None else {}
    compare = _Comparison(rtol, atol, equal_nan, raise_on_err)
    for phase in ("Predict", "Train") if training else ("Predict",):
        if phase == "Train":
            _train(executors)
        if ground_truth is None:
            truth = _results(executors[best], phase == "Train")
        for number, executor in enumerate(executors):
            if number == best and ground_truth is None:
                continue
            compare(phase, number, best, _results(executor, phase == "Train"), truth)
    return truth


def _require_comparable(symbols: Any, ctx_list: Sequence[dict[str, Any]]) -> None:
    if not isinstance(symbols, list) or len(symbols) != len(ctx_list) or len(ctx_list) < 2:
        raise refusal(
            "test_utils/consistency", "give two entries of ctx_list or more, and a symbol or a list of as many;"
            f" got {len(ctx_list)} entries and {symbols!r}", AssertionError,
        )
    first = symbols[0]
    for symbol in symbols[1:]:
        if (symbol.list_arguments(), symbol.list_outputs()) != (first.list_arguments(), first.list_outputs()):
            raise refusal(
                "test_utils/consistency", "symbols are compared by name, and these differ:"
                f" {first.list_arguments()} -> {first.list_outputs()},"
                f" {symbol.list_arguments()} -> {symbol.list_outputs()}", AssertionError,
            )


def _fill(
    executors: Sequence[Executor], scale: float, arg_params: Mapping[str, Any], aux_params: Mapping[str, Any],
    use_uniform: bool, rand_type: Any,
) -> None:
    """Give all executors the same arguments and states, and gradients of zero."""
    draw = np.random  # the generator that tests seed
    for name, example in executors[0].arg_dict.items():
        if name in arg_params:
            values = as_numpy(arg_params[name])
        elif use_uniform:
            values = draw.uniform(-0.92 * scale, 0.92 * scale, example.shape).astype(rand_type)
        else:
            values = draw.normal(size=example.shape, scale=scale).astype(rand_type)
        for executor in executors:
            executor.arg_dict[name][:] = values
    for executor in executors:
        for name, state in executor.aux_dict.items():
            state[:] = as_numpy(aux_params.get(name, 0))
        for gradient in executor.grad_arrays or ():
            if gradient is not None:
                gradient[:] = 0


def _train(executors: Sequence[Executor]) -> None:
    for executor in executors:
        executor.forward(is_train=True)
        executor.backward(executor.outputs)


def _results(executor: Executor, training: bool) -> dict[str, NDArray | None]:
    found: dict[str, NDArray | None] = {name: value.copy() for name, value in executor.output_dict.items()}
    if training:
        for name, gradient in executor.grad_dict.items():
            found[name] = None if gradient is None else gradient.copy()
    return found


class _Comparison:
    """Compares results of one entry with the truth, and raises or prints what differs."""

    def __init__(self, rtol: Any, atol: Any, equal_nan: bool, raise_on_err: bool) -> None:
        self.rtol = default_rtols() if rtol is None else rtol
        self.atol = default_atols() if atol is None else atol
        self.equal_nan = equal_nan
        self.raise_on_err = raise_on_err

    def __call__(
        self, phase: str, number: int, best: int, found: Mapping[str, NDArray | None],
        truth: Mapping[str, NDArray | None],
    ) -> None:
        for name, value in found.items():
            target = truth.get(name)
            if value is None or target is None:
                continue
            try:
                assert_almost_equal(value, target, self.rtol, self.atol, equal_nan=self.equal_nan)
            except AssertionError:
                print(f"{phase}: entries {number} and {best} of ctx_list differ in {name}")
                if self.raise_on_err:
                    raise
                traceback.print_exc()


def check_gluon_hybridize_consistency(
    net_builder: Any, data_l: Any, numpy_func: Any = None, test_grad: bool = True, rtol: float = 1e-4,
    atol: float = 1e-4,
) -> None:
    """Refuse: there is no Gluon here.

    Args:
        net_builder, data_l, numpy_func, test_grad, rtol, atol: what MXNet's function takes; none is looked at.

    Raises:
        MXNetError: always.
    """
    del net_builder, data_l, numpy_func, test_grad, rtol, atol
    raise refusal("test_utils/no-gluon", "there is no Gluon here, so no block to hybridize; use check_consistency")


def check_speed(
    sym: Symbol, location: Mapping[str, Any] | None = None, ctx: Context | None = None, N: int = 20,  # noqa: N803
    grad_req: Any = None, typ: str = "whole", **kwargs: Any,
) -> float:
    """Seconds that one run of a symbol takes, as the mean of ``N`` after a first one.

    Args:
        sym: the symbol.
        location: values of arguments by name; by default random ones for the shapes in ``kwargs``.
        ctx: where it runs.
        N: how often.
        grad_req: requirement of the gradients, "write" by default.
        typ: "whole" for forward and backward, "forward" for forward in evaluation.
        kwargs: shapes of inputs by name.

    Raises:
        AssertionError: ``location`` is no dict.
        ValueError: ``typ`` is something else.
    """
    if typ not in ("whole", "forward"):
        raise refusal("test_utils/speed", f'typ is "whole" or "forward", not {typ!r}', ValueError)
    if location is not None and not isinstance(location, dict):
        raise refusal("test_utils/speed", f"location is a dict of name to array, not {location!r}", AssertionError)
    ctx = ctx or default_context()
    shapes = kwargs if location is None else {name: np.shape(as_numpy(v)) for name, v in location.items()}
    executor = sym.simple_bind(ctx, grad_req="write" if grad_req is None else grad_req, **shapes)
    for name, argument in executor.arg_dict.items():
        if location is None:
            argument[:] = np.random.normal(size=argument.shape)
        elif name in location:
            argument[:] = as_numpy(location[name])

    def run() -> None:
        executor.forward(is_train=typ == "whole")
        if typ == "whole":
            executor.backward(executor.outputs)

    run()
    waitall()
    start = time.perf_counter()
    for _ in range(N):
        run()
    waitall()
    return (time.perf_counter() - start) / N
