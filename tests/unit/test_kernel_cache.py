"""Compiled kernels on disk: what is read, what is refused, and what is kept.

`tests/stateful/test_cache_damage.py` damages whole folders in many more ways.
"""

from __future__ import annotations

import errno
import logging
import os
import pickle
import stat
import time
from pathlib import Path
from unittest import mock

import numba
import numpy as np
import pytest

from refimpl.kernels.foundation import Loop, cache

from .cached_kernels import double, kept, loaded, root, run, the_file

__all__ = ["kept", "root"]  # fixtures

pytestmark = pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="nothing is compiled with the JIT disabled")
POSIX = pytest.mark.skipif(os.name != "posix", reason="owners and modes are POSIX's")


def lines(caplog: pytest.LogCaptureFixture) -> list[str]:
    found = [record.getMessage() for record in caplog.records]
    caplog.clear()
    return found


def test_a_kernel_is_compiled_once(root: Path, caplog: pytest.LogCaptureFixture) -> None:
    assert not loaded(run())
    assert loaded(run())
    assert the_file(root).name.startswith("double-")
    assert lines(caplog) == []


def test_each_signature_has_its_file(root: Path, kept: Path) -> None:
    assert not loaded(run(dtype=np.float64))
    assert len(list(root.glob("*/*"))) == 2
    assert loaded(run())
    assert loaded(run(dtype=np.float64))


