"""What a training step is said to have done: slices, merged gradients, weights, memory, where it comes from."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import refimpl as mx
from refimpl import explain

from .module_nets import batch, network

ROWS = np.array([[1, 0], [0, 2], [4, 1], [2, 2], [1, 1], [0, 1], [2, 0], [1, 4]])
LABELS = np.array([0, 1, 2, 0, 1, 2, 0, 1])


def module(contexts: int = 2, store: Any = "local", optimizer: str = "sgd", **settings: Any) -> mx.mod.Module:
    made = mx.mod.Module(network(), context=[mx.cpu(i) for i in range(contexts)], **settings.pop("made", {}))
    made.bind([("data", (8, 2))], [("softmax_label", (8,))])
    made.init_params(mx.init.One())
    made.init_optimizer(kvstore=store, optimizer=optimizer, optimizer_params=settings or {"learning_rate": 0.5})
    return made


def step(**settings: Any) -> dict[str, Any]:
    return explain.step(module(**settings), batch(ROWS, LABELS))


def numbers(window: dict[str, Any]) -> np.ndarray:
    """A window as the array that it is of; these are small enough to be shown whole."""
    assert [len(window["window"]), len(window["window"][0])] == [window["rows"], window["columns"]]
    return np.array(window["window"]).reshape(window["shape"])


def by_hand(rows: np.ndarray, labels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Gradients of FullyConnected and SoftmaxOutput where all weights are one: every class has a third."""
    wrong = np.full((len(rows), 3), 1 / 3) - np.eye(3)[labels]
    return wrong.T @ rows, wrong.sum(axis=0)


# --- slices ---------------------------------------------------------------------------------------


@pytest.mark.clause("Explain/slices")
def test_slices_are_those_of_the_group() -> None:
    found = step(contexts=3, made={"work_load_list": [1, 1, 2]})["slices"]
    assert found["batch_size"] == 8
    assert [(p["context"], p["begin"], p["end"], p["owed"]) for p in found["parts"]] == [
        ("cpu(0)", 0, 2, 2.0), ("cpu(1)", 2, 4, 2.0), ("cpu(2)", 4, 8, 4.0),
    ]
    for part in found["parts"]:
        mine = slice(part["begin"], part["end"])
        assert np.array_equal(numbers(part["arrays"]["data"]), ROWS[mine])
        assert np.array_equal(numbers(part["arrays"]["softmax_label"]), LABELS[mine])


def test_pictures_are_shown_whole() -> None:
    found = explain.digits(batch_size=10)
    image = found["slices"]["parts"][1]["arrays"]["data"]["pictures"][0]
    images, _, _, _ = mx.data.digits()
    assert np.array_equal(np.array(image), images[5])


# --- gradients and weights ------------------------------------------------------------------------


@pytest.mark.clause("Explain/sum")
@pytest.mark.parametrize("store", ["local", "device"])
def test_merged_gradients_are_the_sum(store: str) -> None:
    found = step(store=store)["store"]
    assert (found["type"], found["updates"]) == (store, True)
    weight, bias = found["parameters"]
    assert [weight["name"], bias["name"]] == ["fc_weight", "fc_bias"]
    halves = [by_hand(ROWS[:4], LABELS[:4]), by_hand(ROWS[4:], LABELS[4:])]
    for device, (of_weight, of_bias) in enumerate(halves):
        assert np.allclose(numbers(weight["devices"][device]), of_weight, atol=1e-6)
        assert np.allclose(numbers(bias["devices"][device]), of_bias, atol=1e-6)
    for entry in found["parameters"]:
        first, second = (np.float32(numbers(window)) for window in entry["devices"])
        assert np.array_equal(numbers(entry["merged"]), first + second)


