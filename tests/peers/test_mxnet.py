"""The same calls, checkpoints and training here and in MXNet 1.9.1.

    REFIMPL_MXNET_PYTHON=PATH python -m pytest -m peer tests/peers

PATH is the Python of an environment with mxnet 1.9.1 (``pip install numpy==1.23.5 mxnet==1.9.1``, Linux
x86-64, Python 3.8 to 3.11). A call becomes a program of the oracle, which runs it there and here and judges it.
"""

from __future__ import annotations

import json
import os
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import refimpl as mx
from refimpl.kernels import distinct, get
from refimpl.oracle.backends.isolate import Isolated
from refimpl.oracle.backends.mxnet import OURS, MXNet
from refimpl.oracle.judging.comparing import Answer, Verdict, judge_answer
from refimpl.oracle.judging.reference import Program, trace_of
from refimpl.oracle.pages.calls import gradient_inputs, has_gradient
from refimpl.oracle.pages.draws import SeededDraw, example
from refimpl.oracle.programs.program import VERSION, check_program

from .asking import assert_right, here, needs_mxnet, spec_of, text_of
from .compositions import Composition, alone, between, form_of, meant, next_to, outputs_like, repeats
from .known import AMONG_LAYERS, KNOWN, Call, Known, known_of

CALLS = int(os.environ.get("REFIMPL_PEER_CALLS", "200"))  # per operator
SPECIAL = [np.nan, np.inf, -np.inf, 0.0, -0.0, 1e-30, -1e-30, 20.5, -90.0, 88.8, 3.5, -2.5]
# Values that come often enough where operators compute element by element.
SPECIAL_PAGES = {
    "activation", "broadcast", "clip", "elementwise", "erfinv", "hard_sigmoid", "leaky_relu", "norm", "quadratic",
    "reduce", "scalar", "smooth_l1", "trigonometry", "unary",
}


@pytest.mark.parametrize("row", KNOWN + AMONG_LAYERS, ids=lambda row: row.clause)
def test_known_difference_is_listed_among_the_deviations(row):
    files = (Path(__file__).parents[2] / "spec").rglob("deviations*.md")
    text = "".join(file.read_text(encoding="utf-8") for file in files)
    assert f"| {row.clause} |" in text


# --- calls as programs ----------------------------------------------------------------------------


def draw_call(operator: str, number: int, *, special: bool) -> tuple[Call, dict[str, Any]]:
    """Call number ``number``: random, valid, and always the same; with the kinds of values of its inputs."""
    seed = 1000 * number + 20 + special
    draw = SeededDraw(seed)
    of = example(get(operator), draw, "float64" if number % 4 == 3 else "float32", untied=True)
    if special:
        values = np.random.default_rng(number)
        for array in of.arrays:
            where = values.random(array.shape) < 0.35
            array[where] = values.choice(SPECIAL, where.sum())
    assert of.op.cases is not None
    return Call(of, draw.boolean(), special), of.op.cases(SeededDraw(seed)).values


def head_gradients(shapes: Sequence[Any], types: Sequence[Any], *, special: bool) -> list[dict[str, Any]]:
    """Quarters from -2 to 2 for each output."""
    values, heads = np.random.default_rng(7), []
    for shape, dtype in zip(shapes, types, strict=True):
        head = values.integers(-8, 8, shape, endpoint=True) / 4
        if special:
            head[head == 0] = 0.5  # infinity times zero says nothing about the slope
        heads.append(spec_of(head.astype(dtype)))
    return heads


def written(net: Any) -> dict[str, Any]:
    """The nodes and the heads of a symbol."""
    graph = json.loads(net.tojson(remove_amp_cast=False))
    nodes = [
        {"op": n["op"], "name": n["name"], "inputs": [e[:2] for e in n["inputs"]], "attrs": n.get("attrs", {})}
        for n in graph["nodes"]
    ]
    return {"nodes": nodes, "heads": [head[:2] for head in graph["heads"]]}


