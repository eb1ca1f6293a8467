"""What autograd refuses, one row each: the clause, MXNet's exception type, what the message must say."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import refimpl as mx
from refimpl import autograd as ag
from refimpl.ndarray import NDArray

from .test_autograd import variable

nd = mx.nd


class Plain(ag.Function):
    def forward(self, a: NDArray, b: NDArray) -> NDArray:
        return a * b

    def backward(self, d: NDArray) -> NDArray:
        return d


class Shapeless(Plain):
    def backward(self, d: NDArray) -> tuple[NDArray, NDArray]:  # type: ignore[override]  # wrong on purpose
        return d, nd.ones((3,))


class Doubled(ag.Function):
    def forward(self, x: NDArray) -> NDArray:
        return x * 2

    def backward(self, d: NDArray) -> NDArray:
        return d * 2


def squares(x: NDArray) -> NDArray:
    with ag.record():
        return x * x


def recorded(write: Callable[[NDArray, NDArray], object]) -> None:
    """Write in place while recording, where x is a variable and y computed from it."""
    x = variable(3, 4)
    with ag.record():
        write(x, x * 2)


def second_backward() -> None:
    y = squares(variable(1))
    y.backward()
    y.backward()


def half_spent() -> None:
    """A new computation upon one that was differentiated already."""
    y = squares(variable(1))
    with ag.record():
        z = y * 3
    y.backward()
    z.backward()


def of_constant() -> None:
    x, w = variable(3), nd.array([1])
    with ag.record():
        y = x * 2 * w
    ag.grad(y, w)


def of_intermediate() -> None:
    x = variable(3)
    with ag.record():
        y = x * 2
        z = y * y
    ag.grad(z, y)


def called(function: ag.Function, times: int = 1) -> NDArray:
    a, b = variable(1, 2), variable(3, 4)
    with ag.record():
        for _ in range(times):
            y = function(a, b)
    return y


def second_through(compute: Callable[[NDArray], NDArray]) -> None:
    x = variable(1, 2)
    with ag.record():
        (g,) = ag.grad(compute(x), x, create_graph=True)
        z = g * x
    z.backward()


def optimized() -> None:
    x = variable(1, 2)
    with ag.record():
        y = nd.sgd_update(x, x * 2, lr=0.1, out=None)
    y.backward()


def symbol_of_function() -> None:
    symbol = ag.get_symbol(called(Plain()))
    symbol.bind(mx.cpu(), {name: nd.ones((2,)) for name in symbol.list_arguments()})


def assigned_part() -> None:
    x, z = variable(3, 4), nd.zeros((2,))
    with ag.record():
        z[0] = x[0]


IN_PLACE: dict[str, Callable[[NDArray, NDArray], object]] = {
    "x += 1": lambda x, y: x.__iadd__(1),
    "x[:] = 1": lambda x, y: x.__setitem__(slice(None), 1),
    "x[0] = 1": lambda x, y: x.__setitem__(0, 1),
    "exp(y, out=x)": lambda x, y: nd.exp(y, out=x),
    "y.copyto(x)": lambda x, y: y.copyto(x),
    "y += 1": lambda x, y: y.__iadd__(1),
    "y[:] = 1": lambda x, y: y.__setitem__(slice(None), 1),
    "y[0] = 1": lambda x, y: y.__setitem__(0, 1),
    "exp(x, out=y)": lambda x, y: nd.exp(x, out=y),
    "x.copyto(y)": lambda x, y: x.copyto(y),
}


@pytest.mark.clause("autograd/in-place")
@pytest.mark.parametrize("write", IN_PLACE.values(), ids=list(IN_PLACE))
def test_writes_to_what_is_on_the_tape(write: Callable[[NDArray, NDArray], object]) -> None:
    with pytest.raises(mx.MXNetError, match="on the tape") as caught:
        recorded(write)
    assert caught.value.clause == "autograd/in-place"


@pytest.mark.clause("autograd/in-place")
def test_writes_to_constants_that_were_read() -> None:
    x, w = variable(1, 2), nd.array([3, 4])
    with ag.record():
        _ = x * w
        with pytest.raises(mx.MXNetError, match="on the tape"):
            w[:] = 5
    w[:] = 5


ROWS: list[tuple[str, type[Exception], str, Callable[[], object]]] = [
    ("autograd/on-tape", mx.MXNetError, "record", lambda: nd.ones((1,)).backward()),
    ("autograd/on-tape", mx.MXNetError, "record", lambda: (variable(1) * 2).backward()),
    ("autograd/on-tape", mx.MXNetError, "record", lambda: ag.get_symbol(nd.ones((1,)))),
    ("autograd/once", mx.MXNetError, "retain_graph=True", second_backward),
    ("autograd/once", mx.MXNetError, "retain_graph=True", half_spent),
    ("autograd/nothing-wanted", mx.MXNetError, "attach_grad", lambda: squares(variable(1, req="null")).backward()),
    ("autograd/nothing-wanted", mx.MXNetError, "attach_grad", lambda: ag.backward([])),
    ("autograd/grad-req", KeyError, "foo", lambda: nd.ones((1,)).attach_grad("foo")),
    ("autograd/grad-req", KeyError, "foo", lambda: ag.mark_variables([nd.ones((1,))], [nd.ones((1,))], "foo")),
    (
        "autograd/mark-lengths", ValueError, "2 gradients",
        lambda: ag.mark_variables([nd.ones((1,))], [nd.ones((1,))] * 2),
    ),
    ("autograd/head-count", AssertionError, "length", lambda: ag.backward([squares(variable(1))], [None, None])),
    (
        "autograd/head-shape", mx.MXNetError, r"\(1, 2\)",
        lambda: squares(variable(1, 2)).backward(nd.array([[1, 2]])),
    ),
    ("autograd/variables", AssertionError, "empty", lambda: ag.grad(squares(variable(1)), [])),
    ("autograd/unreachable", mx.MXNetError, "depend", lambda: ag.grad(squares(variable(1)), variable(2))),
    ("autograd/unreachable", mx.MXNetError, "attach_grad", of_constant),
    ("autograd/unreachable", mx.MXNetError, "attach_grad", of_intermediate),
    ("autograd/assign-part", mx.MXNetError, "concat", assigned_part),
    ("autograd/function-once", AssertionError, "another instance", lambda: called(Plain(), 2)),
    ("autograd/function-gradients", AssertionError, "2, got 1", lambda: called(Plain()).backward()),
    ("autograd/function-gradients", mx.MXNetError, r"shape \(3,\)", lambda: called(Shapeless()).backward()),
    ("autograd/function-symbol", mx.MXNetError, "Function", symbol_of_function),
    ("gradient/differentiable", mx.MXNetError, "sgd_update", optimized),
    ("gradient/differentiable", mx.MXNetError, "_backward_gammaln", lambda: second_through(nd.gammaln)),
    ("gradient/differentiable", mx.MXNetError, "_backward__CustomFunction", lambda: second_through(Doubled())),
]


def _marked(row: tuple) -> object:
    return pytest.param(*row, marks=pytest.mark.clause(row[0]), id=f"{row[0]} {row[2]}")


@pytest.mark.parametrize(("clause", "kind", "says", "call"), [_marked(row) for row in ROWS])
def test_refuses(clause: str, kind: type[Exception], says: str, call: Callable[[], object]) -> None:
    with pytest.raises(kind, match=says) as caught:
        call()
    # a second backward finds a tape that holds nothing any more
    expected = "autograd/on-tape" if clause == "autograd/once" else clause
    assert caught.value.clause == expected  # type: ignore[attr-defined]  # every refusal carries one
