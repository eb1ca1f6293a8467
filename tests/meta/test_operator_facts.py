"""What is known of an operator stands on its page: no table elsewhere names operators, and a page can be taken out."""

from __future__ import annotations

import ast
import json
import os
import random
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from refimpl.kernels.foundation import REGISTRY

from . import operator_names
from .operator_names import ROOT

MOST = 6
"""Operators that a table outside pages may name."""

EXCEPTIONS = {
    "refimpl/cli/benchmark/rows/operator_rows.py": "calls that are timed, with their sizes",
    "refimpl/symbol/prediction.py": "what losses predict",
    "refimpl/export/pytorch/detection_rules.py": "PyTorch's text for operators",
    "refimpl/export/pytorch/elementwise.py": "PyTorch's text for operators",
    "refimpl/export/pytorch/layers.py": "PyTorch's text for operators",
    "refimpl/export/pytorch/moving.py": "PyTorch's text for operators",
    "refimpl/export/pytorch/quantized.py": "PyTorch's text for operators",
    "refimpl/export/pytorch/sequence_rules.py": "PyTorch's text for operators",
    "refimpl/export/pytorch/window_rules.py": "PyTorch's text for operators",
    "refimpl/onnx/arranging.py": "nodes of ONNX that compute operators",
    "refimpl/onnx/boxes_and_regions.py": "nodes of ONNX that compute operators",
    "refimpl/onnx/elementwise.py": "nodes of ONNX that compute operators",
    "refimpl/onnx/layers.py": "nodes of ONNX that compute operators",
    "refimpl/onnx/quantizing.py": "nodes of ONNX that compute operators",
    "refimpl/onnx/recurrent.py": "nodes of ONNX that compute operators",
    "refimpl/onnx/reducing.py": "nodes of ONNX that compute operators",
    "refimpl/op_registry/submodules.py": "names that MXNet's modules import from each other, operators among them",
    "refimpl/oracle/backends/common.py": "functions of array libraries that compute operators",
    "refimpl/oracle/backends/jax_operators.py": "functions of JAX that compute operators",
    "refimpl/oracle/backends/mlx_operators.py": "functions of MLX that compute operators",
    "refimpl/oracle/backends/paddle_operators.py": "functions of Paddle that compute operators",
    "refimpl/oracle/backends/tensorflow_operators.py": "functions of TensorFlow that compute operators",
    "refimpl/oracle/backends/paddle_layers.py": "functions of Paddle that compute operators",
    "refimpl/oracle/backends/torch_layers.py": "functions of PyTorch that compute operators",
    "refimpl/oracle/backends/torch_operators.py": "functions of PyTorch that compute operators",
    "refimpl/oracle/backends/variants.py": "implementations that sum in other orders",
    "refimpl/oracle/bounds/number_functions.py": "the functions of math, which loops call by these names",
    "refimpl/oracle/bounds/rigorous_functions.py": "the functions of math, which loops call by these names",
    "refimpl/oracle/drawing/drawn_graphs.py": "what a search draws around an operator, in the order that seeds mean",
    "refimpl/oracle/judging/tape.py": "what a witness computes that shares nothing with pages",
    "refimpl/oracle/scoring/copies.py": "what is drawn beside the operators of a fault",
    "refimpl/oracle/traits.py": "what a search does not take for the cause of a failure",
}
"""Modules whose tables name more operators, each for a reason. There may be fewer of them, never more."""

NAMED_ELSEWHERE = frozenset("""
    activation adadelta adagrad adam adamax adamw add_n amp_cast argmax batch_norm batch_take
    broadcast broadcast_to cast_storage concat convolution creation cumsum cv_resize dcasgd
    deconvolution diag dot dropout elementwise embedding ftml ftrl fully_connected getnnz
    grad_add_weight histogram identity image image_random l2_normalization lamb lars layer_norm
    leaky_relu lrn multi_lamb multibox_detection multinomial nadam nag pooling quadratic quantize
    random random_like reduce regression_output reshape rmsprop rnn roi_align scalar sgd shape_array
    shuffle signum slice slice_channel softmax softmax_output sparse_retain split_v2 square_sum
    stretch_like transpose trigonometry unary
""".split())
"""Pages that others import, twins of their loops among them, or whose operators other code calls by name."""


def crowded(tree: ast.AST) -> list[tuple[int, list[str]]]:
    """(line, operators) of each table that names too many."""
    return [(line, sorted(names)) for line, names in operator_names.tables(tree) if len(names) > MOST]