def program_of(call: Call, graph: Composition, *, gradients: bool) -> Program | None:
    """What is asked of both: bind, forward, backward if there are ``gradients``, and the arguments afterwards.

    None where a side of 0 leaves shapes unknown.
    """
    of, net, arguments = call.of, graph.net, graph.net.list_arguments()
    arrays = {**dict(zip(of.names, of.arrays, strict=True)), **graph.arrays}
    can = [name for name, yes in zip(of.names, gradient_inputs(of), strict=True) if yes]
    wanted = []
    if has_gradient(of) and not call.inference and gradients:
        floating = [n for n in (*can, *graph.arrays) if arrays[n].dtype.kind == "f" and n in arguments]
        wanted = [name for name in floating if next_to(name) in can or name.startswith("out")]
    _, shapes, _ = net.infer_shape(**{name: a.shape for name, a in arrays.items()})
    if shapes is None:  # outside np_shape a side of 0 is unknown, here as there
        return None
    _, types, _ = net.infer_type(**{name: a.dtype for name, a in arrays.items()})
    heads = head_gradients(shapes, types, special=call.special)
    steps: list[dict[str, Any]] = [{"do": "bind", "requirements": dict.fromkeys(wanted, "write")}]
    if of.op.random:
        steps.append({"do": "seed", "value": 5})
    steps.append({"do": "forward", "train": call.is_train})
    if wanted:
        steps.append({"do": "backward", "heads": heads})
    return check_program({
        "version": VERSION, "level": 2, **written(net),
        "arrays": {name: spec_of(array) for name, array in arrays.items()}, "steps": [*steps, {"do": "read"}],
    })


def result_of(name: str) -> str:
    """What a result of a trace is called in the table of known differences."""
    kind, _, rest = name.partition("/")[2].partition(":")
    if not kind:
        return "error"
    return f"{'grad' if kind == 'gradient' else 'now'}:{rest}" if rest else kind.replace("output", "out")


# --- operators ------------------------------------------------------------------------------------


