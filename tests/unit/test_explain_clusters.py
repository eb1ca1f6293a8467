"""The page of a cluster: what it says happened, whom it accuses, and that it is drawn from any event log."""

from __future__ import annotations

import html
import json
import re
from pathlib import Path
from typing import Any

import pytest

import refimpl as mx
from refimpl import cli, explain
from refimpl.explain.clusters import anomalies, event_log, rounds
from refimpl.explain.clusters.diagram import words
from refimpl.explain.clusters.shrinking import shrunk
from refimpl.kvstore.histories import NAMES, check
from refimpl.oracle.backends.simulated_cluster import run_tagged

from .planted_anomalies import PLANTED
from .test_explain_page import Reader
from .test_explain_trainers import AS_WORKER

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def sound() -> dict[str, Any]:
    return explain.cluster()


@pytest.fixture(scope="module")
def page(sound: dict[str, Any]) -> str:
    return explain.cluster_page(sound)


def section(page: str, name: str) -> str:
    found = re.search(rf'<section id="{name}".*?</section>', page, re.DOTALL)
    assert found is not None
    return found[0]


# --- a sound cluster ------------------------------------------------------------------------------


@pytest.mark.clause("Explain/cluster", "Explain/same-bits")
def test_faults_and_peace_end_in_the_same_bits(sound: dict[str, Any], page: str) -> None:
    faulty, quiet = sound["runs"]
    happened = {event["action"] for event in faulty["events"]}
    assert {"drop", "duplicate", "again", "crash", "restart"} <= happened
    assert {event["action"] for event in quiet["events"]} == {"arrives"}
    # two workers with three pushes each: tags are columns, and the second push of each goes to key 'b'
    assert faulty["ends"]["key 'w'"]["first"] == [1, 0, 1, 1, 0, 1]
    assert faulty["ends"]["key 'b'"]["first"] == [0, 1, 0, 0, 1, 0]
    assert {key: end["bits"] for key, end in faulty["ends"].items()} == {
        key: end["bits"] for key, end in quiet["ends"].items()
    }
    assert sound["violations"] == []
    Reader(page)
    assert "bit for bit" in section(page, "ends")
    assert "<dt>seed</dt><dd>223</dd>" in page
    assert page.count('<svg class="messages"') == 2
    changed = json.loads(json.dumps(sound))
    changed["runs"][0]["ends"]["key 'w'"]["bits"] = "0"
    assert "<b>no</b>" in explain.cluster_page(changed)
    assert "bit for bit" not in explain.cluster_page(changed)


@pytest.mark.clause("Explain/cluster")
def test_a_kind_that_is_no_cluster_s_is_refused() -> None:
    with pytest.raises(ValueError, match="kind='local'") as caught:
        explain.cluster(kind="local")
    assert caught.value.clause == "Explain/cluster"


@pytest.mark.clause("Explain/log")
def test_recording_changes_nothing_and_messages_come_after_they_were_sent(sound: dict[str, Any]) -> None:
    program = explain.clusters.runs.built_in("dist_sync", 2, 2)
    alone = run_tagged(program, sound["seed"], explain.clusters.runs.FEW)
    told = [(e.action, e.worker, e.server, e.what) for e in alone.cluster.events]
    events = sound["runs"][0]["events"]
    assert [(e["action"], e["worker"], e["server"], e["what"]) for e in events] == told
    for at, event in enumerate(events, start=1):
        if event["action"] in ("arrives", "drop"):
            assert event["sent"] < at
        if " gets " in event["what"] and event["action"] == "arrives":  # sent when the server took a request
            origin = events[event["sent"] - 1]
            assert (origin["action"], origin["server"]) == ("arrives", event["server"])
            assert " asks " in origin["what"]


