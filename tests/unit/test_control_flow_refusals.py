"""What loops and branches refuse, with the exception types of MXNet 1.9.1."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import refimpl as mx

ND, SYM = mx.nd.contrib, mx.sym.contrib
x, s, w = mx.sym.Variable("x"), mx.sym.Variable("s"), mx.sym.Variable("w")
ROWS, ZERO = mx.nd.ones((3, 2)), mx.nd.zeros(2)
i = mx.nd.array([0])


def add(row: Any, state: Any) -> Any:
    """A body without fault."""
    return row + state, state + row


def below(count: Any) -> Any:
    """A condition without fault."""
    return count < 3


def loop(func: Callable, variables: Any, cond: Callable = below) -> Any:
    """A while loop of the kind that the variables are."""
    first = variables[0] if isinstance(variables, list) else variables
    return (SYM if isinstance(first, mx.sym.Symbol) else ND).while_loop(cond, func, variables, max_iterations=5)


CALLS: dict[str, tuple[str, type, str, Callable[[], Any]]] = {
    "nd data": ("control-flow/nested", AssertionError, "foreach input", lambda: ND.foreach(add, 3, ZERO)),
    "nd states": ("control-flow/nested", AssertionError, "foreach states", lambda: ND.foreach(add, ROWS, 3)),
    "nd output": ("control-flow/nested", AssertionError, "foreach output",
                  lambda: ND.foreach(lambda row, t: (None, t), ROWS, ZERO)),
    "nd no rows": ("control-flow/rows", mx.MXNetError, "1 or more",
                   lambda: ND.foreach(add, mx.nd.array([]).reshape((0,)), ZERO)),
    "nd rows": ("control-flow/rows", mx.MXNetError, "one number of rows",
                lambda: ND.foreach(lambda rows, t: (rows[0], t), [ROWS, ZERO], ZERO)),
    "nd most": ("control-flow/max-iterations", ValueError, "should be specified",
                lambda: ND.while_loop(below, lambda i: (i, i + 1), i)),
    "nd most text": ("control-flow/scalar", ValueError, "Cannot convert max_iteration to python int",
                     lambda: ND.while_loop(below, lambda i: (i, i + 1), i, "many")),
    "nd no variables": ("control-flow/loop-vars", ValueError, "at least one",
                        lambda: ND.while_loop(below, lambda: (i, i), [], 3)),
    "nd variables": ("control-flow/loop-vars", ValueError, "consistent during the loop",
                     lambda: loop(lambda i, j: (i, i + 1), [i, i], lambda i, j: i < 3)),
    "nd outputs": ("control-flow/step-outputs", ValueError, "1 at first, then 2",
                   lambda: loop(lambda i: ([i] * int(i.asscalar() + 1), i + 1), [i])),
    "nd condition": ("NDArray/asscalar", ValueError, "not a scalar",
                     lambda: loop(lambda i: (i, i + 1), [i], lambda i: ROWS)),
    "nd cond": ("NDArray/asscalar", ValueError, "not a scalar", lambda: ND.cond(ROWS, list, list)),
    "nd mask axis": ("boolean_mask/axis", mx.MXNetError, "axis must be 0",
                     lambda: ND.boolean_mask(ROWS, ZERO, axis=1)),
    "nd mask length": ("boolean_mask/index", mx.MXNetError, "an element per row",
                       lambda: ND.boolean_mask(ROWS, ZERO)),
    "nd mask rank": ("boolean_mask/index", mx.MXNetError, "an element per row", lambda: ND.boolean_mask(ROWS, ROWS)),
    "mask": ("boolean_mask/graph", mx.MXNetError, "no shape before it runs", lambda: SYM.boolean_mask(x, s)),
    "zipfian": ("Symbol/input-type", AssertionError, "unexpected type", lambda: SYM.rand_zipfian(3, 4, 5)),
    "data": ("control-flow/nested", AssertionError, "foreach input", lambda: SYM.foreach(add, 3, s)),
    "states": ("control-flow/nested", AssertionError, "foreach states", lambda: SYM.foreach(add, x, [3])),
    "output": ("control-flow/nested", AssertionError, "foreach output",
               lambda: SYM.foreach(lambda row, t: (3, t), x, s)),
    "unused data": ("control-flow/used", AssertionError, "the data arrays have to be used",
                    lambda: SYM.foreach(lambda row, t: (t, t + 1), x, s)),
    "unused state": ("control-flow/used", AssertionError, "the state arrays have to be used",
                     lambda: SYM.foreach(lambda row, t: (row, row + 1), x, s)),
    "form": ("control-flow/state-form", AssertionError, "different format",
             lambda: SYM.foreach(lambda row, t: (row, [t]), x, s)),
    "nothing": ("control-flow/no-output", TypeError, "Expected a list of symbols",
                lambda: SYM.foreach(lambda row, t: ([], []), x, [])),
    "names": ("control-flow/unique-names", AssertionError, "don't have unique names",
              lambda: SYM.foreach(lambda rows, t: (rows[0] + rows[1], t), [x, x], s)),
    "names of data and state": ("control-flow/unique-names", AssertionError, "don't have unique names",
                                lambda: SYM.foreach(add, x, x)),
    "most": ("control-flow/max-iterations", ValueError, "should be specified",
             lambda: SYM.while_loop(below, lambda i: (i, i + 1), x)),
    "most 0": ("params/bad-value", mx.MXNetError, "max_iterations",
               lambda: SYM.while_loop(below, lambda i: (i, i + 1), x, 0)),
    "no variables": ("control-flow/loop-vars", ValueError, "at least one",
                     lambda: SYM.while_loop(below, lambda: (x, x), [], 3)),
    "variables": ("control-flow/loop-vars", ValueError, "consistent during the loop",
                  lambda: loop(lambda i, j: (i, i + 1), [x, s], lambda i, j: i < 3)),
    "unused variable": ("control-flow/used", ValueError, "The 2-th loop_var",
                        lambda: loop(lambda i, j: ([i], [i + 1, i]), [x, s], lambda i, j: i < 3)),
    "condition": ("control-flow/condition-symbol", ValueError, "Return of cond must be a Symbol",
                  lambda: loop(lambda i: (i, i + 1), x, lambda i: True)),
    "branches": ("control-flow/branch-outputs", ValueError, "differs between then-branch and else-branch",
                 lambda: SYM.cond(x, lambda: [x, x], lambda: x)),
    "two conditions": ("control-flow/condition-symbol", ValueError, "single output",
                       lambda: SYM.cond(mx.sym.Group([x, s]), lambda: x, lambda: x)),
    "branch": ("control-flow/nested", AssertionError, "cond outputs", lambda: SYM.cond(x, lambda: 3, lambda: 3)),
    "rows": ("control-flow/rows", mx.MXNetError, "one number of rows",
             lambda: SYM.foreach(lambda rows, t: (rows[0] + rows[1], t), [x, w], s)[0].infer_shape(
                 x=(3, 2), w=(4, 2), s=(2,))),
    "vector": ("control-flow/condition", mx.MXNetError, "must have one element",
               lambda: loop(lambda i: (i, i + 1), x)[0].infer_shape(x=(2,))),
    "cond vector": ("control-flow/condition", mx.MXNetError, "must have one element",
                    lambda: SYM.cond(x, lambda: s, lambda: w).infer_shape(x=(2,), s=(1,), w=(1,))),
    "branch shapes": ("identity/shape", mx.MXNetError, "_cond",
                      lambda: SYM.cond(x, lambda: s, lambda: w).infer_shape(x=(1,), s=(2,), w=(3,))),
    "one value, two shapes": (
        "control-flow/shape", mx.MXNetError, "Shape inconsistent",
        lambda: SYM.foreach(lambda row, t: (row + t[1], [t[0] + 1] * 2), x, [s, w])[1][0].infer_shape(
            x=(3, 2), s=(1,), w=(2,))),
    "type of a state": (
        "control-flow/type", mx.MXNetError, "float64",
        lambda: SYM.foreach(lambda row, t: (row, t.astype("float64")), x, s)[1].infer_type(s="float32")),
}


@pytest.mark.clause(*sorted({clause for clause, *_ in CALLS.values()}))
@pytest.mark.parametrize(("clause", "kind", "match", "call"), CALLS.values(), ids=CALLS)
def test_refusals(clause: str, kind: type[Exception], match: str, call: Callable[[], Any]) -> None:
    with pytest.raises(kind, match=match) as caught:
        call()
    assert caught.value.clause == clause  # type: ignore[attr-defined]  # every refusal has one


@pytest.mark.clause("contract/known-operator")
def test_a_file_with_boolean_mask_is_refused() -> None:
    text = mx.sym.broadcast_add(x, s).tojson().replace('"broadcast_add"', '"_contrib_boolean_mask"', 1)
    with pytest.raises(mx.MXNetError, match=r"_contrib_boolean_mask .*not implemented"):
        mx.sym.load_json(text)


@pytest.mark.clause("control-flow/known-shapes")
def test_a_value_of_unknown_shape_in_the_body_is_refused() -> None:
    def body(row: Any, state: Any) -> Any:
        return row + mx.sym.size_array(mx.sym.zeros(shape=(0,))).astype("float32"), state

    executor = SYM.foreach(body, x, s)[0].bind(mx.cpu(), {"x": mx.nd.ones((3, 1)), "s": ZERO})
    with pytest.raises(mx.MXNetError, match="cannot be inferred from the inputs"):
        executor.forward()[0].asnumpy()


@pytest.mark.clause("gradient/differentiable")
def test_a_gradient_that_the_body_does_not_have_is_refused() -> None:
    net = SYM.foreach(lambda row, t: (mx.sym.khatri_rao(row, row), t), x, s)[0]
    executor = net.bind(mx.cpu(), {"x": mx.nd.ones((3, 1, 2)), "s": ZERO}, args_grad={"x": mx.nd.zeros((3, 1, 2))})
    executor.forward(is_train=True)
    with pytest.raises(mx.MXNetError, match="non-differentiable"):
        executor.backward(mx.nd.ones((3, 1, 2)))
        executor.grad_dict["x"].asnumpy()


@pytest.mark.clause("Embedding/data-gradient")
def test_a_gradient_that_a_page_refuses_is_refused_inside() -> None:
    def body(row: Any, state: Any) -> Any:
        return mx.sym.Embedding(row, weight=w, input_dim=2, output_dim=2), state

    net = SYM.foreach(body, x, s)[0]
    values = {"x": mx.nd.zeros((3, 2)), "s": ZERO, "w": mx.nd.ones((2, 2))}
    executor = net.bind(mx.cpu(), values, args_grad={"x": mx.nd.zeros((3, 2))})
    executor.forward(is_train=True)
    with pytest.raises(mx.MXNetError, match="no gradient for input data"):
        executor.backward(mx.nd.ones((3, 2, 2)))
        executor.grad_dict["x"].asnumpy()


@pytest.mark.clause("control-flow/gradient")
def test_the_gradient_of_a_node_has_no_gradient() -> None:
    op = mx.cached_op.CachedOp(SYM.foreach(lambda row, t: (row * row * t, t), x, s)[0])
    data, state = mx.nd.array([[1, 2]]), mx.nd.array([3, 4])
    data.attach_grad()

    def slope(run: Callable[..., Any]) -> Any:
        with mx.autograd.record():
            return mx.autograd.grad(run(data, state), [data], create_graph=True)[0]

    slope(lambda a, t: ND.foreach(lambda row, t: (row * row * t, t), a, t)[0]).backward()
    assert data.grad.asnumpy().tolist() == [[6, 8]]
    with pytest.raises(mx.MXNetError, match=r"_backward__foreach .* is non-differentiable"):
        slope(op).backward()