@pytest.mark.clause("Explain/weights")
@pytest.mark.parametrize("store", ["local", None])
def test_weights_after_follow_the_formula(store: str | None) -> None:
    found = step(store=store, contexts=2 if store else 1, learning_rate=0.5, wd=0.25, momentum=0.9)["update"]
    assert found["optimizer"] == "SGD"
    assert found["settings"]["rescale_grad"] == 1 / 8
    weight, bias = found["parameters"]
    of_weight, of_bias = by_hand(ROWS, LABELS)
    assert np.array_equal(numbers(weight["before"]), np.ones((3, 2)))
    assert np.allclose(numbers(weight["after"]), 1 - 0.5 * (of_weight / 8 + 0.25), atol=1e-6)
    assert np.allclose(numbers(bias["after"]), 0 - 0.5 * of_bias / 8, atol=1e-6)  # a bias does not decay
    assert (weight["lr"], weight["wd"], bias["wd"]) == (0.5, 0.25, 0.0)
    assert weight["equal_everywhere"]
    assert np.allclose(numbers(weight["change"]), numbers(weight["after"]) - 1)


def test_one_number_is_followed_all_the_way() -> None:
    trained = module(learning_rate=0.5, wd=0.25, momentum=0.5)
    explain.step(trained, batch(ROWS, LABELS))
    sample = explain.step(trained, batch(ROWS, LABELS))["update"]["parameters"][0]["sample"]
    assert sum(sample["gradients"]) == pytest.approx(sample["used"])
    what = [line["what"] for line in sample["arithmetic"]]
    assert what == ["g", "step", "m", "w"]
    g, moved, m, w = (line["value"] for line in sample["arithmetic"])
    assert g == pytest.approx(sample["used"] / 8)
    assert moved == pytest.approx(0.5 * (g + 0.25 * sample["before"]))
    assert m == pytest.approx(0.5 * sample["state_before"][0] - moved)
    assert sample["state_before"] != [0.0]
    assert (m, w) == (pytest.approx(sample["state_after"][0]), pytest.approx(sample["after"], rel=1e-6))


def test_plain_steps_and_clipped_gradients() -> None:
    sample = step(learning_rate=0.5, clip_gradient=0.125)["update"]["parameters"][0]["sample"]
    assert [line["what"] for line in sample["arithmetic"]] == ["g", "g", "step", "w"]
    assert sample["arithmetic"][-1]["value"] == sample["after"]
    assert abs(sample["after"] - sample["before"]) == 0.5 * 0.125


def test_without_a_store_each_device_goes_its_way() -> None:
    found = step(store=None)
    assert found["store"]["type"] is None
    assert all(entry["merged"] is None for entry in found["store"]["parameters"])
    assert not found["update"]["parameters"][0]["equal_everywhere"]
    assert "Module/no-store" in found["cited"]["store"]


def test_updating_beside_the_weights(monkeypatch: pytest.MonkeyPatch) -> None:
    on_store = step()
    monkeypatch.setenv("MXNET_UPDATE_ON_KVSTORE", "0")
    beside = step()
    assert (on_store["store"]["updates"], beside["store"]["updates"]) == (True, False)
    assert "KVStore/update-on-devices" in beside["cited"]["store"]
    assert beside["store"]["parameters"] == on_store["store"]["parameters"]
    assert beside["update"]["parameters"] == on_store["update"]["parameters"]


def test_other_optimizers_show_their_states() -> None:
    found = step(optimizer="adam", learning_rate=0.1)["update"]
    sample = found["parameters"][0]["sample"]
    assert "arithmetic" not in sample
    g = sample["used"] / 8
    assert sample["state_after"] == [pytest.approx(0.1 * g), pytest.approx(0.001 * g * g, rel=1e-4)]
    assert found["equations"]


def test_a_fixed_parameter_is_no_part_of_it() -> None:
    found = step(made={"fixed_param_names": ["fc_bias"]})
    assert [entry["name"] for entry in found["update"]["parameters"]] == ["fc_weight"]


