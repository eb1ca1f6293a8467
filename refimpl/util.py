"""mx.util: the switches of NumPy semantics, environment variables, and what GPUs there are.

The switches are state of a thread. Modules that know zero-sized or zero-dimensional shapes ask
:func:`is_np_shape`; there is no ``mx.np`` here, so :func:`is_np_array` only answers what was set.
"""

from __future__ import annotations

import functools
import inspect
import os
import threading
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from .base import decides, refusal
from .context import Context, gpu_memory_info, num_gpus
from .engine.fast_road import use as fast_road
from .kernels.foundation import devices

# --- the switches -----------------------------------------------------------------------------------


class _State(threading.local):
    shape = False
    array = False


_state = _State()


def is_np_shape() -> bool:
    """Whether zero-sized and zero-dimensional shapes mean what they mean in NumPy, in this thread."""
    return _state.shape


def is_np_array() -> bool:
    """Whether NumPy arrays were asked for in this thread."""
    return _state.array


def set_np_shape(active: Any) -> bool:
    """Switch NumPy shapes on or off in this thread; returns what was before."""
    before, _state.shape = _state.shape, bool(active)
    return before


def set_np(shape: bool = True, array: bool = True) -> None:
    """Switch both.

    Raises:
        ValueError: arrays without shapes.
    """
    if array and not shape:
        raise refusal(
            "util/array-needs-shape",
            "NumPy Shape semantics is required in using NumPy array semantics: pass shape=True", ValueError,
        )
    _state.shape, _state.array = bool(shape), bool(array)


def reset_np() -> None:
    """Switch both off."""
    set_np(shape=False, array=False)


class _Scope:
    """``with`` puts switches where they are wanted, and back."""

    def __init__(self, **wanted: bool) -> None:
        self._wanted = wanted
        self._before: list[dict[str, bool]] = []

    def __enter__(self) -> _Scope:
        self._before.append({name: getattr(_state, name) for name in self._wanted})
        _put(self._wanted)
        return self

    def __exit__(self, *_: Any) -> None:
        _put(self._before.pop())


def _put(wanted: dict[str, bool]) -> None:
    for name, active in wanted.items():
        setattr(_state, name, bool(active))


def np_shape(active: bool = True) -> _Scope:
    """Scope in which NumPy shapes are on, or off: ``with mx.util.np_shape(): ...``."""
    return _Scope(shape=active)


def np_array(active: bool = True) -> _Scope:
    """Scope in which NumPy arrays are asked for, or not."""
    return _Scope(array=active)


def use_np_shape(func: Any) -> Any:
    """Make a function run under :func:`np_shape`; of a class, every method and property.

    Raises:
        TypeError: ``func`` is neither a class nor callable.
    """
    return _inside(func, "use_np_shape", shape=True)


def use_np_array(func: Any) -> Any:
    """Make a function, or what a class has, run under :func:`np_array`.

    Raises:
        TypeError: ``func`` is neither a class nor callable.
    """
    return _inside(func, "use_np_array", array=True)


def use_np(func: Any) -> Any:
    """Both :func:`use_np_shape` and :func:`use_np_array`."""
    return _inside(func, "use_np", shape=True, array=True)


def _inside(what: Any, decorator: str, **wanted: bool) -> Any:
    def wrapped(function: Callable) -> Callable:
        @functools.wraps(function)
        def run(*args: Any, **kwargs: Any) -> Any:
            with _Scope(**wanted):
                return function(*args, **kwargs)

        return run

    if not inspect.isclass(what):
        if callable(what):
            return wrapped(what)
        raise refusal(
            "util/decorates",
            f"{decorator} can only decorate classes and callable objects, while received a {type(what)}",
            TypeError,
        )
    members = {name: value for base in reversed(what.__mro__[:-1]) for name, value in vars(base).items()}
    for name, value in members.items():
        if inspect.isfunction(value):
            setattr(what, name, wrapped(value))
        elif isinstance(value, (staticmethod, classmethod)):
            setattr(what, name, type(value)(wrapped(value.__func__)))
        elif isinstance(value, property):
            getter, setter, deleter = (
                part and wrapped(part) for part in (value.fget, value.fset, value.fdel)
            )
            setattr(what, name, property(getter, setter, deleter, value.__doc__))
    return what


# --- wrapping NumPy-like functions --------------------------------------------------------------------

_DTYPES = ("int8", "uint8", "int32", "int64", "float16", "float32", "float64")
_CASTINGS = ("no", "equiv", "safe", "same_kind", "unsafe")
_OPTIONS = {"where": True, "casting": "same_kind", "order": "K", "dtype": None, "subok": True}


def np_ufunc_legal_option(key: str, value: Any) -> bool:
    """Whether NumPy's universal functions would take ``key=value``, as far as MXNet knows them.

    dtype is a scalar type or its name: one of int8, uint8, int32, int64, float16, float32, float64.
    """
    if key == "where":
        return True
    if key == "casting":
        return value in _CASTINGS
    if key == "order":
        return isinstance(value, str)
    if key == "dtype":
        name = value.__name__ if isinstance(value, type) and issubclass(value, np.generic) else value
        return isinstance(name, str) and name in _DTYPES
    return key == "subok" and isinstance(value, bool)


