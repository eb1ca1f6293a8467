"""Programs of level 4: networks of several lengths that share parameters, and networks trained by SVRG."""

from __future__ import annotations

from typing import Any

from ..programs.program import VERSION
from .choices import NOTHING, Capabilities, Exclusions, Program
from .drawn_modules import RATES, Script, enough, rows_over
from .drawn_networks import Network, draw_network, program_of
from .draws import Draw

FEATURES = frozenset({
    "buckets/absent parameters", "buckets/other order", "buckets/switch", "svrg/two devices", "svrg/padding",
    "svrg/second pass", "svrg/batch statistics",
})
"""What ``exclude.operators`` may name beside operators and the features of modules: programs are then drawn without
it."""
CAREFUL = frozenset({"buckets/absent parameters", "module/no parameters"})
"""What MXNet 1.9.1 refuses or gets wrong: ``get_params`` in a bucket that lacks a parameter gives its old value."""

Step = dict[str, Any]


class Family:
    """One network for each length: the same layers over each step of a sequence, and their sum."""

    def __init__(self, draw: Draw, capabilities: Capabilities, exclude: Exclusions) -> None:
        self.draw = draw
        self.width, self.hidden, self.classes = draw.integer(1, 3), draw.integer(1, 3), draw.integer(2, 4)
        self.deep = draw.boolean()
        self.softmax = draw.boolean()
        self.absent = draw.one_in(3) and "buckets/absent parameters" not in exclude.operators
        self.mixed = draw.one_in(3) and "buckets/other order" not in exclude.operators
        self.keys = sorted({draw.integer(1, 5) for _ in range(draw.integer(1, 3))}, reverse=True)
        self.default = self.keys[0]
        self.networks = {key: self.network(capabilities, exclude, key) for key in self.keys}
        self.parameters: dict[str, Step] = {}
        for key in reversed(self.keys):
            self.parameters.update(self.networks[key].parameters)
        self.nodes: list[Step] = []
        self.heads: list[list[int]] = []
        self.buckets: list[Step] = []
        for key, network in self.networks.items():
            self._join(key, network)

    def network(self, capabilities: Capabilities, exclude: Exclusions, key: int) -> Network:
        """The network of one bucket."""
        made = Network(self.draw, capabilities, exclude)
        value = made.input("data", (key, self.width))
        late = self.mixed and key != self.default
        if late:  # arguments then have another order
            label = self._label(made)
        value = made.dense(value, self.hidden, flatten=False, weights=("in_weight", "in_bias"), name="in")
        value = made.apply("Activation", [value], {"act_type": "relu"}, name="act")
        if self.deep and not (self.absent and key != self.default):
            value = made.dense(value, self.hidden, flatten=False, weights=("mid_weight", "mid_bias"), name="mid")
        value = made.apply("sum", [value], {"axis": 1}, name="total")
        value = made.dense(value, self.classes, weights=("out_weight", "out_bias"), name="out")
        if not late:
            label = self._label(made)
        loss = "SoftmaxOutput" if self.softmax else "LinearRegressionOutput"
        made.heads = [made.apply(loss, [value, label], {}, name="softmax")]
        return made

    def _label(self, made: Network) -> Any:
        if self.softmax:
            return made.label("softmax_label", (made.rows,), kind=["labels", self.classes])
        return made.label("softmax_label", (made.rows, self.classes))

    def _join(self, key: int, network: Network) -> None:
        """Put the nodes of one bucket behind those of the others."""
        start = len(self.nodes)
        for node in network.nodes:
            moved = dict(node)
            if "inputs" in node:
                moved["inputs"] = [[number + start, output] for number, output in node["inputs"]]
            self.nodes.append(moved)
        self.buckets.append({
            "key": key, "heads": list(range(len(self.heads), len(self.heads) + len(network.heads))),
            "data": [each.name for each in network.data], "labels": [each.name for each in network.labels],
        })
        self.heads += [[head.node + start, head.output] for head in network.heads]


