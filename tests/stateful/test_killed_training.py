"""Training that is killed (SIGKILL) at any moment leaves whole files behind, and goes on from them bit for bit.

    python -m pytest tests/stateful/test_killed_training.py     3 kills
    python -m pytest -m long -k resume                          300 kills, eleven minutes

REFIMPL_RESUME_SEED=1000 draws other kills.
"""

from __future__ import annotations

import functools
import os
import random
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

import refimpl as mx
from refimpl.files.atomic import write_atomically

from .training_to_kill import EPOCHS, KINDS, files, train

ROOT = Path(__file__).resolve().parents[2]
MOMENTS = {"do_checkpoint": 537, "module_checkpoint": 714, "one name": 720, "buckets": 858}
FIRST = int(os.environ.get("REFIMPL_RESUME_SEED", "0"))


@functools.cache
def unbroken(kind: str) -> list[dict[str, bytes]]:
    """The files of a training that nobody stops, after each epoch; at first none."""
    with tempfile.TemporaryDirectory() as folder:
        prefix = str(Path(folder, "net"))
        after: list[dict[str, bytes]] = [{}]
        train(prefix, kind, epoch_end=lambda *_: after.append(files(prefix)))
        return after


def kill(prefix: str, kind: str, moment: int, then: str) -> int:
    """Start a training and kill it at a moment; return how many checkpoints it said it had made."""
    child = subprocess.Popen(
        [sys.executable, "-m", "tests.stateful.training_to_kill", prefix, kind, str(moment), then],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT, env=os.environ | {"PYTHONPATH": str(ROOT)},
    )
    try:
        lines = []
        for line in child.stdout:
            lines.append(line)
            if line == "now\n":
                break
        child.kill()
        lines += child.stdout
    finally:
        child.kill()
        child.communicate()
    assert "now\n" in lines, lines
    return sum(line.startswith("saved") for line in lines)


def survives(seed: int, folder: Path) -> None:
    draw = random.Random(seed)
    kind = list(KINDS)[seed % len(KINDS)]
    moment, then = draw.randint(1, MOMENTS[kind]), draw.choice(["stay", "run"])
    prefix, expected = str(folder / "net"), unbroken(kind)
    made = kill(prefix, kind, moment, then)
    left = files(prefix)
    print(f"seed {seed}: {kind}, moment {moment}, {then}; {made} checkpoints, files {sorted(left)}")

    # what was made is there; the next one may be begun, and what there is of it is whole
    following = expected[min(made + 1, EPOCHS)]
    assert set(expected[made]) <= set(left) <= set(following)
    for name, content in left.items():
        assert content in (expected[made].get(name), following.get(name)), name
    hidden = unfinished(folder)
    assert len(hidden) <= 1
    assert all(re.fullmatch(r"\.refimpl-[0-9a-f]{8}-[0-9a-f]{16}\.part", name) for name in hidden), hidden

    if kind == "one name" and made and left not in expected:  # parameters of one epoch beside states of another
        assert left["-0000.params"] == following["-0000.params"]
        with pytest.raises(mx.MXNetError) as caught:
            train(prefix, kind, begin=made)
        assert caught.value.clause == "States/same-save"
        assert all(name in str(caught.value) for name in ("net-0000.params", "net-0000.states", "allow_other_params"))
        assert files(prefix) == left
        train(prefix, kind, begin=made, allow_other_params=True)
        assert set(files(prefix)) == set(expected[-1])
    else:
        train(prefix, kind, begin=made + (made < EPOCHS and left == following))
        assert files(prefix) == expected[-1]
    write_atomically(folder / "next", b"")  # the kill may have come after the last checkpoint
    assert unfinished(folder) == []


def unfinished(folder: Path) -> list[str]:
    """The hidden folders of saves, which are gone when nothing is being saved."""
    return sorted(path.name for path in folder.iterdir() if path.name.startswith("."))


@pytest.mark.heavy
@pytest.mark.clause("Files/atomic", "Files/leftovers", "States/same-save", "Updater/resume")
@pytest.mark.parametrize("seed", [42, 53, 59])  # between the two names of one save, before them, between four names
def test_a_killed_training_goes_on(seed: int, tmp_path: Path) -> None:
    survives(seed, tmp_path)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(FIRST, FIRST + 300))
def test_resume_whenever_it_was_killed(seed: int, tmp_path: Path) -> None:
    survives(seed, tmp_path)


@pytest.mark.clause("Files/atomic")
@pytest.mark.parametrize("kind", KINDS)
def test_every_epoch_writes_other_numbers(kind: str) -> None:
    """Otherwise the comparisons above could not tell an epoch from the one before."""
    after = unbroken(kind)
    assert len(after) == EPOCHS + 1
    if kind == "one name":
        contents = [(state["-0000.params"], state["-0000.states"]) for state in after[1:]]
        assert len({params for params, _ in contents}) == len({states for _, states in contents}) == EPOCHS
    else:
        assert len({after[-1][f"-000{epoch}.params"] for epoch in range(1, EPOCHS + 1)}) == EPOCHS


@pytest.mark.clause("Checkpoint/files")
def test_a_killed_training_can_be_loaded_by_hand(tmp_path: Path) -> None:
    """In the middle of writing the second checkpoint, after its parameters and before its states."""
    prefix = str(tmp_path / "net")
    expected = unbroken("module_checkpoint")
    for name, content in {**expected[1], "-0002.params": expected[2]["-0002.params"]}.items():
        Path(prefix + name).write_bytes(content)
    _, params, auxiliary = mx.model.load_checkpoint(prefix, 2)
    assert sorted(params) == ["bn_beta", "bn_gamma", "fc1_bias", "fc1_weight", "fc2_bias", "fc2_weight"]
    assert sorted(auxiliary) == ["bn_moving_mean", "bn_moving_var"]
    train(prefix, "module_checkpoint", begin=1)
    assert files(prefix) == expected[-1]
