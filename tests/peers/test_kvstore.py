"""Random programs of a store give here what they give in MXNet 1.9.1: values, calls of updaters, refusals.

    REFIMPL_MXNET_PYTHON=PATH python -m pytest -m peer tests/peers/test_kvstore.py

PATH is as in test_mxnet.py. Numbers that are updated are dyadic, others are any; all results are equal bit by bit.
What crashes MXNet is left out: more arrays for a key than in its first push of several, and compression of what was
pushed whole before. So is what it gets wrong: an updater that comes after a push of several arrays is handed their sum
as the stored array, too; and of more than 16 arrays in a call, those of one key change places.
"""

from __future__ import annotations

import json
from pathlib import Path
from random import Random
from typing import Any

import pytest

import refimpl as mx

from .test_formats import PYTHON, ask

pytestmark = [
    pytest.mark.peer,
    pytest.mark.skipif(not PYTHON, reason="REFIMPL_MXNET_PYTHON names no Python with mxnet 1.9.1"),
]

PROGRAMS = 60
STEPS = 14
ROWS = 5

# What runs here and there. A step is a list: the name of a call, then its arguments as lists of numbers.
PLAY = """
import numpy as np

def play(mx, kind, sparse, steps, folder):
    store, found = mx.kv.create(kind), []

    def dense(values, device=0):
        return mx.nd.array(values, ctx=mx.cpu(device))

    def rows(pairs, device=0):
        data, ids = [[v, -v] for _, v in pairs], [i for i, _ in pairs]
        made = mx.nd.sparse.row_sparse_array((np.array(data, "float32"), np.array(ids)), shape=(ROWS, 2))
        return made.as_in_context(mx.cpu(device))

    def given(values):
        make = rows if sparse else dense
        return [[make(v, device) for device, v in enumerate(on_devices)] for on_devices in values]

    def held(keys):
        out = [mx.nd.zeros((ROWS, 2)) if sparse else mx.nd.zeros(2) for _ in keys]
        store.pull(keys, out=out)
        return [o.asnumpy().tolist() for o in out]

    def note(key, merged, stored):
        found.append([str(key), merged.asnumpy().tolist(), stored.asnumpy().tolist()])
        if not sparse:
            stored += merged

    def refused(call):
        try:
            call()
        except Exception as error:
            return type(error).__name__
        return None

    def save(number, dump):
        store.save_optimizer_states("%s/%s" % (folder, number), dump_optimizer=dump)

    for name, *arguments in steps:
        if name == "init":
            keys, values = arguments
            store.init(keys, [pushed[0] for pushed in given(values)])
        elif name in ("push", "pushpull"):
            keys, values = arguments
            arrays = given(values)
            getattr(store, name)(keys, arrays)
            if name == "pushpull" and not sparse:
                found.append([[a.asnumpy().tolist() for a in on_devices] for on_devices in arrays])
        elif name == "rows":
            key, ids = arguments
            outs = [mx.nd.zeros((ROWS, 2), stype="row_sparse") for _ in ids]
            store.row_sparse_pull(key, out=outs, row_ids=[mx.nd.array(np.array(i), dtype="int64") for i in ids])
            found.append([[o.indices.asnumpy().tolist(), o.data.asnumpy().tolist()] for o in outs])
        elif name == "updater":
            store._set_updater(note)
        elif name == "optimizer":
            rate, momentum = arguments
            store.set_optimizer(mx.optimizer.SGD(learning_rate=rate, momentum=momentum, wd=0.0, lazy_update=True))
        elif name == "compress":
            store.set_gradient_compression({"type": "2bit", "threshold": arguments[0]})
        elif name == "save":
            save(*arguments)
        elif name == "load":
            store.load_optimizer_states("%s/%s" % (folder, arguments[0]))
        elif name == "pull":
            found.append(held(*arguments))
        elif name == "again":
            found.append(refused(lambda: store.init(arguments[0], dense([0, 0]))))
        elif name == "unknown":
            found.append(refused(lambda: store.pull(arguments[0], out=dense([0, 0]))))
        elif name == "other kind":
            found.append(refused(lambda: store.push(arguments[0], dense([0, 0]))))
        elif name == "uneven":
            found.append(refused(lambda: store.push(arguments[0], dense([0, 0]))))
    return found
"""
exec(f"ROWS = {ROWS}\n{PLAY}")  # the same text runs there and here


def numbers(draw: Random) -> list[int]:
    return [draw.randint(-8, 8) for _ in range(2)]


def rough(draw: Random) -> list[float]:
    """Numbers whose sum depends on the order of addition."""
    return [draw.uniform(-1, 1) * 10 ** draw.randint(-3, 3) for _ in range(2)]


