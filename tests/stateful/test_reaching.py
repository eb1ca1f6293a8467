"""Where the processes of a job listen, and what is said when they cannot reach each other or a machine is lost."""

from __future__ import annotations

import socket
import sys
import types

import pytest

import refimpl as mx
from refimpl.kvstore.machines import keeper, launch, ray
from refimpl.kvstore.machines.launch import Job, Launcher

from .test_launch import Threads, python

pytest.importorskip("zmq")
pytestmark = [
    pytest.mark.skipif(sys.platform == "win32", reason="sockets are files here"),
    pytest.mark.usefixtures("no_longer_than_a_minute"),
]


@pytest.mark.clause("Cluster/interface")
def test_a_network_interface_is_named_in_dmlc_interface(monkeypatch):
    monkeypatch.delenv("DMLC_INTERFACE", raising=False)
    known = types.SimpleNamespace(util=types.SimpleNamespace(get_node_ip_address=lambda: "10.1.2.3"))
    monkeypatch.setitem(sys.modules, "ray", known)
    assert ray.address_here() == "10.1.2.3"
    loopback = next(name for _, name in socket.if_nameindex() if name.startswith("lo"))
    assert ray.address_here(loopback) == "127.0.0.1"
    monkeypatch.setenv("DMLC_INTERFACE", loopback)
    assert ray.address_here("none0") == "127.0.0.1"
    monkeypatch.setenv("DMLC_INTERFACE", "none0")
    with pytest.raises(mx.MXNetError, match=rf"DMLC_INTERFACE is 'none0'.* interfaces are .*{loopback}") as caught:
        ray.address_here()
    assert caught.value.clause == "Cluster/interface"


@pytest.mark.clause("Cluster/unreachable")
def test_a_keeper_that_cannot_reach_the_launcher_says_where_it_is(tmp_path, monkeypatch):
    monkeypatch.setattr(keeper, "REACHED", 0.2)
    tmp_path.chmod(0o700)
    made = keeper.Keeper(1, python("print(1)"), ".", {}, {"returning": True}, f"ipc://{tmp_path}/nobody")
    with pytest.raises(mx.MXNetError, match=f"{socket.gethostname()}, cannot reach the launcher at .*nobody") as caught:
        made.run()
    assert caught.value.clause == "Cluster/unreachable"
    made.stop()


@pytest.mark.clause("Cluster/ends-by-name")
def test_a_lost_machine_is_said_once(tmp_path, monkeypatch):
    tmp_path.chmod(0o700)
    said: list[str] = []
    clock = [0.0]
    monkeypatch.setattr(launch, "time", types.SimpleNamespace(monotonic=lambda: clock[0]))
    made = Launcher(Job(4, 1, python("pass")), Threads, tmp_path, said.append)
    for second, ranks in ((10, [2]), (11, [0]), (12, [2, 0]), (14, []), (15, []), (16, [0]), (20, [1])):
        clock[0] = second
        made._note_lost(ranks)
        assert len(said) == (second >= 15)
    made._heard({"worker": 1, "started": 7, "restarts": 1})  # is said after its loss
    made._note_lost([3])
    made._summary(0)
    made._head.close()
    assert said[:3] == [
        "worker 0, worker 2 were lost with their machine, and are started again",
        "worker 1 was lost with its machine, and is started again",
        "worker 1 runs: process 7",
    ]
    assert said[3] == "worker 3 was lost with its machine, and is started again"
