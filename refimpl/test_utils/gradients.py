"""Checks of a symbol: its outputs and gradients against expected ones, or against differences of its outputs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..base import decides, refusal
from ..context import Context
from ..executor import Executor
from ..ndarray import NDArray, array
from ..symbol import Symbol, Variable, make_loss
from .compare import as_numpy, assert_almost_equal
from .surroundings import default_context
from .tolerance import Tolerance, default_numeric_eps

Values = Mapping[str, Any] | Sequence[Any]
Arrays = dict[str, NDArray]

_FLOATS = (np.float16, np.float32, np.float64)


# --- what is given ---------------------------------------------------------------------------------------


def _require_float(dtype: Any) -> None:
    if dtype not in _FLOATS:
        raise refusal(
            "test_utils/real-type", f"dtype must be float16, float32 or float64, got {dtype}", AssertionError
        )


def _as_array(value: Any, ctx: Context, dtype: Any) -> NDArray:
    if isinstance(value, NDArray):
        return value
    values = np.asarray(value)
    return array(values, ctx=ctx, dtype=values.dtype if dtype == "asnumpy" else dtype)


def _parse_location(sym: Symbol, location: Any, ctx: Context, dtype: Any) -> Arrays:
    """The values of all arguments by name."""
    names = sym.list_arguments()
    if isinstance(location, dict):
        if set(location) != set(names):
            raise refusal(
                "test_utils/location", "location names other arguments than the symbol: the"
                f" symbol has {sorted(names)}, the location {sorted(location)}", ValueError,
            )
        given = location
    else:
        if not isinstance(location, (list, tuple)):
            raise refusal(
                "test_utils/location", f"location must be a dict or a list of arrays, got {location!r}",
                AssertionError,
            )
        if len(location) != len(names):
            raise refusal(
                "test_utils/location", f"the symbol has {len(names)} arguments {names}, the location"
                f" {len(location)} values", ValueError,
            )
        given = dict(zip(names, location, strict=True))
    return {name: _as_array(given[name], ctx, dtype) for name in names}


def _parse_aux_states(sym: Symbol, aux_states: Any, ctx: Context, dtype: Any) -> Arrays:
    """The values of all auxiliary states by name; none are given when there are none."""
    names = sym.list_auxiliary_states()
    given: dict[str, Any] = {}
    if isinstance(aux_states, dict):
        given = aux_states
    elif aux_states is not None:
        given = dict(zip(names, aux_states, strict=False))
    missing = [name for name in names if name not in given]
    if missing or (isinstance(aux_states, dict) and set(aux_states) - set(names)):
        raise refusal(
            "test_utils/aux-states", f"the symbol has the auxiliary states {names}, given are"
            f" {list(given)}", ValueError,
        )
    return {name: _as_array(given[name], ctx, dtype) for name in names}


def _requirements(grad_req: Any, names: Sequence[str]) -> dict[str, str]:
    """What is done with each gradient: from one word, a word per argument, or words by name."""
    if isinstance(grad_req, str):
        return dict.fromkeys(names, grad_req)
    if isinstance(grad_req, (list, tuple)):
        return dict(zip(names, grad_req, strict=True))
    return {name: grad_req.get(name, "null") for name in names}


def _random_like(values: Arrays, stypes: Mapping[str, str]) -> Arrays:
    """Standard normal arrays of the shapes and types of ``values``: what gradients hold before backward."""
    made = {}
    for name, value in values.items():
        noise = np.random.normal(size=value.shape)
        start = array(noise, ctx=value.context, dtype=value.dtype)
        made[name] = start.tostype(stypes[name]) if stypes.get(name, "default") != "default" else start
    return made


def _by_name(kind: str, values: Any, names: Sequence[str]) -> dict[str, Any]:
    """Expected values by name; a list belongs to the first names."""
    if isinstance(values, Mapping):
        unknown = sorted(set(values) - set(names))
        if unknown:
            raise refusal("test_utils/expected", f"{kind} {unknown} are expected, there are {list(names)}", KeyError)
        return dict(values)
    given = [values] if isinstance(values, (np.ndarray, NDArray)) else list(values)
    if len(given) > len(names):
        raise refusal(
            "test_utils/expected", f"{len(given)} {kind} are expected, there are {len(names)}: {list(names)}",
            AssertionError,
        )
    return dict(zip(names, given, strict=False))


# --- running and comparing -----------------------------------------------------------------------------------


def simple_forward(sym: Symbol, ctx: Context | None = None, is_train: bool = False, **inputs: Any) -> Any:
    """Outputs of a symbol for NumPy inputs by name, as NumPy arrays: a list, or the array for one output.

    Raises:
        ValueError: an argument is missing.
    """
    ctx = ctx or default_context()
    executor = sym.bind(ctx, args={name: array(value) for name, value in inputs.items()})
    outputs = [output.asnumpy() for output in executor.forward(is_train=is_train)]
    return outputs[0] if len(outputs) == 1 else outputs


def check_symbolic_forward(
    sym: Symbol, location: Values, expected: Any, rtol: Tolerance | None = None, atol: Tolerance | None = None,
    aux_states: Any = None, ctx: Context | None = None, equal_nan: bool = False, dtype: Any = np.float32,
) -> list[NDArray]:
    """Compare the outputs of a symbol, in evaluation, with ``expected`` ones; returns them.

    Args:
        sym: the symbol.
        location: values of the arguments, by name or in order.
        expected: outputs by name, or a list of the first ones.
        rtol, atol, equal_nan: see :func:`assert_almost_equal`.
        aux_states: values of the auxiliary states, by name or in order.
        ctx: where it runs.
        dtype: type of the NumPy values given; "asnumpy" keeps theirs.

    Raises:
        AssertionError: they differ, or more outputs are expected than there are.
        ValueError: arguments and values do not match.
        KeyError: an expected output does not exist.
    """
    if dtype != "asnumpy":
        _require_float(dtype)
    ctx = ctx or default_context()
    executor = sym.bind(
        ctx, args=_parse_location(sym, location, ctx, dtype),
        aux_states=_parse_aux_states(sym, aux_states, ctx, dtype),
    )
    names = sym.list_outputs()
    wanted = _by_name("outputs", expected, names)
    outputs = executor.forward(is_train=False)
    for name, output in zip(names, outputs, strict=True):
        if name in wanted:
            assert_almost_equal(
                wanted[name], output, rtol, atol, (f"EXPECTED_{name}", f"FORWARD_{name}"), equal_nan
            )
    return list(outputs)


def check_symbolic_backward(
    sym: Symbol, location: Values, out_grads: Any, expected: Any, rtol: Tolerance | None = None,
    atol: Tolerance | None = None, aux_states: Any = None, grad_req: Any = "write",
    ctx: Context | None = None, grad_stypes: Any = None, equal_nan: bool = False, dtype: Any = np.float32,
) -> Arrays:
    """Compare the gradients of a symbol, in training, with ``expected`` ones; returns their arrays.

    ``sym``, ``location``, ``rtol``, ``atol``, ``aux_states``, ``ctx``, ``equal_nan`` and ``dtype`` are those of
    :func:`check_symbolic_forward`.

    Args:
        out_grads: head gradients, by the name of the output or in order; None for losses.
        expected: gradients by the name of the argument, or a list of the first ones. For an argument
            whose requirement is "null" the array must stay as it was, whatever is expected; for "add"
            the gradient must have been added to it.
        grad_req: a requirement, one per argument, or a dict by name.
        grad_stypes: storage types of the gradients, by name or in order.

    Raises:
        AssertionError: they differ, or ``out_grads`` is neither list, dict nor None.
        ValueError: arguments and values do not match.
        KeyError: an expected gradient does not exist, or a head gradient is missing.
    """
    if dtype != "asnumpy":
        _require_float(dtype)
    ctx = ctx or default_context()
    values = _parse_location(sym, location, ctx, dtype)
    names = sym.list_arguments()
    wanted = _by_name("gradients", expected, names)
    stypes = _by_name("storage types", grad_stypes or {}, names)
    gradients = _random_like({name: values[name] for name in names if name in wanted}, stypes)
    before = {name: gradient.asnumpy() for name, gradient in gradients.items()}
    requirements = {
        name: word if name in wanted else "null" for name, word in _requirements(grad_req, names).items()
    }
    executor = sym.bind(
        ctx, args=values, args_grad=gradients, grad_req=requirements,
        aux_states=_parse_aux_states(sym, aux_states, ctx, dtype),
    )
    executor.forward(is_train=True)
    executor.backward(_heads(sym, out_grads, ctx, dtype))
    for name, target in wanted.items():
        found = gradients[name].asnumpy()
        due = as_numpy(target)
        if requirements[name] == "null":
            due = before[name]
        elif requirements[name] == "add":
            found = found - before[name]
        assert_almost_equal(
            due, found, rtol, atol, (f"EXPECTED_{name}", f"BACKWARD_{name}"), equal_nan
        )
    return gradients


def _heads(sym: Symbol, out_grads: Any, ctx: Context, dtype: Any) -> Any:
    if out_grads is None:
        return None
    if isinstance(out_grads, dict):
        missing = [name for name in sym.list_outputs() if name not in out_grads]
        if missing:
            raise refusal(
                "test_utils/expected", f"the head gradient of {missing[0]} is missing, given are"
                f" {list(out_grads)}", KeyError,
            )
        out_grads = [out_grads[name] for name in sym.list_outputs()]
    if not isinstance(out_grads, (list, tuple)):
        raise refusal(
            "test_utils/head-gradients",
            f"out_grads must be a list, a dict by output name or None, got {type(out_grads).__name__}",
            AssertionError,
        )
    return [_as_array(head, ctx, dtype) for head in out_grads]


# --- differences ------------------------------------------------------------------------------------------


def numeric_grad(
    executor: Executor, location: Mapping[str, Any], aux_states: Mapping[str, Any] | None = None,
    eps: float = 1e-4, use_forward_train: bool = True, dtype: Any = np.float32,
) -> dict[str, np.ndarray]:
    """Gradient of the sum of the first output by central differences: (f(x + eps/2) - f(x - eps/2)) / eps.

    Args:
        executor: a bound graph; its arguments end as they are in ``location``.
        location: NumPy arrays by name: the point, and which arguments are differentiated.
        aux_states: auxiliary states that every forward starts from.
        eps: the step.
        use_forward_train: run forward as in training.
        dtype: of the result: float16, float32 or float64.

    Returns:
        Gradients by name, shaped like the arguments.

    Raises:
        AssertionError: ``dtype`` is no such type.
    """
    _require_float(dtype)
    points = {name: np.array(as_numpy(value)) for name, value in location.items()}
    arguments, states = executor.arg_dict, executor.aux_dict
    for name, point in points.items():
        arguments[name][:] = point

    def value_at(name: str, point: np.ndarray) -> np.ndarray:
        arguments[name][:] = point
        for state, value in (aux_states or {}).items():
            states[state][:] = as_numpy(value)
        return executor.forward(is_train=use_forward_train)[0].asnumpy().astype(np.float64)

    gradients = {}
    for name, point in points.items():
        slopes = np.zeros(point.shape, dtype)
        if np.issubdtype(point.dtype, np.floating):
            for place in np.ndindex(point.shape):
                middle = point[place]
                point[place] = middle + eps / 2
                above = value_at(name, point)
                point[place] = middle - eps / 2
                below = value_at(name, point)
                point[place] = middle
                slopes[place] = (above - below).sum() / eps
            arguments[name][:] = point
        gradients[name] = slopes
    return gradients


@decides("test_utils/numeric-gradient")
def check_numeric_gradient(
    sym: Symbol, location: Values, aux_states: Any = None, numeric_eps: float | None = None,
    rtol: Tolerance | None = None, atol: Tolerance | None = None, grad_nodes: Any = None,
    use_forward_train: bool = True, ctx: Context | None = None, grad_stype_dict: Mapping[str, str] | None = None,
    dtype: Any = np.float32,
) -> None:
    """Compare the gradients of a symbol with one output with differences of that output.

    The output is multiplied by random numbers, so that no element can hide another; the differences of its
    elements are summed.

    Args:
        sym: the symbol.
        location: values of the arguments, by name or in order.
        aux_states: values of the auxiliary states, by name or in order.
        numeric_eps: step of the differences; by default 2**-6, 2**-9 or 2**-14, by ``dtype``.
        rtol, atol: see :func:`assert_almost_equal`.
        grad_nodes: names of the arguments to check, or their requirements by name; by default all,
            written.
        use_forward_train: take differences of outputs as in training.
        ctx: where it runs.
        grad_stype_dict: storage types of gradients by name.
        dtype: type of the NumPy values given, and of the differences.

    Raises:
        AssertionError: they differ; NUMERICAL is the difference, BACKWARD the symbol's gradient.
        ValueError: arguments and values do not match, or ``grad_nodes`` is neither list nor dict.
        KeyError: ``grad_nodes`` names what is no argument.
        MXNetError: the symbol has several outputs.
    """
    _require_float(dtype)
    ctx = ctx or default_context()
    values = _parse_location(sym, location, ctx, dtype)
    states = _parse_aux_states(sym, aux_states, ctx, dtype)
    requirements = _nodes(sym, grad_nodes)
    if len(sym.list_outputs()) != 1:
        raise refusal(
            "test_utils/one-output", f"numeric gradients are taken of one output, not of {sym.list_outputs()};"
            " check them one by one, as symbol[0]",
        )
    _, shapes, _ = sym.infer_shape(**{name: value.shape for name, value in values.items()})
    assert shapes is not None
    weight = 0.1 + np.random.rand(*shapes[0])
    projection = _as_array(weight, ctx, dtype)
    loss = make_loss(sym * Variable("__random_proj"))
    gradients = _random_like({name: values[name] for name in requirements}, grad_stype_dict or {})
    before = {name: gradient.asnumpy() for name, gradient in gradients.items()}
    point = {name: values[name].asnumpy() for name in requirements}
    start = {name: state.asnumpy() for name, state in states.items()}
    executor = loss.bind(
        ctx, args={**values, "__random_proj": projection}, args_grad=gradients, grad_req=requirements,
        aux_states=states,
    )
    executor.forward(is_train=True)
    executor.backward()
    eps = default_numeric_eps()[np.dtype(dtype)] if numeric_eps is None else numeric_eps
    numeric = numeric_grad(executor, point, start, eps, use_forward_train, dtype)
    for name, word in requirements.items():
        found, due = gradients[name].asnumpy(), numeric[name]
        if word == "null":
            due = before[name]
        elif word == "add":
            found = found - before[name]
        assert_almost_equal(due, found, rtol, atol, (f"NUMERICAL_{name}", f"BACKWARD_{name}"))


def _nodes(sym: Symbol, grad_nodes: Any) -> dict[str, str]:
    """The arguments to check, and what is done with their gradients."""
    names = sym.list_arguments()
    if grad_nodes is None:
        return dict.fromkeys(names, "write")
    if not isinstance(grad_nodes, (list, tuple, dict)):
        raise refusal(
            "test_utils/grad-nodes", f"grad_nodes must be names or a dict of requirements, got {grad_nodes!r}",
            ValueError,
        )
    unknown = [name for name in grad_nodes if name not in names]
    if unknown:
        raise refusal(
            "test_utils/grad-nodes", f"{unknown} are no arguments of the symbol, which has {names}", KeyError
        )
    return dict(grad_nodes) if isinstance(grad_nodes, dict) else dict.fromkeys(grad_nodes, "write")
