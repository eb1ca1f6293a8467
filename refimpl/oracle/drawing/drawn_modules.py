"""Programs of level 3: a network, and the steps of a script with a Module."""

from __future__ import annotations

from typing import Any

from ...executor_manager import _split_input_slice
from .choices import NOTHING, Capabilities, Exclusions, Program
from .drawn_networks import Network, draw_network, program_of
from .draws import Draw
from .rows import enough, fits, rows_over
from .rule_options import add_options

RATES = (0.5, 0.25, 0.125, 0.0625)
OPTIMIZERS = ("sgd", "sgd", "sgd", "sgd", "nag", "adam", "signum", "rmsprop")
MIXED = ("sgd", "nag", "adam")
"""Rules that step weights in half precision through a float32 copy."""
RARE = ("adadelta", "adagrad", "adamax", "dcasgd", "ftml", "ftrl", "lamb", "lars", "lbsgd", "nadam")
"""Rules that few scripts use."""
FEATURES = frozenset({
    "module/uneven loads", "module/requirements by name", "module/fixed", "module/states", "module/share",
    "module/borrow", "module/no store", "module/set params with a store", "module/files", "module/two devices",
    "module/reshape", "module/evaluation", "module/rebind", "module/no parameters", "module/batches", "module/metric",
    "module/fit", "module/half", "module/last batch", "module/no labels", "module/failed forward", "module/inference",
    "module/states by context", "module/optimizer object", "module/store without rule", "module/epochs",
    "module/length", "module/reshape data", "module/use", "module/optimizer anew", "module/list of batches",
    "module/monitor", "module/force",
})
"""What ``exclude.operators`` may name beside operators: programs are then drawn without it."""
CAREFUL = frozenset({
    "module/fixed", "module/requirements by name", "module/states", "module/no parameters", "module/half",
    "module/failed forward",
})
"""What MXNet 1.9.1 refuses or gets wrong: biases of layers whose weight has no gradient, other batch sizes beside
states, stores without keys, float32 copies of weights that are set, modules after a refused batch."""

Step = dict[str, Any]


