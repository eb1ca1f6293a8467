"""Write ``recorded/``: checkpoints in the forms of several releases, and what MXNet 1.9.1 computes in every network.

MXNet must read each file and compute the same in it. It needs nothing but MXNet (tests/fixtures/README.md says which
versions), so nothing imports it:

    python tests/export/record.py
"""

import json
import os
import struct
import sys
from pathlib import Path

os.environ["MXNET_SUBGRAPH_BACKEND"] = "NONE"  # fused layers round otherwise
import mxnet as mx
import numpy as np
from mxnet.contrib import quantization
from mxnet.gluon import nn

HERE = Path(__file__).parent
FOLDER = HERE / "recorded"
sys.path[:0] = [str(HERE), str(HERE.parent / "fixtures")]
import networks  # noqa: E402
from make_references import as_0_8, as_0_11  # noqa: E402

KEPT = 40  # numbers of each output
OLD_NAMES = {
    "elemwise_add": "_Plus", "elemwise_mul": "_Mul", "_plus_scalar": "_PlusScalar", "_minus_scalar": "_MinusScalar",
    "_mul_scalar": "_MulScalar", "_copy": "identity",
}
RELEASES = {
    "0.8": ("lenet", "googlenet", "unrolled-lstm", "dcgan"),
    "0.11": ("vgg", "squeezenet", "mobilenet-v1", "ssd", "faster-rcnn", "fcn"),
    "1.0": ("face", "retinaface", "crnn"),
    "1.9.1": ("yolov3", "bert", "fused-lstm"),
}


def graph_of(net, release):
    """The graph as a release wrote it."""
    graph = json.loads(net.tojson())
    if release == "0.8":
        graph = as_0_8(graph)
        for node in graph["nodes"]:
            node["op"] = OLD_NAMES.get(node["op"], node["op"])
            node["param"] = {key: value.replace(", ", ",") for key, value in node["param"].items()}
    elif release == "0.11":
        graph = as_0_11(graph)
    elif release == "1.0":
        graph["attrs"] = {"mxnet_version": ["int", 10000]}
    return graph


def record_of(value, release):
    """An array: its rank and sides in 32 bits, then with a mark and sides in 64, or as 1.9.1 has it."""
    head = [struct.pack("<I", value.ndim), *[struct.pack("<I", side) for side in value.shape]]
    if release == "0.11":
        head = [struct.pack("<Ii", 0xF993FAC8, value.ndim), *[struct.pack("<q", side) for side in value.shape]]
    return b"".join(head) + struct.pack("<iii", 1, 0, 0) + value.tobytes()


def write(name, net, arguments, states, release):
    """Write a checkpoint, which must be small."""
    prefix = str(FOLDER / name)
    graph = graph_of(net, release)
    nodes = ",\n".join(json.dumps(node) for node in graph["nodes"])
    rest = json.dumps({key: value for key, value in graph.items() if key != "nodes"})
    Path(prefix + "-symbol.json").write_text('{"nodes": [\n' + nodes + "\n], " + rest[1:] + "\n")
    held = {"arg:" + key: value for key, value in arguments.items()}
    held.update({"aux:" + key: value for key, value in states.items()})
    if release in ("0.8", "0.11"):
        arrays = b"".join(record_of(np.asarray(value), release) for value in held.values())
        names = b"".join(struct.pack("<Q", len(key)) + key.encode() for key in held)
        count = struct.pack("<Q", len(held))
        content = struct.pack("<QQ", 0x112, 0) + count + arrays + count + names
        Path(prefix + "-0000.params").write_bytes(content)
    else:
        mx.nd.save(prefix + "-0000.params", {key: mx.nd.array(value, dtype=value.dtype) for key, value in held.items()})


def computed(net, arguments, states, given):
    """The outputs. Labels are zeros."""
    shapes = {key: value.shape for key, value in given.items()}
    found = dict(zip(net.list_arguments(), net.infer_shape(**shapes)[0]))  # noqa: B905  # Python 3.8
    held = {key: mx.nd.array(value, dtype=value.dtype) for key, value in {**arguments, **given}.items()}
    held = {key: held[key] if key in held else mx.nd.zeros(shape) for key, shape in found.items()}
    states = {key: mx.nd.array(states[key], dtype=states[key].dtype) for key in net.list_auxiliary_states()}
    bound = net.bind(mx.cpu(), held, aux_states=states, grad_req="null")
    return [value.asnumpy() for value in bound.forward(is_train=False)]


