"""Programs of levels 3 to 6: what is refused of a file, and what holds for all that are drawn.

    REFIMPL_ORACLE_SEED=7 python -m pytest -m long tests/oracle/test_programs_levels.py

draws 1,000 programs of each kind, which takes ten minutes.
"""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import refimpl as mx
from refimpl.module.thread_pool import ThreadPool
from refimpl.oracle import program_of
from refimpl.oracle.bounds import tracking
from refimpl.oracle.drawing import drawn_buckets, drawn_modules, drawn_optimizers, drawn_stores
from refimpl.oracle.drawing.choices import NOTHING, Capabilities, Exclusions
from refimpl.oracle.drawing.draws import SeededDraw
from refimpl.oracle.judging.reference import expected_of, trace_of
from refimpl.oracle.programs.interpreter import Refused
from refimpl.oracle.programs.program import check_program

pytestmark = pytest.mark.usefixtures("quiet")
Program = dict[str, Any]
KINDS: dict[str, Callable[..., Program]] = {
    "module": drawn_modules.module_program, "bucketing": drawn_buckets.bucketing_program,
    "svrg": drawn_buckets.svrg_program, "optimizer": drawn_optimizers.optimizer_program,
    "store": drawn_stores.store_program,
}
FEATURES = {
    "module": drawn_modules.FEATURES, "bucketing": drawn_buckets.FEATURES, "svrg": drawn_buckets.FEATURES,
    "optimizer": drawn_optimizers.FEATURES, "store": drawn_stores.FEATURES,
}
SEED = os.environ.get("REFIMPL_ORACLE_SEED", "0")
EACH = pytest.mark.parametrize("kind", KINDS)
ARRAY = {"shape": [2], "dtype": "float32", "style": "dyadic", "seed": 0}


def drawn(kind: str, number: int, exclude: Exclusions = NOTHING) -> Program:
    return KINDS[kind](SeededDraw(f"{SEED}/{number}"), Capabilities(), exclude)


def test_executors_begin_random_numbers_again_and_show_arguments() -> None:
    forward = {"do": "forward", "arrays": {"a": {**ARRAY, "elements": [3.0, 4.0]}}}
    passes = [step for n in (5, 5, 6) for step in ({"do": "seed", "value": n}, forward)]
    steps = [{"do": "bind"}, *passes, {"do": "read"}]
    program = check_program({
        "version": 1, "level": 2, "nodes": [
            {"op": "null", "name": "a"}, {"op": "_random_uniform_like", "name": "n", "inputs": [[0, 0]], "attrs": {}},
        ],
        "heads": [[1, 0]], "arrays": {"a": {**ARRAY, "elements": [1.0, 2.0]}}, "steps": steps,
    })
    trace = trace_of(program)
    first, again, other = (trace[f"{step}/output0"].tolist() for step in (2, 4, 6))
    assert first == again != other
    assert trace["7/argument:a"].tolist() == [3, 4]


# --- what is drawn --------------------------------------------------------------------------------


@EACH
def test_a_program_is_a_function_of_seed_and_number(kind: str) -> None:
    programs = [drawn(kind, number) for number in range(20)]
    assert programs == [drawn(kind, number) for number in range(20)]
    assert len({json.dumps(program) for program in programs}) > 15


@EACH
def test_a_program_is_plain_data_and_passes_its_check(kind: str) -> None:
    for number in range(100):
        program = drawn(kind, number)
        assert check_program(json.loads(json.dumps(program))) == program


@EACH
def test_features_can_be_left_out(kind: str) -> None:
    exclude = Exclusions(operators=FEATURES[kind] | drawn_modules.FEATURES)
    for number in range(100):
        program = check_program(drawn(kind, number, exclude))
        steps = {step["do"] for step in program["steps"]}
        absent = {"ask", "share", "borrow", "save", "switch", "compress", "resume", "set_rate", "row_sparse_pull"}
        assert not absent & steps
        assert program["steps"][0].get("contexts", 1) == 1


def first(level: int, *steps: Program) -> Program:
    return {"version": 1, "level": level, "steps": list(steps)}


def judge(kind: str, count: int) -> tuple[int, int]:
    """Demand that a trace lies within its own bounds. Returns how many programs were refused, and elements judged."""
    refused = judged = 0
    for number in range(count):
        program = drawn(kind, number)
        try:
            trace = trace_of(program)
        except Refused:
            refused += 1
            continue
        expected = expected_of(program)
        assert list(trace) == list(expected)
        for name, array in trace.items():
            values, bounds = expected[name]
            with np.errstate(invalid="ignore"):
                close = np.abs(array - values) <= bounds
            right = close | (array == values) | np.isinf(bounds) | (np.isnan(array) & np.isnan(values))
            assert right.all(), (number, name, array, values, bounds)
            judged += int(np.isfinite(bounds).sum())
    return refused, judged


