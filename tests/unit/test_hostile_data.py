"""Pickles that call nothing and are hostile all the same: by size, sharing, nesting, damage and odd values."""

from __future__ import annotations

import copy
import pickle
import random
from pathlib import Path
from typing import Any

import pytest

import refimpl as mx
from refimpl.optimizer import SGD, states

from .hostile import READERS, is_inert, nothing_happens, refused, within_bounds
from .hostile_data import INERT, REFUSED, laughing


@pytest.fixture(autouse=True)
def _in_an_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.mark.clause("States/valid", "States/bounds", "Command/optimizer", "Command/attributes")
@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("case", REFUSED)
def test_refused(case: str, reader: str) -> None:
    """Alone, and as a state; soon, and in little memory."""
    for content in (REFUSED[case] + b".", b"(K\x00" + REFUSED[case] + b"d."):
        with within_bounds(content):
            refused(reader, content)


@pytest.mark.clause("States/valid", "Command/optimizer")
@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("tail", [b".", b"\0", b"\n", pickle.dumps({}), b"}" * 1000])
def test_bytes_after_the_end_are_refused(tail: bytes, reader: str) -> None:
    whole = states.dumps({}) if reader == "states" else states.dumps_optimizer(SGD())
    assert f"byte {len(whole)}: {len(tail)} bytes follow its end" in refused(reader, whole + tail)


@pytest.mark.clause("States/valid")
@pytest.mark.parametrize("case", INERT)
def test_read_as_data(case: str) -> None:
    operations, expected = INERT[case]
    content = b"}K\x00" + operations + b"s."
    with within_bounds(content), nothing_happens():
        found, optimizer = states.loads(content)
    assert optimizer is None
    assert is_inert(found)
    if expected is not None:
        assert found == {0: expected}
        assert type(found[0]) is type(expected)


@pytest.mark.clause("States/bounds")
def test_the_largest_file_of_each_kind_is_read() -> None:
    """A thousand parameters, and one of eight megabytes, as any writer's pickle."""
    many = {n: (mx.nd.ones(2), mx.nd.ones(3)) for n in range(300)}
    content = states.dumps((many, SGD()))
    with within_bounds(content):
        found, _ = states.loads(content)
    assert len(found) == 300
    content = states.dumps({0: mx.nd.ones(2_000_000)})
    found, _ = states.loads(content)
    assert found[0].shape == (2_000_000,)


@pytest.mark.clause("States/valid")
def test_what_a_file_shares_is_not_walked_without_end() -> None:
    """Sixteen times the file is the most; an updater walks states to move them between devices."""
    content = b"}K\x00" + laughing(b"2\x86", 12)[2:] + b"s."  # 4,095 pairs out of 38 bytes
    assert "unfolds to more than" in refused("states", content)
    found, _ = states.loads(b"}K\x00" + laughing(b"2\x86", 8)[2:] + b"s.")
    updater = mx.optimizer.get_updater(SGD())
    assert updater.sync_state_context(found[0], mx.cpu(1)) == found[0]


# --- optimizers as messages --------------------------------------------------------------------------


class OwnMessage(SGD):
    """A user's own, registered."""


mx.optimizer.register(OwnMessage)


def seasoned(kind: type = SGD) -> Any:
    """An optimizer that has done some steps under a scheduler."""
    schedule = mx.lr_scheduler.MultiFactorScheduler([2, 4], 0.5, base_lr=0.25)
    names = {0: "a_weight", 1: "\u00e9_bias"}
    optimizer = kind(momentum=0.5, learning_rate=0.25, lr_scheduler=schedule, param_idx2name=names)
    updater, weight = mx.optimizer.get_updater(optimizer), mx.nd.ones(2)
    for _ in range(3):
        updater(0, mx.nd.ones(2), weight)
    return optimizer