def test_no_table_outside_pages_names_operators() -> None:
    found = {
        f"{file.relative_to(ROOT).as_posix()}:{line}": names
        for file in operator_names.modules("refimpl", "spec")
        if file.relative_to(ROOT).as_posix() not in EXCEPTIONS
        and len(operator_names.text_words(file) & REGISTRY.keys()) > MOST
        for line, names in crowded(operator_names.parsed(file))
    }
    assert not found, f"write these facts on the pages, as a field of Op: {found}"


@pytest.mark.parametrize("path", EXCEPTIONS)
def test_exceptions_are_needed(path: str) -> None:
    assert crowded(operator_names.parsed(ROOT / path))


@pytest.mark.parametrize("source", [
    'A = ("abs", "sin", "cos", "tan", "exp", "log", "relu")',
    'A = {name: 1 for name in "abs sin cos tan exp log relu".split()}',
    'def f():\n    return {"abs": 1, "sin": {"cos": 2, "tan": 3}, "exp": ("log", "relu")}',
])
def test_a_table_is_found(source: str) -> None:
    assert [names for _, names in crowded(ast.parse(source))] == [["abs", "cos", "exp", "log", "relu", "sin", "tan"]]


def test_six_operators_are_no_table() -> None:
    assert not crowded(ast.parse('A = ("abs", "sin", "cos", "tan", "exp", "log")\nB = ("relu", "sign")'))


def test_few_pages_are_named_elsewhere() -> None:
    named = {stem for stem, users in operator_names.users().items() if set(users) - EXCEPTIONS.keys()}
    new = {stem: operator_names.users()[stem] for stem in named - NAMED_ELSEWHERE}
    assert not new, f"what other modules know of these pages should stand on them: {new}"
    assert not NAMED_ELSEWHERE - named, "strike these from the list"


# Run in a copy of the tree, whose loops run as Python.
SCRIPT = """
import json
import re
import refimpl as mx
from refimpl import visualization
from refimpl.kernels.foundation import REGISTRY
from refimpl.op_registry import known
from spec import generated, ops, stubs

net = mx.sym.FullyConnected(mx.sym.Variable("data"), num_hidden=2, name="fc")
net = mx.sym.SoftmaxOutput(mx.sym.Activation(net * 2, act_type="relu"), name="softmax")
executor = net.simple_bind(mx.cpu(), data=(3, 2))
executor.forward(is_train=True)
executor.backward()
visualization.print_summary(net, shape={"data": (3, 2)})
matrix = re.findall(r"^\\| (\\w+) \\| [123 ]*\\| \\[", ops.text(), re.MULTILINE)
print(json.dumps({
    "names": [
        sorted(each) for each in
        (
            REGISTRY, known.names(), matrix, dir(mx.nd.op), dir(mx.nd._internal), dir(mx.nd.NDArray),
            dir(mx.sym.Symbol),
        )
    ],
    "owed": ops.problems(),
    "outdated": [file.relative_to(generated.ROOT).as_posix() for file in generated.outdated(stubs.files())],
}))
"""


def told(tree: Path) -> dict[str, Any]:
    """What the script says in a copy of the tree."""
    environment = {
        **os.environ, "PYTHONPATH": str(tree), "NUMBA_DISABLE_JIT": "1", "REFIMPL_CACHE_DIR": str(tree / "cache"),
    }
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT], cwd=tree, env=environment, capture_output=True, text=True, check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout.splitlines()[-1])


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the tree without tests; refimpl/kernels is a link inside it."""
    folder = tmp_path_factory.mktemp("tree")
    for name in ("kernels", "refimpl", "spec"):
        shutil.copytree(ROOT / name, folder / name, symlinks=True, ignore=shutil.ignore_patterns("__pycache__"))
    return folder


@pytest.fixture(scope="module")
def whole(tree: Path) -> dict[str, Any]:
    """What is told of all pages."""
    return told(tree)


DRAWN = random.Random(29).sample(sorted(operator_names.pages().keys() - NAMED_ELSEWHERE), 4)


@pytest.mark.parametrize("stem", [DRAWN[0], *(pytest.param(stem, marks=pytest.mark.heavy) for stem in DRAWN[1:])])
def test_a_page_is_taken_out(tree: Path, whole: dict[str, Any], stem: str) -> None:
    page, aside = tree / "kernels" / f"{stem}.py", tree / f"{stem}.py"
    page.rename(aside)
    try:
        without = told(tree)
    finally:
        aside.rename(page)
    assert whole["owed"] == whole["outdated"] == without["owed"] == []
    names = operator_names.pages()[stem]
    for before, after in zip(whole["names"], without["names"], strict=True):
        assert set(before) - names == set(after)
    assert set(whole["names"][0]) >= names
    assert set(whole["names"][2]) - set(without["names"][2])
    assert all(file.endswith(".pyi") for file in without["outdated"])