@pytest.mark.clause("kernel-cache/damaged")
@pytest.mark.parametrize("place", ["mark", "digest", "content", "end", "beyond"])
def test_a_changed_byte_is_noticed(kept: Path, caplog: pytest.LogCaptureFixture, place: str) -> None:
    content = bytearray(kept.read_bytes())
    at = {"mark": 3, "digest": 20, "content": len(content) // 2, "end": len(content) - 1, "beyond": 0}[place]
    if place == "beyond":
        content.append(0)
    else:
        content[at] ^= 1
    kept.write_bytes(content)
    assert not loaded(run())
    line, = lines(caplog)
    assert line == (
        f"Kernel cache: {str(kept)!r} is not used, because it is damaged, or was written for something else; the kernel"
        " is compiled again [kernel-cache/damaged]"
    )
    assert loaded(run())
    assert lines(caplog) == []


@pytest.mark.clause("kernel-cache/damaged")
def test_a_file_of_another_processor_is_not_used(root: Path, caplog: pytest.LogCaptureFixture) -> None:
    with mock.patch("numba.core.codegen.JITCPUCodegen.magic_tuple", lambda _: ("riscv64-unknown-linux", "", "")):
        run()
    theirs = the_file(root)
    assert not loaded(run())  # it has another name
    ours, = set(root.glob("*/*")) - {theirs}
    theirs.replace(ours)
    assert not loaded(run())
    assert len(lines(caplog)) == 1
    assert loaded(run())


@pytest.mark.clause("kernel-cache/damaged")
def test_a_file_of_other_sources_is_not_used(root: Path, caplog: pytest.LogCaptureFixture) -> None:
    with mock.patch.object(cache, "source_hash", lambda files: "0123456789abcdef"):
        run()
    cache.folder.cache_clear()
    run()
    old, = root.glob("*-0123456789abcdef/*")
    new, = set(root.glob("*/*")) - {old}
    old.replace(new.with_name(old.name))
    old.with_name(old.name)
    new.write_bytes(new.with_name(old.name).read_bytes())
    assert not loaded(run())
    assert len(lines(caplog)) == 1


class Marker:
    """Unpickled, it leaves a folder."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple:
        return os.mkdir, (str(self.path),)


@pytest.mark.clause("kernel-cache/damaged")
@pytest.mark.parametrize("size", [0, 17, 49])
def test_no_other_pickle_is_read(kept: Path, caplog: pytest.LogCaptureFixture, size: int) -> None:
    kept.write_bytes(kept.read_bytes()[:size] + pickle.dumps(Marker(kept.parent / "executed")))
    assert not loaded(run())
    assert len(lines(caplog)) == 1
    assert not (kept.parent / "executed").exists()


@pytest.mark.clause("kernel-cache/damaged")
def test_what_cannot_be_unpickled_is_compiled_again(root: Path, caplog: pytest.LogCaptureFixture) -> None:
    """As when a library that the machine code refers to was replaced by another version."""
    with mock.patch.object(cache, "dumps", lambda _: b"cno_such_module\nname\n."):
        run()
    assert not loaded(run())
    line, = lines(caplog)
    assert str(the_file(root)) in line
    assert "No module named 'no_such_module'" in line
    assert loaded(run())


@pytest.mark.clause("kernel-cache/damaged")
def test_machine_code_for_other_arguments_is_not_used(root: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Should two types of Numba ever have one name."""
    with mock.patch.object(cache, "repr", lambda _: "the same for all", create=True):
        run()
        assert not loaded(run(dtype=np.float64))
    line, = lines(caplog)
    assert "it is for arguments (" in line


@pytest.mark.clause("kernel-cache/damaged")
def test_a_folder_in_place_of_a_file(kept: Path, caplog: pytest.LogCaptureFixture) -> None:
    kept.unlink()
    (kept / "of somebody else").mkdir(parents=True)
    run()
    line, = lines(caplog)
    assert f"{str(kept)!r} is not used, because it is not a file" in line
    assert (kept / "of somebody else").is_dir()


@POSIX
@pytest.mark.clause("kernel-cache/damaged")
def test_a_file_larger_than_memory(kept: Path, caplog: pytest.LogCaptureFixture) -> None:
    os.truncate(kept, 1 << 40)
    assert not loaded(run())
    line, = lines(caplog)
    assert f"{str(kept)!r} is not used, because it has 1099511627776 bytes" in line
    assert loaded(run())


@POSIX
@pytest.mark.clause("kernel-cache/permissions")
def test_folders_and_files_are_for_their_owner_alone(root: Path) -> None:
    before = os.umask(0)
    try:
        run()
    finally:
        os.umask(before)
    modes = [stat.S_IMODE(path.stat().st_mode) for path in (root, the_file(root).parent, the_file(root))]
    assert modes == [0o700, 0o700, 0o600]


@POSIX
@pytest.mark.clause("kernel-cache/permissions")
@pytest.mark.parametrize("mode", [0o720, 0o702, 0o1777])
def test_a_folder_that_others_can_write_is_not_read(kept: Path, caplog: pytest.LogCaptureFixture, mode: int) -> None:
    before = kept.read_bytes()
    kept.parent.chmod(mode)
    cache.folder.cache_clear()
    for _ in range(2):
        assert not run().cpu.stats.cache_hits
    line, = lines(caplog)
    assert f"{str(kept.parent)!r} is not read, because others than its owner can write it (mode {mode:04o})" in line
    assert "[kernel-cache/permissions]" in line
    assert kept.read_bytes() == before
    kept.parent.chmod(0o755)
    cache.folder.cache_clear()
    assert loaded(run())


@POSIX
@pytest.mark.clause("kernel-cache/permissions")
def test_a_file_that_others_can_write_is_replaced(kept: Path, caplog: pytest.LogCaptureFixture) -> None:
    kept.chmod(0o666)
    assert not loaded(run())
    line, = lines(caplog)
    assert f"{str(kept)!r} is not used, because others than its owner can write it (mode 0666)" in line
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    assert loaded(run())


@POSIX
@pytest.mark.clause("kernel-cache/permissions")
@pytest.mark.parametrize(("owner", "user", "told"), [
    (1000, 1000, ""), (0, 1000, ""), (0, 0, ""),
    (1001, 1000, "it belongs to user 1001, and code in it would run as you"),
    (1000, 0, "it belongs to user 1000, and code in it would run as you"),
])
def test_a_folder_of_another_user_is_not_read(
    monkeypatch: pytest.MonkeyPatch, owner: int, user: int, told: str,
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: user)
    assert cache._mistrusted(os.stat_result((stat.S_IFDIR | 0o755, 1, 1, 1, owner, 50, 0, 0, 0, 0))) == told


@pytest.mark.clause("kernel-cache/permissions")
def test_systems_without_such_owners_are_trusted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(os, "geteuid", raising=False)
    assert cache._mistrusted(os.stat_result((stat.S_IFDIR | 0o777, 1, 1, 1, 0, 0, 0, 0, 0, 0))) == ""


@POSIX
@pytest.mark.clause("kernel-cache/permissions")
@pytest.mark.parametrize("link", [True, False])
def test_what_is_no_folder_is_not_read(kept: Path, caplog: pytest.LogCaptureFixture, link: bool) -> None:
    place = kept.parent
    place.rename(place.with_name("elsewhere"))
    if link:
        place.symlink_to(place.with_name("elsewhere"))
    else:
        place.write_bytes(b"x")
    cache.folder.cache_clear()
    assert not run().cpu.stats.cache_hits
    line, = lines(caplog)
    assert f"{str(place)!r} is not read, because it is a link or a file" in line


@POSIX
def test_the_cache_itself_may_be_a_link(root: Path, kept: Path) -> None:
    root.rename(root.parent / "elsewhere")
    root.symlink_to(root.parent / "elsewhere")
    cache.folder.cache_clear()
    assert loaded(run())


@pytest.mark.clause("kernel-cache/unwritable")
def test_a_full_disk(root: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two kernels, one line; nothing half-written stays."""
    class Full:
        def write(self, content: bytes) -> None:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

        def __enter__(self) -> Full:
            return self

        def __exit__(self, *_: object) -> None:
            os.close(self.descriptor)

    def fdopen(descriptor: int, mode: str) -> Full:
        made = Full()
        made.descriptor = descriptor
        return made

    with monkeypatch.context() as patched:
        patched.setattr(os, "fdopen", fdopen)
        run()
        run(dtype=np.float64)
    line, = lines(caplog)
    assert line == (
        f"Kernel cache: compiled kernels cannot be kept in {str(root)!r} (No space left on device), so every run"
        " compiles them; set REFIMPL_CACHE_DIR to a folder of yours [kernel-cache/unwritable]"
    )
    assert list(root.glob("*/*")) == []
    assert not loaded(run())
    assert loaded(run())


@POSIX
@pytest.mark.clause("kernel-cache/unwritable")
def test_a_write_that_breaks_off(root: Path, caplog: pytest.LogCaptureFixture) -> None:
    """By a limit of the system's own."""
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (5000, hard))
    try:
        kernel = run()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    run(kernel)
    assert "(File too large), so every run compiles them" in lines(caplog)[0]
    assert list(root.glob("*/*")) == []


@POSIX
@pytest.mark.clause("kernel-cache/unwritable")
@pytest.mark.parametrize(("wrong", "reason"), [
    ("file", "File exists"), ("file/x", "Not a directory"), ("x" * 1000, "File name too long"),
    ("read-only", "Read-only file system"), ("", "Could not determine home directory."),
])
def test_there_is_no_folder(
    root: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch, wrong: str, reason: str,
) -> None:
    """Two kernels of two pages, one line."""
    (root.parent / "file").write_bytes(b"x")
    (root.parent / "read-only").mkdir()
    chosen = str(root.parent / wrong) if wrong else ""
    monkeypatch.setenv("REFIMPL_CACHE_DIR", chosen)
    if wrong == "read-only":
        refused = OSError(errno.EROFS, os.strerror(errno.EROFS))
        monkeypatch.setattr(Path, "mkdir", mock.Mock(side_effect=refused))
    if not wrong:
        import pwd

        monkeypatch.delenv("HOME", raising=False)
        monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
        monkeypatch.setattr(pwd, "getpwuid", mock.Mock(side_effect=KeyError))
    run()
    cache.folder.cache_clear()
    monkeypatch.setattr(cache, "source_hash", lambda _: "of another page")
    run()
    line, = lines(caplog)
    assert line == (
        f"Kernel cache: compiled kernels cannot be kept in {chosen or '~'!r} ({reason}), so every run compiles them;"
        " set REFIMPL_CACHE_DIR to a folder of yours [kernel-cache/unwritable]"
    )
    assert (root.parent / "file").read_bytes() == b"x"


@pytest.mark.clause("kernel-cache/unwritable")
def test_an_empty_setting_is_none(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A cache in the working folder would be a surprise."""
    for name in ("REFIMPL_CACHE_DIR", "XDG_CACHE_HOME", "LOCALAPPDATA"):
        monkeypatch.setenv(name, "")
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    assert cache._user_cache().is_relative_to(tmp_path)


def test_another_working_folder_later_changes_nothing(
    root: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path,
) -> None:
    monkeypatch.setenv("REFIMPL_CACHE_DIR", "here")
    monkeypatch.chdir(tmp_path)
    kernel = Loop(double)
    assert kernel.cpu
    (tmp_path / "there").mkdir()
    monkeypatch.chdir(tmp_path / "there")
    run(kernel)
    assert len(list(tmp_path.glob("here/*/*.kernel"))) == 1


@pytest.mark.clause("kernel-cache/clean-up")
def test_only_old_folders_of_the_cache_are_removed(root: Path) -> None:
    old = time.time() - 31 * 86400
    files = [
        "gemm-0123456789abcdef/a.kernel", "sums-0123456789abcdef/a.py311.1.nbc", "new-0123456789abcdef/a.kernel",
        "sgd-0123456789abcdef/a.kernel", "sgd-0123456789abcdef/thesis.tex", "photos/a.kernel",
        "x-0123456789abcdef0/a.nbi",
    ]
    for name in files:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(b"")
    (root / "file-0123456789abcdef").write_bytes(b"")
    for path in root.iterdir():
        if not path.name.startswith("new"):
            os.utime(path, (old, old))
    Loop(double).cpu  # noqa: B018  # that looks for its folder
    left = {str(path.relative_to(root)) for path in root.glob("*/*")}
    assert left - set(files) == set()
    assert set(files) - left == {
        "gemm-0123456789abcdef/a.kernel", "sums-0123456789abcdef/a.py311.1.nbc", "sgd-0123456789abcdef/a.kernel",
    }
    assert not (root / "gemm-0123456789abcdef").exists()
    assert (root / "file-0123456789abcdef").exists()


@pytest.mark.clause("kernel-cache/clean-up")
def test_a_folder_may_go_while_it_is_used(kept: Path, caplog: pytest.LogCaptureFixture) -> None:
    waiting = Loop(double)
    assert waiting.cpu
    kept.unlink()
    kept.parent.rmdir()
    assert not loaded(run(waiting))
    assert loaded(run())
    assert lines(caplog) == []


def test_logging_is_left_to_the_program(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`logging.warning` would install a handler, and the program's `basicConfig` would then do nothing."""
    monkeypatch.setattr(logging.getLogger(), "handlers", [])
    cache._warn("kernel-cache/damaged", "said by a test")
    assert logging.getLogger().handlers == []
