"""The same calls, checkpoints and training here and in MXNet 1.9.1.

    REFIMPL_MXNET_PYTHON=PATH python -m pytest -m peer tests/peers

PATH is the Python of an environment with mxnet 1.9.1 (``pip install numpy==1.23.5 mxnet==1.9.1``, Linux
x86-64, Python 3.8 to 3.11). MXNet runs in a process of its own; server.py holds what both are asked.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import refimpl as mx
from refimpl.kernels import distinct, get
from tests.laws.calls import gradient_inputs, has_gradient
from tests.laws.draws import SeededDraw, example

from . import server
from .compositions import Composition, alone, between, form_of, meant, next_to, outputs_like, repeats
from .known import AMONG_LAYERS, KNOWN, Call, Known, known_of

PYTHON = os.environ.get("REFIMPL_MXNET_PYTHON", "")
needs_mxnet = pytest.mark.skipif(
    not PYTHON, reason="REFIMPL_MXNET_PYTHON names no Python with mxnet 1.9.1"
)
CALLS = int(os.environ.get("REFIMPL_PEER_CALLS", "200"))  # per operator
SECONDS = 60  # that MXNet may take for one answer: now and then it hangs
BOUNDS = {
    "float32": 1e-5,
    "float64": 1e-6,  # MXNet keeps parameters, and some constants, in single precision
}
SPECIAL = [np.nan, np.inf, -np.inf, 0.0, -0.0, 1e-30, -1e-30, 20.5, -90.0, 88.8, 3.5, -2.5]
# Values that come often enough where operators compute element by element.
SPECIAL_PAGES = {
    "activation", "broadcast", "clip", "elementwise", "erfinv", "hard_sigmoid", "leaky_relu", "norm", "quadratic",
    "reduce", "scalar", "smooth_l1", "trigonometry", "unary",
}
# After such an error of a layer MXNet's process runs what that layer left behind: later calls fail, hang or crash.
POISONED = re.compile("primitive|MKLDNN|not initialized")
Arrays = dict[str, np.ndarray]


@pytest.mark.parametrize("row", KNOWN + AMONG_LAYERS, ids=lambda row: row.clause)
def test_known_difference_is_listed_among_the_deviations(row):
    files = (Path(__file__).parents[2] / "spec").glob("deviations*.md")
    text = "".join(file.read_text(encoding="utf-8") for file in files)
    assert f"| {row.clause} |" in text


# --- MXNet ----------------------------------------------------------------------------------------


class Peer:
    """MXNet in a process of its own, started again when a call crashes it or has no answer in time."""

    def __init__(self) -> None:
        # OpenBLAS sums in another order when its CPU type is forced
        self.environment = {k: v for k, v in os.environ.items() if k != "OPENBLAS_CORETYPE"}
        self.process: subprocess.Popen[bytes] | None = None
        self.version = ""

    def start(self) -> None:
        self.process = subprocess.Popen(
            [PYTHON, str(Path(server.__file__))], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL, env=self.environment,
        )
        hello = server.unpack(self.process.stdout)
        if hello is not None:
            self.version = hello[0]["version"]

    def ask(self, request: dict[str, Any], arrays: Arrays) -> Arrays:
        """What MXNet answers; asked again in a new process when it hangs, which it does not do twice."""
        message, code = self._sent(request, arrays)
        if message is None and code == -signal.SIGKILL:
            message, code = self._sent(request, arrays)
        if message is None:
            return {"error": np.frombuffer(b"MXNet ended with %d" % code, np.uint8)}
        answer = message[1]
        if "error" in answer and POISONED.search(text_of(answer, "error")):
            self.stop()
        return answer

    def _sent(self, request: dict[str, Any], arrays: Arrays) -> tuple[Any, int]:
        """(message, 0), or (None, how the process ended); it is killed when it takes too long."""
        if self.process is None:
            self.start()
        process = self.process
        assert process is not None
        assert process.stdin is not None
        late = threading.Timer(SECONDS, process.kill)
        late.start()
        try:
            process.stdin.write(server.pack(request, arrays))
            process.stdin.flush()
            message = server.unpack(process.stdout)
        finally:
            late.cancel()
        if message is None:
            self.process = None
            return None, process.wait()
        return message, 0

    def stop(self) -> None:
        if self.process is not None:
            assert self.process.stdin is not None
            self.process.stdin.close()
            self.process.wait()
            self.process = None


@pytest.fixture(scope="module")
def mxnet() -> Iterator[Peer]:
    peer = Peer()
    peer.start()
    if peer.version != "1.9.1":
        pytest.skip(f"{PYTHON} has mxnet {peer.version or 'not installed'}, wanted 1.9.1")
    yield peer
    peer.stop()


def here(request: dict[str, Any], arrays: Arrays) -> Arrays:
    """The same lines here; what MXNet would call an error is raised."""
    return server.FUNCTIONS[request["do"]](mx, arrays, **{k: v for k, v in request.items() if k != "do"})


def text_of(answer: Arrays, key: str) -> str:
    return answer[key].tobytes().decode()


# --- comparing ------------------------------------------------------------------------------------


def difference(ours: np.ndarray, theirs: np.ndarray, bound: float) -> str:
    """How two arrays differ, in words; empty when they agree norm-wise."""
    if (ours.shape, ours.dtype) != (theirs.shape, theirs.dtype):
        return f"{ours.dtype}{list(ours.shape)}, in MXNet {theirs.dtype}{list(theirs.shape)}"
    a, b = ours.astype(np.float64), theirs.astype(np.float64)
    finite = np.isfinite(a) & np.isfinite(b)
    same = np.array_equal(a[~finite], b[~finite], equal_nan=True)
    distance, size = np.linalg.norm(a[finite] - b[finite]), np.linalg.norm(b[finite])
    # inputs are of the size of 1: what cancels to less is judged by that
    if same and distance <= bound * (size + 0.3 * np.sqrt(finite.sum())):
        return ""
    with np.errstate(invalid="ignore"):
        apart = ~np.isclose(a, b, bound, bound, equal_nan=True)
    return f"{int(apart.sum())} of {a.size}: {a[apart][:8].tolist()}, in MXNet {b[apart][:8].tolist()}"


def assert_equal_answers(ours: Arrays, theirs: Arrays, bound: float) -> None:
    assert "error" not in theirs, text_of(theirs, "error")
    assert sorted(ours) == sorted(theirs)
    found = {name: difference(ours[name], theirs[name], bound) for name in ours}
    assert not {name: text for name, text in found.items() if text}


# --- operators ------------------------------------------------------------------------------------


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


def differences(call: Call, mxnet: Peer, rows: list[Known], graph: Composition) -> Iterator[tuple[str, str]]:
    """(result, how it differs) of one call; ``rows`` are those that hold for it."""
    of, apart = call.of, " ".join(row.results for row in rows).split()
    if "call" in apart:
        yield "call", "not asked"
        return
    if "gradients" in apart:
        yield "gradients", "not asked"
    if call.among_layers and re.search(r"\bout\d", " ".join(apart)):
        apart.append("gradients")  # of layers behind, which read what differs
    net, arguments = graph.net, graph.net.list_arguments()
    text = net.tojson(remove_amp_cast=False)
    arrays = {**dict(zip(of.names, of.arrays, strict=True)), **graph.arrays}
    can = [name for name, yes in zip(of.names, gradient_inputs(of), strict=True) if yes]
    gradients = [
        name for name in (*can, *graph.arrays)
        if arrays[name].dtype.kind == "f" and name in arguments and (next_to(name) in can or name.startswith("out"))
    ] if has_gradient(of) and not call.inference and "gradients" not in apart else []
    _, shapes, _ = net.infer_shape(**{name: a.shape for name, a in arrays.items()})
    if shapes is None:  # outside np_shape a side of 0 is unknown, here as there
        return
    _, types, _ = net.infer_type(**{name: a.dtype for name, a in arrays.items()})
    values = np.random.default_rng(7)
    for index, (shape, dtype) in enumerate(zip(shapes, types, strict=True)):
        head = values.integers(-8, 8, shape, endpoint=True) / 4
        if call.special:
            head[head == 0] = 0.5  # infinity times zero says nothing about the slope
        arrays[f"head{index}"] = head.astype(dtype)
    request = {
        "do": "run", "graph": text, "is_train": call.is_train, "gradients": gradients,
        "backward": bool(gradients), "seed": 5 if of.op.random else None,
    }
    theirs, ours = mxnet.ask(request, arrays), here(request, arrays)
    if graph.again and not all(np.isfinite(value).all() for value in ours.values()):
        return  # the values of the first left what the second takes
    if "error" in theirs:
        yield "error", text_of(theirs, "error")
        return
    assert sorted(ours) == sorted(theirs), (str(of), sorted(ours), sorted(theirs))
    bound = max(BOUNDS.get(a.dtype.name, 0) for a in (*of.arrays, *ours.values()))
    if call.among_layers:
        bound *= 3  # layers before and behind round too
    for name in ours:
        if apart_by := difference(ours[name], theirs[name], bound):
            yield name, apart_by
    written = text_of(mxnet.ask({"do": "rewrite", "graph": net.tojson()}, {}), "graph")
    if written != net.tojson():
        yield "graph", f"{net.tojson()}, in MXNet {written}"


def compare(operator: str, mxnet: Peer, *, special: bool = False, among_layers: bool = False) -> set[Known]:
    """Demand agreement up to known differences; returns those that were met."""
    met: set[Known] = set()
    unexplained = []
    calls = CALLS // 5 if among_layers and operator not in IN_PLACE else CALLS
    for number in range(calls):
        call, kinds = draw_call(operator, number, special=special)
        form = form_of(number)
        if among_layers:
            inference = number % 3 == 0
            call = call._replace(
                among_layers=True, inference=inference, is_train=call.is_train and not inference,
                readers=len(form.behind),
            )
        rows = [row for row in known_of(operator, among_layers=among_layers) if row.when(call)]
        apart = " ".join(row.results for row in rows)
        graph = alone(call.of)
        if among_layers and "call" not in apart.split():
            kept = re.findall(r"before:(\S+)", apart)
            graph = between(call.of, form, kept, again=not rows and repeats(call.of, kinds))
        outputs = len(outputs_like(call.of))
        for result, text in differences(call, mxnet, rows, graph):
            reasons = {row for row in rows if meant(result, outputs) in row.results.split()}
            met |= reasons
            if not reasons:
                around = graph.around + ", no gradients" * call.inference
                unexplained.append(f"{call.of}{around}, is_train={call.is_train}: {result}: {text}")
    assert not unexplained, "\n".join([f"{len(unexplained)} of {calls} calls", *unexplained[:5]])
    return met


# Ours alone: MXNet has other operators under these names, or none.
OURS = re.compile(r"_backward_|_sum_like|_stretch_like|_CrossDeviceCopy|_\w+_step$")
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
def test_operator(operator, mxnet):
    """Every visible output, every gradient, every array that is updated, and the symbol file."""
    met = compare(operator, mxnet)
    stale = [row.clause for row in known_of(operator) if row not in met]
    assert set(stale) <= MET_WITH_SPECIAL_VALUES, f"MXNet does not differ there: {stale}"


@pytest.mark.peer
@needs_mxnet
@pytest.mark.parametrize("operator", ELEMENTWISE)
def test_operator_on_special_values(operator, mxnet):
    """NaN, infinities, zeros of both signs, numbers that overflow exp."""
    compare(operator, mxnet, special=True)


@pytest.mark.peer
@needs_mxnet
@pytest.mark.parametrize("operator", OPERATORS)
def test_operator_between_others(operator, mxnet):
    """As alone, though memory is shared with what stands before and behind; in MXNet's way where there is a quirk."""
    with mx.quirks("prelu-in-place"):
        compare(operator, mxnet, among_layers=True)


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
BATCH = {
    "data": RANDOM.uniform(-1, 1, (8, 1, 8, 8)).astype(np.float32),
    "label": RANDOM.randint(0, 3, 8).astype(np.float32),
}
OPTIMIZER = {"learning_rate": 0.1, "momentum": 0.9, "wd": 0.01}


