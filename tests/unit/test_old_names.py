"""Modules and names that old scripts use: mx.log, mx.misc, mx.libinfo, mx.contrib.amp, modules that are absent."""

from __future__ import annotations

import importlib
import logging
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import refimpl as mx
from refimpl import libinfo, misc
from refimpl.contrib import amp
from refimpl.op_registry.submodules import ABSENT

from .custom_operators import refused

ROOT = Path(__file__).parents[2]


# --- mx.log ----------------------------------------------------------------------------------------------------


@pytest.fixture
def name(request: pytest.FixtureRequest) -> object:
    """A name that no logger has yet; its handlers are closed at the end."""
    yield request.node.name
    logger = logging.getLogger(request.node.name)
    for handler in list(logger.handlers):
        handler.close()
        logger.removeHandler(handler)
    logger.__dict__.pop("_init_done", None)


# MXNet 1.9.1: mx.log.get_logger("q", level=1).log(level, "text") writes
# "\x1b[31mW1122 13:16:23 32189 /tmp/script.py:<module>:28]\x1b[0m text" to stderr
@pytest.mark.clause("log/get-logger")
@pytest.mark.parametrize(("level", "colour", "letter"), [
    (5, 34, "U"), (10, 34, "D"), (15, 34, "U"), (20, 32, "I"), (25, 32, "U"), (30, 31, "W"), (35, 31, "U"),
    (40, 31, "E"), (50, 31, "C"), (60, 31, "U"),
])
def test_lines_on_standard_error(
    level: int, colour: int, letter: str, name: str, capsys: pytest.CaptureFixture,
) -> None:
    mx.log.get_logger(name, level=1).log(level, "warn %d", 3)
    place = rf"{os.getpid()} {re.escape(__file__)}:test_lines_on_standard_error:\d+"
    wanted = rf"\x1b\[{colour}m{letter}\d{{4}} \d\d:\d\d:\d\d {place}\]\x1b\[0m warn 3\n"
    assert re.fullmatch(wanted, capsys.readouterr().err)


