"""The launcher: what a job is told, what it tells, and what becomes of processes that are killed; without Ray."""

from __future__ import annotations

import importlib
import json
import os
import signal
import socket
import stat
import subprocess
import sys
import threading
import types
from pathlib import Path

import pytest

import refimpl as mx
from refimpl.cli import run as command_line
from refimpl.kvstore.machines import folders, keeper, launch, ray
from refimpl.kvstore.machines.launch import Job, Launcher
from refimpl.kvstore.machines.node import Node
from refimpl.kvstore.machines.ray import ServerActor, require_guarded, require_there

pytest.importorskip("zmq")
pytestmark = [
    pytest.mark.skipif(sys.platform == "win32", reason="sockets are files here"),
    pytest.mark.usefixtures("no_longer_than_a_minute"),
]


class Threads:
    """An engine whose servers and keepers are threads of this process; the workers are processes."""

    def __init__(self, folder: Path, say=None) -> None:
        self.folder, self.servers, self.keepers, self.noted = folder, [], [], {}

    def start_servers(self, arguments):
        self.servers = [ServerActor(*each) for each in arguments]
        return [server.where()[0] for server in self.servers]

    def address(self):
        return ray.address_here()

    def endpoints(self):
        return [server.where()[0] for server in self.servers]

    def start_worker(self, rank, restarts, arguments):
        made = keeper.Keeper(*arguments)
        self.keepers.append(made)
        threading.Thread(target=made.run, args=(restarts,), daemon=True).start()

    def note_restarts(self, rank, restarts):
        self.noted[rank] = restarts

    def watch(self):
        return []

    def stop(self):
        for each in (*self.keepers, *self.servers):
            each.stop()


def run(job: Job, folder: Path) -> tuple[int, list[str], Launcher]:
    """Exit code, what the launcher said, and the launcher."""
    folder.mkdir(mode=0o700, exist_ok=True)
    said: list[str] = []
    made = Launcher(job, Threads, folder, said.append)
    return made.run(), said, made


def python(text: str) -> list[str]:
    return [sys.executable, "-c", text]


TELLS = """
import json, os, sys
told = json.loads(os.environ["REFIMPL_JOB"])
print("out", *[os.environ["DMLC_" + name] for name in ("ROLE", "WORKER_ID", "NUM_WORKER", "NUM_SERVER")])
print("err", told["restarts"], told["returning"], len(told["servers"]), os.environ["PYTHONHASHSEED"], file=sys.stderr)
"""


@pytest.mark.clause("Cluster/launch")
def test_workers_are_told_who_they_are(tmp_path, capfd):
    code, said, made = run(Job(2, 3, python(TELLS)), tmp_path / "job")
    out, err = capfd.readouterr()
    assert code == 0
    assert sorted(out.split("\n")) == ["", "worker 0 | out worker 0 2 3", "worker 1 | out worker 1 2 3"]
    words = f"err 0 True 3 {made._memory['hashes']}"
    assert sorted(err.split("\n")) == ["", f"worker 0 | {words}", f"worker 1 | {words}"]
    assert said[0] == "waits for 3 servers to start, then for 2 workers"
    assert [sum(line.startswith(who) for line in said) for who in ("worker 0", "worker 1", "done")] == [1, 1, 1]
    assert list((tmp_path / "job" / "state").iterdir()) == []


SUMS = """
import refimpl as mx
store = mx.kv.create("dist_sync")
store.init("w", mx.nd.zeros(1))
store.push("w", mx.nd.ones(1) * (store.rank + 1))
out = mx.nd.zeros(1)
store.pull("w", out=out)
print(out.asscalar())
"""

KILLED_ONCE = """
import json, os, signal
told = json.loads(os.environ["REFIMPL_JOB"])
if told["restarts"] < 2:
    os.kill(os.getpid(), signal.SIGKILL)
print("lived", told["restarts"], flush=True)
"""


