"""The thin networks compute what MXNet 1.9.1 computed, in code and in files of several releases; the judge agrees."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

import refimpl as mx
from refimpl.export.judging import judge
from refimpl.symbol.prediction import prediction

from . import networks

networks.register_custom(mx)
OUTPUTS = json.loads((networks.RECORDED / "outputs.json").read_text())
EVERY = [*networks.NETWORKS, *networks.FILES]
WRITTEN = sorted(path.name.removesuffix("-symbol.json") for path in networks.RECORDED.glob("*-symbol.json"))
MARKS = {"0.8": b"", "0.11": b"\xc8\xfa\x93\xf9", "1.0": b"\xc9\xfa\x93\xf9", "1.9.1": b"\xc9\xfa\x93\xf9"}
RELEASES = {
    "lenet": "0.8", "googlenet": "0.8", "unrolled-lstm": "0.8", "dcgan": "0.8", "vgg": "0.11", "squeezenet": "0.11",
    "mobilenet-v1": "0.11", "ssd": "0.11", "faster-rcnn": "0.11", "fcn": "0.11", "face": "1.0", "retinaface": "1.0",
    "crnn": "1.0", "yolov3": "1.9.1", "bert": "1.9.1", "fused-lstm": "1.9.1", "quantized": "1.9.1", "gluon": "1.9.1",
}


def run(net: mx.sym.Symbol, args: Any, aux: Any, given: dict[str, np.ndarray]) -> list[np.ndarray]:
    """The outputs; labels are zeros."""
    shapes, _, _ = net.infer_shape(**{name: value.shape for name, value in given.items()})
    held = {name: mx.nd.zeros(shape) for name, shape in zip(net.list_arguments(), shapes, strict=True)}
    held |= {name: mx.nd.array(value, dtype=value.dtype) for name, value in {**args, **given}.items()}
    states = {name: mx.nd.array(aux[name], dtype=aux[name].dtype) for name in net.list_auxiliary_states()}
    held = {name: held[name] for name in net.list_arguments()}
    return [value.asnumpy() for value in net.bind(mx.cpu(), held, aux_states=states, grad_req="null").forward()]


def agree(name: str, outputs: list[np.ndarray]) -> None:
    recorded = OUTPUTS[name]
    assert len(outputs) == len(recorded)
    for number, (value, wanted) in enumerate(zip(outputs, recorded, strict=True)):
        if name == "crnn" and number == 0:  # labels of 0 name the blank class, where MXNet's loss is its own
            continue
        assert list(value.shape) == wanted["shape"]
        numbers = np.array(wanted["numbers"])
        every = max(1, value.size // 40)
        largest = np.abs(numbers).max()
        np.testing.assert_allclose(value.reshape(-1)[::every], numbers, rtol=2e-5, atol=2e-5 * largest)


@pytest.mark.parametrize("name", [name for name in EVERY if name not in networks.REFUSED])
def test_a_network_computes_what_mxnet_computed(name: str) -> None:
    agree(name, run(*networks.network(mx, name), networks.inputs(name)))


@pytest.mark.parametrize("name", WRITTEN)
def test_a_file_of_an_older_release_computes_it_too(name: str) -> None:
    release = RELEASES[name]
    content = (networks.RECORDED / f"{name}-0000.params").read_bytes()
    assert content[24:].startswith(MARKS[release])
    graph = json.loads((networks.RECORDED / f"{name}-symbol.json").read_text())
    keys = {key for node in graph["nodes"] for key in node}
    assert ("param" in keys, "attr" in keys, "attrs" in keys) == {
        "0.8": (True, False, False), "0.11": (False, True, False), "1.0": (False, False, True),
        "1.9.1": (False, False, True),
    }[release]
    agree(name, run(*networks.recorded(mx, name), networks.inputs(name)))


def test_the_files_are_small() -> None:
    assert sorted(RELEASES) == WRITTEN
    assert sum(path.stat().st_size for path in networks.RECORDED.iterdir()) < 600_000


@pytest.mark.heavy
@pytest.mark.parametrize("name", EVERY)
def test_every_layer_is_within_its_bound(name: str) -> None:
    net, args, aux = networks.network(mx, name)
    given = networks.inputs(name)
    exported = prediction(net, args, aux, networks.shapes_of(name))
    internals = exported.symbol.get_internals()
    outputs = run(internals, exported.params, exported.params, given)
    found = judge(exported, dict(zip(internals.list_outputs(), outputs, strict=True)) | given)
    layers = [node for node in exported.symbol.order() if node.op is not None]
    assert [verdict.layer for verdict in found] == [node.name for node in layers]
    assert [verdict for verdict in found if not verdict.ok] == []
    assert all(verdict.elements for verdict in found)