# MXNet 1.9.1: l = mx.log.get_logger("f", "file", None, 10); l.info("a"); mx.log.get_logger("f", "other") is l
@pytest.mark.clause("log/get-logger")
def test_plain_lines_in_a_file(name: str, tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    file = tmp_path / "log.txt"
    file.write_text("before\n")
    logger = mx.log.get_logger(name, str(file), None, 10)
    logger.info("a")
    logger.warning("b %d", 1)
    assert file.read_text() == "before\na\nb 1\n"
    assert mx.log.get_logger(name, str(tmp_path / "other.txt"), level=40) is logger
    assert (len(logger.handlers), logger.level) == (1, 10)
    assert not (tmp_path / "other.txt").exists()
    assert capsys.readouterr().err == ""


@pytest.mark.clause("log/get-logger")
def test_a_file_is_overwritten_when_asked(name: str, tmp_path: Path) -> None:
    file = tmp_path / "log.txt"
    file.write_text("before\n")
    mx.log.get_logger(name, str(file), "w").error("only")
    assert file.read_text() == "only\n"


# MXNet 1.9.1: mx.log.get_logger(level=10) is <RootLogger root (WARNING)> without handlers
@pytest.mark.clause("log/get-logger")
def test_the_root_logger_is_left_alone() -> None:
    root = logging.getLogger()
    before = root.level, list(root.handlers)
    assert mx.log.get_logger(level=1) is root
    assert (root.level, root.handlers) == before


@pytest.mark.clause("log/get-logger")
def test_the_old_name_warns(name: str) -> None:
    with pytest.warns(DeprecationWarning, match="getLogger is deprecated; use get_logger"):
        logger = mx.log.getLogger(name, level=40)
    assert (logger.name, logger.level) == (name, 40)


# --- mx.misc ---------------------------------------------------------------------------------------------------


# MXNet 1.9.1: s = mxnet.misc.FactorScheduler(3, 0.5); [s(i) for i in (0, 2, 3, 5, 6, 7, 30)]; vars(s)
@pytest.mark.clause("misc/schedule")
def test_factor_scheduler() -> None:
    schedule = misc.FactorScheduler(3, 0.5)
    assert [schedule(i) for i in (0, 2, 3, 5, 6, 7, 30)] == [0.01, 0.01, 0.005, 0.005, 0.0025, 0.0025, 9.765625e-06]
    assert vars(schedule) == {"base_lr": 0.01, "step": 3, "factor": 0.5, "old_lr": 9.765625e-06, "init": True}
    assert misc.FactorScheduler(1).factor == 0.1


# MXNet 1.9.1: s.base_lr = 1.0; s(1), s(3), s(4) log the change to 0.5 once
@pytest.mark.clause("misc/schedule")
def test_a_new_rate_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    schedule = misc.FactorScheduler(3, 0.5)
    schedule.base_lr = 1.0
    with caplog.at_level(logging.INFO):
        assert [schedule(i) for i in (1, 3, 4)] == [1.0, 0.5, 0.5]
    assert [record.message for record in caplog.records] == ["Iteration[3]: learning rate is now 5.00000e-01"]


@pytest.mark.clause("misc/schedule")
@pytest.mark.parametrize(("arguments", "message"), [
    ((0, 0.5), "give 1 or more iterations"),
    ((0.5, 0.5), "give 1 or more iterations"),
    ((1, 1.0), "give less than 1"),
])
def test_impossible_schedules_are_refused(arguments: tuple, message: str) -> None:
    with pytest.raises(ValueError, match=message) as error:
        misc.FactorScheduler(*arguments)
    assert error.value.clause == "misc/schedule"


@pytest.mark.clause("misc/schedule")
def test_a_schedule_without_a_rate_is_refused() -> None:
    refused("misc/schedule", lambda: misc.LearningRateScheduler()(3), NotImplementedError)


# --- mx.libinfo, mx.base, mx.contrib.amp -----------------------------------------------------------------------


# MXNet 1.9.1: RuntimeError('Cannot find the TVM op config...') from find_conf_path
@pytest.mark.clause("libinfo/no-library")
@pytest.mark.parametrize("find", [libinfo.find_lib_path, libinfo.find_include_path, libinfo.find_conf_path])
def test_there_is_no_native_library(find: object) -> None:
    refused("libinfo/no-library", find, RuntimeError)
    assert libinfo.__version__ == mx.__version__


# MXNet 1.9.1: mx.base.data_dir() is '/root/.mxnet', and '/x/y' with MXNET_HOME=/x/y
@pytest.mark.clause("base/data-dir")
def test_data_dir(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MXNET_HOME", raising=False)
    if os.name == "nt":
        monkeypatch.setenv("APPDATA", "C:\\x")
        default = "C:\\x\\mxnet"
    else:
        monkeypatch.setenv("HOME", "/x")
        default = "/x/.mxnet"
    assert mx.base.data_dir() == default
    monkeypatch.setenv("MXNET_HOME", "/x/y")
    assert (mx.base.data_dir(), mx.base.data_dir_default()) == ("/x/y", default)


# MXNet 1.9.1: py_str("fc_output") is AttributeError("'str' object has no attribute 'decode'")
@pytest.mark.clause("base/py-str")
def test_a_monitor_callback_may_call_py_str_on_names() -> None:
    assert mx.base.py_str("fc_output ä") == "fc_output ä"
    seen = []
    executor = (mx.sym.Variable("x") + 1).simple_bind(mx.cpu(), x=(2,))
    executor.set_monitor_callback(lambda name, array: seen.append(mx.base.py_str(name)))
    executor.forward()
    executor.outputs[0].wait_to_read()
    assert [name.endswith("_output") for name in seen] == [True]


# MXNet 1.9.1: 'ab', <class 'ctypes.c_void_p'>, <class 'slice'>
def test_small_names() -> None:
    assert mx.base.py_str(b"ab \xc3\xa4") == "ab ä"
    assert mx.base.NDArrayHandle.__name__ == "c_void_p"
    assert mx.ndarray.ndarray.py_slice is slice
    assert mx.optimizer.optimizer.SGD is mx.optimizer.SGD
    assert mx.nd.utils.zeros is mx.nd.zeros
    assert mx.np_shape is mx.util.np_shape


# MXNet 1.9.1: init("float32") is AssertionError('AMP currently supports only float16 or bfloat16 as a target_dtype')
@pytest.mark.clause("amp/nothing")
@pytest.mark.parametrize("target", ["float16", "bfloat16", np.float16])
def test_mixed_precision_changes_nothing(target: object) -> None:
    with pytest.warns(UserWarning, match="changes nothing"):
        assert amp.init(target) is None
    assert mx.nd.dot(mx.nd.ones((2, 2)), mx.nd.ones((2, 2))).dtype is np.float32
    refused("amp/nothing", lambda: amp.init("float32"), AssertionError)


# --- names in several places -----------------------------------------------------------------------------------


@pytest.mark.parametrize("module", ["nd", "ndarray", "sym", "symbol"])
def test_operators_of_contrib_by_their_first_names(module: str) -> None:
    found = importlib.import_module(f"refimpl.contrib.{module}")
    there = mx.nd.contrib if module.startswith("nd") else mx.sym.contrib
    assert getattr(mx.contrib, module) is found
    assert [name for name in there.__all__ if getattr(found, name) is not getattr(there, name)] == []
    with pytest.raises(mx.MXNetError, match="_contrib_hawkesll"):
        found.hawkesll()
    assert not hasattr(found, "nothing_of_this_name")


@pytest.mark.clause("test_utils/star")
def test_what_a_star_import_of_test_utils_brings() -> None:
    found: dict = {}
    exec("from refimpl.test_utils import *", found)  # at module level only, as scripts write it
    assert found["mx"] is mx
    assert (found["np"], found["rnd"], found["npt"]) == (np, np.random, np.testing)
    assert found["ss"] is None or found["ss"].__name__ == "scipy.stats"
    assert found["OrderedDict"].__module__ == "collections"
    assert found["contextmanager"].__module__ == "contextlib"
    for name in "bz2 errno gzip json logging numbers os platform struct sys time traceback zipfile".split():
        assert found[name] is importlib.import_module(name)
    assert not hasattr(mx.test_utils, "nothing_of_this_name")


def test_heavy_modules_are_imported_when_asked_for() -> None:
    code = (
        "import sys, numpy, numba, numba.cuda; before = set(sys.modules); import refimpl;"
        "print([name for name in ('scipy', 'numpy.testing') if name in set(sys.modules) - before])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    assert done.stdout == "[]\n"


# --- what is not here ------------------------------------------------------------------------------------------


@pytest.mark.clause("runtime/absent-module")
@pytest.mark.parametrize("module", sorted(ABSENT))
def test_an_absent_module_says_what_stands_instead(module: str) -> None:
    parent, _, name = f"mx.{module}".rpartition(".")
    owner = mx if parent == "mx" else mx.contrib
    assert not hasattr(owner, name)
    asked = refused("runtime/absent-module", lambda: getattr(owner, name), AttributeError)
    found = refused("runtime/absent-module", lambda: importlib.import_module(f"refimpl.{module}"), ImportError)
    with pytest.raises(ImportError) as drawn:
        exec(f"from {owner.__name__} import {name}")  # the statement that scripts have
    assert str(asked) == str(found) == str(drawn.value)
    assert str(found).startswith(f"mx.{module} is not here: ")
    assert "\n" not in str(found)
    page = re.search(r"see (spec/[\w/-]+\.md)", str(found))
    assert page
    assert (ROOT / page[1]).is_file()


def test_any_other_name_is_a_plain_attribute_error() -> None:
    with pytest.raises(AttributeError, match="module 'refimpl' has no attribute 'nothing_of_this_name'"):
        mx.nothing_of_this_name  # noqa: B018
