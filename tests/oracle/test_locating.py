"""Where a program goes wrong first, what its neighbours do, and which clause decides."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from refimpl.oracle import Capabilities, Crashed, examining, judge, program_of, search, text_of_found
from refimpl.oracle.backends import Reference, executor_backend, variants
from refimpl.oracle.explaining.clauses import OF_PARAMETERS, STEPS
from refimpl.oracle.explaining.clauses import RULES as OPTIMIZERS
from refimpl.oracle.explaining.locating import literal, locate
from refimpl.oracle.explaining.neighbours import changes, neighbours
from refimpl.oracle.explaining.page_clauses import Case, decisive
from refimpl.oracle.judging.reference import trace_of
from refimpl.oracle.programs.fields import STEPS as FIELDS
from refimpl.oracle.programs.program import check_program, operators
from refimpl.oracle.programs.values import array_of
from refimpl.oracle.pytest_items import load
from refimpl.oracle.report_files import PASSES, VERIFIED, page, verify
from refimpl.oracle.reporting import as_data, script_of

from .planted_bugs import planted

ROOT = Path(__file__).parents[2]


def chain(*names, requirement="write", heads=((-1, 0),), reads=None):
    """``names`` one after the other from the variable a, each of which reads what is before it (or ``reads``)."""
    nodes = [{"op": "null", "name": "a"}]
    for i, name in enumerate(names):
        inputs = (reads or {}).get(i, [[i, 0]] * (1 if name in ("relu", "negative", "square") else 2))
        nodes.append({"op": name, "name": f"n{i}", "inputs": inputs, "attrs": {}})
    array = {"shape": [3], "dtype": "float32", "elements": [-1.0, 0.0, 2.0]}
    adds = requirement == "add"
    ones = {"shape": [3], "dtype": "float32", "elements": [1.0, 1.0, 1.0]}
    return check_program({
        "version": 1, "level": 2, "nodes": nodes, "heads": [[h % len(nodes), o] for h, o in heads],
        "arrays": {"a": array},
        "steps": [
            {"do": "bind", "requirements": {"a": requirement}, "gradients": {"a": array} if adds else {}},
            {"do": "forward", "train": True}, {"do": "backward", "heads": [ones] * len(heads)},
        ],
    })


def where(backend, program):
    verdict = judge(backend, program)
    assert verdict.status == "failed", "the program must fail"
    return locate(backend, program, verdict)


def wrong_in(operator, *, output=0.0, slope=0.0):
    """The planted backend's rules with one operator off by something in its output or its slope."""
    from .planted_bugs import RULES, slopes_of

    @executor_backend(operators=RULES)
    def run(symbol, args, aux, grads_in, grad_req, head_grads):
        values = []
        for node in symbol.nodes:
            ins = [values[i] for i, _ in node.inputs]
            value = args[node.name] if node.op == "null" else RULES[node.op](node.p, *ins)
            values.append((value + output).astype("float32") if node.op == operator else value)
        found = [np.zeros_like(value) for value in values]
        for (number, _), head in zip(symbol.heads, head_grads or (), strict=False):
            found[number] = found[number] + head
        for number, node in reversed(list(enumerate(symbol.nodes))):
            if node.op != "null":
                ins = [values[i] for i, _ in node.inputs]
                for (i, _), d in zip(node.inputs, slopes_of(node.op, found[number], ins, ()), strict=True):
                    found[i] = found[i] + d + (slope if node.op == operator else 0)
        grads = {n.name: found[i].astype("float32") for i, n in enumerate(symbol.nodes) if n.name in grads_in}
        return [values[i] for i, _ in symbol.heads], {
            n: g + grads_in[n] if grad_req[n] == "add" else g for n, g in grads.items()
        }, aux

    return run


