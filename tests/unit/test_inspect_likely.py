"""What ``refimpl inspect`` says in the place of many lines, and what looks wrong without being damaged."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import refimpl as mx
from refimpl import cli

from .inspected import in_folder, inspecting, problems

__all__ = ["in_folder", "inspecting"]


def renamed(change: Any) -> None:
    """The arrays of the residual network under other names."""
    mx.nd.save("resnet-0012.params", {change(name): value for name, value in mx.nd.load("resnet-0012.params").items()})


@pytest.mark.clause("Inspect/other-names")
def test_a_prefix_that_is_too_much(inspect: Any) -> None:
    renamed(lambda name: name.replace(":", ":model_"))
    code, found = inspect("resnet")
    assert (code, problems(found)) == (1, [("other-prefix", "resnet-0012.params")])
    assert found["problems"][0]["message"] == (
        "all names match once the prefix model_ is taken off the names in the file"
    )


@pytest.mark.clause("Inspect/other-names")
def test_a_prefix_that_lacks_and_one_that_is_another(inspect: Any) -> None:
    net = mx.sym.FullyConnected(mx.sym.Variable("data"), num_hidden=2, name="net1_fc")
    arrays = {"weight": mx.nd.ones((2, 3)), "bias": mx.nd.ones(2)}
    for old, said in (("", "net1_ is put before the names"), ("net0_", "net0_ of the names in the file becomes net1_")):
        mx.model.save_checkpoint("other", 1, net, {f"{old}fc_{name}": value for name, value in arrays.items()}, {})
        _, found = inspect("other")
        assert problems(found) == [("other-prefix", "other-0001.params")]
        assert said in found["problems"][0]["message"]


@pytest.mark.clause("Inspect/other-network")
def test_parameters_of_another_network(inspect: Any) -> None:
    Path("resnet-0012.params").write_bytes(Path("mxnet-0003.params").read_bytes())
    code, found = inspect("resnet")
    assert code == 1
    assert [kind for kind, _ in problems(found) if kind not in ("wrong-shape", "contradiction")] == ["other-network"]
    assert "resnet-0012.params belongs to another network: it lacks" in found["problems"][-1]["message"]


@pytest.mark.clause("Inspect/unpacked")
def test_parts_of_a_fused_cell_and_the_lines_that_pack_them(inspect: Any) -> None:
    net, arguments, states = mx.model.load_checkpoint("lstm", 7)
    cell = mx.rnn.FusedRNNCell(5, num_layers=1, mode="lstm", prefix="lstm_")
    mx.rnn.save_rnn_checkpoint(cell, "parts", 7, net, arguments, states)
    code, found = inspect("parts")
    assert (code, problems(found)) == (1, [("unpacked-parameters", "lstm_parameters")])
    told = found["problems"][0]["message"]
    assert "cell = mx.rnn.FusedRNNCell(5, num_layers=1, mode='lstm', bidirectional=False, prefix='lstm_');" in told
    exec(told.partition("pack them so: ")[2], {"mx": mx})  # the lines are what is tested
    assert inspect("parts")[0] == 0
    again = mx.model.load_checkpoint("parts", 7)[1]["lstm_parameters"].asnumpy()
    np.testing.assert_array_equal(again, arguments["lstm_parameters"].asnumpy())


@pytest.mark.clause("Inspect/gluon")
def test_parameters_of_gluon(inspect: Any) -> None:
    """Names as save_parameters of MXNet 1.9.1 writes them: those of blocks within blocks."""
    mx.nd.save("mxnet-0003.params", {"0.weight": mx.nd.ones((2, 3)), "1.running_mean": mx.nd.ones(2)})
    code, found = inspect("mxnet")
    assert (code, problems(found)) == (1, [("gluon-parameters", "mxnet-0003.params")])
    assert "parameters of gluon's save_parameters: 2 arrays such as 0.weight" in found["problems"][0]["message"]


def normal(**attributes: Any) -> None:
    net = mx.sym.BatchNorm(mx.sym.Variable("data"), name="bn", **attributes)
    arrays = {"bn_gamma": mx.nd.array([1, 2]), "bn_beta": mx.nd.zeros(2)}
    states = {"bn_moving_mean": mx.nd.zeros(2), "bn_moving_var": mx.nd.array([-0.5, 1])}
    mx.model.save_checkpoint("normal", 1, net, arrays, states)


@pytest.mark.clause("Inspect/variance")
def test_a_negative_variance(inspect: Any) -> None:
    normal(fix_gamma=False)
    code, found = inspect("normal")
    assert (code, problems(found), found["notes"]) == (1, [("negative-variance", "bn_moving_var")], [])
    assert found["problems"][0]["message"] == (
        "bn_moving_var is a variance and has 1 negative values of 2, the least is -0.5"
    )


@pytest.mark.clause("Inspect/gamma")
def test_a_gamma_that_is_ignored(inspect: Any, capsys: pytest.CaptureFixture[str]) -> None:
    normal()
    _, found = inspect("normal")
    assert json.dumps(found["notes"]) == json.dumps([{
        "kind": "ignored-gamma", "about": "bn_gamma",
        "message": "fix_gamma takes 1 in the place of 1 arrays that are not 1: bn_gamma",
    }])
    assert cli.run(["inspect", "normal"]) == 1
    assert "\nnote, ignored-gamma: fix_gamma takes 1 in the place of 1 arrays" in capsys.readouterr().out