@pytest.mark.clause("Explain/looks-only")
@pytest.mark.parametrize("store", ["local", None])
def test_looking_changes_nothing(store: str | None) -> None:
    watched, alone = module(store=store, momentum=0.5), module(store=store, momentum=0.5)
    for _ in range(2):
        explain.step(watched, batch(ROWS, LABELS))
        alone.forward_backward(batch(ROWS, LABELS))
        alone.update()
    for mine, theirs in zip(watched.get_params()[0].values(), alone.get_params()[0].values(), strict=True):
        assert np.array_equal(mine.asnumpy(), theirs.asnumpy())
    for mine, theirs in zip(watched._exec_group.grad_arrays, alone._exec_group.grad_arrays, strict=True):
        assert all(np.array_equal(a.asnumpy(), b.asnumpy()) for a, b in zip(mine, theirs, strict=True))
    if store:
        assert type(watched._kvstore._updater) is type(alone._kvstore._updater)


def test_statistics_of_batches_are_put_back() -> None:
    net = mx.sym.BatchNorm(mx.sym.Variable("data"), name="bn", momentum=0.5)
    net = mx.sym.LinearRegressionOutput(net, mx.sym.Variable("label"), name="out")
    made = mx.mod.Module(net, label_names=("label",))
    made.bind([("data", (4, 2))], [("label", (4, 2))])
    made.init_params()
    made.init_optimizer()
    explain.step(made, batch(np.full((4, 2), 8.0), np.zeros((4, 2))))
    assert made.get_params()[1]["bn_moving_mean"].asnumpy().tolist() == [4.0, 4.0]


# --- graph, memory, times -------------------------------------------------------------------------


def test_the_graph_is_the_one_that_runs() -> None:
    nodes = step()["graph"]
    assert [(n["name"], n["role"]) for n in nodes if n["phase"] == "variable"] == [
        ("data", "data"), ("fc_weight", "parameter"), ("fc_bias", "parameter"), ("softmax_label", "label"),
    ]
    forward = [n for n in nodes if n["phase"] == "forward"]
    backward = [n for n in nodes if n["phase"] == "backward"]
    assert [n["operator"] for n in forward] == ["FullyConnected", "SoftmaxOutput"]
    assert [n["serves"] for n in backward] == ["f1", "f0"]
    assert sorted(backward[-1]["gradients"]) == ["fc_bias", "fc_weight"]
    assert forward[0]["values"][0]["shape"] == [4, 3]
    assert "FullyConnected/flatten" in forward[0]["rules"]


def test_memory_tells_what_the_plan_holds() -> None:
    trained = module()
    found = explain.step(trained, batch(ROWS, LABELS))
    for plan, executor in zip(found["memory"], trained._exec_group.execs, strict=True):
        assert plan["planned"] == executor.plan.total
        assert plan["requested"] == executor.plan.requested
        named = [value["name"] for row in plan["rows"] for value in row["values"]]
        assert len(named) == len(set(named)) == len(executor.plan.place)
        inside = [row for row in plan["rows"] if row["within"] is None]
        for one in inside:  # rectangles never overlap
            for other in inside:
                apart = one["last"] < other["first"] or other["last"] < one["first"]
                low, high = sorted([one, other], key=lambda row: row["offset"])
                below = low["offset"] + low["size"] <= high["offset"]
                assert one is other or apart or below
        assert plan["own"]["outputs"] == 4 * 3 * 4


def test_every_step_has_a_time() -> None:
    found = step()["times"]
    assert [c["context"] for c in found["contexts"]] == ["cpu(0)", "cpu(1)"]
    for of_context in found["contexts"]:
        steps = of_context["steps"]
        assert [(s["name"], s["phase"]) for s in steps] == [
            ("fc", "forward"), ("softmax", "forward"), ("softmax_backward", "backward"), ("fc_backward", "backward"),
        ]
        assert all(0 < s["least"] <= s["took"] and s["began"] >= 0 for s in steps)
        assert all(s["began"] + s["took"] <= found["span"] * 1.000001 for s in steps)


