"""Files that take their names together, and what is left behind of saves that were killed."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from pathlib import Path

import pytest

import refimpl as mx
from refimpl.files import atomic, staging
from refimpl.files.atomic import sha256_of, sha256_written, together, write_atomically

MINE = f".refimpl-{staging._HOST}-0123456789abcdef.part"
FOREIGN = ".refimpl-00000000-0123456789abcdef.part"


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def failing(monkeypatch: pytest.MonkeyPatch, owner: object, name: str, at: int, error: OSError) -> None:
    """Let the call number ``at`` of a function fail."""
    function, calls = getattr(owner, name), []

    def counted(*args, **kwargs):
        calls.append(args)
        if len(calls) == at:
            raise error
        return function(*args, **kwargs)

    monkeypatch.setattr(owner, name, counted)


# --- together ------------------------------------------------------------------------------------


def write_three(folder: Path) -> None:
    with together():
        write_atomically(folder / "a", b"new a")
        with together():
            write_atomically(folder / "b", b"new b")
        write_atomically(folder / "c", b"new c")


@pytest.mark.clause("Files/together")
def test_files_take_their_names_at_the_end(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"old")
    with together():
        write_atomically(tmp_path / "a", b"new")
        write_atomically(tmp_path / "b", b"b")
        assert (tmp_path / "a").read_bytes() == b"old"
        assert not (tmp_path / "b").exists()
        # printf new | sha256sum
        assert sha256_written(tmp_path / "a") == "11507a0e2f5e69d5dfa40a62a1bd7b6ee57e6bcd85c67c9b8431b36fff21c437"
        assert sha256_written(tmp_path / "c") is None
    assert contents(tmp_path) == {"a": b"new", "b": b"b"}
    assert sha256_of(tmp_path / "a") == "11507a0e2f5e69d5dfa40a62a1bd7b6ee57e6bcd85c67c9b8431b36fff21c437"
    assert sha256_written(tmp_path / "a") is None


@pytest.mark.clause("Files/together")
def test_the_last_content_of_a_file_counts(tmp_path: Path) -> None:
    with together():
        write_atomically(tmp_path / "a", b"a longer one")
        write_atomically(tmp_path / "b", b"b")
        write_atomically(tmp_path / "a", b"short")
    assert contents(tmp_path) == {"a": b"short", "b": b"b"}


@pytest.mark.clause("Files/together", "Files/atomic")
@pytest.mark.parametrize("at", [1, 2, 3])
@pytest.mark.parametrize("where", ["rename", "flush"])
def test_all_or_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, at: int, where: str) -> None:
    old = {"a": b"old a", "c": b"old c"}
    for name, content in old.items():
        (tmp_path / name).write_bytes(content)
    owner, name = {"rename": (Path, "replace"), "flush": (atomic, "_flush_folder")}[where]
    failing(monkeypatch, owner, name, 1 if where == "flush" else at, OSError(errno.ENOSPC, "No space left"))
    with pytest.raises(mx.MXNetError, match="No space left") as caught:
        write_three(tmp_path)
    assert caught.value.clause == "Files/writable"
    assert contents(tmp_path) == old


@pytest.mark.clause("Files/together")
def test_without_hard_links_the_first_name_stays_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a").write_bytes(b"old a")
    monkeypatch.setattr(os, "link", lambda *_: (_ for _ in ()).throw(OSError(errno.EPERM, "no links")))
    failing(monkeypatch, Path, "replace", 2, OSError(errno.ENOSPC, "No space left"))
    with pytest.raises(mx.MXNetError, match="No space left"):
        write_three(tmp_path)
    assert contents(tmp_path) == {"a": b"new a"}
    write_three(tmp_path)
    assert contents(tmp_path) == {"a": b"new a", "b": b"new b", "c": b"new c"}


@pytest.mark.clause("Files/together")
def test_an_error_between_two_files_leaves_none(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt), together():
        write_atomically(tmp_path / "a", b"a")
        raise KeyboardInterrupt
    assert contents(tmp_path) == {}
    write_atomically(tmp_path / "a", b"alone again")
    assert contents(tmp_path) == {"a": b"alone again"}


@pytest.mark.clause("Files/together")
def test_files_of_several_folders(tmp_path: Path) -> None:
    (tmp_path / "x").mkdir()
    (tmp_path / "y").mkdir()
    with together():
        write_atomically(tmp_path / "x" / "a", b"a")
        write_atomically(tmp_path / "y" / "b", b"b")
    assert (contents(tmp_path / "x"), contents(tmp_path / "y")) == ({"a": b"a"}, {"b": b"b"})


@pytest.mark.clause("Files/atomic")
@pytest.mark.skipif(os.name != "posix", reason="other systems do not flush folders")
def test_a_file_system_that_flushes_no_folders_will_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    failing(monkeypatch, os, "fsync", 2, OSError(errno.EINVAL, "Invalid argument"))
    write_atomically(tmp_path / "a", b"a")
    assert contents(tmp_path) == {"a": b"a"}


@pytest.mark.clause("Files/long-names")
def test_a_name_may_be_as_long_as_the_system_allows(tmp_path: Path) -> None:
    longest = os.pathconf(tmp_path, "PC_NAME_MAX") if hasattr(os, "pathconf") else 150
    prefix = "n" * (longest - len("-0001.params"))
    mx.model.save_checkpoint(str(tmp_path / prefix), 1, None, {"w": mx.nd.ones(2)}, {})
    assert [path.name for path in tmp_path.iterdir()] == [f"{prefix}-0001.params"]
    with pytest.raises(mx.MXNetError, match="cannot write"):
        write_atomically(tmp_path / f"{prefix}n-0001.params", b"")


# --- leftovers -----------------------------------------------------------------------------------


def left_behind(folder: Path, *files: str) -> Path:
    folder.mkdir()
    for name in files:
        (folder / name).write_bytes(b"half")
    return folder


@pytest.mark.clause("Files/leftovers")
@pytest.mark.parametrize("files", [(), ("lock",), ("lock", "0", "1", "0.old")])
def test_the_next_save_sweeps(tmp_path: Path, files: tuple[str, ...]) -> None:
    left_behind(tmp_path / MINE, *files)
    write_atomically(tmp_path / "a", b"a")
    assert contents(tmp_path) == {"a": b"a"}


WRITER = """
import pathlib, sys
from refimpl.files.staging import Staging
staging = Staging(pathlib.Path(sys.argv[1]))
print("now", flush=True)
sys.stdin.read()
staging.close()
"""


@pytest.mark.clause("Files/leftovers")
@pytest.mark.parametrize("ends", ["goes on", "is killed"])
def test_a_living_writer_is_left_alone_and_a_killed_one_swept(tmp_path: Path, ends: str) -> None:
    child = subprocess.Popen(
        [sys.executable, "-c", WRITER, str(tmp_path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    try:
        assert child.stdout.readline().split() == [b"now"]
        write_atomically(tmp_path / "a", b"a")
        assert len([path for path in tmp_path.iterdir() if path.name.startswith(".refimpl")]) == 1
        if ends == "is killed":
            child.kill()
    finally:
        child.communicate()
    assert len(list(tmp_path.iterdir())) == (1 if ends == "goes on" else 2)
    write_atomically(tmp_path / "a", b"a")
    assert contents(tmp_path) == {"a": b"a"}


@pytest.mark.clause("Files/leftovers")
def test_threads_of_one_program_leave_each_other_alone(tmp_path: Path) -> None:
    with together():
        write_atomically(tmp_path / "a", b"a")
        staging.sweep(tmp_path)  # as another thread would
    assert contents(tmp_path) == {"a": b"a"}


@pytest.mark.clause("Files/leftovers")
def test_folders_of_other_machines_stay_for_a_day(tmp_path: Path) -> None:
    folder = left_behind(tmp_path / FOREIGN, "lock", "0")
    write_atomically(tmp_path / "a", b"a")
    assert folder.exists()
    yesterday = folder.stat().st_mtime - 25 * 60 * 60
    os.utime(folder, (yesterday, yesterday))
    write_atomically(tmp_path / "a", b"a")
    assert contents(tmp_path) == {"a": b"a"}


@pytest.mark.clause("Files/leftovers")
def test_files_of_users_stay(tmp_path: Path) -> None:
    names = [".net-0001.params.part", ".refimpl-notes.part", MINE[1:], f"{MINE}.bak", ".part"]
    for name in names:
        (tmp_path / name).write_bytes(b"mine")
    (tmp_path / FOREIGN.replace("0123", MINE[9:13])).write_bytes(b"a file of such a name")
    left_behind(tmp_path / MINE, "lock", "0", "thesis.txt")
    write_atomically(tmp_path / "a", b"a")
    left = {path.name for path in tmp_path.iterdir()}
    assert left == {*names, "a", MINE, FOREIGN.replace("0123", MINE[9:13])}
    assert contents(tmp_path / MINE) == {"thesis.txt": b"half"}


@pytest.mark.clause("Files/leftovers")
@pytest.mark.skipif(os.name != "posix", reason="links of POSIX")
def test_a_link_of_that_name_is_not_followed(tmp_path: Path) -> None:
    elsewhere = left_behind(tmp_path / "elsewhere", "lock", "0")
    (tmp_path / MINE).symlink_to(elsewhere)
    write_atomically(tmp_path / "a", b"a")
    assert contents(elsewhere) == {"lock": b"half", "0": b"half"}


@pytest.mark.clause("Files/leftovers")
def test_without_locks_files_are_saved_and_nothing_is_swept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_locks(descriptor: int) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(staging, "_lock", no_locks)
    left_behind(tmp_path / MINE, "lock", "0")
    write_atomically(tmp_path / "a", b"a")
    assert {path.name for path in tmp_path.iterdir()} == {MINE, "a"}


@pytest.mark.clause("Files/leftovers")
@pytest.mark.parametrize("moment", ["before its lock", "with its lock"])
def test_a_folder_that_is_swept_while_it_is_made_is_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, moment: str
) -> None:
    swept = []
    lock, opened = staging._lock, os.open

    def open_late(path, *args, **kwargs):
        if moment == "before its lock" and not swept and Path(path).name == "lock":
            swept.append(path)
            staging.sweep(tmp_path)
        return opened(path, *args, **kwargs)

    def lock_late(descriptor: int) -> None:
        if moment == "with its lock" and not swept:
            swept.append(descriptor)
            staging.sweep(tmp_path)
        lock(descriptor)

    monkeypatch.setattr(os, "open", open_late)
    monkeypatch.setattr(staging, "_lock", lock_late)
    write_atomically(tmp_path / "a", b"a")
    assert swept
    assert contents(tmp_path) == {"a": b"a"}