@pytest.mark.clause("Cluster/restart")
def test_a_worker_that_is_killed_is_started_again(tmp_path, capfd):
    events = tmp_path / "events"
    code, said, made = run(Job(1, 1, python(KILLED_ONCE), events=events), tmp_path / "job")
    assert (code, capfd.readouterr().out) == (0, "worker 0 | lived 2\n")
    assert (made.progress.restarts, made._engine.noted) == ({0: 2}, {0: 2})
    assert sum("worker 0 was ended by SIGKILL: it is started again" in line for line in said) == 2
    assert "1 rounds" not in said[-1]
    assert "2 workers and 0 servers started again" in said[-1]
    told = [json.loads(line) for line in events.read_text().splitlines()]
    assert [(one["action"], one["worker"]) for one in told] == [("kill", 0)] * 2


@pytest.mark.clause("Cluster/restart", "Cluster/ends-by-name")
def test_a_worker_that_is_killed_again_and_again_ends_the_job(tmp_path, monkeypatch):
    monkeypatch.setattr(keeper, "AT_MOST", 3)
    monkeypatch.setattr(keeper, "FAST", 60.0)
    code, said, made = run(Job(1, 1, python("import os; os.kill(os.getpid(), 9)")), tmp_path / "job")
    assert code == 128 + signal.SIGKILL
    assert made.progress.restarts == {0: 2}
    assert "worker 0 was ended by SIGKILL: the job ends" in said


@pytest.mark.clause("Cluster/keep-none")
def test_with_keep_none_a_server_that_was_killed_ends_the_job(tmp_path, monkeypatch):
    report, processes = Node.report, iter([1, 2])
    monkeypatch.setattr(launch, "ASKED_EVERY", 0.0)
    monkeypatch.setattr(Node, "report", lambda node: {**report(node), "process": next(processes, 2)})
    with pytest.raises(mx.MXNetError, match="server 0 was killed, and with --keep none") as caught:
        run(Job(1, 1, python("import time; time.sleep(600)"), keep="none"), tmp_path / "job")
    assert caught.value.clause == "Cluster/keep-none"


@pytest.mark.clause("Cluster/log-lost")
def test_a_server_that_comes_back_without_its_log_ends_the_job(tmp_path, monkeypatch):
    report, first = Node.report, iter([{"process": 1, "safe": 40}])
    monkeypatch.setattr(launch, "ASKED_EVERY", 0.0)
    monkeypatch.setattr(Node, "report", lambda node: {**report(node), "found": 12, **next(first, {"process": 2})})
    with pytest.raises(mx.MXNetError, match="server 0 came back with 12 records, where it had answered 40") as caught:
        run(Job(1, 1, python("import time; time.sleep(600)")), tmp_path / "job")
    assert caught.value.clause == "Cluster/log-lost"


@pytest.mark.clause("Cluster/peer-needs-two")
def test_a_server_is_not_its_own_peer(tmp_path):
    with pytest.raises(mx.MXNetError, match="there is 1 server: give -s 2 or more") as caught:
        Launcher(Job(2, 1, python("pass"), keep="peer"), Threads, tmp_path)
    assert caught.value.clause == "Cluster/peer-needs-two"


@pytest.mark.clause("Cluster/keep-peer")
def test_a_job_whose_servers_keep_copies_for_each_other(tmp_path, capfd):
    code, said, _ = run(Job(2, 2, python(SUMS), keep="peer", state=tmp_path / "kept"), tmp_path / "job")
    assert (code, sorted(capfd.readouterr().out.split("\n"))) == (0, ["", "worker 0 | 3.0", "worker 1 | 3.0"]), said
    assert list((tmp_path / "kept").iterdir()) == []