@pytest.mark.clause("Explain/round-table")
def test_rounds_are_made_when_their_last_push_is_there(sound: dict[str, Any], page: str) -> None:
    quiet = {one["key"]: one["rounds"] for one in rounds.round_tables(sound["runs"][1])}
    assert {key: len(found) for key, found in quiet.items()} == {"key 'w'": 2, "key 'b'": 1}
    for found in quiet.values():
        assert all(row["made"] == max(row["arrived"]) for row in found)  # in peace nothing overtakes
    for one in rounds.round_tables(sound["runs"][0]):
        assert all(row["made"] >= max(row["arrived"]) for row in one["rounds"])
        assert f">{one['rounds'][-1]['made']}<" in section(page, "rounds")
    told = {"workers": 2, "events": [
        {"action": "arrives", "worker": worker, "server": 0, "what": f"#{number} asks Push key 'w'", **more}
        for worker, number, more in (
            (0, 4, {}), (1, 3, {"versions": {"key 'w'": 1}}), (0, 7, {}), (0, 4, {}), (0, 5, {}), (1, 9, {}),
        )
    ]}
    assert rounds.round_tables(told) == [{"key": "key 'w'", "rounds": [
        {"number": 1, "arrived": [1, 2], "made": 2}, {"number": 2, "arrived": [5, 6], "made": None},
        {"number": 3, "arrived": [3, None], "made": None},
    ]}]


@pytest.mark.clause("Explain/diagram")
def test_every_event_is_drawn_and_a_server_is_dark_while_it_is_down(sound: dict[str, Any], page: str) -> None:
    for number, run in enumerate(sound["runs"]):
        drawing = re.findall(r'<svg class="messages".*?</svg>', page, re.DOTALL)[number]
        drawn = [int(at) for at in re.findall(r'<g class="event [^"]*" data-step="(\d+)"', drawing)]
        assert drawn == list(range(1, len(run["events"]) + 1))
        listed = [int(at) for at in re.findall(rf'id="e{number}-(\d+)"', page)]
        assert listed == drawn
    actions = [event["action"] for event in sound["runs"][0]["events"]]
    down, up = actions.index("crash") + 1, actions.index("restart") + 1
    assert up - down > 3
    server = sound["runs"][0]["events"][down - 1]["server"]
    drawing = re.findall(r'<svg class="messages".*?</svg>', page, re.DOTALL)[0]
    bars = re.findall(r"<title>server (\d) is down</title><rect [^>]*height=\"(\d+)\"", drawing)
    assert bars == [(str(server), str(22 * (up - down)))]
    dark = sound["runs"][0]["events"][down : up - 1]
    assert not any(event["action"] == "arrives" and event["server"] == server for event in dark)


@pytest.mark.parametrize(("event", "expected"), [
    (("arrives", 0, 1, "#3 asks Push key 'w'"), "server 1 gets #3 from worker 0: Push key 'w'"),
    (("arrives", 0, 1, "#3 gets Done"), "worker 0 gets the answer to #3: Done"),
    (("drop", 0, 1, "#3 gets Done"), "a message is lost from server 1 to worker 0: #3 gets Done"),
    (("again", 0, 1, "#3"), "worker 0 sends #3 to server 1 again: it has no answer"),
    (("restart", None, 1, ""), "server 1 comes back, with what it knew after the last request that it took"),
    (("kill", 0, None, ""), "worker 0 is killed, and started again from its first line"),
    (("sleeps", 0, None, "a while"), "sleeps worker 0 a while"),
])
def test_events_in_words(event: tuple[Any, ...], expected: str) -> None:
    assert words(dict(zip(("action", "worker", "server", "what"), event, strict=True))) == expected


# --- anomalies ------------------------------------------------------------------------------------


def test_every_anomaly_has_words_and_a_planted_fault() -> None:
    assert tuple(anomalies.WORDS) == NAMES
    assert set(PLANTED) == set(NAMES)
    chapter = (ROOT / "spec/reference/stores/histories.md").read_text(encoding="utf-8")
    assert dict(re.findall(r"^\| ([a-z ]+) \| (.+?) \|$", chapter, re.MULTILINE)).items() >= anomalies.WORDS.items()


@pytest.mark.clause("Explain/accused")
@pytest.mark.parametrize("name", NAMES)
def test_the_page_points_at_the_anomaly(name: str) -> None:
    planted = PLANTED[name]
    found = explain.cluster(**planted.arguments())
    first = found["violations"][0]
    assert first["name"] == name
    page = explain.cluster_page(found)
    Reader(page)
    broken = section(page, "broken")
    assert f'<b class="name">{name}</b>' in broken
    assert anomalies.WORDS[name] in html.unescape(broken)
    assert f'href="#rule-{first["clause"]}"' in broken
    assert f"schedule={found['shrunk']}" in broken
    run, pull = found["runs"][0], first["pull"]
    marked = [int(at) for at in re.findall(r'<g class="event [^"]* marked[^"]*" data-step="(\d+)"', page)]
    events = [run["events"][at - 1] for at in marked]
    assert_of_pull(events, pull, run["events"], answered=name != "unanswered")
    assert all(f'href="#e0-{at}"' in broken and f'id="e0-{at}"' in page for at in marked)
    if name != "unanswered":
        assert "The offending pull" in broken
    assert sum(decision > 0 for decision in found["shrunk"]) <= 12
    assert_found_again(name, found["shrunk"])


