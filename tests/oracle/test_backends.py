"""Backends: decorators on a toy of five operators, processes that crash, hang and talk nonsense, adapters."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import refimpl
from refimpl.oracle import Capabilities
from refimpl.oracle.backends import Crashed, Refused, Unsupported
from refimpl.oracle.backends.decorators import symbol_of
from refimpl.oracle.backends.isolate import Isolated, isolate
from refimpl.oracle.drawing.drawn_executors import executor_program, forward_program
from refimpl.oracle.drawing.draws import SeededDraw
from refimpl.oracle.judging.comparing import judge
from refimpl.oracle.programs.program import operators

from . import toys


def program(steps, level=2, shape=(2, 3), op="FullyConnected"):
    arrays = {
        "x": {"shape": list(shape), "dtype": "float32", "seed": 1},
        "w": {"shape": [2, 3], "dtype": "float32", "seed": 2},
    }
    attrs = {"num_hidden": "2", "no_bias": "True"}
    return {
        "version": 1, "level": level, "arrays": arrays, "heads": [[2, 0]], "steps": steps,
        "nodes": [
            {"op": "null", "name": "x"}, {"op": "null", "name": "w"},
            {"op": op, "name": "n", "inputs": [[0, 0], [1, 0]], "attrs": attrs if op == "FullyConnected" else {}},
        ],
    }


def spec(*elements, shape=None):
    return {"shape": list(shape or (len(elements),)), "dtype": "float32", "elements": list(elements)}


def assert_agrees(backend, of):
    verdict = judge(backend, of)
    assert verdict.status in ("passed", "unsupported"), verdict.reason
    return verdict.status == "passed"


# --- decorators -----------------------------------------------------------------------------------


def test_a_symbol_has_parsed_parameters_and_names():
    symbol = symbol_of(program([]))
    node = symbol.nodes[2]
    assert (node.op, node.inputs, node.p.num_hidden, node.p.flatten) == ("FullyConnected", ((0, 0), (1, 0)), 2, True)
    assert node.attrs == {"num_hidden": "2", "no_bias": "True"}
    assert (symbol.arguments, symbol.states, symbol.heads) == (("x", "w"), (), ((2, 0),))


def test_auxiliary_states_are_told_from_arguments():
    nodes = [{"op": "null", "name": n} for n in "abcde"]
    nodes.append({"op": "BatchNorm", "name": "n", "inputs": [[i, 0] for i in range(5)], "attrs": {}})
    symbol = symbol_of({**program([]), "nodes": nodes, "heads": [[5, 0]]})
    assert (symbol.arguments, symbol.states) == (("a", "b", "c"), ("d", "e"))


@pytest.mark.parametrize(
    ("backend", "draw"), [(toys.forward, forward_program), (toys.executor, executor_program)], ids=["level1", "level2"]
)
def test_a_function_that_is_right_agrees(backend, draw):
    passed = [assert_agrees(backend, draw(SeededDraw(number), backend.capabilities)) for number in range(40)]
    assert sum(passed) > 25


@pytest.mark.parametrize("op", toys.SLOPES)
def test_a_wrong_slope_is_seen(op, monkeypatch):
    right = toys.SLOPES[op]
    monkeypatch.setitem(toys.SLOPES, op, lambda p, g, *ins: [slope * np.float32(1.0001) for slope in right(p, g, *ins)])
    capabilities = toys.executor.capabilities._replace(operators=frozenset({op}))
    programs = [executor_program(SeededDraw(number), capabilities) for number in range(40)]
    assert any(judge(toys.executor, of).status == "failed" for of in programs if op in operators(of))


def test_every_step_of_an_executor_becomes_calls():
    head = spec(1, 2, 3, 4, shape=(2, 2))
    initial = {"x": spec(1, 2, 3, 4, 5, 6, shape=(2, 3))}
    of = program([
        {"do": "bind", "requirements": {"x": "add", "w": "write"}, "gradients": initial},
        {"do": "forward", "train": True}, {"do": "backward", "heads": [head]}, {"do": "backward", "heads": [head]},
        {"do": "share"}, {"do": "forward", "train": False, "arrays": {"w": spec(0, 1, 0, 1, 0, 1, shape=(2, 3))}},
        {"do": "forward", "train": True}, {"do": "backward", "heads": [head]},
        {"do": "reshape", "arrays": {"x": spec(1, 2, 3, shape=(1, 3))}},
        {"do": "forward", "train": True}, {"do": "backward", "heads": [spec(1, -1, shape=(1, 2))]},
    ])
    found = toys.executor.run(of)
    assert found["10/gradient:x"].tolist() == [[-1.0, 1.0, -1.0]]  # new memory, then w[0] - w[1]
    assert assert_agrees(toys.executor, of)


def test_what_a_level_lacks_is_unsupported():
    with pytest.raises(Unsupported, match="level 2; forward does level 1"):
        toys.forward.run(program([]))
    with pytest.raises(Unsupported, match="operator elemwise_sub"):
        toys.executor.run(program([], op="elemwise_sub"))
    with pytest.raises(Unsupported, match="step fit"):
        toys.executor.run(program([{"do": "bind"}, {"do": "fit"}]))
    with pytest.raises(Unsupported, match=r"a backward pass$"):
        toys.forward.run(program([{"do": "bind"}, {"do": "backward"}], level=1))
    with pytest.raises(Unsupported, match="without a forward pass"):
        toys.executor.run(program([{"do": "bind"}, {"do": "share"}, {"do": "backward"}]))


def test_an_error_of_the_function_is_a_refusal():
    with pytest.raises(Refused, match=r"step 1 \(forward\): ValueError: matmul"):
        toys.executor.run(program([{"do": "bind"}, {"do": "forward"}], shape=(2, 4)))


def test_an_attempt_may_fail():
    of = program([
        {"do": "bind"}, {"do": "forward", "arrays": {"x": spec(1, 2, 3, 4, shape=(1, 4))}, "attempt": True},
        {"do": "forward", "arrays": {"x": spec(1, 2, 3, shape=(1, 3))}},
    ])
    found = toys.executor.run(of)
    assert list(found) == ["1/refused", "2/output0"]
    assert found["1/refused"].tolist() == [1.0]


# --- processes ------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def troubled():
    with isolate("tests.oracle.toys:Troubled", limit=3.0) as backend:
        yield backend


def trouble(*names):
    return [{"version": 1, "level": 1, "nodes": [{"op": "null", "name": name}], "heads": [[0, 0]]} for name in names]


def kinds(answers):
    return [type(a).__name__ if isinstance(a, Exception) else "ok" for a in answers]


def test_a_process_says_what_it_is(troubled):
    assert (troubled.version, troubled.describe()) == ("troubled 1", "nothing but trouble")
    assert troubled.capabilities == toys.Troubled.capabilities


def test_a_warm_process_answers_all(troubled):
    starts = troubled.starts
    answers = troubled.run_many(trouble(*["fine"] * 70))
    ran = [int(a["0/ran"][0]) for a in answers]
    assert ran == list(range(ran[0], ran[0] + 70))
    assert (answers[0]["0/nothing"].shape, answers[0]["0/one"].shape, answers[0]["0/one"]) == ((2, 0), (), 2.5)
    assert troubled.starts == starts


def test_a_crash_takes_one_program(troubled):
    answers = troubled.run_many(trouble("fine", "crash", "fine", "refuse", "unsupported", "crash"))
    assert kinds(answers) == ["ok", "Crashed", "ok", "Refused", "Unsupported", "Crashed"]
    assert (str(answers[1]), str(answers[3]), str(answers[4])) == ("it ended with 3", "no such thing", "not here")


@pytest.mark.heavy
def test_the_program_that_spoils_the_process_is_found(troubled):
    answers = troubled.run_many(trouble("fine", "fine", "spoil", "fine", "fine", "fragile", "fine"))
    assert kinds(answers) == ["ok", "ok", "Crashed", "ok", "ok", "ok", "ok"]
    assert str(answers[2]) == "it ended with 3, while it ran a later program, which does well without this one"


@pytest.mark.heavy
def test_a_process_is_not_asked_again_after_a_native_error(troubled):
    troubled.run(trouble("fine")[0])
    starts = troubled.starts
    answers = troubled.run_many(trouble("fine", "poison", "fine"))
    assert kinds(answers) == ["ok", "Refused", "ok"]
    assert troubled.starts == starts + 1
    assert answers[2]["0/ran"] == 1


@pytest.mark.heavy
def test_hanging_ends_after_the_limit():
    with isolate("tests.oracle.toys:Troubled", limit=0.3) as backend:
        answers = backend.run_many(trouble("fine", "hang", "fine"))
        assert kinds(answers) == ["ok", "Crashed", "ok"]
        assert str(answers[1]) == "no answer within 0.3 s"
        with pytest.raises(Crashed, match=r"it wrote what is no message .*cannot have 18446744073709551615 bytes"):
            backend.run(trouble("nonsense")[0])
        backend.give_up = True
        answers = backend.run_many(trouble("fine", "hang", "fine", "crash"))
        assert kinds(answers) == ["ok", "Crashed", "Unsupported", "Unsupported"]
        assert str(answers[3]) == "an earlier program got no answer in time"


@pytest.mark.heavy
def test_several_processes_keep_the_order():
    with isolate("tests.oracle.toys:Troubled", workers=2) as backend:
        answers = backend.run_many(trouble("fine", "refuse", "crash", "fine", "unsupported", "fine", "refuse"))
    assert kinds(answers) == ["ok", "Refused", "Crashed", "ok", "Unsupported", "ok", "Refused"]


@pytest.mark.heavy
def test_a_process_that_does_not_start():
    with pytest.raises(Crashed, match=r"tests\.oracle\.toys:Absent: it ended with 1"):
        isolate("tests.oracle.toys:Absent")


FORKING = """
import os, sys
import numpy as np
sys.path.insert(0, {folder!r})
from programs.messages import serve
ran = []

