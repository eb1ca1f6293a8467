"""Thin networks of the kinds that people have files of, for refimpl and for MXNet.

Numbers come from names, so that no file holds them: ``parameters`` draws them as a training might leave them, and
``inputs`` draws pictures, words and lengths. Nothing here imports either library: ``record.py`` runs in MXNet's Python.
"""

import zlib
from pathlib import Path

import numpy as np

from . import classic, dense, detectors, residual, sequence
from .detectors import register_custom  # noqa: F401

NETWORKS = {
    **classic.NETWORKS, **residual.NETWORKS, **detectors.NETWORKS, **dense.NETWORKS, **sequence.NETWORKS,
}
"""Name -> the function that builds the symbol, and the shapes of its inputs."""
FILES = {"quantized": {"data": (2, 3, 8, 8)}, "gluon": {"data": (2, 3, 16, 16)}}
"""Networks that only MXNet makes -> the shapes of their inputs."""
RECORDED = Path(__file__).parents[1] / "recorded"
REFUSED = ("custom-detector",)
"""What has no form outside of MXNet."""
ANCHORS = np.array([[4, 6], [9, 7]], "float32")


def _stream(name):
    return np.random.RandomState(zlib.crc32(name.encode()))


def network(mx, name):
    """The symbol, the parameters and the auxiliary states of a network; ``name`` is in NETWORKS or FILES."""
    if name in FILES:
        return recorded(mx, name)
    build, shapes = NETWORKS[name]
    net = build(mx)
    return net, *parameters(net, shapes)


def recorded(mx, name):
    """The same from a checkpoint that ``record.py`` wrote."""
    net, *held = mx.model.load_checkpoint(str(RECORDED / name), 0)
    return net, *[{key: value.asnumpy() for key, value in values.items()} for values in held]


def shapes_of(name):
    """The shapes of the inputs of a network."""
    return FILES[name] if name in FILES else NETWORKS[name][1]


def inputs(name):
    """The inputs of a network by name, float32."""
    made = {}
    for key, shape in shapes_of(name).items():
        stream = _stream(name + key)
        if key in ("length", "valid_length"):
            made[key] = stream.randint(2, 6, shape)
        elif len(shape) == 2 and key == "data" and "machine" not in name:
            made[key] = stream.randint(0, 20, shape)
        elif key == "token_types":
            made[key] = stream.randint(0, 2, shape)
        elif key == "im_info":
            made[key] = np.array([[32, 32, 1]])
        elif key == "rois":
            made[key] = np.column_stack([np.zeros(4), stream.uniform(0, 12, (4, 2)), stream.uniform(16, 30, (4, 2))])
        elif name == "face":
            made[key] = stream.randint(0, 256, shape)
        else:
            made[key] = np.round(stream.normal(size=shape), 2)
    return {key: value.astype("float32") for key, value in made.items()}


def parameters(net, shapes):
    """Parameters and auxiliary states by name, float32, of a symbol of either library."""
    found, _, states = net.infer_shape(**shapes)
    arguments = {
        name: _parameter(name, shape) for name, shape in zip(net.list_arguments(), found)  # noqa: B905  # Python 3.8
        if name not in shapes and not name.endswith("label")
    }
    names = net.list_auxiliary_states()
    return arguments, {name: _parameter(name, shape) for name, shape in zip(names, states)}  # noqa: B905


def _parameter(name, shape):
    stream = _stream(name)
    if name.endswith("_offsets"):
        side = round(shape[1] ** 0.5)
        made = np.stack(np.meshgrid(np.arange(side), np.arange(side)), -1).reshape(shape)
    elif name.endswith("_anchors"):
        made = ANCHORS.reshape(shape)
    elif name.endswith("_var"):
        made = stream.uniform(0.5, 2, shape)
    elif name.endswith(("gamma", "_scale")):
        made = stream.uniform(0.5, 1.5, shape)
    elif name.endswith("parameters") or len(shape) == 1 or name in ("v", "w1_weight"):
        made = stream.normal(0, 0.3, shape)
    else:
        made = stream.normal(0, 1.4 / np.sqrt(np.prod(shape[1:])), shape)
    return made.astype("float32")
