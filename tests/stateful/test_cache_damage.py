"""Damage to folders of compiled kernels: every run ends right, says one line for each file, and repairs what it can.

    python -m pytest tests/stateful/test_cache_damage.py             2 kinds of damage
    python -m pytest -m long -k cache_damage                         200 kinds, two minutes

REFIMPL_DAMAGE_SEED chooses others. Each run has 4 GiB of memory and 30 seconds.
"""

from __future__ import annotations

import json
import os
import pickle
import random
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

pytest.importorskip("resource", reason="limits of memory are POSIX's")

ROOT = Path(__file__).resolve().parents[2]
SEED = int(os.environ.get("REFIMPL_DAMAGE_SEED", "0"))
KINDS = 200
VALUES = [[0.0, 2.0, 0.25, 0.0], [0.0, 0.1], [2.25, 4.0, 0.0625, 16.0], [-0.5, 3.0, 1.25, -3.0]]
IS_ROOT = os.geteuid() == 0
MAGIC = b"refimpl kernel 1\n"


class Runner:
    """Starts runs; ``cache`` holds what an undisturbed one left."""

    def __init__(self, folder: Path) -> None:
        environment = os.environ | {"PYTHONPATH": str(ROOT), "REFIMPL_CACHE_DIR": str(folder / "others")}
        self._program = subprocess.Popen(
            [sys.executable, "-m", "tests.stateful.kernels_to_damage"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            text=True, cwd=ROOT, env=environment,
        )
        self.cache = folder / "whole"

    def run(self, cache: Path, processes: int = 1, interrupt: bool = False) -> list[dict[str, Any]]:
        print(json.dumps([str(cache), processes, interrupt]), file=self._program.stdin, flush=True)
        return json.loads(self._program.stdout.readline())

    def close(self) -> None:
        self._program.stdin.close()
        self._program.wait()
        self._program.stdout.close()


@pytest.fixture(scope="module")
def runner(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Runner]:
    made = Runner(tmp_path_factory.mktemp("cache"))
    try:
        made.whole = made.run(made.cache)
        yield made
    finally:
        made.close()


class Marker:
    """Unpickled, it leaves a file."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[Callable, tuple]:
        return os.mkdir, (str(self.path),)


def flip(file: Path, draw: random.Random) -> None:
    content = bytearray(file.read_bytes())
    for at in draw.sample(range(len(content)), draw.choice([1, 1, 1, 20])):
        content[at] ^= 1 << draw.randrange(8)
    file.write_bytes(content)


def flip_head(file: Path, draw: random.Random) -> None:
    content = bytearray(file.read_bytes())
    content[draw.randrange(49)] ^= 1 << draw.randrange(8)
    file.write_bytes(content)


def cut(file: Path, draw: random.Random) -> None:
    content = file.read_bytes()
    file.write_bytes(content[: draw.choice([0, 1, 16, 17, 48, 49, len(content) - 1, draw.randrange(len(content))])])


def lose(file: Path, draw: random.Random) -> None:
    content = file.read_bytes()
    at = draw.randrange(len(content))
    file.write_bytes(content[:at] + content[at + draw.randint(1, 4096):])


def zero(file: Path, draw: random.Random) -> None:
    """As after a power cut: blocks that were never written."""
    content = file.read_bytes()
    at = draw.randrange(0, len(content), 512)
    file.write_bytes(content[:at].ljust(len(content), b"\0"))


def grow(file: Path, draw: random.Random) -> None:
    file.write_bytes(file.read_bytes() + draw.choice([b"\0", draw.randbytes(100), file.read_bytes()]))


def sparse(file: Path, draw: random.Random) -> None:
    os.truncate(file, draw.choice([1 << 26, 1 << 33, 1 << 40]))


def foreign(file: Path, draw: random.Random) -> None:
    file.write_bytes(draw.choice([
        b"<html>", b"version https://git-lfs.github.com/spec/v1\n", pickle.dumps("0.61.0"), b"\x7fELF" + bytes(500),
        draw.randbytes(3000), MAGIC + draw.randbytes(3000),
    ]))


def evil(file: Path, draw: random.Random) -> None:
    content = pickle.dumps(Marker(file.parents[2] / "executed"))
    file.write_bytes(draw.choice([b"", file.read_bytes()[:17], file.read_bytes()[:49]]) + content)


def other(file: Path, draw: random.Random) -> None:
    """The machine code of another kernel, with nothing wrong in it."""
    shutil.copyfile(draw.choice([path for path in file.parents[1].glob("*/*.kernel") if path != file]), file)


def in_its_place(make: Callable[[Path], object]) -> Callable[[Path, random.Random], None]:
    def replace(file: Path, draw: random.Random) -> None:
        file.unlink()
        make(file)

    return replace


def a_full_folder(file: Path) -> None:
    file.mkdir()
    (file / "x").write_bytes(b"")


def remove(path: Path, draw: random.Random) -> None:
    shutil.rmtree(path) if path.is_dir() else path.unlink()


def open_to_others(path: Path, draw: random.Random) -> None:
    path.chmod(path.stat().st_mode | draw.choice([0o020, 0o002, 0o022, 0o077]))


def give_away(path: Path, draw: random.Random) -> None:
    os.chown(path, 54321, -1)


def close_off(path: Path, draw: random.Random) -> None:
    path.chmod(0)


def make_file(folder: Path, draw: random.Random) -> None:
    shutil.rmtree(folder)
    folder.write_bytes(b"x")


def make_link(path: Path, draw: random.Random) -> None:
    target = path.with_name(f"{path.name}-elsewhere")
    path.rename(target)
    path.symlink_to(target)


def litter(folder: Path, draw: random.Random) -> None:
    (folder / "x.0123456789abcdef.part").write_bytes(draw.randbytes(100))
    (folder / "x.kernel").mkdir()
    (folder / "x.py310.1.nbc").write_bytes(b"")


class Accident(NamedTuple):
    """What is done to one file or folder, the lines that are logged for it, and whether a run repairs it."""

    happen: Callable[[Path, random.Random], None]
    lines: int = 1
    repaired: bool = True
    harmless: bool = False


OF_FILES = [
    *map(Accident, (flip, flip, flip_head, cut, cut, lose, zero, grow, sparse, foreign, evil, other)),
    *map(Accident, map(in_its_place, (os.mkfifo, lambda f: f.symlink_to("/dev/zero"), lambda f: f.symlink_to(f)))),
    Accident(in_its_place(Path.mkdir), repaired=False),
    Accident(in_its_place(a_full_folder), repaired=False),
    Accident(in_its_place(lambda file: file.symlink_to("absent")), lines=0),
    Accident(remove, lines=0),
    Accident(make_link, lines=0, harmless=True),
    Accident(open_to_others),
    Accident(close_off, lines=0 if IS_ROOT else 1, harmless=IS_ROOT),
    *([Accident(give_away)] if IS_ROOT else []),
]
OF_FOLDERS = [
    Accident(remove, lines=0),
    Accident(litter, lines=0, harmless=True),
    Accident(make_file, repaired=False),
    Accident(make_link, repaired=False),
    Accident(open_to_others, repaired=False),
    Accident(close_off, lines=0 if IS_ROOT else 1, harmless=IS_ROOT, repaired=IS_ROOT),
    *([Accident(give_away, repaired=False)] if IS_ROOT else []),
]


def survives(runner: Runner, kind: int, folder: Path) -> None:
    draw = random.Random(f"{SEED} {kind}")
    cache = folder / "damaged"
    shutil.copytree(runner.cache, cache)
    for path in cache.glob("*"):
        path.chmod(0o700)
    lines = compiled = 0
    spared = sorted(cache.glob("*/*.kernel"))
    hurt, repaired = [], True
    for accident in draw.sample(OF_FILES, draw.choice([1, 1, 1, 2, 4])) if draw.random() < 0.75 else []:
        file = spared.pop(draw.randrange(len(spared)))
        hurt.append((accident, file, 1))
    if not hurt:
        place = draw.choice(sorted(cache.glob("*")))
        hurt.append((draw.choice(OF_FOLDERS), place, len(list(place.glob("*.kernel")))))
    hurt.sort(key=lambda entry: entry[0].happen is not other)  # it looks for a kernel that is whole
    for accident, path, kernels in hurt:
        accident.happen(path, draw)
        lines += accident.lines
        compiled += 0 if accident.harmless else kernels
        repaired &= accident.repaired
    told = f"seed {SEED}, kind {kind}: {[(a.happen.__qualname__, path.name) for a, path, _ in hurt]}"
    print(told)

    first, = runner.run(cache)
    assert first.get("values") == VALUES, (told, first)
    assert first["compiled"] == compiled, (told, first)
    assert len(first["lines"]) == lines == len(set(first["lines"])), (told, first)
    for accident, path, _ in hurt:
        assert sum(str(path) in line for line in first["lines"]) == accident.lines, (told, first)
    assert not (folder / "executed").exists(), told

    second, = runner.run(cache)
    if repaired:
        assert second == {"values": VALUES, "lines": [], "compiled": 0}, (told, second)
    else:
        assert second.get("values") == VALUES, (told, second)
        assert set() < set(second["lines"]) <= set(first["lines"]), (told, second)
    assert len(list(cache.glob("*/*.part"))) == (hurt[0][0].happen is litter), told


@pytest.mark.heavy
@pytest.mark.clause("kernel-cache/damaged", "kernel-cache/permissions")
@pytest.mark.parametrize("kind", range(KINDS // 100))
def test_a_run_survives_cache_damage(runner: Runner, kind: int, tmp_path: Path) -> None:
    survives(runner, kind, tmp_path)


@pytest.mark.long
@pytest.mark.parametrize("kind", range(KINDS))
def test_every_run_survives_cache_damage(runner: Runner, kind: int, tmp_path: Path) -> None:
    survives(runner, kind, tmp_path)


def test_the_undamaged_cache_is_used(runner: Runner) -> None:
    """Otherwise nothing above would read what was damaged."""
    assert runner.whole == [{"values": VALUES, "lines": [], "compiled": 4}]
    assert runner.run(runner.cache) == [{"values": VALUES, "lines": [], "compiled": 0}]
    assert len(list(runner.cache.glob("*/*.kernel"))) == 4


@pytest.mark.clause("kernel-cache/concurrent")
def test_processes_may_write_at_the_same_time(runner: Runner, tmp_path: Path) -> None:
    cache = tmp_path / "shared"
    for answer in runner.run(cache, 2):
        assert answer["values"] == VALUES
        assert answer["lines"] == []
    assert runner.run(cache) == [{"values": VALUES, "lines": [], "compiled": 0}]
    assert len(list(cache.glob("*/*"))) == 4


@pytest.mark.clause("kernel-cache/interrupted")
def test_ctrl_c_while_a_kernel_is_compiled(runner: Runner, tmp_path: Path) -> None:
    """None is compiled twice, not even the one at hand."""
    cache = tmp_path / "interrupted"
    assert runner.run(cache, interrupt=True) == [{"values": VALUES, "lines": [], "compiled": 4}]
    assert runner.run(cache) == [{"values": VALUES, "lines": [], "compiled": 0}]
