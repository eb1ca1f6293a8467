"""Compiled kernels on disk, in folders named by a hash of the sources from which they were compiled.

Numba's own cache checks only the file of the cached function: after an edit of a helper function in another file it
still runs the old machine code. Here the hash covers the files of all functions that the machine code holds, found by
following the names that each uses, and every file under ``kernels/`` that one of these files imports, directly or not:
editing a page recompiles that page, editing the foundation recompiles all kernels. ``REFIMPL_CACHE_DIR`` moves the
folders; deleting them is always safe.

Numba's cache also runs whatever bytes it finds. Here a file begins with a digest of its content, of the signature and
of the platform for which it was compiled. The file is neither unpickled nor executed unless the digest is right;
``spec/reference/files/formats.md`` has the clauses.
"""

from __future__ import annotations

import ast
import contextlib
import hashlib
import inspect
import logging
import os
import pickle
import re
import stat
import sys
import time
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any

import numba
from numba.core.caching import NullCache
from numba.core.compiler import CompileResult
from numba.core.serialize import dumps
from numba.core.sigutils import normalize_signature

from .ahead import share
from .described import note_calls
from .forks import own_lock
from .interrupts import hold_while_compiling
from .refusal import decides

_MAGIC = b"refimpl kernel 1\n"
_LARGEST = 1 << 26  # bytes of a file; kernels have some 50,000
_KEEP_DAYS = 30


def _user_cache() -> Path:
    if chosen := os.environ.get("REFIMPL_CACHE_DIR"):
        return Path(chosen).absolute()
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home()) / "refimpl" / "cache"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "refimpl"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache").absolute() / "refimpl"


def _statements(block: Iterable[ast.AST]) -> Iterator[ast.AST]:
    """All statements of a block and of the blocks inside; expressions import nothing."""
    for node in block:
        yield node
        for inside in ("body", "orelse", "handlers", "finalbody", "cases"):
            yield from _statements(getattr(node, inside, ()))


@cache
def _imported(file: Path) -> frozenset[Path]:
    """The files under ``kernels/`` that ``file`` imports by relative imports."""
    found: set[Path] = set()
    for node in _statements(ast.parse(file.read_bytes()).body):
        if not isinstance(node, ast.ImportFrom) or not node.level:
            continue
        base = file.parents[node.level - 1].joinpath(*(node.module or "").split("."))
        names = [base.with_suffix(".py"), base / "__init__.py"]
        names += [base / f"{alias.name}.py" for alias in node.names]
        found.update(name for name in names if name.is_file())
    return frozenset(found)


@cache
def _digest(file: Path) -> bytes:
    return hashlib.sha256(file.read_bytes()).digest()


@cache
def sources(file: Path) -> frozenset[Path]:
    """Return ``file`` and all files under ``kernels/`` that it imports, directly or not."""
    found, new = {file}, [file]
    while new:
        more = _imported(new.pop()) - found
        found |= more
        new += more
    return frozenset(found)


_LIBRARIES = {*sys.stdlib_module_names, "llvmlite", "numba", "numpy"}  # told apart by the compiler's version


def _codes(code: CodeType) -> Iterator[CodeType]:
    """A function's code, and that of the functions inside it."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _codes(constant)


def _used(function: FunctionType) -> Iterator[Any]:
    """The values of the names that a function uses: from its module, from modules there and from its closure."""
    names = {name for code in _codes(function.__code__) for name in code.co_names}
    values = [function.__globals__[name] for name in names & function.__globals__.keys()]
    yield from values
    for module in values:
        if isinstance(module, ModuleType):
            yield from (getattr(module, name) for name in names & vars(module).keys())
    for cell in function.__closure__ or ():
        yield cell.cell_contents


@decides("kernel-cache/callees")
def files_of(function: FunctionType) -> frozenset[Path]:
    """Return the file of a function, and the files of functions that it calls and that this file does not import."""
    files = [Path(inspect.getfile(function)).resolve()]
    covered = sources(files[0])
    met, new = {id(function)}, [function]
    while new:
        for value in _used(new.pop()):
            text = getattr(value, "py_func", getattr(value, "_defn", value))  # of a compiled function, of an intrinsic
            is_ours = isinstance(text, (FunctionType, type)) and text.__module__.partition(".")[0] not in _LIBRARIES
            if not is_ours or id(text) in met:
                continue
            met.add(id(text))
            if isinstance(text, FunctionType):
                new.append(text)
            file = Path(inspect.getfile(text)).resolve()
            if file not in covered:
                files.append(file)
                covered |= sources(file)
    return frozenset(files)


def source_hash(files: Iterable[Path]) -> str:
    """Return a hash of ``files``, of all that they import, and of the compiler's version and settings."""
    settings = (numba.__version__, numba.config.BOUNDSCHECK, numba.config.OPT, numba.config.DEBUGINFO_DEFAULT)
    digest = hashlib.sha256(repr(settings).encode())
    for source in sorted(frozenset[Path]().union(*map(sources, files))):
        digest.update(source.name.encode() + _digest(source))
    return digest.hexdigest()[:16]