@EACH
def test_a_trace_is_within_its_own_bounds(kind: str) -> None:
    count = 5 if kind == "optimizer" else 10
    refused, judged = judge(kind, count)
    assert refused == 0
    assert judged > 10 * count


@pytest.mark.long
@EACH
def test_many_traces_are_within_their_own_bounds(kind: str) -> None:
    refused, _ = judge(kind, 1000)
    assert refused < 50


# --- bounds of what passes through the host -------------------------------------------------------


def bound_of(array: Any) -> np.ndarray:
    with tracking() as shadow:
        return shadow.of(array(mx.nd.array([3.0]) / mx.nd.array([7.0])))[1]


@pytest.mark.parametrize("way", [
    lambda third: third,
    lambda third: mx.nd.array(third.asnumpy()),
    lambda third: mx.nd.array([third.asscalar()]),
    lambda third: mx.nd.array(third.asnumpy().repeat(2)[1:]),
    lambda third: mx.nd.ones(1) * float(third.asscalar()),
    lambda third: mx.nd.array(third.asnumpy(), dtype="float64"),
], ids=["array", "copy", "element", "part", "parameter", "other type"])
def test_errors_survive_the_host(way: Any) -> None:
    assert 0 < bound_of(way) < 1e-6


def test_a_zero_with_an_error_survives_the_host_as_an_array() -> None:
    """Two quotients that differ by their rounding do not cancel."""
    assert bound_of(lambda inexact: mx.nd.array((inexact - inexact).asnumpy())) > 0


def test_an_undecided_branch_makes_what_is_written_free() -> None:
    """The sign of a sum that cancels: another order of addition gives another one."""
    def sign(inexact: Any) -> Any:
        return mx.nd.sign(inexact - mx.nd.array([3.0]) / mx.nd.array([7.0]))

    assert np.isinf(bound_of(sign)).all()


def test_contexts_take_turns() -> None:
    """Numbers with errors are of one thread."""
    seen: list[tuple[int, int]] = []
    with tracking():
        ThreadPool(3).run(lambda context: seen.append((context, threading.get_ident())))
    assert seen == [(context, threading.get_ident()) for context in range(3)]


def test_contexts_of_a_module_keep_their_errors() -> None:
    data = mx.sym.Variable("data")
    net = mx.sym.MakeLoss(mx.sym.FullyConnected(data, num_hidden=1, no_bias=True, name="fc"))
    with tracking() as shadow:
        module = mx.mod.Module(net, label_names=None, context=[mx.cpu(0), mx.cpu(1)])
        module.bind([("data", (4, 3))])
        module.init_params(mx.init.Constant(0.1))
        module.init_optimizer(optimizer_params={"learning_rate": 0.3})
        module.forward_backward(mx.io.DataBatch([mx.nd.array(np.full((4, 3), 0.7))], None))
        module.update()
        values, bounds = shadow.of(module.get_params()[0]["fc_weight"])
    # the learning rate is divided by no batch size: rescale_grad is 1 / 4, and the gradient 4 * 0.7
    np.testing.assert_allclose(values, np.full((1, 3), 0.1 - 0.3 * 0.7), rtol=1e-6)
    assert (bounds > 0).all()
    assert (bounds < 1e-6).all()


# --- what is refused of a file --------------------------------------------------------------------

CREATE = {"do": "create", "contexts": 2, "data": ["data"], "labels": []}


