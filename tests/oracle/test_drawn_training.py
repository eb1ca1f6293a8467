"""Levels 3 to 5: what is drawn of training, and a planted fault of each kind that the drawn programs find."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from functools import cache
from typing import Any

import pytest

import refimpl as mx
from refimpl.contrib.svrg_optimization import svrg_module
from refimpl.module import bucketing_module, buckets, executor_group, updates
from refimpl.module import module as modules
from refimpl.module.arrays import cut_heads
from refimpl.oracle import Capabilities, Exclusions, judge, program_of
from refimpl.oracle.drawing import drawn_buckets, drawn_modules
from refimpl.oracle.programs import interpreter
from refimpl.symbol import Symbol

pytestmark = pytest.mark.usefixtures("quiet")
Program = dict[str, Any]
Plant = Callable[[pytest.MonkeyPatch], None]


class Planted:
    """The library with a fault, which its reference lacks."""

    capabilities = Capabilities(level=5, corners=True)

    def __init__(self, plant: Plant) -> None:
        self.plant = plant

    def run(self, program: Program) -> Any:
        with pytest.MonkeyPatch.context() as patch:
            self.plant(patch)
            return interpreter.run(mx, program)


# --- the faults -----------------------------------------------------------------------------------


def _masters(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(updates.Updates, "adopt", lambda *_: None)


def _heads(patch: pytest.MonkeyPatch) -> None:
    def along_rows(heads: Any, execs: Any, contexts: Any, axes: Any) -> Any:
        return cut_heads(heads, execs, contexts, [0] * len(axes))

    patch.setattr(executor_group, "cut_heads", along_rows)


def _padded(patch: pytest.MonkeyPatch) -> None:
    class Pads(mx.io.NDArrayIter):
        def __init__(self, *args: Any, last_batch_handle: str, **options: Any) -> None:
            super().__init__(*args, **options)

    patch.setattr(mx.io, "NDArrayIter", Pads)


def _reshaped_for_good(patch: pytest.MonkeyPatch) -> None:
    plain = modules.Module.forward

    def forward(self: Any, batch: Any, is_train: Any = None) -> None:
        try:
            plain(self, batch, is_train)
        except mx.MXNetError:
            for output in self.get_outputs():
                output[:] = 0
            raise

    patch.setattr(modules.Module, "forward", forward)


def _first_inferred(patch: pytest.MonkeyPatch) -> None:
    plain = Symbol.infer_shape_partial

    def infer(self: Any, **shapes: Any) -> Any:
        arguments, *others = plain(self, **shapes)
        return (arguments[:1] + [()] * (len(arguments) - 1), *others)

    patch.setattr(Symbol, "infer_shape_partial", infer)


def _old_labels(patch: pytest.MonkeyPatch) -> None:
    plain = modules.Module.reshape

    def reshape(self: Any, data: Any, labels: Any = None) -> None:
        before = self._label_shapes
        plain(self, data, labels)
        self._label_shapes = before

    patch.setattr(modules.Module, "reshape", reshape)


def _argument(name: str, change: Callable[[Any], Any]) -> Plant:
    """Optimizers get another value of an argument."""
    def plant(patch: pytest.MonkeyPatch) -> None:
        plain = mx.optimizer.create

        def create(rule: Any, **given: Any) -> Any:
            return plain(rule, **{**given, name: change(given[name])} if name in given else given)

        patch.setattr(mx.optimizer, "create", create)
        patch.setattr(updates.opt, "create", create)

    return plant


def _write(patch: pytest.MonkeyPatch) -> None:
    plain = buckets.Buckets.begin
    patch.setattr(buckets.Buckets, "begin", lambda self, requirement, forget: plain(self, "write", forget))


def _by_place(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(updates.Updates, "by_index", lambda self, group: (group.param_arrays, group.grad_arrays))


def _prepare_switches(patch: pytest.MonkeyPatch) -> None:
    def prepare(self: Any, batch: Any, sparse_row_id_fn: Any = None) -> None:
        self.switch_bucket(batch.bucket_key, batch.provide_data, batch.provide_label)

    patch.setattr(bucketing_module.BucketingModule, "prepare", prepare)


def _failed_bucket_stays(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(bucketing_module, "undo", lambda *_, **__: nullcontext())


def _owner_is_smallest(patch: pytest.MonkeyPatch) -> None:
    """A bucket that is larger than the default one is not bound."""
    plain = buckets.Buckets._compare_sizes

    def compare(self: Any, module: Any, logger: Any) -> None:
        if any(shape[1:] > dict(self.owner.data_shapes)[name][1:] for name, shape in module.data_shapes):
            raise mx.MXNetError("too large")
        plain(self, module, logger)

    patch.setattr(buckets.Buckets, "_compare_sizes", compare)


def _one_size(patch: pytest.MonkeyPatch) -> None:
    """The mean of SVRG is not scaled to the rows of a batch."""
    patch.setattr(svrg_module.SVRGModule, "_shares", lambda self: [1.0] * len(self._context))


def _never_full(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(svrg_module.SVRGModule, "_begin_epoch", lambda *_: None)


# --- the kinds ------------------------------------------------------------------------------------


def _steps(program: Program, *names: str) -> list[Program]:
    return [step for step in program["steps"] if step["do"] in names]


def _half(program: Program) -> bool:
    done = [step["do"] for step in program["steps"]]
    return any(s["dtype"] == "float16" for s in program["arrays"].values()) and "set_params" in done


def _uses(name: str, *names: str) -> Callable[[Program], bool]:
    return lambda program: any(name in step for step in _steps(program, *names))


def _rule(name: str, has: Callable[[Any], bool]) -> Callable[[Program], bool]:
    return lambda program: any(
        has(step["parameters"][name]) for step in _steps(program, "create", "init_optimizer")
        if name in (step.get("parameters") or {})
    )


def _heads_elsewhere(program: Program) -> bool:
    return any(node["op"] == "transpose" and "__layout__" in node["attrs"] for node in program["nodes"])


def _failed(program: Program) -> bool:
    return any(step.get("attempt") for step in _steps(program, "forward"))


def _other_rows(program: Program) -> bool:
    rows = {step["data"][0]["shape"][0] for step in _steps(program, "bind", "forward")}
    return bool(_steps(program, "full_pass")) and len(rows) > 1


def _default(program: Program) -> bool:
    made = _steps(program, "create_buckets")
    return bool(made) and made[0]["default"] < max(bucket["key"] for bucket in program["settings"]["buckets"])


def _two_orders(program: Program) -> bool:
    return any(node["name"] == "side" for node in program["nodes"])


KINDS: dict[str, tuple[int, Callable[[Program], bool], Plant]] = {
    "float16 weights that are set": (3, _half, _masters),
    "heads along other axes": (3, _heads_elsewhere, _heads),
    "other last batches": (3, _uses("last", "fit", "score", "predict"), _padded),
    "a module after a failed pass": (3, _failed, _reshaped_for_good),
    "partial shapes": (3, lambda p: bool(_steps(p, "infer")), _first_inferred),
    "labels of other rows": (3, lambda p: bool(_steps(p, "shapes")), _old_labels),
    "updates that count as done": (3, _rule("begin_num_update", bool), _argument("begin_num_update", lambda _: 0)),
    "negative momentum": (3, _rule("momentum", lambda m: m < 0), _argument("momentum", abs)),
    "updates that count as done, alone": (
        5, _rule("begin_num_update", bool), _argument("begin_num_update", lambda _: 0)
    ),
    "negative momentum, alone": (5, _rule("momentum", lambda m: m < 0), _argument("momentum", abs)),
    "requirements of buckets": (4, _uses("requirement", "bind"), _write),
    "parameters in another order": (4, _two_orders, _by_place),
    "batches that are prepared": (4, lambda p: bool(_steps(p, "prepare")), _prepare_switches),
    "buckets after a failed pass": (4, _failed, _failed_bucket_stays),
    "a default bucket that is not the largest": (4, _default, _owner_is_smallest),
    "other rows of SVRG": (4, _other_rows, _one_size),
    "fit of SVRG": (4, _uses("epochs", "fit"), _never_full),
    "other last batches of SVRG": (4, _uses("last", "full_pass"), _padded),
}
WITHIN = 150
"""Programs of which one has a kind; and three times as many, of which one shows its fault."""


@cache
def _programs(level: int, count: int, *, corners: bool = True) -> list[Program]:
    return [program_of(20, number, Capabilities(level=level, corners=corners)) for number in range(count)]


@pytest.mark.heavy
@pytest.mark.parametrize("kind", KINDS)
def test_a_kind_is_drawn_and_its_fault_is_found(kind: str) -> None:
    level, has, plant = KINDS[kind]
    drawn = _programs(level, 3 * WITHIN)
    assert any(map(has, drawn[:WITHIN]))
    shown = next(p for p in drawn if has(p) and judge(Planted(plant), p, confirm=False).status == "failed")
    assert judge(Planted(lambda _: None), shown).status == "passed"


def test_only_corners_of_modules_are_in_half_precision_or_fail() -> None:
    for program in _programs(3, 200, corners=False) + _programs(4, 100, corners=False):
        assert not any(has(program) for has in (_half, _failed, _heads_elsewhere, _two_orders))


def test_what_is_excluded_is_not_drawn() -> None:
    left = Exclusions(operators=drawn_modules.FEATURES | drawn_buckets.FEATURES)
    for level in (3, 4):
        for number in range(150):
            program = program_of(21, number, Capabilities(level=level, corners=True), left)
            assert not _steps(program, "infer", "prepare", "fit", "save_states", "monitor", "use", "load")
            fields = {field for step in program["steps"][2:] for field in step}
            assert not {"again", "apart", "rates", "on_store", "force"} & fields
            assert not any("last" in step or step.get("attempt") for step in program["steps"][2:])
            assert not any(has(program) for has in (_half, _default, _other_rows, _two_orders))


SELDOM = {
    3: (
        "monitor", "use", "again of score", "apart of forward", "rates of init_optimizer", "on_store of init_optimizer",
        "force of init_optimizer", "force of set_params", "parts of set_states",
    ),
    4: ("monitor", "load", "again of bind", "train of bind", "force of init_optimizer"),
    5: ("variables of create",),
}
"""Level -> steps, and fields of steps, of scripts that do more than train."""


@pytest.mark.parametrize("level", SELDOM)
def test_what_scripts_seldom_do_is_drawn(level: int) -> None:
    steps = [step for program in _programs(level, 200) for step in program["steps"]]
    drawn = {step["do"] for step in steps} | {f"{field} of {step['do']}" for step in steps for field in step}
    assert set(SELDOM[level]) <= drawn
    plain = [step for program in _programs(level, 100, corners=False) for step in program["steps"]]
    usual = {f"{field} of {step['do']}" for step in plain for field in step} | {step["do"] for step in plain}
    assert not (set(SELDOM[level]) - {"load", "again of bind", "train of bind"}) & usual
