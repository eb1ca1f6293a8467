"""What strangers and damaged processes send: it is dropped and said, takes little memory, and ends nothing."""

from __future__ import annotations

import json
import os
import socket
import time

import pytest

from refimpl.kvstore.machines import launch, sockets, told
from refimpl.kvstore.machines.launch import Job, Launcher
from refimpl.kvstore.machines.node import Node

from .test_launch import Threads, python, run

pytest.importorskip("zmq")
pytestmark = pytest.mark.usefixtures("no_longer_than_a_minute")


@pytest.mark.clause("Cluster/stranger")
@pytest.mark.parametrize(("kind", "content"), [
    (b"n", b""), (b"n", b"0 0 "), (b"n", b"0 0 {"), (b"n", b"0 0 []"), (b"n", b"0 0 {}"), (b"n", b"x 0 {}"),
    (b"n", b'0 0 {"worker": 9, "ended": 0, "again": false}'), (b"n", b'1 0 {"worker": 1, "ended": 0, "again": false}'),
    (b"n", b'0 0 {"worker": 0, "ended": -999, "again": false}'), (b"n", b'0 0 {"worker": 0, "started": null}'),
    (b"n", b"0 0 \xff\xfe"), (b"n", b"0 0 " + b"[" * 100_000), (b"o", b"0"), (b"o", b"0 7 text"), (b"x", b"0 1 text"),
])
def test_a_malformed_message_is_said_and_the_job_goes_on(tmp_path, kind, content):
    said: list[str] = []
    tmp_path.chmod(0o700)
    made = Launcher(Job(1, 1, python("pass")), Threads, tmp_path, said.append)
    said.clear()
    made._take(b"keeper 0\x1b[2J", kind, [content])
    made._head.close()
    assert len(said) == 1
    assert said[0].startswith(r"a malformed message from b'keeper 0\x1b[2J' was dropped: ")
    assert said[0].isprintable()
    assert (made.progress.codes, made.progress.pids) == ({}, {})


@pytest.mark.clause("Cluster/stranger")
def test_what_servers_drop_is_said_by_the_launcher(tmp_path, monkeypatch):
    monkeypatch.setattr(launch, "ASKED_EVERY", 0.0)
    text = """
import json, os
from refimpl.kvstore.machines.sockets import Caller, wait_for
told = json.loads(os.environ["REFIMPL_JOB"])
caller = Caller(told["servers"][0], b"somebody")
while not caller.up:
    wait_for([caller], 0.1)
    caller.connected_anew()
caller.send(b"m", [b"nonsense"])
caller.send(b"?", [b"nonsense"])
while not caller.receive():
    caller.send(b"?", [b'{"report": true, "ended": []}'])  # is told nothing that is meant for the launcher
    wait_for([caller], 0.5)
"""
    _, said, _ = run(Job(1, 1, python(text)), tmp_path / "job")
    assert "server 0: a message of a stranger, b'somebody', was dropped" in said, said
    assert [line for line in said if line.startswith("server 0: a question that is none, from b'somebody': ")], said


@pytest.mark.clause("Cluster/unknown-memory")
def test_a_stranger_can_make_a_port_hold_a_megabyte_and_no_more():
    """ZMTP 3.1 up to the first frame, which says how long it is; a longer one than 1 MiB ends the connection."""
    mine, theirs = sockets.new_keys(), sockets.new_keys()
    listener = sockets.Listener("tcp://127.0.0.1:*", mine, [theirs.public])
    greeting = b"\xff" + bytes(8) + b"\x7f\x03\x01" + b"CURVE".ljust(20, b"\0") + bytes(32)
    for size, ends in ((sockets.LARGEST, False), (sockets.LARGEST + 1, True), (1 << 40, True)):
        with socket.create_connection(("127.0.0.1", int(listener.endpoint.rpartition(":")[2])), 20) as stranger:
            stranger.sendall(greeting)
            left = 64
            while left:
                left -= len(stranger.recv(left))
            stranger.sendall(b"\x06" + size.to_bytes(8, "big"))
            stranger.settimeout(5 if ends else 0.2)  # sooner than what ends every handshake
            try:
                assert ends == (stranger.recv(1) == b"")
            except (ConnectionResetError, TimeoutError) as error:
                assert ends == isinstance(error, ConnectionResetError)
    assert listener._socket.getsockopt(sockets.zmq.HANDSHAKE_IVL) == 10_000
    friend, sent = sockets.Caller(listener.endpoint, b"friend", theirs, mine.public), os.urandom(3 << 20)
    heard = []
    while not heard:
        sockets.wait_for([friend], 0.1)
        friend.connected_anew()
        if friend.up and not friend.send(b"m", [b"small", sent]):
            continue
        heard = listener.receive(2.0)
    assert b"".join(heard[0][2]) == b"small" + sent
    assert max(map(len, heard[0][2])) < sockets.LARGEST
    friend.close()
    listener.close()