@pytest.mark.parametrize("operator", ["relu", "square", "negative"])
@pytest.mark.parametrize(("fault", "part"), [({"output": 1.0}, "forward"), ({"slope": 1.0}, "backward")])
def test_the_node_that_is_wrong_is_named_in_the_midst_of_others(operator, fault, part) -> None:
    backend = wrong_in(operator, **fault)
    found = where(backend, chain("negative", "relu", "square", "elemwise_add"))
    assert (found.operator, found.part) == (operator, part), found.text
    assert found.first is not None


def test_the_first_of_two_that_are_wrong_is_named() -> None:
    found = where(wrong_in("square", output=1.0), chain("relu", "square", "negative", "square"))
    assert (found.node, found.part) == ("n1", "forward")
    found = where(wrong_in("square", slope=1.0), chain("relu", "square", "negative", "square"))
    assert (found.node, found.part) == ("n3", "backward")  # backward begins at the heads


def test_a_gradient_that_is_not_added_is_seen_beside_the_variable() -> None:
    found = where(planted("no add"), chain("square", "relu", requirement="add"))
    assert (found.node, found.part) == ("n0", "backward")
    assert "with the program's requirements" in found.text


def test_a_sum_of_many_readers_is_named_after_what_they_read() -> None:
    readers = {i: [[1, 0]] for i in range(1, 9)}
    program = chain("square", *["negative"] * 8, reads=readers, heads=[(i, 0) for i in range(2, 10)])
    found = where(planted("crowd"), program)
    assert (found.node, found.part) == ("n0", "sum")
    assert "8 readers" in found.text


def test_what_no_node_does_alone_is_said_to_be_together() -> None:
    class Confused(Reference):
        def run(self, program):
            several = sum(node["op"] != "null" for node in program["nodes"]) > 1
            return {name: value + several for name, value in super().run(program).items()}

    found = where(Confused(), chain("relu", "square"))
    assert (found.operator, found.part) == ("relu", "together")
    assert "every node does well alone" in found.text


def test_above_level_two_the_step_is_named() -> None:
    class Shifted(Reference):
        def run(self, program):
            trace = super().run(program)
            return {**trace, **{name: value + 8 for name, value in trace.items() if "weight" in name}}

    program = program_of(0, 1, Capabilities(level=5), level=5)
    found = where(Shifted(), program)
    assert found.part == "step"
    first = next(i for i, step in enumerate(program["steps"]) if step["do"] == "update")
    assert found.step == first
    assert found.text.startswith(f"first divergent step: {first} (update), weight")


@pytest.mark.parametrize("level", [1, 2])
def test_a_sound_implementation_does_every_node_alone_well(level) -> None:
    """Programs of one node are right programs: the reference has no fault in any of them."""
    capabilities = Capabilities(level=level)
    drawn = [program_of(11, number, capabilities, level=level) for number in range(12)]
    for program in drawn:
        if len(operators(program)) > 1:
            name = next(n for n in trace_of(program) if n.partition("/")[2].startswith(("output", "grad")))
            found = where(_Last(program, name), program)
            assert found.part == "together", found.text


class _Last(Reference):
    """Right, but for one array of one program."""

    def __init__(self, program, name) -> None:
        self.program, self.name = program, name

    def run(self, program):
        trace = super().run(program)
        return {**trace, self.name: trace[self.name][..., :0]} if program == self.program else trace


def test_special_values_are_words() -> None:
    array = np.array([[np.nan, np.inf], [-np.inf, 0.5]], np.float32)
    spec = literal(array)
    assert spec["elements"] == ["nan", "inf", "-inf", 0.5]
    assert np.array_equal(array_of(spec), array, equal_nan=True)


def test_what_cutting_does_not_make_small_is_tried_at_its_first_divergent_node(monkeypatch) -> None:
    for limit in ("SECONDS", "LAST_SECONDS"):
        monkeypatch.setattr(examining, limit, 0.0)  # no time for cutting
    found = search(planted("overwritten"), seed=0, seconds=60, most=1).found[0]
    assert len(operators(found.original)) > 3
    assert operators(found.program) == ["elemwise_mul"]
    assert found.where.part == "backward"
    check_program(found.program)