def test_copies_between_devices_have_their_places() -> None:
    with mx.AttrScope(ctx_group="first"):
        net = mx.sym.FullyConnected(mx.sym.Variable("data"), num_hidden=4, name="one")
    with mx.AttrScope(ctx_group="second"):
        net = mx.sym.SoftmaxOutput(mx.sym.FullyConnected(net, num_hidden=3, name="two"), name="softmax")
    made = mx.mod.Module(net, group2ctxs={"first": mx.cpu(1), "second": mx.cpu(2)})
    made.bind([("data", (8, 2))], [("softmax_label", (8,))])
    made.init_params(mx.init.One())
    made.init_optimizer()
    found = explain.step(made, batch(ROWS, LABELS))
    places = {node["name"]: node["context"] for node in found["graph"]}
    assert (places["one"], places["two"], places["one_backward"]) == ("cpu(1)", "cpu(2)", "cpu(1)")
    assert sorted(found["memory"][0]["arenas"]) == ["cpu(1)", "cpu(2)"]
    names = {node["id"]: node["name"] for node in found["graph"]}
    copies = [node for node in found["graph"] if node["phase"] == "backward" and "CrossDeviceCopy" in node["operator"]]
    assert [names[node["serves"]] for node in copies] == ["two"]
    assert explain.page(found).count("Memory of cpu(2)") == 2


# --- rules ----------------------------------------------------------------------------------------


@pytest.mark.clause("Explain/rules")
def test_every_rule_that_is_named_has_its_words() -> None:
    found = step()
    named = {name for part in found["cited"].values() for name in part}
    named |= {name for node in found["graph"] for name in node.get("rules", ())}
    assert set(found["rules"]) == named
    assert all(rule["text"] and rule["place"] for rule in found["rules"].values())
    assert found["rules"]["split/partition"]["place"] == "spec/reference/running/slicing.md"


def test_it_is_plain_data() -> None:
    found = step()
    assert json.loads(json.dumps(found, allow_nan=False)) == found


def test_what_is_not_finite_is_none() -> None:
    made = module()
    found = explain.step(made, batch(np.full((8, 2), np.inf), LABELS))
    json.dumps(found, allow_nan=False)
    assert found["update"]["parameters"][0]["sample"]["after"] is None
    assert "not finite" in explain.page(found)


def test_the_module_must_be_ready() -> None:
    with pytest.raises(AssertionError, match="call bind"):
        explain.step(mx.mod.Module(network()), batch(ROWS, LABELS))


# --- scripts and checkpoints ----------------------------------------------------------------------

SCRIPT = """
import sys
import numpy as np
import refimpl as mx
import beside
open("before.txt", "w").write(" ".join(sys.argv[1:]))
net = mx.sym.SoftmaxOutput(mx.sym.FullyConnected(mx.sym.Variable("data"), num_hidden=3, name="fc"), name="softmax")
rows = mx.io.NDArrayIter(np.arange(24).reshape(12, 2), np.arange(12) % 3, 4)
module = mx.mod.Module(net, context=[mx.cpu(0), mx.cpu(1)])
try:
    module.fit(rows, num_epoch=1, initializer=mx.init.One())
except Exception:
    pass
open("after.txt", "w").write("never")
"""


@pytest.fixture
def script(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "beside.py").write_text("")
    file = tmp_path / "train.py"
    file.write_text(SCRIPT)
    return file


@pytest.mark.clause("Explain/script")
@pytest.mark.parametrize("number", [1, 3])
def test_a_script_runs_until_the_update(script: Path, number: int) -> None:
    before = mx.mod.Module.update
    found = explain.script(script, ["--flag", "1"], number)
    assert mx.mod.Module.update is before
    assert (found["source"], found["number"], found["title"]) == ("train.py", number, "softmax")
    first = numbers(found["slices"]["parts"][0]["arrays"]["data"])
    assert first[0].tolist() == [8 * (number - 1), 8 * (number - 1) + 1]
    assert Path("before.txt").read_text() == "--flag 1"
    assert not Path("after.txt").exists()


