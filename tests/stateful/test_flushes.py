"""What must survive a power cut is flushed to the disk before the step that relies on it: the order of the calls."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from refimpl.files.atomic import together, write_atomically
from refimpl.kvstore.machines.write_ahead_log import Log


class Calls:
    """The calls of the system that write files, in their order, by the names of the files."""

    def __init__(self, monkeypatch) -> None:
        self.seen: list[str] = []
        self._names: dict[int, str] = {}
        for name in ("pwritev", "fdatasync", "fsync", "link"):
            self._record(monkeypatch, os, name)
        self._record(monkeypatch, type(Path()), "replace")

    def _record(self, monkeypatch, owner, name: str) -> None:
        before = getattr(owner, name)

        def recorded(first, *others):
            path = first if not isinstance(first, int) else Path(f"/proc/self/fd/{first}").readlink()
            self.seen.append(f"{name} {Path(path).name}")
            return before(first, *others)

        monkeypatch.setattr(owner, name, recorded)


@pytest.mark.skipif(sys.platform != "linux", reason="the names of open files are read in /proc")
@pytest.mark.clause("Cluster/log", "Cluster/snapshot", "Cluster/keep-none")
def test_a_durable_log_waits_for_the_disk_before_each_step_that_relies_on_it(tmp_path, monkeypatch):
    calls, segment, folder = Calls(monkeypatch), f"{0:020d}.log", tmp_path / "kept"
    log = Log(folder, durable=True)
    log.append([b"record"])
    assert calls.seen == ["fsync kept", f"pwritev {segment}", f"fdatasync {segment}"]
    calls.seen.clear()
    log.append([b"another"])
    assert calls.seen == [f"pwritev {segment}", f"fdatasync {segment}"]
    calls.seen.clear()
    log.keep(b"state")
    assert calls.seen == [
        "pwritev snapshot.next", "fsync snapshot.next", "link snapshot", "replace snapshot.next", "fsync kept",
    ]
    log.append([b"third"])
    calls.seen.clear()
    log.keep(b"newer state")
    assert calls.seen == [
        "pwritev snapshot.next", "fsync snapshot.next", "link snapshot", "replace snapshot.next",
        "replace snapshot.old", "fsync kept",
    ]
    log.close()


@pytest.mark.skipif(sys.platform != "linux", reason="the names of open files are read in /proc")
@pytest.mark.clause("Files/atomic")
def test_a_file_that_is_written_whole_is_on_the_disk_before_it_takes_its_name_and_the_name_is(tmp_path, monkeypatch):
    calls = Calls(monkeypatch)
    write_atomically(tmp_path / "file", b"content")
    assert calls.seen == ["fsync 0", "link file", "replace 0", f"fsync {tmp_path.name}"]
    (tmp_path / "other").mkdir()
    calls.seen.clear()
    with together():
        write_atomically(tmp_path / "file", b"newer")
        write_atomically(tmp_path / "other" / "second", b"one")
    assert calls.seen == [
        "fsync 0", "fsync 1", "link file", "replace 0", "link second", "replace 1", f"fsync {tmp_path.name}",
        "fsync other",
    ]