@pytest.mark.clause("Command/optimizer")
@pytest.mark.parametrize("kind", [SGD, OwnMessage])
@pytest.mark.parametrize("protocol", [*range(6), "ours"])
def test_an_optimizer_arrives_as_it_was_sent(protocol: Any, kind: type) -> None:
    sent = seasoned(kind)
    content = states.dumps_optimizer(sent) if protocol == "ours" else pickle.dumps(sent, protocol)
    with nothing_happens():
        came = states.loads_optimizer(content)
    assert type(came) is kind
    assert came is not sent
    assert {**vars(came), "lr_scheduler": None} == {**vars(sent), "lr_scheduler": None}
    assert vars(came.lr_scheduler) == vars(sent.lr_scheduler)
    assert came._index_update_count is came._all_index_update_counts[0]


# pickle.dumps(mx.optimizer.create("sgd", learning_rate=.5, momentum=.25), 0) in MXNet 1.9.1
MXNET = (
    b"ccopy_reg\n_reconstructor\np0\n(cmxnet.optimizer.optimizer\nSGD\np1\nc__builtin__\nobject\np2\nNtp3\nRp4\n(dp5\nV"
    b"rescale_grad\np6\nF1.0\nsVlr_scheduler\np7\nNsVlr\np8\nF0.5\nsVwd\np9\nF0.0\nsVlr_mult\np10\n(dp11\nsVwd_mult\np12\n(d"
    b"p13\nsVbegin_num_update\np14\nI0\nsVnum_update\np15\nI0\nsV_all_index_update_counts\np16\n(dp17\nI0\n(dp18\nssV_index_up"
    b"date_count\np19\ng18\nsVclip_gradient\np20\nNsVmulti_precision\np21\nI00\nsVaggregate_num\np22\nI4\nsVidx2name\np23\n(d"
    b"p24\nsVsym_info\np25\n(tsVallow_np_array\np26\nI00\nsVmomentum\np27\nF0.25\nsVlazy_update\np28\nI01\nsb."
)


@pytest.mark.clause("Command/optimizer")
@pytest.mark.parametrize("python", [2, 3])
def test_an_optimizer_of_mxnet_arrives(python: int) -> None:
    content = MXNET
    if python == 2:  # which wrote names as byte strings
        content = b"\n".join(
            b"".join([line[: -len(name) - 1], b"S'", name, b"'"]) if name else line
            for line in MXNET.split(b"\n") for name in [line.rpartition(b"V")[2] if b"V" in line else b""]
        )
        assert b"S'momentum'\n" in content
    came = states.loads_optimizer(content)
    assert (type(came), came.lr, came.momentum, came.lazy_update) == (SGD, 0.5, 0.25, True)


@pytest.mark.clause("Command/optimizer")
@pytest.mark.parametrize("content", [{0: None}, [1], "sgd", mx.lr_scheduler.PolyScheduler(3), ({}, SGD())])
def test_a_message_holds_one_optimizer(content: Any) -> None:
    assert "expected an optimizer, found " in refused("command", states.dumps(content))


@pytest.mark.clause("States/own-classes", "Command/optimizer")
def test_of_two_classes_of_one_name_the_last_is_meant() -> None:
    def define(size: int) -> type:
        class Twice(SGD):
            """A class that a notebook defines again and again."""

            of = size

        return Twice

    kinds = [define(1), define(2), define(3)]
    content = states.dumps_optimizer(kinds[0]())
    assert type(states.loads_optimizer(content)).of == 3
    mx.optimizer.Optimizer.opt_registry["twice"] = kinds[1]
    try:
        assert type(states.loads_optimizer(content)).of == 2
    finally:
        del mx.optimizer.Optimizer.opt_registry["twice"]


@pytest.mark.clause("States/content")
def test_half_characters_are_not_written() -> None:
    with pytest.raises(mx.MXNetError) as caught:
        states.dumps({"\ud800": None})
    assert caught.value.clause == "States/content"


def test_the_reader_leaves_no_trace_in_what_it_read() -> None:
    content = states.dumps((dict(enumerate(random.Random(1).sample(range(99), 9))), seasoned()))
    first, second = states.loads(content), states.loads(copy.copy(content))
    assert first[0] == second[0]
    assert first[1] is not second[1]
    assert states.dumps(first) == states.dumps(second)
