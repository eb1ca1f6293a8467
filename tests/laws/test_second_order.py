"""Gradients of gradients: pages that spell their gradient twice say the same, and it can be differentiated."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import refimpl as mx
from refimpl.kernels import distinct, get
from refimpl.kernels.foundation import Op, as_buffer
from refimpl.ndarray import NDArray, dense
from refimpl.oracle.pages.calls import Trial, gradient_inputs
from refimpl.oracle.pages.draws import Draw, Example, SeededDraw, example
from refimpl.oracle.pages.laws import Results, near
from refimpl.oracle.strategies import HypothesisDraw

TWICE = [op.name for op in distinct() if op.backward is not None and op.gradient is not None]
COMPOSED = [op.name for op in distinct() if op.gradient is not None and op.differentiable and not op.random]

# MXNet 1.9.1 differentiates these twice; found by asking each of its operators for
#     g = autograd.grad(y, x, head_grads=h, create_graph=True)[0]; g.backward(k)
# It has no other: "Operator _backward_dot is non-differentiable because it didn't register FGradient attribute."
MXNET_TWICE = """
    abs reciprocal sqrt rsqrt cbrt rcbrt square exp expm1 log log1p log2 log10 sigmoid relu sin cos tan arcsin
    arccos arctan sinh cosh tanh arcsinh arccosh arctanh radians FullyConnected clip Dropout
""".split()


def composed(trial: Trial) -> Results:
    """Gradients by the page's composition, zeros where it says none."""
    of = trial.of
    heads = [as_buffer(values, trial.device) for values in trial.heads()]
    ins, outs = [g.buffer for g in trial.ins], [g.buffer for g in trial.outs]
    assert of.op.gradient is not None
    parts = of.op.gradient(trial._make, of.p, heads, ins, outs)  # as Trial.backward does
    return [np.zeros(b.shape, b.dtype) if e is None else e.to_numpy() for b, e in zip(ins, parts, strict=True)]


def says_the_same(op: Op, draw: Draw, dtype: str) -> None:
    """``backward`` and ``gradient`` agree to 64 units in the last place of the largest number.

    Not where an input is NaN, which a comparison passes by and a product with 0 does not.
    """
    of = example(op, draw, dtype)
    numbers = [np.where(a != a, a.dtype.type(1), a) if a.dtype.kind == "f" else a for a in of.arrays]
    of = Example(op, of.p, of.params, numbers)
    trial = Trial(of, is_train=True)
    trial.forward()
    by_loops = trial.backward()
    by_operators = [
        found if wanted is not None else None
        for found, wanted in zip(composed(trial), by_loops, strict=True)
    ]
    near(by_operators, by_loops, 64 * float(np.finfo(dtype).eps), of)


@pytest.mark.heavy
@pytest.mark.parametrize("name", TWICE)
@given(data=st.data())
def test_composition_is_backward(name: str, data: st.DataObject) -> None:
    says_the_same(get(name), HypothesisDraw(data.draw), "float32")
    says_the_same(get(name), HypothesisDraw(data.draw), "float64")


# --- the gradient of the gradient ----------------------------------------------------------------


def second_gradients(of: Example, heads: Sequence[np.ndarray], weights: Results) -> list[np.ndarray]:
    """Gradients, towards every input, of the weighed sum of the gradients."""
    inputs = [mx.nd.array(a, dtype=a.dtype) for a in of.arrays]
    wanted = [array for array, can in zip(inputs, smooth_inputs(of), strict=True) if can]
    for array in wanted:
        array.attach_grad()
    with mx.autograd.record():
        outputs = dense.execute(of.op, of.p, {}, inputs, mx.cpu())
        outputs = outputs if isinstance(outputs, list) else [outputs]
        grads = mx.autograd.grad(
            outputs, wanted, [mx.nd.array(h, dtype=h.dtype) for h in heads], create_graph=True
        )
        given = [mx.nd.array(w, dtype=w.dtype) for w in weights if w is not None]
        alive = [(g, w) for g, w in zip(grads, given, strict=True) if depends(g)]
    # the inputs themselves, weighed by 0: where all gradients are constant there would be nothing to differentiate
    none = [mx.nd.zeros(array.shape, dtype=array.dtype) for array in wanted]
    mx.autograd.backward([*[g for g, _ in alive], *wanted], [*[w for _, w in alive], *none])
    return [array.grad.asnumpy() for array in wanted]


def depends(array: NDArray) -> bool:
    """Whether an array is on the tape at all: gradients that are constant are not."""
    return array._place is not None and array._place.record is not None