def quantized():
    """A network that MXNet quantizes, all but its first layer, whose input has numbers below 0."""
    net = mx.sym.Convolution(mx.sym.Variable("data"), num_filter=8, kernel=(3, 3), pad=(1, 1), name="conv1")
    net = mx.sym.Activation(net, act_type="relu", name="relu1")
    net = mx.sym.Pooling(net, kernel=(2, 2), stride=(2, 2), pool_type="max", name="pool1")
    net = mx.sym.Convolution(net, num_filter=8, kernel=(3, 3), name="conv2")
    net = mx.sym.FullyConnected(mx.sym.Flatten(net, name="flatten"), num_hidden=6, name="fc")
    net = mx.sym.SoftmaxOutput(net, name="softmax")
    shapes = networks.FILES["quantized"]
    arguments, _ = networks.parameters(net, shapes)
    for name in [name for name in arguments if name.endswith("weight")]:
        # no two products of a pair overflow 16 bits: processors without VNNI instructions cut such sums
        weight = np.clip(arguments[name], -0.2, 0.2)
        weight.flat[0] = 0.4
        arguments[name] = weight
    data = networks.inputs("quantized")["data"]
    return quantization.quantize_model(
        net, {key: mx.nd.array(value) for key, value in arguments.items()}, {}, ctx=mx.cpu(), calib_mode="naive",
        quantized_dtype="auto", num_calib_examples=len(data), excluded_sym_names=["conv1"],
        calib_data=mx.io.NDArrayIter(data, np.zeros(len(data)), len(data)),
    )


def gluon():
    """What ``HybridBlock.export`` writes: names with counters, running statistics, a Dense layer for each picture."""
    with mx.name.NameManager():
        net = nn.HybridSequential(prefix="hybridsequential0_")
        with net.name_scope():
            net.add(nn.Conv2D(6, 3, strides=2, padding=1, use_bias=False), nn.BatchNorm(), nn.Activation("relu"))
            net.add(nn.Conv2D(8, 3, padding=1), nn.LeakyReLU(0.1), nn.AvgPool2D(3, 2, 1, ceil_mode=True))
            net.add(nn.BatchNorm(scale=False), nn.GlobalAvgPool2D(), nn.Dense(8, "tanh"), nn.LayerNorm(), nn.Dense(5))
    net.initialize()
    net.hybridize()
    data = mx.nd.array(networks.inputs("gluon")["data"])
    net(data)
    symbol = net(mx.sym.Variable("data"))
    arguments, states = networks.parameters(symbol, networks.FILES["gluon"])
    for name, parameter in net.collect_params().items():
        parameter.set_data(mx.nd.array({**arguments, **states}[name]))
    net.export(str(FOLDER / "gluon"), 0)
    return mx.model.load_checkpoint(str(FOLDER / "gluon"), 0)


def drawn(value):
    """About KEPT numbers of an array."""
    return value.reshape(-1)[:: max(1, value.size // KEPT)]


def main():
    FOLDER.mkdir(exist_ok=True)
    networks.register_custom(mx)
    releases = {name: release for release, names in RELEASES.items() for name in names}
    made = {}
    for name, (build, shapes) in networks.NETWORKS.items():
        if name in networks.REFUSED:
            continue
        net, given = build(mx), networks.inputs(name)
        arguments, states = networks.parameters(net, shapes)
        made[name] = computed(net, arguments, states, given)
        if name in releases:
            write(name, net, arguments, states, releases[name])
            again, *held = mx.model.load_checkpoint(str(FOLDER / name), 0)
            again = mx.sym.load_json(again.tojson())  # states have no nodes in 0.8
            held = [{key: value.asnumpy() for key, value in values.items()} for values in held]
            for one, other in zip(computed(again, *held, given), made[name]):  # noqa: B905
                np.testing.assert_array_equal(one, other, name)
    net, *held = quantized()
    held = [{key: value.asnumpy() for key, value in values.items()} for values in held]
    write("quantized", net, *held, "1.9.1")
    made["quantized"] = computed(net, *held, networks.inputs("quantized"))
    net, *held = gluon()
    held = [{key: value.asnumpy() for key, value in values.items()} for values in held]
    made["gluon"] = computed(net, *held, networks.inputs("gluon"))
    lines = [
        json.dumps(name) + ": " + json.dumps([
            {"shape": value.shape, "numbers": [float(f"{x:.9g}") for x in drawn(value)]} for value in outputs
        ])
        for name, outputs in made.items()
    ]
    (FOLDER / "outputs.json").write_text("{\n" + ",\n".join(lines) + "\n}\n")


if __name__ == "__main__":
    main()