def training(prefix: Path, contexts: int = 1, initializer: str = "Xavier") -> dict[str, Any]:
    return {
        "do": "train", "graph": network().tojson(), "prefix": str(prefix), "steps": 3,
        "optimizer": OPTIMIZER, "seed": 11, "contexts": contexts, "initializer": initializer,
    }


@pytest.mark.peer
@needs_mxnet
@pytest.mark.parametrize("initializer", ["Uniform", "Xavier"])
@pytest.mark.parametrize("contexts", [1, 2])
def test_training_from_one_seed(mxnet, tmp_path, contexts, initializer):
    """The initial weights are the same bits; after three steps they agree norm-wise."""
    ours = here(training(tmp_path / "ours", contexts, initializer), BATCH)
    theirs = mxnet.ask(training(tmp_path / "theirs", contexts, initializer), BATCH)
    assert_equal_answers(ours, theirs, 1e-5)
    for name, value in ours.items():
        if name.startswith("before:"):
            assert value.tobytes() == theirs[name].tobytes(), name
    assert any(name.startswith("before:") for name in ours)


@pytest.mark.peer
@needs_mxnet
@pytest.mark.parametrize("contexts", [1, 2])
@pytest.mark.parametrize("writer", ["refimpl", "mxnet"])
def test_a_checkpoint_of_either_is_resumed_by_both(mxnet, tmp_path, writer, contexts):
    """The same predictions, and the same weights after another step with the saved momentum."""
    prefix = tmp_path / writer
    write = here if writer == "refimpl" else mxnet.ask
    assert "error" not in write(training(prefix, contexts), BATCH)
    request = {"do": "resume", "prefix": str(prefix), "epoch": 3, "optimizer": OPTIMIZER}
    assert_equal_answers(here(request, BATCH), mxnet.ask(request, BATCH), 1e-5)


@pytest.mark.peer
@needs_mxnet
def test_a_script_gives_the_same_log_and_weights(mxnet):
    """The numbers of the log to 1e-5, but for times."""
    rows = np.random.RandomState(3)
    label = rows.randint(0, 3, 70).astype(np.float32)
    data = rows.uniform(-1, 1, (70, 1, 8, 8)) + label.reshape(-1, 1, 1, 1) / 2
    arrays = {"data": data.astype(np.float32), "label": label}
    ours, theirs = here({"do": "fit"}, arrays), mxnet.ask({"do": "fit"}, arrays)
    assert "error" not in theirs, text_of(theirs, "error")
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
    assert_equal_answers(ours, theirs, 1e-5)
