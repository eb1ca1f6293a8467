"""No uninitialised memory shows: what a program sees does not depend on what fresh memory holds.

Every program runs twice, with two patterns of bytes in all memory that is reserved: all bits set, which is NaN in every
floating type and -1 in every whole one, and another. Results that differ have shown what nobody wrote.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import refimpl as mx
from refimpl import nd
from refimpl.kernels.foundation import buffer

PATTERNS = (0xFF, 0x3C)  # 0x3c3c3c3c is 0.0115 as float32 and 1010580540 as int32


def poisoned(pattern: int) -> Callable:
    """An ``aligned_empty`` whose memory holds a pattern."""
    plain = buffer.aligned_empty

    def reserve(size: int, dtype: Any) -> np.ndarray:
        memory = plain(size, dtype)
        memory.view(np.uint8)[:] = pattern
        return memory

    return reserve


def shown(program: Callable[[], list], pattern: int) -> list:
    """The bytes of everything that a program returns, run in poisoned memory."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(buffer, "aligned_empty", poisoned(pattern))
        patch.setattr(buffer, "_ARENA", type(buffer._ARENA)())
        mx.random.seed(3)
        np.random.seed(3)  # where iterators draw
        return [one.asnumpy().tobytes() if hasattr(one, "asnumpy") else one for one in program()]


# --- programs ---------------------------------------------------------------------------------------

ONES = np.ones((4, 2), np.float32)


def network() -> mx.sym.Symbol:
    net = mx.sym.FullyConnected(mx.sym.Variable("data"), num_hidden=3, name="fc")
    net = mx.sym.Dropout(mx.sym.BatchNorm(net, name="norm"), p=0.5)
    return mx.sym.Group([mx.sym.SoftmaxOutput(net, name="softmax"), mx.sym.MakeLoss(mx.sym.square(net))])


def finite_flags() -> list:
    """Flags that are only ever lowered: a new one is 0, as MXNet 1.9.1 shows, and one that is given stays."""
    x, bad = nd.array([1, 2]), nd.array([1, np.inf])
    given, half = nd.array([7]), nd.array([7], dtype="float16")
    results = [nd.all_finite(one, init_output=False) for one in (x, bad)]
    results += [nd.multi_all_finite(x, one, num_arrays=2, init_output=False) for one in (x, bad)]
    results += [nd.all_finite(x, init_output=False, out=out) for out in (given, half)]
    assert [one.asscalar() for one in results] == [0, 0, 0, 0, 7, 7]
    return results


def finite_flags_in_a_graph() -> list:
    x = mx.sym.Variable("x")
    flag = mx.sym.all_finite(x, init_output=False)
    bound = mx.sym.Group([flag, flag + 1]).simple_bind(mx.cpu(), grad_req="null", x=(2,))
    twice = (flag * 2 + flag * 3).simple_bind(mx.cpu(), grad_req="null", x=(2,))
    alone = (2 * mx.sym.all_finite(x, init_output=False)).eval(mx.cpu(), x=nd.ones(2))
    results = [*bound.forward(), *twice.forward(), *alone]
    new = (2 * flag)._simple_bind(mx.cpu(), "null", x=(2,))
    return [*results, *new.forward()]


def executor_before_forward() -> list:
    bound = network().simple_bind(mx.cpu(), data=(4, 2), softmax_label=(4,))
    seen = [array.copy() for array in (*bound.outputs, *bound.grad_arrays, *bound.aux_arrays)]
    bound.backward()
    again = bound.reshape(data=(2, 2), softmax_label=(2,))
    seen += [array.copy() for array in (*again.outputs, *bound.grad_arrays)]
    again.backward()
    return [*seen, *again.grad_arrays]


def executor_2_before_forward() -> list:
    bound = network()._simple_bind(mx.cpu(), data=(4, 2), softmax_label=(4,))
    return [*bound.arg_arrays, *bound.aux_arrays, *bound.grad_dict.values()]


def module_at_every_stage() -> list:
    module = mx.mod.Module(network(), context=[mx.cpu(0), mx.cpu(1)])
    module.bind([("data", (4, 2))], [("softmax_label", (4,))], inputs_need_grad=True)
    module.init_params(mx.init.One())
    seen = [one.copy() for one in (*module.get_outputs(), *module.get_input_grads())]
    module.backward()
    seen += [one.copy() for one in module.get_input_grads()]
    module.init_optimizer("device", "adam")
    module.update()
    module.forward(mx.io.DataBatch([nd.array(ONES)]))  # no label was ever given
    module.backward()
    module.update()
    module.reshape([("data", (6, 2))], [("softmax_label", (6,))])
    arguments, states = module.get_params()
    return [*seen, *module.get_outputs(), *module.get_input_grads(), *arguments.values(), *states.values()]


