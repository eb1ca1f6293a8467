"""Compiled kernels on disk, in a folder named by a hash of every kernel source.

Numba's own cache looks only at the file of the cached function, so that editing a helper in another
file leaves stale machine code behind. Here any change to any file under ``kernels/`` changes the folder.
``REFIMPL_CACHE_DIR`` moves it; deleting it is always safe.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import sys
import time
from functools import cache
from pathlib import Path

import numba
from numba.core.caching import CompileResultCacheImpl, FunctionCache, _CacheLocator

_KERNELS = Path(__file__).resolve().parent.parent
_KEEP_DAYS = 30


def _user_cache() -> Path:
    if chosen := os.environ.get("REFIMPL_CACHE_DIR"):
        return Path(chosen)
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", Path.home())) / "refimpl" / "cache"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "refimpl"
    return Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "refimpl"


def source_hash(root: Path = _KERNELS) -> str:
    """Hash of all kernel sources below ``root``, and of the compiler's version and settings."""
    settings = (numba.__version__, numba.config.BOUNDSCHECK, numba.config.OPT, numba.config.DEBUGINFO_DEFAULT)
    digest = hashlib.sha256(repr(settings).encode())
    for file in sorted(root.rglob("*.py")):
        digest.update(str(file.relative_to(root)).encode())
        digest.update(file.read_bytes())
    return digest.hexdigest()[:16]


@cache
def folder() -> Path:
    """The folder for today's sources; folders unused for a month are removed."""
    root = _user_cache()
    today = root / f"kernels-{source_hash()}"
    try:
        today.mkdir(parents=True, exist_ok=True)
        os.utime(today)
        for other in root.glob("kernels-*"):
            if other.stat().st_mtime < time.time() - _KEEP_DAYS * 86400:
                shutil.rmtree(other, ignore_errors=True)
    except OSError:  # a read-only home: compile in every process rather than fail
        return today
    return today


class _Locator(_CacheLocator):
    """Tells Numba where to keep the code of one function."""

    def __init__(self, py_func: object, py_file: str) -> None:
        self._py_file = py_file
        self._line = py_func.__code__.co_firstlineno  # type: ignore[attr-defined]  # a plain function

    def get_cache_path(self) -> str:
        return str(folder())

    def get_source_stamp(self) -> str:
        return folder().name

    def get_disambiguator(self) -> str:
        return str(self._line)

    @classmethod
    def from_function(cls, py_func: object, py_file: str) -> _Locator | None:
        return cls(py_func, py_file) if os.access(folder(), os.W_OK) else None


class _Implementation(CompileResultCacheImpl):
    _locator_classes = [_Locator]


class _KernelCache(FunctionCache):
    _impl_class = _Implementation


def enable(dispatcher: object) -> None:
    """Make ``dispatcher`` (an njit function) keep its machine code in :func:`folder`."""
    if os.access(folder(), os.W_OK):
        dispatcher._cache = _KernelCache(dispatcher.py_func)  # type: ignore[attr-defined]  # Numba offers no public hook
