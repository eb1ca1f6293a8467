"""What explain shows of the trainers that are no plain Module: clusters, SVRG, buckets; folded cells, values."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import refimpl as mx
from refimpl import cli, explain
from refimpl.contrib.svrg_optimization.svrg_module import SVRGModule
from refimpl.explain import timing

from .module_nets import batch, network
from .test_explain import LABELS, ROWS, by_hand, module, numbers, step
from .test_explain_page import Reader


@pytest.fixture(autouse=True, scope="module")
def short_times() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(timing, "SECONDS", 0.0)
        yield


# --- clusters -------------------------------------------------------------------------------------

TRAINS = f"""
import numpy as np
import refimpl as mx
def train(store):
    rows, labels = np.array({ROWS.tolist()}), np.array({LABELS.tolist()})
    net = mx.sym.SoftmaxOutput(mx.sym.FullyConnected(mx.sym.Variable("data"), num_hidden=3, name="fc"), name="softmax")
    data = mx.io.NDArrayIter(rows[store.rank::2], labels[store.rank::2], 4)
    module = mx.mod.Module(net, context=[mx.cpu(0), mx.cpu(1)])
    module.fit(data, num_epoch=2, kvstore=store, initializer=mx.init.One(), optimizer_params={{"learning_rate": 0.5}})
    open(f"after-{{store.rank}}.txt", "w").write("never")