# --- neighbours -----------------------------------------------------------------------------------


def test_neighbours_pass_without_what_the_fault_needs() -> None:
    adding = chain("relu", requirement="add")
    passing = {each.change for each in neighbours(planted("no add"), adding, "gradient:a") if each.passes}
    assert "a=write" in passing
    assert "relu->negative" not in passing
    tie = planted("tie")
    passing = {each.change for each in neighbours(tie, chain("relu"), "gradient:a") if each.passes}
    assert "relu->negative" in passing
    readers = {i: [[0, 0]] for i in range(8)}
    crowd = chain(*["negative"] * 8, reads=readers, heads=[(i, 0) for i in range(1, 9)])
    found = {each.change: each.passes for each in neighbours(planted("crowd"), crowd, "gradient:a")}
    assert found["4 readers of a"]
    assert not found["7 readers of a"]
    assert not found["negative->relu"]


@pytest.mark.parametrize("number", range(6))
def test_neighbours_are_programs(number) -> None:
    program = program_of(2, number, Capabilities(level=2, dtypes=("float32", "float64")))
    kinds = dict(changes(program, Capabilities(level=2, dtypes=("float32", "float64"))))
    dtypes = {spec["dtype"] for spec in program["arrays"].values()} & {"float32", "float64"}
    assert len(dtypes) != 1 or {"float32", "float64"} - dtypes <= set(kinds)
    for changed in kinds.values():
        check_program(changed)
        assert changed != program


def test_few_neighbours_are_asked_of_what_crashes() -> None:
    asked = []

    class Crashing(Reference):
        capabilities = Capabilities(level=2, operators=frozenset({"relu"}))

        def run(self, program):
            asked.append(program)
            raise Crashed("it ended with -11")

    program = chain("relu")
    assert not any(each.passes for each in neighbours(Crashing(), program, attempts=3))
    assert len(asked) <= 3


# --- the clause -----------------------------------------------------------------------------------


def clauses_in_spec():
    text = "\n".join(path.read_text(encoding="utf-8") for path in (ROOT / "spec").rglob("*.md"))
    return set(re.findall(r"\*\*\[([A-Za-z0-9_./-]+)\]\*\*", text))


def test_the_clauses_of_steps_are_in_the_chapters() -> None:
    known = clauses_in_spec()
    named = {name for steps in STEPS.values() for name in steps.values()} | set(OPTIMIZERS.values())
    named |= {"gradient/chain", "Executor/grad-req-add", "Executor/repeatable", "Executor/grad-req-independent"}
    named |= {clause for clause, _, _ in OF_PARAMETERS}
    assert named <= known
    for level in STEPS:
        assert set(STEPS[level]) <= set(FIELDS[level])


@pytest.mark.parametrize(("operator", "place", "clause"), [
    ("clip", "gradient", "clip/gradient"), ("clip", "output", "clip/formula"), ("clip", "shape", "clip/shape"),
    ("no such operator", "output", ""),
])
def test_an_operators_page_decides(operator, place, clause) -> None:
    assert decisive(Case(operator, place)) == clause


@pytest.mark.parametrize(("bug", "clause"), [("no add", "Executor/grad-req-add"), ("crowd", "gradient/chain")])
def test_mechanisms_of_the_executor_have_their_own_clauses(bug, clause) -> None:
    found = search(planted(bug), seed=0, programs=60, most=1).found[0]
    assert found.clause == clause
    text = text_of_found(found)
    assert f"clause    {clause}" in text
    assert "  where     " in text
    assert "  control   passes with " in text