@pytest.mark.clause("Cluster/own-ray", "Cluster/server-ended")
def test_ray_is_ones_own_and_a_server_that_it_gives_up_ends_the_job(tmp_path, monkeypatch):
    """With a Ray that notes what it is asked."""
    given, settings = {}, {}

    class Dead(Exception):
        pass

    answers = [("ipc://x", 1)]

    def get(ref):
        assert ref == "where"
        if not answers:
            raise Dead("it died\nOSError: a record is damaged")
        return answers.pop()

    class Actor:
        options = remote = property(lambda self: lambda *args, **kwargs: self)
        where = property(lambda self: type("Method", (), {"remote": lambda self: "where"})())

    fake = types.SimpleNamespace(
        init=lambda **kwargs: given.update(kwargs), remote=lambda _: Actor(), get=get,
        wait=lambda refs, **_: (refs, []), exceptions=types.SimpleNamespace(RayActorError=Dead, RayError=Dead),
    )
    monkeypatch.setitem(sys.modules, "ray", fake)
    monkeypatch.setattr(ray.os, "environ", settings)
    settings["RAY_ADDRESS"] = "10.0.0.1:6379"
    said = []
    engine = ray.RayEngine(tmp_path, say=said.append)
    assert said == ["starts Ray, which takes some seconds, and more on a busy machine"]
    assert (given["address"], given["_node_ip_address"], given["include_dashboard"]) == ("local", "127.0.0.1", False)
    assert (settings["RAY_USAGE_STATS_ENABLED"], settings["RAY_AUTH_MODE"]) == ("0", "token")
    assert "RAY_ADDRESS" not in settings
    token = Path(settings["RAY_AUTH_TOKEN_PATH"])
    assert (stat.S_IMODE(token.stat().st_mode), len(token.read_text())) == (0o600, 64)
    engine.start_servers([()])
    with pytest.raises(mx.MXNetError, match="server 0 cannot be started again: OSError: a record is damaged") as caught:
        engine.watch()
    assert caught.value.clause == "Cluster/server-ended"


@pytest.mark.clause("Cluster/keep-none", "Cluster/ends-by-name")
def test_with_keep_none_a_kill_ends_the_job(tmp_path):
    code, _, made = run(Job(1, 1, python(KILLED_ONCE), keep="none"), tmp_path / "job")
    assert (code, made.progress.restarts) == (137, {0: 0})
    assert made._engine.servers[0].where()


@pytest.mark.clause("Cluster/ends-by-name")
def test_a_program_that_fails_ends_the_job_with_its_exit_code(tmp_path):
    text = "import os, time; time.sleep(600 * int(os.environ['DMLC_WORKER_ID'])); raise SystemExit(7)"
    code, said, _ = run(Job(2, 1, python(text)), tmp_path / "job")
    assert code == 7
    assert "worker 0 ended with exit code 7: the job ends" in said
    assert said[-1].startswith("failed after")


def test_a_command_that_is_not_there_is_said(tmp_path, capfd):
    code, _, _ = run(Job(1, 1, ["no-such-command"]), tmp_path / "job")
    assert code == 127
    assert "cannot run no-such-command: No such file" in capfd.readouterr().err


@pytest.mark.clause("Cluster/resume")
def test_the_same_command_goes_on_with_a_job_that_failed(tmp_path, capfd):
    text = "import json, os; r = json.loads(os.environ['REFIMPL_JOB'])['restarts']; print('run', r); exit(r == 0)"
    job = Job(1, 1, python(text), state=tmp_path / "kept")
    code, said, _ = run(job, tmp_path / "a")
    assert code == 1
    assert said[-1] == f"the servers' state is in {tmp_path / 'kept'}: the same command goes on from there"
    assert (tmp_path / "kept" / "job.json").exists()
    assert run(job, tmp_path / "b")[0] == 0
    assert capfd.readouterr().out == "worker 0 | run 0\nworker 0 | run 1\n"
    assert list((tmp_path / "kept").iterdir()) == []


@pytest.mark.clause("Cluster/resume")
def test_another_command_does_not_go_on_with_it(tmp_path):
    job = Job(1, 1, python("exit(1)"), state=tmp_path / "kept")
    run(job, tmp_path / "a")
    with pytest.raises(mx.MXNetError, match="whose workers and command differ: 1 workers, 1 s") as caught:
        Launcher(Job(2, 1, ["python"], state=tmp_path / "kept"), Threads, tmp_path / "a")
    assert caught.value.clause == "Cluster/resume"