def _require_defaults(name: str, options: dict[str, Any]) -> None:
    """Refuse every option of a universal function that is not at its default."""
    for key, value in options.items():
        if key not in _OPTIONS:
            raise refusal(
                "util/ufunc-options", f"{key} is an invalid keyword to function '{name}'", TypeError
            )
        if value is _OPTIONS[key] or (isinstance(value, (str, int)) and value == _OPTIONS[key]):
            continue
        if not np_ufunc_legal_option(key, value):
            raise refusal("util/ufunc-options", f"{key}={value} not understood for operator {name}", TypeError)
        raise refusal(
            "util/ufunc-options", f"{key}={value} is not implemented yet for operator {name};"
            f" leave it at {_OPTIONS[key]!r}", NotImplementedError,
        )


def wrap_np_unary_func(func: Callable) -> Callable:
    """Let ``func(x, out=None)`` take the options of NumPy's universal functions, at their defaults only.

    Raises, when called:
        NotImplementedError: an option is not at its default.
        TypeError: an option or its value is unknown.
    """

    @functools.wraps(func)
    def run(x: Any, out: Any = None, **kwargs: Any) -> Any:
        _require_defaults(func.__name__, kwargs)
        return func(x, out=out)

    return run


def wrap_np_binary_func(func: Callable) -> Callable:
    """Let ``func(x1, x2, out=None)`` take the options of NumPy's universal functions, as the unary one."""

    @functools.wraps(func)
    def run(x1: Any, x2: Any, out: Any = None, **kwargs: Any) -> Any:
        _require_defaults(func.__name__, kwargs)
        return func(x1, x2, out=out)

    return run


def set_module(module: str | None) -> Callable:
    """Decorator that says in which module a function is published; None leaves it where it is."""

    def decorate(what: Any) -> Any:
        if module is not None:
            what.__module__ = module
        return what

    return decorate


# --- the environment and the devices -------------------------------------------------------------------


def getenv(name: str) -> str | None:
    """Value of an environment variable, None when it is not set."""
    return os.environ.get(name)


def setenv(name: str, value: str | None) -> None:
    """Set an environment variable; None removes it.

    Raises:
        TypeError: the value is neither text nor None.
    """
    if value is None:
        os.environ.pop(name, None)
    elif isinstance(value, str):
        os.environ[name] = value
    else:
        raise refusal(
            "util/environment-text", f"{name} can be set to text or None, got {value!r}", TypeError
        )


_FORMER = {
    "REFIMPL_CHAINS": "elementwise operators run one after the other",
    "REFIMPL_PLAIN_KERNELS": "REFIMPL_FAST=0 turns off twins and replays",
    "REFIMPL_PROGRAM": "REFIMPL_FAST=0 makes every run walk the steps",
    "REFIMPL_THREADS": "a context has one thread: give a module one for each core, context=[mx.cpu(0), mx.cpu(1)]",
    "REFIMPL_UPDATE": "REFIMPL_FAST=0 updates one parameter after another",
    "REFIMPL_WINOGRAD": "every convolution adds its products in the order of Convolution/sum-order",
}
"""Switches that there were, and what holds instead."""


@decides("Executor/former-switches")
def warn_of_former_switches() -> None:
    """Warn of each switch in the environment that has no effect any more."""
    for name, instead in _FORMER.items():
        if name in os.environ:
            warnings.warn(f"{name} has no effect any more ({instead}): remove it from the environment", stacklevel=3)


def get_gpu_count() -> int:
    """Count CUDA devices."""
    return num_gpus()


def get_gpu_memory(gpu_dev_id: int) -> tuple[int, int]:
    """Return (free, total) bytes of a GPU.

    Raises:
        MXNetError: there is no such GPU.
    """
    return gpu_memory_info(gpu_dev_id)


def get_cuda_compute_capability(ctx: Context) -> int:
    """Compute capability of a GPU as one number: 90 for 9.0.

    Raises:
        ValueError: ``ctx`` is not a gpu context.
        MXNetError: there is no such GPU.
    """
    if not isinstance(ctx, Context) or ctx.device_type != "gpu":
        raise refusal(
            "util/gpu-context",
            f"Expecting a gpu context to get cuda compute capability, while received ctx {ctx}", ValueError,
        )
    major, minor = devices.handle_of(ctx.memory).compute_capability
    return 10 * int(major) + int(minor)


__all__ = [
    "fast_road", "get_cuda_compute_capability", "get_gpu_count", "get_gpu_memory", "getenv", "is_np_array",
    "is_np_shape",
    "np_array", "np_shape", "np_ufunc_legal_option", "reset_np", "set_module", "set_np", "set_np_shape",
    "setenv", "use_np", "use_np_array", "use_np_shape", "wrap_np_binary_func", "wrap_np_unary_func",
]
