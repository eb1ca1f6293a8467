"""Traces and sums of time. Texts of tables are laid out as MXNet 1.9.1 printed them."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import refimpl as mx
from refimpl import profiler
from refimpl.engine import profiling_hook
from refimpl.profiler.aggregate import as_json, as_table
from refimpl.profiler.recorder import RECORDER, Sums


@pytest.fixture(autouse=True)
def trace(tmp_path: Path) -> Iterator[Path]:
    """A stopped, empty profiler, and the file that it writes."""
    file = tmp_path / "trace.json"
    profiler.set_config(filename=str(file), profile_all=True, aggregate_stats=True)
    RECORDER.clear_rows()
    RECORDER.clear_sums()
    yield file
    profiler.set_state("stop")
    profiler.set_config()
    RECORDER.clear_rows()
    RECORDER.clear_sums()


def refused(clause: str, call: Any, kind: type[Exception] = mx.MXNetError) -> None:
    with pytest.raises(kind) as caught:
        call()
    assert caught.value.clause == clause


def work(name: str = "dot", place: mx.Context | None = None, watch: Any = None) -> None:
    """What whoever runs an operator does."""
    watch = profiling_hook.imperative if watch is None else watch
    if watch is not None:
        watch.end(watch.begin(name, place or mx.cpu(), [(3, 4), (4, 2)]))


def events(file: Path, **wanted: str) -> list[dict[str, Any]]:
    """Events of a file with these fields."""
    found = json.loads(file.read_text())["traceEvents"]
    return [event for event in found if all(event[key] == value for key, value in wanted.items())]


def names(**wanted: str) -> list[str]:
    return [row["name"] for row in RECORDER.rows if all(row[key] == value for key, value in wanted.items())]


@pytest.mark.clause("Profiler/off")
def test_nothing_is_there_when_off() -> None:
    assert profiling_hook.imperative is None
    assert profiling_hook.symbolic is None
    work()
    domain = profiler.Domain("d")
    task = domain.new_task("t")
    task.start()
    task.stop()
    domain.new_counter("c", 1)
    domain.new_marker("m").mark()
    assert RECORDER.rows == []


@pytest.mark.clause("Profiler/what")
@pytest.mark.parametrize(("settings", "imperative", "symbolic"), [
    ({}, True, True), ({"profile_imperative": False}, False, True), ({"profile_symbolic": False}, True, False),
    ({"profile_imperative": False, "profile_all": True}, True, True),
    ({"profile_imperative": "False", "profile_symbolic": "0"}, False, False),
])
def test_what_is_watched(settings: dict[str, Any], imperative: bool, symbolic: bool) -> None:
    profiler.set_config(**settings)
    profiler.set_state("run")
    assert (profiling_hook.imperative is not None) is imperative
    assert (profiling_hook.symbolic is not None) is symbolic


@pytest.mark.clause("Profiler/trace")
def test_one_event_per_operator(trace: Path) -> None:
    profiler.set_state("run")
    work("dot")
    work("dot", mx.cpu(1))
    work("exp")
    profiler.dump()
    found = events(trace, ph="X")
    assert [event["name"] for event in found] == ["dot", "dot", "exp"]
    for event in found:
        assert set(event) == {"name", "cat", "ph", "ts", "dur", "pid", "tid", "args"}
        assert event["cat"] == "operator"
        assert event["args"] == {"shapes": [[3, 4], [4, 2]]}
        assert 0 <= event["dur"] < 1e6
    assert [event["ts"] for event in found] == sorted(event["ts"] for event in found)
    places = {event["pid"]: event["args"]["name"] for event in events(trace, ph="M", name="process_name")}
    assert [places[event["pid"]] for event in found] == ["cpu/0", "cpu/1", "cpu/0"]
    assert json.loads(trace.read_text())["displayTimeUnit"] == "ms"


def test_threads_have_rows_of_their_own(trace: Path) -> None:
    profiler.set_state("run")
    work()
    thread = threading.Thread(target=work, name="second")
    thread.start()
    thread.join()
    profiler.dump()
    assert len({event["tid"] for event in events(trace, ph="X")}) == 2
    assert "second" in {event["args"]["name"] for event in events(trace, name="thread_name")}


@pytest.mark.clause("Profiler/operators")
def test_operators_on_arrays() -> None:
    x = mx.nd.ones((3, 4))
    profiler.set_state("run")
    mx.nd.dot(x, x, transpose_b=True)
    profiler.set_state("stop")
    mx.nd.exp(x)
    (row,) = RECORDER.rows
    assert (row["name"], row["args"]) == ("dot", {"shapes": [[3, 4], [3, 4]]})


@pytest.mark.clause("Profiler/operators")
def test_backward_of_autograd() -> None:
    x, weight = mx.nd.ones((3, 4)), mx.nd.ones((2, 4))
    weight.attach_grad()
    with mx.autograd.record():
        y = mx.nd.FullyConnected(x, weight, num_hidden=2, no_bias=True)
    profiler.set_state("run")
    y.backward()
    (row,) = [row for row in RECORDER.rows if row["name"] == "_backward_FullyConnected"]
    assert row["args"]["shapes"][0] == [3, 2]


@pytest.mark.clause("Profiler/operators")
def test_steps_of_an_executor() -> None:
    net = mx.sym.FullyConnected(mx.sym.Variable("data"), num_hidden=2, name="fc")
    executor = net.simple_bind(mx.cpu(1), data=(3, 4), grad_req="add")
    profiler.set_state("run")
    executor.forward(is_train=True)
    executor.backward(mx.nd.ones((3, 2), ctx=mx.cpu(1)))
    profiler.set_state("stop")
    steps = [row for row in RECORDER.rows if "node" in row["args"]]
    assert [(row["name"], row["args"]["node"]) for row in steps] == [
        ("FullyConnected", "fc"), ("_backward_FullyConnected", "fc_backward"),
    ]
    assert steps[0]["args"]["shapes"] == [[3, 4], [2, 4], [2]]
    assert names(name="_grad_add") == ["_grad_add"] * 3
    assert set(RECORDER.places) == {"cpu/1"}


class Broken:
    """A step that fails."""

    def run(self, is_train: bool) -> None:
        raise ZeroDivisionError


def test_a_failing_step_ends() -> None:
    profiler.set_state("run")
    with pytest.raises(ZeroDivisionError):
        profiling_hook.run_steps(RECORDER, [Broken()], False, mx.cpu())
    assert names() == ["_copy"]


@pytest.mark.clause("Profiler/pause")
def test_pause() -> None:
    profiler.set_state("run")
    work("one")
    profiler.pause()
    work("two")
    profiler.resume()
    work("three")
    assert names() == ["one", "three"]
    profiler.set_state("stop")
    profiler.pause()
    profiler.resume()
    assert profiling_hook.imperative is None


@pytest.mark.clause("Profiler/dump")
def test_dump(trace: Path) -> None:
    profiler.set_state("run")
    work("one")
    profiler.dump(finished=False)
    work("two")
    profiler.dump()
    assert [event["name"] for event in events(trace, ph="X")] == ["one", "two"]
    assert profiling_hook.imperative is None
    profiler.dump()
    assert len(events(trace, ph="X")) == 2
    profiler.set_state("run")
    work("three")
    profiler.dump()
    assert [event["name"] for event in events(trace, ph="X")] == ["three"]


@pytest.mark.clause("Profiler/dump")
@pytest.mark.parametrize("kind", ["naive", "threaded", "shuffled"])
def test_dump_has_operators_that_an_engine_put_off(trace: Path, kind: str) -> None:
    with mx.engine.use(kind):
        profiler.set_state("run")
        kept = [mx.nd.exp(mx.nd.ones((2,), mx.cpu(n))) for n in range(3)]
        counts = json.loads(profiler.dumps(format="json"))
        profiler.dump()
        assert len(events(trace, ph="X", name="exp")) == len(kept)
    assert counts["Time"]["operator"]["exp"]["Count"] == 3


@pytest.mark.clause("Profiler/table")
def test_sums_are_those_of_the_bars() -> None:
    profiler.set_state("run")
    for _ in range(3):
        mx.nd.exp(mx.nd.ones((2,)))
    profiler.set_state("stop")
    took = [row["dur"] / 1000 for row in RECORDER.rows if row["name"] == "exp"]  # microseconds there
    sums = RECORDER.times["operator"]["exp"]
    assert (sums.count, sums.least, sums.greatest) == (3, pytest.approx(min(took)), pytest.approx(max(took)))
    assert sums.total == pytest.approx(sum(took))


def test_a_folder_that_is_missing(tmp_path: Path) -> None:
    profiler.set_config(filename=str(tmp_path / "no" / "file.json"))
    refused("Files/writable", profiler.dump)


@pytest.mark.clause("Profiler/objects")
def test_objects(trace: Path) -> None:
    domain = profiler.Domain("dom")
    profiler.set_state("run")
    spans = [domain.new_task("task"), domain.new_frame("frame"), profiler.Event("event")]
    for span in spans:
        span.start()
    for span in spans:
        span.stop()
        span.stop()
    counter = domain.new_counter("count", 5)
    counter += 3
    counter -= 1
    counter.increment()
    counter.decrement(10)
    marker = domain.new_marker("mark")
    for scope in ("global", "process", "thread"):
        marker.mark(scope)
    profiler.dump()
    assert [str(thing) for thing in (domain, *spans, counter)] == ["dom", "task", "frame", "event", "count"]
    for name, category in (("task", "dom"), ("frame", "dom,frame"), ("event", "event")):
        begin, end = events(trace, name=name)
        assert (begin["ph"], end["ph"], begin["cat"], begin["id"]) == ("b", "e", category, end["id"])
        assert begin["ts"] <= end["ts"]
    assert [event["args"]["count"] for event in events(trace, ph="C")] == [5, 8, 7, 8, -2]
    assert [(event["cat"], event["s"]) for event in events(trace, ph="i")] == [
        ("dom,instant_marker", scope) for scope in "gpt"
    ]


def sums(*values: float) -> Sums:
    made = Sums()
    for value in values:
        made.add(value)
    return made


@pytest.fixture
def known() -> None:
    RECORDER.times = {
        "operator": {"exp": sums(0.5), "dot": sums(3, 1)}, "dom": {"a_name_of_thirty_characters_or": sums(2)},
    }
    RECORDER.counters = {"dom": {"count": sums(5, -2)}}


@pytest.mark.clause("Profiler/table")
def test_table(known: None) -> None:
    assert profiler.dumps() == """
