"""Adapters: forms of this implementation and other roundings agree here, other libraries in processes of their own.

    REFIMPL_MXNET_PYTHON=... REFIMPL_TORCH_PYTHON=... REFIMPL_JAX_PYTHON=... REFIMPL_ONNX_PYTHON=...
    REFIMPL_TENSORFLOW_PYTHON=... REFIMPL_MLX_PYTHON=... REFIMPL_PADDLE_PYTHON=...
        python -m pytest -m peer tests/oracle

Each names the Python of an environment with that library, and (but for MXNet's) with numba and hypothesis.
"""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

from refimpl.oracle.backends import Capabilities, Refused, Unsupported, isolate, probe
from refimpl.oracle.backends import variants as varied
from refimpl.oracle.backends.mxnet import MXNet
from refimpl.oracle.backends.named import named
from refimpl.oracle.backends.ours import FORMS, Ours
from refimpl.oracle.drawing.drawn_executors import executor_program, forward_program
from refimpl.oracle.drawing.drawn_optimizers import optimizer_program
from refimpl.oracle.drawing.draws import SeededDraw
from refimpl.oracle.expectations import Expectations
from refimpl.oracle.judging.comparing import compare, judge
from refimpl.oracle.judging.reference import trace_of
from refimpl.oracle.searching import search

from . import toys

LIBRARIES = Path(__file__).with_name("libraries")
PROGRAMS = int(os.environ.get("REFIMPL_PEER_CALLS", "200"))


def judged(backend, count, draw=executor_program, first=0):
    """How many programs passed; all others must be unsupported."""
    verdicts = [judge(backend, draw(SeededDraw(first + i), backend.capabilities)) for i in range(count)]
    assert [v.reason for v in verdicts if v.status == "failed"] == []
    return sum(v.status == "passed" for v in verdicts)


# --- in this process ------------------------------------------------------------------------------


@pytest.mark.parametrize("way", varied.WAYS)
def test_another_rounding_raises_no_alarm(way):
    backend = named(f"refimpl.oracle.backends.variants:{way}")
    assert judged(backend, 12) > 8


def test_the_ways_to_sum_differ():
    terms = np.random.default_rng(1).normal(size=(1, 999)).astype(np.float32)
    sums = {way: float(products(terms, terms)[0]) for way, products in varied.WAYS.items()}
    exact = float((terms.astype(np.float64) ** 2).sum())
    assert len(set(sums.values())) >= 4
    assert all(abs(total - exact) < 1e-3 for total in sums.values())
    assert sums["double"] == np.float32(exact)


@pytest.mark.parametrize("form", ["plain", "tuned", "python", "cuda_text"])
def test_forms_of_our_loops_agree(form):
    small = Ours(form)
    small.capabilities = small.capabilities._replace(level=2, operators=varied.sequential.capabilities.operators)
    assert judged(small, 10) == 10


def test_our_forms_have_constructors():
    forms = [form for form in FORMS if form != "cuda"]  # which needs a device
    assert [named(f"refimpl.oracle.backends.ours:{form}").form for form in forms] == forms


def test_a_description_lists_what_is_missing():
    lines = varied.sequential.describe().splitlines()
    count = len(varied.sequential.capabilities.operators)
    assert lines[0] == f"NumPy, sequential: levels 1 to 2, {count} operators"
    assert "batch_dot" in lines[2].split(": ")[1].split(", ")
    assert "Convolution" in lines[3].split(": ")[1].split(", ")


# --- probing --------------------------------------------------------------------------------------


class Partial:
    """Claims everything; does three operators, no sums of gradients, float32 only."""

    version = ""

    def __init__(self):
        self.capabilities = Capabilities(
            operators=frozenset({"relu", "negative", "exp", "tanh"}), dtypes=("float32", "float64")
        )
        self.ran = 0

    def run(self, program):
        self.ran += 1
        if any(node["op"] == "exp" for node in program["nodes"]):
            raise Unsupported("no exp")
        if any(node["op"] == "tanh" for node in program["nodes"]):
            raise Refused("a fault")
        for step in program["steps"]:
            if "add" in step.get("requirements", {}).values():
                raise Unsupported("add")
        if any(array["dtype"] == "float64" for array in program["arrays"].values()):
            raise Unsupported("float64")
        return trace_of(program)


def test_probing_finds_what_is_supported():
    found = probe(Partial())
    assert found.capabilities.operators == {"relu", "negative", "tanh"}
    assert found.capabilities.requirements == ("write", "null")
    assert found.capabilities.dtypes == ("float32",)
    assert found.unsupported == {"exp": "no exp"}
    assert found.refused >= 1  # tanh is there, and wrong: that is a finding
    assert found.text.startswith("level 2, 3 of ")
    assert "1 operators turned out unsupported" in found.text