_TOLD: set[str] = set()
_TELLING = own_lock()


def _warn(clause: str, message: str) -> None:
    """Log a message once. ``logging.warning`` is not used: it would configure logging before the program does."""
    with _TELLING:
        known = message in _TOLD
        _TOLD.add(message)
    if not known:
        logging.getLogger().warning("Kernel cache: %s [%s]", message, clause)


def _warn_unwritable(root: Path, error: Exception) -> None:
    reason = getattr(error, "strerror", None) or error
    _warn("kernel-cache/unwritable", f"compiled kernels cannot be kept in {str(root)!r} ({reason}), so every run"
          " compiles them; set REFIMPL_CACHE_DIR to a folder of yours")


def _mistrusted(status: os.stat_result) -> str:
    """Say why another user could have written a file or folder with this status; "" where only this user can."""
    if not hasattr(os, "geteuid"):  # Windows keeps a user's folders from others by itself
        return ""
    if status.st_uid not in (0, os.geteuid()):
        return f"it belongs to user {status.st_uid}, and code in it would run as you"
    if status.st_mode & 0o022:
        return f"others than its owner can write it (mode {stat.S_IMODE(status.st_mode):04o})"
    return ""


@cache
def folder(files: frozenset[Path]) -> Path | None:
    """Return the folder for machine code compiled from ``files``, or None where no folder can be trusted.

    Folders unused for a month are removed.
    """
    root = Path("~")  # for the message, where the home folder is unknown
    try:
        root = _user_cache()
        place = root / f"{min(files).stem}-{source_hash(files)}"
        root.mkdir(mode=0o700, parents=True, exist_ok=True)
        with contextlib.suppress(FileExistsError):  # a file or link of that name; refused below
            place.mkdir(mode=0o700, exist_ok=True)
        status = place.lstat()
    except (OSError, RuntimeError) as error:
        _warn_unwritable(root, error)
        return None
    flaw = _mistrusted(status) if stat.S_ISDIR(status.st_mode) else "it is a link or a file"
    if not flaw and not os.access(place, os.R_OK | os.X_OK):
        flaw = "you may not"
    if flaw:
        _warn("kernel-cache/permissions", f"{str(place)!r} is not read, because {flaw}; its kernels are compiled in"
              " every run until you delete it or set REFIMPL_CACHE_DIR to a folder of yours")
        return None
    with contextlib.suppress(OSError):  # a read-only folder is still read
        os.utime(place)
    _remove_old(root)
    return place


@cache
@decides("kernel-cache/clean-up")
def _remove_old(root: Path) -> None:
    """Remove folders of kernels that were not used for a month, and nothing else in ``root``."""
    with contextlib.suppress(OSError):
        for other in root.iterdir():
            if re.fullmatch(r"\w+-[0-9a-f]{16}", other.name):
                _remove_if_old(other)


def _remove_if_old(place: Path) -> None:
    with contextlib.suppress(OSError):  # another process removed it first, or a foreign file is in it
        status = place.lstat()
        if stat.S_ISDIR(status.st_mode) and status.st_mtime < time.time() - _KEEP_DAYS * 86400:
            for file in place.iterdir():
                if file.suffix in (".kernel", ".part", ".nbi", ".nbc"):  # the last two: Numba's, of earlier versions
                    file.unlink()
            place.rmdir()