Profile Statistics:
	Note the difference in units for different entries.
dom
=================
Name                          Total Count        Time (ms)    Min Time (ms)    Max Time (ms)    Avg Time (ms)
----                          -----------        ---------    -------------    -------------    -------------
a_name_of_thirty_characters_or               1           2.0000           2.0000           2.0000           2.0000

dom,counter
=================
Name                          Total Count        Min Value        Max Value        Avg Value
----                          -----------        ---------        ---------        ---------
count                                   2          -2.0000           5.0000           1.5000

operator
=================
Name                          Total Count        Time (ms)    Min Time (ms)    Max Time (ms)    Avg Time (ms)
----                          -----------        ---------    -------------    -------------    -------------
dot                                     2           4.0000           1.0000           3.0000           2.0000
exp                                     1           0.5000           0.5000           0.5000           0.5000

"""


@pytest.mark.clause("Profiler/table")
def test_json(known: None) -> None:
    found = json.loads(profiler.dumps(format="json"))
    assert found["Time"]["operator"]["dot"] == {"Count": 2, "Total": 4, "Min": 1, "Max": 3, "Avg": 2}
    assert found["Counter"]["dom"]["count"] == {"Count": 2, "Min": -2, "Max": 5, "Avg": 1.5}
    assert found["Memory"] == {}
    assert found["Unit"] == {"Time": "ms", "Memory": "kB"}


@pytest.mark.parametrize(("sort_by", "order"), [
    ("total", "bac"), ("avg", "abc"), ("min", "abc"), ("max", "abc"), ("count", "bca"),
])
def test_sorting(sort_by: str, order: str) -> None:
    RECORDER.times = {"operator": {"a": sums(9), "b": sums(5, 5, 5), "c": sums(1, 4)}}
    for ascending, wanted in ((False, order), (True, order[::-1])):
        found = json.loads(as_json(RECORDER, sort_by, ascending))["Time"]["operator"]
        assert "".join(found) == wanted
        rows = as_table(RECORDER, sort_by, ascending).splitlines()[7:10]
        assert "".join(row[0] for row in rows) == wanted


@pytest.mark.clause("Profiler/sums")
def test_sums_last_until_reset() -> None:
    profiler.set_state("run")
    work()
    profiler.dump()
    profiler.set_state("run")
    work()
    profiler.set_state("stop")
    assert json.loads(profiler.dumps(format="json", reset=True))["Time"]["operator"]["dot"]["Count"] == 2
    assert profiler.dumps() == "\nProfile Statistics:\n\tNote the difference in units for different entries.\n"
    profiler.set_config(aggregate_stats=False)
    profiler.set_state("run")
    work()
    assert profiler.dumps() == ""
    assert RECORDER.times == {}


@pytest.mark.clause("Profiler/format")
@pytest.mark.parametrize("wrong", [{"format": "xml"}, {"sort_by": "name"}])
def test_wrong_formats(wrong: dict[str, str]) -> None:
    refused("Profiler/format", lambda: profiler.dumps(**wrong), AssertionError)


@pytest.mark.clause("Profiler/state")
@pytest.mark.clause("Profiler/process")
@pytest.mark.clause("Profiler/server")
@pytest.mark.clause("Profiler/scope")
@pytest.mark.clause("Profiler/name")
def test_refusals() -> None:
    refused("Profiler/state", lambda: profiler.set_state("walk"), KeyError)
    refused("params/unknown-name", lambda: profiler.set_config(nonsense=1))
    refused("params/bad-value", lambda: profiler.set_config(aggregate_stats="perhaps"))
    refused("Profiler/process", lambda: profiler.set_state("run", profile_process="other"), KeyError)
    refused("Profiler/server", lambda: profiler.set_state("run", profile_process="server"))
    refused("Profiler/server", lambda: profiler.set_config(profile_process="server"))
    refused("Profiler/scope", lambda: profiler.Domain("d").new_marker("m").mark("far"))
    refused("Profiler/name", lambda: profiler.Domain(3), TypeError)
    refused("Profiler/name", lambda: profiler.Task("d", "t"), TypeError)
    refused("Profiler/name", lambda: profiler.Domain("d").new_counter(3), TypeError)
    with pytest.raises(ValueError, match="invalid literal"):
        profiler.Domain("d").new_counter("c", "a")


def test_names_of_2017(trace: Path) -> None:
    with pytest.warns(UserWarning, match="profiler_set_config.. is deprecated"):
        profiler.profiler_set_config("all", str(trace))
    with pytest.warns(UserWarning, match="set_state"):
        profiler.profiler_set_state("run")
    work()
    with pytest.warns(UserWarning, match="dump"):
        profiler.dump_profile()
    assert len(events(trace, ph="X")) == 1


def test_handle_of_a_store() -> None:
    profiler.set_kvstore_handle(7)
    assert profiler.profiler_kvstore_handle.value == 7
    profiler.set_kvstore_handle(None)
    assert profiler.profiler_kvstore_handle.value is None