def pairs(draw: Random, *, whole: bool = False) -> list[list[int]]:
    """Rows in ascending order, all of them or some."""
    kept = range(ROWS) if whole else sorted(draw.sample(range(ROWS), draw.randint(1, ROWS)))
    return [[row, draw.randint(-8, 8)] for row in kept]


def program(seed: int, *, sparse: bool) -> dict[str, Any]:
    """A program that MXNet survives."""
    draw = Random(seed)
    kind = draw.choice(["local", "device", "another"])
    keys: list[Any] = draw.choice([[7, -1, 3, 0], ["b", "a", "", "c"]])
    learns, saved = draw.random() < 0.7, 0
    value = pairs if sparse else numbers if learns else rough
    steps: list[list[Any]] = []
    if kind == "device" and not sparse and draw.random() < 0.6:
        steps.append(["compress", draw.choice([0.5, 3.0, 16.0])])
    for part in (keys[:2], keys[2:]):
        firsts = [[pairs(draw, whole=True)] if sparse else [numbers(draw)] for _ in part]
        steps.append(["init", part, firsts])
    if learns:
        steps.append(["updater"])
    # the merge buffers are as many as the first push of several arrays has
    steps += [["push", [key], [[value(draw) for _ in range(6)]]] for key in keys]
    for _ in range(STEPS):
        name = draw.choice(["push"] * 4 + ["pushpull", "updater", "optimizer", "save", "load", "refuse", "rows"])
        if name in ("push", "pushpull"):
            count = 1 if name == "pushpull" else draw.randint(1, 4)
            named = [draw.choice(keys) for _ in range(count)]
            named = named if count == 1 or draw.random() < 0.5 else list(dict.fromkeys(named))
            sizes = [draw.randint(1, min(6 // named.count(key), 16 // count)) for key in named]
            steps.append([name, named, [[value(draw) for _ in range(size)] for size in sizes]])
        elif name == "updater" and learns:
            steps.append([name])
        elif name == "optimizer" and learns:
            steps.append([name, draw.choice([0.5, 1.0, -0.25]), draw.choice([0.0, 1.0])])
            saved = 0  # states of another momentum have another form
        elif name == "save" and _optimizes(steps):
            steps.append([name, saved, draw.random() < 0.5])
            saved += 1
        elif name == "load" and saved and _optimizes(steps):
            steps.append([name, draw.randrange(saved)])
        elif name == "rows" and sparse:
            ids = [[draw.randrange(ROWS) for _ in range(draw.randint(1, 6))] for _ in range(draw.randint(1, 3))]
            steps.append([name, draw.choice(keys), ids])
        elif name == "refuse":
            key, stranger = draw.choice(keys), 99 if isinstance(keys[0], str) else "z"
            unknown = 99 if isinstance(keys[0], int) else "z"
            refused = [["again", key], ["unknown", unknown], ["other kind", stranger], ["uneven", keys]]
            steps.append(draw.choice(refused))
        steps.append(["pull", keys])
    return {"kind": kind, "sparse": sparse, "steps": steps}


def _optimizes(steps: list[list[Any]]) -> bool:
    return [step[0] for step in steps if step[0] in ("updater", "optimizer")][-1:] == ["optimizer"]


@pytest.mark.clause("KVStore/push-merges", "KVStore/push-order", "KVStore/compression", "KVStore/push-rows")
@pytest.mark.clause("KVStore/row-sparse-pull", "KVStore/states", "KVStore/set-optimizer", "KVStore/updater-key")
@pytest.mark.parametrize("sparse", [False, True])
def test_random_programs(sparse: bool, tmp_path: Path) -> None:
    programs = [program(seed, sparse=sparse) for seed in range(PROGRAMS)]
    (tmp_path / "programs").write_text(json.dumps(programs), encoding="ascii")
    theirs = ask(
        f"import os\nROWS = {ROWS}\n{PLAY}\nanswer = []\n"
        "for number, one in enumerate(json.load(open('programs'))):\n"
        "    os.mkdir('there%s' % number)\n"
        "    answer.append(play(mx, folder='there%s' % number, **one))\n", tmp_path,
    )
    for number, one in enumerate(programs):
        folder = tmp_path / f"here{number}"
        folder.mkdir()
        ours = json.loads(json.dumps(play(mx, folder=str(folder), **one)))  # noqa: F821  # defined by PLAY
        for at, (mine, other) in enumerate(zip(ours, theirs[number], strict=True)):
            assert mine == other, (number, at, one)