def assert_of_pull(events: list[Any], pull: dict[str, Any], all_events: list[Any], *, answered: bool) -> None:
    """The events are those of the offending pull: its request and its answer."""
    assert all(event["worker"] == pull["worker"] for event in events)
    asks = f"asks Pull key {pull['key']}"
    assert events[0]["what"].endswith(asks)
    number = events[0]["what"].partition(" ")[0]
    pulls = sorted({
        int(event["what"][1:].partition(" ")[0]) for event in all_events
        if event["worker"] == pull["worker"] and event["what"].endswith(asks)
    })
    assert pulls.index(int(number[1:])) == (len(pulls) - 1 if pull["number"] is None else pull["number"])
    answers = [event["what"] for event in events[1:]]
    assert re.fullmatch(rf"{number} gets Held version \d+", answers[0]) if answered else answers == []


def assert_found_again(name: str, schedule: list[int]) -> None:
    """The schedule that the page shows leads to the anomaly again."""
    planted = PLANTED[name]
    given = planted.arguments()
    spoil = (lambda _: None) if planted.spoil is None else planted.spoil()
    again = run_tagged(
        given["program"], planted.seed, explain.clusters.runs.FEW, schedule,
        *([given["server"](given["program"])] if given["server"] else []), threshold=planted.threshold, spoil=spoil,
        waits=True, least=0 if planted.threshold else -4,
    )
    assert check(again.history, planted.kind, planted.threshold)[0].name == name


def test_the_shown_pull_is_what_the_worker_was_given() -> None:
    pull = explain.cluster(**PLANTED["duplicated"].arguments())["violations"][0]["pull"]
    assert (pull["worker"], pull["number"], pull["key"]) == (0, 1, "'w'")
    assert pull["value"] == [[1, 2, 1, 1]]


def test_schedules_shrink_to_what_matters() -> None:
    tried = 0

    def fails(schedule: list[int]) -> bool:
        nonlocal tried
        tried += 1
        return len(schedule) > 7 and schedule[2] >= 3 and schedule[7] >= 1

    assert shrunk([5] * 40, fails) == [0, 0, 3, 0, 0, 0, 0, 1]
    tried = 0
    assert shrunk([5] * 40, fails, most=4) != []
    assert tried <= 4


# --- logs -----------------------------------------------------------------------------------------


@pytest.mark.clause("Explain/log")
def test_a_log_is_drawn_like_the_run(sound: dict[str, Any], page: str, tmp_path: Path) -> None:
    file = tmp_path / "events.jsonl"
    explain.write_events({**sound, **sound["runs"][0]}, file)
    lines = file.read_text().splitlines()
    assert json.loads(lines[0]) == {"workers": 2, "servers": 2, "seed": 223, "kind": "dist_sync"}
    assert json.loads(lines[1])["action"] == "arrives"
    found = explain.logged(file)
    assert found["runs"][0]["events"] == sound["runs"][0]["events"]
    again = explain.cluster_page(found)
    Reader(again)
    drawings = [re.findall(r'<svg class="messages".*?</svg>', one, re.DOTALL)[0] for one in (page, again)]
    assert drawings[0] == drawings[1]
    assert '<section id="ends"' not in again


@pytest.mark.clause("Explain/log")
def test_a_log_of_others_needs_no_more_than_events(tmp_path: Path) -> None:
    file = tmp_path / "<b>'\".jsonl"
    hostile = "</svg><script>alert(1)</script>"
    file.write_text("".join(json.dumps({"at": 1.5, **event}) + "\n" for event in (
        {"action": "arrives", "worker": 2, "server": 0, "what": "#0 asks Push key 'w'"},
        {"action": "answers", "worker": 2, "server": 0, "what": "#0 gets Done"},
        {"action": hostile, "worker": 0, "server": None, "what": hostile},
        {"action": "arrives", "worker": 0, "server": 0, "what": f"#1 asks Push key '{hostile}'",
         "versions": {hostile: 3}},
        {"action": "crash", "worker": None, "server": 1},
    )))
    found = explain.logged(file)
    assert (found["workers"], found["servers"], found["seed"]) == (3, 2, None)
    page = explain.cluster_page(found)
    assert hostile not in page
    assert "<b>'" not in page
    Reader(page)