def _open(stranger: socket.socket) -> bool:
    """Whether the other end is there."""
    try:
        while stranger.recv(64):
            pass
    except TimeoutError:
        return True
    except OSError:
        return False
    return False


@pytest.mark.clause("Cluster/unknown-memory")
def test_of_strangers_that_say_nothing_the_newest_stay_and_who_belongs_to_the_job_is_heard():
    mine, theirs = sockets.new_keys(), sockets.new_keys()
    listener = sockets.Listener("tcp://127.0.0.1:*", mine, [theirs.public], callers=2)
    heard: list[bytes] = []

    def call(friend: sockets.Caller, word: bytes) -> None:
        while word not in heard:
            sockets.wait_for([friend], 0.05)
            friend.connected_anew()
            if friend.up and word not in heard:
                friend.send(b"m", [word])
            heard.extend(bytes(pieces[0]) for _, _, pieces in listener.receive(0.05))

    early, port = sockets.Caller(listener.endpoint, b"early", theirs, mine.public), listener.endpoint.rpartition(":")[2]
    call(early, b"before")
    strangers = [socket.create_connection(("127.0.0.1", int(port)), 20) for _ in range(200)]
    late = sockets.Caller(listener.endpoint, b"late", theirs, mine.public)
    call(late, b"meanwhile")
    for one in strangers:
        one.settimeout(0.01)
    left, end = [True], time.monotonic() + 5
    while sum(left) != 65 and time.monotonic() < end:
        left = [_open(one) for one in strangers]
    assert left == [False] * 135 + [True] * 65  # and the late friend, of whom no message came when the last one did
    assert not early.connected_anew()  # its connection is the one by which it spoke
    assert early.up
    call(early, b"after")
    for one in (*strangers, early, late, listener):
        one.close()


@pytest.mark.clause("Cluster/stranger")
@pytest.mark.parametrize("changed", [
    {"found": -1}, {"safe": float("nan")}, {"bytes": float("inf")},
    {"process": "x"}, {"workers": [[1]]}, {"workers": 3}, {"waiting": [3]}, {"waiting": [[0, "w", 1, 2]]},
    {"noted": [1]}, {"warned": 7}, {"rounds": None}, {"safe": []}, {"kinds": "dist"}, None,
])
def test_a_malformed_report_of_a_server_is_said_and_the_job_goes_on(tmp_path, changed):
    whole = {**Node(0, 1).report(), "noted": [], "warned": ["w"]}
    assert told.report(json.dumps(whole).encode())["warned"] == ["w"]
    content = b"[" if changed is None else json.dumps({**whole, **changed}).encode()
    said: list[str] = []
    tmp_path.chmod(0o700)
    made = Launcher(Job(1, 1, python("pass")), Threads, tmp_path, said.append)

    class Server:
        connected_anew = staticmethod(lambda: False)
        receive = staticmethod(lambda: [(b"?", [content])])

    made._questions = [Server()]
    made._hear_servers()
    made._head.close()
    assert len(said) == 1
    assert said[0].startswith("a malformed report of server 0 was dropped: ")
    assert made.progress.reports == {}