@pytest.mark.clause("Explain/script-trains")
@pytest.mark.parametrize("text", ["import sys\nsys.exit(3)", "x = 1"])
def test_a_script_that_trains_nothing(script: Path, text: str) -> None:
    script.write_text(text)
    with pytest.raises(ValueError, match="before update 1 of a Module") as caught:
        explain.script(script)
    assert caught.value.clause == "Explain/script-trains"


def test_an_error_of_the_script_is_its_own(script: Path) -> None:
    script.write_text("raise LookupError('mine')")
    with pytest.raises(LookupError, match="mine"):
        explain.script(script)


@pytest.mark.clause("Explain/checkpoint")
def test_a_checkpoint_takes_one_more_step(script: Path) -> None:
    trained = module()
    trained.save_checkpoint("net", 4)
    found = explain.checkpoint("net", 4, [mx.cpu(0)], 6)
    assert found["slices"]["batch_size"] == 6
    assert found["source"].endswith("on random numbers")
    assert np.array_equal(numbers(found["update"]["parameters"][0]["before"]), np.ones((3, 2)))


def test_a_checkpoint_of_digits_gets_digits(script: Path) -> None:
    net = mx.sym.FullyConnected(mx.sym.Flatten(mx.sym.Variable("data")), num_hidden=10, name="fc")
    made = mx.mod.Module(mx.sym.SoftmaxOutput(net, name="softmax"))
    made.bind([("data", (2, 1, 8, 8))], [("softmax_label", (2,))])
    made.init_params()
    made.save_checkpoint("net", 1)
    found = explain.checkpoint("net", 1, [mx.cpu(0)], 6)
    assert found["source"] == "the checkpoint net on packaged digits"


@pytest.mark.clause("Explain/input-shapes")
def test_a_checkpoint_whose_inputs_are_unknown(script: Path) -> None:
    net = mx.sym.Convolution(mx.sym.Variable("data"), num_filter=1, kernel=(3, 3), name="conv")
    made = mx.mod.Module(mx.sym.LinearRegressionOutput(net, name="out"), label_names=("out_label",))
    made.bind([("data", (2, 1, 5, 5))], [("out_label", (2, 1, 3, 3))])
    made.init_params()
    made.save_checkpoint("conv", 1)
    with pytest.raises(ValueError, match="--shape data=64") as caught:
        explain.checkpoint("conv", 1)
    assert caught.value.clause == "Explain/input-shapes"
    found = explain.checkpoint("conv", 1, shapes={"data": (4, 1, 5, 5)})
    assert found["slices"]["batch_size"] == 4


def test_bucketing_scripts_are_watched_too(script: Path) -> None:
    script.write_text("""
import numpy as np
import refimpl as mx
def gen(length):
    data = mx.sym.Variable("data")
    net = mx.sym.FullyConnected(mx.sym.sum(data, axis=1, keepdims=True), num_hidden=2, name="fc")
    return mx.sym.SoftmaxOutput(net, name="softmax"), ("data",), ("softmax_label",)
module = mx.mod.BucketingModule(gen, default_bucket_key=4)
module.bind([("data", (2, 4))], [("softmax_label", (2,))])
module.init_params()
module.init_optimizer()
shape, label = mx.io.DataDesc("data", (2, 3)), mx.io.DataDesc("softmax_label", (2,))
module.forward_backward(mx.io.DataBatch(
    [mx.nd.ones((2, 3))], [mx.nd.zeros(2)], bucket_key=3, provide_data=[shape], provide_label=[label]))
module.update()
""")
    assert explain.script(script)["slices"]["inputs"][0]["shape"] == [2, 3]
