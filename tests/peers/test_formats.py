"""Files go both ways: MXNet 1.9.1 reads what is written here and writes it back with the same bytes.

    REFIMPL_MXNET_PYTHON=PATH python -m pytest -m peer tests/peers/test_formats.py

PATH is as in test_mxnet.py.
"""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import refimpl as mx
from refimpl.ndarray import sparse
from refimpl.optimizer import SGD, get_updater, states
from refimpl.recordio import IRHeader, MXIndexedRecordIO, MXRecordIO, pack
from refimpl.util import np_shape

from .asking import PYTHON, needs_mxnet

FIXTURES = Path(__file__).parents[1] / "fixtures"
MARK = b"\x0a\x23\xd7\xce"
pytestmark = [
    pytest.mark.peer,
    needs_mxnet,
]

PLAIN = """
import numpy as np

def plain(value):
    if isinstance(value, (list, tuple)):
        return [plain(v) for v in value]
    if isinstance(value, dict):
        return {str(k): plain(v) for k, v in value.items()}
    if hasattr(value, "asnumpy"):
        parts = [value]
        if value.stype != "default":
            parts = [value.data, value.indices]
        if value.stype == "csr":
            parts.append(value.indptr)
        shapes = [np.dtype(value.dtype).name, value.stype, list(value.shape)]
        return shapes + [p.asnumpy().tolist() if 0 not in p.shape else [] for p in parts]
    return value
"""
exec(PLAIN)  # the same text runs there and here


def ask(script: str, folder: Path) -> Any:
    """Run a script with MXNet in a folder; what it assigns to ``answer`` comes back."""
    text = f"import json\nimport mxnet as mx\n{PLAIN}\n{script}\nprint('ANSWER' + json.dumps(answer))"
    environment = {k: v for k, v in os.environ.items() if k != "OPENBLAS_CORETYPE"}
    done = subprocess.run(
        [PYTHON, "-c", text], cwd=folder, env=environment, capture_output=True, text=True, check=False, timeout=100
    )
    assert "ANSWER" in done.stdout, done.stderr[-2000:]
    return json.loads(done.stdout.rpartition("ANSWER")[2])


def arrays() -> dict[str, Any]:
    """An array of each type and storage."""
    made: dict[str, Any] = {
        kind: mx.nd.array([[0, 1, 2], [3, 0, 1]], dtype=kind)
        for kind in ("float32", "float64", "float16", "uint8", "int32", "int8", "int64", "bool")
    }
    made["größe"] = mx.nd.ones((1, 2, 1, 2))
    made["rows"] = sparse.row_sparse_array((np.arange(6).reshape(2, 3), [1, 4]), shape=(5, 3))
    made["cube"] = sparse.row_sparse_array((np.arange(8).reshape(2, 2, 2), [0, 3]), shape=(4, 2, 2), dtype="float64")
    made["csr"] = sparse.csr_matrix(([1, 2, 3], [0, 2, 1], [0, 2, 2, 3]), shape=(3, 4))
    made["no rows"] = sparse.zeros("row_sparse", (4, 2))
    made["no values"] = sparse.zeros("csr", (3, 4))
    return made


def test_params(tmp_path: Path) -> None:
    mx.nd.save(str(tmp_path / "a.params"), arrays())
    mx.nd.save(str(tmp_path / "b.params"), list(arrays().values()))
    with np_shape(True):
        mx.nd.save(str(tmp_path / "c.params"), [mx.nd.array(3.0), mx.nd.zeros((0, 2))])
    there = ask(
        "a, b = mx.nd.load('a.params'), mx.nd.load('b.params')\n"
        "mx.nd.save('a.back', a); mx.nd.save('b.back', b); answer = [plain(a), plain(b)]\n"
        "with mx.util.np_shape(True): mx.nd.save('c.back', mx.nd.load('c.params'))", tmp_path,
    )
    assert there == [plain(arrays()), plain(list(arrays().values()))]  # noqa: F821  # from PLAIN
    for name in "abc":
        assert (tmp_path / f"{name}.back").read_bytes() == (tmp_path / f"{name}.params").read_bytes()


