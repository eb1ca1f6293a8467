"""The networks that are trained: one text for this library and MXNet, and the same in PyTorch, eager."""

import importlib.util
import json
import sys
from pathlib import Path

import numpy as np

from .torch_networks import MOBILENET, RESNET50, TORCH
from .work import Case, Work, row


def of_package(mx, name, classes, image):
    """One of ``refimpl.model.networks``, built in whichever library ``mx`` is."""
    sys.modules.setdefault("refimpl", mx)  # its import line
    file = Path(__file__).resolve().parents[3] / "model" / "networks.py"
    spec = importlib.util.spec_from_file_location("networks", file)
    networks = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(networks)
    return networks.NETWORKS[name](classes, image)


class Layers:
    """Layers as MXNet's examples spell them."""

    def __init__(self, sym):
        self.sym = sym

    def convolution(self, net, filters, kernel, stride, name, groups=1):
        """Padded so that only the stride changes sizes."""
        return self.sym.Convolution(
            net, num_filter=filters, kernel=(kernel, kernel), stride=(stride, stride), pad=(kernel // 2, kernel // 2),
            num_group=groups, no_bias=True, name=name,
        )

    def normalised(self, net, name, fix_gamma=False):
        """Batch norm."""
        return self.sym.BatchNorm(net, fix_gamma=fix_gamma, eps=2e-5, momentum=0.9, name=name)

    def rectified(self, net, name):
        """ReLU."""
        return self.sym.Activation(net, act_type="relu", name=name)

    def unit(self, net, filters, stride, widens, name):
        """Version 1 (He et al., 2015): each convolution is normalised, then activated."""
        branch = net
        for number, (width, kernel, step) in enumerate(
            ((filters // 4, 1, stride), (filters // 4, 3, 1), (filters, 1, 1)), start=1
        ):
            branch = self.convolution(branch, width, kernel, step, f"{name}_conv{number}")
            branch = self.normalised(branch, f"{name}_bn{number}")
            if number < 3:
                branch = self.rectified(branch, f"{name}_relu{number}")
        if widens:
            net = self.normalised(self.convolution(net, filters, 1, stride, name + "_sc"), name + "_scbn")
        return self.rectified(branch + net, name + "_relu3")

    def unit_before(self, net, filters, stride, widens, name):
        """Version 2 (He et al., 2016): normalised and activated before each convolution."""
        branch, first = net, None
        for number, (width, kernel, step) in enumerate(
            ((filters // 4, 1, 1), (filters // 4, 3, stride), (filters, 1, 1)), start=1
        ):
            branch = self.rectified(self.normalised(branch, f"{name}_bn{number}"), f"{name}_relu{number}")
            first = branch if first is None else first
            branch = self.convolution(branch, width, kernel, step, f"{name}_conv{number}")
        return branch + (self.convolution(first, filters, 1, stride, name + "_sc") if widens else net)

    def classified(self, net, classes):
        """Pooled globally, a layer of classes, and the loss."""
        net = self.sym.Pooling(net, pool_type="avg", global_pool=True, kernel=(7, 7), name="pool1")
        net = self.sym.FullyConnected(self.sym.Flatten(net, name="flatten"), num_hidden=classes, name="fc1")
        return self.sym.SoftmaxOutput(net, name="softmax")


def resnet50(mx, version, classes=1000):
    """ResNet-50 of version 1 or 2."""
    build = Layers(mx.sym)
    net = mx.sym.Variable("data")
    if version == 2:
        net = build.normalised(net, "bn_data", fix_gamma=True)
    net = build.rectified(build.normalised(build.convolution(net, 64, 7, 2, "conv0"), "bn0"), "relu0")
    net = mx.sym.Pooling(net, pool_type="max", kernel=(3, 3), stride=(2, 2), pad=(1, 1), name="pool0")
    unit = build.unit if version == 1 else build.unit_before
    for stage, (units, filters) in enumerate(RESNET50, start=1):
        for number in range(1, units + 1):
            stride = 2 if number == 1 and stage > 1 else 1
            net = unit(net, filters, stride, number == 1, f"stage{stage}_unit{number}")
    if version == 2:
        net = build.rectified(build.normalised(net, "bn1"), "relu1")
    return build.classified(net, classes)


def mobilenet(mx, classes):
    """Depthwise and 1x1 convolutions in turn (Howard et al., 2017)."""
    build = Layers(mx.sym)
    net = build.convolution(mx.sym.Variable("data"), 32, 3, 2, "conv0")
    net = build.rectified(build.normalised(net, "bn0"), "relu0")
    before = 32
    for number, (filters, stride) in enumerate(MOBILENET, start=1):
        net = build.convolution(net, before, 3, stride, f"depth{number}", groups=before)
        net = build.rectified(build.normalised(net, f"depth{number}_bn"), f"depth{number}_relu")
        net = build.convolution(net, filters, 1, 1, f"point{number}")
        net = build.rectified(build.normalised(net, f"point{number}_bn"), f"point{number}_relu")
        before = filters
    return build.classified(net, classes)


def language_model(mx, steps, hidden, words, fused):
    """Two layers of LSTM over words, fused into one operator or unrolled into cells."""
    net = mx.sym.Embedding(mx.sym.Variable("data"), input_dim=words, output_dim=hidden, name="embed")
    if fused:
        cell = mx.rnn.FusedRNNCell(hidden, num_layers=2, mode="lstm", prefix="lstm_")
    else:
        cell = mx.rnn.SequentialRNNCell()
        for number in range(2):
            cell.add(mx.rnn.LSTMCell(hidden, prefix=f"lstm{number}_"))
    net, _ = cell.unroll(steps, inputs=net, layout="NTC", merge_outputs=True)
    net = mx.sym.FullyConnected(mx.sym.Reshape(net, shape=(-1, hidden)), num_hidden=words, name="pred")
    return mx.sym.SoftmaxOutput(net, mx.sym.Reshape(mx.sym.Variable("softmax_label"), shape=(-1,)), name="softmax")


def flops(net, shapes):
    """The least that one training step computes in layers with weights: a product forward, and two backward."""
    nodes = json.loads(net.tojson())["nodes"]
    inner = net.get_internals()
    _, found, _ = inner.infer_shape(**shapes)
    size = {name: int(np.prod(shape)) for name, shape in zip(inner.list_outputs(), found)}
    total = 0
    differentiated = []  # whether anything before it is trained, by node
    for node in nodes:
        inputs = [nodes[number]["name"] for number, *_ in node["inputs"]]
        before = [differentiated[number] for number, *_ in node["inputs"]]
        differentiated.append(any(before) or (node["op"] == "null" and node["name"] not in shapes))
        attributes = node.get("attrs", {})
        if node["op"] in {"Convolution", "FullyConnected"}:
            filters = int(attributes.get("num_filter") or attributes["num_hidden"])
            products = size[node["name"] + "_output"] * size[inputs[1]] // filters
        elif node["op"] == "RNN":  # each number of the weights (biases apart) meets each row once
            steps, rows = shapes["data"][1], shapes["data"][0]
            products = size[inputs[1]] * steps * rows
        else:
            continue
        total += 2 * products * (3 if before[0] else 2)  # nobody wants the gradient of the data
    return total


def module_of(mx, net, data, label, contexts=1, optimizer="sgd"):
    """A module bound to arrays, and their batch."""
    here = mx.current_context()
    module = mx.mod.Module(net, context=[mx.Context(here.device_type, number) for number in range(contexts)])
    module.bind([("data", data.shape)], [("softmax_label", label.shape)])
    module.init_params(mx.init.Xavier())
    rates = {"learning_rate": 0.05, "momentum": 0.9} if optimizer == "sgd" else {}
    module.init_optimizer(optimizer=optimizer, optimizer_params=rates)
    return module, mx.io.DataBatch([mx.nd.array(data)], [mx.nd.array(label)])


def images(batch, shape, classes):
    """Random pictures and classes."""
    random = np.random.RandomState(0)
    return random.uniform(-1, 1, (batch, *shape)).astype(np.float32), random.randint(0, classes, batch).astype("f")


def sentences(batch, steps, words):
    """Random words."""
    drawn = np.random.RandomState(0).randint(0, words, (2, batch, steps))
    return drawn[0].astype(np.float32), drawn[1].astype(np.float32)


def training(net, name, data, label, contexts, sizes):
    """The case of a network: ``net(mx)`` makes its symbol, ``sizes`` are the arguments of PyTorch's network."""
    def mx(mx):
        symbol = net(mx)
        module, batch = module_of(mx, symbol, data, label, contexts)

        def step():
            module.forward_backward(batch)
            module.update()

        return Work(step, flops(symbol, {"data": data.shape, "softmax_label": label.shape}))

    def torch(torch):
        made = TORCH[name](torch, *sizes)
        loss = torch.nn.CrossEntropyLoss()
        optimizer = torch.optim.SGD(made.parameters(), lr=0.05, momentum=0.9)
        given = torch.from_numpy(data)
        given, wanted = given.long() if name == "lstm" else given, torch.from_numpy(label).long().reshape(-1)

        def step():
            optimizer.zero_grad()
            loss(made(given), wanted).backward()
            optimizer.step()

        return Work(step)

    return Case(mx, torch if name in TORCH else None)


def pictures(name, batch, image, classes, contexts):
    """A network for pictures."""
    def net(mx):
        if name in SMALL:
            return of_package(mx, name, classes, image)
        return mobilenet(mx, classes) if name == "mobilenet" else resnet50(mx, 1, classes)

    return training(net, name, *images(batch, image, classes), contexts, (classes, image))


def words(fused, batch, steps, hidden, vocabulary):
    """A network for sentences."""
    return training(
        lambda mx: language_model(mx, steps, hidden, vocabulary, fused), "lstm" if fused else "cells",
        *sentences(batch, steps, vocabulary), 1, (vocabulary, hidden),
    )


def picture_row(group, title, name, batch, image, classes=10, contexts=1, threads=1):
    """Pictures on some contexts; peers get as many threads as is said."""
    return row(
        group, title, pictures, threads=threads, name=name, batch=batch, image=image, classes=classes,
        contexts=contexts,
    )


SMALL = {"mlp": (100, (1, 28, 28)), "lenet": (64, (1, 28, 28)), "resnet-20": (32, (3, 32, 32))}
SENTENCES = {"batch": 32, "steps": 35, "hidden": 200, "vocabulary": 1000}

ROWS = [
    *[picture_row("training", f"{name}, one context", name, *SMALL[name]) for name in SMALL],
    row("training", "LSTM 2x200 T35 b32, fused", words, fused=True, **SENTENCES),
    row("training", "LSTM 2x200 T35 b32, cells", words, fused=False, **SENTENCES),
    picture_row("training", "MobileNet-like 128^2 b8", "mobilenet", 8, (3, 128, 128), 1000),
    picture_row("training", "ResNet-50 224^2 b2", "resnet-50", 2, (3, 224, 224), 1000),
    *[
        picture_row("training", f"{name}, two contexts", name, *SMALL[name], contexts=2, threads=2) for name in SMALL
    ],
    *[
        picture_row("contexts", f"mlp b104, contexts: {count}", "mlp", 104, (1, 28, 28), contexts=count)
        for count in (1, 2, 4, 8)
    ],
]
