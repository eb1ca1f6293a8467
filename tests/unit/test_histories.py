"""Histories of pushes and pulls: what is found in them, told in words, and what is no history."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import refimpl as mx
from refimpl.kvstore import history_events
from refimpl.kvstore.histories import NAMES, History, check, tag
from refimpl.kvstore.histories import HistoryEvent as Event


def told(history: History, kind: str = "dist_async", **more) -> list[str]:
    return [str(violation) for violation in check(history, kind, **more)]


def two(*actions, pushes: int = 2, rows: int = 1) -> History:
    """A history of two workers: (worker, verb, key, value); pulls of one row are given flat."""
    history = History(2, pushes)
    for worker, verb, *rest in actions:
        if verb == "push":
            history.push(worker, rest[0] if rest else "w", rows)
        elif verb == "pull":
            value = rest[-1]
            history.pull(worker, rest[0] if len(rest) > 1 else "w", value if rows > 1 else [value])
        else:
            getattr(history, verb)(worker)
    return history


# --- tags -----------------------------------------------------------------------------------------


@pytest.mark.clause("History/tag")
def test_a_tag_is_one_in_a_column_of_its_own():
    assert mx.kv.histories.tag(1, 2, workers=2, pushes=3, rows=2).tolist() == [[0, 0, 0, 0, 0, 1]] * 2
    for wrong in ((2, 0, 2, 3), (-1, 0, 2, 3), (0, 3, 2, 3), (0, -1, 2, 3), (0, 0, 2, 3, 0)):
        with pytest.raises(mx.MXNetError) as caught:
            tag(*wrong)
        assert caught.value.clause == "History/tag"


# --- what is found --------------------------------------------------------------------------------


@pytest.mark.clause("History/check")
@pytest.mark.parametrize(("history", "kind", "expected"), [
    (
        two((0, "push"), (0, "pull", [0, 0, 0, 0])), "dist_async",
        ("lost: worker 0's pull 0 of key 'w' lacks worker 0's push 0 of this key (push 0 of all),"
        " which no pull ever holds, not even those of worker 0"),
    ), (
        two((0, "push"), (0, "pull", [2, 0, 0, 0])), "dist_async",
        "duplicated: worker 0's pull 0 of key 'w' holds worker 0's push 0 of all 2 times",
    ), (
        two((0, "push"), (0, "pull", [0.5, 0, 0, 0])), "dist_async",
        "garbage: worker 0's pull 0 of key 'w' holds 0.5 of worker 0's push 0 of all, no count of pushes",
    ), (
        two((0, "push"), (0, "pull", [1, 0, 0, float("nan")])), "dist_async",
        "garbage: worker 0's pull 0 of key 'w' holds nan of worker 1's push 1 of all, no count of pushes",
    ), (
        two((0, "push"), (0, "pull", [1, 0, 1, 0])), "dist_async",
        "garbage: worker 0's pull 0 of key 'w' holds worker 1's push 0 of all, which was never made",
    ), (
        two((0, "push", "b"), (0, "push"), (0, "pull", [1, 1, 0, 0])), "dist_async",
        "wrong key: worker 0's pull 0 of key 'w' holds worker 0's push 0 of all, which went to key 'b'",
    ), (
        two((0, "push"), (0, "pull", [[1, 0, 0, 0], [0, 0, 0, 0]]), rows=2), "dist_async",
        ("torn: worker 0's pull 0 of key 'w' lacks worker 0's push 0 of this key (push 0 of all),"
        " at least in row 1, where it never comes; row 0 has it"),
    ), (
        two((0, "push"), (0, "push"), (1, "pull", [0, 1, 0, 0]), (0, "pull", [1, 1, 0, 0])), "dist_async",
        ("out of order: worker 1's pull 0 of key 'w' lacks worker 0's push 0 of this key (push 0 of all),"
        " but has push 1 of this key, which came after it"),
    ), (
        two((0, "push"), (0, "pull", [0, 0, 0, 0]), (0, "pull", [1, 0, 0, 0])), "dist_async",
        ("read your writes: worker 0's pull 0 of key 'w' lacks worker 0's push 0 of this key (push 0 of all),"
        " which it made before it asked"),
    ), (
        two((0, "push"), (1, "pull", [1, 0, 0, 0]), (1, "pull", [0, 0, 0, 0])), "dist_async",
        ("backwards: worker 1's pull 1 of key 'w' lacks worker 0's push 0 of this key (push 0 of all),"
        " which an earlier pull of the same worker holds"),
    ), (
        two((0, "push"), (0, "barrier"), (1, "barrier"), (1, "pull", [0, 0, 0, 0]), (0, "pull", [1, 0, 0, 0])),
        "dist_async",
        ("early: worker 1's pull 0 of key 'w' lacks worker 0's push 0 of this key (push 0 of all),"
        " made before a barrier they passed"),
    ), (
        two((0, "barrier"), (0, "push"), (1, "pull", [1, 0, 0, 0]), (1, "barrier")), "dist_async",
        ("early: worker 1's pull 0 of key 'w' holds worker 0's push 0 of this key (push 0 of all),"
        " which worker 0 makes after what worker 1 has waited for"),
    ), (
        two((0, "push"), (1, "push"), (1, "push"), (0, "pull", [1, 0, 1, 1]), (1, "leave")), "dist_sync",
        ("early: worker 0's pull 0 of key 'w' holds worker 1's push 1 of this key (push 1 of all),"
        " which worker 1 makes after what worker 0 has waited for"),
    ), (
        two((0, "push"), (0, "pull", [1, 0, 0, 0])), "dist_sync",
        ("early: worker 0's pull 0 of key 'w' was answered after its worker's push 0 of this key,"
        " while worker 1 has only made 0 of them"),
    ), (
        two((0, "push"), (1, "push"), (0, "pull", [1, 0, 0, 0]), (1, "pull", [0, 0, 1, 0]), pushes=2), "dist_async",
        ("incomparable: worker 0's pull 0 of key 'w' holds worker 0's push 0 of all and lacks worker 1's push 0 of all,"
        " worker 1's pull 0 of key 'w' holds the second and lacks the first: no order of pushes makes both"),
    ),
])
def test_each_violation_is_told_in_words(history, kind, expected):
    assert told(history, kind)[0] == expected
    assert expected.split(":")[0] in NAMES


@pytest.mark.clause("History/check")
def test_what_must_not_be_there_yet_may_be():
    """Asynchronous pushes of others come when they come, and parts of an array each in their own time."""
    history = two((0, "push"), (1, "push"), (0, "push"), (0, "barrier"), (1, "barrier"), rows=2)
    history.pull(1, "w", [[1, 1, 1, 0], [1, 1, 1, 0]])
    assert told(history) == []
    history = two((0, "push"), (0, "push"), rows=2)
    history.pull(1, "w", [[1, 0, 0, 0], [0, 0, 0, 0]])
    history.pull(1, "w", [[1, 0, 0, 0], [1, 1, 0, 0]])
    history.pull(0, "w", [[1, 1, 0, 0], [1, 1, 0, 0]])
    assert told(history) == []


@pytest.mark.clause("History/gone")
def test_pushes_of_lost_workers_may_be_there_and_those_of_leaving_ones_must():
    def with_end(end: str, value: list[int]) -> list[str]:
        history = two((1, "push"), (1, end), (0, "push"), (0, "pull", value), (0, "push"))
        history.pull(0, "w", [[*value[:1], 1, *value[2:]]])
        return told(history, "dist_sync")

    assert with_end("lost", [1, 0, 0, 0]) == []
    assert with_end("lost", [1, 0, 1, 0]) == []
    assert with_end("leave", [1, 0, 1, 0]) == []
    assert with_end("leave", [1, 0, 0, 0])[0].startswith("early")


def one_round(value) -> History:
    history = two((0, "push"), (1, "push"), (0, "push"), (1, "push"))
    for worker in (0, 1):
        history.pull(worker, "w", value)
    return history


@given(st.integers(0, 3), st.floats(width=32))
def test_no_other_number_passes_in_a_full_round(place, number):
    value = np.ones((1, 4), np.float32)
    assert told(one_round(value), "dist_sync") == []
    if number != 1:
        value[0, place] = number
        assert told(one_round(value), "dist_sync") != []
        assert told(one_round(value), "dist_async") != []


# --- compression ----------------------------------------------------------------------------------


@pytest.mark.clause("History/residual")
def test_a_forgotten_residual_is_told():
    def after_two_pushes(value) -> list[str]:
        history = History(1, 2)
        for _ in range(2):
            gradient = history.push(0, "w", value=[[0.25, -0.75, 0.5]])
            assert gradient.tolist() == [[0.25, -0.75, 0.5]]
        history.pull(0, "w", value)
        return told(history, "dist_sync", threshold=0.5)

    assert after_two_pushes([[0.5, -1.0, 1.0]]) == []  # 0 + 0.5, -0.5 - 0.5, 0.5 + 0.5
    assert after_two_pushes([[0.0, -1.0, 1.0]]) == [
        ("residual: worker 0's pull 0 of key 'w' has 0 in place (0, 0), where gradients of 0.5 in all, sent with"
        " threshold 0.5, make 0.5: that is what comes if what a code leaves out is forgotten")
    ]
    assert after_two_pushes([[0.5, -1.5, 1.0]]) == [
        ("residual: worker 0's pull 0 of key 'w' has -1.5 in place (0, 1), where gradients of -1.5 in all, sent with"
        " threshold 0.5, make -1")
    ]


@pytest.mark.clause("History/residual")
def test_compression_needs_gradients():
    with pytest.raises(mx.MXNetError, match=r"history.push\(worker, key, value=gradient\)") as caught:
        check(two((0, "push"), (0, "pull", [1, 0, 0, 0])), threshold=0.5)
    assert caught.value.clause == "History/residual"


# --- what is no history ---------------------------------------------------------------------------


@pytest.mark.clause("History/columns")
def test_tags_need_a_column_for_each_push():
    with pytest.raises(mx.MXNetError, match="has 3 columns, tags of 2 workers with 2 pushes have 4") as caught:
        check(two((0, "pull", [0, 0, 0])))
    assert caught.value.clause == "History/columns"


@pytest.mark.clause("History/size")
@pytest.mark.parametrize("numbers", [(0, 1), (1, 0), (True, 1), (1.0, 1), ("1", 1), (None, 1), (2**10, 2**11)])
def test_sizes_are_whole_numbers_within_bounds(numbers):
    with pytest.raises(mx.MXNetError) as caught:
        History(*numbers)
    assert caught.value.clause == "History/size"


@pytest.mark.clause("History/size")
@pytest.mark.parametrize(("limit", "value"), [("MOST_EVENTS", 1), ("MOST_NUMBERS", 7), ("LONGEST_LINE", 60)])
def test_a_history_has_an_end(monkeypatch, tmp_path, limit, value):
    history = two((0, "pull", [0, 0, 0, 0]), (0, "pull", [0, 0, 0, 0]))
    history.save(tmp_path / "long.jsonl")
    monkeypatch.setattr(history_events, limit, value)
    with pytest.raises(mx.MXNetError) as caught:
        History.load(tmp_path / "long.jsonl")
    assert caught.value.clause == "History/size"


@pytest.mark.clause("History/line")
@pytest.mark.parametrize("event", [
    Event(2, "barrier"), Event(-1, "barrier"), Event(True, "barrier"), Event("0", "barrier"),
    Event(0, "think"), Event(0, ["push"]), Event(0, "barrier", "w"), Event(0, "push", None, 0), Event(0, "init", 1.5),
    Event(0, "push", "w"), Event(0, "push", "w", 1), Event(0, "push", "w", True), Event(0, "pull", "w"),
    Event(0, "pull", "w", 0, np.ones((1, 4))),
    Event(0, "init", "w", None, np.ones((1, 4))), Event(0, "pull", "w", None, np.ones(4)),
])
def test_what_is_no_event(event):
    history = History(2, 2)
    with pytest.raises(mx.MXNetError) as caught:
        history.add(event)
    assert caught.value.clause == "History/line"
    assert history.events == []


@pytest.mark.clause("History/line")
def test_one_shape_for_a_key_and_no_push_too_many():
    history = two((0, "push"), (0, "push"), (0, "pull", [1, 1, 0, 0]))
    with pytest.raises(mx.MXNetError, match=r"shape of key 'w' is wrong: \(2, 4\), expected \(1, 4\)"):
        history.pull(1, "w", np.zeros((2, 4)))
    with pytest.raises(mx.MXNetError, match="number of a push is wrong: 2, expected less than 2"):
        history.push(0, "w")


@pytest.mark.clause("History/line")
def test_lines_of_a_file(tmp_path):
    file = tmp_path / "history.jsonl"
    file.write_text("")
    with pytest.raises(mx.MXNetError, match="is empty") as caught:
        History.load(file)
    assert caught.value.clause == "History/line"
    line = '{"workers": 1, "pushes": 2}\n{"worker": 0, "kind": "pull", "key": "w", "value": [[%s]]}\n'
    file.write_text(line % "10000000000000000000")  # 20 digits
    assert History.load(file).events[0].value.tolist() == [[np.float32(1e19)]]
    file.write_text(line % "100000000000000000000")
    with pytest.raises(mx.MXNetError, match="line 2: a number has more than 20 digits") as caught:
        History.load(file)
    assert caught.value.clause == "History/line"
    with pytest.raises(mx.MXNetError, match="too large") as caught:
        history_events._event({"value": [[10**400]]})
    assert caught.value.clause == "History/line"


# --- files ----------------------------------------------------------------------------------------


@pytest.mark.clause("History/file")
def test_a_history_survives_its_file(tmp_path):
    history = two((0, "push"), (1, "push", 7), (0, "pull", [1, 0, 0, 0]), (1, "barrier"), (0, "leave"), (1, "lost"))
    history.init(1, "ü")
    history.push(0, 7, value=[[0.25, -1]])
    history.pull(1, 7, [[np.inf, 1e-30]])
    history.save(tmp_path / "history.jsonl")
    again = History.load(tmp_path / "history.jsonl")
    assert (again.workers, again.pushes) == (2, 2)
    assert [_plain(event) for event in again.events] == [_plain(event) for event in history.events]
    lines = (tmp_path / "history.jsonl").read_text().splitlines()
    assert lines[0] == '{"workers": 2, "pushes": 2}'
    assert lines[1] == '{"worker": 0, "kind": "push", "key": "w", "push": 0}'
    assert lines[3] == '{"worker": 0, "kind": "pull", "key": "w", "value": [[1.0, 0.0, 0.0, 0.0]]}'


def _plain(event: Event) -> tuple:
    return event.worker, event.kind, event.key, event.push, None if event.value is None else event.value.tolist()


START = '{"workers": 2, "pushes": 2}\n'


@pytest.mark.clause("History/file")
@pytest.mark.parametrize(("content", "words"), [
    ("", "is empty"),
    ("[]\n", "line 1: event is wrong: a list of 0, expected an object"),
    ('{"workers": 2}\n', "line 1: pushes must be a whole number above 0, got None"),
    ('{"workers": 2, "pushes": 2, "size": 1}\n', "line 1: first line is wrong: 'size'"),
    ('{"workers": 2, "pushes": 9999999999999999999999}\n', "line 1: a number has more than 20 digits"),
    (START + "nonsense\n", "line 2: this is no JSON"),
    (START + "\n", "line 2: this is no JSON"),
    (START + "[" * 100_000 + "\n", "line 2: this is no JSON"),
    (START + '{"worker": 0, "kind": "barrier"}\n{"worker": 0}\n', "line 3: kind is wrong: None"),
    (START + '{"worker": 0, "kind": "barrier", "when": 1}\n', "line 2: names in an event is wrong: 'when'"),
    (START + '{"worker": 0, "kind": "pull", "key": "w", "value": 3}\n', "line 2: value is wrong: 3"),
    (START + '{"worker": 0, "kind": "pull", "key": "w", "value": []}\n', "line 2: value is wrong: a list of 0"),
    (START + '{"worker": 0, "kind": "pull", "key": "w", "value": [[1], [1, 2]]}\n', "rows of numbers, equally long"),
    (START + '{"worker": 0, "kind": "pull", "key": "w", "value": [["1"]]}\n', "expected numbers"),
    (START + '{"worker": 0, "kind": "pull", "key": "w", "value": [[true]]}\n', "expected numbers"),
    (START + '{"worker": 0, "kind": "push", "key": {"a": 1}, "push": 0}\n', "key of a push is wrong: a dict of 1"),
    (START + '{"worker": 0, "kind": "%s"}\n' % ("x" * 10**6), "line 2: kind is wrong: 'xxx"),
    (b"\xff\xfe\n", "line 1: this is no JSON"),
])
def test_what_is_no_file_of_a_history(tmp_path, content, words):
    file = tmp_path / "history.jsonl"
    file.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(mx.MXNetError) as caught:
        History.load(file)
    assert words in str(caught.value)
    assert str(file) in str(caught.value)
    assert len(str(caught.value)) < 400


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=2), max_leaves=6,
)
names = st.sampled_from(["worker", "kind", "key", "push", "value", "workers", "pushes"])
good = st.sampled_from([0, 1, "push", "pull", "barrier", "w", [[1, 0]], [[0.5], [2]]])
records = st.dictionaries(names, good | values, max_size=5).map(json.dumps)


@given(st.lists(records | st.text(max_size=20), max_size=4))
def test_any_file_is_a_history_or_refused(tmp_path_factory, lines):
    file = tmp_path_factory.getbasetemp() / "any.jsonl"
    file.write_bytes("\n".join([START.strip(), *lines]).encode("utf-8", "surrogatepass"))
    try:
        history = History.load(file)
        check(history, "dist_async")
    except mx.MXNetError as error:
        assert error.clause in ("History/line", "History/size", "History/columns")


@pytest.mark.clause("History/wait")
def test_pulls_that_could_have_been_answered(tmp_path) -> None:
    history = History(workers=2, pushes=2)
    history.push(0, "w")
    history.wait(0, "w")
    history.lost(1)
    sync, eager = check(history, "dist_sync"), check(history, "dist_async")
    asked = "unanswered: worker 0's pull of key 'w' was never answered, though "
    assert list(map(str, sync)) == [asked + "every worker has made its push 0 of this key"]
    assert list(map(str, eager)) == [asked + "it waits for nobody"]
    history.save(tmp_path / "waits.jsonl")
    assert check(History.load(tmp_path / "waits.jsonl")) == sync