def _read(path: Path, identity: bytes) -> bytes:
    """Return the content that was written to ``path`` for this identity.

    Raises:
        OSError: it cannot be read.
        ValueError: it is damaged, written for another identity, or another user could have written it.
    """
    status = path.stat()  # before it is opened: opening a pipe would wait
    if not stat.S_ISREG(status.st_mode):
        raise ValueError("it is not a file")
    if flaw := _mistrusted(status):
        raise ValueError(flaw)
    if status.st_size > _LARGEST:
        raise ValueError(f"it has {status.st_size} bytes")
    file = path.read_bytes()
    content = file[len(_head(identity, b"")) :]
    if file != _head(identity, content) + content:
        raise ValueError("it is damaged, or was written for something else")
    return content


def _head(identity: bytes, content: bytes) -> bytes:
    return _MAGIC + hashlib.sha256(identity + content).digest()


@decides("kernel-cache/concurrent")
def _write(path: Path, identity: bytes, content: bytes) -> None:
    """Replace the file ``path`` atomically: a reader sees the old file or the whole new one."""
    path.parent.mkdir(mode=0o700, exist_ok=True)  # another process may have removed it as unused
    temporary = path.with_suffix(f".{os.urandom(8).hex()}.part")
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    descriptor = os.open(temporary, flags, 0o600)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(_head(identity, content) + content)
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


class _Cache(NullCache):
    """The cache of one function for Numba: one file of machine code per signature."""

    def __init__(self, function: FunctionType, place: Path) -> None:
        self._function = function
        self._place = place
        self._last: tuple[Any, tuple[Path, bytes]] | None = None

    @property
    def cache_path(self) -> str:
        return str(self._place)

    def _entry(self, sig: Any, codegen: Any) -> tuple[Path, bytes]:
        """Return the file for a signature, and its identity: everything that the machine code depends on."""
        last = self._last
        if last is not None and last[0] == sig:  # one signature is asked for several times in a row
            return last[1]
        code = self._function.__code__
        identity = repr((
            self._place.name, self._function.__module__, self._function.__qualname__, code.co_firstlineno,
            code.co_code, sys.implementation.cache_tag, getattr(sys, "abiflags", ""), sig, codegen.magic_tuple(),
        )).encode()
        name = re.sub(r"\W", "", self._function.__qualname__)
        found = self._place / f"{name}-{hashlib.sha256(identity).hexdigest()[:16]}.kernel", identity
        self._last = sig, found
        return found

    def keeps(self, sig: Any, target_context: Any) -> bool:
        """Whether there is a file for a signature."""
        return self._entry(sig, target_context.codegen())[0].is_file()

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Return the compiled function for a signature, or None."""
        target_context.refresh()
        path, identity = self._entry(sig, target_context.codegen())
        try:
            content = _read(path, identity)
            result = CompileResult._rebuild(target_context, *pickle.loads(content))  # noqa: S301  # written by us
            if result.signature.args != normalize_signature(sig)[0]:
                raise ValueError(f"it is for arguments {result.signature.args}")
        except FileNotFoundError:
            return None
        except Exception as error:  # noqa: BLE001  # unpickling can raise anything
            _warn("kernel-cache/damaged", f"{str(path)!r} is not used, because {str(error) or type(error).__name__};"
                  " the kernel is compiled again")
            return None
        return result

    def save_overload(self, sig: Any, data: Any) -> None:
        """Write a compiled function to the cache, where that is possible."""
        if data.library.has_dynamic_globals:  # it holds addresses of this process
            return
        path, identity = self._entry(sig, data.codegen)
        content = dumps(data._reduce())
        try:
            _write(path, identity, content)
        except OSError as error:
            if path.is_dir() or (os.name == "nt" and path.exists()):
                return  # `load_overload` has warned; or Windows protects a file that another process reads
            _warn_unwritable(self._place.parent, error)


def enable(dispatcher: Any) -> None:
    """Make ``dispatcher``, which is what njit returns, cache its machine code in :func:`folder`.

    Ctrl-C is delayed while the dispatcher compiles or reads machine code.
    """
    try:
        place = folder(files_of(dispatcher.py_func))
    except (OSError, TypeError):  # a text in no file, as in a notebook: nothing would tell that it was edited
        place = None
    if place is not None:
        dispatcher._cache = _Cache(dispatcher.py_func, place)
    hold_while_compiling(dispatcher)
    if place is not None:
        share(dispatcher)
    note_calls(dispatcher)