def bucketing_program(draw: Draw, capabilities: Capabilities, exclude: Exclusions = NOTHING) -> Program:
    """Level 4: a BucketingModule whose buckets come in any order, some first in the middle of training."""
    family = Family(draw, capabilities, exclude)
    script = Script(draw, family.networks[family.default], exclude, 4)
    script.rows, script.loads = enough(script.rows, script.devices, None), None
    script.add("create_buckets", contexts=script.devices, default=family.default)
    script.add("bind", **script.shapes(script.rows))
    script.add("init_params", given=sorted(script.network.parameters))
    script.optimizer()
    for _ in range(draw.integer(1, 4)):
        key = draw.choice(family.keys)
        network = family.networks[key]
        if draw.one_in(4):
            script.rows = enough(rows_over(draw, script.devices, None), script.devices, None)
        batch = {
            "data": network.batch(network.data, script.rows), "labels": network.batch(network.labels, script.rows)
        }
        kind = draw.choice(("step", "step", "step", "forward", "switch", "values"))
        if kind == "switch" and script.may("buckets/switch"):
            script.add(
                "switch", key=key, data=network.described(network.data, script.rows),
                labels=network.described(network.labels, script.rows),
            )
        elif kind == "values":
            script.values()
        elif kind == "forward":
            script.add("forward", **batch, key=key, train=False)
        else:
            script.add("forward_backward", **batch, key=key)
            script.add("update")
            if draw.one_in(3):
                script.add("get_params")
    script.add("get_params")
    return {
        "version": VERSION, "level": 4, "nodes": family.nodes, "heads": family.heads, "arrays": family.parameters,
        "steps": script.steps, "settings": {"buckets": family.buckets},
    }


def svrg_program(draw: Draw, capabilities: Capabilities, exclude: Exclusions = NOTHING) -> Program:
    """Level 4: an SVRGModule: full passes, steps in between, and other batches."""
    exclude = exclude.also(operator="module/states")
    if "svrg/batch statistics" in exclude.operators:
        exclude = exclude.also(operator="BatchNorm")
    network = _svrg_network(draw, capabilities, exclude)
    script = Script(draw, network, exclude, 3)
    script.loads = None
    if not script.may("svrg/two devices"):
        script.devices = 1
    script.rows = enough(script.rows, script.devices, None)
    for inputs in (network.data, network.labels):
        inputs.sort(key=lambda each: each.name)  # as iterators have them
    script.add(
        "create_svrg", contexts=script.devices, frequency=draw.integer(1, 3),
        data=[each.name for each in network.data], labels=[each.name for each in network.labels],
    )
    corners = capabilities.corners
    adds = {"requirement": "add"} if corners and draw.one_in(6) else {}
    script.add("bind", **script.shapes(script.rows), **adds)
    script.add("init_params", given=sorted(network.parameters))
    parameters: Step = {"learning_rate": draw.choice(RATES), "rescale_grad": draw.choice((0.125, 0.0625))}
    if draw.one_in(3):
        parameters["momentum"] = 0.5
    script.add("init_optimizer", store=draw.choice(("local", "device", None)), optimizer="sgd", parameters=parameters)
    if corners and draw.boolean():
        script.add("set_params", arrays=dict(network.parameters))  # whatever the optimizer made of them
    rounds = 1 + draw.one_in(3) if script.may("svrg/second pass") else 1
    for _ in range(rounds):
        _full_pass(draw, script, corners)
    script.add("get_params")
    return program_of(4, network, script.steps)


def _svrg_network(draw: Draw, capabilities: Capabilities, exclude: Exclusions) -> Network:
    """A network with a loss, and with the batch on the first axis."""
    network = draw_network(draw, capabilities, exclude)
    if not network.losses or any(each.axis for each in network.data):
        network = Network(draw, capabilities, exclude)
        value = network.dense(network.input("data", (draw.integer(1, 4),)))
        label = network.label("softmax_label", value.shape)
        network.heads = [network.apply("LinearRegressionOutput", [value, label], {}, name="softmax")]
    return network


def _full_pass(draw: Draw, script: Script, corners: bool) -> None:
    """A full pass over one to three batches, and one to three steps that it corrects."""
    batches = draw.integer(1, 2)
    padding = draw.integer(0, script.rows - 1) if script.may("svrg/padding") and batches > 1 else 0
    rows = batches * script.rows - padding
    script.add("full_pass", **script.batch(rows), batch=script.rows)
    for _ in range(draw.integer(1, 2)):
        as_bound = corners and draw.one_in(4)
        script.add("forward", **script.batch(script.rows), **({} if as_bound else {"train": True}))
        script.add("backward")
        for _ in range(1 + (corners and draw.one_in(6))):
            script.add("update")
        if draw.one_in(3):
            script.add("get_params")