def test_probing_is_kept_by_version():
    backend = Partial()
    probe(backend)
    ran = backend.ran
    probe(backend)
    assert backend.ran == 2 * ran  # without a version it may have changed
    backend.version = "partial 1"
    first = probe(backend)
    ran = backend.ran
    assert probe(backend) is first
    assert backend.ran == ran


def test_probing_level_1():
    found = probe(toys.forward)
    assert found.capabilities.operators == set(toys.RULES)
    assert found.capabilities.requirements == toys.forward.capabilities.requirements


# --- other libraries ------------------------------------------------------------------------------


def python_of(variable):
    path = os.environ.get(variable, "")
    if not path:
        pytest.skip(f"{variable} names no Python")
    return path


@pytest.mark.peer
@pytest.mark.parametrize(
    ("name", "level", "operators", "programs"),
    [
        ("torch:backend", 2, 80, PROGRAMS),
        ("torch:on(compile=True)", 2, 80, 32),
        ("torch:on(compile=True, dynamic=True)", 2, 80, 32),
        ("jax:backend", 2, 80, 40),
        ("onnxruntime:backend", 1, 60, PROGRAMS),
        ("tensorflow:on()", 2, 80, PROGRAMS),
        ('tensorflow:on(mode="function")', 2, 80, 40),
        ('tensorflow:on(mode="xla")', 2, 80, 40),
        ("mlx:on()", 2, 80, PROGRAMS),
        ("paddle:on()", 2, 80, PROGRAMS),
    ],
)
def test_a_library_agrees_but_for_its_rows(name, level, operators, programs):
    library = name.split(":")[0]
    python = python_of(f"REFIMPL_{'ONNX' if library == 'onnxruntime' else library.upper()}_PYTHON")
    known = Expectations.read(LIBRARIES / library / "oracle.toml")
    with isolate(f"refimpl.oracle.backends.{name}", python=python, limit=120.0) as backend:
        own = backend.capabilities
        assert sum(not name.startswith("rule ") for name in own.operators) >= operators
        assert "_contrib_PSROIPooling" in backend.describe().splitlines()[-1]
        backend.capabilities = own._replace(others=(), dtypes=("float32",))
        found = search(backend, programs=programs, level=level, expected=known.covers, explain=False)
    assert [str(one.cause) for one in found.found] == []
    assert found.statuses["passed"] > 0.8 * programs


@pytest.mark.peer
@pytest.mark.parametrize(
    ("name", "programs"), [("torch", PROGRAMS), ("jax", 40), ("tensorflow", 40), ("mlx", 40), ("paddle", 40)]
)
def test_optimizers_of_a_library_agree(name, programs):
    python = python_of(f"REFIMPL_{name.upper()}_PYTHON")
    with isolate(f"refimpl.oracle.backends.{name}:backend", python=python, limit=60.0) as backend:
        assert backend.capabilities.others == (5,)
        assert judged(backend, programs, optimizer_program) == programs


def test_a_recording_is_the_straight_line_of_calls():
    torch = pytest.importorskip("torch")
    from refimpl.oracle.backends.torch_recording import recorded  # needs PyTorch

    def function(values):
        a, b = values["a"], values["b"]
        best = torch.sort(a.mT + b, dim=0).values
        return [2 / best, (1 - a[0]).detach(), b]

    values = {"a": torch.tensor([[1.0, 2.0], [4.0, 3.0]]), "b": torch.tensor(1.0)}
    line = recorded(function, values)
    others = [torch.tensor([[5.0, 1.0], [2.0, 8.0]]), torch.tensor(3.0)]
    expected = function(dict(zip("ab", others, strict=True)))
    assert all(torch.equal(got, want) for got, want in zip(line(*others), expected, strict=True))
    assert [node.op for node in line.graph.nodes].count("placeholder") == 2


@pytest.mark.peer
def test_mxnet_runs_programs():
    python_of("REFIMPL_MXNET_PYTHON")
    with MXNet() as backend:
        assert len(backend.capabilities.operators) >= 250
        assert "_nadam_step" in backend.describe().splitlines()[1]
        few = backend.capabilities._replace(level=2, operators=varied.sequential.capabilities.operators)
        programs = [forward_program(SeededDraw(i), few) for i in range(PROGRAMS)]
        answers = backend.run_many(programs)
    pairs = [(p, a) for p, a in zip(programs, answers, strict=True) if isinstance(a, dict)]
    right = [compare(p, trace_of(p), a).status == "passed" for p, a in pairs]
    assert sum(right) > 0.9 * PROGRAMS