class Script:
    """The steps of a program while they are drawn."""

    def __init__(self, draw: Draw, network: Network, exclude: Exclusions, most_devices: int = 8, few: int = 3) -> None:
        self.draw, self.network, self.exclude = draw, network, exclude
        self.steps: list[Step] = []
        self.devices = 1
        if "module/two devices" not in exclude.operators:  # each more binds another executor, the dearest of all steps
            self.devices = draw.choice((3, most_devices) if draw.one_in(16) else (1, 1, 2, 2, few))
        self.loads = None
        if self.devices > 1 and draw.one_in(5) and "module/uneven loads" not in exclude.operators:
            self.loads = [draw.integer(1, 4) for _ in range(self.devices)]
        self.rows = rows_over(draw, self.devices, self.loads)
        self.train = True
        self.learns = False
        self.inputs = False
        self.adds = False
        self.store: str | None = "local"
        self.rule: Step = {}
        self.forwarded = False
        self.kept = False
        self.labelled = bool(network.labels)  # whether the module knows the shapes of labels

    @property
    def iterates(self) -> bool:
        """Whether an NDArrayIter gives batches that fit the bound module: it cuts along axis 0, and sorts names."""
        inputs = (self.network.data, self.network.labels)
        return all(each.axis == 0 for some in inputs for each in some) and all(
            [each.name for each in some] == sorted(each.name for each in some) for some in inputs
        )

    def may(self, feature: str) -> bool:
        """Whether a feature may be used."""
        return feature not in self.exclude.operators

    def add(self, do: str, **fields: Any) -> None:
        """One more step."""
        self.steps.append({"do": do, **fields})

    # --- the beginning --------------------------------------------------------------------------

    def shapes(self, rows: int) -> Step:
        """Descriptions for a number of rows."""
        network = self.network
        described: Step = {"data": network.described(network.data, rows)}
        if self.labelled:
            described["labels"] = network.described(network.labels, rows)
        return described

    def batch(self, rows: int, *, labels: bool = True) -> Step:
        """Arrays for a number of rows, in the order of the names."""
        network = self.network
        made: Step = {"data": network.batch(network.data, rows)}
        if self.labelled and labels:
            made["labels"] = network.batch(network.labels, rows)
        return made

    def create(self) -> None:
        """The module, with its options."""
        network, draw = self.network, self.draw
        fields: Step = {
            "contexts": self.devices, "data": [each.name for each in network.data],
            "labels": [each.name for each in network.labels],
        }
        if self.loads:
            fields["loads"] = self.loads
        if network.states:
            fields["states"] = network.states
        fixed = [name for name in network.parameters if draw.one_in(4) and "moving" not in name]
        if fixed and draw.one_in(4) and self.may("module/fixed"):
            fields["fixed"] = fixed
        self.add("create", **fields)
        for inputs in (network.data, network.labels):
            if draw.boolean():
                inputs.reverse()  # batches follow the order of bind, whatever the order of names

    def bind(self) -> bool:
        """Bind; False where that must be refused."""
        draw = self.draw
        if self.network.capabilities.corners and draw.one_in(12) and self.may("module/no labels"):
            self.labelled = False  # their shapes are inferred, their values stay zeros
        fields = self.shapes(self.rows)
        self.train = not draw.one_in(8)
        self.inputs = self.train and draw.one_in(3) and all(each.kind == "any" for each in self.network.data)
        if not self.train:
            fields["train"] = False
        if self.inputs:
            fields["inputs"] = True
        operators = [node["op"] for node in self.network.nodes]
        possible = [r for r in self.network.capabilities.requirements if self.exclude.allowed(r, operators)]
        requirement: Any = draw.choice(("write", "write", "write", *possible[:2], "each its own"))
        if requirement == "each its own":
            requirement = {
                name: draw.choice(("write", *possible)) for name in self.network.parameters if "moving" not in name
            } if self.may("module/requirements by name") else "write"
        if requirement != "write":
            fields["requirement"] = requirement
            self.adds = True
        fitting = fits(self.rows, self.devices, self.loads)
        self.add("bind", **fields, **({} if fitting else {"attempt": True}))
        return fitting

    def parameters(self) -> None:
        """First values of parameters."""
        draw, names = self.draw, sorted(self.network.parameters)
        told = [name for name in names if "moving" in name]  # which no initializer knows by name
        way = draw.choice(("all", "all", "some", "none" if not told else "some"))
        if way == "all":
            self.add("init_params", given=names)
        elif way == "some":
            kept = [name for name in names if name in told or draw.boolean()]
            self.add("init_params", given=kept, rest=draw.choice((0.5, -0.25, 1.0)), missing=True)
        else:
            self.add("init_params", rest=draw.choice((0.5, -0.25, 1.0)))
        if self.network.states and draw.boolean():
            self.set_states()

    def set_states(self) -> None:
        """One number for all states, or an array for each of them on each context."""
        draw, network = self.draw, self.network
        if not network.capabilities.corners or draw.boolean() or not self.may("module/states by context"):
            self.add("set_states", value=draw.choice((0.5, -1.0)))
            return
        cuts = _split_input_slice(self.rows, self.loads or [1] * self.devices)
        self.add("set_states", parts=[
            [network.values((cut.stop - cut.start, *network.variables[name].shape[1:])) for cut in cuts]
            for name in network.states
        ])

    def optimizer(self, *, force: bool = False) -> None:
        """The rule and the store."""
        draw = self.draw
        corners, half = self.network.capabilities.corners, self.network.dtype == "float16"
        rare = corners and draw.one_in(4) and not half
        name = draw.choice(MIXED if half else RARE if rare else OPTIMIZERS)
        parameters: Step = {} if name == "adadelta" else {"learning_rate": draw.choice(RATES)}
        if name == "lbsgd":
            parameters["batch_scale"] = draw.integer(1, 2)
        add_options(draw, name, parameters, corners=corners, half=half)
        self.rule = {"optimizer": name, "parameters": parameters}
        if draw.one_in(5):
            self.rule["schedule"] = {"kind": "factor", "step": draw.integer(1, 3), "factor": 0.5}
        self.store = draw.choice(("local", None) if half else ("local", "local", "device", None))
        if self.store is None and self.devices > 1 and not self.may("module/no store"):
            self.store = "local"
        more: Step = {"force": True} if force else {}
        if corners and draw.one_in(4) and self.may("module/optimizer object"):
            more["rates"] = [[name, draw.choice((0.5, 2.0, 0.0))] for name in sorted(self.network.parameters)]
        if corners and draw.one_in(6) and self.may("module/store without rule"):
            more["on_store"] = False
        self.add("init_optimizer", store=self.store, **self.rule, **more)
        self.learns = True

    # --- what follows ---------------------------------------------------------------------------

    def step(self) -> None:
        """Forward and backward, and an update."""
        draw = self.draw
        pad = {"pad": draw.integer(0, self.rows - 1)} if draw.one_in(6) else {}
        if self.network.losses and draw.boolean():
            self.add("forward_backward", **self.batch(self.rows), **pad)
        else:
            inference = self.network.capabilities.corners and draw.one_in(6)
            self.add("forward", **self.batch(self.rows), **pad, train=not inference)
            between = self.network.capabilities.corners and draw.one_in(4)
            if between:
                self.add("get_params")
            heads = {} if self.network.losses else {"heads": self.heads()}
            self.add("backward", **heads)
            if between and draw.boolean():
                self.add("get_params")
        self.forwarded = True
        if draw.one_in(4) and self.labelled:
            self.update_metric()
        self.add("update")
        if draw.one_in(3):
            self.add("get_params")

    def fit(self) -> None:
        """Some epochs, with the optimizer that is there; the last batch may be filled up from the first one."""
        draw = self.draw
        rows = self.rows + draw.choice((0, self.rows, draw.integer(0, 2 * self.rows)))
        self.add(
            "fit", **self.batch(rows), batch=self.rows, epochs=draw.integer(1, 2), **self.last(), store=self.store,
            **self.rule,
        )
        self.forwarded = True

    def last(self) -> Step:
        """What becomes of a last batch that is not full, where it is not filled up."""
        if not self.draw.one_in(2 if self.network.capabilities.corners else 3) or not self.may("module/last batch"):
            return {}
        return {"last": self.draw.choice(("roll_over", "discard"))}

    def update_metric(self) -> None:
        """Update a metric with the outputs of the last forward pass, directly or through the module."""
        own = {"own": True} if self.network.capabilities.corners and self.alike and self.draw.one_in(3) else {}
        self.add("update_metric", labels=self.network.batch(self.network.labels, self.rows), **self.metric(), **own)

    @property
    def alike(self) -> bool:
        """Whether there is one label for one head, along one axis of rows."""
        network = self.network
        return network.losses and len(network.heads) == 1 == len(network.labels) and network.labels[0].axis == 0

    def metric(self) -> Step:
        """A metric that suits all heads and labels."""
        network = self.network
        losses = {network.nodes[head.node]["op"] for head in network.heads}
        suited = network.losses and len(network.heads) == 1 == len(network.labels)  # labels may stand in another order
        classes = losses == {"SoftmaxOutput"}
        kind: tuple[Any, ...] = ("acc", "ce") if classes else ("mse", "mae", "rmse")
        if classes and network.capabilities.corners:
            kind = (
                *kind, {"name": "perplexity", "ignore_label": None}, {"name": "perplexity", "ignore_label": 0},
                {"name": "nll_loss"}, {"name": "top_k_acc", "top_k": 2},
            )
        return {"metric": self.draw.choice((*(kind if suited else ()), "loss"))} if self.may("module/metric") else {}

    def heads(self) -> list[Step]:
        """A gradient for every head, for all rows."""
        network = self.network
        shapes = []
        for place, head in enumerate(network.heads):
            shape, axis = [*head.shape], network.axes[place] if network.axes else 0
            shape[axis] = self.rows
            if network.length:
                shape[0 if axis else 1] = network.data[0].tail[0]
            shapes.append(shape)
        return [network.values(shape) for shape in shapes]

    def evaluate(self) -> None:
        """A pass without learning."""
        draw, network = self.draw, self.network
        kind = draw.choice(("forward", "metric", "predict", "score", "metric", "score"))
        rows = self.rows + draw.integer(0, self.rows)
        if kind == "forward" or not self.iterates:
            self.add("forward", **self.batch(self.rows, labels=draw.boolean()), train=False)
        elif kind == "metric" and self.labelled:
            self.add("forward", **self.batch(self.rows), train=False)
            self.update_metric()
        elif kind == "score" and self.labelled:
            limit: Step = {"batches": 1} if draw.one_in(4) and self.may("module/batches") else {}
            if network.capabilities.corners and draw.boolean() and self.may("module/epochs"):
                limit |= {"again": True} | ({"batches": rows // self.rows} if draw.boolean() else {})
            self.add("score", **self.batch(rows), batch=self.rows, **limit, **self.last(), **self.metric())
        else:
            merge = {} if draw.boolean() else {"merge": False}
            self.add("predict", data=network.batch(network.data, rows), batch=self.rows, **merge, **self.last())
        self.forwarded = True

    def other_rows(self) -> None:
        """Another number of rows."""
        if self.adds and self.inputs:
            return  # gradients of data would be added to new memory
        rows = enough(rows_over(self.draw, self.devices, self.loads), self.devices, self.loads)
        self.rows = rows
        corners = self.network.capabilities.corners
        if corners and self.network.length and self.draw.boolean() and self.may("module/length"):
            self.network.lengthen(self.draw.integer(1, 3))  # the next batch says so
            self.add("forward", **self.batch(rows), train=self.train)
        elif self.draw.boolean():
            shapes = self.shapes(rows)
            if corners and self.draw.boolean() and self.may("module/reshape data"):
                shapes.pop("labels", None)  # they follow the data
            self.add("reshape", **shapes)
        elif self.draw.boolean() and self.network.losses:
            self.add("forward", **self.batch(rows, labels=self.draw.boolean()), train=False)
        self.add("shapes")

    def fail(self) -> None:
        """A batch whose rows are too wide, which changes nothing where it is refused."""
        batch = self.batch(self.rows)
        first, tail = batch["data"][0], self.network.data[0]
        axis = len(first["shape"]) - 1
        if not self.may("module/failed forward") or axis == tail.axis:
            return
        first["shape"][axis] += 1
        self.add("forward", **batch, train=False, attempt=True)
        if self.forwarded:
            self.add("outputs")

    def infer(self) -> None:
        """Shapes that follow from some sides of some inputs."""
        draw, network = self.draw, self.network
        told = [each for each in (*network.data, *network.labels) if not draw.one_in(3)] or network.data
        self.add("infer", shapes={
            each.name: [side * (not draw.one_in(3)) for side in each.shape(self.rows)] for each in told
        })

    def values(self) -> None:
        """New values for parameters."""
        draw, network = self.draw, self.network
        if self.learns and not self.may("module/set params with a store"):
            return
        half = self.learns and network.dtype == "float16"  # with float32 copies from the first update on
        if half:
            self.step()
        some = draw.one_in(3)
        names = [name for name in sorted(network.parameters) if not some or draw.boolean()]
        arrays = {name: {**network.parameters[name], "seed": draw.integer(0, 9999)} for name in names}
        kept = {"force": False} if network.capabilities.corners and draw.one_in(6) and self.may("module/force") else {}
        self.add("set_params", arrays=arrays, **({"missing": True} if some else {}), **kept)
        if half:
            self.step()

    def another(self) -> None:
        """Another module beside this one."""
        draw = self.draw
        kind = draw.choice(("share", "borrow"))
        if not (self.train and self.may(f"module/{kind}") and (self.learns if kind == "borrow" else not self.loads)):
            return
        rows = enough(rows_over(draw, self.devices, self.loads), self.devices, self.loads)
        if "requirement" in next(step for step in self.steps if step["do"] == "bind"):
            return  # the other module writes
        before, self.rows = self.rows, rows
        self.add(kind, **self.shapes(rows))
        made = sum(step["do"] in ("create", "share", "borrow") for step in self.steps)
        if self.network.capabilities.corners and draw.boolean() and self.may("module/use"):
            if self.learns:
                self.step()
            self.add("use", number=made - 2)
            self.rows = before
            self.add("get_params")

    def through_files(self) -> None:
        """Save, load, and go on with the loaded module."""
        draw = self.draw
        if not self.may("module/files") or any(step["do"] in ("share", "borrow") for step in self.steps):
            return
        if self.learns and draw.one_in(3):
            if self.kept:
                self.add("load_states")
            else:
                self.add("save_states")
                self.kept = True
            return
        states = self.learns and draw.boolean()
        if states and self.network.capabilities.corners and draw.boolean():
            self.step()
        self.add("save", states=states)
        devices = self.devices if states or self.store is None else draw.integer(1, 4)
        if devices != self.devices or self.loads:
            self.devices, self.loads, self.kept = devices, None, False
            self.rows = enough(self.rows, self.devices, None)
        self.add("load", contexts=self.devices, states=states)
        fields = self.shapes(self.rows)
        if not self.train:
            fields["train"] = False
        self.inputs = self.adds = False
        self.add("bind", **fields)
        if self.learns:
            self.add("init_optimizer", store=self.store, **self.rule)
            if self.network.capabilities.corners and draw.boolean():
                self.anew()

    def anew(self) -> None:
        """A step, another optimizer, and a step with that."""
        if self.may("module/optimizer anew") and not (self.network.dtype == "float16" or self.rule.get("schedule")):
            self.step()
            if self.draw.boolean():
                self.add("init_optimizer", store=self.store, **self.rule, force=True)
            else:
                self.optimizer(force=True)
            self.kept = False
            self.step()

    def apart(self) -> None:
        """A batch for each context, which together may have another number of rows."""
        network = self.network
        each_first = all(each.axis == 0 for some in (network.data, network.labels) for each in some)
        if not (each_first and self.may("module/list of batches")) or self.loads or (self.adds and self.inputs):
            return
        if not network.states:
            self.rows = self.devices * self.draw.integer(1, 3)
        if self.rows % self.devices == 0:
            self.add("forward", **self.batch(self.rows), train=self.train, apart=True)
            self.forwarded = True


def module_program(draw: Draw, capabilities: Capabilities, exclude: Exclusions = NOTHING) -> Program:
    """Level 3: a Module over several devices, trained, evaluated, reshaped, shared, saved and loaded."""
    network = draw_network(draw, capabilities, exclude)
    script = Script(draw, network, exclude)
    script.create()
    if script.bind():
        script.parameters()
        if capabilities.corners and draw.one_in(6) and script.may("module/inference"):
            script.infer()
        if script.train and not draw.one_in(10):
            script.optimizer()
            if network.dtype == "float16" and script.may("module/set params with a store"):
                script.values()
        watched = capabilities.corners and draw.one_in(4) and script.may("module/monitor")
        if watched:
            script.add("monitor")
        for _ in range(draw.integer(2, 4) if capabilities.corners else draw.integer(1, 3)):
            act(script)
        if watched:
            script.add("watched")
        script.add("get_params")
    return program_of(3, network, script.steps)


WITHOUT_CONDITIONS = {
    "values": Script.values, "another": Script.another, "fail": Script.fail, "apart": Script.apart,
    "files": Script.through_files,
}
"""Kinds of :func:`act` that any script may do."""


def act(script: Script) -> None:
    """One of the things that scripts do."""
    kind = script.draw.choice((
        "step", "step", "step", "step", "fit", "evaluate", "evaluate", "evaluate", "rows", "values", "another", "files",
        "rebind",
        *(("fail", "anew", "apart", "rows", "another", "files") if script.network.capabilities.corners else ()),
    ))
    fits = script.learns and script.iterates and script.labelled and script.network.losses
    if kind == "fit" and fits and script.may("module/fit"):
        script.fit()
    elif kind in ("step", "fit") and script.learns:
        script.step()
    elif kind == "rows" and script.may("module/reshape"):
        script.other_rows()
    elif kind == "anew" and script.learns:
        script.anew()
    elif kind in WITHOUT_CONDITIONS:
        WITHOUT_CONDITIONS[kind](script)
    elif kind == "rebind" and script.may("module/rebind"):
        fields = script.shapes(script.rows)
        script.inputs = script.adds = False
        script.add("bind", **fields, again=True, **({} if script.train else {"train": False}))
    elif script.may("module/evaluation"):
        script.evaluate()
