"""Compiled kernels on disk, in folders named by a hash of the sources that they are made from.

Numba's own cache looks only at the file of the cached function, so that editing a helper in another
file leaves stale machine code behind. Here the hash covers the file, and every file under ``kernels/`` that it
imports, directly or not: editing a page recompiles that page, editing the foundation recompiles everything.
``REFIMPL_CACHE_DIR`` moves the folders; deleting them is always safe.
"""

from __future__ import annotations

import ast
import hashlib
import inspect
import os
import shutil
import sys
import time
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path
from types import FunctionType
from typing import Any

import numba
from numba.core.caching import CompileResultCacheImpl, FunctionCache, _CacheLocator

_KEEP_DAYS = 30


def _user_cache() -> Path:
    if chosen := os.environ.get("REFIMPL_CACHE_DIR"):
        return Path(chosen)
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", Path.home())) / "refimpl" / "cache"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "refimpl"
    return Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "refimpl"


@cache
def _imported(file: Path) -> frozenset[Path]:
    """The files under ``kernels/`` that ``file`` imports by relative imports."""
    found: set[Path] = set()
    for node in ast.walk(ast.parse(file.read_bytes())):
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
    """``file`` and all files under ``kernels/`` that it rests on."""
    found, new = {file}, [file]
    while new:
        more = _imported(new.pop()) - found
        found |= more
        new += more
    return frozenset(found)


def source_hash(files: Iterable[Path]) -> str:
    """Hash of the sources that ``files`` rest on, and of the compiler's version and settings."""
    settings = (numba.__version__, numba.config.BOUNDSCHECK, numba.config.OPT, numba.config.DEBUGINFO_DEFAULT)
    digest = hashlib.sha256(repr(settings).encode())
    for source in sorted(frozenset[Path]().union(*map(sources, files))):
        digest.update(source.name.encode() + _digest(source))
    return digest.hexdigest()[:16]


@cache
def folder(files: frozenset[Path]) -> Path:
    """The folder for machine code made from ``files``; folders unused for a month are removed."""
    root = _user_cache()
    today = root / f"{min(files).stem}-{source_hash(files)}"
    try:
        today.mkdir(parents=True, exist_ok=True)
        os.utime(today)
    except OSError:  # a read-only home: compile in every process rather than fail
        return today
    _remove_old(root)
    return today


@cache
def _remove_old(root: Path) -> None:
    for other in root.iterdir():
        try:
            if other.is_dir() and other.stat().st_mtime < time.time() - _KEEP_DAYS * 86400:
                shutil.rmtree(other, ignore_errors=True)
        except OSError:  # another process was faster
            continue


class _Cache(FunctionCache):
    """Numba's cache of one function, in the folder of its sources."""

    def __init__(self, function: FunctionType, place: Path) -> None:
        class Locator(_CacheLocator):
            """Tells Numba where to keep the code."""

            def get_cache_path(self) -> str:
                return str(place)

            def get_source_stamp(self) -> str:
                return place.name

            def get_disambiguator(self) -> str:
                return str(function.__code__.co_firstlineno)

            @classmethod
            def from_function(cls, *_: object) -> Locator:
                return cls()

        class Implementation(CompileResultCacheImpl):
            _locator_classes = [Locator]

        self._impl_class = Implementation
        super().__init__(function)


def enable(dispatcher: Any, *functions: Callable) -> None:
    """Make ``dispatcher`` (made by njit from ``functions``) keep its machine code in :func:`folder`."""
    place = folder(frozenset(Path(inspect.getfile(function)).resolve() for function in functions))
    if os.access(place, os.W_OK):
        dispatcher._cache = _Cache(dispatcher.py_func, place)
