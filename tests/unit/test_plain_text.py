"""No command and no refusal prints a character of a file that would steer a terminal."""

from __future__ import annotations

import json
import pickle
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import refimpl as mx
from refimpl import cli
from refimpl.base import printable

HOSTILE = "\x1b]0;pwned\x07\x1b[2J\r\x08\x7f\x9b31m\u202e\u200b<blink>"
"""Title and colour of a terminal, a line written over, eight-bit escapes, text that runs backwards; a tag for pages."""


def plain(text: str) -> bool:
    return all(character.isprintable() or character in "\n\t" for character in text)


def test_what_is_escaped() -> None:
    assert printable("Größe 3 % 4\n\tb") == "Größe 3 % 4\n\tb"
    assert printable(HOSTILE) == r"\x1b]0;pwned\x07\x1b[2J\r\x08\x7f\x9b31m\u202e\u200b<blink>"


# --- commands -------------------------------------------------------------------------------------


def write_files() -> None:
    """A checkpoint whose names are hostile, and files that name things likewise."""
    h = HOSTILE
    net = mx.sym.FullyConnected(mx.sym.Variable(f"{h}data"), num_hidden=2, name=f"{h}fc")
    mx.sym.SoftmaxOutput(net, name=f"{h}softmax").save("net-symbol.json")
    arrays = {f"arg:{h}fc_weight": mx.nd.ones((2, 3)), f"arg:{h}fc_bias": mx.nd.ones(2)}
    mx.nd.save("net-0001.params", arrays)
    mx.nd.save("net-0002.params", {**arrays, f"aux:{h}more": mx.nd.ones(1), f"{h}:x": mx.nd.ones(1)})
    mx.nd.save("net-0003.params", {f"arg:{h}fc_weight": mx.nd.array([[np.nan] * 4] * 2)})
    Path("net-0001.states").write_bytes(pickle.dumps({h: None}))
    Path("net-0002.states").write_bytes(f"c{h}\nsystem\n.".encode())
    data = np.ones((2, 3), np.float32)
    np.savez("in.npz", **{f"{h}data": data, "label": np.zeros(2), f"{h}fc_output": data[:, :2]})
    np.savez("other.npz", **{f"{h}other": data})
    np.savez("objects.npz", **{f"{h}data": np.array([None])})
    Path("names.txt").write_text(f"{h}a\n{h}b\n", encoding="utf-8")
    text = Path("net-symbol.json").read_text(encoding="utf-8")
    escaped = json.dumps(h)[1:-1]
    for name, old, new in (
        ("operator", '"FullyConnected"', f'"Foo{escaped}"'),
        ("number", '"num_hidden": "2"', f'"num_hidden": "{escaped}"'),
        ("attribute", '"num_hidden"', f'"{escaped}num"'), ("raw", '"nodes"', f'"nodes": {h}, "x"'),
        ("shape", '"num_hidden": "2"', '"num_hidden": "-2"'),
    ):
        assert old in text
        Path(f"{name}-symbol.json").write_text(text.replace(old, new, 1), encoding="utf-8")
        Path(f"{name}-0001.params").write_bytes(Path("net-0001.params").read_bytes())
    Path("log.jsonl").write_text(json.dumps({"version": 1, h: h}) + f"\n{h}\n", encoding="utf-8")
    Path("script.py").write_text(f"import mxnet as mx\nmx.nd.{'x'}_nosuch('{h[:3]}')\nprint '{h}'\n", encoding="utf-8")
    Path("program.json").write_text(json.dumps({"version": h, h: [h]}), encoding="utf-8")


NETS = ["net", "operator", "number", "attribute", "raw", "shape"]
COMMANDS = [
    *(["inspect", net, "1"] for net in NETS), ["inspect", "net", "2"], ["inspect", "net", "3"],
    ["inspect", "net", "3", "--json"],
    *(["predict", net, "1", "--npz", "in.npz"] for net in NETS), ["predict", "net", "3", "--npz", "in.npz"],
    ["predict", "net", "1", "--npz", "in.npz", "--synset", "names.txt"],
    ["predict", "net", "1", "--npz", "in.npz", "--output", f"{HOSTILE}fc"],
    ["predict", "net", "1", "--npz", "in.npz", "--output", "fc"],
    ["predict", "net", "1", "--npz", "other.npz"], ["predict", "net", "1", "--npz", "objects.npz"],
    ["predict", "net", "1", "--image", "names.txt"], ["score", "net", "1", "--npz", "in.npz"],
    ["score", "net", "1", "--npz", "other.npz"], ["score", "net", "1"], ["verify", "net", "1", "in.npz"],
    ["verify", "net", "1", "in.npz", "--json"], ["verify", "net", "1", "other.npz"], ["verify", "net", "1", "net", "1"],
    ["verify", "net", "1", "net", "3"], ["warm", "net", "1"], ["warm", "net", "1", "--shape", "data=2,3"],
    ["plot", "net"], ["plot", "net", "--shape", "data=2,3"], ["plot", "net", "-o", "net.png"], ["plot", "operator"],
    ["explain", "net", "--epoch", "1"], ["explain", "net", "--epoch", "1", "--json"],
    ["explain", "net", "--epoch", "3"],
    ["explain", "--cluster", "log.jsonl"], ["check", "script.py"], ["run", "script.py"],
    ["train", "--model-prefix", "net", "--network", "mlp", "--load-epoch", "1"],
    ["oracle", "replay", "refimpl:Backend", "program.json"], ["ops", HOSTILE], ["rule", HOSTILE],
    ["examples", "show", HOSTILE], ["inspect", HOSTILE], [HOSTILE],
]