@pytest.mark.clause("Cluster/resume")
@pytest.mark.parametrize("text", ["", "[]", '{"workers": 1}'])
def test_a_damaged_note_of_a_job_is_refused(text, tmp_path):
    (tmp_path / "job.json").write_text(text)
    with pytest.raises(mx.MXNetError, match=r"is no job of refimpl launch.*remove the folder"):
        launch._memory(Job(1, 1, ["x"]), tmp_path)


@pytest.mark.ray
@pytest.mark.clause("Cluster/keys", "Cluster/launch")
def test_a_job_between_machines_has_keys(tmp_path, capfd):
    """As on several machines: sockets of the network, with the keys that the launcher hands out."""
    code, _, made = run(Job(2, 2, python(SUMS), remote=True), tmp_path / "job")
    assert (code, sorted(capfd.readouterr().out.split("\n"))) == (0, ["", "worker 0 | 3.0", "worker 1 | 3.0"])
    assert all(endpoint.startswith("tcp://") for endpoint in made._engine.endpoints())


# --- the command line -----------------------------------------------------------------------------


@pytest.mark.clause("Cli/launcher", "Cli/launch-command")
@pytest.mark.parametrize(("words", "said"), [
    (["-H", "hosts", "python", "train.py"], "machines are not listed in a file"),
    (["--launcher", "ssh", "python", "train.py"], "--launcher ssh"),
    (["-n", "2"], "nothing to launch"),
    (["-n", "2", "--"], "nothing to launch"),
])
def test_what_the_command_refuses(words, said, capsys):
    assert command_line(["launch", *words]) == 2
    assert said in capsys.readouterr().err


@pytest.mark.clause("Cli/launch-command")
@pytest.mark.parametrize(("words", "command"), [
    (["train.py", "--lr", "1"], ["-m", "refimpl.cli", "run", "train.py", "--lr", "1"]),
    (["refimpl", "run", "train.py"], ["-m", "refimpl.cli", "run", "train.py"]),
    (["python", "train.py", "--lr", "1"], ["-m", "refimpl.cli", "run", "train.py", "--lr", "1"]),
    (["python3", "-c", "pass"], ["-c", "pass"]), (["python"], []),
    (["python", "-u", "-O", "train.py", "-u"], ["-u", "-O", "-m", "refimpl.cli", "run", "train.py", "-u"]),
    (["python", "-u", "-m", "package"], ["-u", "-m", "package"]), (["python", "-W", "error"], ["-W", "error"]),
])
def test_commands_of_python_are_run_by_this_python(words, command):
    assert importlib.import_module("refimpl.cli.launch")._command(words) == [sys.executable, *command]


@pytest.mark.clause("Cluster/address")
def test_a_cluster_of_other_machines_needs_a_token_and_tls():
    with pytest.raises(mx.MXNetError, match="set RAY_AUTH_MODE=token and RAY_USE_TLS=1 as for") as caught:
        require_guarded("10.0.0.1:6379", {})
    assert caught.value.clause == "Cluster/address"
    with pytest.raises(mx.MXNetError, match="set RAY_USE_TLS=1 as for"):
        require_guarded("auto", {"RAY_AUTH_MODE": "token"})
    require_guarded("127.0.0.1:6379", {})
    require_guarded("10.0.0.1:6379", {"RAY_AUTH_MODE": "token", "RAY_USE_TLS": "1"})


@pytest.mark.clause("Cluster/address-answers")
def test_an_address_at_which_nobody_listens_is_refused_at_once():
    with socket.socket() as held:                         # its port is taken, and nobody listens there
        held.bind(("127.0.0.1", 0))
        for address in (f"127.0.0.1:{held.getsockname()[1]}", "127.0.0.1", "127.0.0.1:x", ":6379"):
            with pytest.raises(mx.MXNetError, match=f"no Ray cluster at {address}: ") as caught:
                require_there(address)
            assert caught.value.clause == "Cluster/address-answers"
        held.listen()
        require_there(f"127.0.0.1:{held.getsockname()[1]}")