def stores() -> list:
    store, out = mx.kv.create("device"), nd.zeros((5,))
    store.set_gradient_compression({"type": "2bit", "threshold": 0.5})
    store.init("a", nd.ones((5,)))
    store.push("a", [nd.array([0.1, 0.6, -0.7, 0, 3]), nd.array([1, 0, 0, 0, 0], mx.cpu(1))])
    store.pull("a", out=out)
    rows, plain = nd.zeros((4, 2), stype="row_sparse"), mx.kv.create("local")
    plain.init("r", nd.sparse.row_sparse_array((ONES[:1], [2]), shape=(4, 2)))
    plain.row_sparse_pull("r", out=rows, row_ids=nd.array([0, 2]))
    return [out, rows.tostype("default")]


def last_batches() -> list:
    seen = []
    for handling in ("pad", "roll_over", "discard"):
        batches = mx.io.NDArrayIter(np.arange(10).reshape(5, 2), np.arange(5), 3, last_batch_handle=handling)
        for _ in range(2):
            seen += [array for batch in batches for array in (*batch.data, *batch.label)]
            batches.reset()
    return seen


def files(write: Callable) -> list:
    table = str(write("1,2\n3,4\n5,6\n", "table.csv"))
    sparse = str(write("1 0:5\n2 1:6\n3\n", "table.svm"))
    iterators = [
        mx.io.CSVIter(data_csv=table, data_shape=(2,), batch_size=size, round_batch=rounds)
        for size in (2, 5) for rounds in (True, False)
    ]
    iterators.append(mx.io.LibSVMIter(data_libsvm=sparse, data_shape=(2,), batch_size=2))
    return [
        array.tostype("default") for batches in iterators for batch in batches for array in (*batch.data, *batch.label)
    ]


def loops() -> list:
    """A loop that ends early: MXNet says nothing of the rows that no step wrote."""
    step, end = (lambda i: ([i * 2], [i + 1])), (lambda i: i < 2)
    outputs, states = nd.contrib.while_loop(end, step, [nd.zeros((1,))], max_iterations=5)
    variables = [mx.sym.Variable("i")]
    made, _ = mx.sym.contrib.while_loop(end, step, variables, max_iterations=5)
    bound = made[0].bind(mx.cpu(), {"i": nd.zeros((1,))})
    rows, _ = nd.contrib.foreach(lambda row, state: (row + state, state), nd.array(ONES), nd.zeros((2,)))
    return [*outputs, *states, *bound.forward(), rows]


class Silent(mx.operator.CustomOp):
    """Writes nothing."""


@mx.operator.register("test_poisoned_silent")
class SilentProp(mx.operator.CustomOpProp):
    def create_operator(self, ctx, in_shapes, in_dtypes):
        return Silent()


def silent_operators() -> list:
    x = nd.array(ONES)
    x.attach_grad()
    with mx.autograd.record():
        y = nd.Custom(x, op_type="test_poisoned_silent")
    y.backward()
    net = mx.sym.Custom(mx.sym.Variable("data"), op_type="test_poisoned_silent") * 2
    bound = net.simple_bind(mx.cpu(), data=(4, 2))
    bound.forward(is_train=True)
    bound.backward(nd.ones((4, 2)))
    return [y, x.grad, *bound.outputs, *bound.grad_arrays]


def written_in_part() -> list:
    """Results cast into what ``out`` names, gradients of arrays that nothing reads, views of sparse arrays."""
    x, half = nd.array(ONES), nd.ones((4, 2), dtype="float16")
    nd.square(x, out=half)
    unread = nd.ones((2,))
    unread.attach_grad()
    x.attach_grad("add")
    with mx.autograd.record():
        y = nd.split(x * 2, num_outputs=2)[0]
    y.backward()
    csr = nd.sparse.csr_matrix(([1.0], [1], [0, 0, 1]), shape=(2, 3))
    sparse = [csr, nd.sparse.zeros("csr", (2, 3)), nd.sparse.row_sparse_array((ONES[:1], [1]), shape=(3, 2))]
    return [half, unread.grad, x.grad, *[one.tostype("default") for one in sparse], nd.zeros((2, 2)), nd.full((2,), 3)]


PROGRAMS = (
    finite_flags, finite_flags_in_a_graph, executor_before_forward, executor_2_before_forward, module_at_every_stage,
    stores, last_batches, loops, silent_operators, written_in_part,
)


@pytest.mark.clause("NDArray/no-uninitialised")
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_what_memory_held_never_shows(program):
    first, second = (shown(program, pattern) for pattern in PATTERNS)
    assert first == second


@pytest.mark.clause("NDArray/no-uninitialised")
def test_what_memory_held_never_shows_in_batches_of_files(write):
    first, second = (shown(lambda: files(write), pattern) for pattern in PATTERNS)
    assert first == second


@pytest.mark.clause("NDArray/no-uninitialised")
def test_empty_shows_it():
    """Which is how one sees that the patterns reach arrays at all."""
    first, second = (shown(lambda: [nd.empty((3,)), nd.empty((2,), dtype="int32")], pattern) for pattern in PATTERNS)
    assert [one != other for one, other in zip(first, second, strict=True)] == [True, True]
