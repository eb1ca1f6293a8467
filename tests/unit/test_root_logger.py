"""The library logs without configuring logging for the program."""

from __future__ import annotations

import ast
import copy
import logging
import pickle
from pathlib import Path

import numpy as np
import pytest

import refimpl as mx
from refimpl.log import LOG
from tests.unit import module_nets

ROOT = Path(__file__).parents[2]
INSTALLING = {"basicConfig", "critical", "debug", "error", "exception", "fatal", "info", "log", "warn", "warning"}
"""Functions of the module ``logging`` that install a handler on the root logger."""


def faults(tree: ast.AST) -> list[int]:
    """Lines that use a root logging function, import one, or hand on the module ``logging`` as if it were a logger."""
    lines, allowed = [], set()
    for node in ast.walk(tree):
        if isinstance(node, ast.arguments):  # MXNet's default of `logger`, which `chosen` reads
            allowed |= {id(default) for default in (*node.defaults, *node.kw_defaults)}
        if isinstance(node, ast.Compare):
            allowed |= {id(other) for other in node.comparators}
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "logging":
            allowed.add(id(node.value))
            lines += [node.lineno] * (node.attr in INSTALLING)
        if isinstance(node, ast.ImportFrom) and node.module == "logging":
            lines += [node.lineno for alias in node.names if alias.name in INSTALLING]
    values = (node for node in ast.walk(tree) if isinstance(node, ast.Name) and node.id == "logging")
    return lines + [node.lineno for node in values if id(node) not in allowed]


@pytest.mark.clause("logging/root")
@pytest.mark.parametrize("folder", ["refimpl", "kernels"])
def test_no_root_logging_function_is_used(folder):
    texts = {path: path.read_text(encoding="utf-8") for path in (ROOT / folder).rglob("*.py")}
    found = {
        f"{path.relative_to(ROOT)}:{line}"
        for path, text in texts.items() if "logging" in text for line in faults(ast.parse(text))
    }
    assert found == set()


@pytest.mark.parametrize("text", [
    "logging.info('a')", "import logging as log; from logging import warning", "log = logger or logging",
    "say = logging.error", "f(logger=logging)",
])
def test_a_use_is_noticed(text):
    assert faults(ast.parse(text)) == [1]


def fit(tmp_path):
    rows = mx.io.NDArrayIter(np.ones((4, 2)), np.ones(4), 2)
    module = mx.mod.Module(module_nets.network())
    speed = mx.callback.Speedometer(2, frequent=1)
    module.fit(
        rows, eval_data=rows, num_epoch=1, batch_end_callback=[speed, mx.callback.log_train_metric(1)],
        eval_end_callback=mx.callback.LogValidationMetricsCallback(), monitor=mx.mon.Monitor(1),
        optimizer_params={"lr_scheduler": mx.lr_scheduler.FactorScheduler(1, 0.5)},
        initializer=mx.init.Uniform(),
    )
    module.save_checkpoint(str(tmp_path / "net"), 1, save_optimizer_states=True)
    module.init_optimizer()


def feed_forward(tmp_path):
    mx.model.FeedForward(module_nets.network(), num_epoch=1).fit(np.ones((4, 2)), np.ones(4))


def bind_twice(tmp_path):
    for module in (module_nets.ready(), mx.mod.SequentialModule().add(module_nets.ready())):
        module.bind([("data", (4, 2))], [("softmax_label", (4,))], for_training=True)


def old_manager(tmp_path):
    rows = mx.io.NDArrayIter(np.ones((4, 2)), np.ones(4), 2)
    net = module_nets.network()
    mx.executor_manager.DataParallelExecutorManager(
        net, [mx.cpu()], rows, net.list_arguments(), ["fc_weight", "fc_bias"], []
    )


def mnist(tmp_path):
    images, labels = tmp_path / "images", tmp_path / "labels"
    images.write_bytes(bytes([0, 0, 8, 3, 0, 0, 0, 2, 0, 0, 0, 1, 0, 0, 0, 1, 7, 8]))
    labels.write_bytes(bytes([0, 0, 8, 1, 0, 0, 0, 2, 1, 0]))
    mx.io.MNISTIter(image=str(images), label=str(labels), batch_size=1)


def initializers(tmp_path):
    verbose = mx.init.Load({}, mx.init.Constant(1.0), verbose=True)
    verbose("fc_weight", mx.nd.zeros((1,)))
    mx.init.Uniform(1).set_verbosity(True)(mx.init.InitDesc("fc_weight"), mx.nd.zeros((1,)))


def schedules(tmp_path):
    mx.misc.FactorScheduler(1, 0.5)(1)
    mx.lr_scheduler.MultiFactorScheduler([1], 0.5)(3)


def progress(tmp_path):
    mx.callback.ProgressBar(2)(mx.model.BatchEndParam(0, 1, None, None))


def registered_twice(tmp_path):
    for _ in range(2):
        mx.operator.register("test_root_logger")(type("Prop", (mx.operator.CustomOpProp,), {}))


def sparse_fallback(tmp_path):
    mx.nd.sin(mx.nd.sparse.zeros("csr", (2, 2)) + 1)


def empty_parameters(tmp_path):
    mx.nd.save(str(tmp_path / "net-0001.params"), {})
    mx.model.load_params(str(tmp_path / "net"), 1)


def lbsgd(tmp_path):
    mx.optimizer.LBSGD(warmup_strategy="linear", batch_scale=2)


EVERYTHING = [
    fit, feed_forward, bind_twice, old_manager, mnist, initializers, schedules, progress, registered_twice,
    sparse_fallback, empty_parameters, lbsgd,
]


# MXNet 1.9.1: `logging.getLogger().setLevel(logging.INFO); module.fit(...)` prints
# INFO:root:Epoch[0] Train-accuracy=1.000000 and leaves a StreamHandler on the root logger.
@pytest.mark.clause("logging/root")
@pytest.mark.parametrize("use", EVERYTHING, ids=lambda use: use.__name__)
def test_the_root_logger_stays_as_it_is(use, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(logging.root, "handlers", [])
    monkeypatch.setattr(logging.root, "level", logging.INFO)
    logging.root.manager._clear_cache()
    try:
        use(tmp_path)
        assert (logging.root.handlers, logging.root.level) == ([], logging.INFO)
        said = capsys.readouterr().err.splitlines()
        assert said
        assert all(line.startswith(("INFO:root:", "WARNING:root:")) for line in said)
    finally:
        monkeypatch.undo()
        logging.root.manager._clear_cache()


@pytest.mark.clause("logging/root")
def test_lines_keep_to_the_level_and_handlers_of_the_root_logger(caplog, capsys):
    with caplog.at_level(logging.ERROR):
        LOG.warning("dropped")
        LOG.error("kept %d", 1)
    assert caplog.record_tuples == [("root", logging.ERROR, "kept 1")]
    assert caplog.records[0].filename == Path(__file__).name
    assert capsys.readouterr().err == ""


@pytest.mark.clause("logging/root")
def test_a_logger_gets_the_lines_itself():
    mine = logging.getLogger("test_root_logger")
    assert mx.mod.Module(module_nets.network(), logger=mine).logger is mine
    assert mx.mod.Module(module_nets.network(), logger=logging).logger is LOG


def test_a_module_can_be_copied_with_its_logger():
    assert copy.deepcopy(LOG) is LOG
    assert pickle.loads(pickle.dumps(LOG)) is LOG
