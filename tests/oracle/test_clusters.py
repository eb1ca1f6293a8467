"""Programs of level 7: what is refused of a file, what a history must hold, and that broken servers are named."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given, settings

from refimpl.kvstore.histories import NAMES, History
from refimpl.oracle import Capabilities, Exclusions, check_program, judge, program_of, report_files, search, shrink
from refimpl.oracle import strategies as st
from refimpl.oracle.backends import servers
from refimpl.oracle.backends.isolate import isolate
from refimpl.oracle.backends.simulated_cluster import Scripts, Simulated, follow
from refimpl.oracle.drawing.drawn_clusters import FEATURES
from refimpl.oracle.programs.clusters import expected_events, pushes_of

CLUSTER = Simulated.capabilities


def program(steps, kind="dist_sync", workers=2, **others):
    given = {"kind": kind, "workers": workers, "servers": 1, "keys": [["w", 1], ["v", 2]], **others}
    return {"version": 1, "level": 7, "steps": steps, "settings": given}


PUSHES = [{"do": "push", "key": "w"}, {"do": "pull", "key": "w", "worker": 1}, {"do": "barrier"}]


def test_every_worker_does_its_steps_then_a_barrier_and_a_pull_of_every_key():
    ends = [("barrier", None), ("pull", "w"), ("pull", "v")]
    assert expected_events(check_program(program(PUSHES))) == [
        [("push", "w"), ("barrier", None), *ends], [("push", "w"), ("pull", "w"), ("barrier", None), *ends],
    ]
    assert pushes_of(program([])) == 1


@pytest.mark.parametrize(("changed", "message"), [
    ({"steps": [{"do": "push", "key": "x"}]}, "step 0: 'x' is none of the keys"),
    ({"steps": [{"do": "push", "key": "w", "worker": 2}]}, "step 0: there is no worker 2"),
    ({"steps": [{"do": "push"}]}, "field key is missing"),
    ({"steps": [{"do": "barrier", "worker": 0}]}, "there is no field 'worker'"),
    ({"steps": [{"do": "barrier", "attempt": True}]}, "steps of level 7 have no attempt"),
    ({"steps": [{"do": "forward"}]}, "level 7 has no step 'forward'"),
    ({"steps": [{"do": "push", "key": "w"}] * 600}, "2 workers and 600 pushes are more than 1024 columns"),
    ({"arrays": {"a": {"shape": [1], "dtype": "float32"}}}, "level 7 has neither nodes nor arrays"),
])
def test_a_program_that_is_none_is_refused(changed, message):
    with pytest.raises(ValueError, match="no program: ") as raised:
        check_program({**program([]), **changed})
    assert message in str(raised.value)


@pytest.mark.parametrize(("changed", "message"), [
    ({"workers": 17}, "workers: 17 is no whole number from 1 to 16"),
    ({"kind": "local"}, "kind: 'local' is none of dist_sync, dist_async"),
    ({"keys": [["w", 1], ["w", 1]]}, "keys must be there, and different"),
    ({"keys": [["w", 1], [3, 1]]}, "keys are all numbers, or all texts"),
    ({"sparse": ["x"]}, "sparse key 'x' is none of the keys"),
    ({"schedule": [-1]}, "schedule: -1 is no whole number"),
    ({"faults": {"fires": 1}}, "there is no field 'fires'"),
    ({"keys": [[k, 64] for k in range(16)], "workers": 16}, "its pulls give more than 4194304 numbers"),
])
def test_settings_that_are_none_are_refused(changed, message):
    steps = [{"do": "push", "key": changed["keys"][0][0] if "keys" in changed else "w"}] * 64
    with pytest.raises(ValueError, match="no program: ") as raised:
        check_program(program(steps, **changed))
    assert message in str(raised.value)


@settings(max_examples=20)
@given(st.programs(level=7))
def test_the_simulated_cluster_breaks_no_promise(drawn):
    verdict = judge(Simulated(), check_program(json.loads(json.dumps(drawn))))
    assert verdict.status == "passed", verdict.reason
    assert verdict.exact > 0


def test_drawing_keeps_to_exclusions_and_capabilities():
    without = Exclusions(operators=FEATURES - {"cluster/dist_async"})
    none = [program_of(0, i, CLUSTER, without) for i in range(40)]
    some = [program_of(0, i, CLUSTER._replace(operators=frozenset({"cluster/dist_sync"}))) for i in range(40)]
    assert {p["settings"]["kind"] for p in none} == {"dist_async"}
    assert {p["settings"]["kind"] for p in some} == {"dist_sync"}
    for drawn in none + some:
        assert not drawn["settings"]["faults"]
        assert "sparse" not in drawn["settings"]
        assert all(step["do"] != "barrier" for step in drawn["steps"])
    assert len({json.dumps(program_of(0, i, CLUSTER)) for i in range(40)}) == 40


BROKEN = [
    (servers.LosesAPush, 0, "lost", 1), (servers.CountsAPushTwice, 0, "duplicated", 1),
    (servers.TearsAPush, 0, "torn", 1), (servers.AnswersWithOldValues, 0, "read your writes", 2),
    (servers.EndsARoundEarly, 6, "early", 1), (servers.OpensABarrierEarly, 3, "early", 1),
    (servers.StoresUnderAnotherKey, 4, "wrong key", 1),
]


@pytest.mark.parametrize(("broken", "start", "name", "steps"), BROKEN)
def test_a_broken_server_is_named_and_its_program_shrunk(broken, start, name, steps):
    found = search(broken(), start=start, programs=1).found[0]
    assert found.cause.place == name
    assert found.cause.operator == found.program["settings"]["kind"]
    assert f"{name}: worker 0's pull 0 of key" in found.verdict.reason
    assert len(found.program["steps"]) == steps
    settings = found.program["settings"]
    assert (settings["servers"], settings["schedule"], settings["faults"]) == (1, [], {})
    assert settings["workers"] <= 2
    assert judge(Simulated(), found.program).status == "passed"
    assert judge(broken(), check_program(found.program)).mismatches[0].kind == name


@pytest.mark.heavy
def test_a_report_of_a_broken_server_has_a_script(tmp_path):
    result = search(servers.LosesAPush(), programs=1)
    files = report_files.write(result, tmp_path, "refimpl.oracle.backends.servers:LosesAPush")
    assert [path.suffix for path in files] == [".json", ".html", ".py", ".html"]  # the script failed in a fresh process
    assert files[-1].name == "index.html"
    assert "push('b')" in files[1].read_text() or "push(&#x27;b&#x27;)" in files[1].read_text()


@pytest.mark.long
@pytest.mark.parametrize(("broken", "name"), [
    (servers.ActsAgain, "duplicated"), (servers.AppliesOutOfOrder, "out of order"),
])
def test_a_server_that_is_broken_under_faults_only_is_named(broken, name):
    """Some minutes: such faults need a message that comes twice, or overtakes another, at the right place."""
    result = search(broken(), programs=200)
    found = next(found for found in result.found if found.cause.place == name)
    assert any(found.program["settings"]["schedule"])


def test_shrinking_takes_what_does_not_matter():
    large = program(
        [*PUSHES, {"do": "push", "key": "v"}], workers=3, servers=3, sparse=["v"], schedule=[1, 5, 0, 7],
        faults={"drops": 3, "crashes": 2},
    )

    def fails(smaller):
        check_program(smaller)
        crashes = smaller["settings"].get("faults", {}).get("crashes", 0)
        return crashes > 0 and 7 in smaller["settings"]["schedule"] and smaller["settings"]["workers"] > 1

    small = shrink(large, fails)
    assert small["steps"] == []
    assert small["settings"] == {
        "kind": "dist_sync", "workers": 2, "servers": 1, "keys": [["v", 1]], "sparse": [], "schedule": [0, 0, 0, 7],
        "faults": {"crashes": 1},
    }


class Spoilt:
    """The simulated cluster, whose history is changed."""

    capabilities = CLUSTER

    def __init__(self, change):
        self.change = change

    def run(self, program):
        return self.change(Simulated().run(program))


def _without_last(text):
    return "\n".join(text.splitlines()[:-1])


@pytest.mark.parametrize(("change", "name", "words"), [
    (lambda text: "what", "unreadable", "the history, line 1: this is no JSON"),
    (lambda text: 7, "unreadable", "a history is expected as JSON lines, not int"),
    (lambda text: text.replace('"workers": 2', '"workers": 3', 1), "incomplete", "it is of 3 workers with 1 pushes"),
    (lambda text: text.replace('"kind": "barrier"', '"kind": "lost"', 1), "incomplete", "where the program has a"),
    (_without_last, "incomplete", "did not come to a pull of key 'v'"),
    (lambda text: text + '{"worker": 0, "kind": "barrier"}', "incomplete", "a barrier after the program's end"),
    (lambda text: text.replace("[[1.0, 1.0]]", "[[1.0, 1.0], [1.0, 1.0]]"), "incomplete", "another value for key 'w'"),
    (lambda text: text.replace("[[1.0, 1.0]]", "[[1.0, 0.5]]"), "garbage", "holds 0.5 of worker 1's push 0"),
    (lambda text: {"output": np.zeros(1)}, "unreadable", "a history is expected as JSON lines, not dict"),
])
def test_a_history_that_is_not_the_programs_is_named(change, name, words):
    verdict = judge(Spoilt(change), program(PUSHES))
    assert verdict.status == "failed"
    assert verdict.mismatches[0].kind == name
    assert words in verdict.reason


@pytest.mark.heavy
def test_a_history_may_be_one_itself_or_text_or_come_from_another_process():
    wanted = program(PUSHES)
    assert judge(Spoilt(lambda text: Simulated().outcome(wanted).history), wanted).status == "passed"
    with isolate("refimpl.oracle.backends.servers:LosesAPush") as backend:
        assert backend.capabilities == servers.LosesAPush.capabilities
        assert judge(backend, wanted).mismatches[0].kind == "lost"


def test_a_program_runs_on_any_store_with_the_calls_of_one():
    """A store of one's own: a dict that forgets every second push."""

    class Store:
        rank = 0

        def __init__(self):
            self.held, self.pushes = {}, 0

        def set_optimizer(self, optimizer):
            assert type(optimizer).__name__ == "Test"

        def init(self, key, value):
            self.held[key] = value.copy()

        def push(self, key, value):
            self.pushes += 1
            if self.pushes % 2:
                self.held[key] += value

        def pull(self, key, out):
            out[:] = self.held[key]

        def _barrier(self):
            pass

    class Forgets:
        capabilities = CLUSTER

        def run(self, program):
            history = History(program["settings"]["workers"], pushes_of(program))
            follow(Scripts.of(program), history, Store())
            return history

    pushes = [{"do": "push", "key": "w"}] * 2
    assert judge(Forgets(), program(pushes, workers=1)).mismatches[0].kind == "lost"
    assert judge(Forgets(), program(pushes[:1], workers=1)).status == "passed"


def test_a_level_is_asked_for_where_it_is_offered():
    assert [level for level in range(1, 8) if CLUSTER.offers(level)] == [7]
    assert CLUSTER.usual == 7
    both = Capabilities(level=2, others=(5,))
    assert [level for level in range(1, 8) if both.offers(level)] == [1, 2, 5]
    assert both.usual == 2
    assert set(dict.fromkeys(name for _, _, name, _ in BROKEN)) <= set(NAMES)