class Comparison:
    """The calls of one operator: what is drawn, what differs, which known differences were met."""

    def __init__(self, operator: str, *, special: bool = False, among_layers: bool = False) -> None:
        self.operator, self.special, self.among_layers = operator, special, among_layers
        self.rows = known_of(operator, among_layers=among_layers)
        self.met: set[Known] = set()
        self.judged: Counter[str] = Counter()
        self.unexplained: list[str] = []

    def note(self, call: Call, around: str, result: str, text: str, outputs: int) -> None:
        """A difference: it meets rows, or is unexplained."""
        reasons = {row for row in self.rows if row.when(call) and meant(result, outputs) in row.results.split()}
        self.met |= reasons
        if not reasons:
            self.unexplained.append(f"{call.of}{around}, is_train={call.is_train}: {result}: {text}")

    def drawn(self) -> Iterator[tuple[Call, Composition, Program]]:
        """Calls that both are asked for."""
        for number in range(CALLS // 5 if self.among_layers and self.operator not in IN_PLACE else CALLS):
            call, kinds = draw_call(self.operator, number, special=self.special)
            form = form_of(number)
            if self.among_layers:
                inference = number % 3 == 0
                call = call._replace(
                    among_layers=True, inference=inference, is_train=call.is_train and not inference,
                    readers=len(form.behind),
                )
            rows = [row for row in self.rows if row.when(call)]
            apart = " ".join(row.results for row in rows)
            if "call" in apart.split():
                self.note(call, "", "call", "not asked", 1)
                continue
            if "gradients" in apart.split():
                self.note(call, "", "gradients", "not asked", 1)
            graph = alone(call.of)
            # gradients of layers behind read what differs
            behind = self.among_layers and re.search(r"\bout\d", apart)
            if self.among_layers:
                kept = re.findall(r"before:(\S+)", apart)
                graph = between(call.of, form, kept, again=not rows and repeats(call.of, kinds))
            program = program_of(call, graph, gradients="gradients" not in apart.split() and not behind)
            if program is not None:
                yield call, graph, program

    def judge(self, call: Call, graph: Composition, program: Program, answer: Answer) -> None:
        """Compare the answer to a program."""
        if graph.again and not all(np.isfinite(value).all() for value in trace_of(program).values()):
            return  # the values of the first left what the second takes
        verdict: Verdict = judge_answer(program, answer, same_numbers=True)
        around = graph.around + ", no gradients" * call.inference
        if verdict.status in ("discarded", "unsupported"):
            self.unexplained.append(f"{call.of}{around}: {verdict.status}: {verdict.reason}")
        self.judged.update(exact=verdict.exact, bounded=verdict.bounded, free=verdict.free)
        outputs = len(outputs_like(call.of))
        for mismatch in verdict.mismatches:
            self.note(call, around, result_of(mismatch.name), mismatch.text, outputs)

    def run(self, mxnet: MXNet, bridge: Isolated) -> set[Known]:
        """Demand agreement up to known differences; returns those that were met."""
        drawn = list(self.drawn())
        answers = mxnet.run_many([program for _, _, program in drawn])
        for (call, graph, program), answer in zip(drawn, answers, strict=True):
            self.judge(call, graph, program, answer)
        graphs = [graph.net.tojson() for _, graph, _ in drawn]
        written = bridge.run({"do": "rewrite", "graphs": graphs})
        for number, (call, graph, _) in enumerate(drawn):
            text = text_of(written, str(number))
            if text != graphs[number]:
                self.note(call, graph.around, "graph", f"{graphs[number]}, in MXNet {text}", 1)
        count = len(self.unexplained)
        assert not count, "\n".join([f"{count} differences in {len(drawn)} calls", *self.unexplained[:5]])
        answered = any(not isinstance(answer, Exception) for answer in answers)
        assert not answered or self.judged["exact"] + self.judged["bounded"], self.judged
        return self.met


# Ours alone: MXNet has other operators under these names, or none.
OPERATORS = [op.name for op in distinct() if op.cases is not None and not OURS.match(op.name)]
ELEMENTWISE = [
    op.name for op in distinct()
    if op.cases is not None and op.forward.__module__.rpartition(".")[2] in SPECIAL_PAGES
    and op.name not in ("prod", "nanprod")
]
IN_PLACE = ("Activation", "FullyConnected", "LeakyReLU", "Pooling", "SoftmaxActivation", "clip")
"""Operators that are drawn as often among layers as alone."""
MET_WITH_SPECIAL_VALUES = {
    "Activation/relu-nan", "LeakyReLU/at-zero", "norm/ord", "reduce/nan", "unary/elementwise",
}


@pytest.mark.peer
@needs_mxnet
@pytest.mark.parametrize("operator", OPERATORS)
def test_operator(operator, mxnet, bridge):
    """Every visible output, every gradient, every array that is updated, and the symbol file."""
    met = Comparison(operator).run(mxnet, bridge)
    stale = [row.clause for row in known_of(operator) if row not in met]
    assert set(stale) <= MET_WITH_SPECIAL_VALUES, f"MXNet does not differ there: {stale}"


@pytest.mark.peer
@needs_mxnet
@pytest.mark.parametrize("operator", ELEMENTWISE)
def test_operator_on_special_values(operator, mxnet, bridge):
    """NaN, infinities, zeros of both signs, numbers that overflow exp."""
    Comparison(operator, special=True).run(mxnet, bridge)


@pytest.mark.peer
@needs_mxnet
@pytest.mark.parametrize("operator", OPERATORS)
def test_operator_between_others(operator, mxnet, bridge):
    """As alone, though memory is shared with what stands before and behind; in MXNet's way where there is a quirk."""
    with mx.quirks("prelu-in-place"):
        Comparison(operator, among_layers=True).run(mxnet, bridge)


# --- checkpoints and training ---------------------------------------------------------------------


def network() -> mx.sym.Symbol:
    net = mx.sym.Convolution(
        mx.sym.Variable("data"), num_filter=4, kernel=(3, 3), pad=(1, 1), no_bias=True, name="conv"
    )
    net = mx.sym.Activation(mx.sym.BatchNorm(net, fix_gamma=False, name="bn"), act_type="relu")
    net = mx.sym.Pooling(net, kernel=(2, 2), stride=(2, 2), pool_type="max")
    net = mx.sym.FullyConnected(mx.sym.Flatten(net), num_hidden=8, name="fc1")
    net = mx.sym.FullyConnected(mx.sym.LeakyReLU(net, slope=0.1), num_hidden=3, name="fc2")
    return mx.sym.SoftmaxOutput(net, name="softmax")


RANDOM = np.random.RandomState(1)
# so few numbers that no relu of one step is undecided: its gradients would be free
BATCH = {
    "data": spec_of(RANDOM.uniform(-1, 1, (4, 1, 4, 4)).astype(np.float32)),
    "label": spec_of(RANDOM.randint(0, 3, 4).astype(np.float32)),
}
OPTIMIZER = {"learning_rate": 0.1, "momentum": 0.9, "wd": 0.01}


def training(prefix: Path, contexts: int, initializer: str = "Xavier", steps: int = 3) -> dict[str, Any]:
    return {
        "do": "train", "arrays": BATCH, "graph": network().tojson(), "prefix": str(prefix), "steps": steps,
        "optimizer": OPTIMIZER, "seed": 11, "contexts": contexts, "initializer": initializer,
    }


@pytest.mark.peer
@needs_mxnet
@pytest.mark.parametrize("initializer", ["Uniform", "Xavier"])
@pytest.mark.parametrize("contexts", [1, 2])
def test_training_from_one_seed(bridge, tmp_path, contexts, initializer):
    """The initial weights are the same bits; after a step they are inside their bounds."""
    request = training(tmp_path / "one", contexts, initializer, steps=1)
    ours, theirs = here(request), bridge.run(request)
    assert sorted(ours) == sorted(theirs)
    assert assert_right(request, theirs, ours).free == 0
    for name, value in ours.items():
        if name.startswith("before:"):
            assert value.tobytes() == theirs[name].tobytes(), name
    assert any(name.startswith("before:") for name in ours)


@pytest.mark.peer
@needs_mxnet
@pytest.mark.parametrize("contexts", [1, 2])
@pytest.mark.parametrize("writer", ["refimpl", "mxnet"])
def test_a_checkpoint_of_either_is_resumed_by_both(bridge, tmp_path, writer, contexts):
    """After three steps the same predictions, and the same weights after another step with the saved momentum."""
    prefix = tmp_path / writer
    write = here if writer == "refimpl" else bridge.run
    write(training(prefix, contexts))
    request = {"do": "resume", "arrays": BATCH, "prefix": str(prefix), "epoch": 3, "optimizer": OPTIMIZER}
    assert assert_right(request, bridge.run(request)).free == 0


@pytest.mark.peer
@needs_mxnet
def test_a_script_gives_the_same_log_and_weights(bridge):
    """As many digits as a log has, but for times: two epochs are too long for bounds."""
    rows = np.random.RandomState(3)
    label = rows.randint(0, 3, 70).astype(np.float32)
    data = rows.uniform(-1, 1, (70, 1, 8, 8)) + label.reshape(-1, 1, 1, 1) / 2
    request = {"do": "fit", "arrays": {"data": spec_of(data.astype(np.float32)), "label": spec_of(label)}}
    ours, theirs = here(request), bridge.run(request)
    number = re.compile(r"-?\d+\.\d+")
    logs = [
        [line for line in text_of(answer, "log").splitlines() if "Time cost" not in line]
        for answer in (ours, theirs)
    ]
    assert len(logs[0]) == 2 * 6  # three metrics on training and held-out rows
    for line, expected in zip(*logs, strict=True):
        assert number.sub("#", line) == number.sub("#", expected)
        values = [[float(text) for text in number.findall(of)] for of in (line, expected)]
        assert np.allclose(*values, rtol=1e-5, atol=2e-6), (line, expected)
    del ours["log"], theirs["log"]
    assert sorted(ours) == sorted(theirs)
    for name, value in ours.items():
        np.testing.assert_allclose(value, theirs[name], rtol=1e-5, atol=2e-6, err_msg=name)
