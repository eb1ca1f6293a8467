"""Watches kernels compile within a block, for commands that say so in their own words."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from numba.core.event import install_listener

from ..engine.compiling import NOTICE, CompileWatch


@contextmanager
def watched(changed: Callable[[CompileWatch], None]) -> Iterator[CompileWatch]:
    """Watch compilations within a block."""
    watch = CompileWatch(changed)
    with NOTICE.left_to_others(), install_listener("numba:compile", watch):
        yield watch


__all__ = ["CompileWatch", "watched"]