@pytest.mark.clause("Cli/plain-text")
@pytest.mark.parametrize("words", COMMANDS, ids=lambda words: printable(" ".join(words)))
def test_commands_print_names_of_files_escaped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], words: list[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    write_files()
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        cli.run(words)
    out, err = capfd.readouterr()
    assert out + err
    assert plain(out)
    assert plain(err)
    for file in (*tmp_path.glob("*.svg"), *tmp_path.glob("*.html")):
        drawn = file.read_text(encoding="utf-8").replace("\u202f", "")  # a space of our own, between digits
        assert plain(drawn)
        assert "<blink>" not in drawn


# --- refusals -------------------------------------------------------------------------------------


def graph(**node: Any) -> str:
    """A file of one variable and a node that reads it."""
    first = {"op": "null", "name": f"{HOSTILE}x", "inputs": []}
    second = {"op": "Activation", "name": f"{HOSTILE}y", "attrs": {"act_type": "relu"}, "inputs": [[0, 0, 0]], **node}
    return json.dumps({"nodes": [first, second], "arg_nodes": [0], "heads": [[1, 0, 0]]})


def states_of(raw: bytes) -> None:
    mx.optimizer.get_updater(mx.optimizer.SGD()).set_states(raw)


REFUSED: dict[str, Callable[[], Any]] = {
    "operator": lambda: mx.sym.load_json(graph(op=HOSTILE)),
    "attribute": lambda: mx.sym.load_json(graph(attrs={HOSTILE: "1", "act_type": "relu"})),
    "value": lambda: mx.sym.load_json(graph(attrs={"act_type": HOSTILE})),
    "dtype": lambda: mx.sym.load_json(graph(op="Cast", attrs={"dtype": HOSTILE})),
    "number": lambda: mx.sym.load_json(graph(op="FullyConnected", attrs={"num_hidden": HOSTILE})),
    "node": lambda: mx.sym.load_json(graph(op="Flatten", attrs={})).infer_shape(**{f"{HOSTILE}x": (2,), HOSTILE: (3,)}),
    "inference": lambda: mx.sym.load_json(graph(op="Reshape", attrs={"shape": "(3,)"})).infer_shape(
        **{f"{HOSTILE}x": (2,)}),
    "missing array": lambda: mx.sym.load_json(graph()).bind(mx.cpu(), {}),
    "parameter": lambda: mx.sym.load_json(graph()).simple_bind(mx.cpu(), **{f"{HOSTILE}x": (2,)}).copy_params_from(
        {HOSTILE: mx.nd.ones(1)}),
    "states": lambda: states_of(f"c{HOSTILE}\nsystem\n.".encode()),
}


@pytest.mark.clause("Cli/plain-text")
@pytest.mark.parametrize("call", REFUSED.values(), ids=REFUSED)
def test_refusals_name_what_files_hold_escaped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: Callable[[], Any]
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises((RuntimeError, ValueError, TypeError)) as caught:
        call()
    assert plain(str(caught.value))
    assert "pwned" in str(caught.value)


@pytest.mark.clause("Cli/plain-text")
def test_warnings_and_log_lines_name_what_files_hold_escaped(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO")
    net = mx.sym.load_json(graph())
    data = [mx.io.DataDesc(f"{HOSTILE}x", (2,))]
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        mx.mod.Module(net, data_names=[f"{HOSTILE}x"], label_names=["label"])
        module = mx.mod.Module(net, data_names=[f"{HOSTILE}x"], label_names=[])
        with pytest.raises(KeyError, match="pwned"):
            module.bind(data, [mx.io.DataDesc(f"{HOSTILE}label", (2,))])
    module.bind(data)
    monitor = mx.mon.Monitor(1)
    module.init_params()
    module.install_monitor(monitor)
    monitor.tic()
    module.forward(mx.io.DataBatch([mx.nd.ones(2)]), is_train=False)
    monitor.toc_print()
    for lines in ([str(one.message) for one in told], caplog.messages):
        assert any("pwned" in line for line in lines)
        assert all(map(plain, lines))


@pytest.mark.clause("Cli/plain-text")
def test_tables_take_names_that_json_would_escape(capsys: pytest.CaptureFixture[str]) -> None:
    mx.viz.print_summary(mx.sym.Activation(mx.sym.Variable("data"), act_type="relu", name=HOSTILE))
    out = capsys.readouterr().out
    assert plain(out)
    assert r"\x1b]0;pwned" in out
