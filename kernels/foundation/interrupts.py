"""Ctrl-C is delayed until the kernel that is being compiled is ready.

An exception in the middle of Numba's compiler can leave its lock held, or a table half filled, and then later calls
hang or fail. So the main thread, the only one that Python interrupts, records the signal and handles it afterwards.
"""

from __future__ import annotations

import contextlib
import functools
import signal
from collections.abc import Callable, Iterator
from typing import Any

from .collector_pause import paused
from .refusal import decides, refusal


@decides("kernel-cache/no-files")
def _is_refused_file(error: BaseException | None) -> bool:
    """Whether the system refused a file to the compiler, which may have made another exception of it."""
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        if isinstance(error, OSError):
            return True
        seen.add(id(error))
        error = error.__cause__ or error.__context__
    return False


@contextlib.contextmanager
def held() -> Iterator[None]:
    """Within this block a kernel is compiled: Ctrl-C is recorded, and handled by the program's handler at the end.

    Raises:
        MXNetError: the system opens no file that the compiler needs.
    """
    noted: list[tuple[Any, ...]] = []
    handler = signal.getsignal(signal.SIGINT)
    replaced: Callable[..., Any] | None = None
    if callable(handler):  # otherwise the program ignores Ctrl-C, or leaves it to the system
        with contextlib.suppress(ValueError):  # raised in every thread but the main one
            signal.signal(signal.SIGINT, lambda *event: noted.append(event))
            replaced = handler
    try:
        yield
    except Exception as error:
        if not _is_refused_file(error):
            raise
        raise refusal(
            "kernel-cache/no-files", f"a kernel cannot be compiled or read, because a file cannot be opened ({error});"
            " close files or raise the limit of open files (ulimit -n), then repeat the call",
        ) from error
    finally:
        if replaced is not None:
            signal.signal(signal.SIGINT, replaced)
            if noted:
                replaced(*noted[0])


@decides("kernel-cache/interrupted")
def hold_while_compiling(dispatcher: Any) -> None:
    """Make a call of ``dispatcher`` delay interrupts while it compiles; calls that do not compile cost nothing more."""
    compile_for = getattr(dispatcher, "_compile_for_args", None)
    if compile_for is None:  # Numba's simulator of CUDA compiles nothing
        return

    @functools.wraps(compile_for)
    def compile_undisturbed(*args: Any, **kwargs: Any) -> Any:
        with held(), paused():  # to look for garbage takes a tenth of the time
            return compile_for(*args, **kwargs)

    dispatcher._compile_for_args = compile_undisturbed