"""
AS_WORKER = TRAINS + 'train(mx.kv.create("dist_sync"))\n'
ITS_OWN = TRAINS + "mx.kv.simulate(2, 2, seed=3, faults=mx.kv.Faults(drops=4)).run(train)\n"


@pytest.fixture
def script(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path / "train.py"


@pytest.mark.clause("Explain/rounds", "Explain/workers")
@pytest.mark.parametrize(("text", "workers"), [(AS_WORKER, 2), (ITS_OWN, None)])
def test_a_round_shows_the_terms_and_what_the_optimizer_was_given(
    script: Path, caplog: pytest.LogCaptureFixture, text: str, workers: int | None
) -> None:
    script.write_text(text)
    with caplog.at_level(logging.WARNING):
        found = explain.script(script, workers=workers, servers=2 if workers else None)
    assert caplog.records == []
    assert list(script.parent.iterdir()) == [script]
    assert (found["cluster"]["workers"], found["cluster"]["servers"], found["cluster"]["rank"]) == (2, 2, 0)
    assert set(found["cluster"]["rounds"].values()) == {1}
    for entry, parameter in zip(found["store"]["parameters"], (0, 1), strict=True):
        for worker in (0, 1):
            of_batch = by_hand(ROWS[worker::2], LABELS[worker::2])[parameter]
            assert entry["workers"][worker]["rank"] == worker
            assert np.allclose(numbers(entry["workers"][worker]), of_batch, atol=1e-6)
        first, second = (np.float32(numbers(term)) for term in entry["workers"])
        assert np.array_equal(numbers(entry["merged"]), first + second)
        device, other = (np.float32(numbers(window)) for window in entry["devices"])
        assert np.array_equal(device + other, first)
    weight = found["update"]["parameters"][0]
    assert np.allclose(numbers(weight["after"]), 1 - 0.5 * by_hand(ROWS, LABELS)[0] / 8, atol=1e-6)
    sample = weight["sample"]
    assert sum(term["value"] for term in sample["workers"]) == pytest.approx(sample["used"])
    assert sample["arithmetic"][-1]["value"] == pytest.approx(sample["after"])
    page = explain.page(found)
    Reader(page)
    assert "the round&#x27;s sum" in page or "the round's sum" in page


@pytest.mark.clause("Explain/rounds")
def test_a_later_round_goes_on_from_the_state_of_the_server(script: Path) -> None:
    script.write_text(AS_WORKER.replace('"learning_rate": 0.5', '"learning_rate": 0.5, "momentum": 0.5'))
    first, second = (explain.script(script, number=number, workers=2, servers=1) for number in (1, 2))
    assert set(second["cluster"]["rounds"].values()) == {2}
    before, after = (found["update"]["parameters"][0] for found in (first, second))
    assert numbers(before["after"]).tolist() == numbers(after["before"]).tolist()
    at = after["sample"]["position"]
    assert after["sample"]["state_before"][0] == pytest.approx(numbers(before["change"])[tuple(at)], abs=1e-6)


def test_a_large_array_is_put_together(script: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MXNET_KVSTORE_BIGARRAY_BOUND", "4")
    script.write_text(AS_WORKER.replace('"learning_rate": 0.5', '"learning_rate": 0.5, "momentum": 0.5'))
    found = explain.script(script, workers=2, servers=2)
    assert found["store"]["parameters"][0]["merged"]["shape"] == [3, 2]
    total = by_hand(ROWS, LABELS)[0]
    assert np.allclose(numbers(found["store"]["parameters"][0]["merged"]), total, atol=1e-6)
    assert len(found["update"]["parameters"][0]["sample"]["state_after"]) == 1


@pytest.mark.clause("Explain/rounds")
def test_compressed_terms_are_what_the_codes_stand_for(script: Path) -> None:
    made = 'compression_params={"type": "2bit", "threshold": 0.5}, context=['
    script.write_text(AS_WORKER.replace("context=[", made))
    found = explain.script(script, workers=2, servers=1)
    for worker, term in enumerate(found["store"]["parameters"][0]["workers"]):
        whole = by_hand(ROWS[worker::2], LABELS[worker::2])[0]
        assert numbers(term).tolist() == (0.5 * (whole >= 0.5) - 0.5 * (whole <= -0.5)).tolist()
    assert "the two-bit codes stand for" in explain.page(found)


@pytest.mark.clause("Explain/rounds")
def test_pushes_without_rounds_are_refused(script: Path, caplog: pytest.LogCaptureFixture) -> None:
    script.write_text(AS_WORKER.replace("dist_sync", "dist_async"))
    with pytest.raises(ValueError, match="'dist_async' each push is an update of its own") as caught:
        explain.script(script, workers=2)
    assert caught.value.clause == "Explain/rounds"
    assert caplog.records == []


@pytest.mark.clause("Cli/servers-need-workers", "Cli/workers-need-script")
@pytest.mark.parametrize(("clause", "words"), [
    ("Cli/servers-need-workers", ["train.py", "-s", "2"]), ("Cli/workers-need-script", ["-n", "2"]),
])
def test_options_of_clusters(script: Path, capsys: pytest.CaptureFixture[str], clause: str, words: list[str]) -> None:
    script.write_text("print()")
    assert cli.run(["explain", *words]) == 2
    assert clause in capsys.readouterr().err


# --- SVRG -----------------------------------------------------------------------------------------

LINE = np.array([[1, 2, 1], [2, -1, 1], [-1, 1, 1], [3, 0, 1], [0, 1, 1], [1, -2, 1], [2, 2, 1], [-1, -1, 1.0]])
TARGETS = np.array([1, 0, 2, 1, -1, 3, 0, 2.0])


def slope(weights: np.ndarray, rows: slice) -> np.ndarray:
    """The gradient of half the squared errors of a line, summed over rows."""
    return LINE[rows].T @ (LINE[rows] @ weights - TARGETS[rows])


@pytest.mark.clause("Explain/corrections")
def test_corrected_gradients_have_their_terms() -> None:
    net = mx.sym.FullyConnected(mx.sym.Variable("data"), num_hidden=1, name="fc")
    net = mx.sym.LinearRegressionOutput(net, mx.sym.Variable("target"), name="line")
    data = mx.io.NDArrayIter(LINE[:, :2], TARGETS, batch_size=4, label_name="target")
    trained = SVRGModule(net, label_names=["target"], update_freq=1, context=[mx.cpu(0), mx.cpu(1)])
    trained.bind(data.provide_data, data.provide_label)
    trained.init_params(mx.init.One())
    trained.init_optimizer(optimizer_params={"learning_rate": 1 / 4})
    trained.update_full_grads(data)
    data.reset()
    weights, start = np.array([1, 1, 0.0]), np.array([1, 1, 0.0])
    for number in (0, 1):
        found = explain.step(trained, data.next())
        weight, bias = found["corrections"]
        assert (weight["name"], bias["name"]) == ("fc_weight", "fc_bias")
        total = np.zeros(3)
        for device in (0, 1):
            rows = slice(4 * number + 2 * device, 4 * number + 2 * device + 2)
            mean = slope(start, slice(None)) * 4 / 8 if device == 0 else np.zeros(3)
            expected = {"gradient": slope(weights, rows), "snapshot": slope(start, rows), "mean": mean}
            expected["corrected"] = expected["gradient"] - expected["snapshot"] + mean
            total += expected["corrected"]
            for name, value in expected.items():
                if name == "mean" and device == 1:
                    assert weight["devices"][1]["mean"] is None
                    continue
                assert numbers(weight["devices"][device][name]).tolist() == [value[:2].tolist()], name
                assert numbers(bias["devices"][device][name]).tolist() == value[2:].tolist(), name
        assert numbers(found["store"]["parameters"][0]["merged"]).tolist() == [total[:2].tolist()]
        weights = weights - total / 4 / 4
        assert numbers(found["update"]["parameters"][0]["after"]).tolist() == [weights[:2].tolist()]
        assert found["update"]["optimizer"] == "SGD"
        sample = found["update"]["parameters"][0]["sample"]
        first = sample["corrections"][0]
        assert first["gradient"] - first["snapshot"] + first["mean"] == sample["gradients"][0]
        page = explain.page(found)
        Reader(page)
        assert "Gradients are corrected" in page
    assert explain.step(module(), batch(ROWS, LABELS))["corrections"] == []


# --- buckets and folded cells ---------------------------------------------------------------------


def sentences(length: int) -> tuple[Any, ...]:
    """A language model of so many steps."""
    cell = mx.rnn.LSTMCell(4, prefix="lstm_")
    words = mx.sym.Embedding(mx.sym.Variable("data"), input_dim=5, output_dim=3, name="embed")
    outputs, _ = cell.unroll(length, inputs=words, merge_outputs=True)
    scores = mx.sym.FullyConnected(mx.sym.Reshape(outputs, shape=(-1, 4)), num_hidden=5, name="scores")
    label = mx.sym.Reshape(mx.sym.Variable("softmax_label"), shape=(-1,))
    return mx.sym.SoftmaxOutput(scores, label, name="softmax"), ("data",), ("softmax_label",)


def bucketed() -> dict[str, Any]:
    trained = mx.mod.BucketingModule(sentences, default_bucket_key=12)
    trained.bind([("data", (2, 12))], [("softmax_label", (2, 12))])
    trained.init_params(mx.init.Xavier())
    trained.init_optimizer()
    for length in (5, 12, 5):
        given = mx.io.DataBatch(
            [mx.nd.ones((2, length))], [mx.nd.ones((2, length))], bucket_key=length,
            provide_data=[("data", (2, length))], provide_label=[("softmax_label", (2, length))],
        )
        found = explain.step(trained, given)
    planned = [trained._buckets[length]._exec_group.execs[0].plan.total for length in (12, 5)]
    assert found["buckets"]["pool"] == [planned[0]]
    assert [one["planned"] for one in found["buckets"]["keys"]] == [[size] for size in planned]
    return found


@pytest.fixture(scope="module")
def five() -> dict[str, Any]:
    return bucketed()


@pytest.mark.clause("Explain/buckets")
def test_buckets_share_a_pool_as_large_as_the_largest(five: dict[str, Any]) -> None:
    found = five["buckets"]
    assert (found["current"], found["default"]) == ("5", "12")
    assert [(one["key"], one["inputs"][0]["shape"]) for one in found["keys"]] == [("12", [2, 12]), ("5", [2, 5])]
    assert found["keys"][0]["steps"] > 2 * found["keys"][1]["steps"]
    assert "Buckets share one pool" in explain.page(five)
    assert "Buckets share one pool" not in explain.page(step())


@pytest.mark.clause("Explain/folded")
def test_copies_of_a_cell_are_shown_once(five: dict[str, Any]) -> None:
    nodes = {node["id"]: node for node in five["graph"]}
    shown = {node["name"] for node in nodes.values() if node["shown_by"] == node["id"]}
    assert {"lstm_t0_i2h", "lstm_t1_i2h", "scores"} <= shown
    assert not shown & {f"lstm_t{number}_{part}" for number in (2, 3, 4) for part in ("i2h", "h2h", "slice", "state")}
    for node in nodes.values():
        other = nodes[node["shown_by"]]
        assert node["phase"] == other["phase"]
        assert node["operator"] == other["operator"]
        assert [value["shape"] for value in node["values"]] == [value["shape"] for value in other["values"]]
        inputs = [read["value"] for read in node["reads"] if read["value"].endswith(("_weight", "_bias"))]
        assert inputs == [read["value"] for read in other["reads"] if read["value"].endswith(("_weight", "_bias"))]
    page = explain.page(five)
    Reader(page)
    assert "\u00d7 4" in page


@pytest.mark.heavy
@pytest.mark.clause("Explain/folded")
def test_an_unrolled_network_makes_a_small_page() -> None:
    made = mx.mod.Module(sentences(40)[0])
    made.bind([("data", (2, 40))], [("softmax_label", (2, 40))])
    made.init_params(mx.init.Xavier())
    made.init_optimizer()
    found = explain.step(made, mx.io.DataBatch([mx.nd.ones((2, 40))], [mx.nd.ones((2, 40))]))
    page = explain.page(found)
    Reader(page)
    assert len(found["graph"]) > 1200
    assert len(page.encode()) < 500_000
    assert all(int(width) <= 3000 for width in re.findall(r'<svg [^>]*? width="(\d+)"', page))


@pytest.mark.clause("Explain/folded")
def test_layers_with_parameters_of_their_own_are_no_copies() -> None:
    net = mx.sym.Variable("data")
    for _ in range(6):
        net = mx.sym.Activation(mx.sym.FullyConnected(net, num_hidden=2), act_type="relu")
    made = mx.mod.Module(mx.sym.LinearRegressionOutput(net, name="out"), label_names=("out_label",))
    made.bind([("data", (2, 2))], [("out_label", (2, 2))])
    made.init_params()
    made.init_optimizer()
    found = explain.step(made, batch(np.ones((2, 2)), np.ones((2, 2))))
    assert all(node["shown_by"] == node["id"] for node in found["graph"])


# --- values ---------------------------------------------------------------------------------------


@pytest.mark.clause("Explain/values")
def test_values_are_those_of_the_run() -> None:
    trained = module()
    for _ in range(2):
        before = [executor.arg_dict["fc_weight"].asnumpy().astype(np.float64) for executor in trained._exec_group.execs]
        found = explain.step(trained, batch(ROWS, LABELS))
        seen = {value["name"]: value.get("seen") for node in found["graph"] for value in node["values"]}
        bias = np.array(numbers(found["update"]["parameters"][1]["before"]))
        scores = ROWS[:4] @ before[0].T + bias
        chances = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
        assert np.allclose(numbers(seen["fc_output"]), scores, atol=1e-5)
        assert np.allclose(numbers(seen["softmax_output"]), chances, atol=1e-6)
        assert np.allclose(numbers(seen["softmax_backward_d_data"]), chances - np.eye(3)[LABELS[:4]], atol=1e-6)
        for name in ("weight", "bias"):
            pushed = next(e for e in found["store"]["parameters"] if e["name"] == f"fc_{name}")["devices"][0]
            assert numbers(seen[f"fc_backward_d_{name}"]).tolist() == numbers(pushed).tolist()
    assert trained.get_outputs()[0].asnumpy()[:4].tolist() == numbers(seen["softmax_output"]).tolist()


def readers_of(graph: list[Any], value: str) -> list[str]:
    """The nodes that read a value."""
    return [node["id"] for node in graph if any(read["value"] == value for read in node["reads"])]


def live_bytes(rows: list[Any], step: int) -> int:
    """The bytes of all blocks that are used at a step."""
    return sum(size for _, size in {(r["offset"], r["size"]) for r in rows if r["first"] <= step <= r["last"]})


def overlap(one: tuple[Any, Any], other: tuple[Any, Any]) -> bool:
    """Whether two values, each with the row of its memory, have bytes in common."""
    (row, value), (own, size) = one, other
    return row["offset"] < own["offset"] + size["bytes"] and own["offset"] < row["offset"] + value["bytes"]


@pytest.mark.clause("Explain/values")
def test_what_is_overwritten_lay_there_and_nobody_reads_it_again() -> None:
    found = explain.digits(batch_size=4)
    plan, nodes = found["memory"][0], {node["id"]: node for node in found["graph"]}
    places = {
        value["name"]: (row, value) for row in plan["rows"] for value in row["values"] if row["within"] is None
    }
    order = {name: number for number, name in enumerate(plan["steps"])}
    told: set[str] = set()
    for name in plan["steps"]:
        node = nodes[name]
        mine = [places[value["name"]] for value in node["values"] if value["name"] in places]
        for lost in node["overwrites"]:
            assert lost not in told
            assert places[lost][1]["born"] < order[name]
            assert any(overlap(places[lost], own) for own in mine)
            assert max(order[reader] for reader in readers_of(found["graph"], lost)) <= order[name]
            told.add(lost)
        assert node["live"] == live_bytes([row for row, _ in places.values()], order[name])
        assert 0 < node["live"] <= plan["planned"]
    assert len(told) > 3


def test_names_of_buckets_and_values_are_escaped() -> None:
    made = mx.mod.BucketingModule(lambda _: (network(), ("data",), ("softmax_label",)), default_bucket_key="<b>'\"&")
    made.bind([("data", (8, 2))], [("softmax_label", (8,))])
    made.init_params(mx.init.One())
    made.init_optimizer()
    given = batch(ROWS, LABELS)
    given.bucket_key = "<b>'\"&"
    page = explain.page(explain.step(made, given))
    assert "<b>'" not in page
    Reader(page)
