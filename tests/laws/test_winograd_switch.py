"""The switch of Winograd's convolution: what it is for, who follows it, and who does not."""

from __future__ import annotations

import numpy as np
import pytest

import refimpl as mx
from refimpl import oracle
from refimpl.kernels import convolution
from refimpl.kernels.foundation import as_buffer, plain_kernels
from refimpl.kernels.shared import winograd as module
from refimpl.kernels.shared.winograd import takes, takes_gradient, winograd
from refimpl.oracle.backends.ours import tuned

from .test_winograd import drawn, geometry, jit


@pytest.mark.clause("winograd/which")
def test_which_convolutions_it_is_for():
    single = np.dtype(np.float32)
    g = geometry(2, 16, 8, 8, 16, (1, 1))
    assert takes(g, single) and not takes(g, np.dtype(np.float64))
    assert not takes_gradient(g._replace(batch_size=15), single) and takes_gradient(g._replace(batch_size=16), single)
    assert not takes_gradient(g._replace(batch_size=16), np.dtype(np.float64))
    for changed in (
        {"channels": 15}, {"num_filter": 15}, {"stride_h": 2}, {"stride_w": 2}, {"dilate_h": 2}, {"dilate_w": 2},
        {"pad_h": 3}, {"pad_w": 3}, {"num_group": 2}, {"kernel_h": 1}, {"kernel_w": 5}, {"depth": 2}, {"kernel_d": 2},
    ):
        assert not takes(g._replace(**changed), single), changed


def layer(dtype="float32"):
    """A bound convolution, with its head, that the switch is for."""
    net = mx.sym.Convolution(mx.sym.Variable("data"), kernel=(3, 3), pad=(1, 1), num_filter=16, name="conv")
    executor = net.simple_bind(mx.cpu(), data=(16, 16, 6, 6), type_dict={"data": dtype})
    for i, (_, array) in enumerate(sorted(executor.arg_dict.items())):
        array[:] = drawn(i, array.shape, 0)
    return executor, mx.nd.array(drawn(9, (16, 16, 6, 6), 0), dtype=dtype)


def results(executor, head):
    out = executor.forward(is_train=True)[0].asnumpy()
    executor.backward(head)
    return out, *(executor.grad_dict[name].asnumpy() for name in ("data", "conv_weight", "conv_bias"))


@jit
@pytest.mark.clause("winograd/which")
def test_programs_calls_and_gradients_follow_the_switch():
    """Also where a program or a call has been written down and is repeated."""
    executor, head = layer()
    arrays = [executor.arg_dict[name] for name in ("data", "conv_weight", "conv_bias")]
    for array in arrays:
        array.attach_grad()

    def called_alone():
        with mx.autograd.record():
            out = mx.nd.Convolution(*arrays, kernel=(3, 3), pad=(1, 1), num_filter=16)
        out.backward(head)
        return out.asnumpy(), *(array.grad.asnumpy() for array in arrays)

    for repeated in (lambda: results(executor, head), called_alone):
        usual = [repeated() for _ in range(6)]
        with winograd():
            switched = [repeated() for _ in range(6)]
        after = repeated()
        for found in (*usual, after):
            assert all(map(np.array_equal, found, usual[0]))
        for found in switched:
            assert all(map(np.array_equal, found, switched[0]))
        changed = [not np.array_equal(*pair) for pair in zip(usual[0], switched[0], strict=True)]
        assert changed == [True, True, True, False]
        for one, other in zip(usual[0], switched[0], strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-3)


@jit
@pytest.mark.clause("winograd/which")
def test_a_program_describes_the_table_that_runs():
    executor, _ = layer()
    with winograd():
        for _ in range(2):
            executor.forward(is_train=False)
        described = executor.program.forward_table.describe()
    assert "no table" not in described
    assert "no table" in executor.program.forward_table.describe()


@jit
@pytest.mark.clause("winograd/which")
def test_half_precision_is_rounded_single():
    halves, head = layer("float16")
    singles, _ = layer()
    for name, array in halves.arg_dict.items():
        singles.arg_dict[name][:] = array.astype("float32")
    with winograd():
        found, expected = results(halves, head), results(singles, head.astype("float32"))
    for half, single in zip(found, expected, strict=True):
        np.testing.assert_array_equal(half, single.astype(np.float16))


@pytest.mark.clause("winograd/switch")
def test_the_environment_turns_it_on(monkeypatch):
    monkeypatch.setattr(module, "_from_environment", module._from_environment.__wrapped__)  # which remembers nothing
    monkeypatch.delenv("REFIMPL_WINOGRAD", raising=False)
    assert not module.is_on()
    for value in (True, False):
        monkeypatch.setenv("REFIMPL_WINOGRAD", str(int(value)))
        assert module.is_on() is value
        with winograd(on=not value):
            assert module.is_on() is not value
    monkeypatch.setenv("REFIMPL_WINOGRAD", "yes")
    with pytest.raises(mx.MXNetError, match="REFIMPL_WINOGRAD must be 0 or 1, it is 'yes'"):
        module.is_on()


@pytest.mark.clause("winograd/oracle")
def test_the_oracle_keeps_to_the_usual_sums_and_declines():
    program = {
        "version": 1, "level": 1,
        "nodes": [
            {"op": "null", "name": "a"}, {"op": "null", "name": "w"},
            {"op": "Convolution", "name": "n", "inputs": [[0, 0], [1, 0]],
             "attrs": {"kernel": "(3, 3)", "num_filter": "16", "no_bias": "True"}},
        ],
        "heads": [[2, 0]],
        "arrays": {
            name: {"shape": list(shape), "dtype": "float32", "elements": drawn(7, shape, 0).reshape(-1).tolist()}
            for name, shape in (("a", (1, 16, 4, 4)), ("w", (16, 16, 3, 3)))
        },
        "steps": [{"do": "bind", "requirements": {"a": "null", "w": "null"}}, {"do": "forward", "train": False}],
    }
    usual = oracle.trace_of(program)
    with winograd():
        expected = oracle.trace_of(program)
        with pytest.raises(oracle.Unsupported, match="winograd/error"):
            tuned().run(program)
    assert usual.keys() == expected.keys() and all(np.array_equal(usual[name], expected[name]) for name in usual)
    assert oracle.judge(tuned(), program).status == "passed"


def test_convolutions_that_do_not_fit_keep_their_bits():
    """Fifteen channels."""
    inputs = [as_buffer(drawn(1, (1, 15, 6, 6), 0)), as_buffer(drawn(2, (16, 15, 3, 3), 0))]
    p = convolution.Params(kernel=(3, 3), num_filter=16, no_bias=True)
    found = [as_buffer(np.zeros((1, 16, 4, 4), np.float32)) for _ in range(2)]
    with plain_kernels():
        convolution.forward(p, *inputs, None, found[0])
        with winograd():
            convolution.forward(p, *inputs, None, found[1])
    np.testing.assert_array_equal(found[0].to_numpy(), found[1].to_numpy())