def test_the_page_and_the_results_say_the_same() -> None:
    result = search(planted("no add"), seed=0, programs=60, most=1)
    entry = as_data(result)["found"][0]
    assert entry["where"]["text"] in text_of_found(result.found[0])
    assert entry["neighbours"]["passes"]
    shown = page(result, "<toy>&")
    assert "&lt;toy&gt;&amp;" in shown
    assert "<toy>" not in shown
    assert "clause    Executor/grad-req-add" in shown
    assert "passes with" in shown


# --- how often it is right ------------------------------------------------------------------------


def altered(name, part, monkeypatch):
    """The sequential variant with one element of an operator's output, or of its first slope, off by a half."""
    plain = variants.Operators(variants.WAYS["sequential"])

    def off(array):
        return array + (np.arange(array.size) == array.size // 2).reshape(array.shape).astype(array.dtype) / 2

    def rule(p, *inputs):
        out, pull = plain.rules[name](p, *inputs)
        if part == "forward":
            return off(out), pull
        return out, lambda g: [off(slope) if i == 0 else slope for i, slope in enumerate(pull(g))]

    monkeypatch.setattr(variants, "Operators", lambda way: SimpleNamespace(rules={**plain.rules, name: rule}))
    return variants.variant("sequential")


@pytest.mark.heavy
def test_the_divergent_node_is_right_in_nine_of_ten(monkeypatch) -> None:
    """Every operator of a backend of some thirty is wrong once forward and once backward; programs are not shrunk."""
    names = sorted(variants.Operators(variants.WAYS["sequential"]).rules)
    wrong, asked = [], 0
    for name in names:
        for part in ("forward", "backward"):
            with monkeypatch.context() as patch:
                backend = altered(name, part, patch)
            program, verdict = first_failing(backend, name)
            if program is not None:
                asked += 1
                found = locate(backend, program, verdict)
                if (found.operator, found.part) != (name, part):
                    wrong.append((name, part, found.text))
    assert asked >= 50
    assert len(wrong) <= asked / 10, wrong


def first_failing(backend, name):
    for number in range(200):
        program = program_of(1, number, backend.capabilities._replace(styles=("dyadic",)))
        if name in operators(program):
            verdict = judge(backend, program)
            if verdict.status == "failed":
                return program, verdict
    return None, None


# --- scripts --------------------------------------------------------------------------------------

BACKENDS = """
from refimpl.oracle.backends import Reference, Refused

class Wrong(Reference):
    def run(self, program):
        return {name: value * 2 + 1 for name, value in super().run(program).items()}

class Flat(Reference):
    def run(self, program):
        return {name: value.ravel() for name, value in super().run(program).items()}

class Refusing(Reference):
    def run(self, program):
        raise Refused("no")

wrong = Wrong()

def made():
    return Wrong()
"""


@pytest.mark.parametrize("name", [
    "wrong", *(pytest.param(name, marks=pytest.mark.heavy) for name in ("Refusing", "Wrong", "made", "Flat")),
])
def test_a_script_shows_the_fault_in_a_fresh_process(tmp_path, monkeypatch, name) -> None:
    (tmp_path / "theirs.py").write_text(BACKENDS, encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    backend = load(f"theirs:{name}")
    monkeypatch.delitem(sys.modules, "theirs")
    backend.capabilities = Capabilities(level=1, operators=frozenset({"dot"}))
    found = search(backend, programs=10, most=1, explain=False).found[0]
    script = script_of(found, f"theirs:{name}")
    assert len(script.splitlines()) <= 30
    assert verify(script, tmp_path) == VERIFIED


@pytest.mark.parametrize(("script", "shows"), [
    ('print("running")\nassert 0, "x"', True), ('print("running")\nraise ValueError', True),
    ('print("running")', False), ('print("running")\nassert 1', False), ('assert 0, "x"', False),
    ("import absent", False), ('print("running")\nassert missing, "x"', False),
])
def test_a_script_counts_only_when_it_fails_by_what_it_says(tmp_path, script, shows) -> None:
    assert verify(script, tmp_path) == (VERIFIED if shows else PASSES)