def run(program):
    word = program["nodes"][0]["name"]
    if word == "crash":
        os.abort()
    ran.append(word)
    return {{"0/ran": np.array(len(ran)), "0/process": np.array([os.getpid(), os.getppid()])}}

serve(lambda: ({{"version": "1"}}, run), forks=True)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
def test_copies_of_a_process_that_has_imported_its_library_take_the_place_of_fresh_ones(tmp_path):
    script = tmp_path / "forking.py"
    script.write_text(FORKING.format(folder=str(Path(refimpl.__file__).parent / "oracle")), encoding="utf-8")
    with Isolated([sys.executable, str(script)], capabilities=Capabilities(1)) as backend:
        [process] = backend.processes
        answers = backend.run_many(trouble("fine", "fine", "crash", "fine"))
        assert kinds(answers) == ["ok", "ok", "Crashed", "ok"]
        assert str(answers[2]) == "it ended with -6"
        assert [int(answers[i]["0/ran"]) for i in (0, 1, 3)] == [1, 2, 1]
        assert {int(answers[i]["0/process"][1]) for i in (0, 1, 3)} == {process}
        assert len({int(answers[i]["0/process"][0]) for i in (0, 1, 3)}) == 2
        assert backend.processes == [process]
        assert backend.run(trouble("fine")[0])["0/ran"] == 2
        last = int(answers[3]["0/process"][0])
    for _ in range(100):
        if not Path(f"/proc/{last}").exists():
            break
        time.sleep(0.05)
    assert sys.platform != "linux" or not Path(f"/proc/{last}").exists()
