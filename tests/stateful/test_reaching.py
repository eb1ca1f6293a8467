"""Where the processes of a job listen, and what is said when they cannot reach each other or a machine is lost."""

from __future__ import annotations

import socket
import sys
import types

import pytest

import refimpl as mx
from refimpl.kvstore.machines import keeper, ray
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
def test_a_lost_machine_is_said_once(tmp_path):
    tmp_path.chmod(0o700)
    said: list[str] = []
    made = Launcher(Job(3, 1, python("pass")), Threads, tmp_path, said.append)
    for ranks in ([2, 0], [0], [2, 0], [1]):
        made._say_lost(ranks)
    made._head.close()
    assert said == [
        "worker 0, worker 2 were lost with their machine, and are started again",
        "worker 1 was lost with its machine, and is started again",
    ]