@pytest.mark.clause("Explain/log")
@pytest.mark.parametrize(("content", "line"), [
    (b"", 1), (b'{"workers": 2}\n', 1), (b"[]\n", 1), (b'{"action": "crash", "server": 1}\nnonsense\n', 2),
    (b'{"action": "crash", "server": -1}\n', 1), (b'{"action": "crash", "server": 64}\n', 1),
    (b'{"action": "crash", "server": true}\n', 1), (b'{"action": 3}\n', 1), (b'{"action": "x", "what": null}\n', 1),
    (b'{"workers": 0}\n{"action": "crash", "server": 1}\n', 1), (b'{"action": "%s"}\n' % (b"x" * 301), 1),
    (b'{"workers": 2, "seed": "1"}\n', 1), (b"[" * 100_000 + b"\n", 1), (b"\xff\n", 1),
])
def test_what_is_no_log(tmp_path: Path, content: bytes, line: int) -> None:
    file = tmp_path / "events.jsonl"
    file.write_bytes(content)
    with pytest.raises(ValueError, match=f"line {line}: no ") as caught:
        event_log.read_events(file)
    assert caught.value.clause == "Explain/log"


# --- scripts and the command ----------------------------------------------------------------------


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "train.py").write_text(AS_WORKER)
    (tmp_path / "idle.py").write_text("x = 1")
    (tmp_path / "log.jsonl").write_text('{"action": "crash", "worker": null, "server": 0}\n')
    return tmp_path


@pytest.mark.clause("Explain/cluster")
def test_a_script_runs_with_faults_and_in_peace(folder: Path) -> None:
    found = explain.cluster_script("train.py", workers=2, servers=1, seed=5)
    faulty, quiet = found["runs"]
    assert {event["action"] for event in faulty["events"]} > {"arrives"} == {e["action"] for e in quiet["events"]}
    assert set(faulty["ends"]) == {"key 'fc_weight'", "key 'fc_bias'"}
    assert faulty["ends"] == quiet["ends"]
    assert found["kind"] == "dist_sync"
    with pytest.raises(ValueError, match="makes no store") as caught:
        explain.cluster_script("idle.py")
    assert caught.value.clause == "Explain/cluster"


@pytest.mark.clause("Explain/cluster")
def test_the_command_writes_a_page_and_a_log(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["explain", "--cluster", "--seed", "4", "-n", "3", "-s", "1", "--events", "new.jsonl"]) == 0
    assert "wrote cluster.html" in capsys.readouterr().out
    page = Path("cluster.html").read_text(encoding="utf-8")
    Reader(page)
    assert "worker 2" in page
    assert "<dt>seed</dt><dd>4</dd>" in page
    assert cli.run(["explain", "--cluster", "new.jsonl", "-o", "again.html"]) == 0
    assert cli.run(["explain", "--cluster", "--kvstore", "dist_async", "--json"]) == 0
    assert json.loads(capsys.readouterr().out.partition("events\n")[2])["kind"] == "dist_async"


@pytest.mark.clause("Cli/cluster-options", "Cli/explain-source")
@pytest.mark.parametrize(("clause", "options"), [
    ("Cli/cluster-options", ["--seed", "1"]), ("Cli/cluster-options", ["--kvstore", "dist_sync"]),
    ("Cli/cluster-options", ["--events", "x"]), ("Cli/cluster-options", ["--cluster", "log.jsonl", "--seed", "1"]),
    ("Cli/cluster-options", ["--cluster", "train.py", "--kvstore", "dist_sync"]),
    ("Cli/explain-source", ["--cluster", "nowhere.jsonl"]),
])
def test_options_that_do_not_fit(
    folder: Path, capsys: pytest.CaptureFixture[str], clause: str, options: list[str]
) -> None:
    assert cli.run(["explain", *options]) == 2
    assert clause in capsys.readouterr().err
    assert mx.kv.histories.NAMES == NAMES