@pytest.mark.parametrize(("program", "message"), [
    (first(2, {"do": "fly"}), "step 0: level 2 has no step 'fly'"),
    (first(2, {"do": "close"}), "level 2 has no step 'close'"),
    (first(2, {"do": "bind", "requirement": "write"}), "there is no field 'requirement'"),
    (first(2, {"do": "bind", "requirements": {"a": "read"}}), "'read' is none of write, add, null"),
    (first(2, {"do": "bind", "requirements": ["a"]}), "is no object"),
    (first(2, {"do": "forward", "train": 1}), "train: 1 is neither true nor false"),
    (first(2, {"do": "forward", "train": True, "attempt": "yes"}), "'yes' is neither true nor false"),
    (first(2, {"do": "reshape"}), "field arrays is missing"),
    (first(2, {"do": "backward", "heads": [{"shape": [2]}]}), "dtype None is none of"),
    (first(2, {"do": "backward", "heads": [ARRAY] * 300}), "is no list of at most 256"),
    (first(3, {**CREATE, "contexts": 9}), "contexts: 9 is no whole number from 1 to 8"),
    (first(3, {**CREATE, "data": ["x" * 300]}), "is no text of at most 200 characters"),
    (first(3, {**CREATE, "loads": [1] * 9}), "is no list of at most 8"),
    (first(3, CREATE, {"do": "bind", "data": [{"name": "data"}]}), "step 1 .bind.: data: field shape is missing"),
    (first(3, {"do": "bind", "data": [{"name": "data", "shape": [-1]}]}), "-1 is no whole number from 0 to 65536"),
    (first(3, {"do": "predict", "data": [ARRAY], "batch": 5000}), "5000 is no whole number from 1 to 4096"),
    (first(3, {"do": "fit", "data": [ARRAY], "batch": 2, "epochs": 21}), "21 is no whole number from 0 to 20"),
    (first(3, {"do": "init_params", "rest": float("nan")}), "nan is no finite number"),
    (first(3, {"do": "init_optimizer", "schedule": {"kind": "steep"}}), "'steep' is none of factor"),
    (first(4, CREATE), "level 4 has no step 'create'"),
    (first(5, {"do": "create", "optimizer": "sgd", "names": [[0]]}), r"names: \[0\] is no pair"),
    (first(5, {"do": "update", "indices": [True], "gradients": []}), "True is no text"),
    (first(6, {"do": "row_sparse_pull", "key": 1, "ids": [[-1]], "shape": [2]}), "-1 is no whole number"),
    ({**first(3), "settings": {"buckets": []}}, "settings: there is no field 'buckets'"),
    ({**first(4), "settings": {"buckets": [{"key": 1, "heads": [0], "data": [], "labels": []}]}},
     "bucket 1 has heads that the program has not"),
])
def test_a_file_is_refused(program: Program, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        check_program(program)


# --- what steps show ------------------------------------------------------------------------------


def test_an_attempt_that_is_refused_is_part_of_the_trace() -> None:
    init = {"do": "init", "keys": 1, "values": [{"shape": [1], "dtype": "float32", "elements": [4]}]}
    steps = [
        {"do": "create", "kind": "local"}, init, {**init, "attempt": True}, {"do": "pull", "keys": 1, "shapes": [[1]]},
    ]
    trace = trace_of(check_program(first(6, *steps)))
    found = {name: array.tolist() for name, array in trace.items()}
    assert found == {"2/refused:MXNetError": [1.0], "3/out0:1:0": [4.0]}
    with pytest.raises(Refused, match="duplicate init of key 1"):
        trace_of(first(6, *steps[:2], init))


def test_rows_of_an_optimizer_leave_the_others_alone() -> None:
    def of(*elements: float) -> Program:
        return {"shape": [2, 1], "dtype": "float32", "elements": list(elements)}

    program = check_program({**first(
        5, {"do": "create", "optimizer": "sgd", "parameters": {"learning_rate": 0.5}, "names": [[0, "w_weight"]]},
        {"do": "multiply", "rates": [["w_weight", 2.0]]},
        {"do": "update", "indices": [0], "gradients": [of(1, 1)], "rows": [[1]]},
        {"do": "resume", "whole": False},
        {"do": "update", "indices": [0], "gradients": [of(1, 1)]}, {"do": "read"},
    ), "arrays": {"0": of(8, 8)}})
    trace = {name: array.ravel().tolist() for name, array in trace_of(program).items()}
    assert trace == {"2/weight:0": [8, 7], "4/weight:0": [7, 6], "5/rate": [0.5], "5/updates": [1]}


def test_files_of_a_program_are_gone_afterwards(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    program = first(
        6, {"do": "create", "kind": "local"}, {"do": "optimizer", "optimizer": "sgd"}, {"do": "save", "file": 0},
        {"do": "load", "file": 0},
    )
    assert trace_of(check_program(program)) == {}
    assert not list(tmp_path.iterdir())


def test_a_bound_module_shows_the_shapes_that_its_outputs_will_have():
    seen, fits = 0, 0
    for number in range(60):
        program = program_of(17, number, Capabilities(level=3))
        (created, bound, *rest), done = program["steps"], [step["do"] for step in program["steps"]]
        fits += "fit" in done
        if created["contexts"] > 1 and "forward" in done[2:5]:
            at = done.index("forward")
            given = program["steps"][at]["data"]
            if [each["shape"] for each in given] == [each["shape"] for each in bound["data"]]:
                seen += 1
                trace = trace_of({**program, "steps": [created, bound, *rest[: at - 1]]})
                assert trace["1/shape0"].tolist() == list(trace[f"{at}/output0"].shape)
    assert seen > 2
    assert fits > 2


def test_a_fit_of_a_module_without_parameters_begins_with_the_same_ones():
    programs = (program_of(17, number, Capabilities(level=3)) for number in range(400))
    kept = ((p, [s for s in p["steps"] if s["do"] in ("create", "bind", "fit")][:3]) for p in programs)
    fitting = ((p, steps) for p, steps in kept if steps[-1]["do"] == "fit")
    program, steps = next((p, steps) for p, steps in fitting if p["arrays"] and "moving" not in str(p["arrays"]))
    first, second = (trace_of({**program, "steps": steps}) for _ in range(2))
    assert any("argument" in name for name in first)
    assert all(np.array_equal(first[name], second[name]) for name in first)
