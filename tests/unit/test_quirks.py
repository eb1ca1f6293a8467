"""Quirks: scopes, threads, the environment, and each quirk's numbers, recorded from MXNet 1.9.1."""

from __future__ import annotations

import functools
import operator
import os
import re
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import refimpl as mx
from refimpl import ndarray as nd
from refimpl import symbol as sym
from refimpl.kernels.foundation.quirk import DECLARED
from refimpl.quirks import EVERY, NONE, declare, quirks
from refimpl.symbol import gradient

ROOT = Path(__file__).resolve().parents[2]


def active() -> list[str]:
    return [quirk.name for quirk in quirks if quirk.active]


# --- the mechanism ----------------------------------------------------------------------------------


@pytest.mark.clause("Quirks/scope")
def test_scopes_nest_and_end() -> None:
    with quirks(NONE):
        with quirks("kvstore-alias"):
            with quirks("kvstore-alias", "rebind-forgets"):
                assert active() == ["kvstore-alias", "rebind-forgets"]
            assert active() == ["kvstore-alias"]
        with pytest.raises(KeyError), quirks("rebind-forgets"):
            raise KeyError
        assert active() == []


@pytest.mark.clause("Quirks/scope")
def test_a_decorated_function_can_call_itself() -> None:
    @quirks("kvstore-alias")
    def count(n: int) -> list[bool]:
        return [quirks.active("kvstore-alias")] + (count(n - 1) if n else [])

    with quirks(NONE):
        assert count(3) == [True] * 4
        assert count(0) == [True]
        assert not quirks.active("kvstore-alias")


@pytest.mark.clause("Quirks/profile")
def test_profile_covers_what_is_declared_later() -> None:
    with quirks(EVERY):
        late = declare("late", "Quirks/profile", "something", "for a test")
        try:
            assert late.active
        finally:
            del DECLARED["late"]


@pytest.mark.clause("Quirks/known-name")
@pytest.mark.parametrize("ask", [quirks, quirks.active], ids=["scope", "active"])
def test_unknown_name(ask) -> None:
    with pytest.raises(ValueError, match="did you mean kvstore-alias") as caught:
        ask("kvstore-alis")
    assert caught.value.clause == "Quirks/known-name"
    with pytest.raises(ValueError, match=r"there are mxnet-1\.9\.1, intended, activation-relu-nan"):
        ask("zzz")


@pytest.mark.clause("Quirks/one-meaning")
@pytest.mark.parametrize("name", ["kvstore-alias", EVERY, NONE])
def test_a_name_is_taken(name) -> None:
    with pytest.raises(ValueError, match="already") as caught:
        declare(name, "Quirks/scope", "another", "meaning")
    assert caught.value.clause == "Quirks/one-meaning"


@pytest.mark.clause("Quirks/threads")
def test_threads_do_not_see_each_other() -> None:
    inside, outside = threading.Event(), threading.Event()
    seen = {}

    def hold() -> None:
        with quirks(NONE, "rebind-forgets"):
            seen["in the thread"] = active()
            inside.set()
            outside.wait(10)

    thread = threading.Thread(target=hold)
    with quirks(NONE, "kvstore-alias"):
        thread.start()
        inside.wait(10)
        seen["beside it"] = active()
        outside.set()
        thread.join()
    assert seen == {"in the thread": ["rebind-forgets"], "beside it": ["kvstore-alias"]}


