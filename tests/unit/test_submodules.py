"""Modules within MXNet's packages: the names that scripts import from them."""

from __future__ import annotations

import io
import subprocess
import sys
from importlib import import_module, reload
from importlib.machinery import PathFinder
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

import refimpl as mx
from refimpl.module import executor_group
from refimpl.op_registry.submodules import ABSENT, ALIASES, FINDER, OPERATORS
from refimpl.op_registry.submodules import NAMES as FILLED

from .mxnet_submodules import NAMES

EXPLAINED = {
    "ndarray.ndarray": {
        "check_boolean_array_dimension", "get_indexing_dispatch_code", "get_oshape_of_gather_nd_op",
        "indexing_key_expand_implicit_axes",
    },
    "optimizer.optimizer": {"NDnorm", "multi_lamb_update", "multi_mp_lamb_update"},
}
"""Names that are not here."""


@pytest.mark.clause("conventions/submodules")
@pytest.mark.parametrize("path", sorted(NAMES))
def test_a_submodule_has_mxnets_names(path):
    module = import_module(f"refimpl.{path}")
    assert {name for name in NAMES[path].split() if not hasattr(module, name)} == EXPLAINED.get(path, set())


@pytest.mark.clause("conventions/submodules")
@pytest.mark.parametrize(("target", "source"), sorted(FILLED))
def test_a_name_is_one_object_in_all_modules(target, source):
    here, there = import_module(f"refimpl.{target}"), import_module(f"refimpl.{source}")
    assert all(getattr(here, name) is getattr(there, name) for name in FILLED[target, source].split())


