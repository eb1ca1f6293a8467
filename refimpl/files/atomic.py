"""Writing files whole: whatever happens, a reader finds the old content or the new, never a part.

Several files that belong together are written in a block ``with together():``; they take their names at its end.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import stat
from collections.abc import Iterable, Iterator
from contextvars import ContextVar
from pathlib import Path

from ..base import decides, refusal
from .reading import no_such_name, open_file
from .staging import Staging


@decides("Files/atomic")
def write_atomically(path: str | os.PathLike[str], content: bytes | Iterable[bytes | memoryview]) -> None:
    """Replace the file at ``path`` by ``content``, one piece of bytes or several in order.

    The bytes go to a hidden folder beside the file, are flushed to the disk, and take the name in one step, inside
    ``with together():`` at its end. A file that exists keeps its permissions; a link keeps pointing at its file. What
    is not a regular file (``/dev/stdout``, a pipe) is written directly. When it fails, the old file is there.

    Raises:
        MXNetError: the folder is missing, ``path`` is a folder, or the disk refuses.
    """
    pieces = [content] if isinstance(content, bytes) else content
    with together(), _named(path):
        target = _target(path)
        if target.exists() and not target.is_file() and not target.is_dir():
            with target.open("wb") as file:
                file.writelines(pieces)
            return
        if target.is_dir():
            raise IsADirectoryError(errno.EISDIR, "it is a folder")
        save = _current.get()
        assert save is not None
        save.write(target, pieces)


@contextlib.contextmanager
@decides("Files/together")
def together() -> Iterator[None]:
    """Let the files written in this block take their names at its end: all, or, when anything fails, none.

    A block in a block belongs to the outer one. A kill between two names leaves the files before it new and those
    after it old, each whole.

    Raises:
        MXNetError: a file cannot take its name.
    """
    if _current.get() is not None:
        yield
        return
    save = _Save()
    token = _current.set(save)
    try:
        yield
        save.commit()
    finally:
        _current.reset(token)
        save.close()


def sha256_written(path: str | os.PathLike[str]) -> str | None:
    """The SHA-256, in hexadecimal, of a file written in this block of :func:`together`; None for other files.

    Raises:
        MXNetError: what was written cannot be read.
    """
    save = _current.get()
    staged = None if save is None else save.staged.get(Path(os.path.realpath(path)))
    with _named(path):
        return None if staged is None else sha256_of(staged)


def sha256_of(path: str | os.PathLike[str]) -> str:
    """The SHA-256 of a file in hexadecimal.

    Raises:
        OSError: it cannot be read.
    """
    digest = hashlib.sha256()
    with open_file(path) as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()


@decides("Files/atomic")
class _Save:
    """Files that are written and have not taken their names yet."""

    def __init__(self) -> None:
        self.staged: dict[Path, Path] = {}  # by target, in the order of writing
        self._stagings: dict[Path, Staging] = {}  # by the folder of the targets

    def write(self, target: Path, pieces: Iterable[bytes | memoryview]) -> None:
        """Write the whole content to where it waits for its name."""
        staging = self._stagings.get(target.parent)
        if staging is None:
            staging = self._stagings[target.parent] = Staging(target.parent)
        staged = self.staged.get(target, staging.folder / str(len(self.staged)))
        # opened this way so that the file gets the permissions any new file would get
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | getattr(os, "O_BINARY", 0)
        with os.fdopen(os.open(staged, flags, 0o666), "wb") as file:
            file.writelines(pieces)
            file.flush()
            os.fsync(file.fileno())
        if target.exists():
            staged.chmod(stat.S_IMODE(target.stat().st_mode))
        self.staged[target] = staged

    def commit(self) -> None:
        """Give all files their names; when one cannot have it, the files of before get theirs back."""
        begun: list[tuple[Path, Path, Path | None]] = []
        try:
            for target, staged in self.staged.items():
                with _named(target):
                    begun.append((target, staged, _kept(target, staged.with_name(f"{staged.name}.old"))))
                    staged.replace(target)
            for folder in self._stagings:
                with _named(folder):
                    _flush_folder(folder)
        except BaseException:
            for target, staged, old in reversed(begun):
                if not staged.exists():
                    _put_back(target, old)
            raise

    def close(self) -> None:
        """Remove everything but the files that have taken their names."""
        for staging in self._stagings.values():
            staging.close()


_current: ContextVar[_Save | None] = ContextVar("save", default=None)


def _kept(target: Path, old: Path) -> Path | None:
    """A second name for the file of before, None when there is none; without hard links no file gets that name."""
    try:
        os.link(target, old)
    except FileNotFoundError:
        return None
    except OSError:
        pass
    return old


def _put_back(target: Path, old: Path | None) -> None:
    """Undo that ``target`` was replaced, as far as the disk lets us: the failure that led here is the one to tell."""
    with contextlib.suppress(OSError):
        if old is None:
            target.unlink()
        elif old.exists():
            old.replace(target)


@contextlib.contextmanager
def _named(path: str | os.PathLike[str]) -> Iterator[None]:
    """Turn a refusal of the system into one that names the file."""
    try:
        yield
    except OSError as error:
        raise refusal(
            "Files/writable",
            f"cannot write {os.fspath(path)}: {error.strerror}; give a file name in a folder that exists"
            " and can be written",
        ) from error


def _target(path: str | os.PathLike[str]) -> Path:
    """The file behind a name that may be a link, in a folder that exists.

    Raises:
        OSError: a reader of this name would not reach the file: a folder in it is missing, or a link leads to itself.
    """
    try:
        return Path(os.path.realpath(path, strict=True))
    except FileNotFoundError:
        folder, name = os.path.split(path)
        if Path(path).is_symlink():  # to a file that is not there yet
            return _target(os.path.join(folder, Path(path).readlink()))  # noqa: PTH118  # a Path would drop "x/.."
        return Path(os.path.realpath(folder or ".", strict=True), name)
    except ValueError:
        raise no_such_name() from None


def _flush_folder(folder: Path) -> None:
    """Make the new name itself survive a power cut, where the system lets a folder be flushed."""
    if os.name != "posix":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.ENOTSUP):  # some network file systems flush no folders
            raise
    finally:
        os.close(descriptor)


__all__ = ["sha256_of", "sha256_written", "together", "write_atomically"]