def test_states(tmp_path: Path) -> None:
    made = arrays()
    content = {0: made["rows"], "w": (made["csr"], made["float16"], None), 7: [made["no rows"], {"x": 1.5}], 9: None}
    optimizer = SGD(momentum=0.5, learning_rate=0.25, lr_scheduler=mx.lr_scheduler.FactorScheduler(3, 0.5))
    (tmp_path / "x.states").write_bytes(states.dumps((content, optimizer)))
    there = ask(
        "u = mx.optimizer.get_updater(mx.optimizer.Adam())\n"
        "u.set_states(open('x.states', 'rb').read())\n"
        "o = u.optimizer\n"
        "answer = [plain(u.states), type(o).__name__, o.momentum, o.lr_scheduler.step]\n"
        "open('back.states', 'wb').write(u.get_states(dump_optimizer=True))", tmp_path,
    )
    assert there == [plain(content), "SGD", 0.5, 3]  # noqa: F821
    again = get_updater(SGD())
    again.set_states((tmp_path / "back.states").read_bytes())
    assert plain(again.states) == plain(content)  # noqa: F821
    assert (type(again.optimizer), again.optimizer.momentum) == (SGD, 0.5)


@pytest.mark.parametrize("version", ["0.8", "0.9.3", "1.5"])
def test_old_symbols(version: str, tmp_path: Path) -> None:
    path = FIXTURES / f"symbol-{version}.json"
    ours = mx.sym.load(str(path))
    (tmp_path / "ours.json").write_text(ours.tojson(), encoding="utf-8")
    there = ask(
        f"old, new = mx.sym.load({str(path)!r}), mx.sym.load('ours.json')\n"
        "answer = [[s.list_arguments(), s.list_auxiliary_states(), s.list_outputs(), s.attr_dict()]"
        " for s in (old, new)]", tmp_path,
    )
    here = [ours.list_arguments(), ours.list_auxiliary_states(), ours.list_outputs(), ours.attr_dict()]
    assert there == [here, here]


def test_text_of_symbols(tmp_path: Path) -> None:
    name = 'dät"\\\n\t\r\x01/中\x08'
    net = mx.sym.FullyConnected(mx.sym.Variable(name, attr={"mood": name}), num_hidden=2, name="größe")
    net.save(str(tmp_path / "x.json"))
    there = ask(
        "s = mx.sym.load('x.json'); s.save('back.json'); answer = [s.list_arguments(), s.attr_dict()]", tmp_path
    )
    assert there == [net.list_arguments(), net.attr_dict()]
    assert (tmp_path / "back.json").read_bytes() == (tmp_path / "x.json").read_bytes()


def test_records(tmp_path: Path) -> None:
    generator = np.random.default_rng(3)
    pieces = [b"", b"a", b"abc", MARK, MARK[:3], b"wxyz", MARK + MARK]
    records = [b"".join(pieces[i] for i in generator.integers(0, 7, count)) for count in range(60)]
    records.append(pack(IRHeader(0, [1, 2.5], 7, 2**64 - 1), MARK))
    writer = MXIndexedRecordIO(tmp_path / "x.idx", tmp_path / "x.rec", "w")
    for number, record in enumerate(records):
        writer.write_idx(number, record)
    writer.close()
    there = ask(
        "r = mx.recordio.MXIndexedRecordIO('x.idx', 'x.rec', 'r')\n"
        "w = mx.recordio.MXIndexedRecordIO('back.idx', 'back.rec', 'w')\n"
        "found = [r.read_idx(k) for k in r.keys]\n"
        "[w.write_idx(k, f) for k, f in zip(r.keys, found)]; w.close()\n"
        "h, rest = mx.recordio.unpack(found[-1])\n"
        "answer = [[f.hex() for f in found], h.flag, h.label.tolist(), h.id, h.id2, rest.hex()]", tmp_path,
    )
    assert there == [[r.hex() for r in records], 2, [1.0, 2.5], 7, 2**64 - 1, MARK.hex()]
    for ending in ("rec", "idx"):
        assert (tmp_path / f"back.{ending}").read_bytes() == (tmp_path / f"x.{ending}").read_bytes()
    reader = MXRecordIO(tmp_path / "back.rec", "r")
    assert [reader.read() for _ in records] == records
