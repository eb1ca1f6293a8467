"""refimpl: MXNet's symbolic training stack as an executable specification. ``import refimpl as mx``."""

from pathlib import Path as _Path

__version__ = "0.1.0"

# refimpl/kernels is a link to ../kernels. A checkout without links (Windows, zip) has a text file in its place.
if not (_Path(__file__).parent / "kernels").is_dir():
    __path__.append(str(_Path(__file__).parent.parent))

# Ground floor first: each line may import from the lines above it, never from those below.
from . import base, error, context, util, engine, name, attribute, registry, runtime  # noqa: I001
from . import ndarray, random, symbol
from . import executor, autograd, executor_v2
from .executor import cached_op
from . import operator, profiler, recordio
from . import io, initializer, lr_scheduler, optimizer, metric, kvstore
from . import callback, monitor, executor_manager, model
from . import module
from . import rnn, data, visualization, test_utils, contrib
from . import initializer as init
from . import kvstore as kv
from . import module as mod
from . import monitor as mon
from . import ndarray as nd
from . import optimizer as opt
from . import random as rnd
from . import symbol as sym
from . import visualization as viz
from .attribute import AttrScope
from .base import MXNetError
from .context import Context, cpu, cpu_pinned, current_context, gpu, num_gpus
from .executor import Executor
from .ndarray import NDArray
from .quirks import quirks
from .symbol import Symbol

ndarray.CachedOp = cached_op.CachedOp  # type: ignore[misc]  # MXNet's name for it, declared there
quirks.read_environment()

# decides: conventions/names
__all__ = [
    "AttrScope", "Context", "Executor", "MXNetError", "NDArray", "Symbol", "attribute", "autograd", "base",
    "cached_op", "callback", "context", "contrib", "cpu", "cpu_pinned", "current_context", "data", "engine",
    "error", "executor", "executor_manager", "executor_v2", "gpu", "init", "initializer", "io", "kv", "kvstore",
    "lr_scheduler", "metric", "mod", "model", "module", "mon", "monitor", "name", "nd", "ndarray", "num_gpus",
    "operator", "opt", "optimizer", "profiler", "quirks", "random", "recordio", "registry", "rnd", "rnn", "runtime",
    "sym", "symbol", "test_utils", "util", "visualization", "viz",
]
