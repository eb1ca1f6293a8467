"""Workers that run many programs together: each program has the answer that it has alone, whatever the others do."""

from __future__ import annotations

import logging
import os
import sys
from pathlib import Path

import pytest

import refimpl
from refimpl.oracle.backends import Crashed, isolate
from refimpl.oracle.backends.hello import check_hello, hello_of
from refimpl.oracle.backends.isolate import BATCH, Isolated
from refimpl.oracle.backends.worker import together

from . import toys
from .test_backends import kinds, trouble

WORKER = """
import os, sys, time
import numpy as np
sys.path.insert(0, {folder!r})
from programs.messages import serve
ran = []

class Unsupported(Exception):
    pass

def one(name):
    if name == "crash" or (name == "fragile" and "spoil" in ran):
        os.abort()
    if name == "hang":
        time.sleep(1000)
    ran.append(name)
    if name in ("refuse", "poison", "unsupported"):
        text = "could not execute a primitive" if name == "poison" else "no"
        return (Unsupported if name == "unsupported" else ValueError)(text)
    return {{"0/together": np.array([together[0]])}}

def run(programs):
    names = [program["nodes"][0]["name"] for program in programs]
    together[0] = len(names)
    if "pair" in names and "other" in names:
        os.abort()
    return [one(name) for name in names]

together = [0]
serve(lambda: ({{"version": "1", "pack": 16, "capabilities": {{"level": 1}}}}, run), forks={forks})
"""


@pytest.fixture
def worker(tmp_path):
    """Starts a worker that runs up to sixteen programs together."""
    made = []

    def start(limit=60.0):
        path = tmp_path / "worker.py"
        path.write_text(WORKER.format(
            folder=str(Path(refimpl.__file__).parent / "oracle"), forks=hasattr(os, "fork"),
        ), encoding="utf-8")
        made.append(Isolated([sys.executable, str(path)], limit=limit))
        return made[-1]

    yield start
    for each in made:
        each.close()


def sizes(answers):
    """How many programs each one ran with; 0 where it has no trace."""
    return [0 if isinstance(each, Exception) else int(each["0/together"][0]) for each in answers]


@pytest.mark.clause("oracle/packs-of-workers")
def test_programs_run_together_and_are_answered_each(worker):
    backend = worker()
    answers = backend.run_many(trouble(*["fine"] * 15, "refuse", *["fine"] * 3, "unsupported"))
    assert (backend.pack, backend.starts) == (16, 1)
    assert kinds(answers) == ["ok"] * 15 + ["Refused"] + ["ok"] * 3 + ["Unsupported"]
    assert sizes(answers) == [16] * 15 + [0] + [4] * 3 + [0]
    assert str(answers[15]) == "ValueError: no"


@pytest.mark.clause("oracle/packs-of-workers")
@pytest.mark.parametrize(("at", "ran"), [
    (0, [0, 1, 2, 2, *[4] * 4, *[8] * 8]), (5, [*[4] * 4, 1, 0, 2, 2, *[8] * 8]),
    (15, [*[8] * 8, *[4] * 4, 2, 2, 1, 0]),
])
def test_a_crash_takes_one_of_sixteen(worker, at, ran):
    names = ["fine"] * 16
    names[at] = "crash"
    answers = worker().run_many(trouble(*names))
    assert kinds(answers) == ["Crashed" if i == at else "ok" for i in range(16)]
    assert str(answers[at]).startswith("it ended with ")
    assert sizes(answers) == ran


@pytest.mark.clause("oracle/packs-of-workers")
def test_silence_takes_one_program_and_the_limit_grows_with_the_pack(worker):
    backend = worker(limit=1.0)
    asked = []
    waited = backend._workers[0].next
    backend._workers[0].next = lambda limit: asked.append(limit) or waited(limit)
    answers = backend.run_many(trouble("hang", "fine"))
    assert kinds(answers) == ["Crashed", "ok"]
    assert str(answers[0]) == "no answer within 1 s"
    assert sizes(answers) == [0, 1]
    assert asked[0] == pytest.approx(2.0, abs=0.5)
    assert set(asked[1:]) == {1.0, backend._workers[0].start_limit}


@pytest.mark.clause("oracle/packs-of-workers")
def test_a_program_is_not_blamed_for_one_before_it(worker):
    """It crashes only in a process where another ran, which does well itself: alone it runs in a fresh process."""
    answers = worker().run_many(trouble("spoil", *["fine"] * 14, "fragile"))
    assert kinds(answers) == ["ok"] * 16


@pytest.mark.clause("oracle/packs-of-workers")
def test_programs_that_only_together_end_a_process_are_answered(worker, caplog):
    with caplog.at_level(logging.WARNING):
        answers = worker().run_many(trouble("pair", "fine", "other", "fine"))
    assert kinds(answers) == ["ok"] * 4
    assert "and does not by a part of its work" in caplog.text


def test_answers_beside_a_native_error_do_not_count(worker):
    answers = worker().run_many(trouble("fine", "poison", "fine", "fine"))
    assert kinds(answers) == ["ok", "Refused", "ok", "ok"]
    assert sizes(answers) == [1, 0, 2, 2]


def test_packs_are_part_of_the_first_message():
    assert hello_of(toys.Together())["pack"] == 16
    assert "pack" not in hello_of(toys.Troubled())
    assert check_hello({"protocol": 1, "pack": 16}) is None
    assert "pack" in check_hello({"protocol": 1, "pack": 0})


def test_a_pack_that_a_backend_refuses_as_a_whole_is_halved():
    answer = together(toys.Together())
    found = answer(trouble("fine", "fine", "refuse", "alone"))
    assert kinds(found) == ["ok", "ok", "Refused", "ok"]
    assert [len(each) for each in found if not isinstance(each, Exception)] == [4, 4, 3]  # "0/together", but alone
    found = answer(trouble("fine"))
    assert "0/together" not in found[0]


@pytest.mark.heavy
def test_a_backend_with_packs_runs_them_in_its_process():
    with isolate("tests.oracle.toys:Together") as backend:
        answers = backend.run_many(trouble(*["fine"] * 8, "crash", *["fine"] * 6, "alone", "fine"))
    assert kinds(answers) == ["ok"] * 8 + ["Crashed"] + ["ok"] * 8
    assert isinstance(answers[8], Crashed)
    assert int(answers[0]["0/together"]) == 8


def test_a_request_has_at_most_the_programs_that_the_chapter_says():
    chapter = Path(refimpl.__file__).parents[1] / "spec/reference/tools/oracle-protocol.md"
    assert f"A request has at most {BATCH} programs." in chapter.read_text(encoding="utf-8")
