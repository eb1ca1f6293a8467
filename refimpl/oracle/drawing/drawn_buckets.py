"""Programs of level 4: networks of several lengths that share parameters, and networks trained by SVRG."""

from __future__ import annotations

from typing import Any

from ..programs.program import VERSION
from .choices import NOTHING, Capabilities, Exclusions, Program
from .drawn_modules import RATES, Script
from .drawn_networks import Network, draw_network, program_of
from .draws import Draw
from .rows import enough, rows_over

FEATURES = frozenset({
    "buckets/absent parameters", "buckets/other order", "buckets/switch", "svrg/two devices", "svrg/padding",
    "svrg/second pass", "svrg/batch statistics", "svrg/other rows", "svrg/fit", "buckets/other default",
    "buckets/prepare", "buckets/batch statistics", "buckets/inference", "buckets/rebind", "buckets/files",
    "svrg/pass between",
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
        self.wide = capabilities.corners and draw.one_in(3) and "buckets/other order" not in exclude.operators
        """Whether two layers stand beside each other, in another order in some buckets."""
        self.normed = capabilities.corners and draw.one_in(3) and "buckets/batch statistics" not in exclude.operators
        self.default = self.keys[0]
        if capabilities.corners and draw.one_in(4) and "buckets/other default" not in exclude.operators:
            self.default = draw.choice(self.keys)
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
        value = self._first(made, value, self.wide and self.draw.boolean())
        value = made.apply("Activation", [value], {"act_type": "relu"}, name="act")
        if self.deep and not (self.absent and key != self.default):
            value = made.dense(value, self.hidden, flatten=False, weights=("mid_weight", "mid_bias"), name="mid")
        value = made.apply("sum", [value], {"axis": 1}, name="total")
        if self.normed:
            value = made.apply("BatchNorm", [value], {"eps": 0.125, "momentum": 0.5, "fix_gamma": False}, name="norm")
        value = made.dense(value, self.classes, weights=("out_weight", "out_bias"), name="out")
        if not late:
            label = self._label(made)
        loss = "SoftmaxOutput" if self.softmax else "LinearRegressionOutput"
        made.heads = [made.apply(loss, [value, label], {}, name="softmax")]
        return made

    def _first(self, made: Network, value: Any, turned: bool) -> Any:
        """The layer on each step of the sequence, or two in either order, whose parameters have equal shapes."""
        def layer(name: str) -> Any:
            weights = (f"{name}_weight", f"{name}_bias")
            return made.dense(value, self.hidden, flatten=False, weights=weights, name=name)

        if not self.wide:
            return layer("in")
        layers = {}
        for name in ("side", "in") if turned else ("in", "side"):
            layers[name] = layer(name) if name == "in" else made.apply("_mul_scalar", [layer(name)], {"scalar": 0.5})
        return made.apply("elemwise_add", list(layers.values()))

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


class Buckets(Script):
    """The steps of a program with buckets while they are drawn."""

    def __init__(self, draw: Draw, family: Family, exclude: Exclusions) -> None:
        super().__init__(draw, family.networks[family.default], exclude, 4, few=1)
        self.family, self.loads = family, None
        self.rows = enough(self.rows, self.devices, None)
        self.corners = self.network.capabilities.corners
        self.shown = False
        """Whether the outputs of the current bucket are those of its last pass."""
        self.options: Step = {}
        """How the buckets are bound."""

    def begin(self) -> None:
        """Make, bind and fill the module, and give it an optimizer."""
        draw, corners, names = self.draw, self.corners, sorted(self.network.parameters)
        some = corners and draw.one_in(6) and not self.family.absent
        fixed = [name for name in names if some and draw.one_in(3) and "moving" not in name]
        held = {"fixed": fixed} if fixed and self.may("module/fixed") else {}
        self.add("create_buckets", contexts=self.devices, default=self.family.default, **held)
        options: Step = {}
        if corners and draw.one_in(3):
            options = {"requirement": "add"} if draw.boolean() else {"inputs": True}
            if draw.one_in(3) and self.may("module/requirements by name"):
                options = {"requirement": {
                    name: draw.choice(("write", "add", "null")) for name in names if "moving" not in name
                }}
        elif corners and draw.one_in(6) and self.may("buckets/inference"):
            options, self.train = {"train": False}, False
        self.options = options
        self.add("bind", **self.shapes(self.rows), **options)
        self.add("init_params", given=names)
        if self.train:
            self.optimizer()

    def of(self, key: int) -> Network:
        """The network of a bucket."""
        return self.family.networks[key]

    def turn(self) -> None:
        """One of the things that scripts do with a bucket."""
        draw = self.draw
        key = draw.choice(self.family.keys)
        if draw.one_in(4):
            self.rows = enough(rows_over(draw, self.devices, None), self.devices, None)
        network = self.of(key)
        batch = {"data": network.batch(network.data, self.rows), "labels": network.batch(network.labels, self.rows)}
        rare = ("prepare", "fail", "files", "anew", "rebind", "load", "load") if self.corners else ()
        kind = draw.choice(("step", "step", "step", "forward", "switch", "values", *rare))
        if not self.train and kind in ("step", "files", "anew"):
            kind = "forward"
        if kind == "switch" and self.may("buckets/switch"):
            self.switch(key)
        elif kind == "values":
            self.values()
        elif kind == "prepare" and self.may("buckets/prepare"):
            self.add("prepare", **batch, key=key)
            self.same()
        elif kind == "fail" and self.may("module/failed forward"):
            wide = {**batch["data"][0], "shape": [*batch["data"][0]["shape"][:-1], self.family.width + 1]}
            self.add("forward", data=[wide], labels=batch["labels"], key=key, train=False, attempt=True)
            self.same()
        elif kind == "files" and self.may("module/files"):
            self.add("load_states" if self.kept else "save_states")
            self.kept = True
        elif self.starts_anew(kind, key, batch):
            pass
        elif kind == "forward" or not self.train:
            self.add("forward", **batch, key=key, **({} if self.corners and draw.boolean() else {"train": False}))
            self.shown = True
        else:
            self.train_on(key, batch)

    def switch(self, key: int) -> None:
        """Make a bucket the current one."""
        network = self.of(key)
        self.add(
            "switch", key=key, data=network.described(network.data, self.rows),
            labels=network.described(network.labels, self.rows),
        )
        self.shown = False
        if self.corners:
            self.add("shapes")

    def starts_anew(self, kind: str, key: int, batch: Step) -> bool:
        """Replace the optimizer, the executors or the module, if that is what ``kind`` says; returns whether it is."""
        if kind == "anew" and self.may("module/optimizer anew"):
            self.train_on(key, batch)
            self.optimizer(force=True)
            self.kept = False
            self.train_on(key, batch)
        elif kind == "rebind" and self.may("buckets/rebind"):
            self.bind_again()
        elif kind == "load" and self.may("buckets/files") and not self.family.absent:
            self.load(key, batch)
        else:
            return False
        return True

    def bind_again(self) -> None:
        """Bind anew: all buckets but the default one are made again when their next batch comes."""
        if self.draw.boolean():
            key = self.draw.choice(self.family.keys)
            network = self.of(key)
            self.add("forward", data=network.batch(network.data, self.rows),
                     labels=network.batch(network.labels, self.rows), key=key, train=False)
        self.add("bind", **self.shapes(self.rows), **self.options, again=True)
        self.shown = False
        self.values()
        for key in self.family.keys[:2]:
            network = self.of(key)
            self.add("forward", data=network.batch(network.data, self.rows),
                     labels=network.batch(network.labels, self.rows), key=key, train=False)
            self.shown = True

    def load(self, key: int, batch: Step) -> None:
        """Save, and go on with what is loaded."""
        states = self.train and not self.draw.one_in(3)
        if states:
            self.train_on(key, batch)
        self.add("save", states=states)
        self.add("load", contexts=self.devices, states=states)
        self.add("bind", **self.shapes(self.rows), **self.options)
        self.shown = False
        if self.train:
            self.add("init_optimizer", store=self.store, **self.rule)
            self.train_on(key, batch)

    def same(self) -> None:
        """Ask for what a call should have left alone."""
        self.add("shapes")
        if self.shown:
            self.add("outputs")

    def train_on(self, key: int, batch: Step) -> None:
        """A step of training in a bucket."""
        draw = self.draw
        self.add("forward_backward", **batch, key=key)
        self.shown = True
        if self.corners and draw.one_in(6):
            self.add("update_metric", labels=batch["labels"], **self.metric())
        if self.corners and draw.one_in(6) and self.may("buckets/prepare"):
            next_key = draw.choice(self.family.keys)
            other = self.of(next_key)
            self.add(
                "prepare", data=other.batch(other.data, self.rows), labels=other.batch(other.labels, self.rows),
                key=next_key,
            )
            self.add("outputs")
        self.add("update")
        if draw.one_in(3):
            self.add("get_params")


def bucketing_program(draw: Draw, capabilities: Capabilities, exclude: Exclusions = NOTHING) -> Program:
    """Level 4: a BucketingModule whose buckets come in any order, some first in the middle of training."""
    family = Family(draw, capabilities, exclude)
    script = Buckets(draw, family, exclude)
    script.begin()
    watched = capabilities.corners and draw.one_in(5) and script.may("module/monitor")
    if watched:
        script.add("monitor")
    for _ in range(draw.integer(1, 4)):
        script.turn()
    if watched:
        script.add("watched")
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
    script = Script(draw, network, exclude, 3, few=1)
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
        parameters["momentum"] = draw.choice((0.5, -0.5)) if corners else 0.5
    if corners and draw.one_in(6):
        parameters["begin_num_update"] = draw.integer(1, 4)
    script.rule, script.store = {"optimizer": "sgd", "parameters": parameters}, draw.choice(("local", "device", None))
    script.add("init_optimizer", store=script.store, **script.rule)
    if corners and draw.boolean():
        script.add("set_params", arrays=dict(network.parameters))  # whatever the optimizer made of them
    rounds = 1 + draw.one_in(3) if script.may("svrg/second pass") else 1
    for _ in range(rounds):
        if corners and draw.one_in(6) and script.iterates and script.may("svrg/fit"):
            script.fit()
        else:
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
    last = script.last() if corners else {}
    between = corners and draw.one_in(3) and script.may("svrg/pass between")
    if between:
        script.add("forward", **script.batch(script.rows), train=True)
    script.add("full_pass", **script.batch(rows), batch=script.rows, **last)
    if between:
        script.add("backward")
        script.add("update")
    if corners and draw.one_in(3) and script.may("svrg/other rows"):
        script.rows = enough(rows_over(draw, script.devices, None), script.devices, None)
    for _ in range(draw.integer(1, 2)):
        as_bound = corners and draw.one_in(4)
        script.add("forward", **script.batch(script.rows), **({} if as_bound else {"train": True}))
        script.add("backward")
        for _ in range(1 + (corners and draw.one_in(6))):
            script.add("update")
        if draw.one_in(3):
            script.add("get_params")
