"""Calls as nobody means them: parameters, shapes, element types and values of a valid call replaced by hostile ones."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from types import NoneType
from typing import Annotated, Any, Literal, NamedTuple, get_args, get_origin

import numpy as np

import refimpl as mx
from refimpl.kernels.foundation import Op
from refimpl.kernels.foundation.params import field_types
from refimpl.ndarray import operators
from refimpl.oracle.pages.calls import NAN, OTHER, Trial, has_gradient
from refimpl.oracle.pages.draws import Draw, example
from refimpl.oracle.pages.laws import Results, same
from refimpl.symbol.operators import call as make_symbol

from .checked import TooMuchError, checked_loops, small_arrays

INTEGERS = (
    0, -1, 1, 2, 3, 7, 100, 1000, 2**12, 2**16 + 1, 10**6, 2**31 - 1, 2**31, -(2**31), 2**32 + 1, 2**62,
    2**63 - 1, 2**63, -(2**63), -(2**63) - 1, 10**30,
)
FLOATS = (
    0.0, -0.0, -1.0, 0.5, 3.0, 1e9, -1e9, 1e-300, 5e-324, 1e300, 2.0**31, 2.0**63, float("nan"), float("inf"),
    float("-inf"),
)
TEXTS = ("", "x", "None", "float32", "int64", "bool", "(1,", "[[[]]]", "\0", "1e", "9" * 5000)
VALUES = (
    float("nan"), float("inf"), float("-inf"), 1e9, -1e9, -1.0, 0.5, -0.5, -0.0, 2.0, 5.0, 1000.0, 2.0**31, -(2.0**31),
    2.0**63, -(2.0**63), 1e30, 1e-40,
)
DTYPES = ("float32", "float64", "float16", "int32", "int64", "uint8", "int8", "bool")


class Call(NamedTuple):
    """What an operator is called with."""

    op: Op
    attrs: dict[str, Any]
    arrays: list[np.ndarray]

    def __str__(self) -> str:
        arrays = ", ".join(f"{a.dtype}{list(a.shape)} {a.reshape(-1)[:40].tolist()}" for a in self.arrays)
        return f"{self.op.name}({arrays}; {self.attrs})"


def hostile(annotation: Any, usual: Any, draw: Draw) -> Any:
    """A value that the parser may or may not take for a parameter of this type."""
    kind = annotation
    while get_origin(kind) is Annotated or NoneType in get_args(kind):
        if NoneType in get_args(kind) and draw.integer(0, 5) == 0:
            return None
        kind = get_args(kind)[0]
    if get_origin(kind) is Literal:
        return draw.choice((*get_args(kind), *get_args(kind), "x", 0))
    if get_origin(kind) is tuple:
        pool = FLOATS if float in get_args(kind) else INTEGERS
        if isinstance(usual, tuple) and usual and draw.boolean():
            at = draw.integer(0, len(usual) - 1)
            return (*usual[:at], draw.choice(pool), *usual[at + 1 :])
        small = pool if draw.boolean() else (0, 1, 2, 3, -1, -2)
        return tuple(draw.choice(small) for _ in range(draw.integer(0, 5)))
    if kind is bool:
        return draw.boolean()
    if kind is float:
        return draw.choice(FLOATS)
    if kind is str:
        return draw.choice(TEXTS)
    if isinstance(usual, int) and draw.integer(0, 3) == 0:
        return usual + draw.choice((-1, 1, 2))
    return draw.choice(INTEGERS)


def _other_shape(array: np.ndarray, draw: Draw) -> np.ndarray:
    sides = list(array.shape)
    what = draw.choice(("longer", "shorter", "one", "none", "more axes", "fewer axes", "no axes", "turned", "any"))
    at = draw.integer(0, len(sides) - 1) if sides else 0
    if what == "more axes":
        sides.insert(at, draw.choice((1, 1, 2, 3)))
    elif what == "no axes":
        sides = []
    elif what == "any" or not sides:
        sides = list(draw.shape(1, 5))
    elif what == "fewer axes":
        del sides[at]
    elif what == "turned":
        sides.reverse()
    else:
        sides[at] = {"longer": sides[at] + draw.integer(1, 3), "shorter": sides[at] - 1, "one": 1, "none": 0}[what]
    return np.resize(array, tuple(side for side in sides if side >= 0))


def _without_elements(arrays: list[np.ndarray], draw: Draw) -> list[np.ndarray]:
    """The same arrays with all sides of one length, wherever they stand, of 0."""
    found = sorted({side for array in arrays for side in array.shape})
    if not found:
        return arrays
    gone = draw.choice(found)
    return [np.resize(array, tuple(side * (side != gone) for side in array.shape)) for array in arrays]


def _other_values(array: np.ndarray, draw: Draw) -> np.ndarray:
    changed = array.copy()
    if not changed.size:
        return changed
    with np.errstate(all="ignore"):
        for _ in range(draw.integer(1, 1 + changed.size)):
            value = np.float64(draw.choice(VALUES))
            changed.reshape(-1)[draw.integer(0, changed.size - 1)] = value.astype(changed.dtype)
    return changed


def hostile_call(op: Op, draw: Draw, *, types: bool = True) -> Call:
    """A valid call of which some of the parameters, shapes, values and (with ``types``) element types are replaced."""
    of = example(op, draw)
    attrs, arrays = dict(of.params), list(of.arrays)
    fields = {name: kind for name, kind in field_types(op.params).items() if types or name != "dtype"}
    for _ in range(draw.choice((0, 0, 1, 1, 1, 2)) if fields else 0):
        name = draw.choice(sorted(fields))
        attrs[name] = hostile(fields[name], getattr(of.p, name), draw)
    if draw.boolean():
        attrs = {name: value if isinstance(value, str) else str(value) for name, value in attrs.items()}
    return Call(op, attrs, _hostile_arrays(op, arrays, draw, types=types))


def _hostile_arrays(op: Op, arrays: list[np.ndarray], draw: Draw, *, types: bool) -> list[np.ndarray]:
    """Arrays of a valid call of which some of the shapes, values and (with ``types``) element types are replaced."""
    if draw.integer(0, 7) == 0:
        arrays = _without_elements(arrays, draw)
    if arrays and draw.integer(0, 3) == 0:
        at = draw.integer(0, len(arrays) - 1)
        arrays[at] = _other_shape(arrays[at], draw)
    if types and arrays and draw.integer(0, 5) == 0:
        kind = draw.choice(DTYPES)
        which = [draw.integer(0, len(arrays) - 1)] if draw.boolean() else range(len(arrays))
        for at in which:
            arrays[at] = arrays[at].astype(kind)
    arrays = [_other_values(array, draw) if draw.boolean() else array for array in arrays]
    if arrays and op.variadic and draw.integer(0, 7) == 0:
        arrays = arrays[:-1] if draw.boolean() else [*arrays, arrays[0]]
    return arrays


def outcome(op: Op, draw: Draw, *, types: bool = True) -> str:
    """How a hostile call ended: "ran" or "refused".

    Raises:
        AssertionError: it was refused without a clause, or left its buffers.
        TooMuchError: it is too large for the bounds that are set where this is called.
    """
    call = hostile_call(op, draw, types=types)
    try:
        return (attempt_bound if draw.integer(0, 2) == 0 else attempt)(call)
    except TooMuchError:
        raise
    except Exception as error:
        raise AssertionError(f"{call}: {type(error).__name__}: {error}") from error


def stays_inside(op: Op, draw: Draw) -> None:
    """A hostile call is refused with a clause, or its loops stay inside their buffers."""
    with suppress(TooMuchError), checked_loops():
        outcome(op, draw)


def machine_code_stays_inside(op: Op, draw: Draw) -> None:
    """The same of machine code, which must have been compiled with bounds checks."""
    with suppress(TooMuchError), small_arrays():
        outcome(op, draw, types=False)


def takes_any_values(op: Op, draw: Draw) -> None:
    """Whatever stands inside the inputs of a valid call, also where there is nothing, its loops stay inside, in the
    text for either device, and write every output and gradient from nothing but the inputs.
    """
    of = example(op, draw)
    arrays = _without_elements(of.arrays, draw) if draw.integer(0, 3) == 0 else of.arrays
    of = replace(of, arrays=[_other_values(array, draw) for array in arrays])
    is_train = op.mode and draw.boolean()
    for device in ("cpu", "gpu"):
        results = []
        try:
            for poison in (NAN, OTHER):
                with checked_loops(device, poison):
                    trial = Trial(of, is_train=is_train, poison=poison)
                    found = [*trial.forward()]
                    found += trial.backward() if has_gradient(of) else []
                    results.append(found)
        except TooMuchError:
            return
        except Exception as error:
            if getattr(error, "clause", None):  # indices and matrices may be refused
                return
            raise AssertionError(f"{of} of {of.arrays}, as Python for {device}: {error}") from error
        same(*results, f"{of} of {of.arrays}: a result depends on what the memory held")


def takes_any_memory(op: Op, draw: Draw) -> None:
    """A call gives the same numbers when ``out=`` overlaps an input, and when its inputs lie on several contexts."""
    of = example(op, draw)
    if op.random:  # other numbers each time
        return

    def run(inputs: list[Any], out: Any = None) -> Results:
        made = operators.invoke(op, inputs, dict(of.params), out=out)
        return [each.asnumpy() for each in (made if isinstance(made, list) else [made])]

    def fresh() -> list[Any]:
        return [mx.nd.array(array, dtype=array.dtype) for array in of.arrays]

    with suppress(TooMuchError), checked_loops():
        expected = run(fresh())
        contexts = [mx.nd.array(a, dtype=a.dtype, ctx=mx.cpu(i % 3)) for i, a in enumerate(of.arrays)]
        same(run(contexts), expected, f"{of} on several contexts")
        for at, array in enumerate(of.arrays):
            for which, result in enumerate(expected):
                if result.dtype != array.dtype or not array.size or not result.size or op.mutates:
                    continue
                memory = mx.nd.zeros((array.size + result.size,), dtype=array.dtype)
                start = draw.integer(0, result.size)
                inputs, out = fresh(), [mx.nd.zeros(r.shape, dtype=r.dtype) for r in expected]
                inputs[at] = memory[start : start + array.size].reshape(array.shape)
                inputs[at][:] = array
                first = draw.integer(max(0, start - result.size + 1), min(start + array.size - 1, array.size))
                out[which] = memory[first : first + result.size].reshape(result.shape)
                found = run(inputs, out if len(out) > 1 else out[0])
                same(found, expected, f"{of}: output {which} overlaps input {at}")


def attempt(call: Call) -> str:
    """Run a call and its gradient as arrays do: how it ended. A refusal carries a clause; all else is raised."""
    try:
        inputs = [mx.nd.array(array, dtype=array.dtype) for array in call.arrays]
        wanted = [given for given, may in zip(inputs, _may_want(call), strict=True) if may]
        for given in wanted:
            given.attach_grad()
        with mx.autograd.record():
            results = operators.invoke(call.op, inputs, dict(call.attrs))
        results = results if isinstance(results, list) else [results]
        for result in results:
            result.asnumpy()
        if wanted and call.op.has_gradient:
            mx.autograd.backward(results)
            for given in wanted:
                given.grad.asnumpy()
    except Exception as error:  # noqa: BLE001  # what has no clause is raised again
        return _ended(error)
    return "ran"


def attempt_bound(call: Call) -> str:
    """The same in a graph that was written to a file and read again."""
    try:
        variables = [mx.sym.Variable(f"x{i}") for i in range(len(call.arrays))]
        net = mx.sym.load_json(make_symbol(call.op, call.op.name, variables, call.attrs, "net").tojson())
        arrays = {f"x{i}": mx.nd.array(array, dtype=array.dtype) for i, array in enumerate(call.arrays)}
        wanted = {f"x{i}": may for i, may in enumerate(_may_want(call))}
        arguments = {name: arrays[name] for name in net.list_arguments() if name in arrays}
        gradients = {name: mx.nd.zeros(a.shape, dtype=a.dtype) for name, a in arguments.items() if wanted[name]}
        states = {name: arrays[name] for name in net.list_auxiliary_states() if name in arrays}
        executor = net.bind(mx.cpu(), arguments, gradients, "write" if gradients else "null", states)
        for output in executor.forward(is_train=True):
            output.asnumpy()
        if gradients:
            executor.backward([mx.nd.ones(o.shape, dtype=o.dtype) for o in executor.outputs])
            for gradient in gradients.values():
                gradient.asnumpy()
    except Exception as error:  # noqa: BLE001  # what has no clause is raised again
        return _ended(error)
    return "ran"


def _may_want(call: Call) -> list[bool]:
    """Which arrays may be asked for a gradient."""
    names = [None] * len(call.arrays) if call.op.variadic else call.op.all_inputs
    names = [*names, *[None] * len(call.arrays)]
    return [name not in call.op.refuses_gradient for name, _ in zip(names, call.arrays, strict=False)]


def _ended(error: Exception) -> str:
    if getattr(error, "clause", None) is None:
        raise error
    return "refused"