@pytest.mark.clause("Quirks/threads")
def test_carried_by_many_threads_at_once() -> None:
    gate = threading.Barrier(3)
    seen = []

    def look() -> None:
        gate.wait(10)
        seen.append(active())

    with quirks(NONE, "kvstore-alias"):
        carried = quirks.carried(look)
    threads = [threading.Thread(target=carried) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert seen == [["kvstore-alias"]] * 3


@pytest.mark.clause("Quirks/threads")
def test_threads_of_a_module_have_its_quirks() -> None:
    from refimpl.module.thread_pool import ThreadPool

    seen = {}
    with quirks(NONE, "kvstore-alias"):
        ThreadPool(3).run(lambda context: seen.update({context: active()}))
    assert seen == {context: ["kvstore-alias"] for context in range(3)}


ASK = "import refimpl; from refimpl.quirks import quirks; print([q.name for q in quirks if q.active])"


def in_a_process(value: str) -> subprocess.CompletedProcess:
    return subprocess.run(
        [sys.executable, "-c", ASK], check=False, capture_output=True, text=True, cwd=ROOT,
        env={**os.environ, "REFIMPL_QUIRKS": value},
    )


@pytest.mark.clause("Quirks/environment")
def test_environment() -> None:
    assert in_a_process(" pearson-micro,kvstore-alias,").stdout.strip() == "['kvstore-alias', 'pearson-micro']"
    failed = in_a_process("kvstore-alis")
    assert failed.returncode == 1
    assert "ValueError: there is no quirk called 'kvstore-alis'; did you mean kvstore-alias" in failed.stderr


def test_listing_and_chapter_agree() -> None:
    table = str(quirks)
    chapter = (ROOT / "spec/reference/porting/quirks.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| ([\w.-]+) \| (?!while)", chapter, re.MULTILINE)
    files = ROOT.glob("spec/reference/porting/deviations*.md")
    deviations = "".join(file.read_text(encoding="utf-8") for file in files)
    assert quirks.names() == [row for row in rows if row != "---"]
    for quirk in quirks:
        assert quirk.name in table
        assert quirk.clause in table
        row = next(line for line in deviations.splitlines() if f"quirk `{quirk.name}`" in line)
        assert row.startswith(f"| {quirk.clause} |")


# --- the numbers --------------------------------------------------------------------------------------


def consumers(position: int, count: int = 8) -> list[float]:
    """Gradient of a where clip(a) and a * 1, a * 2, a * 4 ... are outputs, clip at ``position``."""
    a = sym.Variable("a")
    outputs = [a * float(2**i) for i in range(count - 1)]
    outputs.insert(position, sym.clip(a, a_min=-5, a_max=5))
    executor = sym.Group(outputs).bind(mx.cpu(), {"a": nd.array([2, 3])}, args_grad={"a": nd.zeros(2)})
    executor.forward(is_train=True)
    executor.backward([nd.ones(2)] * count)
    return executor.grad_dict["a"].asnumpy().tolist()


def test_gradient_sum_cap() -> None:
    # MXNet 1.9.1: the same lines
    with quirks("gradient-sum-cap"):
        assert [consumers(position)[0] for position in range(8)] == [1, 2, 4, 8, 16, 32, 64, 128]
        assert [consumers(position, 7)[1] for position in range(7)] == [64] * 7
    with quirks(NONE):
        assert consumers(0) == [128, 128]


@pytest.mark.parametrize("together", [
    lambda terms: functools.reduce(operator.add, terms), lambda terms: sym.add_n(*terms),
    lambda terms: sym.add_n(*map(sym.square, terms)) * 0.5, lambda terms: sym.concat(*terms, dim=0),
])
def test_gradient_sum_cap_is_for_outputs(together: Callable) -> None:
    # MXNet 1.9.1: the same lines with n terms, clip(a) at any place among them, give n
    a = sym.Variable("a")
    terms = [sym.clip(a, a_min=-5, a_max=5), *[a * 1] * 3, sym.clip(a, a_min=-5, a_max=5), *[a * 1] * 3]
    with quirks("gradient-sum-cap"):
        executor = together(terms).bind(mx.cpu(), {"a": nd.array([1])}, args_grad={"a": nd.zeros(1)})
        executor.forward(is_train=True)
        executor.backward(nd.ones(executor.outputs[0].shape))
        assert executor.grad_dict["a"].asscalar() == 8


def test_gradient_sum_cap_is_for_executors() -> None:
    # MXNet 1.9.1: the same eight outputs under autograd give 128
    a = sym.Variable("a")
    outputs = sym.Group([sym.clip(a, a_min=-5, a_max=5), *(a * float(2**i) for i in range(7))])
    summed = {}
    with quirks("gradient-sum-cap"):
        for name, options in (("executor", {}), ("tape", {"taped": True}), ("again", {"differentiable": True})):
            (total,) = gradient.build(outputs.entries, {id(a.entries[0].node)}, **options).of.values()
            summed[name] = len(total.node.inputs) if total.node.kind == "add_n" else 1
    assert summed == {"executor": 1, "tape": 8, "again": 8}


def softmax_output(**attrs) -> mx.Executor:
    net = sym.SoftmaxOutput(sym.Variable("data"), sym.Variable("label"), out_grad=True, name="s", **attrs)
    data = np.log([[[1, 1], [3, 1]]]) if attrs else np.zeros((1, 4))
    label = [[0, 1]] if attrs else [0]
    return net.bind(
        mx.cpu(), {"data": nd.array(data), "label": nd.array(label)},
        args_grad={"data": nd.zeros(data.shape)}, grad_req={"data": "write", "label": "null"},
    )


# MXNet 1.9.1: the gradient of data in `softmax_output`, with head gradients of 8 everywhere
HEADS = [
    ({}, [[-0.1875, 0.0625, 0.0625, 0.0625]], [[-6, 2, 2, 2]]),
    ({"multi_output": True}, [[[-0.09375, 0.125], [0.28125, -0.125]]], [[[-3, 2], [3, -2]]]),
]


@pytest.mark.parametrize(("attrs", "old", "intended"), HEADS)
def test_softmax_output_head(attrs, old, intended) -> None:
    for names, expected in ((["softmax-output-head"], old), ([NONE], intended)):
        with quirks(*names):
            executor = softmax_output(**attrs)
        (output,) = executor.forward(is_train=True)
        executor.backward([nd.full(output.shape, 8)])
        np.testing.assert_allclose(executor.grad_dict["data"].asnumpy(), expected, rtol=1e-6)


@pytest.mark.parametrize("kind", ["local", "device"])
def test_kvstore_alias(kind) -> None:
    # MXNet 1.9.1: a pushed [1, 2] overwritten by 9 is stored as [9, 9]; pushed twice in a list as [2, 4];
    # an updater that adds changes it to [11, 12]; one that overwrites the gradient changes that too
    store, out = mx.kv.create(kind), nd.zeros(2)
    store.init(3, nd.zeros(2))
    with quirks("kvstore-alias"):
        pushed = nd.array([1, 2], ctx=mx.cpu(1))
        store.push(3, [pushed, pushed])
        pushed[:] = 9
        store.pull(3, out)
        assert out.asnumpy().tolist() == [2, 4]
        pushed = nd.array([1, 2], ctx=mx.cpu(1))
        store.push(3, pushed)
        store.set_updater(lambda key, gradient, weight: weight.__iadd__(gradient))
        store.push(3, nd.array([10, 10]))
        assert pushed.asnumpy().tolist() == [11, 12]
        pushed[:] = 9
        store.pull(3, out)
        assert out.asnumpy().tolist() == [9, 9]
        store.set_updater(lambda key, gradient, weight: gradient.__setitem__(slice(None), 7))
        gradient = nd.array([5, 5])
        store.push(3, gradient)
        assert gradient.asnumpy().tolist() == [7, 7]


def test_kvstore_updater_errors(capsys) -> None:
    # MXNet 1.9.1: prints the ValueError; what the updater wrote before, 5, stays
    def fails(key, gradient, weight) -> None:
        weight[:] = 5
        raise ValueError("from the updater")

    store, out = mx.kv.create("local"), nd.zeros(2)
    store.init(3, nd.ones(2))
    store.set_updater(fails)
    with quirks("kvstore-updater-errors"):
        store.push(3, nd.ones(2))
    store.pull(3, out)
    assert out.asnumpy().tolist() == [5, 5]
    assert "ValueError: from the updater" in capsys.readouterr().err
    with quirks(NONE), pytest.raises(ValueError, match="from the updater"):
        store.push(3, nd.ones(2))


def linear(loss, **names) -> mx.mod.Module:
    fc = sym.FullyConnected(sym.Variable("data"), num_hidden=1, no_bias=True, name="fc")
    return mx.mod.Module(loss(fc, name="lro"), label_names=["lro_label"], **names)


SHAPES = ([("data", (1, 1))], [("lro_label", (1, 1))])


def test_rebind_forgets() -> None:
    # MXNet 1.9.1: one step from weight 1 with learning rate 0.5, x = 1, label 0; rebind; weight 1
    for names, expected in ((["rebind-forgets"], 1.0), ([NONE], 0.5)):
        module = linear(sym.LinearRegressionOutput)
        module.bind(*SHAPES)
        module.init_params(mx.init.One())
        module.init_optimizer(optimizer_params={"learning_rate": 0.5})
        module.forward_backward(mx.io.DataBatch([nd.ones((1, 1))], [nd.zeros((1, 1))]))
        module.update()
        with quirks(*names):
            module.bind(*SHAPES, force_rebind=True)
        assert module.get_params()[0]["fc_weight"].asscalar() == expected


@pytest.mark.parametrize("use", [
    lambda module, data: module.score(data, "mse", num_batch=2, reset=False),
    lambda module, data: list(module.iter_predict(data, num_batch=2, reset=False)),
    lambda module, data: module.predict(data, num_batch=2, reset=False),
], ids=["score", "iter_predict", "predict"])
def test_score_extra_batch(use) -> None:
    # MXNet 1.9.1: rows 0 to 9 in batches of two; after num_batch=2 the next batch holds 6 and 7
    for names, expected in ((["score-extra-batch"], [6, 7]), ([NONE], [4, 5])):
        data = mx.io.NDArrayIter(np.arange(10.0).reshape(10, 1), np.zeros((10, 1)), 2, label_name="lro_label")
        module = linear(sym.LinearRegressionOutput)
        module.bind(data.provide_data, data.provide_label)
        module.init_params(mx.init.One())
        with quirks(*names):
            use(module, data)
        assert data.next().data[0].asnumpy().ravel().tolist() == expected


def test_shuffle_float32() -> None:
    # MXNet 1.9.1: an int32 array of 2**24 + 1, 5 and 6, shuffled, is float32 of 2**24, 5 and 6
    source = nd.array([2**24 + 1, 5, 6], dtype="int32")
    for names, expected in ((["shuffle-float32"], ("float32", 2**24)), ([NONE], ("int32", 2**24 + 1))):
        with quirks(*names):
            rows = mx.io.NDArrayIter(source, batch_size=3, shuffle=True).next().data[0]
        assert (np.dtype(rows.dtype).name, int(rows.asnumpy().max())) == expected


def test_pearson_micro() -> None:
    # MXNet 1.9.1: get() is 1.0 and get_global() 0.0; after reset_local and the opposite batch both are 0.0
    up, down = [nd.array([1, 2, 3])], [nd.array([3, 2, 1])]
    for names, expected in ((["pearson-micro"], (1, 0, 0, 0)), ([NONE], (1, 1, -1, 0))):
        metric = mx.metric.PearsonCorrelation(average="micro")
        with quirks(*names):
            metric.update(up, up)
            seen = [metric.get()[1], metric.get_global()[1]]
            metric.reset_local()
            metric.update(up, down)
        assert [*seen, metric.get()[1], metric.get_global()[1]] == pytest.approx(expected, abs=1e-12)