@pytest.mark.clause("Cluster/address-answers")
def test_a_cluster_that_does_not_take_the_job_is_refused(tmp_path, monkeypatch):
    def init(**_):
        raise ConnectionError("Failed to connect to Ray cluster")  # what Ray 2.60 raises with a wrong token

    monkeypatch.setitem(sys.modules, "ray", types.SimpleNamespace(init=init))
    with socket.socket() as there:
        there.bind(("127.0.0.1", 0))
        there.listen()
        with pytest.raises(mx.MXNetError, match=r"takes this job: Failed to .*RAY_AUTH_TOKEN to that with") as caught:
            ray.RayEngine(tmp_path, f"127.0.0.1:{there.getsockname()[1]}")
    assert caught.value.clause == "Cluster/address-answers"


@pytest.mark.clause("Cluster/ray-starts")
def test_ray_that_does_not_start_is_told_in_a_line(tmp_path, monkeypatch):
    def init(**_):
        raise Exception("The current node timed out during startup.")  # noqa: TRY002  # as Ray 2.60 if it is busy

    monkeypatch.setitem(sys.modules, "ray", types.SimpleNamespace(init=init))
    for name in ("RAY_AUTH_MODE", "RAY_AUTH_TOKEN_PATH"):
        monkeypatch.setenv(name, "")                      # is set, and taken back after the test
    with pytest.raises(mx.MXNetError, match="did not start on this machine: The current node timed out") as caught:
        ray.RayEngine(tmp_path)
    assert caught.value.clause == "Cluster/ray-starts"


@pytest.mark.clause("Cluster/needs-ray")
def test_without_ray_the_command_says_what_to_install(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "ray", None)
    assert command_line(["launch", "python", "train.py"]) == 2
    assert 'pip install "refimpl[ray]"' in capsys.readouterr().err


@pytest.mark.clause("Cluster/needs-zmq")
def test_without_zeromq_the_launcher_says_what_to_install(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "zmq", None)
    assert command_line(["launch", "python", "train.py"]) == 2
    assert 'pip install "refimpl[ray]"' in capsys.readouterr().err


@pytest.mark.clause("Cluster/log-memory")
def test_logs_are_in_memory_where_there_is_space(tmp_path, monkeypatch):
    monkeypatch.setattr(folders, "MEMORY", tmp_path)
    monkeypatch.setattr(folders.shutil, "disk_usage", lambda _: types.SimpleNamespace(free=3 << 30))
    assert folders.place_of_logs(3) == tmp_path
    assert folders.place_of_logs(4) is None
    monkeypatch.setattr(folders, "MEMORY", tmp_path / "missing")
    assert folders.place_of_logs(1) is None


@pytest.mark.clause("Cluster/log-memory")
@pytest.mark.parametrize(("keep", "there"), [("process", 1), ("disk", 0), ("none", 0)])
def test_only_logs_that_need_not_survive_the_machine_are_in_memory(tmp_path, monkeypatch, keep, there):
    monkeypatch.setattr(folders, "MEMORY", tmp_path)
    monkeypatch.setattr(folders, "SPACE", 0)
    program = f"import pathlib; assert len(list(pathlib.Path({str(tmp_path)!r}).glob('*/server-0'))) == {there}"
    job = Job(1, 1, [sys.executable, "-c", program], keep=keep)
    assert launch.launch(job, Threads) == 0
    assert not list(tmp_path.iterdir())


@pytest.mark.clause("Cluster/launch")
def test_what_killed_launchers_left_in_memory_is_removed(tmp_path, monkeypatch):
    monkeypatch.setattr(folders, "MEMORY", tmp_path)
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    for name in (f"refimpl-job-{ended.pid}-a", f"refimpl-job-{os.getpid()}-a", "refimpl-job-x", "other"):
        (tmp_path / name).mkdir()
    folders.sweep()
    assert {path.name for path in tmp_path.iterdir()} == {f"refimpl-job-{os.getpid()}-a", "refimpl-job-x", "other"}
