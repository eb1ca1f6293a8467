"""mx.nd: dense arrays, and every operator as a function on them."""

from __future__ import annotations

from typing import TYPE_CHECKING as _TYPE_CHECKING
from typing import Any as _Any

from ..op_registry import known as _known
from . import operators
from .op import *  # noqa: F403  # every operator; imports below replace some

# isort: split
from . import _internal, contrib, functions, image, linalg, op, pickled, random, sparse  # noqa: F401  # _internal: MXNet's too
from .creation import eye, from_numpy, full, histogram, linspace, onehot_encode, ones, waitall, zeros
from .exchange import from_dlpack, to_dlpack_for_read, to_dlpack_for_write
from .file_format import load, load_frombuffer, save
from .functions import *  # noqa: F403  # add, subtract, ..., logical_xor
from .ndarray import NDArray, array, empty
from .pictures import imdecode
from .rearranging import concatenate, moveaxis, split_v2

# isort: split
from . import utils


def arange(
    start: float, stop: float | None = None, step: float = 1.0, repeat: int = 1,
    infer_range: bool | None = None, ctx: _Any = None, dtype: _Any = "float32",
) -> NDArray:
    """Evenly spaced values from ``start`` up to (not including) ``stop``, each ``repeat`` times.

    ``step`` is the difference of two neighbouring values. With ``infer_range`` the end follows from the requested
    shape. ``ctx`` and ``dtype`` are the context and the dtype of the result.
    """
    return operators.call(
        "_arange", start=start, stop=stop, step=step, repeat=repeat, infer_range=bool(infer_range),
        ctx=ctx, dtype=operators.dtype_of(dtype).name,
    )


globals()["__getattr__"] = _known.attributes(__name__)  # not a def: a type checker would then take any name

__all__ = [
    "NDArray", "arange", "array", "concatenate", "contrib", "empty", "eye", "from_dlpack", "from_numpy",
    "full", "histogram", "image", "imdecode", "linalg", "linspace", "load", "load_frombuffer", "moveaxis",
    "onehot_encode", "ones", "random", "save", "sparse", "split_v2", "to_dlpack_for_read", "to_dlpack_for_write",
    "utils", "waitall", "zeros",
]
__all__ += functions.__all__
__all__ += op.__all__

if _TYPE_CHECKING:
    from ..executor.cached_op import CachedOp  # noqa: TC004  # refimpl/__init__.py puts it here

    __all__ += ["CachedOp"]