@pytest.mark.clause("conventions/submodules")
def test_a_script_imports_them_first():
    code = (
        "from refimpl.module.base_module import BaseModule, _as_list\n"
        "from refimpl.module.executor_group import _load_data\n"
        "from refimpl.module.module import load_checkpoint\n"
        "from refimpl.io.utils import _init_data\n"
        "from refimpl.image.image import Augmenter, CreateAugmenter\n"
        "from refimpl.symbol.symbol import Group, var\n"
        "print(_as_list(1))"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[1]\n"


# --- modules without a file ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", sorted([*ABSENT, *ALIASES, *OPERATORS]))
def test_a_module_of_the_tables_has_no_file(name):
    parent = import_module(f"refimpl.{name}".rpartition(".")[0])
    assert PathFinder.find_spec(f"refimpl.{name}", parent.__path__) is None
    assert find_spec(f"refimpl.{name}") is not None
    assert FINDER.find_spec(f"other.{name}") is None


@pytest.mark.parametrize("name", sorted(ALIASES))
def test_a_second_name_is_the_same_module(name):
    module = import_module(f"refimpl.{name}")
    assert module is import_module(f"refimpl.{ALIASES[name]}") is getattr(mx.contrib, name.rpartition(".")[2])
    assert module.__spec__.name == module.__name__ == f"refimpl.{ALIASES[name]}"


@pytest.mark.parametrize("name", sorted(OPERATORS))
def test_a_module_of_operators_is_like_one_with_a_file(name):
    module = import_module(f"refimpl.{name}")
    before = dict(vars(module))
    assert Path(module.__file__).read_text(encoding="utf-8").startswith(f'"""{module.__doc__}"""')  # its stub
    assert reload(module) is module
    assert before.keys() <= vars(module).keys()
    vars(module).clear()  # other tests compare the functions, and operators of tests are among them now
    vars(module).update(before)
    assert (module.__name__, module.__package__) == (f"refimpl.{name}", f"refimpl.{name}".rpartition(".")[0])


def rows(*shape):
    return mx.nd.array(np.arange(np.prod(shape)).reshape(shape))


# MXNet 1.9.1: io._init_data(data, True, "data"), names and shapes
@pytest.mark.clause("NDArrayIter/names")
@pytest.mark.parametrize(("data", "named"), [
    (None, []), ([], []), (np.ones((2, 3)), [("data", (2, 3))]), ([rows(2)], [("data", (2,))]),
    ([rows(2, 3), rows(2)], [("_0_data", (2, 3)), ("_1_data", (2,))]),
    ({"z": rows(2, 3), "y": rows(2)}, [("y", (2,)), ("z", (2, 3))]),
])
def test_init_data(data, named):
    assert [(name, array.shape) for name, array in mx.io._init_data(data, True, "data")] == named


# MXNet 1.9.1: _init_data(None, False, "data") and of [] are AssertionError, _init_data("x", True, "d") is TypeError
@pytest.mark.clause("NDArrayIter/data")
@pytest.mark.parametrize(("data", "error"), [(None, AssertionError), ([], AssertionError), ("x", TypeError)])
def test_init_data_refuses(data, error):
    with pytest.raises(error):
        mx.io._init_data(data, False, "data")


# MXNet 1.9.1: executor_group._load_general([arange(12) as (3, 4)], targets, [axis])
@pytest.mark.clause("ExecutorGroup/load-general")
@pytest.mark.parametrize(("axis", "parts", "values"), [
    (1, [(slice(0, 2), (3, 2)), (slice(2, 4), (3, 2))], [[[0, 1], [4, 5], [8, 9]], [[2, 3], [6, 7], [10, 11]]]),
    (-1, [(slice(0, 4), (3, 4))], [[[0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 10, 11]]]),
])
def test_load_general(axis, parts, values):
    targets = [(part, mx.nd.zeros(shape)) for part, shape in parts]
    executor_group._load_general([rows(3, 4)], [targets], [axis])
    assert [array.asnumpy().tolist() for _, array in targets] == values


# MXNet 1.9.1: the same calls, with a batch whose data is arange(8) as (4, 2) and whose label is arange(4)
@pytest.mark.clause("ExecutorGroup/load-general")
def test_load_data_and_label():
    batch, data, label = mx.io.DataBatch([rows(4, 2)], [rows(4)]), mx.nd.zeros((4, 2)), mx.nd.zeros((4,))
    executor_group._load_data(batch, [data], [0])
    executor_group._load_label(batch, [[(slice(0, 4), label)]], [0])
    assert (data.asnumpy().tolist(), label.asnumpy().tolist()) == ([[0, 1], [2, 3], [4, 5], [6, 7]], [0, 1, 2, 3])
    parts = [mx.nd.zeros((1, 2)), mx.nd.zeros((1, 2))]
    executor_group._load_general([[rows(1, 2), rows(1, 2) + 2]], [parts], [0])
    assert [part.asnumpy().tolist() for part in parts] == [[[0, 1]], [[2, 3]]]


# MXNet 1.9.1: shapes (4, 3) and (2,); _prepare_group2ctxs({"a": [cpu(0), cpu(1)]}, 2) is [{"a": cpu(0)}, {"a": cpu(1)}]
def test_merging_and_groups():
    parts = [[rows(2, 3), rows(2, 3)], [rows(2), rows(2)]]
    assert [array.shape for array in executor_group._merge_multi_context(parts, [0, -1])] == [(4, 3), (2,)]
    groups = executor_group._prepare_group2ctxs({"a": [mx.cpu(0), mx.cpu(1)]}, 2)
    assert groups == [{"a": mx.cpu(0)}, {"a": mx.cpu(1)}]


# --- nd.imdecode -------------------------------------------------------------------------------------------------


def png():
    pillow = pytest.importorskip("PIL.Image")
    file = io.BytesIO()
    pillow.fromarray(np.arange(36, dtype=np.uint8).reshape(3, 4, 3)).save(file, "PNG")
    return file.getvalue()


@pytest.mark.clause("nd/imdecode")
def test_imdecode():
    picture = mx.nd.imdecode(png())
    assert (picture.shape, np.dtype(picture.dtype)) == ((3, 3, 4), np.float32)
    assert picture.asnumpy()[:, 0].tolist() == [[0, 3, 6, 9], [1, 4, 7, 10], [2, 5, 8, 11]]
    part = mx.nd.imdecode(png(), clip_rect=(1, 2, 3, 3), mean=mx.nd.ones((3, 1, 2)))
    assert part.asnumpy().tolist() == [[[26, 29]], [[27, 30]], [[28, 31]]]
    batch = mx.nd.zeros((2, 3, 3, 4))
    assert mx.nd.imdecode(png(), out=batch, index=1) is batch
    assert batch.asnumpy().sum(axis=(1, 2, 3)).tolist() == [0, 630]
    assert mx.nd.imdecode(png(), channels=1).shape == (1, 3, 4)


@pytest.mark.clause("nd/imdecode")
@pytest.mark.parametrize("given", [
    {"clip_rect": (1, 1, 9, 3)}, {"clip_rect": (3, 1, 1, 3)}, {"channels": 2}, {"mean": mx.nd.ones((3,))},
    {"out": mx.nd.zeros((3, 3))}, {"out": mx.nd.zeros((2, 3, 3, 4)), "index": 2}, {"str_img": b""}, {"str_img": "text"},
])
def test_imdecode_refuses(given):
    with pytest.raises(mx.MXNetError):
        mx.nd.imdecode(**{"str_img": png(), **given})
