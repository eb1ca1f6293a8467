"""Real processes of workers whose last act is a push: it has arrived when the process has ended with 0."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys

import numpy as np
import pytest

import refimpl as mx
from refimpl import ndarray as nd
from refimpl.kvstore import messages as say
from refimpl.kvstore.distributed import DistributedKVStore

from .real_servers import Servers, servers

pytest.importorskip("zmq")
pytestmark = [
    pytest.mark.skipif(sys.platform == "win32", reason="sockets are files here, and processes are forked"),
    pytest.mark.usefixtures("no_longer_than_a_minute"),
]

SIZES = [1, 1 << 10, (1 << 16) - 1, 1 << 16, 400_000, (1 << 20) + 1, 8 << 20]
LARGER = 3 << 20
"""Bytes of the push before the last one: large arrays are sent without a copy."""

ENDINGS = {
    "the end of the script": 0, "sys.exit": 0, "an exception": 1, "a daemon thread": 0, "a child of multiprocessing": 0,
}
FEW = [(ending, 400_000) for ending in ("the end of the script", "a daemon thread", "a child of multiprocessing")]
ALL = [(ending, size) for ending in ENDINGS for size in SIZES]

# One process imports the package; each worker is a fork of it that ends as a script of its own does.
SCRIPT = """
import json, multiprocessing, os, sys, threading
import refimpl as mx

def work(key, size):
    store = mx.kv.create("dist_sync")
    for name, pushed in ((f"{key} larger", larger), (key, arrays[size])):
        store.init(name, pushed)
        store.push(name, pushed)
    return store

def work_and_wait(key, size, pushed):
    store = work(key, size)
    pushed.set()
    store.pull(key, out=arrays[size])  # in vain: worker 0 never pushes

larger, cases = json.loads(sys.argv[1])
arrays = {size: mx.nd.full(size, 7, dtype="int8") for size in (larger, *[size for _, size in cases])}
larger = arrays[larger]
processes = []
for rank, (ending, size) in enumerate(cases, 1):
    processes.append(os.fork())
    if processes[-1]:
        continue
    os.environ["DMLC_WORKER_ID"] = str(rank)
    key = f"{size} by {ending}"
    if ending == "a daemon thread":
        pushed = threading.Event()
        threading.Thread(target=work_and_wait, args=(key, size, pushed), daemon=True).start()
        pushed.wait()
    elif ending == "a child of multiprocessing":
        child = multiprocessing.get_context("fork").Process(target=work, args=(key, size))
        child.start()
        child.join()
        sys.exit(child.exitcode)
    else:
        work(key, size)
    if ending == "sys.exit":
        sys.exit(0)
    if ending == "an exception":
        raise ValueError("the last words")
    break
else:
    print(json.dumps([os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]) for process in processes]))
"""


def run_script(real: Servers, text: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run a script as worker 1, or as what it calls itself."""
    told = {"servers": real.endpoints, "restarts": 0, "returning": False, "patience": 50}
    given = {"REFIMPL_JOB": json.dumps(told), "DMLC_NUM_WORKER": str(real.workers), "DMLC_WORKER_ID": "1"}
    return subprocess.run(
        [sys.executable, "-c", text, *arguments], env={**os.environ, **given}, capture_output=True, text=True,
        check=False,
    )


@pytest.mark.clause("Cluster/last-pushes")
@pytest.mark.parametrize("cases", [FEW, pytest.param(ALL, marks=pytest.mark.heavy)], ids=["few", "all"])
def test_the_last_push_of_a_process_arrives_at_every_size_however_it_ends(tmp_path, cases):
    with servers(len(cases) + 1, 1, tmp_path) as real:
        transport = real.transport(0)
        store = DistributedKVStore("dist_sync", transport, 0, 0)
        for ending, size in cases:
            store.init(f"{size} by {ending}", nd.zeros(size, dtype="int8"))
            store.init(f"{size} by {ending} larger", nd.zeros(LARGER, dtype="int8"))
        done = run_script(real, SCRIPT, json.dumps([LARGER, cases]))
        transport.close()
        parts, lost = real.nodes[0].state.tables[0].parts, []
        for rank, (ending, size) in enumerate(cases, 1):
            for key, elements in ((f"{size} by {ending}", size), (f"{size} by {ending} larger", LARGER)):
                queue = parts[say.PartId(0, key)].queues.get(rank, ())
                if not (len(queue) == 1 and queue[0].value.size == elements and np.all(queue[0].value == 7)):
                    lost.append(key)
    assert not lost, done.stderr
    assert json.loads(done.stdout) == [ENDINGS[ending] for ending, _ in cases], done.stderr


PART = say.PartId(0, "w")


def refused(transport) -> None:
    """Push to a key that no server has."""
    transport.send(0, 0, say.Open(0, True))
    transport.send(0, 0, say.Push(PART, np.zeros(1, "f")))


@pytest.mark.clause("Cluster/last-pushes")
def test_a_last_push_that_is_refused_ends_the_process_with_1(tmp_path, monkeypatch, caplog):
    codes = []
    monkeypatch.setattr(os, "_exit", codes.append)
    with servers(1, 1, tmp_path) as real:
        transport = real.transport(0)
        refused(transport)
        transport._end()
        assert codes == [1]
        assert re.search(r"worker 0 ends, and what it pushed last is lost: .*'w'", caplog.text)
        transport = real.transport(0, restarts=1)
        transport.send(0, 0, say.Open(0, True)).wait()
        transport._end()
        assert codes == [1]


@pytest.mark.clause("Cluster/last-pushes")
def test_a_refused_push_of_which_the_script_was_told_is_not_told_again(tmp_path):
    with servers(1, 1, tmp_path) as real:
        transport = real.transport(0)
        refused(transport)
        (_, (_, ticket)), = [one for one in transport._channels[0].unanswered.items() if one[0] == 1]
        with pytest.raises(mx.MXNetError, match="'w'"):
            ticket.wait()
        transport.close()
        with pytest.raises(mx.MXNetError, match="has closed its connections"):
            transport.send(0, 0, say.Push(PART, np.zeros(1, "f")))
