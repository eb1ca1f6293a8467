"""Contexts: which device an array lives on.

Every ``cpu(i)`` is a logical device of its own, so that data parallelism runs and is tested without a GPU.
"""

from __future__ import annotations

import threading
from typing import Any, ClassVar

from .base import refusal
from .kernels.foundation import devices
from .kernels.foundation.later import cuda

_TYPES = {"cpu": 1, "gpu": 2, "cpu_pinned": 3, "cpu_shared": 5}
_GPU = _TYPES["gpu"]


class _ContextType(type):
    @property
    def default_ctx(cls) -> Context:
        """The current context of this thread; programs of 2015 assigned to it where ``with`` is written today."""
        return current_context()

    @default_ctx.setter
    def default_ctx(cls, context: Context) -> None:
        if not hasattr(Context._stack, "contexts"):
            Context._stack.contexts = []
        Context._stack.contexts[-1:] = [context]


class Context(metaclass=_ContextType):
    """A device: ``Context("cpu", 0)``, ``Context(other)``, or one of :func:`cpu` and :func:`gpu`.

    ``with mx.cpu(1): ...`` makes it the default of the current thread.

    Raises:
        KeyError: the device type is not cpu, gpu, cpu_pinned or cpu_shared.
    """

    devtype2str: ClassVar[dict[int, str]] = {number: name for name, number in _TYPES.items()}
    devstr2type: ClassVar[dict[str, int]] = dict(_TYPES)
    _stack: ClassVar[threading.local] = threading.local()

    __slots__ = ("device_id", "device_typeid")

    def __init__(self, device_type: str | Context, device_id: int = 0) -> None:
        if isinstance(device_type, Context):
            self.device_typeid: int = device_type.device_typeid
            self.device_id: int = device_type.device_id
        else:
            self.device_typeid = _TYPES[device_type]
            self.device_id = device_id

    @property
    def device_type(self) -> str:
        """One of cpu, gpu, cpu_pinned, cpu_shared."""
        return self.devtype2str[self.device_typeid]

    @property
    def memory(self) -> str:
        """The device of this context's buffers: "cpu", whatever the number, or "gpu(i)"."""
        if self.device_typeid != _GPU:
            return "cpu"
        if not 0 <= self.device_id < num_gpus():
            raise refusal(
                "Context/gpu-present",
                f"{self} is not available: {num_gpus()} CUDA devices were found; use mx.cpu()",
            )
        return f"gpu({self.device_id})"

    def __eq__(self, other: object) -> bool:
        return self is other or (
            isinstance(other, Context)
            and self.device_typeid == other.device_typeid
            and self.device_id == other.device_id
        )

    def __hash__(self) -> int:
        return hash((self.device_typeid, self.device_id))

    def __str__(self) -> str:
        return f"{self.device_type}({self.device_id})"

    __repr__ = __str__

    def __enter__(self) -> Context:
        if not hasattr(self._stack, "contexts"):
            self._stack.contexts = []
        self._stack.contexts.append(self)
        return self

    def __exit__(self, *_: Any) -> None:
        self._stack.contexts.pop()

    def empty_cache(self) -> None:
        """Accepted for compatibility; memory is returned as arrays die."""


_DEFAULT = Context("cpu", 0)


def cpu(device_id: int = 0) -> Context:
    """Return the CPU as logical device ``device_id``; any id is legal."""
    return Context("cpu", device_id)


def gpu(device_id: int = 0) -> Context:
    """Return the CUDA device ``device_id``; using one that is absent raises MXNetError."""
    return Context("gpu", device_id)


def cpu_pinned(device_id: int = 0) -> Context:
    """Return page-locked host memory; here a logical CPU device."""
    return Context("cpu_pinned", device_id)


def num_gpus() -> int:
    """Count CUDA devices (four when Numba's simulator is on)."""
    return devices.count()


def context_of(device: str) -> Context:
    """The context whose buffers have this device; cpu(0) for "cpu", which is the memory of all logical devices."""
    return _DEFAULT if device == "cpu" else gpu(devices.number_of(device))


def current_context() -> Context:
    """Return the innermost ``with`` context of this thread, cpu(0) by default."""
    contexts = getattr(Context._stack, "contexts", None)
    return contexts[-1] if contexts else _DEFAULT


def gpu_memory_info(device_id: int = 0) -> tuple[int, int]:
    """Return (free, total) bytes of a GPU.

    Raises:
        MXNetError: there is no such GPU.
    """
    with devices.current(gpu(device_id).memory):
        free, total = cuda.current_context().get_memory_info()
    return free, total