def smooth_inputs(of: Example) -> list[bool]:
    return [
        can and name not in of.op.no_gradient
        for name, can in zip(of.names, gradient_inputs(of), strict=True)
    ]


def second_is_slope(op: Op, draw: Draw) -> None:
    """In float64 the second gradient along a direction is the slope of the weighed first gradients."""
    of = example(op, draw, "float64", smooth=True)
    wanted = smooth_inputs(of)
    if not any(wanted):
        return
    trial = Trial(of)
    trial.forward()
    heads = trial.heads()
    values = np.random.default_rng(draw.integer(0, 9999))
    weights = [
        values.uniform(-1, 1, a.shape) if can else None for a, can in zip(of.arrays, wanted, strict=True)
    ]
    claims = iter(second_gradients(of, heads, weights))
    step = 1e-6
    for index, (array, can) in enumerate(zip(of.arrays, wanted, strict=True)):
        if not can:
            continue
        claimed = next(claims)
        direction = values.uniform(0.5, 1.0, array.shape) * values.choice((-1, 1), array.shape)
        ahead, behind = (
            weighed_gradients(moved(of, index, sign * step * direction), weights) for sign in (1, -1)
        )
        slope, claim = (ahead - behind) / (2 * step), float((claimed * direction).sum())
        scale = 1.0 + abs(slope) + np.abs(claimed).sum() * 0.01
        assert abs(slope - claim) < 1e-4 * scale, f"{of}, input {index}: {claim}, the gradients say {slope}"


def moved(of: Example, index: int, by: np.ndarray) -> Example:
    arrays = list(of.arrays)
    arrays[index] = arrays[index] + by
    return Example(of.op, of.p, of.params, arrays)


def weighed_gradients(of: Example, weights: Results) -> float:
    trial = Trial(of)
    trial.forward()
    return sum(
        float((gradient * weight).sum())
        for gradient, weight in zip(trial.backward(), weights, strict=True)
        if weight is not None and gradient is not None
    )


@pytest.mark.heavy
@pytest.mark.parametrize("name", COMPOSED)
def test_second_gradient_is_slope(name: str) -> None:
    for seed in range(6):
        second_is_slope(get(name), SeededDraw(seed))


@pytest.mark.clause("autograd/second-order")
def test_whatever_mxnet_differentiates_twice_is_differentiated_twice() -> None:
    assert [name for name in MXNET_TWICE if get(name).gradient is None] == []


# --- third order ---------------------------------------------------------------------------------

POINT = 0.75
# third derivatives at POINT, by hand
THIRD: dict[str, tuple[Callable[[NDArray], NDArray], float]] = {
    "exp": (lambda x: x.exp(), 2.117000016612675),  # exp(x)
    "sin": (lambda x: x.sin(), -0.7316888688738209),  # -cos(x)
    "x**3": (lambda x: x**3, 6.0),
    "x*x*x": (lambda x: x * x * x, 6.0),
    "1/x": (lambda x: 1 / x, -18.962962962962962),  # -6 / x**4
    "log": (lambda x: x.log(), 4.7407407407407405),  # 2 / x**3
    "dot": (lambda x: mx.nd.dot(mx.nd.dot(x, x), x), 6.0),
}


@pytest.mark.parametrize("name", THIRD)
def test_third_gradient(name: str) -> None:
    function, expected = THIRD[name]
    x = mx.nd.array([[POINT]], dtype="float64")
    x.attach_grad()
    with mx.autograd.record():
        value = function(x)
        for _ in range(2):
            (value,) = mx.autograd.grad(value, x, create_graph=True)
    value.backward()
    assert abs(x.grad.asscalar() - expected) < 1e-12


def test_a_square_has_no_third_gradient_even_at_zero() -> None:
    x = mx.nd.array([0.0])
    x.attach_grad()
    with mx.autograd.record():
        (first,) = mx.autograd.grad(x**2, x, create_graph=True)
        (second,) = mx.autograd.grad(first, x, create_graph=True)
    mx.autograd.backward([second, x], [None, mx.nd.zeros((1,))])  # second alone is a constant
    assert (first.asscalar(), second.asscalar(), x.grad.asscalar()) == (0.0, 2.0, 0.0)


@pytest.mark.clause("multilinear/shape")
def test_the_gradient_of_a_linear_operator_has_the_shape_of_its_input() -> None:
    with pytest.raises(mx.MXNetError) as caught:
        get("_backward_sum").infer(get("sum").parse({}), [(1,), (2, 3)], [(3, 2)])
    assert caught.value.clause == "multilinear/shape"
