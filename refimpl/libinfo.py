"""mx.libinfo: the version, and where MXNet's native library would be."""

from __future__ import annotations

from .base import refusal

__version__ = "0.1.0"


def find_lib_path(prefix: str = "libmxnet") -> list[str]:
    """Refused: there is no native library.

    Raises:
        RuntimeError: always, as MXNet does when it finds none.
    """
    raise _missing(f"the library {prefix}")


def find_include_path() -> str:
    """Refused: there are no C headers.

    Raises:
        RuntimeError: always.
    """
    raise _missing("the C headers")


def find_conf_path(prefix: str = "tvmop") -> str:
    """Refused: no operators are built with TVM.

    Raises:
        RuntimeError: always, as MXNet does when it was built without TVM.
    """
    raise _missing(f"the configuration {prefix}")


def _missing(what: str) -> Exception:
    return refusal(
        "libinfo/no-library", f"Cannot find {what}: this package has no native library, its operators are Python"
        " files in refimpl.kernels that Numba compiles", RuntimeError,
    )


__all__ = ["__version__", "find_conf_path", "find_include_path", "find_lib_path"]
